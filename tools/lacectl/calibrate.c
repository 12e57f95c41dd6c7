// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl calibrate": what the compiler needs to know of lanes and does not
 * find in a data sheet, measured on them as they run, into a cluster file.
 *
 * It sends nothing itself: it reads counters while the traffic of the day goes
 * over the lanes.
 */
#include "calibrate.h"
#include "client.h"
#include "clock.h"
#include "lab_state.h"
#include "lacectl.h"
#include "output.h"
#include "runtime.h"
#include "show.h"
#include "units.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW_S 0.05
#define SECONDS_DEFAULT 5
#define SECONDS_MAX 3600
/* A lane that differs more from the others is not slow, but broken. */
#define ALIKE 0.1
/* A lane that carries less of the fullest one's share has no lack of room, but
 * of traffic: acknowledgments, for one.
 */
#define FULL 0.5

static const char usage[] =
	"lacectl calibrate lab NAME [seconds S] [output CLUSTER]\n"
	"lacectl calibrate dev DEV -c CLUSTER --node NODE [seconds S] [output CLUSTER]\n"
	"  reads the lanes' counters for S seconds (5) while they carry TCP, and the\n"
	"  times of past transitions; writes a cluster file with the payload rate of\n"
	"  the ports, control_ratio and reconfig_s as they were measured\n"
	"  what there was no traffic or no transition for stays as it is\n";

struct words {
	const char *lab, *dev, *cluster, *node, *output;
	double seconds;
};

/* One node whose module is asked. */
struct source {
	struct lace_client *client;
	const char *dev;
	unsigned int node;	/* in the cluster */
};

/* An RX lane, and its counters over the time. */
struct lane {
	unsigned int node, port, peer, peer_port;
	struct lace_lane_count *counts;
	double ratio;		/* of the rate that the cluster file says; 0:
				 * not known
				 */
};

struct watch {
	const struct lace_cluster *cluster;
	struct source *sources;
	unsigned int nr_sources;
	size_t nr_lanes, nr_counts, max_counts;
	struct lane *lanes;
	struct lace_traffic_count before, after;
};

struct found {
	size_t nr_lanes;		/* that were busy */
	double ratio, least, most;	/* payload rate of the cluster's */
	double control_ratio;
	size_t nr_transitions;
	double reconfig_s;
	double phase_s[LACE_PHASE_MAX + 1];	/* of a node */
};

/* ---- counters ---- */

static void add_traffic(const struct lace_rt_lane *lane,
			struct lace_traffic_count *sum)
{
	const uint64_t *stats = lane->stats;

	if (lane->dir == LACE_DIR_TX) {
		sum->control_bytes += stats[LACE_A_LANESTAT_CONTROL_BYTES];
		return;
	}
	sum->acks += stats[LACE_A_LANESTAT_ACKS];
	sum->packets += stats[LACE_A_LANESTAT_PACKETS] -
			stats[LACE_A_LANESTAT_RELAY_PACKETS] -
			stats[LACE_A_LANESTAT_CONTROL_PACKETS];
	sum->bytes += stats[LACE_A_LANESTAT_BYTES] -
		      stats[LACE_A_LANESTAT_RELAY_BYTES] -
		      stats[LACE_A_LANESTAT_CONTROL_BYTES];
}

static struct lane *find_lane(struct watch *watch, unsigned int node,
			      const struct lace_rt_lane *from)
{
	struct lane *lane;

	for (size_t i = 0; i < watch->nr_lanes; i++)
		if (watch->lanes[i].node == node &&
		    watch->lanes[i].port == from->port)
			return &watch->lanes[i];
	if (watch->nr_counts)
		return NULL;	/* came later */
	lane = &watch->lanes[watch->nr_lanes];
	*lane = (struct lane){
		.node = node, .port = from->port,
		.peer = from->peer, .peer_port = from->peer_port,
		.counts = calloc(watch->max_counts, sizeof(*lane->counts)),
	};
	watch->nr_lanes += !!lane->counts;
	return lane->counts ? lane : NULL;
}

static void take_lane(struct watch *watch, unsigned int node, double at_s,
		      const struct lace_rt_lane *from,
		      struct lace_traffic_count *sum)
{
	struct lane *lane;

