// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * What the module refuses, in words: its own (extended acknowledgment), the
 * attribute that it points at, and the device that the request was about.
 */
#include "client_impl.h"

#include <errno.h>
#include <netlink/attr.h>
#include <string.h>

/* Attributes of an object by number; nests hold one level more. */
struct names {
	const char *object;
	const char *const *names;
	int max;
	const struct nested {
		int attr;
		const char *const *names;
		int max;
	} nested[2];
};

#define NAMES(list) .names = list, .max = sizeof(list) / sizeof(list[0]) - 1

static const char *const dev_names[] = {
	[LACE_A_DEV_IFINDEX] = "IFINDEX",
	[LACE_A_DEV_IFNAME] = "IFNAME",
	[LACE_A_DEV_NODE] = "NODE",
	[LACE_A_DEV_STEER_FD] = "STEER_FD",
	[LACE_A_DEV_ACK_MSECS] = "ACK_MSECS",
	[LACE_A_DEV_ACK_KEY] = "ACK_KEY",
};

static const char *const port_names[] = {
	[LACE_A_PORT_IFINDEX] = "IFINDEX",
	[LACE_A_PORT_IFNAME] = "IFNAME",
	[LACE_A_PORT_NUMBER] = "NUMBER",
};

static const char *const node_names[] = {
	[LACE_A_NODE_IFINDEX] = "IFINDEX",
	[LACE_A_NODE_IFNAME] = "IFNAME",
	[LACE_A_NODE_ID] = "ID",
	[LACE_A_NODE_PREFIX] = "PREFIX",
	[LACE_A_NODE_PORT] = "PORT",
};

static const char *const prefix_names[] = {
	[LACE_A_PREFIX_FAMILY] = "FAMILY",
	[LACE_A_PREFIX_ADDRESS] = "ADDRESS",
	[LACE_A_PREFIX_LENGTH] = "LENGTH",
};

static const char *const nodeport_names[] = {
	[LACE_A_NODEPORT_NUMBER] = "NUMBER",
	[LACE_A_NODEPORT_MAC] = "MAC",
};

static const char *const lane_names[] = {
	[LACE_A_LANE_IFINDEX] = "IFINDEX",
	[LACE_A_LANE_IFNAME] = "IFNAME",
	[LACE_A_LANE_PORT] = "PORT",
	[LACE_A_LANE_DIR] = "DIR",
};

static const char *const segment_names[] = {
	[LACE_A_SEGMENT_IFINDEX] = "IFINDEX",
	[LACE_A_SEGMENT_IFNAME] = "IFNAME",
	[LACE_A_SEGMENT_ID] = "ID",
	[LACE_A_SEGMENT_CIRCUIT] = "CIRCUIT",
	[LACE_A_SEGMENT_ROUTE] = "ROUTE",
};

static const char *const circuit_names[] = {
	[LACE_A_CIRCUIT_PORT] = "PORT",
	[LACE_A_CIRCUIT_DIR] = "DIR",
	[LACE_A_CIRCUIT_PEER] = "PEER",
	[LACE_A_CIRCUIT_PEER_PORT] = "PEER_PORT",
};

static const char *const route_names[] = {
	[LACE_A_ROUTE_FROM] = "FROM",
	[LACE_A_ROUTE_TO] = "TO",
	[LACE_A_ROUTE_PREV] = "PREV",
	[LACE_A_ROUTE_NEXT] = "NEXT",
};

static const char *const transition_names[] = {
	[LACE_A_TRANSITION_IFINDEX] = "IFINDEX",
	[LACE_A_TRANSITION_IFNAME] = "IFNAME",
	[LACE_A_TRANSITION_ID] = "ID",
	[LACE_A_TRANSITION_TO] = "TO",
	[LACE_A_TRANSITION_ON_FAILURE] = "ON_FAILURE",
	[LACE_A_TRANSITION_RETRIES] = "RETRIES",
	[LACE_A_TRANSITION_DEADLINES] = "DEADLINES",
};

