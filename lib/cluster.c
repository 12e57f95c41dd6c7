// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Reads, writes and makes clusters (lace-cluster/1): nodes, their ports, and
 * where on which OCS the two lanes of each port end.
 */
#include "file.h"
#include "json.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "lace-cluster/1"

/* Beyond what is built, and small enough for tables with an entry for each. */
#define MAX_OCS_PORTS (1u << 20)
#define MAX_RATE_BPS LACE_JSON_MAX_WHOLE
#define MAX_RECONFIG_S 1e9
#define MAX_CONTROL_RATIO 1e3

#define DEFAULT_CONTROL_RATIO 0.01
#define ADDRESS_PREFIX "10.77"

static const char *const relay_names[] = {
	[LACE_RELAY_NONE] = "none",
	[LACE_RELAY_CONTROL] = "control",
	[LACE_RELAY_DATA] = "data",
};

#define NR_RELAYS (sizeof(relay_names) / sizeof(relay_names[0]))

const char *lace_relay_name(enum lace_relay relay)
{
	return relay_names[relay];
}

int lace_relay_find(const char *name, enum lace_relay *relay)
{
	unsigned int i;

	for (i = 0; i < NR_RELAYS; i++) {
		if (!strcmp(relay_names[i], name)) {
			*relay = i;
			return 0;
		}
	}
	return -1;
}

/* ---- names: unique among their like, found by bisection ---- */

struct named {
	const char *name;
	unsigned int index;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* array is the list that names[] came from, each element of it an object. */
static int sort_names(const struct lace_json *array, struct named *names,
		      unsigned int nr)
{
	struct lace_json element, at;
	unsigned int i;

	qsort(names, nr, sizeof(*names), compare_named);
	for (i = 1; i < nr; i++) {
		if (strcmp(names[i].name, names[i - 1].name))
			continue;
		element = lace_json_element(array, names[i].index);
		at = lace_json_member(&element, "name");
		return lace_json_fail(&at, "\"%s\" is the name of number %u, too",
				      names[i].name, names[i - 1].index);
	}
	return 0;
}

/* A name that the file does not give is KIND and the number. */
static int read_name(const struct lace_json *of, const char *kind,
		     unsigned int index, char **name)
{
	struct lace_json at = lace_json_member(of, "name");

	if (!at.value) {
		if (asprintf(name, "%s%u", kind, index) < 0) {
			*name = NULL;
			return lace_no_memory(of->doc->err);
		}
		return 0;
	}
	if (lace_json_strdup(&at, name))
		return -1;
	return **name ? 0 : lace_json_fail(&at, "is an empty name");
}

/* ---- reading ---- */

struct reader {
	struct lace_cluster *cluster;
	struct named *ocs_names;
};

static int read_ocs(const struct lace_json *at, struct lace_ocs *ocs,
		    unsigned int index)
{
	struct lace_json inputs, outputs;

	if (lace_json_object(at))
		return -1;
	inputs = lace_json_member(at, "inputs");
	outputs = lace_json_member(at, "outputs");
	if (read_name(at, "ocs", index, &ocs->name) ||
	    lace_json_index(&inputs, 0, MAX_OCS_PORTS, &ocs->inputs) ||
	    lace_json_index(&outputs, 0, MAX_OCS_PORTS, &ocs->outputs))
		return -1;
	return 0;
}

static int read_all_ocs(const struct lace_json *top, struct reader *reader)
{
	struct lace_json array = lace_json_member(top, "ocs"), at;
	struct lace_cluster *cluster = reader->cluster;
	unsigned int i;
	size_t nr;

	if (lace_json_array(&array, &nr))
		return -1;
	cluster->ocs = calloc(nr + 1, sizeof(*cluster->ocs));
	reader->ocs_names = calloc(nr + 1, sizeof(*reader->ocs_names));
	if (!cluster->ocs || !reader->ocs_names)
		return lace_no_memory(top->doc->err);
	cluster->nr_ocs = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_ocs(&at, &cluster->ocs[i], i))
			return -1;
		reader->ocs_names[i].name = cluster->ocs[i].name;
		reader->ocs_names[i].index = i;
	}
	return sort_names(&array, reader->ocs_names, nr);
}

