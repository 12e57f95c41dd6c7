// SPDX-License-Identifier: GPL-2.0
/*
 * Steering: which of the lanes to the next hop a packet takes.
 */
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/sch_generic.h>

#include "lace.h"

/* The lanes to choose from, in ascending order of port number. */
struct offer {
	unsigned int n;
	u32 ports;		/* as a bitmap */
	u8 numbers[LACE_MAX_PORTS];
	struct lace_port *lanes[LACE_MAX_PORTS];
};

/* A lane that was left alone for long does not get everything until it has
 * caught up with the others.
 */
#define MAX_BEHIND (1UL << 20)

/* Dark lanes count only if all are. */
static void make_offer(struct lace_device *lace, u32 ports, bool dark,
		       struct offer *offer)
{
	struct lace_port *port;
	u8 number;

	offer->n = 0;
	offer->ports = 0;
	while (ports) {
		number = __ffs(ports);
		ports &= ports - 1;
		port = rcu_dereference(lace->ports[number]);
		if (!port || !lace_port_is_live(port) ||
		    (!dark && READ_ONCE(port->dark)))
			continue;
		offer->numbers[offer->n] = number;
		offer->lanes[offer->n++] = port;
		offer->ports |= BIT(number);
	}
}

/* Bytes that wait for the fibre in the queue that the packet would join. */
static unsigned int backlog(struct net_device *dev, struct sk_buff *skb)
{
	u16 index = dev->real_num_tx_queues == 1 ? 0 :
		    netdev_pick_tx(dev, skb, NULL);
	struct netdev_queue *queue = netdev_get_tx_queue(dev, index);
	u32 packets, bytes;

	qdisc_qstats_qlen_backlog(rcu_dereference(queue->qdisc), &packets,
				  &bytes);
#ifdef CONFIG_BQL
	bytes += READ_ONCE(queue->dql.num_queued) -
		 READ_ONCE(queue->dql.num_completed);
#endif
	return bytes;
}

static bool rates_known(const struct offer *offer)
{
	unsigned int i;

	for (i = 0; i < offer->n; i++) {
		if (!READ_ONCE(offer->lanes[i]->mbps))
			return false;
	}
	return true;
}

/* The lane that is free first; of those alike, the one that sent least. */
static unsigned int least_busy(const struct offer *offer, struct sk_buff *skb)
{
	bool by_time = rates_known(offer);
	unsigned long best_sent = 0, sent;
	u64 best_wait = U64_MAX, wait;
	unsigned int best = 0;
	unsigned int i;
	u32 mbps;

	for (i = 0; i < offer->n; i++) {
		wait = backlog(offer->lanes[i]->dev, skb);
		sent = READ_ONCE(offer->lanes[i]->sent);
		mbps = READ_ONCE(offer->lanes[i]->mbps);
		if (by_time && mbps)
			wait = div_u64(wait * 8000, mbps);	/* ns */
		if (wait > best_wait ||
		    (wait == best_wait && (long)(sent - best_sent) >= 0))
			continue;
		best = i;
		best_wait = wait;
		best_sent = sent;
	}
	return best;
}

/* TCP copes with packets that overtake each other; others may not. */
static unsigned int builtin(const struct offer *offer, struct sk_buff *skb,
			    const struct lace_packet *packet)
{
	if (offer->n == 1)
		return 0;
	if (packet->protocol == IPPROTO_TCP && !packet->fragment)
		return least_busy(offer, skb);
	return reciprocal_scale(skb_get_hash(skb), offer->n);
}

/* The control block is lent to the program, as the socket layer does. */
static u32 run(const struct bpf_prog *prog, const struct lace_active *active,
	       const struct lace_path *path, const struct offer *offer,
	       unsigned int builtin, struct sk_buff *skb)
{
	u32 *cb = (u32 *)bpf_skb_cb(skb);
	u32 saved[QDISC_CB_PRIV_LEN / sizeof(u32)];
	u32 answer;

	BUILD_BUG_ON((LACE_STEER_SEGMENT + 1) * sizeof(u32) > sizeof(saved));

	skb_get_hash(skb);
	memcpy(saved, cb, sizeof(saved));
	memset(cb, 0, sizeof(saved));
	cb[LACE_STEER_LANES] = offer->n;
	cb[LACE_STEER_PORTS] = offer->ports;
	cb[LACE_STEER_NEXT] = path->next;
	cb[LACE_STEER_BUILTIN] = builtin;
	cb[LACE_STEER_SEGMENT] = active->segment->id;
	answer = bpf_prog_run_pin_on_cpu(prog, skb);
	memcpy(cb, saved, sizeof(saved));
	return answer;
}

static void debit(const struct offer *offer, unsigned int lane,
		  unsigned int bytes)
{
	unsigned long most = READ_ONCE(offer->lanes[lane]->sent);
	unsigned long sent = most;
	unsigned int i;

	for (i = 0; i < offer->n; i++) {
		unsigned long other = READ_ONCE(offer->lanes[i]->sent);

		if ((long)(other - most) > 0)
			most = other;
	}
	if (most - sent > MAX_BEHIND)
		sent = most - MAX_BEHIND;
	WRITE_ONCE(offer->lanes[lane]->sent, sent + bytes);
}

/* Number of the port on whose TX lane the packet is to leave, or LACE_NO_LANE if
 * none of the path is alive.  Needs the RCU read lock.
 */
int lace_steer(struct lace_device *lace, const struct lace_active *active,
	       const struct lace_path *path, struct sk_buff *skb,
	       const struct lace_packet *packet)
{
	const struct bpf_prog *prog;
	struct offer offer;
	unsigned int lane;
	u32 answer;

	make_offer(lace, path->ports, false, &offer);
	if (!offer.n)
		make_offer(lace, path->ports, true, &offer);
	if (!offer.n)
		return LACE_NO_LANE;
	lane = builtin(&offer, skb, packet);
	prog = rcu_dereference(lace->steer);
	if (prog) {
		answer = run(prog, active, path, &offer, lane, skb);
		if (answer < offer.n)
			lane = answer;
		else
			lace_dev_count(lace, LACE_A_DEVSTAT_STEER_BAD);
	}
	debit(&offer, lane, skb->len);
	return offer.numbers[lane];
}

/* Takes over the reference to the program; NULL for the built-in policy.  A
 * program is freed after a grace period, so that readers may finish.
 */
void lace_steer_set(struct lace_device *lace, struct bpf_prog *prog)
{
	struct bpf_prog *old = rtnl_dereference(lace->steer);

	rcu_assign_pointer(lace->steer, prog);
	if (old)
		bpf_prog_put(old);
}
