// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Stage 4, the Lane Binder: counts of circuits become circuits between ports.
 *
 * Lanes of a pool are alike, so a circuit of a link may take any lane of its
 * two pools: circuits of the previous configuration stay while the count lasts,
 * the others take the first lanes that are free.  That keeps as many circuits
 * as any binding could of those links, which bind_links.c chooses.  Planes are
 * coloured instead (bind_planes.c).
 */
#include "bind.h"

#include <stdlib.h>
#include <string.h>

struct held {
	unsigned int link, lane[2];	/* lanes: indices in planner->lanes */
};

struct binder {
	struct lace_planner *planner;
	uint16_t *count, *before;	/* of each link, moved between links */
	unsigned int nr, max;
	struct held *held, *next;
	bool *taken;		/* of each lane */
	uint16_t *kept;		/* of each link */
};

static unsigned int free_lane(const struct binder *b, unsigned int pool)
{
	const struct lace_pool *p = &b->planner->pools[pool];

	for (unsigned int l = p->first_lane; l < p->first_lane + p->size; l++)
		if (!b->taken[l])
			return l;
	return LACE_NONE;
}

static void hold(struct binder *b, unsigned int *nr, struct held held)
{
	b->taken[held.lane[0]] = b->taken[held.lane[1]] = true;
	b->next[(*nr)++] = held;
}

/* There are lanes for all counts: check_counts(). */
static void change(struct binder *b, const uint16_t *count)
{
	const struct lace_planner *planner = b->planner;
	struct held *swap = b->held;
	unsigned int nr = 0;

	memset(b->taken, 0, b->max * sizeof(*b->taken));
	memset(b->kept, 0, planner->max_links * sizeof(*b->kept));
	for (unsigned int i = 0; i < b->nr; i++) {
		if (b->kept[b->held[i].link] == count[b->held[i].link])
			continue;
		b->kept[b->held[i].link]++;
		hold(b, &nr, b->held[i]);
	}
	for (unsigned int l = 0; l < planner->nr_links; l++) {
		const struct lace_link *link = &planner->links[l];

		for (; b->kept[l] < count[l]; b->kept[l]++) {
			struct held held = { .link = l, .lane = {
				free_lane(b, link->pool[0]),
				free_lane(b, link->pool[1]) } };

			hold(b, &nr, held);
		}
	}
	b->held = b->next;
	b->next = swap;
	b->nr = nr;
}

static int write_circuits(const struct binder *b, struct lace_bound_run *bound)
{
	const struct lace_planner *planner = b->planner;
	struct lace_circuit *c = calloc(2 * (size_t)b->nr + 1, sizeof(*c));

	if (!c)
		return -1;
	bound->circuits = c;
	for (unsigned int i = 0; i < b->nr; i++) {
		const struct held *h = &b->held[i];
		const struct lace_link *link = &planner->links[h->link];
		struct lace_circuit there = {
			.tx_node = planner->pools[link->pool[0]].node,
			.tx_port = planner->lanes[h->lane[0]],
			.rx_node = planner->pools[link->pool[1]].node,
			.rx_port = planner->lanes[h->lane[1]] };

		c[bound->nr++] = there;
		if (planner->duplex)
			c[bound->nr++] = (struct lace_circuit){
				.tx_node = there.rx_node,
				.tx_port = there.rx_port,
				.rx_node = there.tx_node,
				.rx_port = there.tx_port };
	}
	qsort(c, bound->nr, sizeof(*c), lace_circuit_order);
	return 0;
}

static int bind_run(struct binder *b, const struct lace_run *run, bool follows,
		    struct lace_bound_run *bound, struct lace_error *err)
{
	struct lace_planner *planner = b->planner;
	uint16_t *swap = b->before;

	b->before = b->count;
	b->count = swap;
	memcpy(b->count, run->config.count,
	       planner->max_links * sizeof(*b->count));
	if (follows && lace_bind_links(planner, b->before, b->count))
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	change(b, b->count);
	if (write_circuits(b, bound))
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	return 0;
}

static int bind_pools(struct lace_planner *planner,
		      const struct lace_partition *partition,
		      struct lace_bound_run *bound, struct lace_error *err)
{
	struct binder b = { .planner = planner };
	int ret = -1;

	for (unsigned int k = 0; k < planner->nr_pools; k++)
		b.max += planner->pools[k].size;
	b.held = lace_planner_alloc(planner, b.max, sizeof(*b.held));
	b.next = lace_planner_alloc(planner, b.max, sizeof(*b.next));
	b.taken = lace_planner_alloc(planner, b.max, sizeof(*b.taken));
	b.kept = lace_planner_alloc(planner, planner->max_links,
				    sizeof(*b.kept));
	b.count = lace_planner_alloc(planner, planner->max_links,
				     sizeof(*b.count));
	b.before = lace_planner_alloc(planner, planner->max_links,
				      sizeof(*b.before));
	if (planner->oom) {
		lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
		goto out;
	}
	ret = 0;
	for (unsigned int i = 0; !ret && i < partition->nr; i++)
		ret = bind_run(&b, &partition->runs[i], i, &bound[i], err);
out:
	free(b.held);
	free(b.next);
	free(b.taken);
	free(b.kept);
	free(b.count);
	free(b.before);
	return ret;
}

/* ---- counts that stage 3 would not make ---- */

static int no_lane(const struct lace_planner *planner,
		   const struct lace_link *link, unsigned int side,
		   struct lace_error *err)
{
	const struct lace_pool *pool = &planner->pools[link->pool[side]];
	const struct lace_node *nodes = planner->cluster->nodes;

	return lace_fail(err, LACE_ERR_ANSWER,
			 "no lane for the circuit %s -> %s: all %u %s of %s%s%s are taken",
			 nodes[planner->pools[link->pool[0]].node].name,
			 nodes[planner->pools[link->pool[1]].node].name,
			 pool->size,
			 planner->duplex ? "duplex ports" :
			 side ? "RX lanes" : "TX lanes",
			 nodes[pool->node].name,
			 planner->merged ? "" : " on OCS ",
			 planner->merged ? "" :
			 planner->cluster->ocs[pool->ocs_tx].name);
}

static int check_counts(struct lace_planner *planner,
			const struct lace_partition *partition,
			struct lace_error *err)
{
	unsigned int *used = lace_planner_alloc(planner, planner->nr_pools,
						sizeof(*used));

	if (!used)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	for (unsigned int i = 0; i < partition->nr; i++) {
		const uint16_t *count = partition->runs[i].config.count;

		memset(used, 0, planner->nr_pools * sizeof(*used));
		for (unsigned int l = 0; l < 2 * planner->nr_links; l++) {
			const struct lace_link *link = &planner->links[l / 2];
			unsigned int pool = link->pool[l % 2];

			used[pool] += count[l / 2];
			if (used[pool] > planner->pools[pool].size) {
				free(used);
				return no_lane(planner, link, l % 2, err);
			}
		}
	}
	free(used);
	return 0;
}

int lace_bind(struct lace_planner *planner,
	      const struct lace_partition *partition,
	      struct lace_bound_run *bound, struct lace_error *err)
{
	if (check_counts(planner, partition, err))
		return -1;
	if (planner->merged)
		return lace_bind_planes(planner, partition, bound, err);
	return bind_pools(planner, partition, bound, err);
}
