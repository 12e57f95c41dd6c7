// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Repair of a configuration: which lane leads where, what each pair of nodes
 * carries in each op, by which routes; and a journal by which any number of
 * steps is taken back.
 */
#include "repair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE LACE_REPAIR_NONE
/* Times this close are equal. */
#define EQUAL 1e-12
#define ROUNDS 4

/* ---- memory ---- */

/* Room for nr elements; the old array stays if there is no memory. */
static bool reserve(struct lace_repair *r, void *array, size_t *room, size_t nr,
		    size_t size)
{
	void **at = array, *grown;
	size_t want = 2 * *room + 64;

	if (nr <= *room)
		return true;
	want = want < nr ? nr : want;
	grown = realloc(*at, want * size);
	if (!grown) {
		r->oom = true;
		return false;
	}
	*at = grown;
	*room = want;
	return true;
}

static void *make(struct lace_repair *r, size_t nr, size_t size)
{
	void *array = calloc(nr + 1, size);

	r->oom |= !array;
	return array;
}

static void fill_lanes(struct lace_repair *r)
{
	const struct lace_cluster *cluster = r->cluster;

	for (unsigned int i = 0; i < cluster->nr_nodes; i++) {
		for (unsigned int p = 0; p < cluster->nodes[i].nr_ports; p++) {
			const struct lace_port *port =
				&cluster->nodes[i].ports[p];
			unsigned int lane = r->first_lane[i] + p;

			r->node_of[lane] = i;
			r->tx_ocs[lane] = port->tx.ocs;
			r->rx_ocs[lane] = port->rx.ocs;
			r->rate_bps[lane] = port->rate_bps;
		}
	}
}

static void clear_lanes(struct lace_repair *r)
{
	memset(r->tx_to, 0xff, r->nr_lanes * sizeof(*r->tx_to));
	memset(r->rx_from, 0xff, r->nr_lanes * sizeof(*r->rx_from));
}

int lace_repair_create(const struct lace_cluster *cluster,
		       const struct lace_demand *demand, bool duplex,
		       struct lace_repair *repair, struct lace_error *err)
{
	unsigned int n = cluster->nr_nodes, lanes;
	struct lace_repair *r = repair;

	*r = (struct lace_repair){ .cluster = cluster, .demand = demand,
				   .duplex = duplex };
	r->first_lane = make(r, n + 1, sizeof(*r->first_lane));
	if (r->oom)
		return lace_no_memory(err);
	for (unsigned int i = 0; i < n; i++)
		r->first_lane[i + 1] = r->first_lane[i] +
				       cluster->nodes[i].nr_ports;
	r->nr_lanes = lanes = r->first_lane[n];
	r->node_of = make(r, lanes, sizeof(*r->node_of));
	r->tx_ocs = make(r, lanes, sizeof(*r->tx_ocs));
	r->rx_ocs = make(r, lanes, sizeof(*r->rx_ocs));
	r->rate_bps = make(r, lanes, sizeof(*r->rate_bps));
	r->tx_to = make(r, lanes, sizeof(*r->tx_to));
	r->rx_from = make(r, lanes, sizeof(*r->rx_from));
	r->hint = make(r, lanes, sizeof(*r->hint));
	r->stamp = make(r, n, sizeof(*r->stamp));
	r->mark = make(r, n, sizeof(*r->mark));
	r->via = make(r, n, sizeof(*r->via));
	r->queue = make(r, n, sizeof(*r->queue));
	r->key = make(r, n, sizeof(*r->key));
	if (r->oom) {
		lace_repair_free(r);
		return lace_no_memory(err);
	}
	fill_lanes(r);
	clear_lanes(r);
	memset(r->hint, 0xff, lanes * sizeof(*r->hint));
	return 0;
}

void lace_repair_free(struct lace_repair *repair)
{
	free(repair->first_lane);
	free(repair->node_of);
	free(repair->tx_ocs);
	free(repair->rx_ocs);
	free(repair->rate_bps);
	free(repair->tx_to);
	free(repair->rx_from);
	free(repair->hint);
	free(repair->slots);
	free(repair->pairs);
	free(repair->terms);
	free(repair->entries);
	free(repair->routes);
	free(repair->hops);
	free(repair->changes);
	free(repair->stamp);
	free(repair->mark);
	free(repair->via);
	free(repair->queue);
	free(repair->key);
	*repair = (struct lace_repair){ 0 };
}

