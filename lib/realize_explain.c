// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Why an op has no configuration, in terms of the operator: which node, how
 * many peers, how many lanes; which pair has no OCS in common; which control
 * has no way back.
 */
#include "planner.h"

#include <stdlib.h>

static bool must_have(const struct lace_planner *planner,
		      const struct lace_need *need)
{
	return planner->cluster->relay == LACE_RELAY_NONE ||
	       (planner->cluster->relay == LACE_RELAY_CONTROL && need->data);
}

static int no_link(const struct lace_planner *planner,
		   const struct lace_need *need, const char *op,
		   struct lace_error *err)
{
	const struct lace_between *p = &planner->pairs[need->pair];
	const struct lace_node *nodes = planner->cluster->nodes;

	return lace_fail(err, LACE_ERR_ANSWER,
			 "op \"%s\": %s cannot have a %scircuit to %s: no OCS has a lane of both",
			 op, nodes[p->src].name,
			 planner->duplex ? "duplex " : "", nodes[p->dst].name);
}

static int too_many(const struct lace_planner *planner, unsigned int node,
		    bool tx, unsigned int peers, const char *op,
		    struct lace_error *err)
{
	unsigned int lanes = tx ? planner->tx_lanes[node] :
				  planner->rx_lanes[node];

	return lace_fail(err, LACE_ERR_ANSWER,
			 "op \"%s\": node %s %s %u peers and has %u %s",
			 op, planner->cluster->nodes[node].name,
			 planner->duplex ? "exchanges with" :
			 tx ? "sends to" : "receives from", peers, lanes,
			 planner->duplex ? "duplex ports" :
			 tx ? "TX lanes" : "RX lanes");
}

/* Peers of each node: out, then in; duplex counts a peer once. */
static void count_peers(const struct lace_planner *planner,
			const struct lace_kind *kind, unsigned int *peers)
{
	unsigned int n = planner->nr_nodes;
	unsigned int last = LACE_NONE;

	for (size_t i = 0; i < kind->nr; i++) {
		const struct lace_between *p;
		unsigned int e = kind->needs[i].pair;

		if (!must_have(planner, &kind->needs[i]))
			continue;
		p = &planner->pairs[e];
		if (!planner->duplex) {
			peers[p->src]++;
			peers[n + p->dst]++;
			continue;
		}
		/* The other direction counts only if this one is not there. */
		last = lace_planner_pair(planner, p->dst, p->src);
		for (size_t k = 0; p->src > p->dst && k < kind->nr; k++)
			if (kind->needs[k].pair == last &&
			    must_have(planner, &kind->needs[k]))
				last = LACE_NONE;
		if (last == LACE_NONE)
			continue;
		peers[p->src]++;
		peers[p->dst]++;
	}
}

static int no_route(const struct lace_planner *planner, unsigned int op,
		    struct lace_error *err)
{
	const struct lace_kind *kind = &planner->kinds[planner->op_kind[op]];
	const struct lace_need *need = &kind->needs[0];
	const struct lace_between *p;

	for (size_t i = 0; i < kind->nr; i++) {
		if (must_have(planner, &kind->needs[i]))
			continue;
		need = &kind->needs[i];
		p = &planner->pairs[need->pair];
		if (!planner->tx_lanes[p->src] || !planner->rx_lanes[p->dst])
			break;
	}
	p = &planner->pairs[need->pair];
	return lace_fail(err, LACE_ERR_ANSWER,
			 "op \"%s\": no lanes left for a circuit or a route that takes %s from %s to %s",
			 planner->demand->ops[op].name,
			 need->data ? "data" : "control",
			 planner->cluster->nodes[p->src].name,
			 planner->cluster->nodes[p->dst].name);
}

void lace_realize_explain(struct lace_planner *planner, unsigned int op,
			  struct lace_error *err)
{
	const struct lace_kind *kind = &planner->kinds[planner->op_kind[op]];
	const char *name = planner->demand->ops[op].name;
	unsigned int n = planner->nr_nodes;
	unsigned int *peers;

	for (size_t i = 0; i < kind->nr; i++) {
		if (must_have(planner, &kind->needs[i]) &&
		    !planner->pairs[kind->needs[i].pair].nr_links) {
			no_link(planner, &kind->needs[i], name, err);
			return;
		}
	}
	peers = lace_planner_alloc(planner, 2 * (size_t)n, sizeof(*peers));
	if (!peers) {
		lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
		return;
	}
	count_peers(planner, kind, peers);
	for (unsigned int i = 0; i < 2 * n; i++) {
		unsigned int node = i % n;

		if (peers[i] > (i < n ? planner->tx_lanes[node] :
					planner->rx_lanes[node])) {
			too_many(planner, node, i < n, peers[i], name, err);
			free(peers);
			return;
		}
	}
	free(peers);
	no_route(planner, op, err);
}
