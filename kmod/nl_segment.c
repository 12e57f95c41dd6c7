// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink commands about segments.
 */
#include <linux/mm.h>

#include "lace.h"

static const struct nla_policy circuit_policy[LACE_A_CIRCUIT_MAX + 1] = {
	[LACE_A_CIRCUIT_PORT] = NLA_POLICY_MAX(NLA_U8, LACE_MAX_PORTS - 1),
	[LACE_A_CIRCUIT_DIR] = NLA_POLICY_MAX(NLA_U8, LACE_DIR_RX),
	[LACE_A_CIRCUIT_PEER] = NLA_POLICY_FULL_RANGE(NLA_U16,
						   &lace_nl_node_range),
	[LACE_A_CIRCUIT_PEER_PORT] = NLA_POLICY_MAX(NLA_U8,
						    LACE_MAX_PORTS - 1),
};

static const struct nla_policy route_policy[LACE_A_ROUTE_MAX + 1] = {
	[LACE_A_ROUTE_FROM] = NLA_POLICY_FULL_RANGE(NLA_U16,
						   &lace_nl_node_range),
	[LACE_A_ROUTE_TO] = NLA_POLICY_FULL_RANGE(NLA_U16,
						   &lace_nl_node_range),
	[LACE_A_ROUTE_PREV] = NLA_POLICY_FULL_RANGE(NLA_U16,
						   &lace_nl_node_range),
	[LACE_A_ROUTE_NEXT] = NLA_POLICY_FULL_RANGE(NLA_U16,
						   &lace_nl_node_range),
	[LACE_A_ROUTE_ALTERNATE] = { .type = NLA_FLAG },
	[LACE_A_ROUTE_BROKEN] = {
		.type = NLA_REJECT,
		.reject_message = "route BROKEN: is not for the user to set",
	},
};

const struct nla_policy lace_nl_segment_policy[LACE_A_SEGMENT_MAX + 1] = {
	[LACE_A_SEGMENT_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32,
						      &lace_nl_ifindex_range),
	[LACE_A_SEGMENT_IFNAME] = { .type = NLA_NUL_STRING,
				    .len = IFNAMSIZ - 1 },
	[LACE_A_SEGMENT_ID] = { .type = NLA_U32 },
	[LACE_A_SEGMENT_ACTIVE] = {
		.type = NLA_REJECT,
		.reject_message = "segment ACTIVE: is not for the user to set",
	},
	[LACE_A_SEGMENT_CIRCUIT] = NLA_POLICY_NESTED(circuit_policy),
	[LACE_A_SEGMENT_ROUTE] = NLA_POLICY_NESTED(route_policy),
};

