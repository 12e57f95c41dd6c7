// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of the lane protocol as bytes, and back.  The decoder is strict: what
 * it accepts, the encoder would have written.
 */
#include "proto.h"

/* Offsets.  Numbers are big-endian. */
enum {
	VERSION = 0,
	TYPE = 1,
	FLAGS = 2,
	HOPS = 3,
	LENGTH = 4,
	FROM_NODE = 6,
	TO_NODE = 8,
	FROM_PORT = 10,
	TO_PORT = 11,
	QUEUE = 12,
	RESERVED = 14,
	EPOCH = 16,
	SEQ = 24,
	TIME = 32,
	BODY = 40,

	MARK_QUEUE = 40,
	MARK_LANE = 56,
	MARK_END = 72,

	ACK_FLOOR = 40,
	ACK_LIFE = 48,
	ACK_NUMBER = 56,
	ACK_BITMAP = 64,
	ACK_RECEIVED = 72,
	ACK_MARKED = 88,
	ACK_HOLD = 104,
	ACK_END = 112,

	PROBE_SEGMENT = 40,
	PROBE_MEANT_NODE = 44,
	PROBE_MEANT_PORT = 46,
	PROBE_RESERVED = 47,
	PROBE_END = 48,
};

#define NODES 65535	/* node numbers are below */
#define PORTS 32	/* port numbers are below */

static const u8 lengths[] = {
	[LACE_PROTO_MARK] = MARK_END,
	[LACE_PROTO_ACK] = ACK_END,
	[LACE_PROTO_PROBE] = PROBE_END,
	[LACE_PROTO_PROBE_REPLY] = PROBE_END,
	[LACE_PROTO_ROUTE_PROBE] = PROBE_END,
	[LACE_PROTO_ROUTE_REPLY] = PROBE_END,
};

static const u8 flags[] = {
	[LACE_PROTO_MARK] = LACE_PROTO_URGENT,
	[LACE_PROTO_ACK] = LACE_PROTO_STALE,
	[LACE_PROTO_PROBE] = 0,
	[LACE_PROTO_PROBE_REPLY] = 0,
	[LACE_PROTO_ROUTE_PROBE] = 0,
	[LACE_PROTO_ROUTE_REPLY] = 0,
};

static u64 get(const u8 *data, int size)
{
	u64 value = 0;
	int i;

	for (i = 0; i < size; i++)
		value = value << 8 | data[i];
	return value;
}

static void put(u8 *data, int size, u64 value)
{
	int i;

	for (i = size - 1; i >= 0; i--) {
		data[i] = value & 0xff;
		value >>= 8;
	}
}

static void get_count(const u8 *data, struct lace_proto_count *count)
{
	count->packets = get(data, 8);
	count->bytes = get(data + 8, 8);
}

static void put_count(u8 *data, const struct lace_proto_count *count)
{
	put(data, 8, count->packets);
	put(data + 8, 8, count->bytes);
}

/* Over a message without its tag, as it was before its first hop. */
static u64 tag_of(const u8 *data, size_t len, const siphash_key_t *key)
{
	u8 copy[LACE_PROTO_MAX];

	memcpy(copy, data, len);
	copy[HOPS] = 0;
	return siphash(copy, len, key);
}

/* In the order of bytes of SipHash itself. */
static void put_tag(u8 *data, u64 tag)
{
	int i;

	for (i = 0; i < LACE_PROTO_TAG; i++)
		data[i] = tag >> 8 * i & 0xff;
}

/* Takes the same time wherever the difference is. */
static bool tag_fits(const u8 *data, u64 tag)
{
	u8 difference = 0;
	u8 wanted[LACE_PROTO_TAG];
	int i;

	put_tag(wanted, tag);
	for (i = 0; i < LACE_PROTO_TAG; i++)
		difference |= data[i] ^ wanted[i];
	return !difference;
}

/**
 * lace_proto_key() - a key in the form that SipHash takes
 * @bytes: the key
 * @key: filled
 */
void lace_proto_key(const u8 bytes[LACE_PROTO_KEY], siphash_key_t *key)
{
	int i;

	key->key[0] = 0;
	key->key[1] = 0;
	for (i = 0; i < LACE_PROTO_KEY; i++)
		key->key[i / 8] |= (u64)bytes[i] << 8 * (i % 8);
}

