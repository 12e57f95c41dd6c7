// SPDX-License-Identifier: GPL-2.0
/*
 * The state machine of a transition.
 *
 * DESIGN NOTES
 *
 * Whoever drives it does what a phase needs when the phase begins (transition.c
 * says what), and then tells what happens.  A phase is over when nobody is
 * waited for any more: the hooks in QUIESCE, SWITCH and RESUME, lanes in the
 * others.  Whatever happens, there is a deadline, so it ends.
 *
 * Until SWITCH nothing has changed: what fails is undone by opening the lanes.
 * From there on it is tried again, then the other way round, and then without
 * the lanes that could not be proved: those stay closed.  A lane is never
 * opened that was not proved since the switch last moved.
 */
#include "transition_core.h"

/* Of the segment that it goes to now, those that change. */
u32 lace_transition_core_lanes(const struct lace_transition_core *core)
{
	return core->back ? core->plan.from : core->plan.to;
}

/* Lanes that are not to carry data. */
u32 lace_transition_core_closed(const struct lace_transition_core *core)
{
	switch (core->phase) {
	case LACE_PHASE_IDLE:
	case LACE_PHASE_RESUME:
		return core->failed | core->plan.out;
	default:
		return core->plan.changed | core->plan.out;
	}
}

static void leave(struct lace_transition_core *core, u64 now)
{
	core->times[core->phase] += now - core->entered;
	core->entered = now;
}

static void finish(struct lace_transition_core *core, u64 now)
{
	leave(core, now);
	core->phase = LACE_PHASE_IDLE;
	core->waiting = 0;
	core->total = now - core->begun;
	if (core->failed)
		core->result = LACE_RESULT_DEGRADED;
	else
		core->result = core->back ? LACE_RESULT_ROLLED_BACK :
					    LACE_RESULT_DONE;
}

static u32 waits_for(const struct lace_transition_core *core, u8 phase)
{
	switch (phase) {
	case LACE_PHASE_DRAIN:
		return core->plan.from & ~core->gone;
	case LACE_PHASE_SETTLE:
		return lace_transition_core_lanes(core) & ~core->gone;
	case LACE_PHASE_VERIFY:
		return lace_transition_core_lanes(core) & ~core->gone &
		       ~core->failed;
	default:
		return 0;
	}
}

static void enter(struct lace_transition_core *core, u8 phase, u64 now)
{
	leave(core, now);
	if (phase == LACE_PHASE_SWITCH)
		core->failed = 0;
	if (phase == LACE_PHASE_RESUME)
		core->failed |= core->gone & lace_transition_core_lanes(core);
	core->phase = phase;
	core->waiting = waits_for(core, phase);
	core->deadline = now + core->plan.deadline[phase];
}

static void go_on(struct lace_transition_core *core, u64 now)
{
	switch (core->phase) {
	case LACE_PHASE_QUIESCE:
		enter(core, core->plan.no_drain ? LACE_PHASE_SWITCH :
						  LACE_PHASE_DRAIN, now);
		break;
	case LACE_PHASE_RESUME:
		finish(core, now);
		break;
	default:
		enter(core, core->phase + 1, now);
	}
}

/* The other way round.  Without a segment to go back to, there is nothing to
 * switch, and none is active again.
 */
static void turn_back(struct lace_transition_core *core, u64 now)
{
	core->back = true;
	core->giving_up = false;
	core->attempt = 1;
	core->failed = 0;
	enter(core, core->plan.from_given ? LACE_PHASE_SWITCH :
					    LACE_PHASE_SETTLE, now);
}

/* Go on without what the phase still waits for. */
static void give_up(struct lace_transition_core *core, u64 now)
{
	core->giving_up = true;
	core->failed |= core->waiting;
	go_on(core, now);
}

static void fail(struct lace_transition_core *core, bool again, bool turn,
		 u64 now)
{
	switch (core->phase) {
	case LACE_PHASE_QUIESCE:
	case LACE_PHASE_DRAIN:
		core->back = true;
		core->failed |= core->plan.unproved & core->plan.from;
		enter(core, LACE_PHASE_RESUME, now);
		return;
	case LACE_PHASE_RESUME:
		finish(core, now);
		return;
	}
	if (turn && !core->back) {
		turn_back(core, now);
	} else if (again && !core->giving_up &&
		   core->attempt <= core->plan.retries) {
		core->attempt++;
		enter(core, LACE_PHASE_SWITCH, now);
	} else if (!core->back && !core->giving_up &&
		   core->plan.on_failure == LACE_ON_FAILURE_ROLLBACK) {
		turn_back(core, now);
	} else {
		give_up(core, now);
	}
}

