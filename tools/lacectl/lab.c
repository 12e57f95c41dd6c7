// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl lab": a whole cluster on one machine, nodes as network namespaces
 * around an emulated OCS.
 */
#include "lab_plan.h"
#include "lab_run.h"
#include "lab_state.h"
#include "lab_up.h"
#include "lacectl.h"
#include "units.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define MTU_DEFAULT 1500
#define SYSCTLS_MAX 64

static const char usage[] =
	"lacectl lab [show [NAME]]\n"
	"lacectl lab up CLUSTER [name NAME] [rate-scale X | rate RATE] [mtu BYTES]\n"
	"            [switch-time TIME] [sysctl KEY=VALUE]... [bare] [dry-run]\n"
	"lacectl lab down NAME\n"
	"lacectl lab exec NAME NODE [--] COMMAND...\n"
	"  CLUSTER is a file; NAME is the cluster's name if not given\n"
	"  RATE is of every lane: 50M, 1G, 100000000 (bits per second)\n"
	"  TIME is 20ms, 1.5s, 0.02; the cluster's reconfig_s if not given\n"
	"  bare makes lanes and OCS only, no lace devices and addresses\n"
	"  dry-run prints the commands and does nothing\n";

/* ---- up ---- */

struct up_words {
	const char *cluster;
	struct lab_option option;
	const char *sysctls[SYSCTLS_MAX];
	bool dry_run;
};

static int add_sysctl(struct up_words *up, const char *word,
		      struct lace_error *err)
{
	if (up->option.nr_sysctls == SYSCTLS_MAX)
		return lace_fail(err, LACE_ERR_INPUT, "more than %d sysctls",
				 SYSCTLS_MAX);
	up->sysctls[up->option.nr_sysctls++] = word;
	return 0;
}

enum up_keyword {
	UP_NAME, UP_RATE_SCALE, UP_RATE, UP_MTU, UP_SWITCH_TIME, UP_SYSCTL,
	UP_BARE, UP_DRY_RUN,
};

static int parse_up_value(struct args *args, enum up_keyword keyword,
			  struct up_words *up, struct lace_error *err)
{
	const char *word;
	uint64_t number;

	switch (keyword) {
	case UP_MTU:
		if (args_number(args, "mtu", UINT16_MAX, &number, err))
			return -1;
		up->option.mtu = number;
		return 0;
	case UP_BARE:
		up->option.bare = true;
		return 0;
	case UP_DRY_RUN:
		up->dry_run = true;
		return 0;
	default:
		break;
	}
	if (args_word(args, "value", &word, err))
		return -1;
	switch (keyword) {
	case UP_NAME:
		up->option.name = word;
		return 0;
	case UP_RATE_SCALE:
		return parse_factor(word, "rate-scale", &up->option.rate_scale,
				    err);
	case UP_RATE:
		return parse_rate(word, &up->option.rate_bps, err);
	case UP_SWITCH_TIME:
		return parse_seconds(word, "switch-time", &up->option.switch_s,
				     err);
	default:
		return add_sysctl(up, word, err);
	}
}

static int parse_up(struct args *args, struct up_words *up,
		    struct lace_error *err)
{
	static const char *const keywords[] = {
		[UP_NAME] = "name",
		[UP_RATE_SCALE] = "rate-scale",
		[UP_RATE] = "rate",
		[UP_MTU] = "mtu",
		[UP_SWITCH_TIME] = "switch-time",
		[UP_SYSCTL] = "sysctl",
		[UP_BARE] = "bare",
		[UP_DRY_RUN] = "dry-run",
		NULL,
	};
	int keyword;

	up->option.sysctls = up->sysctls;
	if (args_word(args, "cluster file", &up->cluster, err))
		return -1;
	for (;;) {
		if (args_keyword(args, keywords, &keyword, err))
			return -1;
		if (keyword < 0)
			return 0;
		if (parse_up_value(args, keyword, up, err))
			return -1;
	}
}

static int lab_cmd_up(const struct lacectl *ctl, int argc, char **argv,
		      struct lace_error *err)
{
	struct up_words up = {
		.option = { .rate_scale = 1, .mtu = MTU_DEFAULT,
			    .switch_s = -1 },
	};
	struct args args = { argc, argv };
	struct lace_cluster cluster = {};
	struct lab lab = {};
	int ret;

	(void)ctl;
	ret = parse_up(&args, &up, err);
	if (!ret)
		ret = lace_cluster_read(up.cluster, &cluster, err);
	if (!ret && !up.option.name)
		up.option.name = cluster.name;
	if (!ret)
		ret = lab_plan(&up.option, &cluster, &lab, err);
	if (!ret)
		ret = lab_up(&lab, up.cluster, up.dry_run,
			     up.dry_run ? stdout : stderr, err);
	lab_plan_free(&lab);
	lace_cluster_free(&cluster);
	return ret ? ret : print_end(err);
}

