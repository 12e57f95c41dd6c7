// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What times within a box ask for: the arithmetic that every proof of a
 * certificate comes down to.
 *
 * Which pairs must have a circuit, and how long one circuit takes for what a
 * pair asks for, is worked out here from the planner's pairs and kinds, apart
 * from the bounds of the compiler.  Nothing is searched.  Rounding goes to the
 * side on which less is proven, or is no more than some 1e-12 of a number that
 * is the sum of numbers that are not negative.
 */
#include "certificate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Quotients closer than this to a whole number count as that number. */
#define WHOLE 1e-12

/* ---- the problem ---- */

/* In duplex, circuits serve a pair and its way back: the lower pair stands for
 * both.
 */
static unsigned int circuits_of(const struct lace_planner *planner,
				unsigned int pair)
{
	const struct lace_between *p = &planner->pairs[pair];
	unsigned int back;

	if (!planner->duplex)
		return pair;
	back = lace_planner_pair(planner, p->dst, p->src);
	return back < pair ? back : pair;
}

static const struct lace_kind *kind_of(const struct lace_box *box,
				       unsigned int term)
{
	return &box->planner->kinds[box->period.terms[term].kind];
}

/* Numbers the pairs that must have a circuit; returns how many entries. */
static size_t number_vars(struct lace_box *box, unsigned int *nr_vars)
{
	struct lace_planner *p = box->planner;
	size_t nr = 0;

	*nr_vars = 0;
	memset(box->var, 0xff, p->max_pairs * sizeof(*box->var));
	for (unsigned int t = 0; t < box->period.nr; t++) {
		const struct lace_kind *k = kind_of(box, t);

		nr += k->nr;
		for (size_t i = 0; i < k->nr; i++) {
			unsigned int e = circuits_of(p, k->needs[i].pair);

			if (lace_planner_must_have(p, &k->needs[i]) &&
			    box->var[e] == LACE_NONE)
				box->var[e] = (*nr_vars)++;
		}
	}
	return nr;
}

static void set_rows(struct lace_box *box)
{
	const struct lace_planner *p = box->planner;
	unsigned int n = p->nr_nodes, rx = p->duplex ? 0 : n;

	for (unsigned int i = 0; i < n; i++) {
		box->counts.size[i] = p->tx_lanes[i];
		if (!p->duplex)
			box->counts.size[n + i] = p->rx_lanes[i];
	}
	for (unsigned int e = 0; e < p->nr_pairs; e++) {
		if (box->var[e] == LACE_NONE)
			continue;
		box->impossible |= !p->pairs[e].nr_links;
		box->counts.vars[box->var[e]] = (struct lace_counts_var){
			.row = { p->pairs[e].src, rx + p->pairs[e].dst },
			.mult = { 1, 1 } };
	}
}

/* A pair with a circuit sends all that it has over it, in every op. */
static void set_entries(struct lace_box *box)
{
	const struct lace_planner *p = box->planner;
	struct lace_counts *c = &box->counts;
	size_t nr = 0;

	for (unsigned int t = 0; t < box->period.nr; t++) {
		const struct lace_kind *k = kind_of(box, t);

		c->first[t] = nr;
		c->weight[t] = box->period.terms[t].repeat;
		for (size_t i = 0; i < k->nr; i++) {
			unsigned int e = circuits_of(p, k->needs[i].pair);

			if (box->var[e] == LACE_NONE)
				continue;
			box->term_of[nr] = t;
			c->entries[nr++] = (struct lace_counts_entry){
				.var = box->var[e],
				.time = k->needs[i].bits /
					lace_planner_best_rate(p, e) };
		}
	}
	c->first[box->period.nr] = nr;
}

/* Where each begins, from how many there are of each. */
static void begin_each(size_t *first, size_t nr)
{
	for (size_t i = 1; i <= nr; i++)
		first[i] += first[i - 1];
}

