// SPDX-License-Identifier: GPL-2.0
/*
 * The module's resequencing, in user space: segments of one flow are put on
 * lanes at random, each lane delays them as it likes but keeps their order, and
 * some get lost or come twice. What must come out is known from how they were
 * sent.
 */
#include "../../kmod/reorder_core.c"

#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

#define MS NS_PER_MS
#define MAX_SENT 4000
#define ALL_LANES(n) ((1ULL << (n)) - 1)

struct packet {
	struct lace_piece piece;
	u64 at;			/* when it comes in */
	unsigned int index;	/* among those sent */
	u64 begin, stop;	/* as piece.seq and .end, but they never wrap */
	bool lost;
	unsigned int times_out;
	u64 out_at;
};

struct flow {
	struct lace_order order;
	struct lace_order_path path;
	struct lace_order_limits limits;
	unsigned int n_lanes;
	unsigned int n;
	struct packet packets[MAX_SENT];
	u64 now;
	u64 reached;		/* begin of the last that came out */
	u64 brought[LACE_ORDER_LANES];	/* stop of the last from each lane */
	unsigned int released[LACE_ORDER_REASONS];
	unsigned int n_out, n_overtaken, n_late, n_in_order, n_held, depth;
	bool sound;
};

static u64 random_state;

static u32 random_below(u32 limit)
{
	random_state = random_state * 6364136223846793005ULL +
		       1442695040888963407ULL;
	return (random_state >> 33) % limit;
}

static void flow_begin(struct flow *flow, unsigned int n_lanes, u64 seed)
{
	memset(flow, 0, sizeof(*flow));
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	flow->n_lanes = n_lanes;
	flow->path = (struct lace_order_path){ ALL_LANES(n_lanes), true };
	flow->limits = (struct lace_order_limits){ 50 * MS, 1024, 4U << 20 };
	flow->sound = true;
}

/* Send n segments, a few microseconds apart, the first at sequence number
 * first. skew: by how much lanes may differ at most.
 */
static void flow_send(struct flow *flow, unsigned int n, u64 first, u64 skew,
		      unsigned int loss_percent)
{
	u64 last_at[LACE_ORDER_LANES] = {};
	u64 begin = first, sent_at = 1000 * MS;
	struct packet *packet;
	unsigned int i, lane;

	lace_order_init(&flow->order, (u32)first, 0);
	flow->n = n;
	for (i = 0; i < n; i++) {
		packet = &flow->packets[i];
		lane = random_below(flow->n_lanes);
		sent_at += random_below(100) * 1000;
		packet->index = i;
		packet->begin = begin;
		packet->stop = begin + 1 + random_below(random_below(4) ?
							1448 : 65536);
		packet->at = sent_at + (skew ? random_below(skew) : 0);
		/* A fibre has no overtaking. */
		if (packet->at <= last_at[lane])
			packet->at = last_at[lane] + 1;
		last_at[lane] = packet->at;
		packet->lost = random_below(100) < loss_percent;
		packet->piece = (struct lace_piece){
			.seq = (u32)packet->begin,
			.end = (u32)packet->stop,
			.size = packet->stop - packet->begin + 256,
			.lane = lane,
		};
		begin = packet->stop;
	}
}

static void fault(struct flow *flow, const char *what)
{
	if (flow->sound)
		tap_note("%s, at %llu ns", what, (unsigned long long)flow->now);
	flow->sound = false;
}

static void take(struct flow *flow, const struct lace_order_result *result)
{
	const struct lace_piece *piece;
	struct packet *packet;
	unsigned int i;

	for (i = 0; i < LACE_ORDER_REASONS; i++)
		flow->released[i] += result->released[i];
	flow->n_late += result->late;
	flow->n_in_order += result->in_order;
	flow->n_held += result->held;
	for (piece = result->out.first; piece; piece = piece->next) {
		packet = (struct packet *)piece;
		flow->n_out++;
		packet->out_at = flow->now;
		if (packet->times_out++)
			fault(flow, "a segment came out twice");
		if (flow->now - packet->at > flow->limits.wait)
			fault(flow, "a segment waited for too long");
		if (packet->begin < flow->reached)
			flow->n_overtaken++;
		flow->reached = packet->begin;
	}
	if (flow->order.n_held > flow->limits.pieces ||
	    flow->order.bytes > flow->limits.bytes)
		fault(flow, "more is held than may be");
	if (flow->order.n_held > flow->depth)
		flow->depth = flow->order.n_held;
}

