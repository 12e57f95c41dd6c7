/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Periods with equal content, each once: their bounds, as close as they have
 * been asked for, and their configurations.  Not installed.
 */
#ifndef LACE_PERIOD_H
#define LACE_PERIOD_H

#include "planner.h"

/* How close a bound is; each is at least the one before. */
enum lace_memo_level {
	LACE_MEMO_KINDS,	/* every op under a configuration of its own */
	LACE_MEMO_ROW,		/* the fullest row alone */
	LACE_MEMO_LAST,		/* all that is known: lace_bound_period() */
};

struct lace_memo {
	struct lace_period period;
	uint64_t hash;
	enum lace_memo_level level;
	double bound;
	bool realized;
	struct lace_config config;
};

struct lace_memos {
	struct lace_planner *planner;
	struct lace_memo *memos;
	unsigned int nr, max;
	unsigned int *slots, nr_slots;
	double *alone;			/* the bound of each kind, once; or NAN */
	double search;			/* planner->work where exact counts end */
	double for_kinds;		/* of it for alone[] */

	/* the period in hand */
	double *repeat;			/* of each kind */
	unsigned int *touched, nr_touched;
};

bool lace_memos_create(struct lace_planner *planner, struct lace_memos *memos);
void lace_memos_free(struct lace_memos *memos);
void lace_memos_clear(struct lace_memos *memos);
void lace_memos_add(struct lace_memos *memos, unsigned int op);
/* The entry of the period in hand; LACE_NONE without memory. */
unsigned int lace_memos_find(struct lace_memos *memos);
/* Brings the bound a level closer; false if it was at the last. */
bool lace_memos_refine(struct lace_memos *memos, unsigned int index);
/* Seconds of transmission under the best configuration found. */
double lace_memos_cost(struct lace_memos *memos, unsigned int index);
/* Here is a configuration for the entry: kept if it is better. */
void lace_memos_offer(struct lace_memos *memos, unsigned int index,
		      const struct lace_config *config);

#endif /* LACE_PERIOD_H */
