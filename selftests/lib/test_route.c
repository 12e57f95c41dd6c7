// SPDX-License-Identifier: GPL-2.0
/*
 * Routes over given circuits, with times that can be worked out by hand.
 *
 *	    1
 *	  /   \
 *	0       3 -- 4 -- 0     all one way, to the right
 *	  \   /
 *	    2
 */
#include "planner.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 8e9	/* a byte a nanosecond */
#define NODES 5
#define PAIRS 4

struct setup {
	struct lace_cluster cluster;
	struct lace_demand demand;
	struct lace_demand_op op;
	struct lace_pair pairs[PAIRS];
	struct lace_planner planner;
	struct lace_router router;
	uint16_t *count;
};

static void start(struct setup *s, double ratio, enum lace_relay relay,
		  const struct lace_pair *pairs, unsigned int nr)
{
	struct lace_error err;

	memset(s, 0, sizeof(*s));
	if (lace_cluster_make(NODES, 4, RATE, LACE_WIRING_SINGLE, 1,
			      &s->cluster, &err))
		exit(1);
	s->cluster.control_ratio = ratio;
	s->cluster.relay = relay;
	memcpy(s->pairs, pairs, nr * sizeof(*pairs));
	s->op = (struct lace_demand_op){ .name = "op", .repeat = 1,
		.nr_pairs = nr, .pairs = s->pairs };
	s->demand = (struct lace_demand){ NODES, 1, &s->op, NULL };
	if (lace_planner_create(&s->cluster, &s->demand, false, &s->planner,
				&err) ||
	    lace_router_create(&s->planner, &s->router))
		exit(1);
	s->count = calloc(s->planner.max_links, sizeof(*s->count));
}

static void stop(struct setup *s)
{
	free(s->count);
	lace_router_free(&s->router);
	lace_planner_free(&s->planner);
	lace_cluster_free(&s->cluster);
}

static uint16_t *circuits(struct setup *s, unsigned int src, unsigned int dst)
{
	unsigned int pair = lace_planner_pair(&s->planner, src, dst);

	return &s->count[s->planner.pairs[pair].first_link];
}

static void join_all(struct setup *s)
{
	static const unsigned int joined[][2] = { { 0, 1 }, { 0, 2 }, { 1, 3 },
						  { 2, 3 }, { 3, 4 }, { 4, 0 } };

	for (unsigned int i = 0; i < 6; i++)
		*circuits(s, joined[i][0], joined[i][1]) = 1;
}

static double route(struct setup *s)
{
	lace_router_set(&s->router, s->count);
	return lace_router_route(&s->router, 0);
}

static double load(const struct setup *s, unsigned int src, unsigned int dst)
{
	return s->router.load[lace_planner_pair(&s->planner, src, dst)] / 8;
}

static void test_one(void)
{
	static const struct lace_pair pairs[] = { { 0, 3, 2e9 } };
	struct setup s;

	start(&s, 0, LACE_RELAY_DATA, pairs, 1);
	join_all(&s);
	tap_check(tap_near(route(&s), 2), "data over two hops");
	tap_check(s.router.nr_routed == 1 && s.router.routed[0].nr == 2,
		  "the shortest way has two hops");
	*circuits(&s, 0, 3) = 2;
	tap_check(tap_near(route(&s), 1) && !s.router.nr_routed,
		  "a circuit of its own is always taken");
	*circuits(&s, 0, 3) = *circuits(&s, 1, 3) = *circuits(&s, 2, 3) = 0;
	tap_check(route(&s) == INFINITY, "no way is no time");
	s.cluster.relay = LACE_RELAY_CONTROL;
	*circuits(&s, 1, 3) = 1;
	tap_check(route(&s) == INFINITY, "data that may not be relayed");
	stop(&s);
}

/* Both come through 0, which has two ways on. */
static void test_spread(void)
{
	static const struct lace_pair pairs[] = { { 0, 3, 3e9 },
						  { 4, 3, 3e9 } };
	struct setup s;

	start(&s, 0, LACE_RELAY_DATA, pairs, 2);
	join_all(&s);
	tap_check(tap_near(route(&s), 3) && load(&s, 0, 1) + load(&s, 0, 2) ==
		  6e9 && load(&s, 0, 1) == load(&s, 0, 2),
		  "two go two ways");
	*circuits(&s, 0, 2) = 0;
	tap_check(tap_near(route(&s), 6), "one way takes both");
	*circuits(&s, 0, 1) = *circuits(&s, 1, 3) = 2;
	tap_check(tap_near(route(&s), 3), "two circuits take half the time");
	stop(&s);
}

/* Control of 3 -> 4 goes the other way round: 4 -> 0 -> 1 -> 3. */
static void test_control(void)
{
	static const struct lace_pair pairs[] = { { 3, 4, 4e9 } };
	struct lace_term term = { 0, 3 };
	struct lace_period period = { 1, &term };
	double target = 4;
	struct setup s;

	start(&s, 0.25, LACE_RELAY_CONTROL, pairs, 1);
	join_all(&s);
	tap_check(tap_near(route(&s), 4) && load(&s, 4, 0) == 1e9 &&
		  load(&s, 3, 4) == 4e9, "control is relayed");
	lace_router_set(&s.router, s.count);
	tap_check(tap_near(lace_router_cost(&s.router, &period, 13), 12) &&
		  lace_router_cost(&s.router, &period, 11) == INFINITY,
		  "runs count, and what is above the limit does not");
	memset(s.count, 0, s.planner.max_links * sizeof(*s.count));
	*circuits(&s, 3, 4) = 1;
	tap_check(route(&s) == INFINITY, "control without a way back");
	lace_router_complete(&s.router, &period, &target, s.count);
	tap_check(tap_near(route(&s), 4) && *circuits(&s, 4, 3) == 1,
		  "gets a circuit where lanes are left");
	stop(&s);
}

int main(void)
{
	tap_plan(12);
	test_one();
	test_spread();
	test_control();
	return tap_end();
}
