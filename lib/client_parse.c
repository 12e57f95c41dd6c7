// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Messages of the family into structs.  What a newer module adds is passed
 * over; what it leaves out is as if nothing were there.
 */
#include "client_impl.h"

#include <errno.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int bad_message(struct lace_error *err, const char *what)
{
	lace_fail(err, LACE_ERR_SYSTEM,
		  "the lace module answered with a %s that makes no sense",
		  what);
	return -EBADMSG;
}

static int no_memory(struct lace_error *err)
{
	lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	return -ENOMEM;
}

static const struct nlattr *first(const struct nlmsghdr *message)
{
	return genlmsg_attrdata(nlmsg_data(message), 0);
}

static int length(const struct nlmsghdr *message)
{
	return (int)message->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
}

static void get_name(struct nlattr *attr, char name[IFNAMSIZ])
{
	if (attr)
		nla_strlcpy(name, attr, IFNAMSIZ);
}

static void get_stats(struct nlattr *nest, uint64_t *stats, int max)
{
	struct nlattr *attr;
	int rem;

	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) <= max && nla_len(attr) == sizeof(uint64_t))
			stats[nla_type(attr)] = nla_get_u64(attr);
}

/* How many attributes of a type there are. */
static unsigned int count(const struct nlmsghdr *message, int type)
{
	const struct nlattr *attr;
	unsigned int nr = 0;
	int rem;

	nla_for_each_attr(attr, first(message), length(message), rem)
		nr += nla_type(attr) == type;
	return nr;
}

static int parse(const struct nlmsghdr *message, struct nlattr **attrs, int max,
		 const struct nla_policy *policy, const char *what,
		 struct lace_error *err)
{
	if (length(message) < 0 ||
	    nla_parse(attrs, max, (struct nlattr *)first(message),
		      length(message), policy))
		return bad_message(err, what);
	return 0;
}

/* ---- devices ---- */

static struct nla_policy dev_policy[LACE_A_DEV_MAX + 1] = {
	[LACE_A_DEV_IFINDEX] = { .type = NLA_U32 },
	[LACE_A_DEV_IFNAME] = { .type = NLA_STRING },
	[LACE_A_DEV_NODE] = { .type = NLA_U16 },
	[LACE_A_DEV_SEGMENT] = { .type = NLA_U32 },
	[LACE_A_DEV_STEER_PROG_ID] = { .type = NLA_U32 },
	[LACE_A_DEV_PORT] = { .type = NLA_NESTED },
	[LACE_A_DEV_STATS] = { .type = NLA_NESTED },
	[LACE_A_DEV_ACK_MSECS] = { .type = NLA_U32 },
	[LACE_A_DEV_ACK_KEYED] = { .type = NLA_FLAG },
	[LACE_A_DEV_CLOSED] = { .type = NLA_U32 },
	[LACE_A_DEV_REORDER_USECS] = { .type = NLA_U32 },
};

static struct nla_policy port_policy[LACE_A_PORT_MAX + 1] = {
	[LACE_A_PORT_IFINDEX] = { .type = NLA_U32 },
	[LACE_A_PORT_IFNAME] = { .type = NLA_STRING },
	[LACE_A_PORT_NUMBER] = { .type = NLA_U8 },
};

static int parse_port(struct nlattr *nest, struct lace_rt_port *port)
{
	struct nlattr *attrs[LACE_A_PORT_MAX + 1];

	if (nla_parse_nested(attrs, LACE_A_PORT_MAX, nest, port_policy) ||
	    !attrs[LACE_A_PORT_IFINDEX] || !attrs[LACE_A_PORT_NUMBER])
		return -1;
	port->ifindex = nla_get_u32(attrs[LACE_A_PORT_IFINDEX]);
	get_name(attrs[LACE_A_PORT_IFNAME], port->ifname);
	port->number = nla_get_u8(attrs[LACE_A_PORT_NUMBER]);
	return 0;
}

int lace_parse_device(const struct nlmsghdr *message,
		      struct lace_rt_device *device, struct lace_error *err)
{
	struct nlattr *attrs[LACE_A_DEV_MAX + 1], *attr;
	int rem;

