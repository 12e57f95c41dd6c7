/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a port's fibre can carry, and what waits for it: from the queueing
 * discipline and the link settings of its network device.
 */
#ifndef LACECTL_PORT_LINE_H
#define LACECTL_PORT_LINE_H

#include "client.h"

struct port_line {
	uint64_t rate_bps;	/* 0: not known */
	uint32_t overhead;	/* bytes that a frame takes of it beside its own */
	uint64_t backlog;	/* bytes */
};

/* One line for each port, in their order.  Ports that go meanwhile have zeros. */
int port_lines_read(const struct lace_rt_port *ports, unsigned int nr,
		    struct port_line *lines, struct lace_error *err);

#endif /* LACECTL_PORT_LINE_H */
