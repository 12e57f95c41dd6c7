// SPDX-License-Identifier: GPL-2.0
/*
 * lace-replay: plays a schedule between the nodes over TCP, and says how the
 * times compare with what the plan promises.
 */
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "replay.h"
#include "runtime.h"

struct options {
	const char *cluster, *schedule, *plan, *lab, *output;
	double scale_bytes;	/* 0: as the lab's rates */
	unsigned long timeout_s, tcp_port;
	bool json, transitions;
};

/* Everything read and made, in the order in which it comes about. */
struct state {
	struct lace_cluster cluster;
	struct lace_schedule schedule;
	struct lace_plan plan;
	struct lace_demand demand;
	struct place place;
	struct lace_lab *lab;
	struct traffic traffic;
	struct prediction prediction;
	struct play_result result;
};

static const char usage[] =
"usage: lace-replay -c CLUSTER -s SCHEDULE [-l LAB [-p PLAN]] [OPTION]...\n"
"\n"
"Plays a schedule between the nodes of a lab over TCP, op by op, and checks\n"
"every byte that arrives.\n"
"\n"
"  -c, --cluster FILE      cluster\n"
"  -s, --schedule FILE     schedule\n"
"  -p, --plan FILE         plan: its segments are activated in turn, and what is\n"
"                          measured is held against what it promises\n"
"      --transitions       a transition leads from segment to segment, in which\n"
"                          all lanes are proved\n"
"  -l, --lab NAME          lab whose namespaces are the nodes; without it nodes\n"
"                          are addresses of this host\n"
"      --scale-bytes X     bytes sent for each byte of the schedule; by default as\n"
"                          the lab's rates are scaled, so that times stay\n"
"      --timeout SECONDS   how long a flow may make no progress (20)\n"
"      --tcp-port PORT     where nodes listen (7011)\n"
"  -j, --json              one JSON object in place of the tables\n"
"  -o, --output FILE       the JSON object goes there, the tables are printed too\n"
"  -h, --help\n"
"  -V, --version\n";

enum {
	OPT_SCALE_BYTES = 256,
	OPT_TIMEOUT,
	OPT_TCP_PORT,
	OPT_TRANSITIONS,
};

static const struct option long_options[] = {
	{ "cluster", required_argument, NULL, 'c' },
	{ "schedule", required_argument, NULL, 's' },
	{ "plan", required_argument, NULL, 'p' },
	{ "lab", required_argument, NULL, 'l' },
	{ "scale-bytes", required_argument, NULL, OPT_SCALE_BYTES },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "tcp-port", required_argument, NULL, OPT_TCP_PORT },
	{ "transitions", no_argument, NULL, OPT_TRANSITIONS },
	{ "json", no_argument, NULL, 'j' },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

__attribute__((noreturn, format(printf, 1, 2)))
static void usage_error(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, REPLAY_PROGRAM ": ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

static double positive(const char *name, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0)
		usage_error("--%s '%s': a number above 0 is needed", name, text);
	return value;
}

static unsigned long whole(const char *name, const char *text,
			   unsigned long min, unsigned long max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || *text == '-' || value < min || value > max)
		usage_error("--%s '%s': a whole number from %lu to %lu is needed",
			    name, text, min, max);
	return value;
}

static void parse_options(int argc, char **argv, struct options *options)
{
	int option;

	while ((option = getopt_long(argc, argv, "c:s:p:l:jo:hV", long_options,
				     NULL)) != -1)
		switch (option) {
		case 'c':
			options->cluster = optarg;
			break;
		case 's':
			options->schedule = optarg;
			break;
		case 'p':
			options->plan = optarg;
			break;
		case 'l':
			options->lab = optarg;
			break;
		case OPT_SCALE_BYTES:
			options->scale_bytes = positive("scale-bytes", optarg);
			break;
		case OPT_TIMEOUT:
			options->timeout_s = whole("timeout", optarg, 1, 86400);
			break;
		case OPT_TCP_PORT:
			options->tcp_port = whole("tcp-port", optarg, 1, 65535);
			break;
		case OPT_TRANSITIONS:
			options->transitions = true;
			break;
		case 'j':
			options->json = true;
			break;
		case 'o':
			options->output = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 'V':
			puts(REPLAY_PROGRAM " " LACE_VERSION);
			exit(0);
		default:
			exit(2);
		}
	if (optind < argc)
		usage_error("unexpected argument '%s'", argv[optind]);
	if (!options->cluster || !options->schedule)
		usage_error("--cluster and --schedule are needed");
	if (options->transitions && !options->plan)
		usage_error("--transitions needs --plan: segments are the plan's");
	if (options->plan && !options->lab)
		usage_error("--plan needs --lab: without lanes there is nothing to activate");
}

