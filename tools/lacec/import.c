// SPDX-License-Identifier: GPL-2.0
/*
 * lacec import: schedules from the traces of other tools.
 */
#include "lacec.h"
#include "units.h"

static const struct option options[] = {
	{ "format", required_argument, NULL, 'f' },
	{ "groups", required_argument, NULL, 'g' },
	{ "ranks", required_argument, NULL, 'n' },
	{ "bytes", required_argument, NULL, 'b' },
	{ "placement", required_argument, NULL, 'p' },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int parse_option(int option, struct lace_import *spec,
			const char **output, struct lace_error *err)
{
	switch (option) {
	case 'f':
		spec->format = optarg;
		return 0;
	case 'g':
		spec->groups = optarg;
		return 0;
	case 'n':
		return parse_count(optarg, "--ranks", &spec->ranks, err);
	case 'b':
		return parse_whole(optarg, "--bytes", 1, 1ULL << 53,
				   &spec->bytes, err);
	case 'p':
		spec->placement = optarg;
		return 0;
	default:
		*output = optarg;
		return 0;
	}
}

static int run(const struct command *self, int argc, char **argv)
{
	struct lace_import spec = { 0 };
	struct lace_schedule schedule;
	const char *output = NULL;
	struct lace_error err;
	int option, ret;

	while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (option == 'h')
			return print_help(self);
		if (option == '?')
			return STATUS_BAD;
		if (parse_option(option, &spec, &output, &err))
			return fail(&err);
	}
	if (!spec.format)
		return fail_usage(self, "--format is needed");
	if (optind == argc)
		return fail_usage(self, "there is no FILE to import");
	spec.files = (const char *const *)&argv[optind];
	spec.nr_files = argc - optind;
	for (size_t i = 0; i < spec.nr_files; i++)
		if (spare(spec.files[i], self, output))
			return STATUS_BAD;
	if (spare(spec.groups, self, output))
		return STATUS_BAD;
	if (lace_import(&spec, &schedule, stderr, &err))
		return fail(&err);
	ret = write_schedule(output, &schedule, &err);
	lace_schedule_free(&schedule);
	return ret ? fail(&err) : STATUS_DONE;
}

const struct command import_command = {
	.name = "import",
	.what = "makes a schedule from traces of another tool",
	.usage = "--format FORMAT [OPTION]... FILE...\n"
		 "  --format FORMAT        chakra pytorch kineto simai aicb goal msccl matrix\n"
		 "  --groups FILE          JSON: name of a communicator -> list of ranks\n"
		 "  --ranks N              where the trace does not tell\n"
		 "  --bytes S              of the collective, where the trace does not tell\n"
		 "  --placement SPEC       nodes of the ranks (default: a node each)\n"
		 "  -o, --output SCHEDULE  file to write (default: standard output)\n"
		 "Warnings, and a summary of what was left out, go to standard error",
	.run = run,
};
