/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The map of the module: what each file offers to the others.
 *
 * DESIGN NOTES
 *
 * All configuration happens under RTNL: link operations and the notifier hold
 * it anyway, netlink commands take it.  The data path holds only the RCU read
 * lock, from what it sees published:
 *
 *   lace_device.active   the active segment with the MAC addresses of its far
 *			  ends, replaced as a whole
 *   lace_device.ports[]  set while the port is enslaved
 *   lace_device.steer    the steering program
 *   lace_nodes.prefixes  a table of address prefixes
 *
 * A segment never changes once it is loaded, and a node never changes once it
 * is set: both are replaced.  lace_active points to its segment; a segment
 * cannot be deleted while it is active and is freed after a grace period, so
 * whoever got the one may use the other.
 *
 * A packet may meet the active segment of one moment and the ports of the
 * next.  Lanes are therefore named by port number, and a lane without a port
 * is a dead lane, which is skipped, or counted where all are dead.
 *
 * Life of a device: ndo_init() sets up what ndo_uninit() and the destructor
 * take down.  ndo_uninit() removes it from the list of its namespace, so that
 * netlink finds it no more, and lets go of the ports; nobody then sends or
 * receives.  The destructor frees nodes and segments.
 */
#ifndef LACE_H
#define LACE_H

#include <linux/etherdevice.h>
#include <linux/filter.h>
#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/u64_stats_sync.h>
#include <linux/xarray.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>

#include <linux/lace.h>

#include "compat.h"
#include "transition.h"

struct lace_port;
struct lace_lane;
struct lace_key;
struct lace_reorder;
struct lace_gate;
struct lace_transition;
struct lace_route_watch;

#define LACE_NO_NODE LACE_MAX_NODES	/* number of no node */

/* prefix.c */

/* Bits of the address beyond length are zero; so are unused words. */
struct lace_prefix {
	__be32 address[4];
	u8 family;
	u8 length;
	u8 zero[2];
};

/* What a processor has looked up. */
struct lace_memo {
	u64 stamp;		/* version and family */
	u64 address[2];
	u16 node;
};

#define LACE_MEMO_BITS 5

struct lace_memos {
	struct lace_memo memo[1 << LACE_MEMO_BITS];
};

struct lace_prefix_table;

struct lace_prefixes {
	struct lace_prefix_table __rcu *table;
	struct lace_memos __percpu *memos;
	u64 version;
	/* Which lengths are in use, and how often. */
	DECLARE_BITMAP(lengths4, 32 + 1);
	DECLARE_BITMAP(lengths6, 128 + 1);
	unsigned int n_length4[32 + 1];
	unsigned int n_length6[128 + 1];
};

/* node.c */

struct lace_node {
	u16 id;
	u32 ports;		/* bit p: mac[p] is set */
	u8 mac[LACE_MAX_PORTS][ETH_ALEN];
	u16 n_prefixes;
	struct lace_prefix prefixes[];
};

struct lace_nodes {
	struct xarray by_id;
	struct lace_prefixes prefixes;
};

/* segment.c */

struct lace_circuit {
	u16 peer;		/* LACE_NO_NODE: no circuit */
	u8 peer_port;
};

/* How packets of a pair of nodes come in here and where they go on. */
struct lace_path {
	u16 from;
	u16 to;
	u16 prev;		/* LACE_NO_NODE: they begin here */
	u16 next;		/* LACE_NO_NODE: they end here */
	u32 ports;		/* bit p: the TX lane of port p leads to next */
	u16 chain;		/* index of the next path in the bucket */
	u16 alternate;		/* of the pair's next one, or LACE_NO_PATH */
	u8 rank;		/* 0: the pair's first */
	bool direct;		/* over a circuit, not by a route */
	bool broken;		/* at FROM: does not work; changes in place,
				 * see route.c
				 */
};

#define LACE_NO_PATH U16_MAX

struct lace_segment {
	struct rcu_head rcu;
	u32 id;
	u16 self;		/* own node when it was loaded */
	struct lace_circuit circuits[2][LACE_MAX_PORTS];
	u32 ports[2];		/* bit p: circuits[dir][p] is one */
	u16 n_paths;
	u16 max_paths;
	u16 n_watches;
	u16 max_watches;
	/* Behind paths, in the same allocation: */
	struct lace_route_watch *watches;
	u16 *buckets;
	u8 bits;		/* of the hash */
	struct lace_path paths[];
};

