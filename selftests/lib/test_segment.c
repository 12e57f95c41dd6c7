// SPDX-License-Identifier: GPL-2.0
/*
 * Whole plans with numbers that can be worked out by hand: when to reconfigure,
 * how control travels, what is refused and with which words.
 */
#include "planner.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 8e9	/* a byte a nanosecond */
#define OPS 6

struct setup {
	struct lace_cluster cluster;
	struct lace_demand demand;
	struct lace_demand_op op[OPS];
	struct lace_plan plan;
	struct lace_error err;
};

static void start(struct setup *s, unsigned int nodes, unsigned int ports,
		  double reconfig, double ratio, enum lace_relay relay)
{
	memset(s, 0, sizeof(*s));
	if (lace_cluster_make(nodes, ports, RATE, LACE_WIRING_SINGLE, reconfig,
			      &s->cluster, &s->err))
		exit(1);
	s->cluster.control_ratio = ratio;
	s->cluster.relay = relay;
	s->demand = (struct lace_demand){ .nr_nodes = nodes, .ops = s->op };
}

static void add_op(struct setup *s, const struct lace_pair *pairs, size_t nr,
		   uint64_t repeat)
{
	s->op[s->demand.nr_ops++] = (struct lace_demand_op){ .name = "op",
		.repeat = repeat, .nr_pairs = nr, .pairs = pairs };
}

/* Seconds, or INFINITY with err filled; the plan stays until stop(). */
static double compile(struct setup *s, const char *scheduler)
{
	lace_plan_free(&s->plan);
	if (lace_compile(&s->cluster, &s->demand, scheduler, &s->plan, &s->err))
		return INFINITY;
	return s->plan.cct_s;
}

static void stop(struct setup *s)
{
	lace_plan_free(&s->plan);
	lace_cluster_free(&s->cluster);
}

/* There and back between two nodes: turning round pays below 1/2 s a turn. */
static void test_turn(void)
{
	static const struct lace_pair there[] = { { 0, 1, 2e9 } };
	static const struct lace_pair back[] = { { 1, 0, 2e9 } };
	struct setup s;

	start(&s, 2, 2, 0.25, 0, LACE_RELAY_NONE);
	add_op(&s, there, 1, 1);
	add_op(&s, back, 1, 1);
	/* All lanes go both ways at once: nothing to gain from turning. */
	tap_check(tap_near(compile(&s, "lace"), 2) &&
		  s.plan.nr_segments == 1 && tap_near(s.plan.bound_s, 2),
		  "two nodes: TX and RX lanes serve both ways at once");
	stop(&s);
}

/* 0 sends to 1, then to 2: both lanes each time if changing costs less. */
static void test_change(void)
{
	static const struct lace_pair one[] = { { 0, 1, 2e9 } };
	static const struct lace_pair two[] = { { 0, 2, 2e9 } };
	struct setup s;

	start(&s, 3, 2, 1.5, 0, LACE_RELAY_NONE);
	add_op(&s, one, 1, 1);
	add_op(&s, two, 1, 1);
	tap_check(tap_near(compile(&s, "lace"), 3.5) &&
		  s.plan.nr_segments == 2 && tap_near(s.plan.reconfig_s, 1.5) &&
		  tap_near(s.plan.bound_s, 3.5), "changes where that is faster");
	s.cluster.reconfig_s = 2.5;
	tap_check(tap_near(compile(&s, "lace"), 4) && s.plan.nr_segments == 1,
		  "and stays where it is not");
	tap_check(tap_near(compile(&s, "packet"), 2),
		  "a packet switch needs neither");
	stop(&s);
}

/* A ring of n: control round the ring costs (n-1) r, a reserved lane 1/(P-1). */
static void test_ring(void)
{
	static const struct lace_pair ring[] = { { 0, 1, 16e9 }, { 1, 2, 16e9 },
		{ 2, 3, 16e9 }, { 3, 4, 16e9 }, { 4, 5, 16e9 }, { 5, 6, 16e9 },
		{ 6, 7, 16e9 }, { 7, 0, 16e9 } };
	static const struct lace_pair small[] = { { 0, 1, 16e9 },
		{ 1, 2, 16e9 }, { 2, 0, 16e9 } };
	struct setup s;

	start(&s, 8, 16, 1, 0.01, LACE_RELAY_CONTROL);
	add_op(&s, ring, 8, 1);
	tap_check(tap_near(compile(&s, "lace"), 16. / 15) &&
		  tap_near(s.plan.bound_s, 16. / 15) &&
		  !s.plan.segments[0].nr_routes, "a ring of 8 reserves a lane");
	tap_check(tap_near(compile(&s, "symmetric"), 2),
		  "and takes twice as long in pairs");
	stop(&s);
	start(&s, 3, 16, 1, 0.01, LACE_RELAY_CONTROL);
	add_op(&s, small, 3, 1);
	tap_check(tap_near(compile(&s, "lace"), 1.02) &&
		  tap_near(s.plan.bound_s, 1.02) &&
		  s.plan.segments[0].nr_routes == 3,
		  "a ring of 3 relays control round itself");
	s.cluster.relay = LACE_RELAY_NONE;
	tap_check(tap_near(compile(&s, "lace"), 16. / 15) &&
		  !s.plan.segments[0].nr_routes, "unless nothing may be relayed");
	stop(&s);
}

