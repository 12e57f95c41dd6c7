// SPDX-License-Identifier: GPL-2.0
/*
 * The steering programs, run by the kernel on made-up packets
 * (BPF_PROG_TEST_RUN): which lane they take, and what lane_usage holds then.
 * Needs CAP_BPF, and no module.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/lace.h>
#include <linux/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../ebpf/steer.h"
#include "steer.skel.h"
#include "tap.h"

#define PEER 7
#define PAYLOAD 2896		/* two segments of 1448 bytes */
#define HEADERS (20 + 32)	/* IPv4, TCP with timestamps */

/* The kernel takes the Ethernet header away before it runs the program. */
struct packet {
	struct ethhdr eth;
	struct iphdr ip;
	struct tcphdr tcp;
	char options[12];
	char payload[PAYLOAD];
} __attribute__((packed));

static struct packet make_packet(void)
{
	struct packet packet = {
		.eth.h_proto = htons(ETH_P_IP),
		.ip = { .version = 4, .ihl = 5, .protocol = IPPROTO_TCP,
			.tot_len = htons(HEADERS + PAYLOAD) },
		.tcp.doff = 8,
	};

	return packet;
}

/* What the program answers, or -1. */
static int run(const struct bpf_program *program, __u32 ports, __u32 builtin,
	       __u32 segments)
{
	struct packet packet = make_packet();
	struct __sk_buff skb = {
		.cb = {
			[LACE_STEER_LANES] = __builtin_popcount(ports),
			[LACE_STEER_PORTS] = ports,
			[LACE_STEER_NEXT] = PEER,
			[LACE_STEER_BUILTIN] = builtin,
		},
		.gso_segs = segments > 1 ? segments : 0,
		.gso_size = segments > 1 ? PAYLOAD / segments : 0,
	};
	LIBBPF_OPTS(bpf_test_run_opts, opts,
		    .data_in = &packet, .data_size_in = sizeof(packet),
		    .ctx_in = &skb, .ctx_size_in = sizeof(skb));

	if (bpf_prog_test_run_opts(bpf_program__fd(program), &opts))
		return -1;
	return opts.retval;
}

static struct lane_usage usage_of(struct steer_bpf *skel, __u32 port)
{
	struct lane_usage_key key = { PEER, port };
	struct lane_usage usage = {};

	bpf_map_lookup_elem(bpf_map__fd(skel->maps.lane_usage), &key, &usage);
	return usage;
}

static void forget_usage(struct steer_bpf *skel)
{
	int fd = bpf_map__fd(skel->maps.lane_usage);
	struct lane_usage_key key = { PEER, 0 };

	for (; key.port < LACE_MAX_PORTS; key.port++)
		bpf_map_delete_elem(fd, &key);
}

static void test_builtin(struct steer_bpf *skel)
{
	bool right = true;
	__u32 i;

	for (i = 0; i < 3; i++)
		right &= run(skel->progs.steer_builtin, 0x80000012, i, 1) ==
			 (int)i;
	tap_check(right, "builtin takes what the module would take");
	tap_check(usage_of(skel, 1).packets == 1 && usage_of(skel, 4).packets == 1 &&
	      usage_of(skel, 31).packets == 1,
	      "usage is counted by port, not by index");
	forget_usage(skel);
}

static void test_weight(struct steer_bpf *skel)
{
	run(skel->progs.steer_builtin, 1, 0, 1);
	tap_check(usage_of(skel, 0).bytes == ETH_HLEN + HEADERS + PAYLOAD,
	      "one frame counts with its Ethernet header");
	forget_usage(skel);
	run(skel->progs.steer_builtin, 1, 0, 2);
	tap_check(usage_of(skel, 0).packets == 2 &&
	      usage_of(skel, 0).bytes == 2 * (ETH_HLEN + HEADERS) + PAYLOAD,
	      "a GSO packet counts as the frames that it becomes");
	tap_check(usage_of(skel, 0).last_ns != 0, "usage says when it was last");
	forget_usage(skel);
}

static void test_hash(struct steer_bpf *skel)
{
	bool right = true;
	__u32 ports, i;
	int first;

	for (ports = 1; ports != UINT32_MAX; ports = ports << 1 | 1) {
		first = run(skel->progs.steer_hash, ports, 0, 1);
		right &= first >= 0 && first < __builtin_popcount(ports);
		for (i = 0; i < 3; i++)
			right &= run(skel->progs.steer_hash, ports, 0, 1) ==
				 first;
	}
	tap_check(right, "hash keeps a flow on one of the lanes offered");
	forget_usage(skel);
}

static void test_weighted(struct steer_bpf *skel)
{
	int answer;
	__u32 i;

	for (i = 0; i < 60; i++)
		run(skel->progs.steer_weighted, 0x0b, 0, 1);
	tap_check(usage_of(skel, 0).packets == 10 && usage_of(skel, 1).packets == 20 &&
	      usage_of(skel, 3).packets == 30,
	      "weighted gives each port its share");
	forget_usage(skel);
	for (i = 0; i < 60; i++)
		run(skel->progs.steer_weighted, 0x06, 0, 1);
	tap_check(usage_of(skel, 1).packets == 60 && !usage_of(skel, 2).packets,
	      "weighted leaves out a port of weight 0");
	forget_usage(skel);
	answer = run(skel->progs.steer_weighted, 0x14, 1, 1);
	tap_check(answer == 1 && usage_of(skel, 4).packets == 1,
	      "weighted follows the module where no port has a weight");
	forget_usage(skel);
}

int main(void)
{
	struct steer_bpf *skel;

	skel = steer_bpf__open();
	if (skel) {
		skel->rodata->port_weight[0] = 1;
		skel->rodata->port_weight[1] = 2;
		skel->rodata->port_weight[3] = 3;
	}
	if (skel && steer_bpf__load(skel) && errno == EPERM) {
		printf("1..0 # SKIP needs CAP_BPF\n");
		return 4;
	}
	tap_plan(9);
	if (skel && bpf_program__fd(skel->progs.steer_builtin) >= 0) {
		test_builtin(skel);
		test_weight(skel);
		test_hash(skel);
		test_weighted(skel);
	}
	steer_bpf__destroy(skel);
	return tap_end();
}