static int find_ocs(const struct lace_json *at, const struct reader *reader,
		    int *ocs)
{
	unsigned int low = 0, high = reader->cluster->nr_ocs, middle;
	const char *name;
	int order;

	if (lace_json_string(at, &name))
		return -1;
	while (low < high) {
		middle = low + (high - low) / 2;
		order = strcmp(name, reader->ocs_names[middle].name);
		if (!order) {
			*ocs = reader->ocs_names[middle].index;
			return 0;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return lace_json_fail(at, "there is no OCS \"%s\"", name);
}

static int read_fibre(const struct lace_json *port, const char *key,
		      const struct reader *reader, struct lace_fibre *fibre)
{
	struct lace_json at = lace_json_member(port, key), name, number;
	bool tx = !strcmp(key, "tx");
	const struct lace_ocs *ocs;
	unsigned int ports;
	size_t nr;

	fibre->ocs = -1;
	if (at.value && lace_json_is_null(&at))
		return 0;
	if (lace_json_array(&at, &nr))
		return -1;
	if (nr != 2)
		return lace_json_fail(&at, "has to be [OCS, port] or null");
	name = lace_json_element(&at, 0);
	number = lace_json_element(&at, 1);
	if (find_ocs(&name, reader, &fibre->ocs) ||
	    lace_json_index(&number, 0, UINT_MAX, &fibre->port))
		return -1;
	ocs = &reader->cluster->ocs[fibre->ocs];
	ports = tx ? ocs->inputs : ocs->outputs;
	if (!fibre->port || fibre->port > ports)
		return lace_json_fail(&number,
				      "OCS \"%s\" has no %s %u: they are 1 to %u",
				      ocs->name, tx ? "input" : "output",
				      fibre->port, ports);
	return 0;
}

static int read_port(const struct lace_json *at, const struct reader *reader,
		     struct lace_port *port, unsigned int index)
{
	struct lace_json rate;

	if (lace_json_object(at))
		return -1;
	rate = lace_json_member(at, "rate_bps");
	if (read_name(at, "lane", index, &port->name) ||
	    lace_json_whole(&rate, 1, MAX_RATE_BPS, &port->rate_bps) ||
	    read_fibre(at, "tx", reader, &port->tx) ||
	    read_fibre(at, "rx", reader, &port->rx))
		return -1;
	return 0;
}

static int check_port_names(const struct lace_json *array,
			    const struct lace_node *node)
{
	struct named *names = calloc(node->nr_ports + 1, sizeof(*names));
	unsigned int i;
	int ret;

	if (!names)
		return lace_no_memory(array->doc->err);
	for (i = 0; i < node->nr_ports; i++) {
		names[i].name = node->ports[i].name;
		names[i].index = i;
	}
	ret = sort_names(array, names, node->nr_ports);
	free(names);
	return ret;
}

static int read_ports(const struct lace_json *of, const struct reader *reader,
		      struct lace_node *node)
{
	struct lace_json array = lace_json_member(of, "ports"), at;
	unsigned int i;
	size_t nr;

	if (lace_json_array(&array, &nr))
		return -1;
	node->ports = calloc(nr + 1, sizeof(*node->ports));
	if (!node->ports)
		return lace_no_memory(of->doc->err);
	node->nr_ports = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_port(&at, reader, &node->ports[i], i))
			return -1;
	}
	return check_port_names(&array, node);
}

/* Added to the format: addresses and networks beside "address". */
static int read_prefixes(const struct lace_json *of, struct lace_node *node)
{
	struct lace_json array = lace_json_member(of, "prefixes"), at;
	size_t nr, i;

	if (lace_json_is_null(&array))
		return 0;
	if (lace_json_array(&array, &nr))
		return -1;
	node->prefixes = calloc(nr + 1, sizeof(*node->prefixes));
	if (!node->prefixes)
		return lace_no_memory(of->doc->err);
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (lace_json_strdup(&at, &node->prefixes[i]))
			return -1;
		node->nr_prefixes++;
	}
	return 0;
}

