// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl segment": one segment at a time, by hand.  "lacectl plan" does whole
 * plans.
 */
#include "show.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"lacectl segment [show [dev DEV] [id NUMBER]]\n"
	"lacectl segment load dev DEV id NUMBER [tx PORT NODE PORT]...\n"
	"                     [rx PORT NODE PORT]...\n"
	"                     [route FROM TO [prev NODE] [next NODE] [alternate]]...\n"
	"lacectl segment activate dev DEV id NUMBER|none\n"
	"lacectl segment del dev DEV id NUMBER\n"
	"  tx, rx: own port, then node and port at the far end\n"
	"  route: no prev where it begins here, no next where it ends here;\n"
	"  alternate: for when what is before it, of the same two nodes, fails\n";

/* ---- show ---- */

static const char *dir_name(uint8_t dir)
{
	return dir == LACE_DIR_TX ? "tx" : "rx";
}

static json_t *json_circuits(const struct lace_rt_segment *segment)
{
	const struct lace_rt_circuit *circuit = segment->circuits;
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < segment->nr_circuits; i++, circuit++)
		json_array_append_new(list, json_pack(
			"{s:i, s:s, s:i, s:i}", "port", circuit->port, "dir",
			dir_name(circuit->dir), "peer", circuit->peer,
			"peer_port", circuit->peer_port));
	return list;
}

static json_t *json_routes(const struct lace_rt_segment *segment)
{
	const struct lace_rt_route *route = segment->routes;
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < segment->nr_routes; i++, route++)
		json_array_append_new(list, json_pack(
			"{s:i, s:i, s:o, s:o, s:b, s:b}", "from", route->from,
			"to", route->to, "prev", json_or_null(route->prev),
			"next", json_or_null(route->next), "alternate",
			route->rank > 0, "broken", route->broken));
	return list;
}

static json_t *json_segment(const struct lace_rt_segment *segment)
{
	return json_pack("{s:s, s:I, s:b, s:o, s:o}", "dev", segment->ifname,
			 "id", (json_int_t)segment->id, "active",
			 segment->active, "circuits", json_circuits(segment),
			 "routes", json_routes(segment));
}

static void print_circuit(const struct lace_rt_circuit *circuit)
{
	printf("    %s port %u %s node %u port %u\n", dir_name(circuit->dir),
	       circuit->port, circuit->dir == LACE_DIR_TX ? "to" : "from",
	       circuit->peer, circuit->peer_port);
}

static void print_route(const struct lace_rt_route *route)
{
	printf("    route %u to %u", route->from, route->to);
	if (route->prev >= 0)
		printf(" prev %d", route->prev);
	if (route->next >= 0)
		printf(" next %d", route->next);
	if (route->rank)
		printf(" alternate");
	if (route->broken)
		printf(" broken");
	putchar('\n');
}

static void print_segment(const struct lace_rt_segment *segment)
{
	unsigned int i;

	printf("%s segment %u%s\n", segment->ifname, segment->id,
	       segment->active ? " active" : "");
	for (i = 0; i < segment->nr_circuits; i++)
		print_circuit(&segment->circuits[i]);
	for (i = 0; i < segment->nr_routes; i++)
		print_route(&segment->routes[i]);
}

/* Most events say which segment it is and no more. */
json_t *json_segment_event(const struct lace_rt_segment *segment)
{
	json_t *object = json_pack("{s:s, s:I, s:b}", "dev", segment->ifname,
				   "id", (json_int_t)segment->id, "active",
				   segment->active);

	if (segment->nr_routes)
		json_object_set_new(object, "routes", json_routes(segment));
	return object;
}

void print_segment_event(const struct lace_rt_segment *segment)
{
	unsigned int i;

	printf("%s segment %u%s\n", segment->ifname, segment->id,
	       segment->active ? " active" : " not active");
	for (i = 0; i < segment->nr_routes; i++)
		if (segment->routes[i].broken)
			print_route(&segment->routes[i]);
}

