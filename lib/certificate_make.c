// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Writes down why a plan's bound holds.  The potentials are the compiler's
 * programme over bounds (segment.c, B4).  Going through the intervals as
 * certificate_check.c will, what is asked of each content is noted; then each
 * content is proven as far as it is asked for, those of few ops first, because
 * what is known of single ops helps to prove the others.
 */
#include "certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is proven of single ops and of several is less than is asked for by
 * this much, so that rounding does not matter; the check grants more.
 */
#define LESS_ALONE (1 - 2e-11)
#define LESS (1 - 1e-10)
#define ROUNDING 1e-15

struct maker {
	struct lace_planner planner;
	struct lace_certificate *certificate;
	struct lace_error *err;
	/* seconds of one run, of each kind: proven; the compiler's bound, NAN
	 * until it is worked out; and what is asked for
	 */
	double *low, *alone, *asked;
	struct lace_interval interval;
	struct lace_contents contents;
};

static int fail_bound(struct maker *m, unsigned int first, unsigned int last)
{
	return lace_fail(m->err, LACE_ERR_SYSTEM,
			 "the bound of ops %u to %u has no proof", first, last);
}

/* ---- what is asked of each content ---- */

static struct lace_content *find_content(struct maker *m, unsigned int first,
					 unsigned int last)
{
	unsigned int known = m->contents.nr;
	unsigned int index = lace_contents_add(&m->contents, &m->interval);
	struct lace_content *content;

	if (index == LACE_NONE) {
		lace_no_memory(m->err);
		return NULL;
	}
	content = &m->contents.items[index];
	if (index == known) {
		content->first_op = first;
		content->last_op = last;
		content->bound = lace_bound_period(&m->planner,
						   &content->period);
	}
	return content;
}

/* total is to be reached from begin: by how much, and no more than the bound. */
static void ask(struct lace_content *content, double begin, double total)
{
	double least = fmin(total - begin + ROUNDING * total, content->bound);

	if (content->bound == INFINITY)
		least = INFINITY;
	content->at_least = fmax(content->at_least, least);
}

/* The bound of a kind alone, whatever its repeat. */
static double bound_alone(struct maker *m, unsigned int kind)
{
	struct lace_term term = { .kind = kind, .repeat = 1 };
	struct lace_period period = { .nr = 1, .terms = &term };

	if (!m->planner.kinds[kind].nr)
		return 0;
	if (isnan(m->alone[kind]))
		m->alone[kind] = fmax(m->low[kind],
				      lace_bound_period(&m->planner, &period));
	return m->alone[kind];
}

/* All that there is of each op of the interval in hand. */
static void ask_kinds(struct maker *m)
{
	for (unsigned int i = 0; i < m->interval.nr; i++)
		m->asked[m->interval.kinds[i]] =
			m->alone[m->interval.kinds[i]];
}

enum asked {
	ASKED_FAILS = -1,
	ASKED_ON,		/* go on to longer intervals */
	ASKED_DONE,		/* which follow */
	ASKED_TOO_MUCH,		/* for what is known of this one */
};

/* One interval, from what costs least to prove: bits of each op, each op alone,
 * all of them.
 */
static enum asked ask_interval(struct maker *m, unsigned int first,
			       unsigned int last, double begin, double fluid,
			       double alone)
{
	double total = m->certificate->potentials[last + 1];
	double afresh = total + m->planner.cluster->reconfig_s;
	struct lace_content *content;

	if (begin + fluid >= afresh)
		return ASKED_DONE;
	if (begin + alone >= afresh) {
		ask_kinds(m);
		return ASKED_DONE;
	}
	if (begin + fluid >= total)
		return ASKED_ON;
	if (begin + alone >= total) {
		ask_kinds(m);
		return ASKED_ON;
	}
	content = find_content(m, first, last);
	if (!content)
		return ASKED_FAILS;
	if (begin + content->bound * (1 + 1e-12) >= afresh) {
		ask(content, begin, afresh);
		return ASKED_DONE;
	}
	if (!(begin + content->bound * (1 + 1e-12) >= total))
		return ASKED_TOO_MUCH;
	ask(content, begin, total);
	return ASKED_ON;
}

/*
 * Bounds that are worked out need not be superadditive: what is asked of a long
 * interval may only follow from a shorter one, for which less was asked so far.
 */