/* Entries by var and vars by row: filled from the end of each to its begin. */
static void index_entries(struct lace_box *box)
{
	const struct lace_counts *c = &box->counts;
	size_t nr = c->first[c->nr_terms];

	for (size_t i = 0; i < nr; i++)
		box->first_entry[c->entries[i].var]++;
	for (unsigned int v = 0; v < c->nr_vars; v++) {
		box->first_var[c->vars[v].row[0]]++;
		box->first_var[c->vars[v].row[1]]++;
	}
	begin_each(box->first_entry, c->nr_vars);
	begin_each(box->first_var, c->nr_rows);
	for (size_t i = nr; i-- > 0;)
		box->entry_of[--box->first_entry[c->entries[i].var]] = i;
	for (unsigned int v = c->nr_vars; v-- > 0;) {
		box->var_of[--box->first_var[c->vars[v].row[0]]] = v;
		box->var_of[--box->first_var[c->vars[v].row[1]]] = v;
	}
}

static bool allocate(struct lace_box *box, unsigned int nr_vars, size_t nr)
{
	struct lace_planner *p = box->planner;
	unsigned int nr_rows = p->nr_nodes * (p->duplex ? 1 : 2);
	unsigned int nr_terms = box->period.nr;

	if (lace_counts_alloc(&box->counts, nr_vars, nr_rows, nr_terms, nr)) {
		p->oom = true;
		return false;
	}
	box->term_of = lace_planner_alloc(p, nr, sizeof(*box->term_of));
	box->entry_of = lace_planner_alloc(p, nr, sizeof(*box->entry_of));
	box->first_entry = lace_planner_alloc(p, nr_vars + 1,
					      sizeof(*box->first_entry));
	box->first_var = lace_planner_alloc(p, nr_rows + 1,
					    sizeof(*box->first_var));
	box->var_of = lace_planner_alloc(p, 2 * (size_t)nr_vars,
					 sizeof(*box->var_of));
	box->lo = lace_planner_alloc(p, nr_terms, sizeof(*box->lo));
	box->hi = lace_planner_alloc(p, nr_terms, sizeof(*box->hi));
	return !p->oom;
}

int lace_box_create(struct lace_planner *planner, struct lace_period *period,
		    const double *low, struct lace_box *box)
{
	unsigned int nr_vars;
	size_t nr;

	*box = (struct lace_box){ .planner = planner, .period = *period };
	*period = (struct lace_period){ 0 };
	box->var = lace_planner_alloc(planner, planner->max_pairs,
				      sizeof(*box->var));
	if (!box->var)
		return -1;
	nr = number_vars(box, &nr_vars);
	if (!allocate(box, nr_vars, nr))
		return -1;
	set_rows(box);
	if (!box->impossible) {
		set_entries(box);
		index_entries(box);
	}
	for (unsigned int t = 0; t < box->period.nr; t++) {
		box->lo[t] = low[box->period.terms[t].kind];
		box->hi[t] = INFINITY;
	}
	return 0;
}

void lace_box_free(struct lace_box *box)
{
	if (box->crosses)
		lace_crossing_free(&box->crossing);
	lace_counts_free(&box->counts);
	free(box->period.terms);
	free(box->var);
	free(box->term_of);
	free(box->entry_of);
	free(box->first_entry);
	free(box->first_var);
	free(box->var_of);
	free(box->lo);
	free(box->hi);
	*box = (struct lace_box){ 0 };
}

unsigned int lace_box_term(const struct lace_box *box, unsigned int op)
{
	unsigned int from = 0, to = box->period.nr, kind;

	if (op >= box->planner->demand->nr_ops)
		return LACE_NONE;
	kind = box->planner->op_kind[op];
	while (from < to) {
		unsigned int t = from + (to - from) / 2;

		if (box->period.terms[t].kind == kind)
			return t;
		if (box->period.terms[t].kind < kind)
			from = t + 1;
		else
			to = t;
	}
	return LACE_NONE;
}

/* ---- what a box asks for ---- */

double lace_box_circuits(const struct lace_box *box, unsigned int var)
{
	double least = 1;

	for (size_t i = box->first_entry[var]; i < box->first_entry[var + 1];
	     i++) {
		size_t e = box->entry_of[i];
		double n = box->counts.entries[e].time /
			   box->hi[box->term_of[e]] * (1 - WHOLE);

		/* Most want one: no need to round. */
		if (n > least)
			least = ceil(n);
	}
	return least;
}

