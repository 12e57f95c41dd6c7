// SPDX-License-Identifier: GPL-2.0
/*
 * Binder: random counts on one OCS, on planes and on uneven attachment become
 * circuits between lanes that exist, each used once, each pair with its count;
 * and what could stay from one configuration to the next stays.
 */
#include "planner.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define NODES 12
#define PORTS 8
#define RUNS 6

static uint64_t state = 11;

static unsigned int draw(unsigned int below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % below;
}

struct setup {
	struct lace_cluster cluster;
	struct lace_demand_op op;
	struct lace_pair pairs[NODES * NODES];
	struct lace_demand demand;
	struct lace_planner planner;
	struct lace_run runs[RUNS];
	struct lace_partition partition;
	struct lace_bound_run bound[RUNS];
};

static void set_up(struct setup *s, enum lace_wiring wiring, bool uneven,
		   bool duplex)
{
	struct lace_error err;
	unsigned int nr = 0;

	memset(s, 0, sizeof(*s));
	if (lace_cluster_make(NODES, PORTS, 1000, wiring, 0, &s->cluster, &err))
		exit(1);
	for (unsigned int i = 0; uneven && i < NODES; i++)
		s->cluster.nodes[i].ports[draw(PORTS)].tx.ocs = -1;
	for (unsigned int i = 0; i < NODES; i++)
		for (unsigned int j = 0; j < NODES; j++)
			if (i != j)
				s->pairs[nr++] = (struct lace_pair){ i, j, 1 };
	s->op = (struct lace_demand_op){ .name = "op", .repeat = 1,
		.nr_pairs = nr, .pairs = s->pairs };
	s->demand = (struct lace_demand){ NODES, 1, &s->op, NULL };
	if (lace_planner_create(&s->cluster, &s->demand, duplex, &s->planner,
				&err))
		exit(1);
}

/* As many circuits as go at random; few of them change from run to run. */
static void draw_counts(struct setup *s, const uint16_t *before,
			uint16_t *count)
{
	struct lace_planner *p = &s->planner;
	unsigned int *left = calloc(p->nr_pools, sizeof(*left));

	for (unsigned int k = 0; k < p->nr_pools; k++)
		left[k] = p->pools[k].size;
	for (unsigned int l = 0; before && l < p->nr_links; l++) {
		for (unsigned int n = 0; n < before[l]; n++) {
			if (!draw(4))
				continue;
			count[l]++;
			left[p->links[l].pool[0]]--;
			left[p->links[l].pool[1]]--;
		}
	}
	for (unsigned int i = 0; i < 40 * PORTS * NODES; i++) {
		const struct lace_link *link;
		unsigned int l = draw(p->nr_links);

		link = &p->links[l];
		if (!left[link->pool[0]] || !left[link->pool[1]])
			continue;
		count[l]++;
		left[link->pool[0]]--;
		left[link->pool[1]]--;
	}
	free(left);
}

static bool bind_all(struct setup *s, unsigned int runs)
{
	struct lace_error err;

	for (unsigned int r = 0; r < runs; r++) {
		s->runs[r].config.count = calloc(s->planner.max_links,
						 sizeof(uint16_t));
		draw_counts(s, r ? s->runs[r - 1].config.count : NULL,
			    s->runs[r].config.count);
	}
	s->partition = (struct lace_partition){ .nr = runs, .runs = s->runs };
	return !lace_bind(&s->planner, &s->partition, s->bound, &err);
}

static void tear_down(struct setup *s)
{
	for (unsigned int r = 0; r < RUNS; r++) {
		free(s->runs[r].config.count);
		free(s->bound[r].circuits);
	}
	lace_planner_free(&s->planner);
	lace_cluster_free(&s->cluster);
}