	add_traffic(from, sum);
	if (from->dir != LACE_DIR_RX || from->peer < 0 ||
	    (unsigned int)from->peer >= watch->cluster->nr_nodes)
		return;
	lane = find_lane(watch, node, from);
	if (lane)
		lane->counts[watch->nr_counts] = (struct lace_lane_count){
			at_s, from->stats[LACE_A_LANESTAT_BYTES],
		};
}

/* The time is that of each node's own answer. */
static int take_node(struct watch *watch, const struct source *source,
		     struct lace_traffic_count *sum, struct lace_error *err)
{
	struct lace_rt_lane *lanes;
	size_t nr;
	int ret = lace_client_lanes(source->client, source->dev, &lanes, &nr,
				    err);
	double at_s = now_s();

	if (ret)
		return ret;
	for (size_t i = 0; i < nr; i++)
		take_lane(watch, source->node, at_s, &lanes[i], sum);
	free(lanes);
	return 0;
}

static int take_counts(struct watch *watch, struct lace_error *err)
{
	struct lace_traffic_count sum = { 0 };

	for (unsigned int i = 0; i < watch->nr_sources; i++)
		if (take_node(watch, &watch->sources[i], &sum, err))
			return -1;
	if (!watch->nr_counts)
		watch->before = sum;
	watch->after = sum;
	watch->nr_counts++;
	return 0;
}

static void pause_s(double seconds)
{
	struct timespec time = { seconds, (seconds - (int)seconds) * 1e9 };

	nanosleep(&time, NULL);
}

static int watch_lanes(struct watch *watch, double seconds,
		       struct lace_error *err)
{
	watch->max_counts = seconds / WINDOW_S + 1;
	watch->lanes = calloc((size_t)watch->nr_sources * LACE_MAX_PORTS,
			      sizeof(*watch->lanes));
	if (!watch->lanes)
		return lace_no_memory(err);
	while (watch->nr_counts < watch->max_counts) {
		if (take_counts(watch, err))
			return -1;
		pause_s(WINDOW_S);
	}
	return 0;
}

static void watch_free(struct watch *watch)
{
	for (size_t i = 0; i < watch->nr_lanes; i++)
		free(watch->lanes[i].counts);
	free(watch->lanes);
}

/* ---- estimates ---- */

static struct lace_traffic_count difference(const struct watch *watch)
{
	const struct lace_traffic_count *a = &watch->before, *b = &watch->after;

	return (struct lace_traffic_count){
		b->packets - a->packets, b->bytes - a->bytes,
		b->control_bytes - a->control_bytes, b->acks - a->acks,
	};
}

static double circuit_bps(const struct lace_cluster *cluster,
			  const struct lane *lane)
{
	const struct lace_node *tx = &cluster->nodes[lane->peer];
	const struct lace_node *rx = &cluster->nodes[lane->node];

	if (lane->peer_port >= tx->nr_ports || lane->port >= rx->nr_ports)
		return 0;
	return fmin(tx->ports[lane->peer_port].rate_bps,
		    rx->ports[lane->port].rate_bps);
}

static double lane_ratio(const struct watch *watch, const struct lane *lane,
			 double scale)
{
	double planned = scale * circuit_bps(watch->cluster, lane);

	if (planned <= 0)
		return 0;
	return lace_calibrate_rate(lane->counts, watch->nr_counts) / planned;
}

/* Fills in what each lane carried; those that nothing filled count as unknown. */
static void estimate_lanes(struct watch *watch, double scale)
{
	double most = 0;

	for (size_t i = 0; i < watch->nr_lanes; i++) {
		struct lane *lane = &watch->lanes[i];

		lane->ratio = lane_ratio(watch, lane, scale);
		most = fmax(most, lane->ratio);
	}
	for (size_t i = 0; i < watch->nr_lanes; i++)
		if (watch->lanes[i].ratio <= FULL * most)
			watch->lanes[i].ratio = 0;
}

static int estimate_rates(const struct watch *watch, double payload,
			  struct found *found, struct lace_error *err)
{
	double *ratios = calloc(watch->nr_lanes + 1, sizeof(*ratios));

