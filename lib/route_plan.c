// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Routes of the plan.  Routes may change from op to op for nothing, so each op
 * has those that make it fastest; consecutive ops whose routes agree, or can be
 * made to agree without a loss, share a segment.
 */
#include "route.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The routes of the segment in hand: those of a pair are hops[first[pair]]. */
struct routing {
	struct lace_planner *planner;
	struct lace_router *router;
	unsigned int *first, *nr;	/* nr 0: no route */
	unsigned int *hops, nr_hops, max_hops;
	unsigned int *pairs, nr_pairs;	/* with a route */
	bool *has;			/* kinds that the segment holds */
};

static void forget(struct routing *r)
{
	while (r->nr_pairs)
		r->nr[r->pairs[--r->nr_pairs]] = 0;
	r->nr_hops = 0;
	memset(r->has, 0, r->planner->nr_kinds * sizeof(*r->has));
}

static bool agrees(const struct routing *r, const struct lace_routed *routed)
{
	unsigned int e = routed->pair;

	return !r->nr[e] ||
	       (r->nr[e] == routed->nr &&
		!memcmp(r->hops + r->first[e], r->router->hops + routed->first,
			routed->nr * sizeof(*r->hops)));
}

/* The time of the op just routed were the pairs of the segment to keep theirs. */
static double time_kept(struct routing *r)
{
	struct lace_router *router = r->router;
	double time = 0;

	for (unsigned int i = 0; i < router->nr_routed; i++) {
		const struct lace_routed *routed = &router->routed[i];

		if (agrees(r, routed))
			continue;
		lace_router_load(router, routed, -1);
		for (unsigned int h = 0; h < r->nr[routed->pair]; h++)
			router->load[r->hops[r->first[routed->pair] + h]] +=
				routed->bits;
	}
	for (unsigned int e = 0; e < r->planner->nr_pairs; e++)
		if (router->load[e] > time * router->capacity[e])
			time = router->load[e] / router->capacity[e];
	return time;
}

static bool adopt(struct routing *r)
{
	const struct lace_router *router = r->router;

	for (unsigned int i = 0; i < router->nr_routed; i++) {
		const struct lace_routed *routed = &router->routed[i];
		unsigned int e = routed->pair;

		if (r->nr[e])
			continue;
		if (r->nr_hops + routed->nr > r->max_hops) {
			unsigned int max = 2 * r->max_hops + routed->nr + 64;
			void *mem = realloc(r->hops, max * sizeof(*r->hops));

			if (!mem)
				return false;
			r->hops = mem;
			r->max_hops = max;
		}
		r->first[e] = r->nr_hops;
		r->nr[e] = routed->nr;
		memcpy(r->hops + r->nr_hops, router->hops + routed->first,
		       routed->nr * sizeof(*r->hops));
		r->nr_hops += routed->nr;
		r->pairs[r->nr_pairs++] = e;
	}
	return true;
}

static int order_routes(const void *a, const void *b)
{
	const struct lace_route *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static bool write_routes(const struct routing *r, struct lace_segment *segment)
{
	const struct lace_planner *planner = r->planner;

	segment->routes = calloc(r->nr_pairs + 1, sizeof(*segment->routes));
	if (!segment->routes)
		return false;
	for (unsigned int i = 0; i < r->nr_pairs; i++) {
		unsigned int e = r->pairs[i];
		struct lace_route *route =
			&segment->routes[segment->nr_routes++];

		route->from = planner->pairs[e].src;
		route->to = planner->pairs[e].dst;
		route->nr_between = r->nr[e] - 1;
		route->between = calloc(r->nr[e], sizeof(*route->between));
		if (!route->between)
			return false;
		for (unsigned int h = 0; h + 1 < r->nr[e]; h++)
			route->between[h] =
				planner->pairs[r->hops[r->first[e] + h]].dst;
	}
	qsort(segment->routes, segment->nr_routes, sizeof(*segment->routes),
	      order_routes);
	return true;
}

static bool write_segment(const struct routing *r,
			  const struct lace_bound_run *bound,
			  unsigned int first, unsigned int last,
			  struct lace_plan *plan)
{
	struct lace_segment *segment;
	void *mem = realloc(plan->segments,
			    (plan->nr_segments + 1) * sizeof(*plan->segments));

	if (!mem)
		return false;
	plan->segments = mem;
	segment = &plan->segments[plan->nr_segments++];
	*segment = (struct lace_segment){ .first_op = first, .last_op = last };
	segment->circuits = calloc(bound->nr + 1, sizeof(*segment->circuits));
	if (!segment->circuits)
		return false;
	segment->nr_circuits = bound->nr;
	memcpy(segment->circuits, bound->circuits,
	       bound->nr * sizeof(*segment->circuits));
	return write_routes(r, segment);
}

static bool walk_ops(struct routing *r, const struct lace_run *run,
		     const struct lace_bound_run *bound,
		     struct lace_plan *plan)
{
	unsigned int first = run->first_op;

	for (unsigned int op = first; op <= run->last_op; op++) {
		unsigned int kind = r->planner->op_kind[op];
		double time;

		if (r->has[kind])
			continue;
		time = lace_router_route(r->router, kind);
		if (r->planner->oom)
			return false;
		if (op > first && time_kept(r) > time * (1 + 1e-12)) {
			if (!write_segment(r, bound, first, op - 1, plan))
				return false;
			forget(r);
			first = op;
			lace_router_route(r->router, kind);
		}
		r->has[kind] = true;
		if (!adopt(r))
			return false;
	}
	return write_segment(r, bound, first, run->last_op, plan);
}

int lace_route_run(struct lace_planner *planner, struct lace_router *router,
		   const struct lace_run *run,
		   const struct lace_bound_run *bound, struct lace_plan *plan,
		   struct lace_error *err)
{
	struct routing r = { .planner = planner, .router = router };
	unsigned int max = planner->max_pairs;
	bool ok = false;

	r.first = lace_planner_alloc(planner, max, sizeof(*r.first));
	r.nr = lace_planner_alloc(planner, max, sizeof(*r.nr));
	r.pairs = lace_planner_alloc(planner, max, sizeof(*r.pairs));
	r.has = lace_planner_alloc(planner, planner->nr_kinds, sizeof(*r.has));
	if (!planner->oom) {
		lace_router_set(router, run->config.count);
		ok = walk_ops(&r, run, bound, plan);
	}
	free(r.first);
	free(r.nr);
	free(r.pairs);
	free(r.has);
	free(r.hops);
	return ok ? 0 : lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
}
