/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the trace programs have found, read from their maps and put in order.
 */
#ifndef LACECTL_TRACE_READ_H
#define LACECTL_TRACE_READ_H

#include "trace_pin.h"

struct trace_device_entry {
	struct trace_device_key key;
	struct trace_device value;
};

struct trace_usage_entry {
	struct trace_usage_key key;
	struct trace_usage value;
};

struct trace_hist_entry {
	struct trace_hist_key key;
	struct trace_hist value;
};

struct trace_drop_entry {
	struct trace_drop_key key;
	struct trace_drop value;
};

/* All entries of a hash map, sorted by key; the caller frees *entries, an array
 * of the structure above that fits.
 */
int trace_read_map(const struct trace_pins *pins, enum trace_map which,
		   void **entries, size_t *nr, struct lace_error *err);
/* Takes away the entries of a device. */
int trace_purge(const struct trace_pins *pins,
		const struct trace_device_key *device, struct lace_error *err);
/* What happened last, by time; the caller frees *events. */
int trace_read_events(const struct trace_pins *pins,
		      struct trace_event **events, size_t *nr,
		      struct lace_error *err);

/* Name of a network namespace as "ip netns" has it; "" if it has none. */
void trace_netns_name(uint32_t netns, char *name, size_t size);
/* Key of a device of the namespace that we are in. */
int trace_key_of(const char *ifname, struct trace_device_key *key,
		 struct lace_error *err);

#endif /* LACECTL_TRACE_READ_H */
