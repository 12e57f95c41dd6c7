/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects of the module as JSON and as text: what "show" prints, and "monitor"
 * too.
 */
#ifndef LACECTL_SHOW_H
#define LACECTL_SHOW_H

#include "client.h"
#include "lacectl.h"

/* A number, or what stands for LACE_RT_NONE. */
json_t *json_or_null(int64_t number);
void print_or_none(const char *what, int64_t number);

/* device.c */
json_t *json_device(const struct lace_rt_device *device);
void print_device(const struct lacectl *ctl,
		  const struct lace_rt_device *device);

/* lane.c */
json_t *json_lane(const struct lace_rt_lane *lane);
json_t *json_segment_event(const struct lace_rt_segment *segment);
void print_segment_event(const struct lace_rt_segment *segment);
void print_lane(const struct lacectl *ctl, const struct lace_rt_lane *lane);

const char *lane_dir_name(uint8_t dir);
const char *lane_state_name(uint8_t state);
/* Name of the port's interface; "" once that has gone. */
const char *lane_port_name(const struct lace_rt_lane *lane,
			   char name[IFNAMSIZ]);

/* node.c */
json_t *json_node(const struct lace_rt_node *node);
void print_node(const struct lace_rt_node *node);

/* transition.c */
extern const char *const phase_names[];	/* up to a NULL */
const char *phase_name(uint8_t phase);
json_t *json_port_set(uint32_t ports);
json_t *json_transition(const struct lace_rt_transition *transition);
void print_transition(const struct lacectl *ctl,
		      const struct lace_rt_transition *transition);

/* hook.c */
json_t *json_hook(const struct lace_rt_hook *hook);
void print_hook(const struct lace_rt_hook *hook);
json_t *json_call(const struct lace_rt_hook *call);
void print_call(const struct lace_rt_hook *call);

#endif /* LACECTL_SHOW_H */
