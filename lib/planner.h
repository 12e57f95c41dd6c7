/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * What stages 2 to 4 of the compiler share.  Not installed.
 *
 * One model serves lanes and duplex pairs: lanes of a node that are alike make
 * a pool, a link joins two pools and takes one lane of each for every circuit,
 * and gives its rate to one ordered pair of nodes (a lane plan) or to both
 * directions (a duplex plan).  Segment values, bounds, search and routes are
 * written once over pools, links and pairs.
 *
 * Terms: a kind is what ops with equal demand have in common; a period is a
 * run of ops under one configuration; a term is a kind within a period with the
 * number of times it runs.
 */
#ifndef LACE_PLANNER_H
#define LACE_PLANNER_H

#include "lace.h"

#include <math.h>

#define LACE_NONE UINT32_MAX

/* ---- planner.c: cluster and demand as pools, links, pairs, kinds ---- */

struct lace_pool {
	unsigned int node;
	unsigned int ocs_tx, ocs_rx;	/* equal but in a duplex pool */
	uint64_t rate_bps;
	unsigned int first_lane, size;	/* lanes[]: port numbers of node */
};

struct lace_link {
	unsigned int pool[2];
	unsigned int pair[2];		/* [1] is LACE_NONE but in duplex */
	double rate_bps;
};

struct lace_between {			/* an ordered pair of nodes */
	unsigned int src, dst;
	unsigned int first_link, nr_links;
};

/* Data and control that a pair asks for in one op, once. */
struct lace_need {
	unsigned int pair;
	bool data;
	double bits;
};

struct lace_kind {
	size_t nr;
	struct lace_need *needs;	/* sorted by pair */
	unsigned int first_op;
};

struct lace_planner {
	const struct lace_cluster *cluster;
	const struct lace_demand *demand;
	bool duplex;
	bool merged;		/* the OCSes are planes: any x can be coloured */
	bool simple;		/* no pair has more than one link */
	bool quick;		/* no bound of control where several ops share a configuration */
	bool oom;		/* an allocation failed: results mean nothing */
	double work;		/* steps of searches so far, whatever for */

	unsigned int nr_nodes;
	double *tx_bps, *rx_bps;		/* of each node, all lanes */
	unsigned int *tx_lanes, *rx_lanes;	/* duplex: the same ports twice */

	unsigned int nr_pools;
	struct lace_pool *pools;
	unsigned int *lanes;
	unsigned int *first_tx, *first_rx;	/* pools of node: nr_nodes + 1 */

	unsigned int nr_pairs, max_pairs;
	struct lace_between *pairs;
	unsigned int nr_links, max_links;
	struct lace_link *links;
	unsigned int hash_mask;
	unsigned int *hash;

	unsigned int nr_kinds;
	struct lace_kind *kinds;
	unsigned int *op_kind;
};

int lace_planner_create(const struct lace_cluster *cluster,
			const struct lace_demand *demand, bool duplex,
			struct lace_planner *planner, struct lace_error *err);
void lace_planner_free(struct lace_planner *planner);
unsigned int lace_planner_pair(const struct lace_planner *planner,
			       unsigned int src, unsigned int dst);
/* As lace_planner_pair(), but makes the pair; LACE_NONE if there is no room. */
unsigned int lace_planner_add_pair(struct lace_planner *planner,
				   unsigned int src, unsigned int dst);
/* Whether the need has to have a circuit of its pair's own. */
bool lace_planner_must_have(const struct lace_planner *planner,
			    const struct lace_need *need);
/* The fastest link of the pair, bits per second; 0 without any. */
double lace_planner_best_rate(const struct lace_planner *planner,
			      unsigned int pair);
void *lace_planner_alloc(struct lace_planner *planner, size_t nr, size_t size);

/* ---- segment.c: which ops share a configuration ---- */

struct lace_term {
	unsigned int kind;
	double repeat;
};

