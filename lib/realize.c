// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Stage 3, the Circuit Realizer: whole circuits for a period.
 *
 * A topology says which pairs get circuits; the demand that falls on them, what
 * is relayed included, sets the counts (realize_counts.c).  What is left over
 * goes to demand without a circuit (route_complete.c), and if that costs time,
 * slower points that leave more lanes over are tried.  Where data may be
 * relayed the topology is itself a choice and several are tried.  Small inputs
 * are searched whole afterwards (realize_exact.c).
 */
#include "planner.h"
#include "realize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 4096
#define TOPOLOGY_DROPS 64
#define DROP_BUDGET 400000	/* nodes seen by searches of one topology */

struct realizer {
	struct lace_planner *planner;
	const struct lace_period *period;
	struct lace_router router;
	double bound;		/* no configuration is better */
	struct lace_config *best;
	uint16_t *count;	/* of the attempt in hand */
	bool *mask;		/* pairs of the topology in hand */
	double *target;		/* time of each term aimed at */
	struct lace_flows flows;
	unsigned int *var;	/* of each link */
	struct lace_counts counts;
};

/* ---- demand on the pairs of a topology ---- */

static bool push_flow(struct realizer *r, unsigned int pair, double bits)
{
	if (r->flows.nr == r->flows.max) {
		size_t max = 2 * r->flows.max + 64;
		void *mem = realloc(r->flows.flows,
				    max * sizeof(*r->flows.flows));

		if (!mem) {
			r->planner->oom = true;
			return false;
		}
		r->flows.flows = mem;
		r->flows.max = max;
	}
	r->flows.flows[r->flows.nr++] = (struct lace_flow){ pair, bits };
	return true;
}

/* Demand of the pairs in mask, nothing relayed. */
static bool flows_direct(struct realizer *r)
{
	r->flows.nr = 0;
	for (unsigned int t = 0; t < r->period->nr; t++) {
		const struct lace_kind *k =
			&r->planner->kinds[r->period->terms[t].kind];

		r->flows.first[t] = r->flows.nr;
		for (size_t i = 0; i < k->nr; i++)
			if (r->mask[k->needs[i].pair] &&
			    !push_flow(r, k->needs[i].pair, k->needs[i].bits))
				return false;
	}
	r->flows.first[r->period->nr] = r->flows.nr;
	return true;
}

/* Demand of the pairs in mask when all else is routed over count. */
static bool flows_routed(struct realizer *r, const uint16_t *count)
{
	r->flows.nr = 0;
	lace_router_set(&r->router, count);
	for (unsigned int t = 0; t < r->period->nr; t++) {
		r->flows.first[t] = r->flows.nr;
		if (lace_router_route(&r->router, r->period->terms[t].kind) ==
		    INFINITY)
			return false;
		for (unsigned int e = 0; e < r->planner->nr_pairs; e++)
			if (r->router.load[e] > 0 &&
			    !push_flow(r, e, r->router.load[e]))
				return false;
	}
	r->flows.first[r->period->nr] = r->flows.nr;
	return true;
}

/* ---- counts for the flows ---- */

static bool build_counts(struct realizer *r)
{
	const struct lace_planner *planner = r->planner;
	unsigned int nr_vars = 0;

	memset(r->var, 0xff, planner->max_links * sizeof(*r->var));
	for (size_t i = 0; i < r->flows.nr; i++) {
		const struct lace_between *p =
			&planner->pairs[r->flows.flows[i].pair];

		if (!p->nr_links)
			return false;
		if (r->var[p->first_link] == LACE_NONE)
			r->var[p->first_link] = nr_vars++;
	}
	if (lace_counts_alloc(&r->counts, nr_vars, planner->nr_pools,
			      r->period->nr, r->flows.nr)) {
		r->planner->oom = true;
		return false;
	}
	for (unsigned int k = 0; k < planner->nr_pools; k++)
		r->counts.size[k] = planner->pools[k].size;
	for (unsigned int l = 0; l < planner->nr_links; l++)
		if (r->var[l] != LACE_NONE)
			r->counts.vars[r->var[l]] = (struct lace_counts_var){
				.row = { planner->links[l].pool[0],
					 planner->links[l].pool[1] },
				.mult = { 1, 1 } };
	for (unsigned int t = 0; t < r->period->nr; t++) {
		r->counts.weight[t] = r->period->terms[t].repeat;
		r->counts.first[t] = r->flows.first[t];
	}
	r->counts.first[r->period->nr] = r->flows.nr;
	for (size_t i = 0; i < r->flows.nr; i++) {
		unsigned int l = planner->pairs[r->flows.flows[i].pair].first_link;

		r->counts.entries[i] = (struct lace_counts_entry){
			.var = r->var[l],
			.time = r->flows.flows[i].bits / planner->links[l].rate_bps };
	}
	return true;
}

