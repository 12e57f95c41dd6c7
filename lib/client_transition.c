// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Transitions and hooks: what is asked of the module, and messages about them
 * into structs.
 *
 * A client that is a hook gets calls between the answers to its requests;
 * client.c hands those to lace_client_keep_call(), so that none is lost.
 */
#include "client_impl.h"

#include <errno.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Every attribute here is at most this large, header and padding included. */
#define SMALL (NLA_HDRLEN + 8)

static int no_room(struct nl_msg *msg, struct lace_error *err)
{
	nlmsg_free(msg);
	lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	return -ENOMEM;
}

static int bad_message(struct lace_error *err, const char *what)
{
	lace_fail(err, LACE_ERR_SYSTEM,
		  "the lace module answered with a %s that makes no sense",
		  what);
	return -EBADMSG;
}

static struct nlattr *first(const struct nlmsghdr *message)
{
	return (struct nlattr *)genlmsg_attrdata(nlmsg_data(message), 0);
}

static int length(const struct nlmsghdr *message)
{
	return (int)message->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
}

static void get_text(struct nlattr *attr, char *text, size_t size)
{
	text[0] = '\0';
	if (attr)
		nla_strlcpy(text, attr, size);
}

static uint8_t u8_or_0(struct nlattr *attr)
{
	return attr ? nla_get_u8(attr) : 0;
}

