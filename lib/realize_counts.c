// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Whole circuits for given demand: the integer programme at the heart of
 * stages 2 and 3.  Given a time T for each term, a var needs ceil(time / T)
 * circuits and no fewer will do, so the search is over the times alone, and
 * each of them is one of the finite values time / count.  One term is exact by
 * bisection; a few are exact by nesting; many start from the times of the
 * convex relaxation (relax.c), which also says how far they may be from the
 * optimum.  Documentation/algorithm.rst has the proofs.
 */
#include "planner.h"
#include "relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK_BUDGET 4e7	/* of the nested search, in vars and entries looked at */
#define RELAX_TOLERANCE 1e-9

int lace_counts_alloc(struct lace_counts *counts, unsigned int nr_vars,
		      unsigned int nr_rows, unsigned int nr_terms,
		      size_t nr_entries)
{
	struct lace_counts c = { .nr_vars = nr_vars, .nr_rows = nr_rows,
				 .nr_terms = nr_terms };

	c.vars = calloc(nr_vars + 1, sizeof(*c.vars));
	c.size = calloc(nr_rows + 1, sizeof(*c.size));
	c.first = calloc(nr_terms + 1, sizeof(*c.first));
	c.entries = calloc(nr_entries + 1, sizeof(*c.entries));
	c.weight = calloc(nr_terms + 1, sizeof(*c.weight));
	c.time = calloc(nr_terms + 1, sizeof(*c.time));
	c.alone = calloc(nr_terms + 1, sizeof(*c.alone));
	c.count = calloc(nr_vars + 1, sizeof(*c.count));
	c.used = calloc(nr_rows + 1, sizeof(*c.used));
	c.base = calloc((size_t)(nr_terms + 1) * nr_vars + 1, sizeof(*c.base));
	*counts = c;
	if (c.vars && c.size && c.first && c.entries && c.weight && c.time &&
	    c.alone && c.count && c.used && c.base)
		return 0;
	lace_counts_free(counts);
	return -1;
}

void lace_counts_free(struct lace_counts *counts)
{
	free(counts->vars);
	free(counts->size);
	free(counts->first);
	free(counts->entries);
	free(counts->weight);
	free(counts->time);
	free(counts->alone);
	free(counts->count);
	free(counts->used);
	free(counts->base);
	*counts = (struct lace_counts){ 0 };
}

static bool fits(struct lace_counts *c, const unsigned int *count)
{
	memset(c->used, 0, c->nr_rows * sizeof(*c->used));
	for (unsigned int v = 0; v < c->nr_vars; v++) {
		const struct lace_counts_var *var = &c->vars[v];

		c->used[var->row[0]] += var->mult[0] * count[v];
		c->used[var->row[1]] += var->mult[1] * count[v];
	}
	for (unsigned int r = 0; r < c->nr_rows; r++)
		if (c->used[r] > c->size[r])
			return false;
	return true;
}

/* count = max(base, what term needs for target) */
static void raise_for(const struct lace_counts *c, unsigned int term,
		      double target, const unsigned int *base,
		      unsigned int *count)
{
	if (count != base)
		memcpy(count, base, c->nr_vars * sizeof(*count));
	for (size_t i = c->first[term]; i < c->first[term + 1]; i++) {
		const struct lace_counts_entry *e = &c->entries[i];
		unsigned int n = lace_counts_circuits(e->time, target);

		if (n > count[e->var])
			count[e->var] = n;
	}
}

static double time_of(const struct lace_counts *c, unsigned int term,
		      const unsigned int *count)
{
	double time = 0;

	for (size_t i = c->first[term]; i < c->first[term + 1]; i++) {
		double t = c->entries[i].time / count[c->entries[i].var];

		time = t > time ? t : time;
	}
	return time;
}

/* The largest value time / m of the term below target. */
static double step_down(const struct lace_counts *c, unsigned int term,
			double target)
{
	double best = 0;

	for (size_t i = c->first[term]; i < c->first[term + 1]; i++) {
		double time = c->entries[i].time;
		double m = floor(time / target * (1 + 1e-12)) + 1;

		best = time / m > best ? time / m : best;
	}
	return best;
}

/* The smallest value time / m of the term above target; INFINITY if none. */
static double step_up(const struct lace_counts *c, unsigned int term,
		      double target)
{
	double best = INFINITY;

	for (size_t i = c->first[term]; i < c->first[term + 1]; i++) {
		double time = c->entries[i].time;
		double m = ceil(time / target * (1 - 1e-12)) - 1;

		if (m >= 1 && time / m < best)
			best = time / m;
	}
	return best;
}

/*
 * The least T of a term when the other vars keep base.  Exact: hi is always a
 * value time / count that fits, and the loop ends when none below it does.
 */
