/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * What a steering program is told of a packet and of the lanes offered for it.
 *
 * A steering program is a BPF_PROG_TYPE_SOCKET_FILTER program; what it returns
 * is the index of the lane that the packet takes.  enum lace_steer_cb of
 * <linux/lace.h> names the words that every program finds in __sk_buff.cb[].
 * Those are too few for the lanes.  A program that has a map
 *
 *	BPF_MAP_TYPE_PERCPU_ARRAY, one entry, called LACE_STEER_MAP,
 *	value struct lace_steer_context
 *
 * finds the rest there: the module fills entry 0 of the processor that the
 * program runs on, each time before it runs.  The map belongs to one program
 * of one device; what else writes to it misleads that program only.
 *
 * The layout only grows, at its end.  A program's value may be larger than what
 * the module knows (then version says which fields are filled), and a newer
 * module fills as much as there is room for; less than version 1 is refused.
 */
#ifndef _UAPI_LINUX_LACE_STEER_H
#define _UAPI_LINUX_LACE_STEER_H

#include <linux/types.h>

#define LACE_STEER_MAP		"lace_steer"
#define LACE_STEER_VERSION	1
#define LACE_STEER_MAX_LANES	32

/* lace_steer_context.flags */
enum lace_steer_flag {
	/* TCP and whole: lace puts it back in order if it overtakes. */
	LACE_STEER_TCP		= 1 << 0,
	/* Only acknowledges what came the other way: small, and waited for. */
	LACE_STEER_ACK		= 1 << 1,
	/* Opens a TCP connection, or ends one. */
	LACE_STEER_SYN		= 1 << 2,
	LACE_STEER_END		= 1 << 3,
	/* Of another node; this one sends it on. */
	LACE_STEER_RELAYED	= 1 << 4,
};

/* A lane offered. */
struct lace_steer_lane {
	__u32 port;	/* local port number */
	__u32 mbps;	/* rate that the port states, 0: not known */
	__u32 backlog;	/* bytes that wait on it, in queue and port */
	__u32 unused;	/* 0 */
	__u64 wait;	/* ns that the backlog takes, by mbps; if the rate of
			 * some lane offered is not known, backlog
			 */
	__u64 sent;	/* bytes put on it so far, less what it was left behind
			 * the others by more than 64 KiB
			 */
	__u64 epoch;	/* of the lane protocol: another one when the lane
			 * leads elsewhere; 0: there was none yet
			 */
};

struct lace_steer_context {
	__u32 version;	/* of what the module filled: LACE_STEER_VERSION */
	__u32 flags;	/* enum lace_steer_flag */
	__u32 lanes;	/* offered, at least 1, in ascending order of port */
	__u32 ports;	/* bit p: port p is offered */
	__u32 builtin;	/* index that the built-in policy would take */
	__u32 segment;	/* active segment */
	__u16 from;	/* node whose packet it is */
	__u16 to;	/* node that it is for */
	__u16 next;	/* node that the lanes lead to */
	__u16 unused;	/* 0 */
	__u32 hash;	/* of the flow */
	__u32 frames;	/* that it makes on the fibre */
	__u32 bytes;	/* of these frames, without preamble and FCS */
	struct lace_steer_lane lane[LACE_STEER_MAX_LANES];
};

#endif /* _UAPI_LINUX_LACE_STEER_H */
