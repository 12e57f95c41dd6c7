/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * From a plan to the modules of the hosts: what one node needs to know of it,
 * what has to change for that, and the change itself, on one device or on all
 * nodes of a lab.
 *
 *   plan + cluster + macs -- lace_split() --> state wanted of one device
 *   state it has, state wanted -- lace_changes_make() --> steps
 */
#ifndef LACE_RUNTIME_H
#define LACE_RUNTIME_H

#include "client.h"
#include "lace.h"

/* ---- macs.c: lace-macs/1, what the cluster file cannot know of the hosts ---- */

struct lace_host {
	uint32_t ports;			/* bit p: mac[p] is known */
	uint8_t mac[LACE_MAX_PORTS][6];
	unsigned int nr_prefixes;	/* beside those of the cluster */
	struct lace_rt_prefix *prefixes;
};

struct lace_macs {
	unsigned int nr_hosts;		/* nodes of the cluster */
	struct lace_host *hosts;
};

/* Every host of the cluster, with nothing known. */
int lace_macs_init(const struct lace_cluster *cluster, struct lace_macs *macs,
		   struct lace_error *err);
/* Adds what a file knows: lace-macs/1, or the lace-lab/1 that a lab leaves. */
int lace_macs_parse(const char *text, size_t len, const char *name,
		    const struct lace_cluster *cluster, struct lace_macs *macs,
		    struct lace_error *err);
int lace_macs_read(const char *path, const struct lace_cluster *cluster,
		   struct lace_macs *macs, struct lace_error *err);
int lace_macs_write(FILE *out, const struct lace_cluster *cluster,
		    const struct lace_macs *macs);
void lace_macs_free(struct lace_macs *macs);

/* ---- split.c: one node's part of a plan ---- */

/* Everything a device is told: what it has, or what it should have. */
struct lace_rt_state {
	int32_t node;			/* or LACE_RT_NONE */
	int64_t active;			/* segment, or LACE_RT_NONE */
	size_t nr_nodes;
	struct lace_rt_node *nodes;	/* ascending */
	size_t nr_segments;
	struct lace_rt_segment *segments;	/* ascending */
};

/* active: segment of the plan that is to be in force; LACE_RT_NONE: none. */
int lace_split(const struct lace_cluster *cluster, const struct lace_plan *plan,
	       const struct lace_macs *macs, unsigned int node, int64_t active,
	       struct lace_rt_state *state, struct lace_error *err);
void lace_rt_state_free(struct lace_rt_state *state);
/* Index of the node of that name, or of that number; -1 with *err filled. */
int lace_cluster_find_node(const struct lace_cluster *cluster, const char *name,
			   struct lace_error *err);

/* ---- changes.c: from one state to another ---- */

enum lace_phase {
	LACE_PREPARE,	/* what the active segment does not need */
	LACE_ACTIVATE,
	LACE_TIDY,	/* what the old segment needed */
	LACE_NR_PHASES,
};

enum lace_step_kind {
	LACE_STEP_NUMBER,	/* id: own node */
	LACE_STEP_SET_NODE,
	LACE_STEP_DEL_NODE,
	LACE_STEP_SET_SEGMENT,
	LACE_STEP_DEL_SEGMENT,
	LACE_STEP_ACTIVATE,	/* id: segment or LACE_RT_NONE */
};

struct lace_step {
	enum lace_phase phase;
	enum lace_step_kind kind;
	int64_t id;
	struct lace_rt_node node;	/* SET_NODE; owns its prefixes */
	struct lace_rt_segment segment;	/* SET_SEGMENT; arrays borrowed */
};

struct lace_changes {
	size_t nr_steps, room;
	struct lace_step *steps;	/* in the order to take them */
};

/* Steps from have to want, none if they are the same.  Between any two of them
 * the device works, with the old segment or with the new one.  The changes
 * borrow from want.
 */
int lace_changes_make(const struct lace_rt_state *have,
		      const struct lace_rt_state *want,
		      struct lace_changes *changes, struct lace_error *err);
