// SPDX-License-Identifier: GPL-2.0
/*
 * Why there is no plan, or no binding: which circuit, which node, which OCS.
 *
 * Two OCSes; node a has two TX lanes on ocs0 and one on ocs1:
 *
 *	a ==ocs0== b    a --ocs1-- c    a --ocs1-- d
 */
#include "planner.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define NODES 4
#define PORTS 3

struct setup {
	struct lace_cluster cluster;
	struct lace_pair pairs[NODES];
	struct lace_demand_op op;
	struct lace_demand demand;
	struct lace_error err;
};

/* ocs[i]: where the ports of node i end, TX and RX alike. */
static void start(struct setup *s, int ocs[NODES][PORTS])
{
	memset(s, 0, sizeof(*s));
	if (lace_cluster_make(NODES, PORTS, 1000000000, LACE_WIRING_PLANES, 0,
			      &s->cluster, &s->err))
		exit(1);
	for (unsigned int i = 0; i < NODES; i++)
		for (unsigned int p = 0; p < PORTS; p++)
			s->cluster.nodes[i].ports[p].tx.ocs =
				s->cluster.nodes[i].ports[p].rx.ocs = ocs[i][p];
	s->cluster.control_ratio = 0;
	s->cluster.relay = LACE_RELAY_NONE;
	s->op = (struct lace_demand_op){ .name = "op", .repeat = 1,
					 .pairs = s->pairs };
	s->demand = (struct lace_demand){ NODES, 1, &s->op, NULL };
}

static void send(struct setup *s, unsigned int src, unsigned int dst)
{
	s->pairs[s->op.nr_pairs++] = (struct lace_pair){ src, dst, 1e6 };
}

static void expect(struct setup *s, const char *scheduler, const char *says)
{
	struct lace_plan plan;
	bool none = lace_compile(&s->cluster, &s->demand, scheduler, &plan,
				 &s->err) &&
		    s->err.kind == LACE_ERR_ANSWER;

	if (!tap_check(none && !strcmp(s->err.text, says), "%s: %s", scheduler,
		       says))
		tap_note("%s", none ? s->err.text : "there is a plan");
	if (!none)
		lace_plan_free(&plan);
	lace_cluster_free(&s->cluster);
}

static void test_ocs(void)
{
	int ocs[NODES][PORTS] = { { 0, 0, 1 }, { 0, 0, 0 }, { 1, 1, -1 },
				  { 1, -1, -1 } };
	struct setup s;

	start(&s, ocs);
	send(&s, 0, 2);
	send(&s, 0, 3);
	expect(&s, "lace",
	       "op \"op\": no lane for the circuit node0 -> node3: node0 has 1 TX lanes on OCS ocs1, and more peers that it meets nowhere else");
	start(&s, ocs);
	send(&s, 2, 0);
	send(&s, 3, 0);
	expect(&s, "lace",
	       "op \"op\": no lane for the circuit node3 -> node0: node0 has 1 RX lanes on OCS ocs1, and more peers that it meets nowhere else");
	start(&s, ocs);
	send(&s, 0, 2);
	send(&s, 2, 0);
	send(&s, 3, 0);
	expect(&s, "symmetric",
	       "op \"op\": no lane for the duplex circuit node3 -> node0: node0 has 1 duplex ports on OCS ocs1, and more peers that it meets nowhere else");
	start(&s, ocs);
	send(&s, 1, 3);
	expect(&s, "lace",
	       "op \"op\": node1 cannot have a circuit to node3: no OCS has a lane of both");
}

/* A lane that is slower is a lane: the two that node0 has on ocs0 count as two. */
static void test_rates(void)
{
	int ocs[NODES][PORTS] = { { 0, 0, 1 }, { 0, 1, -1 }, { 0, -1, -1 },
				  { 0, -1, -1 } };
	struct setup s;

	start(&s, ocs);
	s.cluster.nodes[0].ports[0].rate_bps /= 2;
	send(&s, 0, 1);
	send(&s, 0, 2);
	send(&s, 0, 3);
	s.cluster.nodes[0].ports[2].tx.ocs = 2;
	s.cluster.nodes[1].ports[1].rx.ocs = -1;
	expect(&s, "lace",
	       "op \"op\": no lane for the circuit node0 -> node3: node0 has 2 TX lanes on OCS ocs0, and more peers that it meets nowhere else");
}

/*
 * 0 -> 1 would have to be on ocs1, since 0 -> 2 has ocs0 alone, and on ocs0,
 * since 3 -> 1 has ocs1 alone.
 */
static void test_together(void)
{
	int ocs[NODES][PORTS] = { { 0, 1, -1 }, { 0, 1, -1 }, { 0, -1, -1 },
				  { 1, -1, -1 } };
	struct setup s;

	start(&s, ocs);
	send(&s, 0, 1);
	send(&s, 0, 2);
	send(&s, 3, 1);
	expect(&s, "lace",
	       "op \"op\": each of its pairs can have a circuit, and all together were not made to fit the OCSes");
}

/* Counts that no stage would make. */
static void test_bind(bool even, bool duplex, const char *says)
{
	struct lace_bound_run bound = { 0 };
	struct lace_partition partition;
	struct lace_planner planner;
	struct lace_run run = { 0 };
	int planes[NODES][PORTS] = { { 0, 1, 2 }, { 0, 1, 2 }, { 0, 1, 2 },
				     { 0, 1, 2 } };
	int uneven[NODES][PORTS] = { { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 },
				     { 0, 1, 2 } };
	struct setup s;
	bool none;

	start(&s, even ? planes : uneven);
	send(&s, 0, 1);
	send(&s, 2, 1);
	if (lace_planner_create(&s.cluster, &s.demand, duplex, &planner,
				&s.err))
		exit(1);
	run.config.count = calloc(planner.max_links, sizeof(uint16_t));
	partition = (struct lace_partition){ .nr = 1, .runs = &run };
	run.config.count[planner.pairs[lace_planner_pair(&planner, 0, 1)]
				 .first_link] = 3;
	run.config.count[planner.pairs[lace_planner_pair(&planner, 2, 1)]
				 .first_link] = 1;
	none = lace_bind(&planner, &partition, &bound, &s.err) &&
	       s.err.kind == LACE_ERR_ANSWER;
	if (!tap_check(none && !strcmp(s.err.text, says), "bind: %s", says))
		tap_note("%s", none ? s.err.text : "it was bound");
	free(bound.circuits);
	free(run.config.count);
	lace_planner_free(&planner);
	lace_cluster_free(&s.cluster);
}

int main(void)
{
	tap_plan(9);
	test_ocs();
	test_rates();
	test_together();
	test_bind(false, false,
		  "no lane for the circuit node2 -> node1: all 3 RX lanes of node1 on OCS ocs1 are taken");
	test_bind(false, true,
		  "no lane for the circuit node1 -> node2: all 3 duplex ports of node1 on OCS ocs1 are taken");
	test_bind(true, false,
		  "no lane for the circuit node2 -> node1: all 3 RX lanes of node1 are taken");
	return tap_end();
}
