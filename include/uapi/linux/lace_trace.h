/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * Numbers in the tracepoints of the module that <linux/lace.h> does not name.
 */
#ifndef _UAPI_LINUX_LACE_TRACE_H
#define _UAPI_LINUX_LACE_TRACE_H

/* Why a packet, or a frame of the lane protocol, went no further: its name here
 * is that of the counter that it is in, where it is in one.
 */
#define LACE_DROP_REASONS(reason)					\
	/* counters of a lane */					\
	reason(DROPPED, dropped)	/* refused by the port */	\
	reason(UNEXPECTED, unexpected)					\
	reason(MISADDRESSED, misaddressed)				\
	reason(SPOOFED, spoofed)					\
	reason(HOP_LIMIT, hop_limit)					\
	reason(MALFORMED, malformed)					\
	reason(REFUSED, refused)					\
	reason(FORGED, forged)						\
	reason(REPLAYED, replayed)					\
	/* counters of a device */					\
	reason(TX_NO_NODE, tx_no_node)					\
	reason(TX_NO_LANE, tx_no_lane)					\
	reason(GATE_DROPPED, gate_dropped)				\
	/* in no counter of LACE's own */				\
	reason(NOT_IP, not_ip)		/* given to the device to send */ \
	reason(DEVICE_DOWN, device_down)	/* received meanwhile */ \
	reason(NO_MEMORY, no_memory)					\
	reason(NO_WAY_BACK, no_way_back)	/* for an answer, or a mark */

#define LACE_DROP_ENUM(upper, lower) LACE_DROP_##upper,

enum lace_drop_reason {
	LACE_DROP_REASONS(LACE_DROP_ENUM)
	__LACE_DROP_MAX
};

#define LACE_DROP_MAX (__LACE_DROP_MAX - 1)

#define LACE_TRACE_NONE (-1)	/* no port, no segment */

#endif /* _UAPI_LINUX_LACE_TRACE_H */
