// SPDX-License-Identifier: GPL-2.0
/*
 * Receive order: TCP segments of one flow that came in over several lanes are
 * put back in order before TCP sees them.  What to hold and when to let go is
 * decided in reorder_core.c; here are the flows, their packets and the time.
 *
 * DESIGN NOTES
 *
 * Flows are in buckets, each with a lock and a timer: lanes of one flow may be
 * received on several processors at once.  Packets go up the stack without the
 * lock, which whatever answers them may need.  So that they still go up in
 * order, one processor at a time delivers for a flow, and takes along what the
 * others leave for it in flow->ready meanwhile.
 *
 * A flow belongs to its bucket, or, once forgotten, to the one who delivers
 * for it.  Whatever the number of flows, and whatever the memory, packets are
 * never dropped: what there is no room for is delivered out of order.
 *
 * A packet that is held belongs to lace0 already.  It is let go before lace0 is
 * down, so that no reference to the device has to be held for it.
 */
#include <linux/hrtimer.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/tcp.h>

#include "compat.h"
#include "lace.h"
#include "reorder_core.h"
#include "trace.h"

#define BUCKET_BITS 8
#define BUCKETS (1U << BUCKET_BITS)
#define MAX_FLOWS 16		/* of a bucket */
#define MAX_PIECES 1024		/* held of a flow */
#define MAX_BYTES (4U << 20)	/* memory held of a flow */
#define MAX_ALL_BYTES (64L << 20)	/* memory held of a device */
#define MAX_READY 256		/* left for another processor to deliver */

struct tuple {
	__be32 address[2][4];	/* unused words are zero */
	__be32 ports;
	u32 family;
};

struct flow {
	struct list_head list;	/* bucket.flows, last used first */
	struct list_head ready;	/* packets on their way up, in order */
	unsigned int n_ready;
	bool delivering;
	bool forgotten;
	u16 peer;		/* whose lanes it comes on */
	struct tuple key;
	struct lace_order_path path;
	struct lace_order order;
};

struct bucket {
	spinlock_t lock;	/* protects all here and all of its flows */
	struct list_head flows;
	unsigned int n_flows;
	u64 alarm;		/* when the timer goes off; 0: it is not set */
	struct hrtimer timer;
	struct lace_reorder *reorder;
};

struct lace_reorder {
	struct lace_device *lace;
	atomic_long_t bytes;	/* held */
	u64 skew;		/* of the flow that last found it */
	u32 seed;
	u32 depth;		/* the most that one flow has held */
	struct bucket buckets[BUCKETS];
};

/* In the control block of a packet that is held. */
static struct lace_piece *piece_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct lace_piece) > sizeof_field(struct sk_buff,
							      cb));
	return (struct lace_piece *)skb->cb;
}

static struct sk_buff *skb_of(struct lace_piece *piece)
{
	return container_of((void *)piece, struct sk_buff, cb);
}

/* Flows. */

static void read_key(const struct sk_buff *skb,
		     const struct lace_packet *packet, const struct tcphdr *tcp,
		     struct tuple *key)
{
	memset(key, 0, sizeof(*key));
	key->family = packet->family;
	if (packet->family == AF_INET) {
		key->address[0][0] = ip_hdr(skb)->saddr;
		key->address[1][0] = ip_hdr(skb)->daddr;
	} else {
		memcpy(key->address[0], &ipv6_hdr(skb)->saddr,
		       sizeof(key->address[0]));
		memcpy(key->address[1], &ipv6_hdr(skb)->daddr,
		       sizeof(key->address[1]));
	}
	memcpy(&key->ports, tcp, sizeof(key->ports));
}

static struct bucket *find_bucket(struct lace_reorder *reorder,
				  const struct tuple *key)
{
	u32 hash;

	if (key->family == AF_INET)
		hash = jhash_3words((__force u32)key->address[0][0],
				    (__force u32)key->address[1][0],
				    (__force u32)key->ports, reorder->seed);
	else
		hash = jhash2((const u32 *)key, sizeof(*key) / sizeof(u32),
			      reorder->seed);
	return &reorder->buckets[hash >> (32 - BUCKET_BITS)];
}

