// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The convex relaxation of a period, for periods of more ops than can be
 * searched.  What a var needs for a time is made convex between whole circuits,
 * so that every row is a convex function of the times alone.  Where the line
 * from the times of the cuts so far to the best times known to fit enters what
 * a row allows, the row is cut along its tangent, and a linear programme over
 * the cuts (relax_lp.c) gives the next times.  Its multipliers, spread over the
 * entries that a tangent leans on, are the dual that relax.h describes.
 *
 * Times are kept as multiples of those that one circuit for each var reaches.
 * Nothing here depends on more of libm than sqrt and floor.
 */
#include "relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 120
#define WORK_BUDGET 2e8		/* entries looked at, and steps of pivots */
#define NEWTON_STEPS 80
#define FITS 1e-11		/* of a row */
#define NEAREST 1e-9		/* times closer to zero are not looked at */

struct work {
	const struct lace_counts *c;
	double *unit;			/* of each term */
	double *time;			/* of each entry, in its unit */
	unsigned int *term;		/* of each entry */
	size_t *entry_of, *first_entry;	/* entries of each var */
	unsigned int *var_of, *first_var;	/* vars of each row, */
	unsigned int *mult;		/* and how often each counts */
	double *in, *out;		/* times that fit; that the cuts allow */
	double *at, *slope;
	struct lace_cuts cuts;
	unsigned int worst;		/* row, of last time */
	double budget;
};

/* ---- h and the bound ---- */

double lace_relax_least(double c, double u)
{
	double m, best;

	if (u <= 0)
		return 0;
	m = floor((1 + sqrt(1 + 4 * (c / u))) / 2);
	if (!(m >= 1))
		m = 1;
	best = c / m + u * m;
	/* Where rounding moved m by one, a neighbour is as good. */
	if (c / (m + 1) + u * (m + 1) < best)
		best = c / (m + 1) + u * (m + 1);
	if (m > 1 && c / (m - 1) + u * (m - 1) < best)
		best = c / (m - 1) + u * (m - 1);
	return best;
}

double lace_relax_value(const struct lace_counts *c, const double *share,
			const double *price)
{
	double *weight = calloc((size_t)c->nr_vars + 1, sizeof(*weight));
	double value = 0;

	if (!weight)
		return 0;
	for (unsigned int t = 0; t < c->nr_terms; t++)
		for (size_t i = c->first[t]; i < c->first[t + 1]; i++)
			weight[c->entries[i].var] += c->weight[t] * share[i] *
						     c->entries[i].time;
	for (unsigned int v = 0; v < c->nr_vars; v++) {
		const struct lace_counts_var *var = &c->vars[v];

		value += lace_relax_least(weight[v],
					  var->mult[0] * price[var->row[0]] +
					  var->mult[1] * price[var->row[1]]);
	}
	for (unsigned int r = 0; r < c->nr_rows; r++)
		value -= price[r] * c->size[r];
	free(weight);
	return value;
}

/* ---- the problem by rows ---- */

static bool alloc_work(struct work *w, size_t nr_entries)
{
	const struct lace_counts *c = w->c;
	size_t k = (size_t)c->nr_terms + 1;

	w->unit = calloc(5 * k, sizeof(*w->unit));
	w->in = w->unit + k;
	w->out = w->in + k;
	w->at = w->out + k;
	w->slope = w->at + k;
	w->time = calloc(nr_entries + 1, sizeof(*w->time));
	w->term = calloc(nr_entries + 1, sizeof(*w->term));
	w->entry_of = calloc(nr_entries + 1, sizeof(*w->entry_of));
	w->first_entry = calloc((size_t)c->nr_vars + 2, sizeof(size_t));
	w->first_var = calloc((size_t)c->nr_rows + 2, sizeof(unsigned int));
	w->var_of = calloc(2 * (size_t)c->nr_vars + 1, sizeof(unsigned int));
	w->mult = calloc(2 * (size_t)c->nr_vars + 1, sizeof(unsigned int));
	return w->unit && w->time && w->term && w->entry_of && w->first_entry &&
	       w->first_var && w->var_of && w->mult &&
	       !lace_cuts_create(&w->cuts, c->nr_terms);
}

static void free_work(struct work *w)
{
	free(w->unit);
	free(w->time);
	free(w->term);
	free(w->entry_of);
	free(w->first_entry);
	free(w->first_var);
	free(w->var_of);
	free(w->mult);
	lace_cuts_free(&w->cuts);
}

