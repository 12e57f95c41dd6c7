// SPDX-License-Identifier: GPL-2.0
/*
 * Bounds of single periods, with numbers that can be worked out by hand; and
 * that no bound passes what a plan takes.
 */
#include "planner.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 8e9	/* a byte a nanosecond */
#define LANES 16
#define NODES 10
#define OPS 2

struct setup {
	struct lace_cluster cluster;
	struct lace_demand demand;
	struct lace_demand_op op[OPS];
	struct lace_pair pairs[OPS][NODES];
	struct lace_planner planner;
};

static void start(struct setup *s, unsigned int nodes, double ratio,
		  enum lace_relay relay)
{
	struct lace_error err;

	memset(s, 0, sizeof(*s));
	if (lace_cluster_make(nodes, LANES, RATE, LACE_WIRING_SINGLE, 1,
			      &s->cluster, &err))
		exit(1);
	s->cluster.control_ratio = ratio;
	s->cluster.relay = relay;
	s->demand = (struct lace_demand){ .nr_nodes = nodes, .ops = s->op };
}

static void add(struct setup *s, unsigned int o, unsigned int src,
		unsigned int dst, double bytes)
{
	struct lace_demand_op *op = &s->op[o];

	s->pairs[o][op->nr_pairs++] = (struct lace_pair){ src, dst, bytes };
	op->name = "op";
	op->repeat = 1;
	op->pairs = s->pairs[o];
	s->demand.nr_ops = o + 1 > s->demand.nr_ops ? o + 1 : s->demand.nr_ops;
}

static void open_planner(struct setup *s, bool duplex)
{
	struct lace_error err;

	if (lace_planner_create(&s->cluster, &s->demand, duplex, &s->planner,
				&err))
		exit(1);
}

static void stop(struct setup *s)
{
	lace_planner_free(&s->planner);
	lace_cluster_free(&s->cluster);
}

/* Of the first nr ops under one configuration. */
static double bound_of(struct setup *s, unsigned int first, unsigned int nr)
{
	struct lace_term terms[OPS];
	struct lace_period period = { nr, terms };

	for (unsigned int i = 0; i < nr; i++)
		terms[i] = (struct lace_term){ s->planner.op_kind[first + i],
					       1 };
	return lace_bound_period(&s->planner, &period);
}

/*
 * A ring of n that takes a second with all lanes: control goes round it for
 * 1 + (n - 1) r, or over a lane of its own for P/(P - 1).
 */
static void test_ring(void)
{
	static const double r = 0.01;

	for (unsigned int n = 3; n <= NODES; n++) {
		double round = 1 + (n - 1) * r, own = LANES / (LANES - 1.);
		struct lace_plan plan;
		struct lace_error err;
		struct setup s;
		double bound, cct = INFINITY;

		start(&s, n, r, LACE_RELAY_CONTROL);
		for (unsigned int i = 0; i < n; i++)
			add(&s, 0, i, (i + 1) % n, 1e9 * LANES);
		open_planner(&s, false);
		bound = bound_of(&s, 0, 1);
		if (!lace_compile(&s.cluster, &s.demand, "lace", &plan, &err)) {
			cct = plan.cct_s;
			lace_plan_free(&plan);
		}
		tap_check(tap_near(bound, fmin(round, own)) &&
			  tap_near(cct, bound),
			  "a ring of %u: %s", n, n <= 7 ?
			  "control goes round" : "control has lanes");
		stop(&s);
	}
}

static void test_fluid(void)
{
	struct setup s;

	start(&s, 3, 0.5, LACE_RELAY_DATA);
	add(&s, 0, 0, 1, 16e9);
	add(&s, 0, 0, 2, 16e9);
	open_planner(&s, false);
	/* Node 0 sends 32e9 bytes and hears half of that again. */
	tap_check(tap_near(lace_bound_fluid(&s.planner, 0), 2),
		  "fluid: all that a node sends, over its lanes");
	tap_check(tap_near(bound_of(&s, 0, 1), 2),
		  "where data is relayed, there is no more");
	stop(&s);
}

