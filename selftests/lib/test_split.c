// SPDX-License-Identifier: GPL-2.0
/*
 * One node's part of a plan: what each node of a small cluster gets, and what
 * does not fit together.
 *
 *	a ==> b --> c --> d --> a		(==> two lanes)
 *
 * Routes: b > c > d > a, and c > d > a.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"
#include "tap.h"

#define PORT(name, n) "{\"name\":\"" name "\",\"rate_bps\":1000,\"tx\":[\"o\"," \
		      #n "],\"rx\":[\"o\"," #n "]}"

static const char cluster_text[] =
	"{\"format\":\"lace-cluster/1\",\"name\":\"t\",\"reconfig_s\":0,"
	"\"control_ratio\":0,"
	"\"ocs\":[{\"name\":\"o\",\"inputs\":8,\"outputs\":8}],\"nodes\":["
	"{\"name\":\"a\",\"address\":\"10.0.0.1\",\"prefixes\":[\"fd00::1\","
	"\"10.1.0.0/16\"],\"ports\":[" PORT("p", 1) "," PORT("q", 2) "]},"
	"{\"name\":\"b\",\"address\":\"10.0.0.2\",\"ports\":[" PORT("p", 3) ","
	PORT("q", 4) "]},"
	"{\"name\":\"c\",\"address\":\"10.0.0.3\",\"ports\":[" PORT("p", 5) ","
	"{\"name\":\"q\",\"rate_bps\":1000,\"tx\":null,\"rx\":null}]},"
	"{\"name\":\"d\",\"address\":\"10.0.0.4\",\"ports\":[" PORT("p", 7) "]}"
	"]}";

static const char macs_text[] =
	"{\"format\":\"lace-macs/1\",\"nodes\":["
	"{\"name\":\"a\",\"prefixes\":[\"fd00::1/128\",\"fd01::/64\"],\"ports\":["
	"{\"name\":\"p\",\"mac\":\"02:00:00:00:00:00\"},"
	"{\"name\":\"q\",\"mac\":\"02:00:00:00:00:01\"}]},"
	"{\"name\":\"b\",\"ports\":[{\"name\":\"p\",\"mac\":\"02:00:00:00:01:00\"},"
	"{\"name\":\"q\",\"mac\":\"02:00:00:00:01:01\"}]},"
	"{\"name\":\"c\",\"ports\":[{\"name\":\"p\",\"mac\":\"02:00:00:00:02:00\"}]},"
	"{\"name\":\"d\",\"ports\":[{\"name\":\"p\",\"mac\":\"02:00:00:00:03:00\"}]}]}";

#define ZEROS "00000000000000000000000000000000"
#define HEAD "{\"format\":\"lace-plan/1\",\"scheduler\":\"x\"," \
	     "\"cluster_sha256\":\"" ZEROS ZEROS "\"," \
	     "\"schedule_sha256\":\"" ZEROS ZEROS "\",\"cct_s\":1," \
	     "\"transmit_s\":1,\"reconfig_s\":0,\"bound_s\":1,\"segments\":["
#define SEGMENT(first, circuits, routes) \
	"{\"first_op\":" #first ",\"last_op\":" #first ",\"transmit_s\":0.5," \
	"\"circuits\":[" circuits "],\"routes\":[" routes "]}"
#define ALTERNATES(list) "],\"alternates\":[" list
#define RING "[0,0,1,0],[0,1,1,1],[1,0,2,0],[2,0,3,0],[3,0,0,0]"

static const char plan_text[] =
	HEAD SEGMENT(0, RING, "[1,0,[2,3]],[2,0,[3]]") ","
	SEGMENT(1, "[1,0,0,1]",
		"[0,3,[1]]" ALTERNATES("[0,3,[2]],[0,1,[2,3]],[0,3,[1]]")) "]}";

static struct lace_cluster cluster;
static struct lace_macs macs;
static struct lace_plan plan;
static struct lace_error err;

static bool read_all(void)
{
	return !lace_cluster_parse(cluster_text, strlen(cluster_text), "cluster",
				   &cluster, &err) &&
	       !lace_macs_init(&cluster, &macs, &err) &&
	       !lace_macs_parse(macs_text, strlen(macs_text), "macs", &cluster,
				&macs, &err) &&
	       !lace_plan_parse(plan_text, strlen(plan_text), "plan", &plan,
				&err);
}

/* "tx0>1.0 rx0<3.0 | 1>0 3 -1 | 1>0' 2 -1": a route, and its first alternate. */
static const char *describe(const struct lace_rt_segment *segment)
{
	static char text[512];
	size_t len = 0;
	unsigned int i;

	text[0] = '\0';
	for (i = 0; i < segment->nr_circuits; i++)
		len += sprintf(text + len, "%s%u%s%u.%u ",
			       segment->circuits[i].dir == LACE_DIR_TX ?
			       "tx" : "rx", segment->circuits[i].port,
			       segment->circuits[i].dir == LACE_DIR_TX ?
			       ">" : "<", segment->circuits[i].peer,
			       segment->circuits[i].peer_port);
	for (i = 0; i < segment->nr_routes; i++)
		len += sprintf(text + len, "| %u>%u%.*s %d %d ",
			       segment->routes[i].from, segment->routes[i].to,
			       (int)segment->routes[i].rank, "\'\'\'",
			       segment->routes[i].prev,
			       segment->routes[i].next);
	return text;
}

