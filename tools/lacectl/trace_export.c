// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl trace export": what happened last as a timeline, in the trace-event
 * format that Perfetto and chrome://tracing load.  A device is a process there,
 * a lane a thread, and so are the segment, the transition and its phases.
 *
 * A packet is a slice as long as the line takes for it.  On a TX lane it begins
 * when the port took it, or when those before it are through; on an RX lane it
 * ends when it came in.
 */
#include "show.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 256

/* Threads.  Lanes follow, by port and direction. */
enum track {
	TRACK_SEGMENT = 1,
	TRACK_TRANSITION,
	TRACK_PHASE,
	TRACK_DEVICE,
	TRACK_LANES,
	TRACKS = TRACK_LANES + 2 * LACE_MAX_PORTS
};

/* A slice that has begun. */
struct span {
	bool open;
	uint64_t since;
	int64_t value[4];
};

struct timeline {
	int pid;
	bool named[TRACKS];
	uint64_t free_at[TRACKS];	/* when the lane is through */
	struct span segment, transition, phase;
};

struct output {
	FILE *file;
	uint64_t start, end;	/* of the first event and the last */
	bool any;
};

/* ---- one event of the file ---- */

static double us(const struct output *out, uint64_t time)
{
	return (double)(int64_t)(time - out->start) / 1e3;
}

static void write_event(struct output *out, json_t *event)
{
	fputs(out->any ? ",\n" : "\n", out->file);
	out->any = true;
	json_dumpf(event, out->file, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(event);
}

static void write_name(struct output *out, const char *kind, int pid, int tid,
		       const char *name)
{
	write_event(out, json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name", kind,
				   "ph", "M", "pid", pid, "tid", tid, "args",
				   "name", name));
}

/* A track has its name once it has something. */
static int use_track(struct output *out, struct timeline *line, int track)
{
	static const char *const names[TRACK_LANES] = {
		[TRACK_SEGMENT] = "segment",
		[TRACK_TRANSITION] = "transition",
		[TRACK_PHASE] = "phase",
		[TRACK_DEVICE] = "device",
	};
	char name[32];
	int lane = track - TRACK_LANES;

	if (line->named[track])
		return track;
	line->named[track] = true;
	if (lane < 0)
		snprintf(name, sizeof(name), "%s", names[track]);
	else
		snprintf(name, sizeof(name), "port %d %s", lane / 2,
			 lane % 2 == LACE_DIR_TX ? "tx" : "rx");
	write_name(out, "thread_name", line->pid, track, name);
	write_event(out, json_pack("{s:s, s:s, s:i, s:i, s:{s:i}}", "name",
				   "thread_sort_index", "ph", "M", "pid",
				   line->pid, "tid", track, "args",
				   "sort_index", track));
	return track;
}

static int lane_track(const struct trace_event *event)
{
	if (event->port >= LACE_MAX_PORTS)
		return TRACK_DEVICE;
	return TRACK_LANES + 2 * event->port + (event->dir != TRACE_TX);
}

static void write_slice(struct output *out, struct timeline *line, int track,
			const char *name, uint64_t start, uint64_t end,
			json_t *args)
{
	use_track(out, line, track);
	write_event(out, json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:o}",
				   "name", name, "ph", "X", "pid", line->pid,
				   "tid", track, "ts", us(out, start), "dur",
				   (double)(end - start) / 1e3, "args", args));
}

static void write_instant(struct output *out, struct timeline *line, int track,
			  const char *name, uint64_t time, json_t *args)
{
	use_track(out, line, track);
	write_event(out, json_pack("{s:s, s:s, s:s, s:i, s:i, s:f, s:o}", "name",
				   name, "ph", "i", "s", "t", "pid", line->pid,
				   "tid", track, "ts", us(out, time), "args",
				   args));
}

static void write_counter(struct output *out, const struct timeline *line,
			  const char *name, uint64_t time, int64_t value)
{
	write_event(out, json_pack("{s:s, s:s, s:i, s:f, s:{s:I}}", "name", name,
				   "ph", "C", "pid", line->pid, "ts",
				   us(out, time), "args", "value",
				   (json_int_t)value));
}

/* ---- what events become ---- */

