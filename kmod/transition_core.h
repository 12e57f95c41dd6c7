/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state machine of a transition: which phase comes after what happened,
 * which lanes are closed meanwhile, and how it ends.  Knows no packets, locks
 * or clocks: it also compiles in user space, where it is tested and fuzzed.
 *
 * Lanes are TX lanes, as bits by port number.
 */
#ifndef LACE_TRANSITION_CORE_H
#define LACE_TRANSITION_CORE_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#include <linux/lace.h>

/* What happened. */
enum lace_transition_event {
	LACE_TRANSITION_HOOKS_DONE,	/* or there are none */
	LACE_TRANSITION_HOOKS_FAILED,
	LACE_TRANSITION_LANES_DONE,	/* in DRAIN empty, in SETTLE with
					 * carrier, in VERIFY proved
					 */
	LACE_TRANSITION_LANES_GONE,	/* their ports were taken away */
	LACE_TRANSITION_DEADLINE,	/* of the phase */
	LACE_TRANSITION_ABORT,
	LACE_TRANSITION_EVENTS
};

/* What does not change while it runs. */
struct lace_transition_plan {
	u32 changed;		/* lanes with another circuit than before, */
	u32 from;		/* of these, with one before, */
	u32 to;			/* and with one after */
	u32 unproved;		/* of from, those that were closed before */
	u32 out;		/* that stay, and are closed all the time */
	bool from_given;	/* there is a segment to go back to */
	u8 on_failure;		/* enum lace_on_failure */
	u8 retries;
	bool no_drain;
	u64 deadline[LACE_PHASE_MAX + 1];	/* ns, of each phase */
};

struct lace_transition_core {
	struct lace_transition_plan plan;
	u8 phase;		/* LACE_PHASE_IDLE: it is over, */
	u8 result;		/* and this came of it */
	u8 attempt;		/* from 1 on, each way */
	bool back;		/* on the way back */
	bool giving_up;		/* lanes that fail now stay closed */
	u32 waiting;		/* lanes that the phase still waits for */
	u32 failed;		/* lanes to stay closed */
	u32 gone;		/* lanes without a port */
	u64 begun;		/* ns; so are these: */
	u64 entered;		/* the phase */
	u64 deadline;		/* when the phase has to be over */
	u64 times[LACE_PHASE_MAX + 1];	/* in each phase, until entered */
	u64 total;		/* once it is over */
};

void lace_transition_core_start(struct lace_transition_core *core,
				const struct lace_transition_plan *plan,
				u64 now);
bool lace_transition_core_handle(struct lace_transition_core *core,
				 enum lace_transition_event event, u32 lanes,
				 u64 now);
bool lace_transition_core_can_abort(const struct lace_transition_core *core);
u32 lace_transition_core_lanes(const struct lace_transition_core *core);
u32 lace_transition_core_closed(const struct lace_transition_core *core);

#endif /* LACE_TRANSITION_CORE_H */
