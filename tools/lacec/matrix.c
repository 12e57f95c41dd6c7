// SPDX-License-Identifier: GPL-2.0
/*
 * lacec matrix: what each node sends to each, as text that other programs read.
 *
 * Many ops share few lists of pairs, and most cells are empty, so lists are
 * counted first and rows filled one at a time.
 */
#include "lacec.h"
#include "units.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ALL_OPS UINT_MAX

/* A list of pairs and how often it is sent. */
struct list {
	const struct lace_pair *pairs;
	size_t nr_pairs, next;
	double times;
};

struct matrix {
	unsigned int nr_nodes;
	size_t nr_lists;
	struct list *lists;
	double *row;
};

static int compare_lists(const void *a, const void *b)
{
	const struct list *x = a, *y = b;

	return ((uintptr_t)x->pairs > (uintptr_t)y->pairs) -
	       ((uintptr_t)x->pairs < (uintptr_t)y->pairs);
}

static void fold_lists(struct matrix *matrix)
{
	struct list *lists = matrix->lists;
	size_t from, to = 0;

	qsort(lists, matrix->nr_lists, sizeof(*lists), compare_lists);
	for (from = 0; from < matrix->nr_lists; from++) {
		if (to && lists[to - 1].pairs == lists[from].pairs)
			lists[to - 1].times += lists[from].times;
		else
			lists[to++] = lists[from];
	}
	matrix->nr_lists = to;
}

static int matrix_open(struct matrix *matrix, const struct lace_demand *demand,
		       unsigned int op, struct lace_error *err)
{
	unsigned int first = op == ALL_OPS ? 0 : op, i;
	unsigned int end = op == ALL_OPS ? demand->nr_ops : op + 1;

	matrix->nr_nodes = demand->nr_nodes;
	matrix->lists = calloc((size_t)demand->nr_ops + 1,
			       sizeof(*matrix->lists));
	matrix->row = calloc((size_t)demand->nr_nodes + 1,
			     sizeof(*matrix->row));
	if (!matrix->lists || !matrix->row)
		return lace_no_memory(err);
	for (i = first; i < end; i++)
		matrix->lists[matrix->nr_lists++] = (struct list){
			.pairs = demand->ops[i].pairs,
			.nr_pairs = demand->ops[i].nr_pairs,
			.times = demand->ops[i].repeat,
		};
	fold_lists(matrix);
	return 0;
}

static void matrix_close(struct matrix *matrix)
{
	free(matrix->lists);
	free(matrix->row);
}

static void fill_row(struct matrix *matrix, unsigned int node)
{
	const struct lace_pair *pair;
	struct list *list;
	size_t i;

	memset(matrix->row, 0, matrix->nr_nodes * sizeof(*matrix->row));
	for (i = 0; i < matrix->nr_lists; i++) {
		list = &matrix->lists[i];
		for (; list->next < list->nr_pairs; list->next++) {
			pair = &list->pairs[list->next];
			if (pair->src != node)
				break;
			matrix->row[pair->dst] += pair->bytes * list->times;
		}
	}
}

/* Whole numbers as such, others with up to 6 decimals. */
static void print_bytes(double bytes)
{
	char text[400];
	size_t len;

	if (!bytes) {
		putchar('0');
		return;
	}
	len = snprintf(text, sizeof(text), "%.6f", bytes);
	while (text[len - 1] == '0')
		len--;
	if (text[len - 1] == '.')
		len--;
	fwrite(text, 1, len, stdout);
}

static void print_matrix(struct matrix *matrix)
{
	unsigned int i, j;

	for (i = 0; i < matrix->nr_nodes && !ferror(stdout); i++) {
		fill_row(matrix, i);
		for (j = 0; j < matrix->nr_nodes; j++) {
			if (j)
				putchar(' ');
			print_bytes(matrix->row[j]);
		}
		putchar('\n');
	}
}

static unsigned int count_nodes(const struct lace_schedule *schedule)
{
	unsigned int nr = 0, i;

	for (i = 0; i < schedule->nr_ranks; i++)
		if (schedule->placement[i] >= nr)
			nr = schedule->placement[i] + 1;
	return nr;
}

static int print_schedule(const char *path, const struct lace_schedule *schedule,
			  unsigned int op, struct lace_error *err)
{
	struct matrix matrix = { 0 };
	struct lace_demand demand;
	int ret;

	ret = lace_profile(schedule, count_nodes(schedule), &demand, err);
	if (ret) {
		if (err->kind == LACE_ERR_INPUT)
			lace_error_at(err, path, 1);
		return ret;
	}
	if (op != ALL_OPS && op >= demand.nr_ops)
		ret = lace_fail(err, LACE_ERR_INPUT,
				"there is no op %u: %s has %u", op, path,
				demand.nr_ops);
	if (!ret)
		ret = matrix_open(&matrix, &demand, op, err);
	if (!ret)
		print_matrix(&matrix);
	matrix_close(&matrix);
	lace_demand_free(&demand);
	return ret;
}

static const struct option options[] = {
	{ "op", required_argument, NULL, 'k' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int run(const struct command *self, int argc, char **argv)
{
	struct lace_schedule schedule;
	uint64_t op = ALL_OPS;
	struct lace_error err;
	int option, ret;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h')
			return print_help(self);
		if (option == '?')
			return STATUS_BAD;
		if (parse_whole(optarg, "--op", 0, ALL_OPS - 1, &op, &err))
			return fail(&err);
	}
	if (optind != argc - 1)
		return fail_usage(self, "one SCHEDULE is needed");
	if (lace_schedule_read(argv[optind], &schedule, &err))
		return fail(&err);
	ret = print_schedule(argv[optind], &schedule, op, &err);
	lace_schedule_free(&schedule);
	return ret ? fail(&err) : STATUS_DONE;
}

const struct command matrix_command = {
	.name = "matrix",
	.what = "prints the bytes that each node sends to each, one row a line",
	.usage = "SCHEDULE [--op K]\n"
		 "  --op K  only this op, all rounds of it; numbered as in plans, from 0\n"
		 "Data only, without control; the sum over all ops unless --op is given",
	.run = run,
};
