// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Alternates of a plan: for each pair of nodes that has a circuit or a route, the
 * shortest ways over circuits that have no node in common with it or each other.
 * Pure.
 */
#include "lace.h"

#include <stdlib.h>
#include <string.h>

/* A message begins with 64 hops; less than half of them is far enough. */
#define MAX_BETWEEN 30

#define NONE (~0U)

struct finder {
	struct lace_segment *segment;
	unsigned int nr_nodes, room;
	unsigned int *first; /* of circuits, by TX node, and one more */
	unsigned int *before; /* on the way to a node; NONE: not reached */
	unsigned int *hops; /* to it */
	unsigned int *queue;
	unsigned int *barred; /* equal to stamp: not to be passed */
	unsigned int stamp;
};

static int finder_open(struct finder *finder, unsigned int nr_nodes)
{
	size_t nr = nr_nodes + 1;

	finder->nr_nodes = nr_nodes;
	finder->first = calloc(5 * nr, sizeof(*finder->first));
	if (!finder->first)
		return -1;
	finder->before = finder->first + nr;
	finder->hops = finder->before + nr;
	finder->queue = finder->hops + nr;
	finder->barred = finder->queue + nr;
	return 0;
}

/* Circuits are sorted by the node where they begin. */
static void index_circuits(struct finder *finder, struct lace_segment *segment)
{
	unsigned int node, i = 0;

	finder->segment = segment;
	finder->room = segment->nr_alternates;
	for (node = 0; node <= finder->nr_nodes; node++) {
		while (i < segment->nr_circuits &&
		       segment->circuits[i].tx_node < node)
			i++;
		finder->first[node] = i;
	}
}

/* ---- one way ---- */

static void reach(struct finder *finder, unsigned int from, unsigned int to,
		  unsigned int node, unsigned int *end)
{
	const struct lace_circuit *circuit = finder->segment->circuits;
	unsigned int i, next;

	for (i = finder->first[node]; i < finder->first[node + 1]; i++) {
		next = circuit[i].rx_node;
		if (finder->before[next] != NONE || next == from ||
		    finder->barred[next] == finder->stamp ||
		    (node == from && next == to))
			continue;
		finder->before[next] = node;
		finder->hops[next] = finder->hops[node] + 1;
		finder->queue[(*end)++] = next;
	}
}

/* The nodes between, of the shortest way; 0: there is none. */
static unsigned int search(struct finder *finder, unsigned int from,
			   unsigned int to)
{
	unsigned int begin = 0, end = 0;

	memset(finder->before, 0xff,
	       finder->nr_nodes * sizeof(*finder->before));
	finder->hops[from] = 0;
	finder->queue[end++] = from;
	while (begin < end && finder->before[to] == NONE)
		reach(finder, from, to, finder->queue[begin++], &end);
	if (finder->before[to] == NONE || finder->hops[to] > MAX_BETWEEN + 1)
		return 0;
	return finder->hops[to] - 1;
}

static int keep(struct finder *finder, unsigned int from, unsigned int to,
		unsigned int nr_between, struct lace_error *err)
{
	struct lace_segment *segment = finder->segment;
	struct lace_route *more, *route;
	unsigned int node, i;

	if (segment->nr_alternates == finder->room) {
		finder->room = 2 * finder->room + 16;
		more = reallocarray(segment->alternates, finder->room,
				    sizeof(*more));
		if (!more)
			return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
		segment->alternates = more;
	}
	route = &segment->alternates[segment->nr_alternates];
	*route = (struct lace_route){
		.from = from, .to = to, .nr_between = nr_between};
	route->between = calloc(nr_between, sizeof(*route->between));
	if (!route->between)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	segment->nr_alternates++;
	node = finder->before[to];
	for (i = nr_between; i--; node = finder->before[node]) {
		route->between[i] = node;
		finder->barred[node] = finder->stamp;
	}
	return 0;
}

/* ---- all ways ---- */

/* Of a pair whose way is over these nodes. */
static int add_pair(struct finder *finder, unsigned int from, unsigned int to,
		    const unsigned int *between, unsigned int nr_between,
		    unsigned int most, struct lace_error *err)
{
	unsigned int i, nr;

	finder->stamp++;
	for (i = 0; i < nr_between; i++)
		finder->barred[between[i]] = finder->stamp;
	for (i = 0; i < most; i++) {
		nr = search(finder, from, to);
		if (!nr)
			break;
		if (keep(finder, from, to, nr, err))
			return -1;
	}
	return 0;
}

static bool has_pair(const struct lace_circuit *circuits, unsigned int begin,
		     unsigned int end, unsigned int to)
{
	for (; begin < end; begin++)
		if (circuits[begin].rx_node == to)
			return true;
	return false;
}

static int add_segment(struct finder *finder, struct lace_segment *segment,
		       unsigned int most, struct lace_error *err)
{
	const struct lace_circuit *circuit = segment->circuits;
	const struct lace_route *route = segment->routes;
	unsigned int i, from;

	index_circuits(finder, segment);
	for (i = 0; i < segment->nr_circuits; i++) {
		from = circuit[i].tx_node;
		if (has_pair(circuit, finder->first[from], i,
			     circuit[i].rx_node))
			continue;
		if (add_pair(finder, from, circuit[i].rx_node, NULL, 0, most,
			     err))
			return -1;
	}
	for (i = 0; i < segment->nr_routes; i++, route++)
		if (add_pair(finder, route->from, route->to, route->between,
			     route->nr_between, most, err))
			return -1;
	return 0;
}

/**
 * lace_plan_add_alternates() - further ways for when circuits or routes fail
 * @cluster: that the plan is for
 * @plan: sound, without alternates; they are added
 * @most: for each pair of nodes
 * @err: filled on failure
 *
 * Return: 0 or a negative value.
 */
int lace_plan_add_alternates(const struct lace_cluster *cluster,
			     struct lace_plan *plan, unsigned int most,
			     struct lace_error *err)
{
	struct finder finder = {0};
	unsigned int i;
	int ret = 0;

	if (finder_open(&finder, cluster->nr_nodes))
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	for (i = 0; i < plan->nr_segments && !ret; i++)
		ret = add_segment(&finder, &plan->segments[i], most, err);
	free(finder.first);
	return ret;
}
