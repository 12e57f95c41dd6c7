/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Putting the segments of one TCP flow back in order: what to hold, and when to
 * let go.  Knows no packets, locks or clocks, so that it also compiles in user
 * space, where it is tested and fuzzed.
 */
#ifndef LACE_REORDER_CORE_H
#define LACE_REORDER_CORE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define LACE_ORDER_LANES 32

/* A segment, as TCP's sequence numbers see it: [seq, end). */
struct lace_piece {
	struct lace_piece *prev, *next;
	u64 since;		/* when this or a later one began to wait, ns */
	u32 seq, end;
	u32 size;		/* bytes of memory */
	u8 lane;		/* on which it came */
};

struct lace_pieces {
	struct lace_piece *first, *last;
};

/* Why a segment that waited was let go. */
enum lace_order_reason {
	LACE_ORDER_FILLED,	/* what it waited for came */
	LACE_ORDER_LOST,	/* what it waited for can come no more */
	LACE_ORDER_EXPIRED,	/* it waited for long enough */
	LACE_ORDER_OVERFLOW,	/* too many wait, or too much memory */
	LACE_ORDER_FLUSHED,	/* the connection or the plan changes */
	LACE_ORDER_REASONS
};

struct lace_order_limits {
	u64 wait;		/* longest that a segment may wait, ns */
	u32 pieces;		/* how many may wait */
	u32 bytes;		/* how much memory they may take */
};

/* How segments of a flow come in. */
struct lace_order_path {
	u32 lanes;		/* bit n: some may come on lane n */
	bool fifo;		/* each lane keeps the order of the sender */
};

/* One flow. */
struct lace_order {
	u32 next;		/* everything before it has been let go */
	u32 passed;		/* lanes on which something later has come */
	u32 idle;		/* lanes that were waited for in vain */
	u32 n_held;
	u32 bytes;
	u32 wanted;		/* next, when the time for it was over */
	u64 wanted_since;	/* 0: it was not */
	u64 skew;		/* by how much lanes differ, estimated, ns */
	u16 on_lane[LACE_ORDER_LANES];	/* how many are held of each lane */
	u8 old;			/* segments in a row that were before next */
	struct lace_pieces held;	/* by seq */
};

/* What became of a segment, and what is to be delivered now. */
struct lace_order_result {
	struct lace_pieces out;	/* in this order */
	u32 released[LACE_ORDER_REASONS];	/* of out, those that waited */
	bool in_order;		/* it was the next one */
	bool held;		/* it had to wait; it may be in out all the same */
	bool late;		/* the time for it was over */
};

void lace_order_init(struct lace_order *order, u32 next, u64 skew);
void lace_order_receive(struct lace_order *order, struct lace_piece *piece,
			const struct lace_order_path *path,
			const struct lace_order_limits *limits, u64 now,
			struct lace_order_result *result);
u64 lace_order_deadline(const struct lace_order *order,
			const struct lace_order_limits *limits);
void lace_order_expire(struct lace_order *order,
		       const struct lace_order_path *path,
		       const struct lace_order_limits *limits, u64 now,
		       struct lace_order_result *result);
void lace_order_flush(struct lace_order *order,
		      struct lace_order_result *result);

static inline bool lace_seq_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Whether lace_order_receive() needs to know the time for this segment. */
static inline bool lace_order_is_timed(const struct lace_order *order, u32 seq)
{
	return order->held.first || seq != order->next;
}

#endif /* LACE_REORDER_CORE_H */
