// SPDX-License-Identifier: GPL-2.0
/*
 * Routes of pairs of nodes that have more than one way, where they begin: each is
 * asked for from end to end once an interval, so that one whose relay, or a lane
 * further on, is dead is known to be broken, and another is taken.
 *
 * DESIGN NOTES
 *
 * A watch belongs to its segment, and begins anew when that becomes the active
 * one.  Its lock protects it; lace_path.broken is written under RTNL alone, where
 * it is decided for all paths of the node (by the lanes that they begin with, too),
 * and read by the data path without a lock.
 *
 * A route that nobody has ever answered on is used: there may be no way back.
 */
#include <linux/mm.h>

#include "lace.h"
#include "lane.h"

#define PROBES 16 /* that an answer may be to */

struct lace_route_watch {
	spinlock_t lock; /* protects all below but path */
	u16 path; /* index in the segment */
	struct lace_ack_pulse pulse;
	u64 epoch;
	u64 seq; /* of the last probe */
	u64 times[PROBES]; /* by number */
};

/* Bytes of n of them. */
size_t lace_route_watches_size(unsigned int n)
{
	return array_size(n, sizeof(struct lace_route_watch));
}

/* Watch a path, of a segment that is being built. */
void lace_route_watch(struct lace_segment *segment, u16 path)
{
	struct lace_route_watch *watch;

	if (WARN_ON_ONCE(segment->n_watches == segment->max_watches))
		return;
	watch = &segment->watches[segment->n_watches++];
	spin_lock_init(&watch->lock);
	watch->path = path;
}

static bool is_dark(struct lace_route_watch *watch)
{
	bool dark;

	spin_lock_bh(&watch->lock);
	dark = watch->pulse.state == LACE_LANE_STATE_DARK;
	spin_unlock_bh(&watch->lock);
	return dark;
}

