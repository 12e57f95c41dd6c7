// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Reads and writes plans (lace-plan/1): which circuits are in force for which
 * ops, and by which way round a pair without a circuit sends.
 */
#include "file.h"
#include "json.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "lace-plan/1"
#define KEEP_LANES "keep-lanes"

/* No cluster or schedule that we read has numbers beyond this. */
#define MAX_INDEX ((unsigned int)INT_MAX - 1)

int lace_circuit_order(const void *a, const void *b)
{
	const struct lace_circuit *x = a, *y = b;

	if (x->tx_node != y->tx_node)
		return x->tx_node < y->tx_node ? -1 : 1;
	if (x->tx_port != y->tx_port)
		return x->tx_port < y->tx_port ? -1 : 1;
	if (x->rx_node != y->rx_node)
		return x->rx_node < y->rx_node ? -1 : 1;
	return (x->rx_port > y->rx_port) - (x->rx_port < y->rx_port);
}

/* ---- reading ---- */

static int read_indices(const struct lace_json *at, unsigned int *numbers,
			size_t nr)
{
	struct lace_json number;
	size_t i;

	for (i = 0; i < nr; i++) {
		number = lace_json_element(at, i);
		if (lace_json_index(&number, 0, MAX_INDEX, &numbers[i]))
			return -1;
	}
	return 0;
}

static int read_circuit(const struct lace_json *at,
			struct lace_circuit *circuit)
{
	unsigned int numbers[4];
	size_t nr;

	if (lace_json_array(at, &nr))
		return -1;
	if (nr != 4)
		return lace_json_fail(at,
				      "has to be [tx node, tx port, rx node, rx port]");
	if (read_indices(at, numbers, 4))
		return -1;
	*circuit = (struct lace_circuit){
		.tx_node = numbers[0], .tx_port = numbers[1],
		.rx_node = numbers[2], .rx_port = numbers[3],
	};
	return 0;
}

static int read_circuits(const struct lace_json *of,
			 struct lace_segment *segment)
{
	struct lace_json array = lace_json_member(of, "circuits"), at;
	unsigned int i;
	size_t nr;

	if (lace_json_array(&array, &nr))
		return -1;
	segment->circuits = calloc(nr + 1, sizeof(*segment->circuits));
	if (!segment->circuits)
		return lace_no_memory(of->doc->err);
	segment->nr_circuits = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_circuit(&at, &segment->circuits[i]))
			return -1;
	}
	qsort(segment->circuits, nr, sizeof(*segment->circuits),
	      lace_circuit_order);
	return 0;
}

static int read_route(const struct lace_json *at, struct lace_route *route)
{
	struct lace_json from, to, between;
	size_t nr;

	if (lace_json_array(at, &nr))
		return -1;
	if (nr != 3)
		return lace_json_fail(at, "has to be [from, to, [between]]");
	from = lace_json_element(at, 0);
	to = lace_json_element(at, 1);
	between = lace_json_element(at, 2);
	if (lace_json_index(&from, 0, MAX_INDEX, &route->from) ||
	    lace_json_index(&to, 0, MAX_INDEX, &route->to) ||
	    lace_json_array(&between, &nr))
		return -1;
	route->between = calloc(nr + 1, sizeof(*route->between));
	if (!route->between)
		return lace_no_memory(at->doc->err);
	route->nr_between = nr;
	return read_indices(&between, route->between, nr);
}

static int compare_routes(const void *a, const void *b)
{
	const struct lace_route *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int read_routes(const struct lace_json *of, const char *key,
		       struct lace_route **routes, unsigned int *nr_routes)
{
	struct lace_json array = lace_json_member(of, key), at;
	unsigned int i;
	size_t nr;

	if (!array.value)
		return 0;
	if (lace_json_array(&array, &nr))
		return -1;
	*routes = calloc(nr + 1, sizeof(**routes));
	if (!*routes)
		return lace_no_memory(of->doc->err);
	*nr_routes = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_route(&at, &(*routes)[i]))
			return -1;
	}
	return 0;
}

/* The order of alternates means something. */
static int read_all_routes(const struct lace_json *of,
			   struct lace_segment *segment)
{
	if (read_routes(of, "routes", &segment->routes, &segment->nr_routes))
		return -1;
	if (segment->nr_routes)
		qsort(segment->routes, segment->nr_routes,
		      sizeof(*segment->routes), compare_routes);
	return read_routes(of, "alternates", &segment->alternates,
			   &segment->nr_alternates);
}

