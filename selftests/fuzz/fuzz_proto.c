// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of any bytes, with and without a key: the decoder ends, and what it
 * accepts is, byte for byte, what the encoder writes.
 */
#include "../../kmod/proto.c"

#include <stdlib.h>

static const siphash_key_t key = { { 1, 2 } };

static void check(const u8 *data, size_t len, const siphash_key_t *with)
{
	struct lace_proto_frame frame;
	u8 again[LACE_PROTO_MAX];

	if (lace_proto_decode(data, len, with, &frame))
		return;
	if (lace_proto_encode(&frame, with, again) != len ||
	    memcmp(data, again, len))
		abort();
	if (frame.hops > 1) {
		memcpy(again, data, len);
		lace_proto_hop(again);
		if (lace_proto_decode(again, len, with, &frame))
			abort();
	}
}

/* The tag that its bytes should have, which a fuzzer will not find. */
static void check_tagged(const u8 *data, size_t len)
{
	u8 copy[LACE_PROTO_MAX];

	if (len > LACE_PROTO_MAX || len < BODY + LACE_PROTO_TAG)
		return;
	memcpy(copy, data, len);
	len -= LACE_PROTO_TAG;
	put_tag(copy + len, tag_of(copy, len, &key));
	check(copy, len + LACE_PROTO_TAG, &key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	check(data, len, NULL);
	check(data, len, &key);
	check_tagged(data, len);
	return 0;
}
