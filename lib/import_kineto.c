// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Profiles of PyTorch (Kineto: Chrome's trace format in JSON): the kernels of
 * NCCL, which carry what was called, or where they do not, the events
 * record_param_comms of the host.  Unlike in execution traces the order is that
 * of time, and peers are ranks, not places in a group.
 */
#include "import_torch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *file;
	struct lace_torch *torch;
	struct lace_torch_rank *rank;
	size_t place;			/* of the event under way */
	const json_t *args;
	struct lace_error *err;
};

#define fail_event(reader, ...) fail_event_(reader, "" __VA_ARGS__)
#define fail_event_(reader, fmt, ...) \
	lace_import_fail((reader)->err, (reader)->file, 0, \
			 "event %zu: " fmt, (reader)->place, ##__VA_ARGS__)

static const json_t *arg(const struct reader *reader, const char *name)
{
	return json_object_get(reader->args, name);
}

/* ---- what an event is ---- */

static bool is_kernel(const json_t *event)
{
	const char *cat = json_string_value(json_object_get(event, "cat"));
	const char *name = json_string_value(json_object_get(event, "name"));

	return cat && name && !strcmp(cat, "kernel") &&
	       (!strncmp(name, "ncclKernel", 10) ||
		!strncmp(name, "ncclDevKernel", 13));
}

static bool is_record(const json_t *event)
{
	const char *name = json_string_value(json_object_get(event, "name"));

	return name && !strcmp(name, "record_param_comms");
}

static bool is_named(const json_t *event)
{
	return json_is_string(json_object_get(json_object_get(event, "args"),
					      "Collective name"));
}

/* ---- calls ---- */

static int read_elements(const struct reader *reader, const char *name,
			 unsigned int size, uint64_t *bytes)
{
	if (!lace_torch_whole(arg(reader, name), LACE_IMPORT_MAX_BYTES / size,
			      bytes))
		return fail_event(reader, "\"%s\" is not a whole number of at most %llu bytes",
				  name, LACE_IMPORT_MAX_BYTES);
	*bytes *= size;
	return 0;
}

static int read_splits(const struct reader *reader, const char *name,
		       uint64_t **list, size_t *nr)
{
	const json_t *value = arg(reader, name);

	if (!value || lace_torch_list(value, list, nr))
		return 0;
	return fail_event(reader, "\"%s\" is not a complete list of whole numbers",
			  name);
}

static int read_bytes(const struct reader *reader, struct lace_torch_call *call)
{
	const char *type = json_string_value(arg(reader, "dtype"));
	unsigned int size = type ? lace_torch_type(type) : 0;
	int ret = 0;

	if (!size)
		return fail_event(reader, "unknown dtype \"%.40s\"",
				  type ? type : "");
	if (call->kind == LACE_TORCH_COLLECTIVE &&
	    call->collective == LACE_ALL_TO_ALL) {
		ret = read_splits(reader, "In split size", &call->in_splits,
				  &call->nr_in);
		if (!ret)
			ret = read_splits(reader, "Out split size",
					  &call->out_splits, &call->nr_out);
	}
	if (!ret)
		ret = read_elements(reader, "In msg nelems", size,
				    &call->in_bytes);
	if (!ret && call->nr_out)
		ret = read_elements(reader, "Out msg nelems", size,
				    &call->out_bytes);
	return ret;
}

static int compare_ranks(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a;
	unsigned int y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

/* Sorts ranks. */
static bool has_twice(unsigned int *ranks, size_t nr)
{
	size_t i;

	qsort(ranks, nr, sizeof(*ranks), compare_ranks);
	for (i = 1; i < nr; i++)
		if (ranks[i - 1] == ranks[i])
			return true;
	return false;
}

/* The ranks of the group, unless they were cut short or left out. */
static int read_list(struct reader *reader, struct lace_torch_call *call)
{
	unsigned int *ranks;
	uint64_t *list;
	size_t nr, i;
	int ret = 0;

	if (!lace_torch_list(arg(reader, "Process Group Ranks"), &list, &nr))
		return 0;
	ranks = malloc((nr + 1) * sizeof(*ranks));
	if (!ranks)
		ret = lace_import_no_memory(reader->err);
	for (i = 0; i < nr && !ret; i++) {
		if (list[i] >= LACE_IMPORT_MAX_RANKS)
			ret = fail_event(reader, "\"Process Group Ranks\": rank %"
					 PRIu64 " is too large", list[i]);
		else
			ranks[i] = list[i];
	}
	if (!ret && nr)
		ret = lace_trace_comm(&reader->torch->lists, "", ranks, nr,
				      &call->list, reader->err);
	/* Checked once a list, when it is new. */
	if (!ret && nr && call->list + 1 == reader->torch->lists.nr_comms &&
	    has_twice(ranks, nr))
		ret = fail_event(reader, "\"Process Group Ranks\": a rank twice");
	free(ranks);
	free(list);
	return ret;
}

static int64_t number_or_none(const json_t *value)
{
	int64_t number;

	return lace_torch_signed(value, &number) && number >= 0 ? number : -1;
}

static int read_group(struct reader *reader, struct lace_torch_call *call)
{
	const char *slot = call->kind == LACE_TORCH_SEND ? "Dst Rank" :
			   call->kind == LACE_TORCH_RECV ? "Src Rank" : "Rank";
	int64_t size = number_or_none(arg(reader, "Group size"));

	call->size = size > 0 ? size : 0;
	call->first = number_or_none(arg(reader, "Global rank start"));
	call->stride = number_or_none(arg(reader, "Global rank stride"));
	call->slot = number_or_none(arg(reader, slot));
	return read_list(reader, call);
}

static int read_time(const struct reader *reader, const json_t *event,
		     struct lace_torch_call *call)
{
	const json_t *ts = json_object_get(event, "ts");
	const json_t *dur = json_object_get(event, "dur");

	if (!json_is_number(ts))
		return fail_event(reader, "no ts");
	if ((dur && !json_is_number(dur)) || json_number_value(dur) < 0)
		return fail_event(reader, "dur is not a time from 0");
	call->start = json_number_value(ts);
	call->end = call->start + json_number_value(dur);
	return 0;
}

static int read_call(struct reader *reader, const json_t *event)
{
	const json_t *group;
	struct lace_torch_call *call;
	const char *name;
	int ret;

	reader->args = json_object_get(event, "args");
	name = json_string_value(arg(reader, "Collective name"));
	if (!name)
		return fail_event(reader, "a call without \"Collective name\", which others have");
	group = arg(reader, "Process Group Name");
	ret = lace_torch_call(reader->rank, json_is_string(group) ?
			      json_string_value(group) : "", &call,
			      reader->err);
	if (ret)
		return ret;
	call->id = reader->place;
	if (!lace_torch_name(name, call))
		return fail_event(reader, "unknown collective \"%.40s\"", name);
	ret = read_time(reader, event, call);
	if (ret || call->kind == LACE_TORCH_WAIT)
		return ret;
	ret = read_group(reader, call);
	if (ret || call->kind == LACE_TORCH_BARRIER)
		return ret;
	return read_bytes(reader, call);
}

/* ---- files ---- */

/* Which of the two kinds of events tells what was called; NULL if none. */
static int choose_events(const struct reader *reader, const json_t *events,
			 bool (**chosen)(const json_t *event))
{
	bool kernels = false, named_kernels = false, named_records = false;
	const json_t *event;
	size_t i;

	for (i = 0; i < json_array_size(events); i++) {
		event = json_array_get(events, i);
		if (is_kernel(event)) {
			kernels = true;
			named_kernels |= is_named(event);
		} else if (is_record(event)) {
			named_records |= is_named(event);
		}
	}
	*chosen = named_kernels ? is_kernel : named_records ? is_record : NULL;
	if (kernels && !*chosen)
		return lace_import_fail(reader->err, reader->file, 0,
					"kernels of NCCL, but no event says what they do (\"Collective name\")");
	return 0;
}

static int read_events(struct reader *reader, const json_t *events)
{
	bool (*chosen)(const json_t *event);
	const json_t *event;
	int ret;

	ret = choose_events(reader, events, &chosen);
	for (reader->place = 0; !ret && chosen &&
	     reader->place < json_array_size(events); reader->place++) {
		event = json_array_get(events, reader->place);
		if (chosen(event))
			ret = read_call(reader, event);
	}
	return ret;
}

/* The profile's own list of groups, for calls whose list was cut short; where
 * it was cut short too, it says nothing.
 */
static int read_config(struct reader *reader, const json_t *info)
{
	const json_t *config = json_object_get(info, "pg_config");
	json_t *whole = json_array();
	char *text = NULL;
	json_t *group;
	size_t i;
	int ret;

	for (i = 0; whole && i < json_array_size(config); i++) {
		group = json_array_get(config, i);
		if (json_is_array(json_object_get(group, "ranks")))
			json_array_append(whole, group);
	}
	if (whole)
		text = json_dumps(whole, JSON_COMPACT);
	json_decref(whole);
	if (!text)
		return lace_import_no_memory(reader->err);
	ret = lace_groups_parse_init(text, reader->file, LACE_IMPORT_MAX_RANKS,
				     &reader->rank->noted, reader->err);
	free(text);
	return ret ? ret : lace_groups_sort(&reader->rank->noted, reader->file,
					    reader->err);
}

static int read_profile(struct reader *reader, const json_t *root)
{
	const json_t *info = json_object_get(root, "distributedInfo");
	const json_t *events = json_is_array(root) ? root :
			       json_object_get(root, "traceEvents");
	uint64_t rank, world;
	int ret;

	if (!json_is_array(events))
		return lace_import_fail(reader->err, reader->file, 0,
					"no profile: no traceEvents");
	if (!lace_torch_whole(json_object_get(info, "rank"),
			      LACE_IMPORT_MAX_RANKS - 1, &rank)) {
		rank = lace_input_rank(reader->file);
		if (rank == LACE_NONE)
			return lace_import_fail(reader->err, reader->file, 0,
						"no rank in distributedInfo or in the file's name");
	}
	if (lace_torch_whole(json_object_get(info, "world_size"),
			     LACE_IMPORT_MAX_RANKS, &world) &&
	    world > reader->torch->world)
		reader->torch->world = world;
	ret = lace_torch_rank(reader->torch, rank, reader->file, &reader->rank,
			      reader->err);
	if (!ret)
		ret = read_config(reader, info);
	return ret ? ret : read_events(reader, events);
}

static int read_files(const struct lace_import *spec, struct lace_torch *torch,
		      struct lace_error *err)
{
	unsigned int i;
	json_t *root;
	int ret = 0;

	for (i = 0; i < spec->nr_files && !ret; i++) {
		struct reader reader = {
			.file = spec->files[i],
			.torch = torch,
			.err = err,
		};

		ret = lace_torch_load(spec->files[i], &root, err);
		if (ret)
			break;
		ret = read_profile(&reader, root);
		json_decref(root);
	}
	return ret;
}

/**
 * lace_import_kineto() - a schedule from profiles of PyTorch
 * @spec: a file for each rank, or for some
 * @schedule: ranks and ops are filled in
 * @report: for warnings
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_import_kineto(const struct lace_import *spec,
		       struct lace_schedule *schedule, FILE *report,
		       struct lace_error *err)
{
	struct lace_torch torch = {
		.noun = "call",
		.global_peers = true,
		.by_time = true,
	};
	int ret;

	ret = lace_torch_init(&torch, err);
	if (!ret)
		ret = read_files(spec, &torch, err);
	if (!ret)
		ret = lace_torch_schedule(&torch, schedule, report, err);
	lace_torch_free(&torch);
	return ret;
}
