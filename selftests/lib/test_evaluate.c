// SPDX-License-Identifier: GPL-2.0
/*
 * The model of completion time, on testbed3 with plans written by hand, and
 * the rules that a plan may break.
 */
#include "lace.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define EXAMPLE "Documentation/examples/testbed3/"
#define HASH "0000000000000000000000000000000000000000000000000000000000000000"
#define PLAN_HEAD							       \
	"{\"format\":\"lace-plan/1\",\"scheduler\":\"hand\",\"cluster_sha256\":\"" \
	HASH "\",\"schedule_sha256\":\"" HASH "\",\"cct_s\":0,\"transmit_s\":0," \
	"\"reconfig_s\":0,\"bound_s\":0,\"segments\":["

#define NR(array) (sizeof(array) / sizeof((array)[0]))

struct fixture {
	struct lace_cluster cluster;
	struct lace_schedule schedule;
	struct lace_demand demand;
	struct lace_plan plan;
	struct lace_error err;
};

static bool fixture_demand(struct fixture *f)
{
	return !lace_profile(&f->schedule, f->cluster.nr_nodes, &f->demand,
			     &f->err);
}

/* segments: JSON, without the brackets. */
static bool fixture_plan(struct fixture *f, const char *segments)
{
	char *text;
	int ret;

	lace_plan_free(&f->plan);
	if (asprintf(&text, PLAN_HEAD "%s]}", segments) < 0)
		return false;
	ret = lace_plan_parse(text, strlen(text), "plan", &f->plan, &f->err);
	free(text);
	if (ret)
		lace_error_print(stderr, "test_evaluate", &f->err);
	return !ret;
}

static int evaluate(struct fixture *f)
{
	return lace_plan_evaluate(&f->cluster, &f->demand, &f->plan, &f->err);
}

static void fixture_free(struct fixture *f)
{
	lace_plan_free(&f->plan);
	lace_demand_free(&f->demand);
	lace_schedule_free(&f->schedule);
	lace_cluster_free(&f->cluster);
}

/* ---- testbed3: numbers that are published with it ---- */

#define TRIANGLE "\"circuits\":[[0,0,1,0],[1,0,0,0],[1,1,2,0],[2,0,1,1]," \
		 "[2,1,0,1],[0,1,2,1]]"
#define RING "\"circuits\":[[0,0,1,0],[0,1,1,1],[1,0,2,0],[1,1,2,1]," \
	     "[2,0,0,0],[2,1,0,1]]"
#define RING_BACK "\"circuits\":[[1,0,0,0],[1,1,0,1],[2,0,1,0],[2,1,1,1]," \
		  "[0,0,2,0],[0,1,2,1]]"
#define ROUND "\"routes\":[[1,0,[2]],[2,1,[0]],[0,2,[1]]]"
#define ROUND_BACK "\"routes\":[[0,1,[2]],[1,2,[0]],[2,0,[1]]]"

static bool open_example(struct fixture *f, const char *cluster)
{
	memset(f, 0, sizeof(*f));
	return !lace_cluster_read(cluster, &f->cluster, &f->err) &&
	       !lace_schedule_read(EXAMPLE "schedule.json", &f->schedule,
				   &f->err) &&
	       fixture_demand(f);
}

static void test_one_configuration(void)
{
	struct fixture f;

	if (!tap_check(open_example(&f, EXAMPLE "cluster.json"), "testbed3"))
		return;
	tap_check(fixture_plan(&f, "{\"first_op\":0,\"last_op\":47,"
			       "\"transmit_s\":0," TRIANGLE "}") &&
			  !evaluate(&f) &&
			  tap_near(f.plan.cct_s, 26.742221701120),
		  "the duplex triangle takes 12 (2f + d) = 26.742222 s");
	/* 12 (f (1 + 2r) + f (2 + r) + d (1 + 2r)) / 2 */
	tap_check(fixture_plan(&f, "{\"first_op\":0,\"last_op\":47,"
			       "\"transmit_s\":0," RING "," ROUND "}") &&
			  !evaluate(&f) &&
			  tap_near(f.plan.cct_s, 14.967691144069) &&
			  f.plan.reconfig_s == 0,
		  "the ring of double lanes takes 14.967691 s");
	f.cluster.relay = LACE_RELAY_CONTROL;
	tap_check(evaluate(&f) < 0 && f.err.kind == LACE_ERR_ANSWER,
		  "it is none where data may not be relayed");
	fixture_free(&f);
}

