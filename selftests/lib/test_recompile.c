// SPDX-License-Identifier: GPL-2.0
/*
 * Plans for what is left: cases worked out by hand, then random plans with
 * random failures, held against a full compile of what is left.
 *
 *	test_recompile [INSTANCES [FIRST SEED]]
 */
#include "instance.h"
#include "tap.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- three nodes, by hand ---- */

/*
 * Two lanes a node on one OCS; 0 sends to 1 and 2, nothing comes back.  The plan
 * gives (0,1) the lanes 0.0 -> 1.0, and (0,2) the lanes 0.1 -> 2.0.
 */
struct small {
	struct lace_cluster whole, left;
	struct lace_pair pairs[2];
	struct lace_demand_op op;
	struct lace_demand demand;
	struct lace_circuit circuits[2];
	struct lace_segment segment;
	struct lace_plan old;
};

static bool small_make(struct small *s, unsigned int ports)
{
	struct lace_error err;

	memset(s, 0, sizeof(*s));
	if (lace_cluster_make(3, ports, 8000, LACE_WIRING_SINGLE, 1, &s->whole,
			      &err))
		return false;
	s->whole.control_ratio = 0;
	s->pairs[0] = (struct lace_pair){ 0, 1, 1000 };
	s->pairs[1] = (struct lace_pair){ 0, 2, 1000 };
	s->op = (struct lace_demand_op){ .name = "both", .repeat = 1,
		.nr_pairs = 2, .pairs = s->pairs };
	s->demand = (struct lace_demand){ .nr_nodes = 3, .nr_ops = 1,
					  .ops = &s->op };
	s->circuits[0] = (struct lace_circuit){ 0, 0, 1, 0 };
	s->circuits[1] = (struct lace_circuit){ 0, 1, 2, 0 };
	s->segment = (struct lace_segment){ .nr_circuits = 2,
					    .circuits = s->circuits };
	s->old = (struct lace_plan){ .scheduler = "lace", .nr_segments = 1,
				     .segments = &s->segment, .bound_s = 1e9 };
	return !lace_cluster_copy(&s->whole, &s->left, &err);
}

static void small_free(struct small *s)
{
	lace_cluster_free(&s->whole);
	lace_cluster_free(&s->left);
}

static bool small_fail(struct small *s, const char *word)
{
	struct lace_error err;
	struct lace_lane lane;

	if (lace_lane_find(&s->left, word, &lane, &err))
		return false;
	lace_cluster_fail_lane(&s->left, &lane);
	return true;
}

static int small_run(struct small *s, struct lace_plan *plan,
		     struct lace_recompiled *report, struct lace_error *err)
{
	return lace_recompile(&s->whole, &s->left, &s->demand, &s->old, plan,
			      report, err);
}

static bool is_circuit(const struct lace_circuit *c, unsigned int a,
		       unsigned int p, unsigned int b, unsigned int q)
{
	return c->tx_node == a && c->tx_port == p && c->rx_node == b &&
	       c->rx_port == q;
}

static void test_replace(void)
{
	struct lace_recompiled report;
	struct lace_error err;
	struct lace_plan plan;
	struct small s;
	bool ok;

	ok = small_make(&s, 5) && small_fail(&s, "node0/lane1:tx") &&
	     !small_run(&s, &plan, &report, &err);
	tap_check(ok, "a TX lane fails and one is free");
	if (ok) {
		tap_check(plan.segments[0].nr_circuits == 2 &&
			  is_circuit(&plan.segments[0].circuits[0], 0, 0, 1, 0) &&
			  is_circuit(&plan.segments[0].circuits[1], 0, 2, 2, 0),
			  "it takes the place, the rest stays");
		tap_check(report.nr_segments == 1 &&
			  report.segments[0].kept == 1 &&
			  report.segments[0].lost == 1 &&
			  !report.segments[0].moved &&
			  report.segments[0].added == 1 &&
			  tap_near(report.old_cct_s, 1), "and is counted");
		/* Four lanes are left, of which the plan uses two. */
		tap_check(tap_near(plan.cct_s, 1) &&
			  tap_near(plan.bound_s, 0.5),
			  "the bound that the old plan states is not believed");
		lace_plan_free(&plan);
		lace_recompiled_free(&report);
	}
	small_free(&s);
}

/* 0 has one TX lane left, two peers and an op that sends to both. */
static void test_none(void)
{
	struct lace_recompiled report;
	struct lace_error err;
	struct lace_plan plan;
	struct small s;

	small_make(&s, 2);
	small_fail(&s, "0/1:tx");
	tap_check(small_run(&s, &plan, &report, &err) &&
		  err.kind == LACE_ERR_ANSWER &&
		  !strcmp(err.text,
			  "segment 0, op 0 (both): node0 to node2 has neither circuit nor route: "
			  "OCS ocs0 has 1 TX lanes of the one and 2 RX lanes of the other left"),
		  "an op that no configuration serves: pair, op and OCS");
	small_free(&s);
}

