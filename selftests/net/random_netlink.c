// SPDX-License-Identifier: GPL-2.0
/*
 * Random messages to a generic netlink family, structured by its specification.
 *
 * usage: random_netlink --seed N --first N --count N [--check]
 *
 * Standard input says what the family knows, one item a line:
 *
 *	family NUMBER
 *	group NUMBER			to listen to
 *	state COMMAND			whose dump must be as before after a refusal
 *	attr SET NUMBER NAME TYPE LEAST MOST LEAST-LENGTH MOST-LENGTH NESTED MANY
 *	command NUMBER NAME SET WEIGHT DUMPABLE ATTRIBUTE...
 *
 * where NESTED is a set or `-'.  Message i of a seed is the same in each run,
 * but for numbers of calls to hooks, which are the kernel's.  A third of the
 * messages are as sound as the specification tells; a third are sound ones in
 * which something was changed; the rest take values from anywhere.  Whoever
 * sends them is the network namespace's root.
 *
 * With --check, each refused message must leave the state as it was.
 *
 * Prints for each command how many messages were sent and done, and each errno
 * and how often it came.  Exit status 1: an answer did not come, or a refusal
 * changed something.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib_message.h"

#define MAX_ERRNO 200
#define SOCKETS 4
#define BATCH 16 /* messages that are sent at once */
#define ANSWER_MSECS 120000

static struct specification specification;
static unsigned long errors[MAX_ERRNO];

