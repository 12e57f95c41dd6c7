// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Reads and writes schedules (lace-schedule/1): which collectives and transfers
 * the ranks of a job run, one after another.
 */
#include "file.h"
#include "json.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "lace-schedule/1"

#define MAX_NODE ((unsigned int)INT_MAX - 1)

static const char *const collective_names[] = {
	[LACE_TRANSFERS] = "transfers",
	[LACE_ALL_REDUCE] = "all_reduce",
	[LACE_REDUCE_SCATTER] = "reduce_scatter",
	[LACE_ALL_GATHER] = "all_gather",
	[LACE_BROADCAST] = "broadcast",
	[LACE_REDUCE] = "reduce",
	[LACE_ALL_TO_ALL] = "all_to_all",
	[LACE_ALL_TO_ALLV] = "all_to_allv",
};

static const char *const algorithm_names[] = {
	[LACE_RING] = "ring",
	[LACE_HALVING_DOUBLING] = "halving_doubling",
	[LACE_DOUBLE_TREE] = "double_tree",
	[LACE_DIRECT] = "direct",
};

#define BIT(n) (1u << (n))
#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* Which algorithms a collective has. */
static const unsigned int algorithms_of[] = {
	[LACE_ALL_REDUCE] = BIT(LACE_RING) | BIT(LACE_HALVING_DOUBLING) |
			    BIT(LACE_DOUBLE_TREE),
	[LACE_REDUCE_SCATTER] = BIT(LACE_RING),
	[LACE_ALL_GATHER] = BIT(LACE_RING),
	[LACE_BROADCAST] = BIT(LACE_RING),
	[LACE_REDUCE] = BIT(LACE_RING),
	[LACE_ALL_TO_ALL] = BIT(LACE_DIRECT),
	[LACE_ALL_TO_ALLV] = BIT(LACE_DIRECT),
};

const char *lace_collective_name(enum lace_collective collective)
{
	return collective_names[collective];
}

const char *lace_algorithm_name(enum lace_algorithm algorithm)
{
	return algorithm_names[algorithm];
}

static bool is_rooted(const struct lace_part *part)
{
	return part->collective == LACE_BROADCAST ||
	       part->collective == LACE_REDUCE;
}

/* ---- reading ---- */

struct reader {
	struct lace_schedule *schedule;
	/* Stamp of the last group that each rank was seen in. */
	unsigned int *seen;
	unsigned int stamp;
};

static int read_listed_group(const struct lace_json *at, struct reader *reader,
			     struct lace_group *group)
{
	struct lace_json rank;
	unsigned int i;
	size_t nr;

	if (lace_json_array(at, &nr))
		return -1;
	group->ranks = calloc(nr + 1, sizeof(*group->ranks));
	if (!group->ranks)
		return lace_no_memory(at->doc->err);
	group->count = nr;
	reader->stamp++;
	for (i = 0; i < nr; i++) {
		rank = lace_json_element(at, i);
		if (lace_json_index(&rank, 0, UINT_MAX, &group->ranks[i]))
			return -1;
		if (group->ranks[i] >= reader->schedule->nr_ranks)
			return lace_json_fail(&rank,
					      "there is no rank %u among %u",
					      group->ranks[i],
					      reader->schedule->nr_ranks);
		if (reader->seen[group->ranks[i]] == reader->stamp)
			return lace_json_fail(&rank,
					      "rank %u is in the group twice",
					      group->ranks[i]);
		reader->seen[group->ranks[i]] = reader->stamp;
	}
	return nr ? 0 : lace_json_fail(at, "a group needs a rank");
}

static int read_strided_group(const struct lace_json *at,
			      const struct reader *reader,
			      struct lace_group *group)
{
	struct lace_json first = lace_json_member(at, "first");
	struct lace_json stride = lace_json_member(at, "stride");
	struct lace_json count = lace_json_member(at, "count");
	uint64_t nr, step, last;

