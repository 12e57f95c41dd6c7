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

/* A message of a port's lane to its other end.  Needs the RCU read lock. */
void lace_lane_post(struct lace_outbox *outbox, struct lace_port *port,
		    const struct lace_far *far, struct lace_proto_frame *frame)
{
	const struct lace_key *key = rcu_dereference(port->lace->acks.key);
	struct lace_outbox_entry *entry;
	u8 data[LACE_PROTO_MAX];
	size_t len;

	if (WARN_ON_ONCE(outbox->n == LACE_OUTBOX))
		return;
	frame->from_node = READ_ONCE(port->lace->self);
	frame->from_port = READ_ONCE(port->number);
	frame->to_node = far->node;
	frame->to_port = far->port;
	len = lace_proto_encode(frame, key ? &key->key : NULL, data);
	entry = &outbox->entries[outbox->n];
	entry->skb = make_message(port->lace, data, len);
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

/* A lane that leads to the next node of a path: one that is not known to be
 * dark, if there is one.  They take turns by a number.
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

/* An answer on its way.  Pure acknowledgments of TCP have the same priority. */
static int send_along(struct lace_device *lace, const struct lace_active *active,
		      const struct lace_path *path, struct sk_buff *skb,
		      u8 turn)
{
	struct lace_port *port = lane_to(lace, path->ports, turn);

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

static void send_answer(struct lace_device *lace,
			const struct lace_active *active,
			struct lace_port *port,
			const struct lace_outbox_entry *entry)
{
	const struct lace_path *path;

	path = lace_segment_path(active->segment, active->segment->self,
				 entry->to);
	if (!path) {
		drop(port, LACE_DIR_RX, LACE_DROP_NO_WAY_BACK, entry->skb);
		return;
	}
	if (!send_along(lace, active, path, entry->skb,
			READ_ONCE(port->number)))
		lace_lane_count(port, LACE_DIR_RX, LACE_A_LANESTAT_ACKS);
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

/* Whether the frame is from the port at the far end to this one. */
static bool is_expected(struct message *message, const struct sk_buff *skb)
{
	const struct ethhdr *eth = eth_hdr(skb);

	if (!message->active)
		return false;
	message->far = &message->active->far[LACE_DIR_RX]
				[READ_ONCE(message->port->number)];
	return message->far->node != LACE_NO_NODE &&
	       ether_addr_equal(eth->h_source, message->far->mac) &&
	       ether_addr_equal(eth->h_dest, message->port->dev->dev_addr) &&
	       !skb_vlan_tag_present(skb);
}

static enum lace_attr_lanestat read_message(struct message *message,
					    const struct sk_buff *skb)
{
	const struct lace_key *key;

	if (!is_expected(message, skb) || skb->len > LACE_PROTO_MAX ||
	    skb_copy_bits(skb, 0, message->data, skb->len))
		return LACE_A_LANESTAT_REFUSED;
	message->len = skb->len;
	key = rcu_dereference(message->lace->acks.key);
	switch (lace_proto_decode(message->data, skb->len,
				  key ? &key->key : NULL, &message->frame)) {
	case LACE_PROTO_OK:
		return LACE_A_LANESTAT_UNSPEC;
	case LACE_PROTO_FORGED:
		return LACE_A_LANESTAT_FORGED;
	default:
		return LACE_A_LANESTAT_REFUSED;
	}
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

/* Counts an answer that is taken itself: on the TX lane that it is about. */
static enum lace_attr_lanestat take_answer(struct message *message)
{
	const struct lace_proto_frame *frame = &message->frame;
	enum lace_attr_lanestat counter;
	struct lace_port *port;

	port = rcu_dereference(message->lace->ports[frame->to_port]);
	if (!port)
		return LACE_A_LANESTAT_REFUSED;
	counter = lace_lane_answer(port, frame);
	if (counter != LACE_A_LANESTAT_ACKS)
		return counter;
	lace_lane_count(port, LACE_DIR_TX, counter);
	return LACE_A_LANESTAT_UNSPEC;
}

static enum lace_attr_lanestat relay(struct message *message,
				     const struct lace_path *path)
{
	struct sk_buff *skb;

	if (message->frame.hops <= 1)
		return LACE_A_LANESTAT_REFUSED;
	lace_proto_hop(message->data);
	skb = make_message(message->lace, message->data, message->len);
	if (skb)
		send_along(message->lace, message->active, path, skb,
			   READ_ONCE(message->port->number));
	return LACE_A_LANESTAT_UNSPEC;
}

static enum lace_attr_lanestat take_ack(struct message *message)
{
	const struct lace_segment *segment = message->active->segment;
	const struct lace_proto_frame *frame = &message->frame;
	const struct lace_path *path;

	path = lace_segment_path(segment, frame->from_node, frame->to_node);
	if (!path || path->prev != message->far->node)
		return LACE_A_LANESTAT_REFUSED;
	if (path->next == LACE_NO_NODE)
		return take_answer(message);
	return relay(message, path);
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
	case LACE_PROTO_ACK:
		return take_ack(message);
	default:
		return LACE_A_LANESTAT_REFUSED;
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
