// SPDX-License-Identifier: GPL-2.0
/*
 * The gate: packets of peers that have no open lane wait here until they have
 * one.
 *
 * DESIGN NOTES
 *
 * Packets wait in first-in-first-out queues, by the pair of nodes that they are
 * from and for; pairs may share a queue.  They keep their sockets, so that TCP
 * and UDP feel it as they feel a full queue of a device.  But a socket that has
 * been closed stays for as long as a packet of it does, its namespace as long as
 * the socket, and in it perhaps the device at whose gate the packet waits.  So
 * packets lose their sockets soon after these have been closed.
 *
 * What follows keeps the order of each pair.  Whoever opens lanes marks all
 * queues as opening, then publishes which lanes are closed (or another active
 * segment), and then sends what waits.  Until a queue is empty of what can go,
 * packets for it queue up behind.  Who finds that a packet has to wait looks
 * once more at what is published, with the queue locked: either he sees the
 * lanes open, or whoever opens them sees his packet.
 *
 * Order is given up where a lane was not closed but had no carrier: once it has,
 * packets pass those that wait, until the event has been told; and where more
 * comes, for long, than can be let go.
 *
 * While no lane is closed, lace_active.shut is false once that is done, and
 * nobody looks at the queues.
 */
#include <linux/hash.h>
#include <linux/workqueue.h>
#include <net/dst.h>
#include <net/sock.h>

#include "lace.h"

#define QUEUE_BITS 6
#define QUEUES (1U << QUEUE_BITS)
#define MAX_PACKETS 4096	/* of a device */
#define MAX_BYTES (32L << 20)	/* memory of a device */
#define LOOK HZ			/* how often to look for closed sockets */
#define MAX_LET_GO (2 * MAX_PACKETS) /* before a queue opens come what may */

struct queue {
	struct sk_buff_head packets;	/* its lock is that of both */
	bool opening;
};

struct lace_gate {
	atomic_long_t packets;
	atomic_long_t bytes;
	struct delayed_work look;	/* while a packet waits */
	struct queue queues[QUEUES];
};

/* In the control block of a packet that waits. */
struct pair {
	u16 from;
	u16 to;
	bool relay;
};

static struct pair *pair_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct pair) > sizeof_field(struct sk_buff, cb));
	return (struct pair *)skb->cb;
}

static struct queue *queue_of(struct lace_gate *gate, u16 from, u16 to)
{
	return &gate->queues[hash_32((u32)from << 16 | to, QUEUE_BITS)];
}

/* Whether a way has closed lanes, and no open one that is alive. */
static bool is_gated(struct lace_device *lace, const struct lace_way *way)
{
	u32 open = way->path->ports & ~way->closed;
	const struct lace_port *port;

	if (!(way->path->ports & way->closed))
		return false;
	for (; open; open &= open - 1) {
		port = rcu_dereference(lace->ports[__ffs(open)]);
		if (port && lace_port_is_live(port))
			return false;
	}
	return true;
}

/* Whether a pure acknowledgment that would have to wait has another way: that of
 * the other segment, over lanes that stay.  The data that it is for may be on a
 * lane that never stops, and would soon for want of it.
 */
bool lace_gate_detour(struct lace_device *lace, struct lace_way *way)
{
	const struct lace_active *active = way->active;
	const struct lace_path *other;
	u32 stay;

	if (!active->other || !is_gated(lace, way))
		return false;
	other = lace_segment_path(active->other, way->path->from,
				  way->path->to);
	if (!other)
		return false;
	stay = other->ports & active->same & ~way->closed;
	if (!stay)
		return false;
	way->copy = *other;
	way->copy.ports = stay;
	way->path = &way->copy;
	return true;
}

static void count_out(struct lace_gate *gate, const struct sk_buff *skb)
{
	atomic_long_dec(&gate->packets);
	atomic_long_sub(skb->truesize, &gate->bytes);
}

static void drop(struct lace_device *lace, struct sk_buff *skb, bool relay)
{
	lace_dev_count(lace, LACE_A_DEVSTAT_GATE_DROPPED);
	if (!relay)
		DEV_STATS_INC(lace->dev, tx_dropped);
	kfree_skb(skb);
}

static bool is_full(const struct lace_gate *gate)
{
	return atomic_long_read(&gate->packets) >= MAX_PACKETS ||
	       atomic_long_read(&gate->bytes) >= MAX_BYTES;
}

