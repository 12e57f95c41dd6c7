// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Stage 2, the Segment Planner: which ops share a configuration.
 *
 * First a dynamic programme over bounds alone, which no plan can beat; the
 * partition it ends with is realized, and where that costs what the bound says,
 * nothing is left to do.  Else what is known of every period, its cost if it
 * was realized and its bound if not, gives a partition that looks best; its
 * periods are realized, until the one that looks best is.  A start is given up
 * for good where going on from it cannot be better than starting afresh:
 * values are superadditive (algorithm.rst).
 */
#include "period.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps of searches after which the best partition so far has to do. */
#define WORK_BUDGET 2e8
#define RELAY_BUDGET 1e7	/* where bounds are too loose to rule much out */
#define MANY_STARTS 24		/* bounds are brought closer to drop some */

/* Ways to go: values of first ops, or (backward) of last ones. */
struct way {
	bool backward;
	double *value;		/* of each number of ops */
	unsigned int *from, *memo_of;	/* the period it ends with */
	bool *dead;
};

struct interval {
	unsigned int first, end, memo;
};

struct segmenter {
	struct lace_planner *planner;
	unsigned int nr_ops;
	double reconfig;
	struct lace_memos memos;
	struct way ahead, back;
	struct start *starts;

	/* the best partition known, and the one in hand */
	double cost;
	unsigned int *from, *memo_of;
	double *value;
	struct interval *intervals;
	size_t nr_intervals, max_intervals;
	double end_of_work;
};

struct start {
	unsigned int at, memo;	/* at: number of ops before */
};

/* ---- the programme over bounds ---- */

static double begin(const struct segmenter *s, const double *value,
		    unsigned int at)
{
	return at ? value[at] + s->reconfig : 0;
}

static unsigned int op_of(const struct segmenter *s, const struct way *way,
			  unsigned int at)
{
	return way->backward ? s->nr_ops - 1 - at : at;
}

static double total(const struct segmenter *s, const struct way *way,
		    const struct start *start)
{
	return begin(s, way->value, start->at) +
	       s->memos.memos[start->memo].bound;
}

/* Which starts are still worth looking at for a period that ends at end. */
static unsigned int list_starts(struct segmenter *s, const struct way *way,
				unsigned int end)
{
	unsigned int nr = 0;

	lace_memos_clear(&s->memos);
	for (unsigned int at = end; at-- > 0;) {
		lace_memos_add(&s->memos, op_of(s, way, at));
		if (way->dead[at])
			continue;
		s->starts[nr].at = at;
		s->starts[nr].memo = lace_memos_find(&s->memos);
		if (s->starts[nr].memo == LACE_NONE)
			return 0;
		nr++;
	}
	return nr;
}

/* The start with the least total, no bound of which could come closer. */
static const struct start *least_start(struct segmenter *s,
				       const struct way *way, unsigned int nr)
{
	const struct start *best;

	do {
		best = s->starts;
		for (unsigned int i = 1; i < nr; i++)
			if (total(s, way, &s->starts[i]) < total(s, way, best))
				best = &s->starts[i];
	} while (lace_memos_refine(&s->memos, best->memo));
	return best;
}

static void end_at(struct segmenter *s, struct way *way, unsigned int end)
{
	unsigned int nr = list_starts(s, way, end), alive = 0;
	const struct start *best;

	if (!nr)
		return;
	best = least_start(s, way, nr);
	way->value[end] = total(s, way, best);
	way->from[end] = best->at;
	way->memo_of[end] = best->memo;
	for (unsigned int i = 0; i < nr; i++) {
		const struct start *start = &s->starts[i];

		do {
			way->dead[start->at] =
				total(s, way, start) >=
				begin(s, way->value, end);
		} while (!way->dead[start->at] && alive > MANY_STARTS &&
			 lace_memos_refine(&s->memos, start->memo));
		alive += !way->dead[start->at];
	}
}

static void bound_all(struct segmenter *s, struct way *way)
{
	for (unsigned int end = 1; end <= s->nr_ops && !s->planner->oom; end++)
		end_at(s, way, end);
}

