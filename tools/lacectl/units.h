/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers with units, as people write them. */
#ifndef LACECTL_UNITS_H
#define LACECTL_UNITS_H

#include "lace.h"

/* "20ms", "1.5s", "0.02" (seconds). */
int parse_seconds(const char *word, const char *what, double *seconds,
		  struct lace_error *err);
/* "50M", "1G", "100000000" (bits per second). */
int parse_rate(const char *word, uint64_t *rate_bps, struct lace_error *err);
/* A positive number without a unit. */
int parse_factor(const char *word, const char *what, double *factor,
		 struct lace_error *err);

#endif /* LACECTL_UNITS_H */
