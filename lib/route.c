// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * How demand without a circuit of its own travels over the circuits there are.
 *
 * Heaviest first, each along the shortest path that leaves the op as fast as it
 * is, else along the path whose fullest hop is least full; then paths over the
 * fullest hops are tried elsewhere.  Where few paths exist all of them are
 * searched (route_exact.c).
 */
#include "planner.h"
#include "route.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REROUTE_ROUNDS 24

int lace_router_create(struct lace_planner *planner,
		       struct lace_router *router)
{
	unsigned int n = planner->nr_nodes, e = planner->max_pairs;
	struct lace_router r = { .planner = planner };

	r.capacity = lace_planner_alloc(planner, e, sizeof(double));
	r.load = lace_planner_alloc(planner, e, sizeof(double));
	r.out_head = lace_planner_alloc(planner, n, sizeof(unsigned int));
	r.in_head = lace_planner_alloc(planner, n, sizeof(unsigned int));
	r.out_next = lace_planner_alloc(planner, e, sizeof(unsigned int));
	r.in_next = lace_planner_alloc(planner, e, sizeof(unsigned int));
	r.queue = lace_planner_alloc(planner, n, sizeof(unsigned int));
	r.via = lace_planner_alloc(planner, n, sizeof(unsigned int));
	r.via_back = lace_planner_alloc(planner, n, sizeof(unsigned int));
	r.stamp = lace_planner_alloc(planner, n, sizeof(unsigned int));
	r.stamp_back = lace_planner_alloc(planner, n, sizeof(unsigned int));
	r.depth = lace_planner_alloc(planner, n, sizeof(unsigned int));
	r.key = lace_planner_alloc(planner, n, sizeof(double));
	*router = r;
	if (!planner->oom)
		return 0;
	lace_router_free(router);
	return -1;
}

void lace_router_free(struct lace_router *router)
{
	free(router->capacity);
	free(router->load);
	free(router->out_head);
	free(router->in_head);
	free(router->out_next);
	free(router->in_next);
	free(router->queue);
	free(router->via);
	free(router->via_back);
	free(router->stamp);
	free(router->stamp_back);
	free(router->depth);
	free(router->key);
	free(router->routed);
	free(router->hops);
	*router = (struct lace_router){ 0 };
}

static double capacity_of(const struct lace_planner *planner,
			  const uint16_t *count, unsigned int pair)
{
	const struct lace_between *p = &planner->pairs[pair];
	double bps = 0;

	for (unsigned int l = p->first_link; l < p->first_link + p->nr_links;
	     l++)
		bps += count[l] * planner->links[l].rate_bps;
	return bps;
}

void lace_router_link(struct lace_router *router, unsigned int pair)
{
	const struct lace_between *p = &router->planner->pairs[pair];

	router->out_next[pair] = router->out_head[p->src];
	router->out_head[p->src] = pair;
	router->in_next[pair] = router->in_head[p->dst];
	router->in_head[p->dst] = pair;
}

void lace_router_set(struct lace_router *router, const uint16_t *count)
{
	const struct lace_planner *planner = router->planner;

	router->planner->work += planner->nr_pairs / 16.;
	memset(router->out_head, 0xff,
	       planner->nr_nodes * sizeof(*router->out_head));
	memset(router->in_head, 0xff,
	       planner->nr_nodes * sizeof(*router->in_head));
	for (unsigned int e = planner->nr_pairs; e-- > 0;) {
		router->capacity[e] = capacity_of(planner, count, e);
		if (router->capacity[e] > 0)
			lace_router_link(router, e);
	}
}

/* ---- searches ---- */

bool lace_router_fits(const struct lace_router *router, unsigned int pair,
		      double bits, double limit)
{
	return router->load[pair] + bits <= limit * router->capacity[pair];
}

static unsigned int next_stamp(struct lace_router *router)
{
	if (++router->now == 0) {
		size_t size = router->planner->nr_nodes * sizeof(unsigned int);

		memset(router->stamp, 0, size);
		memset(router->stamp_back, 0, size);
		router->now = 1;
	}
	return router->now;
}

/* Breadth first over hops that stay within limit; via[] leads back to src. */
static bool shortest(struct lace_router *router, unsigned int src,
		     unsigned int dst, double bits, double limit)
{
	const struct lace_planner *planner = router->planner;
	unsigned int now = next_stamp(router), head = 0, tail = 0;

	router->stamp[src] = now;
	router->queue[tail++] = src;
	while (head < tail) {
		unsigned int i = router->queue[head++];

		router->planner->work++;

		for (unsigned int e = router->out_head[i]; e != LACE_NONE;
		     e = router->out_next[e]) {
			unsigned int j = planner->pairs[e].dst;

			if (router->stamp[j] == now ||
			    !lace_router_fits(router, e, bits, limit))
				continue;
			router->stamp[j] = now;
			router->via[j] = e;
			if (j == dst)
				return true;
			router->queue[tail++] = j;
		}
	}
	return false;
}

