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

#endif /* LACE_BOUND_H */
