/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two ends of a lane know of it: the sender's window of marks, and
 * what the answers to them say; the receiver's window of marks, and what it
 * answers.  Knows no packets, locks or clocks: it also compiles in user space,
 * where it is tested and fuzzed.
 *
 * Counts wrap at 2^64, and are compared by their difference.
 */
#ifndef LACE_ACK_H
#define LACE_ACK_H

#include <linux/lace.h>

#include "proto.h"

#define LACE_ACK_MARKS LACE_PROTO_WINDOW
/* Whole intervals without word before a lane is dark: it then is so within
 * three intervals of the last word.
 */
#define LACE_ACK_PATIENCE 2
/* Intervals without being up before a lane begins a new epoch. */
#define LACE_ACK_RENEWAL 16

/* What became of a frame. */
enum lace_ack_verdict {
	LACE_ACK_TAKEN,
	LACE_ACK_STALE,		/* of an epoch or a life gone by */
	LACE_ACK_REPEATED,	/* had before, or too old to tell */
	LACE_ACK_NEVER_SENT,	/* answers no mark of the window */
	LACE_ACK_AHEAD,		/* a mark of ours was taken for stale */
};

/* Word that should come again and again. */
struct lace_ack_pulse {
	u8 state;		/* enum lace_lane_state */
	u8 missed;		/* intervals without word */
	bool heard;		/* in this interval */
	bool ever;		/* at all; last counts */
	u64 last;		/* when, ns */
};

/* A mark that was sent. */
struct lace_ack_mark {
	u64 seq;		/* 0: none */
	u64 time;
	struct lace_proto_count queue;
	struct lace_proto_count lane;
	u16 number;		/* of the queue */
	bool answered;
};

/* What is known of one transmit queue; what was sent on it, the caller counts
 * and passes along.
 */
struct lace_ack_queue {
	struct lace_proto_count marked;		/* spoken for by a mark */
	struct lace_proto_count answered;	/* by one that was answered */
};

/* Packets, or bytes, of one epoch. */
struct lace_ack_tally {
	u64 offset;		/* what was sent less what was received, less
				 * what was lost
				 */
	u64 lost;
	u64 received;		/* as the receiver counts */
};

struct lace_ack_tx {
	struct lace_ack_pulse pulse;
	u64 epoch;		/* 0: the lane is nobody's */
	u64 seq;		/* of the last mark */
	u64 dark_seq;		/* last mark when it went dark */
	u8 down;		/* intervals in which it was not up */
	u64 overtook;		/* last mark that may have overtaken data */
	u64 best;		/* newest mark that was answered */
	u64 life;		/* of the receiver's counts, 0: not known */
	u64 number;		/* of its last answer */
	u64 rtt;		/* ns, smoothed; 0: not known */
	bool settled;		/* what is missing did not come meanwhile */
	struct lace_proto_count begun;	/* sent before what is counted below */
	unsigned int turn;	/* queue to look at first for the next mark */
	struct lace_ack_tally packets, bytes;
	/* Sums of what is behind, over all epochs. */
	struct lace_proto_count delivered_before, lost_before;
	struct lace_ack_mark marks[LACE_ACK_MARKS];
	unsigned int n_queues;
	struct lace_ack_queue *queues;	/* the caller's */
};

struct lace_ack_rx {
	struct lace_ack_pulse pulse;
	u64 life;		/* of these counts, 0: the lane is nobody's */
	u64 epoch;		/* newest of the sender; 0: none yet */
	u64 seq;		/* newest mark of it */
	u64 bitmap;		/* bit i: mark seq - 1 - i came in */
	u64 time;		/* of mark seq, to be repeated */
	u64 arrival;		/* of mark seq, ns */
	struct lace_proto_count marked;	/* received then */
	u64 number;		/* of the last answer */
	u64 missing;		/* packets then, but for a constant */
	bool due;		/* an answer is */
	bool urgent;		/* and at once */
};

/* The window of the sender. */
void lace_ack_tx_start(struct lace_ack_tx *tx, u64 epoch,
		       const struct lace_proto_count *sent);
bool lace_ack_tx_is_overdue(const struct lace_ack_tx *tx);
void lace_ack_tx_renew(struct lace_ack_tx *tx, u64 epoch,
		       const struct lace_proto_count *sent);
void lace_ack_tx_stop(struct lace_ack_tx *tx);
int lace_ack_tx_next(struct lace_ack_tx *tx,
		     const struct lace_proto_count *sent);
unsigned int lace_ack_tx_idle(const struct lace_ack_tx *tx,
			      const struct lace_proto_count *sent);
void lace_ack_tx_mark(struct lace_ack_tx *tx, unsigned int queue,
		      const struct lace_proto_count *sent, u64 now,
		      struct lace_proto_frame *frame);
enum lace_ack_verdict lace_ack_tx_answer(struct lace_ack_tx *tx,
					 const struct lace_proto_frame *frame,
					 const struct lace_proto_count *sent,
					 u64 now);
void lace_ack_tx_overtook(struct lace_ack_tx *tx);
bool lace_ack_tx_drained(const struct lace_ack_tx *tx,
			 const struct lace_proto_count *sent);
void lace_ack_tx_read(const struct lace_ack_tx *tx,
		      struct lace_proto_count *delivered,
		      struct lace_proto_count *lost);

/* The window of the receiver. */
void lace_ack_rx_start(struct lace_ack_rx *rx, u64 life);
void lace_ack_rx_stop(struct lace_ack_rx *rx);
enum lace_ack_verdict lace_ack_rx_mark(struct lace_ack_rx *rx,
				       const struct lace_proto_frame *frame,
				       const struct lace_proto_count *received,
				       u64 now);
void lace_ack_rx_answer(struct lace_ack_rx *rx,
			const struct lace_proto_count *received, u64 now,
			struct lace_proto_frame *frame);
void lace_ack_rx_refuse(struct lace_ack_rx *rx,
			const struct lace_proto_frame *mark,
			struct lace_proto_frame *frame);

/* Both: the end of an interval, and the end of the light. */
void lace_ack_pulse_hear(struct lace_ack_pulse *pulse, u64 now);
bool lace_ack_pulse_tick(struct lace_ack_pulse *pulse);
bool lace_ack_tx_tick(struct lace_ack_tx *tx);
bool lace_ack_tx_unplug(struct lace_ack_tx *tx);

#endif /* LACE_ACK_H */
