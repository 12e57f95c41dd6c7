// SPDX-License-Identifier: GPL-2.0
/*
 * Transitions that stop only what changes: times worked out by hand, the field of
 * the plan file, then random plans against a simulation that shares no code with
 * the evaluator and goes round by round.
 *
 *	test_keep [INSTANCES [FIRST SEED]]
 */
#include "instance.h"
#include "tap.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- by hand ---- */

/*
 * Lanes of 1000 bytes a second.  Node 0 sends to 1 over one lane (the other goes
 * to 2), then over both: one stays, one changes.
 */
struct small {
	struct lace_cluster cluster;
	struct lace_pair pair;
	struct lace_demand_op ops[3];
	struct lace_demand demand;
	struct lace_circuit circuits[3][2];
	struct lace_segment segments[3];
	struct lace_plan plan;
};

static bool small_make(struct small *s, double reconfig_s,
		       unsigned int nr_segments)
{
	static const struct lace_circuit one = { 0, 0, 1, 0 };
	static const struct lace_circuit to2 = { 0, 1, 2, 0 };
	static const struct lace_circuit to1 = { 0, 1, 1, 1 };
	struct lace_error err;

	memset(s, 0, sizeof(*s));
	if (lace_cluster_make(3, 2, 8000, LACE_WIRING_SINGLE, reconfig_s,
			      &s->cluster, &err))
		return false;
	s->cluster.control_ratio = 0;
	s->pair = (struct lace_pair){ 0, 1, 1000 };
	for (unsigned int i = 0; i < 3; i++) {
		s->ops[i] = (struct lace_demand_op){ .name = "op", .repeat = 1,
			.nr_pairs = 1, .pairs = &s->pair };
		s->circuits[i][0] = one;
		s->circuits[i][1] = i == 1 ? to1 : to2;
		s->segments[i] = (struct lace_segment){ .first_op = i,
			.last_op = i, .nr_circuits = 2,
			.circuits = s->circuits[i] };
	}
	s->demand = (struct lace_demand){ .nr_nodes = 3, .nr_ops = nr_segments,
					  .ops = s->ops };
	s->plan = (struct lace_plan){ .scheduler = "lace",
		.transition = LACE_KEEP_LANES, .nr_segments = nr_segments,
		.segments = s->segments };
	return true;
}

static void expect(struct small *s, double cct_s, double reconfig_s,
		   const char *what)
{
	struct lace_error err;
	bool ok = !lace_plan_evaluate(&s->cluster, &s->demand, &s->plan, &err);

	if (!tap_check(ok && tap_near(s->plan.cct_s, cct_s) &&
		       tap_near(s->plan.reconfig_s, reconfig_s), "%s", what))
		tap_note("%.12g (%.12g)", s->plan.cct_s, s->plan.reconfig_s);
	lace_cluster_free(&s->cluster);
}

static void test_by_hand(void)
{
	struct small s;

	small_make(&s, 0.5, 2);
	expect(&s, 1 + 0.75, 0.25, "half a second over one lane, the rest over both");
	small_make(&s, 2, 2);
	expect(&s, 1 + 1, 0.5, "over before the transition is");
	small_make(&s, 2, 3);
	expect(&s, 1 + 2 + 1, 0.5 + 1,
	       "the next transition waits, and stops nothing that is sent");
	small_make(&s, 2.5, 2);
	s.ops[1].repeat = 4;
	expect(&s, 1 + 3.25, 1.25,
	       "two rounds over one lane, one half and half, one over both");
	small_make(&s, 0.5, 2);
	s.circuits[0][0] = (struct lace_circuit){ 0, 1, 1, 1 };
	s.circuits[0][1] = (struct lace_circuit){ 0, 0, 2, 0 };
	s.circuits[1][1] = (struct lace_circuit){ 0, 1, 1, 1 };
	s.circuits[1][0] = (struct lace_circuit){ 0, 0, 1, 0 };
	expect(&s, 1 + 0.75, 0.25, "it is the ports that tell what stays");
	small_make(&s, 0.5, 2);
	s.circuits[1][0] = (struct lace_circuit){ 0, 0, 1, 1 };
	s.circuits[1][1] = (struct lace_circuit){ 0, 1, 1, 0 };
	expect(&s, 1 + 1, 0.5, "the same counts on other ports wait for all of it");
	small_make(&s, 0.5, 2);
	s.circuits[1][1] = s.circuits[0][1];
	expect(&s, 2, 0, "nothing changes, nothing waits");
	small_make(&s, 0.5, 2);
	s.ops[1].nr_pairs = 0;
	expect(&s, 1, 0, "nothing to send does not wait either");
}

