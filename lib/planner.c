// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Turns cluster and demand into the model that the planning stages share:
 * lanes that are alike become pools, ops with equal demand become kinds, and
 * what a pair of nodes could be joined by becomes links.
 */
#include "planner.h"

#include <stdlib.h>
#include <string.h>

/* All ordered pairs exist from the start up to here, so that small inputs can
 * be searched whole.
 */
#define ALL_PAIRS_NODES 8

void *lace_planner_alloc(struct lace_planner *planner, size_t nr, size_t size)
{
	void *mem = calloc(nr ? nr : 1, size);

	if (!mem)
		planner->oom = true;
	return mem;
}

/* ---- pools ---- */

/*
 * True if every node that has lanes has as many TX as RX lanes on each OCS as
 * every other: then any counts within the totals can be coloured (Koenig) and
 * the OCSes together are as good as one.
 */
static bool are_planes(const struct lace_cluster *cluster, unsigned int *tally)
{
	unsigned int nr_ocs = cluster->nr_ocs;
	unsigned int *mine = tally, *common = tally + 2 * nr_ocs;
	uint64_t rate = 0;
	bool have = false;

	if (nr_ocs < 2)
		return false;
	for (unsigned int i = 0; i < cluster->nr_nodes; i++) {
		const struct lace_node *node = &cluster->nodes[i];
		bool any = false;

		memset(mine, 0, 2 * nr_ocs * sizeof(*mine));
		for (unsigned int p = 0; p < node->nr_ports; p++) {
			const struct lace_port *port = &node->ports[p];

			if (rate && port->rate_bps != rate)
				return false;
			rate = port->rate_bps;
			if (port->tx.ocs >= 0)
				mine[2 * port->tx.ocs]++;
			if (port->rx.ocs >= 0)
				mine[2 * port->rx.ocs + 1]++;
			any |= port->tx.ocs >= 0 || port->rx.ocs >= 0;
		}
		if (!any)
			continue;
		for (unsigned int k = 0; k < nr_ocs; k++)
			if (mine[2 * k] != mine[2 * k + 1])
				return false;
		if (!have)
			memcpy(common, mine, 2 * nr_ocs * sizeof(*mine));
		else if (memcmp(common, mine, 2 * nr_ocs * sizeof(*mine)))
			return false;
		have = true;
	}
	return have;
}

/* Side of a lane as the pools see it: 0 TX, 1 RX, 2 both (duplex). */
static bool lane_of(const struct lace_planner *planner,
		    const struct lace_port *port, int side, unsigned int *tx,
		    unsigned int *rx)
{
	int out = side == 1 ? port->rx.ocs : port->tx.ocs;
	int in = side == 0 ? port->tx.ocs : port->rx.ocs;

	if (out < 0 || in < 0)
		return false;
	*tx = planner->merged ? 0 : (unsigned int)out;
	*rx = planner->merged ? 0 : (unsigned int)in;
	return true;
}

static void pool_lanes(struct lace_planner *planner, unsigned int node,
		       int side, unsigned int *nr_lanes)
{
	const struct lace_node *n = &planner->cluster->nodes[node];
	unsigned int first = planner->nr_pools;

	for (unsigned int p = 0; p < n->nr_ports; p++) {
		unsigned int tx, rx, k;

		if (!lane_of(planner, &n->ports[p], side, &tx, &rx))
			continue;
		for (k = first; k < planner->nr_pools; k++) {
			struct lace_pool *pool = &planner->pools[k];

			if (pool->ocs_tx == tx && pool->ocs_rx == rx &&
			    pool->rate_bps == n->ports[p].rate_bps)
				break;
		}
		if (k == planner->nr_pools)
			planner->pools[planner->nr_pools++] = (struct lace_pool){
				.node = node, .ocs_tx = tx, .ocs_rx = rx,
				.rate_bps = n->ports[p].rate_bps };
		planner->pools[k].size++;
	}
	for (unsigned int k = first; k < planner->nr_pools; k++) {
		struct lace_pool *pool = &planner->pools[k];

		pool->first_lane = *nr_lanes;
		for (unsigned int p = 0; p < n->nr_ports; p++) {
			unsigned int tx, rx;

			if (lane_of(planner, &n->ports[p], side, &tx, &rx) &&
			    pool->ocs_tx == tx && pool->ocs_rx == rx &&
			    pool->rate_bps == n->ports[p].rate_bps)
				planner->lanes[(*nr_lanes)++] = p;
		}
	}
}

