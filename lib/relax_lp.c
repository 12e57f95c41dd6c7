// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The linear programme over the cuts of the relaxation: few unknowns, many
 * cuts, and always more of them.  The simplex method on the dual, where a cut
 * is a column: the basis of last time stays feasible when cuts come, and every
 * pivot leaves multipliers that prove a bound.  The inverse of the basis is
 * kept whole; it is as small as the number of terms of a period.
 */
#include "relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK (1u << 31)	/* in basis: the slack of an unknown */
#define REFACTOR 64		/* pivots from one fresh inverse to the next */
#define OPTIMAL 1e-11		/* reduced costs below it are none */
#define PIVOT 1e-9		/* smaller pivots are not trusted */

int lace_cuts_create(struct lace_cuts *cuts, unsigned int width)
{
	size_t n = width;

	*cuts = (struct lace_cuts){ .width = width };
	cuts->w = calloc(n + 1, sizeof(double));
	cuts->x = calloc(n + 1, sizeof(double));
	cuts->y = calloc(n + 1, sizeof(double));
	cuts->basis = calloc(n + 1, sizeof(*cuts->basis));
	cuts->inverse = calloc(n * n + 1, sizeof(double));
	cuts->column = calloc(n * n + n + 1, sizeof(double));
	if (!cuts->w || !cuts->x || !cuts->y || !cuts->basis ||
	    !cuts->inverse || !cuts->column) {
		lace_cuts_free(cuts);
		return -1;
	}
	for (unsigned int i = 0; i < width; i++) {
		cuts->basis[i] = SLACK | i;
		cuts->inverse[i * n + i] = 1;
	}
	return 0;
}

void lace_cuts_free(struct lace_cuts *cuts)
{
	free(cuts->slope);
	free(cuts->rhs);
	free(cuts->where);
	free(cuts->row);
	free(cuts->w);
	free(cuts->x);
	free(cuts->y);
	free(cuts->basis);
	free(cuts->inverse);
	free(cuts->column);
	*cuts = (struct lace_cuts){ 0 };
}

static bool grow(void *where, size_t nr, size_t size)
{
	void *mem = realloc(*(void **)where, nr * size + 1);

	if (mem)
		*(void **)where = mem;
	return mem;
}

bool lace_cuts_reserve(struct lace_cuts *cuts)
{
	size_t max = 2 * (size_t)cuts->max + 64;

	if (cuts->nr < cuts->max)
		return true;
	if (max >= SLACK ||
	    !grow(&cuts->slope, max * cuts->width, sizeof(double)) ||
	    !grow(&cuts->where, max * cuts->width, sizeof(double)) ||
	    !grow(&cuts->rhs, max, sizeof(double)) ||
	    !grow(&cuts->row, max, sizeof(*cuts->row)))
		return false;
	cuts->max = max;
	return true;
}

static double rhs_of(const struct lace_cuts *cuts, unsigned int column)
{
	return column & SLACK ? 0 : cuts->rhs[column];
}

/* y = inverse w and x = rhs of the basis times inverse. */
static void price_out(struct lace_cuts *cuts)
{
	unsigned int n = cuts->width;

	memset(cuts->x, 0, n * sizeof(*cuts->x));
	cuts->value = 0;
	for (unsigned int i = 0; i < n; i++) {
		const double *row = cuts->inverse + (size_t)i * n;
		double rhs = rhs_of(cuts, cuts->basis[i]), y = 0;

		for (unsigned int k = 0; k < n; k++)
			y += row[k] * cuts->w[k];
		/* Below zero is rounding: the ratio test saw to that. */
		cuts->y[i] = y > 0 ? y : 0;
		cuts->value += rhs * cuts->y[i];
		if (rhs != 0)
			for (unsigned int k = 0; k < n; k++)
				cuts->x[k] += rhs * row[k];
	}
}

/* The column that promises most, or a slack whose unknown is below zero. */
static unsigned int choose_entering(const struct lace_cuts *cuts)
{
	unsigned int n = cuts->width, best = LACE_NONE;
	double most = OPTIMAL;

	for (unsigned int k = 0; k < n; k++) {
		if (-cuts->x[k] > most) {
			most = -cuts->x[k];
			best = SLACK | k;
		}
	}
	for (unsigned int j = 0; j < cuts->nr; j++) {
		const double *slope = cuts->slope + (size_t)j * n;
		double gain = cuts->rhs[j];

		for (unsigned int k = 0; k < n; k++)
			gain -= slope[k] * cuts->x[k];
		/* Cuts of all sizes are compared by what they say. */
		gain /= cuts->rhs[j];
		if (gain > most) {
			most = gain;
			best = j;
		}
	}
	return best;
}

