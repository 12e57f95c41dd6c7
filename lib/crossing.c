// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What control has to cross where circuits are few.
 *
 * Given the least circuits of every pair with data, and with them the lanes
 * left over, a control message goes over data circuits, or leaves them at a
 * node with a TX lane left and comes back at a node with an RX lane left; so
 * the number of data circuits it must cross is known, and all these crossings
 * have to fit into what data leaves of the circuits.  A formula, no search:
 * the bound of control and the check of certificates both evaluate it
 * (algorithm.rst, B5).
 */
#include "bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of the time of an op.  Circuits filled to just a half are common; they are
 * busy however T is rounded.
 */
#define BUSY (0.5 * (1 - 1e-9))

#define ROUNDING 1e-11		/* of a number of messages, and of their times */
#define HALVINGS 12

static unsigned int tail(const struct lace_crossing *x, unsigned int var)
{
	return x->counts->vars[var].row[0];
}

static unsigned int head(const struct lace_crossing *x, unsigned int var)
{
	return x->counts->vars[var].row[1] - x->n;
}

static void flood(struct lace_crossing *x, unsigned int node,
		  unsigned int label)
{
	unsigned int nr = 0;

	x->component[node] = label;
	x->queue[nr++] = node;
	while (nr) {
		unsigned int i = x->queue[--nr];

		for (unsigned int way = 0; way < 2; way++) {
			for (unsigned int v = x->first[way][i]; v != LACE_NONE;
			     v = x->next[way][v]) {
				unsigned int j = way ? tail(x, v) : head(x, v);

				if (x->component[j] != LACE_NONE)
					continue;
				x->component[j] = label;
				x->queue[nr++] = j;
			}
		}
	}
}

bool lace_crossing_create(struct lace_planner *p,
			  const struct lace_period *period,
			  const unsigned int *var, struct lace_counts *counts,
			  struct lace_crossing *x)
{
	unsigned int n = p->nr_nodes;

	*x = (struct lace_crossing){ .planner = p, .period = period,
				     .counts = counts, .var = var, .n = n };
	for (unsigned int way = 0; way < 2; way++) {
		x->first[way] = lace_planner_alloc(p, n, sizeof(unsigned int));
		x->next[way] = lace_planner_alloc(p, x->counts->nr_vars,
						  sizeof(unsigned int));
	}
	x->component = lace_planner_alloc(p, n, sizeof(unsigned int));
	x->away = lace_planner_alloc(p, n, sizeof(unsigned int));
	x->back = lace_planner_alloc(p, n, sizeof(unsigned int));
	x->depth = lace_planner_alloc(p, n, sizeof(unsigned int));
	x->busy = lace_planner_alloc(p, x->counts->nr_vars, sizeof(bool));
	/* A node waits at most twice, once for each level it is found on. */
	x->queue = lace_planner_alloc(p, 2 * n, sizeof(unsigned int));
	x->later = lace_planner_alloc(p, 2 * n, sizeof(unsigned int));
	x->seen = lace_planner_alloc(p, 4 * n + 1, sizeof(unsigned int));
	x->room = lace_planner_alloc(p, n, sizeof(double));
	x->load = lace_planner_alloc(p, n, sizeof(double));
	x->data = lace_planner_alloc(p, x->counts->nr_vars, sizeof(double));
	if (p->oom)
		return false;
	memset(x->first[0], 0xff, n * sizeof(unsigned int));
	memset(x->first[1], 0xff, n * sizeof(unsigned int));
	memset(x->component, 0xff, n * sizeof(unsigned int));
	memset(x->depth, 0xff, n * sizeof(unsigned int));
	for (unsigned int v = 0; v < x->counts->nr_vars; v++) {
		unsigned int i = tail(x, v), j = head(x, v);

		x->next[0][v] = x->first[0][i];
		x->first[0][i] = v;
		x->next[1][v] = x->first[1][j];
		x->first[1][j] = v;
	}
	for (unsigned int i = 0; i < n; i++)
		if (x->component[i] == LACE_NONE)
			flood(x, i, i);
	for (unsigned int l = 0; l < p->nr_links; l++)
		if (p->links[l].rate_bps > x->rate)
			x->rate = p->links[l].rate_bps;
	return true;
}

