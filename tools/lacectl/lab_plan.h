/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A lab on paper: which namespaces, interfaces, addresses and rates a cluster
 * becomes, and the ip and tc commands that make it so.  Pure: lab.c runs it.
 *
 *   NAME-gpu0               NAME-ocs                NAME-gpu1
 *   lace0                                               lace0
 *    +- lane0 === veth === n0p0 \          / n1p0 === lane0 -+
 *    +- lane1 === veth === n0p1 -- BPF OCS -- n1p1 === lane1 -+
 */
#ifndef LACECTL_LAB_PLAN_H
#define LACECTL_LAB_PLAN_H

#include <net/if.h>

#include "client.h"

#define LAB_NAME_MAX 32		/* of a lab, bytes */
#define LAB_DEVICE "lace0"

struct lab_option {
	const char *name;
	double rate_scale;	/* of every lane's rate; 1: as in the cluster */
	uint64_t rate_bps;	/* of every lane, 0: as in the cluster */
	unsigned int mtu;
	double switch_s;	/* negative: the cluster's reconfig_s */
	bool bare;		/* lanes and OCS only, no lace device */
	unsigned int nr_sysctls;
	const char **sysctls;	/* KEY=VALUE, set in every node */
};

struct lab_port {
	const char *name;	/* the cluster's */
	char switch_if[IFNAMSIZ];
	uint8_t mac[6];
	uint64_t rate_bps;
	bool shape_rx;		/* others send faster than this port receives */
	struct lace_fibre tx, rx;
};

/* What is behind a node. */
struct lab_prefix {
	struct lace_rt_prefix rt;
	bool own;	/* an address of its device, not just routed there */
	char text[LACE_RT_PREFIX_SIZE];
};

struct lab_node {
	const char *name;
	char *netns;
	unsigned int nr_prefixes;
	struct lab_prefix *prefixes;
	unsigned int nr_ports;
	struct lab_port *ports;
};

struct lab {
	const struct lab_option *option;
	const struct lace_cluster *cluster;
	char *switch_netns;
	double switch_s;
	unsigned int gso_max_size;
	unsigned int nr_nodes;
	struct lab_node *nodes;
};

int lab_plan(const struct lab_option *option,
	     const struct lace_cluster *cluster, struct lab *lab,
	     struct lace_error *err);
void lab_plan_free(struct lab *lab);

bool lab_name_is_sound(const char *name);

/* Batches for "ip -batch" and "tc -batch".  In the namespace where lacectl
 * runs: veth pairs.  In the switch's: its interfaces, and the shaping of what
 * they send.  In a node's: device, addresses and routes, and the shaping.
 */
void lab_script_links(FILE *out, const struct lab *lab);
void lab_script_switch(FILE *out, const struct lab *lab);
void lab_script_switch_tc(FILE *out, const struct lab *lab, bool fair);
void lab_script_node(FILE *out, const struct lab *lab, unsigned int node);
void lab_script_node_tc(FILE *out, const struct lab *lab, unsigned int node,
			bool fair);
/* One command that fails where the kernel has no fair queueing. */
void lab_script_fair(FILE *out, const struct lab *lab);

/* Lines KEY=VALUE: for a node before its lanes are made, for a node before its
 * device is made, for the switch.
 */
void lab_sysctls_lanes(FILE *out, const struct lab *lab);
void lab_sysctls_device(FILE *out);
void lab_sysctls_switch(FILE *out);

#endif /* LACECTL_LAB_PLAN_H */