static int read_seconds(const struct lace_json *of, const char *key,
			double *seconds)
{
	struct lace_json at = lace_json_member(of, key);

	return lace_json_real(&at, 0, DBL_MAX, seconds);
}

static int read_segment(const struct lace_json *at,
			struct lace_segment *segment)
{
	struct lace_json first, last;

	if (lace_json_object(at))
		return -1;
	first = lace_json_member(at, "first_op");
	last = lace_json_member(at, "last_op");
	if (lace_json_index(&first, 0, MAX_INDEX, &segment->first_op) ||
	    lace_json_index(&last, 0, MAX_INDEX, &segment->last_op) ||
	    read_seconds(at, "transmit_s", &segment->transmit_s) ||
	    read_circuits(at, segment))
		return -1;
	return read_all_routes(at, segment);
}

static int read_segments(const struct lace_json *top, struct lace_plan *plan)
{
	struct lace_json array = lace_json_member(top, "segments"), at;
	unsigned int i;
	size_t nr;

	if (lace_json_array(&array, &nr))
		return -1;
	plan->segments = calloc(nr + 1, sizeof(*plan->segments));
	if (!plan->segments)
		return lace_no_memory(top->doc->err);
	plan->nr_segments = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_segment(&at, &plan->segments[i]))
			return -1;
	}
	return 0;
}

/* Added to the format: absent in a plan whose transitions stop all lanes. */
static int read_transition(const struct lace_json *top,
			   enum lace_transition *transition)
{
	struct lace_json at = lace_json_member(top, "transition");
	const char *name;

	*transition = LACE_STOP_ALL;
	if (!at.value)
		return 0;
	if (lace_json_string(&at, &name))
		return -1;
	if (strcmp(name, KEEP_LANES))
		return lace_json_fail(&at, "has to be \"" KEEP_LANES
				      "\", is \"%s\"", name);
	*transition = LACE_KEEP_LANES;
	return 0;
}

static int read_plan(const struct lace_json *top, struct lace_plan *plan)
{
	struct lace_json scheduler;

	if (lace_json_format(top, FORMAT))
		return -1;
	scheduler = lace_json_member(top, "scheduler");
	if (lace_json_strdup(&scheduler, &plan->scheduler) ||
	    read_transition(top, &plan->transition) ||
	    lace_json_sha256(top, "cluster_sha256", plan->cluster_sha256) ||
	    lace_json_sha256(top, "schedule_sha256", plan->schedule_sha256) ||
	    read_seconds(top, "cct_s", &plan->cct_s) ||
	    read_seconds(top, "transmit_s", &plan->transmit_s) ||
	    read_seconds(top, "reconfig_s", &plan->reconfig_s) ||
	    read_seconds(top, "bound_s", &plan->bound_s))
		return -1;
	return read_segments(top, plan);
}

/**
 * lace_plan_parse() - make a plan from the text of a plan file
 * @text: JSON
 * @len: its length in bytes
 * @name: what errors call the text
 * @plan: filled, circuits and routes sorted; empty on failure
 * @err: filled on failure
 *
 * Says nothing about whether the plan fits a cluster; lace_plan_evaluate()
 * does.
 *
 * Return: 0, or a negative value.
 */
int lace_plan_parse(const char *text, size_t len, const char *name,
		    struct lace_plan *plan, struct lace_error *err)
{
	struct lace_json_doc doc;
	struct lace_json top;
	int ret;

	memset(plan, 0, sizeof(*plan));
	ret = lace_json_open(&doc, name, text, len, err);
	if (ret)
		return ret;
	top = lace_json_top(&doc);
	ret = read_plan(&top, plan);
	lace_json_close(&doc);
	if (ret)
		lace_plan_free(plan);
	return ret;
}

/**
 * lace_plan_read() - read a plan file
 * @path: where it is
 * @plan: filled; empty on failure
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_plan_read(const char *path, struct lace_plan *plan,
		   struct lace_error *err)
{
	size_t len;
	char *text;
	int ret;

	memset(plan, 0, sizeof(*plan));
	ret = lace_file_read(path, &text, &len, err);
	if (ret)
		return ret;
	ret = lace_plan_parse(text, len, path, plan, err);
	free(text);
	return ret;
}

/* ---- writing ---- */