static void fill_entries(struct work *w)
{
	const struct lace_counts *c = w->c;
	size_t *first = w->first_entry;

	for (unsigned int t = 0; t < c->nr_terms; t++) {
		w->unit[t] = 0;
		for (size_t i = c->first[t]; i < c->first[t + 1]; i++)
			if (c->entries[i].time > w->unit[t])
				w->unit[t] = c->entries[i].time;
		for (size_t i = c->first[t]; i < c->first[t + 1]; i++) {
			w->term[i] = t;
			w->time[i] = w->unit[t] > 0 ?
				c->entries[i].time / w->unit[t] : 0;
			first[c->entries[i].var + 2]++;
		}
	}
	for (unsigned int v = 0; v < c->nr_vars; v++)
		first[v + 2] += first[v + 1];
	for (size_t i = 0; i < c->first[c->nr_terms]; i++)
		w->entry_of[first[c->entries[i].var + 1]++] = i;
}

static void fill_rows(struct work *w)
{
	const struct lace_counts *c = w->c;
	unsigned int *first = w->first_var;

	for (unsigned int v = 0; v < c->nr_vars; v++)
		for (unsigned int d = 0; d < 2; d++)
			first[c->vars[v].row[d] + 2]++;
	for (unsigned int r = 0; r < c->nr_rows; r++)
		first[r + 2] += first[r + 1];
	for (unsigned int v = 0; v < c->nr_vars; v++) {
		for (unsigned int d = 0; d < 2; d++) {
			unsigned int at = first[c->vars[v].row[d] + 1]++;

			w->var_of[at] = v;
			w->mult[at] = c->vars[v].mult[d];
		}
	}
}

/*
 * Circuits that bring an entry of this time down to T, made convex: between
 * time / (m + 1) and time / m they fall by one in a straight line.  Returns the
 * steepness, circuits for each unit of T.
 */
static double circuits(double time, double t, double *nr)
{
	double m;

	*nr = 1;
	if (t > time)
		return 0;
	m = floor(time / t);
	*nr = m + (m + 1) * (1 - m * t / time);
	if (*nr < 1)
		*nr = 1;
	return m * (m + 1) / time;
}

/* The entry that asks for most circuits of the var at times t. */
static double most_circuits(const struct work *w, unsigned int var,
			    const double *t, size_t *entry, double *steepness)
{
	double most = 1;

	*entry = SIZE_MAX;
	for (size_t e = w->first_entry[var]; e < w->first_entry[var + 1]; e++) {
		size_t i = w->entry_of[e];
		double nr, s;

		s = circuits(w->time[i], t[w->term[i]], &nr);
		if (s > 0 && (nr > most || *entry == SIZE_MAX)) {
			most = nr > most ? nr : most;
			*entry = i;
			*steepness = s;
		}
	}
	return most;
}

/* Lanes that row r lacks at times t, and the slope of the tangent there (what
 * it gains for each unit of T).
 */
static double lacks(struct work *w, unsigned int r, const double *t)
{
	double lack = -(double)w->c->size[r];

	memset(w->slope, 0, w->c->nr_terms * sizeof(*w->slope));
	for (unsigned int k = w->first_var[r]; k < w->first_var[r + 1]; k++) {
		double s = 0;
		size_t i;

		lack += w->mult[k] *
			most_circuits(w, w->var_of[k], t, &i, &s);
		if (i != SIZE_MAX)
			w->slope[w->term[i]] += w->mult[k] * s;
		w->budget -= 1 + w->first_entry[w->var_of[k] + 1] -
			     w->first_entry[w->var_of[k]];
	}
	return lack;
}

/* ---- cuts ---- */

static bool is_new(const struct lace_cuts *cuts, unsigned int since)
{
	unsigned int n = cuts->width;
	const double *mine = cuts->slope + (size_t)cuts->nr * n;

	if (cuts->nr > since + 8)
		since = cuts->nr - 8;
	for (unsigned int j = since; j < cuts->nr; j++) {
		const double *other = cuts->slope + (size_t)j * n;
		double off = fabs(cuts->rhs[j] / cuts->rhs[cuts->nr] - 1);
		unsigned int k = 0;

		while (k < n && off < 1e-9) {
			off = fabs(other[k] - mine[k]) /
			      (fabs(other[k]) + fabs(mine[k]) + 1e-300);
			k++;
		}
		if (off < 1e-9)
			return false;
	}
	return true;
}

/* at: so far along the line from out to in. */
static void go_along(struct work *w, double far)
{
	for (unsigned int t = 0; t < w->c->nr_terms; t++)
		w->at[t] = w->out[t] + far * (w->in[t] - w->out[t]);
}

