// SPDX-License-Identifier: GPL-2.0
/*
 * The bytes are rolls of dice for a small cluster and a schedule.  Every
 * scheduler either says why not or has a plan that passes its check, the same
 * twice; no plan is below the bound of a scheduler that might have made it, and
 * no scheduler is slower than one that it includes.
 */
#include "instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK (1 + 1e-9)
#define NR(array) (sizeof(array) / sizeof(*(array)))

enum { LACE, ONESHOT, SYMMETRIC, SYMMETRIC_ONESHOT, SYMMETRIC_PEROP, TOPOOPT,
	UNIFORM, PACKET };

static const char *const names[] = { "lace", "lace-oneshot", "symmetric",
	"symmetric-oneshot", "symmetric-perop", "topoopt", "uniform",
	"packet" };

/* The first is at most the second. */
static const struct {
	unsigned int least, most;
} order[] = {
	{ LACE, ONESHOT },
	{ LACE, SYMMETRIC },
	{ ONESHOT, SYMMETRIC_ONESHOT },
	{ SYMMETRIC, SYMMETRIC_ONESHOT },
	{ SYMMETRIC, SYMMETRIC_PEROP },
	{ PACKET, LACE },
	{ PACKET, UNIFORM },
};

static void expect(double least, double most, const char *what,
		   const char *of)
{
	if (least <= most * SLACK)
		return;
	fprintf(stderr, "%s %.17g above that of %s %.17g\n", what, least, of,
		most);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct instance_size size = { 6, 4, 4 };
	struct dice dice = { .data = data, .len = len, .bytes = true };
	struct instance_times times[NR(names)];
	char wrong[INSTANCE_WRONG];
	struct instance in;

	if (!instance_make(&in, &dice, &size))
		abort();
	/* Five nodes that may relay data are searched whole: seconds each. */
	if (in.cluster.nr_nodes > 4 && in.cluster.relay == LACE_RELAY_DATA)
		in.cluster.relay = LACE_RELAY_CONTROL;
	for (unsigned int i = 0; i < NR(names); i++) {
		times[i] = i == LACE ?
			instance_judge_twice(&in, names[i], wrong) :
			instance_judge(&in, names[i], wrong);
		if (*wrong) {
			fprintf(stderr, "the plan of %s %s\n", names[i], wrong);
			abort();
		}
	}
	for (unsigned int i = 0; i < NR(order); i++)
		expect(times[order[i].least].cct, times[order[i].most].cct,
		       names[order[i].least], names[order[i].most]);
	/* No plan has an infinite bound: then nobody else may have one. */
	for (unsigned int i = LACE; i <= UNIFORM; i++)
		expect(times[LACE].bound, times[i].cct, "the bound of lanes",
		       names[i]);
	for (unsigned int i = SYMMETRIC; i <= TOPOOPT; i++)
		expect(times[SYMMETRIC].bound, times[i].cct,
		       "the bound of pairs", names[i]);
	expect(times[PACKET].cct, times[LACE].bound, "the time of packets",
	       "the bound of lanes");
	instance_free(&in);
	return 0;
}
