// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Dynamic programming over periods and their configurations where the cost of a
 * transition depends on both sides of it.
 *
 * A state is a period under a configuration: its own, or that of a period one
 * step longer at either end, which already has, or still has, the circuits of
 * the ops beyond.  What circuits stay is taken from the counts, as many as any
 * binding could keep.
 */
#include "keep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL_OPS 16		/* up to here every op is a boundary */
#define MAX_POINTS 48
#define MAX_STATES 8192
#define SIM_BUDGET 3e7		/* loads looked at by simulations */

struct load {
	unsigned int pair;
	double bits;
};

/* What a kind puts on the pairs of a configuration. */
struct loads {
	bool known;
	size_t nr;
	struct load *at;
	double time;
};

struct choice {
	struct lace_period period;
	struct lace_config config;
	struct loads *loads;		/* of each kind */
};

struct state {
	unsigned int first, end;	/* points */
	unsigned int choice;
	unsigned int from;		/* state before */
	double begin_s, end_s;		/* of its ops, from the start */
	double over_s;			/* its transition is over */
};

struct search {
	struct lace_planner *planner;
	struct lace_router router;
	double reconfig_s;
	unsigned int nr_points;
	unsigned int points[MAX_POINTS];
	unsigned int nr_choices, max_choices;
	struct choice *choices;
	unsigned int *choice_of;	/* of [first][end] */
	unsigned int nr_states;
	struct state *states;
	double work;
};

/* ---- boundaries ---- */

static bool has_point(const struct search *s, unsigned int op)
{
	for (unsigned int i = 0; i < s->nr_points; i++)
		if (s->points[i] == op)
			return true;
	return false;
}

