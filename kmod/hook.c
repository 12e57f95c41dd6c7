// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks: processes that take part in transitions, such as the one that commands
 * the optical switch.
 *
 * DESIGN NOTES
 *
 * A hook is the port number of a netlink socket.  The socket layer tells of
 * every socket that is closed; whoever closes one may hold any lock, so the
 * notifier only notes that the hook is dead and leaves the rest to a work item
 * that takes RTNL.  Lists change under RTNL and hooks_lock; either is enough to
 * walk them.  A hook is freed under both, so what the notifier finds is whole.
 *
 * Nobody waits here: a call is sent, and the transition asks how it stands when
 * it is kicked or its time is up.  A hook that could not be sent its call has
 * failed, as it will never answer.  An answer repeats the number of the call,
 * so that one to an older call is known as such.
 */
#include <linux/notifier.h>

#include "lace.h"

static LIST_HEAD(all_hooks);
static DEFINE_SPINLOCK(hooks_lock);

/* The hook of that name, or NULL. */
struct lace_hook *lace_hook_find(struct lace_device *lace, const char *name)
{
	struct lace_hook *hook;

	ASSERT_RTNL();

	list_for_each_entry(hook, &lace->hooks.list, list) {
		if (!strcmp(hook->name, name))
			return hook;
	}
	return NULL;
}

static void fail(struct lace_hooks *hooks, const char *culprit, int error,
		 const char *reason)
{
	if (hooks->failed)
		return;
	hooks->failed = true;
	hooks->error = error;
	strscpy(hooks->culprit, culprit, sizeof(hooks->culprit));
	strscpy(hooks->reason, reason, sizeof(hooks->reason));
}

static void record(struct lace_hook *hook, int error, const char *reason)
{
	hook->state = LACE_HOOK_ANSWERED;
	hook->error = error;
	strscpy(hook->reason, reason, sizeof(hook->reason));
	if (error)
		fail(&hook->lace->hooks, hook->name, error, reason);
}

static void unlink_hook(struct lace_hook *hook)
{
	spin_lock_bh(&hooks_lock);
	list_del(&hook->list);
	list_del(&hook->all);
	spin_unlock_bh(&hooks_lock);
	hook->lace->hooks.n--;
}

/* A hook of that name is back. */
static void forget_lost(struct lace_hooks *hooks, const char *name)
{
	unsigned int i;

	for (i = 0; i < hooks->n_lost; i++) {
		if (!strcmp(hooks->lost[i].name, name)) {
			hooks->lost[i] = hooks->lost[--hooks->n_lost];
			return;
		}
	}
}

/* A transition that runs has to do without a hook: until it is back, phases that
 * would have called it fail.
 */
static void lose(const struct lace_hook *hook)
{
	struct lace_hooks *hooks = &hook->lace->hooks;
	struct lace_lost_hook *lost;

	if (!lace_transition_runs(hook->lace))
		return;
	if (hooks->n_lost == LACE_MAX_HOOKS)	/* enough to fail for */
		return;
	lost = &hooks->lost[hooks->n_lost++];
	strscpy(lost->name, hook->name, sizeof(lost->name));
	lost->phases = hook->phases;
}

static int call_lost(struct lace_hooks *hooks, u8 phase)
{
	unsigned int i;
	int n = 0;

	for (i = 0; i < hooks->n_lost; i++) {
		if (!(hooks->lost[i].phases & BIT(phase)))
			continue;
		fail(hooks, hooks->lost[i].name, ECONNRESET, "it is gone");
		n++;
	}
	return n;
}

/* Have a hook be one no more.  info: of the request that wants it, or NULL. */
void lace_hook_del(struct lace_hook *hook, struct genl_info *info)
{
	struct lace_device *lace = hook->lace;

	ASSERT_RTNL();

	unlink_hook(hook);
	lose(hook);
	if (hook->state == LACE_HOOK_BUSY) {
		record(hook, ECONNRESET, "it is gone");
		lace_transition_kick(lace);
	}
	lace_device_changed(lace);
	lace_nl_announce_hook(hook, info, LACE_CMD_HOOK_DEL_NTF);
	kfree(hook);
}

/**
 * lace_hook_set() - have a socket be a hook, or change the phases of one
 * @lace: the device
 * @name: name of the hook
 * @portid: of the socket
 * @phases: bit f: it is called in phase f
 * @extack: filled on failure
 *
 * Return: the hook, or an error pointer.
 */
