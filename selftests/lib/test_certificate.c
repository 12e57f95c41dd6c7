// SPDX-License-Identifier: GPL-2.0
/*
 * Certificates: proofs written by hand, each step once with the number that
 * just holds and once with one that does not; then random instances of every
 * scheduler, whose bound has to be proven to the last digit, and no more than
 * that, whatever is changed in the file.
 *
 *	test_certificate [--count INSTANCES] [--seed FIRST]
 *
 * LACE_RANDOM_COUNT in the environment is the default of --count.
 */
#include "instance.h"
#include "tap.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 60
#define CHANGES 30		/* of each certificate */

static const char *const schedulers[] = { "lace", "symmetric",
	"lace-oneshot", "symmetric-oneshot", "symmetric-perop", "topoopt",
	"uniform", "packet" };

#define NR(array) (sizeof(array) / sizeof(*(array)))

/* ---- by hand ---- */

#define GBPS 1000000000
#define HASH \
	"0000000000000000000000000000000000000000000000000000000000000000"

/* Bytes of 1 s over one lane. */
#define SECOND "125000000"

/* Three nodes of two lanes, in one op: 0 to 1 and 0 to 2 for a second each. */
#define FORK \
	"{ \"format\": \"lace-schedule/1\", \"name\": \"\", \"ranks\": 3," \
	"  \"placement\": [0, 1, 2], \"ops\": [ { \"name\": \"\", \"parts\": [" \
	"  { \"transfers\": [[0, 1, " SECOND "], [0, 2, " SECOND "]] }] }] }"

struct table {
	const char *what;
	double bound;		/* of the plan */
	const char *potentials, *proofs;
	const char *says;	/* NULL: it holds */
};

struct setting {
	unsigned int ports;
	double reconfig_s, control;
	enum lace_relay relay;
	const char *schedule, *scheduler, *circuits;
};

static int check_text(const struct lace_cluster *cluster,
		      const struct lace_schedule *schedule,
		      const char *scheduler, double bound, const char *text,
		      struct lace_error *err)
{
	struct lace_plan plan = { .scheduler = (char *)scheduler,
				  .bound_s = bound };
	struct lace_certificate certificate;
	struct lace_verified verified;
	int ret;

	if (lace_certificate_parse(text, strlen(text), "c", &certificate, err))
		return -1;
	ret = lace_certificate_check(cluster, schedule, &plan, &certificate,
				     &verified, err);
	lace_certificate_free(&certificate);
	return ret;
}

static void check_table(const struct setting *setting,
			const struct table *table, unsigned int nr)
{
	struct lace_cluster cluster;
	struct lace_schedule schedule;
	struct lace_error err;

	if (lace_cluster_make(3, setting->ports, GBPS, LACE_WIRING_SINGLE,
			      setting->reconfig_s, &cluster, &err) ||
	    lace_schedule_parse(setting->schedule, strlen(setting->schedule),
				"s", &schedule, &err))
		abort();
	cluster.control_ratio = setting->control;
	cluster.relay = setting->relay;
	strcpy(cluster.sha256, HASH);
	strcpy(schedule.sha256, HASH);
	for (const struct table *t = table; t < table + nr; t++) {
		char *text;
		int ret;

		if (asprintf(&text,
			     "{ \"format\": \"lace-certificate/1\","
			     "\"cluster_sha256\": \"" HASH "\","
			     "\"schedule_sha256\": \"" HASH "\","
			     "\"circuits\": \"%s\", \"bound_s\": %.17g,"
			     "\"potentials\": %s, \"proofs\": [%s] }",
			     setting->circuits, t->bound, t->potentials,
			     t->proofs) < 0)
			abort();
		ret = check_text(&cluster, &schedule, setting->scheduler,
				 t->bound, text, &err);
		if (!tap_check(t->says ? ret && strstr(err.text, t->says) :
					 !ret, "%s", t->what))
			tap_note("%s", ret ? err.text : "holds");
		free(text);
	}
	lace_schedule_free(&schedule);
	lace_cluster_free(&cluster);
}

#define PROVE(least, steps) \
	"{\"first_op\": 0, \"last_op\": 0, \"at_least\": " least \
	", \"steps\": [" steps "]}"

/* A little below a second: a split at a second is no split. */
#define ALMOST "0.99999999999"

/* Node 0 has three lanes for two seconds of data: 2/3 s of fluid, but one pair
 * has one lane, so 1 s.
 */
