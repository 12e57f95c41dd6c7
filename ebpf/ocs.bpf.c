// SPDX-License-Identifier: GPL-2.0
/*
 * The emulated optical circuit switch.  Attached to the tc ingress of every
 * interface of a switch namespace: a frame that comes in at an input leaves at
 * the output that the input is connected to, whatever its addresses say; light
 * has none.  Without a connection, or before the mirrors have settled, it is
 * lost.  GSO packets pass whole.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "ocs.h"
#include "wire.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ocs_layout);
} ocs_layout SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ocs_unit);
} ocs_unit SEC(".maps");

/* ifindex -> input that frames of this interface come in at */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ocs_port);
} ocs_input SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ocs_port);
	__type(value, struct ocs_output);
} ocs_output SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ocs_port);
	__type(value, struct ocs_connect);
} ocs_connect SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct ocs_port);
	__type(value, struct ocs_count);
} ocs_count SEC(".maps");

static __always_inline void count_dark(struct ocs_count *count,
				       const struct wire *wire)
{
	__sync_fetch_and_add(&count->dark_packets, wire->frames);
	__sync_fetch_and_add(&count->dark_bytes, wire->bytes);
}

static __always_inline void count_lit(struct ocs_count *count,
				      const struct wire *wire)
{
	__sync_fetch_and_add(&count->packets, wire->frames);
	__sync_fetch_and_add(&count->bytes, wire->bytes);
}

/* The output's interface, 0 if the input is dark. */
static __always_inline __u32 lit_output(struct ocs_connect *connect)
{
	__u64 lit_at_ns;
	__u32 ifindex;

	bpf_spin_lock(&connect->lock);
	lit_at_ns = connect->lit_at_ns;
	ifindex = connect->ifindex;
	bpf_spin_unlock(&connect->lock);
	return bpf_ktime_get_ns() < lit_at_ns ? 0 : ifindex;
}

SEC("tc")
int ocs_forward(struct __sk_buff *skb)
{
	__u32 ifindex = skb->ifindex;
	struct ocs_connect *connect;
	struct ocs_count *count;
	struct ocs_port *input;
	struct wire wire;
	__u32 output;

	input = bpf_map_lookup_elem(&ocs_input, &ifindex);
	if (!input)
		return TC_ACT_SHOT;
	connect = bpf_map_lookup_elem(&ocs_connect, input);
	count = bpf_map_lookup_elem(&ocs_count, input);
	if (!connect || !count)
		return TC_ACT_SHOT;

	wire = wire_weight(skb, ETH_HLEN);
	output = lit_output(connect);
	if (!output) {
		count_dark(count, &wire);
		return TC_ACT_SHOT;
	}
	count_lit(count, &wire);
	return bpf_redirect(output, 0);
}

char _license[] SEC("license") = "GPL";