/* ---- the field of the file ---- */

static void test_file(void)
{
	struct lace_plan plan = { .scheduler = "lace" }, again;
	struct lace_error err;
	char *text, *bad;
	size_t len;

	memset(plan.cluster_sha256, 'a', 64);
	memset(plan.schedule_sha256, 'b', 64);
	text = plan_text(&plan, &len);
	tap_check(text && !strstr(text, "transition"),
		  "a plan that stops all lanes says nothing");
	free(text);
	plan.transition = LACE_KEEP_LANES;
	text = plan_text(&plan, &len);
	tap_check(text && !lace_plan_parse(text, len, "x", &again, &err) &&
		  again.transition == LACE_KEEP_LANES,
		  "one that keeps lanes says so");
	lace_plan_free(&again);
	bad = text ? strstr(text, "keep-lanes") : NULL;
	if (bad)
		bad[strlen("keep-")] = 'L';
	tap_check(bad && lace_plan_parse(text, len, "x", &again, &err) &&
		  !strcmp(err.text, "transition: has to be \"keep-lanes\", is \"keep-Lanes\""),
		  "any other word is an error");
	free(text);
}

/* ---- a simulation, round by round ---- */

struct sim {
	const struct instance *in;
	const struct lace_plan *plan;
	unsigned int n;
	double *bps, *kept, *bits;	/* of each ordered pair */
	double now, began;		/* the transition */
	const struct lace_segment *before;	/* the transition */
};

static double rate(const struct sim *s, const struct lace_circuit *c)
{
	const struct lace_node *nodes = s->in->cluster.nodes;

	return fmin(nodes[c->tx_node].ports[c->tx_port].rate_bps,
		    nodes[c->rx_node].ports[c->rx_port].rate_bps);
}

static bool has(const struct lace_segment *segment,
		const struct lace_circuit *c)
{
	for (unsigned int i = 0; i < segment->nr_circuits; i++)
		if (!memcmp(&segment->circuits[i], c, sizeof(*c)))
			return true;
	return false;
}

static bool same_set(const struct lace_segment *a, const struct lace_segment *b)
{
	if (a->nr_circuits != b->nr_circuits)
		return false;
	for (unsigned int i = 0; i < a->nr_circuits; i++)
		if (!has(b, &a->circuits[i]))
			return false;
	return true;
}

static void fill_rates(struct sim *s, const struct lace_segment *segment)
{
	size_t cells = (size_t)s->n * s->n * sizeof(double);

	memset(s->bps, 0, cells);
	memset(s->kept, 0, cells);
	for (unsigned int i = 0; i < segment->nr_circuits; i++) {
		const struct lace_circuit *c = &segment->circuits[i];
		size_t cell = (size_t)c->tx_node * s->n + c->rx_node;

		s->bps[cell] += rate(s, c);
		if (!s->before || has(s->before, c))
			s->kept[cell] += rate(s, c);
	}
}