/* active.c */

struct lace_far {
	u16 node;		/* LACE_NO_NODE: no circuit */
	u8 port;
	u8 mac[ETH_ALEN];
};

struct lace_active {
	struct rcu_head rcu;
	struct lace_segment *segment;
	struct lace_far far[2][LACE_MAX_PORTS];
	u32 lanes[LACE_MAX_PORTS];	/* bit p: RX lane p has the far end of
					 * this one
					 */
	/* These two change in place; see gate.c. */
	u32 closed;			/* TX lanes without data */
	bool shut;			/* packets may have to wait */
	/* In a transition, and for a moment after it, what other nodes follow
	 * still, or already: the segment that it comes from or goes to.
	 */
	struct lace_segment *other;	/* or NULL */
	struct lace_far other_far[LACE_MAX_PORTS];	/* of RX lanes */
	u32 same;			/* TX lanes that lead to the same end in
					 * both segments
					 */
};

/* Where a packet goes. */
struct lace_way {
	const struct lace_active *active;
	const struct lace_path *path;	/* NULL: nowhere */
	struct lace_path copy;		/* that path may be */
	u32 closed;			/* TX lanes */
};

/* stats.c */

struct lace_dev_stats {
	u64_stats_t value[LACE_A_DEVSTAT_MAX + 1];
	struct u64_stats_sync syncp;
};

struct lace_lane_stats {
	u64_stats_t value[LACE_A_LANESTAT_MAX + 1];
	struct u64_stats_sync syncp;
};

/* lane.c */

/* The lane protocol of a device. */
struct lace_acks {
	u32 msecs;			/* interval; 0: off */
	u32 steps;			/* since an interval began */
	struct lace_key __rcu *key;
	struct delayed_work step;
	struct work_struct tell;
};

/* What is known of a lane. */
struct lace_lane_report {
	u8 state;			/* enum lace_lane_state */
	bool heard;			/* silence_ms counts */
	bool drained;			/* TX */
	u64 silence_ms;			/* since there was word */
	u64 rtt_ns;			/* TX; 0: not known */
	u64 epoch;			/* of the sender; 0: none */
};

/* hook.c */

enum lace_hook_state {
	LACE_HOOK_UNCALLED,
	LACE_HOOK_BUSY,
	LACE_HOOK_ANSWERED,	/* or it failed to */
};

struct lace_hook {
	struct list_head list;		/* lace_hooks.list */
	struct list_head all;
	struct lace_device *lace;
	char name[LACE_HOOK_NAME_MAX + 1];
	u32 portid;
	u32 phases;
	bool dead;			/* its socket is closed */
	/* The last call. */
	u8 state;			/* enum lace_hook_state */
	u8 phase;
	u32 call;
	u64 transition;
	int error;
	char reason[LACE_REASON_MAX + 1];
};

struct lace_lost_hook {
	char name[LACE_HOOK_NAME_MAX + 1];
	u32 phases;			/* that would have called it */
};

/* Hooks of a device, and the first one that failed the call under way. */
struct lace_hooks {
	struct list_head list;
	unsigned int n;
	u32 calls;			/* number of the last one */
	unsigned int n_lost;		/* that went in a transition, */
	struct lace_lost_hook lost[LACE_MAX_HOOKS];	/* and are not back */
	bool failed;
	int error;
	char culprit[LACE_HOOK_NAME_MAX + 1];
	char reason[LACE_REASON_MAX + 1];
};

/* device.c */

struct lace_device {
	struct net_device *dev;
	struct list_head list;		/* lace_net.devices */
	struct lace_port __rcu *ports[LACE_MAX_PORTS];
	struct lace_active __rcu *active;
	struct bpf_prog __rcu *steer;
	struct bpf_map *steer_map;	/* of steer; NULL: it has none */
	struct lace_dev_stats __percpu *stats;
	struct lace_nodes nodes;
	struct xarray segments;
	struct lace_reorder *reorder;
	struct lace_gate *gate;
	struct lace_transition *transition;
	u32 lost;			/* TX lanes whose ports have gone; see
					 * outage.c
					 */
	u32 reorder_us;			/* 0: TCP gets what comes as it comes */
	u16 self;			/* LACE_NO_NODE: not set */
	unsigned int user_mtu;		/* 0: follow the ports */
	struct lace_gso gso;		/* that was set last; see gso.c */
	bool mtu_follows;		/* the change of MTU is our own */
	struct lace_acks acks;
	struct lace_hooks hooks;
};

