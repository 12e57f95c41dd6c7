// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * GOAL, the text form of LogGOPSim: for each rank a block of sends, receives
 * and calculations, which are free unless "requires" (the end of the other) or
 * "irequires" (its start) orders them.  Line ends mean nothing, labels are local
 * to a rank and may be used before they are set.
 */
#include "import.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A word, a number or a sign, where it stands in the text; len 0: the end. */
struct token {
	const char *at;
	size_t len;
	unsigned int line;
};

struct statement {
	unsigned int line;
	bool has_call;
	struct lace_call call;
};

struct label {
	struct token name;
	unsigned int statement;
};

struct require {
	struct token from, on;
	bool start;
	unsigned int statement;		/* that waits */
};

struct reader {
	const char *file;
	struct lace_trace *trace;
	const char *at, *end;
	unsigned int line;
	struct token token;		/* the next one */
	/* of the rank under way */
	unsigned int rank;
	struct statement *statements;
	struct label *labels;
	struct require *requires;
	size_t nr_statements, nr_labels, nr_requires;
	size_t room_statements, room_labels, room_requires;
};

/* ---- words ---- */

static int fail_at(const struct reader *reader, const struct token *token,
		   const char *what, struct lace_error *err)
{
	if (!token->len)
		return lace_import_fail(err, reader->file, token->line,
					"the file ends where %s is due", what);
	return lace_import_fail(err, reader->file, token->line,
				"\"%.*s\" where %s is due",
				token->len < 40 ? (int)token->len : 40,
				token->at, what);
}

