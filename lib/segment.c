// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Stage 2, the Segment Planner: which ops share a configuration.
 *
 * Dynamic programming over prefixes, once over what configurations cost and
 * once over what no configuration can beat.  A start a is given up for good at
 * b when going on from a, even at the bound of a..b, costs as much as starting
 * afresh at b: values are superadditive, so it stays so (algorithm.rst).
 * Periods with equal content are solved once.
 */
#include "planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where data may be relayed the bounds are too loose to rule much out.  Once so
 * many nodes have been seen by searches for routes, only the most promising
 * starts of each prefix are realized.
 */
#define RELAY_BUDGET 1e7
#define RELAY_STARTS 2

struct memo {
	struct lace_period period;
	uint64_t hash;
	double bound;
	bool realized;
	struct lace_config config;
};

struct segmenter {
	struct lace_planner *planner;
	unsigned int nr_ops;
	double reconfig;
	double budget;
	struct memo *memos;
	unsigned int nr_memos, max_memos;
	unsigned int *slots, nr_slots;

	double *repeat;			/* of each kind, in the period in hand */
	unsigned int *touched, nr_touched;

	double *cost, *bound;		/* of each prefix */
	unsigned int *from;		/* where the last period of it starts */
	unsigned int *memo_of;		/* and its content */
	bool *dead, *dead_bound;
};

/* ---- contents of periods, each once ---- */

