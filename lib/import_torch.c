// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * From calls that PyTorch recorded to a trace: how many ranks there are, which
 * ranks a call's group has, how many bytes it moves, and what it waits for.
 *
 * DESIGN NOTES
 *
 * Calls of a rank run one after another, except in a run of sends and receives.
 * In an execution trace the run is a batch: none of it waits for another, and
 * what comes after it waits for all.  In a profile, one waits for those of the
 * run that ended before it started.  That may be each for each, so it is told
 * through nodes without a call, one behind the end of each member: such a node
 * waits for the one before it and for that member.  These nodes have ids below
 * those of all calls, so they never hold a call back that is ready.
 */
#include "import_torch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int lace_torch_init(struct lace_torch *torch, struct lace_error *err)
{
	return lace_trace_init(&torch->lists, 1, "", err);
}

void lace_torch_free(struct lace_torch *torch)
{
	unsigned int r;
	size_t i;

	for (r = 0; r < torch->nr_ranks; r++) {
		struct lace_torch_rank *rank = &torch->ranks[r];

		for (i = 0; i < rank->nr_calls; i++) {
			free(rank->calls[i].group);
			free(rank->calls[i].in_splits);
			free(rank->calls[i].out_splits);
		}
		free(rank->calls);
		lace_groups_free(&rank->noted);
	}
	free(torch->ranks);
	lace_trace_free(&torch->lists);
	lace_trace_free(&torch->trace);
}

int lace_torch_rank(struct lace_torch *torch, unsigned int rank,
		    const char *file, struct lace_torch_rank **slot,
		    struct lace_error *err)
{
	int ret;

	if (rank >= LACE_IMPORT_MAX_RANKS)
		return lace_import_fail(err, file, 0,
					"rank %u is too large", rank);
	if (rank >= torch->nr_ranks) {
		ret = lace_import_grow(&torch->ranks, &torch->room_ranks,
				       rank + 1, sizeof(*torch->ranks), err);
		if (ret)
			return ret;
		memset(torch->ranks + torch->nr_ranks, 0,
		       (rank + 1 - torch->nr_ranks) * sizeof(*torch->ranks));
		torch->nr_ranks = rank + 1;
	}
	*slot = &torch->ranks[rank];
	if ((*slot)->file)
		return lace_import_fail(err, file, 0,
					"rank %u has another file, %s", rank,
					(*slot)->file);
	(*slot)->file = file;
	return 0;
}

int lace_torch_call(struct lace_torch_rank *rank, const char *group,
		    struct lace_torch_call **call, struct lace_error *err)
{
	int ret;

	ret = lace_import_grow(&rank->calls, &rank->room_calls,
			       rank->nr_calls + 1, sizeof(*rank->calls), err);
	if (ret)
		return ret;
	*call = &rank->calls[rank->nr_calls];
	**call = (struct lace_torch_call){
		.list = LACE_NONE,
		.first = -1,
		.stride = -1,
		.slot = -1,
		.group = strdup(group),
	};
	if (!(*call)->group)
		return lace_import_no_memory(err);
	rank->nr_calls++;
	return 0;
}

/* ---- how many ranks ---- */

static void at_least(uint64_t *nr, uint64_t other)
{
	if (*nr < other)
		*nr = other;
}

static bool is_transfer(const struct lace_torch_call *call)
{
	return call->kind == LACE_TORCH_SEND || call->kind == LACE_TORCH_RECV;
}

/* True if start, stride and size say which ranks are in the call's group. */
static bool is_spaced(const struct lace_torch_call *call)
{
	return call->size && call->first >= 0 &&
	       (call->stride > 0 || call->size == 1);
}

