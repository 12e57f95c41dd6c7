// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What the ranks do: nodes, what they wait for, and the calls among them.
 *
 * A reader appends nodes as it meets them, with the ids that the file uses.
 * lace_trace_finish_rank() then sorts the rank's nodes by id, so that from
 * there on a node's index says its place among nodes that could go first, and
 * turns ids into indices.
 */
#include "import.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int lace_trace_init(struct lace_trace *trace, unsigned int nr_ranks,
		    const char *noun, struct lace_error *err)
{
	memset(trace, 0, sizeof(*trace));
	trace->noun = noun;
	trace->nr_ranks = nr_ranks;
	trace->world = LACE_NONE;
	trace->ranks = calloc(nr_ranks, sizeof(*trace->ranks));
	return trace->ranks ? 0 : lace_import_no_memory(err);
}

void lace_trace_free(struct lace_trace *trace)
{
	unsigned int i;
	size_t k;

	for (i = 0; trace->ranks && i < trace->nr_ranks; i++) {
		struct lace_trace_rank *rank = &trace->ranks[i];

		for (k = 0; k < rank->nr_calls; k++)
			free(rank->calls[k].splits);
		free(rank->nodes);
		free(rank->calls);
		free(rank->deps);
		free(rank->order);
		free(rank->waits);
	}
	free(trace->ranks);
	lace_trace_free_comms(trace);
	memset(trace, 0, sizeof(*trace));
}

void lace_trace_error(const struct lace_trace *trace, unsigned int rank,
		      const struct lace_trace_node *node,
		      struct lace_error *err, const char *fmt, ...)
{
	const char *file = trace->ranks[rank].file;
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (node->line)
		lace_import_error(err, file, node->line, "rank %u: %s", rank,
				  text);
	else
		lace_import_error(err, file, 0, "rank %u: %s %" PRIu64 ": %s",
				  rank, trace->noun,
				  node->id - trace->ranks[rank].hidden, text);
}

/* ---- building ---- */

int lace_trace_node(struct lace_trace *trace, unsigned int rank, uint64_t id,
		    unsigned int line, struct lace_error *err)
{
	struct lace_trace_rank *to = &trace->ranks[rank];
	int ret;

	if (trace->nr_nodes == LACE_IMPORT_MAX_NODES)
		return lace_import_fail(err, to->file, 0,
					"more than %u %ss in all ranks",
					LACE_IMPORT_MAX_NODES, trace->noun);
	ret = lace_import_grow(&to->nodes, &to->room_nodes, to->nr_nodes + 1,
			       sizeof(*to->nodes), err);
	if (ret)
		return ret;
	to->nodes[to->nr_nodes++] = (struct lace_trace_node){
		.id = id,
		.line = line,
		.call = LACE_NONE,
		.first_dep = to->nr_deps,
	};
	trace->nr_nodes++;
	return 0;
}

int lace_trace_wait(struct lace_trace *trace, unsigned int rank, uint64_t id,
		    bool start, struct lace_error *err)
{
	struct lace_trace_rank *to = &trace->ranks[rank];
	int ret;

	if (trace->nr_deps == LACE_IMPORT_MAX_DEPS)
		return lace_import_fail(err, to->file, 0,
					"more than %u dependencies in all ranks",
					LACE_IMPORT_MAX_DEPS);
	ret = lace_import_grow(&to->waits, &to->room_waits, to->nr_deps + 1,
			       sizeof(*to->waits), err);
	if (ret)
		return ret;
	to->waits[to->nr_deps].id = id;
	to->waits[to->nr_deps++].start = start;
	trace->nr_deps++;
	return 0;
}

int lace_trace_call(struct lace_trace *trace, unsigned int rank,
		    const struct lace_call *call, struct lace_error *err)
{
	struct lace_trace_rank *to = &trace->ranks[rank];
	int ret;

	ret = lace_import_grow(&to->calls, &to->room_calls, to->nr_calls + 1,
			       sizeof(*to->calls), err);
	if (ret)
		return ret;
	to->nodes[to->nr_nodes - 1].call = to->nr_calls;
	to->calls[to->nr_calls++] = *call;
	return 0;
}