/* ---- partitions ---- */

/* Realizes the periods of the partition in from and memo_of; it becomes the
 * best known if it is.
 */
static void try_partition(struct segmenter *s, const unsigned int *from,
			  const unsigned int *memo_of)
{
	double cost = 0;

	/* Nothing is taken away: the search has to come to the same sum. */
	for (unsigned int end = s->nr_ops; end; end = from[end])
		cost += (from[end] ? s->reconfig : 0) +
			lace_memos_cost(&s->memos, memo_of[end]);
	if (!(cost < s->cost))
		return;
	s->cost = cost;
	for (unsigned int end = s->nr_ops; end; end = from[end]) {
		s->from[end] = from[end];
		s->memo_of[end] = memo_of[end];
	}
}

static bool reserve_interval(struct segmenter *s)
{
	size_t max = 2 * s->max_intervals + 256;
	void *mem;

	if (s->nr_intervals < s->max_intervals)
		return true;
	mem = realloc(s->intervals, max * sizeof(*s->intervals));
	if (!mem) {
		s->planner->oom = true;
		return false;
	}
	s->intervals = mem;
	s->max_intervals = max;
	return true;
}

/* Of every plan with this period, by bounds alone. */
static double through(const struct segmenter *s, const struct start *start,
		      unsigned int end, bool ends)
{
	double bound = begin(s, s->ahead.value, start->at) +
		       s->memos.memos[start->memo].bound;

	if (end < s->nr_ops)
		bound += s->back.value[s->nr_ops - end] +
			 (ends ? s->reconfig : 0);
	return bound;
}

/* The periods that some plan better than the best known could have. */
static void list_intervals(struct segmenter *s)
{
	struct way *way = &s->ahead;
	double limit = s->cost * (1 - 1e-12);

	s->nr_intervals = 0;
	memset(way->dead, 0, (s->nr_ops + 1) * sizeof(*way->dead));
	for (unsigned int end = 1; end <= s->nr_ops; end++) {
		unsigned int nr = list_starts(s, way, end);

		for (unsigned int i = 0; i < nr; i++) {
			const struct start *start = &s->starts[i];

			while (through(s, start, end, true) < limit &&
			       i > MANY_STARTS &&
			       lace_memos_refine(&s->memos, start->memo))
				;
			way->dead[start->at] =
				through(s, start, end, false) >= limit;
			if (through(s, start, end, true) >= limit)
				continue;
			if (!reserve_interval(s))
				return;
			s->intervals[s->nr_intervals++] = (struct interval){
				start->at, end, start->memo };
		}
	}
}

static double known(const struct segmenter *s, unsigned int memo)
{
	const struct lace_memo *m = &s->memos.memos[memo];

	return m->realized ? m->config.cost : m->bound;
}

/* The partition that looks best by what is known: its value. */
static double best_looking(struct segmenter *s)
{
	struct way *way = &s->ahead;
	double *value = s->value;

	for (unsigned int end = 1; end <= s->nr_ops; end++)
		value[end] = INFINITY;
	for (size_t i = 0; i < s->nr_intervals; i++) {
		const struct interval *v = &s->intervals[i];
		double sum = begin(s, value, v->first) + known(s, v->memo);

		if (sum < value[v->end]) {
			value[v->end] = sum;
			way->from[v->end] = v->first;
			way->memo_of[v->end] = v->memo;
		}
	}
	s->planner->work += (double)s->nr_intervals;
	return value[s->nr_ops];
}

/* False if the bounds of the partition in hand are as close as they get. */
static bool refine_partition(struct segmenter *s)
{
	struct way *way = &s->ahead;
	bool any = false;

	for (unsigned int end = s->nr_ops; end; end = way->from[end])
		if (!s->memos.memos[way->memo_of[end]].realized &&
		    lace_memos_refine(&s->memos, way->memo_of[end]))
			any = true;
	return any;
}

/* Realizes the partition in hand; false if there is no time for all of it. */
static bool realize_partition(struct segmenter *s)
{
	struct way *way = &s->ahead;

	for (unsigned int end = s->nr_ops; end; end = way->from[end]) {
		if (s->planner->oom || s->planner->work >= s->end_of_work)
			return false;
		lace_memos_cost(&s->memos, way->memo_of[end]);
	}
	return true;
}

