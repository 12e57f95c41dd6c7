// SPDX-License-Identifier: GPL-2.0
/*
 * Trace programs: each hangs on a tracepoint of the module, adds up what it says
 * of the devices that are traced, and keeps what happened last.
 *
 * They are on raw tracepoints, whose arguments are numbers, so that they need
 * no types of the module; those of a network device are the kernel's own.
 */
#include <linux/bpf.h>
#include <linux/lace.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "trace.h"

#define MAX_DEVICES 4096
#define MAX_LANES 16384
#define WIRE_OVERHEAD 24	/* preamble, FCS and gap */

/* What of the kernel's own structures is read here. */
struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct net {
	struct ns_common ns;
} __attribute__((preserve_access_index));

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	int ifindex;
	possible_net_t nd_net;
} __attribute__((preserve_access_index));

/* A power of two; set before loading. */
const volatile __u32 events_per_cpu = 1;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_layout);
} lace_layout SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_DEVICES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct trace_device_key);
	__type(value, struct trace_device);
} lace_devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_LANES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct trace_rate_key);
	__type(value, struct trace_rate);
} lace_rates SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4 * MAX_LANES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct trace_usage_key);
	__type(value, struct trace_usage);
} lace_lane_usage SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_DEVICES * TRACE_HISTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct trace_hist_key);
	__type(value, struct trace_hist);
} lace_hist SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4 * MAX_LANES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct trace_drop_key);
	__type(value, struct trace_drop);
} lace_drops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_event);
} lace_events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_head);
} lace_heads SEC(".maps");

/* A new histogram is too large for the stack. */
static const struct trace_hist empty;

/* ---- which device ---- */

/* False if it is not traced. */
static __always_inline bool find(struct bpf_raw_tracepoint_args *ctx,
				 struct trace_device_key *device)
{
	const struct net_device *dev = (const void *)ctx->args[0];

	device->netns = BPF_CORE_READ(dev, nd_net.net, ns.inum);
	device->ifindex = BPF_CORE_READ(dev, ifindex);
	return bpf_map_lookup_elem(&lace_devices, device);
}

/* ---- what happened last ---- */

static __always_inline struct trace_event *
begin(const struct trace_device_key *device, enum trace_event_kind kind,
      __u64 *number)
{
	struct trace_event *event;
	struct trace_head *head;
	__u32 key = 0;

	head = bpf_map_lookup_elem(&lace_heads, &key);
	if (!head)
		return NULL;
	*number = __sync_fetch_and_add(&head->events, 1);
	key = bpf_get_smp_processor_id() * events_per_cpu +
	      (*number & (events_per_cpu - 1));
	event = bpf_map_lookup_elem(&lace_events, &key);
	if (!event)
		return NULL;
	event->number = 0;
	barrier();
	event->time_ns = bpf_ktime_get_ns();
	event->netns = device->netns;
	event->ifindex = device->ifindex;
	event->kind = kind;
	event->port = 255;
	event->dir = TRACE_TX;
	event->peer = 0;
	event->peer_port = 0;
	event->relay = 0;
	event->value[0] = 0;
	event->value[1] = 0;
	event->value[2] = 0;
	event->value[3] = 0;
	return event;
}

static __always_inline void end(struct trace_event *event, __u64 number)
{
	barrier();
	event->number = number + 1;
}

/* An event of no lane. */
static __always_inline void keep(const struct trace_device_key *device,
				 enum trace_event_kind kind, __s64 a, __s64 b,
				 __s64 c, __s64 d)
{
	struct trace_event *event;
	__u64 number;

	event = begin(device, kind, &number);
	if (!event)
		return;
	event->value[0] = a;
	event->value[1] = b;
	event->value[2] = c;
	event->value[3] = d;
	end(event, number);
}

/* ---- histograms ---- */

/* Number of bits that it takes to write it. */
static __always_inline __u32 width(__u64 value)
{
	__u32 bits = 0, step;

	for (step = 32; step; step >>= 1) {
		if (!(value >> step))
			continue;
		value >>= step;
		bits += step;
	}
	return bits + (value ? 1 : 0);
}

static __always_inline void add(const struct trace_device_key *device,
				enum trace_hist_kind kind, __u64 value)
{
	struct trace_hist_key key = {
		.netns = device->netns,
		.ifindex = device->ifindex,
		.kind = kind,
	};
	__u32 slot = width(value);
	struct trace_hist *hist;

	hist = bpf_map_lookup_elem(&lace_hist, &key);
	if (!hist) {
		bpf_map_update_elem(&lace_hist, &key, &empty, BPF_NOEXIST);
		hist = bpf_map_lookup_elem(&lace_hist, &key);
		if (!hist)
			return;
	}
	if (slot >= TRACE_SLOTS)
		slot = TRACE_SLOTS - 1;
	__sync_fetch_and_add(&hist->count, 1);
	__sync_fetch_and_add(&hist->sum, value);
	__sync_fetch_and_add(&hist->slots[slot], 1);
}

