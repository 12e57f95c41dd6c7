// SPDX-License-Identifier: GPL-2.0
/*
 * What the binder keeps on planes against what any binding could keep, which
 * GLPK computes.  For one configuration between given ones it is
 *
 *	maximize   sum of keeps_ijk y_ijk
 *	such that  sum over k of y_ijk = x_ij,
 *		   sum over j of y_ijk <= 1, sum over i of y_ijk <= 1,
 *
 * y_ijk whether i sends to j on plane k, x_ij the counts.  The linear relaxation
 * is an upper bound.  Where two configurations are free, test_bind.c has them.
 */
#include "bind.h"
#include "tap.h"

#include <glpk.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET 2000	/* of the search, for each cell, as the binder has it */

static uint64_t state = 11;

static unsigned int draw(unsigned int below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

/* ---- configurations ---- */

struct config {
	unsigned int n, lanes;
	unsigned int *count;		/* of node x node */
	unsigned int *dst, *src;	/* of node x lane, LACE_NONE if dark */
};

static void *fill(size_t nr, int byte)
{
	void *mem = malloc((nr + 1) * sizeof(unsigned int));

	if (!mem)
		exit(1);
	return memset(mem, byte, nr * sizeof(unsigned int));
}

static struct config new_config(unsigned int n, unsigned int lanes)
{
	return (struct config){ n, lanes, fill(n * n, 0), fill(n * lanes, 0xff),
				fill(n * lanes, 0xff) };
}

static void free_config(struct config *c)
{
	free(c->count);
	free(c->dst);
	free(c->src);
}

/* Adds circuits at random where lanes are left. */
static void add_circuits(struct config *c, unsigned int tries)
{
	unsigned int *out = fill(c->n, 0), *in = fill(c->n, 0);

	for (unsigned int at = 0; at < c->n * c->n; at++) {
		out[at / c->n] += c->count[at];
		in[at % c->n] += c->count[at];
	}
	while (tries--) {
		unsigned int i = draw(c->n), j = draw(c->n);

		if (i == j || out[i] == c->lanes || in[j] == c->lanes)
			continue;
		out[i]++;
		in[j]++;
		c->count[i * c->n + j]++;
	}
	free(out);
	free(in);
}

/* Each circuit of the other one with some chance, and others. */
static void draw_counts(struct config *c, const struct config *other,
			unsigned int percent, unsigned int tries)
{
	for (unsigned int at = 0; other && at < c->n * c->n; at++)
		for (unsigned int nr = other->count[at]; nr; nr--)
			c->count[at] += draw(100) < percent;
	add_circuits(c, tries);
}

static void shift_counts(struct config *c, unsigned int offset, bool wrap)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (wrap || i + offset < c->n)
			c->count[i * c->n + (i + offset) % c->n] +=
				c->lanes / 2;
}

static unsigned int count_common(const struct config *a, const struct config *b)
{
	unsigned int nr = 0;

	for (unsigned int at = 0; at < a->n * a->n; at++)
		nr += a->count[at] < b->count[at] ? a->count[at] : b->count[at];
	return nr;
}

static unsigned int count_kept(const struct config *a, const struct config *b)
{
	unsigned int nr = 0;

	for (unsigned int at = 0; at < a->n * a->lanes; at++)
		nr += a->dst[at] != LACE_NONE && a->dst[at] == b->dst[at];
	return nr;
}

static bool is_coloured(const struct config *c)
{
	unsigned int *have = fill(c->n * c->n, 0);
	bool *heard = calloc(c->n * c->lanes, sizeof(*heard)), good = heard;

	for (unsigned int at = 0; good && at < c->n * c->lanes; at++) {
		unsigned int dst = c->dst[at];

		if (dst == LACE_NONE)
			continue;
		good = !heard[dst * c->lanes + at % c->lanes];
		heard[dst * c->lanes + at % c->lanes] = true;
		have[at / c->lanes * c->n + dst]++;
	}
	good = good && !memcmp(have, c->count,
			       c->n * c->n * sizeof(*have));
	free(heard);
	free(have);
	return good;
}

