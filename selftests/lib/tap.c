// SPDX-License-Identifier: GPL-2.0
/*
 * Results of unit tests as TAP, for the driver to judge.
 */
#include "tap.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static unsigned int nr_planned, nr_seen, nr_failed;

void tap_plan(unsigned int nr)
{
	nr_planned = nr;
	printf("1..%u\n", nr);
}

bool tap_check(bool passed, const char *fmt, ...)
{
	va_list args;

	printf("%sok %u - ", passed ? "" : "not ", ++nr_seen);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	nr_failed += !passed;
	return passed;
}

void tap_note(const char *fmt, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

int tap_end(void)
{
	if (nr_seen != nr_planned)
		tap_note("planned %u results, had %u", nr_planned, nr_seen);
	return nr_seen == nr_planned && !nr_failed ? 0 : 1;
}

bool tap_near(double is, double should)
{
	return fabs(is - should) <= 1e-9 * fabs(should);
}
