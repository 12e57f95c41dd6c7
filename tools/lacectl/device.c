// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl device" and "lacectl port": devices, which node they are, and the
 * numbers of their ports.
 */
#include "client.h"
#include "lacectl.h"
#include "show.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char device_usage[] =
	"lacectl device [show [DEV]]\n"
	"lacectl device set DEV node NUMBER\n"
	"lacectl device set DEV reorder { on | off | TIME }\n"
	"  NUMBER is the index in the cluster of the node that this host is\n"
	"  TIME is the longest that a TCP segment waits for those before it, as 50ms\n";

static const char port_usage[] =
	"lacectl port [show [dev DEV]]\n"
	"lacectl port set PORT number NUMBER\n"
	"  PORT is the enslaved interface, NUMBER its index in the cluster\n";

static const char *const stat_names[LACE_A_DEVSTAT_MAX + 1] = {
	[LACE_A_DEVSTAT_TX_NO_NODE] = "tx_no_node",
	[LACE_A_DEVSTAT_TX_NO_LANE] = "tx_no_lane",
	[LACE_A_DEVSTAT_STEER_BAD] = "steer_bad",
	[LACE_A_DEVSTAT_REORDER_IN_ORDER] = "reorder_in_order",
	[LACE_A_DEVSTAT_REORDER_HELD] = "reorder_held",
	[LACE_A_DEVSTAT_REORDER_FILLED] = "reorder_filled",
	[LACE_A_DEVSTAT_REORDER_LOST] = "reorder_lost",
	[LACE_A_DEVSTAT_REORDER_EXPIRED] = "reorder_expired",
	[LACE_A_DEVSTAT_REORDER_OVERFLOW] = "reorder_overflow",
	[LACE_A_DEVSTAT_REORDER_FLUSHED] = "reorder_flushed",
	[LACE_A_DEVSTAT_REORDER_LATE] = "reorder_late",
	[LACE_A_DEVSTAT_REORDER_DEPTH] = "reorder_depth",
};

static json_t *json_port(const struct lace_rt_port *port)
{
	return json_pack("{s:i, s:s, s:i}", "number", port->number, "ifname",
			 port->ifname, "ifindex", port->ifindex);
}

static json_t *json_ports(const struct lace_rt_device *device)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < device->nr_ports; i++)
		json_array_append_new(list, json_port(&device->ports[i]));
	return list;
}

json_t *json_device(const struct lace_rt_device *device)
{
	return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "ifname", device->ifname, "ifindex", device->ifindex,
			 "node", json_or_null(device->node),
			 "segment", json_or_null(device->segment),
			 "steer_prog_id", device->steer_prog_id ?
				json_integer(device->steer_prog_id) :
				json_null(),
			 "reorder_us", json_or_null(device->reorder_us),
			 "ports", json_ports(device),
			 "stats", json_stats(stat_names, device->stats,
					     LACE_A_DEVSTAT_MAX));
}

void print_device(const struct lacectl *ctl, const struct lace_rt_device *device)
{
	unsigned int i;

	printf("%s: ifindex %u", device->ifname, device->ifindex);
	print_or_none(" node", device->node);
	print_or_none(" segment", device->segment);
	if (device->steer_prog_id)
		printf(" steer prog id %u", device->steer_prog_id);
	else
		printf(" steer built-in");
	if (device->reorder_us > 0)
		printf(" reorder %gms", device->reorder_us / 1e3);
	else if (!device->reorder_us)
		printf(" reorder off");
	putchar('\n');
	for (i = 0; i < device->nr_ports; i++)
		printf("    port %u %s\n", device->ports[i].number,
		       device->ports[i].ifname);
	if (ctl->stats)
		print_stats(stat_names, device->stats, LACE_A_DEVSTAT_MAX);
}