static void add(struct lace_gate *gate, struct queue *queue,
		const struct lace_path *path, struct sk_buff *skb, bool relay)
{
	skb_dst_drop(skb);
	/* What stands for a socket to be feels nothing, and keeps a listener. */
	if (skb->sk && !sk_fullsock(skb->sk))
		skb_orphan(skb);
	*pair_of(skb) = (struct pair){
		.from = path->from,
		.to = path->to,
		.relay = relay,
	};
	atomic_long_add(skb->truesize, &gate->bytes);
	__skb_queue_tail(&queue->packets, skb);
	if (atomic_long_inc_return(&gate->packets) == 1)
		schedule_delayed_work(&gate->look, LOOK);
}

/* A packet that is to go a way, while lanes are closed or open just now.  True
 * if it has been taken over: it waits, or there was no room for it.  Otherwise
 * the way may be another one, or none.
 */
bool lace_gate_hold(struct lace_device *lace, struct lace_way *way,
		    struct sk_buff *skb, bool relay)
{
	u16 from = way->path->from, to = way->path->to;
	struct queue *queue = queue_of(lace->gate, from, to);
	bool gated, full = false, held;

	if (!is_gated(lace, way) && !READ_ONCE(queue->opening))
		return false;
	spin_lock(&queue->packets.lock);
	lace_active_find(rcu_dereference(lace->active), from, to, way);
	gated = way->path && is_gated(lace, way);
	held = gated || (way->path && queue->opening);
	if (held) {
		full = is_full(lace->gate);
		if (!full)
			add(lace->gate, queue, way->path, skb, relay);
	}
	spin_unlock(&queue->packets.lock);
	if (!held)
		return false;
	if (full && !gated)	/* out of order, rather than not at all */
		return false;
	if (full)
		drop(lace, skb, relay);
	else
		lace_dev_count(lace, LACE_A_DEVSTAT_GATE_HELD);
	return true;
}

/* Before lanes open: what comes from now on goes behind what waits. */
void lace_gate_begin(struct lace_device *lace)
{
	struct queue *queue;
	int i;

	ASSERT_RTNL();

	for (i = 0; i < QUEUES; i++) {
		queue = &lace->gate->queues[i];
		spin_lock_bh(&queue->packets.lock);
		WRITE_ONCE(queue->opening, true);
		spin_unlock_bh(&queue->packets.lock);
	}
}

/* Send a packet, drop it, or keep it for as long as its lanes are closed. */
static bool let_go(struct lace_device *lace, struct sk_buff *skb)
{
	struct pair pair = *pair_of(skb);
	struct lace_way way;

	lace_active_find(rcu_dereference(lace->active), pair.from, pair.to,
			 &way);
	if (way.path && is_gated(lace, &way))
		return false;
	count_out(lace->gate, skb);
	if (!way.path) {
		drop(lace, skb, pair.relay);
		return true;
	}
	memset(skb->cb, 0, sizeof(skb->cb));
	lace_dev_count(lace, LACE_A_DEVSTAT_GATE_PASSED);
	lace_transmit_gated(lace, &way, skb, pair.relay);
	return true;
}

/* What has come meanwhile.  True if the queue is open from now on, as nothing has,
 * or as it has to be: who sends faster than this can would have it last for ever.
 */
static bool take_all(struct queue *queue, struct sk_buff_head *packets,
		     bool enough)
{
	bool open;

	spin_lock_bh(&queue->packets.lock);
	open = enough || skb_queue_empty(&queue->packets);
	skb_queue_splice_tail_init(&queue->packets, packets);
	if (open)
		WRITE_ONCE(queue->opening, false);
	spin_unlock_bh(&queue->packets.lock);
	return open;
}

/* Before those that came later. */
static void put_back(struct queue *queue, struct sk_buff_head *packets)
{
	spin_lock_bh(&queue->packets.lock);
	skb_queue_splice_init(packets, &queue->packets);
	spin_unlock_bh(&queue->packets.lock);
}

