// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Repair of a configuration: the way round of a pair that has lost its circuit
 * or its route.  The shortest that makes nobody slower; else the one whose
 * worst hop costs least; and where no way leads on, free lanes that close the
 * gap, from a node within reach of the source to one that reaches the
 * destination.
 */
#include "repair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE LACE_REPAIR_NONE
#define EQUAL 1e-12
#define GAP_TRIES 24
#define MAX_TERMS 32

/* What is to be routed: the bits of a pair in the terms of one segment. */
struct load {
	unsigned int nr;
	unsigned int term[MAX_TERMS];
	double bits[MAX_TERMS];
	double scale;		/* of now_s: how long it may take; 0: as it comes */
	double most;		/* cost of a hop that is not exceeded */
};

bool lace_repair_may_relay(const struct lace_repair *repair, unsigned int pair,
			   unsigned int segment)
{
	enum lace_relay relay = repair->cluster->relay;
	unsigned int e = repair->pairs[pair].entry;

	if (relay != LACE_RELAY_CONTROL)
		return relay == LACE_RELAY_DATA;
	for (; e != NONE; e = repair->entries[e].next)
		if (repair->entries[e].data && repair->entries[e].own > 0 &&
		    repair->terms[repair->entries[e].term].segment == segment)
			return false;
	return true;
}

/* Beyond MAX_TERMS the lightest are not looked at: the way is then a guess. */
static void collect(const struct lace_repair *r, unsigned int pair,
		    unsigned int segment, struct load *load)
{
	unsigned int e = r->pairs[pair].entry, least;

	for (; e != NONE; e = r->entries[e].next) {
		const struct lace_repair_entry *entry = &r->entries[e];

		if (!(entry->own > 0) ||
		    r->terms[entry->term].segment != segment)
			continue;
		if (load->nr < MAX_TERMS) {
			least = load->nr++;
		} else {
			least = 0;
			for (unsigned int i = 1; i < load->nr; i++)
				if (load->bits[i] < load->bits[least])
					least = i;
			if (entry->own <= load->bits[least])
				continue;
		}
		load->term[least] = entry->term;
		load->bits[least] = entry->own;
	}
}

static double load_on(const struct lace_repair *r, unsigned int pair,
		      unsigned int term)
{
	unsigned int e = r->pairs[pair].entry;

	while (e != NONE && r->entries[e].term != term)
		e = r->entries[e].next;
	return e == NONE ? 0 : r->entries[e].own + r->entries[e].relay;
}

/* What taking the hop costs, were it the only one; INFINITY beyond the limit. */
static double price(struct lace_repair *r, unsigned int pair,
		    const struct load *load)
{
	double cost = 0;

	r->work += 1;
	for (unsigned int i = 0; i < load->nr; i++) {
		const struct lace_repair_term *term = &r->terms[load->term[i]];
		double bits = load_on(r, pair, load->term[i]) + load->bits[i];
		double s = bits / r->pairs[pair].bps;

		if (load->scale > 0 && s > load->scale * term->now_s)
			return INFINITY;
		if (s > term->now_s)
			cost += term->repeat * (s - term->now_s);
	}
	return cost;
}

static unsigned int next_stamp(struct lace_repair *r)
{
	if (++r->now == 0) {
		size_t size = r->cluster->nr_nodes * sizeof(*r->stamp);

		memset(r->stamp, 0, size);
		memset(r->mark, 0, size);
		r->now = 1;
	}
	return r->now;
}

/* Breadth first over hops within the limits; via[] leads back to src. */
static bool shortest(struct lace_repair *r, unsigned int src, unsigned int dst,
		     const struct load *load)
{
	unsigned int now = next_stamp(r), head = 0, tail = 0;

	r->stamp[src] = now;
	r->queue[tail++] = src;
	while (head < tail) {
		unsigned int i = r->queue[head++], last = NONE;

		for (unsigned int l = r->first_lane[i];
		     l < r->first_lane[i + 1]; l++) {
			unsigned int j, e;

			if (r->tx_to[l] == NONE)
				continue;
			j = r->node_of[r->tx_to[l]];
			if (j == last || r->stamp[j] == now)
				continue;
			last = j;
			e = lace_repair_find(r, i, j);
			if (e == NONE || price(r, e, load) > load->most)
				continue;
			r->stamp[j] = now;
			r->via[j] = e;
			if (j == dst)
				return true;
			r->queue[tail++] = j;
		}
	}
	return false;
}

