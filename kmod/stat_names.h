/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the counters, the same wherever people read them: ethtool -S has them
 * from the module, lacectl prints them for netlink's numbers.
 */
#ifndef LACE_STAT_NAMES_H
#define LACE_STAT_NAMES_H

#include <linux/lace.h>

static const char * const lace_dev_stat_names[LACE_A_DEVSTAT_MAX + 1] = {
	[LACE_A_DEVSTAT_TX_NO_NODE] = "tx_no_node",
	[LACE_A_DEVSTAT_TX_NO_LANE] = "tx_no_lane",
	[LACE_A_DEVSTAT_STEER_BAD] = "steer_bad",
	[LACE_A_DEVSTAT_REORDER_IN_ORDER] = "reorder_in_order",
	[LACE_A_DEVSTAT_REORDER_HELD] = "reorder_held",
	[LACE_A_DEVSTAT_REORDER_FILLED] = "reorder_filled",
	[LACE_A_DEVSTAT_REORDER_LOST] = "reorder_lost",
	[LACE_A_DEVSTAT_REORDER_EXPIRED] = "reorder_expired",
	[LACE_A_DEVSTAT_REORDER_OVERFLOW] = "reorder_overflow",
	[LACE_A_DEVSTAT_REORDER_FLUSHED] = "reorder_flushed",
	[LACE_A_DEVSTAT_REORDER_LATE] = "reorder_late",
	[LACE_A_DEVSTAT_REORDER_DEPTH] = "reorder_depth",
	[LACE_A_DEVSTAT_GATE_HELD] = "gate_held",
	[LACE_A_DEVSTAT_GATE_PASSED] = "gate_passed",
	[LACE_A_DEVSTAT_GATE_DROPPED] = "gate_dropped",
};

static const char * const lace_lane_stat_names[LACE_A_LANESTAT_MAX + 1] = {
	[LACE_A_LANESTAT_PACKETS] = "packets",
	[LACE_A_LANESTAT_BYTES] = "bytes",
	[LACE_A_LANESTAT_RELAY_PACKETS] = "relay_packets",
	[LACE_A_LANESTAT_RELAY_BYTES] = "relay_bytes",
	[LACE_A_LANESTAT_DROPPED] = "dropped",
	[LACE_A_LANESTAT_UNEXPECTED] = "unexpected",
	[LACE_A_LANESTAT_MISADDRESSED] = "misaddressed",
	[LACE_A_LANESTAT_SPOOFED] = "spoofed",
	[LACE_A_LANESTAT_HOP_LIMIT] = "hop_limit",
	[LACE_A_LANESTAT_MALFORMED] = "malformed",
	[LACE_A_LANESTAT_DELIVERED] = "delivered",
	[LACE_A_LANESTAT_DELIVERED_BYTES] = "delivered_bytes",
	[LACE_A_LANESTAT_LOST] = "lost",
	[LACE_A_LANESTAT_LOST_BYTES] = "lost_bytes",
	[LACE_A_LANESTAT_MARKS] = "marks",
	[LACE_A_LANESTAT_ACKS] = "acks",
	[LACE_A_LANESTAT_REFUSED] = "refused",
	[LACE_A_LANESTAT_FORGED] = "forged",
	[LACE_A_LANESTAT_REPLAYED] = "replayed",
	[LACE_A_LANESTAT_CONTROL_PACKETS] = "control_packets",
	[LACE_A_LANESTAT_CONTROL_BYTES] = "control_bytes",
};

#endif /* LACE_STAT_NAMES_H */
