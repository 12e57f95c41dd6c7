// SPDX-License-Identifier: GPL-2.0
/*
 * The state machine of a transition: what each event does in each phase, on the
 * way there and on the way back.
 */
#include "../../kmod/transition_core.c"

#include <stdio.h>

#include "tap.h"

#define MS 1000000ULL

/*
 * Lanes 0 and 1 have a circuit before and after, 2 only before, 3 only after;
 * lane 4 stays.  What happens, a letter each:
 *
 *	h, f	hooks are done, have failed
 *	l	all lanes that are waited for are done
 *	0..4	this lane is
 *	d	the deadline is over
 *	a	it is aborted
 *	A..E	the port of lane 0..4 is gone
 *
 * and the phase that it then is in: Q D S T(settle) V R, or . when it is over.
 */
#define FROM 0x7
#define TO 0xb
#define CHANGED 0xf

enum policy { ROLLBACK, DEGRADE };

struct row {
	const char *events;
	char phase;
	enum policy policy;
	u8 retries;
	bool back;
	u8 attempt;
	u32 closed;
	u8 result;
};

#define RUNNING LACE_RESULT_RUNNING
#define DONE LACE_RESULT_DONE
#define ROLLED LACE_RESULT_ROLLED_BACK
#define DEGRADED LACE_RESULT_DEGRADED

