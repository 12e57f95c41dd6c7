// SPDX-License-Identifier: GPL-2.0
/*
 * lacec compile: from a cluster and a schedule to a plan.
 */
#include "clock.h"
#include "lacec.h"
#include "json.h"
#include "units.h"

#include <string.h>
#include <sys/resource.h>

static const struct option options[] = {
	{ "cluster", required_argument, NULL, 'c' },
	{ "schedule", required_argument, NULL, 's' },
	{ "scheduler", required_argument, NULL, 'S' },
	{ "output", required_argument, NULL, 'o' },
	{ "certificate", required_argument, NULL, 'C' },
	{ "keep-lanes", no_argument, NULL, 'k' },
	{ "alternates", required_argument, NULL, 'a' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct request {
	struct input input;
	const char *scheduler, *output, *certificate;
	unsigned int alternates;
	bool keep_lanes, json;
};

static long long peak_rss_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss * 1024LL;
}

static void print_json(const struct lace_plan *plan, double compile_s)
{
	print_plan_numbers(plan);
	print_real("compile_s", compile_s);
	printf(",\n  \"peak_rss_bytes\": %lld }\n", peak_rss_bytes());
}

/* All four stages, and nothing but them, count for *compile_s. */
static int make_plan(struct request *request, struct lace_plan *plan,
		     double *compile_s, struct lace_error *err)
{
	struct input *input = &request->input;
	double start;
	int ret;

	if (input_read(input, err))
		return -1;
	start = now_s();
	ret = input_profile(input, err);
	if (!ret)
		ret = compile_plan(input, request->scheduler,
				   request->keep_lanes, plan, err);
	if (!ret && request->alternates)
		ret = lace_plan_add_alternates(&input->cluster, plan,
					       request->alternates, err);
	*compile_s = now_s() - start;
	if (ret)
		return ret;
	memcpy(plan->cluster_sha256, input->cluster.sha256,
	       sizeof(plan->cluster_sha256));
	memcpy(plan->schedule_sha256, input->schedule.sha256,
	       sizeof(plan->schedule_sha256));
	return 0;
}

/* Not part of *compile_s: the plan is there without it. */
static int certify(struct request *request, const struct lace_plan *plan,
		   struct output *output, struct lace_error *err)
{
	struct lace_cluster charged = charged_cluster(&request->input, plan);
	struct lace_certificate certificate;
	int ret;

	if (lace_certificate_make(&charged, &request->input.demand, plan,
				  &certificate, err))
		return -1;
	ret = output_open(output, request->certificate, err);
	if (!ret) {
		lace_certificate_write(output->file, &certificate);
		ret = output_settle(output, err);
	}
	lace_certificate_free(&certificate);
	return ret;
}

static int compile(struct request *request, struct lace_error *err)
{
	struct lace_plan plan = { 0 };
	struct output proof = { 0 };
	double compile_s;
	int ret;

	ret = make_plan(request, &plan, &compile_s, err);
	if (!ret && request->certificate)
		ret = certify(request, &plan, &proof, err);
	if (!ret && (request->output || !request->json))
		ret = write_plan(request->output, &plan, err);
	if (!ret && request->certificate)
		ret = output_close(&proof, err);
	output_discard(&proof);
	if (!ret && request->json)
		print_json(&plan, compile_s);
	lace_plan_free(&plan);
	return ret;
}

static int help(const struct command *self)
{
	const struct lace_scheduler *scheduler;

	print_help(self);
	puts("NAME is one of:");
	for (scheduler = lace_schedulers; scheduler->name; scheduler++)
		printf("  %-20s%s\n", scheduler->name, scheduler->what);
	return STATUS_DONE;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct request request = { .scheduler = lace_schedulers[0].name };
	struct lace_error err;
	int option, ret;

	while ((option = getopt_long(argc, argv, "c:s:o:h", options, NULL)) !=
	       -1) {
		switch (option) {
		case 'c':
			request.input.cluster_path = optarg;
			break;
		case 's':
			request.input.schedule_path = optarg;
			break;
		case 'S':
			request.scheduler = optarg;
			break;
		case 'o':
			request.output = optarg;
			break;
		case 'C':
			request.certificate = optarg;
			break;
		case 'k':
			request.keep_lanes = true;
			break;
		case 'a':
			if (parse_count(optarg, "--alternates",
					&request.alternates, &err))
				return fail(&err);
			break;
		case 'j':
			request.json = true;
			break;
		case 'h':
			return help(self);
		default:
			return STATUS_BAD;
		}
	}
	if (optind < argc)
		return fail_usage(self, "what is \"%s\"?", argv[optind]);
	if (input_check(&request.input, self))
		return STATUS_BAD;
	if (input_spare(&request.input, self, request.output) ||
	    input_spare(&request.input, self, request.certificate))
		return STATUS_BAD;
	if (output_same(request.output, request.certificate))
		return fail_usage(self, "-o and --certificate are one file");
	if (!lace_scheduler_find(request.scheduler))
		return fail_usage(self, "there is no scheduler \"%s\"",
				  request.scheduler);
	ret = compile(&request, &err);
	input_free(&request.input);
	return ret ? fail(&err) : STATUS_DONE;
}

const struct command compile_command = {
	.name = "compile",
	.what = "makes a plan",
	.usage = "-c CLUSTER -s SCHEDULE [OPTION]...\n"
		 "  --scheduler NAME   how (default lace)\n"
		 "  -o, --output PLAN  file to write (default: standard output)\n"
		 "  --keep-lanes       only lanes that change stop during a transition\n"
		 "  --alternates N     up to N further ways for each pair of nodes, for\n"
		 "                     when its circuits or its route fail\n"
		 "  --certificate FILE write a proof of the plan's bound as well\n"
		 "  --json             print a summary as JSON instead of the plan",
	.run = run,
};