static double least_time(struct lace_counts *c, unsigned int term,
			 const unsigned int *base)
{
	unsigned int *count = c->base + (size_t)c->nr_terms * c->nr_vars;
	double lo = 0, hi;

	if (c->first[term] == c->first[term + 1])
		return fits(c, base) ? 0 : INFINITY;
	if (!fits(c, base))
		return INFINITY;
	hi = time_of(c, term, base);
	for (unsigned int round = 0; round < 200; round++) {
		double below = step_down(c, term, hi);
		double mid = lo > 0 ? sqrt(lo * hi) : hi / 4;

		if (below <= lo)
			break;
		if (mid > below || round > 60)
			mid = below;
		c->work += 3. * (double)(c->first[term + 1] - c->first[term]) +
			   2. * c->nr_vars + c->nr_rows;
		raise_for(c, term, mid, base, count);
		if (fits(c, count))
			hi = time_of(c, term, count);
		else
			lo = mid;
	}
	return hi;
}

bool lace_counts_for(struct lace_counts *c, const double *time,
		     unsigned int *count)
{
	for (unsigned int v = 0; v < c->nr_vars; v++)
		count[v] = 1;
	for (unsigned int t = 0; t < c->nr_terms; t++)
		if (time[t] > 0)
			raise_for(c, t, time[t], count, count);
	return fits(c, count);
}

/* ---- nested search over the times ---- */

struct sink {
	double limit;		/* only points below it are of interest */
	double end_of_work;
	double *time;		/* the point in hand */
	/* all points (collect), or the best alone */
	bool collect;
	unsigned int nr, max;
	double *points;		/* value, then nr_terms times */
};

