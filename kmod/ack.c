// SPDX-License-Identifier: GPL-2.0
/*
 * The windows of both ends of a lane.
 *
 * DESIGN NOTES
 *
 * A mark goes through one transmit queue, behind what was sent on that queue:
 * it says nothing of the others.  The receiver cannot tell queues apart, as
 * data carries no header; so it counts what comes in on the lane, and the
 * sender takes the sum over its queues, each as its newest answered mark says.
 *
 * Let S be what was sent on all queues by now, A the sum of what answered marks
 * speak for (all that came in, or never will), and R what was received when
 * the answer was made.  Both ends began to count at other times; let D be S - R
 * for a lane that lost nothing.  Then A - R - D <= lost <= S - R - D: the left
 * side because R also counts what followed a mark, the right side because what
 * is under way is neither lost nor received.  What is said to be lost is moved
 * into these bounds with each answer, and is exact when both are the same: when
 * nothing is under way.
 *
 * D is taken from the first answer: what had been sent on the mark's queue when
 * the mark was, and by now on the others, less what had come in when the mark
 * did.  That is D if the others are at rest, and else too large by what is under
 * way there.  S - R is never below D, so it comes down to D when the lane is
 * first at rest.  What is said to be lost is then never too much.
 */
#include "ack.h"

/* How far a is ahead of b. */
static s64 ahead(u64 a, u64 b)
{
	return (s64)(a - b);
}

static void add_count(struct lace_proto_count *sum,
		      const struct lace_proto_count *more)
{
	sum->packets += more->packets;
	sum->bytes += more->bytes;
}

static bool same_count(const struct lace_proto_count *a,
		       const struct lace_proto_count *b)
{
	return a->packets == b->packets && a->bytes == b->bytes;
}

static struct lace_proto_count sum_of(const struct lace_proto_count *counts,
				      unsigned int n)
{
	struct lace_proto_count sum = {};
	unsigned int i;

	for (i = 0; i < n; i++)
		add_count(&sum, &counts[i]);
	return sum;
}

/* ---- whether there is word ---- */

/**
 * lace_ack_pulse_hear() - word has come
 * @pulse: of who waits for it
 * @now: ns, of a clock that only goes forward
 */
void lace_ack_pulse_hear(struct lace_ack_pulse *pulse, u64 now)
{
	pulse->state = LACE_LANE_STATE_UP;
	pulse->heard = true;
	pulse->ever = true;
	pulse->missed = 0;
	pulse->last = now;
}

/**
 * lace_ack_pulse_tick() - an interval is over
 * @pulse: of a receiver; for a sender, lace_ack_tx_tick()
 *
 * Counts intervals, not time: who was held up himself has not missed word.
 *
 * Return: true if the lane has gone dark.
 */
bool lace_ack_pulse_tick(struct lace_ack_pulse *pulse)
{
	if (pulse->state != LACE_LANE_STATE_UP)
		return false;
	if (pulse->heard)
		pulse->missed = 0;
	else
		pulse->missed++;
	pulse->heard = false;
	if (pulse->missed < LACE_ACK_PATIENCE)
		return false;
	pulse->state = LACE_LANE_STATE_DARK;
	return true;
}

/* ---- the sender ---- */

static void close_tally(struct lace_ack_tx *tx)
{
	struct lace_proto_count delivered, lost;

	lace_ack_tx_read(tx, &delivered, &lost);
	tx->delivered_before = delivered;
	tx->lost_before = lost;
	memset(&tx->packets, 0, sizeof(tx->packets));
	memset(&tx->bytes, 0, sizeof(tx->bytes));
	tx->life = 0;
}

static void begin_epoch(struct lace_ack_tx *tx, u64 epoch,
			const struct lace_proto_count *sent)
{
	close_tally(tx);
	tx->begun = sum_of(sent, tx->n_queues);
	memset(tx->marks, 0, sizeof(tx->marks));
	tx->epoch = epoch;
	tx->seq = 0;
	tx->dark_seq = 0;
	tx->overtook = 0;
	tx->down = 0;
	tx->best = 0;
	tx->number = 0;
	tx->rtt = 0;
	tx->settled = false;
}

