// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * All nodes of a lab go to another segment together, while traffic flows: this
 * process is the SWITCH hook of each of them, and commands the OCS.
 *
 * DESIGN NOTES
 *
 * Every node runs a transition of its own.  The OCS moves circuits of all of
 * them, so it is switched when each node that is under way has called: then all
 * lanes that will move are closed and drained.  All nodes are answered at once.
 *
 * The goal is one for all.  It changes once, from the new segment to the old
 * one, as soon as a node is known to have failed: those that are under way are
 * told to abort, those that are done start a transition back.  One that fails on
 * its way back stays there, without the lanes that failed.  Calls for another
 * segment than the goal are stale; their nodes will call again.
 */
#include "lab_impl.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOOK_NAME "lab"
/* The module ends every transition by its own deadlines. */
#define PATIENCE_MS 30000

struct member {
	struct lace_client *client;
	struct lace_monitor *monitor;
	bool running;
	bool called;
	bool returning; /* was told to go back */
	struct lace_rt_hook call;
	struct lace_rt_transition *last;
};

struct lace_lab_group {
	struct lace_lab *lab;
	const struct lace_plan *plan;
	unsigned int nr;
	struct member *members;
	struct pollfd *fds; /* two of each member */
	int64_t active; /* segment, or LACE_RT_NONE: to be asked for */
	/* Of the transition that runs: */
	const struct lace_rt_request *request;
	struct lace_lab_transition *result;
	uint32_t goal;
	double ocs_s;
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* ---- what happens ---- */

static int read_calls(struct member *member, struct lace_error *err)
{
	struct lace_rt_hook call;
	int ret;

	while ((ret = lace_client_next_call(member->client, &call, err)) > 0) {
		if (strcmp(call.name, HOOK_NAME) ||
		    call.transition != member->last->id)
			continue;
		member->call = call;
		member->called = true;
	}
	return ret;
}

static int ask(struct lace_lab_group *group, struct member *member,
	       struct lace_error *err)
{
	if (lace_client_transition(member->client, group->lab->device,
				   member->last->id, member->last, err))
		return -1;
	member->running = member->last->result == LACE_RESULT_RUNNING;
	return 0;
}

static int read_events(struct lace_lab_group *group, struct member *member,
		       struct lace_error *err)
{
	struct lace_rt_event event;
	int ret, lost = 0;

	while ((ret = lace_monitor_next(member->monitor, &event, err)) > 0) {
		lost |= event.cmd == LACE_CMD_UNSPEC;
		if (event.cmd == LACE_CMD_TRANSITION_NTF &&
		    event.transition.id == member->last->id) {
			*member->last = event.transition;
			member->running = event.transition.result ==
					  LACE_RESULT_RUNNING;
		}
		lace_rt_event_free(&event);
	}
	return ret || !lost ? ret : ask(group, member, err);
}

static int read_all(struct lace_lab_group *group, struct lace_error *err)
{
	struct member *member;
	unsigned int n;

	for (n = 0; n < group->nr; n++) {
		member = &group->members[n];
		if (read_events(group, member, err) ||
		    read_calls(member, err))
			return lace_lab_of_node(group->lab, n, err);
	}
	return 0;
}

/* ---- back ---- */

/* A node that may go on without some lanes has not failed where it does. */
static bool has_failed(const struct member *member)
{
	const struct lace_rt_transition *last = member->last;

	return last->id &&
	       (last->back || last->result == LACE_RESULT_ROLLED_BACK ||
		(last->result == LACE_RESULT_DEGRADED &&
		 last->request.on_failure == LACE_ON_FAILURE_ROLLBACK));
}

static int start(struct lace_lab_group *group, unsigned int n, uint32_t to,
		 struct lace_error *err)
{
	struct member *member = &group->members[n];
	struct lace_rt_request request = *group->request;
	uint64_t id;

	request.to = to;
	if (to != group->request->to)
		request.on_failure = LACE_ON_FAILURE_DEGRADE;
	if (lace_client_start_transition(member->client, group->lab->device,
					 &request, &id, err))
		return lace_lab_of_node(group->lab, n, err);
	memset(member->last, 0, sizeof(*member->last));
	member->last->id = id;
	member->running = true;
	member->called = false;
	return 0;
}

/* A node that ends at this very moment needs no abort. */
static int send_back(struct lace_lab_group *group, unsigned int n,
		     struct lace_error *err)
{
	struct member *member = &group->members[n];
	struct lace_error ignored;

