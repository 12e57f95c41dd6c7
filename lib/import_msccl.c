// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * MSCCL algorithms (XML): for each GPU thread blocks, each a row of steps that
 * send to one peer and receive from one.  An algorithm has no size of its own;
 * --bytes says how much one operation moves, in nchunksperloop chunks.
 *
 * A step that receives and sends is two nodes, so that the send waits for the
 * receive of the same step.  Steps are found by (thread block, step) once a GPU
 * is complete, because they may wait for thread blocks that come later.
 */
#include "import.h"

#include <expat.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum depth {
	OUTSIDE,
	IN_ALGO,
	IN_GPU,
	IN_TB,
	IN_STEP,
};

static const char *const elements[] = { "algo", "gpu", "tb", "step" };

struct step {
	unsigned int tb, line;
	bool sends, receives;
	uint64_t bytes;
	long dep_tb, dep_step;		/* dep_tb below 0: none */
	unsigned int id;		/* of its first node */
};

struct tb {
	uint64_t id;
	size_t first_step, nr_steps;
	long send, recv;		/* below 0: none */
	uint64_t chan;
};

struct reader {
	const char *file;
	XML_Parser parser;
	struct lace_error *err;
	int ret;			/* of what went wrong in a handler */
	uint64_t bytes;			/* --bytes, or 0 */
	enum depth depth;
	bool seen_algo, started;	/* trace is there */
	struct lace_trace trace;
	uint64_t nr_chunks;
	/* of the GPU under way */
	unsigned int rank;
	struct tb *tbs;
	struct step *steps;
	size_t nr_tbs, nr_steps, room_tbs, room_steps;
};

static unsigned int line_of(const struct reader *reader)
{
	return XML_GetCurrentLineNumber(reader->parser);
}

#define fail_here(reader, ...) \
	lace_import_fail((reader)->err, (reader)->file, line_of(reader), \
			 __VA_ARGS__)

/* ---- attributes ---- */

static const char *find_attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

/* A whole number up to max; missing is 0 where that is allowed. */
static int get_whole(struct reader *reader, const char **attributes,
		     const char *name, bool optional, uint64_t max,
		     uint64_t *value)
{
	const char *text = find_attribute(attributes, name);

	*value = 0;
	if (!text && optional)
		return 0;
	if (!text)
		return fail_here(reader, "%s without %s",
				 elements[reader->depth], name);
	if (!lace_scan_whole(text, strlen(text), max, value))
		return fail_here(reader,
				 "%s=\"%.40s\" is not a whole number from 0 to %"
				 PRIu64, name, text, max);
	return 0;
}

/* A number up to max, or -1, or missing, for none. */
static int get_or_none(struct reader *reader, const char **attributes,
		       const char *name, uint64_t max, long *value)
{
	const char *text = find_attribute(attributes, name);
	uint64_t whole;

	*value = -1;
	if (!text || !strcmp(text, "-1"))
		return 0;
	if (get_whole(reader, attributes, name, false, max, &whole))
		return -1;
	*value = whole;
	return 0;
}

/* ---- elements ---- */

static int check_bytes(struct reader *reader, const char **attributes)
{
	uint64_t min, max;

	if (get_whole(reader, attributes, "minBytes", true, UINT64_MAX, &min) ||
	    get_whole(reader, attributes, "maxBytes", true, UINT64_MAX, &max))
		return -1;
	if (!reader->bytes)
		return lace_import_fail(reader->err, reader->file, 0,
					"the bytes of the operation must be given (--bytes)");
	if (reader->bytes < min || (max && reader->bytes > max))
		return fail_here(reader,
				 "--bytes %" PRIu64 " is outside minBytes %"
				 PRIu64 " .. maxBytes %" PRIu64,
				 reader->bytes, min, max);
	if (reader->bytes % reader->nr_chunks)
		return fail_here(reader,
				 "--bytes %" PRIu64 " does not divide by nchunksperloop %"
				 PRIu64, reader->bytes, reader->nr_chunks);
	return 0;
}

