// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Workloads of ASTRA-sim 1.0 and SimAI: a header with the layout of the ranks,
 * then a line for each layer with the collective of its forward pass, input
 * gradient and weight gradient.  One iteration of one pass: forward from the
 * first layer to the last, then back.  Every entry is one op over all groups of
 * its kind, so ops are made straight from the lines.
 *
 * Ranks: tensor parallel innermost, then data, then pipeline: rank = t + TP d +
 * TP DP s.  Expert groups are ep neighbours in d; DP_EP is the same place in
 * each of those.
 */
#include "import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NR_COLUMNS 12
#define BLANKS " \t\r\v\f"
/* Of all ops together: what a short file may ask for. */
#define MAX_GROUPS (1u << 26)

enum where {
	OVER_TP,
	OVER_DP,
	OVER_EP,
	OVER_DP_EP,
	OVER_ALL,
};

struct entry {
	bool any;
	enum lace_collective collective;
	enum where where;
	uint64_t bytes;
};

/* Forward, input gradient, weight gradient. */
struct layer {
	struct entry entries[3];
};

struct header {
	bool all;		/* every entry is over all ranks */
	uint64_t tp, ep, pp, ranks, pp_comm;
};

struct reader {
	const char *file;
	unsigned int line;
	const char *at, *end;
	struct header header;
	uint64_t dp;
	size_t nr_layers;
	struct layer *layers;
	struct lace_error *err;
};

struct word {
	const char *at;
	size_t len;
};

#define fail_line(reader, ...) \
	lace_import_fail((reader)->err, (reader)->file, (reader)->line, \
			 __VA_ARGS__)

/* ---- words ---- */

static bool is_blank(char c)
{
	return c && strchr(BLANKS, c);
}

/* The next word of the line; false at its end. */
static bool next_word(struct reader *reader, struct word *word)
{
	while (reader->at < reader->end && is_blank(*reader->at))
		reader->at++;
	word->at = reader->at;
	while (reader->at < reader->end && !is_blank(*reader->at) &&
	       *reader->at != '\n')
		reader->at++;
	word->len = reader->at - word->at;
	return word->len;
}

static void next_line(struct reader *reader)
{
	while (reader->at < reader->end && *reader->at != '\n')
		reader->at++;
	if (reader->at < reader->end) {
		reader->at++;
		reader->line++;
	}
}

static bool is(const struct word *word, const char *text)
{
	return word->len == strlen(text) && !memcmp(word->at, text, word->len);
}

static int shown(const struct word *word)
{
	return word->len < 40 ? word->len : 40;
}

/* ---- header ---- */

static int read_policy(struct reader *reader)
{
	struct word word;

	if (!next_word(reader, &word))
		return fail_line(reader, "no header");
	reader->header.all = is(&word, "DATA") || is(&word, "MODEL") ||
			     is(&word, "MICRO");
	if (reader->header.all || is(&word, "HYBRID_TRANSFORMER") ||
	    is(&word, "HYBRID_TRANSFORMER_FWD_IN_BCKWD"))
		return 0;
	return fail_line(reader, "policy \"%.*s\" is not supported",
			 shown(&word), word.at);
}

/* Where the number behind this key goes; NULL if it does not matter. */
static uint64_t *header_slot(struct header *header, struct word key)
{
	if (key.len && key.at[key.len - 1] == ':')
		key.len--;
	if (is(&key, "model_parallel_NPU_group"))
		return &header->tp;
	if (is(&key, "ep"))
		return &header->ep;
	if (is(&key, "pp"))
		return &header->pp;
	if (is(&key, "all_gpus"))
		return &header->ranks;
	if (is(&key, "pp_comm"))
		return &header->pp_comm;
	return NULL;
}

/* Keys with numbers behind them; some keys have a list. */
static int read_keys(struct reader *reader)
{
	uint64_t *slot = NULL, value, max;
	struct word word, key = { 0 };

	while (next_word(reader, &word)) {
		if (word.at[0] >= '0' && word.at[0] <= '9') {
			max = slot == &reader->header.pp_comm ?
			      LACE_IMPORT_MAX_BYTES : LACE_IMPORT_MAX_RANKS;
			if (slot && !lace_scan_whole(word.at, word.len, max,
						     &value))
				return fail_line(reader,
						 "%.*s %.*s is not a whole number from 0 to %"
						 PRIu64, shown(&key), key.at,
						 shown(&word), word.at, max);
			if (slot)
				*slot = value;
			slot = NULL;
			continue;
		}
		if (slot)
			return fail_line(reader, "%.*s without a number",
					 shown(&key), key.at);
		key = word;
		slot = header_slot(&reader->header, key);
	}
	return slot ? fail_line(reader, "%.*s without a number", shown(&key),
				key.at) : 0;
}

