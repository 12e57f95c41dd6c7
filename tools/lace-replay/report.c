// SPDX-License-Identifier: GPL-2.0
/*
 * What came of it: a table to read, or JSON with stable keys.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

/* Ops whose names differ in a number at the end only. */
struct class {
	const char *name;
	size_t name_len;
	uint64_t ops, rounds, bytes;
	double predicted_s, measured_s;
};

struct sums {
	double op_predicted_s, op_measured_s;
	double enter_predicted_s, enter_measured_s;
	double predicted_s, measured_s;
};

/* Length of "pp-fwd" in "pp-fwd.11". */
static size_t stem_length(const char *name)
{
	size_t len = strlen(name), end = len;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end < len && end > 1 && strchr(".-_ ", name[end - 1]))
		return end - 1;
	return len;
}

static struct class *class_of(struct class *classes, size_t *nr,
			      const char *name)
{
	size_t len = stem_length(name);

	for (size_t i = 0; i < *nr; i++)
		if (classes[i].name_len == len &&
		    !memcmp(classes[i].name, name, len))
			return classes + i;
	classes[*nr] = (struct class){ .name = name, .name_len = len };
	return classes + (*nr)++;
}

static struct class *make_classes(const struct report *report, size_t *nr)
{
	const struct traffic *traffic = report->traffic;
	struct class *classes = calloc(traffic->nr_ops + 1, sizeof(*classes));

	*nr = 0;
	if (!classes)
		return NULL;
	for (unsigned int i = 0; i < traffic->nr_ops; i++) {
		struct class *class = class_of(classes, nr,
					       traffic->ops[i].name);

		class->ops++;
		class->rounds += traffic->ops[i].repeat;
		class->bytes += traffic_op_bytes(traffic->ops + i);
		class->measured_s += report->result->op_s[i];
		if (report->prediction)
			class->predicted_s += report->prediction->op_s[i];
	}
	return classes;
}

static struct sums sum_up(const struct report *report)
{
	const struct prediction *prediction = report->prediction;
	struct sums sums = { 0 };

	for (unsigned int i = 0; i < report->traffic->nr_ops; i++) {
		sums.op_measured_s += report->result->op_s[i];
		if (prediction)
			sums.op_predicted_s += prediction->op_s[i];
	}
	/* Getting into the first configuration is free. */
	for (unsigned int s = 1; s < report->traffic->nr_segments; s++) {
		sums.enter_measured_s += report->result->enter_s[s];
		if (prediction)
			sums.enter_predicted_s += prediction->enter_s[s];
	}
	sums.predicted_s = sums.op_predicted_s + sums.enter_predicted_s;
	sums.measured_s = sums.op_measured_s + sums.enter_measured_s +
			  report->result->barrier_s;
	return sums;
}

/* ---- table ---- */

static void time_row(FILE *out, const char *name, int name_len, uint64_t ops,
		     uint64_t rounds, double predicted_s, double measured_s)
{
	fprintf(out, "%-24.*s", name_len, name);
	if (ops)
		fprintf(out, " %5llu %7llu", (unsigned long long)ops,
			(unsigned long long)rounds);
	else
		fprintf(out, " %5s %7s", "", "");
	if (predicted_s > 0)
		fprintf(out, " %12.3f %11.3f %6.3f\n", predicted_s, measured_s,
			measured_s / predicted_s);
	else
		fprintf(out, " %12s %11.3f\n", "-", measured_s);
}

static void lanes_table(FILE *out, const struct report *report)
{
	const struct lace_node *nodes = report->cluster->nodes;

	fprintf(out, "\n%-24s %-10s %14s %14s %6s\n", "lane", "to",
		"planned MB", "measured MB", "ratio");
	for (size_t i = 0; i < report->prediction->nr_lanes; i++) {
		const struct lane_use *lane = report->prediction->lanes + i;
		char name[64];

		snprintf(name, sizeof(name), "%s %s", nodes[lane->node].name,
			 nodes[lane->node].ports[lane->port].name);
		fprintf(out, "%-24s %-10s %14.3f %14.3f", name,
			lane->peer < 0 ? "(several)" : nodes[lane->peer].name,
			lane->planned / 1e6, lane->measured / 1e6);
		if (lane->planned > 0)
			fprintf(out, " %6.3f\n",
				lane->measured / lane->planned);
		else
			fprintf(out, "\n");
	}
}

/**
 * report_table() - a table to read
 * @out:	where to
 * @report:	what
 */
