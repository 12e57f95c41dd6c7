// SPDX-License-Identifier: GPL-2.0
/*
 * Steering: which of the lanes to the next hop a packet takes.
 *
 * DESIGN NOTES
 *
 * The built-in choice is always made, so that there is one whatever a program
 * does.  A program answers with an index and has no other effect; the kernel's
 * verifier bounds how long it takes.
 *
 * lace_device.steer_map belongs to lace_device.steer: it changes only while no
 * reader can see a program.
 */
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/lace_steer.h>
#include <linux/log2.h>
#include <linux/tcp.h>
#include <net/sch_generic.h>

#include "compat.h"
#include "lace.h"

/* The lanes to choose from, in ascending order of port number. */
struct offer {
	unsigned int n;
	u32 ports;		/* as a bitmap */
	u8 numbers[LACE_MAX_PORTS];
	struct lace_port *lanes[LACE_MAX_PORTS];
	/* Of survey(): */
	u32 backlog[LACE_MAX_PORTS];
	u64 wait[LACE_MAX_PORTS];
	bool surveyed;
};

/* Lanes that are free alike get as much each; but one that was left alone for
 * long, or led elsewhere, does not get everything until it has caught up.
 */
#define MAX_BEHIND (64UL << 10)

/* Dark lanes count only if all are. */
static void make_offer(struct lace_device *lace, u32 ports, bool dark,
		       struct offer *offer)
{
	struct lace_port *port;
	u8 number;

