/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* What the files of planning with lanes that stay share.  Not installed. */
#ifndef LACE_KEEP_H
#define LACE_KEEP_H

#include "compile.h"

/* ---- keep_search.c: which configurations, one after the other ---- */

/* A partition for transitions that keep lanes, out of periods that begin and
 * end where the given partitions have a boundary, or anywhere if ops are few.
 * False if there is none, or no memory.
 */
bool lace_keep_search(struct lace_planner *planner,
		      const struct lace_partition *given, unsigned int nr_given,
		      struct lace_partition *found);

/* ---- keep_fill.c: lanes that idle ---- */

/* Gives lanes that idle in a configuration to circuits that the first op of the
 * next will use; true if there are any.
 */
bool lace_keep_fill(struct lace_planner *planner,
		    struct lace_partition *partition);

#endif /* LACE_KEEP_H */
