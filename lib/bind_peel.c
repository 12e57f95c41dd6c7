// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Keeps more circuits in place than swaps of two colours can.  A few colours are
 * taken apart, and their circuits dealt out again one colour after the other:
 * each gets a matching of the heaviest weight among those that leave no node
 * with more circuits than colours.  What lies where it lay before weighs most;
 * what would be wanted by a colour still to come weighs less than nothing.
 * Weights and sets are drawn, many times; what loses a circuit is taken back.
 */
#include "bind.h"

#include <stdlib.h>
#include <string.h>

#define STAYS 100
#define MUST 100000	/* more than all other weights of a path */
#define MAX_SET 8	/* colours; now and then it is all of them */
#define STALLED 3000	/* draws without gain, then it is given up */
#define WHOLE 32	/* what all colours take, about, for each lane */

struct heap_entry {
	int64_t dist;
	unsigned int dst;
};

/* One colour's matching: TX nodes are rows, RX nodes columns, see match(). */
struct peel {
	struct lace_colouring *c;
	unsigned int n, nr_set;
	unsigned int *set;		/* colours taken apart, in turn */
	unsigned int *saved;		/* of set and TX node: what it was */
	unsigned int *pool;		/* of TX node: peers yet to be coloured */
	unsigned int *nr_out, *nr_in;	/* circuits yet to be coloured */
	int64_t *cost;			/* of the pool's circuits; less is better */
	int64_t *u, *v;			/* prices of rows and columns */
	unsigned int *row, *column;	/* the matching: of column, of row */
	int64_t *dist;
	unsigned int *via;		/* row before the column on its path */
	unsigned int *done, nr_done;	/* columns scanned */
	unsigned int *reached, nr_reached;
	struct heap_entry *heap;
	unsigned int nr_heap;
	size_t work;			/* circuits looked at so far */
};

static unsigned int draw(struct peel *p, unsigned int below)
{
	p->c->state = p->c->state * 6364136223846793005ull +
		      1442695040888963407ull;
	return ((p->c->state >> 32) * below) >> 32;
}

/* Peers of a TX node by circuits that no colour has yet. */
static unsigned int *pool(const struct peel *p, unsigned int src,
			  unsigned int at)
{
	return &p->pool[(size_t)src * p->c->nr_colours + at];
}

/* ---- a matching ---- */

static bool is_before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->dist != b->dist ? a->dist < b->dist : a->dst < b->dst;
}

static void push(struct peel *p, struct heap_entry entry)
{
	unsigned int at = p->nr_heap++;

	for (; at; at = (at - 1) / 2) {
		if (!is_before(&entry, &p->heap[(at - 1) / 2]))
			break;
		p->heap[at] = p->heap[(at - 1) / 2];
	}
	p->heap[at] = entry;
}

static struct heap_entry pop(struct peel *p)
{
	struct heap_entry top = p->heap[0], last = p->heap[--p->nr_heap];
	unsigned int at = 0;

	for (;;) {
		unsigned int child = 2 * at + 1;

		if (child >= p->nr_heap)
			break;
		if (child + 1 < p->nr_heap &&
		    is_before(&p->heap[child + 1], &p->heap[child]))
			child++;
		if (!is_before(&p->heap[child], &last))
			break;
		p->heap[at] = p->heap[child];
		at = child;
	}
	p->heap[at] = last;
	return top;
}

/* Where a path may end without a column: the row goes without a circuit. */
struct path_end {
	int64_t dist;
	unsigned int row, column;
};

static void relax(struct peel *p, unsigned int row, int64_t so_far,
		  struct path_end *end)
{
	const unsigned int *peers = pool(p, row, 0);
	const int64_t *cost = p->cost + (size_t)row * p->c->nr_colours;

	p->work += p->nr_out[row];
	if (so_far - p->u[row] < end->dist)
		*end = (struct path_end){ so_far - p->u[row], row, LACE_NONE };
	for (unsigned int e = 0; e < p->nr_out[row]; e++) {
		unsigned int dst = peers[e];
		int64_t dist = so_far + cost[e] - p->u[row] - p->v[dst];

		if (dist >= p->dist[dst] || dist >= end->dist)
			continue;
		if (p->dist[dst] == INT64_MAX)
			p->reached[p->nr_reached++] = dst;
		p->dist[dst] = dist;
		p->via[dst] = row;
		push(p, (struct heap_entry){ dist, dst });
	}
}

static void search(struct peel *p, unsigned int row, struct path_end *end)
{
	relax(p, row, 0, end);
	while (p->nr_heap) {
		struct heap_entry top = pop(p);

		if (top.dist >= end->dist)
			return;
		if (top.dist > p->dist[top.dst])
			continue;
		if (p->row[top.dst] == LACE_NONE) {
			*end = (struct path_end){ top.dist, LACE_NONE,
						  top.dst };
			return;
		}
		p->done[p->nr_done++] = top.dst;
		relax(p, p->row[top.dst], top.dist, end);
	}
}

