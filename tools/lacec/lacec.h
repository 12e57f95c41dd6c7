/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lacec, inside: one file a command, and what commands have in common.
 *
 * A command gets its words, argv[0] being how errors begin, and returns the exit
 * status.  It writes its result only when it has all of it.
 */
#ifndef LACEC_H
#define LACEC_H

#include "lace.h"
#include "output.h"

#include <getopt.h>	/* says itself what is wrong with an option */

#define PROGRAM "lacec"

enum status {
	STATUS_DONE = 0,
	STATUS_NO = 1,		/* sound input, the answer is no */
	STATUS_BAD = 2,		/* usage, unreadable file */
};

struct command {
	const char *name;
	const char *what;	/* one line */
	const char *usage;	/* the lines of --help after the first */
	int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command generate_command, cluster_command, import_command,
	matrix_command, compile_command, check_command, compare_command,
	show_command, recompile_command, sweep_command;

/* ---- main.c ---- */

int print_help(const struct command *command);
/* Prints the error; returns the exit status. */
int fail(const struct lace_error *err);
/* A usage error, which points to --help. */
int fail_usage(const struct command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- input.c: the two files most commands start from ---- */

struct input {
	const char *cluster_path, *schedule_path;
	struct lace_cluster cluster;
	struct lace_schedule schedule;
	struct lace_demand demand;
};

/* -c and -s have to be given. */
int input_check(const struct input *input, const struct command *command);
/* An input may not be where a result goes; a result that is NULL goes nowhere. */
int spare(const char *input, const struct command *command, const char *result);
int input_spare(const struct input *input, const struct command *command,
		const char *result);
/* Without the demand; input_profile() adds it. */
int input_read(struct input *input, struct lace_error *err);
int input_profile(struct input *input, struct lace_error *err);
int compile_plan(const struct input *input, const char *scheduler,
		 bool keep_lanes, struct lace_plan *plan,
		 struct lace_error *err);
/* The cluster with the charge for a transition that the plan's bound has: none
 * where lanes are kept.  Shares everything with the input.
 */
struct lace_cluster charged_cluster(const struct input *input,
				    const struct lace_plan *plan);
void input_free(struct input *input);

/* ---- words.c ---- */

int parse_wiring(const char *word, enum lace_wiring *wiring,
		 struct lace_error *err);
int parse_relay(const char *word, enum lace_relay *relay,
		struct lace_error *err);

/* ---- print.c ---- */

int write_cluster(const char *path, const struct lace_cluster *cluster,
		  struct lace_error *err);
int write_schedule(const char *path, const struct lace_schedule *schedule,
		   struct lace_error *err);
int write_plan(const char *path, const struct lace_plan *plan,
	       struct lace_error *err);

/* For --json: one more field of an object that has some. */
void print_real(const char *key, double value);
/* Begins an object with the fields of a plan, less segments. */
void print_plan_numbers(const struct lace_plan *plan);

#endif /* LACEC_H */
