// SPDX-License-Identifier: GPL-2.0
/*
 * Transitions: does what the state machine in transition_core.c says, and tells
 * it what has happened.  Documentation/transitions.rst describes the whole.
 *
 * DESIGN NOTES
 *
 * Phases begin and end under RTNL, in the command that starts or aborts the
 * transition, or in a work item.  Whoever knows of something that it may wait
 * for calls lace_transition_kick(), which only has the work item look: at the
 * answers of hooks, at the lanes, at the clock.  Nothing is remembered of an
 * event, so none can be missed; but for a port that goes, which may be back.
 *
 * A timer repeats marks and probes, and kicks at the deadline.  It needs no
 * RTNL; what it needs to know is left for it under a lock of its own.
 *
 * QUIESCE waits for a grace period; another work item does, without RTNL, which
 * the whole machine would wait for.  It always ends, so it has no deadline.
 *
 * The work items hold the device, as one takes RTNL and so cannot be cancelled
 * under it.  The timer is cancelled when the device goes.
 *
 * What is published in each phase, of segments A (before) and B (after):
 *
 *	QUIESCE, DRAIN, SWITCH	A, with B as the other one
 *	SETTLE, VERIFY, RESUME	B, with A; on the way back A, with B
 *	after it, for a second	the same
 *
 * The other one is there for receiving and relaying: nodes do not change over
 * at the same moment, and what is under way by its routes still arrives.
 */
#include <linux/hrtimer.h>
#include <linux/workqueue.h>

#include "lace.h"
#include "lane.h"
#include "trace.h"
#include "transition_state.h"

#define MS ((u64)NSEC_PER_MSEC)
#define LINGER (1000 * MS)	/* the other segment, after the end */
#define LEAST_PACE MS		/* between two marks or probes of a lane */
#define MOST_PACE (16 * MS)
#define PACE_SHIFT 3		/* of the time that the phase has taken */

static const u32 default_ms[LACE_PHASE_MAX + 1] = {
	[LACE_PHASE_QUIESCE] = 1000,
	[LACE_PHASE_DRAIN] = 1000,
	[LACE_PHASE_SWITCH] = 5000,
	[LACE_PHASE_SETTLE] = 2000,
	[LACE_PHASE_VERIFY] = 1000,
	[LACE_PHASE_RESUME] = 1000,
};

static bool is_of_hooks(u8 phase)
{
	return phase == LACE_PHASE_QUIESCE || phase == LACE_PHASE_SWITCH ||
	       phase == LACE_PHASE_RESUME;
}

/* ---- what keeps it going ---- */

/* Marks or probes for lanes that the phase waits for. */
static void prompt(struct lace_device *lace, u8 phase, u32 lanes)
{
	const struct lace_active *active;
	struct lace_port *port;

	local_bh_disable();
	rcu_read_lock();
	active = rcu_dereference(lace->active);
	for (; active && lanes; lanes &= lanes - 1) {
		port = rcu_dereference(lace->ports[__ffs(lanes)]);
		if (!port)
			continue;
		if (phase == LACE_PHASE_DRAIN)
			lace_lane_urge(lace, active, port);
		else if (phase == LACE_PHASE_VERIFY)
			lace_probe_send(lace, active, port);
	}
	rcu_read_unlock();
	local_bh_enable();
}

/**
 * lace_transition_kick() - something may have happened that it waits for
 * @lace: the device
 *
 * Any context, any locks.
 */
void lace_transition_kick(struct lace_device *lace)
{
	struct lace_transition *t = lace->transition;

	if (!READ_ONCE(t->alert))
		return;
	dev_hold(lace->dev);
	if (!queue_work(lace_wq, &t->work))
		dev_put(lace->dev);
}

static bool any_is_live(struct lace_device *lace, u32 lanes)
{
	const struct lace_port *port;
	bool live = false;

	rcu_read_lock();
	for (; lanes && !live; lanes &= lanes - 1) {
		port = rcu_dereference(lace->ports[__ffs(lanes)]);
		live = port && lace_port_is_live(port);
	}
	rcu_read_unlock();
	return live;
}

/* The more time a phase has taken already, the less it matters. */
static u64 pace(const struct lace_transition *t, u64 now)
{
	return clamp((now - t->since) >> PACE_SHIFT, LEAST_PACE, MOST_PACE);
}

