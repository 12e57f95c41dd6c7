// SPDX-License-Identifier: GPL-2.0
/*
 * What is reported of transitions: how they stand, what failed, in words too,
 * and the last of them.
 */
#include "lace.h"
#include "transition_state.h"

void lace_transition_update(struct lace_transition *t)
{
	struct lace_transition_report *report = t->report;
	const struct lace_transition_core *core = &t->core;

	report->phase = core->phase;
	report->result = core->result;
	report->attempt = core->attempt;
	report->back = core->back;
	report->waiting = core->waiting;
	memcpy(report->times_ns, core->times, sizeof(report->times_ns));
	report->total_ns = core->total;
	if (!lace_transition_is_on(t))
		return;
	report->total_ns = ktime_get_ns() - core->begun;
	report->times_ns[core->phase] += ktime_get_ns() - core->entered;
}

static void give_reason(struct lace_transition_report *report, u16 self,
			const struct lace_fault_report *fault)
{
	static const char * const words[] = {
		[LACE_FAULT_UNDRAINED] = "was not proved empty",
		[LACE_FAULT_NO_CARRIER] = "has no carrier",
		[LACE_FAULT_SILENT] = "answers no probe",
		[LACE_FAULT_PORT_GONE] = "has lost its port",
	};

	if (fault->kind == LACE_FAULT_WRONG_END)
		snprintf(report->reason, sizeof(report->reason),
			 "lane %u/%u reaches %u/%u, plan says %u/%u",
			 self, fault->port, fault->found,
			 fault->found_port, fault->peer, fault->peer_port);
	else if (fault->peer == LACE_NO_NODE)
		snprintf(report->reason, sizeof(report->reason),
			 "lane %u/%u %s", self, fault->port,
			 words[fault->kind]);
	else
		snprintf(report->reason, sizeof(report->reason),
			 "lane %u/%u to %u/%u %s", self, fault->port,
			 fault->peer, fault->peer_port, words[fault->kind]);
}

static void keep_fault(struct lace_transition *t,
		       const struct lace_fault_report *fault)
{
	struct lace_transition_report *report = t->report;

	if (report->n_faults < LACE_MAX_FAULTS)
		report->faults[report->n_faults++] = *fault;
}

void lace_transition_blame_lane(struct lace_transition *t, enum lace_fault kind,
				u8 port, const struct lace_far *found)
{
	const struct lace_segment *segment =
		t->core.phase < LACE_PHASE_SWITCH ? t->from :
						    lace_transition_target(t);
	struct lace_fault_report fault = {
		.kind = kind,
		.phase = t->core.phase,
		.port = port,
		.peer = LACE_NO_NODE,
		.found = LACE_NO_NODE,
	};

	if (segment && segment->ports[LACE_DIR_TX] & BIT(port)) {
		fault.peer = segment->circuits[LACE_DIR_TX][port].peer;
		fault.peer_port = segment->circuits[LACE_DIR_TX][port].peer_port;
	}
	if (found) {
		fault.found = found->node;
		fault.found_port = found->port;
	}
	if (!t->report->reason[0])
		give_reason(t->report, t->lace->self, &fault);
	keep_fault(t, &fault);
}

void lace_transition_blame_hook(struct lace_transition *t,
				struct lace_fault_report *fault,
				const char *why)
{
	fault->phase = t->core.phase;
	if (!t->report->reason[0])
		snprintf(t->report->reason, sizeof(t->report->reason),
			 "hook %s: %s", fault->hook, why);
	keep_fault(t, fault);
}

void lace_transition_blame_user(struct lace_transition *t)
{
	const struct lace_fault_report fault = {
		.kind = LACE_FAULT_ABORTED,
		.phase = t->core.phase,
		.port = LACE_NO_PORT,
		.peer = LACE_NO_NODE,
		.found = LACE_NO_NODE,
	};

	if (!t->report->reason[0])
		strscpy(t->report->reason, "aborted",
			sizeof(t->report->reason));
	keep_fault(t, &fault);
}

void lace_transition_begin_report(struct lace_transition *t,
				  const struct lace_transition_request *request,
				  struct lace_transition_report *report)
{
	u64 id = ++t->ids;
	int i;

	report->id = id;
	report->from_given = t->from;
	if (t->from)
		report->from = t->from->id;
	report->request = *request;
	for (i = 0; i <= LACE_PHASE_MAX; i++)
		report->request.deadline_ms[i] =
			div_u64(t->core.plan.deadline[i], NSEC_PER_MSEC);
	report->begun_ns = ktime_get_real_ns();
	report->ports = t->core.plan.changed;
	kfree(t->reports[id % LACE_TRANSITION_HISTORY]);
	t->reports[id % LACE_TRANSITION_HISTORY] = report;
	t->report = report;
}

/**
 * lace_transition_next() - what is known of a transition
 * @lace: the device
 * @id: the least number
 *
 * Return: the report with the smallest number from there on; NULL: there is
 * none.
 */
const struct lace_transition_report *
lace_transition_next(struct lace_device *lace, u64 id)
{
	struct lace_transition *t = lace->transition;
	u64 first = t->ids < LACE_TRANSITION_HISTORY ?
		    1 : t->ids - LACE_TRANSITION_HISTORY + 1;

	ASSERT_RTNL();

	id = max(id, first);
	if (id > t->ids)
		return NULL;
	if (id == t->ids)
		lace_transition_update(t);
	return t->reports[id % LACE_TRANSITION_HISTORY];
}