static int read_node(const struct lace_json *at, const struct reader *reader,
		     struct lace_node *node, unsigned int index)
{
	struct lace_json address;

	if (lace_json_object(at) || read_name(at, "node", index, &node->name))
		return -1;
	address = lace_json_member(at, "address");
	if (!lace_json_is_null(&address) &&
	    lace_json_strdup(&address, &node->address))
		return -1;
	if (read_prefixes(at, node))
		return -1;
	return read_ports(at, reader, node);
}

static int check_node_names(const struct lace_json *array,
			    const struct lace_cluster *cluster)
{
	struct named *names = calloc(cluster->nr_nodes + 1, sizeof(*names));
	unsigned int i;
	int ret;

	if (!names)
		return lace_no_memory(array->doc->err);
	for (i = 0; i < cluster->nr_nodes; i++) {
		names[i].name = cluster->nodes[i].name;
		names[i].index = i;
	}
	ret = sort_names(array, names, cluster->nr_nodes);
	free(names);
	return ret;
}

/* ---- no two lanes on one port of an OCS ---- */

struct end {
	struct lace_fibre fibre;
	unsigned int node, port;
};

static int compare_ends(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	if (x->fibre.ocs != y->fibre.ocs)
		return x->fibre.ocs < y->fibre.ocs ? -1 : 1;
	if (x->fibre.port != y->fibre.port)
		return x->fibre.port < y->fibre.port ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

static size_t collect_ends(const struct lace_cluster *cluster, bool tx,
			   struct end *ends)
{
	const struct lace_fibre *fibre;
	unsigned int i, k;
	size_t nr = 0;

	for (i = 0; i < cluster->nr_nodes; i++) {
		for (k = 0; k < cluster->nodes[i].nr_ports; k++) {
			fibre = tx ? &cluster->nodes[i].ports[k].tx
				   : &cluster->nodes[i].ports[k].rx;
			if (fibre->ocs < 0)
				continue;
			ends[nr++] = (struct end){ *fibre, i, k };
		}
	}
	return nr;
}

static int fail_shared(const struct lace_json *nodes,
		       const struct lace_cluster *cluster, bool tx,
		       const struct end *first, const struct end *second)
{
	struct lace_json node = lace_json_element(nodes, second->node);
	struct lace_json ports = lace_json_member(&node, "ports");
	struct lace_json port = lace_json_element(&ports, second->port);
	struct lace_json at = lace_json_member(&port, tx ? "tx" : "rx");
	const struct lace_node *other = &cluster->nodes[first->node];

	return lace_json_fail(&at, "%s %u of OCS \"%s\" is taken by %s %s",
			      tx ? "input" : "output", first->fibre.port,
			      cluster->ocs[first->fibre.ocs].name, other->name,
			      other->ports[first->port].name);
}

static int check_shared(const struct lace_json *nodes,
			const struct lace_cluster *cluster, bool tx,
			struct end *ends)
{
	size_t nr = collect_ends(cluster, tx, ends), i;

	qsort(ends, nr, sizeof(*ends), compare_ends);
	for (i = 1; i < nr; i++)
		if (ends[i].fibre.ocs == ends[i - 1].fibre.ocs &&
		    ends[i].fibre.port == ends[i - 1].fibre.port)
			return fail_shared(nodes, cluster, tx, &ends[i - 1],
					   &ends[i]);
	return 0;
}

static int check_wiring(const struct lace_json *nodes,
			const struct lace_cluster *cluster)
{
	size_t nr = 1;
	struct end *ends;
	unsigned int i;
	int ret;

	for (i = 0; i < cluster->nr_nodes; i++)
		nr += cluster->nodes[i].nr_ports;
	ends = calloc(nr, sizeof(*ends));
	if (!ends)
		return lace_no_memory(nodes->doc->err);
	ret = check_shared(nodes, cluster, true, ends);
	if (!ret)
		ret = check_shared(nodes, cluster, false, ends);
	free(ends);
	return ret;
}

static int read_nodes(const struct lace_json *top, struct reader *reader)
{
	struct lace_json array = lace_json_member(top, "nodes"), at;
	struct lace_cluster *cluster = reader->cluster;
	unsigned int i;
	size_t nr;

	if (lace_json_array(&array, &nr))
		return -1;
	cluster->nodes = calloc(nr + 1, sizeof(*cluster->nodes));
	if (!cluster->nodes)
		return lace_no_memory(top->doc->err);
	cluster->nr_nodes = nr;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_node(&at, reader, &cluster->nodes[i], i))
			return -1;
	}
	if (check_node_names(&array, cluster))
		return -1;
	return check_wiring(&array, cluster);
}

