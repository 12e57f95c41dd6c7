// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Lanes that idle in one configuration can already be joined as the next one
 * needs them: they stay through the transition, and its first op runs over them.
 * A pair whose demand is relayed gets no circuit this way, since all it sends
 * would have to take it.
 */
#include "keep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct filler {
	struct lace_planner *planner;
	struct lace_router router;
	unsigned int *left;	/* lanes of each pool in the earlier one */
	bool *barred;		/* pairs that have demand there and no circuit */
	double *bits;		/* of each pair in the first op of the next */
};

static unsigned int first_kind(const struct lace_planner *planner,
			       const struct lace_run *run)
{
	unsigned int op = run->first_op;

	while (op < run->last_op && !planner->kinds[planner->op_kind[op]].nr)
		op++;
	return planner->op_kind[op];
}

/* Bits on each pair in the first op of the later configuration. */
static bool load_first(struct filler *f, const struct lace_run *later)
{
	unsigned int kind = first_kind(f->planner, later);

	lace_router_set(&f->router, later->config.count);
	if (lace_router_route(&f->router, kind) == INFINITY)
		return false;
	memcpy(f->bits, f->router.load,
	       f->planner->nr_pairs * sizeof(*f->bits));
	return true;
}

static void look_at(struct filler *f, const struct lace_run *earlier)
{
	const struct lace_planner *planner = f->planner;

	for (unsigned int k = 0; k < planner->nr_pools; k++)
		f->left[k] = planner->pools[k].size;
	for (unsigned int l = 0; l < planner->nr_links; l++) {
		f->left[planner->links[l].pool[0]] -= earlier->config.count[l];
		f->left[planner->links[l].pool[1]] -= earlier->config.count[l];
	}
	lace_router_set(&f->router, earlier->config.count);
	memset(f->barred, 0, planner->max_pairs * sizeof(*f->barred));
	for (unsigned int op = earlier->first_op; op <= earlier->last_op;
	     op++) {
		const struct lace_kind *k =
			&planner->kinds[planner->op_kind[op]];

		for (size_t i = 0; i < k->nr; i++)
			if (!(f->router.capacity[k->needs[i].pair] > 0))
				f->barred[k->needs[i].pair] = true;
	}
}

/* Of the pair, over the circuits that both have. */
static double kept_bps(const struct filler *f, unsigned int pair,
		       const uint16_t *a, const uint16_t *b)
{
	const struct lace_between *p = &f->planner->pairs[pair];
	double bps = 0;

	for (unsigned int l = p->first_link; l < p->first_link + p->nr_links;
	     l++)
		bps += (a[l] < b[l] ? a[l] : b[l]) *
		       f->planner->links[l].rate_bps;
	return bps;
}

/* A link of the pair that can have a circuit more; LACE_NONE if none can. */
static unsigned int free_link(const struct filler *f, unsigned int pair,
			      const uint16_t *a, const uint16_t *b)
{
	const struct lace_between *p = &f->planner->pairs[pair];

	for (unsigned int l = p->first_link; l < p->first_link + p->nr_links;
	     l++) {
		const struct lace_link *link = &f->planner->links[l];

		if (a[l] < b[l] && f->left[link->pool[0]] &&
		    f->left[link->pool[1]] && !f->barred[link->pair[0]] &&
		    (link->pair[1] == LACE_NONE || !f->barred[link->pair[1]]))
			return l;
	}
	return LACE_NONE;
}

/* The pair that would wait longest gets the next circuit. */
static bool fill_one(struct filler *f, uint16_t *a, const uint16_t *b)
{
	unsigned int best = LACE_NONE;
	double longest = 0;

	for (unsigned int e = 0; e < f->planner->nr_pairs; e++) {
		double wait;
		unsigned int l;

		if (!(f->bits[e] > 0))
			continue;
		wait = f->bits[e] / kept_bps(f, e, a, b);
		if (wait <= longest)
			continue;
		l = free_link(f, e, a, b);
		if (l == LACE_NONE)
			continue;
		longest = wait;
		best = l;
	}
	if (best == LACE_NONE)
		return false;
	a[best]++;
	f->left[f->planner->links[best].pool[0]]--;
	f->left[f->planner->links[best].pool[1]]--;
	return true;
}

static bool fill(struct filler *f, struct lace_partition *partition)
{
	bool any = false;

	for (unsigned int i = partition->nr; i-- > 1;) {
		struct lace_run *earlier = &partition->runs[i - 1];
		const struct lace_run *later = &partition->runs[i];

		if (!load_first(f, later))
			continue;
		look_at(f, earlier);
		while (fill_one(f, earlier->config.count, later->config.count))
			any = true;
	}
	return any;
}

bool lace_keep_fill(struct lace_planner *planner,
		    struct lace_partition *partition)
{
	struct filler f = { .planner = planner };
	bool any = false;

	f.left = lace_planner_alloc(planner, planner->nr_pools,
				    sizeof(*f.left));
	f.barred = lace_planner_alloc(planner, planner->max_pairs,
				      sizeof(*f.barred));
	f.bits = lace_planner_alloc(planner, planner->max_pairs,
				    sizeof(*f.bits));
	if (!planner->oom && !lace_router_create(planner, &f.router)) {
		any = fill(&f, partition);
		lace_router_free(&f.router);
	}
	free(f.left);
	free(f.barred);
	free(f.bits);
	return any;
}
