/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The maps of the emulated OCS: what ocs.bpf.c reads for each frame and
 * lib/ocs.c writes.  They are pinned, so a program of one release can meet maps
 * of another: whoever changes a structure or a map raises OCS_LAYOUT.
 */
#ifndef LACE_EBPF_OCS_H
#define LACE_EBPF_OCS_H

#include <linux/bpf.h>
#include <linux/types.h>

#define OCS_LAYOUT 1U
#define OCS_NAME_SIZE 32

/* ocs_layout, one entry: written once when the maps are made. */
struct ocs_layout {
	__u32 layout;	/* OCS_LAYOUT */
	__u32 nr_units;	/* entries of ocs_unit */
};

/* ocs_unit, index of an OCS in its cluster -> its front panel. */
struct ocs_unit {
	__u32 inputs;
	__u32 outputs;
	char name[OCS_NAME_SIZE];	/* cut if longer; ends in 0 */
};

/* An input or an output of an OCS, numbered from 1. */
struct ocs_port {
	__u32 ocs;
	__u32 port;
};

/* ocs_output, output -> the interface whose peer its fibre reaches. */
struct ocs_output {
	__u32 ifindex;
};

/* ocs_connect, input -> output; every input has an entry.  Frames before
 * lit_at_ns are dark; the clock is bpf_ktime_get_ns(), CLOCK_MONOTONIC.  The
 * lock keeps the other members together: update with BPF_F_LOCK.
 */
struct ocs_connect {
	struct bpf_spin_lock lock;
	__u32 output;	/* 0: not connected */
	__u32 ifindex;	/* of the output, 0 if no fibre is plugged there */
	__u32 pad;
	__u64 lit_at_ns;
};

/* ocs_count, input -> what came in there.  Frames as on the fibre: each
 * segment of a GSO packet is one, headers counted, preamble and FCS not.
 */
struct ocs_count {
	__u64 packets;
	__u64 bytes;
	__u64 dark_packets;	/* unconnected, not lit yet, or led nowhere */
	__u64 dark_bytes;
};

#endif /* LACE_EBPF_OCS_H */