static const struct row rows[] = {
	/* The way there. */
	{ "", 'Q', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "h", 'D', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hl", 'S', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "h01", 'D', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "h012", 'S', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "h210", 'S', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "h0011", 'D', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hlh", 'T', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hlhl", 'V', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hlhl01", 'V', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hlhl013", 'R', ROLLBACK, 0, false, 1, 0, RUNNING },
	{ "hlhllh", '.', ROLLBACK, 0, false, 1, 0, DONE },
	/* QUIESCE: what is not its own, and what fails. */
	{ "l", 'Q', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "0", 'Q', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "f", 'R', ROLLBACK, 5, true, 1, 0, RUNNING },
	{ "fh", '.', ROLLBACK, 5, true, 1, 0, ROLLED },
	{ "d", 'R', DEGRADE, 5, true, 1, 0, RUNNING },
	{ "a", 'R', DEGRADE, 5, true, 1, 0, RUNNING },
	{ "C", 'Q', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "D", 'R', ROLLBACK, 0, true, 1, 0, RUNNING },
	{ "A", 'R', DEGRADE, 0, true, 1, 1, RUNNING },
	{ "Ah", '.', DEGRADE, 0, true, 1, 1, DEGRADED },
	{ "E", 'Q', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	/* DRAIN. */
	{ "hh", 'D', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hf", 'D', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "h3", 'D', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "h0d", 'R', ROLLBACK, 5, true, 1, 0, RUNNING },
	{ "h0dh", '.', DEGRADE, 5, true, 1, 0, ROLLED },
	{ "ha", 'R', DEGRADE, 0, true, 1, 0, RUNNING },
	{ "h01C", 'S', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hC01", 'S', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hC", 'D', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hD", 'R', DEGRADE, 0, true, 1, 0, RUNNING },
	{ "hE", 'D', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	/* SWITCH: again, back, or without. */
	{ "hll", 'S', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hlf", 'S', ROLLBACK, 0, true, 1, CHANGED, RUNNING },
	{ "hlf", 'S', ROLLBACK, 1, false, 2, CHANGED, RUNNING },
	{ "hld", 'S', ROLLBACK, 1, false, 2, CHANGED, RUNNING },
	{ "hlff", 'S', ROLLBACK, 1, true, 1, CHANGED, RUNNING },
	{ "hlfff", 'S', ROLLBACK, 1, true, 2, CHANGED, RUNNING },
	{ "hlffff", 'T', ROLLBACK, 1, true, 2, CHANGED, RUNNING },
	{ "hlf", 'T', DEGRADE, 0, false, 1, CHANGED, RUNNING },
	{ "hlfllh", '.', DEGRADE, 0, false, 1, 0, DONE },
	{ "hla", 'S', DEGRADE, 9, true, 1, CHANGED, RUNNING },
	{ "hlD", 'S', ROLLBACK, 9, true, 1, CHANGED, RUNNING },
	{ "hlD", 'S', DEGRADE, 9, false, 1, CHANGED, RUNNING },
	{ "hlC", 'S', ROLLBACK, 9, false, 1, CHANGED, RUNNING },
	{ "hlDhllh", '.', DEGRADE, 0, false, 1, 8, DEGRADED },
	/* SETTLE. */
	{ "hlhf", 'T', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hlh0d", 'S', ROLLBACK, 0, true, 1, CHANGED, RUNNING },
	{ "hlh0d", 'S', DEGRADE, 1, false, 2, CHANGED, RUNNING },
	{ "hlh0d", 'V', DEGRADE, 0, false, 1, CHANGED, RUNNING },
	{ "hlh0d0", 'R', DEGRADE, 0, false, 1, 0xa, RUNNING },
	{ "hlh0d0h", '.', DEGRADE, 0, false, 1, 0xa, DEGRADED },
	{ "hlha", 'S', DEGRADE, 1, true, 1, CHANGED, RUNNING },
	{ "hlhB", 'S', ROLLBACK, 0, true, 1, CHANGED, RUNNING },
	{ "hlh03B", 'V', DEGRADE, 0, false, 1, CHANGED, RUNNING },
	/* VERIFY. */
	{ "hlhlh", 'V', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hlhl2", 'V', ROLLBACK, 0, false, 1, CHANGED, RUNNING },
	{ "hlhl01d", 'S', ROLLBACK, 0, true, 1, CHANGED, RUNNING },
	{ "hlhl01d", 'S', ROLLBACK, 2, false, 2, CHANGED, RUNNING },
	{ "hlhl01dhl01", 'V', ROLLBACK, 2, false, 2, CHANGED, RUNNING },
	{ "hlhl01dhl013h", '.', ROLLBACK, 2, false, 2, 0, DONE },
	{ "hlhl01d", 'R', DEGRADE, 0, false, 1, 8, RUNNING },
	{ "hlhl01dh", '.', DEGRADE, 0, false, 1, 8, DEGRADED },
	{ "hlhla", 'S', DEGRADE, 1, true, 1, CHANGED, RUNNING },
	{ "hlhlD", 'S', ROLLBACK, 1, true, 1, CHANGED, RUNNING },
	{ "hlhl01D", 'R', DEGRADE, 0, false, 1, 8, RUNNING },
	/* The way back: SWITCH to VERIFY of what was before. */
	{ "hlhlahl", 'V', ROLLBACK, 0, true, 1, CHANGED, RUNNING },
	{ "hlhlahl012", 'R', ROLLBACK, 0, true, 1, 0, RUNNING },
	{ "hlhlahllh", '.', ROLLBACK, 0, true, 1, 0, ROLLED },
	{ "hlhlahl3", 'V', ROLLBACK, 0, true, 1, CHANGED, RUNNING },
	{ "hlhlahl01d", 'R', ROLLBACK, 0, true, 1, 4, RUNNING },
	{ "hlhlahl01dh", '.', ROLLBACK, 0, true, 1, 4, DEGRADED },
	{ "hlhlahl01d", 'S', ROLLBACK, 1, true, 2, CHANGED, RUNNING },
	{ "hlhlaa", 'S', ROLLBACK, 1, true, 1, CHANGED, RUNNING },
	{ "hlhladddh", '.', ROLLBACK, 0, true, 1, 7, DEGRADED },
	{ "hlhlaChllh", '.', ROLLBACK, 0, true, 1, 4, DEGRADED },
	/* RESUME: nothing undoes it. */
	{ "hlhlll", 'R', ROLLBACK, 0, false, 1, 0, RUNNING },
	{ "hlhlla", 'R', ROLLBACK, 0, false, 1, 0, RUNNING },
	{ "hlhllf", '.', ROLLBACK, 0, false, 1, 0, DONE },
	{ "hlhlld", '.', ROLLBACK, 0, false, 1, 0, DONE },
	{ "hlhllD", 'R', ROLLBACK, 0, false, 1, 8, RUNNING },
	{ "hlhllDh", '.', ROLLBACK, 0, false, 1, 8, DEGRADED },
	/* It is over. */
	{ "hlhllhhlfdaAB", '.', ROLLBACK, 0, false, 1, 0, DONE },
};

static struct lace_transition_core core;
static u64 now;

static struct lace_transition_plan plan_of(enum policy policy, u8 retries)
{
	struct lace_transition_plan plan = {
		.changed = CHANGED,
		.from = FROM,
		.to = TO,
		.from_given = true,
		.on_failure = policy == DEGRADE ? LACE_ON_FAILURE_DEGRADE :
						  LACE_ON_FAILURE_ROLLBACK,
		.retries = retries,
	};
	int phase;

	for (phase = 0; phase <= LACE_PHASE_MAX; phase++)
		plan.deadline[phase] = 100 * phase * MS;
	return plan;
}

static void start(const struct lace_transition_plan *plan)
{
	now = 1000 * MS;
	lace_transition_core_start(&core, plan, now);
}

static bool handle(enum lace_transition_event event, u32 lanes)
{
	now += MS;
	return lace_transition_core_handle(&core, event, lanes, now);
}

static void happen(char what)
{
	switch (what) {
	case 'h':
		handle(LACE_TRANSITION_HOOKS_DONE, 0);
		break;
	case 'f':
		handle(LACE_TRANSITION_HOOKS_FAILED, 0);
		break;
	case 'l':
		handle(LACE_TRANSITION_LANES_DONE, core.waiting);
		break;
	case 'd':
		handle(LACE_TRANSITION_DEADLINE, 0);
		break;
	case 'a':
		handle(LACE_TRANSITION_ABORT, 0);
		break;
	default:
		if (what >= 'A')
			handle(LACE_TRANSITION_LANES_GONE, 1U << (what - 'A'));
		else
			handle(LACE_TRANSITION_LANES_DONE, 1U << (what - '0'));
	}
}

static void play(const char *events)
{
	for (; *events; events++)
		happen(*events);
}

static void check_row(unsigned int i)
{
	static const char letters[] = ".QDSTVR";
	const struct row *row = &rows[i];
	struct lace_transition_plan plan = plan_of(row->policy, row->retries);
	u32 closed;

	start(&plan);
	play(row->events);
	closed = lace_transition_core_closed(&core);
	if (!tap_check(letters[core.phase] == row->phase &&
		       core.result == row->result && core.back == row->back &&
		       core.attempt == row->attempt && closed == row->closed,
		       "%u: \"%s\", %s, %u retries", i, row->events,
		       row->policy == DEGRADE ? "degrade" : "roll back",
		       row->retries))
		tap_note("%c, result %d, back %d, attempt %d, closed %#x",
			 letters[core.phase], core.result, core.back,
			 core.attempt, closed);
}

static void check_no_drain(void)
{
	struct lace_transition_plan plan = plan_of(ROLLBACK, 0);

	plan.no_drain = true;
	start(&plan);
	play("h");
	tap_check(core.phase == LACE_PHASE_SWITCH, "DRAIN is left out");
}

/* A lane that stays, and was closed before: it stays closed, and is not waited
 * for.
 */
static void check_out(void)
{
	struct lace_transition_plan plan = plan_of(ROLLBACK, 0);
	const char *event;
	bool closed = true;

	plan.out = 0x80;
	start(&plan);
	for (event = "hlhllh"; *event; event++) {
		closed &= lace_transition_core_closed(&core) & 0x80 &&
			  !(core.waiting & 0x80);
		happen(*event);
	}
	tap_check(closed && core.result == LACE_RESULT_DONE &&
		  lace_transition_core_closed(&core) == 0x80,
		  "what was closed and stays is closed all the time");
}

static void check_no_lanes(void)
{
	struct lace_transition_plan plan = plan_of(ROLLBACK, 0);
	bool begun = true;

	plan.changed = 0;
	plan.from = 0;
	plan.to = 0;
	start(&plan);
	play("h");
	begun &= core.phase == LACE_PHASE_DRAIN;
	play("l");
	begun &= core.phase == LACE_PHASE_SWITCH;
	play("h");
	begun &= core.phase == LACE_PHASE_SETTLE;
	play("ll");
	begun &= core.phase == LACE_PHASE_RESUME;
	tap_check(begun, "no lane changes: every phase all the same");
}

static void check_from_nothing(void)
{
	struct lace_transition_plan plan = plan_of(ROLLBACK, 0);

	plan.from = 0;
	plan.from_given = false;
	plan.changed = TO;
	start(&plan);
	play("hlhla");
	tap_check(core.phase == LACE_PHASE_SETTLE && core.back && !core.waiting,
		  "without a segment before, nothing is switched back");
	play("llh");
	tap_check(core.result == LACE_RESULT_ROLLED_BACK &&
		  !lace_transition_core_closed(&core),
		  "and none is active again");
}

static void check_unproved(void)
{
	struct lace_transition_plan plan = plan_of(ROLLBACK, 0);

	plan.unproved = 0x2;
	start(&plan);
	play("hdh");
	tap_check(core.result == LACE_RESULT_DEGRADED &&
		  lace_transition_core_closed(&core) == 0x2,
		  "a lane that was closed before is not opened by going back");
	start(&plan);
	play("hlhlahllh");
	tap_check(core.result == LACE_RESULT_ROLLED_BACK,
		  "unless it has been proved");
}

static void check_times(void)
{
	struct lace_transition_plan plan = plan_of(ROLLBACK, 1);
	u64 sum = 0;
	int phase;

	start(&plan);
	tap_check(core.deadline == now + 100 * MS, "deadline of QUIESCE");
	play("hl");
	tap_check(core.deadline == now + 300 * MS, "deadline of SWITCH");
	play("hdhl01");
	tap_check(core.deadline == now - 2 * MS + 500 * MS,
		  "a lane that is done does not move the deadline");
	play("3h");
	for (phase = 0; phase <= LACE_PHASE_MAX; phase++)
		sum += core.times[phase];
	tap_check(core.times[LACE_PHASE_QUIESCE] == MS &&
		  core.times[LACE_PHASE_SWITCH] == 2 * MS &&
		  core.times[LACE_PHASE_SETTLE] == 2 * MS &&
		  core.times[LACE_PHASE_VERIFY] == 3 * MS,
		  "times of phases, over both attempts");
	tap_check(sum == core.total && sum == 10 * MS, "they add up");
}

static void check_begun(void)
{
	struct lace_transition_plan plan = plan_of(ROLLBACK, 1);
	bool right = true;

	start(&plan);
	right &= !handle(LACE_TRANSITION_LANES_DONE, 1);
	right &= handle(LACE_TRANSITION_HOOKS_DONE, 0);
	right &= !handle(LACE_TRANSITION_LANES_DONE, 1);
	right &= handle(LACE_TRANSITION_LANES_DONE, 6);
	right &= handle(LACE_TRANSITION_HOOKS_FAILED, 0);	/* again */
	right &= handle(LACE_TRANSITION_HOOKS_FAILED, 0);	/* back */
	right &= handle(LACE_TRANSITION_HOOKS_FAILED, 0);	/* again */
	right &= handle(LACE_TRANSITION_HOOKS_FAILED, 0);	/* without */
	right &= core.phase == LACE_PHASE_SETTLE;
	tap_check(right, "every begin of a phase is told");
}

int main(void)
{
	const unsigned int n = sizeof(rows) / sizeof(*rows);
	unsigned int i;

	tap_plan(n + 13);
	for (i = 0; i < n; i++)
		check_row(i);
	check_no_drain();
	check_no_lanes();
	check_out();
	check_from_nothing();
	check_unproved();
	check_times();
	check_begun();
	return tap_end();
}
