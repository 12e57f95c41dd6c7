// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Schedules from traces of other tools: which format there is, and what is
 * common to all of them.
 */
#include "import.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct format {
	const char *name;
	int (*import)(const struct lace_import *spec,
		      struct lace_schedule *schedule, FILE *report,
		      struct lace_error *err);
	bool groups, ranks, bytes;	/* options that mean something */
	bool one_file;
};

static const struct format formats[] = {
	{ .name = "chakra", .import = lace_import_chakra, .groups = true },
	{ .name = "pytorch", .import = lace_import_pytorch },
	{ .name = "kineto", .import = lace_import_kineto },
	{ .name = "simai", .import = lace_import_simai, .one_file = true,
	  .ranks = true },
	{ .name = "aicb", .import = lace_import_aicb, .one_file = true },
	{ .name = "goal", .import = lace_import_goal, .one_file = true },
	{ .name = "msccl", .import = lace_import_msccl, .one_file = true,
	  .bytes = true },
	{ .name = "matrix", .import = lace_import_matrix, .one_file = true },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

/* ---- what all parts of the importer use ---- */

void lace_import_error(struct lace_error *err, const char *file,
		       unsigned int line, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	lace_fail(err, LACE_ERR_INPUT, "%s", text);
	if (file)
		lace_error_at(err, file, line);
}

int lace_import_grow(void *array, size_t *room, size_t need, size_t size,
		     struct lace_error *err)
{
	size_t larger = *room ? *room : 16;
	void *old, *new;

	if (need <= *room)
		return 0;
	while (larger < need)
		larger *= 2;
	memcpy(&old, array, sizeof(old));
	new = larger > SIZE_MAX / size ? NULL : realloc(old, larger * size);
	if (!new)
		return lace_import_no_memory(err);
	memcpy(array, &new, sizeof(new));
	*room = larger;
	return 0;
}

/* ---- from a trace to a schedule ---- */

void lace_import_report_skipped(size_t zero_bytes, size_t barrier,
				size_t single_rank, size_t self, FILE *report)
{
	const struct {
		const char *reason;
		size_t count;
	} skipped[] = {
		{ "zero_bytes", zero_bytes },
		{ "barrier", barrier },
		{ "single_rank", single_rank },
		{ "self", self },
	};
	const char *separator = "skipped, no traffic: ";
	size_t i;

	for (i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++) {
		if (!skipped[i].count)
			continue;
		fprintf(report, "%s%s %zu", separator, skipped[i].reason,
			skipped[i].count);
		separator = ", ";
	}
	if (*separator == ',')
		fputc('\n', report);
}

static void report_skipped(const struct lace_match *match, FILE *report)
{
	size_t count[LACE_NR_SKIP] = { 0 };
	size_t i;

	for (i = 0; i < match->nr_instances; i++)
		count[match->instances[i].skip]++;
	for (i = 0; i < match->nr_transfers; i++)
		count[match->transfers[i].skip]++;
	lace_import_report_skipped(count[LACE_SKIP_ZERO_BYTES],
				   count[LACE_SKIP_BARRIER],
				   count[LACE_SKIP_SINGLE_RANK],
				   count[LACE_SKIP_SELF], report);
}

int lace_trace_schedule(struct lace_trace *trace,
			struct lace_schedule *schedule, FILE *report,
			struct lace_error *err)
{
	struct lace_match match;
	int ret;

	schedule->nr_ranks = trace->nr_ranks;
	ret = lace_match(trace, &match, err);
	if (!ret)
		ret = lace_match_depth(trace, &match, err);
	if (!ret)
		ret = lace_trace_number_lists(trace, err);
	if (!ret)
		ret = lace_match_ops(trace, &match, schedule, err);
	if (!ret && trace->nr_dangling)
		fprintf(report,
			"warning: %llu dependencies on %ss that are not in the file were dropped\n",
			(unsigned long long)trace->nr_dangling, trace->noun);
	if (!ret)
		report_skipped(&match, report);
	lace_match_free(&match);
	return ret;
}

/* ---- the way in ---- */

static const struct format *find_format(const char *name)
{
	size_t i;

	for (i = 0; i < NR_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static int unknown_format(const char *name, struct lace_error *err)
{
	char known[128] = "";
	size_t i, len = 0;

	for (i = 0; i < NR_FORMATS; i++)
		len += snprintf(known + len, sizeof(known) - len, " %s",
				formats[i].name);
	return lace_import_fail(err, NULL, 0,
				"unknown format \"%.60s\" (known:%s)", name,
				known);
}

static int check_spec(const struct lace_import *spec,
		      const struct format *format, struct lace_error *err)
{
	const char *unused = NULL;

	if (!spec->nr_files)
		return lace_import_fail(err, NULL, 0, "no files to import");
	if (format->one_file && spec->nr_files > 1)
		return lace_import_fail(err, spec->files[1], 0,
					"a second file: format %s is one file",
					format->name);
	if (spec->nr_files > LACE_IMPORT_MAX_RANKS)
		return lace_import_fail(err, NULL, 0, "more than %u files",
					LACE_IMPORT_MAX_RANKS);
	if (spec->groups && !format->groups)
		unused = "--groups";
	if (spec->ranks && !format->ranks)
		unused = "--ranks";
	if (spec->bytes && !format->bytes)
		unused = "--bytes";
	if (unused)
		return lace_import_fail(err, NULL, 0,
					"%s means nothing with format %s",
					unused, format->name);
	return 0;
}

static int import_format(const struct lace_import *spec,
			 const struct format *format,
			 struct lace_schedule *schedule, FILE *report,
			 struct lace_error *err)
{
	int ret;

	schedule->name = strdup(format->name);
	if (!schedule->name)
		return lace_import_no_memory(err);
	ret = format->import(spec, schedule, report, err);
	if (ret)
		return ret;
	if (!schedule->nr_ops)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "no communication between ranks");
	return lace_import_place(spec->placement, schedule, err);
}

/**
 * lace_import() - a schedule from traces of another tool
 * @spec: which files, and how to read them
 * @schedule: filled
 * @report: gets warnings and what was skipped, one a line, if it is not NULL
 *	and the import succeeds
 * @err: where and why it failed
 *
 * Return: 0, or negative; then @schedule holds nothing.
 */
int lace_import(const struct lace_import *spec, struct lace_schedule *schedule,
		FILE *report, struct lace_error *err)
{
	const struct format *format = find_format(spec->format);
	char *text = NULL;
	size_t len = 0;
	FILE *buffer;
	int ret;

	memset(err, 0, sizeof(*err));
	memset(schedule, 0, sizeof(*schedule));
	if (!format)
		return unknown_format(spec->format, err);
	ret = check_spec(spec, format, err);
	if (ret)
		return ret;
	/* A failure has one line to say, so warnings wait for the end. */
	buffer = open_memstream(&text, &len);
	if (!buffer)
		return lace_import_no_memory(err);
	ret = import_format(spec, format, schedule, buffer, err);
	if (fclose(buffer) && !ret)
		ret = lace_import_no_memory(err);
	if (!ret && report)
		fwrite(text, 1, len, report);
	if (ret)
		lace_schedule_free(schedule);
	free(text);
	return ret;
}
