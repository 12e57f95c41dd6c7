// SPDX-License-Identifier: GPL-2.0
/*
 * The steering programs, run by the kernel on made-up packets
 * (BPF_PROG_TEST_RUN): which lane they take, and what lane_usage holds then.
 * Needs CAP_BPF, and no module.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/lace.h>
#include <linux/lace_steer.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../ebpf/steer.h"
#include "steer_builtin.skel.h"
#include "steer_flowlet.skel.h"
#include "steer_hash.skel.h"
#include "steer_pin.skel.h"
#include "steer_spread.skel.h"
#include "steer_weighted.skel.h"
#include "tap.h"

#define PEER 7
#define GAP_NS 300000000ULL

/* A program that ships, loaded. */
struct steerer {
	struct bpf_object *object;
	int fd, context_fd, usage_fd;
};

static void load(struct steerer *steerer, const void *bytes, size_t size)
{
	const struct steer_options options = {
		.weight = { [0] = 1, [1] = 2, [3] = 3 },
		.gap_ns = GAP_NS,
	};
	struct bpf_map *map;

	memset(steerer, 0, sizeof(*steerer));
	steerer->fd = -1;
	steerer->object = bpf_object__open_mem(bytes, size, NULL);
	if (!steerer->object)
		return;
	bpf_object__for_each_map(map, steerer->object)
		if (strstr(bpf_map__name(map), ".rodata"))
			bpf_map__set_initial_value(map, &options,
						   sizeof(options));
	if (bpf_object__load(steerer->object))
		return;
	steerer->fd = bpf_program__fd(
		bpf_object__next_program(steerer->object, NULL));
	steerer->context_fd = bpf_object__find_map_fd_by_name(steerer->object,
							      LACE_STEER_MAP);
	steerer->usage_fd = bpf_object__find_map_fd_by_name(steerer->object,
							    "lane_usage");
}

/* What the module would tell of a TCP packet and of those ports, all alike. */
static struct lace_steer_context offer(__u32 ports)
{
	struct lace_steer_context context = {
		.version = LACE_STEER_VERSION,
		.flags = LACE_STEER_TCP,
		.ports = ports,
		.next = PEER,
		.frames = 1,
		.bytes = 1000,
	};
	__u32 port;

	for (port = 0; port < LACE_MAX_PORTS; port++)
		if (ports >> port & 1)
			context.lane[context.lanes++].port = port;
	return context;
}

/* On every processor: the kernel takes whichever it likes. */
static void tell(const struct steerer *steerer,
		 const struct lace_steer_context *context)
{
	int i, nr = libbpf_num_possible_cpus();
	struct lace_steer_context *values = calloc(nr, sizeof(*values));
	__u32 first = 0;

	for (i = 0; values && i < nr; i++)
		values[i] = *context;
	if (values)
		bpf_map_update_elem(steerer->context_fd, &first, values, 0);
	free(values);
}

/* What the program answers, or -1. */
static int run(const struct steerer *steerer,
	       const struct lace_steer_context *context)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	char packet[ETH_HLEN + 40] = { [12] = 8, [ETH_HLEN] = 0x45 };

	opts.data_in = packet;
	opts.data_size_in = sizeof(packet);
	tell(steerer, context);
	if (bpf_prog_test_run_opts(steerer->fd, &opts))
		return -1;
	return opts.retval;
}

static struct lane_usage usage_of(const struct steerer *steerer, __u32 port)
{
	struct lane_usage_key key = { PEER, port };
	struct lane_usage usage = {};

	bpf_map_lookup_elem(steerer->usage_fd, &key, &usage);
	return usage;
}

static void forget_usage(const struct steerer *steerer)
{
	struct lane_usage_key key = { PEER, 0 };

	for (; key.port < LACE_MAX_PORTS; key.port++)
		bpf_map_delete_elem(steerer->usage_fd, &key);
}

static void test_builtin(const struct steerer *builtin)
{
	struct lace_steer_context context = offer(0x80000012);
	bool right = true;
	__u32 i;

	for (i = 0; i < 3; i++) {
		context.builtin = i;
		right &= run(builtin, &context) == (int)i;
	}
	tap_check(right, "builtin takes what the module would take");
	tap_check(usage_of(builtin, 1).packets == 1 &&
		  usage_of(builtin, 4).packets == 1 &&
		  usage_of(builtin, 31).packets == 1,
		  "usage is counted by port, not by index");
	forget_usage(builtin);
	context.frames = 2;
	context.bytes = 3000;
	context.builtin = 0;
	run(builtin, &context);
	tap_check(usage_of(builtin, 1).packets == 2 &&
		  usage_of(builtin, 1).bytes == 3000,
		  "a GSO packet counts as the frames that it becomes");
	tap_check(usage_of(builtin, 1).last_ns != 0,
		  "usage says when it was last");
	context.builtin = 3;
	tap_check(run(builtin, &context) == 3 &&
		  usage_of(builtin, 31).packets == 0,
		  "what is not offered is not counted");
}

static void test_spread(const struct steerer *spread)
{
	struct lace_steer_context context = offer(~0U);
	bool right = true;
	__u32 i, j;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		for (j = 0; j < LACE_MAX_PORTS; j++)
			context.lane[j].wait = j == i ? 10 : 20 + j;
		right &= run(spread, &context) == (int)i;
	}
	tap_check(right, "spread takes the lane that is free first");
	for (j = 0; j < LACE_MAX_PORTS; j++) {
		context.lane[j].wait = 10;
		context.lane[j].sent = j == 5 ? -3ULL : j;
	}
	tap_check(run(spread, &context) == 5,
		  "of those alike the one that sent least, over a wrap");
	context.flags = 0;
	context.builtin = 9;
	tap_check(run(spread, &context) == 9,
		  "what is not TCP goes where the module has it");
	context.lanes = 1;
	context.flags = LACE_STEER_TCP;
	tap_check(run(spread, &context) == 0, "one lane is no choice");
}