static const struct table single[] = {
	{ "fluid alone", 2 / 3., "[0, 0.666666666666666]", "", NULL },
	{ "more than fluid", .67, "[0, 0.67]", "", "ops 0 to 0: 0.6666" },
	{ "counts", 1, "[0, 1]",
	  PROVE("0.9999999999", "[0, " ALMOST "], 0, null"), NULL },
	{ "of an op with another bound", 1.001, "[0, 1]",
	  PROVE("0.9999999999", "[0, " ALMOST "], 0, null"),
	  "last potential is 1" },
	{ "with a row that is not full", 1, "[0, 1]",
	  PROVE("0.9999999999", "[0, " ALMOST "], 4, null"),
	  "proofs[0].steps[1], of ops 0 to 0: the row" },
	{ "with a row that is not there", 1, "[0, 1]",
	  PROVE("0.9999999999", "[0, " ALMOST "], 6, null"),
	  "proofs[0].steps[1], of ops 0 to 0: there" },
	{ "with a split that is too late", 1, "[0, 1]",
	  PROVE("0.9999999999", "[0, 1], 0, null"),
	  "the row has lanes enough" },
	{ "claiming more than the leaf has", 1, "[0, 1]",
	  PROVE("1", "[0, " ALMOST "], 0, null"), "proves 0.99999999999 s, not 1" },
	{ "asking for more than the proof has", 1.1, "[0, 1.1]",
	  PROVE("0.9999999999", "[0, " ALMOST "], 0, null"),
	  "s are proven, the potentials ask for 1.1" },
	{ "cut short", 1, "[0, 1]",
	  PROVE("0.9999999999", "[0, " ALMOST "], 0"),
	  "steps[2], of ops 0 to 0: the proof ends too early" },
	{ "going on", 1, "[0, 1]",
	  PROVE("0.9999999999", "[0, " ALMOST "], 0, null, null"),
	  "steps[3], of ops 0 to 0: the proof has ended" },
	{ "with no steps", 1, "[0, 1]", PROVE("1", ""), "ends too early" },
	{ "splitting what is not there", 1, "[0, 1]",
	  PROVE("1", "[1, 1], 0, null"), "the time of another op" },
	{ "claiming what cannot be", 1, "[0, 1]", PROVE("null", "0"),
	  "the row has lanes enough" },
	{ "with what cannot be as a sum", 1, "[0, 1]", PROVE("null", "null"),
	  "s, not inf" },
	{ "of ops that are not there", 1, "[0, 1]",
	  "{\"first_op\": 0, \"last_op\": 1, \"at_least\": 0, \"steps\": [null]}",
	  "there is no op 1" },
	{ "too few potentials", 0, "[0]", "", "0 ops, there are 1" },
	{ "potentials that begin above 0", 1, "[1, 1]", "", "potentials[0]" },
	/* The least of .5 / m + .25 m is .75, for each pair, less 3 x .25. */
	{ "shares and prices", .75, "[0, 0.75]",
	  PROVE("0.7499999999", "{\"shares\": [0.5, 0.5], \"prices\": [0.25, [0, 5]]}"),
	  NULL },
	{ "prices that are too high", .75, "[0, 0.75]",
	  PROVE("0.7499999999", "{\"shares\": [0.5, 0.5], \"prices\": [0.26, [0, 5]]}"),
	  "proves 0.7399" },
	{ "prices that are too low", .75, "[0, 0.75]",
	  PROVE("0.7499999999", "{\"shares\": [0.5, 0.5], \"prices\": [0.24, [0, 5]]}"),
	  "proves 0.7399" },
	{ "shares that are not best", .75, "[0, 0.75]",
	  PROVE("0.7499999999", "{\"shares\": [0.6, 0.4], \"prices\": [0.25, [0, 5]]}"),
	  "proves 0.6999" },
	{ "shares of more than one", .75, "[0, 0.75]",
	  PROVE("0.7499999999", "{\"shares\": [0.6, 0.5], \"prices\": [0.25, [0, 5]]}"),
	  "more than one" },
	{ "a share for each pair", .75, "[0, 0.75]",
	  PROVE("0.75", "{\"shares\": [1], \"prices\": [0.25, [0, 5]]}"),
	  "other numbers" },
	{ "a price for each row", .75, "[0, 0.75]",
	  PROVE("0.75", "{\"shares\": [0.5, 0.5], \"prices\": [0.25, [0, 4]]}"),
	  "other numbers" },
	{ "prices without end", .75, "[0, 0.75]",
	  PROVE("0.75", "{\"shares\": [0.5, 0.5], \"prices\": [[1e308, 6]]}"),
	  "proves 0 s" },
	{ "no crossings without control", 1, "[0, 1]",
	  PROVE("1", "{\"crossing\": [0]}"), "no place here" },
};