/* The binder's own steps for one configuration, between given ones. */
static void bind(struct config *c, const struct config *before,
		 const struct config *after)
{
	struct lace_joined *joined = calloc(c->n * c->n, sizeof(*joined));
	unsigned int *dark = fill(c->n * c->lanes, 0xff);
	struct lace_colouring colouring;
	size_t nr = 0, work;

	for (unsigned int at = 0; at < c->n * c->n; at++)
		if (c->count[at])
			joined[nr++] = (struct lace_joined){
				at / c->n, at % c->n, c->count[at] };
	if (lace_colouring_create(&colouring, c->n, c->lanes))
		exit(1);
	colouring.dst = c->dst;
	colouring.before = before ? before->dst : dark;
	colouring.after = after ? after->dst : dark;
	lace_colouring_make(&colouring, joined, nr);
	lace_colouring_swap_all(&colouring);
	if (before && lace_colouring_peel(&colouring, UINT_MAX,
					  (size_t)BUDGET * c->n * c->lanes,
					  &work))
		exit(1);
	lace_colouring_free(&colouring);
	free(joined);
	free(dark);
}

/* ---- what any binding could keep ---- */

static void add_cell(glp_prob *lp, int rows[3], int kept)
{
	int column = glp_add_cols(lp, 1), at[4] = { 0 };
	double ones[4] = { 0, 1, 1, 1 };

	memcpy(at + 1, rows, 3 * sizeof(*rows));
	glp_set_col_bnds(lp, column, GLP_DB, 0, 1);
	glp_set_obj_coef(lp, column, kept);
	glp_set_mat_col(lp, column, 3, at, ones);
}

static glp_prob *build(const struct config *c, const struct config *before,
		       const struct config *after)
{
	int first, row, cells = c->n * c->lanes;
	glp_prob *lp = glp_create_prob();

	glp_set_obj_dir(lp, GLP_MAX);
	first = glp_add_rows(lp, 2 * cells);
	for (int at = 0; at < 2 * cells; at++)
		glp_set_row_bnds(lp, first + at, GLP_UP, 0, 1);
	for (unsigned int at = 0; at < c->n * c->n; at++) {
		unsigned int i = at / c->n, j = at % c->n;

		if (!c->count[at])
			continue;
		row = glp_add_rows(lp, 1);
		glp_set_row_bnds(lp, row, GLP_FX, c->count[at], c->count[at]);
		for (unsigned int k = 0; k < c->lanes; k++) {
			int rows[3] = { row, first + i * c->lanes + k,
					first + cells + j * c->lanes + k };

			add_cell(lp, rows,
				 (before->dst[i * c->lanes + k] == j) +
				 (after->dst[i * c->lanes + k] == j));
		}
	}
	return lp;
}

static unsigned int could_keep(const struct config *c,
			       const struct config *before,
			       const struct config *after)
{
	glp_prob *lp = build(c, before, after);
	unsigned int most = 0;
	glp_smcp simplex;

	glp_init_smcp(&simplex);
	simplex.msg_lev = GLP_MSG_OFF;
	simplex.presolve = GLP_ON;
	if (!glp_simplex(lp, &simplex) && glp_get_status(lp) == GLP_OPT)
		most = floor(glp_get_obj_val(lp) + 1e-6);
	glp_delete_prob(lp);
	return most;
}

/* ---- verdicts ---- */

struct kind {
	const char *name;
	unsigned int n, lanes, rounds;
	unsigned int percent;	/* of circuits that are asked for again */
	unsigned int tries;	/* circuits added, for each lane */
	unsigned int ring;	/* offset of a ring that is there before, or 0 */
	bool between;		/* a configuration follows, too */
};

static void make_counts(const struct kind *kind, struct config *c)
{
	unsigned int tries = kind->tries * kind->n * kind->lanes;

	for (unsigned int i = 0; i < 3; i++)
		c[i] = new_config(kind->n, kind->lanes);
	if (kind->ring) {
		shift_counts(&c[0], kind->ring, true);
		shift_counts(&c[0], 1, true);
		shift_counts(&c[1], 1, false);
	}
	draw_counts(&c[0], NULL, 0, tries);
	draw_counts(&c[1], kind->ring ? NULL : &c[0], kind->percent, tries);
	if (kind->between)
		draw_counts(&c[2], &c[1], kind->percent, tries);
}

