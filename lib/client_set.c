// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Changes: each is one request, which the module does whole or not at all.
 */
#include "client_impl.h"

#include <errno.h>
#include <netlink/attr.h>
#include <sys/socket.h>

/* Every attribute here is at most this large, header and padding included. */
#define SMALL NLA_ALIGN(NLA_HDRLEN + sizeof(uint32_t))
#define PREFIX_SIZE (NLA_HDRLEN + 2 * SMALL + NLA_HDRLEN + 16)
#define NODEPORT_SIZE (NLA_HDRLEN + SMALL + NLA_ALIGN(NLA_HDRLEN + 6))
#define CIRCUIT_SIZE (NLA_HDRLEN + 4 * SMALL)
#define ROUTE_SIZE (NLA_HDRLEN + 5 * SMALL)

static int no_room(struct nl_msg *msg, struct lace_error *err)
{
	nlmsg_free(msg);
	lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	return -ENOMEM;
}

static int change(struct lace_client *client, struct nl_msg *msg,
		  struct lace_error *err)
{
	return lace_client_do(client, msg, NULL, NULL, err);
}

/**
 * lace_client_set_number() - say which node a device is
 * @client: the client
 * @ifname: the lace device
 * @node: number of the node that this host is
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; -EBUSY while segments are loaded.
 */
