// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of the lane protocol: every byte is where the specification has it,
 * what is written is read back, and a frame with any one thing wrong is
 * refused.
 */
#include "../../kmod/proto.c"

#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

/* In memory of exactly that size, so that reading beyond it shows. */
static enum lace_proto_fault decode(const u8 *data, size_t len,
				    const siphash_key_t *key,
				    struct lace_proto_frame *frame)
{
	u8 *copy = malloc(len ? len : 1);
	enum lace_proto_fault fault;

	memcpy(copy, data, len);
	fault = lace_proto_decode(copy, len, key, frame);
	free(copy);
	return fault;
}

static const u8 key_bytes[LACE_PROTO_KEY] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
};

static const struct lace_proto_frame mark = {
	.type = LACE_PROTO_MARK, .flags = LACE_PROTO_URGENT, .hops = 1,
	.from_node = 0x0102, .to_node = 0x0304, .from_port = 5, .to_port = 6,
	.queue = 0x0708, .epoch = 0x1112131415161718, .seq = 0x2122232425262728,
	.time = 0x3132333435363738,
	.mark = {
		.queue = { 0x4142434445464748, 0x5152535455565758 },
		.lane = { 0x6162636465666768, 0xf1f2f3f4f5f6f7f8 },
	},
};

static const u8 mark_bytes[] = {
	1, 1, 4, 1, 0, 72, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0,
	0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
	0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
	0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
	0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
	0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
	0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
	0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
};

static const struct lace_proto_frame ack = {
	.type = LACE_PROTO_ACK, .hops = 64, .from_node = 2, .to_node = 65534,
	.from_port = 31, .epoch = 9, .seq = 70, .time = 11,
	.ack = {
		.floor = 9, .life = 13, .number = 14, .bitmap = ~0ULL,
		.received = { 16, 17 }, .marked = { 18, 19 }, .hold = 20,
	},
};

/* One number, 8 bytes long each, from offset 16 on. */
static const u8 ack_head[] = { 1, 2, 0, 64, 0, 112, 0, 2, 0xff, 0xfe, 31, 0,
			       0, 0, 0, 0 };
static const u64 ack_numbers[] = { 9, 70, 11, 9, 13, 14, ~0ULL, 16, 17, 18, 19,
				   20 };

static const struct lace_proto_frame probe = {
	.type = LACE_PROTO_PROBE, .hops = 1, .from_node = 1, .to_node = 2,
	.epoch = 3, .seq = 4, .time = 5, .probe = { .segment = 0x01020304 },
};

static const struct lace_proto_frame reply = {
	.type = LACE_PROTO_PROBE_REPLY, .hops = 9, .from_node = 1,
	.to_node = 2, .epoch = 3, .seq = 4, .time = 5,
	.probe = { .segment = 0x01020304, .meant_node = 0x0506,
		   .meant_port = 7 },
};

static const struct lace_proto_frame route_probe = {
	.type = LACE_PROTO_ROUTE_PROBE, .hops = 64, .from_node = 1,
	.to_node = 2, .from_port = 3, .epoch = 3, .seq = 4, .time = 5,
	.probe = { .segment = 0x01020304 },
};

static const struct lace_proto_frame route_reply = {
	.type = LACE_PROTO_ROUTE_REPLY, .hops = 9, .from_node = 2,
	.to_node = 1, .to_port = 3, .epoch = 3, .seq = 4, .time = 5,
	.probe = { .segment = 0x01020304 },
};

static void check_bytes(void)
{
	static const u8 probe_tail[] = { 1, 2, 3, 4, 0, 0, 0, 0 };
	static const u8 reply_tail[] = { 1, 2, 3, 4, 5, 6, 7, 0 };
	u8 data[LACE_PROTO_MAX];
	bool same = true;
	size_t i, j;

	tap_check(lace_proto_encode(&mark, NULL, data) == sizeof(mark_bytes) &&
		  !memcmp(data, mark_bytes, sizeof(mark_bytes)),
		  "the bytes of a mark");
	same = lace_proto_encode(&ack, NULL, data) == 112 &&
	       !memcmp(data, ack_head, sizeof(ack_head));
	for (i = 0; i < sizeof(ack_numbers) / sizeof(*ack_numbers); i++)
		for (j = 0; j < 8; j++)
			same &= data[16 + 8 * i + j] ==
				(ack_numbers[i] >> (56 - 8 * j) & 0xff);
	tap_check(same, "the bytes of an answer");
	tap_check(lace_proto_encode(&probe, NULL, data) == 48 &&
		  !memcmp(data + 40, probe_tail, 8), "the bytes of a probe");
	tap_check(lace_proto_encode(&reply, NULL, data) == 48 &&
		  !memcmp(data + 40, reply_tail, 8),
		  "the bytes of a probe's reply");
	tap_check(lace_proto_encode(&route_probe, NULL, data) == 48 &&
		  data[1] == 5 && data[10] == 3 && !data[11] &&
		  !memcmp(data + 40, probe_tail, 8) &&
		  lace_proto_encode(&route_reply, NULL, data) == 48 &&
		  data[1] == 6 && !data[10] && data[11] == 3 &&
		  !memcmp(data + 40, probe_tail, 8),
		  "the bytes of a route's probe and its reply");
}

