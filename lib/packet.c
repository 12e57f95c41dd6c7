// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The ideal packet switch: no circuits, no waiting, each op as fast as the
 * busiest node can send or receive.  What circuits are measured against.
 */
#include "compile.h"

#include <math.h>

int lace_compile_packet(const struct lace_cluster *cluster,
			const struct lace_demand *demand,
			struct lace_plan *plan, struct lace_error *err)
{
	struct lace_planner planner;
	int ret = 0;

	if (lace_planner_create(cluster, demand, false, &planner, err))
		return -1;
	for (unsigned int o = 0; !ret && o < demand->nr_ops; o++) {
		double time = lace_bound_fluid(&planner, planner.op_kind[o]);

		if (time == INFINITY)
			ret = lace_fail(err, LACE_ERR_ANSWER,
					"op \"%s\" has demand of a node without lanes",
					demand->ops[o].name);
		plan->transmit_s += (double)demand->ops[o].repeat * time;
	}
	plan->cct_s = plan->bound_s = plan->transmit_s;
	lace_planner_free(&planner);
	return ret;
}
