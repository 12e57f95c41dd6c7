// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Reads and writes certificates (lace-certificate/1): why no plan takes less
 * than a bound.  What they prove is certificate_check.c's business; here they
 * are numbers.
 */
#include "file.h"
#include "json.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "lace-certificate/1"

#define MAX_INDEX ((unsigned int)INT_MAX - 1)
#define MAX_NUMBERS ((size_t)1 << 24)	/* in lists, written out */

/* ---- lists of numbers, where [x, n] stands for n times x ---- */

struct list {
	double *numbers;
	size_t nr, max;
	size_t *room;		/* what the file may still have */
};

static int append(const struct lace_json *at, struct list *list, double number,
		  size_t times)
{
	if (times > *list->room)
		return lace_json_fail(at, "the lists have more than %zu numbers",
				      MAX_NUMBERS);
	*list->room -= times;
	if (list->nr + times > list->max) {
		size_t max = 2 * list->max + times + 16;
		double *grown = realloc(list->numbers, max * sizeof(*grown));

		if (!grown)
			return lace_no_memory(at->doc->err);
		list->numbers = grown;
		list->max = max;
	}
	while (times--)
		list->numbers[list->nr++] = number;
	return 0;
}

static int read_run(const struct lace_json *at, struct list *list)
{
	struct lace_json number, times;
	uint64_t count = 1;
	double real;
	size_t nr;

	if (!json_is_array(at->value)) {
		if (lace_json_real(at, 0, DBL_MAX, &real))
			return -1;
		return append(at, list, real, 1);
	}
	if (lace_json_array(at, &nr))
		return -1;
	if (nr != 2)
		return lace_json_fail(at, "has to be [number, how often]");
	number = lace_json_element(at, 0);
	times = lace_json_element(at, 1);
	if (lace_json_real(&number, 0, DBL_MAX, &real) ||
	    lace_json_whole(&times, 1, MAX_NUMBERS, &count))
		return -1;
	return append(at, list, real, count);
}

static int read_list(const struct lace_json *at, size_t *room,
		     double **numbers, size_t *nr)
{
	struct list list = { .room = room };
	struct lace_json run;
	size_t runs, i;
	int ret;

	ret = lace_json_array(at, &runs);
	for (i = 0; !ret && i < runs; i++) {
		run = lace_json_element(at, i);
		ret = read_run(&run, &list);
	}
	*numbers = list.numbers;
	*nr = list.nr;
	return ret;
}

/* ---- reading ---- */

static int read_prices(const struct lace_json *of, const char *key,
		       size_t *room, struct lace_proof_step *step)
{
	struct lace_json at = lace_json_member(of, key);
	size_t nr;

	if (read_list(&at, room, &step->prices, &nr))
		return -1;
	step->nr_prices = nr;
	return 0;
}

static int read_split(const struct lace_json *at, struct lace_proof_step *step)
{
	struct lace_json op, time;
	size_t nr;

	if (lace_json_array(at, &nr))
		return -1;
	if (nr != 2)
		return lace_json_fail(at, "has to be [op, seconds]");
	op = lace_json_element(at, 0);
	time = lace_json_element(at, 1);
	step->kind = LACE_PROOF_SPLIT;
	if (lace_json_index(&op, 0, MAX_INDEX, &step->op))
		return -1;
	return lace_json_real(&time, 0, DBL_MAX, &step->time);
}

static int read_leaf(const struct lace_json *at, size_t *room,
		     struct lace_proof_step *step)
{
	struct lace_json shares;

	if (lace_json_object(at))
		return -1;
	if (json_object_get(at->value, "crossing")) {
		step->kind = LACE_PROOF_CROSSING;
		return read_prices(at, "crossing", room, step);
	}
	step->kind = LACE_PROOF_DUAL;
	shares = lace_json_member(at, "shares");
	if (read_list(&shares, room, &step->shares, &step->nr_shares))
		return -1;
	return read_prices(at, "prices", room, step);
}

static int read_step(const struct lace_json *at, size_t *room,
		     struct lace_proof_step *step)
{
	if (json_is_array(at->value))
		return read_split(at, step);
	if (json_is_object(at->value))
		return read_leaf(at, room, step);
	if (lace_json_is_null(at)) {
		step->kind = LACE_PROOF_SUM;
		return 0;
	}
	step->kind = LACE_PROOF_FULL;
	return lace_json_index(at, 0, MAX_INDEX, &step->row);
}