	if (lace_json_index(&first, 0, UINT_MAX, &group->first) ||
	    lace_json_whole(&stride, 1, LACE_JSON_MAX_WHOLE, &step) ||
	    lace_json_whole(&count, 1, LACE_JSON_MAX_WHOLE, &nr))
		return -1;
	if (nr > reader->schedule->nr_ranks ||
	    (nr > 1 && step > reader->schedule->nr_ranks))
		return lace_json_fail(at, "the group leaves the %u ranks",
				      reader->schedule->nr_ranks);
	last = group->first + (nr - 1) * (nr > 1 ? step : 0);
	if (last >= reader->schedule->nr_ranks)
		return lace_json_fail(at,
				      "the group ends with rank %" PRIu64 " of %u",
				      last, reader->schedule->nr_ranks);
	group->count = nr;
	group->stride = nr > 1 ? step : 1;
	return 0;
}

static int read_groups(const struct lace_json *of, struct reader *reader,
		       struct lace_part *part)
{
	struct lace_json array = lace_json_member(of, "groups"), at;
	unsigned int i;
	size_t nr;
	int ret;

	if (lace_json_array(&array, &nr))
		return -1;
	part->groups = calloc(nr + 1, sizeof(*part->groups));
	if (!part->groups)
		return lace_no_memory(of->doc->err);
	part->nr_groups = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		ret = json_is_object(at.value)
			      ? read_strided_group(&at, reader, &part->groups[i])
			      : read_listed_group(&at, reader, &part->groups[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int check_power_of_two(const struct lace_json *of,
			      const struct lace_part *part)
{
	struct lace_json groups = lace_json_member(of, "groups"), at;
	unsigned int i, count;

	for (i = 0; i < part->nr_groups; i++) {
		count = part->groups[i].count;
		at = lace_json_element(&groups, i);
		if (count & (count - 1))
			return lace_json_fail(&at,
					      "halving_doubling needs a power of two of ranks, not %u",
					      count);
	}
	return 0;
}

static int read_collective(const struct lace_json *of, struct lace_part *part)
{
	struct lace_json at = lace_json_member(of, "collective");
	const char *name;
	unsigned int i;

	if (!at.value)
		return lace_json_fail(of,
				      "has neither \"collective\" nor \"transfers\"");
	if (lace_json_string(&at, &name))
		return -1;
	for (i = LACE_ALL_REDUCE; i < NR(collective_names); i++) {
		if (!strcmp(collective_names[i], name)) {
			part->collective = i;
			return 0;
		}
	}
	return lace_json_fail(&at, "there is no collective \"%s\"", name);
}

/* Where a collective has one algorithm only, it need not be named. */
static int read_algorithm(const struct lace_json *of, struct lace_part *part)
{
	struct lace_json at = lace_json_member(of, "algorithm");
	unsigned int has = algorithms_of[part->collective], i;
	const char *name;

	if (!at.value && !(has & (has - 1))) {
		part->algorithm = __builtin_ctz(has);
		return 0;
	}
	if (lace_json_string(&at, &name))
		return -1;
	for (i = 0; i < NR(algorithm_names); i++)
		if (!strcmp(algorithm_names[i], name))
			break;
	if (i == NR(algorithm_names))
		return lace_json_fail(&at, "there is no algorithm \"%s\"",
				      name);
	if (!(has & BIT(i)))
		return lace_json_fail(&at, "%s has no algorithm \"%s\"",
				      collective_names[part->collective], name);
	part->algorithm = i;
	return 0;
}

static int read_steps(const struct lace_json *of, struct lace_part *part)
{
	struct lace_json at = lace_json_member(of, "steps");

	if (!at.value)
		return 0;
	if (lace_json_bool(&at, &part->steps))
		return -1;
	if (!part->steps || part->algorithm == LACE_HALVING_DOUBLING ||
	    part->algorithm == LACE_DIRECT)
		return 0;
	return lace_json_fail(&at, "%s by %s has no steps",
			      collective_names[part->collective],
			      algorithm_names[part->algorithm]);
}

static int read_root(const struct lace_json *of, struct lace_part *part)
{
	struct lace_json at = lace_json_member(of, "root");
	unsigned int i;

	if (!at.value || !is_rooted(part))
		return 0;
	if (lace_json_index(&at, 0, UINT_MAX, &part->root))
		return -1;
	for (i = 0; i < part->nr_groups; i++)
		if (part->root >= part->groups[i].count)
			return lace_json_fail(&at,
					      "root %u is not in group %u of %u ranks",
					      part->root, i,
					      part->groups[i].count);
	return 0;
}

/* Sizes are checked before memory is asked for: a group may be huge by itself. */
static int check_matrix(const struct lace_json *at, unsigned int n)
{
	struct lace_json row;
	size_t nr;
	unsigned int i;

	if (lace_json_array(at, &nr))
		return -1;
	if (nr != n)
		return lace_json_fail(at, "has %zu rows for a group of %u ranks",
				      nr, n);
	for (i = 0; i < n; i++) {
		row = lace_json_element(at, i);
		if (lace_json_array(&row, &nr))
			return -1;
		if (nr != n)
			return lace_json_fail(&row,
					      "has %zu columns for a group of %u ranks",
					      nr, n);
	}
	return 0;
}

static int read_matrix(const struct lace_json *at, unsigned int n,
		       uint64_t **matrix)
{
	struct lace_json row, cell;
	unsigned int i, j;

	if (check_matrix(at, n))
		return -1;
	*matrix = calloc((size_t)n * n, sizeof(**matrix));
	if (!*matrix)
		return lace_no_memory(at->doc->err);
	for (i = 0; i < n; i++) {
		row = lace_json_element(at, i);
		for (j = 0; j < n; j++) {
			cell = lace_json_element(&row, j);
			if (lace_json_whole(&cell, 0, LACE_JSON_MAX_WHOLE,
					    &(*matrix)[(size_t)i * n + j]))
				return -1;
		}
	}
	return 0;
}

static int read_matrices(const struct lace_json *of, struct lace_part *part)
{
	struct lace_json array = lace_json_member(of, "matrix"), at;
	unsigned int i;
	size_t nr;

	if (lace_json_array(&array, &nr))
		return -1;
	if (nr != part->nr_groups)
		return lace_json_fail(&array, "has %zu matrices for %u groups",
				      nr, part->nr_groups);
	part->matrix = calloc(nr + 1, sizeof(*part->matrix));
	if (!part->matrix)
		return lace_no_memory(of->doc->err);
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_matrix(&at, part->groups[i].count, &part->matrix[i]))
			return -1;
	}
	return 0;
}

static int read_transfer(const struct lace_json *at,
			 const struct reader *reader,
			 struct lace_transfer *transfer)
{
	struct lace_json src, dst, bytes;
	unsigned int nr_ranks = reader->schedule->nr_ranks;
	size_t nr;

