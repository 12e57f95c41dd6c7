// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink commands about transitions.
 */
#include "lace.h"

static_assert((int)LACE_A_DEADLINE_QUIESCE == LACE_PHASE_QUIESCE &&
	      (int)LACE_A_DEADLINE_MAX == LACE_PHASE_MAX &&
	      (int)LACE_A_TIME_QUIESCE == LACE_PHASE_QUIESCE &&
	      (int)LACE_A_TIME_RESUME == LACE_PHASE_MAX);

#define READ_ONLY(what) { \
	.type = NLA_REJECT, \
	.reject_message = "transition " what ": is not for the user to set", \
}

static lace_compat_range deadline_range = {
	.min = 1,
	.max = LACE_MAX_PHASE_MSECS,
};

#define DEADLINE NLA_POLICY_FULL_RANGE(NLA_U32, &deadline_range)

static const struct nla_policy deadline_policy[LACE_A_DEADLINE_MAX + 1] = {
	[LACE_A_DEADLINE_QUIESCE] = DEADLINE,
	[LACE_A_DEADLINE_DRAIN] = DEADLINE,
	[LACE_A_DEADLINE_SWITCH] = DEADLINE,
	[LACE_A_DEADLINE_SETTLE] = DEADLINE,
	[LACE_A_DEADLINE_VERIFY] = DEADLINE,
	[LACE_A_DEADLINE_RESUME] = DEADLINE,
};

const struct nla_policy
lace_nl_transition_policy[LACE_A_TRANSITION_DEADLINES + 1] = {
	[LACE_A_TRANSITION_IFINDEX] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &lace_nl_ifindex_range),
	[LACE_A_TRANSITION_IFNAME] = { .type = NLA_NUL_STRING,
				       .len = IFNAMSIZ - 1 },
	[LACE_A_TRANSITION_ID] = { .type = NLA_U64 },
	[LACE_A_TRANSITION_FROM] = READ_ONLY("FROM"),
	[LACE_A_TRANSITION_TO] = { .type = NLA_U32 },
	[LACE_A_TRANSITION_ON_FAILURE] =
		NLA_POLICY_MAX(NLA_U8, LACE_ON_FAILURE_DEGRADE),
	[LACE_A_TRANSITION_RETRIES] = NLA_POLICY_MAX(NLA_U8, LACE_MAX_RETRIES),
	[LACE_A_TRANSITION_NO_DRAIN] = { .type = NLA_FLAG },
	[LACE_A_TRANSITION_DEADLINES] = NLA_POLICY_NESTED(deadline_policy),
};

/* ---- messages ---- */

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, LACE_A_TRANSITION_PAD);
}

