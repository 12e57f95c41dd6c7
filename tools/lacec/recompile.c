// SPDX-License-Identifier: GPL-2.0
/*
 * lacec recompile: a plan for what is left after lanes or an OCS have failed,
 * from the plan there was.
 */
#include "clock.h"
#include "lacec.h"
#include "file.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { FAILED = 1000, FAILED_OCS, CLUSTER_OUT, JSON };

static const struct option options[] = {
	{ "cluster", required_argument, NULL, 'c' },
	{ "schedule", required_argument, NULL, 's' },
	{ "failed", required_argument, NULL, FAILED },
	{ "failed-ocs", required_argument, NULL, FAILED_OCS },
	{ "cluster-out", required_argument, NULL, CLUSTER_OUT },
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, JSON },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct request {
	struct input input;
	const char *plan, *output, *cluster_out;
	bool json;
	unsigned int nr_lanes, nr_ocs;
	const char **lanes, **ocs;
	bool listing;		/* the last option was --failed */
	const char *last;	/* word after --failed LANE: a lane, or the plan */
};

struct result {
	struct lace_plan old, plan;
	struct lace_recompiled report;
	char *text;		/* of the cluster that is left */
	size_t len;
	double compile_s;
};

/* ---- what is left ---- */

static int take_out(const struct request *request, struct lace_cluster *left,
		    struct lace_error *err)
{
	struct lace_lane lane;

	for (unsigned int i = 0; i < request->nr_lanes; i++) {
		/* Looked up in the whole cluster: a lane may be named twice. */
		if (lace_lane_find(&request->input.cluster, request->lanes[i],
				   &lane, err)) {
			lace_error_at(err, request->input.cluster_path, 0);
			return -1;
		}
		lace_cluster_fail_lane(left, &lane);
	}
	for (unsigned int i = 0; i < request->nr_ocs; i++) {
		if (lace_cluster_fail_ocs(left, request->ocs[i], err)) {
			lace_error_at(err, request->input.cluster_path, 0);
			return -1;
		}
	}
	return 0;
}

/* The plan has the hash of the bytes that are written. */
static int print_cluster(const struct lace_cluster *left, struct result *result,
			 struct lace_error *err)
{
	FILE *out = open_memstream(&result->text, &result->len);
	int ret;

	if (!out)
		return lace_no_memory(err);
	ret = lace_cluster_write(out, left);
	ret |= fclose(out);
	if (ret)
		return lace_no_memory(err);
	lace_file_hash(result->text, result->len, result->plan.cluster_sha256);
	return 0;
}

static int write_text(const char *path, const struct result *result,
		      struct output *output, struct lace_error *err)
{
	if (output_open(output, path, err))
		return -1;
	fwrite(result->text, 1, result->len, output->file);
	return output_settle(output, err);
}

/* ---- the plan ---- */

static int check_hash(const char *what, const char *path, const char *stated,
		      const char *actual, struct lace_error *err)
{
	if (!strcmp(stated, actual))
		return 0;
	lace_fail(err, LACE_ERR_ANSWER,
		  "is of another %s: its hash is %.12s..., that of the file %.12s...",
		  what, stated, actual);
	lace_error_at(err, path, 0);
	return -1;
}

/* As for compile, the files do not count for compile_s. */
static int make_plan(struct request *request, const struct lace_cluster *left,
		     struct result *result, struct lace_error *err)
{
	struct input *input = &request->input;
	double start = now_s();
	int ret = input_profile(input, err);

	if (ret)
		return ret;
	ret = lace_recompile(&input->cluster, left, &input->demand,
			     &result->old, &result->plan, &result->report, err);
	result->compile_s = now_s() - start;
	if (ret && err->kind == LACE_ERR_ANSWER)
		lace_error_at(err, request->plan, 0);
	if (ret)
		return ret;
	memcpy(result->plan.schedule_sha256, input->schedule.sha256,
	       sizeof(result->plan.schedule_sha256));
	return print_cluster(left, result, err);
}

static int read_all(struct request *request, struct result *result,
		    struct lace_error *err)
{
	struct input *input = &request->input;

