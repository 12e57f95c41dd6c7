/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * What the maker of certificates and their check share: the problem that a
 * proof is about, and what a box of times has to be enough for.  Not installed.
 */
#ifndef LACE_CERTIFICATE_H
#define LACE_CERTIFICATE_H

#include "bound.h"

/* ---- certificate_interval.c ---- */

/* Consecutive ops, as how often each kind with demand runs. */
struct lace_interval {
	struct lace_planner *planner;
	double *repeat;			/* of each kind */
	unsigned int *kinds, nr;	/* that run at all */
	uint64_t hash;
};

int lace_interval_create(struct lace_planner *planner,
			 struct lace_interval *interval);
void lace_interval_free(struct lace_interval *interval);
void lace_interval_clear(struct lace_interval *interval);
void lace_interval_add(struct lace_interval *interval, unsigned int op);
/* Terms sorted by kind, the caller's to free; -1 without memory. */
int lace_interval_period(struct lace_interval *interval,
			 struct lace_period *period);

/* What is known of alike intervals. */
struct lace_content {
	uint64_t hash;
	unsigned int next;		/* with the same slot */
	struct lace_period period;
	double at_least;		/* check: proven; make: asked for */
	/* make: the first interval of the kind, and what can be proven of it */
	unsigned int first_op, last_op;
	double bound;
};

struct lace_contents {
	unsigned int nr, max;
	struct lace_content *items;
	unsigned int *slots;
};

/* LACE_NONE if there is none. */
unsigned int lace_contents_find(const struct lace_contents *contents,
				const struct lace_interval *interval);
/* Finds or makes; LACE_NONE without memory. */
unsigned int lace_contents_add(struct lace_contents *contents,
			       struct lace_interval *interval);
void lace_contents_free(struct lace_contents *contents);

/* ---- certificate_box.c ---- */

/*
 * Ops under one configuration, and a box of times: lo_t <= T_t < hi_t for the
 * time T_t of each term, in seconds of one run.
 */
struct lace_box {
	struct lace_planner *planner;
	struct lace_period period;	/* terms owned, sorted by kind */
	bool impossible;		/* a pair has no OCS in common */
	unsigned int *var;		/* of each pair */
	struct lace_counts counts;	/* the problem alone, never solved */
	unsigned int *term_of;		/* of each entry */
	size_t *first_entry, *entry_of;	/* of each var */
	size_t *first_var;		/* of each row */
	unsigned int *var_of;
	double *lo, *hi;
	bool crosses;			/* crossing is there */
	struct lace_crossing crossing;
};

/* period is taken over; low: of each kind.  Returns -1 without memory. */
int lace_box_create(struct lace_planner *planner, struct lace_period *period,
		    const double *low, struct lace_box *box);
void lace_box_free(struct lace_box *box);
/* The term of the ops that ask for the same as op; LACE_NONE if there is none. */
unsigned int lace_box_term(const struct lace_box *box, unsigned int op);

/* Circuits that var has at least within the box. */
double lace_box_circuits(const struct lace_box *box, unsigned int var);
/* Whether no configuration has times within the box, for what row can hold. */
bool lace_box_is_full(const struct lace_box *box, unsigned int row);
/* sum of repeat x lo */
double lace_box_sum(const struct lace_box *box);
/* Whether crossings mean anything here: lanes, relay "control". */
bool lace_box_has_crossing(const struct lace_box *box);
/* Least circuits for lace_box_cross(); 1 if the box is full, -1 without memory. */
int lace_box_prepare_crossing(struct lace_box *box);
/* Seconds of one run of the term; see lace_crossing_time(). */
double lace_box_cross(struct lace_box *box, unsigned int term,
		      unsigned int price);
/*
 * What shares (of each entry) and prices (of each row) prove, rounded down;
 * -1 if the shares of a term are more than one, -2 without memory.
 */
double lace_box_dual(const struct lace_box *box, const double *shares,
		     const double *prices);

/* ---- certificate_tree.c ---- */

/* Fills steps for at_least of proof; 1 if none are found, -1 without memory. */
int lace_proof_find(struct lace_box *box, struct lace_proof *proof);

/* ---- certificate_check.c ---- */

/* The fluid time of each kind, which needs no proof; -1 without memory. */
int lace_certificate_fluid(struct lace_planner *planner, double *low);

#endif /* LACE_CERTIFICATE_H */
