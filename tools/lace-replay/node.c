// SPDX-License-Identifier: GPL-2.0
/*
 * The process that sends and receives for one node.  It does what the
 * coordinator says, a step at a time, and ends with it.  Everything that goes
 * wrong is told to the coordinator, which prints it.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netns.h"
#include "replay.h"

#define TICK_MS 1000
#define NSEC_PER_SEC UINT64_C(1000000000)

struct address {
	struct sockaddr_storage storage;
	socklen_t len;
};

enum step {
	STEP_NONE,
	STEP_CONNECT,
	STEP_OP,
};

struct node {
	const struct settings *settings;
	const struct traffic *traffic;
	unsigned int self;
	int control, epoll, listener;
	struct address *addresses;	/* of all nodes */
	struct stream *streams;		/* by flow; only those of this node */
	enum step step;
	unsigned int index;		/* of the step: segment, op */
	unsigned int busy;		/* streams that the step waits for */
	uint64_t started_ns, last_byte_ns;
};

/* What an epoll event is about. */
#define EVENT_CONTROL UINT64_MAX
#define EVENT_LISTENER (UINT64_MAX - 1)

__attribute__((noreturn, format(printf, 2, 3)))
static void fail(struct node *node, const char *fmt, ...)
{
	struct message message = { .kind = MESSAGE_FAILED };
	va_list args;

	va_start(args, fmt);
	vsnprintf(message.text, sizeof(message.text), fmt, args);
	va_end(args);
	message_send(node->control, &message);
	_exit(1);
}

static const char *name_of(const struct node *node, unsigned int number)
{
	return node->settings->cluster->nodes[number].name;
}

static void tell(struct node *node, struct message *message)
{
	if (message_send(node->control, message))
		_exit(1);
}

static void watch(struct node *node, int op, int fd, uint32_t events,
		  uint64_t what)
{
	struct epoll_event event = { .events = events, .data.u64 = what };

	if (epoll_ctl(node->epoll, op, fd, &event))
		fail(node, "%s: epoll: %s", name_of(node, node->self),
		     strerror(errno));
}

/* ---- getting there ---- */

static void enter_namespace(struct node *node)
{
	const char *netns = node->settings->place->namespaces[node->self];
	struct lace_error err = { 0 };

	if (netns && lace_netns_enter(netns, NULL, &err))
		fail(node, "%s", err.text);
}

static void resolve_addresses(struct node *node)
{
	unsigned int nr_nodes = node->settings->place->nr_nodes;
	struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST,
		.ai_socktype = SOCK_STREAM,
	};

	node->addresses = calloc(nr_nodes, sizeof(*node->addresses));
	if (!node->addresses)
		fail(node, "out of memory");
	for (unsigned int i = 0; i < nr_nodes; i++) {
		const char *text = node->settings->place->addresses[i];
		struct addrinfo *found;

		if (getaddrinfo(text, NULL, &hints, &found))
			fail(node, "%s: '%s' is not an IP address",
			     name_of(node, i), text);
		memcpy(&node->addresses[i].storage, found->ai_addr,
		       found->ai_addrlen);
		node->addresses[i].len = found->ai_addrlen;
		freeaddrinfo(found);
	}
}

static void set_port(struct address *address, uint16_t port)
{
	if (address->storage.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&address->storage)->sin6_port =
			htons(port);
	else
		((struct sockaddr_in *)&address->storage)->sin_port =
			htons(port);
}

static bool same_host(const struct address *a, const struct address *b)
{
	const struct sockaddr_in6 *a6 = (const void *)&a->storage;
	const struct sockaddr_in6 *b6 = (const void *)&b->storage;
	const struct sockaddr_in *a4 = (const void *)&a->storage;
	const struct sockaddr_in *b4 = (const void *)&b->storage;

	if (a->storage.ss_family != b->storage.ss_family)
		return false;
	if (a->storage.ss_family == AF_INET6)
		return !memcmp(&a6->sin6_addr, &b6->sin6_addr,
			       sizeof(a6->sin6_addr));
	return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
}

/* A socket bound to the node's own address, so that peers know it by that. */
static int own_socket(struct node *node, uint16_t port)
{
	struct address own = node->addresses[node->self];
	int fd, on = 1;

	set_port(&own, port);
	fd = socket(own.storage.ss_family,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&own.storage, own.len))
		fail(node, "%s: cannot use %s, port %u: %s",
		     name_of(node, node->self),
		     node->settings->place->addresses[node->self], port,
		     strerror(errno));
	return fd;
}

static void start_listening(struct node *node)
{
	node->listener = own_socket(node, node->settings->tcp_port);
	if (listen(node->listener, node->traffic->nr_nodes))
		fail(node, "%s: listen: %s", name_of(node, node->self),
		     strerror(errno));
	watch(node, EPOLL_CTL_ADD, node->listener, EPOLLIN, EVENT_LISTENER);
}

