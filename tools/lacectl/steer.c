// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl steer": which BPF program picks among the lanes that a device
 * offers, and what it has picked so far.
 */
#include "client.h"
#include "lacectl.h"
#include "steer_load.h"
#include "steer_usage.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

#define DEVICE_DEFAULT "lace0"
#define GAP_DEFAULT 500e-6	/* s */
#define GAP_MAX 60.		/* s */

static const char usage[] =
	"lacectl [-s] steer [show [dev DEV]]\n"
	"lacectl steer set [dev DEV] [policy] { spread | pin | flowlet [gap TIME] |\n"
	"	weighted [PORT:WEIGHT]... | hash | builtin }\n"
	"lacectl steer set [dev DEV] file OBJECT [NAME]\n"
	"lacectl steer { set [dev DEV] none | unset [dev DEV] }\n"
	"  spread takes the lane that is free first; pin keeps a flow on the lane\n"
	"  that had fewest flows; flowlet moves a flow after a pause of TIME (500us)\n"
	"  only; weighted takes lanes in turn, a port without a weight having 1;\n"
	"  hash keeps a flow on one lane; builtin is the module's own choice, counted\n"
	"  OBJECT is a BPF object file with one socket program, or NAME says\n"
	"  which; its map lane_usage, if it has one, is what -s shows\n";

/* ---- set ---- */

static int parse_device(struct args *args, const char **ifname,
			struct lace_error *err)
{
	*ifname = DEVICE_DEFAULT;
	if (!args_peek(args) || strcmp(args_peek(args), "dev"))
		return 0;
	args_next(args);
	return args_word(args, "device", ifname, err);
}

static int parse_weight(const char *word, struct steer_source *source,
			struct lace_error *err)
{
	unsigned int port, weight;
	int end = 0;

	if (strspn(word, "0123456789:") != strlen(word) ||
	    sscanf(word, "%3u:%6u%n", &port, &weight, &end) != 2 || word[end] ||
	    port >= LACE_MAX_PORTS)
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\" is not PORT:WEIGHT, with a port below %d",
				 word, LACE_MAX_PORTS);
	source->options.weight[port] = weight;
	return 0;
}

static int parse_weights(struct args *args, struct steer_source *source,
			 struct lace_error *err)
{
	unsigned int p;

	for (p = 0; p < LACE_MAX_PORTS; p++)
		source->options.weight[p] = 1;
	while (args_peek(args))
		if (parse_weight(args_next(args), source, err))
			return -1;
	return 0;
}

static int parse_gap(struct args *args, struct steer_source *source,
		     struct lace_error *err)
{
	static const char *const words[] = { "gap", NULL };
	double seconds = GAP_DEFAULT;
	const char *time;
	int word;

	if (args_keyword(args, words, &word, err))
		return -1;
	if (word >= 0 && (args_word(args, "time after \"gap\"", &time, err) ||
			  parse_seconds(time, "gap", &seconds, err)))
		return -1;
	if (seconds > GAP_MAX)
		return lace_fail(err, LACE_ERR_INPUT,
				 "gap is longer than %g s", GAP_MAX);
	source->options.gap_ns = seconds * 1e9;
	return args_end(args, err);
}

static int parse_policy(struct args *args, struct steer_source *source,
			struct lace_error *err)
{
	int policy;

	if (!args_peek(args))
		return lace_fail(err, LACE_ERR_INPUT, "policy is missing");
	if (args_keyword(args, steer_policies, &policy, err))
		return -1;
	source->policy = steer_policies[policy];
	if (!strcmp(source->policy, "weighted"))
		return parse_weights(args, source, err);
	if (!strcmp(source->policy, "flowlet"))
		return parse_gap(args, source, err);
	return args_end(args, err);
}

/* "policy" may be left out. */
static int parse_source(struct args *args, struct steer_source *source,
			struct lace_error *err)
{
	const char *word = args_peek(args);

	if (!word)
		return lace_fail(err, LACE_ERR_INPUT,
				 "a policy or \"file\" is missing");
	if (!strcmp(word, "none")) {
		args_next(args);
		return args_end(args, err);
	}
	if (!strcmp(word, "policy")) {
		args_next(args);
		return parse_policy(args, source, err);
	}
	if (strcmp(word, "file"))
		return parse_policy(args, source, err);
	args_next(args);
	if (args_word(args, "object file", &source->file, err))
		return -1;
	source->program = args_next(args);
	return args_end(args, err);
}

static int give(const char *ifname, int fd, struct lace_error *err)
{
	struct lace_client *client;
	int ret;

	ret = lace_client_open(NULL, &client, err);
	if (ret)
		return ret;
	ret = lace_client_set_steer(client, ifname, fd, err);
	lace_client_close(client);
	return ret;
}

/* The map's pin changes once the device has the program, or not at all. */
static int load_and_give(const char *ifname, const struct steer_source *source,
			 struct lace_error *err)
{
	struct steer_program program;
	int ret;

