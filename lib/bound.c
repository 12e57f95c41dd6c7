// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What no plan can beat: of one op by counting bits at each node (fluid), of a
 * period by counting lanes at each node.  Lanes are taken at the best rate a
 * pair can have and on whatever OCS, so the bounds hold for every binding.
 * Demand that may be relayed counts where it leaves and where it arrives, and
 * nowhere else.
 */
#include "bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double lace_bound_fluid(const struct lace_planner *planner, unsigned int kind)
{
	const struct lace_kind *k = &planner->kinds[kind];
	unsigned int n = planner->nr_nodes;
	double *sum = calloc(2 * (size_t)n + 1, sizeof(*sum)), time = 0;

	if (!sum)
		return 0;
	for (size_t i = 0; i < k->nr; i++) {
		const struct lace_between *p = &planner->pairs[k->needs[i].pair];

		sum[p->src] += k->needs[i].bits;
		sum[n + p->dst] += k->needs[i].bits;
	}
	for (unsigned int i = 0; i < n; i++) {
		if (sum[i] > time * planner->tx_bps[i])
			time = sum[i] / planner->tx_bps[i];
		if (sum[n + i] > time * planner->rx_bps[i])
			time = sum[n + i] / planner->rx_bps[i];
	}
	free(sum);
	return time;
}

static double best_rate(const struct lace_planner *planner, unsigned int pair)
{
	const struct lace_between *p = &planner->pairs[pair];
	double rate = 0;

	for (unsigned int l = p->first_link; l < p->first_link + p->nr_links;
	     l++)
		if (planner->links[l].rate_bps > rate)
			rate = planner->links[l].rate_bps;
	return rate;
}

static bool must_have(const struct lace_planner *planner,
		      const struct lace_need *need)
{
	switch (planner->cluster->relay) {
	case LACE_RELAY_NONE:
		return true;
	case LACE_RELAY_CONTROL:
		return need->data;
	default:
		return false;
	}
}

/* The pair that stands for this one and, in duplex, for the other direction. */
static unsigned int stands_for(const struct lace_planner *planner,
			       unsigned int pair)
{
	const struct lace_between *p = &planner->pairs[pair];

	if (planner->duplex && p->nr_links)
		return planner->links[p->first_link].pair[0];
	return pair;
}

static bool build(struct lace_planner *planner,
		  const struct lace_period *period, unsigned int *var,
		  struct lace_counts *c)
{
	unsigned int n = planner->nr_nodes, nr_vars = 0;
	size_t nr = 0;

	memset(var, 0xff, planner->max_pairs * sizeof(*var));
	for (unsigned int t = 0; t < period->nr; t++) {
		const struct lace_kind *k =
			&planner->kinds[period->terms[t].kind];

		for (size_t i = 0; i < k->nr; i++) {
			unsigned int e = stands_for(planner, k->needs[i].pair);

			if (must_have(planner, &k->needs[i]) &&
			    var[e] == LACE_NONE)
				var[e] = nr_vars++;
		}
		nr += k->nr;
	}
	if (lace_counts_alloc(c, nr_vars, planner->duplex ? n : 2 * n,
			      period->nr, nr)) {
		planner->oom = true;
		return false;
	}
	c->feasible = true;
	for (unsigned int i = 0; i < n; i++) {
		c->size[i] = planner->tx_lanes[i];
		if (!planner->duplex)
			c->size[n + i] = planner->rx_lanes[i];
	}
	for (unsigned int e = 0; e < planner->nr_pairs; e++) {
		const struct lace_between *p = &planner->pairs[e];

		if (var[e] != LACE_NONE)
			c->vars[var[e]] = (struct lace_counts_var){
				.row = { p->src,
					 p->dst + (planner->duplex ? 0 : n) },
				.mult = { 1, 1 } };
	}
	nr = 0;
	for (unsigned int t = 0; t < period->nr; t++) {
		const struct lace_kind *k =
			&planner->kinds[period->terms[t].kind];

		c->first[t] = nr;
		c->weight[t] = period->terms[t].repeat;
		/* A pair with a circuit sends all it has over it, in every op. */
		for (size_t i = 0; i < k->nr; i++) {
			unsigned int e = stands_for(planner, k->needs[i].pair);

			if (var[e] == LACE_NONE)
				continue;
			if (!planner->pairs[e].nr_links)
				c->feasible = false;
			c->entries[nr++] = (struct lace_counts_entry){
				.var = var[e],
				.time = k->needs[i].bits /
					best_rate(planner, e) };
		}
	}
	c->first[period->nr] = nr;
	return true;
}

double lace_bound_period(struct lace_planner *planner,
			 const struct lace_period *period)
{
	unsigned int *var = lace_planner_alloc(planner, planner->max_pairs,
					       sizeof(*var));
	struct lace_counts counts;
	double bound = 0;

	if (!var || !build(planner, period, var, &counts)) {
		free(var);
		return 0;
	}
	if (!counts.feasible)
		bound = INFINITY;
	else
		lace_counts_solve(&counts);
	for (unsigned int t = 0; t < period->nr; t++) {
		double fluid = lace_bound_fluid(planner,
						period->terms[t].kind);

		bound += period->terms[t].repeat *
			 (counts.alone[t] > fluid ? counts.alone[t] : fluid);
	}
	if (counts.feasible && counts.bound > bound)
		bound = counts.bound;
	if (counts.exact && counts.feasible && !planner->duplex &&
	    planner->cluster->relay == LACE_RELAY_CONTROL) {
		double control = lace_bound_control(planner, period, var,
						    &counts);

		bound = control > bound ? control : bound;
	}
	if (!counts.feasible)
		bound = INFINITY;
	lace_counts_free(&counts);
	free(var);
	return bound;
}
