// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What a plan takes: the model of communication completion time of the
 * interfaces document, and all that makes a plan a plan.
 *
 * DESIGN NOTES
 *
 * A segment is loaded into a hash of ordered pairs of nodes, each of them a
 * link (it has circuits) or a route over links.  An op is then carried pair by
 * pair, so that the cost is that of the pairs with demand and of the circuits,
 * never of all pairs.  Ops that share their list of pairs are carried once in a
 * segment.
 */
#include "lace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct link {
	unsigned int src, dst;
	double capacity_bps;
	double kept_bps;	/* while the configuration changes */
	double bytes;		/* of the op that is being carried */
};

struct way {
	const struct lace_route *route;
	size_t first_hop;	/* of route->nr_between + 1 */
	bool used;
};

struct slot {
	uint64_t pair;
	unsigned int stamp;	/* of the segment; others are free */
	unsigned int link, way;	/* one of them is NONE */
};

struct evaluator {
	const struct lace_cluster *cluster;
	const struct lace_demand *demand;
	struct lace_error *err;

	/* For each node its first lane; for each lane the last segment (counted
	 * from 1) in which it was used, and for TX lanes the RX lane reached.
	 */
	size_t *first_lane;
	unsigned int *tx_stamp, *rx_stamp;
	size_t *reached;
	bool *kept, *moving;	/* TX lanes: see "lanes that stay" */
	double since_s;		/* the last change of configuration began */
	double lost_s;		/* to changes, so far */

	unsigned int segment;		/* index, of the plan */
	unsigned int stamp;		/* segment + 1 */
	struct slot *slots;
	size_t nr_slots;
	struct link *links;
	unsigned int nr_links;
	size_t links_room;
	struct way *ways;
	size_t ways_room;
	unsigned int *hops;		/* links, way after way */
	size_t hops_room;
	unsigned int *node_stamp;	/* last route that came through, from 1 */

	unsigned int *kind;		/* of each op */
	double *kind_s;			/* of each kind: time in the segment */
	unsigned int *kind_stamp;
};

/* ---- memory ---- */

/* An array of at least one element; NULL if there is no memory for it, and then
 * the old one stays.
 */
static void *reserve(void *array, size_t *room, size_t need, size_t size)
{
	void *grown;

	if (array && need <= *room)
		return array;
	grown = realloc(array, (need + 1) * size);
	if (grown)
		*room = need;
	return grown;
}

static int reserve_links(struct evaluator *ev, size_t nr)
{
	struct link *links = reserve(ev->links, &ev->links_room, nr,
				     sizeof(*links));

	if (!links)
		return lace_no_memory(ev->err);
	ev->links = links;
	return 0;
}

static int reserve_ways(struct evaluator *ev, size_t nr, size_t nr_hops)
{
	struct way *ways = reserve(ev->ways, &ev->ways_room, nr, sizeof(*ways));
	unsigned int *hops = reserve(ev->hops, &ev->hops_room, nr_hops,
				     sizeof(*hops));

	if (ways)
		ev->ways = ways;
	if (hops)
		ev->hops = hops;
	return ways && hops ? 0 : lace_no_memory(ev->err);
}

static int count_lanes(struct evaluator *ev)
{
	unsigned int nr_nodes = ev->cluster->nr_nodes, i;
	size_t lanes;

	ev->first_lane = calloc((size_t)nr_nodes + 1, sizeof(*ev->first_lane));
	ev->node_stamp = calloc((size_t)nr_nodes + 1, sizeof(*ev->node_stamp));
	if (!ev->first_lane || !ev->node_stamp)
		return lace_no_memory(ev->err);
	for (i = 0; i < nr_nodes; i++)
		ev->first_lane[i + 1] = ev->first_lane[i] +
					ev->cluster->nodes[i].nr_ports;
	lanes = ev->first_lane[nr_nodes] + 1;
	ev->tx_stamp = calloc(lanes, sizeof(*ev->tx_stamp));
	ev->rx_stamp = calloc(lanes, sizeof(*ev->rx_stamp));
	ev->reached = calloc(lanes, sizeof(*ev->reached));
	ev->kept = calloc(lanes, sizeof(*ev->kept));
	ev->moving = calloc(lanes, sizeof(*ev->moving));
	if (!ev->tx_stamp || !ev->rx_stamp || !ev->reached || !ev->kept ||
	    !ev->moving)
		return lace_no_memory(ev->err);
	return 0;
}

