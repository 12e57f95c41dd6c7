// SPDX-License-Identifier: GPL-2.0
/*
 * From a frame on a lane to lace0, or on to the next node.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <net/icmp.h>
#include <net/route.h>

#include "lace.h"
#include "proto.h"
#include "trace.h"

/* Everything known of a packet on its way through. */
struct arrival {
	struct lace_port *port;
	struct lace_device *lace;
	const struct lace_active *active;
	struct lace_way way;
	struct lace_packet packet;
	u16 peer;		/* whose lane it came in on */
};

static void count(const struct arrival *arrival,
		  enum lace_attr_lanestat counter)
{
	lace_lane_count(arrival->port, LACE_DIR_RX, counter);
}

/* Frames between neighbours on the fibre, as LLDP: not ours to judge. */
static bool is_control(const struct sk_buff *skb)
{
	return is_link_local_ether_addr(eth_hdr(skb)->h_dest) ||
	       skb->protocol == htons(ETH_P_LLDP);
}

/* Whether the frame is from the port that the plan says is at the far end, and
 * for this one.  Frames to a group are not, but may come from the right port:
 * those are none of lace's.
 */
static enum lace_attr_lanestat check_frame(struct arrival *arrival,
					   const struct sk_buff *skb)
{
	const struct ethhdr *eth = eth_hdr(skb);
	const struct lace_far *far;

	if (!arrival->active)
		return LACE_A_LANESTAT_UNEXPECTED;
	far = lace_active_sender(arrival->active,
				 READ_ONCE(arrival->port->number),
				 eth->h_source);
	if (!far)
		return LACE_A_LANESTAT_UNEXPECTED;
	if (is_multicast_ether_addr(eth->h_dest))
		return LACE_A_LANESTAT_MALFORMED;
	if (!ether_addr_equal(eth->h_dest, arrival->port->dev->dev_addr))
		return LACE_A_LANESTAT_UNEXPECTED;
	arrival->peer = far->node;
	return 0;
}

static enum lace_attr_lanestat check_packet(struct arrival *arrival,
					    struct sk_buff *skb)
{
	if (skb_vlan_tag_present(skb) ||
	    !lace_packet_read(skb, &arrival->packet) ||
	    !lace_packet_is_sound(skb, &arrival->packet))
		return LACE_A_LANESTAT_MALFORMED;
	return 0;
}

/* Whether the plan takes packets from this node to that one through here, and
 * in on this lane.
 */
static enum lace_attr_lanestat check_path(struct arrival *arrival,
					  const struct sk_buff *skb)
{
	const struct lace_segment *segment = arrival->active->segment;
	struct lace_nodes *nodes = &arrival->lace->nodes;
	u16 from = lace_packet_from(nodes, skb, &arrival->packet);
	u16 to = lace_packet_to(nodes, skb, &arrival->packet);

	if (to == LACE_NO_NODE)
		return LACE_A_LANESTAT_MISADDRESSED;
	if (from == LACE_NO_NODE || from == segment->self)
		return LACE_A_LANESTAT_SPOOFED;
	lace_active_find(arrival->active, from, to, &arrival->way);
	if (!arrival->way.path)
		return to == segment->self ? LACE_A_LANESTAT_SPOOFED :
					     LACE_A_LANESTAT_MISADDRESSED;
	if (arrival->way.path->prev != arrival->peer &&
	    !lace_active_comes_from(arrival->active, from, to, arrival->peer))
		return LACE_A_LANESTAT_SPOOFED;
	return 0;
}

/* 0 to accept it, or the counter that says why not. */
static enum lace_attr_lanestat judge(struct arrival *arrival,
				     struct sk_buff *skb)
{
	enum lace_attr_lanestat fault;

	fault = check_frame(arrival, skb);
	if (!fault)
		fault = check_packet(arrival, skb);
	if (!fault)
		fault = check_path(arrival, skb);
	return fault;
}

static void count_accepted(struct arrival *arrival, struct sk_buff *skb,
			   bool relay)
{
	struct lace_packet *packet = &arrival->packet;

	lace_packet_measure(skb, packet);
	lace_lane_count_frames(arrival->port, LACE_DIR_RX, packet, relay);
	if (trace_lace_receive_enabled())
		lace_trace_receive(arrival->port, arrival->active,
				   packet->frames, packet->bytes, relay);
}

/* Make it a packet that lace0 received. */
static void adopt(struct lace_device *lace, struct sk_buff *skb)
{
	skb_scrub_packet(skb, false);
	skb->dev = lace->dev;
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_reset_mac_len(skb);
}