static int put_circuit(struct sk_buff *skb, const struct lace_segment *segment,
		       int dir, u8 port)
{
	const struct lace_circuit *circuit = &segment->circuits[dir][port];
	struct nlattr *nest;

	if (circuit->peer == LACE_NO_NODE)
		return 0;
	nest = nla_nest_start(skb, LACE_A_SEGMENT_CIRCUIT);
	if (!nest ||
	    nla_put_u8(skb, LACE_A_CIRCUIT_PORT, port) ||
	    nla_put_u8(skb, LACE_A_CIRCUIT_DIR, dir) ||
	    nla_put_u16(skb, LACE_A_CIRCUIT_PEER, circuit->peer) ||
	    nla_put_u8(skb, LACE_A_CIRCUIT_PEER_PORT, circuit->peer_port))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_route(struct sk_buff *skb, const struct lace_path *path)
{
	struct nlattr *nest = nla_nest_start(skb, LACE_A_SEGMENT_ROUTE);

	if (!nest ||
	    nla_put_u16(skb, LACE_A_ROUTE_FROM, path->from) ||
	    nla_put_u16(skb, LACE_A_ROUTE_TO, path->to) ||
	    (path->prev != LACE_NO_NODE &&
	     nla_put_u16(skb, LACE_A_ROUTE_PREV, path->prev)) ||
	    (path->next != LACE_NO_NODE &&
	     nla_put_u16(skb, LACE_A_ROUTE_NEXT, path->next)) ||
	    (path->rank && nla_put_flag(skb, LACE_A_ROUTE_ALTERNATE)) ||
	    (path->broken && nla_put_flag(skb, LACE_A_ROUTE_BROKEN)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_contents(struct sk_buff *skb,
			const struct lace_segment *segment)
{
	int dir, i;

	for (dir = LACE_DIR_TX; dir <= LACE_DIR_RX; dir++) {
		for (i = 0; i < LACE_MAX_PORTS; i++) {
			if (put_circuit(skb, segment, dir, i))
				return -EMSGSIZE;
		}
	}
	for (i = 0; i < segment->n_paths; i++) {
		if (!segment->paths[i].direct &&
		    put_route(skb, &segment->paths[i]))
			return -EMSGSIZE;
	}
	return 0;
}

static int finish(struct sk_buff *skb, void *header, struct lace_device *lace,
		  const struct lace_segment *segment)
{
	if (!header)
		return -EMSGSIZE;
	if (nla_put_u32(skb, LACE_A_SEGMENT_ID, segment->id) ||
	    (segment == lace_active_segment(lace) &&
	     nla_put_flag(skb, LACE_A_SEGMENT_ACTIVE)) ||
	    put_contents(skb, segment)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* Bytes of a message about a segment. */
static size_t size_of(const struct lace_segment *segment)
{
	size_t device = nla_total_size(sizeof(u32)) + nla_total_size(IFNAMSIZ);
	size_t element = nla_total_size(4 * nla_total_size(sizeof(u16)) +
					2 * nla_total_size(0));

	return GENL_HDRLEN + device + nla_total_size(sizeof(u32)) +
	       nla_total_size(0) +
	       (2 * LACE_MAX_PORTS + segment->n_paths) * element;
}

static size_t largest(struct lace_device *lace)
{
	struct lace_segment *segment;
	unsigned long id;
	size_t most = 0;

	xa_for_each(&lace->segments, id, segment)
		most = max(most, size_of(segment));
	return most;
}

int lace_nl_segment_start(struct netlink_callback *cb)
{
	return lace_nl_start(cb, largest);
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb,
		struct lace_device *lace, unsigned long *next)
{
	struct lace_segment *segment;
	unsigned long id;
	int err;

	xa_for_each_start(&lace->segments, id, segment, *next) {
		err = finish(skb, lace_nl_begin_dump(skb, cb,
						     LACE_CMD_SEGMENT_GET,
						     lace),
			     lace, segment);
		if (err) {
			*next = id;
			return err;
		}
	}
	return 0;
}

int lace_nl_segment_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return lace_nl_dump(skb, cb, dump);
}

static struct sk_buff *make(struct lace_device *lace,
			    const struct lace_segment *segment,
			    struct genl_info *info, u8 cmd)
{
	struct sk_buff *skb;
	void *header;

	skb = nlmsg_new(size_of(segment), GFP_KERNEL);
	if (!skb)
		return NULL;
	header = lace_nl_begin(skb, info ? info->snd_portid : 0,
			       info ? info->snd_seq : 0, 0, cmd, lace);
	if (WARN_ON_ONCE(finish(skb, header, lace, segment))) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

/* Which segment it is and whether it is active; what is in it can be read. */
static void announce(struct lace_device *lace, u32 id, bool active,
		     struct genl_info *info, u8 cmd)
{
	struct sk_buff *skb;
	void *header;

	if (!lace_nl_is_heard(lace, info))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb) {
		lace_nl_announce(lace, info, NULL, -ENOMEM);
		return;
	}
	header = lace_nl_begin(skb, info ? info->snd_portid : 0,
			       info ? info->snd_seq : 0, 0, cmd, lace);
	if (!header || nla_put_u32(skb, LACE_A_SEGMENT_ID, id) ||
	    (active && nla_put_flag(skb, LACE_A_SEGMENT_ACTIVE))) {
		lace_nl_announce(lace, info, skb, -EMSGSIZE);
		return;
	}
	genlmsg_end(skb, header);
	lace_nl_announce(lace, info, skb, 0);
}

/* Another segment is active than old, or none.  info: of the request that wants
 * it, or NULL.
 */
void lace_nl_announce_active(struct lace_device *lace,
			     const struct lace_segment *old,
			     struct genl_info *info)
{
	const struct lace_segment *segment = lace_active_segment(lace);

	if (segment)
		announce(lace, segment->id, true, info, LACE_CMD_SEGMENT_NTF);
	else
		announce(lace, old->id, false, info, LACE_CMD_SEGMENT_NTF);
}

/* The active segment, some of whose routes are broken, or are not any more. */
void lace_nl_announce_routes(struct lace_device *lace)
{
	struct sk_buff *skb;

	if (!lace_nl_is_heard(lace, NULL))
		return;
	skb = make(lace, lace_active_segment(lace), NULL, LACE_CMD_SEGMENT_NTF);
	lace_nl_announce(lace, NULL, skb, skb ? 0 : -ENOMEM);
}

static int get_id(struct genl_info *info, u32 *id)
{
	if (!info->attrs[LACE_A_SEGMENT_ID]) {
		NL_SET_ERR_MSG(info->extack, "segment ID: missing");
		return -EINVAL;
	}
	*id = nla_get_u32(info->attrs[LACE_A_SEGMENT_ID]);
	return 0;
}

/* The segment that a request names, or an error. */
static struct lace_segment *find(struct lace_device *lace,
				 struct genl_info *info)
{
	struct lace_segment *segment;
	u32 id;
	int err;

	err = get_id(info, &id);
	if (err)
		return ERR_PTR(err);
	segment = xa_load(&lace->segments, id);
	if (!segment) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[LACE_A_SEGMENT_ID],
				    "segment ID: there is no such segment");
		return ERR_PTR(-ENOENT);
	}
	return segment;
}

static int get(struct lace_device *lace, struct genl_info *info)
{
	struct lace_segment *segment = find(lace, info);
	struct sk_buff *reply;

	if (IS_ERR(segment))
		return PTR_ERR(segment);
	reply = make(lace, segment, info, LACE_CMD_SEGMENT_GET);
	return reply ? genlmsg_reply(reply, info) : -ENOMEM;
}

int lace_nl_segment_get(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, get);
}

static const char *circuit_fault(struct nlattr **attrs)
{
	if (!attrs[LACE_A_CIRCUIT_PORT])
		return "circuit PORT: missing";
	if (!attrs[LACE_A_CIRCUIT_DIR])
		return "circuit DIR: missing";
	if (!attrs[LACE_A_CIRCUIT_PEER])
		return "circuit PEER: missing";
	if (!attrs[LACE_A_CIRCUIT_PEER_PORT])
		return "circuit PEER_PORT: missing";
	return NULL;
}

static int read_circuit(struct lace_segment *segment, struct nlattr *nest,
			struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[LACE_A_CIRCUIT_MAX + 1];
	struct lace_circuit circuit;
	int err;

	err = lace_nl_parse_nest(attrs, LACE_A_CIRCUIT_MAX, nest,
				 circuit_policy, extack);
	if (err)
		return err;
	extack->_msg = circuit_fault(attrs);
	if (extack->_msg)
		return -EINVAL;
	circuit.peer = nla_get_u16(attrs[LACE_A_CIRCUIT_PEER]);
	circuit.peer_port = nla_get_u8(attrs[LACE_A_CIRCUIT_PEER_PORT]);
	return lace_segment_add_circuit(segment,
					nla_get_u8(attrs[LACE_A_CIRCUIT_DIR]),
					nla_get_u8(attrs[LACE_A_CIRCUIT_PORT]),
					&circuit, extack);
}

static int read_route(struct lace_segment *segment, struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[LACE_A_ROUTE_MAX + 1];
	struct lace_path route = { .prev = LACE_NO_NODE,
				   .next = LACE_NO_NODE };
	int err;

	err = lace_nl_parse_nest(attrs, LACE_A_ROUTE_MAX, nest, route_policy,
				 extack);
	if (err)
		return err;
	if (!attrs[LACE_A_ROUTE_FROM]) {
		NL_SET_ERR_MSG(extack, "route FROM: missing");
		return -EINVAL;
	}
	if (!attrs[LACE_A_ROUTE_TO]) {
		NL_SET_ERR_MSG(extack, "route TO: missing");
		return -EINVAL;
	}
	route.from = nla_get_u16(attrs[LACE_A_ROUTE_FROM]);
	route.to = nla_get_u16(attrs[LACE_A_ROUTE_TO]);
	route.rank = !!attrs[LACE_A_ROUTE_ALTERNATE];
	if (attrs[LACE_A_ROUTE_PREV])
		route.prev = nla_get_u16(attrs[LACE_A_ROUTE_PREV]);
	if (attrs[LACE_A_ROUTE_NEXT])
		route.next = nla_get_u16(attrs[LACE_A_ROUTE_NEXT]);
	return lace_segment_add_route(segment, &route, extack);
}

/* Read all nests of one type. */
static int read_all(struct lace_segment *segment, struct genl_info *info,
		    int type,
		    int (*read)(struct lace_segment *segment,
				struct nlattr *nest,
				struct netlink_ext_ack *extack))
{
	struct nlattr *attr;
	int err, rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != type)
			continue;
		err = read(segment, attr, info->extack);
		if (err) {
			if (!info->extack->bad_attr)
				NL_SET_BAD_ATTR(info->extack, attr);
			return err;
		}
	}
	return 0;
}

