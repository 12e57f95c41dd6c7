/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Binding of planes, for the Lane Binder: one OCS for each lane of a node is a
 * colour for each circuit, no two circuits of a colour at a node.
 */
#ifndef LACE_BIND_H
#define LACE_BIND_H

#include "planner.h"

/* Circuits between an ordered pair of nodes. */
struct lace_joined {
	unsigned int src, dst, nr;
};

/*
 * One configuration between two others.  Cells are node x nr_colours + colour:
 * the node at the other end of that lane's circuit, LACE_NONE if it is dark.  A
 * circuit is kept once for each neighbour that has it in the same cell.
 */
struct lace_colouring {
	unsigned int nr_nodes, nr_colours;
	unsigned int *dst;		/* of a TX lane: the node it sends to */
	unsigned int *src;		/* of an RX lane: the node it hears */
	const unsigned int *before;	/* dst of the configuration before */
	const unsigned int *after;	/* and of the one after; dark if none */
	uint64_t state;			/* of what is drawn, from 0 on */
	/* scratch */
	unsigned int *path;		/* nodes of a component, TX then RX */
	unsigned int *stamp, now;	/* TX nodes seen */
	unsigned int *left;		/* of each node, zero */
};

static inline unsigned int *lace_colouring_dst(const struct lace_colouring *c,
					       unsigned int src,
					       unsigned int colour)
{
	return &c->dst[(size_t)src * c->nr_colours + colour];
}

static inline unsigned int *lace_colouring_src(const struct lace_colouring *c,
					       unsigned int dst,
					       unsigned int colour)
{
	return &c->src[(size_t)dst * c->nr_colours + colour];
}

/* How many neighbours have the circuit in that cell. */
static inline int lace_colouring_keeps(const struct lace_colouring *c,
				       unsigned int src, unsigned int dst,
				       unsigned int colour)
{
	size_t at = (size_t)src * c->nr_colours + colour;

	return (c->before[at] == dst) + (c->after[at] == dst);
}

/* ---- bind_links.c: which of several links ---- */

/*
 * Moves circuits of count between links of the same pair and rate so that more
 * are where before has them; lanes only, duplex links stay.  Negative without
 * memory.
 */
int lace_bind_links(struct lace_planner *planner, const uint16_t *before,
		    uint16_t *count);

/* ---- bind_planes.c: all runs of a plan ---- */

/* As lace_bind(), where planner->merged. */
int lace_bind_planes(struct lace_planner *planner,
		     const struct lace_partition *partition,
		     struct lace_bound_run *bound, struct lace_error *err);

/* ---- bind_colour.c: one configuration ---- */

/*
 * Room for src and scratch; dst, before and after are the caller's.  Negative
 * without memory, with nothing to free.
 */
int lace_colouring_create(struct lace_colouring *c, unsigned int nr_nodes,
			  unsigned int nr_colours);
void lace_colouring_free(struct lace_colouring *c);
/*
 * Fills dst with the circuits of joined, near to those of before.  joined is
 * sorted by src, each pair once, no node with more circuits a side than colours;
 * its numbers are used up.
 */
void lace_colouring_make(struct lace_colouring *c, struct lace_joined *joined,
			 size_t nr);
/* Finds src, after dst has been pointed elsewhere. */
void lace_colouring_open(struct lace_colouring *c);
/* Of all circuits. */
unsigned int lace_colouring_kept(const struct lace_colouring *c);

/* ---- bind_swap.c: two colours at a time ---- */

/* Same pairs, other colours, until no swap of two colours keeps more. */
void lace_colouring_swap_all(struct lace_colouring *c);
/* The best that can be done with the circuits of two colours; what is gained. */
unsigned int lace_colouring_swap(struct lace_colouring *c, unsigned int a,
				 unsigned int b);

/* ---- bind_peel.c: several colours at a time ---- */

/*
 * Same pairs, other colours, while more than what is kept could be and not more
 * than budget circuits have been looked at; *work gets how many were.  Negative
 * without memory.
 */
int lace_colouring_peel(struct lace_colouring *c, unsigned int could,
			size_t budget, size_t *work);

#endif /* LACE_BIND_H */
