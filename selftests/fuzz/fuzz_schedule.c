// SPDX-License-Identifier: GPL-2.0
/*
 * Schedules of any bytes: the reader ends, what it fails with is one line with
 * a number, what it accepts it can write and read again, and both mean the same
 * demand.
 */
#include "lace.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

#define NODES 64

static void check_pairs(const struct lace_demand_op *op)
{
	const struct lace_pair *pair = op->pairs;
	size_t i;

	for (i = 0; i < op->nr_pairs; i++, pair++) {
		if (pair->src >= NODES || pair->dst >= NODES ||
		    pair->src == pair->dst || !(pair->bytes > 0))
			abort();
		if (i && (pair->src < pair[-1].src ||
			  (pair->src == pair[-1].src &&
			   pair->dst <= pair[-1].dst)))
			abort();
	}
}

static void compare_demand(const struct lace_schedule *a,
			   const struct lace_schedule *b)
{
	struct lace_demand first, second;
	struct lace_error err;
	unsigned int i;

	if (lace_profile(a, NODES, &first, &err)) {
		if (err.kind != LACE_ERR_INPUT ||
		    !lace_profile(b, NODES, &second, &err))
			abort();
		return;
	}
	if (lace_profile(b, NODES, &second, &err) ||
	    first.nr_ops != second.nr_ops)
		abort();
	for (i = 0; i < first.nr_ops; i++) {
		check_pairs(&first.ops[i]);
		if (first.ops[i].nr_pairs != second.ops[i].nr_pairs ||
		    memcmp(first.ops[i].pairs, second.ops[i].pairs,
			   first.ops[i].nr_pairs * sizeof(struct lace_pair)))
			abort();
	}
	lace_demand_free(&first);
	lace_demand_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct lace_schedule schedule, again;
	size_t first_len, second_len;
	struct lace_error err;
	char *first, *second;

	if (lace_schedule_parse((const char *)data, len, "f", &schedule,
				&err)) {
		if (err.kind != LACE_ERR_INPUT || !err.line || !*err.text ||
		    strchr(err.text, '\n'))
			abort();
		return 0;
	}
	first = schedule_text(&schedule, &first_len);
	if (lace_schedule_parse(first, first_len, "w", &again, &err))
		abort();
	second = schedule_text(&again, &second_len);
	if (first_len != second_len || memcmp(first, second, first_len))
		abort();
	compare_demand(&schedule, &again);
	free(first);
	free(second);
	lace_schedule_free(&schedule);
	lace_schedule_free(&again);
	return 0;
}