void lace_repair_clear(struct lace_repair *repair)
{
	struct lace_repair *r = repair;

	memcpy(r->hint, r->tx_to, r->nr_lanes * sizeof(*r->hint));
	clear_lanes(r);
	/* Lanes that failed in the last run are there again in the old plan. */
	fill_lanes(r);
	if (r->nr_slots)
		memset(r->slots, 0xff, r->nr_slots * sizeof(*r->slots));
	r->nr_pairs = 0;
	r->nr_terms = 0;
	r->nr_entries = 0;
	r->nr_routes = 0;
	r->nr_hops = 0;
	r->nr_changes = 0;
	r->stale = false;
}

/* ---- pairs and entries ---- */

static unsigned int slot_of(const struct lace_repair *r, unsigned int src,
			    unsigned int dst)
{
	uint64_t key = ((uint64_t)src << 32 | dst) * 0x9e3779b97f4a7c15ull;
	unsigned int at = key >> 32 & (r->nr_slots - 1);

	while (r->slots[at] != NONE &&
	       (r->pairs[r->slots[at]].src != src ||
		r->pairs[r->slots[at]].dst != dst))
		at = (at + 1) & (r->nr_slots - 1);
	return at;
}

static bool grow_slots(struct lace_repair *r)
{
	unsigned int nr = r->nr_slots ? 2 * r->nr_slots : 1024;
	unsigned int *slots = malloc(nr * sizeof(*slots));

	if (!slots) {
		r->oom = true;
		return false;
	}
	memset(slots, 0xff, nr * sizeof(*slots));
	free(r->slots);
	r->slots = slots;
	r->nr_slots = nr;
	for (unsigned int e = 0; e < r->nr_pairs; e++)
		r->slots[slot_of(r, r->pairs[e].src, r->pairs[e].dst)] = e;
	return true;
}

unsigned int lace_repair_find(struct lace_repair *repair, unsigned int src,
			      unsigned int dst)
{
	struct lace_repair *r = repair;
	size_t room = r->max_pairs;
	unsigned int at;

	if (2 * r->nr_pairs >= r->nr_slots && !grow_slots(r))
		return NONE;
	at = slot_of(r, src, dst);
	if (r->slots[at] != NONE)
		return r->slots[at];
	if (!reserve(r, &r->pairs, &room, (size_t)r->nr_pairs + 1,
		     sizeof(*r->pairs)))
		return NONE;
	r->max_pairs = room;
	r->pairs[r->nr_pairs] = (struct lace_repair_pair){
		.src = src, .dst = dst, .entry = NONE, .route = NONE };
	return r->slots[at] = r->nr_pairs++;
}

struct lace_repair_entry *lace_repair_entry(struct lace_repair *repair,
					    unsigned int pair,
					    unsigned int term)
{
	struct lace_repair *r = repair;
	unsigned int e = r->pairs[pair].entry;

	while (e != NONE && r->entries[e].term != term)
		e = r->entries[e].next;
	if (e != NONE)
		return &r->entries[e];
	if (!reserve(r, &r->entries, &r->max_entries, r->nr_entries + 1,
		     sizeof(*r->entries)))
		return NULL;
	r->entries[r->nr_entries] = (struct lace_repair_entry){
		.pair = pair, .term = term, .next = r->pairs[pair].entry };
	r->pairs[pair].entry = r->nr_entries;
	return &r->entries[r->nr_entries++];
}

/* ---- the run as the old plan has it ---- */

static bool need(struct lace_repair *r, unsigned int term, unsigned int src,
		 unsigned int dst, double bits, bool data)
{
	unsigned int pair = lace_repair_find(r, src, dst);
	struct lace_repair_entry *entry =
		pair == NONE ? NULL : lace_repair_entry(r, pair, term);

	if (!entry)
		return false;
	entry->own += bits;
	entry->data |= data;
	return true;
}