	memset(device, 0, sizeof(*device));
	device->node = LACE_RT_NONE;
	device->segment = LACE_RT_NONE;
	device->reorder_us = LACE_RT_NONE;
	device->ack_ms = LACE_RT_NONE;
	if (parse(message, attrs, LACE_A_DEV_MAX, dev_policy, "device", err))
		return -EBADMSG;
	if (!attrs[LACE_A_DEV_IFINDEX] || !attrs[LACE_A_DEV_IFNAME])
		return bad_message(err, "device");
	device->ifindex = nla_get_u32(attrs[LACE_A_DEV_IFINDEX]);
	get_name(attrs[LACE_A_DEV_IFNAME], device->ifname);
	if (attrs[LACE_A_DEV_NODE])
		device->node = nla_get_u16(attrs[LACE_A_DEV_NODE]);
	if (attrs[LACE_A_DEV_SEGMENT])
		device->segment = nla_get_u32(attrs[LACE_A_DEV_SEGMENT]);
	if (attrs[LACE_A_DEV_STEER_PROG_ID])
		device->steer_prog_id =
			nla_get_u32(attrs[LACE_A_DEV_STEER_PROG_ID]);
	if (attrs[LACE_A_DEV_REORDER_USECS])
		device->reorder_us =
			nla_get_u32(attrs[LACE_A_DEV_REORDER_USECS]);
	if (attrs[LACE_A_DEV_ACK_MSECS])
		device->ack_ms = nla_get_u32(attrs[LACE_A_DEV_ACK_MSECS]);
	device->ack_keyed = attrs[LACE_A_DEV_ACK_KEYED];
	if (attrs[LACE_A_DEV_CLOSED])
		device->closed = nla_get_u32(attrs[LACE_A_DEV_CLOSED]);
	if (attrs[LACE_A_DEV_STATS])
		get_stats(attrs[LACE_A_DEV_STATS], device->stats,
			  LACE_A_DEVSTAT_MAX);
	nla_for_each_attr(attr, (struct nlattr *)first(message),
			  length(message), rem) {
		if (nla_type(attr) != LACE_A_DEV_PORT)
			continue;
		if (device->nr_ports == LACE_MAX_PORTS ||
		    parse_port(attr, &device->ports[device->nr_ports++]))
			return bad_message(err, "port");
	}
	return 0;
}

/* ---- nodes ---- */

static struct nla_policy node_policy[LACE_A_NODE_MAX + 1] = {
	[LACE_A_NODE_IFNAME] = { .type = NLA_STRING },
	[LACE_A_NODE_ID] = { .type = NLA_U16 },
	[LACE_A_NODE_PREFIX] = { .type = NLA_NESTED },
	[LACE_A_NODE_PORT] = { .type = NLA_NESTED },
};

static struct nla_policy prefix_policy[LACE_A_PREFIX_MAX + 1] = {
	[LACE_A_PREFIX_FAMILY] = { .type = NLA_U16 },
	[LACE_A_PREFIX_ADDRESS] = { .minlen = 4, .maxlen = 16 },
	[LACE_A_PREFIX_LENGTH] = { .type = NLA_U8 },
};

static struct nla_policy nodeport_policy[LACE_A_NODEPORT_MAX + 1] = {
	[LACE_A_NODEPORT_NUMBER] = { .type = NLA_U8 },
	[LACE_A_NODEPORT_MAC] = { .minlen = 6, .maxlen = 6 },
};

static int parse_prefix(struct nlattr *nest, struct lace_rt_prefix *prefix)
{
	struct nlattr *attrs[LACE_A_PREFIX_MAX + 1];

	if (nla_parse_nested(attrs, LACE_A_PREFIX_MAX, nest, prefix_policy) ||
	    !attrs[LACE_A_PREFIX_FAMILY] || !attrs[LACE_A_PREFIX_ADDRESS] ||
	    !attrs[LACE_A_PREFIX_LENGTH])
		return -1;
	prefix->family = nla_get_u16(attrs[LACE_A_PREFIX_FAMILY]);
	prefix->length = nla_get_u8(attrs[LACE_A_PREFIX_LENGTH]);
	nla_memcpy(prefix->address, attrs[LACE_A_PREFIX_ADDRESS],
		   sizeof(prefix->address));
	return 0;
}

