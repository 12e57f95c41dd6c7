// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Workloads of AICB (csv): what each rank of a pipeline stage does, row by row,
 * under a banner with the stage's ranks and a line with the names of the
 * columns.  Ranks lie as in SimAI's workloads: rank = t + TP d + TP DP s, with TP
 * and EP told by the size of the groups that the rows name.
 */
#include "import_torch.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum group {
	GROUP_TP,
	GROUP_DP,
	GROUP_PP,
	GROUP_EP,
	GROUP_EP_DP,
	GROUP_EMBEDDING,
	GROUP_ALL,
	NR_GROUPS
};

static const char *const group_names[NR_GROUPS] = {
	"tp_group", "dp_group", "pp_group", "ep_group", "ep_dp_group",
	"embedding_group", "all",
};

enum column {
	COL_TYPE,
	COL_GROUP,
	COL_GROUP_SIZE,
	COL_SIZE,
	COL_SRC,
	COL_ADDITIONAL,
	COL_COUNT,		/* may be missing */
	NR_COLUMNS
};

static const char *const column_names[NR_COLUMNS] = {
	"comm_type", "comm_group", "comm_group_size", "msg_size", "src",
	"additional", "count",
};

struct row {
	unsigned int line;
	bool has_call;
	bool to_next;		/* send, receive: the neighbour's side */
	enum group group;
	uint64_t group_size;
	struct lace_call call;
};

struct stage {
	unsigned int line;
	size_t first_row, nr_rows;
	unsigned int first_rank, nr_ranks;
};

struct field {
	const char *at;
	size_t len;
};

struct reader {
	const char *file;
	unsigned int line;
	int places[NR_COLUMNS];		/* of each column, below 0: none */
	bool has_columns;		/* under the banner under way */
	size_t nr_rows, nr_stages, room_rows, room_stages;
	struct row *rows;
	struct stage *stages;
	unsigned int tp, dp, ep;
	struct lace_trace trace;
	struct lace_error *err;
};

#define fail_line(reader, ...) \
	lace_import_fail((reader)->err, (reader)->file, (reader)->line, \
			 __VA_ARGS__)

/* ---- fields ---- */

static struct field trim(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	while (at < end && isspace((unsigned char)end[-1]))
		end--;
	return (struct field){ at, end - at };
}

/* Field number place of a line. */
static struct field field_at(const char *at, const char *end, int place)
{
	const char *comma;

	while (true) {
		comma = memchr(at, ',', end - at);
		if (!place--)
			return trim(at, comma ? comma : end);
		if (!comma)
			return (struct field){ end, 0 };
		at = comma + 1;
	}
}

static bool is(const struct field *field, const char *text)
{
	return field->len == strlen(text) &&
	       !memcmp(field->at, text, field->len);
}

static int shown(const struct field *field)
{
	return field->len < 40 ? field->len : 40;
}

static void drop_prefix(struct field *field, const char *prefix)
{
	size_t len = strlen(prefix);

	if (field->len < len || memcmp(field->at, prefix, len))
		return;
	field->at += len;
	field->len -= len;
}

/* A whole number; one that went through floating point ends in ".0". */
static int get_whole(struct reader *reader, struct field field,
		     const char *name, uint64_t max, uint64_t *value)
{
	struct field digits = field;

	if (digits.len > 2 && !memcmp(digits.at + digits.len - 2, ".0", 2))
		digits.len -= 2;
	if (!lace_scan_whole(digits.at, digits.len, max, value))
		return fail_line(reader,
				 "%s \"%.*s\" is not a whole number from 0 to %"
				 PRIu64, name, shown(&field), field.at, max);
	return 0;
}

/* ---- banner ---- */

/* The next "rankN"; false if there is none. */
static bool next_rank(const char **at, const char *end, uint64_t *rank)
{
	const char *digits;

	for (; *at + 4 < end; ++*at) {
		if (memcmp(*at, "rank", 4) || !isdigit((unsigned char)(*at)[4]))
			continue;
		digits = *at += 4;
		while (*at < end && isdigit((unsigned char)**at))
			++*at;
		if (!lace_scan_whole(digits, *at - digits,
				     LACE_IMPORT_MAX_RANKS - 1, rank))
			*rank = UINT64_MAX;
		return true;
	}
	return false;
}

