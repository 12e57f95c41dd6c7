// SPDX-License-Identifier: GPL-2.0
/*
 * Plans of any bytes, held against testbed3: the reader and the evaluation end,
 * what they fail with is one line, and what is read can be written and read
 * again.
 */
#include "lace.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXAMPLE "Documentation/examples/testbed3/"

static struct lace_cluster cluster;
static struct lace_schedule schedule;
static struct lace_demand demand;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct lace_error err;

	(void)argc;
	(void)argv;
	if (lace_cluster_read(EXAMPLE "cluster.json", &cluster, &err) ||
	    lace_schedule_read(EXAMPLE "schedule.json", &schedule, &err) ||
	    lace_profile(&schedule, cluster.nr_nodes, &demand, &err)) {
		lace_error_print(stderr, "fuzz_plan", &err);
		exit(2);
	}
	return 0;
}

static void check_error(const struct lace_error *err,
			enum lace_error_kind kind)
{
	if (err->kind != kind || !*err->text || strchr(err->text, '\n'))
		abort();
}

static void evaluate(struct lace_plan *plan)
{
	struct lace_load *load;
	struct lace_error err;
	size_t nr;

	if (lace_plan_evaluate(&cluster, &demand, plan, &err)) {
		check_error(&err, LACE_ERR_ANSWER);
		return;
	}
	if (!(plan->cct_s > 0) || !isfinite(plan->cct_s) ||
	    lace_plan_load(&cluster, &demand, plan, 0, &load, &nr, &err))
		abort();
	free(load);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t first_len, second_len;
	struct lace_plan plan, again;
	struct lace_error err;
	char *first, *second;

	if (lace_plan_parse((const char *)data, len, "f", &plan, &err)) {
		check_error(&err, LACE_ERR_INPUT);
		return 0;
	}
	first = plan_text(&plan, &first_len);
	if (lace_plan_parse(first, first_len, "w", &again, &err))
		abort();
	second = plan_text(&again, &second_len);
	if (first_len != second_len || memcmp(first, second, first_len))
		abort();
	free(first);
	free(second);
	lace_plan_free(&again);
	evaluate(&plan);
	lace_plan_free(&plan);
	return 0;
}
