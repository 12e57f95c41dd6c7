// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl device" and "lacectl port": devices, which node they are, and the
 * numbers of their ports.
 */
#include "../../kmod/stat_names.h"
#include "client.h"
#include "lacectl.h"
#include "show.h"
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char device_usage[] =
	"lacectl device [show [DEV]]\n"
	"lacectl device set DEV node NUMBER\n"
	"lacectl device set DEV reorder { on | off | TIME }\n"
	"  NUMBER is the index in the cluster of the node that this host is\n"
	"lacectl device set DEV ack { on | off | TIME }\n"
	"lacectl device set DEV key { FILE | none }\n"
	"  TIME of reorder is the longest that a TCP segment waits for those before it,\n"
	"  as 50ms; TIME of ack is the interval of the lane protocol, as 100ms\n"
	"  FILE holds the key of the lane protocol, 32 hexadecimal digits; - is stdin\n";

static const char port_usage[] =
	"lacectl port [show [dev DEV]]\n"
	"lacectl port set PORT number NUMBER\n"
	"  PORT is the enslaved interface, NUMBER its index in the cluster\n";

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
	return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o}",
			 "ifname", device->ifname, "ifindex", device->ifindex,
			 "node", json_or_null(device->node),
			 "segment", json_or_null(device->segment),
			 "steer_prog_id", device->steer_prog_id ?
				json_integer(device->steer_prog_id) :
				json_null(),
			 "reorder_us", json_or_null(device->reorder_us),
			 "ack_ms", json_or_null(device->ack_ms),
			 "ack_keyed", device->ack_keyed,
			 "closed", json_port_set(device->closed),
			 "ports", json_ports(device),
			 "stats", json_stats(lace_dev_stat_names, device->stats,
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
	if (device->ack_ms > 0)
		printf(" ack %" PRIi64 "ms", device->ack_ms);
	else if (!device->ack_ms)
		printf(" ack off");
	if (device->ack_keyed)
		printf(" keyed");
	putchar('\n');
	for (i = 0; i < device->nr_ports; i++)
		printf("    port %u %s%s\n", device->ports[i].number,
		       device->ports[i].ifname,
		       device->closed & 1U << device->ports[i].number ?
				" closed" : "");
	if (ctl->stats)
		print_stats(lace_dev_stat_names, device->stats, LACE_A_DEVSTAT_MAX);
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

/* on, off, or a time. */
static int args_ack(struct args *args, uint64_t *ms, struct lace_error *err)
{
	const char *word;
	double seconds;

	if (args_word(args, "ack", &word, err))
		return -1;
	if (!strcmp(word, "on")) {
		*ms = LACE_DEFAULT_ACK_MSECS;
	} else if (!strcmp(word, "off")) {
		*ms = 0;
	} else {
		if (parse_seconds(word, "ack", &seconds, err))
			return -1;
		if (seconds * 1e3 > LACE_MAX_ACK_MSECS ||
		    seconds * 1e3 < LACE_MIN_ACK_MSECS)
			return lace_fail(err, LACE_ERR_INPUT,
					 "ack %s: not from %u ms to %u s", word,
					 LACE_MIN_ACK_MSECS,
					 LACE_MAX_ACK_MSECS / 1000);
		*ms = lround(seconds * 1e3);
	}
	return 0;
}

/* Exactly the digits of a key, and white space after them. */
static int parse_key(const char *name, const char *text,
		     uint8_t key[LACE_RT_KEY_SIZE], struct lace_error *err)
{
	size_t nr = strspn(text, "0123456789abcdefABCDEF");
	char digits[3] = "";
	size_t i;

	if (nr != 2 * LACE_RT_KEY_SIZE ||
	    text[nr + strspn(text + nr, " \t\r\n")])
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s: not a key of %d hexadecimal digits", name,
				 2 * LACE_RT_KEY_SIZE);
	for (i = 0; i < LACE_RT_KEY_SIZE; i++) {
		memcpy(digits, text + 2 * i, 2);
		key[i] = strtoul(digits, NULL, 16);
	}
	return 0;
}

static int read_key(const char *name, uint8_t key[LACE_RT_KEY_SIZE],
		    struct lace_error *err)
{
	char text[2 * LACE_RT_KEY_SIZE + 8];
	FILE *in = strcmp(name, "-") ? fopen(name, "r") : stdin;
	size_t len;
	int ret;

	if (!in)
		return lace_fail(err, LACE_ERR_INPUT, "%s: %s", name,
				 strerror(errno));
	len = fread(text, 1, sizeof(text) - 1, in);
	text[len] = '\0';
	if (in != stdin)
		fclose(in);
	ret = parse_key(name, text, key, err);
	explicit_bzero(text, sizeof(text));
	return ret;
}

/* What "device set" sets: one thing. */
struct setting {
	int keyword;
	uint64_t value;
	bool keyed;
	uint8_t key[LACE_RT_KEY_SIZE];
};

enum { SET_NODE, SET_REORDER, SET_ACK, SET_KEY };

static int args_key(struct args *args, struct setting *setting,
		    struct lace_error *err)
{
	const char *word;

	if (args_word(args, "key", &word, err))
		return -1;
	setting->keyed = strcmp(word, "none");
	return setting->keyed ? read_key(word, setting->key, err) : 0;
}

static int args_setting(struct args *args, struct setting *setting,
			struct lace_error *err)
{
	static const char *const keywords[] = { "node", "reorder", "ack", "key",
						NULL };

	if (args_keyword(args, keywords, &setting->keyword, err))
		return -1;
	switch (setting->keyword) {
	case SET_NODE:
		return args_number(args, "node", LACE_MAX_NODES - 1,
				   &setting->value, err);
	case SET_REORDER:
		return args_reorder(args, &setting->value, err);
	case SET_ACK:
		return args_ack(args, &setting->value, err);
	case SET_KEY:
		return args_key(args, setting, err);
	}
	return lace_fail(err, LACE_ERR_INPUT,
			 "\"node NUMBER\", \"reorder TIME\", \"ack TIME\" or \"key FILE\" is missing");
}

static int apply_setting(struct lace_client *client, const char *dev,
			 const struct setting *setting, struct lace_error *err)
{
	switch (setting->keyword) {
	case SET_NODE:
		return lace_client_set_number(client, dev, setting->value, err);
	case SET_REORDER:
		return lace_client_set_reorder(client, dev, setting->value,
					       err);
	case SET_ACK:
		return lace_client_set_ack(client, dev, setting->value, err);
	default:
		return lace_client_set_key(client, dev, setting->keyed ?
					   setting->key : NULL, err);
	}
}

static int device_set(const struct lacectl *ctl, int argc, char **argv,
		      struct lace_error *err)
{
	struct args args = { argc, argv };
	struct setting setting = { 0 };
	struct lace_client *client;
	const char *dev;
	int ret;

	(void)ctl;
	if (args_word(&args, "device", &dev, err) ||
	    args_setting(&args, &setting, err) || args_end(&args, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = apply_setting(client, dev, &setting, err);
	explicit_bzero(&setting, sizeof(setting));
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
