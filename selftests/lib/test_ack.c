// SPDX-License-Identifier: GPL-2.0
/*
 * The windows of both ends of a lane, on a lane that the test plays: what is
 * counted, what is refused, and when a lane is dark or drained.
 */
#include "../../kmod/ack.c"

#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

#define QUEUES 3
#define MS 1000000ULL

/* Both ends of a lane, which begin to count anywhere. */
static struct lace_ack_tx tx;
static struct lace_ack_rx rx;
static struct lace_ack_queue queues[QUEUES];
static struct lace_proto_count sent[QUEUES], received;
static u64 now;

static void setup_at(unsigned int n_queues, u64 sent_before,
		     u64 received_before)
{
	unsigned int i;

	memset(&tx, 0, sizeof(tx));
	memset(queues, 0, sizeof(queues));
	tx.queues = queues;
	tx.n_queues = n_queues;
	for (i = 0; i < QUEUES; i++)
		sent[i] = (struct lace_proto_count){ sent_before,
						     sent_before };
	received = (struct lace_proto_count){ received_before,
					      received_before };
	now = 1000 * MS;
	lace_ack_tx_start(&tx, 100, sent);
	lace_ack_rx_start(&rx, 7);
}

static void setup(unsigned int n_queues)
{
	setup_at(n_queues, 0, 0);
}

static void send(unsigned int queue, u64 packets)
{
	sent[queue].packets += packets;
	sent[queue].bytes += 1000 * packets;
}

static void receive(u64 packets)
{
	received.packets += packets;
	received.bytes += 1000 * packets;
}

static struct lace_proto_frame mark(unsigned int queue)
{
	struct lace_proto_frame frame;

	lace_ack_tx_mark(&tx, queue, sent, now, &frame);
	return frame;
}

static enum lace_ack_verdict arrive(const struct lace_proto_frame *frame)
{
	now += 2 * MS;
	return lace_ack_rx_mark(&rx, frame, &received, now);
}

static struct lace_proto_frame answer(void)
{
	struct lace_proto_frame frame;

	now += 5 * MS;
	lace_ack_rx_answer(&rx, &received, now, &frame);
	return frame;
}

static enum lace_ack_verdict take(const struct lace_proto_frame *frame)
{
	now += 3 * MS;
	return lace_ack_tx_answer(&tx, frame, sent, now);
}

/* A mark through a queue, and the answer to it. */
static enum lace_ack_verdict exchange(unsigned int queue)
{
	struct lace_proto_frame frame = mark(queue);

	arrive(&frame);
	frame = answer();
	return take(&frame);
}

/* delivered and lost, in packets and in thousands of bytes. */
static bool counts(u64 delivered, u64 lost)
{
	struct lace_proto_count good, bad;

	lace_ack_tx_read(&tx, &good, &bad);
	if (good.packets == delivered && bad.packets == lost &&
	    good.bytes == 1000 * delivered && bad.bytes == 1000 * lost)
		return true;
	tap_note("delivered %llu, %llu bytes; lost %llu, %llu bytes",
		 (unsigned long long)good.packets,
		 (unsigned long long)good.bytes,
		 (unsigned long long)bad.packets,
		 (unsigned long long)bad.bytes);
	return false;
}

static void check_one_queue(void)
{
	struct lace_proto_frame frame;

	setup(1);
	tap_check(exchange(0) == LACE_ACK_TAKEN && counts(0, 0),
		  "nothing sent, nothing lost");
	tap_check(tx.rtt == 5 * MS, "round trip less the time of the answer");
	send(0, 10);
	tap_check(!lace_ack_tx_drained(&tx, sent), "what was sent is under way");
	receive(10);
	exchange(0);
	tap_check(counts(10, 0) && lace_ack_tx_drained(&tx, sent),
		  "all delivered: drained");
	send(0, 10);
	receive(7);
	exchange(0);
	tap_check(counts(17, 3), "three lost");
	tap_check(!lace_ack_tx_drained(&tx, sent),
		  "what is missing may come yet");
	exchange(0);
	tap_check(counts(17, 3) && lace_ack_tx_drained(&tx, sent),
		  "and did not: drained");
	frame = answer();
	take(&frame);
	tap_check(lace_ack_tx_drained(&tx, sent),
		  "and is so after another answer to the same mark");
	lace_ack_tx_overtook(&tx);
	exchange(0);
	tap_check(!lace_ack_tx_drained(&tx, sent),
		  "not while marks may have overtaken it");
	exchange(0);
	tap_check(lace_ack_tx_drained(&tx, sent), "two that have not: drained");
	/* 5 sent, a mark, 4 more behind it of which 2 are there already. */
	send(0, 5);
	frame = mark(0);
	receive(5);
	arrive(&frame);
	send(0, 4);
	receive(2);
	frame = answer();
	take(&frame);
	tap_check(counts(24, 3), "what follows a mark is delivered, not lost");
}