static int order_kinds(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a;
	unsigned int y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

static void period_clear(struct segmenter *s)
{
	while (s->nr_touched)
		s->repeat[s->touched[--s->nr_touched]] = 0;
}

static void period_add(struct segmenter *s, unsigned int op)
{
	unsigned int kind = s->planner->op_kind[op];

	if (!s->planner->kinds[kind].nr)
		return;
	if (!(s->repeat[kind] > 0))
		s->touched[s->nr_touched++] = kind;
	s->repeat[kind] += (double)s->planner->demand->ops[op].repeat;
}

static uint64_t period_hash(struct segmenter *s)
{
	uint64_t h = 0xcbf29ce484222325ull;

	qsort(s->touched, s->nr_touched, sizeof(*s->touched), order_kinds);
	for (unsigned int i = 0; i < s->nr_touched; i++) {
		h = (h ^ s->touched[i]) * 0x100000001b3ull;
		h = (h ^ (uint64_t)s->repeat[s->touched[i]]) * 0x100000001b3ull;
	}
	return h ^ h >> 29;
}

static bool period_is(const struct segmenter *s, const struct memo *memo)
{
	if (memo->period.nr != s->nr_touched)
		return false;
	for (unsigned int i = 0; i < s->nr_touched; i++)
		if (memo->period.terms[i].kind != s->touched[i] ||
		    memo->period.terms[i].repeat != s->repeat[s->touched[i]])
			return false;
	return true;
}

static bool grow_memos(struct segmenter *s)
{
	unsigned int max = 2 * s->max_memos + 32, nr_slots = 4 * max;
	void *memos = realloc(s->memos, max * sizeof(*s->memos));
	unsigned int *slots;

	if (memos)
		s->memos = memos;
	slots = memos ? malloc(nr_slots * sizeof(*slots)) : NULL;
	if (!slots) {
		s->planner->oom = true;
		return false;
	}
	free(s->slots);
	s->slots = slots;
	s->max_memos = max;
	s->nr_slots = nr_slots;
	memset(slots, 0xff, nr_slots * sizeof(*slots));
	for (unsigned int i = 0; i < s->nr_memos; i++) {
		unsigned int slot = s->memos[i].hash % nr_slots;

		while (slots[slot] != LACE_NONE)
			slot = (slot + 1) % nr_slots;
		slots[slot] = i;
	}
	return true;
}

/* The entry for the period in hand; LACE_NONE without memory. */
static unsigned int memo_find(struct segmenter *s)
{
	uint64_t hash = period_hash(s);
	struct memo memo = { .hash = hash, .config.cost = INFINITY };
	unsigned int slot;

	if (s->nr_memos == s->max_memos && !grow_memos(s))
		return LACE_NONE;
	for (slot = hash % s->nr_slots; s->slots[slot] != LACE_NONE;
	     slot = (slot + 1) % s->nr_slots)
		if (s->memos[s->slots[slot]].hash == hash &&
		    period_is(s, &s->memos[s->slots[slot]]))
			return s->slots[slot];
	memo.period.nr = s->nr_touched;
	memo.period.terms = lace_planner_alloc(s->planner, s->nr_touched,
					       sizeof(*memo.period.terms));
	if (!memo.period.terms)
		return LACE_NONE;
	for (unsigned int i = 0; i < s->nr_touched; i++)
		memo.period.terms[i] = (struct lace_term){
			.kind = s->touched[i],
			.repeat = s->repeat[s->touched[i]] };
	memo.bound = lace_bound_period(s->planner, &memo.period);
	s->memos[s->nr_memos] = memo;
	s->slots[slot] = s->nr_memos;
	return s->nr_memos++;
}

static double memo_cost(struct segmenter *s, unsigned int index)
{
	struct memo *memo = &s->memos[index];

	if (!memo->realized) {
		memo->realized = true;
		s->budget -= (double)s->planner->nr_pairs *
			     s->planner->nr_nodes * (memo->period.nr + 1);
		memo->config.count =
			lace_planner_alloc(s->planner, s->planner->max_links,
					   sizeof(*memo->config.count));
		if (memo->config.count)
			lace_realize(s->planner, &memo->period, memo->bound,
				     &memo->config);
	}
	return memo->config.cost;
}

/* ---- the two programmes ---- */

struct start {
	double total;		/* at the bound */
	unsigned int op, memo;
};

static int order_starts(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? -1 : 1;
	return x->op > y->op ? -1 : x->op < y->op;
}

static double begin(const struct segmenter *s, const double *value,
		    unsigned int op)
{
	return op ? value[op] + s->reconfig : 0;
}

/* Which starts are still worth looking at for the prefix of end ops. */
static unsigned int list_starts(struct segmenter *s, unsigned int end,
				struct start *starts)
{
	unsigned int nr = 0;

	period_clear(s);
	for (unsigned int a = end; a-- > 0;) {
		period_add(s, a);
		if (s->dead[a] && s->dead_bound[a])
			continue;
		starts[nr] = (struct start){ .op = a, .memo = memo_find(s) };
		if (starts[nr].memo == LACE_NONE)
			return 0;
		nr++;
	}
	return nr;
}

static void end_at(struct segmenter *s, unsigned int end, struct start *starts,
		   unsigned int nr)
{
	s->cost[end] = s->bound[end] = INFINITY;
	for (unsigned int i = 0; i < nr; i++) {
		double bound = s->memos[starts[i].memo].bound;
		double total = begin(s, s->bound, starts[i].op) + bound;

		if (!s->dead_bound[starts[i].op] && total < s->bound[end])
			s->bound[end] = total;
		starts[i].total = s->dead[starts[i].op] ? INFINITY :
			begin(s, s->cost, starts[i].op) + bound;
	}
	qsort(starts, nr, sizeof(*starts), order_starts);
	for (unsigned int i = 0; i < nr; i++) {
		double total;

		if (s->planner->cluster->relay == LACE_RELAY_DATA &&
		    s->budget < 0 && i >= RELAY_STARTS &&
		    s->cost[end] < INFINITY)
			break;
		if (starts[i].total >= s->cost[end] * (1 - 1e-12) ||
		    starts[i].total == INFINITY)
			break;
		total = begin(s, s->cost, starts[i].op) +
			memo_cost(s, starts[i].memo);
		if (total >= s->cost[end])
			continue;
		s->cost[end] = total;
		s->from[end] = starts[i].op;
		s->memo_of[end] = starts[i].memo;
	}
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int a = starts[i].op;
		double bound = s->memos[starts[i].memo].bound;

		if (begin(s, s->cost, a) + bound >= begin(s, s->cost, end))
			s->dead[a] = true;
		if (begin(s, s->bound, a) + bound >= begin(s, s->bound, end))
			s->dead_bound[a] = true;
	}
}

static void one_period(struct segmenter *s, unsigned int first,
		       unsigned int end)
{
	period_clear(s);
	for (unsigned int a = first; a < end; a++)
		period_add(s, a);
	s->memo_of[end] = memo_find(s);
	s->from[end] = first;
	if (s->memo_of[end] != LACE_NONE)
		s->cost[end] = begin(s, s->cost, first) +
			       memo_cost(s, s->memo_of[end]);
}

static void run(struct segmenter *s, enum lace_split split,
		struct start *starts)
{
	/* Where the split is given, only the bound is looked for. */
	memset(s->dead, split != LACE_SPLIT_BEST, s->nr_ops + 1);
	for (unsigned int end = 1; end <= s->nr_ops && !s->planner->oom; end++)
		end_at(s, end, starts, list_starts(s, end, starts));
	if (split == LACE_SPLIT_ONESHOT)
		one_period(s, 0, s->nr_ops);
	else if (split == LACE_SPLIT_PEROP)
		for (unsigned int end = 1; end <= s->nr_ops; end++)
			one_period(s, end - 1, end);
}

