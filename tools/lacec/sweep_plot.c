// SPDX-License-Identifier: GPL-2.0
/*
 * From the rows of a sweep to lines: a colour for each scheduler, a style for
 * each combination of what is neither along x nor a scheduler.
 */
#include "sweep_plot.h"
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const x_names[SWEEP_NR_AXES] = {
	"servers", "lanes", "control", "reconfig",
};

static const char *const x_labels[SWEEP_NR_AXES] = {
	"servers", "lanes of a server", "control bytes for each data byte",
	"time of a reconfiguration",
};

static const char *const y_names[] = { "cct", "ratio", "gap", "segments" };

static const char *const y_labels[] = {
	"communication completion time (s)", "completion time / that of lace",
	"completion time above the bound (%)", "segments",
};

int sweep_plot_find_x(const char *word, struct sweep_plot_axes *axes,
		      struct lace_error *err)
{
	for (unsigned int a = 0; a < SWEEP_NR_AXES; a++) {
		if (!strcmp(word, x_names[a])) {
			axes->x = a;
			return 0;
		}
	}
	return lace_fail(err, LACE_ERR_INPUT,
			 "--x is \"reconfig\", \"lanes\", \"servers\" or \"control\", not \"%.64s\"",
			 word);
}

int sweep_plot_find_y(const char *word, struct sweep_plot_axes *axes,
		      struct lace_error *err)
{
	for (unsigned int y = 0; y < sizeof(y_names) / sizeof(*y_names); y++) {
		if (!strcmp(word, y_names[y])) {
			axes->y = y;
			return 0;
		}
	}
	return lace_fail(err, LACE_ERR_INPUT,
			 "--y is \"cct\", \"ratio\", \"gap\" or \"segments\", not \"%.64s\"",
			 word);
}

static enum sweep_axis x_of(const struct sweep *sweep,
			    const struct sweep_plot_axes *axes)
{
	enum sweep_axis best = SWEEP_RECONFIG;

	if (axes->x != SWEEP_NR_AXES)
		return axes->x;
	for (unsigned int a = 0; a < SWEEP_NR_AXES; a++)
		if (sweep->axes[a].nr > sweep->axes[best].nr)
			best = a;
	return best;
}

int sweep_plot_check(const struct sweep *sweep,
		     const struct sweep_plot_axes *axes, struct lace_error *err)
{
	unsigned int styles = sweep_nr_points(sweep) /
			      sweep->axes[x_of(sweep, axes)].nr;

	if (sweep->nr_schedulers > PLOT_COLOURS)
		return lace_fail(err, LACE_ERR_INPUT,
				 "a plot has at most %d schedulers",
				 PLOT_COLOURS);
	if (styles > PLOT_STYLES)
		return lace_fail(err, LACE_ERR_INPUT,
				 "a plot over %s has at most %d combinations of the other values, not %u",
				 x_names[x_of(sweep, axes)], PLOT_STYLES,
				 styles);
	return 0;
}

/* ---- names ---- */

#define NAME_ROOM 40		/* characters of a title that fit the picture */

/* Bytes of the first characters; UTF-8 is not cut within one. */
static int first_characters(const char *text, unsigned int nr)
{
	size_t len = 0;

	for (; text[len]; len++)
		if ((text[len] & 0xc0) != 0x80 && !nr--)
			break;
	return len;
}

static void format_value(char *text, size_t size, enum sweep_axis axis,
			 double value)
{
	static const char *const formats[] = {
		[SWEEP_SERVERS] = "%.0f servers",
		[SWEEP_LANES] = "%.0f lanes",
		[SWEEP_CONTROL] = "control %.6g",
	};

	if (axis != SWEEP_RECONFIG)
		snprintf(text, size, formats[axis], value);
	else if (value > 0 && value < 1e-3)
		snprintf(text, size, "%.6g us", value * 1e6);
	else if (value > 0 && value < 1)
		snprintf(text, size, "%.6g ms", value * 1e3);
	else
		snprintf(text, size, "%.6g s", value);
}

/* The values of a point on the axes with several values (x left out), or those
 * on the axes with one.
 */
