// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The steps from what a device has to what it should have.  Pure.
 *
 * DESIGN NOTES
 *
 * The module refuses what would leave it inconsistent, and the order of steps
 * respects that:
 *
 *  - an address is behind one node only: it leaves the node that has it before
 *    the one that gets it is set;
 *  - a node of the active segment keeps its ports until another segment is
 *    active, and cannot go before;
 *  - the active segment cannot be replaced.  Its new version is loaded under a
 *    spare number, activated, loaded under its own number, and activated;
 *  - the own node cannot change while segments are loaded.  Only then the device
 *    is without an active segment for a moment.
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

struct maker {
	const struct lace_rt_state *have, *want;
	struct lace_changes *changes;
	struct lace_error *err;
	int64_t active;		/* after the steps so far */
	bool emptied;		/* of the segments it has */
};

/**
 * lace_changes_free() - free steps
 * @changes: the steps, zeroed by this
 */
void lace_changes_free(struct lace_changes *changes)
{
	size_t i;

	for (i = 0; i < changes->nr_steps; i++)
		lace_rt_node_free(&changes->steps[i].node);
	free(changes->steps);
	memset(changes, 0, sizeof(*changes));
}

static struct lace_step *add_step(struct maker *maker, enum lace_phase phase,
				  enum lace_step_kind kind, int64_t id)
{
	struct lace_changes *changes = maker->changes;
	size_t room = changes->room ? 2 * changes->room : 16;
	struct lace_step *steps, *step;

	if (changes->nr_steps == changes->room) {
		steps = realloc(changes->steps, room * sizeof(*steps));
		if (!steps) {
			lace_no_memory(maker->err);
			return NULL;
		}
		changes->steps = steps;
		changes->room = room;
	}
	step = &changes->steps[changes->nr_steps++];
	memset(step, 0, sizeof(*step));
	step->phase = phase;
	step->kind = kind;
	step->id = id;
	return step;
}

static int add(struct maker *maker, enum lace_phase phase,
	       enum lace_step_kind kind, int64_t id)
{
	return add_step(maker, phase, kind, id) ? 0 : -1;
}

static int activate(struct maker *maker, enum lace_phase phase, int64_t id)
{
	if (maker->active == id)
		return 0;
	maker->active = id;
	return add(maker, phase, LACE_STEP_ACTIVATE, id);
}

/* ---- nodes ---- */

