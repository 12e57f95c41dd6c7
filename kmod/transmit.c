// SPDX-License-Identifier: GPL-2.0
/*
 * From an IP packet to a frame on a lane.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/pkt_sched.h>
#include <net/icmp.h>
#include <net/ip_tunnels.h>
#include <net/route.h>

#include "lace.h"
#include "trace.h"

/* What there is no way for is lost, as on a lane.  With NET_XMIT_DROP TCP would
 * take it for congestion of this host, and then it ends a connection of which
 * nothing is under way after 15 attempts in 7.5 s (tcp_probe_timer()).
 */
#define LOST (-ENOBUFS)

/* All lanes of a path are dead: a port that is there answers for it. */
static void count_dead(struct lace_device *lace, const struct lace_path *path)
{
	struct lace_port *port;
	u32 ports;

	for (ports = path->ports; ports; ports &= ports - 1) {
		port = rcu_dereference(lace->ports[__ffs(ports)]);
		if (port) {
			lace_lane_count(port, LACE_DIR_TX,
					LACE_A_LANESTAT_DROPPED);
			return;
		}
	}
	lace_dev_count(lace, LACE_A_DEVSTAT_TX_NO_LANE);
}

/* Put an Ethernet header to the far end of a lane before a packet. */
int lace_transmit_header(struct sk_buff *skb, const struct lace_port *port,
			 const struct lace_far *far)
{
	struct ethhdr *eth;

	if (skb_cow_head(skb, LL_RESERVED_SPACE(port->dev)))
		return -ENOMEM;
	eth = __skb_push(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, far->mac);
	ether_addr_copy(eth->h_source, port->dev->dev_addr);
	eth->h_proto = skb->protocol;
	skb_reset_mac_header(skb);
	return 0;
}

/* Takes the packet over, which was measured.  The socket stays with it, so that
 * TCP is told when it has left.
 */
static int send(struct lace_port *port, const struct lace_active *active,
		int number, struct sk_buff *skb,
		const struct lace_packet *packet, bool relay)
{
	const struct lace_far *far = &active->far[LACE_DIR_TX][number];
	u16 queue = 0;
	int err;

	/* What the other end waits for goes before what it does not. */
	if (!skb->priority && packet->pure_ack)
		skb->priority = TC_PRIO_CONTROL;
	if (!lace_packet_fits(skb, packet, READ_ONCE(port->dev->mtu)) ||
	    lace_transmit_header(skb, port, far)) {
		kfree_skb(skb);
		err = LOST;
	} else {
		skb->dev = port->dev;
		queue = lace_lane_queue(port->dev, skb);
		err = dev_queue_xmit(skb);
		err = net_xmit_eval(err);
	}
	if (err) {
		lace_lane_count(port, LACE_DIR_TX, LACE_A_LANESTAT_DROPPED);
		return err;
	}
	lace_lane_count_frames(port, LACE_DIR_TX, packet, relay);
	lace_lane_sent(port, queue, packet->frames, packet->bytes);
	if (trace_lace_send_enabled())
		lace_trace_send(port, active, packet->frames, packet->bytes,
				relay);
	return 0;
}

/* Takes the packet over.  0, LOST, or as dev_queue_xmit() says why not. */
static int send_on(struct lace_device *lace, const struct lace_way *way,
		   struct sk_buff *skb, const struct lace_packet *packet,
		   bool relay)
{
	struct lace_port *port = NULL;
	int number;

	number = lace_steer(lace, way, skb, packet, relay);
	if (number != LACE_NO_LANE)
		port = rcu_dereference(lace->ports[number]);
	if (!port) {
		count_dead(lace, way->path);
		kfree_skb(skb);
		return LOST;
	}
	return send(port, way->active, number, skb, packet, relay);
}

/* Takes the packet over.  0 also if it waits. */
static int transmit(struct lace_device *lace, struct lace_way *way,
		    struct sk_buff *skb, const struct lace_packet *packet,
		    bool relay)
{
	if (unlikely(way->closed || READ_ONCE(way->active->shut)) &&
	    !(packet->pure_ack && lace_gate_detour(lace, way))) {
		if (lace_gate_hold(lace, way, skb, relay))
			return 0;
		if (!way->path) {
			lace_dev_count(lace, LACE_A_DEVSTAT_TX_NO_LANE);
			kfree_skb(skb);
			return LOST;
		}
	}
	return send_on(lace, way, skb, packet, relay);
}