static int parse_nodeport(struct nlattr *nest, struct lace_rt_node *node)
{
	struct nlattr *attrs[LACE_A_NODEPORT_MAX + 1];
	uint8_t number;

	if (nla_parse_nested(attrs, LACE_A_NODEPORT_MAX, nest,
			     nodeport_policy) ||
	    !attrs[LACE_A_NODEPORT_NUMBER] || !attrs[LACE_A_NODEPORT_MAC])
		return -1;
	number = nla_get_u8(attrs[LACE_A_NODEPORT_NUMBER]);
	if (number >= LACE_MAX_PORTS)
		return -1;
	node->ports |= 1U << number;
	nla_memcpy(node->mac[number], attrs[LACE_A_NODEPORT_MAC], 6);
	return 0;
}

static int parse_node_nests(const struct nlmsghdr *message,
			    struct lace_rt_node *node)
{
	struct nlattr *attr;
	int rem, ret = 0;

	nla_for_each_attr(attr, (struct nlattr *)first(message),
			  length(message), rem) {
		if (nla_type(attr) == LACE_A_NODE_PREFIX)
			ret = parse_prefix(attr,
					   &node->prefixes[node->nr_prefixes++]);
		else if (nla_type(attr) == LACE_A_NODE_PORT)
			ret = parse_nodeport(attr, node);
		if (ret)
			return ret;
	}
	lace_rt_node_sort(node);
	return 0;
}

int lace_parse_node(const struct nlmsghdr *message, struct lace_rt_node *node,
		    struct lace_error *err)
{
	struct nlattr *attrs[LACE_A_NODE_MAX + 1];

	memset(node, 0, sizeof(*node));
	if (parse(message, attrs, LACE_A_NODE_MAX, node_policy, "node", err))
		return -EBADMSG;
	if (!attrs[LACE_A_NODE_IFNAME] || !attrs[LACE_A_NODE_ID])
		return bad_message(err, "node");
	get_name(attrs[LACE_A_NODE_IFNAME], node->ifname);
	node->id = nla_get_u16(attrs[LACE_A_NODE_ID]);
	node->prefixes = calloc(count(message, LACE_A_NODE_PREFIX) + 1,
				sizeof(*node->prefixes));
	if (!node->prefixes)
		return no_memory(err);
	if (parse_node_nests(message, node)) {
		lace_rt_node_free(node);
		return bad_message(err, "node");
	}
	return 0;
}

/* ---- lanes ---- */

static struct nla_policy lane_policy[LACE_A_LANE_MAX + 1] = {
	[LACE_A_LANE_IFNAME] = { .type = NLA_STRING },
	[LACE_A_LANE_PORT] = { .type = NLA_U8 },
	[LACE_A_LANE_PORT_IFINDEX] = { .type = NLA_U32 },
	[LACE_A_LANE_DIR] = { .type = NLA_U8 },
	[LACE_A_LANE_PEER] = { .type = NLA_U16 },
	[LACE_A_LANE_PEER_PORT] = { .type = NLA_U8 },
	[LACE_A_LANE_STATS] = { .type = NLA_NESTED },
	[LACE_A_LANE_STATE] = { .type = NLA_U8 },
	[LACE_A_LANE_SILENCE_MS] = { .type = NLA_U64 },
	[LACE_A_LANE_RTT_NS] = { .type = NLA_U64 },
	[LACE_A_LANE_EPOCH] = { .type = NLA_U64 },
	[LACE_A_LANE_DRAINED] = { .type = NLA_FLAG },
	[LACE_A_LANE_CLOSED] = { .type = NLA_FLAG },
};

static int64_t u64_or_none(struct nlattr *attr)
{
	return attr ? (int64_t)nla_get_u64(attr) : LACE_RT_NONE;
}

