// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink commands about lanes.
 */
#include "lace.h"

const struct nla_policy lace_nl_lane_policy[LACE_A_LANE_MAX + 1] = {
	[LACE_A_LANE_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32,
						      &lace_nl_ifindex_range),
	[LACE_A_LANE_IFNAME] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[LACE_A_LANE_PORT] = NLA_POLICY_MAX(NLA_U8, LACE_MAX_PORTS - 1),
	[LACE_A_LANE_PORT_IFINDEX] = {
		.type = NLA_REJECT,
		.reject_message = "lane PORT_IFINDEX: lanes are found by PORT",
	},
	[LACE_A_LANE_DIR] = NLA_POLICY_MAX(NLA_U8, LACE_DIR_RX),
};

/* Lanes in the order of a dump: 0 and 1 are TX and RX of port 0. */
#define N_LANES (2 * LACE_MAX_PORTS)

static int put_far(struct sk_buff *skb, struct lace_device *lace, u8 number,
		   enum lace_dir dir)
{
	const struct lace_active *active = rtnl_dereference(lace->active);
	const struct lace_far *far;

	if (!active)
		return 0;
	far = &active->far[dir][number];
	if (far->node == LACE_NO_NODE)
		return 0;
	if (nla_put_u16(skb, LACE_A_LANE_PEER, far->node) ||
	    nla_put_u8(skb, LACE_A_LANE_PEER_PORT, far->port) ||
	    (dir == LACE_DIR_TX && active->closed & BIT(number) &&
	     nla_put_flag(skb, LACE_A_LANE_CLOSED)))
		return -EMSGSIZE;
	return 0;
}

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, LACE_A_LANE_PAD);
}

static int put_report(struct sk_buff *skb,
		      const struct lace_lane_report *report)
{
	if (nla_put_u8(skb, LACE_A_LANE_STATE, report->state) ||
	    (report->heard &&
	     put_u64(skb, LACE_A_LANE_SILENCE_MS, report->silence_ms)) ||
	    (report->rtt_ns &&
	     put_u64(skb, LACE_A_LANE_RTT_NS, report->rtt_ns)) ||
	    (report->epoch &&
	     put_u64(skb, LACE_A_LANE_EPOCH, report->epoch)) ||
	    (report->drained && nla_put_flag(skb, LACE_A_LANE_DRAINED)))
		return -EMSGSIZE;
	return 0;
}

static int put_port(struct sk_buff *skb, struct lace_port *port,
		    enum lace_dir dir)
{
	u64 stats[LACE_A_LANESTAT_MAX + 1];
	struct lace_lane_report report;

	if (!port)
		return 0;
	lace_lane_stats_read(port, dir, stats);
	lace_lane_report(port, dir, &report, stats);
	if (put_report(skb, &report) ||
	    nla_put_u32(skb, LACE_A_LANE_PORT_IFINDEX, port->dev->ifindex) ||
	    lace_nl_put_stats(skb, LACE_A_LANE_STATS, LACE_A_LANESTAT_PAD,
			      stats, LACE_A_LANESTAT_MAX))
		return -EMSGSIZE;
	return 0;
}

static int finish(struct sk_buff *skb, void *header, struct lace_device *lace,
		  u8 number, enum lace_dir dir)
{
	if (!header)
		return -EMSGSIZE;
	if (nla_put_u8(skb, LACE_A_LANE_PORT, number) ||
	    nla_put_u8(skb, LACE_A_LANE_DIR, dir) ||
	    put_far(skb, lace, number, dir) ||
	    put_port(skb, rtnl_dereference(lace->ports[number]), dir)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

int lace_nl_lane_start(struct netlink_callback *cb)
{
	return lace_nl_start(cb, NULL);
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb,
		struct lace_device *lace, unsigned long *next)
{
	int err;

	for (; *next < N_LANES; ++*next) {
		if (!rtnl_dereference(lace->ports[*next / 2]))
			continue;
		err = finish(skb, lace_nl_begin_dump(skb, cb,
						     LACE_CMD_LANE_GET, lace),
			     lace, *next / 2, *next % 2);
		if (err)
			return err;
	}
	return 0;
}

int lace_nl_lane_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return lace_nl_dump(skb, cb, dump);
}

static struct sk_buff *make(struct lace_device *lace, u8 number,
			    enum lace_dir dir, u32 portid, u32 seq, u8 cmd)
{
	struct sk_buff *skb;

	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return NULL;
	if (WARN_ON_ONCE(finish(skb, lace_nl_begin(skb, portid, seq, 0, cmd,
						   lace),
				lace, number, dir))) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

/* Both lanes of a port that came, or went: then without a port. */
void lace_nl_announce_lanes(struct lace_device *lace, u8 number)
{
	struct sk_buff *skb;
	int dir;

	if (!lace_nl_is_heard(lace, NULL))
		return;
	for (dir = LACE_DIR_TX; dir <= LACE_DIR_RX; dir++) {
		skb = make(lace, number, dir, 0, 0, LACE_CMD_LANE_NTF);
		lace_nl_announce(lace, NULL, skb, skb ? 0 : -ENOMEM);
	}
}

static int get(struct lace_device *lace, struct genl_info *info)
{
	const struct nlattr *port = info->attrs[LACE_A_LANE_PORT];
	const struct nlattr *dir = info->attrs[LACE_A_LANE_DIR];
	struct sk_buff *reply;

	if (!port) {
		NL_SET_ERR_MSG(info->extack, "lane PORT: missing");
		return -EINVAL;
	}
	if (!dir) {
		NL_SET_ERR_MSG(info->extack, "lane DIR: missing");
		return -EINVAL;
	}
	if (!rtnl_dereference(lace->ports[nla_get_u8(port)])) {
		NL_SET_ERR_MSG_ATTR(info->extack, port,
				    "lane PORT: there is no such port");
		return -ENOENT;
	}
	reply = make(lace, nla_get_u8(port), nla_get_u8(dir),
		     info->snd_portid, info->snd_seq, LACE_CMD_LANE_GET);
	return reply ? genlmsg_reply(reply, info) : -ENOMEM;
}

int lace_nl_lane_get(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, get);
}
