// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Files of traces: plain or gzip by their first bytes, whatever their name, and
 * the rank that the name tells.  zlib reads both alike; what it calls an error
 * is told apart here, because a file that ends early is the commonest of all.
 */
#include "import.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BUFFER_SIZE (128 * 1024)

struct lace_input {
	const char *path;
	gzFile file;
	uint64_t offset;
};

int lace_input_open(const char *path, struct lace_input **input,
		    struct lace_error *err)
{
	*input = calloc(1, sizeof(**input));
	if (!*input)
		return lace_import_no_memory(err);
	(*input)->path = path;
	errno = 0;
	(*input)->file = gzopen(path, "rbe");
	if (!(*input)->file) {
		int reason = errno ? errno : ENOMEM;

		free(*input);
		*input = NULL;
		return lace_import_fail(err, path, 0, "%s", strerror(reason));
	}
	gzbuffer((*input)->file, BUFFER_SIZE);
	return 0;
}

static int read_failed(struct lace_input *input, struct lace_error *err)
{
	int code, reason = errno;
	const char *text = gzerror(input->file, &code);

	if (code == Z_BUF_ERROR)
		return lace_import_fail(err, input->path, 0,
					"compressed data end early");
	if (code == Z_ERRNO)
		return lace_import_fail(err, input->path, 0, "%s",
					strerror(reason));
	if (code == Z_MEM_ERROR)
		return lace_import_no_memory(err);
	return lace_import_fail(err, input->path, 0,
				"compressed data are damaged (%s)", text);
}

/**
 * lace_input_read() - the next bytes of a file, decompressed
 * @input: the file
 * @buffer: where they go
 * @len: how many are wanted
 * @err: where and why it failed
 *
 * Return: how many were read, fewer than @len only where the file ends;
 * negative on failure.
 */
long lace_input_read(struct lace_input *input, void *buffer, size_t len,
		     struct lace_error *err)
{
	size_t done = 0;
	int code;

	while (done < len) {
		size_t want = len - done < 1 << 30 ? len - done : 1 << 30;
		int got = gzread(input->file, (char *)buffer + done, want);

		if (got < 0)
			return read_failed(input, err);
		if (!got)
			break;
		done += got;
	}
	input->offset += done;
	if (done < len) {
		gzerror(input->file, &code);
		if (code != Z_OK && code != Z_STREAM_END)
			return read_failed(input, err);
	}
	return done;
}

/* Bytes read so far, of the decompressed file. */
uint64_t lace_input_offset(const struct lace_input *input)
{
	return input->offset;
}

void lace_input_close(struct lace_input *input)
{
	if (!input)
		return;
	gzclose(input->file);
	free(input);
}

int lace_input_text(const char *path, size_t max, char **text, size_t *len,
		    struct lace_error *err)
{
	struct lace_input *input;
	size_t room = BUFFER_SIZE;
	char *data = NULL;
	long got;
	int ret;

	ret = lace_input_open(path, &input, err);
	if (ret)
		return ret;
	*len = 0;
	do {
		char *larger = realloc(data, *len + room + 1);

		if (!larger) {
			ret = lace_import_no_memory(err);
			break;
		}
		data = larger;
		got = lace_input_read(input, data + *len, room, err);
		if (got < 0) {
			ret = -1;
			break;
		}
		*len += got;
		if (*len > max) {
			ret = lace_import_fail(err, path, 0,
					       "larger than %zu bytes (decompressed)",
					       max);
			break;
		}
		if ((size_t)got < room)
			break;
		room = *len;
	} while (true);
	lace_input_close(input);
	if (ret) {
		free(data);
		return ret;
	}
	data[*len] = '\0';
	*text = data;
	return 0;
}

bool lace_scan_whole(const char *text, size_t len, uint64_t max,
		     uint64_t *value)
{
	uint64_t digit;
	size_t i;

	*value = 0;
	for (i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		digit = text[i] - '0';
		if (*value > (max - digit) / 10 || digit > max)
			return false;
		*value = 10 * *value + digit;
	}
	return len > 0;
}

/* ---- ranks ---- */

/* The number that is all of a token, or all that follows "rank" in it. */
static unsigned int token_rank(const char *token, size_t len)
{
	uint64_t value = 0;
	size_t i = 0;

	if (len > 4 && !strncasecmp(token, "rank", 4))
		i = 4;
	if (i == len)
		return LACE_NONE;
	for (; i < len; i++) {
		if (!isdigit((unsigned char)token[i]))
			return LACE_NONE;
		if (value < LACE_NONE)
			value = 10 * value + (token[i] - '0');
	}
	return value < LACE_NONE ? value : LACE_NONE - 1;
}

/**
 * lace_input_rank() - the rank that a file's name tells
 * @path: the file
 *
 * It is the last number of the name that stands alone or behind "rank",
 * between ".", "-", "_" or the ends.
 *
 * Return: the rank, LACE_NONE without one.
 */
unsigned int lace_input_rank(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *at = slash ? slash + 1 : path;
	unsigned int found = LACE_NONE;

	while (*at) {
		size_t len = strcspn(at, ".-_");
		unsigned int rank = token_rank(at, len);

		if (rank != LACE_NONE)
			found = rank;
		at += len;
		at += strspn(at, ".-_");
	}
	return found;
}

/**
 * lace_input_order() - files that are ranks 0 .. n - 1, by rank
 * @spec: the files
 * @order: filled with the index of each rank's file
 * @err: where and why it failed
 *
 * Return: 0, or negative if a rank has no file, two, or a name without one.
 */
int lace_input_order(const struct lace_import *spec, unsigned int *order,
		     struct lace_error *err)
{
	unsigned int i, rank, beyond = LACE_NONE;

	for (i = 0; i < spec->nr_files; i++)
		order[i] = LACE_NONE;
	for (i = 0; i < spec->nr_files; i++) {
		rank = lace_input_rank(spec->files[i]);
		if (rank == LACE_NONE)
			return lace_import_fail(err, spec->files[i], 0,
						"no rank in the file's name");
		if (rank >= spec->nr_files) {
			beyond = i;
			continue;
		}
		if (order[rank] != LACE_NONE)
			return lace_import_fail(err, spec->files[i], 0,
						"rank %u has another file, %s",
						rank, spec->files[order[rank]]);
		order[rank] = i;
	}
	if (beyond == LACE_NONE)
		return 0;
	for (rank = 0; order[rank] != LACE_NONE; rank++)
		;
	return lace_import_fail(err, spec->files[beyond], 0,
				"rank %u, but no file for rank %u",
				lace_input_rank(spec->files[beyond]), rank);
}
