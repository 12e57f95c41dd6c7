// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink commands about nodes.
 */
#include "lace.h"

static const struct nla_policy prefix_policy[LACE_A_PREFIX_MAX + 1] = {
	[LACE_A_PREFIX_FAMILY] = { .type = NLA_U16 },
	[LACE_A_PREFIX_ADDRESS] = NLA_POLICY_RANGE(NLA_BINARY,
						   sizeof(struct in_addr),
						   sizeof(struct in6_addr)),
	[LACE_A_PREFIX_LENGTH] = NLA_POLICY_MAX(NLA_U8, 128),
};

static const struct nla_policy port_policy[LACE_A_NODEPORT_MAX + 1] = {
	[LACE_A_NODEPORT_NUMBER] = NLA_POLICY_MAX(NLA_U8, LACE_MAX_PORTS - 1),
	[LACE_A_NODEPORT_MAC] = NLA_POLICY_ETH_ADDR,
};

const struct nla_policy lace_nl_node_policy[LACE_A_NODE_MAX + 1] = {
	[LACE_A_NODE_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32,
						      &lace_nl_ifindex_range),
	[LACE_A_NODE_IFNAME] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[LACE_A_NODE_ID] = NLA_POLICY_FULL_RANGE(NLA_U16,
						   &lace_nl_node_range),
	[LACE_A_NODE_PREFIX] = NLA_POLICY_NESTED(prefix_policy),
	[LACE_A_NODE_PORT] = NLA_POLICY_NESTED(port_policy),
};

