// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What a collective sends, rank to rank: the table of the interfaces document
 * as code, one function an algorithm.
 */
#include "lace.h"

struct emitter {
	int (*edge)(void *arg, unsigned int src, unsigned int dst,
		    double bytes);
	void *arg;
	const struct lace_group *group;
};

/* src and dst are places in the group. */
static int emit(const struct emitter *to, unsigned int src, unsigned int dst,
		double bytes)
{
	unsigned int src_rank = lace_group_rank(to->group, src);
	unsigned int dst_rank = lace_group_rank(to->group, dst);

	if (src_rank == dst_rank || !(bytes > 0))
		return 0;
	return to->edge(to->arg, src_rank, dst_rank, bytes);
}

static int emit_both(const struct emitter *to, unsigned int a, unsigned int b,
		     double bytes)
{
	int ret = emit(to, a, b, bytes);

	return ret ? ret : emit(to, b, a, bytes);
}

/* Every edge of the ring but the one out of place skip (none: skip = n). */
static int emit_ring(const struct emitter *to, unsigned int skip, double bytes)
{
	unsigned int n = to->group->count, i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		if (i != skip)
			ret = emit(to, i, i + 1 < n ? i + 1 : 0, bytes);
	return ret;
}

static int ring(const struct emitter *to, const struct lace_part *part)
{
	double n = to->group->count, bytes = part->bytes;
	unsigned int count = to->group->count;

	switch (part->collective) {
	case LACE_ALL_REDUCE:
		return emit_ring(to, count, 2 * bytes * (n - 1) / n);
	case LACE_BROADCAST:	/* nothing goes into the root */
		return emit_ring(to, (part->root + count - 1) % count, bytes);
	case LACE_REDUCE:	/* nothing leaves the root */
		return emit_ring(to, part->root, bytes);
	default:
		return emit_ring(to, count, bytes * (n - 1) / n);
	}
}

static int exchange(const struct emitter *to, unsigned int distance,
		    double bytes)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < to->group->count && !ret; i++)
		ret = emit(to, i, i ^ distance, bytes);
	return ret;
}

static unsigned int log2_of(unsigned int n)
{
	return 31 - __builtin_clz(n);
}

static int halving_doubling(const struct emitter *to,
			    const struct lace_part *part)
{
	unsigned int rounds = log2_of(to->group->count), i;
	int ret = 0;

	for (i = 0; i < rounds && !ret; i++)
		ret = exchange(to, 1u << i, (double)part->bytes / (1u << i));
	return ret;
}

static int halving_doubling_step(const struct emitter *to,
				 const struct lace_part *part,
				 unsigned int step)
{
	unsigned int rounds = log2_of(to->group->count);
	unsigned int i = step < rounds ? step : 2 * rounds - 1 - step;

	return exchange(to, 1u << i, (double)part->bytes / (2u << i));
}

/* NCCL's first tree: in-order, with place 0 above the highest power of two.  A
 * place's height is its lowest set bit; its parent has the next bit in its
 * stead, or, past the end, no bit at all.
 */
static unsigned int tree_parent(unsigned int place, unsigned int n)
{
	unsigned int bit = place & -place;
	unsigned int parent = (place ^ bit) | bit << 1;

	return parent < n ? parent : place ^ bit;
}

/* The second tree is the first, mirrored if n is even and moved on by one place
 * if n is odd, so that who is a leaf in one is not in the other.
 */
static int double_tree(const struct emitter *to, const struct lace_part *part)
{
	unsigned int n = to->group->count, i, parent;
	double bytes = (double)part->bytes / 2;
	int ret = 0;

	for (i = 1; i < n && !ret; i++) {
		parent = tree_parent(i, n);
		ret = emit_both(to, i, parent, bytes);
		if (ret)
			break;
		if (n % 2)
			ret = emit_both(to, (i + 1) % n, (parent + 1) % n,
					bytes);
		else
			ret = emit_both(to, n - 1 - i, n - 1 - parent, bytes);
	}
	return ret;
}

