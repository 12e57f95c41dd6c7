/* SPDX-License-Identifier: GPL-2.0 */
/* Lines over an axis as a picture (SVG) that needs nothing else to be seen. */
#ifndef LACEC_PLOT_H
#define LACEC_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PLOT_COLOURS 8
#define PLOT_STYLES 6

enum plot_unit {
	PLOT_NUMBER,
	PLOT_SECONDS,
};

/* A point that is not there has a y that is NAN and breaks the line. */
struct plot_line {
	unsigned int colour, style;	/* below PLOT_COLOURS, PLOT_STYLES */
	double *y;			/* for each x */
};

struct plot {
	const char *title, *subtitle;
	const char *x_label, *y_label;
	enum plot_unit x_unit;
	size_t nr_x;
	const double *x;		/* ascending */
	unsigned int nr_lines;
	const struct plot_line *lines;
	/* What colours and styles stand for; styles may all have no name. */
	const char *colour_names[PLOT_COLOURS];
	const char *style_names[PLOT_STYLES];
};

void plot_write(FILE *out, const struct plot *plot);

#endif /* LACEC_PLOT_H */