/* Each lane once, on one OCS; each pair as often as counted. */
static bool is_sound(const struct setup *s, unsigned int run)
{
	bool tx[NODES][PORTS] = { 0 }, rx[NODES][PORTS] = { 0 };
	unsigned int have[NODES][NODES] = { 0 }, want[NODES][NODES] = { 0 };
	const struct lace_bound_run *b = &s->bound[run];

	for (unsigned int l = 0; l < s->planner.nr_links; l++) {
		for (unsigned int d = 0; d < 2; d++) {
			unsigned int e = s->planner.links[l].pair[d];

			if (e != LACE_NONE)
				want[s->planner.pairs[e].src]
				    [s->planner.pairs[e].dst] +=
					s->runs[run].config.count[l];
		}
	}
	for (unsigned int i = 0; i < b->nr; i++) {
		const struct lace_circuit *c = &b->circuits[i];
		const struct lace_port *out =
			&s->cluster.nodes[c->tx_node].ports[c->tx_port];
		const struct lace_port *in =
			&s->cluster.nodes[c->rx_node].ports[c->rx_port];

		if (tx[c->tx_node][c->tx_port] || rx[c->rx_node][c->rx_port] ||
		    out->tx.ocs < 0 || out->tx.ocs != in->rx.ocs)
			return false;
		tx[c->tx_node][c->tx_port] = rx[c->rx_node][c->rx_port] = true;
		have[c->tx_node][c->rx_node]++;
	}
	return !memcmp(have, want, sizeof(have));
}

static unsigned int count_stayed(const struct setup *s, unsigned int run)
{
	const struct lace_bound_run *a = &s->bound[run - 1];
	const struct lace_bound_run *b = &s->bound[run];
	unsigned int nr = 0;

	for (unsigned int i = 0; i < a->nr; i++)
		for (unsigned int j = 0; j < b->nr; j++)
			nr += !memcmp(&a->circuits[i], &b->circuits[j],
				      sizeof(*a->circuits));
	return nr;
}

static unsigned int count_could(const struct setup *s, unsigned int run)
{
	const uint16_t *a = s->runs[run - 1].config.count;
	const uint16_t *b = s->runs[run].config.count;
	unsigned int nr = 0;

	for (unsigned int l = 0; l < s->planner.nr_links; l++)
		nr += a[l] < b[l] ? a[l] : b[l];
	return nr << s->planner.duplex;
}

/*
 * percent: of min(old, new) circuits of each pair.  On planes no binding may
 * keep all of these: a new circuit needs a plane that is free at both its ends.
 * With more than two runs, those between have neighbours that want different
 * things; test_bind_glpk.c knows how much can be had there.
 */
struct kind {
	const char *name;
	enum lace_wiring wiring;
	bool uneven, duplex, merged;
	unsigned int runs, percent;
};

static void test(const struct kind *kind)
{
	unsigned int stayed = 0, could = 0, broken = 0;

	for (unsigned int round = 0; round < 10; round++) {
		struct setup s;

		set_up(&s, kind->wiring, kind->uneven, kind->duplex);
		broken += s.planner.merged != kind->merged ||
			  !bind_all(&s, kind->runs);
		for (unsigned int r = 0; r < kind->runs; r++)
			broken += !is_sound(&s, r);
		for (unsigned int r = 1; r < kind->runs; r++) {
			stayed += count_stayed(&s, r);
			could += count_could(&s, r);
		}
		tear_down(&s);
	}
	tap_check(!broken, "%s: lanes that exist, once, all counts",
		  kind->name);
	tap_check(could && 100 * stayed >= kind->percent * could,
		  "%s: %u of %u circuits stay that are in both counts",
		  kind->name, stayed, could);
}

int main(void)
{
	static const struct kind kinds[] = {
		{ "one OCS", LACE_WIRING_SINGLE, false, false, false, RUNS,
		  100 },
		{ "planes, two runs", LACE_WIRING_PLANES, false, false, true, 2,
		  95 },
		{ "planes, many runs", LACE_WIRING_PLANES, false, false, true,
		  RUNS, 85 },
		{ "planes with lanes missing", LACE_WIRING_PLANES, true, false,
		  false, RUNS, 100 },
		{ "duplex planes", LACE_WIRING_PLANES, false, true, false, RUNS,
		  100 },
	};
	unsigned int nr = sizeof(kinds) / sizeof(kinds[0]);

	tap_plan(2 * nr);
	for (unsigned int i = 0; i < nr; i++)
		test(&kinds[i]);
	return tap_end();
}
