/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random inputs for the compiler, from a seed or from the bytes of a fuzzer, and
 * what has to hold for every plan of them.
 */
#ifndef SELFTESTS_INSTANCE_H
#define SELFTESTS_INSTANCE_H

#include "lace.h"

/* Rolls the bytes of data while there are any, else numbers from a seed. */
struct dice {
	uint64_t state;
	const uint8_t *data;
	size_t len;
	bool bytes;	/* all comes from data, and 0 when it is used up */
};

unsigned int dice_roll(struct dice *dice, unsigned int below);

/*
 * Options of a test of many instances: --count INSTANCES --seed FIRST.  nr has
 * the default of --count unless LACE_RANDOM_COUNT is in the environment.  False
 * if there is another option.
 */
bool instance_options(int argc, char **argv, uint64_t *nr, uint64_t *first);

struct instance {
	struct lace_cluster cluster;
	struct lace_schedule schedule;
	struct lace_demand demand;
};

#define INSTANCE_WRONG 640	/* room for what is wrong */

/* What is made at most. */
struct instance_size {
	unsigned int nodes, lanes, ops;
};

/* False, and nothing to free, if memory is short or demand has no end. */
bool instance_make(struct instance *in, struct dice *dice,
		   const struct instance_size *size);
void instance_free(struct instance *in);

/* INFINITY where there is no plan. */
struct instance_times {
	double cct, bound;
};

/*
 * A plan must have its bound at or below its time and pass lace_plan_check() as
 * written to a file and read again.  Says in wrong, else left empty, what does
 * not hold.
 */
struct instance_times instance_judge(const struct instance *in,
				     const char *scheduler,
				     char wrong[INSTANCE_WRONG]);
/* As instance_judge(); and compiled again it must be the same bytes. */
struct instance_times instance_judge_twice(const struct instance *in,
					   const char *scheduler,
					   char wrong[INSTANCE_WRONG]);

#endif /* SELFTESTS_INSTANCE_H */