	member->returning = true;
	if (!member->last->id || has_failed(member))
		return 0;
	if (!member->running)
		return start(group, n, group->goal, err);
	lace_client_abort_transition(member->client, group->lab->device,
				     &ignored);
	return 0;
}

/* A node that was done before it could be told starts over, backwards. */
static int go_back(struct lace_lab_group *group, struct lace_error *err)
{
	struct member *member;
	unsigned int n;

	for (n = 0; n < group->nr; n++) {
		member = &group->members[n];
		if (!member->returning) {
			if (send_back(group, n, err))
				return -1;
		} else if (member->last->id && !member->running &&
			   member->last->result == LACE_RESULT_DONE &&
			   member->last->request.to != group->goal) {
			if (start(group, n, group->goal, err))
				return -1;
		}
	}
	return 0;
}

static bool any_failed(const struct lace_lab_group *group)
{
	unsigned int n;

	for (n = 0; n < group->nr; n++)
		if (has_failed(&group->members[n]))
			return true;
	return false;
}

/* ---- the OCS ---- */

static bool any_running(const struct lace_lab_group *group)
{
	unsigned int n;

	for (n = 0; n < group->nr; n++)
		if (group->members[n].running)
			return true;
	return false;
}

/* Also by a call that was for the goal before it was the goal: a node calls when
 * it turns back, before it says that it does.
 */
static bool has_called(const struct lace_lab_group *group,
		       const struct member *member)
{
	return member->called && member->call.to == group->goal;
}

static bool all_called(const struct lace_lab_group *group)
{
	unsigned int n;

	for (n = 0; n < group->nr; n++)
		if (group->members[n].running &&
		    !has_called(group, &group->members[n]))
			return false;
	return true;
}

static int switch_ocs(struct lace_lab_group *group, struct lace_error *err)
{
	struct lab_crosses crosses = {0};
	double begin;
	int ret;

	ret = lace_lab_crosses_of_segment(
		group->lab, &group->plan->segments[group->goal], &crosses, err);
	begin = now_s();
	if (!ret)
		ret = lace_lab_switch_ocs(group->lab, &crosses, err);
	if (!ret)
		ret = lace_lab_check_ocs(group->lab, &crosses, err);
	group->ocs_s += now_s() - begin;
	free(crosses.list);
	return ret;
}

/* All who called hear what became of it.  One whose time is over goes on by
 * itself, and is seen to.
 */
static int answer_all(struct lace_lab_group *group, const char *reason,
		      struct lace_error *err)
{
	struct member *member;
	unsigned int n;
	int ret;

	for (n = 0; n < group->nr; n++) {
		member = &group->members[n];
		if (!member->running || !has_called(group, member))
			continue;
		member->called = false;
		ret = lace_client_answer_call(member->client, &member->call,
					      reason ? EIO : 0, reason, err);
		if (ret && ret != -ESTALE)
			return lace_lab_of_node(group->lab, n, err);
	}
	return 0;
}

static int switch_all(struct lace_lab_group *group, struct lace_error *err)
{
	struct lace_error why;

	return answer_all(group, switch_ocs(group, &why) ? why.text : NULL,
			  err);
}

/* ---- from beginning to end ---- */

static int wait_for_more(struct lace_lab_group *group, struct lace_error *err)
{
	int ret;

	do {
		ret = poll(group->fds, 2 * group->nr, PATIENCE_MS);
	} while (ret < 0 && errno == EINTR);
	if (ret > 0)
		return 0;
	return lace_fail(err, LACE_ERR_SYSTEM,
			 "the nodes of the lab do not go on: %s",
			 ret ? strerror(errno) : "no word for half a minute");
}

static int run(struct lace_lab_group *group, int64_t from,
	       struct lace_error *err)
{
	while (any_running(group)) {
		if (wait_for_more(group, err) || read_all(group, err))
			return -1;
		if (any_failed(group)) {
			group->goal = (uint32_t)from;
			if (go_back(group, err))
				return -1;
		}
		if (any_running(group) && all_called(group) &&
		    switch_all(group, err))
			return -1;
	}
	return 0;
}

static int start_all(struct lace_lab_group *group, int64_t from,
		     struct lace_error *err)
{
	struct lace_error ignored;
	unsigned int n;

	for (n = 0; n < group->nr; n++) {
		if (!start(group, n, group->request->to, err))
			continue;
		group->goal = (uint32_t)from;
		while (n--)
			send_back(group, n, &ignored);
		run(group, from, &ignored);
		return -1;
	}
	return 0;
}

static void sum_up(const struct lace_lab_group *group, double begin)
{
	struct lace_lab_transition *result = group->result;
	unsigned int n;

	result->done = true;
	result->total_s = now_s() - begin;
	result->ocs_s = group->ocs_s;
	for (n = 0; n < group->nr; n++)
		result->done &= result->nodes[n].result == LACE_RESULT_DONE &&
				result->nodes[n].request.to ==
					group->request->to;
}

static int go(struct lace_lab_group *group, int64_t from,
	      struct lace_error *err)
{
	double begin = now_s();