/* Under RTNL, for each port that there is: i is its number. */
#define lace_for_each_port(lace, i, port)				\
	for ((i) = 0; (i) < LACE_MAX_PORTS; (i)++)			\
		if (((port) = rtnl_dereference((lace)->ports[i])))

struct lace_net {
	struct list_head devices;
	unsigned int generation;	/* of the configuration, for dumps */
};

extern unsigned int lace_net_id;

int lace_net_init(void);
void lace_net_exit(void);
int lace_link_init(void);
void lace_link_exit(void);
int lace_device_set_self(struct lace_device *lace, u16 self,
			 struct netlink_ext_ack *extack);
void lace_device_update_mtu(struct lace_device *lace);
void lace_device_update_headroom(struct lace_device *lace);
struct lace_device *lace_device_next(struct net *net, int ifindex);
void lace_device_changed(struct lace_device *lace);

static inline struct lace_net *lace_net(const struct net *net)
{
	return net_generic(net, lace_net_id);
}

/* port.c */

struct lace_port {
	struct net_device *dev;
	struct lace_device *lace;
	struct lace_lane_stats __percpu *stats[2];
	u8 number;			/* written under RTNL */
	u32 mbps;			/* rate, 0: not known */
	/* For the built-in policy; lost updates do no harm. */
	unsigned long sent;
	bool dark;			/* so is the TX lane; written by lane.c */
	struct lace_lane *lane;		/* never NULL for who finds the port */
	struct lace_gso gso, gso_before;	/* see gso.c */
};

int lace_port_init(void);
void lace_port_exit(void);
int lace_port_add(struct net_device *dev, struct net_device *port_dev,
		  struct netlink_ext_ack *extack);
int lace_port_del(struct net_device *dev, struct net_device *port_dev);
void lace_port_del_all(struct lace_device *lace);
int lace_port_set_number(struct lace_port *port, u8 number,
			 struct netlink_ext_ack *extack);
struct lace_port *lace_port_of(const struct net_device *port_dev);

/* gso.c */

void lace_gso_init(struct lace_device *lace);
void lace_gso_take(struct lace_port *port);
void lace_gso_give_back(struct lace_port *port);
void lace_gso_follow(struct lace_device *lace);

/* Whether what is sent on it would leave. */
static inline bool lace_port_is_live(const struct lace_port *port)
{
	return netif_running(port->dev) && netif_carrier_ok(port->dev);
}

/* prefix.c */

bool lace_prefix_is_sound(const struct lace_prefix *prefix);
int lace_prefixes_init(struct lace_prefixes *prefixes);
void lace_prefixes_destroy(struct lace_prefixes *prefixes);
u16 lace_prefixes_recall4(struct lace_prefixes *prefixes,
			  struct lace_memo *memo, u64 stamp, __be32 address);
u16 lace_prefixes_recall6(struct lace_prefixes *prefixes,
			  struct lace_memo *memo, u64 stamp,
			  const struct in6_addr *address);
u16 lace_prefixes_get(struct lace_prefixes *prefixes,
		      const struct lace_prefix *prefix);
int lace_prefixes_insert(struct lace_prefixes *prefixes,
			 const struct lace_prefix *prefix, u16 node);
void lace_prefixes_erase(struct lace_prefixes *prefixes,
			 const struct lace_prefix *prefix);

/* Node behind an address, or LACE_NO_NODE.  Needs the RCU read lock, and bottom
 * halves off.
 */
static inline u16 lace_prefixes_find4(struct lace_prefixes *prefixes,
				      __be32 address)
{
	struct lace_memo *memo = this_cpu_ptr(prefixes->memos)->memo;
	u64 stamp = smp_load_acquire(&prefixes->version) << 1; /* of account() */

	memo += hash_32((__force u32)address, LACE_MEMO_BITS);
	if (memo->stamp == stamp && memo->address[0] == (__force u32)address)
		return memo->node;
	return lace_prefixes_recall4(prefixes, memo, stamp, address);
}