static void refuse_spent(const struct arrival *arrival, struct sk_buff *skb)
{
	const struct iphdr *ip;

	adopt(arrival->lace, skb);
	if (arrival->packet.family == AF_INET6) {
		icmpv6_ndo_send(skb, ICMPV6_TIME_EXCEED, ICMPV6_EXC_HOPLIMIT,
				0);
		return;
	}
	/* ICMP answers a packet that has a route only. */
	ip = (const struct iphdr *)skb->data;
	if (!ip_route_input_noref(skb, ip->daddr, ip->saddr, ip->tos,
				  skb->dev))
		icmp_ndo_send(skb, ICMP_TIME_EXCEEDED, ICMP_EXC_TTL, 0);
}

/* Takes the packet over. */
static void relay(struct arrival *arrival, struct sk_buff *skb)
{
	const struct lace_path *path = arrival->way.path;
	struct lace_device *lace = arrival->lace;

	if (lace_packet_hop_spent(skb, &arrival->packet)) {
		count(arrival, LACE_A_LANESTAT_HOP_LIMIT);
		refuse_spent(arrival, skb);
		kfree_skb(skb);
		return;
	}
	if (skb_cow(skb, READ_ONCE(lace->dev->needed_headroom))) {
		DEV_STATS_INC(lace->dev, rx_dropped);
		trace_lace_drop(lace->dev, arrival->port->number, LACE_DIR_RX,
				LACE_DROP_NO_MEMORY, 1);
		kfree_skb(skb);
		return;
	}
	count_accepted(arrival, skb, true);
	trace_lace_relay(lace->dev, arrival->port->number, path->from,
			 path->to, path->next, skb->len);
	lace_packet_hop(skb, &arrival->packet);
	skb_scrub_packet(skb, false);
	skb->dev = lace->dev;	/* the port may go while it waits at the gate */
	skb_forward_csum(skb);
	skb_clear_tstamp(skb);
	lace_transmit_relayed(lace, &arrival->way, skb, &arrival->packet);
}

static rx_handler_result_t deliver(struct arrival *arrival, struct sk_buff *skb)
{
	u16 peer = arrival->peer;
	u8 lane = READ_ONCE(arrival->port->number);
	u32 lanes = arrival->active->lanes[lane];

	count_accepted(arrival, skb, false);
	adopt(arrival->lace, skb);
	dev_sw_netstats_rx_add(arrival->lace->dev, skb->len);
	if (lanes & (lanes - 1) &&
	    lace_reorder_receive(arrival->lace, skb, &arrival->packet, peer,
				 lane, lanes, arrival->way.path->from == peer))
		return RX_HANDLER_CONSUMED;
	return RX_HANDLER_ANOTHER;
}

/* The receive handler of all ports. */
rx_handler_result_t lace_receive(struct sk_buff **pskb)
{
	struct arrival arrival lace_compat_uninitialized;
	struct sk_buff *skb = *pskb;
	enum lace_attr_lanestat fault;

	if (skb->pkt_type == PACKET_LOOPBACK || is_control(skb))
		return RX_HANDLER_PASS;
	skb = skb_share_check(skb, GFP_ATOMIC);
	*pskb = skb;
	if (!skb)
		return RX_HANDLER_CONSUMED;

	arrival.port = rcu_dereference(skb->dev->rx_handler_data);
	arrival.lace = arrival.port->lace;
	arrival.active = rcu_dereference(arrival.lace->active);
	if (!netif_running(arrival.lace->dev)) {
		DEV_STATS_INC(arrival.lace->dev, rx_dropped);
		trace_lace_drop(arrival.lace->dev, arrival.port->number,
				LACE_DIR_RX, LACE_DROP_DEVICE_DOWN, 1);
		goto drop;
	}
	if (skb->protocol == htons(LACE_PROTO_ETHERTYPE)) {
		lace_lane_receive(arrival.port, arrival.active, skb);
		return RX_HANDLER_CONSUMED;
	}
	fault = judge(&arrival, skb);
	if (fault) {
		count(&arrival, fault);
		goto drop;
	}
	if (arrival.way.path->next == LACE_NO_NODE)
		return deliver(&arrival, skb);
	relay(&arrival, skb);
	return RX_HANDLER_CONSUMED;

drop:
	kfree_skb(skb);
	return RX_HANDLER_CONSUMED;
}
