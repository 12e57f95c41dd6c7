// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Spends the lanes that a configuration leaves over on demand without a
 * circuit: first a circuit for each pair that can still have one, then routes
 * over what idles, and where those end a circuit that closes the gap, from any
 * node within reach of the source to any node within reach of the destination.
 * That is how the ends of a pipeline come to carry control for its middle.
 */
#include "route.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAP_TRIES 24

struct spare {
	struct lace_router *router;
	uint16_t *count;
	unsigned int *left;	/* lanes of each pool */
	double *want;		/* bits per second of each pair without circuit */
};

static bool spare_init(struct spare *s, const struct lace_period *period,
		       const double *target)
{
	struct lace_planner *planner = s->router->planner;

	s->left = lace_planner_alloc(planner, planner->nr_pools,
				     sizeof(*s->left));
	s->want = lace_planner_alloc(planner, planner->max_pairs,
				     sizeof(*s->want));
	if (!s->left || !s->want)
		return false;
	for (unsigned int k = 0; k < planner->nr_pools; k++)
		s->left[k] = planner->pools[k].size;
	for (unsigned int l = 0; l < planner->nr_links; l++) {
		s->left[planner->links[l].pool[0]] -= s->count[l];
		s->left[planner->links[l].pool[1]] -= s->count[l];
	}
	for (unsigned int t = 0; t < period->nr; t++) {
		const struct lace_kind *k =
			&planner->kinds[period->terms[t].kind];

		for (size_t i = 0; i < k->nr; i++) {
			double want = k->needs[i].bits / target[t];
			unsigned int e = k->needs[i].pair;

			if (want > s->want[e])
				s->want[e] = want;
		}
	}
	return true;
}

static unsigned int links_left(const struct spare *s, unsigned int link)
{
	const struct lace_link *l = &s->router->planner->links[link];
	unsigned int a = s->left[l->pool[0]], b = s->left[l->pool[1]];

	return a < b ? a : b;
}

static void take(struct spare *s, unsigned int link, unsigned int nr)
{
	struct lace_router *router = s->router;
	const struct lace_link *l = &router->planner->links[link];

	s->count[link] += nr;
	s->left[l->pool[0]] -= nr;
	s->left[l->pool[1]] -= nr;
	for (unsigned int d = 0; d < 2; d++) {
		if (l->pair[d] == LACE_NONE)
			continue;
		if (router->capacity[l->pair[d]] <= 0)
			lace_router_link(router, l->pair[d]);
		router->capacity[l->pair[d]] += nr * l->rate_bps;
	}
}

/* Enough circuits for a rate, or none. */
static bool join(struct spare *s, unsigned int pair, double want)
{
	const struct lace_between *p = &s->router->planner->pairs[pair];
	unsigned int end = p->first_link + p->nr_links;
	double have = s->router->capacity[pair], can = have;

	for (unsigned int l = p->first_link; l < end; l++)
		can += links_left(s, l) * s->router->planner->links[l].rate_bps;
	if (can < want || can <= have)
		return false;
	for (unsigned int l = p->first_link; l < end && have < want; l++) {
		double rate = s->router->planner->links[l].rate_bps;
		double n = ceil((want - have) / rate * (1 - 1e-12));
		unsigned int nr = links_left(s, l);

		nr = n < nr ? (unsigned int)n : nr;
		if (!nr)
			continue;
		take(s, l, nr);
		have += nr * rate;
	}
	return true;
}

static void join_direct(struct spare *s, const struct lace_period *period)
{
	const struct lace_planner *planner = s->router->planner;

	for (unsigned int t = 0; t < period->nr; t++) {
		const struct lace_kind *k =
			&planner->kinds[period->terms[t].kind];

		for (size_t i = 0; i < k->nr; i++) {
			unsigned int e = k->needs[i].pair;

			if (s->router->capacity[e] <= 0)
				join(s, e, s->want[e]);
		}
	}
}

static bool has_left(const struct spare *s, const unsigned int *first,
		     unsigned int node)
{
	for (unsigned int k = first[node]; k < first[node + 1]; k++)
		if (s->left[k])
			return true;
	return false;
}

/*
 * Nodes with lanes left within reach of a node, nearest first: forward over
 * hops from src, or backward over hops into dst.
 */
