// SPDX-License-Identifier: GPL-2.0
/*
 * lacec check: whether a plan is sound, and its numbers right, its bound too if
 * there is a proof of it.
 */
#include "lacec.h"

#include <math.h>
#include <string.h>

static const struct option options[] = {
	{ "cluster", required_argument, NULL, 'c' },
	{ "schedule", required_argument, NULL, 's' },
	{ "certificate", required_argument, NULL, 'C' },
	{ "keep-lanes", no_argument, NULL, 'k' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void print_verified(const struct lace_plan *plan,
			   const struct lace_certificate *certificate,
			   const struct lace_verified *verified)
{
	printf("no %s takes less than %.9g s: %u proofs of %zu steps, %zu intervals of %u ops\n",
	       certificate->duplex ? "duplex plan" : "plan", plan->bound_s,
	       certificate->nr_proofs, verified->nr_steps,
	       verified->nr_intervals, certificate->nr_ops);
	printf("this plan takes %.9g s", plan->cct_s);
	if (plan->bound_s > 0)
		printf(", %.4g %% more",
		       100 * (plan->cct_s / plan->bound_s - 1));
	putchar('\n');
}

static int check_certificate(const struct input *input, const char *path,
			     const struct lace_plan *plan,
			     struct lace_error *err)
{
	struct lace_cluster charged = charged_cluster(input, plan);
	struct lace_certificate certificate;
	struct lace_verified verified;
	int ret;

	if (lace_certificate_read(path, &certificate, err))
		return -1;
	ret = lace_certificate_check(&charged, &input->schedule, plan,
				     &certificate, &verified, err);
	if (ret && err->kind == LACE_ERR_ANSWER)
		lace_error_at(err, path, 0);
	if (!ret)
		print_verified(plan, &certificate, &verified);
	lace_certificate_free(&certificate);
	return ret;
}

static bool differ(double a, double b)
{
	return !(fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)));
}

/* An ideal packet switch has a time and no circuits. */
static int check_packet(struct input *input, const struct lace_plan *plan,
			struct lace_error *err)
{
	struct lace_plan actual;
	int ret = 0;

	if (input_profile(input, err) ||
	    lace_compile(&input->cluster, &input->demand, plan->scheduler,
			 &actual, err))
		return -1;
	if (strcmp(plan->cluster_sha256, input->cluster.sha256) ||
	    strcmp(plan->schedule_sha256, input->schedule.sha256))
		ret = lace_fail(err, LACE_ERR_ANSWER,
				"the plan is of another cluster or schedule");
	else if (plan->nr_segments || plan->reconfig_s != 0 ||
		 differ(plan->transmit_s, actual.transmit_s) ||
		 differ(plan->cct_s, actual.cct_s) ||
		 differ(plan->bound_s, actual.bound_s))
		ret = lace_fail(err, LACE_ERR_ANSWER,
				"a packet switch has no segments and takes %.9g s",
				actual.cct_s);
	lace_plan_free(&actual);
	return ret;
}

static int check_plan(struct input *input, const struct lace_plan *plan,
		      bool keep_lanes, struct lace_error *err)
{
	if (keep_lanes && plan->transition != LACE_KEEP_LANES)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "transition is not \"keep-lanes\": its transitions stop all lanes");
	if (!strcmp(plan->scheduler, "packet"))
		return check_packet(input, plan, err);
	return lace_plan_check(&input->cluster, &input->schedule, plan, err);
}

static int check(struct input *input, const char *path, bool keep_lanes,
		 const char *certificate, struct lace_error *err)
{
	struct lace_plan plan = { 0 };
	int ret;

	if (input_read(input, err) || lace_plan_read(path, &plan, err))
		return -1;
	ret = check_plan(input, &plan, keep_lanes, err);
	if (ret && err->kind == LACE_ERR_ANSWER)
		lace_error_at(err, path, 0);
	else if (ret && err->kind == LACE_ERR_INPUT)
		lace_error_at(err, input->schedule_path,
			      err->line ? err->line : 1);
	if (!ret && certificate)
		ret = check_certificate(input, certificate, &plan, err);
	lace_plan_free(&plan);
	return ret;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct input input = { 0 };
	const char *certificate = NULL;
	bool keep_lanes = false;
	struct lace_error err;
	int option, ret;

	while ((option = getopt_long(argc, argv, "c:s:h", options, NULL)) !=
	       -1) {
		switch (option) {
		case 'c':
			input.cluster_path = optarg;
			break;
		case 's':
			input.schedule_path = optarg;
			break;
		case 'C':
			certificate = optarg;
			break;
		case 'k':
			keep_lanes = true;
			break;
		case 'h':
			return print_help(self);
		default:
			return STATUS_BAD;
		}
	}
	if (input_check(&input, self))
		return STATUS_BAD;
	if (optind != argc - 1)
		return fail_usage(self, "one PLAN is needed");
	ret = check(&input, argv[optind], keep_lanes, certificate, &err);
	input_free(&input);
	return ret ? fail(&err) : STATUS_DONE;
}

const struct command check_command = {
	.name = "check",
	.what = "recomputes every number of a plan from the files it was made from",
	.usage = "-c CLUSTER -s SCHEDULE [OPTION]... PLAN\n"
		 "  --certificate FILE verify this proof of the plan's bound as well\n"
		 "  --keep-lanes       require a plan whose transitions stop only what changes\n"
		 "Exit status 1, and the first thing that is wrong, if the plan is not sound",
	.run = run,
};
