// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Which calls of different ranks belong together: the k-th call of each member
 * of a communicator is one instance of a collective, and sends and receives
 * with the same ends and tag pair up first in, first out.  Both need only each
 * rank's own order, so a clock is never looked at.
 */
#include "import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- collectives ---- */

struct comm_state {
	unsigned int *instances;	/* the k-th is its k-th instance */
	size_t nr, room;
	unsigned int calls;		/* of the rank under way */
	unsigned int of_rank;		/* whose calls and index these are */
	unsigned int index;		/* of that rank within the group */
};

static const char *call_name(const struct lace_call *call)
{
	return call->kind == LACE_CALL_BARRIER ?
	       "barrier" : lace_collective_name(call->collective);
}

static enum lace_skip skip_reason(const struct lace_call *call, unsigned int nr)
{
	if (call->kind == LACE_CALL_BARRIER)
		return LACE_SKIP_BARRIER;
	if (call->collective != LACE_ALL_TO_ALLV && !call->bytes)
		return LACE_SKIP_ZERO_BYTES;
	if (nr == 1)
		return LACE_SKIP_SINGLE_RANK;
	return LACE_TRAFFIC;
}

static int new_instance(struct lace_trace *trace, struct lace_match *match,
			unsigned int rank, unsigned int node,
			struct comm_state *state, struct lace_error *err)
{
	const struct lace_trace_rank *from = &trace->ranks[rank];
	const struct lace_call *call = &from->calls[from->nodes[node].call];
	unsigned int nr = trace->comms[call->comm].nr;
	struct lace_instance *instance;
	int ret;

	ret = lace_import_grow(&match->instances, &match->room_instances,
			       match->nr_instances + 1,
			       sizeof(*match->instances), err);
	if (!ret)
		ret = lace_import_grow(&state->instances, &state->room,
				       state->nr + 1,
				       sizeof(*state->instances), err);
	if (ret)
		return ret;
	instance = &match->instances[match->nr_instances];
	*instance = (struct lace_instance){
		.call = call,
		.rank = rank,
		.node = node,
		.skip = skip_reason(call, nr),
	};
	state->instances[state->nr++] = match->nr_instances++;
	if (call->splits) {
		instance->matrix = calloc((size_t)nr * nr, sizeof(uint64_t));
		if (!instance->matrix)
			return lace_import_no_memory(err);
	}
	return 0;
}

/* Members must mean the same call. */
static int agree(const struct lace_trace *trace,
		 const struct lace_instance *instance, unsigned int rank,
		 unsigned int node, struct lace_error *err)
{
	const struct lace_trace_rank *from = &trace->ranks[rank];
	const struct lace_trace_rank *first = &trace->ranks[instance->rank];
	const struct lace_call *a = instance->call;
	const struct lace_call *b = &from->calls[from->nodes[node].call];
	uint64_t first_id = first->nodes[instance->node].id - first->hidden;

	if (a->kind != b->kind || a->collective != b->collective)
		return lace_trace_fail(trace, rank, &from->nodes[node], err,
				       "%s, where rank %u has %s (%s %" PRIu64
				       ") on the same group \"%.60s\"",
				       call_name(b), instance->rank,
				       call_name(a), trace->noun, first_id,
				       trace->comms[b->comm].name);
	if (a->bytes != b->bytes)
		return lace_trace_fail(trace, rank, &from->nodes[node], err,
				       "%s of %" PRIu64 " bytes, where rank %u has %"
				       PRIu64 " bytes (%s %" PRIu64 ")",
				       call_name(b), b->bytes, instance->rank,
				       a->bytes, trace->noun, first_id);
	if (a->root != b->root)
		return lace_trace_fail(trace, rank, &from->nodes[node], err,
				       "%s with root %u, where rank %u has root %u (%s %"
				       PRIu64 ")",
				       call_name(b), b->root, instance->rank,
				       a->root, trace->noun, first_id);
	return 0;
}

static int add_member(struct lace_trace *trace, struct lace_match *match,
		      struct comm_state *states, unsigned int rank,
		      unsigned int node, struct lace_error *err)
{
	struct lace_trace_rank *from = &trace->ranks[rank];
	struct lace_call *call = &from->calls[from->nodes[node].call];
	const struct lace_comm *comm = &trace->comms[call->comm];
	struct comm_state *state = &states[call->comm];
	struct lace_instance *instance;
	int ret;

	if (state->of_rank != rank) {
		state->of_rank = rank;
		state->calls = 0;
		state->index = lace_comm_index(comm, rank);
	}
	if (state->index == LACE_NONE)
		return lace_trace_fail(trace, rank, &from->nodes[node], err,
				       "calls group \"%.60s\", which it is not in",
				       comm->name);
	if (state->calls == state->nr) {
		ret = new_instance(trace, match, rank, node, state, err);
		if (ret)
			return ret;
	}
	call->match = state->instances[state->calls++];
	instance = &match->instances[call->match];
	ret = agree(trace, instance, rank, node, err);
	if (ret)
		return ret;
	instance->nr_seen++;
	if (instance->matrix)
		memcpy(instance->matrix + (size_t)state->index * comm->nr,
		       call->splits, comm->nr * sizeof(uint64_t));
	return 0;
}