/* A packet for another node that came in on a lane.  Takes it over; its IP
 * header is the start of its data.
 */
void lace_transmit_relayed(struct lace_device *lace, struct lace_way *way,
			   struct sk_buff *skb,
			   const struct lace_packet *packet)
{
	transmit(lace, way, skb, packet, true);
}

/* A packet that has waited.  Takes it over. */
void lace_transmit_gated(struct lace_device *lace, const struct lace_way *way,
			 struct sk_buff *skb, bool relay)
{
	struct lace_packet packet;

	/* It was read before, and its header pulled. */
	if (WARN_ON_ONCE(!lace_packet_read(skb, &packet))) {
		kfree_skb(skb);
		return;
	}
	lace_packet_measure(skb, &packet);
	if (send_on(lace, way, skb, &packet, relay) && !relay)
		DEV_STATS_INC(lace->dev, tx_dropped);
}

/* ICMP answers a packet that has a route, which was dropped on the way here. */
static void refuse4(struct sk_buff *skb)
{
	const struct iphdr *ip = (const struct iphdr *)skb->data;
	struct flowi4 flow = {
		.daddr = ip->daddr,
		.saddr = ip->saddr,
		.flowi4_oif = skb->dev->ifindex,
		.flowi4_flags = FLOWI_FLAG_ANYSRC,
	};
	struct rtable *route = ip_route_output_key(dev_net(skb->dev), &flow);

	if (IS_ERR(route))
		return;
	skb_dst_drop(skb);
	skb_dst_set(skb, &route->dst);
	icmp_ndo_send(skb, ICMP_DEST_UNREACH, ICMP_HOST_UNREACH, 0);
}

static void refuse(struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		refuse4(skb);
	else
		icmpv6_ndo_send(skb, ICMPV6_DEST_UNREACH, ICMPV6_ADDR_UNREACH,
				0);
}

/* Whose protocol a packet socket has not named. */
static bool read_unnamed(struct sk_buff *skb, struct lace_packet *packet)
{
	if (skb->protocol && skb->protocol != htons(ETH_P_ALL))
		return false;
	skb->protocol = ip_tunnel_parse_protocol(skb);
	return lace_packet_read(skb, packet);
}

/* The way of a packet of this host.  False if there is none, and counted. */
static bool own_way(struct lace_device *lace, struct sk_buff *skb,
		    const struct lace_packet *packet, struct lace_way *way)
{
	u16 to = lace_packet_to(&lace->nodes, skb, packet);

	if (to == LACE_NO_NODE) {
		lace_dev_count(lace, LACE_A_DEVSTAT_TX_NO_NODE);
		refuse(skb);
		return false;
	}
	lace_active_find(rcu_dereference(lace->active), READ_ONCE(lace->self),
			 to, way);
	if (!way->path)
		lace_dev_count(lace, LACE_A_DEVSTAT_TX_NO_LANE);
	return way->path;
}

netdev_tx_t lace_transmit_own(struct sk_buff *skb, struct net_device *dev)
{
	struct lace_device *lace = netdev_priv(dev);
	struct lace_packet packet lace_compat_uninitialized;
	struct lace_way way lace_compat_uninitialized;
	unsigned int length = skb->len;
	int err = LOST;

	rcu_read_lock();
	if (!lace_packet_read(skb, &packet) && !read_unnamed(skb, &packet)) {
		DEV_STATS_INC(dev, tx_errors);
		trace_lace_drop(dev, LACE_TRACE_NONE, LACE_DIR_TX,
				LACE_DROP_NOT_IP, 1);
		goto drop;
	}
	if (!own_way(lace, skb, &packet, &way)) {
		DEV_STATS_INC(dev, tx_dropped);
		goto drop;
	}
	lace_packet_measure(skb, &packet);
	err = transmit(lace, &way, skb, &packet, false);
	if (err)
		DEV_STATS_INC(dev, tx_dropped);
	else
		dev_sw_netstats_tx_add(dev, 1, length);
	rcu_read_unlock();
	return err;

drop:
	kfree_skb(skb);
	rcu_read_unlock();
	return err;
}