	if (!ratios)
		return lace_no_memory(err);
	for (size_t i = 0; i < watch->nr_lanes; i++)
		if (watch->lanes[i].ratio > 0)
			ratios[found->nr_lanes++] =
				payload * watch->lanes[i].ratio;
	if (found->nr_lanes) {
		found->ratio = lace_calibrate_median(ratios, found->nr_lanes);
		found->least = ratios[0];
		found->most = ratios[found->nr_lanes - 1];
	}
	free(ratios);
	return 0;
}

/* A lane that is busy and slow is named: it is not for the compiler to plan
 * around, but to be repaired.
 */
static void name_odd_lanes(const struct watch *watch, double payload,
			   const struct found *found)
{
	const struct lace_node *nodes = watch->cluster->nodes;

	for (size_t i = 0; i < watch->nr_lanes; i++) {
		const struct lane *lane = &watch->lanes[i];
		double of_others = payload * lane->ratio / found->ratio;

		if (!(lane->ratio > 0) || fabs(of_others - 1) <= ALIKE)
			continue;
		fprintf(stderr,
			"lacectl: lane %s/%u to %s/%u has %.3f of the others' rate\n",
			nodes[lane->peer].name, lane->peer_port,
			nodes[lane->node].name, lane->port,
			of_others);
	}
}

/* What the nodes remember of transitions. */
struct history {
	size_t nr, nr_clean;
	struct lace_transition_span *spans;
	double phase_s[LACE_PHASE_MAX + 1];	/* sums over those that are clean */
};

static void add_transition(struct history *history,
			   const struct lace_rt_transition *transition)
{
	bool moved = transition->ports;
	bool failed = transition->result != LACE_RESULT_DONE ||
		      transition->nr_faults;

	history->spans[history->nr++] = (struct lace_transition_span){
		transition->begun_ns,
		transition->begun_ns + transition->total_ns, moved,
		failed,
	};
	if (!moved || failed)
		return;
	history->nr_clean++;
	for (unsigned int i = 1; i <= LACE_PHASE_MAX; i++)
		history->phase_s[i] += 1e-9 * transition->times_ns[i];
}

static int add_transitions(const struct source *source,
			   struct history *history, struct lace_error *err)
{
	struct lace_rt_transition *list;
	size_t nr;
	int ret = lace_client_transitions(source->client, source->dev, &list,
					  &nr, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < nr && i < LACE_TRANSITION_HISTORY; i++)
		add_transition(history, &list[i]);
	free(list);
	return 0;
}

static int estimate_transitions(const struct watch *watch, struct found *found,
				struct lace_error *err)
{
	struct history history = {
		.spans = calloc((size_t)watch->nr_sources *
				LACE_TRANSITION_HISTORY, sizeof(*history.spans)),
	};
	int ret = history.spans ? 0 : lace_no_memory(err);

	for (unsigned int i = 0; !ret && i < watch->nr_sources; i++)
		ret = add_transitions(&watch->sources[i], &history, err);
	if (!ret)
		found->reconfig_s = lace_calibrate_transition(
			history.spans, history.nr, &found->nr_transitions);
	for (unsigned int i = 1; history.nr_clean && i <= LACE_PHASE_MAX; i++)
		found->phase_s[i] = history.phase_s[i] / history.nr_clean;
	free(history.spans);
	return ret;
}

static int estimate(struct watch *watch, double scale,
		    struct found *found, struct lace_error *err)
{
	struct lace_traffic_count traffic = difference(watch);
	double payload = lace_calibrate_payload(&traffic);

	estimate_lanes(watch, scale);
	if (estimate_rates(watch, payload, found, err))
		return -1;
	found->control_ratio = lace_calibrate_control(&traffic);
	if (!found->nr_lanes)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "no lane was busy for long enough: calibrate while traffic flows");
	name_odd_lanes(watch, payload, found);
	return estimate_transitions(watch, found, err);
}

/* ---- results ---- */

/* All ports by one number: what differs from port to port is the cluster file's
 * to say, and chance.
 */
