// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Schedules of known models, trained with tensor, pipeline and data parallelism
 * as Megatron-style frameworks lay them out.
 *
 * DESIGN NOTES
 *
 * All GPUs of a server share a tensor-parallel group, so that its traffic stays
 * in the server and does not appear.  Server d x pp + s holds stage s of
 * replica d, and rank r is GPU r mod G of server r / G.  One iteration is
 *
 *	pp-fwd	activations to the next stage, once for each microbatch
 *	pp-bwd	their gradients to the stage before, likewise
 *	dp	ring all-reduce of each stage's gradients over its replicas
 *
 * A microbatch is one sequence.  Its activations are seq x hidden numbers of
 * two bytes, of which each GPU of a server sends its share.
 *
 * The input embedding belongs to the first stage, the output head to the last.
 * Layers go one by one to the stage that has the fewest parameters; for
 * LLaMA-3.1-405B on 16 stages that is one layer less at both ends, as Meta
 * trained it.  GPT-2 uses the embedding as its head: it counts once, in the
 * first stage.
 */
#include "lace.h"

#include <stdlib.h>
#include <string.h>

#define ACTIVATION_BYTES 2
#define DEFAULT_GPUS 8
#define DEFAULT_GRAD_BYTES 4
#define MICROBATCHES_A_STAGE 4

#define MAX_RANKS (1u << 22)
#define MAX_SEQ (1ULL << 32)
#define MAX_GRAD_BYTES 64

struct model {
	const char *name;
	unsigned int layers;
	uint64_t hidden, ffn;
	uint64_t kv;		/* width of keys, and of values */
	uint64_t vocabulary;
	uint64_t context;	/* default of --seq */
	bool llama;		/* gated MLP, no biases, RMS norms, own head */
};

static const struct model models[] = {
	{ "llama3.1-8b", 32, 4096, 14336, 1024, 128256, 8192, true },
	{ "llama3.1-70b", 80, 8192, 28672, 1024, 128256, 8192, true },
	{ "llama3.1-405b", 126, 16384, 53248, 1024, 128256, 8192, true },
	{ "gpt2-small", 12, 768, 3072, 768, 50257, 1024, false },
};

#define NR_MODELS (sizeof(models) / sizeof(models[0]))

const char *lace_generate_model(unsigned int index)
{
	return index < NR_MODELS ? models[index].name : NULL;
}

/* ---- parameters ---- */

static uint64_t layer_parameters(const struct model *model)
{
	uint64_t h = model->hidden, f = model->ffn;
	uint64_t attention = 2 * h * h + 2 * h * model->kv;

	if (model->llama)
		return attention + 3 * h * f + 2 * h;
	/* Biases of four matrices of attention and two of the MLP; two norms
	 * with scale and shift.
	 */
	return attention + 4 * h + 2 * h * f + f + h + 4 * h;
}

/* Token embedding, and positions where they are learned. */
static uint64_t input_parameters(const struct model *model)
{
	uint64_t positions = model->llama ? 0 : model->context;

	return (model->vocabulary + positions) * model->hidden;
}

/* Last norm, and the head if it is not the embedding. */
static uint64_t output_parameters(const struct model *model)
{
	if (model->llama)
		return (model->vocabulary + 1) * model->hidden;
	return 2 * model->hidden;
}

static unsigned int smallest(const uint64_t *parameters, unsigned int nr)
{
	unsigned int best = 0, i;

	for (i = 1; i < nr; i++)
		if (parameters[i] < parameters[best])
			best = i;
	return best;
}

static void share_parameters(const struct model *model, unsigned int pp,
			     uint64_t *parameters)
{
	unsigned int i;

	memset(parameters, 0, pp * sizeof(*parameters));
	parameters[0] += input_parameters(model);
	parameters[pp - 1] += output_parameters(model);
	for (i = 0; i < model->layers; i++)
		parameters[smallest(parameters, pp)] += layer_parameters(model);
}

/* ---- the schedule ---- */

static uint64_t share(uint64_t bytes, unsigned int among)
{
	return (bytes + among - 1) / among;
}

static struct lace_part *add_op(struct lace_schedule *schedule,
				const char *name, uint64_t repeat,
				unsigned int nr_parts)
{
	struct lace_op *op = &schedule->ops[schedule->nr_ops++];

	op->name = strdup(name);
	op->repeat = repeat;
	op->parts = calloc(nr_parts, sizeof(*op->parts));
	if (!op->name || !op->parts)
		return NULL;
	op->nr_parts = nr_parts;
	return op->parts;
}

/* From each stage to the next, or back. */
static int add_pipeline(struct lace_schedule *schedule,
			const struct lace_generate *spec, uint64_t bytes,
			bool back)
{
	unsigned int gpus = spec->gpus_per_server, server, gpu;
	struct lace_transfer *transfer;
	struct lace_part *part;

	part = add_op(schedule, back ? "pp-bwd" : "pp-fwd", spec->microbatches,
		      1);
	if (!part)
		return -1;
	part->transfers = calloc((size_t)spec->servers * gpus,
				 sizeof(*part->transfers));
	if (!part->transfers)
		return -1;
	for (server = 0; server < spec->servers; server++) {
		if (server % spec->pp == spec->pp - 1)
			continue;
		for (gpu = 0; gpu < gpus; gpu++) {
			transfer = &part->transfers[part->nr_transfers++];
			transfer->src = (server + back) * gpus + gpu;
			transfer->dst = (server + !back) * gpus + gpu;
			transfer->bytes = share(bytes, gpus);
		}
	}
	return 0;
}

