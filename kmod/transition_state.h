/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What transition.c and transition_report.c share: the transition of a device.
 */
#ifndef LACE_TRANSITION_STATE_H
#define LACE_TRANSITION_STATE_H

#include <linux/hrtimer.h>
#include <linux/workqueue.h>

#include "lace.h"
#include "transition_core.h"

struct lace_transition {
	struct lace_device *lace;
	struct lace_transition_core core;
	struct lace_segment *from, *to;	/* NULL when it is over */
	u64 ids;			/* of the last one */
	struct lace_transition_report *report;	/* of the last one */
	struct lace_transition_report *reports[LACE_TRANSITION_HISTORY];
	int n_hooks;			/* that were called in this phase */
	u32 gone;			/* lanes whose ports have gone since */
	bool alert;			/* until the device goes */
	struct work_struct work;
	u64 begun;			/* grace periods, */
	u64 over;			/* and which of them is over */
	struct work_struct grace;

	spinlock_t lock;		/* of what follows, for the timer */
	struct hrtimer timer;
	bool dead;
	u8 prompts;			/* phase in which it repeats things */
	u32 pending;			/* for these lanes */
	u64 since;			/* ns; when the phase began */
	u64 until;			/* when to kick; 0: never */
};

static inline bool lace_transition_is_on(const struct lace_transition *t)
{
	return t->core.phase != LACE_PHASE_IDLE;
}

/* The segment that it goes to now; NULL: none. */
static inline struct lace_segment *
lace_transition_target(const struct lace_transition *t)
{
	return t->core.back ? t->from : t->to;
}

/* transition_report.c */

void lace_transition_begin_report(struct lace_transition *t,
				  const struct lace_transition_request *request,
				  struct lace_transition_report *report);
void lace_transition_update(struct lace_transition *t);
void lace_transition_blame_lane(struct lace_transition *t, enum lace_fault kind,
				u8 port, const struct lace_far *found);
void lace_transition_blame_hook(struct lace_transition *t,
				struct lace_fault_report *fault,
				const char *why);
void lace_transition_blame_user(struct lace_transition *t);

#endif /* LACE_TRANSITION_STATE_H */
