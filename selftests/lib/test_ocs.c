// SPDX-License-Identifier: GPL-2.0
/*
 * lib/ocs.c, the part that needs no OCS: circuits as cross-connects, and labs
 * that are not there.  selftests/net/ocs_cross.py tests the rest.
 */
#include <string.h>

#include "ocs.h"
#include "tap.h"

/*
 * a: port 0 on ocs0, input 1, output 2; port 1 on ocs1, input 3, output 4
 * b: port 0 on ocs0, input 5, no output; port 1 no input, ocs1 output 6
 */
static struct lace_port a_ports[] = {
	{ .tx = { 0, 1 }, .rx = { 0, 2 } },
	{ .tx = { 1, 3 }, .rx = { 1, 4 } },
};

static struct lace_port b_ports[] = {
	{ .tx = { 0, 5 }, .rx = { -1, 0 } },
	{ .tx = { -1, 0 }, .rx = { 1, 6 } },
};

static struct lace_node nodes[] = {
	{ .name = "a", .nr_ports = 2, .ports = a_ports },
	{ .name = "b", .nr_ports = 2, .ports = b_ports },
};

static struct lace_ocs units[] = { { "ocs0", 8, 8 }, { "ocs1", 8, 8 } };
static const struct lace_cluster cluster = {
	.nr_ocs = 2, .ocs = units, .nr_nodes = 2, .nodes = nodes,
};

static void test_circuits(void)
{
	static const struct lace_circuit circuits[] = {
		{ 0, 1, 1, 1 }, { 1, 0, 0, 0 },
	};
	struct lace_error err = {};
	struct lace_cross crosses[2];
	int ret;

	ret = lace_cross_of_circuits(&cluster, circuits, 2, crosses, &err);
	tap_check(!ret && crosses[0].ocs == 1 && crosses[0].input == 3 &&
		  crosses[0].output == 6 && crosses[1].ocs == 0 &&
		  crosses[1].input == 5 && crosses[1].output == 2,
		  "circuits become cross-connects in their order");
}

static void test_refused(struct lace_circuit circuit, const char *reason,
			 const char *name)
{
	struct lace_error err = {};
	struct lace_cross cross;
	int ret;

	ret = lace_cross_of_circuits(&cluster, &circuit, 1, &cross, &err);
	tap_check(ret < 0 && err.kind == LACE_ERR_INPUT &&
		  strstr(err.text, reason), "%s", name);
}

static void test_no_lab(void)
{
	struct lace_ocs_emu *emu;
	struct lace_error err = {};

	tap_check(lace_ocs_open("no-such-lab", &emu, &err) < 0 && !emu &&
		  err.kind == LACE_ERR_ANSWER, "no OCS where there is no lab");
	tap_check(lace_ocs_open("../lace", &emu, &err) < 0 && !emu &&
		  err.kind == LACE_ERR_INPUT, "a path is not the name of a lab");
	lace_ocs_close(NULL);
}

int main(void)
{
	tap_plan(8);
	test_circuits();
	test_refused((struct lace_circuit){ 1, 1, 0, 0 }, "no such lane",
		     "a port without a TX lane is refused");
	test_refused((struct lace_circuit){ 0, 0, 1, 0 }, "no such lane",
		     "a port without an RX lane is refused");
	test_refused((struct lace_circuit){ 0, 2, 1, 1 }, "no such lane",
		     "a port that is not there is refused");
	test_refused((struct lace_circuit){ 2, 0, 1, 1 }, "no such lane",
		     "a node that is not there is refused");
	test_refused((struct lace_circuit){ 0, 0, 1, 1 }, "ocs0 and on ocs1",
		     "two OCSes are refused, by name");
	test_no_lab();
	return tap_end();
}
