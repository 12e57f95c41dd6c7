// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Names of groups of ranks: from a --groups file, or from what PyTorch notes
 * in a trace when it makes its process groups.  Both are checked as a whole,
 * whether a group is used or not.
 */
#include "import.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS (1u << 20)

void lace_groups_free(struct lace_named_groups *groups)
{
	unsigned int i;

	for (i = 0; i < groups->nr; i++) {
		free(groups->groups[i].name);
		free(groups->groups[i].ranks);
	}
	free(groups->groups);
	memset(groups, 0, sizeof(*groups));
}

static int compare_ranks(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a;
	unsigned int y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

static int compare_names(const void *a, const void *b)
{
	const struct lace_named_group *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int read_ranks(const json_t *list, const char *file, const char *name,
		      unsigned int nr_ranks, struct lace_named_group *group,
		      struct lace_error *err)
{
	unsigned int i;

	for (i = 0; i < group->nr; i++) {
		const json_t *item = json_array_get(list, i);
		json_int_t rank = json_integer_value(item);

		if (!json_is_integer(item))
			return lace_import_fail(err, file, 0,
						"group %.60s: entry %u is not a whole number",
						name, i);
		if (rank < 0 || rank >= nr_ranks)
			return lace_import_fail(err, file, 0,
						"group %.60s: rank %" PRId64 " out of range 0..%u",
						name, (int64_t)rank,
						nr_ranks - 1);
		group->ranks[i] = rank;
	}
	qsort(group->ranks, group->nr, sizeof(*group->ranks), compare_ranks);
	for (i = 1; i < group->nr; i++)
		if (group->ranks[i - 1] == group->ranks[i])
			return lace_import_fail(err, file, 0,
						"group %.60s: rank %u twice",
						name, group->ranks[i]);
	if (group->nr == nr_ranks) {
		free(group->ranks);
		group->ranks = NULL;
	}
	return 0;
}

/* An empty list stands for all ranks where all_if_empty says so. */
static int add_group(struct lace_named_groups *groups, const char *name,
		     const json_t *list, const char *file,
		     unsigned int nr_ranks, bool all_if_empty,
		     struct lace_error *err)
{
	struct lace_named_group *group;
	int ret;

	if (!json_is_array(list))
		return lace_import_fail(err, file, 0,
					"group %.60s: not a list of ranks",
					name);
	if (!json_array_size(list) && !all_if_empty)
		return lace_import_fail(err, file, 0, "group %.60s: no ranks",
					name);
	if (groups->nr == MAX_GROUPS)
		return lace_import_fail(err, file, 0, "more than %u groups",
					MAX_GROUPS);
	if (json_array_size(list) > nr_ranks)
		return lace_import_fail(err, file, 0,
					"group %.60s: %zu entries, but only %u ranks",
					name, json_array_size(list), nr_ranks);
	ret = lace_import_grow(&groups->groups, &groups->room, groups->nr + 1,
			       sizeof(*groups->groups), err);
	if (ret)
		return ret;
	group = &groups->groups[groups->nr];
	memset(group, 0, sizeof(*group));
	group->comm = LACE_NONE;
	group->nr = json_array_size(list) ? json_array_size(list) : nr_ranks;
	group->name = strdup(name);
	groups->nr++;
	if (!group->name)
		return lace_import_no_memory(err);
	if (!json_array_size(list))
		return 0;
	group->ranks = malloc(group->nr * sizeof(*group->ranks));
	if (!group->ranks)
		return lace_import_no_memory(err);
	return read_ranks(list, file, name, nr_ranks, group, err);
}

static bool same_ranks(const struct lace_named_group *a,
		       const struct lace_named_group *b)
{
	if (a->nr != b->nr)
		return false;
	return !a->ranks || !memcmp(a->ranks, b->ranks,
				    a->nr * sizeof(*a->ranks));
}

/* Sorts by name; groups of one name must be the same. */
int lace_groups_sort(struct lace_named_groups *groups, const char *file,
		     struct lace_error *err)
{
	struct lace_named_group *last, *group;
	unsigned int i, nr = 0;
	int ret = 0;

	if (!groups->nr)
		return 0;
	qsort(groups->groups, groups->nr, sizeof(*groups->groups),
	      compare_names);
	for (i = 0; i < groups->nr; i++) {
		last = nr ? &groups->groups[nr - 1] : NULL;
		group = &groups->groups[i];
		if (!last || strcmp(last->name, group->name)) {
			groups->groups[nr++] = *group;
			continue;
		}
		if (!same_ranks(last, group) && !ret)
			ret = lace_import_fail(err, file, 0,
					       "process group %.60s has two lists of ranks",
					       group->name);
		free(group->name);
		free(group->ranks);
	}
	groups->nr = nr;
	return ret;
}

/**
 * lace_groups_read() - read a file of named groups
 * @path: a JSON object, each name with a list of ranks
 * @nr_ranks: ranks must be below
 * @groups: filled; to be freed on failure too
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_groups_read(const char *path, unsigned int nr_ranks,
		     struct lace_named_groups *groups, struct lace_error *err)
{
	json_error_t error;
	const char *name;
	json_t *root, *list;
	char *text;
	size_t len;
	int ret;

	memset(groups, 0, sizeof(*groups));
	ret = lace_input_text(path, LACE_IMPORT_MAX_GROUPS, &text, &len, err);
	if (ret)
		return ret;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (!root)
		return lace_import_fail(err, path,
					error.line > 0 ? error.line : 0,
					"not JSON: %s", error.text);
	if (!json_is_object(root))
		ret = lace_import_fail(err, path, 0,
				       "not an object of names and lists of ranks");
	json_object_foreach(root, name, list) {
		if (ret)
			break;
		ret = add_group(groups, name, list, path, nr_ranks, false, err);
	}
	json_decref(root);
	return ret ? ret : lace_groups_sort(groups, path, err);
}

/* ---- what PyTorch writes ---- */

/* The list of objects from open to close. */
static json_t *load_init(const char *open, const char *close)
{
	size_t len = close - open + 1, i, n = 0;
	char *list = malloc(len + 3);
	json_t *root;

	if (!list)
		return NULL;
	list[0] = '[';
	memcpy(list + 1, open, len);
	list[len + 1] = ']';
	root = json_loadb(list, len + 2, 0, NULL);
	if (!root) {
		/* In quotes of its own, so with backslashes before its own. */
		for (i = 0; i < len + 2; i++) {
			if (list[i] == '\\' && i + 1 < len + 2)
				i++;
			list[n++] = list[i];
		}
		root = json_loadb(list, n, 0, NULL);
	}
	free(list);
	return root;
}

static int add_init(struct lace_named_groups *groups, const json_t *entry,
		    const char *file, unsigned int nr_ranks,
		    struct lace_error *err)
{
	const json_t *name = json_object_get(entry, "pg_name");
	const json_t *size = json_object_get(entry, "group_size");
	char number[32];
	int ret;

	if (json_is_integer(name))
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(name));
	else if (!json_is_string(name))
		return lace_import_fail(err, file, 0,
					"process_group:init: group without pg_name");
	ret = add_group(groups,
			json_is_string(name) ? json_string_value(name) : number,
			json_object_get(entry, "ranks"), file, nr_ranks, true,
			err);
	if (!ret && json_integer_value(size) > 0 &&
	    json_integer_value(size) <= LACE_IMPORT_MAX_RANKS)
		groups->groups[groups->nr - 1].size = json_integer_value(size);
	return ret;
}

/**
 * lace_groups_parse_init() - read what PyTorch notes of its process groups
 * @text: a list of objects in JSON, in brackets and quotes of Python or not
 * @file: where it is from
 * @nr_ranks: ranks must be below
 * @groups: appended to; to be sorted at the end
 * @err: where and why it failed
 *
 * Return: 0, or negative.
 */
int lace_groups_parse_init(const char *text, const char *file,
			   unsigned int nr_ranks,
			   struct lace_named_groups *groups,
			   struct lace_error *err)
{
	const char *open = strchr(text, '{'), *close = strrchr(text, '}');
	json_t *root;
	size_t i;
	int ret = 0;

	if (!open || !close || close < open)
		return 0;
	root = load_init(open, close);
	if (!root)
		return lace_import_fail(err, file, 0,
					"process_group:init: not a list in JSON");
	for (i = 0; i < json_array_size(root) && !ret; i++)
		ret = add_init(groups, json_array_get(root, i), file, nr_ranks,
			       err);
	json_decref(root);
	return ret;
}

static struct lace_named_group *find_exactly(const struct lace_named_groups *g,
					     char *name)
{
	struct lace_named_group key = { .name = name };

	if (!g->nr)
		return NULL;
	return bsearch(&key, g->groups, g->nr, sizeof(key), compare_names);
}

struct lace_named_group *lace_groups_find(const struct lace_named_groups *groups,
					  const char *name)
{
	size_t len = strlen(name);
	struct lace_named_group *found;
	char *copy = strdup(name);

	if (!copy)
		return NULL;
	found = find_exactly(groups, copy);
	if (!found && len > 2 && !strcmp(copy + len - 2, ".0")) {
		copy[len - 2] = '\0';
		found = find_exactly(groups, copy);
	}
	free(copy);
	return found;
}

int lace_group_comm(struct lace_named_group *group, struct lace_trace *trace,
		    unsigned int *comm, struct lace_error *err)
{
	unsigned int world;
	int ret = 0;

	if (group->comm == LACE_NONE && !group->ranks) {
		ret = lace_trace_world(trace, &world, err);
		if (ret)
			return ret;
		/* Ranks may differ in whether their traces tell what "0" is. */
		if (!*group->name || !strcmp(group->name, "0"))
			group->comm = world;
		else
			ret = lace_trace_comm(trace, group->name,
					      trace->comms[world].ranks,
					      trace->nr_ranks, &group->comm,
					      err);
	} else if (group->comm == LACE_NONE) {
		ret = lace_trace_comm(trace, group->name, group->ranks,
				      group->nr, &group->comm, err);
	}
	*comm = group->comm;
	return ret;
}

int lace_groups_comm(struct lace_named_groups *groups, struct lace_trace *trace,
		     const char *name, unsigned int *comm,
		     struct lace_error *err)
{
	struct lace_named_group *group = lace_groups_find(groups, name);

	*comm = LACE_NONE;
	if (group)
		return lace_group_comm(group, trace, comm, err);
	if (!*name || !strcmp(name, "0") || !strcmp(name, "0.0"))
		return lace_trace_world(trace, comm, err);
	return 0;
}
