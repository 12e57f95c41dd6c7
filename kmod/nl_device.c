// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink commands about devices and their ports.
 */
#include <linux/bpf.h>

#include "lace.h"
#include "lane.h"

#define READ_ONLY(what) { \
	.type = NLA_REJECT, \
	.reject_message = what ": is not for the user to set", \
}

const struct nla_policy lace_nl_dev_policy[LACE_A_DEV_MAX + 1] = {
	[LACE_A_DEV_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32,
						      &lace_nl_ifindex_range),
	[LACE_A_DEV_IFNAME] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[LACE_A_DEV_NODE] = NLA_POLICY_FULL_RANGE(NLA_U16,
						   &lace_nl_node_range),
	[LACE_A_DEV_SEGMENT] = READ_ONLY("device SEGMENT"),
	[LACE_A_DEV_STEER_FD] = NLA_POLICY_MIN(NLA_S32, -1),
	[LACE_A_DEV_STEER_PROG_ID] = READ_ONLY("device STEER_PROG_ID"),
	[LACE_A_DEV_PORT] = READ_ONLY("device PORT"),
	[LACE_A_DEV_STATS] = READ_ONLY("device STATS"),
	[LACE_A_DEV_REORDER_USECS] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &lace_nl_reorder_range),
	[LACE_A_DEV_ACK_MSECS] = NLA_POLICY_FULL_RANGE(NLA_U32,
						       &lace_nl_ack_range),
	[LACE_A_DEV_ACK_KEY] = { .type = NLA_BINARY, .len = LACE_PROTO_KEY },
	[LACE_A_DEV_ACK_KEYED] = READ_ONLY("device ACK_KEYED"),
	[LACE_A_DEV_CLOSED] = READ_ONLY("device CLOSED"),
};

const struct nla_policy lace_nl_port_policy[LACE_A_PORT_MAX + 1] = {
	[LACE_A_PORT_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32,
						      &lace_nl_ifindex_range),
	[LACE_A_PORT_IFNAME] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[LACE_A_PORT_NUMBER] = NLA_POLICY_MAX(NLA_U8, LACE_MAX_PORTS - 1),
};

