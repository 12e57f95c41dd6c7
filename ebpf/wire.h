/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a packet weighs on the fibre.  A GSO packet leaves as several frames,
 * each with headers of its own; counters that ignore them disagree with the
 * lanes by several percent.
 */
#ifndef LACE_EBPF_WIRE_H
#define LACE_EBPF_WIRE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>

struct wire {
	__u32 frames;
	__u32 bytes;	/* without preamble and FCS */
};

static __always_inline __u32 wire_l4_header(struct __sk_buff *skb, __u32 at,
					    __u8 protocol)
{
	__u8 offset;

	if (protocol == IPPROTO_UDP)
		return sizeof(struct udphdr);
	if (protocol != IPPROTO_TCP ||
	    bpf_skb_load_bytes(skb, at + 12, &offset, sizeof(offset)))
		return 0;
	return (offset >> 4) * 4;
}

/* Length of the IP and transport headers at offset at; extension headers of
 * IPv6 do not occur in GSO packets of TCP and UDP.
 */
static __always_inline __u32 wire_headers(struct __sk_buff *skb, __u32 at)
{
	__u8 version, protocol;
	__u32 length;

	if (bpf_skb_load_bytes(skb, at, &version, sizeof(version)))
		return 0;
	if (version >> 4 == 4) {
		if (bpf_skb_load_bytes(skb, at + offsetof(struct iphdr, protocol),
				       &protocol, sizeof(protocol)))
			return 0;
		length = (version & 0xf) * 4;
	} else {
		if (bpf_skb_load_bytes(skb, at + offsetof(struct ipv6hdr, nexthdr),
				       &protocol, sizeof(protocol)))
			return 0;
		length = sizeof(struct ipv6hdr);
	}
	return length + wire_l4_header(skb, at + length, protocol);
}

/* ip_at: where the IP header is; 0 if the Ethernet header is not there yet. */
static __always_inline struct wire wire_weight(struct __sk_buff *skb,
					       __u32 ip_at)
{
	struct wire wire = { .frames = 1, .bytes = skb->len };

	if (!ip_at)
		wire.bytes += ETH_HLEN;
	if (skb->gso_segs > 1) {
		wire.frames = skb->gso_segs;
		wire.bytes += (wire.frames - 1) *
			      (ETH_HLEN + wire_headers(skb, ip_at));
	}
	return wire;
}

#endif /* LACE_EBPF_WIRE_H */