static void check_late_data(void)
{
	struct lace_proto_frame frame;

	setup(1);
	exchange(0);
	send(0, 10);
	frame = mark(0);
	receive(4);
	arrive(&frame);
	frame = answer();
	take(&frame);
	tap_check(counts(4, 6), "a mark that overtook data");
	receive(6);
	exchange(0);
	tap_check(counts(10, 0), "which comes later, and is not lost");
}

static void check_wrap(void)
{
	static const u64 starts[] = { -1ULL, -3ULL, -4001ULL, 1ULL << 63 };
	size_t i;
	bool right = true;

	for (i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		setup_at(1, starts[i], starts[i] * 3 + 17);
		right &= exchange(0) == LACE_ACK_TAKEN && counts(0, 0);
		send(0, 10);
		receive(8);
		right &= exchange(0) == LACE_ACK_TAKEN && counts(8, 2);
		send(0, 10);
		receive(10);
		right &= exchange(0) == LACE_ACK_TAKEN && counts(18, 2);
	}
	tap_check(right, "counts go on when they wrap, wherever each end began");
}

static void check_queues(void)
{
	struct lace_proto_frame frame, other;

	setup(3);
	exchange(0);
	send(0, 10);
	send(1, 20);
	send(2, 30);
	/* Queue 1 is slow: its data is under way when mark 0 arrives. */
	frame = mark(0);
	receive(10);
	arrive(&frame);
	frame = answer();
	take(&frame);
	tap_check(counts(10, 0) && !lace_ack_tx_drained(&tx, sent),
		  "a mark does not speak for other queues");
	frame = mark(2);
	receive(30);
	arrive(&frame);
	frame = answer();
	take(&frame);
	tap_check(counts(40, 0) && !lace_ack_tx_drained(&tx, sent),
		  "two queues of three");
	/* One of queue 1 is lost, which others of queue 0 must not make up. */
	send(0, 5);
	frame = mark(1);
	receive(19);
	other = mark(0);
	arrive(&frame);
	frame = answer();
	take(&frame);
	tap_check(counts(59, 1), "a loss shows at the queue's own mark");
	receive(5);
	arrive(&other);
	frame = answer();
	take(&frame);
	tap_check(counts(64, 1), "and others of the lane do not hide it");
	exchange(0);
	tap_check(lace_ack_tx_drained(&tx, sent), "three queues: drained");
}

/* The first answer comes while other queues are busy. */
static void check_busy_start(void)
{
	struct lace_proto_frame frame;

	setup(2);
	send(1, 8);
	frame = mark(0);
	arrive(&frame);
	frame = answer();
	take(&frame);
	tap_check(tx.packets.lost == 0, "a start under traffic loses nothing");
	receive(8);
	exchange(1);
	send(0, 3);
	receive(2);
	exchange(0);
	exchange(0);
	tap_check(counts(10, 1), "and counts exactly once it was at rest");
}

static void check_turns(void)
{
	setup(3);
	tap_check(lace_ack_tx_next(&tx, sent) == -1, "no queue needs a mark");
	send(0, 1);
	send(2, 1);
	tap_check(lace_ack_tx_next(&tx, sent) == 0 &&
		  lace_ack_tx_next(&tx, sent) == 2 &&
		  lace_ack_tx_next(&tx, sent) == 0, "queues take turns");
	mark(0);
	mark(2);
	tap_check(lace_ack_tx_next(&tx, sent) == -1, "all have their marks");
	tap_check(lace_ack_tx_idle(&tx, sent) == 0, "the first is unanswered");
	exchange(0);
	tap_check(lace_ack_tx_idle(&tx, sent) == 2, "then the third");
	send(0, 1);
	mark(0);
	tap_check(lace_ack_tx_idle(&tx, sent) == 2, "not the last one again");
	mark(2);
	tap_check(lace_ack_tx_idle(&tx, sent) == 0, "where all are unanswered");
}

static void check_lost_marks(void)
{
	struct lace_proto_frame first, second, third;

	setup(2);
	exchange(0);
	send(0, 4);
	first = mark(0);
	send(1, 4);
	second = mark(1);
	receive(8);
	arrive(&first);
	arrive(&second);
	first = answer();	/* gets lost */
	third = mark(0);
	arrive(&third);
	third = answer();
	take(&third);
	tap_check(counts(8, 0) && lace_ack_tx_drained(&tx, sent),
		  "an answer also speaks of the marks before");
	tap_check(take(&first) == LACE_ACK_REPEATED,
		  "refused: an answer that a later one has overtaken");
}

