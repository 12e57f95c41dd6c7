// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * A plan on all nodes of a lab at once: one process holds a client in each
 * node's namespace and the pinned maps of the OCS, so no daemon is needed.
 *
 * DESIGN NOTES
 *
 * A switch of segments has an order: everything is loaded everywhere; the OCS
 * is set and the new circuits are waited for; all nodes activate.  Packets that
 * meet the old segment on new circuits, or the other way round, are dropped by
 * the far end, which knows whom to expect.  A failure at any point puts nodes
 * and OCS back.
 */
#include "file.h"
#include "json.h"
#include "lab_impl.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STATE_ROOT "/run/lace"
/* The OCS says when a circuit is lit; later than that it is broken. */
#define LIT_SPARE_S 5.0

/* ---- opening ---- */

static int state_path(const char *name, const char *file, char *path,
		      struct lace_error *err)
{
	if (!name[0] || name[0] == '.' || strchr(name, '/') ||
	    snprintf(path, PATH_MAX, STATE_ROOT "/%s/%s", name, file) >=
		    PATH_MAX)
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%.64s\" is not the name of a lab", name);
	return 0;
}

/* Opens the client of the node that at, of lab.json, is about. */
static int open_node(struct lace_lab *lab, const struct lace_json *at)
{
	struct lace_json name = lace_json_member(at, "name");
	struct lace_json netns = lace_json_member(at, "netns");
	struct lace_error *err = at->doc->err;
	const char *text, *space;
	int node;

	if (lace_json_string(&name, &text) || lace_json_string(&netns, &space))
		return -1;
	node = lace_cluster_find_node(&lab->cluster, text, err);
	if (node < 0 || lab->nodes[node].client)
		return lace_json_fail(&name, "is not a node of the cluster, or twice one");
	if (lace_json_strdup(&netns, &lab->nodes[node].netns))
		return -1;
	return lace_client_open(space, &lab->nodes[node].client, err);
}

static int open_nodes(struct lace_lab *lab, const struct lace_json *top)
{
	struct lace_json array = lace_json_member(top, "nodes"), at;
	size_t nr, i;

	if (lace_json_array(&array, &nr))
		return -1;
	if (nr != lab->cluster.nr_nodes)
		return lace_json_fail(&array, "has %zu nodes, the cluster %u",
				      nr, lab->cluster.nr_nodes);
	lab->nodes = calloc(nr + 1, sizeof(*lab->nodes));
	if (!lab->nodes)
		return lace_no_memory(top->doc->err);
	for (i = 0; i < nr; i++) {
		at = lace_json_element(&array, i);
		if (lace_json_object(&at) || open_node(lab, &at))
			return -1;
	}
	return 0;
}

static int read_head(struct lace_lab *lab, const char *name,
		     const struct lace_json *top)
{
	struct lace_json device, switch_s;

	if (lace_json_format(top, "lace-lab/1"))
		return -1;
	device = lace_json_member(top, "device");
	switch_s = lace_json_member(top, "switch_s");
	if (lace_json_strdup(&device, &lab->device) ||
	    lace_json_real(&switch_s, 0, 1e6, &lab->switch_s))
		return -1;
	if (!lab->device[0])
		return lace_fail(top->doc->err, LACE_ERR_ANSWER,
				 "lab %s is bare: it has no lace devices", name);
	return 0;
}

static int read_lab(struct lace_lab *lab, const char *name, const char *path,
		    const char *text, size_t len, struct lace_error *err)
{
	struct lace_json_doc doc;
	struct lace_json top;
	int ret;

	ret = lace_json_open(&doc, path, text, len, err);
	if (ret)
		return ret;
	top = lace_json_top(&doc);
	ret = read_head(lab, name, &top);
	if (!ret)
		ret = open_nodes(lab, &top);
	lace_json_close(&doc);
	return ret;
}

static int open_lab(struct lace_lab *lab, const char *name,
		    struct lace_error *err)
{
	char path[PATH_MAX], *text;
	size_t len;
	int ret;

	if (state_path(name, "lab.json", path, err))
		return -1;
	if (lace_file_read(path, &text, &len, err))
		return lace_fail(err, LACE_ERR_ANSWER, "there is no lab %s (no %s)",
				 name, path);
	ret = lace_macs_init(&lab->cluster, &lab->macs, err);
	if (!ret)
		ret = lace_macs_parse(text, len, path, &lab->cluster,
				      &lab->macs, err);
	if (!ret)
		ret = read_lab(lab, name, path, text, len, err);
	free(text);
	return ret ? ret : lace_ocs_open(name, &lab->emu, err);
}

static int read_cluster(struct lace_lab *lab, const char *name,
			struct lace_error *err)
{
	char path[PATH_MAX];

