/* SPDX-License-Identifier: GPL-2.0 */
/* The plot of a sweep: one axis along x, the rest in colours and styles. */
#ifndef LACEC_SWEEP_PLOT_H
#define LACEC_SWEEP_PLOT_H

#include "sweep.h"

enum sweep_y { SWEEP_CCT, SWEEP_RATIO, SWEEP_GAP, SWEEP_SEGMENTS };

struct sweep_plot_axes {
	enum sweep_axis x;	/* SWEEP_NR_AXES: what has most values */
	enum sweep_y y;
};

int sweep_plot_find_x(const char *word, struct sweep_plot_axes *axes,
		      struct lace_error *err);
int sweep_plot_find_y(const char *word, struct sweep_plot_axes *axes,
		      struct lace_error *err);
/* Whether so many lines can be told apart. */
int sweep_plot_check(const struct sweep *sweep,
		     const struct sweep_plot_axes *axes,
		     struct lace_error *err);
int sweep_plot_write(FILE *out, const struct sweep *sweep,
		     const struct sweep_plot_axes *axes, const char *name,
		     const struct sweep_row *rows, struct lace_error *err);

#endif /* LACEC_SWEEP_PLOT_H */
