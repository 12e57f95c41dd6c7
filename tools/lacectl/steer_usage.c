// SPDX-License-Identifier: GPL-2.0
/*
 * Finds a program's lane_usage by the ids that the kernel knows, so it works
 * for programs that somebody else has loaded, and without a pin.
 */
#include "steer_load.h"
#include "steer_usage.h"
#include "../../ebpf/steer.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAPS_MAX 64

static uint32_t usage_map_of(const uint32_t *ids, unsigned int nr)
{
	struct bpf_map_info info;
	uint32_t len, found = 0;
	unsigned int i;
	int fd;

	for (i = 0; i < nr && !found; i++) {
		fd = bpf_map_get_fd_by_id(ids[i]);
		if (fd < 0)
			continue;
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) &&
		    !strcmp(info.name, "lane_usage") &&
		    info.key_size == sizeof(struct lane_usage_key) &&
		    info.value_size == sizeof(struct lane_usage))
			found = ids[i];
		close(fd);
	}
	return found;
}

static const char *policy_of(const char *program)
{
	const char *const *policy;

	if (strncmp(program, "steer_", 6))
		return "custom";
	for (policy = steer_policies; *policy; policy++)
		if (!strcmp(program + 6, *policy))
			return *policy;
	return "custom";
}

int steer_describe(uint32_t prog_id, struct steer_info *info,
		   struct lace_error *err)
{
	struct bpf_prog_info prog = {};
	uint32_t len = sizeof(prog), ids[MAPS_MAX];
	int fd, ret;

	memset(info, 0, sizeof(*info));
	info->policy = "builtin";
	if (!prog_id)
		return 0;
	fd = bpf_prog_get_fd_by_id(prog_id);
	if (fd < 0)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot look at program %u: %s", prog_id,
				 strerror(errno));
	prog.nr_map_ids = MAPS_MAX;
	prog.map_ids = (uintptr_t)ids;
	ret = bpf_obj_get_info_by_fd(fd, &prog, &len);
	close(fd);
	if (ret)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot look at program %u: %s", prog_id,
				 strerror(errno));
	memcpy(info->program, prog.name, sizeof(info->program));
	info->program[sizeof(info->program) - 1] = '\0';
	info->policy = policy_of(info->program);
	info->usage_map_id = usage_map_of(ids, prog.nr_map_ids < MAPS_MAX ?
						       prog.nr_map_ids :
						       MAPS_MAX);
	return 0;
}

static double age_of(uint64_t last_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9 - last_ns / 1e9;
}

static int compare(const void *a, const void *b)
{
	const struct steer_use *x = a, *y = b;

	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

static int append(struct steer_use **uses, size_t *nr,
		  const struct lane_usage_key *key,
		  const struct lane_usage *usage)
{
	struct steer_use *more;

	more = realloc(*uses, (*nr + 1) * sizeof(**uses));
	if (!more)
		return -1;
	*uses = more;
	more[(*nr)++] = (struct steer_use){
		.peer = key->peer,
		.port = key->port,
		.packets = usage->packets,
		.bytes = usage->bytes,
		.age_s = age_of(usage->last_ns),
	};
	return 0;
}

static int read_map(int fd, struct steer_use **uses, size_t *nr)
{
	struct lane_usage_key key, *previous = NULL;
	struct lane_usage usage;

	while (!bpf_map_get_next_key(fd, previous, &key)) {
		previous = &key;
		if (!bpf_map_lookup_elem(fd, &key, &usage) &&
		    append(uses, nr, &key, &usage))
			return -1;
	}
	return 0;
}

int steer_read_usage(uint32_t map_id, struct steer_use **uses, size_t *nr,
		     struct lace_error *err)
{
	int fd, ret;

	*uses = NULL;
	*nr = 0;
	fd = bpf_map_get_fd_by_id(map_id);
	if (fd < 0)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot look at map %u: %s", map_id,
				 strerror(errno));
	ret = read_map(fd, uses, nr);
	close(fd);
	if (ret)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	if (*nr)
		qsort(*uses, *nr, sizeof(**uses), compare);
	return 0;
}