static void check_part(unsigned int node, unsigned int segment,
		       const char *should)
{
	struct lace_rt_state state;
	const char *is = "";
	bool passed;

	passed = !lace_split(&cluster, &plan, &macs, node, 0, &state, &err);
	if (passed) {
		is = describe(&state.segments[segment]);
		passed = !strcmp(is, should) && state.node == (int)node &&
			 state.active == 0 && state.nr_segments == 2 &&
			 state.segments[segment].id == segment &&
			 state.segments[segment].active == !segment;
	}
	if (!tap_check(passed, "node %u, segment %u", node, segment))
		tap_note("is \"%s\", should be \"%s\" (%s)", is, should,
			 err.text);
	lace_rt_state_free(&state);
}

static void check_parts(void)
{
	check_part(0, 0, "tx0>1.0 tx1>1.1 rx0<3.0 | 1>0 3 -1 | 2>0 3 -1 ");
	check_part(1, 0, "tx0>2.0 rx0<0.0 rx1<0.1 | 1>0 -1 2 ");
	check_part(2, 0, "tx0>3.0 rx0<1.0 | 1>0 1 3 | 2>0 -1 3 ");
	check_part(3, 0, "tx0>0.0 rx0<2.0 | 1>0 2 0 | 2>0 2 0 ");
	check_part(0, 1,
		   "rx1<1.0 | 0>1' -1 2 | 0>3 -1 1 | 0>3' -1 2 | 0>3'' -1 1 ");
	check_part(1, 1, "tx0>0.1 | 0>1' 3 -1 | 0>3 0 3 | 0>3' 0 3 ");
	check_part(2, 1, "| 0>1' 0 3 | 0>3' 0 3 ");
}

/* Of the cluster and of the hosts, each once, in one order. */
static void check_nodes(void)
{
	static const char *const prefixes[] = {
		"10.0.0.1/32", "10.1.0.0/16", "fd00::1/128", "fd01::/64",
	};
	struct lace_rt_state state;
	char text[LACE_RT_PREFIX_SIZE];
	unsigned int i;
	bool same;

	if (!tap_check(!lace_split(&cluster, &plan, &macs, 2, LACE_RT_NONE,
				   &state, &err), "a plan with no segment active"))
		return;
	tap_check(state.active == LACE_RT_NONE && !state.segments[0].active,
		  "no segment is active then");
	same = state.nr_nodes == 4 && state.nodes[0].nr_prefixes == 4;
	for (i = 0; same && i < 4; i++)
		same = !strcmp(lace_rt_prefix_format(&state.nodes[0].prefixes[i],
						     text), prefixes[i]);
	tap_check(same, "prefixes of cluster and host add up");
	tap_check(state.nodes[0].ports == 3 && state.nodes[2].ports == 1 &&
		  state.nodes[1].mac[1][4] == 1 && state.nodes[1].mac[1][5] == 1,
		  "ports have the hosts' MAC addresses");
	lace_rt_state_free(&state);
}

