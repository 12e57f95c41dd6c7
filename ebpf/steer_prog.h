/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all steering programs need: the context that the module fills, and the
 * map in which "lacectl -s steer show" and bpftool see what was sent where.
 *
 * A program is one SEC("socket") function that decides on a lane and ends with
 * return take(context, index).
 */
#ifndef LACE_EBPF_STEER_PROG_H
#define LACE_EBPF_STEER_PROG_H

#include <linux/bpf.h>
#include <linux/lace.h>
#include <linux/lace_steer.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

#include "steer.h"

#define MAX_PEERS 4096

/* No lane has that number, so the module decides. */
#define STEER_NO_CHOICE (~0U)

const volatile struct steer_options options;

/* The name is what the module looks for. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lace_steer_context);
} lace_steer SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4 * MAX_PEERS);
	__type(key, struct lane_usage_key);
	__type(value, struct lane_usage);
} lane_usage SEC(".maps");

static __always_inline const struct lace_steer_context *steer_context(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&lace_steer, &first);
}

/* The lane offered as number index, or NULL. */
static __always_inline const struct lace_steer_lane *
offered(const struct lace_steer_context *context, __u32 index)
{
	__u64 bounded = index;

	if (index >= context->lanes)
		return NULL;
	/* For the verifier; a compiler would know that it changes nothing, and
	 * check a copy.
	 */
	asm volatile("%0 &= %1"
		     : "+r"(bounded)
		     : "i"(LACE_STEER_MAX_LANES - 1));
	return &context->lane[bounded];
}

/* The index of the lane of a port, or STEER_NO_CHOICE. */
static __always_inline __u32
index_of_port(const struct lace_steer_context *context, __u32 port)
{
	if (port >= LACE_MAX_PORTS || !(context->ports >> port & 1))
		return STEER_NO_CHOICE;
	return __builtin_popcount(context->ports & ((1U << port) - 1));
}

static __always_inline void count(const struct lace_steer_context *context,
				  __u32 port)
{
	struct lane_usage_key key = { .peer = context->next, .port = port };
	struct lane_usage *usage, fresh = {};

	usage = bpf_map_lookup_elem(&lane_usage, &key);
	if (!usage) {
		bpf_map_update_elem(&lane_usage, &key, &fresh, BPF_NOEXIST);
		usage = bpf_map_lookup_elem(&lane_usage, &key);
		if (!usage)
			return;
	}
	__sync_fetch_and_add(&usage->packets, context->frames);
	__sync_fetch_and_add(&usage->bytes, context->bytes);
	usage->last_ns = bpf_ktime_get_ns();
}

/* Count the packet on the lane, and answer with it. */
static __always_inline int take(const struct lace_steer_context *context,
				__u32 index)
{
	const struct lace_steer_lane *lane = offered(context, index);

	if (lane)
		count(context, lane->port);
	return index;
}

struct steer_search {
	const struct lace_steer_context *context;
	__u64 wait, sent;
	__u32 best;
};

static long search_first_free(__u32 index, struct steer_search *search)
{
	const struct lace_steer_lane *lane = offered(search->context, index);

	if (!lane || lane->wait > search->wait ||
	    (lane->wait == search->wait &&
	     (__s64)(lane->sent - search->sent) >= 0))
		return 0;
	search->wait = lane->wait;
	search->sent = lane->sent;
	search->best = index;
	return 0;
}

/* The lane that is free first; of those alike, the one that sent least. A loop
 * with branches in it is best left to bpf_loop(): the verifier follows every
 * path of one that is written out.
 */
static __always_inline __u32 first_free(const struct lace_steer_context *context)
{
	struct steer_search search = { .context = context, .wait = ~0ULL };

	bpf_loop(context->lanes, search_first_free, &search, 0);
	return search.best;
}

#endif /* LACE_EBPF_STEER_PROG_H */