/**
 * lace_ack_tx_start() - begin an epoch: the lane leads somewhere, maybe to
 * another end than before
 * @tx: the lane; what is not of an epoch stays
 * @epoch: larger than any before
 * @sent: on each queue by now
 */
void lace_ack_tx_start(struct lace_ack_tx *tx, u64 epoch,
		       const struct lace_proto_count *sent)
{
	unsigned int i;

	begin_epoch(tx, epoch, sent);
	memset(&tx->pulse, 0, sizeof(tx->pulse));
	for (i = 0; i < tx->n_queues; i++) {
		tx->queues[i].marked = sent[i];
		tx->queues[i].answered = sent[i];
	}
}

/**
 * lace_ack_tx_is_overdue() - whether a new epoch is to be tried
 * @tx: the lane
 *
 * A frame that was damaged, and taken for a good one, may have either end refuse
 * all that comes after it in the same epoch.
 *
 * Return: true if the lane has not been up for many intervals.
 */
bool lace_ack_tx_is_overdue(const struct lace_ack_tx *tx)
{
	return tx->down >= LACE_ACK_RENEWAL;
}

/**
 * lace_ack_tx_renew() - begin an epoch with the same end
 * @tx: the lane; its state stays, and what waits for an answer still does
 * @epoch: larger than any before
 * @sent: on each queue by now
 */
void lace_ack_tx_renew(struct lace_ack_tx *tx, u64 epoch,
		       const struct lace_proto_count *sent)
{
	begin_epoch(tx, epoch, sent);
}

/**
 * lace_ack_tx_stop() - the lane leads nowhere
 * @tx: the lane
 */
void lace_ack_tx_stop(struct lace_ack_tx *tx)
{
	close_tally(tx);
	memset(&tx->pulse, 0, sizeof(tx->pulse));
	tx->epoch = 0;
	tx->rtt = 0;
}

/**
 * lace_ack_tx_next() - a queue on which more was sent than marks speak for
 * @tx: the lane
 * @sent: on each queue by now
 *
 * Return: its number, each in turn, or -1 if there is none.
 */
int lace_ack_tx_next(struct lace_ack_tx *tx,
		     const struct lace_proto_count *sent)
{
	unsigned int i, queue;

	for (i = 0; i < tx->n_queues; i++) {
		queue = (tx->turn + i) % tx->n_queues;
		if (!same_count(&tx->queues[queue].marked, &sent[queue])) {
			tx->turn = (queue + 1) % tx->n_queues;
			return queue;
		}
	}
	return -1;
}

/**
 * lace_ack_tx_idle() - the queue for a mark that only shows a sign of life
 * @tx: the lane
 * @sent: on each queue by now
 *
 * Return: one whose last mark was not answered, if there is one; by turns, as all
 * may have lost theirs at once.
 */
unsigned int lace_ack_tx_idle(const struct lace_ack_tx *tx,
			      const struct lace_proto_count *sent)
{
	unsigned int last = tx->marks[tx->seq % LACE_ACK_MARKS].number;
	unsigned int i, queue;

	for (i = 1; i <= tx->n_queues; i++) {
		queue = (last + i) % tx->n_queues;
		if (!same_count(&tx->queues[queue].answered, &sent[queue]))
			return queue;
	}
	return 0;
}

/**
 * lace_ack_tx_mark() - send a mark
 * @tx: the lane
 * @queue: that it goes through
 * @sent: on each queue, not more than is before the mark
 * @now: ns, of a clock that only goes forward
 * @frame: filled but for nodes and ports
 */
void lace_ack_tx_mark(struct lace_ack_tx *tx, unsigned int queue,
		      const struct lace_proto_count *sent, u64 now,
		      struct lace_proto_frame *frame)
{
	struct lace_ack_mark *mark = &tx->marks[++tx->seq % LACE_ACK_MARKS];

	mark->seq = tx->seq;
	mark->time = now;
	mark->number = queue;
	mark->queue = sent[queue];
	mark->lane = sum_of(sent, tx->n_queues);
	mark->answered = false;
	tx->queues[queue].marked = sent[queue];

