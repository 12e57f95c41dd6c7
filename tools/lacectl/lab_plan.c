// SPDX-License-Identifier: GPL-2.0
/*
 * From a cluster to the interfaces of a lab and the commands that make them.
 *
 * DESIGN NOTES: how a lane is shaped
 *
 * A token bucket at the sending port's egress makes the rate.  It counts frames
 * with their Ethernet header, and a GSO packet as the frames that it becomes.
 * GSO packets pass whole as long as the bucket holds one, which keeps the work
 * per byte small; but the bucket also fills up whenever a lane pauses, and what
 * it holds then leaves faster than the lane's rate.  So GSO packets are kept to
 * GSO_S of the lane's time, and the bucket to one of them and BURST_S of slack,
 * which is what a timer may be late without costing rate.
 *
 * Behind the bucket flows are queued fairly (fq_codel): a relay's lane carries
 * flows of others with no back-pressure to their senders, acknowledgments
 * among them, and one FIFO gives nearly all of it to one flow.
 */
#include "lab_plan.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define GSO_S 0.0025
#define GSO_MAX 65536
#define GSO_MIN_FRAMES 2
#define BURST_S 0.010
#define MTU_MIN 1280		/* IPv6 */
#define MTU_MAX 65535
#define RATE_MIN_BPS 100000
#define QUEUE_BYTES (16 << 20)	/* several TCP windows at a relay */
#define NODE_NAME_MAX 64

/* ---- names ---- */

/* No name has to be quoted, escaped or taken for an option anywhere. */
static bool name_is_plain(const char *name, size_t max)
{
	size_t i, len = strlen(name);

	if (!len || len > max || !isalnum((unsigned char)name[0]))
		return false;
	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_.-", name[i]))
			return false;
	return true;
}

bool lab_name_is_sound(const char *name)
{
	return name_is_plain(name, LAB_NAME_MAX);
}

static int check_node_names(const struct lace_node *node,
			    struct lace_error *err)
{
	const char *port;
	unsigned int i;

	if (!name_is_plain(node->name, NODE_NAME_MAX) ||
	    !strcmp(node->name, "ocs"))
		return lace_fail(err, LACE_ERR_INPUT,
				 "node name \"%s\" cannot name a namespace (letters, digits, \"_.-\", at most %d, and not \"ocs\")",
				 node->name, NODE_NAME_MAX);
	for (i = 0; i < node->nr_ports; i++) {
		port = node->ports[i].name;
		if (!name_is_plain(port, IFNAMSIZ - 1) || !strcmp(port, "lo") ||
		    !strcmp(port, LAB_DEVICE))
			return lace_fail(err, LACE_ERR_INPUT,
					 "%s: port name \"%s\" cannot name an interface (letters, digits, \"_.-\", at most %d, and not lo or "
					 LAB_DEVICE ")", node->name, port,
					 IFNAMSIZ - 1);
	}
	return 0;
}

static int check_unique(const struct lace_cluster *cluster, unsigned int n,
			struct lace_error *err)
{
	const struct lace_node *node = &cluster->nodes[n];
	unsigned int i, j;

	for (i = 0; i < n; i++)
		if (!strcmp(cluster->nodes[i].name, node->name))
			return lace_fail(err, LACE_ERR_INPUT,
					 "two nodes are called %s", node->name);
	for (i = 0; i < node->nr_ports; i++)
		for (j = 0; j < i; j++)
			if (!strcmp(node->ports[i].name, node->ports[j].name))
				return lace_fail(err, LACE_ERR_INPUT,
						 "%s: two ports are called %s",
						 node->name,
						 node->ports[i].name);
	return 0;
}

/* ---- options ---- */

