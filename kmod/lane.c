// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: what each port knows of its two by the lane protocol, whom they lead
 * to at present, and the steps in which marks and answers are sent.
 *
 * DESIGN NOTES
 *
 * Life: the protocol state of a port comes and goes with it.  A lane has an
 * epoch, or its counts a life, while the active segment gives it a circuit;
 * lace_lanes_follow() begins and ends them, under RTNL.  The data path may meet
 * the active segment of one moment and the lanes of the next, and compares.
 *
 * Locks: one for both lanes of a port, taken with bottom halves off, and never
 * two at once.  Frames are made under it and sent without it, as a frame that
 * is sent may come in on another port at once.
 *
 * Time: a device's work item steps through its ports.  It never takes RTNL, so
 * that it can be cancelled under it; what is to be told to the monitors is left
 * to another one, which holds the device instead.
 */
#include <linux/random.h>
#include <linux/workqueue.h>
#include <net/sch_generic.h>

#include "lace.h"
#include "lane.h"
#include "trace.h"

#define STEPS 8 /* of an interval */
/* A mark has to stay in the window for as long as the lane waits for word, or an
 * answer that is on its way for longer would be to a mark that nobody knows.
 */
#define MARKS_PER_STEP (LACE_ACK_MARKS / (STEPS * (LACE_ACK_PATIENCE + 1)))
#define URGENT_MARKS 32 /* at once */

struct workqueue_struct *lace_wq;

/* ---- what was sent ---- */

/* What lace_lane_queue() says of a device with several queues. */
u16 lace_lane_pick_queue(struct net_device *dev, struct sk_buff *skb)
{
	const struct net_device_ops *ops = dev->netdev_ops;
	u16 queue;

#ifdef CONFIG_XPS
	if (skb->sender_cpu - 1 >= nr_cpu_ids)
		skb->sender_cpu = raw_smp_processor_id() + 1;
#endif
	queue = ops->ndo_select_queue ? ops->ndo_select_queue(dev, skb, NULL) :
					netdev_pick_tx(dev, skb, NULL);
	return netdev_cap_txqueue(dev, queue);
}

/* Frames of data are in a queue of the port. */
void lace_lane_sent(struct lace_port *port, u16 queue, unsigned int frames,
		    unsigned int bytes)
{
	struct lace_lane_queue *sent = &port->lane->sent[queue];

	atomic64_add(frames, &sent->packets);
	atomic64_add(bytes, &sent->bytes);
}

/* Whether there has been an answer on the TX lane as it is, or a proof. */
bool lace_lane_had_word(const struct lace_port *port)
{
	bool word;

	spin_lock_bh(&port->lane->lock);
	word = port->lane->tx.pulse.ever;
	spin_unlock_bh(&port->lane->lock);
	return word;
}

/* The newest epoch of the TX lane; 0: there was none. */
u64 lace_lane_epoch(const struct lace_port *port)
{
	return READ_ONCE(port->lane->epoch);
}

/* For the functions of ack.h.  Packets are read first: they are added first. */
static const struct lace_proto_count *count_sent(struct lace_lane *lane)
{
	unsigned int i;

	lockdep_assert_held(&lane->lock);

	for (i = 0; i < lane->tx.n_queues; i++) {
		lane->counts[i].packets = atomic64_read(&lane->sent[i].packets);
		lane->counts[i].bytes = atomic64_read(&lane->sent[i].bytes);
	}
	return lane->counts;
}

static struct lace_proto_count count_received(struct lace_port *port)
{
	u64 values[LACE_A_LANESTAT_MAX + 1];

	lace_lane_stats_read(port, LACE_DIR_RX, values);
	return (struct lace_proto_count){
		.packets = values[LACE_A_LANESTAT_PACKETS],
		.bytes = values[LACE_A_LANESTAT_BYTES],
	};
}

/* ---- what is told ---- */

