// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Holds a certificate against cluster and schedule, and a plan's bound against
 * the certificate.
 *
 * DESIGN NOTES
 *
 * Two things are checked.  Each proof says that ops under one configuration
 * take some time: its tree of boxes is walked, and at each leaf one inequality
 * has to hold (formats.rst, certificate_box.c).  The potentials f say that the
 * first b ops take f(b): for every interval of ops, what is proven of it has to
 * be f(b) - f(a) less a reconfiguration.  Where an interval a..b is proven to
 * take as much as starting afresh after it, those that begin at a and end
 * later follow from those that begin after it, by superadditivity, and are not
 * looked at.
 *
 * Nothing of the compiler's search is called: demand is lace_profile()'s,
 * pools, pairs and kinds are lace_planner_create()'s, crossings are
 * crossing.c's formula, and all else is worked out here.  A proof holds as it
 * stands; between proofs and potentials SLACK is granted, which is part of what
 * is said to be proven.
 */
#include "certificate.h"
#include "file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 5e-10
#define EQUAL 1e-12	/* of numbers that are the same, written differently */

struct checker {
	struct lace_planner planner;
	const struct lace_certificate *certificate;
	struct lace_error *err;
	double *low;			/* seconds of one run, of each kind */
	struct lace_interval interval;	/* in hand */
	struct lace_contents contents;	/* that proofs are about */
	size_t nr_intervals;
};

/* ---- fluid: what leaves and enters each node ---- */

/* Of one op; out and in are zeroed, one for each node. */
static double fluid_time(const struct lace_planner *p,
			 const struct lace_kind *kind, double *out, double *in)
{
	double time = 0;

	for (size_t i = 0; i < kind->nr; i++) {
		const struct lace_need *need = &kind->needs[i];

		out[p->pairs[need->pair].src] += need->bits;
		in[p->pairs[need->pair].dst] += need->bits;
	}
	for (unsigned int i = 0; i < p->nr_nodes; i++) {
		if (out[i] > 0)
			time = fmax(time, out[i] / p->tx_bps[i]);
		if (in[i] > 0)
			time = fmax(time, in[i] / p->rx_bps[i]);
	}
	return time;
}

int lace_certificate_fluid(struct lace_planner *planner, double *low)
{
	unsigned int n = planner->nr_nodes;
	double *sums = lace_planner_alloc(planner, 2 * (size_t)n,
					  sizeof(*sums));

	if (!sums)
		return -1;
	for (unsigned int k = 0; k < planner->nr_kinds; k++) {
		memset(sums, 0, 2 * (size_t)n * sizeof(*sums));
		low[k] = fluid_time(planner, &planner->kinds[k], sums,
				    sums + n);
	}
	free(sums);
	return 0;
}

/* ---- one proof ---- */

struct walk {
	struct checker *checker;
	const struct lace_proof *proof;
	unsigned int index;		/* of the proof */
	struct lace_box box;
	/* splits whose trees are not done yet */
	struct branch {
		unsigned int term;
		bool above;		/* in the second tree */
		double time, lo, hi;
	} *branches;
	unsigned int nr, max;
};

static int fail_step(const struct walk *w, unsigned int step, const char *why)
{
	return lace_fail(w->checker->err, LACE_ERR_ANSWER,
			 "proofs[%u].steps[%u], of ops %u to %u: %s", w->index,
			 step, w->proof->first_op, w->proof->last_op, why);
}

static int open_split(struct walk *w, unsigned int index)
{
	const struct lace_proof_step *step = &w->proof->steps[index];
	unsigned int term = lace_box_term(&w->box, step->op);
	struct lace_box *box = &w->box;

	if (term == LACE_NONE)
		return fail_step(w, index, "splits the time of another op");
	if (w->nr == w->max) {
		unsigned int max = 2 * w->max + 16;
		void *grown = realloc(w->branches, max * sizeof(*w->branches));

		if (!grown)
			return lace_no_memory(w->checker->err);
		w->branches = grown;
		w->max = max;
	}
	w->branches[w->nr++] = (struct branch){ .term = term,
		.time = step->time, .lo = box->lo[term], .hi = box->hi[term] };
	box->hi[term] = fmin(box->hi[term], step->time);
	return 0;
}

/* After a leaf: on to the next box.  False if there is none. */
static bool next_box(struct walk *w)
{
	while (w->nr) {
		struct branch *b = &w->branches[w->nr - 1];

		w->box.hi[b->term] = b->hi;
		if (!b->above) {
			b->above = true;
			w->box.lo[b->term] = fmax(b->lo, b->time);
			return true;
		}
		w->box.lo[b->term] = b->lo;
		w->nr--;
	}
	return false;
}

static int check_full(struct walk *w, unsigned int index)
{
	unsigned int row = w->proof->steps[index].row;

	if (row >= w->box.counts.nr_rows)
		return fail_step(w, index, "there is no such row");
	if (lace_box_is_full(&w->box, row))
		return 0;
	return fail_step(w, index, "the row has lanes enough");
}

