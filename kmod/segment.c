// SPDX-License-Identifier: GPL-2.0
/*
 * Segments: the circuits and routes of this node in one segment of a plan,
 * checked when they are loaded and kept until they are needed.
 *
 * A segment is built in three steps: its circuits, one by one; then
 * lace_segment_close_circuits(), which makes a path for each neighbour; then
 * its routes, which make the paths of the other pairs.  The data path asks for
 * paths only.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>

#include "lace.h"

struct lace_segment *lace_segment_alloc(u32 id, u16 self,
					unsigned int n_routes)
{
	unsigned int max_paths = n_routes + 2 * LACE_MAX_PORTS;
	unsigned int n_buckets = roundup_pow_of_two(max_paths);
	struct lace_segment *segment;
	unsigned int i;

	segment = kvzalloc(struct_size(segment, paths, max_paths) +
			   array_size(n_buckets, sizeof(u16)),
			   GFP_KERNEL_ACCOUNT);
	if (!segment)
		return NULL;
	segment->id = id;
	segment->self = self;
	segment->max_paths = max_paths;
	segment->bits = ilog2(n_buckets);
	segment->buckets = (u16 *)&segment->paths[max_paths];
	for (i = 0; i < n_buckets; i++)
		segment->buckets[i] = LACE_NO_PATH;
	for (i = 0; i < LACE_MAX_PORTS; i++) {
		segment->circuits[LACE_DIR_TX][i].peer = LACE_NO_NODE;
		segment->circuits[LACE_DIR_RX][i].peer = LACE_NO_NODE;
	}
	return segment;
}

static u16 *bucket(const struct lace_segment *segment, u16 from, u16 to)
{
	return &segment->buckets[hash_32((u32)from << 16 | to, segment->bits)];
}

/* The path of a pair of nodes, or NULL: they have no business here. */
const struct lace_path *lace_segment_path(const struct lace_segment *segment,
					  u16 from, u16 to)
{
	const struct lace_path *path;
	u16 i;

	for (i = *bucket(segment, from, to); i != LACE_NO_PATH;
	     i = path->chain) {
		path = &segment->paths[i];
		if (path->from == from && path->to == to)
			return path;
	}
	return NULL;
}

static int add_path(struct lace_segment *segment, const struct lace_path *path)
{
	u16 *head = bucket(segment, path->from, path->to);

	if (WARN_ON_ONCE(segment->n_paths == segment->max_paths))
		return -ENOSPC;
	segment->paths[segment->n_paths] = *path;
	segment->paths[segment->n_paths].chain = *head;
	*head = segment->n_paths++;
	return 0;
}

int lace_segment_add_circuit(struct lace_segment *segment, u8 dir, u8 port,
			     const struct lace_circuit *circuit,
			     struct netlink_ext_ack *extack)
{
	const struct lace_circuit *other;
	int i;

	if (circuit->peer == segment->self) {
		NL_SET_ERR_MSG(extack, "circuit PEER: is this node itself");
		return -EINVAL;
	}
	if (segment->ports[dir] & BIT(port)) {
		NL_SET_ERR_MSG(extack,
			       "circuit PORT: its lane has another circuit");
		return -EINVAL;
	}
	for (i = 0; i < LACE_MAX_PORTS; i++) {
		other = &segment->circuits[dir][i];
		if (other->peer == circuit->peer &&
		    other->peer_port == circuit->peer_port) {
			NL_SET_ERR_MSG(extack,
				       "circuit PEER_PORT: its lane has another circuit");
			return -EINVAL;
		}
	}
	segment->circuits[dir][port] = *circuit;
	segment->ports[dir] |= BIT(port);
	return 0;
}

/* Ports whose lanes lead to, or come from, a node. */
static u32 ports_of(const struct lace_segment *segment, int dir, u16 node)
{
	u32 ports = 0;
	int i;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		if (segment->circuits[dir][i].peer == node)
			ports |= BIT(i);
	}
	return ports;
}

static int add_direct(struct lace_segment *segment, int dir, u16 peer)
{
	struct lace_path path = { .direct = true };

	if (dir == LACE_DIR_TX) {
		path.from = segment->self;
		path.to = peer;
		path.prev = LACE_NO_NODE;
		path.next = peer;
		path.ports = ports_of(segment, LACE_DIR_TX, peer);
	} else {
		path.from = peer;
		path.to = segment->self;
		path.prev = peer;
		path.next = LACE_NO_NODE;
	}
	if (lace_segment_path(segment, path.from, path.to))
		return 0;
	return add_path(segment, &path);
}

/* All circuits are there: make the paths to and from the neighbours. */
int lace_segment_close_circuits(struct lace_segment *segment)
{
	int dir, i, err;
	u16 peer;

	for (dir = LACE_DIR_TX; dir <= LACE_DIR_RX; dir++) {
		for (i = 0; i < LACE_MAX_PORTS; i++) {
			peer = segment->circuits[dir][i].peer;
			if (peer == LACE_NO_NODE)
				continue;
			err = add_direct(segment, dir, peer);
			if (err)
				return err;
		}
	}
	return 0;
}

