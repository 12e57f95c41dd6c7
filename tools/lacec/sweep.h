/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of lacec sweep share. */
#ifndef LACEC_SWEEP_H
#define LACEC_SWEEP_H

#include "lacec.h"

#define SWEEP_MAX_VALUES 64
#define SWEEP_MAX_POINTS 65536
#define SWEEP_MAX_SCHEDULERS 16
/* Each has a pipe; a process may often have no more than 1024 files. */
#define SWEEP_MAX_JOBS 512
/* What a cluster file may say. */
#define SWEEP_MAX_RECONFIG_S 1e9
#define SWEEP_MAX_CONTROL_RATIO 1e3

/* In the order in which points are gone through: the last changes fastest. */
enum sweep_axis {
	SWEEP_SERVERS,
	SWEEP_LANES,
	SWEEP_CONTROL,
	SWEEP_RECONFIG,
	SWEEP_NR_AXES,
};

struct sweep_values {
	unsigned int nr;
	double at[SWEEP_MAX_VALUES];
};

struct sweep {
	/* A model, or the two files. */
	struct lace_generate model;
	uint64_t rate_bps;
	enum lace_wiring wiring;
	enum lace_relay relay;
	struct input input;

	struct sweep_values axes[SWEEP_NR_AXES];
	unsigned int nr_schedulers;
	const struct lace_scheduler *schedulers[SWEEP_MAX_SCHEDULERS];
	unsigned int jobs;
};

/* What one scheduler makes of one point. */
struct sweep_row {
	bool found;
	double cct_s, transmit_s, reconfig_s, bound_s;
	double ratio;		/* to lace; NAN if that has no plan */
	double compile_s;
	unsigned int segments;
	char why[256];		/* not found */
};

unsigned int sweep_nr_points(const struct sweep *sweep);
double sweep_value(const struct sweep *sweep, unsigned int point,
		   enum sweep_axis axis);
/* How far above its bound; NAN if that is 0. */
double sweep_gap(const struct sweep_row *row);
/* rows: nr_schedulers for each point, in order. */
int sweep_run(const struct sweep *sweep, struct sweep_row *rows,
	      struct lace_error *err);

#endif /* LACEC_SWEEP_H */