static int read_files(const struct options *options, struct state *state,
		      struct lace_error *err)
{
	if (lace_cluster_read(options->cluster, &state->cluster, err) ||
	    lace_schedule_read(options->schedule, &state->schedule, err) ||
	    lace_profile(&state->schedule, state->cluster.nr_nodes,
			 &state->demand, err))
		return -1;
	if (!options->plan)
		return 0;
	if (lace_plan_read(options->plan, &state->plan, err))
		return -1;
	return lace_plan_check(&state->cluster, &state->schedule, &state->plan,
			       err);
}

static int play_plan(const struct settings *settings, double scale_bytes,
		     bool transitions, struct state *state,
		     struct lace_error *err)
{
	struct scale scale = {
		.bytes = scale_bytes,
		.rate = state->place.rate_scale,
		.payload = state->place.payload_ratio,
	};
	struct lanes lanes = {
		.cluster = &state->cluster,
		.plan = &state->plan,
		.prediction = &state->prediction,
		.transitions = transitions,
	};
	int ret;

	if (predict(&state->cluster, &state->demand, &state->plan, &scale,
		    &state->prediction, err) ||
	    lace_lab_open(settings->place->lab, &state->lab, err))
		return -1;
	lanes.lab = state->lab;
	ret = play(settings, lanes_enter, &lanes, &state->result, err);
	lanes_leave(&lanes);
	return ret ? ret : lanes_count(&lanes, err);
}

/* The result is there to be printed when this returns 0. */
static int run(const struct options *options, struct state *state,
	       struct lace_error *err)
{
	struct settings settings = {
		.cluster = &state->cluster,
		.traffic = &state->traffic,
		.place = &state->place,
		.tcp_port = options->tcp_port,
		.timeout_s = options->timeout_s,
	};
	double scale = options->scale_bytes;

	if (read_files(options, state, err) ||
	    place_find(&state->cluster, options->lab, &state->place, err))
		return -1;
	if (!scale)
		scale = options->lab ? state->place.rate_scale : 1;
	if (traffic_make(&state->demand, options->plan ? &state->plan : NULL,
			 scale, &state->traffic, err))
		return -1;
	if (options->plan)
		return play_plan(&settings, scale, options->transitions, state,
				 err);
	return play(&settings, NULL, NULL, &state->result, err);
}

static int write_output(const char *path, const struct report *report)
{
	struct output output;
	struct lace_error err;

	if (!output_open(&output, path, &err)) {
		report_json(output.file, report);
		if (!output_close(&output, &err))
			return 0;
	}
	lace_error_print(stderr, REPLAY_PROGRAM, &err);
	return -1;
}

static int print(const struct options *options, const struct state *state)
{
	struct report report = {
		.cluster = &state->cluster,
		.traffic = &state->traffic,
		.plan = options->plan ? &state->plan : NULL,
		.prediction = options->plan ? &state->prediction : NULL,
		.result = &state->result,
	};

	if (options->json)
		report_json(stdout, &report);
	else
		report_table(stdout, &report);
	if (options->output && write_output(options->output, &report))
		return 2;
	return state->result.totals.bad || state->result.totals.extra;
}

static void free_state(struct state *state)
{
	play_result_free(&state->result);
	prediction_free(&state->prediction);
	traffic_free(&state->traffic);
	lace_lab_close(state->lab);
	place_free(&state->place);
	lace_demand_free(&state->demand);
	lace_plan_free(&state->plan);
	lace_schedule_free(&state->schedule);
	lace_cluster_free(&state->cluster);
}

int main(int argc, char **argv)
{
	struct options options = {
		.timeout_s = 20,
		.tcp_port = 7011,
	};
	struct state state = { 0 };
	struct lace_error err = { 0 };
	int status;

	parse_options(argc, argv, &options);
	if (run(&options, &state, &err)) {
		lace_error_print(stderr, REPLAY_PROGRAM, &err);
		status = lace_error_exit_status(&err);
	} else {
		status = print(&options, &state);
	}
	free_state(&state);
	return status;
}
