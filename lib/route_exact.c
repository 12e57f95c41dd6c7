// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Search of all sets of routes, for networks so small that it ends: depth first
 * over the pairs, for each over its simple paths, cut where a hop is as full as
 * the best set's fullest.
 */
#include "route.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NODES LACE_ROUTE_EXACT_NODES
#define MAX_ROUTED 24
#define STEP_BUDGET 20000

struct search {
	struct lace_router *router;
	double floor, best;
	unsigned int steps;
	unsigned int nr[MAX_ROUTED];
	unsigned int path[MAX_ROUTED][MAX_NODES];
	unsigned int best_nr[MAX_ROUTED];
	unsigned int best_path[MAX_ROUTED][MAX_NODES];
};

static void next_pair(struct search *s, unsigned int index, double time);

static void keep(struct search *s, double time)
{
	s->best = time;
	memcpy(s->best_nr, s->nr, sizeof(s->nr));
	memcpy(s->best_path, s->path, sizeof(s->path));
}

static void walk(struct search *s, unsigned int index, unsigned int at,
		 unsigned int seen, double time)
{
	struct lace_router *router = s->router;
	const struct lace_planner *planner = router->planner;
	double bits = router->routed[index].bits;
	unsigned int goal = planner->pairs[router->routed[index].pair].dst;

	if (++s->steps > STEP_BUDGET)
		return;
	if (at == goal) {
		next_pair(s, index + 1, time);
		return;
	}
	for (unsigned int e = router->out_head[at]; e != LACE_NONE;
	     e = router->out_next[e]) {
		unsigned int j = planner->pairs[e].dst;
		double hop = (router->load[e] + bits) / router->capacity[e];

		if (seen & 1u << j || hop >= s->best * (1 - 1e-12))
			continue;
		router->load[e] += bits;
		s->path[index][s->nr[index]++] = e;
		walk(s, index, j, seen | 1u << j, hop > time ? hop : time);
		s->nr[index]--;
		router->load[e] -= bits;
		if (time >= s->best * (1 - 1e-12) ||
		    s->best <= s->floor * (1 + 1e-12))
			return;
	}
}

static void next_pair(struct search *s, unsigned int index, double time)
{
	const struct lace_between *p;

	if (index == s->router->nr_routed) {
		keep(s, time);
		return;
	}
	p = &s->router->planner->pairs[s->router->routed[index].pair];
	s->nr[index] = 0;
	walk(s, index, p->src, 1u << p->src, time);
}

double lace_router_route_exact(struct lace_router *router, double floor,
			       double time)
{
	struct search s = { .router = router, .floor = floor, .best = time };
	unsigned int nr = router->nr_routed;

	if (router->planner->nr_nodes > MAX_NODES || nr > MAX_ROUTED)
		return time;
	for (unsigned int i = 0; i < nr; i++)
		lace_router_load(router, &router->routed[i], -1);
	next_pair(&s, 0, floor);
	router->nr_hops = s.best < time ? 0 : router->nr_hops;
	if (s.best < time && lace_router_reserve(router, nr * MAX_NODES)) {
		for (unsigned int i = 0; i < nr; i++) {
			struct lace_routed *routed = &router->routed[i];

			routed->first = router->nr_hops;
			routed->nr = s.best_nr[i];
			memcpy(router->hops + routed->first, s.best_path[i],
			       routed->nr * sizeof(*router->hops));
			router->nr_hops += routed->nr;
		}
	}
	for (unsigned int i = 0; i < nr; i++)
		lace_router_load(router, &router->routed[i], 1);
	return s.best;
}