static bool add_term(struct lace_repair *r, unsigned int segment,
		     unsigned int op, unsigned int first_term)
{
	const struct lace_demand_op *o = &r->demand->ops[op];
	double ratio = r->cluster->control_ratio;
	unsigned int t = first_term;

	while (t < r->nr_terms && r->terms[t].pairs != o->pairs)
		t++;
	if (t < r->nr_terms) {
		r->terms[t].repeat += (double)o->repeat;
		return true;
	}
	if (!reserve(r, &r->terms, &r->max_terms, (size_t)r->nr_terms + 1,
		     sizeof(*r->terms)))
		return false;
	r->terms[r->nr_terms++] = (struct lace_repair_term){
		.segment = segment, .op = op, .pairs = o->pairs,
		.repeat = (double)o->repeat };
	for (size_t i = 0; i < o->nr_pairs; i++) {
		const struct lace_pair *p = &o->pairs[i];

		if (!need(r, t, p->src, p->dst, 8 * p->bytes, true))
			return false;
		if (ratio > 0 && !need(r, t, p->dst, p->src,
				       8 * ratio * p->bytes, false))
			return false;
	}
	return true;
}

static bool add_route(struct lace_repair *r, unsigned int segment,
		      const struct lace_route *plan)
{
	unsigned int from = plan->from, to, pair, index = r->nr_routes;

	pair = lace_repair_find(r, plan->from, plan->to);
	if (pair == NONE ||
	    !reserve(r, &r->routes, &r->max_routes, r->nr_routes + 1,
		     sizeof(*r->routes)) ||
	    !reserve(r, &r->hops, &r->max_hops,
		     r->nr_hops + plan->nr_between + 1, sizeof(*r->hops)))
		return false;
	r->routes[index] = (struct lace_repair_route){
		.segment = segment, .pair = pair,
		.next = r->pairs[pair].route, .first = r->nr_hops,
		.nr = plan->nr_between + 1 };
	for (unsigned int i = 0; i <= plan->nr_between; i++) {
		to = i < plan->nr_between ? plan->between[i] : plan->to;
		r->hops[r->nr_hops++] = lace_repair_find(r, from, to);
		from = to;
	}
	r->pairs[pair].route = index;
	r->nr_routes++;
	lace_repair_put(r, index);
	return !r->oom;
}

int lace_repair_add_segment(struct lace_repair *repair, unsigned int segment,
			    const struct lace_segment *plan)
{
	unsigned int first = repair->nr_terms;

	for (unsigned int op = plan->first_op; op <= plan->last_op; op++)
		if (!add_term(repair, segment, op, first))
			return -1;
	for (unsigned int i = 0; i < plan->nr_routes; i++)
		if (!add_route(repair, segment, &plan->routes[i]))
			return -1;
	return 0;
}

/* ---- circuits ---- */

bool lace_repair_is_free(const struct lace_repair *repair, unsigned int lane,
			 bool tx)
{
	bool out = repair->tx_ocs[lane] >= 0 && repair->tx_to[lane] == NONE;
	bool in = repair->rx_ocs[lane] >= 0 && repair->rx_from[lane] == NONE;

	if (repair->duplex)
		return out && in;
	return tx ? out : in;
}

bool lace_repair_can_join(const struct lace_repair *repair, unsigned int tx,
			  unsigned int rx)
{
	const struct lace_repair *r = repair;

	if (r->node_of[tx] == r->node_of[rx] || r->tx_ocs[tx] < 0 ||
	    r->tx_ocs[tx] != r->rx_ocs[rx])
		return false;
	return !r->duplex ||
	       (r->rx_ocs[tx] >= 0 && r->rx_ocs[tx] == r->tx_ocs[rx]);
}

static void note(struct lace_repair *r, enum lace_repair_step step,
		 unsigned int a, unsigned int b)
{
	if (reserve(r, &r->changes, &r->max_changes, r->nr_changes + 1,
		    sizeof(*r->changes)))
		r->changes[r->nr_changes++] =
			(struct lace_repair_change){ step, a, b };
}