static void sum_pools(struct lace_planner *planner, const unsigned int *first,
		      double *bps, unsigned int *lanes)
{
	for (unsigned int i = 0; i < planner->nr_nodes; i++) {
		for (unsigned int k = first[i]; k < first[i + 1]; k++) {
			lanes[i] += planner->pools[k].size;
			bps[i] += (double)planner->pools[k].size *
				  planner->pools[k].rate_bps;
		}
	}
}

static int make_pools(struct lace_planner *planner)
{
	const struct lace_cluster *cluster = planner->cluster;
	unsigned int n = planner->nr_nodes;
	unsigned int nr_ports = 0, nr_lanes = 0;
	unsigned int *tally;

	for (unsigned int i = 0; i < n; i++)
		nr_ports += cluster->nodes[i].nr_ports;
	planner->pools = lace_planner_alloc(planner, 2 * nr_ports,
					    sizeof(*planner->pools));
	planner->lanes = lace_planner_alloc(planner, 2 * nr_ports,
					    sizeof(*planner->lanes));
	planner->first_tx = lace_planner_alloc(planner, n + 1,
					       sizeof(*planner->first_tx));
	planner->first_rx = lace_planner_alloc(planner, n + 1,
					       sizeof(*planner->first_rx));
	planner->tx_bps = lace_planner_alloc(planner, n, sizeof(double));
	planner->rx_bps = lace_planner_alloc(planner, n, sizeof(double));
	planner->tx_lanes = lace_planner_alloc(planner, n, sizeof(unsigned int));
	planner->rx_lanes = lace_planner_alloc(planner, n, sizeof(unsigned int));
	tally = lace_planner_alloc(planner, 4 * cluster->nr_ocs, sizeof(*tally));
	if (planner->oom) {
		free(tally);
		return -1;
	}
	planner->merged = !planner->duplex && are_planes(cluster, tally);
	free(tally);

	for (unsigned int i = 0; i < n; i++) {
		planner->first_tx[i] = planner->nr_pools;
		pool_lanes(planner, i, planner->duplex ? 2 : 0, &nr_lanes);
	}
	planner->first_tx[n] = planner->nr_pools;
	for (unsigned int i = 0; i < n; i++) {
		planner->first_rx[i] = planner->duplex ? planner->first_tx[i] :
							 planner->nr_pools;
		if (!planner->duplex)
			pool_lanes(planner, i, 1, &nr_lanes);
	}
	planner->first_rx[n] = planner->nr_pools;
	sum_pools(planner, planner->first_tx, planner->tx_bps,
		  planner->tx_lanes);
	sum_pools(planner, planner->first_rx, planner->rx_bps,
		  planner->rx_lanes);
	return 0;
}

/* ---- pairs and links ---- */

static unsigned int hash_slot(const struct lace_planner *planner,
			      unsigned int src, unsigned int dst)
{
	uint64_t key = ((uint64_t)src << 32 | dst) * 0x9e3779b97f4a7c15ull;
	unsigned int slot = key >> 32 & planner->hash_mask;

	while (planner->hash[slot] != LACE_NONE) {
		const struct lace_between *pair =
			&planner->pairs[planner->hash[slot]];

		if (pair->src == src && pair->dst == dst)
			break;
		slot = (slot + 1) & planner->hash_mask;
	}
	return slot;
}

unsigned int lace_planner_pair(const struct lace_planner *planner,
			       unsigned int src, unsigned int dst)
{
	return planner->hash[hash_slot(planner, src, dst)];
}