	if (lace_json_array(at, &nr))
		return -1;
	if (nr != 3)
		return lace_json_fail(at,
				      "has to be [source, destination, bytes]");
	src = lace_json_element(at, 0);
	dst = lace_json_element(at, 1);
	bytes = lace_json_element(at, 2);
	if (lace_json_index(&src, 0, UINT_MAX, &transfer->src) ||
	    lace_json_index(&dst, 0, UINT_MAX, &transfer->dst) ||
	    lace_json_whole(&bytes, 0, LACE_JSON_MAX_WHOLE, &transfer->bytes))
		return -1;
	if (transfer->src >= nr_ranks)
		return lace_json_fail(&src, "there is no rank %u among %u",
				      transfer->src, nr_ranks);
	if (transfer->dst >= nr_ranks)
		return lace_json_fail(&dst, "there is no rank %u among %u",
				      transfer->dst, nr_ranks);
	return 0;
}

static int read_transfers(const struct lace_json *of,
			  const struct reader *reader, struct lace_part *part)
{
	struct lace_json array = lace_json_member(of, "transfers"), at;
	size_t nr, i;

	at = lace_json_member(of, "collective");
	if (at.value)
		return lace_json_fail(&at, "\"transfers\" stands there, too");
	at = lace_json_member(of, "steps");
	if (at.value && lace_json_bool(&at, &part->steps))
		return -1;
	if (part->steps)
		return lace_json_fail(&at, "transfers have no steps");
	if (lace_json_array(&array, &nr))
		return -1;
	part->transfers = calloc(nr + 1, sizeof(*part->transfers));
	if (!part->transfers)
		return lace_no_memory(of->doc->err);
	part->nr_transfers = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_transfer(&at, reader, &part->transfers[i]))
			return -1;
	}
	return 0;
}

