// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl top": what each lane carries now, from the counters of the module, so
 * that it needs no trace and costs nothing in between.
 */
#include "clock.h"
#include "port_line.h"
#include "show.h"
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEVICE_DEFAULT "lace0"

static const char usage[] =
	"lacectl [-j] top [-d SECONDS] [-n COUNT] [dev DEV]\n"
	"  -d time from one look to the next (1)\n"
	"  -n how many looks (without end)\n";

struct options {
	const char *dev;
	double delay_s;
	unsigned int count;	/* 0: without end */
};

/* One look at a device. */
struct look {
	double time_s;
	struct lace_rt_device device;
	struct port_line lines[LACE_MAX_PORTS];	/* as device.ports */
	struct lace_rt_lane *lanes;
	size_t nr_lanes;
};

/* What a lane has done between two looks. */
struct pace {
	double bytes_s, packets_s;
	double share;		/* of the line rate; below 0: not known */
	uint64_t lost, dropped;
};

static int take_look(struct lace_client *client, const char *dev,
		     struct look *look, struct lace_error *err)
{
	if (lace_client_device(client, dev, &look->device, err) ||
	    port_lines_read(look->device.ports, look->device.nr_ports,
			    look->lines, err) ||
	    lace_client_lanes(client, dev, &look->lanes, &look->nr_lanes, err))
		return -1;
	look->time_s = now_s();
	return 0;
}

static const struct lace_rt_lane *find_lane(const struct look *look,
					    const struct lace_rt_lane *lane)
{
	size_t i;

	for (i = 0; i < look->nr_lanes; i++)
		if (look->lanes[i].port == lane->port &&
		    look->lanes[i].dir == lane->dir &&
		    look->lanes[i].port_ifindex == lane->port_ifindex)
			return &look->lanes[i];
	return NULL;
}

static const struct port_line *line_of(const struct look *look,
				       const struct lace_rt_lane *lane)
{
	static const struct port_line unknown;
	unsigned int i;

	for (i = 0; i < look->device.nr_ports; i++)
		if (look->device.ports[i].number == lane->port)
			return &look->lines[i];
	return &unknown;
}

/* What was taken for lost may turn out not to be: that counter can fall. */
static uint64_t grown(const struct lace_rt_lane *before,
		      const struct lace_rt_lane *lane, int stat)
{
	if (lane->stats[stat] < before->stats[stat])
		return 0;
	return lane->stats[stat] - before->stats[stat];
}

/* A lane that is new has done nothing yet. */
static struct pace pace_of(const struct look *before, const struct look *now,
			   const struct lace_rt_lane *lane)
{
	const struct lace_rt_lane *old = find_lane(before, lane);
	const struct port_line *line = line_of(now, lane);
	double seconds = now->time_s - before->time_s;
	struct pace pace = { .share = line->rate_bps ? 0 : -1 };

	if (!old || seconds <= 0)
		return pace;
	pace.bytes_s = grown(old, lane, LACE_A_LANESTAT_BYTES) / seconds;
	pace.packets_s = grown(old, lane, LACE_A_LANESTAT_PACKETS) / seconds;
	pace.lost = grown(old, lane, LACE_A_LANESTAT_LOST);
	pace.dropped = grown(old, lane, LACE_A_LANESTAT_DROPPED);
	if (line->rate_bps)
		pace.share = 8 * (pace.bytes_s +
				  pace.packets_s * line->overhead) /
			     (double)line->rate_bps;
	return pace;
}

/* ---- output ---- */

static json_t *json_pace(const struct look *before, const struct look *now,
			 const struct lace_rt_lane *lane)
{
	const struct port_line *line = line_of(now, lane);
	struct pace pace = pace_of(before, now, lane);
	bool tx = lane->dir == LACE_DIR_TX;
	char name[IFNAMSIZ];

	return json_pack("{s:i, s:s, s:s, s:o, s:o, s:s, s:b, s:f, s:f, s:o, s:o, "
			 "s:o, s:o, s:I, s:I}",
			 "port", lane->port, "ifname",
			 lane_port_name(lane, name), "dir",
			 lane_dir_name(lane->dir), "peer",
			 json_or_null(lane->peer), "peer_port",
			 json_or_null(lane->peer < 0 ? LACE_RT_NONE :
						       lane->peer_port),
			 "state", lane_state_name(lane->state),
			 "closed", lane->closed,
			 "bits_per_s", 8 * pace.bytes_s,
			 "packets_per_s", pace.packets_s, "line_rate_bps",
			 json_or_null(line->rate_bps ? (int64_t)line->rate_bps :
						       LACE_RT_NONE),
			 "share", pace.share < 0 ? json_null() :
						   json_real(pace.share),
			 "backlog_bytes", tx ? json_integer(line->backlog) :
					       json_null(),
			 "rtt_ns", json_or_null(lane->rtt_ns),
			 "lost", (json_int_t)pace.lost,
			 "dropped", (json_int_t)pace.dropped);
}

static json_t *json_look(const struct look *before, const struct look *now)
{
	json_t *lanes = json_array();
	size_t i;

	for (i = 0; i < now->nr_lanes; i++)
		json_array_append_new(lanes, json_pace(before, now,
						       &now->lanes[i]));
	return json_pack("{s:s, s:o, s:f, s:o}", "dev", now->device.ifname,
			 "segment", json_or_null(now->device.segment),
			 "seconds", now->time_s - before->time_s,
			 "lanes", lanes);
}

