// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl trace show": what the trace programs have added up, of each device
 * that is traced.
 */
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAME_SIZE 256
#define BAR 40

static const char *const hist_names[TRACE_HISTS] = {
	[TRACE_ACK_LATENCY_NS] = "ack_latency_ns",
	[TRACE_REORDER_DEPTH] = "reorder_depth",
	[TRACE_QUIESCE_NS] = "quiesce_ns",
	[TRACE_DRAIN_NS] = "drain_ns",
	[TRACE_SWITCH_NS] = "switch_ns",
	[TRACE_SETTLE_NS] = "settle_ns",
	[TRACE_VERIFY_NS] = "verify_ns",
	[TRACE_RESUME_NS] = "resume_ns",
	[TRACE_TRANSITION_NS] = "transition_ns",
};

/* All that was found, of all devices. */
struct findings {
	struct trace_device_entry *devices;
	struct trace_usage_entry *usages;
	struct trace_hist_entry *hists;
	struct trace_drop_entry *drops;
	size_t nr_devices, nr_usages, nr_hists, nr_drops;
};

static int read_findings(const struct trace_pins *pins, struct findings *found,
			 struct lace_error *err)
{
	memset(found, 0, sizeof(*found));
	if (trace_read_map(pins, TRACE_MAP_DEVICES, (void **)&found->devices,
			   &found->nr_devices, err) ||
	    trace_read_map(pins, TRACE_MAP_USAGE, (void **)&found->usages,
			   &found->nr_usages, err) ||
	    trace_read_map(pins, TRACE_MAP_HIST, (void **)&found->hists,
			   &found->nr_hists, err) ||
	    trace_read_map(pins, TRACE_MAP_DROPS, (void **)&found->drops,
			   &found->nr_drops, err))
		return -1;
	return 0;
}

static void free_findings(struct findings *found)
{
	free(found->devices);
	free(found->usages);
	free(found->hists);
	free(found->drops);
}

/* Keys begin with the device. */
static bool is_of(const void *key, const struct trace_device_entry *device)
{
	return !memcmp(key, &device->key, sizeof(device->key));
}

static const char *dir_name(uint32_t dir)
{
	return dir == TRACE_TX ? "tx" : "rx";
}

/* The maps outlive whoever knows of a reason or a kind. */
static const char *drop_name(uint32_t reason)
{
	return reason <= LACE_DROP_MAX ? trace_drop_names[reason] : "?";
}

static const char *hist_name(uint32_t kind)
{
	return kind < TRACE_HISTS ? hist_names[kind] : "?";
}

/* Where slot i begins; that is where slot i - 1 ends. */
static uint64_t slot_start(unsigned int i)
{
	return i ? 1ULL << (i - 1) : 0;
}

static double seconds_since(uint64_t since_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - since_ns / 1e9 + now.tv_nsec / 1e9;
}

/* ---- JSON ---- */

static json_t *json_usages(const struct findings *found,
			   const struct trace_device_entry *device)
{
	const struct trace_usage_entry *entry;
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < found->nr_usages; i++) {
		entry = &found->usages[i];
		if (is_of(&entry->key, device))
			json_array_append_new(list, json_pack(
				"{s:i, s:s, s:i, s:I, s:I, s:I, s:I}",
				"port", entry->key.port,
				"dir", dir_name(entry->key.dir),
				"peer", entry->key.peer,
				"segment", (json_int_t)entry->key.segment,
				"packets", (json_int_t)entry->value.packets,
				"bytes", (json_int_t)entry->value.bytes,
				"busy_ns", (json_int_t)entry->value.busy_ns));
	}
	return list;
}

static json_t *json_drops(const struct findings *found,
			  const struct trace_device_entry *device)
{
	const struct trace_drop_entry *entry;
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < found->nr_drops; i++) {
		entry = &found->drops[i];
		if (is_of(&entry->key, device))
			json_array_append_new(list, json_pack(
				"{s:o, s:s, s:s, s:I}",
				"port", entry->key.port < 0 ? json_null() :
					json_integer(entry->key.port),
				"dir", dir_name(entry->key.dir),
				"reason", drop_name(entry->key.reason),
				"packets", (json_int_t)entry->value.packets));
	}
	return list;
}

static json_t *json_slots(const struct trace_hist *hist)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < TRACE_SLOTS; i++)
		if (hist->slots[i])
			json_array_append_new(list, json_pack(
				"{s:I, s:o, s:I}",
				"from", (json_int_t)slot_start(i),
				"below", i < TRACE_SLOTS - 1 ?
					json_integer(slot_start(i + 1)) :
					json_null(),
				"count", (json_int_t)hist->slots[i]));
	return list;
}