static void make_streams(struct node *node)
{
	const struct traffic *traffic = node->traffic;

	node->streams = calloc(traffic->nr_flows + 1, sizeof(*node->streams));
	if (!node->streams)
		fail(node, "out of memory");
	for (unsigned int i = 0; i < traffic->nr_flows; i++) {
		node->streams[i].flow = i;
		node->streams[i].outgoing = traffic->flows[i].src == node->self;
	}
}

/* ---- steps ---- */

static bool is_ours(const struct node *node, unsigned int flow)
{
	return node->traffic->flows[flow].src == node->self ||
	       node->traffic->flows[flow].dst == node->self;
}

/* The step has one stream less to wait for. */
static void settle(struct node *node)
{
	struct message message = {
		.kind = node->step == STEP_OP ? MESSAGE_DONE : MESSAGE_READY,
		.index = node->index,
		.time_ns = node->last_byte_ns,
	};

	if (--node->busy)
		return;
	node->step = STEP_NONE;
	tell(node, &message);
}

static void begin_step(struct node *node, enum step step, unsigned int index)
{
	node->step = step;
	node->index = index;
	/* One for ourselves until all have begun. */
	node->busy = 1;
	node->started_ns = message_clock();
	node->last_byte_ns = 0;
}

static void connect_flow(struct node *node, struct stream *stream)
{
	struct address peer;

	peer = node->addresses[node->traffic->flows[stream->flow].dst];
	set_port(&peer, node->settings->tcp_port);
	stream->fd = own_socket(node, 0);
	stream->state = STREAM_CONNECTING;
	if (connect(stream->fd, (struct sockaddr *)&peer.storage, peer.len) &&
	    errno != EINPROGRESS)
		fail(node, "%s -> %s: connect: %s", name_of(node, node->self),
		     name_of(node, node->traffic->flows[stream->flow].dst),
		     strerror(errno));
	watch(node, EPOLL_CTL_ADD, stream->fd, EPOLLOUT, stream->flow);
}

static void begin_connect(struct node *node, unsigned int segment)
{
	begin_step(node, STEP_CONNECT, segment);
	for (unsigned int i = 0; i < node->traffic->nr_flows; i++) {
		struct stream *stream = node->streams + i;

		if (!is_ours(node, i) ||
		    node->traffic->flows[i].segment != segment ||
		    stream->state != STREAM_CLOSED)
			continue;
		node->busy++;
		if (stream->outgoing)
			connect_flow(node, stream);
	}
	settle(node);
}

static void begin_op(struct node *node, unsigned int number)
{
	const struct traffic_op *op = node->traffic->ops + number;

	begin_step(node, STEP_OP, number);
	for (size_t k = 0; k < op->nr_loads; k++) {
		struct stream *stream = node->streams + op->loads[k].flow;

		if (!is_ours(node, stream->flow))
			continue;
		node->busy++;
		stream_begin(stream, number, op->repeat, op->loads[k].bytes);
		watch(node, EPOLL_CTL_MOD, stream->fd,
		      stream->outgoing ? EPOLLOUT : EPOLLIN, stream->flow);
	}
	settle(node);
}

__attribute__((noreturn))
static void finish(struct node *node)
{
	struct message message = { .kind = MESSAGE_TOTALS };

	for (unsigned int i = 0; i < node->traffic->nr_flows; i++) {
		struct stream *stream = node->streams + i;

		stream_finish(stream);
		message.totals.received += stream->totals.received;
		message.totals.bad += stream->totals.bad;
		message.totals.extra += stream->totals.extra;
		message.totals.retransmits += stream->totals.retransmits;
	}
	tell(node, &message);
	_exit(0);
}

/* ---- events ---- */

static void on_control(struct node *node)
{
	struct message message;

	if (!message_receive(node->control, &message))
		_exit(1);
	switch (message.kind) {
	case MESSAGE_CONNECT:
		begin_connect(node, message.index);
		break;
	case MESSAGE_START:
		begin_op(node, message.index);
		break;
	default:
		finish(node);
	}
}

/* The flow that a peer at this address opens to us, if there is one. */
static struct stream *stream_from(struct node *node,
				  const struct address *peer)
{
	for (unsigned int i = 0; i < node->traffic->nr_flows; i++) {
		const struct traffic_flow *flow = node->traffic->flows + i;

		if (flow->dst == node->self &&
		    same_host(node->addresses + flow->src, peer) &&
		    node->streams[i].state == STREAM_CLOSED)
			return node->streams + i;
	}
	return NULL;
}