	offer->n = 0;
	offer->ports = 0;
	offer->surveyed = false;
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

/* What waits on each lane, and for how long. */
static void survey(struct offer *offer, struct sk_buff *skb)
{
	bool by_time = rates_known(offer);
	unsigned int i;
	u32 mbps;

	if (offer->surveyed)
		return;
	for (i = 0; i < offer->n; i++) {
		offer->backlog[i] = backlog(offer->lanes[i]->dev, skb);
		offer->wait[i] = offer->backlog[i];
		mbps = READ_ONCE(offer->lanes[i]->mbps);
		if (by_time && mbps)
			offer->wait[i] = div_u64(offer->wait[i] * 8000, mbps);
	}
	offer->surveyed = true;
}

/* The lane that is free first; of those alike, the one that sent least. */
static unsigned int least_busy(struct offer *offer, struct sk_buff *skb)
{
	unsigned long best_sent = 0, sent;
	u64 best_wait = U64_MAX;
	unsigned int best = 0;
	unsigned int i;

	survey(offer, skb);
	for (i = 0; i < offer->n; i++) {
		sent = READ_ONCE(offer->lanes[i]->sent);
		if (offer->wait[i] > best_wait ||
		    (offer->wait[i] == best_wait &&
		     (long)(sent - best_sent) >= 0))
			continue;
		best = i;
		best_wait = offer->wait[i];
		best_sent = sent;
	}
	return best;
}

/* TCP copes with packets that overtake each other; others may not. */
static unsigned int builtin(struct offer *offer, struct sk_buff *skb,
			    const struct lace_packet *packet)
{
	if (offer->n == 1)
		return 0;
	if (packet->protocol == IPPROTO_TCP && !packet->fragment)
		return least_busy(offer, skb);
	return reciprocal_scale(skb_get_hash(skb), offer->n);
}

static u32 flags_of(const struct sk_buff *skb, const struct lace_packet *packet,
		    bool relay)
{
	u32 flags = relay ? LACE_STEER_RELAYED : 0;
	struct tcphdr buffer;
	const struct tcphdr *tcp;

	if (packet->protocol != IPPROTO_TCP || packet->fragment)
		return flags;
	tcp = skb_header_pointer(skb, packet->header, sizeof(buffer), &buffer);
	if (!tcp)
		return flags;
	flags |= LACE_STEER_TCP;
	if (packet->pure_ack)
		flags |= LACE_STEER_ACK;
	if (tcp->syn)
		flags |= LACE_STEER_SYN;
	if (tcp->fin || tcp->rst)
		flags |= LACE_STEER_END;
	return flags;
}

static void describe_lanes(struct lace_steer_context *context,
			   const struct offer *offer)
{
	struct lace_steer_lane *lane = context->lane;
	unsigned int i;

	BUILD_BUG_ON(LACE_STEER_MAX_LANES != LACE_MAX_PORTS);

	for (i = 0; i < offer->n; i++, lane++) {
		lane->port = offer->numbers[i];
		lane->mbps = READ_ONCE(offer->lanes[i]->mbps);
		lane->backlog = offer->backlog[i];
		lane->unused = 0;
		lane->wait = offer->wait[i];
		lane->sent = READ_ONCE(offer->lanes[i]->sent);
		lane->epoch = lace_lane_epoch(offer->lanes[i]);
	}
}

/* Fill the context of this processor.  Bottom halves are off; where that keeps
 * nobody else from the processor, as on PREEMPT_RT, a program may be told of
 * another packet, which is no worse than a program that answers as it likes.
 */
static void describe(struct bpf_map *map, const struct lace_active *active,
		     const struct lace_path *path, struct offer *offer,
		     unsigned int builtin, struct sk_buff *skb,
		     const struct lace_packet *packet, bool relay)
{
	struct lace_steer_context *context;
	u32 first = 0;

	context = map->ops->map_lookup_elem(map, &first);
	if (!context)
		return;
	survey(offer, skb);
	context->version = LACE_STEER_VERSION;
	context->flags = flags_of(skb, packet, relay);
	context->lanes = offer->n;
	context->ports = offer->ports;
	context->builtin = builtin;
	context->segment = active->segment->id;
	context->from = path->from;
	context->to = path->to;
	context->next = path->next;
	context->unused = 0;
	context->hash = skb_get_hash(skb);
	context->frames = packet->frames;
	context->bytes = packet->bytes;
	describe_lanes(context, offer);
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

/* Where there is nothing to choose. */
static int only_lane(struct lace_device *lace, u32 ports, unsigned int bytes)
{
	int number = __ffs(ports);
	struct lace_port *port = rcu_dereference(lace->ports[number]);

	if (!port || !lace_port_is_live(port))
		return LACE_NO_LANE;
	WRITE_ONCE(port->sent, READ_ONCE(port->sent) + bytes);
	return number;
}

/* Index in the offer. */
static unsigned int choose(struct lace_device *lace, const struct lace_way *way,
			   const struct bpf_prog *prog, struct offer *offer,
			   struct sk_buff *skb,
			   const struct lace_packet *packet, bool relay)
{
	unsigned int lane = builtin(offer, skb, packet);
	struct bpf_map *map;
	u32 answer;

	if (!prog)
		return lane;
	smp_rmb();	/* as steer_map is written before steer */
	map = READ_ONCE(lace->steer_map);
	if (map)
		describe(map, way->active, way->path, offer, lane, skb, packet,
			 relay);
	answer = run(prog, way->active, way->path, offer, lane, skb);
	if (answer < offer->n)
		return answer;
	lace_dev_count(lace, LACE_A_DEVSTAT_STEER_BAD);
	return lane;
}

static noinline int one_of_all(struct lace_device *lace,
			       const struct lace_way *way, u32 ports,
			       const struct bpf_prog *prog, struct sk_buff *skb,
			       const struct lace_packet *packet, bool relay)
{
	struct offer offer lace_compat_uninitialized;
	unsigned int lane;

	make_offer(lace, ports, false, &offer);
	if (!offer.n)
		make_offer(lace, ports, true, &offer);
	if (!offer.n)
		return LACE_NO_LANE;
	lane = choose(lace, way, prog, &offer, skb, packet, relay);
	debit(&offer, lane, skb->len);
	return offer.numbers[lane];
}

/* Number of the port on whose TX lane the packet is to leave, or LACE_NO_LANE if
 * none of the path is alive.  Needs the RCU read lock.
 */
int lace_steer(struct lace_device *lace, const struct lace_way *way,
	       struct sk_buff *skb, const struct lace_packet *packet,
	       bool relay)
{
	const struct bpf_prog *prog = rcu_dereference(lace->steer);
	u32 ports = way->path->ports & ~way->closed;

	if (!prog && is_power_of_2(ports))
		return only_lane(lace, ports, skb->len);
	return one_of_all(lace, way, ports, prog, skb, packet, relay);
}

/* The map of a program that wants to be told more, or NULL.  It stays as long as
 * the program does, but at any time bpf(2) may bind another one to it.
 */
static struct bpf_map *find_map(const struct bpf_prog *prog)
{
	struct bpf_prog_aux *aux = prog->aux;
	struct bpf_map *map = NULL;
	u32 i;

	mutex_lock(&aux->used_maps_mutex);
	for (i = 0; i < aux->used_map_cnt && !map; i++) {
		if (!strcmp(aux->used_maps[i]->name, LACE_STEER_MAP))
			map = aux->used_maps[i];
	}
	mutex_unlock(&aux->used_maps_mutex);
	return map;
}

/* Whether the program can be used, and with which map, if any. */
int lace_steer_check(struct lace_steer_program *steer,
		     struct netlink_ext_ack *extack)
{
	struct bpf_map *map = find_map(steer->prog);

	if (map && (map->map_type != BPF_MAP_TYPE_PERCPU_ARRAY ||
		    map->value_size < sizeof(struct lace_steer_context))) {
		NL_SET_ERR_MSG(extack,
			       "device STEER_FD: map lace_steer is no per-CPU array of struct lace_steer_context");
		return -EINVAL;
	}
	steer->map = map;
	return 0;
}

/* Takes over the reference to a program that was checked; without one, the
 * built-in policy decides, as it does until nobody uses the program before any
 * more.
 */
void lace_steer_set(struct lace_device *lace,
		    const struct lace_steer_program *steer)
{
	struct bpf_prog *old = rtnl_dereference(lace->steer);

	if (old) {
		rcu_assign_pointer(lace->steer, NULL);
		synchronize_net();
		bpf_prog_put(old);
	}
	WRITE_ONCE(lace->steer_map, steer->map);
	rcu_assign_pointer(lace->steer, steer->prog);
}
