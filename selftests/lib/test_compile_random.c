// SPDX-License-Identifier: GPL-2.0
/*
 * Compiler on random inputs too large to search: every wiring, ports without
 * one of their lanes, unequal rates, all relay modes.  Each plan must pass its
 * check, at or above its bound; lace at or below symmetric; the same bytes twice.
 *
 *	test_compile_random [--count INSTANCES] [--seed FIRST]
 *
 * LACE_RANDOM_COUNT in the environment is the default of --count.
 */
#include "instance.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#define COUNT 120

struct tally {
	unsigned int plans, broken, slower;
};

static double judge(const struct instance *in, uint64_t seed,
		    const char *scheduler, struct tally *tally)
{
	char wrong[INSTANCE_WRONG];
	double cct = instance_judge_twice(in, scheduler, wrong).cct;

	tally->plans += cct < INFINITY;
	if (*wrong) {
		tally->broken++;
		tap_note("seed %llu: the plan of %s %s",
			 (unsigned long long)seed, scheduler, wrong);
	}
	return cct;
}

static void judge_both(const struct instance *in, uint64_t seed,
		       struct tally *tally)
{
	double lace = judge(in, seed, "lace", tally);
	double symmetric = judge(in, seed, "symmetric", tally);

	if (lace > symmetric * (1 + 1e-9)) {
		tally->slower++;
		tap_note("seed %llu: lace %.9g symmetric %.9g",
			 (unsigned long long)seed, lace, symmetric);
	}
}

int main(int argc, char **argv)
{
	static const struct instance_size size = { 14, 8, 8 };
	uint64_t nr = COUNT, first = 1;
	struct tally tally = { 0 };

	if (!instance_options(argc, argv, &nr, &first))
		return 2;
	tap_plan(3);
	for (uint64_t seed = first; seed < first + nr; seed++) {
		struct dice dice = { .state = seed * 0x9e3779b97f4a7c15ull + 1 };
		struct instance in;

		dice_roll(&dice, 2);
		if (!instance_make(&in, &dice, &size))
			return 1;
		judge_both(&in, seed, &tally);
		instance_free(&in);
	}
	tap_note("%llu instances, %u plans", (unsigned long long)nr,
		 tally.plans);
	tap_check(tally.plans > nr, "more than half the plans exist");
	tap_check(!tally.broken,
		  "every plan passes its check, twice the same bytes");
	tap_check(!tally.slower, "lace is never slower than symmetric");
	return tap_end();
}