/* The test vector of SipHash's authors: key 00 .. 0f, message 00 .. 0e. */
static void check_siphash(void)
{
	siphash_key_t key;
	u8 message[15];
	int i;

	for (i = 0; i < 15; i++)
		message[i] = i;
	lace_proto_key(key_bytes, &key);
	tap_check(siphash(message, 15, &key) == 0xa129ca6149be45e5,
		  "SipHash of the published vector");
}

/* The message that Documentation/lane-protocol.rst has as an example. */
static void check_documented(void)
{
	static const u8 documented[] = {
		0x01, 0x03, 0x01, 0x01, 0x00, 0x38, 0x00, 0x01,
		0x00, 0x02, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05,
		0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x00,
		0xf7, 0x33, 0x98, 0x2c, 0x85, 0xbc, 0xf9, 0x5d,
	};
	struct lace_proto_frame frame = probe;
	u8 data[LACE_PROTO_MAX];
	siphash_key_t key;

	frame.to_port = 1;
	frame.probe.segment = 6;
	lace_proto_key(key_bytes, &key);
	tap_check(lace_proto_encode(&frame, &key, data) == sizeof(documented) &&
		  !memcmp(data, documented, sizeof(documented)),
		  "the probe that the specification shows");
}

static bool round_trip(const struct lace_proto_frame *frame,
		       const siphash_key_t *key)
{
	struct lace_proto_frame again;
	u8 one[LACE_PROTO_MAX], two[LACE_PROTO_MAX];
	size_t len = lace_proto_encode(frame, key, one);

	memset(&again, 0xee, sizeof(again));
	return !decode(one, len, key, &again) &&
	       lace_proto_encode(&again, key, two) == len &&
	       !memcmp(one, two, len);
}

static void check_round_trips(void)
{
	siphash_key_t key;

	lace_proto_key(key_bytes, &key);
	tap_check(round_trip(&mark, NULL) && round_trip(&ack, NULL) &&
		  round_trip(&probe, NULL) && round_trip(&reply, NULL) &&
		  round_trip(&route_probe, NULL) &&
		  round_trip(&route_reply, NULL),
		  "what is written is read");
	tap_check(round_trip(&mark, &key) && round_trip(&ack, &key) &&
		  round_trip(&probe, &key) && round_trip(&reply, &key) &&
		  round_trip(&route_probe, &key) &&
		  round_trip(&route_reply, &key),
		  "and with a tag");
}

/* Whether a frame with one thing changed is refused. */
static bool refuses(const struct lace_proto_frame *frame, size_t at, u8 value)
{
	struct lace_proto_frame out;
	u8 data[LACE_PROTO_MAX];
	size_t len = lace_proto_encode(frame, NULL, data);

	data[at] = value;
	return decode(data, len, NULL, &out) == LACE_PROTO_MALFORMED;
}

