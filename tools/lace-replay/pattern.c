// SPDX-License-Identifier: GPL-2.0
/*
 * Payload that tells where it belongs.  Every payload byte is looked at twice,
 * so it has to be cheap: a fixed window of random bytes is made once, and the
 * bytes of each (op, round, flow) are the window from a place that these
 * choose.  Sending then needs no copy, and checking is a memcmp(); bytes that
 * are lost, repeated, moved or of another message still differ.
 */
#include <stdlib.h>
#include <string.h>

#include "replay.h"

/* A prime, so that bytes off by a power of two are not the same again. */
#define WINDOW 1048573

static unsigned char *window;

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static size_t start_of(const struct pattern_place *place)
{
	uint64_t key = mix(((uint64_t)place->op << 32) | place->flow);

	return mix(key ^ place->round) % WINDOW;
}

/**
 * pattern_make() - makes the window
 *
 * To be called before the nodes are forked, so that they share it.
 */
int pattern_make(void)
{
	window = malloc(WINDOW + PATTERN_SPAN);
	if (!window)
		return -1;
	for (size_t i = 0; i < WINDOW; i++)
		window[i] = mix(i);
	memcpy(window + WINDOW, window, PATTERN_SPAN);
	return 0;
}

/**
 * pattern_run() - the bytes at a place
 * @place:	place
 * @max:	how many are wanted at most
 * @len:	how many there are in one piece, at least 1 unless @max is 0;
 *		never more than this round still has
 */
const unsigned char *pattern_run(const struct pattern_place *place, size_t max,
				 size_t *len)
{
	uint64_t left = place->round_bytes - place->offset;

	*len = max < PATTERN_SPAN ? max : PATTERN_SPAN;
	if (*len > left)
		*len = left;
	return window + (start_of(place) + place->offset) % WINDOW;
}

/**
 * pattern_advance() - goes on by what pattern_run() gave, or less
 * @place:	place
 * @len:	bytes
 */
void pattern_advance(struct pattern_place *place, size_t len)
{
	place->offset += len;
	if (place->offset == place->round_bytes) {
		place->round++;
		place->offset = 0;
	}
}

static uint64_t differing(const unsigned char *a, const unsigned char *b,
			  size_t len)
{
	uint64_t nr = 0;

	if (!memcmp(a, b, len))
		return 0;
	for (size_t i = 0; i < len; i++)
		nr += a[i] != b[i];
	return nr;
}

/**
 * pattern_check() - how many bytes are not what belongs there
 * @place:	where @data begins; advanced by @len
 * @data:	bytes received
 * @len:	number of them
 */
uint64_t pattern_check(struct pattern_place *place, const unsigned char *data,
		       size_t len)
{
	uint64_t bad = 0;
	size_t run;

	while (len) {
		const unsigned char *due = pattern_run(place, len, &run);

		bad += differing(due, data, run);
		pattern_advance(place, run);
		data += run;
		len -= run;
	}
	return bad;
}