/* "12.3M" of bits or packets, in as few places as can be. */
static const char *short_number(double number, char text[16])
{
	static const char units[] = " kMGTP";
	unsigned int unit = 0;

	while (number >= 999.5 && unit < sizeof(units) - 2) {
		number /= 1000;
		unit++;
	}
	snprintf(text, 16, number < 9.995 && unit ? "%.2f%c" :
			   number < 99.95 && unit ? "%.1f%c" : "%.0f%c",
		 number, units[unit]);
	if (!unit)
		text[strcspn(text, " ")] = '\0';
	return text;
}

/* A lane that is closed for data may be up. */
static const char *state_of(const struct lace_rt_lane *lane)
{
	if (lane->peer < 0)
		return "-";
	return lane->closed ? "closed" : lane_state_name(lane->state);
}

static void print_pace(const struct look *before, const struct look *now,
		       const struct lace_rt_lane *lane)
{
	const struct port_line *line = line_of(now, lane);
	struct pace pace = pace_of(before, now, lane);
	char rate[16], packets[16], backlog[16] = "-", peer[24] = "-";
	char share[16] = "-", rtt[16] = "-", name[IFNAMSIZ];

	if (lane->peer >= 0)
		snprintf(peer, sizeof(peer), "%d/%u", lane->peer,
			 lane->peer_port);
	if (pace.share >= 0)
		snprintf(share, sizeof(share), "%.1f%%", 100 * pace.share);
	if (lane->dir == LACE_DIR_TX)
		short_number(line->backlog, backlog);
	if (lane->rtt_ns != LACE_RT_NONE)
		snprintf(rtt, sizeof(rtt), "%.3fms", lane->rtt_ns / 1e6);
	printf("%4u %-15s %-3s %-8s %-10s %8s %7s %8s %8s %10s %6" PRIu64
	       " %6" PRIu64 "\n", lane->port, lane_port_name(lane, name),
	       lane_dir_name(lane->dir), peer,
	       state_of(lane),
	       short_number(8 * pace.bytes_s, rate), share,
	       short_number(pace.packets_s, packets), backlog, rtt, pace.lost,
	       pace.dropped);
}

static void print_look(const struct look *before, const struct look *now)
{
	size_t i;

	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	printf("%s", now->device.ifname);
	print_or_none(" segment", now->device.segment);
	printf(", %.1f s\n", now->time_s - before->time_s);
	printf("port %-15s dir %-8s %-10s %8s %7s %8s %8s %10s   lost   drop\n",
	       "ifname", "peer", "state", "bit/s", "line", "pkt/s", "backlog",
	       "rtt");
	for (i = 0; i < now->nr_lanes; i++)
		print_pace(before, now, &now->lanes[i]);
}

static int report(const struct lacectl *ctl, const struct look *before,
		  const struct look *now, struct lace_error *err)
{
	if (ctl->json)
		return print_json(ctl, json_look(before, now), err);
	print_look(before, now);
	return print_end(err);
}

/* ---- the command ---- */

static int wait_for(double seconds, struct lace_error *err)
{
	struct timespec time = { .tv_sec = (time_t)seconds };

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	while (nanosleep(&time, &time))
		if (errno != EINTR)
			return lace_fail(err, LACE_ERR_SYSTEM,
					 "cannot wait: %s", strerror(errno));
	return 0;
}

static int watch(const struct lacectl *ctl, struct lace_client *client,
		 const struct options *options, struct lace_error *err)
{
	struct look looks[2] = {};
	struct look *before = &looks[0], *now = &looks[1], *swap;
	unsigned int n;
	int ret;

	ret = take_look(client, options->dev, before, err);
	for (n = 0; !ret && (!options->count || n < options->count); n++) {
		ret = wait_for(options->delay_s, err);
		if (!ret)
			ret = take_look(client, options->dev, now, err);
		if (!ret)
			ret = report(ctl, before, now, err);
		free(before->lanes);
		before->lanes = NULL;
		swap = before;
		before = now;
		now = swap;
	}
	free(before->lanes);
	free(now->lanes);
	return ret;
}

static int parse_options(struct args *args, struct options *options,
			 struct lace_error *err)
{
	const char *word, *value;
	int ret = 0;

	while (!ret && (word = args_next(args))) {
		if (strcmp(word, "-d") && strcmp(word, "-n") &&
		    strcmp(word, "dev"))
			return lace_fail(err, LACE_ERR_INPUT,
					 "unexpected \"%s\"", word);
		if (args_word(args, word, &value, err))
			return -1;
		if (!strcmp(word, "dev"))
			options->dev = value;
		else if (!strcmp(word, "-n"))
			ret = parse_count(value, "-n", &options->count, err);
		else
			ret = parse_seconds(value, "-d", &options->delay_s,
					    err);
	}
	if (!ret && (options->delay_s < 0.01 || options->delay_s > 86400))
		ret = lace_fail(err, LACE_ERR_INPUT,
				"-d is from 10 ms to a day");
	return ret;
}

static int run(const struct lacectl *ctl, int argc, char **argv,
	       struct lace_error *err)
{
	struct options options = { .dev = DEVICE_DEFAULT, .delay_s = 1 };
	struct args args = { argc, argv };
	struct lace_client *client;
	int ret;

	if (parse_options(&args, &options, err) ||
	    lace_client_open(NULL, &client, err))
		return -1;
	ret = watch(ctl, client, &options, err);
	lace_client_close(client);
	return ret;
}

const struct object top_object = { "top", usage, NULL, run };
