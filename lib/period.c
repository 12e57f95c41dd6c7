// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Periods with equal content, each once.  A bound costs from nearly nothing
 * (the bounds of the kinds, which are worked out once each) to a search of
 * whole counts, so it is brought closer only when somebody asks.
 */
#include "period.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps of searches for whole counts before relaxations have to do. */
#define SEARCH_BUDGET 1e8
#define KINDS_BUDGET 4e8	/* and for what control costs op by op */

bool lace_memos_create(struct lace_planner *planner, struct lace_memos *memos)
{
	*memos = (struct lace_memos){ .planner = planner,
				      .search = planner->work +
						SEARCH_BUDGET };
	memos->repeat = lace_planner_alloc(planner, planner->nr_kinds,
					   sizeof(*memos->repeat));
	memos->touched = lace_planner_alloc(planner, planner->nr_kinds,
					    sizeof(*memos->touched));
	memos->alone = lace_planner_alloc(planner, planner->nr_kinds,
					  sizeof(*memos->alone));
	for (unsigned int k = 0; !planner->oom && k < planner->nr_kinds; k++)
		memos->alone[k] = NAN;
	return !planner->oom;
}

void lace_memos_free(struct lace_memos *memos)
{
	for (unsigned int i = 0; i < memos->nr; i++) {
		free(memos->memos[i].period.terms);
		free(memos->memos[i].config.count);
	}
	free(memos->memos);
	free(memos->slots);
	free(memos->alone);
	free(memos->repeat);
	free(memos->touched);
}

/* ---- the period in hand ---- */

void lace_memos_clear(struct lace_memos *memos)
{
	while (memos->nr_touched)
		memos->repeat[memos->touched[--memos->nr_touched]] = 0;
}

void lace_memos_add(struct lace_memos *memos, unsigned int op)
{
	const struct lace_planner *planner = memos->planner;
	unsigned int kind = planner->op_kind[op];

	if (!planner->kinds[kind].nr)
		return;
	if (!(memos->repeat[kind] > 0)) {
		unsigned int at = memos->nr_touched++;

		for (; at && memos->touched[at - 1] > kind; at--)
			memos->touched[at] = memos->touched[at - 1];
		memos->touched[at] = kind;
	}
	memos->repeat[kind] += (double)planner->demand->ops[op].repeat;
}

static uint64_t hash_of(const struct lace_memos *memos)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (unsigned int i = 0; i < memos->nr_touched; i++) {
		unsigned int kind = memos->touched[i];

		h = (h ^ kind) * 0x100000001b3ull;
		h = (h ^ (uint64_t)memos->repeat[kind]) * 0x100000001b3ull;
	}
	return h ^ h >> 29;
}

static bool in_hand(const struct lace_memos *memos, const struct lace_memo *memo)
{
	if (memo->period.nr != memos->nr_touched)
		return false;
	for (unsigned int i = 0; i < memos->nr_touched; i++) {
		unsigned int kind = memos->touched[i];

		if (memo->period.terms[i].kind != kind ||
		    memo->period.terms[i].repeat != memos->repeat[kind])
			return false;
	}
	return true;
}

static bool grow(struct lace_memos *memos)
{
	unsigned int max = 2 * memos->max + 32, nr_slots = 4 * max;
	void *mem = realloc(memos->memos, max * sizeof(*memos->memos));
	unsigned int *slots;

	if (mem)
		memos->memos = mem;
	slots = mem ? malloc(nr_slots * sizeof(*slots)) : NULL;
	if (!slots) {
		memos->planner->oom = true;
		return false;
	}
	free(memos->slots);
	memos->slots = slots;
	memos->max = max;
	memos->nr_slots = nr_slots;
	memset(slots, 0xff, nr_slots * sizeof(*slots));
	for (unsigned int i = 0; i < memos->nr; i++) {
		unsigned int slot = memos->memos[i].hash % nr_slots;

		while (slots[slot] != LACE_NONE)
			slot = (slot + 1) % nr_slots;
		slots[slot] = i;
	}
	return true;
}

/* ---- bounds ---- */

