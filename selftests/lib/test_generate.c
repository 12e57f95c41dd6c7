// SPDX-License-Identifier: GPL-2.0
/*
 * Generated schedules: parameters as published, traffic by hand.
 */
#include "lace.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t all_reduce_bytes(const struct lace_op *op)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < op->nr_parts; i++)
		sum += op->parts[i].bytes * op->parts[i].nr_groups;
	return sum;
}

struct size {
	const char *model;
	unsigned int pp;
	uint64_t parameters;
};

/* Of these none has to be rounded up to whole bytes a GPU. */
static const struct size sizes[] = {
	{ "llama3.1-8b", 1, 8030261248 },
	{ "llama3.1-70b", 1, 70553706496 },
	{ "llama3.1-70b", 4, 70553706496 },
	{ "llama3.1-405b", 1, 405853388800 },
	{ "llama3.1-405b", 16, 405853388800 },
	{ "gpt2-small", 1, 124439808 },
	{ "gpt2-small", 3, 124439808 },
};

static void test_parameters(void)
{
	struct lace_schedule schedule;
	struct lace_generate spec;
	struct lace_error err;
	unsigned int i;

	for (i = 0; i < NR(sizes); i++) {
		spec = (struct lace_generate){
			.model = sizes[i].model, .servers = 2 * sizes[i].pp,
			.pp = sizes[i].pp,
		};
		if (!tap_check(!lace_generate(&spec, &schedule, &err) &&
				       all_reduce_bytes(&schedule.ops[schedule.nr_ops - 1]) ==
					       4 * sizes[i].parameters,
			       "%s on %u stages has %llu parameters",
			       sizes[i].model, sizes[i].pp,
			       (unsigned long long)sizes[i].parameters))
			tap_note("%s", err.text);
		lace_schedule_free(&schedule);
	}
}

/* 126 layers and the two ends on 16 stages: 7 layers at the ends, else 8. */
static void test_stages(void)
{
	const uint64_t layer = 3187703808, embedding = 128256ull * 16384;
	struct lace_generate spec = {
		.model = "llama3.1-405b", .servers = 32, .pp = 16,
		.grad_bytes = 8,
	};
	struct lace_schedule schedule;
	const struct lace_part *parts;
	struct lace_error err;
	bool middle = true;
	unsigned int i;

	lace_generate(&spec, &schedule, &err);
	parts = schedule.ops[2].parts;
	tap_check(schedule.ops[2].nr_parts == 16 &&
			  parts[0].bytes == 7 * layer + embedding,
		  "the first stage has 7 layers and the embedding");
	for (i = 1; i < 15; i++)
		middle &= parts[i].bytes == 8 * layer;
	tap_check(middle, "stages between have 8 layers");
	tap_check(parts[15].bytes == 7 * layer + embedding + 16384,
		  "the last has 7 layers, the norm and the head");
	lace_schedule_free(&schedule);
}

/* Two replicas of three stages on six servers of two GPUs. */
static void test_traffic(void)
{
	struct lace_generate spec = {
		.model = "llama3.1-8b", .servers = 6, .pp = 3,
		.gpus_per_server = 2, .microbatches = 5, .seq = 100,
		.grad_bytes = 2,
	};
	const double hidden = 4096, activations = 100 * hidden * 2;
	struct lace_schedule schedule;
	struct lace_demand demand;
	const struct lace_pair *p;
	struct lace_error err;
	size_t i;

	lace_generate(&spec, &schedule, &err);
	tap_check(schedule.nr_ops == 3 && schedule.nr_ranks == 12 &&
			  schedule.placement[0] == 0 &&
			  schedule.placement[1] == 0 &&
			  schedule.placement[11] == 5, "ranks by server");
	tap_check(!lace_profile(&schedule, 6, &demand, &err) &&
			  demand.ops[0].repeat == 5 &&
			  demand.ops[1].repeat == 5 &&
			  demand.ops[2].repeat == 1, "rounds");

	static const unsigned int stages[][2] = {
		{ 0, 1 }, { 1, 2 }, { 3, 4 }, { 4, 5 },
	};
	bool right = demand.ops[0].nr_pairs == 4 && demand.ops[1].nr_pairs == 4;

	for (i = 0; right && i < 4; i++) {
		p = &demand.ops[0].pairs[i];
		right &= p->src == stages[i][0] && p->dst == stages[i][1] &&
			 p->bytes == activations;
		p = &demand.ops[1].pairs[i];
		right &= p->src == stages[i][1] && p->dst == stages[i][0] &&
			 p->bytes == activations;
	}
	tap_check(right, "activations to the next stage, gradients back");

	right = demand.ops[2].nr_pairs == 6;
	for (i = 0; right && i < 6; i++) {
		p = &demand.ops[2].pairs[i];
		right &= p->src == i && p->dst == (i + 3) % 6 &&
			 p->bytes == schedule.ops[2].parts[i % 3].bytes * 2.0;
	}
	tap_check(right, "a ring of two replicas for each stage");
	lace_demand_free(&demand);
	lace_schedule_free(&schedule);
}

static void test_defaults(void)
{
	struct lace_generate spec = { .model = "llama3.1-70b", .servers = 8,
				      .pp = 4 };
	struct lace_schedule schedule;
	struct lace_error err;

	lace_generate(&spec, &schedule, &err);
	tap_check(schedule.nr_ranks == 64, "8 GPUs a server");
	tap_check(schedule.ops[0].repeat == 16, "4 microbatches a stage");
	tap_check(schedule.ops[0].parts[0].transfers[0].bytes ==
			  8192ull * 8192 * 2 / 8, "8192 tokens");
	lace_schedule_free(&schedule);

	spec.pp = 1;
	lace_generate(&spec, &schedule, &err);
	tap_check(schedule.nr_ops == 1 && !strcmp(schedule.ops[0].name, "dp"),
		  "one stage has no pipeline");
	lace_schedule_free(&schedule);

	spec.pp = 8;
	lace_generate(&spec, &schedule, &err);
	tap_check(schedule.nr_ops == 2 &&
			  !strcmp(schedule.ops[1].name, "pp-bwd"),
		  "one replica reduces nothing");
	lace_schedule_free(&schedule);
}

struct refused {
	struct lace_generate spec;
	const char *says;
};

static const struct refused refused[] = {
	{ { .model = "llama4", .servers = 8 }, "there is no model \"llama4\"" },
	{ { .model = "llama3.1-8b", .servers = 8, .pp = 3 },
	  "8 servers do not make whole pipelines of 3 stages" },
	{ { .model = "llama3.1-8b", .servers = 66, .pp = 33 },
	  "llama3.1-8b has 32 layers, not enough for 33 stages" },
	{ { .model = "gpt2-small", .servers = 8, .seq = 2048 },
	  "gpt2-small has 1024 positions, fewer than 2048" },
	{ { .model = "llama3.1-8b", .servers = 2147483646, .pp = 2 },
	  "2147483646 servers of 8 GPUs are more than 4194304 ranks" },
};

static void test_refused(void)
{
	struct lace_schedule schedule;
	struct lace_error err;
	unsigned int i;

	for (i = 0; i < NR(refused); i++)
		tap_check(lace_generate(&refused[i].spec, &schedule, &err) &&
				  err.kind == LACE_ERR_INPUT &&
				  !strcmp(err.text, refused[i].says) &&
				  !schedule.ops, "%s", refused[i].says);
}

int main(void)
{
	tap_plan(NR(sizes) + 3 + 4 + 5 + NR(refused));
	test_parameters();
	test_stages();
	test_traffic();
	test_defaults();
	test_refused();
	return tap_end();
}
