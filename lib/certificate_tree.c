// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Finds the steps of one proof: that ops under one configuration take some
 * time.  A tree over the times goes the way of the search of
 * realize_counts.c: from the least time of each op that the rows leave it,
 * through the values of the first op upwards, for each through those of the
 * second, and so on; it ends where the times add up to the claim, or what
 * control crosses does.  Where a tree would be large, shares and prices of the
 * relaxation (relax.h) are tried.
 */
#include "certificate.h"
#include "relax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Splits stand a little below the times that they are about, so that rounding
 * cannot move one to the other side.
 */
#define BELOW (1 - 1e-11)
#define SAME (1 + 5e-11)

#define FEW_STEPS 48		/* a tree that is smaller than shares */
#define MANY_STEPS 40000
#define RELAX_TOLERANCE 1e-9	/* as for the bounds */

struct tree {
	struct lace_box *box;
	double claim;
	unsigned int max_steps;
	bool oom;
	unsigned int *base;		/* of each depth, circuits of each var */
	unsigned int nr, max;
	struct lace_proof_step *steps;
};

/* ---- steps ---- */

static struct lace_proof_step *add_step(struct tree *tree,
					enum lace_proof_kind kind)
{
	if (tree->nr == tree->max) {
		unsigned int max = 2 * tree->max + 8;
		void *grown = realloc(tree->steps, max * sizeof(*tree->steps));

		if (!grown) {
			tree->oom = true;
			return NULL;
		}
		tree->steps = grown;
		tree->max = max;
	}
	tree->steps[tree->nr] = (struct lace_proof_step){ .kind = kind };
	return &tree->steps[tree->nr++];
}

static bool add_split(struct tree *tree, unsigned int term, double time)
{
	const struct lace_planner *p = tree->box->planner;
	struct lace_proof_step *step = add_step(tree, LACE_PROOF_SPLIT);

	if (!step)
		return false;
	step->op = p->kinds[tree->box->period.terms[term].kind].first_op;
	step->time = time;
	return true;
}

static bool add_full(struct tree *tree)
{
	struct lace_proof_step *step;
	unsigned int row = 0;

	while (row < tree->box->counts.nr_rows &&
	       !lace_box_is_full(tree->box, row))
		row++;
	if (row == tree->box->counts.nr_rows)
		return false;
	step = add_step(tree, LACE_PROOF_FULL);
	if (step)
		step->row = row;
	return step;
}

static double *copy(const double *numbers, size_t nr)
{
	double *mem = malloc(nr * sizeof(*mem) + 1);

	if (mem && nr)
		memcpy(mem, numbers, nr * sizeof(*mem));
	return mem;
}

static void clear(struct tree *tree)
{
	for (unsigned int i = 0; i < tree->nr; i++) {
		free(tree->steps[i].prices);
		free(tree->steps[i].shares);
	}
	tree->nr = 0;
}

/* ---- leaves ---- */

/* The price that makes most of the crossings of a term. */
static double best_price(struct tree *tree, unsigned int term, double *time)
{
	double best = 0;

	*time = 0;
	for (const unsigned int *p = lace_crossing_prices; *p != LACE_NONE;
	     p++) {
		double t = lace_box_cross(tree->box, term, *p);

		if (t > *time) {
			*time = t;
			best = *p;
		}
	}
	return best;
}

static bool add_crossing(struct tree *tree)
{
	struct lace_box *box = tree->box;
	struct lace_proof_step *step;
	double sum = 0, time;

	if (!lace_box_has_crossing(box) || lace_box_prepare_crossing(box))
		return false;
	step = add_step(tree, LACE_PROOF_CROSSING);
	if (!step)
		return false;
	step->nr_prices = box->period.nr;
	step->prices = calloc((size_t)box->period.nr + 1,
			      sizeof(*step->prices));
	if (!step->prices) {
		tree->oom = true;
		return false;
	}
	for (unsigned int t = 0; t < box->period.nr; t++) {
		step->prices[t] = best_price(tree, t, &time);
		sum += box->period.terms[t].repeat * time;
	}
	return sum >= tree->claim;
}

static bool add_dual(struct tree *tree)
{
	const struct lace_counts *c = &tree->box->counts;
	struct lace_proof_step *step;
	struct lace_relax relax;
	bool enough;

	if (lace_relax_solve(c, RELAX_TOLERANCE, &relax)) {
		tree->oom = true;
		return false;
	}
	enough = relax.value < INFINITY &&
		 lace_box_dual(tree->box, relax.share, relax.price) >=
			 tree->claim;
	step = enough ? add_step(tree, LACE_PROOF_DUAL) : NULL;
	if (step) {
		step->nr_shares = c->first[c->nr_terms];
		step->shares = copy(relax.share, step->nr_shares);
		step->nr_prices = c->nr_rows;
		step->prices = copy(relax.price, c->nr_rows);
		tree->oom |= !step->shares || !step->prices;
	}
	lace_relax_free(&relax);
	return step && !tree->oom;
}