/* Names a member that did not come to an instance that others came to. */
static int member_missing(const struct lace_trace *trace,
			  const struct lace_match *match,
			  const struct lace_instance *instance,
			  struct lace_error *err)
{
	const struct lace_comm *comm = &trace->comms[instance->call->comm];
	const struct lace_trace_rank *rank;
	unsigned int i, missing = LACE_NONE;
	size_t k;

	for (i = 0; i < comm->nr && missing == LACE_NONE; i++) {
		rank = &trace->ranks[comm->ranks[i]];
		for (k = 0; k < rank->nr_calls; k++)
			if (rank->calls[k].kind <= LACE_CALL_BARRIER &&
			    &match->instances[rank->calls[k].match] == instance)
				break;
		if (rank->file && k == rank->nr_calls)
			missing = comm->ranks[i];
	}
	rank = &trace->ranks[instance->rank];
	return lace_trace_fail(trace, instance->rank,
			       &rank->nodes[instance->node], err,
			       "%s on group \"%.60s\", in which rank %u takes no part (%u of %u do)",
			       call_name(instance->call), comm->name, missing,
			       instance->nr_seen, comm->nr);
}

/* Nobody else can tell what a rank without a trace sends to each member. */
static int splits_missing(const struct lace_trace *trace,
			  const struct lace_instance *instance,
			  struct lace_error *err)
{
	const struct lace_comm *comm = &trace->comms[instance->call->comm];
	const struct lace_trace_rank *rank = &trace->ranks[instance->rank];
	unsigned int i = 0;

	while (trace->ranks[comm->ranks[i]].file)
		i++;
	return lace_trace_fail(trace, instance->rank,
			       &rank->nodes[instance->node], err,
			       "all_to_allv needs a trace of every member, and rank %u has none",
			       comm->ranks[i]);
}

static unsigned int nr_present(const struct lace_trace *trace,
			       const struct lace_comm *comm)
{
	unsigned int i, nr = 0;

	for (i = 0; i < comm->nr; i++)
		nr += !!trace->ranks[comm->ranks[i]].file;
	return nr;
}

static int everybody_came(const struct lace_trace *trace,
			  const struct lace_match *match,
			  const struct comm_state *states,
			  struct lace_error *err)
{
	unsigned int c;
	size_t k;

	for (c = 0; c < trace->nr_comms; c++) {
		unsigned int expected = nr_present(trace, &trace->comms[c]);

		/* Whoever calls it at all is in the first instance. */
		if (trace->comms[c].some_may_miss && states[c].nr)
			expected = match->instances[states[c].instances[0]].nr_seen;
		for (k = 0; k < states[c].nr; k++) {
			const struct lace_instance *instance =
				&match->instances[states[c].instances[k]];

			if (instance->nr_seen != expected)
				return member_missing(trace, match, instance,
						      err);
			if (instance->matrix && expected < trace->comms[c].nr)
				return splits_missing(trace, instance, err);
		}
	}
	return 0;
}

/* What a member says it gets must be what the others say they send. */
static int check_splits(const struct lace_trace *trace,
			const struct lace_match *match, unsigned int rank,
			unsigned int node, struct lace_error *err)
{
	const struct lace_trace_rank *from = &trace->ranks[rank];
	const struct lace_call *call = &from->calls[from->nodes[node].call];
	const struct lace_instance *instance = &match->instances[call->match];
	const struct lace_comm *comm = &trace->comms[call->comm];
	unsigned int me = lace_comm_index(comm, rank), i;

	for (i = 0; i < comm->nr; i++) {
		uint64_t sent = instance->matrix[(size_t)i * comm->nr + me];
		uint64_t got = call->splits[comm->nr + i];

		if (sent != got)
			return lace_trace_fail(trace, rank, &from->nodes[node],
					       err,
					       "expects %" PRIu64
					       " bytes from rank %u, which sends %" PRIu64,
					       got, comm->ranks[i], sent);
	}
	return 0;
}

