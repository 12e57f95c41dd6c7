// SPDX-License-Identifier: GPL-2.0
/*
 * Segments: the circuits and routes of this node in one segment of a plan,
 * checked when they are loaded and kept until they are needed.
 *
 * A segment is built in four steps: its circuits, one by one; then
 * lace_segment_close_circuits(), which makes a path for each neighbour; then
 * its routes, which make the paths of the other pairs, and their alternates; then
 * lace_segment_close_routes().  The data path asks for paths only.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>

#include "lace.h"

struct lace_segment *lace_segment_alloc(u32 id, u16 self,
					unsigned int n_alternates,
					unsigned int n_routes)
{
	unsigned int max_paths = n_routes + 2 * LACE_MAX_PORTS;
	unsigned int n_buckets = roundup_pow_of_two(max_paths);
	/* Of a pair with one alternate, that and its route. */
	unsigned int max_watches = 2 * n_alternates;
	struct lace_segment *segment;
	size_t paths_end;
	unsigned int i;

	paths_end = ALIGN(struct_size(segment, paths, max_paths), sizeof(u64));
	segment = kvzalloc(paths_end + lace_route_watches_size(max_watches) +
			   array_size(n_buckets, sizeof(u16)),
			   GFP_KERNEL_ACCOUNT);
	if (!segment)
		return NULL;
	segment->watches = (void *)segment + paths_end;
	segment->max_watches = max_watches;
	segment->id = id;
	segment->self = self;
	segment->max_paths = max_paths;
	segment->bits = ilog2(n_buckets);
	segment->buckets = (void *)segment->watches +
			   lace_route_watches_size(max_watches);
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

static __always_inline const struct lace_path *
find_path(const struct lace_segment *segment, u16 from, u16 to)
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

/* The path of a pair of nodes, or NULL: they have no business here. */
const struct lace_path *lace_segment_path(const struct lace_segment *segment,
					  u16 from, u16 to)
{
	return find_path(segment, from, to);
}

/* The next path of the same pair, or NULL. */
const struct lace_path *
lace_segment_alternate(const struct lace_segment *segment,
		       const struct lace_path *path)
{
	return path->alternate == LACE_NO_PATH ?
		NULL : &segment->paths[path->alternate];
}

static const struct lace_path *first_whole(const struct lace_segment *segment,
					   const struct lace_path *first)
{
	const struct lace_path *path = first;

	while (path && smp_load_acquire(&path->broken))	/* see gate.c */
		path = lace_segment_alternate(segment, path);
	return path ?: first;
}

/* Of the paths of a pair, the first that is not known to be broken; the first
 * one if all are.
 */
const struct lace_path *lace_segment_way(const struct lace_segment *segment,
					 u16 from, u16 to)
{
	const struct lace_path *path = find_path(segment, from, to);

	if (path && unlikely(path->alternate != LACE_NO_PATH))
		path = first_whole(segment, path);
	return path;
}

static int add_path(struct lace_segment *segment, const struct lace_path *path,
		    u16 *link)
{
	struct lace_path *new = &segment->paths[segment->n_paths];

	if (WARN_ON_ONCE(segment->n_paths == segment->max_paths))
		return -ENOSPC;
	*new = *path;
	new->chain = LACE_NO_PATH;
	new->alternate = LACE_NO_PATH;
	*link = segment->n_paths++;
	return 0;
}

static int add_pair(struct lace_segment *segment, const struct lace_path *path)
{
	u16 *head = bucket(segment, path->from, path->to);
	u16 chain = *head;
	int err;

	err = add_path(segment, path, head);
	if (!err)
		segment->paths[*head].chain = chain;
	return err;
}

/* Behind the paths that the pair has already. */
static int add_alternate(struct lace_segment *segment, struct lace_path *path)
{
	u16 *link = bucket(segment, path->from, path->to);
	struct lace_path *last;

	do {
		last = &segment->paths[*link];
		link = &last->chain;
	} while (last->from != path->from || last->to != path->to);
	while (last->alternate != LACE_NO_PATH)
		last = &segment->paths[last->alternate];
	path->rank = last->rank + 1;
	return add_path(segment, path, &last->alternate);
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
	return add_pair(segment, &path);
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

/* A pair's paths have no node in common but where they begin and end: what breaks
 * one leaves the others.
 */
static const char *alternate_fault(const struct lace_segment *segment,
				   const struct lace_path *route)
{
	const struct lace_path *path;
	u16 self = segment->self;
	bool relay = route->from != self && route->to != self;

	path = lace_segment_path(segment, route->from, route->to);
	if (!path)
		return relay ? NULL :
		       "route ALTERNATE: the pair has no circuit or route before it";
	if (relay)
		return "route ALTERNATE: another route of the pair passes here";
	for (; path; path = lace_segment_alternate(segment, path)) {
		if (route->from == self && path->next == route->next)
			return "route NEXT: another path of the pair goes there";
		if (route->to == self && path->prev == route->prev)
			return "route PREV: another path of the pair comes from there";
		if (path->rank == LACE_MAX_ALTERNATES)
			return "route ALTERNATE: the pair has too many";
	}
	return NULL;
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
	if (route->rank)
		return alternate_fault(segment, route);
	known = lace_segment_path(segment, route->from, route->to);
	if (known)
		return known->direct ?
			"route FROM: the pair has a circuit of its own" :
			"route FROM: the pair has another route";
	return NULL;
}

/* Needs all circuits.  Of the route, from, to, prev, next and rank count: 0, or
 * another one for an alternate.
 */
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
	if (lace_segment_path(segment, path.from, path.to))
		return add_alternate(segment, &path);
	return add_pair(segment, &path);
}

/* All routes are there: those that have, or are, alternates are watched where
 * they begin.
 */
void lace_segment_close_routes(struct lace_segment *segment)
{
	const struct lace_path *path;
	u16 i;

	for (i = 0; i < segment->n_paths; i++) {
		path = &segment->paths[i];
		if (path->from == segment->self && !path->direct &&
		    (path->rank || path->alternate != LACE_NO_PATH))
			lace_route_watch(segment, i);
	}
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
