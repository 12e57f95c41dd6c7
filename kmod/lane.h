/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lane.c and lane_frame.c share: the lane protocol's state of a port, and
 * frames on their way out.
 */
#ifndef LACE_LANE_H
#define LACE_LANE_H

#include "ack.h"
#include "lace.h"

#define LACE_PROBES 64

/* What was sent on a transmit queue of a port. */
struct lace_lane_queue {
	atomic64_t packets;
	atomic64_t bytes;
} ____cacheline_aligned_in_smp;

/* Probes of a TX lane.  One is answered for if it is one of the last. */
struct lace_probe {
	bool on;
	bool proved;
	bool found;		/* somewhere else: */
	struct lace_far end;
	u32 segment;		/* that they are for */
	u64 first;		/* number of the first one */
	u64 seq;		/* and of the last one */
	u64 times[LACE_PROBES];	/* by number */
};

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
	bool draining;			/* the transition waits for it */
	struct lace_probe probe;
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

/* Whether all that was sent on a lane has been answered for. */
enum lace_drained {
	LACE_DRAINED,
	LACE_UNDRAINED,
	LACE_UNDRAINABLE,	/* it is dark */
	LACE_UNANSWERED,	/* nobody has ever answered on it */
};

/* lane.c */

enum lace_attr_lanestat
lace_lane_mark(struct lace_port *port, const struct lace_far *from,
	       const struct lace_proto_frame *mark, struct lace_outbox *outbox);
enum lace_attr_lanestat lace_lane_answer(struct lace_port *port,
					 const struct lace_proto_frame *ack);

void lace_lane_drain(struct lace_port *port, bool on);
enum lace_drained lace_lane_drained(struct lace_port *port);
void lace_lane_proved(struct lace_port *port);
void lace_lane_renew(struct lace_port *port);
void lace_lane_urge(struct lace_device *lace, const struct lace_active *active,
		    struct lace_port *port);

/* probe.c */

void lace_probe_start(struct lace_port *port, u32 segment);
void lace_probe_stop(struct lace_port *port);
void lace_probe_send(struct lace_device *lace, const struct lace_active *active,
		     struct lace_port *port);
bool lace_probe_answer(struct lace_port *port,
		       const struct lace_proto_frame *reply);
bool lace_probe_is_proved(struct lace_port *port);
bool lace_probe_found(struct lace_port *port, struct lace_far *end);

/* lane_frame.c */

void lace_lane_outbox(struct lace_outbox *outbox);
void lace_lane_post(struct lace_outbox *outbox, struct lace_port *port,
		    const struct lace_far *far, struct lace_proto_frame *frame);
void lace_lane_send(struct lace_device *lace, const struct lace_active *active,
		    struct lace_port *port, struct lace_outbox *outbox);
void lace_lane_send_route(struct lace_device *lace,
			  const struct lace_active *active,
			  const struct lace_path *path,
			  const struct lace_proto_frame *probe);

/* route.c */

bool lace_route_answer(struct lace_device *lace,
		       const struct lace_active *active,
		       const struct lace_proto_frame *reply);

#endif /* LACE_LANE_H */