	if (start_all(group, from, err) || run(group, from, err))
		return -1;
	sum_up(group, begin);
	return 0;
}

/* ---- what is there before ---- */

static int active_segment(struct lace_lab *lab, const struct lace_plan *plan,
			  int64_t *active, struct lace_error *err)
{
	int64_t first = 0;
	unsigned int n;

	for (n = 0; n < lab->cluster.nr_nodes; n++) {
		if (lace_lab_active(lab, n, active, err))
			return -1;
		if (!n)
			first = *active;
		if (*active != first)
			return lace_fail(
				err, LACE_ERR_ANSWER,
				"nodes have different segments in force: apply the plan without a transition first");
	}
	if (*active < 0 || *active >= plan->nr_segments)
		return lace_fail(
			err, LACE_ERR_ANSWER,
			"no segment of the plan is in force: apply it without a transition first");
	return 0;
}

static int check_plan(struct lace_lab *lab, const struct lace_plan *plan,
		      int64_t active, struct lace_error *err)
{
	size_t steps = 0;
	unsigned int n;
	int ret = 0;

	for (n = 0; n < lab->cluster.nr_nodes && !ret; n++) {
		ret = lace_lab_compare_node(lab, plan, n, active, err);
		steps += lab->nodes[n].changes.nr_steps;
	}
	lace_lab_forget(lab);
	if (ret || !steps)
		return ret;
	return lace_fail(
		err, LACE_ERR_ANSWER,
		"another plan is in force: apply this one without a transition first");
}

/* ---- the group ---- */

static int open_member(struct lace_lab_group *group, unsigned int n,
		       struct lace_error *err)
{
	struct member *member = &group->members[n];
	struct lace_lab *lab = group->lab;

	if (lace_client_open(lab->nodes[n].netns, &member->client, err) ||
	    lace_monitor_open(lab->nodes[n].netns, &member->monitor, err) ||
	    lace_client_set_hook(member->client, lab->device, HOOK_NAME,
				 1U << LACE_PHASE_SWITCH, err))
		return lace_lab_of_node(lab, n, err);
	group->fds[2 * n] = (struct pollfd){
		.fd = lace_client_fd(member->client), .events = POLLIN};
	group->fds[2 * n + 1] = (struct pollfd){
		.fd = lace_monitor_fd(member->monitor), .events = POLLIN};
	return 0;
}

static int open_members(struct lace_lab_group *group, struct lace_error *err)
{
	unsigned int n;

	group->members = calloc(group->nr + 1, sizeof(*group->members));
	group->fds = calloc(2 * group->nr + 1, sizeof(*group->fds));
	if (!group->members || !group->fds)
		return lace_no_memory(err);
	for (n = 0; n < group->nr; n++)
		if (open_member(group, n, err))
			return -1;
	return 0;
}

/**
 * lace_lab_group_open() - make ready for transitions of all nodes
 * @lab: the lab, on which the plan is in force; to be kept open
 * @plan: the plan, to be kept as well
 * @group: filled with the group, to be closed
 * @err: filled on failure
 *
 * All that can be done before traffic has to stop: sockets in all namespaces,
 * hooks, and whether the nodes have this plan.
 *
 * Return: 0 or a negative value.
 */
int lace_lab_group_open(struct lace_lab *lab, const struct lace_plan *plan,
			struct lace_lab_group **group, struct lace_error *err)
{
	int64_t active;

	if (active_segment(lab, plan, &active, err) ||
	    check_plan(lab, plan, active, err))
		return -1;
	*group = calloc(1, sizeof(**group));
	if (!*group)
		return lace_no_memory(err);
	(*group)->active = active;
	(*group)->lab = lab;
	(*group)->plan = plan;
	(*group)->nr = lab->cluster.nr_nodes;
	if (!open_members(*group, err))
		return 0;
	lace_lab_group_close(*group);
	*group = NULL;
	return -1;
}

/**
 * lace_lab_group_close() - let go of a group; its hooks are hooks no more
 * @group: the group; NULL does nothing
 */
void lace_lab_group_close(struct lace_lab_group *group)
{
	unsigned int n;

	if (!group)
		return;
	for (n = 0; group->members && n < group->nr; n++) {
		lace_client_close(group->members[n].client);
		lace_monitor_close(group->members[n].monitor);
	}
	free(group->members);
	free(group->fds);
	free(group);
}

/* Nothing is left over from the transition before but sockets. */
static int prepare(struct lace_lab_group *group,
		   const struct lace_rt_request *request,
		   struct lace_lab_transition *result, struct lace_error *err)
{
	struct member *member;
	unsigned int n;