/* Circuits come in runs of one pair. */
static unsigned int pair_between(struct lace_repair *r, unsigned int src,
				 unsigned int dst)
{
	unsigned int last = r->last_pair;

	if (last >= r->nr_pairs || r->pairs[last].src != src ||
	    r->pairs[last].dst != dst)
		r->last_pair = lace_repair_find(r, src, dst);
	return r->last_pair;
}

static void lay(struct lace_repair *r, unsigned int tx, unsigned int rx)
{
	unsigned int pair = pair_between(r, r->node_of[tx], r->node_of[rx]);
	uint64_t a = r->rate_bps[tx], b = r->rate_bps[rx];

	r->tx_to[tx] = rx;
	r->rx_from[rx] = tx;
	if (pair == NONE)
		return;
	r->pairs[pair].bps += (double)(a < b ? a : b);
	r->stale |= !r->pairs[pair].circuits++;
}

static void lift(struct lace_repair *r, unsigned int tx, unsigned int rx)
{
	unsigned int pair = pair_between(r, r->node_of[tx], r->node_of[rx]);
	uint64_t a = r->rate_bps[tx], b = r->rate_bps[rx];

	r->tx_to[tx] = NONE;
	r->rx_from[rx] = NONE;
	if (pair == NONE)
		return;
	r->pairs[pair].bps -= (double)(a < b ? a : b);
	r->stale |= !--r->pairs[pair].circuits;
}

void lace_repair_connect(struct lace_repair *repair, unsigned int tx,
			 unsigned int rx)
{
	lay(repair, tx, rx);
	if (repair->duplex)
		lay(repair, rx, tx);
	note(repair, LACE_REPAIR_CONNECT, tx, rx);
}

void lace_repair_disconnect(struct lace_repair *repair, unsigned int tx)
{
	unsigned int rx = repair->tx_to[tx];

	lift(repair, tx, rx);
	if (repair->duplex)
		lift(repair, rx, tx);
	note(repair, LACE_REPAIR_DISCONNECT, tx, rx);
}

/* ---- routes ---- */

static void load_route(struct lace_repair *r, const struct lace_repair_route *route,
		       double sign)
{
	unsigned int e = r->pairs[route->pair].entry;

	for (; e != NONE; e = r->entries[e].next) {
		/* A copy: lace_repair_entry() may move the array. */
		struct lace_repair_entry own = r->entries[e];

		if (!(own.own > 0) ||
		    r->terms[own.term].segment != route->segment)
			continue;
		for (unsigned int h = 0; h < route->nr; h++) {
			struct lace_repair_entry *hop = lace_repair_entry(
				r, r->hops[route->first + h], own.term);

			if (hop)
				hop->relay += sign * own.own;
		}
	}
}

static void forget_relay(struct lace_repair *r, unsigned int pair)
{
	unsigned int e = r->pairs[pair].entry;

	for (; e != NONE; e = r->entries[e].next)
		r->entries[e].relay = 0;
}

static void put(struct lace_repair *r, unsigned int index)
{
	struct lace_repair_route *route = &r->routes[index];

	route->live = true;
	for (unsigned int h = 0; h < route->nr; h++)
		r->pairs[r->hops[route->first + h]].through++;
	load_route(r, route, 1);
}

static void take(struct lace_repair *r, unsigned int index)
{
	struct lace_repair_route *route = &r->routes[index];

	route->live = false;
	load_route(r, route, -1);
	for (unsigned int h = 0; h < route->nr; h++) {
		unsigned int pair = r->hops[route->first + h];

		/* Nothing is exactly nothing, however sums were rounded. */
		if (!--r->pairs[pair].through)
			forget_relay(r, pair);
	}
}

void lace_repair_put(struct lace_repair *repair, unsigned int route)
{
	put(repair, route);
	note(repair, LACE_REPAIR_PUT, route, 0);
}

void lace_repair_take(struct lace_repair *repair, unsigned int route)
{
	take(repair, route);
	note(repair, LACE_REPAIR_TAKE, route, 0);
}

/* ---- what the state is worth ---- */

