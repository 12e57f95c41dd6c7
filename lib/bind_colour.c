// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * One configuration on planes: colours the edges of a bipartite multigraph (TX
 * sides, RX sides) with one colour for each lane of a node.  Koenig: as many
 * colours as lanes always do.  Circuits that stay keep their colour; a new one
 * takes a colour free at both ends, or the colours of an alternating path are
 * swapped, the path on which least of what stays moves.
 */
#include "bind.h"

#include <stdlib.h>
#include <string.h>

int lace_colouring_create(struct lace_colouring *c, unsigned int nr_nodes,
			  unsigned int nr_colours)
{
	size_t cells = (size_t)nr_nodes * nr_colours + 1;

	*c = (struct lace_colouring){ .nr_nodes = nr_nodes,
				      .nr_colours = nr_colours };
	c->src = malloc(cells * sizeof(*c->src));
	c->path = malloc((2 * (size_t)nr_nodes + 1) * sizeof(*c->path));
	c->stamp = calloc((size_t)nr_nodes + 1, sizeof(*c->stamp));
	c->left = calloc((size_t)nr_nodes + 1, sizeof(*c->left));
	if (!c->src || !c->path || !c->stamp || !c->left) {
		lace_colouring_free(c);
		return -1;
	}
	return 0;
}

void lace_colouring_free(struct lace_colouring *c)
{
	free(c->src);
	free(c->path);
	free(c->stamp);
	free(c->left);
	*c = (struct lace_colouring){ 0 };
}

void lace_colouring_open(struct lace_colouring *c)
{
	size_t cells = (size_t)c->nr_nodes * c->nr_colours;

	memset(c->src, 0xff, cells * sizeof(*c->src));
	for (unsigned int i = 0; i < c->nr_nodes; i++) {
		for (unsigned int k = 0; k < c->nr_colours; k++) {
			unsigned int dst = *lace_colouring_dst(c, i, k);

			if (dst != LACE_NONE)
				*lace_colouring_src(c, dst, k) = i;
		}
	}
}

unsigned int lace_colouring_kept(const struct lace_colouring *c)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < c->nr_nodes; i++) {
		for (unsigned int k = 0; k < c->nr_colours; k++) {
			unsigned int dst = *lace_colouring_dst(c, i, k);

			if (dst != LACE_NONE)
				nr += lace_colouring_keeps(c, i, dst, k);
		}
	}
	return nr;
}

/*
 * Circuits of before that joined has, too, in place.  joined gets the number of
 * each pair that is yet to be joined.
 */
static void start(struct lace_colouring *c, struct lace_joined *joined,
		  size_t nr)
{
	size_t first = 0, end = 0;

	for (unsigned int i = 0; i < c->nr_nodes; i++, first = end) {
		for (; end < nr && joined[end].src == i; end++)
			c->left[joined[end].dst] = joined[end].nr;
		for (unsigned int k = 0; k < c->nr_colours; k++) {
			unsigned int dst =
				c->before[(size_t)i * c->nr_colours + k];

			if (dst != LACE_NONE && c->left[dst])
				c->left[dst]--;
			else
				dst = LACE_NONE;
			*lace_colouring_dst(c, i, k) = dst;
		}
		for (size_t at = first; at < end; at++) {
			joined[at].nr = c->left[joined[at].dst];
			c->left[joined[at].dst] = 0;
		}
	}
	lace_colouring_open(c);
}

/*
 * The path that starts with the circuit of colour a into dst and alternates
 * between a and b: what it keeps more now than if the colours were swapped.
 */
static int price(const struct lace_colouring *c, unsigned int dst,
		 unsigned int a, unsigned int b)
{
	int kept = 0;

	for (;;) {
		unsigned int src = *lace_colouring_src(c, dst, a);

		if (src == LACE_NONE)
			return kept;
		kept += lace_colouring_keeps(c, src, dst, a) -
			lace_colouring_keeps(c, src, dst, b);
		dst = *lace_colouring_dst(c, src, b);
		if (dst == LACE_NONE)
			return kept;
		kept += lace_colouring_keeps(c, src, dst, b) -
			lace_colouring_keeps(c, src, dst, a);
	}
}

/* Frees colour a at dst; b was free there. */
static void swap_path(struct lace_colouring *c, unsigned int dst,
		      unsigned int a, unsigned int b)
{
	unsigned int src = *lace_colouring_src(c, dst, a), next;

	*lace_colouring_src(c, dst, a) = LACE_NONE;
	for (;;) {
		*lace_colouring_src(c, dst, b) = src;
		if (src == LACE_NONE)
			return;
		next = *lace_colouring_dst(c, src, b);
		*lace_colouring_dst(c, src, b) = dst;
		*lace_colouring_dst(c, src, a) = next;
		if (next == LACE_NONE)
			return;
		/* next hears src by a now, and by b whom it heard by a. */
		dst = next;
		next = *lace_colouring_src(c, dst, a);
		*lace_colouring_src(c, dst, a) = src;
		src = next;
	}
}

static unsigned int free_at_both(const struct lace_colouring *c,
				 unsigned int src, unsigned int dst)
{
	unsigned int best = LACE_NONE;

	for (unsigned int a = 0; a < c->nr_colours; a++) {
		if (*lace_colouring_dst(c, src, a) != LACE_NONE ||
		    *lace_colouring_src(c, dst, a) != LACE_NONE)
			continue;
		if (best == LACE_NONE ||
		    lace_colouring_keeps(c, src, dst, a) >
			    lace_colouring_keeps(c, src, dst, best))
			best = a;
	}
	return best;
}

static unsigned int pick_colour(struct lace_colouring *c, unsigned int src,
				unsigned int dst)
{
	unsigned int best_a = free_at_both(c, src, dst), best_b = 0;
	int best = INT32_MAX;

	if (best_a != LACE_NONE)
		return best_a;
	for (unsigned int a = 0; a < c->nr_colours; a++) {
		if (*lace_colouring_dst(c, src, a) != LACE_NONE)
			continue;
		for (unsigned int b = 0; b < c->nr_colours; b++) {
			int cost;

			if (*lace_colouring_src(c, dst, b) != LACE_NONE)
				continue;
			cost = price(c, dst, a, b) -
			       lace_colouring_keeps(c, src, dst, a);
			if (cost < best) {
				best = cost;
				best_a = a;
				best_b = b;
			}
		}
	}
	swap_path(c, dst, best_a, best_b);
	return best_a;
}

void lace_colouring_make(struct lace_colouring *c, struct lace_joined *joined,
			 size_t nr)
{
	start(c, joined, nr);
	for (size_t at = 0; at < nr; at++) {
		unsigned int src = joined[at].src, dst = joined[at].dst;

		for (; joined[at].nr; joined[at].nr--) {
			unsigned int a = pick_colour(c, src, dst);

			*lace_colouring_dst(c, src, a) = dst;
			*lace_colouring_src(c, dst, a) = src;
		}
	}
}