static int read_relay(const struct lace_json *top, enum lace_relay *relay)
{
	struct lace_json at = lace_json_member(top, "relay");
	const char *name;

	*relay = LACE_RELAY_CONTROL;
	if (!at.value)
		return 0;
	if (lace_json_string(&at, &name))
		return -1;
	if (lace_relay_find(name, relay))
		return lace_json_fail(&at,
				      "has to be \"none\", \"control\" or \"data\", is \"%s\"",
				      name);
	return 0;
}

static int read_cluster(const struct lace_json *top, struct reader *reader)
{
	struct lace_cluster *cluster = reader->cluster;
	struct lace_json reconfig, control;

	if (lace_json_format(top, FORMAT))
		return -1;
	reconfig = lace_json_member(top, "reconfig_s");
	control = lace_json_member(top, "control_ratio");
	if (read_name(top, "cluster", 0, &cluster->name) ||
	    lace_json_real(&reconfig, 0, MAX_RECONFIG_S,
			   &cluster->reconfig_s) ||
	    lace_json_real(&control, 0, MAX_CONTROL_RATIO,
			   &cluster->control_ratio) ||
	    read_relay(top, &cluster->relay) || read_all_ocs(top, reader))
		return -1;
	return read_nodes(top, reader);
}

/**
 * lace_cluster_parse() - make a cluster from the text of a cluster file
 * @text: JSON
 * @len: its length in bytes
 * @name: what errors call the text
 * @cluster: filled; empty on failure
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_cluster_parse(const char *text, size_t len, const char *name,
		       struct lace_cluster *cluster, struct lace_error *err)
{
	struct reader reader = { .cluster = cluster };
	struct lace_json_doc doc;
	struct lace_json top;
	int ret;

	memset(cluster, 0, sizeof(*cluster));
	ret = lace_json_open(&doc, name, text, len, err);
	if (ret)
		return ret;
	top = lace_json_top(&doc);
	ret = read_cluster(&top, &reader);
	lace_json_close(&doc);
	free(reader.ocs_names);
	if (ret)
		lace_cluster_free(cluster);
	return ret;
}

/**
 * lace_cluster_read() - read a cluster file
 * @path: where it is
 * @cluster: filled, with the hash of the file; empty on failure
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_cluster_read(const char *path, struct lace_cluster *cluster,
		      struct lace_error *err)
{
	size_t len;
	char *text;
	int ret;

	memset(cluster, 0, sizeof(*cluster));
	ret = lace_file_read(path, &text, &len, err);
	if (ret)
		return ret;
	ret = lace_cluster_parse(text, len, path, cluster, err);
	if (!ret)
		lace_file_hash(text, len, cluster->sha256);
	free(text);
	return ret;
}

/* ---- writing ---- */

static void write_fibre(FILE *out, const struct lace_cluster *cluster,
			const char *key, const struct lace_fibre *fibre)
{
	fprintf(out, ", \"%s\": ", key);
	if (fibre->ocs < 0) {
		fputs("null", out);
		return;
	}
	fputc('[', out);
	lace_json_write_string(out, cluster->ocs[fibre->ocs].name);
	fprintf(out, ", %u]", fibre->port);
}

static void write_prefixes(FILE *out, const struct lace_node *node)
{
	unsigned int i;

	if (!node->nr_prefixes)
		return;
	for (i = 0; i < node->nr_prefixes; i++) {
		fputs(i ? ", " : ", \"prefixes\": [", out);
		lace_json_write_string(out, node->prefixes[i]);
	}
	fputc(']', out);
}

