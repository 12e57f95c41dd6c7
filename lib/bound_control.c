// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What control costs at least where it may be relayed.
 *
 * Times T fix the least circuits of every pair with data, and with them the
 * lanes left over.  A control message goes over data circuits, or leaves them
 * at a node with a TX lane left and comes back at a node with an RX lane left;
 * so the number of data circuits it must cross is known, and all these
 * crossings have to fit into what data leaves of the circuits of its component.
 * The least over all T is a bound of the period (algorithm.rst, B5).
 */
#include "bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 2048
#define BUSY 0.5		/* of the time of an op */

struct crossing {
	struct lace_planner *planner;
	const struct lace_period *period;
	struct lace_counts *counts;
	const unsigned int *var;	/* of each pair */
	unsigned int n;
	double rate;			/* the best of any pair */
	unsigned int *first[2], *next[2];	/* vars out of, into a node */
	unsigned int *component;	/* of each node */
	unsigned int *away, *back;	/* hops to the nearest lane left over */
	unsigned int spare;		/* lanes left over, all in all */
	bool *busy;			/* circuits of a var count as hops */
	unsigned int *depth, *seen;
	unsigned int *queue, nr_queue, *later, nr_later;
	double *room, *load;		/* of each component */
};

static unsigned int tail(const struct crossing *x, unsigned int var)
{
	return x->counts->vars[var].row[0];
}

static unsigned int head(const struct crossing *x, unsigned int var)
{
	return x->counts->vars[var].row[1] - x->n;
}

static void flood(struct crossing *x, unsigned int node, unsigned int label)
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

static bool prepare(struct crossing *x)
{
	struct lace_planner *p = x->planner;
	unsigned int n = x->n;

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

static void release(struct crossing *x)
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
}

static unsigned int left(const struct crossing *x, unsigned int row)
{
	return x->counts->size[row] - x->counts->used[row];
}

/*
 * Distances, where a circuit that is not busy[] costs nothing: depth first
 * within a level, then the next.  push() keeps a node that has come closer.
 */
static void push(struct crossing *x, unsigned int *hops, unsigned int node,
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
static bool next_level(struct crossing *x, unsigned int *depth)
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

static void expand(struct crossing *x, unsigned int way, unsigned int *hops,
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
static void spread(struct crossing *x, unsigned int way, unsigned int *hops)
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
static unsigned int crossings(struct crossing *x, unsigned int src,
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

/* Size of all control messages of the term times what they cross, of each
 * component; false if some message has no path.
 */
static bool add_messages(struct crossing *x, unsigned int term,
			 unsigned int price)
{
	const struct lace_kind *k =
		&x->planner->kinds[x->period->terms[term].kind];

	spread(x, 1, x->away);
	spread(x, 0, x->back);
	for (size_t i = 0; i < k->nr; i++) {
		const struct lace_need *need = &k->needs[i];
		const struct lace_between *p = &x->planner->pairs[need->pair];
		unsigned int hops;

		if (x->var[need->pair] != LACE_NONE)
			continue;
		hops = crossings(x, p->src, p->dst, price);
		if (hops == LACE_NONE)
			return false;
		x->load[x->component[p->src]] += hops * need->bits / x->rate;
	}
	return true;
}

/* Every data circuit busy, lanes left over free, component by component. */
static double time_by_component(struct crossing *x, unsigned int term,
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

/* Circuits that the op fills are busy, others free; lanes left over have a
 * price.
 */
static double time_at_price(struct crossing *x, unsigned int term, double time,
			    unsigned int price)
{
	const struct lace_counts *c = x->counts;
	double room = (double)price * x->spare, load = 0;

	memset(x->load, 0, x->n * sizeof(*x->load));
	memset(x->busy, false, c->nr_vars * sizeof(*x->busy));
	for (size_t i = c->first[term]; i < c->first[term + 1]; i++) {
		const struct lace_counts_entry *e = &c->entries[i];

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
	return load > time * room ? load / room : time;
}

static double term_time(struct crossing *x, unsigned int term, double time)
{
	static const unsigned int prices[] = { 1, 3, 7, 31 };
	double best = time_by_component(x, term, time);

	for (unsigned int p = 0; p < sizeof(prices) / sizeof(*prices); p++) {
		double t = time_at_price(x, term, time, prices[p]);

		best = t > best ? t : best;
	}
	return best;
}

/* Circuits that the lanes left over could make at most. */
static unsigned int count_spare(const struct crossing *x)
{
	unsigned int tx = 0, rx = 0;

	for (unsigned int i = 0; i < x->n; i++) {
		tx += left(x, i);
		rx += left(x, x->n + i);
	}
	return tx < rx ? tx : rx;
}

/* The least a point can cost: no T between it and the next takes fewer
 * circuits.
 */
static double point_cost(struct crossing *x, const double *time)
{
	struct lace_counts *c = x->counts;
	double cost = 0;

	lace_counts_for(c, time, c->count);
	x->spare = count_spare(x);
	memset(x->room, 0, x->n * sizeof(*x->room));
	for (unsigned int v = 0; v < c->nr_vars; v++) {
		unsigned int a = left(x, c->vars[v].row[0]);
		unsigned int b = left(x, c->vars[v].row[1]);

		x->room[x->component[tail(x, v)]] +=
			c->count[v] + (a < b ? a : b);
	}
	for (unsigned int t = 0; t < c->nr_terms && cost < INFINITY; t++)
		cost += c->weight[t] * term_time(x, t, time[t]);
	return cost;
}

static double least_point(struct crossing *x)
{
	struct lace_counts *c = x->counts;
	size_t width = c->nr_terms + 1;
	double value = c->value, best = point_cost(x, c->time);
	double *points;
	unsigned int nr;

	if (best <= value * (1 + 1e-12))
		return value;
	points = lace_planner_alloc(x->planner, POINTS * width,
				    sizeof(*points));
	if (!points)
		return value;
	nr = lace_counts_points(c, best, POINTS, points, &best);
	for (unsigned int i = 0; i < nr; i++) {
		const double *point = points + i * width;
		double cost;

		if (point[0] >= best)
			break;
		cost = point_cost(x, point + 1);
		best = cost < best ? cost : best;
	}
	free(points);
	return best > value ? best : value;
}

double lace_bound_control(struct lace_planner *planner,
			  const struct lace_period *period,
			  const unsigned int *var, struct lace_counts *counts)
{
	struct crossing x = { .planner = planner, .period = period,
			      .counts = counts, .var = var,
			      .n = planner->nr_nodes };
	double bound = counts->value;

	if (prepare(&x))
		bound = least_point(&x);
	release(&x);
	return bound;
}
