// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * MLCommons Chakra execution traces (.et): protobuf, one file a rank, in the
 * layout since 2023-10-10, which chakra.proto describes.
 *
 * DESIGN NOTES
 *
 * Files are read message by message, so that only one message is in memory
 * besides the trace.  Nodes stand in any order, and the node that tells what
 * the names of process groups mean may come after those that use them, so
 * groups are resolved at the end of each file.
 *
 * Before 2023-10-10 other fields had these numbers and collectives other
 * numbers still; a version string does not tell the two apart, the layout does:
 * the first message begins with a message and not with a text, nodes have
 * attributes in field 11, and text in fields that now hold numbers.
 */
#include "import.h"

#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "chakra.pb-c.h"

#define MAX_MESSAGE (64u << 20)
#define MAX_INIT_TEXT (16u << 20)
#define READ_STEP (1u << 20)
#define TWO_TO_64 18446744073709551616.0
#define INIT_NAME "## process_group:init ##"

enum node_type {
	NODE_SEND = 5,
	NODE_RECV = 6,
	NODE_COLLECTIVE = 7,
	NODE_LAST = 10,
};

/* A name of a group as calls use it. */
struct group_name {
	char *text;
	unsigned int comm;
};

/* A call whose group is not resolved yet. */
struct pending {
	struct group_name *name;
	unsigned int node;
};

struct reader {
	const struct lace_import *spec;
	struct lace_trace *trace;
	struct lace_named_groups *given;	/* --groups, or NULL */
	/* of the file under way */
	unsigned int rank;
	const char *file;
	struct lace_named_groups noted;		/* process_group:init */
	void *names;				/* tree of struct group_name */
	struct pending *pending;
	size_t nr_pending, room_pending;
	uint8_t *message;
	size_t room_message;
};

/* ---- attributes ---- */

struct number {
	bool negative;
	uint64_t magnitude;
};

/* What is wrong with it as a number, NULL if nothing is. */
static const char *from_double(double value, struct number *number)
{
	if (isnan(value) || isinf(value))
		return "is not a finite number";
	if (value != floor(value))
		return "is not a whole number";
	if (fabs(value) >= TWO_TO_64)
		return "is too large";
	number->negative = value < 0;
	number->magnitude = fabs(value);
	return NULL;
}

