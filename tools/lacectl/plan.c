// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl plan": one node's part of a plan onto its device, or the whole plan
 * onto all nodes of a lab.
 */
#include "plan_words.h"
#include "runtime.h"
#include "show.h"

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char usage[] =
	"lacectl plan show PLAN [-c CLUSTER]\n"
	"lacectl plan apply PLAN -c CLUSTER dev DEV --node NODE [--segment K|none]\n"
	"                   [--macs FILE]...\n"
	"lacectl plan apply PLAN --lab NAME [--segment K|none]\n"
	"lacectl plan apply PLAN --lab NAME --segment K --transition [--no-drain]\n"
	"                   [--retries N] [--on-failure rollback|degrade]\n"
	"lacectl plan diff PLAN -c CLUSTER dev DEV --node NODE [--segment K|none]\n"
	"                   [--macs FILE]...\n"
	"lacectl plan macs -c CLUSTER --node NODE [dev DEV]\n"
	"  apply changes what differs, or nothing; segment 0 becomes active\n"
	"  with --transition traffic goes on meanwhile; the plan has to be in force\n"
	"  diff prints what apply would change; exit status 1 if there is anything\n"
	"  macs prints this host's part of a file for --macs\n"
	"  NODE is a name or a number; without --macs the device's own node table\n"
	"  says which MAC addresses the nodes have\n";

/* ---- files ---- */

/* A plan, its cluster, and what is known of the hosts. */
struct files {
	struct lace_plan plan;
	struct lace_cluster cluster;
	struct lace_macs macs;
	int node;
};

static void files_free(struct files *files)
{
	lace_plan_free(&files->plan);
	lace_cluster_free(&files->cluster);
	lace_macs_free(&files->macs);
}

static int keep_host(const struct lace_rt_node *node, struct lace_host *host,
		     struct lace_error *err)
{
	host->ports = node->ports;
	memcpy(host->mac, node->mac, sizeof(host->mac));
	host->prefixes = calloc(node->nr_prefixes + 1, sizeof(*host->prefixes));
	if (!host->prefixes)
		return lace_no_memory(err);
	if (node->nr_prefixes)
		memcpy(host->prefixes, node->prefixes,
		       node->nr_prefixes * sizeof(*host->prefixes));
	host->nr_prefixes = node->nr_prefixes;
	return 0;
}

/* No file says who the nodes are: as the device has it. */
static int macs_of_device(struct lace_client *client, const char *dev,
			  struct lace_macs *macs, struct lace_error *err)
{
	struct lace_rt_node *nodes;
	size_t nr, i;
	int ret;

	ret = lace_client_nodes(client, dev, &nodes, &nr, err);
	if (ret)
		return ret;
	for (i = 0; i < nr && !ret; i++)
		if (nodes[i].id < macs->nr_hosts)
			ret = keep_host(&nodes[i], &macs->hosts[nodes[i].id],
					err);
	lace_rt_nodes_free(nodes, nr);
	return ret;
}

static int read_macs(const struct plan_words *words, struct lace_client *client,
		     struct files *files, struct lace_error *err)
{
	unsigned int i;

	if (!words->nr_macs)
		return macs_of_device(client, words->dev, &files->macs, err);
	for (i = 0; i < words->nr_macs; i++)
		if (lace_macs_read(words->macs[i], &files->cluster,
				   &files->macs, err))
			return -1;
	return 0;
}

static int read_files(const struct plan_words *words, struct files *files,
		      struct lace_error *err)
{
	if (lace_plan_read(words->plan, &files->plan, err) ||
	    lace_cluster_read(words->cluster, &files->cluster, err) ||
	    lace_macs_init(&files->cluster, &files->macs, err))
		return -1;
	files->node = lace_cluster_find_node(&files->cluster, words->node, err);
	return files->node < 0 ? -1 : 0;
}

/* Segment 0 unless another is asked for; none of a plan that has none. */
static int64_t wanted_segment(const struct plan_words *words,
			      const struct lace_plan *plan)
{
	if (words->segment_given)
		return words->segment;
	return plan->nr_segments ? 0 : LACE_RT_NONE;
}

/* What the device should have. */
static int make_want(const struct plan_words *words, struct lace_client *client,
		     struct files *files, struct lace_rt_state *want,
		     struct lace_error *err)
{
	memset(want, 0, sizeof(*want));
	if (read_macs(words, client, files, err) ||
	    lace_check_ports(client, words->dev, &files->cluster, files->node,
			     err))
		return -1;
	return lace_split(&files->cluster, &files->plan, &files->macs,
			  files->node, wanted_segment(words, &files->plan),
			  want, err);
}

/* ---- apply ---- */