static void send_bits(struct sim *s, const struct lace_segment *segment,
		      unsigned int src, unsigned int dst, double bits)
{
	unsigned int at = src;

	if (s->bps[(size_t)src * s->n + dst] > 0) {
		s->bits[(size_t)src * s->n + dst] += bits;
		return;
	}
	for (unsigned int i = 0; i < segment->nr_routes; i++) {
		const struct lace_route *r = &segment->routes[i];

		if (r->from != src || r->to != dst)
			continue;
		for (unsigned int k = 0; k < r->nr_between; k++) {
			s->bits[(size_t)at * s->n + r->between[k]] += bits;
			at = r->between[k];
		}
		s->bits[(size_t)at * s->n + dst] += bits;
	}
}

static void play_round(struct sim *s, double left)
{
	double longest = 0;

	for (size_t cell = 0; cell < (size_t)s->n * s->n; cell++) {
		double bits = s->bits[cell], took = 0;

		if (!(bits > 0))
			continue;
		if (left > 0 && bits > s->kept[cell] * left) {
			bits -= s->kept[cell] * left;
			took = left + bits / s->bps[cell];
		} else {
			took = bits / (left > 0 ? s->kept[cell] : s->bps[cell]);
		}
		longest = fmax(longest, took);
	}
	s->now += longest;
}

static void play_op(struct sim *s, const struct lace_segment *segment,
		    const struct lace_demand_op *op)
{
	double ratio = s->in->cluster.control_ratio;

	memset(s->bits, 0, (size_t)s->n * s->n * sizeof(double));
	for (size_t i = 0; i < op->nr_pairs; i++) {
		const struct lace_pair *p = &op->pairs[i];

		send_bits(s, segment, p->src, p->dst, 8 * p->bytes);
		if (ratio > 0)
			send_bits(s, segment, p->dst, p->src,
				  8 * ratio * p->bytes);
	}
	for (uint64_t round = 0; round < op->repeat; round++)
		play_round(s, s->began + s->in->cluster.reconfig_s - s->now);
}

static double simulate(const struct instance *in, const struct lace_plan *plan)
{
	struct sim s = { .in = in, .plan = plan, .n = in->cluster.nr_nodes,
			 .began = -INFINITY };
	size_t cells = (size_t)s.n * s.n;

	s.bps = calloc(cells, sizeof(double));
	s.kept = calloc(cells, sizeof(double));
	s.bits = calloc(cells, sizeof(double));
	for (unsigned int i = 0; i < plan->nr_segments; i++) {
		const struct lace_segment *segment = &plan->segments[i];

		if (i && !same_set(segment, segment - 1)) {
			s.before = segment - 1;
			s.began = fmax(s.now,
				       s.began + in->cluster.reconfig_s);
			s.now = s.began;
		}
		fill_rates(&s, segment);
		for (unsigned int o = segment->first_op;
		     o <= segment->last_op; o++)
			play_op(&s, segment, &in->demand.ops[o]);
	}
	free(s.bps);
	free(s.kept);
	free(s.bits);
	return s.now;
}

/* ---- random plans ---- */

struct tally {
	unsigned int plans, wrong, gained, planned;
	double ratio;		/* of keeping lanes to stopping all: sum */
};

static void complain(struct tally *tally, uint64_t seed, const char *scheduler,
		     const char *what)
{
	tally->wrong++;
	tap_note("seed %llu %s: %s", (unsigned long long)seed, scheduler, what);
}

static void judge_keep(struct tally *tally, uint64_t seed,
		       const struct instance *in, const char *scheduler,
		       const struct lace_plan *plan)
{
	struct lace_plan copy = *plan, again;
	struct lace_error err;
	size_t len_a, len_b;
	char *a, *b;

	memcpy(copy.cluster_sha256, in->cluster.sha256,
	       sizeof(copy.cluster_sha256));
	memcpy(copy.schedule_sha256, in->schedule.sha256,
	       sizeof(copy.schedule_sha256));
	if (lace_plan_check(&in->cluster, &in->schedule, &copy, &err))
		complain(tally, seed, scheduler, err.text);
	if (fabs(simulate(in, plan) - plan->cct_s) > 1e-9 * plan->cct_s)
		complain(tally, seed, scheduler, "the simulation takes another time");
	if (lace_compile_keep(&in->cluster, &in->demand, scheduler, &again,
			      &err)) {
		complain(tally, seed, scheduler, "no plan the second time");
		return;
	}
	a = plan_text(plan, &len_a);
	b = plan_text(&again, &len_b);
	if (!a || !b || len_a != len_b || memcmp(a, b, len_a))
		complain(tally, seed, scheduler, "not the same bytes twice");
	free(a);
	free(b);
	lace_plan_free(&again);
}

