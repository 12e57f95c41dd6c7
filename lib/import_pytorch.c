// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Execution traces of PyTorch's host side (JSON, schema 1.0.1 to 1.1.x): the
 * nodes record_param_comms.  Since 1.1 they have attributes; before, all is in
 * the inputs by place: [tensors] seq pg rank name in_splits out_splits, and then
 * nothing, the size of the group, or its start, stride and size.  The rank's
 * slot holds the root of a broadcast or reduce and the peer of a transfer, as
 * places in the group, in both.
 */
#include "import_torch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_NAME "record_param_comms"
#define INIT_NAME "## process_group:init ##"
#define MAX_NESTING 8

struct reader {
	const char *file;
	struct lace_torch_rank *rank;
	uint64_t id;			/* of the node under way */
	const json_t *values;		/* inputs by place */
	const json_t *outputs;
	const json_t *attributes;
	size_t name_at;			/* of the name in values, or nr */
	size_t nr;			/* of values */
	struct lace_error *err;
};

#define fail_node(reader, ...) fail_node_(reader, "" __VA_ARGS__)
#define fail_node_(reader, fmt, ...) \
	lace_import_fail((reader)->err, (reader)->file, 0, \
			 "node %" PRIu64 ": " fmt, (reader)->id, ##__VA_ARGS__)

/* ---- where things are ---- */

static const json_t *attribute(const struct reader *reader, const char *name)
{
	const json_t *attr;
	const char *text;
	size_t i;

	for (i = 0; i < json_array_size(reader->attributes); i++) {
		attr = json_array_get(reader->attributes, i);
		text = json_string_value(json_object_get(attr, "name"));
		if (text && !strcmp(text, name))
			return json_object_get(attr, "value");
	}
	return NULL;
}

/* The value so far from the name: -1 is the slot before it. */
static const json_t *beside_name(const struct reader *reader, long distance)
{
	if (reader->name_at == reader->nr ||
	    (distance < 0 && reader->name_at < (size_t)-distance))
		return NULL;
	return json_array_get(reader->values, reader->name_at + distance);
}

/* From 1.0.2 on, values are one level further down. */
static const json_t *values_of(const json_t *node, const char *what)
{
	const json_t *member = json_object_get(node, what);

	return json_is_object(member) ? json_object_get(member, "values") :
					member;
}

static void look_around(struct reader *reader, const json_t *node)
{
	size_t i;

	reader->values = values_of(node, "inputs");
	reader->outputs = values_of(node, "outputs");
	reader->attributes = json_object_get(node, "attrs");
	reader->nr = json_array_size(reader->values);
	reader->name_at = reader->nr;
	for (i = 0; i < reader->nr; i++)
		if (json_is_string(json_array_get(reader->values, i)))
			reader->name_at = i;
}

/* ---- sizes ---- */

/* The bytes of a tensor [id, storage, offset, elements, bytes of one, device],
 * or of a list of such lists.
 */
static bool tensor_bytes(const json_t *value, unsigned int nesting,
			 uint64_t *bytes)
{
	uint64_t elements, size;
	size_t i;

	if (!json_is_array(value) || nesting > MAX_NESTING)
		return false;
	if (!json_is_array(json_array_get(value, 0)) &&
	    json_array_size(value)) {
		if (!lace_torch_whole(json_array_get(value, 3),
				      LACE_IMPORT_MAX_BYTES, &elements) ||
		    !lace_torch_whole(json_array_get(value, 4), 64, &size) ||
		    elements * size > LACE_IMPORT_MAX_BYTES - *bytes)
			return false;
		*bytes += elements * size;
		return true;
	}
	for (i = 0; i < json_array_size(value); i++)
		if (!tensor_bytes(json_array_get(value, i), nesting + 1, bytes))
			return false;
	return true;
}

/* Elements and type, where there are attributes. */
static int attribute_bytes(const struct reader *reader, const char *name,
			   uint64_t *bytes)
{
	const json_t *type = attribute(reader, "dtype");
	const char *text = json_string_value(type);
	unsigned int size = text ? lace_torch_type(text) : 0;

	if (!size)
		return fail_node(reader, "unknown dtype \"%.40s\"",
				 text ? text : "");
	if (!lace_torch_whole(attribute(reader, name),
			      LACE_IMPORT_MAX_BYTES / size, bytes))
		return fail_node(reader,
				 "%s is not a whole number of at most %llu bytes",
				 name, LACE_IMPORT_MAX_BYTES);
	*bytes *= size;
	return 0;
}

static int read_bytes(const struct reader *reader, struct lace_torch_call *call)
{
	int ret;

	if (attribute(reader, "in_msg_nelems")) {
		ret = attribute_bytes(reader, "in_msg_nelems", &call->in_bytes);
		if (!ret && call->nr_out)
			ret = attribute_bytes(reader, "out_msg_nelems",
					      &call->out_bytes);
		return ret;
	}
	if (!tensor_bytes(beside_name(reader, -4), 0, &call->in_bytes))
		return fail_node(reader,
				 "the size of its tensors is not known, or above %llu bytes",
				 LACE_IMPORT_MAX_BYTES);
	if (call->nr_out &&
	    !tensor_bytes(reader->outputs, 0, &call->out_bytes))
		return fail_node(reader, "the size of its outputs is not known");
	return 0;
}

/* The list in an attribute, or that in the inputs; missing is empty. */
static int read_splits(const struct reader *reader, const char *name,
		       long distance, uint64_t **list, size_t *nr)
{
	const json_t *there = attribute(reader, name);
	const json_t *value = beside_name(reader, distance);

	if (there && lace_torch_list(there, list, nr))
		return 0;
	if (value && lace_torch_list(value, list, nr))
		return 0;
	return there || value ? fail_node(reader, "%s is not a list of whole numbers",
					  name) : 0;
}

/* ---- groups ---- */

static const char *group_name(const struct reader *reader)
{
	const json_t *name = attribute(reader, "pg_name");

	if (!json_is_string(name))
		name = beside_name(reader, -2);
	if (json_is_array(name))
		name = json_array_get(name, 0);
	return json_is_string(name) ? json_string_value(name) : "";
}

static int64_t number_or_none(const json_t *value)
{
	int64_t number;

	return lace_torch_signed(value, &number) && number >= 0 ? number : -1;
}

static void read_group(const struct reader *reader,
		       struct lace_torch_call *call)
{
	size_t behind = reader->nr - reader->name_at;	/* name and lists: 3 */
	const json_t *size = attribute(reader, "pg_size");
	const json_t *first = attribute(reader, "global_rank_start");
	const json_t *stride = attribute(reader, "global_rank_stride");
	int64_t number;

	if (!size && behind >= 4)
		size = json_array_get(reader->values, reader->nr - 1);
	if (!first && behind >= 6)
		first = json_array_get(reader->values, reader->nr - 3);
	if (!stride && behind >= 6)
		stride = json_array_get(reader->values, reader->nr - 2);
	number = number_or_none(size);
	call->size = number > 0 ? number : 0;
	call->first = number_or_none(first);
	call->stride = number_or_none(stride);
	call->slot = number_or_none(beside_name(reader, -1));
}

/* ---- nodes ---- */

static int read_record(struct reader *reader, const json_t *node)
{
	struct lace_torch_call *call;
	const char *name;
	int ret;

	look_around(reader, node);
	name = json_string_value(attribute(reader, "collective_name"));
	if (!name || !*name)
		name = json_string_value(beside_name(reader, 0));
	if (!name)
		return fail_node(reader, "no name of a collective");
	ret = lace_torch_call(reader->rank, group_name(reader), &call,
			      reader->err);
	if (ret)
		return ret;
	call->id = reader->id;
	if (!lace_torch_name(name, call))
		return fail_node(reader, "unknown collective \"%.40s\"", name);
	if (call->kind == LACE_TORCH_WAIT)
		return 0;
	read_group(reader, call);
	if (call->kind == LACE_TORCH_BARRIER)
		return 0;
	if (call->kind == LACE_TORCH_COLLECTIVE &&
	    call->collective == LACE_ALL_TO_ALL) {
		ret = read_splits(reader, "in_split_size", 1, &call->in_splits,
				  &call->nr_in);
		if (!ret)
			ret = read_splits(reader, "out_split_size", 2,
					  &call->out_splits, &call->nr_out);
	}
	return ret ? ret : read_bytes(reader, call);
}

static int read_init(struct reader *reader, const json_t *node)
{
	const json_t *values = values_of(node, "inputs");
	const char *text = json_string_value(json_array_get(values, 0));

	if (!text)
		return 0;
	return lace_groups_parse_init(text, reader->file, LACE_IMPORT_MAX_RANKS,
				      &reader->rank->noted, reader->err);
}

static int read_node(struct reader *reader, const json_t *node, size_t place)
{
	const char *name = json_string_value(json_object_get(node, "name"));
	bool record = name && !strcmp(name, RECORD_NAME);

	if (!record && (!name || strcmp(name, INIT_NAME)))
		return 0;
	if (!lace_torch_whole(json_object_get(node, "id"), INT64_MAX,
			      &reader->id))
		return lace_import_fail(reader->err, reader->file, 0,
					"node number %zu (%s) has no id", place,
					name);
	return record ? read_record(reader, node) : read_init(reader, node);
}

/* ---- files ---- */

static int check_schema(const json_t *root, const char *file,
			struct lace_error *err)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	unsigned int major, minor, patch;

	if (!schema || !json_is_array(json_object_get(root, "nodes")))
		return lace_import_fail(err, file, 0,
					"no execution trace of PyTorch: no schema or no nodes");
	if (sscanf(schema, "%u.%u.%u", &major, &minor, &patch) != 3 ||
	    major != 1 || minor > 1 || (!minor && !patch))
		return lace_import_fail(err, file, 0,
					"schema \"%.40s\" is not 1.0.1 to 1.1.x",
					schema);
	return 0;
}

