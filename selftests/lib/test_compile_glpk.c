// SPDX-License-Identifier: GPL-2.0
/*
 * One configuration for up to four ops, against an integer programme that GLPK
 * solves.  Nothing is relayed, so a plan is its counts: minimize the sum of
 * repeat_o T_o over b_ec, whether edge e has c circuits, and T_o, such that
 *
 *	sum over c of b_ec = 1                   for every edge,
 *	sum over edges at i, over c, of c b_ec <= lanes of i, either side,
 *	T_o >= d_oe sum over c of b_ec / c       for every op and edge,
 *
 * which is exact, since 1/c is a constant.  An edge is an ordered pair; for
 * duplex circuits an unordered one, with the larger of its two demands.
 *
 *	test_compile_glpk [INSTANCES [FIRST SEED]]
 */
#include "lace.h"
#include "tap.h"

#include <glpk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES 16
#define OPS 4
#define EDGES (NODES * NODES)
#define RATE 1e9
#define SECONDS 2

static uint64_t state;

static unsigned int draw(unsigned int below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

struct instance {
	unsigned int n, lanes, ops;
	struct lace_cluster cluster;
	struct lace_demand demand;
	struct lace_demand_op op[OPS];
	struct lace_pair pairs[OPS][EDGES];
	double bits[OPS][NODES][NODES];		/* control included */
};

/* ---- instances ---- */

/* A ring or a chain, and a few more peers while lanes are left for them. */
static void draw_op(struct instance *in, unsigned int o, unsigned int *out,
		    unsigned int *into)
{
	unsigned int n = in->n, offset = 1 + draw(n - 1), nr = 0;
	double bytes = 1e6 * (1 + draw(60));
	bool chain = draw(2), alike = draw(3);

	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int j = 0; j < n; j++) {
			bool wanted = j == (i + offset) % n &&
				      !(chain && i + offset >= n);

			if (i == j || (!wanted && draw(3 * n)))
				continue;
			/* Control takes a lane back, so either side is used. */
			if (out[i] + 2 > in->lanes || into[j] + 2 > in->lanes ||
			    out[j] + 2 > in->lanes || into[i] + 2 > in->lanes)
				continue;
			out[i]++;
			into[i]++;
			out[j]++;
			into[j]++;
			if (!alike)
				bytes = 1e6 * (1 + draw(60));
			in->pairs[o][nr++] = (struct lace_pair){ i, j, bytes };
		}
	}
	in->op[o] = (struct lace_demand_op){ .name = "op", .schedule_op = o,
		.repeat = 1 + draw(8), .nr_pairs = nr, .pairs = in->pairs[o] };
}

static void add_up(struct instance *in)
{
	double r = in->cluster.control_ratio;

	for (unsigned int o = 0; o < in->ops; o++) {
		for (size_t k = 0; k < in->op[o].nr_pairs; k++) {
			const struct lace_pair *p = &in->op[o].pairs[k];

			in->bits[o][p->src][p->dst] += 8 * p->bytes;
			in->bits[o][p->dst][p->src] += 8 * r * p->bytes;
		}
	}
}

static bool make_instance(struct instance *in, uint64_t seed)
{
	unsigned int out[NODES] = { 0 }, into[NODES] = { 0 };
	static const double ratios[] = { 0, 0.01, 0.2 };
	struct lace_error err;

	memset(in, 0, sizeof(*in));
	state = seed * 0x9e3779b97f4a7c15ull + 1;
	draw(2);
	in->ops = draw(3) ? 1 + draw(OPS) : 1;
	in->n = 6 + draw(11);
	in->lanes = 4 + draw(13);
	if (lace_cluster_make(in->n, in->lanes, RATE, draw(2) ?
			      LACE_WIRING_SINGLE : LACE_WIRING_PLANES, 1,
			      &in->cluster, &err))
		return false;
	in->cluster.control_ratio = ratios[draw(3)];
	in->cluster.relay = LACE_RELAY_NONE;
	for (unsigned int o = 0; o < in->ops; o++)
		draw_op(in, o, out, into);
	add_up(in);
	in->demand = (struct lace_demand){ .nr_nodes = in->n,
		.nr_ops = in->ops, .ops = in->op };
	return true;
}

/* ---- the integer programme ---- */

struct programme {
	const struct instance *in;
	bool duplex;
	glp_prob *mip;
	int rows[2][NODES];		/* lanes of each node, TX and RX */
	int times[OPS];			/* columns */
};

static double demand_of(const struct programme *p, unsigned int o,
			unsigned int i, unsigned int j)
{
	double there = p->in->bits[o][i][j], back = p->in->bits[o][j][i];

	return p->duplex && back > there ? back : there;
}

static void add_lanes(struct programme *p)
{
	for (unsigned int side = 0; side < 2; side++) {
		for (unsigned int i = 0; i < p->in->n; i++) {
			p->rows[side][i] = glp_add_rows(p->mip, 1);
			glp_set_row_bnds(p->mip, p->rows[side][i], GLP_UP, 0,
					 p->in->lanes);
		}
	}
}

static void add_times(struct programme *p)
{
	for (unsigned int o = 0; o < p->in->ops; o++) {
		p->times[o] = glp_add_cols(p->mip, 1);
		glp_set_col_bnds(p->mip, p->times[o], GLP_LO, 0, 0);
		glp_set_obj_coef(p->mip, p->times[o], p->in->op[o].repeat);
	}
}