static bool can_join(const struct lace_planner *planner, unsigned int a,
		     unsigned int b)
{
	const struct lace_pool *from = &planner->pools[a];
	const struct lace_pool *to = &planner->pools[b];

	return from->ocs_tx == to->ocs_rx &&
	       (!planner->duplex || to->ocs_tx == from->ocs_rx);
}

static unsigned int count_links(const struct lace_planner *planner,
				unsigned int src, unsigned int dst)
{
	unsigned int nr = 0;

	for (unsigned int a = planner->first_tx[src];
	     a < planner->first_tx[src + 1]; a++)
		for (unsigned int b = planner->first_rx[dst];
		     b < planner->first_rx[dst + 1]; b++)
			nr += can_join(planner, a, b);
	return nr;
}

static void make_links(struct lace_planner *planner, unsigned int pair,
		       unsigned int back)
{
	struct lace_between *p = &planner->pairs[pair];

	p->first_link = planner->nr_links;
	for (unsigned int a = planner->first_tx[p->src];
	     a < planner->first_tx[p->src + 1]; a++) {
		for (unsigned int b = planner->first_rx[p->dst];
		     b < planner->first_rx[p->dst + 1]; b++) {
			uint64_t ra = planner->pools[a].rate_bps;
			uint64_t rb = planner->pools[b].rate_bps;

			if (!can_join(planner, a, b))
				continue;
			planner->links[planner->nr_links++] = (struct lace_link){
				.pool = { a, b }, .pair = { pair, back },
				.rate_bps = ra < rb ? ra : rb };
		}
	}
	p->nr_links = planner->nr_links - p->first_link;
	if (p->nr_links > 1)
		planner->simple = false;
	if (back != LACE_NONE) {
		planner->pairs[back].first_link = p->first_link;
		planner->pairs[back].nr_links = p->nr_links;
	}
}

static unsigned int enter_pair(struct lace_planner *planner, unsigned int src,
			       unsigned int dst)
{
	unsigned int slot = hash_slot(planner, src, dst);

	if (planner->hash[slot] == LACE_NONE) {
		planner->hash[slot] = planner->nr_pairs;
		planner->pairs[planner->nr_pairs++] =
			(struct lace_between){ .src = src, .dst = dst };
	}
	return planner->hash[slot];
}

unsigned int lace_planner_add_pair(struct lace_planner *planner,
				   unsigned int src, unsigned int dst)
{
	unsigned int pair = lace_planner_pair(planner, src, dst);
	unsigned int back = LACE_NONE;

	if (pair != LACE_NONE)
		return pair;
	if (planner->nr_pairs + 1 + planner->duplex > planner->max_pairs ||
	    planner->nr_links + count_links(planner, src, dst) >
		    planner->max_links)
		return LACE_NONE;
	pair = enter_pair(planner, src, dst);
	if (planner->duplex)
		back = enter_pair(planner, dst, src);
	make_links(planner, pair, back);
	return pair;
}

static int order_pairs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Every pair with demand, as src << 32 | dst, sorted, each once. */
static size_t collect_pairs(struct lace_planner *planner, uint64_t **keys)
{
	unsigned int n = planner->nr_nodes;
	bool back = planner->duplex || planner->cluster->control_ratio > 0;
	size_t max = 0, nr = 0, kept = 0;
	uint64_t *key;

	for (unsigned int k = 0; k < planner->nr_kinds; k++)
		max += 2 * planner->demand->ops[planner->kinds[k].first_op]
				   .nr_pairs;
	if (n <= ALL_PAIRS_NODES)
		max = (size_t)n * n;
	*keys = key = lace_planner_alloc(planner, max, sizeof(*key));
	if (!key)
		return 0;
	if (n <= ALL_PAIRS_NODES) {
		for (unsigned int i = 0; i < n * n; i++)
			if (i / n != i % n)
				key[nr++] = (uint64_t)(i / n) << 32 | i % n;
		return nr;
	}
	for (unsigned int k = 0; k < planner->nr_kinds; k++) {
		const struct lace_demand_op *op =
			&planner->demand->ops[planner->kinds[k].first_op];

		for (size_t i = 0; i < op->nr_pairs; i++) {
			uint64_t s = op->pairs[i].src, d = op->pairs[i].dst;

			key[nr++] = s << 32 | d;
			if (back)
				key[nr++] = d << 32 | s;
		}
	}
	qsort(key, nr, sizeof(*key), order_pairs);
	for (size_t i = 0; i < nr; i++)
		if (!i || key[i] != key[i - 1])
			key[kept++] = key[i];
	return kept;
}

