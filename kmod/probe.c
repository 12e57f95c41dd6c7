// SPDX-License-Identifier: GPL-2.0
/*
 * Probes: whether a TX lane leads where the plan says, and if not, where.
 *
 * A lane is proved by the reply to one of its last probes from the port that
 * the plan names.  The lock of the lane protects what is known of it.
 */
#include "lace.h"
#include "lane.h"

/* Nothing is known of the lane from now on, and it is asked for. */
void lace_probe_start(struct lace_port *port, u32 segment)
{
	struct lace_probe *probe = &port->lane->probe;

	spin_lock_bh(&port->lane->lock);
	WRITE_ONCE(probe->on, true);
	probe->proved = false;
	probe->found = false;
	probe->segment = segment;
	probe->first = probe->seq + 1;
	spin_unlock_bh(&port->lane->lock);
}

void lace_probe_stop(struct lace_port *port)
{
	spin_lock_bh(&port->lane->lock);
	WRITE_ONCE(port->lane->probe.on, false);
	spin_unlock_bh(&port->lane->lock);
}

static void post(struct lace_port *port, struct lace_outbox *outbox)
{
	struct lace_lane *lane = port->lane;
	struct lace_probe *probe = &lane->probe;
	struct lace_proto_frame frame = {
		.type = LACE_PROTO_PROBE,
		.hops = 1,
		.epoch = lane->tx.epoch,
		.seq = ++probe->seq,
		.time = ktime_get_ns(),
		.probe.segment = probe->segment,
	};

	lockdep_assert_held(&lane->lock);

	probe->times[probe->seq % LACE_PROBES] = frame.time;
	lace_lane_post(outbox, port, &lane->far[LACE_DIR_TX], &frame);
}

/* Bottom halves are off. */
void lace_probe_send(struct lace_device *lace, const struct lace_active *active,
		     struct lace_port *port)
{
	struct lace_lane *lane = port->lane;
	struct lace_outbox outbox;

	if (!lace_port_is_live(port))
		return;
	lace_lane_outbox(&outbox);
	spin_lock(&lane->lock);
	if (lane->probe.on && !lane->probe.proved && lane->tx.epoch)
		post(port, &outbox);
	spin_unlock(&lane->lock);
	lace_lane_send(lace, active, port, &outbox);
}

/* Whether a reply is one to a probe that was sent not long ago. */
static bool is_sound(const struct lace_lane *lane,
		     const struct lace_proto_frame *reply)
{
	const struct lace_probe *probe = &lane->probe;
	const struct lace_far *far = &lane->far[LACE_DIR_TX];

	return probe->on && reply->epoch == lane->tx.epoch &&
	       reply->seq >= probe->first && reply->seq <= probe->seq &&
	       probe->seq - reply->seq < LACE_PROBES &&
	       reply->time == probe->times[reply->seq % LACE_PROBES] &&
	       reply->probe.segment == probe->segment &&
	       reply->probe.meant_node == far->node &&
	       reply->probe.meant_port == far->port;
}

/* A reply for the TX lane of a port.  False if it changes nothing. */
bool lace_probe_answer(struct lace_port *port,
		       const struct lace_proto_frame *reply)
{
	struct lace_lane *lane = port->lane;
	struct lace_probe *probe = &lane->probe;
	bool sound, proved = false;

	spin_lock(&lane->lock);
	sound = is_sound(lane, reply);
	if (sound) {
		proved = reply->from_node == lane->far[LACE_DIR_TX].node &&
			 reply->from_port == lane->far[LACE_DIR_TX].port;
		probe->proved |= proved;
		probe->found = !proved;
		probe->end.node = reply->from_node;
		probe->end.port = reply->from_port;
		if (proved)
			lace_lane_proved(port);
	}
	spin_unlock(&lane->lock);
	if (proved)
		lace_transition_kick(port->lace);
	return sound;
}

bool lace_probe_is_proved(struct lace_port *port)
{
	bool proved;

	spin_lock_bh(&port->lane->lock);
	proved = port->lane->probe.on && port->lane->probe.proved;
	spin_unlock_bh(&port->lane->lock);
	return proved;
}

/* Whether the lane was found to end elsewhere, and where. */
bool lace_probe_found(struct lace_port *port, struct lace_far *end)
{
	bool found;

	spin_lock_bh(&port->lane->lock);
	found = port->lane->probe.found && !port->lane->probe.proved;
	*end = port->lane->probe.end;
	spin_unlock_bh(&port->lane->lock);
	return found;
}
