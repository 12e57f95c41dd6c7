// SPDX-License-Identifier: GPL-2.0
/*
 * Holds a parser against a table of bad files: see parse.h.
 */
#include "parse.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *replace(const char *good, const struct bad_file *bad)
{
	const char *at = strstr(good, bad->replace);
	char *text;

	if (!at || asprintf(&text, "%.*s%s%s", (int)(at - good), good, bad->by,
			    at + strlen(bad->replace)) < 0)
		return NULL;
	return text;
}

static void test_one(parse_fn *parse, const char *good,
		     const struct bad_file *bad, unsigned int number)
{
	char *text = replace(good, bad), is[800] = "accepted";
	struct lace_error err;
	bool accepted;

	if (!text) {
		tap_check(false, "\"%s\" is in the good text", bad->replace);
		return;
	}
	accepted = !parse(text, strlen(text), &err);
	free(text);
	if (!accepted)
		snprintf(is, sizeof(is), "%u: %s", err.line, err.text);
	if (!tap_check(bad->says ? !strcmp(is, bad->says) : accepted,
		       "text %u: %s", number,
		       bad->says ? bad->says : "accepted"))
		tap_note("is %s", is);
}

void parse_test_bad(parse_fn *parse, const char *good,
		    const struct bad_file *bad, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		test_one(parse, good, &bad[i], i);
}

void parse_test_cut(parse_fn *parse, const char *good)
{
	size_t end = strrchr(good, '}') - good, len;
	struct lace_error err;
	bool all = true;
	char *copy;

	for (len = 0; len <= end; len++) {
		/* A block of that size, so that reading past it is seen. */
		copy = malloc(len + !len);
		memcpy(copy, good, len);
		if (!parse(copy, len, &err) || !err.line || !err.file[0])
			all = false;
		free(copy);
	}
	tap_check(all, "cut off anywhere, it is refused with a line");
}
