// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Whole circuits near given times: times that do not fit are raised where that
 * frees most lanes for the seconds it costs, then every time is lowered as far
 * as lanes are left, and single times are traded for others while that pays.
 * Lanes in use are kept row by row, so that a step costs no more than the
 * entries of its term.
 */
#include "planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK_BUDGET 6e6		/* entries looked at, for one start */
#define TRADE_STEPS 3

struct rounding {
	struct lace_counts *c;
	unsigned int *term;		/* of each entry */
	size_t *entry_of, *first_entry;	/* entries of each var */
	unsigned int *need;		/* circuits of each entry */
	unsigned int *count, *used;
	double *time, *saved;
	unsigned long excess;		/* lanes beyond the rows, all in all */
	double budget;
};

static bool rounding_init(struct rounding *r)
{
	struct lace_counts *c = r->c;
	size_t nr = c->first[c->nr_terms], k = (size_t)c->nr_terms + 1;
	size_t *first;

	r->term = calloc(nr + 1, sizeof(*r->term));
	r->entry_of = calloc(nr + 1, sizeof(*r->entry_of));
	r->first_entry = calloc((size_t)c->nr_vars + 2, sizeof(size_t));
	r->need = calloc(nr + 1, sizeof(*r->need));
	r->count = calloc((size_t)c->nr_vars + 1, sizeof(*r->count));
	r->used = calloc((size_t)c->nr_rows + 1, sizeof(*r->used));
	r->time = calloc(2 * k, sizeof(*r->time));
	if (!r->term || !r->entry_of || !r->first_entry || !r->need ||
	    !r->count || !r->used || !r->time)
		return false;
	r->saved = r->time + k;
	first = r->first_entry;
	for (unsigned int t = 0; t < c->nr_terms; t++) {
		for (size_t i = c->first[t]; i < c->first[t + 1]; i++) {
			r->term[i] = t;
			first[c->entries[i].var + 2]++;
		}
	}
	for (unsigned int v = 0; v < c->nr_vars; v++)
		first[v + 2] += first[v + 1];
	for (size_t i = 0; i < nr; i++)
		r->entry_of[first[c->entries[i].var + 1]++] = i;
	return true;
}

static void rounding_free(struct rounding *r)
{
	free(r->term);
	free(r->entry_of);
	free(r->first_entry);
	free(r->need);
	free(r->count);
	free(r->used);
	free(r->time);
}

/* ---- lanes in use ---- */

static void use(struct rounding *r, unsigned int row, unsigned int old,
		unsigned int now)
{
	unsigned int size = r->c->size[row], before = r->used[row];
	unsigned int after = before + now - old;

	r->used[row] = after;
	r->excess += (after > size ? after - size : 0);
	r->excess -= (before > size ? before - size : 0);
}

static void set_count(struct rounding *r, unsigned int var, unsigned int nr)
{
	const struct lace_counts_var *v = &r->c->vars[var];
	unsigned int old = r->count[var];

	if (nr == old)
		return;
	r->count[var] = nr;
	for (unsigned int d = 0; d < 2; d++)
		use(r, v->row[d], v->mult[d] * old, v->mult[d] * nr);
}

static void set_time(struct rounding *r, unsigned int term, double time)
{
	const struct lace_counts *c = r->c;

	r->time[term] = time;
	for (size_t i = c->first[term]; i < c->first[term + 1]; i++) {
		unsigned int var = c->entries[i].var, most = 1;

		r->need[i] = lace_counts_circuits(c->entries[i].time, time);
		r->budget -= 1 + r->first_entry[var + 1] - r->first_entry[var];
		for (size_t e = r->first_entry[var];
		     e < r->first_entry[var + 1]; e++)
			if (r->need[r->entry_of[e]] > most)
				most = r->need[r->entry_of[e]];
		set_count(r, var, most);
	}
}

static void set_all(struct rounding *r, const double *time)
{
	for (unsigned int t = 0; t < r->c->nr_terms; t++)
		if (r->time[t] != time[t])
			set_time(r, t, time[t]);
}

static double value_of(const struct rounding *r)
{
	double value = 0;

	for (unsigned int t = 0; t < r->c->nr_terms; t++)
		value += r->c->weight[t] * r->time[t];
	return value;
}

/* ---- one term ---- */

/* The largest value time / m of the term below what it has. */
static double step_down(struct rounding *r, unsigned int term)
{
	const struct lace_counts *c = r->c;
	double best = 0;

	r->budget -= c->first[term + 1] - c->first[term];
	for (size_t i = c->first[term]; i < c->first[term + 1]; i++) {
		double time = c->entries[i].time;
		double m = floor(time / r->time[term] * (1 + 1e-12)) + 1;

		best = time / m > best ? time / m : best;
	}
	return best;
}