/* As lace_prefixes_find4(). */
static inline u16 lace_prefixes_find6(struct lace_prefixes *prefixes,
				      const struct in6_addr *address)
{
	struct lace_memo *memo = this_cpu_ptr(prefixes->memos)->memo;
	/* of account() */
	u64 stamp = smp_load_acquire(&prefixes->version) << 1 | 1;

	memo += hash_32(ipv6_addr_hash(address), LACE_MEMO_BITS);
	if (memo->stamp == stamp &&
	    ipv6_addr_equal((struct in6_addr *)memo->address, address))
		return memo->node;
	return lace_prefixes_recall6(prefixes, memo, stamp, address);
}

/* node.c */

int lace_nodes_init(struct lace_nodes *nodes);
void lace_nodes_destroy(struct lace_nodes *nodes);
struct lace_node *lace_node_alloc(unsigned int n_prefixes);
int lace_node_set(struct lace_device *lace, struct lace_node *node,
		  struct netlink_ext_ack *extack);
int lace_node_del(struct lace_device *lace, u16 id,
		  struct netlink_ext_ack *extack);

/* segment.c */

struct lace_segment *lace_segment_alloc(u32 id, u16 self,
					unsigned int n_alternates,
					unsigned int n_routes);
int lace_segment_add_circuit(struct lace_segment *segment, u8 dir, u8 port,
			     const struct lace_circuit *circuit,
			     struct netlink_ext_ack *extack);
int lace_segment_close_circuits(struct lace_segment *segment);
int lace_segment_add_route(struct lace_segment *segment,
			   const struct lace_path *route,
			   struct netlink_ext_ack *extack);
u32 lace_segment_same(const struct lace_segment *a,
		      const struct lace_segment *b);
bool lace_segment_uses_node(const struct lace_segment *segment, u16 id);
const struct lace_path *lace_segment_path(const struct lace_segment *segment,
					  u16 from, u16 to);
const struct lace_path *lace_segment_way(const struct lace_segment *segment,
					 u16 from, u16 to);
const struct lace_path *
lace_segment_alternate(const struct lace_segment *segment,
		       const struct lace_path *path);
void lace_segment_close_routes(struct lace_segment *segment);
int lace_segment_load(struct lace_device *lace, struct lace_segment *segment,
		      struct netlink_ext_ack *extack);
int lace_segment_del(struct lace_device *lace, u32 id,
		     struct netlink_ext_ack *extack);
void lace_segments_destroy(struct lace_device *lace);

/* active.c */

int lace_active_check_ports(struct lace_device *lace,
			    const struct lace_segment *segment,
			    struct netlink_ext_ack *extack);
struct lace_active *lace_active_compile(struct lace_device *lace,
					struct lace_segment *segment,
					struct lace_segment *other,
					struct netlink_ext_ack *extack);
struct lace_active *lace_active_compile_anyway(struct lace_device *lace,
					       struct lace_segment *segment,
					       struct lace_segment *other);
void lace_active_publish(struct lace_device *lace, struct lace_active *active);
void lace_active_replace(struct lace_device *lace, struct lace_active *active);
void lace_active_set_closed(struct lace_device *lace, u32 closed);
struct lace_segment *lace_active_segment(struct lace_device *lace);
struct lace_segment *lace_active_other(struct lace_device *lace);
void lace_active_find(const struct lace_active *active, u16 from, u16 to,
		      struct lace_way *way);
bool lace_active_comes_from(const struct lace_active *active, u16 from, u16 to,
			    u16 neighbour);
const struct lace_far *lace_active_sender(const struct lace_active *active,
					  u8 port, const u8 *mac);

/* packet.c */

struct lace_packet {
	u8 family;		/* AF_INET or AF_INET6 */
	u8 protocol;
	bool fragment;
	u16 header;		/* length of the IP header */
	u16 jumbo;		/* how much of it is not for the fibre */
	/* Of lace_packet_measure(): */
	bool pure_ack;		/* only acknowledges what TCP has received */
	unsigned int frames;	/* that it makes on the fibre */
	unsigned int bytes;	/* of them together */
};

bool lace_packet_read(struct sk_buff *skb, struct lace_packet *packet);
bool lace_packet_is_sound(struct sk_buff *skb,
			  const struct lace_packet *packet);

/* Whether it goes through an MTU, each segment of a GSO packet for itself. */
static inline bool lace_packet_fits(const struct sk_buff *skb,
				    const struct lace_packet *packet,
				    unsigned int mtu)
{
	return skb->len <= mtu ||
	       (skb_is_gso(skb) &&
		skb_gso_validate_network_len(skb, mtu + packet->jumbo));
}