static void check_reordered_marks(void)
{
	struct lace_proto_frame first, second, frame;

	setup(2);
	exchange(0);
	send(0, 4);
	send(1, 4);
	first = mark(0);
	second = mark(1);
	receive(8);
	tap_check(arrive(&second) == LACE_ACK_TAKEN &&
		  arrive(&first) == LACE_ACK_TAKEN, "marks in another order");
	tap_check(arrive(&first) == LACE_ACK_REPEATED &&
		  arrive(&second) == LACE_ACK_REPEATED,
		  "refused: marks twice");
	frame = answer();
	take(&frame);
	tap_check(counts(8, 0) && lace_ack_tx_drained(&tx, sent),
		  "both are answered");
}

static void check_window(void)
{
	struct lace_proto_frame frames[200];
	bool right = true;
	int i;

	setup(1);
	for (i = 0; i < 200; i++)
		frames[i] = mark(0);
	right &= arrive(&frames[100]) == LACE_ACK_TAKEN;
	right &= arrive(&frames[36]) == LACE_ACK_TAKEN;
	right &= arrive(&frames[35]) == LACE_ACK_REPEATED;
	right &= arrive(&frames[36]) == LACE_ACK_REPEATED;
	right &= arrive(&frames[101]) == LACE_ACK_TAKEN;
	right &= arrive(&frames[37]) == LACE_ACK_TAKEN;
	right &= arrive(&frames[36]) == LACE_ACK_REPEATED;
	right &= arrive(&frames[100]) == LACE_ACK_REPEATED;
	right &= arrive(&frames[165]) == LACE_ACK_TAKEN;
	right &= arrive(&frames[101]) == LACE_ACK_REPEATED;
	right &= arrive(&frames[102]) == LACE_ACK_TAKEN;
	right &= arrive(&frames[199]) == LACE_ACK_TAKEN;
	tap_check(right, "the window of marks and 64 before");
	/* Of 200 marks, the last 64 can be answered. */
	frames[0] = answer();
	right = frames[0].ack.bitmap == 1ULL << 33;
	frames[0].seq = 136;
	frames[0].time = frames[135].time;
	right &= take(&frames[0]) == LACE_ACK_NEVER_SENT;
	frames[0].seq = 137;
	right &= take(&frames[0]) == LACE_ACK_TAKEN;
	tap_check(right, "and that of answers");
}

static void check_stale_marks(void)
{
	struct lace_proto_frame old, frame;

	setup(1);
	old = mark(0);
	lace_ack_tx_start(&tx, 101, sent);
	exchange(0);
	tap_check(arrive(&old) == LACE_ACK_STALE,
		  "refused: a mark of an epoch gone by");
	tap_check(exchange(0) == LACE_ACK_TAKEN, "which changes nothing");

	/* A sender whose clock went back. */
	lace_ack_tx_start(&tx, 50, sent);
	frame = mark(0);
	tap_check(arrive(&frame) == LACE_ACK_STALE, "an epoch too small");
	lace_ack_rx_refuse(&rx, &frame, &frame);
	tap_check(take(&frame) == LACE_ACK_AHEAD && frame.ack.floor == 101,
		  "the sender is told");
	lace_ack_tx_start(&tx, frame.ack.floor + 1, sent);
	tap_check(exchange(0) == LACE_ACK_TAKEN, "and begins above it");
	tap_check(take(&frame) == LACE_ACK_STALE, "which is said once");
	frame = mark(0);
	lace_ack_rx_refuse(&rx, &frame, &frame);
	frame.ack.floor = 1ULL << 63;
	tap_check(take(&frame) == LACE_ACK_NEVER_SENT,
		  "refused: an epoch that there is none above");
}

/* Whether nothing that an answer could change is another than before. */
static bool same(const struct lace_ack_tx *before)
{
	return tx.epoch == before->epoch && tx.seq == before->seq &&
	       tx.best == before->best && tx.life == before->life &&
	       tx.number == before->number && tx.rtt == before->rtt &&
	       tx.settled == before->settled &&
	       tx.pulse.last == before->pulse.last &&
	       tx.packets.offset == before->packets.offset &&
	       tx.packets.lost == before->packets.lost &&
	       tx.packets.received == before->packets.received &&
	       tx.bytes.offset == before->bytes.offset &&
	       tx.bytes.received == before->bytes.received &&
	       queues[0].answered.packets == 0;
}