static int check_option(const struct lab_option *option, struct lace_error *err)
{
	unsigned int i;

	if (!lab_name_is_sound(option->name))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\" cannot name a lab (letters, digits, \"_.-\", at most %d)",
				 option->name, LAB_NAME_MAX);
	if (option->mtu < MTU_MIN || option->mtu > MTU_MAX)
		return lace_fail(err, LACE_ERR_INPUT,
				 "mtu %u is not from %d to %d", option->mtu,
				 MTU_MIN, MTU_MAX);
	if (!(option->rate_scale > 0) || !isfinite(option->rate_scale))
		return lace_fail(err, LACE_ERR_INPUT,
				 "rate-scale %g is not a positive number",
				 option->rate_scale);
	for (i = 0; i < option->nr_sysctls; i++)
		if (!strchr(option->sysctls[i], '=') ||
		    strstr(option->sysctls[i], "..") ||
		    strchr(option->sysctls[i], '\n'))
			return lace_fail(err, LACE_ERR_INPUT,
					 "sysctl \"%s\" is not KEY=VALUE",
					 option->sysctls[i]);
	return 0;
}

/* ---- nodes ---- */

/* Locally administered; the lab's name keeps labs apart in captures. */
static void make_mac(const char *lab, unsigned int node, unsigned int port,
		     uint8_t mac[6])
{
	unsigned int hash = 0;

	while (*lab)
		hash = hash * 31 + (unsigned char)*lab++;
	mac[0] = 0x02;
	mac[1] = hash >> 8;
	mac[2] = hash;
	mac[3] = node >> 8;
	mac[4] = node;
	mac[5] = port;
}

static int plan_port(const struct lab *lab, unsigned int n, unsigned int p,
		     struct lab_port *port, struct lace_error *err)
{
	const struct lace_port *from = &lab->cluster->nodes[n].ports[p];
	double rate_bps = lab->option->rate_bps ? lab->option->rate_bps :
						  from->rate_bps;

	rate_bps *= lab->option->rate_scale;
	if (rate_bps < RATE_MIN_BPS || rate_bps > 1e13)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s: a rate of %g bit/s for port %s is not from %d to 1e13",
				 lab->cluster->nodes[n].name, rate_bps,
				 from->name, RATE_MIN_BPS);
	port->name = from->name;
	port->rate_bps = llround(rate_bps);
	port->tx = from->tx;
	port->rx = from->rx;
	snprintf(port->switch_if, sizeof(port->switch_if), "n%hup%hhu",
		 (unsigned short)n, (unsigned char)p);
	make_mac(lab->option->name, n, p, port->mac);
	return 0;
}

static unsigned int whole_length(int family)
{
	return family == AF_INET ? 32 : 128;
}

static int add_prefix(struct lab_node *node, const char *text,
		      struct lace_error *err)
{
	struct lab_prefix *prefix = &node->prefixes[node->nr_prefixes];
	struct lace_error why = {};

	if (lace_rt_prefix_parse(text, &prefix->rt, &why))
		return lace_fail(err, LACE_ERR_INPUT, "%s: %s", node->name,
				 why.text);
	prefix->own = prefix->rt.length == whole_length(prefix->rt.family);
	lace_rt_prefix_format(&prefix->rt, prefix->text);
	node->nr_prefixes++;
	return 0;
}

static bool has_family(const struct lab_node *node, int family)
{
	unsigned int i;

	for (i = 0; i < node->nr_prefixes; i++)
		if (node->prefixes[i].own &&
		    node->prefixes[i].rt.family == family)
			return true;
	return false;
}

/* A node without an address gets one; IPv6 works in every lab. */
static int add_default_prefixes(struct lab_node *node, unsigned int n,
				struct lace_error *err)
{
	char text[64];

	if (!node->nr_prefixes) {
		snprintf(text, sizeof(text), "10.77.%u.%u", (n + 1) >> 8 & 0xff,
			 (n + 1) & 0xff);
		if (add_prefix(node, text, err))
			return -1;
	}
	if (has_family(node, AF_INET6))
		return 0;
	snprintf(text, sizeof(text), "fd77::%x", n + 1);
	return add_prefix(node, text, err);
}

