// SPDX-License-Identifier: GPL-2.0
/*
 * lacectl: control of lace devices.  Reads the options, finds the object and
 * the command, and turns what they return into an exit status.
 */
#include "lacectl.h"
#include "netns.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct object *const objects[] = {
	&device_object,
	&port_object,
	&lane_object,
	&node_object,
	&segment_object,
	&transition_object,
	&hook_object,
	&plan_object,
	&monitor_object,
	&lab_object,
	&ocs_object,
	&steer_object,
	&calibrate_object,
	&trace_object,
	&top_object,
};

#define NR_OBJECTS (sizeof(objects) / sizeof(objects[0]))

static void print_usage(FILE *out)
{
	size_t i;

	fputs("usage: lacectl [-j] [-p] [-s] [-n NETNS] [-V] OBJECT COMMAND\n"
	      "  -j  print JSON\n"
	      "  -p  print JSON indented\n"
	      "  -s  print counters\n"
	      "  -n  act in this network namespace\n"
	      "  -V  print the version\n"
	      "OBJECT is one of:", out);
	for (i = 0; i < NR_OBJECTS; i++)
		fprintf(out, " %s", objects[i]->name);
	fputs("\n\"lacectl OBJECT help\" lists its commands.\n", out);
}

static int run_command(const struct lacectl *ctl, const struct object *object,
		       int argc, char **argv, struct lace_error *err)
{
	const char *names[16] = { NULL };
	int i;

	if (argc && !strcmp(argv[0], "help")) {
		fputs(object->usage, stdout);
		return print_end(err);
	}
	if (object->run)
		return object->run(ctl, argc, argv, err);
	if (!argc)
		return object->commands[0].run(ctl, 0, argv, err);
	for (i = 0; object->commands[i].name; i++)
		names[i] = object->commands[i].name;
	if (args_match(argv[0], names, &i, err))
		return -1;
	return object->commands[i].run(ctl, argc - 1, argv + 1, err);
}

static int run_object(const struct lacectl *ctl, int argc, char **argv,
		      struct lace_error *err)
{
	const char *names[NR_OBJECTS + 1] = { NULL };
	size_t i;
	int found;

	for (i = 0; i < NR_OBJECTS; i++)
		names[i] = objects[i]->name;
	if (args_match(argv[0], names, &found, err))
		return -1;
	return run_command(ctl, objects[found], argc - 1, argv + 1, err);
}

/* Index of the first word that is no option; 0 if all is said and done. */
static int read_options(int argc, char **argv, struct lacectl *ctl,
			const char **netns)
{
	int c;

	while ((c = getopt(argc, argv, "+jpsn:Vh")) >= 0) {
		switch (c) {
		case 'j':
			ctl->json = true;
			break;
		case 'p':
			ctl->json = true;
			ctl->pretty = true;
			break;
		case 's':
			ctl->stats = true;
			break;
		case 'n':
			*netns = optarg;
			break;
		case 'V':
			puts("lacectl " LACE_VERSION);
			return 0;
		case 'h':
			print_usage(stdout);
			return 0;
		default:
			print_usage(stderr);
			exit(2);
		}
	}
	return optind;
}

int main(int argc, char **argv)
{
	struct lace_error err = { 0 };
	struct lacectl ctl = { 0 };
	const char *netns = NULL;
	int first, ret = 0;

	first = read_options(argc, argv, &ctl, &netns);
	if (!first)
		return 0;
	if (first == argc) {
		print_usage(stderr);
		return 2;
	}
	if (!strcmp(argv[first], "help")) {
		print_usage(stdout);
		return 0;
	}
	if (netns)
		ret = lace_netns_enter(netns, NULL, &err);
	if (!ret)
		ret = run_object(&ctl, argc - first, argv + first, &err);
	if (!ret)
		return 0;
	lace_error_print(stderr, "lacectl", &err);
	return lace_error_exit_status(&err);
}
