// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Where a pair has several links of one rate, which of them carry its circuits
 * is all the same to its speed, but not to what stays in place: circuits are
 * moved to links that had more before, where lanes are left or another circuit
 * can make way that is not where it was either.
 */
#include "bind.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 16
#define DEPTH 10	/* circuits that make way one for the other */
#define BUDGET 2000	/* moves looked at for one circuit */
#define TOTAL 200000	/* and for all */

struct mover {
	const struct lace_planner *planner;
	const uint16_t *before;
	uint16_t *count;
	unsigned int *left;		/* lanes of each pool */
	unsigned int *first, *next[2];	/* links of each pool, by side */
	unsigned int steps[BUDGET][2], nr_steps;	/* taken: from, to */
	unsigned int budget, total;
};

static void put(struct mover *m, unsigned int link, int nr)
{
	const struct lace_link *l = &m->planner->links[link];

	m->count[link] += nr;
	m->left[l->pool[0]] -= nr;
	m->left[l->pool[1]] -= nr;
}

static bool has_room(const struct mover *m, unsigned int link)
{
	const struct lace_link *l = &m->planner->links[link];

	return m->left[l->pool[0]] && m->left[l->pool[1]];
}

/* Another link of the same pair and rate, after at; LACE_NONE past the last. */
static unsigned int next_alike(const struct mover *m, unsigned int link,
			       unsigned int at)
{
	const struct lace_link *links = m->planner->links;
	const struct lace_between *pair =
		&m->planner->pairs[links[link].pair[0]];

	at = at == LACE_NONE ? pair->first_link : at + 1;
	for (; at < pair->first_link + pair->nr_links; at++)
		if (at != link && links[at].rate_bps == links[link].rate_bps)
			return at;
	return LACE_NONE;
}

static bool is_needless(const struct mover *m, unsigned int link)
{
	return m->count[link] > m->before[link];
}

static bool move(struct mover *m, unsigned int from, unsigned int to,
		 unsigned int depth);

/* True if moving a circuit so does not lose one that is where it was. */
static bool is_free(const struct mover *m, unsigned int from, unsigned int to)
{
	return is_needless(m, from) || m->count[to] < m->before[to];
}

/* Has some circuit of the pool moved elsewhere. */
static bool clear_lane(struct mover *m, unsigned int pool, unsigned int side,
		       unsigned int depth)
{
	for (unsigned int from = m->first[pool]; from != LACE_NONE;
	     from = m->next[side][from]) {
		if (!m->count[from])
			continue;
		for (unsigned int to = next_alike(m, from, LACE_NONE);
		     to != LACE_NONE; to = next_alike(m, from, to)) {
			if (m->planner->links[to].pool[side] == pool ||
			    !is_free(m, from, to))
				continue;
			if (move(m, from, to, depth))
				return true;
			if (!m->budget)
				return false;
		}
	}
	return false;
}

/* One circuit of (from, to) more, others making way; or all stays as it was. */
static bool move(struct mover *m, unsigned int from, unsigned int to,
		 unsigned int depth)
{
	const struct lace_link *l = &m->planner->links[to];
	unsigned int mark = m->nr_steps;

	if (!m->budget)
		return false;
	m->budget--;
	put(m, from, -1);
	for (unsigned int side = 0; side < 2 && depth; side++)
		if (!m->left[l->pool[side]] &&
		    !clear_lane(m, l->pool[side], side, depth - 1))
			break;
	if (has_room(m, to)) {
		put(m, to, 1);
		m->steps[m->nr_steps][0] = from;
		m->steps[m->nr_steps++][1] = to;
		return true;
	}
	while (m->nr_steps > mark) {
		m->nr_steps--;
		put(m, m->steps[m->nr_steps][1], -1);
		put(m, m->steps[m->nr_steps][0], 1);
	}
	put(m, from, 1);
	return false;
}

static bool try_move(struct mover *m, unsigned int from, unsigned int to)
{
	bool moved;

	for (unsigned int depth = 0; depth <= DEPTH; depth++) {
		m->budget = m->total < BUDGET ? m->total : BUDGET;
		m->total -= m->budget;
		m->nr_steps = 0;
		moved = move(m, from, to, depth);
		m->total += m->budget;
		if (moved)
			return true;
	}
	return false;
}

static bool fill(struct mover *m, unsigned int to)
{
	bool moved = false;

	for (unsigned int from = next_alike(m, to, LACE_NONE);
	     from != LACE_NONE; from = next_alike(m, to, from))
		while (m->count[to] < m->before[to] && is_needless(m, from) &&
		       try_move(m, from, to))
			moved = true;
	return moved;
}

static void list_links(struct mover *m)
{
	const struct lace_planner *planner = m->planner;

	memset(m->first, 0xff, planner->nr_pools * sizeof(*m->first));
	for (unsigned int k = 0; k < planner->nr_pools; k++)
		m->left[k] = planner->pools[k].size;
	for (unsigned int l = 0; l < planner->nr_links; l++) {
		const struct lace_link *link = &planner->links[l];

		for (unsigned int side = 0; side < 2; side++) {
			m->next[side][l] = m->first[link->pool[side]];
			m->first[link->pool[side]] = l;
			m->left[link->pool[side]] -= m->count[l];
		}
	}
}

int lace_bind_links(struct lace_planner *planner, const uint16_t *before,
		    uint16_t *count)
{
	struct mover m = { .planner = planner, .before = before,
			   .count = count, .total = TOTAL };
	bool moved = true;

	if (planner->simple || planner->duplex)
		return 0;
	m.left = lace_planner_alloc(planner, planner->nr_pools,
				    sizeof(*m.left));
	m.first = lace_planner_alloc(planner, planner->nr_pools,
				     sizeof(*m.first));
	m.next[0] = lace_planner_alloc(planner, planner->nr_links,
				       sizeof(*m.next[0]));
	m.next[1] = lace_planner_alloc(planner, planner->nr_links,
				       sizeof(*m.next[1]));
	if (!planner->oom)
		list_links(&m);
	for (unsigned int r = 0; r < ROUNDS && moved && !planner->oom; r++) {
		moved = false;
		for (unsigned int l = 0; l < planner->nr_links; l++)
			if (count[l] < before[l])
				moved |= fill(&m, l);
	}
	free(m.left);
	free(m.first);
	free(m.next[0]);
	free(m.next[1]);
	return planner->oom ? -1 : 0;
}
