/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers in options, as people write them, alike for all tools. */
#ifndef LACE_UNITS_H
#define LACE_UNITS_H

#include "lace.h"

/* "20ms", "2s", "0.02" (seconds). */
int parse_seconds(const char *word, const char *what, double *seconds,
		  struct lace_error *err);
/* "400G", "400000000000" (bits per second). */
int parse_rate(const char *word, uint64_t *rate_bps, struct lace_error *err);
/* A number without a unit, not negative. */
int parse_ratio(const char *word, const char *what, double *ratio,
		struct lace_error *err);
/* A number without a unit, above 0. */
int parse_factor(const char *word, const char *what, double *factor,
		 struct lace_error *err);
int parse_whole(const char *word, const char *what, uint64_t min, uint64_t max,
		uint64_t *whole, struct lace_error *err);
int parse_count(const char *word, const char *what, unsigned int *count,
		struct lace_error *err);

#endif /* LACE_UNITS_H */