static void spread_counts(struct realizer *r, const unsigned int *count)
{
	const struct lace_planner *planner = r->planner;

	memset(r->count, 0, planner->max_links * sizeof(*r->count));
	for (unsigned int l = 0; l < planner->nr_links; l++)
		if (r->var[l] != LACE_NONE)
			r->count[l] = count[r->var[l]];
}

/* ---- judging an attempt ---- */

static void keep_if_better(struct realizer *r)
{
	double cost;

	lace_router_set(&r->router, r->count);
	cost = lace_router_cost(&r->router, r->period, r->best->cost);
	if (cost < r->best->cost) {
		r->best->cost = cost;
		memcpy(r->best->count, r->count,
		       r->planner->max_links * sizeof(*r->count));
	}
}

static bool done(const struct realizer *r)
{
	return r->best->cost <= r->bound * (1 + 1e-12);
}

/*
 * Completes the counts in hand for the times aimed at; if that leaves somebody
 * without a path or makes an op wait, for somewhat longer times too.
 */
static void attempt(struct realizer *r, const double *target,
		    const unsigned int *count)
{
	static const double slack[] = { 1, 1.003, 1.01, 1.02, 1.03, 1.045,
					1.065, 1.1, 1.2, 1.5, 4 };
	double *time = r->target, value = 0;

	for (unsigned int t = 0; t < r->period->nr; t++)
		value += r->period->terms[t].repeat * target[t];
	for (unsigned int s = 0; s < sizeof(slack) / sizeof(*slack); s++) {
		if (value * slack[s] >= r->best->cost * (1 - 1e-12) || done(r))
			break;
		for (unsigned int t = 0; t < r->period->nr; t++)
			time[t] = target[t] * slack[s];
		if (count)
			spread_counts(r, count);
		lace_router_complete(&r->router, r->period, time, r->count);
		keep_if_better(r);
		if (!count)
			break;
	}
}

/* Slower points leave more lanes over: worth it while they cost less than what
 * was found.
 */
static void try_points(struct realizer *r)
{
	size_t width = r->period->nr + 1;
	double *points = lace_planner_alloc(r->planner, POINTS * width,
					    sizeof(*points));
	size_t work = (size_t)(r->planner->nr_pairs + 1) * r->period->nr;
	unsigned int budget = 4000000 / work, tried = 0, nr;
	double complete;

	if (!points)
		return;
	budget = budget < 16 ? 16 : budget > 1024 ? 1024 : budget;
	nr = lace_counts_points(&r->counts, r->best->cost, POINTS, points,
				&complete);
	for (unsigned int i = 0; i < nr; i++) {
		const double *point = points + i * width;

		if (point[0] >= r->best->cost * (1 - 1e-12) || done(r))
			break;
		if (tried > budget / 2 && i % (1 + 2 * nr / budget))
			continue;
		tried++;
		if (!lace_counts_for(&r->counts, point + 1, r->counts.count))
			continue;
		attempt(r, point + 1, r->counts.count);
	}
	free(points);
}

