// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of the lane protocol on their way in and out: whom they are from and
 * for, what becomes of them, and over which lanes answers travel.
 */
#include <linux/pkt_sched.h>

#include "lace.h"
#include "lane.h"
#include "trace.h"

/* ---- out ---- */

void lace_lane_outbox(struct lace_outbox *outbox)
{
	outbox->n = 0;
}

static struct sk_buff *make_message(struct lace_device *lace, const u8 *data,
				    size_t len)
{
	unsigned int headroom = READ_ONCE(lace->dev->needed_headroom);
	struct sk_buff *skb;

	skb = alloc_skb(headroom + LACE_PROTO_MAX, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	skb_put_data(skb, data, len);
	skb_reset_network_header(skb);
	skb->protocol = htons(LACE_PROTO_ETHERTYPE);
	return skb;
}

/* A message that is complete.  Needs the RCU read lock. */
static struct sk_buff *make_frame(struct lace_device *lace,
				  const struct lace_proto_frame *frame)
{
	const struct lace_key *key = rcu_dereference(lace->acks.key);
	u8 data[LACE_PROTO_MAX];
	size_t len;

	len = lace_proto_encode(frame, key ? &key->key : NULL, data);
	return make_message(lace, data, len);
}

/* A message of a port's lane to its other end.  Needs the RCU read lock. */
void lace_lane_post(struct lace_outbox *outbox, struct lace_port *port,
		    const struct lace_far *far, struct lace_proto_frame *frame)
{
	struct lace_outbox_entry *entry;

	if (WARN_ON_ONCE(outbox->n == LACE_OUTBOX))
		return;
	frame->from_node = READ_ONCE(port->lace->self);
	frame->from_port = READ_ONCE(port->number);
	frame->to_node = far->node;
	frame->to_port = far->port;
	entry = &outbox->entries[outbox->n];
	entry->skb = make_frame(port->lace, frame);
	if (!entry->skb)
		return;
	entry->type = frame->type;
	entry->queue = frame->queue;
	entry->seq = frame->seq;
	entry->to = frame->to_node;
	outbox->n++;
}

/* A message that was not sent: it is in no counter. */
static void drop(const struct lace_port *port, enum lace_dir dir,
		 enum lace_drop_reason reason, struct sk_buff *skb)
{
	trace_lace_drop(port->lace->dev, port->number, dir, reason, 1);
	kfree_skb(skb);
}

/* Takes the message over. */
static int send(struct lace_port *port, const struct lace_far *far,
		struct sk_buff *skb)
{
	int err;

	if (lace_transmit_header(skb, port, far)) {
		drop(port, LACE_DIR_TX, LACE_DROP_NO_MEMORY, skb);
		return -ENOMEM;
	}
	skb->dev = port->dev;
	err = dev_queue_xmit(skb);
	return net_xmit_eval(err);
}

/* One of these lanes: one that is not known to be dark, if there is one.  They
 * take turns by a number.
 */
static struct lace_port *lane_to(struct lace_device *lace, u32 ports, u8 turn)
{
	struct lace_port *port, *dark = NULL;
	int i, number;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		number = (turn + i) % LACE_MAX_PORTS;
		if (!(ports & BIT(number)))
			continue;
		port = rcu_dereference(lace->ports[number]);
		if (!port || !lace_port_is_live(port))
			continue;
		if (!READ_ONCE(port->dark))
			return port;
		dark = dark ?: port;
	}
	return dark;
}

/* A lane on the way between two nodes.  What is proved goes before what is not:
 * open lanes, then those that the other segment has as well, then any.
 */
static struct lace_port *way_to(struct lace_device *lace,
				const struct lace_active *active, u16 from,
				u16 to, u8 turn)
{
	u32 open = ~READ_ONCE(active->closed);
	struct lace_port *port = NULL;
	const struct lace_path *path, *other = NULL;

	path = lace_segment_way(active->segment, from, to);
	if (path)
		port = lane_to(lace, path->ports & open, turn);
	if (!port && active->other)
		other = lace_segment_path(active->other, from, to);
	if (other)
		port = lane_to(lace, other->ports & active->same & open, turn);
	if (!port && path)
		port = lane_to(lace, path->ports, turn);
	return port;
}

