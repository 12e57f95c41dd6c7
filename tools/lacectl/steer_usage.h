/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading back what a steering program is and what it has counted.
 */
#ifndef LACECTL_STEER_USAGE_H
#define LACECTL_STEER_USAGE_H

#include "lace.h"

struct steer_info {
	const char *policy;	/* one that ships, or "custom" */
	char program[16];	/* its name in the kernel */
	uint32_t usage_map_id;	/* 0: it has no map lane_usage */
};

struct steer_use {
	uint32_t peer, port;
	uint64_t packets, bytes;
	double age_s;		/* since the last packet */
};

/* prog_id 0: the module's own policy. */
int steer_describe(uint32_t prog_id, struct steer_info *info,
		   struct lace_error *err);
/* Sorted by peer and port; the caller frees *uses. */
int steer_read_usage(uint32_t map_id, struct steer_use **uses, size_t *nr,
		     struct lace_error *err);

#endif /* LACECTL_STEER_USAGE_H */
