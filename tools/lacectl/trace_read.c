// SPDX-License-Identifier: GPL-2.0
/*
 * Reading the maps of the trace programs.  Keys of all but the first begin with
 * the device.
 */
#include "trace_read.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NETNS_FOLDER "/run/netns"

/* ---- hash maps ---- */

struct shape {
	uint32_t key, value;
	int (*compare)(const void *a, const void *b);
};

/* Keys are of 32-bit words, compared one by one. */
static int compare_words(const void *a, const void *b, size_t words)
{
	const uint32_t *x = a, *y = b;
	size_t i;

	for (i = 0; i < words; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

#define COMPARE(name, type)						\
	static int name(const void *a, const void *b)			\
	{								\
		return compare_words(a, b, sizeof(type) /		\
					   sizeof(uint32_t));		\
	}

COMPARE(compare_device, struct trace_device_key)
COMPARE(compare_rate, struct trace_rate_key)
COMPARE(compare_usage, struct trace_usage_key)
COMPARE(compare_hist, struct trace_hist_key)
COMPARE(compare_drop, struct trace_drop_key)

#define SHAPE(name, compare)						\
	{ sizeof(struct trace_##name##_key), sizeof(struct trace_##name), \
	  compare }

static const struct shape shapes[TRACE_MAPS] = {
	[TRACE_MAP_DEVICES] = SHAPE(device, compare_device),
	[TRACE_MAP_RATES] = SHAPE(rate, compare_rate),
	[TRACE_MAP_USAGE] = SHAPE(usage, compare_usage),
	[TRACE_MAP_HIST] = SHAPE(hist, compare_hist),
	[TRACE_MAP_DROPS] = SHAPE(drop, compare_drop),
};

/* Where the value is in the structure of both. */
static size_t value_at(const struct shape *shape)
{
	return (shape->key + 7) / 8 * 8;
}

static int add_entry(int fd, const struct shape *shape, const void *key,
		     char **list, size_t *nr, size_t *room)
{
	size_t size = value_at(shape) + shape->value;
	char *larger;

	if (*nr == *room) {
		*room = *room ? 2 * *room : 64;
		larger = realloc(*list, *room * size);
		if (!larger)
			return -1;
		*list = larger;
	}
	memcpy(*list + *nr * size, key, shape->key);
	/* It may have gone. */
	if (!bpf_map_lookup_elem(fd, key, *list + *nr * size + value_at(shape)))
		++*nr;
	return 0;
}

int trace_read_map(const struct trace_pins *pins, enum trace_map which,
		   void **entries, size_t *nr, struct lace_error *err)
{
	const struct shape *shape = &shapes[which];
	char key[64], *list = NULL;
	size_t room = 0;
	int ret;

	*nr = 0;
	ret = bpf_map_get_next_key(pins->fd[which], NULL, key);
	while (!ret) {
		if (add_entry(pins->fd[which], shape, key, &list, nr, &room)) {
			free(list);
			lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
			return -1;
		}
		ret = bpf_map_get_next_key(pins->fd[which], key, key);
	}
	if (errno != ENOENT) {
		free(list);
		lace_fail(err, LACE_ERR_SYSTEM, "cannot read a map: %s",
			  strerror(errno));
		return -1;
	}
	if (list)
		qsort(list, *nr, value_at(shape) + shape->value,
		      shape->compare);
	else
		*nr = 0;
	*entries = list;
	return 0;
}

int trace_purge(const struct trace_pins *pins,
		const struct trace_device_key *device, struct lace_error *err)
{
	static const enum trace_map maps[] = {
		TRACE_MAP_RATES, TRACE_MAP_USAGE, TRACE_MAP_HIST,
		TRACE_MAP_DROPS,
	};
	const struct shape *shape;
	void *entries;
	size_t nr, i, j;
	char *entry;

	for (i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		shape = &shapes[maps[i]];
		if (trace_read_map(pins, maps[i], &entries, &nr, err))
			return -1;
		for (j = 0; j < nr; j++) {
			entry = (char *)entries +
				j * (value_at(shape) + shape->value);
			if (!memcmp(entry, device, sizeof(*device)))
				bpf_map_delete_elem(pins->fd[maps[i]], entry);
		}
		free(entries);
	}
	return 0;
}

/* ---- events ---- */

static int read_heads(const struct trace_pins *pins, int cpus,
		      struct trace_head *heads, struct lace_error *err)
{
	uint32_t key = 0;

	memset(heads, 0, cpus * sizeof(*heads));
	if (bpf_map_lookup_elem(pins->fd[TRACE_MAP_HEADS], &key, heads))
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot read map lace_heads: %s",
				 strerror(errno));
	return 0;
}

static int read_rings(const struct trace_pins *pins, struct trace_event *events,
		      uint32_t wanted, struct lace_error *err)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	uint32_t at = 0, count, total = 0, *keys;
	int ret = 0;

	keys = malloc(wanted * sizeof(*keys));
	if (!keys)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	while (!ret && total < wanted) {
		count = wanted - total;
		ret = bpf_map_lookup_batch(pins->fd[TRACE_MAP_EVENTS],
					   total ? &at : NULL, &at,
					   keys + total, events + total, &count,
					   &opts);
		total += count;
	}
	free(keys);
	if (total == wanted)
		return 0;
	return lace_fail(err, LACE_ERR_SYSTEM, "cannot read map lace_events: %s",
			 strerror(errno));
}

/* Numbers that are sure not to have been written over meanwhile. */
static bool is_whole(const struct trace_event *event, uint64_t before,
		     uint64_t after, uint64_t size)
{
	return event->number && event->number <= before &&
	       event->number + size > after;
}

static int compare_events(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int gather(const struct trace_pins *pins, int cpus,
		  struct trace_head *before, struct trace_head *after,
		  struct trace_event *events, size_t *nr, struct lace_error *err)
{
	uint32_t size = pins->layout.events_per_cpu, i;

	if (read_heads(pins, cpus, before, err) ||
	    read_rings(pins, events, cpus * size, err) ||
	    read_heads(pins, cpus, after, err))
		return -1;
	*nr = 0;
	for (i = 0; i < cpus * size; i++)
		if (is_whole(&events[i], before[i / size].events,
			     after[i / size].events, size))
			events[(*nr)++] = events[i];
	qsort(events, *nr, sizeof(*events), compare_events);
	return 0;
}

int trace_read_events(const struct trace_pins *pins,
		      struct trace_event **events, size_t *nr,
		      struct lace_error *err)
{
	int cpus = libbpf_num_possible_cpus(), ret = -1;
	struct trace_head *heads;

	if (cpus <= 0)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot count processors");
	heads = calloc(2 * (size_t)cpus, sizeof(*heads));
	*events = calloc((size_t)cpus * pins->layout.events_per_cpu,
			 sizeof(**events));
	if (heads && *events)
		ret = gather(pins, cpus, heads, heads + cpus, *events, nr, err);
	else
		lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	free(heads);
	if (ret)
		free(*events);
	return ret;
}

/* ---- names ---- */

void trace_netns_name(uint32_t netns, char *name, size_t size)
{
	struct dirent *entry;
	struct stat found;
	DIR *dir;

	name[0] = '\0';
	dir = opendir(NETNS_FOLDER);
	if (!dir)
		return;
	while (!name[0] && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    !fstatat(dirfd(dir), entry->d_name, &found, 0) &&
		    found.st_ino == netns)
			snprintf(name, size, "%s", entry->d_name);
	closedir(dir);
}

int trace_key_of(const char *ifname, struct trace_device_key *key,
		 struct lace_error *err)
{
	struct stat own;

	if (stat("/proc/thread-self/ns/net", &own))
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "/proc/thread-self/ns/net: %s",
				 strerror(errno));
	key->netns = own.st_ino;
	key->ifindex = if_nametoindex(ifname);
	if (!key->ifindex)
		return lace_fail(err, LACE_ERR_ANSWER, "%s: %s", ifname,
				 strerror(errno));
	return 0;
}