static void pass_time(struct flow *flow, u64 until)
{
	struct lace_order_result result;
	u64 deadline;

	for (;;) {
		deadline = lace_order_deadline(&flow->order, &flow->limits);
		if (!deadline || deadline > until)
			break;
		flow->now = deadline > flow->now ? deadline : flow->now;
		lace_order_expire(&flow->order, &flow->path, &flow->limits,
				  flow->now, &result);
		take(flow, &result);
		if (!result.out.first) {
			fault(flow, "a deadline lets nothing go");
			break;
		}
	}
	flow->now = until;
}

static void receive(struct flow *flow, struct packet *packet)
{
	struct lace_order_result result;

	pass_time(flow, packet->at);
	lace_order_receive(&flow->order, &packet->piece, &flow->path,
			   &flow->limits, flow->now, &result);
	take(flow, &result);
	if (packet->stop > flow->brought[packet->piece.lane])
		flow->brought[packet->piece.lane] = packet->stop;
}

/* What waits does so for a lane that may still bring what is missing, which
 * is known here from all that the lanes have brought.
 */
static void check_patience(struct flow *flow)
{
	const struct packet *first = (struct packet *)flow->order.held.first;
	unsigned int lane;

	if (!first)
		return;
	for (lane = 0; lane < flow->n_lanes; lane++)
		if (flow->brought[lane] < first->begin)
			return;
	fault(flow, "it is waited for what is lost");
}

static int by_arrival(const void *a, const void *b)
{
	const struct packet *left = *(struct packet *const *)a;
	const struct packet *right = *(struct packet *const *)b;

	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

/* Everything comes in at its time. Returns how many did. */
static unsigned int flow_run(struct flow *flow, bool patience)
{
	static struct packet *queue[MAX_SENT];
	unsigned int i, n = 0;

	for (i = 0; i < flow->n; i++)
		if (!flow->packets[i].lost)
			queue[n++] = &flow->packets[i];
	qsort(queue, n, sizeof(*queue), by_arrival);
	for (i = 0; i < n; i++) {
		receive(flow, queue[i]);
		if (patience)
			check_patience(flow);
	}
	pass_time(flow, flow->now + 1000 * MS);
	return n;
}

static bool all_out(struct flow *flow, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < flow->n; i++)
		if (flow->packets[i].times_out != !flow->packets[i].lost)
			fault(flow, "a segment did not come out");
	if (flow->order.held.first || flow->order.n_held || flow->order.bytes ||
	    flow->order.passed)
		fault(flow, "something is left");
	return flow->sound && flow->n_out == n;
}

static struct flow flow;

/* Sequence numbers that wrap, or that change sign, within the run. */
static u64 random_start(void)
{
	static const u64 starts[] = { 0, 0xffff0000, 0x7fff0000, 0xff000000 };

	return starts[random_below(4)] + random_below(65536);
}

static bool without_loss(u64 seed)
{
	unsigned int n;

	flow_begin(&flow, 1 + seed % 8, seed);
	flow_send(&flow, 1000, random_start(), seed % 3 ? 4 * MS : 0, 0);
	n = flow_run(&flow, true);
	return all_out(&flow, n) && !flow.n_overtaken &&
	       flow.n_in_order + flow.n_held == n &&
	       flow.released[LACE_ORDER_FILLED] == flow.n_held;
}

/* What is let go too early is overtaken, what is let go too late is seen by
 * check_patience().
 */
static bool with_loss(u64 seed)
{
	unsigned int n, i, sum = 0;

	flow_begin(&flow, 1 + seed % 8, seed);
	/* So long that the time is never over but at the end. */
	flow.limits.wait = 400 * MS;
	flow.limits.pieces = MAX_SENT;
	flow.limits.bytes = ~0U;
	flow_send(&flow, 1000, random_start(), 4 * MS, seed % 20);
	n = flow_run(&flow, true);
	for (i = 0; i < LACE_ORDER_REASONS; i++)
		sum += flow.released[i];
	return all_out(&flow, n) && !flow.n_overtaken && sum == flow.n_held;
}