static void apply(const struct found *found, struct lace_cluster *cluster)
{
	for (unsigned int n = 0; n < cluster->nr_nodes; n++)
		for (unsigned int p = 0; p < cluster->nodes[n].nr_ports; p++) {
			struct lace_port *port = &cluster->nodes[n].ports[p];

			port->rate_bps = llround(port->rate_bps * found->ratio);
		}
	cluster->control_ratio = found->control_ratio;
	if (found->nr_transitions)
		cluster->reconfig_s = found->reconfig_s;
}

static int write_cluster(const char *path, const struct lace_cluster *cluster,
			 struct lace_error *err)
{
	struct output output;

	if (output_open(&output, path, err))
		return -1;
	lace_cluster_write(output.file, cluster);
	return output_close(&output, err);
}

static json_t *json_phases(const struct found *found)
{
	json_t *phases;

	if (!found->nr_transitions)
		return json_null();
	phases = json_object();
	for (unsigned int i = 1; i <= LACE_PHASE_MAX; i++)
		json_object_set_new(phases, phase_name(i),
				    json_real(found->phase_s[i]));
	return phases;
}

static void print_transitions(const struct found *found)
{
	if (!found->nr_transitions) {
		puts("transition     there was none to measure");
		return;
	}
	printf("transition     %.3f ms (mean of %zu), at a node:", 1e3 * found->reconfig_s,
	       found->nr_transitions);
	for (unsigned int i = 1; i <= LACE_PHASE_MAX; i++)
		printf(" %s %.3f", phase_name(i), 1e3 * found->phase_s[i]);
	putchar('\n');
}

static int report(const struct lacectl *ctl, const struct found *found,
		  struct lace_error *err)
{
	if (ctl->json)
		return print_json(ctl, json_pack(
			"{s:I, s:f, s:f, s:f, s:f, s:I, s:o, s:o}",
			"lanes", (json_int_t)found->nr_lanes,
			"payload_ratio", found->ratio,
			"payload_ratio_least", found->least,
			"payload_ratio_most", found->most,
			"control_ratio", found->control_ratio,
			"transitions", (json_int_t)found->nr_transitions,
			"reconfig_s", found->nr_transitions ?
				json_real(found->reconfig_s) : json_null(),
			"phases_s", json_phases(found)),
			err);
	printf("payload rate   %.4f of the ports' rate (%zu lanes, %.4f to %.4f)\n"
	       "control ratio  %.6f\n",
	       found->ratio, found->nr_lanes, found->least, found->most,
	       found->control_ratio);
	print_transitions(found);
	return print_end(err);
}

static int calibrate(const struct lacectl *ctl, const struct words *words,
		     struct watch *watch, struct lace_cluster *cluster,
		     double scale, struct lace_error *err)
{
	struct found found = { 0 };
	int ret;

	ret = watch_lanes(watch, words->seconds, err);
	if (!ret)
		ret = estimate(watch, scale, &found, err);
	watch_free(watch);
	if (ret)
		return ret;
	apply(&found, cluster);
	if (words->output && write_cluster(words->output, cluster, err))
		return -1;
	return report(ctl, &found, err);
}

/* ---- who is asked ---- */

/* Lab rates for each bit/s of the cluster file's. */
static int lab_scale(const char *name, const struct lace_cluster *cluster,
		     double *scale, struct lace_error *err)
{
	json_t *lab, *port;

	if (lab_state_read(name, &lab, err))
		return -1;
	port = json_array_get(json_object_get(json_array_get(
			json_object_get(lab, "nodes"), 0), "ports"), 0);
	*scale = lab_number(port, "rate_bps") /
		 cluster->nodes[0].ports[0].rate_bps;
	json_decref(lab);
	if (*scale > 0 && isfinite(*scale))
		return 0;
	return lace_fail(err, LACE_ERR_ANSWER,
			 "lab %s: its state names no rate of its ports", name);
}

static int calibrate_lab(const struct lacectl *ctl, const struct words *words,
			 struct lace_error *err)
{
	struct lace_cluster cluster = { 0 };
	struct lace_lab *lab = NULL;
	struct watch watch = { 0 };
	char path[PATH_MAX];
	double scale;
	int ret;