static size_t hash_pointer(const void *pointer)
{
	return ((uintptr_t)pointer >> 4) * 0x9e3779b97f4a7c15ULL >> 24;
}

/* Numbers the lists of pairs, so that ops alike are known by a number. */
static int number_kinds(struct evaluator *ev)
{
	size_t size = 16, mask, at, nr_ops = ev->demand->nr_ops, i;
	unsigned int *owner, nr = 0;

	while (size < 2 * nr_ops)
		size *= 2;
	mask = size - 1;
	owner = malloc(size * sizeof(*owner));
	ev->kind = calloc(nr_ops + 1, sizeof(*ev->kind));
	ev->kind_s = calloc(nr_ops + 1, sizeof(*ev->kind_s));
	ev->kind_stamp = calloc(nr_ops + 1, sizeof(*ev->kind_stamp));
	if (!owner || !ev->kind || !ev->kind_s || !ev->kind_stamp) {
		free(owner);
		return lace_no_memory(ev->err);
	}
	memset(owner, 0xff, size * sizeof(*owner));
	for (i = 0; i < nr_ops; i++) {
		at = hash_pointer(ev->demand->ops[i].pairs) & mask;
		while (owner[at] != NONE &&
		       ev->demand->ops[owner[at]].pairs !=
			       ev->demand->ops[i].pairs)
			at = (at + 1) & mask;
		if (owner[at] == NONE) {
			owner[at] = i;
			ev->kind[i] = nr++;
		} else {
			ev->kind[i] = ev->kind[owner[at]];
		}
	}
	free(owner);
	return 0;
}

static int evaluator_open(struct evaluator *ev,
			  const struct lace_cluster *cluster,
			  const struct lace_demand *demand,
			  struct lace_error *err)
{
	*ev = (struct evaluator){
		.cluster = cluster, .demand = demand, .err = err,
		.since_s = INFINITY,
	};
	if (demand->nr_nodes != cluster->nr_nodes)
		return lace_fail(err, LACE_ERR_INPUT,
				 "the demand is of %u nodes, the cluster has %u",
				 demand->nr_nodes, cluster->nr_nodes);
	if (count_lanes(ev))
		return -1;
	return number_kinds(ev);
}

static void evaluator_close(struct evaluator *ev)
{
	free(ev->first_lane);
	free(ev->tx_stamp);
	free(ev->rx_stamp);
	free(ev->reached);
	free(ev->kept);
	free(ev->moving);
	free(ev->slots);
	free(ev->links);
	free(ev->ways);
	free(ev->hops);
	free(ev->node_stamp);
	free(ev->kind);
	free(ev->kind_s);
	free(ev->kind_stamp);
}

/* ---- pairs of nodes that have a circuit or a route ---- */

static int reserve_slots(struct evaluator *ev, size_t pairs)
{
	size_t nr = 16;

	while (nr < 2 * pairs)
		nr *= 2;
	if (nr <= ev->nr_slots)
		return 0;
	free(ev->slots);
	ev->slots = calloc(nr, sizeof(*ev->slots));
	ev->nr_slots = ev->slots ? nr : 0;
	return ev->slots ? 0 : lace_no_memory(ev->err);
}

/* The slot of a pair, or the free one where it belongs. */
static struct slot *find_slot(const struct evaluator *ev, unsigned int src,
			      unsigned int dst)
{
	uint64_t pair = (uint64_t)src << 32 | dst;
	size_t mask = ev->nr_slots - 1;
	size_t at = (pair * 0x9e3779b97f4a7c15ULL >> 32) & mask;

	while (ev->slots[at].stamp == ev->stamp && ev->slots[at].pair != pair)
		at = (at + 1) & mask;
	return &ev->slots[at];
}

static bool in_use(const struct evaluator *ev, const struct slot *slot)
{
	return slot->stamp == ev->stamp;
}

static void take_slot(const struct evaluator *ev, struct slot *slot,
		      unsigned int src, unsigned int dst)
{
	*slot = (struct slot){
		.pair = (uint64_t)src << 32 | dst, .stamp = ev->stamp,
		.link = NONE, .way = NONE,
	};
}

/* ---- circuits ---- */

