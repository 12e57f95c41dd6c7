// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family, and what the commands of all objects share.
 *
 * DESIGN NOTES
 *
 * The family runs its commands in parallel; RTNL, which each takes, makes them
 * take turns.  A command checks everything before it changes anything.
 *
 * A dump holds RTNL for one buffer at a time, so the configuration may change
 * between two of them: lace_net.generation, as cb->seq, tells.  Where it
 * stands is kept as numbers, not pointers: the index of the device and the
 * number of the next object.  An object is never split, so the buffers of a
 * dump are made large enough for the largest.
 */
#include <net/sock.h>

#include "lace.h"

static struct genl_family family;

static const struct genl_multicast_group groups[] = {
	[LACE_NL_MONITOR] = { .name = LACE_GENL_MCGRP_MONITOR },
	[LACE_NL_TRANSITION] = { .name = LACE_GENL_MCGRP_TRANSITION },
	[LACE_NL_HOOK] = { .name = LACE_GENL_MCGRP_HOOK },
};

/* All objects name their device by these two attributes. */
enum { IFINDEX = LACE_A_DEV_IFINDEX, IFNAME = LACE_A_DEV_IFNAME };

static_assert((int)LACE_A_PORT_IFINDEX == IFINDEX &&
	      (int)LACE_A_NODE_IFINDEX == IFINDEX &&
	      (int)LACE_A_LANE_IFINDEX == IFINDEX &&
	      (int)LACE_A_SEGMENT_IFINDEX == IFINDEX &&
	      (int)LACE_A_TRANSITION_IFINDEX == IFINDEX &&
	      (int)LACE_A_HOOK_IFINDEX == IFINDEX);
static_assert((int)LACE_A_PORT_IFNAME == IFNAME &&
	      (int)LACE_A_NODE_IFNAME == IFNAME &&
	      (int)LACE_A_LANE_IFNAME == IFNAME &&
	      (int)LACE_A_SEGMENT_IFNAME == IFNAME &&
	      (int)LACE_A_TRANSITION_IFNAME == IFNAME &&
	      (int)LACE_A_HOOK_IFNAME == IFNAME);

/* A range in a policy itself has 15 bits only. */
lace_compat_range lace_nl_ifindex_range = {
	.min = 1,
	.max = S32_MAX,
};

lace_compat_range lace_nl_node_range = {
	.max = LACE_MAX_NODES - 1,
};

lace_compat_range lace_nl_ack_range = {
	.max = LACE_MAX_ACK_MSECS,
};

lace_compat_range lace_nl_reorder_range = {
	.max = LACE_MAX_REORDER_USECS,
};

/* The kernel's parser takes the last of several attributes of one type without
 * a word.  may_repeat: bit t for type t.
 */
int lace_nl_refuse_repeated(const struct nlattr *head, int len, u64 may_repeat,
			    struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	u64 seen = 0;
	int rem;

	nla_for_each_attr(attr, head, len, rem) {
		u64 bit = BIT_ULL(nla_type(attr) & 63);

		if (seen & bit & ~may_repeat) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "given twice");
			return -EINVAL;
		}
		seen |= bit;
	}
	return 0;
}

int lace_nl_parse_nest(struct nlattr **attrs, int max,
		       const struct nlattr *nest,
		       const struct nla_policy *policy,
		       struct netlink_ext_ack *extack)
{
	int err;

	err = lace_nl_refuse_repeated(nla_data(nest), nla_len(nest), 0,
				      extack);
	if (err)
		return err;
	return nla_parse_nested(attrs, max, nest, policy, extack);
}

/* How many attributes of a type a request has. */
int lace_nl_count(const struct genl_info *info, int type)
{
	const struct nlattr *attr;
	int n = 0;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) == type)
			n++;
	}
	return n;
}

/* The network device that one or both attributes name, or an error. */
struct net_device *lace_nl_netdev(struct net *net,
				  const struct nlattr *ifindex,
				  const struct nlattr *ifname,
				  struct netlink_ext_ack *extack)
{
	struct net_device *dev;
	char name[IFNAMSIZ];

	ASSERT_RTNL();