/* From the end of the path back, each row moves on to the column after it. */
static void augment(struct peel *p, unsigned int row,
		    const struct path_end *end)
{
	unsigned int dst = end->column, to, left;

	if (dst == LACE_NONE) {
		dst = p->column[end->row];
		p->column[end->row] = LACE_NONE;
	}
	while (dst != LACE_NONE) {
		to = p->via[dst];
		left = p->column[to];
		p->column[to] = dst;
		p->row[dst] = to;
		if (to == row)
			return;
		dst = left;
	}
}

/* Cheapest way to give the row a column, or to leave some row without. */
static void add_row(struct peel *p, unsigned int row)
{
	struct path_end end = { INT64_MAX, LACE_NONE, LACE_NONE };

	p->nr_done = p->nr_heap = p->nr_reached = 0;
	search(p, row, &end);
	for (unsigned int i = 0; i < p->nr_done; i++) {
		unsigned int dst = p->done[i];

		p->v[dst] -= end.dist - p->dist[dst];
		p->u[p->row[dst]] += end.dist - p->dist[dst];
	}
	p->u[row] += end.dist;
	augment(p, row, &end);
	for (unsigned int i = 0; i < p->nr_reached; i++)
		p->dist[p->reached[i]] = INT64_MAX;
}

/*
 * The cheapest matching of rows and columns, a row without costing nothing:
 * row after row by a shortest path, prices as in the Hungarian method.
 */
static void match(struct peel *p)
{
	memset(p->u, 0, p->n * sizeof(*p->u));
	memset(p->v, 0, p->n * sizeof(*p->v));
	memset(p->row, 0xff, p->n * sizeof(*p->row));
	memset(p->column, 0xff, p->n * sizeof(*p->column));
	for (unsigned int j = 0; j < p->n; j++)
		p->dist[j] = INT64_MAX;
	for (unsigned int i = 0; i < p->n; i++)
		add_row(p, i);
}

/* ---- colours taken apart and dealt out again ---- */

static void take_apart(struct peel *p)
{
	memset(p->nr_out, 0, p->n * sizeof(*p->nr_out));
	memset(p->nr_in, 0, p->n * sizeof(*p->nr_in));
	for (unsigned int i = 0; i < p->n; i++) {
		for (unsigned int q = 0; q < p->nr_set; q++) {
			unsigned int *dst = lace_colouring_dst(p->c, i, p->set[q]);

			p->saved[(size_t)q * p->n + i] = *dst;
			if (*dst == LACE_NONE)
				continue;
			*pool(p, i, p->nr_out[i]++) = *dst;
			p->nr_in[*dst]++;
			*lace_colouring_src(p->c, *dst, p->set[q]) = LACE_NONE;
			*dst = LACE_NONE;
		}
	}
}

static void put_back(struct peel *p)
{
	for (unsigned int q = 0; q < p->nr_set; q++)
		for (unsigned int j = 0; j < p->n; j++)
			*lace_colouring_src(p->c, j, p->set[q]) = LACE_NONE;
	for (unsigned int q = 0; q < p->nr_set; q++) {
		for (unsigned int i = 0; i < p->n; i++) {
			unsigned int dst = p->saved[(size_t)q * p->n + i];

			*lace_colouring_dst(p->c, i, p->set[q]) = dst;
			if (dst != LACE_NONE)
				*lace_colouring_src(p->c, dst, p->set[q]) = i;
		}
	}
}

/* What colours after turn would keep of the pair and, for want of circuits, will
 * not if this one has one more.
 */
static bool is_wanted_later(const struct peel *p, unsigned int src,
			    unsigned int dst, unsigned int turn)
{
	unsigned int wanted = 0, left = 0;

	for (unsigned int q = turn + 1; q < p->nr_set; q++)
		wanted += lace_colouring_keeps(p->c, src, dst, p->set[q]) > 0;
	for (unsigned int e = 0; wanted && e < p->nr_out[src]; e++)
		left += *pool(p, src, e) == dst;
	return left && left - 1 < wanted;
}

static void weigh(struct peel *p, unsigned int turn, unsigned int later,
		  unsigned int noise)
{
	unsigned int colour = p->set[turn], most = p->nr_set - turn;

	for (unsigned int i = 0; i < p->n; i++) {
		for (unsigned int e = 0; e < p->nr_out[i]; e++) {
			unsigned int dst = *pool(p, i, e);
			int64_t weight = 1 + draw(p, noise + 1);

			weight += STAYS *
				  lace_colouring_keeps(p->c, i, dst, colour);
			if (is_wanted_later(p, i, dst, turn))
				weight -= later;
			if (p->nr_out[i] == most)
				weight += MUST;
			if (p->nr_in[dst] == most)
				weight += MUST;
			p->cost[(size_t)i * p->c->nr_colours + e] = -weight;
		}
	}
}