static void lose(struct lace_transition_core *core, u32 lanes, u64 now)
{
	u32 planned = core->phase < LACE_PHASE_SWITCH ?
		      core->plan.to : lace_transition_core_lanes(core);

	core->gone |= lanes;
	core->waiting &= ~lanes;
	if (core->phase == LACE_PHASE_RESUME)
		core->failed |= lanes & planned;
	if (core->back || core->giving_up || !(lanes & planned) ||
	    (core->phase >= LACE_PHASE_SWITCH &&
	     core->plan.on_failure != LACE_ON_FAILURE_ROLLBACK) ||
	    core->phase == LACE_PHASE_RESUME)
		return;
	/* The whole of the old segment may yet be had. */
	fail(core, false, true, now);
}

/* Whether the phase waits for lanes, and not for hooks. */
static bool is_of_lanes(u8 phase)
{
	return phase == LACE_PHASE_DRAIN || phase == LACE_PHASE_SETTLE ||
	       phase == LACE_PHASE_VERIFY;
}

static void go_on_if_done(struct lace_transition_core *core, u64 now)
{
	if (is_of_lanes(core->phase) && !core->waiting)
		go_on(core, now);
}

/**
 * lace_transition_core_can_abort() - whether there is something to go back from
 * @core: the transition
 *
 * Return: false if it is on its way back, or has come too far.
 */
bool lace_transition_core_can_abort(const struct lace_transition_core *core)
{
	return !core->back && core->phase != LACE_PHASE_IDLE &&
	       core->phase != LACE_PHASE_RESUME;
}

/**
 * lace_transition_core_handle() - something has happened
 * @core: the transition
 * @event: what; one that means nothing in this phase changes nothing
 * @lanes: of LANES_DONE and LANES_GONE.  No lanes will do, to go on from a
 * phase of lanes that waits for none
 * @now: ns, of a clock that only goes forward
 *
 * Return: true if a phase has begun, maybe the same once more; or it is over.
 */
bool lace_transition_core_handle(struct lace_transition_core *core,
				 enum lace_transition_event event, u32 lanes,
				 u64 now)
{
	u8 phase = core->phase;
	u8 attempt = core->attempt;
	bool back = core->back;

	if (phase == LACE_PHASE_IDLE)
		return false;
	switch (event) {
	case LACE_TRANSITION_HOOKS_DONE:
		if (!is_of_lanes(phase))
			go_on(core, now);
		break;
	case LACE_TRANSITION_HOOKS_FAILED:
		if (!is_of_lanes(phase))
			fail(core, true, false, now);
		break;
	case LACE_TRANSITION_LANES_DONE:
		core->waiting &= ~lanes;
		go_on_if_done(core, now);
		break;
	case LACE_TRANSITION_LANES_GONE:
		lose(core, lanes, now);
		if (core->phase == phase)
			go_on_if_done(core, now);
		break;
	case LACE_TRANSITION_DEADLINE:
		fail(core, true, false, now);
		break;
	case LACE_TRANSITION_ABORT:
		if (lace_transition_core_can_abort(core))
			fail(core, false, true, now);
		break;
	case LACE_TRANSITION_EVENTS:
		break;
	}
	return core->phase != phase || core->attempt != attempt ||
	       core->back != back;
}

/**
 * lace_transition_core_start() - begin
 * @core: filled: QUIESCE has begun
 * @plan: what is asked for
 * @now: ns, of a clock that only goes forward
 */
void lace_transition_core_start(struct lace_transition_core *core,
				const struct lace_transition_plan *plan,
				u64 now)
{
	memset(core, 0, sizeof(*core));
	core->plan = *plan;
	core->begun = now;
	core->entered = now;
	core->attempt = 1;
	core->result = LACE_RESULT_RUNNING;
	enter(core, LACE_PHASE_QUIESCE, now);
}
