/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * The generic netlink family "lace" and the steering context: everything
 * user space and the module agree on.  Documentation/netlink/specs/lace.yaml
 * describes each attribute; selftests check that the two say the same.
 *
 * Terms: a port is a network device enslaved to a lace device; it has a
 * number, its index in the plan.  A lane is one direction of a port.
 */
#ifndef _UAPI_LINUX_LACE_H
#define _UAPI_LINUX_LACE_H

#include <linux/types.h>

#define LACE_GENL_NAME "lace"
#define LACE_GENL_VERSION 1
#define LACE_GENL_MCGRP_MONITOR "monitor"	/* changes of objects */
#define LACE_GENL_MCGRP_TRANSITION "transition"
#define LACE_GENL_MCGRP_HOOK "hook"

#define LACE_MAX_PORTS 32	/* ports of one node, numbered from 0 */
#define LACE_MAX_NODES 65535	/* node numbers are below this */
#define LACE_MAX_PREFIXES 1024	/* of one node */
#define LACE_MAX_ROUTES 4096	/* of one segment, at one node */
#define LACE_MAX_ALTERNATES 31	/* of one pair of nodes */
#define LACE_MAX_REORDER_USECS 1000000
#define LACE_MIN_ACK_MSECS 10	/* interval of the lane protocol, or 0 */
#define LACE_MAX_ACK_MSECS 60000
#define LACE_DEFAULT_ACK_MSECS 100
#define LACE_DEFAULT_REORDER_USECS 50000

/* Commands.  GET answers one object, or all of them as a dump.  A dump takes
 * LACE_A_*_IFINDEX or _IFNAME to restrict it to one device.  Every change is
 * announced on the "monitor" group by the *_NTF command of its object; of a
 * segment with its number and whether it is active only.  An object is never
 * split over messages: one may be of up to 200 KiB.
 */
enum lace_cmd {
	LACE_CMD_UNSPEC,
	LACE_CMD_DEV_GET,
	LACE_CMD_DEV_SET,	/* node number, steering program */
	LACE_CMD_DEV_NTF,
	LACE_CMD_PORT_SET,	/* number of an enslaved port */
	LACE_CMD_NODE_GET,
	LACE_CMD_NODE_SET,	/* create or replace a node as a whole */
	LACE_CMD_NODE_DEL,
	LACE_CMD_NODE_NTF,
	LACE_CMD_NODE_DEL_NTF,
	LACE_CMD_LANE_GET,	/* lanes with circuit and counters */
	LACE_CMD_LANE_NTF,
	LACE_CMD_SEGMENT_GET,
	LACE_CMD_SEGMENT_SET,	/* load, or replace one that is not active */
	LACE_CMD_SEGMENT_DEL,
	LACE_CMD_SEGMENT_ACTIVATE,	/* without LACE_A_SEGMENT_ID: none */
	LACE_CMD_SEGMENT_NTF,
	LACE_CMD_SEGMENT_DEL_NTF,
	LACE_CMD_TRANSITION_GET,	/* of a device: the last one by itself;
					 * as a dump, with those before it
					 */
	LACE_CMD_TRANSITION_START,	/* answers with TRANSITION_ID */
	LACE_CMD_TRANSITION_ABORT,	/* go back to the old segment */
	LACE_CMD_TRANSITION_NTF,	/* a phase begins, or it is over */
	LACE_CMD_HOOK_GET,
	LACE_CMD_HOOK_SET,	/* the sending socket becomes a hook, for as
				 * long as it is open
				 */
	LACE_CMD_HOOK_DEL,
	LACE_CMD_HOOK_NTF,	/* a hook came or changed */
	LACE_CMD_HOOK_DEL_NTF,
	LACE_CMD_HOOK_CALL_NTF,	/* to the hook, and to the group: act now */
	LACE_CMD_HOOK_DONE,	/* the hook's answer to it */
	__LACE_CMD_MAX
};