static int get_devices(const char *dev, struct lace_rt_device **devices,
		       size_t *nr, struct lace_error *err)
{
	struct lace_client *client;
	int ret;

	if (lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_devices(client, dev, devices, nr, err);
	lace_client_close(client);
	return ret;
}

static int device_show(const struct lacectl *ctl, int argc, char **argv,
		       struct lace_error *err)
{
	struct args args = { argc, argv };
	const char *dev = args_next(&args);
	struct lace_rt_device *devices;
	json_t *list = NULL;
	size_t nr, i;

	if (args_end(&args, err) || get_devices(dev, &devices, &nr, err))
		return -1;
	if (ctl->json)
		list = json_array();
	for (i = 0; i < nr; i++)
		if (ctl->json)
			json_array_append_new(list, json_device(&devices[i]));
		else
			print_device(ctl, &devices[i]);
	free(devices);
	return ctl->json ? print_json(ctl, list, err) : print_end(err);
}

/* "on", "off" or a time, in microseconds. */
static int args_reorder(struct args *args, uint64_t *us, struct lace_error *err)
{
	const char *word;
	double seconds;

	if (args_word(args, "reorder", &word, err))
		return -1;
	if (!strcmp(word, "on")) {
		*us = LACE_DEFAULT_REORDER_USECS;
	} else if (!strcmp(word, "off")) {
		*us = 0;
	} else {
		if (parse_seconds(word, "reorder", &seconds, err))
			return -1;
		if (seconds * 1e6 > LACE_MAX_REORDER_USECS ||
		    seconds * 1e6 < 1)
			return lace_fail(err, LACE_ERR_INPUT,
					 "reorder %s: not from 1 us to %u s",
					 word, LACE_MAX_REORDER_USECS / 1000000);
		*us = (uint64_t)lround(seconds * 1e6);
	}
	return 0;
}

static int device_set(const struct lacectl *ctl, int argc, char **argv,
		      struct lace_error *err)
{
	static const char *const keywords[] = { "node", "reorder", NULL };
	struct args args = { argc, argv };
	struct lace_client *client;
	const char *dev;
	uint64_t value;
	int keyword, ret;

	(void)ctl;
	if (args_word(&args, "device", &dev, err) ||
	    args_keyword(&args, keywords, &keyword, err))
		return -1;
	if (keyword < 0)
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"node NUMBER\" or \"reorder TIME\" is missing");
	if (keyword ? args_reorder(&args, &value, err) :
		      args_number(&args, "node", LACE_MAX_NODES - 1, &value, err))
		return -1;
	if (args_end(&args, err) || lace_client_open(NULL, &client, err))
		return -1;
	ret = keyword ? lace_client_set_reorder(client, dev, value, err) :
			lace_client_set_number(client, dev, value, err);
	lace_client_close(client);
	return ret;
}

/* ---- port ---- */

static void add_ports(json_t *list, const struct lace_rt_device *device)
{
	unsigned int i;
	json_t *port;

	for (i = 0; i < device->nr_ports; i++) {
		port = json_port(&device->ports[i]);
		json_object_set_new(port, "dev", json_string(device->ifname));
		json_array_append_new(list, port);
	}
}

static void print_ports(const struct lace_rt_device *device)
{
	unsigned int i;

	for (i = 0; i < device->nr_ports; i++)
		printf("%s port %u %s ifindex %u\n", device->ifname,
		       device->ports[i].number, device->ports[i].ifname,
		       device->ports[i].ifindex);
}

static int port_show(const struct lacectl *ctl, int argc, char **argv,
		     struct lace_error *err)
{
	struct args args = { argc, argv };
	struct lace_rt_device *devices;
	struct selection selection;
	json_t *list = NULL;
	size_t nr, i;

	if (args_selection(&args, "port", 0, &selection, err) ||
	    get_devices(selection.dev, &devices, &nr, err))
		return -1;
	if (ctl->json)
		list = json_array();
	for (i = 0; i < nr; i++)
		if (ctl->json)
			add_ports(list, &devices[i]);
		else
			print_ports(&devices[i]);
	free(devices);
	return ctl->json ? print_json(ctl, list, err) : print_end(err);
}

static int port_set(const struct lacectl *ctl, int argc, char **argv,
		    struct lace_error *err)
{
	static const char *const keywords[] = { "number", NULL };
	struct args args = { argc, argv };
	struct lace_client *client;
	const char *port;
	uint64_t number;
	int keyword, ret;

	(void)ctl;
	if (args_word(&args, "port", &port, err) ||
	    args_keyword(&args, keywords, &keyword, err))
		return -1;
	if (keyword < 0)
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"number NUMBER\" is missing");
	if (args_number(&args, "number", LACE_MAX_PORTS - 1, &number, err) ||
	    args_end(&args, err) || lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_set_port(client, port, number, err);
	lace_client_close(client);
	return ret;
}

static const struct command device_commands[] = {
	{ "show", device_show },
	{ "set", device_set },
	{ NULL, NULL },
};

static const struct command port_commands[] = {
	{ "show", port_show },
	{ "set", port_set },
	{ NULL, NULL },
};

const struct object device_object = { "device", device_usage, device_commands,
				      NULL };
const struct object port_object = { "port", port_usage, port_commands, NULL };
