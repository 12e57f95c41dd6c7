/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of bad files: a good one, with one thing in it replaced, and the whole
 * line that has to be said about it.
 */
#ifndef SELFTESTS_PARSE_H
#define SELFTESTS_PARSE_H

#include "lace.h"

struct bad_file {
	const char *replace;	/* has to occur in the good text */
	const char *by;
	const char *says;	/* "LINE: what is wrong"; NULL: it is good, too */
};

/* Parses; frees what it got. */
typedef int parse_fn(const char *text, size_t len, struct lace_error *err);

/* One result for each entry. */
void parse_test_bad(parse_fn *parse, const char *good,
		    const struct bad_file *bad, unsigned int nr);
/* One result: the text cut off anywhere is refused, with a line. */
void parse_test_cut(parse_fn *parse, const char *good);

#endif /* SELFTESTS_PARSE_H */