void lace_crossing_free(struct lace_crossing *x)
{
	for (unsigned int way = 0; way < 2; way++) {
		free(x->first[way]);
		free(x->next[way]);
	}
	free(x->component);
	free(x->away);
	free(x->back);
	free(x->depth);
	free(x->busy);
	free(x->queue);
	free(x->later);
	free(x->seen);
	free(x->room);
	free(x->load);
	free(x->data);
}

static unsigned int left(const struct lace_crossing *x, unsigned int row)
{
	return x->counts->size[row] - x->counts->used[row];
}

static bool has_left(const struct lace_crossing *x, unsigned int node)
{
	return left(x, node) || left(x, x->n + node);
}

/*
 * Distances, where a circuit that is not busy[] costs nothing: depth first
 * within a level, then the next.  push() keeps a node that has come closer.
 */
static void push(struct lace_crossing *x, unsigned int *hops, unsigned int node,
		 unsigned int depth, bool next)
{
	if (hops[node] <= depth)
		return;
	hops[node] = depth;
	if (next)
		x->later[x->nr_later++] = node;
	else
		x->queue[x->nr_queue++] = node;
}

/* Takes up the next level; false if there is none. */
static bool next_level(struct lace_crossing *x, unsigned int *depth)
{
	unsigned int *swap = x->queue;

	if (!x->nr_later)
		return false;
	x->queue = x->later;
	x->later = swap;
	x->nr_queue = x->nr_later;
	x->nr_later = 0;
	(*depth)++;
	return true;
}

static void expand(struct lace_crossing *x, unsigned int way, unsigned int *hops,
		   unsigned int node, unsigned int depth)
{
	for (unsigned int v = x->first[way][node]; v != LACE_NONE;
	     v = x->next[way][v])
		push(x, hops, way ? tail(x, v) : head(x, v),
		     depth + x->busy[v], x->busy[v]);
}

/* Busy circuits from each node to the nearest with a TX lane left (way 1), or to
 * each node from the nearest with an RX lane left (way 0).
 */
static void spread(struct lace_crossing *x, unsigned int way, unsigned int *hops)
{
	unsigned int depth = 0;

	memset(hops, 0xff, x->n * sizeof(*hops));
	x->nr_queue = x->nr_later = 0;
	for (unsigned int i = 0; i < x->n; i++)
		if (left(x, way ? i : x->n + i))
			push(x, hops, i, 0, false);
	do {
		while (x->nr_queue) {
			unsigned int i = x->queue[--x->nr_queue];

			if (hops[i] == depth)
				expand(x, way, hops, i, depth);
		}
	} while (next_level(x, &depth));
}

/* What a message from src to dst crosses at least: busy circuits, and price for
 * lanes left over.
 */
static unsigned int crossings(struct lace_crossing *x, unsigned int src,
			      unsigned int dst, unsigned int price)
{
	unsigned int limit = LACE_NONE, depth = 0, nr = 0;

	if (x->away[src] != LACE_NONE && x->back[dst] != LACE_NONE)
		limit = x->away[src] + x->back[dst] + price;
	x->nr_queue = x->nr_later = 0;
	push(x, x->depth, src, 0, false);
	x->seen[nr++] = src;
	do {
		while (x->nr_queue && depth < limit && x->depth[dst] > depth) {
			unsigned int i = x->queue[--x->nr_queue];
			unsigned int had = x->nr_later;

			if (x->depth[i] != depth)
				continue;
			x->planner->work++;
			x->seen[nr++] = i;
			expand(x, 0, x->depth, i, depth);
			while (had < x->nr_later)
				x->seen[nr++] = x->later[had++];
		}
		if (depth >= limit || x->depth[dst] <= depth)
			break;
	} while (next_level(x, &depth));
	if (x->depth[dst] < limit)
		limit = x->depth[dst];
	/* Whatever has a depth was seen, or still waits. */
	while (x->nr_queue)
		x->depth[x->queue[--x->nr_queue]] = LACE_NONE;
	while (nr)
		x->depth[x->seen[--nr]] = LACE_NONE;
	x->depth[dst] = LACE_NONE;
	return limit;
}

