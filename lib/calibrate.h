/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * From counters of lanes that carry traffic to the numbers that a cluster file
 * has of them: rate, control ratio.  Pure: who reads the counters, and when, is
 * the caller's business.
 */
#ifndef LACE_CALIBRATE_H
#define LACE_CALIBRATE_H

#include "lace.h"

/* An answer of the lane protocol on the fibre: header and message, no FCS. */
#define LACE_ACK_FRAME_BYTES (14 + 112)

/* Counters of one lane at one moment. */
struct lace_lane_count {
	double at_s;
	uint64_t bytes;			/* frame bytes */
};

/* What some nodes got, over all RX lanes, and what they sent for it. */
struct lace_traffic_count {
	uint64_t packets, bytes;	/* data: not relayed, no control */
	uint64_t control_bytes;		/* sent, of TCP */
	uint64_t acks;			/* sent, of the lane protocol */
};

/* A transition of one node, by a clock that all nodes have. */
struct lace_transition_span {
	uint64_t begin_ns, end_ns;
	bool moved, failed;		/* a lane; anything */
};

double lace_calibrate_rate(const struct lace_lane_count *counts, size_t nr);
double lace_calibrate_payload(const struct lace_traffic_count *count);
double lace_calibrate_control(const struct lace_traffic_count *count);
double lace_calibrate_median(double *values, size_t nr);
double lace_calibrate_transition(struct lace_transition_span *spans, size_t nr,
				 size_t *nr_together);

#endif /* LACE_CALIBRATE_H */
