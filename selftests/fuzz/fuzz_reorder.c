// SPDX-License-Identifier: GPL-2.0
/*
 * Resequencing under segments and times of any kind: each segment comes out
 * once, none waits past the limit, no more is held than may be, and what comes
 * out at once is in order.
 */
#include "../../kmod/reorder_core.c"

#include <stdlib.h>

#define MAX_PIECES 512

struct packet {
	struct lace_piece piece;
	uint64_t at;
	unsigned int times_out;
};

/* One step of the input. */
struct step {
	uint8_t kind;
	uint8_t lane;
	uint16_t seq;
	uint16_t length;
	uint16_t us;
};

static struct packet packets[MAX_PIECES];
static unsigned int n_packets, n_out;

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void take(struct lace_order *order,
		 const struct lace_order_limits *limits,
		 const struct lace_order_result *result, uint64_t now)
{
	const struct lace_piece *piece;
	const struct packet *before = NULL;
	struct packet *packet;

	for (piece = result->out.first; piece; piece = piece->next) {
		packet = (struct packet *)piece;
		check(!packet->times_out++);
		check(now - packet->at <= limits->wait);
		check(!before || piece == result->out.last || !result->held ||
		      !lace_seq_before(piece->seq, before->piece.seq));
		before = packet;
		n_out++;
	}
	check(n_out + order->n_held == n_packets);
	check(order->n_held <= limits->pieces);
	check(order->bytes <= limits->bytes);
	check(!order->held.first == !order->n_held);
	check(!order->held.first == !order->passed);
}

static void expire(struct lace_order *order, const struct lace_order_path *path,
		   const struct lace_order_limits *limits, uint64_t until)
{
	struct lace_order_result result;
	uint64_t deadline;

	while ((deadline = lace_order_deadline(order, limits)) &&
	       deadline <= until) {
		lace_order_expire(order, path, limits, deadline, &result);
		check(result.out.first);
		take(order, limits, &result, deadline);
	}
}

static void receive(struct lace_order *order, const struct lace_order_path *path,
		    const struct lace_order_limits *limits,
		    const struct step *step, uint64_t now)
{
	struct packet *packet = &packets[n_packets++];
	struct lace_order_result result;
	/* Mostly near what is next, and now and then anywhere. */
	uint32_t seq = step->kind & 8 ? (uint32_t)step->seq << 16 :
					order->next + (int16_t)step->seq;

	*packet = (struct packet){
		.at = now,
		.piece = { .seq = seq, .end = seq + step->length + 1,
			   .size = step->length + 1, .lane = step->lane },
	};
	lace_order_receive(order, &packet->piece, path, limits, now, &result);
	take(order, limits, &result, now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct lace_order_limits limits = { 1000000, 16, 1 << 20 };
	struct lace_order_path path = { 3, true };
	struct lace_order_result result = {};
	struct lace_order order;
	uint64_t now = 1;
	struct step step;

	n_packets = 0;
	n_out = 0;
	lace_order_init(&order, 0, 0);
	for (; len >= sizeof(step) && n_packets < MAX_PIECES;
	     data += sizeof(step), len -= sizeof(step)) {
		memcpy(&step, data, sizeof(step));
		expire(&order, &path, &limits, now + step.us * 1000ULL);
		now += step.us * 1000ULL;
		switch (step.kind & 7) {
		case 0:
			lace_order_flush(&order, &result);
			take(&order, &limits, &result, now);
			memset(&result, 0, sizeof(result));
			check(!order.n_held);
			break;
		case 1:
			path.lanes = step.seq;
			path.fifo = step.lane & 1;
			break;
		default:
			receive(&order, &path, &limits, &step, now);
		}
	}
	lace_order_flush(&order, &result);
	take(&order, &limits, &result, now);
	check(n_out == n_packets);
	return 0;
}
