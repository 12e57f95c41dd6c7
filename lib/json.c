// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * JSON for the readers and writers of our formats.
 *
 * DESIGN NOTES
 *
 * jansson parses and checks, but keeps no positions.  A reader holds the way
 * from the top to the value it is at; when something is wrong there, the text
 * is walked along that way once more to find the line.  The walk can trust the
 * text, since jansson has accepted it.
 */
#include "json.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static int fail_parse(struct lace_json_doc *doc, const json_error_t *error)
{
	if (json_error_code(error) == json_error_out_of_memory)
		return lace_no_memory(doc->err);
	lace_fail(doc->err, LACE_ERR_INPUT, "%s", error->text);
	lace_error_at(doc->err, doc->name, error->line > 0 ? error->line : 1);
	return -1;
}

int lace_json_open(struct lace_json_doc *doc, const char *name,
		   const char *text, size_t len, struct lace_error *err)
{
	json_error_t error;

	*doc = (struct lace_json_doc){
		.name = name, .text = text, .len = len, .err = err,
	};
	if (!len) {
		lace_fail(err, LACE_ERR_INPUT, "the file is empty");
		lace_error_at(err, name, 1);
		return -1;
	}
	doc->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!doc->root)
		return fail_parse(doc, &error);
	return 0;
}

void lace_json_close(struct lace_json_doc *doc)
{
	json_decref(doc->root);
	doc->root = NULL;
}

struct lace_json lace_json_top(struct lace_json_doc *doc)
{
	return (struct lace_json){ .doc = doc, .value = doc->root };
}

struct lace_json lace_json_member(const struct lace_json *up, const char *key)
{
	return (struct lace_json){
		.doc = up->doc, .up = up, .key = key,
		.value = json_object_get(up->value, key),
	};
}

struct lace_json lace_json_element(const struct lace_json *up, size_t index)
{
	return (struct lace_json){
		.doc = up->doc, .up = up, .index = index,
		.value = json_array_get(up->value, index),
	};
}

bool lace_json_is_null(const struct lace_json *at)
{
	return !at->value || json_is_null(at->value);
}

/* ---- where a value stands in the text ---- */

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && strchr(" \t\r\n", *p))
		p++;
	return p;
}

static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p + 1;
}

static const char *skip_value(const char *p, const char *end)
{
	unsigned int depth = 0;

	do {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		else if (*p == '}' || *p == ']')
			depth--;
		p++;
	} while (p < end && (depth || !strchr(",]} \t\r\n", *p)));
	return p;
}

/* Whether the quoted string at p, escapes and all, is key. */
static bool key_is(const char *p, const char *end, const char *key)
{
	json_t *string = json_loadb(p, skip_string(p, end) - p, JSON_DECODE_ANY,
				    NULL);
	bool same = string && !strcmp(json_string_value(string), key);

	json_decref(string);
	return same;
}

static const char *find_member(const char *p, const char *end, const char *key)
{
	bool found;

	for (p = skip_space(p + 1, end); p < end && *p == '"';) {
		found = key_is(p, end, key);
		p = skip_space(skip_string(p, end), end);
		p = skip_space(p + 1, end);
		if (found)
			return p;
		p = skip_space(skip_value(p, end), end);
		p = skip_space(p + 1, end);
	}
	return end;
}

static const char *find_element(const char *p, const char *end, size_t index)
{
	for (p = skip_space(p + 1, end); index && p < end; index--) {
		p = skip_space(skip_value(p, end), end);
		p = skip_space(p + 1, end);
	}
	return p;
}

/* An absent member is looked for where its object begins. */
static const char *find(const struct lace_json *at)
{
	const char *end = at->doc->text + at->doc->len;
	const char *p;

	if (!at->up)
		return skip_space(at->doc->text, end);
	p = find(at->up);
	if (!at->value || p >= end)
		return p;
	return at->key ? find_member(p, end, at->key)
		       : find_element(p, end, at->index);
}

unsigned int lace_json_line(const struct lace_json *at)
{
	const char *end = find(at);
	const char *p = at->doc->text;
	unsigned int line = 1;

	while ((p = memchr(p, '\n', end - p))) {
		line++;
		p++;
	}
	return line;
}

/* ---- failing ---- */

static void write_way(FILE *out, const struct lace_json *at)
{
	if (!at->up)
		return;
	write_way(out, at->up);
	if (at->key)
		fprintf(out, "%s%s", at->up->up ? "." : "", at->key);
	else
		fprintf(out, "[%zu]", at->index);
}

int lace_json_fail(const struct lace_json *at, const char *fmt, ...)
{
	char way[128] = "", reason[384];
	FILE *out = fmemopen(way, sizeof(way), "w");
	va_list args;

	if (out) {
		write_way(out, at);
		fclose(out);
	}
	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	lace_fail(at->doc->err, LACE_ERR_INPUT, "%.*s%s%s",
		  (int)sizeof(way) - 1, way, at->up ? ": " : "", reason);
	lace_error_at(at->doc->err, at->doc->name, lace_json_line(at));
	return -1;
}

