// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Stage 1, the Demand Profiler: from a schedule over ranks to what each op asks
 * of each pair of nodes.
 *
 * DESIGN NOTES
 *
 * The edges of an op are gathered, sorted by pair, and those of one pair added
 * up in order of size, so that the sum does not depend on how the schedule
 * happens to list them: like nodes get the same bits.  Equal lists are kept
 * once; later stages tell ops alike by the pointer.
 *
 * A small file can ask for a huge expansion.  All work is counted against
 * limits, so that it ends with an error rather than with the machine.
 */
#include "lace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPS (1u << 20)
#define MAX_WORK (1ULL << 29)	/* edges looked at */
#define MAX_PAIRS (1u << 26)	/* kept, of all ops together */

/* Below this many edges qsort() is faster than two passes over all nodes. */
#define SMALL 256

struct pairs {
	struct pairs *next;	/* in the same bucket */
	uint64_t hash;
	size_t nr;
	struct lace_pair pairs[];
};

/* Every list of pairs once, by hash. */
struct store {
	struct pairs **buckets;
	size_t nr_buckets, nr_lists, nr_pairs;
};

struct profiler {
	const struct lace_schedule *schedule;
	struct lace_demand *demand;
	struct store *store;
	struct lace_error *err;
	struct lace_pair *edges, *spare;
	size_t nr_edges, room;
	size_t *start;		/* of each node, for sorting */
	uint64_t work;
	size_t ops_room;
};

/* ---- the edges of one op ---- */

