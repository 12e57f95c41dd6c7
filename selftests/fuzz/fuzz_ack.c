// SPDX-License-Identifier: GPL-2.0
/*
 * Both ends of a lane with two queues, and a fibre that the input directs: it
 * delivers and loses data, loses, delays, repeats and changes frames, and
 * restarts either end. Whatever it does, no more is said to be lost than was, no
 * more delivered and lost than sent, and a lane that is drained is empty.
 */
#include "../../kmod/ack.c"
#include "../../kmod/proto.c"

#include <stdlib.h>

#define QUEUES 2
#define FRAMES 16

/* A mark in a queue, behind what was sent before it. */
struct waiting {
	u8 data[LACE_PROTO_MAX];
	size_t len;		/* 0: none */
	u64 behind;		/* packets of its queue */
	unsigned int queue;
};

struct world {
	struct lace_ack_tx tx;
	struct lace_ack_rx rx;
	struct lace_ack_queue queues[QUEUES];
	struct lace_proto_count sent[QUEUES], received;
	u64 gone[QUEUES];	/* packets that left the queue, either way */
	u64 since[QUEUES];	/* gone, or sent, when the epoch began */
	u64 begun, lost;
	struct waiting marks[FRAMES], acks[FRAMES];
	unsigned int next_mark, next_ack;
	u64 epoch, life, now;
};

static const siphash_key_t key = { { 3, 4 } };

static void start_tx(struct world *w)
{
	int i;

	lace_ack_tx_start(&w->tx, ++w->epoch, w->sent);
	for (i = 0; i < QUEUES; i++)
		w->since[i] = w->sent[i].packets;
}

static void send(struct world *w, unsigned int queue, unsigned int n)
{
	w->sent[queue].packets += n;
	w->sent[queue].bytes += 100 * n;
}

static void move_data(struct world *w, unsigned int queue, unsigned int n,
		      bool arrives)
{
	u64 left = w->sent[queue].packets - w->gone[queue];

	if (n > left)
		n = left;
	w->gone[queue] += n;
	if (!arrives) {
		w->lost += n;
		return;
	}
	w->received.packets += n;
	w->received.bytes += 100 * n;
}

static void keep(struct waiting *slot, const struct lace_proto_frame *frame)
{
	slot->len = lace_proto_encode(frame, &key, slot->data);
}

static void send_mark(struct world *w, unsigned int queue)
{
	struct waiting *slot = &w->marks[w->next_mark++ % FRAMES];
	struct lace_proto_frame frame;

	lace_ack_tx_mark(&w->tx, queue, w->sent, w->now, &frame);
	frame.to_node = 1;
	keep(slot, &frame);
	slot->queue = queue;
	slot->behind = w->sent[queue].packets;
}

static bool read_frame(const struct waiting *slot, u8 spoil,
		       struct lace_proto_frame *frame)
{
	u8 copy[LACE_PROTO_MAX];

	memcpy(copy, slot->data, sizeof(copy));
	if (spoil && spoil % slot->len != 3)
		copy[spoil % slot->len] ^= spoil;
	else
		spoil = 0;
	if (!lace_proto_decode(copy, slot->len, &key, frame)) {
		if (spoil)
			abort();
		return true;
	}
	return false;
}

static void send_ack(struct world *w, struct lace_proto_frame *frame)
{
	frame->from_node = 1;
	frame->to_node = 0;
	keep(&w->acks[w->next_ack++ % FRAMES], frame);
}

/* A queue keeps its order.  Only marks that begin nothing may come late. */
static bool can_arrive(const struct world *w, const struct waiting *slot)
{
	s64 late = w->gone[slot->queue] - slot->behind;

	return slot->len && (!late || (late > 0 && w->tx.life == w->rx.life));
}

static void deliver_mark(struct world *w, unsigned int i, u8 spoil)
{
	const struct waiting *slot = &w->marks[i % FRAMES];
	struct lace_proto_frame frame;
	enum lace_ack_verdict verdict;

	if (!can_arrive(w, slot) || !read_frame(slot, spoil, &frame))
		return;
	verdict = lace_ack_rx_mark(&w->rx, &frame, &w->received, w->now);
	if (verdict == LACE_ACK_STALE) {
		lace_ack_rx_refuse(&w->rx, &frame, &frame);
		send_ack(w, &frame);
	}
}

static void answer(struct world *w)
{
	struct lace_proto_frame frame;

	if (!w->rx.due)
		return;
	lace_ack_rx_answer(&w->rx, &w->received, w->now, &frame);
	send_ack(w, &frame);
}

static void deliver_ack(struct world *w, unsigned int i, u8 spoil)
{
	const struct waiting *slot = &w->acks[i % FRAMES];
	struct lace_proto_frame frame;

	if (slot->len && read_frame(slot, spoil, &frame) &&
	    lace_ack_tx_answer(&w->tx, &frame, w->sent, w->now) ==
	    LACE_ACK_AHEAD)
		abort();	/* the epochs of this sender only grow */
}

static void check(const struct world *w)
{
	struct lace_proto_count delivered, lost;
	u64 sent = w->sent[0].packets + w->sent[1].packets - w->begun;
	int i;

	lace_ack_tx_read(&w->tx, &delivered, &lost);
	if (lost.packets > w->lost || lost.bytes > 100 * w->lost ||
	    delivered.packets + lost.packets > sent ||
	    delivered.bytes + lost.bytes > 100 * sent)
		abort();
	if (!lace_ack_tx_drained(&w->tx, w->sent))
		return;
	for (i = 0; i < QUEUES; i++) {
		if (w->gone[i] != w->sent[i].packets &&
		    w->sent[i].packets != w->since[i])
			abort();
	}
}

static void step(struct world *w, u8 what, u8 how)
{
	w->now += how;
	switch (what % 12) {
	case 0:
		send(w, how & 1, how >> 4);
		break;
	case 1:
	case 2:
	case 3:
		move_data(w, how & 1, how >> 1, what % 12 != 3);
		break;
	case 4:
		send_mark(w, how & 1);
		break;
	case 5:
		deliver_mark(w, how, 0);
		break;
	case 6:
		answer(w);
		break;
	case 7:
		deliver_ack(w, how, 0);
		break;
	case 8:
		deliver_mark(w, w->next_mark - 1, how);
		break;
	case 9:
		deliver_ack(w, w->next_ack - 1, how);
		break;
	case 10:
		if (how & 1)
			lace_ack_tx_tick(&w->tx);
		else
			lace_ack_pulse_tick(&w->rx.pulse);
		break;
	default:
		if (how == 1)
			start_tx(w);
		else if (how == 2)
			lace_ack_rx_start(&w->rx, ++w->life);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct world w = { .epoch = 5, .life = 1 };
	size_t i;

	if (len < 2)
		return 0;
	w.tx.queues = w.queues;
	w.tx.n_queues = QUEUES;
	for (i = 0; i < QUEUES; i++) {
		w.sent[i].packets = -(u64)(data[i] >> 4);
		w.sent[i].bytes = -100 * (u64)(data[i] & 15);
		w.gone[i] = w.sent[i].packets;
		w.begun += w.sent[i].packets;
	}
	w.received.packets = data[0] - 100;
	start_tx(&w);
	lace_ack_rx_start(&w.rx, w.life);
	for (i = 2; i + 1 < len; i += 2) {
		step(&w, data[i], data[i + 1]);
		check(&w);
	}
	return 0;
}