/* Attributes of a device. */
enum lace_attr_dev {
	LACE_A_DEV_UNSPEC,
	LACE_A_DEV_IFINDEX,	/* u32; either of these two names the device */
	LACE_A_DEV_IFNAME,	/* string */
	LACE_A_DEV_NODE,	/* u16, number of the node that this host is */
	LACE_A_DEV_SEGMENT,	/* u32, the active segment; absent if none */
	LACE_A_DEV_STEER_FD,	/* s32, set only: BPF_PROG_TYPE_SOCKET_FILTER
				 * program, -1 for the built-in policy
				 */
	LACE_A_DEV_STEER_PROG_ID,	/* u32, get only; absent: built-in */
	LACE_A_DEV_PORT,	/* nest, get only, one for each port */
	LACE_A_DEV_STATS,	/* nest of LACE_A_DEVSTAT_*, get only */
	LACE_A_DEV_PAD,
	LACE_A_DEV_REORDER_USECS,	/* u32, longest time that a TCP segment
					 * waits for those before it; 0: none
					 * does
					 */
	LACE_A_DEV_ACK_MSECS,	/* u32, interval of the lane protocol; 0: off */
	LACE_A_DEV_ACK_KEY,	/* 0 or 16 bytes, set only: key of the lane
				 * protocol; of no bytes: none
				 */
	LACE_A_DEV_ACK_KEYED,	/* flag, get only: there is a key */
	LACE_A_DEV_CLOSED,	/* u32, get only, bit p: the TX lane of port p
				 * carries no data until it is proved
				 */
	__LACE_A_DEV_MAX
};

#define LACE_A_DEV_MAX (__LACE_A_DEV_MAX - 1)

/* Attributes of a port: inside LACE_A_DEV_PORT, and of LACE_CMD_PORT_SET. */
enum lace_attr_port {
	LACE_A_PORT_UNSPEC,
	LACE_A_PORT_IFINDEX,	/* u32, the enslaved device */
	LACE_A_PORT_IFNAME,	/* string */
	LACE_A_PORT_NUMBER,	/* u8, below LACE_MAX_PORTS; by default the
				 * lowest free one at the time of enslaving
				 */
	__LACE_A_PORT_MAX
};

#define LACE_A_PORT_MAX (__LACE_A_PORT_MAX - 1)

/* What a device counts that belongs to no lane.  All u64, packets.  Of a flow
 * that comes in over several lanes, those of REORDER_HELD that wait no more are
 * the sum of _FILLED, _LOST, _EXPIRED, _OVERFLOW and _FLUSHED.
 */
enum lace_attr_devstat {
	LACE_A_DEVSTAT_UNSPEC,
	LACE_A_DEVSTAT_PAD,
	LACE_A_DEVSTAT_TX_NO_NODE,	/* address of no known node */
	LACE_A_DEVSTAT_TX_NO_LANE,	/* no lane and no route to the node */
	LACE_A_DEVSTAT_STEER_BAD,	/* program answered out of range */
	LACE_A_DEVSTAT_REORDER_IN_ORDER,	/* were the next ones */
	LACE_A_DEVSTAT_REORDER_HELD,	/* came before others before them */
	LACE_A_DEVSTAT_REORDER_FILLED,	/* what they waited for came */
	LACE_A_DEVSTAT_REORDER_LOST,	/* it had got lost on its lane */
	LACE_A_DEVSTAT_REORDER_EXPIRED,	/* it did not come in time */
	LACE_A_DEVSTAT_REORDER_OVERFLOW,	/* too many waited */
	LACE_A_DEVSTAT_REORDER_FLUSHED,	/* connection or plan changed */
	LACE_A_DEVSTAT_REORDER_LATE,	/* came when their time was over */
	LACE_A_DEVSTAT_REORDER_DEPTH,	/* most that waited of one flow */
	LACE_A_DEVSTAT_GATE_HELD,	/* waited for a lane to be proved */
	LACE_A_DEVSTAT_GATE_PASSED,	/* of these, went on */
	LACE_A_DEVSTAT_GATE_DROPPED,	/* of these, or instead: too many, no
					 * lane in the new segment, or the
					 * device went down
					 */
	__LACE_A_DEVSTAT_MAX
};