/* How many routes are alternates; those that are not sound may count. */
static unsigned int count_alternates(const struct genl_info *info)
{
	const struct nlattr *attr;
	unsigned int n = 0;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) == LACE_A_SEGMENT_ROUTE)
			n += !!nla_find_nested(attr, LACE_A_ROUTE_ALTERNATE);
	}
	return n;
}

/* The segment that a request describes, or an error. */
static struct lace_segment *read_segment(struct lace_device *lace,
					 struct genl_info *info)
{
	unsigned int n_routes = lace_nl_count(info, LACE_A_SEGMENT_ROUTE);
	struct lace_segment *segment;
	u32 id;
	int err;

	err = get_id(info, &id);
	if (err)
		return ERR_PTR(err);
	if (n_routes > LACE_MAX_ROUTES) {
		NL_SET_ERR_MSG(info->extack, "segment ROUTE: too many");
		return ERR_PTR(-E2BIG);
	}
	if (lace->self == LACE_NO_NODE) {
		NL_SET_ERR_MSG(info->extack,
			       "device NODE: has to be set before segments are loaded");
		return ERR_PTR(-EINVAL);
	}
	segment = lace_segment_alloc(id, lace->self, count_alternates(info),
				     n_routes);
	if (!segment)
		return ERR_PTR(-ENOMEM);
	err = read_all(segment, info, LACE_A_SEGMENT_CIRCUIT, read_circuit);
	if (!err)
		err = lace_segment_close_circuits(segment);
	if (!err)
		err = read_all(segment, info, LACE_A_SEGMENT_ROUTE,
			       read_route);
	if (err) {
		kvfree(segment);
		return ERR_PTR(err);
	}
	lace_segment_close_routes(segment);
	return segment;
}

