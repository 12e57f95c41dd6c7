// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Keeps circuits in place, two colours at a time.  The circuits of two colours
 * make paths and cycles, and each of these may have its colours swapped by
 * itself: done wherever more circuits are then where they were before, over all
 * pairs of colours, until nothing is gained.
 */
#include "bind.h"

#include <string.h>

#define PASSES 64

/* path[] has its TX nodes from the front and its RX nodes from the back. */
struct component {
	unsigned int nr_tx, nr_rx;
	int gain;	/* circuits kept more, if swapped */
};

/* Of the circuits that src has of both colours. */
static int gain_at(const struct lace_colouring *c, unsigned int src,
		   unsigned int a, unsigned int b)
{
	unsigned int to_a = *lace_colouring_dst(c, src, a);
	unsigned int to_b = *lace_colouring_dst(c, src, b);
	int gain = 0;

	if (to_a != LACE_NONE)
		gain += lace_colouring_keeps(c, src, to_a, b) -
			lace_colouring_keeps(c, src, to_a, a);
	if (to_b != LACE_NONE)
		gain += lace_colouring_keeps(c, src, to_b, a) -
			lace_colouring_keeps(c, src, to_b, b);
	return gain;
}

static void visit_tx(struct lace_colouring *c, struct component *m,
		     unsigned int src, unsigned int a, unsigned int b)
{
	c->stamp[src] = c->now;
	c->path[m->nr_tx++] = src;
	m->gain += gain_at(c, src, a, b);
}

/* Goes on from src by its circuit of colour a, back by b, and so on. */
static void follow(struct lace_colouring *c, struct component *m,
		   unsigned int src, unsigned int a, unsigned int b)
{
	unsigned int first = src, dst;

	for (;;) {
		dst = *lace_colouring_dst(c, src, a);
		if (dst == LACE_NONE)
			return;
		c->path[2 * c->nr_nodes - ++m->nr_rx] = dst;
		src = *lace_colouring_src(c, dst, b);
		if (src == LACE_NONE || src == first)
			return;
		visit_tx(c, m, src, a, b);
	}
}

static void swap(unsigned int *x, unsigned int *y)
{
	unsigned int z = *x;

	*x = *y;
	*y = z;
}

static void swap_component(struct lace_colouring *c, const struct component *m,
			   unsigned int a, unsigned int b)
{
	for (unsigned int i = 0; i < m->nr_tx; i++)
		swap(lace_colouring_dst(c, c->path[i], a),
		     lace_colouring_dst(c, c->path[i], b));
	for (unsigned int i = 1; i <= m->nr_rx; i++) {
		unsigned int dst = c->path[2 * c->nr_nodes - i];

		swap(lace_colouring_src(c, dst, a), lace_colouring_src(c, dst, b));
	}
}

/* True if what was followed from src came back to it, by b. */
static bool is_cycle(const struct lace_colouring *c, const struct component *m,
		     unsigned int src, unsigned int b)
{
	unsigned int last;

	if (!m->nr_rx)
		return false;
	last = c->path[2 * c->nr_nodes - m->nr_rx];
	return *lace_colouring_src(c, last, b) == src;
}

unsigned int lace_colouring_swap(struct lace_colouring *c, unsigned int a,
				 unsigned int b)
{
	unsigned int gained = 0;

	if (!++c->now) {
		memset(c->stamp, 0, c->nr_nodes * sizeof(*c->stamp));
		c->now = 1;
	}
	for (unsigned int i = 0; i < c->nr_nodes; i++) {
		struct component m = { 0 };

		if (c->stamp[i] == c->now)
			continue;
		visit_tx(c, &m, i, a, b);
		follow(c, &m, i, a, b);
		if (!is_cycle(c, &m, i, b))
			follow(c, &m, i, b, a);
		if (m.gain <= 0)
			continue;
		swap_component(c, &m, a, b);
		gained += m.gain;
	}
	return gained;
}

void lace_colouring_swap_all(struct lace_colouring *c)
{
	for (unsigned int pass = 0; pass < PASSES; pass++) {
		unsigned int gained = 0;

		for (unsigned int a = 0; a < c->nr_colours; a++)
			for (unsigned int b = a + 1; b < c->nr_colours; b++)
				gained += lace_colouring_swap(c, a, b);
		if (!gained)
			return;
	}
}