static int check_sum(struct walk *w, unsigned int index, double sum)
{
	char why[96];

	/* What is not a number proves nothing. */
	if (sum >= w->proof->at_least)
		return 0;
	snprintf(why, sizeof(why), "proves %.12g s, not %.12g", sum,
		 w->proof->at_least);
	return fail_step(w, index, why);
}

static int check_crossing(struct walk *w, unsigned int index)
{
	const struct lace_proof_step *step = &w->proof->steps[index];
	struct lace_box *box = &w->box;
	double sum = 0;
	int full;

	if (!lace_box_has_crossing(box) || step->nr_prices != box->period.nr)
		return fail_step(w, index, "crossings have no place here");
	full = lace_box_prepare_crossing(box);
	if (full < 0)
		return lace_no_memory(w->checker->err);
	for (unsigned int t = 0; !full && t < step->nr_prices; t++) {
		double price = step->prices[t];

		if (price != floor(price) || price > 1 << 20)
			return fail_step(w, index, "prices have to be whole");
		sum += box->period.terms[t].repeat *
		       lace_box_cross(box, t, (unsigned int)price);
	}
	return full ? 0 : check_sum(w, index, sum);
}

static int check_dual(struct walk *w, unsigned int index)
{
	const struct lace_proof_step *step = &w->proof->steps[index];
	const struct lace_counts *c = &w->box.counts;
	double value;

	if (step->nr_shares != c->first[c->nr_terms] ||
	    step->nr_prices != c->nr_rows)
		return fail_step(w, index,
				 "has other numbers of shares and prices");
	value = lace_box_dual(&w->box, step->shares, step->prices);
	if (value < -1)
		return lace_no_memory(w->checker->err);
	if (value < 0)
		return fail_step(w, index,
				 "the shares of an op are more than one");
	return check_sum(w, index, value);
}

static int check_leaf(struct walk *w, unsigned int index)
{
	switch (w->proof->steps[index].kind) {
	case LACE_PROOF_FULL:
		return check_full(w, index);
	case LACE_PROOF_CROSSING:
		return check_crossing(w, index);
	case LACE_PROOF_DUAL:
		return check_dual(w, index);
	default:
		return check_sum(w, index, lace_box_sum(&w->box));
	}
}

static int walk_tree(struct walk *w)
{
	bool more = true;

	for (unsigned int i = 0; i < w->proof->nr_steps; i++) {
		if (!more)
			return fail_step(w, i, "the proof has ended before");
		if (w->proof->steps[i].kind == LACE_PROOF_SPLIT) {
			if (open_split(w, i))
				return -1;
			continue;
		}
		if (check_leaf(w, i))
			return -1;
		more = next_box(w);
	}
	if (more)
		return fail_step(w, w->proof->nr_steps,
				 "the proof ends too early");
	return 0;
}

/* What has been proven is known of all alike ops. */
static int enter_proof(struct checker *c, const struct lace_proof *proof)
{
	unsigned int index = lace_contents_add(&c->contents, &c->interval);
	struct lace_content *content;

	if (index == LACE_NONE)
		return lace_no_memory(c->err);
	content = &c->contents.items[index];
	content->at_least = fmax(content->at_least, proof->at_least);
	if (content->period.nr == 1) {
		double *low = &c->low[content->period.terms[0].kind];

		*low = fmax(*low, proof->at_least /
				  content->period.terms[0].repeat);
	}
	return 0;
}

static int check_proof(struct checker *c, unsigned int index)
{
	const struct lace_proof *proof = &c->certificate->proofs[index];
	struct walk w = { .checker = c, .proof = proof, .index = index };
	struct lace_period period;
	int ret;

	if (proof->last_op >= c->planner.demand->nr_ops)
		return lace_fail(c->err, LACE_ERR_ANSWER,
				 "proofs[%u]: there is no op %u", index,
				 proof->last_op);
	lace_interval_clear(&c->interval);
	for (unsigned int o = proof->first_op; o <= proof->last_op; o++)
		lace_interval_add(&c->interval, o);
	if (lace_interval_period(&c->interval, &period) ||
	    lace_box_create(&c->planner, &period, c->low, &w.box))
		ret = lace_no_memory(c->err);
	else
		/* Where no circuit can be, anything is true. */
		ret = w.box.impossible ? 0 : walk_tree(&w);
	lace_box_free(&w.box);
	free(w.branches);
	return ret ? ret : enter_proof(c, proof);
}

/* ---- potentials ---- */

static int fail_interval(const struct checker *c, unsigned int first,
			 unsigned int last, double is, double should)
{
	return lace_fail(c->err, LACE_ERR_ANSWER,
			 "ops %u to %u: %.12g s are proven, the potentials ask for %.12g",
			 first, last, is, should);
}

static double proven(const struct checker *c)
{
	unsigned int i = lace_contents_find(&c->contents, &c->interval);

	return i == LACE_NONE ? 0 : c->contents.items[i].at_least;
}