static int read_steps(const struct lace_json *of, size_t *room,
		      struct lace_proof *proof)
{
	struct lace_json array = lace_json_member(of, "steps"), at;
	unsigned int i;
	size_t nr;

	if (lace_json_array(&array, &nr))
		return -1;
	proof->steps = calloc(nr + 1, sizeof(*proof->steps));
	if (!proof->steps)
		return lace_no_memory(of->doc->err);
	proof->nr_steps = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_step(&at, room, &proof->steps[i]))
			return -1;
	}
	return 0;
}

static int read_proof(const struct lace_json *at, size_t *room,
		      struct lace_proof *proof)
{
	struct lace_json first, last, least;

	if (lace_json_object(at))
		return -1;
	first = lace_json_member(at, "first_op");
	last = lace_json_member(at, "last_op");
	least = lace_json_member(at, "at_least");
	if (lace_json_index(&first, 0, MAX_INDEX, &proof->first_op) ||
	    lace_json_index(&last, proof->first_op, MAX_INDEX,
			    &proof->last_op))
		return -1;
	proof->at_least = INFINITY;
	if (!(least.value && json_is_null(least.value)) &&
	    lace_json_real(&least, 0, DBL_MAX, &proof->at_least))
		return -1;
	return read_steps(at, room, proof);
}

static int read_proofs(const struct lace_json *top, size_t *room,
		       struct lace_certificate *certificate)
{
	struct lace_json array = lace_json_member(top, "proofs"), at;
	unsigned int i;
	size_t nr;

	if (lace_json_array(&array, &nr))
		return -1;
	certificate->proofs = calloc(nr + 1, sizeof(*certificate->proofs));
	if (!certificate->proofs)
		return lace_no_memory(top->doc->err);
	certificate->nr_proofs = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_proof(&at, room, &certificate->proofs[i]))
			return -1;
	}
	return 0;
}

static int read_circuits(const struct lace_json *top, bool *duplex)
{
	struct lace_json at = lace_json_member(top, "circuits");
	const char *name;

	if (lace_json_string(&at, &name))
		return -1;
	*duplex = !strcmp(name, "duplex");
	if (*duplex || !strcmp(name, "lanes"))
		return 0;
	return lace_json_fail(&at, "has to be \"lanes\" or \"duplex\", is \"%s\"",
			      name);
}

static int read_certificate(const struct lace_json *top,
			    struct lace_certificate *certificate)
{
	struct lace_json bound, potentials;
	size_t nr, room = MAX_NUMBERS;

	if (lace_json_format(top, FORMAT))
		return -1;
	bound = lace_json_member(top, "bound_s");
	potentials = lace_json_member(top, "potentials");
	if (lace_json_sha256(top, "cluster_sha256",
			     certificate->cluster_sha256) ||
	    lace_json_sha256(top, "schedule_sha256",
			     certificate->schedule_sha256) ||
	    read_circuits(top, &certificate->duplex) ||
	    lace_json_real(&bound, 0, DBL_MAX, &certificate->bound_s) ||
	    read_list(&potentials, &room, &certificate->potentials, &nr))
		return -1;
	if (!nr)
		return lace_json_fail(&potentials, "is empty");
	certificate->nr_ops = nr - 1;
	return read_proofs(top, &room, certificate);
}

/**
 * lace_certificate_parse() - make a certificate from the text of its file
 * @text: JSON
 * @len: its length in bytes
 * @name: what errors call the text
 * @certificate: filled; empty on failure
 * @err: filled on failure
 *
 * Says nothing about whether it proves anything; lace_certificate_check() does.
 *
 * Return: 0, or a negative value.
 */
int lace_certificate_parse(const char *text, size_t len, const char *name,
			   struct lace_certificate *certificate,
			   struct lace_error *err)
{
	struct lace_json_doc doc;
	struct lace_json top;
	int ret;

	memset(certificate, 0, sizeof(*certificate));
	ret = lace_json_open(&doc, name, text, len, err);
	if (ret)
		return ret;
	top = lace_json_top(&doc);
	ret = read_certificate(&top, certificate);
	lace_json_close(&doc);
	if (ret)
		lace_certificate_free(certificate);
	return ret;
}

