/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The map of lacectl: one file an object, what they share in args.c and
 * output.c, and the table of objects in main.c.
 */
#ifndef LACECTL_H
#define LACECTL_H

#include <jansson.h>

#include "lace.h"

/* Options before the object. */
struct lacectl {
	bool json;
	bool pretty;
	bool stats;
};

/* Gets the words after its own name.  Fails as liblace does: negative, *err
 * filled; LACE_ERR_INPUT for a usage error.
 */
typedef int (*command_fn)(const struct lacectl *ctl, int argc, char **argv,
			  struct lace_error *err);

struct command {
	const char *name;
	command_fn run;
};

struct object {
	const char *name;
	const char *usage;	/* lines for "lacectl OBJECT help" */
	const struct command *commands;	/* ends with a NULL name; the first is
					 * what no command means
					 */
	command_fn run;		/* in place of commands */
};

/* device.c, port.c, lane.c, node.c, segment.c, transition.c, hook.c, plan.c,
 * monitor.c
 */

extern const struct object device_object;
extern const struct object port_object;
extern const struct object lane_object;
extern const struct object node_object;
extern const struct object segment_object;
extern const struct object transition_object;
extern const struct object hook_object;
extern const struct object plan_object;
extern const struct object monitor_object;

/* lab.c, ocs.c, steer.c, calibrate.c */

extern const struct object lab_object;
extern const struct object ocs_object;
extern const struct object steer_object;
extern const struct object calibrate_object;

/* trace.c, top.c */

extern const struct object trace_object;
extern const struct object top_object;

/* args.c: words of the command line */

/* Where the parser of a command is. */
struct args {
	int argc;
	char **argv;
};

/* Next word; NULL at the end. */
const char *args_next(struct args *args);
const char *args_peek(const struct args *args);
/* Next word, which has to be there: what names it in the error. */
int args_word(struct args *args, const char *what, const char **word,
	      struct lace_error *err);
int args_number(struct args *args, const char *what, uint64_t max,
		uint64_t *number, struct lace_error *err);
int args_end(const struct args *args, struct lace_error *err);
/* Takes the next word, which abbreviates one of names (up to a NULL); *index
 * says which.  At the end of the words *index is -1.
 */
int args_keyword(struct args *args, const char *const *names, int *index,
		 struct lace_error *err);
/* The same for a word in hand. */
int args_match(const char *word, const char *const *names, int *index,
	       struct lace_error *err);

int parse_number(const char *word, const char *what, uint64_t max,
		 uint64_t *number, struct lace_error *err);

/* What a command is about: "[dev DEV] [id N]". */
struct selection {
	const char *dev;	/* NULL: not given */
	int64_t id;		/* -1: not given */
};

/* Reads all words; max is of the id, which there is none of if it is 0. */
int args_selection(struct args *args, const char *object, uint64_t max,
		   struct selection *selection, struct lace_error *err);
/* Fails if dev, or id if that is asked for, was not given. */
int args_need(const struct selection *selection, bool id,
	      struct lace_error *err);

/* output.c */

/* Prints and lets go of value: on one line, or indented with -p. */
int print_json(const struct lacectl *ctl, json_t *value, struct lace_error *err);
/* Flushes standard output, which may be a full disk. */
int print_end(struct lace_error *err);
/* Counters by name; names[i] may be NULL. */
json_t *json_stats(const char *const *names, const uint64_t *stats, int max);
void print_stats(const char *const *names, const uint64_t *stats, int max);

#endif /* LACECTL_H */