static int start_algo(struct reader *reader, const char **attributes)
{
	uint64_t nr_gpus;
	unsigned int r;

	if (reader->seen_algo)
		return fail_here(reader, "a second algo");
	reader->seen_algo = true;
	if (get_whole(reader, attributes, "ngpus", false,
		      LACE_IMPORT_MAX_RANKS, &nr_gpus) ||
	    get_whole(reader, attributes, "nchunksperloop", false,
		      LACE_IMPORT_MAX_BYTES, &reader->nr_chunks))
		return -1;
	if (!nr_gpus || !reader->nr_chunks)
		return fail_here(reader, "%s is 0",
				 nr_gpus ? "nchunksperloop" : "ngpus");
	if (check_bytes(reader, attributes))
		return -1;
	reader->started = true;
	if (lace_trace_init(&reader->trace, nr_gpus, "step", reader->err))
		return -1;
	for (r = 0; r < nr_gpus; r++)
		reader->trace.ranks[r].file = reader->file;
	return 0;
}

static int start_gpu(struct reader *reader, const char **attributes)
{
	uint64_t id;

	if (get_whole(reader, attributes, "id", false,
		      reader->trace.nr_ranks - 1, &id))
		return -1;
	if (reader->trace.ranks[id].nr_nodes)
		return fail_here(reader, "a second gpu %" PRIu64, id);
	reader->rank = id;
	reader->nr_tbs = 0;
	reader->nr_steps = 0;
	return 0;
}

static int start_tb(struct reader *reader, const char **attributes)
{
	unsigned int last = reader->trace.nr_ranks - 1;
	struct tb tb = { .first_step = reader->nr_steps };

	if (get_whole(reader, attributes, "id", false, UINT32_MAX, &tb.id) ||
	    get_whole(reader, attributes, "chan", true, UINT32_MAX, &tb.chan) ||
	    get_or_none(reader, attributes, "send", last, &tb.send) ||
	    get_or_none(reader, attributes, "recv", last, &tb.recv) ||
	    lace_import_grow(&reader->tbs, &reader->room_tbs,
			     reader->nr_tbs + 1, sizeof(tb), reader->err))
		return -1;
	reader->tbs[reader->nr_tbs++] = tb;
	return 0;
}

static int step_type(struct reader *reader, const char *type,
		     struct step *step)
{
	static const struct {
		const char *name;
		bool sends, receives;
	} types[] = {
		{ "s", true, false },	{ "r", false, true },
		{ "rcs", true, true },	{ "rrs", true, true },
		{ "rrcs", true, true }, { "rrc", false, true },
		{ "cpy", false, false }, { "re", false, false },
		{ "nop", false, false },
	};
	size_t i;

	if (!type)
		return fail_here(reader, "step without type");
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(type, types[i].name))
			continue;
		step->sends = types[i].sends;
		step->receives = types[i].receives;
		return 0;
	}
	return fail_here(reader, "step of unknown type \"%.40s\"", type);
}

static int step_bytes(struct reader *reader, const char **attributes,
		      struct step *step)
{
	uint64_t chunk = reader->bytes / reader->nr_chunks, cnt;

	if (!step->sends && !step->receives)
		return 0;
	if (get_whole(reader, attributes, "cnt", false, LACE_IMPORT_MAX_BYTES,
		      &cnt))
		return -1;
	if (cnt > LACE_IMPORT_MAX_BYTES / chunk)
		return fail_here(reader,
				 "%" PRIu64 " chunks of %" PRIu64
				 " bytes are out of range 0..%llu",
				 cnt, chunk, LACE_IMPORT_MAX_BYTES);
	step->bytes = cnt * chunk;
	return 0;
}