static int finish_matrices(const struct lace_trace *trace,
			   struct lace_match *match, struct lace_error *err)
{
	const struct lace_trace_rank *rank;
	unsigned int r, nr;
	size_t i, k;
	int ret;

	for (r = 0; r < trace->nr_ranks; r++) {
		rank = &trace->ranks[r];
		for (i = 0; i < rank->nr_nodes; i++) {
			if (rank->nodes[i].call == LACE_NONE ||
			    !rank->calls[rank->nodes[i].call].splits)
				continue;
			ret = check_splits(trace, match, r, i, err);
			if (ret)
				return ret;
		}
	}
	for (k = 0; k < match->nr_instances; k++) {
		struct lace_instance *instance = &match->instances[k];
		bool any = false;

		if (!instance->matrix || instance->skip != LACE_TRAFFIC)
			continue;
		nr = trace->comms[instance->call->comm].nr;
		for (i = 0; i < (size_t)nr * nr; i++)
			any |= instance->matrix[i] && i / nr != i % nr;
		if (!any)
			instance->skip = LACE_SKIP_ZERO_BYTES;
	}
	return 0;
}

static int match_collectives(struct lace_trace *trace, struct lace_match *match,
			     struct lace_error *err)
{
	struct comm_state *states;
	unsigned int r, c;
	size_t i, k;
	int ret = 0;

	states = calloc(trace->nr_comms + 1, sizeof(*states));
	if (!states)
		return lace_import_no_memory(err);
	for (c = 0; c < trace->nr_comms; c++)
		states[c].of_rank = LACE_NONE;
	for (r = 0; r < trace->nr_ranks && !ret; r++) {
		const struct lace_trace_rank *rank = &trace->ranks[r];

		for (i = 0, k = 0; k < rank->nr_calls && !ret; k++) {
			unsigned int node = rank->order[i++];

			if (rank->calls[rank->nodes[node].call].kind <=
			    LACE_CALL_BARRIER)
				ret = add_member(trace, match, states, r, node,
						 err);
		}
	}
	if (!ret)
		ret = everybody_came(trace, match, states, err);
	if (!ret)
		ret = finish_matrices(trace, match, err);
	for (c = 0; c < trace->nr_comms; c++)
		free(states[c].instances);
	free(states);
	return ret;
}

/* ---- transfers ---- */

struct end {
	unsigned int src, dst;
	uint64_t tag;
	size_t seq;		/* in the order of its side */
	unsigned int node;
};