static uint32_t u32_or_0(struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

static int64_t u32_or_none(struct nlattr *attr)
{
	return attr ? (int64_t)nla_get_u32(attr) : LACE_RT_NONE;
}

static uint64_t u64_or_0(struct nlattr *attr)
{
	return attr ? nla_get_u64(attr) : 0;
}

/* ---- transitions ---- */

static struct nla_policy transition_policy[LACE_A_TRANSITION_MAX + 1] = {
	[LACE_A_TRANSITION_IFNAME] = { .type = NLA_STRING },
	[LACE_A_TRANSITION_ID] = { .type = NLA_U64 },
	[LACE_A_TRANSITION_FROM] = { .type = NLA_U32 },
	[LACE_A_TRANSITION_TO] = { .type = NLA_U32 },
	[LACE_A_TRANSITION_ON_FAILURE] = { .type = NLA_U8 },
	[LACE_A_TRANSITION_RETRIES] = { .type = NLA_U8 },
	[LACE_A_TRANSITION_NO_DRAIN] = { .type = NLA_FLAG },
	[LACE_A_TRANSITION_DEADLINES] = { .type = NLA_NESTED },
	[LACE_A_TRANSITION_PHASE] = { .type = NLA_U8 },
	[LACE_A_TRANSITION_RESULT] = { .type = NLA_U8 },
	[LACE_A_TRANSITION_ATTEMPT] = { .type = NLA_U8 },
	[LACE_A_TRANSITION_BACK] = { .type = NLA_FLAG },
	[LACE_A_TRANSITION_TIMES] = { .type = NLA_NESTED },
	[LACE_A_TRANSITION_TOTAL_NS] = { .type = NLA_U64 },
	[LACE_A_TRANSITION_PORTS] = { .type = NLA_U32 },
	[LACE_A_TRANSITION_WAITING] = { .type = NLA_U32 },
	[LACE_A_TRANSITION_FAULT] = { .type = NLA_NESTED },
	[LACE_A_TRANSITION_REASON] = { .type = NLA_STRING },
	[LACE_A_TRANSITION_BEGUN_NS] = { .type = NLA_U64 },
};

static struct nla_policy fault_policy[LACE_A_FAULT_MAX + 1] = {
	[LACE_A_FAULT_KIND] = { .type = NLA_U8 },
	[LACE_A_FAULT_PHASE] = { .type = NLA_U8 },
	[LACE_A_FAULT_PORT] = { .type = NLA_U8 },
	[LACE_A_FAULT_PEER] = { .type = NLA_U16 },
	[LACE_A_FAULT_PEER_PORT] = { .type = NLA_U8 },
	[LACE_A_FAULT_FOUND] = { .type = NLA_U16 },
	[LACE_A_FAULT_FOUND_PORT] = { .type = NLA_U8 },
	[LACE_A_FAULT_HOOK] = { .type = NLA_STRING },
	[LACE_A_FAULT_ERROR] = { .type = NLA_S32 },
};

static int parse_fault(struct nlattr *nest, struct lace_rt_fault *fault)
{
	struct nlattr *attrs[LACE_A_FAULT_MAX + 1];

	if (nla_parse_nested(attrs, LACE_A_FAULT_MAX, nest, fault_policy) ||
	    !attrs[LACE_A_FAULT_KIND])
		return -1;
	fault->kind = nla_get_u8(attrs[LACE_A_FAULT_KIND]);
	fault->phase = u8_or_0(attrs[LACE_A_FAULT_PHASE]);
	fault->port = attrs[LACE_A_FAULT_PORT] ?
		      nla_get_u8(attrs[LACE_A_FAULT_PORT]) : LACE_RT_NONE;
	fault->peer = attrs[LACE_A_FAULT_PEER] ?
		      nla_get_u16(attrs[LACE_A_FAULT_PEER]) : LACE_RT_NONE;
	fault->peer_port = u8_or_0(attrs[LACE_A_FAULT_PEER_PORT]);
	fault->found = attrs[LACE_A_FAULT_FOUND] ?
		       nla_get_u16(attrs[LACE_A_FAULT_FOUND]) : LACE_RT_NONE;
	fault->found_port = u8_or_0(attrs[LACE_A_FAULT_FOUND_PORT]);
	get_text(attrs[LACE_A_FAULT_HOOK], fault->hook, sizeof(fault->hook));
	fault->error = attrs[LACE_A_FAULT_ERROR] ?
		       nla_get_s32(attrs[LACE_A_FAULT_ERROR]) : 0;
	return 0;
}

static void get_phases(struct nlattr *deadlines, struct nlattr *times,
		       struct lace_rt_transition *transition)
{
	struct nlattr *attr;
	int rem;

	if (deadlines)
		nla_for_each_nested(attr, deadlines, rem)
			if (nla_type(attr) <= LACE_PHASE_MAX &&
			    nla_len(attr) == sizeof(uint32_t))
				transition->request.deadline_ms[nla_type(attr)] =
					nla_get_u32(attr);
	if (times)
		nla_for_each_nested(attr, times, rem)
			if (nla_type(attr) <= LACE_PHASE_MAX &&
			    nla_len(attr) == sizeof(uint64_t))
				transition->times_ns[nla_type(attr)] =
					nla_get_u64(attr);
}

static int get_faults(const struct nlmsghdr *message,
		      struct lace_rt_transition *transition)
{
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, first(message), length(message), rem) {
		if (nla_type(attr) != LACE_A_TRANSITION_FAULT ||
		    transition->nr_faults == LACE_RT_MAX_FAULTS)
			continue;
		if (parse_fault(attr,
				&transition->faults[transition->nr_faults++]))
			return -1;
	}
	return 0;
}

int lace_parse_transition(const struct nlmsghdr *message,
			  struct lace_rt_transition *transition,
			  struct lace_error *err)
{
	struct nlattr *attrs[LACE_A_TRANSITION_MAX + 1];
	struct lace_rt_request *request = &transition->request;