	if (lab_state_check(words->lab, err))
		return -1;
	lab_state_path(words->lab, "cluster.json", path, sizeof(path));
	if (lace_lab_open(words->lab, &lab, err))
		return -1;
	ret = lace_cluster_read(path, &cluster, err);
	if (!ret)
		ret = lab_scale(words->lab, &cluster, &scale, err);
	watch.cluster = &cluster;
	watch.sources = calloc(cluster.nr_nodes + 1, sizeof(*watch.sources));
	if (!ret && !watch.sources)
		ret = lace_no_memory(err);
	for (unsigned int n = 0; !ret && n < cluster.nr_nodes; n++)
		watch.sources[watch.nr_sources++] = (struct source){
			lace_lab_client(lab, n), lace_lab_device(lab), n,
		};
	if (!ret)
		ret = calibrate(ctl, words, &watch, &cluster, scale, err);
	free(watch.sources);
	lace_cluster_free(&cluster);
	lace_lab_close(lab);
	return ret;
}

static int calibrate_device(const struct lacectl *ctl,
			    const struct words *words, struct lace_error *err)
{
	struct source source = { .dev = words->dev };
	struct lace_cluster cluster = { 0 };
	struct watch watch = {
		.cluster = &cluster, .sources = &source, .nr_sources = 1,
	};
	int ret;

	if (lace_cluster_read(words->cluster, &cluster, err))
		return -1;
	ret = lace_cluster_find_node(&cluster, words->node, err);
	if (ret >= 0) {
		source.node = ret;
		ret = lace_client_open(NULL, &source.client, err);
	}
	if (!ret) {
		ret = calibrate(ctl, words, &watch, &cluster, 1, err);
		lace_client_close(source.client);
	}
	lace_cluster_free(&cluster);
	return ret;
}

/* ---- words ---- */

enum keyword { LAB, DEV, CLUSTER, NODE, SECONDS, OUTPUT };

static int take_word(enum keyword keyword, const char *value,
		     struct words *words, struct lace_error *err)
{
	switch (keyword) {
	case LAB:
		words->lab = value;
		return 0;
	case DEV:
		words->dev = value;
		return 0;
	case CLUSTER:
		words->cluster = value;
		return 0;
	case NODE:
		words->node = value;
		return 0;
	case OUTPUT:
		words->output = value;
		return 0;
	default:
		break;
	}
	if (parse_seconds(value, "seconds", &words->seconds, err))
		return -1;
	if (words->seconds >= 10 * WINDOW_S && words->seconds <= SECONDS_MAX)
		return 0;
	return lace_fail(err, LACE_ERR_INPUT, "seconds %s: from %g to %d",
			 value, 10 * WINDOW_S, SECONDS_MAX);
}

/* With or without dashes, as for "plan". */
static int parse(struct args *args, struct words *words, struct lace_error *err)
{
	static const char *const keywords[] = {
		[LAB] = "lab", [DEV] = "dev", [CLUSTER] = "cluster",
		[NODE] = "node", [SECONDS] = "seconds", [OUTPUT] = "output",
		NULL,
	};
	const char *word, *value;
	int keyword;

	while ((word = args_next(args)))
		if (args_match(word + strspn(word, "-"), keywords, &keyword,
			       err) ||
		    args_word(args, word, &value, err) ||
		    take_word(keyword, value, words, err))
			return -1;
	if (!words->lab == !words->dev)
		return lace_fail(err, LACE_ERR_INPUT,
				 "either \"lab NAME\" or \"dev DEV\" is needed");
	if (words->lab && (words->cluster || words->node))
		return lace_fail(err, LACE_ERR_INPUT,
				 "a lab has its cluster, and all nodes are asked: no \"-c\", no \"--node\"");
	if (words->dev && (!words->cluster || !words->node))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"dev\" needs \"-c CLUSTER\" and \"--node NODE\"");
	if (output_same(words->cluster, words->output))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\" would be written over", words->output);
	return 0;
}

static int run(const struct lacectl *ctl, int argc, char **argv,
	       struct lace_error *err)
{
	struct words words = { .seconds = SECONDS_DEFAULT };
	struct args args = { argc, argv };

	if (parse(&args, &words, err))
		return -1;
	if (words.lab)
		return calibrate_lab(ctl, &words, err);
	return calibrate_device(ctl, &words, err);
}

const struct object calibrate_object = { "calibrate", usage, NULL, run };
