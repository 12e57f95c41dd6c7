// SPDX-License-Identifier: GPL-2.0
/*
 * Schedules: what is refused and with which words, and that what is written
 * reads back.
 */
#include "parse.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const char good[] =
	"{ \"format\": \"lace-schedule/1\", \"name\": \"s\",\n"		/* 1 */
	"  \"ranks\": 6, \"placement\": [0, 0, 1, 1,\n"			/* 2 */
	"    2, 2],\n"							/* 3 */
	"  \"ops\": [ { \"name\": \"rs\", \"parts\": [\n"		/* 4 */
	"    { \"collective\": \"reduce_scatter\", \"algorithm\": \"ring\",\n"
	"      \"groups\": [[0, 2, 4], [1, 3, 5]], \"bytes\": 300 },\n"	/* 6 */
	"    { \"transfers\": [[0, 5, 7],\n"				/* 7 */
	"      [2, 2, 9]] } ] },\n"					/* 8 */
	"   { \"name\": \"hd\", \"repeat\": 3, \"parts\": [\n"		/* 9 */
	"    { \"collective\": \"all_reduce\", \"algorithm\": \"halving_doubling\",\n"
	"      \"groups\": [{ \"first\": 0, \"stride\": 1, \"count\": 4 }],\n"
	"      \"bytes\": 64, \"steps\": true },\n"			/* 12 */
	"    { \"collective\": \"broadcast\", \"algorithm\": \"ring\",\n"
	"      \"groups\": [[5, 3]], \"bytes\": 8, \"root\": 1 },\n"	/* 14 */
	"    { \"collective\": \"all_to_allv\", \"algorithm\": \"direct\",\n"
	"      \"groups\": [[4, 1]],\n"					/* 16 */
	"      \"matrix\": [[[0, 1],\n"					/* 17 */
	"        [2, 3]]] } ] } ] }\n";					/* 18 */

#define REST_OF_FIRST ", \"algorithm\": \"ring\""