/* Past blanks and comments. */
static int skip(struct reader *reader, struct lace_error *err)
{
	unsigned int began;

	while (reader->at < reader->end) {
		size_t left = reader->end - reader->at;

		if (isspace((unsigned char)*reader->at)) {
			reader->line += *reader->at++ == '\n';
		} else if (left > 1 && !memcmp(reader->at, "//", 2)) {
			while (reader->at < reader->end && *reader->at != '\n')
				reader->at++;
		} else if (left > 1 && !memcmp(reader->at, "/*", 2)) {
			began = reader->line;
			reader->at += 2;
			while (reader->end - reader->at > 1 &&
			       memcmp(reader->at, "*/", 2))
				reader->line += *reader->at++ == '\n';
			if (reader->end - reader->at < 2)
				return lace_import_fail(err, reader->file,
							began,
							"a comment that does not end");
			reader->at += 2;
		} else {
			break;
		}
	}
	return 0;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Moves on to the next token. */
static int next(struct reader *reader, struct lace_error *err)
{
	struct token *token = &reader->token;
	int ret = skip(reader, err);

	if (ret)
		return ret;
	*token = (struct token){ .at = reader->at, .line = reader->line };
	while (reader->at < reader->end && in_word(*reader->at))
		reader->at++;
	if (reader->at == token->at && reader->at < reader->end)
		reader->at++;
	token->len = reader->at - token->at;
	return 0;
}

static bool is(const struct token *token, const char *word)
{
	return token->len == strlen(word) &&
	       !memcmp(token->at, word, token->len);
}

static int expect(struct reader *reader, const char *word,
		  struct lace_error *err)
{
	char what[32];

	if (is(&reader->token, word))
		return next(reader, err);
	snprintf(what, sizeof(what), "\"%s\"", word);
	return fail_at(reader, &reader->token, what, err);
}

static int read_number(struct reader *reader, const char *what, uint64_t max,
		       uint64_t *value, struct lace_error *err)
{
	const struct token *token = &reader->token;

	if (!lace_scan_whole(token->at, token->len, max, value))
		return fail_at(reader, token, what, err);
	return next(reader, err);
}

/* ---- statements ---- */

/* The size, as "4096b". */
static int read_size(struct reader *reader, uint64_t *bytes,
		     struct lace_error *err)
{
	struct token size = reader->token;

	if (size.len > 1 && size.at[size.len - 1] == 'b')
		size.len--;
	if (!lace_scan_whole(size.at, size.len, LACE_IMPORT_MAX_BYTES, bytes))
		return fail_at(reader, &reader->token,
			       "a size from 0b to 9007199254740992b", err);
	return next(reader, err);
}

/* "tag N", "cpu N", "nic N", in any order. */
static int read_options(struct reader *reader, struct lace_call *call,
			struct lace_error *err)
{
	uint64_t ignored;
	int ret = 0;

	while (!ret) {
		bool tag = call && is(&reader->token, "tag");

		if (!tag && !is(&reader->token, "cpu") &&
		    !is(&reader->token, "nic"))
			return 0;
		ret = next(reader, err);
		if (!ret)
			ret = read_number(reader, tag ?
					  "a tag (one that matches any is not supported)" :
					  "a number", UINT64_MAX,
					  tag ? &call->tag : &ignored, err);
	}
	return ret;
}

static int read_transfer(struct reader *reader, bool send,
			 struct lace_call *call, struct lace_error *err)
{
	uint64_t peer;
	int ret;

	*call = (struct lace_call){
		.kind = send ? LACE_CALL_SEND : LACE_CALL_RECV,
	};
	ret = next(reader, err);
	if (!ret)
		ret = read_size(reader, &call->bytes, err);
	if (!ret)
		ret = expect(reader, send ? "to" : "from", err);
	if (ret)
		return ret;
	if (!lace_scan_whole(reader->token.at, reader->token.len,
			     reader->trace->nr_ranks - 1, &peer))
		return fail_at(reader, &reader->token,
			       "a rank below num_ranks (any rank is not supported)",
			       err);
	call->peer = peer;
	ret = next(reader, err);
	return ret ? ret : read_options(reader, call, err);
}

static int read_action(struct reader *reader, struct lace_error *err)
{
	struct statement *statement;
	uint64_t ignored;
	int ret;

	ret = lace_import_grow(&reader->statements, &reader->room_statements,
			       reader->nr_statements + 1,
			       sizeof(*reader->statements), err);
	if (ret)
		return ret;
	statement = &reader->statements[reader->nr_statements];
	statement->line = reader->token.line;
	statement->has_call = !is(&reader->token, "calc");
	reader->nr_statements++;
	if (is(&reader->token, "send") || is(&reader->token, "recv"))
		return read_transfer(reader, is(&reader->token, "send"),
				     &statement->call, err);
	if (statement->has_call)
		return fail_at(reader, &reader->token,
			       "send, recv, calc or a label", err);
	ret = next(reader, err);
	if (!ret)
		ret = read_number(reader, "a number", UINT64_MAX, &ignored,
				  err);
	return ret ? ret : read_options(reader, NULL, err);
}

static int read_require(struct reader *reader, const struct token *from,
			struct lace_error *err)
{
	struct require *require;
	int ret;

	ret = lace_import_grow(&reader->requires, &reader->room_requires,
			       reader->nr_requires + 1,
			       sizeof(*reader->requires), err);
	if (ret)
		return ret;
	require = &reader->requires[reader->nr_requires++];
	require->from = *from;
	require->start = is(&reader->token, "irequires");
	ret = next(reader, err);
	if (ret)
		return ret;
	require->on = reader->token;
	if (!require->on.len || !in_word(*require->on.at))
		return fail_at(reader, &reader->token, "a label", err);
	return next(reader, err);
}

static bool is_action(const struct token *token)
{
	return is(token, "send") || is(token, "recv") || is(token, "calc");
}

static int read_statement(struct reader *reader, struct lace_error *err)
{
	struct token first = reader->token;
	int ret;

	if (is_action(&first) || !first.len || !in_word(*first.at))
		return read_action(reader, err);
	ret = next(reader, err);
	if (ret)
		return ret;
	if (is(&reader->token, "requires") || is(&reader->token, "irequires"))
		return read_require(reader, &first, err);
	ret = expect(reader, ":", err);
	if (!ret)
		ret = lace_import_grow(&reader->labels, &reader->room_labels,
				       reader->nr_labels + 1,
				       sizeof(*reader->labels), err);
	if (ret)
		return ret;
	reader->labels[reader->nr_labels].name = first;
	reader->labels[reader->nr_labels++].statement = reader->nr_statements;
	return read_action(reader, err);
}

/* ---- a rank ---- */

static int compare_labels(const void *a, const void *b)
{
	const struct label *x = a, *y = b;
	size_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
	int c = memcmp(x->name.at, y->name.at, len);

	if (c)
		return c;
	return x->name.len < y->name.len ? -1 : x->name.len > y->name.len;
}

static int compare_requires(const void *a, const void *b)
{
	const struct require *x = a, *y = b;

	return x->statement < y->statement ? -1 : x->statement > y->statement;
}

static const struct label *find_label(const struct reader *reader,
				      const struct token *name)
{
	const struct label key = { .name = *name };

	if (!reader->nr_labels)
		return NULL;
	return bsearch(&key, reader->labels, reader->nr_labels, sizeof(key),
		       compare_labels);
}

static int resolve_labels(struct reader *reader, struct lace_error *err)
{
	size_t i;

	if (reader->nr_labels)
		qsort(reader->labels, reader->nr_labels,
		      sizeof(*reader->labels), compare_labels);
	for (i = 1; i < reader->nr_labels; i++)
		if (!compare_labels(&reader->labels[i - 1],
				    &reader->labels[i]))
			return fail_at(reader, &reader->labels[i].name,
				       "a label that is not taken", err);
	for (i = 0; i < reader->nr_requires; i++) {
		const struct label *from =
			find_label(reader, &reader->requires[i].from);

		if (!from)
			return fail_at(reader, &reader->requires[i].from,
				       "a label of this rank", err);
		reader->requires[i].statement = from->statement;
	}
	if (reader->nr_requires)
		qsort(reader->requires, reader->nr_requires,
		      sizeof(*reader->requires), compare_requires);
	return 0;
}

/* Statements of the rank become nodes, numbered in the order of the text. */
static int add_nodes(struct reader *reader, struct lace_error *err)
{
	const struct label *on;
	size_t i, k = 0;
	int ret = 0;

	for (i = 0; i < reader->nr_statements && !ret; i++) {
		const struct statement *statement = &reader->statements[i];

		ret = lace_trace_node(reader->trace, reader->rank, i,
				      statement->line, err);
		for (; !ret && k < reader->nr_requires &&
		     reader->requires[k].statement == i; k++) {
			on = find_label(reader, &reader->requires[k].on);
			ret = lace_trace_wait(reader->trace, reader->rank,
					      on ? on->statement : UINT64_MAX,
					      reader->requires[k].start, err);
		}
		if (!ret && statement->has_call)
			ret = lace_trace_call(reader->trace, reader->rank,
					      &statement->call, err);
	}
	return ret;
}

static int read_rank(struct reader *reader, struct lace_error *err)
{
	struct token number;
	uint64_t rank;
	int ret;

	ret = expect(reader, "rank", err);
	number = reader->token;
	if (!ret)
		ret = read_number(reader, "a rank below num_ranks",
				  reader->trace->nr_ranks - 1, &rank, err);
	if (!ret)
		ret = expect(reader, "{", err);
	if (ret)
		return ret;
	if (reader->trace->ranks[rank].nr_nodes)
		return fail_at(reader, &number, "a rank without a block", err);
	reader->rank = rank;
	reader->nr_statements = 0;
	reader->nr_labels = 0;
	reader->nr_requires = 0;
	while (!ret && !is(&reader->token, "}"))
		ret = read_statement(reader, err);
	if (!ret)
		ret = resolve_labels(reader, err);
	if (!ret)
		ret = add_nodes(reader, err);
	if (!ret)
		ret = lace_trace_finish_rank(reader->trace, rank, err);
	return ret ? ret : next(reader, err);
}

/* ---- the file ---- */

static int read_ranks(struct reader *reader, struct lace_error *err)
{
	uint64_t nr_ranks;
	unsigned int r;
	int ret;

	reader->line = 1;
	ret = next(reader, err);
	if (!ret)
		ret = expect(reader, "num_ranks", err);
	if (!ret)
		ret = read_number(reader, "the number of ranks",
				  LACE_IMPORT_MAX_RANKS, &nr_ranks, err);
	if (ret)
		return ret;
	if (!nr_ranks)
		return lace_import_fail(err, reader->file, 1, "no ranks");
	ret = lace_trace_init(reader->trace, nr_ranks, "statement", err);
	if (ret)
		return ret;
	for (r = 0; r < nr_ranks; r++)
		reader->trace->ranks[r].file = reader->file;
	while (!ret && reader->token.len)
		ret = read_rank(reader, err);
	return ret;
}

/**
 * lace_import_goal() - a schedule from LogGOPSim's GOAL text
 * @spec: one file
 * @schedule: ranks and ops are filled in
 * @report: for warnings
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_import_goal(const struct lace_import *spec,
		     struct lace_schedule *schedule, FILE *report,
		     struct lace_error *err)
{
	struct lace_trace trace = { 0 };
	struct reader reader = { .file = spec->files[0], .trace = &trace };
	char *text;
	size_t len;
	int ret;

	ret = lace_input_text(reader.file, LACE_IMPORT_MAX_TEXT, &text, &len,
			      err);
	if (ret)
		return ret;
	reader.at = text;
	reader.end = text + len;
	ret = read_ranks(&reader, err);
	if (!ret)
		ret = lace_trace_schedule(&trace, schedule, report, err);
	lace_trace_free(&trace);
	free(reader.statements);
	free(reader.labels);
	free(reader.requires);
	free(text);
	return ret;
}
