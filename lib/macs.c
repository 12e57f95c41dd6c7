// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What the cluster file cannot know of the hosts, because it is in their
 * network cards: the MAC address of each port (lace-macs/1).
 *
 *	{ "format": "lace-macs/1",
 *	  "nodes": [ { "name": "gpu0", "prefixes": ["fd00::1"],
 *		       "ports": [ { "name": "lane0",
 *				    "mac": "02:00:00:00:00:01" } ] } ] }
 *
 * Nodes and ports go by their names in the cluster.  Each host can write its
 * own part, and several files add up.  "prefixes", of addresses beside those of
 * the cluster, may be absent.  The lace-lab/1 of a lab has the same shape.
 */
#include "file.h"
#include "json.h"
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT "lace-macs/1"
#define LAB_FORMAT "lace-lab/1"

/**
 * lace_macs_init() - begin with hosts of which nothing is known
 * @cluster: the cluster of the hosts
 * @macs: filled, for lace_macs_free()
 * @err: filled on failure
 *
 * Return: 0 or -1.
 */
int lace_macs_init(const struct lace_cluster *cluster, struct lace_macs *macs,
		   struct lace_error *err)
{
	macs->nr_hosts = cluster->nr_nodes;
	macs->hosts = calloc(cluster->nr_nodes + 1, sizeof(*macs->hosts));
	return macs->hosts ? 0 : lace_no_memory(err);
}

/**
 * lace_macs_free() - free what is known of the hosts
 * @macs: as lace_macs_init() made it, or zeroed
 */
void lace_macs_free(struct lace_macs *macs)
{
	unsigned int i;

	for (i = 0; macs->hosts && i < macs->nr_hosts; i++)
		free(macs->hosts[i].prefixes);
	free(macs->hosts);
	macs->hosts = NULL;
	macs->nr_hosts = 0;
}

/* ---- reading ---- */

static int read_format(const struct lace_json *top)
{
	struct lace_json at;
	const char *format;

	if (lace_json_object(top))
		return -1;
	at = lace_json_member(top, "format");
	if (lace_json_string(&at, &format))
		return -1;
	if (strcmp(format, FORMAT) && strcmp(format, LAB_FORMAT))
		return lace_json_fail(&at, "has to be \"" FORMAT "\", is \"%s\"",
				      format);
	return 0;
}

/* Fails at the place, for the reason that a function without one gave. */
static int fail_at(const struct lace_json *at, const struct lace_error *why)
{
	return lace_json_fail(at, "%s", why->text);
}

static int find_port(const struct lace_json *at, const struct lace_node *node,
		     unsigned int *port)
{
	const char *name;

	if (lace_json_string(at, &name))
		return -1;
	for (*port = 0; *port < node->nr_ports; ++*port)
		if (!strcmp(node->ports[*port].name, name))
			break;
	if (*port == node->nr_ports)
		return lace_json_fail(at, "%s has no port \"%s\" in the cluster",
				      node->name, name);
	if (*port >= LACE_MAX_PORTS)
		return lace_json_fail(at, "is port %u: a device has %u", *port,
				      LACE_MAX_PORTS);
	return 0;
}

static int read_port(const struct lace_json *at, const struct lace_node *node,
		     struct lace_host *host)
{
	struct lace_json name, mac;
	struct lace_error why;
	unsigned int port;
	const char *text;

	if (lace_json_object(at))
		return -1;
	name = lace_json_member(at, "name");
	mac = lace_json_member(at, "mac");
	if (find_port(&name, node, &port) || lace_json_string(&mac, &text))
		return -1;
	if (host->ports & 1U << port)
		return lace_json_fail(&name, "%s of %s is given twice",
				      node->ports[port].name, node->name);
	if (lace_mac_parse(text, host->mac[port], &why))
		return fail_at(&mac, &why);
	host->ports |= 1U << port;
	return 0;
}

static int read_prefixes(const struct lace_json *of, struct lace_host *host)
{
	struct lace_json array = lace_json_member(of, "prefixes"), at;
	struct lace_rt_prefix *more;
	struct lace_error why;
	const char *text;
	size_t nr, i;

	if (lace_json_is_null(&array))
		return 0;
	if (lace_json_array(&array, &nr))
		return -1;
	more = reallocarray(host->prefixes, host->nr_prefixes + nr + 1,
			    sizeof(*more));
	if (!more)
		return lace_no_memory(of->doc->err);
	host->prefixes = more;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (lace_json_string(&at, &text))
			return -1;
		if (lace_rt_prefix_parse(text, &more[host->nr_prefixes], &why))
			return fail_at(&at, &why);
		host->nr_prefixes++;
	}
	return 0;
}

static int find_node(const struct lace_json *at,
		     const struct lace_cluster *cluster, unsigned int *node)
{
	const char *name;

	if (lace_json_string(at, &name))
		return -1;
	for (*node = 0; *node < cluster->nr_nodes; ++*node)
		if (!strcmp(cluster->nodes[*node].name, name))
			return 0;
	return lace_json_fail(at, "the cluster has no node \"%s\"", name);
}