static void from_signed(int64_t value, struct number *number)
{
	number->negative = value < 0;
	number->magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static const char *to_number(const Chakra__Attribute *attr,
			     struct number *number)
{
	*number = (struct number){ 0 };
	switch (attr->value_case) {
	case CHAKRA__ATTRIBUTE__VALUE_F64:
		return from_double(attr->f64, number);
	case CHAKRA__ATTRIBUTE__VALUE_F32:
		return from_double(attr->f32, number);
	case CHAKRA__ATTRIBUTE__VALUE_I32:
		from_signed(attr->i32, number);
		return NULL;
	case CHAKRA__ATTRIBUTE__VALUE_I64:
		from_signed(attr->i64, number);
		return NULL;
	case CHAKRA__ATTRIBUTE__VALUE_U32:
		number->magnitude = attr->u32;
		return NULL;
	case CHAKRA__ATTRIBUTE__VALUE_U64:
		number->magnitude = attr->u64;
		return NULL;
	case CHAKRA__ATTRIBUTE__VALUE_S32:
		from_signed(attr->s32, number);
		return NULL;
	case CHAKRA__ATTRIBUTE__VALUE_S64:
		from_signed(attr->s64, number);
		return NULL;
	case CHAKRA__ATTRIBUTE__VALUE_X32:
		number->magnitude = attr->x32;
		return NULL;
	case CHAKRA__ATTRIBUTE__VALUE_X64:
		number->magnitude = attr->x64;
		return NULL;
	case CHAKRA__ATTRIBUTE__VALUE_Y32:
		from_signed(attr->y32, number);
		return NULL;
	case CHAKRA__ATTRIBUTE__VALUE_Y64:
		from_signed(attr->y64, number);
		return NULL;
	default:
		return "is not a number";
	}
}

/* The attributes of a node that matter here, NULL where it has none. */
struct attributes {
	const Chakra__Attribute *is_cpu_op, *comm_type, *comm_size, *comm_src,
		*comm_dst, *comm_tag, *pg_name, *comm_group, *involved_dim;
};

static int fail_node(struct reader *reader, struct lace_error *err,
		     const char *what, const char *why)
{
	const struct lace_trace_rank *rank =
		&reader->trace->ranks[reader->rank];

	return lace_trace_fail(reader->trace, reader->rank,
			       &rank->nodes[rank->nr_nodes - 1], err, "%s %s",
			       what, why);
}

static int find_attributes(struct reader *reader, const Chakra__Node *node,
			   struct attributes *found, struct lace_error *err)
{
	const struct {
		const char *name;
		const Chakra__Attribute **slot;
	} wanted[] = {
		{ "is_cpu_op", &found->is_cpu_op },
		{ "comm_type", &found->comm_type },
		{ "comm_size", &found->comm_size },
		{ "comm_src", &found->comm_src },
		{ "comm_dst", &found->comm_dst },
		{ "comm_tag", &found->comm_tag },
		{ "pg_name", &found->pg_name },
		{ "comm_group", &found->comm_group },
		{ "involved_dim", &found->involved_dim },
	};
	size_t i, k;

	memset(found, 0, sizeof(*found));
	for (i = 0; i < node->n_attr; i++) {
		for (k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++) {
			if (strcmp(node->attr[i]->name, wanted[k].name))
				continue;
			if (*wanted[k].slot)
				return fail_node(reader, err, wanted[k].name,
						 "is there twice");
			*wanted[k].slot = node->attr[i];
		}
	}
	return 0;
}

/* A number from 0 to max. */
static int read_bounded(struct reader *reader, const Chakra__Attribute *attr,
			const char *name, uint64_t max, uint64_t *value,
			struct lace_error *err)
{
	struct number number;
	const char *wrong;
	char text[64];

	if (!attr)
		return fail_node(reader, err, name, "is missing");
	wrong = to_number(attr, &number);
	if (wrong)
		return fail_node(reader, err, name, wrong);
	if (number.magnitude > max ||
	    (number.negative && number.magnitude)) {
		snprintf(text, sizeof(text),
			 "%s%" PRIu64 " out of range 0..%" PRIu64,
			 number.negative ? "-" : "", number.magnitude, max);
		return fail_node(reader, err, name, text);
	}
	*value = number.magnitude;
	return 0;
}

/* ---- groups ---- */

static int compare_names(const void *a, const void *b)
{
	const struct group_name *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static void free_name(void *name)
{
	free(((struct group_name *)name)->text);
	free(name);
}

static struct group_name *intern(struct reader *reader, const char *text,
				 struct lace_error *err)
{
	struct group_name *name = malloc(sizeof(*name));
	struct group_name **slot;

	if (name) {
		name->comm = LACE_NONE;
		name->text = strdup(text);
	}
	if (!name || !name->text) {
		free(name);
		lace_no_memory(err);
		return NULL;
	}
	slot = tsearch(name, &reader->names, compare_names);
	if (!slot || *slot != name)
		free_name(name);
	if (!slot)
		lace_no_memory(err);
	return slot ? *slot : NULL;
}

/* Writers that keep names as numbers write those. */
static int name_text(struct reader *reader, const Chakra__Attribute *attr,
		     const char *what, char number_text[32], const char **text,
		     struct lace_error *err)
{
	struct number number;

	*text = "";
	if (!attr)
		return 0;
	if (attr->value_case == CHAKRA__ATTRIBUTE__VALUE_TEXT) {
		*text = attr->text;
		return 0;
	}
	if (to_number(attr, &number) || number.negative)
		return fail_node(reader, err, what, "is not a name");
	snprintf(number_text, 32, "%" PRIu64, number.magnitude);
	*text = number_text;
	return 0;
}

/* Without a name, a call may say which dimensions of the machine it spans; the
 * machine is not in the trace, so that has to be all of them.
 */
static int check_dimensions(struct reader *reader,
			    const Chakra__Attribute *attr,
			    struct lace_error *err)
{
	size_t i;

	if (!attr)
		return 0;
	if (attr->value_case == CHAKRA__ATTRIBUTE__VALUE_TRUTH && attr->truth)
		return 0;
	if (attr->value_case != CHAKRA__ATTRIBUTE__VALUE_TRUTHS)
		return fail_node(reader, err, "involved_dim",
				 "is not a list of true");
	for (i = 0; i < attr->truths->n_values; i++)
		if (!attr->truths->values[i])
			return fail_node(reader, err, "involved_dim",
					 "leaves out a dimension, and there is no pg_name");
	return 0;
}

static int add_pending(struct reader *reader, const struct attributes *attrs,
		       struct lace_error *err)
{
	struct pending *pending;
	char number_text[32];
	const char *text;
	int ret;

	ret = name_text(reader, attrs->pg_name, "pg_name", number_text, &text,
			err);
	if (!ret && !*text)
		ret = name_text(reader, attrs->comm_group, "comm_group",
				number_text, &text, err);
	if (!ret && !*text)
		ret = check_dimensions(reader, attrs->involved_dim, err);
	if (!ret)
		ret = lace_import_grow(&reader->pending, &reader->room_pending,
				       reader->nr_pending + 1,
				       sizeof(*reader->pending), err);
	if (ret)
		return ret;
	pending = &reader->pending[reader->nr_pending];
	pending->name = intern(reader, text, err);
	if (!pending->name)
		return -1;
	pending->node = reader->trace->ranks[reader->rank].nr_nodes - 1;
	reader->nr_pending++;
	return 0;
}

static int resolve(struct reader *reader, const struct pending *pending,
		   struct lace_error *err)
{
	struct lace_trace *trace = reader->trace;
	struct lace_trace_rank *rank = &trace->ranks[reader->rank];
	struct lace_trace_node *node = &rank->nodes[pending->node];
	struct lace_call *call = &rank->calls[node->call];
	struct group_name *name = pending->name;
	unsigned int nr;
	int ret;

	if (name->comm == LACE_NONE) {
		ret = lace_groups_comm(reader->given ? reader->given :
						       &reader->noted,
				       trace, name->text, &name->comm, err);
		if (ret)
			return ret;
	}
	if (name->comm == LACE_NONE)
		return lace_trace_fail(trace, reader->rank, node, err,
				       "group \"%.60s\" is not in %s",
				       name->text, reader->given ?
				       reader->spec->groups :
				       "the trace (name a file with --groups)");
	call->comm = name->comm;
	nr = trace->comms[name->comm].nr;
	if (call->kind == LACE_CALL_COLLECTIVE &&
	    call->collective == LACE_ALL_GATHER) {
		if (call->bytes > LACE_IMPORT_MAX_BYTES / nr)
			return lace_trace_fail(trace, reader->rank, node, err,
					       "comm_size %" PRIu64
					       " times %u ranks out of range 0..%llu",
					       call->bytes, nr,
					       LACE_IMPORT_MAX_BYTES);
		call->bytes *= nr;
	}
	return 0;
}

/* ---- calls ---- */

static int read_collective(struct reader *reader,
			   const struct attributes *attrs,
			   struct lace_error *err)
{
	static const struct {
		const char *refused;
		enum lace_call_kind kind;
		enum lace_collective collective;
	} types[] = {
		{ .collective = LACE_ALL_REDUCE },
		{ .collective = LACE_REDUCE },
		{ .collective = LACE_ALL_GATHER },
		{ .refused = "3 (gather) is not supported" },
		{ .refused = "4 (scatter) is not supported" },
		{ .collective = LACE_BROADCAST },
		{ .collective = LACE_ALL_TO_ALL },
		{ .collective = LACE_REDUCE_SCATTER },
		{ .collective = LACE_REDUCE_SCATTER },
		{ .kind = LACE_CALL_BARRIER },
	};
	struct lace_call call = { 0 };
	uint64_t type;
	int ret;

	ret = read_bounded(reader, attrs->comm_type, "comm_type",
			   sizeof(types) / sizeof(types[0]) - 1, &type, err);
	if (ret)
		return ret;
	if (types[type].refused)
		return fail_node(reader, err, "comm_type", types[type].refused);
	call.kind = types[type].kind;
	call.collective = types[type].collective;
	if (call.kind != LACE_CALL_BARRIER) {
		ret = read_bounded(reader, attrs->comm_size, "comm_size",
				   LACE_IMPORT_MAX_BYTES, &call.bytes, err);
		if (ret)
			return ret;
	}
	ret = lace_trace_call(reader->trace, reader->rank, &call, err);
	return ret ? ret : add_pending(reader, attrs, err);
}

static int read_transfer(struct reader *reader, const struct attributes *attrs,
			 bool send, struct lace_error *err)
{
	struct lace_call call = {
		.kind = send ? LACE_CALL_SEND : LACE_CALL_RECV,
	};
	const char *wrong;
	struct number tag;
	uint64_t peer;
	int ret;

	ret = read_bounded(reader, send ? attrs->comm_dst : attrs->comm_src,
			   send ? "comm_dst" : "comm_src",
			   reader->trace->nr_ranks - 1, &peer, err);
	if (!ret)
		ret = read_bounded(reader, attrs->comm_size, "comm_size",
				   LACE_IMPORT_MAX_BYTES, &call.bytes, err);
	if (ret)
		return ret;
	call.peer = peer;
	if (attrs->comm_tag) {
		wrong = to_number(attrs->comm_tag, &tag);
		if (wrong)
			return fail_node(reader, err, "comm_tag", wrong);
		call.tag = tag.negative ? -tag.magnitude : tag.magnitude;
	}
	return lace_trace_call(reader->trace, reader->rank, &call, err);
}

/* The host's side of a kernel looks like a collective that says nothing. */
static bool host_side(const struct attributes *attrs)
{
	struct number number;

	if (!attrs->is_cpu_op || attrs->comm_type || attrs->comm_size)
		return false;
	if (attrs->is_cpu_op->value_case == CHAKRA__ATTRIBUTE__VALUE_TRUTH)
		return attrs->is_cpu_op->truth;
	return !to_number(attrs->is_cpu_op, &number) && number.magnitude;
}

static int read_call(struct reader *reader, const Chakra__Node *node,
		     struct lace_error *err)
{
	struct attributes attrs;
	int ret;

	if (node->type < NODE_SEND || node->type > NODE_COLLECTIVE)
		return 0;
	ret = find_attributes(reader, node, &attrs, err);
	if (ret)
		return ret;
	if (node->type != NODE_COLLECTIVE)
		return read_transfer(reader, &attrs, node->type == NODE_SEND,
				     err);
	return host_side(&attrs) ? 0 : read_collective(reader, &attrs, err);
}

/* ---- nodes ---- */

static int add_waits(struct reader *reader, const uint64_t *ids, size_t nr,
		     struct lace_error *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = lace_trace_wait(reader->trace, reader->rank, ids[i],
				      false, err);
	return ret;
}

static int note_groups(struct reader *reader, const Chakra__Node *node,
		       struct lace_error *err)
{
	if (reader->given || strcmp(node->name, INIT_NAME) || !node->inputs)
		return 0;
	if (strlen(node->inputs->values) > MAX_INIT_TEXT)
		return fail_node(reader, err, INIT_NAME, "is too long");
	return lace_groups_parse_init(node->inputs->values, reader->file,
				      reader->trace->nr_ranks, &reader->noted,
				      err);
}

static int add_node(struct reader *reader, const Chakra__Node *node,
		    struct lace_error *err)
{
	char text[32];
	int ret;

	ret = lace_trace_node(reader->trace, reader->rank, node->id, 0, err);
	if (ret)
		return ret;
	if (node->type <= 0 || node->type > NODE_LAST) {
		snprintf(text, sizeof(text), "%" PRId32 " is none",
			 node->type);
		return fail_node(reader, err, "type", text);
	}
	ret = add_waits(reader, node->ctrl_deps, node->n_ctrl_deps, err);
	if (!ret)
		ret = add_waits(reader, node->data_deps, node->n_data_deps,
				err);
	if (!ret)
		ret = note_groups(reader, node, err);
	return ret ? ret : read_call(reader, node, err);
}

/* ---- layout ---- */

static int old_layout(struct reader *reader, struct lace_error *err)
{
	return lace_import_fail(err, reader->file, 0,
				"layout of the schema before 2023-10-10: other fields in nodes, other numbers for collectives");
}

static int bad_message(struct reader *reader, uint64_t at, const char *what,
		       struct lace_error *err)
{
	return lace_import_fail(err, reader->file, 0, "byte %" PRIu64 ": %s",
				at, what);
}

static bool get_varint(const uint8_t *bytes, size_t len, size_t *at,
		       uint64_t *value)
{
	unsigned int shift;

	*value = 0;
	for (shift = 0; shift < 64 && *at < len; shift += 7) {
		uint8_t byte = bytes[(*at)++];

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* Whether a message that is no node of today's layout has text where only the
 * old one had it.
 */
static bool looks_old(const uint8_t *bytes, size_t len)
{
	uint64_t key, skip;
	size_t at = 0;

	while (at < len && get_varint(bytes, len, &at, &key)) {
		switch (key & 7) {
		case 0:
			if (!get_varint(bytes, len, &at, &skip))
				return false;
			continue;
		case 1:
			skip = 8;
			break;
		case 2:
			if (!get_varint(bytes, len, &at, &skip))
				return false;
			if (key >> 3 == 6 || key >> 3 == 7)
				return true;
			break;
		case 5:
			skip = 4;
			break;
		default:
			return false;
		}
		if (skip > len - at)
			return false;
		at += skip;
	}
	return false;
}

static int refuse_unknown(struct reader *reader, uint64_t at,
			  const ProtobufCMessageUnknownField *field,
			  struct lace_error *err)
{
	const uint8_t *data = field->data;
	size_t i = 0;
	uint64_t len;
	char text[80];

	/* Data begin with their length; an attribute begins with its name. */
	if (field->tag == 11 &&
	    field->wire_type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED &&
	    get_varint(data, field->len, &i, &len) && i < field->len &&
	    data[i] == 0x0a)
		return old_layout(reader, err);
	snprintf(text, sizeof(text), "node with a field %" PRIu32
		 ", which is not known (fields end at 10)", field->tag);
	return bad_message(reader, at, text, err);
}

static int read_metadata(struct reader *reader, uint64_t at, size_t len,
			 struct lace_error *err)
{
	Chakra__Metadata *metadata;
	bool old = false;
	const char *c;

	metadata = chakra__metadata__unpack(NULL, len, reader->message);
	if (!metadata)
		return bad_message(reader, at,
				   "no Chakra trace: the first message is not GlobalMetadata",
				   err);
	for (c = metadata->version; *c; c++)
		old |= (unsigned char)*c < ' ';
	chakra__metadata__free_unpacked(metadata, NULL);
	return old ? old_layout(reader, err) : 0;
}

static int read_node(struct reader *reader, uint64_t at, size_t len,
		     struct lace_error *err)
{
	Chakra__Node *node;
	int ret;

	node = chakra__node__unpack(NULL, len, reader->message);
	if (!node && looks_old(reader->message, len))
		return old_layout(reader, err);
	if (!node)
		return bad_message(reader, at, "damaged, or not a node", err);
	if (node->base.n_unknown_fields)
		ret = refuse_unknown(reader, at,
				     &node->base.unknown_fields[0], err);
	else
		ret = add_node(reader, node, err);
	chakra__node__free_unpacked(node, NULL);
	return ret;
}

/* ---- files ---- */

/* The length before a message: 1, or 0 at the end of the file. */
static int read_length(struct reader *reader, struct lace_input *input,
		       uint64_t *len, struct lace_error *err)
{
	uint64_t at = lace_input_offset(input);
	unsigned int shift;
	uint8_t byte;
	long got;

	*len = 0;
	for (shift = 0; shift < 64; shift += 7) {
		got = lace_input_read(input, &byte, 1, err);
		if (got < 0)
			return -1;
		if (!got && !shift)
			return 0;
		if (!got)
			return bad_message(reader, at,
					   "the file ends in a length", err);
		*len |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return 1;
	}
	return bad_message(reader, at, "damaged, or not a length", err);
}

/* A length may lie, so memory grows with what is there and not with it. */
static int read_message(struct reader *reader, struct lace_input *input,
			uint64_t at, uint64_t len, struct lace_error *err)
{
	uint64_t done = 0;
	char text[96];
	long got;
	int ret;

	if (len > MAX_MESSAGE) {
		snprintf(text, sizeof(text),
			 "message of %" PRIu64 " bytes, above the limit of %u",
			 len, MAX_MESSAGE);
		return bad_message(reader, at, text, err);
	}
	while (done < len) {
		size_t step = len - done < READ_STEP ? len - done : READ_STEP;

		ret = lace_import_grow(&reader->message, &reader->room_message,
				       done + step, 1, err);
		if (ret)
			return ret;
		got = lace_input_read(input, reader->message + done, step, err);
		if (got < 0)
			return -1;
		done += got;
		if ((size_t)got == step)
			continue;
		snprintf(text, sizeof(text),
			 "message of %" PRIu64 " bytes, %" PRIu64 " left",
			 len, done);
		return bad_message(reader, at, text, err);
	}
	return 0;
}

static int read_messages(struct reader *reader, struct lace_input *input,
			 struct lace_error *err)
{
	bool first = true;
	uint64_t at, len;
	int ret;

	while (true) {
		at = lace_input_offset(input);
		ret = read_length(reader, input, &len, err);
		if (ret <= 0)
			break;
		ret = read_message(reader, input, at, len, err);
		if (!ret)
			ret = first ? read_metadata(reader, at, len, err) :
				      read_node(reader, at, len, err);
		if (ret)
			return ret;
		first = false;
	}
	if (!ret && first)
		return lace_import_fail(err, reader->file, 0, "empty");
	return ret;
}

static int read_file(struct reader *reader, struct lace_error *err)
{
	struct lace_input *input;
	size_t i;
	int ret;

	ret = lace_input_open(reader->file, &input, err);
	if (ret)
		return ret;
	ret = read_messages(reader, input, err);
	lace_input_close(input);
	if (!ret)
		ret = lace_groups_sort(&reader->noted, reader->file, err);
	for (i = 0; i < reader->nr_pending && !ret; i++)
		ret = resolve(reader, &reader->pending[i], err);
	if (!ret)
		ret = lace_trace_finish_rank(reader->trace, reader->rank, err);
	lace_groups_free(&reader->noted);
	tdestroy(reader->names, free_name);
	reader->names = NULL;
	reader->nr_pending = 0;
	return ret;
}

static int read_files(struct reader *reader, struct lace_error *err)
{
	const struct lace_import *spec = reader->spec;
	unsigned int *order = malloc(spec->nr_files * sizeof(*order));
	unsigned int rank;
	int ret;

	if (!order)
		return lace_import_no_memory(err);
	ret = lace_input_order(spec, order, err);
	for (rank = 0; rank < spec->nr_files && !ret; rank++) {
		reader->rank = rank;
		reader->file = spec->files[order[rank]];
		reader->trace->ranks[rank].file = reader->file;
		ret = read_file(reader, err);
	}
	free(order);
	free(reader->pending);
	free(reader->message);
	return ret;
}

/**
 * lace_import_chakra() - a schedule from Chakra execution traces
 * @spec: one file for each rank
 * @schedule: ranks and ops are filled in
 * @report: for warnings
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_import_chakra(const struct lace_import *spec,
		       struct lace_schedule *schedule, FILE *report,
		       struct lace_error *err)
{
	struct lace_named_groups given = { 0 };
	struct lace_trace trace;
	struct reader reader = {
		.spec = spec,
		.trace = &trace,
		.given = spec->groups ? &given : NULL,
	};
	int ret;

	ret = lace_trace_init(&trace, spec->nr_files, "node", err);
	if (ret)
		return ret;
	if (spec->groups)
		ret = lace_groups_read(spec->groups, spec->nr_files, &given,
				       err);
	if (!ret)
		ret = read_files(&reader, err);
	if (!ret)
		ret = lace_trace_schedule(&trace, schedule, report, err);
	lace_groups_free(&given);
	lace_trace_free(&trace);
	return ret;
}