	result->nodes = calloc(group->nr + 1, sizeof(*result->nodes));
	if (!result->nodes)
		return lace_no_memory(err);
	result->nr_nodes = group->nr;
	group->request = request;
	group->result = result;
	group->goal = request->to;
	group->ocs_s = 0;
	for (n = 0; n < group->nr; n++) {
		member = &group->members[n];
		member->last = &result->nodes[n];
		member->running = false;
		member->called = false;
		member->returning = false;
	}
	return 0;
}

/**
 * lace_lab_group_go() - go to another segment of the plan while traffic flows
 * @group: the group
 * @request: segment, and what each node is to do if it fails
 * @result: filled with what became of it, also where the nodes went back
 * @err: filled on failure
 *
 * Return: 0 or a negative value.
 */
int lace_lab_group_go(struct lace_lab_group *group,
		      const struct lace_rt_request *request,
		      struct lace_lab_transition *result,
		      struct lace_error *err)
{
	int64_t from = group->active;
	int ret;

	memset(result, 0, sizeof(*result));
	if (request->to >= group->plan->nr_segments)
		return lace_fail(err, LACE_ERR_INPUT,
				 "the plan has no segment %u, and %u segments",
				 request->to, group->plan->nr_segments);
	if (from == LACE_RT_NONE &&
	    active_segment(group->lab, group->plan, &from, err))
		return -1;
	result->from = from;
	result->done = from == request->to;
	if (result->done)
		return 0;
	ret = prepare(group, request, result, err);
	if (!ret)
		ret = go(group, from, err);
	group->active = LACE_RT_NONE;
	if (!ret && result->done)
		group->active = request->to;
	if (ret)
		lace_lab_transition_free(result);
	return ret;
}

/**
 * lace_lab_transition_free() - let go of a result
 * @result: the result
 */
void lace_lab_transition_free(struct lace_lab_transition *result)
{
	free(result->nodes);
	result->nodes = NULL;
	result->nr_nodes = 0;
}

/* ---- words ---- */

static const char *node_name(const struct lace_cluster *cluster, int32_t node)
{
	return node >= 0 && (unsigned int)node < cluster->nr_nodes ?
		       cluster->nodes[node].name :
		       "?";
}

static const char *what_failed(const struct lace_rt_fault *fault)
{
	static const char *const words[] = {
		[LACE_FAULT_UNDRAINED] = "was not drained in time",
		[LACE_FAULT_NO_CARRIER] = "has no carrier",
		[LACE_FAULT_SILENT] = "answers no probe",
		[LACE_FAULT_PORT_GONE] = "has lost its port",
	};

	if (fault->kind >= sizeof(words) / sizeof(*words) ||
	    !words[fault->kind])
		return "failed";
	return words[fault->kind];
}

/**
 * lace_fault_words() - what failed, in the names of the plan
 * @cluster: the cluster that the plan is for
 * @node: whose transition it was
 * @fault: what failed
 * @text: filled
 *
 * Return: @text.
 */
const char *lace_fault_words(const struct lace_cluster *cluster,
			     unsigned int node,
			     const struct lace_rt_fault *fault,
			     char text[LACE_FAULT_SIZE])
{
	const char *name = node_name(cluster, (int32_t)node);

	if (fault->kind == LACE_FAULT_HOOK)
		snprintf(text, LACE_FAULT_SIZE, "%s: hook %s: %s", name,
			 fault->hook, strerror(fault->error));
	else if (fault->port < 0)
		snprintf(text, LACE_FAULT_SIZE, "%s: %s", name,
			 fault->kind == LACE_FAULT_ABORTED ? "aborted" :
							     "failed");
	else if (fault->found >= 0 && fault->peer >= 0)
		snprintf(text, LACE_FAULT_SIZE,
			 "lane %s/%d reaches %s/%u, plan says %s/%u", name,
			 fault->port, node_name(cluster, fault->found),
			 fault->found_port, node_name(cluster, fault->peer),
			 fault->peer_port);
	else if (fault->peer >= 0)
		snprintf(text, LACE_FAULT_SIZE, "lane %s/%d to %s/%u %s", name,
			 fault->port, node_name(cluster, fault->peer),
			 fault->peer_port, what_failed(fault));
	else
		snprintf(text, LACE_FAULT_SIZE, "lane %s/%d %s", name,
			 fault->port, what_failed(fault));
	return text;
}