static int get_segments(const struct selection *selection,
			struct lace_rt_segment **segments, size_t *nr,
			struct lace_error *err)
{
	struct lace_client *client;
	int ret;

	if (lace_client_open(NULL, &client, err))
		return -1;
	if (selection->id < 0) {
		ret = lace_client_segments(client, selection->dev, segments, nr,
					   err);
	} else {
		*nr = 1;
		*segments = calloc(1, sizeof(**segments));
		ret = *segments ? lace_client_segment(client, selection->dev,
						      selection->id, *segments,
						      err) :
				  lace_no_memory(err);
		if (ret)
			free(*segments);
	}
	lace_client_close(client);
	return ret;
}

static int segment_show(const struct lacectl *ctl, int argc, char **argv,
			struct lace_error *err)
{
	struct args args = { argc, argv };
	struct lace_rt_segment *segments;
	struct selection selection;
	json_t *list = NULL;
	size_t nr, i;

	if (args_selection(&args, "id", UINT32_MAX, &selection, err) ||
	    (selection.id >= 0 && args_need(&selection, true, err)) ||
	    get_segments(&selection, &segments, &nr, err))
		return -1;
	if (ctl->json)
		list = json_array();
	for (i = 0; i < nr; i++)
		if (ctl->json)
			json_array_append_new(list, json_segment(&segments[i]));
		else
			print_segment(&segments[i]);
	lace_rt_segments_free(segments, nr);
	return ctl->json ? print_json(ctl, list, err) : print_end(err);
}

/* ---- load ---- */

static int add_circuit(struct args *args, enum lace_dir dir,
		       struct lace_rt_segment *segment, struct lace_error *err)
{
	struct lace_rt_circuit *more;
	uint64_t port, peer, peer_port;

	if (args_number(args, "port", LACE_MAX_PORTS - 1, &port, err) ||
	    args_number(args, "node", LACE_MAX_NODES - 1, &peer, err) ||
	    args_number(args, "port of the node", LACE_MAX_PORTS - 1,
			&peer_port, err))
		return -1;
	more = reallocarray(segment->circuits, segment->nr_circuits + 1,
			    sizeof(*more));
	if (!more)
		return lace_no_memory(err);
	segment->circuits = more;
	more[segment->nr_circuits++] = (struct lace_rt_circuit){
		.port = port, .dir = dir, .peer = peer, .peer_port = peer_port,
	};
	return 0;
}

/* "prev NODE" or "next NODE", if the next word is that. */
static int parse_hop(struct args *args, const char *name, int32_t *hop,
		     struct lace_error *err)
{
	const char *word = args_peek(args);
	uint64_t number;

	*hop = LACE_RT_NONE;
	if (!word || strcmp(word, name))
		return 0;
	args_next(args);
	if (args_number(args, name, LACE_MAX_NODES - 1, &number, err))
		return -1;
	*hop = number;
	return 0;
}

static int add_route(struct args *args, struct lace_rt_segment *segment,
		     struct lace_error *err)
{
	struct lace_rt_route *more, route = { 0 };
	const char *word;
	uint64_t from, to;

	if (args_number(args, "first node of a route", LACE_MAX_NODES - 1,
			&from, err) ||
	    args_number(args, "last node of a route", LACE_MAX_NODES - 1, &to,
			err) ||
	    parse_hop(args, "prev", &route.prev, err) ||
	    parse_hop(args, "next", &route.next, err))
		return -1;
	route.from = from;
	route.to = to;
	word = args_peek(args);
	if (word && !strcmp(word, "alternate")) {
		args_next(args);
		route.rank = lace_rt_alternate_rank(segment, from, to);
	}
	more = reallocarray(segment->routes, segment->nr_routes + 1,
			    sizeof(*more));
	if (!more)
		return lace_no_memory(err);
	segment->routes = more;
	more[segment->nr_routes++] = route;
	return 0;
}

enum word { DEV, ID, TX, RX, ROUTE };