static int fail_circuit(const struct evaluator *ev,
			const struct lace_circuit *circuit, const char *why)
{
	return lace_fail(ev->err, LACE_ERR_ANSWER,
			 "segment %u: circuit [%u, %u, %u, %u]: %s",
			 ev->segment, circuit->tx_node, circuit->tx_port,
			 circuit->rx_node, circuit->rx_port, why);
}

static const struct lace_port *find_port(const struct evaluator *ev,
					 unsigned int node, unsigned int port)
{
	if (node >= ev->cluster->nr_nodes ||
	    port >= ev->cluster->nodes[node].nr_ports)
		return NULL;
	return &ev->cluster->nodes[node].ports[port];
}

static int check_circuit(const struct evaluator *ev,
			 const struct lace_circuit *circuit,
			 const struct lace_port *tx, const struct lace_port *rx)
{
	if (!tx || tx->tx.ocs < 0)
		return fail_circuit(ev, circuit, "there is no such TX lane");
	if (!rx || rx->rx.ocs < 0)
		return fail_circuit(ev, circuit, "there is no such RX lane");
	if (circuit->tx_node == circuit->rx_node)
		return fail_circuit(ev, circuit,
				    "it leads from a node to itself");
	if (tx->tx.ocs != rx->rx.ocs)
		return fail_circuit(ev, circuit,
				    "its lanes end at different OCSes");
	return 0;
}

static void add_capacity(struct evaluator *ev,
			 const struct lace_circuit *circuit, double rate_bps)
{
	struct slot *slot = find_slot(ev, circuit->tx_node, circuit->rx_node);

	if (!in_use(ev, slot)) {
		take_slot(ev, slot, circuit->tx_node, circuit->rx_node);
		slot->link = ev->nr_links;
		ev->links[ev->nr_links++] = (struct link){
			.src = circuit->tx_node, .dst = circuit->rx_node,
		};
	}
	ev->links[slot->link].capacity_bps += rate_bps;
}

/* *kept: the circuit was there in the segment before. */
static int load_circuit(struct evaluator *ev,
			const struct lace_circuit *circuit, bool *kept)
{
	const struct lace_port *tx, *rx;
	size_t tx_lane, rx_lane;

	tx = find_port(ev, circuit->tx_node, circuit->tx_port);
	rx = find_port(ev, circuit->rx_node, circuit->rx_port);
	if (check_circuit(ev, circuit, tx, rx))
		return -1;
	tx_lane = ev->first_lane[circuit->tx_node] + circuit->tx_port;
	rx_lane = ev->first_lane[circuit->rx_node] + circuit->rx_port;
	if (ev->tx_stamp[tx_lane] == ev->stamp)
		return fail_circuit(ev, circuit, "its TX lane is in use");
	if (ev->rx_stamp[rx_lane] == ev->stamp)
		return fail_circuit(ev, circuit, "its RX lane is in use");
	*kept = ev->stamp > 1 && ev->tx_stamp[tx_lane] == ev->stamp - 1 &&
		ev->reached[tx_lane] == rx_lane;
	ev->kept[tx_lane] = *kept;
	ev->tx_stamp[tx_lane] = ev->stamp;
	ev->rx_stamp[rx_lane] = ev->stamp;
	ev->reached[tx_lane] = rx_lane;
	add_capacity(ev, circuit, fmin(tx->rate_bps, rx->rate_bps));
	return 0;
}

static int load_circuits(struct evaluator *ev,
			 const struct lace_segment *segment,
			 unsigned int *nr_kept)
{
	unsigned int i;
	bool kept = false;

	ev->nr_links = 0;
	*nr_kept = 0;
	if (reserve_links(ev, segment->nr_circuits))
		return -1;
	for (i = 0; i < segment->nr_circuits; i++) {
		if (load_circuit(ev, &segment->circuits[i], &kept))
			return -1;
		*nr_kept += kept;
	}
	return 0;
}

/* ---- routes ---- */

static int fail_route(const struct evaluator *ev,
		      const struct lace_route *route, const char *why)
{
	return lace_fail(ev->err, LACE_ERR_ANSWER,
			 "segment %u: route from %u to %u: %s", ev->segment,
			 route->from, route->to, why);
}

/* Node number i on the way, the ends included. */
static unsigned int route_node(const struct lace_route *route, unsigned int i)
{
	if (!i)
		return route->from;
	return i <= route->nr_between ? route->between[i - 1] : route->to;
}

