/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* What the files of stage 3 share. */
#ifndef LACE_REALIZE_H
#define LACE_REALIZE_H

#include "planner.h"

/* Bits on a pair in one op of a term, own and relayed. */
struct lace_flow {
	unsigned int pair;
	double bits;
};

/* Flows of each term of a period: flows[first[t]] up to first[t + 1]. */
struct lace_flows {
	size_t *first;
	size_t nr, max;
	struct lace_flow *flows;
};

/*
 * Circuits for the flows where pairs have a choice of links; target gets the
 * times they are good for.  False if some flow could have no circuit.
 */
bool lace_realize_greedy(struct lace_planner *planner,
			 const struct lace_period *period,
			 const struct lace_flows *flows, double *target,
			 uint16_t *count);

/* Moves single circuits while that makes the period faster. */
void lace_realize_polish(struct lace_router *router,
			 const struct lace_period *period,
			 struct lace_config *config);

#endif /* LACE_REALIZE_H */