static double bound_kind(struct lace_memos *memos, unsigned int kind)
{
	struct lace_term term = { .kind = kind, .repeat = 1 };
	struct lace_period period = { .nr = 1, .terms = &term };

	struct lace_planner *planner = memos->planner;

	if (!isnan(memos->alone[kind]))
		return memos->alone[kind];
	if (memos->for_kinds < KINDS_BUDGET) {
		double before = planner->work;

		memos->alone[kind] = lace_bound_period(planner, &period);
		memos->for_kinds += planner->work - before;
		memos->search += planner->work - before;
	} else {
		memos->alone[kind] = lace_bound_relaxed(planner, &period);
	}
	return memos->alone[kind];
}

static bool fill(struct lace_memos *memos, struct lace_memo *memo)
{
	unsigned int nr = memos->nr_touched;

	memo->period.nr = nr;
	memo->period.terms = lace_planner_alloc(memos->planner, nr,
						sizeof(*memo->period.terms));
	if (!memo->period.terms)
		return false;
	memo->bound = 0;
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int kind = memos->touched[i];
		double repeat = memos->repeat[kind];

		memo->period.terms[i] = (struct lace_term){ .kind = kind,
							    .repeat = repeat };
		memo->bound += repeat * bound_kind(memos, kind);
	}
	memo->level = nr > 1 ? LACE_MEMO_KINDS : LACE_MEMO_LAST;
	return !memos->planner->oom;
}

unsigned int lace_memos_find(struct lace_memos *memos)
{
	uint64_t hash = hash_of(memos);
	struct lace_memo memo = { .hash = hash, .config.cost = INFINITY };
	unsigned int slot;

	if (memos->nr == memos->max && !grow(memos))
		return LACE_NONE;
	for (slot = hash % memos->nr_slots; memos->slots[slot] != LACE_NONE;
	     slot = (slot + 1) % memos->nr_slots)
		if (memos->memos[memos->slots[slot]].hash == hash &&
		    in_hand(memos, &memos->memos[memos->slots[slot]]))
			return memos->slots[slot];
	if (!fill(memos, &memo)) {
		free(memo.period.terms);
		return LACE_NONE;
	}
	memos->memos[memos->nr] = memo;
	memos->slots[slot] = memos->nr;
	return memos->nr++;
}

bool lace_memos_refine(struct lace_memos *memos, unsigned int index)
{
	struct lace_memo *memo = &memos->memos[index];
	struct lace_planner *planner = memos->planner;
	double bound;

	if (memo->level == LACE_MEMO_LAST || memo->bound == INFINITY)
		return false;
	memo->level++;
	if (memo->level == LACE_MEMO_ROW)
		bound = lace_bound_row(planner, &memo->period);
	else if (planner->work < memos->search)
		bound = lace_bound_period(planner, &memo->period);
	else
		bound = lace_bound_relaxed(planner, &memo->period);
	memo->bound = bound > memo->bound ? bound : memo->bound;
	return true;
}

/* ---- configurations ---- */

static bool reserve_config(struct lace_memos *memos, struct lace_memo *memo)
{
	if (!memo->config.count)
		memo->config.count =
			lace_planner_alloc(memos->planner,
					   memos->planner->max_links,
					   sizeof(*memo->config.count));
	return memo->config.count;
}

void lace_memos_offer(struct lace_memos *memos, unsigned int index,
		      const struct lace_config *config)
{
	struct lace_memo *memo = &memos->memos[index];

	if (config->cost >= memo->config.cost || !reserve_config(memos, memo))
		return;
	memo->config.cost = config->cost;
	memcpy(memo->config.count, config->count,
	       memos->planner->max_links * sizeof(*config->count));
}

double lace_memos_cost(struct lace_memos *memos, unsigned int index)
{
	struct lace_memo *memo = &memos->memos[index];
	struct lace_config config = { .cost = INFINITY };

	if (memo->realized)
		return memo->config.cost;
	memo->realized = true;
	config.count = lace_planner_alloc(memos->planner,
					  memos->planner->max_links,
					  sizeof(*config.count));
	if (config.count) {
		lace_realize(memos->planner, &memo->period, memo->bound,
			     &config);
		if (config.cost < INFINITY)
			lace_memos_offer(memos, index, &config);
	}
	free(config.count);
	return memo->config.cost;
}
