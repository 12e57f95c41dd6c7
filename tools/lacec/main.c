// SPDX-License-Identifier: GPL-2.0
/*
 * lacec: the compiler as a program.  Finds the command, and says what is wrong.
 */
#include "lacec.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct command *const commands[] = {
	&generate_command,
	&cluster_command,
	&import_command,
	&matrix_command,
	&compile_command,
	&recompile_command,
	&check_command,
	&compare_command,
	&show_command,
	&sweep_command,
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *out)
{
	size_t i;

	fputs("usage: " PROGRAM " COMMAND ...\n\n", out);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-10s%s\n", commands[i]->name,
			commands[i]->what);
	fputs("\n`" PROGRAM " COMMAND --help' tells what a command takes.\n"
	      "Exit status: 0 done; 1 the input is sound and the answer is no;\n"
	      "2 a usage error or a file that cannot be read.\n", out);
}

int print_help(const struct command *command)
{
	printf("usage: " PROGRAM " %s %s\n%s.\n", command->name,
	       command->usage, command->what);
	return STATUS_DONE;
}

int fail(const struct lace_error *err)
{
	lace_error_print(stderr, PROGRAM, err);
	return lace_error_exit_status(err);
}

int fail_usage(const struct command *command, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, PROGRAM ": %s: ", command->name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, " (" PROGRAM " %s --help)\n", command->name);
	return STATUS_BAD;
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct lace_error err;
	char title[64];
	int status;

	snprintf(title, sizeof(title), PROGRAM ": %s", command->name);
	argv[0] = title;
	status = command->run(command, argc, argv);
	/* A full disk or a closed pipe is not success. */
	if (output_flush_stdout(&err) && status == STATUS_DONE)
		return fail(&err);
	return status;
}

int main(int argc, char **argv)
{
	const struct command *command;

	/* Writing to a closed pipe is an error like any other. */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		print_usage(stderr);
		return STATUS_BAD;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return STATUS_DONE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts(PROGRAM " " LACE_VERSION);
		return STATUS_DONE;
	}
	command = find_command(argv[1]);
	if (!command) {
		fprintf(stderr,
			PROGRAM ": there is no command \"%s\" (" PROGRAM
				" --help)\n", argv[1]);
		return STATUS_BAD;
	}
	return run_command(command, argc - 1, argv + 1);
}