	memset(frame, 0, sizeof(*frame));
	frame->type = LACE_PROTO_MARK;
	frame->hops = 1;
	frame->queue = queue;
	frame->epoch = tx->epoch;
	frame->seq = tx->seq;
	frame->time = now;
	frame->mark.queue = mark->queue;
	frame->mark.lane = mark->lane;
}

/* The mark of that number, or NULL: not sent, or too long ago. */
static struct lace_ack_mark *find_mark(struct lace_ack_tx *tx, u64 seq)
{
	struct lace_ack_mark *mark = &tx->marks[seq % LACE_ACK_MARKS];

	return seq && mark->seq == seq ? mark : NULL;
}

static bool is_behind(const struct lace_proto_count *a,
		      const struct lace_proto_count *b)
{
	return ahead(a->packets, b->packets) < 0 ||
	       ahead(a->bytes, b->bytes) < 0;
}

/* Counts of a life only grow, and so between a mark and its answer. */
static bool counts_are_absurd(const struct lace_ack_tx *tx,
			      const struct lace_proto_ack *ack)
{
	const struct lace_proto_count before = {
		.packets = tx->packets.received,
		.bytes = tx->bytes.received,
	};

	return is_behind(&ack->received, &ack->marked) ||
	       (ack->life == tx->life && ack->number > tx->number &&
		is_behind(&ack->received, &before));
}

static enum lace_ack_verdict judge(struct lace_ack_tx *tx,
				   const struct lace_proto_frame *frame)
{
	const struct lace_ack_mark *mark;

	if (!tx->epoch)
		return LACE_ACK_NEVER_SENT;
	if (frame->epoch != tx->epoch)
		return LACE_ACK_STALE;
	mark = find_mark(tx, frame->seq);
	if (!mark || mark->time != frame->time)
		return LACE_ACK_NEVER_SENT;
	if (frame->flags & LACE_PROTO_STALE)
		return frame->ack.floor >= ~0ULL >> 1 ? LACE_ACK_NEVER_SENT :
						       LACE_ACK_AHEAD;
	if (counts_are_absurd(tx, &frame->ack))
		return LACE_ACK_NEVER_SENT;
	if (frame->ack.life == tx->life) {
		if (frame->ack.number <= tx->number || frame->seq < tx->best)
			return LACE_ACK_REPEATED;
	} else if (frame->seq <= tx->best) {
		/* Whoever begins anew has had none of the marks before. */
		return LACE_ACK_STALE;
	}
	return LACE_ACK_TAKEN;
}

static void take_mark(struct lace_ack_tx *tx, u64 seq)
{
	struct lace_ack_mark *mark = find_mark(tx, seq);
	struct lace_ack_queue *queue;

	if (!mark || mark->answered)
		return;
	mark->answered = true;
	queue = &tx->queues[mark->number];
	if (ahead(mark->queue.packets, queue->answered.packets) > 0)
		queue->answered.packets = mark->queue.packets;
	if (ahead(mark->queue.bytes, queue->answered.bytes) > 0)
		queue->answered.bytes = mark->queue.bytes;
}

static void take_marks(struct lace_ack_tx *tx,
		       const struct lace_proto_frame *frame)
{
	unsigned int i;

	take_mark(tx, frame->seq);
	for (i = 0; i < LACE_PROTO_WINDOW; i++) {
		if (frame->ack.bitmap >> i & 1)
			take_mark(tx, frame->seq - 1 - i);
	}
}

/* sent, answered, received: S, A and R above. */
static void update_tally(struct lace_ack_tally *tally, u64 sent, u64 answered,
			 u64 received)
{
	s64 least, most;

	if (ahead(tally->offset, sent - received) > 0)
		tally->offset = sent - received;
	most = ahead(sent - received, tally->offset);
	least = ahead(answered - received, tally->offset);
	if (least > 0 && tally->lost < (u64)least)
		tally->lost = least;
	if (tally->lost > (u64)most)
		tally->lost = most;
	tally->received = received;
}

/* How far of what was sent it is known what became of it. */
static u64 end_of(const struct lace_ack_tally *tally)
{
	return tally->received + tally->offset + tally->lost;
}