static void count_call(const struct lace_torch *torch,
		       const struct lace_torch_call *call, uint64_t *world)
{
	uint64_t stride = call->size == 1 ? 0 : call->stride;

	if (call->kind == LACE_TORCH_WAIT)
		return;
	if (torch->global_peers && is_transfer(call) && call->slot >= 0)
		at_least(world, call->slot + 1ULL);
	at_least(world, call->size);
	if (!is_spaced(call))
		return;
	/* Beyond what there may be, whatever the product. */
	if (call->first > LACE_IMPORT_MAX_RANKS ||
	    stride > LACE_IMPORT_MAX_RANKS ||
	    call->size > LACE_IMPORT_MAX_RANKS)
		at_least(world, LACE_IMPORT_MAX_RANKS + 1ULL);
	else
		at_least(world, call->first + (call->size - 1) * stride + 1);
}

static int find_world(struct lace_torch *torch, unsigned int nr_files,
		      struct lace_error *err)
{
	uint64_t world = torch->world;
	unsigned int r, i, k;

	at_least(&world, torch->nr_ranks);
	at_least(&world, nr_files);
	for (r = 0; r < torch->nr_ranks; r++) {
		const struct lace_torch_rank *rank = &torch->ranks[r];

		for (i = 0; i < rank->nr_calls; i++)
			count_call(torch, &rank->calls[i], &world);
		for (i = 0; i < rank->noted.nr; i++) {
			const struct lace_named_group *group =
				&rank->noted.groups[i];

			at_least(&world, group->size);
			if (group->ranks)
				at_least(&world,
					 group->ranks[group->nr - 1] + 1);
		}
	}
	for (i = 0; i < torch->lists.nr_comms; i++)
		for (k = 0; k < torch->lists.comms[i].nr; k++)
			at_least(&world, torch->lists.comms[i].ranks[k] + 1ULL);
	if (world > LACE_IMPORT_MAX_RANKS)
		return lace_import_fail(err, NULL, 0,
					"%" PRIu64 " ranks are more than %u",
					world, LACE_IMPORT_MAX_RANKS);
	return lace_trace_init(&torch->trace, world, torch->noun, err);
}

/* ---- groups ---- */

/* The node under way of a rank, to name it in errors. */
struct place {
	struct lace_torch *torch;
	unsigned int rank;
	struct lace_error *err;
};

#define fail_call(place, ...) \
	lace_trace_fail(&(place)->torch->trace, (place)->rank, \
			&(place)->torch->trace.ranks[(place)->rank].nodes[ \
			(place)->torch->trace.ranks[(place)->rank].nr_nodes - 1], \
			(place)->err, __VA_ARGS__)

static int spaced_comm(struct place *place, const struct lace_torch_call *call,
		       unsigned int *comm)
{
	unsigned int *ranks = malloc(call->size * sizeof(*ranks));
	uint64_t i;
	int ret;

	if (!ranks)
		return lace_import_no_memory(place->err);
	for (i = 0; i < call->size; i++)
		ranks[i] = call->first + i * call->stride;
	ret = lace_trace_comm(&place->torch->trace, call->group, ranks,
			      call->size, comm, place->err);
	free(ranks);
	return ret;
}

static int world_comm(struct place *place, const struct lace_torch_call *call,
		      unsigned int *comm)
{
	struct lace_trace *trace = &place->torch->trace;
	int ret = lace_trace_world(trace, comm, place->err);

	/* Ranks may differ in whether their traces tell what "0" is. */
	if (ret || !*call->group || !strcmp(call->group, "0"))
		return ret;
	return lace_trace_comm(trace, call->group, trace->comms[*comm].ranks,
			       trace->nr_ranks, comm, place->err);
}

static int find_comm(struct place *place, const struct lace_torch_call *call,
		     unsigned int *comm)
{
	struct lace_torch *torch = place->torch;
	struct lace_named_group *noted =
		lace_groups_find(&torch->ranks[place->rank].noted, call->group);
	const struct lace_comm *list;

	if (call->list != LACE_NONE) {
		list = &torch->lists.comms[call->list];
		return lace_trace_comm(&torch->trace, call->group, list->ranks,
				       list->nr, comm, place->err);
	}
	if (noted)
		return lace_group_comm(noted, &torch->trace, comm, place->err);
	if (is_spaced(call))
		return spaced_comm(place, call, comm);
	if (torch->size_is_enough &&
	    (!call->size || call->size == torch->trace.nr_ranks))
		return world_comm(place, call, comm);
	return fail_call(place, "which ranks are in group \"%.60s\" is not in the trace",
			 call->group);
}

