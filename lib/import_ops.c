// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * From matched calls with depths to the ops of a schedule.
 *
 * Depth by depth, collectives that are alike but for their groups share an op
 * as long as no rank is in two of its groups, first fit in a fixed order; all
 * transfers of a depth are one op after them.
 */
#include "import.h"

#include <stdlib.h>
#include <string.h>

/* Longer groups whose ranks are evenly spaced are written as such. */
#define MAX_WRITTEN_OUT 16

/* ---- ops, one by one ---- */

void lace_ops_free(struct lace_op *op)
{
	unsigned int p, g;

	for (p = 0; p < op->nr_parts; p++) {
		struct lace_part *part = &op->parts[p];

		for (g = 0; g < part->nr_groups; g++) {
			free(part->groups[g].ranks);
			if (part->matrix)
				free(part->matrix[g]);
		}
		free(part->groups);
		free(part->matrix);
		free(part->transfers);
	}
	free(op->parts);
	free(op->name);
	memset(op, 0, sizeof(*op));
}

int lace_ops_make(struct lace_op *op, enum lace_collective collective,
		  unsigned int nr_groups, struct lace_error *err)
{
	struct lace_part *part;

	memset(op, 0, sizeof(*op));
	op->repeat = 1;
	op->parts = calloc(1, sizeof(*op->parts));
	if (!op->parts)
		return lace_import_no_memory(err);
	op->nr_parts = 1;
	part = op->parts;
	part->collective = collective;
	part->algorithm = collective == LACE_ALL_TO_ALL ||
			  collective == LACE_ALL_TO_ALLV ? LACE_DIRECT :
							   LACE_RING;
	if (!nr_groups)
		return 0;
	part->groups = calloc(nr_groups, sizeof(*part->groups));
	if (collective == LACE_ALL_TO_ALLV)
		part->matrix = calloc(nr_groups, sizeof(*part->matrix));
	if (!part->groups || (collective == LACE_ALL_TO_ALLV && !part->matrix)) {
		lace_ops_free(op);
		return lace_import_no_memory(err);
	}
	part->nr_groups = nr_groups;
	return 0;
}

static bool evenly_spaced(const unsigned int *ranks, unsigned int nr)
{
	unsigned int i;

	if (ranks[1] <= ranks[0])
		return false;
	for (i = 2; i < nr; i++)
		if (ranks[i] <= ranks[i - 1] ||
		    ranks[i] - ranks[i - 1] != ranks[1] - ranks[0])
			return false;
	return true;
}

int lace_ops_group(struct lace_group *group, const unsigned int *ranks,
		   unsigned int nr, struct lace_error *err)
{
	group->count = nr;
	if (nr > MAX_WRITTEN_OUT && evenly_spaced(ranks, nr)) {
		group->first = ranks[0];
		group->stride = ranks[1] - ranks[0];
		return 0;
	}
	group->ranks = malloc(nr * sizeof(*ranks));
	if (!group->ranks)
		return lace_import_no_memory(err);
	memcpy(group->ranks, ranks, nr * sizeof(*ranks));
	return 0;
}

static bool same_group(const struct lace_group *a, const struct lace_group *b)
{
	if (a->count != b->count || !a->ranks != !b->ranks)
		return false;
	if (a->ranks)
		return !memcmp(a->ranks, b->ranks,
			       a->count * sizeof(*a->ranks));
	return a->first == b->first && a->stride == b->stride;
}

static bool same_part(const struct lace_part *a, const struct lace_part *b)
{
	unsigned int g;
	size_t i;

	if (a->collective != b->collective || a->bytes != b->bytes ||
	    a->root != b->root || a->nr_groups != b->nr_groups ||
	    a->nr_transfers != b->nr_transfers)
		return false;
	for (g = 0; g < a->nr_groups; g++) {
		size_t n = a->groups[g].count;

		if (!same_group(&a->groups[g], &b->groups[g]))
			return false;
		if (a->matrix && memcmp(a->matrix[g], b->matrix[g],
					n * n * sizeof(uint64_t)))
			return false;
	}
	for (i = 0; i < a->nr_transfers; i++)
		if (a->transfers[i].src != b->transfers[i].src ||
		    a->transfers[i].dst != b->transfers[i].dst ||
		    a->transfers[i].bytes != b->transfers[i].bytes)
			return false;
	return true;
}

int lace_ops_append(struct lace_schedule *schedule, size_t *room,
		    struct lace_op *op, struct lace_error *err)
{
	struct lace_op *last = schedule->nr_ops ?
			       &schedule->ops[schedule->nr_ops - 1] : NULL;
	const char *kind;
	char name[64];
	int ret;