/* The smallest above it; INFINITY if none. */
static double step_up(struct rounding *r, unsigned int term)
{
	const struct lace_counts *c = r->c;
	double best = INFINITY;

	r->budget -= c->first[term + 1] - c->first[term];
	for (size_t i = c->first[term]; i < c->first[term + 1]; i++) {
		double time = c->entries[i].time;
		double m = ceil(time / r->time[term] * (1 - 1e-12)) - 1;

		if (m >= 1 && time / m < best)
			best = time / m;
	}
	return best;
}

/* The longest time that takes no more circuits: whatever the term was set to. */
static void tidy(struct rounding *r, unsigned int term)
{
	const struct lace_counts *c = r->c;
	double time = 0;

	for (size_t i = c->first[term]; i < c->first[term + 1]; i++) {
		double t = c->entries[i].time / r->count[c->entries[i].var];

		time = t > time ? t : time;
	}
	if (time < r->time[term])
		set_time(r, term, time);
}

/* ---- fit, lower, trade ---- */

static bool repair(struct rounding *r)
{
	while (r->excess && r->budget > 0) {
		unsigned int best = LACE_NONE;
		double most = 0, to = 0;

		for (unsigned int t = 0; t < r->c->nr_terms; t++) {
			unsigned long before = r->excess;
			double old = r->time[t], up = step_up(r, t), gain;

			if (up == INFINITY)
				continue;
			set_time(r, t, up);
			gain = (1e-9 + (double)before - (double)r->excess) /
			       (r->c->weight[t] * (up - old));
			set_time(r, t, old);
			if (gain > most) {
				most = gain;
				best = t;
				to = up;
			}
		}
		if (best == LACE_NONE)
			return false;
		set_time(r, best, to);
	}
	return !r->excess;
}

/* Lowers times one value after the other, first where that gains most; skip
 * stays as it is.
 */
static void lower(struct rounding *r, unsigned int skip)
{
	bool moved = true;

	for (unsigned int t = 0; t < r->c->nr_terms; t++)
		if (t != skip)
			tidy(r, t);
	while (moved && r->budget > 0) {
		unsigned int best = LACE_NONE;
		double most = 0, to = 0;

		moved = false;
		for (unsigned int t = 0; t < r->c->nr_terms; t++) {
			double old = r->time[t], down, gain;

			if (t == skip || old <= 0)
				continue;
			down = step_down(r, t);
			gain = r->c->weight[t] * (old - down);
			if (gain <= most)
				continue;
			set_time(r, t, down);
			if (!r->excess) {
				most = gain;
				best = t;
				to = down;
			}
			set_time(r, t, old);
		}
		if (best != LACE_NONE) {
			set_time(r, best, to);
			moved = true;
		}
	}
}

static bool trade_one(struct rounding *r, unsigned int term, double *value)
{
	size_t size = r->c->nr_terms * sizeof(*r->saved);

	memcpy(r->saved, r->time, size);
	for (unsigned int step = 0; step < TRADE_STEPS; step++) {
		double up = step_up(r, term), got;

		if (up == INFINITY)
			break;
		set_time(r, term, up);
		lower(r, term);
		got = value_of(r);
		if (got < *value * (1 - 1e-12) && !r->excess) {
			*value = got;
			return true;
		}
		/* A step further, with the others as they were. */
		for (unsigned int t = 0; t < r->c->nr_terms; t++)
			if (t != term && r->time[t] != r->saved[t])
				set_time(r, t, r->saved[t]);
	}
	set_all(r, r->saved);
	return false;
}

static void trade(struct rounding *r)
{
	double value = value_of(r);
	bool better = true;

	while (better && r->budget > 0) {
		better = false;
		for (unsigned int t = 0; t < r->c->nr_terms; t++)
			if (r->time[t] > 0 && trade_one(r, t, &value))
				better = true;
	}
}

static void from_start(struct rounding *r, const double *start)
{
	r->budget = WORK_BUDGET;
	for (unsigned int v = 0; v < r->c->nr_vars; v++)
		set_count(r, v, 1);
	for (unsigned int t = 0; t < r->c->nr_terms; t++)
		set_time(r, t, start[t]);
	if (!repair(r))
		return;
	lower(r, LACE_NONE);
	trade(r);
}

bool lace_counts_round(struct lace_counts *c, const double *start)
{
	struct rounding r = { .c = c };
	bool better = false;
	double value = 0;

	if (!rounding_init(&r)) {
		rounding_free(&r);
		return false;
	}
	for (unsigned int t = 0; t < c->nr_terms; t++)
		value += c->weight[t] * c->time[t];
	from_start(&r, start);
	c->work += WORK_BUDGET - r.budget;
	if (!r.excess && !(value_of(&r) >= value)) {
		memcpy(c->time, r.time, c->nr_terms * sizeof(*c->time));
		better = true;
	}
	rounding_free(&r);
	return better;
}