static int ask_shorter(struct maker *m, unsigned int first, unsigned int last,
		       double begin)
{
	lace_interval_clear(&m->interval);
	for (unsigned int o = first; o < last; o++) {
		double afresh = m->certificate->potentials[o + 1] +
				m->planner.cluster->reconfig_s;
		struct lace_content *content;

		lace_interval_add(&m->interval, o);
		content = find_content(m, first, o);
		if (!content)
			return -1;
		if (begin + content->bound * (1 + 1e-12) >= afresh) {
			ask(content, begin, afresh);
			return 0;
		}
	}
	return fail_bound(m, first, last);
}

static int ask_from(struct maker *m, unsigned int first)
{
	const struct lace_demand *demand = m->planner.demand;
	double begin = first ? m->certificate->potentials[first] +
			       m->planner.cluster->reconfig_s : 0;
	double fluid = 0, alone = 0;
	enum asked asked = ASKED_ON;

	lace_interval_clear(&m->interval);
	for (unsigned int o = first; !asked && o < demand->nr_ops; o++) {
		unsigned int kind = m->planner.op_kind[o];
		double repeat = (double)demand->ops[o].repeat;

		lace_interval_add(&m->interval, o);
		fluid += repeat * m->low[kind];
		alone += repeat * bound_alone(m, kind);
		asked = ask_interval(m, first, o, begin, fluid, alone);
		if (asked == ASKED_TOO_MUCH)
			return ask_shorter(m, first, o, begin);
	}
	return asked == ASKED_FAILS ? -1 : 0;
}

/* ---- proofs ---- */

static double sum_low(const struct maker *m, const struct lace_period *period)
{
	double sum = 0;

	for (unsigned int t = 0; t < period->nr; t++)
		sum += period->terms[t].repeat * m->low[period->terms[t].kind];
	return sum;
}

static int prove(struct maker *m, const struct lace_period *of,
		 unsigned int first, unsigned int last, double at_least)
{
	struct lace_proof *proof =
		&m->certificate->proofs[m->certificate->nr_proofs];
	struct lace_period period = { .nr = of->nr };
	struct lace_box box;
	int ret = -1;

	*proof = (struct lace_proof){ .first_op = first, .last_op = last,
				      .at_least = at_least };
	period.terms = lace_planner_alloc(&m->planner, of->nr,
					  sizeof(*period.terms));
	if (!period.terms)
		return lace_no_memory(m->err);
	memcpy(period.terms, of->terms, of->nr * sizeof(*period.terms));
	if (!lace_box_create(&m->planner, &period, m->low, &box))
		ret = lace_proof_find(&box, proof);
	lace_box_free(&box);
	if (ret > 0)
		return fail_bound(m, first, last);
	if (ret)
		return lace_no_memory(m->err);
	m->certificate->nr_proofs++;
	return 0;
}

/* Ops alone, whatever their repeat: one proof for each kind. */
static int prove_kinds(struct maker *m)
{
	for (unsigned int i = 0; i < m->contents.nr; i++) {
		const struct lace_content *content = &m->contents.items[i];
		const struct lace_term *t = content->period.terms;

		if (content->period.nr == 1)
			m->asked[t->kind] = fmax(m->asked[t->kind],
						 content->at_least / t->repeat);
	}
	for (unsigned int k = 0; k < m->planner.nr_kinds; k++) {
		unsigned int op = m->planner.kinds[k].first_op;
		struct lace_term term = { .kind = k,
			.repeat = (double)m->planner.demand->ops[op].repeat };
		struct lace_period period = { .nr = 1, .terms = &term };
		double time = m->asked[k] * LESS_ALONE;

		if (m->low[k] >= time)
			continue;
		if (prove(m, &period, op, op, time * term.repeat))
			return -1;
		m->low[k] = time;
	}
	return 0;
}