/* A ring, and the ring the other way round: a second over one lane each. */
#define RINGS \
	"{ \"format\": \"lace-schedule/1\", \"name\": \"\", \"ranks\": 3," \
	"  \"placement\": [0, 1, 2], \"ops\": [ { \"name\": \"\", \"parts\": [" \
	"  { \"transfers\": [[0, 1, " SECOND "], [1, 2, " SECOND "]," \
	"                    [2, 0, " SECOND "]] }] }," \
	"  { \"name\": \"\", \"parts\": [" \
	"  { \"transfers\": [[1, 0, " SECOND "], [2, 1, " SECOND "]," \
	"                    [0, 2, " SECOND "]] }] }] }"

#define BOTH(least, steps) \
	"{\"first_op\": 0, \"last_op\": 1, \"at_least\": " least \
	", \"steps\": [" steps "]}"

/* One lane a node: no configuration serves both; 0.5 s between them. */
static const struct table apart[] = {
	{ "ops that cannot share", 2.5, "[0, 1, 2.5]", BOTH("null", "3"), NULL },
	{ "without a proof", 2.5, "[0, 1, 2.5]", "",
	  "ops 0 to 1: 2 s are proven, the potentials ask for 2.5" },
	{ "as a sum", 2.5, "[0, 1, 2.5]", BOTH("2.5", "null"),
	  "proves 2 s, not 2.5" },
	{ "a late potential too high", 2.6, "[0, 1, 2.6]", BOTH("null", "3"),
	  "ops 1 to 1: 1 s are proven, the potentials ask for 1.1" },
	{ "an early one too high", 2.5, "[0, 1.1, 2.5]", BOTH("null", "3"),
	  "ops 0 to 0: 1 s are proven, the potentials ask for 1.1" },
	{ "and too low", 2.5, "[0, 0.9, 2.5]", BOTH("null", "3"),
	  "ops 1 to 1: 1 s are proven, the potentials ask for 1.1" },
};

/* Two lanes: 0.5 s for an op alone, but 2 s for both, which take a lane each;
 * starting afresh costs 0.5 s.
 */
static const struct table together[] = {
	{ "ops that had better not share", 1.5, "[0, 0.5, 1.5]",
	  BOTH("1.4999999999",
	       "[0, " ALMOST "], 0, [1, " ALMOST "], 0, null"), NULL },
	{ "with half of the proof", 1.5, "[0, 0.5, 1.5]",
	  BOTH("1.4999999999", "[0, " ALMOST "], 0, null"), NULL },
	{ "with less than half of it", 1.5, "[0, 0.5, 1.5]",
	  BOTH("1.4999999999", "[0, 0.9], 0, null"), "proves 1.4 s" },
	{ "where the second time is the one of the first", 1.5,
	  "[0, 0.5, 1.5]",
	  BOTH("1.4999999999",
	       "[0, " ALMOST "], 0, [0, " ALMOST "], 0, null"), NULL },
	{ "of all their time", 2, "[0, 0.5, 2]",
	  BOTH("1.9999999999",
	       "[0, " ALMOST "], 0, [1, " ALMOST "], 0, null"),
	  "ops 1 to 1: 0.5 s are proven, the potentials ask for 1" },
	{ "a box within a box", 1.5, "[0, 0.5, 1.5]",
	  BOTH("1.4999999999", "[0, " ALMOST "], [0, 0.4], 0, 0, null"), NULL },
	{ "with what another box says of a time", 1.5, "[0, 0.5, 1.5]",
	  BOTH("1.9", "[0, " ALMOST "], [1, 1.4], 0, 0, null"),
	  "steps[4], of ops 0 to 1: proves 1.49999999999 s, not 1.9" },
	{ "in a box above the split", 1.5, "[0, 0.5, 1.5]",
	  BOTH("1.4999999999", "[0, " ALMOST "], 0, 0"),
	  "steps[2], of ops 0 to 1: the row has lanes enough" },
};

/* One lane, a tenth of a second of control back for each pair, which goes on
 * round the ring: two circuits.
 */