/* Ranks of a stage: "rank0 ~ rank127", or all of them in a row. */
static int read_banner(struct reader *reader, const char *at, const char *end)
{
	struct stage stage = {
		.line = reader->line,
		.first_row = reader->nr_rows,
	};
	uint64_t rank, expected;
	const char *between;

	if (reader->nr_stages)
		stage.first_rank = reader->stages[reader->nr_stages - 1].first_rank +
				   reader->stages[reader->nr_stages - 1].nr_ranks;
	for (between = at; next_rank(&at, end, &rank); between = at) {
		expected = stage.first_rank + (uint64_t)stage.nr_ranks;
		if (memchr(between, '~', at - between) && stage.nr_ranks &&
		    rank >= expected && rank != UINT64_MAX)
			stage.nr_ranks += rank - expected;
		else if (rank != expected)
			return fail_line(reader,
					 "stages are not ranks in a row: rank %"
					 PRIu64 " is due in the banner",
					 expected);
		stage.nr_ranks++;
	}
	if (!stage.nr_ranks)
		return fail_line(reader, "a banner without ranks");
	if (stage.first_rank + (uint64_t)stage.nr_ranks > LACE_IMPORT_MAX_RANKS)
		return fail_line(reader, "more than %u ranks",
				 LACE_IMPORT_MAX_RANKS);
	if (reader->nr_stages &&
	    stage.nr_ranks != reader->stages[0].nr_ranks)
		return fail_line(reader, "%u ranks, where the first stage has %u",
				 stage.nr_ranks, reader->stages[0].nr_ranks);
	if (lace_import_grow(&reader->stages, &reader->room_stages,
			     reader->nr_stages + 1, sizeof(stage), reader->err))
		return -1;
	reader->stages[reader->nr_stages++] = stage;
	reader->has_columns = false;
	return 0;
}

static int read_columns(struct reader *reader, const char *at, const char *end)
{
	const char *comma;
	int nr = 1, place, c;

	for (comma = at; (comma = memchr(comma, ',', end - comma)); comma++)
		nr++;
	for (c = 0; c < NR_COLUMNS; c++) {
		reader->places[c] = -1;
		for (place = 0; place < nr && place < 64; place++) {
			struct field name = field_at(at, end, place);

			if (is(&name, column_names[c]))
				reader->places[c] = place;
		}
		if (reader->places[c] < 0 && c != COL_COUNT)
			return fail_line(reader, "no column %s",
					 column_names[c]);
	}
	reader->has_columns = true;
	return 0;
}

/* ---- rows ---- */

static int read_group(struct reader *reader, struct field name,
		      struct row *row)
{
	int g;

	drop_prefix(&name, "CommGroup.");
	for (g = 0; g < NR_GROUPS; g++) {
		if (!is(&name, group_names[g]))
			continue;
		row->group = g;
		return 0;
	}
	return fail_line(reader, "group \"%.*s\" is not known", shown(&name),
			 name.at);
}

static int read_direction(struct reader *reader, struct field direction,
			  struct row *row)
{
	const char *verb = row->call.kind == LACE_CALL_SEND ? "send" : "recv";
	char next[16], prev[16];

	snprintf(next, sizeof(next), "%s_next", verb);
	snprintf(prev, sizeof(prev), "%s_prev", verb);
	row->to_next = is(&direction, next);
	if (row->to_next || is(&direction, prev))
		return 0;
	return fail_line(reader, "additional \"%.*s\" is neither %s nor %s",
			 shown(&direction), direction.at, next, prev);
}