static const char *const deadline_names[] = {
	[LACE_A_DEADLINE_QUIESCE] = "QUIESCE",
	[LACE_A_DEADLINE_DRAIN] = "DRAIN",
	[LACE_A_DEADLINE_SWITCH] = "SWITCH",
	[LACE_A_DEADLINE_SETTLE] = "SETTLE",
	[LACE_A_DEADLINE_VERIFY] = "VERIFY",
	[LACE_A_DEADLINE_RESUME] = "RESUME",
};

static const char *const hook_names[] = {
	[LACE_A_HOOK_IFINDEX] = "IFINDEX",
	[LACE_A_HOOK_IFNAME] = "IFNAME",
	[LACE_A_HOOK_NAME] = "NAME",
	[LACE_A_HOOK_PHASES] = "PHASES",
	[LACE_A_HOOK_CALL] = "CALL",
	[LACE_A_HOOK_ERROR] = "ERROR",
	[LACE_A_HOOK_REASON] = "REASON",
};

static const struct names device = { "device", NAMES(dev_names), .nested = {} };
static const struct names port = { "port", NAMES(port_names), .nested = {} };
static const struct names lane = { "lane", NAMES(lane_names), .nested = {} };
static const struct names node = {
	"node", NAMES(node_names), .nested = {
		{ LACE_A_NODE_PREFIX, NAMES(prefix_names) },
		{ LACE_A_NODE_PORT, NAMES(nodeport_names) },
	},
};

static const struct names segment = {
	"segment", NAMES(segment_names), .nested = {
		{ LACE_A_SEGMENT_CIRCUIT, NAMES(circuit_names) },
		{ LACE_A_SEGMENT_ROUTE, NAMES(route_names) },
	},
};

static const struct names transition = {
	"transition", NAMES(transition_names), .nested = {
		{ LACE_A_TRANSITION_DEADLINES, NAMES(deadline_names) },
	},
};

static const struct names hook = { "hook", NAMES(hook_names), .nested = {} };

static const struct names *const of_command[__LACE_CMD_MAX] = {
	[LACE_CMD_DEV_GET] = &device,
	[LACE_CMD_DEV_SET] = &device,
	[LACE_CMD_PORT_SET] = &port,
	[LACE_CMD_NODE_GET] = &node,
	[LACE_CMD_NODE_SET] = &node,
	[LACE_CMD_NODE_DEL] = &node,
	[LACE_CMD_LANE_GET] = &lane,
	[LACE_CMD_SEGMENT_GET] = &segment,
	[LACE_CMD_SEGMENT_SET] = &segment,
	[LACE_CMD_SEGMENT_DEL] = &segment,
	[LACE_CMD_SEGMENT_ACTIVATE] = &segment,
	[LACE_CMD_TRANSITION_GET] = &transition,
	[LACE_CMD_TRANSITION_START] = &transition,
	[LACE_CMD_TRANSITION_ABORT] = &transition,
	[LACE_CMD_HOOK_GET] = &hook,
	[LACE_CMD_HOOK_SET] = &hook,
	[LACE_CMD_HOOK_DEL] = &hook,
	[LACE_CMD_HOOK_DONE] = &hook,
};

/* The attribute among those from first on that holds the byte at. */
static const struct nlattr *attr_at(const struct nlattr *first, int len,
				    const char *at)
{
	const struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, first, len, rem)
		if (at >= (const char *)attr &&
		    at < (const char *)attr + nla_total_size(nla_len(attr)))
			return attr;
	return NULL;
}

static const char *name_of(const char *const *names, int max, int type)
{
	return type <= max && names[type] ? names[type] : "?";
}

static const char *nested_name(const struct names *names,
			       const struct nlattr *nest, const char *at)
{
	const struct nlattr *attr;
	size_t i;

	attr = attr_at(nla_data(nest), nla_len(nest), at);
	if (!attr)
		return NULL;
	for (i = 0; i < 2; i++)
		if (names->nested[i].names &&
		    names->nested[i].attr == nla_type(nest))
			return name_of(names->nested[i].names,
				       names->nested[i].max, nla_type(attr));
	return NULL;
}