static void test_relay(void)
{
	struct lace_recompiled report;
	struct lace_error err;
	struct lace_plan plan;
	struct small s;
	bool ok;

	small_make(&s, 2);
	s.whole.relay = s.left.relay = LACE_RELAY_DATA;
	small_fail(&s, "0/1:tx");
	ok = !small_run(&s, &plan, &report, &err);
	tap_check(ok, "unless data may be relayed");
	if (ok) {
		/* 2000 bytes over the one lane that 0 has. */
		tap_check(tap_near(plan.cct_s, 2) &&
			  plan.segments[0].nr_routes == 1 &&
			  plan.segments[0].routes[0].from == 0 &&
			  plan.segments[0].routes[0].to == 2 &&
			  plan.segments[0].routes[0].between[0] == 1 &&
			  is_circuit(&plan.segments[0].circuits[0], 0, 0, 1, 0),
			  "by a new circuit that closes the gap");
		lace_plan_free(&plan);
		lace_recompiled_free(&report);
	}
	small_free(&s);
}

static void test_nothing(void)
{
	struct lace_recompiled report;
	struct lace_error err;
	struct lace_plan plan;
	struct small s;
	bool ok;

	small_make(&s, 2);
	small_fail(&s, "1/1");
	ok = !small_run(&s, &plan, &report, &err);
	tap_check(ok && !memcmp(plan.segments[0].circuits, s.circuits,
				sizeof(s.circuits)),
		  "a lane without a circuit fails: nothing changes");
	if (ok) {
		lace_plan_free(&plan);
		lace_recompiled_free(&report);
	}
	s.circuits[1].rx_node = 1;
	tap_check(small_run(&s, &plan, &report, &err) &&
		  err.kind == LACE_ERR_ANSWER &&
		  strstr(err.text, "RX lane is in use"),
		  "an old plan that is none is refused");
	small_free(&s);
}

static void test_names(void)
{
	static const char *const bad[][2] = {
		{ "node0", "lane \"node0\": is not NODE/PORT" },
		{ "node9/0", "lane \"node9/0\": there is no such node" },
		{ "node0/lane7", "lane \"node0/lane7\": the node has no such port" },
		{ "0/2", "lane \"0/2\": the node has no such port" },
		{ "0/0:up", "lane \"0/0:up\": the node has no such port" },
		{ "2/1:tx", "lane \"2/1:tx\": the port has no such lane" },
	};
	struct lace_lane lane;
	struct lace_error err;
	struct small s;

	small_make(&s, 2);
	small_fail(&s, "2/1:tx");
	tap_check(!lace_lane_find(&s.left, "node1/lane1", &lane, &err) &&
		  lane.node == 1 && lane.port == 1 && lane.tx && lane.rx,
		  "NODE/PORT is both lanes");
	tap_check(!lace_lane_find(&s.left, "1/lane0:rx", &lane, &err) &&
		  lane.node == 1 && !lane.port && !lane.tx && lane.rx,
		  "NODE/PORT:rx is one");
	tap_check(!lace_lane_find(&s.left, "2/1", &lane, &err) && !lane.tx &&
		  lane.rx, "what is there of it");
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		tap_check(lace_lane_find(&s.left, bad[i][0], &lane, &err) &&
			  !strcmp(err.text, bad[i][1]), "%s", bad[i][1]);
	tap_check(!lace_cluster_fail_ocs(&s.left, "ocs0", &err) &&
		  s.left.nodes[0].ports[0].tx.ocs < 0 &&
		  s.left.nodes[2].ports[1].rx.ocs < 0,
		  "an OCS takes all its lanes along");
	tap_check(lace_cluster_fail_ocs(&s.left, "ocs1", &err) &&
		  !strcmp(err.text, "there is no OCS \"ocs1\""),
		  "if there is one of that name");
	small_free(&s);
}

/* ---- random plans, random failures ---- */

#define MAX_RATIOS 4096

struct tally {
	unsigned int plans, none, wrong, replanned;
	unsigned int circuits, kept, nr_ratios;
	double ratios[MAX_RATIOS];
};

static void complain(struct tally *tally, uint64_t seed, const char *what)
{
	tally->wrong++;
	tap_note("seed %llu: %s", (unsigned long long)seed, what);
}

static void fail_some(struct lace_cluster *left, struct dice *dice)
{
	unsigned int nr = 1 + dice_roll(dice, 4);
	struct lace_error err;

	if (!dice_roll(dice, 6)) {
		lace_cluster_fail_ocs(left, left->ocs[dice_roll(dice,
						left->nr_ocs)].name, &err);
		return;
	}
	while (nr--) {
		struct lace_lane lane = { .node = dice_roll(dice,
							    left->nr_nodes) };

		lane.port = dice_roll(dice, left->nodes[lane.node].nr_ports);
		lane.tx = dice_roll(dice, 3);
		lane.rx = !lane.tx || dice_roll(dice, 2);
		lace_cluster_fail_lane(left, &lane);
	}
}

static bool same_plan(const struct lace_plan *a, const struct lace_plan *b)
{
	size_t len_a = 0, len_b = 0;
	char *x = plan_text(a, &len_a), *y = plan_text(b, &len_b);
	bool same = x && y && len_a == len_b && !memcmp(x, y, len_a);

	free(x);
	free(y);
	return same;
}