static const struct table control[] = {
	{ "control over two circuits", 2.4, "[0, 1.2, 2.4]",
	  PROVE("1.1999999999", "{\"crossing\": [0]}") ","
	  "{\"first_op\": 1, \"last_op\": 1, \"at_least\": 1.1999999999,"
	  " \"steps\": [{\"crossing\": [0]}]}," BOTH("null", "0"), NULL },
	{ "over three", 1.3, "[0, 1.3, 1.3]",
	  PROVE("1.2999999999", "{\"crossing\": [0]}"), "proves 1.2 s" },
	{ "as fluid", 2.2, "[0, 1.1, 2.2]", "", NULL },
	{ "as more than fluid", 2.4, "[0, 1.2, 2.4]", "",
	  "ops 0 to 0: 1.1 s" },
	{ "a price for each op", 1.2, "[0, 1.2, 1.2]",
	  PROVE("1.1999999999", "{\"crossing\": []}"), "no place here" },
	{ "prices that are not whole", 1.2, "[0, 1.2, 1.2]",
	  PROVE("1.1999999999", "{\"crossing\": [0.5]}"), "whole" },
	{ "a price where no lane is left", 1.2, "[0, 1.2, 1.2]",
	  PROVE("1.1999999999", "{\"crossing\": [7]}"), NULL },
};

/* Two ports: a duplex plan gives one to each neighbour. */
static const struct table duplex[] = {
	{ "duplex pairs", 2, "[0, 1, 2]",
	  PROVE("0.9999999999", "[0, " ALMOST "], 0, null") ","
	  "{\"first_op\": 1, \"last_op\": 1, \"at_least\": 0.9999999999,"
	  " \"steps\": [[1, " ALMOST "], 2, null]}", NULL },
	{ "have no rows for RX", 2, "[0, 1, 2]",
	  PROVE("0.9999999999", "[0, " ALMOST "], 3, null"), "no such row" },
	{ "as fluid", 1, "[0, 0.5, 1]", "", NULL },
};

static const struct table not_lanes[] = {
	{ "duplex pairs say nothing of lanes", 1, "[0, 0.5, 1]", "",
	  "holds for duplex plans, and the plan is \"lace\"" },
};

static const struct table lanes[] = {
	{ "lanes say something of duplex pairs", 1, "[0, 0.5, 1]", "", NULL },
};

static const struct {
	struct setting setting;
	const struct table *table;
	unsigned int nr;
} by_hand[] = {
	{ { 3, 0, 0, LACE_RELAY_NONE, FORK, "lace", "lanes" },
	  single, NR(single) },
	{ { 1, 0.5, 0, LACE_RELAY_NONE, RINGS, "lace", "lanes" },
	  apart, NR(apart) },
	{ { 2, 0.5, 0, LACE_RELAY_NONE, RINGS, "lace", "lanes" },
	  together, NR(together) },
	{ { 1, 0, 0.1, LACE_RELAY_CONTROL, RINGS, "lace", "lanes" },
	  control, NR(control) },
	{ { 2, 0, 0, LACE_RELAY_NONE, RINGS, "symmetric", "duplex" },
	  duplex, NR(duplex) },
	{ { 2, 0, 0, LACE_RELAY_NONE, RINGS, "lace", "duplex" },
	  not_lanes, NR(not_lanes) },
	{ { 2, 0, 0, LACE_RELAY_NONE, RINGS, "symmetric", "lanes" },
	  lanes, NR(lanes) },
};

/* ---- random instances ---- */

struct tally {
	unsigned int plans, unproven, changed, refused, believed, forgeries;
	unsigned int steps[LACE_PROOF_DUAL + 1];
};

static void complain(uint64_t seed, const char *scheduler, const char *what)
{
	tap_note("seed %llu, %s: %s", (unsigned long long)seed, scheduler,
		 what);
}

static bool holds(const struct instance *in, const struct lace_plan *plan,
		  const struct lace_certificate *certificate,
		  struct lace_error *err)
{
	struct lace_verified verified;

	return !lace_certificate_check(&in->cluster, &in->schedule, plan,
				       certificate, &verified, err);
}

/* Written and read it is the same, and proves the bound. */
static bool is_proven(const struct instance *in, const struct lace_plan *plan,
		      const char *text, size_t len, struct lace_error *err)
{
	struct lace_certificate read;
	size_t again_len = 0;
	char *again;
	bool ok;

	if (lace_certificate_parse(text, len, "c", &read, err))
		return false;
	again = certificate_text(&read, &again_len);
	ok = again_len == len && !memcmp(text, again, len);
	if (!ok)
		lace_fail(err, LACE_ERR_ANSWER, "is not the same when read");
	ok = ok && holds(in, plan, &read, err);
	free(again);
	lace_certificate_free(&read);
	return ok;
}