static int read_part(const struct lace_json *at, struct reader *reader,
		     struct lace_part *part)
{
	struct lace_json bytes;

	if (lace_json_object(at))
		return -1;
	if (json_object_get(at->value, "transfers"))
		return read_transfers(at, reader, part);
	if (read_collective(at, part) || read_algorithm(at, part) ||
	    read_steps(at, part) || read_groups(at, reader, part) ||
	    read_root(at, part))
		return -1;
	if (part->algorithm == LACE_HALVING_DOUBLING &&
	    check_power_of_two(at, part))
		return -1;
	if (part->collective == LACE_ALL_TO_ALLV)
		return read_matrices(at, part);
	bytes = lace_json_member(at, "bytes");
	return lace_json_whole(&bytes, 0, LACE_JSON_MAX_WHOLE, &part->bytes);
}

static int read_op_name(const struct lace_json *of, unsigned int index,
			char **name)
{
	struct lace_json at = lace_json_member(of, "name");

	if (at.value)
		return lace_json_strdup(&at, name);
	if (asprintf(name, "op%u", index) < 0) {
		*name = NULL;
		return lace_no_memory(of->doc->err);
	}
	return 0;
}

static int read_op(const struct lace_json *at, struct reader *reader,
		   struct lace_op *op, unsigned int index)
{
	struct lace_json repeat, parts, part;
	unsigned int i;
	size_t nr;

	op->repeat = 1;
	if (lace_json_object(at) || read_op_name(at, index, &op->name))
		return -1;
	repeat = lace_json_member(at, "repeat");
	if (repeat.value && lace_json_whole(&repeat, 1, LACE_JSON_MAX_WHOLE,
					    &op->repeat))
		return -1;
	parts = lace_json_member(at, "parts");
	if (lace_json_array(&parts, &nr))
		return -1;
	op->parts = calloc(nr + 1, sizeof(*op->parts));
	if (!op->parts)
		return lace_no_memory(at->doc->err);
	op->nr_parts = nr;
	for (i = 0; i < nr; i++) {
		part = lace_json_element(&parts, i);
		if (read_part(&part, reader, &op->parts[i]))
			return -1;
	}
	return 0;
}

static int read_placement(const struct lace_json *top, struct reader *reader)
{
	struct lace_json array = lace_json_member(top, "placement");
	struct lace_json ranks = lace_json_member(top, "ranks"), at;
	struct lace_schedule *schedule = reader->schedule;
	uint64_t nr_ranks;
	unsigned int i;
	size_t nr;

	if (lace_json_whole(&ranks, 0, INT_MAX, &nr_ranks) ||
	    lace_json_array(&array, &nr))
		return -1;
	if (nr != nr_ranks)
		return lace_json_fail(&array, "places %zu of %" PRIu64 " ranks",
				      nr, nr_ranks);
	schedule->placement = calloc(nr + 1, sizeof(*schedule->placement));
	reader->seen = calloc(nr + 1, sizeof(*reader->seen));
	if (!schedule->placement || !reader->seen)
		return lace_no_memory(top->doc->err);
	schedule->nr_ranks = nr;
	schedule->placement_line = lace_json_line(&array);
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (lace_json_index(&at, 0, MAX_NODE, &schedule->placement[i]))
			return -1;
	}
	return 0;
}