/*
 * Follows the line from out to in until row r fits, by Newton's method: from
 * where it does not fit the tangents of a convex function end before it does.
 * The last tangent is the cut.  Returns how far along the line that is; rows
 * that fit at least so far are passed over, for others are in the way.
 */
static double cut_row(struct work *w, unsigned int r, unsigned int since,
		      double least)
{
	unsigned int n = w->c->nr_terms;
	struct lace_cuts *cuts = &w->cuts;
	double far = 0, lack;
	double *slope, *where;

	if (least > 0) {
		go_along(w, least);
		if (lacks(w, r, w->at) <= FITS * w->c->size[r])
			return 0;
	}
	lack = lacks(w, r, w->out);
	if (lack <= FITS * w->c->size[r])
		return 0;
	if (!lace_cuts_reserve(cuts))
		return -1;
	slope = cuts->slope + (size_t)cuts->nr * n;
	where = cuts->where + (size_t)cuts->nr * n;
	memcpy(w->at, w->out, n * sizeof(*w->at));
	for (unsigned int step = 0; step < NEWTON_STEPS; step++) {
		double along = 0, rhs = lack;

		for (unsigned int t = 0; t < n; t++) {
			along += w->slope[t] * (w->in[t] - w->out[t]);
			rhs += w->slope[t] * w->at[t];
		}
		memcpy(slope, w->slope, n * sizeof(*slope));
		memcpy(where, w->at, n * sizeof(*where));
		cuts->rhs[cuts->nr] = rhs;
		if (!(along > 0))
			break;
		far += lack / along;
		if (far >= 1) {
			far = 1;
			break;
		}
		go_along(w, far);
		lack = lacks(w, r, w->at);
		if (lack <= FITS * w->c->size[r])
			break;
	}
	cuts->row[cuts->nr] = r;
	if (cuts->rhs[cuts->nr] > 0 && is_new(cuts, since))
		cuts->nr++;
	return far;
}

/* Cuts every row that the times of the programme do not fit; the best times
 * that fit come closer.  False without memory or without a cut.
 */
static bool cut_all(struct work *w)
{
	unsigned int since = w->cuts.nr, n = w->c->nr_terms;
	unsigned int worst = w->worst;
	/* Many rows for few times: most are not in the way. */
	bool sparing = w->c->nr_rows > 4 * n;
	double far = 0;

	for (unsigned int r = 0; r < w->c->nr_rows; r++) {
		double row = cut_row(w, (w->worst + r) % w->c->nr_rows, since,
				     sparing ? far : 0);

		if (row < 0)
			return false;
		if (row > far) {
			far = row;
			worst = (w->worst + r) % w->c->nr_rows;
		}
	}
	w->worst = worst;
	for (unsigned int t = 0; t < n; t++)
		w->in[t] = w->out[t] + far * (w->in[t] - w->out[t]);
	return w->cuts.nr > since;
}

static double value_of(const struct work *w, const double *time)
{
	double value = 0;

	for (unsigned int t = 0; t < w->c->nr_terms; t++)
		value += w->cuts.w[t] * time[t];
	return value;
}

/*
 * First cuts: along the line to zero times, from times in the proportion that
 * is best if every term had its fullest row for itself.
 */
static void start(struct work *w)
{
	unsigned int n = w->c->nr_terms;
	double scale = 0, *sum = w->slope;

	for (unsigned int t = 0; t < n; t++)
		w->cuts.w[t] = w->c->weight[t] * w->unit[t];
	memset(w->at, 0, n * sizeof(*w->at));
	for (unsigned int r = 0; r < w->c->nr_rows; r++) {
		memset(sum, 0, n * sizeof(*sum));
		for (unsigned int k = w->first_var[r]; k < w->first_var[r + 1];
		     k++) {
			unsigned int v = w->var_of[k];

			for (size_t e = w->first_entry[v];
			     e < w->first_entry[v + 1]; e++)
				sum[w->term[w->entry_of[e]]] += w->mult[k] *
					w->time[w->entry_of[e]];
		}
		for (unsigned int t = 0; t < n; t++)
			if (sum[t] > w->at[t])
				w->at[t] = sum[t];
	}
	for (unsigned int t = 0; t < n; t++) {
		w->in[t] = w->cuts.w[t] > 0 ? sqrt(w->at[t] / w->cuts.w[t]) : 1;
		if (w->in[t] <= 0)
			w->in[t] = 1;
		if (scale * w->in[t] < 1)
			scale = 1 / w->in[t];
	}
	for (unsigned int t = 0; t < n; t++) {
		w->in[t] *= scale;
		w->out[t] = w->in[t] / 64;
	}
}

