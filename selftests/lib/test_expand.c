// SPDX-License-Identifier: GPL-2.0
/*
 * What collectives send: every row of the table of the interfaces document for
 * groups of four ranks, with values worked out by hand, and NCCL's two trees
 * for two to nine ranks.
 */
#include "lace.h"
#include "tap.h"

#include <string.h>

#define MAX 10

struct sent {
	double bytes[MAX][MAX];
};

static int add(void *arg, unsigned int src, unsigned int dst, double bytes)
{
	struct sent *sent = arg;

	sent->bytes[src][dst] += bytes;
	return 0;
}

static struct sent run(const struct lace_part *part, unsigned int step)
{
	struct sent sent = { 0 };

	lace_part_edges(part, step, add, &sent);
	return sent;
}

/* should is n x n. */
static bool same(const struct sent *sent, unsigned int n, const double *should)
{
	unsigned int i, j;
	bool all = true;

	for (i = 0; i < MAX; i++)
		for (j = 0; j < MAX; j++)
			if (sent->bytes[i][j] !=
			    (i < n && j < n ? should[i * n + j] : 0)) {
				tap_note("%u -> %u: %g", i, j,
					 sent->bytes[i][j]);
				all = false;
			}
	return all;
}

/* ---- the table, S = 400 and n = 4 ---- */

struct row {
	const char *name;
	enum lace_collective collective;
	enum lace_algorithm algorithm;
	unsigned int root;
	double sends[16];
};