static int order_points(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void take_point(struct lace_counts *c, struct sink *sink, double value)
{
	size_t width = c->nr_terms + 1;
	double *slot;

	if (!sink->collect) {
		sink->limit = value;
		memcpy(c->time, sink->time, c->nr_terms * sizeof(*c->time));
		return;
	}
	if (sink->nr == sink->max) {
		qsort(sink->points, sink->nr, width * sizeof(double),
		      order_points);
		sink->nr /= 2;
		sink->limit = sink->points[sink->nr * width];
		if (value >= sink->limit)
			return;
	}
	slot = sink->points + sink->nr++ * width;
	slot[0] = value;
	memcpy(slot + 1, sink->time, c->nr_terms * sizeof(double));
}

static void nest(struct lace_counts *c, struct sink *sink, unsigned int term,
		 double value)
{
	unsigned int *base = c->base + (size_t)term * c->nr_vars;
	double rest = 0, time;

	if (term == c->nr_terms) {
		take_point(c, sink, value);
		return;
	}
	for (unsigned int t = term + 1; t < c->nr_terms; t++)
		rest += c->weight[t] * least_time(c, t, base);
	time = least_time(c, term, base);
	while (time < INFINITY && c->work < sink->end_of_work) {
		double next = value + c->weight[term] * time;

		if (next + rest >= sink->limit * (1 - 1e-13))
			break;
		sink->time[term] = time;
		if (term + 1 < c->nr_terms) {
			if (time > 0)
				raise_for(c, term, time, base,
					  base + c->nr_vars);
			else
				memcpy(base + c->nr_vars, base,
				       c->nr_vars * sizeof(*base));
		}
		nest(c, sink, term + 1, next);
		if (term + 1 == c->nr_terms && !sink->collect)
			break;
		time = time > 0 ? step_up(c, term, time) : INFINITY;
	}
}

static bool nested(struct lace_counts *c, struct sink *sink)
{
	double time[LACE_COUNTS_EXACT];

	if (c->nr_terms > LACE_COUNTS_EXACT)
		return false;
	sink->end_of_work = c->work + WORK_BUDGET;
	sink->time = time;
	for (unsigned int v = 0; v < c->nr_vars; v++)
		c->base[v] = 1;
	nest(c, sink, 0, 0);
	sink->time = NULL;
	return c->work < sink->end_of_work;
}

/* ---- descent ---- */

static double value_of(const struct lace_counts *c, const double *time)
{
	double value = 0;

	for (unsigned int t = 0; t < c->nr_terms; t++)
		value += c->weight[t] * time[t];
	return value;
}

/* The least multiple of shape that fits. */
static bool stretch(struct lace_counts *c, const double *shape, double *time)
{
	double lo = 0, hi = 1;
	bool ok = false;

	for (unsigned int round = 0; round < 90 && !ok; round++, hi *= 2) {
		for (unsigned int t = 0; t < c->nr_terms; t++)
			time[t] = shape[t] * hi;
		ok = lace_counts_for(c, time, c->count);
		if (ok)
			break;
		lo = hi;
	}
	if (!ok)
		return false;
	for (unsigned int round = 0; round < 40; round++) {
		double mid = (lo + hi) / 2;

		for (unsigned int t = 0; t < c->nr_terms; t++)
			time[t] = shape[t] * mid;
		if (lace_counts_for(c, time, c->count))
			hi = mid;
		else
			lo = mid;
	}
	for (unsigned int t = 0; t < c->nr_terms; t++)
		time[t] = shape[t] * hi;
	return true;
}

static bool is_bound(const struct lace_counts *c)
{
	return value_of(c, c->time) <= c->bound * (1 + 1e-13);
}

/* From times in proportion to those of each term alone, or to their roots. */
static void descend(struct lace_counts *c)
{
	unsigned int k = c->nr_terms;
	double *work = calloc(2 * (size_t)k + 1, sizeof(*work));
	double *shape = work, *time = work + k;

	for (unsigned int start = 0; work && start < 2 && !is_bound(c);
	     start++) {
		for (unsigned int t = 0; t < k; t++)
			shape[t] = start ? sqrt(c->alone[t] / c->weight[t]) :
					   c->alone[t];
		if (stretch(c, shape, time))
			lace_counts_round(c, time);
	}
	free(work);
}

/* From the times of the relaxation, whose dual may prove them best. */
static void relax(struct lace_counts *c, bool counts)
{
	struct lace_relax relax;

	if (lace_relax_solve(c, RELAX_TOLERANCE, &relax))
		return;
	c->work += relax.work;
	if (relax.value > c->bound)
		c->bound = relax.value;
	if (counts)
		lace_counts_round(c, relax.time);
	lace_relax_free(&relax);
}

static bool search(struct lace_counts *c)
{
	struct sink sink = { .collect = false };

	/* All terms as fast as each would be alone? */
	if (lace_counts_for(c, c->alone, c->count)) {
		memcpy(c->time, c->alone, c->nr_terms * sizeof(*c->time));
		return true;
	}
	for (unsigned int t = 0; t < c->nr_terms; t++)
		c->time[t] = INFINITY;
	relax(c, true);
	descend(c);
	sink.limit = value_of(c, c->time);
	return is_bound(c) || nested(c, &sink);
}

static void each_alone(struct lace_counts *c)
{
	c->exact = false;
	c->bound = 0;
	c->value = INFINITY;
	for (unsigned int v = 0; v < c->nr_vars; v++)
		c->base[v] = 1;
	c->feasible = fits(c, c->base);
	for (unsigned int t = 0; t < c->nr_terms; t++) {
		c->alone[t] = c->time[t] = least_time(c, t, c->base);
		c->bound += c->weight[t] * c->alone[t];
	}
}

void lace_counts_bound(struct lace_counts *c)
{
	each_alone(c);
	if (c->feasible && c->nr_terms > 1)
		relax(c, false);
}

void lace_counts_solve(struct lace_counts *c)
{
	each_alone(c);
	if (!c->feasible)
		return;
	c->exact = c->nr_terms < 2 || search(c);
	lace_counts_for(c, c->time, c->count);
	c->value = 0;
	for (unsigned int t = 0; t < c->nr_terms; t++) {
		c->time[t] = time_of(c, t, c->count);
		c->value += c->weight[t] * c->time[t];
	}
	if (c->exact || c->bound > c->value)
		c->bound = c->value;
}

/* For more terms than can be nested: the solution, stretched step by step. */
static unsigned int stretched(struct lace_counts *c, double limit,
			      unsigned int max, double *points)
{
	static const double stretch[] = { 1, 1.01, 1.03, 16. / 15, 1.1, 8. / 7,
					  1.25, 4. / 3, 1.5, 2, 3 };
	size_t width = c->nr_terms + 1;
	unsigned int nr = 0;

	for (unsigned int s = 0; s < sizeof(stretch) / sizeof(*stretch); s++) {
		double value = c->value * stretch[s];

		if (value >= limit || nr == max)
			break;
		points[nr * width] = value;
		for (unsigned int t = 0; t < c->nr_terms; t++)
			points[nr * width + 1 + t] = c->time[t] * stretch[s];
		nr++;
	}
	return nr;
}

unsigned int lace_counts_points(struct lace_counts *c, double limit,
				unsigned int max, double *points,
				double *complete)
{
	size_t width = c->nr_terms + 1;
	struct sink sink = { .limit = limit, .collect = true, .max = max,
			     .points = points };

	*complete = c->exact ? c->value : 0;
	if (!c->feasible)
		return 0;
	if (!c->nr_terms || c->nr_terms > LACE_COUNTS_EXACT)
		return stretched(c, limit, max, points);
	if (nested(c, &sink))
		*complete = sink.limit;
	if (!sink.nr)
		return stretched(c, limit, max, points);
	qsort(points, sink.nr, width * sizeof(double), order_points);
	return sink.nr;
}

double lace_counts_least_time(struct lace_counts *c, unsigned int term,
			      const unsigned int *base)
{
	return least_time(c, term, base);
}

double lace_counts_step_up(const struct lace_counts *c, unsigned int term,
			   double target)
{
	return step_up(c, term, target);
}

void lace_counts_raise(const struct lace_counts *c, unsigned int term,
		       double target, const unsigned int *base,
		       unsigned int *count)
{
	raise_for(c, term, target, base, count);
}