static struct flow *find_flow(struct bucket *bucket, const struct tuple *key)
{
	struct flow *flow;

	list_for_each_entry(flow, &bucket->flows, list) {
		if (memcmp(&flow->key, key, sizeof(*key)))
			continue;
		list_move(&flow->list, &bucket->flows);
		return flow;
	}
	return NULL;
}

static struct flow *new_flow(struct bucket *bucket, const struct tuple *key)
{
	struct flow *flow = kmalloc(sizeof(*flow), GFP_ATOMIC | __GFP_NOWARN);

	if (!flow)
		return NULL;
	INIT_LIST_HEAD(&flow->ready);
	flow->n_ready = 0;
	flow->delivering = false;
	flow->forgotten = false;
	flow->key = *key;
	list_add(&flow->list, &bucket->flows);
	bucket->n_flows++;
	return flow;
}

static void count(struct lace_reorder *reorder, enum lace_attr_devstat counter,
		  unsigned int n)
{
	if (n)
		lace_dev_count_many(reorder->lace, counter, n);
}

/* Hand over what is to be delivered, with its counters. */
static void take_result(struct lace_reorder *reorder, struct flow *flow,
			const struct lace_order_result *result, u32 bytes)
{
	static const enum lace_attr_devstat counters[LACE_ORDER_REASONS] = {
		[LACE_ORDER_FILLED] = LACE_A_DEVSTAT_REORDER_FILLED,
		[LACE_ORDER_LOST] = LACE_A_DEVSTAT_REORDER_LOST,
		[LACE_ORDER_EXPIRED] = LACE_A_DEVSTAT_REORDER_EXPIRED,
		[LACE_ORDER_OVERFLOW] = LACE_A_DEVSTAT_REORDER_OVERFLOW,
		[LACE_ORDER_FLUSHED] = LACE_A_DEVSTAT_REORDER_FLUSHED,
	};
	struct lace_piece *piece, *next;
	int i;

	if (flow->order.bytes != bytes)
		atomic_long_add((long)flow->order.bytes - (long)bytes,
				&reorder->bytes);
	for (i = 0; i < LACE_ORDER_REASONS; i++) {
		if (!result->released[i])
			continue;
		count(reorder, counters[i], result->released[i]);
		trace_lace_reorder_release(reorder->lace->dev, counters[i],
					   result->released[i],
					   flow->order.n_held);
	}
	for (piece = result->out.first; piece; piece = next) {
		next = piece->next;
		list_add_tail(&skb_of(piece)->list, &flow->ready);
		flow->n_ready++;
	}
}

static void flush(struct lace_reorder *reorder, struct flow *flow)
{
	struct lace_order_result result = {};
	u32 bytes = flow->order.bytes;

	lace_order_flush(&flow->order, &result);
	take_result(reorder, flow, &result, bytes);
}

/* The caller still has to deliver(), which frees it. */
static void forget(struct bucket *bucket, struct flow *flow)
{
	flush(bucket->reorder, flow);
	list_del(&flow->list);
	bucket->n_flows--;
	flow->forgotten = true;
}

/* All that is ready, in order, by one processor at a time; or, if that one
 * does not keep up, what has piled up by this one.  Releases the lock.
 */
static void deliver(struct bucket *bucket, struct flow *flow)
	__releases(&bucket->lock)
{
	bool helping = flow->delivering;
	LIST_HEAD(packets);

	if (helping && flow->n_ready < MAX_READY) {
		spin_unlock(&bucket->lock);
		return;
	}
	flow->delivering = true;
	while (!list_empty(&flow->ready)) {
		list_splice_init(&flow->ready, &packets);
		flow->n_ready = 0;
		spin_unlock(&bucket->lock);
		netif_receive_skb_list(&packets);
		if (helping)
			return;
		INIT_LIST_HEAD(&packets);
		spin_lock(&bucket->lock);
	}
	flow->delivering = false;
	if (flow->forgotten)
		kfree(flow);
	spin_unlock(&bucket->lock);
}

