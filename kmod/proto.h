/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Frames of the lane protocol.  Documentation/lane-protocol.rst specifies them;
 * what a field is for is said here, where it is in the frame in proto.c.
 * Knows no packets or clocks: it also compiles in user space, where it is
 * tested and fuzzed.
 */
#ifndef LACE_PROTO_H
#define LACE_PROTO_H

#ifdef __KERNEL__
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define LACE_PROTO_ETHERTYPE 0x88b5
#define LACE_PROTO_VERSION 1
#define LACE_PROTO_HOPS 64	/* that an answer begins with */
#define LACE_PROTO_WINDOW 64	/* marks that an answer speaks of, and one */

enum lace_proto_type {
	LACE_PROTO_MARK = 1,
	LACE_PROTO_ACK,
	LACE_PROTO_PROBE,
	LACE_PROTO_PROBE_REPLY,
	LACE_PROTO_ROUTE_PROBE,
	LACE_PROTO_ROUTE_REPLY,
};

enum lace_proto_flag {
	LACE_PROTO_TAGGED = 1,	/* a tag follows; encoder and decoder only */
	LACE_PROTO_STALE = 2,	/* ACK: its mark was of an epoch gone by */
	LACE_PROTO_URGENT = 4,	/* MARK: to be answered at once */
};

#define LACE_PROTO_TAG 8	/* bytes of a tag */
#define LACE_PROTO_MAX (112 + LACE_PROTO_TAG)	/* bytes of a message */
#define LACE_PROTO_KEY 16	/* bytes of a key */

/* Counts that wrap at 2^64. */
struct lace_proto_count {
	u64 packets;
	u64 bytes;
};

struct lace_proto_mark {
	struct lace_proto_count queue;	/* sent before it on its own queue */
	struct lace_proto_count lane;	/* and on all queues of the lane */
};

struct lace_proto_ack {
	u64 floor;	/* the newest epoch of the lane that its receiver knows */
	u64 life;	/* of the receiver's counts */
	u64 number;	/* of answers in that life */
	u64 bitmap;	/* bit i: mark seq - 1 - i came in, too */
	struct lace_proto_count received;	/* when it was answered */
	struct lace_proto_count marked;	/* when mark seq came in */
	u64 hold;	/* ns from then to the answer */
};

struct lace_proto_probe {
	u32 segment;	/* that the prober is about to follow, or follows */
	u16 meant_node;	/* PROBE_REPLY: whom the probe named */
	u8 meant_port;
};

struct lace_proto_frame {
	u8 type;
	u8 flags;
	u8 hops;	/* that it may still take; the one field that changes */
	/* Of the lane: where it leaves, for a mark or probe; where it ends, for
	 * an answer.  Of a route: its rank, from the one and to the other.
	 */
	u8 from_port;
	u8 to_port;
	u16 from_node;	/* who made the message */
	u16 to_node;	/* whom it is for */
	u16 queue;	/* MARK: transmit queue */
	u64 epoch;	/* MARK: of the sender; answers repeat it, */
	u64 seq;	/* and the number of the mark, */
	u64 time;	/* and what only its sender can read */
	union {
		struct lace_proto_mark mark;
		struct lace_proto_ack ack;
		struct lace_proto_probe probe;
	};
};

enum lace_proto_fault {
	LACE_PROTO_OK,
	LACE_PROTO_MALFORMED,
	LACE_PROTO_FORGED,	/* no tag, or a wrong one, or one too many */
};

size_t lace_proto_encode(const struct lace_proto_frame *frame,
			 const siphash_key_t *key, u8 data[LACE_PROTO_MAX]);
enum lace_proto_fault lace_proto_decode(const u8 *data, size_t len,
					const siphash_key_t *key,
					struct lace_proto_frame *frame);
void lace_proto_hop(u8 *data);
void lace_proto_key(const u8 bytes[LACE_PROTO_KEY], siphash_key_t *key);

#endif /* LACE_PROTO_H */