static const struct row rows[] = {
	{ "all_reduce, ring", LACE_ALL_REDUCE, LACE_RING, 0,
	  { 0, 600, 0, 0,
	    0, 0, 600, 0,
	    0, 0, 0, 600,
	    600, 0, 0, 0 } },
	{ "reduce_scatter, ring", LACE_REDUCE_SCATTER, LACE_RING, 0,
	  { 0, 300, 0, 0,
	    0, 0, 300, 0,
	    0, 0, 0, 300,
	    300, 0, 0, 0 } },
	{ "all_gather, ring", LACE_ALL_GATHER, LACE_RING, 0,
	  { 0, 300, 0, 0,
	    0, 0, 300, 0,
	    0, 0, 0, 300,
	    300, 0, 0, 0 } },
	{ "broadcast, ring, root 0", LACE_BROADCAST, LACE_RING, 0,
	  { 0, 400, 0, 0,
	    0, 0, 400, 0,
	    0, 0, 0, 400,
	    0, 0, 0, 0 } },
	{ "broadcast, ring, root 1", LACE_BROADCAST, LACE_RING, 1,
	  { 0, 0, 0, 0,
	    0, 0, 400, 0,
	    0, 0, 0, 400,
	    400, 0, 0, 0 } },
	{ "reduce, ring, root 0", LACE_REDUCE, LACE_RING, 0,
	  { 0, 0, 0, 0,
	    0, 0, 400, 0,
	    0, 0, 0, 400,
	    400, 0, 0, 0 } },
	{ "reduce, ring, root 1", LACE_REDUCE, LACE_RING, 1,
	  { 0, 400, 0, 0,
	    0, 0, 0, 0,
	    0, 0, 0, 400,
	    400, 0, 0, 0 } },
	{ "all_reduce, halving_doubling", LACE_ALL_REDUCE,
	  LACE_HALVING_DOUBLING, 0,
	  { 0, 400, 200, 0,
	    400, 0, 0, 200,
	    200, 0, 0, 400,
	    0, 200, 400, 0 } },
	{ "all_reduce, double_tree", LACE_ALL_REDUCE, LACE_DOUBLE_TREE, 0,
	  { 0, 200, 200, 0,
	    200, 0, 400, 200,
	    200, 400, 0, 200,
	    0, 200, 200, 0 } },
	{ "all_to_all, direct", LACE_ALL_TO_ALL, LACE_DIRECT, 0,
	  { 0, 100, 100, 100,
	    100, 0, 100, 100,
	    100, 100, 0, 100,
	    100, 100, 100, 0 } },
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static void test_table(void)
{
	struct lace_group group = { .count = 4, .first = 0, .stride = 1 };
	struct lace_part part = { .nr_groups = 1, .groups = &group };
	struct sent sent;
	unsigned int i;

	for (i = 0; i < NR_ROWS; i++) {
		part.collective = rows[i].collective;
		part.algorithm = rows[i].algorithm;
		part.root = rows[i].root;
		part.bytes = 400;
		sent = run(&part, 0);
		tap_check(same(&sent, 4, rows[i].sends) &&
				  lace_part_nr_steps(&part) == 1, "%s",
			  rows[i].name);
	}
}

static void test_matrix(void)
{
	static uint64_t matrix[16] = { 9, 1, 2, 3,
				       4, 9, 5, 6,
				       7, 8, 9, 0,
				       1, 2, 3, 9 };
	static const double sends[16] = { 0, 1, 2, 3,
					  4, 0, 5, 6,
					  7, 8, 0, 0,
					  1, 2, 3, 0 };
	uint64_t *matrices[] = { matrix };
	struct lace_group group = { .count = 4, .stride = 1 };
	struct lace_part part = {
		.collective = LACE_ALL_TO_ALLV, .algorithm = LACE_DIRECT,
		.nr_groups = 1, .groups = &group, .matrix = matrices,
	};
	struct sent sent = run(&part, 0);

	tap_check(same(&sent, 4, sends), "all_to_allv, direct");
}

/* ---- ranks that are not in a row, several groups, fractions ---- */

static void test_groups(void)
{
	unsigned int ranks[] = { 4, 0, 2 };
	struct lace_group groups[] = {
		{ .count = 3, .ranks = ranks },
		{ .count = 2, .first = 1, .stride = 4 },
	};
	struct lace_part part = {
		.collective = LACE_REDUCE_SCATTER, .algorithm = LACE_RING,
		.bytes = 100, .nr_groups = 2, .groups = groups,
	};
	struct sent sent = run(&part, 0);

	tap_check(tap_near(sent.bytes[4][0], 200.0 / 3) &&
			  tap_near(sent.bytes[0][2], 200.0 / 3) &&
			  tap_near(sent.bytes[2][4], 200.0 / 3),
		  "a ring in the order of the list, in fractions of a byte");
	tap_check(sent.bytes[1][5] == 50 && sent.bytes[5][1] == 50,
		  "a ring of two, by stride");
	groups[0].count = 1;
	groups[1].count = 1;
	sent = run(&part, 0);
	tap_check(same(&sent, 0, (double[]){ 0 }),
		  "a group of one sends nothing");
}

/* NCCL's trees as (child, parent), first and second, for n = 2 .. 9. */
static const unsigned char trees[8][2][8][2] = {
	{ { { 1, 0 } },
	  { { 0, 1 } } },
	{ { { 1, 2 }, { 2, 0 } },
	  { { 2, 0 }, { 0, 1 } } },
	{ { { 1, 2 }, { 2, 0 }, { 3, 2 } },
	  { { 2, 1 }, { 1, 3 }, { 0, 1 } } },
	{ { { 1, 2 }, { 2, 4 }, { 3, 2 }, { 4, 0 } },
	  { { 2, 3 }, { 3, 0 }, { 4, 3 }, { 0, 1 } } },
	{ { { 1, 2 }, { 2, 4 }, { 3, 2 }, { 4, 0 }, { 5, 4 } },
	  { { 4, 3 }, { 3, 1 }, { 2, 3 }, { 1, 5 }, { 0, 1 } } },
	{ { { 1, 2 }, { 2, 4 }, { 3, 2 }, { 4, 0 }, { 5, 6 }, { 6, 4 } },
	  { { 2, 3 }, { 3, 5 }, { 4, 3 }, { 5, 1 }, { 6, 0 }, { 0, 5 } } },
	{ { { 1, 2 }, { 2, 4 }, { 3, 2 }, { 4, 0 }, { 5, 6 }, { 6, 4 },
	    { 7, 6 } },
	  { { 6, 5 }, { 5, 3 }, { 4, 5 }, { 3, 7 }, { 2, 1 }, { 1, 3 },
	    { 0, 1 } } },
	{ { { 1, 2 }, { 2, 4 }, { 3, 2 }, { 4, 8 }, { 5, 6 }, { 6, 4 },
	    { 7, 6 }, { 8, 0 } },
	  { { 2, 3 }, { 3, 5 }, { 4, 3 }, { 5, 0 }, { 6, 7 }, { 7, 5 },
	    { 8, 7 }, { 0, 1 } } },
};

static void test_trees(void)
{
	struct lace_group group = { .stride = 1 };
	struct lace_part part = {
		.collective = LACE_ALL_REDUCE, .algorithm = LACE_DOUBLE_TREE,
		.bytes = 2, .nr_groups = 1, .groups = &group,
	};
	unsigned int n, tree, i, child, parent;
	double sends[MAX * MAX];
	struct sent sent;

	for (n = 2; n <= 9; n++) {
		memset(sends, 0, sizeof(sends));
		for (tree = 0; tree < 2; tree++) {
			for (i = 0; i < n - 1; i++) {
				child = trees[n - 2][tree][i][0];
				parent = trees[n - 2][tree][i][1];
				sends[child * n + parent] += 1;
				sends[parent * n + child] += 1;
			}
		}
		group.count = n;
		sent = run(&part, 0);
		tap_check(same(&sent, n, sends), "two trees of %u", n);
	}
}

/* ---- steps ---- */

static void test_direct_steps(void)
{
	static const double steps[3][16] = {
		{ 0, 100, 0, 0, 0, 0, 100, 0, 0, 0, 0, 100, 100, 0, 0, 0 },
		{ 0, 0, 100, 0, 0, 0, 0, 100, 100, 0, 0, 0, 0, 100, 0, 0 },
		{ 0, 0, 0, 100, 100, 0, 0, 0, 0, 100, 0, 0, 0, 0, 100, 0 },
	};
	struct lace_group group = { .count = 4, .stride = 1 };
	struct lace_part part = {
		.collective = LACE_ALL_TO_ALL, .algorithm = LACE_DIRECT,
		.steps = true, .bytes = 400, .nr_groups = 1, .groups = &group,
	};
	struct sent sent;
	unsigned int k;

	tap_check(lace_part_nr_steps(&part) == 3, "all_to_all: n - 1 steps");
	for (k = 0; k < 3; k++) {
		sent = run(&part, k);
		tap_check(same(&sent, 4, steps[k]), "all_to_all, step %u", k);
	}
}

static void test_halving_steps(void)
{
	static const double far[16] = { 0, 0, 100, 0, 0, 0, 0, 100,
					100, 0, 0, 0, 0, 100, 0, 0 };
	static const double near[16] = { 0, 200, 0, 0, 200, 0, 0, 0,
					 0, 0, 0, 200, 0, 0, 200, 0 };
	static const double *const steps[] = { near, far, far, near };
	struct lace_group group = { .count = 4, .stride = 1 };
	struct lace_part part = {
		.collective = LACE_ALL_REDUCE,
		.algorithm = LACE_HALVING_DOUBLING, .steps = true,
		.bytes = 400, .nr_groups = 1, .groups = &group,
	};
	struct sent sent;
	unsigned int k;

	tap_check(lace_part_nr_steps(&part) == 4,
		  "halving_doubling: 2 log2 n steps");
	for (k = 0; k < 4; k++) {
		sent = run(&part, k);
		tap_check(same(&sent, 4, steps[k]),
			  "halving_doubling, step %u", k);
	}
}

static void test_uneven_steps(void)
{
	struct lace_group groups[] = {
		{ .count = 2, .first = 0, .stride = 1 },
		{ .count = 3, .first = 2, .stride = 1 },
		{ .count = 1, .first = 5, .stride = 1 },
	};
	struct lace_part part = {
		.collective = LACE_ALL_TO_ALL, .algorithm = LACE_DIRECT,
		.steps = true, .bytes = 6, .nr_groups = 3, .groups = groups,
	};
	struct sent sent;

	tap_check(lace_part_nr_steps(&part) == 2,
		  "as many steps as the greatest group");
	sent = run(&part, 0);
	tap_check(sent.bytes[0][1] == 3 && sent.bytes[2][3] == 2,
		  "all groups take the first");
	sent = run(&part, 1);
	tap_check(sent.bytes[0][1] == 0 && sent.bytes[1][0] == 0 &&
			  sent.bytes[2][4] == 2,
		  "smaller groups end earlier");
	part.steps = false;
	sent = run(&part, 1);
	tap_check(same(&sent, 0, (double[]){ 0 }),
		  "a part without steps is over after the first");
}

static int stop(void *arg, unsigned int src, unsigned int dst, double bytes)
{
	(void)src;
	(void)dst;
	(void)bytes;
	return ++*(int *)arg == 2 ? 7 : 0;
}

static void test_stop(void)
{
	struct lace_transfer transfers[] = {
		{ 0, 1, 5 }, { 1, 1, 5 }, { 1, 0, 0 }, { 2, 0, 6 }, { 0, 3, 1 },
	};
	struct lace_part part = {
		.nr_transfers = 5, .transfers = transfers,
	};
	struct sent sent = run(&part, 0);
	int calls = 0;

	tap_check(sent.bytes[0][1] == 5 && sent.bytes[2][0] == 6 &&
			  sent.bytes[0][3] == 1 && sent.bytes[1][1] == 0,
		  "transfers, but those to oneself");
	tap_check(lace_part_edges(&part, 0, stop, &calls) == 7 && calls == 2,
		  "the caller can stop; empty transfers are not told");
}

int main(void)
{
	tap_plan(NR_ROWS + 1 + 3 + 8 + 4 + 5 + 4 + 2);
	test_table();
	test_matrix();
	test_groups();
	test_trees();
	test_direct_steps();
	test_halving_steps();
	test_uneven_steps();
	test_stop();
	return tap_end();
}