	if (input_read(input, err) ||
	    lace_plan_read(request->plan, &result->old, err) ||
	    check_hash("cluster", request->plan, result->old.cluster_sha256,
		       input->cluster.sha256, err))
		return -1;
	if (check_hash("schedule", request->plan, result->old.schedule_sha256,
		       input->schedule.sha256, err))
		return -1;
	if (strcmp(result->old.scheduler, "packet"))
		return 0;
	lace_fail(err, LACE_ERR_ANSWER,
		  "is of the packet scheduler, and has no circuits to keep");
	lace_error_at(err, request->plan, 0);
	return -1;
}

/* ---- what has changed ---- */

static struct lace_recompiled_segment sum_of(const struct result *result)
{
	struct lace_recompiled_segment sum = { 0 };

	for (unsigned int i = 0; i < result->report.nr_segments; i++) {
		const struct lace_recompiled_segment *s =
			&result->report.segments[i];

		sum.kept += s->kept;
		sum.moved += s->moved;
		sum.lost += s->lost;
		sum.added += s->added;
	}
	return sum;
}

static void print_row(const char *name, const struct lace_recompiled_segment *s,
		      double before, double after)
{
	printf("%-8s %8u %8u %8u %8u %12.6f %12.6f %8.4f\n", name, s->kept,
	       s->moved, s->lost, s->added, before, after,
	       before > 0 ? after / before : 1.0);
}

static void print_changes(const struct result *result)
{
	struct lace_recompiled_segment sum = sum_of(result);
	char name[16];

	printf("%-8s %8s %8s %8s %8s %12s %12s %8s\n", "segment", "kept",
	       "moved", "lost", "new", "before_s", "after_s", "ratio");
	for (unsigned int i = 0; i < result->report.nr_segments; i++) {
		const struct lace_recompiled_segment *s =
			&result->report.segments[i];

		snprintf(name, sizeof(name), "%u", i);
		print_row(name, s, result->report.old_transmit_s[s->old],
			  result->plan.segments[i].transmit_s);
	}
	print_row("cct", &sum, result->report.old_cct_s, result->plan.cct_s);
	printf("at least %.6f s; %u segments planned anew; made in %.3f ms\n",
	       result->plan.bound_s, result->report.nr_replanned,
	       1e3 * result->compile_s);
}

static void print_counts(const struct lace_recompiled_segment *s)
{
	printf("\"kept\": %u, \"moved\": %u, \"lost\": %u, \"new\": %u",
	       s->kept, s->moved, s->lost, s->added);
}

static void print_json(const struct result *result)
{
	const struct lace_recompiled *report = &result->report;
	const struct lace_plan *plan = &result->plan;
	struct lace_recompiled_segment sum = sum_of(result);

	print_plan_numbers(plan);
	print_real("old_cct_s", report->old_cct_s);
	printf(",\n  \"replanned\": %u, ", report->nr_replanned);
	print_counts(&sum);
	print_real("compile_s", result->compile_s);
	fputs(",\n  \"changes\": [", stdout);
	for (unsigned int i = 0; i < report->nr_segments; i++) {
		const struct lace_recompiled_segment *s = &report->segments[i];

		printf("%s\n    { \"old_segment\": %u, ", i ? "," : "", s->old);
		print_counts(s);
		fputs(", \"old_transmit_s\": ", stdout);
		lace_json_write_real(stdout, report->old_transmit_s[s->old]);
		fputs(", \"transmit_s\": ", stdout);
		lace_json_write_real(stdout, plan->segments[i].transmit_s);
		fputs(" }", stdout);
	}
	fputs(" ] }\n", stdout);
}

static int recompile(struct request *request, struct result *result,
		     struct lace_error *err)
{
	struct lace_cluster left = { 0 };
	struct output cluster = { 0 };
	int ret;

	if (read_all(request, result, err) ||
	    lace_cluster_copy(&request->input.cluster, &left, err))
		return -1;
	ret = take_out(request, &left, err);
	if (!ret)
		ret = make_plan(request, &left, result, err);
	lace_cluster_free(&left);
	if (!ret && request->cluster_out)
		ret = write_text(request->cluster_out, result, &cluster, err);
	if (!ret && (request->output || !request->json))
		ret = write_plan(request->output, &result->plan, err);
	if (!ret && request->cluster_out)
		ret = output_close(&cluster, err);
	output_discard(&cluster);
	if (ret)
		return ret;
	if (request->json)
		print_json(result);
	else if (request->output)
		print_changes(result);
	return 0;
}