/* Each changed from a sound answer that then is taken. */
static void check_forged_answers(void)
{
	struct lace_proto_frame good, bad;
	struct lace_ack_tx before;

	setup(1);
	exchange(0);
	send(0, 5);
	receive(5);
	good = mark(0);
	arrive(&good);
	good = answer();
	before = tx;

	bad = good;
	bad.epoch++;
	bad.ack.floor++;
	tap_check(take(&bad) == LACE_ACK_STALE, "refused: another epoch");
	bad = good;
	bad.seq++;
	tap_check(take(&bad) == LACE_ACK_NEVER_SENT,
		  "refused: a mark that was not sent");
	bad = good;
	bad.seq += 64;
	tap_check(take(&bad) == LACE_ACK_NEVER_SENT,
		  "refused: one in the place of another");
	bad = good;
	bad.time++;
	tap_check(take(&bad) == LACE_ACK_NEVER_SENT,
		  "refused: a time that no mark had");
	bad = good;
	bad.ack.number = tx.number;
	tap_check(take(&bad) == LACE_ACK_REPEATED,
		  "refused: a number for the second time");
	bad = good;
	bad.ack.received.packets = bad.ack.marked.packets - 1;
	tap_check(take(&bad) == LACE_ACK_NEVER_SENT,
		  "refused: counts that go back");
	bad = good;
	bad.ack.marked.bytes = bad.ack.received.bytes = 0;
	bad.ack.marked.packets = bad.ack.received.packets = -1ULL;
	tap_check(take(&bad) == LACE_ACK_NEVER_SENT,
		  "refused: less than was received before");
	bad = good;
	bad.seq = tx.best;
	bad.time = tx.marks[tx.best].time;
	bad.ack.life++;
	tap_check(take(&bad) == LACE_ACK_STALE,
		  "refused: another life's answer to an old mark");
	tap_check(same(&before), "none changed anything");
	tap_check(take(&good) == LACE_ACK_TAKEN && counts(5, 0),
		  "the sound one is taken");
	tap_check(take(&good) == LACE_ACK_REPEATED, "refused: twice");
	lace_ack_tx_stop(&tx);
	tap_check(take(&good) == LACE_ACK_NEVER_SENT && counts(5, 0),
		  "refused: to a lane that leads nowhere");
}

static void check_receiver_restart(void)
{
	struct lace_proto_frame old;

	setup(1);
	exchange(0);
	send(0, 10);
	receive(8);
	exchange(0);
	old = mark(0);
	arrive(&old);
	old = answer();
	lace_ack_rx_start(&rx, 8);
	received = (struct lace_proto_count){};
	tap_check(exchange(0) == LACE_ACK_TAKEN && counts(8, 2),
		  "a receiver that restarts is recognised");
	tap_check(take(&old) == LACE_ACK_STALE,
		  "refused: an answer of its life before");
	send(0, 5);
	receive(4);
	exchange(0);
	tap_check(counts(12, 3), "counts go on from there");
}

static void check_sender_restart(void)
{
	setup(1);
	exchange(0);
	send(0, 10);
	receive(8);
	exchange(0);
	memset(&tx, 0, sizeof(tx));
	tx.queues = queues;
	tx.n_queues = 1;
	sent[0] = (struct lace_proto_count){};
	lace_ack_tx_start(&tx, 1000, sent);
	tap_check(exchange(0) == LACE_ACK_TAKEN && counts(0, 0),
		  "a sender that restarts is recognised");
	send(0, 3);
	receive(2);
	exchange(0);
	tap_check(counts(2, 1), "counts go on from there");
	send(0, 7);
	lace_ack_tx_start(&tx, 1001, sent);
	exchange(0);
	send(0, 1);
	receive(1);
	exchange(0);
	tap_check(counts(3, 1), "epochs add up");
}

static void check_urgency(void)
{
	struct lace_proto_frame frame;

	setup(1);
	exchange(0);
	send(0, 5);
	receive(5);
	frame = mark(0);
	arrive(&frame);
	tap_check(rx.due && !rx.urgent, "nothing missing: an answer in time");
	answer();
	send(0, 5);
	receive(4);
	frame = mark(0);
	arrive(&frame);
	tap_check(rx.due && rx.urgent, "one missing: an answer at once");
	answer();
	send(0, 5);
	receive(5);
	frame = mark(0);
	arrive(&frame);
	tap_check(rx.due && !rx.urgent, "none more: in time");
	answer();
	frame = mark(0);
	frame.flags = LACE_PROTO_URGENT;
	arrive(&frame);
	tap_check(rx.urgent, "asked for: at once");
}