static void search(struct segmenter *s)
{
	list_intervals(s);
	while (!s->planner->oom && s->planner->work < s->end_of_work) {
		if (best_looking(s) >= s->cost * (1 - 1e-12))
			break;
		if (!refine_partition(s) && realize_partition(s))
			try_partition(s, s->ahead.from, s->ahead.memo_of);
	}
}

/* ---- where data may be relayed ---- */

/*
 * The best partition if it may not, as something to start from: bounds that
 * count bits alone say little about where to reconfigure.
 */
static void start_strict(struct segmenter *s)
{
	struct lace_planner *planner = s->planner;
	const struct lace_cluster *cluster = planner->cluster;
	struct lace_cluster strict = *cluster;
	struct lace_partition partition;
	struct lace_router router;
	struct lace_error ignored;
	int ret;

	strict.relay = LACE_RELAY_CONTROL;
	planner->cluster = &strict;
	ret = lace_segment(planner, LACE_SPLIT_BEST, &partition, &ignored);
	planner->cluster = cluster;
	if (ret || lace_router_create(planner, &router))
		return;
	for (unsigned int i = 0; i < partition.nr; i++) {
		struct lace_run *run = &partition.runs[i];
		unsigned int memo;

		lace_memos_clear(&s->memos);
		for (unsigned int o = run->first_op; o <= run->last_op; o++)
			lace_memos_add(&s->memos, o);
		memo = lace_memos_find(&s->memos);
		if (memo == LACE_NONE)
			break;
		lace_router_set(&router, run->config.count);
		run->config.cost = lace_router_cost(
			&router, &s->memos.memos[memo].period, INFINITY);
		lace_memos_offer(&s->memos, memo, &run->config);
		s->back.from[run->last_op + 1] = run->first_op;
		s->back.memo_of[run->last_op + 1] = memo;
	}
	if (!planner->oom)
		try_partition(s, s->back.from, s->back.memo_of);
	lace_router_free(&router);
	lace_partition_free(&partition);
}

/* ---- given splits ---- */

static void one_period(struct segmenter *s, unsigned int first,
		       unsigned int end)
{
	lace_memos_clear(&s->memos);
	for (unsigned int a = first; a < end; a++)
		lace_memos_add(&s->memos, a);
	s->back.from[end] = first;
	s->back.memo_of[end] = lace_memos_find(&s->memos);
}

static void split_at(struct segmenter *s, unsigned int step)
{
	for (unsigned int end = step; end <= s->nr_ops; end += step)
		one_period(s, end - step, end);
	if (!s->planner->oom)
		try_partition(s, s->back.from, s->back.memo_of);
}

static bool is_best(const struct segmenter *s)
{
	return s->cost <= s->ahead.value[s->nr_ops] * (1 + 1e-12);
}

static void run_best(struct segmenter *s)
{
	bool relay = s->planner->cluster->relay == LACE_RELAY_DATA;

	if (relay)
		start_strict(s);
	s->end_of_work = s->planner->work +
			 (relay ? RELAY_BUDGET : WORK_BUDGET);
	if (!s->planner->oom && s->ahead.value[s->nr_ops] < INFINITY &&
	    (s->cost == INFINITY || realize_partition(s)))
		try_partition(s, s->ahead.from, s->ahead.memo_of);
	if (s->planner->oom || is_best(s))
		return;
	if (s->cost == INFINITY)
		split_at(s, 1);
	/* What serves no op alone serves it in no company either. */
	if (s->cost == INFINITY)
		return;
	bound_all(s, &s->back);
	search(s);
}

static void run(struct segmenter *s, enum lace_split split)
{
	bound_all(s, &s->ahead);
	if (s->planner->oom)
		return;
	if (!s->nr_ops)
		s->cost = 0;
	else if (split == LACE_SPLIT_ONESHOT)
		split_at(s, s->nr_ops);
	else if (split == LACE_SPLIT_PEROP)
		split_at(s, 1);
	else if (split == LACE_SPLIT_BEST)
		run_best(s);
}