static int put_port(struct sk_buff *skb, const struct lace_port *port)
{
	struct nlattr *nest = nla_nest_start(skb, LACE_A_DEV_PORT);

	if (!nest ||
	    nla_put_u32(skb, LACE_A_PORT_IFINDEX, port->dev->ifindex) ||
	    nla_put_string(skb, LACE_A_PORT_IFNAME, port->dev->name) ||
	    nla_put_u8(skb, LACE_A_PORT_NUMBER, port->number))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_ports(struct sk_buff *skb, struct lace_device *lace)
{
	struct lace_port *port;
	int i;

	lace_for_each_port(lace, i, port)
		if (put_port(skb, port))
			return -EMSGSIZE;
	return 0;
}

static int put_contents(struct sk_buff *skb, struct lace_device *lace)
{
	const struct lace_active *active = rtnl_dereference(lace->active);
	const struct bpf_prog *prog = rtnl_dereference(lace->steer);
	u64 stats[LACE_A_DEVSTAT_MAX + 1];

	lace_dev_stats_read(lace, stats);
	if ((lace->self != LACE_NO_NODE &&
	     nla_put_u16(skb, LACE_A_DEV_NODE, lace->self)) ||
	    (active &&
	     (nla_put_u32(skb, LACE_A_DEV_SEGMENT, active->segment->id) ||
	      nla_put_u32(skb, LACE_A_DEV_CLOSED, active->closed))) ||
	    (prog &&
	     nla_put_u32(skb, LACE_A_DEV_STEER_PROG_ID, prog->aux->id)) ||
	    nla_put_u32(skb, LACE_A_DEV_REORDER_USECS, lace->reorder_us) ||
	    nla_put_u32(skb, LACE_A_DEV_ACK_MSECS, lace->acks.msecs) ||
	    (rcu_access_pointer(lace->acks.key) &&
	     nla_put_flag(skb, LACE_A_DEV_ACK_KEYED)) ||
	    put_ports(skb, lace) ||
	    lace_nl_put_stats(skb, LACE_A_DEV_STATS, LACE_A_DEVSTAT_PAD, stats,
			      LACE_A_DEVSTAT_MAX))
		return -EMSGSIZE;
	return 0;
}

static int finish(struct sk_buff *skb, void *header, struct lace_device *lace)
{
	if (!header)
		return -EMSGSIZE;
	if (put_contents(skb, lace)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

int lace_nl_dev_start(struct netlink_callback *cb)
{
	return lace_nl_start(cb, NULL);
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb,
		struct lace_device *lace, unsigned long *next)
{
	return finish(skb, lace_nl_begin_dump(skb, cb, LACE_CMD_DEV_GET, lace),
		      lace);
}

int lace_nl_dev_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return lace_nl_dump(skb, cb, dump);
}

static struct sk_buff *make(struct lace_device *lace, u32 portid, u32 seq,
			    u8 cmd)
{
	struct sk_buff *skb;

	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return NULL;
	if (finish(skb, lace_nl_begin(skb, portid, seq, 0, cmd, lace), lace)) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

static int get(struct lace_device *lace, struct genl_info *info)
{
	struct sk_buff *reply;

	reply = make(lace, info->snd_portid, info->snd_seq, LACE_CMD_DEV_GET);
	return reply ? genlmsg_reply(reply, info) : -ENOMEM;
}

int lace_nl_dev_get(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, get);
}

void lace_nl_announce_device(struct lace_device *lace, struct genl_info *info)
{
	struct sk_buff *skb;

	if (!lace_nl_is_heard(lace, info))
		return;
	skb = make(lace, info ? info->snd_portid : 0, info ? info->snd_seq : 0,
		   LACE_CMD_DEV_NTF);
	lace_nl_announce(lace, info, skb, skb ? 0 : -ENOMEM);
}

/* The program of a file descriptor; none for -1. */
static int get_steer(const struct nlattr *attr,
		     struct lace_steer_program *steer,
		     struct netlink_ext_ack *extack)
{
	s32 fd = nla_get_s32(attr);
	struct bpf_prog *prog;
	int err;

	if (fd == -1)
		return 0;
	prog = bpf_prog_get_type(fd, BPF_PROG_TYPE_SOCKET_FILTER);
	if (IS_ERR(prog)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "device STEER_FD: not a program of type SOCKET_FILTER");
		return PTR_ERR(prog);
	}
	steer->prog = prog;
	err = lace_steer_check(steer, extack);
	if (err)
		NL_SET_BAD_ATTR(extack, attr);
	return err;
}

/* The key that an attribute holds, NULL for none, or an error. */
static struct lace_key *get_key(const struct nlattr *attr,
				struct netlink_ext_ack *extack)
{
	struct lace_key *key;

	if (!nla_len(attr))
		return NULL;
	if (nla_len(attr) != LACE_PROTO_KEY) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "device ACK_KEY: not of 16 bytes, or none");
		return ERR_PTR(-EINVAL);
	}
	key = kzalloc(sizeof(*key), GFP_KERNEL_ACCOUNT);
	if (!key)
		return ERR_PTR(-ENOMEM);
	lace_proto_key(nla_data(attr), &key->key);
	return key;
}

static int check_msecs(const struct lace_device *lace,
		       const struct nlattr *attr,
		       struct netlink_ext_ack *extack)
{
	if (attr && !nla_get_u32(attr) && lace_transition_runs(lace)) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "device ACK_MSECS: 0, while a transition runs that has lanes to prove");
		return -EBUSY;
	}
	if (attr && nla_get_u32(attr) &&
	    nla_get_u32(attr) < LACE_MIN_ACK_MSECS) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "device ACK_MSECS: 0, or 10 and more");
		return -EINVAL;
	}
	return 0;
}

/* What a request holds besides numbers. */
struct wanted {
	struct lace_steer_program steer;
	struct lace_key *key;
};

static void drop_wanted(struct wanted *wanted)
{
	if (wanted->steer.prog)
		bpf_prog_put(wanted->steer.prog);
	if (!IS_ERR_OR_NULL(wanted->key))
		kfree_sensitive(wanted->key);
}