/* The ring, turned round for every backward window, op 4 k + 1. */
static char *turning_ring(void)
{
	char *text = NULL;
	unsigned int k;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (k = 0; k < 12; k++)
		fprintf(out,
			"{\"first_op\":%u,\"last_op\":%u,\"transmit_s\":0,"
			RING "," ROUND "},"
			"{\"first_op\":%u,\"last_op\":%u,\"transmit_s\":0,"
			RING_BACK "," ROUND_BACK "},",
			k ? 4 * k - 2 : 0, 4 * k, 4 * k + 1, 4 * k + 1);
	fputs("{\"first_op\":46,\"last_op\":47,\"transmit_s\":0,"
	      RING "," ROUND "}", out);
	fclose(out);
	return text;
}

static void test_turning_ring(void)
{
	double f_s = 8 * 3221225472.0 / 100e9;
	double d_s = 8 * 2 * (16060522496.0 * 2 / 3) / 100e9;
	struct fixture f;
	char *text;

	if (!tap_check(open_example(&f, EXAMPLE "cluster-fast.json"),
		       "testbed3 with 20 ms"))
		return;
	text = turning_ring();
	tap_check(fixture_plan(&f, text) && !evaluate(&f) &&
			  tap_near(f.plan.reconfig_s, 24 * 0.02) &&
			  tap_near(f.plan.cct_s,
				   12 * (2 * f_s + d_s) * 1.004 / 2 + 0.48),
		  "the ring that is turned 24 times takes 13.904595 s");
	tap_check(tap_near(f.plan.segments[1].transmit_s, f_s * 1.004 / 2) &&
			  tap_near(f.plan.segments[24].transmit_s,
				   d_s * 1.004 / 2),
		  "so does each segment");
	free(text);
	fixture_free(&f);
}

/* ---- a small cluster, worked out by hand ---- */

/* Ports 0 on one OCS, ports 1 on another; node 3 cannot send on port 0, port 1
 * of node 1 is slow.
 */
static const char cluster_text[] =
	"{\"format\":\"lace-cluster/1\",\"reconfig_s\":2,\"control_ratio\":0.1,"
	"\"relay\":\"control\",\"ocs\":["
	"{\"name\":\"o\",\"inputs\":4,\"outputs\":4},"
	"{\"name\":\"p\",\"inputs\":4,\"outputs\":4}],\"nodes\":["
	"{\"ports\":[{\"rate_bps\":100,\"tx\":[\"o\",1],\"rx\":[\"o\",1]},"
		    "{\"rate_bps\":100,\"tx\":[\"p\",1],\"rx\":[\"p\",1]}]},"
	"{\"ports\":[{\"rate_bps\":100,\"tx\":[\"o\",2],\"rx\":[\"o\",2]},"
		    "{\"rate_bps\":50,\"tx\":[\"p\",2],\"rx\":[\"p\",2]}]},"
	"{\"ports\":[{\"rate_bps\":100,\"tx\":[\"o\",3],\"rx\":[\"o\",3]},"
		    "{\"rate_bps\":100,\"tx\":[\"p\",3],\"rx\":[\"p\",3]}]},"
	"{\"ports\":[{\"rate_bps\":100,\"tx\":null,\"rx\":[\"o\",4]},"
		    "{\"rate_bps\":100,\"tx\":[\"p\",4],\"rx\":[\"p\",4]}]}]}";

static const char schedule_text[] =
	"{\"format\":\"lace-schedule/1\",\"ranks\":3,\"placement\":[0,1,2],"
	"\"ops\":[{\"name\":\"x\",\"parts\":[{\"transfers\":[[0,1,100],[1,2,40]]}]},"
	"{\"name\":\"y\",\"repeat\":3,\"parts\":[{\"transfers\":[[2,0,8]]}]}]}";

static bool open_small(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	return !lace_cluster_parse(cluster_text, strlen(cluster_text),
				   "cluster", &f->cluster, &f->err) &&
	       !lace_schedule_parse(schedule_text, strlen(schedule_text),
				    "schedule", &f->schedule, &f->err) &&
	       fixture_demand(f);
}

