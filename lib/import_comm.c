// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Communicators: which calls of different ranks are matched at all.  Two are
 * the same if name and list of ranks are; a list alone is not enough, because
 * programs keep several communicators over the same ranks and use them side by
 * side.  They are found by hash, since each rank brings its own copy.
 */
#include "import.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *name, const unsigned int *ranks,
		     unsigned int nr)
{
	uint64_t value = 14695981039346656037ULL;
	unsigned int i;

	for (; *name; name++)
		value = (value ^ (unsigned char)*name) * 1099511628211ULL;
	for (i = 0; i < nr; i++)
		value = (value ^ ranks[i] ^ 0x100000000ULL) * 1099511628211ULL;
	return value ^ value >> 29;
}

/* Where the communicator is in the table, or would be. */
static size_t find_slot(const struct lace_trace *trace, const char *name,
			const unsigned int *ranks, unsigned int nr)
{
	size_t mask = trace->comm_table_size - 1;
	size_t slot = hash(name, ranks, nr) & mask;

	while (trace->comm_table[slot] != LACE_NONE) {
		const struct lace_comm *comm =
			&trace->comms[trace->comm_table[slot]];

		if (comm->nr == nr && !strcmp(comm->name, name) &&
		    !memcmp(comm->ranks, ranks, nr * sizeof(*ranks)))
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

static int enlarge_table(struct lace_trace *trace, struct lace_error *err)
{
	size_t size = trace->comm_table_size ? 2 * trace->comm_table_size : 64;
	unsigned int *table = malloc(size * sizeof(*table));
	unsigned int i;

	if (!table)
		return lace_import_no_memory(err);
	memset(table, 0xff, size * sizeof(*table));
	free(trace->comm_table);
	trace->comm_table = table;
	trace->comm_table_size = size;
	for (i = 0; i < trace->nr_comms; i++) {
		const struct lace_comm *comm = &trace->comms[i];

		table[find_slot(trace, comm->name, comm->ranks, comm->nr)] = i;
	}
	return 0;
}

static int copy_comm(struct lace_comm *comm, const char *name,
		     const unsigned int *ranks, unsigned int nr,
		     struct lace_error *err)
{
	unsigned int i;

	memset(comm, 0, sizeof(*comm));
	comm->name = strdup(name);
	comm->ranks = malloc(nr * sizeof(*ranks));
	if (!comm->name || !comm->ranks) {
		free(comm->name);
		free(comm->ranks);
		return lace_import_no_memory(err);
	}
	memcpy(comm->ranks, ranks, nr * sizeof(*ranks));
	comm->nr = nr;
	comm->ascending = true;
	for (i = 1; i < nr; i++)
		comm->ascending &= ranks[i - 1] < ranks[i];
	return 0;
}

/**
 * lace_trace_comm() - the communicator of a name and a list of ranks
 * @trace: where it is kept
 * @name: its name
 * @ranks: its members, each once, at least one
 * @nr: how many
 * @comm: filled with its index
 * @err: why it failed
 *
 * Return: 0, or negative.
 */
int lace_trace_comm(struct lace_trace *trace, const char *name,
		    const unsigned int *ranks, unsigned int nr,
		    unsigned int *comm, struct lace_error *err)
{
	size_t slot;
	int ret;

	if (2 * (size_t)trace->nr_comms >= trace->comm_table_size) {
		ret = enlarge_table(trace, err);
		if (ret)
			return ret;
	}
	slot = find_slot(trace, name, ranks, nr);
	if (trace->comm_table[slot] == LACE_NONE) {
		ret = lace_import_grow(&trace->comms, &trace->room_comms,
				       trace->nr_comms + 1,
				       sizeof(*trace->comms), err);
		if (ret)
			return ret;
		ret = copy_comm(&trace->comms[trace->nr_comms], name, ranks, nr,
				err);
		if (ret)
			return ret;
		trace->comm_table[slot] = trace->nr_comms++;
	}
	*comm = trace->comm_table[slot];
	return 0;
}

/* The communicator of all ranks, for calls that name no group. */
int lace_trace_world(struct lace_trace *trace, unsigned int *comm,
		     struct lace_error *err)
{
	unsigned int *ranks;
	unsigned int i;
	int ret = 0;

	if (trace->world == LACE_NONE) {
		ranks = malloc(trace->nr_ranks * sizeof(*ranks));
		if (!ranks)
			return lace_import_no_memory(err);
		for (i = 0; i < trace->nr_ranks; i++)
			ranks[i] = i;
		ret = lace_trace_comm(trace, "", ranks, trace->nr_ranks,
				      &trace->world, err);
		free(ranks);
	}
	*comm = trace->world;
	return ret;
}

void lace_trace_free_comms(struct lace_trace *trace)
{
	unsigned int i;

	for (i = 0; i < trace->nr_comms; i++) {
		free(trace->comms[i].name);
		free(trace->comms[i].ranks);
	}
	free(trace->comms);
	free(trace->comm_table);
}

unsigned int lace_comm_index(const struct lace_comm *comm, unsigned int rank)
{
	unsigned int low = 0, high = comm->nr;

	if (!comm->ascending) {
		for (low = 0; low < comm->nr; low++)
			if (comm->ranks[low] == rank)
				return low;
		return LACE_NONE;
	}
	while (low < high) {
		unsigned int middle = low + (high - low) / 2;

		if (comm->ranks[middle] < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < comm->nr && comm->ranks[low] == rank ? low : LACE_NONE;
}

static int compare_lists(const void *a, const void *b)
{
	const struct lace_comm *x = *(struct lace_comm *const *)a;
	const struct lace_comm *y = *(struct lace_comm *const *)b;
	unsigned int i;

	for (i = 0; i < x->nr && i < y->nr; i++)
		if (x->ranks[i] != y->ranks[i])
			return x->ranks[i] < y->ranks[i] ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/**
 * lace_trace_number_lists() - number the lists of ranks in their order
 * @trace: list of each of its communicators is set
 * @err: why it failed
 *
 * Return: 0, or negative.
 */
int lace_trace_number_lists(struct lace_trace *trace, struct lace_error *err)
{
	struct lace_comm **sorted;
	unsigned int i;

	if (!trace->nr_comms)
		return 0;
	sorted = malloc(trace->nr_comms * sizeof(struct lace_comm *));
	if (!sorted)
		return lace_import_no_memory(err);
	for (i = 0; i < trace->nr_comms; i++)
		sorted[i] = &trace->comms[i];
	qsort(sorted, trace->nr_comms, sizeof(struct lace_comm *), compare_lists);
	sorted[0]->list = 0;
	for (i = 1; i < trace->nr_comms; i++)
		sorted[i]->list = sorted[i - 1]->list +
				  !!compare_lists(&sorted[i - 1], &sorted[i]);
	free(sorted);
	return 0;
}
