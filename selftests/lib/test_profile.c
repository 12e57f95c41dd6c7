// SPDX-License-Identifier: GPL-2.0
/*
 * Demand of nodes: sums over ranks, steps written out, lists shared, and small
 * files that ask for huge expansions.
 */
#include "lace.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define HEAD "{\"format\":\"lace-schedule/1\",\"ranks\":6,"		\
	     "\"placement\":[0,0,1,1,2,2],\"ops\":["

struct job {
	struct lace_schedule schedule;
	struct lace_demand demand;
	struct lace_error err;
};

static int job_open(struct job *job, const char *text, unsigned int nr_nodes)
{
	memset(job, 0, sizeof(*job));
	if (lace_schedule_parse(text, strlen(text), "t", &job->schedule,
				&job->err))
		return -1;
	return lace_profile(&job->schedule, nr_nodes, &job->demand, &job->err);
}

static void job_close(struct job *job)
{
	lace_demand_free(&job->demand);
	lace_schedule_free(&job->schedule);
}

/* should: nr triples. */
static bool op_is(const struct lace_demand_op *op, size_t nr,
		  const double (*should)[3])
{
	size_t i;

	if (op->nr_pairs != nr)
		return false;
	for (i = 0; i < nr; i++)
		if (op->pairs[i].src != should[i][0] ||
		    op->pairs[i].dst != should[i][1] ||
		    op->pairs[i].bytes != should[i][2])
			return false;
	return true;
}

static void test_sums(void)
{
	static const double should[][3] = {
		{ 0, 1, 407 }, { 0, 2, 1 }, { 1, 2, 400 }, { 2, 0, 400 },
	};
	struct job job;

	tap_check(!job_open(&job, HEAD
		"{\"name\":\"x\",\"repeat\":5,\"parts\":["
		"{\"collective\":\"reduce_scatter\",\"bytes\":300,"
		"\"groups\":[[0,2,4],[1,3,5]]},"
		"{\"transfers\":[[1,4,1],[0,2,7],[0,1,99],[3,2,5],[4,0,0]]}"
		"]}]}", 4), "parts and groups add up");
	tap_check(job.demand.nr_ops == 1 && job.demand.nr_nodes == 4 &&
			  job.demand.ops[0].repeat == 5 &&
			  !strcmp(job.demand.ops[0].name, "x"),
		  "one op, repeated");
	tap_check(op_is(&job.demand.ops[0], 4, should),
		  "sorted pairs, nothing within a node");
	job_close(&job);
}

static void test_steps(void)
{
	static const double first[][3] = {
		{ 0, 1, 2 }, { 1, 2, 2 }, { 2, 0, 11 },
	};
	static const double second[][3] = {
		{ 0, 2, 2 }, { 1, 0, 2 }, { 2, 1, 2 },
	};
	const struct lace_demand_op *ops;
	struct job job;
	bool right = true;
	unsigned int i;

	tap_check(!job_open(&job, HEAD
		"{\"parts\":[{\"transfers\":[[0,2,1]]}]},"
		"{\"repeat\":3,\"parts\":["
		"{\"collective\":\"all_to_all\",\"steps\":true,\"bytes\":6,"
		"\"groups\":[[0,2,4]]},"
		"{\"transfers\":[[4,0,9]]}]}]}", 3), "steps and a transfer");
	ops = job.demand.ops;
	tap_check(job.demand.nr_ops == 7, "repeat x steps ops");
	for (i = 1; i < 7; i++) {
		right &= ops[i].repeat == 1 && ops[i].schedule_op == 1 &&
			 ops[i].step == (i - 1) % 2;
		right &= i % 2 ? op_is(&ops[i], 3, first)
			       : op_is(&ops[i], 3, second);
	}
	tap_check(right, "s1 s2 s1 s2 s1 s2, the transfer in each s1");
	job_close(&job);

	tap_check(!job_open(&job, HEAD
		"{\"repeat\":2,\"parts\":[{\"collective\":\"all_to_all\","
		"\"steps\":true,\"bytes\":6,\"groups\":[[0]]}]}]}", 3) &&
			  job.demand.nr_ops == 2 &&
			  !job.demand.ops[0].nr_pairs,
		  "steps of a single rank: an empty op each time");
	job_close(&job);
}

static void test_shared(void)
{
	const struct lace_demand_op *ops;
	struct job job;

	tap_check(!job_open(&job, HEAD
		"{\"parts\":[{\"transfers\":[[0,2,1],[2,4,3]]}]},"
		"{\"parts\":[{\"transfers\":[[0,2,1]]}]},"
		"{\"parts\":[{\"transfers\":[[3,5,3],[1,3,1]]}]},"
		"{\"parts\":[]},{\"parts\":[{\"transfers\":[]}]}]}", 3),
		  "ops alike and not");
	ops = job.demand.ops;
	tap_check(ops[0].pairs == ops[2].pairs, "equal demand is one list");
	tap_check(ops[0].pairs != ops[1].pairs, "other demand is another");
	tap_check(!ops[3].nr_pairs && ops[3].pairs == ops[4].pairs,
		  "nothing is equal to nothing");
	job_close(&job);
}

