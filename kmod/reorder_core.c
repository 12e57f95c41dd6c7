// SPDX-License-Identifier: GPL-2.0
/*
 * Putting the segments of one TCP flow back in order.
 *
 * DESIGN NOTES
 *
 * A sender puts new segments on its lanes in the order of their sequence
 * numbers, and a lane keeps that order.  So what is missing at next can still
 * come only on a lane that has not yet brought anything later.  As all that is
 * later is held, those that have are the lanes of the segments held.  When none
 * is left the missing segment is lost, and TCP is to learn it at once: all that
 * follows the gap is let go.  There is no need for a timer to decide it.
 *
 * The timer is for what this rule cannot decide: the last segments of a burst,
 * after which nothing comes on some lanes; a flow that does not use all lanes;
 * packets that another node relayed, which may have been out of order already
 * when they were put on the lane.  A lane that was waited for in vain is idle:
 * it is waited for no more until it brings something of this flow.
 *
 * The time allowed follows what the lanes' skew is: how long gaps stayed open
 * until they were filled, be it after they had been given up.  It is never more
 * than the limit, for every segment: lace_piece.since is kept such that the
 * first segment held has the time of the one that has waited for longest.
 *
 * A segment that is not after next, as a retransmission is, passes at once.
 */
#ifdef __KERNEL__
#include <linux/string.h>
#endif

#include "reorder_core.h"

#define NS_PER_MS 1000000ULL

/* The time allowed is so many times the skew, but not less than the least. */
#define WAIT_PER_SKEW 4
#define LEAST_WAIT (5 * NS_PER_MS)
#define FIRST_SKEW (LEAST_WAIT / 2)
#define SKEW_DECAY 6		/* log2 of gaps until a peak is forgotten */
#define SKEW_MEMORY (1000 * NS_PER_MS)	/* what is later is no skew */

/* No window is larger: a segment that is off by more is of something else. */
#define FARTHEST (1U << 30)
/* So many segments in a row that are before next: next is wrong. */
#define TOO_OLD 128

static u32 bit(u8 lane)
{
	return 1U << (lane % LACE_ORDER_LANES);
}

static void append(struct lace_pieces *pieces, struct lace_piece *piece)
{
	piece->next = NULL;
	piece->prev = pieces->last;
	if (pieces->last)
		pieces->last->next = piece;
	else
		pieces->first = piece;
	pieces->last = piece;
}

/**
 * lace_order_init() - begin to follow a flow
 * @order: to be filled
 * @next: the sequence number that comes next
 * @skew: lace_order.skew of a flow that came on the same lanes; 0 if unknown
 */
void lace_order_init(struct lace_order *order, u32 next, u64 skew)
{
	memset(order, 0, sizeof(*order));
	order->next = next;
	order->skew = skew ? skew : FIRST_SKEW;
}

/* Behind all that begin before it or where it does. */
static void insert(struct lace_order *order, struct lace_piece *piece, u64 now)
{
	struct lace_piece *after = order->held.last;

	while (after && lace_seq_before(piece->seq, after->seq))
		after = after->prev;
	piece->prev = after;
	piece->next = after ? after->next : order->held.first;
	piece->since = piece->next ? piece->next->since : now;
	if (piece->next)
		piece->next->prev = piece;
	else
		order->held.last = piece;
	if (after)
		after->next = piece;
	else
		order->held.first = piece;

	order->n_held++;
	order->bytes += piece->size;
	order->on_lane[piece->lane % LACE_ORDER_LANES]++;
	order->passed |= bit(piece->lane);
}

static struct lace_piece *take_first(struct lace_order *order)
{
	struct lace_piece *piece = order->held.first;

	order->held.first = piece->next;
	if (piece->next)
		piece->next->prev = NULL;
	else
		order->held.last = NULL;

	order->n_held--;
	order->bytes -= piece->size;
	if (!--order->on_lane[piece->lane % LACE_ORDER_LANES])
		order->passed &= ~bit(piece->lane);
	return piece;
}

/* Let go all that next has reached. */
static void drain(struct lace_order *order, enum lace_order_reason reason,
		  struct lace_order_result *result)
{
	struct lace_piece *piece;

	while (order->held.first &&
	       !lace_seq_before(order->next, order->held.first->seq)) {
		piece = take_first(order);
		if (lace_seq_before(order->next, piece->end))
			order->next = piece->end;
		append(&result->out, piece);
		result->released[reason]++;
	}
}

/* Wait no longer for what is missing at next. */
static void give_up(struct lace_order *order, enum lace_order_reason reason,
		    struct lace_order_result *result)
{
	order->wanted = order->next;
	order->wanted_since = reason == LACE_ORDER_EXPIRED ?
			      order->held.first->since : 0;
	order->next = order->held.first->seq;
	drain(order, reason, result);
}

static bool is_lost(const struct lace_order *order,
		    const struct lace_order_path *path)
{
	return path->fifo && !(path->lanes & ~order->idle & ~order->passed);
}

