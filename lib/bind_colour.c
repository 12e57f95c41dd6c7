// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * One OCS for each port index: binding is colouring the edges of a bipartite
 * multigraph (TX sides, RX sides) with one colour for each lane of a node.
 * Koenig: as many colours as lanes always do.  Circuits that stay keep their
 * colour; a new one takes a colour free at both ends, or the colours of an
 * alternating path are swapped, the path on which least of what stays moves.
 */
#include "planner.h"

#include <stdlib.h>
#include <string.h>

static void sort_lanes(const struct lace_node *node, bool tx,
		       unsigned int *ports, unsigned int nr)
{
	for (unsigned int i = 1; i < nr; i++) {
		unsigned int p = ports[i], j = i;
		int ocs = tx ? node->ports[p].tx.ocs : node->ports[p].rx.ocs;

		for (; j; j--) {
			unsigned int q = ports[j - 1];

			if ((tx ? node->ports[q].tx.ocs :
				  node->ports[q].rx.ocs) <= ocs)
				break;
			ports[j] = q;
		}
		ports[j] = p;
	}
}

int lace_planes_create(struct lace_planner *planner, struct lace_planes *planes)
{
	unsigned int n = planner->nr_nodes, k = 0;
	size_t cells;

	*planes = (struct lace_planes){ 0 };
	for (unsigned int i = 0; i < n; i++)
		k = planner->tx_lanes[i] > k ? planner->tx_lanes[i] : k;
	cells = (size_t)n * k;
	planes->nr_colours = k;
	planes->max = cells;
	planes->tx = lace_planner_alloc(planner, cells, sizeof(unsigned int));
	planes->rx = lace_planner_alloc(planner, cells, sizeof(unsigned int));
	planes->tx_port = lace_planner_alloc(planner, cells,
					     sizeof(unsigned int));
	planes->rx_port = lace_planner_alloc(planner, cells,
					     sizeof(unsigned int));
	planes->circuits = lace_planner_alloc(planner, cells,
					      sizeof(*planes->circuits));
	if (planner->oom) {
		lace_planes_free(planes);
		return -1;
	}
	memset(planes->tx, 0xff, cells * sizeof(*planes->tx));
	memset(planes->rx, 0xff, cells * sizeof(*planes->rx));
	for (unsigned int p = 0; p < planner->nr_pools; p++) {
		const struct lace_pool *pool = &planner->pools[p];
		bool tx = p < planner->first_tx[n];
		unsigned int *ports = (tx ? planes->tx_port : planes->rx_port) +
				      (size_t)pool->node * k;

		memcpy(ports, planner->lanes + pool->first_lane,
		       pool->size * sizeof(*ports));
		sort_lanes(&planner->cluster->nodes[pool->node], tx, ports,
			   pool->size);
	}
	return 0;
}

void lace_planes_free(struct lace_planes *planes)
{
	free(planes->tx);
	free(planes->rx);
	free(planes->tx_port);
	free(planes->rx_port);
	free(planes->circuits);
	*planes = (struct lace_planes){ 0 };
}

static unsigned int *tx_at(const struct lace_planes *p, unsigned int node,
			   unsigned int colour)
{
	return &p->tx[(size_t)node * p->nr_colours + colour];
}

static unsigned int *rx_at(const struct lace_planes *p, unsigned int node,
			   unsigned int colour)
{
	return &p->rx[(size_t)node * p->nr_colours + colour];
}

static void enter(struct lace_planes *p, unsigned int circuit)
{
	const struct lace_plane_circuit *c = &p->circuits[circuit];

	*tx_at(p, c->src, c->colour) = circuit;
	*rx_at(p, c->dst, c->colour) = circuit;
}