	memset(transition, 0, sizeof(*transition));
	if (length(message) < 0 ||
	    nla_parse(attrs, LACE_A_TRANSITION_MAX, first(message),
		      length(message), transition_policy) ||
	    !attrs[LACE_A_TRANSITION_IFNAME] || !attrs[LACE_A_TRANSITION_ID])
		return bad_message(err, "transition");
	get_text(attrs[LACE_A_TRANSITION_IFNAME], transition->ifname,
		 sizeof(transition->ifname));
	transition->id = nla_get_u64(attrs[LACE_A_TRANSITION_ID]);
	transition->from = u32_or_none(attrs[LACE_A_TRANSITION_FROM]);
	request->to = u32_or_0(attrs[LACE_A_TRANSITION_TO]);
	request->on_failure = u8_or_0(attrs[LACE_A_TRANSITION_ON_FAILURE]);
	request->retries = u8_or_0(attrs[LACE_A_TRANSITION_RETRIES]);
	request->no_drain = attrs[LACE_A_TRANSITION_NO_DRAIN];
	transition->phase = u8_or_0(attrs[LACE_A_TRANSITION_PHASE]);
	transition->result = u8_or_0(attrs[LACE_A_TRANSITION_RESULT]);
	transition->attempt = u8_or_0(attrs[LACE_A_TRANSITION_ATTEMPT]);
	transition->back = attrs[LACE_A_TRANSITION_BACK];
	transition->begun_ns = u64_or_0(attrs[LACE_A_TRANSITION_BEGUN_NS]);
	transition->total_ns = u64_or_0(attrs[LACE_A_TRANSITION_TOTAL_NS]);
	transition->ports = u32_or_0(attrs[LACE_A_TRANSITION_PORTS]);
	transition->waiting = u32_or_0(attrs[LACE_A_TRANSITION_WAITING]);
	get_text(attrs[LACE_A_TRANSITION_REASON], transition->reason,
		 sizeof(transition->reason));
	get_phases(attrs[LACE_A_TRANSITION_DEADLINES],
		   attrs[LACE_A_TRANSITION_TIMES], transition);
	if (get_faults(message, transition))
		return bad_message(err, "fault");
	return 0;
}

static int put_deadlines(struct nl_msg *msg, const uint32_t *deadline_ms)
{
	struct nlattr *nest;
	int i;

	nest = nla_nest_start(msg, LACE_A_TRANSITION_DEADLINES);
	if (!nest)
		return -1;
	for (i = 1; i <= LACE_PHASE_MAX; i++)
		if (deadline_ms[i])
			NLA_PUT_U32(msg, i, deadline_ms[i]);
	nla_nest_end(msg, nest);
	return 0;

nla_put_failure:
	return -1;
}

static int take_id(const struct nlmsghdr *message, void *arg,
		   struct lace_error *err)
{
	struct lace_rt_transition transition;

	if (lace_parse_transition(message, &transition, err))
		return -EBADMSG;
	*(uint64_t *)arg = transition.id;
	return 0;
}

/**
 * lace_client_start_transition() - begin to make a segment the active one
 * @client: the client
 * @ifname: the lace device
 * @request: what is asked for
 * @id: filled with the number of the transition, which then runs
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; -EBUSY while one runs.
 */