#define ALTERNATES(list) "],\"alternates\":[" list
#define SEGMENT(first, last, circuits, routes)				\
	"{\"first_op\":" #first ",\"last_op\":" #last			\
	",\"transmit_s\":0,\"circuits\":[" circuits "],\"routes\":[" routes "]}"
#define C01 "[0,0,1,0]"
#define C12 "[1,0,2,0]"
#define C20 "[2,0,0,0]"
#define CYCLE C01 "," C12 "," C20
#define R10 "[1,0,[2]]"
#define R21 "[2,1,[0]]"
#define R02 "[0,2,[1]]"
#define AROUND R10 "," R21 "," R02

struct time {
	const char *name, *segments;
	enum lace_relay relay;
	double control_ratio;
	double transmit_s, reconfig_s;
};

static const struct time times[] = {
	/* x: 0->1 100 data and 4 of 2->1; 1->2 40 and 10; 2->0 10 and 4.
	 * y: 2->0 8; 0->1 and 1->2 0.8.
	 */
	{ "control round a ring", SEGMENT(0, 1, CYCLE, AROUND),
	  LACE_RELAY_CONTROL, 0.1, 8 * 1.04 + 3 * 8 * 0.08, 0 },
	{ "two lanes are twice as fast",
	  SEGMENT(0, 1, CYCLE ",[2,1,0,1]", AROUND),
	  LACE_RELAY_CONTROL, 0.1, 8 * 1.04 + 3 * 8 * 0.04, 0 },
	{ "a circuit has the rate of its slower port",
	  SEGMENT(0, 1, CYCLE ",[0,1,1,1]", AROUND),
	  LACE_RELAY_CONTROL, 0.1, 8 * 104 / 150.0 + 3 * 8 * 0.08, 0 },
	{ "a lane of its own for control",
	  SEGMENT(0, 1, CYCLE ",[1,1,0,1],[2,1,1,1],[0,1,2,1]", ""),
	  LACE_RELAY_NONE, 0.1, 8 * 1.0 + 3 * 8 * 0.08, 0 },
	{ "no control, no routes", SEGMENT(0, 1, CYCLE, ""),
	  LACE_RELAY_NONE, 0, 8 * 1.0 + 3 * 8 * 0.08, 0 },
	/* 2->0 goes back over 2->1->0; control of y over 0->1->2 */
	{ "data relayed",
	  SEGMENT(0, 1, C01 "," C12 ",[1,1,0,1],[2,1,1,1]",
		  "[2,0,[1]]," R02),
	  LACE_RELAY_DATA, 0.1, 8 * 1.0 + 3 * 8 * 8 / 50.0, 0 },
	{ "alternates cost nothing",
	  SEGMENT(0, 1, CYCLE ",[0,1,2,1],[2,1,1,1]",
		  R10 ALTERNATES("[0,1,[2]]")),
	  LACE_RELAY_CONTROL, 0.1, 8 * 1.0 + 3 * 8 * 0.08, 0 },
	{ "two segments, other circuits",
	  SEGMENT(0, 0, C01 "," C12 ",[1,1,0,1],[2,1,1,1]", "") ","
	  SEGMENT(1, 1, "[2,0,0,0],[2,1,0,1],[0,0,2,0]", ""),
	  LACE_RELAY_CONTROL, 0.1, 8 * 1.0 + 3 * 8 * 0.04, 2 },
	{ "two segments, one circuit more",
	  SEGMENT(0, 0, CYCLE, R10 "," R21) ","
	  SEGMENT(1, 1, CYCLE ",[2,1,0,1]", R02),
	  LACE_RELAY_CONTROL, 0.1, 8 * 1.04 + 3 * 8 * 0.04, 2 },
	{ "two segments, one circuit less",
	  SEGMENT(0, 0, CYCLE ",[2,1,0,1]", R10 "," R21) ","
	  SEGMENT(1, 1, CYCLE, R02),
	  LACE_RELAY_CONTROL, 0.1, 8 * 1.04 + 3 * 8 * 0.08, 2 },
	{ "two segments, the same circuits in another order",
	  SEGMENT(0, 0, CYCLE, R10 "," R21) ","
	  SEGMENT(1, 1, C20 "," C12 "," C01, R02),
	  LACE_RELAY_CONTROL, 0.1, 8 * 1.04 + 3 * 8 * 0.08, 0 },
};

