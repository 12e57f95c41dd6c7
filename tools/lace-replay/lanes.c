// SPDX-License-Identifier: GPL-2.0
/*
 * The lab's circuits and counters: puts a segment of the plan in force, and
 * reads what the lanes carried.
 */
#include <stdlib.h>

#include "client.h"
#include "replay.h"
#include "runtime.h"

static struct lane_use *find_lane(struct prediction *prediction,
				  unsigned int node,
				  const struct lace_rt_lane *lane)
{
	for (size_t i = 0; i < prediction->nr_lanes; i++)
		if (prediction->lanes[i].node == node &&
		    prediction->lanes[i].port == lane->port &&
		    lane->dir == LACE_DIR_TX)
			return prediction->lanes + i;
	return NULL;
}

/* Adds sign times each counter, so that two calls make a difference. */
static int add_counters(struct lanes *lanes, double sign,
			struct lace_error *err)
{
	const char *device = lace_lab_device(lanes->lab);

	for (unsigned int n = 0; n < lanes->cluster->nr_nodes; n++) {
		struct lace_rt_lane *list;
		size_t nr;

		if (lace_client_lanes(lace_lab_client(lanes->lab, n), device,
				      &list, &nr, err))
			return -1;
		for (size_t i = 0; i < nr; i++) {
			struct lane_use *use = find_lane(lanes->prediction, n,
							 list + i);

			if (use)
				use->measured += sign *
					list[i].stats[LACE_A_LANESTAT_BYTES];
		}
		free(list);
	}
	return 0;
}

/* While connections are open: no byte of theirs gets lost. */
static int go_over(struct lanes *lanes, unsigned int segment,
		   struct lace_error *err)
{
	const struct lace_rt_request request = { .to = segment };
	struct lace_lab_transition transition;
	int ret;

	if (lace_lab_group_go(lanes->group, &request, &transition, err))
		return -1;
	ret = transition.done ? 0 :
		lace_fail(err, LACE_ERR_ANSWER,
			  "the lab did not get into segment %u: %s", segment,
			  transition.nr_nodes ? transition.nodes[0].reason :
						"no node says why");
	lace_lab_transition_free(&transition);
	return ret;
}

/**
 * lanes_enter() - puts a segment in force
 * @arg:	struct lanes
 * @segment:	of the plan; counting starts with the first
 * @err:	why not
 */
int lanes_enter(void *arg, unsigned int segment, struct lace_error *err)
{
	struct lanes *lanes = arg;
	size_t nr_changes;

	if (segment)
		return lanes->transitions ? go_over(lanes, segment, err) :
			lace_lab_activate(lanes->lab, lanes->plan, segment,
					  err);
	if (lace_lab_apply(lanes->lab, lanes->plan, 0, &nr_changes, err))
		return -1;
	if (lanes->transitions &&
	    lace_lab_group_open(lanes->lab, lanes->plan, &lanes->group, err))
		return -1;
	return add_counters(lanes, -1, err);
}

/**
 * lanes_leave() - the last segment is over
 * @lanes:	lanes; the segment stays in force
 */
void lanes_leave(struct lanes *lanes)
{
	lace_lab_group_close(lanes->group);
	lanes->group = NULL;
}

/**
 * lanes_count() - what the lanes carried since the first segment's start
 * @lanes:	lanes; the prediction's are filled in
 * @err:	why not
 */
int lanes_count(struct lanes *lanes, struct lace_error *err)
{
	return add_counters(lanes, 1, err);
}
