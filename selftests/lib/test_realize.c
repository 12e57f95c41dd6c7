// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of circuits: against a search of all counts on random small problems,
 * and the list of points against its promise.
 */
#include "counts.h"
#include "planner.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VARS 5
#define ROWS 4
#define TERMS 3
#define SIZE 6

static uint64_t state = 7;

static unsigned int draw(unsigned int below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

/* Row r and row ROWS / 2 + r: as TX and RX lanes of two nodes each. */
static void make(struct lace_counts *c)
{
	unsigned int terms = 1 + draw(TERMS), vars = 1 + draw(VARS);
	size_t nr = 0;

	if (lace_counts_alloc(c, vars, ROWS, terms, (size_t)vars * terms))
		exit(1);
	for (unsigned int r = 0; r < ROWS; r++)
		c->size[r] = 1 + draw(SIZE);
	for (unsigned int v = 0; v < vars; v++)
		c->vars[v] = (struct lace_counts_var){
			.row = { draw(ROWS / 2), ROWS / 2 + draw(ROWS / 2) },
			.mult = { 1, 1 } };
	for (unsigned int t = 0; t < terms; t++) {
		c->first[t] = nr;
		c->weight[t] = 1 + draw(5);
		for (unsigned int v = 0; v < vars; v++)
			if (draw(3))
				c->entries[nr++] = (struct lace_counts_entry){
					v, 1 + draw(30) };
	}
	c->first[terms] = nr;
}

static bool fits(const struct lace_counts *c, const unsigned int *count)
{
	unsigned int used[ROWS] = { 0 };

	for (unsigned int v = 0; v < c->nr_vars; v++) {
		used[c->vars[v].row[0]] += count[v];
		used[c->vars[v].row[1]] += count[v];
	}
	for (unsigned int r = 0; r < ROWS; r++)
		if (used[r] > c->size[r])
			return false;
	return true;
}

static double search(const struct lace_counts *c, unsigned int var,
		     unsigned int *count)
{
	double best = INFINITY;

	if (var == c->nr_vars)
		return fits(c, count) ? counts_value(c, count) : INFINITY;
	for (count[var] = 1; count[var] <= SIZE; count[var]++)
		best = fmin(best, search(c, var + 1, count));
	return best;
}

/* A point for every count vector that costs less than the limit. */
static bool has_all_points(struct lace_counts *c, double best)
{
	static double points[4096 * (TERMS + 1)];
	double complete, limit = best * 1.5;
	unsigned int nr = lace_counts_points(c, limit, 4096, points, &complete);
	size_t width = c->nr_terms + 1;

	if (!nr || fabs(points[0] - best) > 1e-9 * best || complete < limit)
		return !(best > 0);
	for (unsigned int i = 1; i < nr; i++)
		if (points[i * width] < points[(i - 1) * width])
			return false;
	return points[(nr - 1) * width] < limit;
}

static void test_search(void)
{
	unsigned int wrong = 0, infeasible = 0, unordered = 0, many = 0;

	for (unsigned int i = 0; i < 400; i++) {
		unsigned int count[VARS];
		struct lace_counts c;
		double best;

		make(&c);
		lace_counts_solve(&c);
		best = search(&c, 0, count);
		if (best == INFINITY) {
			infeasible++;
			wrong += c.feasible;
		} else {
			wrong += !c.feasible || !c.exact || !fits(&c, c.count) ||
				 fabs(c.value - best) > 1e-9 * best ||
				 fabs(counts_value(&c, c.count) - best) >
					 1e-9 * best;
			unordered += !has_all_points(&c, best);
			many += c.nr_terms > 1;
		}
		lace_counts_free(&c);
	}
	tap_check(!wrong && infeasible && many,
		  "counts are the optimum, or there are none");
	tap_check(!unordered, "points are sorted, and start at the optimum");
}

/* Two vars share a row of 16: 11 and 5 circuits for loads 11 : 5. */
static void test_known(void)
{
	struct lace_counts c;

	if (lace_counts_alloc(&c, 2, 3, 1, 2))
		exit(1);
	c.size[0] = c.size[1] = c.size[2] = 16;
	c.vars[0] = (struct lace_counts_var){ { 0, 1 }, { 1, 1 } };
	c.vars[1] = (struct lace_counts_var){ { 0, 2 }, { 1, 1 } };
	c.first[1] = 2;
	c.weight[0] = 1;
	c.entries[0] = (struct lace_counts_entry){ 0, 11 };
	c.entries[1] = (struct lace_counts_entry){ 1, 5 };
	lace_counts_solve(&c);
	tap_check(c.exact && c.count[0] == 11 && c.count[1] == 5 && c.value == 1,
		  "11 and 5 of 16 lanes for loads of 11 and 5");
	c.entries[0].time = 1e9;
	lace_counts_solve(&c);
	tap_check(c.count[0] == 15 && c.count[1] == 1,
		  "everybody keeps a circuit");
	lace_counts_free(&c);
}

int main(void)
{
	tap_plan(4);
	test_search();
	test_known();
	return tap_end();
}