/* Larger than the time that is allowed at first, but not than the limit. */
static bool adapts(u64 seed)
{
	unsigned int n;

	flow_begin(&flow, 2 + seed % 3, seed);
	flow_send(&flow, 2000, random_start(), 45 * MS, 0);
	n = flow_run(&flow, false);
	return all_out(&flow, n) && flow.n_overtaken <= 8 &&
	       flow.n_late <= flow.n_overtaken;
}

static bool chaos(u64 seed)
{
	unsigned int n, i, j;

	flow_begin(&flow, 1 + seed % 8, seed);
	flow.limits.pieces = 1 + random_below(64);
	flow.limits.bytes = random_below(4) ? 1U << 20 : random_below(65536);
	flow.path.fifo = seed & 1;
	flow_send(&flow, 3000, random_start(), 20 * MS, 5);
	for (i = 0; i < 400; i++) {	/* again, or at another time */
		j = random_below(flow.n);
		n = random_below(flow.n);
		flow.packets[j].begin = flow.packets[n].begin;
		flow.packets[j].stop = flow.packets[n].stop;
		flow.packets[j].piece.seq = flow.packets[n].piece.seq;
		flow.packets[j].piece.end = flow.packets[n].piece.end;
		flow.packets[random_below(flow.n)].at += random_below(40 * MS);
	}
	n = flow_run(&flow, false);
	return all_out(&flow, n);
}

static void repeat(bool (*run)(u64 seed), unsigned int times, const char *name)
{
	u64 seed;

	for (seed = 1; seed <= times; seed++)
		if (!run(seed)) {
			tap_note("seed %llu", (unsigned long long)seed);
			break;
		}
	tap_check(seed > times, "%s", name);
}

/* By hand: segments of 100 bytes from 1000 on, one by one. */

static void by_hand(u32 first)
{
	flow_begin(&flow, 2, 1);
	lace_order_init(&flow.order, first, 0);
}

/* Number `number' comes on a lane at a time; how many come out. */
static unsigned int come(u32 first, int number, u8 lane, u64 at)
{
	struct packet *packet = &flow.packets[flow.n++];
	unsigned int before;

	*packet = (struct packet){
		.at = at,
		.begin = 1ULL << 32,
		.piece = { .seq = first + 100 * number,
			   .end = first + 100 * number + 100,
			   .size = 100, .lane = lane },
	};
	pass_time(&flow, at);
	before = flow.n_out;
	receive(&flow, packet);
	return flow.n_out - before;
}

static void test_loss_rule(void)
{
	const u32 first = 0xffffff80;

	by_hand(first);
	tap_check(come(first, 0, 0, 1) == 1 && come(first, 2, 0, 2) == 0 &&
		  come(first, 3, 0, 3) == 0,
		  "what may come on the other lane is waited for");
	tap_check(come(first, 4, 1, 4) == 3 && flow.order.n_held == 0 &&
		  flow.released[LACE_ORDER_LOST] == 3,
		  "it is lost as soon as all lanes have brought later segments");
	tap_check(come(first, 1, 0, 5) == 1 && !flow.n_late &&
		  come(first, 5, 0, 6) == 1,
		  "a retransmission passes, and the flow goes on");
	tap_check(come(first, 7, 0, 7) == 0 && come(first, 9, 1, 8) == 1 &&
		  come(first, 8, 0, 9) == 2,
		  "after one gap the next is judged by itself");
}

static void test_idle_lane(void)
{
	u64 waited;

	by_hand(0);
	come(0, 0, 0, MS);
	come(0, 2, 0, 2 * MS);
	pass_time(&flow, 100 * MS);
	waited = flow.packets[1].out_at - 2 * MS;
	tap_check(waited == WAIT_PER_SKEW * FIRST_SKEW &&
		  flow.released[LACE_ORDER_EXPIRED] == 1,
		  "a lane that the flow does not use is waited for once");
	tap_check(come(0, 4, 0, 101 * MS) == 1 &&
		  flow.released[LACE_ORDER_LOST] == 1,
		  "and not again");
	come(0, 5, 1, 102 * MS);
	tap_check(come(0, 7, 1, 103 * MS) == 0 &&
		  come(0, 6, 0, 104 * MS) == 2,
		  "until something comes on it");
}

