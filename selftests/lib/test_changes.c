// SPDX-License-Identifier: GPL-2.0
/*
 * The steps from one state of a device to another, taken by a model that
 * refuses what the module refuses: it must refuse none, end where it should,
 * and have an active segment throughout where both states have one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime.h"
#include "tap.h"

#define MAX_NODES 5
#define MAX_PREFIXES 6		/* in all: nodes compete for them */
#define MAX_PORTS 3
#define MAX_SEGMENTS 4
#define RUNS 20000

static struct lace_error err;
static uint64_t seed;

static unsigned int pick(unsigned int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* ---- states ---- */

static struct lace_rt_prefix prefix_number(unsigned int n)
{
	return (struct lace_rt_prefix){
		.family = AF_INET, .length = 32, .address = { 10, 0, 0, n },
	};
}

static void set_mac(struct lace_rt_node *node, unsigned int port,
		    unsigned int last)
{
	node->ports |= 1U << port;
	memcpy(node->mac[port], (uint8_t[]){ 2, 0, 0, 0, node->id, last }, 6);
}

static void random_nodes(struct lace_rt_state *state)
{
	unsigned int owner[MAX_PREFIXES], i, k;
	struct lace_rt_node *node;

	state->nodes = calloc(MAX_NODES, sizeof(*state->nodes));
	for (k = 0; k < MAX_PREFIXES; k++)
		owner[k] = pick(MAX_NODES + 1);
	for (i = 0; i < MAX_NODES; i++) {
		/* The own node is always there. */
		if ((int)i != state->node && !pick(4))
			continue;
		node = &state->nodes[state->nr_nodes++];
		node->id = i;
		node->prefixes = calloc(MAX_PREFIXES, sizeof(*node->prefixes));
		for (k = 0; k < MAX_PREFIXES; k++)
			if (owner[k] == i)
				node->prefixes[node->nr_prefixes++] =
					prefix_number(k);
		for (k = 0; k < MAX_PORTS; k++)
			if (pick(3))
				set_mac(node, k, k + 16 * pick(2));
	}
}

/* A circuit to a port that is there; false if there is none. */
static bool random_circuit(const struct lace_rt_state *state,
			   struct lace_rt_circuit *circuit)
{
	const struct lace_rt_node *node;
	unsigned int tries, port;

	for (tries = 0; tries < 10; tries++) {
		node = &state->nodes[pick(state->nr_nodes)];
		port = pick(MAX_PORTS);
		if (node->id == state->node || !(node->ports & 1U << port))
			continue;
		*circuit = (struct lace_rt_circuit){
			.port = 0, .dir = LACE_DIR_TX, .peer = node->id,
			.peer_port = port,
		};
		return true;
	}
	return false;
}

static void random_segments(struct lace_rt_state *state)
{
	struct lace_rt_segment *segment;
	unsigned int i;

	state->segments = calloc(MAX_SEGMENTS, sizeof(*state->segments));
	for (i = 0; i < MAX_SEGMENTS; i++) {
		if (!pick(3))
			continue;
		segment = &state->segments[state->nr_segments++];
		segment->id = i;
		segment->circuits = calloc(1, sizeof(*segment->circuits));
		segment->nr_circuits = random_circuit(state, segment->circuits);
	}
}

static void random_state(struct lace_rt_state *state, int node)
{
	memset(state, 0, sizeof(*state));
	state->node = node;
	state->active = LACE_RT_NONE;
	random_nodes(state);
	random_segments(state);
	if (state->nr_segments && pick(4))
		state->active =
			state->segments[pick(state->nr_segments)].id;
}

static void copy_segment(const struct lace_rt_segment *from,
			 struct lace_rt_segment *to)
{
	*to = *from;
	to->routes = NULL;
	to->circuits = calloc(1, sizeof(*to->circuits));
	if (from->nr_circuits)
		to->circuits[0] = from->circuits[0];
}

static void copy_node(const struct lace_rt_node *from, struct lace_rt_node *to)
{
	*to = *from;
	to->prefixes = calloc(MAX_PREFIXES, sizeof(*to->prefixes));
	if (from->nr_prefixes)
		memcpy(to->prefixes, from->prefixes,
		       from->nr_prefixes * sizeof(*to->prefixes));
}

static bool state_equal(const struct lace_rt_state *a,
			const struct lace_rt_state *b)
{
	size_t i;

	if (a->node != b->node || a->active != b->active ||
	    a->nr_nodes != b->nr_nodes || a->nr_segments != b->nr_segments)
		return false;
	for (i = 0; i < a->nr_nodes; i++)
		if (!lace_rt_node_equal(&a->nodes[i], &b->nodes[i]))
			return false;
	for (i = 0; i < a->nr_segments; i++)
		if (!lace_rt_segment_equal(&a->segments[i], &b->segments[i]))
			return false;
	return true;
}

/* ---- a model of the module ---- */

/* By number; room for a spare segment. */
struct model {
	int node;
	int64_t active;
	bool has_node[MAX_NODES], has_segment[MAX_SEGMENTS + 1];
	struct lace_rt_node nodes[MAX_NODES];
	struct lace_rt_segment segments[MAX_SEGMENTS + 1];
};

static void model_put_node(struct model *model, const struct lace_rt_node *node)
{
	lace_rt_node_free(&model->nodes[node->id]);
	copy_node(node, &model->nodes[node->id]);
	model->has_node[node->id] = true;
}

static void model_put_segment(struct model *model,
			      const struct lace_rt_segment *segment)
{
	lace_rt_segment_free(&model->segments[segment->id]);
	copy_segment(segment, &model->segments[segment->id]);
	model->has_segment[segment->id] = true;
}

static void model_init(struct model *model, const struct lace_rt_state *state)
{
	size_t i;

	memset(model, 0, sizeof(*model));
	model->node = state->node;
	model->active = state->active;
	for (i = 0; i < state->nr_nodes; i++)
		model_put_node(model, &state->nodes[i]);
	for (i = 0; i < state->nr_segments; i++)
		model_put_segment(model, &state->segments[i]);
}

static void model_free(struct model *model)
{
	unsigned int i;

	for (i = 0; i < MAX_NODES; i++)
		lace_rt_node_free(&model->nodes[i]);
	for (i = 0; i <= MAX_SEGMENTS; i++)
		lace_rt_segment_free(&model->segments[i]);
}

static bool owns(const struct model *model, unsigned int n,
		 const struct lace_rt_prefix *prefix)
{
	unsigned int i;

	if (!model->has_node[n])
		return false;
	for (i = 0; i < model->nodes[n].nr_prefixes; i++)
		if (!lace_rt_prefix_compare(&model->nodes[n].prefixes[i],
					    prefix))
			return true;
	return false;
}

/* Whether a segment finds all that it needs. */
static bool compiles(const struct model *model, int64_t id)
{
	const struct lace_rt_segment *segment = &model->segments[id];
	const struct lace_rt_circuit *circuit = segment->circuits;

	if (!model->has_node[model->node])
		return false;
	return !segment->nr_circuits ||
	       (model->has_node[circuit->peer] &&
		model->nodes[circuit->peer].ports & 1U << circuit->peer_port);
}

static bool mac_is_double(const struct lace_rt_node *node)
{
	unsigned int i, k;

	for (i = 0; i < MAX_PORTS; i++)
		for (k = 0; k < i; k++)
			if (node->ports & 1U << i && node->ports & 1U << k &&
			    !memcmp(node->mac[i], node->mac[k], 6))
				return true;
	return false;
}

static bool model_set_node(struct model *model, const struct lace_rt_node *node)
{
	unsigned int i, n;

	if (mac_is_double(node))
		return false;
	for (n = 0; n < MAX_NODES; n++)
		for (i = 0; n != node->id && i < node->nr_prefixes; i++)
			if (owns(model, n, &node->prefixes[i]))
				return false;
	model_put_node(model, node);
	return model->active < 0 || compiles(model, model->active);
}

static bool model_del_node(struct model *model, int64_t id)
{
	if (!model->has_node[id])
		return false;
	model->has_node[id] = false;
	return model->active < 0 || compiles(model, model->active);
}

static bool model_activate(struct model *model, int64_t id)
{
	model->active = id;
	return id < 0 || (model->has_segment[id] && compiles(model, id));
}

static bool model_set_number(struct model *model, int64_t id)
{
	unsigned int i;

	for (i = 0; i <= MAX_SEGMENTS; i++)
		if (model->has_segment[i])
			return false;
	model->node = id;
	return true;
}

static bool model_take(struct model *model, const struct lace_step *step)
{
	bool known;

	switch (step->kind) {
	case LACE_STEP_NUMBER:
		return model_set_number(model, step->id);
	case LACE_STEP_SET_NODE:
		return model_set_node(model, &step->node);
	case LACE_STEP_DEL_NODE:
		return model_del_node(model, step->id);
	case LACE_STEP_SET_SEGMENT:
		if (step->segment.id == model->active ||
		    step->segment.id > MAX_SEGMENTS)
			return false;
		model_put_segment(model, &step->segment);
		return true;
	case LACE_STEP_DEL_SEGMENT:
		known = model->has_segment[step->id];
		model->has_segment[step->id] = false;
		return known && step->id != model->active;
	case LACE_STEP_ACTIVATE:
		return model_activate(model, step->id);
	}
	return false;
}

static bool model_is(const struct model *model,
		     const struct lace_rt_state *state)
{
	struct lace_rt_state is = { .node = model->node,
				    .active = model->active };
	struct lace_rt_node nodes[MAX_NODES];
	struct lace_rt_segment segments[MAX_SEGMENTS + 1];
	unsigned int i;

	is.nodes = nodes;
	is.segments = segments;
	for (i = 0; i < MAX_NODES; i++)
		if (model->has_node[i])
			nodes[is.nr_nodes++] = model->nodes[i];
	for (i = 0; i <= MAX_SEGMENTS; i++)
		if (model->has_segment[i])
			segments[is.nr_segments++] = model->segments[i];
	return state_equal(&is, state);
}

/* ---- checks ---- */

static const char *run(const struct lace_rt_state *have,
		       const struct lace_rt_state *want,
		       const struct lace_changes *changes)
{
	bool seamless = have->active >= 0 && want->active >= 0 &&
			have->node == want->node;
	enum lace_phase phase = LACE_PREPARE;
	const char *wrong = NULL;
	struct model model;
	size_t i;

	model_init(&model, have);
	for (i = 0; i < changes->nr_steps && !wrong; i++) {
		if (changes->steps[i].phase < phase)
			wrong = "phases are mixed";
		else if (!model_take(&model, &changes->steps[i]))
			wrong = "a step is refused";
		else if (seamless && model.active < 0)
			wrong = "no segment was active";
		phase = changes->steps[i].phase;
	}
	if (!wrong && !model_is(&model, want))
		wrong = "it ends elsewhere";
	model_free(&model);
	return wrong;
}

/* What is wrong with the steps from a to b; NULL if nothing is. */
static const char *check_steps(const struct lace_rt_state *a,
			       const struct lace_rt_state *b)
{
	struct lace_changes changes;
	const char *wrong;

	if (lace_changes_make(a, b, &changes, &err))
		return "no steps were made";
	wrong = run(a, b, &changes);
	if (!wrong && !changes.nr_steps != state_equal(a, b))
		wrong = "steps where nothing changes, or none";
	lace_changes_free(&changes);
	return wrong;
}

static void check_random(const char *name, bool same_node)
{
	const char *wrong = NULL;
	struct lace_rt_state a, b;
	unsigned int i;
	int node;

	for (i = 0; i < RUNS && !wrong; i++) {
		seed = i;
		node = pick(MAX_NODES);
		random_state(&a, node);
		random_state(&b, same_node ? node : (int)pick(MAX_NODES));
		wrong = check_steps(&a, &b);
		if (!wrong)
			wrong = check_steps(&a, &a);
		lace_rt_state_free(&a);
		lace_rt_state_free(&b);
	}
	if (!tap_check(!wrong, "%s", name))
		tap_note("seed %u: %s", i - 1, wrong);
}

/* Replacing the active segment takes the spare number and gives it back. */
static void check_replace(void)
{
	struct lace_rt_circuit one = { .peer = 1 }, two = { .peer = 2 };
	struct lace_rt_segment have_segment = { .nr_circuits = 1,
						.circuits = &one };
	struct lace_rt_segment want_segment = { .nr_circuits = 1,
						.circuits = &two };
	struct lace_rt_state have = { .nr_segments = 1,
				      .segments = &have_segment };
	struct lace_rt_state want = { .nr_segments = 1,
				      .segments = &want_segment };
	static const struct { int kind, id; } should[] = {
		{ LACE_STEP_SET_SEGMENT, 1 }, { LACE_STEP_ACTIVATE, 1 },
		{ LACE_STEP_SET_SEGMENT, 0 }, { LACE_STEP_ACTIVATE, 0 },
		{ LACE_STEP_DEL_SEGMENT, 1 },
	};
	struct lace_changes changes;
	bool same;
	size_t i;

	lace_changes_make(&have, &want, &changes, &err);
	same = changes.nr_steps == 5;
	for (i = 0; same && i < 5; i++)
		same = (int)changes.steps[i].kind == should[i].kind &&
		       changes.steps[i].id == should[i].id;
	tap_check(same, "the active segment is replaced without a gap");
	lace_changes_free(&changes);
}

/* A device that nobody has told anything becomes a node. */
static void check_fresh(void)
{
	struct lace_rt_state fresh = { .node = LACE_RT_NONE,
				       .active = LACE_RT_NONE };
	struct lace_rt_state want;
	const char *wrong = NULL;
	unsigned int i;

	for (i = 0; i < 100 && !wrong; i++) {
		seed = i;
		random_state(&want, pick(MAX_NODES));
		wrong = check_steps(&fresh, &want);
		lace_rt_state_free(&want);
	}
	if (!tap_check(!wrong, "a fresh device"))
		tap_note("seed %u: %s", i - 1, wrong);
}

int main(void)
{
	tap_plan(4);
	check_fresh();
	check_replace();
	check_random("any state of a node to any other", true);
	check_random("any node to any other", false);
	return tap_end();
}
