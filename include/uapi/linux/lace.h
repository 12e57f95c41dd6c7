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
#define LACE_GENL_MCGRP_MONITOR "monitor"

#define LACE_MAX_PORTS 32	/* ports of one node, numbered from 0 */
#define LACE_MAX_NODES 65535	/* node numbers are below this */
#define LACE_MAX_PREFIXES 1024	/* of one node */
#define LACE_MAX_ROUTES 4096	/* of one segment, at one node */
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
 * accepted only on a lane from PREV and sent only on lanes to NEXT.
 */
enum lace_attr_route {
	LACE_A_ROUTE_UNSPEC,
	LACE_A_ROUTE_FROM,	/* u16 */
	LACE_A_ROUTE_TO,	/* u16 */
	LACE_A_ROUTE_PREV,	/* u16 */
	LACE_A_ROUTE_NEXT,	/* u16 */
	__LACE_A_ROUTE_MAX
};
#define LACE_A_ROUTE_MAX (__LACE_A_ROUTE_MAX - 1)

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