static void get_word(struct nlattr **attrs, struct lace_rt_lane *lane)
{
	if (attrs[LACE_A_LANE_STATE])
		lane->state = nla_get_u8(attrs[LACE_A_LANE_STATE]);
	lane->silence_ms = u64_or_none(attrs[LACE_A_LANE_SILENCE_MS]);
	lane->rtt_ns = u64_or_none(attrs[LACE_A_LANE_RTT_NS]);
	if (attrs[LACE_A_LANE_EPOCH])
		lane->epoch = nla_get_u64(attrs[LACE_A_LANE_EPOCH]);
	lane->drained = attrs[LACE_A_LANE_DRAINED];
	lane->closed = attrs[LACE_A_LANE_CLOSED];
}

int lace_parse_lane(const struct nlmsghdr *message, struct lace_rt_lane *lane,
		    struct lace_error *err)
{
	struct nlattr *attrs[LACE_A_LANE_MAX + 1];

	memset(lane, 0, sizeof(*lane));
	lane->peer = LACE_RT_NONE;
	if (parse(message, attrs, LACE_A_LANE_MAX, lane_policy, "lane", err))
		return -EBADMSG;
	if (!attrs[LACE_A_LANE_IFNAME] || !attrs[LACE_A_LANE_PORT] ||
	    !attrs[LACE_A_LANE_DIR])
		return bad_message(err, "lane");
	get_name(attrs[LACE_A_LANE_IFNAME], lane->ifname);
	lane->port = nla_get_u8(attrs[LACE_A_LANE_PORT]);
	lane->dir = nla_get_u8(attrs[LACE_A_LANE_DIR]);
	if (lane->port >= LACE_MAX_PORTS || lane->dir > LACE_DIR_RX)
		return bad_message(err, "lane");
	if (attrs[LACE_A_LANE_PORT_IFINDEX])
		lane->port_ifindex =
			nla_get_u32(attrs[LACE_A_LANE_PORT_IFINDEX]);
	if (attrs[LACE_A_LANE_PEER] && attrs[LACE_A_LANE_PEER_PORT]) {
		lane->peer = nla_get_u16(attrs[LACE_A_LANE_PEER]);
		lane->peer_port = nla_get_u8(attrs[LACE_A_LANE_PEER_PORT]);
	}
	get_word(attrs, lane);
	if (attrs[LACE_A_LANE_STATS])
		get_stats(attrs[LACE_A_LANE_STATS], lane->stats,
			  LACE_A_LANESTAT_MAX);
	return 0;
}

/* ---- segments ---- */

static struct nla_policy segment_policy[LACE_A_SEGMENT_MAX + 1] = {
	[LACE_A_SEGMENT_IFNAME] = { .type = NLA_STRING },
	[LACE_A_SEGMENT_ID] = { .type = NLA_U32 },
	[LACE_A_SEGMENT_ACTIVE] = { .type = NLA_FLAG },
	[LACE_A_SEGMENT_CIRCUIT] = { .type = NLA_NESTED },
	[LACE_A_SEGMENT_ROUTE] = { .type = NLA_NESTED },
};

static struct nla_policy circuit_policy[LACE_A_CIRCUIT_MAX + 1] = {
	[LACE_A_CIRCUIT_PORT] = { .type = NLA_U8 },
	[LACE_A_CIRCUIT_DIR] = { .type = NLA_U8 },
	[LACE_A_CIRCUIT_PEER] = { .type = NLA_U16 },
	[LACE_A_CIRCUIT_PEER_PORT] = { .type = NLA_U8 },
};

static struct nla_policy route_policy[LACE_A_ROUTE_MAX + 1] = {
	[LACE_A_ROUTE_FROM] = { .type = NLA_U16 },
	[LACE_A_ROUTE_TO] = { .type = NLA_U16 },
	[LACE_A_ROUTE_PREV] = { .type = NLA_U16 },
	[LACE_A_ROUTE_NEXT] = { .type = NLA_U16 },
	[LACE_A_ROUTE_ALTERNATE] = { .type = NLA_FLAG },
	[LACE_A_ROUTE_BROKEN] = { .type = NLA_FLAG },
};