static const struct bad_file bad[] = {
	{ "lace-schedule/1", "lace-plan/1",
	  "1: format: has to be \"lace-schedule/1\", is \"lace-plan/1\"" },
	{ "\"ranks\": 6", "\"ranks\": 7",
	  "2: placement: places 6 of 7 ranks" },
	{ "\"ranks\": 6", "\"ranks\": 1e12",
	  "2: ranks: has to be from 0 to 2147483647, is 1000000000000" },
	{ "\"ranks\": 6, ", "", "1: ranks: is missing" },
	{ "[0, 0, 1", "[0, 0, -1",
	  "2: placement[2]: has to be from 0 to 2147483646, is -1" },
	{ "2, 2],", "2, 4294967296],",
	  "3: placement[5]: has to be from 0 to 2147483646, is 4294967296" },
	{ "\"name\": \"rs\"", "\"name\": 1",
	  "4: ops[0].name: has to be a string, is a number" },
	{ "\"name\": \"rs\", ", "", NULL },
	{ "\"reduce_scatter\"", "\"scatter\"",
	  "5: ops[0].parts[0].collective: there is no collective \"scatter\"" },
	{ "\"reduce_scatter\"", "\"transfers\"",
	  "5: ops[0].parts[0].collective: there is no collective \"transfers\"" },
	{ "\"collective\": \"reduce_scatter\", ", "",
	  "5: ops[0].parts[0]: has neither \"collective\" nor \"transfers\"" },
	{ "\"ring\"", "\"tree\"",
	  "5: ops[0].parts[0].algorithm: there is no algorithm \"tree\"" },
	{ "\"ring\"", "\"direct\"",
	  "5: ops[0].parts[0].algorithm: reduce_scatter has no algorithm \"direct\"" },
	{ "\"ring\"", "\"double_tree\"",
	  "5: ops[0].parts[0].algorithm: reduce_scatter has no algorithm \"double_tree\"" },
	{ REST_OF_FIRST, "", NULL },
	{ "[0, 2, 4]", "[0, 2, 0]",
	  "6: ops[0].parts[0].groups[0][2]: rank 0 is in the group twice" },
	{ "[0, 2, 4]", "[0, 2, 6]",
	  "6: ops[0].parts[0].groups[0][2]: there is no rank 6 among 6" },
	{ "[0, 2, 4]", "[]",
	  "6: ops[0].parts[0].groups[0]: a group needs a rank" },
	{ "[0, 2, 4]", "[3]", NULL },
	{ "[0, 2, 4]", "[1, 3, 5]", NULL },
	{ "[0, 2, 4]", "7",
	  "6: ops[0].parts[0].groups[0]: has to be a list, is a number" },
	{ "300", "-1",
	  "6: ops[0].parts[0].bytes: has to be from 0 to 9007199254740992, is -1" },
	{ "300", "9007199254740993",
	  "6: ops[0].parts[0].bytes: has to be at most 9007199254740992" },
	{ "300", "9007199254740992", NULL },
	{ "300", "1e400", "6: real number overflow near '1e400'" },
	{ ", \"bytes\": 300", "", "5: ops[0].parts[0].bytes: is missing" },
	{ "\"bytes\": 300", "\"bytes\": 300, \"steps\": true",
	  "6: ops[0].parts[0].steps: reduce_scatter by ring has no steps" },
	{ "\"bytes\": 300", "\"bytes\": 300, \"steps\": 1",
	  "6: ops[0].parts[0].steps: has to be true or false, is a number" },
	{ "\"bytes\": 300", "\"bytes\": 300, \"steps\": false", NULL },
	{ "{ \"transfers\":", "{ \"collective\": \"reduce\", \"transfers\":",
	  "7: ops[0].parts[1].collective: \"transfers\" stands there, too" },
	{ "{ \"transfers\":", "{ \"steps\": true, \"transfers\":",
	  "7: ops[0].parts[1].steps: transfers have no steps" },
	{ "[0, 5, 7]", "[0, 5]",
	  "7: ops[0].parts[1].transfers[0]: has to be [source, destination, bytes]" },
	{ "[0, 5, 7]", "[0, 6, 7]",
	  "7: ops[0].parts[1].transfers[0][1]: there is no rank 6 among 6" },
	{ "[2, 2, 9]", "[-2, 2, 9]",
	  "8: ops[0].parts[1].transfers[1][0]: has to be from 0 to 4294967295, is -2" },
	{ "[2, 2, 9]", "[2, 2, 0.5]",
	  "8: ops[0].parts[1].transfers[1][2]: has to be a whole number, is 0.5" },
	{ "\"repeat\": 3", "\"repeat\": 0",
	  "9: ops[1].repeat: has to be from 1 to 9007199254740992, is 0" },
	{ "\"count\": 4", "\"count\": 3",
	  "11: ops[1].parts[0].groups[0]: halving_doubling needs a power of two of ranks, not 3" },
	{ "\"count\": 4", "\"count\": 1099511627776",
	  "11: ops[1].parts[0].groups[0]: the group leaves the 6 ranks" },
	{ "\"stride\": 1", "\"stride\": 2",
	  "11: ops[1].parts[0].groups[0]: the group ends with rank 6 of 6" },
	{ "\"stride\": 1", "\"stride\": 4503599627370496",
	  "11: ops[1].parts[0].groups[0]: the group leaves the 6 ranks" },
	{ "\"stride\": 1", "\"stride\": 0",
	  "11: ops[1].parts[0].groups[0].stride: has to be from 1 to 9007199254740992, is 0" },
	{ "\"first\": 0", "\"first\": 3",
	  "11: ops[1].parts[0].groups[0]: the group ends with rank 6 of 6" },
	{ "\"first\": 0", "\"first\": 4294967295",
	  "11: ops[1].parts[0].groups[0]: the group ends with rank 4294967298 of 6" },
	{ "\"root\": 1", "\"root\": 2",
	  "14: ops[1].parts[1].root: root 2 is not in group 0 of 2 ranks" },
	{ "\"root\": 1", "\"root\": -1",
	  "14: ops[1].parts[1].root: has to be from 0 to 4294967295, is -1" },
	{ "[[4, 1]]", "[[4, 1], [2, 3]]",
	  "17: ops[1].parts[2].matrix: has 1 matrices for 2 groups" },
	{ "[[4, 1]]", "[[4, 1, 2]]",
	  "17: ops[1].parts[2].matrix[0]: has 2 rows for a group of 3 ranks" },
	{ "[2, 3]", "[2]",
	  "18: ops[1].parts[2].matrix[0][1]: has 1 columns for a group of 2 ranks" },
	{ "[2, 3]", "[2, -3]",
	  "18: ops[1].parts[2].matrix[0][1][1]: has to be from 0 to 9007199254740992, is -3" },
	{ "\"matrix\"", "\"bytes\"", "15: ops[1].parts[2].matrix: is missing" },
};

