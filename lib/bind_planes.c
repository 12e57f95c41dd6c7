// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The configurations of a plan on planes, one OCS for each lane of a node.  They
 * are coloured one after the other, each near to the one before; what that
 * leaves to be kept is looked for between its neighbours on both sides, up and
 * down the plan, since the first colouring is as free as any.
 */
#include "bind.h"

#include <stdlib.h>
#include <string.h>

/* Circuits looked at: for each lane of each configuration, but not more than a
 * fraction of a second for all of a plan.
 */
#define EFFORT 4000
#define BUDGET 20000000
/* Neighbours do better by many small steps in turn than by few large ones. */
#define SHARE 32		/* for each lane of the one whose turn it is */
#define IDLE_SWEEPS 40		/* without gain, then it is given up */

struct run_cells {
	unsigned int *dst;	/* of node and colour */
	unsigned int could;	/* circuits that the run before has, too */
};

struct planes {
	struct lace_planner *planner;
	unsigned int nr_colours;
	size_t nr_cells;
	unsigned int *tx_port, *rx_port;	/* of node and colour */
	struct lace_colouring colouring;
	unsigned int nr_runs;
	struct run_cells *runs;
	unsigned int *dark;
	size_t budget;
};

/* ---- ports of each colour: a node's lanes in the order of their OCSes ---- */

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

static void fill_ports(struct planes *planes)
{
	const struct lace_planner *planner = planes->planner;

	for (unsigned int p = 0; p < planner->nr_pools; p++) {
		const struct lace_pool *pool = &planner->pools[p];
		bool tx = p < planner->first_tx[planner->nr_nodes];
		unsigned int *to = (tx ? planes->tx_port : planes->rx_port) +
				   (size_t)pool->node * planes->nr_colours;

		memcpy(to, planner->lanes + pool->first_lane,
		       pool->size * sizeof(*to));
		sort_lanes(&planner->cluster->nodes[pool->node], tx, to,
			   pool->size);
	}
}

/* ---- circuits ---- */