static void tell(struct work_struct *work)
{
	struct lace_device *lace = container_of(work, struct lace_device,
						acks.tell);
	struct lace_port *port;
	int i;

	rtnl_lock();
	for (i = 0; i < LACE_MAX_PORTS; i++) {
		if (lace->dev->reg_state != NETREG_REGISTERED)
			break;
		port = rtnl_dereference(lace->ports[i]);
		if (port && xchg(&port->lane->news, 0))
			lace_nl_announce_lanes(lace, i);
	}
	rtnl_unlock();
	dev_put(lace->dev);
}

/* A lane has come up or gone dark. */
static void change(struct lace_port *port)
{
	struct lace_lane *lane = port->lane;
	struct lace_device *lace = port->lace;

	lockdep_assert_held(&lane->lock);

	WRITE_ONCE(port->dark, lane->tx.pulse.state == LACE_LANE_STATE_DARK);
	lace_transition_kick(lace);
	WRITE_ONCE(lane->news, 1);
	lace_trace_lane(port);
	dev_hold(lace->dev);
	if (!queue_work(lace_wq, &lace->acks.tell))
		dev_put(lace->dev);
}

/* ---- whom the lanes lead to ---- */

/* Nanoseconds of the wall clock, above what was before, and below 2^63. */
static u64 next_epoch(u64 above)
{
	return max_t(u64, ktime_get_real_ns(), above + 1);
}

static void start_tx(struct lace_port *port)
{
	struct lace_lane *lane = port->lane;

	WRITE_ONCE(port->dark, false);
	lane->epoch = next_epoch(lane->epoch);
	lace_ack_tx_start(&lane->tx, lane->epoch, count_sent(lane));
}

static void follow_tx(struct lace_port *port, const struct lace_far *far)
{
	struct lace_lane *lane = port->lane;

	if (lane->far[LACE_DIR_TX].node == far->node &&
	    lane->far[LACE_DIR_TX].port == far->port)
		return;
	lane->far[LACE_DIR_TX] = *far;
	if (far->node != LACE_NO_NODE) {
		start_tx(port);
		return;
	}
	WRITE_ONCE(port->dark, false);
	lace_ack_tx_stop(&lane->tx);
}

static void follow_rx(struct lace_port *port, const struct lace_far *far)
{
	struct lace_lane *lane = port->lane;

	if (lane->far[LACE_DIR_RX].node == far->node &&
	    lane->far[LACE_DIR_RX].port == far->port)
		return;
	lane->far[LACE_DIR_RX] = *far;
	if (far->node == LACE_NO_NODE)
		lace_ack_rx_stop(&lane->rx);
	else
		lace_ack_rx_start(&lane->rx, get_random_u64() | 1);
}

/* Without a segment, no lane leads anywhere. */
static void follow(struct lace_device *lace, const struct lace_active *active)
{
	static const struct lace_far nobody = { .node = LACE_NO_NODE };
	struct lace_port *port;
	int i;

	lace_for_each_port(lace, i, port) {
		spin_lock_bh(&port->lane->lock);
		follow_tx(port, active ? &active->far[LACE_DIR_TX][i] :
					 &nobody);
		follow_rx(port, active ? &active->far[LACE_DIR_RX][i] :
					 &nobody);
		lace_trace_lane(port);
		spin_unlock_bh(&port->lane->lock);
	}
}

/* After the active segment, or the port of a number, is another one. */
void lace_lanes_follow(struct lace_device *lace)
{
	follow(lace, rtnl_dereference(lace->active));
}

/* The lane is to be proved again, though it leads where it led before: that it
 * was dark meanwhile is of the past.
 */
void lace_lane_renew(struct lace_port *port)
{
	struct lace_lane *lane = port->lane;

	spin_lock_bh(&lane->lock);
	if (lane->tx.epoch && lane->tx.pulse.state == LACE_LANE_STATE_DARK) {
		start_tx(port);
		change(port);
	}
	spin_unlock_bh(&lane->lock);
}

/* The port has lost its carrier, or is down. */
void lace_lane_unplug(struct lace_port *port)
{
	spin_lock_bh(&port->lane->lock);
	if (lace_ack_tx_unplug(&port->lane->tx))
		change(port);
	spin_unlock_bh(&port->lane->lock);
}

/* A proof is word of the lane's end: who is silent after it is missed, as after
 * an answer.  What is dark has to be answered on.
 */