/* ---- what does not fit ---- */

static void check_refused(const char *name, unsigned int node, int64_t active,
			  const char *words)
{
	struct lace_rt_state state;
	int ret;

	err.text[0] = '\0';
	ret = lace_split(&cluster, &plan, &macs, node, active, &state, &err);
	if (!tap_check(ret < 0 && err.kind == LACE_ERR_INPUT &&
		       strstr(err.text, words) && !state.nodes, "%s", name))
		tap_note("returned %d, \"%s\"", ret, err.text);
	if (!ret)
		lace_rt_state_free(&state);
}

static void check_bad_plan(const char *name, const char *text,
			   const char *words)
{
	struct lace_plan good = plan;

	if (lace_plan_parse(text, strlen(text), "plan", &plan, &err)) {
		tap_check(false, "%s", name);
		tap_note("not even read: %s", err.text);
	} else {
		check_refused(name, 0, 0, words);
		lace_plan_free(&plan);
	}
	plan = good;
}

static void check_plans(void)
{
	check_bad_plan("a circuit at a node that is not there",
		       HEAD SEGMENT(0, "[0,0,4,0]", "") "]}",
		       "at node 4, the cluster has 4");
	check_bad_plan("a circuit at a port that is not there",
		       HEAD SEGMENT(0, "[0,2,1,0]", "") "]}",
		       "at port 2 of a,");
	check_bad_plan("a circuit from a lane that is not there",
		       HEAD SEGMENT(0, "[2,1,1,0]", "") "]}",
		       "from c q, which has no such lane");
	check_bad_plan("a circuit to a lane that is not there",
		       HEAD SEGMENT(0, "[1,0,2,1]", "") "]}",
		       "to c q, which has no such lane");
	check_bad_plan("a route over a node that is not there",
		       HEAD SEGMENT(0, RING, "[1,0,[9]]") "]}",
		       "route over node 9");
}

static void check_others(void)
{
	uint32_t ports = macs.hosts[1].ports;
	char *address = cluster.nodes[3].address;

	check_refused("a node that is not there", 4, 0, "no node 4");
	check_refused("a segment that is not there", 0, 2, "no segment 2");
	macs.hosts[1].ports = 1;
	check_refused("a peer whose MAC address is not known", 0, 0,
		      "MAC address of b q is not known");
	macs.hosts[1].ports = ports;
	cluster.nodes[3].address = NULL;
	check_refused("a node without an address", 0, 0,
		      "d has no address");
	cluster.nodes[3].address = (char *)"10.0.0.400";
	check_refused("an address that is none", 0, 0, "node d: \"10.0.0.400\"");
	cluster.nodes[3].address = (char *)"10.0.0.2";
	check_refused("an address behind two nodes", 0, 0,
		      "10.0.0.2/32 is behind two nodes, b and d");
	cluster.nodes[3].address = address;
	strcpy(cluster.sha256, "1234");
	strcpy(plan.cluster_sha256, "1235");
	check_refused("a plan for another cluster file", 0, 0,
		      "another cluster file");
	strcpy(plan.cluster_sha256, "1234");
	cluster.sha256[0] = '\0';
}

static void check_names(void)
{
	tap_check(lace_cluster_find_node(&cluster, "c", &err) == 2 &&
		  lace_cluster_find_node(&cluster, "3", &err) == 3,
		  "nodes go by name or number");
	tap_check(lace_cluster_find_node(&cluster, "4", &err) < 0 &&
		  lace_cluster_find_node(&cluster, "x", &err) < 0 &&
		  lace_cluster_find_node(&cluster, "", &err) < 0 &&
		  lace_cluster_find_node(&cluster, "1x", &err) < 0 &&
		  err.kind == LACE_ERR_INPUT, "and by nothing else");
}

int main(void)
{
	tap_plan(26);
	if (tap_check(read_all(), "the files are read")) {
		check_parts();
		check_nodes();
		check_plans();
		check_others();
		check_names();
	} else {
		tap_note("%s:%u: %s", err.file, err.line, err.text);
	}
	lace_plan_free(&plan);
	lace_macs_free(&macs);
	lace_cluster_free(&cluster);
	return tap_end();
}