static int report_apply(const struct lacectl *ctl, const char *what,
			const char *name, size_t changes, int64_t segment,
			struct lace_error *err)
{
	if (ctl->json)
		return print_json(ctl, json_pack("{s:s, s:I, s:o}", what, name,
						 "changes", (json_int_t)changes,
						 "segment",
						 json_or_null(segment)), err);
	if (!changes)
		printf("%s: unchanged", name);
	else
		printf("%s: %zu changes", name, changes);
	print_or_none(", segment", segment);
	puts(segment < 0 ? "" : " active");
	return print_end(err);
}

static int apply_files(const struct lacectl *ctl,
		       const struct plan_words *words, struct files *files,
		       struct lace_client *client, struct lace_error *err)
{
	struct lace_rt_state want;
	size_t steps;
	int ret;

	ret = make_want(words, client, files, &want, err);
	if (!ret)
		ret = lace_apply(client, words->dev, &want, &steps, err);
	if (!ret)
		ret = report_apply(ctl, "dev", words->dev, steps, want.active,
				   err);
	lace_rt_state_free(&want);
	return ret;
}

static int apply_node(const struct lacectl *ctl, const struct plan_words *words,
		      struct lace_error *err)
{
	struct lace_client *client = NULL;
	struct files files = { 0 };
	int ret;

	ret = read_files(words, &files, err);
	if (!ret)
		ret = lace_client_open(NULL, &client, err);
	if (!ret)
		ret = apply_files(ctl, words, &files, client, err);
	lace_client_close(client);
	files_free(&files);
	return ret;
}

static int apply_lab(const struct lacectl *ctl, const struct plan_words *words,
		     struct lace_error *err)
{
	struct lace_plan plan = { 0 };
	struct lace_lab *lab = NULL;
	int64_t segment;
	size_t changes;
	int ret;

	ret = lace_plan_read(words->plan, &plan, err);
	if (!ret)
		ret = lace_lab_open(words->lab, &lab, err);
	if (!ret) {
		segment = wanted_segment(words, &plan);
		ret = lace_lab_apply(lab, &plan, segment, &changes, err);
	}
	if (!ret)
		ret = report_apply(ctl, "lab", words->lab, changes, segment,
				   err);
	lace_lab_close(lab);
	lace_plan_free(&plan);
	return ret;
}

static int plan_apply(const struct lacectl *ctl, int argc, char **argv,
		      struct lace_error *err)
{
	struct plan_words words;

	if (plan_words_parse(argc, argv, &words, err) ||
	    plan_words_need_target(&words, true, err))
		return -1;
	if (words.transition)
		return plan_transition(ctl, &words, err);
	return words.lab ? apply_lab(ctl, &words, err) :
			   apply_node(ctl, &words, err);
}

/* ---- diff ---- */

static const char *const step_names[] = {
	[LACE_STEP_NUMBER] = "set_number",
	[LACE_STEP_SET_NODE] = "set_node",
	[LACE_STEP_DEL_NODE] = "del_node",
	[LACE_STEP_SET_SEGMENT] = "set_segment",
	[LACE_STEP_DEL_SEGMENT] = "del_segment",
	[LACE_STEP_ACTIVATE] = "activate",
};

static void print_step(const struct lace_step *step)
{
	switch (step->kind) {
	case LACE_STEP_NUMBER:
		printf("this host is node %d\n", (int)step->id);
		break;
	case LACE_STEP_SET_NODE:
		printf("set node %d\n", (int)step->id);
		break;
	case LACE_STEP_DEL_NODE:
		printf("delete node %d\n", (int)step->id);
		break;
	case LACE_STEP_SET_SEGMENT:
		printf("load segment %lld: %u circuits, %u routes\n",
		       (long long)step->id, step->segment.nr_circuits,
		       step->segment.nr_routes);
		break;
	case LACE_STEP_DEL_SEGMENT:
		printf("delete segment %lld\n", (long long)step->id);
		break;
	case LACE_STEP_ACTIVATE:
		print_or_none("activate segment", step->id);
		putchar('\n');
		break;
	}
}

static int report_steps(const struct lacectl *ctl,
			const struct lace_changes *changes,
			struct lace_error *err)
{
	const struct lace_step *step = changes->steps;
	json_t *list = NULL;
	size_t i;

	if (ctl->json)
		list = json_array();
	for (i = 0; i < changes->nr_steps; i++, step++)
		if (ctl->json)
			json_array_append_new(list, json_pack(
				"{s:s, s:o}", "step", step_names[step->kind],
				"id", json_or_null(step->id)));
		else
			print_step(step);
	return ctl->json ? print_json(ctl, list, err) : print_end(err);
}