static int parse_word(struct args *args, int word, struct selection *selection,
		      struct lace_rt_segment *segment, struct lace_error *err)
{
	uint64_t id;

	switch (word) {
	case DEV:
		return args_word(args, "device after \"dev\"", &selection->dev,
				 err);
	case TX:
		return add_circuit(args, LACE_DIR_TX, segment, err);
	case RX:
		return add_circuit(args, LACE_DIR_RX, segment, err);
	case ROUTE:
		return add_route(args, segment, err);
	}
	if (args_number(args, "id", UINT32_MAX, &id, err))
		return -1;
	selection->id = id;
	segment->id = id;
	return 0;
}

static int parse_segment(struct args *args, struct selection *selection,
			 struct lace_rt_segment *segment,
			 struct lace_error *err)
{
	static const char *const keywords[] = {
		[DEV] = "dev", [ID] = "id", [TX] = "tx", [RX] = "rx",
		[ROUTE] = "route", NULL,
	};
	int keyword;

	for (;;) {
		if (args_keyword(args, keywords, &keyword, err))
			return -1;
		if (keyword < 0)
			return args_need(selection, true, err);
		if (parse_word(args, keyword, selection, segment, err))
			return -1;
	}
}

static int segment_load(const struct lacectl *ctl, int argc, char **argv,
			struct lace_error *err)
{
	struct selection selection = { NULL, -1 };
	struct args args = { argc, argv };
	struct lace_rt_segment segment = { 0 };
	struct lace_client *client = NULL;
	int ret;

	(void)ctl;
	ret = parse_segment(&args, &selection, &segment, err);
	if (!ret)
		ret = lace_client_open(NULL, &client, err);
	if (!ret)
		ret = lace_client_set_segment(client, selection.dev, &segment,
					      err);
	lace_client_close(client);
	lace_rt_segment_free(&segment);
	return ret;
}

/* ---- activate, del ---- */

/* "id none", which args_selection() takes for a bad number. */
static int parse_activate(struct args *args, struct selection *selection,
			  struct lace_error *err)
{
	static const char *const keywords[] = { "dev", "id", NULL };
	bool given = false;
	const char *word;
	uint64_t id;
	int keyword;

	for (;;) {
		if (args_keyword(args, keywords, &keyword, err))
			return -1;
		if (keyword < 0)
			break;
		if (args_word(args, keyword ? "segment after \"id\"" :
			      "device after \"dev\"", &word, err))
			return -1;
		if (keyword == 0) {
			selection->dev = word;
			continue;
		}
		given = true;
		selection->id = LACE_RT_NONE;
		if (!strcmp(word, "none"))
			continue;
		if (parse_number(word, "id", UINT32_MAX, &id, err))
			return -1;
		selection->id = id;
	}
	return args_need(selection, !given, err);
}

static int segment_activate(const struct lacectl *ctl, int argc, char **argv,
			    struct lace_error *err)
{
	struct selection selection = { NULL, LACE_RT_NONE };
	struct args args = { argc, argv };
	struct lace_client *client;
	int ret;

	(void)ctl;
	if (parse_activate(&args, &selection, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_activate(client, selection.dev, selection.id, err);
	lace_client_close(client);
	return ret;
}

static int segment_del(const struct lacectl *ctl, int argc, char **argv,
		       struct lace_error *err)
{
	struct args args = { argc, argv };
	struct selection selection;
	struct lace_client *client;
	int ret;

	(void)ctl;
	if (args_selection(&args, "id", UINT32_MAX, &selection, err) ||
	    args_need(&selection, true, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_del_segment(client, selection.dev, selection.id, err);
	lace_client_close(client);
	return ret;
}

static const struct command commands[] = {
	{ "show", segment_show },
	{ "load", segment_load },
	{ "activate", segment_activate },
	{ "del", segment_del },
	{ NULL, NULL },
};

const struct object segment_object = { "segment", usage, commands, NULL };
