// SPDX-License-Identifier: GPL-2.0
/*
 * Results of more than one command: files of the formats, and the fields of a
 * plan for --json.
 */
#include "lacec.h"
#include "json.h"

int write_cluster(const char *path, const struct lace_cluster *cluster,
		  struct lace_error *err)
{
	struct output output;

	if (output_open(&output, path, err))
		return -1;
	lace_cluster_write(output.file, cluster);
	return output_close(&output, err);
}

int write_schedule(const char *path, const struct lace_schedule *schedule,
		   struct lace_error *err)
{
	struct output output;

	if (output_open(&output, path, err))
		return -1;
	lace_schedule_write(output.file, schedule);
	return output_close(&output, err);
}

int write_plan(const char *path, const struct lace_plan *plan,
	       struct lace_error *err)
{
	struct output output;

	if (output_open(&output, path, err))
		return -1;
	lace_plan_write(output.file, plan);
	return output_close(&output, err);
}

void print_real(const char *key, double value)
{
	printf(",\n  \"%s\": ", key);
	lace_json_write_real(stdout, value);
}

void print_plan_numbers(const struct lace_plan *plan)
{
	fputs("{ \"format\": \"lace-plan/1\",\n  \"scheduler\": ", stdout);
	lace_json_write_string(stdout, plan->scheduler);
	if (plan->transition == LACE_KEEP_LANES)
		fputs(",\n  \"transition\": \"keep-lanes\"", stdout);
	printf(",\n  \"cluster_sha256\": \"%s\",\n  \"schedule_sha256\": \"%s\"",
	       plan->cluster_sha256, plan->schedule_sha256);
	print_real("cct_s", plan->cct_s);
	print_real("transmit_s", plan->transmit_s);
	print_real("reconfig_s", plan->reconfig_s);
	print_real("bound_s", plan->bound_s);
	printf(",\n  \"segment_count\": %u", plan->nr_segments);
}
