// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl monitor": events as they come, one a line with -j.  Where events
 * were lost it says so and prints everything as it is now.
 */
#include "show.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const char usage[] =
	"lacectl [-j] monitor [dev DEV]\n"
	"  ends with SIGINT or SIGTERM\n";

/* What an event, or an object of the list after a loss, is called. */
static const char *event_name(enum lace_cmd cmd)
{
	switch (cmd) {
	case LACE_CMD_DEV_NTF:
		return "device";
	case LACE_CMD_NODE_NTF:
		return "node";
	case LACE_CMD_NODE_DEL_NTF:
		return "node_deleted";
	case LACE_CMD_LANE_NTF:
		return "lane";
	case LACE_CMD_SEGMENT_NTF:
		return "segment";
	case LACE_CMD_SEGMENT_DEL_NTF:
		return "segment_deleted";
	case LACE_CMD_TRANSITION_NTF:
		return "transition";
	case LACE_CMD_HOOK_NTF:
		return "hook";
	case LACE_CMD_HOOK_DEL_NTF:
		return "hook_deleted";
	case LACE_CMD_HOOK_CALL_NTF:
		return "hook_called";
	default:
		return "lost";
	}
}

static json_t *json_event(const struct lace_rt_event *event)
{
	switch (event->cmd) {
	case LACE_CMD_DEV_NTF:
		return json_device(&event->device);
	case LACE_CMD_NODE_NTF:
		return json_node(&event->node);
	case LACE_CMD_NODE_DEL_NTF:
		return json_pack("{s:s, s:i}", "dev", event->node.ifname, "id",
				 event->node.id);
	case LACE_CMD_LANE_NTF:
		return json_lane(&event->lane);
	case LACE_CMD_SEGMENT_NTF:
		return json_segment_event(&event->segment);
	case LACE_CMD_SEGMENT_DEL_NTF:
		return json_pack("{s:s, s:I}", "dev", event->segment.ifname,
				 "id", (json_int_t)event->segment.id);
	case LACE_CMD_TRANSITION_NTF:
		return json_transition(&event->transition);
	case LACE_CMD_HOOK_NTF:
	case LACE_CMD_HOOK_DEL_NTF:
		return json_hook(&event->hook);
	case LACE_CMD_HOOK_CALL_NTF:
		return json_call(&event->hook);
	default:
		return json_null();
	}
}

static void print_event(const struct lacectl *ctl,
			const struct lace_rt_event *event)
{
	switch (event->cmd) {
	case LACE_CMD_DEV_NTF:
		print_device(ctl, &event->device);
		break;
	case LACE_CMD_NODE_NTF:
		print_node(&event->node);
		break;
	case LACE_CMD_NODE_DEL_NTF:
		printf("%s node %u deleted\n", event->node.ifname,
		       event->node.id);
		break;
	case LACE_CMD_LANE_NTF:
		print_lane(ctl, &event->lane);
		break;
	case LACE_CMD_SEGMENT_NTF:
		print_segment_event(&event->segment);
		break;
	case LACE_CMD_SEGMENT_DEL_NTF:
		printf("%s segment %u deleted\n", event->segment.ifname,
		       event->segment.id);
		break;
	case LACE_CMD_TRANSITION_NTF:
		print_transition(ctl, &event->transition);
		break;
	case LACE_CMD_HOOK_NTF:
		print_hook(&event->hook);
		break;
	case LACE_CMD_HOOK_DEL_NTF:
		printf("%s hook %s deleted\n", event->hook.ifname,
		       event->hook.name);
		break;
	case LACE_CMD_HOOK_CALL_NTF:
		print_call(&event->hook);
		break;
	default:
		printf("events were lost; this is how things are now:\n");
	}
}

static const char *device_of(const struct lace_rt_event *event)
{
	switch (event->cmd) {
	case LACE_CMD_DEV_NTF:
		return event->device.ifname;
	case LACE_CMD_NODE_NTF:
	case LACE_CMD_NODE_DEL_NTF:
		return event->node.ifname;
	case LACE_CMD_LANE_NTF:
		return event->lane.ifname;
	case LACE_CMD_SEGMENT_NTF:
	case LACE_CMD_SEGMENT_DEL_NTF:
		return event->segment.ifname;
	case LACE_CMD_TRANSITION_NTF:
		return event->transition.ifname;
	case LACE_CMD_HOOK_NTF:
	case LACE_CMD_HOOK_DEL_NTF:
	case LACE_CMD_HOOK_CALL_NTF:
		return event->hook.ifname;
	default:
		return NULL;
	}
}