static int check_prefixes(const struct lab *lab, unsigned int n,
			  struct lace_error *err)
{
	const struct lab_node *mine = &lab->nodes[n], *other;
	unsigned int i, j;

	for (other = lab->nodes; other < mine; other++)
		for (i = 0; i < mine->nr_prefixes; i++)
			for (j = 0; j < other->nr_prefixes; j++)
				if (!strcmp(mine->prefixes[i].text,
					    other->prefixes[j].text))
					return lace_fail(err, LACE_ERR_INPUT,
							 "%s and %s both have %s",
							 other->name,
							 mine->name,
							 mine->prefixes[i].text);
	return 0;
}

static int plan_prefixes(struct lab *lab, unsigned int n,
			 struct lace_error *err)
{
	const struct lace_node *from = &lab->cluster->nodes[n];
	struct lab_node *node = &lab->nodes[n];
	unsigned int i;

	node->prefixes = calloc(from->nr_prefixes + 3, sizeof(*node->prefixes));
	if (!node->prefixes)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	if (from->address && add_prefix(node, from->address, err))
		return -1;
	for (i = 0; i < from->nr_prefixes; i++)
		if (add_prefix(node, from->prefixes[i], err))
			return -1;
	if (add_default_prefixes(node, n, err))
		return -1;
	return check_prefixes(lab, n, err);
}

static int plan_node(struct lab *lab, unsigned int n, struct lace_error *err)
{
	const struct lace_node *from = &lab->cluster->nodes[n];
	struct lab_node *node = &lab->nodes[n];
	unsigned int p;
	int ret;

	ret = check_node_names(from, err);
	if (!ret)
		ret = check_unique(lab->cluster, n, err);
	if (ret)
		return ret;
	if (from->nr_ports > LACE_MAX_PORTS)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s has %u ports, a lace device takes %d",
				 from->name, from->nr_ports, LACE_MAX_PORTS);
	node->name = from->name;
	node->ports = calloc(from->nr_ports + 1, sizeof(*node->ports));
	if (!node->ports || asprintf(&node->netns, "%s-%s", lab->option->name,
				     from->name) < 0) {
		node->netns = NULL;
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	}
	node->nr_ports = from->nr_ports;
	for (p = 0; p < node->nr_ports; p++) {
		ret = plan_port(lab, n, p, &node->ports[p], err);
		if (ret)
			return ret;
	}
	return plan_prefixes(lab, n, err);
}

/* ---- rates ---- */

static void rate_range(const struct lab *lab, uint64_t *least, uint64_t *most)
{
	const struct lab_node *node;
	uint64_t rate;

	*least = UINT64_MAX;
	*most = 0;
	for (node = lab->nodes; node < lab->nodes + lab->nr_nodes; node++) {
		for (unsigned int p = 0; p < node->nr_ports; p++) {
			rate = node->ports[p].rate_bps;
			*least = rate < *least ? rate : *least;
			*most = rate > *most ? rate : *most;
		}
	}
}

/* GSO packets cross the lab whole, so its slowest lane sizes them all. */
static void plan_rates(struct lab *lab)
{
	unsigned int least_size = GSO_MIN_FRAMES * lab->option->mtu;
	uint64_t least, most;
	double size;

	rate_range(lab, &least, &most);
	size = least / 8.0 * GSO_S;
	if (size < least_size)
		size = least_size;
	lab->gso_max_size = size < GSO_MAX ? size : GSO_MAX;

	for (unsigned int n = 0; n < lab->nr_nodes; n++)
		for (unsigned int p = 0; p < lab->nodes[n].nr_ports; p++)
			lab->nodes[n].ports[p].shape_rx =
				lab->nodes[n].ports[p].rx.ocs >= 0 &&
				lab->nodes[n].ports[p].rate_bps < most;
}