/* An answer on its way.  Pure acknowledgments of TCP have the same priority. */
static int send_along(struct lace_device *lace, const struct lace_active *active,
		      u16 from, u16 to, struct sk_buff *skb, u8 turn)
{
	struct lace_port *port = way_to(lace, active, from, to, turn);

	if (!port) {
		trace_lace_drop(lace->dev, turn, LACE_DIR_RX,
				LACE_DROP_NO_WAY_BACK, 1);
		kfree_skb(skb);
		return -ENETDOWN;
	}
	skb->priority = TC_PRIO_CONTROL;
	return send(port, &active->far[LACE_DIR_TX][READ_ONCE(port->number)],
		    skb);
}

/* A probe of a route, over a lane that the route begins with. */
void lace_lane_send_route(struct lace_device *lace,
			  const struct lace_active *active,
			  const struct lace_path *path,
			  const struct lace_proto_frame *probe)
{
	struct lace_port *port = lane_to(lace, path->ports, 0);
	struct sk_buff *skb = port ? make_frame(lace, probe) : NULL;

	if (!skb)
		return;
	skb->priority = TC_PRIO_CONTROL;
	send(port, &active->far[LACE_DIR_TX][READ_ONCE(port->number)], skb);
}

static void send_answer(struct lace_device *lace,
			const struct lace_active *active,
			struct lace_port *port,
			const struct lace_outbox_entry *entry)
{
	if (!send_along(lace, active, active->segment->self, entry->to,
			entry->skb, READ_ONCE(port->number)) &&
	    entry->type == LACE_PROTO_ACK)
		lace_lane_count(port, LACE_DIR_RX, LACE_A_LANESTAT_ACKS);
}

/* To all, so that whoever is at the other end hears it. */
static void send_probe(struct lace_port *port,
		       const struct lace_outbox_entry *entry)
{
	struct lace_far all;

	eth_broadcast_addr(all.mac);
	entry->skb->priority = TC_PRIO_CONTROL;
	send(port, &all, entry->skb);
}

/* Through its queue, behind the data there.  A device of which the lower one
 * knows nothing stands for one without a map from processors to queues; the
 * recorded queue then counts.
 */
static int send_mark_through(struct lace_port *port, const struct lace_far *far,
			     struct sk_buff *skb, u16 queue)
{
	struct net_device *dev = port->dev;
	int err;

	if (dev->real_num_tx_queues == 1 || dev->num_tc)
		return send(port, far, skb);
	if (lace_transmit_header(skb, port, far)) {
		drop(port, LACE_DIR_TX, LACE_DROP_NO_MEMORY, skb);
		return -ENOMEM;
	}
	skb->dev = dev;
	skb_record_rx_queue(skb, queue);
	err = dev_queue_xmit_accel(skb, port->lace->dev);
	return net_xmit_eval(err);
}

static void send_mark(const struct lace_active *active, struct lace_port *port,
		      const struct lace_outbox_entry *entry)
{
	const struct lace_far *far;

	far = &active->far[LACE_DIR_TX][READ_ONCE(port->number)];
	if (far->node != entry->to) {
		drop(port, LACE_DIR_TX, LACE_DROP_NO_WAY_BACK, entry->skb);
		return;
	}
	if (send_mark_through(port, far, entry->skb, entry->queue))
		return;
	lace_lane_count(port, LACE_DIR_TX, LACE_A_LANESTAT_MARKS);
	trace_lace_mark(port->lace->dev, port->number, far->node, far->port,
			entry->queue, entry->seq);
}

/* Send what was posted for a port.  Without its lock. */
void lace_lane_send(struct lace_device *lace, const struct lace_active *active,
		    struct lace_port *port, struct lace_outbox *outbox)
{
	const struct lace_outbox_entry *entry;
	unsigned int i;

	for (i = 0; i < outbox->n; i++) {
		entry = &outbox->entries[i];
		if (entry->type == LACE_PROTO_MARK)
			send_mark(active, port, entry);
		else if (entry->type == LACE_PROTO_PROBE)
			send_probe(port, entry);
		else
			send_answer(lace, active, port, entry);
	}
}

/* ---- in ---- */

/* A message, and where it came in. */
struct message {
	struct lace_device *lace;
	const struct lace_active *active;
	struct lace_port *port;
	const struct lace_far *far;
	struct lace_proto_frame frame;
	size_t len;
	u8 data[LACE_PROTO_MAX];
};

/* Whether the frame is to all, as probes are. */
static bool is_to_all(const struct sk_buff *skb)
{
	return is_broadcast_ether_addr(eth_hdr(skb)->h_dest) &&
	       !skb_vlan_tag_present(skb);
}

