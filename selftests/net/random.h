/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers of tests that can be repeated: what is made for one number of
 * a run depends on the seed and that number only, so that any part of a run can
 * be had again.
 */
#ifndef SELFTESTS_NET_RANDOM_H
#define SELFTESTS_NET_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

/* splitmix64 */
static inline uint64_t random_next(struct random *random)
{
	uint64_t x = random->state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static inline struct random random_of(uint64_t seed, uint64_t number)
{
	struct random random = {.state = seed};

	random.state = random_next(&random) ^ number;
	random_next(&random);
	return random;
}

static inline unsigned int random_below(struct random *random, unsigned int n)
{
	return (random_next(random) >> 32) * n >> 32;
}

static inline bool random_one_in(struct random *random, unsigned int n)
{
	return !random_below(random, n);
}

/* Numbers at which something may break, and others. */
static inline uint64_t random_extreme(struct random *random)
{
	unsigned int bit = random_below(random, 64);

	switch (random_below(random, 4)) {
	case 0:
		return (1ULL << bit) - 1;
	case 1:
		return 1ULL << bit;
	case 2:
		return -1ULL << bit;
	default:
		return random_next(random) >> bit;
	}
}

#endif /* SELFTESTS_NET_RANDOM_H */
