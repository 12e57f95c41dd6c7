// SPDX-License-Identifier: GPL-2.0
/*
 * lacec compare: the same cluster and schedule under every scheduler.
 */
#include "lacec.h"

static const struct option options[] = {
	{ "cluster", required_argument, NULL, 'c' },
	{ "schedule", required_argument, NULL, 's' },
	{ "keep-lanes", no_argument, NULL, 'k' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void print_head(void)
{
	printf("%-20s %12s %12s %12s %9s %9s\n", "scheduler", "cct_s",
	       "transmit_s", "reconfig_s", "segments", "ratio");
}

/* lace_s: what the first scheduler takes, NULL if it has no plan. */
static void print_row(const struct lace_scheduler *scheduler,
		      const struct lace_plan *plan, const double *lace_s)
{
	printf("%-20s %12.6f %12.6f %12.6f %9u ", scheduler->name, plan->cct_s,
	       plan->transmit_s, plan->reconfig_s, plan->nr_segments);
	if (!lace_s || (!*lace_s && plan->cct_s))
		printf("%9s\n", "-");
	else
		printf("%9.4f\n", *lace_s ? plan->cct_s / *lace_s : 1.0);
}

/* That a scheduler has no plan is a row like the others; *found says so. */
static int compare_one(const struct input *input,
		       const struct lace_scheduler *scheduler, bool keep_lanes,
		       double *lace_s, bool *found, struct lace_error *err)
{
	bool first = scheduler == lace_schedulers;
	struct lace_plan plan = { 0 };
	int ret;

	ret = compile_plan(input, scheduler->name, keep_lanes, &plan, err);
	if (ret && err->kind != LACE_ERR_ANSWER)
		return ret;
	if (first) {
		*found = !ret;
		*lace_s = plan.cct_s;
	}
	if (ret)
		printf("%-20s no plan: %s\n", scheduler->name, err->text);
	else
		print_row(scheduler, &plan, *found ? lace_s : NULL);
	lace_plan_free(&plan);
	return 0;
}

static int compare(struct input *input, bool keep_lanes, bool *found,
		   struct lace_error *err)
{
	const struct lace_scheduler *scheduler;
	double lace_s = 0;
	int ret;

	if (input_read(input, err) || input_profile(input, err))
		return -1;
	print_head();
	for (scheduler = lace_schedulers; scheduler->name; scheduler++) {
		ret = compare_one(input, scheduler, keep_lanes, &lace_s, found,
				  err);
		if (ret)
			return ret;
	}
	return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct input input = { 0 };
	struct lace_error err;
	bool found = false, keep_lanes = false;
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
		case 'k':
			keep_lanes = true;
			break;
		case 'h':
			return print_help(self);
		default:
			return STATUS_BAD;
		}
	}
	if (optind < argc)
		return fail_usage(self, "what is \"%s\"?", argv[optind]);
	if (input_check(&input, self))
		return STATUS_BAD;
	ret = compare(&input, keep_lanes, &found, &err);
	input_free(&input);
	if (ret)
		return fail(&err);
	return found ? STATUS_DONE : STATUS_NO;
}

const struct command compare_command = {
	.name = "compare",
	.what = "prints one row for each scheduler",
	.usage = "-c CLUSTER -s SCHEDULE [--keep-lanes]\n"
		 "  --keep-lanes       only lanes that change stop during a transition\n"
		 "cct_s = transmit_s + reconfig_s; ratio is that of cct_s to lace's; a scheduler\n"
		 "that finds no plan says why. Exit status 1 if lace itself finds none",
	.run = run,
};
