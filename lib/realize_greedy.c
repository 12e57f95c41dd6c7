// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Circuits where a pair can be joined in more than one way: several OCSes with
 * uneven attachment, ports of different rates.  For a stretch of the shortest
 * conceivable times each pair, hardest first, takes links until its rate is
 * met; the least stretch that works is found by bisection.
 */
#include "realize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct greedy {
	struct lace_planner *planner;
	unsigned int *left;	/* lanes of each pool */
	uint16_t *count;
	double *want;		/* bits per second of each pair */
	unsigned int nr;
	unsigned int *order;	/* pairs with flows */
	double *out, *in;	/* bits of each node, for the shape */
};

static unsigned int link_left(const struct greedy *g, unsigned int link)
{
	const struct lace_link *l = &g->planner->links[link];
	unsigned int a = g->left[l->pool[0]], b = g->left[l->pool[1]];

	return a < b ? a : b;
}

static void take(struct greedy *g, unsigned int link, int nr)
{
	const struct lace_link *l = &g->planner->links[link];

	g->count[link] += nr;
	g->left[l->pool[0]] -= nr;
	g->left[l->pool[1]] -= nr;
}

/* Of the links that still can, the one that meets want with least waste, and
 * of those the one with most lanes left.
 */
static unsigned int choose_link(const struct greedy *g,
				const struct lace_between *p, double want)
{
	unsigned int best = LACE_NONE;

	for (unsigned int l = p->first_link; l < p->first_link + p->nr_links;
	     l++) {
		double rate = g->planner->links[l].rate_bps, have;

		if (!link_left(g, l))
			continue;
		if (best == LACE_NONE) {
			best = l;
			continue;
		}
		have = g->planner->links[best].rate_bps;
		if (rate == have ? link_left(g, l) > link_left(g, best) :
		    have >= want ? rate >= want && rate < have : rate > have)
			best = l;
	}
	return best;
}

/* Frees a lane for the pair by moving somebody's circuit to another link. */
static bool make_way(struct greedy *g, const struct lace_between *p)
{
	const struct lace_planner *planner = g->planner;

	for (unsigned int l = p->first_link; l < p->first_link + p->nr_links;
	     l++) {
		const struct lace_link *mine = &planner->links[l];

		for (unsigned int o = 0; o < planner->nr_links; o++) {
			const struct lace_link *theirs = &planner->links[o];
			const struct lace_between *q =
				&planner->pairs[theirs->pair[0]];

			if (!g->count[o] || theirs->pair[0] == mine->pair[0] ||
			    (theirs->pool[0] != mine->pool[0] &&
			     theirs->pool[1] != mine->pool[1]))
				continue;
			take(g, o, -1);
			for (unsigned int m = q->first_link;
			     link_left(g, l) && m < q->first_link + q->nr_links;
			     m++) {
				if (m == o || planner->links[m].rate_bps <
						      theirs->rate_bps)
					continue;
				if (!link_left(g, m))
					continue;
				take(g, m, 1);
				if (link_left(g, l))
					return true;
				take(g, m, -1);
			}
			take(g, o, 1);
		}
	}
	return false;
}

static bool fill(struct greedy *g)
{
	const struct lace_planner *planner = g->planner;

	memset(g->count, 0, planner->max_links * sizeof(*g->count));
	for (unsigned int k = 0; k < planner->nr_pools; k++)
		g->left[k] = planner->pools[k].size;
	for (unsigned int i = 0; i < g->nr; i++) {
		const struct lace_between *p = &planner->pairs[g->order[i]];
		double want = g->want[g->order[i]];

		while (want > 0) {
			unsigned int l = choose_link(g, p, want);

			if (l == LACE_NONE && make_way(g, p))
				l = choose_link(g, p, want);
			if (l == LACE_NONE)
				return false;
			take(g, l, 1);
			want -= planner->links[l].rate_bps;
			if (want < 1e-9 * planner->links[l].rate_bps)
				want = 0;
		}
	}
	return true;
}