static int start_step(struct reader *reader, const char **attributes)
{
	struct tb *tb = &reader->tbs[reader->nr_tbs - 1];
	struct step step = {
		.tb = reader->nr_tbs - 1,
		.line = line_of(reader),
	};
	uint64_t s;

	if (step_type(reader, find_attribute(attributes, "type"), &step) ||
	    step_bytes(reader, attributes, &step) ||
	    get_whole(reader, attributes, "s", false, UINT32_MAX, &s) ||
	    get_or_none(reader, attributes, "depid", UINT32_MAX,
			&step.dep_tb) ||
	    get_or_none(reader, attributes, "deps", UINT32_MAX,
			&step.dep_step))
		return -1;
	if (s != tb->nr_steps)
		return fail_here(reader,
				 "step %" PRIu64 " where step %zu is due", s,
				 tb->nr_steps);
	if (step.sends && tb->send < 0)
		return fail_here(reader, "a step sends, but its tb has no send");
	if (step.receives && tb->recv < 0)
		return fail_here(reader,
				 "a step receives, but its tb has no recv");
	if ((step.dep_tb < 0) != (step.dep_step < 0))
		return fail_here(reader, "depid without deps, or deps without depid");
	if (lace_import_grow(&reader->steps, &reader->room_steps,
			     reader->nr_steps + 1, sizeof(step), reader->err))
		return -1;
	reader->steps[reader->nr_steps++] = step;
	tb->nr_steps++;
	return 0;
}

/* ---- a GPU that is complete ---- */

static int compare_tbs(const void *a, const void *b)
{
	const struct tb *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->first_step < y->first_step ? -1 :
	       x->first_step > y->first_step;
}

static unsigned int last_node(const struct step *step)
{
	return step->id + (step->sends && step->receives);
}

static int add_node(struct reader *reader, const struct step *step,
		    unsigned int id, bool send, const struct tb *tb)
{
	struct lace_call call = {
		.kind = send ? LACE_CALL_SEND : LACE_CALL_RECV,
		.peer = send ? tb->send : tb->recv,
		.tag = tb->chan,
		.bytes = step->bytes,
	};
	int ret;

	ret = lace_trace_node(&reader->trace, reader->rank, id, step->line,
			      reader->err);
	if (!ret && (step->sends || step->receives))
		ret = lace_trace_call(&reader->trace, reader->rank, &call,
				      reader->err);
	return ret;
}

static int wait_for(struct reader *reader, unsigned int id)
{
	return lace_trace_wait(&reader->trace, reader->rank, id, false,
			       reader->err);
}

