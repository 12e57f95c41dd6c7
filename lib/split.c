// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * One node's part of a plan: the nodes it has to know, and of each segment the
 * circuits that end at it and the routes that touch it.  Pure.
 */
#include "runtime.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

struct splitter {
	const struct lace_cluster *cluster;
	const struct lace_plan *plan;
	const struct lace_macs *macs;
	unsigned int self;
	struct lace_error *err;
};

/**
 * lace_rt_state_free() - free what a state holds
 * @state: the state, zeroed by this
 */
void lace_rt_state_free(struct lace_rt_state *state)
{
	lace_rt_nodes_free(state->nodes, state->nr_nodes);
	lace_rt_segments_free(state->segments, state->nr_segments);
	memset(state, 0, sizeof(*state));
}

/**
 * lace_cluster_find_node() - find a node as people name it
 * @cluster: the cluster
 * @name: the node's name, or else its number
 * @err: filled on failure
 *
 * Return: the number of the node, or -1.
 */
int lace_cluster_find_node(const struct lace_cluster *cluster, const char *name,
			   struct lace_error *err)
{
	unsigned long number;
	unsigned int i;
	char *end;

	for (i = 0; i < cluster->nr_nodes; i++)
		if (!strcmp(cluster->nodes[i].name, name))
			return i;
	number = strtoul(name, &end, 10);
	if (name[0] >= '0' && name[0] <= '9' && !*end &&
	    number < cluster->nr_nodes)
		return number;
	return lace_fail(err, LACE_ERR_INPUT,
			 "the cluster has no node \"%s\", and %u nodes", name,
			 cluster->nr_nodes);
}

/* ---- nodes ---- */

static int add_text_prefix(const struct splitter *splitter, unsigned int n,
			   const char *text, struct lace_rt_node *node)
{
	struct lace_error why;

	if (lace_rt_prefix_parse(text, &node->prefixes[node->nr_prefixes++],
				 &why))
		return lace_fail(splitter->err, LACE_ERR_INPUT, "node %s: %s",
				 splitter->cluster->nodes[n].name, why.text);
	return 0;
}

/* The same address may stand in two places: of the cluster, of the host. */
static void drop_doubles(struct lace_rt_node *node)
{
	unsigned int i, kept = 1;

	lace_rt_node_sort(node);
	for (i = 1; i < node->nr_prefixes; i++)
		if (lace_rt_prefix_compare(&node->prefixes[i],
					   &node->prefixes[kept - 1]))
			node->prefixes[kept++] = node->prefixes[i];
	if (node->nr_prefixes)
		node->nr_prefixes = kept;
}

static int split_node(const struct splitter *splitter, unsigned int n,
		      struct lace_rt_node *node)
{
	const struct lace_node *from = &splitter->cluster->nodes[n];
	const struct lace_host *host = &splitter->macs->hosts[n];
	unsigned int i;

	node->id = n;
	node->prefixes = calloc(1 + from->nr_prefixes + host->nr_prefixes,
				sizeof(*node->prefixes));
	if (!node->prefixes)
		return lace_no_memory(splitter->err);
	if (from->address && add_text_prefix(splitter, n, from->address, node))
		return -1;
	for (i = 0; i < from->nr_prefixes; i++)
		if (add_text_prefix(splitter, n, from->prefixes[i], node))
			return -1;
	for (i = 0; i < host->nr_prefixes; i++)
		node->prefixes[node->nr_prefixes++] = host->prefixes[i];
	drop_doubles(node);
	if (!node->nr_prefixes)
		return lace_fail(splitter->err, LACE_ERR_INPUT,
				 "node %s has no address in the cluster",
				 from->name);
	node->ports = host->ports;
	memcpy(node->mac, host->mac, sizeof(node->mac));
	return 0;
}

struct owned {
	const struct lace_rt_prefix *prefix;
	unsigned int node;
};

