/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lace-replay plays a schedule between nodes over TCP.  This header is its
 * map: declarations stand under the name of the .c file that holds them.
 *
 * One process for each node, forked into the node's network namespace, sends
 * and receives (node.c).  The parent releases op after op, and waits for all
 * nodes in between (play.c); the two speak over socket pairs, so the lanes
 * carry nothing but the schedule's bytes.
 *
 * Each ordered pair of nodes with demand has a TCP connection of its own.  The
 * model knows demand by pair of nodes and not by pair of ranks, so a flow is
 * exactly what the model counts; and where data of several pairs share a
 * lane, TCP's fair shares do not depend on how many ranks a node has.
 */
#ifndef LACE_REPLAY_H
#define LACE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lace.h"

#define REPLAY_PROGRAM "lace-replay"

/* ---- traffic.c: what is sent, from the schedule's demand ---- */

/* One connection. */
struct traffic_flow {
	unsigned int src, dst;
	unsigned int segment;	/* the first that needs it */
};

/* What a flow carries in each round of an op. */
struct traffic_load {
	unsigned int flow;
	uint64_t bytes;
};

struct traffic_op {
	const char *name;	/* borrowed from the demand */
	unsigned int segment;
	uint64_t repeat;
	size_t nr_loads;
	struct traffic_load *loads;
};

struct traffic {
	unsigned int nr_nodes, nr_segments;
	unsigned int nr_flows;
	struct traffic_flow *flows;	/* sorted by (src, dst) */
	unsigned int nr_ops;
	struct traffic_op *ops;
};

/* plan may be NULL: one segment then. */
int traffic_make(const struct lace_demand *demand,
		 const struct lace_plan *plan, double scale,
		 struct traffic *traffic, struct lace_error *err);
void traffic_free(struct traffic *traffic);
uint64_t traffic_op_bytes(const struct traffic_op *op);

/* ---- pattern.c: payload that tells where it belongs ---- */

#define PATTERN_SPAN 262144	/* longest run of pattern_run() */

/* A place in the bytes that one flow carries in one op, all rounds. */
struct pattern_place {
	unsigned int op, flow;
	uint64_t round_bytes;
	uint64_t round, offset;
};

int pattern_make(void);
const unsigned char *pattern_run(const struct pattern_place *place, size_t max,
				 size_t *len);
void pattern_advance(struct pattern_place *place, size_t len);
uint64_t pattern_check(struct pattern_place *place, const unsigned char *data,
		       size_t len);

/* ---- message.c: between the coordinator and a node ---- */

enum message_kind {
	/* to a node */
	MESSAGE_CONNECT,	/* index: segment whose new flows to open */
	MESSAGE_START,		/* index: op */
	MESSAGE_FINISH,
	/* from a node */
	MESSAGE_READY,		/* listening, or connected */
	MESSAGE_DONE,		/* time_ns: last byte received, 0 if none */
	MESSAGE_BEAT,		/* alive, in the middle of something */
	MESSAGE_TOTALS,		/* totals, and the end */
	MESSAGE_FAILED,		/* text */
};

struct message_totals {
	uint64_t received;	/* payload bytes */
	uint64_t bad;		/* of these, not what was sent */
	uint64_t extra;		/* bytes received after the last that was due */
	uint64_t retransmits;	/* segments sent again */
};

struct message {
	enum message_kind kind;
	unsigned int index;
	uint64_t time_ns;
	struct message_totals totals;
	char text[400];
};

int message_send(int fd, const struct message *message);
int message_receive(int fd, struct message *message);
uint64_t message_clock(void);

/* ---- stream.c: one end of a flow ---- */

enum stream_state {
	STREAM_CLOSED,
	STREAM_CONNECTING,
	STREAM_IDLE,
	STREAM_BUSY,		/* in the middle of an op */
};

struct stream {
	unsigned int flow;
	bool outgoing;
	enum stream_state state;
	int fd;
	struct pattern_place place;
	uint64_t left;		/* bytes of this op still to come */
	uint64_t moved_ns;	/* when bytes moved last */
	struct message_totals totals;
};

void stream_begin(struct stream *stream, unsigned int op, uint64_t repeat,
		  uint64_t bytes);
int stream_move(struct stream *stream);
void stream_finish(struct stream *stream);

/* ---- place.c: where the nodes are ---- */

struct place {
	const char *lab;	/* NULL: this host has all the addresses */
	unsigned int nr_nodes;
	char **addresses;
	char **namespaces;	/* names; NULL entries without a lab */
	double rate_scale;	/* 0 without a lab */
	double payload_ratio;	/* payload bytes for each byte on a lane */
};

int place_find(const struct lace_cluster *cluster, const char *lab,
	       struct place *place, struct lace_error *err);
void place_free(struct place *place);

/* ---- node.c: the process that sends and receives for one node ---- */

struct settings {
	const struct lace_cluster *cluster;
	const struct traffic *traffic;
	const struct place *place;
	uint16_t tcp_port;
	unsigned int timeout_s;
};

void node_run(const struct settings *settings, unsigned int node, int control);

/* ---- play.c: nodes started, ops released, times taken ---- */

struct play_result {
	double *op_s;		/* release to last byte received, by op */
	double *enter_s;	/* to get into it, by segment */
	double barrier_s;	/* between the ops, all together */
	struct message_totals totals;
};

/* Called before a segment's first op. */
typedef int (*play_enter)(void *arg, unsigned int segment,
			  struct lace_error *err);

int play(const struct settings *settings, play_enter enter, void *arg,
	 struct play_result *result, struct lace_error *err);
void play_result_free(struct play_result *result);

/* ---- predict.c: what the model says about this play ---- */

struct scale {
	double bytes;		/* bytes sent for each byte of demand */
	double rate;		/* lane rate for each bit/s of the cluster's */
	double payload;		/* payload bytes for each byte on a lane */
};

/* A TX lane. */
struct lane_use {
	unsigned int node, port;
	int peer;		/* node at the far end, -1: not always one */
	double planned;		/* frame bytes */
	double measured;
};

struct prediction {
	double *op_s;		/* by op */
	double *enter_s;	/* change of configuration, by segment */
	size_t nr_lanes;
	struct lane_use *lanes;	/* those with a circuit, sorted */
};

int predict(const struct lace_cluster *cluster,
	    const struct lace_demand *demand, const struct lace_plan *plan,
	    const struct scale *scale, struct prediction *prediction,
	    struct lace_error *err);
void prediction_free(struct prediction *prediction);

/* ---- lanes.c: the lab's circuits and counters ---- */

struct lace_lab;
struct lace_lab_group;

struct lanes {
	struct lace_lab *lab;
	struct lace_lab_group *group;	/* NULL: none is open */
	const struct lace_cluster *cluster;
	const struct lace_plan *plan;
	struct prediction *prediction;	/* its lanes are measured */
	bool transitions;		/* from segment to segment */
};

/* A play_enter. */
int lanes_enter(void *lanes, unsigned int segment, struct lace_error *err);
void lanes_leave(struct lanes *lanes);
int lanes_count(struct lanes *lanes, struct lace_error *err);

/* ---- report.c: what came of it ---- */

struct report {
	const struct lace_cluster *cluster;
	const struct traffic *traffic;
	const struct lace_plan *plan;		/* NULL: none */
	const struct prediction *prediction;	/* NULL: none */
	const struct play_result *result;
};

void report_table(FILE *out, const struct report *report);
int report_json(FILE *out, const struct report *report);

#endif /* LACE_REPLAY_H */
