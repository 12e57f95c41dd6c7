// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * A plan for what is left after lanes have failed, made from the plan there
 * was: segments, circuits and routes stay as they are wherever they still work,
 * and each configuration is repaired where it is torn (repair_move.c).  One
 * that cannot be repaired has its ops compiled anew, on their own.
 */
#include "compile.h"
#include "repair.h"

#include <stdlib.h>
#include <string.h>

#define NONE LACE_REPAIR_NONE

struct recompiler {
	const struct lace_cluster *whole, *left;
	const struct lace_demand *demand;
	const struct lace_plan *old;
	struct lace_plan *plan;
	struct lace_recompiled *report;
	struct lace_error *err;
	struct lace_repair repair;
	unsigned int *lost, nr_lost;	/* pairs, of the run in hand */
};

/* ---- the old plan ---- */

static bool is_duplex(const char *scheduler)
{
	return !strncmp(scheduler, "symmetric", strlen("symmetric")) ||
	       !strcmp(scheduler, "topoopt");
}

/* Recomputed, with the failed lanes still there. */
static int evaluate_old(struct recompiler *c)
{
	struct lace_plan copy = *c->old;
	size_t size = copy.nr_segments * sizeof(*copy.segments);
	int ret;

	copy.segments = malloc(size + 1);
	if (!copy.segments)
		return lace_no_memory(c->err);
	if (size)
		memcpy(copy.segments, c->old->segments, size);
	ret = lace_plan_evaluate(c->whole, c->demand, &copy, c->err);
	if (!ret)
		c->report->old_cct_s = copy.cct_s;
	for (unsigned int i = 0; !ret && i < copy.nr_segments; i++)
		c->report->old_transmit_s[i] = copy.segments[i].transmit_s;
	free(copy.segments);
	return ret;
}

static bool same_circuits(const struct lace_segment *a,
			  const struct lace_segment *b)
{
	return a->nr_circuits == b->nr_circuits &&
	       (!a->nr_circuits ||
		!memcmp(a->circuits, b->circuits,
			a->nr_circuits * sizeof(*a->circuits)));
}

/* Segments from first on that share a configuration. */
static unsigned int run_length(const struct lace_plan *plan, unsigned int first)
{
	unsigned int nr = 1;

	while (first + nr < plan->nr_segments &&
	       same_circuits(&plan->segments[first],
			     &plan->segments[first + nr]))
		nr++;
	return nr;
}

static int load_circuits(struct recompiler *c, unsigned int first)
{
	const struct lace_segment *segment = &c->old->segments[first];
	struct lace_repair *r = &c->repair;

	for (unsigned int i = 0; i < segment->nr_circuits; i++) {
		const struct lace_circuit *k = &segment->circuits[i];
		unsigned int a = r->first_lane[k->tx_node] + k->tx_port;
		unsigned int b = r->first_lane[k->rx_node] + k->rx_port;

		if (r->duplex && r->tx_to[a] == b)
			continue;	/* the way back of one that is there */
		if (r->duplex && (!lace_repair_can_join(r, a, b) ||
				  !lace_repair_is_free(r, a, true) ||
				  !lace_repair_is_free(r, b, false)))
			return lace_fail(c->err, LACE_ERR_ANSWER,
					 "segment %u: circuit [%u, %u, %u, %u] has no way back, and the plan is symmetric",
					 first, k->tx_node, k->tx_port,
					 k->rx_node, k->rx_port);
		lace_repair_connect(r, a, b);
	}
	return 0;
}

static int load_run(struct recompiler *c, unsigned int first, unsigned int nr)
{
	struct lace_repair *r = &c->repair;

	lace_repair_clear(r);
	if (load_circuits(c, first))
		return -1;
	for (unsigned int i = first; i < first + nr; i++)
		if (lace_repair_add_segment(r, i, &c->old->segments[i]))
			return lace_no_memory(c->err);
	lace_repair_evaluate(r);
	for (unsigned int t = 0; t < r->nr_terms; t++)
		r->terms[t].old_s = r->terms[t].now_s;
	return r->oom ? lace_no_memory(c->err) : 0;
}

/* ---- the failure ---- */

static void lose(struct recompiler *c, unsigned int tx)
{
	struct lace_repair *r = &c->repair;

	c->lost[c->nr_lost++] = lace_repair_find(r, r->node_of[tx],
						 r->node_of[r->tx_to[tx]]);
	lace_repair_disconnect(r, tx);
}