/* "node PREFIX LENGTH" for what stands offset bytes into the request. */
static void name_attribute(const struct nlmsghdr *request, uint32_t offset,
			   char *text, size_t size)
{
	const struct genlmsghdr *header = nlmsg_data(request);
	const char *at = (const char *)request + offset;
	const struct names *names;
	const struct nlattr *attr;
	const char *inner;

	text[0] = '\0';
	names = header->cmd < __LACE_CMD_MAX ? of_command[header->cmd] : NULL;
	attr = attr_at(genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0),
		       at);
	if (!names || !attr)
		return;
	inner = nested_name(names, attr, at);
	snprintf(text, size, "%s %s%s%s", names->object,
		 name_of(names->names, names->max, nla_type(attr)),
		 inner ? " " : "", inner ? inner : "");
}

/* Where the acknowledgment's attributes begin; NULL if it has none. */
static const struct nlattr *ack_attributes(const struct nlmsghdr *answer,
					   int *len)
{
	const struct nlmsgerr *error = nlmsg_data(answer);
	size_t skip = sizeof(int);

	if (!(answer->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (answer->nlmsg_type == NLMSG_ERROR) {
		skip = sizeof(*error);
		if (answer->nlmsg_len < NLMSG_HDRLEN + skip)
			return NULL;
		if (!(answer->nlmsg_flags & NLM_F_CAPPED))
			skip += NLMSG_ALIGN(error->msg.nlmsg_len) -
				NLMSG_HDRLEN;
	}
	skip = NLMSG_ALIGN(skip);
	*len = (int)answer->nlmsg_len - NLMSG_HDRLEN - (int)skip;
	return *len > 0 ? (const struct nlattr *)((const char *)error + skip) :
			  NULL;
}

static const char *reason(int error)
{
	switch (error) {
	case -EPERM:
		return "not permitted: this takes CAP_NET_ADMIN (run it as root)";
	/* What a dump is refused for, some kernels do not hand on. */
	case -ENODEV:
		return "there is no such lace device";
	case -EOPNOTSUPP:
		return "the lace module does not know this command";
	default:
		return strerror(-error);
	}
}

/* Device that the request names, with what separates it from the words. */
static void name_device(const struct nlmsghdr *request, char *text, size_t size)
{
	const struct nlattr *ifname;

	text[0] = '\0';
	ifname = nlmsg_find_attr((struct nlmsghdr *)request, GENL_HDRLEN,
				 LACE_A_DEV_IFNAME);
	if (ifname)
		snprintf(text, size, "%s: ", nla_get_string(ifname));
}

int lace_client_refused(const struct nlmsghdr *request,
			const struct nlmsghdr *answer, int error,
			struct lace_error *err)
{
	char where[64] = "", about[IFNAMSIZ + 2];
	const struct nlattr *attrs, *attr;
	const char *words = NULL;
	int len, rem;

	attrs = ack_attributes(answer, &len);
	if (attrs) {
		attr = nla_find(attrs, len, NLMSGERR_ATTR_OFFS);
		if (attr && nla_len(attr) == sizeof(uint32_t))
			name_attribute(request, nla_get_u32(attr), where,
				       sizeof(where));
		nla_for_each_attr(attr, attrs, len, rem)
			if (nla_type(attr) == NLMSGERR_ATTR_MSG &&
			    strnlen(nla_data(attr), nla_len(attr)) <
			    (size_t)nla_len(attr))
				words = nla_get_string(attr);
	}
	/* The module's own words name the attribute; the core's do not. */
	if (words && strchr(words, ':'))
		where[0] = '\0';
	name_device(request, about, sizeof(about));
	lace_fail(err, LACE_ERR_ANSWER, "%s%s%s%s", about, where,
		  where[0] ? ": " : "", words ? words : reason(error));
	return error;
}
