// SPDX-License-Identifier: GPL-2.0
/*
 * Where the nodes are: addresses, and in a lab namespaces and what became of
 * the cluster's rates.  A lab leaves that in its state folder.
 */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

#define LAB_FOLDER "/run/lace"

/* Fails where two lanes were scaled differently: there is no one scale then. */
static int take_rate(struct place *place, double rate, double of_cluster,
		     struct lace_error *err)
{
	double scale = rate / of_cluster;

	if (!place->rate_scale)
		place->rate_scale = scale;
	if (fabs(scale / place->rate_scale - 1) < 1e-6)
		return 0;
	return lace_fail(err, LACE_ERR_ANSWER,
			 "lab %s: its rates are not the cluster's times one number",
			 place->lab);
}

/* "10.77.0.1/32" without the length */
static char *without_length(const char *prefix)
{
	return strndup(prefix, strcspn(prefix, "/"));
}

static int take_node(struct place *place, const struct lace_node *node,
		     unsigned int number, json_t *from, struct lace_error *err)
{
	const char *prefix = NULL, *netns;
	json_t *ports, *prefixes;

	if (!json_unpack(from, "{s:s, s:o, s:o}", "netns", &netns, "ports",
			 &ports, "prefixes", &prefixes))
		prefix = json_string_value(json_array_get(prefixes, 0));
	if (!prefix || json_array_size(ports) != node->nr_ports)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "lab %s was not made from this cluster",
				 place->lab);
	place->addresses[number] = without_length(prefix);
	place->namespaces[number] = strdup(netns);
	if (!place->addresses[number] || !place->namespaces[number])
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	for (unsigned int p = 0; p < node->nr_ports; p++) {
		json_t *rate = json_object_get(json_array_get(ports, p),
					       "rate_bps");

		if (take_rate(place, json_number_value(rate),
			      node->ports[p].rate_bps, err))
			return -1;
	}
	return 0;
}

static json_t *find_node(json_t *nodes, const char *name)
{
	json_t *node;
	size_t i;

	json_array_foreach(nodes, i, node) {
		const char *found = json_string_value(json_object_get(node,
								      "name"));

		if (found && !strcmp(found, name))
			return node;
	}
	return NULL;
}

static int take_lab(struct place *place, const struct lace_cluster *cluster,
		    json_t *from, struct lace_error *err)
{
	json_t *nodes = json_object_get(from, "nodes");

	place->payload_ratio = json_number_value(json_object_get(from,
							"payload_ratio"));
	for (unsigned int i = 0; i < cluster->nr_nodes; i++)
		if (take_node(place, cluster->nodes + i, i,
			      find_node(nodes, cluster->nodes[i].name), err))
			return -1;
	return 0;
}

static int read_lab(struct place *place, const struct lace_cluster *cluster,
		    struct lace_error *err)
{
	char path[PATH_MAX];
	json_error_t why;
	json_t *from;
	int ret;

	snprintf(path, sizeof(path), LAB_FOLDER "/%s/lab.json", place->lab);
	from = json_load_file(path, 0, &why);
	if (!from)
		return lace_fail(err, LACE_ERR_ANSWER, "no lab %s: %s",
				 place->lab, why.text);
	ret = take_lab(place, cluster, from, err);
	json_decref(from);
	return ret;
}

static int take_cluster(struct place *place, const struct lace_cluster *cluster,
			struct lace_error *err)
{
	for (unsigned int i = 0; i < cluster->nr_nodes; i++) {
		const struct lace_node *node = cluster->nodes + i;

		if (!node->address)
			return lace_fail(err, LACE_ERR_INPUT,
					 "node '%s' has no address in the cluster file",
					 node->name);
		place->addresses[i] = strdup(node->address);
		if (!place->addresses[i])
			return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	}
	return 0;
}

/**
 * place_find() - where the nodes are
 * @cluster:	the nodes
 * @lab:	name of a running lab; NULL: this host has all the addresses
 * @place:	result; place_free() it in any case
 * @err:	why not
 */
int place_find(const struct lace_cluster *cluster, const char *lab,
	       struct place *place, struct lace_error *err)
{
	*place = (struct place){
		.lab = lab,
		.nr_nodes = cluster->nr_nodes,
		.addresses = calloc(cluster->nr_nodes + 1, sizeof(char *)),
		.namespaces = calloc(cluster->nr_nodes + 1, sizeof(char *)),
	};
	if (!place->addresses || !place->namespaces)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	return lab ? read_lab(place, cluster, err) :
		     take_cluster(place, cluster, err);
}

void place_free(struct place *place)
{
	for (unsigned int i = 0; i < place->nr_nodes; i++) {
		if (place->addresses)
			free(place->addresses[i]);
		if (place->namespaces)
			free(place->namespaces[i]);
	}
	free(place->addresses);
	free(place->namespaces);
	*place = (struct place){ 0 };
}