static int diff_files(const struct lacectl *ctl, const struct plan_words *words,
		      struct files *files, struct lace_client *client,
		      struct lace_error *err)
{
	struct lace_rt_state want, have = { 0 };
	struct lace_changes changes = { 0 };
	int ret;

	ret = make_want(words, client, files, &want, err);
	if (!ret)
		ret = lace_rt_state_read(client, words->dev, &have, err);
	if (!ret)
		ret = lace_changes_make(&have, &want, &changes, err);
	if (!ret)
		ret = report_steps(ctl, &changes, err);
	if (!ret && changes.nr_steps)
		ret = lace_fail(err, LACE_ERR_ANSWER,
				"%s differs from the plan in %zu steps",
				words->dev, changes.nr_steps);
	lace_changes_free(&changes);
	lace_rt_state_free(&have);
	lace_rt_state_free(&want);
	return ret;
}

static int plan_diff(const struct lacectl *ctl, int argc, char **argv,
		     struct lace_error *err)
{
	struct lace_client *client = NULL;
	struct files files = { 0 };
	struct plan_words words;
	int ret;

	if (plan_words_parse(argc, argv, &words, err) ||
	    plan_words_need_target(&words, false, err))
		return -1;
	ret = read_files(&words, &files, err);
	if (!ret)
		ret = lace_client_open(NULL, &client, err);
	if (!ret)
		ret = diff_files(ctl, &words, &files, client, err);
	lace_client_close(client);
	files_free(&files);
	return ret;
}

/* ---- macs ---- */

static int read_mac(const char *ifname, uint8_t mac[6], struct lace_error *err)
{
	struct ifreq request = { 0 };
	int fd, ret = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot make a socket: %s", strerror(errno));
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", ifname);
	if (ioctl(fd, SIOCGIFHWADDR, &request))
		ret = lace_fail(err, LACE_ERR_ANSWER, "%s: %s", ifname,
				strerror(errno));
	else if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		ret = lace_fail(err, LACE_ERR_ANSWER,
				"%s is not an Ethernet interface", ifname);
	else
		memcpy(mac, request.ifr_hwaddr.sa_data, 6);
	close(fd);
	return ret;
}

/* The interfaces here that have the names of the node's ports. */
static int macs_by_name(const struct lace_node *node, struct lace_host *host,
			struct lace_error *err)
{
	unsigned int i;

	for (i = 0; i < node->nr_ports && i < LACE_MAX_PORTS; i++) {
		if (read_mac(node->ports[i].name, host->mac[i], err))
			return -1;
		host->ports |= 1U << i;
	}
	return 0;
}

/* The ports of a lace device, whatever their names are. */
static int macs_by_number(const char *dev, const struct lace_cluster *cluster,
			  unsigned int node, struct lace_host *host,
			  struct lace_error *err)
{
	struct lace_rt_device device;
	struct lace_client *client;
	unsigned int i, number;
	int ret;

	if (lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_check_ports(client, dev, cluster, node, err);
	if (!ret)
		ret = lace_client_device(client, dev, &device, err);
	lace_client_close(client);
	for (i = 0; !ret && i < device.nr_ports; i++) {
		number = device.ports[i].number;
		if (number >= cluster->nodes[node].nr_ports)
			continue;
		ret = read_mac(device.ports[i].ifname, host->mac[number], err);
		host->ports |= 1U << number;
	}
	return ret;
}

static int print_macs(const struct plan_words *words, struct files *files,
		      struct lace_error *err)
{
	struct lace_host *host;
	int ret;

	if (lace_cluster_read(words->cluster, &files->cluster, err) ||
	    lace_macs_init(&files->cluster, &files->macs, err))
		return -1;
	files->node = lace_cluster_find_node(&files->cluster, words->node, err);
	if (files->node < 0)
		return -1;
	host = &files->macs.hosts[files->node];
	if (words->dev)
		ret = macs_by_number(words->dev, &files->cluster, files->node,
				     host, err);
	else
		ret = macs_by_name(&files->cluster.nodes[files->node], host,
				   err);
	if (!ret)
		lace_macs_write(stdout, &files->cluster, &files->macs);
	return ret ? ret : print_end(err);
}

static int plan_macs(const struct lacectl *ctl, int argc, char **argv,
		     struct lace_error *err)
{
	struct files files = { 0 };
	struct plan_words words;
	int ret;

	(void)ctl;
	if (plan_words_parse(argc, argv, &words, err) ||
	    plan_words_need_node(&words, err))
		return -1;
	ret = print_macs(&words, &files, err);
	files_free(&files);
	return ret;
}

static const struct command commands[] = {
	{ "show", plan_show },
	{ "apply", plan_apply },
	{ "diff", plan_diff },
	{ "macs", plan_macs },
	{ NULL, NULL },
};

const struct object plan_object = { "plan", usage, commands, NULL };