/* The time of a term if lanes were fluid. */
static double shape_of(struct greedy *g, const struct lace_flows *flows,
		       unsigned int term)
{
	const struct lace_planner *planner = g->planner;
	double time = 0;

	memset(g->out, 0, planner->nr_nodes * sizeof(*g->out));
	memset(g->in, 0, planner->nr_nodes * sizeof(*g->in));
	for (size_t i = flows->first[term]; i < flows->first[term + 1]; i++) {
		const struct lace_between *p =
			&planner->pairs[flows->flows[i].pair];

		g->out[p->src] += flows->flows[i].bits;
		g->in[p->dst] += flows->flows[i].bits;
	}
	for (unsigned int i = 0; i < planner->nr_nodes; i++) {
		if (g->out[i] > time * planner->tx_bps[i])
			time = g->out[i] / planner->tx_bps[i];
		if (g->in[i] > time * planner->rx_bps[i])
			time = g->in[i] / planner->rx_bps[i];
	}
	return time;
}

static bool fill_for(struct greedy *g, const struct lace_period *period,
		     const struct lace_flows *flows, const double *shape,
		     double stretch)
{
	memset(g->want, 0, g->planner->max_pairs * sizeof(*g->want));
	for (unsigned int t = 0; t < period->nr; t++) {
		for (size_t i = flows->first[t]; i < flows->first[t + 1]; i++) {
			const struct lace_flow *f = &flows->flows[i];
			double want = f->bits / (shape[t] * stretch);
			unsigned int back = LACE_NONE, l;

			l = g->planner->pairs[f->pair].first_link;
			if (g->planner->duplex)
				back = g->planner->links[l].pair[0];
			if (back == LACE_NONE)
				back = f->pair;
			if (want > g->want[back])
				g->want[back] = want;
		}
	}
	return fill(g);
}

static bool list_pairs(struct greedy *g, const struct lace_flows *flows)
{
	const struct lace_planner *planner = g->planner;

	memset(g->want, 0, planner->max_pairs * sizeof(*g->want));
	for (size_t i = 0; i < flows->nr; i++) {
		unsigned int e = flows->flows[i].pair;

		if (!planner->pairs[e].nr_links)
			return false;
		e = planner->links[planner->pairs[e].first_link].pair[0];
		if (g->want[e] <= 0)
			g->order[g->nr++] = e;
		g->want[e] += flows->flows[i].bits;
	}
	for (unsigned int i = 1; i < g->nr; i++) {
		unsigned int e = g->order[i], j = i;

		for (; j && g->want[g->order[j - 1]] < g->want[e]; j--)
			g->order[j] = g->order[j - 1];
		g->order[j] = e;
	}
	return true;
}

static bool stretch_until(struct greedy *g, const struct lace_period *period,
			  const struct lace_flows *flows, double *shape)
{
	double lo = 1, hi = 1;

	while (!fill_for(g, period, flows, shape, hi)) {
		lo = hi;
		hi *= 1.25;
		if (hi > 1e30)
			return false;
	}
	for (unsigned int round = 0; lo < hi && round < 24; round++) {
		double mid = (lo + hi) / 2;

		if (fill_for(g, period, flows, shape, mid))
			hi = mid;
		else
			lo = mid;
	}
	for (unsigned int t = 0; t < period->nr; t++)
		shape[t] *= hi;
	return fill_for(g, period, flows, shape, 1);
}

bool lace_realize_greedy(struct lace_planner *planner,
			 const struct lace_period *period,
			 const struct lace_flows *flows, double *target,
			 uint16_t *count)
{
	struct greedy g = { .planner = planner, .count = count };
	bool ok = false;

	g.left = lace_planner_alloc(planner, planner->nr_pools,
				    sizeof(*g.left));
	g.want = lace_planner_alloc(planner, planner->max_pairs,
				    sizeof(*g.want));
	g.order = lace_planner_alloc(planner, planner->max_pairs,
				     sizeof(*g.order));
	g.out = lace_planner_alloc(planner, planner->nr_nodes, sizeof(*g.out));
	g.in = lace_planner_alloc(planner, planner->nr_nodes, sizeof(*g.in));
	if (!planner->oom && list_pairs(&g, flows)) {
		for (unsigned int t = 0; t < period->nr; t++)
			target[t] = shape_of(&g, flows, t);
		ok = stretch_until(&g, period, flows, target);
	}
	free(g.left);
	free(g.want);
	free(g.order);
	free(g.out);
	free(g.in);
	return ok;
}
