// SPDX-License-Identifier: GPL-2.0
/*
 * Chakra traces of two ranks, of any bytes: the import ends, and what it fails
 * with is one line.  The first two bytes are the length of the first trace;
 * what is left is the second.
 */
#include "lace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In memory: a fuzzer that waits for a disk tries little. */
static char folder[] = "/dev/shm/lace-fuzz-XXXXXX";
static char paths[2][64];

static void clean_up(void)
{
	unlink(paths[0]);
	unlink(paths[1]);
	rmdir(folder);
}

static void write_file(const char *path, const uint8_t *data, size_t len)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, 1, len, file) != len || fclose(file))
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(folder))
		abort();
	snprintf(paths[0], sizeof(paths[0]), "%s/t.0.et", folder);
	snprintf(paths[1], sizeof(paths[1]), "%s/t.1.et", folder);
	atexit(clean_up);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *files[2] = { paths[0], paths[1] };
	const struct lace_import spec = {
		.format = "chakra",
		.nr_files = 2,
		.files = files,
	};
	struct lace_schedule schedule;
	struct lace_error err;
	size_t first;

	if (len < 2)
		return 0;
	first = data[0] | (size_t)data[1] << 8;
	data += 2;
	len -= 2;
	if (first > len)
		first = len;
	write_file(paths[0], data, first);
	write_file(paths[1], data + first, len - first);
	if (lace_import(&spec, &schedule, NULL, &err)) {
		if (!err.kind || !*err.text || strchr(err.text, '\n'))
			abort();
		return 0;
	}
	if (!schedule.nr_ops || schedule.nr_ranks != 2)
		abort();
	lace_schedule_free(&schedule);
	return 0;
}