static void write_seconds(FILE *out, const char *key, double seconds)
{
	fprintf(out, "  \"%s\": ", key);
	lace_json_write_real(out, seconds);
	fputs(",\n", out);
}

/* One line for each node that sends. */
static void write_circuits(FILE *out, const struct lace_segment *segment)
{
	const struct lace_circuit *circuit;
	unsigned int i;

	fputs("      \"circuits\": [", out);
	for (i = 0; i < segment->nr_circuits; i++) {
		circuit = &segment->circuits[i];
		if (!i)
			fputs("\n\t", out);
		else if (circuit->tx_node != circuit[-1].tx_node)
			fputs(",\n\t", out);
		else
			fputs(", ", out);
		fprintf(out, "[%u, %u, %u, %u]", circuit->tx_node,
			circuit->tx_port, circuit->rx_node, circuit->rx_port);
	}
	fputs(" ]", out);
}

static void write_routes(FILE *out, const char *key,
			 const struct lace_route *route, unsigned int nr)
{
	unsigned int i, k;

	fprintf(out, ",\n      \"%s\": [", key);
	for (i = 0; i < nr; i++, route++) {
		fprintf(out, "%s[%u, %u, [", i ? ",\n\t" : "\n\t", route->from,
			route->to);
		for (k = 0; k < route->nr_between; k++)
			fprintf(out, "%s%u", k ? ", " : "", route->between[k]);
		fputs("]]", out);
	}
	fputs(" ]", out);
}

static void write_segment(FILE *out, const struct lace_segment *segment)
{
	fprintf(out, "    { \"first_op\": %u, \"last_op\": %u, \"transmit_s\": ",
		segment->first_op, segment->last_op);
	lace_json_write_real(out, segment->transmit_s);
	fputs(",\n", out);
	write_circuits(out, segment);
	if (segment->nr_routes)
		write_routes(out, "routes", segment->routes,
			     segment->nr_routes);
	if (segment->nr_alternates)
		write_routes(out, "alternates", segment->alternates,
			     segment->nr_alternates);
	fputs(" }", out);
}

/**
 * lace_plan_write() - write a plan file
 * @out: where to; not flushed
 * @plan: what
 *
 * Return: 0, or a negative value if @out has met an error.
 */
int lace_plan_write(FILE *out, const struct lace_plan *plan)
{
	unsigned int i;

	fputs("{ \"format\": \"" FORMAT "\",\n  \"scheduler\": ", out);
	lace_json_write_string(out, plan->scheduler);
	if (plan->transition == LACE_KEEP_LANES)
		fputs(",\n  \"transition\": \"" KEEP_LANES "\"", out);
	fprintf(out,
		",\n  \"cluster_sha256\": \"%s\",\n  \"schedule_sha256\": \"%s\",\n",
		plan->cluster_sha256, plan->schedule_sha256);
	write_seconds(out, "cct_s", plan->cct_s);
	write_seconds(out, "transmit_s", plan->transmit_s);
	write_seconds(out, "reconfig_s", plan->reconfig_s);
	write_seconds(out, "bound_s", plan->bound_s);
	fputs("  \"segments\": [", out);
	for (i = 0; i < plan->nr_segments; i++) {
		fputs(i ? ",\n" : "\n", out);
		write_segment(out, &plan->segments[i]);
	}
	fputs(" ] }\n", out);
	return ferror(out) ? -1 : 0;
}

static void free_routes(struct lace_route *routes, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		free(routes[i].between);
	free(routes);
}

/**
 * lace_plan_free() - free what a plan holds
 * @plan: it; empty afterwards
 */
void lace_plan_free(struct lace_plan *plan)
{
	struct lace_segment *segment;
	unsigned int i;

	for (i = 0; i < plan->nr_segments; i++) {
		segment = &plan->segments[i];
		free_routes(segment->routes, segment->nr_routes);
		free_routes(segment->alternates, segment->nr_alternates);
		free(segment->circuits);
	}
	free(plan->segments);
	free(plan->scheduler);
	memset(plan, 0, sizeof(*plan));
}