static int read_type(struct reader *reader, struct field type, struct row *row)
{
	struct lace_torch_call call = { 0 };
	char name[64];

	drop_prefix(&type, "CommType.");
	row->has_call = !is(&type, "computation") && !is(&type, "epoch_end");
	if (!row->has_call)
		return 0;
	if (is(&type, "isend") || is(&type, "irecv")) {
		row->call.kind = is(&type, "isend") ? LACE_CALL_SEND :
						      LACE_CALL_RECV;
		return 0;
	}
	snprintf(name, sizeof(name), "%.*s", shown(&type), type.at);
	if (!lace_torch_name(name, &call) || call.kind > LACE_TORCH_BARRIER)
		return fail_line(reader, "comm_type \"%s\" is not known", name);
	row->call.kind = call.kind == LACE_TORCH_BARRIER ?
			 LACE_CALL_BARRIER : LACE_CALL_COLLECTIVE;
	row->call.collective = call.collective;
	return 0;
}

/* The index of the root in the group. */
static int read_root(struct reader *reader, struct field src, struct row *row)
{
	uint64_t root = 0;

	if (row->call.kind != LACE_CALL_COLLECTIVE ||
	    (row->call.collective != LACE_BROADCAST &&
	     row->call.collective != LACE_REDUCE))
		return 0;
	if (src.len && !is(&src, "None") &&
	    get_whole(reader, src, "src", LACE_IMPORT_MAX_RANKS, &root))
		return -1;
	if (root >= row->group_size)
		return fail_line(reader, "src %" PRIu64
				 " is not in a group of %" PRIu64 " ranks",
				 root, row->group_size);
	row->call.root = root;
	return 0;
}

static int read_row(struct reader *reader, const char *at, const char *end)
{
	struct field fields[NR_COLUMNS];
	struct row row = { .line = reader->line };
	uint64_t count = 1;
	int c;

	for (c = 0; c < NR_COLUMNS; c++)
		fields[c] = reader->places[c] < 0 ?
			    (struct field){ end, 0 } :
			    field_at(at, end, reader->places[c]);
	if (read_type(reader, fields[COL_TYPE], &row))
		return -1;
	if (row.has_call &&
	    (read_group(reader, fields[COL_GROUP], &row) ||
	     get_whole(reader, fields[COL_GROUP_SIZE], "comm_group_size",
		       LACE_IMPORT_MAX_RANKS, &row.group_size) ||
	     get_whole(reader, fields[COL_SIZE], "msg_size",
		       LACE_IMPORT_MAX_BYTES, &row.call.bytes) ||
	     read_root(reader, fields[COL_SRC], &row)))
		return -1;
	if (row.has_call && row.call.kind >= LACE_CALL_SEND &&
	    read_direction(reader, fields[COL_ADDITIONAL], &row))
		return -1;
	if (row.call.kind == LACE_CALL_BARRIER)
		row.call.bytes = 0;
	if (row.has_call && fields[COL_COUNT].len &&
	    (get_whole(reader, fields[COL_COUNT], "count", UINT32_MAX,
		       &count)))
		return -1;
	if (count != 1)
		return fail_line(reader, "count %" PRIu64 " is not supported",
				 count);
	if (lace_import_grow(&reader->rows, &reader->room_rows,
			     reader->nr_rows + 1, sizeof(row), reader->err))
		return -1;
	reader->rows[reader->nr_rows++] = row;
	reader->stages[reader->nr_stages - 1].nr_rows++;
	return 0;
}

static int read_line(struct reader *reader, const char *at, const char *end)
{
	struct field line = trim(at, end);

	if (!line.len)
		return 0;
	if (*line.at == '[' || (line.len > 1 && !memcmp(line.at, "\"[", 2)))
		return read_banner(reader, line.at, line.at + line.len);
	if (!reader->nr_stages)
		return fail_line(reader, "no banner with ranks before the rows");
	if (!reader->has_columns)
		return read_columns(reader, line.at, line.at + line.len);
	return read_row(reader, line.at, line.at + line.len);
}

static int read_lines(struct reader *reader, const char *at, const char *end)
{
	const char *next;

	for (reader->line = 1; at < end; reader->line++) {
		next = memchr(at, '\n', end - at);
		if (!next)
			next = end;
		if (read_line(reader, at, next))
			return -1;
		at = next + 1;
	}
	if (!reader->nr_stages)
		return lace_import_fail(reader->err, reader->file, 0,
					"no banner with ranks");
	return 0;
}

/* ---- layout ---- */