static int order(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a;
	unsigned int y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

/* Partitions whole or not at all: half of one is none. */
static void add_points(struct search *s, const struct lace_partition *given)
{
	unsigned int fresh = 0;

	for (unsigned int i = 1; i < given->nr; i++)
		fresh += !has_point(s, given->runs[i].first_op);
	if (s->nr_points + fresh > MAX_POINTS)
		return;
	for (unsigned int i = 1; i < given->nr; i++)
		if (!has_point(s, given->runs[i].first_op))
			s->points[s->nr_points++] = given->runs[i].first_op;
}

static void find_points(struct search *s, const struct lace_partition *given,
			unsigned int nr_given)
{
	unsigned int nr_ops = s->planner->demand->nr_ops;

	s->points[s->nr_points++] = 0;
	s->points[s->nr_points++] = nr_ops;
	if (nr_ops <= ALL_OPS)
		for (unsigned int op = 1; op < nr_ops; op++)
			s->points[s->nr_points++] = op;
	else
		for (unsigned int i = 0; i < nr_given; i++)
			add_points(s, &given[i]);
	qsort(s->points, s->nr_points, sizeof(*s->points), order);
}

/* How many configurations may be looked for, by the size of the network. */
static unsigned int max_choices(const struct lace_planner *planner)
{
	unsigned int max = planner->nr_pairs <= 200 ? 400 :
			   planner->nr_pairs <= 2000 ? 64 : 24;

	return planner->cluster->relay == LACE_RELAY_DATA ? max / 4 : max;
}

/* ---- configurations ---- */

static int order_terms(const void *a, const void *b)
{
	const struct lace_term *x = a, *y = b;

	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static bool make_period(struct search *s, unsigned int first, unsigned int end,
			struct lace_period *period)
{
	const struct lace_planner *planner = s->planner;
	unsigned int nr = 0;

	period->terms = lace_planner_alloc(s->planner, end - first,
					   sizeof(*period->terms));
	if (!period->terms)
		return false;
	for (unsigned int op = first; op < end; op++) {
		unsigned int kind = planner->op_kind[op], t = 0;

		if (!planner->kinds[kind].nr)
			continue;
		while (t < nr && period->terms[t].kind != kind)
			t++;
		if (t == nr)
			period->terms[nr++] = (struct lace_term){ .kind = kind };
		period->terms[t].repeat +=
			(double)planner->demand->ops[op].repeat;
	}
	period->nr = nr;
	qsort(period->terms, nr, sizeof(*period->terms), order_terms);
	return true;
}

static bool same_period(const struct lace_period *a, const struct lace_period *b)
{
	if (a->nr != b->nr)
		return false;
	for (unsigned int t = 0; t < a->nr; t++)
		if (a->terms[t].kind != b->terms[t].kind ||
		    a->terms[t].repeat != b->terms[t].repeat)
			return false;
	return true;
}

static unsigned int find_choice(struct search *s, unsigned int first,
				unsigned int end)
{
	struct choice choice = { .config.cost = INFINITY };
	double bound;

	if (!make_period(s, first, end, &choice.period))
		return LACE_NONE;
	for (unsigned int c = 0; c < s->nr_choices; c++) {
		if (!same_period(&s->choices[c].period, &choice.period))
			continue;
		free(choice.period.terms);
		return c;
	}
	choice.config.count = lace_planner_alloc(s->planner,
						 s->planner->max_links,
						 sizeof(uint16_t));
	choice.loads = lace_planner_alloc(s->planner, s->planner->nr_kinds,
					  sizeof(*choice.loads));
	if (s->nr_choices == s->max_choices || !choice.config.count ||
	    !choice.loads) {
		free(choice.period.terms);
		free(choice.config.count);
		free(choice.loads);
		return LACE_NONE;
	}
	bound = lace_bound_period(s->planner, &choice.period);
	if (bound < INFINITY)
		lace_realize(s->planner, &choice.period, bound,
			     &choice.config);
	s->choices[s->nr_choices] = choice;
	return s->nr_choices++;
}

/* Shorter periods first: those are sure to be looked at. */
static void find_choices(struct search *s)
{
	unsigned int n = s->nr_points;

	for (unsigned int span = 1; span < n; span++) {
		for (unsigned int i = 0; i + span < n; i++) {
			unsigned int c;

			if (s->planner->oom)
				return;
			c = find_choice(s, s->points[i], s->points[i + span]);
			s->choice_of[i * n + i + span] = c;
		}
	}
}

static const struct loads *loads_of(struct search *s, unsigned int choice,
				    unsigned int kind)
{
	struct loads *loads = &s->choices[choice].loads[kind];
	unsigned int nr = 0;

	if (loads->known)
		return loads;
	loads->known = true;
	lace_router_set(&s->router, s->choices[choice].config.count);
	loads->time = lace_router_route(&s->router, kind);
	if (loads->time == INFINITY)
		return loads;
	for (unsigned int e = 0; e < s->planner->nr_pairs; e++)
		nr += s->router.load[e] > 0;
	loads->at = lace_planner_alloc(s->planner, nr, sizeof(*loads->at));
	for (unsigned int e = 0; loads->at && e < s->planner->nr_pairs; e++)
		if (s->router.load[e] > 0)
			loads->at[loads->nr++] = (struct load){
				.pair = e, .bits = s->router.load[e] };
	return loads;
}

/* ---- what a transition costs ---- */

static double capacity(const struct search *s, unsigned int pair,
		       const uint16_t *a, const uint16_t *b)
{
	const struct lace_between *p = &s->planner->pairs[pair];
	double bps = 0;

	for (unsigned int l = p->first_link; l < p->first_link + p->nr_links;
	     l++)
		bps += (a[l] < b[l] ? a[l] : b[l]) *
		       s->planner->links[l].rate_bps;
	return bps;
}

/* One round that begins with left_s to go; INFINITY: over what stays alone. */
static double round_s(struct search *s, const struct loads *loads,
		      const uint16_t *old, const uint16_t *new, double left_s)
{
	double most = 0;

	s->work += (double)loads->nr;
	for (size_t i = 0; i < loads->nr; i++) {
		double bits = loads->at[i].bits;
		double kept = capacity(s, loads->at[i].pair, old, new);
		double seconds = kept > 0 ? bits / kept : INFINITY;

		if (seconds > left_s)
			seconds = left_s + (bits - kept * left_s) /
				  capacity(s, loads->at[i].pair, new, new);
		most = seconds > most ? seconds : most;
	}
	return most;
}

/* The ops of a state from the start of the transition that leads to it. */
static double changing_s(struct search *s, const uint16_t *old,
			 const struct state *state)
{
	const uint16_t *new = s->choices[state->choice].config.count;
	double t = 0;

	for (unsigned int op = s->points[state->first];
	     op < s->points[state->end]; op++) {
		double rounds = (double)s->planner->demand->ops[op].repeat;
		const struct loads *loads = loads_of(
			s, state->choice, s->planner->op_kind[op]);
		double kept_s;

		kept_s = t < s->reconfig_s ?
				 round_s(s, loads, old, new, INFINITY) : 0;
		while (rounds > 0 && loads->time > 0 && t < s->reconfig_s) {
			double left_s = s->reconfig_s - t, whole = 1;

			if (kept_s <= left_s)
				whole = fmin(fmax(floor(left_s / kept_s), 1),
					     rounds);
			t += whole * (kept_s <= left_s ? kept_s :
				      round_s(s, loads, old, new, left_s));
			rounds -= whole;
		}
		t += rounds * loads->time;
	}
	return t;
}

static double plain_s(struct search *s, const struct state *state)
{
	double t = 0;

	for (unsigned int op = s->points[state->first];
	     op < s->points[state->end]; op++)
		t += (double)s->planner->demand->ops[op].repeat *
		     loads_of(s, state->choice, s->planner->op_kind[op])->time;
	return t;
}

/* ---- the programme ---- */

static void add_state(struct search *s, unsigned int first, unsigned int end,
		      unsigned int wide_first, unsigned int wide_end)
{
	unsigned int choice, nr = s->nr_states;

	if (wide_end >= s->nr_points || nr == MAX_STATES)
		return;
	choice = s->choice_of[wide_first * s->nr_points + wide_end];
	if (choice == LACE_NONE || s->choices[choice].config.cost == INFINITY)
		return;
	for (unsigned int i = nr; i-- > 0 && s->states[i].first == first &&
				  s->states[i].end == end;)
		if (s->states[i].choice == choice)
			return;
	s->states[s->nr_states++] = (struct state){
		.first = first, .end = end, .choice = choice,
		.from = LACE_NONE, .end_s = INFINITY, .over_s = INFINITY };
}

/* In the order of their ends, so that what comes before is settled. */
static void list_states(struct search *s)
{
	for (unsigned int end = 1; end < s->nr_points; end++) {
		for (unsigned int first = 0; first < end; first++) {
			add_state(s, first, end, first, end);
			add_state(s, first, end, first, end + 1);
			if (!first)
				continue;
			add_state(s, first, end, first - 1, end);
			add_state(s, first, end, first - 1, end + 1);
		}
	}
}

static double next_s(const struct state *state)
{
	return state->end_s > state->over_s ? state->end_s : state->over_s;
}

static bool is_better(const struct search *s, const struct state *a,
		      const struct state *b)
{
	if (a->end == s->nr_points - 1)
		return a->end_s < b->end_s;
	if (next_s(a) != next_s(b))
		return next_s(a) < next_s(b);
	return a->end_s < b->end_s;
}

static void try_from(struct search *s, struct state *state, unsigned int from)
{
	const struct state *before = &s->states[from];
	struct state now = *state;

	now.from = from;
	if (before->choice == state->choice) {
		now.begin_s = before->end_s;
		now.over_s = before->over_s;
		now.end_s = now.begin_s + plain_s(s, state);
	} else {
		now.begin_s = next_s(before);
		now.over_s = now.begin_s + s->reconfig_s;
		if (now.begin_s >= state->end_s)
			return;
		now.end_s = now.begin_s +
			    changing_s(s, s->choices[before->choice].config.count,
				       state);
	}
	if (is_better(s, &now, state))
		*state = now;
}

static void settle(struct search *s)
{
	for (unsigned int i = 0; i < s->nr_states; i++) {
		struct state *state = &s->states[i];

		if (!state->first) {
			state->begin_s = state->over_s = 0;
			state->end_s = plain_s(s, state);
			continue;
		}
		for (unsigned int k = 0; k < i; k++)
			if (s->states[k].end == state->first &&
			    s->states[k].end_s < INFINITY &&
			    s->work < SIM_BUDGET)
				try_from(s, state, k);
	}
}

static unsigned int last_state(const struct search *s)
{
	unsigned int best = LACE_NONE;

	for (unsigned int i = 0; i < s->nr_states; i++)
		if (s->states[i].end == s->nr_points - 1 &&
		    s->states[i].end_s < INFINITY &&
		    (best == LACE_NONE ||
		     s->states[i].end_s < s->states[best].end_s))
			best = i;
	return best;
}

static bool collect(struct search *s, struct lace_partition *found)
{
	size_t size = s->planner->max_links * sizeof(uint16_t);
	unsigned int last = last_state(s), nr = 0;

	if (last == LACE_NONE)
		return false;
	for (unsigned int i = last; i != LACE_NONE; i = s->states[i].from)
		nr++;
	found->runs = lace_planner_alloc(s->planner, nr, sizeof(*found->runs));
	if (!found->runs)
		return false;
	found->nr = nr;
	for (unsigned int i = last; i != LACE_NONE; i = s->states[i].from) {
		const struct state *state = &s->states[i];
		struct lace_run *run = &found->runs[--nr];

		run->first_op = s->points[state->first];
		run->last_op = s->points[state->end] - 1;
		run->config.count = lace_planner_alloc(s->planner,
						       s->planner->max_links,
						       sizeof(uint16_t));
		if (run->config.count)
			memcpy(run->config.count,
			       s->choices[state->choice].config.count, size);
	}
	return !s->planner->oom;
}

static void search_free(struct search *s)
{
	for (unsigned int c = 0; c < s->nr_choices; c++) {
		for (unsigned int k = 0; k < s->planner->nr_kinds; k++)
			free(s->choices[c].loads[k].at);
		free(s->choices[c].loads);
		free(s->choices[c].period.terms);
		free(s->choices[c].config.count);
	}
	free(s->choices);
	free(s->choice_of);
	free(s->states);
}

bool lace_keep_search(struct lace_planner *planner,
		      const struct lace_partition *given, unsigned int nr_given,
		      struct lace_partition *found)
{
	struct search s = { .planner = planner,
			    .reconfig_s = planner->cluster->reconfig_s,
			    .max_choices = max_choices(planner) };
	size_t cells;
	bool ok = false;

	*found = (struct lace_partition){ 0 };
	if (!planner->demand->nr_ops)
		return false;
	find_points(&s, given, nr_given);
	cells = (size_t)s.nr_points * s.nr_points;
	s.choices = lace_planner_alloc(planner, s.max_choices,
				       sizeof(*s.choices));
	s.choice_of = lace_planner_alloc(planner, cells, sizeof(*s.choice_of));
	s.states = lace_planner_alloc(planner, MAX_STATES, sizeof(*s.states));
	if (!planner->oom) {
		memset(s.choice_of, 0xff, cells * sizeof(*s.choice_of));
		find_choices(&s);
	}
	if (!planner->oom && !lace_router_create(planner, &s.router)) {
		list_states(&s);
		settle(&s);
		ok = !planner->oom && collect(&s, found);
		lace_router_free(&s.router);
	}
	search_free(&s);
	if (!ok)
		lace_partition_free(found);
	return ok;
}