static int set(struct lace_device *lace, struct genl_info *info)
{
	struct lace_segment *segment = read_segment(lace, info);
	int err;

	if (IS_ERR(segment))
		return PTR_ERR(segment);
	err = lace_segment_load(lace, segment, info->extack);
	if (err) {
		kvfree(segment);
		return err;
	}
	lace_device_changed(lace);
	announce(lace, segment->id, false, info, LACE_CMD_SEGMENT_NTF);
	return 0;
}

int lace_nl_segment_set(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info,
			  BIT_ULL(LACE_A_SEGMENT_CIRCUIT) |
			  BIT_ULL(LACE_A_SEGMENT_ROUTE),
			  set);
}

static int del(struct lace_device *lace, struct genl_info *info)
{
	u32 id;
	int err;

	err = get_id(info, &id);
	if (err)
		return err;
	err = lace_segment_del(lace, id, info->extack);
	if (err) {
		NL_SET_BAD_ATTR(info->extack, info->attrs[LACE_A_SEGMENT_ID]);
		return err;
	}
	lace_device_changed(lace);
	announce(lace, id, false, info, LACE_CMD_SEGMENT_DEL_NTF);
	return 0;
}

int lace_nl_segment_del(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, del);
}

/* Without an ID: no segment is to be active. */
static int activate(struct lace_device *lace, struct genl_info *info)
{
	const struct lace_segment *old = lace_active_segment(lace);
	struct lace_segment *segment = NULL;
	struct lace_active *active = NULL;
	int err;

	if (info->attrs[LACE_A_SEGMENT_ID]) {
		segment = find(lace, info);
		if (IS_ERR(segment))
			return PTR_ERR(segment);
	}
	if (lace_transition_runs(lace)) {
		NL_SET_ERR_MSG(info->extack,
			       "device: a transition runs; it can be aborted");
		return -EBUSY;
	}
	if (segment == old)
		return 0;
	if (segment) {
		err = lace_active_check_ports(lace, segment, info->extack);
		if (err)
			return err;
		active = lace_active_compile(lace, segment, NULL,
					     info->extack);
		if (IS_ERR(active))
			return PTR_ERR(active);
	}
	lace_transition_forget(lace);
	lace_active_replace(lace, active);
	lace_device_changed(lace);
	lace_nl_announce_active(lace, old, info);
	return 0;
}

int lace_nl_segment_activate(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, activate);
}
