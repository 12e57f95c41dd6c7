/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace programs of this host: loaded once for all devices and users, and
 * kept by their pins in LACE_PIN_ROOT/TRACE_FOLDER until nobody needs them.
 */
#ifndef LACECTL_TRACE_PIN_H
#define LACECTL_TRACE_PIN_H

#include "../../ebpf/trace.h"

#include "lace.h"

#define TRACE_EVENTS_DEFAULT 8192	/* that each processor keeps */
#define TRACE_EVENTS_MAX (1U << 20)

enum trace_map {
	TRACE_MAP_LAYOUT,
	TRACE_MAP_DEVICES,
	TRACE_MAP_RATES,
	TRACE_MAP_USAGE,
	TRACE_MAP_HIST,
	TRACE_MAP_DROPS,
	TRACE_MAP_EVENTS,
	TRACE_MAP_HEADS,
	TRACE_MAPS
};

struct trace_pins {
	int fd[TRACE_MAPS];
	struct trace_layout layout;
};

/* One at a time changes what is pinned.  *lock is for trace_unlock(). */
int trace_lock(int *lock, struct lace_error *err);
void trace_unlock(int lock);

/* What is pinned.  1: pins is filled, trace_close() it; 0: there is nothing.
 * Fails, LACE_ERR_ANSWER, where it is of another layout.
 */
int trace_open(struct trace_pins *pins, struct lace_error *err);
/* Loads, attaches and pins.  events: that each processor keeps, a power of two.
 * Needs the lock, and that there is nothing.
 */
int trace_start(uint32_t events, struct trace_pins *pins,
		struct lace_error *err);
void trace_close(struct trace_pins *pins);
/* Takes all of it away.  Needs the lock. */
int trace_stop(struct lace_error *err);

#endif /* LACECTL_TRACE_PIN_H */