struct lace_period {
	unsigned int nr;
	struct lace_term *terms;	/* sorted by kind, each once */
};

/* Circuits of each link; cost is seconds of transmission of the period. */
struct lace_config {
	uint16_t *count;		/* max_links of the planner */
	double cost;			/* INFINITY: not usable */
};

/* Consecutive ops under one configuration. */
struct lace_run {
	unsigned int first_op, last_op;
	struct lace_config config;
};

struct lace_partition {
	unsigned int nr;
	struct lace_run *runs;
	double cost, bound;		/* reconfigurations included */
};

enum lace_split {
	LACE_SPLIT_BEST,
	LACE_SPLIT_ONESHOT,	/* one configuration for all ops */
	LACE_SPLIT_PEROP,	/* one for every op */
	LACE_SPLIT_NONE,	/* the bound alone */
};

int lace_segment(struct lace_planner *planner, enum lace_split split,
		 struct lace_partition *partition, struct lace_error *err);
/* What no partition can beat; and of each number of first ops alone in prefix,
 * nr_ops + 1, if it is not NULL.
 */
double lace_segment_bound(struct lace_planner *planner, double *prefix);
void lace_partition_free(struct lace_partition *partition);

/* ---- realize.c: one configuration for a period ---- */

/* config->count is the caller's, of max_links; cost INFINITY if none found.
 * The search ends at a configuration that costs no more than bound.
 */
void lace_realize(struct lace_planner *planner,
		  const struct lace_period *period, double bound,
		  struct lace_config *config);
/* Why the period cannot be realized, for people. */
void lace_realize_explain(struct lace_planner *planner, unsigned int op,
			  struct lace_error *err);

/* ---- realize_exact.c: search of all configurations, small inputs only ---- */

void lace_realize_exact(struct lace_planner *planner,
			const struct lace_period *period,
			struct lace_config *config);

/* ---- realize_counts.c: whole circuits for given demand ---- */

#define LACE_COUNTS_EXACT 6	/* terms that are searched whole */

struct lace_counts_entry {
	unsigned int var;
	double time;		/* seconds with one circuit */
};

/*
 * minimize sum of weight_t T_t, T_t = max over entries of time / count, counts
 * whole and at least 1, for every row: sum over its vars of mult x count <=
 * size.
 */
struct lace_counts_var {
	unsigned int row[2];
	unsigned int mult[2];
};

struct lace_counts {
	unsigned int nr_vars, nr_rows, nr_terms;
	struct lace_counts_var *vars;
	unsigned int *size;			/* of each row */
	size_t *first;				/* of each term; nr_terms + 1 */
	struct lace_counts_entry *entries;
	double *weight;

	/* results */
	bool feasible;
	bool exact;		/* value is the optimum */
	double value;
	double bound;		/* no counts have a value below it */
	double *time;		/* T of each term */
	double *alone;		/* T of each term were it the only one */
	unsigned int *count;	/* of each var */

	/* scratch */
	unsigned int *used, *base;
	double work;		/* steps of searches, since it was made */
};

/* Circuits that take time down to T: T is often time / m itself, rounded. */
static inline unsigned int lace_counts_circuits(double time, double target)
{
	double n = ceil(time / target * (1 - 1e-12));

	return n < 1 ? 1 : n > UINT16_MAX ? UINT16_MAX : (unsigned int)n;
}

int lace_counts_alloc(struct lace_counts *counts, unsigned int nr_vars,
		      unsigned int nr_rows, unsigned int nr_terms,
		      size_t nr_entries);
void lace_counts_free(struct lace_counts *counts);
void lace_counts_solve(struct lace_counts *counts);
/* Of the results only feasible, alone and bound. */
void lace_counts_bound(struct lace_counts *counts);
/*
 * Times near those of start for which whole counts fit (realize_round.c); kept
 * in counts->time if that is better than what stands there.
 */
