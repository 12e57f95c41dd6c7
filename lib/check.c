// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Holds a plan against the cluster and the schedule it says it was made from.
 * Nothing that the plan states is believed: every number is worked out anew.
 */
#include "file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-6

static bool differ(double a, double b)
{
	return !(fabs(a - b) <= TOLERANCE * fmax(fabs(a), fabs(b)));
}

static int check_number(const char *what, double stated, double actual,
			struct lace_error *err)
{
	if (!differ(stated, actual))
		return 0;
	return lace_fail(err, LACE_ERR_ANSWER, "%s is %.9g, should be %.9g",
			 what, stated, actual);
}

static int check_numbers(const struct lace_plan *stated,
			 const struct lace_plan *actual, struct lace_error *err)
{
	char what[64];
	unsigned int i;

	for (i = 0; i < stated->nr_segments; i++) {
		snprintf(what, sizeof(what), "segments[%u].transmit_s", i);
		if (check_number(what, stated->segments[i].transmit_s,
				 actual->segments[i].transmit_s, err))
			return -1;
	}
	if (check_number("transmit_s", stated->transmit_s, actual->transmit_s,
			 err) ||
	    check_number("reconfig_s", stated->reconfig_s, actual->reconfig_s,
			 err) ||
	    check_number("cct_s", stated->cct_s, actual->cct_s, err))
		return -1;
	if (!(stated->bound_s <= actual->cct_s * (1 + TOLERANCE)))
		return lace_fail(err, LACE_ERR_ANSWER,
				 "bound_s is %.9g, more than cct_s, %.9g",
				 stated->bound_s, actual->cct_s);
	return 0;
}

/* ---- duplex ---- */

static int compare_circuits(const void *a, const void *b)
{
	const struct lace_circuit *x = a, *y = b;

	if (x->tx_node != y->tx_node)
		return x->tx_node < y->tx_node ? -1 : 1;
	return (x->tx_port > y->tx_port) - (x->tx_port < y->tx_port);
}

static int check_segment_duplex(const struct lace_segment *segment,
				unsigned int index, struct lace_error *err)
{
	const struct lace_circuit *circuit, *back;
	struct lace_circuit key;
	unsigned int i;

	for (i = 0; i < segment->nr_circuits; i++) {
		circuit = &segment->circuits[i];
		key.tx_node = circuit->rx_node;
		key.tx_port = circuit->rx_port;
		back = bsearch(&key, segment->circuits, segment->nr_circuits,
			       sizeof(key), compare_circuits);
		if (!back || back->rx_node != circuit->tx_node ||
		    back->rx_port != circuit->tx_port)
			return lace_fail(err, LACE_ERR_ANSWER,
					 "segment %u: circuit [%u, %u, %u, %u] has no way back, and the plan is symmetric",
					 index, circuit->tx_node,
					 circuit->tx_port, circuit->rx_node,
					 circuit->rx_port);
	}
	return 0;
}

/* The bound of a symmetric plan is one over duplex plans. */
static int check_duplex(const struct lace_plan *plan, struct lace_error *err)
{
	unsigned int i;

	if (strncmp(plan->scheduler, "symmetric", strlen("symmetric")))
		return 0;
	for (i = 0; i < plan->nr_segments; i++)
		if (check_segment_duplex(&plan->segments[i], i, err))
			return -1;
	return 0;
}

/* ---- all of it ---- */

static int evaluate_copy(const struct lace_cluster *cluster,
			 const struct lace_schedule *schedule,
			 struct lace_plan *copy, struct lace_error *err)
{
	struct lace_demand demand;
	int ret;

	ret = lace_profile(schedule, cluster->nr_nodes, &demand, err);
	if (ret)
		return ret;
	ret = lace_plan_evaluate(cluster, &demand, copy, err);
	lace_demand_free(&demand);
	return ret;
}

/**
 * lace_plan_check() - recompute every number of a plan
 * @cluster: the plan's
 * @schedule: the plan's
 * @plan: circuits sorted, as lace_plan_read() leaves them
 * @err: filled on failure; LACE_ERR_ANSWER with the first thing that is wrong
 *
 * Return: 0 if the plan is sound and its numbers right, or a negative value.
 */
int lace_plan_check(const struct lace_cluster *cluster,
		    const struct lace_schedule *schedule,
		    const struct lace_plan *plan, struct lace_error *err)
{
	size_t size = plan->nr_segments * sizeof(*plan->segments);
	struct lace_plan copy = *plan;
	int ret;

	if (lace_file_check_hash("cluster", plan->cluster_sha256,
				 cluster->sha256, err) ||
	    lace_file_check_hash("schedule", plan->schedule_sha256,
				 schedule->sha256, err))
		return -1;
	/* Shares circuits and routes with the plan; only times are written. */
	copy.segments = malloc(size + 1);
	if (!copy.segments)
		return lace_no_memory(err);
	if (size)
		memcpy(copy.segments, plan->segments, size);
	ret = evaluate_copy(cluster, schedule, &copy, err);
	if (!ret)
		ret = check_duplex(plan, err);
	if (!ret)
		ret = check_numbers(plan, &copy, err);
	free(copy.segments);
	return ret;
}
