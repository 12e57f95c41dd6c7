// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Events: what the module tells everybody when its configuration changes.  A
 * reader who is too slow loses some, and is told so.
 */
#include "client_impl.h"

#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct lace_monitor {
	struct lace_client client;
	struct nlmsghdr *next;	/* in client.buffer */
	int left;		/* bytes from next on */
};

static const char *const groups[] = {
	LACE_GENL_MCGRP_MONITOR,
	LACE_GENL_MCGRP_TRANSITION,
	LACE_GENL_MCGRP_HOOK,
};

#define NR_GROUPS (sizeof(groups) / sizeof(*groups))

static int cannot_listen(struct lace_error *err, const char *why)
{
	lace_fail(err, LACE_ERR_SYSTEM, "cannot listen for events: %s", why);
	return -EIO;
}

/* All are asked for before the first is joined: from then on events come in
 * between, and would be taken for answers.
 */
static int join(struct lace_monitor *monitor, struct lace_error *err)
{
	struct nl_sock *sock = monitor->client.sock;
	int numbers[NR_GROUPS];
	size_t i;

	for (i = 0; i < NR_GROUPS; i++) {
		numbers[i] = genl_ctrl_resolve_grp(sock, LACE_GENL_NAME,
						   groups[i]);
		if (numbers[i] < 0)
			return cannot_listen(err, nl_geterror(numbers[i]));
	}
	for (i = 0; i < NR_GROUPS; i++)
		if (nl_socket_add_membership(sock, numbers[i]))
			return cannot_listen(err, strerror(errno));
	return 0;
}

/**
 * lace_monitor_open() - begin to listen
 * @netns: network namespace to listen in, NULL for the caller's
 * @monitor: filled with the monitor, to be closed
 * @err: filled on failure
 *
 * What changes from now on becomes an event.
 *
 * Return: 0 or a negative errno; -ENOENT where there is no module.
 */
int lace_monitor_open(const char *netns, struct lace_monitor **monitor,
		      struct lace_error *err)
{
	int ret;

	*monitor = calloc(1, sizeof(**monitor));
	if (!*monitor) {
		lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
		return -ENOMEM;
	}
	ret = lace_client_open_socket(netns, &(*monitor)->client, err);
	if (!ret) {
		ret = join(*monitor, err);
		if (!ret)
			return 0;
		lace_client_close_socket(&(*monitor)->client);
	}
	free(*monitor);
	*monitor = NULL;
	return ret;
}

/**
 * lace_monitor_close() - stop listening
 * @monitor: the monitor; NULL does nothing
 */
void lace_monitor_close(struct lace_monitor *monitor)
{
	if (!monitor)
		return;
	lace_client_close_socket(&monitor->client);
	free(monitor);
}

/**
 * lace_monitor_fd() - what to poll() for
 * @monitor: the monitor
 *
 * Return: a file descriptor that is the monitor's.
 */
int lace_monitor_fd(const struct lace_monitor *monitor)
{
	return nl_socket_get_fd(monitor->client.sock);
}

static int parse(const struct nlmsghdr *message, struct lace_rt_event *event,
		 struct lace_error *err)
{
	const struct genlmsghdr *header = nlmsg_data(message);

	event->cmd = header->cmd;
	switch (header->cmd) {
	case LACE_CMD_DEV_NTF:
		return lace_parse_device(message, &event->device, err);
	case LACE_CMD_NODE_NTF:
	case LACE_CMD_NODE_DEL_NTF:
		return lace_parse_node(message, &event->node, err);
	case LACE_CMD_LANE_NTF:
		return lace_parse_lane(message, &event->lane, err);
	case LACE_CMD_SEGMENT_NTF:
	case LACE_CMD_SEGMENT_DEL_NTF:
		return lace_parse_segment(message, &event->segment, err);
	case LACE_CMD_TRANSITION_NTF:
		return lace_parse_transition(message, &event->transition, err);
	case LACE_CMD_HOOK_NTF:
	case LACE_CMD_HOOK_DEL_NTF:
	case LACE_CMD_HOOK_CALL_NTF:
		return lace_parse_hook(message, &event->hook, err);
	}
	return -ENOMSG;
}

/* 1: monitor->next is there, 0: nothing to read, -ENOBUFS: events were lost. */
static int read_more(struct lace_monitor *monitor)
{
	ssize_t len;

	if (monitor->left > 0 && nlmsg_ok(monitor->next, monitor->left))
		return 1;
	len = lace_client_receive(&monitor->client, MSG_DONTWAIT);
	if (len == -EAGAIN)
		return 0;
	if (len < 0)
		return len;
	monitor->next = (struct nlmsghdr *)monitor->client.buffer;
	monitor->left = len;
	return 1;
}

/**
 * lace_monitor_next() - read an event, if there is one
 * @monitor: the monitor
 * @event: filled with the event, for lace_rt_event_free()
 * @err: filled on failure
 *
 * Return: 1 for an event, 0 for none at present, or a negative errno.
 */
int lace_monitor_next(struct lace_monitor *monitor, struct lace_rt_event *event,
		      struct lace_error *err)
{
	const struct nlmsghdr *message;
	int ret;

	for (;;) {
		memset(event, 0, sizeof(*event));
		ret = read_more(monitor);
		if (ret == -ENOBUFS) {
			event->cmd = LACE_CMD_UNSPEC;
			return 1;
		}
		if (ret < 0)
			lace_fail(err, LACE_ERR_SYSTEM,
				  "cannot read events: %s", strerror(-ret));
		if (ret <= 0)
			return ret;
		message = monitor->next;
		monitor->next = nlmsg_next(monitor->next, &monitor->left);
		if (message->nlmsg_type != monitor->client.family)
			continue;
		ret = parse(message, event, err);
		if (ret != -ENOMSG)
			return ret ? ret : 1;
	}
}

/**
 * lace_rt_event_free() - free what an event holds
 * @event: the event
 */
void lace_rt_event_free(struct lace_rt_event *event)
{
	switch (event->cmd) {
	case LACE_CMD_NODE_NTF:
	case LACE_CMD_NODE_DEL_NTF:
		lace_rt_node_free(&event->node);
		break;
	case LACE_CMD_SEGMENT_NTF:
	case LACE_CMD_SEGMENT_DEL_NTF:
		lace_rt_segment_free(&event->segment);
		break;
	default:
		break;
	}
}