bool lace_counts_round(struct lace_counts *counts, const double *start);
/* The counts that T of each term asks for; false if there are not enough. */
bool lace_counts_for(struct lace_counts *counts, const double *time,
		     unsigned int *count);
/* The least T of a term if every var keeps what base gives it; INFINITY if
 * base does not fit.
 */
double lace_counts_least_time(struct lace_counts *counts, unsigned int term,
			      const unsigned int *base);
/* The smallest value time / m of the term above target; INFINITY if none. */
double lace_counts_step_up(const struct lace_counts *counts, unsigned int term,
			   double target);
/* count = max(base, what term needs for target); both may be one array. */
void lace_counts_raise(const struct lace_counts *counts, unsigned int term,
		       double target, const unsigned int *base,
		       unsigned int *count);
/*
 * Points T with value below limit, ascending by value; returns how many.  All
 * points below *complete are among them, and it is at most limit.
 */
unsigned int lace_counts_points(struct lace_counts *counts, double limit,
				unsigned int max, double *points,
				double *complete);

/* ---- bound.c: what no plan can beat ---- */

double lace_bound_period(struct lace_planner *planner,
			 const struct lace_period *period);
/* Never above lace_bound_period(), and sooner: by the relaxation alone; and by
 * the relaxation of the fullest row alone.
 */
double lace_bound_relaxed(struct lace_planner *planner,
			  const struct lace_period *period);
double lace_bound_row(struct lace_planner *planner,
		      const struct lace_period *period);
/* The fluid bound of one op of the kind: a switch without circuits. */
double lace_bound_fluid(const struct lace_planner *planner, unsigned int kind);

/* ---- route.c: how demand without a circuit travels ---- */

struct lace_routed {
	unsigned int pair;
	double bits;
	unsigned int first, nr;		/* hops[]: pairs */
};

struct lace_router {
	struct lace_planner *planner;
	double *capacity;		/* of each pair, bits per second */
	double *load;			/* bits, of the kind routed last */
	unsigned int *out_head, *out_next, *in_head, *in_next;
	unsigned int nr_routed, max_routed;
	struct lace_routed *routed;
	unsigned int nr_hops, max_hops;
	unsigned int *hops;
	/* scratch of the searches */
	unsigned int *queue, *via, *via_back, *stamp, *stamp_back, *depth;
	unsigned int now;
	double *key;
};

int lace_router_create(struct lace_planner *planner,
		       struct lace_router *router);
void lace_router_free(struct lace_router *router);
void lace_router_set(struct lace_router *router, const uint16_t *count);
/* Seconds of one op of the kind over the configuration set; INFINITY if some
 * demand has no path.
 */
double lace_router_route(struct lace_router *router, unsigned int kind);
/* Of the period; INFINITY is also what costs more than limit. */
double lace_router_cost(struct lace_router *router,
			const struct lace_period *period, double limit);
/*
 * Adds circuits where lanes are left so that demand without circuit gets one
 * or a route, no kind slower than its target time.
 */
void lace_router_complete(struct lace_router *router,
			  const struct lace_period *period,
			  const double *target, uint16_t *count);

/* ---- bind.c: counts to ports ---- */

/* Circuits of one run, sorted by (tx_node, tx_port). */
struct lace_bound_run {
	unsigned int nr;
	struct lace_circuit *circuits;
};

/* bound has partition->nr elements, zeroed; the caller frees their circuits. */
int lace_bind(struct lace_planner *planner,
	      const struct lace_partition *partition,
	      struct lace_bound_run *bound, struct lace_error *err);

/* ---- routes of the plan: route_plan.c ---- */

/* Appends to plan the segments of one run: ops whose routes agree share one. */
int lace_route_run(struct lace_planner *planner, struct lace_router *router,
		   const struct lace_run *run,
		   const struct lace_bound_run *bound, struct lace_plan *plan,
		   struct lace_error *err);

#endif /* LACE_PLANNER_H */