static int compare_owned(const void *a, const void *b)
{
	const struct owned *x = a, *y = b;
	int order = lace_rt_prefix_compare(x->prefix, y->prefix);

	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int fail_shared(const struct splitter *splitter, const struct owned *a,
		       const struct owned *b)
{
	char text[LACE_RT_PREFIX_SIZE];

	return lace_fail(splitter->err, LACE_ERR_INPUT,
			 "%s is behind two nodes, %s and %s",
			 lace_rt_prefix_format(a->prefix, text),
			 splitter->cluster->nodes[a->node].name,
			 splitter->cluster->nodes[b->node].name);
}

/* No prefix is behind two nodes. */
static int check_owners(const struct splitter *splitter,
			const struct lace_rt_state *state)
{
	struct owned *owned;
	size_t nr = 0, i, k;
	int ret = 0;

	for (i = 0; i < state->nr_nodes; i++)
		nr += state->nodes[i].nr_prefixes;
	owned = calloc(nr + 1, sizeof(*owned));
	if (!owned)
		return lace_no_memory(splitter->err);
	nr = 0;
	for (i = 0; i < state->nr_nodes; i++)
		for (k = 0; k < state->nodes[i].nr_prefixes; k++)
			owned[nr++] = (struct owned){
				&state->nodes[i].prefixes[k], i
			};
	qsort(owned, nr, sizeof(*owned), compare_owned);
	for (i = 1; i < nr && !ret; i++)
		if (!lace_rt_prefix_compare(owned[i - 1].prefix,
					    owned[i].prefix))
			ret = fail_shared(splitter, &owned[i - 1], &owned[i]);
	free(owned);
	return ret;
}

static int split_nodes(const struct splitter *splitter,
		       struct lace_rt_state *state)
{
	unsigned int nr = splitter->cluster->nr_nodes, i;

	state->nodes = calloc(nr + 1, sizeof(*state->nodes));
	if (!state->nodes)
		return lace_no_memory(splitter->err);
	state->nr_nodes = nr;
	for (i = 0; i < nr; i++)
		if (split_node(splitter, i, &state->nodes[i]))
			return -1;
	return check_owners(splitter, state);
}

/* ---- circuits ---- */

static int check_end(const struct splitter *splitter, unsigned int segment,
		     unsigned int node, unsigned int port, bool tx)
{
	const struct lace_cluster *cluster = splitter->cluster;
	const struct lace_fibre *fibre;

	if (node >= cluster->nr_nodes)
		return lace_fail(splitter->err, LACE_ERR_INPUT,
				 "segment %u has a circuit at node %u, the cluster has %u nodes",
				 segment, node, cluster->nr_nodes);
	if (port >= cluster->nodes[node].nr_ports || port >= LACE_MAX_PORTS)
		return lace_fail(splitter->err, LACE_ERR_INPUT,
				 "segment %u has a circuit at port %u of %s, which has no such port",
				 segment, port, cluster->nodes[node].name);
	fibre = tx ? &cluster->nodes[node].ports[port].tx :
		     &cluster->nodes[node].ports[port].rx;
	if (fibre->ocs < 0)
		return lace_fail(splitter->err, LACE_ERR_INPUT,
				 "segment %u has a circuit %s %s %s, which has no such lane",
				 segment, tx ? "from" : "to",
				 cluster->nodes[node].name,
				 cluster->nodes[node].ports[port].name);
	return 0;
}

static int check_circuit(const struct splitter *splitter, unsigned int segment,
			 const struct lace_circuit *circuit)
{
	if (check_end(splitter, segment, circuit->tx_node, circuit->tx_port,
		      true) ||
	    check_end(splitter, segment, circuit->rx_node, circuit->rx_port,
		      false))
		return -1;
	if (circuit->tx_node == circuit->rx_node)
		return lace_fail(splitter->err, LACE_ERR_INPUT,
				 "segment %u has a circuit from %s to itself",
				 segment,
				 splitter->cluster->nodes[circuit->tx_node].name);
	return 0;
}

static int check_peer(const struct splitter *splitter, unsigned int node,
		      unsigned int port)
{
	const struct lace_node *peer = &splitter->cluster->nodes[node];

	if (splitter->macs->hosts[node].ports & 1U << port)
		return 0;
	return lace_fail(splitter->err, LACE_ERR_INPUT,
			 "the MAC address of %s %s is not known", peer->name,
			 peer->ports[port].name);
}

static int add_circuit(const struct splitter *splitter, enum lace_dir dir,
		       const struct lace_circuit *from,
		       struct lace_rt_segment *segment)
{
	struct lace_rt_circuit *circuit;

	circuit = &segment->circuits[segment->nr_circuits++];
	circuit->dir = dir;
	circuit->port = dir == LACE_DIR_TX ? from->tx_port : from->rx_port;
	circuit->peer = dir == LACE_DIR_TX ? from->rx_node : from->tx_node;
	circuit->peer_port = dir == LACE_DIR_TX ? from->rx_port : from->tx_port;
	return check_peer(splitter, circuit->peer, circuit->peer_port);
}

static int split_circuits(const struct splitter *splitter, unsigned int k,
			  struct lace_rt_segment *segment)
{
	const struct lace_segment *from = &splitter->plan->segments[k];
	const struct lace_circuit *circuit = from->circuits;
	unsigned int i, mine = 0;

	for (i = 0; i < from->nr_circuits; i++)
		mine += circuit[i].tx_node == splitter->self ||
			circuit[i].rx_node == splitter->self;
	segment->circuits = calloc(mine + 1, sizeof(*segment->circuits));
	if (!segment->circuits)
		return lace_no_memory(splitter->err);
	for (i = 0; i < from->nr_circuits; i++, circuit++) {
		if (check_circuit(splitter, k, circuit))
			return -1;
		if (circuit->tx_node == splitter->self &&
		    add_circuit(splitter, LACE_DIR_TX, circuit, segment))
			return -1;
		if (circuit->rx_node == splitter->self &&
		    add_circuit(splitter, LACE_DIR_RX, circuit, segment))
			return -1;
	}
	return 0;
}

/* ---- routes ---- */

/* Stop number i of a route; 0 is where it begins. */
static unsigned int stop(const struct lace_route *route, unsigned int i)
{
	if (!i)
		return route->from;
	return i <= route->nr_between ? route->between[i - 1] : route->to;
}

static int check_route(const struct splitter *splitter, unsigned int segment,
		       const struct lace_route *route)
{
	unsigned int i;

	for (i = 0; i < route->nr_between + 2; i++)
		if (stop(route, i) >= splitter->cluster->nr_nodes)
			return lace_fail(splitter->err, LACE_ERR_INPUT,
					 "segment %u has a route over node %u, the cluster has %u nodes",
					 segment, stop(route, i),
					 splitter->cluster->nr_nodes);
	return 0;
}

/* Fills *step if the route touches node self. */
static bool route_step(const struct lace_route *route, unsigned int self,
		       struct lace_rt_route *step)
{
	unsigned int last = route->nr_between + 1, i;

	for (i = 0; i <= last && stop(route, i) != self; i++)
		;
	if (i > last)
		return false;
	step->from = route->from;
	step->to = route->to;
	step->prev = i ? (int32_t)stop(route, i - 1) : LACE_RT_NONE;
	step->next = i < last ? (int32_t)stop(route, i + 1) : LACE_RT_NONE;
	return true;
}

/* Those that touch the node, to be added to its segment, which has room. */
static int add_routes(const struct splitter *splitter, unsigned int k,
		      const struct lace_route *routes, unsigned int nr,
		      bool alternate, struct lace_rt_segment *segment)
{
	struct lace_rt_route step = {0};
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (check_route(splitter, k, &routes[i]))
			return -1;
		if (!route_step(&routes[i], splitter->self, &step))
			continue;
		if (alternate)
			step.rank = lace_rt_alternate_rank(segment, step.from,
							   step.to);
		segment->routes[segment->nr_routes++] = step;
	}
	return 0;
}