/* 300 times 1 byte is lost one by one beside 2^53, and not if it comes first. */
static void test_order(bool large_first)
{
	const char *large = "[0,2,9007199254740992]";
	struct job job;
	unsigned int i;
	char *text;
	size_t len;
	FILE *out;

	out = open_memstream(&text, &len);
	fprintf(out, HEAD "{\"parts\":[{\"transfers\":[%s",
		large_first ? large : "[1,3,1]");
	for (i = 1; i < 300; i++)
		fputs(",[0,3,1]", out);
	fprintf(out, ",%s]}]}]}", large_first ? "[1,3,1]" : large);
	fclose(out);
	tap_check(!job_open(&job, text, 3) &&
			  job.demand.ops[0].nr_pairs == 1 &&
			  job.demand.ops[0].pairs[0].bytes ==
				  9007199254740992.0 + 300,
		  "the order of transfers does not matter to the last bit");
	job_close(&job);
	free(text);
}

/* A ring of n ranks, one a node, backwards: the path for many edges. */
static void test_many(void)
{
	enum { N = 3000 };
	struct lace_schedule schedule = { .nr_ranks = N, .nr_ops = 1 };
	unsigned int placement[N], ranks[N], i;
	struct lace_group group = { .count = N, .ranks = ranks };
	struct lace_part part = {
		.collective = LACE_BROADCAST, .bytes = 3, .nr_groups = 1,
		.groups = &group,
	};
	struct lace_op op = { .name = "x", .repeat = 1, .nr_parts = 1,
			      .parts = &part };
	const struct lace_pair *pairs;
	struct lace_demand demand;
	struct lace_error err;
	bool right = true;

	for (i = 0; i < N; i++) {
		placement[i] = i;
		ranks[i] = N - 1 - i;
	}
	schedule.placement = placement;
	schedule.ops = &op;
	if (!tap_check(!lace_profile(&schedule, N, &demand, &err) &&
			       demand.ops[0].nr_pairs == N - 1,
		       "a chain of %d", N))
		return;
	pairs = demand.ops[0].pairs;
	for (i = 0; i < N - 1; i++)
		right &= pairs[i].src == i + 1 && pairs[i].dst == i &&
			 pairs[i].bytes == 3;
	tap_check(right, "is sorted");
	lace_demand_free(&demand);
}

/* ---- refused ---- */

static void test_refused(const char *name, const char *text,
			 unsigned int nr_nodes, unsigned int line,
			 const char *says)
{
	struct job job;

	if (!tap_check(job_open(&job, text, nr_nodes) < 0 &&
			       job.err.kind == LACE_ERR_INPUT &&
			       job.err.line == line &&
			       !strcmp(job.err.text, says), "%s", name))
		tap_note("is %s", job.err.text);
	tap_check(!job.demand.ops && !job.demand.store, "nothing is left");
	job_close(&job);
}

static char *make_all_to_all(unsigned int ranks, const char *rest)
{
	char *text = NULL;
	unsigned int i;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "{\"format\":\"lace-schedule/1\",\"ranks\":%u,\"placement\":[",
		ranks);
	for (i = 0; i < ranks; i++)
		fprintf(out, "%s%u", i ? "," : "", i % 2);
	fprintf(out, "],\"ops\":[{\"name\":\"x\",\"parts\":[{\"collective\":"
		"\"all_to_all\",\"groups\":[{\"first\":0,\"stride\":1,\"count\":%u}],%s}]}]}",
		ranks, rest);
	fclose(out);
	return text;
}

static void test_bombs(void)
{
	char *text;
	struct job job;

	test_refused("placement on a node that is not there", HEAD "]}", 2, 1,
		     "placement[4]: the cluster has no node 2: it has 2");
	test_refused("2^53 rounds of steps", HEAD
		"{\"name\":\"x\",\"repeat\":9007199254740992,\"parts\":["
		"{\"collective\":\"all_to_all\",\"steps\":true,\"bytes\":6,"
		"\"groups\":[[0,2,4]]}]}]}", 3, 0,
		"op 0 (x): 9007199254740992 rounds of 2 steps: the plan gets more than 1048576 ops");
	text = make_all_to_all(30000, "\"bytes\":1");
	test_refused("900 million edges", text, 2, 0,
		     "the schedule expands to more than 536870912 edges");
	free(text);
	text = make_all_to_all(30000, "\"bytes\":0");
	tap_check(!job_open(&job, text, 2) && !job.demand.ops[0].nr_pairs,
		  "900 million edges of nothing are nothing");
	job_close(&job);
	free(text);
}

int main(void)
{
	tap_plan(3 + 4 + 4 + 2 + 2 + 6 + 1);
	test_sums();
	test_steps();
	test_shared();
	test_order(true);
	test_order(false);
	test_many();
	test_bombs();
	return tap_end();
}