static void write_packet(struct output *out, struct timeline *line,
			 const struct trace_event *event)
{
	bool tx = event->kind == TRACE_SEND;
	int track = lane_track(event);
	uint64_t busy = event->value[3], start = event->time_ns;
	char name[32];

	if (!tx)
		start = start - out->start > busy ? start - busy : out->start;
	if (start < line->free_at[track])
		start = line->free_at[track];
	line->free_at[track] = start + busy;
	snprintf(name, sizeof(name), "%s node %u", tx ? "to" : "from",
		 event->peer);
	write_slice(out, line, track, name, start, start + busy,
		    json_pack("{s:I, s:I, s:I, s:i, s:b, s:f}", "segment",
			      (json_int_t)event->value[0], "frames",
			      (json_int_t)event->value[1], "bytes",
			      (json_int_t)event->value[2], "peer_port",
			      event->peer_port, "relay", event->relay, "at_us",
			      us(out, event->time_ns)));
}

static void end_segment(struct output *out, struct timeline *line,
			uint64_t time)
{
	char name[32];

	if (line->segment.open && line->segment.value[0] != LACE_TRACE_NONE) {
		snprintf(name, sizeof(name), "segment %lld",
			 (long long)line->segment.value[0]);
		write_slice(out, line, TRACK_SEGMENT, name, line->segment.since,
			    time, json_pack("{s:I}", "segment",
					    (json_int_t)line->segment.value[0]));
	}
	line->segment.open = false;
}

/* Which was active before the first event about it is known from that, or from a
 * packet.
 */
static void begin_segment(struct timeline *line, int64_t segment, uint64_t time)
{
	line->segment.open = true;
	line->segment.since = time;
	line->segment.value[0] = segment;
}

static void take_segment(struct output *out, struct timeline *line,
			 const struct trace_event *event)
{
	if (!line->segment.open)
		begin_segment(line, event->value[0], out->start);
	end_segment(out, line, event->time_ns);
	begin_segment(line, event->value[1], event->time_ns);
}

static void end_phase(struct output *out, struct timeline *line, uint64_t time)
{
	const int64_t *value = line->phase.value;

	if (line->phase.open)
		write_slice(out, line, TRACK_PHASE, phase_name(value[1]),
			    line->phase.since, time,
			    json_pack("{s:I, s:I, s:b}", "transition",
				      (json_int_t)value[0], "attempt",
				      (json_int_t)value[2], "back",
				      (int)value[3]));
	line->phase.open = false;
}

static void begin_phase(struct output *out, struct timeline *line,
			const struct trace_event *event)
{
	end_phase(out, line, event->time_ns);
	if (!line->transition.open ||
	    line->transition.value[0] != event->value[0]) {
		line->transition.open = true;
		line->transition.since = event->time_ns;
		line->transition.value[0] = event->value[0];
	}
	line->phase.open = true;
	line->phase.since = event->time_ns;
	memcpy(line->phase.value, event->value, sizeof(line->phase.value));
}

/* Events are never early and, on a busy machine, late: the first phase tells of
 * the start, and so does the end less what the module says it took; the earlier
 * one is right.
 */
static uint64_t start_of(const struct timeline *line,
			 const struct trace_event *end)
{
	const struct span *begun = &line->transition;
	uint64_t start = end->time_ns - end->value[2];

	if (begun->open && begun->value[0] == end->value[0] &&
	    begun->since < start)
		start = begun->since;
	return start;
}

static void end_transition(struct output *out, struct timeline *line,
			   const struct trace_event *event)
{
	static const char *const results[] = {
		[LACE_RESULT_RUNNING] = "running",
		[LACE_RESULT_DONE] = "done",
		[LACE_RESULT_ROLLED_BACK] = "rolled back",
		[LACE_RESULT_DEGRADED] = "degraded",
	};
	uint64_t result = event->value[1];
	uint64_t start = start_of(line, event), end = start + event->value[2];
	char name[64];

	end_phase(out, line, event->time_ns);
	snprintf(name, sizeof(name), "transition %lld: %s",
		 (long long)event->value[0],
		 result < sizeof(results) / sizeof(*results) ? results[result] :
							       "?");
	if (start < out->start)
		start = out->start;
	write_slice(out, line, TRACK_TRANSITION, name, start, end,
		    json_pack("{s:I}", "transition",
			      (json_int_t)event->value[0]));
	line->transition.open = false;
}

static void write_state(struct output *out, struct timeline *line,
			const struct trace_event *event)
{
	write_instant(out, line, lane_track(event),
		      lane_state_name(event->value[1]), event->time_ns,
		      json_pack("{s:i, s:i, s:I}", "peer", event->peer,
				"peer_port", event->peer_port, "epoch",
				(json_int_t)event->value[2]));
}