void lace_changes_free(struct lace_changes *changes);

/* ---- apply.c: one device ---- */

int lace_rt_state_read(struct lace_client *client, const char *ifname,
		       struct lace_rt_state *state, struct lace_error *err);
/* Takes the steps of one phase. */
int lace_changes_take(struct lace_client *client, const char *ifname,
		      const struct lace_changes *changes, enum lace_phase phase,
		      struct lace_error *err);
/* After a failure: makes the device what it was. What could not be put back is
 * added to *err.
 */
void lace_rt_state_restore(struct lace_client *client, const char *ifname,
			   const struct lace_rt_state *was,
			   struct lace_error *err);
/* All of it: read, compare, change; puts back what it changed if a step fails.
 * *nr_steps is how many steps it took: 0 if nothing had to change.
 */
int lace_apply(struct lace_client *client, const char *ifname,
	       const struct lace_rt_state *want, size_t *nr_steps,
	       struct lace_error *err);
/* Whether the ports of device ifname are those of node in the cluster. */
int lace_check_ports(struct lace_client *client, const char *ifname,
		     const struct lace_cluster *cluster, unsigned int node,
		     struct lace_error *err);

/* ---- lab.c: all nodes of a lab ---- */

struct lace_lab;

/* Opens a running lab by name: its cluster, and a way to each node's module. */
int lace_lab_open(const char *name, struct lace_lab **lab,
		  struct lace_error *err);
void lace_lab_close(struct lace_lab *lab);
const struct lace_cluster *lace_lab_cluster(const struct lace_lab *lab);
/* Seconds that the OCS takes to switch. */
double lace_lab_switch_s(const struct lace_lab *lab);
/* The client of a node, which lab keeps. */
struct lace_client *lace_lab_client(const struct lace_lab *lab,
				    unsigned int node);
const char *lace_lab_device(const struct lace_lab *lab);

/* Loads all segments of plan on every node, switches the OCS to those of
 * segment active, waits until they are lit and activates it everywhere; or
 * changes nothing.  *nr_changes counts steps of all nodes and cross-connects.
 */
int lace_lab_apply(struct lace_lab *lab, const struct lace_plan *plan,
		   int64_t active, size_t *nr_changes, struct lace_error *err);
/* The same for another segment of a plan that is applied. */
int lace_lab_activate(struct lace_lab *lab, const struct lace_plan *plan,
		      unsigned int segment, struct lace_error *err);

/* ---- lab_transition.c: all nodes of a lab go over together ---- */

struct lace_lab_group;

struct lace_lab_transition {
	bool done;			/* all nodes are in the new segment */
	int64_t from;
	double total_s;			/* from the first node's start until the
					 * last one's end was heard of
					 */
	double ocs_s;			/* of these, until the OCS had switched */
	unsigned int nr_nodes;
	struct lace_rt_transition *nodes;	/* the last one of each */
};

/* Makes ready for transitions between segments of plan, one of which is in
 * force.  One group of a lab at a time.
 */
int lace_lab_group_open(struct lace_lab *lab, const struct lace_plan *plan,
			struct lace_lab_group **group, struct lace_error *err);
void lace_lab_group_close(struct lace_lab_group *group);
/* From the segment that is in force to another one while traffic flows: every
 * node goes through a transition, and when all have drained their lanes the OCS
 * is switched.  Where a node fails, all go back.
 * 0: result is filled, whatever became of it; free it.
 */
int lace_lab_group_go(struct lace_lab_group *group,
		      const struct lace_rt_request *request,
		      struct lace_lab_transition *result,
		      struct lace_error *err);
void lace_lab_transition_free(struct lace_lab_transition *result);
/* "lane gpu0/1 reaches gpu2/0, plan says gpu1/1"; text is returned. */
#define LACE_FAULT_SIZE 512
const char *lace_fault_words(const struct lace_cluster *cluster,
			     unsigned int node,
			     const struct lace_rt_fault *fault,
			     char text[LACE_FAULT_SIZE]);

#endif /* LACE_RUNTIME_H */