static int make_pairs(struct lace_planner *planner)
{
	unsigned int n = planner->nr_nodes, slots = 16;
	uint64_t *keys;
	size_t nr = collect_pairs(planner, &keys);
	size_t links = 0, spare;

	spare = n <= ALL_PAIRS_NODES ? 0 : 4 * (size_t)n;
	planner->max_pairs = nr + spare;
	for (size_t i = 0; i < nr; i++)
		links += count_links(planner, keys[i] >> 32, (uint32_t)keys[i]);
	planner->max_links = links + spare * (nr ? 1 + links / nr : 1);
	while (slots < 2 * planner->max_pairs)
		slots *= 2;
	planner->hash_mask = slots - 1;
	planner->hash = lace_planner_alloc(planner, slots,
					   sizeof(*planner->hash));
	planner->pairs = lace_planner_alloc(planner, planner->max_pairs,
					    sizeof(*planner->pairs));
	planner->links = lace_planner_alloc(planner, planner->max_links,
					    sizeof(*planner->links));
	if (planner->oom) {
		free(keys);
		return -1;
	}
	memset(planner->hash, 0xff, slots * sizeof(*planner->hash));
	for (size_t i = 0; i < nr; i++)
		enter_pair(planner, keys[i] >> 32, (uint32_t)keys[i]);
	free(keys);
	for (unsigned int e = 0; e < nr; e++) {
		const struct lace_between *p = &planner->pairs[e];

		if (!planner->duplex)
			make_links(planner, e, LACE_NONE);
		else if (p->src < p->dst)
			make_links(planner, e,
				   lace_planner_pair(planner, p->dst, p->src));
	}
	return 0;
}

double lace_planner_best_rate(const struct lace_planner *planner,
			      unsigned int pair)
{
	const struct lace_between *p = &planner->pairs[pair];
	double rate = 0;

	for (unsigned int l = p->first_link; l < p->first_link + p->nr_links;
	     l++)
		if (planner->links[l].rate_bps > rate)
			rate = planner->links[l].rate_bps;
	return rate;
}

/* ---- kinds ---- */

bool lace_planner_must_have(const struct lace_planner *planner,
			    const struct lace_need *need)
{
	switch (planner->cluster->relay) {
	case LACE_RELAY_NONE:
		return true;
	case LACE_RELAY_CONTROL:
		return need->data;
	default:
		return false;
	}
}

static bool same_demand(const struct lace_demand_op *a,
			const struct lace_demand_op *b)
{
	if (a->nr_pairs != b->nr_pairs)
		return false;
	if (a->pairs == b->pairs)
		return true;
	for (size_t i = 0; i < a->nr_pairs; i++)
		if (a->pairs[i].src != b->pairs[i].src ||
		    a->pairs[i].dst != b->pairs[i].dst ||
		    a->pairs[i].bytes != b->pairs[i].bytes)
			return false;
	return true;
}

static uint64_t hash_demand(const struct lace_demand_op *op)
{
	uint64_t h = op->nr_pairs;

	for (size_t i = 0; i < op->nr_pairs; i++) {
		uint64_t bytes;

		memcpy(&bytes, &op->pairs[i].bytes, sizeof(bytes));
		h = (h ^ op->pairs[i].src) * 0x100000001b3ull;
		h = (h ^ op->pairs[i].dst) * 0x100000001b3ull;
		h = (h ^ bytes ^ bytes >> 32) * 0x100000001b3ull;
	}
	return h;
}

