// SPDX-License-Identifier: GPL-2.0
/*
 * lacec show: a plan for people: its segments, and what changes between them.
 */
#include "lacec.h"

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void print_circuit(char sign, const struct lace_circuit *circuit)
{
	printf("  %c %u.%u -> %u.%u\n", sign, circuit->tx_node,
	       circuit->tx_port, circuit->rx_node, circuit->rx_port);
}

/* Walks two sorted lists side by side. */
static void print_changes(const struct lace_segment *from,
			  const struct lace_segment *to)
{
	unsigned int i = 0, j = 0;
	int way;

	while (i < from->nr_circuits || j < to->nr_circuits) {
		if (i == from->nr_circuits)
			way = 1;
		else if (j == to->nr_circuits)
			way = -1;
		else
			way = lace_circuit_order(&from->circuits[i],
						 &to->circuits[j]);
		if (way < 0)
			print_circuit('-', &from->circuits[i]);
		else if (way > 0)
			print_circuit('+', &to->circuits[j]);
		i += way <= 0;
		j += way >= 0;
	}
}

static void print_routes(const char *what, const struct lace_route *route,
			 unsigned int nr)
{
	unsigned int i, k;

	for (i = 0; i < nr; i++, route++) {
		printf("  %s %u", what, route->from);
		for (k = 0; k < route->nr_between; k++)
			printf(" -> %u", route->between[k]);
		printf(" -> %u\n", route->to);
	}
}

static void print_plan(const struct lace_plan *plan)
{
	static const struct lace_segment empty;
	const struct lace_segment *segment;
	unsigned int i;

	printf("%s%s: %.6f s (%.6f transmit, %.6f reconfigure), at least %.6f s\n",
	       plan->scheduler,
	       plan->transition == LACE_KEEP_LANES ? ", lanes kept" : "",
	       plan->cct_s, plan->transmit_s, plan->reconfig_s,
	       plan->bound_s);
	for (i = 0; i < plan->nr_segments; i++) {
		segment = &plan->segments[i];
		printf("segment %u: ops %u-%u, %.6f s, %u circuits, %u routes\n",
		       i, segment->first_op, segment->last_op,
		       segment->transmit_s, segment->nr_circuits,
		       segment->nr_routes);
		print_changes(i ? segment - 1 : &empty, segment);
		print_routes("route", segment->routes, segment->nr_routes);
		print_routes("alternate", segment->alternates,
			     segment->nr_alternates);
	}
}

static int run(const struct command *self, int argc, char **argv)
{
	struct lace_error err;
	struct lace_plan plan;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h')
			return print_help(self);
		return STATUS_BAD;
	}
	if (optind != argc - 1)
		return fail_usage(self, "one PLAN is needed");
	if (lace_plan_read(argv[optind], &plan, &err))
		return fail(&err);
	print_plan(&plan);
	lace_plan_free(&plan);
	return STATUS_DONE;
}

const struct command show_command = {
	.name = "show",
	.what = "prints the segments of a plan, and what changes at each transition",
	.usage = "PLAN\n"
		 "  + NODE.PORT -> NODE.PORT  a circuit that comes\n"
		 "  - NODE.PORT -> NODE.PORT  a circuit that goes\n"
		 "  route NODE -> ... -> NODE way of a pair without a circuit\n"
		 "A circuit that stays is not printed again",
	.run = run,
};