/* stamp is one for each route of the plan, not of the segment. */
static int load_hops(struct evaluator *ev, const struct lace_route *route,
		     unsigned int *hops, unsigned int stamp)
{
	unsigned int i, node;
	struct slot *slot;

	for (i = 0; i < route->nr_between + 2; i++) {
		node = route_node(route, i);
		if (node >= ev->cluster->nr_nodes)
			return fail_route(ev, route,
					  "it names a node that does not exist");
		if (ev->node_stamp[node] == stamp)
			return fail_route(ev, route,
					  "it comes to a node twice");
		ev->node_stamp[node] = stamp;
		if (!i)
			continue;
		slot = find_slot(ev, route_node(route, i - 1), node);
		if (!in_use(ev, slot) || slot->link == NONE)
			return fail_route(ev, route, "a hop has no circuit");
		hops[i - 1] = slot->link;
	}
	return 0;
}

static int load_routes(struct evaluator *ev, const struct lace_segment *segment,
		       unsigned int *route_stamp)
{
	const struct lace_route *route;
	struct slot *slot;
	size_t nr_hops = 0;
	unsigned int i;

	for (i = 0; i < segment->nr_routes; i++)
		nr_hops += segment->routes[i].nr_between + 1;
	if (reserve_ways(ev, segment->nr_routes, nr_hops))
		return -1;
	nr_hops = 0;
	for (i = 0; i < segment->nr_routes; i++) {
		route = &segment->routes[i];
		if (load_hops(ev, route, &ev->hops[nr_hops], ++*route_stamp))
			return -1;
		slot = find_slot(ev, route->from, route->to);
		if (in_use(ev, slot))
			return fail_route(ev, route, slot->link != NONE
						  ? "the pair has a circuit"
						  : "the pair has a route");
		take_slot(ev, slot, route->from, route->to);
		slot->way = i;
		ev->ways[i] = (struct way){ .route = route,
					    .first_hop = nr_hops };
		nr_hops += route->nr_between + 1;
	}
	return 0;
}

/* ---- ops ---- */

static int fail_pair(const struct evaluator *ev, unsigned int op,
		     unsigned int src, unsigned int dst, const char *why)
{
	return lace_fail(ev->err, LACE_ERR_ANSWER,
			 "segment %u: op %u (%s): node %u to node %u: %s",
			 ev->segment, op, ev->demand->ops[op].name, src, dst,
			 why);
}

static int carry_over(struct evaluator *ev, unsigned int op, struct way *way,
		      double bytes, bool data)
{
	const struct lace_route *route = way->route;
	unsigned int i;

	if (ev->cluster->relay == LACE_RELAY_NONE ||
	    (ev->cluster->relay == LACE_RELAY_CONTROL && data))
		return fail_pair(ev, op, route->from, route->to,
				 data ? "data may not be relayed"
				      : "control may not be relayed");
	for (i = 0; i <= route->nr_between; i++)
		ev->links[ev->hops[way->first_hop + i]].bytes += bytes;
	way->used = true;
	return 0;
}

static int carry(struct evaluator *ev, unsigned int op, unsigned int src,
		 unsigned int dst, double bytes, bool data)
{
	const struct slot *slot = find_slot(ev, src, dst);

	if (!in_use(ev, slot))
		return fail_pair(ev, op, src, dst,
				 data ? "there is data and neither circuit nor route"
				      : "there is control and neither circuit nor route");
	if (slot->link != NONE) {
		ev->links[slot->link].bytes += bytes;
		return 0;
	}
	return carry_over(ev, op, &ev->ways[slot->way], bytes, data);
}

/* Puts the bytes of one round of an op on the links. */
static int carry_op(struct evaluator *ev, unsigned int op)
{
	const struct lace_demand_op *demand = &ev->demand->ops[op];
	double ratio = ev->cluster->control_ratio;
	const struct lace_pair *pair;
	size_t i;

	for (i = 0; i < ev->nr_links; i++)
		ev->links[i].bytes = 0;
	for (i = 0; i < demand->nr_pairs; i++) {
		pair = &demand->pairs[i];
		if (carry(ev, op, pair->src, pair->dst, pair->bytes, true))
			return -1;
		if (ratio > 0 && carry(ev, op, pair->dst, pair->src,
				       ratio * pair->bytes, false))
			return -1;
	}
	return 0;
}

