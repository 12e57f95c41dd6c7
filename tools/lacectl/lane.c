// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl lane": where each lane leads in the active segment, and what it has
 * carried.
 */
#include "../../kmod/stat_names.h"
#include "show.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"lacectl [-s] lane [show [dev DEV]]\n"
	"  -s prints counters\n";

const char *lane_dir_name(uint8_t dir)
{
	return dir == LACE_DIR_TX ? "tx" : "rx";
}

const char *lane_state_name(uint8_t state)
{
	static const char *const names[] = {
		[LACE_LANE_STATE_UNVERIFIED] = "unverified",
		[LACE_LANE_STATE_UP] = "up",
		[LACE_LANE_STATE_DARK] = "dark",
	};

	return state < sizeof(names) / sizeof(*names) ? names[state] : "?";
}

/* Name of the port's interface; "" once that has gone. */
const char *lane_port_name(const struct lace_rt_lane *lane,
			   char name[IFNAMSIZ])
{
	if (!lane->port_ifindex || !if_indextoname(lane->port_ifindex, name))
		name[0] = '\0';
	return name;
}

json_t *json_lane(const struct lace_rt_lane *lane)
{
	char name[IFNAMSIZ];

	lane_port_name(lane, name);
	return json_pack("{s:s, s:i, s:o, s:s, s:o, s:o, s:s, s:o, s:o, s:b, s:b, s:o, s:o}",
			 "dev", lane->ifname, "port", lane->port,
			 "ifname", name[0] ? json_string(name) : json_null(),
			 "dir", lane_dir_name(lane->dir),
			 "peer", json_or_null(lane->peer),
			 "peer_port", lane->peer < 0 ? json_null() :
				json_integer(lane->peer_port),
			 "state", lane_state_name(lane->state),
			 "silence_ms", json_or_null(lane->silence_ms),
			 "rtt_ns", json_or_null(lane->rtt_ns),
			 "drained", lane->drained, "closed", lane->closed,
			 "epoch", lane->epoch ? json_integer(lane->epoch) :
				json_null(),
			 "stats", json_stats(lace_lane_stat_names, lane->stats,
					     LACE_A_LANESTAT_MAX));
}

/* What the lane protocol knows besides counts. */
static void print_word(const struct lace_rt_lane *lane)
{
	if (lane->silence_ms == LACE_RT_NONE)
		return;
	printf("    heard %.3fs ago", lane->silence_ms / 1e3);
	if (lane->rtt_ns != LACE_RT_NONE)
		printf(" rtt %.3fms", lane->rtt_ns / 1e6);
	if (lane->dir == LACE_DIR_TX)
		printf(lane->drained ? " drained" : " not drained");
	putchar('\n');
}

void print_lane(const struct lacectl *ctl, const struct lace_rt_lane *lane)
{
	char name[IFNAMSIZ];

	lane_port_name(lane, name);
	printf("%s port %u %s %s", lane->ifname, lane->port,
	       name[0] ? name : "(gone)", lane_dir_name(lane->dir));
	if (lane->peer < 0)
		printf(" no circuit\n");
	else
		printf(" %s node %d port %u %s%s\n",
		       lane->dir == LACE_DIR_TX ? "to" : "from", lane->peer,
		       lane->peer_port, lane_state_name(lane->state),
		       lane->closed ? " closed" : "");
	if (!ctl->stats)
		return;
	print_word(lane);
	print_stats(lace_lane_stat_names, lane->stats, LACE_A_LANESTAT_MAX);
}

static int lane_show(const struct lacectl *ctl, int argc, char **argv,
		     struct lace_error *err)
{
	struct args args = { argc, argv };
	struct lace_client *client;
	struct selection selection;
	struct lace_rt_lane *lanes;
	json_t *list = NULL;
	size_t nr, i;
	int ret;

	if (args_selection(&args, "lane", 0, &selection, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = lace_client_lanes(client, selection.dev, &lanes, &nr, err);
	lace_client_close(client);
	if (ret)
		return ret;
	if (ctl->json)
		list = json_array();
	for (i = 0; i < nr; i++)
		if (ctl->json)
			json_array_append_new(list, json_lane(&lanes[i]));
		else
			print_lane(ctl, &lanes[i]);
	free(lanes);
	return ctl->json ? print_json(ctl, list, err) : print_end(err);
}

static const struct command commands[] = {
	{ "show", lane_show },
	{ NULL, NULL },
};

const struct object lane_object = { "lane", usage, commands, NULL };