static void die(const char *what)
{
	fprintf(stderr, "random_netlink: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- sending them ---- */

struct slot {
	int fd;
	uint64_t called[MAX_ATTRS + 1]; /* numbers in the last call to it */
};

static struct slot slots[SOCKETS];

static int open_socket(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	int size = 4 << 20, one = 1;

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	return fd;
}

static void reopen(struct slot *slot)
{
	close(slot->fd);
	slot->fd = open_socket();
	memset(slot->called, 0, sizeof(slot->called));
}

struct pending {
	uint32_t seq;
	bool waits;
	int error;
	struct command *command;
};

/* What a call to a hook says is what its answer has to say. */
static void take_call(struct slot *slot, const struct nlmsghdr *header)
{
	const uint8_t *at = (const uint8_t *)NLMSG_DATA(header) + GENL_HDRLEN;
	const uint8_t *end = (const uint8_t *)header + header->nlmsg_len;
	const struct nlattr *attr;

	for (; at + NLA_HDRLEN <= end; at += NLA_ALIGN(attr->nla_len)) {
		attr = (const void *)at;
		if (attr->nla_type > MAX_ATTRS ||
		    attr->nla_len > NLA_HDRLEN + sizeof(uint64_t))
			continue;
		slot->called[attr->nla_type] = 0;
		memcpy(&slot->called[attr->nla_type], attr + 1,
		       attr->nla_len - NLA_HDRLEN);
	}
}

static void take(struct slot *slot, const struct nlmsghdr *header,
		 struct pending *pending, unsigned int n)
{
	bool is_answer = header->nlmsg_type == NLMSG_ERROR ||
			 header->nlmsg_type == NLMSG_DONE;

	if (!is_answer && !header->nlmsg_seq)
		take_call(slot, header);
	for (; is_answer && n; n--, pending++) {
		if (pending->seq != header->nlmsg_seq)
			continue;
		pending->waits = false;
		pending->error = -*(const int *)NLMSG_DATA(header);
	}
}

static bool any_waits(const struct pending *pending, unsigned int n)
{
	while (n--) {
		if (pending[n].waits)
			return true;
	}
	return false;
}

/* False if an answer does not come.  What the kernel could not keep for us is
 * not waited for.
 */
static bool receive(struct slot *slot, struct pending *pending, unsigned int n)
{
	static uint8_t buffer[1 << 20] __attribute__((aligned(8)));
	struct pollfd poll_fd = {.fd = slot->fd, .events = POLLIN};
	const struct nlmsghdr *header;
	ssize_t left;

	while (any_waits(pending, n)) {
		if (poll(&poll_fd, 1, ANSWER_MSECS) <= 0)
			return false;
		left = recv(slot->fd, buffer, sizeof(buffer), 0);
		if (left < 0 && errno == ENOBUFS) {
			while (n--)
				pending[n].waits = false;
			reopen(slot);
			return true;
		}
		for (header = (void *)buffer; NLMSG_OK(header, left);
		     header = NLMSG_NEXT(header, left))
			take(slot, header, pending, n);
	}
	return true;
}

struct batch {
	size_t len;
	unsigned int n;
	struct pending pending[BATCH];
	uint8_t data[ROOM + 8192] __attribute__((aligned(8)));
};

static void add(struct batch *batch, const struct message *message,
		uint16_t type, uint16_t flags, uint32_t seq)
{
	struct nlmsghdr *header = (void *)(batch->data + batch->len);

	header->nlmsg_len = NLMSG_HDRLEN + message->len;
	header->nlmsg_type = type;
	header->nlmsg_flags = flags;
	header->nlmsg_seq = seq;
	header->nlmsg_pid = 0;
	memcpy(NLMSG_DATA(header), message->data, message->len);
	memset(batch->data + batch->len + header->nlmsg_len, 0,
	       NLMSG_ALIGN(header->nlmsg_len) - header->nlmsg_len);
	batch->len += NLMSG_ALIGN(header->nlmsg_len);
}

static bool flush(struct batch *batch, struct slot *slot)
{
	unsigned int i, n = batch->n;
	bool answered;

	if (batch->len && send(slot->fd, batch->data, batch->len, 0) < 0)
		die("send");
	answered = receive(slot, batch->pending, n);
	for (i = 0; i < n; i++) {
		struct pending *pending = &batch->pending[i];

		if (pending->error > 0 && pending->error < MAX_ERRNO)
			errors[pending->error]++;
		pending->command->done += !pending->error && !pending->waits;
	}
	batch->len = 0;
	batch->n = 0;
	return answered;
}

/* A length or a type of the whole that is wrong: nobody has to answer. */
static void send_broken(struct slot *slot, struct batch *batch,
			struct random *random)
{
	struct nlmsghdr *header = (void *)batch->data;

	header->nlmsg_flags &= ~NLM_F_ACK;
	if (random_one_in(random, 2))
		header->nlmsg_len = random_extreme(random);
	else
		header->nlmsg_type = random_extreme(random);
	if (header->nlmsg_type < NLMSG_MIN_TYPE ||
	    header->nlmsg_type == specification.family)
		send(slot->fd, batch->data, batch->len, 0);
	batch->len = 0;
	reopen(slot);
}

/* A dump whose answer is not read, or not to its end. */
static void leave_dump(struct slot *slot, struct batch *batch)
{
	struct nlmsghdr *header = (void *)batch->data;

	header->nlmsg_flags |= NLM_F_DUMP;
	if (send(slot->fd, batch->data, batch->len, 0) < 0)
		die("send");
	batch->len = 0;
	reopen(slot);
}

/* ---- that nothing has changed ---- */

static uint64_t hash_bytes(uint64_t hash, const uint8_t *data, size_t len)
{
	while (len--)
		hash = (hash ^ *data++) * 0x100000001b3;
	return hash;
}

/* A number for everything that the dumps tell. */
static uint64_t hash_state(void)
{
	static uint8_t buffer[1 << 20] __attribute__((aligned(8)));
	struct {
		struct nlmsghdr header;
		struct genlmsghdr genl;
	} request = {};
	uint64_t hash = 0xcbf29ce484222325;
	const struct nlmsghdr *header;
	int fd = open_socket();
	unsigned int i;
	bool done;
	ssize_t left;

	for (i = 0; i < specification.n_states; i++) {
		request.header.nlmsg_len = sizeof(request);
		request.header.nlmsg_type = specification.family;
		request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
		request.genl.cmd = specification.states[i];
		if (send(fd, &request, sizeof(request), 0) < 0)
			die("send");
		for (done = false; !done;) {
			left = recv(fd, buffer, sizeof(buffer), 0);
			if (left < 0)
				die("dump");
			for (header = (void *)buffer; NLMSG_OK(header, left);
			     header = NLMSG_NEXT(header, left)) {
				done |= header->nlmsg_type == NLMSG_DONE;
				hash = hash_bytes(hash, NLMSG_DATA(header),
						  NLMSG_PAYLOAD(header, 0));
			}
		}
	}
	close(fd);
	return hash;
}

/* ---- the run ---- */

/* Somebody to announce changes to, who never reads. */
static void listen_to_groups(void)
{
	int fd = open_socket();
	unsigned int i;

	for (i = 0; i < specification.n_groups; i++) {
		if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP,
			       &specification.groups[i],
			       sizeof(specification.groups[i])))
			die("group");
	}
}