static unsigned int count_mine(const struct splitter *splitter,
			       const struct lace_route *routes, unsigned int nr)
{
	struct lace_rt_route step;
	unsigned int i, mine = 0;

	for (i = 0; i < nr; i++)
		mine += route_step(&routes[i], splitter->self, &step);
	return mine;
}

static int split_routes(const struct splitter *splitter, unsigned int k,
			struct lace_rt_segment *segment)
{
	const struct lace_segment *from = &splitter->plan->segments[k];
	unsigned int mine;

	mine = count_mine(splitter, from->routes, from->nr_routes) +
	       count_mine(splitter, from->alternates, from->nr_alternates);
	segment->routes = calloc(mine + 1, sizeof(*segment->routes));
	if (!segment->routes)
		return lace_no_memory(splitter->err);
	if (add_routes(splitter, k, from->routes, from->nr_routes, false,
		       segment))
		return -1;
	return add_routes(splitter, k, from->alternates, from->nr_alternates,
			  true, segment);
}

static int split_segments(const struct splitter *splitter,
			  struct lace_rt_state *state)
{
	unsigned int nr = splitter->plan->nr_segments, k;

	state->segments = calloc(nr + 1, sizeof(*state->segments));
	if (!state->segments)
		return lace_no_memory(splitter->err);
	state->nr_segments = nr;
	for (k = 0; k < nr; k++) {
		state->segments[k].id = k;
		state->segments[k].active = state->active == k;
		if (split_circuits(splitter, k, &state->segments[k]) ||
		    split_routes(splitter, k, &state->segments[k]))
			return -1;
		lace_rt_segment_sort(&state->segments[k]);
	}
	return 0;
}

