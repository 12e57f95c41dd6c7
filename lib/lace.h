/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * liblace: from a training communication schedule to simplex circuits.
 *
 * Declarations stand under the name of the .c file that holds them, in the
 * order in which data passes through: cluster and schedule are read, the
 * schedule is profiled into demand, a scheduler makes a plan from cluster and
 * demand, the plan is evaluated, checked, written.  The compiler between the
 * readers and the writers is pure: no globals, no clock, no file, no printing;
 * same input, same plan, on every machine.
 *
 * Conventions: functions that can fail return 0 or a negative value and fill
 * *err, which may not be NULL.  X_free() frees what an X holds, not the X, and
 * takes a zeroed X.  Numbers count from 0, except OCS ports, which count from
 * 1 as on the front panel.  Seconds, bytes, bits per second.
 */
#ifndef LACE_H
#define LACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- error.c ---- */

enum lace_error_kind {
	LACE_ERR_NONE,
	LACE_ERR_ANSWER = 1,	/* the input is sound and the answer is no */
	LACE_ERR_INPUT = 2,	/* unreadable or contradictory input */
	LACE_ERR_SYSTEM = 3,	/* out of memory, I/O error */
};

/* Where and why.  file is empty and line 0 where they mean nothing. */
struct lace_error {
	enum lace_error_kind kind;
	char file[256];
	unsigned int line;
	char text[512];
};

