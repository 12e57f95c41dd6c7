// SPDX-License-Identifier: GPL-2.0
/*
 * pin: a flow stays on the lane that it began on, and begins on the lane that
 * has the fewest flows: eight flows over four lanes are two on each, where a
 * hash leaves some lanes empty. Flows are counted when one begins, so nothing
 * can get out of step; one that ended or was silent for IDLE_NS counts no more.
 *
 * Acknowledgments are no flow to be balanced: they take the lane that is free.
 */
#include "steer_prog.h"

#define MAX_FLOWS 2048
#define IDLE_NS 30000000000ULL

struct pin_key {
	__u32 peer;
	__u32 hash;
};

struct pin {
	__u64 last_ns;
	__u32 port;
	__u32 ended;	/* what is still to come of it takes the same lane */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_FLOWS);
	__type(key, struct pin_key);
	__type(value, struct pin);
} pins SEC(".maps");

struct census {
	const struct lace_steer_context *context;
	__u64 now, sent;
	__u32 fewest, best;
	__u32 flows[LACE_MAX_PORTS];
};

/* For each flow: count it, or forget it. */
static long count_flow(void *map, const struct pin_key *key,
		       const struct pin *pin, struct census *census)
{
	if (census->now - pin->last_ns > IDLE_NS)
		bpf_map_delete_elem(map, key);
	else if (!pin->ended && key->peer == census->context->next)
		census->flows[pin->port % LACE_MAX_PORTS]++;
	return 0;
}

static long compare_lane(__u32 index, struct census *census)
{
	const struct lace_steer_lane *lane = offered(census->context, index);
	__u32 flows;

	if (!lane)
		return 0;
	flows = census->flows[lane->port % LACE_MAX_PORTS];
	if (flows > census->fewest ||
	    (flows == census->fewest &&
	     (__s64)(lane->sent - census->sent) >= 0))
		return 0;
	census->fewest = flows;
	census->sent = lane->sent;
	census->best = index;
	return 0;
}

/* The lane with the fewest flows; of those alike, the one that sent least. */
static __always_inline __u32
least_flows(const struct lace_steer_context *context, __u64 now)
{
	struct census census = {
		.context = context, .now = now, .fewest = ~0U,
	};

	bpf_for_each_map_elem(&pins, count_flow, &census, 0);
	bpf_loop(context->lanes, compare_lane, &census, 0);
	return census.best;
}

SEC("socket")
int steer_pin(struct __sk_buff *skb)
{
	const struct lace_steer_context *context = steer_context();
	struct pin *pin, fresh = { .last_ns = bpf_ktime_get_ns() };
	const struct lace_steer_lane *lane;
	struct pin_key key = {};
	__u32 index = STEER_NO_CHOICE;

	(void)skb;
	if (!context)
		return STEER_NO_CHOICE;
	key.peer = context->next;
	key.hash = context->hash;
	pin = bpf_map_lookup_elem(&pins, &key);
	if (pin)
		index = index_of_port(context, pin->port);
	else if (context->flags & LACE_STEER_ACK)
		return take(context, first_free(context));
	if (index == STEER_NO_CHOICE)
		index = least_flows(context, fresh.last_ns);
	lane = offered(context, index);
	if (!lane)
		return STEER_NO_CHOICE;
	fresh.port = lane->port;
	fresh.ended = context->flags & LACE_STEER_END ||
		      (pin && pin->ended && !(context->flags & LACE_STEER_SYN));
	if (pin)
		*pin = fresh;
	else
		bpf_map_update_elem(&pins, &key, &fresh, BPF_ANY);
	return take(context, index);
}

char _license[] SEC("license") = "GPL";
