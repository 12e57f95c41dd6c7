// SPDX-License-Identifier: GPL-2.0
/*
 * Compiler on random inputs too large to search: every wiring, ports without
 * one of their lanes, unequal rates, all relay modes.  Each plan must be one,
 * at or above its bound; lace at or below symmetric; the same bytes twice.
 *
 *	test_compile_random [INSTANCES [FIRST SEED]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lace.h"
#include "tap.h"

#define OPS 8

static uint64_t state;

static unsigned int draw(unsigned int below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

struct instance {
	struct lace_cluster cluster;
	struct lace_demand demand;
	struct lace_demand_op op[OPS];
	struct lace_pair *pairs[OPS];
};

static int order_pairs(const void *a, const void *b)
{
	const struct lace_pair *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return x->dst < y->dst ? -1 : x->dst > y->dst;
}

/* Chains, rings, a few peers each: what training sends, and worse. */
static void draw_op(struct instance *in, unsigned int o)
{
	unsigned int n = in->cluster.nr_nodes, nr = 0, kept = 0;
	unsigned int shape = draw(4), offset = 1 + draw(n - 1);
	double bytes = 1e6 * (1 + draw(50));
	struct lace_pair *pairs = calloc(3 * (size_t)n, sizeof(*pairs));

	in->pairs[o] = pairs;
	for (unsigned int i = 0; i < n; i++) {
		unsigned int j = shape == 3 ? draw(n) : (i + offset) % n;

		if (i == j || (shape == 1 && i + offset >= n))
			continue;
		if (shape >= 2)
			bytes = 1e6 * (1 + draw(50));
		pairs[nr++] = (struct lace_pair){ i, j, bytes };
		if (shape == 0 && !draw(3))
			pairs[nr++] = (struct lace_pair){ j, i, bytes };
	}
	qsort(pairs, nr, sizeof(*pairs), order_pairs);
	for (unsigned int k = 0; k < nr; k++)
		if (!k || order_pairs(&pairs[k], &pairs[k - 1]))
			pairs[kept++] = pairs[k];
	in->op[o] = (struct lace_demand_op){ .name = "op", .schedule_op = o,
		.repeat = 1 + draw(4), .nr_pairs = kept, .pairs = pairs };
	if (o && !draw(3))
		in->op[o] = in->op[draw(o)];
}

/* Uneven attachment: any lane may be missing, any rate halved. */
static void disturb(struct lace_cluster *cluster)
{
	unsigned int way = draw(4);

	for (unsigned int i = 0; i < cluster->nr_nodes; i++) {
		for (unsigned int p = 0; p < cluster->nodes[i].nr_ports; p++) {
			struct lace_port *port = &cluster->nodes[i].ports[p];

			if (way & 1 && !draw(8))
				*(draw(2) ? &port->tx.ocs : &port->rx.ocs) = -1;
			if (way & 2 && !draw(4))
				port->rate_bps /= 2;
		}
	}
}

static bool make_instance(struct instance *in, uint64_t seed)
{
	static const double ratios[] = { 0, 0.002, 0.01, 0.05 };
	static const double delays[] = { 0, 0.002, 0.02, 0.5 };
	struct lace_error err;
	unsigned int n, lanes;

	memset(in, 0, sizeof(*in));
	state = seed * 0x9e3779b97f4a7c15ull + 1;
	draw(2);
	n = 3 + draw(12);
	lanes = 2 + draw(7);
	if (lace_cluster_make(n, lanes, 1000000000, draw(2) ?
			      LACE_WIRING_PLANES : LACE_WIRING_SINGLE,
			      delays[draw(4)], &in->cluster, &err))
		return false;
	in->cluster.control_ratio = ratios[draw(4)];
	in->cluster.relay = draw(3);
	disturb(&in->cluster);
	in->demand = (struct lace_demand){ .nr_nodes = n,
		.nr_ops = 1 + draw(OPS), .ops = in->op };
	for (unsigned int o = 0; o < in->demand.nr_ops; o++)
		draw_op(in, o);
	return true;
}

static void free_instance(struct instance *in)
{
	for (unsigned int o = 0; o < OPS; o++)
		free(in->pairs[o]);
	lace_cluster_free(&in->cluster);
}

struct tally {
	unsigned int feasible, broken, bound_above, different, slower;
};

static char *bytes_of(const struct lace_plan *plan, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	lace_plan_write(out, plan);
	fclose(out);
	return text;
}

static bool same_bytes(const struct instance *in, const char *scheduler,
		       const struct lace_plan *plan)
{
	struct lace_error err;
	struct lace_plan again;
	size_t len_a = 0, len_b = 0;
	char *a, *b;
	bool same;

	if (lace_compile(&in->cluster, &in->demand, scheduler, &again, &err))
		return false;
	a = bytes_of(plan, &len_a);
	b = bytes_of(&again, &len_b);
	same = a && b && len_a == len_b && !memcmp(a, b, len_a);
	free(a);
	free(b);
	lace_plan_free(&again);
	return same;
}

static double judge(const struct instance *in, uint64_t seed,
		    const char *scheduler, struct tally *tally)
{
	struct lace_error err;
	struct lace_plan plan;
	double cct;

	if (lace_compile(&in->cluster, &in->demand, scheduler, &plan, &err)) {
		if (err.kind != LACE_ERR_ANSWER) {
			tally->broken++;
			printf("# seed %llu %s: %s\n", (unsigned long long)seed,
			       scheduler, err.text);
		}
		return INFINITY;
	}
	tally->feasible++;
	cct = plan.cct_s;
	if (plan.bound_s > cct * (1 + 1e-9)) {
		tally->bound_above++;
		printf("# seed %llu %s: bound %.9g above cct %.9g\n",
		       (unsigned long long)seed, scheduler, plan.bound_s, cct);
	}
	if (!same_bytes(in, scheduler, &plan)) {
		tally->different++;
		printf("# seed %llu %s: not the same bytes twice\n",
		       (unsigned long long)seed, scheduler);
	}
	lace_plan_free(&plan);
	return cct;
}

int main(int argc, char **argv)
{
	unsigned int nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 100;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct tally tally = { 0 };
	static struct instance in;

	tap_plan(5);
	for (uint64_t seed = first; seed < first + nr; seed++) {
		double lace, symmetric;

		if (!make_instance(&in, seed))
			return 1;
		lace = judge(&in, seed, "lace", &tally);
		symmetric = judge(&in, seed, "symmetric", &tally);
		if (lace > symmetric * (1 + 1e-9)) {
			tally.slower++;
			printf("# seed %llu: lace %.9g symmetric %.9g\n",
			       (unsigned long long)seed, lace, symmetric);
		}
		free_instance(&in);
	}
	printf("# %u instances, %u plans\n", nr, tally.feasible);
	tap_check(tally.feasible > nr, "more than half the plans exist");
	tap_check(!tally.broken, "every plan is one");
	tap_check(!tally.bound_above, "no bound is above its plan");
	tap_check(!tally.slower, "lace is never slower than symmetric");
	tap_check(!tally.different, "the same bytes on every run");
	return tap_end();
}