	if (last && same_part(last->parts, op->parts)) {
		last->repeat += op->repeat;
		lace_ops_free(op);
		return 0;
	}
	ret = lace_import_grow(&schedule->ops, room, schedule->nr_ops + 1,
			       sizeof(*schedule->ops), err);
	if (!ret) {
		kind = op->parts->nr_groups ?
		       lace_collective_name(op->parts->collective) : "transfers";
		snprintf(name, sizeof(name), "%s %u", kind, schedule->nr_ops);
		op->name = strdup(name);
		if (!op->name)
			ret = lace_import_no_memory(err);
	}
	if (ret) {
		lace_ops_free(op);
		return ret;
	}
	schedule->ops[schedule->nr_ops++] = *op;
	return 0;
}

/* ---- which collectives share an op ---- */

/* For each rank, the ops of the run under way that it is in: a bit for each,
 * of which all below the word full are set.
 */
struct seats {
	uint64_t *taken;
	size_t nr, room, full;
	unsigned int run;
};

/* The first op without any member of comm; members are then in it. */
static int first_fit(struct seats *seats, unsigned int run,
		     const struct lace_comm *comm, unsigned int *op,
		     struct lace_error *err)
{
	size_t word = 0;
	uint64_t taken;
	unsigned int i, bit;
	int ret;

	for (i = 0; i < comm->nr; i++) {
		struct seats *seat = &seats[comm->ranks[i]];

		if (seat->run != run) {
			seat->run = run;
			seat->nr = 0;
			seat->full = 0;
		}
		if (word < seat->full)
			word = seat->full;
	}
	for (;; word++) {
		taken = 0;
		for (i = 0; i < comm->nr; i++) {
			struct seats *seat = &seats[comm->ranks[i]];

			if (word < seat->nr)
				taken |= seat->taken[word];
		}
		if (~taken)
			break;
	}
	bit = __builtin_ctzll(~taken);
	for (i = 0; i < comm->nr; i++) {
		struct seats *seat = &seats[comm->ranks[i]];

		ret = lace_import_grow(&seat->taken, &seat->room, word + 1,
				       sizeof(*seat->taken), err);
		if (ret)
			return ret;
		while (seat->nr <= word)
			seat->taken[seat->nr++] = 0;
		seat->taken[word] |= 1ULL << bit;
		while (seat->full < seat->nr && !~seat->taken[seat->full])
			seat->full++;
	}
	*op = word * 64 + bit;
	return 0;
}

/* ---- the order of calls ---- */

struct item {
	const struct lace_instance *instance;
	unsigned int list, op;
};

struct builder {
	const struct lace_trace *trace;
	const struct lace_match *match;
	struct lace_schedule *schedule;
	size_t room;
	struct seats *seats;
	unsigned int run;
	size_t nr_items;
	struct item *items;
	size_t nr_transfers;
	struct lace_match_transfer *transfers;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Calls that compare equal here may share an op. */
static int compare_kinds(const struct item *x, const struct item *y)
{
	const struct lace_call *a = x->instance->call, *b = y->instance->call;
	int c = compare_u64(x->instance->depth, y->instance->depth);

	if (!c)
		c = compare_u64(a->collective, b->collective);
	if (!c)
		c = compare_u64(a->bytes, b->bytes);
	return c ? c : compare_u64(a->root, b->root);
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int c = compare_kinds(x, y);

	if (!c)
		c = compare_u64(x->list, y->list);
	if (!c)
		c = x->instance < y->instance ? -1 : x->instance > y->instance;
	return c;
}

static int compare_by_op(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->op != y->op ? compare_u64(x->op, y->op) : compare_items(a, b);
}

static int compare_transfers(const void *a, const void *b)
{
	const struct lace_match_transfer *x = a, *y = b;
	int c = compare_u64(x->depth, y->depth);

	if (!c)
		c = compare_u64(x->src, y->src);
	if (!c)
		c = compare_u64(x->dst, y->dst);
	return c ? c : compare_u64(x->bytes, y->bytes);
}

static int list_calls(struct builder *b, struct lace_error *err)
{
	const struct lace_match *match = b->match;
	size_t i;

	b->seats = calloc(b->trace->nr_ranks, sizeof(*b->seats));
	b->items = malloc((match->nr_instances + 1) * sizeof(*b->items));
	b->transfers = malloc((match->nr_transfers + 1) *
			      sizeof(*b->transfers));
	if (!b->seats || !b->items || !b->transfers)
		return lace_import_no_memory(err);
	for (i = 0; i < match->nr_instances; i++) {
		const struct lace_instance *instance = &match->instances[i];

		if (instance->skip != LACE_TRAFFIC)
			continue;
		b->items[b->nr_items].instance = instance;
		b->items[b->nr_items++].list =
			b->trace->comms[instance->call->comm].list;
	}
	for (i = 0; i < match->nr_transfers; i++)
		if (match->transfers[i].skip == LACE_TRAFFIC)
			b->transfers[b->nr_transfers++] = match->transfers[i];
	qsort(b->items, b->nr_items, sizeof(*b->items), compare_items);
	qsort(b->transfers, b->nr_transfers, sizeof(*b->transfers),
	      compare_transfers);
	return 0;
}

/* ---- building ---- */

static int fill_group(const struct builder *b, struct lace_part *part,
		      unsigned int g, const struct lace_instance *instance,
		      struct lace_error *err)
{
	const struct lace_comm *comm = &b->trace->comms[instance->call->comm];
	size_t size = (size_t)comm->nr * comm->nr * sizeof(uint64_t);
	int ret;

