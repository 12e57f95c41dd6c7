// SPDX-License-Identifier: GPL-2.0
/*
 * What lacectl prints, and that it could be printed.
 */
#include "show.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int print_end(struct lace_error *err)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	return lace_fail(err, LACE_ERR_SYSTEM, "cannot write the output: %s",
			 strerror(errno));
}

int print_json(const struct lacectl *ctl, json_t *value, struct lace_error *err)
{
	size_t flags = ctl->pretty ? JSON_INDENT(4) : JSON_COMPACT;
	int ret;

	if (!value)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	ret = json_dumpf(value, stdout, flags);
	json_decref(value);
	if (!ret)
		putchar('\n');
	return print_end(err);
}

json_t *json_stats(const char *const *names, const uint64_t *stats, int max)
{
	json_t *object = json_object();
	int i;

	for (i = 0; i <= max; i++)
		if (names[i])
			json_object_set_new(object, names[i],
					    json_integer(stats[i]));
	return object;
}

void print_stats(const char *const *names, const uint64_t *stats, int max)
{
	int i;

	fputs("   ", stdout);
	for (i = 0; i <= max; i++)
		if (names[i])
			printf(" %s %" PRIu64, names[i], stats[i]);
	putchar('\n');
}

json_t *json_or_null(int64_t number)
{
	return number < 0 ? json_null() : json_integer(number);
}

void print_or_none(const char *what, int64_t number)
{
	if (number < 0)
		printf("%s none", what);
	else
		printf("%s %" PRId64, what, number);
}