static int read_schedule(const struct lace_json *top, struct reader *reader)
{
	struct lace_schedule *schedule = reader->schedule;
	struct lace_json at, ops;
	unsigned int i;
	size_t nr;

	if (lace_json_format(top, FORMAT))
		return -1;
	at = lace_json_member(top, "name");
	if (at.value && lace_json_strdup(&at, &schedule->name))
		return -1;
	if (!at.value)
		schedule->name = strdup("schedule");
	if (!schedule->name)
		return lace_no_memory(top->doc->err);
	if (read_placement(top, reader))
		return -1;
	ops = lace_json_member(top, "ops");
	if (lace_json_array(&ops, &nr))
		return -1;
	schedule->ops = calloc(nr + 1, sizeof(*schedule->ops));
	if (!schedule->ops)
		return lace_no_memory(top->doc->err);
	schedule->nr_ops = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&ops, i);
		if (read_op(&at, reader, &schedule->ops[i], i))
			return -1;
	}
	return 0;
}

/**
 * lace_schedule_parse() - make a schedule from the text of a schedule file
 * @text: JSON
 * @len: its length in bytes
 * @name: what errors call the text
 * @schedule: filled; empty on failure
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_schedule_parse(const char *text, size_t len, const char *name,
			struct lace_schedule *schedule, struct lace_error *err)
{
	struct reader reader = { .schedule = schedule };
	struct lace_json_doc doc;
	struct lace_json top;
	int ret;

	memset(schedule, 0, sizeof(*schedule));
	ret = lace_json_open(&doc, name, text, len, err);
	if (ret)
		return ret;
	top = lace_json_top(&doc);
	ret = read_schedule(&top, &reader);
	lace_json_close(&doc);
	free(reader.seen);
	if (ret)
		lace_schedule_free(schedule);
	return ret;
}

/**
 * lace_schedule_read() - read a schedule file
 * @path: where it is
 * @schedule: filled, with the hash of the file; empty on failure
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_schedule_read(const char *path, struct lace_schedule *schedule,
		       struct lace_error *err)
{
	size_t len;
	char *text;
	int ret;

	memset(schedule, 0, sizeof(*schedule));
	ret = lace_file_read(path, &text, &len, err);
	if (ret)
		return ret;
	ret = lace_schedule_parse(text, len, path, schedule, err);
	if (!ret)
		lace_file_hash(text, len, schedule->sha256);
	free(text);
	return ret;
}

/* ---- writing ---- */

#define NUMBERS_A_LINE 16

static void write_group(FILE *out, const struct lace_group *group)
{
	unsigned int i;

	if (!group->ranks) {
		fprintf(out, "{ \"first\": %u, \"stride\": %u, \"count\": %u }",
			group->first, group->stride, group->count);
		return;
	}
	fputc('[', out);
	for (i = 0; i < group->count; i++)
		fprintf(out, "%s%u", i ? ", " : "", group->ranks[i]);
	fputc(']', out);
}

static void write_matrix(FILE *out, const uint64_t *matrix, unsigned int n)
{
	unsigned int i, j;

	for (i = 0; i < n; i++) {
		fputs(i ? ",\n\t  [" : "\n\t[ [", out);
		for (j = 0; j < n; j++)
			fprintf(out, "%s%" PRIu64, j ? ", " : "",
				matrix[(size_t)i * n + j]);
		fputc(']', out);
	}
	fputs(" ]", out);
}

static void write_transfers(FILE *out, const struct lace_part *part)
{
	const struct lace_transfer *transfer;
	size_t i;

	fputs("      { \"transfers\": [", out);
	for (i = 0; i < part->nr_transfers; i++) {
		transfer = &part->transfers[i];
		fprintf(out, "%s[%u, %u, %" PRIu64 "]", i ? ",\n\t" : "\n\t",
			transfer->src, transfer->dst, transfer->bytes);
	}
	fputs(" ] }", out);
}