/* ---- finishing: ids to indices ---- */

struct by_id {
	uint64_t id;
	unsigned int index;
};

static int compare_ids(const void *a, const void *b)
{
	const struct by_id *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static struct by_id *sort_ids(const struct lace_trace_rank *rank)
{
	struct by_id *sorted = malloc(rank->nr_nodes * sizeof(*sorted));
	bool ascending = true;
	size_t i;

	if (!sorted)
		return NULL;
	for (i = 0; i < rank->nr_nodes; i++) {
		sorted[i].id = rank->nodes[i].id;
		sorted[i].index = i;
		ascending &= !i || sorted[i - 1].id <= sorted[i].id;
	}
	if (!ascending)
		qsort(sorted, rank->nr_nodes, sizeof(*sorted), compare_ids);
	return sorted;
}

static unsigned int find_id(const struct by_id *sorted, size_t nr, uint64_t id)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nr && sorted[low].id == id ? low : LACE_NONE;
}

/* Nodes and deps in the order of ids; deps on ids that no node has go. */
static int resolve(struct lace_trace *trace, struct lace_trace_rank *rank,
		   const struct by_id *sorted, struct lace_error *err)
{
	struct lace_trace_node *nodes;
	size_t i, k, nr_deps = 0;
	unsigned int *deps;

	nodes = malloc(rank->nr_nodes * sizeof(*nodes));
	deps = malloc((rank->nr_deps + 1) * sizeof(*deps));
	if (!nodes || !deps) {
		free(nodes);
		free(deps);
		return lace_import_no_memory(err);
	}
	for (i = 0; i < rank->nr_nodes; i++) {
		unsigned int from = sorted[i].index;
		size_t end = from + 1 < rank->nr_nodes ?
			     rank->nodes[from + 1].first_dep : rank->nr_deps;

		nodes[i] = rank->nodes[from];
		nodes[i].first_dep = nr_deps;
		for (k = rank->nodes[from].first_dep; k < end; k++) {
			const struct lace_wait *wait = &rank->waits[k];
			unsigned int on = find_id(sorted, rank->nr_nodes,
						  wait->id);

			if (on == LACE_NONE)
				trace->nr_dangling++;
			else
				deps[nr_deps++] = on | (wait->start ?
							LACE_DEP_START : 0);
		}
	}
	free(rank->nodes);
	free(rank->waits);
	rank->waits = NULL;
	rank->nodes = nodes;
	rank->deps = deps;
	rank->nr_deps = nr_deps;
	return 0;
}

static size_t deps_end(const struct lace_trace_rank *rank, unsigned int node)
{
	return node + 1 < rank->nr_nodes ? rank->nodes[node + 1].first_dep :
					   rank->nr_deps;
}

/* ---- finishing: program order ---- */

/* Successors of every node, and for each node how many deps are open. */
struct ordering {
	unsigned int *first;	/* nr_nodes + 1 */
	unsigned int *next;
	unsigned int *open;
	unsigned int *heap;	/* nodes that are ready, smallest first */
	size_t nr_heap;
};

static void free_ordering(struct ordering *o)
{
	free(o->first);
	free(o->next);
	free(o->open);
	free(o->heap);
}

static int make_ordering(const struct lace_trace_rank *rank,
			 struct ordering *o, struct lace_error *err)
{
	size_t n = rank->nr_nodes, i, k;

	o->first = calloc(n + 2, sizeof(*o->first));
	o->next = malloc((rank->nr_deps + 1) * sizeof(*o->next));
	o->open = malloc((n + 1) * sizeof(*o->open));
	o->heap = malloc((n + 1) * sizeof(*o->heap));
	if (!o->first || !o->next || !o->open || !o->heap)
		return lace_import_no_memory(err);
	/* Counted two places up, so that filling leaves the starts in place. */
	for (k = 0; k < rank->nr_deps; k++)
		o->first[LACE_DEP_NODE(rank->deps[k]) + 2]++;
	for (i = 2; i < n + 2; i++)
		o->first[i] += o->first[i - 1];
	for (i = 0; i < n; i++) {
		size_t end = deps_end(rank, i);

		o->open[i] = end - rank->nodes[i].first_dep;
		for (k = rank->nodes[i].first_dep; k < end; k++) {
			unsigned int on = LACE_DEP_NODE(rank->deps[k]);

			o->next[o->first[on + 1]++] = i;
		}
	}
	return 0;
}