static void fail_lanes(struct recompiler *c)
{
	struct lace_repair *r = &c->repair;

	c->nr_lost = 0;
	for (unsigned int l = 0; l < r->nr_lanes; l++) {
		unsigned int node = r->node_of[l];
		const struct lace_port *port =
			&c->left->nodes[node].ports[l - r->first_lane[node]];

		if (port->tx.ocs < 0 && r->tx_to[l] != NONE)
			lose(c, l);
		if (port->rx.ocs < 0 && r->rx_from[l] != NONE)
			lose(c, r->rx_from[l]);
		r->tx_ocs[l] = port->tx.ocs;
		r->rx_ocs[l] = port->rx.ocs;
	}
	for (unsigned int i = 0; i < c->nr_lost; i++)
		if (c->lost[i] != NONE)
			lace_repair_join(r, c->lost[i]);
	r->nr_changes = 0;	/* from here on steps may be taken back */
}

/* ---- the new segments ---- */

static struct lace_segment *new_segment(struct recompiler *c)
{
	size_t size = (c->plan->nr_segments + 1) * sizeof(*c->plan->segments);
	void *mem = realloc(c->plan->segments, size);

	if (!mem) {
		lace_no_memory(c->err);
		return NULL;
	}
	c->plan->segments = mem;
	c->plan->segments[c->plan->nr_segments] = (struct lace_segment){ 0 };
	return &c->plan->segments[c->plan->nr_segments++];
}

/* In the order of the TX lanes. */
static int write_circuits(const struct recompiler *c,
			  struct lace_segment *segment)
{
	const struct lace_repair *r = &c->repair;
	unsigned int nr = 0;

	for (unsigned int l = 0; l < r->nr_lanes; l++)
		nr += r->tx_to[l] != NONE;
	segment->circuits = calloc((size_t)nr + 1, sizeof(*segment->circuits));
	if (!segment->circuits)
		return lace_no_memory(c->err);
	for (unsigned int l = 0; l < r->nr_lanes; l++) {
		unsigned int to = r->tx_to[l];

		if (to == NONE)
			continue;
		segment->circuits[segment->nr_circuits++] =
			(struct lace_circuit){
				.tx_node = r->node_of[l],
				.tx_port = l - r->first_lane[r->node_of[l]],
				.rx_node = r->node_of[to],
				.rx_port = to - r->first_lane[r->node_of[to]] };
	}
	return 0;
}