static void test_times(void)
{
	const struct time *time;
	struct fixture f;
	unsigned int i;

	if (!tap_check(open_small(&f), "a small cluster"))
		return;
	for (i = 0; i < NR(times); i++) {
		time = &times[i];
		f.cluster.relay = time->relay;
		f.cluster.control_ratio = time->control_ratio;
		if (!tap_check(fixture_plan(&f, time->segments) &&
				       !evaluate(&f) &&
				       tap_near(f.plan.transmit_s,
						time->transmit_s) &&
				       f.plan.reconfig_s == time->reconfig_s &&
				       tap_near(f.plan.cct_s,
						time->transmit_s +
							time->reconfig_s),
			       "%s", time->name))
			tap_note("%s; %.12g + %g", f.err.text,
				 f.plan.transmit_s, f.plan.reconfig_s);
	}
	fixture_free(&f);
}

/* ---- what is no plan ---- */

struct bad {
	enum lace_relay relay;
	const char *segments, *says;
};

static const struct bad bad[] = {
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE ",[4,0,3,0]", AROUND),
	  "segment 0: circuit [4, 0, 3, 0]: there is no such TX lane" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE ",[0,2,3,0]", AROUND),
	  "segment 0: circuit [0, 2, 3, 0]: there is no such TX lane" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, "[3,0,1,0]," CYCLE, AROUND),
	  "segment 0: circuit [3, 0, 1, 0]: there is no such TX lane" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE ",[0,1,3,2]", AROUND),
	  "segment 0: circuit [0, 1, 3, 2]: there is no such RX lane" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE ",[0,1,0,1]", AROUND),
	  "segment 0: circuit [0, 1, 0, 1]: it leads from a node to itself" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE ",[0,1,3,0]", AROUND),
	  "segment 0: circuit [0, 1, 3, 0]: its lanes end at different OCSes" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE ",[0,0,3,0]", AROUND),
	  "segment 0: circuit [0, 0, 3, 0]: its TX lane is in use" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE ",[0,1,1,1],[2,1,1,1]", AROUND),
	  "segment 0: circuit [2, 1, 1, 1]: its RX lane is in use" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, C01 "," C12, R10 "," R21),
	  "segment 0: route from 1 to 0: a hop has no circuit" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE, R10 "," R21),
	  "segment 0: op 1 (y): node 0 to node 2: there is control and neither circuit nor route" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, C01 "," C20, ""),
	  "segment 0: op 0 (x): node 1 to node 0: there is control and neither circuit nor route" },
	{ LACE_RELAY_CONTROL,
	  SEGMENT(0, 1, C01 ",[1,1,0,1]," C20, ""),
	  "segment 0: op 0 (x): node 1 to node 2: there is data and neither circuit nor route" },
	{ LACE_RELAY_CONTROL,
	  SEGMENT(0, 1, C01 "," C12 ",[1,1,0,1],[2,1,1,1]", "[2,0,[1]]," R02),
	  "segment 0: op 1 (y): node 2 to node 0: data may not be relayed" },
	{ LACE_RELAY_NONE, SEGMENT(0, 1, CYCLE, AROUND),
	  "segment 0: op 0 (x): node 1 to node 0: control may not be relayed" },
	{ LACE_RELAY_DATA, SEGMENT(0, 1, CYCLE, AROUND ",[0,1,[2]]"),
	  "segment 0: route from 0 to 1: a hop has no circuit" },
	{ LACE_RELAY_DATA, SEGMENT(0, 1, CYCLE ",[0,1,2,1],[2,1,1,1]",
				   R10 ",[0,1,[2]]"),
	  "segment 0: route from 0 to 1: the pair has a circuit" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE, AROUND "," R10),
	  "segment 0: route from 1 to 0: the pair has a route" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE, "[1,0,[2,0,1,2]]"),
	  "segment 0: route from 1 to 0: it comes to a node twice" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE, "[1,1,[2,0]]"),
	  "segment 0: route from 1 to 1: it comes to a node twice" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 1, CYCLE, "[1,0,[4]]"),
	  "segment 0: route from 1 to 0: it names a node that does not exist" },
	{ LACE_RELAY_CONTROL,
	  SEGMENT(0, 1, CYCLE ",[0,1,3,1]", AROUND ",[2,3,[0]]"),
	  "segment 0: route from 2 to 3: the pair has no demand" },
	{ LACE_RELAY_CONTROL,
	  SEGMENT(0, 0, CYCLE, AROUND) "," SEGMENT(1, 1, CYCLE, R02),
	  "segment 0: route from 0 to 2: the pair has no demand" },
	{ LACE_RELAY_CONTROL,
	  SEGMENT(0, 1, CYCLE, AROUND ALTERNATES("[0,1,[2]]")),
	  "segment 0: route from 0 to 1: a hop has no circuit" },
	{ LACE_RELAY_CONTROL,
	  SEGMENT(0, 1, CYCLE, AROUND ALTERNATES("[0,1,[]]")),
	  "segment 0: route from 0 to 1: an alternate goes over no node" },
	{ LACE_RELAY_CONTROL,
	  SEGMENT(0, 1, CYCLE, AROUND ALTERNATES("[1,0,[2]]")),
	  "segment 0: route from 1 to 0: an alternate shares a node with another way of its pair" },
	{ LACE_RELAY_CONTROL,
	  SEGMENT(0, 1, CYCLE ",[0,1,2,1],[2,1,1,1]",
		  R10 ALTERNATES("[0,1,[2]],[0,1,[2]]")),
	  "segment 0: route from 0 to 1: an alternate shares a node with another way of its pair" },
	{ LACE_RELAY_CONTROL,
	  SEGMENT(0, 1, CYCLE, R10 "," R21 ALTERNATES(R02)),
	  "segment 0: route from 0 to 2: an alternate of a pair without a way" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 0, CYCLE, R10 "," R21),
	  "ops from 1 on are in no segment: there are 2" },
	{ LACE_RELAY_CONTROL, "", "ops from 0 on are in no segment: there are 2" },
	{ LACE_RELAY_CONTROL, SEGMENT(1, 1, CYCLE, R02),
	  "segment 0 begins with op 1, not 0" },
	{ LACE_RELAY_CONTROL, SEGMENT(0, 2, CYCLE, AROUND),
	  "segment 0 ends with op 2 of 2" },
	{ LACE_RELAY_CONTROL,
	  SEGMENT(0, 1, CYCLE, AROUND) "," SEGMENT(1, 1, CYCLE, R02),
	  "segment 1 begins with op 1, not 2" },
};