void report_table(FILE *out, const struct report *report)
{
	const struct message_totals *totals = &report->result->totals;
	struct sums sums = sum_up(report);
	size_t nr;
	struct class *classes = make_classes(report, &nr);

	fprintf(out, "%-24s %5s %7s %12s %11s %6s\n", "op", "ops", "rounds",
		"predicted s", "measured s", "ratio");
	for (size_t i = 0; classes && i < nr; i++)
		time_row(out, classes[i].name, classes[i].name_len,
			 classes[i].ops, classes[i].rounds,
			 classes[i].predicted_s, classes[i].measured_s);
	if (report->traffic->nr_segments > 1)
		time_row(out, "(reconfiguration)", 24, 0, 0,
			 sums.enter_predicted_s, sums.enter_measured_s);
	time_row(out, "(barriers)", 24, 0, 0, 0, report->result->barrier_s);
	time_row(out, "total", 24, 0, 0, sums.predicted_s, sums.measured_s);
	if (report->prediction)
		lanes_table(out, report);
	fprintf(out, "\n%.3f MB of payload checked: %llu bad, %llu extra; "
		"%llu segments sent again\n", totals->received / 1e6,
		(unsigned long long)totals->bad,
		(unsigned long long)totals->extra,
		(unsigned long long)totals->retransmits);
	free(classes);
}

/* ---- JSON ---- */

static json_t *json_ops(const struct report *report)
{
	const struct traffic *traffic = report->traffic;
	json_t *array = json_array();

	for (unsigned int i = 0; i < traffic->nr_ops; i++) {
		const struct traffic_op *op = traffic->ops + i;
		json_t *entry = json_pack("{s:i s:s s:i s:I s:I s:f}",
			"op", (int)i, "name", op->name,
			"segment", (int)op->segment,
			"repeat", (json_int_t)op->repeat,
			"bytes", (json_int_t)traffic_op_bytes(op),
			"measured_s", report->result->op_s[i]);

		if (report->prediction)
			json_object_set_new(entry, "predicted_s",
				json_real(report->prediction->op_s[i]));
		json_array_append_new(array, entry);
	}
	return array;
}

static json_t *json_segments(const struct report *report)
{
	json_t *array = json_array();

	for (unsigned int s = 0; s < report->traffic->nr_segments; s++)
		json_array_append_new(array, json_pack("{s:i s:f s:f}",
			"segment", (int)s,
			"enter_predicted_s", report->prediction->enter_s[s],
			"enter_measured_s", report->result->enter_s[s]));
	return array;
}

static json_t *json_lanes(const struct report *report)
{
	const struct lace_node *nodes = report->cluster->nodes;
	json_t *array = json_array();

	for (size_t i = 0; i < report->prediction->nr_lanes; i++) {
		const struct lane_use *lane = report->prediction->lanes + i;

		json_array_append_new(array, json_pack("{s:s s:s s:s? s:I s:I}",
			"node", nodes[lane->node].name,
			"port", nodes[lane->node].ports[lane->port].name,
			"peer", lane->peer < 0 ? NULL : nodes[lane->peer].name,
			"planned_bytes", (json_int_t)lane->planned,
			"measured_bytes", (json_int_t)lane->measured));
	}
	return array;
}

/**
 * report_json() - one object on one line
 * @out:	where to
 * @report:	what
 */
int report_json(FILE *out, const struct report *report)
{
	const struct message_totals *totals = &report->result->totals;
	struct sums sums = sum_up(report);
	json_t *root = json_pack("{s:f s:f s:I s:I s:I s:I s:o}",
		"measured_s", sums.measured_s,
		"barrier_s", report->result->barrier_s,
		"payload_bytes", (json_int_t)totals->received,
		"bad_bytes", (json_int_t)totals->bad,
		"extra_bytes", (json_int_t)totals->extra,
		"retransmits", (json_int_t)totals->retransmits,
		"ops", json_ops(report));
	int ret;

	if (report->prediction) {
		json_object_set_new(root, "scheduler",
				    json_string(report->plan->scheduler));
		json_object_set_new(root, "predicted_s",
				    json_real(sums.predicted_s));
		json_object_set_new(root, "reconfig_predicted_s",
				    json_real(sums.enter_predicted_s));
		json_object_set_new(root, "reconfig_measured_s",
				    json_real(sums.enter_measured_s));
		json_object_set_new(root, "segments", json_segments(report));
		json_object_set_new(root, "lanes", json_lanes(report));
	}
	ret = json_dumpf(root, out, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(root);
	fputc('\n', out);
	return ret;
}
