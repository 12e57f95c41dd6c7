// SPDX-License-Identifier: GPL-2.0
/*
 * flowlet: a flow moves to the lane that is free first, but only after a pause,
 * when what it sent before is through: then nothing overtakes, whatever the
 * transport. A flow that never pauses stays where it is.
 */
#include "steer_prog.h"

#define MAX_FLOWS 16384

struct flowlet_key {
	__u32 peer;
	__u32 hash;
};

struct flowlet {
	__u64 last_ns;
	__u32 port;
	__u32 unused;
};

/* The flows used least lately are forgotten: they have paused. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_FLOWS);
	__type(key, struct flowlet_key);
	__type(value, struct flowlet);
} flowlets SEC(".maps");

SEC("socket")
int steer_flowlet(struct __sk_buff *skb)
{
	const struct lace_steer_context *context = steer_context();
	struct flowlet *flowlet, fresh = { .last_ns = bpf_ktime_get_ns() };
	const struct lace_steer_lane *lane;
	struct flowlet_key key = {};
	__u32 index = STEER_NO_CHOICE;

	(void)skb;
	if (!context)
		return STEER_NO_CHOICE;
	key.peer = context->next;
	key.hash = context->hash;
	flowlet = bpf_map_lookup_elem(&flowlets, &key);
	if (flowlet && fresh.last_ns - flowlet->last_ns < options.gap_ns)
		index = index_of_port(context, flowlet->port);
	if (index == STEER_NO_CHOICE)
		index = first_free(context);
	lane = offered(context, index);
	if (!lane)
		return STEER_NO_CHOICE;
	fresh.port = lane->port;
	if (flowlet)
		*flowlet = fresh;
	else
		bpf_map_update_elem(&flowlets, &key, &fresh, BPF_ANY);
	return take(context, index);
}

char _license[] SEC("license") = "GPL";