static double direct_bytes(const struct lace_part *part, unsigned int group,
			   unsigned int src, unsigned int dst)
{
	unsigned int n = part->groups[group].count;

	return part->matrix ? part->matrix[group][(size_t)src * n + dst]
			    : (double)part->bytes / n;
}

/* What everybody sends to the one k places on. */
static int direct_step(const struct emitter *to, const struct lace_part *part,
		       unsigned int group, unsigned int k)
{
	unsigned int n = to->group->count, i, dst;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		dst = i + k < n ? i + k : i + k - n;
		ret = emit(to, i, dst, direct_bytes(part, group, i, dst));
	}
	return ret;
}

static int direct(const struct emitter *to, const struct lace_part *part,
		  unsigned int group)
{
	unsigned int k;
	int ret = 0;

	for (k = 1; k < to->group->count && !ret; k++)
		ret = direct_step(to, part, group, k);
	return ret;
}

static unsigned int group_nr_steps(const struct lace_part *part,
				   const struct lace_group *group)
{
	if (part->algorithm == LACE_HALVING_DOUBLING)
		return 2 * log2_of(group->count);
	return group->count - 1;
}

/**
 * lace_part_nr_steps() - how many steps a part takes
 * @part: collective or transfers
 *
 * Return: 1 for a part without steps; else that of its greatest group, 0 if
 * all its groups are single ranks.
 */
unsigned int lace_part_nr_steps(const struct lace_part *part)
{
	unsigned int most = 0, steps, i;

	if (!part->steps)
		return 1;
	for (i = 0; i < part->nr_groups; i++) {
		steps = group_nr_steps(part, &part->groups[i]);
		if (steps > most)
			most = steps;
	}
	return most;
}

static int group_edges(const struct emitter *to, const struct lace_part *part,
		       unsigned int group, unsigned int step)
{
	if (part->steps && step >= group_nr_steps(part, to->group))
		return 0;
	switch (part->algorithm) {
	case LACE_RING:
		return ring(to, part);
	case LACE_DOUBLE_TREE:
		return double_tree(to, part);
	case LACE_HALVING_DOUBLING:
		return part->steps ? halving_doubling_step(to, part, step)
				   : halving_doubling(to, part);
	default:
		return part->steps ? direct_step(to, part, group, step + 1)
				   : direct(to, part, group);
	}
}

static int transfer_edges(const struct lace_part *part,
			  int (*edge)(void *arg, unsigned int src,
				      unsigned int dst, double bytes),
			  void *arg)
{
	const struct lace_transfer *transfer;
	int ret = 0;
	size_t i;

	for (i = 0; i < part->nr_transfers && !ret; i++) {
		transfer = &part->transfers[i];
		if (transfer->src != transfer->dst && transfer->bytes)
			ret = edge(arg, transfer->src, transfer->dst,
				   transfer->bytes);
	}
	return ret;
}

/**
 * lace_part_edges() - what a part sends
 * @part: collective or transfers
 * @step: 0 to lace_part_nr_steps() - 1; a part without steps runs in step 0
 * @edge: called for each directed edge between two ranks with bytes to send;
 *	an edge may come more than once, and then counts each time; returns 0
 *	to go on
 * @arg: for @edge
 *
 * Return: 0, or what @edge returned to stop.
 */
int lace_part_edges(const struct lace_part *part, unsigned int step,
		    int (*edge)(void *arg, unsigned int src, unsigned int dst,
				double bytes),
		    void *arg)
{
	struct emitter to = { .edge = edge, .arg = arg };
	unsigned int i;
	int ret = 0;

	if (!part->steps && step)
		return 0;
	if (part->collective == LACE_TRANSFERS)
		return transfer_edges(part, edge, arg);
	/* Not only to save time: all-to-all of nothing is n x n of nothing. */
	if (part->collective != LACE_ALL_TO_ALLV && !part->bytes)
		return 0;
	for (i = 0; i < part->nr_groups && !ret; i++) {
		to.group = &part->groups[i];
		ret = group_edges(&to, part, i, step);
	}
	return ret;
}