static int read_file(const char *file, struct lace_torch_rank *rank,
		     struct lace_error *err)
{
	struct reader reader = { .file = file, .rank = rank, .err = err };
	const json_t *nodes;
	json_t *root;
	size_t i;
	int ret;

	ret = lace_torch_load(file, &root, err);
	if (ret)
		return ret;
	ret = check_schema(root, file, err);
	nodes = json_object_get(root, "nodes");
	for (i = 0; i < json_array_size(nodes) && !ret; i++)
		ret = read_node(&reader, json_array_get(nodes, i), i);
	json_decref(root);
	return ret ? ret : lace_groups_sort(&rank->noted, file, err);
}

static int read_files(const struct lace_import *spec, struct lace_torch *torch,
		      struct lace_error *err)
{
	struct lace_torch_rank *slot;
	unsigned int i, rank;
	int ret = 0;

	for (i = 0; i < spec->nr_files && !ret; i++) {
		rank = lace_input_rank(spec->files[i]);
		if (rank == LACE_NONE && spec->nr_files > 1)
			return lace_import_fail(err, spec->files[i], 0,
						"no rank in the file's name");
		ret = lace_torch_rank(torch, rank == LACE_NONE ? 0 : rank,
				      spec->files[i], &slot, err);
		if (!ret)
			ret = read_file(spec->files[i], slot, err);
	}
	return ret;
}

/**
 * lace_import_pytorch() - a schedule from execution traces of PyTorch
 * @spec: a file for each rank, or for some
 * @schedule: ranks and ops are filled in
 * @report: for warnings
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_import_pytorch(const struct lace_import *spec,
			struct lace_schedule *schedule, FILE *report,
			struct lace_error *err)
{
	struct lace_torch torch = { .noun = "node", .size_is_enough = true };
	int ret;

	ret = lace_torch_init(&torch, err);
	if (!ret)
		ret = read_files(spec, &torch, err);
	if (!ret)
		ret = lace_torch_schedule(&torch, schedule, report, err);
	lace_torch_free(&torch);
	return ret;
}
