/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of the module, group "lace".  Their first argument is the lace
 * device, the others are numbers, so that a BPF program on a raw tracepoint
 * needs no type of the module.  Documentation/tracing.rst describes each.
 *
 * Arguments that take work are made behind trace_lace_NAME_enabled(): while
 * nobody listens, that is one branch that is patched out.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lace

#if !defined(LACE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LACE_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>

#include <linux/lace.h>
#include <linux/lace_trace.h>

#define LACE_DROP_DEFINE(upper, lower) TRACE_DEFINE_ENUM(LACE_DROP_##upper);
LACE_DROP_REASONS(LACE_DROP_DEFINE)
TRACE_DEFINE_ENUM(LACE_LANE_STATE_UNVERIFIED);
TRACE_DEFINE_ENUM(LACE_LANE_STATE_UP);
TRACE_DEFINE_ENUM(LACE_LANE_STATE_DARK);
TRACE_DEFINE_ENUM(LACE_A_DEVSTAT_REORDER_FILLED);
TRACE_DEFINE_ENUM(LACE_A_DEVSTAT_REORDER_LOST);
TRACE_DEFINE_ENUM(LACE_A_DEVSTAT_REORDER_EXPIRED);
TRACE_DEFINE_ENUM(LACE_A_DEVSTAT_REORDER_OVERFLOW);
TRACE_DEFINE_ENUM(LACE_A_DEVSTAT_REORDER_FLUSHED);
TRACE_DEFINE_ENUM(LACE_PHASE_IDLE);
TRACE_DEFINE_ENUM(LACE_PHASE_QUIESCE);
TRACE_DEFINE_ENUM(LACE_PHASE_DRAIN);
TRACE_DEFINE_ENUM(LACE_PHASE_SWITCH);
TRACE_DEFINE_ENUM(LACE_PHASE_SETTLE);
TRACE_DEFINE_ENUM(LACE_PHASE_VERIFY);
TRACE_DEFINE_ENUM(LACE_PHASE_RESUME);
TRACE_DEFINE_ENUM(LACE_RESULT_DONE);
TRACE_DEFINE_ENUM(LACE_RESULT_ROLLED_BACK);
TRACE_DEFINE_ENUM(LACE_RESULT_DEGRADED);

#define LACE_DROP_NAME(upper, lower) { LACE_DROP_##upper, #lower },
#define show_reason(reason)						\
	__print_symbolic(reason, LACE_DROP_REASONS(LACE_DROP_NAME)	\
			 { -1, "" })

#define show_state(state)						\
	__print_symbolic(state,						\
			 { LACE_LANE_STATE_UNVERIFIED, "unverified" },	\
			 { LACE_LANE_STATE_UP, "up" },			\
			 { LACE_LANE_STATE_DARK, "dark" })

#define show_phase(phase)						\
	__print_symbolic(phase,						\
			 { LACE_PHASE_IDLE, "idle" },			\
			 { LACE_PHASE_QUIESCE, "quiesce" },		\
			 { LACE_PHASE_DRAIN, "drain" },			\
			 { LACE_PHASE_SWITCH, "switch" },		\
			 { LACE_PHASE_SETTLE, "settle" },		\
			 { LACE_PHASE_VERIFY, "verify" },		\
			 { LACE_PHASE_RESUME, "resume" })

#define show_dir(dir) ((dir) == LACE_DIR_TX ? "tx" : "rx")

/* What every event begins with. */
#define DEV_FIELDS							\
	__array(char, dev, IFNAMSIZ)					\
	__field(unsigned int, netns)
#define DEV_ASSIGN							\
	do {								\
		strscpy(__entry->dev, netdev->name, IFNAMSIZ);		\
		__entry->netns = dev_net(netdev)->ns.inum;		\
	} while (0)
#define DEV_FORMAT "dev=%s netns=%u "
#define DEV_ARGS __entry->dev, __entry->netns

/* Packets: a GSO packet is one, frames and bytes are as lanes count them. */
DECLARE_EVENT_CLASS(lace_packet,
	TP_PROTO(const struct net_device *netdev, u8 port, u16 peer,
		 u8 peer_port, u32 segment, u32 frames, u32 bytes, u32 mbps,
		 bool relay),
	TP_ARGS(netdev, port, peer, peer_port, segment, frames, bytes, mbps,
		relay),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(u8, port)
		__field(u16, peer)
		__field(u8, peer_port)
		__field(u32, segment)
		__field(u32, frames)
		__field(u32, bytes)
		__field(u32, mbps)
		__field(bool, relay)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->port = port;
		__entry->peer = peer;
		__entry->peer_port = peer_port;
		__entry->segment = segment;
		__entry->frames = frames;
		__entry->bytes = bytes;
		__entry->mbps = mbps;
		__entry->relay = relay;
	),
	TP_printk(DEV_FORMAT
		  "port=%u peer=%u peer_port=%u segment=%u frames=%u bytes=%u mbps=%u relay=%d",
		  DEV_ARGS, __entry->port, __entry->peer, __entry->peer_port,
		  __entry->segment, __entry->frames, __entry->bytes,
		  __entry->mbps, __entry->relay)
);

