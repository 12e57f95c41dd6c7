// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Names, types and numbers as PyTorch writes them.
 */
#include "import_torch.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_JSON (512u << 20)

/* Underlines come and go between releases, so they do not count. */
static void squeeze(const char *name, char *out, size_t size)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++)
		if (*name != '_')
			out[n++] = tolower((unsigned char)*name);
	out[n] = '\0';
}

bool lace_torch_name(const char *name, struct lace_torch_call *call)
{
	static const struct {
		const char *name;
		enum lace_torch_kind kind;
		enum lace_collective collective;
	} names[] = {
		{ "allreduce", .collective = LACE_ALL_REDUCE },
		{ "allreducecoalesced", .collective = LACE_ALL_REDUCE },
		{ "broadcast", .collective = LACE_BROADCAST },
		{ "broadcastoop", .collective = LACE_BROADCAST },
		{ "reduce", .collective = LACE_REDUCE },
		{ "reduceoop", .collective = LACE_REDUCE },
		{ "allgather", .collective = LACE_ALL_GATHER },
		{ "allgatherbase", .collective = LACE_ALL_GATHER },
		{ "allgatherintotensor", .collective = LACE_ALL_GATHER },
		{ "allgathercoalesced", .collective = LACE_ALL_GATHER },
		{ "allgatherintotensorcoalesced",
		  .collective = LACE_ALL_GATHER },
		{ "reducescatter", .collective = LACE_REDUCE_SCATTER },
		{ "reducescatterbase", .collective = LACE_REDUCE_SCATTER },
		{ "reducescattertensor", .collective = LACE_REDUCE_SCATTER },
		{ "reducescattercoalesced", .collective = LACE_REDUCE_SCATTER },
		{ "reducescattertensorcoalesced",
		  .collective = LACE_REDUCE_SCATTER },
		{ "alltoall", .collective = LACE_ALL_TO_ALL },
		{ "alltoallbase", .collective = LACE_ALL_TO_ALL },
		{ "alltoallsingle", .collective = LACE_ALL_TO_ALL },
		{ "alltoallv", .collective = LACE_ALL_TO_ALL },
		{ "barrier", .kind = LACE_TORCH_BARRIER },
		{ "send", .kind = LACE_TORCH_SEND },
		{ "recv", .kind = LACE_TORCH_RECV },
		{ "wait", .kind = LACE_TORCH_WAIT },
		{ "init", .kind = LACE_TORCH_WAIT },
	};
	char plain[64];
	size_t i;

	squeeze(name, plain, sizeof(plain));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(plain, names[i].name))
			continue;
		call->kind = names[i].kind;
		call->collective = names[i].collective;
		return true;
	}
	return false;
}

unsigned int lace_torch_type(const char *name)
{
	static const struct {
		const char *name;
		unsigned int size;
	} types[] = {
		{ "byte", 1 },		{ "char", 1 },
		{ "bool", 1 },		{ "short", 2 },
		{ "int", 4 },		{ "long", 8 },
		{ "half", 2 },		{ "bfloat16", 2 },
		{ "float", 4 },		{ "double", 8 },
		{ "complexhalf", 4 },	{ "complexfloat", 8 },
		{ "complexdouble", 16 }, { "uint8", 1 },
		{ "int8", 1 },		{ "uint16", 2 },
		{ "int16", 2 },		{ "uint32", 4 },
		{ "int32", 4 },		{ "uint64", 8 },
		{ "int64", 8 },		{ "float16", 2 },
		{ "float32", 4 },	{ "float64", 8 },
		{ "float8e4m3fn", 1 },	{ "float8e5m2", 1 },
		{ "float8e4m3fnuz", 1 }, { "float8e5m2fnuz", 1 },
		{ "float8e8m0fnu", 1 },	{ "qint8", 1 },
		{ "quint8", 1 },	{ "qint32", 4 },
	};
	char plain[64];
	size_t i;

	squeeze(name, plain, sizeof(plain));
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(plain, types[i].name))
			return types[i].size;
	return 0;
}

bool lace_torch_signed(const json_t *value, int64_t *whole)
{
	double real = json_real_value(value);

	*whole = json_integer_value(value);
	if (json_is_integer(value))
		return true;
	if (!json_is_real(value) || real != floor(real) ||
	    fabs(real) > (double)LACE_IMPORT_MAX_BYTES)
		return false;
	*whole = real;
	return true;
}

bool lace_torch_whole(const json_t *value, uint64_t max, uint64_t *whole)
{
	int64_t number;

	if (!lace_torch_signed(value, &number) || number < 0)
		return false;
	*whole = number;
	return *whole <= max;
}

/* "[1, 2, 3]" */
static json_t *list_in_text(const char *text)
{
	return strstr(text, "...") ? NULL : json_loads(text, 0, NULL);
}

static bool copy_list(const json_t *array, uint64_t **list, size_t *nr)
{
	size_t i;

	if (!json_is_array(array))
		return false;
	*nr = json_array_size(array);
	*list = malloc((*nr + 1) * sizeof(**list));
	if (!*list)
		return false;
	for (i = 0; i < *nr; i++) {
		if (!lace_torch_whole(json_array_get(array, i),
				      LACE_IMPORT_MAX_BYTES, &(*list)[i])) {
			free(*list);
			*list = NULL;
			return false;
		}
	}
	return true;
}

bool lace_torch_list(const json_t *value, uint64_t **list, size_t *nr)
{
	json_t *parsed;
	bool is_list;

	*list = NULL;
	*nr = 0;
	if (!json_is_string(value))
		return copy_list(value, list, nr);
	parsed = list_in_text(json_string_value(value));
	is_list = copy_list(parsed, list, nr);
	json_decref(parsed);
	return is_list;
}

int lace_torch_load(const char *path, json_t **root, struct lace_error *err)
{
	json_error_t error;
	char *text;
	size_t len;
	int ret;

	ret = lace_input_text(path, MAX_JSON, &text, &len, err);
	if (ret)
		return ret;
	*root = json_loadb(text, len, 0, &error);
	if (!*root && json_error_code(&error) == json_error_numeric_overflow)
		*root = json_loadb(text, len, JSON_DECODE_INT_AS_REAL, &error);
	free(text);
	if (*root)
		return 0;
	return lace_import_fail(err, path, error.line > 0 ? error.line : 0,
				"not JSON: %s", error.text);
}