static void test_bad(void)
{
	struct fixture f;
	unsigned int i;

	if (!tap_check(open_small(&f), "a small cluster"))
		return;
	for (i = 0; i < NR(bad); i++) {
		f.cluster.relay = bad[i].relay;
		if (!tap_check(fixture_plan(&f, bad[i].segments) &&
				       evaluate(&f) < 0 &&
				       f.err.kind == LACE_ERR_ANSWER &&
				       !strcmp(f.err.text, bad[i].says),
			       "%s", bad[i].says))
			tap_note("is %s", f.err.text);
	}
	fixture_free(&f);
}

/* ---- loads ---- */

static void test_loads(void)
{
	struct lace_load *load = NULL;
	struct fixture f;
	size_t nr = 0;

	if (!tap_check(open_small(&f), "a small cluster"))
		return;
	fixture_plan(&f, SEGMENT(0, 1, CYCLE ",[0,1,1,1]", AROUND));
	tap_check(!lace_plan_load(&f.cluster, &f.demand, &f.plan, 0, &load, &nr,
				  &f.err) && nr == 3, "three pairs have a load");
	tap_check(nr == 3 && tap_near(load[0].bytes, 104) &&
			  load[0].capacity_bps == 150 &&
			  tap_near(load[1].bytes, 50) &&
			  tap_near(load[2].bytes, 14),
		  "with control and what is relayed");
	free(load);
	load = NULL;
	tap_check(!lace_plan_load(&f.cluster, &f.demand, &f.plan, 1, &load, &nr,
				  &f.err) && tap_near(load[2].bytes, 8),
		  "of one round of an op");
	free(load);
	tap_check(lace_plan_load(&f.cluster, &f.demand, &f.plan, 2, &load, &nr,
				 &f.err) < 0, "of an op that there is");
	fixture_free(&f);
}

int main(void)
{
	tap_plan(4 + 3 + 1 + NR(times) + 1 + NR(bad) + 5);
	test_one_configuration();
	test_turning_ring();
	test_times();
	test_bad();
	test_loads();
	return tap_end();
}