static double busiest_s(const struct evaluator *ev)
{
	double most = 0, seconds;
	unsigned int i;

	for (i = 0; i < ev->nr_links; i++) {
		seconds = 8 * ev->links[i].bytes / ev->links[i].capacity_bps;
		if (seconds > most)
			most = seconds;
	}
	return most;
}

static int op_s(struct evaluator *ev, unsigned int op, double *seconds)
{
	unsigned int kind = ev->kind[op];

	if (ev->kind_stamp[kind] != ev->stamp) {
		if (carry_op(ev, op))
			return -1;
		ev->kind_s[kind] = busiest_s(ev);
		ev->kind_stamp[kind] = ev->stamp;
	}
	*seconds = ev->kind_s[kind] * ev->demand->ops[op].repeat;
	return 0;
}

/* ---- lanes that stay ---- */

/*
 * A change of configuration takes reconfig_s.  Meanwhile the circuits that were
 * there before carry on, and the ops of the new segment run on those; later ones
 * have all of theirs.  A segment that only has other routes changes nothing, so
 * a change may outlast segments; the next one begins when it is over.
 */
static void mark_moving(struct evaluator *ev,
			const struct lace_segment *segment, bool changes)
{
	unsigned int i;

	for (i = 0; i < segment->nr_circuits; i++) {
		const struct lace_circuit *c = &segment->circuits[i];
		size_t lane = ev->first_lane[c->tx_node] + c->tx_port;
		const struct lace_port *tx, *rx;
		struct slot *slot;

		if (changes)
			ev->moving[lane] = !ev->kept[lane];
		if (ev->moving[lane])
			continue;
		tx = find_port(ev, c->tx_node, c->tx_port);
		rx = find_port(ev, c->rx_node, c->rx_port);
		slot = find_slot(ev, c->tx_node, c->rx_node);
		ev->links[slot->link].kept_bps += fmin(tx->rate_bps,
						       rx->rate_bps);
	}
}

static void begin_segment(struct evaluator *ev,
			  const struct lace_segment *segment, bool changes)
{
	double reconfig_s = ev->cluster->reconfig_s;

	if (changes) {
		ev->lost_s += fmax(reconfig_s - ev->since_s, 0);
		ev->since_s = 0;
	}
	if (ev->since_s < reconfig_s)
		mark_moving(ev, segment, changes);
}

/* How long one round takes over the circuits that stay. */
static double kept_round_s(const struct evaluator *ev)
{
	double most = 0;
	unsigned int i;

	for (i = 0; i < ev->nr_links; i++) {
		const struct link *link = &ev->links[i];

		if (link->bytes > 0)
			most = fmax(most, 8 * link->bytes / link->kept_bps);
	}
	return most;
}

/* How long one round takes that begins with so much of the change left. */
static double round_s(const struct evaluator *ev, double left_s)
{
	double most = 0;
	unsigned int i;

	for (i = 0; i < ev->nr_links; i++) {
		const struct link *link = &ev->links[i];
		double bits = 8 * link->bytes, seconds;

		if (!(bits > 0))
			continue;
		if (bits <= link->kept_bps * left_s)
			seconds = bits / link->kept_bps;
		else
			seconds = left_s + (bits - link->kept_bps * left_s) /
						   link->capacity_bps;
		most = fmax(most, seconds);
	}
	return most;
}

/* plain_s: what the op takes without a change. */
static int run_changing(struct evaluator *ev, unsigned int op, double plain_s)
{
	double reconfig_s = ev->cluster->reconfig_s, begin_s = ev->since_s;
	double rounds = ev->demand->ops[op].repeat, each_s = plain_s / rounds;
	double kept_s;

	if (carry_op(ev, op))
		return -1;
	kept_s = kept_round_s(ev);
	while (rounds > 0 && each_s > 0 && ev->since_s < reconfig_s) {
		double left_s = reconfig_s - ev->since_s, whole = 1;

		if (kept_s <= left_s)
			whole = fmin(fmax(floor(left_s / kept_s), 1), rounds);
		ev->since_s += whole * (kept_s <= left_s ? kept_s :
							   round_s(ev, left_s));
		rounds -= whole;
	}
	ev->since_s += rounds * each_s;
	ev->lost_s += fmax(ev->since_s - begin_s - plain_s, 0);
	return 0;
}

/* ---- segments ---- */

