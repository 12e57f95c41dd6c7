// SPDX-License-Identifier: GPL-2.0
/*
 * Steering programs: each is one policy, takes one of the lanes that the module
 * offers, and counts it in lane_usage.  The module never lets a program send
 * elsewhere than the plan allows, so what is decided here is only how traffic
 * spreads.
 */
#include <linux/bpf.h>
#include <linux/lace.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

#include "steer.h"
#include "wire.h"

#define MAX_PEERS 4096

/* Share of each local port, for steer_weighted; set before loading. */
const volatile __u32 port_weight[LACE_MAX_PORTS];

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4 * MAX_PEERS);
	__type(key, struct lane_usage_key);
	__type(value, struct lane_usage);
} lane_usage SEC(".maps");

/* Packets so far to a peer, for steer_weighted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MAX_PEERS);
	__type(key, __u32);
	__type(value, __u64);
} peer_turn SEC(".maps");

/* 1 if a < b, else 0.  Loops over ports add such numbers up and do not branch:
 * the verifier follows every path, and 32 branches have too many.
 */
static __always_inline __u32 less(__u64 a, __u64 b)
{
	return (a - b) >> 63;
}

static __always_inline __u32 is_offered(__u32 ports, __u32 port)
{
	return (ports >> port) & 1;
}

/* The port of the lane offered as number index. */
static __always_inline __u32 offered_port(__u32 ports, __u32 index)
{
	__u32 i, offered = 0, port = 0;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		offered += is_offered(ports, i);
		port += 1 - less(index, offered);
	}
	return port;
}

static __always_inline void count(struct __sk_buff *skb, __u32 port)
{
	struct lane_usage_key key = {
		.peer = skb->cb[LACE_STEER_NEXT],
		.port = port,
	};
	struct wire wire = wire_weight(skb, 0);
	struct lane_usage *usage, fresh = {};

	usage = bpf_map_lookup_elem(&lane_usage, &key);
	if (!usage) {
		bpf_map_update_elem(&lane_usage, &key, &fresh, BPF_NOEXIST);
		usage = bpf_map_lookup_elem(&lane_usage, &key);
		if (!usage)
			return;
	}
	__sync_fetch_and_add(&usage->packets, wire.frames);
	__sync_fetch_and_add(&usage->bytes, wire.bytes);
	usage->last_ns = bpf_ktime_get_ns();
}

static __always_inline int take(struct __sk_buff *skb, __u32 index)
{
	count(skb, offered_port(skb->cb[LACE_STEER_PORTS], index));
	return index;
}

static __always_inline __u64 next_turn(__u32 peer)
{
	__u64 *turn, first = 0;

	turn = bpf_map_lookup_elem(&peer_turn, &peer);
	if (!turn) {
		bpf_map_update_elem(&peer_turn, &peer, &first, BPF_NOEXIST);
		turn = bpf_map_lookup_elem(&peer_turn, &peer);
		if (!turn)
			return 0;
	}
	/* Two processors may take the same turn: shares are not hurt by it. */
	__sync_fetch_and_add(turn, 1);
	return *turn;
}

static __always_inline __u64 weight(__u32 ports, __u32 port)
{
	return (__u64)port_weight[port] * is_offered(ports, port);
}

static __always_inline __u64 total_weight(__u32 ports)
{
	__u64 total = 0;
	__u32 i;

	for (i = 0; i < LACE_MAX_PORTS; i++)
		total += weight(ports, i);
	return total;
}

/* Index of the lane whose share of a round the turn falls into. */
static __always_inline __u32 weighted_index(__u32 ports, __u64 turn)
{
	__u32 i, index = 0;
	__u64 end = 0;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		end += weight(ports, i);
		index += is_offered(ports, i) & ~less(turn, end);
	}
	return index;
}

/* What the module would do itself, but counted. */
SEC("socket")
int steer_builtin(struct __sk_buff *skb)
{
	return take(skb, skb->cb[LACE_STEER_BUILTIN]);
}

/* Every flow stays on one lane: nothing overtakes, one flow gets one lane. */
SEC("socket")
int steer_hash(struct __sk_buff *skb)
{
	return take(skb, ((__u64)skb->hash * skb->cb[LACE_STEER_LANES]) >> 32);
}

/* Packet by packet in turn, each port as often as its weight says.  Where no
 * port offered has a weight, the module's choice stands.
 */
SEC("socket")
int steer_weighted(struct __sk_buff *skb)
{
	__u32 ports = skb->cb[LACE_STEER_PORTS];
	__u64 total = total_weight(ports);

	if (!total)
		return take(skb, skb->cb[LACE_STEER_BUILTIN]);
	return take(skb, weighted_index(ports,
					next_turn(skb->cb[LACE_STEER_NEXT]) %
					total));
}

char _license[] SEC("license") = "GPL";
