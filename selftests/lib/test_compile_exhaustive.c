// SPDX-License-Identifier: GPL-2.0
/*
 * Compiler against exhaustive search: random tiny instances, for each all
 * multigraphs of circuits, all sets of routes, all partitions of the ops.  The
 * search shares no code with the compiler, nor does what it takes an op to last.
 *
 *	test_compile_exhaustive [INSTANCES [FIRST SEED]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lace.h"
#include "tap.h"

#define NODES 4
#define OPS 5
#define MANY_OPS 10	/* more kinds in a period than counts are searched for */
#define RATE 1e9

/* ---- instances ---- */

static uint64_t state;

static unsigned int draw(unsigned int below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

struct instance {
	unsigned int n, ops;
	struct lace_cluster cluster;
	struct lace_demand demand;
	struct lace_demand_op op[MANY_OPS];
	struct lace_pair pairs[MANY_OPS][NODES * NODES];
	double bits[MANY_OPS][NODES][NODES];		/* control included */
	bool data[MANY_OPS][NODES][NODES];
	unsigned int tx[NODES], rx[NODES], both[NODES];
};

static void draw_op(struct instance *in, unsigned int o)
{
	unsigned int density = 1 + draw(4), nr = 0;
	struct lace_pair *pairs = in->pairs[o];

	for (unsigned int i = 0; i < in->n; i++) {
		for (unsigned int j = 0; j < in->n; j++) {
			if (i == j || draw(4) >= density)
				continue;
			pairs[nr++] = (struct lace_pair){ i, j,
				1e6 * (1 + draw(40)) };
		}
	}
	in->op[o] = (struct lace_demand_op){ .name = "op",
		.schedule_op = o, .repeat = 1 + draw(3), .nr_pairs = nr,
		.pairs = pairs };
	if (o && !draw(4))	/* ops alike */
		in->op[o] = in->op[draw(o)];
}

static void add_up(struct instance *in)
{
	double r = in->cluster.control_ratio;

	memset(in->bits, 0, sizeof(in->bits));
	memset(in->data, 0, sizeof(in->data));
	for (unsigned int o = 0; o < in->ops; o++) {
		for (size_t k = 0; k < in->op[o].nr_pairs; k++) {
			const struct lace_pair *p = &in->op[o].pairs[k];

			in->data[o][p->src][p->dst] = true;
			in->bits[o][p->src][p->dst] += 8 * p->bytes;
			in->bits[o][p->dst][p->src] += 8 * r * p->bytes;
		}
	}
}

/* Some ports have but one lane. */
static void cut_lanes(struct instance *in)
{
	for (unsigned int i = 0; i < in->n; i++) {
		struct lace_node *node = &in->cluster.nodes[i];

		in->tx[i] = in->rx[i] = in->both[i] = 0;
		for (unsigned int p = 0; p < node->nr_ports; p++) {
			unsigned int kind = draw(12);

			if (kind == 0)
				node->ports[p].tx.ocs = -1;
			if (kind == 1)
				node->ports[p].rx.ocs = -1;
			in->tx[i] += kind != 0;
			in->rx[i] += kind != 1;
			in->both[i] += kind > 1;
		}
	}
}

static bool make_instance(struct instance *in, uint64_t seed,
			  enum lace_relay relay, bool many)
{
	static const double ratios[] = { 0, 0.002, 0.01, 0.05, 0.3 };
	static const double delays[] = { 0, 0.002, 0.02, 0.1, 2 };
	struct lace_error err;
	unsigned int lanes;

	state = seed * 0x9e3779b97f4a7c15ull + 1;
	draw(2);
	in->n = 2 + draw(3);
	lanes = in->n == 4 && draw(5) ? 1 + draw(2) : 1 + draw(3);
	in->ops = draw(3) ? 1 + draw(OPS) : 1;
	if (many) {
		in->n = 2 + draw(2);
		in->ops = 7 + draw(MANY_OPS - 6);
	}
	if (lace_cluster_make(in->n, lanes, RATE, LACE_WIRING_SINGLE,
			      delays[draw(5)], &in->cluster, &err))
		return false;
	in->cluster.control_ratio = ratios[draw(5)];
	in->cluster.relay = relay;
	cut_lanes(in);
	for (unsigned int o = 0; o < in->ops; o++)
		draw_op(in, o);
	add_up(in);
	in->demand = (struct lace_demand){ .nr_nodes = in->n,
		.nr_ops = in->ops, .ops = in->op };
	return true;
}

/* ---- exhaustive search ---- */

struct search {
	const struct instance *in;
	bool duplex;
	unsigned int x[NODES][NODES];
	double value[MANY_OPS][MANY_OPS];		/* least transmission of ops a..b */
	/* of the op in hand */
	double load[NODES][NODES], best;
	unsigned int from[NODES * NODES], to[NODES * NODES], nr;
	const double (*bits)[NODES];
};

static void route_next(struct search *s, unsigned int k, double time);

static void route_walk(struct search *s, unsigned int k, unsigned int at,
		       unsigned int seen, double time)
{
	double bits = s->bits[s->from[k]][s->to[k]];

	if (at == s->to[k]) {
		route_next(s, k + 1, time);
		return;
	}
	for (unsigned int j = 0; j < s->in->n; j++) {
		double t;

		if (seen >> j & 1 || !s->x[at][j])
			continue;
		t = (s->load[at][j] + bits) / (s->x[at][j] * RATE);
		if (t >= s->best)
			continue;
		s->load[at][j] += bits;
		route_walk(s, k, j, seen | 1u << j, t > time ? t : time);
		s->load[at][j] -= bits;
	}
}

static void route_next(struct search *s, unsigned int k, double time)
{
	if (time >= s->best)
		return;
	if (k == s->nr)
		s->best = time;
	else
		route_walk(s, k, s->from[k], 1u << s->from[k], time);
}

static double op_time(struct search *s, unsigned int o)
{
	enum lace_relay relay = s->in->cluster.relay;
	double time = 0;

	s->bits = s->in->bits[o];
	s->nr = 0;
	s->best = INFINITY;
	for (unsigned int i = 0; i < s->in->n; i++) {
		for (unsigned int j = 0; j < s->in->n; j++) {
			double bits = s->bits[i][j];

			s->load[i][j] = s->x[i][j] ? bits : 0;
			if (bits <= 0)
				continue;
			if (s->x[i][j]) {
				double t = bits / (s->x[i][j] * RATE);

				time = t > time ? t : time;
				continue;
			}
			if (relay == LACE_RELAY_NONE ||
			    (relay == LACE_RELAY_CONTROL &&
			     s->in->data[o][i][j]))
				return INFINITY;
			s->from[s->nr] = i;
			s->to[s->nr++] = j;
		}
	}
	if (!s->nr)
		return time;
	route_next(s, 0, time);
	return s->best;
}

static void judge(struct search *s)
{
	double time[MANY_OPS];

	for (unsigned int o = 0; o < s->in->ops; o++)
		time[o] = op_time(s, o) * s->in->op[o].repeat;
	for (unsigned int a = 0; a < s->in->ops; a++) {
		double sum = 0;

		for (unsigned int b = a; b < s->in->ops; b++) {
			sum += time[b];
			if (sum < s->value[a][b])
				s->value[a][b] = sum;
		}
	}
}

/* All x, cell by cell; cells are ordered pairs, in duplex unordered ones. */
static void fill(struct search *s, unsigned int cell, unsigned int *out,
		 unsigned int *in)
{
	unsigned int n = s->in->n, i = cell / n, j = cell % n, max;

	if (cell == n * n) {
		judge(s);
		return;
	}
	if (i == j || (s->duplex && i > j)) {
		fill(s, cell + 1, out, in);
		return;
	}
	max = out[i] < in[j] ? out[i] : in[j];
	for (unsigned int nr = 0; nr <= max; nr++) {
		s->x[i][j] = nr;
		if (s->duplex)
			s->x[j][i] = nr;
		out[i] -= nr;
		in[j] -= nr;
		fill(s, cell + 1, out, in);
		out[i] += nr;
		in[j] += nr;
	}
	s->x[i][j] = 0;
	if (s->duplex)
		s->x[j][i] = 0;
}

static double optimum(const struct instance *in, bool duplex)
{
	static struct search s;
	unsigned int out[NODES], into[NODES], both[NODES];
	double cost[MANY_OPS + 1] = { 0 };

	memset(&s, 0, sizeof(s));
	s.in = in;
	s.duplex = duplex;
	for (unsigned int a = 0; a < MANY_OPS; a++)
		for (unsigned int b = 0; b < MANY_OPS; b++)
			s.value[a][b] = INFINITY;
	memcpy(out, in->tx, sizeof(out));
	memcpy(into, in->rx, sizeof(into));
	memcpy(both, in->both, sizeof(both));
	/* A duplex pair takes a port at either end from one stock. */
	fill(&s, 0, duplex ? both : out, duplex ? both : into);
	for (unsigned int b = 1; b <= in->ops; b++) {
		cost[b] = INFINITY;
		for (unsigned int a = 0; a < b; a++) {
			double c = cost[a] + s.value[a][b - 1] +
				   (a ? in->cluster.reconfig_s : 0);

			cost[b] = c < cost[b] ? c : cost[b];
		}
	}
	return cost[in->ops];
}

/* ---- verdicts ---- */

struct tally {
	unsigned int instances, single, feasible;
	unsigned int wrong_answer, not_optimal, not_close, bound_above;
	unsigned int slower_than_symmetric;
	double worst;
};

static void report(const char *what, uint64_t seed, const char *scheduler,
		   double cct, double bound, double best)
{
	printf("# %s: seed %llu %s cct %.9g bound %.9g optimum %.9g\n", what,
	       (unsigned long long)seed, scheduler, cct, bound, best);
}

static double judge_plan(const struct instance *in, uint64_t seed,
			 const char *scheduler, struct tally *tally)
{
	double best = optimum(in, !strcmp(scheduler, "symmetric"));
	struct lace_error err;
	struct lace_plan plan;
	double cct = INFINITY;

	tally->instances++;
	if (lace_compile(&in->cluster, &in->demand, scheduler, &plan, &err)) {
		if (best < INFINITY || err.kind != LACE_ERR_ANSWER) {
			tally->wrong_answer++;
			report(err.text, seed, scheduler, INFINITY, 0, best);
		}
		return INFINITY;
	}
	cct = plan.cct_s;
	tally->feasible++;
	tally->single += in->ops == 1;
	if (cct < best * (1 - 1e-9)) {
		tally->wrong_answer++;
		report("better than the optimum", seed, scheduler, cct,
		       plan.bound_s, best);
	}
	if (in->ops == 1 && cct > best * (1 + 1e-9)) {
		tally->not_optimal++;
		report("not optimal", seed, scheduler, cct, plan.bound_s, best);
	}
	if (cct > best * 1.01) {
		tally->not_close++;
		report("not close", seed, scheduler, cct, plan.bound_s, best);
	}
	if (plan.bound_s > best * (1 + 1e-9)) {
		tally->bound_above++;
		report("bound above", seed, scheduler, cct, plan.bound_s, best);
	}
	if (best > 0 && cct / best > tally->worst)
		tally->worst = cct / best;
	lace_plan_free(&plan);
	return cct;
}

static bool judge_both(uint64_t first, unsigned int nr, bool many,
		       struct tally *lace, struct tally *symmetric)
{
	static const enum lace_relay relays[] = { LACE_RELAY_NONE,
		LACE_RELAY_CONTROL, LACE_RELAY_DATA };
	static struct instance in;

	for (uint64_t seed = first; seed < first + nr; seed++) {
		double l, s;

		if (!make_instance(&in, seed, relays[seed % 3], many))
			return false;
		l = judge_plan(&in, seed, "lace", lace);
		s = judge_plan(&in, seed, "symmetric", symmetric);
		if (l > s * (1 + 1e-9)) {
			lace->slower_than_symmetric++;
			report("slower than symmetric", seed, "lace", l, 0, s);
		}
		lace_cluster_free(&in.cluster);
	}
	return true;
}

int main(int argc, char **argv)
{
	unsigned int nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 300;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct tally lace = { 0 }, symmetric = { 0 };

	tap_plan(8);
	if (!judge_both(first, nr, false, &lace, &symmetric))
		return 1;
	printf("# %u instances: feasible, of those with one op, worst\n", nr);
	printf("# lace: %u, %u, %.6f; symmetric: %u, %u, %.6f\n",
	       lace.feasible, lace.single, lace.worst, symmetric.feasible,
	       symmetric.single, symmetric.worst);
	tap_check(lace.single && symmetric.single && nr < 2 * lace.feasible,
	      "the instances are worth something");
	nr = lace.feasible;
	if (!judge_both(first, nr, true, &lace, &symmetric))
		return 1;
	printf("# %u more of 7 to %d ops, worst of all: lace %.6f, symmetric %.6f\n",
	       nr, MANY_OPS, lace.worst, symmetric.worst);
	tap_check(nr < 4 * (lace.feasible - nr), "and those of many ops as well");
	tap_check(!lace.wrong_answer && !symmetric.wrong_answer,
	      "feasible if and only if there is a plan, never below the optimum");
	tap_check(!lace.not_optimal, "lace is optimal for one op");
	tap_check(!symmetric.not_optimal, "symmetric is optimal for one op");
	tap_check(!lace.not_close && !symmetric.not_close,
	      "within 1 %% for several ops");
	tap_check(!lace.bound_above && !symmetric.bound_above,
	      "no bound above the optimum");
	tap_check(!lace.slower_than_symmetric, "lace is never slower than symmetric");
	return tap_end();
}
