// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Local search over single circuits, for the cases where the counts were not
 * exact to begin with: pairs with a choice of links, and relayed data.  A pair
 * that an op waits for gets one more circuit, if need be at the cost of a
 * circuit that shares its lane.
 */
#include "realize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK_BUDGET 4000000
#define TRIES_MAX 3000

struct polish {
	struct lace_router *router;
	struct lace_planner *planner;
	const struct lace_period *period;
	struct lace_config *config;
	unsigned int *left;
	unsigned int *waiting, nr_waiting;	/* pairs some op waits for */
	bool *listed;
	unsigned int tries;
};

static void count_left(struct polish *p)
{
	const struct lace_planner *planner = p->planner;

	for (unsigned int k = 0; k < planner->nr_pools; k++)
		p->left[k] = planner->pools[k].size;
	for (unsigned int l = 0; l < planner->nr_links; l++) {
		p->left[planner->links[l].pool[0]] -= p->config->count[l];
		p->left[planner->links[l].pool[1]] -= p->config->count[l];
	}
}

static void shift(struct polish *p, unsigned int link, int nr)
{
	const struct lace_link *l = &p->planner->links[link];

	p->config->count[link] += nr;
	p->left[l->pool[0]] -= nr;
	p->left[l->pool[1]] -= nr;
}

static void list_waiting(struct polish *p)
{
	struct lace_router *router = p->router;

	p->nr_waiting = 0;
	memset(p->listed, 0, p->planner->max_pairs * sizeof(*p->listed));
	lace_router_set(router, p->config->count);
	for (unsigned int t = 0; t < p->period->nr; t++) {
		double time = lace_router_route(router,
						p->period->terms[t].kind);

		for (unsigned int e = 0; e < p->planner->nr_pairs; e++) {
			if (p->listed[e] || router->load[e] <= 0 ||
			    router->load[e] < time * (1 - 1e-9) *
						      router->capacity[e])
				continue;
			p->listed[e] = true;
			p->waiting[p->nr_waiting++] = e;
		}
	}
}

static bool improves(struct polish *p)
{
	double cost;

	if (!p->tries)
		return false;
	p->tries--;
	lace_router_set(p->router, p->config->count);
	cost = lace_router_cost(p->router, p->period, p->config->cost);
	if (cost >= p->config->cost * (1 - 1e-9))
		return false;
	p->config->cost = cost;
	return true;
}

/* A link other than mine that holds a lane of the pool; from is where to go on
 * looking.
 */
static unsigned int holder(const struct polish *p, unsigned int pool,
			   unsigned int mine, unsigned int from)
{
	for (unsigned int l = from; l < p->planner->nr_links; l++)
		if (l != mine && p->config->count[l] &&
		    (p->planner->links[l].pool[0] == pool ||
		     p->planner->links[l].pool[1] == pool))
			return l;
	return LACE_NONE;
}

/* One more circuit on link, taking the lanes that lack from others. */
static bool widen(struct polish *p, unsigned int link, unsigned int depth)
{
	const struct lace_link *l = &p->planner->links[link];
	unsigned int pool = p->left[l->pool[0]] ? l->pool[1] : l->pool[0];

	if (p->left[l->pool[0]] && p->left[l->pool[1]]) {
		shift(p, link, 1);
		if (improves(p))
			return true;
		shift(p, link, -1);
		return false;
	}
	if (depth == 2)
		return false;
	for (unsigned int o = holder(p, pool, link, 0); o != LACE_NONE;
	     o = holder(p, pool, link, o + 1)) {
		shift(p, o, -1);
		if (widen(p, link, depth + 1))
			return true;
		shift(p, o, 1);
	}
	return false;
}

static bool step(struct polish *p)
{
	list_waiting(p);
	for (unsigned int i = 0; i < p->nr_waiting; i++) {
		const struct lace_between *b =
			&p->planner->pairs[p->waiting[i]];

		for (unsigned int l = b->first_link;
		     l < b->first_link + b->nr_links; l++)
			if (widen(p, l, 0))
				return true;
	}
	return false;
}

void lace_realize_polish(struct lace_router *router,
			 const struct lace_period *period,
			 struct lace_config *config)
{
	struct lace_planner *planner = router->planner;
	struct polish p = { .router = router, .planner = planner,
			    .period = period, .config = config };
	size_t work = (size_t)(planner->nr_pairs + 1) * (period->nr + 1) *
		      (1 + planner->nr_nodes / 8);

	if (config->cost == INFINITY ||
	    (planner->simple && planner->cluster->relay != LACE_RELAY_DATA))
		return;
	p.tries = WORK_BUDGET / work > TRIES_MAX ? TRIES_MAX :
						   WORK_BUDGET / work;
	p.left = lace_planner_alloc(planner, planner->nr_pools,
				    sizeof(*p.left));
	p.waiting = lace_planner_alloc(planner, planner->max_pairs,
				       sizeof(*p.waiting));
	p.listed = lace_planner_alloc(planner, planner->max_pairs,
				      sizeof(*p.listed));
	if (!planner->oom) {
		count_left(&p);
		while (p.tries && step(&p))
			;
	}
	free(p.left);
	free(p.waiting);
	free(p.listed);
}
