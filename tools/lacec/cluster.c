// SPDX-License-Identifier: GPL-2.0
/*
 * lacec cluster: a cluster of like servers, as a file to start from.
 */
#include "lacec.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CONTROL_RATIO 1000

struct request {
	unsigned int servers, ports;
	uint64_t rate_bps;
	enum lace_wiring wiring;
	double reconfig_s;
	double control_ratio;		/* negative: the default */
	enum lace_relay relay;
	const char *name, *output;
};

static const struct option options[] = {
	{ "servers", required_argument, NULL, 'n' },
	{ "ports", required_argument, NULL, 'p' },
	{ "rate", required_argument, NULL, 'r' },
	{ "wiring", required_argument, NULL, 'w' },
	{ "reconfig", required_argument, NULL, 't' },
	{ "control", required_argument, NULL, 'k' },
	{ "relay", required_argument, NULL, 'y' },
	{ "name", required_argument, NULL, 'm' },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int parse_control(const char *word, double *ratio,
			 struct lace_error *err)
{
	int ret = parse_ratio(word, "--control", ratio, err);

	if (!ret && *ratio > MAX_CONTROL_RATIO)
		ret = lace_fail(err, LACE_ERR_INPUT, "--control is at most %d",
				MAX_CONTROL_RATIO);
	return ret;
}

static int parse_option(int option, struct request *request,
			struct lace_error *err)
{
	switch (option) {
	case 'n':
		return parse_count(optarg, "--servers", &request->servers, err);
	case 'p':
		return parse_count(optarg, "--ports", &request->ports, err);
	case 'r':
		return parse_rate(optarg, &request->rate_bps, err);
	case 'w':
		return parse_wiring(optarg, &request->wiring, err);
	case 't':
		return parse_seconds(optarg, "--reconfig", &request->reconfig_s,
				     err);
	case 'k':
		return parse_control(optarg, &request->control_ratio, err);
	case 'y':
		return parse_relay(optarg, &request->relay, err);
	case 'm':
		request->name = optarg;
		return 0;
	default:
		request->output = optarg;
		return 0;
	}
}

static int make(const struct request *request, struct lace_cluster *cluster,
		struct lace_error *err)
{
	if (lace_cluster_make(request->servers, request->ports,
			      request->rate_bps, request->wiring,
			      request->reconfig_s, cluster, err))
		return -1;
	cluster->relay = request->relay;
	if (request->control_ratio >= 0)
		cluster->control_ratio = request->control_ratio;
	if (!request->name)
		return 0;
	free(cluster->name);
	cluster->name = strdup(request->name);
	return cluster->name ? 0 : lace_no_memory(err);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct request request = {
		.reconfig_s = 0.020, .control_ratio = -1,
		.relay = LACE_RELAY_CONTROL,
	};
	struct lace_cluster cluster = { 0 };
	struct lace_error err;
	int option, ret;

	while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (option == 'h')
			return print_help(self);
		if (option == '?')
			return STATUS_BAD;
		if (parse_option(option, &request, &err))
			return fail(&err);
	}
	if (optind < argc)
		return fail_usage(self, "what is \"%s\"?", argv[optind]);
	if (!request.servers || !request.ports || !request.rate_bps)
		return fail_usage(self,
				  "--servers, --ports and --rate are needed");
	ret = make(&request, &cluster, &err);
	if (!ret)
		ret = write_cluster(request.output, &cluster, &err);
	lace_cluster_free(&cluster);
	return ret ? fail(&err) : STATUS_DONE;
}

const struct command cluster_command = {
	.name = "cluster",
	.what = "makes a cluster of like servers",
	.usage = "--servers N --ports P --rate 400G [OPTION]...\n"
		 "  --wiring single|planes     one OCS for all ports (default), or one for each port index\n"
		 "  --reconfig TIME            charged for a change of configuration (default 20ms)\n"
		 "  --control RATIO            control bytes for each data byte, the other way (default 0.01)\n"
		 "  --relay none|control|data  what may take more than one circuit (default control)\n"
		 "  --name NAME                of the cluster\n"
		 "  -o, --output CLUSTER       file to write (default: standard output)",
	.run = run,
};