/**
 * lab_plan() - lays a lab out
 * @option: what was asked for; outlives @lab
 * @cluster: what it is a lab of; outlives @lab
 * @lab: the result; lab_plan_free() it in any case
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lab_plan(const struct lab_option *option,
	     const struct lace_cluster *cluster, struct lab *lab,
	     struct lace_error *err)
{
	unsigned int n;
	int ret;

	memset(lab, 0, sizeof(*lab));
	lab->option = option;
	lab->cluster = cluster;
	lab->switch_s = option->switch_s >= 0 ? option->switch_s :
						cluster->reconfig_s;
	ret = check_option(option, err);
	if (ret)
		return ret;
	lab->nodes = calloc(cluster->nr_nodes + 1, sizeof(*lab->nodes));
	if (!lab->nodes ||
	    asprintf(&lab->switch_netns, "%s-ocs", option->name) < 0) {
		lab->switch_netns = NULL;
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	}
	lab->nr_nodes = cluster->nr_nodes;
	for (n = 0; n < lab->nr_nodes; n++) {
		ret = plan_node(lab, n, err);
		if (ret)
			return ret;
	}
	plan_rates(lab);
	return 0;
}

/**
 * lab_plan_free() - frees what a plan holds
 * @lab: plan, or zeroed
 */
void lab_plan_free(struct lab *lab)
{
	unsigned int n;

	for (n = 0; n < lab->nr_nodes; n++) {
		free(lab->nodes[n].netns);
		free(lab->nodes[n].ports);
		free(lab->nodes[n].prefixes);
	}
	free(lab->nodes);
	free(lab->switch_netns);
	memset(lab, 0, sizeof(*lab));
}

/* ---- scripts ---- */

void lab_script_links(FILE *out, const struct lab *lab)
{
	const struct lab_port *port;
	char mac[LACE_MAC_SIZE];
	unsigned int n, p;

	for (n = 0; n < lab->nr_nodes; n++) {
		for (p = 0; p < lab->nodes[n].nr_ports; p++) {
			port = &lab->nodes[n].ports[p];
			fprintf(out,
				"link add name %s netns %s address %s mtu %u gso_max_size %u",
				port->name, lab->nodes[n].netns,
				lace_mac_format(port->mac, mac),
				lab->option->mtu, lab->gso_max_size);
			fprintf(out,
				" type veth peer name %s netns %s mtu %u gso_max_size %u\n",
				port->switch_if, lab->switch_netns,
				lab->option->mtu, lab->gso_max_size);
		}
	}
}

void lab_script_switch(FILE *out, const struct lab *lab)
{
	const struct lab_node *node;
	const char *ifname;

	fprintf(out, "link set dev lo up\n");
	for (node = lab->nodes; node < lab->nodes + lab->nr_nodes; node++) {
		for (unsigned int p = 0; p < node->nr_ports; p++) {
			ifname = node->ports[p].switch_if;
			fprintf(out, "link set dev %s alias %s/%s up\n", ifname,
				node->name, node->ports[p].name);
		}
	}
}

static void script_addresses(FILE *out, const struct lab *lab, unsigned int node)
{
	const struct lab_prefix *prefix;
	unsigned int n, i;

	for (n = 0; n < lab->nr_nodes; n++) {
		for (i = 0; i < lab->nodes[n].nr_prefixes; i++) {
			prefix = &lab->nodes[n].prefixes[i];
			if (n != node)
				fprintf(out, "route add %s dev " LAB_DEVICE "\n",
					prefix->text);
			else if (prefix->own)
				fprintf(out, "address add %s dev " LAB_DEVICE
					"%s\n", prefix->text,
					prefix->rt.family == AF_INET6 ?
						" nodad" : "");
		}
	}
}

static void script_device(FILE *out, const struct lab *lab, unsigned int n)
{
	const struct lab_node *node = &lab->nodes[n];

	fprintf(out, "link add name " LAB_DEVICE " type lace\n");
	for (unsigned int p = 0; p < node->nr_ports; p++)
		fprintf(out, "link set dev %s master " LAB_DEVICE "\n",
			node->ports[p].name);
	fprintf(out, "link set dev " LAB_DEVICE " mtu %u gso_max_size %u up\n",
		lab->option->mtu, lab->gso_max_size);
}