static void write_drop(struct output *out, struct timeline *line,
		       const struct trace_event *event)
{
	uint64_t reason = event->value[0];

	write_instant(out, line, lane_track(event), "drop", event->time_ns,
		      json_pack("{s:s, s:I}", "reason",
				reason <= LACE_DROP_MAX ?
					trace_drop_names[reason] : "?",
				"packets", (json_int_t)event->value[1]));
}

static void write_ack(struct output *out, struct timeline *line,
		      const struct trace_event *event)
{
	char name[32];

	snprintf(name, sizeof(name), "port %u rtt_ns", event->port);
	write_counter(out, line, name, event->time_ns, event->value[0]);
}

static void take_event(struct output *out, struct timeline *line,
		       const struct trace_event *event)
{
	switch (event->kind) {
	case TRACE_SEND:
	case TRACE_RECEIVE:
		if (!line->segment.open)
			begin_segment(line, event->value[0], out->start);
		write_packet(out, line, event);
		break;
	case TRACE_DROP:
		write_drop(out, line, event);
		break;
	case TRACE_LANE_STATE:
		write_state(out, line, event);
		break;
	case TRACE_MARK:
		write_instant(out, line, lane_track(event), "mark",
			      event->time_ns,
			      json_pack("{s:I, s:I}", "queue",
					(json_int_t)event->value[0], "seq",
					(json_int_t)event->value[1]));
		break;
	case TRACE_ACK:
		write_ack(out, line, event);
		break;
	case TRACE_HOLD:
		write_counter(out, line, "reorder depth", event->time_ns,
			      event->value[0]);
		break;
	case TRACE_RELEASE:
		write_counter(out, line, "reorder depth", event->time_ns,
			      event->value[2]);
		break;
	case TRACE_SEGMENT:
		take_segment(out, line, event);
		break;
	case TRACE_PHASE_BEGIN:
		begin_phase(out, line, event);
		break;
	case TRACE_PHASE_END:
		end_phase(out, line, event->time_ns);
		break;
	case TRACE_TRANSITION_END:
		end_transition(out, line, event);
		break;
	case TRACE_DEVICE_GONE:
		write_instant(out, line, TRACK_DEVICE, "gone", event->time_ns,
			      json_object());
		break;
	}
}

/* ---- one device after the other ---- */

static void write_device(struct output *out,
			 const struct trace_device_entry *device, int pid,
			 const struct trace_event *events, size_t nr)
{
	struct timeline line = { .pid = pid };
	char netns[NAME_SIZE], name[NAME_SIZE + sizeof(device->value.name) + 1];
	size_t i;

	trace_netns_name(device->key.netns, netns, sizeof(netns));
	snprintf(name, sizeof(name), "%s%s%s", netns, netns[0] ? "/" : "",
		 device->value.name);
	write_name(out, "process_name", pid, 0, name);
	for (i = 0; i < nr; i++)
		if (events[i].netns == device->key.netns &&
		    events[i].ifindex == device->key.ifindex &&
		    events[i].time_ns >= device->value.since_ns)
			take_event(out, &line, &events[i]);
	end_phase(out, &line, out->end);
	end_segment(out, &line, out->end);
}

/* Devices that are traced at present; those that went have no name any more. */
static void write_all(struct output *out, const struct trace_choice *choice,
		      const struct trace_device_entry *devices, size_t nr_devices,
		      const struct trace_event *events, size_t nr)
{
	size_t i;

	if (nr) {
		out->start = events[0].time_ns;
		out->end = events[nr - 1].time_ns;
	}
	fprintf(out->file, "{\"displayTimeUnit\":\"ns\",\"otherData\":"
		"{\"clock\":\"CLOCK_MONOTONIC\",\"start_ns\":\"%llu\"},"
		"\"traceEvents\":[", (unsigned long long)out->start);
	for (i = 0; i < nr_devices; i++)
		if (trace_is_chosen(choice, devices[i].key.netns,
				    devices[i].key.ifindex))
			write_device(out, &devices[i], i + 1, events, nr);
	fputs("\n]}\n", out->file);
}

int trace_export(const struct trace_pins *pins,
		 const struct trace_choice *choice, FILE *out,
		 struct lace_error *err)
{
	struct trace_device_entry *devices;
	struct output output = { .file = out };
	struct trace_event *events;
	size_t nr, nr_devices;

	if (trace_read_map(pins, TRACE_MAP_DEVICES, (void **)&devices,
			   &nr_devices, err))
		return -1;
	if (trace_read_events(pins, &events, &nr, err)) {
		free(devices);
		return -1;
	}
	write_all(&output, choice, devices, nr_devices, events, nr);
	free(events);
	free(devices);
	if (ferror(out))
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot write the timeline");
	return 0;
}