/* Time. */

static struct lace_order_limits limits_of(struct lace_reorder *reorder)
{
	bool full = atomic_long_read(&reorder->bytes) >= MAX_ALL_BYTES;

	return (struct lace_order_limits){
		.wait = READ_ONCE(reorder->lace->reorder_us) *
			(u64)NSEC_PER_USEC,
		.pieces = MAX_PIECES,
		.bytes = full ? 0 : MAX_BYTES,
	};
}

static void set_alarm(struct bucket *bucket, const struct flow *flow,
		      const struct lace_order_limits *limits)
{
	u64 deadline = lace_order_deadline(&flow->order, limits);

	lockdep_assert_held(&bucket->lock);

	if (!deadline || (bucket->alarm && bucket->alarm <= deadline))
		return;
	bucket->alarm = deadline;
	hrtimer_start(&bucket->timer, ns_to_ktime(deadline),
		      HRTIMER_MODE_ABS_SOFT);
}

/* A flow that has something to let go now, or NULL and the alarm is set. */
static struct flow *find_expired(struct bucket *bucket,
				 const struct lace_order_limits *limits, u64 now)
{
	struct flow *flow;
	u64 deadline;

	list_for_each_entry(flow, &bucket->flows, list) {
		deadline = lace_order_deadline(&flow->order, limits);
		if (deadline && deadline <= now)
			return flow;
	}
	list_for_each_entry(flow, &bucket->flows, list)
		set_alarm(bucket, flow, limits);
	return NULL;
}

static enum hrtimer_restart time_over(struct hrtimer *timer)
{
	struct bucket *bucket = container_of(timer, struct bucket, timer);
	struct lace_reorder *reorder = bucket->reorder;
	struct lace_order_limits limits = limits_of(reorder);
	struct lace_order_result result;
	u64 now = ktime_get_ns();
	struct flow *flow;
	u32 bytes;

	spin_lock(&bucket->lock);
	bucket->alarm = 0;
	while ((flow = find_expired(bucket, &limits, now))) {
		bytes = flow->order.bytes;
		lace_order_expire(&flow->order, &flow->path, &limits, now,
				  &result);
		take_result(reorder, flow, &result, bytes);
		deliver(bucket, flow);
		spin_lock(&bucket->lock);
	}
	spin_unlock(&bucket->lock);
	return HRTIMER_NORESTART;
}

/* Packets. */

/* What of a packet concerns its order. */
struct view {
	struct tuple key;
	u32 seq, end;
	bool start;		/* of a connection */
	bool flush;		/* nothing waits for what comes after it */
	bool finish;		/* nothing more comes */
};

/* False if the packet has no place in an order. */
static bool look(struct sk_buff *skb, const struct lace_packet *packet,
		 struct view *view)
{
	const unsigned int least = packet->header + sizeof(struct tcphdr);
	const struct tcphdr *tcp;
	unsigned int header;

	if (packet->protocol != IPPROTO_TCP || packet->fragment ||
	    !pskb_may_pull(skb, least))
		return false;
	tcp = (const struct tcphdr *)(skb->data + packet->header);
	header = packet->header + __tcp_hdrlen(tcp);
	if (header < least || header > skb->len)
		return false;

	view->seq = ntohl(tcp->seq);
	view->end = view->seq + skb->len - header + tcp->syn + tcp->fin;
	view->start = tcp->syn;
	view->finish = tcp->rst;
	view->flush = tcp->syn || tcp->rst || tcp->urg;
	if (view->end == view->seq && !view->flush)
		return false;
	read_key(skb, packet, tcp, &view->key);
	return true;
}

static void make_piece(struct sk_buff *skb, const struct view *view, u8 lane)
{
	*piece_of(skb) = (struct lace_piece){
		.seq = view->seq,
		.end = view->end,
		.size = skb->truesize,
		.lane = lane,
	};
}

