// SPDX-License-Identifier: GPL-2.0
/*
 * Duplex schedulers, with numbers that can be worked out by hand.
 */
#include "lace.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 8e9	/* a byte a nanosecond */
#define NODES 8
#define OPS 2

struct setup {
	struct lace_cluster cluster;
	struct lace_demand demand;
	struct lace_demand_op op[OPS];
	struct lace_pair pairs[OPS][NODES];
	struct lace_plan plan;
	struct lace_error err;
};

static void start(struct setup *s, unsigned int nodes, unsigned int ports,
		  double reconfig)
{
	memset(s, 0, sizeof(*s));
	if (lace_cluster_make(nodes, ports, RATE, LACE_WIRING_SINGLE, reconfig,
			      &s->cluster, &s->err))
		exit(1);
	s->cluster.control_ratio = 0;
	s->demand = (struct lace_demand){ .nr_nodes = nodes, .ops = s->op };
}

static int order_pairs(const void *a, const void *b)
{
	const struct lace_pair *x = a, *y = b;

	return x->src < y->src ? -1 : x->src > y->src;
}

/* Each node below nr sends to the next but offset, and round. */
static void add_ring(struct setup *s, unsigned int nr, unsigned int offset,
		     double bytes)
{
	unsigned int o = s->demand.nr_ops++;

	for (unsigned int i = 0; i < nr; i++)
		s->pairs[o][i] = (struct lace_pair){ i, (i + offset) % nr,
						     bytes };
	qsort(s->pairs[o], nr, sizeof(s->pairs[o][0]), order_pairs);
	s->op[o] = (struct lace_demand_op){ .name = "op", .repeat = 1,
		.nr_pairs = nr, .pairs = s->pairs[o] };
}

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

static bool has_way_back(const struct lace_segment *segment, unsigned int i)
{
	const struct lace_circuit *c = &segment->circuits[i];

	for (unsigned int k = 0; k < segment->nr_circuits; k++) {
		const struct lace_circuit *d = &segment->circuits[k];

		if (d->tx_node == c->rx_node && d->tx_port == c->rx_port &&
		    d->rx_node == c->tx_node && d->rx_port == c->tx_port)
			return true;
	}
	return false;
}

static bool is_duplex(const struct lace_plan *plan)
{
	for (unsigned int k = 0; k < plan->nr_segments; k++)
		for (unsigned int i = 0; i < plan->segments[k].nr_circuits; i++)
			if (!has_way_back(&plan->segments[k], i))
				return false;
	return plan->nr_segments;
}

/* A ring of two uses both directions; any other one of each pair. */
static void test_ring(void)
{
	struct setup s;

	start(&s, 2, 4, 1);
	add_ring(&s, 2, 1, 4e9);
	tap_check(tap_near(compile(&s, "symmetric"), 1) && is_duplex(&s.plan) &&
		  tap_near(compile(&s, "lace"), 1),
		  "two nodes: pairs are as good as lanes");
	stop(&s);
	start(&s, 5, 4, 1);
	add_ring(&s, 5, 1, 4e9);
	tap_check(tap_near(compile(&s, "symmetric"), 2) && is_duplex(&s.plan) &&
		  tap_near(s.plan.bound_s, 2) &&
		  tap_near(compile(&s, "lace"), 1),
		  "a ring of five: twice the time of lanes");
	stop(&s);
	/* Nine ports make four pairs: two neighbours share one pair at most. */
	start(&s, 3, 3, 1);
	add_ring(&s, 3, 1, 3e9);
	tap_check(tap_near(compile(&s, "symmetric"), 3) && is_duplex(&s.plan) &&
		  tap_near(s.plan.bound_s, 3) &&
		  tap_near(compile(&s, "lace"), 1),
		  "three nodes with three ports: three times the time of lanes");
	stop(&s);
}

/*
 * Rings of offset one and two over five nodes with four ports: together they
 * are all pairs, one circuit each, 4 s and 4 s; apart two each, 2 s and 2 s.
 */
static void test_splits(void)
{
	struct setup s;

	start(&s, 5, 4, 1);
	add_ring(&s, 5, 1, 4e9);
	add_ring(&s, 5, 2, 4e9);
	tap_check(tap_near(compile(&s, "symmetric-oneshot"), 8) &&
		  s.plan.nr_segments == 1 && is_duplex(&s.plan),
		  "one configuration for all");
	tap_check(tap_near(compile(&s, "symmetric-perop"), 5) &&
		  s.plan.nr_segments == 2 && is_duplex(&s.plan),
		  "one for every op");
	tap_check(tap_near(compile(&s, "symmetric"), 5) &&
		  s.plan.nr_segments == 2, "the best is the second");
	s.cluster.reconfig_s = 6;
	tap_check(tap_near(compile(&s, "symmetric-perop"), 10) &&
		  tap_near(compile(&s, "symmetric"), 8) &&
		  s.plan.nr_segments == 1,
		  "and the first where changing takes longer");
	stop(&s);
}

/* A port without one of its lanes has no place in a pair. */
static void test_half_port(void)
{
	struct setup s;

	start(&s, 2, 2, 1);
	add_ring(&s, 2, 1, 2e9);
	s.cluster.nodes[0].ports[1].rx.ocs = -1;
	tap_check(tap_near(compile(&s, "symmetric"), 2) && is_duplex(&s.plan) &&
		  s.plan.segments[0].nr_circuits == 2,
		  "a port with one lane makes no pair");
	s.op[0].nr_pairs = 1;
	tap_check(tap_near(compile(&s, "lace"), 1), "and is a lane all the same");
	stop(&s);
}

int main(void)
{
	tap_plan(9);
	test_ring();
	test_splits();
	test_half_port();
	return tap_end();
}