#define LACE_A_DEVSTAT_MAX (__LACE_A_DEVSTAT_MAX - 1)

/* Attributes of a node. */
enum lace_attr_node {
	LACE_A_NODE_UNSPEC,
	LACE_A_NODE_IFINDEX,	/* u32, lace device */
	LACE_A_NODE_IFNAME,	/* string, lace device */
	LACE_A_NODE_ID,		/* u16 */
	LACE_A_NODE_PREFIX,	/* nest of LACE_A_PREFIX_*, repeated */
	LACE_A_NODE_PORT,	/* nest of LACE_A_NODEPORT_*, repeated */
	__LACE_A_NODE_MAX
};

#define LACE_A_NODE_MAX (__LACE_A_NODE_MAX - 1)

enum lace_attr_prefix {
	LACE_A_PREFIX_UNSPEC,
	LACE_A_PREFIX_FAMILY,	/* u16, AF_INET or AF_INET6 */
	LACE_A_PREFIX_ADDRESS,	/* 4 or 16 bytes, network byte order */
	LACE_A_PREFIX_LENGTH,	/* u8; host bits must be zero */
	__LACE_A_PREFIX_MAX
};

#define LACE_A_PREFIX_MAX (__LACE_A_PREFIX_MAX - 1)

enum lace_attr_nodeport {
	LACE_A_NODEPORT_UNSPEC,
	LACE_A_NODEPORT_NUMBER,	/* u8 */
	LACE_A_NODEPORT_MAC,	/* 6 bytes, unicast */
	__LACE_A_NODEPORT_MAX
};

#define LACE_A_NODEPORT_MAX (__LACE_A_NODEPORT_MAX - 1)

/* Direction of a lane, seen from its own host. */
enum lace_dir {
	LACE_DIR_TX,
	LACE_DIR_RX,
};

/* Whether there is word from the far end of a lane, by the lane protocol. */
enum lace_lane_state {
	LACE_LANE_STATE_UNVERIFIED,	/* never since the circuit is there */
	LACE_LANE_STATE_UP,
	LACE_LANE_STATE_DARK,	/* not for three intervals, or no carrier */
};

/* Attributes of a lane: one direction of a local port, with the far end of
 * its circuit in the active segment (absent if it has none).
 */
enum lace_attr_lane {
	LACE_A_LANE_UNSPEC,
	LACE_A_LANE_IFINDEX,	/* u32, lace device */
	LACE_A_LANE_IFNAME,	/* string, lace device */
	LACE_A_LANE_PORT,	/* u8, local port number */
	LACE_A_LANE_PORT_IFINDEX,	/* u32, local port's device; absent
					 * in the notification of its end
					 */
	LACE_A_LANE_DIR,	/* u8, enum lace_dir */
	LACE_A_LANE_PEER,	/* u16, node at the far end */
	LACE_A_LANE_PEER_PORT,	/* u8, its port */
	LACE_A_LANE_STATS,	/* nest of LACE_A_LANESTAT_* */
	LACE_A_LANE_PAD,
	LACE_A_LANE_STATE,	/* u8, enum lace_lane_state */
	LACE_A_LANE_SILENCE_MS,	/* u64, since there was word; absent: never */
	LACE_A_LANE_RTT_NS,	/* u64, TX; absent if not known */
	LACE_A_LANE_EPOCH,	/* u64, of the sender; absent if not known */
	LACE_A_LANE_DRAINED,	/* flag, TX: nothing is under way */
	LACE_A_LANE_CLOSED,	/* flag, TX: carries no data until it is proved */
	__LACE_A_LANE_MAX
};

