/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* What the client's files share.  Not installed. */
#ifndef LACE_CLIENT_IMPL_H
#define LACE_CLIENT_IMPL_H

#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "client.h"

/* ---- client.c ---- */

struct lace_client {
	struct nl_sock *sock;
	int family;
	char *buffer;
	size_t size;
	struct lace_rt_hook *calls;	/* came between answers */
	size_t nr_calls;
};

/* Called for each message of the family that answers a request. */
typedef int (*lace_client_reply_fn)(const struct nlmsghdr *message, void *arg,
				    struct lace_error *err);

int lace_client_open_socket(const char *netns, struct lace_client *client,
			    struct lace_error *err);
void lace_client_close_socket(struct lace_client *client);
/* Reads one datagram into client->buffer; its length or a negative errno. */
ssize_t lace_client_receive(struct lace_client *client, int flags);

/* A request about device ifname (NULL: none is named), with room for size
 * bytes of attributes.
 */
struct nl_msg *lace_client_message(struct lace_client *client, uint8_t cmd,
				   const char *ifname, size_t size,
				   struct lace_error *err);
/* Sends msg and lets go of it, reads the whole answer. */
int lace_client_do(struct lace_client *client, struct nl_msg *msg,
		   lace_client_reply_fn reply, void *arg,
		   struct lace_error *err);
/* The same for a dump; -EINTR if it was not of one moment. */
int lace_client_dump(struct lace_client *client, struct nl_msg *msg,
		     lace_client_reply_fn reply, void *arg,
		     struct lace_error *err);

/* ---- client_error.c ---- */

/* What the module said to request: a message of type ERROR, or DONE with an
 * error.  Returns error, a negative errno.
 */
int lace_client_refused(const struct nlmsghdr *request,
			const struct nlmsghdr *answer, int error,
			struct lace_error *err);

/* ---- client_parse.c ---- */

int lace_parse_device(const struct nlmsghdr *message,
		      struct lace_rt_device *device, struct lace_error *err);
int lace_parse_node(const struct nlmsghdr *message, struct lace_rt_node *node,
		    struct lace_error *err);
int lace_parse_lane(const struct nlmsghdr *message, struct lace_rt_lane *lane,
		    struct lace_error *err);
int lace_parse_segment(const struct nlmsghdr *message,
		       struct lace_rt_segment *segment, struct lace_error *err);

/* ---- client_transition.c ---- */

int lace_parse_transition(const struct nlmsghdr *message,
			  struct lace_rt_transition *transition,
			  struct lace_error *err);
int lace_parse_hook(const struct nlmsghdr *message, struct lace_rt_hook *hook,
		    struct lace_error *err);
/* Keeps a message that is no answer, if it is a call. */
void lace_client_keep_call(struct lace_client *client,
			   const struct nlmsghdr *message);

#endif /* LACE_CLIENT_IMPL_H */
