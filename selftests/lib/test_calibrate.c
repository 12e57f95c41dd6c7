// SPDX-License-Identifier: GPL-2.0
/*
 * lib/calibrate.c: rates and ratios from counters of which the truth is known.
 */
#include "calibrate.h"
#include "instance.h"
#include "tap.h"

#include <math.h>

#define WINDOWS 200

/* A lane of rate_bps that is busy for 12 windows of 20, read with a jitter of
 * the clock of up to jitter of a window of 50 ms.
 */
static double rate_of(double rate_bps, double jitter)
{
	struct lace_lane_count counts[WINDOWS + 1];
	struct dice dice = { .state = 7 };
	double sent = 0, last = 0;

	for (int i = 0; i <= WINDOWS; i++) {
		double at = 0.05 * (i + jitter * (dice_roll(&dice, 1000) / 1e3));
		int second = i / 20;
		double from = fmax(last, second);
		double until = fmin(at, second + 0.6);

		if (until > from)
			sent += rate_bps / 8 * (until - from);
		last = at;
		counts[i] = (struct lace_lane_count){ at, sent };
	}
	return lace_calibrate_rate(counts, WINDOWS + 1);
}

static bool close_to(double is, double should, double share)
{
	if (fabs(is / should - 1) <= share)
		return true;
	tap_note("%.9g, not %.9g", is, should);
	return false;
}

static void test_rate(void)
{
	struct lace_lane_count idle[9] = { { 0 } };
	struct lace_lane_count burst[9] = { { 0 } };

	for (int i = 0; i < 9; i++) {
		idle[i].at_s = burst[i].at_s = 0.1 * i;
		burst[i].bytes = i < 4 ? 0 : 1000000;
	}
	tap_check(close_to(rate_of(20e6, 0), 20e6, 1e-6),
		  "a lane that is busy now and then");
	tap_check(close_to(rate_of(20e6, 0.5), 20e6, 0.01),
		  "read by a clock that is late");
	tap_check(lace_calibrate_rate(idle, 9) == 0, "nothing of an idle lane");
	tap_check(lace_calibrate_rate(burst, 9) == 0,
		  "nothing of one burst, which says nothing of a rate");
	tap_check(lace_calibrate_rate(idle, 0) == 0 &&
		  lace_calibrate_rate(idle, 1) == 0, "nothing of no window");
}

static void test_ratios(void)
{
	/* 1000 full frames, for 500 pure acknowledgments of 66 bytes and 10
	 * answers of the lane protocol.
	 */
	struct lace_traffic_count count = {
		.packets = 1000, .bytes = 1000 * 1514,
		.control_bytes = 500 * 66, .acks = 10,
	};
	struct lace_traffic_count none = { 0 };

	tap_check(tap_near(lace_calibrate_payload(&count), 1448.0 / 1514),
		  "1448 of 1514 bytes are payload");
	tap_check(tap_near(lace_calibrate_control(&count),
			   (500 * 66 + 10 * 126) / (1000 * 1514.0)),
		  "control is both TCP's and the lane protocol's");
	tap_check(lace_calibrate_payload(&none) == 0 &&
		  lace_calibrate_control(&none) == 0, "no data, no ratio");
}

static void test_transition(void)
{
	/* Two together, the same again with one that moves nothing, one that
	 * failed at a node, one by itself, and one that moves nothing; in no
	 * order.
	 */
	struct lace_transition_span spans[] = {
		{ 5000000, 35000000, true, false },
		{ 100000000, 121000000, true, false },
		{ 0, 30000000, true, false },
		{ 101000000, 130000000, false, false },
		{ 200000000, 290000000, true, false },
		{ 210000000, 211000000, true, true },
		{ 300000000, 325000000, true, false },
		{ 400000000, 425000000, false, false },
	};
	size_t nr = sizeof(spans) / sizeof(*spans), together;

	tap_check(tap_near(lace_calibrate_transition(spans, nr, &together),
			   0.030) && together == 3,
		  "a transition lasts from the first node's stop to the last one's start");
	tap_check(lace_calibrate_transition(spans, 0, &together) == 0 &&
		  together == 0, "nothing of no transition");
}

int main(void)
{
	double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 2, 3 };

	tap_plan(12);
	test_rate();
	test_ratios();
	test_transition();
	tap_check(lace_calibrate_median(odd, 3) == 2, "median of three");
	tap_check(lace_calibrate_median(even, 4) == 2.5, "median of four");
	return tap_end();
}