void lace_lane_proved(struct lace_port *port)
{
	struct lace_lane *lane = port->lane;

	lockdep_assert_held(&lane->lock);

	if (lane->tx.pulse.state != LACE_LANE_STATE_UNVERIFIED)
		return;
	lace_ack_pulse_hear(&lane->tx.pulse, ktime_get_ns());
	change(port);
}

/* ---- marks and answers ---- */

static void add_mark(struct lace_port *port, unsigned int queue, u8 flags,
		     const struct lace_proto_count *sent,
		     struct lace_outbox *outbox)
{
	struct lace_lane *lane = port->lane;
	struct lace_proto_frame frame;

	lace_ack_tx_mark(&lane->tx, queue, sent, ktime_get_ns(), &frame);
	frame.flags = flags;
	lane->marked = true;
	lace_lane_post(outbox, port, &lane->far[LACE_DIR_TX], &frame);
}

/* A mark on each queue of which marks do not speak yet, up to a number.  True if
 * there was one.
 */
static bool add_marks(struct lace_port *port, int most, u8 flags,
		      const struct lace_proto_count *sent,
		      struct lace_outbox *outbox)
{
	int i, queue;

	for (i = 0; i < most; i++) {
		queue = lace_ack_tx_next(&port->lane->tx, sent);
		if (queue < 0)
			break;
		add_mark(port, queue, flags, sent, outbox);
	}
	return i;
}

static void step_tx(struct lace_port *port, bool beat,
		    struct lace_outbox *outbox)
{
	struct lace_lane *lane = port->lane;
	const struct lace_proto_count *sent;

	if (!lane->tx.epoch)
		return;
	if (!lace_port_is_live(port)) {
		if (lace_ack_tx_unplug(&lane->tx))
			change(port);
		return;
	}
	if (beat && lace_ack_tx_tick(&lane->tx))
		change(port);
	sent = count_sent(lane);
	if (beat && lace_ack_tx_is_overdue(&lane->tx)) {
		lane->epoch = next_epoch(lane->epoch);
		lace_ack_tx_renew(&lane->tx, lane->epoch, sent);
	}
	add_marks(port, MARKS_PER_STEP, 0, sent, outbox);
	if (!beat)
		return;
	if (!lane->marked)
		add_mark(port, lace_ack_tx_idle(&lane->tx, sent), 0, sent,
			 outbox);
	lane->marked = false;
}

static void add_answer(struct lace_port *port, struct lace_outbox *outbox)
{
	struct lace_lane *lane = port->lane;
	struct lace_proto_count received = count_received(port);
	struct lace_proto_frame frame;

	lane->answered = ktime_get_ns();
	lace_ack_rx_answer(&lane->rx, &received, lane->answered, &frame);
	lace_lane_post(outbox, port, &lane->far[LACE_DIR_RX], &frame);
}

static void step_rx(struct lace_port *port, bool beat,
		    struct lace_outbox *outbox)
{
	struct lace_lane *lane = port->lane;

	if (beat) {
		lane->told_stale = false;
		if (lace_ack_pulse_tick(&lane->rx.pulse))
			change(port);
	}
	if (lane->rx.due)
		add_answer(port, outbox);
}

static void step_port(struct lace_device *lace,
		      const struct lace_active *active, struct lace_port *port,
		      bool beat)
{
	struct lace_outbox outbox;

	lace_lane_outbox(&outbox);
	spin_lock(&port->lane->lock);
	step_tx(port, beat, &outbox);
	step_rx(port, beat, &outbox);
	spin_unlock(&port->lane->lock);
	lace_lane_send(lace, active, port, &outbox);
	if (beat && READ_ONCE(port->lane->probe.on))
		lace_probe_send(lace, active, port);
}

static void step_ports(struct lace_device *lace, bool beat)
{
	const struct lace_active *active;
	struct lace_port *port;
	int i;

	local_bh_disable();
	rcu_read_lock();
	active = rcu_dereference(lace->active);
	for (i = 0; active && i < LACE_MAX_PORTS; i++) {
		port = rcu_dereference(lace->ports[i]);
		if (port)
			step_port(lace, active, port, beat);
	}
	if (active && beat)
		lace_routes_beat(lace, active);
	rcu_read_unlock();
	local_bh_enable();
}