/* Node that a packet says it comes from, or LACE_NO_NODE. */
static inline u16 lace_packet_from(struct lace_nodes *nodes,
				   const struct sk_buff *skb,
				   const struct lace_packet *packet)
{
	const struct ipv6hdr *ip6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip4 = (const struct iphdr *)skb->data;

	return packet->family == AF_INET ?
		lace_prefixes_find4(&nodes->prefixes, ip4->saddr) :
		lace_prefixes_find6(&nodes->prefixes, &ip6->saddr);
}

/* Node that a packet is for, or LACE_NO_NODE. */
static inline u16 lace_packet_to(struct lace_nodes *nodes,
				 const struct sk_buff *skb,
				 const struct lace_packet *packet)
{
	const struct ipv6hdr *ip6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip4 = (const struct iphdr *)skb->data;

	return packet->family == AF_INET ?
		lace_prefixes_find4(&nodes->prefixes, ip4->daddr) :
		lace_prefixes_find6(&nodes->prefixes, &ip6->daddr);
}

bool lace_packet_hop_spent(const struct sk_buff *skb,
			   const struct lace_packet *packet);
void lace_packet_hop(struct sk_buff *skb, const struct lace_packet *packet);
void lace_packet_measure(struct sk_buff *skb, struct lace_packet *packet);

/* stats.c */

void lace_dev_stats_init(struct lace_dev_stats __percpu *stats);
void lace_lane_stats_init(struct lace_lane_stats __percpu *stats);
void lace_dev_count(struct lace_device *lace, enum lace_attr_devstat counter);
void lace_dev_count_many(struct lace_device *lace,
			 enum lace_attr_devstat counter, unsigned int n);
void lace_lane_count(struct lace_port *port, enum lace_dir dir,
		     enum lace_attr_lanestat counter);
void lace_lane_count_frames(struct lace_port *port, enum lace_dir dir,
			    const struct lace_packet *packet, bool relay);
void lace_dev_stats_read(struct lace_device *lace,
			 u64 values[LACE_A_DEVSTAT_MAX + 1]);
void lace_lane_stats_read(struct lace_port *port, enum lace_dir dir,
			  u64 values[LACE_A_LANESTAT_MAX + 1]);

/* steer.c */

#define LACE_NO_LANE (-1)

/* What decides; all NULL: the built-in policy. */
struct lace_steer_program {
	struct bpf_prog *prog;
	struct bpf_map *map;	/* in which it is told more */
};

int lace_steer(struct lace_device *lace, const struct lace_way *way,
	       struct sk_buff *skb, const struct lace_packet *packet,
	       bool relay);
int lace_steer_check(struct lace_steer_program *steer,
		     struct netlink_ext_ack *extack);
void lace_steer_set(struct lace_device *lace,
		    const struct lace_steer_program *steer);

/* transition.c */

int lace_transition_init(struct lace_device *lace);
void lace_transition_stop(struct lace_device *lace);
void lace_transition_destroy(struct lace_device *lace);
bool lace_transition_runs(const struct lace_device *lace);
bool lace_transition_uses_node(const struct lace_device *lace, u16 id);
int lace_transition_check_nodes(struct lace_device *lace,
				struct netlink_ext_ack *extack);
bool lace_transition_uses(const struct lace_device *lace,
			  const struct lace_segment *segment);
u32 lace_transition_ports(const struct lace_device *lace);
void lace_transition_forget(struct lace_device *lace);
void lace_transition_let_go(struct lace_device *lace,
			    const struct lace_segment *segment);
void lace_transition_port_gone(struct lace_device *lace, u8 number);
void lace_transition_port_came(struct lace_port *port);

/* route.c */

size_t lace_route_watches_size(unsigned int n);
void lace_route_watch(struct lace_segment *segment, u16 path);
void lace_routes_begin(struct lace_segment *segment,
		       const struct lace_active *old);
void lace_routes_forget(struct lace_device *lace);
void lace_routes_beat(struct lace_device *lace,
		      const struct lace_active *active);
bool lace_routes_look(struct lace_device *lace, u32 closed);

/* outage.c */

void lace_outage_look(struct lace_device *lace);
void lace_outage_port_gone(const struct lace_port *port);

/* transmit.c */

int lace_transmit_header(struct sk_buff *skb, const struct lace_port *port,
			 const struct lace_far *far);