static int report(const struct lacectl *ctl, const struct lace_rt_event *event,
		  struct lace_error *err)
{
	if (ctl->json)
		return print_json(ctl, json_pack("{s:s, s:o}", "event",
						 event_name(event->cmd), "data",
						 json_event(event)), err);
	print_event(ctl, event);
	return print_end(err);
}

/* ---- everything as it is now ---- */

static int report_devices(const struct lacectl *ctl, struct lace_client *client,
			  const char *dev, struct lace_error *err)
{
	struct lace_rt_event event = { .cmd = LACE_CMD_DEV_NTF };
	struct lace_rt_device *devices;
	size_t nr, i;
	int ret;

	ret = lace_client_devices(client, dev, &devices, &nr, err);
	if (ret)
		return ret;
	for (i = 0; i < nr && !ret; i++) {
		event.device = devices[i];
		ret = report(ctl, &event, err);
	}
	free(devices);
	return ret;
}

static int report_nodes(const struct lacectl *ctl, struct lace_client *client,
			const char *dev, struct lace_error *err)
{
	struct lace_rt_event event = { .cmd = LACE_CMD_NODE_NTF };
	struct lace_rt_node *nodes;
	size_t nr, i;
	int ret;

	ret = lace_client_nodes(client, dev, &nodes, &nr, err);
	if (ret)
		return ret;
	for (i = 0; i < nr && !ret; i++) {
		event.node = nodes[i];
		ret = report(ctl, &event, err);
	}
	lace_rt_nodes_free(nodes, nr);
	return ret;
}

static int report_segments(const struct lacectl *ctl,
			   struct lace_client *client, const char *dev,
			   struct lace_error *err)
{
	struct lace_rt_event event = { .cmd = LACE_CMD_SEGMENT_NTF };
	struct lace_rt_segment *segments;
	size_t nr, i;
	int ret;

	ret = lace_client_segments(client, dev, &segments, &nr, err);
	if (ret)
		return ret;
	for (i = 0; i < nr && !ret; i++) {
		event.segment = segments[i];
		ret = report(ctl, &event, err);
	}
	lace_rt_segments_free(segments, nr);
	return ret;
}

static int report_all(const struct lacectl *ctl, const char *dev,
		      struct lace_error *err)
{
	struct lace_client *client;
	int ret;

	ret = lace_client_open(NULL, &client, err);
	if (ret)
		return ret;
	ret = report_devices(ctl, client, dev, err);
	if (!ret)
		ret = report_nodes(ctl, client, dev, err);
	if (!ret)
		ret = report_segments(ctl, client, dev, err);
	lace_client_close(client);
	return ret;
}

/* ---- listening ---- */

static int report_event(const struct lacectl *ctl, const char *dev,
			const struct lace_rt_event *event,
			struct lace_error *err)
{
	const char *about = device_of(event);
	int ret;

	if (dev && about && strcmp(dev, about))
		return 0;
	ret = report(ctl, event, err);
	if (!ret && !about)
		ret = report_all(ctl, dev, err);
	return ret;
}

static int drain(const struct lacectl *ctl, struct lace_monitor *monitor,
		 const char *dev, struct lace_error *err)
{
	struct lace_rt_event event;
	int ret;

	do {
		ret = lace_monitor_next(monitor, &event, err);
		if (ret <= 0)
			return ret;
		ret = report_event(ctl, dev, &event, err);
		lace_rt_event_free(&event);
	} while (!ret);
	return ret;
}

static int listen_until(const struct lacectl *ctl, struct lace_monitor *monitor,
			int signals, const char *dev, struct lace_error *err)
{
	struct pollfd fds[] = {
		{ .fd = lace_monitor_fd(monitor), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	int ret;

	for (;;) {
		ret = poll(fds, 2, -1);
		if (ret < 0 && errno != EINTR)
			return lace_fail(err, LACE_ERR_SYSTEM,
					 "cannot wait for events: %s",
					 strerror(errno));
		ret = drain(ctl, monitor, dev, err);
		if (ret || fds[1].revents)
			return ret;
	}
}

static int run(const struct lacectl *ctl, int argc, char **argv,
	       struct lace_error *err)
{
	struct args args = { argc, argv };
	struct lace_monitor *monitor;
	struct selection selection;
	sigset_t ends;
	int signals, ret;

	if (args_selection(&args, "monitor", 0, &selection, err))
		return -1;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signals = signalfd(-1, &ends, SFD_CLOEXEC);
	if (signals < 0)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot wait for signals: %s",
				 strerror(errno));
	ret = lace_monitor_open(NULL, &monitor, err);
	if (!ret) {
		ret = listen_until(ctl, monitor, signals, selection.dev, err);
		lace_monitor_close(monitor);
	}
	close(signals);
	return ret;
}

const struct object monitor_object = { "monitor", usage, NULL, run };