static void write_collective(FILE *out, const struct lace_part *part)
{
	unsigned int i;

	fprintf(out,
		"      { \"collective\": \"%s\", \"algorithm\": \"%s\",\n\t",
		collective_names[part->collective],
		algorithm_names[part->algorithm]);
	if (part->steps)
		fputs("\"steps\": true, ", out);
	if (is_rooted(part))
		fprintf(out, "\"root\": %u, ", part->root);
	if (part->collective != LACE_ALL_TO_ALLV)
		fprintf(out, "\"bytes\": %" PRIu64 ", ", part->bytes);
	fputs("\"groups\": [", out);
	for (i = 0; i < part->nr_groups; i++) {
		fputs(i ? ",\n\t" : "\n\t", out);
		write_group(out, &part->groups[i]);
	}
	fputs(" ]", out);
	if (part->collective == LACE_ALL_TO_ALLV) {
		fputs(",\n\t\"matrix\": [", out);
		for (i = 0; i < part->nr_groups; i++) {
			fputs(i ? "," : "", out);
			write_matrix(out, part->matrix[i],
				     part->groups[i].count);
		}
		fputs(" ]", out);
	}
	fputs(" }", out);
}

static void write_op(FILE *out, const struct lace_op *op)
{
	unsigned int i;

	fputs("  { \"name\": ", out);
	lace_json_write_string(out, op->name);
	fprintf(out, ", \"repeat\": %" PRIu64 ", \"parts\": [", op->repeat);
	for (i = 0; i < op->nr_parts; i++) {
		fputs(i ? ",\n" : "\n", out);
		if (op->parts[i].collective == LACE_TRANSFERS)
			write_transfers(out, &op->parts[i]);
		else
			write_collective(out, &op->parts[i]);
	}
	fputs(" ] }", out);
}

/**
 * lace_schedule_write() - write a schedule file
 * @out: where to; not flushed
 * @schedule: what
 *
 * Return: 0, or a negative value if @out has met an error.
 */
int lace_schedule_write(FILE *out, const struct lace_schedule *schedule)
{
	unsigned int i;

	fputs("{ \"format\": \"" FORMAT "\",\n  \"name\": ", out);
	lace_json_write_string(out, schedule->name);
	fprintf(out, ",\n  \"ranks\": %u,\n  \"placement\": [",
		schedule->nr_ranks);
	for (i = 0; i < schedule->nr_ranks; i++)
		fprintf(out, "%s%u",
			!i ? "" : i % NUMBERS_A_LINE ? ", " : ",\n    ",
			schedule->placement[i]);
	fputs("],\n  \"ops\": [", out);
	for (i = 0; i < schedule->nr_ops; i++) {
		fputs(i ? ",\n" : "\n", out);
		write_op(out, &schedule->ops[i]);
	}
	fputs(" ] }\n", out);
	return ferror(out) ? -1 : 0;
}

static void free_part(struct lace_part *part)
{
	unsigned int i;

	for (i = 0; i < part->nr_groups; i++) {
		free(part->groups[i].ranks);
		if (part->matrix)
			free(part->matrix[i]);
	}
	free(part->groups);
	free(part->matrix);
	free(part->transfers);
}

/**
 * lace_schedule_free() - free what a schedule holds
 * @schedule: it; empty afterwards
 */
void lace_schedule_free(struct lace_schedule *schedule)
{
	unsigned int i, k;

	for (i = 0; i < schedule->nr_ops; i++) {
		for (k = 0; k < schedule->ops[i].nr_parts; k++)
			free_part(&schedule->ops[i].parts[k]);
		free(schedule->ops[i].parts);
		free(schedule->ops[i].name);
	}
	free(schedule->ops);
	free(schedule->placement);
	free(schedule->name);
	memset(schedule, 0, sizeof(*schedule));
}