/* Behind all that waits, whatever its place would be. */
static void pass_last(struct lace_reorder *reorder, struct flow *flow,
		      struct sk_buff *skb, const struct view *view)
{
	flush(reorder, flow);
	if (view->start)
		lace_order_init(&flow->order, view->end, flow->order.skew);
	else if (lace_seq_before(flow->order.next, view->end))
		flow->order.next = view->end;
	list_add_tail(&skb->list, &flow->ready);
	flow->n_ready++;
}

static void put_in_order(struct lace_reorder *reorder, struct flow *flow,
			 struct sk_buff *skb,
			 const struct lace_order_limits *limits)
{
	struct lace_piece *piece = piece_of(skb);
	struct lace_order_result result;
	u32 bytes = flow->order.bytes;
	u64 skew = flow->order.skew;
	u8 lane = piece->lane;
	u64 now = 0;

	if (lace_order_is_timed(&flow->order, piece->seq))
		now = ktime_get_ns();
	lace_order_receive(&flow->order, piece, &flow->path, limits, now,
			   &result);
	if (result.held)
		trace_lace_reorder_hold(reorder->lace->dev, lane,
					flow->order.n_held, flow->order.bytes);
	take_result(reorder, flow, &result, bytes);
	count(reorder, LACE_A_DEVSTAT_REORDER_IN_ORDER, result.in_order);
	count(reorder, LACE_A_DEVSTAT_REORDER_HELD, result.held);
	count(reorder, LACE_A_DEVSTAT_REORDER_LATE, result.late);
	if (flow->order.skew != skew)
		WRITE_ONCE(reorder->skew, flow->order.skew);
	if (flow->order.n_held > READ_ONCE(reorder->depth))
		WRITE_ONCE(reorder->depth, flow->order.n_held);
}

/* The flow that was not used for longest makes room.  The bucket is unlocked
 * meanwhile, so it may have changed.
 */
static void make_room(struct bucket *bucket)
{
	while (bucket->n_flows >= MAX_FLOWS) {
		struct flow *oldest = list_last_entry(&bucket->flows,
						      struct flow, list);

		forget(bucket, oldest);
		deliver(bucket, oldest);
		spin_lock(&bucket->lock);
	}
}

/* The flow of a packet; NULL if it has none. */
static struct flow *get_flow(struct bucket *bucket, const struct view *view,
			     u16 peer)
{
	struct flow *flow;

	lockdep_assert_held(&bucket->lock);

	flow = find_flow(bucket, &view->key);
	if (flow || view->finish)
		return flow;
	make_room(bucket);
	flow = find_flow(bucket, &view->key);
	if (flow)
		return flow;
	flow = new_flow(bucket, &view->key);
	if (!flow)
		return NULL;
	lace_order_init(&flow->order, view->seq,
			READ_ONCE(bucket->reorder->skew));
	flow->peer = peer;
	return flow;
}

/* A packet that lace0 received on a lane, on one of several that packets of its
 * flow may come on.  True if it has been taken over.
 */
bool lace_reorder_receive(struct lace_device *lace, struct sk_buff *skb,
			  const struct lace_packet *packet, u16 peer, u8 lane,
			  u32 lanes, bool direct)
{
	struct lace_reorder *reorder = lace->reorder;
	struct lace_order_limits limits;
	struct bucket *bucket;
	struct flow *flow;
	struct view view;

	if (!READ_ONCE(lace->reorder_us) || !look(skb, packet, &view))
		return false;

	limits = limits_of(reorder);
	bucket = find_bucket(reorder, &view.key);
	spin_lock(&bucket->lock);
	flow = get_flow(bucket, &view, peer);
	if (!flow) {
		spin_unlock(&bucket->lock);
		return false;
	}
	skb_orphan(skb);
	/* What is missing may be on its way by another peer still. */
	flow->path = (struct lace_order_path){
		.lanes = lanes,
		.fifo = direct && flow->peer == peer,
	};
	make_piece(skb, &view, lane);
	if (view.flush)
		pass_last(reorder, flow, skb, &view);
	else
		put_in_order(reorder, flow, skb, &limits);
	if (!flow->order.held.first)
		flow->peer = peer;
	if (view.finish)
		forget(bucket, flow);
	else
		set_alarm(bucket, flow, &limits);
	deliver(bucket, flow);
	return true;
}