static void step(struct work_struct *work)
{
	struct lace_device *lace = container_of(work, struct lace_device,
						acks.step.work);
	unsigned long interval = msecs_to_jiffies(READ_ONCE(lace->acks.msecs));
	unsigned long pause = max(interval / STEPS, 1UL);
	bool beat;

	if (!interval)
		return;
	lace->acks.steps++;
	beat = lace->acks.steps >= DIV_ROUND_CLOSEST(interval, pause);
	if (beat)
		lace->acks.steps = 0;
	if (netif_running(lace->dev))
		step_ports(lace, beat);
	queue_delayed_work(lace_wq, &lace->acks.step, pause);
}

/* ---- frames that come in ---- */

/* A mark that names this lane.  The counter that says what became of it, of the
 * RX lane.
 */
enum lace_attr_lanestat
lace_lane_mark(struct lace_port *port, const struct lace_far *from,
	       const struct lace_proto_frame *mark, struct lace_outbox *outbox)
{
	struct lace_lane *lane = port->lane;
	enum lace_attr_lanestat counter = LACE_A_LANESTAT_MARKS;
	struct lace_proto_count received = count_received(port);
	struct lace_proto_frame frame;
	enum lace_ack_verdict verdict;
	u64 now = ktime_get_ns();
	u8 before;

	spin_lock(&lane->lock);
	before = lane->rx.pulse.state;
	if (lane->far[LACE_DIR_RX].node != from->node ||
	    lane->far[LACE_DIR_RX].port != from->port) {
		counter = LACE_A_LANESTAT_REFUSED;
		goto out;
	}
	verdict = lace_ack_rx_mark(&lane->rx, mark, &received, now);
	if (verdict != LACE_ACK_TAKEN)
		counter = LACE_A_LANESTAT_REPLAYED;
	if (verdict == LACE_ACK_STALE && !lane->told_stale) {
		lane->told_stale = true;
		lace_ack_rx_refuse(&lane->rx, mark, &frame);
		lace_lane_post(outbox, port, from, &frame);
	}
	if (lane->rx.due &&
	    ((verdict == LACE_ACK_TAKEN && mark->flags & LACE_PROTO_URGENT) ||
	     (lane->rx.urgent && now - lane->answered >= NSEC_PER_MSEC)))
		add_answer(port, outbox);
	if (lane->rx.pulse.state != before)
		change(port);
out:
	spin_unlock(&lane->lock);
	return counter;
}

/* Also of a lane that nobody has answered on, if nothing was sent on it. */
static enum lace_drained drained(struct lace_lane *lane)
{
	const struct lace_proto_count *sent = count_sent(lane);
	unsigned int i;

	if (!lane->tx.epoch || lace_ack_tx_drained(&lane->tx, sent))
		return LACE_DRAINED;
	if (lane->tx.pulse.state == LACE_LANE_STATE_DARK)
		return LACE_UNDRAINABLE;
	if (lane->tx.life)
		return LACE_UNDRAINED;
	for (i = 0; i < lane->tx.n_queues; i++) {
		if (memcmp(&lane->tx.queues[i].answered, &sent[i],
			   sizeof(*sent)))
			return LACE_UNANSWERED;
	}
	return LACE_DRAINED;
}

/* An answer for a TX lane of this node.  The counter that says what became of
 * it; LACE_A_LANESTAT_ACKS is of that lane, others of the one that it came in on.
 */