static void test(const struct kind *kind)
{
	unsigned int kept = 0, could = 0, common = 0, broken = 0;

	for (unsigned int round = 0; round < kind->rounds; round++) {
		unsigned int most, mine;
		struct config c[3];

		make_counts(kind, c);
		bind(&c[0], NULL, NULL);
		bind(&c[2], &c[0], NULL);
		bind(&c[1], &c[0], &c[2]);
		most = could_keep(&c[1], &c[0], &c[2]);
		mine = count_kept(&c[1], &c[0]) + count_kept(&c[1], &c[2]);
		broken += !is_coloured(&c[0]) || !is_coloured(&c[1]) || !most ||
			  mine > most;
		kept += mine;
		could += most;
		common += count_common(&c[0], &c[1]) +
			  count_common(&c[1], &c[2]);
		for (unsigned int i = 0; i < 3; i++)
			free_config(&c[i]);
	}
	tap_check(!broken, "%s: all counts, none above the bound", kind->name);
	tap_check(100 * kept >= 95 * could,
		  "%s: %u kept, %u can be, %u are in both counts", kind->name,
		  kept, could, common);
}

/* ---- several links a pair ---- */

#define UNEVEN_NODES 8
#define UNEVEN_PORTS 9

struct uneven {
	struct lace_cluster cluster;
	struct lace_pair pairs[UNEVEN_NODES * UNEVEN_NODES];
	struct lace_demand_op op;
	struct lace_demand demand;
	struct lace_planner planner;
	uint16_t *count[2];
};

/* Three OCSes, any lane on any, some of them slower, some missing. */
static void make_uneven(struct uneven *u)
{
	struct lace_error err;
	unsigned int nr = 0;

	memset(u, 0, sizeof(*u));
	if (lace_cluster_make(UNEVEN_NODES, UNEVEN_PORTS, 1000,
			      LACE_WIRING_PLANES, 0, &u->cluster, &err))
		exit(1);
	for (unsigned int i = 0; i < UNEVEN_NODES; i++) {
		for (unsigned int p = 0; p < UNEVEN_PORTS; p++) {
			struct lace_port *port = &u->cluster.nodes[i].ports[p];

			port->tx.ocs = (int)draw(10) % 4 - !draw(10);
			port->rx.ocs = (int)draw(10) % 3 - !draw(10);
			if (!draw(6))
				port->rate_bps = 500;
		}
		for (unsigned int j = 0; j < UNEVEN_NODES; j++)
			if (i != j)
				u->pairs[nr++] = (struct lace_pair){ i, j, 1 };
	}
	u->op = (struct lace_demand_op){ .name = "op", .repeat = 1,
		.nr_pairs = nr, .pairs = u->pairs };
	u->demand = (struct lace_demand){ UNEVEN_NODES, 1, &u->op, NULL };
	if (lace_planner_create(&u->cluster, &u->demand, false, &u->planner,
				&err))
		exit(1);
}

/* Random circuits; of the second time most join the pairs of the first. */
static void draw_links(struct uneven *u, unsigned int which)
{
	struct lace_planner *p = &u->planner;
	unsigned int *left = fill(p->nr_pools, 0);

	u->count[which] = calloc(p->max_links, sizeof(uint16_t));
	for (unsigned int k = 0; k < p->nr_pools; k++)
		left[k] = p->pools[k].size;
	for (unsigned int i = 0; i < 4000; i++) {
		unsigned int l = draw(p->nr_links);
		const struct lace_link *link = &p->links[l];
		const struct lace_between *pair = &p->pairs[link->pair[0]];
		unsigned int wanted = 0, have = 0;

		for (unsigned int k = 0; which && k < pair->nr_links; k++) {
			wanted += u->count[0][pair->first_link + k];
			have += u->count[1][pair->first_link + k];
		}
		if (!left[link->pool[0]] || !left[link->pool[1]] ||
		    (which && i < 3000 && have >= wanted))
			continue;
		u->count[which][l]++;
		left[link->pool[0]]--;
		left[link->pool[1]]--;
	}
	free(left);
}

/*
 * maximize the circuits of links that are there before, of each pair and rate as
 * many circuits as now, no pool with more than its lanes.  The relaxation.
 */
