// SPDX-License-Identifier: GPL-2.0
/*
 * Counters, per processor, of devices and lanes.  The number of a counter is
 * that of its netlink attribute.  Those who count have bottom halves off.
 */
#include "lace.h"
#include "trace.h"

void lace_dev_stats_init(struct lace_dev_stats __percpu *stats)
{
	int cpu;

	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(stats, cpu)->syncp);
}

void lace_lane_stats_init(struct lace_lane_stats __percpu *stats)
{
	int cpu;

	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(stats, cpu)->syncp);
}

void lace_dev_count_many(struct lace_device *lace,
			 enum lace_attr_devstat counter, unsigned int n)
{
	struct lace_dev_stats *stats = this_cpu_ptr(lace->stats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->value[counter], n);
	u64_stats_update_end(&stats->syncp);
	if (trace_lace_drop_enabled())
		lace_trace_dev_counter(lace, counter, n);
}

void lace_dev_count(struct lace_device *lace, enum lace_attr_devstat counter)
{
	lace_dev_count_many(lace, counter, 1);
}

void lace_lane_count(struct lace_port *port, enum lace_dir dir,
		     enum lace_attr_lanestat counter)
{
	struct lace_lane_stats *stats = this_cpu_ptr(port->stats[dir]);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_inc(&stats->value[counter]);
	u64_stats_update_end(&stats->syncp);
	if (trace_lace_drop_enabled())
		lace_trace_lane_counter(port, dir, counter);
}

/* Frames that were sent or accepted. */
void lace_lane_count_frames(struct lace_port *port, enum lace_dir dir,
			    const struct lace_packet *packet, bool relay)
{
	struct lace_lane_stats *stats = this_cpu_ptr(port->stats[dir]);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->value[LACE_A_LANESTAT_PACKETS], packet->frames);
	u64_stats_add(&stats->value[LACE_A_LANESTAT_BYTES], packet->bytes);
	if (relay) {
		u64_stats_add(&stats->value[LACE_A_LANESTAT_RELAY_PACKETS],
			      packet->frames);
		u64_stats_add(&stats->value[LACE_A_LANESTAT_RELAY_BYTES],
			      packet->bytes);
	} else if (packet->pure_ack) {
		u64_stats_add(&stats->value[LACE_A_LANESTAT_CONTROL_PACKETS],
			      packet->frames);
		u64_stats_add(&stats->value[LACE_A_LANESTAT_CONTROL_BYTES],
			      packet->bytes);
	}
	u64_stats_update_end(&stats->syncp);
}

#define MAX_STATS \
	((int)LACE_A_DEVSTAT_MAX > (int)LACE_A_LANESTAT_MAX ? \
	 (int)LACE_A_DEVSTAT_MAX : (int)LACE_A_LANESTAT_MAX)

static void add(u64 *sums, const u64_stats_t *values, int n,
		const struct u64_stats_sync *syncp)
{
	u64 copy[MAX_STATS + 1];
	unsigned int start;
	int i;

	do {
		start = u64_stats_fetch_begin(syncp);
		for (i = 0; i < n; i++)
			copy[i] = u64_stats_read(&values[i]);
	} while (u64_stats_fetch_retry(syncp, start));
	for (i = 0; i < n; i++)
		sums[i] += copy[i];
}

void lace_dev_stats_read(struct lace_device *lace,
			 u64 values[LACE_A_DEVSTAT_MAX + 1])
{
	const struct lace_dev_stats *stats;
	int cpu;

	memset(values, 0, sizeof(*values) * (LACE_A_DEVSTAT_MAX + 1));
	for_each_possible_cpu(cpu) {
		stats = per_cpu_ptr(lace->stats, cpu);
		add(values, stats->value, LACE_A_DEVSTAT_MAX + 1,
		    &stats->syncp);
	}
	values[LACE_A_DEVSTAT_REORDER_DEPTH] = lace_reorder_depth(lace);
}

void lace_lane_stats_read(struct lace_port *port, enum lace_dir dir,
			  u64 values[LACE_A_LANESTAT_MAX + 1])
{
	const struct lace_lane_stats *stats;
	int cpu;

	memset(values, 0, sizeof(*values) * (LACE_A_LANESTAT_MAX + 1));
	for_each_possible_cpu(cpu) {
		stats = per_cpu_ptr(port->stats[dir], cpu);
		add(values, stats->value, LACE_A_LANESTAT_MAX + 1,
		    &stats->syncp);
	}
}
