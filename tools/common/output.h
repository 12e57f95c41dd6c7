/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A result that is there whole or not at all.
 */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stdio.h>

#include "lace.h"

struct output {
	const char *path;	/* NULL: standard output */
	FILE *file;
	char *target;		/* path, links followed */
	char *temporary;	/* NULL: written in place */
};

int output_open(struct output *output, const char *path,
		struct lace_error *err);
/* Makes the file appear, unless something went wrong on the way. */
int output_close(struct output *output, struct lace_error *err);
/* Writes all there is, but the file does not appear before output_close(): for a
 * command with two results, of which there shall be both or none.
 */
int output_settle(struct output *output, struct lace_error *err);
/* Instead of output_close(): leaves no temporary file behind.  Once is enough. */
void output_discard(struct output *output);
int output_flush_stdout(struct lace_error *err);
/* Whether one result would take the place of the other; not so for devices. */
bool output_same(const char *a, const char *b);

#endif /* TOOLS_OUTPUT_H */