struct run {
	uint64_t seed, first, count;
	bool check;
	uint64_t hash;
	struct message message;
	struct batch batch;
};

static bool has_changed(struct run *run)
{
	uint64_t before = run->hash;

	run->hash = hash_state();
	return run->hash != before;
}

static uint16_t flags_of(struct random *random, const struct command *command)
{
	uint16_t flags = NLM_F_REQUEST | NLM_F_ACK;

	if (random_one_in(random, 16))
		flags |= NLM_F_ECHO;
	if (command->dumpable && random_one_in(random, 4))
		flags |= NLM_F_DUMP;
	return flags;
}

/* False: something is wrong with message number. */
static bool step(struct run *run, uint64_t number)
{
	struct message *message = &run->message;
	struct batch *batch = &run->batch;
	struct slot *slot = &slots[number / BATCH % SOCKETS];
	struct command *command = make_message(&specification, message,
					       slot->called, run->seed, number);
	struct random *random = &message->random;
	uint16_t flags = flags_of(random, command);
	bool alone = run->check || flags & NLM_F_DUMP ||
		     random_one_in(random, 256);
	struct pending *pending;

	if ((alone || batch->len + message->len > ROOM) && !flush(batch, slot))
		return false;
	add(batch, message, specification.family, flags, number + 1);
	command->sent++;
	if (alone && !run->check && random_one_in(random, 16)) {
		if (flags & NLM_F_DUMP)
			leave_dump(slot, batch);
		else
			send_broken(slot, batch, random);
		return true;
	}
	pending = &batch->pending[batch->n++];
	*pending = (struct pending){
		.seq = number + 1, .waits = true, .command = command};
	if (!alone && batch->n < BATCH && (number + 1) % BATCH)
		return true;
	if (!flush(batch, slot))
		return false;
	if (random_one_in(random, 200))
		reopen(slot);
	return !run->check || !has_changed(run) || !pending->error;
}

static int run_all(struct run *run)
{
	uint64_t number;

	run->hash = hash_state();
	for (number = run->first; number < run->first + run->count; number++) {
		if (step(run, number))
			continue;
		fprintf(stderr, "random_netlink: --seed %lu --first %lu: %s\n",
			run->seed, number,
			run->check ? "refused, but something changed" :
				     "no answer");
		return 1;
	}
	return !flush(&run->batch, &slots[0]);
}

static void print_counts(void)
{
	unsigned int i;

	for (i = 0; i < specification.n_commands; i++)
		printf("command %s %lu %lu\n", specification.commands[i].name,
		       specification.commands[i].sent,
		       specification.commands[i].done);
	for (i = 0; i < MAX_ERRNO; i++) {
		if (errors[i])
			printf("errno %u %lu\n", i, errors[i]);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"seed", required_argument, NULL, 's'},
		{"first", required_argument, NULL, 'f'},
		{"count", required_argument, NULL, 'c'},
		{"check", no_argument, NULL, 'k'},
		{}};
	static struct run run;
	unsigned int i;
	int option, status;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 's':
			run.seed = strtoull(optarg, NULL, 10);
			break;
		case 'f':
			run.first = strtoull(optarg, NULL, 10);
			break;
		case 'c':
			run.count = strtoull(optarg, NULL, 10);
			break;
		case 'k':
			run.check = true;
			break;
		default:
			return 2;
		}
	}
	read_specification(&specification);
	listen_to_groups();
	for (i = 0; i < SOCKETS; i++)
		slots[i].fd = open_socket();
	status = run_all(&run);
	print_counts();
	return status;
}
