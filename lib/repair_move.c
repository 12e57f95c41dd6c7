// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Repair of a configuration: what is done about lost circuits, least first.
 *
 * A pair that lost a circuit gets another from lanes that are free.  Then pairs
 * that are broken, and after them those that make an op slower than it was, are
 * helped one at a time: by a circuit from free lanes, by another way for what is
 * relayed over them, by an exchange, which takes a TX lane from one pair and an RX
 * lane from another and joins what that leaves over.  Several pairs may have to
 * be helped before an op gets shorter, and on the way it may even get longer; if
 * the gain does not come about, the steps since the last one are taken back, so
 * nothing moves for nothing.
 */
#include "repair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE LACE_REPAIR_NONE
#define EQUAL 1e-9
#define MAX_LANES 64		/* kinds of lane of a node that are looked at */
#define TRIES 6			/* exchanges that are tried out for a pair */
#define REROUTES 8
#define WORK_BUDGET 2e7		/* of a run */
#define DEBTS 64		/* steps in a row that are not for the better */
#define CEILING 1.05		/* of the best cost: how far they may lead up */

/* What a step has to bring. */
struct goal {
	struct lace_repair_value *value;	/* of the state; updated */
	/* Not 0: it is enough if the pair gets faster and cost stays below. */
	double ceiling_s;
	unsigned int pair, term;
	double pair_s;
};

/* ---- circuits from free lanes ---- */

static bool join_hint(struct lace_repair *r, unsigned int pair)
{
	unsigned int src = r->pairs[pair].src, dst = r->pairs[pair].dst;

	for (unsigned int a = r->first_lane[src]; a < r->first_lane[src + 1];
	     a++) {
		unsigned int b = r->hint[a];

		if (b == NONE || r->node_of[b] != dst ||
		    !lace_repair_is_free(r, a, true) ||
		    !lace_repair_is_free(r, b, false) ||
		    !lace_repair_can_join(r, a, b))
			continue;
		lace_repair_connect(r, a, b);
		return true;
	}
	return false;
}

bool lace_repair_join(struct lace_repair *repair, unsigned int pair)
{
	struct lace_repair *r = repair;
	unsigned int src = r->pairs[pair].src, dst = r->pairs[pair].dst;

	if (join_hint(r, pair))
		return true;
	for (unsigned int a = r->first_lane[src]; a < r->first_lane[src + 1];
	     a++) {
		if (!lace_repair_is_free(r, a, true))
			continue;
		for (unsigned int b = r->first_lane[dst];
		     b < r->first_lane[dst + 1]; b++) {
			if (!lace_repair_is_free(r, b, false) ||
			    !lace_repair_can_join(r, a, b))
				continue;
			lace_repair_connect(r, a, b);
			return true;
		}
	}
	return false;
}

/* ---- exchanges ---- */

struct exchange {
	unsigned int tx, rx;
	double penalty;
};

static bool can_relay_all(const struct lace_repair *r, unsigned int pair)
{
	unsigned int e = r->pairs[pair].entry;

	for (; e != NONE; e = r->entries[e].next)
		if (r->entries[e].own > 0 &&
		    !lace_repair_may_relay(r, pair,
					   r->terms[r->entries[e].term].segment))
			return false;
	return true;
}

/* What the ops take longer if the pair loses a circuit of that rate. */
static double loss_of(struct lace_repair *r, unsigned int pair, double rate)
{
	double left = r->pairs[pair].bps - rate, loss = 0;
	unsigned int e = r->pairs[pair].entry;

	if (r->pairs[pair].circuits == 1)
		return can_relay_all(r, pair) ? 0 : INFINITY;
	for (; e != NONE; e = r->entries[e].next) {
		const struct lace_repair_entry *entry = &r->entries[e];
		const struct lace_repair_term *term = &r->terms[entry->term];
		double s = (entry->own + entry->relay) / left;

		r->work += 1;
		if (s > term->now_s)
			loss += term->repeat * (s - term->now_s);
	}
	return loss;
}

