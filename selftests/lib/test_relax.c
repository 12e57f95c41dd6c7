// SPDX-License-Identifier: GPL-2.0
/*
 * The convex relaxation: known values, a dual that is worked out anew, times
 * that fit, and no number that a dual proves above what a search of all counts
 * finds.
 */
#include "counts.h"
#include "relax.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VARS 6
#define ROWS 4
#define TERMS 8
#define SIZE 6
#define TOLERANCE 1e-7

static uint64_t state = 11;

static unsigned int draw(unsigned int below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

/* Row r and row rows / 2 + r: as TX and RX lanes. */
static void make(struct lace_counts *c, unsigned int rows, unsigned int vars,
		 unsigned int terms, unsigned int size)
{
	size_t nr = 0;

	if (lace_counts_alloc(c, vars, rows, terms, (size_t)vars * terms))
		exit(1);
	for (unsigned int v = 0; v < vars; v++) {
		c->vars[v] = (struct lace_counts_var){
			.row = { draw(rows / 2), rows / 2 + draw(rows / 2) },
			.mult = { 1, 1 } };
		c->size[c->vars[v].row[0]]++;
		c->size[c->vars[v].row[1]]++;
	}
	for (unsigned int r = 0; r < rows; r++)
		c->size[r] += draw(size);
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

/* Every node sends to its 1st, 2nd, ... next, one op for each. */
static void make_steps(struct lace_counts *c, unsigned int nodes,
		       unsigned int steps, unsigned int lanes)
{
	if (lace_counts_alloc(c, nodes * steps, 2 * nodes, steps,
			      (size_t)nodes * steps))
		exit(1);
	for (unsigned int r = 0; r < 2 * nodes; r++)
		c->size[r] = lanes;
	for (unsigned int t = 0; t <= steps; t++)
		c->first[t] = (size_t)t * nodes;
	for (unsigned int v = 0; v < nodes * steps; v++) {
		unsigned int i = v % nodes, t = v / nodes;

		c->weight[t] = 1;
		c->vars[v] = (struct lace_counts_var){
			.row = { i, nodes + (i + t + 1) % nodes },
			.mult = { 1, 1 } };
		c->entries[v] = (struct lace_counts_entry){ v, 1 };
	}
}

static double search(const struct lace_counts *c, unsigned int var,
		     unsigned int *left, unsigned int *count)
{
	unsigned int a, b;
	double best = INFINITY;

	if (var == c->nr_vars)
		return counts_value(c, count);
	a = c->vars[var].row[0];
	b = c->vars[var].row[1];
	for (count[var] = 1; left[a] && left[b]; count[var]++) {
		left[a]--;
		left[b]--;
		best = fmin(best, search(c, var + 1, left, count));
	}
	left[a] += count[var] - 1;
	left[b] += count[var] - 1;
	return best;
}

/* Circuits, whole or between whole ones in a straight line. */
static double circuits(double time, double target)
{
	double m = 1;

	while (time / (m + 1) >= target)
		m++;
	if (target >= time)
		return 1;
	return m + (time / m - target) / (time / m - time / (m + 1));
}

static bool times_fit(const struct lace_counts *c, const double *time)
{
	double *left = calloc((size_t)c->nr_rows + 1, sizeof(*left));
	bool fit = true;

	for (unsigned int r = 0; r < c->nr_rows; r++)
		left[r] = c->size[r];
	for (unsigned int v = 0; v < c->nr_vars; v++) {
		double most = 1;

		for (unsigned int t = 0; t < c->nr_terms; t++)
			for (size_t i = c->first[t]; i < c->first[t + 1]; i++)
				if (c->entries[i].var == v)
					most = fmax(most, circuits(
						c->entries[i].time, time[t]));
		left[c->vars[v].row[0]] -= most;
		left[c->vars[v].row[1]] -= most;
	}
	for (unsigned int r = 0; r < c->nr_rows; r++)
		fit &= left[r] >= -1e-8 * c->size[r];
	free(left);
	return fit;
}

static bool is_dual(const struct lace_counts *c, const struct lace_relax *r)
{
	for (unsigned int t = 0; t < c->nr_terms; t++) {
		double sum = c->first[t] == c->first[t + 1];

		for (size_t i = c->first[t]; i < c->first[t + 1]; i++) {
			if (!(r->share[i] >= 0))
				return false;
			sum += r->share[i];
		}
		if (fabs(sum - 1) > 1e-12)
			return false;
	}
	for (unsigned int i = 0; i < c->nr_rows; i++)
		if (!(r->price[i] >= 0))
			return false;
	return r->value == lace_relax_value(c, r->share, r->price);
}

static bool is_solved(const struct lace_counts *c, const struct lace_relax *r)
{
	double upper = 0;

	for (unsigned int t = 0; t < c->nr_terms; t++)
		upper += c->weight[t] * r->time[t];
	return is_dual(c, r) && times_fit(c, r->time) &&
	       fabs(upper - r->upper) <= 1e-12 * upper &&
	       r->upper - r->value <= TOLERANCE * r->upper;
}

/* Eight to sixteen lanes, n steps: as even as whole lanes allow. */
static void test_steps(void)
{
	bool good = true;

	for (unsigned int lanes = 8; lanes <= 16; lanes++) {
		for (unsigned int steps = 1; steps <= lanes; steps++) {
			unsigned int more = lanes % steps;
			unsigned int each = lanes / steps;
			double best = more / (each + 1.) +
				      (double)(steps - more) / each;
			struct lace_counts c;
			struct lace_relax r;

			make_steps(&c, 20, steps, lanes);
			if (lace_relax_solve(&c, TOLERANCE, &r))
				exit(1);
			if (!is_solved(&c, &r) || !tap_near(r.value, best)) {
				tap_note("%u steps, %u lanes: %.9g, not %.9g",
					 steps, lanes, r.value, best);
				good = false;
			}
			lace_relax_free(&r);
			lace_counts_free(&c);
		}
	}
	tap_check(good, "equal steps on 8 to 16 lanes: as even as whole lanes go");
}

static void test_search(void)
{
	unsigned int count[VARS], tight = 0, tries = 1500;
	bool solved = true, below = true;

	for (unsigned int i = 0; i < tries; i++) {
		unsigned int left[ROWS];
		struct lace_counts c;
		struct lace_relax r;
		double best;

		make(&c, ROWS, 1 + draw(VARS), 1 + draw(TERMS), SIZE);
		memcpy(left, c.size, sizeof(left));
		best = search(&c, 0, left, count);
		if (lace_relax_solve(&c, TOLERANCE, &r))
			exit(1);
		solved &= is_solved(&c, &r);
		below &= r.value <= best * (1 + 1e-12);
		tight += r.value >= best * (1 - 1e-6);
		lace_relax_free(&r);
		lace_counts_free(&c);
	}
	tap_check(solved, "random problems: solved, and the dual proves it");
	tap_check(below, "no bound is above what a search of all counts finds");
	tap_check(tight > tries / 2, "and most bounds are the optimum (%u of %u)",
		  tight, tries);
}

/* Any shares and prices prove something, and nothing that is not so. */
static void test_any_dual(void)
{
	unsigned int count[VARS];
	bool below = true;

	for (unsigned int i = 0; i < 1500; i++) {
		double share[VARS * TERMS], price[ROWS], best;
		unsigned int left[ROWS];
		struct lace_counts c;

		make(&c, ROWS, 1 + draw(VARS), 1 + draw(TERMS), SIZE);
		memcpy(left, c.size, sizeof(left));
		best = search(&c, 0, left, count);
		for (unsigned int t = 0; t < c.nr_terms; t++) {
			double sum = 0;

			for (size_t e = c.first[t]; e < c.first[t + 1]; e++)
				sum += share[e] = draw(3) ? 1 + draw(100) : 1e-3;
			for (size_t e = c.first[t]; e < c.first[t + 1]; e++)
				share[e] /= sum;
		}
		for (unsigned int k = 0; k < ROWS; k++)
			price[k] = draw(4) ? draw(1000) / 100. : 0;
		below &= lace_relax_value(&c, share, price) <=
			 best * (1 + 1e-12);
		lace_counts_free(&c);
	}
	tap_check(below, "no dual, however bad, proves more than the optimum");
}

static void test_least(void)
{
	bool good = true;

	for (unsigned int i = 0; i < 2000; i++) {
		double c = draw(100000) / 100., u = (1 + draw(1000)) / 100.;
		double best = INFINITY;

		for (unsigned int m = 1; m < 1000; m++)
			best = fmin(best, c / m + u * m);
		good &= lace_relax_least(c, u) == best;
	}
	tap_check(good && lace_relax_least(3, 0) == 0,
		  "h is the least over all whole numbers");
}

/* Many terms that share vars, on many rows. */
static void test_large(void)
{
	bool solved = true;
	unsigned int rounds = 0;

	for (unsigned int i = 0; i < 8; i++) {
		struct lace_counts c;
		struct lace_relax r;

		make(&c, 40, 120, 10 + 5 * i, 20);
		if (lace_relax_solve(&c, TOLERANCE, &r))
			exit(1);
		solved &= is_solved(&c, &r);
		rounds = r.rounds > rounds ? r.rounds : rounds;
		lace_relax_free(&r);
		lace_counts_free(&c);
	}
	tap_check(solved, "up to 45 terms on 40 rows: solved in %u rounds", rounds);
}

static void test_lanes_short(void)
{
	struct lace_counts c;
	struct lace_relax r;

	make_steps(&c, 4, 3, 2);
	if (lace_relax_solve(&c, TOLERANCE, &r))
		exit(1);
	tap_check(r.value == INFINITY && r.upper == INFINITY,
		  "three peers and two lanes: nothing fits");
	lace_relax_free(&r);
	lace_counts_free(&c);
	make_steps(&c, 4, 0, 2);
	if (lace_relax_solve(&c, TOLERANCE, &r))
		exit(1);
	tap_check(r.value == 0 && r.upper == 0, "no terms take no time");
	lace_relax_free(&r);
	lace_counts_free(&c);
}

int main(void)
{
	tap_plan(9);
	test_steps();
	test_search();
	test_any_dual();
	test_least();
	test_large();
	test_lanes_short();
	return tap_end();
}