/* Counts for the flows in hand, completed; points if that is not the optimum. */
static void solve_flows(struct realizer *r, bool points)
{
	if (!r->planner->simple) {
		if (lace_realize_greedy(r->planner, r->period, &r->flows,
					r->target, r->count))
			attempt(r, r->target, NULL);
		return;
	}
	if (!build_counts(r))
		return;
	lace_counts_solve(&r->counts);
	if (r->counts.feasible) {
		attempt(r, r->counts.time, r->counts.count);
		if (points && !done(r))
			try_points(r);
	}
	r->planner->work += r->counts.work;
	lace_counts_free(&r->counts);
}

/* ---- topologies ---- */

static bool is_required(const struct lace_planner *planner,
			const struct lace_need *need)
{
	return need->data || planner->cluster->relay == LACE_RELAY_NONE;
}

/* The pairs that need a circuit, or would if data could not be relayed. */
static void mask_required(struct realizer *r)
{
	memset(r->mask, 0, r->planner->max_pairs * sizeof(*r->mask));
	for (unsigned int t = 0; t < r->period->nr; t++) {
		const struct lace_kind *k =
			&r->planner->kinds[r->period->terms[t].kind];

		for (size_t i = 0; i < k->nr; i++)
			r->mask[k->needs[i].pair] |=
				is_required(r->planner, &k->needs[i]);
	}
}

/* Every pair with demand. */
static void mask_all(struct realizer *r)
{
	memset(r->mask, 0, r->planner->max_pairs * sizeof(*r->mask));
	for (unsigned int t = 0; t < r->period->nr; t++) {
		const struct lace_kind *k =
			&r->planner->kinds[r->period->terms[t].kind];

		for (size_t i = 0; i < k->nr; i++)
			r->mask[k->needs[i].pair] = true;
	}
}

/* One circuit for each pair of the mask, to have something to route over. */
static void sketch(struct realizer *r)
{
	memset(r->count, 0, r->planner->max_links * sizeof(*r->count));
	for (unsigned int e = 0; e < r->planner->nr_pairs; e++)
		if (r->mask[e] && r->planner->pairs[e].nr_links)
			r->count[r->planner->pairs[e].first_link] = 1;
}

/* The topology in mask with all other demand relayed; twice, because routes
 * follow counts and counts follow routes.
 */
static void try_relayed(struct realizer *r)
{
	sketch(r);
	for (unsigned int round = 0; round < 2; round++) {
		if (!flows_routed(r, r->count))
			return;
		solve_flows(r, false);
	}
}

static double *pair_weights(struct realizer *r)
{
	double *weight = lace_planner_alloc(r->planner, r->planner->max_pairs,
					    sizeof(*weight));

	for (unsigned int t = 0; weight && t < r->period->nr; t++) {
		const struct lace_term *term = &r->period->terms[t];
		const struct lace_kind *k = &r->planner->kinds[term->kind];

		for (size_t i = 0; i < k->nr; i++)
			weight[k->needs[i].pair] +=
				term->repeat * k->needs[i].bits;
	}
	return weight;
}

static double weight_between(const struct realizer *r, const double *weight,
			     unsigned int a, unsigned int b)
{
	unsigned int e = lace_planner_pair(r->planner, a, b);

	return e == LACE_NONE ? 0 : weight[e];
}

/* A cycle through all nodes with demand, from each to where it sends most. */
static unsigned int greedy_cycle(struct realizer *r, const double *weight,
				 unsigned int *cycle, bool *seen)
{
	struct lace_planner *planner = r->planner;
	unsigned int nr = 0, n = planner->nr_nodes;

	memset(seen, true, n * sizeof(*seen));
	for (unsigned int e = 0; e < planner->nr_pairs; e++)
		if (weight[e] > 0)
			seen[planner->pairs[e].src] =
				seen[planner->pairs[e].dst] = false;
	for (unsigned int i = 0; i < n && !nr; i++) {
		if (seen[i])
			continue;
		seen[i] = true;
		cycle[nr++] = i;
	}
	while (nr) {
		unsigned int next = LACE_NONE;
		double best = -1;

		for (unsigned int j = 0; j < n; j++) {
			double w = seen[j] ? -1 :
				   weight_between(r, weight, cycle[nr - 1], j);

			if (w > best) {
				best = w;
				next = j;
			}
		}
		if (next == LACE_NONE)
			break;
		seen[next] = true;
		cycle[nr++] = next;
	}
	return nr;
}