/* ---- the tree ---- */

/* From where the box is: no term from term on is below its least time. */
static bool raise_rest(struct tree *tree, unsigned int term,
		       const unsigned int *base, double *least, bool *ended)
{
	struct lace_box *box = tree->box;

	for (unsigned int t = term; t < box->period.nr; t++) {
		double time = lace_counts_least_time(&box->counts, t, base);
		double hi = box->hi[t];
		bool added;

		if (t == term)
			*least = time;
		*ended = time == INFINITY;
		if (*ended)
			return add_full(tree);
		if (time * BELOW <= box->lo[t] * SAME)
			continue;
		box->hi[t] = fmin(hi, time * BELOW);
		added = add_split(tree, t, time * BELOW) && add_full(tree);
		box->hi[t] = hi;
		if (!added)
			return false;
		box->lo[t] = time * BELOW;
	}
	*ended = lace_box_sum(box) >= tree->claim;
	return !*ended || add_step(tree, LACE_PROOF_SUM);
}

static bool grow(struct tree *tree, unsigned int term);

/* The times of a term upwards, those of the later ones within each. */
static bool climb(struct tree *tree, unsigned int term, double time)
{
	struct lace_box *box = tree->box;
	unsigned int *base = tree->base + (size_t)term * box->counts.nr_vars;
	unsigned int *next_base = base + box->counts.nr_vars;

	for (;;) {
		double next = time > 0 ? lace_counts_step_up(&box->counts, term,
							     time) : INFINITY;

		if (tree->nr > tree->max_steps)
			return false;
		if (next * BELOW <= box->lo[term]) {
			time = next;
			continue;
		}
		memcpy(next_base, base, box->counts.nr_vars * sizeof(*base));
		if (time > 0)
			lace_counts_raise(&box->counts, term, time, base,
					  next_base);
		if (next == INFINITY)
			return grow(tree, term + 1);
		if (!add_split(tree, term, next * BELOW))
			return false;
		box->hi[term] = next * BELOW;
		if (!grow(tree, term + 1))
			return false;
		box->hi[term] = INFINITY;
		box->lo[term] = next * BELOW;
		time = next;
		if (lace_box_sum(box) >= tree->claim)
			return add_step(tree, LACE_PROOF_SUM);
	}
}

/* Steps for the box as it stands; it stands so again afterwards. */
static bool grow(struct tree *tree, unsigned int term)
{
	struct lace_box *box = tree->box;
	unsigned int nr = box->period.nr;
	double *lo = copy(box->lo, nr), time = 0;
	bool ended = false, done;

	if (!lo) {
		tree->oom = true;
		return false;
	}
	done = raise_rest(tree, term,
			  tree->base + (size_t)term * box->counts.nr_vars,
			  &time, &ended);
	if (done && !ended)
		done = term < nr ? climb(tree, term, time) : add_crossing(tree);
	memcpy(box->lo, lo, nr * sizeof(*lo));
	free(lo);
	return done;
}

static bool grow_from_root(struct tree *tree, unsigned int max_steps)
{
	struct lace_box *box = tree->box;

	clear(tree);
	tree->max_steps = max_steps;
	for (unsigned int v = 0; v < box->counts.nr_vars; v++)
		tree->base[v] = 1;
	if (grow(tree, 0))
		return true;
	for (unsigned int t = 0; t < box->period.nr; t++)
		box->hi[t] = INFINITY;
	return false;
}

static bool find_steps(struct tree *tree)
{
	if (tree->box->impossible)
		return add_step(tree, LACE_PROOF_SUM);
	if (grow_from_root(tree, FEW_STEPS))
		return true;
	clear(tree);
	if (!tree->oom && tree->box->period.nr > 1 && add_dual(tree))
		return true;
	return !tree->oom && grow_from_root(tree, MANY_STEPS);
}

int lace_proof_find(struct lace_box *box, struct lace_proof *proof)
{
	size_t width = (size_t)box->counts.nr_vars + 1;
	unsigned int *base = calloc((box->period.nr + 1) * width,
				    sizeof(*base));
	struct tree tree = { .box = box, .claim = proof->at_least,
			     .base = base };
	bool found;

	if (!base)
		return -1;
	found = find_steps(&tree);
	free(base);
	if (found) {
		proof->steps = tree.steps;
		proof->nr_steps = tree.nr;
		return 0;
	}
	clear(&tree);
	free(tree.steps);
	return tree.oom ? -1 : 1;
}
