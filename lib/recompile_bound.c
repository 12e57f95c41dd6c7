// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * A bound that takes little time: the programme over partitions of segment.c,
 * with the full bound of each op alone and, for ops that share a configuration,
 * what the lanes of a single node allow (algorithm.rst).
 */
#include "planner.h"
#include "repair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Needs looked at; beyond, ops that share a configuration cost what they cost
 * alone, which is a bound as well.
 */
#define BUDGET 2000000

struct bounder {
	struct lace_planner *planner;
	double *alone;			/* of each kind, once */
	double *repeat;			/* of each kind, in the period in hand */
	unsigned int *kinds, nr_kinds;	/* those with a repeat */
	double *heaviest;		/* of each pair: bits x repeats */
	unsigned int *chosen;		/* of each pair: the kind of those */
	double *sum;			/* of each row: TX of nodes, then RX */
	double *root;
	size_t work;
};

/* Counts each pair with the kind that asks most of it. */
static void choose(struct bounder *b)
{
	struct lace_planner *planner = b->planner;

	memset(b->heaviest, 0, planner->max_pairs * sizeof(*b->heaviest));
	for (unsigned int i = 0; i < b->nr_kinds; i++) {
		const struct lace_kind *k = &planner->kinds[b->kinds[i]];

		for (size_t n = 0; n < k->nr; n++) {
			unsigned int e = k->needs[n].pair;
			double w = k->needs[n].bits * b->repeat[b->kinds[i]];

			if (!lace_planner_must_have(planner, &k->needs[n]) ||
			    w <= b->heaviest[e])
				continue;
			b->heaviest[e] = w;
			b->chosen[e] = b->kinds[i];
		}
		b->work += k->nr;
	}
}

/* Roots of what each row sends in the kind, repeats included. */
static void add_roots(struct bounder *b, unsigned int kind)
{
	const struct lace_planner *planner = b->planner;
	const struct lace_kind *k = &planner->kinds[kind];
	unsigned int n = planner->nr_nodes;

	memset(b->sum, 0, 2 * (size_t)n * sizeof(*b->sum));
	for (size_t i = 0; i < k->nr; i++) {
		unsigned int e = k->needs[i].pair;
		const struct lace_between *p = &planner->pairs[e];

		if (!lace_planner_must_have(planner, &k->needs[i]) ||
		    b->chosen[e] != kind)
			continue;
		b->sum[p->src] += b->heaviest[e];
		b->sum[n + p->dst] += b->heaviest[e];
	}
	for (unsigned int row = 0; row < 2 * n; row++)
		b->root[row] += sqrt(b->sum[row]);
	b->work += k->nr + n;
}

static double row_bound(struct bounder *b)
{
	const struct lace_planner *planner = b->planner;
	unsigned int n = planner->nr_nodes;
	double bound = 0;

	choose(b);
	memset(b->root, 0, 2 * (size_t)n * sizeof(*b->root));
	for (unsigned int i = 0; i < b->nr_kinds; i++)
		add_roots(b, b->kinds[i]);
	for (unsigned int row = 0; row < 2 * n; row++) {
		double bps = row < n ? planner->tx_bps[row] :
				       planner->rx_bps[row - n];

		if (b->root[row] * b->root[row] > bound * bps)
			bound = b->root[row] * b->root[row] / bps;
	}
	return bound;
}

static double period_bound(struct bounder *b)
{
	double alone = 0, shared;

	for (unsigned int i = 0; i < b->nr_kinds; i++)
		alone += b->repeat[b->kinds[i]] * b->alone[b->kinds[i]];
	if (b->nr_kinds < 2 || b->work > BUDGET)
		return alone;
	shared = row_bound(b);
	return shared > alone ? shared : alone;
}

static void clear_period(struct bounder *b)
{
	while (b->nr_kinds)
		b->repeat[b->kinds[--b->nr_kinds]] = 0;
}

static void extend_period(struct bounder *b, unsigned int op)
{
	unsigned int kind = b->planner->op_kind[op];

	if (!(b->repeat[kind] > 0))
		b->kinds[b->nr_kinds++] = kind;
	b->repeat[kind] += (double)b->planner->demand->ops[op].repeat;
}

/* dead: starts that cannot win any more, as in segment.c. */
static void prefix_bound(struct bounder *b, unsigned int end, double *bound,
			 double *through, bool *dead)
{
	double reconfig = b->planner->cluster->reconfig_s;
	unsigned int first = end;

	for (unsigned int a = 0; a < end; a++)
		if (!dead[a]) {
			first = a;
			break;
		}
	clear_period(b);
	bound[end] = INFINITY;
	for (unsigned int a = end; a-- > first;) {
		extend_period(b, a);
		if (dead[a])
			continue;
		through[a] = (a ? bound[a] + reconfig : 0) + period_bound(b);
		if (through[a] < bound[end])
			bound[end] = through[a];
	}
	for (unsigned int a = first; a < end; a++)
		if (!dead[a] && through[a] >= bound[end] + reconfig)
			dead[a] = true;
}

static double run(struct bounder *b)
{
	struct lace_planner *planner = b->planner;
	unsigned int nr = planner->demand->nr_ops;
	double *bound = lace_planner_alloc(planner, (size_t)nr + 1,
					   sizeof(*bound));
	double *through = lace_planner_alloc(planner, (size_t)nr + 1,
					     sizeof(*through));
	bool *dead = lace_planner_alloc(planner, (size_t)nr + 1, sizeof(*dead));
	double least = 0;

	if (!planner->oom) {
		for (unsigned int k = 0; k < planner->nr_kinds; k++) {
			struct lace_term term = { .kind = k, .repeat = 1 };
			struct lace_period period = { .nr = 1, .terms = &term };

			if (planner->kinds[k].nr)
				b->alone[k] = lace_bound_period(planner,
								&period);
		}
		for (unsigned int end = 1; end <= nr; end++)
			prefix_bound(b, end, bound, through, dead);
		least = bound[nr];
	}
	free(bound);
	free(through);
	free(dead);
	return planner->oom ? 0 : least;
}

double lace_recompile_bound(struct lace_planner *planner)
{
	struct bounder b = { .planner = planner };
	size_t rows = 2 * (size_t)planner->nr_nodes;
	double bound = 0;

	b.alone = lace_planner_alloc(planner, planner->nr_kinds,
				     sizeof(*b.alone));
	b.repeat = lace_planner_alloc(planner, planner->nr_kinds,
				      sizeof(*b.repeat));
	b.kinds = lace_planner_alloc(planner, planner->nr_kinds,
				     sizeof(*b.kinds));
	b.heaviest = lace_planner_alloc(planner, planner->max_pairs,
					sizeof(*b.heaviest));
	b.chosen = lace_planner_alloc(planner, planner->max_pairs,
				      sizeof(*b.chosen));
	b.sum = lace_planner_alloc(planner, rows, sizeof(*b.sum));
	b.root = lace_planner_alloc(planner, rows, sizeof(*b.root));
	if (!planner->oom)
		bound = run(&b);
	free(b.alone);
	free(b.repeat);
	free(b.kinds);
	free(b.heaviest);
	free(b.chosen);
	free(b.sum);
	free(b.root);
	return bound;
}