static void deal(struct peel *p, unsigned int turn)
{
	for (unsigned int i = 0; i < p->n; i++) {
		unsigned int dst = p->column[i], e = 0;

		if (dst == LACE_NONE)
			continue;
		while (*pool(p, i, e) != dst)
			e++;
		*pool(p, i, e) =
			*pool(p, i, --p->nr_out[i]);
		p->nr_in[dst]--;
		*lace_colouring_dst(p->c, i, p->set[turn]) = dst;
		*lace_colouring_src(p->c, dst, p->set[turn]) = i;
	}
}

static unsigned int count_kept(const struct peel *p)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < p->n; i++) {
		for (unsigned int q = 0; q < p->nr_set; q++) {
			unsigned int dst = *lace_colouring_dst(p->c, i, p->set[q]);

			if (dst != LACE_NONE)
				nr += lace_colouring_keeps(p->c, i, dst,
							   p->set[q]);
		}
	}
	return nr;
}

/* A set of colours, the first nr_set of all in an order that is drawn. */
static void draw_set(struct peel *p, bool all)
{
	unsigned int k = p->c->nr_colours;
	unsigned int most = k < MAX_SET ? k : MAX_SET;

	p->nr_set = all || !draw(p, 8) ? k : 3 + draw(p, most - 2);
	for (unsigned int q = 0; q < p->nr_set; q++) {
		unsigned int other = q + draw(p, k - q);
		unsigned int colour = p->set[q];

		p->set[q] = p->set[other];
		p->set[other] = colour;
	}
}

/* Circuits gained. */
static unsigned int try_set(struct peel *p, bool all)
{
	unsigned int before, after, later, noise;

	draw_set(p, all);
	later = STAYS / 3 + draw(p, STAYS / 2);
	noise = draw(p, STAYS / 2);
	before = count_kept(p);
	take_apart(p);
	for (unsigned int q = 0; q < p->nr_set; q++) {
		weigh(p, q, later, noise);
		match(p);
		deal(p, q);
	}
	for (unsigned int a = 0; a < p->nr_set; a++)
		for (unsigned int b = a + 1; b < p->nr_set; b++)
			lace_colouring_swap(p->c, p->set[a], p->set[b]);
	p->work += (size_t)p->nr_set * p->nr_set * p->n;
	after = count_kept(p);
	if (after >= before)
		return after - before;
	put_back(p);
	return 0;
}

/* ---- in and out ---- */

static void peel_free(struct peel *p)
{
	free(p->set);
	free(p->saved);
	free(p->pool);
	free(p->nr_out);
	free(p->nr_in);
	free(p->cost);
	free(p->u);
	free(p->v);
	free(p->row);
	free(p->column);
	free(p->dist);
	free(p->via);
	free(p->done);
	free(p->reached);
	free(p->heap);
}

static bool peel_init(struct peel *p)
{
	size_t n = p->n, k = p->c->nr_colours;

	p->set = calloc(k, sizeof(*p->set));
	p->saved = calloc(n * k, sizeof(*p->saved));
	p->pool = calloc(n * k, sizeof(*p->pool));
	p->nr_out = calloc(n, sizeof(*p->nr_out));
	p->nr_in = calloc(n, sizeof(*p->nr_in));
	p->cost = calloc(n * k, sizeof(*p->cost));
	p->u = calloc(n, sizeof(*p->u));
	p->v = calloc(n, sizeof(*p->v));
	p->row = calloc(n, sizeof(*p->row));
	p->column = calloc(n, sizeof(*p->column));
	p->dist = calloc(n, sizeof(*p->dist));
	p->via = calloc(n, sizeof(*p->via));
	p->done = calloc(n, sizeof(*p->done));
	p->reached = calloc(n, sizeof(*p->reached));
	p->heap = calloc(n * k, sizeof(*p->heap));
	for (unsigned int q = 0; p->set && q < k; q++)
		p->set[q] = q;
	return p->set && p->saved && p->pool && p->nr_out && p->nr_in &&
	       p->cost && p->u && p->v && p->row && p->column && p->dist &&
	       p->via && p->done && p->reached && p->heap;
}

int lace_colouring_peel(struct lace_colouring *c, unsigned int could,
			size_t budget, size_t *work)
{
	struct peel p = { .c = c, .n = c->nr_nodes };
	unsigned int kept = lace_colouring_kept(c), stalled = 0;
	size_t whole = WHOLE * (size_t)c->nr_nodes * c->nr_colours;

	*work = 0;
	/* Two colours are as good as swaps make them. */
	if (c->nr_colours < 3 || kept >= could)
		return 0;
	if (!peel_init(&p)) {
		peel_free(&p);
		return -1;
	}
	if (whole < budget)
		kept += try_set(&p, true);
	while (kept < could && p.work < budget && stalled++ < STALLED) {
		unsigned int gained = try_set(&p, false);

		kept += gained;
		if (gained)
			stalled = 0;
	}
	*work = p.work;
	peel_free(&p);
	return 0;
}