static void put_body(u8 *data, const struct lace_proto_frame *frame)
{
	switch (frame->type) {
	case LACE_PROTO_MARK:
		put_count(data + MARK_QUEUE, &frame->mark.queue);
		put_count(data + MARK_LANE, &frame->mark.lane);
		break;
	case LACE_PROTO_ACK:
		put(data + ACK_FLOOR, 8, frame->ack.floor);
		put(data + ACK_LIFE, 8, frame->ack.life);
		put(data + ACK_NUMBER, 8, frame->ack.number);
		put(data + ACK_BITMAP, 8, frame->ack.bitmap);
		put_count(data + ACK_RECEIVED, &frame->ack.received);
		put_count(data + ACK_MARKED, &frame->ack.marked);
		put(data + ACK_HOLD, 8, frame->ack.hold);
		break;
	case LACE_PROTO_PROBE_REPLY:
		put(data + PROBE_MEANT_NODE, 2, frame->probe.meant_node);
		put(data + PROBE_MEANT_PORT, 1, frame->probe.meant_port);
		put(data + PROBE_SEGMENT, 4, frame->probe.segment);
		break;
	default:
		put(data + PROBE_SEGMENT, 4, frame->probe.segment);
	}
}

/**
 * lace_proto_encode() - a message as it goes behind the Ethernet header
 * @frame: what to say, which has to make sense; the type is one that there is
 * @key: to add a tag with, or NULL
 * @data: filled
 *
 * Return: bytes of the message.
 */
size_t lace_proto_encode(const struct lace_proto_frame *frame,
			 const siphash_key_t *key, u8 data[LACE_PROTO_MAX])
{
	size_t end = lengths[frame->type];
	size_t len = end + (key ? LACE_PROTO_TAG : 0);

	memset(data, 0, LACE_PROTO_MAX);
	data[VERSION] = LACE_PROTO_VERSION;
	data[TYPE] = frame->type;
	data[FLAGS] = (frame->flags & flags[frame->type]) |
		      (key ? LACE_PROTO_TAGGED : 0);
	data[HOPS] = frame->hops;
	put(data + LENGTH, 2, len);
	put(data + FROM_NODE, 2, frame->from_node);
	put(data + TO_NODE, 2, frame->to_node);
	data[FROM_PORT] = frame->from_port;
	data[TO_PORT] = frame->to_port;
	put(data + QUEUE, 2, frame->queue);
	put(data + EPOCH, 8, frame->epoch);
	put(data + SEQ, 8, frame->seq);
	put(data + TIME, 8, frame->time);
	put_body(data, frame);
	if (key)
		put_tag(data + end, tag_of(data, end, key));
	return len;
}

static bool mark_is_sound(const struct lace_proto_frame *frame)
{
	return frame->hops == 1;
}

/* Marks are numbered from 1: bits that stand for others have to be clear. */
static bool ack_is_sound(const struct lace_proto_frame *frame)
{
	const struct lace_proto_ack *ack = &frame->ack;
	bool stale = frame->flags & LACE_PROTO_STALE;

	if (frame->queue || !frame->hops || !ack->number || !ack->life)
		return false;
	if (stale ? ack->floor <= frame->epoch || ack->bitmap :
		    ack->floor != frame->epoch)
		return false;
	return frame->seq > LACE_PROTO_WINDOW ||
	       !(ack->bitmap >> (frame->seq - 1));
}

static bool read_mark(const u8 *data, struct lace_proto_frame *frame)
{
	get_count(data + MARK_QUEUE, &frame->mark.queue);
	get_count(data + MARK_LANE, &frame->mark.lane);
	return mark_is_sound(frame);
}

static bool read_ack(const u8 *data, struct lace_proto_frame *frame)
{
	frame->ack.floor = get(data + ACK_FLOOR, 8);
	frame->ack.life = get(data + ACK_LIFE, 8);
	frame->ack.number = get(data + ACK_NUMBER, 8);
	frame->ack.bitmap = get(data + ACK_BITMAP, 8);
	get_count(data + ACK_RECEIVED, &frame->ack.received);
	get_count(data + ACK_MARKED, &frame->ack.marked);
	frame->ack.hold = get(data + ACK_HOLD, 8);
	return ack_is_sound(frame);
}