/* Times of the programme, kept off zero, where no row ever fits. */
static void take_times(struct work *w)
{
	for (unsigned int t = 0; t < w->c->nr_terms; t++) {
		w->out[t] = w->cuts.x[t];
		if (w->out[t] < NEAREST * w->in[t])
			w->out[t] = NEAREST * w->in[t];
	}
}

/* ---- the dual ---- */

/* Spreads one cut's multiplier over the entries that its tangent leans on. */
static void spread(struct work *w, unsigned int cut, double y, double *share,
		   double *price)
{
	const double *where = w->cuts.where + (size_t)cut * w->c->nr_terms;
	unsigned int r = w->cuts.row[cut];

	price[r] += y;
	for (unsigned int k = w->first_var[r]; k < w->first_var[r + 1]; k++) {
		double s = 0;
		size_t i;

		most_circuits(w, w->var_of[k], where, &i, &s);
		if (i != SIZE_MAX)
			share[i] += y * w->mult[k] * s;
	}
}

static void even_out(struct work *w, double *share)
{
	const struct lace_counts *c = w->c;

	for (unsigned int t = 0; t < c->nr_terms; t++) {
		size_t largest = c->first[t];
		double sum = 0;

		for (size_t i = c->first[t]; i < c->first[t + 1]; i++) {
			sum += share[i];
			if (w->time[i] > w->time[largest])
				largest = i;
		}
		if (sum <= 0 && c->first[t] < c->first[t + 1])
			share[largest] = sum = 1;
		for (size_t i = c->first[t]; i < c->first[t + 1]; i++)
			share[i] /= sum;
	}
}

static void make_dual(struct work *w, struct lace_relax *relax)
{
	for (unsigned int i = 0; i < w->cuts.width; i++)
		if (w->cuts.basis[i] < w->cuts.nr && w->cuts.y[i] > 0)
			spread(w, w->cuts.basis[i], w->cuts.y[i], relax->share,
			       relax->price);
	even_out(w, relax->share);
	relax->value = lace_relax_value(w->c, relax->share, relax->price);
	if (relax->value < 0)
		relax->value = 0;
}

/* ---- in and out ---- */

static bool ones_fit(const struct work *w)
{
	const struct lace_counts *c = w->c;

	for (unsigned int r = 0; r < c->nr_rows; r++) {
		unsigned long sum = 0;

		for (unsigned int k = w->first_var[r]; k < w->first_var[r + 1];
		     k++)
			sum += w->mult[k];
		if (sum > c->size[r])
			return false;
	}
	return true;
}

static void improve(struct work *w, double tolerance, struct lace_relax *relax)
{
	unsigned int n = w->c->nr_terms;

	start(w);
	while (cut_all(w)) {
		double upper = value_of(w, w->in);

		w->budget -= (double)n * w->cuts.nr;
		lace_cuts_solve(&w->cuts, 20 * n + 100);
		relax->rounds++;
		if (upper - w->cuts.value <= tolerance * upper ||
		    relax->rounds >= ROUNDS || w->budget < 0)
			break;
		take_times(w);
	}
}

static bool alloc_relax(struct lace_relax *relax, const struct lace_counts *c)
{
	*relax = (struct lace_relax){ 0 };
	relax->share = calloc(c->first[c->nr_terms] + 1, sizeof(double));
	relax->price = calloc((size_t)c->nr_rows + 1, sizeof(double));
	relax->time = calloc((size_t)c->nr_terms + 1, sizeof(double));
	return relax->share && relax->price && relax->time;
}

int lace_relax_solve(const struct lace_counts *counts, double tolerance,
		     struct lace_relax *relax)
{
	struct work w = { .c = counts, .budget = WORK_BUDGET };
	int ret = -1;

	if (alloc_relax(relax, counts) &&
	    alloc_work(&w, counts->first[counts->nr_terms])) {
		fill_entries(&w);
		fill_rows(&w);
		if (ones_fit(&w)) {
			improve(&w, tolerance, relax);
			make_dual(&w, relax);
			relax->upper = value_of(&w, w.in);
		} else {
			relax->value = relax->upper = INFINITY;
		}
		for (unsigned int t = 0; t < counts->nr_terms; t++)
			relax->time[t] = w.in[t] * w.unit[t];
		relax->work = WORK_BUDGET - w.budget;
		ret = 0;
	}
	free_work(&w);
	if (ret)
		lace_relax_free(relax);
	return ret;
}

void lace_relax_free(struct lace_relax *relax)
{
	free(relax->share);
	free(relax->price);
	free(relax->time);
	*relax = (struct lace_relax){ 0 };
}