/* ---- packets ---- */

struct packet {
	struct trace_device_key device;
	__u8 port;
	enum trace_dir dir;
	__u16 peer;
	__u8 peer_port;
	__u32 segment;
	__u32 frames;
	__u32 bytes;
	__u32 mbps;
	__u8 relay;
};

static __always_inline __u64 busy(const struct packet *packet)
{
	struct trace_rate_key key = {
		.netns = packet->device.netns,
		.ifindex = packet->device.ifindex,
		.port = packet->port,
	};
	const struct trace_rate *rate;
	__u64 bits;

	rate = bpf_map_lookup_elem(&lace_rates, &key);
	if (rate && rate->bits_per_s) {
		bits = 8 * (packet->bytes + packet->frames * rate->overhead);
		return bits * 1000000000 / rate->bits_per_s;
	}
	if (!packet->mbps)
		return 0;
	bits = 8 * (packet->bytes + (__u64)packet->frames * WIRE_OVERHEAD);
	return bits * 1000 / packet->mbps;
}

static __always_inline void count(const struct packet *packet, __u64 busy_ns)
{
	struct trace_usage_key key = {
		.netns = packet->device.netns,
		.ifindex = packet->device.ifindex,
		.port = packet->port,
		.dir = packet->dir,
		.peer = packet->peer,
		.segment = packet->segment,
	};
	struct trace_usage *usage, fresh = {};

	usage = bpf_map_lookup_elem(&lace_lane_usage, &key);
	if (!usage) {
		bpf_map_update_elem(&lace_lane_usage, &key, &fresh, BPF_NOEXIST);
		usage = bpf_map_lookup_elem(&lace_lane_usage, &key);
		if (!usage)
			return;
	}
	__sync_fetch_and_add(&usage->packets, packet->frames);
	__sync_fetch_and_add(&usage->bytes, packet->bytes);
	__sync_fetch_and_add(&usage->busy_ns, busy_ns);
	usage->last_ns = bpf_ktime_get_ns();
}

static __always_inline int take_packet(struct bpf_raw_tracepoint_args *ctx,
				       enum trace_dir dir,
				       enum trace_event_kind kind)
{
	struct trace_event *event;
	struct packet packet;
	__u64 number, busy_ns;

	if (!find(ctx, &packet.device))
		return 0;
	packet.dir = dir;
	packet.port = ctx->args[1];
	packet.peer = ctx->args[2];
	packet.peer_port = ctx->args[3];
	packet.segment = ctx->args[4];
	packet.frames = ctx->args[5];
	packet.bytes = ctx->args[6];
	packet.mbps = ctx->args[7];
	packet.relay = ctx->args[8];
	busy_ns = busy(&packet);
	count(&packet, busy_ns);

	event = begin(&packet.device, kind, &number);
	if (!event)
		return 0;
	event->port = packet.port;
	event->dir = dir;
	event->peer = packet.peer;
	event->peer_port = packet.peer_port;
	event->relay = packet.relay;
	event->value[0] = packet.segment;
	event->value[1] = packet.frames;
	event->value[2] = packet.bytes;
	event->value[3] = busy_ns;
	end(event, number);
	return 0;
}

SEC("raw_tp/lace_send")
int lace_send(struct bpf_raw_tracepoint_args *ctx)
{
	return take_packet(ctx, TRACE_TX, TRACE_SEND);
}

SEC("raw_tp/lace_receive")
int lace_receive(struct bpf_raw_tracepoint_args *ctx)
{
	return take_packet(ctx, TRACE_RX, TRACE_RECEIVE);
}

SEC("raw_tp/lace_drop")
int lace_drop(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_drop *drop, fresh = {};
	struct trace_drop_key key = {};
	struct trace_device_key device;
	struct trace_event *event;
	__u64 number;

	if (!find(ctx, &device))
		return 0;
	key.netns = device.netns;
	key.ifindex = device.ifindex;
	key.port = (__s32)ctx->args[1];
	key.dir = (__u8)ctx->args[2];
	key.reason = (__u8)ctx->args[3];
	drop = bpf_map_lookup_elem(&lace_drops, &key);
	if (!drop) {
		bpf_map_update_elem(&lace_drops, &key, &fresh, BPF_NOEXIST);
		drop = bpf_map_lookup_elem(&lace_drops, &key);
		if (!drop)
			return 0;
	}
	__sync_fetch_and_add(&drop->packets, (__u32)ctx->args[4]);
	drop->last_ns = bpf_ktime_get_ns();

	event = begin(&device, TRACE_DROP, &number);
	if (!event)
		return 0;
	event->port = key.port;
	event->dir = key.dir;
	event->value[0] = key.reason;
	event->value[1] = (__u32)ctx->args[4];
	end(event, number);
	return 0;
}

