// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink commands about hooks, and the calls that go out to them.
 */
#include "lace.h"

/* Phases in which hooks are called. */
#define PHASES (BIT(LACE_PHASE_QUIESCE) | BIT(LACE_PHASE_SWITCH) | \
		BIT(LACE_PHASE_RESUME))
#define MAX_ERRNO_SENT 4095

#define READ_ONLY(what) { \
	.type = NLA_REJECT, \
	.reject_message = what ": is not for the user to set", \
}

const struct nla_policy lace_nl_hook_policy[LACE_A_HOOK_MAX + 1] = {
	[LACE_A_HOOK_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32,
						      &lace_nl_ifindex_range),
	[LACE_A_HOOK_IFNAME] = { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[LACE_A_HOOK_NAME] = { .type = NLA_NUL_STRING,
			       .len = LACE_HOOK_NAME_MAX },
	[LACE_A_HOOK_PHASES] = NLA_POLICY_MASK(NLA_U32, PHASES),
	[LACE_A_HOOK_PORTID] = READ_ONLY("hook PORTID"),
	[LACE_A_HOOK_PHASE] = NLA_POLICY_MAX(NLA_U8, LACE_PHASE_MAX),
	[LACE_A_HOOK_TRANSITION] = { .type = NLA_U64 },
	[LACE_A_HOOK_CALL] = { .type = NLA_U32 },
	[LACE_A_HOOK_FROM] = READ_ONLY("hook FROM"),
	[LACE_A_HOOK_TO] = READ_ONLY("hook TO"),
	[LACE_A_HOOK_DEADLINE_MS] = READ_ONLY("hook DEADLINE_MS"),
	[LACE_A_HOOK_ERROR] = NLA_POLICY_MAX(NLA_U32, MAX_ERRNO_SENT),
	[LACE_A_HOOK_REASON] = { .type = NLA_NUL_STRING,
				 .len = LACE_REASON_MAX },
	[LACE_A_HOOK_BUSY] = READ_ONLY("hook BUSY"),
};

/* ---- messages ---- */

/* Its last call, if there was one, and what became of it. */
static int put_last_call(struct sk_buff *skb, const struct lace_hook *hook)
{
	if (hook->state == LACE_HOOK_UNCALLED)
		return 0;
	if (nla_put_u8(skb, LACE_A_HOOK_PHASE, hook->phase) ||
	    nla_put_u64_64bit(skb, LACE_A_HOOK_TRANSITION, hook->transition,
			      LACE_A_HOOK_PAD) ||
	    nla_put_u32(skb, LACE_A_HOOK_CALL, hook->call))
		return -EMSGSIZE;
	if (hook->state == LACE_HOOK_BUSY)
		return nla_put_flag(skb, LACE_A_HOOK_BUSY);
	if (nla_put_u32(skb, LACE_A_HOOK_ERROR, hook->error) ||
	    (hook->reason[0] &&
	     nla_put_string(skb, LACE_A_HOOK_REASON, hook->reason)))
		return -EMSGSIZE;
	return 0;
}

static int put_hook(struct sk_buff *skb, const struct lace_hook *hook)
{
	if (nla_put_string(skb, LACE_A_HOOK_NAME, hook->name) ||
	    nla_put_u32(skb, LACE_A_HOOK_PHASES, hook->phases) ||
	    nla_put_u32(skb, LACE_A_HOOK_PORTID, hook->portid) ||
	    put_last_call(skb, hook))
		return -EMSGSIZE;
	return 0;
}

static int put_call(struct sk_buff *skb, const struct lace_hook *hook,
		    const struct lace_hook_call *call)
{
	if (nla_put_string(skb, LACE_A_HOOK_NAME, hook->name) ||
	    nla_put_u32(skb, LACE_A_HOOK_PORTID, hook->portid) ||
	    nla_put_u8(skb, LACE_A_HOOK_PHASE, hook->phase) ||
	    nla_put_u64_64bit(skb, LACE_A_HOOK_TRANSITION, hook->transition,
			      LACE_A_HOOK_PAD) ||
	    nla_put_u32(skb, LACE_A_HOOK_CALL, hook->call) ||
	    (call->from_given &&
	     nla_put_u32(skb, LACE_A_HOOK_FROM, call->from)) ||
	    (call->to_given && nla_put_u32(skb, LACE_A_HOOK_TO, call->to)) ||
	    nla_put_u32(skb, LACE_A_HOOK_DEADLINE_MS, call->deadline_ms))
		return -EMSGSIZE;
	return 0;
}

static int finish(struct sk_buff *skb, void *header,
		  const struct lace_hook *hook,
		  const struct lace_hook_call *call)
{
	if (!header)
		return -EMSGSIZE;
	if (call ? put_call(skb, hook, call) : put_hook(skb, hook)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

/* call: that the message is, or NULL: about the hook. */
static struct sk_buff *make(const struct lace_hook *hook, u32 portid, u32 seq,
			    u8 cmd, const struct lace_hook_call *call)
{
	struct sk_buff *skb;

	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return NULL;
	if (finish(skb, lace_nl_begin(skb, portid, seq, 0, cmd, hook->lace),
		   hook, call)) {
		nlmsg_free(skb);
		return NULL;
	}
	return skb;
}

void lace_nl_announce_hook(const struct lace_hook *hook, struct genl_info *info,
			   u8 cmd)
{
	struct sk_buff *skb;

	if (!lace_nl_is_heard_in(hook->lace, info, LACE_NL_HOOK))
		return;
	skb = make(hook, info ? info->snd_portid : 0, info ? info->snd_seq : 0,
		   cmd, NULL);
	lace_nl_announce_in(hook->lace, info, skb, skb ? 0 : -ENOMEM,
			    LACE_NL_HOOK);
}

/* Send a call to its hook, which is an error if it has no room for it, and to
 * all who listen.
 */
int lace_nl_call_hook(const struct lace_hook *hook,
		      const struct lace_hook_call *call)
{
	const struct lace_device *lace = hook->lace;
	struct sk_buff *skb;

	if (lace_nl_is_heard_in(lace, NULL, LACE_NL_HOOK)) {
		skb = make(hook, 0, 0, LACE_CMD_HOOK_CALL_NTF, call);
		lace_nl_multicast(lace, skb, hook->portid, LACE_NL_HOOK);
	}
	skb = make(hook, 0, 0, LACE_CMD_HOOK_CALL_NTF, call);
	if (!skb)
		return -ENOMEM;
	return genlmsg_unicast(dev_net(lace->dev), skb, hook->portid);
}

/* ---- get ---- */

int lace_nl_hook_start(struct netlink_callback *cb)
{
	return lace_nl_start(cb, NULL);
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb,
		struct lace_device *lace, unsigned long *next)
{
	const struct lace_hook *hook;
	unsigned long i = 0;
	void *header;
	int err;

	list_for_each_entry(hook, &lace->hooks.list, list) {
		if (i++ < *next)
			continue;
		header = lace_nl_begin_dump(skb, cb, LACE_CMD_HOOK_GET, lace);
		err = finish(skb, header, hook, NULL);
		if (err)
			return err;
		*next = i;
	}
	return 0;
}

int lace_nl_hook_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return lace_nl_dump(skb, cb, dump);
}

/* Names are words that can be typed and printed. */
static int get_name(struct genl_info *info, const char **name)
{
	const struct nlattr *attr = info->attrs[LACE_A_HOOK_NAME];
	const char *c;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "hook NAME: missing");
		return -EINVAL;
	}
	*name = nla_data(attr);
	for (c = *name; *c > ' ' && *c <= '~'; c++)
		;
	if (*c || c == *name) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "hook NAME: not a word of printable ASCII characters");
		return -EINVAL;
	}
	return 0;
}