static void set_timer(struct lace_transition *t, u64 now)
{
	u64 next = t->until;

	lockdep_assert_held(&t->lock);

	if (t->dead || !next)
		return;
	if (t->prompts)
		next = min(next, now + pace(t, now));
	hrtimer_start(&t->timer, ns_to_ktime(next), HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart time_over(struct hrtimer *timer)
{
	struct lace_transition *t = container_of(timer, struct lace_transition,
						 timer);
	u64 now = ktime_get_ns();
	bool kick = false;
	u32 pending = 0;
	u8 prompts;

	spin_lock(&t->lock);
	prompts = t->prompts;
	if (prompts)
		pending = t->pending;
	if (t->until && now >= t->until)
		kick = true;
	else
		set_timer(t, now);
	spin_unlock(&t->lock);
	prompt(t->lace, prompts, pending);
	if (prompts == LACE_PHASE_SETTLE)
		kick |= any_is_live(t->lace, pending);
	if (kick)
		lace_transition_kick(t->lace);
	return HRTIMER_NORESTART;
}

/* Leave word for the timer: what to repeat, and when to kick. */
static void arm(struct lace_transition *t, u64 until)
{
	const struct lace_transition_core *core = &t->core;

	spin_lock_bh(&t->lock);
	t->prompts = is_of_hooks(core->phase) ? LACE_PHASE_IDLE : core->phase;
	t->pending = core->waiting;
	t->since = core->entered;
	t->until = until;
	set_timer(t, ktime_get_ns());
	spin_unlock_bh(&t->lock);
}

/* ---- what a phase does when it begins ---- */

static void publish(struct lace_transition *t, struct lace_segment *segment,
		    struct lace_segment *other)
{
	const struct lace_segment *old = lace_active_segment(t->lace);
	struct lace_active *active = NULL;

	if (segment) {
		active = lace_active_compile_anyway(t->lace, segment, other);
		active->closed = lace_transition_core_closed(&t->core);
	}
	lace_active_publish(t->lace, active);
	lace_device_changed(t->lace);
	if (segment != old)
		lace_nl_announce_active(t->lace, old, NULL);
}

static void call_hooks(struct lace_transition *t)
{
	const struct lace_segment *to = lace_transition_target(t);
	u8 phase = t->core.phase;
	struct lace_hook_call call = {
		.from_given = t->report->from_given,
		.from = t->report->from,
		.to_given = to,
		.to = to ? to->id : 0,
		.deadline_ms = div_u64(t->core.plan.deadline[phase], MS),
	};

	t->n_hooks = lace_hooks_call(t->lace, phase, t->report->id, &call);
}

static void wait_for_grace(struct work_struct *work)
{
	struct lace_transition *t = container_of(work, struct lace_transition,
						 grace);
	u64 begun = smp_load_acquire(&t->begun);	/* after publish() */

	synchronize_rcu_expedited();
	/* Who sees it finds all counted that was sent before. */
	smp_store_release(&t->over, begun);
	lace_transition_kick(t->lace);
	dev_put(t->lace->dev);
}

/* Whoever is sending has then sent, and what he sent is counted. */
static void quiesce(struct lace_transition *t)
{
	publish(t, t->from, t->from ? t->to : NULL);
	if (!t->from || t->core.plan.no_drain)
		return;
	smp_store_release(&t->begun, t->begun + 1);	/* after publish() */
	dev_hold(t->lace->dev);
	if (!queue_work(lace_wq, &t->grace))
		dev_put(t->lace->dev);
}

static bool is_quiet(struct lace_transition *t)
{
	return t->core.phase != LACE_PHASE_QUIESCE ||
	       smp_load_acquire(&t->over) == t->begun;	/* all is counted */
}

static void drain(struct lace_transition *t, bool on)
{
	struct lace_port *port;
	int i;

	lace_for_each_port(t->lace, i, port) {
		if (!on || t->core.waiting & BIT(i))
			lace_lane_drain(port, on);
	}
}

/* Closed lanes are asked for; others not. */
static void probe(struct lace_transition *t, u32 lanes)
{
	const struct lace_segment *segment = lace_active_segment(t->lace);
	struct lace_port *port;
	int i;

	lace_for_each_port(t->lace, i, port) {
		if (segment && lanes & BIT(i))
			lace_probe_start(port, segment->id);
		else
			lace_probe_stop(port);
	}
}

/* Where the switch never moved, lanes lead where they did and may be dark. */
static void renew(struct lace_transition *t)
{
	struct lace_port *port;
	int i;

	lace_for_each_port(t->lace, i, port) {
		if (t->core.waiting & BIT(i))
			lace_lane_renew(port);
	}
}

static void finish(struct lace_transition *t)
{
	probe(t, lace_transition_core_closed(&t->core));
	t->from = NULL;
	t->to = NULL;
	t->gone = 0;
	lace_nl_announce_device(t->lace, NULL);
	trace_lace_transition_end(t->lace->dev, t->report->id, t->core.result,
				  t->core.total);
}

static void begin_phase(struct lace_transition *t)
{
	struct lace_segment *other = t->core.back ? t->to : t->from;
	u8 phase = t->core.phase;

	lace_hooks_cancel(t->lace);
	drain(t, false);
	t->n_hooks = 0;
	trace_lace_phase_begin(t->lace->dev, t->report->id, phase,
			       t->core.attempt, t->core.back);
	if (is_of_hooks(phase))
		call_hooks(t);
	switch (phase) {
	case LACE_PHASE_QUIESCE:
		quiesce(t);
		break;
	case LACE_PHASE_DRAIN:
		drain(t, true);
		break;
	case LACE_PHASE_SETTLE:
		publish(t, lace_transition_target(t), other);
		renew(t);
		break;
	case LACE_PHASE_VERIFY:
		probe(t, t->core.waiting | t->core.plan.out);
		break;
	case LACE_PHASE_RESUME:
		lace_active_set_closed(t->lace,
				       lace_transition_core_closed(&t->core));
		lace_device_changed(t->lace);
		break;
	}
	prompt(t->lace, phase, t->core.waiting);
}

static void begin(struct lace_transition *t)
{
	if (lace_transition_is_on(t)) {
		begin_phase(t);
	} else {
		lace_hooks_cancel(t->lace);
		finish(t);
	}
	lace_transition_update(t);
	lace_nl_announce_transition(t->lace, t->report);
}

/* ---- what has happened ---- */

static bool handle(struct lace_transition *t, enum lace_transition_event event,
		   u32 lanes, u64 now)
{
	u8 phase = t->core.phase;
	u64 before = t->core.times[phase];

	if (!lace_transition_core_handle(&t->core, event, lanes, now))
		return false;
	trace_lace_phase_end(t->lace->dev, t->report->id, phase,
			     t->core.times[phase] - before);
	return true;
}

static bool look_at_ports(struct lace_transition *t, u64 now)
{
	u32 gone = t->gone & t->core.plan.changed & ~t->core.gone;
	u32 lanes;

	t->gone = 0;
	for (lanes = gone; lanes; lanes &= lanes - 1)
		lace_transition_blame_lane(t, LACE_FAULT_PORT_GONE,
					   __ffs(lanes), NULL);
	return gone && handle(t, LACE_TRANSITION_LANES_GONE, gone, now);
}

static bool look_at_hooks(struct lace_transition *t, u64 now)
{
	struct lace_fault_report fault = {};
	enum lace_hooks_state state = LACE_HOOKS_DONE;

	if (t->n_hooks)
		state = lace_hooks_state(t->lace, &fault);
	switch (state) {
	case LACE_HOOKS_DONE:
		return is_quiet(t) &&
		       handle(t, LACE_TRANSITION_HOOKS_DONE, 0, now);
	case LACE_HOOKS_FAILED:
		lace_transition_blame_hook(t, &fault,
					   lace_hooks_reason(t->lace));
		return handle(t, LACE_TRANSITION_HOOKS_FAILED, 0, now);
	default:
		if (now >= t->core.deadline && is_quiet(t))
			lace_transition_blame_hook(t, &fault,
						   "it did not answer in time");
		return false;
	}
}

/* Lanes on which nobody answers have nothing to prove: nobody knows what became
 * of what was sent there.  That is said, but it is no failure.
 */
static bool is_drained(struct lace_transition *t, struct lace_port *port,
		       bool late)
{
	switch (lace_lane_drained(port)) {
	case LACE_DRAINED:
		return true;
	case LACE_UNDRAINED:
		return false;
	case LACE_UNANSWERED:
		if (!late)
			return false;
		break;
	case LACE_UNDRAINABLE:
		break;
	}
	lace_transition_blame_lane(t, LACE_FAULT_UNDRAINED, port->number, NULL);
	return true;
}

static bool is_done(struct lace_transition *t, struct lace_port *port,
		    bool late)
{
	switch (t->core.phase) {
	case LACE_PHASE_DRAIN:
		return is_drained(t, port, late);
	case LACE_PHASE_SETTLE:
		return lace_port_is_live(port);
	default:
		return lace_probe_is_proved(port);
	}
}

static bool look_at_lanes(struct lace_transition *t, u64 now)
{
	struct lace_port *port;
	u32 done = 0;
	int i;

	lace_for_each_port(t->lace, i, port) {
		if (t->core.waiting & BIT(i) &&
		    is_done(t, port, now >= t->core.deadline))
			done |= BIT(i);
	}
	return handle(t, LACE_TRANSITION_LANES_DONE, done, now);
}

static void add_late_fault(struct lace_transition *t, struct lace_port *port)
{
	enum lace_fault kind = LACE_FAULT_SILENT;
	const struct lace_far *found = NULL;
	struct lace_far end;

	if (t->core.phase == LACE_PHASE_DRAIN) {
		kind = LACE_FAULT_UNDRAINED;
	} else if (!lace_port_is_live(port)) {
		kind = LACE_FAULT_NO_CARRIER;
	} else if (lace_probe_found(port, &end)) {
		kind = LACE_FAULT_WRONG_END;
		found = &end;
	}
	lace_transition_blame_lane(t, kind, port->number, found);
}

static bool be_late(struct lace_transition *t, u64 now)
{
	struct lace_port *port;
	int i;

	lace_for_each_port(t->lace, i, port) {
		if (t->core.waiting & BIT(i))
			add_late_fault(t, port);
	}
	return handle(t, LACE_TRANSITION_DEADLINE, 0, now);
}

/* True if a phase has begun, or it is over. */
static bool look(struct lace_transition *t)
{
	u64 now = ktime_get_ns();

	if (look_at_ports(t, now))
		return true;
	if (is_of_hooks(t->core.phase) ? look_at_hooks(t, now) :
					 look_at_lanes(t, now))
		return true;
	return now >= t->core.deadline && is_quiet(t) && be_late(t, now);
}

/* ---- after the end ---- */

/* What was under way by the other segment has come, or never will. */
static void let_other_go(struct lace_device *lace)
{
	const struct lace_active *old = rtnl_dereference(lace->active);
	struct lace_active *active;

	if (!old || !old->other)
		return;
	active = lace_active_compile_anyway(lace, old->segment, NULL);
	active->closed = old->closed;
	lace_active_publish(lace, active);
	lace_reorder_follow(lace, active);
}

static void rest(struct lace_transition *t)
{
	const struct lace_active *active;
	u64 until;

	lace_outage_look(t->lace);
	until = t->core.entered + LINGER;
	if (ktime_get_ns() >= until)
		let_other_go(t->lace);
	active = rtnl_dereference(t->lace->active);
	arm(t, active && active->other ? until : 0);
}

static void go_on(struct lace_transition *t)
{
	while (lace_transition_is_on(t) && look(t))
		begin(t);
	if (lace_transition_is_on(t))
		arm(t, is_quiet(t) ? t->core.deadline : 0);
	else
		rest(t);
}

static void work(struct work_struct *work)
{
	struct lace_transition *t = container_of(work, struct lace_transition,
						 work);
	struct net_device *dev = t->lace->dev;

	rtnl_lock();
	if (dev->reg_state == NETREG_REGISTERED) {
		go_on(t);
		if (lace_transition_is_on(t))
			lace_gate_look(t->lace);
	}
	rtnl_unlock();
	dev_put(dev);
}

/* ---- for the user ---- */

static int check(struct lace_device *lace, u32 id,
		 struct netlink_ext_ack *extack)
{
	if (lace_transition_runs(lace)) {
		NL_SET_ERR_MSG(extack, "device: a transition runs already");
		return -EBUSY;
	}
	if (!netif_running(lace->dev)) {
		NL_SET_ERR_MSG(extack, "device: is down");
		return -ENETDOWN;
	}
	if (!lace->acks.msecs) {
		NL_SET_ERR_MSG(extack,
			       "device ACK_MSECS: is 0, so no lane can be proved");
		return -EOPNOTSUPP;
	}
	if (!xa_load(&lace->segments, id)) {
		NL_SET_ERR_MSG(extack,
			       "transition TO: there is no such segment");
		return -ENOENT;
	}
	if (xa_load(&lace->segments, id) == lace_active_segment(lace)) {
		NL_SET_ERR_MSG(extack, "transition TO: is active already");
		return -EALREADY;
	}
	return 0;
}

/* Whether the nodes of a segment are there, with their ports. */
static int check_nodes(struct lace_device *lace, struct lace_segment *segment,
		       struct netlink_ext_ack *extack)
{
	struct lace_active *active;

	active = lace_active_compile(lace, segment, NULL, extack);
	if (IS_ERR(active))
		return PTR_ERR(active);
	kfree(active);
	return 0;
}

static int check_target(struct lace_device *lace, struct lace_segment *to,
			struct netlink_ext_ack *extack)
{
	return check_nodes(lace, to, extack) ?:
	       lace_active_check_ports(lace, to, extack);
}

/* Lanes with another end than before.  What is the same in both and closed stays
 * so: the switch does not move it.
 */
static void plan_lanes(struct lace_device *lace,
		       const struct lace_segment *from,
		       const struct lace_segment *to,
		       struct lace_transition_plan *plan)
{
	const struct lace_active *active = rtnl_dereference(lace->active);
	u32 before = from ? from->ports[LACE_DIR_TX] : 0;
	u32 after = to->ports[LACE_DIR_TX];
	u32 kept = from ? lace_segment_same(from, to) : 0;

	if (active) {
		plan->unproved = active->closed & ~kept;
		plan->out = active->closed & kept;
	}
	plan->changed = (before | after) & ~kept;
	plan->from = before & ~kept;
	plan->to = after & ~kept;
}

static struct lace_transition_plan
make_plan(struct lace_device *lace,
	  const struct lace_transition_request *request)
{
	struct lace_transition_plan plan = {
		.from_given = lace_active_segment(lace),
		.on_failure = request->on_failure,
		.retries = request->retries,
		.no_drain = request->no_drain,
	};
	int i;

	for (i = 0; i <= LACE_PHASE_MAX; i++)
		plan.deadline[i] = MS * (request->deadline_ms[i] ?:
					 default_ms[i]);
	plan_lanes(lace, lace_active_segment(lace),
		   xa_load(&lace->segments, request->to), &plan);
	return plan;
}

static u32 without_port(struct lace_device *lace)
{
	struct lace_port *port;
	u32 ports = 0;
	int i;

	lace_for_each_port(lace, i, port)
		ports |= BIT(i);
	return ~ports;
}

/**
 * lace_transition_start() - go to another segment
 * @lace: the device
 * @request: what is asked for
 * @id: of the transition, filled
 * @extack: for words
 *
 * Goes on as far as it can at once.
 *
 * Return: 0, or -EBUSY: another one runs, -EALREADY: that segment is active,
 * -ENOENT: there is none, -ENETDOWN: the device is down, -EOPNOTSUPP: the lane
 * protocol is off; or why the segment cannot be active.
 */
int lace_transition_start(struct lace_device *lace,
			  const struct lace_transition_request *request,
			  u64 *id, struct netlink_ext_ack *extack)
{
	struct lace_transition *t = lace->transition;
	struct lace_transition_report *report;
	struct lace_transition_plan plan;
	int err;

	ASSERT_RTNL();

	err = check(lace, request->to, extack);
	if (!err)
		err = check_target(lace, xa_load(&lace->segments, request->to),
				   extack);
	if (err)
		return err;
	report = kzalloc(sizeof(*report), GFP_KERNEL_ACCOUNT);
	if (!report)
		return -ENOMEM;

	lace_hooks_begin(lace);
	plan = make_plan(lace, request);
	t->from = lace_active_segment(lace);
	t->to = xa_load(&lace->segments, request->to);
	t->gone = without_port(lace);
	lace_transition_core_start(&t->core, &plan, ktime_get_ns());
	lace_transition_begin_report(t, request, report);
	*id = report->id;
	begin(t);
	go_on(t);
	return 0;
}

/**
 * lace_transition_abort() - go back to the segment before
 * @lace: the device
 * @extack: for words
 *
 * Return: 0, -ENOENT: none runs, or -EALREADY: it goes back by itself, or has
 * come too far.
 */
int lace_transition_abort(struct lace_device *lace,
			  struct netlink_ext_ack *extack)
{
	struct lace_transition *t = lace->transition;

	ASSERT_RTNL();

	if (!lace_transition_is_on(t)) {
		NL_SET_ERR_MSG(extack, "device: no transition runs");
		return -ENOENT;
	}
	if (!lace_transition_core_can_abort(&t->core)) {
		NL_SET_ERR_MSG(extack,
			       "transition: is on its way back, or at its end");
		return -EALREADY;
	}
	lace_transition_blame_user(t);
	if (handle(t, LACE_TRANSITION_ABORT, 0, ktime_get_ns()))
		begin(t);
	go_on(t);
	return 0;
}

/* ---- for the rest of the module ---- */

bool lace_transition_runs(const struct lace_device *lace)
{
	return lace_transition_is_on(lace->transition);
}

/* Whether a transition that runs needs a segment. */
bool lace_transition_uses(const struct lace_device *lace,
			  const struct lace_segment *segment)
{
	const struct lace_transition *t = lace->transition;

	return segment == t->from || segment == t->to;
}

/* Whether a transition that runs needs a node. */
bool lace_transition_uses_node(const struct lace_device *lace, u16 id)
{
	const struct lace_transition *t = lace->transition;

	return (t->from && lace_segment_uses_node(t->from, id)) ||
	       (t->to && lace_segment_uses_node(t->to, id));
}

/* Whether both segments of a transition that runs can be active with the nodes as
 * they are now: 0, or why not.
 */
int lace_transition_check_nodes(struct lace_device *lace,
				struct netlink_ext_ack *extack)
{
	struct lace_segment *from = lace->transition->from;
	struct lace_segment *to = lace->transition->to;

	return (from ? check_nodes(lace, from, extack) : 0) ?:
	       (to ? check_nodes(lace, to, extack) : 0);
}

static u32 ports_of(const struct lace_segment *segment)
{
	return segment ? segment->ports[LACE_DIR_TX] |
			 segment->ports[LACE_DIR_RX] : 0;
}

/* Ports that a transition that runs needs. */
u32 lace_transition_ports(const struct lace_device *lace)
{
	return ports_of(lace->transition->from) | ports_of(lace->transition->to);
}

/* Another segment is about to be made active, at once: no lane stays closed. */
void lace_transition_forget(struct lace_device *lace)
{
	probe(lace->transition, 0);
}

/* A segment is about to go. */
void lace_transition_let_go(struct lace_device *lace,
			    const struct lace_segment *segment)
{
	if (lace_active_other(lace) == segment)
		let_other_go(lace);
}

void lace_transition_port_gone(struct lace_device *lace, u8 number)
{
	if (lace_transition_is_on(lace->transition))
		lace->transition->gone |= BIT(number);
	lace_transition_kick(lace);
}

/* A lane that was closed when its port went is still to be proved. */
void lace_transition_port_came(struct lace_port *port)
{
	const struct lace_active *active = rtnl_dereference(port->lace->active);

	if (active && active->closed & BIT(port->number) &&
	    !lace_transition_is_on(port->lace->transition))
		lace_probe_start(port, active->segment->id);
	lace_transition_kick(port->lace);	/* packets may wait for it */
}

/* ---- life ---- */

int lace_transition_init(struct lace_device *lace)
{
	struct lace_transition *t;

	t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	if (!t)
		return -ENOMEM;
	t->lace = lace;
	t->alert = true;
	spin_lock_init(&t->lock);
	INIT_WORK(&t->work, work);
	INIT_WORK(&t->grace, wait_for_grace);
	lace_compat_hrtimer(&t->timer, time_over);
	lace->transition = t;
	return 0;
}

/* The device goes.  The work item, if it is still to run, does nothing. */
void lace_transition_stop(struct lace_device *lace)
{
	struct lace_transition *t = lace->transition;

	WRITE_ONCE(t->alert, false);
	spin_lock_bh(&t->lock);
	t->dead = true;
	spin_unlock_bh(&t->lock);
	hrtimer_cancel(&t->timer);
	t->core.phase = LACE_PHASE_IDLE;
	t->from = NULL;
	t->to = NULL;
}

void lace_transition_destroy(struct lace_device *lace)
{
	struct lace_transition *t = lace->transition;
	int i;

	for (i = 0; i < LACE_TRANSITION_HISTORY; i++)
		kfree(t->reports[i]);
	kfree(t);
}