/* What is claimed becomes more than the best plan takes, and so do, by the
 * bits of how, the numbers that it rests on.
 */
static void forge(struct lace_certificate *c, double factor, unsigned int how)
{
	c->bound_s *= factor;
	for (unsigned int b = 0; b <= c->nr_ops; b++)
		c->potentials[b] *= factor;
	for (unsigned int i = 0; i < c->nr_proofs; i++) {
		struct lace_proof *proof = &c->proofs[i];

		if (how & 1)
			proof->at_least *= factor;
		for (unsigned int k = 0; k < proof->nr_steps; k++) {
			struct lace_proof_step *step = &proof->steps[k];

			if (how & 2)
				step->time *= factor;
			for (size_t t = 0; how & 4 && t < step->nr_shares; t++)
				step->shares[t] *= factor;
			if (how & 8 && step->kind != LACE_PROOF_DUAL)
				step->kind = LACE_PROOF_SUM;
		}
	}
}

/* One number or one step becomes another one. */
static void disturb(struct lace_certificate *c, struct dice *dice)
{
	static const double factors[] = { 0, 0.5, 0.999, 1.001, 1.5, 2, 1e3,
		1e-9, 1e300 };
	double factor = factors[dice_roll(dice, 9)];
	struct lace_proof *proof;
	struct lace_proof_step *step;

	if (!c->nr_proofs || !dice_roll(dice, 4)) {
		c->potentials[dice_roll(dice, c->nr_ops)] *= factor;
		return;
	}
	proof = &c->proofs[dice_roll(dice, c->nr_proofs)];
	step = &proof->steps[dice_roll(dice, proof->nr_steps)];
	switch (dice_roll(dice, 8)) {
	case 0:
		proof->last_op = proof->first_op +
				 dice_roll(dice, c->nr_ops - proof->first_op);
		break;
	case 1:
		proof->at_least *= factor;
		break;
	case 2:
		step->kind = dice_roll(dice, LACE_PROOF_DUAL);
		break;
	case 3:
		step->row = dice_roll(dice, 40);
		step->op = dice_roll(dice, c->nr_ops + 1);
		break;
	case 4:
		if (step->nr_shares)
			step->shares[dice_roll(dice, step->nr_shares)] *=
				factor;
		break;
	case 5:
		if (step->nr_prices)
			step->prices[dice_roll(dice, step->nr_prices)] *=
				factor;
		break;
	case 6:
		*step = proof->steps[dice_roll(dice, proof->nr_steps)];
		break;
	default:
		step->time *= factor;
	}
}

/* disturb() may have copied a step: what it points to has one owner still. */
static void copy_steps(struct lace_certificate *to,
		       const struct lace_certificate *from)
{
	*to = *from;
	to->potentials = malloc((from->nr_ops + 1) * sizeof(double));
	to->proofs = malloc((from->nr_proofs + 1) * sizeof(*to->proofs));
	memcpy(to->potentials, from->potentials,
	       (from->nr_ops + 1) * sizeof(double));
	memcpy(to->proofs, from->proofs,
	       from->nr_proofs * sizeof(*to->proofs));
	for (unsigned int i = 0; i < to->nr_proofs; i++) {
		size_t size = to->proofs[i].nr_steps *
			      sizeof(*to->proofs[i].steps);

		to->proofs[i].steps = malloc(size + 1);
		memcpy(to->proofs[i].steps, from->proofs[i].steps, size);
	}
}

static void free_steps(struct lace_certificate *c)
{
	for (unsigned int i = 0; i < c->nr_proofs; i++)
		free(c->proofs[i].steps);
	free(c->proofs);
	free(c->potentials);
}

/*
 * Claims of more than the plan takes are false: no forgery may pass.  What is
 * changed and claims no more may still hold, but seldom does.
 */
static void attack(const struct instance *in, uint64_t seed,
		   const struct lace_plan *plan, const char *text, size_t len,
		   struct tally *tally)
{
	struct dice dice = { .state = seed * 77 + 1 };
	struct lace_plan claim = *plan;
	struct lace_error err;