int lace_fail(struct lace_error *err, enum lace_error_kind kind,
	      const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int lace_no_memory(struct lace_error *err);
void lace_error_at(struct lace_error *err, const char *file, unsigned int line);
void lace_error_print(FILE *out, const char *program,
		      const struct lace_error *err);
int lace_error_exit_status(const struct lace_error *err);

/* ---- cluster.c: lace-cluster/1 ---- */

enum lace_relay {
	LACE_RELAY_NONE,
	LACE_RELAY_CONTROL,
	LACE_RELAY_DATA,
};

/* Where a lane's fibre ends: OCS index and its port (from 1); ocs < 0 for a
 * lane that does not exist.
 */
struct lace_fibre {
	int ocs;
	unsigned int port;
};

struct lace_port {
	char *name;
	uint64_t rate_bps;
	struct lace_fibre tx;	/* OCS input */
	struct lace_fibre rx;	/* OCS output */
};

struct lace_node {
	char *name;
	char *address;		/* NULL if the file has none */
	unsigned int nr_prefixes;
	char **prefixes;	/* what else is behind it, as "fd00::/64" */
	unsigned int nr_ports;
	struct lace_port *ports;
};

struct lace_ocs {
	char *name;
	unsigned int inputs, outputs;
};

struct lace_cluster {
	char *name;
	double reconfig_s;
	double control_ratio;
	enum lace_relay relay;
	unsigned int nr_ocs;
	struct lace_ocs *ocs;
	unsigned int nr_nodes;
	struct lace_node *nodes;
	char sha256[65];	/* of the file's bytes; empty if not from a file */
};

enum lace_wiring {
	LACE_WIRING_SINGLE,	/* every port on one OCS */
	LACE_WIRING_PLANES,	/* port k of every node on OCS k */
};

int lace_cluster_read(const char *path, struct lace_cluster *cluster,
		      struct lace_error *err);
int lace_cluster_parse(const char *text, size_t len, const char *name,
		       struct lace_cluster *cluster, struct lace_error *err);
int lace_cluster_write(FILE *out, const struct lace_cluster *cluster);
int lace_cluster_make(unsigned int servers, unsigned int ports,
		      uint64_t rate_bps, enum lace_wiring wiring,
		      double reconfig_s, struct lace_cluster *cluster,
		      struct lace_error *err);
void lace_cluster_free(struct lace_cluster *cluster);
const char *lace_relay_name(enum lace_relay relay);
/* Negative if there is no such name. */
int lace_relay_find(const char *name, enum lace_relay *relay);

/* ---- schedule.c: lace-schedule/1 ---- */

enum lace_collective {
	LACE_TRANSFERS,		/* point to point, no collective */
	LACE_ALL_REDUCE,
	LACE_REDUCE_SCATTER,
	LACE_ALL_GATHER,
	LACE_BROADCAST,
	LACE_REDUCE,
	LACE_ALL_TO_ALL,
	LACE_ALL_TO_ALLV,
};

enum lace_algorithm {
	LACE_RING,
	LACE_HALVING_DOUBLING,
	LACE_DOUBLE_TREE,
	LACE_DIRECT,
};

/* ranks is NULL for a group given as first, stride, count. */
struct lace_group {
	unsigned int count;
	unsigned int *ranks;
	unsigned int first, stride;
};

static inline unsigned int lace_group_rank(const struct lace_group *group,
					   unsigned int i)
{
	return group->ranks ? group->ranks[i] : group->first + i * group->stride;
}

struct lace_transfer {
	unsigned int src, dst;	/* ranks */
	uint64_t bytes;
};

struct lace_part {
	enum lace_collective collective;
	enum lace_algorithm algorithm;
	bool steps;
	unsigned int root;	/* index within the group */
	uint64_t bytes;
	unsigned int nr_groups;
	struct lace_group *groups;
	uint64_t **matrix;	/* all_to_allv: one count x count array a group */
	size_t nr_transfers;
	struct lace_transfer *transfers;
};

struct lace_op {
	char *name;
	uint64_t repeat;
	unsigned int nr_parts;
	struct lace_part *parts;
};

struct lace_schedule {
	char *name;
	unsigned int nr_ranks;
	unsigned int *placement;	/* node of each rank */
	unsigned int nr_ops;
	struct lace_op *ops;
	char sha256[65];
	unsigned int placement_line;	/* in the file, 0 if not from a file */
};

int lace_schedule_read(const char *path, struct lace_schedule *schedule,
		       struct lace_error *err);
int lace_schedule_parse(const char *text, size_t len, const char *name,
			struct lace_schedule *schedule, struct lace_error *err);
int lace_schedule_write(FILE *out, const struct lace_schedule *schedule);
void lace_schedule_free(struct lace_schedule *schedule);
const char *lace_collective_name(enum lace_collective collective);
const char *lace_algorithm_name(enum lace_algorithm algorithm);

/* ---- expand.c: what a collective sends, rank to rank ---- */

/* Calls edge() for every directed edge of part, of its step number step if
 * the part has steps (0 otherwise).  Ranks, not nodes; self edges and zero
 * bytes left out.  edge() returns 0 to go on.
 */
unsigned int lace_part_nr_steps(const struct lace_part *part);
int lace_part_edges(const struct lace_part *part, unsigned int step,
		    int (*edge)(void *arg, unsigned int src, unsigned int dst,
				double bytes),
		    void *arg);

/* ---- profile.c: stage 1, Demand Profiler ---- */

struct lace_pair {
	unsigned int src, dst;	/* nodes, src != dst */
	double bytes;		/* > 0, data only */
};

/* One op of the plan's numbering (steps expanded), pairs sorted by (src, dst),
 * each pair once.  name is the schedule op's.
 *
 * Steps with repeat: "s1 s2 s1 s2" is repeat x nr_steps ops of repeat 1.
 */
struct lace_demand_op {
	const char *name;	/* borrowed from the schedule */
	unsigned int schedule_op, step;
	uint64_t repeat;
	size_t nr_pairs;
	const struct lace_pair *pairs;	/* ops alike may share one array */
};

struct lace_demand {
	unsigned int nr_nodes;
	unsigned int nr_ops;
	struct lace_demand_op *ops;
	void *store;		/* owner of the pair arrays, profile.c's */
};

int lace_profile(const struct lace_schedule *schedule, unsigned int nr_nodes,
		 struct lace_demand *demand, struct lace_error *err);
void lace_demand_free(struct lace_demand *demand);

/* ---- plan.c: lace-plan/1 ---- */

struct lace_circuit {
	unsigned int tx_node, tx_port, rx_node, rx_port;
};

struct lace_route {
	unsigned int from, to;
	unsigned int nr_between;
	unsigned int *between;
};

struct lace_segment {
	unsigned int first_op, last_op;
	double transmit_s;
	unsigned int nr_circuits;
	struct lace_circuit *circuits;	/* sorted by (tx_node, tx_port) */
	unsigned int nr_routes;
	struct lace_route *routes;	/* sorted by (from, to) */
	unsigned int nr_alternates;
	struct lace_route *alternates;	/* for when a circuit or route fails */
};

/* What stops while the configuration changes. */
enum lace_transition {
	LACE_STOP_ALL,		/* everything, for reconfig_s */
	LACE_KEEP_LANES,	/* circuits that are not in both */
};

struct lace_plan {
	char *scheduler;
	enum lace_transition transition;
	char cluster_sha256[65], schedule_sha256[65];
	double cct_s, transmit_s, reconfig_s, bound_s;
	unsigned int nr_segments;
	struct lace_segment *segments;
};

/* Of two circuits, for qsort(): by TX lane, then by where it leads. */
int lace_circuit_order(const void *a, const void *b);
int lace_plan_read(const char *path, struct lace_plan *plan,
		   struct lace_error *err);
int lace_plan_parse(const char *text, size_t len, const char *name,
		    struct lace_plan *plan, struct lace_error *err);
int lace_plan_write(FILE *out, const struct lace_plan *plan);
void lace_plan_free(struct lace_plan *plan);

/* ---- evaluate.c: the CCT model of the interfaces document ---- */

/* Fills transmit_s of plan and of its segments, reconfig_s and cct_s from the
 * circuits and routes; fails, naming the place, where the plan is not one
 * (lanes that do not exist or are used twice, pairs with demand and no path,
 * ops not covered, routes that break the rules).
 */
int lace_plan_evaluate(const struct lace_cluster *cluster,
		       const struct lace_demand *demand,
		       struct lace_plan *plan, struct lace_error *err);

/* Bytes on each circuit pair (i, j) of one op of one segment, once (not times
 * repeat), data and control and what is relayed over it: for the operator who
 * holds counters against the plan.  load and capacity_bps point into arrays of
 * nr, in the order of pairs.
 */
struct lace_load {
	unsigned int src, dst;
	double bytes;
	double capacity_bps;
};

int lace_plan_load(const struct lace_cluster *cluster,
		   const struct lace_demand *demand,
		   const struct lace_plan *plan, unsigned int op,
		   struct lace_load **load, size_t *nr, struct lace_error *err);

/* ---- check.c: a plan against the two files ---- */

/* Recomputes everything; LACE_ERR_ANSWER with the first difference. */
int lace_plan_check(const struct lace_cluster *cluster,
		    const struct lace_schedule *schedule,
		    const struct lace_plan *plan, struct lace_error *err);

/* ---- compile.c: stages 2 to 4 under the name of a scheduler ---- */

struct lace_scheduler {
	const char *name;
	const char *what;	/* one line for --help */
	int (*compile)(const struct lace_cluster *cluster,
		       const struct lace_demand *demand,
		       struct lace_plan *plan, struct lace_error *err);
};

/* Ends with a NULL name; the first is the default, "lace". */
extern const struct lace_scheduler lace_schedulers[];
const struct lace_scheduler *lace_scheduler_find(const char *name);

/* Plans, evaluates, bounds.  The hashes are copied by the caller. */
int lace_compile(const struct lace_cluster *cluster,
		 const struct lace_demand *demand, const char *scheduler,
		 struct lace_plan *plan, struct lace_error *err);

/* ---- alternates.c: ways for when others fail ---- */

int lace_plan_add_alternates(const struct lace_cluster *cluster,
			     struct lace_plan *plan, unsigned int most,
			     struct lace_error *err);

/* ---- keep.c: plans for transitions that stop only the lanes that change ---- */

/* As lace_compile(). */
int lace_compile_keep(const struct lace_cluster *cluster,
		      const struct lace_demand *demand, const char *scheduler,
		      struct lace_plan *plan, struct lace_error *err);

/* ---- certificate.c: lace-certificate/1 ---- */

/*
 * A step of the proof that ops under one configuration take some time: the
 * nodes of a tree over boxes of times, parents first.  formats.rst says what
 * each proves.
 */
enum lace_proof_kind {
	LACE_PROOF_SPLIT,	/* the next tree: op below time; then: not */
	LACE_PROOF_FULL,	/* no configuration: this row is too small */
	LACE_PROOF_SUM,		/* the least times of the box are enough */
	LACE_PROOF_CROSSING,	/* they are with what control crosses */
	LACE_PROOF_DUAL,	/* shares and prices are enough */
};

struct lace_proof_step {
	enum lace_proof_kind kind;
	unsigned int op;	/* split */
	unsigned int row;	/* full: TX of node i is i, RX is nodes + i */
	double time;		/* split; seconds */
	/* crossing: a price for each term; dual: a price for each row */
	unsigned int nr_prices;
	double *prices;
	/* dual: of each term, for each pair that must have a circuit */
	size_t nr_shares;
	double *shares;
};

/* That ops first_op to last_op under one configuration take at_least seconds;
 * INFINITY: that no configuration serves them.
 */
struct lace_proof {
	unsigned int first_op, last_op;
	double at_least;
	unsigned int nr_steps;
	struct lace_proof_step *steps;
};

struct lace_certificate {
	char cluster_sha256[65], schedule_sha256[65];
	bool duplex;		/* holds for plans of duplex pairs alone */
	double bound_s;
	unsigned int nr_ops;
	double *potentials;	/* of each number of ops: nr_ops + 1 */
	unsigned int nr_proofs;
	struct lace_proof *proofs;
};

int lace_certificate_read(const char *path,
			  struct lace_certificate *certificate,
			  struct lace_error *err);
int lace_certificate_parse(const char *text, size_t len, const char *name,
			   struct lace_certificate *certificate,
			   struct lace_error *err);
int lace_certificate_write(FILE *out,
			   const struct lace_certificate *certificate);
void lace_certificate_free(struct lace_certificate *certificate);

/* ---- certificate_make.c: the proof of a plan's bound ---- */

/* The hashes are copied from the plan. */
int lace_certificate_make(const struct lace_cluster *cluster,
			  const struct lace_demand *demand,
			  const struct lace_plan *plan,
			  struct lace_certificate *certificate,
			  struct lace_error *err);

/* ---- certificate_check.c: a proof against the two files ---- */

/* What was looked at, for people. */
struct lace_verified {
	double bound_s;
	size_t nr_intervals;	/* of ops, each held against its potentials */
	size_t nr_steps;	/* of all proofs */
};

/* LACE_ERR_ANSWER with the first inequality that does not hold. */
int lace_certificate_check(const struct lace_cluster *cluster,
			   const struct lace_schedule *schedule,
			   const struct lace_plan *plan,
			   const struct lace_certificate *certificate,
			   struct lace_verified *verified,
			   struct lace_error *err);

/* ---- failed.c: what is left of a cluster ---- */

struct lace_lane {
	unsigned int node, port;
	bool tx, rx;		/* either or both */
};

int lace_lane_find(const struct lace_cluster *cluster, const char *word,
		   struct lace_lane *lane, struct lace_error *err);
int lace_cluster_copy(const struct lace_cluster *from,
		      struct lace_cluster *cluster, struct lace_error *err);
void lace_cluster_fail_lane(struct lace_cluster *cluster,
			    const struct lace_lane *lane);
int lace_cluster_fail_ocs(struct lace_cluster *cluster, const char *name,
			  struct lace_error *err);

/* ---- recompile.c: a plan for what is left, from the old one ---- */

/* Circuits of a new segment, against the old one that had its first op. */
struct lace_recompiled_segment {
	unsigned int old;	/* its index */
	unsigned int kept;	/* where they were */
	unsigned int moved;	/* work still, and are not there any more */
	unsigned int lost;	/* had a lane that failed */
	unsigned int added;
};

struct lace_recompiled {
	double old_cct_s;
	double *old_transmit_s;		/* of each old segment */
	unsigned int nr_replanned;	/* old segments past repair */
	unsigned int nr_segments;
	struct lace_recompiled_segment *segments;
};

int lace_recompile(const struct lace_cluster *whole,
		   const struct lace_cluster *left,
		   const struct lace_demand *demand,
		   const struct lace_plan *old, struct lace_plan *plan,
		   struct lace_recompiled *report, struct lace_error *err);
void lace_recompiled_free(struct lace_recompiled *report);

/* ---- generate.c: schedules of known models ---- */

/* 0 stands for the default: 8 GPUs a server, 1 stage, 4 microbatches a stage,
 * the model's context (LLaMA: 8192), 4 bytes a gradient.
 */
struct lace_generate {
	const char *model;
	unsigned int servers, gpus_per_server, pp;
	unsigned int microbatches;
	uint64_t seq;
	unsigned int grad_bytes;
};

/* Names of the models, in the order of --help; NULL past the last. */
const char *lace_generate_model(unsigned int index);
int lace_generate(const struct lace_generate *spec,
		  struct lace_schedule *schedule, struct lace_error *err);

/* ---- import.c: traces of other tools, format by format ---- */

struct lace_import {
	const char *format;
	const char *groups;	/* path or NULL */
	unsigned int ranks;	/* 0: from the trace */
	uint64_t bytes;		/* 0: not given */
	const char *placement;	/* SPEC or NULL */
	unsigned int nr_files;
	const char *const *files;
};

/* Warnings and the summary of what was skipped go to report (may be NULL). */
int lace_import(const struct lace_import *spec, struct lace_schedule *schedule,
		FILE *report, struct lace_error *err);

/* ---- client.c: the runtime, netlink to the module ---- */
/* see client.h */

#endif /* LACE_H */
