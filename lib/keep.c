// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Plans for transitions that stop only the lanes that change: of the plan that
 * the scheduler makes for transitions that stop everything, of plans for cheaper
 * ones, and of what keep_search.c and keep_fill.c make of them, the one that
 * takes the least time as lace_plan_evaluate() has it.  The first of them is
 * always there, so the plan is never worse for being made this way.
 */
#include "keep.h"

#include <stdlib.h>
#include <string.h>

/* Charges for a transition that are tried, as parts of the whole. */
static const double scales[] = { 1, 0.5, 0.2, 0.05, 0 };

#define NR_SCALES (sizeof(scales) / sizeof(*scales))

struct keeper {
	const struct lace_cluster *cluster;
	const struct lace_demand *demand;
	struct lace_plan *best;
	struct lace_error *err;
};

/* Takes the partition if it is better than what there is. */
static int offer(struct keeper *k, struct lace_planner *planner,
		 const struct lace_partition *partition)
{
	struct lace_plan plan = { .transition = LACE_KEEP_LANES };
	int ret = lace_compile_assemble(planner, partition, &plan, k->err);

	if (!ret)
		ret = lace_plan_evaluate(k->cluster, k->demand, &plan, k->err);
	if (ret) {
		/* The input is not to blame for a plan of ours that is none. */
		lace_plan_free(&plan);
		k->err->kind = LACE_ERR_SYSTEM;
		return -1;
	}
	if (plan.cct_s < k->best->cct_s * (1 - 1e-12)) {
		plan.scheduler = k->best->scheduler;
		plan.bound_s = k->best->bound_s;
		k->best->scheduler = NULL;
		lace_plan_free(k->best);
		*k->best = plan;
	} else {
		lace_plan_free(&plan);
	}
	return 0;
}

static int offer_filled(struct keeper *k, struct lace_planner *planner,
			struct lace_partition *partition)
{
	if (offer(k, planner, partition))
		return -1;
	return lace_keep_fill(planner, partition) ?
		       offer(k, planner, partition) : 0;
}

static bool same_partition(const struct lace_planner *planner,
			   const struct lace_partition *a,
			   const struct lace_partition *b)
{
	size_t size = planner->max_links * sizeof(uint16_t);

	if (a->nr != b->nr)
		return false;
	for (unsigned int i = 0; i < a->nr; i++)
		if (a->runs[i].first_op != b->runs[i].first_op ||
		    memcmp(a->runs[i].config.count, b->runs[i].config.count,
			   size))
			return false;
	return true;
}

/* Where nothing could be better, nothing is looked for. */
static bool is_done(const struct keeper *k)
{
	return k->best->cct_s <= k->best->bound_s * (1 + 1e-12);
}

static int improve(struct keeper *k, bool duplex)
{
	struct lace_partition given[NR_SCALES] = { 0 }, found = { 0 };
	struct lace_cluster scaled = *k->cluster;
	struct lace_planner planner;
	unsigned int nr = 0;
	int ret = 0;

	if (is_done(k))
		return 0;
	if (lace_planner_create(&scaled, k->demand, duplex, &planner, k->err))
		return -1;
	for (unsigned int i = 0; !ret && i < NR_SCALES; i++) {
		scaled.reconfig_s = scales[i] * k->cluster->reconfig_s;
		ret = lace_segment(&planner, LACE_SPLIT_BEST, &given[nr],
				   k->err);
		/* Lanes or duplex pairs alone may not do. */
		if (ret && k->err->kind == LACE_ERR_ANSWER) {
			ret = 0;
			break;
		}
		if (!ret && nr && same_partition(&planner, &given[nr],
						 &given[nr - 1]))
			lace_partition_free(&given[nr]);
		else
			nr += !ret;
	}
	scaled.reconfig_s = k->cluster->reconfig_s;
	if (!ret && nr && lace_keep_search(&planner, given, nr, &found))
		ret = offer_filled(k, &planner, &found);
	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = offer_filled(k, &planner, &given[i]);
	for (unsigned int i = 0; i < nr; i++)
		lace_partition_free(&given[i]);
	lace_partition_free(&found);
	if (!ret && planner.oom)
		ret = lace_no_memory(k->err);
	lace_planner_free(&planner);
	return ret;
}

/* Transitions may cost nothing: the bound without a charge for them. */
static int find_bound(struct keeper *k, bool duplex)
{
	struct lace_cluster free_of_charge = *k->cluster;

	free_of_charge.reconfig_s = 0;
	if (lace_compile_bound(&free_of_charge, k->demand, duplex,
			       &k->best->bound_s, k->err))
		return -1;
	if (k->best->bound_s > k->best->cct_s)
		k->best->bound_s = k->best->cct_s;
	return 0;
}

static int keep(struct keeper *k)
{
	const char *scheduler = k->best->scheduler;
	bool duplex = !strncmp(scheduler, "symmetric", strlen("symmetric"));

	if (find_bound(k, duplex))
		return -1;
	if (strcmp(scheduler, "lace") && strcmp(scheduler, "symmetric"))
		return 0;
	if (improve(k, duplex))
		return -1;
	return duplex ? 0 : improve(k, true);
}

/**
 * lace_compile_keep() - a plan for transitions that stop only what changes
 * @cluster: what it is for
 * @demand: what it carries
 * @scheduler: a name of lace_schedulers; those other than lace and symmetric
 *	make the plan they always make, and it is costed anew
 * @plan: filled, but for the hashes; empty on failure
 * @err: filled on failure; LACE_ERR_ANSWER if there is no plan
 *
 * Return: 0, or a negative value.
 */
int lace_compile_keep(const struct lace_cluster *cluster,
		      const struct lace_demand *demand, const char *scheduler,
		      struct lace_plan *plan, struct lace_error *err)
{
	struct keeper k = { .cluster = cluster, .demand = demand, .best = plan,
			    .err = err };
	int ret = lace_compile(cluster, demand, scheduler, plan, err);

	if (ret)
		return ret;
	plan->transition = LACE_KEEP_LANES;
	if (!plan->nr_segments)
		return 0;
	ret = lace_plan_evaluate(cluster, demand, plan, err);
	if (!ret)
		ret = keep(&k);
	if (ret)
		lace_plan_free(plan);
	else if (plan->bound_s > plan->cct_s)
		plan->bound_s = plan->cct_s;
	return ret;
}