static double rate_of(const struct lace_repair *r, unsigned int a,
		      unsigned int b)
{
	return (double)(r->rate_bps[a] < r->rate_bps[b] ? r->rate_bps[a] :
							  r->rate_bps[b]);
}

/* Of taking a lane away from its circuit; 0 if it has none. */
static double penalty(struct lace_repair *r, unsigned int lane, bool tx)
{
	unsigned int other = tx ? r->tx_to[lane] : r->rx_from[lane], src, dst;
	double rate, loss;

	if (other == NONE)
		return 0;
	rate = rate_of(r, lane, other);
	src = r->node_of[tx ? lane : other];
	dst = r->node_of[tx ? other : lane];
	loss = loss_of(r, lace_repair_find(r, src, dst), rate);
	if (r->duplex)
		loss += loss_of(r, lace_repair_find(r, dst, src), rate);
	return loss;
}

struct side {
	unsigned int nr;
	unsigned int lane[MAX_LANES];
	double penalty[MAX_LANES];
};

static bool alike(const struct lace_repair *r, unsigned int a, unsigned int b,
		  bool tx)
{
	unsigned int x = tx ? r->tx_to[a] : r->rx_from[a];
	unsigned int y = tx ? r->tx_to[b] : r->rx_from[b];

	if (r->rate_bps[a] != r->rate_bps[b] || (x == NONE) != (y == NONE) ||
	    (x != NONE && (r->node_of[x] != r->node_of[y] ||
			   r->rate_bps[x] != r->rate_bps[y])))
		return false;
	if (r->duplex)
		return r->tx_ocs[a] == r->tx_ocs[b] &&
		       r->rx_ocs[a] == r->rx_ocs[b];
	return tx ? r->tx_ocs[a] == r->tx_ocs[b] :
		    r->rx_ocs[a] == r->rx_ocs[b];
}

/* One lane of each kind that the pair could get at its one end. */
static void list_side(struct lace_repair *r, unsigned int node, bool tx,
		      unsigned int not_with, struct side *side)
{
	side->nr = 0;
	for (unsigned int l = r->first_lane[node];
	     l < r->first_lane[node + 1] && side->nr < MAX_LANES; l++) {
		unsigned int other = tx ? r->tx_to[l] : r->rx_from[l], i = 0;

		if ((tx || r->duplex) && r->tx_ocs[l] < 0)
			continue;
		if ((!tx || r->duplex) && r->rx_ocs[l] < 0)
			continue;
		if (other != NONE && r->node_of[other] == not_with)
			continue;
		while (i < side->nr && !alike(r, side->lane[i], l, tx))
			i++;
		if (i < side->nr)
			continue;
		side->penalty[side->nr] = penalty(r, l, tx);
		side->lane[side->nr++] = l;
	}
}

/* The best few, cheapest first. */
static unsigned int list_exchanges(struct lace_repair *r, unsigned int pair,
				   double limit, struct exchange *best)
{
	struct side tx, rx;
	unsigned int nr = 0;

	list_side(r, r->pairs[pair].src, true, r->pairs[pair].dst, &tx);
	list_side(r, r->pairs[pair].dst, false, r->pairs[pair].src, &rx);
	for (unsigned int a = 0; a < tx.nr; a++) {
		for (unsigned int b = 0; b < rx.nr; b++) {
			struct exchange x = { tx.lane[a], rx.lane[b],
					      tx.penalty[a] + rx.penalty[b] };
			unsigned int at;

			if (!(x.penalty < limit) ||
			    !lace_repair_can_join(r, x.tx, x.rx) ||
			    (nr == TRIES && x.penalty >= best[nr - 1].penalty))
				continue;
			nr += nr < TRIES;
			for (at = nr - 1;
			     at && best[at - 1].penalty > x.penalty; at--)
				best[at] = best[at - 1];
			best[at] = x;
		}
	}
	return nr;
}