int lace_client_start_transition(struct lace_client *client, const char *ifname,
				 const struct lace_rt_request *request,
				 uint64_t *id, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_TRANSITION_START, ifname,
				  (LACE_PHASE_MAX + 6) * SMALL, err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U32(msg, LACE_A_TRANSITION_TO, request->to);
	NLA_PUT_U8(msg, LACE_A_TRANSITION_ON_FAILURE, request->on_failure);
	NLA_PUT_U8(msg, LACE_A_TRANSITION_RETRIES, request->retries);
	if (request->no_drain)
		NLA_PUT_FLAG(msg, LACE_A_TRANSITION_NO_DRAIN);
	if (put_deadlines(msg, request->deadline_ms))
		return no_room(msg, err);
	*id = 0;
	return lace_client_do(client, msg, take_id, id, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_abort_transition() - have the transition that runs go back
 * @client: the client
 * @ifname: the lace device
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_abort_transition(struct lace_client *client, const char *ifname,
				 struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_TRANSITION_ABORT, ifname, 0,
				  err);
	return msg ? lace_client_do(client, msg, NULL, NULL, err) : -ENODEV;
}

/* ---- hooks ---- */

static struct nla_policy hook_policy[LACE_A_HOOK_MAX + 1] = {
	[LACE_A_HOOK_IFNAME] = { .type = NLA_STRING },
	[LACE_A_HOOK_NAME] = { .type = NLA_STRING },
	[LACE_A_HOOK_PHASES] = { .type = NLA_U32 },
	[LACE_A_HOOK_PORTID] = { .type = NLA_U32 },
	[LACE_A_HOOK_PHASE] = { .type = NLA_U8 },
	[LACE_A_HOOK_TRANSITION] = { .type = NLA_U64 },
	[LACE_A_HOOK_CALL] = { .type = NLA_U32 },
	[LACE_A_HOOK_FROM] = { .type = NLA_U32 },
	[LACE_A_HOOK_TO] = { .type = NLA_U32 },
	[LACE_A_HOOK_DEADLINE_MS] = { .type = NLA_U32 },
	[LACE_A_HOOK_ERROR] = { .type = NLA_U32 },
	[LACE_A_HOOK_REASON] = { .type = NLA_STRING },
	[LACE_A_HOOK_BUSY] = { .type = NLA_FLAG },
};

int lace_parse_hook(const struct nlmsghdr *message, struct lace_rt_hook *hook,
		    struct lace_error *err)
{
	struct nlattr *attrs[LACE_A_HOOK_MAX + 1];

	memset(hook, 0, sizeof(*hook));
	if (length(message) < 0 ||
	    nla_parse(attrs, LACE_A_HOOK_MAX, first(message), length(message),
		      hook_policy) ||
	    !attrs[LACE_A_HOOK_IFNAME] || !attrs[LACE_A_HOOK_NAME])
		return bad_message(err, "hook");
	get_text(attrs[LACE_A_HOOK_IFNAME], hook->ifname, sizeof(hook->ifname));
	get_text(attrs[LACE_A_HOOK_NAME], hook->name, sizeof(hook->name));
	hook->phases = u32_or_0(attrs[LACE_A_HOOK_PHASES]);
	hook->portid = u32_or_0(attrs[LACE_A_HOOK_PORTID]);
	hook->phase = u8_or_0(attrs[LACE_A_HOOK_PHASE]);
	hook->transition = u64_or_0(attrs[LACE_A_HOOK_TRANSITION]);
	hook->call = u32_or_0(attrs[LACE_A_HOOK_CALL]);
	hook->from = u32_or_none(attrs[LACE_A_HOOK_FROM]);
	hook->to = u32_or_none(attrs[LACE_A_HOOK_TO]);
	hook->deadline_ms = u32_or_0(attrs[LACE_A_HOOK_DEADLINE_MS]);
	hook->error = u32_or_none(attrs[LACE_A_HOOK_ERROR]);
	hook->busy = attrs[LACE_A_HOOK_BUSY];
	get_text(attrs[LACE_A_HOOK_REASON], hook->reason, sizeof(hook->reason));
	return 0;
}

/**
 * lace_client_set_hook() - have the client itself be a hook of a device
 * @client: the client; it is one until it is closed
 * @ifname: the lace device
 * @name: name of the hook, unique on the device
 * @phases: bit f: it is called in phase f, of QUIESCE, SWITCH and RESUME
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; -EEXIST where another has the name.
 */
int lace_client_set_hook(struct lace_client *client, const char *ifname,
			 const char *name, uint32_t phases,
			 struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_HOOK_SET, ifname,
				  2 * SMALL + strlen(name), err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_STRING(msg, LACE_A_HOOK_NAME, name);
	NLA_PUT_U32(msg, LACE_A_HOOK_PHASES, phases);
	return lace_client_do(client, msg, NULL, NULL, err);

nla_put_failure:
	return no_room(msg, err);
}

/**
 * lace_client_del_hook() - have a hook be one no more, whoever it is
 * @client: the client
 * @ifname: the lace device
 * @name: name of the hook
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_client_del_hook(struct lace_client *client, const char *ifname,
			 const char *name, struct lace_error *err)
{
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_HOOK_DEL, ifname,
				  SMALL + strlen(name), err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_STRING(msg, LACE_A_HOOK_NAME, name);
	return lace_client_do(client, msg, NULL, NULL, err);

nla_put_failure:
	return no_room(msg, err);
}

/* Room for one more call. */
static int grow_calls(struct lace_client *client)
{
	struct lace_rt_hook *calls;

	calls = realloc(client->calls, (client->nr_calls + 1) * sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	client->calls = calls;
	return 0;
}

void lace_client_keep_call(struct lace_client *client,
			   const struct nlmsghdr *message)
{
	const struct genlmsghdr *header = nlmsg_data(message);
	struct lace_error ignored;

	if (message->nlmsg_type != client->family || length(message) < 0 ||
	    header->cmd != LACE_CMD_HOOK_CALL_NTF || grow_calls(client))
		return;
	if (!lace_parse_hook(message, &client->calls[client->nr_calls],
			     &ignored))
		client->nr_calls++;
}

static int read_calls(struct lace_client *client, struct lace_error *err)
{
	struct nlmsghdr *message;
	ssize_t len;
	int left;

	len = lace_client_receive(client, MSG_DONTWAIT);
	if (len == -EAGAIN)
		return 0;
	if (len < 0) {
		lace_fail(err, LACE_ERR_SYSTEM, "cannot read a call: %s",
			  strerror((int)-len));
		return (int)len;
	}
	left = (int)len;
	for (message = (struct nlmsghdr *)client->buffer;
	     nlmsg_ok(message, left); message = nlmsg_next(message, &left))
		lace_client_keep_call(client, message);
	return 1;
}

/**
 * lace_client_next_call() - the next call of a client that is a hook
 * @client: the client
 * @call: filled
 * @err: filled on failure
 *
 * Does not wait; lace_client_fd() is readable when there may be one.
 *
 * Return: 1 for a call, 0 for none at present, or a negative errno.
 */
int lace_client_next_call(struct lace_client *client, struct lace_rt_hook *call,
			  struct lace_error *err)
{
	int ret;

	while (!client->nr_calls) {
		ret = read_calls(client, err);
		if (ret <= 0)
			return ret;
	}
	*call = client->calls[0];
	client->nr_calls--;
	memmove(client->calls, client->calls + 1,
		client->nr_calls * sizeof(*call));
	return 1;
}

/**
 * lace_client_answer_call() - say what became of a call
 * @client: the client that was called
 * @call: the call
 * @error: 0, or the positive errno of what went wrong
 * @reason: what went wrong, NULL for no words
 * @err: filled on failure
 *
 * Return: 0 or a negative errno; -ESTALE where the call is over.
 */
int lace_client_answer_call(struct lace_client *client,
			    const struct lace_rt_hook *call, uint32_t error,
			    const char *reason, struct lace_error *err)
{
	char words[LACE_REASON_MAX + 1];
	struct nl_msg *msg;

	msg = lace_client_message(client, LACE_CMD_HOOK_DONE, call->ifname,
				  4 * SMALL + sizeof(words), err);
	if (!msg)
		return -ENODEV;
	NLA_PUT_U32(msg, LACE_A_HOOK_CALL, call->call);
	NLA_PUT_U64(msg, LACE_A_HOOK_TRANSITION, call->transition);
	NLA_PUT_U32(msg, LACE_A_HOOK_ERROR, error);
	if (reason) {
		snprintf(words, sizeof(words), "%s", reason);
		NLA_PUT_STRING(msg, LACE_A_HOOK_REASON, words);
	}
	return lace_client_do(client, msg, NULL, NULL, err);

nla_put_failure:
	return no_room(msg, err);
}