/* Count from a mark on, but nothing twice. */
static void begin_behind(struct lace_ack_tx *tx,
			 const struct lace_proto_count *mark)
{
	const struct lace_proto_count end = {
		.packets = end_of(&tx->packets),
		.bytes = end_of(&tx->bytes),
	};

	close_tally(tx);
	tx->begun = *mark;
	if (ahead(end.packets, tx->begun.packets) > 0)
		tx->begun.packets = end.packets;
	if (ahead(end.bytes, tx->begun.bytes) > 0)
		tx->begun.bytes = end.bytes;
}

static void begin_tally(struct lace_ack_tx *tx,
			const struct lace_proto_frame *frame,
			const struct lace_proto_count *sent)
{
	const struct lace_ack_mark *mark = find_mark(tx, frame->seq);
	const struct lace_proto_ack *ack = &frame->ack;
	struct lace_proto_count before = sum_of(sent, tx->n_queues);
	const struct lace_proto_count *own = &sent[mark->number];

	if (tx->life)
		begin_behind(tx, &mark->lane);
	tx->life = ack->life;
	before.packets -= own->packets - mark->queue.packets;
	before.bytes -= own->bytes - mark->queue.bytes;
	tx->packets.offset = before.packets - ack->marked.packets;
	tx->bytes.offset = before.bytes - ack->marked.bytes;
}

static struct lace_proto_count answered_sum(const struct lace_ack_tx *tx)
{
	struct lace_proto_count sum = {};
	unsigned int i;

	for (i = 0; i < tx->n_queues; i++)
		add_count(&sum, &tx->queues[i].answered);
	return sum;
}

static void take_counts(struct lace_ack_tx *tx,
			const struct lace_proto_frame *frame,
			const struct lace_proto_count *sent)
{
	const struct lace_proto_count *received = &frame->ack.received;
	struct lace_proto_count all = sum_of(sent, tx->n_queues);
	struct lace_proto_count answered = answered_sum(tx);
	bool news;

	/* Another answer to the same mark proves nothing, either way. */
	news = frame->seq > tx->best && tx->best > tx->overtook;
	tx->settled = (tx->settled || news) &&
		      tx->packets.received == received->packets &&
		      tx->bytes.received == received->bytes;
	update_tally(&tx->packets, all.packets, answered.packets,
		     received->packets);
	update_tally(&tx->bytes, all.bytes, answered.bytes, received->bytes);
}

static void take_time(struct lace_ack_tx *tx,
		      const struct lace_proto_frame *frame, u64 now)
{
	u64 rtt = now - frame->time;

	if (frame->ack.hold >= rtt)
		return;
	rtt -= frame->ack.hold;
	tx->rtt = tx->rtt ? tx->rtt - tx->rtt / 8 + rtt / 8 : rtt;
}

/**
 * lace_ack_tx_answer() - take an answer to a mark
 * @tx: the lane
 * @frame: an ACK that names the lane
 * @sent: on each queue by now
 * @now: of the clock that marks have their time from
 *
 * Return: LACE_ACK_TAKEN, or why it changed nothing.  After LACE_ACK_AHEAD the
 * lane needs an epoch above ack.floor.
 */
enum lace_ack_verdict lace_ack_tx_answer(struct lace_ack_tx *tx,
					 const struct lace_proto_frame *frame,
					 const struct lace_proto_count *sent,
					 u64 now)
{
	enum lace_ack_verdict verdict = judge(tx, frame);

	if (verdict != LACE_ACK_TAKEN)
		return verdict;
	if (frame->ack.life != tx->life)
		begin_tally(tx, frame, sent);
	take_marks(tx, frame);
	take_counts(tx, frame, sent);
	if (frame->seq > tx->best)
		take_time(tx, frame, now);
	tx->best = frame->seq;
	tx->number = frame->ack.number;
	/* What went dark comes up by a mark sent since. */
	if (tx->pulse.state != LACE_LANE_STATE_DARK ||
	    frame->seq > tx->dark_seq)
		lace_ack_pulse_hear(&tx->pulse, now);
	return LACE_ACK_TAKEN;
}