/* The least cost of the worst hop of any way: label correcting. */
static double cheapest(struct lace_repair *r, unsigned int src,
		       unsigned int dst, const struct load *load)
{
	unsigned int n = r->cluster->nr_nodes, head = 0, nr = 1;
	unsigned int now = next_stamp(r);

	/* stamp: in the queue; mark: has a key */
	r->key[dst] = INFINITY;
	r->key[src] = 0;
	r->mark[src] = r->mark[dst] = now;
	r->queue[0] = src;
	r->stamp[src] = now;
	while (nr) {
		unsigned int i = r->queue[head], last = NONE;

		head = (head + 1) % n;
		nr--;
		r->stamp[i] = now - 1;
		for (unsigned int l = r->first_lane[i];
		     l < r->first_lane[i + 1]; l++) {
			unsigned int j, e;
			double key;

			if (r->tx_to[l] == NONE)
				continue;
			j = r->node_of[r->tx_to[l]];
			if (j == last)
				continue;
			last = j;
			e = lace_repair_find(r, i, j);
			if (e == NONE)
				continue;
			key = fmax(r->key[i], price(r, e, load));
			if ((r->mark[j] == now && key >= r->key[j]) ||
			    key >= r->key[dst])
				continue;
			r->key[j] = key;
			r->mark[j] = now;
			if (r->stamp[j] != now) {
				r->stamp[j] = now;
				r->queue[(head + nr++) % n] = j;
			}
		}
	}
	return r->key[dst];
}

/* Puts the way that via[] holds. */
static bool keep_way(struct lace_repair *r, unsigned int pair,
		     unsigned int segment)
{
	unsigned int src = r->pairs[pair].src, dst = r->pairs[pair].dst;
	unsigned int index = r->nr_routes, nr = 0;

	for (unsigned int i = dst; i != src; i = r->pairs[r->via[i]].src)
		nr++;
	if (r->nr_routes == r->max_routes) {
		size_t room = 2 * r->max_routes + 64;
		void *mem = realloc(r->routes, room * sizeof(*r->routes));

		r->oom |= !mem;
		if (!mem)
			return false;
		r->routes = mem;
		r->max_routes = room;
	}
	if (r->nr_hops + nr > r->max_hops) {
		size_t room = 2 * r->max_hops + nr + 64;
		void *mem = realloc(r->hops, room * sizeof(*r->hops));

		r->oom |= !mem;
		if (!mem)
			return false;
		r->hops = mem;
		r->max_hops = room;
	}
	r->routes[index] = (struct lace_repair_route){
		.segment = segment, .pair = pair, .first = r->nr_hops,
		.nr = nr, .next = r->pairs[pair].route };
	r->pairs[pair].route = index;
	r->nr_routes++;
	r->nr_hops += nr;
	for (unsigned int i = dst; i != src; i = r->pairs[r->via[i]].src)
		r->hops[r->routes[index].first + --nr] = r->via[i];
	lace_repair_put(r, index);
	return true;
}

/* ---- where no way leads on ---- */

static unsigned int reach(struct lace_repair *r, unsigned int from, bool out,
			  unsigned int *found)
{
	unsigned int now = next_stamp(r), head = 0, tail = 0, nr = 0;
	const unsigned int *to = out ? r->tx_to : r->rx_from;

	r->stamp[from] = now;
	r->queue[tail++] = from;
	while (head < tail && nr < GAP_TRIES) {
		unsigned int i = r->queue[head++];
		bool has = false;

		for (unsigned int l = r->first_lane[i];
		     l < r->first_lane[i + 1]; l++) {
			unsigned int j;

			has |= lace_repair_is_free(r, l, out);
			if (to[l] == NONE)
				continue;
			j = r->node_of[to[l]];
			if (r->stamp[j] == now)
				continue;
			r->stamp[j] = now;
			r->queue[tail++] = j;
		}
		if (has)
			found[nr++] = i;
	}
	return nr;
}

static bool close_gap(struct lace_repair *r, unsigned int pair)
{
	unsigned int near[GAP_TRIES], far[GAP_TRIES];
	unsigned int nr_near = reach(r, r->pairs[pair].src, true, near);
	unsigned int nr_far = reach(r, r->pairs[pair].dst, false, far);

	for (unsigned int sum = 0; sum + 1 < nr_near + nr_far; sum++) {
		for (unsigned int a = 0; a <= sum && a < nr_near; a++) {
			unsigned int e;

			if (sum - a >= nr_far || near[a] == far[sum - a])
				continue;
			e = lace_repair_find(r, near[a], far[sum - a]);
			if (e != NONE && lace_repair_join(r, e))
				return true;
		}
	}
	return false;
}