static void write_node(FILE *out, const struct lace_cluster *cluster,
		       const struct lace_node *node)
{
	unsigned int k;

	fputs("  { \"name\": ", out);
	lace_json_write_string(out, node->name);
	if (node->address) {
		fputs(", \"address\": ", out);
		lace_json_write_string(out, node->address);
	}
	write_prefixes(out, node);
	fputs(",\n    \"ports\": [", out);
	for (k = 0; k < node->nr_ports; k++) {
		fputs(k ? ",\n      { \"name\": " : "\n      { \"name\": ", out);
		lace_json_write_string(out, node->ports[k].name);
		fprintf(out, ", \"rate_bps\": %" PRIu64,
			node->ports[k].rate_bps);
		write_fibre(out, cluster, "tx", &node->ports[k].tx);
		write_fibre(out, cluster, "rx", &node->ports[k].rx);
		fputs(" }", out);
	}
	fputs(" ] }", out);
}

static void write_head(FILE *out, const struct lace_cluster *cluster)
{
	fputs("{ \"format\": \"" FORMAT "\",\n  \"name\": ", out);
	lace_json_write_string(out, cluster->name);
	fputs(",\n  \"reconfig_s\": ", out);
	lace_json_write_real(out, cluster->reconfig_s);
	fputs(",\n  \"control_ratio\": ", out);
	lace_json_write_real(out, cluster->control_ratio);
	fprintf(out, ",\n  \"relay\": \"%s\",\n",
		relay_names[cluster->relay]);
}

/**
 * lace_cluster_write() - write a cluster file
 * @out: where to; not flushed
 * @cluster: what
 *
 * Return: 0, or a negative value if @out has met an error.
 */
int lace_cluster_write(FILE *out, const struct lace_cluster *cluster)
{
	unsigned int i;

	write_head(out, cluster);
	fputs("  \"ocs\": [", out);
	for (i = 0; i < cluster->nr_ocs; i++) {
		fputs(i ? ",\n  { \"name\": " : "\n  { \"name\": ", out);
		lace_json_write_string(out, cluster->ocs[i].name);
		fprintf(out, ", \"inputs\": %u, \"outputs\": %u }",
			cluster->ocs[i].inputs, cluster->ocs[i].outputs);
	}
	fputs(" ],\n  \"nodes\": [", out);
	for (i = 0; i < cluster->nr_nodes; i++) {
		fputs(i ? ",\n" : "\n", out);
		write_node(out, cluster, &cluster->nodes[i]);
	}
	fputs(" ] }\n", out);
	return ferror(out) ? -1 : 0;
}

/* ---- making ---- */

static int check_make(unsigned int servers, unsigned int ports,
		      uint64_t rate_bps, double reconfig_s,
		      struct lace_error *err)
{
	if (!servers || !ports)
		return lace_fail(err, LACE_ERR_INPUT,
				 "a cluster has at least one server and one port");
	if (!rate_bps || rate_bps > MAX_RATE_BPS)
		return lace_fail(err, LACE_ERR_INPUT,
				 "the rate has to be from 1 to %llu b/s",
				 MAX_RATE_BPS);
	if (!(reconfig_s >= 0 && reconfig_s <= MAX_RECONFIG_S))
		return lace_fail(err, LACE_ERR_INPUT,
				 "reconfiguration takes from 0 to %g s",
				 MAX_RECONFIG_S);
	if ((uint64_t)servers * ports > MAX_OCS_PORTS)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%u servers of %u ports are more than %u lanes",
				 servers, ports, MAX_OCS_PORTS);
	return 0;
}

static int make_ocs(struct lace_cluster *cluster, unsigned int nr,
		    unsigned int size)
{
	unsigned int i;

	cluster->ocs = calloc(nr, sizeof(*cluster->ocs));
	if (!cluster->ocs)
		return -1;
	cluster->nr_ocs = nr;
	for (i = 0; i < nr; i++) {
		cluster->ocs[i].inputs = size;
		cluster->ocs[i].outputs = size;
		if (asprintf(&cluster->ocs[i].name, "ocs%u", i) < 0) {
			cluster->ocs[i].name = NULL;
			return -1;
		}
	}
	return 0;
}