/* The size that all rows give to a group, 1 if none names it. */
static int size_of_group(struct reader *reader, enum group group,
			 unsigned int *size)
{
	size_t i;

	*size = 0;
	for (i = 0; i < reader->nr_rows; i++) {
		const struct row *row = &reader->rows[i];

		if (!row->has_call || row->group != group)
			continue;
		reader->line = row->line;
		if (!row->group_size || (*size && *size != row->group_size))
			return fail_line(reader, "%s of %" PRIu64
					 " ranks, where others have %u",
					 group_names[group], row->group_size,
					 *size);
		*size = row->group_size;
	}
	if (!*size)
		*size = 1;
	return 0;
}

static int find_layout(struct reader *reader)
{
	unsigned int ranks = reader->stages[0].nr_ranks;

	if (size_of_group(reader, GROUP_TP, &reader->tp) ||
	    size_of_group(reader, GROUP_EP, &reader->ep))
		return -1;
	if (ranks % reader->tp)
		return lace_import_fail(reader->err, reader->file, 0,
					"%u ranks of a stage do not divide by tp_group's %u",
					ranks, reader->tp);
	reader->dp = ranks / reader->tp;
	if (reader->dp % reader->ep)
		return lace_import_fail(reader->err, reader->file, 0,
					"%u data parallel ranks do not divide by ep_group's %u",
					reader->dp, reader->ep);
	return 0;
}

/* The group of a rank: nr ranks from first, stride apart. */
static void find_group(const struct reader *reader, enum group group,
		       unsigned int rank, unsigned int *first,
		       unsigned int *stride, unsigned int *nr)
{
	unsigned int per_stage = reader->stages[0].nr_ranks;
	unsigned int start = rank - rank % per_stage;
	unsigned int t = rank % reader->tp;
	unsigned int d = rank % per_stage / reader->tp;
	unsigned int last = reader->nr_stages - 1;

	switch (group) {
	case GROUP_TP:
		*first = rank - t;
		*stride = 1;
		*nr = reader->tp;
		break;
	case GROUP_DP:
		*first = start + t;
		*stride = reader->tp;
		*nr = reader->dp;
		break;
	case GROUP_EP:
		*first = start + t + (d - d % reader->ep) * reader->tp;
		*stride = reader->tp;
		*nr = reader->ep;
		break;
	case GROUP_EP_DP:
		*first = start + t + d % reader->ep * reader->tp;
		*stride = reader->tp * reader->ep;
		*nr = reader->dp / reader->ep;
		break;
	case GROUP_PP:
		*first = rank % per_stage;
		*stride = per_stage;
		*nr = reader->nr_stages;
		break;
	case GROUP_EMBEDDING:
		*first = rank % per_stage;
		*stride = last * per_stage;
		*nr = last ? 2 : 1;
		break;
	default:
		*first = 0;
		*stride = 1;
		*nr = reader->trace.nr_ranks;
		break;
	}
}

static int make_comm(struct reader *reader, enum group group,
		     unsigned int rank, unsigned int *comm)
{
	unsigned int first, stride, nr, i, *ranks;
	int ret;

	find_group(reader, group, rank, &first, &stride, &nr);
	ranks = malloc(nr * sizeof(*ranks));
	if (!ranks)
		return lace_import_no_memory(reader->err);
	for (i = 0; i < nr; i++)
		ranks[i] = first + i * stride;
	ret = lace_trace_comm(&reader->trace, group_names[group], ranks, nr,
			      comm, reader->err);
	free(ranks);
	/* The first stage need not list what the last one does with it. */
	if (!ret && group == GROUP_EMBEDDING)
		reader->trace.comms[*comm].some_may_miss = true;
	return ret;
}

/* ---- ranks ---- */

static int find_peer(struct reader *reader, const struct stage *stage,
		     unsigned int rank, const struct row *row,
		     struct lace_call *call)
{
	if (row->to_next ? stage == &reader->stages[reader->nr_stages - 1] :
			   stage == reader->stages)
		return fail_line(reader, "there is no %s stage",
				 row->to_next ? "next" : "previous");
	call->peer = row->to_next ? rank + stage->nr_ranks :
				    rank - stage->nr_ranks;
	return 0;
}

