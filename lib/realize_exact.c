// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Search of all configurations of a small input: depth first over the links,
 * most circuits first, cut where the demand across some cut of the nodes, or of
 * some pair that must have a circuit, already costs what the best known
 * configuration does.  It ends early when its budget is spent, so it improves a
 * configuration and promises nothing.
 */
#include "realize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 5
#define MAX_LINKS 40
#define MAX_CUTS (1u << MAX_NODES)
#define STEP_BUDGET 400000

struct search {
	struct lace_planner *planner;
	const struct lace_period *period;
	struct lace_config *best;
	struct lace_router router;
	uint16_t count[MAX_LINKS];
	unsigned int *left;
	double *cut;		/* bits of each term across each cut */
	double *room;		/* capacity that pairs have or could get */
	double (*crosses)[MAX_CUTS];	/* 1 where the pair crosses the cut */
	unsigned int steps, budget;
};

static unsigned int link_max(const struct search *s, unsigned int link)
{
	const struct lace_link *l = &s->planner->links[link];
	unsigned int a = s->left[l->pool[0]], b = s->left[l->pool[1]];

	return a < b ? a : b;
}

static void shift(struct search *s, unsigned int link, int nr)
{
	const struct lace_link *l = &s->planner->links[link];

	s->count[link] += nr;
	s->left[l->pool[0]] -= nr;
	s->left[l->pool[1]] -= nr;
}

/* The cut of no node and that of all have no pair across: they never bind. */
static void fill_cuts(struct search *s)
{
	for (unsigned int e = 0; e < s->planner->nr_pairs; e++) {
		const struct lace_between *p = &s->planner->pairs[e];

		for (unsigned int c = 0; c < MAX_CUTS; c++)
			s->crosses[e][c] = c >> p->src & 1 && !(c >> p->dst & 1);
	}
	for (unsigned int t = 0; t < s->period->nr; t++) {
		const struct lace_kind *k =
			&s->planner->kinds[s->period->terms[t].kind];

		for (size_t i = 0; i < k->nr; i++) {
			const double *crosses = s->crosses[k->needs[i].pair];

			for (unsigned int c = 0; c < MAX_CUTS; c++)
				s->cut[t * MAX_CUTS + c] +=
					k->needs[i].bits * crosses[c];
		}
	}
}

static void fill_room(struct search *s, unsigned int depth)
{
	const struct lace_planner *planner = s->planner;

	memset(s->room, 0, planner->nr_pairs * sizeof(*s->room));
	for (unsigned int l = 0; l < planner->nr_links; l++) {
		const struct lace_link *link = &planner->links[l];
		unsigned int nr = l < depth ? s->count[l] : link_max(s, l);

		for (unsigned int d = 0; d < 2; d++)
			if (link->pair[d] != LACE_NONE)
				s->room[link->pair[d]] += nr * link->rate_bps;
	}
}

static double time_across(const struct search *s, unsigned int term,
			  const double *across)
{
	double time = 0;

	for (unsigned int c = 0; c < MAX_CUTS; c++) {
		double bits = s->cut[term * MAX_CUTS + c];

		if (bits > time * across[c])
			time = bits / across[c];
	}
	return time;
}

/* What no completion of the links below depth can beat. */
static double floor_cost(struct search *s, unsigned int depth)
{
	const struct lace_planner *planner = s->planner;
	double across[MAX_CUTS] = { 0 }, cost = 0;

	fill_room(s, depth);
	for (unsigned int e = 0; e < planner->nr_pairs; e++) {
		const double *crosses = s->crosses[e];
		double room = s->room[e];

		for (unsigned int c = 0; c < MAX_CUTS; c++)
			across[c] += room * crosses[c];
	}
	for (unsigned int t = 0; t < s->period->nr; t++) {
		const struct lace_term *term = &s->period->terms[t];
		const struct lace_kind *k = &planner->kinds[term->kind];
		double time = time_across(s, t, across);

		for (size_t i = 0; i < k->nr; i++) {
			const struct lace_need *need = &k->needs[i];

			if (lace_planner_must_have(planner, need) &&
			    need->bits > time * s->room[need->pair])
				time = need->bits / s->room[need->pair];
		}
		cost += term->repeat * time;
	}
	return cost;
}

/* True if a pair that has a circuit could have one more: that only helps. */
static bool could_widen(const struct search *s)
{
	for (unsigned int l = 0; l < s->planner->nr_links; l++) {
		const struct lace_link *link = &s->planner->links[l];

		if (link_max(s, l) && s->router.capacity[link->pair[0]] > 0)
			return true;
	}
	return false;
}

static void leaf(struct search *s)
{
	double cost;

	lace_router_set(&s->router, s->count);
	if (could_widen(s))
		return;
	cost = lace_router_cost(&s->router, s->period, s->best->cost);
	s->steps += 4 * s->period->nr;
	if (cost < s->best->cost * (1 - 1e-12)) {
		s->best->cost = cost;
		memcpy(s->best->count, s->count,
		       s->planner->nr_links * sizeof(*s->count));
	}
}

static void descend(struct search *s, unsigned int depth)
{
	if (++s->steps > s->budget ||
	    floor_cost(s, depth) >= s->best->cost * (1 - 1e-12))
		return;
	if (depth == s->planner->nr_links) {
		leaf(s);
		return;
	}
	for (int nr = link_max(s, depth); nr >= 0; nr--) {
		shift(s, depth, nr);
		descend(s, depth + 1);
		shift(s, depth, -nr);
	}
}

void lace_realize_exact(struct lace_planner *planner,
			const struct lace_period *period,
			struct lace_config *config)
{
	struct search s = { .planner = planner, .period = period,
			    .best = config };

	if (planner->nr_nodes > MAX_NODES || planner->nr_links > MAX_LINKS)
		return;
	s.budget = STEP_BUDGET / (period->nr ? period->nr : 1);
	s.left = lace_planner_alloc(planner, planner->nr_pools,
				    sizeof(*s.left));
	s.cut = lace_planner_alloc(planner, (size_t)period->nr * MAX_CUTS,
				   sizeof(*s.cut));
	s.room = lace_planner_alloc(planner, planner->max_pairs,
				    sizeof(*s.room));
	s.crosses = lace_planner_alloc(planner, planner->nr_pairs,
				       sizeof(*s.crosses));
	if (!planner->oom && !lace_router_create(planner, &s.router)) {
		for (unsigned int k = 0; k < planner->nr_pools; k++)
			s.left[k] = planner->pools[k].size;
		fill_cuts(&s);
		descend(&s, 0);
		lace_router_free(&s.router);
	}
	free(s.left);
	free(s.cut);
	free(s.room);
	free(s.crosses);
}
