// SPDX-License-Identifier: GPL-2.0
/*
 * Loading the trace programs, and their pins.  Everything is pinned in a folder
 * of another name first, which is then renamed: who finds the folder finds all
 * of it.
 */
#include "pin.h"
#include "trace_pin.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "trace.skel.h"
#include "trace_iter.skel.h"

#define FOLDER_NEW TRACE_FOLDER "_new"
#define ITERATOR "lanes"
#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/* Sizes, by which a map of another layout is told. */
static const struct map_kind {
	const char *name;
	uint32_t key, value;
} kinds[TRACE_MAPS] = {
	[TRACE_MAP_LAYOUT] = { "lace_layout", sizeof(uint32_t),
			       sizeof(struct trace_layout) },
	[TRACE_MAP_DEVICES] = { "lace_devices", sizeof(struct trace_device_key),
				sizeof(struct trace_device) },
	[TRACE_MAP_RATES] = { "lace_rates", sizeof(struct trace_rate_key),
			      sizeof(struct trace_rate) },
	[TRACE_MAP_USAGE] = { "lace_lane_usage", sizeof(struct trace_usage_key),
			      sizeof(struct trace_usage) },
	[TRACE_MAP_HIST] = { "lace_hist", sizeof(struct trace_hist_key),
			     sizeof(struct trace_hist) },
	[TRACE_MAP_DROPS] = { "lace_drops", sizeof(struct trace_drop_key),
			      sizeof(struct trace_drop) },
	[TRACE_MAP_EVENTS] = { "lace_events", sizeof(uint32_t),
			       sizeof(struct trace_event) },
	[TRACE_MAP_HEADS] = { "lace_heads", sizeof(uint32_t),
			      sizeof(struct trace_head) },
};

/* ---- the lock ---- */

int trace_lock(int *lock, struct lace_error *err)
{
	if (lace_pin_mount(err))
		return -1;
	*lock = open(LACE_PIN_MOUNT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*lock >= 0 && !flock(*lock, LOCK_EX))
		return 0;
	if (*lock >= 0)
		close(*lock);
	return lace_fail(err, LACE_ERR_SYSTEM, "cannot lock " LACE_PIN_MOUNT
			 ": %s", strerror(errno));
}

void trace_unlock(int lock)
{
	close(lock);
}

/* ---- what is pinned ---- */

/* Number of the layout that a folder is for; 0 if it is none. */
static unsigned long layout_of(const char *folder)
{
	unsigned long layout;
	char *end;

	if (folder[0] != 'v' || !isdigit((unsigned char)folder[1]))
		return 0;
	layout = strtoul(folder + 1, &end, 10);
	return *end ? 0 : layout;
}

static bool holds_traces(const char *folder)
{
	struct lace_error ignored = {};
	char path[LACE_PIN_PATH_SIZE];

	return !lace_pin_path(folder, kinds[TRACE_MAP_LAYOUT].name, path,
			      &ignored) &&
	       !access(path, F_OK);
}

static int refuse(const char *folder, unsigned long layout,
		  struct lace_error *err)
{
	return lace_fail(err, LACE_ERR_ANSWER,
			 LACE_PIN_ROOT "/%s: trace programs of %s layout (%lu, "
			 "not %u): turn them off with the lacectl that they "
			 "are of, or rm -r " LACE_PIN_ROOT "/%s",
			 folder, layout > TRACE_LAYOUT ? "a newer" : "an older",
			 layout, TRACE_LAYOUT, folder);
}

static int check_others(struct lace_error *err)
{
	DIR *dir = opendir(LACE_PIN_ROOT);
	struct dirent *entry;
	unsigned long layout;
	int ret = 0;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "cannot open " LACE_PIN_ROOT ": %s",
				 strerror(errno));
	while (!ret && (entry = readdir(dir))) {
		layout = layout_of(entry->d_name);
		if (layout && layout != TRACE_LAYOUT &&
		    holds_traces(entry->d_name))
			ret = refuse(entry->d_name, layout, err);
	}
	closedir(dir);
	return ret;
}