/* Everything that can fail.  What wanted holds is the caller's, either way. */
static int prepare(struct lace_device *lace, struct genl_info *info,
		   struct wanted *wanted)
{
	const struct nlattr *node = info->attrs[LACE_A_DEV_NODE];
	const struct nlattr *fd = info->attrs[LACE_A_DEV_STEER_FD];
	const struct nlattr *key = info->attrs[LACE_A_DEV_ACK_KEY];
	int err;

	err = check_msecs(lace, info->attrs[LACE_A_DEV_ACK_MSECS],
			  info->extack);
	if (err)
		return err;
	if (fd) {
		err = get_steer(fd, &wanted->steer, info->extack);
		if (err)
			return err;
	}
	if (key) {
		wanted->key = get_key(key, info->extack);
		if (IS_ERR(wanted->key))
			return PTR_ERR(wanted->key);
	}
	if (node) {
		err = lace_device_set_self(lace, nla_get_u16(node),
					   info->extack);
		if (err)
			NL_SET_BAD_ATTR(info->extack, node);
	}
	return err;
}

static int set(struct lace_device *lace, struct genl_info *info)
{
	const struct nlattr *usecs = info->attrs[LACE_A_DEV_REORDER_USECS];
	const struct nlattr *msecs = info->attrs[LACE_A_DEV_ACK_MSECS];
	struct wanted wanted = {};
	int err;

	if (!info->attrs[LACE_A_DEV_NODE] && !info->attrs[LACE_A_DEV_STEER_FD] &&
	    !info->attrs[LACE_A_DEV_ACK_KEY] && !usecs && !msecs) {
		NL_SET_ERR_MSG(info->extack,
			       "device NODE, STEER_FD, REORDER_USECS, ACK_MSECS, ACK_KEY: missing, nothing to set");
		return -EINVAL;
	}
	err = prepare(lace, info, &wanted);
	if (err) {
		drop_wanted(&wanted);
		return err;
	}
	if (info->attrs[LACE_A_DEV_STEER_FD])
		lace_steer_set(lace, &wanted.steer);
	if (info->attrs[LACE_A_DEV_ACK_KEY])
		lace_lanes_set_key(lace, wanted.key);
	if (usecs)
		lace_reorder_set(lace, nla_get_u32(usecs));
	if (msecs)
		lace_lanes_set_interval(lace, nla_get_u32(msecs));
	lace_device_changed(lace);
	lace_nl_announce_device(lace, info);
	return 0;
}

int lace_nl_dev_set(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, set);
}

/* The port that a request names, or an error. */
static struct lace_port *find_port(struct genl_info *info)
{
	struct net_device *dev;
	struct lace_port *port;
	int err;

	err = lace_nl_refuse_repeated(nlmsg_attrdata(info->nlhdr, GENL_HDRLEN),
				      nlmsg_attrlen(info->nlhdr, GENL_HDRLEN),
				      0, info->extack);
	if (err)
		return ERR_PTR(err);
	dev = lace_nl_netdev(genl_info_net(info),
			     info->attrs[LACE_A_PORT_IFINDEX],
			     info->attrs[LACE_A_PORT_IFNAME], info->extack);
	if (IS_ERR(dev))
		return ERR_CAST(dev);
	port = lace_port_of(dev);
	if (!port) {
		NL_SET_ERR_MSG(info->extack,
			       "port IFINDEX, IFNAME: not a port of a lace device");
		return ERR_PTR(-ENODEV);
	}
	return port;
}

int lace_nl_port_set(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *number = info->attrs[LACE_A_PORT_NUMBER];
	struct lace_port *port;
	u8 old;
	int err;

	rtnl_lock();
	port = find_port(info);
	if (IS_ERR(port)) {
		err = PTR_ERR(port);
		goto out;
	}
	if (!number) {
		NL_SET_ERR_MSG(info->extack, "port NUMBER: missing");
		err = -EINVAL;
		goto out;
	}
	old = port->number;
	err = lace_port_set_number(port, nla_get_u8(number), info->extack);
	if (err) {
		NL_SET_BAD_ATTR(info->extack, number);
		goto out;
	}
	lace_device_changed(port->lace);
	lace_nl_announce_device(port->lace, info);
	if (old != port->number) {
		lace_nl_announce_lanes(port->lace, old);
		lace_nl_announce_lanes(port->lace, port->number);
	}
out:
	rtnl_unlock();
	return err;
}
