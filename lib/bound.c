// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What no plan can beat: of one op by counting bits at each node (fluid), of a
 * period by counting lanes at each node.  Lanes are taken at the best rate a
 * pair can have and on whatever OCS, so the bounds hold for every binding.
 * Demand that may be relayed counts where it leaves and where it arrives, and
 * nowhere else.
 */
#include "bound.h"
#include "relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double lace_bound_fluid(const struct lace_planner *planner, unsigned int kind)
{
	const struct lace_kind *k = &planner->kinds[kind];
	unsigned int n = planner->nr_nodes;
	double *sum = calloc(2 * (size_t)n + 1, sizeof(*sum)), time = 0;

	if (!sum)
		return 0;
	for (size_t i = 0; i < k->nr; i++) {
		const struct lace_between *p = &planner->pairs[k->needs[i].pair];

		sum[p->src] += k->needs[i].bits;
		sum[n + p->dst] += k->needs[i].bits;
	}
	for (unsigned int i = 0; i < n; i++) {
		if (sum[i] > time * planner->tx_bps[i])
			time = sum[i] / planner->tx_bps[i];
		if (sum[n + i] > time * planner->rx_bps[i])
			time = sum[n + i] / planner->rx_bps[i];
	}
	free(sum);
	return time;
}

/* The pair that stands for this one and, in duplex, for the other direction. */
static unsigned int stands_for(const struct lace_planner *planner,
			       unsigned int pair)
{
	const struct lace_between *p = &planner->pairs[pair];

	if (planner->duplex && p->nr_links)
		return planner->links[p->first_link].pair[0];
	return pair;
}

static bool build(struct lace_planner *planner,
		  const struct lace_period *period, unsigned int *var,
		  struct lace_counts *c)
{
	unsigned int n = planner->nr_nodes, nr_vars = 0;
	size_t nr = 0;

	memset(var, 0xff, planner->max_pairs * sizeof(*var));
	for (unsigned int t = 0; t < period->nr; t++) {
		const struct lace_kind *k =
			&planner->kinds[period->terms[t].kind];

		for (size_t i = 0; i < k->nr; i++) {
			unsigned int e = stands_for(planner, k->needs[i].pair);

			if (lace_planner_must_have(planner, &k->needs[i]) &&
			    var[e] == LACE_NONE)
				var[e] = nr_vars++;
		}
		nr += k->nr;
	}
	if (lace_counts_alloc(c, nr_vars, planner->duplex ? n : 2 * n,
			      period->nr, nr)) {
		planner->oom = true;
		return false;
	}
	c->feasible = true;
	for (unsigned int i = 0; i < n; i++) {
		c->size[i] = planner->tx_lanes[i];
		if (!planner->duplex)
			c->size[n + i] = planner->rx_lanes[i];
	}
	for (unsigned int e = 0; e < planner->nr_pairs; e++) {
		const struct lace_between *p = &planner->pairs[e];

		if (var[e] != LACE_NONE)
			c->vars[var[e]] = (struct lace_counts_var){
				.row = { p->src,
					 p->dst + (planner->duplex ? 0 : n) },
				.mult = { 1, 1 } };
	}
	nr = 0;
	for (unsigned int t = 0; t < period->nr; t++) {
		const struct lace_kind *k =
			&planner->kinds[period->terms[t].kind];

		c->first[t] = nr;
		c->weight[t] = period->terms[t].repeat;
		/* A pair with a circuit sends all it has over it, in every op. */
		for (size_t i = 0; i < k->nr; i++) {
			unsigned int e = stands_for(planner, k->needs[i].pair);

			if (var[e] == LACE_NONE)
				continue;
			if (!planner->pairs[e].nr_links)
				c->feasible = false;
			c->entries[nr++] = (struct lace_counts_entry){
				.var = var[e],
				.time = k->needs[i].bits /
					lace_planner_best_rate(planner, e) };
		}
	}
	c->first[period->nr] = nr;
	return true;
}

