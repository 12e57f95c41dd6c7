// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl node": who the nodes are, which addresses are behind them, and the
 * MAC addresses of their ports.
 */
#include "show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"lacectl node [show [dev DEV] [id NUMBER]]\n"
	"lacectl node add|set dev DEV id NUMBER [prefix ADDRESS[/LENGTH]]...\n"
	"                     [port NUMBER mac MAC]...\n"
	"lacectl node del dev DEV id NUMBER\n"
	"  add refuses a node that is there; set replaces it as a whole\n";

/* ---- show ---- */

static json_t *json_prefixes(const struct lace_rt_node *node)
{
	char text[LACE_RT_PREFIX_SIZE];
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < node->nr_prefixes; i++)
		json_array_append_new(list, json_string(
			lace_rt_prefix_format(&node->prefixes[i], text)));
	return list;
}

static json_t *json_node_ports(const struct lace_rt_node *node)
{
	json_t *list = json_array();
	char mac[LACE_MAC_SIZE];
	unsigned int i;

	for (i = 0; i < LACE_MAX_PORTS; i++)
		if (node->ports & 1U << i)
			json_array_append_new(list, json_pack(
				"{s:i, s:s}", "number", i, "mac",
				lace_mac_format(node->mac[i], mac)));
	return list;
}

json_t *json_node(const struct lace_rt_node *node)
{
	return json_pack("{s:s, s:i, s:o, s:o}", "dev", node->ifname, "id",
			 node->id, "prefixes", json_prefixes(node), "ports",
			 json_node_ports(node));
}

void print_node(const struct lace_rt_node *node)
{
	char text[LACE_RT_PREFIX_SIZE];
	unsigned int i;

	printf("%s node %u", node->ifname, node->id);
	for (i = 0; i < node->nr_prefixes; i++)
		printf(" prefix %s",
		       lace_rt_prefix_format(&node->prefixes[i], text));
	for (i = 0; i < LACE_MAX_PORTS; i++)
		if (node->ports & 1U << i)
			printf(" port %u mac %s", i,
			       lace_mac_format(node->mac[i], text));
	putchar('\n');
}

/* Those of a device or of all, or one of them. */
static int get_nodes(const struct selection *selection,
		     struct lace_rt_node **nodes, size_t *nr,
		     struct lace_error *err)
{
	struct lace_client *client;
	int ret;

	if (lace_client_open(NULL, &client, err))
		return -1;
	if (selection->id < 0) {
		ret = lace_client_nodes(client, selection->dev, nodes, nr, err);
	} else {
		*nr = 1;
		*nodes = calloc(1, sizeof(**nodes));
		ret = *nodes ? lace_client_node(client, selection->dev,
						selection->id, *nodes, err) :
			       lace_no_memory(err);
		if (ret)
			free(*nodes);
	}
	lace_client_close(client);
	return ret;
}

static int node_show(const struct lacectl *ctl, int argc, char **argv,
		     struct lace_error *err)
{
	struct args args = { argc, argv };
	struct selection selection;
	struct lace_rt_node *nodes;
	json_t *list = NULL;
	size_t nr, i;

	if (args_selection(&args, "id", LACE_MAX_NODES - 1, &selection, err) ||
	    (selection.id >= 0 && args_need(&selection, true, err)) ||
	    get_nodes(&selection, &nodes, &nr, err))
		return -1;
	if (ctl->json)
		list = json_array();
	for (i = 0; i < nr; i++)
		if (ctl->json)
			json_array_append_new(list, json_node(&nodes[i]));
		else
			print_node(&nodes[i]);
	lace_rt_nodes_free(nodes, nr);
	return ctl->json ? print_json(ctl, list, err) : print_end(err);
}

/* ---- add, set ---- */

static int add_prefix(struct args *args, struct lace_rt_node *node,
		      struct lace_error *err)
{
	struct lace_rt_prefix *more, prefix;
	const char *word;