int lace_client_set_number(struct lace_client *client, const char *ifname,
			   uint16_t node, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_DEV_SET, ifname, SMALL, err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U16(msg, LACE_A_DEV_NODE, node);
	return change(client, msg, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_set_steer() - give a device a steering program
 * @client: the client
 * @ifname: the lace device
 * @fd: of a loaded program of type SOCKET_FILTER; -1 for the built-in policy
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_set_steer(struct lace_client *client, const char *ifname,
			  int fd, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_DEV_SET, ifname, SMALL, err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_S32(msg, LACE_A_DEV_STEER_FD, fd);
	return change(client, msg, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_set_reorder() - say how long segments of TCP may wait
 * @client: the client
 * @ifname: the lace device
 * @us: longest time in microseconds that a segment waits for those before it;
 *	0 to have none wait
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_set_reorder(struct lace_client *client, const char *ifname,
			    uint32_t us, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_DEV_SET, ifname, SMALL, err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U32(msg, LACE_A_DEV_REORDER_USECS, us);
	return change(client, msg, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_set_ack() - how often the lane protocol asks for word
 * @client: the client
 * @ifname: the lace device
 * @msecs: interval in milliseconds, 10 to 60000; 0 turns the protocol off
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_set_ack(struct lace_client *client, const char *ifname,
			uint32_t msecs, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_DEV_SET, ifname, SMALL, err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U32(msg, LACE_A_DEV_ACK_MSECS, msecs);
	return change(client, msg, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_set_key() - give the lane protocol a key
 * @client: the client
 * @ifname: the lace device
 * @key: LACE_RT_KEY_SIZE bytes, the same on all nodes; NULL for no key
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_set_key(struct lace_client *client, const char *ifname,
			const uint8_t *key, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_DEV_SET, ifname,
				  NLA_HDRLEN + LACE_RT_KEY_SIZE, err);
	if (!msg)
		return -ENODEV;
	NLA_PUT(msg, LACE_A_DEV_ACK_KEY, key ? LACE_RT_KEY_SIZE : 0,
		key ? key : (const uint8_t *)"");
	return change(client, msg, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_set_port() - give a port its number
 * @client: the client
 * @port: name of the enslaved device
 * @number: its index in the plan
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_set_port(struct lace_client *client, const char *port,
			 uint8_t number, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_PORT_SET, port, SMALL, err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U8(msg, LACE_A_PORT_NUMBER, number);
	return change(client, msg, err);

nla_put_failure:
	return no_room(msg, err);
}

static int put_prefix(struct nl_msg *msg, const struct lace_rt_prefix *prefix)
{
	struct nlattr *nest = nla_nest_start(msg, LACE_A_NODE_PREFIX);

	if (!nest)
		return -1;
	NLA_PUT_U16(msg, LACE_A_PREFIX_FAMILY, prefix->family);
	NLA_PUT(msg, LACE_A_PREFIX_ADDRESS, prefix->family == AF_INET ? 4 : 16,
		prefix->address);
	NLA_PUT_U8(msg, LACE_A_PREFIX_LENGTH, prefix->length);
	nla_nest_end(msg, nest);
	return 0;

nla_put_failure:
	return -1;
}

static int put_nodeport(struct nl_msg *msg, uint8_t number,
			const uint8_t mac[6])
{
	struct nlattr *nest = nla_nest_start(msg, LACE_A_NODE_PORT);

	if (!nest)
		return -1;
	NLA_PUT_U8(msg, LACE_A_NODEPORT_NUMBER, number);
	NLA_PUT(msg, LACE_A_NODEPORT_MAC, 6, mac);
	nla_nest_end(msg, nest);
	return 0;

nla_put_failure:
	return -1;
}

static int put_node(struct nl_msg *msg, const struct lace_rt_node *node)
{
	unsigned int i;

	NLA_PUT_U16(msg, LACE_A_NODE_ID, node->id);
	for (i = 0; i < node->nr_prefixes; i++)
		if (put_prefix(msg, &node->prefixes[i]))
			return -1;
	for (i = 0; i < LACE_MAX_PORTS; i++)
		if (node->ports & 1U << i && put_nodeport(msg, i, node->mac[i]))
			return -1;
	return 0;

nla_put_failure:
	return -1;
}

/**
 * lace_client_set_node() - create a node, or replace it as a whole
 * @client: the client
 * @ifname: the lace device
 * @node: the node
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; -EEXIST where another node has an address.
 */
int lace_client_set_node(struct lace_client *client, const char *ifname,
			 const struct lace_rt_node *node,
			 struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_NODE_SET, ifname,
				  SMALL + node->nr_prefixes * PREFIX_SIZE +
				  LACE_MAX_PORTS * NODEPORT_SIZE, err);
	if (!msg)
		return -ENODEV;
	return put_node(msg, node) ? no_room(msg, err) :
				     change(client, msg, err);
}

/**
 * lace_client_del_node() - remove a node
 * @client: the client
 * @ifname: the lace device
 * @id: number of the node
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; -EBUSY while the active segment uses it.
 */
int lace_client_del_node(struct lace_client *client, const char *ifname,
			 uint16_t id, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_NODE_DEL, ifname, SMALL,
				  err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U16(msg, LACE_A_NODE_ID, id);
	return change(client, msg, err);

nla_put_failure:
	return no_room(msg, err);
}

static int put_circuit(struct nl_msg *msg,
		       const struct lace_rt_circuit *circuit)
{
	struct nlattr *nest = nla_nest_start(msg, LACE_A_SEGMENT_CIRCUIT);

	if (!nest)
		return -1;
	NLA_PUT_U8(msg, LACE_A_CIRCUIT_PORT, circuit->port);
	NLA_PUT_U8(msg, LACE_A_CIRCUIT_DIR, circuit->dir);
	NLA_PUT_U16(msg, LACE_A_CIRCUIT_PEER, circuit->peer);
	NLA_PUT_U8(msg, LACE_A_CIRCUIT_PEER_PORT, circuit->peer_port);
	nla_nest_end(msg, nest);
	return 0;

nla_put_failure:
	return -1;
}

static int put_route(struct nl_msg *msg, const struct lace_rt_route *route)
{
	struct nlattr *nest = nla_nest_start(msg, LACE_A_SEGMENT_ROUTE);

	if (!nest)
		return -1;
	NLA_PUT_U16(msg, LACE_A_ROUTE_FROM, route->from);
	NLA_PUT_U16(msg, LACE_A_ROUTE_TO, route->to);
	if (route->prev != LACE_RT_NONE)
		NLA_PUT_U16(msg, LACE_A_ROUTE_PREV, route->prev);
	if (route->next != LACE_RT_NONE)
		NLA_PUT_U16(msg, LACE_A_ROUTE_NEXT, route->next);
	if (route->rank)
		NLA_PUT_FLAG(msg, LACE_A_ROUTE_ALTERNATE);
	nla_nest_end(msg, nest);
	return 0;

nla_put_failure:
	return -1;
}

static int put_segment(struct nl_msg *msg,
		       const struct lace_rt_segment *segment)
{
	unsigned int i;

	NLA_PUT_U32(msg, LACE_A_SEGMENT_ID, segment->id);
	for (i = 0; i < segment->nr_circuits; i++)
		if (put_circuit(msg, &segment->circuits[i]))
			return -1;
	for (i = 0; i < segment->nr_routes; i++)
		if (put_route(msg, &segment->routes[i]))
			return -1;
	return 0;

nla_put_failure:
	return -1;
}

/**
 * lace_client_set_segment() - load a segment, or replace one
 * @client: the client
 * @ifname: the lace device
 * @segment: the segment; it does not become active
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; -EBUSY where that segment is active.
 */
int lace_client_set_segment(struct lace_client *client, const char *ifname,
			    const struct lace_rt_segment *segment,
			    struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_SEGMENT_SET, ifname,
				  SMALL + segment->nr_circuits * CIRCUIT_SIZE +
				  segment->nr_routes * ROUTE_SIZE, err);
	if (!msg)
		return -ENODEV;
	return put_segment(msg, segment) ? no_room(msg, err) :
					   change(client, msg, err);
}

/**
 * lace_client_del_segment() - unload a segment
 * @client: the client
 * @ifname: the lace device
 * @id: number of the segment
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; -EBUSY while it is active.
 */
int lace_client_del_segment(struct lace_client *client, const char *ifname,
			    uint32_t id, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_SEGMENT_DEL, ifname, SMALL,
				  err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U32(msg, LACE_A_SEGMENT_ID, id);
	return change(client, msg, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_activate() - make a segment the active one
 * @client: the client
 * @ifname: the lace device
 * @id: number of a segment that is loaded; LACE_RT_NONE for no segment
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_activate(struct lace_client *client, const char *ifname,
			 int64_t id, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_SEGMENT_ACTIVATE, ifname,
				  SMALL, err);
	if (!msg)
		return -ENODEV;
	if (id != LACE_RT_NONE)
		NLA_PUT_U32(msg, LACE_A_SEGMENT_ID, id);
	return change(client, msg, err);

nla_put_failure:
	return no_room(msg, err);
}
