/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * The importer, inside: how traces of other tools become a schedule.
 *
 * A reader (import_FORMAT.c) turns files into a struct lace_trace: for each
 * rank the nodes of its program, what they wait for, and the communication
 * calls among them.  What follows is the same for every format: calls of
 * different ranks are matched (import_match.c), placed by longest path
 * (import_depth.c) and gathered into ops (import_ops.c).
 *
 * Declarations stand under the name of the .c file that holds them.
 */
#ifndef LACE_IMPORT_H
#define LACE_IMPORT_H

#include "lace.h"

#define LACE_NONE (~0u)

/* Limits that keep hostile input from taking all memory. */
#define LACE_IMPORT_MAX_BYTES (1ULL << 53)	/* of one call */
#define LACE_IMPORT_MAX_RANKS (1u << 20)
#define LACE_IMPORT_MAX_NODES (1u << 26)	/* of all ranks */
#define LACE_IMPORT_MAX_DEPS (1u << 27)		/* of all ranks */
#define LACE_IMPORT_MAX_GROUPS (1u << 25)	/* bytes of a file of groups */
#define LACE_IMPORT_MAX_TEXT (1u << 30)		/* of a file read as a whole */

/* ---- import.c ---- */

/* LACE_ERR_INPUT at file (NULL: none) and line (0: none). */
void lace_import_error(struct lace_error *err, const char *file,
		       unsigned int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Expressions, so that the compiler sees that they are not 0. */
#define lace_import_fail(err, file, line, ...) \
	(lace_import_error(err, file, line, __VA_ARGS__), -1)
#define lace_import_no_memory(err) (lace_no_memory(err), -1)

/* How many calls were left out because they move nothing, by reason. */
void lace_import_report_skipped(size_t zero_bytes, size_t barrier,
				size_t single_rank, size_t self, FILE *report);

/* Makes room for need elements of size bytes in *array. */
int lace_import_grow(void *array, size_t *room, size_t need, size_t size,
		     struct lace_error *err);

/* ---- import_file.c: bytes of files, compressed or not ---- */

struct lace_input;

int lace_input_open(const char *path, struct lace_input **input,
		    struct lace_error *err);
/* How many bytes were read, less than len only at the end of the file; -1. */
long lace_input_read(struct lace_input *input, void *buffer, size_t len,
		     struct lace_error *err);
uint64_t lace_input_offset(const struct lace_input *input);
void lace_input_close(struct lace_input *input);

/* The whole file, refused above max bytes, with a zero byte behind it that does
 * not count in *len.
 */
int lace_input_text(const char *path, size_t max, char **text, size_t *len,
		    struct lace_error *err);

/* Whether the len bytes of text are a whole number, from 0 to max. */
bool lace_scan_whole(const char *text, size_t len, uint64_t max,
		     uint64_t *value);

/* The rank that a file's name tells, LACE_NONE if it tells none. */
unsigned int lace_input_rank(const char *path);
/* rank -> index in files, for files that must be ranks 0 .. nr_files - 1. */
int lace_input_order(const struct lace_import *spec, unsigned int *order,
		     struct lace_error *err);

/* ---- import_place.c: --placement ---- */

int lace_import_place(const char *spec, struct lace_schedule *schedule,
		      struct lace_error *err);

/* ---- import_trace.c: what the ranks do ---- */

enum lace_call_kind {
	LACE_CALL_COLLECTIVE,
	LACE_CALL_BARRIER,
	LACE_CALL_SEND,
	LACE_CALL_RECV,
};

struct lace_call {
	uint64_t bytes;		/* as in the schedule; 0 for all_to_allv */
	uint64_t tag;		/* send, receive */
	unsigned int peer;	/* send, receive: the other rank */
	unsigned int comm;	/* collective, barrier */
	unsigned int root;	/* index within the group */
	enum lace_call_kind kind;
	enum lace_collective collective;
	/* all_to_allv: bytes to each member, then bytes from each member */
	uint64_t *splits;
	unsigned int match;	/* instance or transfer, by import_match.c */
};

/* A step of a rank's program.  id orders it among the rank's nodes that could
 * go first, and is what deps name until lace_trace_finish_rank().
 */
struct lace_trace_node {
	uint64_t id;
	unsigned int line;	/* 0: the format has none */
	unsigned int call;	/* index in calls, or LACE_NONE */
	unsigned int first_dep;	/* its deps end where the next node's begin */
};

/* What a node waits for: a node's index, and whether it is enough that it has
 * started.
 */
#define LACE_DEP_START (1u << 31)
#define LACE_DEP_NODE(dep) ((dep) & ~LACE_DEP_START)

struct lace_wait {
	uint64_t id;
	bool start;
};

struct lace_trace_rank {
	const char *file;	/* NULL: no trace of this rank */
	uint64_t hidden;	/* ids below are not the file's: not shown */
	size_t nr_nodes, nr_calls, nr_deps;
	struct lace_trace_node *nodes;	/* once finished: sorted by id */
	struct lace_call *calls;
	unsigned int *deps;		/* once finished */
	unsigned int *order;		/* nodes with calls, in program order */
	/* until finished */
	struct lace_wait *waits;
	size_t room_nodes, room_calls, room_waits;
};

/* A group of ranks under a name: calls on the same one are matched. */
struct lace_comm {
	char *name;
	unsigned int nr;
	unsigned int *ranks;
	bool ascending;
	bool some_may_miss;	/* members that never call it are no error */
	unsigned int list;	/* equal lists, equal numbers; in their order */
};

struct lace_trace {
	const char *noun;	/* what the format calls a node */
	unsigned int nr_ranks;
	struct lace_trace_rank *ranks;
	size_t nr_nodes, nr_deps;	/* of all ranks, to bound them */
	uint64_t nr_dangling;		/* deps on nodes that do not exist */
	unsigned int nr_comms;
	struct lace_comm *comms;
	size_t room_comms;
	unsigned int *comm_table;	/* hash table, by name and list */
	size_t comm_table_size;
	unsigned int world;		/* comm of all ranks, or LACE_NONE */
};

int lace_trace_init(struct lace_trace *trace, unsigned int nr_ranks,
		    const char *noun, struct lace_error *err);
void lace_trace_free(struct lace_trace *trace);

/* A new node of rank, whose waits and call then follow. */
int lace_trace_node(struct lace_trace *trace, unsigned int rank, uint64_t id,
		    unsigned int line, struct lace_error *err);
int lace_trace_wait(struct lace_trace *trace, unsigned int rank, uint64_t id,
		    bool start, struct lace_error *err);
int lace_trace_call(struct lace_trace *trace, unsigned int rank,
		    const struct lace_call *call, struct lace_error *err);
/* Sorts the rank's nodes, resolves what they wait for, and finds their order;
 * refuses ids used twice and circles.
 */
int lace_trace_finish_rank(struct lace_trace *trace, unsigned int rank,
			   struct lace_error *err);
/* Fails at a node, naming it. */
void lace_trace_error(const struct lace_trace *trace, unsigned int rank,
		      const struct lace_trace_node *node,
		      struct lace_error *err, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
#define lace_trace_fail(trace, rank, node, err, ...) \
	(lace_trace_error(trace, rank, node, err, __VA_ARGS__), -1)

/* Everything that is common to formats which give traces: from a trace whose
 * ranks are finished to a schedule without placement.
 */
int lace_trace_schedule(struct lace_trace *trace,
			struct lace_schedule *schedule, FILE *report,
			struct lace_error *err);

/* ---- import_comm.c: communicators ---- */

/* The communicator of this name and list, made if it is new. */
int lace_trace_comm(struct lace_trace *trace, const char *name,
		    const unsigned int *ranks, unsigned int nr,
		    unsigned int *comm, struct lace_error *err);
int lace_trace_world(struct lace_trace *trace, unsigned int *comm,
		     struct lace_error *err);
void lace_trace_free_comms(struct lace_trace *trace);
/* Index of rank within the group, LACE_NONE if it is not in it. */
unsigned int lace_comm_index(const struct lace_comm *comm, unsigned int rank);
/* Fills list of every communicator. */
int lace_trace_number_lists(struct lace_trace *trace, struct lace_error *err);

/* ---- import_group.c: names of groups ---- */

struct lace_named_group {
	char *name;
	unsigned int nr;
	unsigned int *ranks;	/* ascending, NULL: all */
	unsigned int size;	/* that the trace tells, or 0 */
	unsigned int comm;	/* once it was used, else LACE_NONE */
};

struct lace_named_groups {
	unsigned int nr;
	struct lace_named_group *groups;
	size_t room;
};

/* A --groups file: {"name": [ranks]}. */
int lace_groups_read(const char *path, unsigned int nr_ranks,
		     struct lace_named_groups *groups, struct lace_error *err);
/* What PyTorch writes when process groups are made: a list of objects with
 * pg_name and ranks, wrapped in brackets and quotes or not.
 */
int lace_groups_parse_init(const char *text, const char *file,
			   unsigned int nr_ranks,
			   struct lace_named_groups *groups,
			   struct lace_error *err);
/* Needed before groups are looked for, once all have been added. */
int lace_groups_sort(struct lace_named_groups *groups, const char *file,
		     struct lace_error *err);
/* NULL if there is none of this name; "1.0" finds "1". */
struct lace_named_group *lace_groups_find(const struct lace_named_groups *groups,
					  const char *name);
int lace_group_comm(struct lace_named_group *group, struct lace_trace *trace,
		    unsigned int *comm, struct lace_error *err);
/* The communicator that a call means by this name: a group of that name, or all
 * ranks for "" and "0"; LACE_NONE in *comm if it is neither.
 */
int lace_groups_comm(struct lace_named_groups *groups, struct lace_trace *trace,
		     const char *name, unsigned int *comm,
		     struct lace_error *err);
void lace_groups_free(struct lace_named_groups *groups);

/* ---- import_match.c: calls of different ranks that belong together ---- */

enum lace_skip {
	LACE_TRAFFIC,		/* not skipped */
	LACE_SKIP_ZERO_BYTES,
	LACE_SKIP_BARRIER,
	LACE_SKIP_SINGLE_RANK,
	LACE_SKIP_SELF,
	LACE_NR_SKIP
};

struct lace_instance {
	const struct lace_call *call;	/* of the first member seen */
	unsigned int rank, node;	/* that member */
	unsigned int nr_seen;
	enum lace_skip skip;
	unsigned int depth;
	uint64_t *matrix;		/* all_to_allv: count x count */
};

/* send or receive is LACE_NONE where that rank has no trace. */
struct lace_match_transfer {
	unsigned int src, dst;
	unsigned int send, recv;	/* nodes of src and dst */
	uint64_t bytes;
	enum lace_skip skip;
	unsigned int depth;
};

struct lace_match {
	size_t nr_instances, room_instances;
	struct lace_instance *instances;
	size_t nr_transfers;
	struct lace_match_transfer *transfers;
};

int lace_match(struct lace_trace *trace, struct lace_match *match,
	       struct lace_error *err);
void lace_match_free(struct lace_match *match);

/* ---- import_depth.c: how far each call is down the longest path ---- */

int lace_match_depth(const struct lace_trace *trace, struct lace_match *match,
		     struct lace_error *err);

/* ---- import_ops.c: the schedule's ops ---- */

/* Takes over what *op holds, also on failure.  An op like the last one only
 * makes that one's repeat grow.
 */
int lace_ops_append(struct lace_schedule *schedule, size_t *room,
		    struct lace_op *op, struct lace_error *err);
/* An op of one part, with a name, for nr_groups groups (zeroed). */
int lace_ops_make(struct lace_op *op, enum lace_collective collective,
		  unsigned int nr_groups, struct lace_error *err);
int lace_ops_group(struct lace_group *group, const unsigned int *ranks,
		   unsigned int nr, struct lace_error *err);
void lace_ops_free(struct lace_op *op);
int lace_match_ops(const struct lace_trace *trace,
		   const struct lace_match *match,
		   struct lace_schedule *schedule, struct lace_error *err);

/* ---- import_FORMAT.c ---- */

int lace_import_matrix(const struct lace_import *spec,
		       struct lace_schedule *schedule, FILE *report,
		       struct lace_error *err);
int lace_import_goal(const struct lace_import *spec,
		     struct lace_schedule *schedule, FILE *report,
		     struct lace_error *err);
int lace_import_msccl(const struct lace_import *spec,
		      struct lace_schedule *schedule, FILE *report,
		      struct lace_error *err);
int lace_import_pytorch(const struct lace_import *spec,
			struct lace_schedule *schedule, FILE *report,
			struct lace_error *err);
int lace_import_kineto(const struct lace_import *spec,
		       struct lace_schedule *schedule, FILE *report,
		       struct lace_error *err);
int lace_import_simai(const struct lace_import *spec,
		      struct lace_schedule *schedule, FILE *report,
		      struct lace_error *err);
int lace_import_aicb(const struct lace_import *spec,
		     struct lace_schedule *schedule, FILE *report,
		     struct lace_error *err);
int lace_import_chakra(const struct lace_import *spec,
		       struct lace_schedule *schedule, FILE *report,
		       struct lace_error *err);

#endif /* LACE_IMPORT_H */