/* The least limit that leaves a path: label correcting on the fullest hop. */
static double widest(struct lace_router *router, unsigned int src,
		     unsigned int dst, double bits)
{
	const struct lace_planner *planner = router->planner;
	unsigned int n = planner->nr_nodes, head = 0, nr = 0;
	unsigned int now = next_stamp(router);

	/* stamp: in the queue; stamp_back: has a key */
	router->key[dst] = INFINITY;
	router->key[src] = 0;
	router->stamp_back[src] = router->stamp_back[dst] = now;
	router->queue[0] = src;
	router->stamp[src] = now;
	nr = 1;
	while (nr) {
		unsigned int i = router->queue[head];

		head = (head + 1) % n;
		nr--;
		router->planner->work++;
		router->stamp[i] = now - 1;
		for (unsigned int e = router->out_head[i]; e != LACE_NONE;
		     e = router->out_next[e]) {
			unsigned int j = planner->pairs[e].dst;
			double hop = (router->load[e] + bits) /
				     router->capacity[e];
			double key = router->key[i] > hop ? router->key[i] :
							    hop;

			if ((router->stamp_back[j] == now &&
			     key >= router->key[j]) || key >= router->key[dst])
				continue;
			router->key[j] = key;
			router->stamp_back[j] = now;
			if (router->stamp[j] != now) {
				router->stamp[j] = now;
				router->queue[(head + nr++) % n] = j;
			}
		}
	}
	return router->key[dst];
}

/* ---- keeping what was found ---- */

bool lace_router_reserve(struct lace_router *router, unsigned int hops)
{
	if (router->nr_routed == router->max_routed) {
		unsigned int max = 2 * router->max_routed + 16;
		void *mem = realloc(router->routed,
				    max * sizeof(*router->routed));

		if (!mem)
			goto oom;
		router->routed = mem;
		router->max_routed = max;
	}
	if (router->nr_hops + hops > router->max_hops) {
		unsigned int max = 2 * router->max_hops + hops + 16;
		void *mem = realloc(router->hops, max * sizeof(*router->hops));

		if (!mem)
			goto oom;
		router->hops = mem;
		router->max_hops = max;
	}
	return true;
oom:
	router->planner->oom = true;
	return false;
}

void lace_router_load(struct lace_router *router,
		      const struct lace_routed *routed, double sign)
{
	for (unsigned int h = 0; h < routed->nr; h++)
		router->load[router->hops[routed->first + h]] +=
			sign * routed->bits;
}

/* Writes the path that via[] holds as the route; the old one is forgotten. */
static bool write_path(struct lace_router *router, struct lace_routed *routed)
{
	const struct lace_planner *planner = router->planner;
	const struct lace_between *p = &planner->pairs[routed->pair];
	unsigned int nr = 0, h;

	for (unsigned int i = p->dst; i != p->src;
	     i = planner->pairs[router->via[i]].src)
		nr++;
	if (nr > routed->nr)
		routed->first = router->nr_hops;
	if (nr > routed->nr && routed->first + nr > router->max_hops)
		return false;
	if (nr > routed->nr)
		router->nr_hops += nr;
	routed->nr = h = nr;
	for (unsigned int i = p->dst; i != p->src;
	     i = planner->pairs[router->via[i]].src)
		router->hops[routed->first + --h] = router->via[i];
	return true;
}

bool lace_router_add(struct lace_router *router, unsigned int pair,
		     double bits)
{
	struct lace_routed *routed;

	if (!lace_router_reserve(router, router->planner->nr_nodes))
		return false;
	routed = &router->routed[router->nr_routed++];
	*routed = (struct lace_routed){ .pair = pair, .bits = bits };
	write_path(router, routed);
	lace_router_load(router, routed, 1);
	return true;
}

bool lace_router_find(struct lace_router *router, unsigned int pair,
		      double bits, double limit)
{
	const struct lace_between *p = &router->planner->pairs[pair];

	return shortest(router, p->src, p->dst, bits, limit);
}

/* ---- one kind ---- */

double lace_router_direct(struct lace_router *router, unsigned int kind)
{
	const struct lace_kind *k = &router->planner->kinds[kind];
	double time = 0;

	router->planner->work += (double)k->nr +
				 router->planner->nr_pairs / 16.;
	memset(router->load, 0,
	       router->planner->nr_pairs * sizeof(*router->load));
	router->nr_routed = 0;
	router->nr_hops = 0;
	for (size_t i = 0; i < k->nr; i++) {
		const struct lace_need *need = &k->needs[i];
		double capacity = router->capacity[need->pair];

		if (capacity > 0) {
			router->load[need->pair] = need->bits;
			if (need->bits > time * capacity)
				time = need->bits / capacity;
		} else if (lace_planner_must_have(router->planner, need)) {
			return INFINITY;
		}
	}
	return time;
}