	for (unsigned int change = 0; change < CHANGES; change++) {
		struct lace_certificate parsed, c;
		bool forged = change % 3;

		if (lace_certificate_parse(text, len, "c", &parsed, &err))
			abort();
		claim.bound_s = plan->bound_s;
		if (forged) {
			claim.bound_s = plan->cct_s * 1.001;
			forge(&parsed, claim.bound_s / plan->bound_s,
			      dice_roll(&dice, 16));
		}
		copy_steps(&c, &parsed);
		for (unsigned int i = 0; i <= change % 4; i++)
			disturb(&c, &dice);
		tally->changed += !forged;
		tally->forgeries += forged;
		if (!holds(in, &claim, &c, &err)) {
			tally->refused += !forged;
		} else if (forged) {
			tally->believed++;
			complain(seed, plan->scheduler, "a forgery passes");
		}
		free_steps(&c);
		lace_certificate_free(&parsed);
	}
}

static void count_steps(const struct lace_certificate *c, struct tally *tally)
{
	for (unsigned int i = 0; i < c->nr_proofs; i++)
		for (unsigned int k = 0; k < c->proofs[i].nr_steps; k++)
			tally->steps[c->proofs[i].steps[k].kind]++;
}

static void judge(const struct instance *in, uint64_t seed,
		  const char *scheduler, struct tally *tally)
{
	struct lace_certificate certificate;
	struct lace_error err;
	struct lace_plan plan;
	size_t len = 0;
	char *text;

	if (lace_compile(&in->cluster, &in->demand, scheduler, &plan, &err))
		return;
	tally->plans++;
	strcpy(plan.cluster_sha256, in->cluster.sha256);
	strcpy(plan.schedule_sha256, in->schedule.sha256);
	if (lace_certificate_make(&in->cluster, &in->demand, &plan,
				  &certificate, &err)) {
		tally->unproven++;
		complain(seed, scheduler, err.text);
		lace_plan_free(&plan);
		return;
	}
	count_steps(&certificate, tally);
	text = certificate_text(&certificate, &len);
	lace_certificate_free(&certificate);
	if (!is_proven(in, &plan, text, len, &err)) {
		tally->unproven++;
		complain(seed, scheduler, err.text);
	} else if (plan.bound_s > 0 && strcmp(scheduler, "packet")) {
		/* Circuits may need more than a packet switch takes. */
		attack(in, seed, &plan, text, len, tally);
	}
	free(text);
	lace_plan_free(&plan);
}

static int judge_all(uint64_t first, uint64_t nr)
{
	static const struct instance_size sizes[] = { { 14, 8, 8 },
		{ 5, 4, 6 }, { 10, 16, 10 } };
	struct tally tally = { 0 };

	for (uint64_t seed = first; seed < first + nr; seed++) {
		struct dice dice = { .state = seed * 0x9e3779b97f4a7c15ull + 1 };
		struct instance in;

		dice_roll(&dice, 2);
		if (!instance_make(&in, &dice, &sizes[seed % NR(sizes)]))
			return -1;
		judge(&in, seed, "lace", &tally);
		judge(&in, seed, "symmetric", &tally);
		judge(&in, seed, schedulers[seed % NR(schedulers)], &tally);
		instance_free(&in);
	}
	tap_note("%u plans; steps: %u splits, %u full, %u sums, %u crossings, %u duals",
		 tally.plans, tally.steps[0], tally.steps[1], tally.steps[2],
		 tally.steps[3], tally.steps[4]);
	tap_note("%u changes, %u refused; %u forgeries", tally.changed,
		 tally.refused, tally.forgeries);
	tap_check(tally.plans > nr, "plans exist");
	tap_check(tally.steps[LACE_PROOF_FULL] && tally.steps[LACE_PROOF_DUAL],
		  "with proofs by circuits and by prices");
	tap_check(!tally.unproven, "every bound is proven, whole");
	tap_check(!tally.believed, "no forgery passes");
	tap_check(tally.refused > tally.changed / 2, "most changes are seen");
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t nr = COUNT, first = 1;
	unsigned int planned = 5;

	if (!instance_options(argc, argv, &nr, &first))
		return 2;
	for (unsigned int i = 0; i < NR(by_hand); i++)
		planned += by_hand[i].nr;
	tap_plan(planned);
	for (unsigned int i = 0; i < NR(by_hand); i++)
		check_table(&by_hand[i].setting, by_hand[i].table,
			    by_hand[i].nr);
	if (judge_all(first, nr))
		return 1;
	return tap_end();
}