	ret = steer_load(source, &program, err);
	if (ret)
		return ret;
	ret = steer_pin_begin(ifname, &program, err);
	if (!ret) {
		ret = give(ifname, program.fd, err);
		if (ret)
			steer_pin_abort(ifname);
		else
			ret = steer_pin_commit(ifname, &program, err);
	}
	steer_unload(&program);
	return ret;
}

static int take_back(const char *ifname, struct lace_error *err)
{
	return give(ifname, -1, err) ? -1 : steer_unpin(ifname, err);
}

static int steer_set(const struct lacectl *ctl, int argc, char **argv,
		     struct lace_error *err)
{
	struct args args = { argc, argv };
	struct steer_source source = {};
	const char *ifname;

	(void)ctl;
	if (parse_device(&args, &ifname, err) ||
	    parse_source(&args, &source, err))
		return -1;
	if (!source.policy && !source.file)
		return take_back(ifname, err);
	return load_and_give(ifname, &source, err);
}

static int steer_unset(const struct lacectl *ctl, int argc, char **argv,
		       struct lace_error *err)
{
	struct args args = { argc, argv };
	const char *ifname;

	(void)ctl;
	if (parse_device(&args, &ifname, err) || args_end(&args, err))
		return -1;
	return take_back(ifname, err);
}

/* ---- show ---- */

static json_t *json_usage(const struct steer_use *uses, size_t nr)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < nr; i++)
		json_array_append_new(list, json_pack(
			"{s:i, s:i, s:I, s:I, s:f}", "peer", uses[i].peer,
			"port", uses[i].port,
			"packets", (json_int_t)uses[i].packets,
			"bytes", (json_int_t)uses[i].bytes,
			"age_s", uses[i].age_s));
	return list;
}

static json_t *json_device(const struct lace_rt_device *device,
			   const struct steer_info *info,
			   const struct steer_use *uses, size_t nr, bool stats)
{
	json_t *item = json_pack("{s:s, s:s}", "ifname", device->ifname,
				 "policy", info->policy);

	if (device->steer_prog_id) {
		json_object_set_new(item, "program",
				    json_string(info->program));
		json_object_set_new(item, "program_id",
				    json_integer(device->steer_prog_id));
	}
	if (info->usage_map_id)
		json_object_set_new(item, "usage_map_id",
				    json_integer(info->usage_map_id));
	if (stats)
		json_object_set_new(item, "usage", json_usage(uses, nr));
	return item;
}

static void print_device(const struct lace_rt_device *device,
			 const struct steer_info *info,
			 const struct steer_use *uses, size_t nr)
{
	size_t i;

	printf("%s: policy %s", device->ifname, info->policy);
	if (device->steer_prog_id)
		printf(", program %s id %u", info->program,
		       device->steer_prog_id);
	if (info->usage_map_id)
		printf(", usage in map %u", info->usage_map_id);
	putchar('\n');
	for (i = 0; i < nr; i++)
		printf("  peer %u port %u: %ju packets %ju bytes, last %.3f s ago\n",
		       uses[i].peer, uses[i].port, (uintmax_t)uses[i].packets,
		       (uintmax_t)uses[i].bytes, uses[i].age_s);
}

static int show_device(const struct lacectl *ctl,
		       const struct lace_rt_device *device, json_t *list,
		       struct lace_error *err)
{
	struct steer_use *uses = NULL;
	struct steer_info info;
	size_t nr = 0;
	int ret;

	ret = steer_describe(device->steer_prog_id, &info, err);
	if (!ret && ctl->stats && info.usage_map_id)
		ret = steer_read_usage(info.usage_map_id, &uses, &nr, err);
	if (!ret && ctl->json)
		json_array_append_new(list, json_device(device, &info, uses, nr,
							ctl->stats));
	else if (!ret)
		print_device(device, &info, uses, nr);
	free(uses);
	return ret;
}

static int show_devices(const struct lacectl *ctl, const char *ifname,
			json_t *list, struct lace_error *err)
{
	struct lace_rt_device *devices;
	struct lace_client *client;
	size_t i, nr;
	int ret;

	ret = lace_client_open(NULL, &client, err);
	if (ret)
		return ret;
	ret = lace_client_devices(client, ifname, &devices, &nr, err);
	lace_client_close(client);
	if (ret)
		return ret;
	for (i = 0; !ret && i < nr; i++)
		ret = show_device(ctl, &devices[i], list, err);
	free(devices);
	return ret;
}

static int steer_show(const struct lacectl *ctl, int argc, char **argv,
		      struct lace_error *err)
{
	struct args args = { argc, argv };
	const char *ifname = NULL;
	json_t *list;
	int ret;

	if ((argc && parse_device(&args, &ifname, err)) || args_end(&args, err))
		return -1;
	list = json_array();
	ret = show_devices(ctl, ifname, list, err);
	if (!ret && ctl->json)
		return print_json(ctl, list, err);
	json_decref(list);
	return ret ? ret : print_end(err);
}

static const struct command commands[] = {
	{ "show", steer_show },
	{ "set", steer_set },
	{ "unset", steer_unset },
	{ NULL, NULL },
};

const struct object steer_object = { "steer", usage, commands, NULL };