#define LACE_A_LANE_MAX (__LACE_A_LANE_MAX - 1)

/* Counters of a lane, all u64.  Bytes are frame bytes as on the fibre less
 * preamble and FCS, headers of each segment of a GSO packet counted.  They
 * belong to the port and live as long as it is enslaved.  Frames of the lane
 * protocol are in none but those of their own, from LACE_A_LANESTAT_MARKS on.
 */
enum lace_attr_lanestat {
	LACE_A_LANESTAT_UNSPEC,
	LACE_A_LANESTAT_PAD,
	LACE_A_LANESTAT_PACKETS,	/* TX: sent; RX: accepted */
	LACE_A_LANESTAT_BYTES,
	LACE_A_LANESTAT_RELAY_PACKETS,	/* of these, TX: for another host;
					 * RX: to be relayed on
					 */
	LACE_A_LANESTAT_RELAY_BYTES,
	LACE_A_LANESTAT_DROPPED,	/* TX: refused by the port, port down */
	LACE_A_LANESTAT_UNEXPECTED,	/* RX: sender or port is not the one
					 * that the plan says, or no circuit
					 */
	LACE_A_LANESTAT_MISADDRESSED,	/* RX: for no node that a route of the
					 * plan takes through here
					 */
	LACE_A_LANESTAT_SPOOFED,	/* RX: source address is not of a node
					 * whose traffic comes in here
					 */
	LACE_A_LANESTAT_HOP_LIMIT,	/* RX: to be relayed, hop limit spent */
	LACE_A_LANESTAT_MALFORMED,	/* RX: not a sound IP packet */
	LACE_A_LANESTAT_DELIVERED,	/* TX: packets that arrived */
	LACE_A_LANESTAT_DELIVERED_BYTES,
	LACE_A_LANESTAT_LOST,	/* TX: packets that did not */
	LACE_A_LANESTAT_LOST_BYTES,
	LACE_A_LANESTAT_MARKS,	/* TX: marks sent; RX: accepted */
	LACE_A_LANESTAT_ACKS,	/* TX: answers to them accepted; RX: sent */
	LACE_A_LANESTAT_REFUSED,	/* RX: lane protocol, not sound or not
					 * from or for whom the plan says
					 */
	LACE_A_LANESTAT_FORGED,	/* RX: lane protocol, tag wrong or missing */
	LACE_A_LANESTAT_REPLAYED,	/* RX: lane protocol, of an epoch gone
					 * by, twice, or answers nothing
					 */
	LACE_A_LANESTAT_CONTROL_PACKETS,	/* of PACKETS, not relayed: only
						 * acknowledge what a TCP
						 * connection got
						 */
	LACE_A_LANESTAT_CONTROL_BYTES,
	__LACE_A_LANESTAT_MAX
};

#define LACE_A_LANESTAT_MAX (__LACE_A_LANESTAT_MAX - 1)

/* Attributes of a segment: one node's part of one segment of a plan. */
enum lace_attr_segment {
	LACE_A_SEGMENT_UNSPEC,
	LACE_A_SEGMENT_IFINDEX,	/* u32, lace device */
	LACE_A_SEGMENT_IFNAME,	/* string, lace device */
	LACE_A_SEGMENT_ID,	/* u32, index of the segment in its plan */
	LACE_A_SEGMENT_ACTIVE,	/* flag, get only */
	LACE_A_SEGMENT_CIRCUIT,	/* nest of LACE_A_CIRCUIT_*, repeated */
	LACE_A_SEGMENT_ROUTE,	/* nest of LACE_A_ROUTE_*, repeated */
	__LACE_A_SEGMENT_MAX
};

#define LACE_A_SEGMENT_MAX (__LACE_A_SEGMENT_MAX - 1)

