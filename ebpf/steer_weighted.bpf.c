// SPDX-License-Identifier: GPL-2.0
/*
 * weighted: packet by packet in turn, each port as often as its weight says.
 * Where no port offered has a weight, the module's choice stands.
 */
#include "steer_prog.h"

/* Packets so far to a peer. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MAX_PEERS);
	__type(key, __u32);
	__type(value, __u64);
} peer_turn SEC(".maps");

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

/* 1 if a < b, else 0.  Loops over ports add such numbers up and do not branch:
 * the verifier follows every path, and 32 branches have too many.
 */
static __always_inline __u32 less(__u64 a, __u64 b)
{
	return (a - b) >> 63;
}

static __always_inline __u32 is_offered(__u32 ports, __u32 port)
{
	return ports >> port & 1;
}

static __always_inline __u64 weight(__u32 ports, __u32 port)
{
	return (__u64)options.weight[port] * is_offered(ports, port);
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
static __always_inline __u32 index_of_turn(__u32 ports, __u64 turn)
{
	__u32 i, index = 0;
	__u64 end = 0;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		end += weight(ports, i);
		index += is_offered(ports, i) & ~less(turn, end);
	}
	return index;
}

SEC("socket")
int steer_weighted(struct __sk_buff *skb)
{
	const struct lace_steer_context *context = steer_context();
	__u64 total;

	(void)skb;
	if (!context)
		return STEER_NO_CHOICE;
	total = total_weight(context->ports);
	if (!total)
		return take(context, context->builtin);
	return take(context, index_of_turn(context->ports,
					   next_turn(context->next) % total));
}

char _license[] SEC("license") = "GPL";