static int find_kinds(struct lace_planner *planner)
{
	const struct lace_demand *demand = planner->demand;
	uint64_t *hashes = lace_planner_alloc(planner, demand->nr_ops,
					      sizeof(*hashes));

	planner->op_kind = lace_planner_alloc(planner, demand->nr_ops,
					      sizeof(*planner->op_kind));
	planner->kinds = lace_planner_alloc(planner, demand->nr_ops,
					    sizeof(*planner->kinds));
	if (planner->oom) {
		free(hashes);
		return -1;
	}
	for (unsigned int o = 0; o < demand->nr_ops; o++) {
		const struct lace_demand_op *op = &demand->ops[o];
		uint64_t hash = hash_demand(op);
		unsigned int k;

		for (k = 0; k < planner->nr_kinds; k++)
			if (hashes[k] == hash &&
			    same_demand(op, &demand->ops[planner->kinds[k]
								 .first_op]))
				break;
		if (k == planner->nr_kinds) {
			hashes[k] = hash;
			planner->kinds[planner->nr_kinds++].first_op = o;
		}
		planner->op_kind[o] = k;
	}
	free(hashes);
	return 0;
}

static int order_needs(const void *a, const void *b)
{
	const struct lace_need *x = a, *y = b;

	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

static int fill_kind(struct lace_planner *planner, struct lace_kind *kind)
{
	const struct lace_demand_op *op = &planner->demand->ops[kind->first_op];
	double ratio = planner->cluster->control_ratio;
	struct lace_need *needs;
	size_t nr = 0, kept = 0;

	needs = lace_planner_alloc(planner, 2 * op->nr_pairs, sizeof(*needs));
	if (!needs)
		return -1;
	for (size_t i = 0; i < op->nr_pairs; i++) {
		const struct lace_pair *p = &op->pairs[i];

		needs[nr++] = (struct lace_need){
			.pair = lace_planner_pair(planner, p->src, p->dst),
			.data = true, .bits = 8 * p->bytes };
		if (ratio > 0)
			needs[nr++] = (struct lace_need){
				.pair = lace_planner_pair(planner, p->dst,
							  p->src),
				.bits = 8 * ratio * p->bytes };
	}
	qsort(needs, nr, sizeof(*needs), order_needs);
	for (size_t i = 0; i < nr; i++) {
		if (kept && needs[kept - 1].pair == needs[i].pair) {
			needs[kept - 1].data |= needs[i].data;
			needs[kept - 1].bits += needs[i].bits;
		} else {
			needs[kept++] = needs[i];
		}
	}
	kind->needs = needs;
	kind->nr = kept;
	return 0;
}

int lace_planner_create(const struct lace_cluster *cluster,
			const struct lace_demand *demand, bool duplex,
			struct lace_planner *planner, struct lace_error *err)
{
	*planner = (struct lace_planner){ .cluster = cluster,
		.demand = demand, .duplex = duplex, .simple = true,
		.nr_nodes = cluster->nr_nodes };
	if (make_pools(planner) || find_kinds(planner) || make_pairs(planner))
		goto oom;
	for (unsigned int k = 0; k < planner->nr_kinds; k++)
		if (fill_kind(planner, &planner->kinds[k]))
			goto oom;
	return 0;
oom:
	lace_planner_free(planner);
	return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
}

void lace_planner_free(struct lace_planner *planner)
{
	for (unsigned int k = 0; k < planner->nr_kinds; k++)
		free(planner->kinds[k].needs);
	free(planner->kinds);
	free(planner->op_kind);
	free(planner->tx_bps);
	free(planner->rx_bps);
	free(planner->tx_lanes);
	free(planner->rx_lanes);
	free(planner->pools);
	free(planner->lanes);
	free(planner->first_tx);
	free(planner->first_rx);
	free(planner->pairs);
	free(planner->links);
	free(planner->hash);
	*planner = (struct lace_planner){ 0 };
}