/* One end of a circuit at a local port. */
enum lace_attr_circuit {
	LACE_A_CIRCUIT_UNSPEC,
	LACE_A_CIRCUIT_PORT,	/* u8, local port number */
	LACE_A_CIRCUIT_DIR,	/* u8, enum lace_dir */
	LACE_A_CIRCUIT_PEER,	/* u16, node at the far end */
	LACE_A_CIRCUIT_PEER_PORT,	/* u8, its port */
	__LACE_A_CIRCUIT_MAX
};

#define LACE_A_CIRCUIT_MAX (__LACE_A_CIRCUIT_MAX - 1)

/* One step of a relayed path FROM -> ... -> PREV -> here -> NEXT -> ... -> TO.
 * At FROM there is no PREV, at TO no NEXT.  A packet of the pair (FROM, TO) is
 * accepted only on a lane from PREV and sent only on lanes to NEXT.  A pair that
 * has a circuit or a route may have more routes, for when that fails: the
 * first one that works is taken.
 */
enum lace_attr_route {
	LACE_A_ROUTE_UNSPEC,
	LACE_A_ROUTE_FROM,	/* u16 */
	LACE_A_ROUTE_TO,	/* u16 */
	LACE_A_ROUTE_PREV,	/* u16 */
	LACE_A_ROUTE_NEXT,	/* u16 */
	LACE_A_ROUTE_ALTERNATE,	/* flag: for when those before it fail */
	LACE_A_ROUTE_BROKEN,	/* flag, get only, at FROM, of a pair with
				 * alternates: does not work
				 */
	__LACE_A_ROUTE_MAX
};

#define LACE_A_ROUTE_MAX (__LACE_A_ROUTE_MAX - 1)

/*
 * Transitions: from the active segment to another one while traffic flows.
 * Only lanes whose circuit is another one stop.  They are closed for data,
 * proved empty, switched by the hooks, proved to lead where the new segment
 * says, and opened.  Each phase has a deadline.
 */
enum lace_transition_phase {
	LACE_PHASE_IDLE,	/* no transition */
	LACE_PHASE_QUIESCE,	/* lanes that change take no new data */
	LACE_PHASE_DRAIN,	/* until all that was sent on them is answered */
	LACE_PHASE_SWITCH,	/* hooks move the switch */
	LACE_PHASE_SETTLE,	/* until the ports have carrier */
	LACE_PHASE_VERIFY,	/* until probes prove each new lane */
	LACE_PHASE_RESUME,	/* hooks are told; data flows */
	__LACE_PHASE_MAX
};

#define LACE_PHASE_MAX (__LACE_PHASE_MAX - 1)

enum lace_result {
	LACE_RESULT_RUNNING,
	LACE_RESULT_DONE,	/* in the new segment, all lanes that change */
	LACE_RESULT_ROLLED_BACK,	/* in the old one, all lanes, or in none */
	LACE_RESULT_DEGRADED,	/* lanes that failed stay closed; LACE_A_DEV_
				 * SEGMENT says in which segment
				 */
};

enum lace_on_failure {
	LACE_ON_FAILURE_ROLLBACK,	/* and degrade where that fails, too */
	LACE_ON_FAILURE_DEGRADE,	/* go on without the lanes that failed */
};