static void describe(const struct sweep *sweep, enum sweep_axis x,
		     unsigned int point, bool several, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int a = 0; a < SWEEP_NR_AXES; a++) {
		char value[40];
		double v = sweep_value(sweep, point, a);

		if (a == x || (sweep->axes[a].nr > 1) != several ||
		    (a == SWEEP_LANES && !(v > 0)))
			continue;
		format_value(value, sizeof(value), a, v);
		len += snprintf(text + len, size - len, "%s%s",
				len ? ", " : "", value);
		if (len >= size)
			return;
	}
}

/* ---- lines ---- */

static double y_of(const struct sweep_row *row, enum sweep_y y)
{
	if (!row->found)
		return NAN;
	switch (y) {
	case SWEEP_RATIO:
		return row->ratio;
	case SWEEP_GAP:
		return 100 * sweep_gap(row);
	case SWEEP_SEGMENTS:
		return row->segments;
	default:
		return row->cct_s;
	}
}

struct drawing {
	struct plot plot;
	double x[SWEEP_MAX_VALUES];
	unsigned int order[SWEEP_MAX_VALUES];	/* of the axis, ascending */
	struct plot_line lines[PLOT_COLOURS * PLOT_STYLES];
	double y[PLOT_COLOURS * PLOT_STYLES][SWEEP_MAX_VALUES];
	char style_names[PLOT_STYLES][160];
	char title[4 * NAME_ROOM + 80], subtitle[200];
};

static void sort_x(const struct sweep_values *values, struct drawing *d)
{
	for (unsigned int i = 0; i < values->nr; i++) {
		unsigned int k = i;

		for (; k && values->at[d->order[k - 1]] > values->at[i]; k--)
			d->order[k] = d->order[k - 1];
		d->order[k] = i;
	}
	for (unsigned int i = 0; i < values->nr; i++)
		d->x[i] = values->at[d->order[i]];
	d->plot.nr_x = values->nr;
	d->plot.x = d->x;
}

/* Points that differ from each other by x alone have numbers stride apart. */
static void draw_lines(const struct sweep *sweep, enum sweep_axis x,
		       enum sweep_y y, const struct sweep_row *rows,
		       struct drawing *d)
{
	unsigned int nr_x = sweep->axes[x].nr, stride = 1, style = 0;
	unsigned int nr = sweep_nr_points(sweep), k = sweep->nr_schedulers;

	for (unsigned int a = SWEEP_NR_AXES; --a > x;)
		stride *= sweep->axes[a].nr;
	for (unsigned int first = 0; first < nr; first++) {
		if (first / stride % nr_x)
			continue;
		describe(sweep, x, first, true, d->style_names[style],
			 sizeof(d->style_names[style]));
		if (nr > nr_x)
			d->plot.style_names[style] = d->style_names[style];
		for (unsigned int s = 0; s < k; s++) {
			unsigned int line = d->plot.nr_lines++;

			for (unsigned int i = 0; i < nr_x; i++)
				d->y[line][i] = y_of(&rows[(first + d->order[i] *
							    stride) * (size_t)k +
							   s], y);
			d->lines[line] = (struct plot_line){
				.colour = s, .style = style, .y = d->y[line] };
		}
		style++;
	}
	d->plot.lines = d->lines;
}

int sweep_plot_write(FILE *out, const struct sweep *sweep,
		     const struct sweep_plot_axes *axes, const char *name,
		     const struct sweep_row *rows, struct lace_error *err)
{
	struct drawing *d = calloc(1, sizeof(*d));
	enum sweep_axis x = x_of(sweep, axes);
	int len = first_characters(name, NAME_ROOM);

	if (!d)
		return lace_no_memory(err);
	sort_x(&sweep->axes[x], d);
	draw_lines(sweep, x, axes->y, rows, d);
	for (unsigned int s = 0; s < sweep->nr_schedulers; s++)
		d->plot.colour_names[s] = sweep->schedulers[s]->name;
	snprintf(d->title, sizeof(d->title), "%.*s%s over %s", len, name,
		 name[len] ? "..." : "", x_labels[x]);
	describe(sweep, x, 0, false, d->subtitle, sizeof(d->subtitle));
	d->plot.title = d->title;
	d->plot.subtitle = d->subtitle;
	d->plot.x_label = x_labels[x];
	d->plot.y_label = y_labels[axes->y];
	d->plot.x_unit = x == SWEEP_RECONFIG ? PLOT_SECONDS : PLOT_NUMBER;
	plot_write(out, &d->plot);
	free(d);
	return 0;
}
