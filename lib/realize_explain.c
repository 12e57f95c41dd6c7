// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Why an op has no configuration, in terms of the operator: which node, how
 * many peers, how many lanes, on which OCS; which pair has no OCS in common;
 * which control has no way back.
 */
#include "planner.h"

#include <stdlib.h>

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

		if (!lace_planner_must_have(planner, &kind->needs[i]))
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
			    lace_planner_must_have(planner, &kind->needs[k]))
				last = LACE_NONE;
		if (last == LACE_NONE)
			continue;
		peers[p->src]++;
		peers[p->dst]++;
	}
}

/* ---- lanes on one OCS ---- */

/* The first of the pools of the same node on the same OCSes, rates aside. */
static unsigned int first_alike(const struct lace_planner *planner,
				unsigned int pool)
{
	const struct lace_pool *p = &planner->pools[pool];
	const struct lace_pool *q;
	unsigned int first = pool;

	/* Pools of a node stand together, TX and RX apart. */
	while (pool--) {
		q = &planner->pools[pool];
		if (q->node != p->node)
			break;
		if (q->ocs_tx == p->ocs_tx && q->ocs_rx == p->ocs_rx)
			first = pool;
	}
	return first;
}

/* The only pool that circuits of the pair can have on that side, else NONE. */
static unsigned int only_pool(const struct lace_planner *planner,
			      const struct lace_between *pair,
			      unsigned int side)
{
	unsigned int only = LACE_NONE;

	for (unsigned int l = pair->first_link;
	     l < pair->first_link + pair->nr_links; l++) {
		unsigned int pool = first_alike(planner,
						planner->links[l].pool[side]);

		if (only != LACE_NONE && only != pool)
			return LACE_NONE;
		only = pool;
	}
	return only;
}

static int too_many_on_ocs(const struct lace_planner *planner,
			   unsigned int pool, unsigned int side,
			   const struct lace_between *pair, unsigned int lanes,
			   const char *op, struct lace_error *err)
{
	const struct lace_pool *p = &planner->pools[pool];
	const struct lace_node *nodes = planner->cluster->nodes;

	return lace_fail(err, LACE_ERR_ANSWER,
			 "op \"%s\": no lane for the %scircuit %s -> %s: %s has %u %s on OCS %s, and more peers that it meets nowhere else",
			 op, planner->duplex ? "duplex " : "",
			 nodes[pair->src].name, nodes[pair->dst].name,
			 nodes[p->node].name, lanes,
			 planner->duplex ? "duplex ports" :
			 side ? "RX lanes" : "TX lanes",
			 planner->cluster->ocs[p->ocs_tx].name);
}

/*
 * Finds a node with more peers that it can only meet on one OCS than it has
 * lanes there.  left is of each pool, seen of each pair; both zeroed.
 */
static bool explain_ocs(const struct lace_planner *planner,
			const struct lace_kind *kind, unsigned int *left,
			bool *seen, const char *op, struct lace_error *err)
{
	for (unsigned int k = 0; k < planner->nr_pools; k++)
		left[first_alike(planner, k)] += planner->pools[k].size;
	for (size_t i = 0; i < kind->nr; i++) {
		const struct lace_between *pair =
			&planner->pairs[kind->needs[i].pair];
		unsigned int first;

		if (!lace_planner_must_have(planner, &kind->needs[i]))
			continue;
		/* A duplex circuit serves both directions. */
		first = planner->links[pair->first_link].pair[0];
		if (seen[first])
			continue;
		seen[first] = true;
		for (unsigned int side = 0; side < 2; side++) {
			unsigned int pool = only_pool(planner, pair, side);

			if (pool == LACE_NONE || left[pool]--)
				continue;
			left[pool] = 0;
			for (unsigned int k = 0; k < planner->nr_pools; k++)
				if (first_alike(planner, k) == pool)
					left[pool] += planner->pools[k].size;
			too_many_on_ocs(planner, pool, side, pair, left[pool],
					op, err);
			return true;
		}
	}
	return false;
}

/* ---- all together ---- */

static int no_route(const struct lace_planner *planner, unsigned int op,
		    struct lace_error *err)
{
	const struct lace_kind *kind = &planner->kinds[planner->op_kind[op]];
	const struct lace_need *need = &kind->needs[0];
	const struct lace_between *p;
	bool have_free = false;

	for (size_t i = 0; i < kind->nr; i++) {
		if (lace_planner_must_have(planner, &kind->needs[i]))
			continue;
		have_free = true;
		need = &kind->needs[i];
		p = &planner->pairs[need->pair];
		if (!planner->tx_lanes[p->src] || !planner->rx_lanes[p->dst])
			break;
	}
	if (!have_free)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "op \"%s\": each of its pairs can have a circuit, and all together were not made to fit the OCSes",
				 planner->demand->ops[op].name);
	p = &planner->pairs[need->pair];
	return lace_fail(err, LACE_ERR_ANSWER,
			 "op \"%s\": no lanes left for a circuit or a route that takes %s from %s to %s",
			 planner->demand->ops[op].name,
			 need->data ? "data" : "control",
			 planner->cluster->nodes[p->src].name,
			 planner->cluster->nodes[p->dst].name);
}

static bool explain_lanes(const struct lace_planner *planner,
			  const struct lace_kind *kind, unsigned int *peers,
			  const char *op, struct lace_error *err)
{
	unsigned int n = planner->nr_nodes;

	count_peers(planner, kind, peers);
	for (unsigned int i = 0; i < 2 * n; i++) {
		unsigned int node = i % n;

		if (peers[i] <= (i < n ? planner->tx_lanes[node] :
					 planner->rx_lanes[node]))
			continue;
		too_many(planner, node, i < n, peers[i], op, err);
		return true;
	}
	return false;
}

void lace_realize_explain(struct lace_planner *planner, unsigned int op,
			  struct lace_error *err)
{
	const struct lace_kind *kind = &planner->kinds[planner->op_kind[op]];
	const char *name = planner->demand->ops[op].name;
	unsigned int *peers, *left;
	bool *seen;

	for (size_t i = 0; i < kind->nr; i++) {
		if (lace_planner_must_have(planner, &kind->needs[i]) &&
		    !planner->pairs[kind->needs[i].pair].nr_links) {
			no_link(planner, &kind->needs[i], name, err);
			return;
		}
	}
	peers = lace_planner_alloc(planner, 2 * (size_t)planner->nr_nodes,
				   sizeof(*peers));
	left = lace_planner_alloc(planner, planner->nr_pools, sizeof(*left));
	seen = lace_planner_alloc(planner, planner->max_pairs, sizeof(*seen));
	if (!peers || !left || !seen)
		lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	else if (!explain_lanes(planner, kind, peers, name, err) &&
		 !explain_ocs(planner, kind, left, seen, name, err))
		no_route(planner, op, err);
	free(peers);
	free(left);
	free(seen);
}
