// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Stages 2 to 4 under the name of a scheduler: the table of schedulers, and
 * the way from cluster and demand to a plan with its bound.
 */
#include "planner.h"
#include "compile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one model, one split: a plan ---- */

static void free_bound(struct lace_bound_run *bound, unsigned int nr)
{
	for (unsigned int i = 0; bound && i < nr; i++)
		free(bound[i].circuits);
	free(bound);
}

int lace_compile_assemble(struct lace_planner *planner,
			  const struct lace_partition *partition,
			  struct lace_plan *plan, struct lace_error *err)
{
	struct lace_bound_run *bound = calloc(partition->nr + 1,
					      sizeof(*bound));
	struct lace_router router;
	int ret = 0;

	if (!bound || lace_router_create(planner, &router)) {
		free(bound);
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	}
	ret = lace_bind(planner, partition, bound, err);
	for (unsigned int i = 0; !ret && i < partition->nr; i++)
		ret = lace_route_run(planner, &router, &partition->runs[i],
				     &bound[i], plan, err);
	lace_router_free(&router);
	free_bound(bound, partition->nr);
	return ret;
}

int lace_compile_split(const struct lace_cluster *cluster,
		       const struct lace_demand *demand, bool duplex,
		       enum lace_split split, struct lace_plan *plan,
		       struct lace_error *err)
{
	struct lace_partition partition;
	struct lace_planner planner;
	int ret;

	if (lace_planner_create(cluster, demand, duplex, &planner, err))
		return -1;
	ret = lace_segment(&planner, split, &partition, err);
	if (!ret) {
		ret = lace_compile_assemble(&planner, &partition, plan, err);
		plan->bound_s = partition.bound;
		plan->cct_s = partition.cost;
	}
	lace_partition_free(&partition);
	lace_planner_free(&planner);
	if (ret)
		lace_plan_free(plan);
	return ret;
}

/* One configuration for all ops, which somebody else has chosen. */
int lace_compile_fixed(struct lace_planner *planner, const uint16_t *count,
		       struct lace_plan *plan, struct lace_error *err)
{
	struct lace_run run = { .last_op = planner->demand->nr_ops - 1,
				.config.count = (uint16_t *)count };
	struct lace_partition partition = { .nr = 1, .runs = &run };
	struct lace_router router;
	unsigned int kind = 0;

	if (!planner->demand->nr_ops)
		return 0;
	if (lace_router_create(planner, &router))
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	lace_router_set(&router, count);
	while (kind < planner->nr_kinds &&
	       lace_router_route(&router, kind) < INFINITY)
		kind++;
	lace_router_free(&router);
	if (kind < planner->nr_kinds)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "op \"%s\" has demand that this topology does not reach",
				 planner->demand->ops[planner->kinds[kind]
							      .first_op].name);
	return lace_compile_assemble(planner, &partition, plan, err);
}

int lace_compile_bound(const struct lace_cluster *cluster,
		       const struct lace_demand *demand, bool duplex,
		       double *bound, struct lace_error *err)
{
	struct lace_planner planner;
	int ret = 0;

	if (lace_planner_create(cluster, demand, duplex, &planner, err))
		return -1;
	*bound = lace_segment_bound(&planner, NULL);
	if (planner.oom)
		ret = lace_no_memory(err);
	lace_planner_free(&planner);
	return ret;
}

/* ---- schedulers ---- */

/* A duplex plan is a lane plan: the better of the two. */
static int lanes_or_duplex(const struct lace_cluster *cluster,
			   const struct lace_demand *demand,
			   enum lace_split split, struct lace_plan *plan,
			   struct lace_error *err)
{
	struct lace_plan duplex = { 0 };
	struct lace_error ignored;
	int ret = lace_compile_split(cluster, demand, false, split, plan, err);
	double bound = plan->bound_s;

	if (!ret && plan->cct_s <= bound * (1 + 1e-12))
		return 0;
	if (lace_compile_split(cluster, demand, true, split, &duplex, &ignored))
		return ret;
	if (!ret && duplex.cct_s >= plan->cct_s) {
		lace_plan_free(&duplex);
		return 0;
	}
	if (ret && lace_compile_bound(cluster, demand, false, &bound, err)) {
		lace_plan_free(&duplex);
		return -1;
	}
	lace_plan_free(plan);
	*plan = duplex;
	plan->bound_s = bound;
	return 0;
}

static int compile_lace(const struct lace_cluster *cluster,
			const struct lace_demand *demand,
			struct lace_plan *plan, struct lace_error *err)
{
	return lanes_or_duplex(cluster, demand, LACE_SPLIT_BEST, plan, err);
}

static int compile_lace_oneshot(const struct lace_cluster *cluster,
				const struct lace_demand *demand,
				struct lace_plan *plan, struct lace_error *err)
{
	return lanes_or_duplex(cluster, demand, LACE_SPLIT_ONESHOT, plan, err);
}

const struct lace_scheduler lace_schedulers[] = {
	{ "lace", "one-way circuits, best segmentation", compile_lace },
	{ "lace-oneshot", "one-way circuits, one configuration",
	  compile_lace_oneshot },
	{ "symmetric", "duplex circuits, best segmentation",
	  lace_compile_symmetric },
	{ "symmetric-oneshot", "duplex circuits, one configuration",
	  lace_compile_symmetric_oneshot },
	{ "symmetric-perop", "duplex circuits, a configuration for every op",
	  lace_compile_symmetric_perop },
	{ "topoopt", "duplex circuits, one configuration, greedy by halving",
	  lace_compile_topoopt },
	{ "uniform", "lanes spread evenly over all nodes, whatever the demand",
	  lace_compile_uniform },
	{ "packet", "an ideal packet switch: no circuits, the fluid bound",
	  lace_compile_packet },
	{ NULL, NULL, NULL },
};

const struct lace_scheduler *lace_scheduler_find(const char *name)
{
	for (const struct lace_scheduler *s = lace_schedulers; s->name; s++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

int lace_compile(const struct lace_cluster *cluster,
		 const struct lace_demand *demand, const char *scheduler,
		 struct lace_plan *plan, struct lace_error *err)
{
	const struct lace_scheduler *s = lace_scheduler_find(scheduler);
	double bound;

	*plan = (struct lace_plan){ 0 };
	if (!s)
		return lace_fail(err, LACE_ERR_INPUT,
				 "there is no scheduler \"%s\"", scheduler);
	if (s->compile(cluster, demand, plan, err))
		return -1;
	plan->scheduler = strdup(s->name);
	if (!plan->scheduler) {
		lace_plan_free(plan);
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	}
	bound = plan->bound_s;
	if (s->compile == lace_compile_packet)
		return 0;
	if (lace_plan_evaluate(cluster, demand, plan, err)) {
		/* The input is not to blame for a plan of ours that is none. */
		err->kind = LACE_ERR_SYSTEM;
		lace_plan_free(plan);
		return -1;
	}
	/* Equal up to rounding is equal. */
	plan->bound_s = bound < plan->cct_s ? bound : plan->cct_s;
	return 0;
}