/* The hook that a request names, or an error. */
static struct lace_hook *find(struct lace_device *lace, struct genl_info *info)
{
	struct lace_hook *hook;
	const char *name;
	int err;

	err = get_name(info, &name);
	if (err)
		return ERR_PTR(err);
	hook = lace_hook_find(lace, name);
	if (!hook) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[LACE_A_HOOK_NAME],
				    "hook NAME: there is no such hook");
		return ERR_PTR(-ENOENT);
	}
	return hook;
}

static int get(struct lace_device *lace, struct genl_info *info)
{
	struct lace_hook *hook = find(lace, info);
	struct sk_buff *reply;

	if (IS_ERR(hook))
		return PTR_ERR(hook);
	reply = make(hook, info->snd_portid, info->snd_seq, LACE_CMD_HOOK_GET,
		     NULL);
	return reply ? genlmsg_reply(reply, info) : -ENOMEM;
}

int lace_nl_hook_get(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, get);
}

/* ---- set, del ---- */

static int set(struct lace_device *lace, struct genl_info *info)
{
	const struct nlattr *phases = info->attrs[LACE_A_HOOK_PHASES];
	struct lace_hook *hook;
	const char *name;
	int err;

	err = get_name(info, &name);
	if (err)
		return err;
	if (!phases || !nla_get_u32(phases)) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    phases ?: info->attrs[LACE_A_HOOK_NAME],
				    "hook PHASES: missing, it would never be called");
		return -EINVAL;
	}
	hook = lace_hook_set(lace, name, info->snd_portid, nla_get_u32(phases),
			     info->extack);
	if (IS_ERR(hook)) {
		NL_SET_BAD_ATTR(info->extack, info->attrs[LACE_A_HOOK_NAME]);
		return PTR_ERR(hook);
	}
	lace_nl_announce_hook(hook, info, LACE_CMD_HOOK_NTF);
	return 0;
}

