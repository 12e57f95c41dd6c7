/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transitions as the netlink commands see them: what is asked for, and what is
 * reported.  All functions that take these need RTNL.
 */
#ifndef LACE_TRANSITION_H
#define LACE_TRANSITION_H

#include <linux/lace.h>

#define LACE_NO_PORT LACE_MAX_PORTS	/* number of no port */
#define LACE_MAX_FAULTS 16	/* of one transition that are kept */

struct lace_device;

/* 0 ms stands for the default of that phase. */
struct lace_transition_request {
	u32 to;
	u8 on_failure;		/* enum lace_on_failure */
	u8 retries;
	bool no_drain;
	u32 deadline_ms[LACE_PHASE_MAX + 1];
};

struct lace_fault_report {
	u8 kind;		/* enum lace_fault */
	u8 phase;
	u8 port;		/* LACE_NO_PORT: of no lane */
	u8 peer_port;		/* counts if there is a peer */
	u16 peer;		/* LACE_NO_NODE: the plan names none */
	u16 found;		/* LACE_NO_NODE: nobody was */
	u8 found_port;
	s32 error;		/* that a hook gave; 0: none */
	char hook[LACE_HOOK_NAME_MAX + 1];	/* "": of no hook */
};

struct lace_transition_report {
	u64 id;
	bool from_given;
	u32 from;
	struct lace_transition_request request;
	u8 phase;
	u8 result;		/* enum lace_result */
	u8 attempt;
	bool back;
	u64 begun_ns;		/* of CLOCK_REALTIME */
	u64 times_ns[LACE_PHASE_MAX + 1];
	u64 total_ns;
	u32 ports;
	u32 waiting;
	u8 n_faults;
	struct lace_fault_report faults[LACE_MAX_FAULTS];
	char reason[LACE_REASON_MAX + 1];	/* "": nothing failed */
};

#endif /* LACE_TRANSITION_H */