/* Whether the frame is from the port at the far end to this one. */
static bool is_expected(struct message *message, const struct sk_buff *skb)
{
	const struct ethhdr *eth = eth_hdr(skb);

	if (!message->active)
		return false;
	message->far = lace_active_sender(message->active,
					  READ_ONCE(message->port->number),
					  eth->h_source);
	return message->far &&
	       ether_addr_equal(eth->h_dest, message->port->dev->dev_addr) &&
	       !skb_vlan_tag_present(skb);
}

static enum lace_attr_lanestat read_message(struct message *message,
					    const struct sk_buff *skb)
{
	bool expected = is_expected(message, skb);
	const struct lace_key *key;

	if ((!expected && !(message->active && is_to_all(skb))) ||
	    skb->len > LACE_PROTO_MAX ||
	    skb_copy_bits(skb, 0, message->data, skb->len))
		return LACE_A_LANESTAT_REFUSED;
	message->len = skb->len;
	key = rcu_dereference(message->lace->acks.key);
	switch (lace_proto_decode(message->data, skb->len,
				  key ? &key->key : NULL, &message->frame)) {
	case LACE_PROTO_OK:
		break;
	case LACE_PROTO_FORGED:
		return LACE_A_LANESTAT_FORGED;
	default:
		return LACE_A_LANESTAT_REFUSED;
	}
	/* Probes are to all, and nothing else is. */
	if ((message->frame.type == LACE_PROTO_PROBE) == expected)
		return LACE_A_LANESTAT_REFUSED;
	return LACE_A_LANESTAT_UNSPEC;
}

static enum lace_attr_lanestat take_mark(struct message *message)
{
	const struct lace_proto_frame *frame = &message->frame;
	enum lace_attr_lanestat counter;
	struct lace_outbox outbox;

	if (frame->to_node != message->active->segment->self ||
	    frame->to_port != READ_ONCE(message->port->number) ||
	    frame->from_node != message->far->node ||
	    frame->from_port != message->far->port)
		return LACE_A_LANESTAT_REFUSED;
	lace_lane_outbox(&outbox);
	counter = lace_lane_mark(message->port, message->far, frame, &outbox);
	lace_lane_send(message->lace, message->active, message->port, &outbox);
	return counter;
}

/* Say where a probe has come in. */
static void answer_probe(struct message *message)
{
	const struct lace_proto_frame *probe = &message->frame;
	const struct lace_far to = {
		.node = probe->from_node,
		.port = probe->from_port,
	};
	struct lace_proto_frame reply = {
		.type = LACE_PROTO_PROBE_REPLY,
		.hops = LACE_PROTO_HOPS,
		.epoch = probe->epoch,
		.seq = probe->seq,
		.time = probe->time,
		.probe = {
			.segment = probe->probe.segment,
			.meant_node = probe->to_node,
			.meant_port = probe->to_port,
		},
	};
	struct lace_outbox outbox;

	lace_lane_outbox(&outbox);
	lace_lane_post(&outbox, message->port, &to, &reply);
	lace_lane_send(message->lace, message->active, message->port, &outbox);
}

static bool is_end(const struct lace_far *far, u16 node, u8 port)
{
	return far->node == node && far->port == port;
}

/* A probe that came back to its sender: the lane ends at its own port. */
static enum lace_attr_lanestat take_own_probe(struct message *message)
{
	struct lace_proto_frame reply = message->frame;
	struct lace_port *port;

	port = rcu_dereference(message->lace->ports[reply.from_port]);
	if (!port)
		return LACE_A_LANESTAT_REFUSED;
	reply.probe.meant_node = reply.to_node;
	reply.probe.meant_port = reply.to_port;
	reply.from_port = READ_ONCE(message->port->number);
	lace_probe_answer(port, &reply);
	return LACE_A_LANESTAT_REFUSED;
}

/* The lane leads here.  If it should not, its sender has to know where; if it
 * should, but only in the segment that this node is about to follow, the sender
 * asks again.
 */
static enum lace_attr_lanestat take_probe(struct message *message,
					  const struct sk_buff *skb)
{
	const struct lace_active *active = message->active;
	const struct lace_proto_frame *probe = &message->frame;
	u8 number = READ_ONCE(message->port->number);
	const struct lace_far *far = &active->far[LACE_DIR_RX][number];

	if (probe->from_node == active->segment->self)
		return take_own_probe(message);
	if (probe->to_node != active->segment->self ||
	    probe->to_port != number) {
		answer_probe(message);
		return LACE_A_LANESTAT_REFUSED;
	}
	if (is_end(far, probe->from_node, probe->from_port) &&
	    ether_addr_equal(eth_hdr(skb)->h_source, far->mac)) {
		answer_probe(message);
		return LACE_A_LANESTAT_UNSPEC;
	}
	if (active->other && is_end(&active->other_far[number],
				    probe->from_node, probe->from_port))
		return LACE_A_LANESTAT_UNSPEC;
	return LACE_A_LANESTAT_REFUSED;
}