	ret = lace_ops_group(&part->groups[g], comm->ranks, comm->nr, err);
	if (ret || !part->matrix)
		return ret;
	part->matrix[g] = malloc(size);
	if (!part->matrix[g])
		return lace_import_no_memory(err);
	memcpy(part->matrix[g], instance->matrix, size);
	return 0;
}

static int build_collective(struct builder *b, const struct item *items,
			    unsigned int nr, struct lace_error *err)
{
	const struct lace_call *call = items->instance->call;
	struct lace_op op;
	unsigned int g;
	int ret;

	ret = lace_ops_make(&op, call->collective, nr, err);
	if (ret)
		return ret;
	op.parts->bytes = call->bytes;
	op.parts->root = call->root;
	for (g = 0; g < nr && !ret; g++)
		ret = fill_group(b, op.parts, g, items[g].instance, err);
	if (ret) {
		lace_ops_free(&op);
		return ret;
	}
	return lace_ops_append(b->schedule, &b->room, &op, err);
}

/* nr calls alike but for their groups, sorted by list. */
static int build_run(struct builder *b, struct item *items, size_t nr,
		     struct lace_error *err)
{
	size_t from = 0, to, i;
	int ret = 0;

	b->run++;
	for (i = 0; i < nr && !ret; i++)
		ret = first_fit(b->seats, b->run,
				&b->trace->comms[items[i].instance->call->comm],
				&items[i].op, err);
	if (ret)
		return ret;
	qsort(items, nr, sizeof(*items), compare_by_op);
	for (; from < nr && !ret; from = to) {
		for (to = from; to < nr && items[to].op == items[from].op; to++)
			;
		ret = build_collective(b, items + from, to - from, err);
	}
	return ret;
}

static int build_transfers(struct builder *b,
			   const struct lace_match_transfer *from, size_t nr,
			   struct lace_error *err)
{
	struct lace_op op;
	size_t i;
	int ret;

	ret = lace_ops_make(&op, LACE_TRANSFERS, 0, err);
	if (ret)
		return ret;
	op.parts->transfers = malloc(nr * sizeof(*op.parts->transfers));
	if (!op.parts->transfers) {
		lace_ops_free(&op);
		return lace_import_no_memory(err);
	}
	op.parts->nr_transfers = nr;
	for (i = 0; i < nr; i++)
		op.parts->transfers[i] = (struct lace_transfer){
			.src = from[i].src,
			.dst = from[i].dst,
			.bytes = from[i].bytes,
		};
	return lace_ops_append(b->schedule, &b->room, &op, err);
}

static int build(struct builder *b, struct lace_error *err)
{
	size_t c = 0, t = 0, end;
	int ret = 0;

	while (!ret && (c < b->nr_items || t < b->nr_transfers)) {
		if (c < b->nr_items &&
		    (t == b->nr_transfers ||
		     b->items[c].instance->depth <= b->transfers[t].depth)) {
			for (end = c; end < b->nr_items &&
			     !compare_kinds(&b->items[c], &b->items[end]); end++)
				;
			ret = build_run(b, b->items + c, end - c, err);
			c = end;
		} else {
			for (end = t; end < b->nr_transfers &&
			     b->transfers[end].depth == b->transfers[t].depth;
			     end++)
				;
			ret = build_transfers(b, b->transfers + t, end - t, err);
			t = end;
		}
	}
	return ret;
}

/**
 * lace_match_ops() - the ops of a schedule, from calls with depths
 * @trace: all ranks, lists numbered
 * @match: their calls
 * @schedule: ops are appended
 * @err: why it failed
 *
 * Return: 0, or negative.
 */
int lace_match_ops(const struct lace_trace *trace,
		   const struct lace_match *match,
		   struct lace_schedule *schedule, struct lace_error *err)
{
	struct builder b = {
		.trace = trace,
		.match = match,
		.schedule = schedule,
	};
	unsigned int r;
	int ret;

	ret = list_calls(&b, err);
	if (!ret)
		ret = build(&b, err);
	for (r = 0; b.seats && r < trace->nr_ranks; r++)
		free(b.seats[r].taken);
	free(b.seats);
	free(b.items);
	free(b.transfers);
	return ret;
}