static void give_up_lost(struct lace_order *order,
			 const struct lace_order_path *path,
			 struct lace_order_result *result)
{
	while (order->held.first && is_lost(order, path))
		give_up(order, LACE_ORDER_LOST, result);
}

static bool is_too_much(const struct lace_order *order,
			const struct lace_order_limits *limits)
{
	return order->n_held > limits->pieces || order->bytes > limits->bytes;
}

/* A gap was open for so long. */
static void learn_skew(struct lace_order *order, u64 since, u64 now)
{
	u64 skew = now > since ? now - since : 0;

	if (skew > SKEW_MEMORY)
		return;
	if (skew >= order->skew)
		order->skew = skew;
	else
		order->skew -= (order->skew - skew) >> SKEW_DECAY;
}

static u64 time_allowed(const struct lace_order *order,
			const struct lace_order_limits *limits)
{
	u64 wait = order->skew * WAIT_PER_SKEW;

	if (wait < LEAST_WAIT)
		wait = LEAST_WAIT;
	return wait < limits->wait ? wait : limits->wait;
}

/* Whatever is known of the flow is about something else. */
static void restart(struct lace_order *order, struct lace_piece *piece,
		    struct lace_order_result *result)
{
	lace_order_flush(order, result);
	order->next = piece->end;
	order->old = 0;
	order->wanted_since = 0;
	append(&result->out, piece);
}

static bool is_elsewhere(struct lace_order *order,
			 const struct lace_piece *piece)
{
	if (!lace_seq_before(piece->seq, order->next)) {
		order->old = 0;
		return piece->seq - order->next > FARTHEST;
	}
	return order->next - piece->seq > FARTHEST || ++order->old > TOO_OLD;
}

static void pass(struct lace_order *order, struct lace_piece *piece, u64 now,
		 struct lace_order_result *result)
{
	if (piece->seq == order->next) {
		result->in_order = true;
		if (order->held.first)
			learn_skew(order, order->held.first->since, now);
	} else if (order->wanted_since && piece->seq == order->wanted) {
		result->late = true;
		learn_skew(order, order->wanted_since, now);
		order->wanted_since = 0;
	}
	if (lace_seq_before(order->next, piece->end))
		order->next = piece->end;
	append(&result->out, piece);
	drain(order, LACE_ORDER_FILLED, result);
}

static void hold(struct lace_order *order, struct lace_piece *piece,
		 const struct lace_order_limits *limits, u64 now,
		 struct lace_order_result *result)
{
	result->held = true;
	insert(order, piece, now);
	while (order->held.first && is_too_much(order, limits))
		give_up(order, LACE_ORDER_OVERFLOW, result);
}

/**
 * lace_order_receive() - a segment of the flow has come
 * @order: the flow
 * @piece: the segment, not empty; its links belong to the flow while it waits
 * @path: how segments of the flow come in
 * @limits: of the flow
 * @now: the time, in ns, if lace_order_is_timed() says that it is needed
 * @result: what became of it, and all that is to be delivered now
 */
void lace_order_receive(struct lace_order *order, struct lace_piece *piece,
			const struct lace_order_path *path,
			const struct lace_order_limits *limits, u64 now,
			struct lace_order_result *result)
{
	memset(result, 0, sizeof(*result));
	order->idle &= ~bit(piece->lane);
	if (is_elsewhere(order, piece)) {
		restart(order, piece, result);
		return;
	}
	if (lace_seq_before(order->next, piece->seq))
		hold(order, piece, limits, now, result);
	else
		pass(order, piece, now, result);
	give_up_lost(order, path, result);
}

/**
 * lace_order_deadline() - until when something may wait
 * @order: the flow
 * @limits: of the flow
 *
 * Return: the time in ns at which to call lace_order_expire(); 0 if nothing
 * waits.
 */
u64 lace_order_deadline(const struct lace_order *order,
			const struct lace_order_limits *limits)
{
	if (!order->held.first)
		return 0;
	return order->held.first->since + time_allowed(order, limits);
}

/**
 * lace_order_expire() - let go what has waited for long enough
 * @order: the flow
 * @path: how segments of the flow come in
 * @limits: of the flow
 * @now: the time, in ns
 * @result: all that is to be delivered now
 */
void lace_order_expire(struct lace_order *order,
		       const struct lace_order_path *path,
		       const struct lace_order_limits *limits, u64 now,
		       struct lace_order_result *result)
{
	memset(result, 0, sizeof(*result));
	while (order->held.first &&
	       lace_order_deadline(order, limits) <= now) {
		order->idle |= path->lanes & ~order->passed;
		give_up(order, LACE_ORDER_EXPIRED, result);
		give_up_lost(order, path, result);
	}
}

/**
 * lace_order_flush() - let go everything
 * @order: the flow
 * @result: everything that waited is added to what is to be delivered
 */
void lace_order_flush(struct lace_order *order,
		      struct lace_order_result *result)
{
	while (order->held.first)
		give_up(order, LACE_ORDER_FLUSHED, result);
}