static bool has_demand(const struct lace_repair *r, unsigned int pair)
{
	unsigned int e = r->pairs[pair].entry;

	while (e != NONE && !(r->entries[e].own > 0))
		e = r->entries[e].next;
	return e != NONE;
}

static void make_exchange(struct lace_repair *r, const struct exchange *x)
{
	unsigned int far_rx = r->tx_to[x->tx], far_tx = r->rx_from[x->rx], pair;

	if (far_rx != NONE)
		lace_repair_disconnect(r, x->tx);
	if (far_tx != NONE)
		lace_repair_disconnect(r, far_tx);
	lace_repair_connect(r, x->tx, x->rx);
	if (far_rx == NONE || far_tx == NONE ||
	    !lace_repair_can_join(r, far_tx, far_rx))
		return;
	pair = lace_repair_find(r, r->node_of[far_tx], r->node_of[far_rx]);
	if (pair != NONE && has_demand(r, pair))
		lace_repair_connect(r, far_tx, far_rx);
}

static double pair_time(const struct lace_repair *r, unsigned int pair,
			unsigned int term)
{
	unsigned int e = r->pairs[pair].entry;

	while (e != NONE && r->entries[e].term != term)
		e = r->entries[e].next;
	if (e == NONE || !r->pairs[pair].circuits)
		return 0;
	return (r->entries[e].own + r->entries[e].relay) / r->pairs[pair].bps;
}

/* Keeps the steps since the journal had nr_changes if they are for the better. */
static bool judge(struct lace_repair *r, size_t nr_changes,
		  const struct goal *goal)
{
	struct lace_repair_value now = lace_repair_evaluate(r);
	bool good = lace_repair_better(&now, goal->value);

	if (!good && goal->ceiling_s > 0)
		good = !now.broken && now.cost_s < goal->ceiling_s &&
		       pair_time(r, goal->pair, goal->term) <
			       goal->pair_s * (1 - EQUAL);
	if (good && !r->oom) {
		*goal->value = now;
		return true;
	}
	lace_repair_undo(r, nr_changes);
	return false;
}

static bool try_exchanges(struct lace_repair *r, unsigned int pair,
			  double limit, const struct goal *goal)
{
	struct exchange best[TRIES];
	unsigned int nr = list_exchanges(r, pair, limit, best);

	for (unsigned int i = 0; i < nr; i++) {
		size_t mark = r->nr_changes;

		make_exchange(r, &best[i]);
		if (judge(r, mark, goal))
			return true;
	}
	return false;
}

/* ---- other ways for what is relayed ---- */

static bool crosses(const struct lace_repair *r, unsigned int route,
		    unsigned int pair)
{
	const struct lace_repair_route *w = &r->routes[route];

	for (unsigned int h = 0; h < w->nr; h++)
		if (r->hops[w->first + h] == pair)
			return true;
	return false;
}

static bool try_reroute(struct lace_repair *r, unsigned int pair,
			unsigned int segment, const struct goal *goal)
{
	unsigned int nr = r->nr_routes, tried = 0;

	if (!r->pairs[pair].through)
		return false;
	r->work += nr;
	for (unsigned int i = 0; i < nr && tried < REROUTES; i++) {
		size_t mark = r->nr_changes;

		if (!r->routes[i].live || r->routes[i].segment != segment ||
		    !crosses(r, i, pair))
			continue;
		tried++;
		lace_repair_take(r, i);
		if (!lace_repair_route(r, r->routes[i].pair, segment,
				       1 - EQUAL))
			lace_repair_undo(r, mark);
		else if (judge(r, mark, goal))
			return true;
	}
	return false;
}

/* ---- one pair after the other ---- */