static void add_edge(struct programme *p, unsigned int i, unsigned int j)
{
	int choice, waits[OPS], out = p->rows[0][i];
	int in = p->duplex ? p->rows[0][j] : p->rows[1][j];

	choice = glp_add_rows(p->mip, 1);
	glp_set_row_bnds(p->mip, choice, GLP_FX, 1, 1);
	for (unsigned int o = 0; o < p->in->ops; o++) {
		waits[o] = glp_add_rows(p->mip, 1);
		glp_set_row_bnds(p->mip, waits[o], GLP_LO, 0, 0);
	}
	for (unsigned int c = 1; c <= p->in->lanes; c++) {
		int column = glp_add_cols(p->mip, 1);
		int at[OPS + 4] = { 0, choice, out, in };
		double value[OPS + 4] = { 0, 1, c, c };

		for (unsigned int o = 0; o < p->in->ops; o++) {
			at[4 + o] = waits[o];
			value[4 + o] = -demand_of(p, o, i, j) / RATE / c;
		}
		glp_set_col_kind(p->mip, column, GLP_BV);
		glp_set_mat_col(p->mip, column, 3 + p->in->ops, at, value);
	}
	for (unsigned int o = 0; o < p->in->ops; o++) {
		int at[EDGES] = { 0 };
		double value[EDGES] = { 0 };
		int len = glp_get_mat_col(p->mip, p->times[o], at, value);

		at[++len] = waits[o];
		value[len] = 1;
		glp_set_mat_col(p->mip, p->times[o], len, at, value);
	}
}

static bool is_edge(const struct programme *p, unsigned int i, unsigned int j)
{
	double most = 0;

	for (unsigned int o = 0; o < p->in->ops; o++)
		most = fmax(most, demand_of(p, o, i, j));
	return most > 0 && (!p->duplex || i < j);
}

/* The least time; negative if GLPK does not find it in SECONDS, INFINITY if
 * there is none.
 */
static double solve(const struct instance *in, bool duplex)
{
	struct programme p = { .in = in, .duplex = duplex,
			       .mip = glp_create_prob() };
	double best = -1;
	glp_iocp how;

	glp_set_obj_dir(p.mip, GLP_MIN);
	add_lanes(&p);
	add_times(&p);
	for (unsigned int i = 0; i < in->n; i++)
		for (unsigned int j = 0; j < in->n; j++)
			if (is_edge(&p, i, j))
				add_edge(&p, i, j);
	glp_init_iocp(&how);
	how.msg_lev = GLP_MSG_OFF;
	how.presolve = GLP_ON;
	how.tm_lim = 1000 * SECONDS;
	switch (glp_intopt(p.mip, &how)) {
	case 0:
		if (glp_mip_status(p.mip) == GLP_OPT)
			best = glp_mip_obj_val(p.mip);
		break;
	case GLP_ENOPFS:
		best = INFINITY;
		break;
	}
	glp_delete_prob(p.mip);
	return best;
}

/* ---- verdicts ---- */

struct tally {
	unsigned int solved, single, wrong, not_optimal, not_close, above;
	double worst;
};

static void judge(const struct instance *in, uint64_t seed, bool duplex,
		  struct tally *tally)
{
	const char *name = duplex ? "symmetric-oneshot" : "lace-oneshot";
	double best = solve(in, duplex), cct = INFINITY, bound = 0;
	struct lace_error err;
	struct lace_plan plan;

	if (best < 0)
		return;
	tally->solved++;
	tally->single += in->ops == 1;
	if (!lace_compile(&in->cluster, &in->demand, name, &plan, &err)) {
		cct = plan.transmit_s;
		bound = plan.bound_s;
		lace_plan_free(&plan);
	}
	if ((cct < INFINITY) != (best < INFINITY) || cct < best * (1 - 1e-6)) {
		tally->wrong++;
		tap_note("seed %llu %s: %.9g, GLPK %.9g",
			 (unsigned long long)seed, name, cct, best);
		return;
	}
	if (best == INFINITY)
		return;
	tally->not_optimal += in->ops == 1 && cct > best * (1 + 1e-6);
	tally->not_close += cct > best * 1.01;
	/* Of all partitions; this one has no reconfiguration. */
	tally->above += bound > best * (1 + 1e-6);
	tally->worst = fmax(tally->worst, best > 0 ? cct / best : 1);
	if (cct > best * (1 + 1e-6) || bound > best * (1 + 1e-6))
		tap_note("seed %llu %s: %u nodes %u lanes %u ops: %.9g, bound %.9g, GLPK %.9g",
			 (unsigned long long)seed, name, in->n, in->lanes,
			 in->ops, cct, bound, best);
}

int main(int argc, char **argv)
{
	unsigned int nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 150;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct tally tally = { 0 };
	static struct instance in;

	tap_plan(5);
	for (uint64_t seed = first; seed < first + nr; seed++) {
		if (!make_instance(&in, seed))
			return 1;
		judge(&in, seed, false, &tally);
		/* Duplex circuits on planes need not be all that counts allow. */
		if (in.cluster.nr_ocs == 1)
			judge(&in, seed, true, &tally);
		lace_cluster_free(&in.cluster);
	}
	tap_note("%u instances, %u solved by GLPK, %u of them with one op, worst %.6f",
		 nr, tally.solved, tally.single, tally.worst);
	tap_check(3 * tally.solved > 4 * nr && 4 * tally.single > nr,
		  "GLPK solves most in %u s", SECONDS);
	tap_check(!tally.wrong,
		  "feasible if and only if there is a plan, never below");
	tap_check(!tally.not_optimal, "one op: the optimum");
	tap_check(!tally.not_close, "several ops: within 1 %%");
	tap_check(!tally.above, "no bound above the optimum");
	return tap_end();
}