	if (state_path(name, "cluster.json", path, err))
		return -1;
	if (!lace_cluster_read(path, &lab->cluster, err))
		return 0;
	if (err->line)
		return -1;
	return lace_fail(err, LACE_ERR_ANSWER, "there is no lab %s (no %s)",
			 name, path);
}

/**
 * lace_lab_open() - open a running lab
 * @name: its name, as "lacectl lab up" was given it
 * @lab: filled with the lab, to be closed
 * @err: filled on failure
 *
 * Return: 0 or a negative value.
 */
int lace_lab_open(const char *name, struct lace_lab **lab,
		  struct lace_error *err)
{
	*lab = calloc(1, sizeof(**lab));
	if (!*lab)
		return lace_no_memory(err);
	if (!read_cluster(*lab, name, err) && !open_lab(*lab, name, err))
		return 0;
	lace_lab_close(*lab);
	*lab = NULL;
	return -1;
}

void lace_lab_forget(struct lace_lab *lab)
{
	struct lab_node *node;
	unsigned int i;

	for (i = 0; i < lab->cluster.nr_nodes; i++) {
		node = &lab->nodes[i];
		lace_changes_free(&node->changes);
		lace_rt_state_free(&node->have);
		lace_rt_state_free(&node->want);
	}
}

/**
 * lace_lab_close() - close a lab, which goes on running
 * @lab: the lab; NULL does nothing
 */
void lace_lab_close(struct lace_lab *lab)
{
	unsigned int i;

	if (!lab)
		return;
	for (i = 0; lab->nodes && i < lab->cluster.nr_nodes; i++) {
		lace_client_close(lab->nodes[i].client);
		free(lab->nodes[i].netns);
	}
	free(lab->nodes);
	free(lab->device);
	lace_ocs_close(lab->emu);
	lace_macs_free(&lab->macs);
	lace_cluster_free(&lab->cluster);
	free(lab);
}

/**
 * lace_lab_cluster() - the cluster that a lab was made of
 * @lab: the lab
 *
 * Return: the cluster, which is the lab's.
 */
const struct lace_cluster *lace_lab_cluster(const struct lace_lab *lab)
{
	return &lab->cluster;
}

/**
 * lace_lab_switch_s() - how long the OCS of a lab takes to switch
 * @lab: the lab
 *
 * Return: seconds.
 */
double lace_lab_switch_s(const struct lace_lab *lab)
{
	return lab->switch_s;
}

/**
 * lace_lab_client() - a way to the module of a node
 * @lab: the lab
 * @node: number of the node in the cluster
 *
 * Return: a client that is the lab's: not to be closed.
 */
struct lace_client *lace_lab_client(const struct lace_lab *lab,
				    unsigned int node)
{
	return lab->nodes[node].client;
}

/**
 * lace_lab_device() - what the lace devices of a lab are called
 * @lab: the lab
 *
 * Return: the name, which is the lab's.
 */
const char *lace_lab_device(const struct lace_lab *lab)
{
	return lab->device;
}

/* ---- the OCS ---- */

int lace_lab_crosses_of_segment(const struct lace_lab *lab,
			   const struct lace_segment *segment,
			   struct lab_crosses *crosses, struct lace_error *err)
{
	unsigned int nr = segment ? segment->nr_circuits : 0;

	crosses->nr = nr;
	crosses->list = calloc(nr + 1, sizeof(*crosses->list));
	if (!crosses->list)
		return lace_no_memory(err);
	return nr ? lace_cross_of_circuits(&lab->cluster, segment->circuits, nr,
					   crosses->list, err) : 0;
}

static int crosses_now(struct lace_lab *lab, struct lab_crosses *crosses,
		       struct lace_error *err)
{
	struct lace_cross_state *states;
	size_t i;

	if (lace_ocs_read(lab->emu, &states, &crosses->nr, err))
		return -1;
	crosses->list = calloc(crosses->nr + 1, sizeof(*crosses->list));
	for (i = 0; crosses->list && i < crosses->nr; i++)
		crosses->list[i] = states[i].cross;
	free(states);
	return crosses->list ? 0 : lace_no_memory(err);
}

static bool has_cross(const struct lab_crosses *crosses,
		      const struct lace_cross *cross)
{
	size_t i;

	for (i = 0; i < crosses->nr; i++)
		if (crosses->list[i].ocs == cross->ocs &&
		    crosses->list[i].input == cross->input &&
		    crosses->list[i].output == cross->output)
			return true;
	return false;
}

/* How many are in a and not in b, or the other way round. */
static size_t count_different(const struct lab_crosses *a, const struct lab_crosses *b)
{
	size_t i, nr = 0;

	for (i = 0; i < a->nr; i++)
		nr += !has_cross(b, &a->list[i]);
	for (i = 0; i < b->nr; i++)
		nr += !has_cross(a, &b->list[i]);
	return nr;
}