/**
 * lace_ack_tx_overtook() - marks so far may have overtaken what was sent
 * @tx: the lane
 *
 * What is missing by their answers may yet come.
 */
void lace_ack_tx_overtook(struct lace_ack_tx *tx)
{
	tx->overtook = tx->seq;
	tx->settled = false;
}

/**
 * lace_ack_tx_drained() - whether nothing is under way any more
 * @tx: the lane
 * @sent: on each queue by now
 *
 * Return: true if all that was sent is spoken for by marks that were answered,
 * and what is missing did not come in between two of them that overtook nothing.
 */
bool lace_ack_tx_drained(const struct lace_ack_tx *tx,
			 const struct lace_proto_count *sent)
{
	unsigned int i;

	if (!tx->life)
		return false;
	for (i = 0; i < tx->n_queues; i++) {
		if (!same_count(&tx->queues[i].answered, &sent[i]))
			return false;
	}
	return tx->settled || (!tx->packets.lost && !tx->bytes.lost);
}

static u64 delivered_of(const struct lace_ack_tally *tally, u64 begun)
{
	s64 delivered = ahead(tally->received + tally->offset, begun);

	return delivered > 0 ? delivered : 0;
}

/**
 * lace_ack_tx_read() - what became of what was sent, over all epochs
 * @tx: the lane
 * @delivered: filled
 * @lost: filled
 */
void lace_ack_tx_read(const struct lace_ack_tx *tx,
		      struct lace_proto_count *delivered,
		      struct lace_proto_count *lost)
{
	*delivered = tx->delivered_before;
	*lost = tx->lost_before;
	if (!tx->life)
		return;
	delivered->packets += delivered_of(&tx->packets, tx->begun.packets);
	delivered->bytes += delivered_of(&tx->bytes, tx->begun.bytes);
	lost->packets += tx->packets.lost;
	lost->bytes += tx->bytes.lost;
}

static bool went_dark(struct lace_ack_tx *tx)
{
	tx->dark_seq = tx->seq;
	return true;
}

/**
 * lace_ack_tx_tick() - an interval is over
 * @tx: the lane
 *
 * Return: true if the lane has gone dark, or come up.
 */
bool lace_ack_tx_tick(struct lace_ack_tx *tx)
{
	if (tx->pulse.state == LACE_LANE_STATE_UP)
		tx->down = 0;
	else if (tx->down < LACE_ACK_RENEWAL)
		tx->down++;
	return lace_ack_pulse_tick(&tx->pulse) && went_dark(tx);
}

/**
 * lace_ack_tx_unplug() - its port has lost the light, or is down
 * @tx: the lane
 *
 * Return: true if that is news.
 */
bool lace_ack_tx_unplug(struct lace_ack_tx *tx)
{
	if (tx->pulse.state != LACE_LANE_STATE_UP)
		return false;
	tx->pulse.state = LACE_LANE_STATE_DARK;
	return went_dark(tx);
}

/* ---- the receiver ---- */

/**
 * lace_ack_rx_start() - begin to count: a lane comes in from somewhere, maybe
 * from elsewhere than before
 * @rx: the lane
 * @life: another number than any before, not 0
 */
void lace_ack_rx_start(struct lace_ack_rx *rx, u64 life)
{
	memset(rx, 0, sizeof(*rx));
	rx->life = life;
}

/**
 * lace_ack_rx_stop() - no lane comes in
 * @rx: the lane
 */
void lace_ack_rx_stop(struct lace_ack_rx *rx)
{
	memset(rx, 0, sizeof(*rx));
}

static void take_newest(struct lace_ack_rx *rx,
			const struct lace_proto_frame *frame,
			const struct lace_proto_count *received, u64 now)
{
	u64 missing = frame->mark.lane.packets - received->packets;
	bool first = !rx->seq;

	rx->urgent |= frame->flags & LACE_PROTO_URGENT ||
		      (!first && ahead(missing, rx->missing) > 0);
	rx->missing = missing;
	rx->seq = frame->seq;
	rx->time = frame->time;
	rx->arrival = now;
	rx->marked = *received;
}