static bool mask_cycle(struct realizer *r, const unsigned int *cycle,
		       unsigned int nr, bool forward, bool backward)
{
	memset(r->mask, 0, r->planner->max_pairs * sizeof(*r->mask));
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int a = cycle[i], b = cycle[(i + 1) % nr], e;

		for (unsigned int way = 0; way < 2; way++) {
			if (!(way ? backward : forward))
				continue;
			e = way ? lace_planner_add_pair(r->planner, b, a) :
				  lace_planner_add_pair(r->planner, a, b);
			if (e == LACE_NONE)
				return false;
			r->mask[e] = true;
		}
	}
	return true;
}

static void try_cycles(struct realizer *r, const double *weight)
{
	unsigned int n = r->planner->nr_nodes;
	unsigned int *cycle = lace_planner_alloc(r->planner, n, sizeof(*cycle));
	bool *seen = lace_planner_alloc(r->planner, n, sizeof(*seen));

	if (cycle && seen) {
		unsigned int nr = greedy_cycle(r, weight, cycle, seen);

		for (unsigned int way = 1; nr > 1 && way < 4; way++)
			if (mask_cycle(r, cycle, nr, way & 1, way & 2))
				try_relayed(r);
	}
	free(cycle);
	free(seen);
}

/* Drops the lightest pairs one by one: what is small may be relayed. */
static void try_drops(struct realizer *r, const double *weight)
{
	size_t work = (size_t)r->planner->nr_nodes * (r->planner->nr_pairs + 1) *
		      (r->period->nr + 1);
	unsigned int drops = work < DROP_BUDGET ? DROP_BUDGET / work : 1;

	mask_required(r);
	if (drops > TOPOLOGY_DROPS)
		drops = TOPOLOGY_DROPS;
	for (unsigned int drop = 0; drop < drops; drop++) {
		unsigned int lightest = LACE_NONE;

		try_relayed(r);
		for (unsigned int e = 0; e < r->planner->nr_pairs; e++)
			if (r->mask[e] && (lightest == LACE_NONE ||
					   weight[e] < weight[lightest]))
				lightest = e;
		if (lightest == LACE_NONE)
			break;
		r->mask[lightest] = false;
	}
}

static void try_topologies(struct realizer *r)
{
	double *weight;

	/* Circuits for all: what relaying has to beat. */
	mask_all(r);
	if (flows_direct(r))
		solve_flows(r, false);
	mask_required(r);
	if (!done(r) && flows_direct(r))
		solve_flows(r, true);
	if (done(r) || r->planner->cluster->relay != LACE_RELAY_DATA)
		return;
	weight = pair_weights(r);
	if (weight) {
		try_cycles(r, weight);
		try_drops(r, weight);
	}
	free(weight);
}

void lace_realize(struct lace_planner *planner,
		  const struct lace_period *period, double bound,
		  struct lace_config *config)
{
	struct realizer r = { .planner = planner, .period = period,
			      .bound = bound, .best = config };

	config->cost = INFINITY;
	r.count = lace_planner_alloc(planner, planner->max_links,
				     sizeof(*r.count));
	r.mask = lace_planner_alloc(planner, planner->max_pairs,
				    sizeof(*r.mask));
	r.target = lace_planner_alloc(planner, period->nr, sizeof(*r.target));
	r.flows.first = lace_planner_alloc(planner, period->nr + 1,
					   sizeof(*r.flows.first));
	r.var = lace_planner_alloc(planner, planner->max_links,
				   sizeof(*r.var));
	if (!planner->oom && !lace_router_create(planner, &r.router)) {
		try_topologies(&r);
		if (!done(&r))
			lace_realize_polish(&r.router, period, config);
		if (!done(&r))
			lace_realize_exact(planner, period, config);
		lace_router_free(&r.router);
	}
	free(r.count);
	free(r.mask);
	free(r.target);
	free(r.flows.first);
	free(r.flows.flows);
	free(r.var);
}
