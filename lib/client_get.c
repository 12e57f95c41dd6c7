// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Reading what the module has: lists by dump, one object by its number.
 */
#include "client_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A dump that changed under way is read anew, but not for ever. */
#define MAX_ATTEMPTS 16

struct list {
	char *items;
	size_t nr, room;
	size_t item_size;
	int (*parse)(const struct nlmsghdr *message, void *item,
		     struct lace_error *err);
	void (*free_item)(void *item);	/* NULL: items hold nothing */
};

static int parse_device(const struct nlmsghdr *message, void *item,
			struct lace_error *err)
{
	return lace_parse_device(message, item, err);
}

static int parse_node(const struct nlmsghdr *message, void *item,
		      struct lace_error *err)
{
	return lace_parse_node(message, item, err);
}

static int parse_lane(const struct nlmsghdr *message, void *item,
		      struct lace_error *err)
{
	return lace_parse_lane(message, item, err);
}

static int parse_segment(const struct nlmsghdr *message, void *item,
			 struct lace_error *err)
{
	return lace_parse_segment(message, item, err);
}

static int parse_transition(const struct nlmsghdr *message, void *item,
			    struct lace_error *err)
{
	return lace_parse_transition(message, item, err);
}

static int parse_hook(const struct nlmsghdr *message, void *item,
		      struct lace_error *err)
{
	return lace_parse_hook(message, item, err);
}

static void free_node(void *item)
{
	lace_rt_node_free(item);
}

static void free_segment(void *item)
{
	lace_rt_segment_free(item);
}

static void empty(struct list *list)
{
	size_t i;

	for (i = 0; i < list->nr && list->free_item; i++)
		list->free_item(list->items + i * list->item_size);
	list->nr = 0;
}

static int grow(struct list *list, struct lace_error *err)
{
	size_t room = list->room ? 2 * list->room : 16;
	char *items;

	if (list->nr < list->room)
		return 0;
	items = realloc(list->items, room * list->item_size);
	if (!items) {
		lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
		return -ENOMEM;
	}
	list->items = items;
	list->room = room;
	return 0;
}

static int append(const struct nlmsghdr *message, void *arg,
		  struct lace_error *err)
{
	struct list *list = arg;
	int ret;

	ret = grow(list, err);
	if (!ret)
		ret = list->parse(message,
				  list->items + list->nr * list->item_size,
				  err);
	if (!ret)
		list->nr++;
	return ret;
}

static int dump(struct lace_client *client, uint8_t cmd, const char *ifname,
		struct list *list, struct lace_error *err)
{
	struct nl_msg *msg;
	int attempt, ret = -EINTR;

	for (attempt = 0; attempt < MAX_ATTEMPTS && ret == -EINTR; attempt++) {
		empty(list);
		msg = lace_client_message(client, cmd, ifname, 0, err);
		ret = msg ? lace_client_dump(client, msg, append, list, err) :
			    -ENODEV;
	}
	if (ret == -EINTR)
		lace_fail(err, LACE_ERR_ANSWER,
			  "the configuration keeps changing while it is read");
	if (ret) {
		empty(list);
		free(list->items);
		list->items = NULL;
	}
	return ret;
}

/**
 * lace_client_devices() - list lace devices
 * @client: the client
 * @ifname: this one only; NULL for all of the namespace
 * @devices: filled with an array, free() it; NULL if there are none
 * @nr: filled with its length
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_devices(struct lace_client *client, const char *ifname,
			struct lace_rt_device **devices, size_t *nr,
			struct lace_error *err)
{
	struct list list = { .item_size = sizeof(**devices),
			     .parse = parse_device };
	int ret;

	ret = dump(client, LACE_CMD_DEV_GET, ifname, &list, err);
	*devices = (void *)list.items;
	*nr = list.nr;
	return ret;
}

/**
 * lace_client_nodes() - list nodes, as lace_client_devices() does devices
 * @client: the client
 * @ifname: of this device only; NULL for all
 * @nodes: filled with an array for lace_rt_nodes_free()
 * @nr: filled with its length
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_nodes(struct lace_client *client, const char *ifname,
		      struct lace_rt_node **nodes, size_t *nr,
		      struct lace_error *err)
{
	struct list list = { .item_size = sizeof(**nodes), .parse = parse_node,
			     .free_item = free_node };
	int ret;

	ret = dump(client, LACE_CMD_NODE_GET, ifname, &list, err);
	*nodes = (void *)list.items;
	*nr = list.nr;
	return ret;
}

/**
 * lace_client_lanes() - list lanes, as lace_client_devices() does devices
 * @client: the client
 * @ifname: of this device only; NULL for all
 * @lanes: filled with an array, free() it
 * @nr: filled with its length
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_lanes(struct lace_client *client, const char *ifname,
		      struct lace_rt_lane **lanes, size_t *nr,
		      struct lace_error *err)
{
	struct list list = { .item_size = sizeof(**lanes),
			     .parse = parse_lane };
	int ret;

	ret = dump(client, LACE_CMD_LANE_GET, ifname, &list, err);
	*lanes = (void *)list.items;
	*nr = list.nr;
	return ret;
}

/**
 * lace_client_segments() - list segments, as lace_client_devices() does devices
 * @client: the client
 * @ifname: of this device only; NULL for all
 * @segments: filled with an array for lace_rt_segments_free()
 * @nr: filled with its length
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_segments(struct lace_client *client, const char *ifname,
			 struct lace_rt_segment **segments, size_t *nr,
			 struct lace_error *err)
{
	struct list list = { .item_size = sizeof(**segments),
			     .parse = parse_segment,
			     .free_item = free_segment };
	int ret;

	ret = dump(client, LACE_CMD_SEGMENT_GET, ifname, &list, err);
	*segments = (void *)list.items;
	*nr = list.nr;
	return ret;
}

/**
 * lace_client_transitions() - list the transitions that devices remember
 * @client: the client
 * @ifname: of this device only; NULL for all
 * @transitions: filled with an array in the order of time, free() it
 * @nr: filled with its length
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_transitions(struct lace_client *client, const char *ifname,
			    struct lace_rt_transition **transitions, size_t *nr,
			    struct lace_error *err)
{
	struct list list = { .item_size = sizeof(**transitions),
			     .parse = parse_transition };
	int ret;

	ret = dump(client, LACE_CMD_TRANSITION_GET, ifname, &list, err);
	*transitions = (void *)list.items;
	*nr = list.nr;
	return ret;
}

/**
 * lace_client_hooks() - list hooks, as lace_client_devices() does devices
 * @client: the client
 * @ifname: of this device only; NULL for all
 * @hooks: filled with an array, free() it
 * @nr: filled with its length
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_hooks(struct lace_client *client, const char *ifname,
		      struct lace_rt_hook **hooks, size_t *nr,
		      struct lace_error *err)
{
	struct list list = { .item_size = sizeof(**hooks),
			     .parse = parse_hook };
	int ret;

	ret = dump(client, LACE_CMD_HOOK_GET, ifname, &list, err);
	*hooks = (void *)list.items;
	*nr = list.nr;
	return ret;
}

/* ---- one object ---- */

