/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lane.c and lane_frame.c share: the lane protocol's state of a port, and
 * frames on their way out.
 */
#ifndef LACE_LANE_H
#define LACE_LANE_H

#include "ack.h"
#include "lace.h"

/* What was sent on a transmit queue of a port. */
struct lace_lane_queue {
	atomic64_t packets;
	atomic64_t bytes;
} ____cacheline_aligned_in_smp;

struct lace_lane {
	spinlock_t lock;		/* of all but sent and news */
	struct lace_ack_tx tx;
	struct lace_ack_rx rx;
	struct lace_far far[2];		/* at the other ends, of which tx and
					 * rx speak
					 */
	u64 epoch;			/* last one of the TX lane */
	u64 answered;			/* time of the last answer */
	bool marked;			/* a mark was sent in this interval */
	bool told_stale;		/* so was an answer to a stale one */
	int news;			/* the monitors do not know yet */
	u8 traced[2];			/* states that tracepoints told last */
	struct lace_lane_queue *sent;	/* by queue */
	struct lace_proto_count *counts;	/* sent, as last read */
};

struct lace_key {
	struct rcu_head rcu;
	siphash_key_t key;
};

/* Messages that are made, and yet to be sent. */
#define LACE_OUTBOX 40

struct lace_outbox_entry {
	u16 queue;
	u8 type;
	u8 port;		/* RX lane that is answered for */
	u16 to;
	u64 seq;		/* of a mark */
	struct sk_buff *skb;	/* the message alone */
};

struct lace_outbox {
	unsigned int n;
	struct lace_outbox_entry entries[LACE_OUTBOX];
};

/* trace.c */

void lace_trace_lane(const struct lace_port *port);
void lace_trace_ack(const struct lace_port *port,
		    const struct lace_proto_frame *ack, u64 now);

/* lane.c */

enum lace_attr_lanestat
lace_lane_mark(struct lace_port *port, const struct lace_far *from,
	       const struct lace_proto_frame *mark, struct lace_outbox *outbox);
enum lace_attr_lanestat lace_lane_answer(struct lace_port *port,
					 const struct lace_proto_frame *ack);

/* lane_frame.c */

void lace_lane_outbox(struct lace_outbox *outbox);
void lace_lane_post(struct lace_outbox *outbox, struct lace_port *port,
		    const struct lace_far *far, struct lace_proto_frame *frame);
void lace_lane_send(struct lace_device *lace, const struct lace_active *active,
		    struct lace_port *port, struct lace_outbox *outbox);

#endif /* LACE_LANE_H */
