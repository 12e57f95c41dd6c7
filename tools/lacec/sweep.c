// SPDX-License-Identifier: GPL-2.0
/*
 * lacec sweep: what if a change of configuration took longer, servers had more
 * lanes, there were more of them: a table of every combination, and a plot.
 */
#include "sweep.h"
#include "json.h"
#include "sweep_plot.h"
#include "units.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RECONFIG = 1000, LANES, SERVERS, CONTROL, SCHEDULER, CSV, PLOT, X, Y,
       RATE, WIRING, RELAY, PP, GPUS, MICROBATCHES, SEQ, GRAD_BYTES };

static const struct option options[] = {
	{ "cluster", required_argument, NULL, 'c' },
	{ "schedule", required_argument, NULL, 's' },
	{ "reconfig", required_argument, NULL, RECONFIG },
	{ "lanes", required_argument, NULL, LANES },
	{ "servers", required_argument, NULL, SERVERS },
	{ "control", required_argument, NULL, CONTROL },
	{ "scheduler", required_argument, NULL, SCHEDULER },
	{ "csv", required_argument, NULL, CSV },
	{ "plot", required_argument, NULL, PLOT },
	{ "x", required_argument, NULL, X },
	{ "y", required_argument, NULL, Y },
	{ "rate", required_argument, NULL, RATE },
	{ "wiring", required_argument, NULL, WIRING },
	{ "relay", required_argument, NULL, RELAY },
	{ "pp", required_argument, NULL, PP },
	{ "gpus", required_argument, NULL, GPUS },
	{ "microbatches", required_argument, NULL, MICROBATCHES },
	{ "seq", required_argument, NULL, SEQ },
	{ "grad-bytes", required_argument, NULL, GRAD_BYTES },
	{ "jobs", required_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct request {
	struct sweep sweep;
	const char *csv, *plot;
	struct sweep_plot_axes plot_axes;
	const char *model_only;		/* options given that go with a MODEL */
};

/* ---- lists ---- */

typedef int parse_fn(const char *word, const char *what, double *value,
		     struct lace_error *err);

static int parse_as_count(const char *word, const char *what, double *value,
			  struct lace_error *err)
{
	unsigned int count;
	int ret = parse_count(word, what, &count, err);

	*value = count;
	return ret;
}

/* Words with commas between them; one_word() may not keep the word. */
static int for_words(const char *list, int (*one_word)(void *arg, const char *word,
						       struct lace_error *err),
		     void *arg, struct lace_error *err)
{
	char *copy = strdup(list), *rest = copy, *word;
	int ret = copy ? 0 : lace_no_memory(err);

	while (!ret && (word = strsep(&rest, ",")))
		ret = one_word(arg, word, err);
	free(copy);
	return ret;
}

struct value_list {
	struct sweep_values *values;
	const char *what;
	parse_fn *parse;
	double most;
};

static int add_value(void *arg, const char *word, struct lace_error *err)
{
	const struct value_list *list = arg;
	double value;

	if (list->parse(word, list->what, &value, err))
		return -1;
	if (value > list->most)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s \"%.64s\": at most %g", list->what, word,
				 list->most);
	for (unsigned int i = 0; i < list->values->nr; i++)
		if (list->values->at[i] == value)
			return lace_fail(err, LACE_ERR_INPUT,
					 "%s has %s twice", list->what, word);
	if (list->values->nr == SWEEP_MAX_VALUES)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s takes at most %d values", list->what,
				 SWEEP_MAX_VALUES);
	list->values->at[list->values->nr++] = value;
	return 0;
}

static int parse_values(const char *words, const char *what, parse_fn *parse,
			double most, struct sweep_values *values,
			struct lace_error *err)
{
	struct value_list list = { values, what, parse, most };

	values->nr = 0;
	return for_words(words, add_value, &list, err);
}

static int add_scheduler(void *arg, const char *word, struct lace_error *err)
{
	struct sweep *sweep = arg;
	const struct lace_scheduler *scheduler = lace_scheduler_find(word);

	if (!scheduler)
		return lace_fail(err, LACE_ERR_INPUT,
				 "there is no scheduler \"%.64s\"", word);
	for (unsigned int i = 0; i < sweep->nr_schedulers; i++)
		if (sweep->schedulers[i] == scheduler)
			return lace_fail(err, LACE_ERR_INPUT,
					 "--scheduler has %s twice", word);
	if (sweep->nr_schedulers == SWEEP_MAX_SCHEDULERS)
		return lace_fail(err, LACE_ERR_INPUT,
				 "--scheduler takes at most %d names",
				 SWEEP_MAX_SCHEDULERS);
	sweep->schedulers[sweep->nr_schedulers++] = scheduler;
	return 0;
}