enum lace_attr_lanestat lace_lane_answer(struct lace_port *port,
					 const struct lace_proto_frame *ack)
{
	struct lace_lane *lane = port->lane;
	enum lace_attr_lanestat counter = LACE_A_LANESTAT_ACKS;
	u64 now = ktime_get_ns();
	u8 before;

	spin_lock(&lane->lock);
	before = lane->tx.pulse.state;
	if (lane->far[LACE_DIR_TX].node != ack->from_node ||
	    lane->far[LACE_DIR_TX].port != ack->from_port) {
		counter = LACE_A_LANESTAT_REFUSED;
		goto out;
	}
	switch (lace_ack_tx_answer(&lane->tx, ack, count_sent(lane), now)) {
	case LACE_ACK_TAKEN:
		if (trace_lace_ack_enabled())
			lace_trace_ack(port, ack, now);
		break;
	case LACE_ACK_AHEAD:
		lane->epoch = next_epoch(max(ack->ack.floor, lane->epoch));
		lace_ack_tx_renew(&lane->tx, lane->epoch, count_sent(lane));
		break;
	default:
		counter = LACE_A_LANESTAT_REPLAYED;
	}
	if (lane->tx.pulse.state != before)
		change(port);
	/* Each time: what is said to be lost may change until it is looked at. */
	if (lane->draining && drained(lane) == LACE_DRAINED)
		lace_transition_kick(port->lace);
out:
	spin_unlock(&lane->lock);
	return counter;
}

/* ---- to empty a lane ---- */

/* A transition waits for the lane to be empty, or does not any more. */
void lace_lane_drain(struct lace_port *port, bool on)
{
	spin_lock_bh(&port->lane->lock);
	port->lane->draining = on;
	spin_unlock_bh(&port->lane->lock);
}

enum lace_drained lace_lane_drained(struct lace_port *port)
{
	enum lace_drained answer;

	spin_lock_bh(&port->lane->lock);
	answer = lace_port_is_live(port) ? drained(port->lane) :
					   LACE_UNDRAINABLE;
	spin_unlock_bh(&port->lane->lock);
	return answer;
}

/* Whether anything waits in the queues of a port. */
static bool has_backlog(struct net_device *dev)
{
	struct netdev_queue *queue;
	u32 packets, bytes;
	unsigned int i;

	for (i = 0; i < dev->real_num_tx_queues; i++) {
		queue = netdev_get_tx_queue(dev, i);
		qdisc_qstats_qlen_backlog(rcu_dereference(queue->qdisc),
					  &packets, &bytes);
		if (packets)
			return true;
	}
	return false;
}

/* Have the far end say at once what has come in of all that was sent.  Bottom
 * halves are off.
 */
void lace_lane_urge(struct lace_device *lace, const struct lace_active *active,
		    struct lace_port *port)
{
	struct lace_lane *lane = port->lane;
	const struct lace_proto_count *sent;
	bool backlog = has_backlog(port->dev);
	struct lace_outbox outbox;

	lace_lane_outbox(&outbox);
	spin_lock(&lane->lock);
	/* Queues need not be first in, first out: neither the marks before nor
	 * those that come now speak of what waits.
	 */
	if (lane->tx.epoch && backlog)
		lace_ack_tx_overtook(&lane->tx);
	if (lane->tx.epoch && drained(lane) != LACE_DRAINED) {
		sent = count_sent(lane);
		if (!add_marks(port, URGENT_MARKS, LACE_PROTO_URGENT, sent,
			       &outbox))
			add_mark(port, lace_ack_tx_idle(&lane->tx, sent),
				 LACE_PROTO_URGENT, sent, &outbox);
		if (backlog)
			lace_ack_tx_overtook(&lane->tx);
	}
	spin_unlock(&lane->lock);
	lace_lane_send(lace, active, port, &outbox);
}

/* ---- for the user ---- */

/* What is known of a lane of a port, and the counters that lace_lane_stats_read()
 * does not fill.
 */
void lace_lane_report(struct lace_port *port, enum lace_dir dir,
		      struct lace_lane_report *report,
		      u64 values[LACE_A_LANESTAT_MAX + 1])
{
	struct lace_lane *lane = port->lane;
	struct lace_proto_count delivered, lost;
	const struct lace_ack_pulse *pulse;

	memset(report, 0, sizeof(*report));
	spin_lock_bh(&lane->lock);
	pulse = dir == LACE_DIR_TX ? &lane->tx.pulse : &lane->rx.pulse;
	report->state = pulse->state;
	report->heard = pulse->ever;
	if (pulse->ever)
		report->silence_ms = div_u64(ktime_get_ns() - pulse->last,
					     NSEC_PER_MSEC);
	report->epoch = dir == LACE_DIR_TX ? lane->tx.epoch : lane->rx.epoch;
	if (dir == LACE_DIR_TX) {
		report->rtt_ns = lane->tx.rtt;
		report->drained = lace_ack_tx_drained(&lane->tx,
						      count_sent(lane));
		lace_ack_tx_read(&lane->tx, &delivered, &lost);
		values[LACE_A_LANESTAT_DELIVERED] = delivered.packets;
		values[LACE_A_LANESTAT_DELIVERED_BYTES] = delivered.bytes;
		values[LACE_A_LANESTAT_LOST] = lost.packets;
		values[LACE_A_LANESTAT_LOST_BYTES] = lost.bytes;
	}
	spin_unlock_bh(&lane->lock);
}