static int compare_pairs(const void *a, const void *b)
{
	const struct lace_pair *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int compare_bytes(const void *a, const void *b)
{
	const struct lace_pair *x = a, *y = b;

	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Stable, by source or by destination. */
static void distribute(struct profiler *p, const struct lace_pair *from,
		       struct lace_pair *to, bool by_src)
{
	size_t i, n = p->demand->nr_nodes;

	memset(p->start, 0, (n + 1) * sizeof(*p->start));
	for (i = 0; i < p->nr_edges; i++)
		p->start[(by_src ? from[i].src : from[i].dst) + 1]++;
	for (i = 0; i < n; i++)
		p->start[i + 1] += p->start[i];
	for (i = 0; i < p->nr_edges; i++)
		to[p->start[by_src ? from[i].src : from[i].dst]++] = from[i];
}

static void sort_edges(struct profiler *p)
{
	if (p->nr_edges < SMALL || p->nr_edges < p->demand->nr_nodes / 4) {
		qsort(p->edges, p->nr_edges, sizeof(*p->edges), compare_pairs);
		return;
	}
	distribute(p, p->edges, p->spare, false);
	distribute(p, p->spare, p->edges, true);
}

static double add_up(struct lace_pair *edges, size_t nr)
{
	double sum = 0;
	size_t i;

	for (i = 1; i < nr; i++) {
		if (edges[i].bytes < edges[i - 1].bytes) {
			qsort(edges, nr, sizeof(*edges), compare_bytes);
			break;
		}
	}
	for (i = 0; i < nr; i++)
		sum += edges[i].bytes;
	return sum;
}

/* Sorts the edges and makes one of all those of a pair. */
static void merge_edges(struct profiler *p)
{
	size_t from = 0, to = 0, end;
	double sum;

	sort_edges(p);
	while (from < p->nr_edges) {
		for (end = from + 1; end < p->nr_edges; end++)
			if (p->edges[end].src != p->edges[from].src ||
			    p->edges[end].dst != p->edges[from].dst)
				break;
		sum = add_up(&p->edges[from], end - from);
		p->edges[to] = p->edges[from];
		p->edges[to++].bytes = sum;
		from = end;
	}
	p->nr_edges = to;
}

static int grow_edges(struct profiler *p)
{
	size_t room = p->room ? 2 * p->room : 1024;
	struct lace_pair *edges, *spare;

	edges = realloc(p->edges, room * sizeof(*edges));
	if (edges)
		p->edges = edges;
	spare = realloc(p->spare, room * sizeof(*spare));
	if (spare)
		p->spare = spare;
	if (!edges || !spare)
		return lace_no_memory(p->err);
	p->room = room;
	return 0;
}

static int make_room(struct profiler *p)
{
	/* Many edges may be few pairs. */
	if (p->room >= 1u << 20) {
		merge_edges(p);
		if (p->nr_edges < p->room / 2)
			return 0;
	}
	if (p->nr_edges > MAX_PAIRS)
		return lace_fail(p->err, LACE_ERR_INPUT,
				 "an op sends between more than %u pairs of nodes",
				 MAX_PAIRS);
	return grow_edges(p);
}

static int take_edge(void *arg, unsigned int src, unsigned int dst,
		     double bytes)
{
	struct profiler *p = arg;
	const unsigned int *node = p->schedule->placement;

	if (node[src] == node[dst])
		return 0;
	if (p->nr_edges == p->room && make_room(p))
		return -1;
	p->edges[p->nr_edges++] =
		(struct lace_pair){ node[src], node[dst], bytes };
	return 0;
}

/* ---- lists of pairs, each kept once ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

static uint64_t hash_pairs(const struct lace_pair *pairs, size_t nr)
{
	uint64_t hash = nr, bits;
	size_t i;

	for (i = 0; i < nr; i++) {
		memcpy(&bits, &pairs[i].bytes, sizeof(bits));
		hash = mix(hash, (uint64_t)pairs[i].src << 32 | pairs[i].dst);
		hash = mix(hash, bits);
	}
	return hash;
}

static int grow_store(struct store *store)
{
	size_t nr = store->nr_buckets ? 2 * store->nr_buckets : 64, i;
	struct pairs **buckets = calloc(nr, sizeof(*buckets)), *list, *next;

	if (!buckets)
		return -1;
	for (i = 0; i < store->nr_buckets; i++) {
		for (list = store->buckets[i]; list; list = next) {
			next = list->next;
			list->next = buckets[list->hash % nr];
			buckets[list->hash % nr] = list;
		}
	}
	free(store->buckets);
	store->buckets = buckets;
	store->nr_buckets = nr;
	return 0;
}

static const struct pairs *find_list(const struct profiler *p, uint64_t hash)
{
	const struct store *store = p->store;
	const struct pairs *list;

	if (!store->nr_buckets)
		return NULL;
	list = store->buckets[hash % store->nr_buckets];
	for (; list; list = list->next)
		if (list->hash == hash && list->nr == p->nr_edges &&
		    !memcmp(list->pairs, p->edges,
			    p->nr_edges * sizeof(*p->edges)))
			return list;
	return NULL;
}

static const struct pairs *add_list(struct profiler *p, uint64_t hash)
{
	struct store *store = p->store;
	struct pairs *list;
	size_t bucket;

	if (store->nr_pairs + p->nr_edges > MAX_PAIRS) {
		lace_fail(p->err, LACE_ERR_INPUT,
			  "the ops send between more than %u pairs of nodes",
			  MAX_PAIRS);
		return NULL;
	}
	list = malloc(sizeof(*list) + p->nr_edges * sizeof(*p->edges));
	if (!list || (store->nr_lists >= store->nr_buckets &&
		      grow_store(store))) {
		free(list);
		lace_no_memory(p->err);
		return NULL;
	}
	bucket = hash % store->nr_buckets;
	list->next = store->buckets[bucket];
	list->hash = hash;
	list->nr = p->nr_edges;
	memcpy(list->pairs, p->edges, p->nr_edges * sizeof(*p->edges));
	store->buckets[bucket] = list;
	store->nr_lists++;
	store->nr_pairs += p->nr_edges;
	return list;
}

static void free_store(struct store *store)
{
	struct pairs *list, *next;
	size_t i;

	if (!store)
		return;
	for (i = 0; i < store->nr_buckets; i++) {
		for (list = store->buckets[i]; list; list = next) {
			next = list->next;
			free(list);
		}
	}
	free(store->buckets);
	free(store);
}

/* ---- ops ---- */

static unsigned int op_nr_steps(const struct lace_op *op, bool *stepped)
{
	unsigned int most = 1, steps, i;

	*stepped = false;
	for (i = 0; i < op->nr_parts; i++) {
		*stepped |= op->parts[i].steps;
		steps = lace_part_nr_steps(&op->parts[i]);
		if (steps > most)
			most = steps;
	}
	return most;
}

/* No fewer than the edges of a step of a group of n ranks. */
static uint64_t group_work(const struct lace_part *part, uint64_t n)
{
	switch (part->algorithm) {
	case LACE_RING:
		return n;
	case LACE_DOUBLE_TREE:
		return 4 * n;
	case LACE_HALVING_DOUBLING:
		return n * (64 - __builtin_clzll(n));
	default:
		return part->steps ? n : n * n;
	}
}

/* Told before it is done: what is too much is refused at once. */
static int count_work(struct profiler *p, const struct lace_part *part)
{
	bool empty = part->collective != LACE_ALL_TO_ALLV && !part->bytes;
	unsigned int i;

	p->work += 1 + part->nr_transfers + part->nr_groups;
	for (i = 0; i < part->nr_groups && !empty; i++) {
		p->work += group_work(part, part->groups[i].count);
		if (p->work > MAX_WORK)
			break;
	}
	if (p->work > MAX_WORK)
		return lace_fail(p->err, LACE_ERR_INPUT,
				 "the schedule expands to more than %llu edges",
				 MAX_WORK);
	return 0;
}

static const struct pairs *step_pairs(struct profiler *p,
				      const struct lace_op *op,
				      unsigned int step)
{
	const struct pairs *list;
	unsigned int i;
	uint64_t hash;

	p->nr_edges = 0;
	for (i = 0; i < op->nr_parts; i++)
		if (count_work(p, &op->parts[i]) ||
		    lace_part_edges(&op->parts[i], step, take_edge, p))
			return NULL;
	merge_edges(p);
	hash = hash_pairs(p->edges, p->nr_edges);
	list = find_list(p, hash);
	return list ? list : add_list(p, hash);
}

static int reserve_ops(struct profiler *p, unsigned int index, uint64_t rounds,
		       uint64_t steps)
{
	struct lace_demand *demand = p->demand;
	struct lace_demand_op *ops;
	size_t need;

	if (rounds > MAX_OPS || rounds * steps > MAX_OPS - demand->nr_ops)
		return lace_fail(p->err, LACE_ERR_INPUT,
				 "op %u (%s): %" PRIu64 " rounds of %" PRIu64
				 " steps: the plan gets more than %u ops",
				 index, p->schedule->ops[index].name, rounds,
				 steps, MAX_OPS);
	need = demand->nr_ops + rounds * steps;
	if (need <= p->ops_room)
		return 0;
	if (need < 2 * p->ops_room)
		need = 2 * p->ops_room;
	ops = realloc(demand->ops, need * sizeof(*ops));
	if (!ops)
		return lace_no_memory(p->err);
	demand->ops = ops;
	p->ops_room = need;
	return 0;
}

/* An op with steps is written out: s1 s2 s1 s2. */
static int profile_op(struct profiler *p, unsigned int index)
{
	const struct lace_op *op = &p->schedule->ops[index];
	struct lace_demand *demand = p->demand;
	const struct pairs *list;
	unsigned int steps, step;
	uint64_t rounds, i;
	bool stepped;
	size_t first;

	steps = op_nr_steps(op, &stepped);
	rounds = stepped ? op->repeat : 1;
	if (reserve_ops(p, index, rounds, steps))
		return -1;
	first = demand->nr_ops;
	for (step = 0; step < steps; step++) {
		list = step_pairs(p, op, step);
		if (!list)
			return -1;
		demand->ops[demand->nr_ops++] = (struct lace_demand_op){
			.name = op->name, .schedule_op = index, .step = step,
			.repeat = stepped ? 1 : op->repeat,
			.nr_pairs = list->nr, .pairs = list->pairs,
		};
	}
	for (i = 1; i < rounds; i++) {
		memcpy(&demand->ops[demand->nr_ops], &demand->ops[first],
		       steps * sizeof(*demand->ops));
		demand->nr_ops += steps;
	}
	return 0;
}

static int check_placement(const struct lace_schedule *schedule,
			   unsigned int nr_nodes, struct lace_error *err)
{
	unsigned int i;

	for (i = 0; i < schedule->nr_ranks; i++) {
		if (schedule->placement[i] < nr_nodes)
			continue;
		lace_fail(err, LACE_ERR_INPUT,
			  "placement[%u]: the cluster has no node %u: it has %u",
			  i, schedule->placement[i], nr_nodes);
		err->line = schedule->placement_line;
		return -1;
	}
	return 0;
}

static int profile_ops(struct profiler *p)
{
	unsigned int i;

	for (i = 0; i < p->schedule->nr_ops; i++)
		if (profile_op(p, i))
			return -1;
	return 0;
}

/**
 * lace_profile() - stage 1: what each op asks of each pair of nodes
 * @schedule: has to outlive @demand
 * @nr_nodes: of the cluster
 * @demand: filled; empty on failure
 * @err: filled on failure, with the line if the placement is wrong
 *
 * Return: 0, or a negative value.
 */
int lace_profile(const struct lace_schedule *schedule, unsigned int nr_nodes,
		 struct lace_demand *demand, struct lace_error *err)
{
	struct profiler p = {
		.schedule = schedule, .demand = demand, .err = err,
	};
	int ret;

	memset(demand, 0, sizeof(*demand));
	if (check_placement(schedule, nr_nodes, err))
		return -1;
	demand->nr_nodes = nr_nodes;
	p.store = calloc(1, sizeof(*p.store));
	demand->store = p.store;
	p.start = calloc((size_t)nr_nodes + 1, sizeof(*p.start));
	if (p.store && p.start)
		ret = grow_edges(&p) ? -1 : profile_ops(&p);
	else
		ret = lace_no_memory(err);
	free(p.start);
	free(p.edges);
	free(p.spare);
	if (ret)
		lace_demand_free(demand);
	return ret;
}

/**
 * lace_demand_free() - free what a demand holds
 * @demand: it; empty afterwards
 */
void lace_demand_free(struct lace_demand *demand)
{
	free_store(demand->store);
	free(demand->ops);
	memset(demand, 0, sizeof(*demand));
}
