// SPDX-License-Identifier: GPL-2.0
/*
 * What lanes have carried as a table, one line an entry of lace_lane_usage.
 * "lacectl trace on" pins it as "lanes", for cat; "bpftool iter pin" takes it for
 * any map of that layout.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "trace.h"

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 seq_num;
} __attribute__((preserve_access_index));

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	void *key;
	void *value;
} __attribute__((preserve_access_index));

SEC("iter/bpf_map_elem")
int lace_lanes(struct bpf_iter__bpf_map_elem *ctx)
{
	const struct trace_usage_key *key = ctx->key;
	const struct trace_usage *usage = ctx->value;
	struct seq_file *seq = ctx->meta->seq;

	if (!ctx->meta->seq_num)
		BPF_SEQ_PRINTF(seq,
			       "netns ifindex port dir peer segment packets bytes busy_ns last_ns\n");
	if (!key || !usage)
		return 0;
	BPF_SEQ_PRINTF(seq, "%u %u %u %s ", key->netns, key->ifindex, key->port,
		       key->dir == TRACE_TX ? "tx" : "rx");
	BPF_SEQ_PRINTF(seq, "%u %u %llu %llu %llu %llu\n", key->peer,
		       key->segment, usage->packets, usage->bytes,
		       usage->busy_ns, usage->last_ns);
	return 0;
}

char _license[] SEC("license") = "GPL";