static int read_node(const struct lace_json *at,
		     const struct lace_cluster *cluster, struct lace_macs *macs)
{
	struct lace_json name, ports, port;
	unsigned int node;
	size_t nr, i;

	if (lace_json_object(at))
		return -1;
	name = lace_json_member(at, "name");
	ports = lace_json_member(at, "ports");
	if (find_node(&name, cluster, &node) ||
	    read_prefixes(at, &macs->hosts[node]) ||
	    lace_json_array(&ports, &nr))
		return -1;
	for (i = 0; i < nr; i++) {
		port = lace_json_element(&ports, i);
		if (read_port(&port, &cluster->nodes[node],
			      &macs->hosts[node]))
			return -1;
	}
	return 0;
}

static int read_nodes(const struct lace_json *top,
		      const struct lace_cluster *cluster,
		      struct lace_macs *macs)
{
	struct lace_json array, at;
	size_t nr, i;

	if (read_format(top))
		return -1;
	array = lace_json_member(top, "nodes");
	if (lace_json_array(&array, &nr))
		return -1;
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (read_node(&at, cluster, macs))
			return -1;
	}
	return 0;
}

/**
 * lace_macs_parse() - add what the text of a file knows of the hosts
 * @text: JSON
 * @len: its length in bytes
 * @name: what errors call the text
 * @cluster: the cluster whose names it uses
 * @macs: from lace_macs_init(), added to; still to be freed after a failure
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_macs_parse(const char *text, size_t len, const char *name,
		    const struct lace_cluster *cluster, struct lace_macs *macs,
		    struct lace_error *err)
{
	struct lace_json_doc doc;
	struct lace_json top;
	int ret;

	ret = lace_json_open(&doc, name, text, len, err);
	if (ret)
		return ret;
	top = lace_json_top(&doc);
	ret = read_nodes(&top, cluster, macs);
	lace_json_close(&doc);
	return ret;
}

/**
 * lace_macs_read() - add what a file knows of the hosts
 * @path: where it is
 * @cluster: the cluster whose names it uses
 * @macs: from lace_macs_init(), added to; still to be freed after a failure
 * @err: filled on failure
 *
 * Return: 0, or a negative value.
 */
int lace_macs_read(const char *path, const struct lace_cluster *cluster,
		   struct lace_macs *macs, struct lace_error *err)
{
	size_t len;
	char *text;
	int ret;

	ret = lace_file_read(path, &text, &len, err);
	if (ret)
		return ret;
	ret = lace_macs_parse(text, len, path, cluster, macs, err);
	free(text);
	return ret;
}

/* ---- writing ---- */

static void write_prefixes(FILE *out, const struct lace_host *host)
{
	char text[LACE_RT_PREFIX_SIZE];
	unsigned int i;

	if (!host->nr_prefixes)
		return;
	fputs(",\n    \"prefixes\": [", out);
	for (i = 0; i < host->nr_prefixes; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "",
			lace_rt_prefix_format(&host->prefixes[i], text));
	fputc(']', out);
}

static void write_host(FILE *out, const struct lace_node *node,
		       const struct lace_host *host)
{
	const char *separator = "";
	char mac[LACE_MAC_SIZE];
	unsigned int i;

	fputs("  { \"name\": ", out);
	lace_json_write_string(out, node->name);
	write_prefixes(out, host);
	fputs(",\n    \"ports\": [", out);
	for (i = 0; i < LACE_MAX_PORTS; i++) {
		if (!(host->ports & 1U << i))
			continue;
		fprintf(out, "%s\n      { \"name\": ", separator);
		lace_json_write_string(out, node->ports[i].name);
		fprintf(out, ", \"mac\": \"%s\" }",
			lace_mac_format(host->mac[i], mac));
		separator = ",";
	}
	fputs(" ] }", out);
}

/**
 * lace_macs_write() - write a lace-macs/1 file
 * @out: where to; not flushed
 * @cluster: the cluster whose names to use
 * @macs: what is known; hosts without ports are left out
 *
 * Return: 0, or a negative value if @out has met an error.
 */
int lace_macs_write(FILE *out, const struct lace_cluster *cluster,
		    const struct lace_macs *macs)
{
	const char *separator = "";
	unsigned int i;

	fputs("{ \"format\": \"" FORMAT "\",\n  \"nodes\": [", out);
	for (i = 0; i < macs->nr_hosts; i++) {
		if (!macs->hosts[i].ports)
			continue;
		fprintf(out, "%s\n", separator);
		write_host(out, &cluster->nodes[i], &macs->hosts[i]);
		separator = ",";
	}
	fputs(" ] }\n", out);
	return ferror(out) ? -1 : 0;
}
