// SPDX-License-Identifier: GPL-2.0
/* See instance.h: dice, what they make, and the verdict on plans of it. */
#include "instance.h"
#include "text.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- chance ---- */

unsigned int dice_roll(struct dice *dice, unsigned int below)
{
	unsigned int value = 0;

	if (!dice->bytes) {
		dice->state = dice->state * 6364136223846793005ull +
			      1442695040888963407ull;
		return (dice->state >> 33) % below;
	}
	if (dice->len) {
		value = *dice->data++;
		dice->len--;
	}
	return value % below;
}

/* Mostly of one size, now and then anything that a file may say. */
static uint64_t roll_bytes(struct dice *dice)
{
	if (dice_roll(dice, 64) == 63)
		return 1ull << dice_roll(dice, 50);
	return 1000000 * (1 + (uint64_t)dice_roll(dice, 50));
}

/* ---- clusters ---- */

/* Uneven attachment: lanes missing, slower, or on an OCS of their own. */
static void disturb(struct lace_cluster *cluster, struct dice *dice)
{
	unsigned int way = dice_roll(dice, 8);

	for (unsigned int i = 0; i < cluster->nr_nodes; i++) {
		for (unsigned int p = 0; p < cluster->nodes[i].nr_ports; p++) {
			struct lace_port *port = &cluster->nodes[i].ports[p];

			if (way & 1 && !dice_roll(dice, 8))
				*(dice_roll(dice, 2) ? &port->tx.ocs :
						       &port->rx.ocs) = -1;
			if (way & 2 && !dice_roll(dice, 4))
				port->rate_bps /= 2;
			if (way & 4 && port->tx.ocs > 0)
				port->tx.ocs %= 2;
			if (way & 4 && port->rx.ocs > 0 && dice_roll(dice, 4))
				port->rx.ocs %= 2;
		}
	}
}

/* No two lanes on one port of an OCS. */
static void number_ports(struct lace_cluster *cluster)
{
	for (unsigned int k = 0; k < cluster->nr_ocs; k++) {
		struct lace_ocs *ocs = &cluster->ocs[k];

		ocs->inputs = ocs->outputs = 0;
		for (unsigned int i = 0; i < cluster->nr_nodes; i++) {
			struct lace_node *node = &cluster->nodes[i];

			for (unsigned int p = 0; p < node->nr_ports; p++) {
				struct lace_port *port = &node->ports[p];

				if (port->tx.ocs == (int)k)
					port->tx.port = ++ocs->inputs;
				if (port->rx.ocs == (int)k)
					port->rx.port = ++ocs->outputs;
			}
		}
	}
}

static bool make_cluster(struct lace_cluster *cluster, struct dice *dice,
			 const struct instance_size *size)
{
	static const double ratios[] = { 0, 0.002, 0.01, 0.05, 1 };
	static const double delays[] = { 0, 0.002, 0.02, 0.5 };
	struct lace_error err;
	unsigned int n = 2 + dice_roll(dice, size->nodes - 1);
	unsigned int lanes = 1 + dice_roll(dice, size->lanes);

	if (lace_cluster_make(n, lanes, 1000000000, dice_roll(dice, 2) ?
			      LACE_WIRING_PLANES : LACE_WIRING_SINGLE,
			      delays[dice_roll(dice, 4)], cluster, &err))
		return false;
	cluster->control_ratio = ratios[dice_roll(dice, 17) ?
					dice_roll(dice, 4) : 4];
	cluster->relay = dice_roll(dice, 3);
	disturb(cluster, dice);
	number_ports(cluster);
	return true;
}

/* ---- schedules ---- */

/* Chains, rings, a few peers each: what training sends, and worse. */
static bool add_transfers(struct lace_part *part, unsigned int n,
			  struct dice *dice)
{
	unsigned int shape = dice_roll(dice, 4);
	unsigned int offset = 1 + dice_roll(dice, n - 1);
	uint64_t bytes = roll_bytes(dice);

	part->transfers = calloc(2 * (size_t)n, sizeof(*part->transfers));
	if (!part->transfers)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		unsigned int j = shape == 3 ? dice_roll(dice, n) :
					      (i + offset) % n;