static int check_cover(const struct evaluator *ev, const struct lace_plan *plan)
{
	unsigned int next = 0, i;
	const struct lace_segment *segment;

	for (i = 0; i < plan->nr_segments; i++) {
		segment = &plan->segments[i];
		if (segment->first_op != next)
			return lace_fail(ev->err, LACE_ERR_ANSWER,
					 "segment %u begins with op %u, not %u",
					 i, segment->first_op, next);
		if (segment->last_op < segment->first_op ||
		    segment->last_op >= ev->demand->nr_ops)
			return lace_fail(ev->err, LACE_ERR_ANSWER,
					 "segment %u ends with op %u of %u", i,
					 segment->last_op, ev->demand->nr_ops);
		next = segment->last_op + 1;
	}
	if (next != ev->demand->nr_ops)
		return lace_fail(ev->err, LACE_ERR_ANSWER,
				 "ops from %u on are in no segment: there are %u",
				 next, ev->demand->nr_ops);
	return 0;
}

/* ---- alternates ---- */

static const char *alternate_fault(const struct lace_route *a,
				   const struct lace_route *b)
{
	unsigned int i, k;

	if (!a->nr_between || !b->nr_between)
		return NULL;
	for (i = 0; i < a->nr_between; i++)
		for (k = 0; k < b->nr_between; k++)
			if (a->between[i] == b->between[k])
				return "an alternate shares a node with another way of its pair";
	return NULL;
}

static bool same_pair(const struct lace_route *a, const struct lace_route *b)
{
	return a->from == b->from && a->to == b->to;
}

static int check_alternate(struct evaluator *ev,
			   const struct lace_segment *segment, unsigned int i,
			   unsigned int *hops, unsigned int stamp)
{
	const struct lace_route *route = &segment->alternates[i];
	const char *fault = NULL;
	struct slot *slot;
	unsigned int k;

	if (load_hops(ev, route, hops, stamp))
		return -1;
	slot = find_slot(ev, route->from, route->to);
	if (!in_use(ev, slot))
		return fail_route(ev, route,
				  "an alternate of a pair without a way");
	if (!route->nr_between)
		return fail_route(ev, route, "an alternate goes over no node");
	if (slot->link == NONE)
		fault = alternate_fault(route, ev->ways[slot->way].route);
	for (k = 0; k < i && !fault; k++)
		if (same_pair(route, &segment->alternates[k]))
			fault = alternate_fault(route, &segment->alternates[k]);
	return fault ? fail_route(ev, route, fault) : 0;
}

/* They carry nothing as long as nothing fails, so they count for no time. */
static int check_alternates(struct evaluator *ev,
			    const struct lace_segment *segment,
			    unsigned int *route_stamp)
{
	unsigned int *hops;
	unsigned int i;
	int ret = 0;

	if (!segment->nr_alternates)
		return 0;
	hops = calloc(ev->cluster->nr_nodes + 1, sizeof(*hops));
	if (!hops)
		return lace_no_memory(ev->err);
	for (i = 0; i < segment->nr_alternates && !ret; i++)
		ret = check_alternate(ev, segment, i, hops, ++*route_stamp);
	free(hops);
	return ret;
}

/* *same: the circuits are those of the segment before. */
static int load_segment(struct evaluator *ev, const struct lace_plan *plan,
			unsigned int index, unsigned int *route_stamp,
			bool *same)
{
	const struct lace_segment *segment = &plan->segments[index];
	unsigned int kept;

	ev->segment = index;
	ev->stamp = index + 1;
	if (reserve_slots(ev, (size_t)segment->nr_circuits +
				      segment->nr_routes) ||
	    load_circuits(ev, segment, &kept) ||
	    load_routes(ev, segment, route_stamp) ||
	    check_alternates(ev, segment, route_stamp))
		return -1;
	*same = index && kept == segment->nr_circuits &&
		kept == plan->segments[index - 1].nr_circuits;
	return 0;
}

static int run_segment(struct evaluator *ev, struct lace_segment *segment)
{
	double seconds, reconfig_s = ev->cluster->reconfig_s;
	unsigned int i;

	segment->transmit_s = 0;
	for (i = segment->first_op; i <= segment->last_op; i++) {
		if (op_s(ev, i, &seconds))
			return -1;
		segment->transmit_s += seconds;
		if (ev->since_s < reconfig_s && run_changing(ev, i, seconds))
			return -1;
	}
	for (i = 0; i < segment->nr_routes; i++)
		if (!ev->ways[i].used)
			return fail_route(ev, ev->ways[i].route,
					  "the pair has no demand");
	return 0;
}