/* ---- options ---- */

static int parse_axis(int option, struct sweep *sweep, struct lace_error *err)
{
	switch (option) {
	case RECONFIG:
		return parse_values(optarg, "--reconfig", parse_seconds,
				    SWEEP_MAX_RECONFIG_S,
				    &sweep->axes[SWEEP_RECONFIG], err);
	case LANES:
		return parse_values(optarg, "--lanes", parse_as_count, INT_MAX,
				    &sweep->axes[SWEEP_LANES], err);
	case SERVERS:
		return parse_values(optarg, "--servers", parse_as_count, INT_MAX,
				    &sweep->axes[SWEEP_SERVERS], err);
	default:
		return parse_values(optarg, "--control", parse_ratio,
				    SWEEP_MAX_CONTROL_RATIO,
				    &sweep->axes[SWEEP_CONTROL], err);
	}
}

static int parse_model(int option, struct sweep *sweep, struct lace_error *err)
{
	struct lace_generate *model = &sweep->model;

	switch (option) {
	case RATE:
		return parse_rate(optarg, &sweep->rate_bps, err);
	case WIRING:
		return parse_wiring(optarg, &sweep->wiring, err);
	case RELAY:
		return parse_relay(optarg, &sweep->relay, err);
	case PP:
		return parse_count(optarg, "--pp", &model->pp, err);
	case GPUS:
		return parse_count(optarg, "--gpus", &model->gpus_per_server,
				   err);
	case MICROBATCHES:
		return parse_count(optarg, "--microbatches",
				   &model->microbatches, err);
	case SEQ:
		return parse_whole(optarg, "--seq", 1, 1ULL << 32, &model->seq,
				   err);
	default:
		return parse_count(optarg, "--grad-bytes", &model->grad_bytes,
				   err);
	}
}

static int parse_option(int option, struct request *request,
			struct lace_error *err)
{
	struct sweep *sweep = &request->sweep;

	if (option == SERVERS || option >= RATE)
		request->model_only = option == SERVERS ? "--servers" :
				      "--rate, --wiring, --relay and the options of generate";
	switch (option) {
	case 'c':
		sweep->input.cluster_path = optarg;
		return 0;
	case 's':
		sweep->input.schedule_path = optarg;
		return 0;
	case RECONFIG:
	case LANES:
	case SERVERS:
	case CONTROL:
		return parse_axis(option, sweep, err);
	case SCHEDULER:
		sweep->nr_schedulers = 0;
		return for_words(optarg, add_scheduler, sweep, err);
	case CSV:
		request->csv = optarg;
		return 0;
	case PLOT:
		request->plot = optarg;
		return 0;
	case X:
		return sweep_plot_find_x(optarg, &request->plot_axes, err);
	case Y:
		return sweep_plot_find_y(optarg, &request->plot_axes, err);
	case 'j':
		return parse_count(optarg, "--jobs", &sweep->jobs, err);
	default:
		return parse_model(option, sweep, err);
	}
}

static void set_default(struct sweep_values *values, double value)
{
	if (values->nr)
		return;
	values->nr = 1;
	values->at[0] = value;
}

/* 0 if nodes differ. */
static unsigned int ports_of(const struct lace_cluster *cluster)
{
	unsigned int nr = cluster->nr_nodes ? cluster->nodes[0].nr_ports : 0;

	for (unsigned int i = 0; i < cluster->nr_nodes; i++)
		if (cluster->nodes[i].nr_ports != nr)
			return 0;
	return nr;
}

/* Of the files where there are files; 0 lanes are all of them. */
static void set_defaults(struct sweep *sweep)
{
	const struct lace_cluster *cluster = &sweep->input.cluster;
	bool files = sweep->input.cluster_path;

	set_default(&sweep->axes[SWEEP_SERVERS],
		    files ? cluster->nr_nodes : 32);
	set_default(&sweep->axes[SWEEP_LANES], files ? ports_of(cluster) : 16);
	set_default(&sweep->axes[SWEEP_CONTROL],
		    files ? cluster->control_ratio : 0.01);
	set_default(&sweep->axes[SWEEP_RECONFIG],
		    files ? cluster->reconfig_s : 0.020);
	if (sweep->nr_schedulers)
		return;
	sweep->schedulers[0] = lace_scheduler_find("lace");
	sweep->schedulers[1] = lace_scheduler_find("symmetric");
	sweep->nr_schedulers = 2;
}