static void test_relayed(void)
{
	by_hand(0);
	flow.path.fifo = false;
	come(0, 0, 0, 1);
	tap_check(!come(0, 2, 0, 2) && !come(0, 3, 1, 3) && !come(0, 4, 1, 4) &&
		  come(0, 1, 1, 5) == 4 && !flow.released[LACE_ORDER_LOST],
		  "what was relayed may come in any order");
}

static void test_time(void)
{
	u64 deadline;

	by_hand(0);
	come(0, 2, 0, 10 * MS);
	come(0, 4, 0, 12 * MS);
	come(0, 1, 0, 13 * MS);
	deadline = lace_order_deadline(&flow.order, &flow.limits);
	come(0, 0, 1, 14 * MS);
	tap_check(deadline == 20 * MS &&
		  lace_order_deadline(&flow.order, &flow.limits) > 20 * MS,
		  "the one that has waited longest sets the deadline");
	flow.limits.wait = 1 * MS;
	tap_check(lace_order_deadline(&flow.order, &flow.limits) == 13 * MS,
		  "the limit is the most that is allowed");
}

static void test_late(void)
{
	u64 wait;

	by_hand(0);
	come(0, 1, 0, 1 * MS);
	pass_time(&flow, 12 * MS);
	tap_check(come(0, 0, 1, 25 * MS) == 1 && flow.n_late == 1 &&
		  come(0, 0, 1, 26 * MS) == 1 && flow.n_late == 1,
		  "what comes after its time is late, once");
	come(0, 3, 0, 30 * MS);
	wait = lace_order_deadline(&flow.order, &flow.limits) - 30 * MS;
	tap_check(wait == 50 * MS, "and it is waited for longer, up to the limit");
	lace_order_init(&flow.order, 0, 10 * MS);
	come(0, 1, 0, 40 * MS);
	tap_check(lace_order_deadline(&flow.order, &flow.limits) == 80 * MS,
		  "a new flow begins with the skew that is known");
}

static void test_overflow(void)
{
	unsigned int i;

	by_hand(0);
	flow.limits.pieces = 10;
	for (i = 1; i <= 10; i++)
		come(0, 2 * i, 0, i);
	tap_check(flow.n_out == 0 && come(0, 22, 0, 11) == 1 &&
		  flow.released[LACE_ORDER_OVERFLOW] == 1,
		  "one too many lets the first go");
	flow.limits.bytes = 0;
	tap_check(come(0, 24, 0, 12) == 11 && flow.order.bytes == 0,
		  "no memory lets all go");
}

static void test_restart(void)
{
	struct lace_order_result result = {};
	const u32 far = 1U << 31;
	unsigned int i;

	by_hand(0);
	come(0, 1, 0, 1);
	tap_check(come(far, 0, 1, 2) == 2 && come(far, 1, 0, 3) == 1 &&
		  flow.n_in_order == 1,
		  "a segment from elsewhere begins anew");
	tap_check(come(far - 1000000, 0, 1, 4) == 1 &&
		  come(far, 2, 1, 5) == 1 && flow.n_in_order == 2,
		  "one old segment does not");
	for (i = 0; i <= TOO_OLD; i++)
		come(far - 1000000, i, 1, 6 + i);
	tap_check(come(far - 1000000, i, 0, 1000) == 1 && flow.n_in_order == 3,
		  "many old ones in a row do");
	come(far - 1000000, i + 5, 0, 1001);
	come(far - 1000000, i + 3, 0, 1002);
	lace_order_flush(&flow.order, &result);
	tap_check(result.out.first &&
		  result.out.first->seq == far - 1000000 + 100 * (i + 3) &&
		  result.released[LACE_ORDER_FLUSHED] == 2 &&
		  !flow.order.n_held && !flow.order.passed,
		  "a flush lets all go, in order");
}

int main(void)
{
	tap_plan(23);
	repeat(without_loss, 400, "without loss all comes out in order");
	repeat(with_loss, 400, "lost segments are not waited for");
	repeat(adapts, 100, "the time allowed adapts to the skew");
	repeat(chaos, 400, "nothing is lost or made, whatever comes");
	test_loss_rule();
	test_idle_lane();
	test_relayed();
	test_time();
	test_late();
	test_overflow();
	test_restart();
	return tap_end();
}