static void test_hash(const struct steerer *hash)
{
	struct lace_steer_context context;
	bool right = true;
	__u32 ports, i;
	int first;

	for (ports = 1; ports != UINT32_MAX; ports = ports << 1 | 1) {
		context = offer(ports);
		context.hash = ports * 2654435761U;
		first = run(hash, &context);
		right &= first >= 0 && first < (int)context.lanes;
		for (i = 0; i < 3; i++) {
			context.lane[first].wait += 1000;
			right &= run(hash, &context) == first;
		}
	}
	tap_check(right, "hash keeps a flow on one of the lanes offered");
}

static void test_weighted(const struct steerer *weighted)
{
	struct lace_steer_context context = offer(0x0b);
	__u32 i;

	for (i = 0; i < 60; i++)
		run(weighted, &context);
	tap_check(usage_of(weighted, 0).packets == 10 &&
		  usage_of(weighted, 1).packets == 20 &&
		  usage_of(weighted, 3).packets == 30,
		  "weighted gives each port its share");
	forget_usage(weighted);
	context = offer(0x06);
	for (i = 0; i < 60; i++)
		run(weighted, &context);
	tap_check(usage_of(weighted, 1).packets == 60 &&
		  !usage_of(weighted, 2).packets,
		  "weighted leaves out a port of weight 0");
	context = offer(0x14);
	context.builtin = 1;
	tap_check(run(weighted, &context) == 1 &&
		  usage_of(weighted, 4).packets == 1,
		  "weighted follows the module where no port has a weight");
}

static void test_pin(const struct steerer *pin)
{
	struct lace_steer_context context = offer(0x1e);
	int lane_of[8], flows[4] = {}, hash, round;
	bool kept = true;

	for (hash = 0; hash < 8; hash++) {
		context.hash = hash;
		lane_of[hash] = run(pin, &context);
		if (lane_of[hash] >= 0 && lane_of[hash] < 4)
			flows[lane_of[hash]]++;
	}
	tap_check(flows[0] == 2 && flows[1] == 2 && flows[2] == 2 &&
		  flows[3] == 2, "pin gives each lane as many flows");
	for (round = 0; round < 3; round++) {
		for (hash = 0; hash < 8; hash++) {
			context.hash = hash;
			context.lane[lane_of[hash]].wait += 1000;
			kept &= run(pin, &context) == lane_of[hash];
		}
	}
	tap_check(kept, "a flow stays where it is, however much waits there");
	context.hash = 3;
	context.flags = LACE_STEER_TCP | LACE_STEER_END;
	tap_check(run(pin, &context) == lane_of[3], "so does its end");
	context.hash = 99;
	context.flags = LACE_STEER_TCP | LACE_STEER_SYN;
	tap_check(run(pin, &context) == lane_of[3],
		  "the next flow takes the place of one that ended");
	context = offer(0x1e & ~(1 << (1 + lane_of[0])));
	context.hash = 0;
	hash = run(pin, &context);
	tap_check(hash >= 0 && hash < 3, "a flow leaves a lane that is gone");
	context.hash = 1234;
	context.flags = LACE_STEER_TCP | LACE_STEER_ACK;
	context.lane[0].wait = context.lane[1].wait = 9;
	tap_check(run(pin, &context) == 2,
		  "acknowledgments alone take the lane that is free first");
}

static void test_flowlet(const struct steerer *flowlet)
{
	struct timespec gap = { .tv_nsec = GAP_NS + 50000000 };
	struct lace_steer_context context = offer(0x30);
	bool moved;

	context.lane[0].wait = 5;
	moved = run(flowlet, &context) != 1;
	context.lane[1].wait = 9;
	moved |= run(flowlet, &context) != 1;
	moved |= run(flowlet, &context) != 1;
	tap_check(!moved, "a flow stays on its lane while it sends");
	nanosleep(&gap, NULL);
	tap_check(run(flowlet, &context) == 0,
		  "after a gap it takes the lane that is free first");
	context.hash = 77;
	context.lane[1].wait = 0;
	tap_check(run(flowlet, &context) == 1, "each flow has gaps of its own");
	context = offer(0x10);
	context.hash = 77;
	tap_check(run(flowlet, &context) == 0,
		  "a flow leaves a lane that is gone");
}

static const struct {
	const void *(*bytes)(size_t *size);
	void (*test)(const struct steerer *steerer);
} tests[] = {
	{ steer_builtin_bpf__elf_bytes, test_builtin },
	{ steer_spread_bpf__elf_bytes, test_spread },
	{ steer_hash_bpf__elf_bytes, test_hash },
	{ steer_weighted_bpf__elf_bytes, test_weighted },
	{ steer_pin_bpf__elf_bytes, test_pin },
	{ steer_flowlet_bpf__elf_bytes, test_flowlet },
};

int main(void)
{
	struct steerer steerer;
	const void *bytes;
	size_t i, size;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		bytes = tests[i].bytes(&size);
		load(&steerer, bytes, size);
		if (!i && steerer.fd < 0 && errno == EPERM) {
			printf("1..0 # SKIP needs CAP_BPF\n");
			return 4;
		}
		if (!i)
			tap_plan(23);
		if (steerer.fd >= 0)
			tests[i].test(&steerer);
		bpf_object__close(steerer.object);
	}
	return tap_end();
}