/* Each term as if alone, or by bits where that says more. */
static double sum_of_terms(const struct lace_planner *planner,
			   const struct lace_period *period,
			   const double *alone)
{
	double bound = 0;

	for (unsigned int t = 0; t < period->nr; t++) {
		double fluid = lace_bound_fluid(planner,
						period->terms[t].kind);

		bound += period->terms[t].repeat *
			 (alone[t] > fluid ? alone[t] : fluid);
	}
	return bound;
}

double lace_bound_relaxed(struct lace_planner *planner,
			  const struct lace_period *period)
{
	unsigned int *var = lace_planner_alloc(planner, planner->max_pairs,
					       sizeof(*var));
	struct lace_counts counts;
	double bound = 0;

	if (!var || !build(planner, period, var, &counts)) {
		free(var);
		return 0;
	}
	if (counts.feasible)
		lace_counts_bound(&counts);
	if (counts.feasible)
		bound = sum_of_terms(planner, period, counts.alone);
	else
		bound = INFINITY;
	bound = counts.bound > bound ? counts.bound : bound;
	lace_counts_free(&counts);
	free(var);
	return bound;
}

double lace_bound_period(struct lace_planner *planner,
			 const struct lace_period *period)
{
	unsigned int *var;
	struct lace_counts counts;
	double bound;

	if (period->nr > LACE_COUNTS_EXACT)
		return lace_bound_relaxed(planner, period);
	var = lace_planner_alloc(planner, planner->max_pairs, sizeof(*var));
	if (!var || !build(planner, period, var, &counts)) {
		free(var);
		return 0;
	}
	if (counts.feasible)
		lace_counts_solve(&counts);
	bound = sum_of_terms(planner, period, counts.alone);
	if (counts.feasible && counts.bound > bound)
		bound = counts.bound;
	if (counts.exact && counts.feasible && !planner->duplex &&
	    planner->cluster->relay == LACE_RELAY_CONTROL &&
	    (period->nr == 1 || !planner->quick)) {
		double control = lace_bound_control(planner, period, var,
						    &counts);

		bound = control > bound ? control : bound;
	}
	if (!counts.feasible)
		bound = INFINITY;
	planner->work += counts.work;
	lace_counts_free(&counts);
	free(var);
	return bound;
}

/* ---- one row alone ---- */

struct rows {
	struct lace_planner *planner;
	const struct lace_period *period;
	unsigned int nr, *size, *degree;
	unsigned int *var;		/* of each pair, 1 + its number */
	double *sum;			/* seconds of each row and term */
};

static bool rows_init(struct rows *r)
{
	struct lace_planner *p = r->planner;
	unsigned int n = p->nr_nodes;

	r->nr = p->duplex ? n : 2 * n;
	r->size = lace_planner_alloc(p, r->nr, sizeof(*r->size));
	r->degree = lace_planner_alloc(p, r->nr, sizeof(*r->degree));
	r->var = lace_planner_alloc(p, p->max_pairs, sizeof(*r->var));
	r->sum = lace_planner_alloc(p, (size_t)r->nr * r->period->nr,
				    sizeof(*r->sum));
	if (p->oom)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		r->size[i] = p->tx_lanes[i];
		if (!p->duplex)
			r->size[n + i] = p->rx_lanes[i];
	}
	return true;
}

static void rows_free(struct rows *r)
{
	free(r->size);
	free(r->degree);
	free(r->var);
	free(r->sum);
}

static unsigned int row_of(const struct rows *r, unsigned int pair,
			   unsigned int end)
{
	const struct lace_between *p = &r->planner->pairs[pair];

	return !end ? p->src :
	       p->dst + (r->planner->duplex ? 0 : r->planner->nr_nodes);
}