/* ---- values ---- */

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	default:
		return "null";
	}
}

static int fail_type(const struct lace_json *at, const char *wanted)
{
	if (!at->value)
		return lace_json_fail(at, "is missing");
	return lace_json_fail(at, "has to be %s, is %s", wanted,
			      type_name(at->value));
}

int lace_json_object(const struct lace_json *at)
{
	return json_is_object(at->value) ? 0 : fail_type(at, "an object");
}

int lace_json_array(const struct lace_json *at, size_t *nr)
{
	if (!json_is_array(at->value))
		return fail_type(at, "a list");
	*nr = json_array_size(at->value);
	return 0;
}

int lace_json_whole(const struct lace_json *at, uint64_t min, uint64_t max,
		    uint64_t *whole)
{
	double real;

	if (!json_is_number(at->value))
		return fail_type(at, "a number");
	real = json_number_value(at->value);
	if (real != floor(real))
		return lace_json_fail(at, "has to be a whole number, is %g",
				      real);
	/* Outside this the conversion is not defined; inside it is exact. */
	if (fabs(real) > LACE_JSON_MAX_WHOLE || real < min || real > max)
		return lace_json_fail(at,
				      "has to be from %llu to %llu, is %.15g",
				      (unsigned long long)min,
				      (unsigned long long)max, real);
	*whole = real;
	if (json_is_integer(at->value))
		*whole = json_integer_value(at->value);
	if (*whole > max)
		return lace_json_fail(at, "has to be at most %llu",
				      (unsigned long long)max);
	return 0;
}

int lace_json_index(const struct lace_json *at, unsigned int min,
		    unsigned int max, unsigned int *index)
{
	uint64_t whole;
	int ret = lace_json_whole(at, min, max, &whole);

	if (!ret)
		*index = whole;
	return ret;
}

int lace_json_real(const struct lace_json *at, double min, double max,
		   double *real)
{
	double value;

	if (!json_is_number(at->value))
		return fail_type(at, "a number");
	value = json_number_value(at->value);
	if (!(value >= min && value <= max))
		return lace_json_fail(at, "has to be from %g to %g, is %g", min,
				      max, value);
	/* -0 is 0: it would be written as a whole number, which has no sign. */
	*real = value + 0.0;
	return 0;
}

int lace_json_bool(const struct lace_json *at, bool *truth)
{
	if (!json_is_boolean(at->value))
		return fail_type(at, "true or false");
	*truth = json_is_true(at->value);
	return 0;
}

int lace_json_string(const struct lace_json *at, const char **string)
{
	if (!json_is_string(at->value))
		return fail_type(at, "a string");
	*string = json_string_value(at->value);
	return 0;
}

int lace_json_strdup(const struct lace_json *at, char **string)
{
	const char *borrowed;
	int ret = lace_json_string(at, &borrowed);

	if (ret)
		return ret;
	*string = strdup(borrowed);
	return *string ? 0 : lace_no_memory(at->doc->err);
}

int lace_json_sha256(const struct lace_json *of, const char *key,
		     char sha256[65])
{
	struct lace_json at = lace_json_member(of, key);
	const char *hash;

	if (lace_json_string(&at, &hash))
		return -1;
	if (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64)
		return lace_json_fail(&at,
				      "has to be 64 lower-case hexadecimal digits");
	strcpy(sha256, hash);
	return 0;
}

int lace_json_format(const struct lace_json *top, const char *format)
{
	struct lace_json at;
	const char *is;
	int ret;

	ret = lace_json_object(top);
	if (ret)
		return ret;
	at = lace_json_member(top, "format");
	ret = lace_json_string(&at, &is);
	if (!ret && strcmp(is, format))
		ret = lace_json_fail(&at, "has to be \"%s\", is \"%s\"", format,
				     is);
	return ret;
}

/* ---- writing ---- */

void lace_json_write_real(FILE *out, double real)
{
	char text[40], *comma;
	int digits;

	for (digits = 15; digits < DBL_DECIMAL_DIG; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, real);
		if (strtod(text, NULL) == real)
			break;
	}
	snprintf(text, sizeof(text), "%.*g", digits, real);
	/* A program may have set a locale that writes 0,5. */
	comma = strchr(text, ',');
	if (comma)
		*comma = '.';
	fputs(text, out);
}

void lace_json_write_string(FILE *out, const char *string)
{
	json_t *value = json_string(string);
	const char *p;

	if (value) {
		json_dumpf(value, out, JSON_ENCODE_ANY);
		json_decref(value);
		return;
	}
	/* Not UTF-8, so not JSON either. */
	fputc('"', out);
	for (p = string; *p; p++)
		fputc(*p >= ' ' && *p < 0x7f && *p != '"' && *p != '\\' ? *p
								      : '?',
		      out);
	fputc('"', out);
}
