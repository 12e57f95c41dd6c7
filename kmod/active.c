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

/* The other segment of a transition, or NULL. */
struct lace_segment *lace_active_other(struct lace_device *lace)
{
	struct lace_active *active = rtnl_dereference(lace->active);

	return active ? active->other : NULL;
}

/* ---- for the data path ---- */

/* As the other segment of a transition says. */
static noinline void find_other(const struct lace_active *active, u16 from,
				u16 to, struct lace_way *way)
{
	way->path = lace_segment_path(active->other, from, to);
	if (!way->path)
		return;
	way->copy = *way->path;
	way->copy.ports &= active->same | way->closed;
	way->path = &way->copy;
	/* What begins here waits for the other segment, but does not follow it
	 * before its time or after it.
	 */
	if (way->copy.next != LACE_NO_NODE &&
	    (!way->copy.ports || (from == active->segment->self &&
				  !(way->copy.ports & way->closed))))
		way->path = NULL;
}

/* The way of packets of a pair of nodes: as the active segment says, else as the
 * other one does, but then over lanes that are the same in both, or closed.
 * Needs the RCU read lock for as long as the way is used.
 */
void lace_active_find(const struct lace_active *active, u16 from, u16 to,
		      struct lace_way *way)
{
	way->active = active;
	way->path = NULL;
	way->closed = 0;
	if (!active)
		return;
	way->closed = smp_load_acquire(&active->closed); /* see gate.c */
	way->path = lace_segment_way(active->segment, from, to);
	if (!way->path && active->other)
		find_other(active, from, to, way);
}

static bool comes_from(const struct lace_segment *segment, u16 from, u16 to,
		       u16 neighbour)
{
	const struct lace_path *path = lace_segment_path(segment, from, to);

	while (path && path->prev != neighbour)
		path = lace_segment_alternate(segment, path);
	return path;
}

/* Whether packets of a pair of nodes may come in from a neighbour. */
bool lace_active_comes_from(const struct lace_active *active, u16 from, u16 to,
			    u16 neighbour)
{
	return comes_from(active->segment, from, to, neighbour) ||
	       (active->other &&
		comes_from(active->other, from, to, neighbour));
}

static bool is_from(const struct lace_far *far, const u8 *mac)
{
	return far->node != LACE_NO_NODE && ether_addr_equal(far->mac, mac);
}

/* The port at the far end of an RX lane, if the address is its own; or NULL. */
const struct lace_far *lace_active_sender(const struct lace_active *active,
					  u8 port, const u8 *mac)
{
	if (is_from(&active->far[LACE_DIR_RX][port], mac))
		return &active->far[LACE_DIR_RX][port];
	if (active->other && is_from(&active->other_far[port], mac))
		return &active->other_far[port];
	return NULL;
}

/* ---- to publish it ---- */

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

	if (active && (!old || old->segment != active->segment))
		lace_routes_begin(active->segment, old);
	lace_gate_begin(lace);
	rcu_assign_pointer(lace->active, active);
	lace_lanes_follow(lace);
	lace_gate_end(lace);
	if (!old || !active || old->segment != active->segment)
		trace_segment(lace, old, active);
	if (old)
		kfree_rcu(old, rcu);
}

/* As lace_active_publish(), at once and without a transition: what is under way
 * by another segment is not waited for.
 */
void lace_active_replace(struct lace_device *lace, struct lace_active *active)
{
	bool before = rtnl_dereference(lace->active);

	lace_active_publish(lace, active);
	if (before)
		lace_reorder_flush(lace);
	lace_transition_kick(lace);	/* a lane that stays may be dark */
}

/* Open and close TX lanes of the active segment.  Packets that wait for those
 * that open go first.
 */
void lace_active_set_closed(struct lace_device *lace, u32 closed)
{
	struct lace_active *active = rtnl_dereference(lace->active);

	lace_gate_begin(lace);
	if (active)
		smp_store_release(&active->closed, closed); /* see gate.c */
	lace_gate_end(lace);
}

/* ---- to make it ---- */