/* What the answer to a GET goes into. */
struct one {
	int (*parse)(const struct nlmsghdr *message, void *item,
		     struct lace_error *err);
	void *item;
	bool found;
};

static int take(const struct nlmsghdr *message, void *arg,
		struct lace_error *err)
{
	struct one *one = arg;
	int ret;

	if (one->found)
		return 0;
	ret = one->parse(message, one->item, err);
	one->found = !ret;
	return ret;
}

static int get(struct lace_client *client, struct nl_msg *msg, struct one *one,
	       struct lace_error *err)
{
	int ret;

	ret = lace_client_do(client, msg, take, one, err);
	if (ret || one->found)
		return ret;
	lace_fail(err, LACE_ERR_SYSTEM, "the lace module did not answer");
	return -EBADMSG;
}

static int no_room(struct nl_msg *msg, struct lace_error *err)
{
	nlmsg_free(msg);
	lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	return -ENOMEM;
}

/**
 * lace_client_device() - get one device
 * @client: the client
 * @ifname: its name
 * @device: filled
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_device(struct lace_client *client, const char *ifname,
		       struct lace_rt_device *device, struct lace_error *err)
{
	struct one one = { .parse = parse_device, .item = device };
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_DEV_GET, ifname, 0, err);
	return msg ? get(client, msg, &one, err) : -ENODEV;
}

/**
 * lace_client_node() - get one node
 * @client: the client
 * @ifname: name of the lace device
 * @id: number of the node
 * @node: filled, for lace_rt_node_free()
 * @err: filled on failure
 *
 * Return: 0 or a negative errno, -ENOENT if there is no such node.
 */
int lace_client_node(struct lace_client *client, const char *ifname,
		     uint16_t id, struct lace_rt_node *node,
		     struct lace_error *err)
{
	struct one one = { .parse = parse_node, .item = node };
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_NODE_GET, ifname,
				  nla_total_size(sizeof(id)), err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U16(msg, LACE_A_NODE_ID, id);
	return get(client, msg, &one, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_segment() - get one segment
 * @client: the client
 * @ifname: name of the lace device
 * @id: number of the segment
 * @segment: filled, for lace_rt_segment_free()
 * @err: filled on failure
 *
 * Return: 0 or a negative errno, -ENOENT if there is no such segment.
 */
int lace_client_segment(struct lace_client *client, const char *ifname,
			uint32_t id, struct lace_rt_segment *segment,
			struct lace_error *err)
{
	struct one one = { .parse = parse_segment, .item = segment };
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_SEGMENT_GET, ifname,
				  nla_total_size(sizeof(id)), err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U32(msg, LACE_A_SEGMENT_ID, id);
	return get(client, msg, &one, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_lane() - get one lane
 * @client: the client
 * @ifname: name of the lace device
 * @port: number of its port
 * @dir: which of the port's two lanes
 * @lane: filled
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_lane(struct lace_client *client, const char *ifname,
		     uint8_t port, enum lace_dir dir,
		     struct lace_rt_lane *lane, struct lace_error *err)
{
	struct one one = { .parse = parse_lane, .item = lane };
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_LANE_GET, ifname,
				  2 * nla_total_size(sizeof(port)), err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U8(msg, LACE_A_LANE_PORT, port);
	NLA_PUT_U8(msg, LACE_A_LANE_DIR, dir);
	return get(client, msg, &one, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_transition() - get one transition
 * @client: the client
 * @ifname: name of the lace device
 * @id: its number; LACE_RT_NONE for the last one
 * @transition: filled
 * @err: filled on failure
 *
 * Return: 0 or a negative errno, -ENOENT if there was no such one.
 */
int lace_client_transition(struct lace_client *client, const char *ifname,
			   int64_t id, struct lace_rt_transition *transition,
			   struct lace_error *err)
{
	struct one one = { .parse = parse_transition, .item = transition };
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_TRANSITION_GET, ifname,
				  nla_total_size(sizeof(id)), err);
	if (!msg)
		return -ENODEV;
	if (id != LACE_RT_NONE)
		NLA_PUT_U64(msg, LACE_A_TRANSITION_ID, id);
	return get(client, msg, &one, err);

nla_put_failure:
	return no_room(msg, err);
}