	if (!ifindex && !ifname) {
		NL_SET_ERR_MSG(extack,
			       "IFINDEX, IFNAME: missing, no device is named");
		return ERR_PTR(-EINVAL);
	}
	if (ifindex) {
		dev = __dev_get_by_index(net, nla_get_u32(ifindex));
		if (!dev) {
			NL_SET_ERR_MSG_ATTR(extack, ifindex,
					    "IFINDEX: there is no such device");
			return ERR_PTR(-ENODEV);
		}
		if (ifname && nla_strcmp(ifname, dev->name)) {
			NL_SET_ERR_MSG_ATTR(extack, ifname,
					    "IFNAME: names another device than IFINDEX");
			return ERR_PTR(-EINVAL);
		}
		return dev;
	}
	nla_strscpy(name, ifname, sizeof(name));
	dev = __dev_get_by_name(net, name);
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(extack, ifname,
				    "IFNAME: there is no such device");
		return ERR_PTR(-ENODEV);
	}
	return dev;
}

static struct lace_device *lace_of(struct net *net, const struct nlattr *ifindex,
				   const struct nlattr *ifname,
				   struct netlink_ext_ack *extack)
{
	struct net_device *dev = lace_nl_netdev(net, ifindex, ifname, extack);
	struct lace_device *lace;

	if (IS_ERR(dev))
		return ERR_CAST(dev);
	lace = lace_device_next(net, dev->ifindex);
	if (!lace || lace->dev != dev) {
		NL_SET_ERR_MSG_ATTR(extack, ifindex ?: ifname,
				    "IFINDEX, IFNAME: not a lace device");
		return ERR_PTR(-ENODEV);
	}
	return lace;
}

/* The device that a request names, or an error.  Also refuses repeated
 * attributes but for those of may_repeat.
 */
static struct lace_device *find_device(struct genl_info *info, u64 may_repeat)
{
	int err;

	err = lace_nl_refuse_repeated(nlmsg_attrdata(info->nlhdr, GENL_HDRLEN),
				      nlmsg_attrlen(info->nlhdr, GENL_HDRLEN),
				      may_repeat, info->extack);
	if (err)
		return ERR_PTR(err);
	return lace_of(genl_info_net(info), info->attrs[IFINDEX],
		       info->attrs[IFNAME], info->extack);
}

/* Carry out a request on the device that it names, under RTNL.  Attributes in
 * may_repeat may occur more than once.
 */
int lace_nl_do(struct genl_info *info, u64 may_repeat,
	       int (*act)(struct lace_device *lace, struct genl_info *info))
{
	struct lace_device *lace;
	int err;

	rtnl_lock();
	lace = find_device(info, may_repeat);
	err = IS_ERR(lace) ? PTR_ERR(lace) : act(lace, info);
	rtnl_unlock();
	return err;
}

/* Start a message about something of a device.  NULL: no room. */
void *lace_nl_begin(struct sk_buff *skb, u32 portid, u32 seq, int flags,
		    u8 cmd, const struct lace_device *lace)
{
	void *header;

	header = genlmsg_put(skb, portid, seq, &family, flags, cmd);
	if (!header)
		return NULL;
	if (nla_put_u32(skb, IFINDEX, lace->dev->ifindex) ||
	    nla_put_string(skb, IFNAME, lace->dev->name)) {
		genlmsg_cancel(skb, header);
		return NULL;
	}
	return header;
}

void *lace_nl_begin_dump(struct sk_buff *skb, struct netlink_callback *cb,
			 u8 cmd, const struct lace_device *lace)
{
	void *header;

	header = lace_nl_begin(skb, NETLINK_CB(cb->skb).portid,
			       cb->nlh->nlmsg_seq, NLM_F_MULTI, cmd, lace);
	if (header)
		genl_dump_check_consistent(cb, header);
	return header;
}

/* A nest of all counters up to last. */
int lace_nl_put_stats(struct sk_buff *skb, int nest_type, int pad,
		      const u64 *values, int last)
{
	struct nlattr *nest = nla_nest_start(skb, nest_type);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = pad + 1; i <= last; i++) {
		if (nla_put_u64_64bit(skb, i, values[i], pad))
			return -EMSGSIZE;	/* the message is cancelled */
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Where a dump stands. */
struct cursor {
	int only;		/* index of the one device to dump, or 0 */
	int ifindex;		/* devices below are done */
	unsigned long next;	/* object of that device */
};

static struct cursor *cursor(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct cursor) > sizeof(cb->ctx));

	return (struct cursor *)cb->ctx;
}

static struct lace_device *next_device(struct netlink_callback *cb)
{
	const struct cursor *at = cursor(cb);
	struct lace_device *lace;

	lace = lace_device_next(sock_net(cb->skb->sk), at->ifindex);
	if (lace && at->only && lace->dev->ifindex != at->only)
		return NULL;
	return lace;
}