static void judge_counts(struct tally *tally, uint64_t seed,
			 const struct lace_plan *old,
			 const struct lace_plan *plan,
			 const struct lace_recompiled *report)
{
	tally->replanned += report->nr_replanned;
	for (unsigned int i = 0; i < report->nr_segments; i++) {
		const struct lace_recompiled_segment *s = &report->segments[i];

		if (s->kept + s->added != plan->segments[i].nr_circuits ||
		    s->kept + s->moved + s->lost !=
			    old->segments[s->old].nr_circuits)
			complain(tally, seed, "the counts do not add up");
		tally->circuits += s->kept + s->moved;
		tally->kept += s->kept;
	}
}

static void judge_plan(struct tally *tally, uint64_t seed,
		       const struct instance *in,
		       const struct lace_cluster *left,
		       const struct lace_plan *plan, const struct lace_plan *full)
{
	struct lace_plan copy = *plan;
	struct lace_error err;

	memcpy(copy.cluster_sha256, left->sha256, sizeof(left->sha256));
	memcpy(copy.schedule_sha256, in->schedule.sha256,
	       sizeof(in->schedule.sha256));
	if (lace_plan_check(left, &in->schedule, &copy, &err))
		complain(tally, seed, err.text);
	if (!full->scheduler)
		return;
	if (plan->bound_s > full->cct_s * (1 + 1e-9))
		complain(tally, seed, "the bound is above a plan");
	if (full->cct_s > 0 && tally->nr_ratios < MAX_RATIOS)
		tally->ratios[tally->nr_ratios++] = plan->cct_s / full->cct_s;
}

static void judge_seed(struct tally *tally, uint64_t seed,
		       const struct instance *in, struct dice *dice)
{
	const char *scheduler = dice_roll(dice, 2) ? "lace" : "symmetric";
	struct lace_plan old, plan, again, full = { 0 };
	struct lace_recompiled report, ignored;
	struct lace_cluster left;
	struct lace_error err;

	if (lace_compile(&in->cluster, &in->demand, scheduler, &old, &err))
		return;
	if (lace_cluster_copy(&in->cluster, &left, &err)) {
		lace_plan_free(&old);
		return;
	}
	fail_some(&left, dice);
	lace_compile(&left, &in->demand, scheduler, &full, &err);
	if (lace_recompile(&in->cluster, &left, &in->demand, &old, &plan,
			   &report, &err)) {
		tally->none++;
		if (err.kind != LACE_ERR_ANSWER)
			complain(tally, seed, err.text);
		else if (full.scheduler)
			complain(tally, seed, "a full compile has a plan");
	} else {
		tally->plans++;
		judge_plan(tally, seed, in, &left, &plan, &full);
		judge_counts(tally, seed, &old, &plan, &report);
		if (lace_recompile(&in->cluster, &left, &in->demand, &old,
				   &again, &ignored, &err) ||
		    !same_plan(&plan, &again))
			complain(tally, seed, "not the same bytes twice");
		lace_plan_free(&again);
		lace_recompiled_free(&ignored);
		lace_plan_free(&plan);
		lace_recompiled_free(&report);
	}
	lace_plan_free(&full);
	lace_plan_free(&old);
	lace_cluster_free(&left);
}

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void test_random(unsigned int nr, uint64_t first)
{
	static const struct instance_size size = { .nodes = 12, .lanes = 8,
						   .ops = 6 };
	static struct tally tally;
	unsigned int n;

	for (uint64_t seed = first; seed < first + nr; seed++) {
		struct dice dice = { .state = seed * 0x9e3779b97f4a7c15ull + 7 };
		struct instance in;

		if (!instance_make(&in, &dice, &size))
			continue;
		judge_seed(&tally, seed, &in, &dice);
		instance_free(&in);
	}
	n = tally.nr_ratios;
	qsort(tally.ratios, n, sizeof(double), order);
	tap_note("%u plans, %u have none, %u segments past repair", tally.plans,
		 tally.none, tally.replanned);
	tap_note("%u of %u circuits that work stay", tally.kept,
		 tally.circuits);
	if (n)
		tap_note("time against a full compile: %.4f, median %.4f, "
			 "nine in ten %.4f, most %.4f",
			 tally.ratios[0], tally.ratios[n / 2],
			 tally.ratios[9 * n / 10], tally.ratios[n - 1]);
	tap_check(tally.plans > nr / 4 && tally.none > 0,
		  "there are plans, and failures that leave none");
	tap_check(!tally.wrong,
		  "every plan passes its check, no bound is above a full compile, "
		  "and where that has a plan there is one");
	tap_check(tally.kept >= 0.8 * tally.circuits,
		  "four in five circuits that work stay");
	tap_check(n && tally.ratios[n / 2] <= 1.001 &&
		  tally.ratios[9 * n / 10] <= 1.25,
		  "half are as fast as a full compile, nine in ten nearly");
}

int main(int argc, char **argv)
{
	unsigned int nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 150;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	tap_plan(24);
	test_replace();
	test_none();
	test_relay();
	test_nothing();
	test_names();
	test_random(nr, first);
	return tap_end();
}