static int resolve_group(struct place *place, const struct lace_torch_call *from,
			 unsigned int *comm)
{
	unsigned int nr;
	int ret = find_comm(place, from, comm);

	if (ret)
		return ret;
	nr = place->torch->trace.comms[*comm].nr;
	if (from->size && from->size != nr)
		return fail_call(place, "group \"%.60s\" has %u ranks, and the call says %"
				 PRIu64, from->group, nr, from->size);
	return 0;
}

/* ---- bytes ---- */

/* counts[i] x (bytes / sum of counts), into out. */
static int split_bytes(struct place *place, const uint64_t *counts, size_t nr,
		       uint64_t bytes, uint64_t *out)
{
	uint64_t sum = 0, unit;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (counts[i] > LACE_IMPORT_MAX_BYTES - sum)
			return fail_call(place, "splits are out of range");
		sum += counts[i];
	}
	if (sum ? bytes % sum : bytes)
		return fail_call(place, "%" PRIu64 " bytes do not divide into splits of %"
				 PRIu64 " in all", bytes, sum);
	unit = sum ? bytes / sum : 0;
	for (i = 0; i < nr; i++)
		out[i] = counts[i] * unit;
	return 0;
}

static int add_splits(struct place *place, const struct lace_torch_call *from,
		      struct lace_call *call)
{
	unsigned int nr = place->torch->trace.comms[call->comm].nr;
	int ret;

	if (from->nr_in != nr || from->nr_out != nr)
		return fail_call(place, "%zu and %zu splits for a group of %u ranks",
				 from->nr_in, from->nr_out, nr);
	call->splits = malloc(2 * (size_t)nr * sizeof(uint64_t));
	if (!call->splits)
		return lace_import_no_memory(place->err);
	call->collective = LACE_ALL_TO_ALLV;
	call->bytes = 0;
	ret = split_bytes(place, from->in_splits, nr, from->in_bytes,
			  call->splits);
	if (!ret)
		ret = split_bytes(place, from->out_splits, nr, from->out_bytes,
				  call->splits + nr);
	if (ret)
		free(call->splits);
	return ret;
}

static int fill_collective(struct place *place,
			   const struct lace_torch_call *from,
			   struct lace_call *call)
{
	unsigned int nr = place->torch->trace.comms[call->comm].nr;

	call->kind = from->kind == LACE_TORCH_BARRIER ? LACE_CALL_BARRIER :
							LACE_CALL_COLLECTIVE;
	if (call->kind == LACE_CALL_BARRIER)
		return 0;
	call->collective = from->collective;
	call->bytes = from->in_bytes;
	if (from->collective == LACE_ALL_GATHER) {
		if (from->in_bytes > LACE_IMPORT_MAX_BYTES / nr)
			return fail_call(place, "%" PRIu64
					 " bytes of each of %u ranks are out of range",
					 from->in_bytes, nr);
		call->bytes = from->in_bytes * nr;
	}
	if (from->collective == LACE_ALL_TO_ALL && (from->nr_in || from->nr_out))
		return add_splits(place, from, call);
	if (from->collective != LACE_BROADCAST &&
	    from->collective != LACE_REDUCE)
		return 0;
	if (from->slot < 0 && place->torch->size_is_enough)
		return fail_call(place, "no root");
	if (from->slot >= (int64_t)nr)
		return fail_call(place, "root %" PRId64 " is not in a group of %u ranks",
				 from->slot, nr);
	call->root = from->slot < 0 ? 0 : from->slot;
	return 0;
}