static int parse_circuit(struct nlattr *nest, struct lace_rt_circuit *circuit)
{
	struct nlattr *attrs[LACE_A_CIRCUIT_MAX + 1];

	if (nla_parse_nested(attrs, LACE_A_CIRCUIT_MAX, nest,
			     circuit_policy) ||
	    !attrs[LACE_A_CIRCUIT_PORT] || !attrs[LACE_A_CIRCUIT_DIR] ||
	    !attrs[LACE_A_CIRCUIT_PEER] || !attrs[LACE_A_CIRCUIT_PEER_PORT])
		return -1;
	circuit->port = nla_get_u8(attrs[LACE_A_CIRCUIT_PORT]);
	circuit->dir = nla_get_u8(attrs[LACE_A_CIRCUIT_DIR]);
	circuit->peer = nla_get_u16(attrs[LACE_A_CIRCUIT_PEER]);
	circuit->peer_port = nla_get_u8(attrs[LACE_A_CIRCUIT_PEER_PORT]);
	return circuit->dir > LACE_DIR_RX ? -1 : 0;
}

static int32_t node_or_none(struct nlattr *attr)
{
	return attr ? nla_get_u16(attr) : LACE_RT_NONE;
}

static int parse_route(struct nlattr *nest, struct lace_rt_segment *segment)
{
	struct lace_rt_route *route = &segment->routes[segment->nr_routes];
	struct nlattr *attrs[LACE_A_ROUTE_MAX + 1];

	if (nla_parse_nested(attrs, LACE_A_ROUTE_MAX, nest, route_policy) ||
	    !attrs[LACE_A_ROUTE_FROM] || !attrs[LACE_A_ROUTE_TO])
		return -1;
	route->from = nla_get_u16(attrs[LACE_A_ROUTE_FROM]);
	route->to = nla_get_u16(attrs[LACE_A_ROUTE_TO]);
	route->prev = node_or_none(attrs[LACE_A_ROUTE_PREV]);
	route->next = node_or_none(attrs[LACE_A_ROUTE_NEXT]);
	if (attrs[LACE_A_ROUTE_ALTERNATE])
		route->rank = lace_rt_alternate_rank(segment, route->from,
						     route->to);
	route->broken = attrs[LACE_A_ROUTE_BROKEN];
	segment->nr_routes++;
	return 0;
}

static int parse_segment_nests(const struct nlmsghdr *message,
			       struct lace_rt_segment *segment)
{
	struct nlattr *attr;
	int rem, ret = 0;

	nla_for_each_attr(attr, (struct nlattr *)first(message),
			  length(message), rem) {
		if (nla_type(attr) == LACE_A_SEGMENT_CIRCUIT)
			ret = parse_circuit(attr,
				&segment->circuits[segment->nr_circuits++]);
		else if (nla_type(attr) == LACE_A_SEGMENT_ROUTE)
			ret = parse_route(attr, segment);
		if (ret)
			return ret;
	}
	lace_rt_segment_sort(segment);
	return 0;
}

int lace_parse_segment(const struct nlmsghdr *message,
		       struct lace_rt_segment *segment, struct lace_error *err)
{
	struct nlattr *attrs[LACE_A_SEGMENT_MAX + 1];

	memset(segment, 0, sizeof(*segment));
	if (parse(message, attrs, LACE_A_SEGMENT_MAX, segment_policy, "segment",
		  err))
		return -EBADMSG;
	if (!attrs[LACE_A_SEGMENT_IFNAME] || !attrs[LACE_A_SEGMENT_ID])
		return bad_message(err, "segment");
	get_name(attrs[LACE_A_SEGMENT_IFNAME], segment->ifname);
	segment->id = nla_get_u32(attrs[LACE_A_SEGMENT_ID]);
	segment->active = attrs[LACE_A_SEGMENT_ACTIVE];
	segment->circuits = calloc(count(message, LACE_A_SEGMENT_CIRCUIT) + 1,
				   sizeof(*segment->circuits));
	segment->routes = calloc(count(message, LACE_A_SEGMENT_ROUTE) + 1,
				 sizeof(*segment->routes));
	if (!segment->circuits || !segment->routes) {
		lace_rt_segment_free(segment);
		return no_memory(err);
	}
	if (parse_segment_nests(message, segment)) {
		lace_rt_segment_free(segment);
		return bad_message(err, "segment");
	}
	return 0;
}
