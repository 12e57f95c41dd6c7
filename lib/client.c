// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The client's socket: requests go out, whole answers come in.
 *
 * libnl makes messages and sockets; the answers are read here, because what
 * matters in them gets lost in libnl's own loop: which attribute the kernel
 * found wrong, that a dump was not of one moment, that events were lost.
 */
#include "client_impl.h"
#include "netns.h"

#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Segments with many routes are large; a message has to fit the buffer. */
#define SEND_BUFFER (4 << 20)
#define RECEIVE_BUFFER (1 << 20)

static int system_error(struct lace_error *err, int error, const char *what)
{
	lace_fail(err, LACE_ERR_SYSTEM, "%s: %s", what, strerror(error));
	return -error;
}

/* Beyond the system's limit where we may. */
static void set_buffer(int fd, int force, int plain, int size)
{
	if (setsockopt(fd, SOL_SOCKET, force, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, plain, &size, sizeof(size));
}

static void set_options(int fd)
{
	int on = 1;

	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, SEND_BUFFER);
	set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, RECEIVE_BUFFER);
}

static int connect_socket(struct lace_client *client, struct lace_error *err)
{
	int ret;

	client->sock = nl_socket_alloc();
	if (!client->sock)
		return system_error(err, ENOMEM, "cannot make a socket");
	ret = genl_connect(client->sock);
	if (ret) {
		lace_fail(err, LACE_ERR_SYSTEM, "cannot open netlink: %s",
			  nl_geterror(ret));
		return -EIO;
	}
	client->family = genl_ctrl_resolve(client->sock, LACE_GENL_NAME);
	if (client->family < 0) {
		lace_fail(err, LACE_ERR_ANSWER,
			  "the lace module is not loaded: modprobe lace");
		return -ENOENT;
	}
	set_options(nl_socket_get_fd(client->sock));
	return 0;
}

int lace_client_open_socket(const char *netns, struct lace_client *client,
			    struct lace_error *err)
{
	int back, ret;

	memset(client, 0, sizeof(*client));
	if (netns && lace_netns_enter(netns, &back, err))
		return -ENOENT;
	ret = connect_socket(client, err);
	if (netns && lace_netns_leave(back, err))
		ret = -EIO;
	if (ret)
		lace_client_close_socket(client);
	return ret;
}

void lace_client_close_socket(struct lace_client *client)
{
	nl_socket_free(client->sock);
	free(client->buffer);
	free(client->calls);
	client->sock = NULL;
	client->buffer = NULL;
	client->calls = NULL;
}

/**
 * lace_client_open() - open a way to the lace module
 * @netns: network namespace to act in, NULL for the caller's
 * @client: filled with the client, to be closed
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; -ENOENT where there is no module.
 */
int lace_client_open(const char *netns, struct lace_client **client,
		     struct lace_error *err)
{
	int ret;

	*client = malloc(sizeof(**client));
	if (!*client)
		return system_error(err, ENOMEM, "cannot open netlink");
	ret = lace_client_open_socket(netns, *client, err);
	if (ret) {
		free(*client);
		*client = NULL;
	}
	return ret;
}

/**
 * lace_client_close() - close a client
 * @client: the client; NULL does nothing
 */
void lace_client_close(struct lace_client *client)
{
	if (!client)
		return;
	lace_client_close_socket(client);
	free(client);
}

/**
 * lace_client_fd() - what a client that is a hook is to poll() for
 * @client: the client
 *
 * Return: a file descriptor that is the client's.
 */
int lace_client_fd(const struct lace_client *client)
{
	return nl_socket_get_fd(client->sock);
}

