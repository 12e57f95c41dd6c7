// SPDX-License-Identifier: GPL-2.0
/*
 * lib/wire.c: the share of a lane that is payload.
 */
#include "tap.h"
#include "wire.h"

int main(void)
{
	tap_plan(4);
	tap_check(tap_near(lace_payload_ratio(1500), 1448.0 / 1514),
		  "1448 of 1514 bytes at an MTU of 1500");
	tap_check(tap_near(lace_payload_ratio(9000), 8948.0 / 9014),
		  "8948 of 9014 bytes at an MTU of 9000");
	tap_check(lace_payload_ratio(52) == 0 && lace_payload_ratio(0) == 0,
		  "nothing where there is room for headers only");
	tap_check(lace_payload_ratio(53) > 0, "a byte where there is room");
	return tap_end();
}