static int fill_transfer(struct place *place,
			 const struct lace_torch_call *from,
			 struct lace_call *call)
{
	const struct lace_trace *trace = &place->torch->trace;
	const struct lace_comm *comm;
	bool global = place->torch->global_peers;
	uint64_t limit = trace->nr_ranks;

	call->kind = from->kind == LACE_TORCH_SEND ? LACE_CALL_SEND :
						     LACE_CALL_RECV;
	call->bytes = from->in_bytes;
	if (from->slot < 0)
		return fail_call(place, "no peer");
	if (!global) {
		comm = &trace->comms[call->comm];
		limit = comm->nr;
	}
	if ((uint64_t)from->slot >= limit)
		return fail_call(place, "peer %" PRId64 " is not in a group of %" PRIu64 " ranks",
				 from->slot, limit);
	call->peer = global ? (uint64_t)from->slot : comm->ranks[from->slot];
	return 0;
}

/* A node for the call; what it waits for follows. */
static int add_node(struct place *place, const struct lace_torch_call *from,
		    uint64_t id)
{
	struct lace_trace *trace = &place->torch->trace;
	struct lace_call call = { 0 };
	int ret;

	ret = lace_trace_node(trace, place->rank, id, 0, place->err);
	if (ret || from->kind == LACE_TORCH_WAIT)
		return ret;
	if (!is_transfer(from) || !place->torch->global_peers)
		ret = resolve_group(place, from, &call.comm);
	if (ret)
		return ret;
	ret = is_transfer(from) ? fill_transfer(place, from, &call) :
				  fill_collective(place, from, &call);
	return ret ? ret : lace_trace_call(trace, place->rank, &call,
					   place->err);
}

static int wait_for(struct place *place, uint64_t id)
{
	return lace_trace_wait(&place->torch->trace, place->rank, id, false,
			       place->err);
}

/* ---- order: execution traces ---- */