/* ---- in and out ---- */

static bool segmenter_init(struct segmenter *s)
{
	struct lace_planner *p = s->planner;
	unsigned int n = s->nr_ops + 1;

	s->repeat = lace_planner_alloc(p, p->nr_kinds, sizeof(*s->repeat));
	s->touched = lace_planner_alloc(p, p->nr_kinds, sizeof(*s->touched));
	s->cost = lace_planner_alloc(p, n, sizeof(*s->cost));
	s->bound = lace_planner_alloc(p, n, sizeof(*s->bound));
	s->from = lace_planner_alloc(p, n, sizeof(*s->from));
	s->memo_of = lace_planner_alloc(p, n, sizeof(*s->memo_of));
	s->dead = lace_planner_alloc(p, n, sizeof(*s->dead));
	s->dead_bound = lace_planner_alloc(p, n, sizeof(*s->dead_bound));
	return !p->oom;
}

static void segmenter_free(struct segmenter *s)
{
	for (unsigned int i = 0; i < s->nr_memos; i++) {
		free(s->memos[i].period.terms);
		free(s->memos[i].config.count);
	}
	free(s->memos);
	free(s->slots);
	free(s->repeat);
	free(s->touched);
	free(s->cost);
	free(s->bound);
	free(s->from);
	free(s->memo_of);
	free(s->dead);
	free(s->dead_bound);
}

static void collect(struct segmenter *s, struct lace_partition *partition)
{
	size_t size = s->planner->max_links * sizeof(uint16_t);
	unsigned int nr = 0, i;

	for (unsigned int end = s->nr_ops; end; end = s->from[end])
		nr++;
	partition->runs = lace_planner_alloc(s->planner, nr,
					     sizeof(*partition->runs));
	if (!partition->runs)
		return;
	partition->nr = i = nr;
	for (unsigned int end = s->nr_ops; end; end = s->from[end]) {
		struct lace_run *run = &partition->runs[--i];
		const struct lace_config *c =
			&s->memos[s->memo_of[end]].config;

		run->first_op = s->from[end];
		run->last_op = end - 1;
		run->config.cost = c->cost;
		run->config.count = malloc(size ? size : 1);
		if (run->config.count)
			memcpy(run->config.count, c->count, size);
		else
			s->planner->oom = true;
	}
	partition->cost = s->cost[s->nr_ops];
	partition->bound = s->bound[s->nr_ops];
}

static int blame(const struct segmenter *s, struct lace_error *err)
{
	unsigned int end = 1;

	if (s->planner->oom)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	while (end < s->nr_ops && s->cost[end] < INFINITY)
		end++;
	lace_realize_explain(s->planner, end - 1, err);
	return -1;
}

double lace_segment_bound(struct lace_planner *planner, double *prefix)
{
	struct segmenter s = { .planner = planner,
			       .nr_ops = planner->demand->nr_ops,
			       .reconfig = planner->cluster->reconfig_s,
			       .budget = RELAY_BUDGET };
	struct start *starts = lace_planner_alloc(planner, s.nr_ops,
						  sizeof(*starts));
	double bound = 0;

	if (starts && segmenter_init(&s)) {
		run(&s, LACE_SPLIT_NONE, starts);
		bound = planner->oom ? 0 : s.bound[s.nr_ops];
		if (prefix)
			memcpy(prefix, s.bound,
			       (s.nr_ops + 1) * sizeof(*prefix));
	}
	free(starts);
	segmenter_free(&s);
	return bound;
}

int lace_segment(struct lace_planner *planner, enum lace_split split,
		 struct lace_partition *partition, struct lace_error *err)
{
	struct segmenter s = { .planner = planner,
			       .nr_ops = planner->demand->nr_ops,
			       .reconfig = planner->cluster->reconfig_s,
			       .budget = RELAY_BUDGET };
	struct start *starts;

	*partition = (struct lace_partition){ 0 };
	starts = lace_planner_alloc(planner, s.nr_ops, sizeof(*starts));
	if (starts && segmenter_init(&s)) {
		run(&s, split, starts);
		if (!planner->oom && s.cost[s.nr_ops] < INFINITY)
			collect(&s, partition);
	}
	free(starts);
	if (planner->oom || s.cost[s.nr_ops] == INFINITY) {
		blame(&s, err);
		segmenter_free(&s);
		lace_partition_free(partition);
		return -1;
	}
	segmenter_free(&s);
	return 0;
}

void lace_partition_free(struct lace_partition *partition)
{
	for (unsigned int i = 0; i < partition->nr; i++)
		free(partition->runs[i].config.count);
	free(partition->runs);
	*partition = (struct lace_partition){ 0 };
}
