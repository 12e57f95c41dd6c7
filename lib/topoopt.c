// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The published greedy for one-shot topologies (TopoOpt): a pair of nodes
 * weighs what its busier direction sends, all ops together; the heaviest pair
 * gets a duplex circuit and half its weight is gone; until no two free ports
 * can be joined.  Where that leaves demand without a path, every pair with
 * demand gets one circuit first.
 */
#include "compile.h"

#include <stdlib.h>
#include <string.h>

struct greedy {
	struct lace_planner planner;
	unsigned int *left;	/* ports of each pool */
	double *sent;		/* bits of each ordered pair */
	double *weight;		/* of each link's pair, at its first link */
	uint16_t *count;
};

static void weigh(struct greedy *g)
{
	struct lace_planner *p = &g->planner;

	for (unsigned int o = 0; o < p->demand->nr_ops; o++) {
		const struct lace_kind *k = &p->kinds[p->op_kind[o]];

		for (size_t i = 0; i < k->nr; i++)
			g->sent[k->needs[i].pair] +=
				(double)p->demand->ops[o].repeat *
				k->needs[i].bits;
	}
}

static void restart(struct greedy *g)
{
	struct lace_planner *p = &g->planner;

	memset(g->count, 0, p->max_links * sizeof(*g->count));
	memset(g->weight, 0, p->max_links * sizeof(*g->weight));
	for (unsigned int k = 0; k < p->nr_pools; k++)
		g->left[k] = p->pools[k].size;
	for (unsigned int e = 0; e < p->nr_pairs; e++) {
		double *w = &g->weight[p->pairs[e].first_link];

		if (p->pairs[e].nr_links && g->sent[e] > *w)
			*w = g->sent[e];
	}
}

/* A duplex circuit for the pair whose first link this is. */
static bool grant(struct greedy *g, unsigned int first)
{
	struct lace_planner *p = &g->planner;
	const struct lace_between *pair =
		&p->pairs[p->links[first].pair[0]];

	for (unsigned int l = first; l < first + pair->nr_links; l++) {
		if (!g->left[p->links[l].pool[0]] ||
		    !g->left[p->links[l].pool[1]])
			continue;
		g->left[p->links[l].pool[0]]--;
		g->left[p->links[l].pool[1]]--;
		g->count[l]++;
		g->weight[first] /= 2;
		return true;
	}
	g->weight[first] = 0;
	return false;
}

static void halve(struct greedy *g)
{
	for (;;) {
		unsigned int best = 0;

		for (unsigned int l = 1; l < g->planner.nr_links; l++)
			if (g->weight[l] > g->weight[best])
				best = l;
		if (!g->planner.nr_links || !(g->weight[best] > 0))
			break;
		grant(g, best);
	}
}

static void one_each(struct greedy *g)
{
	for (unsigned int l = 0; l < g->planner.nr_links; l++)
		if (g->weight[l] > 0)
			grant(g, l);
}

static int build(struct greedy *g, struct lace_plan *plan,
		 struct lace_error *err)
{
	int ret;

	weigh(g);
	restart(g);
	halve(g);
	ret = lace_compile_fixed(&g->planner, g->count, plan, err);
	if (!ret || err->kind != LACE_ERR_ANSWER)
		return ret;
	lace_plan_free(plan);
	restart(g);
	one_each(g);
	halve(g);
	return lace_compile_fixed(&g->planner, g->count, plan, err);
}

int lace_compile_topoopt(const struct lace_cluster *cluster,
			 const struct lace_demand *demand,
			 struct lace_plan *plan, struct lace_error *err)
{
	struct greedy g = { 0 };
	int ret = -1;

	if (lace_planner_create(cluster, demand, true, &g.planner, err))
		return -1;
	g.left = lace_planner_alloc(&g.planner, g.planner.nr_pools,
				    sizeof(*g.left));
	g.sent = lace_planner_alloc(&g.planner, g.planner.max_pairs,
				    sizeof(*g.sent));
	g.weight = lace_planner_alloc(&g.planner, g.planner.max_links,
				      sizeof(*g.weight));
	g.count = lace_planner_alloc(&g.planner, g.planner.max_links,
				     sizeof(*g.count));
	if (g.planner.oom)
		lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	else
		ret = build(&g, plan, err);
	free(g.left);
	free(g.sent);
	free(g.weight);
	free(g.count);
	lace_planner_free(&g.planner);
	if (!ret)
		ret = lace_compile_bound(cluster, demand, false, &plan->bound_s,
					 err);
	if (ret)
		lace_plan_free(plan);
	return ret;
}