/* A chain of 4 whose ends close it: control of the middle goes round. */
static void test_chain(void)
{
	static const struct lace_pair chain[] = { { 0, 1, 16e9 },
		{ 1, 2, 16e9 }, { 2, 3, 16e9 } };
	struct setup s;

	start(&s, 4, 16, 1, 0.01, LACE_RELAY_CONTROL);
	add_op(&s, chain, 3, 1);
	tap_check(tap_near(compile(&s, "lace"), 1.02) &&
		  tap_near(s.plan.bound_s, 1.02),
		  "a chain of 4 is closed by lanes that idle at its ends");
	stop(&s);
}

static bool refuses(struct setup *s, const char *scheduler, const char *words)
{
	if (compile(s, scheduler) < INFINITY ||
	    s->err.kind != LACE_ERR_ANSWER || strcmp(s->err.text, words)) {
		tap_note("says: %s", s->err.text);
		return false;
	}
	return true;
}

static void test_refused(void)
{
	static const struct lace_pair star[] = { { 0, 1, 1 }, { 0, 2, 1 },
						 { 0, 3, 1 } };
	static const struct lace_pair one[] = { { 0, 1, 1 } };
	struct setup s;

	start(&s, 4, 2, 1, 0, LACE_RELAY_CONTROL);
	add_op(&s, star, 3, 1);
	tap_check(refuses(&s, "lace",
			  "op \"op\": node node0 sends to 3 peers and has 2 TX lanes"),
		  "more peers than lanes");
	tap_check(refuses(&s, "symmetric",
			  "op \"op\": node node0 exchanges with 3 peers and has 2 duplex ports"),
		  "more peers than ports");
	s.cluster.relay = LACE_RELAY_DATA;
	tap_check(compile(&s, "lace") < INFINITY, "unless data is relayed");
	stop(&s);
	start(&s, 2, 1, 1, 0, LACE_RELAY_CONTROL);
	s.cluster.nodes[1].ports[0].rx.ocs = -1;
	add_op(&s, one, 1, 1);
	tap_check(refuses(&s, "lace",
			  "op \"op\": node0 cannot have a circuit to node1: no OCS has a lane of both"),
		  "no lane at the far end");
	stop(&s);
	start(&s, 2, 1, 1, 0.1, LACE_RELAY_CONTROL);
	s.cluster.nodes[1].ports[0].tx.ocs = -1;
	add_op(&s, one, 1, 1);
	tap_check(refuses(&s, "lace",
			  "op \"op\": no lanes left for a circuit or a route that takes control from node1 to node0"),
		  "no way back for control");
	tap_check(compile(&s, "nonesuch") == INFINITY &&
		  s.err.kind == LACE_ERR_INPUT, "no such scheduler");
	stop(&s);
}

static void test_empty(void)
{
	struct setup s;

	start(&s, 2, 1, 1, 0, LACE_RELAY_NONE);
	tap_check(compile(&s, "lace") == 0 && !s.plan.nr_segments,
		  "no ops, no segments");
	add_op(&s, NULL, 0, 3);
	tap_check(compile(&s, "lace") == 0 && s.plan.nr_segments == 1 &&
		  !s.plan.segments[0].nr_circuits,
		  "an op without demand needs no circuit");
	stop(&s);
}

#define STEP_NODES 14
#define STEPS (STEP_NODES - 1)
#define STEP_LANES 6

/* Seconds of so many equal steps under one configuration. */
static double group(unsigned int steps)
{
	unsigned int least = STEP_LANES / steps, more = STEP_LANES % steps;

	return more / (least + 1.) + (steps - more) / (double)least;
}

/* Step k goes from each node to its k-th next, and lasts a second on one lane:
 * groups are as even as they can be, and so are the lanes of a group.
 */
static void test_steps(double reconfig)
{
	static struct lace_pair pairs[STEPS][STEP_NODES];
	struct lace_demand_op op[STEPS];
	double best[STEPS + 1] = { 0 }, cct;
	struct setup s;

	start(&s, STEP_NODES, STEP_LANES, reconfig, 0, LACE_RELAY_NONE);
	for (unsigned int k = 0; k < STEPS; k++) {
		for (unsigned int i = 0; i < STEP_NODES; i++)
			pairs[k][i] = (struct lace_pair){
				i, (i + k + 1) % STEP_NODES, 1e9 };
		op[k] = (struct lace_demand_op){ .name = "step", .repeat = 1,
			.nr_pairs = STEP_NODES, .pairs = pairs[k] };
	}
	s.demand.ops = op;
	s.demand.nr_ops = STEPS;
	for (unsigned int end = 1; end <= STEPS; end++) {
		best[end] = INFINITY;
		for (unsigned int k = 1; k <= end && k <= STEP_LANES; k++)
			best[end] = fmin(best[end],
					 best[end - k] + group(k) +
					 (k < end ? reconfig : 0));
	}
	cct = compile(&s, "lace");
	tap_check(tap_near(cct, best[STEPS]) &&
		  tap_near(s.plan.bound_s, best[STEPS]),
		  "%u steps, %u lanes, %g s a change: %.9g, bound %.9g of %.9g",
		  STEPS, STEP_LANES, reconfig, cct, s.plan.bound_s,
		  best[STEPS]);
	stop(&s);
}

int main(void)
{
	tap_plan(22);
	test_turn();
	test_change();
	test_ring();
	test_chain();
	test_refused();
	test_empty();
	test_steps(0.01);
	test_steps(0.2);
	test_steps(0.5);
	test_steps(1);
	test_steps(20);
	return tap_end();
}
