/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which devices are traced.  All of this needs the lock of trace_pin.h, but for
 * trace_forget(), which takes it.
 */
#ifndef LACECTL_TRACE_DEVICE_H
#define LACECTL_TRACE_DEVICE_H

#include "port_line.h"
#include "trace_read.h"

/* One that is not traced yet begins with nothing.  lines: as device->ports. */
int trace_add_device(const struct trace_pins *pins,
		     const struct lace_rt_device *device,
		     const struct port_line *lines, struct lace_error *err);
int trace_remove_device(const struct trace_pins *pins,
			const struct trace_device_key *key,
			struct lace_error *err);
/* Takes the programs away if they have no device any more. */
int trace_stop_if_idle(const struct trace_pins *pins, struct lace_error *err);
/* All devices of network namespaces that are about to go, by name. */
int trace_forget(char **names, size_t nr, struct lace_error *err);

#endif /* LACECTL_TRACE_DEVICE_H */
