// SPDX-License-Identifier: GPL-2.0
/*
 * Strict JSON: types and ranges, and that errors name the line.
 */
#include "json.h"
#include "tap.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* The line on which a value stands, by way of an error about it. */
static const char text[] =
	"\n"				/* 1 */
	"{ \"a\": [1, 2,\n"		/* 2 */
	"  {\"x\": \"]}\\\"\",\n"	/* 3 */
	"   \"y\":\n"			/* 4 */
	"     -5}],\n"			/* 5 */
	"  \"\\u0062\": 1.5, \"c\" : 9007199254740993,\n" /* 6 */
	"\t\"d\":true,\r\n"		/* 7 */
	"  \"e\": {}, \"f\": 3.0,\"g\":1e300 }\n"; /* 8 */

struct place {
	const char *first;
	int index;		/* negative: no way further */
	const char *last;	/* NULL: no way further */
	unsigned int line;
};

static const struct place places[] = {
	{ "a", -1, NULL, 2 },	  { "a", 1, NULL, 2 },
	{ "a", 2, NULL, 3 },	  { "a", 2, "x", 3 },
	{ "a", 2, "y", 5 },	  { "a", 2, "absent", 3 },
	{ "b", -1, NULL, 6 },	  { "c", -1, NULL, 6 },
	{ "d", -1, NULL, 7 },	  { "e", -1, NULL, 8 },
	{ "g", -1, NULL, 8 },	  { "absent", -1, NULL, 2 },
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void test_lines(struct lace_json_doc *doc)
{
	struct lace_json top = lace_json_top(doc), a, b, c, *at;
	const struct place *place;
	unsigned int i;

	tap_check(lace_json_line(&top) == 2, "the top is on line 2");
	for (i = 0; i < NR(places); i++) {
		place = &places[i];
		a = lace_json_member(&top, place->first);
		at = &a;
		if (place->index >= 0) {
			b = lace_json_element(&a, place->index);
			at = &b;
		}
		if (place->last) {
			c = lace_json_member(&b, place->last);
			at = &c;
		}
		tap_check(lace_json_line(at) == place->line,
			  "%s %d %s is on line %u", place->first, place->index,
			  place->last ? place->last : "", place->line);
	}
}

static void expect(const struct lace_json_doc *doc, int ret, const char *says)
{
	char is[800];

	snprintf(is, sizeof(is), "%s:%u: %s", doc->err->file, doc->err->line,
		 doc->err->text);
	if (!tap_check(ret < 0 && !strcmp(is, says), "%s", says))
		tap_note("is %s", is);
}

static void test_values(struct lace_json_doc *doc)
{
	struct lace_json top = lace_json_top(doc), a, at, x, y;
	const char *string;
	uint64_t whole;
	double real;
	bool truth;
	size_t nr;

	a = lace_json_member(&top, "a");
	tap_check(!lace_json_array(&a, &nr) && nr == 3, "a list of three");
	expect(doc, lace_json_object(&a),
	       "t:2: a: has to be an object, is a list");
	at = lace_json_element(&a, 2);
	x = lace_json_member(&at, "x");
	tap_check(!lace_json_string(&x, &string) && !strcmp(string, "]}\""),
		  "a string with brackets in it");
	expect(doc, lace_json_whole(&x, 0, 9, &whole),
	       "t:3: a[2].x: has to be a number, is a string");
	y = lace_json_member(&at, "y");
	expect(doc, lace_json_whole(&y, 0, 9, &whole),
	       "t:5: a[2].y: has to be from 0 to 9, is -5");
	expect(doc, lace_json_bool(&y, &truth),
	       "t:5: a[2].y: has to be true or false, is a number");
	y = lace_json_member(&at, "z");
	expect(doc, lace_json_whole(&y, 0, 9, &whole),
	       "t:3: a[2].z: is missing");

	at = lace_json_member(&top, "b");
	tap_check(!lace_json_real(&at, 0, 2, &real) && real == 1.5, "a real");
	expect(doc, lace_json_whole(&at, 0, 9, &whole),
	       "t:6: b: has to be a whole number, is 1.5");
	expect(doc, lace_json_real(&at, 0, 1, &real),
	       "t:6: b: has to be from 0 to 1, is 1.5");
	at = lace_json_member(&top, "c");
	expect(doc, lace_json_whole(&at, 0, LACE_JSON_MAX_WHOLE, &whole),
	       "t:6: c: has to be at most 9007199254740992");
	at = lace_json_member(&top, "d");
	tap_check(!lace_json_bool(&at, &truth) && truth, "a truth");
	expect(doc, lace_json_real(&at, 0, 1, &real),
	       "t:7: d: has to be a number, is true or false");
	at = lace_json_member(&top, "e");
	expect(doc, lace_json_array(&at, &nr),
	       "t:8: e: has to be a list, is an object");
	at = lace_json_member(&top, "f");
	tap_check(!lace_json_whole(&at, 3, 3, &whole) && whole == 3,
		  "3.0 is a whole number");
	at = lace_json_member(&top, "g");
	expect(doc, lace_json_whole(&at, 0, LACE_JSON_MAX_WHOLE, &whole),
	       "t:8: g: has to be from 0 to 9007199254740992, is 1e+300");
	expect(doc, lace_json_format(&top, "f/1"), "t:2: format: is missing");
}

struct bad {
	const char *text;
	unsigned int line;
};

static void test_refused(void)
{
	static const struct bad bad[] = {
		{ "", 1 },
		{ "\n\n{", 3 },
		{ "{\"a\": 1,\n\"a\": 2}", 2 },
		{ "[NaN]", 1 },
		{ "[Infinity]", 1 },
		{ "[1e999]", 1 },
		{ "[99999999999999999999]", 1 },
		{ "[\"\xff\"]", 1 },
		{ "{} x", 1 },
		{ "[01]", 1 },
		{ "[\"\\u0000\"]", 1 },
	};
	struct lace_json_doc doc;
	struct lace_error err;
	unsigned int i;
	int ret;

	for (i = 0; i < NR(bad); i++) {
		ret = lace_json_open(&doc, "t", bad[i].text,
				     strlen(bad[i].text), &err);
		tap_check(ret < 0 && err.line == bad[i].line &&
				  !strchr(err.text, '\n'),
			  "refused at line %u: %.10s", bad[i].line,
			  i == 1 ? "newlines" : i == 2 ? "twice" : bad[i].text);
	}
}

static void test_depth(void)
{
	size_t len = 200000;
	char *deep = malloc(len);
	struct lace_json_doc doc;
	struct lace_error err;

	memset(deep, '[', len);
	tap_check(lace_json_open(&doc, "t", deep, len, &err) < 0,
		  "deep nesting is refused");
	free(deep);
}

static void test_written(void)
{
	static const double reals[] = { 0, 0.1, 1.0 / 3, 1e-300, DBL_MAX, 12,
					26.742221701120027 };
	char buffer[100];
	unsigned int i;
	FILE *out;

	for (i = 0; i < NR(reals); i++) {
		out = fmemopen(buffer, sizeof(buffer), "w");
		lace_json_write_real(out, reals[i]);
		fclose(out);
		tap_check(strtod(buffer, NULL) == reals[i],
			  "%s reads back as it was", buffer);
	}
	out = fmemopen(buffer, sizeof(buffer), "w");
	lace_json_write_real(out, 0.1);
	lace_json_write_string(out, "a\"\\\n\xc3\xa9");
	lace_json_write_string(out, "b\xff");
	fclose(out);
	tap_check(!strcmp(buffer, "0.1\"a\\\"\\\\\\n\xc3\xa9\"\"b?\""),
		  "0.1 is short, strings are escaped");
}

int main(void)
{
	struct lace_json_doc doc;
	struct lace_error err;

	tap_plan(1 + NR(places) + 17 + 11 + 1 + 8);
	if (lace_json_open(&doc, "t", text, strlen(text), &err)) {
		lace_error_print(stderr, "test_json", &err);
		return 1;
	}
	test_lines(&doc);
	test_values(&doc);
	lace_json_close(&doc);
	test_refused();
	test_depth();
	test_written();
	return tap_end();
}