static int check(const struct splitter *splitter, int64_t active)
{
	const struct lace_cluster *cluster = splitter->cluster;
	const struct lace_plan *plan = splitter->plan;

	if (cluster->nr_nodes > LACE_MAX_NODES)
		return lace_fail(splitter->err, LACE_ERR_INPUT,
				 "the cluster has %u nodes, a device knows %u",
				 cluster->nr_nodes, LACE_MAX_NODES);
	if (splitter->self >= cluster->nr_nodes)
		return lace_fail(splitter->err, LACE_ERR_INPUT,
				 "the cluster has no node %u", splitter->self);
	if (plan->cluster_sha256[0] && cluster->sha256[0] &&
	    strcmp(plan->cluster_sha256, cluster->sha256))
		return lace_fail(splitter->err, LACE_ERR_INPUT,
				 "the plan was made for another cluster file (cluster_sha256)");
	if (active != LACE_RT_NONE && active >= plan->nr_segments)
		return lace_fail(splitter->err, LACE_ERR_INPUT,
				 "the plan has no segment %lld, and %u segments",
				 (long long)active, plan->nr_segments);
	return 0;
}

/**
 * lace_split() - one node's part of a plan
 * @cluster: the cluster that the plan was made for
 * @plan: the plan
 * @macs: what is known of the cluster's hosts
 * @node: the node
 * @active: segment that is to be in force, or LACE_RT_NONE
 * @state: filled with what the node's device should have
 * @err: filled on failure: where the three do not fit each other
 *
 * Return: 0, or a negative value.
 */
int lace_split(const struct lace_cluster *cluster, const struct lace_plan *plan,
	       const struct lace_macs *macs, unsigned int node, int64_t active,
	       struct lace_rt_state *state, struct lace_error *err)
{
	const struct splitter splitter = { cluster, plan, macs, node, err };

	memset(state, 0, sizeof(*state));
	state->node = node;
	state->active = active;
	if (check(&splitter, active) || split_nodes(&splitter, state) ||
	    split_segments(&splitter, state)) {
		lace_rt_state_free(state);
		return -1;
	}
	return 0;
}