static int add_call(struct reader *reader, const struct stage *stage,
		    unsigned int rank, const struct row *row,
		    unsigned int comms[NR_GROUPS])
{
	struct lace_call call = row->call;
	unsigned int nr;

	reader->line = row->line;
	if (comms[row->group] == LACE_NONE &&
	    make_comm(reader, row->group, rank, &comms[row->group]))
		return -1;
	nr = reader->trace.comms[comms[row->group]].nr;
	if (nr != row->group_size)
		return fail_line(reader, "comm_group_size %" PRIu64
				 ", but %s has %u ranks", row->group_size,
				 group_names[row->group], nr);
	if (call.kind >= LACE_CALL_SEND) {
		if (find_peer(reader, stage, rank, row, &call))
			return -1;
	} else {
		call.comm = comms[row->group];
	}
	return lace_trace_call(&reader->trace, rank, &call, reader->err);
}

static bool in_batch(const struct row *row)
{
	return row->has_call && row->call.kind >= LACE_CALL_SEND;
}

static int wait_for_rows(struct reader *reader, unsigned int rank, size_t first,
			 size_t nr)
{
	size_t i;

	for (i = first; i < first + nr; i++)
		if (lace_trace_wait(&reader->trace, rank, i, false,
				    reader->err))
			return -1;
	return 0;
}

/* Rows one after another, but sends and receives that follow each other wait
 * for what is before all of them, and what comes after waits for all of them.
 */
static int fill_rank(struct reader *reader, const struct stage *stage,
		     unsigned int rank)
{
	unsigned int comms[NR_GROUPS];
	size_t i, first = 0, nr = 0, batch = 0;
	int g;

	for (g = 0; g < NR_GROUPS; g++)
		comms[g] = LACE_NONE;
	for (i = 0; i < stage->nr_rows; i++) {
		const struct row *row = &reader->rows[stage->first_row + i];

		if (!in_batch(row) && batch) {
			first = i - batch;
			nr = batch;
			batch = 0;
		}
		if (lace_trace_node(&reader->trace, rank, i, row->line,
				    reader->err) ||
		    wait_for_rows(reader, rank, first, nr) ||
		    (row->has_call &&
		     add_call(reader, stage, rank, row, comms)))
			return -1;
		if (in_batch(row)) {
			batch++;
		} else {
			first = i;
			nr = 1;
		}
	}
	return lace_trace_finish_rank(&reader->trace, rank, reader->err);
}

static int fill_trace(struct reader *reader)
{
	const struct stage *stage;
	unsigned int rank;
	size_t s;

	if (lace_trace_init(&reader->trace,
			    reader->nr_stages * reader->stages[0].nr_ranks,
			    "row", reader->err))
		return -1;
	for (s = 0; s < reader->nr_stages; s++) {
		stage = &reader->stages[s];
		for (rank = stage->first_rank;
		     rank < stage->first_rank + stage->nr_ranks; rank++) {
			reader->trace.ranks[rank].file = reader->file;
			if (fill_rank(reader, stage, rank))
				return -1;
		}
	}
	return 0;
}

/**
 * lace_import_aicb() - a schedule from a workload of AICB
 * @spec: one file
 * @schedule: ranks and ops are filled in
 * @report: for warnings
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_import_aicb(const struct lace_import *spec,
		     struct lace_schedule *schedule, FILE *report,
		     struct lace_error *err)
{
	struct reader reader = { .file = spec->files[0], .err = err };
	char *text;
	size_t len;
	int ret;

	ret = lace_input_text(reader.file, LACE_IMPORT_MAX_TEXT, &text, &len,
			      err);
	if (ret)
		return ret;
	ret = read_lines(&reader, text, text + len);
	free(text);
	if (!ret)
		ret = find_layout(&reader);
	if (!ret)
		ret = fill_trace(&reader);
	if (!ret)
		ret = lace_trace_schedule(&reader.trace, schedule, report, err);
	lace_trace_free(&reader.trace);
	free(reader.rows);
	free(reader.stages);
	return ret;
}
