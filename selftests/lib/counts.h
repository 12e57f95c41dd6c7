/* SPDX-License-Identifier: GPL-2.0 */
/* What counts cost by the letter of planner.h, for tests that search them all. */
#ifndef SELFTESTS_COUNTS_H
#define SELFTESTS_COUNTS_H

#include "planner.h"

/* Seconds of all terms with so many circuits of each var. */
double counts_value(const struct lace_counts *c, const unsigned int *count);

#endif /* SELFTESTS_COUNTS_H */