void lab_script_node(FILE *out, const struct lab *lab, unsigned int n)
{
	const struct lab_node *node = &lab->nodes[n];

	fprintf(out, "link set dev lo up\n");
	for (unsigned int p = 0; p < node->nr_ports; p++)
		fprintf(out, "link set dev %s up\n", node->ports[p].name);
	if (lab->option->bare)
		return;
	script_device(out, lab, n);
	script_addresses(out, lab, n);
}

static void script_shape(FILE *out, const struct lab *lab, const char *ifname,
			 uint64_t rate_bps, bool fair)
{
	unsigned int mtu = lab->option->mtu;
	double frames = lab->gso_max_size / (double)(mtu - 100) + 1;
	double burst = lab->gso_max_size + frames * 100 +
		       rate_bps / 8.0 * BURST_S;

	fprintf(out,
		"qdisc add dev %s root handle 1: tbf rate %llubit burst %.0f limit %d\n",
		ifname, (unsigned long long)rate_bps, burst, QUEUE_BYTES);
	if (fair)
		fprintf(out,
			"qdisc add dev %s parent 1:1 handle 10: fq_codel target 50ms interval 300ms limit 10240 flows 1024 memory_limit %d noecn\n",
			ifname, 2 * QUEUE_BYTES);
}

void lab_script_fair(FILE *out, const struct lab *lab)
{
	const struct lab_node *node = lab->nodes;

	while (node < lab->nodes + lab->nr_nodes && !node->nr_ports)
		node++;
	if (node < lab->nodes + lab->nr_nodes)
		fprintf(out,
			"qdisc add dev %s root fq_codel\nqdisc del dev %s root\n",
			node->ports[0].switch_if, node->ports[0].switch_if);
}

void lab_script_node_tc(FILE *out, const struct lab *lab, unsigned int n,
			bool fair)
{
	const struct lab_node *node = &lab->nodes[n];

	for (unsigned int p = 0; p < node->nr_ports; p++)
		if (node->ports[p].tx.ocs >= 0)
			script_shape(out, lab, node->ports[p].name,
				     node->ports[p].rate_bps, fair);
}

void lab_script_switch_tc(FILE *out, const struct lab *lab, bool fair)
{
	const struct lab_node *node;

	for (node = lab->nodes; node < lab->nodes + lab->nr_nodes; node++)
		for (unsigned int p = 0; p < node->nr_ports; p++)
			if (node->ports[p].shape_rx)
				script_shape(out, lab, node->ports[p].switch_if,
					     node->ports[p].rate_bps, fair);
}

/* IPv6 stays off on lanes, which carry the module's frames only; on traffic
 * that comes in one way only, rp_filter would drop everything.  Segments that
 * took different lanes overtake each other by a GSO packet or two: TCP is told
 * to wait that long before it takes them for lost, as with any striping.
 */
void lab_sysctls_lanes(FILE *out, const struct lab *lab)
{
	fputs("net.ipv6.conf.default.disable_ipv6=1\n"
	      "net.ipv4.conf.all.rp_filter=0\n"
	      "net.ipv4.conf.default.rp_filter=0\n"
	      "net.ipv4.tcp_slow_start_after_idle=0\n"
	      "net.ipv4.tcp_recovery=0\n"
	      "net.ipv4.tcp_reordering=64\n", out);
	for (unsigned int i = 0; i < lab->option->nr_sysctls; i++)
		fprintf(out, "%s\n", lab->option->sysctls[i]);
}

void lab_sysctls_device(FILE *out)
{
	fputs("net.ipv6.conf.default.disable_ipv6=0\n", out);
}

void lab_sysctls_switch(FILE *out)
{
	fputs("net.ipv6.conf.all.disable_ipv6=1\n"
	      "net.ipv6.conf.default.disable_ipv6=1\n", out);
}