/* Which RX lanes come from where each of them comes from, in either segment. */
static void add_lanes(struct lace_active *active, const struct lace_far *far)
{
	int i, j;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		for (j = 0; j < LACE_MAX_PORTS; j++) {
			if (far[i].node != LACE_NO_NODE &&
			    far[i].node == far[j].node)
				active->lanes[i] |= BIT(j);
		}
	}
}

static int compile_far(struct lace_device *lace, struct lace_far *far,
		       const struct lace_circuit *circuit,
		       struct netlink_ext_ack *extack)
{
	struct lace_node *node;

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

/* Whether each circuit of a segment that is to be the active one has a port. Later
 * a port may go, and come again.
 */
int lace_active_check_ports(struct lace_device *lace,
			    const struct lace_segment *segment,
			    struct netlink_ext_ack *extack)
{
	u32 ports = segment->ports[LACE_DIR_TX] | segment->ports[LACE_DIR_RX];

	for (; ports; ports &= ports - 1) {
		if (rtnl_dereference(lace->ports[__ffs(ports)]))
			continue;
		NL_SET_ERR_MSG(extack,
			       "circuit PORT: no port of the device has this number");
		return -ENODEV;
	}
	return 0;
}

/* Of one direction.  A circuit without a far end is an error; if it has to be
 * anyway, it leads nowhere.
 */
static int compile_fars(struct lace_device *lace, struct lace_far *far,
			const struct lace_segment *segment, int dir,
			bool anyway, struct netlink_ext_ack *extack)
{
	int port, err;

	for (port = 0; port < LACE_MAX_PORTS; port++) {
		far[port].node = LACE_NO_NODE;
		if (!(segment->ports[dir] & BIT(port)))
			continue;
		err = compile_far(lace, &far[port],
				  &segment->circuits[dir][port], extack);
		if (err && !anyway)
			return err;
	}
	return 0;
}

static int compile(struct lace_device *lace, struct lace_active *active,
		   bool anyway, struct netlink_ext_ack *extack)
{
	const struct lace_segment *segment = active->segment;
	int dir, err;

	for (dir = LACE_DIR_TX; dir <= LACE_DIR_RX; dir++) {
		err = compile_fars(lace, active->far[dir], segment, dir, anyway,
				   extack);
		if (err)
			return err;
	}
	if (!anyway) {
		err = check_nodes(lace, segment, extack);
		if (err)
			return err;
	}
	add_lanes(active, active->far[LACE_DIR_RX]);
	if (!active->other)
		return 0;
	active->same = lace_segment_same(segment, active->other);
	err = compile_fars(lace, active->other_far, active->other, LACE_DIR_RX,
			   anyway, extack);
	if (err)
		return err;
	add_lanes(active, active->other_far);
	return 0;
}

/* What to publish to make the segment the active one, or an error.  other: the
 * other one of a transition, or NULL.  No lane is closed.
 */
struct lace_active *lace_active_compile(struct lace_device *lace,
					struct lace_segment *segment,
					struct lace_segment *other,
					struct netlink_ext_ack *extack)
{
	struct lace_active *active;
	int err;

	ASSERT_RTNL();

	active = kzalloc(sizeof(*active), GFP_KERNEL_ACCOUNT);
	if (!active)
		return ERR_PTR(-ENOMEM);
	active->segment = segment;
	active->other = other;
	active->shut = true;
	err = compile(lace, active, false, extack);
	if (err) {
		kfree(active);
		return ERR_PTR(err);
	}
	return active;
}

/* As lace_active_compile(), for what was compiled before, but never fails. */
struct lace_active *lace_active_compile_anyway(struct lace_device *lace,
					       struct lace_segment *segment,
					       struct lace_segment *other)
{
	struct lace_active *active;

	ASSERT_RTNL();

	active = kzalloc(sizeof(*active), GFP_KERNEL | __GFP_NOFAIL);
	active->segment = segment;
	active->other = other;
	active->shut = true;
	compile(lace, active, true, NULL);
	return active;
}