static int order_joined(const void *a, const void *b)
{
	const struct lace_joined *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

static size_t list_joined(const struct lace_planner *planner,
			  const uint16_t *count, struct lace_joined *joined)
{
	size_t nr = 0;

	for (unsigned int l = 0; l < planner->nr_links; l++) {
		const struct lace_between *pair =
			&planner->pairs[planner->links[l].pair[0]];

		if (count[l])
			joined[nr++] = (struct lace_joined){
				pair->src, pair->dst, count[l] };
	}
	qsort(joined, nr, sizeof(*joined), order_joined);
	return nr;
}

/* How many circuits two lists have in common, each sorted. */
static unsigned int count_common(const struct lace_joined *a, size_t nr_a,
				 const struct lace_joined *b, size_t nr_b)
{
	unsigned int common = 0;

	for (size_t i = 0, j = 0; i < nr_a && j < nr_b;) {
		int order = order_joined(&a[i], &b[j]);

		if (!order)
			common += a[i].nr < b[j].nr ? a[i].nr : b[j].nr;
		i += order <= 0;
		j += order >= 0;
	}
	return common;
}

static int write_run(const struct planes *planes, const unsigned int *dst,
		     struct lace_bound_run *bound)
{
	unsigned int k = planes->nr_colours;
	struct lace_circuit *c = calloc(planes->nr_cells + 1, sizeof(*c));

	if (!c)
		return -1;
	bound->circuits = c;
	for (size_t at = 0; at < planes->nr_cells; at++)
		if (dst[at] != LACE_NONE)
			c[bound->nr++] = (struct lace_circuit){
				.tx_node = at / k,
				.tx_port = planes->tx_port[at],
				.rx_node = dst[at],
				.rx_port = planes->rx_port[(size_t)dst[at] * k +
							   at % k] };
	qsort(c, bound->nr, sizeof(*c), lace_circuit_order);
	return 0;
}

/* ---- colours ---- */

/* What the run could keep of both its neighbours. */
static unsigned int could_keep(const struct planes *planes, unsigned int run)
{
	unsigned int could = planes->runs[run].could;

	if (run + 1 < planes->nr_runs)
		could += planes->runs[run + 1].could;
	return could;
}

/* after: whether the run that follows is there yet. */
static void point_at(struct planes *planes, unsigned int run, bool after)
{
	struct lace_colouring *c = &planes->colouring;

	c->dst = planes->runs[run].dst;
	c->before = run ? planes->runs[run - 1].dst : planes->dark;
	c->after = after && run + 1 < planes->nr_runs ?
		planes->runs[run + 1].dst : planes->dark;
}

static int improve(struct planes *planes, unsigned int could, size_t budget)
{
	struct lace_colouring *c = &planes->colouring;
	size_t work = 0;
	int ret;

	lace_colouring_swap_all(c);
	budget = budget < planes->budget ? budget : planes->budget;
	ret = lace_colouring_peel(c, could, budget, &work);
	planes->budget -= work < planes->budget ? work : planes->budget;
	return ret;
}

/* Each run near to the one before; what it could keep of that is noted. */
static int colour_runs(struct planes *planes,
		       const struct lace_partition *partition,
		       struct lace_joined *joined, struct lace_joined *last)
{
	size_t nr_last = 0, nr;

	for (unsigned int i = 0; i < planes->nr_runs; i++) {
		struct run_cells *run = &planes->runs[i];

		nr = list_joined(planes->planner,
				 partition->runs[i].config.count, joined);
		run->could = count_common(last, nr_last, joined, nr);
		memcpy(last, joined, nr * sizeof(*joined));
		nr_last = nr;
		run->dst = malloc((planes->nr_cells + 1) * sizeof(*run->dst));
		if (!run->dst)
			return -1;
		point_at(planes, i, false);
		lace_colouring_make(&planes->colouring, joined, nr);
		if (lace_colouring_kept(&planes->colouring) < run->could &&
		    improve(planes, run->could,
			    planes->budget / (8 * (planes->nr_runs - i))))
			return -1;
	}
	return 0;
}

/* Runs that could keep more of their neighbours, each between the two. */
static int sweep(struct planes *planes, bool backwards, bool *gained)
{
	*gained = false;
	for (unsigned int k = 0; k < planes->nr_runs; k++) {
		unsigned int i = backwards ? planes->nr_runs - 1 - k : k;
		unsigned int could = could_keep(planes, i), kept;

		point_at(planes, i, true);
		kept = lace_colouring_kept(&planes->colouring);
		if (kept >= could)
			continue;
		lace_colouring_open(&planes->colouring);
		if (improve(planes, could, SHARE * planes->nr_cells))
			return -1;
		*gained |= lace_colouring_kept(&planes->colouring) > kept;
	}
	return 0;
}

static int colour(struct planes *planes, const struct lace_partition *partition)
{
	struct lace_planner *planner = planes->planner;
	struct lace_joined *joined, *last;
	unsigned int idle = 0;
	bool gained;
	int ret = -1;

	joined = lace_planner_alloc(planner, planner->max_links,
				    sizeof(*joined));
	last = lace_planner_alloc(planner, planner->max_links, sizeof(*last));
	if (joined && last)
		ret = colour_runs(planes, partition, joined, last);
	free(joined);
	free(last);
	for (unsigned int s = 0; !ret && idle < IDLE_SWEEPS; s++) {
		size_t left = planes->budget;

		ret = sweep(planes, !(s & 1), &gained);
		idle = gained ? 0 : idle + 1;
		if (planes->budget == left)
			break;
	}
	return ret;
}

/* ---- in and out ---- */

static int planes_init(struct planes *planes, unsigned int nr_runs)
{
	struct lace_planner *planner = planes->planner;
	unsigned int n = planner->nr_nodes, k = 0;
	size_t effort;

	for (unsigned int i = 0; i < n; i++)
		k = planner->tx_lanes[i] > k ? planner->tx_lanes[i] : k;
	planes->nr_colours = k;
	planes->nr_cells = (size_t)n * k;
	planes->nr_runs = nr_runs;
	effort = EFFORT * planes->nr_cells * nr_runs;
	planes->budget = effort < BUDGET ? effort : BUDGET;
	planes->tx_port = lace_planner_alloc(planner, planes->nr_cells,
					     sizeof(*planes->tx_port));
	planes->rx_port = lace_planner_alloc(planner, planes->nr_cells,
					     sizeof(*planes->rx_port));
	planes->dark = lace_planner_alloc(planner, planes->nr_cells,
					  sizeof(*planes->dark));
	planes->runs = lace_planner_alloc(planner, nr_runs,
					  sizeof(*planes->runs));
	if (planner->oom || lace_colouring_create(&planes->colouring, n, k))
		return -1;
	memset(planes->dark, 0xff, planes->nr_cells * sizeof(*planes->dark));
	fill_ports(planes);
	return 0;
}

static void planes_free(struct planes *planes)
{
	for (unsigned int i = 0; planes->runs && i < planes->nr_runs; i++)
		free(planes->runs[i].dst);
	free(planes->runs);
	free(planes->dark);
	free(planes->tx_port);
	free(planes->rx_port);
	lace_colouring_free(&planes->colouring);
}

int lace_bind_planes(struct lace_planner *planner,
		     const struct lace_partition *partition,
		     struct lace_bound_run *bound, struct lace_error *err)
{
	struct planes planes = { .planner = planner };
	int ret = planes_init(&planes, partition->nr);

	if (!ret)
		ret = colour(&planes, partition);
	for (unsigned int i = 0; !ret && i < partition->nr; i++)
		ret = write_run(&planes, planes.runs[i].dst, &bound[i]);
	planes_free(&planes);
	return ret ? lace_fail(err, LACE_ERR_SYSTEM, "out of memory") : 0;
}