/* ---- the table ---- */

/* In quotes if need be, on one line. */
static void write_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
	}
	fputc('"', out);
}

static void write_real(FILE *out, double value)
{
	fputc(',', out);
	if (!isnan(value))
		lace_json_write_real(out, value);
}

static void write_row(FILE *out, const struct sweep *sweep, const char *name,
		      unsigned int point, const struct lace_scheduler *scheduler,
		      const struct sweep_row *row)
{
	double lanes;

	write_field(out, name);
	write_real(out, sweep_value(sweep, point, SWEEP_SERVERS));
	lanes = sweep_value(sweep, point, SWEEP_LANES);
	write_real(out, lanes > 0 ? lanes : NAN);
	write_real(out, sweep_value(sweep, point, SWEEP_CONTROL));
	write_real(out, sweep_value(sweep, point, SWEEP_RECONFIG));
	fprintf(out, ",%s", scheduler->name);
	if (row->found) {
		write_real(out, row->cct_s);
		write_real(out, row->transmit_s);
		write_real(out, row->reconfig_s);
		fprintf(out, ",%u", row->segments);
		write_real(out, row->bound_s);
		write_real(out, sweep_gap(row));
		write_real(out, row->ratio);
	} else {
		fputs(",,,,,,,", out);
	}
	fprintf(out, ",%.6f,", row->compile_s);
	write_field(out, row->why);
	fputc('\n', out);
}

static const char *name_of(const struct sweep *sweep)
{
	return sweep->model.model ? sweep->model.model :
				    sweep->input.schedule.name;
}

static int write_csv(const struct request *request,
		     const struct sweep_row *rows, struct output *output,
		     struct lace_error *err)
{
	const struct sweep *sweep = &request->sweep;
	unsigned int nr = sweep_nr_points(sweep);

	if (output_open(output, request->csv, err))
		return -1;
	fputs("schedule,servers,lanes,control_ratio,reconfig_s,scheduler,cct_s,transmit_s,"
	      "reconfig_total_s,segments,bound_s,gap,ratio,compile_s,why\n",
	      output->file);
	for (unsigned int i = 0; i < nr; i++)
		for (unsigned int k = 0; k < sweep->nr_schedulers; k++)
			write_row(output->file, sweep, name_of(sweep), i,
				  sweep->schedulers[k], rows++);
	return output_settle(output, err);
}

static int write_plot(const struct request *request,
		      const struct sweep_row *rows, struct lace_error *err)
{
	struct output output;

	if (output_open(&output, request->plot, err))
		return -1;
	if (!sweep_plot_write(output.file, &request->sweep,
			      &request->plot_axes, name_of(&request->sweep),
			      rows, err))
		return output_close(&output, err);
	output_discard(&output);
	return -1;
}

static int write_all(const struct request *request,
		     const struct sweep_row *rows, struct lace_error *err)
{
	bool table = request->csv || !request->plot;
	struct output csv = { 0 };
	int ret = table ? write_csv(request, rows, &csv, err) : 0;

	if (!ret && request->plot)
		ret = write_plot(request, rows, err);
	if (!ret && table)
		ret = output_close(&csv, err);
	output_discard(&csv);
	return ret;
}

/* ---- all of it ---- */

static bool any_found(const struct sweep_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (rows[i].found)
			return true;
	return false;
}