/* Control messages of the term times what they cross: their number (whole), and
 * their size by component (load).  False if some message has no path.
 */
static bool add_messages(struct lace_crossing *x, unsigned int term,
			 unsigned int price)
{
	const struct lace_kind *k =
		&x->planner->kinds[x->period->terms[term].kind];

	x->whole = x->at_spare = 0;
	x->least = INFINITY;
	spread(x, 1, x->away);
	spread(x, 0, x->back);
	for (size_t i = 0; i < k->nr; i++) {
		const struct lace_need *need = &k->needs[i];
		const struct lace_between *p = &x->planner->pairs[need->pair];
		double time = need->bits / x->rate;
		unsigned int hops;

		if (x->var[need->pair] != LACE_NONE)
			continue;
		hops = crossings(x, p->src, p->dst, price);
		if (hops == LACE_NONE)
			return false;
		x->load[x->component[p->src]] += hops * time;
		x->whole += hops;
		x->at_spare += has_left(x, p->src) || has_left(x, p->dst);
		x->least = time < x->least ? time : x->least;
	}
	return true;
}

/* Every data circuit busy, lanes left over free, component by component. */
static double time_by_component(struct lace_crossing *x, unsigned int term,
				double time)
{
	const struct lace_counts *c = x->counts;

	memset(x->load, 0, x->n * sizeof(*x->load));
	memset(x->busy, true, c->nr_vars * sizeof(*x->busy));
	for (size_t i = c->first[term]; i < c->first[term + 1]; i++)
		x->load[x->component[tail(x, c->entries[i].var)]] +=
			c->entries[i].time;
	if (!add_messages(x, term, 0))
		return INFINITY;
	for (unsigned int i = 0; i < x->n; i++)
		if (x->load[i] > time * x->room[i])
			time = x->load[i] / x->room[i];
	return time;
}

/* ---- messages are not split ---- */

static double whole(double messages)
{
	double nr = floor(messages * (1 + ROUNDING) + ROUNDING);

	return nr > 0 ? nr : 0;
}

/* Messages that a lane left over takes at most, where several may be abreast. */
static double lane_takes(const struct lace_crossing *x, double time)
{
	double most = 0;

	for (unsigned int m = 1; m <= x->abreast; m++) {
		double nr = whole(m * time / x->least) / m;

		most = nr > most ? nr : most;
	}
	return most;
}

/* Messages that the circuits of a var take beside data. */
static double var_takes(const struct lace_crossing *x, unsigned int var,
			double time)
{
	return whole((time * x->counts->count[var] - x->data[var]) / x->least);
}

/* Into (1) or out of (-1) the nodes with lanes left, or neither. */
static int way_of(const struct lace_crossing *x, unsigned int var)
{
	return (int)has_left(x, head(x, var)) - (int)has_left(x, tail(x, var));
}

/*
 * What circuits take, in busy crossings, where every message over a lane left
 * over saves price of them.  Messages between two nodes without lanes left have
 * to come to those with some, and go again, over circuits of data: where that is
 * what limits them, lanes left over may join busy pairs in the meantime, each
 * for what it takes and one more that the rounding held back.
 */
static double all_take(struct lace_crossing *x, double time, unsigned int price)
{
	double nr = 0, in = 0, out = 0, each = lane_takes(x, time);
	double over = each * x->spare, pass;

	for (unsigned int v = 0; v < x->counts->nr_vars; v++) {
		int way = way_of(x, v);

		if (x->busy[v])
			nr += var_takes(x, v, time);
		if (way > 0)
			in += var_takes(x, v, time);
		else if (way < 0)
			out += var_takes(x, v, time);
	}
	x->planner->work += x->counts->nr_vars;
	pass = x->at_spare + (in < out ? in : out);
	if (pass >= over)
		return nr + price * over;
	return nr + price * pass + (each + 1) * (x->spare - pass / each);
}

