// SPDX-License-Identifier: GPL-2.0
/*
 * The coordinator: starts a process for each node, releases op after op, and
 * takes the times.  Whatever happens, no process is left behind.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay.h"

#define NSEC 1e-9
/* A node speaks up each second while it is busy. */
#define SILENCE_S 10
/* How long a process may take to die. */
#define CAUSE_MS 100

struct child {
	pid_t pid;
	int control;
	bool answered;
	uint64_t heard_ns;
};

struct coordinator {
	const struct settings *settings;
	unsigned int nr_nodes;
	struct child *children;
	struct pollfd *polls;
	uint64_t last_byte_ns;		/* of the step that was waited for */
	struct play_result *result;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static const char *name_of(const struct coordinator *co, unsigned int node)
{
	return co->settings->cluster->nodes[node].name;
}

/* ---- children ---- */

static void become_node(struct coordinator *co, unsigned int node, int control)
{
	for (unsigned int i = 0; i < node; i++)
		close(co->children[i].control);
	/* The terminal's interrupt is for the coordinator to act upon. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	node_run(co->settings, node, control);
}

static int start_children(struct coordinator *co, struct lace_error *err)
{
	for (unsigned int i = 0; i < co->nr_nodes; i++) {
		struct child *child = co->children + i;
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
			return lace_fail(err, LACE_ERR_SYSTEM, "socketpair: %s",
					 strerror(errno));
		child->pid = fork();
		if (child->pid < 0)
			return lace_fail(err, LACE_ERR_SYSTEM, "fork: %s",
					 strerror(errno));
		if (!child->pid) {
			close(pair[0]);
			become_node(co, i, pair[1]);
		}
		close(pair[1]);
		child->control = pair[0];
		co->polls[i] = (struct pollfd){ pair[0], POLLIN, 0 };
	}
	return 0;
}

static void end_children(struct coordinator *co)
{
	for (unsigned int i = 0; i < co->nr_nodes; i++) {
		struct child *child = co->children + i;

		if (child->pid <= 0)
			continue;
		kill(child->pid, SIGKILL);
		waitpid(child->pid, NULL, 0);
		close(child->control);
	}
}

/* Node is gone, with this status of wait(). */
static int child_died(struct coordinator *co, unsigned int node, int status,
		      struct lace_error *err)
{
	struct child *child = co->children + node;

	child->pid = 0;
	close(child->control);
	if (WIFSIGNALED(status))
		return lace_fail(err, LACE_ERR_ANSWER,
				 "%s: its process was ended by signal %d",
				 name_of(co, node), WTERMSIG(status));
	return lace_fail(err, LACE_ERR_ANSWER,
			 "%s: its process ended with status %d",
			 name_of(co, node), WEXITSTATUS(status));
}

/* A node that dies breaks its connections, so that its peers may complain
 * before its death is seen: look whether that was the cause.
 */
static int child_complained(struct coordinator *co, const char *text,
			    struct lace_error *err)
{
	int status;

	poll(NULL, 0, CAUSE_MS);
	for (unsigned int i = 0; i < co->nr_nodes; i++)
		if (co->children[i].pid > 0 &&
		    waitpid(co->children[i].pid, &status, WNOHANG) > 0) {
			if (WIFSIGNALED(status))
				return child_died(co, i, status, err);
			co->children[i].pid = 0;
		}
	return lace_fail(err, LACE_ERR_ANSWER, "%s", text);
}

/* ---- steps ---- */

static void add_totals(struct message_totals *sum,
		       const struct message_totals *more)
{
	sum->received += more->received;
	sum->bad += more->bad;
	sum->extra += more->extra;
	sum->retransmits += more->retransmits;
}

/* One message of a node. */
static int hear(struct coordinator *co, unsigned int node,
		struct lace_error *err)
{
	struct child *child = co->children + node;
	struct message message;
	int status;

	if (!message_receive(child->control, &message)) {
		waitpid(child->pid, &status, 0);
		return child_died(co, node, status, err);
	}
	child->heard_ns = message_clock();
	switch (message.kind) {
	case MESSAGE_FAILED:
		return child_complained(co, message.text, err);
	case MESSAGE_BEAT:
		return 0;
	case MESSAGE_TOTALS:
		add_totals(&co->result->totals, &message.totals);
		co->polls[node].fd = -1;	/* it may go now */
		break;
	default:
		if (message.time_ns > co->last_byte_ns)
			co->last_byte_ns = message.time_ns;
	}
	child->answered = true;
	return 0;
}

static int check_silence(struct coordinator *co, struct lace_error *err)
{
	uint64_t now = message_clock();

	for (unsigned int i = 0; i < co->nr_nodes; i++)
		if (!co->children[i].answered &&
		    (now - co->children[i].heard_ns) * NSEC > SILENCE_S)
			return lace_fail(err, LACE_ERR_ANSWER,
					 "%s: its process does not answer",
					 name_of(co, i));
	return 0;
}

static bool all_answered(const struct coordinator *co)
{
	for (unsigned int i = 0; i < co->nr_nodes; i++)
		if (!co->children[i].answered)
			return false;
	return true;
}

/* Waits until each node has answered. */
static int gather(struct coordinator *co, struct lace_error *err)
{
	co->last_byte_ns = 0;
	for (unsigned int i = 0; i < co->nr_nodes; i++) {
		co->children[i].answered = false;
		co->children[i].heard_ns = message_clock();
	}
	while (!all_answered(co)) {
		if (interrupted)
			return lace_fail(err, LACE_ERR_ANSWER, "interrupted");
		if (poll(co->polls, co->nr_nodes, 1000) < 0 && errno != EINTR)
			return lace_fail(err, LACE_ERR_SYSTEM, "poll: %s",
					 strerror(errno));
		for (unsigned int i = 0; i < co->nr_nodes; i++)
			if (co->polls[i].revents && hear(co, i, err))
				return -1;
		if (check_silence(co, err))
			return -1;
	}
	return 0;
}

static int step(struct coordinator *co, enum message_kind kind,
		unsigned int index, struct lace_error *err)
{
	struct message message = { .kind = kind, .index = index };

	/* A node that is gone shows when its answer is waited for. */
	for (unsigned int i = 0; i < co->nr_nodes; i++)
		message_send(co->children[i].control, &message);
	return gather(co, err);
}

static int play_ops(struct coordinator *co, play_enter enter, void *arg,
		    struct lace_error *err)
{
	const struct traffic *traffic = co->settings->traffic;
	struct play_result *result = co->result;
	unsigned int segment = UINT32_MAX;
	uint64_t begun, ready = 0;

	for (unsigned int i = 0; i < traffic->nr_ops; i++) {
		if (traffic->ops[i].segment != segment) {
			segment = traffic->ops[i].segment;
			begun = message_clock();
			if (enter && enter(arg, segment, err))
				return -1;
			result->enter_s[segment] =
				(message_clock() - begun) * NSEC;
			if (step(co, MESSAGE_CONNECT, segment, err))
				return -1;
			ready = message_clock();
		}
		begun = message_clock();
		result->barrier_s += (begun - ready) * NSEC;
		if (step(co, MESSAGE_START, i, err))
			return -1;
		ready = co->last_byte_ns ? co->last_byte_ns : begun;
		result->op_s[i] = (ready - begun) * NSEC;
	}
	return 0;
}

/**
 * play() - plays the traffic between the nodes
 * @settings:	what, and where
 * @enter:	called before a segment's first op; may be NULL
 * @arg:	for @enter
 * @result:	times and totals
 * @err:	why not
 *
 * Opening connections counts neither as op nor as barrier.
 */
int play(const struct settings *settings, play_enter enter, void *arg,
	 struct play_result *result, struct lace_error *err)
{
	const struct traffic *traffic = settings->traffic;
	struct coordinator co = {
		.settings = settings,
		.nr_nodes = traffic->nr_nodes,
		.children = calloc(traffic->nr_nodes + 1, sizeof(*co.children)),
		.polls = calloc(traffic->nr_nodes + 1, sizeof(*co.polls)),
		.result = result,
	};
	int ret = -1;

	*result = (struct play_result){
		.op_s = calloc(traffic->nr_ops + 1, sizeof(double)),
		.enter_s = calloc(traffic->nr_segments + 1, sizeof(double)),
	};
	if (!co.children || !co.polls || !result->op_s || !result->enter_s ||
	    pattern_make()) {
		lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
		goto out;
	}
	catch_signals();
	if (!start_children(&co, err) && !gather(&co, err) &&
	    !play_ops(&co, enter, arg, err) &&
	    !step(&co, MESSAGE_FINISH, 0, err))
		ret = 0;
	end_children(&co);
out:
	if (ret)
		play_result_free(result);
	free(co.polls);
	free(co.children);
	return ret;
}

void play_result_free(struct play_result *result)
{
	free(result->op_s);
	free(result->enter_s);
	*result = (struct play_result){ 0 };
}