static double fullest(const struct lace_router *router)
{
	double time = 0;

	for (unsigned int e = 0; e < router->planner->nr_pairs; e++)
		if (router->load[e] > time * router->capacity[e])
			time = router->load[e] / router->capacity[e];
	return time;
}

static int order_routed(const void *a, const void *b)
{
	const struct lace_routed *x = a, *y = b;

	if (x->bits != y->bits)
		return x->bits > y->bits ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/* What has no circuit, heaviest first; routes not yet found. */
static bool list_uncovered(struct lace_router *router, unsigned int kind)
{
	const struct lace_kind *k = &router->planner->kinds[kind];

	for (size_t i = 0; i < k->nr; i++) {
		const struct lace_need *need = &k->needs[i];

		if (router->capacity[need->pair] > 0)
			continue;
		if (!lace_router_reserve(router, 0))
			return false;
		router->routed[router->nr_routed++] = (struct lace_routed){
			.pair = need->pair, .bits = need->bits };
	}
	if (router->nr_routed)
		qsort(router->routed, router->nr_routed,
		      sizeof(*router->routed), order_routed);
	return true;
}

static bool place(struct lace_router *router, struct lace_routed *routed,
		  double *time, double limit)
{
	const struct lace_between *p = &router->planner->pairs[routed->pair];
	unsigned int index = routed - router->routed;

	if (!lace_router_reserve(router, router->planner->nr_nodes))
		return false;
	routed = &router->routed[index];
	if (!shortest(router, p->src, p->dst, routed->bits, *time)) {
		double need;

		if (limit < INFINITY &&
		    !shortest(router, p->src, p->dst, routed->bits, limit))
			return false;
		need = widest(router, p->src, p->dst, routed->bits);
		if (need == INFINITY)
			return false;
		*time = need > *time ? need : *time;
		if (!shortest(router, p->src, p->dst, routed->bits,
			      *time * (1 + 1e-14)))
			return false;
	}
	write_path(router, routed);
	lace_router_load(router, routed, 1);
	return true;
}

static bool crosses_full(const struct lace_router *router,
			 const struct lace_routed *routed, double time)
{
	for (unsigned int h = 0; h < routed->nr; h++) {
		unsigned int e = router->hops[routed->first + h];

		if (router->load[e] >= time * (1 - 1e-12) * router->capacity[e])
			return true;
	}
	return false;
}

/* Moves routes off the fullest hops while that makes the op faster. */
static double reroute(struct lace_router *router, double floor)
{
	double time = fullest(router);

	for (unsigned int round = 0;
	     round < REROUTE_ROUNDS && time > floor * (1 + 1e-12); round++) {
		bool moved = false;

		router->planner->work += router->nr_routed;
		for (unsigned int i = 0; i < router->nr_routed; i++) {
			struct lace_routed *routed = &router->routed[i];
			const struct lace_between *p =
				&router->planner->pairs[routed->pair];

			if (!crosses_full(router, routed, time))
				continue;
			if (!lace_router_reserve(router, router->planner->nr_nodes))
				return INFINITY;
			routed = &router->routed[i];
			lace_router_load(router, routed, -1);
			if (shortest(router, p->src, p->dst, routed->bits,
				     time * (1 - 1e-9))) {
				write_path(router, routed);
				moved = true;
			}
			lace_router_load(router, routed, 1);
		}
		time = fullest(router);
		if (!moved)
			break;
	}
	return time;
}

/* As lace_router_route(), but may give up where it takes longer than limit. */
static double route_within(struct lace_router *router, unsigned int kind,
			   double limit)
{
	double floor = lace_router_direct(router, kind), time = floor;

	if (floor == INFINITY || floor > limit ||
	    !list_uncovered(router, kind))
		return INFINITY;
	if (!router->nr_routed)
		return floor;
	/* Small networks are searched whole, from whatever routes. */
	if (router->planner->nr_nodes <= LACE_ROUTE_EXACT_NODES)
		limit = INFINITY;
	for (unsigned int i = 0; i < router->nr_routed; i++)
		if (!place(router, &router->routed[i], &time, limit))
			return INFINITY;
	time = reroute(router, floor);
	if (time > floor * (1 + 1e-12))
		time = lace_router_route_exact(router, floor, time);
	return time;
}

double lace_router_route(struct lace_router *router, unsigned int kind)
{
	return route_within(router, kind, INFINITY);
}

double lace_router_cost(struct lace_router *router,
			const struct lace_period *period, double limit)
{
	double cost = 0;

	for (unsigned int t = 0; t < period->nr && cost < INFINITY; t++)
		cost += period->terms[t].repeat *
			route_within(router, period->terms[t].kind,
				     (limit - cost) / period->terms[t].repeat);
	return cost;
}