static bool try_join(struct lace_repair *r, unsigned int pair,
		     const struct goal *goal)
{
	size_t mark = r->nr_changes;

	return lace_repair_join(r, pair) && judge(r, mark, goal);
}

static bool help(struct lace_repair *r, unsigned int pair, unsigned int term,
		 double limit, const struct goal *goal)
{
	return try_join(r, pair, goal) ||
	       (term != NONE &&
		try_reroute(r, pair, r->terms[term].segment, goal)) ||
	       try_exchanges(r, pair, limit, goal);
}

/* What the ops of a term take longer than before the failure. */
static double excess(const struct lace_repair_term *term)
{
	if (!(term->now_s > term->old_s * (1 + EQUAL)))
		return 0;
	return term->repeat * (term->now_s - term->old_s);
}

static unsigned int worst_term(const struct lace_repair *r, const bool *stuck)
{
	unsigned int worst = NONE;
	double most = 0;

	for (unsigned int t = 0; t < r->nr_terms; t++) {
		double e = stuck[t] ? 0 : excess(&r->terms[t]);

		if (e > most) {
			most = e;
			worst = t;
		}
	}
	return worst;
}

static unsigned int tight_pair(struct lace_repair *r, unsigned int term)
{
	r->work += (double)r->nr_entries;
	for (size_t e = 0; e < r->nr_entries; e++) {
		const struct lace_repair_entry *entry = &r->entries[e];
		const struct lace_repair_pair *pair = &r->pairs[entry->pair];

		if (entry->term == term && pair->circuits &&
		    entry->own + entry->relay >=
			    r->terms[term].now_s * (1 - 1e-12) * pair->bps)
			return entry->pair;
	}
	return NONE;
}

/* Helps a pair that sets the time of the term; *debts counts the steps that
 * are only worth it if others follow.
 */
static bool advance(struct lace_repair *r, unsigned int term, double best_s,
		    unsigned int *debts, struct lace_repair_value *value)
{
	struct goal goal = { .value = value, .term = term };
	double limit = excess(&r->terms[term]);

	goal.pair = tight_pair(r, term);
	if (goal.pair == NONE)
		return false;
	if (help(r, goal.pair, term, limit, &goal))
		return true;
	if (++*debts > DEBTS)
		return false;
	goal.ceiling_s = CEILING * best_s;
	goal.pair_s = pair_time(r, goal.pair, term);
	return help(r, goal.pair, term, limit, &goal);
}

static void shorten(struct lace_repair *r, struct lace_repair_value *value,
		    bool *stuck)
{
	struct lace_repair_value best = *value;
	size_t mark = r->nr_changes;
	unsigned int debts = 0, term;

	while (r->work < WORK_BUDGET &&
	       (term = worst_term(r, stuck)) != NONE) {
		if (advance(r, term, best.cost_s, &debts, value)) {
			if (value->cost_s >= best.cost_s * (1 - 1e-12))
				continue;
			best = *value;
			mark = r->nr_changes;
			memset(stuck, 0, r->nr_terms);
		} else {
			stuck[term] = true;
			lace_repair_undo(r, mark);
			*value = best;
		}
		debts = 0;
	}
	lace_repair_undo(r, mark);
	*value = best;
}

bool lace_repair_run(struct lace_repair *repair)
{
	struct lace_repair_value value = lace_repair_evaluate(repair);
	const struct goal goal = { .value = &value };
	bool *stuck;

	while (value.broken && !repair->oom) {
		unsigned int pair = repair->broken_pair;
		unsigned int term = repair->broken_term;

		if (help(repair, pair, NONE, INFINITY, &goal))
			continue;
		repair->broken_pair = pair;
		repair->broken_term = term;
		return false;
	}
	stuck = calloc((size_t)repair->nr_terms + 1, sizeof(*stuck));
	if (!stuck) {
		repair->oom = true;
		return false;
	}
	shorten(repair, &value, stuck);
	free(stuck);
	return !repair->oom;
}
