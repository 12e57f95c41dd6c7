/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The maps of the trace programs, for those who read them.  They are pinned as
 * LACE_PIN_ROOT/TRACE_FOLDER/NAME, and so outlive who made them: whoever changes
 * a structure or a map raises TRACE_LAYOUT, and the folder's name with it.
 *
 * A device is a network namespace (the inode of /run/netns/NAME) and an ifindex
 * in it.  Times are of CLOCK_MONOTONIC.
 */
#ifndef LACE_EBPF_TRACE_H
#define LACE_EBPF_TRACE_H

#include <linux/lace.h>
#include <linux/lace_trace.h>
#include <linux/types.h>

#define TRACE_LAYOUT 1U
#define TRACE_FOLDER "v1"

enum trace_dir {
	TRACE_TX = LACE_DIR_TX,
	TRACE_RX = LACE_DIR_RX,
};

/* lace_layout, one entry: written once, before anything is pinned. */
struct trace_layout {
	__u32 layout;		/* TRACE_LAYOUT */
	__u32 events_per_cpu;	/* a power of two */
	__u64 since_ns;
};

/* lace_devices: those that are traced. */
struct trace_device_key {
	__u32 netns;
	__u32 ifindex;
};

struct trace_device {
	__u64 since_ns;
	char name[16];		/* then */
};

/* lace_rates: line rate of a port, of both its lanes. */
struct trace_rate_key {
	__u32 netns;
	__u32 ifindex;
	__u32 port;
};

struct trace_rate {
	__u64 bits_per_s;
	__u64 overhead;		/* bytes that a frame takes beside its own */
};

/* lace_lane_usage: what a lane carried to, or from, a peer in a segment. */
struct trace_usage_key {
	__u32 netns;
	__u32 ifindex;
	__u32 port;
	enum trace_dir dir;
	__u32 peer;		/* node at the far end */
	__u32 segment;
};

/* Frames as lanes count them: each segment of a GSO packet is one. */
struct trace_usage {
	__u64 packets;
	__u64 bytes;
	__u64 busy_ns;		/* that they take at the line rate; 0 if that is
				 * not known
				 */
	__u64 last_ns;
};

/* lace_hist */
enum trace_hist_kind {
	TRACE_ACK_LATENCY_NS,
	TRACE_REORDER_DEPTH,
	TRACE_QUIESCE_NS,
	TRACE_DRAIN_NS,
	TRACE_SWITCH_NS,
	TRACE_SETTLE_NS,
	TRACE_VERIFY_NS,
	TRACE_RESUME_NS,
	TRACE_TRANSITION_NS,
	TRACE_HISTS
};

struct trace_hist_key {
	__u32 netns;
	__u32 ifindex;
	enum trace_hist_kind kind;
};

#define TRACE_SLOTS 48

struct trace_hist {
	__u64 count;
	__u64 sum;
	__u64 slots[TRACE_SLOTS];	/* 0: zeros; i: from 2^(i - 1) on, below
					 * 2^i; the last: all above, too
					 */
};

/* lace_drops */
struct trace_drop_key {
	__u32 netns;
	__u32 ifindex;
	__s32 port;		/* LACE_TRACE_NONE: of no lane */
	enum trace_dir dir;
	enum lace_drop_reason reason;
};

struct trace_drop {
	__u64 packets;
	__u64 last_ns;
};

/* lace_events: what happened last, a ring for each processor: number n of
 * processor c is entry c * events_per_cpu + n % events_per_cpu.  lace_heads: how
 * many each has had.
 */
enum trace_event_kind {
	TRACE_NOTHING,
	TRACE_SEND,		/* value: segment, frames, bytes, busy_ns */
	TRACE_RECEIVE,		/* the same */
	TRACE_DROP,		/* value: reason, packets */
	TRACE_LANE_STATE,	/* value: before, state, epoch */
	TRACE_MARK,		/* value: queue, seq */
	TRACE_ACK,		/* value: rtt_ns, seq */
	TRACE_HOLD,		/* value: depth, bytes */
	TRACE_RELEASE,		/* value: LACE_A_DEVSTAT_*, packets, depth */
	TRACE_SEGMENT,		/* value: from, to; or LACE_TRACE_NONE */
	TRACE_PHASE_BEGIN,	/* value: transition, phase, attempt, back */
	TRACE_PHASE_END,	/* value: transition, phase, ns */
	TRACE_TRANSITION_END,	/* value: transition, result, ns */
	TRACE_DEVICE_GONE,
};

struct trace_event {
	__u64 number;		/* n + 1; written last */
	__u64 time_ns;
	__u32 netns;
	__u32 ifindex;
	__u16 kind;		/* enum trace_event_kind */
	__u8 port;		/* 255: of none */
	__u8 dir;
	__u16 peer;
	__u8 peer_port;
	__u8 relay;
	__s64 value[4];
};

struct trace_head {
	__u64 events;
};

#endif /* LACE_EBPF_TRACE_H */
