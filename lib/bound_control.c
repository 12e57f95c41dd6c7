// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What control costs at least where it may be relayed.
 *
 * Times T fix the least circuits of every pair with data, and with those
 * crossing.c says what the control of each op does to its time.  The least over
 * all T is a bound of the period (algorithm.rst, B5).
 */
#include "bound.h"

#include <math.h>
#include <stdlib.h>

#define POINTS 2048

const unsigned int lace_crossing_prices[] = { 0, 1, 3, 7, 15, 31, 63, 127,
					       LACE_NONE };

static double term_time(struct lace_crossing *x, unsigned int term, double time)
{
	double best = time;

	for (const unsigned int *p = lace_crossing_prices; *p != LACE_NONE;
	     p++) {
		double t = lace_crossing_time(x, term, time, *p);

		best = t > best ? t : best;
	}
	return best;
}

/* The least a point can cost: no T between it and the next takes fewer
 * circuits.
 */
static double point_cost(struct lace_crossing *x, const double *time)
{
	struct lace_counts *c = x->counts;
	double cost = 0;

	lace_counts_for(c, time, c->count);
	lace_crossing_at(x);
	for (unsigned int t = 0; t < c->nr_terms && cost < INFINITY; t++)
		cost += c->weight[t] * term_time(x, t, time[t]);
	return cost;
}

static double least_point(struct lace_crossing *x)
{
	struct lace_counts *c = x->counts;
	size_t width = c->nr_terms + 1;
	double value = c->value, best = point_cost(x, c->time);
	double *points;
	unsigned int nr;

	if (best <= value * (1 + 1e-12))
		return value;
	points = lace_planner_alloc(x->planner, POINTS * width,
				    sizeof(*points));
	if (!points)
		return value;
	nr = lace_counts_points(c, best, POINTS, points, &best);
	for (unsigned int i = 0; i < nr; i++) {
		const double *point = points + i * width;
		double cost;

		if (point[0] >= best)
			break;
		cost = point_cost(x, point + 1);
		best = cost < best ? cost : best;
	}
	free(points);
	return best > value ? best : value;
}

double lace_bound_control(struct lace_planner *planner,
			  const struct lace_period *period,
			  const unsigned int *var, struct lace_counts *counts)
{
	struct lace_crossing x;
	double bound = counts->value;

	if (lace_crossing_create(planner, period, var, counts, &x))
		bound = least_point(&x);
	lace_crossing_free(&x);
	return bound;
}
