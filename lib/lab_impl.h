/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* What the files of labs share.  Not installed. */
#ifndef LACE_LAB_IMPL_H
#define LACE_LAB_IMPL_H

#include "ocs.h"
#include "runtime.h"

struct lab_node {
	char *netns;
	struct lace_client *client;
	struct lace_rt_state have, want;
	struct lace_changes changes;
};

struct lace_lab {
	char *device;
	double switch_s;
	struct lace_cluster cluster;
	struct lace_macs macs;
	struct lace_ocs_emu *emu;
	struct lab_node *nodes;
};

/* Cross-connects: those of a segment, or those that are there. */
struct lab_crosses {
	size_t nr;
	struct lace_cross *list; /* for free() */
};

int lace_lab_crosses_of_segment(const struct lace_lab *lab,
				const struct lace_segment *segment,
				struct lab_crosses *crosses,
				struct lace_error *err);
/* Connects, and waits until all is lit, which the OCS is asked. */
int lace_lab_switch_ocs(struct lace_lab *lab, const struct lab_crosses *crosses,
			struct lace_error *err);
/* Whether the OCS says that it has these and no others. */
int lace_lab_check_ocs(struct lace_lab *lab, const struct lab_crosses *crosses,
		       struct lace_error *err);
/* What a node would have to be told for plan, into its changes. */
int lace_lab_compare_node(struct lace_lab *lab, const struct lace_plan *plan,
			  unsigned int node, int64_t active,
			  struct lace_error *err);
/* Lets go of what lace_lab_compare_node() found. */
void lace_lab_forget(struct lace_lab *lab);
/* Number of the segment that a node follows; negative: of none. */
int lace_lab_active(struct lace_lab *lab, unsigned int node, int64_t *active,
		    struct lace_error *err);
/* Says which node an error is about.  Returns -1. */
int lace_lab_of_node(const struct lace_lab *lab, unsigned int node,
		     struct lace_error *err);

#endif /* LACE_LAB_IMPL_H */
