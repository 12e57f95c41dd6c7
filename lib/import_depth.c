// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * How far each call is down the longest path over all ranks.
 *
 * DESIGN NOTES
 *
 * The graph has a vertex for every node of every rank, numbered through, and
 * behind them one for every instance of a collective, which stands for all the
 * nodes that take part in it (their own vertices stay unused).  A receive comes
 * after its send.  Edges are gathered by their start, vertices are then taken
 * as they become ready; what never does is in a circle, a deadlock, or behind
 * one.  Linear in nodes and dependencies.
 */
#include "import.h"

#include <stdlib.h>
#include <string.h>

#define FREE_EDGE (1u << 31)	/* costs nothing, whatever it starts from */

struct graph {
	const struct lace_trace *trace;
	const struct lace_match *match;
	unsigned int *base;	/* first vertex of each rank */
	unsigned int nr_nodes, nr;
	unsigned int *first;	/* nr + 1: edges of each vertex */
	unsigned int *edges;
	unsigned int *open;	/* edges into each vertex not followed yet */
	unsigned int *depth;
	unsigned int *queue;
};

static void free_graph(struct graph *g)
{
	free(g->base);
	free(g->first);
	free(g->edges);
	free(g->open);
	free(g->depth);
	free(g->queue);
}

static unsigned int vertex(const struct graph *g, unsigned int r,
			   unsigned int node)
{
	const struct lace_trace_rank *rank = &g->trace->ranks[r];
	unsigned int call = rank->nodes[node].call;

	if (call != LACE_NONE && rank->calls[call].kind <= LACE_CALL_BARRIER)
		return g->nr_nodes + rank->calls[call].match;
	return g->base[r] + node;
}

/* 1 for a node whose end moves bytes, 0 for any other. */
static unsigned int weight(const struct graph *g, unsigned int r,
			   unsigned int node)
{
	const struct lace_trace_rank *rank = &g->trace->ranks[r];
	const struct lace_call *call;
	enum lace_skip skip;

	if (rank->nodes[node].call == LACE_NONE)
		return 0;
	call = &rank->calls[rank->nodes[node].call];
	skip = call->kind <= LACE_CALL_BARRIER ?
	       g->match->instances[call->match].skip :
	       g->match->transfers[call->match].skip;
	return skip == LACE_TRAFFIC;
}

/* Calls edge() for every edge of the graph. */
static void for_each_edge(struct graph *g,
			  void (*edge)(struct graph *g, unsigned int from,
				       unsigned int to, unsigned int costs))
{
	const struct lace_trace *trace = g->trace;
	unsigned int r, i;
	size_t k, end;

	for (r = 0; r < trace->nr_ranks; r++) {
		const struct lace_trace_rank *rank = &trace->ranks[r];

		for (i = 0; i < rank->nr_nodes; i++) {
			end = i + 1 < rank->nr_nodes ?
			      rank->nodes[i + 1].first_dep : rank->nr_deps;
			for (k = rank->nodes[i].first_dep; k < end; k++) {
				unsigned int dep = rank->deps[k];
				unsigned int on = LACE_DEP_NODE(dep);

				edge(g, vertex(g, r, on), vertex(g, r, i),
				     !(dep & LACE_DEP_START) &&
				     weight(g, r, on));
			}
		}
	}
	for (k = 0; k < g->match->nr_transfers; k++) {
		const struct lace_match_transfer *t = &g->match->transfers[k];

		if (t->send != LACE_NONE && t->recv != LACE_NONE)
			edge(g, vertex(g, t->src, t->send),
			     vertex(g, t->dst, t->recv), 0);
	}
}

static void count_edge(struct graph *g, unsigned int from, unsigned int to,
		       unsigned int costs)
{
	(void)costs;
	g->first[from + 2]++;
	g->open[to]++;
}

static void add_edge(struct graph *g, unsigned int from, unsigned int to,
		     unsigned int costs)
{
	g->edges[g->first[from + 1]++] = to | (costs ? 0 : FREE_EDGE);
}