/* Sums and degrees of all rows; false if some row has more pairs than lanes. */
static bool fill_rows(struct rows *r)
{
	unsigned int terms = r->period->nr;

	for (unsigned int t = 0; t < terms; t++) {
		const struct lace_kind *k =
			&r->planner->kinds[r->period->terms[t].kind];

		for (size_t i = 0; i < k->nr; i++) {
			unsigned int e = stands_for(r->planner,
						    k->needs[i].pair);

			if (!lace_planner_must_have(r->planner, &k->needs[i]))
				continue;
			if (!r->planner->pairs[e].nr_links)
				return false;
			for (unsigned int d = 0; d < 2; d++) {
				unsigned int row = row_of(r, e, d);

				r->degree[row] += !r->var[e];
				r->sum[(size_t)row * terms + t] +=
					k->needs[i].bits /
					lace_planner_best_rate(r->planner, e);
			}
			r->var[e] = 1;
		}
	}
	for (unsigned int row = 0; row < r->nr; row++)
		if (r->degree[row] > r->size[row])
			return false;
	return true;
}

/* The row that would cost most if its lanes were fluid. */
static unsigned int fullest_row(const struct rows *r)
{
	unsigned int best = LACE_NONE, terms = r->period->nr;
	double most = 0;

	for (unsigned int row = 0; row < r->nr; row++) {
		double cost = 0;

		for (unsigned int t = 0; t < terms; t++)
			cost += sqrt(r->period->terms[t].repeat *
				     r->sum[(size_t)row * terms + t]);
		cost = cost * cost / r->size[row];
		if (cost > most) {
			most = cost;
			best = row;
		}
	}
	return best;
}

static void fill_counts(struct rows *r, unsigned int row, struct lace_counts *c)
{
	unsigned int nr_vars = 0;
	size_t nr = 0;

	c->size[0] = r->size[row];
	memset(r->var, 0, r->planner->max_pairs * sizeof(*r->var));
	for (unsigned int t = 0; t < r->period->nr; t++) {
		const struct lace_kind *k =
			&r->planner->kinds[r->period->terms[t].kind];

		c->first[t] = nr;
		c->weight[t] = r->period->terms[t].repeat;
		for (size_t i = 0; i < k->nr; i++) {
			unsigned int e = stands_for(r->planner,
						    k->needs[i].pair);

			if (!lace_planner_must_have(r->planner, &k->needs[i]) ||
			    (row_of(r, e, 0) != row && row_of(r, e, 1) != row))
				continue;
			if (!r->var[e]) {
				c->vars[nr_vars].mult[0] = 1;
				r->var[e] = ++nr_vars;
			}
			c->entries[nr++] = (struct lace_counts_entry){
				.var = r->var[e] - 1,
				.time = k->needs[i].bits /
					lace_planner_best_rate(r->planner, e) };
		}
	}
	c->first[r->period->nr] = nr;
	c->nr_vars = nr_vars;
}

static double bound_row(struct rows *r, unsigned int row)
{
	struct lace_counts counts;
	struct lace_relax relax;
	double bound = 0;
	size_t nr = (size_t)r->degree[row] * r->period->nr * 2;

	if (lace_counts_alloc(&counts, r->degree[row], 1, r->period->nr, nr)) {
		r->planner->oom = true;
		return 0;
	}
	fill_counts(r, row, &counts);
	if (!lace_relax_solve(&counts, 1e-6, &relax)) {
		/* Solved less closely than the whole: not above it. */
		bound = relax.value * (1 - 1e-8);
		lace_relax_free(&relax);
	}
	lace_counts_free(&counts);
	return bound;
}

double lace_bound_row(struct lace_planner *planner,
		      const struct lace_period *period)
{
	struct rows r = { .planner = planner, .period = period };
	double bound = 0;

	if (rows_init(&r)) {
		bool filled = fill_rows(&r);
		unsigned int row = filled ? fullest_row(&r) : LACE_NONE;

		if (!filled)
			bound = INFINITY;
		else if (row != LACE_NONE)
			bound = bound_row(&r, row);
	}
	rows_free(&r);
	return bound;
}
