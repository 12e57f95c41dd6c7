// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the cluster and the schedule that a command works on, and sees to it
 * that an error found in either is told with the file's name.
 */
#include "lacec.h"

int input_check(const struct input *input, const struct command *command)
{
	if (!input->cluster_path)
		return fail_usage(command, "-c CLUSTER is missing");
	if (!input->schedule_path)
		return fail_usage(command, "-s SCHEDULE is missing");
	return STATUS_DONE;
}

int spare(const char *input, const struct command *command, const char *result)
{
	if (!output_same(input, result))
		return STATUS_DONE;
	return fail_usage(command, "\"%s\" would be written over", input);
}

int input_spare(const struct input *input, const struct command *command,
		const char *result)
{
	if (spare(input->cluster_path, command, result))
		return STATUS_BAD;
	return spare(input->schedule_path, command, result);
}

int input_read(struct input *input, struct lace_error *err)
{
	int ret;

	ret = lace_cluster_read(input->cluster_path, &input->cluster, err);
	if (ret)
		return ret;
	return lace_schedule_read(input->schedule_path, &input->schedule, err);
}

int input_profile(struct input *input, struct lace_error *err)
{
	int ret = lace_profile(&input->schedule, input->cluster.nr_nodes,
			       &input->demand, err);

	if (ret && err->kind == LACE_ERR_INPUT)
		lace_error_at(err, input->schedule_path,
			      err->line ? err->line : 1);
	return ret;
}

int compile_plan(const struct input *input, const char *scheduler,
		 bool keep_lanes, struct lace_plan *plan,
		 struct lace_error *err)
{
	if (keep_lanes)
		return lace_compile_keep(&input->cluster, &input->demand,
					 scheduler, plan, err);
	return lace_compile(&input->cluster, &input->demand, scheduler, plan,
			    err);
}

struct lace_cluster charged_cluster(const struct input *input,
				    const struct lace_plan *plan)
{
	struct lace_cluster cluster = input->cluster;

	if (plan->transition == LACE_KEEP_LANES)
		cluster.reconfig_s = 0;
	return cluster;
}

void input_free(struct input *input)
{
	lace_demand_free(&input->demand);
	lace_schedule_free(&input->schedule);
	lace_cluster_free(&input->cluster);
}
