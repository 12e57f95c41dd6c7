// SPDX-License-Identifier: GPL-2.0
/*
 * lacec generate: the schedule of one training iteration of a known model.
 */
#include "lacec.h"
#include "units.h"

#include <limits.h>
#include <string.h>

static const struct option options[] = {
	{ "servers", required_argument, NULL, 'n' },
	{ "gpus", required_argument, NULL, 'g' },
	{ "pp", required_argument, NULL, 'p' },
	{ "microbatches", required_argument, NULL, 'm' },
	{ "seq", required_argument, NULL, 'l' },
	{ "grad-bytes", required_argument, NULL, 'b' },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int parse_option(int option, struct lace_generate *spec,
			const char **output, struct lace_error *err)
{
	switch (option) {
	case 'n':
		return parse_count(optarg, "--servers", &spec->servers, err);
	case 'g':
		return parse_count(optarg, "--gpus", &spec->gpus_per_server,
				   err);
	case 'p':
		return parse_count(optarg, "--pp", &spec->pp, err);
	case 'm':
		return parse_count(optarg, "--microbatches",
				   &spec->microbatches, err);
	case 'l':
		return parse_whole(optarg, "--seq", 1, 1ULL << 32, &spec->seq,
				   err);
	case 'b':
		return parse_count(optarg, "--grad-bytes", &spec->grad_bytes,
				   err);
	default:
		*output = optarg;
		return 0;
	}
}

static int help(const struct command *self)
{
	const char *model;
	unsigned int i;

	print_help(self);
	fputs("MODEL is one of:", stdout);
	for (i = 0; (model = lace_generate_model(i)); i++)
		printf(" %s", model);
	putchar('\n');
	return STATUS_DONE;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct lace_generate spec = { 0 };
	struct lace_schedule schedule;
	const char *output = NULL;
	struct lace_error err;
	int option, ret;

	while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (option == 'h')
			return help(self);
		if (option == '?')
			return STATUS_BAD;
		if (parse_option(option, &spec, &output, &err))
			return fail(&err);
	}
	if (optind != argc - 1)
		return fail_usage(self, "one MODEL is needed");
	if (!spec.servers)
		return fail_usage(self, "--servers is needed");
	spec.model = argv[optind];
	if (lace_generate(&spec, &schedule, &err))
		return fail(&err);
	ret = write_schedule(output, &schedule, &err);
	lace_schedule_free(&schedule);
	return ret ? fail(&err) : STATUS_DONE;
}

const struct command generate_command = {
	.name = "generate",
	.what = "makes the schedule of one training iteration of a model",
	.usage = "MODEL --servers N [OPTION]...\n"
		 "  --pp P                 pipeline stages (default 1), N / P replicas\n"
		 "  --gpus G               of a server, its tensor-parallel group (default 8)\n"
		 "  --microbatches M       of one iteration (default 4 P)\n"
		 "  --seq TOKENS           of a microbatch (default 8192; gpt2-small 1024)\n"
		 "  --grad-bytes B         of a gradient (default 4)\n"
		 "  -o, --output SCHEDULE  file to write (default: standard output)",
	.run = run,
};