netdev_tx_t lace_transmit_own(struct sk_buff *skb, struct net_device *dev);
void lace_transmit_relayed(struct lace_device *lace, struct lace_way *way,
			   struct sk_buff *skb,
			   const struct lace_packet *packet);
void lace_transmit_gated(struct lace_device *lace, const struct lace_way *way,
			 struct sk_buff *skb, bool relay);

/* gate.c */

int lace_gate_init(struct lace_device *lace);
void lace_gate_destroy(struct lace_device *lace);
void lace_gate_purge(struct lace_device *lace);
bool lace_gate_detour(struct lace_device *lace, struct lace_way *way);
bool lace_gate_hold(struct lace_device *lace, struct lace_way *way,
		    struct sk_buff *skb, bool relay);
void lace_gate_begin(struct lace_device *lace);
void lace_gate_end(struct lace_device *lace);
bool lace_gate_waits(struct lace_device *lace);
void lace_gate_look(struct lace_device *lace);

/* receive.c */

rx_handler_result_t lace_receive(struct sk_buff **pskb);

/* reorder.c */

int lace_reorder_init(struct lace_device *lace);
void lace_reorder_destroy(struct lace_device *lace);
bool lace_reorder_receive(struct lace_device *lace, struct sk_buff *skb,
			  const struct lace_packet *packet, u16 peer, u8 lane,
			  u32 lanes, bool direct);
void lace_reorder_flush(struct lace_device *lace);
void lace_reorder_follow(struct lace_device *lace,
			 const struct lace_active *active);
void lace_reorder_set(struct lace_device *lace, u32 usecs);
u32 lace_reorder_depth(const struct lace_device *lace);

/* lane.c */

extern struct workqueue_struct *lace_wq;

int lace_lanes_init(void);
void lace_lanes_exit(void);
void lace_lanes_start(struct lace_device *lace);
void lace_lanes_stop(struct lace_device *lace);
void lace_lanes_follow(struct lace_device *lace);
void lace_lanes_set_interval(struct lace_device *lace, u32 msecs);
void lace_lanes_set_key(struct lace_device *lace, struct lace_key *key);
int lace_lane_init(struct lace_port *port);
void lace_lane_free(struct lace_port *port);
void lace_lane_unplug(struct lace_port *port);
bool lace_lane_had_word(const struct lace_port *port);
u64 lace_lane_epoch(const struct lace_port *port);
u16 lace_lane_pick_queue(struct net_device *dev, struct sk_buff *skb);
void lace_lane_sent(struct lace_port *port, u16 queue, unsigned int frames,
		    unsigned int bytes);
void lace_lane_report(struct lace_port *port, enum lace_dir dir,
		      struct lace_lane_report *report,
		      u64 values[LACE_A_LANESTAT_MAX + 1]);

/* The queue that dev_queue_xmit() will take; the frame is complete. */
static inline u16 lace_lane_queue(struct net_device *dev, struct sk_buff *skb)
{
	return dev->real_num_tx_queues == 1 ? 0 :
					      lace_lane_pick_queue(dev, skb);
}

/* lane_frame.c */

void lace_lane_receive(struct lace_port *port, const struct lace_active *active,
		       struct sk_buff *skb);

/* trace.c: what fills tracepoints, each behind trace_lace_NAME_enabled() */

void lace_trace_lane_counter(const struct lace_port *port, enum lace_dir dir,
			     enum lace_attr_lanestat counter);
void lace_trace_dev_counter(const struct lace_device *lace,
			    enum lace_attr_devstat counter, unsigned int n);
void lace_trace_send(const struct lace_port *port,
		     const struct lace_active *active, unsigned int frames,
		     unsigned int bytes, bool relay);
void lace_trace_receive(const struct lace_port *port,
			const struct lace_active *active, unsigned int frames,
			unsigned int bytes, bool relay);

/* hook.c */

enum lace_hooks_state {
	LACE_HOOKS_DONE,
	LACE_HOOKS_PENDING,
	LACE_HOOKS_FAILED,
};

/* What a call says besides what its hook keeps. */
struct lace_hook_call {
	bool from_given;		/* a segment was active before */
	u32 from;
	bool to_given;			/* one is to be active */
	u32 to;
	u32 deadline_ms;		/* within which they have to answer */
};