/* A mark beyond the newest: the window moves. */
static void move(struct lace_ack_rx *rx, u64 seq)
{
	u64 by = seq - rx->seq;

	if (!rx->seq)
		rx->bitmap = 0;
	else if (by < LACE_PROTO_WINDOW)
		rx->bitmap = rx->bitmap << by | 1ULL << (by - 1);
	else
		rx->bitmap = by == LACE_PROTO_WINDOW ?
			     1ULL << (LACE_PROTO_WINDOW - 1) : 0;
}

/* A mark that others have overtaken. */
static enum lace_ack_verdict take_late(struct lace_ack_rx *rx, u64 seq)
{
	u64 behind = rx->seq - seq;
	u64 bit;

	if (!behind || behind > LACE_PROTO_WINDOW)
		return LACE_ACK_REPEATED;
	bit = 1ULL << (behind - 1);
	if (rx->bitmap & bit)
		return LACE_ACK_REPEATED;
	rx->bitmap |= bit;
	return LACE_ACK_TAKEN;
}

/**
 * lace_ack_rx_mark() - take a mark
 * @rx: the lane that it came in on, which is the one that it names
 * @frame: the mark
 * @received: on the lane by now
 * @now: ns, of a clock that only goes forward
 *
 * Return: LACE_ACK_TAKEN, and rx->due is set; or why it changed nothing.
 */
enum lace_ack_verdict lace_ack_rx_mark(struct lace_ack_rx *rx,
				       const struct lace_proto_frame *frame,
				       const struct lace_proto_count *received,
				       u64 now)
{
	enum lace_ack_verdict verdict = LACE_ACK_TAKEN;

	if (!rx->life || frame->epoch < rx->epoch)
		return LACE_ACK_STALE;
	if (frame->epoch > rx->epoch) {
		rx->epoch = frame->epoch;
		rx->seq = 0;
	}
	if (frame->seq > rx->seq) {
		move(rx, frame->seq);
		take_newest(rx, frame, received, now);
	} else {
		verdict = take_late(rx, frame->seq);
	}
	if (verdict != LACE_ACK_TAKEN)
		return verdict;
	rx->due = true;
	lace_ack_pulse_hear(&rx->pulse, now);
	return LACE_ACK_TAKEN;
}

static void begin_answer(struct lace_ack_rx *rx, u64 epoch, u64 seq, u64 time,
			 struct lace_proto_frame *frame)
{
	memset(frame, 0, sizeof(*frame));
	frame->type = LACE_PROTO_ACK;
	frame->hops = LACE_PROTO_HOPS;
	frame->epoch = epoch;
	frame->seq = seq;
	frame->time = time;
	frame->ack.floor = rx->epoch;
	frame->ack.life = rx->life;
	frame->ack.number = ++rx->number;
}

/**
 * lace_ack_rx_answer() - answer the marks that came in
 * @rx: the lane; at least one mark has been taken
 * @received: on the lane by now
 * @now: of the clock that marks were taken by
 * @frame: filled but for nodes and ports
 */
void lace_ack_rx_answer(struct lace_ack_rx *rx,
			const struct lace_proto_count *received, u64 now,
			struct lace_proto_frame *frame)
{
	begin_answer(rx, rx->epoch, rx->seq, rx->time, frame);
	frame->ack.bitmap = rx->bitmap;
	frame->ack.received = *received;
	frame->ack.marked = rx->marked;
	frame->ack.hold = now - rx->arrival;
	rx->due = false;
	rx->urgent = false;
}

/**
 * lace_ack_rx_refuse() - tell the sender of a stale mark which epoch it is
 * @rx: the lane
 * @mark: that lace_ack_rx_mark() found LACE_ACK_STALE
 * @frame: filled but for nodes and ports
 */
void lace_ack_rx_refuse(struct lace_ack_rx *rx,
			const struct lace_proto_frame *mark,
			struct lace_proto_frame *frame)
{
	begin_answer(rx, mark->epoch, mark->seq, mark->time, frame);
	frame->flags = LACE_PROTO_STALE;
}