static const struct lace_rt_node *find_node(const struct lace_rt_state *state,
					    unsigned int id)
{
	size_t low = 0, high = state->nr_nodes, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (state->nodes[middle].id == id)
			return &state->nodes[middle];
		if (state->nodes[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool has_prefix(const struct lace_rt_node *node,
		       const struct lace_rt_prefix *prefix)
{
	unsigned int i;

	for (i = 0; node && i < node->nr_prefixes; i++)
		if (!lace_rt_prefix_compare(&node->prefixes[i], prefix))
			return true;
	return false;
}

static int copy_node(struct maker *maker, const struct lace_rt_node *from,
		     struct lace_rt_node *node)
{
	*node = *from;
	node->prefixes = calloc(from->nr_prefixes + 1, sizeof(*node->prefixes));
	if (!node->prefixes) {
		node->nr_prefixes = 0;
		return lace_no_memory(maker->err);
	}
	if (from->nr_prefixes)
		memcpy(node->prefixes, from->prefixes,
		       from->nr_prefixes * sizeof(*node->prefixes));
	return 0;
}

static int set_node(struct maker *maker, enum lace_phase phase,
		    const struct lace_rt_node *node, struct lace_rt_node **set)
{
	struct lace_step *step;

	step = add_step(maker, phase, LACE_STEP_SET_NODE, node->id);
	if (!step || copy_node(maker, node, &step->node))
		return -1;
	if (set)
		*set = &step->node;
	return 0;
}

struct taken {
	struct lace_rt_prefix prefix;
};

static int compare_taken(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	return lace_rt_prefix_compare(&x->prefix, &y->prefix);
}

/* All prefixes that nodes get which they have not, sorted. */
static struct taken *list_taken(struct maker *maker, size_t *nr)
{
	const struct lace_rt_node *want, *have;
	struct taken *taken;
	size_t room = 1, i, k;

	for (i = 0; i < maker->want->nr_nodes; i++)
		room += maker->want->nodes[i].nr_prefixes;
	taken = calloc(room, sizeof(*taken));
	*nr = 0;
	for (i = 0; taken && i < maker->want->nr_nodes; i++) {
		want = &maker->want->nodes[i];
		have = find_node(maker->have, want->id);
		for (k = 0; k < want->nr_prefixes; k++)
			if (!has_prefix(have, &want->prefixes[k]))
				taken[(*nr)++].prefix = want->prefixes[k];
	}
	if (!taken)
		lace_no_memory(maker->err);
	else
		qsort(taken, *nr, sizeof(*taken), compare_taken);
	return taken;
}

/* Leaves out of node what is in taken; true if there was any. */
static bool reduce(struct lace_rt_node *node, const struct taken *taken,
		   size_t nr)
{
	struct taken key;
	unsigned int i, kept = 0;

	for (i = 0; i < node->nr_prefixes; i++) {
		key.prefix = node->prefixes[i];
		if (!bsearch(&key, taken, nr, sizeof(*taken), compare_taken))
			node->prefixes[kept++] = key.prefix;
	}
	if (kept == node->nr_prefixes)
		return false;
	node->nr_prefixes = kept;
	return true;
}

/* Prefixes that move from one node to another leave the first. */
static int release_prefixes(struct maker *maker)
{
	struct lace_rt_node copy;
	struct taken *taken;
	size_t nr, i;
	int ret = 0;

	taken = list_taken(maker, &nr);
	if (!taken)
		return -1;
	for (i = 0; nr && i < maker->have->nr_nodes && !ret; i++) {
		ret = copy_node(maker, &maker->have->nodes[i], &copy);
		if (!ret && reduce(&copy, taken, nr))
			ret = set_node(maker, LACE_PREPARE, &copy, NULL);
		lace_rt_node_free(&copy);
	}
	free(taken);
	return ret;
}

/* A port that goes stays as long as the old segment may use it. */
static bool keep_ports(struct lace_rt_node *node,
		       const struct lace_rt_node *have)
{
	uint32_t going = have->ports & ~node->ports, moved;
	unsigned int i, k;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		if (!(going & 1U << i))
			continue;
		moved = 0;
		for (k = 0; k < LACE_MAX_PORTS; k++)
			if (node->ports & 1U << k &&
			    !memcmp(node->mac[k], have->mac[i], 6))
				moved |= 1U << k;
		if (moved)
			continue;
		node->ports |= 1U << i;
		memcpy(node->mac[i], have->mac[i], 6);
	}
	return going & node->ports;
}

static int change_node(struct maker *maker, const struct lace_rt_node *want)
{
	const struct lace_rt_node *have = find_node(maker->have, want->id);
	struct lace_rt_node *set;

	if (have && lace_rt_node_equal(have, want))
		return 0;
	if (set_node(maker, LACE_PREPARE, want, &set))
		return -1;
	if (have && maker->active != LACE_RT_NONE && keep_ports(set, have))
		return set_node(maker, LACE_TIDY, want, NULL);
	return 0;
}

static int change_nodes(struct maker *maker)
{
	size_t i;

	if (release_prefixes(maker))
		return -1;
	for (i = 0; i < maker->want->nr_nodes; i++)
		if (change_node(maker, &maker->want->nodes[i]))
			return -1;
	return 0;
}

static int remove_nodes(struct maker *maker)
{
	const struct lace_rt_node *node;
	size_t i;

	for (i = 0; i < maker->have->nr_nodes; i++) {
		node = &maker->have->nodes[i];
		if (!find_node(maker->want, node->id) &&
		    add(maker, LACE_TIDY, LACE_STEP_DEL_NODE, node->id))
			return -1;
	}
	return 0;
}

/* ---- segments ---- */

static const struct lace_rt_segment *
find_segment(const struct lace_rt_state *state, int64_t id)
{
	size_t low = 0, high = state->nr_segments, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (state->segments[middle].id == id)
			return &state->segments[middle];
		if (state->segments[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const struct lace_rt_segment *has_segment(const struct maker *maker,
						 int64_t id)
{
	return maker->emptied ? NULL : find_segment(maker->have, id);
}

static int set_segment(struct maker *maker, enum lace_phase phase,
		       const struct lace_rt_segment *segment, uint32_t id)
{
	struct lace_step *step;

	step = add_step(maker, phase, LACE_STEP_SET_SEGMENT, id);
	if (!step)
		return -1;
	step->segment = *segment;
	step->segment.id = id;
	return 0;
}

/* A number that no segment has, before or after. */
static uint32_t spare_id(const struct maker *maker)
{
	uint32_t id = 0;

	while (find_segment(maker->have, id) || find_segment(maker->want, id))
		id++;
	return id;
}

/* The active segment that stays active and is another one: see the top. */
static int replace_active(struct maker *maker,
			  const struct lace_rt_segment *want)
{
	uint32_t spare = spare_id(maker);

	if (set_segment(maker, LACE_PREPARE, want, spare) ||
	    activate(maker, LACE_ACTIVATE, spare) ||
	    set_segment(maker, LACE_TIDY, want, want->id) ||
	    activate(maker, LACE_TIDY, want->id))
		return -1;
	return add(maker, LACE_TIDY, LACE_STEP_DEL_SEGMENT, spare);
}

static bool differs(const struct maker *maker,
		    const struct lace_rt_segment *want)
{
	const struct lace_rt_segment *have = has_segment(maker, want->id);

	return !have || !lace_rt_segment_equal(have, want);
}

/* Loads what is not active, before the switch. */
static int load_segments(struct maker *maker)
{
	const struct lace_rt_segment *want;
	size_t i;

	for (i = 0; i < maker->want->nr_segments; i++) {
		want = &maker->want->segments[i];
		if (want->id != maker->active && differs(maker, want) &&
		    set_segment(maker, LACE_PREPARE, want, want->id))
			return -1;
	}
	return 0;
}

static int switch_segments(struct maker *maker)
{
	int64_t old = maker->active, new = maker->want->active;
	const struct lace_rt_segment *want;

	want = old == LACE_RT_NONE ? NULL : find_segment(maker->want, old);
	if (want && !differs(maker, want))
		want = NULL;
	if (want && old == new)
		return replace_active(maker, want);
	if (activate(maker, LACE_ACTIVATE, new))
		return -1;
	return want ? set_segment(maker, LACE_TIDY, want, want->id) : 0;
}

static int remove_segments(struct maker *maker, enum lace_phase phase, bool all)
{
	uint32_t id;
	size_t i;

	for (i = 0; i < maker->have->nr_segments; i++) {
		id = maker->have->segments[i].id;
		if ((all || !find_segment(maker->want, id)) &&
		    add(maker, phase, LACE_STEP_DEL_SEGMENT, id))
			return -1;
	}
	return 0;
}

/* ---- all ---- */

/* A device that has a number keeps one: it cannot be taken away. */
static int change_number(struct maker *maker)
{
	int32_t node = maker->want->node;

	if (node == LACE_RT_NONE || node == maker->have->node)
		return 0;
	if (maker->have->nr_segments) {
		if (activate(maker, LACE_PREPARE, LACE_RT_NONE) ||
		    remove_segments(maker, LACE_PREPARE, true))
			return -1;
		maker->emptied = true;
	}
	return add(maker, LACE_PREPARE, LACE_STEP_NUMBER, node);
}

/* By phase, and in each as they were made. */
static int sort_steps(struct maker *maker)
{
	struct lace_changes *changes = maker->changes;
	struct lace_step *sorted;
	size_t nr = 0, i;
	int phase;

	sorted = calloc(changes->nr_steps + 1, sizeof(*sorted));
	if (!sorted)
		return lace_no_memory(maker->err);
	for (phase = 0; phase < LACE_NR_PHASES; phase++)
		for (i = 0; i < changes->nr_steps; i++)
			if ((int)changes->steps[i].phase == phase)
				sorted[nr++] = changes->steps[i];
	free(changes->steps);
	changes->steps = sorted;
	changes->room = changes->nr_steps + 1;
	return 0;
}

/**
 * lace_changes_make() - compare what a device has with what it should have
 * @have: what it has
 * @want: what it should have; has to outlive @changes
 * @changes: filled with the steps, for lace_changes_free()
 * @err: filled on failure, which only lack of memory is
 *
 * Return: 0 or -1.
 */
int lace_changes_make(const struct lace_rt_state *have,
		      const struct lace_rt_state *want,
		      struct lace_changes *changes, struct lace_error *err)
{
	struct maker maker = { .have = have, .want = want, .changes = changes,
			       .err = err, .active = have->active };

	memset(changes, 0, sizeof(*changes));
	if (change_number(&maker) || change_nodes(&maker) ||
	    load_segments(&maker) || switch_segments(&maker) ||
	    (!maker.emptied && remove_segments(&maker, LACE_TIDY, false)) ||
	    remove_nodes(&maker) || sort_steps(&maker)) {
		lace_changes_free(changes);
		return -1;
	}
	return 0;
}