struct lace_hook_answer {
	u32 call;
	bool phase_given;
	u8 phase;
	bool transition_given;
	u64 transition;
	u32 error;			/* positive errno, or 0 */
	char reason[LACE_REASON_MAX + 1];
};

int lace_hooks_init(void);
void lace_hooks_exit(void);
void lace_hooks_start(struct lace_device *lace);
void lace_hooks_destroy(struct lace_device *lace);
void lace_hooks_begin(struct lace_device *lace);
int lace_hooks_call(struct lace_device *lace, u8 phase, u64 id,
		    const struct lace_hook_call *call);
enum lace_hooks_state lace_hooks_state(struct lace_device *lace,
				       struct lace_fault_report *fault);
const char *lace_hooks_reason(struct lace_device *lace);
void lace_hooks_cancel(struct lace_device *lace);
struct lace_hook *lace_hook_find(struct lace_device *lace, const char *name);
struct lace_hook *lace_hook_set(struct lace_device *lace, const char *name,
				u32 portid, u32 phases,
				struct netlink_ext_ack *extack);
void lace_hook_del(struct lace_hook *hook, struct genl_info *info);
struct lace_hook *lace_hook_done(struct lace_device *lace, u32 portid,
				 const struct lace_hook_answer *answer,
				 struct netlink_ext_ack *extack);

/* transition.c */

int lace_transition_start(struct lace_device *lace,
			  const struct lace_transition_request *request,
			  u64 *id, struct netlink_ext_ack *extack);
int lace_transition_abort(struct lace_device *lace,
			  struct netlink_ext_ack *extack);
const struct lace_transition_report *
lace_transition_next(struct lace_device *lace, u64 id);
void lace_transition_kick(struct lace_device *lace);

/* ethtool.c */

extern const struct ethtool_ops lace_ethtool_ops;

/* netlink.c */

enum lace_nl_group {
	LACE_NL_MONITOR,
	LACE_NL_TRANSITION,
	LACE_NL_HOOK,
};

/* Continue a dump with the objects of one device from *next on.  0, or
 * -EMSGSIZE with *next at the one that no longer fitted.
 */
typedef int (*lace_nl_dump_fn)(struct sk_buff *skb,
			       struct netlink_callback *cb,
			       struct lace_device *lace, unsigned long *next);

extern lace_compat_range lace_nl_ifindex_range;
extern lace_compat_range lace_nl_node_range;
extern lace_compat_range lace_nl_reorder_range;
extern lace_compat_range lace_nl_ack_range;

int lace_netlink_init(void);
void lace_netlink_exit(void);
int lace_nl_refuse_repeated(const struct nlattr *head, int len, u64 may_repeat,
			    struct netlink_ext_ack *extack);
int lace_nl_parse_nest(struct nlattr **attrs, int max,
		       const struct nlattr *nest,
		       const struct nla_policy *policy,
		       struct netlink_ext_ack *extack);
int lace_nl_count(const struct genl_info *info, int type);
struct net_device *lace_nl_netdev(struct net *net,
				  const struct nlattr *ifindex,
				  const struct nlattr *ifname,
				  struct netlink_ext_ack *extack);
int lace_nl_do(struct genl_info *info, u64 may_repeat,
	       int (*act)(struct lace_device *lace, struct genl_info *info));
void *lace_nl_begin(struct sk_buff *skb, u32 portid, u32 seq, int flags,
		    u8 cmd, const struct lace_device *lace);
void *lace_nl_begin_dump(struct sk_buff *skb, struct netlink_callback *cb,
			 u8 cmd, const struct lace_device *lace);
int lace_nl_put_stats(struct sk_buff *skb, int nest_type, int pad,
		      const u64 *values, int last);
int lace_nl_start(struct netlink_callback *cb,
		  size_t (*largest)(struct lace_device *lace));
int lace_nl_dump(struct sk_buff *skb, struct netlink_callback *cb,
		 lace_nl_dump_fn dump);
bool lace_nl_is_heard_in(const struct lace_device *lace,
			 const struct genl_info *info,
			 enum lace_nl_group group);
void lace_nl_announce_in(const struct lace_device *lace,
			 struct genl_info *info, struct sk_buff *skb, int err,
			 enum lace_nl_group group);
void lace_nl_multicast(const struct lace_device *lace, struct sk_buff *skb,
		       u32 except, enum lace_nl_group group);