static int sweep_all(struct request *request, struct lace_error *err)
{
	struct sweep *sweep = &request->sweep;
	struct sweep_row *rows;
	size_t nr;
	int ret;

	if (!sweep->model.model && input_read(&sweep->input, err))
		return -1;
	set_defaults(sweep);
	nr = 1;
	for (unsigned int a = 0; a < SWEEP_NR_AXES; a++)
		nr *= sweep->axes[a].nr;
	if (nr > SWEEP_MAX_POINTS)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%zu points are more than %d", nr,
				 SWEEP_MAX_POINTS);
	if (request->plot && sweep_plot_check(sweep, &request->plot_axes, err))
		return -1;
	/* More would have nothing to do, and no files left. */
	if (sweep->jobs > nr)
		sweep->jobs = nr;
	if (sweep->jobs > SWEEP_MAX_JOBS)
		sweep->jobs = SWEEP_MAX_JOBS;
	nr *= sweep->nr_schedulers;
	rows = calloc(nr, sizeof(*rows));
	if (!rows)
		return lace_no_memory(err);
	ret = sweep_run(sweep, rows, err);
	if (!ret)
		ret = write_all(request, rows, err);
	if (!ret && !any_found(rows, nr))
		ret = lace_fail(err, LACE_ERR_ANSWER,
				"no point has a plan, the first because: %s",
				rows[0].why);
	free(rows);
	return ret;
}

static int help(const struct command *self)
{
	const char *model;

	print_help(self);
	fputs("MODEL is one of:", stdout);
	for (unsigned int i = 0; (model = lace_generate_model(i)); i++)
		printf(" %s", model);
	fputs("\nNAME is one of:", stdout);
	for (unsigned int i = 0; lace_schedulers[i].name; i++)
		printf(" %s", lace_schedulers[i].name);
	putchar('\n');
	return STATUS_DONE;
}

static int settle(struct request *request, int argc, char **argv,
		  const struct command *self)
{
	struct sweep *sweep = &request->sweep;

	if (output_same(request->csv, request->plot))
		return fail_usage(self, "--csv and --plot are one file");
	if (argc - optind > 1)
		return fail_usage(self, "what is \"%s\"?", argv[optind + 1]);
	if (argc > optind) {
		if (sweep->input.cluster_path || sweep->input.schedule_path)
			return fail_usage(self,
					  "a MODEL or two files, not both");
		sweep->model.model = argv[optind];
		return STATUS_DONE;
	}
	if (!sweep->input.cluster_path && !sweep->input.schedule_path)
		return fail_usage(self, "a MODEL or -c and -s are needed");
	if (request->model_only)
		return fail_usage(self, "%s need a MODEL", request->model_only);
	if (input_check(&sweep->input, self) ||
	    input_spare(&sweep->input, self, request->csv))
		return STATUS_BAD;
	return input_spare(&sweep->input, self, request->plot);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct request request = {
		.sweep = { .rate_bps = 400000000000, .jobs = 1,
			   .relay = LACE_RELAY_CONTROL },
		.plot_axes = { .x = SWEEP_NR_AXES },
	};
	struct lace_error err;
	int option, ret;

	while ((option = getopt_long(argc, argv, "c:s:j:h", options, NULL)) !=
	       -1) {
		if (option == 'h')
			return help(self);
		if (option == '?')
			return STATUS_BAD;
		if (parse_option(option, &request, &err))
			return fail(&err);
	}
	ret = settle(&request, argc, argv, self);
	if (ret)
		return ret;
	ret = sweep_all(&request, &err);
	input_free(&request.sweep.input);
	return ret ? fail(&err) : STATUS_DONE;
}

const struct command sweep_command = {
	.name = "sweep",
	.what = "compiles every combination of some values: a table and a plot",
	.usage = "MODEL [OPTION]...\n"
		 "       lacec sweep -c CLUSTER -s SCHEDULE [OPTION]...\n"
		 "  --reconfig TIME,...       charged for a change of configuration (20ms)\n"
		 "  --lanes N,...             of a server (16); with -c, the first N ports of each node\n"
		 "  --servers N,...           (32); not with -c\n"
		 "  --control RATIO,...       control bytes for each data byte (0.01)\n"
		 "  --scheduler NAME,...      (lace,symmetric)\n"
		 "  --csv FILE                where to write the table (standard output, without --plot)\n"
		 "  --plot FILE.svg           where to draw it\n"
		 "  --x reconfig|lanes|servers|control  of the plot (what has most values)\n"
		 "  --y cct|ratio|gap|segments          of the plot (cct)\n"
		 "  --rate R, --wiring single|planes, --relay none|control|data  of the cluster\n"
		 "  --pp P, --gpus G, --microbatches M, --seq T, --grad-bytes B  as for generate\n"
		 "  -j, --jobs N              processes at work (1)\n"
		 "In parentheses: if not given; with -c and -s what the files say. Exit status 1 if no\n"
		 "point has a plan",
	.run = run,
};