/* ---- down ---- */

static int lab_cmd_down(const struct lacectl *ctl, int argc, char **argv,
			struct lace_error *err)
{
	struct args args = { argc, argv };
	const char *name;

	(void)ctl;
	if (args_word(&args, "name of a lab", &name, err) ||
	    args_end(&args, err))
		return -1;
	return lab_down(name, stderr, err);
}

/* ---- show ---- */

static void print_port(const json_t *port)
{
	printf("    %-8s %s  %s  rate %.4g Mb/s  payload %.4g Mb/s\n",
	       lab_text(port, "name"), lab_text(port, "mac"),
	       lab_text(port, "switch_ifname"), lab_number(port, "rate_bps") / 1e6,
	       lab_number(port, "payload_bps") / 1e6);
}

static void print_lab(const json_t *lab)
{
	const json_t *node, *item;
	size_t i, j;

	printf("%s: %zu nodes, OCS in %s, switch time %g s, mtu %g\n",
	       lab_text(lab, "name"), json_array_size(json_object_get(lab, "nodes")),
	       lab_text(lab, "switch_netns"), lab_number(lab, "switch_s"),
	       lab_number(lab, "mtu"));
	json_array_foreach(json_object_get(lab, "nodes"), i, node) {
		printf("  %s: namespace %s,", lab_text(node, "name"),
		       lab_text(node, "netns"));
		json_array_foreach(json_object_get(node, "prefixes"), j, item)
			printf(" %s", json_string_value(item));
		putchar('\n');
		json_array_foreach(json_object_get(node, "ports"), j, item)
			print_port(item);
	}
}

/* Names of all labs, as a JSON list. */
static json_t *list_labs(void)
{
	json_t *list = json_array();
	struct dirent *entry;
	char path[PATH_MAX];
	struct stat st;
	DIR *dir;

	dir = opendir(LAB_STATE_ROOT);
	while (dir && (entry = readdir(dir))) {
		lab_state_path(entry->d_name, NULL, path, sizeof(path));
		if (lab_name_is_sound(entry->d_name) && !stat(path, &st) &&
		    S_ISDIR(st.st_mode))
			json_array_append_new(list, json_string(entry->d_name));
	}
	if (dir)
		closedir(dir);
	return list;
}

static int show_list(const struct lacectl *ctl, struct lace_error *err)
{
	json_t *list = list_labs(), *name;
	size_t i;

	if (ctl->json)
		return print_json(ctl, list, err);
	json_array_foreach(list, i, name)
		printf("%s\n", json_string_value(name));
	json_decref(list);
	return print_end(err);
}

static int lab_cmd_show(const struct lacectl *ctl, int argc, char **argv,
			struct lace_error *err)
{
	struct args args = { argc, argv };
	const char *name = args_next(&args);
	json_t *lab;

	if (!name)
		return show_list(ctl, err);
	if (args_end(&args, err) || lab_state_read(name, &lab, err))
		return -1;
	if (ctl->json)
		return print_json(ctl, lab, err);
	print_lab(lab);
	json_decref(lab);
	return print_end(err);
}

/* ---- exec ---- */

static int find_netns(const json_t *lab, const char *name, const char *node,
		      const char **netns, struct lace_error *err)
{
	const json_t *item;
	size_t i;

	*netns = lab_text(lab, "switch_netns");
	if (!strcmp(node, "ocs"))
		return 0;
	json_array_foreach(json_object_get(lab, "nodes"), i, item) {
		*netns = lab_text(item, "netns");
		if (!strcmp(lab_text(item, "name"), node))
			return 0;
	}
	return lace_fail(err, LACE_ERR_ANSWER, "lab %s has no node %s", name,
			 node);
}

static int lab_cmd_exec(const struct lacectl *ctl, int argc, char **argv,
			struct lace_error *err)
{
	struct args args = { argc, argv };
	const char *name, *node, *netns;
	json_t *lab;
	int ret;

	(void)ctl;
	if (args_word(&args, "name of a lab", &name, err) ||
	    args_word(&args, "node", &node, err))
		return -1;
	if (args_peek(&args) && !strcmp(args_peek(&args), "--"))
		args_next(&args);
	if (!args_peek(&args))
		return lace_fail(err, LACE_ERR_INPUT, "command is missing");
	if (lab_state_read(name, &lab, err))
		return -1;
	ret = find_netns(lab, name, node, &netns, err);
	if (!ret)
		ret = lab_netns_exec(netns, args.argv, err);
	json_decref(lab);
	return ret;
}

static const struct command commands[] = {
	{ "show", lab_cmd_show },
	{ "up", lab_cmd_up },
	{ "down", lab_cmd_down },
	{ "exec", lab_cmd_exec },
	{ NULL, NULL },
};

const struct object lab_object = { "lab", usage, commands, NULL };