static int put_deadlines(struct sk_buff *skb, const u32 *deadline_ms)
{
	struct nlattr *nest = nla_nest_start(skb, LACE_A_TRANSITION_DEADLINES);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = LACE_A_DEADLINE_QUIESCE; i <= LACE_A_DEADLINE_MAX; i++) {
		if (nla_put_u32(skb, i, deadline_ms[i]))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_times(struct sk_buff *skb, const u64 *times_ns)
{
	struct nlattr *nest = nla_nest_start(skb, LACE_A_TRANSITION_TIMES);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = LACE_A_TIME_QUIESCE; i <= LACE_A_TIME_RESUME; i++) {
		if (nla_put_u64_64bit(skb, i, times_ns[i], LACE_A_TIME_PAD))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_ends(struct sk_buff *skb, const struct lace_fault_report *fault)
{
	if ((fault->port != LACE_NO_PORT &&
	     nla_put_u8(skb, LACE_A_FAULT_PORT, fault->port)) ||
	    (fault->peer != LACE_NO_NODE &&
	     (nla_put_u16(skb, LACE_A_FAULT_PEER, fault->peer) ||
	      nla_put_u8(skb, LACE_A_FAULT_PEER_PORT, fault->peer_port))) ||
	    (fault->found != LACE_NO_NODE &&
	     (nla_put_u16(skb, LACE_A_FAULT_FOUND, fault->found) ||
	      nla_put_u8(skb, LACE_A_FAULT_FOUND_PORT, fault->found_port))))
		return -EMSGSIZE;
	return 0;
}

static int put_fault(struct sk_buff *skb, const struct lace_fault_report *fault)
{
	struct nlattr *nest = nla_nest_start(skb, LACE_A_TRANSITION_FAULT);

	if (!nest ||
	    nla_put_u8(skb, LACE_A_FAULT_KIND, fault->kind) ||
	    nla_put_u8(skb, LACE_A_FAULT_PHASE, fault->phase) ||
	    put_ends(skb, fault) ||
	    (fault->hook[0] &&
	     nla_put_string(skb, LACE_A_FAULT_HOOK, fault->hook)) ||
	    (fault->error && nla_put_s32(skb, LACE_A_FAULT_ERROR, fault->error)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_request(struct sk_buff *skb,
		       const struct lace_transition_report *report)
{
	const struct lace_transition_request *request = &report->request;

	if ((report->from_given &&
	     nla_put_u32(skb, LACE_A_TRANSITION_FROM, report->from)) ||
	    nla_put_u32(skb, LACE_A_TRANSITION_TO, request->to) ||
	    nla_put_u8(skb, LACE_A_TRANSITION_ON_FAILURE,
		       request->on_failure) ||
	    nla_put_u8(skb, LACE_A_TRANSITION_RETRIES, request->retries) ||
	    (request->no_drain &&
	     nla_put_flag(skb, LACE_A_TRANSITION_NO_DRAIN)) ||
	    put_deadlines(skb, request->deadline_ms))
		return -EMSGSIZE;
	return 0;
}

static int put_progress(struct sk_buff *skb,
			const struct lace_transition_report *report)
{
	if (nla_put_u8(skb, LACE_A_TRANSITION_PHASE, report->phase) ||
	    nla_put_u8(skb, LACE_A_TRANSITION_RESULT, report->result) ||
	    nla_put_u8(skb, LACE_A_TRANSITION_ATTEMPT, report->attempt) ||
	    (report->back && nla_put_flag(skb, LACE_A_TRANSITION_BACK)) ||
	    put_times(skb, report->times_ns) ||
	    put_u64(skb, LACE_A_TRANSITION_BEGUN_NS, report->begun_ns) ||
	    put_u64(skb, LACE_A_TRANSITION_TOTAL_NS, report->total_ns) ||
	    nla_put_u32(skb, LACE_A_TRANSITION_PORTS, report->ports) ||
	    nla_put_u32(skb, LACE_A_TRANSITION_WAITING, report->waiting))
		return -EMSGSIZE;
	return 0;
}

static int put_report(struct sk_buff *skb,
		      const struct lace_transition_report *report)
{
	int i;

	if (put_u64(skb, LACE_A_TRANSITION_ID, report->id) ||
	    put_request(skb, report) || put_progress(skb, report))
		return -EMSGSIZE;
	for (i = 0; i < report->n_faults; i++) {
		if (put_fault(skb, &report->faults[i]))
			return -EMSGSIZE;
	}
	if (report->reason[0] &&
	    nla_put_string(skb, LACE_A_TRANSITION_REASON, report->reason))
		return -EMSGSIZE;
	return 0;
}

static int finish(struct sk_buff *skb, void *header,
		  const struct lace_transition_report *report)
{
	if (!header)
		return -EMSGSIZE;
	if (put_report(skb, report)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* Bytes of a message about a transition, at most. */
static size_t largest(struct lace_device *lace)
{
	size_t small = nla_total_size(sizeof(u32));
	size_t large = nla_total_size_64bit(sizeof(u64));
	size_t fault = nla_total_size(8 * small +
				      nla_total_size(LACE_HOOK_NAME_MAX + 1));

	return GENL_HDRLEN + small + nla_total_size(IFNAMSIZ) + 12 * small +
	       3 * large + nla_total_size(LACE_PHASE_MAX * small) +
	       nla_total_size(LACE_PHASE_MAX * large) +
	       LACE_MAX_FAULTS * fault + nla_total_size(LACE_REASON_MAX + 1);
}

static struct sk_buff *make(struct lace_device *lace,
			    const struct lace_transition_report *report,
			    u32 portid, u32 seq, u8 cmd)
{
	struct sk_buff *skb;
	void *header;

	skb = nlmsg_new(largest(lace), GFP_KERNEL);
	if (!skb)
		return NULL;
	header = lace_nl_begin(skb, portid, seq, 0, cmd, lace);
	if (WARN_ON_ONCE(finish(skb, header, report))) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

/* At each change of phase, and at the end. */
void lace_nl_announce_transition(struct lace_device *lace,
				 const struct lace_transition_report *report)
{
	struct sk_buff *skb;

	if (!lace_nl_is_heard_in(lace, NULL, LACE_NL_TRANSITION))
		return;
	skb = make(lace, report, 0, 0, LACE_CMD_TRANSITION_NTF);
	lace_nl_announce_in(lace, NULL, skb, skb ? 0 : -ENOMEM,
			    LACE_NL_TRANSITION);
}

/* ---- get ---- */

int lace_nl_transition_dump_start(struct netlink_callback *cb)
{
	return lace_nl_start(cb, largest);
}

/* IDs begin at 1, so that the one after the last is never 0. */
static int dump(struct sk_buff *skb, struct netlink_callback *cb,
		struct lace_device *lace, unsigned long *next)
{
	const struct lace_transition_report *report;
	void *header;
	int err;

	while ((report = lace_transition_next(lace, *next))) {
		header = lace_nl_begin_dump(skb, cb, LACE_CMD_TRANSITION_GET,
					    lace);
		err = finish(skb, header, report);
		if (err)
			return err;
		*next = report->id + 1;
	}
	return 0;
}

int lace_nl_transition_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return lace_nl_dump(skb, cb, dump);
}

static const struct lace_transition_report *last(struct lace_device *lace)
{
	const struct lace_transition_report *report, *next;

	report = lace_transition_next(lace, 0);
	while (report && (next = lace_transition_next(lace, report->id + 1)))
		report = next;
	return report;
}

static const struct lace_transition_report *find(struct lace_device *lace,
						 struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[LACE_A_TRANSITION_ID];
	const struct lace_transition_report *report;

	if (!attr) {
		report = last(lace);
		if (!report)
			NL_SET_ERR_MSG(info->extack,
				       "transition: there was none yet");
		return report;
	}
	report = lace_transition_next(lace, nla_get_u64(attr));
	if (report && report->id == nla_get_u64(attr))
		return report;
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "transition ID: there was no such one, or it is forgotten");
	return NULL;
}

static int get(struct lace_device *lace, struct genl_info *info)
{
	const struct lace_transition_report *report = find(lace, info);
	struct sk_buff *reply;

	if (!report)
		return -ENOENT;
	reply = make(lace, report, info->snd_portid, info->snd_seq,
		     LACE_CMD_TRANSITION_GET);
	return reply ? genlmsg_reply(reply, info) : -ENOMEM;
}

int lace_nl_transition_get(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, get);
}

/* ---- start, abort ---- */

static int read_deadlines(const struct nlattr *nest, u32 *deadline_ms,
			  struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[LACE_A_DEADLINE_MAX + 1];
	int err, i;

	err = lace_nl_parse_nest(attrs, LACE_A_DEADLINE_MAX, nest,
				 deadline_policy, extack);
	if (err)
		return err;
	for (i = LACE_A_DEADLINE_QUIESCE; i <= LACE_A_DEADLINE_MAX; i++) {
		if (attrs[i])
			deadline_ms[i] = nla_get_u32(attrs[i]);
	}
	return 0;
}

static int read_request(struct genl_info *info,
			struct lace_transition_request *request)
{
	struct nlattr **attrs = info->attrs;

	if (attrs[LACE_A_TRANSITION_ID]) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[LACE_A_TRANSITION_ID],
				    "transition ID: is not for the user to set");
		return -EINVAL;
	}
	if (!attrs[LACE_A_TRANSITION_TO]) {
		NL_SET_ERR_MSG(info->extack, "transition TO: missing");
		return -EINVAL;
	}
	request->to = nla_get_u32(attrs[LACE_A_TRANSITION_TO]);
	if (attrs[LACE_A_TRANSITION_ON_FAILURE])
		request->on_failure =
			nla_get_u8(attrs[LACE_A_TRANSITION_ON_FAILURE]);
	if (attrs[LACE_A_TRANSITION_RETRIES])
		request->retries = nla_get_u8(attrs[LACE_A_TRANSITION_RETRIES]);
	request->no_drain = attrs[LACE_A_TRANSITION_NO_DRAIN];
	if (!attrs[LACE_A_TRANSITION_DEADLINES])
		return 0;
	return read_deadlines(attrs[LACE_A_TRANSITION_DEADLINES],
			      request->deadline_ms, info->extack);
}

/* The answer, made before anything happens, so that it cannot fail then. */
static struct sk_buff *start_answer(struct lace_device *lace,
				    struct genl_info *info, void **header)
{
	struct sk_buff *skb;

	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return NULL;
	*header = lace_nl_begin(skb, info->snd_portid, info->snd_seq, 0,
				LACE_CMD_TRANSITION_START, lace);
	if (!*header) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

static int start(struct lace_device *lace, struct genl_info *info)
{
	struct lace_transition_request request = {};
	struct sk_buff *answer;
	void *header;
	int err;
	u64 id;

	err = read_request(info, &request);
	if (err)
		return err;
	answer = start_answer(lace, info, &header);
	if (!answer)
		return -ENOMEM;
	err = lace_transition_start(lace, &request, &id, info->extack);
	if (err) {
		nlmsg_free(answer);
		if (!info->extack->bad_attr)
			NL_SET_BAD_ATTR(info->extack,
					info->attrs[LACE_A_TRANSITION_TO]);
		return err;
	}
	put_u64(answer, LACE_A_TRANSITION_ID, id);
	genlmsg_end(answer, header);
	return genlmsg_reply(answer, info);
}

int lace_nl_transition_start(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, start);
}

static int abort_running(struct lace_device *lace, struct genl_info *info)
{
	return lace_transition_abort(lace, info->extack);
}

int lace_nl_transition_abort(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, abort_running);
}