static int check_layout(struct reader *reader, unsigned int ranks)
{
	struct header *header = &reader->header;

	if (ranks && header->ranks && header->ranks != ranks)
		return fail_line(reader, "--ranks %u, but all_gpus %" PRIu64,
				 ranks, header->ranks);
	if (ranks)
		header->ranks = ranks;
	if (!header->ranks)
		return fail_line(reader,
				 "no all_gpus: the number of ranks must be given (--ranks)");
	if (header->ranks > LACE_IMPORT_MAX_RANKS)
		return fail_line(reader, "more than %u ranks",
				 LACE_IMPORT_MAX_RANKS);
	if (!header->tp || !header->pp || !header->ep)
		return fail_line(reader, "%s is 0",
				 !header->tp ? "model_parallel_NPU_group" :
				 !header->pp ? "pp" : "ep");
	if (header->ranks % (header->tp * header->pp))
		return fail_line(reader, "%" PRIu64 " ranks do not divide by TP %"
				 PRIu64 " x PP %" PRIu64, header->ranks,
				 header->tp, header->pp);
	reader->dp = header->ranks / (header->tp * header->pp);
	if (reader->dp % header->ep)
		return fail_line(reader, "DP %" PRIu64 " does not divide by ep %"
				 PRIu64, reader->dp, header->ep);
	return 0;
}

static int read_header(struct reader *reader, unsigned int ranks)
{
	reader->header = (struct header){ .tp = 1, .ep = 1, .pp = 1 };
	if (read_policy(reader) || read_keys(reader) ||
	    check_layout(reader, ranks))
		return -1;
	next_line(reader);
	return 0;
}

/* ---- layers ---- */

static bool take_suffix(struct word *word, const char *suffix)
{
	size_t len = strlen(suffix);

	if (word->len <= len ||
	    memcmp(word->at + word->len - len, suffix, len))
		return false;
	word->len -= len;
	return true;
}

static int read_entry(struct reader *reader, struct word kind,
		      const struct word *size, bool weights,
		      struct entry *entry)
{
	static const struct {
		const char *name;
		enum lace_collective collective;
	} kinds[] = {
		{ "ALLREDUCE", LACE_ALL_REDUCE },
		{ "REDUCESCATTER", LACE_REDUCE_SCATTER },
		{ "ALLGATHER", LACE_ALL_GATHER },
		{ "ALLTOALL", LACE_ALL_TO_ALL },
		{ "BROADCAST", LACE_BROADCAST },
		{ "REDUCE", LACE_REDUCE },
	};
	struct word whole = kind;
	size_t i;

	if (!lace_scan_whole(size->at, size->len, LACE_IMPORT_MAX_BYTES,
			     &entry->bytes))
		return fail_line(reader,
				 "size \"%.*s\" is not a whole number from 0 to %llu",
				 shown(size), size->at, LACE_IMPORT_MAX_BYTES);
	if (is(&kind, "NONE"))
		return 0;
	entry->any = true;
	entry->where = weights ? OVER_DP : OVER_TP;
	if (take_suffix(&kind, "_DP_EP"))
		entry->where = OVER_DP_EP;
	else if (take_suffix(&kind, "_EP"))
		entry->where = OVER_EP;
	if (reader->header.all)
		entry->where = OVER_ALL;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!is(&kind, kinds[i].name))
			continue;
		entry->collective = kinds[i].collective;
		return 0;
	}
	return fail_line(reader, "unknown collective \"%.*s\"", shown(&whole),
			 whole.at);
}

static int read_layer(struct reader *reader, struct layer *layer)
{
	struct word columns[NR_COLUMNS], word;
	unsigned int nr = 0, i;

	while (next_word(reader, &word)) {
		if (nr < NR_COLUMNS)
			columns[nr] = word;
		nr++;
	}
	if (nr != NR_COLUMNS)
		return fail_line(reader, "%u columns, where a layer has %u", nr,
				 NR_COLUMNS);
	for (i = 0; i < 3; i++)
		if (read_entry(reader, columns[3 + 3 * i], &columns[4 + 3 * i],
			       i == 2, &layer->entries[i]))
			return -1;
	next_line(reader);
	return 0;
}

/* Past lines without a word; whether there is another. */
static bool more_lines(struct reader *reader)
{
	struct word word;

	while (reader->at < reader->end) {
		if (next_word(reader, &word)) {
			reader->at = word.at;
			return true;
		}
		next_line(reader);
	}
	return false;
}

static int read_layers(struct reader *reader)
{
	struct word word, rest;
	size_t room = 0;
	uint64_t nr;

	if (!more_lines(reader))
		return fail_line(reader, "no number of layers");
	if (!next_word(reader, &word) ||
	    !lace_scan_whole(word.at, word.len, LACE_IMPORT_MAX_NODES, &nr) ||
	    next_word(reader, &rest))
		return fail_line(reader, "\"%.*s\" is not the number of layers",
				 shown(&word), word.at);
	next_line(reader);
	while (more_lines(reader)) {
		if (reader->nr_layers == nr)
			return fail_line(reader, "more than %" PRIu64
					 " layers, which the file says it has",
					 nr);
		if (lace_import_grow(&reader->layers, &room,
				     reader->nr_layers + 1,
				     sizeof(*reader->layers), reader->err))
			return -1;
		memset(&reader->layers[reader->nr_layers], 0,
		       sizeof(*reader->layers));
		if (read_layer(reader, &reader->layers[reader->nr_layers]))
			return -1;
		reader->nr_layers++;
	}
	if (reader->nr_layers < nr)
		return fail_line(reader, "%zu layers, where the file says it has %"
				 PRIu64, reader->nr_layers, nr);
	return 0;
}

