/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* What the schedulers share with the table of them. */
#ifndef LACE_COMPILE_H
#define LACE_COMPILE_H

#include "planner.h"

/* Binds and routes a partition: the segments of plan. */
int lace_compile_assemble(struct lace_planner *planner,
			  const struct lace_partition *partition,
			  struct lace_plan *plan, struct lace_error *err);
/* All of stages 2 to 4; cct_s and bound_s are filled in. */
int lace_compile_split(const struct lace_cluster *cluster,
		       const struct lace_demand *demand, bool duplex,
		       enum lace_split split, struct lace_plan *plan,
		       struct lace_error *err);

/* Seconds that no plan of lanes, or of duplex pairs, beats. */
int lace_compile_bound(const struct lace_cluster *cluster,
		       const struct lace_demand *demand, bool duplex,
		       double *bound, struct lace_error *err);

/* One configuration for all ops; LACE_ERR_ANSWER if demand has no path. */
int lace_compile_fixed(struct lace_planner *planner, const uint16_t *count,
		       struct lace_plan *plan, struct lace_error *err);

/* ---- symmetric.c ---- */

int lace_compile_symmetric(const struct lace_cluster *cluster,
			   const struct lace_demand *demand,
			   struct lace_plan *plan, struct lace_error *err);
int lace_compile_symmetric_oneshot(const struct lace_cluster *cluster,
				   const struct lace_demand *demand,
				   struct lace_plan *plan,
				   struct lace_error *err);
int lace_compile_symmetric_perop(const struct lace_cluster *cluster,
				 const struct lace_demand *demand,
				 struct lace_plan *plan,
				 struct lace_error *err);

/* ---- schedulers to compare with ---- */

int lace_compile_topoopt(const struct lace_cluster *cluster,
			 const struct lace_demand *demand,
			 struct lace_plan *plan, struct lace_error *err);
int lace_compile_uniform(const struct lace_cluster *cluster,
			 const struct lace_demand *demand,
			 struct lace_plan *plan, struct lace_error *err);
/* No plan, only a time: it has no segments. */
int lace_compile_packet(const struct lace_cluster *cluster,
			const struct lace_demand *demand,
			struct lace_plan *plan, struct lace_error *err);

#endif /* LACE_COMPILE_H */
