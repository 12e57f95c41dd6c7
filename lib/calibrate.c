// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Estimates from counters: see calibrate.h.
 */
#include "calibrate.h"
#include "wire.h"

#include <math.h>
#include <stdlib.h>

/* A window counts as busy if it carried half of what the busiest one did: a lane
 * that is shaped or switched has its rate or nothing.
 */
#define BUSY_SHARE 0.5
/* Windows in a row that tell something, but for the first and the last one,
 * which may be busy in part only.
 */
#define BUSY_WINDOWS 3

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/**
 * lace_calibrate_median() - the middle one of some values
 * @values: sorted by this
 * @nr: how many, above 0
 *
 * Return: the middle one, or the mean of the two in the middle.
 */
double lace_calibrate_median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare);
	return nr % 2 ? values[nr / 2] :
			(values[nr / 2 - 1] + values[nr / 2]) / 2;
}

static double window_rate(const struct lace_lane_count *end)
{
	double seconds = end[0].at_s - end[-1].at_s;

	return seconds > 0 ? 8.0 * (end[0].bytes - end[-1].bytes) / seconds : 0;
}

/**
 * lace_calibrate_rate() - rate of a lane, from its counters
 * @counts: at moments that ascend, some tens a second at least so that a lane is
 *	    seen busy for several of them in a row
 * @nr: how many
 *
 * The mean over all runs of busy windows, without their ends: free of bias where
 * the maximum of any window would have the jitter of the clock.
 *
 * Return: bit/s of frame bytes; 0 if there is no run that is long enough.
 */
double lace_calibrate_rate(const struct lace_lane_count *counts, size_t nr)
{
	double most = 0, seconds = 0, bytes = 0;
	size_t i, begin;

	for (i = 1; i < nr; i++)
		most = fmax(most, window_rate(&counts[i]));
	for (i = 1; most > 0 && i < nr; i++) {
		begin = i;
		while (i < nr && window_rate(&counts[i]) >= BUSY_SHARE * most)
			i++;
		/* Windows begin .. i - 1, of which the inner ones count. */
		if (i - begin < BUSY_WINDOWS + 2)
			continue;
		seconds += counts[i - 2].at_s - counts[begin].at_s;
		bytes += counts[i - 2].bytes - counts[begin].bytes;
	}
	return seconds > 0 ? 8 * bytes / seconds : 0;
}

/**
 * lace_calibrate_payload() - share of a data frame that is payload
 * @count: data that came in
 *
 * Return: 0 to 1, by the mean size of the frames, as of TCP over IPv4 with
 * timestamps; 0 if there was no data.
 */
double lace_calibrate_payload(const struct lace_traffic_count *count)
{
	const double headers = LACE_WIRE_ETHERNET + LACE_WIRE_IPV4 +
			       LACE_WIRE_TCP;

	if (!count->bytes)
		return 0;
	return fmax(0, 1 - headers * count->packets / count->bytes);
}

/**
 * lace_calibrate_control() - what is sent back for a byte of data
 * @count: data that came in, control that went out, over the same time
 *
 * In frame bytes on both sides: a lane has to carry both.
 *
 * Return: control bytes for each byte; 0 if there was no data.
 */
double lace_calibrate_control(const struct lace_traffic_count *count)
{
	if (!count->bytes)
		return 0;
	return (count->control_bytes +
		(double)LACE_ACK_FRAME_BYTES * count->acks) / count->bytes;
}

static int by_begin(const void *a, const void *b)
{
	const struct lace_transition_span *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Spans from begin on that overlap, as one; the first that does not is returned. */
static size_t merge(const struct lace_transition_span *spans, size_t nr,
		    size_t begin, struct lace_transition_span *all)
{
	size_t i;

	*all = spans[begin];
	for (i = begin + 1; i < nr && spans[i].begin_ns < all->end_ns; i++) {
		all->moved |= spans[i].moved;
		all->failed |= spans[i].failed;
		if (spans[i].end_ns > all->end_ns)
			all->end_ns = spans[i].end_ns;
	}
	return i;
}

/**
 * lace_calibrate_transition() - how long traffic stops for a transition
 * @spans: transitions of all nodes, in any order; sorted by this
 * @nr: how many
 * @nr_together: filled with how many they are, those that nodes went through
 *		 together being one, and those that failed anywhere or moved
 *		 nothing none
 *
 * From the moment when the first node stops until the last one goes on.  The
 * mean, not the median: it is to be charged once for each, and the sum counts.
 *
 * Return: seconds; 0 if there is none.
 */
double lace_calibrate_transition(struct lace_transition_span *spans, size_t nr,
				 size_t *nr_together)
{
	struct lace_transition_span all;
	double sum = 0;
	size_t i = 0;

	*nr_together = 0;
	if (nr)
		qsort(spans, nr, sizeof(*spans), by_begin);
	while (i < nr) {
		i = merge(spans, nr, i, &all);
		if (!all.moved || all.failed)
			continue;
		sum += 1e-9 * (all.end_ns - all.begin_ns);
		++*nr_together;
	}
	return *nr_together ? sum / *nr_together : 0;
}