static int add_all_reduce(struct lace_schedule *schedule,
			  const struct lace_generate *spec,
			  const uint64_t *parameters)
{
	unsigned int gpus = spec->gpus_per_server, stage, gpu;
	struct lace_part *parts, *part;

	parts = add_op(schedule, "dp", 1, spec->pp);
	if (!parts)
		return -1;
	for (stage = 0; stage < spec->pp; stage++) {
		part = &parts[stage];
		part->collective = LACE_ALL_REDUCE;
		part->algorithm = LACE_RING;
		part->bytes = share(parameters[stage] * spec->grad_bytes, gpus);
		part->groups = calloc(gpus, sizeof(*part->groups));
		if (!part->groups)
			return -1;
		part->nr_groups = gpus;
		for (gpu = 0; gpu < gpus; gpu++)
			part->groups[gpu] = (struct lace_group){
				.count = spec->servers / spec->pp,
				.first = stage * gpus + gpu,
				.stride = spec->pp * gpus,
			};
	}
	return 0;
}

static int place(struct lace_schedule *schedule,
		 const struct lace_generate *spec)
{
	unsigned int nr = spec->servers * spec->gpus_per_server, i;

	schedule->placement = calloc(nr, sizeof(*schedule->placement));
	if (!schedule->placement)
		return -1;
	schedule->nr_ranks = nr;
	for (i = 0; i < nr; i++)
		schedule->placement[i] = i / spec->gpus_per_server;
	return 0;
}

static int make(const struct model *model, const struct lace_generate *spec,
		const uint64_t *parameters, struct lace_schedule *schedule)
{
	uint64_t bytes = spec->seq * model->hidden * ACTIVATION_BYTES;

	if (asprintf(&schedule->name, "%s pp%u dp%u", model->name, spec->pp,
		     spec->servers / spec->pp) < 0) {
		schedule->name = NULL;
		return -1;
	}
	schedule->ops = calloc(3, sizeof(*schedule->ops));
	if (!schedule->ops || place(schedule, spec))
		return -1;
	if (spec->pp > 1 && (add_pipeline(schedule, spec, bytes, false) ||
			     add_pipeline(schedule, spec, bytes, true)))
		return -1;
	if (spec->servers > spec->pp)
		return add_all_reduce(schedule, spec, parameters);
	return 0;
}

/* ---- what is asked for ---- */

static const struct model *find_model(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_MODELS; i++)
		if (!strcmp(models[i].name, name))
			return &models[i];
	return NULL;
}

static void fill_defaults(struct lace_generate *spec, const struct model *model)
{
	if (!spec->gpus_per_server)
		spec->gpus_per_server = DEFAULT_GPUS;
	if (!spec->pp)
		spec->pp = 1;
	if (!spec->microbatches && spec->pp <= model->layers)
		spec->microbatches = MICROBATCHES_A_STAGE * spec->pp;
	if (!spec->seq)
		spec->seq = model->context;
	if (!spec->grad_bytes)
		spec->grad_bytes = DEFAULT_GRAD_BYTES;
}

static int check_spec(const struct lace_generate *spec,
		      const struct model *model, struct lace_error *err)
{
	if (!spec->servers || spec->servers % spec->pp)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%u servers do not make whole pipelines of %u stages",
				 spec->servers, spec->pp);
	if (spec->pp > model->layers)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s has %u layers, not enough for %u stages",
				 model->name, model->layers, spec->pp);
	if ((uint64_t)spec->servers * spec->gpus_per_server > MAX_RANKS)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%u servers of %u GPUs are more than %u ranks",
				 spec->servers, spec->gpus_per_server,
				 MAX_RANKS);
	if (!model->llama && spec->seq > model->context)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s has %llu positions, fewer than %llu",
				 model->name,
				 (unsigned long long)model->context,
				 (unsigned long long)spec->seq);
	if (spec->seq > MAX_SEQ)
		return lace_fail(err, LACE_ERR_INPUT,
				 "sequences have at most %llu tokens", MAX_SEQ);
	if (spec->grad_bytes > MAX_GRAD_BYTES)
		return lace_fail(err, LACE_ERR_INPUT,
				 "gradients have at most %u bytes",
				 MAX_GRAD_BYTES);
	return 0;
}

/**
 * lace_generate() - one training iteration of a model
 * @asked: model and layout, 0 where the default will do
 * @schedule: filled; empty on failure
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_generate(const struct lace_generate *asked,
		  struct lace_schedule *schedule, struct lace_error *err)
{
	struct lace_generate spec = *asked;
	const struct model *model;
	uint64_t *parameters;
	int ret;

	memset(schedule, 0, sizeof(*schedule));
	model = find_model(spec.model);
	if (!model)
		return lace_fail(err, LACE_ERR_INPUT,
				 "there is no model \"%s\"", spec.model);
	fill_defaults(&spec, model);
	if (check_spec(&spec, model, err))
		return -1;
	parameters = calloc(spec.pp, sizeof(*parameters));
	if (!parameters)
		return lace_no_memory(err);
	share_parameters(model, spec.pp, parameters);
	ret = make(model, &spec, parameters, schedule);
	free(parameters);
	if (ret) {
		lace_schedule_free(schedule);
		return lace_no_memory(err);
	}
	return 0;
}