/* The step that step waits for in another thread block. */
static int wait_for_dep(struct reader *reader, const struct step *step)
{
	const struct tb key = { .id = step->dep_tb, .first_step = SIZE_MAX };
	size_t low = 0, high = reader->nr_tbs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_tbs(&reader->tbs[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || reader->tbs[low - 1].id != (uint64_t)step->dep_tb ||
	    reader->tbs[low - 1].nr_steps <= (size_t)step->dep_step)
		return lace_import_fail(reader->err, reader->file, step->line,
					"waits for step %ld of tb %ld, which gpu %u does not have",
					step->dep_step, step->dep_tb,
					reader->rank);
	return wait_for(reader,
			last_node(&reader->steps[reader->tbs[low - 1].first_step +
						 step->dep_step]));
}

static int add_step(struct reader *reader, const struct step *step,
		    const struct step *before, const struct tb *tb)
{
	int ret;

	ret = add_node(reader, step, step->id, !step->receives, tb);
	if (!ret && before)
		ret = wait_for(reader, last_node(before));
	if (!ret && step->dep_tb >= 0)
		ret = wait_for_dep(reader, step);
	if (!ret && step->sends && step->receives) {
		ret = add_node(reader, step, step->id + 1, true, tb);
		if (!ret)
			ret = wait_for(reader, step->id);
	}
	return ret;
}

static int end_gpu(struct reader *reader)
{
	unsigned int id = 0;
	size_t i, k;
	int ret = 0;

	for (i = 0; i < reader->nr_steps; i++) {
		reader->steps[i].id = id;
		id = last_node(&reader->steps[i]) + 1;
	}
	if (reader->nr_tbs)
		qsort(reader->tbs, reader->nr_tbs, sizeof(*reader->tbs),
		      compare_tbs);
	for (i = 1; i < reader->nr_tbs; i++)
		if (reader->tbs[i - 1].id == reader->tbs[i].id)
			return fail_here(reader, "gpu %u has two tb %" PRIu64,
					 reader->rank, reader->tbs[i].id);
	for (i = 0; i < reader->nr_tbs; i++) {
		const struct tb *tb = &reader->tbs[i];

		for (k = 0; k < tb->nr_steps && !ret; k++) {
			const struct step *step =
				&reader->steps[tb->first_step + k];

			ret = add_step(reader, step, k ? step - 1 : NULL, tb);
		}
	}
	return ret ? ret : lace_trace_finish_rank(&reader->trace, reader->rank,
						  reader->err);
}

/* ---- the file ---- */

static void on_start(void *data, const char *name, const char **attributes)
{
	static int (*const start[])(struct reader *reader,
				    const char **attributes) = {
		start_algo, start_gpu, start_tb, start_step,
	};
	struct reader *reader = data;

	if (reader->ret)
		return;
	if (reader->depth == IN_STEP)
		reader->ret = fail_here(reader, "<%.40s> inside <step>", name);
	else if (strcmp(name, elements[reader->depth]))
		reader->ret = fail_here(reader, "<%.40s> where <%s> is due",
					name, elements[reader->depth]);
	else
		reader->ret = start[reader->depth](reader, attributes);
	reader->depth++;
	if (reader->ret)
		XML_StopParser(reader->parser, XML_FALSE);
}

static void on_end(void *data, const char *name)
{
	struct reader *reader = data;

	(void)name;
	if (reader->ret)
		return;
	if (reader->depth-- == IN_GPU)
		reader->ret = end_gpu(reader);
	if (reader->ret)
		XML_StopParser(reader->parser, XML_FALSE);
}

/* An algorithm needs no entities; hostile files do. */
static void on_doctype(void *data, const char *name, const char *system_id,
		       const char *public_id, int has_internal)
{
	struct reader *reader = data;

	(void)name;
	(void)system_id;
	(void)public_id;
	(void)has_internal;
	reader->ret = fail_here(reader, "a document type, which no algorithm has");
	XML_StopParser(reader->parser, XML_FALSE);
}

static int parse(struct reader *reader, struct lace_input *input)
{
	char buffer[65536];
	long got;

	do {
		got = lace_input_read(input, buffer, sizeof(buffer),
				      reader->err);
		if (got < 0)
			return -1;
		if (XML_Parse(reader->parser, buffer, got,
			      got < (long)sizeof(buffer)) == XML_STATUS_OK)
			continue;
		if (reader->ret)
			return reader->ret;
		return fail_here(reader, "not XML: %s",
				 XML_ErrorString(XML_GetErrorCode(
					 reader->parser)));
	} while (got == (long)sizeof(buffer));
	return 0;
}

static int read_file(struct reader *reader)
{
	struct lace_input *input;
	int ret;

	ret = lace_input_open(reader->file, &input, reader->err);
	if (ret)
		return ret;
	reader->parser = XML_ParserCreate(NULL);
	if (reader->parser) {
		XML_SetUserData(reader->parser, reader);
		XML_SetElementHandler(reader->parser, on_start, on_end);
		XML_SetStartDoctypeDeclHandler(reader->parser, on_doctype);
		ret = parse(reader, input);
		XML_ParserFree(reader->parser);
	} else {
		ret = lace_import_no_memory(reader->err);
	}
	lace_input_close(input);
	return ret;
}

/**
 * lace_import_msccl() - a schedule from an MSCCL algorithm
 * @spec: one file, and the bytes of one operation
 * @schedule: ranks and ops are filled in
 * @report: for warnings
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_import_msccl(const struct lace_import *spec,
		      struct lace_schedule *schedule, FILE *report,
		      struct lace_error *err)
{
	struct reader reader = {
		.file = spec->files[0],
		.bytes = spec->bytes,
		.err = err,
	};
	int ret;

	ret = read_file(&reader);
	if (!ret)
		ret = lace_trace_schedule(&reader.trace, schedule, report, err);
	if (reader.started)
		lace_trace_free(&reader.trace);
	free(reader.tbs);
	free(reader.steps);
	return ret;
}