static json_t *json_hists(const struct findings *found,
			  const struct trace_device_entry *device)
{
	const struct trace_hist_entry *entry;
	json_t *list = json_object();
	size_t i;

	for (i = 0; i < found->nr_hists; i++) {
		entry = &found->hists[i];
		if (is_of(&entry->key, device))
			json_object_set_new(list, hist_name(entry->key.kind),
				json_pack("{s:I, s:I, s:o}",
				"count", (json_int_t)entry->value.count,
				"sum", (json_int_t)entry->value.sum,
				"slots", json_slots(&entry->value)));
	}
	return list;
}

static json_t *json_device(const struct findings *found,
			   const struct trace_device_entry *device)
{
	char netns[NAME_SIZE];

	trace_netns_name(device->key.netns, netns, sizeof(netns));
	return json_pack("{s:s, s:o, s:i, s:f, s:o, s:o, s:o}",
			 "dev", device->value.name,
			 "netns", netns[0] ? json_string(netns) : json_null(),
			 "ifindex", device->key.ifindex,
			 "seconds", seconds_since(device->value.since_ns),
			 "usage", json_usages(found, device),
			 "drops", json_drops(found, device),
			 "histograms", json_hists(found, device));
}

/* ---- text ---- */

static void print_usages(const struct findings *found,
			 const struct trace_device_entry *device)
{
	const struct trace_usage_entry *entry;
	size_t i;

	for (i = 0; i < found->nr_usages; i++) {
		entry = &found->usages[i];
		if (!is_of(&entry->key, device))
			continue;
		printf("  port %u %s %s node %u segment %u: packets %" PRIu64
		       " bytes %" PRIu64 " busy %.6fs\n", entry->key.port,
		       dir_name(entry->key.dir),
		       entry->key.dir == TRACE_TX ? "to" : "from",
		       entry->key.peer, entry->key.segment,
		       (uint64_t)entry->value.packets,
		       (uint64_t)entry->value.bytes,
		       entry->value.busy_ns / 1e9);
	}
}

static void print_drops(const struct findings *found,
			const struct trace_device_entry *device)
{
	const struct trace_drop_entry *entry;
	size_t i;

	for (i = 0; i < found->nr_drops; i++) {
		entry = &found->drops[i];
		if (!is_of(&entry->key, device))
			continue;
		if (entry->key.port >= 0)
			printf("  port %d %s", entry->key.port,
			       dir_name(entry->key.dir));
		else
			printf("  %s", dir_name(entry->key.dir));
		printf(" drops %s: %" PRIu64 "\n", drop_name(entry->key.reason),
		       (uint64_t)entry->value.packets);
	}
}

static void print_slots(const struct trace_hist *hist)
{
	unsigned int first = 0, last = TRACE_SLOTS - 1, i;
	uint64_t most = 0;

	while (first < last && !hist->slots[first])
		first++;
	while (last > first && !hist->slots[last])
		last--;
	for (i = first; i <= last; i++)
		if (hist->slots[i] > most)
			most = hist->slots[i];
	for (i = first; i <= last; i++)
		printf("    from %15" PRIu64 " %10" PRIu64 " |%-*.*s|\n",
		       slot_start(i), (uint64_t)hist->slots[i], BAR,
		       most ? (int)(BAR * hist->slots[i] / most) : 0,
		       "****************************************");
}

static void print_hists(const struct findings *found,
			const struct trace_device_entry *device)
{
	const struct trace_hist_entry *entry;
	size_t i;

	for (i = 0; i < found->nr_hists; i++) {
		entry = &found->hists[i];
		if (!is_of(&entry->key, device) || !entry->value.count)
			continue;
		printf("  %s: %" PRIu64 ", mean %.0f\n",
		       hist_name(entry->key.kind), (uint64_t)entry->value.count,
		       (double)entry->value.sum / entry->value.count);
		print_slots(&entry->value);
	}
}

static void print_device(const struct findings *found,
			 const struct trace_device_entry *device)
{
	char netns[NAME_SIZE];

	trace_netns_name(device->key.netns, netns, sizeof(netns));
	printf("%s%s%s: traced for %.1fs\n", netns, netns[0] ? "/" : "",
	       device->value.name, seconds_since(device->value.since_ns));
	print_usages(found, device);
	print_drops(found, device);
	print_hists(found, device);
}

int trace_show(const struct lacectl *ctl, const struct trace_pins *pins,
	       const struct trace_choice *choice, struct lace_error *err)
{
	const struct trace_device_entry *device;
	json_t *list = json_array();
	struct findings found;
	size_t i;
	int ret;

	ret = read_findings(pins, &found, err);
	for (i = 0; !ret && i < found.nr_devices; i++) {
		device = &found.devices[i];
		if (!trace_is_chosen(choice, device->key.netns,
				     device->key.ifindex))
			continue;
		if (ctl->json)
			json_array_append_new(list, json_device(&found, device));
		else
			print_device(&found, device);
	}
	free_findings(&found);
	if (!ret && ctl->json)
		return print_json(ctl, list, err);
	json_decref(list);
	return ret ? ret : print_end(err);
}