static unsigned int reach(struct spare *s, unsigned int from, bool forward,
			  double bits, double limit, unsigned int *found)
{
	struct lace_router *router = s->router;
	const struct lace_planner *planner = router->planner;
	unsigned int *stamp = forward ? router->stamp : router->stamp_back;
	unsigned int *via = forward ? router->via : router->via_back;
	unsigned int *next = forward ? router->out_next : router->in_next;
	unsigned int head = 0, tail = 0, nr = 0;

	stamp[from] = router->now;
	via[from] = LACE_NONE;
	router->queue[tail++] = from;
	while (head < tail && nr < GAP_TRIES) {
		unsigned int i = router->queue[head++];

		router->planner->work++;
		if (has_left(s, forward ? planner->first_tx : planner->first_rx,
			     i))
			found[nr++] = i;
		for (unsigned int e = forward ? router->out_head[i] :
						router->in_head[i];
		     e != LACE_NONE; e = next[e]) {
			unsigned int j = forward ? planner->pairs[e].dst :
						   planner->pairs[e].src;

			if (stamp[j] == router->now ||
			    !lace_router_fits(router, e, bits, limit))
				continue;
			stamp[j] = router->now;
			via[j] = e;
			router->queue[tail++] = j;
		}
	}
	return nr;
}

/* The pair has a circuit now: what it asks for in this op goes over it. */
static void settle_own(struct lace_router *router, unsigned int kind,
		       unsigned int pair)
{
	const struct lace_kind *k = &router->planner->kinds[kind];

	for (unsigned int i = 0; i < router->nr_routed; i++) {
		if (router->routed[i].pair == pair) {
			lace_router_load(router, &router->routed[i], -1);
			router->routed[i] =
				router->routed[--router->nr_routed];
			break;
		}
	}
	for (size_t lo = 0, hi = k->nr; lo < hi;) {
		size_t mid = (lo + hi) / 2;

		if (k->needs[mid].pair == pair) {
			router->load[pair] += k->needs[mid].bits;
			return;
		}
		if (k->needs[mid].pair < pair)
			lo = mid + 1;
		else
			hi = mid;
	}
}

/* Follows via_back[] from the far side of the gap into via[]. */
static void stitch(struct lace_router *router, unsigned int pair,
		   unsigned int dst)
{
	const struct lace_planner *planner = router->planner;
	unsigned int j = planner->pairs[pair].dst;

	router->via[j] = pair;
	while (j != dst) {
		unsigned int e = router->via_back[j];

		j = planner->pairs[e].dst;
		router->via[j] = e;
	}
}

static bool close_gap(struct spare *s, unsigned int kind,
		      const struct lace_need *need, double limit)
{
	struct lace_router *router = s->router;
	struct lace_planner *planner = router->planner;
	unsigned int near[GAP_TRIES], far[GAP_TRIES];
	unsigned int src = planner->pairs[need->pair].src;
	unsigned int dst = planner->pairs[need->pair].dst;
	unsigned int nr_near, nr_far;

	router->now++;
	nr_near = reach(s, src, true, need->bits, limit, near);
	nr_far = reach(s, dst, false, need->bits, limit, far);
	for (unsigned int sum = 0; sum + 1 < nr_near + nr_far; sum++) {
		for (unsigned int a = 0; a <= sum && a < nr_near; a++) {
			unsigned int b = sum - a, pair;
			bool fresh;
			double want;

			if (b >= nr_far || near[a] == far[b])
				continue;
			pair = lace_planner_add_pair(planner, near[a], far[b]);
			if (pair == LACE_NONE)
				continue;
			fresh = router->capacity[pair] <= 0;
			want = need->bits / limit;
			want = s->want[pair] > want ? s->want[pair] : want;
			if (!join(s, pair, fresh ? want :
				  router->capacity[pair] + want))
				continue;
			if (fresh)
				settle_own(router, kind, pair);
			stitch(router, pair, dst);
			return pair == need->pair ||
			       lace_router_add(router, need->pair, need->bits);
		}
	}
	return false;
}

static void route_or_close(struct spare *s, unsigned int kind, double limit)
{
	struct lace_router *router = s->router;
	const struct lace_kind *k = &router->planner->kinds[kind];

	if (lace_router_direct(router, kind) == INFINITY)
		return;
	for (size_t i = 0; i < k->nr; i++) {
		const struct lace_need *need = &k->needs[i];

		if (router->capacity[need->pair] > 0)
			continue;
		if (lace_router_find(router, need->pair, need->bits, limit))
			lace_router_add(router, need->pair, need->bits);
		else
			close_gap(s, kind, need, limit);
	}
}

void lace_router_complete(struct lace_router *router,
			  const struct lace_period *period,
			  const double *target, uint16_t *count)
{
	struct spare s = { .router = router, .count = count };

	if (router->planner->cluster->relay == LACE_RELAY_NONE)
		return;
	lace_router_set(router, count);
	if (spare_init(&s, period, target)) {
		join_direct(&s, period);
		for (unsigned int t = 0; t < period->nr; t++)
			route_or_close(&s, period->terms[t].kind,
				       target[t] * (1 + 1e-12));
	}
	free(s.left);
	free(s.want);
}