/* ---- in and out ---- */

static void way_init(struct segmenter *s, struct way *way, bool backward)
{
	unsigned int n = s->nr_ops + 1;

	way->backward = backward;
	way->value = lace_planner_alloc(s->planner, n, sizeof(*way->value));
	way->from = lace_planner_alloc(s->planner, n, sizeof(*way->from));
	way->memo_of = lace_planner_alloc(s->planner, n,
					  sizeof(*way->memo_of));
	way->dead = lace_planner_alloc(s->planner, n, sizeof(*way->dead));
}

static void way_free(struct way *way)
{
	free(way->value);
	free(way->from);
	free(way->memo_of);
	free(way->dead);
}

static bool segmenter_init(struct segmenter *s, struct lace_planner *planner)
{
	unsigned int n = planner->demand->nr_ops + 1;

	*s = (struct segmenter){ .planner = planner, .nr_ops = n - 1,
				 .reconfig = planner->cluster->reconfig_s,
				 .cost = INFINITY };
	way_init(s, &s->ahead, false);
	way_init(s, &s->back, true);
	s->starts = lace_planner_alloc(planner, n, sizeof(*s->starts));
	s->from = lace_planner_alloc(planner, n, sizeof(*s->from));
	s->memo_of = lace_planner_alloc(planner, n, sizeof(*s->memo_of));
	s->value = lace_planner_alloc(planner, n, sizeof(*s->value));
	return lace_memos_create(planner, &s->memos);
}

static void segmenter_free(struct segmenter *s)
{
	way_free(&s->ahead);
	way_free(&s->back);
	free(s->starts);
	free(s->from);
	free(s->memo_of);
	free(s->value);
	free(s->intervals);
	lace_memos_free(&s->memos);
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
			&s->memos.memos[s->memo_of[end]].config;

		run->first_op = s->from[end];
		run->last_op = end - 1;
		run->config.cost = c->cost;
		run->config.count = malloc(size ? size : 1);
		if (run->config.count)
			memcpy(run->config.count, c->count, size);
		else
			s->planner->oom = true;
	}
	partition->cost = s->cost;
	partition->bound = s->ahead.value[s->nr_ops];
}

/* The first op that no configuration serves, if only because of the split. */
static int blame(struct segmenter *s, struct lace_error *err)
{
	unsigned int end = 1;

	if (s->planner->oom)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	for (; end < s->nr_ops; end++) {
		one_period(s, end - 1, end);
		if (s->back.memo_of[end] == LACE_NONE ||
		    lace_memos_cost(&s->memos, s->back.memo_of[end]) ==
			    INFINITY)
			break;
	}
	lace_realize_explain(s->planner, end - 1, err);
	return -1;
}

double lace_segment_bound(struct lace_planner *planner, double *prefix)
{
	struct segmenter s;
	double bound = 0;

	if (segmenter_init(&s, planner)) {
		run(&s, LACE_SPLIT_NONE);
		bound = planner->oom ? 0 : s.ahead.value[s.nr_ops];
		if (prefix)
			memcpy(prefix, s.ahead.value,
			       (s.nr_ops + 1) * sizeof(*prefix));
	}
	segmenter_free(&s);
	return bound;
}

int lace_segment(struct lace_planner *planner, enum lace_split split,
		 struct lace_partition *partition, struct lace_error *err)
{
	struct segmenter s;
	int ret = 0;

	*partition = (struct lace_partition){ 0 };
	if (segmenter_init(&s, planner)) {
		run(&s, split);
		if (!planner->oom && s.cost < INFINITY)
			collect(&s, partition);
	}
	if (planner->oom || s.cost == INFINITY) {
		ret = blame(&s, err);
		lace_partition_free(partition);
	}
	segmenter_free(&s);
	return ret;
}

void lace_partition_free(struct lace_partition *partition)
{
	for (unsigned int i = 0; i < partition->nr; i++)
		free(partition->runs[i].config.count);
	free(partition->runs);
	*partition = (struct lace_partition){ 0 };
}