static int make_port(struct lace_port *port, unsigned int index,
		     uint64_t rate_bps, struct lace_fibre fibre)
{
	port->rate_bps = rate_bps;
	port->tx = fibre;
	port->rx = fibre;
	if (asprintf(&port->name, "lane%u", index) < 0) {
		port->name = NULL;
		return -1;
	}
	return 0;
}

static int name_node(struct lace_node *node, unsigned int index)
{
	unsigned int host = index + 1;

	if (asprintf(&node->name, "node%u", index) < 0) {
		node->name = NULL;
		return -1;
	}
	if (host >= 0xffff)
		return 0;	/* the prefix has no more addresses */
	if (asprintf(&node->address, ADDRESS_PREFIX ".%u.%u", host >> 8,
		     host & 0xff) < 0) {
		node->address = NULL;
		return -1;
	}
	return 0;
}

static int make_nodes(struct lace_cluster *cluster, unsigned int servers,
		      unsigned int ports, uint64_t rate_bps,
		      enum lace_wiring wiring)
{
	struct lace_fibre fibre;
	struct lace_node *node;
	unsigned int i, k;

	cluster->nodes = calloc(servers, sizeof(*cluster->nodes));
	if (!cluster->nodes)
		return -1;
	cluster->nr_nodes = servers;
	for (i = 0; i < servers; i++) {
		node = &cluster->nodes[i];
		node->ports = calloc(ports, sizeof(*node->ports));
		if (!node->ports || name_node(node, i))
			return -1;
		node->nr_ports = ports;
		for (k = 0; k < ports; k++) {
			fibre.ocs = wiring == LACE_WIRING_SINGLE ? 0 : (int)k;
			fibre.port = wiring == LACE_WIRING_SINGLE
					     ? i * ports + k + 1
					     : i + 1;
			if (make_port(&node->ports[k], k, rate_bps, fibre))
				return -1;
		}
	}
	return 0;
}

/**
 * lace_cluster_make() - make a cluster of like servers
 * @servers: how many
 * @ports: of each server
 * @rate_bps: of each port
 * @wiring: which port reaches which OCS
 * @reconfig_s: time charged for a change of configuration
 * @cluster: filled, with a control ratio of 1 % and relay of control; empty on
 *	failure
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_cluster_make(unsigned int servers, unsigned int ports,
		      uint64_t rate_bps, enum lace_wiring wiring,
		      double reconfig_s, struct lace_cluster *cluster,
		      struct lace_error *err)
{
	bool single = wiring == LACE_WIRING_SINGLE;

	memset(cluster, 0, sizeof(*cluster));
	if (check_make(servers, ports, rate_bps, reconfig_s, err))
		return -1;
	cluster->reconfig_s = reconfig_s;
	cluster->control_ratio = DEFAULT_CONTROL_RATIO;
	cluster->relay = LACE_RELAY_CONTROL;
	if (asprintf(&cluster->name, "%ux%u", servers, ports) < 0)
		cluster->name = NULL;
	if (!cluster->name ||
	    make_ocs(cluster, single ? 1 : ports,
		     single ? servers * ports : servers) ||
	    make_nodes(cluster, servers, ports, rate_bps, wiring)) {
		lace_cluster_free(cluster);
		return lace_no_memory(err);
	}
	return 0;
}

/**
 * lace_cluster_free() - free what a cluster holds
 * @cluster: it; empty afterwards
 */
void lace_cluster_free(struct lace_cluster *cluster)
{
	struct lace_node *node;
	unsigned int i, k;

	for (i = 0; i < cluster->nr_nodes; i++) {
		node = &cluster->nodes[i];
		for (k = 0; k < node->nr_ports; k++)
			free(node->ports[k].name);
		free(node->ports);
		for (k = 0; k < node->nr_prefixes; k++)
			free(node->prefixes[k]);
		free(node->prefixes);
		free(node->address);
		free(node->name);
	}
	for (i = 0; i < cluster->nr_ocs; i++)
		free(cluster->ocs[i].name);
	free(cluster->nodes);
	free(cluster->ocs);
	free(cluster->name);
	memset(cluster, 0, sizeof(*cluster));
}