/* Read what a request for a dump restricts it to. */
static int read_restriction(struct netlink_callback *cb)
{
	const struct nlattr *head = nlmsg_attrdata(cb->nlh, GENL_HDRLEN);
	const struct nlattr *ifindex = NULL, *ifname = NULL, *attr;
	int len = nlmsg_attrlen(cb->nlh, GENL_HDRLEN);
	struct lace_device *lace;
	int rem, err;

	err = lace_nl_refuse_repeated(head, len, 0, cb->extack);
	if (err)
		return err;
	nla_for_each_attr(attr, head, len, rem) {
		if (nla_type(attr) == IFINDEX) {
			ifindex = attr;
		} else if (nla_type(attr) == IFNAME) {
			ifname = attr;
		} else {
			NL_SET_ERR_MSG_ATTR(cb->extack, attr,
					    "a dump is restricted by IFINDEX or IFNAME only");
			return -EINVAL;
		}
	}
	if (!ifindex && !ifname)
		return 0;
	lace = lace_of(sock_net(cb->skb->sk), ifindex, ifname, cb->extack);
	if (IS_ERR(lace))
		return PTR_ERR(lace);
	cursor(cb)->only = lace->dev->ifindex;
	cursor(cb)->ifindex = lace->dev->ifindex;
	return 0;
}

/* Begin a dump.  largest, if any: bytes of the largest message that a device
 * will need.
 */
int lace_nl_start(struct netlink_callback *cb,
		  size_t (*largest)(struct lace_device *lace))
{
	struct lace_device *lace;
	int err;

	rtnl_lock();
	err = read_restriction(cb);
	list_for_each_entry(lace, &lace_net(sock_net(cb->skb->sk))->devices,
			    list) {
		if (largest)
			cb->min_dump_alloc = max_t(u32, cb->min_dump_alloc,
						   nlmsg_total_size(largest(lace)));
	}
	rtnl_unlock();
	return err;
}

/* Fill one buffer. */
int lace_nl_dump(struct sk_buff *skb, struct netlink_callback *cb,
		 lace_nl_dump_fn dump)
{
	struct cursor *at = cursor(cb);
	struct lace_device *lace;
	int err = 0;

	rtnl_lock();
	cb->seq = lace_net(sock_net(cb->skb->sk))->generation;
	while (!err && (lace = next_device(cb))) {
		if (at->ifindex != lace->dev->ifindex)
			at->next = 0;
		at->ifindex = lace->dev->ifindex;
		err = dump(skb, cb, lace, &at->next);
		if (!err) {
			at->ifindex++;
			at->next = 0;
		}
	}
	rtnl_unlock();
	if (err == -EMSGSIZE && !skb->len)	/* it grew since lace_nl_start() */
		return -EINTR;
	return skb->len ?: err;
}

/* Whether anybody wants to know of a change: those who listen to the group, or
 * whoever made it and asked for an echo.
 */
bool lace_nl_is_heard_in(const struct lace_device *lace,
			 const struct genl_info *info,
			 enum lace_nl_group group)
{
	return (info && nlmsg_report(info->nlhdr)) ||
	       genl_has_listeners(&family, dev_net(lace->dev), group);
}

/* Send a message to all of a group but one port number (0: to all).  skb NULL:
 * it could not be made, and they must know that they missed one.
 */
void lace_nl_multicast(const struct lace_device *lace, struct sk_buff *skb,
		       u32 except, enum lace_nl_group group)
{
	struct net *net = dev_net(lace->dev);

	if (skb)
		genlmsg_multicast_netns(&family, net, skb, except, group,
					GFP_KERNEL);
	else
		genl_set_err(&family, net, 0, group, -ENOBUFS);
}

/* Send a message to a group.  info: of the request that made the change, or
 * NULL.  err: the message could not be made.
 */
void lace_nl_announce_in(const struct lace_device *lace,
			 struct genl_info *info, struct sk_buff *skb, int err,
			 enum lace_nl_group group)
{
	if (err) {
		nlmsg_free(skb);
		lace_nl_multicast(lace, NULL, 0, group);
	} else if (info) {
		genl_notify(&family, skb, info, group, GFP_KERNEL);
	} else {
		lace_nl_multicast(lace, skb, 0, group);
	}
}