/* Interval in ms; 0 turns the protocol off, and then no lane is dark. */
void lace_lanes_set_interval(struct lace_device *lace, u32 msecs)
{
	ASSERT_RTNL();

	if (lace->acks.msecs == msecs)
		return;
	WRITE_ONCE(lace->acks.msecs, msecs);
	cancel_delayed_work_sync(&lace->acks.step);
	lace->acks.steps = 0;
	if (msecs) {
		queue_delayed_work(lace_wq, &lace->acks.step, 0);
		return;
	}
	/* They begin anew. */
	follow(lace, NULL);
	lace_lanes_follow(lace);
	lace_routes_forget(lace);
	lace_outage_look(lace);
}

static void free_key(struct rcu_head *rcu)
{
	kfree_sensitive(container_of(rcu, struct lace_key, rcu));
}

/* Takes the key over; NULL for none. */
void lace_lanes_set_key(struct lace_device *lace, struct lace_key *key)
{
	struct lace_key *old = rtnl_dereference(lace->acks.key);

	rcu_assign_pointer(lace->acks.key, key);
	if (old)
		call_rcu(&old->rcu, free_key);
}

/* ---- life ---- */

int lace_lane_init(struct lace_port *port)
{
	unsigned int n = port->dev->num_tx_queues;
	struct lace_lane *lane;

	lane = kvzalloc(sizeof(*lane), GFP_KERNEL_ACCOUNT);
	if (!lane)
		return -ENOMEM;
	spin_lock_init(&lane->lock);
	lane->sent = kvcalloc(n, sizeof(*lane->sent), GFP_KERNEL_ACCOUNT);
	lane->counts = kvcalloc(n, sizeof(*lane->counts), GFP_KERNEL_ACCOUNT);
	lane->tx.queues = kvcalloc(n, sizeof(*lane->tx.queues),
				   GFP_KERNEL_ACCOUNT);
	lane->tx.n_queues = n;
	lane->far[LACE_DIR_TX].node = LACE_NO_NODE;
	lane->far[LACE_DIR_RX].node = LACE_NO_NODE;
	port->lane = lane;
	if (lane->sent && lane->counts && lane->tx.queues)
		return 0;
	lace_lane_free(port);
	return -ENOMEM;
}

void lace_lane_free(struct lace_port *port)
{
	struct lace_lane *lane = port->lane;

	if (!lane)
		return;
	kvfree(lane->sent);
	kvfree(lane->counts);
	kvfree(lane->tx.queues);
	kvfree(lane);
	port->lane = NULL;
}

void lace_lanes_start(struct lace_device *lace)
{
	INIT_DELAYED_WORK(&lace->acks.step, step);
	INIT_WORK(&lace->acks.tell, tell);
	lace->acks.msecs = LACE_DEFAULT_ACK_MSECS;
	queue_delayed_work(lace_wq, &lace->acks.step, 0);
}

/* No steps any more.  What is yet to be told holds the device. */
void lace_lanes_stop(struct lace_device *lace)
{
	cancel_delayed_work_sync(&lace->acks.step);
	lace_lanes_set_key(lace, NULL);
}

int __init lace_lanes_init(void)
{
	lace_wq = alloc_workqueue("lace", WQ_HIGHPRI | WQ_UNBOUND, 0);
	return lace_wq ? 0 : -ENOMEM;
}

/* All devices are gone. */
void lace_lanes_exit(void)
{
	destroy_workqueue(lace_wq);
}
