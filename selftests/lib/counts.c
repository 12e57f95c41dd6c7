// SPDX-License-Identifier: GPL-2.0
/* What counts cost by the letter of planner.h, for tests that search them all. */
#include "counts.h"

#include <math.h>

double counts_value(const struct lace_counts *c, const unsigned int *count)
{
	double value = 0;

	for (unsigned int t = 0; t < c->nr_terms; t++) {
		double time = 0;

		for (size_t i = c->first[t]; i < c->first[t + 1]; i++)
			time = fmax(time, c->entries[i].time /
					  count[c->entries[i].var]);
		value += c->weight[t] * time;
	}
	return value;
}