/**
 * lace_certificate_read() - read a certificate file
 * @path: where it is
 * @certificate: filled; empty on failure
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_certificate_read(const char *path,
			  struct lace_certificate *certificate,
			  struct lace_error *err)
{
	size_t len;
	char *text;
	int ret;

	memset(certificate, 0, sizeof(*certificate));
	ret = lace_file_read(path, &text, &len, err);
	if (ret)
		return ret;
	ret = lace_certificate_parse(text, len, path, certificate, err);
	free(text);
	return ret;
}

/* ---- writing ---- */

static void write_list(FILE *out, const double *numbers, size_t nr)
{
	size_t from, to;

	fputc('[', out);
	for (from = 0; from < nr; from = to) {
		to = from + 1;
		while (to < nr && numbers[to] == numbers[from])
			to++;
		if (from)
			fputs(from % 8 ? ", " : ",\n\t", out);
		if (to - from > 1)
			fputc('[', out);
		lace_json_write_real(out, numbers[from]);
		if (to - from > 1)
			fprintf(out, ", %zu]", to - from);
	}
	fputc(']', out);
}

static void write_step(FILE *out, const struct lace_proof_step *step)
{
	switch (step->kind) {
	case LACE_PROOF_SPLIT:
		fprintf(out, "[%u, ", step->op);
		lace_json_write_real(out, step->time);
		fputc(']', out);
		return;
	case LACE_PROOF_FULL:
		fprintf(out, "%u", step->row);
		return;
	case LACE_PROOF_SUM:
		fputs("null", out);
		return;
	case LACE_PROOF_CROSSING:
		fputs("{ \"crossing\": ", out);
		break;
	case LACE_PROOF_DUAL:
		fputs("{ \"shares\": ", out);
		write_list(out, step->shares, step->nr_shares);
		fputs(",\n\t  \"prices\": ", out);
		break;
	}
	write_list(out, step->prices, step->nr_prices);
	fputs(" }", out);
}

static void write_proof(FILE *out, const struct lace_proof *proof)
{
	unsigned int i, splits = 0;

	fprintf(out, "    { \"first_op\": %u, \"last_op\": %u, \"at_least\": ",
		proof->first_op, proof->last_op);
	if (proof->at_least < INFINITY)
		lace_json_write_real(out, proof->at_least);
	else
		fputs("null", out);
	fputs(",\n      \"steps\": [", out);
	for (i = 0; i < proof->nr_steps; i++) {
		bool split = proof->steps[i].kind == LACE_PROOF_SPLIT;

		if (i)
			fputs(split && splits % 4 == 0 ? ",\n\t" : ", ", out);
		splits += split;
		write_step(out, &proof->steps[i]);
	}
	fputs("] }", out);
}

/**
 * lace_certificate_write() - write a certificate file
 * @out: where to; not flushed
 * @certificate: what
 *
 * Return: 0, or a negative value if @out has met an error.
 */
int lace_certificate_write(FILE *out,
			   const struct lace_certificate *certificate)
{
	unsigned int i;

	fprintf(out,
		"{ \"format\": \"" FORMAT "\",\n"
		"  \"cluster_sha256\": \"%s\",\n  \"schedule_sha256\": \"%s\",\n"
		"  \"circuits\": \"%s\",\n  \"bound_s\": ",
		certificate->cluster_sha256, certificate->schedule_sha256,
		certificate->duplex ? "duplex" : "lanes");
	lace_json_write_real(out, certificate->bound_s);
	fputs(",\n  \"potentials\": ", out);
	write_list(out, certificate->potentials,
		   (size_t)certificate->nr_ops + 1);
	fputs(",\n  \"proofs\": [", out);
	for (i = 0; i < certificate->nr_proofs; i++) {
		fputs(i ? ",\n" : "\n", out);
		write_proof(out, &certificate->proofs[i]);
	}
	fputs(" ] }\n", out);
	return ferror(out) ? -1 : 0;
}

/**
 * lace_certificate_free() - free what a certificate holds
 * @certificate: it; empty afterwards
 */
void lace_certificate_free(struct lace_certificate *certificate)
{
	unsigned int i, k;

	for (i = 0; i < certificate->nr_proofs; i++) {
		for (k = 0; k < certificate->proofs[i].nr_steps; k++) {
			free(certificate->proofs[i].steps[k].prices);
			free(certificate->proofs[i].steps[k].shares);
		}
		free(certificate->proofs[i].steps);
	}
	free(certificate->proofs);
	free(certificate->potentials);
	memset(certificate, 0, sizeof(*certificate));
}
