// SPDX-License-Identifier: GPL-2.0
/*
 * Loads steering programs and pins their maps.
 */
#include "pin.h"
#include "steer_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "steer_builtin.skel.h"
#include "steer_flowlet.skel.h"
#include "steer_hash.skel.h"
#include "steer_pin.skel.h"
#include "steer_spread.skel.h"
#include "steer_weighted.skel.h"

#define USAGE "lane_usage"
#define NETNS_FOLDER "/run/netns"
#define DEVICE_PLAIN "lace0"

const char *const steer_policies[] = {
	"spread", "pin", "flowlet", "weighted", "hash", "builtin", NULL
};

/* The object files, in the order of the policies. */
static const void *(*const object_of[])(size_t *size) = {
	steer_spread_bpf__elf_bytes,   steer_pin_bpf__elf_bytes,
	steer_flowlet_bpf__elf_bytes,  steer_weighted_bpf__elf_bytes,
	steer_hash_bpf__elf_bytes,     steer_builtin_bpf__elf_bytes,
};

_Static_assert(sizeof(object_of) / sizeof(object_of[0]) + 1 ==
		       sizeof(steer_policies) / sizeof(steer_policies[0]),
	       "each policy has an object file");

/* ---- loading ---- */

static struct bpf_object *open_policy(const char *policy)
{
	const void *bytes;
	unsigned int i = 0;
	size_t size;

	while (strcmp(steer_policies[i], policy))
		i++;
	bytes = object_of[i](&size);
	return bpf_object__open_mem(bytes, size, NULL);
}

/* They are a program's only read-only data. */
static int give_options(struct bpf_object *object,
			const struct steer_options *options)
{
	struct bpf_map *map;
	int ret = 0;

	bpf_object__for_each_map(map, object)
		if (strstr(bpf_map__name(map), ".rodata"))
			ret = bpf_map__set_initial_value(map, options,
							 sizeof(*options));
	return ret;
}

static void take_object(struct steer_program *program,
			const struct bpf_program *chosen)
{
	struct bpf_map *map;

	program->fd = bpf_program__fd(chosen);
	map = bpf_object__find_map_by_name(program->object, USAGE);
	program->usage_fd = map ? bpf_map__fd(map) : -1;
}

static int load_policy(const struct steer_source *source,
		       struct steer_program *program, struct lace_error *err)
{
	int ret;

	program->object = open_policy(source->policy);
	if (!program->object)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot open the steering program: %s",
				 lace_pin_reason(-errno));
	ret = give_options(program->object, &source->options);
	if (!ret)
		ret = bpf_object__load(program->object);
	if (ret)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot load the steering program: %s",
				 lace_pin_reason(ret));
	take_object(program, bpf_object__next_program(program->object, NULL));
	return 0;
}

static bool is_called(const struct bpf_program *program, const char *name)
{
	return !name || !strcmp(bpf_program__name(program), name) ||
	       !strcmp(bpf_program__section_name(program), name);
}

static int choose_program(const struct steer_source *source,
			  struct bpf_object *object, struct bpf_program **chosen,
			  struct lace_error *err)
{
	struct bpf_program *program;

	*chosen = NULL;
	bpf_object__for_each_program(program, object) {
		if (!is_called(program, source->program)) {
			bpf_program__set_autoload(program, false);
			continue;
		}
		if (*chosen)
			return lace_fail(err, LACE_ERR_INPUT,
					 "%s: %s and %s: say which program",
					 source->file,
					 bpf_program__name(*chosen),
					 bpf_program__name(program));
		*chosen = program;
	}
	if (!*chosen)
		return lace_fail(err, LACE_ERR_INPUT, "%s: no program %s",
				 source->file,
				 source->program ? source->program : "in it");
	return 0;
}

static int load_file(const struct steer_source *source,
		     struct steer_program *program, struct lace_error *err)
{
	struct bpf_program *chosen;
	int ret;

	program->object = bpf_object__open_file(source->file, NULL);
	if (!program->object)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s: not a BPF object file: %s", source->file,
				 lace_pin_reason(-errno));
	if (choose_program(source, program->object, &chosen, err))
		return -1;
	if (bpf_program__type(chosen) != BPF_PROG_TYPE_SOCKET_FILTER)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s: %s is not a socket program (SEC(\"socket\"))",
				 source->file, bpf_program__name(chosen));
	ret = bpf_object__load(program->object);
	if (ret)
		return lace_fail(err, LACE_ERR_ANSWER,
				 "%s: the kernel refuses %s: %s", source->file,
				 bpf_program__name(chosen),
				 lace_pin_reason(ret));
	take_object(program, chosen);
	return 0;
}

