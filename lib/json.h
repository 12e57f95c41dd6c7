/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * JSON files read strictly: every value is fetched with its type and range, and
 * what is wrong is said with the line it stands on.  Not installed.
 *
 * A place (struct lace_json) is a value and the way to it from the top.  Places
 * live on the reader's stack; the line is worked out only when it is asked for.
 */
#ifndef LACE_JSON_H
#define LACE_JSON_H

#include "lace.h"

#include <jansson.h>

/* Whole numbers up to here are exact in every JSON reader. */
#define LACE_JSON_MAX_WHOLE (1ULL << 53)

struct lace_json_doc {
	const char *name;	/* of the file, for errors */
	const char *text;
	size_t len;
	json_t *root;
	struct lace_error *err;
};

struct lace_json {
	struct lace_json_doc *doc;
	const struct lace_json *up;	/* NULL at the top */
	const char *key;		/* NULL for an element of an array */
	size_t index;
	json_t *value;			/* NULL: there is no such member */
};

/* Parses text, which has to outlive doc. */
int lace_json_open(struct lace_json_doc *doc, const char *name,
		   const char *text, size_t len, struct lace_error *err);
void lace_json_close(struct lace_json_doc *doc);

struct lace_json lace_json_top(struct lace_json_doc *doc);
/* up has to be an object, or an array with an element of that index. */
struct lace_json lace_json_member(const struct lace_json *up, const char *key);
struct lace_json lace_json_element(const struct lace_json *up, size_t index);
/* Absent, or null. */
bool lace_json_is_null(const struct lace_json *at);

/* Fails at the line of at, with the way to it before the reason; returns -1. */
int lace_json_fail(const struct lace_json *at, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
unsigned int lace_json_line(const struct lace_json *at);

/* Each fails if the member is absent or not what is asked for. */
int lace_json_object(const struct lace_json *at);
int lace_json_array(const struct lace_json *at, size_t *nr);
int lace_json_whole(const struct lace_json *at, uint64_t min, uint64_t max,
		    uint64_t *whole);
int lace_json_index(const struct lace_json *at, unsigned int min,
		    unsigned int max, unsigned int *index);
int lace_json_real(const struct lace_json *at, double min, double max,
		   double *real);
int lace_json_bool(const struct lace_json *at, bool *truth);
/* *string is borrowed from doc; lace_json_strdup()'s is the caller's. */
int lace_json_string(const struct lace_json *at, const char **string);
int lace_json_strdup(const struct lace_json *at, char **string);
/* The member has to be the hash of a file, as the tool sha256sum prints it. */
int lace_json_sha256(const struct lace_json *of, const char *key,
		     char sha256[65]);
/* The member "format" of the top has to be this. */
int lace_json_format(const struct lace_json *top, const char *format);

/* ---- writing ---- */

/* The shortest decimal that reads back as the same double. */
void lace_json_write_real(FILE *out, double real);
void lace_json_write_string(FILE *out, const char *string);

#endif /* LACE_JSON_H */