#define NR_BAD (sizeof(bad) / sizeof(bad[0]))

static int parse(const char *text, size_t len, struct lace_error *err)
{
	struct lace_schedule schedule;
	int ret = lace_schedule_parse(text, len, "t", &schedule, err);

	lace_schedule_free(&schedule);
	return ret;
}

static char *write_text(const struct lace_schedule *schedule, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	lace_schedule_write(out, schedule);
	fclose(out);
	return text;
}

static void test_good(void)
{
	struct lace_schedule schedule;
	const struct lace_part *part;
	struct lace_error err;

	if (!tap_check(!lace_schedule_parse(good, strlen(good), "t", &schedule,
					    &err), "the good one is"))
		return;
	tap_check(schedule.nr_ranks == 6 && schedule.placement[4] == 2 &&
			  schedule.placement_line == 2, "placement");
	tap_check(schedule.nr_ops == 2 && schedule.ops[0].repeat == 1 &&
			  schedule.ops[1].repeat == 3, "repeat is 1 if absent");
	part = &schedule.ops[0].parts[0];
	tap_check(part->collective == LACE_REDUCE_SCATTER &&
			  part->algorithm == LACE_RING && !part->steps &&
			  part->nr_groups == 2 && part->bytes == 300 &&
			  lace_group_rank(&part->groups[1], 2) == 5,
		  "a collective");
	part = &schedule.ops[0].parts[1];
	tap_check(part->collective == LACE_TRANSFERS &&
			  part->nr_transfers == 2 &&
			  part->transfers[0].dst == 5 &&
			  part->transfers[1].bytes == 9, "transfers");
	part = schedule.ops[1].parts;
	tap_check(part[0].steps && !part[0].groups[0].ranks &&
			  lace_group_rank(&part[0].groups[0], 3) == 3 &&
			  part[1].root == 1 && part[2].matrix[0][2] == 2,
		  "steps, a stride, a root, a matrix");
	lace_schedule_free(&schedule);
}

static void test_round_trip(void)
{
	struct lace_schedule schedule, again;
	struct lace_error err;
	char *first, *second;
	size_t len;

	if (lace_schedule_parse(good, strlen(good), "t", &schedule, &err))
		return;
	first = write_text(&schedule, &len);
	if (tap_check(!lace_schedule_parse(first, len, "w", &again, &err),
		      "what is written reads back")) {
		second = write_text(&again, &len);
		tap_check(!strcmp(first, second) &&
				  again.ops[1].parts[0].steps &&
				  again.ops[1].parts[2].matrix[0][3] == 3,
			  "and is the same");
		free(second);
		lace_schedule_free(&again);
	}
	free(first);
	lace_schedule_free(&schedule);
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
