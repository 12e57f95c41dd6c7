// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl plan show": which circuits and routes a plan has, with the names of
 * the cluster if that is given.
 */
#include "plan_words.h"

#include <stdlib.h>

static void print_lane(const struct lace_cluster *cluster, unsigned int node,
		       unsigned int port)
{
	if (node < cluster->nr_nodes &&
	    port < cluster->nodes[node].nr_ports)
		printf("%s %s", cluster->nodes[node].name,
		       cluster->nodes[node].ports[port].name);
	else
		printf("node %u port %u", node, port);
}

static void print_node(const struct lace_cluster *cluster, unsigned int node)
{
	if (node < cluster->nr_nodes)
		printf("%s", cluster->nodes[node].name);
	else
		printf("%u", node);
}

static void print_routes(const struct lace_cluster *cluster, const char *what,
			 const struct lace_route *route, unsigned int nr)
{
	unsigned int i, k;

	for (i = 0; i < nr; i++, route++) {
		printf("    %s ", what);
		print_node(cluster, route->from);
		for (k = 0; k < route->nr_between; k++) {
			printf(" > ");
			print_node(cluster, route->between[k]);
		}
		printf(" > ");
		print_node(cluster, route->to);
		putchar('\n');
	}
}

static void print_segment(const struct lace_cluster *cluster,
			  const struct lace_segment *segment, unsigned int id)
{
	unsigned int i;

	printf("segment %u: ops %u to %u, %g s\n", id, segment->first_op,
	       segment->last_op, segment->transmit_s);
	for (i = 0; i < segment->nr_circuits; i++) {
		printf("    ");
		print_lane(cluster, segment->circuits[i].tx_node,
			   segment->circuits[i].tx_port);
		printf(" to ");
		print_lane(cluster, segment->circuits[i].rx_node,
			   segment->circuits[i].rx_port);
		putchar('\n');
	}
	print_routes(cluster, "route", segment->routes, segment->nr_routes);
	print_routes(cluster, "alternate", segment->alternates,
		     segment->nr_alternates);
}

static json_t *json_routes(const struct lace_route *route, unsigned int nr)
{
	json_t *routes = json_array(), *between;
	unsigned int i, k;

	for (i = 0; i < nr; i++, route++) {
		between = json_array();
		for (k = 0; k < route->nr_between; k++)
			json_array_append_new(between,
					      json_integer(route->between[k]));
		json_array_append_new(routes, json_pack(
			"[i, i, o]", route->from, route->to, between));
	}
	return routes;
}

static json_t *json_segment(const struct lace_segment *segment, unsigned int id)
{
	const struct lace_circuit *circuit = segment->circuits;
	json_t *circuits = json_array();
	unsigned int i;

	for (i = 0; i < segment->nr_circuits; i++, circuit++)
		json_array_append_new(circuits, json_pack(
			"[i, i, i, i]", circuit->tx_node, circuit->tx_port,
			circuit->rx_node, circuit->rx_port));
	return json_pack("{s:i, s:i, s:i, s:f, s:o, s:o, s:o}", "id", id,
			 "first_op", segment->first_op, "last_op",
			 segment->last_op, "transmit_s", segment->transmit_s,
			 "circuits", circuits, "routes",
			 json_routes(segment->routes, segment->nr_routes),
			 "alternates",
			 json_routes(segment->alternates,
				     segment->nr_alternates));
}

static json_t *json_plan(const struct lace_plan *plan)
{
	json_t *segments = json_array();
	unsigned int i;

	for (i = 0; i < plan->nr_segments; i++)
		json_array_append_new(segments,
				      json_segment(&plan->segments[i], i));
	return json_pack("{s:s, s:f, s:f, s:f, s:f, s:o}", "scheduler",
			 plan->scheduler ? plan->scheduler : "", "cct_s",
			 plan->cct_s, "transmit_s", plan->transmit_s,
			 "reconfig_s", plan->reconfig_s, "bound_s",
			 plan->bound_s, "segments", segments);
}

int plan_show(const struct lacectl *ctl, int argc, char **argv,
	      struct lace_error *err)
{
	struct lace_cluster cluster = { 0 };
	struct lace_plan plan = { 0 };
	struct plan_words words;
	unsigned int i;
	int ret;

	ret = plan_words_parse(argc, argv, &words, err);
	if (!ret && !words.plan)
		ret = lace_fail(err, LACE_ERR_INPUT,
				"the plan's file is missing");
	if (!ret)
		ret = lace_plan_read(words.plan, &plan, err);
	if (!ret && words.cluster)
		ret = lace_cluster_read(words.cluster, &cluster, err);
	if (!ret && ctl->json) {
		ret = print_json(ctl, json_plan(&plan), err);
	} else if (!ret) {
		printf("%s: %u segments, %g s\n",
		       plan.scheduler ? plan.scheduler : "?", plan.nr_segments,
		       plan.cct_s);
		for (i = 0; i < plan.nr_segments; i++)
			print_segment(&cluster, &plan.segments[i], i);
		ret = print_end(err);
	}
	lace_plan_free(&plan);
	lace_cluster_free(&cluster);
	return ret;
}