static inline bool lace_nl_is_heard(const struct lace_device *lace,
				    const struct genl_info *info)
{
	return lace_nl_is_heard_in(lace, info, LACE_NL_MONITOR);
}

static inline void lace_nl_announce(const struct lace_device *lace,
				    struct genl_info *info,
				    struct sk_buff *skb, int err)
{
	lace_nl_announce_in(lace, info, skb, err, LACE_NL_MONITOR);
}

/* nl_device.c */

extern const struct nla_policy lace_nl_dev_policy[LACE_A_DEV_MAX + 1];
extern const struct nla_policy lace_nl_port_policy[LACE_A_PORT_MAX + 1];
int lace_nl_dev_get(struct sk_buff *skb, struct genl_info *info);
int lace_nl_dev_start(struct netlink_callback *cb);
int lace_nl_dev_dump(struct sk_buff *skb, struct netlink_callback *cb);
int lace_nl_dev_set(struct sk_buff *skb, struct genl_info *info);
int lace_nl_port_set(struct sk_buff *skb, struct genl_info *info);
void lace_nl_announce_device(struct lace_device *lace, struct genl_info *info);

/* nl_node.c */

extern const struct nla_policy lace_nl_node_policy[LACE_A_NODE_MAX + 1];
int lace_nl_node_get(struct sk_buff *skb, struct genl_info *info);
int lace_nl_node_start(struct netlink_callback *cb);
int lace_nl_node_dump(struct sk_buff *skb, struct netlink_callback *cb);
int lace_nl_node_set(struct sk_buff *skb, struct genl_info *info);
int lace_nl_node_del(struct sk_buff *skb, struct genl_info *info);

/* nl_lane.c */

extern const struct nla_policy lace_nl_lane_policy[LACE_A_LANE_MAX + 1];
int lace_nl_lane_get(struct sk_buff *skb, struct genl_info *info);
int lace_nl_lane_start(struct netlink_callback *cb);
int lace_nl_lane_dump(struct sk_buff *skb, struct netlink_callback *cb);
void lace_nl_announce_lanes(struct lace_device *lace, u8 number);

/* nl_segment.c */

extern const struct nla_policy lace_nl_segment_policy[LACE_A_SEGMENT_MAX + 1];
int lace_nl_segment_get(struct sk_buff *skb, struct genl_info *info);
int lace_nl_segment_start(struct netlink_callback *cb);
int lace_nl_segment_dump(struct sk_buff *skb, struct netlink_callback *cb);
int lace_nl_segment_set(struct sk_buff *skb, struct genl_info *info);
int lace_nl_segment_del(struct sk_buff *skb, struct genl_info *info);
int lace_nl_segment_activate(struct sk_buff *skb, struct genl_info *info);
void lace_nl_announce_active(struct lace_device *lace,
			     const struct lace_segment *old,
			     struct genl_info *info);
void lace_nl_announce_routes(struct lace_device *lace);

/* nl_transition.c */

extern const struct nla_policy
lace_nl_transition_policy[LACE_A_TRANSITION_DEADLINES + 1];
int lace_nl_transition_get(struct sk_buff *skb, struct genl_info *info);
int lace_nl_transition_start(struct sk_buff *skb, struct genl_info *info);
int lace_nl_transition_abort(struct sk_buff *skb, struct genl_info *info);
int lace_nl_transition_dump_start(struct netlink_callback *cb);
int lace_nl_transition_dump(struct sk_buff *skb, struct netlink_callback *cb);
void lace_nl_announce_transition(struct lace_device *lace,
				 const struct lace_transition_report *report);

/* nl_hook.c */

extern const struct nla_policy lace_nl_hook_policy[LACE_A_HOOK_MAX + 1];
int lace_nl_hook_get(struct sk_buff *skb, struct genl_info *info);
int lace_nl_hook_start(struct netlink_callback *cb);
int lace_nl_hook_dump(struct sk_buff *skb, struct netlink_callback *cb);
int lace_nl_hook_set(struct sk_buff *skb, struct genl_info *info);
int lace_nl_hook_del(struct sk_buff *skb, struct genl_info *info);
int lace_nl_hook_done(struct sk_buff *skb, struct genl_info *info);
int lace_nl_call_hook(const struct lace_hook *hook,
		      const struct lace_hook_call *call);
void lace_nl_announce_hook(const struct lace_hook *hook, struct genl_info *info,
			   u8 cmd);

#endif /* LACE_H */
