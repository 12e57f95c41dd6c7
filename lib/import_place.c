// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * --placement: on which node each rank of an imported trace runs.  Traces know
 * ranks only, so this is the user's to say.
 *
 *	N		the same as block:N
 *	block:N		N neighbouring ranks a node
 *	cyclic:N	N nodes, dealt round
 *	A,B,...		the node of rank 0, of rank 1, ...
 *
 * Without it, every rank is a node.
 */
#include "import.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NODES LACE_IMPORT_MAX_RANKS

static int refuse(struct lace_error *err, const char *spec, const char *why)
{
	return lace_import_fail(err, NULL, 0, "placement \"%.60s\": %s", spec,
				why);
}

/* A number and what ends it; false if there is none or it is too large. */
static bool read_number(const char **at, unsigned long *value)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*value = strtoul(*at, &end, 10);
	*at = end;
	return *value <= MAX_NODES;
}

static int place_list(const char *spec, struct lace_schedule *schedule,
		      struct lace_error *err)
{
	const char *at = spec;
	unsigned long node;
	unsigned int rank;

	for (rank = 0; rank < schedule->nr_ranks; rank++) {
		if (!read_number(&at, &node) || node == MAX_NODES)
			return refuse(err, spec, "not a list of nodes");
		schedule->placement[rank] = node;
		if (*at != (rank + 1 < schedule->nr_ranks ? ',' : '\0'))
			return lace_import_fail(err, NULL, 0,
						"placement \"%.60s\": not one node for each of the %u ranks",
						spec, schedule->nr_ranks);
		at++;
	}
	return 0;
}

/**
 * lace_import_place() - put the ranks of a schedule on nodes
 * @spec: what --placement says, NULL for one rank a node
 * @schedule: nr_ranks is set, placement is made
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_import_place(const char *spec, struct lace_schedule *schedule,
		      struct lace_error *err)
{
	bool cyclic = false;
	const char *at = spec;
	unsigned long n = 1;
	unsigned int rank;

	schedule->placement = calloc(schedule->nr_ranks,
				     sizeof(*schedule->placement));
	if (!schedule->placement && schedule->nr_ranks)
		return lace_import_no_memory(err);
	if (spec && strchr(spec, ','))
		return place_list(spec, schedule, err);
	if (spec) {
		if (!strncmp(at, "block:", 6)) {
			at += 6;
		} else if (!strncmp(at, "cyclic:", 7)) {
			at += 7;
			cyclic = true;
		}
		if (!read_number(&at, &n) || *at || !n)
			return refuse(err, spec,
				      "not N, block:N, cyclic:N or a list (N from 1)");
	}
	for (rank = 0; rank < schedule->nr_ranks; rank++)
		schedule->placement[rank] = cyclic ? rank % n : rank / n;
	return 0;
}