ssize_t lace_client_receive(struct lace_client *client, int flags)
{
	int fd = nl_socket_get_fd(client->sock);
	ssize_t len;
	char *larger;

	do {
		len = recv(fd, NULL, 0, MSG_PEEK | MSG_TRUNC | flags);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	if ((size_t)len > client->size) {
		larger = realloc(client->buffer, len);
		if (!larger)
			return -ENOMEM;
		client->buffer = larger;
		client->size = len;
	}
	do {
		len = recv(fd, client->buffer, client->size, flags);
	} while (len < 0 && errno == EINTR);
	return len < 0 ? -errno : len;
}

struct nl_msg *lace_client_message(struct lace_client *client, uint8_t cmd,
				   const char *ifname, size_t size,
				   struct lace_error *err)
{
	struct nl_msg *msg;

	msg = nlmsg_alloc_size(NLMSG_HDRLEN + GENL_HDRLEN +
			       nla_total_size(IFNAMSIZ) + size);
	if (!msg) {
		system_error(err, ENOMEM, "cannot make a request");
		return NULL;
	}
	/* Cannot fail: the room is there. */
	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, client->family, 0, 0, cmd,
		    LACE_GENL_VERSION);
	if (ifname && strlen(ifname) < IFNAMSIZ) {
		NLA_PUT_STRING(msg, LACE_A_DEV_IFNAME, ifname);
	} else if (ifname) {
		lace_fail(err, LACE_ERR_ANSWER, "%s: no device has such a name",
			  ifname);
		nlmsg_free(msg);
		return NULL;
	}
	return msg;

nla_put_failure:
	nlmsg_free(msg);
	system_error(err, ENOMEM, "cannot make a request");
	return NULL;
}

static int send_request(struct lace_client *client, struct nl_msg *msg,
			struct lace_error *err)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);

	nl_complete_msg(client->sock, msg);
	if (send(nl_socket_get_fd(client->sock), header, header->nlmsg_len,
		 0) == (ssize_t)header->nlmsg_len)
		return 0;
	return system_error(err, errno, "cannot send a request");
}

/* The error that a message of type ERROR or DONE carries. */
static int final_error(const struct nlmsghdr *message)
{
	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(int)))
		return -EBADMSG;
	return *(const int *)NLMSG_DATA(message);
}

struct exchange {
	const struct nlmsghdr *request;
	lace_client_reply_fn reply;
	void *arg;
	bool interrupted;
	bool done;
};

static int take_message(struct lace_client *client, struct exchange *exchange,
			const struct nlmsghdr *message, struct lace_error *err)
{
	int error;

	/* A call, or left over from a request that was given up. */
	if (message->nlmsg_seq != exchange->request->nlmsg_seq) {
		lace_client_keep_call(client, message);
		return 0;
	}
	exchange->interrupted |= message->nlmsg_flags & NLM_F_DUMP_INTR;
	if (message->nlmsg_type == NLMSG_ERROR ||
	    message->nlmsg_type == NLMSG_DONE) {
		exchange->done = true;
		error = final_error(message);
		return error ? lace_client_refused(exchange->request, message,
						   error, err) : 0;
	}
	if (message->nlmsg_type != client->family || !exchange->reply)
		return 0;
	return exchange->reply(message, exchange->arg, err);
}

/* Goes on to the end after a failure: the next answer must be the next one. */
static int read_answer(struct lace_client *client, struct exchange *exchange,
		       struct lace_error *err)
{
	struct lace_error later;
	struct nlmsghdr *message;
	ssize_t len;
	int ret = 0, left, failed;

	while (!exchange->done) {
		len = lace_client_receive(client, 0);
		if (len < 0)
			return system_error(err, -len, "cannot read an answer");
		left = len;
		for (message = (struct nlmsghdr *)client->buffer;
		     nlmsg_ok(message, left) && !exchange->done;
		     message = nlmsg_next(message, &left)) {
			failed = take_message(client, exchange, message,
					      ret ? &later : err);
			ret = ret ? ret : failed;
		}
	}
	return ret;
}

static int run(struct lace_client *client, struct nl_msg *msg, int flags,
	       struct exchange *exchange, struct lace_error *err)
{
	int ret;

	nlmsg_hdr(msg)->nlmsg_flags = NLM_F_REQUEST | flags;
	exchange->request = nlmsg_hdr(msg);
	ret = send_request(client, msg, err);
	if (!ret)
		ret = read_answer(client, exchange, err);
	nlmsg_free(msg);
	return ret;
}

int lace_client_do(struct lace_client *client, struct nl_msg *msg,
		   lace_client_reply_fn reply, void *arg,
		   struct lace_error *err)
{
	struct exchange exchange = { .reply = reply, .arg = arg };

	return run(client, msg, NLM_F_ACK, &exchange, err);
}

int lace_client_dump(struct lace_client *client, struct nl_msg *msg,
		     lace_client_reply_fn reply, void *arg,
		     struct lace_error *err)
{
	struct exchange exchange = { .reply = reply, .arg = arg };
	int ret;

	ret = run(client, msg, NLM_F_DUMP, &exchange, err);
	return ret ? ret : exchange.interrupted ? -EINTR : 0;
}