static int run_plan(struct evaluator *ev, struct lace_plan *plan)
{
	unsigned int route_stamp = 0, changes = 0, i;
	bool same;

	if (check_cover(ev, plan))
		return -1;
	plan->transmit_s = 0;
	for (i = 0; i < plan->nr_segments; i++) {
		if (load_segment(ev, plan, i, &route_stamp, &same))
			return -1;
		if (plan->transition == LACE_KEEP_LANES)
			begin_segment(ev, &plan->segments[i], i && !same);
		if (run_segment(ev, &plan->segments[i]))
			return -1;
		plan->transmit_s += plan->segments[i].transmit_s;
		changes += i && !same;
	}
	plan->reconfig_s = plan->transition == LACE_KEEP_LANES ?
				   ev->lost_s :
				   changes * ev->cluster->reconfig_s;
	plan->cct_s = plan->transmit_s + plan->reconfig_s;
	return 0;
}

/**
 * lace_plan_evaluate() - what a plan takes, and whether it is one
 * @cluster: what it runs on
 * @demand: what it carries, of the same nodes
 * @plan: segments, circuits and routes are read, in any order; times written,
 *	but for bound_s
 * @err: filled on failure; LACE_ERR_ANSWER if the plan breaks a rule
 *
 * Return: 0, or a negative value; the times are then undefined.
 */
int lace_plan_evaluate(const struct lace_cluster *cluster,
		       const struct lace_demand *demand,
		       struct lace_plan *plan, struct lace_error *err)
{
	struct evaluator ev;
	int ret;

	ret = evaluator_open(&ev, cluster, demand, err);
	if (!ret)
		ret = run_plan(&ev, plan);
	evaluator_close(&ev);
	return ret;
}

/* ---- loads ---- */

static int compare_loads(const void *a, const void *b)
{
	const struct lace_load *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return (x->dst > y->dst) - (x->dst < y->dst);
}

static int copy_loads(const struct evaluator *ev, struct lace_load **load,
		      size_t *nr)
{
	unsigned int i;

	*load = calloc((size_t)ev->nr_links + 1, sizeof(**load));
	if (!*load)
		return lace_no_memory(ev->err);
	*nr = ev->nr_links;
	for (i = 0; i < ev->nr_links; i++)
		(*load)[i] = (struct lace_load){
			.src = ev->links[i].src, .dst = ev->links[i].dst,
			.bytes = ev->links[i].bytes,
			.capacity_bps = ev->links[i].capacity_bps,
		};
	qsort(*load, *nr, sizeof(**load), compare_loads);
	return 0;
}

static int load_op(struct evaluator *ev, const struct lace_plan *plan,
		   unsigned int op)
{
	unsigned int route_stamp = 0, i;
	bool same;

	for (i = 0; i < plan->nr_segments; i++) {
		if (op < plan->segments[i].first_op ||
		    op > plan->segments[i].last_op)
			continue;
		if (load_segment(ev, plan, i, &route_stamp, &same))
			return -1;
		return carry_op(ev, op);
	}
	return lace_fail(ev->err, LACE_ERR_ANSWER, "op %u is in no segment",
			 op);
}

/**
 * lace_plan_load() - bytes on each circuit pair of one round of one op
 * @cluster: what the plan runs on
 * @demand: what it carries
 * @plan: the plan
 * @op: number of the op in the plan
 * @load: set to an array, sorted by pair, which the caller frees
 * @nr: its length: one for each pair of nodes with a circuit
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_plan_load(const struct lace_cluster *cluster,
		   const struct lace_demand *demand,
		   const struct lace_plan *plan, unsigned int op,
		   struct lace_load **load, size_t *nr, struct lace_error *err)
{
	struct evaluator ev;
	int ret;

	ret = evaluator_open(&ev, cluster, demand, err);
	if (!ret && op >= demand->nr_ops)
		ret = lace_fail(err, LACE_ERR_INPUT,
				"there is no op %u: there are %u", op,
				demand->nr_ops);
	if (!ret)
		ret = load_op(&ev, plan, op);
	if (!ret)
		ret = copy_loads(&ev, load, nr);
	evaluator_close(&ev);
	return ret;
}