static int compare_ids(const void *a, const void *b)
{
	const struct lace_torch_call *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int order_by_id(struct place *place)
{
	struct lace_torch_rank *rank = &place->torch->ranks[place->rank];
	size_t i, k, first = 0, nr = 0;	/* the calls that the next one waits for */
	size_t batch = 0;		/* sends and receives up to here */
	int ret = 0;

	if (rank->nr_calls)
		qsort(rank->calls, rank->nr_calls, sizeof(*rank->calls),
		      compare_ids);
	for (i = 0; i < rank->nr_calls && !ret; i++) {
		const struct lace_torch_call *call = &rank->calls[i];

		if (call->kind == LACE_TORCH_WAIT && !batch)
			continue;
		ret = add_node(place, call, call->id);
		if (is_transfer(call)) {
			for (k = first; k < first + nr && !ret; k++)
				ret = wait_for(place, rank->calls[k].id);
			batch++;
			continue;
		}
		if (batch) {
			first = i - batch;
			nr = batch;
		}
		for (k = first; k < first + nr && !ret; k++)
			ret = wait_for(place, rank->calls[k].id);
		first = i;
		nr = 1;
		batch = 0;
	}
	return ret;
}

/* ---- order: profiles ---- */

static int compare_starts(const void *a, const void *b)
{
	const struct lace_torch_call *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

struct ending {
	double end;
	size_t index;
};

static int compare_endings(const void *a, const void *b)
{
	const struct ending *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* How many of the run ended before call number index started. */
static size_t ended_before(const struct ending *endings, size_t nr,
			   double start, size_t index)
{
	const struct ending key = { .end = start, .index = index };
	size_t low = 0;

	while (low < nr) {
		size_t middle = low + (nr - low) / 2;

		if (compare_endings(&endings[middle], &key) < 0)
			low = middle + 1;
		else
			nr = middle;
	}
	return low;
}

/* Sends and receives from call number first on.  Nodes after an end have the
 * number of the member in the order of ends as their id; calls come after all
 * of those.  before is the id that the run waits for, and then that of the node
 * after its last end.
 */
static int order_run(struct place *place, size_t first, size_t nr,
		     uint64_t *before)
{
	const struct lace_torch_rank *rank = &place->torch->ranks[place->rank];
	struct ending *endings = malloc(nr * sizeof(*endings));
	size_t i, k;
	int ret = 0;

	if (!endings)
		return lace_import_no_memory(place->err);
	for (i = 0; i < nr; i++) {
		endings[i].end = rank->calls[first + i].end;
		endings[i].index = first + i;
	}
	qsort(endings, nr, sizeof(*endings), compare_endings);
	for (i = 0; i < nr && !ret; i++) {
		const struct lace_torch_call *call = &rank->calls[first + i];

		ret = add_node(place, call, rank->nr_calls + first + i);
		k = ended_before(endings, nr, call->start, first + i);
		if (!ret && k)
			ret = wait_for(place, first + k - 1);
		else if (!ret && *before != UINT64_MAX)
			ret = wait_for(place, *before);
	}
	for (i = 0; i < nr && !ret; i++) {
		ret = lace_trace_node(&place->torch->trace, place->rank,
				      first + i, 0, place->err);
		if (!ret && i)
			ret = wait_for(place, first + i - 1);
		if (!ret)
			ret = wait_for(place,
				       rank->nr_calls + endings[i].index);
	}
	*before = first + nr - 1;
	free(endings);
	return ret;
}

static int order_by_time(struct place *place)
{
	struct lace_torch_rank *rank = &place->torch->ranks[place->rank];
	uint64_t before = UINT64_MAX;
	size_t i = 0, nr;
	int ret = 0;

	if (rank->nr_calls)
		qsort(rank->calls, rank->nr_calls, sizeof(*rank->calls),
		      compare_starts);
	place->torch->trace.ranks[place->rank].hidden = rank->nr_calls;
	for (; i < rank->nr_calls && !ret; i += nr) {
		for (nr = 0; i + nr < rank->nr_calls &&
		     is_transfer(&rank->calls[i + nr]); nr++)
			;
		if (nr) {
			ret = order_run(place, i, nr, &before);
			continue;
		}
		nr = 1;
		ret = add_node(place, &rank->calls[i], rank->nr_calls + i);
		if (!ret && before != UINT64_MAX)
			ret = wait_for(place, before);
		before = rank->nr_calls + i;
	}
	return ret;
}

/* ---- all ranks ---- */

static unsigned int fill_trace(struct lace_torch *torch, int *ret,
			       struct lace_error *err)
{
	struct place place = { .torch = torch, .err = err };
	unsigned int nr_files = 0;

	for (; place.rank < torch->nr_ranks && !*ret; place.rank++) {
		if (!torch->ranks[place.rank].file)
			continue;
		nr_files++;
		torch->trace.ranks[place.rank].file =
			torch->ranks[place.rank].file;
		*ret = torch->by_time ? order_by_time(&place) :
					order_by_id(&place);
		if (!*ret)
			*ret = lace_trace_finish_rank(&torch->trace, place.rank,
						      err);
	}
	return nr_files;
}

/**
 * lace_torch_schedule() - a schedule from calls that PyTorch recorded
 * @torch: the calls of the ranks that have traces
 * @schedule: ranks and ops are filled in
 * @report: for warnings
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_torch_schedule(struct lace_torch *torch,
			struct lace_schedule *schedule, FILE *report,
			struct lace_error *err)
{
	unsigned int nr_files = 0, r;
	int ret;

	for (r = 0; r < torch->nr_ranks; r++)
		nr_files += !!torch->ranks[r].file;
	ret = find_world(torch, nr_files, err);
	if (ret)
		return ret;
	nr_files = fill_trace(torch, &ret, err);
	if (ret)
		return ret;
	if (nr_files < torch->trace.nr_ranks)
		fprintf(report,
			"warning: %u of %u ranks have no trace and are taken to make the calls of the others\n",
			torch->trace.nr_ranks - nr_files,
			torch->trace.nr_ranks);
	return lace_trace_schedule(&torch->trace, schedule, report, err);
}