static int compare_queue(const struct end *x, const struct end *y)
{
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static int compare_ends(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	int queue = compare_queue(x, y);

	return queue ? queue : x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* All sends, or all receives, queue by queue. */
static int list_ends(const struct lace_trace *trace, enum lace_call_kind kind,
		     struct end **ends, size_t *nr, struct lace_error *err)
{
	size_t total = 0, i;
	unsigned int r;

	for (r = 0; r < trace->nr_ranks; r++)
		for (i = 0; i < trace->ranks[r].nr_calls; i++)
			total += trace->ranks[r].calls[i].kind == kind;
	*nr = 0;
	*ends = malloc((total + 1) * sizeof(**ends));
	if (!*ends)
		return lace_import_no_memory(err);
	for (r = 0; r < trace->nr_ranks; r++) {
		const struct lace_trace_rank *rank = &trace->ranks[r];

		for (i = 0; i < rank->nr_calls; i++) {
			unsigned int node = rank->order[i];
			const struct lace_call *call =
				&rank->calls[rank->nodes[node].call];
			struct end *end = &(*ends)[*nr];

			if (call->kind != kind)
				continue;
			end->src = kind == LACE_CALL_SEND ? r : call->peer;
			end->dst = kind == LACE_CALL_SEND ? call->peer : r;
			end->tag = call->tag;
			end->seq = (*nr)++;
			end->node = node;
		}
	}
	qsort(*ends, *nr, sizeof(**ends), compare_ends);
	return 0;
}

static struct lace_call *call_of(const struct lace_trace *trace,
				 unsigned int rank, unsigned int node)
{
	const struct lace_trace_rank *from = &trace->ranks[rank];

	return &from->calls[from->nodes[node].call];
}

static void add_transfer(const struct lace_trace *trace,
			 struct lace_match *match, const struct end *send,
			 const struct end *recv)
{
	const struct end *any = send ? send : recv;
	struct lace_call *call;
	struct lace_match_transfer *t = &match->transfers[match->nr_transfers];

	t->src = any->src;
	t->dst = any->dst;
	t->send = send ? send->node : LACE_NONE;
	t->recv = recv ? recv->node : LACE_NONE;
	if (recv) {
		call = call_of(trace, t->dst, recv->node);
		call->match = match->nr_transfers;
		t->bytes = call->bytes;
	}
	if (send) {
		call = call_of(trace, t->src, send->node);
		call->match = match->nr_transfers;
		t->bytes = call->bytes;
	}
	t->skip = !t->bytes ? LACE_SKIP_ZERO_BYTES :
		  t->src == t->dst ? LACE_SKIP_SELF : LACE_TRAFFIC;
	match->nr_transfers++;
}

static int unequal(const struct lace_trace *trace, const struct end *end,
		   size_t nr_sends, size_t nr_recvs, struct lace_error *err)
{
	const char *file = nr_sends ? trace->ranks[end->src].file :
				      trace->ranks[end->dst].file;

	return lace_import_fail(err, file, 0,
				"%zu sends and %zu receives from rank %u to rank %u with tag %"
				PRId64,
				nr_sends, nr_recvs, end->src, end->dst,
				(int64_t)end->tag);
}

/* One queue: nr_sends and nr_recvs that have ends and tag in common. */
static int match_queue(const struct lace_trace *trace, struct lace_match *match,
		       const struct end *sends, size_t nr_sends,
		       const struct end *recvs, size_t nr_recvs,
		       struct lace_error *err)
{
	const struct end *any = nr_sends ? sends : recvs;
	bool one_sided = !trace->ranks[any->src].file ||
			 !trace->ranks[any->dst].file;
	size_t i;

	if (nr_sends != nr_recvs && !one_sided)
		return unequal(trace, any, nr_sends, nr_recvs, err);
	for (i = 0; i < nr_sends || i < nr_recvs; i++) {
		const struct lace_call *send, *recv;

		if (!one_sided) {
			send = call_of(trace, any->src, sends[i].node);
			recv = call_of(trace, any->dst, recvs[i].node);
			if (send->bytes != recv->bytes)
				return lace_trace_fail(
					trace, any->src,
					&trace->ranks[any->src].nodes[sends[i].node],
					err,
					"sends %" PRIu64
					" bytes to rank %u, which receives %" PRIu64,
					send->bytes, any->dst, recv->bytes);
		}
		add_transfer(trace, match, i < nr_sends ? &sends[i] : NULL,
			     i < nr_recvs ? &recvs[i] : NULL);
	}
	return 0;
}

/* How many ends from here belong to the queue of first. */
static size_t queue_length(const struct end *ends, size_t nr,
			   const struct end *first)
{
	size_t len = 0;

	while (len < nr && !compare_queue(&ends[len], first))
		len++;
	return len;
}

static int match_transfers(const struct lace_trace *trace,
			   struct lace_match *match, struct lace_error *err)
{
	struct end *sends = NULL, *recvs = NULL;
	size_t nr_sends, nr_recvs, s = 0, r = 0;
	int ret;

	ret = list_ends(trace, LACE_CALL_SEND, &sends, &nr_sends, err);
	if (!ret)
		ret = list_ends(trace, LACE_CALL_RECV, &recvs, &nr_recvs, err);
	if (!ret) {
		match->transfers = malloc((nr_sends + nr_recvs + 1) *
					  sizeof(*match->transfers));
		if (!match->transfers)
			ret = lace_import_no_memory(err);
	}
	while (!ret && (s < nr_sends || r < nr_recvs)) {
		const struct end *first;
		size_t ns, nr;

		if (s == nr_sends)
			first = &recvs[r];
		else if (r == nr_recvs)
			first = &sends[s];
		else
			first = compare_queue(&sends[s], &recvs[r]) <= 0 ?
				&sends[s] : &recvs[r];
		ns = queue_length(sends + s, nr_sends - s, first);
		nr = queue_length(recvs + r, nr_recvs - r, first);
		ret = match_queue(trace, match, sends + s, ns, recvs + r, nr,
				  err);
		s += ns;
		r += nr;
	}
	free(sends);
	free(recvs);
	return ret;
}

/**
 * lace_match() - find the calls that belong together
 * @trace: all ranks, finished; match of every call is set
 * @match: filled, but for depths
 * @err: where and why it failed
 *
 * Return: 0, or negative where ranks contradict each other.
 */
int lace_match(struct lace_trace *trace, struct lace_match *match,
	       struct lace_error *err)
{
	int ret;

	memset(match, 0, sizeof(*match));
	ret = match_collectives(trace, match, err);
	if (!ret)
		ret = match_transfers(trace, match, err);
	return ret;
}

void lace_match_free(struct lace_match *match)
{
	size_t i;

	for (i = 0; i < match->nr_instances; i++)
		free(match->instances[i].matrix);
	free(match->instances);
	free(match->transfers);
	memset(match, 0, sizeof(*match));
}