static int compare_routes(const void *a, const void *b)
{
	const struct lace_route *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int write_routes(const struct recompiler *c, unsigned int index,
			struct lace_segment *segment)
{
	const struct lace_repair *r = &c->repair;

	segment->routes = calloc(r->nr_routes + 1, sizeof(*segment->routes));
	if (!segment->routes)
		return lace_no_memory(c->err);
	for (unsigned int i = 0; i < r->nr_routes; i++) {
		const struct lace_repair_route *w = &r->routes[i];
		struct lace_route *route =
			&segment->routes[segment->nr_routes];

		if (!w->live || w->segment != index)
			continue;
		route->between = calloc(w->nr, sizeof(*route->between));
		if (!route->between)
			return lace_no_memory(c->err);
		segment->nr_routes++;
		route->from = r->pairs[w->pair].src;
		route->to = r->pairs[w->pair].dst;
		route->nr_between = w->nr - 1;
		for (unsigned int h = 0; h + 1 < w->nr; h++)
			route->between[h] = r->pairs[r->hops[w->first + h]].dst;
	}
	qsort(segment->routes, segment->nr_routes, sizeof(*segment->routes),
	      compare_routes);
	return 0;
}

static int write_run(struct recompiler *c, unsigned int first, unsigned int nr)
{
	for (unsigned int i = first; i < first + nr; i++) {
		struct lace_segment *segment = new_segment(c);

		if (!segment)
			return -1;
		segment->first_op = c->old->segments[i].first_op;
		segment->last_op = c->old->segments[i].last_op;
		if (write_circuits(c, segment) || write_routes(c, i, segment))
			return -1;
	}
	return 0;
}

/* ---- where repair does not do ---- */

static unsigned int free_lanes(const struct lace_repair *r, unsigned int node,
			       bool tx, int ocs)
{
	unsigned int nr = 0;

	for (unsigned int l = r->first_lane[node]; l < r->first_lane[node + 1];
	     l++)
		nr += (tx ? r->tx_ocs[l] : r->rx_ocs[l]) == ocs;
	return nr;
}

/* Names pair, op and the OCS where the two nodes come closest. */
static int blame(struct recompiler *c)
{
	const struct lace_repair *r = &c->repair;
	const struct lace_repair_term *term = &r->terms[r->broken_term];
	const struct lace_repair_pair *pair = &r->pairs[r->broken_pair];
	const struct lace_cluster *cluster = c->whole;
	unsigned int best = 0, best_tx = 0, best_rx = 0;

	for (unsigned int k = 0; k < cluster->nr_ocs; k++) {
		unsigned int tx = free_lanes(r, pair->src, true, (int)k);
		unsigned int rx = free_lanes(r, pair->dst, false, (int)k);

		if ((tx && rx) > (best_tx && best_rx) ||
		    ((tx && rx) == (best_tx && best_rx) &&
		     tx + rx > best_tx + best_rx)) {
			best = k;
			best_tx = tx;
			best_rx = rx;
		}
	}
	return lace_fail(c->err, LACE_ERR_ANSWER,
			 "segment %u, op %u (%s): %s to %s has neither circuit nor route: OCS %s has %u TX lanes of the one and %u RX lanes of the other left",
			 term->segment, term->op,
			 c->demand->ops[term->op].name,
			 cluster->nodes[pair->src].name,
			 cluster->nodes[pair->dst].name,
			 cluster->nr_ocs ? cluster->ocs[best].name : "-",
			 best_tx, best_rx);
}

static int adopt(struct recompiler *c, struct lace_plan *sub,
		 unsigned int first_op)
{
	for (unsigned int i = 0; i < sub->nr_segments; i++) {
		struct lace_segment *segment = new_segment(c);

		if (!segment)
			return -1;
		*segment = sub->segments[i];
		segment->first_op += first_op;
		segment->last_op += first_op;
		sub->segments[i] = (struct lace_segment){ 0 };
	}
	return 0;
}

static int compile_slice(struct recompiler *c, unsigned int first_op,
			 unsigned int last_op, bool duplex,
			 enum lace_split split)
{
	struct lace_demand slice = { .nr_nodes = c->demand->nr_nodes,
				     .nr_ops = last_op - first_op + 1,
				     .ops = c->demand->ops + first_op };
	struct lace_plan sub = { 0 };
	int ret = lace_compile_split(c->left, &slice, duplex, split, &sub,
				     c->err);

	if (!ret)
		ret = adopt(c, &sub, first_op);
	lace_plan_free(&sub);
	return ret;
}

/* The ops of the run under one configuration or, failing that, several. */
static int compile_run(struct recompiler *c, unsigned int first,
		       unsigned int nr)
{
	unsigned int first_op = c->old->segments[first].first_op;
	unsigned int last_op = c->old->segments[first + nr - 1].last_op;
	static const struct {
		bool duplex;
		enum lace_split split;
	} ways[] = { { false, LACE_SPLIT_ONESHOT }, { false, LACE_SPLIT_BEST },
		     { true, LACE_SPLIT_ONESHOT }, { true, LACE_SPLIT_BEST } };

	for (unsigned int w = 0; w < sizeof(ways) / sizeof(*ways); w++) {
		if (c->repair.duplex && !ways[w].duplex)
			continue;
		if (!compile_slice(c, first_op, last_op, ways[w].duplex,
				   ways[w].split)) {
			c->report->nr_replanned += nr;
			return 0;
		}
		if (c->err->kind != LACE_ERR_ANSWER)
			return -1;
	}
	return blame(c);
}

static int recompile_run(struct recompiler *c, unsigned int first,
			 unsigned int nr)
{
	if (load_run(c, first, nr))
		return -1;
	fail_lanes(c);
	if (lace_repair_run(&c->repair))
		return write_run(c, first, nr);
	if (c->repair.oom)
		return lace_no_memory(c->err);
	return compile_run(c, first, nr);
}

/* ---- what has changed ---- */

static bool survives(const struct recompiler *c, const struct lace_circuit *k)
{
	const struct lace_node *nodes = c->left->nodes;

	return nodes[k->tx_node].ports[k->tx_port].tx.ocs >= 0 &&
	       nodes[k->rx_node].ports[k->rx_port].rx.ocs >= 0;
}

static void count_changes(const struct recompiler *c,
			  const struct lace_segment *old,
			  const struct lace_segment *new,
			  struct lace_recompiled_segment *report)
{
	unsigned int i = 0, j = 0;

	while (i < old->nr_circuits || j < new->nr_circuits) {
		int way = i == old->nr_circuits ? 1 :
			  j == new->nr_circuits ? -1 :
			  lace_circuit_order(&old->circuits[i],
					   &new->circuits[j]);

		if (!way)
			report->kept++;
		else if (way > 0)
			report->added++;
		else if (survives(c, &old->circuits[i]))
			report->moved++;
		else
			report->lost++;
		i += way <= 0;
		j += way >= 0;
	}
}

static int report_segments(struct recompiler *c)
{
	struct lace_recompiled *report = c->report;
	unsigned int k = 0;

	report->segments = calloc((size_t)c->plan->nr_segments + 1,
				  sizeof(*report->segments));
	if (!report->segments)
		return lace_no_memory(c->err);
	report->nr_segments = c->plan->nr_segments;
	for (unsigned int i = 0; i < report->nr_segments; i++) {
		const struct lace_segment *new = &c->plan->segments[i];

		while (c->old->segments[k].last_op < new->first_op)
			k++;
		report->segments[i].old = k;
		count_changes(c, &c->old->segments[k], new,
			      &report->segments[i]);
	}
	return 0;
}

/* ---- all of it ---- */

/* The bound that the old plan states is still one if it ever was, which nobody
 * has checked: so this is worked out anew, from bounds that take little time.
 */
static int find_bound(struct recompiler *c)
{
	struct lace_cluster left = *c->left;
	struct lace_planner planner;

	/* Transitions that keep lanes may cost nothing at all. */
	if (c->plan->transition == LACE_KEEP_LANES)
		left.reconfig_s = 0;
	if (lace_planner_create(&left, c->demand, c->repair.duplex &&
				strcmp(c->old->scheduler, "topoopt"),
				&planner, c->err))
		return -1;
	c->plan->bound_s = lace_recompile_bound(&planner);
	lace_planner_free(&planner);
	if (c->plan->bound_s > c->plan->cct_s)
		c->plan->bound_s = c->plan->cct_s;
	return 0;
}

static int run(struct recompiler *c)
{
	unsigned int nr;

	if (lace_repair_create(c->whole, c->demand,
			       is_duplex(c->old->scheduler), &c->repair,
			       c->err))
		return -1;
	c->lost = calloc(2 * (size_t)c->repair.nr_lanes + 1, sizeof(*c->lost));
	c->plan->scheduler = strdup(c->old->scheduler);
	c->plan->transition = c->old->transition;
	if (!c->lost || !c->plan->scheduler)
		return lace_no_memory(c->err);
	for (unsigned int i = 0; i < c->old->nr_segments; i += nr) {
		nr = run_length(c->old, i);
		if (recompile_run(c, i, nr))
			return -1;
	}
	if (lace_plan_evaluate(c->left, c->demand, c->plan, c->err)) {
		/* The input is not to blame for a plan of ours that is none. */
		c->err->kind = LACE_ERR_SYSTEM;
		return -1;
	}
	return find_bound(c) || report_segments(c) ? -1 : 0;
}

/**
 * lace_recompile() - a plan for what is left of a cluster, from the old plan
 * @whole: what the old plan was made for
 * @left: the same with lanes taken out (lace_cluster_fail_lane())
 * @demand: what both plans carry
 * @old: the old plan, circuits sorted, as lace_plan_read() leaves them; numbers
 *	that it states are not believed
 * @plan: filled: as little changed as may be, times and bound worked out; the
 *	hashes are the caller's; empty on failure
 * @report: filled, for lace_recompiled_free(); empty on failure
 * @err: filled on failure; LACE_ERR_ANSWER if the old plan is none or there is
 *	no plan any more
 *
 * Return: 0, or a negative value.
 */
int lace_recompile(const struct lace_cluster *whole,
		   const struct lace_cluster *left,
		   const struct lace_demand *demand,
		   const struct lace_plan *old, struct lace_plan *plan,
		   struct lace_recompiled *report, struct lace_error *err)
{
	struct recompiler c = { .whole = whole, .left = left,
				.demand = demand, .old = old, .plan = plan,
				.report = report, .err = err };
	int ret;

	*plan = (struct lace_plan){ 0 };
	*report = (struct lace_recompiled){ 0 };
	report->old_transmit_s = calloc((size_t)old->nr_segments + 1,
					sizeof(*report->old_transmit_s));
	if (!report->old_transmit_s)
		return lace_no_memory(err);
	ret = evaluate_old(&c);
	if (!ret)
		ret = run(&c);
	lace_repair_free(&c.repair);
	free(c.lost);
	if (ret) {
		lace_plan_free(plan);
		lace_recompiled_free(report);
	}
	return ret;
}

/**
 * lace_recompiled_free() - free what a report holds
 * @report: it; empty afterwards
 */
void lace_recompiled_free(struct lace_recompiled *report)
{
	free(report->segments);
	free(report->old_transmit_s);
	*report = (struct lace_recompiled){ 0 };
}