static void open_queue(struct lace_device *lace, struct queue *queue)
{
	struct sk_buff_head packets, kept;
	unsigned int taken = 0;
	struct sk_buff *skb;
	bool gone, open;

	__skb_queue_head_init(&packets);
	__skb_queue_head_init(&kept);
	do {
		open = take_all(queue, &packets, taken > MAX_LET_GO);
		while ((skb = __skb_dequeue(&packets))) {
			taken++;
			/* One at a time, so that they are received meanwhile
			 * where a lane ends at this machine.
			 */
			local_bh_disable();
			rcu_read_lock();
			gone = let_go(lace, skb);
			rcu_read_unlock();
			local_bh_enable();
			if (!gone)
				__skb_queue_tail(&kept, skb);
			cond_resched();
		}
	} while (!open);
	put_back(queue, &kept);
}

/* After lanes have opened: what waited for them goes. */
void lace_gate_end(struct lace_device *lace)
{
	struct lace_active *active = rtnl_dereference(lace->active);
	int i;

	ASSERT_RTNL();

	for (i = 0; i < QUEUES; i++)
		open_queue(lace, &lace->gate->queues[i]);
	if (active)
		WRITE_ONCE(active->shut, active->closed);
}

/* Whether a packet waits. */
bool lace_gate_waits(struct lace_device *lace)
{
	return atomic_long_read(&lace->gate->packets);
}

/* As lace_gate_begin(), where something waits.  False if nothing does. */
static bool begin_queue(struct queue *queue)
{
	bool waits;

	spin_lock_bh(&queue->packets.lock);
	waits = !skb_queue_empty(&queue->packets);
	if (waits)
		WRITE_ONCE(queue->opening, true);
	spin_unlock_bh(&queue->packets.lock);
	return waits;
}

/* Packets that wait for a lane to be alive again, which was not closed, go when it
 * is.
 */
void lace_gate_look(struct lace_device *lace)
{
	struct queue *queue;
	int i;

	ASSERT_RTNL();

	if (!lace_gate_waits(lace))
		return;
	/* One after the other: who waits behind nobody is not to wait meanwhile. */
	for (i = 0; i < QUEUES; i++) {
		queue = &lace->gate->queues[i];
		if (begin_queue(queue))
			open_queue(lace, queue);
	}
}

/* Nothing waits for a device that is down. */
void lace_gate_purge(struct lace_device *lace)
{
	struct sk_buff_head packets;
	struct queue *queue;
	struct sk_buff *skb;
	int i;

	for (i = 0; i < QUEUES; i++) {
		queue = &lace->gate->queues[i];
		__skb_queue_head_init(&packets);
		spin_lock_bh(&queue->packets.lock);
		skb_queue_splice_init(&queue->packets, &packets);
		spin_unlock_bh(&queue->packets.lock);
		while ((skb = __skb_dequeue(&packets))) {
			local_bh_disable();
			count_out(lace->gate, skb);
			drop(lace, skb, pair_of(skb)->relay);
			local_bh_enable();
		}
	}
}

static bool is_closed(struct sock *sk)
{
	return sk && sk_fullsock(sk) && sock_flag(sk, SOCK_DEAD);
}

static void leave_closed(struct queue *queue)
{
	struct sk_buff *skb;

	spin_lock_bh(&queue->packets.lock);
	skb_queue_walk(&queue->packets, skb) {
		/* Memory that a socket lent keeps it as well. */
		if (is_closed(skb->sk) && !skb_orphan_frags_rx(skb, GFP_ATOMIC))
			skb_orphan(skb);
	}
	spin_unlock_bh(&queue->packets.lock);
}

static void look(struct work_struct *work)
{
	struct lace_gate *gate = container_of(to_delayed_work(work),
					      struct lace_gate, look);
	int i;

	for (i = 0; i < QUEUES; i++)
		leave_closed(&gate->queues[i]);
	if (atomic_long_read(&gate->packets))
		schedule_delayed_work(&gate->look, LOOK);
}

int lace_gate_init(struct lace_device *lace)
{
	struct lace_gate *gate;
	int i;

	gate = kvzalloc(sizeof(*gate), GFP_KERNEL_ACCOUNT);
	if (!gate)
		return -ENOMEM;
	for (i = 0; i < QUEUES; i++)
		skb_queue_head_init(&gate->queues[i].packets);
	INIT_DELAYED_WORK(&gate->look, look);
	lace->gate = gate;
	return 0;
}

/* Nobody sends any more, and nothing waits. */
void lace_gate_destroy(struct lace_device *lace)
{
	cancel_delayed_work_sync(&lace->gate->look);
	kvfree(lace->gate);
}