/* Three peers and 16 lanes: 6, 5 and 5, so the equal shares wait for a fifth. */
static void test_counts(void)
{
	struct setup s;

	start(&s, 4, 0, LACE_RELAY_NONE);
	for (unsigned int j = 1; j < 4; j++)
		add(&s, 0, 0, j, 30e9);
	open_planner(&s, false);
	tap_check(tap_near(bound_of(&s, 0, 1), 6),
		  "counts: lanes are whole");
	stop(&s);
	start(&s, 4, 0, LACE_RELAY_NONE);
	for (unsigned int j = 1; j < 4; j++)
		add(&s, 0, 0, j, 30e9);
	add(&s, 0, 1, 0, 60e9);
	open_planner(&s, true);
	/* x, y, y with x + 2y = 16, 60/x against 30/y: 8, 4, 4. */
	tap_check(tap_near(bound_of(&s, 0, 1), 7.5),
		  "duplex: a pair needs the larger of its directions");
	stop(&s);
}

/* One configuration for both is never better than one for each. */
static void test_together(void)
{
	double both, first, second;
	struct setup s;

	start(&s, 3, 0, LACE_RELAY_NONE);
	add(&s, 0, 0, 1, 16e9);
	add(&s, 1, 0, 2, 16e9);
	open_planner(&s, false);
	first = bound_of(&s, 0, 1);
	second = bound_of(&s, 1, 1);
	both = bound_of(&s, 0, 2);
	tap_check(tap_near(first, 1) && tap_near(second, 1) &&
		  tap_near(both, 4), "two ops share 16 lanes: eight each");
	tap_check(tap_near(lace_segment_bound(&s.planner, NULL), 3),
		  "over all partitions: a second each, and one to change");
	stop(&s);
}

/* What lace takes for a model under one configuration, over its bound. */
static double model_ratio(unsigned int pp, unsigned int servers, double ratio)
{
	struct lace_generate spec = { .model = "llama3.1-405b", .pp = pp,
				      .servers = servers, .microbatches = 2 };
	struct lace_schedule schedule;
	struct lace_cluster cluster;
	struct lace_planner planner;
	struct lace_demand demand;
	struct lace_plan plan;
	struct lace_error err;
	double bound;

	if (lace_generate(&spec, &schedule, &err) ||
	    lace_cluster_make(servers, LANES, 4e11, LACE_WIRING_SINGLE, 2,
			      &cluster, &err))
		exit(1);
	cluster.control_ratio = ratio;
	if (lace_profile(&schedule, servers, &demand, &err) ||
	    lace_compile(&cluster, &demand, "lace", &plan, &err) ||
	    lace_planner_create(&cluster, &demand, false, &planner, &err))
		exit(1);
	/* The plan's own bound_s is never above its time. */
	bound = lace_segment_bound(&planner, NULL);
	ratio = plan.cct_s / bound;
	lace_planner_free(&planner);
	lace_plan_free(&plan);
	lace_demand_free(&demand);
	lace_cluster_free(&cluster);
	lace_schedule_free(&schedule);
	return ratio;
}

/*
 * Rings of data and a pipeline: 14 lanes, 1 and 1.  The lanes that the ends of
 * the pipeline have left take 3 messages each, not the 3.6 that fill them.
 */
static void test_messages(void)
{
	static const double ratios[] = { 0.01, 0.02, 0.03, 0.05 };
	double least = INFINITY, ratio;

	ratio = model_ratio(8, 128, 0.02);
	tap_check(ratio < 1.01, "messages are whole: within %.3g %% of the bound",
		  100 * (ratio - 1));
	for (unsigned int i = 0; i < 4; i++) {
		ratio = fmin(model_ratio(8, 64, ratios[i]),
			     model_ratio(16, 64, ratios[i]));
		least = fmin(least, ratio);
	}
	tap_check(least >= 1 - 1e-9, "no bound of a model is above its plan");
}

int main(void)
{
	tap_plan(NODES - 2 + 8);
	test_ring();
	test_fluid();
	test_counts();
	test_together();
	test_messages();
	return tap_end();
}
