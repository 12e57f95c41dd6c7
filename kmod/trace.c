// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints: where they are made, and what it takes to fill those whose
 * arguments are not at hand.  Called while somebody listens only, but for
 * lace_trace_lane(), which is called when a lane changes.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"

#include "lace.h"
#include "lane.h"

/* Reasons + 1: 0 is for what is no drop. */
#define DROP(upper) [LACE_A_LANESTAT_##upper] = LACE_DROP_##upper + 1

static const u8 lane_reasons[LACE_A_LANESTAT_MAX + 1] = {
	DROP(DROPPED), DROP(UNEXPECTED), DROP(MISADDRESSED), DROP(SPOOFED),
	DROP(HOP_LIMIT), DROP(MALFORMED), DROP(REFUSED), DROP(FORGED),
	DROP(REPLAYED),
};

static const u8 dev_reasons[LACE_A_DEVSTAT_MAX + 1] = {
	[LACE_A_DEVSTAT_TX_NO_NODE] = LACE_DROP_TX_NO_NODE + 1,
	[LACE_A_DEVSTAT_TX_NO_LANE] = LACE_DROP_TX_NO_LANE + 1,
	[LACE_A_DEVSTAT_GATE_DROPPED] = LACE_DROP_GATE_DROPPED + 1,
};

/* A lane has counted a packet or a frame. */
void lace_trace_lane_counter(const struct lace_port *port, enum lace_dir dir,
			     enum lace_attr_lanestat counter)
{
	if (lane_reasons[counter])
		trace_lace_drop(port->lace->dev, READ_ONCE(port->number), dir,
				lane_reasons[counter] - 1, 1);
}

/* A device has counted packets. */
void lace_trace_dev_counter(const struct lace_device *lace,
			    enum lace_attr_devstat counter, unsigned int n)
{
	if (dev_reasons[counter])
		trace_lace_drop(lace->dev, LACE_TRACE_NONE, LACE_DIR_TX,
				dev_reasons[counter] - 1, n);
}

void lace_trace_send(const struct lace_port *port,
		     const struct lace_active *active, unsigned int frames,
		     unsigned int bytes, bool relay)
{
	u8 number = READ_ONCE(port->number);
	const struct lace_far *far = &active->far[LACE_DIR_TX][number];

	trace_lace_send(port->lace->dev, number, far->node, far->port,
			active->segment->id, frames, bytes,
			READ_ONCE(port->mbps), relay);
}

void lace_trace_receive(const struct lace_port *port,
			const struct lace_active *active, unsigned int frames,
			unsigned int bytes, bool relay)
{
	u8 number = READ_ONCE(port->number);
	const struct lace_far *far = &active->far[LACE_DIR_RX][number];

	trace_lace_receive(port->lace->dev, number, far->node, far->port,
			   active->segment->id, frames, bytes,
			   READ_ONCE(port->mbps), relay);
}

void lace_trace_ack(const struct lace_port *port,
		    const struct lace_proto_frame *ack, u64 now)
{
	u64 rtt = now - ack->time;

	/* The hold is what the far end says: it may be anything. */
	rtt = rtt > ack->ack.hold ? rtt - ack->ack.hold : 0;
	trace_lace_ack(port->lace->dev, READ_ONCE(port->number),
		       ack->from_node, ack->from_port, ack->seq, rtt);
}

static void lane_state(const struct lace_port *port, enum lace_dir dir,
		       u8 state, u64 epoch)
{
	struct lace_lane *lane = port->lane;
	u8 before = lane->traced[dir];

	if (before == state)
		return;
	lane->traced[dir] = state;
	trace_lace_lane_state(port->lace->dev, READ_ONCE(port->number), dir,
			      lane->far[dir].node, lane->far[dir].port, before,
			      state, epoch);
}

/* The lanes of a port may have changed. */
void lace_trace_lane(const struct lace_port *port)
{
	const struct lace_lane *lane = port->lane;

	lockdep_assert_held(&lane->lock);

	lane_state(port, LACE_DIR_TX, lane->tx.pulse.state, lane->tx.epoch);
	lane_state(port, LACE_DIR_RX, lane->rx.pulse.state, lane->rx.epoch);
}
