// SPDX-License-Identifier: GPL-2.0
/*
 * Plans: what is refused and with which words, and that what is written reads
 * back.
 */
#include "parse.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char good[] =
	"{ \"format\": \"lace-plan/1\", \"scheduler\": \"lace\",\n"	/* 1 */
	"  \"cluster_sha256\": \"" HASH "\",\n"				/* 2 */
	"  \"schedule_sha256\": \"" HASH "\",\n"			/* 3 */
	"  \"cct_s\": 15.6, \"transmit_s\": 15.58,\n"			/* 4 */
	"  \"reconfig_s\": 0.02, \"bound_s\": 15.3,\n"			/* 5 */
	"  \"segments\": [ { \"first_op\": 0, \"last_op\": 7,\n"	/* 6 */
	"    \"transmit_s\": 9.1,\n"					/* 7 */
	"    \"circuits\": [[1, 0, 0, 1], [0, 1, 1, 0],\n"		/* 8 */
	"      [0, 0, 2, 0]],\n"					/* 9 */
	"    \"routes\": [[2, 1, [0]], [1, 2, [0]]], \"alternates\": [[2, 1, [4, 3]]] },\n" /* 10 */
	"   { \"first_op\": 8, \"last_op\": 8, \"transmit_s\": 6.48,\n"	/* 11 */
	"    \"circuits\": [] } ] }\n";					/* 12 */

static const struct bad_file bad[] = {
	{ "lace-plan/1", "lace-plan",
	  "1: format: has to be \"lace-plan/1\", is \"lace-plan\"" },
	{ "\"lace\"", "null", "1: scheduler: has to be a string, is null" },
	{ HASH, "0123",
	  "2: cluster_sha256: has to be 64 lower-case hexadecimal digits" },
	{ "\"schedule_sha256\": \"" HASH, "\"schedule_sha256\": \"x" HASH,
	  "3: schedule_sha256: has to be 64 lower-case hexadecimal digits" },
	{ "15.6", "-15.6",
	  "4: cct_s: has to be from 0 to 1.79769e+308, is -15.6" },
	{ "15.58", "[]", "4: transmit_s: has to be a number, is a list" },
	{ "\"bound_s\"", "\"bounds\"", "1: bound_s: is missing" },
	{ "\"first_op\": 0", "\"first_op\": -1",
	  "6: segments[0].first_op: has to be from 0 to 2147483646, is -1" },
	{ "\"last_op\": 7", "\"last_op\": 4294967296",
	  "6: segments[0].last_op: has to be from 0 to 2147483646, is 4294967296" },
	{ "[1, 0, 0, 1]", "[1, 0, 0]",
	  "8: segments[0].circuits[0]: has to be [tx node, tx port, rx node, rx port]" },
	{ "[0, 0, 2, 0]", "[0, 0, 2, \"0\"]",
	  "9: segments[0].circuits[2][3]: has to be a number, is a string" },
	{ "[0, 0, 2, 0]", "[0, 0, 2, 9e15]",
	  "9: segments[0].circuits[2][3]: has to be from 0 to 2147483646, is 9e+15" },
	{ "[2, 1, [0]]", "[2, 1, 0]",
	  "10: segments[0].routes[0][2]: has to be a list, is a number" },
	{ "[2, 1, [0]]", "[2, 1]",
	  "10: segments[0].routes[0]: has to be [from, to, [between]]" },
	{ "[4, 3]", "[4, -3]",
	  "10: segments[0].alternates[0][2][1]: has to be from 0 to 2147483646, is -3" },
	{ ",\n    \"routes\": [[2, 1, [0]], [1, 2, [0]]]", "", NULL },
	{ "\"circuits\": [] }", "\"circuit\": [] }",
	  "11: segments[1].circuits: is missing" },
};

#define NR_BAD (sizeof(bad) / sizeof(bad[0]))

static int parse(const char *text, size_t len, struct lace_error *err)
{
	struct lace_plan plan;
	int ret = lace_plan_parse(text, len, "t", &plan, err);

	lace_plan_free(&plan);
	return ret;
}

static char *write_text(const struct lace_plan *plan, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	lace_plan_write(out, plan);
	fclose(out);
	return text;
}

static void test_good(void)
{
	const struct lace_segment *segment;
	struct lace_error err;
	struct lace_plan plan;

	if (!tap_check(!lace_plan_parse(good, strlen(good), "t", &plan, &err),
		       "the good one is"))
		return;
	tap_check(plan.cct_s == 15.6 && plan.transmit_s == 15.58 &&
			  plan.reconfig_s == 0.02 && plan.bound_s == 15.3 &&
			  !strcmp(plan.cluster_sha256, HASH), "numbers");
	segment = &plan.segments[0];
	tap_check(plan.nr_segments == 2 && segment->last_op == 7 &&
			  segment->transmit_s == 9.1 &&
			  !segment[1].nr_circuits && !segment[1].nr_routes,
		  "segments");
	tap_check(segment->nr_circuits == 3 &&
			  segment->circuits[0].rx_node == 2 &&
			  segment->circuits[1].tx_port == 1 &&
			  segment->circuits[2].rx_port == 1,
		  "circuits, sorted");
	tap_check(segment->nr_routes == 2 && segment->routes[0].from == 1 &&
			  segment->routes[1].to == 1 &&
			  segment->routes[1].nr_between == 1 &&
			  segment->routes[1].between[0] == 0,
		  "routes, sorted");
	tap_check(segment->nr_alternates == 1 &&
			  segment->alternates[0].from == 2 &&
			  segment->alternates[0].nr_between == 2 &&
			  segment->alternates[0].between[0] == 4,
		  "alternates");
	lace_plan_free(&plan);
}

static void test_round_trip(void)
{
	struct lace_plan plan, again;
	struct lace_error err;
	char *first, *second;
	size_t len;

	if (lace_plan_parse(good, strlen(good), "t", &plan, &err))
		return;
	first = write_text(&plan, &len);
	if (tap_check(!lace_plan_parse(first, len, "w", &again, &err),
		      "what is written reads back")) {
		second = write_text(&again, &len);
		tap_check(!strcmp(first, second) && again.cct_s == 15.6 &&
				  again.segments[0].nr_routes == 2 &&
				  again.segments[0].nr_alternates == 1,
			  "and is the same");
		free(second);
		lace_plan_free(&again);
	}
	free(first);
	lace_plan_free(&plan);
}

int main(void)
{
	tap_plan(6 + NR_BAD + 1 + 2);
	test_good();
	parse_test_bad(parse, good, bad, NR_BAD);
	parse_test_cut(parse, good);
	test_round_trip();
	return tap_end();
}
