// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Brings a device to a state: reads what it has, takes the steps, and puts back
 * what it had if one of them fails.
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

/**
 * lace_rt_state_read() - what a device has
 * @client: the client
 * @ifname: the lace device
 * @state: filled, for lace_rt_state_free()
 * @err: filled on failure
 *
 * Return: 0 or a negative errno.
 */
int lace_rt_state_read(struct lace_client *client, const char *ifname,
		       struct lace_rt_state *state, struct lace_error *err)
{
	struct lace_rt_device device;
	int ret;

	memset(state, 0, sizeof(*state));
	ret = lace_client_device(client, ifname, &device, err);
	if (!ret)
		ret = lace_client_nodes(client, ifname, &state->nodes,
					&state->nr_nodes, err);
	if (!ret)
		ret = lace_client_segments(client, ifname, &state->segments,
					   &state->nr_segments, err);
	if (ret) {
		lace_rt_state_free(state);
		return ret;
	}
	state->node = device.node;
	state->active = device.segment;
	return 0;
}

static int take(struct lace_client *client, const char *ifname,
		const struct lace_step *step, struct lace_error *err)
{
	switch (step->kind) {
	case LACE_STEP_NUMBER:
		return lace_client_set_number(client, ifname, step->id, err);
	case LACE_STEP_SET_NODE:
		return lace_client_set_node(client, ifname, &step->node, err);
	case LACE_STEP_DEL_NODE:
		return lace_client_del_node(client, ifname, step->id, err);
	case LACE_STEP_SET_SEGMENT:
		return lace_client_set_segment(client, ifname, &step->segment,
					       err);
	case LACE_STEP_DEL_SEGMENT:
		return lace_client_del_segment(client, ifname, step->id, err);
	case LACE_STEP_ACTIVATE:
		return lace_client_activate(client, ifname, step->id, err);
	}
	return lace_fail(err, LACE_ERR_SYSTEM, "step of unknown kind %d",
			 step->kind);
}

/**
 * lace_changes_take() - take the steps of one phase
 * @client: the client
 * @ifname: the lace device
 * @changes: all steps
 * @phase: which of them
 * @err: filled on failure
 *
 * Return: 0 or a negative errno, with the steps before the failure taken.
 */
int lace_changes_take(struct lace_client *client, const char *ifname,
		      const struct lace_changes *changes, enum lace_phase phase,
		      struct lace_error *err)
{
	size_t i;
	int ret;

	for (i = 0; i < changes->nr_steps; i++) {
		if (changes->steps[i].phase != phase)
			continue;
		ret = take(client, ifname, &changes->steps[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

static int take_all(struct lace_client *client, const char *ifname,
		    const struct lace_changes *changes, struct lace_error *err)
{
	int phase, ret = 0;

	for (phase = 0; phase < LACE_NR_PHASES && !ret; phase++)
		ret = lace_changes_take(client, ifname, changes, phase, err);
	return ret;
}

/* Reads, compares, takes all steps; does not put anything back. */
static int bring_to(struct lace_client *client, const char *ifname,
		    const struct lace_rt_state *want, struct lace_error *err)
{
	struct lace_changes changes;
	struct lace_rt_state have;
	int ret;

	ret = lace_rt_state_read(client, ifname, &have, err);
	if (ret)
		return ret;
	ret = lace_changes_make(&have, want, &changes, err);
	if (!ret) {
		ret = take_all(client, ifname, &changes, err);
		lace_changes_free(&changes);
	}
	lace_rt_state_free(&have);
	return ret;
}

/**
 * lace_rt_state_restore() - put a device back, after a failure
 * @client: the client
 * @ifname: the lace device
 * @was: what it had
 * @err: the failure; what cannot be put back is added to its text
 */
void lace_rt_state_restore(struct lace_client *client, const char *ifname,
			   const struct lace_rt_state *was,
			   struct lace_error *err)
{
	struct lace_error why;
	size_t len = strlen(err->text);

	if (bring_to(client, ifname, was, &why))
		snprintf(err->text + len, sizeof(err->text) - len,
			 "; and it could not be put back: %s", why.text);
}

/**
 * lace_apply() - bring a device to a state
 * @client: the client
 * @ifname: the lace device
 * @want: what it should have
 * @nr_steps: filled with the number of steps taken; 0: it had it already
 * @err: filled on failure
 *
 * Return: 0 or a negative value; after a failure the device is as it was.
 */
int lace_apply(struct lace_client *client, const char *ifname,
	       const struct lace_rt_state *want, size_t *nr_steps,
	       struct lace_error *err)
{
	struct lace_changes changes;
	struct lace_rt_state have;
	int ret;

	ret = lace_rt_state_read(client, ifname, &have, err);
	if (ret)
		return ret;
	ret = lace_changes_make(&have, want, &changes, err);
	if (!ret) {
		*nr_steps = changes.nr_steps;
		ret = take_all(client, ifname, &changes, err);
		if (ret)
			lace_rt_state_restore(client, ifname, &have, err);
		lace_changes_free(&changes);
	}
	lace_rt_state_free(&have);
	return ret;
}

static const struct lace_rt_port *find_port(const struct lace_rt_device *device,
					    unsigned int number)
{
	unsigned int i;

	for (i = 0; i < device->nr_ports; i++)
		if (device->ports[i].number == number)
			return &device->ports[i];
	return NULL;
}

/* A port under another number than its name has in the cluster. */
static int check_names(const struct lace_rt_device *device,
		       const struct lace_node *node, struct lace_error *err)
{
	const struct lace_rt_port *port;
	unsigned int i, k;

	for (i = 0; i < device->nr_ports; i++) {
		port = &device->ports[i];
		for (k = 0; k < node->nr_ports; k++)
			if (!strcmp(port->ifname, node->ports[k].name) &&
			    port->number != k)
				return lace_fail(err, LACE_ERR_ANSWER,
						 "%s: %s is port %u, and port %u in the cluster: lacectl port set %s number %u",
						 device->ifname, port->ifname,
						 port->number, k, port->ifname,
						 k);
	}
	return 0;
}

/**
 * lace_check_ports() - whether a device has the ports of a node
 * @client: the client
 * @ifname: the lace device
 * @cluster: the cluster
 * @node: node of the cluster that the device is to be
 * @err: filled on failure
 *
 * Names count only where the device has a port of a name that the node has.
 *
 * Return: 0 or a negative value.
 */
int lace_check_ports(struct lace_client *client, const char *ifname,
		     const struct lace_cluster *cluster, unsigned int node,
		     struct lace_error *err)
{
	const struct lace_node *of = &cluster->nodes[node];
	struct lace_rt_device device;
	unsigned int k;

	if (lace_client_device(client, ifname, &device, err) ||
	    check_names(&device, of, err))
		return -1;
	for (k = 0; k < of->nr_ports; k++)
		if (!find_port(&device, k) &&
		    (of->ports[k].tx.ocs >= 0 || of->ports[k].rx.ocs >= 0))
			return lace_fail(err, LACE_ERR_ANSWER,
					 "%s has no port %u, which is %s of %s in the cluster",
					 ifname, k, of->ports[k].name,
					 of->name);
	return 0;
}