static void weigh(struct lace_repair *r)
{
	r->work += (double)r->nr_entries;
	for (unsigned int t = 0; t < r->nr_terms; t++) {
		r->terms[t].now_s = 0;
		r->terms[t].tight = 0;
	}
	for (size_t e = 0; e < r->nr_entries; e++) {
		const struct lace_repair_entry *entry = &r->entries[e];
		const struct lace_repair_pair *pair = &r->pairs[entry->pair];
		struct lace_repair_term *term = &r->terms[entry->term];
		double s;

		if (!pair->circuits)
			continue;
		s = (entry->own + entry->relay) / pair->bps;
		if (s > term->now_s * (1 + EQUAL)) {
			term->now_s = s;
			term->tight = 1;
		} else if (s > 0 && s >= term->now_s * (1 - EQUAL)) {
			term->tight++;
		}
	}
}

static bool route_holds(const struct lace_repair *r,
			const struct lace_repair_route *route)
{
	if (r->pairs[route->pair].circuits)
		return false;
	for (unsigned int h = 0; h < route->nr; h++)
		if (!r->pairs[r->hops[route->first + h]].circuits)
			return false;
	return true;
}

static void drop_stale(struct lace_repair *r)
{
	r->work += (double)r->nr_routes;
	for (unsigned int i = 0; i < r->nr_routes; i++)
		if (r->routes[i].live && !route_holds(r, &r->routes[i]))
			lace_repair_take(r, i);
	r->stale = false;
}

static bool is_served(const struct lace_repair *r,
		      const struct lace_repair_entry *entry)
{
	const struct lace_repair_pair *pair = &r->pairs[entry->pair];
	unsigned int i = pair->route;

	if (pair->circuits || !(entry->own > 0))
		return true;
	while (i != NONE && (!r->routes[i].live || r->routes[i].segment !=
			     r->terms[entry->term].segment))
		i = r->routes[i].next;
	return i != NONE;
}

static unsigned int route_unserved(struct lace_repair *r)
{
	unsigned int broken = 0;
	size_t nr = r->nr_entries;

	for (size_t e = 0; e < nr; e++) {
		struct lace_repair_entry entry = r->entries[e];
		unsigned int segment = r->terms[entry.term].segment;

		if (is_served(r, &entry) ||
		    lace_repair_route(r, entry.pair, segment, 1) ||
		    lace_repair_route(r, entry.pair, segment, 0))
			continue;
		if (!broken++) {
			r->broken_pair = entry.pair;
			r->broken_term = entry.term;
		}
	}
	return broken;
}

struct lace_repair_value lace_repair_evaluate(struct lace_repair *repair)
{
	struct lace_repair_value value = { 0 };

	/* A route may have needed a new circuit, whose pair then needs none. */
	for (unsigned int round = 0; round < ROUNDS; round++) {
		if (repair->stale)
			drop_stale(repair);
		value.broken = route_unserved(repair);
		if (!repair->stale)
			break;
	}
	weigh(repair);
	for (unsigned int t = 0; t < repair->nr_terms; t++) {
		value.cost_s += repair->terms[t].repeat *
				repair->terms[t].now_s;
		value.tight += repair->terms[t].tight;
	}
	return value;
}

bool lace_repair_better(const struct lace_repair_value *a,
			const struct lace_repair_value *b)
{
	if (a->broken != b->broken)
		return a->broken < b->broken;
	if (fabs(a->cost_s - b->cost_s) > EQUAL * b->cost_s)
		return a->cost_s < b->cost_s;
	return a->tight < b->tight;
}

/* ---- taking back ---- */

void lace_repair_undo(struct lace_repair *repair, size_t nr_changes)
{
	struct lace_repair *r = repair;

	while (r->nr_changes > nr_changes) {
		struct lace_repair_change c = r->changes[--r->nr_changes];

		switch (c.step) {
		case LACE_REPAIR_CONNECT:
			lift(r, c.a, c.b);
			if (r->duplex)
				lift(r, c.b, c.a);
			break;
		case LACE_REPAIR_DISCONNECT:
			lay(r, c.a, c.b);
			if (r->duplex)
				lay(r, c.b, c.a);
			break;
		case LACE_REPAIR_PUT:
			take(r, c.a);
			break;
		case LACE_REPAIR_TAKE:
			put(r, c.a);
			break;
		}
	}
	r->stale = false;
	weigh(r);
}