/* Counts an ACK that is taken itself: on the TX lane that it is about. */
static enum lace_attr_lanestat take_answer(struct message *message)
{
	const struct lace_proto_frame *frame = &message->frame;
	enum lace_attr_lanestat counter;
	struct lace_port *port;

	port = rcu_dereference(message->lace->ports[frame->to_port]);
	if (!port)
		return LACE_A_LANESTAT_REFUSED;
	if (frame->type == LACE_PROTO_PROBE_REPLY)
		return lace_probe_answer(port, frame) ?
			LACE_A_LANESTAT_UNSPEC : LACE_A_LANESTAT_REPLAYED;
	counter = lace_lane_answer(port, frame);
	if (counter != LACE_A_LANESTAT_ACKS)
		return counter;
	lace_lane_count(port, LACE_DIR_TX, counter);
	return LACE_A_LANESTAT_UNSPEC;
}

/* A route leads here: say so, by the way back. */
static void answer_route(struct message *message)
{
	const struct lace_proto_frame *probe = &message->frame;
	struct lace_proto_frame reply = {
		.type = LACE_PROTO_ROUTE_REPLY,
		.hops = LACE_PROTO_HOPS,
		.from_node = probe->to_node,
		.to_node = probe->from_node,
		.to_port = probe->from_port,
		.epoch = probe->epoch,
		.seq = probe->seq,
		.time = probe->time,
		.probe.segment = probe->probe.segment,
	};
	struct sk_buff *skb = make_frame(message->lace, &reply);

	if (skb)
		send_along(message->lace, message->active, reply.from_node,
			   reply.to_node, skb,
			   READ_ONCE(message->port->number));
}

static enum lace_attr_lanestat relay(struct message *message)
{
	const struct lace_proto_frame *frame = &message->frame;
	struct sk_buff *skb;

	if (frame->hops <= 1)
		return LACE_A_LANESTAT_REFUSED;
	lace_proto_hop(message->data);
	skb = make_message(message->lace, message->data, message->len);
	if (skb)
		send_along(message->lace, message->active, frame->from_node,
			   frame->to_node, skb,
			   READ_ONCE(message->port->number));
	return LACE_A_LANESTAT_UNSPEC;
}

/* An ACK, the reply to a probe, or a message of a route. */
static enum lace_attr_lanestat take_ack(struct message *message)
{
	const struct lace_active *active = message->active;
	const struct lace_proto_frame *frame = &message->frame;

	if (!lace_active_comes_from(active, frame->from_node, frame->to_node,
				    message->far->node))
		return LACE_A_LANESTAT_REFUSED;
	if (frame->to_node != active->segment->self)
		return relay(message);
	if (frame->type == LACE_PROTO_ROUTE_PROBE) {
		answer_route(message);
		return LACE_A_LANESTAT_UNSPEC;
	}
	if (frame->type == LACE_PROTO_ROUTE_REPLY)
		return lace_route_answer(message->lace, active, frame) ?
			       LACE_A_LANESTAT_UNSPEC :
			       LACE_A_LANESTAT_REPLAYED;
	return take_answer(message);
}

static enum lace_attr_lanestat take(struct message *message,
				    const struct sk_buff *skb)
{
	enum lace_attr_lanestat fault = read_message(message, skb);

	if (fault)
		return fault;
	switch (message->frame.type) {
	case LACE_PROTO_MARK:
		return take_mark(message);
	case LACE_PROTO_PROBE:
		return take_probe(message, skb);
	default:
		return take_ack(message);
	}
}

/* A frame with the protocol's EtherType that came in on a port.  Takes it over. */
void lace_lane_receive(struct lace_port *port, const struct lace_active *active,
		       struct sk_buff *skb)
{
	struct message message = {
		.lace = port->lace,
		.active = active,
		.port = port,
	};
	enum lace_attr_lanestat counter;

	if (READ_ONCE(port->lace->acks.msecs)) {
		counter = take(&message, skb);
		if (counter)
			lace_lane_count(port, LACE_DIR_RX, counter);
	}
	consume_skb(skb);
}
