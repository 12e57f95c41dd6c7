// SPDX-License-Identifier: GPL-2.0
/*
 * Files of the formats that are text, of any bytes: the import ends, and what
 * it fails with is one line.  The first byte chooses the format.
 */
#include "lace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	uint64_t bytes;
	unsigned int ranks;
} formats[] = {
	{ "pytorch", 0, 0 }, { "kineto", 0, 0 }, { "simai", 0, 8 },
	{ "aicb", 0, 0 }, { "goal", 0, 0 }, { "msccl", 1 << 20, 0 },
	{ "matrix", 0, 0 },
};

/* In memory: a fuzzer that waits for a disk tries little. */
static char folder[] = "/dev/shm/lace-fuzz-XXXXXX";
static char path[64];

static void clean_up(void)
{
	unlink(path);
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/t.0.json", folder);
	atexit(clean_up);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *file = path;
	struct lace_import spec = { .nr_files = 1, .files = &file };
	struct lace_schedule schedule;
	struct lace_error err;
	FILE *out;
	size_t i;

	if (!len)
		return 0;
	i = data[0] % (sizeof(formats) / sizeof(formats[0]));
	spec.format = formats[i].name;
	spec.bytes = formats[i].bytes;
	spec.ranks = formats[i].ranks;
	out = fopen(path, "wb");
	if (!out || fwrite(data + 1, 1, len - 1, out) != len - 1 || fclose(out))
		abort();
	if (lace_import(&spec, &schedule, NULL, &err)) {
		if (!err.kind || !*err.text || strchr(err.text, '\n'))
			abort();
		return 0;
	}
	if (!schedule.nr_ops)
		abort();
	lace_schedule_free(&schedule);
	return 0;
}