/* What stays, in place; a pair's circuits beyond its count go dark. */
static void keep(struct lace_planner *planner, struct lace_planes *p,
		 uint16_t *have, const uint16_t *count)
{
	size_t cells = (size_t)planner->nr_nodes * p->nr_colours;
	unsigned int nr = 0;

	memset(p->tx, 0xff, cells * sizeof(*p->tx));
	memset(p->rx, 0xff, cells * sizeof(*p->rx));
	for (unsigned int i = 0; i < p->nr; i++) {
		struct lace_plane_circuit c = p->circuits[i];
		unsigned int e = lace_planner_pair(planner, c.src, c.dst);
		unsigned int l = planner->pairs[e].first_link;

		if (have[l] == count[l])
			continue;
		have[l]++;
		c.kept = true;
		p->circuits[nr] = c;
		enter(p, nr++);
	}
	p->nr = nr;
}

/*
 * The path that starts with the circuit of colour a into dst and alternates
 * between a and b; returns how many of its circuits were to stay.
 */
static unsigned int price(const struct lace_planes *p, unsigned int dst,
			  unsigned int a, unsigned int b)
{
	unsigned int at = *rx_at(p, dst, a), nr = 0;
	bool into = true;

	while (at != LACE_NONE) {
		nr += p->circuits[at].kept;
		at = into ? *tx_at(p, p->circuits[at].src, b) :
			    *rx_at(p, p->circuits[at].dst, a);
		into = !into;
	}
	return nr;
}

static void swap_path(struct lace_planes *p, unsigned int dst, unsigned int a,
		      unsigned int b)
{
	unsigned int at = *rx_at(p, dst, a);
	bool into = true;

	*rx_at(p, dst, a) = LACE_NONE;
	while (at != LACE_NONE) {
		struct lace_plane_circuit *c = &p->circuits[at];
		unsigned int from = into ? a : b, to = into ? b : a;
		unsigned int *near = into ? rx_at(p, c->dst, to) :
					    tx_at(p, c->src, to);
		unsigned int *far = into ? tx_at(p, c->src, to) :
					   rx_at(p, c->dst, to);
		unsigned int *left = into ? tx_at(p, c->src, from) :
					    rx_at(p, c->dst, from);
		unsigned int next = *far;

		*near = at;
		*far = at;
		*left = LACE_NONE;
		c->colour = to;
		c->kept = false;
		at = next;
		into = !into;
	}
}

static unsigned int pick_colour(struct lace_planes *p, unsigned int src,
				unsigned int dst)
{
	unsigned int best_a = 0, best_b = 0, best = LACE_NONE;

	for (unsigned int a = 0; a < p->nr_colours; a++)
		if (*tx_at(p, src, a) == LACE_NONE &&
		    *rx_at(p, dst, a) == LACE_NONE)
			return a;
	for (unsigned int a = 0; a < p->nr_colours; a++) {
		if (*tx_at(p, src, a) != LACE_NONE)
			continue;
		for (unsigned int b = 0; b < p->nr_colours; b++) {
			unsigned int cost;

			if (*rx_at(p, dst, b) != LACE_NONE)
				continue;
			cost = price(p, dst, a, b);
			if (cost < best) {
				best = cost;
				best_a = a;
				best_b = b;
			}
		}
	}
	swap_path(p, dst, best_a, best_b);
	return best_a;
}

int lace_planes_change(struct lace_planner *planner, struct lace_planes *planes,
		       const uint16_t *count)
{
	uint16_t *have = lace_planner_alloc(planner, planner->max_links,
					    sizeof(*have));

	if (!have)
		return -1;
	keep(planner, planes, have, count);
	for (unsigned int l = 0; l < planner->nr_links; l++) {
		const struct lace_between *pair =
			&planner->pairs[planner->links[l].pair[0]];

		for (; have[l] < count[l]; have[l]++) {
			struct lace_plane_circuit *c =
				&planes->circuits[planes->nr];

			*c = (struct lace_plane_circuit){
				.src = pair->src, .dst = pair->dst,
				.colour = pick_colour(planes, pair->src,
						      pair->dst) };
			enter(planes, planes->nr++);
		}
	}
	free(have);
	return 0;
}
