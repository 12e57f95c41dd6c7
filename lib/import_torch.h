/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * What PyTorch records of its collective calls, in execution traces and in
 * profiles alike: the names of calls and types, and groups that are told by
 * name, by list, by start and stride, or not at all.
 *
 * Files are read into calls first, because only all of them together tell how
 * many ranks there are; lace_torch_schedule() does the rest.
 */
#ifndef LACE_IMPORT_TORCH_H
#define LACE_IMPORT_TORCH_H

#include "import.h"

#include <jansson.h>

enum lace_torch_kind {
	LACE_TORCH_COLLECTIVE,
	LACE_TORCH_BARRIER,
	LACE_TORCH_SEND,
	LACE_TORCH_RECV,
	LACE_TORCH_WAIT,	/* orders, but is no call */
};

struct lace_torch_call {
	uint64_t id;			/* its place among the rank's calls */
	double start, end;		/* where overlap matters */
	enum lace_torch_kind kind;
	enum lace_collective collective;
	uint64_t in_bytes, out_bytes;
	char *group;			/* name, never NULL */
	unsigned int list;		/* of ranks, in torch->lists, or NONE */
	int64_t first, stride;		/* below 0: not told */
	uint64_t size;			/* of the group; 0: not told */
	int64_t slot;			/* root or peer; below 0: not told */
	size_t nr_in, nr_out;
	uint64_t *in_splits, *out_splits;
};

struct lace_torch_rank {
	const char *file;
	size_t nr_calls, room_calls;
	struct lace_torch_call *calls;
	struct lace_named_groups noted;
};

struct lace_torch {
	const char *noun;
	bool global_peers;	/* peers are ranks, not places in the group */
	bool size_is_enough;	/* a group of all ranks needs no list */
	bool by_time;		/* calls that overlap in time are concurrent */
	uint64_t world;		/* at least so many ranks */
	unsigned int nr_ranks;	/* rank -> its trace */
	struct lace_torch_rank *ranks;
	size_t room_ranks;
	struct lace_trace lists;	/* holds nothing but lists */
	struct lace_trace trace;
};

int lace_torch_init(struct lace_torch *torch, struct lace_error *err);
void lace_torch_free(struct lace_torch *torch);
/* The place for the trace of a rank, which may not have one yet. */
int lace_torch_rank(struct lace_torch *torch, unsigned int rank,
		    const char *file, struct lace_torch_rank **slot,
		    struct lace_error *err);
/* A new call of a rank, to be filled; group is set to a copy of the name. */
int lace_torch_call(struct lace_torch_rank *rank, const char *group,
		    struct lace_torch_call **call, struct lace_error *err);
int lace_torch_schedule(struct lace_torch *torch,
			struct lace_schedule *schedule, FILE *report,
			struct lace_error *err);

/* ---- values; false if they are not what is asked for ---- */

/* The name of a call; kind and collective are set. */
bool lace_torch_name(const char *name, struct lace_torch_call *call);
/* Size of a type in bytes, 0 if it is unknown. */
unsigned int lace_torch_type(const char *name);
bool lace_torch_whole(const json_t *value, uint64_t max, uint64_t *whole);
bool lace_torch_signed(const json_t *value, int64_t *whole);
/* A list of whole numbers, also one that is written as text.  A list that the
 * writer cut short ("...") is none.
 */
bool lace_torch_list(const json_t *value, uint64_t **list, size_t *nr);
/* A file of JSON; numbers above 2^63 are read as reals. */
int lace_torch_load(const char *path, json_t **root, struct lace_error *err);

#endif /* LACE_IMPORT_TORCH_H */