struct lace_hook *lace_hook_set(struct lace_device *lace, const char *name,
				u32 portid, u32 phases,
				struct netlink_ext_ack *extack)
{
	struct lace_hook *hook = lace_hook_find(lace, name);

	if (hook && READ_ONCE(hook->dead)) {	/* and soon gone anyway */
		lace_hook_del(hook, NULL);
		hook = NULL;
	}
	if (hook && hook->portid != portid) {
		NL_SET_ERR_MSG(extack, "hook NAME: another socket has it");
		return ERR_PTR(-EEXIST);
	}
	if (hook && hook->state == LACE_HOOK_BUSY) {
		NL_SET_ERR_MSG(extack, "hook NAME: it has yet to answer a call");
		return ERR_PTR(-EBUSY);
	}
	if (!hook && lace->hooks.n >= LACE_MAX_HOOKS) {
		NL_SET_ERR_MSG(extack, "hook NAME: the device has too many");
		return ERR_PTR(-E2BIG);
	}
	if (!hook) {
		hook = kzalloc(sizeof(*hook), GFP_KERNEL_ACCOUNT);
		if (!hook)
			return ERR_PTR(-ENOMEM);
		hook->lace = lace;
		hook->portid = portid;
		strscpy(hook->name, name, sizeof(hook->name));
		lace->hooks.n++;
		spin_lock_bh(&hooks_lock);
		list_add_tail(&hook->list, &lace->hooks.list);
		list_add_tail(&hook->all, &all_hooks);
		spin_unlock_bh(&hooks_lock);
	}
	forget_lost(&lace->hooks, name);
	hook->phases = phases;
	lace_device_changed(lace);
	return hook;
}

/* The hook that the socket is and that the call went to, or an error. */
static struct lace_hook *called(struct lace_device *lace, u32 portid, u32 call,
				struct netlink_ext_ack *extack)
{
	struct lace_hook *hook;
	bool known = false;

	list_for_each_entry(hook, &lace->hooks.list, list) {
		if (hook->portid != portid)
			continue;
		known = true;
		if (hook->state == LACE_HOOK_BUSY && hook->call == call)
			return hook;
	}
	if (!known) {
		NL_SET_ERR_MSG(extack, "hook: this socket is none of the device");
		return ERR_PTR(-ENOENT);
	}
	NL_SET_ERR_MSG(extack,
		       "hook CALL: not made, answered, or its time is over");
	return ERR_PTR(-ESTALE);
}

/**
 * lace_hook_done() - a hook has answered
 * @lace: the device
 * @portid: of the socket that answers
 * @answer: what it says
 * @extack: filled on failure
 *
 * The transition is still to be told: lace_transition_kick().
 *
 * Return: the hook, or an error pointer.
 */
struct lace_hook *lace_hook_done(struct lace_device *lace, u32 portid,
				 const struct lace_hook_answer *answer,
				 struct netlink_ext_ack *extack)
{
	struct lace_hook *hook = called(lace, portid, answer->call, extack);

	if (IS_ERR(hook))
		return hook;
	if ((answer->phase_given && answer->phase != hook->phase) ||
	    (answer->transition_given &&
	     answer->transition != hook->transition)) {
		NL_SET_ERR_MSG(extack,
			       "hook PHASE, TRANSITION: not those of the call");
		return ERR_PTR(-EINVAL);
	}
	record(hook, answer->error, answer->reason);
	return hook;
}

/* A transition begins: hooks that went before are none of its. */
void lace_hooks_begin(struct lace_device *lace)
{
	ASSERT_RTNL();

	lace->hooks.n_lost = 0;
}

/**
 * lace_hooks_call() - call all hooks that take part in a phase
 * @lace: the device
 * @phase: enum lace_transition_phase
 * @id: of the transition
 * @call: what they are told of it
 *
 * A call that is under way is forgotten.
 *
 * Return: how many are called, also those that fail at once, as those do that have
 * gone since the transition began; 0: no hook takes part.
 */
int lace_hooks_call(struct lace_device *lace, u8 phase, u64 id,
		    const struct lace_hook_call *call)
{
	struct lace_hook *hook;
	int n = 0, err;

	ASSERT_RTNL();

	lace_hooks_cancel(lace);
	list_for_each_entry(hook, &lace->hooks.list, list) {
		if (!(hook->phases & BIT(phase)))
			continue;
		n++;
		hook->state = LACE_HOOK_BUSY;
		hook->phase = phase;
		hook->transition = id;
		hook->call = ++lace->hooks.calls ?: ++lace->hooks.calls;
		err = READ_ONCE(hook->dead) ? -ECONNRESET :
					      lace_nl_call_hook(hook, call);
		if (err)
			record(hook, -err, err == -EAGAIN ?
			       "it has too many messages to read" :
			       "it cannot be reached");
	}
	return n + call_lost(&lace->hooks, phase);
}

