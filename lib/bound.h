/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* What the files of the bounds share. */
#ifndef LACE_BOUND_H
#define LACE_BOUND_H

#include "planner.h"

/*
 * The bound of a period whose counts are solved exactly, raised by what control
 * without a circuit costs at least.  Rows of counts: TX of node i is i, RX is
 * nr_nodes + i.  var: of each pair, LACE_NONE for those without data.
 */
double lace_bound_control(struct lace_planner *planner,
			  const struct lace_period *period,
			  const unsigned int *var, struct lace_counts *counts);

/* ---- crossing.c ---- */

/* What control costs beside given least circuits of the pairs with data. */
struct lace_crossing {
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
	unsigned int abreast;		/* of them, at most, in one pair */
	bool *busy;			/* circuits of a var count as hops */
	unsigned int *depth, *seen;
	unsigned int *queue, nr_queue, *later, nr_later;
	double *room, *load;		/* of each component */
	double whole;			/* crossings of messages, priced */
	double least;			/* time of the smallest message */
	double at_spare;		/* messages to or from nodes with lanes left */
	double *data;			/* time of each var in the op */
};

/* The prices of lanes left over that are tried; ends with LACE_NONE. */
extern const unsigned int lace_crossing_prices[];

/* Of counts only the problem is read.  False without memory; free it anyway. */
bool lace_crossing_create(struct lace_planner *planner,
			  const struct lace_period *period,
			  const unsigned int *var, struct lace_counts *counts,
			  struct lace_crossing *x);
void lace_crossing_free(struct lace_crossing *x);
/* The least circuits are counts->count, and counts->used of each row. */
void lace_crossing_at(struct lace_crossing *x);
/*
 * The least time of the term if it is at least time and circuits are at least
 * those of lace_crossing_at().  price: of a lane left over; 0: they are free,
 * and the components of the graph of data circuits are looked at one by one.
 */
double lace_crossing_time(struct lace_crossing *x, unsigned int term,
			  double time, unsigned int price);

#endif /* LACE_BOUND_H */