static int put_prefix(struct sk_buff *skb, const struct lace_prefix *prefix)
{
	struct nlattr *nest = nla_nest_start(skb, LACE_A_NODE_PREFIX);
	int length = prefix->family == AF_INET ? sizeof(struct in_addr) :
						 sizeof(struct in6_addr);

	if (!nest ||
	    nla_put_u16(skb, LACE_A_PREFIX_FAMILY, prefix->family) ||
	    nla_put(skb, LACE_A_PREFIX_ADDRESS, length, prefix->address) ||
	    nla_put_u8(skb, LACE_A_PREFIX_LENGTH, prefix->length))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_port(struct sk_buff *skb, const struct lace_node *node,
		    u8 number)
{
	struct nlattr *nest = nla_nest_start(skb, LACE_A_NODE_PORT);

	if (!nest ||
	    nla_put_u8(skb, LACE_A_NODEPORT_NUMBER, number) ||
	    nla_put(skb, LACE_A_NODEPORT_MAC, ETH_ALEN, node->mac[number]))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_node(struct sk_buff *skb, const struct lace_node *node)
{
	int i;

	if (nla_put_u16(skb, LACE_A_NODE_ID, node->id))
		return -EMSGSIZE;
	for (i = 0; i < node->n_prefixes; i++) {
		if (put_prefix(skb, &node->prefixes[i]))
			return -EMSGSIZE;
	}
	for (i = 0; i < LACE_MAX_PORTS; i++) {
		if (node->ports & BIT(i) && put_port(skb, node, i))
			return -EMSGSIZE;
	}
	return 0;
}

static int finish(struct sk_buff *skb, void *header,
		  const struct lace_node *node)
{
	if (!header)
		return -EMSGSIZE;
	if (put_node(skb, node)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* Bytes of a message about a node. */
static size_t size_of(const struct lace_node *node)
{
	size_t device = nla_total_size(sizeof(u32)) + nla_total_size(IFNAMSIZ);
	size_t prefix = nla_total_size(nla_total_size(sizeof(u16)) +
				       nla_total_size(sizeof(struct in6_addr)) +
				       nla_total_size(sizeof(u8)));
	size_t port = nla_total_size(nla_total_size(sizeof(u8)) +
				     nla_total_size(ETH_ALEN));

	return GENL_HDRLEN + device + nla_total_size(sizeof(u16)) +
	       node->n_prefixes * prefix + LACE_MAX_PORTS * port;
}

static size_t largest(struct lace_device *lace)
{
	struct lace_node *node;
	unsigned long id;
	size_t most = 0;

	xa_for_each(&lace->nodes.by_id, id, node)
		most = max(most, size_of(node));
	return most;
}

int lace_nl_node_start(struct netlink_callback *cb)
{
	return lace_nl_start(cb, largest);
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb,
		struct lace_device *lace, unsigned long *next)
{
	struct lace_node *node;
	unsigned long id;
	int err;

	xa_for_each_start(&lace->nodes.by_id, id, node, *next) {
		err = finish(skb, lace_nl_begin_dump(skb, cb,
						     LACE_CMD_NODE_GET, lace),
			     node);
		if (err) {
			*next = id;
			return err;
		}
	}
	return 0;
}

int lace_nl_node_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return lace_nl_dump(skb, cb, dump);
}

static struct sk_buff *make(struct lace_device *lace,
			    const struct lace_node *node,
			    struct genl_info *info, u8 cmd)
{
	struct sk_buff *skb;
	void *header;

	skb = nlmsg_new(size_of(node), GFP_KERNEL);
	if (!skb)
		return NULL;
	header = lace_nl_begin(skb, info->snd_portid, info->snd_seq, 0, cmd,
			       lace);
	if (WARN_ON_ONCE(finish(skb, header, node))) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

static void announce(struct lace_device *lace, const struct lace_node *node,
		     struct genl_info *info, u8 cmd)
{
	struct sk_buff *skb;

	if (!lace_nl_is_heard(lace, info))
		return;
	skb = make(lace, node, info, cmd);
	lace_nl_announce(lace, info, skb, skb ? 0 : -ENOMEM);
}

static int get_id(struct genl_info *info, u16 *id)
{
	if (!info->attrs[LACE_A_NODE_ID]) {
		NL_SET_ERR_MSG(info->extack, "node ID: missing");
		return -EINVAL;
	}
	*id = nla_get_u16(info->attrs[LACE_A_NODE_ID]);
	return 0;
}

static int get(struct lace_device *lace, struct genl_info *info)
{
	struct lace_node *node;
	struct sk_buff *reply;
	u16 id;
	int err;

	err = get_id(info, &id);
	if (err)
		return err;
	node = xa_load(&lace->nodes.by_id, id);
	if (!node) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[LACE_A_NODE_ID],
				    "node ID: there is no such node");
		return -ENOENT;
	}
	reply = make(lace, node, info, LACE_CMD_NODE_GET);
	return reply ? genlmsg_reply(reply, info) : -ENOMEM;
}

int lace_nl_node_get(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, get);
}

static const char *prefix_fault(struct nlattr **attrs)
{
	int length;

	if (!attrs[LACE_A_PREFIX_FAMILY])
		return "prefix FAMILY: missing";
	if (!attrs[LACE_A_PREFIX_ADDRESS])
		return "prefix ADDRESS: missing";
	if (!attrs[LACE_A_PREFIX_LENGTH])
		return "prefix LENGTH: missing";
	switch (nla_get_u16(attrs[LACE_A_PREFIX_FAMILY])) {
	case AF_INET:
		length = sizeof(struct in_addr);
		break;
	case AF_INET6:
		length = sizeof(struct in6_addr);
		break;
	default:
		return "prefix FAMILY: neither AF_INET nor AF_INET6";
	}
	if (nla_len(attrs[LACE_A_PREFIX_ADDRESS]) != length)
		return "prefix ADDRESS: its size is not that of the family";
	if (nla_get_u8(attrs[LACE_A_PREFIX_LENGTH]) > length * 8)
		return "prefix LENGTH: more bits than the address has";
	return NULL;
}

static int fail(struct netlink_ext_ack *extack, const struct nlattr *attr,
		const char *fault)
{
	if (extack) {
		extack->_msg = fault;
		NL_SET_BAD_ATTR(extack, attr);
	}
	return -EINVAL;
}

static int read_prefix(struct lace_node *node, const struct nlattr *nest,
		       struct netlink_ext_ack *extack)
{
	struct lace_prefix *prefix = &node->prefixes[node->n_prefixes];
	struct nlattr *attrs[LACE_A_PREFIX_MAX + 1];
	const char *fault;
	int err;

	err = lace_nl_parse_nest(attrs, LACE_A_PREFIX_MAX, nest, prefix_policy,
				 extack);
	if (err)
		return err;
	fault = prefix_fault(attrs);
	if (fault)
		return fail(extack, nest, fault);
	prefix->family = nla_get_u16(attrs[LACE_A_PREFIX_FAMILY]);
	prefix->length = nla_get_u8(attrs[LACE_A_PREFIX_LENGTH]);
	nla_memcpy(prefix->address, attrs[LACE_A_PREFIX_ADDRESS],
		   sizeof(prefix->address));
	if (!lace_prefix_is_sound(prefix))
		return fail(extack, nest,
			    "prefix ADDRESS: bits beyond LENGTH are set");
	node->n_prefixes++;
	return 0;
}

static int read_port(struct lace_node *node, const struct nlattr *nest,
		     struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[LACE_A_NODEPORT_MAX + 1];
	const u8 *mac;
	u8 number;
	int i, err;

	err = lace_nl_parse_nest(attrs, LACE_A_NODEPORT_MAX, nest, port_policy,
				 extack);
	if (err)
		return err;
	if (!attrs[LACE_A_NODEPORT_NUMBER])
		return fail(extack, nest, "node port NUMBER: missing");
	if (!attrs[LACE_A_NODEPORT_MAC])
		return fail(extack, nest, "node port MAC: missing");
	number = nla_get_u8(attrs[LACE_A_NODEPORT_NUMBER]);
	mac = nla_data(attrs[LACE_A_NODEPORT_MAC]);
	if (node->ports & BIT(number))
		return fail(extack, nest, "node port NUMBER: given twice");
	if (!is_valid_ether_addr(mac))
		return fail(extack, nest, "node port MAC: not a unicast address");
	for (i = 0; i < LACE_MAX_PORTS; i++) {
		if (node->ports & BIT(i) && ether_addr_equal(node->mac[i], mac))
			return fail(extack, nest,
				    "node port MAC: another port has it");
	}
	ether_addr_copy(node->mac[number], mac);
	node->ports |= BIT(number);
	return 0;
}

/* The node that a request describes, or an error. */
static struct lace_node *read_node(struct genl_info *info)
{
	unsigned int n_prefixes = lace_nl_count(info, LACE_A_NODE_PREFIX);
	const struct nlattr *attr;
	struct lace_node *node;
	int err, rem;

	if (n_prefixes > LACE_MAX_PREFIXES) {
		NL_SET_ERR_MSG(info->extack, "node PREFIX: too many");
		return ERR_PTR(-E2BIG);
	}
	node = lace_node_alloc(n_prefixes);
	if (!node)
		return ERR_PTR(-ENOMEM);
	err = get_id(info, &node->id);
	if (err)
		goto err_free;
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) == LACE_A_NODE_PREFIX)
			err = read_prefix(node, attr, info->extack);
		else if (nla_type(attr) == LACE_A_NODE_PORT)
			err = read_port(node, attr, info->extack);
		if (err)
			goto err_free;
	}
	return node;

err_free:
	kfree(node);
	return ERR_PTR(err);
}

static int set(struct lace_device *lace, struct genl_info *info)
{
	struct lace_node *node = read_node(info);
	int err;

	if (IS_ERR(node))
		return PTR_ERR(node);
	err = lace_node_set(lace, node, info->extack);
	if (err) {
		kfree(node);
		return err;
	}
	lace_device_changed(lace);
	announce(lace, node, info, LACE_CMD_NODE_NTF);
	return 0;
}

int lace_nl_node_set(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info,
			  BIT_ULL(LACE_A_NODE_PREFIX) |
			  BIT_ULL(LACE_A_NODE_PORT),
			  set);
}

static int del(struct lace_device *lace, struct genl_info *info)
{
	struct lace_node gone = {};
	int err;

	err = get_id(info, &gone.id);
	if (err)
		return err;
	err = lace_node_del(lace, gone.id, info->extack);
	if (err) {
		NL_SET_BAD_ATTR(info->extack, info->attrs[LACE_A_NODE_ID]);
		return err;
	}
	lace_device_changed(lace);
	announce(lace, &gone, info, LACE_CMD_NODE_DEL_NTF);
	return 0;
}

int lace_nl_node_del(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, del);
}