/* What is wrong with a route; NULL if nothing is. */
static const char *route_fault(const struct lace_segment *segment,
			       const struct lace_path *route)
{
	const struct lace_path *known;
	u16 self = segment->self;

	if (route->from == route->to)
		return "route TO: is the same node as FROM";
	if ((route->from == self) != (route->prev == LACE_NO_NODE))
		return route->from == self ?
			"route PREV: given, but FROM is this node" :
			"route PREV: missing, and FROM is not this node";
	if ((route->to == self) != (route->next == LACE_NO_NODE))
		return route->to == self ?
			"route NEXT: given, but TO is this node" :
			"route NEXT: missing, and TO is not this node";
	if (route->prev == self)
		return "route PREV: is this node itself";
	if (route->next == self)
		return "route NEXT: is this node itself";
	if (route->prev == route->to)
		return "route PREV: a path does not leave TO";
	if (route->next == route->from)
		return "route NEXT: a path does not return to FROM";
	if (route->prev == route->next)
		return "route NEXT: is the same node as PREV";
	if (route->prev != LACE_NO_NODE &&
	    !ports_of(segment, LACE_DIR_RX, route->prev))
		return "route PREV: no circuit of the segment comes from there";
	if (route->next != LACE_NO_NODE && !route->ports)
		return "route NEXT: no circuit of the segment leads there";
	known = lace_segment_path(segment, route->from, route->to);
	if (known)
		return known->direct ?
			"route FROM: the pair has a circuit of its own" :
			"route FROM: the pair has another route";
	return NULL;
}

/* Needs all circuits.  Of the route, from, to, prev and next count. */
int lace_segment_add_route(struct lace_segment *segment,
			   const struct lace_path *route,
			   struct netlink_ext_ack *extack)
{
	struct lace_path path = *route;
	const char *fault;

	path.direct = false;
	path.ports = path.next == LACE_NO_NODE ? 0 :
		     ports_of(segment, LACE_DIR_TX, path.next);
	fault = route_fault(segment, &path);
	if (fault) {
		if (extack)
			extack->_msg = fault;
		return -EINVAL;
	}
	return add_path(segment, &path);
}

/* TX lanes that lead to the same end in both. */
u32 lace_segment_same(const struct lace_segment *a,
		      const struct lace_segment *b)
{
	const struct lace_circuit *x = a->circuits[LACE_DIR_TX];
	const struct lace_circuit *y = b->circuits[LACE_DIR_TX];
	u32 same = 0;
	int i;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		if (x[i].peer != LACE_NO_NODE && x[i].peer == y[i].peer &&
		    x[i].peer_port == y[i].peer_port)
			same |= BIT(i);
	}
	return same;
}

bool lace_segment_uses_node(const struct lace_segment *segment, u16 id)
{
	unsigned int i;

	for (i = 0; i < segment->n_paths; i++) {
		if (segment->paths[i].from == id || segment->paths[i].to == id ||
		    segment->paths[i].prev == id || segment->paths[i].next == id)
			return true;
	}
	return segment->self == id;
}

/* Whether a segment can go. */
static int check_unused(struct lace_device *lace,
			const struct lace_segment *segment,
			struct netlink_ext_ack *extack)
{
	if (!segment)
		return 0;
	if (segment == lace_active_segment(lace)) {
		NL_SET_ERR_MSG(extack, "segment ID: that segment is active");
		return -EBUSY;
	}
	if (lace_transition_uses(lace, segment)) {
		NL_SET_ERR_MSG(extack,
			       "segment ID: a transition that runs uses that segment");
		return -EBUSY;
	}
	lace_transition_let_go(lace, segment);
	return 0;
}

/* Add the segment to those of the device, or replace one of the same number.
 * If this fails, nothing has changed and the segment is still the caller's.
 */
int lace_segment_load(struct lace_device *lace, struct lace_segment *segment,
		      struct netlink_ext_ack *extack)
{
	struct lace_segment *old;
	int err;

	ASSERT_RTNL();

	err = check_unused(lace, xa_load(&lace->segments, segment->id),
			   extack);
	if (err)
		return err;
	old = xa_store(&lace->segments, segment->id, segment,
		       GFP_KERNEL_ACCOUNT);
	if (xa_is_err(old))
		return xa_err(old);
	if (old)
		kvfree_rcu(old, rcu);
	return 0;
}

int lace_segment_del(struct lace_device *lace, u32 id,
		     struct netlink_ext_ack *extack)
{
	struct lace_segment *segment = xa_load(&lace->segments, id);
	int err;

	ASSERT_RTNL();

	if (!segment) {
		NL_SET_ERR_MSG(extack, "segment ID: there is no such segment");
		return -ENOENT;
	}
	err = check_unused(lace, segment, extack);
	if (err)
		return err;
	xa_erase(&lace->segments, id);
	kvfree_rcu(segment, rcu);
	return 0;
}

/* For the end of the device: nobody reads them any more. */
void lace_segments_destroy(struct lace_device *lace)
{
	struct lace_segment *segment;
	unsigned long id;

	xa_for_each(&lace->segments, id, segment)
		kvfree(segment);
	xa_destroy(&lace->segments);
}