static double longest_dark(const struct lace_cross_state *states, size_t nr)
{
	double longest = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		if (states[i].dark_s > longest)
			longest = states[i].dark_s;
	return longest;
}

static void sleep_s(double seconds)
{
	struct timespec left = { .tv_sec = seconds };

	left.tv_nsec = (seconds - left.tv_sec) * 1e9;
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static int wait_until_lit(struct lace_lab *lab, struct lace_error *err)
{
	struct lace_cross_state *states;
	double dark, waited = 0;
	size_t nr;

	while (waited <= lab->switch_s + LIT_SPARE_S) {
		if (lace_ocs_read(lab->emu, &states, &nr, err))
			return -1;
		dark = longest_dark(states, nr);
		free(states);
		if (dark <= 0)
			return 0;
		sleep_s(dark);
		waited += dark;
	}
	return lace_fail(err, LACE_ERR_ANSWER,
			 "the OCS was told to switch and is still dark after %g s",
			 waited);
}

int lace_lab_switch_ocs(struct lace_lab *lab, const struct lab_crosses *crosses,
		   struct lace_error *err)
{
	if (lace_ocs_connect(lab->emu, crosses->list, crosses->nr,
			     lab->switch_s, err))
		return -1;
	return wait_until_lit(lab, err);
}

int lace_lab_check_ocs(struct lace_lab *lab, const struct lab_crosses *crosses,
		  struct lace_error *err)
{
	struct lab_crosses now = { 0 };
	size_t different;

	if (crosses_now(lab, &now, err))
		return -1;
	different = count_different(&now, crosses);
	free(now.list);
	if (!different)
		return 0;
	return lace_fail(err, LACE_ERR_ANSWER,
			 "the OCS was told to switch, and %zu of its cross-connects are not as told",
			 different);
}

static void restore_ocs(struct lace_lab *lab, const struct lab_crosses *was,
			struct lace_error *err)
{
	size_t len = strlen(err->text);
	struct lace_error why;

	if (lace_lab_switch_ocs(lab, was, &why))
		snprintf(err->text + len, sizeof(err->text) - len,
			 "; and the OCS could not be put back: %s", why.text);
}

/* ---- all nodes ---- */

int lace_lab_of_node(const struct lace_lab *lab, unsigned int node,
		struct lace_error *err)
{
	char text[sizeof(err->text)];

	snprintf(text, sizeof(text), "%s", err->text);
	snprintf(err->text, sizeof(err->text), "%s: %.*s",
		 lab->cluster.nodes[node].name,
		 (int)(sizeof(text) - 64), text);
	return -1;
}

int lace_lab_compare_node(struct lace_lab *lab, const struct lace_plan *plan,
		     unsigned int n, int64_t active, struct lace_error *err)
{
	struct lab_node *node = &lab->nodes[n];

	if (lace_split(&lab->cluster, plan, &lab->macs, n, active, &node->want,
		       err))
		return -1;
	if (lace_check_ports(node->client, lab->device, &lab->cluster, n,
			     err) ||
	    lace_rt_state_read(node->client, lab->device, &node->have, err))
		return lace_lab_of_node(lab, n, err);
	return lace_changes_make(&node->have, &node->want, &node->changes, err);
}

static int take_phase(struct lace_lab *lab, enum lace_phase phase,
		      struct lace_error *err)
{
	struct lab_node *node;
	unsigned int n;

	for (n = 0; n < lab->cluster.nr_nodes; n++) {
		node = &lab->nodes[n];
		if (lace_changes_take(node->client, lab->device, &node->changes,
				      phase, err))
			return lace_lab_of_node(lab, n, err);
	}
	return 0;
}

static void restore_nodes(struct lace_lab *lab, struct lace_error *err)
{
	struct lab_node *node;
	unsigned int n;

	for (n = 0; n < lab->cluster.nr_nodes; n++) {
		node = &lab->nodes[n];
		if (node->changes.nr_steps)
			lace_rt_state_restore(node->client, lab->device,
					      &node->have, err);
	}
}

/* Nodes are compared, was and will are known: do it, or put it back. */
static int change_all(struct lace_lab *lab, const struct lab_crosses *was,
		      const struct lab_crosses *will, struct lace_error *err)
{
	if (take_phase(lab, LACE_PREPARE, err)) {
		restore_nodes(lab, err);
		return -1;
	}
	if (!lace_lab_switch_ocs(lab, will, err) &&
	    !take_phase(lab, LACE_ACTIVATE, err) &&
	    !take_phase(lab, LACE_TIDY, err))
		return 0;
	restore_ocs(lab, was, err);
	restore_nodes(lab, err);
	return -1;
}

static int apply(struct lace_lab *lab, const struct lace_plan *plan,
		 int64_t active, struct lab_crosses *was, struct lab_crosses *will,
		 size_t *nr_changes, struct lace_error *err)
{
	const struct lace_segment *segment;
	unsigned int n;

	for (n = 0; n < lab->cluster.nr_nodes; n++)
		if (lace_lab_compare_node(lab, plan, n, active, err))
			return -1;
	segment = active == LACE_RT_NONE ? NULL : &plan->segments[active];
	if (lace_lab_crosses_of_segment(lab, segment, will, err) ||
	    crosses_now(lab, was, err))
		return -1;
	*nr_changes = count_different(was, will);
	for (n = 0; n < lab->cluster.nr_nodes; n++)
		*nr_changes += lab->nodes[n].changes.nr_steps;
	return *nr_changes ? change_all(lab, was, will, err) : 0;
}

/**
 * lace_lab_apply() - put a plan into force on all nodes of a lab
 * @lab: the lab
 * @plan: the plan, of which all segments are loaded
 * @active: segment that is to be in force, or LACE_RT_NONE
 * @nr_changes: filled with what had to be changed, 0 if nothing
 * @err: filled on failure
 *
 * Returns when the circuits are lit.
 *
 * Return: 0 or a negative value: then the lab is as it was.
 */
int lace_lab_apply(struct lace_lab *lab, const struct lace_plan *plan,
		   int64_t active, size_t *nr_changes, struct lace_error *err)
{
	struct lab_crosses was = { 0 }, will = { 0 };
	int ret;

	ret = apply(lab, plan, active, &was, &will, nr_changes, err);
	free(was.list);
	free(will.list);
	lace_lab_forget(lab);
	return ret;
}

int lace_lab_active(struct lace_lab *lab, unsigned int n, int64_t *active,
		    struct lace_error *err)
{
	struct lace_rt_device device;

	if (lace_client_device(lab->nodes[n].client, lab->device, &device, err))
		return lace_lab_of_node(lab, n, err);
	*active = device.segment;
	return 0;
}

static int read_active(struct lace_lab *lab, int64_t *actives,
		       struct lace_error *err)
{
	unsigned int n;

	for (n = 0; n < lab->cluster.nr_nodes; n++)
		if (lace_lab_active(lab, n, &actives[n], err))
			return -1;
	return 0;
}

static int activate_all(struct lace_lab *lab, int64_t segment,
			struct lace_error *err)
{
	unsigned int n;

	for (n = 0; n < lab->cluster.nr_nodes; n++)
		if (lace_client_activate(lab->nodes[n].client, lab->device,
					 segment, err))
			return lace_lab_of_node(lab, n, err);
	return 0;
}

static void restore_actives(struct lace_lab *lab, const int64_t *actives,
			    struct lace_error *err)
{
	size_t len = strlen(err->text);
	struct lace_error why;
	unsigned int n;

	for (n = 0; n < lab->cluster.nr_nodes; n++)
		if (lace_client_activate(lab->nodes[n].client, lab->device,
					 actives[n], &why))
			snprintf(err->text + len, sizeof(err->text) - len,
				 "; and %s could not be put back: %s",
				 lab->cluster.nodes[n].name, why.text);
}

static int change_active(struct lace_lab *lab, unsigned int segment,
			 const int64_t *actives, const struct lab_crosses *was,
			 const struct lab_crosses *will, struct lace_error *err)
{
	if (!lace_lab_switch_ocs(lab, will, err) && !activate_all(lab, segment, err))
		return 0;
	restore_ocs(lab, was, err);
	restore_actives(lab, actives, err);
	return -1;
}

/**
 * lace_lab_activate() - put another segment into force
 * @lab: the lab
 * @plan: the plan, applied before
 * @segment: the segment
 * @err: filled on failure
 *
 * Returns when the circuits are lit.
 *
 * Return: 0 or a negative value: then the lab is as it was.
 */
int lace_lab_activate(struct lace_lab *lab, const struct lace_plan *plan,
		      unsigned int segment, struct lace_error *err)
{
	struct lab_crosses was = { 0 }, will = { 0 };
	int64_t *actives;
	int ret;

	if (segment >= plan->nr_segments)
		return lace_fail(err, LACE_ERR_INPUT,
				 "the plan has no segment %u, and %u segments",
				 segment, plan->nr_segments);
	actives = calloc(lab->cluster.nr_nodes + 1, sizeof(*actives));
	if (!actives)
		return lace_no_memory(err);
	ret = read_active(lab, actives, err);
	if (!ret)
		ret = lace_lab_crosses_of_segment(lab, &plan->segments[segment], &will,
					 err);
	if (!ret)
		ret = crosses_now(lab, &was, err);
	if (!ret)
		ret = change_active(lab, segment, actives, &was, &will, err);
	free(was.list);
	free(will.list);
	free(actives);
	return ret;
}