/* Attributes of a transition. */
enum lace_attr_transition {
	LACE_A_TRANSITION_UNSPEC,
	LACE_A_TRANSITION_IFINDEX,	/* u32, lace device */
	LACE_A_TRANSITION_IFNAME,	/* string, lace device */
	LACE_A_TRANSITION_ID,	/* u64, from 1 on, of the device */
	LACE_A_TRANSITION_PAD,
	LACE_A_TRANSITION_FROM,	/* u32, segment; absent: none was active */
	LACE_A_TRANSITION_TO,	/* u32, segment; asked for in START */
	LACE_A_TRANSITION_ON_FAILURE,	/* u8, enum lace_on_failure */
	LACE_A_TRANSITION_RETRIES,	/* u8, of SWITCH to VERIFY, each way */
	LACE_A_TRANSITION_NO_DRAIN,	/* flag: what is under way may be lost */
	LACE_A_TRANSITION_DEADLINES,	/* nest of LACE_A_DEADLINE_* */
	LACE_A_TRANSITION_PHASE,	/* u8, enum lace_transition_phase; get only, as
					 * all from here on
					 */
	LACE_A_TRANSITION_RESULT,	/* u8, enum lace_result */
	LACE_A_TRANSITION_ATTEMPT,	/* u8, from 1 on */
	LACE_A_TRANSITION_BACK,	/* flag: on the way back to FROM */
	LACE_A_TRANSITION_TIMES,	/* nest of LACE_A_TIME_* */
	LACE_A_TRANSITION_TOTAL_NS,	/* u64, since it began, until its end */
	LACE_A_TRANSITION_PORTS,	/* u32, bit p: TX lane of p changes */
	LACE_A_TRANSITION_WAITING,	/* u32, of these, not yet done in the
					 * phase
					 */
	LACE_A_TRANSITION_FAULT,	/* nest of LACE_A_FAULT_*, repeated */
	LACE_A_TRANSITION_REASON,	/* string: the first failure in words */
	LACE_A_TRANSITION_BEGUN_NS,	/* u64, of CLOCK_REALTIME, when it began */
	__LACE_A_TRANSITION_MAX
};

#define LACE_A_TRANSITION_MAX (__LACE_A_TRANSITION_MAX - 1)

/* Deadlines of the phases, numbered as enum lace_transition_phase.  In a
 * request, one that is absent is the default of its phase.
 */
enum lace_attr_deadline {
	LACE_A_DEADLINE_UNSPEC,
	LACE_A_DEADLINE_QUIESCE,	/* u32, ms, 1 to LACE_MAX_PHASE_MSECS */
	LACE_A_DEADLINE_DRAIN,	/* u32, as are all that follow */
	LACE_A_DEADLINE_SWITCH,	/* u32 */
	LACE_A_DEADLINE_SETTLE,	/* u32 */
	LACE_A_DEADLINE_VERIFY,	/* u32 */
	LACE_A_DEADLINE_RESUME,	/* u32 */
	__LACE_A_DEADLINE_MAX
};

#define LACE_A_DEADLINE_MAX (__LACE_A_DEADLINE_MAX - 1)

/* Time spent in the phases, numbered as enum lace_transition_phase.  All u64,
 * ns, over all attempts and both ways.
 */
enum lace_attr_time {
	LACE_A_TIME_UNSPEC,
	LACE_A_TIME_QUIESCE,
	LACE_A_TIME_DRAIN,
	LACE_A_TIME_SWITCH,
	LACE_A_TIME_SETTLE,
	LACE_A_TIME_VERIFY,
	LACE_A_TIME_RESUME,
	LACE_A_TIME_PAD,
	__LACE_A_TIME_MAX
};

#define LACE_A_TIME_MAX (__LACE_A_TIME_MAX - 1)

enum lace_fault {
	LACE_FAULT_UNDRAINED,	/* what was sent was not answered in time */
	LACE_FAULT_HOOK,	/* a hook failed, was late or died */
	LACE_FAULT_NO_CARRIER,
	LACE_FAULT_SILENT,	/* no answer to any probe */
	LACE_FAULT_WRONG_END,	/* the lane ends elsewhere: FOUND_* */
	LACE_FAULT_ABORTED,	/* by command */
	LACE_FAULT_PORT_GONE,	/* the port was taken from the device */
};