/* A command knows the attributes up to its maxattr only. */
static const struct genl_ops ops[] = {
	{
		.cmd = LACE_CMD_DEV_GET,
		.policy = lace_nl_dev_policy,
		.maxattr = LACE_A_DEV_IFNAME,
		.doit = lace_nl_dev_get,
		.start = lace_nl_dev_start,
		.dumpit = lace_nl_dev_dump,
	}, {
		.cmd = LACE_CMD_DEV_SET,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_dev_policy,
		.maxattr = LACE_A_DEV_MAX,
		.doit = lace_nl_dev_set,
	}, {
		.cmd = LACE_CMD_PORT_SET,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_port_policy,
		.maxattr = LACE_A_PORT_MAX,
		.doit = lace_nl_port_set,
	}, {
		.cmd = LACE_CMD_NODE_GET,
		.policy = lace_nl_node_policy,
		.maxattr = LACE_A_NODE_ID,
		.doit = lace_nl_node_get,
		.start = lace_nl_node_start,
		.dumpit = lace_nl_node_dump,
	}, {
		.cmd = LACE_CMD_NODE_SET,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_node_policy,
		.maxattr = LACE_A_NODE_MAX,
		.doit = lace_nl_node_set,
	}, {
		.cmd = LACE_CMD_NODE_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_node_policy,
		.maxattr = LACE_A_NODE_ID,
		.doit = lace_nl_node_del,
	}, {
		.cmd = LACE_CMD_LANE_GET,
		.policy = lace_nl_lane_policy,
		.maxattr = LACE_A_LANE_DIR,
		.doit = lace_nl_lane_get,
		.start = lace_nl_lane_start,
		.dumpit = lace_nl_lane_dump,
	}, {
		.cmd = LACE_CMD_SEGMENT_GET,
		.policy = lace_nl_segment_policy,
		.maxattr = LACE_A_SEGMENT_ID,
		.doit = lace_nl_segment_get,
		.start = lace_nl_segment_start,
		.dumpit = lace_nl_segment_dump,
	}, {
		.cmd = LACE_CMD_SEGMENT_SET,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_segment_policy,
		.maxattr = LACE_A_SEGMENT_MAX,
		.doit = lace_nl_segment_set,
	}, {
		.cmd = LACE_CMD_SEGMENT_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_segment_policy,
		.maxattr = LACE_A_SEGMENT_ID,
		.doit = lace_nl_segment_del,
	}, {
		.cmd = LACE_CMD_SEGMENT_ACTIVATE,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_segment_policy,
		.maxattr = LACE_A_SEGMENT_ID,
		.doit = lace_nl_segment_activate,
	}, {
		.cmd = LACE_CMD_TRANSITION_GET,
		.policy = lace_nl_transition_policy,
		.maxattr = LACE_A_TRANSITION_ID,
		.doit = lace_nl_transition_get,
		.start = lace_nl_transition_dump_start,
		.dumpit = lace_nl_transition_dump,
	}, {
		.cmd = LACE_CMD_TRANSITION_START,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_transition_policy,
		.maxattr = LACE_A_TRANSITION_DEADLINES,
		.doit = lace_nl_transition_start,
	}, {
		.cmd = LACE_CMD_TRANSITION_ABORT,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_transition_policy,
		.maxattr = LACE_A_TRANSITION_IFNAME,
		.doit = lace_nl_transition_abort,
	}, {
		.cmd = LACE_CMD_HOOK_GET,
		.policy = lace_nl_hook_policy,
		.maxattr = LACE_A_HOOK_NAME,
		.doit = lace_nl_hook_get,
		.start = lace_nl_hook_start,
		.dumpit = lace_nl_hook_dump,
	}, {
		.cmd = LACE_CMD_HOOK_SET,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_hook_policy,
		.maxattr = LACE_A_HOOK_PHASES,
		.doit = lace_nl_hook_set,
	}, {
		.cmd = LACE_CMD_HOOK_DEL,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_hook_policy,
		.maxattr = LACE_A_HOOK_NAME,
		.doit = lace_nl_hook_del,
	}, {
		.cmd = LACE_CMD_HOOK_DONE,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = lace_nl_hook_policy,
		.maxattr = LACE_A_HOOK_REASON,
		.doit = lace_nl_hook_done,
	},
};

static struct genl_family family __ro_after_init = {
	.name = LACE_GENL_NAME,
	.version = LACE_GENL_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.parallel_ops = true,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

int __init lace_netlink_init(void)
{
	return genl_register_family(&family);
}

void lace_netlink_exit(void)
{
	genl_unregister_family(&family);
}
