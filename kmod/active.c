// SPDX-License-Identifier: GPL-2.0
/*
 * The active segment: the one that the data path follows, with the MAC
 * addresses of the far ends of its circuits, taken from the nodes as they are
 * then.  A node that changes has it compiled anew.  Own MAC addresses are read
 * from the ports for each packet.
 */
#include "lace.h"
#include "trace.h"

/* The active segment, or NULL. */
struct lace_segment *lace_active_segment(struct lace_device *lace)
{
	struct lace_active *active = rtnl_dereference(lace->active);

	return active ? active->segment : NULL;
}

static s64 id_of(const struct lace_active *active)
{
	return active ? (s64)active->segment->id : LACE_TRACE_NONE;
}

static void trace_segment(const struct lace_device *lace,
			  const struct lace_active *old,
			  const struct lace_active *active)
{
	if (old || active)
		trace_lace_segment(lace->dev, id_of(old), id_of(active));
}

/* Publish what lace_active_compile() made, or NULL for no active segment. */
void lace_active_publish(struct lace_device *lace, struct lace_active *active)
{
	struct lace_active *old = rtnl_dereference(lace->active);
	bool same = old && active && old->segment == active->segment;

	rcu_assign_pointer(lace->active, active);
	lace_lanes_follow(lace);
	if (!same)
		trace_segment(lace, old, active);
	if (old && !same)
		lace_reorder_flush(lace);
	if (old)
		kfree_rcu(old, rcu);
}

/* Which RX lanes come from where each of them comes from. */
static void compile_lanes(struct lace_active *active)
{
	const struct lace_far *far = active->far[LACE_DIR_RX];
	int i, j;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		for (j = 0; j < LACE_MAX_PORTS; j++) {
			if (far[i].node != LACE_NO_NODE &&
			    far[i].node == far[j].node)
				active->lanes[i] |= BIT(j);
		}
	}
}

static int compile_far(struct lace_device *lace, struct lace_far *far, u8 port,
		       const struct lace_circuit *circuit,
		       struct netlink_ext_ack *extack)
{
	struct lace_node *node;

	if (!rtnl_dereference(lace->ports[port])) {
		NL_SET_ERR_MSG(extack,
			       "circuit PORT: no port of the device has this number");
		return -ENODEV;
	}
	node = xa_load(&lace->nodes.by_id, circuit->peer);
	if (!node) {
		NL_SET_ERR_MSG(extack, "circuit PEER: there is no such node");
		return -ENOENT;
	}
	if (!(node->ports & BIT(circuit->peer_port))) {
		NL_SET_ERR_MSG(extack,
			       "circuit PEER_PORT: the node has no such port");
		return -ENOENT;
	}
	far->node = circuit->peer;
	far->port = circuit->peer_port;
	ether_addr_copy(far->mac, node->mac[circuit->peer_port]);
	return 0;
}

static int check_nodes(struct lace_device *lace,
		       const struct lace_segment *segment,
		       struct netlink_ext_ack *extack)
{
	unsigned int i;

	if (!xa_load(&lace->nodes.by_id, segment->self)) {
		NL_SET_ERR_MSG(extack,
			       "device NODE: the addresses of this node are not set");
		return -ENOENT;
	}
	for (i = 0; i < segment->n_paths; i++) {
		if (!xa_load(&lace->nodes.by_id, segment->paths[i].from)) {
			NL_SET_ERR_MSG(extack,
				       "route FROM: there is no such node");
			return -ENOENT;
		}
		if (!xa_load(&lace->nodes.by_id, segment->paths[i].to)) {
			NL_SET_ERR_MSG(extack,
				       "route TO: there is no such node");
			return -ENOENT;
		}
	}
	return 0;
}

/* What to publish to make the segment the active one, or an error. */
struct lace_active *lace_active_compile(struct lace_device *lace,
					struct lace_segment *segment,
					struct netlink_ext_ack *extack)
{
	struct lace_active *active;
	int dir, port;
	int err = 0;

	ASSERT_RTNL();

	active = kzalloc(sizeof(*active), GFP_KERNEL_ACCOUNT);
	if (!active)
		return ERR_PTR(-ENOMEM);
	active->segment = segment;
	for (dir = LACE_DIR_TX; dir <= LACE_DIR_RX; dir++) {
		for (port = 0; port < LACE_MAX_PORTS; port++) {
			active->far[dir][port].node = LACE_NO_NODE;
			if (!(segment->ports[dir] & BIT(port)))
				continue;
			err = compile_far(lace, &active->far[dir][port], port,
					  &segment->circuits[dir][port], extack);
			if (err)
				goto err_free;
		}
	}
	err = check_nodes(lace, segment, extack);
	if (err)
		goto err_free;
	compile_lanes(active);
	return active;

err_free:
	kfree(active);
	return ERR_PTR(err);
}
