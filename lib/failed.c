// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What is left of a cluster when lanes have failed: they are named the way
 * people do, and are gone from a copy of the cluster.
 */
#include "lace.h"
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

static int fail_word(const char *word, const char *why, struct lace_error *err)
{
	return lace_fail(err, LACE_ERR_INPUT, "lane \"%.128s\": %s", word, why);
}

/* Cuts ":tx" or ":rx" off. */
static void cut_direction(char *text, struct lace_lane *lane)
{
	char *colon = strrchr(text, ':');

	lane->tx = lane->rx = true;
	if (!colon || (strcmp(colon, ":tx") && strcmp(colon, ":rx")))
		return;
	lane->tx = !strcmp(colon, ":tx");
	lane->rx = !lane->tx;
	*colon = '\0';
}

static int find_port(const struct lace_node *node, const char *name,
		     unsigned int *port)
{
	char *end;
	unsigned long number;

	for (*port = 0; *port < node->nr_ports; ++*port)
		if (!strcmp(node->ports[*port].name, name))
			return 0;
	number = strtoul(name, &end, 10);
	if (name[0] < '0' || name[0] > '9' || *end ||
	    number >= node->nr_ports)
		return -1;
	*port = number;
	return 0;
}

/**
 * lace_lane_find() - the lane that a word means
 * @cluster: where to look
 * @word: NODE/PORT, NODE/PORT:tx or NODE/PORT:rx, node and port each a name or
 *	a number
 * @lane: filled
 * @err: filled on failure
 *
 * Return: 0, or a negative value, also if the port has no such lane.
 */
int lace_lane_find(const struct lace_cluster *cluster, const char *word,
		   struct lace_lane *lane, struct lace_error *err)
{
	const struct lace_port *port;
	struct lace_error ignored;
	char text[256], *slash;
	int node;

	if (strlen(word) >= sizeof(text))
		return fail_word(word, "is too long a name", err);
	strcpy(text, word);
	cut_direction(text, lane);
	slash = strrchr(text, '/');
	if (!slash)
		return fail_word(word, "is not NODE/PORT", err);
	*slash = '\0';
	node = lace_cluster_find_node(cluster, text, &ignored);
	if (node < 0)
		return fail_word(word, "there is no such node", err);
	lane->node = node;
	if (find_port(&cluster->nodes[node], slash + 1, &lane->port))
		return fail_word(word, "the node has no such port", err);
	port = &cluster->nodes[node].ports[lane->port];
	lane->tx &= port->tx.ocs >= 0;
	lane->rx &= port->rx.ocs >= 0;
	if (!lane->tx && !lane->rx)
		return fail_word(word, "the port has no such lane", err);
	return 0;
}

/**
 * lace_cluster_fail_lane() - take lanes out of a cluster
 * @cluster: the cluster, changed
 * @lane: its lane or, both directions being set, lanes
 */
void lace_cluster_fail_lane(struct lace_cluster *cluster,
			    const struct lace_lane *lane)
{
	struct lace_port *port = &cluster->nodes[lane->node].ports[lane->port];

	if (lane->tx)
		port->tx = (struct lace_fibre){ .ocs = -1 };
	if (lane->rx)
		port->rx = (struct lace_fibre){ .ocs = -1 };
}

/**
 * lace_cluster_fail_ocs() - take all lanes of an OCS out of a cluster
 * @cluster: the cluster, changed; the OCS stays, with nothing on it
 * @name: of the OCS
 * @err: filled on failure
 *
 * Return: 0, or a negative value if there is no such OCS.
 */
int lace_cluster_fail_ocs(struct lace_cluster *cluster, const char *name,
			  struct lace_error *err)
{
	unsigned int k = 0;

	while (k < cluster->nr_ocs && strcmp(cluster->ocs[k].name, name))
		k++;
	if (k == cluster->nr_ocs)
		return lace_fail(err, LACE_ERR_INPUT,
				 "there is no OCS \"%.128s\"", name);
	for (unsigned int i = 0; i < cluster->nr_nodes; i++) {
		for (unsigned int p = 0; p < cluster->nodes[i].nr_ports; p++) {
			const struct lace_port *port =
				&cluster->nodes[i].ports[p];
			struct lace_lane lane = {
				.node = i, .port = p,
				.tx = port->tx.ocs == (int)k,
				.rx = port->rx.ocs == (int)k };

			lace_cluster_fail_lane(cluster, &lane);
		}
	}
	return 0;
}

/* ---- a copy ---- */

static char *copy_text(const char *text, bool *oom)
{
	char *copy = text ? strdup(text) : NULL;

	*oom |= text && !copy;
	return copy;
}

static void copy_node(const struct lace_node *from, struct lace_node *node,
		      bool *oom)
{
	node->name = copy_text(from->name, oom);
	node->address = copy_text(from->address, oom);
	node->prefixes = calloc((size_t)from->nr_prefixes + 1,
				sizeof(*node->prefixes));
	node->ports = calloc((size_t)from->nr_ports + 1, sizeof(*node->ports));
	*oom |= !node->prefixes || !node->ports;
	if (*oom)
		return;
	for (; node->nr_prefixes < from->nr_prefixes; node->nr_prefixes++)
		node->prefixes[node->nr_prefixes] =
			copy_text(from->prefixes[node->nr_prefixes], oom);
	for (; node->nr_ports < from->nr_ports; node->nr_ports++) {
		node->ports[node->nr_ports] = from->ports[node->nr_ports];
		node->ports[node->nr_ports].name =
			copy_text(from->ports[node->nr_ports].name, oom);
	}
}

/**
 * lace_cluster_copy() - copy a cluster
 * @from: the original
 * @cluster: filled, without the hash of a file; empty on failure
 * @err: filled on failure, which only lack of memory is
 *
 * Return: 0, or a negative value.
 */
int lace_cluster_copy(const struct lace_cluster *from,
		      struct lace_cluster *cluster, struct lace_error *err)
{
	bool oom = false;

	*cluster = *from;
	cluster->sha256[0] = '\0';
	cluster->nr_ocs = cluster->nr_nodes = 0;
	cluster->name = copy_text(from->name, &oom);
	cluster->ocs = calloc((size_t)from->nr_ocs + 1, sizeof(*cluster->ocs));
	cluster->nodes = calloc((size_t)from->nr_nodes + 1,
				sizeof(*cluster->nodes));
	oom |= !cluster->ocs || !cluster->nodes;
	for (; !oom && cluster->nr_ocs < from->nr_ocs; cluster->nr_ocs++) {
		cluster->ocs[cluster->nr_ocs] = from->ocs[cluster->nr_ocs];
		cluster->ocs[cluster->nr_ocs].name =
			copy_text(from->ocs[cluster->nr_ocs].name, &oom);
	}
	for (; !oom && cluster->nr_nodes < from->nr_nodes; cluster->nr_nodes++)
		copy_node(&from->nodes[cluster->nr_nodes],
			  &cluster->nodes[cluster->nr_nodes], &oom);
	if (!oom)
		return 0;
	lace_cluster_free(cluster);
	return lace_no_memory(err);
}