static bool read_probe(const u8 *data, struct lace_proto_frame *frame)
{
	frame->probe.segment = get(data + PROBE_SEGMENT, 4);
	frame->probe.meant_node = get(data + PROBE_MEANT_NODE, 2);
	frame->probe.meant_port = data[PROBE_MEANT_PORT];
	if (frame->queue || data[PROBE_RESERVED])
		return false;
	if (frame->type == LACE_PROTO_PROBE_REPLY)
		return frame->hops && frame->probe.meant_node < NODES &&
		       frame->probe.meant_port < PORTS;
	if (frame->probe.meant_node || frame->probe.meant_port)
		return false;
	if (frame->type == LACE_PROTO_ROUTE_PROBE)
		return frame->hops && !frame->to_port;
	if (frame->type == LACE_PROTO_ROUTE_REPLY)
		return frame->hops && !frame->from_port;
	return frame->hops == 1;
}

static bool read_body(const u8 *data, struct lace_proto_frame *frame)
{
	switch (frame->type) {
	case LACE_PROTO_MARK:
		return read_mark(data, frame);
	case LACE_PROTO_ACK:
		return read_ack(data, frame);
	default:
		return read_probe(data, frame);
	}
}

static bool read_header(const u8 *data, struct lace_proto_frame *frame)
{
	frame->type = data[TYPE];
	frame->flags = data[FLAGS] & ~LACE_PROTO_TAGGED;
	frame->hops = data[HOPS];
	frame->from_node = get(data + FROM_NODE, 2);
	frame->to_node = get(data + TO_NODE, 2);
	frame->from_port = data[FROM_PORT];
	frame->to_port = data[TO_PORT];
	frame->queue = get(data + QUEUE, 2);
	frame->epoch = get(data + EPOCH, 8);
	frame->seq = get(data + SEQ, 8);
	frame->time = get(data + TIME, 8);
	return frame->from_node < NODES && frame->to_node < NODES &&
	       frame->from_node != frame->to_node &&
	       frame->from_port < PORTS && frame->to_port < PORTS &&
	       !get(data + RESERVED, 2) && frame->seq &&
	       frame->epoch && !(frame->epoch >> 63) &&
	       !(frame->flags & ~flags[frame->type]);
}

/* Bytes of the message less its tag, or 0 if that is not what it says. */
static size_t check_length(const u8 *data, size_t len)
{
	size_t end;

	if (len < BODY || len > LACE_PROTO_MAX ||
	    data[VERSION] != LACE_PROTO_VERSION ||
	    data[TYPE] < LACE_PROTO_MARK || data[TYPE] > LACE_PROTO_ROUTE_REPLY)
		return 0;
	end = lengths[data[TYPE]];
	if (get(data + LENGTH, 2) != len ||
	    len != end + (data[FLAGS] & LACE_PROTO_TAGGED ? LACE_PROTO_TAG : 0))
		return 0;
	return end;
}

/**
 * lace_proto_decode() - read a message
 * @data: what follows the Ethernet header
 * @len: bytes of that, all of them
 * @key: that the tag has to be made with; NULL: there has to be none
 * @frame: filled, unless it is refused
 *
 * Return: LACE_PROTO_OK or why it is refused.
 */
enum lace_proto_fault lace_proto_decode(const u8 *data, size_t len,
					const siphash_key_t *key,
					struct lace_proto_frame *frame)
{
	size_t end = check_length(data, len);

	if (!end)
		return LACE_PROTO_MALFORMED;
	if ((len != end) != !!key)
		return LACE_PROTO_FORGED;
	if (key && !tag_fits(data + end, tag_of(data, end, key)))
		return LACE_PROTO_FORGED;
	if (!read_header(data, frame) || !read_body(data, frame))
		return LACE_PROTO_MALFORMED;
	return LACE_PROTO_OK;
}

/**
 * lace_proto_hop() - take a hop off a message that has one left
 * @data: the message
 */
void lace_proto_hop(u8 *data)
{
	data[HOPS]--;
}