/* What failed, in which phase, of which lane (of none for a hook). */
enum lace_attr_fault {
	LACE_A_FAULT_UNSPEC,
	LACE_A_FAULT_KIND,	/* u8, enum lace_fault */
	LACE_A_FAULT_PHASE,	/* u8, enum lace_transition_phase */
	LACE_A_FAULT_PORT,	/* u8, local port of the TX lane */
	LACE_A_FAULT_PEER,	/* u16, node where the plan says that it ends */
	LACE_A_FAULT_PEER_PORT,	/* u8 */
	LACE_A_FAULT_FOUND,	/* u16, node where it ends */
	LACE_A_FAULT_FOUND_PORT,	/* u8 */
	LACE_A_FAULT_HOOK,	/* string, name of the hook */
	LACE_A_FAULT_ERROR,	/* s32, errno that the hook gave */
	__LACE_A_FAULT_MAX
};

#define LACE_A_FAULT_MAX (__LACE_A_FAULT_MAX - 1)

#define LACE_MAX_PHASE_MSECS 600000
#define LACE_MAX_RETRIES 16
#define LACE_TRANSITION_HISTORY 64	/* transitions that a device remembers */

/*
 * Hooks: processes that take part in transitions.  A hook is a socket; it is
 * gone when the socket is closed.  A phase with hooks ends when all of them
 * have said that they are done.
 */
enum lace_attr_hook {
	LACE_A_HOOK_UNSPEC,
	LACE_A_HOOK_IFINDEX,	/* u32, lace device */
	LACE_A_HOOK_IFNAME,	/* string, lace device */
	LACE_A_HOOK_NAME,	/* string, unique on the device */
	LACE_A_HOOK_PHASES,	/* u32, bit f: is called in phase f: QUIESCE,
				 * SWITCH or RESUME
				 */
	LACE_A_HOOK_PORTID,	/* u32, get only: of its socket */
	LACE_A_HOOK_PHASE,	/* u8, in CALL_NTF and DONE */
	LACE_A_HOOK_TRANSITION,	/* u64, its ID; in CALL_NTF and DONE */
	LACE_A_HOOK_PAD,
	LACE_A_HOOK_CALL,	/* u32, number of the call; DONE repeats it */
	LACE_A_HOOK_FROM,	/* u32, in CALL_NTF: segment; absent: none */
	LACE_A_HOOK_TO,		/* u32, in CALL_NTF: segment to bring about,
				 * on the way back the old one; absent: none
				 */
	LACE_A_HOOK_DEADLINE_MS,	/* u32, in CALL_NTF */
	LACE_A_HOOK_ERROR,	/* u32, in DONE, and of the last call: 0, or a
				 * positive errno
				 */
	LACE_A_HOOK_REASON,	/* string, in DONE, and of the last call: what
				 * went wrong
				 */
	LACE_A_HOOK_BUSY,	/* flag, get only: has been called, has not
				 * answered
				 */
	__LACE_A_HOOK_MAX
};

#define LACE_A_HOOK_MAX (__LACE_A_HOOK_MAX - 1)

#define LACE_MAX_HOOKS 32	/* of one device */
#define LACE_HOOK_NAME_MAX 31	/* bytes of a hook's name */
#define LACE_REASON_MAX 127	/* bytes of a reason */

/*
 * Steering.  The module runs the program of LACE_A_DEV_STEER_FD for each
 * packet (a GSO packet is one packet) that has a lane to its next hop, also
 * where that is the only one, so that a program sees all traffic; it takes the
 * program's return value as the index of the lane offered.
 * Lanes are offered in ascending order of port number.  The packet begins at
 * its IP header, and its flow hash is computed (__sk_buff.hash).  Context
 * words are readable as __sk_buff.cb[].
 */
enum lace_steer_cb {
	LACE_STEER_LANES,	/* how many lanes are offered, at least 1 */
	LACE_STEER_PORTS,	/* bit p: port p is offered */
	LACE_STEER_NEXT,	/* node number of the next hop */
	LACE_STEER_BUILTIN,	/* index that the built-in policy would take */
	LACE_STEER_SEGMENT,	/* active segment */
};

#endif /* _UAPI_LINUX_LACE_H */
