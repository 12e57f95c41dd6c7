/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loading a steering program, and keeping its map of lane usage where bpftool
 * finds it: LACE_PIN_ROOT/NETNS/lane_usage for lace0 of a named namespace,
 * .../NETNS/lane_usage_DEV for its other devices, LACE_PIN_ROOT/DEV/lane_usage
 * outside of named namespaces.
 */
#ifndef LACECTL_STEER_LOAD_H
#define LACECTL_STEER_LOAD_H

#include "../../ebpf/steer.h"
#include "lace.h"

/* The policies that ship; ends with NULL. */
extern const char *const steer_policies[];

/* Where the program comes from: policy, or else file. */
struct steer_source {
	const char *policy;
	struct steer_options options;	/* of policy */
	const char *file;
	const char *program;	/* of file: function or section; NULL: the only */
};

struct bpf_object;

struct steer_program {
	struct bpf_object *object;
	int fd;
	int usage_fd;		/* map lane_usage, or -1 */
};

int steer_load(const struct steer_source *source, struct steer_program *program,
	       struct lace_error *err);
void steer_unload(struct steer_program *program);

/* Pins the map under a name of its own; then puts it in the place of the one
 * before, or drops it.
 */
int steer_pin_begin(const char *ifname, const struct steer_program *program,
		    struct lace_error *err);
int steer_pin_commit(const char *ifname, const struct steer_program *program,
		     struct lace_error *err);
void steer_pin_abort(const char *ifname);
int steer_unpin(const char *ifname, struct lace_error *err);

#endif /* LACECTL_STEER_LOAD_H */