static void push(struct ordering *o, unsigned int node)
{
	size_t at = o->nr_heap++;

	while (at && o->heap[(at - 1) / 2] > node) {
		o->heap[at] = o->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	o->heap[at] = node;
}

static unsigned int pop(struct ordering *o)
{
	unsigned int top = o->heap[0], last = o->heap[--o->nr_heap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < o->nr_heap) {
		if (child + 1 < o->nr_heap &&
		    o->heap[child + 1] < o->heap[child])
			child++;
		if (o->heap[child] >= last)
			break;
		o->heap[at] = o->heap[child];
		at = child;
	}
	o->heap[at] = last;
	return top;
}

/* From a node that never got ready, back along open deps until one comes
 * round: that one is in a circle.
 */
static unsigned int find_circle(const struct lace_trace_rank *rank,
				const unsigned int *open)
{
	unsigned int at = 0;
	size_t steps, k;

	while (!open[at])
		at++;
	for (steps = 0; steps < rank->nr_nodes; steps++) {
		for (k = rank->nodes[at].first_dep; k < deps_end(rank, at); k++)
			if (open[LACE_DEP_NODE(rank->deps[k])])
				break;
		at = LACE_DEP_NODE(rank->deps[k]);
	}
	return at;
}

static int order_calls(const struct lace_trace *trace, unsigned int number,
		       struct ordering *o, struct lace_error *err)
{
	struct lace_trace_rank *rank = &trace->ranks[number];
	size_t i, done = 0, nr_order = 0;

	rank->order = malloc((rank->nr_calls + 1) * sizeof(*rank->order));
	if (!rank->order)
		return lace_import_no_memory(err);
	for (i = 0; i < rank->nr_nodes; i++)
		if (!o->open[i])
			push(o, i);
	for (; o->nr_heap; done++) {
		unsigned int node = pop(o);

		if (rank->nodes[node].call != LACE_NONE)
			rank->order[nr_order++] = node;
		for (i = o->first[node]; i < o->first[node + 1]; i++)
			if (!--o->open[o->next[i]])
				push(o, o->next[i]);
	}
	if (done == rank->nr_nodes)
		return 0;
	return lace_trace_fail(trace, number,
			       &rank->nodes[find_circle(rank, o->open)], err,
			       "waits for itself: cyclic dependencies");
}

/**
 * lace_trace_finish_rank() - close a rank's list of nodes
 * @trace: the trace
 * @number: the rank
 * @err: where and why it failed
 *
 * Return: 0, or negative if two nodes have one id or the dependencies go in a
 * circle.
 */
int lace_trace_finish_rank(struct lace_trace *trace, unsigned int number,
			   struct lace_error *err)
{
	struct lace_trace_rank *rank = &trace->ranks[number];
	struct ordering o = { 0 };
	struct by_id *sorted;
	size_t i;
	int ret;

	if (!rank->nr_nodes)
		return 0;
	sorted = sort_ids(rank);
	if (!sorted)
		return lace_import_no_memory(err);
	for (i = 1; i < rank->nr_nodes; i++) {
		if (sorted[i - 1].id != sorted[i].id)
			continue;
		ret = lace_trace_fail(trace, number,
				      &rank->nodes[sorted[i].index], err,
				      "two %ss with this id", trace->noun);
		free(sorted);
		return ret;
	}
	ret = resolve(trace, rank, sorted, err);
	free(sorted);
	if (!ret)
		ret = make_ordering(rank, &o, err);
	if (!ret)
		ret = order_calls(trace, number, &o, err);
	free_ordering(&o);
	return ret;
}