bool lace_box_is_full(const struct lace_box *box, unsigned int row)
{
	double used = 0;

	for (size_t i = box->first_var[row]; i < box->first_var[row + 1]; i++)
		used += lace_box_circuits(box, box->var_of[i]);
	return used > box->counts.size[row];
}

double lace_box_sum(const struct lace_box *box)
{
	double sum = 0;

	for (unsigned int t = 0; t < box->period.nr; t++)
		sum += box->counts.weight[t] * box->lo[t];
	return sum;
}

/* ---- crossings ---- */

bool lace_box_has_crossing(const struct lace_box *box)
{
	return !box->planner->duplex &&
	       box->planner->cluster->relay == LACE_RELAY_CONTROL;
}

int lace_box_prepare_crossing(struct lace_box *box)
{
	struct lace_counts *c = &box->counts;

	if (!box->crosses) {
		box->crosses = true;
		if (!lace_crossing_create(box->planner, &box->period, box->var,
					  c, &box->crossing))
			return -1;
	}
	memset(c->used, 0, c->nr_rows * sizeof(*c->used));
	for (unsigned int v = 0; v < c->nr_vars; v++) {
		double n = lace_box_circuits(box, v);

		c->count[v] = n < UINT16_MAX ? (unsigned int)n : UINT16_MAX;
		c->used[c->vars[v].row[0]] += c->count[v];
		c->used[c->vars[v].row[1]] += c->count[v];
	}
	for (unsigned int r = 0; r < c->nr_rows; r++)
		if (c->used[r] > c->size[r])
			return 1;
	lace_crossing_at(&box->crossing);
	return 0;
}

double lace_box_cross(struct lace_box *box, unsigned int term,
		      unsigned int price)
{
	return lace_crossing_time(&box->crossing, term, box->lo[term], price);
}

/* ---- shares and prices ---- */

/* The least of c / m + u m over whole m >= least: the function is convex. */
static double least_cost(double c, double u, double least)
{
	double m;

	if (!(u > 0))
		return 0;
	m = floor(sqrt(c / u));
	if (!(m > least))
		m = least;
	return fmin(c / m + u * m, c / (m + 1) + u * (m + 1));
}

/* c of each var, and what is certain of the times that shares leave over. */
static double spread_shares(const struct lace_box *box, const double *shares,
			    double *cost)
{
	const struct lace_counts *c = &box->counts;
	double rest = 0;

	for (unsigned int t = 0; t < c->nr_terms; t++) {
		size_t nr = c->first[t + 1] - c->first[t];
		double sum = 0;

		for (size_t i = c->first[t]; i < c->first[t + 1]; i++) {
			const struct lace_counts_entry *e = &c->entries[i];

			sum += shares[i];
			cost[e->var] += c->weight[t] * shares[i] * e->time;
		}
		if (!(sum <= 1 + 1e-12 + nr * DBL_EPSILON))
			return -1;
		if (sum < 1)
			rest += c->weight[t] * (1 - sum) * box->lo[t];
	}
	return rest;
}

double lace_box_dual(const struct lace_box *box, const double *shares,
		     const double *prices)
{
	const struct lace_counts *c = &box->counts;
	double *cost = calloc((size_t)c->nr_vars + 1, sizeof(*cost));
	double gain, paid = 0, nr = (double)c->nr_vars + c->nr_rows;

	if (!cost)
		return -2;
	gain = spread_shares(box, shares, cost);
	if (gain < 0) {
		free(cost);
		return -1;
	}
	for (unsigned int v = 0; v < c->nr_vars; v++)
		gain += least_cost(cost[v], prices[c->vars[v].row[0]] +
				   prices[c->vars[v].row[1]],
				   lace_box_circuits(box, v));
	for (unsigned int r = 0; r < c->nr_rows; r++)
		paid += prices[r] * c->size[r];
	free(cost);
	/* A difference: what both sums can be wrong by is taken off. */
	gain = gain * (1 - 1e-12 - nr * DBL_EPSILON) -
	       paid * (1 + 1e-12 + nr * DBL_EPSILON);
	return isfinite(gain) ? fmax(gain, 0) : 0;
}