/* The first time above this one at which anything takes a message more. */
static double next_step(const struct lace_crossing *x, double time)
{
	double next = INFINITY, least = x->least;

	for (unsigned int m = 1; m <= x->abreast; m++) {
		double t = (whole(m * time / least) + 1) * least / m;

		next = t < next ? t : next;
	}
	for (unsigned int v = 0; v < x->counts->nr_vars; v++) {
		double t;

		if (!x->busy[v] && !way_of(x, v))
			continue;
		t = ((var_takes(x, v, time) + 1) * least + x->data[v]) /
		    x->counts->count[v];
		next = t < next ? t : next;
	}
	return next * (1 - 2 * ROUNDING);
}

/*
 * The least time, from this one on, at which circuits take whole messages
 * enough.  A lane left over that joins a busy pair lets that take one more than
 * it would take by itself; at a price above one that is paid for.
 */
static double time_for_whole(struct lace_crossing *x, double time,
			     unsigned int price)
{
	double high = time, next;

	if (price < 2 || time == INFINITY || x->whole <= 0 ||
	    (x->spare && lane_takes(x, time) < 1) ||
	    all_take(x, time, price) >= x->whole)
		return time;
	do
		high *= 2;
	while (high < INFINITY && all_take(x, high, price) < x->whole);
	for (unsigned int i = 0; i < HALVINGS; i++) {
		double middle = (time + high) / 2;

		if (all_take(x, middle, price) < x->whole)
			time = middle;
		else
			high = middle;
	}
	next = next_step(x, time);
	return next > time ? next : time;
}

/* Circuits that the op fills are busy, others free; lanes left over have a
 * price.
 */
static double time_at_price(struct lace_crossing *x, unsigned int term, double time,
			    unsigned int price)
{
	const struct lace_counts *c = x->counts;
	double room = (double)price * x->spare, load = 0;

	memset(x->load, 0, x->n * sizeof(*x->load));
	memset(x->busy, false, c->nr_vars * sizeof(*x->busy));
	memset(x->data, 0, c->nr_vars * sizeof(*x->data));
	for (size_t i = c->first[term]; i < c->first[term + 1]; i++) {
		const struct lace_counts_entry *e = &c->entries[i];

		x->data[e->var] = e->time;
		if (e->time < BUSY * time * c->count[e->var])
			continue;
		x->busy[e->var] = true;
		load += e->time;
		room += c->count[e->var];
	}
	if (!add_messages(x, term, price))
		return INFINITY;
	for (unsigned int i = 0; i < x->n; i++)
		load += x->load[i];
	if (load > time * room)
		time = load / room;
	return time_for_whole(x, time, price);
}

/* Circuits that the lanes left over could make at most, in all and in a pair. */
static void count_spare(struct lace_crossing *x)
{
	unsigned int sum[2] = { 0 }, most[2] = { 0 };

	for (unsigned int i = 0; i < x->n; i++) {
		for (unsigned int side = 0; side < 2; side++) {
			unsigned int lanes = left(x, i + side * x->n);

			sum[side] += lanes;
			most[side] = lanes > most[side] ? lanes : most[side];
		}
	}
	x->spare = sum[0] < sum[1] ? sum[0] : sum[1];
	x->abreast = most[0] < most[1] ? most[0] : most[1];
}

void lace_crossing_at(struct lace_crossing *x)
{
	const struct lace_counts *c = x->counts;

	count_spare(x);
	memset(x->room, 0, x->n * sizeof(*x->room));
	for (unsigned int v = 0; v < c->nr_vars; v++) {
		unsigned int a = left(x, c->vars[v].row[0]);
		unsigned int b = left(x, c->vars[v].row[1]);

		x->room[x->component[tail(x, v)]] +=
			c->count[v] + (a < b ? a : b);
	}
}

double lace_crossing_time(struct lace_crossing *x, unsigned int term,
			  double time, unsigned int price)
{
	return price ? time_at_price(x, term, time, price) :
		       time_by_component(x, term, time);
}
