// SPDX-License-Identifier: GPL-2.0
/* The clock that tells how long something took, whatever the date is set to. */
#include "clock.h"

#include <time.h>

double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}