/* ---- ops ---- */

struct builder {
	const struct reader *reader;
	struct lace_schedule *schedule;
	size_t room, zero_bytes, single_rank;
	uint64_t nr_groups;
	unsigned int *ranks;		/* of one group */
	struct lace_error *err;
};

/* Groups of nr ranks, stride apart. */
struct shape {
	uint64_t nr, stride;
};

static struct shape shape_of(const struct reader *reader, enum where where)
{
	const struct header *h = &reader->header;

	switch (where) {
	case OVER_TP:
		return (struct shape){ h->tp, 1 };
	case OVER_DP:
		return (struct shape){ reader->dp, h->tp };
	case OVER_EP:
		return (struct shape){ h->ep, h->tp };
	case OVER_DP_EP:
		return (struct shape){ reader->dp / h->ep, h->tp * h->ep };
	default:
		return (struct shape){ h->ranks, 1 };
	}
}

/* Groups tile the ranks in blocks of nr x stride: in each block there is one
 * for each rank of the first stride, and they come in the order of that rank.
 */
static int fill_groups(struct builder *b, struct shape shape,
		       struct lace_part *part)
{
	uint64_t ranks = b->reader->header.ranks, block, first, i;
	unsigned int g = 0;

	for (block = 0; block < ranks; block += shape.nr * shape.stride) {
		for (first = block; first < block + shape.stride; first++) {
			for (i = 0; i < shape.nr; i++)
				b->ranks[i] = first + i * shape.stride;
			if (lace_ops_group(&part->groups[g++], b->ranks,
					   shape.nr, b->err))
				return -1;
		}
	}
	return 0;
}

static int add_entry(struct builder *b, const struct entry *entry)
{
	unsigned int nr_ops = b->schedule->nr_ops;
	struct shape shape;
	struct lace_op op;

	if (!entry->any)
		return 0;
	shape = shape_of(b->reader, entry->where);
	b->zero_bytes += !entry->bytes;
	b->single_rank += entry->bytes && shape.nr == 1;
	if (!entry->bytes || shape.nr == 1)
		return 0;
	if (lace_ops_make(&op, entry->collective,
			  b->reader->header.ranks / shape.nr, b->err))
		return -1;
	op.parts->bytes = entry->bytes;
	if (fill_groups(b, shape, op.parts)) {
		lace_ops_free(&op);
		return -1;
	}
	if (lace_ops_append(b->schedule, &b->room, &op, b->err))
		return -1;
	if (b->schedule->nr_ops > nr_ops)
		b->nr_groups += b->reader->header.ranks / shape.nr;
	if (b->nr_groups > MAX_GROUPS)
		return lace_import_fail(b->err, b->reader->file, 0,
					"more than %u groups in all ops",
					MAX_GROUPS);
	return 0;
}

static int build(struct builder *b)
{
	const struct reader *reader = b->reader;
	size_t i;

	b->schedule->nr_ranks = reader->header.ranks;
	b->ranks = malloc(reader->header.ranks * sizeof(*b->ranks));
	if (!b->ranks)
		return lace_import_no_memory(b->err);
	for (i = 0; i < reader->nr_layers; i++)
		if (add_entry(b, &reader->layers[i].entries[0]))
			return -1;
	for (i = reader->nr_layers; i--;)
		if (add_entry(b, &reader->layers[i].entries[1]) ||
		    add_entry(b, &reader->layers[i].entries[2]))
			return -1;
	return 0;
}

static void report_rest(const struct builder *b, FILE *report)
{
	if (b->reader->header.pp_comm)
		fprintf(report,
			"warning: pp_comm %" PRIu64
			" has no order in the file, so pipeline traffic is left out\n",
			b->reader->header.pp_comm);
	lace_import_report_skipped(b->zero_bytes, 0, b->single_rank, 0, report);
}

/**
 * lace_import_simai() - a schedule from a workload of ASTRA-sim 1.0 or SimAI
 * @spec: one file, and the number of ranks where that does not tell it
 * @schedule: ranks and ops are filled in
 * @report: for warnings
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_import_simai(const struct lace_import *spec,
		      struct lace_schedule *schedule, FILE *report,
		      struct lace_error *err)
{
	struct reader reader = {
		.file = spec->files[0],
		.line = 1,
		.err = err,
	};
	struct builder b = {
		.reader = &reader,
		.schedule = schedule,
		.err = err,
	};
	char *text;
	size_t len;
	int ret;

	ret = lace_input_text(reader.file, LACE_IMPORT_MAX_TEXT, &text, &len,
			      err);
	if (ret)
		return ret;
	reader.at = text;
	reader.end = text + len;
	ret = read_header(&reader, spec->ranks);
	if (!ret)
		ret = read_layers(&reader);
	if (!ret)
		ret = build(&b);
	if (!ret)
		report_rest(&b, report);
	free(b.ranks);
	free(reader.layers);
	free(text);
	return ret;
}