static void check_refused(void)
{
	static const struct {
		const char *what;
		const struct lace_proto_frame *frame;
		size_t at;
		u8 value;
	} cases[] = {
		{ "version 0", &mark, 0, 0 },
		{ "version 2", &mark, 0, 2 },
		{ "type 0", &mark, 1, 0 },
		{ "type 7", &mark, 1, 7 },
		{ "another type's length", &mark, 1, 2 },
		{ "a flag that is none", &mark, 2, 8 },
		{ "a mark that is stale", &mark, 2, 2 },
		{ "an answer that is urgent", &ack, 2, 4 },
		{ "a tag that is not there", &mark, 2, 1 },
		{ "a mark with no hop", &mark, 3, 0 },
		{ "a mark that may be relayed", &mark, 3, 2 },
		{ "an answer with no hop", &ack, 3, 0 },
		{ "a length too small", &mark, 5, 71 },
		{ "a length too large", &mark, 5, 73 },
		{ "a length of 64 KiB", &mark, 4, 0xff },
		{ "from port 32", &mark, 10, 32 },
		{ "to port 32", &mark, 11, 32 },
		{ "reserved bits", &mark, 14, 1 },
		{ "reserved bits, low", &mark, 15, 1 },
		{ "an epoch of 2^63", &mark, 16, 0x80 },
		{ "an answer with a queue", &ack, 13, 1 },
		{ "an answer of no life", &ack, 55, 0 },
		{ "an answer without number", &ack, 63, 0 },
		{ "a floor that is not the epoch", &ack, 47, 10 },
		{ "stale without a newer epoch", &ack, 2, 2 },
		{ "more marks than were sent", &ack, 31, 64 },
		{ "a probe with a queue", &probe, 13, 1 },
		{ "a probe that may be relayed", &probe, 3, 2 },
		{ "a probe that says who was meant", &probe, 45, 1 },
		{ "a probe that says which port", &probe, 46, 1 },
		{ "a probe's reserved byte", &probe, 47, 1 },
		{ "a reply with no hop", &reply, 3, 0 },
		{ "a reply meant for port 32", &reply, 46, 32 },
		{ "a reply's reserved byte", &reply, 47, 1 },
		{ "a route's probe with no hop", &route_probe, 3, 0 },
		{ "a route's probe with two ranks", &route_probe, 11, 1 },
		{ "a route's probe that says who was meant", &route_probe, 45, 1 },
		{ "a route's reply with no hop", &route_reply, 3, 0 },
		{ "a route's reply with two ranks", &route_reply, 10, 1 },
		{ "a route's reply that says which port", &route_reply, 46, 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		tap_check(refuses(cases[i].frame, cases[i].at, cases[i].value),
			  "refused: %s", cases[i].what);
}

static bool refuses_frame(struct lace_proto_frame frame)
{
	struct lace_proto_frame out;
	u8 data[LACE_PROTO_MAX];

	return decode(data, lace_proto_encode(&frame, NULL, data), NULL,
		      &out) == LACE_PROTO_MALFORMED;
}

static void check_refused_frames(void)
{
	struct lace_proto_frame frame = mark;

	frame.to_node = frame.from_node;
	tap_check(refuses_frame(frame), "refused: from a node to itself");
	frame.to_node = 65535;
	tap_check(refuses_frame(frame), "refused: to no node");
	frame = mark;
	frame.from_node = 65535;
	tap_check(refuses_frame(frame), "refused: from no node");
	frame = mark;
	frame.epoch = 0;
	tap_check(refuses_frame(frame), "refused: no epoch");
	frame = mark;
	frame.seq = 0;
	tap_check(refuses_frame(frame), "refused: no number");
	frame = reply;
	frame.probe.meant_node = 65535;
	tap_check(refuses_frame(frame), "refused: a reply meant for no node");
	frame = ack;
	frame.flags = LACE_PROTO_STALE;
	frame.ack.floor++;
	tap_check(refuses_frame(frame), "refused: stale, and yet with marks");
	frame.ack.bitmap = 0;
	tap_check(!refuses_frame(frame), "accepted: stale");
	frame = ack;
	frame.seq = 65;
	tap_check(!refuses_frame(frame), "accepted: all of the first 65 marks");
}

static void check_lengths(void)
{
	static const struct lace_proto_frame *const frames[] = {
		&mark, &ack, &probe, &reply,
	};
	struct lace_proto_frame out;
	u8 data[LACE_PROTO_MAX + 1] = {};
	size_t i, len, cut;
	bool refused = true;

	for (i = 0; i < 4; i++) {
		len = lace_proto_encode(frames[i], NULL, data);
		for (cut = 0; cut < len; cut++)
			refused &= decode(data, cut, NULL, &out) ==
				   LACE_PROTO_MALFORMED;
	}
	tap_check(refused, "refused: cut off anywhere");
	refused = true;
	for (i = 0; i < 4; i++) {
		len = lace_proto_encode(frames[i], NULL, data);
		for (cut = len + 1; cut <= sizeof(data); cut++)
			refused &= decode(data, cut, NULL, &out) ==
				   LACE_PROTO_MALFORMED;
	}
	tap_check(refused, "refused: with anything behind it");
}

static void check_tags(void)
{
	struct lace_proto_frame out;
	siphash_key_t key, other;
	u8 data[LACE_PROTO_MAX];
	bool refused = true;
	size_t len, bit;

	lace_proto_key(key_bytes, &key);
	other = key;
	other.key[1] ^= 1;
	len = lace_proto_encode(&ack, &key, data);
	tap_check(len == 120 && data[2] == LACE_PROTO_TAGGED && data[5] == 120,
		  "a tag is said to be there");
	tap_check(decode(data, len, &other, &out) == LACE_PROTO_FORGED,
		  "forged: another key's tag");
	tap_check(decode(data, len, NULL, &out) == LACE_PROTO_FORGED,
		  "forged: a tag, where there is no key");
	for (bit = 0; bit < 8 * len; bit++) {
		if (bit / 8 == 3)
			continue;
		data[bit / 8] ^= 1 << bit % 8;
		refused &= decode(data, len, &key, &out) != LACE_PROTO_OK;
		data[bit / 8] ^= 1 << bit % 8;
	}
	tap_check(refused, "forged: any bit changed, but for hops");
	lace_proto_hop(data);
	tap_check(decode(data, len, &key, &out) == LACE_PROTO_OK &&
		  out.hops == 63, "a hop less, and the tag is right");
	len = lace_proto_encode(&ack, NULL, data);
	tap_check(decode(data, len, &key, &out) == LACE_PROTO_FORGED,
		  "forged: no tag");
}

int main(void)
{
	tap_plan(5 + 2 + 2 + 40 + 9 + 2 + 6);
	check_bytes();
	check_siphash();
	check_documented();
	check_round_trips();
	check_refused();
	check_refused_frames();
	check_lengths();
	check_tags();
	return tap_end();
}
