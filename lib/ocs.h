/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * The emulated OCS of a lab: a cross-connect in BPF between the ports of a
 * switch namespace.  Its state is in pinned maps, so setting and reading it
 * needs bpffs and no namespace.
 */
#ifndef LACE_OCS_H
#define LACE_OCS_H

#include "lace.h"

/* One simplex cross-connect, any input to any output of one OCS. */
struct lace_cross {
	unsigned int ocs;		/* index in the cluster */
	unsigned int input, output;	/* from 1 */
};

/* A cross-connect as the OCS reads it back. */
struct lace_cross_state {
	struct lace_cross cross;
	double dark_s;		/* until it is lit; 0: lit */
};

/* What came in at one input: frames and bytes as on the fibre. */
struct lace_ocs_count {
	unsigned int ocs, input;
	uint64_t packets, bytes;
	uint64_t dark_packets, dark_bytes;
};

/* An interface of the switch namespace: the fibres behind it. */
struct lace_ocs_wire {
	const char *ifname;
	struct lace_fibre in;	/* input that its frames come in at */
	struct lace_fibre out;	/* output that sends to it */
};

struct lace_ocs_emu;

/* ---- life: the switch namespace ---- */

/* Loads the program, pins its maps for lab, and attaches it to every wire in
 * network namespace netns (a name of "ip netns").  Pins that are there already
 * are replaced; report (may be NULL) is told so.  Nothing is connected.
 */
int lace_ocs_attach(const char *lab, const char *netns,
		    const struct lace_cluster *cluster,
		    const struct lace_ocs_wire *wires, size_t nr_wires,
		    FILE *report, struct lace_error *err);
/* Removes the pins; the programs go with their interfaces.  No pins: 0. */
int lace_ocs_detach(const char *lab, struct lace_error *err);

/* ---- use ---- */

int lace_ocs_open(const char *lab, struct lace_ocs_emu **emu,
		  struct lace_error *err);
void lace_ocs_close(struct lace_ocs_emu *emu);

/* The units of the OCS: count and front panels, name owned by emu. */
unsigned int lace_ocs_nr(const struct lace_ocs_emu *emu);
const struct lace_ocs *lace_ocs_unit(const struct lace_ocs_emu *emu,
				     unsigned int ocs);

/* Makes the nr cross-connects the only ones.  Those that are there already
 * are not touched; the others go dark at once, the new ones come up after
 * switch_s seconds.  The call does not wait for that.  Refused as a whole,
 * with LACE_ERR_INPUT, if an input or output does not exist or is used twice.
 */
int lace_ocs_connect(struct lace_ocs_emu *emu, const struct lace_cross *crosses,
		     size_t nr, double switch_s, struct lace_error *err);

/* As lace_ocs_connect(), but only del goes, and add comes, in one change; what
 * is in neither stays.  Cross-connects in add take their input and output from
 * del only: taking one that is in use is refused.
 */
int lace_ocs_change(struct lace_ocs_emu *emu, const struct lace_cross *del,
		    size_t nr_del, const struct lace_cross *add, size_t nr_add,
		    double switch_s, struct lace_error *err);

/* What is connected, sorted by OCS and input.  The caller frees *states. */
int lace_ocs_read(struct lace_ocs_emu *emu, struct lace_cross_state **states,
		  size_t *nr, struct lace_error *err);
/* Counters of every input, sorted.  The caller frees *counts. */
int lace_ocs_count(struct lace_ocs_emu *emu, struct lace_ocs_count **counts,
		   size_t *nr, struct lace_error *err);

/* ---- pure ---- */

/* The cross-connects that make circuits: nr of them, in their order.  Fails
 * where a circuit has no fibre on one side, or two different OCSes.
 */
int lace_cross_of_circuits(const struct lace_cluster *cluster,
			   const struct lace_circuit *circuits,
			   unsigned int nr, struct lace_cross *crosses,
			   struct lace_error *err);

#endif /* LACE_OCS_H */
