/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * The convex relaxation of a period and its dual, which anybody can check.
 * Not installed.
 *
 * The problem is that of struct lace_counts (planner.h): over whole x_e >= 1
 * that fit the rows,
 *
 *	minimize  sum over terms t of w_t x max over entries (t,e) of time_te / x_e
 *
 * The dual has two parts: for each term t, shares l_te >= 0 of its entries that
 * sum to one, and for each row r a price p_r >= 0.  With
 *
 *	c_e = sum over entries (t,e) of w_t l_te time_te
 *	u_e = mult_e0 p_row(e,0) + mult_e1 p_row(e,1)
 *	h(c, u) = min over whole m >= 1 of c / m + u m      (0 where u = 0)
 *
 * the number
 *
 *	sum over vars e of h(c_e, u_e)  -  sum over rows r of p_r size_r
 *
 * is at most the value of any x, whatever l and p are:
 *
 *	sum_t w_t max_e time_te / x_e  >=  sum_t w_t sum_e l_te time_te / x_e
 *	  =  sum_e c_e / x_e  >=  sum_e (c_e / x_e + u_e x_e) - sum_r p_r size_r
 *
 * and no summand of the last sum is below h.  The first step holds because the
 * shares of a term sum to one (less would do), the second because the rows hold
 * and prices are not negative.  The m that gives h is the whole number, 1 or
 * more, with m (m - 1) u <= c <= m (m + 1) u, or 1 if c < 2 u: then h = c + u.
 * As m is whole, h is never below 2 sqrt(c u), which a bound by roots would
 * have in its place.
 */
#ifndef LACE_RELAX_H
#define LACE_RELAX_H

#include "planner.h"

struct lace_relax {
	double value;	/* what share and price prove, as above; seconds */
	double upper;	/* what time[] costs: the relaxation is between them */
	double *share;	/* l of each entry of the counts */
	double *price;	/* p of each row, seconds for each lane */
	double *time;	/* T of each term; fits with fractions of circuits */
	unsigned int rounds;
	double work;	/* steps it took */
};

/*
 * Solves the relaxation to (upper - value) <= tolerance x upper, or as close as
 * its budget allows; value is a bound in either case.  Of counts only the
 * problem is read.  Returns -1 without memory, else 0; relax must be freed
 * then.  If one circuit for each var does not fit, value and upper are INFINITY
 * and the dual means nothing.
 */
int lace_relax_solve(const struct lace_counts *counts, double tolerance,
		     struct lace_relax *relax);
void lace_relax_free(struct lace_relax *relax);

/* The number that share (of each entry) and price (of each row) prove, worked
 * out anew; shares that do not sum to one in their term are not noticed.
 */
double lace_relax_value(const struct lace_counts *counts, const double *share,
			const double *price);

/* h: the least of c / m + u m over whole m >= 1. */
double lace_relax_least(double c, double u);

/* ---- relax_lp.c: the linear programme over the cuts ---- */

/*
 * minimize w x, x >= 0, slope_j x >= rhs_j for every cut j; slopes and w are
 * not negative.  Solved as its dual, maximize rhs y, sum_j slope_j y_j <= w,
 * from the basis of last time.
 */
struct lace_cuts {
	unsigned int width;		/* unknowns */
	unsigned int nr, max;
	double *slope;			/* of each cut, width wide */
	double *rhs;
	double *where;			/* the caller's: where it was made */
	unsigned int *row;		/* the caller's: of what */

	double *w;
	double *x;			/* results: unknowns */
	double value;
	unsigned int *basis;		/* cuts, and slacks of unknowns (relax_lp.c) */
	double *y;			/* of each place of the basis */

	double *inverse, *column;
	unsigned int pivots;
};

int lace_cuts_create(struct lace_cuts *cuts, unsigned int width);
void lace_cuts_free(struct lace_cuts *cuts);
/* Room for one more; its slope, rhs, where and row are the caller's to fill,
 * and it counts after nr is raised.  False without memory.
 */
bool lace_cuts_reserve(struct lace_cuts *cuts);
/* Improves the dual until no cut is violated by x, or for max pivots. */
void lace_cuts_solve(struct lace_cuts *cuts, unsigned int max_pivots);

#endif /* LACE_RELAX_H */