static void make_column(struct lace_cuts *cuts, unsigned int column)
{
	unsigned int n = cuts->width;

	for (unsigned int i = 0; i < n; i++) {
		const double *row = cuts->inverse + (size_t)i * n;
		double sum = 0;

		if (column & SLACK) {
			cuts->column[i] = row[column & ~SLACK];
			continue;
		}
		for (unsigned int k = 0; k < n; k++)
			sum += row[k] * cuts->slope[(size_t)column * n + k];
		cuts->column[i] = sum;
	}
}

/* Least ratio; of equal ones the largest pivot, for a sound inverse. */
static unsigned int choose_leaving(const struct lace_cuts *cuts)
{
	unsigned int best = LACE_NONE;
	double least = INFINITY, largest = 0;

	for (unsigned int i = 0; i < cuts->width; i++)
		if (cuts->column[i] > largest)
			largest = cuts->column[i];
	for (unsigned int i = 0; i < cuts->width; i++) {
		double d = cuts->column[i], ratio;

		if (d <= PIVOT * largest)
			continue;
		ratio = cuts->y[i] / d;
		if (best == LACE_NONE || ratio < least * (1 - 1e-12) ||
		    (ratio <= least && d > cuts->column[best])) {
			least = ratio < least ? ratio : least;
			best = i;
		}
	}
	return best;
}

static void pivot(struct lace_cuts *cuts, unsigned int place)
{
	unsigned int n = cuts->width;
	double *row = cuts->inverse + (size_t)place * n;
	double d = cuts->column[place];

	for (unsigned int k = 0; k < n; k++)
		row[k] /= d;
	for (unsigned int i = 0; i < n; i++) {
		double *other = cuts->inverse + (size_t)i * n;

		if (i == place || cuts->column[i] == 0)
			continue;
		for (unsigned int k = 0; k < n; k++)
			other[k] -= cuts->column[i] * row[k];
	}
}

/* The basis inverted anew, by elimination with the largest pivots. */
static bool refactor(struct lace_cuts *cuts)
{
	unsigned int n = cuts->width;
	double *m = cuts->column + n, *inv = cuts->inverse;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int column = cuts->basis[i];

		for (unsigned int k = 0; k < n; k++) {
			inv[(size_t)k * n + i] = k == i;
			m[(size_t)k * n + i] = column & SLACK ?
				(column & ~SLACK) == k :
				cuts->slope[(size_t)column * n + k];
		}
	}
	for (unsigned int p = 0; p < n; p++) {
		unsigned int best = p;
		double d;

		for (unsigned int i = p + 1; i < n; i++)
			if (fabs(m[(size_t)i * n + p]) >
			    fabs(m[(size_t)best * n + p]))
				best = i;
		d = m[(size_t)best * n + p];
		if (d == 0)
			return false;
		for (unsigned int k = 0; k < n; k++) {
			double a = m[(size_t)best * n + k];
			double b = inv[(size_t)best * n + k];

			m[(size_t)best * n + k] = m[(size_t)p * n + k];
			inv[(size_t)best * n + k] = inv[(size_t)p * n + k];
			m[(size_t)p * n + k] = a / d;
			inv[(size_t)p * n + k] = b / d;
		}
		for (unsigned int i = 0; i < n; i++) {
			double f = m[(size_t)i * n + p];

			if (i == p || f == 0)
				continue;
			for (unsigned int k = 0; k < n; k++) {
				m[(size_t)i * n + k] -=
					f * m[(size_t)p * n + k];
				inv[(size_t)i * n + k] -=
					f * inv[(size_t)p * n + k];
			}
		}
	}
	return true;
}

static void start_over(struct lace_cuts *cuts)
{
	unsigned int n = cuts->width;

	memset(cuts->inverse, 0, (size_t)n * n * sizeof(*cuts->inverse));
	for (unsigned int i = 0; i < n; i++) {
		cuts->basis[i] = SLACK | i;
		cuts->inverse[(size_t)i * n + i] = 1;
	}
}

void lace_cuts_solve(struct lace_cuts *cuts, unsigned int max_pivots)
{
	price_out(cuts);
	for (unsigned int round = 0; round < max_pivots; round++) {
		unsigned int entering = choose_entering(cuts), place;

		if (entering == LACE_NONE)
			break;
		make_column(cuts, entering);
		place = choose_leaving(cuts);
		if (place == LACE_NONE)
			break;
		cuts->basis[place] = entering;
		if (++cuts->pivots % REFACTOR)
			pivot(cuts, place);
		else if (!refactor(cuts))
			start_over(cuts);
		price_out(cuts);
	}
}
