// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes that fail in service, while no transition runs: those that have gone
 * dark, and those whose port is taken away.  They are closed, so that a peer that
 * has no other lane is gated, and asked for with a probe in each interval; one
 * that is proved opens again, and so does one that a transition left closed.
 * Then it is seen which paths still work.
 *
 * Lanes of which there has never been word are not closed: nothing would open them.
 */
#include "lace.h"
#include "lane.h"

/* TX lanes that are open and have failed. */
static u32 failed_lanes(struct lace_device *lace,
			const struct lace_active *active)
{
	u32 lanes = lace->lost;
	struct lace_port *port;
	int i;

	lace_for_each_port(lace, i, port) {
		if (READ_ONCE(port->dark))
			lanes |= BIT(i);
	}
	return lanes & active->segment->ports[LACE_DIR_TX] & ~active->closed;
}

/* Those that are closed and need not be any more. */
static u32 whole_lanes(struct lace_device *lace,
		       const struct lace_active *active)
{
	struct lace_port *port;
	u32 lanes = 0;
	int i;

	if (!lace->acks.msecs)	/* none can be proved */
		return active->closed;
	lace_for_each_port(lace, i, port) {
		if (lace_probe_is_proved(port) && !READ_ONCE(port->dark))
			lanes |= BIT(i);
	}
	return lanes & active->closed;
}

static void set_probes(struct lace_device *lace, u32 failed, u32 whole)
{
	const struct lace_segment *segment = lace_active_segment(lace);
	struct lace_port *port;
	int i;

	lace_for_each_port(lace, i, port) {
		if (failed & BIT(i))
			lace_probe_start(port, segment->id);
		else if (whole & BIT(i))
			lace_probe_stop(port);
	}
}

/**
 * lace_outage_look() - close what has failed, open what has been proved
 * @lace: the device
 *
 * A transition that runs looks to its lanes itself.
 */
void lace_outage_look(struct lace_device *lace)
{
	const struct lace_active *active = rtnl_dereference(lace->active);
	bool rerouted, may_wait;
	u32 failed, whole, closed, lanes;

	ASSERT_RTNL();

	if (lace_transition_runs(lace))
		return;
	if (!active) {
		lace->lost = 0;
		return;
	}
	may_wait = active->closed;
	failed = failed_lanes(lace, active);
	whole = whole_lanes(lace, active);
	closed = (active->closed | failed) & ~whole;
	lace->lost = 0;
	if (may_wait)	/* goes before what takes a new way */
		lace_gate_begin(lace);
	rerouted = lace_routes_look(lace, closed);
	if (!failed && !whole && !rerouted) {
		if (may_wait)
			lace_gate_end(lace);
		return;
	}
	set_probes(lace, failed, whole);
	lace_active_set_closed(lace, closed);
	lace_device_changed(lace);
	for (lanes = failed | whole; lanes; lanes &= lanes - 1)
		lace_nl_announce_lanes(lace, __ffs(lanes));
	if (failed || whole)
		lace_nl_announce_device(lace, NULL);
	if (rerouted)
		lace_nl_announce_routes(lace);
}

/**
 * lace_outage_port_gone() - a port is about to be taken away
 * @port: the port
 */
void lace_outage_port_gone(const struct lace_port *port)
{
	ASSERT_RTNL();

	if (lace_lane_had_word(port))
		port->lace->lost |= BIT(port->number);
}
