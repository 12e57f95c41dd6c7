// SPDX-License-Identifier: GPL-2.0
/*
 * Tells a node's lace device who the nodes of the lab are.
 */
#include "client.h"
#include "lab_node.h"

#include <stdlib.h>
#include <string.h>

static int make_node(const struct lab *lab, unsigned int n,
		     struct lace_rt_node *node, struct lace_error *err)
{
	const struct lab_node *from = &lab->nodes[n];

	memset(node, 0, sizeof(*node));
	node->id = n;
	node->prefixes = calloc(from->nr_prefixes, sizeof(*node->prefixes));
	if (!node->prefixes)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	for (unsigned int i = 0; i < from->nr_prefixes; i++)
		node->prefixes[node->nr_prefixes++] = from->prefixes[i].rt;
	for (unsigned int p = 0; p < from->nr_ports; p++) {
		node->ports |= 1U << p;
		memcpy(node->mac[p], from->ports[p].mac, sizeof(node->mac[p]));
	}
	lace_rt_node_sort(node);
	return 0;
}

static int set_nodes(struct lace_client *client, const struct lab *lab,
		     struct lace_error *err)
{
	struct lace_rt_node node;
	unsigned int n;
	int ret = 0;

	for (n = 0; !ret && n < lab->nr_nodes; n++) {
		ret = make_node(lab, n, &node, err);
		if (ret)
			return ret;
		ret = lace_client_set_node(client, LAB_DEVICE, &node, err);
		lace_rt_node_free(&node);
	}
	return ret;
}

int lab_node_configure(const struct lab *lab, unsigned int n,
		       struct lace_error *err)
{
	struct lace_client *client;
	int ret;

	ret = lace_client_open(lab->nodes[n].netns, &client, err);
	if (ret)
		return ret;
	ret = lace_client_set_number(client, LAB_DEVICE, n, err);
	if (!ret)
		ret = set_nodes(client, lab, err);
	lace_client_close(client);
	return ret;
}

static void print_node(FILE *out, const struct lab *lab, unsigned int n)
{
	const struct lab_node *node = &lab->nodes[n];
	char mac[LACE_MAC_SIZE];

	for (unsigned int i = 0; i < node->nr_prefixes; i++)
		fprintf(out, " prefix %s", node->prefixes[i].text);
	for (unsigned int p = 0; p < node->nr_ports; p++)
		fprintf(out, " port %u mac %s", p,
			lace_mac_format(node->ports[p].mac, mac));
	fputc('\n', out);
}

void lab_node_print(FILE *out, const struct lab *lab, unsigned int n)
{
	const char *netns = lab->nodes[n].netns;
	unsigned int i;

	fprintf(out, "lacectl -n %s device set %s node %u\n", netns, LAB_DEVICE,
		n);
	for (i = 0; i < lab->nr_nodes; i++) {
		fprintf(out, "lacectl -n %s node set dev %s id %u", netns,
			LAB_DEVICE, i);
		print_node(out, lab, i);
	}
}
