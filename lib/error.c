// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Errors are values: where and why, for the caller to print or to act on.
 */
#include "lace.h"

#include <stdarg.h>
#include <string.h>

/* An error is one line, whatever a file or a name has put into it. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

/**
 * lace_fail() - record why something failed
 * @err: filled; file and line are emptied, for the caller to set if he knows
 * @kind: what sort of failure, which decides the exit status
 * @fmt: reason, as for printf(), without a full stop or newline
 *
 * Return: -1, so that a function can end with `return lace_fail(...)`.
 */
int lace_fail(struct lace_error *err, enum lace_error_kind kind,
	      const char *fmt, ...)
{
	va_list args;

	err->kind = kind;
	err->file[0] = '\0';
	err->line = 0;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	make_one_line(err->text);
	return -1;
}

/**
 * lace_no_memory() - record that memory ran out
 * @err: filled
 *
 * Return: -1.
 */
int lace_no_memory(struct lace_error *err)
{
	return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
}

/**
 * lace_error_at() - say which file, and which line of it, an error is about
 * @err: an error that lace_fail() has filled
 * @file: its name
 * @line: counted from 1, or 0 for the file as a whole
 */
void lace_error_at(struct lace_error *err, const char *file, unsigned int line)
{
	/* An empty name is one, too. */
	snprintf(err->file, sizeof(err->file), "%s", *file ? file : "\"\"");
	make_one_line(err->file);
	err->line = line;
}

/**
 * lace_error_print() - print an error as `PROGRAM: FILE:LINE: what is wrong`
 * @out: where to
 * @program: who says so
 * @err: the error
 */
void lace_error_print(FILE *out, const char *program,
		      const struct lace_error *err)
{
	fprintf(out, "%s: ", program);
	if (err->file[0] && err->line)
		fprintf(out, "%s:%u: ", err->file, err->line);
	else if (err->file[0])
		fprintf(out, "%s: ", err->file);
	fprintf(out, "%s\n", err->text);
}

/**
 * lace_error_exit_status() - the exit status that an error calls for
 * @err: the error
 *
 * Return: 1 where the answer is no, 2 for all other failures, 0 for none.
 */
int lace_error_exit_status(const struct lace_error *err)
{
	switch (err->kind) {
	case LACE_ERR_NONE:
		return 0;
	case LACE_ERR_ANSWER:
		return 1;
	default:
		return 2;
	}
}
