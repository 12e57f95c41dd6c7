/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * One configuration of an old plan while it is being repaired: what recompile.c
 * and the files of the repair share.  Not installed.
 *
 * Lanes are ports counted through the whole cluster; a TX lane and an RX lane
 * of one port have the same number.  A term is what ops of one segment with the
 * same demand have in common.  Everything that can be taken back goes through
 * the journal.
 */
#ifndef LACE_REPAIR_H
#define LACE_REPAIR_H

#include "lace.h"

#define LACE_REPAIR_NONE UINT32_MAX

struct lace_repair_term {
	unsigned int segment, op;
	const struct lace_pair *pairs;	/* of the ops: tells terms apart */
	double repeat;
	double old_s;			/* of one op, before the failure */
	double now_s;			/* at the last evaluation */
	unsigned int tight;		/* pairs that take now_s */
};

struct lace_repair_pair {
	unsigned int src, dst;
	double bps;
	unsigned int circuits;
	unsigned int through;		/* routes over it */
	unsigned int entry;		/* first of its entries */
	unsigned int route;		/* first of its routes, live or not */
};

/* Bits of a pair in a term. */
struct lace_repair_entry {
	unsigned int pair, term, next;
	bool data;
	double own, relay;
};

struct lace_repair_route {
	unsigned int segment, pair, next;
	unsigned int first, nr;		/* hops[]: pairs */
	bool live;
};

enum lace_repair_step {
	LACE_REPAIR_CONNECT,		/* a: TX lane, b: RX lane */
	LACE_REPAIR_DISCONNECT,
	LACE_REPAIR_PUT,		/* a: route */
	LACE_REPAIR_TAKE,
};

struct lace_repair_change {
	enum lace_repair_step step;
	unsigned int a, b;
};

struct lace_repair_array {
	void *at;
	size_t nr, room;
};

/* How good a state is: fewer broken pairs, then less time, then fewer pairs
 * that set the time.
 */
struct lace_repair_value {
	unsigned int broken;
	double cost_s;
	unsigned int tight;
};

struct lace_repair {
	const struct lace_cluster *cluster;	/* before the failure */
	const struct lace_demand *demand;
	bool duplex;
	bool oom;

	unsigned int nr_lanes;
	unsigned int *first_lane;		/* of each node; nr_nodes + 1 */
	unsigned int *node_of;
	int *tx_ocs, *rx_ocs;			/* of each lane; < 0: none */
	uint64_t *rate_bps;
	unsigned int *tx_to, *rx_from;		/* lane at the other end */
	unsigned int *hint;			/* tx_to of the run before */

	unsigned int *slots, nr_slots;		/* hash of the pairs */
	unsigned int nr_pairs, max_pairs;
	struct lace_repair_pair *pairs;
	unsigned int last_pair;			/* looked up for a circuit */
	unsigned int nr_terms;
	size_t max_terms;
	struct lace_repair_term *terms;
	size_t nr_entries, max_entries;
	struct lace_repair_entry *entries;
	size_t nr_routes, max_routes;
	struct lace_repair_route *routes;
	size_t nr_hops, max_hops;
	unsigned int *hops;
	size_t nr_changes, max_changes;
	struct lace_repair_change *changes;

	bool stale;		/* routes may have lost a hop or their reason */
	unsigned int broken_pair, broken_term;	/* of the last evaluation */
	double work;		/* entries and hops looked at */

	/* scratch of the searches */
	unsigned int now, *stamp, *mark, *via, *queue;
	double *key;
};

/* ---- repair_state.c: circuits, loads, and taking back ---- */

int lace_repair_create(const struct lace_cluster *cluster,
		       const struct lace_demand *demand, bool duplex,
		       struct lace_repair *repair, struct lace_error *err);
void lace_repair_free(struct lace_repair *repair);
/* Forgets the run in hand; its circuits become the hint for the next. */
void lace_repair_clear(struct lace_repair *repair);
/* The pair, made if need be; LACE_REPAIR_NONE without memory. */
unsigned int lace_repair_find(struct lace_repair *repair, unsigned int src,
			      unsigned int dst);
int lace_repair_add_segment(struct lace_repair *repair, unsigned int segment,
			    const struct lace_segment *plan);
struct lace_repair_entry *lace_repair_entry(struct lace_repair *repair,
					    unsigned int pair,
					    unsigned int term);
/* Whether a circuit between the two is possible, free or not. */
bool lace_repair_can_join(const struct lace_repair *repair, unsigned int tx,
			  unsigned int rx);
bool lace_repair_is_free(const struct lace_repair *repair, unsigned int lane,
			 bool tx);
void lace_repair_connect(struct lace_repair *repair, unsigned int tx,
			 unsigned int rx);
void lace_repair_disconnect(struct lace_repair *repair, unsigned int tx);
void lace_repair_put(struct lace_repair *repair, unsigned int route);
void lace_repair_take(struct lace_repair *repair, unsigned int route);
/* Back to where the journal had so many changes, and had been evaluated. */
void lace_repair_undo(struct lace_repair *repair, size_t nr_changes);
/* Routes what has lost its route or circuit, and weighs what there is. */
struct lace_repair_value lace_repair_evaluate(struct lace_repair *repair);
bool lace_repair_better(const struct lace_repair_value *a,
			const struct lace_repair_value *b);

/* ---- repair_route.c: ways round ---- */

/* Whether a pair's demand in a segment may be relayed. */
bool lace_repair_may_relay(const struct lace_repair *repair, unsigned int pair,
			   unsigned int segment);
/* A route for the pair that leaves no term slower than scale times now_s; with
 * scale 0 whatever costs least, with a new circuit where nothing else leads on.
 */
bool lace_repair_route(struct lace_repair *repair, unsigned int pair,
		       unsigned int segment, double scale);

/* ---- repair_move.c: what can be done about a loss ---- */

/* A circuit for the pair from lanes that are free. */
bool lace_repair_join(struct lace_repair *repair, unsigned int pair);
/* Mends what is broken and shortens what has become longer; false if something
 * stays broken: broken_pair, broken_term.
 */
bool lace_repair_run(struct lace_repair *repair);

/* ---- recompile_bound.c ---- */

struct lace_planner;

/* What no partition can beat; 0 without memory. */
double lace_recompile_bound(struct lace_planner *planner);

#endif /* LACE_REPAIR_H */