		if (shape == 1 && i + offset >= n)
			continue;
		if (shape >= 2)
			bytes = roll_bytes(dice);
		part->transfers[part->nr_transfers++] =
			(struct lace_transfer){ i, j, bytes };
		if (shape == 0 && !dice_roll(dice, 3))
			part->transfers[part->nr_transfers++] =
				(struct lace_transfer){ j, i, bytes };
	}
	return true;
}

/* Every stride-th node in one group: a ring, or all of it with all in steps. */
static bool add_collective(struct lace_part *part, unsigned int n,
			   struct dice *dice)
{
	unsigned int stride = 1 + dice_roll(dice, n < 3 ? 1 : n / 2);

	part->groups = calloc(1, sizeof(*part->groups));
	if (!part->groups)
		return false;
	part->nr_groups = 1;
	part->groups[0] = (struct lace_group){
		.first = 0, .stride = stride, .count = (n - 1) / stride + 1 };
	part->bytes = roll_bytes(dice);
	part->collective = LACE_ALL_REDUCE;
	if (part->groups[0].count <= 5 && dice_roll(dice, 2)) {
		part->collective = LACE_ALL_TO_ALL;
		part->algorithm = LACE_DIRECT;
		part->steps = dice_roll(dice, 2);
	}
	return true;
}

static bool add_op(struct lace_schedule *schedule, struct dice *dice)
{
	struct lace_op *op = &schedule->ops[schedule->nr_ops];
	unsigned int n = schedule->nr_ranks;

	op->repeat = 1 + dice_roll(dice, 4);
	op->parts = calloc(1, sizeof(*op->parts));
	schedule->nr_ops++;
	if (asprintf(&op->name, "op%u", schedule->nr_ops) < 0)
		op->name = NULL;
	if (!op->parts || !op->name)
		return false;
	op->nr_parts = 1;
	if (dice_roll(dice, 4))
		return add_transfers(op->parts, n, dice);
	return add_collective(op->parts, n, dice);
}

/* A training step goes round: what follows is what came before, now and then. */
static bool repeat_op(struct lace_schedule *schedule, unsigned int which)
{
	struct lace_op *op = &schedule->ops[schedule->nr_ops];
	const struct lace_op *old = &schedule->ops[which];
	const struct lace_part *from = old->parts;

	op->repeat = old->repeat;
	op->name = strdup(old->name);
	op->parts = calloc(1, sizeof(*op->parts));
	schedule->nr_ops++;
	if (!op->parts || !op->name)
		return false;
	op->nr_parts = 1;
	op->parts[0] = *from;
	op->parts[0].transfers = calloc(from->nr_transfers + 1,
					sizeof(*from->transfers));
	op->parts[0].groups = calloc(from->nr_groups + 1,
				     sizeof(*from->groups));
	if (!op->parts[0].transfers || !op->parts[0].groups)
		return false;
	if (from->nr_transfers)
		memcpy(op->parts[0].transfers, from->transfers,
		       from->nr_transfers * sizeof(*from->transfers));
	if (from->nr_groups)
		memcpy(op->parts[0].groups, from->groups,
		       from->nr_groups * sizeof(*from->groups));
	return true;
}

static bool make_schedule(struct lace_schedule *schedule, unsigned int n,
			  unsigned int max_ops, struct dice *dice)
{
	unsigned int nr_ops = 1 + dice_roll(dice, max_ops);

	*schedule = (struct lace_schedule){ .name = strdup("random"),
		.nr_ranks = n, .placement = calloc(n, sizeof(unsigned int)),
		.ops = calloc(nr_ops, sizeof(*schedule->ops)) };
	if (!schedule->name || !schedule->placement || !schedule->ops)
		return false;
	for (unsigned int i = 0; i < n; i++)
		schedule->placement[i] = i;
	while (schedule->nr_ops < nr_ops) {
		bool fresh = !schedule->nr_ops || dice_roll(dice, 3);

		if (!(fresh ? add_op(schedule, dice) :
			      repeat_op(schedule,
					dice_roll(dice, schedule->nr_ops))))
			return false;
	}
	return true;
}

bool instance_make(struct instance *in, struct dice *dice,
		   const struct instance_size *size)
{
	static const char hash[] =
		"00000000000000000000000000000000"
		"00000000000000000000000000000000";
	struct lace_error err;

	memset(in, 0, sizeof(*in));
	if (!make_cluster(&in->cluster, dice, size) ||
	    !make_schedule(&in->schedule, in->cluster.nr_nodes, size->ops,
			   dice) ||
	    lace_profile(&in->schedule, in->cluster.nr_nodes, &in->demand,
			 &err)) {
		instance_free(in);
		return false;
	}
	strcpy(in->cluster.sha256, hash);
	strcpy(in->schedule.sha256, hash);
	return true;
}

