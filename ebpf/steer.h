/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The maps of the steering programs, for those who read them.  A steering
 * program of somebody else's may have a map lane_usage with this key and value
 * too, and "lacectl steer show -s" will print it.
 */
#ifndef LACE_EBPF_STEER_H
#define LACE_EBPF_STEER_H

#include <linux/lace.h>
#include <linux/types.h>

/* What is chosen before a program is loaded: its only read-only data. */
struct steer_options {
	__u32 weight[LACE_MAX_PORTS];	/* weighted: share of each local port */
	__u64 gap_ns;			/* flowlet: a pause that long is a gap */
};

/* lane_usage: one entry for each lane that a peer's packets were sent to. */
struct lane_usage_key {
	__u32 peer;	/* node number of the next hop */
	__u32 port;	/* local port number */
};

/* Frames as on the fibre: each segment of a GSO packet is one, Ethernet header
 * counted, preamble and FCS not.
 */
struct lane_usage {
	__u64 packets;
	__u64 bytes;
	__u64 last_ns;	/* CLOCK_MONOTONIC */
};

#endif /* LACE_EBPF_STEER_H */