/* The watch of a path, or NULL.  They are in the order of their paths. */
static struct lace_route_watch *watch_of(const struct lace_segment *segment,
					 const struct lace_path *path)
{
	u16 wanted = path - segment->paths;
	u16 low = 0, high = segment->n_watches;

	while (low < high) {
		u16 middle = low + (high - low) / 2;

		if (segment->watches[middle].path == wanted)
			return &segment->watches[middle];
		if (segment->watches[middle].path < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* A path between the same nodes, by way of the same neighbour; or NULL. */
static const struct lace_path *same_path(const struct lace_segment *segment,
					 const struct lace_path *path)
{
	const struct lace_path *same;

	same = lace_segment_path(segment, path->from, path->to);
	while (same && same->next != path->next)
		same = lace_segment_alternate(segment, same);
	return same;
}

/* Whether what a segment's watch is for is known not to work, when the segment is
 * about to be active in the place of old.  Where a transition comes back to it,
 * its own watch knows.
 */
static bool was_dark(const struct lace_segment *segment,
		     struct lace_route_watch *watch,
		     const struct lace_active *old)
{
	const struct lace_path *same;

	if (!old)
		return false;
	same = same_path(old->segment, &segment->paths[watch->path]);
	if (same)
		watch = watch_of(old->segment, same);
	else if (old->other != segment)
		watch = NULL;
	return watch && is_dark(watch);
}

static void begin_watch(struct lace_route_watch *watch, bool dark)
{
	spin_lock_bh(&watch->lock);
	memset(&watch->pulse, 0, sizeof(watch->pulse));
	if (dark)
		watch->pulse.state = LACE_LANE_STATE_DARK;
	watch->epoch = max_t(u64, ktime_get_real_ns(), watch->epoch + 1);
	watch->seq = 0;
	spin_unlock_bh(&watch->lock);
}

/* The segment is about to be the active one, in the place of old, which may be
 * NULL.  What is known not to work is asked for like the rest, and works again
 * with the first reply; of the rest nothing is known.
 */
void lace_routes_begin(struct lace_segment *segment,
		       const struct lace_active *old)
{
	struct lace_route_watch *watch;
	bool dark;
	u16 i;

	ASSERT_RTNL();

	for (i = 0; i < segment->n_paths; i++)
		WRITE_ONCE(segment->paths[i].broken, false);
	for (i = 0; i < segment->n_watches; i++) {
		watch = &segment->watches[i];
		dark = was_dark(segment, watch, old);
		begin_watch(watch, dark);
		WRITE_ONCE(segment->paths[watch->path].broken, dark);
	}
}

/* Nobody asks any more: nothing is known.  lace_routes_look() is to follow. */
void lace_routes_forget(struct lace_device *lace)
{
	struct lace_segment *segment = lace_active_segment(lace);
	u16 i;

	for (i = 0; segment && i < segment->n_watches; i++)
		begin_watch(&segment->watches[i], false);
}

/* ---- asking ---- */

static void ask(const struct lace_segment *segment,
		struct lace_route_watch *watch, struct lace_proto_frame *probe)
{
	const struct lace_path *path = &segment->paths[watch->path];

	*probe = (struct lace_proto_frame){
		.type = LACE_PROTO_ROUTE_PROBE,
		.hops = LACE_PROTO_HOPS,
		.from_node = path->from,
		.to_node = path->to,
		.from_port = path->rank,
		.epoch = watch->epoch,
		.seq = ++watch->seq,
		.time = ktime_get_ns(),
		.probe.segment = segment->id,
	};
	watch->times[watch->seq % PROBES] = probe->time;
}

/* An interval is over.  Needs the RCU read lock; bottom halves are off. */
void lace_routes_beat(struct lace_device *lace,
		      const struct lace_active *active)
{
	const struct lace_segment *segment = active->segment;
	struct lace_route_watch *watch;
	struct lace_proto_frame probe;
	bool dark;
	u16 i;

	for (i = 0; i < segment->n_watches; i++) {
		watch = &segment->watches[i];
		spin_lock(&watch->lock);
		dark = lace_ack_pulse_tick(&watch->pulse);
		ask(segment, watch, &probe);
		spin_unlock(&watch->lock);
		lace_lane_send_route(lace, active, &segment->paths[watch->path],
				     &probe);
		if (dark)
			lace_transition_kick(lace);
	}
}

static bool is_sound(const struct lace_route_watch *watch,
		     const struct lace_proto_frame *reply)
{
	return reply->epoch == watch->epoch && reply->seq <= watch->seq &&
	       watch->seq - reply->seq < PROBES &&
	       reply->time == watch->times[reply->seq % PROBES];
}

static struct lace_route_watch *find(const struct lace_segment *segment,
				     const struct lace_proto_frame *reply)
{
	const struct lace_path *path;
	u16 i;

	for (i = 0; i < segment->n_watches; i++) {
		path = &segment->paths[segment->watches[i].path];
		if (path->to == reply->from_node &&
		    path->rank == reply->to_port)
			return &segment->watches[i];
	}
	return NULL;
}

/* A reply for this node.  False if it changes nothing. */
bool lace_route_answer(struct lace_device *lace,
		       const struct lace_active *active,
		       const struct lace_proto_frame *reply)
{
	struct lace_route_watch *watch = find(active->segment, reply);
	bool sound, news = false;

	if (!watch || reply->probe.segment != active->segment->id)
		return false;
	spin_lock(&watch->lock);
	sound = is_sound(watch, reply);
	if (sound) {
		watch->times[reply->seq % PROBES] = 0;
		news = watch->pulse.state != LACE_LANE_STATE_UP;
		lace_ack_pulse_hear(&watch->pulse, ktime_get_ns());
	}
	spin_unlock(&watch->lock);
	if (news)
		lace_transition_kick(lace);
	return sound;
}

/* ---- what follows from it ---- */

static bool has_lane(struct lace_device *lace, u32 lanes)
{
	const struct lace_port *port;

	for (; lanes; lanes &= lanes - 1) {
		port = rtnl_dereference(lace->ports[__ffs(lanes)]);
		if (port && lace_port_is_live(port) && !READ_ONCE(port->dark))
			return true;
	}
	return false;
}

static bool set_broken(struct lace_path *path, bool broken)
{
	bool news = path->broken != broken;

	smp_store_release(&path->broken, broken);	/* see gate.c */
	return news;
}

/* Whether a path has alternates, or is one, where it begins. */
static bool has_choice(const struct lace_segment *segment,
		       const struct lace_path *path)
{
	return path->from == segment->self &&
	       (path->rank || path->alternate != LACE_NO_PATH);
}

/* Decide which paths of the active segment are broken, with these lanes closed.
 * True if one is or is not that was not or was.
 */
bool lace_routes_look(struct lace_device *lace, u32 closed)
{
	struct lace_segment *segment = lace_active_segment(lace);
	struct lace_path *path;
	bool news = false;
	u16 i, k = 0;

	ASSERT_RTNL();

	for (i = 0; i < segment->n_paths; i++) {
		bool dark = false;

		path = &segment->paths[i];
		if (!has_choice(segment, path))
			continue;
		/* Watches are in the order of their paths. */
		if (k < segment->n_watches && segment->watches[k].path == i)
			dark = is_dark(&segment->watches[k++]);
		news |= set_broken(
			path, dark || !has_lane(lace, path->ports & ~closed));
	}
	return news;
}