/* ---- words ---- */

/*
 * --failed takes all lanes that follow, and one word without an option is the
 * plan.  Where every such word comes after lanes, the last one is.
 */
static int take_word(struct request *request, const char *word,
		     const struct command *self)
{
	if (request->listing) {
		if (request->last)
			request->lanes[request->nr_lanes++] = request->last;
		request->last = word;
		return STATUS_DONE;
	}
	if (request->plan)
		return fail_usage(self, "what is \"%s\"?", word);
	request->plan = word;
	return STATUS_DONE;
}

static int settle_words(struct request *request, const struct command *self)
{
	if (request->last && request->plan)
		request->lanes[request->nr_lanes++] = request->last;
	else if (request->last)
		request->plan = request->last;
	if (!request->plan)
		return fail_usage(self, "one PLAN is needed");
	if (!request->nr_lanes && !request->nr_ocs)
		return fail_usage(self, "--failed or --failed-ocs is missing");
	if (output_same(request->output, request->cluster_out))
		return fail_usage(self, "-o and --cluster-out are one file");
	if (input_check(&request->input, self) ||
	    input_spare(&request->input, self, request->output))
		return STATUS_BAD;
	return input_spare(&request->input, self, request->cluster_out);
}

static int take_option(int option, struct request *request,
		       const struct command *self)
{
	if (option == 1)
		return take_word(request, optarg, self);
	request->listing = option == FAILED;
	switch (option) {
	case 'c':
		request->input.cluster_path = optarg;
		return STATUS_DONE;
	case 's':
		request->input.schedule_path = optarg;
		return STATUS_DONE;
	case FAILED:
		request->lanes[request->nr_lanes++] = optarg;
		return STATUS_DONE;
	case FAILED_OCS:
		request->ocs[request->nr_ocs++] = optarg;
		return STATUS_DONE;
	case CLUSTER_OUT:
		request->cluster_out = optarg;
		return STATUS_DONE;
	case 'o':
		request->output = optarg;
		return STATUS_DONE;
	case JSON:
		request->json = true;
		return STATUS_DONE;
	default:
		return STATUS_BAD;
	}
}

static int parse(struct request *request, int argc, char **argv,
		 const struct command *self)
{
	int option, status;

	/* "-": words in the order in which they stand. */
	while ((option = getopt_long(argc, argv, "-c:s:o:h", options, NULL)) !=
	       -1) {
		status = take_option(option, request, self);
		if (status)
			return status;
	}
	for (; optind < argc; optind++) {
		status = take_word(request, argv[optind], self);
		if (status)
			return status;
	}
	return settle_words(request, self);
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	return false;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct request request = { 0 };
	struct result result = { 0 };
	struct lace_error err;
	int status;

	if (wants_help(argc, argv))
		return print_help(self);
	request.lanes = calloc((size_t)argc + 1, sizeof(*request.lanes));
	request.ocs = calloc((size_t)argc + 1, sizeof(*request.ocs));
	if (!request.lanes || !request.ocs) {
		lace_no_memory(&err);
		status = fail(&err);
	} else {
		status = parse(&request, argc, argv, self);
		if (!status && recompile(&request, &result, &err))
			status = fail(&err);
	}
	lace_plan_free(&result.old);
	lace_plan_free(&result.plan);
	lace_recompiled_free(&result.report);
	free(result.text);
	input_free(&request.input);
	free(request.lanes);
	free(request.ocs);
	return status;
}

const struct command recompile_command = {
	.name = "recompile",
	.what = "makes a plan for what is left after a failure, from the old plan",
	.usage = "-c CLUSTER -s SCHEDULE --failed LANE... [OPTION]... PLAN\n"
		 "  --failed LANE...    NODE/PORT, NODE/PORT:tx or NODE/PORT:rx, by name or number\n"
		 "  --failed-ocs NAME   all lanes that end at it\n"
		 "  --cluster-out FILE  where to write the cluster that is left, which the new plan is of\n"
		 "  -o, --output NEW    file to write, and print what has changed (default: standard output)\n"
		 "  --json              print what has changed as JSON instead of the plan\n"
		 "CLUSTER is the one that PLAN was made for. Exit status 1 if there is no plan any more",
	.run = run,
};