/* Free lanes by which a node could reach others; NONE where there are none. */
struct gap {
	unsigned int tx, rx;
};

static unsigned int free_rx(const struct lace_repair *r, unsigned int tx,
			    unsigned int node)
{
	for (unsigned int b = r->first_lane[node]; b < r->first_lane[node + 1];
	     b++)
		if (lace_repair_is_free(r, b, false) &&
		    lace_repair_can_join(r, tx, b))
			return b;
	return NONE;
}

/* Enters every node that a free lane of a node seen leads to. */
static unsigned int leap(struct lace_repair *r, struct gap *gaps,
			 unsigned int from, unsigned int tail)
{
	unsigned int end = tail;

	for (unsigned int q = from; q < end; q++) {
		unsigned int i = r->queue[q];

		for (unsigned int a = r->first_lane[i];
		     a < r->first_lane[i + 1]; a++) {
			if (!lace_repair_is_free(r, a, true))
				continue;
			r->work += r->cluster->nr_nodes;
			for (unsigned int j = 0; j < r->cluster->nr_nodes;
			     j++) {
				unsigned int b = r->stamp[j] == r->now ? NONE :
						 free_rx(r, a, j);

				if (b == NONE)
					continue;
				r->stamp[j] = r->now;
				r->via[j] = i;
				gaps[j] = (struct gap){ a, b };
				r->queue[tail++] = j;
			}
		}
	}
	return tail;
}

/* As many new circuits as it takes, and no more: level by level.  via[] is the
 * node before.
 */
static bool find_gaps(struct lace_repair *r, unsigned int src,
		      unsigned int dst, struct gap *gaps)
{
	unsigned int head = 0, level = 0, tail = 0, before;

	r->stamp[src] = next_stamp(r);
	r->queue[tail++] = src;
	do {
		while (head < tail) {
			unsigned int i = r->queue[head++];

			for (unsigned int l = r->first_lane[i];
			     l < r->first_lane[i + 1]; l++) {
				unsigned int j = r->tx_to[l] == NONE ? i :
						 r->node_of[r->tx_to[l]];

				if (r->stamp[j] == r->now)
					continue;
				r->stamp[j] = r->now;
				r->via[j] = i;
				gaps[j].tx = NONE;
				r->queue[tail++] = j;
			}
		}
		if (r->stamp[dst] == r->now)
			return true;
		before = tail;
		tail = leap(r, gaps, level, tail);
		level = before;
	} while (tail > before);
	return false;
}

static bool close_gaps(struct lace_repair *r, unsigned int pair)
{
	unsigned int src = r->pairs[pair].src, dst = r->pairs[pair].dst;
	struct gap *gaps = calloc(r->cluster->nr_nodes, sizeof(*gaps));
	bool found;

	r->oom |= !gaps;
	found = gaps && find_gaps(r, src, dst, gaps);
	for (unsigned int i = dst; found && i != src; i = r->via[i])
		if (gaps[i].tx != NONE &&
		    lace_repair_is_free(r, gaps[i].tx, true) &&
		    lace_repair_is_free(r, gaps[i].rx, false))
			lace_repair_connect(r, gaps[i].tx, gaps[i].rx);
	free(gaps);
	return found;
}

bool lace_repair_route(struct lace_repair *repair, unsigned int pair,
		       unsigned int segment, double scale)
{
	unsigned int src = repair->pairs[pair].src;
	unsigned int dst = repair->pairs[pair].dst;
	struct load load = { .scale = scale };

	if (!lace_repair_may_relay(repair, pair, segment))
		return false;
	collect(repair, pair, segment, &load);
	if (scale > 0)
		return shortest(repair, src, dst, &load) &&
		       keep_way(repair, pair, segment);
	load.most = cheapest(repair, src, dst, &load);
	if (load.most == INFINITY &&
	    (close_gap(repair, pair) || close_gaps(repair, pair))) {
		if (repair->pairs[pair].circuits)
			return true;
		load.most = cheapest(repair, src, dst, &load);
	}
	if (load.most == INFINITY)
		return false;
	load.most *= 1 + EQUAL;
	return shortest(repair, src, dst, &load) &&
	       keep_way(repair, pair, segment);
}
