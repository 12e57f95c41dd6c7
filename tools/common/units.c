// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers in options, as people write them: see units.h.
 */
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RATE_MAX_BPS 9e15

struct unit {
	const char *name;
	double scale;
};

static const struct unit no_units[] = { { "", 1 }, { NULL, 0 } };

/* units ends with a NULL name. */
static int parse_scaled(const char *word, const struct unit *units,
			double *value)
{
	char *end;

	/* Digits first: no sign, no "nan".  No unit has an x, hexadecimal has. */
	if ((!isdigit((unsigned char)word[0]) && word[0] != '.') ||
	    strpbrk(word, "xX"))
		return -1;
	errno = 0;
	*value = strtod(word, &end);
	if (errno || end == word)
		return -1;
	for (; units->name; units++) {
		if (strcasecmp(end, units->name))
			continue;
		*value *= units->scale;
		return 0;
	}
	return -1;
}

int parse_seconds(const char *word, const char *what, double *seconds,
		  struct lace_error *err)
{
	static const struct unit units[] = {
		{ "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 },
		{ "ns", 1e-9 }, { NULL, 0 },
	};

	if (!parse_scaled(word, units, seconds))
		return 0;
	return lace_fail(err, LACE_ERR_INPUT,
			 "%s \"%s\" is no time (20ms, 2s, 0.02)", what, word);
}

int parse_rate(const char *word, uint64_t *rate_bps, struct lace_error *err)
{
	static const struct unit units[] = {
		{ "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 },
		{ "T", 1e12 }, { NULL, 0 },
	};
	double value;

	if (parse_scaled(word, units, &value) ||
	    !(value >= 1 && value <= RATE_MAX_BPS))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\" is no rate (400G, 1.6T, 100000000)",
				 word);
	*rate_bps = llround(value);
	return 0;
}

int parse_ratio(const char *word, const char *what, double *ratio,
		struct lace_error *err)
{
	if (!parse_scaled(word, no_units, ratio))
		return 0;
	return lace_fail(err, LACE_ERR_INPUT, "%s \"%s\" is no number", what,
			 word);
}

int parse_factor(const char *word, const char *what, double *factor,
		 struct lace_error *err)
{
	if (!parse_scaled(word, no_units, factor) && *factor > 0)
		return 0;
	return lace_fail(err, LACE_ERR_INPUT,
			 "%s \"%s\" is not a positive number", what, word);
}

int parse_whole(const char *word, const char *what, uint64_t min, uint64_t max,
		uint64_t *whole, struct lace_error *err)
{
	char *end;

	errno = 0;
	*whole = strtoull(word, &end, 10);
	if (isdigit((unsigned char)word[0]) && !*end && !errno &&
	    *whole >= min && *whole <= max)
		return 0;
	return lace_fail(err, LACE_ERR_INPUT,
			 "%s \"%s\" is no whole number from %llu to %llu", what,
			 word, (unsigned long long)min,
			 (unsigned long long)max);
}

int parse_count(const char *word, const char *what, unsigned int *count,
		struct lace_error *err)
{
	uint64_t whole;
	int ret = parse_whole(word, what, 1, INT_MAX, &whole, err);

	if (!ret)
		*count = whole;
	return ret;
}
