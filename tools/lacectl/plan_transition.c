// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl plan apply --transition": all nodes of a lab to another segment of
 * the plan while traffic flows.
 */
#include "plan_words.h"
#include "runtime.h"
#include "show.h"

#include <inttypes.h>

static json_t *json_words(const struct lace_cluster *cluster, unsigned int node,
			  const struct lace_rt_transition *transition)
{
	char text[LACE_FAULT_SIZE];
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < transition->nr_faults; i++)
		json_array_append_new(list, json_string(
			lace_fault_words(cluster, node, &transition->faults[i],
					 text)));
	return list;
}

static json_t *json_result(const char *lab, const struct lace_cluster *cluster,
			   int64_t to, const struct lace_lab_transition *result)
{
	json_t *nodes = json_object(), *one;
	unsigned int n;

	for (n = 0; n < result->nr_nodes; n++) {
		one = json_transition(&result->nodes[n]);
		json_object_set_new(one, "words",
				    json_words(cluster, n, &result->nodes[n]));
		json_object_set_new(nodes, cluster->nodes[n].name, one);
	}
	return json_pack("{s:s, s:I, s:I, s:b, s:f, s:f, s:o}", "lab", lab,
			 "from", (json_int_t)result->from,
			 "segment", (json_int_t)to, "done", result->done,
			 "total_s", result->total_s, "ocs_s", result->ocs_s,
			 "nodes", nodes);
}

static void print_result(const char *lab, const struct lace_cluster *cluster,
			 int64_t to, const struct lace_lab_transition *result)
{
	char text[LACE_FAULT_SIZE];
	unsigned int n, i;

	printf("%s: segment %" PRId64 " to %" PRId64, lab, result->from, to);
	if (!result->nr_nodes)
		puts(": unchanged");
	else
		printf(": %s in %.3f ms, OCS %.3f ms of it\n",
		       result->done ? "done" : "failed", result->total_s * 1e3,
		       result->ocs_s * 1e3);
	for (n = 0; n < result->nr_nodes; n++)
		for (i = 0; i < result->nodes[n].nr_faults; i++)
			printf("  %s\n", lace_fault_words(
				cluster, n, &result->nodes[n].faults[i], text));
}

/* The first fault that is more than another node's failure. */
static const char *cause(const struct lace_cluster *cluster,
			 const struct lace_lab_transition *result,
			 char text[LACE_FAULT_SIZE])
{
	const struct lace_rt_fault *fault;
	unsigned int n, i;

	for (n = 0; n < result->nr_nodes; n++)
		for (i = 0; i < result->nodes[n].nr_faults; i++) {
			fault = &result->nodes[n].faults[i];
			if (fault->kind == LACE_FAULT_ABORTED)
				continue;
			if (fault->kind == LACE_FAULT_HOOK)
				return result->nodes[n].reason;
			return lace_fault_words(cluster, n, fault, text);
		}
	return "no node says why";
}

/* Degraded nodes stay where they are; all others are back. */
static int verdict(const struct lace_cluster *cluster, const char *lab,
		   const struct lace_lab_transition *result,
		   struct lace_error *err)
{
	char text[LACE_FAULT_SIZE];
	unsigned int n, degraded = 0;

	if (result->done)
		return 0;
	for (n = 0; n < result->nr_nodes; n++)
		degraded += result->nodes[n].result == LACE_RESULT_DEGRADED;
	return lace_fail(err, LACE_ERR_ANSWER, "%s: %s: %s", lab,
			 degraded ? "some lanes stay closed" :
				    "the transition was rolled back",
			 cause(cluster, result, text));
}

static int go(const struct lacectl *ctl, const struct plan_words *words,
	      struct lace_lab *lab, const struct lace_plan *plan,
	      struct lace_error *err)
{
	const struct lace_cluster *cluster = lace_lab_cluster(lab);
	const struct lace_rt_request request = {
		.to = words->segment, .no_drain = words->no_drain,
		.retries = words->retries,
		.on_failure = words->degrade ? LACE_ON_FAILURE_DEGRADE :
					       LACE_ON_FAILURE_ROLLBACK,
	};
	struct lace_lab_transition result;
	struct lace_lab_group *group;
	int ret;

	if (lace_lab_group_open(lab, plan, &group, err))
		return -1;
	ret = lace_lab_group_go(group, &request, &result, err);
	lace_lab_group_close(group);
	if (ret)
		return ret;
	if (ctl->json)
		ret = print_json(ctl, json_result(words->lab, cluster,
						  words->segment, &result),
				 err);
	else
		print_result(words->lab, cluster, words->segment, &result);
	if (!ret)
		ret = print_end(err);
	if (!ret)
		ret = verdict(cluster, words->lab, &result, err);
	lace_lab_transition_free(&result);
	return ret;
}

int plan_transition(const struct lacectl *ctl, const struct plan_words *words,
		    struct lace_error *err)
{
	struct lace_plan plan = { 0 };
	struct lace_lab *lab = NULL;
	int ret;

	ret = lace_plan_read(words->plan, &plan, err);
	if (!ret)
		ret = lace_lab_open(words->lab, &lab, err);
	if (!ret)
		ret = go(ctl, words, lab, &plan, err);
	lace_lab_close(lab);
	lace_plan_free(&plan);
	return ret;
}