/**
 * lace_hooks_state() - how the call stands
 * @lace: the device
 * @fault: filled unless all have done their part: with the hook that failed,
 *	   or with the first one that has yet to answer, which is late if the
 *	   deadline is over
 *
 * Return: how it stands.
 */
enum lace_hooks_state lace_hooks_state(struct lace_device *lace,
				       struct lace_fault_report *fault)
{
	const struct lace_hooks *hooks = &lace->hooks;
	struct lace_hook *hook;

	ASSERT_RTNL();

	fault->kind = LACE_FAULT_HOOK;
	fault->port = LACE_NO_PORT;
	fault->peer = LACE_NO_NODE;
	fault->found = LACE_NO_NODE;
	list_for_each_entry(hook, &lace->hooks.list, list) {
		if (hook->state == LACE_HOOK_BUSY && READ_ONCE(hook->dead))
			record(hook, ECONNRESET, "it is gone");
	}
	if (hooks->failed) {
		strscpy(fault->hook, hooks->culprit, sizeof(fault->hook));
		fault->error = hooks->error;
		return LACE_HOOKS_FAILED;
	}
	list_for_each_entry(hook, &lace->hooks.list, list) {
		if (hook->state != LACE_HOOK_BUSY)
			continue;
		strscpy(fault->hook, hook->name, sizeof(fault->hook));
		fault->error = ETIMEDOUT;
		return LACE_HOOKS_PENDING;
	}
	return LACE_HOOKS_DONE;
}

/* What the hook that failed said, or is said of it; "" if none failed. */
const char *lace_hooks_reason(struct lace_device *lace)
{
	ASSERT_RTNL();

	return lace->hooks.failed ? lace->hooks.reason : "";
}

/* Forget the call that is under way: answers to it are refused from now on. */
void lace_hooks_cancel(struct lace_device *lace)
{
	struct lace_hook *hook;

	ASSERT_RTNL();

	list_for_each_entry(hook, &lace->hooks.list, list) {
		if (hook->state != LACE_HOOK_BUSY)
			continue;
		hook->state = LACE_HOOK_ANSWERED;
		hook->error = ETIMEDOUT;
		strscpy(hook->reason, "it did not answer in time",
			sizeof(hook->reason));
	}
	lace->hooks.failed = false;
}

void lace_hooks_start(struct lace_device *lace)
{
	INIT_LIST_HEAD(&lace->hooks.list);
}

/* The device goes; its hooks hear it in the hook group. */
void lace_hooks_destroy(struct lace_device *lace)
{
	struct lace_hook *hook, *next;

	list_for_each_entry_safe(hook, next, &lace->hooks.list, list)
		lace_hook_del(hook, NULL);
}

static void reap(struct work_struct *work)
{
	struct lace_hook *hook, *next;

	rtnl_lock();
	list_for_each_entry_safe(hook, next, &all_hooks, all) {
		if (READ_ONCE(hook->dead))
			lace_hook_del(hook, NULL);
	}
	rtnl_unlock();
}

static DECLARE_WORK(reap_work, reap);

static int socket_event(struct notifier_block *self, unsigned long event,
			void *data)
{
	const struct netlink_notify *socket = data;
	struct lace_hook *hook;
	bool found = false;

	if (event != NETLINK_URELEASE || socket->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;
	spin_lock_bh(&hooks_lock);
	list_for_each_entry(hook, &all_hooks, all) {
		if (hook->portid != socket->portid ||
		    !net_eq(dev_net(hook->lace->dev), socket->net))
			continue;
		WRITE_ONCE(hook->dead, true);
		lace_transition_kick(hook->lace);
		found = true;
	}
	spin_unlock_bh(&hooks_lock);
	if (found)
		schedule_work(&reap_work);
	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = {
	.notifier_call = socket_event,
};

int __init lace_hooks_init(void)
{
	return netlink_register_notifier(&socket_notifier);
}

/* All devices are gone. */
void lace_hooks_exit(void)
{
	netlink_unregister_notifier(&socket_notifier);
	cancel_work_sync(&reap_work);
}