int lace_nl_hook_set(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, set);
}

static int del(struct lace_device *lace, struct genl_info *info)
{
	struct lace_hook *hook = find(lace, info);

	if (IS_ERR(hook))
		return PTR_ERR(hook);
	lace_hook_del(hook, info);
	return 0;
}

int lace_nl_hook_del(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, del);
}

/* ---- done ---- */

/* It ends up on terminals, in logs, and cut short: nothing but ASCII. */
static void get_reason(const struct nlattr *attr,
		       char reason[LACE_REASON_MAX + 1])
{
	char *c;

	reason[0] = '\0';
	if (!attr)
		return;
	nla_strscpy(reason, attr, LACE_REASON_MAX + 1);
	for (c = reason; *c; c++) {
		if (*c < ' ' || *c >= '\x7f')
			*c = '?';
	}
}

static int done(struct lace_device *lace, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct lace_hook_answer answer = {};
	struct lace_hook *hook;

	if (!attrs[LACE_A_HOOK_CALL]) {
		NL_SET_ERR_MSG(info->extack, "hook CALL: missing");
		return -EINVAL;
	}
	answer.call = nla_get_u32(attrs[LACE_A_HOOK_CALL]);
	if (attrs[LACE_A_HOOK_PHASE]) {
		answer.phase_given = true;
		answer.phase = nla_get_u8(attrs[LACE_A_HOOK_PHASE]);
	}
	if (attrs[LACE_A_HOOK_TRANSITION]) {
		answer.transition_given = true;
		answer.transition = nla_get_u64(attrs[LACE_A_HOOK_TRANSITION]);
	}
	if (attrs[LACE_A_HOOK_ERROR])
		answer.error = nla_get_u32(attrs[LACE_A_HOOK_ERROR]);
	get_reason(attrs[LACE_A_HOOK_REASON], answer.reason);
	hook = lace_hook_done(lace, info->snd_portid, &answer, info->extack);
	if (IS_ERR(hook))
		return PTR_ERR(hook);
	lace_nl_announce_hook(hook, info, LACE_CMD_HOOK_NTF);
	/* Not at once: the next call would overtake the acknowledgment. */
	lace_transition_kick(lace);
	return 0;
}

int lace_nl_hook_done(struct sk_buff *skb, struct genl_info *info)
{
	return lace_nl_do(info, 0, done);
}