void instance_free(struct instance *in)
{
	lace_demand_free(&in->demand);
	lace_schedule_free(&in->schedule);
	lace_cluster_free(&in->cluster);
}

bool instance_options(int argc, char **argv, uint64_t *nr, uint64_t *first)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'c' },
		{ "seed", required_argument, NULL, 's' },
		{ 0 },
	};
	const char *asked = getenv("LACE_RANDOM_COUNT");
	int option;

	if (asked)
		*nr = strtoull(asked, NULL, 0);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'c')
			*nr = strtoull(optarg, NULL, 0);
		else if (option == 's')
			*first = strtoull(optarg, NULL, 0);
		else
			return false;
	}
	return true;
}

/* ---- verdicts ---- */

static char *write_plan(const struct instance *in, struct lace_plan *plan,
			size_t *len)
{
	strcpy(plan->cluster_sha256, in->cluster.sha256);
	strcpy(plan->schedule_sha256, in->schedule.sha256);
	return plan_text(plan, len);
}

static void judge_again(const struct instance *in, const char *scheduler,
			const char *text, size_t len, char wrong[INSTANCE_WRONG])
{
	struct lace_error err;
	struct lace_plan again;
	size_t again_len = 0;
	char *again_text;

	if (lace_compile(&in->cluster, &in->demand, scheduler, &again, &err)) {
		snprintf(wrong, INSTANCE_WRONG, "fails when run again: %s", err.text);
		return;
	}
	again_text = write_plan(in, &again, &again_len);
	if (!again_text || again_len != len || memcmp(again_text, text, len))
		snprintf(wrong, INSTANCE_WRONG, "is not the same bytes when run again");
	free(again_text);
	lace_plan_free(&again);
}

static void judge_text(const struct instance *in, const char *text, size_t len,
		       char wrong[INSTANCE_WRONG])
{
	struct lace_error err;
	struct lace_plan read;

	if (lace_plan_parse(text, len, "plan", &read, &err)) {
		snprintf(wrong, INSTANCE_WRONG, "cannot be read: %s", err.text);
		return;
	}
	if (lace_plan_check(&in->cluster, &in->schedule, &read, &err))
		snprintf(wrong, INSTANCE_WRONG, "does not pass its check: %s", err.text);
	lace_plan_free(&read);
}

static struct instance_times judge(const struct instance *in,
				   const char *scheduler, bool twice,
				   char wrong[INSTANCE_WRONG])
{
	struct instance_times times = { INFINITY, INFINITY };
	struct lace_error err;
	struct lace_plan plan;
	size_t len = 0;
	char *text;

	*wrong = '\0';
	if (lace_compile(&in->cluster, &in->demand, scheduler, &plan, &err)) {
		if (err.kind != LACE_ERR_ANSWER || !*err.text)
			snprintf(wrong, INSTANCE_WRONG, "fails: %s", err.text);
		return times;
	}
	times = (struct instance_times){ plan.cct_s, plan.bound_s };
	if (!(times.bound <= times.cct * (1 + 1e-9)))
		snprintf(wrong, INSTANCE_WRONG,
			 "has its bound %.9g above its time %.9g", times.bound,
			 times.cct);
	text = write_plan(in, &plan, &len);
	if (!text)
		snprintf(wrong, INSTANCE_WRONG, "cannot be written");
	/* An ideal packet switch has a time and no circuits. */
	if (text && !*wrong && strcmp(scheduler, "packet"))
		judge_text(in, text, len, wrong);
	if (text && !*wrong && twice)
		judge_again(in, scheduler, text, len, wrong);
	free(text);
	lace_plan_free(&plan);
	return times;
}

struct instance_times instance_judge(const struct instance *in,
				     const char *scheduler,
				     char wrong[INSTANCE_WRONG])
{
	return judge(in, scheduler, false, wrong);
}

struct instance_times instance_judge_twice(const struct instance *in,
					   const char *scheduler,
					   char wrong[INSTANCE_WRONG])
{
	return judge(in, scheduler, true, wrong);
}
