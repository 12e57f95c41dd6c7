// SPDX-License-Identifier: GPL-2.0
/*
 * From demand to what is sent: flows, and whole numbers of bytes for them.
 * Made before the nodes are forked, so all of them go by the same numbers.
 */
#include <math.h>
#include <stdlib.h>

#include "replay.h"

/* The index of (src, dst) among nodes x nodes. */
static size_t pair_index(const struct lace_demand *demand,
			 const struct lace_pair *pair)
{
	return (size_t)pair->src * demand->nr_nodes + pair->dst;
}

static unsigned int segment_of_op(const struct lace_plan *plan,
				  unsigned int op)
{
	unsigned int segment = 0;

	if (!plan)
		return 0;
	while (segment + 1 < plan->nr_segments &&
	       plan->segments[segment].last_op < op)
		segment++;
	return segment;
}

/* A flow for each pair with demand; number[] says which, by pair_index(). */
static int make_flows(const struct lace_demand *demand,
		      const struct lace_plan *plan, unsigned int *number,
		      struct traffic *traffic)
{
	size_t nr_pairs = (size_t)demand->nr_nodes * demand->nr_nodes;
	unsigned int nr = 0;

	/* 0: no flow; otherwise 1 + the first segment that needs it */
	for (unsigned int i = 0; i < demand->nr_ops; i++)
		for (size_t k = 0; k < demand->ops[i].nr_pairs; k++) {
			size_t at = pair_index(demand,
					       &demand->ops[i].pairs[k]);

			if (number[at])
				continue;
			number[at] = 1 + segment_of_op(plan, i);
			nr++;
		}
	traffic->flows = calloc(nr + 1, sizeof(*traffic->flows));
	if (!traffic->flows)
		return -1;
	for (size_t at = 0; at < nr_pairs; at++) {
		struct traffic_flow *flow = traffic->flows + traffic->nr_flows;

		if (!number[at])
			continue;
		flow->src = at / demand->nr_nodes;
		flow->dst = at % demand->nr_nodes;
		flow->segment = number[at] - 1;
		number[at] = traffic->nr_flows++;
	}
	return 0;
}

static int make_op(const struct lace_demand *demand,
		   const struct lace_demand_op *from,
		   const unsigned int *number, double scale,
		   struct traffic_op *op)
{
	op->name = from->name;
	op->repeat = from->repeat;
	op->loads = calloc(from->nr_pairs + 1, sizeof(*op->loads));
	if (!op->loads)
		return -1;
	op->nr_loads = from->nr_pairs;
	for (size_t k = 0; k < from->nr_pairs; k++) {
		double bytes = round(from->pairs[k].bytes * scale);

		op->loads[k].flow = number[pair_index(demand, from->pairs + k)];
		op->loads[k].bytes = bytes < 1 ? 1 : bytes;
	}
	return 0;
}

/**
 * traffic_make() - what is sent, and over which connections
 * @demand:	stage 1's answer; keep it as long as @traffic
 * @plan:	says which ops share a segment; may be NULL
 * @scale:	bytes sent for each byte of demand
 * @traffic:	result
 * @err:	why not
 *
 * A pair's bytes in one round are rounded to a whole number, at least one.
 */
int traffic_make(const struct lace_demand *demand,
		 const struct lace_plan *plan, double scale,
		 struct traffic *traffic, struct lace_error *err)
{
	unsigned int *number = calloc((size_t)demand->nr_nodes *
				      demand->nr_nodes + 1, sizeof(*number));

	*traffic = (struct traffic){
		.nr_nodes = demand->nr_nodes,
		.nr_segments = plan ? plan->nr_segments : 1,
		.ops = calloc(demand->nr_ops + 1, sizeof(*traffic->ops)),
	};
	if (!number || !traffic->ops ||
	    make_flows(demand, plan, number, traffic))
		goto no_memory;
	for (unsigned int i = 0; i < demand->nr_ops; i++) {
		struct traffic_op *op = traffic->ops + traffic->nr_ops++;

		op->segment = segment_of_op(plan, i);
		if (make_op(demand, demand->ops + i, number, scale, op))
			goto no_memory;
	}
	free(number);
	return 0;

no_memory:
	free(number);
	traffic_free(traffic);
	return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
}

void traffic_free(struct traffic *traffic)
{
	for (unsigned int i = 0; i < traffic->nr_ops; i++)
		free(traffic->ops[i].loads);
	free(traffic->ops);
	free(traffic->flows);
	*traffic = (struct traffic){ 0 };
}

/**
 * traffic_op_bytes() - what an op moves, all flows and rounds
 * @op:	op
 */
uint64_t traffic_op_bytes(const struct traffic_op *op)
{
	uint64_t bytes = 0;

	for (size_t k = 0; k < op->nr_loads; k++)
		bytes += op->loads[k].bytes * op->repeat;
	return bytes;
}