static int check_from(struct checker *c, unsigned int first)
{
	const double *f = c->certificate->potentials;
	double reconfig = c->planner.cluster->reconfig_s;
	double begin = first ? f[first] + reconfig : 0, sum = 0;

	lace_interval_clear(&c->interval);
	for (unsigned int end = first + 1; end <= c->certificate->nr_ops;
	     end++) {
		double least;

		lace_interval_add(&c->interval, end - 1);
		sum += (double)c->planner.demand->ops[end - 1].repeat *
		       c->low[c->planner.op_kind[end - 1]];
		least = fmax(sum, proven(c));
		c->nr_intervals++;
		if (!(begin + least * (1 + SLACK) >= f[end]))
			return fail_interval(c, first, end - 1, least,
					     f[end] - begin);
		/* To start afresh at end is no worse from here on. */
		if (begin + least * (1 + SLACK) >= f[end] + reconfig)
			break;
	}
	return 0;
}

static int check_potentials(struct checker *c)
{
	const struct lace_certificate *certificate = c->certificate;

	if (certificate->nr_ops != c->planner.demand->nr_ops)
		return lace_fail(c->err, LACE_ERR_ANSWER,
				 "potentials are for %u ops, there are %u",
				 certificate->nr_ops,
				 c->planner.demand->nr_ops);
	if (certificate->potentials[0] > 0)
		return lace_fail(c->err, LACE_ERR_ANSWER,
				 "potentials[0] has to be 0, is %.9g",
				 certificate->potentials[0]);
	for (unsigned int i = 0; i < certificate->nr_proofs; i++)
		if (check_proof(c, i))
			return -1;
	for (unsigned int a = 0; a < certificate->nr_ops; a++)
		if (check_from(c, a))
			return -1;
	return 0;
}

/* ---- all of it ---- */

static int check_claim(const struct lace_certificate *certificate,
		       const struct lace_plan *plan, struct lace_error *err)
{
	double proven = certificate->potentials[certificate->nr_ops];

	if (!(certificate->bound_s <= proven * (1 + EQUAL)))
		return lace_fail(err, LACE_ERR_ANSWER,
				 "bound_s is %.12g, the last potential is %.12g",
				 certificate->bound_s, proven);
	if (!(plan->bound_s <= certificate->bound_s * (1 + EQUAL)))
		return lace_fail(err, LACE_ERR_ANSWER,
				 "proves a bound of %.12g s, the plan's bound_s is %.12g",
				 certificate->bound_s, plan->bound_s);
	if (certificate->duplex && strncmp(plan->scheduler, "symmetric",
					   strlen("symmetric")))
		return lace_fail(err, LACE_ERR_ANSWER,
				 "holds for duplex plans, and the plan is \"%s\"",
				 plan->scheduler);
	return 0;
}

static void checker_free(struct checker *c)
{
	lace_contents_free(&c->contents);
	lace_interval_free(&c->interval);
	free(c->low);
	lace_planner_free(&c->planner);
}

static int check_proven(const struct lace_cluster *cluster,
			const struct lace_demand *demand,
			const struct lace_certificate *certificate,
			struct lace_verified *verified, struct lace_error *err)
{
	struct checker c = { .certificate = certificate, .err = err };
	struct lace_planner *p = &c.planner;
	int ret;

	if (lace_planner_create(cluster, demand, certificate->duplex, p, err))
		return -1;
	c.low = lace_planner_alloc(p, p->nr_kinds, sizeof(*c.low));
	if (c.low && !lace_interval_create(p, &c.interval) &&
	    !lace_certificate_fluid(p, c.low))
		ret = check_potentials(&c);
	else
		ret = lace_no_memory(err);
	verified->nr_intervals = c.nr_intervals;
	checker_free(&c);
	return ret;
}

/**
 * lace_certificate_check() - whether no plan takes less than a plan's bound
 * @cluster: the plan's
 * @schedule: the plan's
 * @plan: its bound_s and scheduler are looked at, and nothing else
 * @certificate: as lace_certificate_read() leaves it; nothing in it is believed
 * @verified: filled on success
 * @err: filled on failure; LACE_ERR_ANSWER with the first inequality that does
 *	not hold
 *
 * On success every plan of the cluster and the schedule - every plan of duplex
 * pairs, if the certificate is one of those - takes at least (1 - 1e-9) bound_s
 * seconds.
 *
 * Return: 0, or a negative value.
 */
int lace_certificate_check(const struct lace_cluster *cluster,
			   const struct lace_schedule *schedule,
			   const struct lace_plan *plan,
			   const struct lace_certificate *certificate,
			   struct lace_verified *verified,
			   struct lace_error *err)
{
	struct lace_demand demand;
	int ret;

	*verified = (struct lace_verified){ .bound_s = plan->bound_s };
	if (lace_file_check_hash("cluster", certificate->cluster_sha256,
				 cluster->sha256, err) ||
	    lace_file_check_hash("schedule", certificate->schedule_sha256,
				 schedule->sha256, err) ||
	    check_claim(certificate, plan, err) ||
	    lace_profile(schedule, cluster->nr_nodes, &demand, err))
		return -1;
	for (unsigned int i = 0; i < certificate->nr_proofs; i++)
		verified->nr_steps += certificate->proofs[i].nr_steps;
	ret = check_proven(cluster, &demand, certificate, verified, err);
	lace_demand_free(&demand);
	return ret;
}