static int open_map(enum trace_map which, struct trace_pins *pins,
		    struct lace_error *err)
{
	const struct map_kind *kind = &kinds[which];
	struct bpf_map_info info = {};
	char path[LACE_PIN_PATH_SIZE];
	uint32_t len = sizeof(info);

	if (lace_pin_path(TRACE_FOLDER, kind->name, path, err))
		return -1;
	pins->fd[which] = bpf_obj_get(path);
	if (pins->fd[which] < 0)
		return lace_fail(err, LACE_ERR_ANSWER, "cannot open %s: %s",
				 path, strerror(errno));
	if (bpf_obj_get_info_by_fd(pins->fd[which], &info, &len) ||
	    info.key_size != kind->key || info.value_size != kind->value)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "%s: not a map of this layout (%u): rm -r "
				 LACE_PIN_ROOT "/" TRACE_FOLDER, path,
				 TRACE_LAYOUT);
	return 0;
}

static int read_layout(struct trace_pins *pins, struct lace_error *err)
{
	uint32_t key = 0;

	if (bpf_map_lookup_elem(pins->fd[TRACE_MAP_LAYOUT], &key,
				&pins->layout))
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot read map lace_layout: %s",
				 strerror(errno));
	if (pins->layout.layout != TRACE_LAYOUT)
		return refuse(TRACE_FOLDER, pins->layout.layout, err);
	return 0;
}

static void forget(struct trace_pins *pins)
{
	int i;

	for (i = 0; i < TRACE_MAPS; i++)
		pins->fd[i] = -1;
}

int trace_open(struct trace_pins *pins, struct lace_error *err)
{
	int ret, i;

	forget(pins);
	ret = check_others(err);
	if (ret || !holds_traces(TRACE_FOLDER))
		return ret;
	/* The first says what the others are. */
	for (i = 0; !ret && i < TRACE_MAPS; i++) {
		ret = open_map(i, pins, err);
		if (!ret && i == TRACE_MAP_LAYOUT)
			ret = read_layout(pins, err);
	}
	if (!ret)
		return 1;
	trace_close(pins);
	return ret;
}

void trace_close(struct trace_pins *pins)
{
	int i;

	for (i = 0; i < TRACE_MAPS; i++)
		if (pins->fd[i] >= 0)
			close(pins->fd[i]);
	forget(pins);
}

int trace_stop(struct lace_error *err)
{
	return lace_pin_remove(TRACE_FOLDER, "", err) < 0 ? -1 : 0;
}

/* ---- loading ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int load(struct trace_bpf *skel, uint32_t events, struct lace_error *err)
{
	struct trace_layout layout = {
		.layout = TRACE_LAYOUT,
		.events_per_cpu = events,
		.since_ns = now_ns(),
	};
	int cpus = libbpf_num_possible_cpus();
	uint32_t key = 0;
	int ret;

	if (cpus < 0)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot count processors: %s",
				 lace_pin_reason(cpus));
	skel->rodata->events_per_cpu = events;
	ret = bpf_map__set_max_entries(skel->maps.lace_events, cpus * events);
	if (!ret)
		ret = trace_bpf__load(skel);
	if (!ret)
		ret = bpf_map_update_elem(bpf_map__fd(skel->maps.lace_layout),
					  &key, &layout, BPF_ANY);
	if (ret)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot load the trace programs: %s",
				 lace_pin_reason(ret));
	return 0;
}

static int pin_link(struct bpf_link *link, const char *name,
		    struct lace_error *err)
{
	char path[LACE_PIN_PATH_SIZE];
	int ret;

	if (lace_pin_path(FOLDER_NEW, name, path, err))
		return -1;
	ret = bpf_link__pin(link, path);
	if (ret)
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot pin %s: %s",
				 path, lace_pin_reason(ret));
	return 0;
}

/* What is attached stays so by its pin. */
static int attach(struct bpf_program *program, struct lace_error *err)
{
	struct bpf_link *link = bpf_program__attach(program);
	char name[64];
	int ret;

	if (!link && errno == ENOENT)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "no tracepoint %s: the lace module is not loaded, or older than lacectl",
				 strchr(bpf_program__section_name(program),
					'/') + 1);
	if (!link)
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot attach %s: %s",
				 bpf_program__name(program),
				 lace_pin_reason(-errno));
	snprintf(name, sizeof(name), "link_%s", bpf_program__name(program));
	ret = pin_link(link, name, err);
	bpf_link__destroy(link);
	return ret;
}