	if (args_word(args, "prefix", &word, err) ||
	    lace_rt_prefix_parse(word, &prefix, err))
		return -1;
	more = reallocarray(node->prefixes, node->nr_prefixes + 1,
			    sizeof(*more));
	if (!more)
		return lace_no_memory(err);
	node->prefixes = more;
	node->prefixes[node->nr_prefixes++] = prefix;
	return 0;
}

static int add_port(struct args *args, struct lace_rt_node *node,
		    struct lace_error *err)
{
	const char *word;
	uint64_t port;

	if (args_number(args, "port", LACE_MAX_PORTS - 1, &port, err) ||
	    args_word(args, "MAC address of the port", &word, err))
		return -1;
	if (!strcmp(word, "mac") &&
	    args_word(args, "MAC address of the port", &word, err))
		return -1;
	if (node->ports & 1U << port)
		return lace_fail(err, LACE_ERR_INPUT, "port %u is given twice",
				 (unsigned int)port);
	node->ports |= 1U << port;
	return lace_mac_parse(word, node->mac[port], err);
}

static int parse_id(struct args *args, struct selection *selection,
		    struct lace_error *err)
{
	uint64_t id;

	if (args_number(args, "id", LACE_MAX_NODES - 1, &id, err))
		return -1;
	selection->id = id;
	return 0;
}

static int parse_node(struct args *args, struct selection *selection,
		      struct lace_rt_node *node, struct lace_error *err)
{
	static const char *const keywords[] = { "dev", "id", "prefix", "port",
						NULL };
	int keyword, ret = 0;

	do {
		if (args_keyword(args, keywords, &keyword, err))
			return -1;
		if (keyword == 0)
			ret = args_word(args, "device after \"dev\"",
					&selection->dev, err);
		else if (keyword == 1)
			ret = parse_id(args, selection, err);
		else if (keyword == 2)
			ret = add_prefix(args, node, err);
		else if (keyword == 3)
			ret = add_port(args, node, err);
	} while (keyword >= 0 && !ret);
	if (!ret)
		ret = args_need(selection, true, err);
	node->id = selection->id;
	return ret;
}

static int refuse_known(struct lace_client *client, const char *dev,
			uint16_t id, struct lace_error *err)
{
	struct lace_rt_node node;
	int ret;

	ret = lace_client_node(client, dev, id, &node, err);
	if (ret == -ENOENT)
		return 0;
	if (ret)
		return ret;
	lace_rt_node_free(&node);
	return lace_fail(err, LACE_ERR_ANSWER,
			 "%s: there is a node %u; \"set\" replaces it", dev, id);
}

static int put_node(int argc, char **argv, bool add, struct lace_error *err)
{
	struct selection selection = { NULL, -1 };
	struct args args = { argc, argv };
	struct lace_rt_node node = { 0 };
	struct lace_client *client = NULL;
	int ret;

	ret = parse_node(&args, &selection, &node, err);
	if (!ret)
		ret = lace_client_open(NULL, &client, err);
	if (!ret && add)
		ret = refuse_known(client, selection.dev, node.id, err);
	if (!ret)
		ret = lace_client_set_node(client, selection.dev, &node, err);
	lace_client_close(client);
	lace_rt_node_free(&node);
	return ret;
}

static int node_add(const struct lacectl *ctl, int argc, char **argv,
		    struct lace_error *err)
{
	(void)ctl;
	return put_node(argc, argv, true, err);
}

static int node_set(const struct lacectl *ctl, int argc, char **argv,
		    struct lace_error *err)
{
	(void)ctl;
	return put_node(argc, argv, false, err);
}

static int node_del(const struct lacectl *ctl, int argc, char **argv,
		    struct lace_error *err)
{
	struct args args = { argc, argv };
	struct selection selection;
	struct lace_client *client;
	int ret;

	(void)ctl;
	if (args_selection(&args, "id", LACE_MAX_NODES - 1, &selection, err) ||
	    args_need(&selection, true, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_del_node(client, selection.dev, selection.id, err);
	lace_client_close(client);
	return ret;
}

static const struct command commands[] = {
	{ "show", node_show },
	{ "add", node_add },
	{ "set", node_set },
	{ "del", node_del },
	{ NULL, NULL },
};

const struct object node_object = { "node", usage, commands, NULL };
