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
	/* Without the zero byte, so that a reader past the end is seen. */
	char *copy = malloc(strlen(text) + !*text);

	memcpy(copy, text, strlen(text));
	accepted = !parse(copy, strlen(text), &err);
	free(copy);
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
	const char *end = strrchr(good, '}');
	struct lace_error err;
	bool all = true;
	size_t len;

	for (len = 0; len <= (size_t)(end - good); len++)
		if (!parse(good, len, &err) || !err.line || !err.file[0])
			all = false;
	tap_check(all, "cut off anywhere, it is refused with a line");
}