static int order_contents(const void *a, const void *b)
{
	const struct lace_content *x = *(const struct lace_content *const *)a;
	const struct lace_content *y = *(const struct lace_content *const *)b;

	if (x->period.nr != y->period.nr)
		return x->period.nr < y->period.nr ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int prove_contents(struct maker *m, const struct lace_content **order)
{
	for (unsigned int i = 0; i < m->contents.nr; i++)
		order[i] = &m->contents.items[i];
	qsort(order, m->contents.nr, sizeof(*order), order_contents);
	for (unsigned int i = 0; i < m->contents.nr; i++) {
		double at_least = order[i]->at_least * LESS;

		if (order[i]->period.nr > 1 &&
		    sum_low(m, &order[i]->period) < at_least &&
		    prove(m, &order[i]->period, order[i]->first_op,
			  order[i]->last_op, at_least))
			return -1;
	}
	return 0;
}

static int prove_all(struct maker *m)
{
	size_t nr = (size_t)m->planner.nr_kinds + m->contents.nr;
	const struct lace_content **order;
	int ret = -1;

	m->certificate->proofs = calloc(nr + 1,
					sizeof(*m->certificate->proofs));
	order = lace_planner_alloc(&m->planner, m->contents.nr,
				   sizeof(*order));
	if (!m->certificate->proofs || !order)
		lace_no_memory(m->err);
	else if (!prove_kinds(m))
		ret = prove_contents(m, order);
	free(order);
	return ret;
}

/* ---- potentials ---- */

/* Of a switch without circuits: what the packet scheduler is about. */
static void fluid_potentials(struct maker *m)
{
	const struct lace_demand *demand = m->planner.demand;
	double *f = m->certificate->potentials;

	for (unsigned int o = 0; o < demand->nr_ops; o++)
		f[o + 1] = f[o] + (double)demand->ops[o].repeat *
				  m->low[m->planner.op_kind[o]];
}

static int make_potentials(struct maker *m, const struct lace_plan *plan)
{
	struct lace_certificate *certificate = m->certificate;

	certificate->nr_ops = m->planner.demand->nr_ops;
	certificate->potentials = calloc((size_t)certificate->nr_ops + 1,
					 sizeof(double));
	if (!certificate->potentials)
		return lace_no_memory(m->err);
	if (!strcmp(plan->scheduler, "packet"))
		fluid_potentials(m);
	/* All zero proves 0, which is what there is without a bound. */
	else if (plan->bound_s > 0)
		lace_segment_bound(&m->planner, certificate->potentials);
	if (m->planner.oom)
		return lace_no_memory(m->err);
	return 0;
}

static int fill(struct maker *m, const struct lace_plan *plan)
{
	struct lace_certificate *certificate = m->certificate;
	struct lace_planner *p = &m->planner;

	m->low = lace_planner_alloc(p, p->nr_kinds, sizeof(*m->low));
	m->alone = lace_planner_alloc(p, p->nr_kinds, sizeof(*m->alone));
	m->asked = lace_planner_alloc(p, p->nr_kinds, sizeof(*m->asked));
	for (unsigned int k = 0; m->alone && k < p->nr_kinds; k++)
		m->alone[k] = NAN;
	if (!m->low || !m->alone || !m->asked || lace_interval_create(p, &m->interval) ||
	    lace_certificate_fluid(p, m->low))
		return lace_no_memory(m->err);
	if (make_potentials(m, plan))
		return -1;
	if (!(plan->bound_s <= certificate->potentials[certificate->nr_ops] *
			       (1 + 1e-12)))
		return lace_fail(m->err, LACE_ERR_SYSTEM,
				 "bound_s is %.12g, no more than %.12g has a proof",
				 plan->bound_s,
				 certificate->potentials[certificate->nr_ops]);
	for (unsigned int a = 0; a < certificate->nr_ops; a++)
		if (ask_from(m, a))
			return -1;
	if (p->oom)
		return lace_no_memory(m->err);
	return prove_all(m);
}

/**
 * lace_certificate_make() - prove the bound of a plan
 * @cluster: the plan's
 * @demand: of the plan's schedule
 * @plan: as lace_compile() leaves it, with hashes
 * @certificate: filled; empty on failure
 * @err: filled on failure
 *
 * Takes about as long as the bound itself did.
 *
 * Return: 0, or a negative value.
 */
int lace_certificate_make(const struct lace_cluster *cluster,
			  const struct lace_demand *demand,
			  const struct lace_plan *plan,
			  struct lace_certificate *certificate,
			  struct lace_error *err)
{
	bool duplex = !strncmp(plan->scheduler, "symmetric",
			       strlen("symmetric"));
	struct maker m = { .certificate = certificate, .err = err };
	int ret;

	*certificate = (struct lace_certificate){ .duplex = duplex,
						  .bound_s = plan->bound_s };
	memcpy(certificate->cluster_sha256, plan->cluster_sha256,
	       sizeof(plan->cluster_sha256));
	memcpy(certificate->schedule_sha256, plan->schedule_sha256,
	       sizeof(plan->schedule_sha256));
	if (lace_planner_create(cluster, demand, duplex, &m.planner, err))
		return -1;
	ret = fill(&m, plan);
	lace_contents_free(&m.contents);
	lace_interval_free(&m.interval);
	free(m.low);
	free(m.alone);
	free(m.asked);
	lace_planner_free(&m.planner);
	if (ret)
		lace_certificate_free(certificate);
	return ret;
}
