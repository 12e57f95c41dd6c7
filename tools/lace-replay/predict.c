// SPDX-License-Identifier: GPL-2.0
/*
 * What the model says about this play: the plan's times, with bytes and rates
 * scaled as they are here, and with headers.  A rate counts the bytes of whole
 * frames while demand counts payload, so a lane's payload ratio comes in.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

static struct lane_use *find_lane(struct prediction *prediction,
				  unsigned int node, unsigned int port)
{
	for (size_t i = 0; i < prediction->nr_lanes; i++)
		if (prediction->lanes[i].node == node &&
		    prediction->lanes[i].port == port)
			return prediction->lanes + i;
	return NULL;
}

static int compare_lanes(const void *a, const void *b)
{
	const struct lane_use *left = a, *right = b;

	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	return left->port < right->port ? -1 : left->port > right->port;
}

/* The lanes that any segment has a circuit on. */
static int make_lanes(const struct lace_plan *plan,
		      struct prediction *prediction)
{
	size_t max = 1;

	for (unsigned int s = 0; s < plan->nr_segments; s++)
		max += plan->segments[s].nr_circuits;
	prediction->lanes = calloc(max, sizeof(*prediction->lanes));
	if (!prediction->lanes)
		return -1;
	for (unsigned int s = 0; s < plan->nr_segments; s++)
		for (unsigned int i = 0; i < plan->segments[s].nr_circuits;
		     i++) {
			const struct lace_circuit *circuit =
				plan->segments[s].circuits + i;
			struct lane_use *lane = find_lane(prediction,
							  circuit->tx_node,
							  circuit->tx_port);

			if (!lane) {
				lane = prediction->lanes +
				       prediction->nr_lanes++;
				lane->node = circuit->tx_node;
				lane->port = circuit->tx_port;
				lane->peer = circuit->rx_node;
			} else if (lane->peer != (int)circuit->rx_node) {
				lane->peer = -1;
			}
		}
	qsort(prediction->lanes, prediction->nr_lanes,
	      sizeof(*prediction->lanes), compare_lanes);
	return 0;
}

static double circuit_rate(const struct lace_cluster *cluster,
			   const struct lace_circuit *circuit)
{
	const struct lace_node *tx = cluster->nodes + circuit->tx_node;
	const struct lace_node *rx = cluster->nodes + circuit->rx_node;

	return fmin(tx->ports[circuit->tx_port].rate_bps,
		    rx->ports[circuit->rx_port].rate_bps);
}

/* Circuits of one pair share its load by their rates. */
static void add_load(const struct lace_cluster *cluster,
		     const struct lace_segment *segment,
		     const struct lace_load *load, double rounds,
		     struct prediction *prediction)
{
	for (unsigned int i = 0; i < segment->nr_circuits; i++) {
		const struct lace_circuit *circuit = segment->circuits + i;

		if (circuit->tx_node != load->src ||
		    circuit->rx_node != load->dst)
			continue;
		find_lane(prediction, circuit->tx_node, circuit->tx_port)
			->planned += rounds * load->bytes *
				     circuit_rate(cluster, circuit) /
				     load->capacity_bps;
	}
}

static int predict_op(const struct lace_cluster *cluster,
		      const struct lace_demand *demand,
		      const struct lace_plan *plan,
		      const struct lace_segment *segment, unsigned int op,
		      const struct scale *scale, struct prediction *prediction,
		      struct lace_error *err)
{
	double rounds = demand->ops[op].repeat, slowest = 0;
	struct lace_load *load;
	size_t nr;

	if (lace_plan_load(cluster, demand, plan, op, &load, &nr, err))
		return -1;
	for (size_t k = 0; k < nr; k++) {
		if (!load[k].capacity_bps)
			continue;
		slowest = fmax(slowest, 8 * load[k].bytes /
					load[k].capacity_bps);
		add_load(cluster, segment, load + k,
			 rounds * scale->bytes / scale->payload, prediction);
	}
	free(load);
	prediction->op_s[op] = rounds * slowest * scale->bytes / scale->rate /
			       scale->payload;
	return 0;
}

static bool same_circuits(const struct lace_segment *a,
			  const struct lace_segment *b)
{
	return a->nr_circuits == b->nr_circuits &&
	       !memcmp(a->circuits, b->circuits,
		       a->nr_circuits * sizeof(*a->circuits));
}

/**
 * predict() - times and bytes that the plan promises
 * @cluster:	cluster
 * @demand:	demand
 * @plan:	a plan for the two
 * @scale:	what differs here from cluster and schedule
 * @prediction:	result
 * @err:	why not
 */
int predict(const struct lace_cluster *cluster,
	    const struct lace_demand *demand, const struct lace_plan *plan,
	    const struct scale *scale, struct prediction *prediction,
	    struct lace_error *err)
{
	*prediction = (struct prediction){
		.op_s = calloc(demand->nr_ops + 1, sizeof(double)),
		.enter_s = calloc(plan->nr_segments + 1, sizeof(double)),
	};
	if (!prediction->op_s || !prediction->enter_s ||
	    make_lanes(plan, prediction)) {
		lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
		goto failed;
	}
	for (unsigned int s = 0; s < plan->nr_segments; s++) {
		const struct lace_segment *segment = plan->segments + s;

		if (s && !same_circuits(segment - 1, segment))
			prediction->enter_s[s] = cluster->reconfig_s;
		for (unsigned int op = segment->first_op;
		     op <= segment->last_op; op++)
			if (predict_op(cluster, demand, plan, segment, op,
				       scale, prediction, err))
				goto failed;
	}
	return 0;

failed:
	prediction_free(prediction);
	return -1;
}

void prediction_free(struct prediction *prediction)
{
	free(prediction->op_s);
	free(prediction->enter_s);
	free(prediction->lanes);
	*prediction = (struct prediction){ 0 };
}