/* A port has taken it. */
DEFINE_EVENT(lace_packet, lace_send,
	TP_PROTO(const struct net_device *netdev, u8 port, u16 peer,
		 u8 peer_port, u32 segment, u32 frames, u32 bytes, u32 mbps,
		 bool relay),
	TP_ARGS(netdev, port, peer, peer_port, segment, frames, bytes, mbps,
		relay)
);

/* It was accepted from a lane. */
DEFINE_EVENT(lace_packet, lace_receive,
	TP_PROTO(const struct net_device *netdev, u8 port, u16 peer,
		 u8 peer_port, u32 segment, u32 frames, u32 bytes, u32 mbps,
		 bool relay),
	TP_ARGS(netdev, port, peer, peer_port, segment, frames, bytes, mbps,
		relay)
);

/* A packet that came in on port goes on to next. */
TRACE_EVENT(lace_relay,
	TP_PROTO(const struct net_device *netdev, u8 port, u16 from, u16 to,
		 u16 next, u32 bytes),
	TP_ARGS(netdev, port, from, to, next, bytes),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(u8, port)
		__field(u16, from)
		__field(u16, to)
		__field(u16, next)
		__field(u32, bytes)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->port = port;
		__entry->from = from;
		__entry->to = to;
		__entry->next = next;
		__entry->bytes = bytes;
	),
	TP_printk(DEV_FORMAT "port=%u from=%u to=%u next=%u bytes=%u",
		  DEV_ARGS, __entry->port, __entry->from, __entry->to,
		  __entry->next, __entry->bytes)
);

/* Port is LACE_TRACE_NONE where no lane has to do with it. */
TRACE_EVENT(lace_drop,
	TP_PROTO(const struct net_device *netdev, int port, u8 dir, u8 reason,
		 u32 packets),
	TP_ARGS(netdev, port, dir, reason, packets),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(int, port)
		__field(u8, dir)
		__field(u8, reason)
		__field(u32, packets)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->port = port;
		__entry->dir = dir;
		__entry->reason = reason;
		__entry->packets = packets;
	),
	TP_printk(DEV_FORMAT "port=%d dir=%s reason=%s packets=%u", DEV_ARGS,
		  __entry->port, show_dir(__entry->dir),
		  show_reason(__entry->reason), __entry->packets)
);

/* Peer is LACE_MAX_NODES for a lane that has no circuit any more. */
TRACE_EVENT(lace_lane_state,
	TP_PROTO(const struct net_device *netdev, u8 port, u8 dir, u16 peer,
		 u8 peer_port, u8 before, u8 state, u64 epoch),
	TP_ARGS(netdev, port, dir, peer, peer_port, before, state, epoch),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(u8, port)
		__field(u8, dir)
		__field(u16, peer)
		__field(u8, peer_port)
		__field(u8, before)
		__field(u8, state)
		__field(u64, epoch)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->port = port;
		__entry->dir = dir;
		__entry->peer = peer;
		__entry->peer_port = peer_port;
		__entry->before = before;
		__entry->state = state;
		__entry->epoch = epoch;
	),
	TP_printk(DEV_FORMAT
		  "port=%u dir=%s peer=%u peer_port=%u before=%s state=%s epoch=%llu",
		  DEV_ARGS, __entry->port, show_dir(__entry->dir),
		  __entry->peer, __entry->peer_port,
		  show_state(__entry->before), show_state(__entry->state),
		  __entry->epoch)
);

TRACE_EVENT(lace_mark,
	TP_PROTO(const struct net_device *netdev, u8 port, u16 peer,
		 u8 peer_port, u16 queue, u64 seq),
	TP_ARGS(netdev, port, peer, peer_port, queue, seq),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(u8, port)
		__field(u16, peer)
		__field(u8, peer_port)
		__field(u16, queue)
		__field(u64, seq)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->port = port;
		__entry->peer = peer;
		__entry->peer_port = peer_port;
		__entry->queue = queue;
		__entry->seq = seq;
	),
	TP_printk(DEV_FORMAT "port=%u peer=%u peer_port=%u queue=%u seq=%llu",
		  DEV_ARGS, __entry->port, __entry->peer, __entry->peer_port,
		  __entry->queue, __entry->seq)
);

/* An answer to a mark was taken; rtt_ns is of this one, less the time for which
 * the far end held it.
 */
TRACE_EVENT(lace_ack,
	TP_PROTO(const struct net_device *netdev, u8 port, u16 peer,
		 u8 peer_port, u64 seq, u64 rtt_ns),
	TP_ARGS(netdev, port, peer, peer_port, seq, rtt_ns),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(u8, port)
		__field(u16, peer)
		__field(u8, peer_port)
		__field(u64, seq)
		__field(u64, rtt_ns)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->port = port;
		__entry->peer = peer;
		__entry->peer_port = peer_port;
		__entry->seq = seq;
		__entry->rtt_ns = rtt_ns;
	),
	TP_printk(DEV_FORMAT "port=%u peer=%u peer_port=%u seq=%llu rtt_ns=%llu",
		  DEV_ARGS, __entry->port, __entry->peer, __entry->peer_port,
		  __entry->seq, __entry->rtt_ns)
);