static int make_graph(struct graph *g, struct lace_error *err)
{
	const struct lace_trace *trace = g->trace;
	size_t nr_edges, nr = 0;
	unsigned int r, i;

	g->base = malloc((trace->nr_ranks + 1) * sizeof(*g->base));
	if (!g->base)
		return lace_import_no_memory(err);
	for (r = 0; r < trace->nr_ranks; r++) {
		g->base[r] = nr;
		nr += trace->ranks[r].nr_nodes;
	}
	g->nr_nodes = nr;
	g->nr = nr + g->match->nr_instances;
	nr_edges = trace->nr_deps + g->match->nr_transfers;
	g->first = calloc(g->nr + 2, sizeof(*g->first));
	g->open = calloc(g->nr + 1, sizeof(*g->open));
	g->depth = calloc(g->nr + 1, sizeof(*g->depth));
	g->queue = malloc((g->nr + 1) * sizeof(*g->queue));
	g->edges = malloc((nr_edges + 1) * sizeof(*g->edges));
	if (!g->first || !g->open || !g->depth || !g->queue || !g->edges)
		return lace_import_no_memory(err);
	/* Counted two places up, so that filling leaves the starts in place. */
	for_each_edge(g, count_edge);
	for (i = 2; i < g->nr + 2; i++)
		g->first[i] += g->first[i - 1];
	for_each_edge(g, add_edge);
	return 0;
}

static size_t walk(struct graph *g)
{
	size_t head = 0, tail = 0;
	unsigned int v, k;

	for (v = 0; v < g->nr; v++)
		if (!g->open[v])
			g->queue[tail++] = v;
	while (head < tail) {
		v = g->queue[head++];
		for (k = g->first[v]; k < g->first[v + 1]; k++) {
			unsigned int to = g->edges[k] & ~FREE_EDGE;
			unsigned int depth = g->depth[v] +
					     !(g->edges[k] & FREE_EDGE);

			if (g->depth[to] < depth)
				g->depth[to] = depth;
			if (!--g->open[to])
				g->queue[tail++] = to;
		}
	}
	return tail;
}

/* A vertex that waits for itself: backwards along edges that stayed open. */
static unsigned int find_circle(struct graph *g)
{
	unsigned int *before = g->queue;
	unsigned int v, k, at = LACE_NONE;
	size_t steps;

	for (v = 0; v < g->nr; v++) {
		if (!g->open[v])
			continue;
		at = v;
		for (k = g->first[v]; k < g->first[v + 1]; k++)
			before[g->edges[k] & ~FREE_EDGE] = v;
	}
	for (steps = 0; steps < g->nr; steps++)
		at = before[at];
	return at;
}

static bool has_call(const struct graph *g, unsigned int at)
{
	unsigned int r = 0;

	if (at >= g->nr_nodes)
		return true;
	while (r + 1 < g->trace->nr_ranks && g->base[r + 1] <= at)
		r++;
	return g->trace->ranks[r].nodes[at - g->base[r]].call != LACE_NONE;
}

static int deadlock(struct graph *g, struct lace_error *err)
{
	unsigned int at = find_circle(g), r = 0, node;

	/* A circle through several ranks goes through calls: name one. */
	while (!has_call(g, at))
		at = g->queue[at];

	if (at >= g->nr_nodes) {
		r = g->match->instances[at - g->nr_nodes].rank;
		node = g->match->instances[at - g->nr_nodes].node;
	} else {
		while (r + 1 < g->trace->nr_ranks && g->base[r + 1] <= at)
			r++;
		node = at - g->base[r];
	}
	return lace_trace_fail(g->trace, r, &g->trace->ranks[r].nodes[node],
			       err,
			       "waits for itself through other ranks: deadlock (a cycle of calls and dependencies)");
}

/**
 * lace_match_depth() - the depth of every call
 * @trace: all ranks
 * @match: its calls, matched; filled with their depths
 * @err: where and why it failed
 *
 * Return: 0, or negative if calls wait for each other in a circle.
 */
int lace_match_depth(const struct lace_trace *trace, struct lace_match *match,
		     struct lace_error *err)
{
	struct graph g = { .trace = trace, .match = match };
	size_t i;
	int ret;

	ret = make_graph(&g, err);
	if (!ret && walk(&g) < g.nr)
		ret = deadlock(&g, err);
	for (i = 0; !ret && i < match->nr_instances; i++)
		match->instances[i].depth = g.depth[g.nr_nodes + i];
	for (i = 0; !ret && i < match->nr_transfers; i++) {
		struct lace_match_transfer *t = &match->transfers[i];

		t->depth = t->send != LACE_NONE ?
			   g.depth[vertex(&g, t->src, t->send)] :
			   g.depth[vertex(&g, t->dst, t->recv)];
	}
	free_graph(&g);
	return ret;
}
