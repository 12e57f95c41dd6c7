// SPDX-License-Identifier: GPL-2.0
/*
 * What the data path has to know of an IP packet, and the hop limit.  The data
 * of a packet here always begins at its IP header.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "compat.h"
#include "lace.h"

#define MAX_TCP_HEADER_LEN (15 * 4)

static const struct iphdr *ip4(const struct sk_buff *skb)
{
	return (const struct iphdr *)skb->data;
}

static const struct ipv6hdr *ip6(const struct sk_buff *skb)
{
	return (const struct ipv6hdr *)skb->data;
}

static bool read4(struct sk_buff *skb, struct lace_packet *packet)
{
	if (!pskb_may_pull(skb, sizeof(struct iphdr)))
		return false;
	packet->header = ip4(skb)->ihl * 4;
	if (ip4(skb)->version != 4 || packet->header < sizeof(struct iphdr))
		return false;
	if (packet->header > sizeof(struct iphdr) &&
	    !pskb_may_pull(skb, packet->header))
		return false;
	packet->family = AF_INET;
	packet->protocol = ip4(skb)->protocol;
	packet->jumbo = 0;
	packet->fragment = ip_is_fragment(ip4(skb));
	return true;
}

static bool read6(struct sk_buff *skb, struct lace_packet *packet)
{
	unsigned int jumbo;

	if (!pskb_may_pull(skb, sizeof(struct ipv6hdr)) ||
	    ip6(skb)->version != 6)
		return false;
	packet->family = AF_INET6;
	packet->protocol = ip6(skb)->nexthdr;
	packet->fragment = packet->protocol == IPPROTO_FRAGMENT;
	packet->header = sizeof(struct ipv6hdr);
	packet->jumbo = 0;
	jumbo = lace_compat_jumbo(skb);
	if (jumbo) {
		packet->protocol = IPPROTO_TCP;
		packet->header += jumbo;
		packet->jumbo = jumbo;
	}
	return true;
}

/* Pull and read the IP header.  False if there is none. */
bool lace_packet_read(struct sk_buff *skb, struct lace_packet *packet)
{
	switch (skb->protocol) {
	case htons(ETH_P_IP):
		return read4(skb, packet);
	case htons(ETH_P_IPV6):
		return read6(skb, packet);
	}
	return false;
}

/* A GSO packet of more than 64 KiB says 0. */
static unsigned int stated_length(const struct sk_buff *skb,
				  const struct lace_packet *packet)
{
	unsigned int length;

	if (packet->family == AF_INET) {
		length = ntohs(ip4(skb)->tot_len);
		return length || !skb_is_gso(skb) ? length : skb->len;
	}
	length = ntohs(ip6(skb)->payload_len);
	if (!length && skb_is_gso(skb))
		return skb->len;
	return length + sizeof(struct ipv6hdr);
}

/* Of a packet off the fibre: its length and the checksum of its header are
 * right.  Cuts off padding.
 */
bool lace_packet_is_sound(struct sk_buff *skb,
			  const struct lace_packet *packet)
{
	unsigned int length = stated_length(skb, packet);

	if (length < packet->header || length > skb->len)
		return false;
	if (packet->family == AF_INET &&
	    ip_fast_csum(skb->data, ip4(skb)->ihl))
		return false;
	return !pskb_trim_rcsum(skb, length);
}

bool lace_packet_hop_spent(const struct sk_buff *skb,
			   const struct lace_packet *packet)
{
	return packet->family == AF_INET ? ip4(skb)->ttl <= 1 :
					   ip6(skb)->hop_limit <= 1;
}

/* Take one hop off.  The header has to be writable. */
void lace_packet_hop(struct sk_buff *skb, const struct lace_packet *packet)
{
	if (packet->family == AF_INET)
		ip_decrease_ttl((struct iphdr *)skb->data);
	else
		((struct ipv6hdr *)skb->data)->hop_limit--;
}

/* Length of the TCP header there. */
static unsigned int tcp_header(struct sk_buff *skb, unsigned int at)
{
	if (!pskb_may_pull(skb, at + sizeof(struct tcphdr)))
		return sizeof(struct tcphdr);
	return __tcp_hdrlen((const struct tcphdr *)(skb->data + at));
}

/* Length of all headers that each segment of a GSO packet has. */
static unsigned int gso_header(struct sk_buff *skb,
			       const struct lace_packet *packet)
{
	unsigned int at = packet->header;

	if (skb->encapsulation)
		at = skb_inner_transport_header(skb) - skb->data;
	if (!(skb_shinfo(skb)->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6)))
		return at + sizeof(struct udphdr);
	return at + tcp_header(skb, at);
}

static void measure_gso(struct sk_buff *skb, struct lace_packet *packet)
{
	unsigned int header = gso_header(skb, packet);
	const struct skb_shared_info *shinfo = skb_shinfo(skb);
	unsigned int frames = shinfo->gso_segs;

	if (!frames && skb->len > header)	/* came from a guest */
		frames = DIV_ROUND_UP(skb->len - header, shinfo->gso_size);
	packet->frames = max(frames, 1U);
	packet->bytes += (packet->frames - 1) * (ETH_HLEN + header) -
			 packet->frames * packet->jumbo;
}

static bool is_pure_ack(struct sk_buff *skb, const struct lace_packet *packet)
{
	const struct tcphdr *tcp;

	if (packet->protocol != IPPROTO_TCP || packet->fragment ||
	    skb->len > packet->header + MAX_TCP_HEADER_LEN ||
	    !pskb_may_pull(skb, packet->header + sizeof(*tcp)))
		return false;
	tcp = (const struct tcphdr *)(skb->data + packet->header);
	return tcp->ack && !tcp->syn && !tcp->fin && !tcp->rst &&
	       skb->len == packet->header + __tcp_hdrlen(tcp);
}

/* What it is on the fibre.  It was read before; its headers may be pulled. */
void lace_packet_measure(struct sk_buff *skb, struct lace_packet *packet)
{
	packet->frames = 1;
	packet->bytes = ETH_HLEN + skb->len;
	packet->pure_ack = false;
	if (skb_is_gso(skb))
		measure_gso(skb, packet);
	else
		packet->pure_ack = is_pure_ack(skb, packet);
}