/* INFINITY if there is no plan. */
static double judge(struct tally *tally, uint64_t seed,
		    const struct instance *in, const char *scheduler)
{
	struct lace_plan fixed, keep;
	struct lace_error err;
	double stop_s, keep_s;

	if (lace_compile(&in->cluster, &in->demand, scheduler, &fixed, &err))
		return INFINITY;
	stop_s = fixed.cct_s;
	if (lace_compile_keep(&in->cluster, &in->demand, scheduler, &keep,
			      &err)) {
		complain(tally, seed, scheduler, err.text);
		lace_plan_free(&fixed);
		return INFINITY;
	}
	fixed.transition = LACE_KEEP_LANES;
	if (lace_plan_evaluate(&in->cluster, &in->demand, &fixed, &err))
		complain(tally, seed, scheduler, err.text);
	keep_s = keep.cct_s;
	tally->plans++;
	tally->gained += keep_s < stop_s * (1 - 1e-9);
	tally->planned += keep_s < fixed.cct_s * (1 - 1e-9);
	tally->ratio += stop_s > 0 ? keep_s / stop_s : 1;
	if (fixed.cct_s > stop_s * (1 + 1e-9))
		complain(tally, seed, scheduler,
			 "keeping lanes takes longer than stopping them");
	if (keep_s > fixed.cct_s * (1 + 1e-9))
		complain(tally, seed, scheduler,
			 "the other model's plan is the better one");
	if (keep.bound_s > keep_s * (1 + 1e-9) ||
	    keep.bound_s > fixed.cct_s * (1 + 1e-9))
		complain(tally, seed, scheduler, "the bound is above a plan");
	judge_keep(tally, seed, in, scheduler, &keep);
	lace_plan_free(&fixed);
	lace_plan_free(&keep);
	return keep_s;
}

static void test_random(unsigned int nr, uint64_t first)
{
	static const struct instance_size size = { .nodes = 9, .lanes = 6,
						   .ops = 7 };
	struct tally tally = { 0 };

	for (uint64_t seed = first; seed < first + nr; seed++) {
		struct dice dice = { .state = seed * 0x9e3779b97f4a7c15ull + 3 };
		struct instance in;
		double lace, symmetric;

		if (!instance_make(&in, &dice, &size))
			continue;
		lace = judge(&tally, seed, &in, "lace");
		symmetric = judge(&tally, seed, &in, "symmetric");
		if (lace > symmetric * (1 + 1e-9))
			complain(&tally, seed, "lace", "slower than symmetric");
		judge(&tally, seed, &in, "symmetric-perop");
		instance_free(&in);
	}
	tap_note("%u plans, %u faster than if all lanes stop, %u than the plan for that",
		 tally.plans, tally.gained, tally.planned);
	tap_note("mean ratio %.4f", tally.ratio / tally.plans);
	tap_check(tally.plans > nr, "there are plans");
	tap_check(!tally.wrong,
		  "each is what the simulation says, above its bound, and no "
		  "worse than without planning for it");
	tap_check(tally.gained > tally.plans / 20,
		  "keeping lanes is worth it now and then");
	tap_check(tally.planned > tally.plans / 50, "and so is planning for it");
}

int main(int argc, char **argv)
{
	unsigned int nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 40;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	tap_plan(15);
	test_by_hand();
	test_file();
	test_random(nr, first);
	return tap_end();
}
