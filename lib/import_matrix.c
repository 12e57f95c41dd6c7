// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Matrices of bytes, as nccl-tests' alltoallv reads them: a row for each rank,
 * cell j of row i is what i sends to j; "#" begins a comment.  The whole is one
 * all_to_allv over all ranks.
 */
#include "import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANKS 16384
#define BLANKS " \t\r\v\f"

struct reader {
	const char *file;
	unsigned int line;
	size_t nr_cells, room;
	uint64_t *cells;
	unsigned int columns, rows;	/* columns: of the first row */
};

static int read_cell(struct reader *reader, const char *cell, size_t len,
		     struct lace_error *err)
{
	uint64_t value;
	int ret;

	if (!lace_scan_whole(cell, len, LACE_IMPORT_MAX_BYTES, &value))
		return lace_import_fail(err, reader->file, reader->line,
					"\"%.*s\" is not a whole number from 0 to %llu",
					len < 40 ? (int)len : 40, cell,
					LACE_IMPORT_MAX_BYTES);
	ret = lace_import_grow(&reader->cells, &reader->room,
			       reader->nr_cells + 1, sizeof(*reader->cells),
			       err);
	if (ret)
		return ret;
	reader->cells[reader->nr_cells++] = value;
	return 0;
}

static int read_row(struct reader *reader, const char *at, const char *end,
		    struct lace_error *err)
{
	unsigned int columns = 0;
	int ret;

	while (true) {
		size_t len = 0;

		while (at < end && strchr(BLANKS, *at) && *at)
			at++;
		while (at + len < end && !(strchr(BLANKS, at[len]) && at[len]))
			len++;
		if (!len)
			break;
		if (columns == MAX_RANKS)
			return lace_import_fail(err, reader->file, reader->line,
						"more than %u columns",
						MAX_RANKS);
		ret = read_cell(reader, at, len, err);
		if (ret)
			return ret;
		columns++;
		at += len;
	}
	if (!columns)
		return 0;
	if (!reader->rows)
		reader->columns = columns;
	if (columns != reader->columns)
		return lace_import_fail(err, reader->file, reader->line,
					"%u columns, where the first row has %u",
					columns, reader->columns);
	if (reader->rows++ == reader->columns)
		return lace_import_fail(err, reader->file, reader->line,
					"not square: more than %u rows of %u columns",
					reader->columns, reader->columns);
	return 0;
}

static int read_rows(struct reader *reader, const char *text, size_t len,
		     struct lace_error *err)
{
	const char *end = text + len, *next, *stop;
	int ret = 0;

	for (reader->line = 1; text < end && !ret; reader->line++) {
		next = memchr(text, '\n', end - text);
		if (!next)
			next = end;
		stop = memchr(text, '#', next - text);
		ret = read_row(reader, text, stop ? stop : next, err);
		text = next + 1;
	}
	if (!ret && !reader->rows)
		return lace_import_fail(err, reader->file, 0, "no rows");
	if (!ret && reader->rows != reader->columns)
		return lace_import_fail(err, reader->file, 0,
					"not square: %u rows, %u columns",
					reader->rows, reader->columns);
	return ret;
}

/* Cells become the matrix of the only op, unless all of them say nothing. */
static int make_op(struct reader *reader, struct lace_schedule *schedule,
		   struct lace_error *err)
{
	unsigned int n = reader->rows, i, *ranks;
	struct lace_op op;
	size_t k, room = 0;
	bool any = false;
	int ret;

	schedule->nr_ranks = n;
	for (k = 0; k < reader->nr_cells; k++)
		any |= reader->cells[k] && k / n != k % n;
	if (!any)
		return 0;
	ret = lace_ops_make(&op, LACE_ALL_TO_ALLV, 1, err);
	if (ret)
		return ret;
	op.parts->matrix[0] = reader->cells;
	reader->cells = NULL;
	ranks = malloc(n * sizeof(*ranks));
	if (!ranks) {
		lace_ops_free(&op);
		return lace_import_no_memory(err);
	}
	for (i = 0; i < n; i++)
		ranks[i] = i;
	ret = lace_ops_group(op.parts->groups, ranks, n, err);
	free(ranks);
	if (ret) {
		lace_ops_free(&op);
		return ret;
	}
	return lace_ops_append(schedule, &room, &op, err);
}

/**
 * lace_import_matrix() - a schedule from a matrix of bytes
 * @spec: one file
 * @schedule: ranks and ops are filled in
 * @report: not used
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_import_matrix(const struct lace_import *spec,
		       struct lace_schedule *schedule, FILE *report,
		       struct lace_error *err)
{
	struct reader reader = { .file = spec->files[0] };
	char *text;
	size_t len;
	int ret;

	(void)report;
	ret = lace_input_text(reader.file, LACE_IMPORT_MAX_TEXT, &text, &len,
			      err);
	if (ret)
		return ret;
	ret = read_rows(&reader, text, len, err);
	free(text);
	if (!ret)
		ret = make_op(&reader, schedule, err);
	free(reader.cells);
	return ret;
}