/* A TCP segment waits; depth packets of its flow do now. */
TRACE_EVENT(lace_reorder_hold,
	TP_PROTO(const struct net_device *netdev, u8 port, u32 depth,
		 u32 bytes),
	TP_ARGS(netdev, port, depth, bytes),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(u8, port)
		__field(u32, depth)
		__field(u32, bytes)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->port = port;
		__entry->depth = depth;
		__entry->bytes = bytes;
	),
	TP_printk(DEV_FORMAT "port=%u depth=%u bytes=%u", DEV_ARGS,
		  __entry->port, __entry->depth, __entry->bytes)
);

/* Packets that waited are let go; depth of their flow wait on.  The counter is
 * the attribute LACE_A_DEVSTAT_REORDER_*.
 */
TRACE_EVENT(lace_reorder_release,
	TP_PROTO(const struct net_device *netdev, u8 counter, u32 packets,
		 u32 depth),
	TP_ARGS(netdev, counter, packets, depth),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(u8, counter)
		__field(u32, packets)
		__field(u32, depth)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->counter = counter;
		__entry->packets = packets;
		__entry->depth = depth;
	),
	TP_printk(DEV_FORMAT "reason=%s packets=%u depth=%u", DEV_ARGS,
		  __print_symbolic(__entry->counter,
			{ LACE_A_DEVSTAT_REORDER_FILLED, "filled" },
			{ LACE_A_DEVSTAT_REORDER_LOST, "lost" },
			{ LACE_A_DEVSTAT_REORDER_EXPIRED, "expired" },
			{ LACE_A_DEVSTAT_REORDER_OVERFLOW, "overflow" },
			{ LACE_A_DEVSTAT_REORDER_FLUSHED, "flushed" }),
		  __entry->packets, __entry->depth)
);

/* Another segment is active; LACE_TRACE_NONE stands for none. */
TRACE_EVENT(lace_segment,
	TP_PROTO(const struct net_device *netdev, s64 from, s64 to),
	TP_ARGS(netdev, from, to),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(s64, from)
		__field(s64, to)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk(DEV_FORMAT "from=%lld to=%lld", DEV_ARGS, __entry->from,
		  __entry->to)
);

/* Phases of a transition, by enum lace_transition_phase. */
TRACE_EVENT(lace_phase_begin,
	TP_PROTO(const struct net_device *netdev, u64 id, u8 phase, u8 attempt,
		 bool back),
	TP_ARGS(netdev, id, phase, attempt, back),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(u64, id)
		__field(u8, phase)
		__field(u8, attempt)
		__field(bool, back)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->id = id;
		__entry->phase = phase;
		__entry->attempt = attempt;
		__entry->back = back;
	),
	TP_printk(DEV_FORMAT "transition=%llu phase=%s attempt=%u back=%d",
		  DEV_ARGS, __entry->id, show_phase(__entry->phase),
		  __entry->attempt, __entry->back)
);

/* How long it took, this time. */
TRACE_EVENT(lace_phase_end,
	TP_PROTO(const struct net_device *netdev, u64 id, u8 phase, u64 ns),
	TP_ARGS(netdev, id, phase, ns),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(u64, id)
		__field(u8, phase)
		__field(u64, ns)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->id = id;
		__entry->phase = phase;
		__entry->ns = ns;
	),
	TP_printk(DEV_FORMAT "transition=%llu phase=%s ns=%llu", DEV_ARGS,
		  __entry->id, show_phase(__entry->phase), __entry->ns)
);

TRACE_EVENT(lace_transition_end,
	TP_PROTO(const struct net_device *netdev, u64 id, u8 result, u64 ns),
	TP_ARGS(netdev, id, result, ns),
	TP_STRUCT__entry(
		DEV_FIELDS
		__field(u64, id)
		__field(u8, result)
		__field(u64, ns)
	),
	TP_fast_assign(
		DEV_ASSIGN;
		__entry->id = id;
		__entry->result = result;
		__entry->ns = ns;
	),
	TP_printk(DEV_FORMAT "transition=%llu result=%s ns=%llu", DEV_ARGS,
		  __entry->id,
		  __print_symbolic(__entry->result,
			{ LACE_RESULT_DONE, "done" },
			{ LACE_RESULT_ROLLED_BACK, "rolled_back" },
			{ LACE_RESULT_DEGRADED, "degraded" }),
		  __entry->ns)
);

/* The device is on its way out. */
TRACE_EVENT(lace_device_gone,
	TP_PROTO(const struct net_device *netdev),
	TP_ARGS(netdev),
	TP_STRUCT__entry(
		DEV_FIELDS
	),
	TP_fast_assign(
		DEV_ASSIGN;
	),
	TP_printk("dev=%s netns=%u", DEV_ARGS)
);

#endif /* LACE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
