// SPDX-License-Identifier: GPL-2.0
/*
 * lacec check: whether a plan is sound, and its numbers right.
 */
#include "lacec.h"

static const struct option options[] = {
	{ "cluster", required_argument, NULL, 'c' },
	{ "schedule", required_argument, NULL, 's' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int check(struct input *input, const char *path, struct lace_error *err)
{
	struct lace_plan plan = { 0 };
	int ret;

	if (input_read(input, err) || lace_plan_read(path, &plan, err))
		return -1;
	ret = lace_plan_check(&input->cluster, &input->schedule, &plan, err);
	if (ret && err->kind == LACE_ERR_ANSWER)
		lace_error_at(err, path, 0);
	else if (ret && err->kind == LACE_ERR_INPUT)
		lace_error_at(err, input->schedule_path,
			      err->line ? err->line : 1);
	lace_plan_free(&plan);
	return ret;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct input input = { 0 };
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
	ret = check(&input, argv[optind], &err);
	input_free(&input);
	return ret ? fail(&err) : STATUS_DONE;
}

const struct command check_command = {
	.name = "check",
	.what = "recomputes every number of a plan from the files it was made from",
	.usage = "-c CLUSTER -s SCHEDULE PLAN\n"
		 "Exit status 1, and the first thing that is wrong, if the plan is not sound",
	.run = run,
};