static void on_listener(struct node *node)
{
	struct address peer = { .len = sizeof(peer.storage) };
	struct stream *stream;
	int fd;

	fd = accept4(node->listener, (struct sockaddr *)&peer.storage,
		     &peer.len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	stream = stream_from(node, &peer);
	if (!stream) {
		close(fd);
		return;
	}
	stream->fd = fd;
	stream->state = STREAM_IDLE;
	watch(node, EPOLL_CTL_ADD, fd, 0, stream->flow);
	/* A peer may be here before we have been told to wait for it. */
	if (node->step == STEP_CONNECT &&
	    node->traffic->flows[stream->flow].segment == node->index)
		settle(node);
}

static void on_connected(struct node *node, struct stream *stream)
{
	int error = 0;
	socklen_t len = sizeof(error);

	getsockopt(stream->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error)
		fail(node, "%s -> %s: connect: %s", name_of(node, node->self),
		     name_of(node, node->traffic->flows[stream->flow].dst),
		     strerror(error));
	stream->state = STREAM_IDLE;
	watch(node, EPOLL_CTL_MOD, stream->fd, 0, stream->flow);
	settle(node);
}

/* "a -> b: op 3 (dp-rs): 10 of 20 bytes" */
static void describe(const struct node *node, const struct stream *stream,
		     char *text, size_t size)
{
	const struct traffic_flow *flow = node->traffic->flows + stream->flow;
	const struct traffic_op *op = node->traffic->ops + node->index;
	uint64_t due = stream->place.round_bytes * op->repeat;

	snprintf(text, size, "%s -> %s: op %u (%s): %llu of %llu bytes %s",
		 name_of(node, flow->src), name_of(node, flow->dst),
		 node->index, op->name, (unsigned long long)(due - stream->left),
		 (unsigned long long)due,
		 stream->outgoing ? "sent" : "received");
}

static void on_stream(struct node *node, struct stream *stream)
{
	char text[300];
	int ret;

	if (stream->state == STREAM_CONNECTING) {
		on_connected(node, stream);
		return;
	}
	if (stream->state != STREAM_BUSY) {
		const struct traffic_flow *flow;

		/* Only errors are reported of a stream that waits. */
		flow = node->traffic->flows + stream->flow;
		fail(node, "%s -> %s: the connection broke",
		     name_of(node, flow->src), name_of(node, flow->dst));
	}
	ret = stream_move(stream);
	if (ret < 0) {
		describe(node, stream, text, sizeof(text));
		fail(node, "%s, then: %s", text, strerror(-ret));
	}
	if (!ret)
		return;
	watch(node, EPOLL_CTL_MOD, stream->fd, 0, stream->flow);
	if (!stream->outgoing)
		node->last_byte_ns = stream->moved_ns;
	settle(node);
}

/* ---- time-outs ---- */

static void check_connects(struct node *node, uint64_t now)
{
	unsigned int seconds = node->settings->timeout_s;

	if (now - node->started_ns < seconds * NSEC_PER_SEC)
		return;
	for (unsigned int i = 0; i < node->traffic->nr_flows; i++) {
		const struct traffic_flow *flow = node->traffic->flows + i;

		if (is_ours(node, i) && flow->segment == node->index &&
		    node->streams[i].state <= STREAM_CONNECTING)
			fail(node, "%s -> %s: no connection in %u s",
			     name_of(node, flow->src),
			     name_of(node, flow->dst), seconds);
	}
}

static void check_progress(struct node *node, uint64_t now)
{
	unsigned int seconds = node->settings->timeout_s;
	char text[300];

	for (unsigned int i = 0; i < node->traffic->nr_flows; i++) {
		struct stream *stream = node->streams + i;

		if (stream->state != STREAM_BUSY ||
		    now - stream->moved_ns < seconds * NSEC_PER_SEC)
			continue;
		describe(node, stream, text, sizeof(text));
		fail(node, "%s, no progress for %u s", text, seconds);
	}
}

static void tick(struct node *node, uint64_t now)
{
	struct message beat = { .kind = MESSAGE_BEAT };

	if (node->step == STEP_CONNECT)
		check_connects(node, now);
	else
		check_progress(node, now);
	tell(node, &beat);
}

/**
 * node_run() - is a node, to the end of the process
 * @settings:	what to play, and where
 * @self:	number of the node
 * @control:	socket to the coordinator
 */
void node_run(const struct settings *settings, unsigned int self, int control)
{
	struct node node = {
		.settings = settings,
		.traffic = settings->traffic,
		.self = self,
		.control = control,
		.epoll = epoll_create1(EPOLL_CLOEXEC),
	};
	struct message ready = { .kind = MESSAGE_READY };
	struct epoll_event events[64];
	uint64_t ticked = 0, now;
	int nr;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (node.epoll < 0)
		fail(&node, "epoll: %s", strerror(errno));
	enter_namespace(&node);
	resolve_addresses(&node);
	make_streams(&node);
	start_listening(&node);
	watch(&node, EPOLL_CTL_ADD, control, EPOLLIN, EVENT_CONTROL);
	tell(&node, &ready);

	for (;;) {
		nr = epoll_wait(node.epoll, events, 64,
				node.step == STEP_NONE ? -1 : TICK_MS);
		for (int i = 0; i < nr; i++) {
			uint64_t what = events[i].data.u64;

			if (what == EVENT_CONTROL)
				on_control(&node);
			else if (what == EVENT_LISTENER)
				on_listener(&node);
			else
				on_stream(&node, node.streams + what);
		}
		now = message_clock();
		if (node.step == STEP_NONE ||
		    now - ticked < TICK_MS * (NSEC_PER_SEC / 1000))
			continue;
		tick(&node, now);
		ticked = now;
	}
}
