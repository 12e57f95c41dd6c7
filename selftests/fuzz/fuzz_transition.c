// SPDX-License-Identifier: GPL-2.0
/*
 * A transition to which the input does what it likes. Whatever that is, it
 * ends; no lane opens that was not proved since the switch last moved; and its
 * result is what the lanes say.
 */
#include "../../kmod/transition_core.c"

#include <stdlib.h>

struct world {
	struct lace_transition_core core;
	u32 proved;		/* since SWITCH or SETTLE last began */
	bool switched;		/* there was a SWITCH */
	u64 now;
};

static void claim(bool what)
{
	if (!what)
		abort();
}

static void check_open(const struct world *w)
{
	const struct lace_transition_core *core = &w->core;
	u32 lanes = lace_transition_core_lanes(core);
	u32 open = core->plan.changed & ~lace_transition_core_closed(core);

	if (core->phase == LACE_PHASE_RESUME || core->phase == LACE_PHASE_IDLE)
		claim(!(open & lanes & (w->switched ? ~w->proved :
						      core->plan.unproved)));
	else
		claim(!open);
}

static void check_result(const struct world *w)
{
	const struct lace_transition_core *core = &w->core;
	u64 sum = 0;
	int i;

	if (core->phase != LACE_PHASE_IDLE) {
		claim(core->result == LACE_RESULT_RUNNING);
		claim(!(core->waiting & core->gone));
		return;
	}
	for (i = 0; i <= LACE_PHASE_MAX; i++)
		sum += core->times[i];
	claim(sum == core->total && sum == w->now - core->begun);
	claim((core->result == LACE_RESULT_DEGRADED) == !!core->failed);
	claim(core->result != LACE_RESULT_DONE || !core->back);
	claim(core->result != LACE_RESULT_ROLLED_BACK || core->back);
	claim(!(core->failed & ~lace_transition_core_lanes(core)));
}

static void happen(struct world *w, enum lace_transition_event event, u32 lanes)
{
	struct lace_transition_core *core = &w->core;
	u32 waiting = core->waiting;
	u8 phase = core->phase;

	if (phase == LACE_PHASE_IDLE)
		return;
	w->now++;
	if (event == LACE_TRANSITION_LANES_DONE && phase == LACE_PHASE_VERIFY)
		w->proved |= lanes & waiting;
	if (lace_transition_core_handle(core, event, lanes, w->now) &&
	    (core->phase == LACE_PHASE_SWITCH ||
	     core->phase == LACE_PHASE_SETTLE)) {
		w->proved = 0;
		w->switched = true;
	}
	check_open(w);
	check_result(w);
}

static struct lace_transition_plan read_plan(const uint8_t *data)
{
	struct lace_transition_plan plan = {
		.from_given = data[0] & 1,
		.on_failure = data[0] & 2 ? LACE_ON_FAILURE_DEGRADE :
					    LACE_ON_FAILURE_ROLLBACK,
		.no_drain = data[0] & 4,
		.retries = data[0] >> 4,
		.to = data[2],
		.changed = data[1] | data[2],
	};

	if (plan.from_given) {
		plan.from = data[1];
		plan.unproved = data[1] & data[3];
	} else {
		plan.changed = data[2];
	}
	return plan;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lace_transition_plan plan;
	struct world w = {};
	size_t i;
	int left;

	if (size < 4)
		return 0;
	plan = read_plan(data);
	lace_transition_core_start(&w.core, &plan, 0);
	for (i = 4; i + 1 < size; i += 2)
		happen(&w, data[i] % LACE_TRANSITION_EVENTS, data[i + 1]);
	/* Deadlines alone end it: each attempt has three phases, each way. */
	left = 2 * 3 * (plan.retries + 1) + 4;
	while (w.core.phase != LACE_PHASE_IDLE) {
		claim(left-- > 0);
		happen(&w, LACE_TRANSITION_DEADLINE, 0);
	}
	return 0;
}