/* ---- lanes ---- */

SEC("raw_tp/lace_lane_state")
int lace_lane_state(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_device_key device;
	struct trace_event *event;
	__u64 number;

	if (!find(ctx, &device))
		return 0;
	event = begin(&device, TRACE_LANE_STATE, &number);
	if (!event)
		return 0;
	event->port = ctx->args[1];
	event->dir = ctx->args[2];
	event->peer = ctx->args[3];
	event->peer_port = ctx->args[4];
	event->value[0] = (__u8)ctx->args[5];
	event->value[1] = (__u8)ctx->args[6];
	event->value[2] = ctx->args[7];
	end(event, number);
	return 0;
}

static __always_inline void keep_of_lane(struct bpf_raw_tracepoint_args *ctx,
					 const struct trace_device_key *device,
					 enum trace_event_kind kind, __s64 a,
					 __s64 b)
{
	struct trace_event *event;
	__u64 number;

	event = begin(device, kind, &number);
	if (!event)
		return;
	event->port = ctx->args[1];
	event->peer = ctx->args[2];
	event->peer_port = ctx->args[3];
	event->value[0] = a;
	event->value[1] = b;
	end(event, number);
}

SEC("raw_tp/lace_mark")
int lace_mark(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_device_key device;

	if (find(ctx, &device))
		keep_of_lane(ctx, &device, TRACE_MARK, (__u16)ctx->args[4],
			     ctx->args[5]);
	return 0;
}

SEC("raw_tp/lace_ack")
int lace_ack(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_device_key device;

	if (!find(ctx, &device))
		return 0;
	add(&device, TRACE_ACK_LATENCY_NS, ctx->args[5]);
	keep_of_lane(ctx, &device, TRACE_ACK, ctx->args[5], ctx->args[4]);
	return 0;
}

/* ---- receive order ---- */

SEC("raw_tp/lace_reorder_hold")
int lace_hold(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_device_key device;

	if (!find(ctx, &device))
		return 0;
	add(&device, TRACE_REORDER_DEPTH, (__u32)ctx->args[2]);
	keep(&device, TRACE_HOLD, (__u32)ctx->args[2], (__u32)ctx->args[3], 0,
	     0);
	return 0;
}

SEC("raw_tp/lace_reorder_release")
int lace_release(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_device_key device;

	if (find(ctx, &device))
		keep(&device, TRACE_RELEASE, (__u8)ctx->args[1],
		     (__u32)ctx->args[2], (__u32)ctx->args[3], 0);
	return 0;
}

/* ---- segments and transitions ---- */

SEC("raw_tp/lace_segment")
int lace_segment(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_device_key device;

	if (find(ctx, &device))
		keep(&device, TRACE_SEGMENT, ctx->args[1], ctx->args[2], 0, 0);
	return 0;
}

SEC("raw_tp/lace_phase_begin")
int lace_phase(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_device_key device;

	if (find(ctx, &device))
		keep(&device, TRACE_PHASE_BEGIN, ctx->args[1],
		     (__u8)ctx->args[2], (__u8)ctx->args[3],
		     (__u8)ctx->args[4]);
	return 0;
}

SEC("raw_tp/lace_phase_end")
int lace_phase_end(struct bpf_raw_tracepoint_args *ctx)
{
	__u8 phase = ctx->args[2];
	struct trace_device_key device;

	if (!find(ctx, &device))
		return 0;
	if (phase >= LACE_PHASE_QUIESCE && phase <= LACE_PHASE_RESUME)
		add(&device, TRACE_QUIESCE_NS + phase - LACE_PHASE_QUIESCE,
		    ctx->args[3]);
	keep(&device, TRACE_PHASE_END, ctx->args[1], phase, ctx->args[3], 0);
	return 0;
}

SEC("raw_tp/lace_transition_end")
int lace_transition(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_device_key device;

	if (!find(ctx, &device))
		return 0;
	add(&device, TRACE_TRANSITION_NS, ctx->args[3]);
	keep(&device, TRACE_TRANSITION_END, ctx->args[1], (__u8)ctx->args[2],
	     ctx->args[3], 0);
	return 0;
}

/* ---- the end of a device ---- */

SEC("raw_tp/lace_device_gone")
int lace_gone(struct bpf_raw_tracepoint_args *ctx)
{
	struct trace_device_key device;

	if (!find(ctx, &device))
		return 0;
	keep(&device, TRACE_DEVICE_GONE, 0, 0, 0, 0);
	bpf_map_delete_elem(&lace_devices, &device);
	return 0;
}

char _license[] SEC("license") = "GPL";