static int attach_all(struct trace_bpf *skel, struct lace_error *err)
{
	struct bpf_program *program;
	int ret = 0;

	bpf_object__for_each_program(program, skel->obj) {
		ret = attach(program, err);
		if (ret)
			break;
	}
	return ret;
}

static int attach_iterator(struct trace_bpf *skel, struct lace_error *err)
{
	union bpf_iter_link_info info = {
		.map.map_fd = bpf_map__fd(skel->maps.lace_lane_usage),
	};
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info,
		    .link_info_len = sizeof(info));
	struct trace_iter_bpf *iter = trace_iter_bpf__open_and_load();
	struct bpf_link *link = NULL;
	int ret = -1;

	if (iter)
		link = bpf_program__attach_iter(iter->progs.lace_lanes, &opts);
	if (!link) {
		lace_fail(err, LACE_ERR_SYSTEM,
			  "cannot load the iterator of lanes: %s",
			  lace_pin_reason(-errno));
	} else {
		ret = pin_link(link, ITERATOR, err);
		bpf_link__destroy(link);
	}
	trace_iter_bpf__destroy(iter);
	return ret;
}

static int pin_maps(struct trace_bpf *skel, struct trace_pins *pins,
		    struct lace_error *err)
{
	char path[LACE_PIN_PATH_SIZE];
	struct bpf_map *map;
	int i, ret;

	for (i = 0; i < TRACE_MAPS; i++) {
		map = bpf_object__find_map_by_name(skel->obj, kinds[i].name);
		if (lace_pin_path(FOLDER_NEW, kinds[i].name, path, err))
			return -1;
		ret = bpf_obj_pin(bpf_map__fd(map), path);
		if (ret)
			return lace_fail(err, LACE_ERR_SYSTEM,
					 "cannot pin %s: %s", path,
					 strerror(errno));
		pins->fd[i] = fcntl(bpf_map__fd(map), F_DUPFD_CLOEXEC, 0);
		if (pins->fd[i] < 0)
			return lace_fail(err, LACE_ERR_SYSTEM,
					 "cannot keep %s open: %s", path,
					 strerror(errno));
	}
	return read_layout(pins, err);
}

static int publish(struct lace_error *err)
{
	if (!rename(LACE_PIN_ROOT "/" FOLDER_NEW, LACE_PIN_ROOT "/" TRACE_FOLDER))
		return 0;
	return lace_fail(err, LACE_ERR_SYSTEM,
			 "cannot rename " LACE_PIN_ROOT "/" FOLDER_NEW ": %s",
			 strerror(errno));
}

int trace_start(uint32_t events, struct trace_pins *pins,
		struct lace_error *err)
{
	struct lace_error ignored = {};
	struct trace_bpf *skel;
	int ret;

	forget(pins);
	if (access(KERNEL_TYPES, F_OK))
		return lace_fail(err, LACE_ERR_ANSWER,
				 "this kernel does not tell its types ("
				 KERNEL_TYPES "): trace needs them");
	lace_pin_capture();
	skel = trace_bpf__open();
	if (!skel)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot open the trace programs: %s",
				 lace_pin_reason(-errno));
	/* Whoever was killed at this left some. */
	lace_pin_remove(FOLDER_NEW, "", &ignored);
	ret = load(skel, events, err);
	if (!ret)
		ret = lace_pin_make(FOLDER_NEW, err);
	if (!ret)
		ret = pin_maps(skel, pins, err);
	if (!ret)
		ret = attach_iterator(skel, err);
	if (!ret)
		ret = attach_all(skel, err);
	if (!ret)
		ret = publish(err);
	if (ret) {
		lace_pin_remove(FOLDER_NEW, "", &ignored);
		trace_close(pins);
	}
	trace_bpf__destroy(skel);
	return ret;
}
