/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What "lacectl trace show" and "export" do, for trace.c, which has the commands.
 */
#ifndef LACECTL_TRACE_H
#define LACECTL_TRACE_H

#include "lacectl.h"
#include "trace_read.h"

/* Devices that are asked for: one, or all. */
struct trace_choice {
	bool all;
	struct trace_device_key key;
};

static inline bool trace_is_chosen(const struct trace_choice *choice,
				   uint32_t netns, uint32_t ifindex)
{
	return choice->all || (choice->key.netns == netns &&
			       choice->key.ifindex == ifindex);
}

extern const char *const trace_drop_names[LACE_DROP_MAX + 1];

/* trace_show.c */
int trace_show(const struct lacectl *ctl, const struct trace_pins *pins,
	       const struct trace_choice *choice, struct lace_error *err);

/* trace_export.c */
int trace_export(const struct trace_pins *pins,
		 const struct trace_choice *choice, FILE *out,
		 struct lace_error *err);

#endif /* LACECTL_TRACE_H */
