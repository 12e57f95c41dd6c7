/* SPDX-License-Identifier: GPL-2.0 */
/* What a writer of liblace writes, as text in memory. */
#ifndef SELFTESTS_TEXT_H
#define SELFTESTS_TEXT_H

#include "lace.h"

#include <stdlib.h>

/*
 * plan_text(plan, &len) is what lace_plan_write() writes, of len bytes, the
 * caller's to free; and so for the others.  A test that cannot write ends there.
 */
#define DEFINE_TEXT(what)						\
static inline char *what##_text(const struct lace_##what *it,		\
				size_t *len)				\
{									\
	char *text = NULL;						\
	FILE *out = open_memstream(&text, len);				\
									\
	if (!out || lace_##what##_write(out, it))			\
		abort();						\
	fclose(out);							\
	return text;							\
}

DEFINE_TEXT(cluster)
DEFINE_TEXT(schedule)
DEFINE_TEXT(plan)
DEFINE_TEXT(certificate)

#endif /* SELFTESTS_TEXT_H */