static void check_pulse(void)
{
	struct lace_proto_frame frame;
	int i;

	setup(1);
	for (i = 0; i < 10; i++)
		lace_ack_tx_tick(&tx);
	tap_check(tx.pulse.state == LACE_LANE_STATE_UNVERIFIED,
		  "never answered: unverified, not dark");
	exchange(0);
	tap_check(tx.pulse.state == LACE_LANE_STATE_UP, "answered: up");
	tap_check(!lace_ack_tx_tick(&tx) && !lace_ack_tx_tick(&tx) &&
		  tx.pulse.state == LACE_LANE_STATE_UP,
		  "up for the interval and one more");
	frame = mark(0);
	tap_check(lace_ack_tx_tick(&tx) &&
		  tx.pulse.state == LACE_LANE_STATE_DARK, "then dark");
	arrive(&frame);
	frame = answer();
	tap_check(take(&frame) == LACE_ACK_TAKEN &&
		  tx.pulse.state == LACE_LANE_STATE_DARK,
		  "an answer to a mark from before does not make it up");
	tap_check(exchange(0) == LACE_ACK_TAKEN &&
		  tx.pulse.state == LACE_LANE_STATE_UP, "one from after does");
	for (i = 0; i < 20; i++) {
		exchange(0);
		if (lace_ack_tx_tick(&tx))
			break;
	}
	tap_check(i == 20, "up as long as it is answered");
	tap_check(lace_ack_tx_unplug(&tx) && !lace_ack_tx_unplug(&tx) &&
		  tx.pulse.state == LACE_LANE_STATE_DARK,
		  "dark at once without carrier, which is news once");
	for (i = 0; i < 2; i++)
		lace_ack_pulse_tick(&rx.pulse);
	tap_check(rx.pulse.state == LACE_LANE_STATE_UP, "the receiver: up");
	tap_check(lace_ack_pulse_tick(&rx.pulse) &&
		  rx.pulse.state == LACE_LANE_STATE_DARK, "and dark");
	lace_ack_tx_start(&tx, 200, sent);
	tap_check(tx.pulse.state == LACE_LANE_STATE_UNVERIFIED,
		  "unverified again when it leads elsewhere");
}

/* Until it is overdue: intervals, or more than there should be. */
static int age(void)
{
	int i;

	for (i = 0; i < 100 && !lace_ack_tx_is_overdue(&tx); i++) {
		exchange(0);
		lace_ack_tx_tick(&tx);
	}
	return i;
}

/* A damaged frame that was taken for a good one. */
static void check_renewal(void)
{
	struct lace_proto_frame frame;

	setup(1);
	exchange(0);
	send(0, 5);
	frame = mark(0);
	arrive(&frame);
	frame = answer();
	frame.ack.number = ~0ULL;
	take(&frame);
	tap_check(exchange(0) == LACE_ACK_REPEATED,
		  "a damaged answer has all others refused");
	tap_check(age() == 3 + LACE_ACK_RENEWAL, "a new epoch is due");
	send(0, 3);
	lace_ack_tx_renew(&tx, 101, sent);
	tap_check(tx.pulse.state == LACE_LANE_STATE_DARK &&
		  !lace_ack_tx_is_overdue(&tx) &&
		  !lace_ack_tx_drained(&tx, sent),
		  "then the lane is as it was, and not drained");
	tap_check(exchange(0) == LACE_ACK_TAKEN &&
		  tx.pulse.state == LACE_LANE_STATE_UP,
		  "and up with its first answer");
	frame = mark(0);
	frame.seq = ~0ULL >> 1;
	arrive(&frame);
	tap_check(exchange(0) != LACE_ACK_TAKEN,
		  "a damaged mark has all others refused");
	age();
	lace_ack_tx_renew(&tx, 102, sent);
	tap_check(exchange(0) == LACE_ACK_TAKEN, "in its epoch only");
	frame = mark(0);
	frame.flags = LACE_PROTO_STALE;
	frame.ack.floor = ~0ULL >> 1;
	tap_check(take(&frame) == LACE_ACK_NEVER_SENT,
		  "no epoch is above the last one");
}

int main(void)
{
	tap_plan(11 + 2 + 1 + 5 + 2 + 7 + 2 + 3 + 2 + 7 + 12 + 3 + 3 + 4 + 11 +
		 7);
	check_one_queue();
	check_late_data();
	check_wrap();
	check_queues();
	check_busy_start();
	check_turns();
	check_lost_marks();
	check_reordered_marks();
	check_window();
	check_stale_marks();
	check_forged_answers();
	check_receiver_restart();
	check_sender_restart();
	check_urgency();
	check_pulse();
	check_renewal();
	return tap_end();
}