/* Whether a node has several lanes to here: else its flows need no order. */
static bool has_lanes(const struct lace_active *active, u16 node)
{
	const struct lace_circuit *circuits;
	int i, n = 0;

	if (!active)
		return false;
	circuits = active->segment->circuits[LACE_DIR_RX];
	for (i = 0; i < LACE_MAX_PORTS; i++)
		n += circuits[i].peer == node;
	return n > 1;
}

/* A flow that will not be put in order any more, or NULL. */
static struct flow *find_idle(struct bucket *bucket,
			      const struct lace_active *active)
{
	struct flow *flow;

	list_for_each_entry(flow, &bucket->flows, list) {
		if (!has_lanes(active, flow->peer))
			return flow;
	}
	return NULL;
}

/* Deliver what waits of flows whose senders have less than two lanes to here,
 * and forget them.  The others go on.
 */
void lace_reorder_follow(struct lace_device *lace,
			 const struct lace_active *active)
{
	struct bucket *bucket;
	struct flow *flow;
	int i;

	for (i = 0; i < BUCKETS; i++) {
		bucket = &lace->reorder->buckets[i];
		spin_lock_bh(&bucket->lock);
		while ((flow = find_idle(bucket, active))) {
			forget(bucket, flow);
			deliver(bucket, flow);
			spin_lock(&bucket->lock);
		}
		spin_unlock_bh(&bucket->lock);
	}
}

/* Deliver all that waits, and begin anew. */
void lace_reorder_flush(struct lace_device *lace)
{
	lace_reorder_follow(lace, NULL);
}

/* Longest time in microseconds that a packet may wait; 0: none does. */
void lace_reorder_set(struct lace_device *lace, u32 usecs)
{
	WRITE_ONCE(lace->reorder_us, usecs);
	/* Whoever still saw the old time is through then. */
	synchronize_net();
	lace_reorder_flush(lace);
}

/* The most packets that one flow has had waiting. */
u32 lace_reorder_depth(const struct lace_device *lace)
{
	return READ_ONCE(lace->reorder->depth);
}

int lace_reorder_init(struct lace_device *lace)
{
	struct lace_reorder *reorder;
	struct bucket *bucket;
	int i;

	reorder = kvzalloc(sizeof(*reorder), GFP_KERNEL_ACCOUNT);
	if (!reorder)
		return -ENOMEM;
	reorder->lace = lace;
	reorder->seed = get_random_u32();
	for (i = 0; i < BUCKETS; i++) {
		bucket = &reorder->buckets[i];
		spin_lock_init(&bucket->lock);
		INIT_LIST_HEAD(&bucket->flows);
		bucket->reorder = reorder;
		lace_compat_hrtimer(&bucket->timer, time_over);
	}
	lace->reorder_us = LACE_DEFAULT_REORDER_USECS;
	lace->reorder = reorder;
	return 0;
}

static void purge(struct bucket *bucket)
{
	struct sk_buff *skb, *next_skb;
	struct flow *flow, *next;

	list_for_each_entry_safe(flow, next, &bucket->flows, list) {
		forget(bucket, flow);
		list_for_each_entry_safe(skb, next_skb, &flow->ready, list) {
			skb_list_del_init(skb);
			kfree_skb(skb);
		}
		kfree(flow);
	}
}

/* Nobody receives any more, and the device takes nothing. */
void lace_reorder_destroy(struct lace_device *lace)
{
	struct bucket *bucket;
	int i;

	for (i = 0; i < BUCKETS; i++) {
		bucket = &lace->reorder->buckets[i];
		hrtimer_cancel(&bucket->timer);
		local_bh_disable();
		purge(bucket);
		local_bh_enable();
	}
	kvfree(lace->reorder);
}
