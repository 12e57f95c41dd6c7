// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * A regular graph that knows nothing of the demand: lane after lane, each node
 * goes on to the next peer round the circle of nodes, so that all pairs differ
 * by one circuit at most.  One configuration, never changed.
 */
#include "compile.h"

#include <stdlib.h>

static unsigned int first_link_left(const struct lace_planner *planner,
				    unsigned int pair, const unsigned int *left)
{
	const struct lace_between *p = &planner->pairs[pair];

	for (unsigned int l = p->first_link; l < p->first_link + p->nr_links;
	     l++)
		if (left[planner->links[l].pool[0]] &&
		    left[planner->links[l].pool[1]])
			return l;
	return LACE_NONE;
}

static void lay_round(struct lace_planner *planner, unsigned int offset,
		      unsigned int *left, uint16_t *count)
{
	unsigned int n = planner->nr_nodes;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int e = lace_planner_add_pair(planner, i,
						       (i + offset) % n);
		unsigned int l = e == LACE_NONE ? LACE_NONE :
				 first_link_left(planner, e, left);

		if (l == LACE_NONE)
			continue;
		count[l]++;
		left[planner->links[l].pool[0]]--;
		left[planner->links[l].pool[1]]--;
	}
}

int lace_compile_uniform(const struct lace_cluster *cluster,
			 const struct lace_demand *demand,
			 struct lace_plan *plan, struct lace_error *err)
{
	struct lace_planner planner;
	unsigned int lanes = 0, n = cluster->nr_nodes, *left;
	uint16_t *count;
	int ret;

	if (lace_planner_create(cluster, demand, false, &planner, err))
		return -1;
	left = lace_planner_alloc(&planner, planner.nr_pools, sizeof(*left));
	count = lace_planner_alloc(&planner, planner.max_links, sizeof(*count));
	if (planner.oom) {
		ret = lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
		goto out;
	}
	for (unsigned int k = 0; k < planner.nr_pools; k++)
		left[k] = planner.pools[k].size;
	for (unsigned int i = 0; i < n; i++)
		lanes = planner.tx_lanes[i] > lanes ? planner.tx_lanes[i] :
						      lanes;
	for (unsigned int p = 0; n > 1 && p < lanes; p++)
		lay_round(&planner, 1 + p % (n - 1), left, count);
	ret = lace_compile_fixed(&planner, count, plan, err);
	if (!ret)
		plan->bound_s = lace_segment_bound(&planner, NULL);
out:
	free(left);
	free(count);
	lace_planner_free(&planner);
	if (ret)
		lace_plan_free(plan);
	return ret;
}