/**
 * steer_load() - loads a steering program
 * @source: which
 * @program: the result; steer_unload() it when it has been handed on
 * @err: filled on failure
 *
 * Return: 0, or a negative value; then nothing is left.
 */
int steer_load(const struct steer_source *source, struct steer_program *program,
	       struct lace_error *err)
{
	int ret;

	lace_pin_capture();
	memset(program, 0, sizeof(*program));
	program->fd = program->usage_fd = -1;
	ret = source->policy ? load_policy(source, program, err) :
			       load_file(source, program, err);
	if (ret)
		steer_unload(program);
	return ret;
}

/**
 * steer_unload() - lets go of a program; whoever uses it keeps it alive
 * @program: from steer_load()
 */
void steer_unload(struct steer_program *program)
{
	bpf_object__close(program->object);
	memset(program, 0, sizeof(*program));
}

/* ---- pins ---- */

/* Name of the namespace that we are in, as "ip netns" has it; empty if none. */
static void own_netns(char *name, size_t size)
{
	struct stat own, other;
	struct dirent *entry;
	DIR *dir;

	name[0] = '\0';
	dir = opendir(NETNS_FOLDER);
	if (!dir)
		return;
	if (stat("/proc/thread-self/ns/net", &own))
		own.st_ino = 0;
	while (!name[0] && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    !fstatat(dirfd(dir), entry->d_name, &other, 0) &&
		    other.st_ino == own.st_ino && other.st_dev == own.st_dev)
			snprintf(name, size, "%s", entry->d_name);
	closedir(dir);
}

struct pin {
	char folder[NAME_MAX + 1];
	char object[64];	/* bpffs takes no dots in names */
	char object_new[sizeof("_new") + 64];
};

static void name_pin(const char *ifname, struct pin *pin)
{
	char *dot;

	own_netns(pin->folder, sizeof(pin->folder));
	if (!pin->folder[0]) {
		snprintf(pin->folder, sizeof(pin->folder), "%s", ifname);
		snprintf(pin->object, sizeof(pin->object), USAGE);
	} else if (!strcmp(ifname, DEVICE_PLAIN)) {
		snprintf(pin->object, sizeof(pin->object), USAGE);
	} else {
		snprintf(pin->object, sizeof(pin->object), USAGE "_%.32s",
			 ifname);
	}
	for (dot = pin->object; (dot = strchr(dot, '.')); )
		*dot = '_';
	snprintf(pin->object_new, sizeof(pin->object_new), "%s_new",
		 pin->object);
}

int steer_pin_begin(const char *ifname, const struct steer_program *program,
		    struct lace_error *err)
{
	char path[LACE_PIN_PATH_SIZE];
	struct pin pin;

	if (program->usage_fd < 0)
		return 0;
	name_pin(ifname, &pin);
	if (lace_pin_make(pin.folder, err) ||
	    lace_pin_path(pin.folder, pin.object_new, path, err))
		return -1;
	unlink(path);
	if (bpf_obj_pin(program->usage_fd, path))
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot pin %s: %s",
				 path, strerror(errno));
	return 0;
}

int steer_pin_commit(const char *ifname, const struct steer_program *program,
		     struct lace_error *err)
{
	char from[LACE_PIN_PATH_SIZE], to[LACE_PIN_PATH_SIZE];
	struct pin pin;

	if (program->usage_fd < 0)
		return steer_unpin(ifname, err);
	name_pin(ifname, &pin);
	if (lace_pin_path(pin.folder, pin.object_new, from, err) ||
	    lace_pin_path(pin.folder, pin.object, to, err))
		return -1;
	if (rename(from, to))
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot rename %s: %s",
				 from, strerror(errno));
	return 0;
}

void steer_pin_abort(const char *ifname)
{
	struct lace_error ignored = {};
	struct pin pin;

	name_pin(ifname, &pin);
	lace_pin_remove_one(pin.folder, pin.object_new, &ignored);
}

int steer_unpin(const char *ifname, struct lace_error *err)
{
	struct pin pin;

	name_pin(ifname, &pin);
	return lace_pin_remove_one(pin.folder, pin.object, err);
}