static unsigned int could_keep_links(const struct uneven *u)
{
	const struct lace_planner *p = &u->planner;
	glp_prob *lp = glp_create_prob();
	unsigned int most = 0;
	glp_smcp simplex;

	glp_set_obj_dir(lp, GLP_MAX);
	glp_add_rows(lp, p->nr_pools + p->nr_links);
	for (unsigned int k = 0; k < p->nr_pools; k++)
		glp_set_row_bnds(lp, 1 + k, GLP_UP, 0, p->pools[k].size);
	for (unsigned int l = 0; l < p->nr_links; l++) {
		const struct lace_between *pair =
			&p->pairs[p->links[l].pair[0]];
		unsigned int alike = pair->first_link, now = 0;

		while (p->links[alike].rate_bps != p->links[l].rate_bps)
			alike++;
		for (unsigned int k = alike;
		     k < pair->first_link + pair->nr_links; k++)
			if (p->links[k].rate_bps == p->links[l].rate_bps)
				now += u->count[1][k];
		glp_set_row_bnds(lp, 1 + p->nr_pools + alike, GLP_FX, now, now);
		/* What is there before, and what is not. */
		for (unsigned int kept = 0; kept < 2; kept++) {
			int column = glp_add_cols(lp, 1);
			int at[] = { 0, 1 + p->links[l].pool[0],
				     1 + p->links[l].pool[1],
				     1 + p->nr_pools + alike };
			double ones[] = { 0, 1, 1, 1 };

			glp_set_col_bnds(lp, column, kept && u->count[0][l] ?
					 GLP_DB : kept ? GLP_FX : GLP_LO, 0,
					 kept ? u->count[0][l] : 0);
			glp_set_obj_coef(lp, column, kept);
			glp_set_mat_col(lp, column, 3, at, ones);
		}
	}
	glp_init_smcp(&simplex);
	simplex.msg_lev = GLP_MSG_OFF;
	if (!glp_simplex(lp, &simplex) && glp_get_status(lp) == GLP_OPT)
		most = floor(glp_get_obj_val(lp) + 1e-6);
	glp_delete_prob(lp);
	return most;
}

static bool same_counts(const struct uneven *u, const uint16_t *count)
{
	const struct lace_planner *p = &u->planner;
	unsigned int *used = fill(p->nr_pools, 0);
	bool good = true;
	double sum;

	for (unsigned int e = 0; e < p->nr_pairs; e++) {
		sum = 0;
		for (unsigned int k = 0; k < p->pairs[e].nr_links; k++) {
			unsigned int l = p->pairs[e].first_link + k;

			sum += (u->count[1][l] - (double)count[l]) *
			       p->links[l].rate_bps;
			used[p->links[l].pool[0]] += count[l];
			used[p->links[l].pool[1]] += count[l];
		}
		good = good && fabs(sum) < 1;
	}
	for (unsigned int k = 0; k < p->nr_pools; k++)
		good = good && used[k] <= p->pools[k].size;
	free(used);
	return good;
}

static void test_uneven(void)
{
	unsigned int kept = 0, could = 0, before = 0, broken = 0;

	for (unsigned int round = 0; round < 20; round++) {
		struct uneven u;
		unsigned int most, mine = 0;
		uint16_t *count;

		make_uneven(&u);
		draw_links(&u, 0);
		draw_links(&u, 1);
		count = calloc(u.planner.max_links, sizeof(*count));
		memcpy(count, u.count[1], u.planner.max_links * sizeof(*count));
		broken += lace_bind_links(&u.planner, u.count[0], count) ||
			  !same_counts(&u, count);
		for (unsigned int l = 0; l < u.planner.nr_links; l++) {
			unsigned int old = u.count[0][l];

			mine += old < count[l] ? old : count[l];
			before += old < u.count[1][l] ? old : u.count[1][l];
		}
		most = could_keep_links(&u);
		broken += !most || mine > most;
		kept += mine;
		could += most;
		free(count);
		free(u.count[0]);
		free(u.count[1]);
		lace_planner_free(&u.planner);
		lace_cluster_free(&u.cluster);
	}
	tap_check(!broken, "uneven: the same rates, none above the bound");
	tap_check(100 * kept >= 95 * could && before < kept,
		  "uneven: %u kept, %u can be, %u on the links asked for", kept,
		  could, before);
}

int main(void)
{
	static const struct kind kinds[] = {
		{ "dense", 12, 8, 6, 75, 10, 0, false },
		{ "dense, half changes", 12, 8, 4, 50, 10, 0, false },
		{ "dense, few lanes", 32, 3, 6, 75, 10, 0, false },
		{ "dense, more nodes", 24, 8, 2, 75, 10, 0, false },
		{ "sparse", 24, 6, 6, 80, 1, 0, false },
		{ "tiny", 4, 3, 40, 70, 10, 0, false },
		{ "ring to pipeline", 16, 8, 6, 0, 1, 3, false },
		{ "between two", 12, 8, 6, 75, 10, 0, true },
	};
	unsigned int nr = sizeof(kinds) / sizeof(kinds[0]);

	tap_plan(2 * nr + 2);
	for (unsigned int i = 0; i < nr; i++)
		test(&kinds[i]);
	test_uneven();
	return tap_end();
}
