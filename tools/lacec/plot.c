// SPDX-License-Identifier: GPL-2.0
/*
 * Draws a plot as SVG.  An axis is logarithmic where the values above 0 span a
 * factor of SPAN; a 0 on it stands one step before the least of them, and its
 * label says 0.  Colours are told apart by people who see few colours (Okabe and
 * Ito), and every style has a mark of its own.
 */
#include "plot.h"

#include <math.h>
#include <string.h>

#define SPAN 20
#define WIDTH 920
#define HEIGHT 500
#define LEFT 84
#define RIGHT 640		/* of the frame; the legend comes after it */
#define TOP 64
#define BOTTOM 430
#define LABEL_ROOM 46		/* between neighbouring labels of x */
#define MAX_TICKS 32
#define MARGIN 14		/* between the frame and the first and last x */

static const char *const colours[PLOT_COLOURS] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
	"#000000", "#999999",
};

static const char *const dashes[PLOT_STYLES] = {
	"", "7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2",
};

struct axis {
	bool log;
	double least, most;	/* logarithms if log */
	double zero;		/* where 0 stands, if log */
	int from, to;		/* pixels */
};

struct ticks {
	unsigned int nr;
	double at[MAX_TICKS];
};

/* ---- axes ---- */

static double place(const struct axis *axis, double value)
{
	double v = axis->log ? (value > 0 ? log10(value) : axis->zero) : value;
	double part = axis->most > axis->least
			      ? (v - axis->least) / (axis->most - axis->least)
			      : 0.5;

	return axis->from + part * (axis->to - axis->from);
}

struct range {
	double least, most;	/* least: above 0 */
	bool zero, any;
};

static void widen(struct range *range, double value)
{
	if (isnan(value))
		return;
	if (!(value > 0)) {
		range->zero = true;
		return;
	}
	if (!range->any || value < range->least)
		range->least = value;
	if (!range->any || value > range->most)
		range->most = value;
	range->any = true;
}

static struct axis x_axis(const struct plot *plot)
{
	struct axis axis = { .from = LEFT + MARGIN, .to = RIGHT - MARGIN };
	struct range range = { 0 };

	for (size_t i = 0; i < plot->nr_x; i++)
		widen(&range, plot->x[i]);
	axis.log = range.any && range.most >= SPAN * range.least;
	if (axis.log) {
		axis.least = log10(range.least);
		axis.most = log10(range.most);
		axis.zero = axis.least - 1;
		if (range.zero)
			axis.least = axis.zero;
	} else {
		axis.least = range.zero || !range.any ? 0 : range.least;
		axis.most = range.any ? range.most : 1;
	}
	return axis;
}

/* 1, 2 or 5 times a power of ten, so that there are some five of them. */
static double nice_step(double length)
{
	double raw = length / 5, power = pow(10, floor(log10(raw)));
	double first = raw / power;

	return power * (first < 1.5 ? 1 : first < 3.5 ? 2 : first < 7.5 ? 5 : 10);
}

static void linear_ticks(struct axis *axis, double most, struct ticks *ticks)
{
	double step = nice_step(most > 0 ? most : 1);

	axis->least = 0;
	axis->most = step * ceil((most > 0 ? most : 1) / step * (1 - 1e-9));
	for (unsigned int i = 0; i < MAX_TICKS && i * step <= axis->most * 1.001;
	     i++)
		ticks->at[ticks->nr++] = i * step;
}

static void log_ticks(struct axis *axis, const struct range *range,
		      struct ticks *ticks)
{
	static const int steps[] = { 1, 2, 5 };
	int first = (int)floor(log10(range->least));
	int last = (int)ceil(log10(range->most));
	unsigned int nr = last - first > 2 ? 1 : 3;

	axis->log = true;
	axis->zero = first - 1;
	axis->least = range->zero ? axis->zero : first;
	axis->most = last;
	for (int e = first; e <= last; e++) {
		for (unsigned int i = 0; i < nr; i++) {
			if (ticks->nr == MAX_TICKS || (e == last && i))
				return;
			ticks->at[ticks->nr++] = steps[i] * pow(10, e);
		}
	}
}

static struct axis y_axis(const struct plot *plot, struct ticks *ticks)
{
	struct axis axis = { .from = BOTTOM, .to = TOP };
	struct range range = { 0 };

	for (unsigned int l = 0; l < plot->nr_lines; l++)
		for (size_t i = 0; i < plot->nr_x; i++)
			widen(&range, plot->lines[l].y[i]);
	ticks->nr = 0;
	if (range.any && range.most >= SPAN * range.least)
		log_ticks(&axis, &range, ticks);
	else
		linear_ticks(&axis, range.most, ticks);
	return axis;
}

/* ---- text ---- */

static void write_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if ((unsigned char)*text >= ' ')
			fputc(*text, out);
	}
}

static void text(FILE *out, double x, double y, const char *anchor,
		 const char *more, const char *what)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y,
		anchor, more);
	write_escaped(out, what);
	fputs("</text>\n", out);
}

static void format(char *label, size_t size, double value, enum plot_unit unit)
{
	if (unit != PLOT_SECONDS || !(value > 0))
		snprintf(label, size, "%.6g", value);
	else if (value < 0.9995e-6)
		snprintf(label, size, "%.4g ns", value * 1e9);
	else if (value < 0.9995e-3)
		snprintf(label, size, "%.4g us", value * 1e6);
	else if (value < 0.9995)
		snprintf(label, size, "%.4g ms", value * 1e3);
	else
		snprintf(label, size, "%.4g s", value);
}

/* ---- parts of the picture ---- */

static void write_head(FILE *out, const struct plot *plot)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<title>", WIDTH, HEIGHT, WIDTH, HEIGHT);
	write_escaped(out, plot->title);
	fprintf(out, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
		WIDTH, HEIGHT);
	text(out, LEFT, 28, "start", " font-size=\"16\" font-weight=\"bold\"",
	     plot->title);
	text(out, LEFT, 48, "start", " fill=\"#555555\"", plot->subtitle);
}

static void write_x_axis(FILE *out, const struct plot *plot,
			 const struct axis *axis)
{
	double last = -LABEL_ROOM;
	char label[40];

	for (size_t i = 0; i < plot->nr_x; i++) {
		double x = place(axis, plot->x[i]);

		fprintf(out,
			"<path d=\"M%.1f %d V%d\" stroke=\"#dddddd\"/>\n"
			"<path d=\"M%.1f %d v5\" stroke=\"#333333\"/>\n",
			x, TOP, BOTTOM, x, BOTTOM);
		if (x - last < LABEL_ROOM)
			continue;
		format(label, sizeof(label), plot->x[i], plot->x_unit);
		text(out, x, BOTTOM + 20, "middle", " class=\"x\"", label);
		last = x;
	}
	text(out, (LEFT + RIGHT) / 2.0, BOTTOM + 48, "middle", "",
	     plot->x_label);
}

static void write_y_axis(FILE *out, const struct plot *plot,
			 const struct axis *axis, const struct ticks *ticks)
{
	char label[40];

	for (unsigned int i = 0; i < ticks->nr; i++) {
		double y = place(axis, ticks->at[i]);

		fprintf(out,
			"<path d=\"M%d %.1f H%d\" stroke=\"#dddddd\"/>\n"
			"<path d=\"M%d %.1f h-5\" stroke=\"#333333\"/>\n",
			LEFT, y, RIGHT, LEFT, y);
		format(label, sizeof(label), ticks->at[i], PLOT_NUMBER);
		text(out, LEFT - 9, y + 4, "end", " class=\"y\"", label);
	}
	fprintf(out, "<g transform=\"translate(22 %.1f) rotate(-90)\">\n",
		(TOP + BOTTOM) / 2.0);
	text(out, 0, 0, "middle", "", plot->y_label);
	fputs("</g>\n", out);
	fprintf(out,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
		"stroke=\"#333333\"/>\n", LEFT, TOP, RIGHT - LEFT,
		BOTTOM - TOP);
}

/* One for each style, around a point. */
static void write_mark(FILE *out, unsigned int style, const char *colour,
		       double x, double y)
{
	static const char *const shapes[PLOT_STYLES] = {
		"m-4 0 a4 4 0 1 0 8 0 a4 4 0 1 0 -8 0 z", "m-4 -4 h8 v8 h-8 z",
		"m0 -5 l5 9 h-10 z", "m0 -5 l5 5 l-5 5 l-5 -5 z",
		"m0 5 l5 -9 h-10 z", "m-5 -2 h3 v-3 h4 v3 h3 v4 h-3 v3 h-4 v-3 h-3 z",
	};

	fprintf(out, "<path d=\"M%.1f %.1f %s\" fill=\"%s\" stroke=\"#ffffff\" "
		"stroke-width=\"0.7\"/>\n", x, y, shapes[style], colour);
}

static void write_line(FILE *out, const struct plot *plot,
		       const struct plot_line *line, const struct axis *x_axis,
		       const struct axis *y_axis)
{
	const char *colour = colours[line->colour];
	bool open = false;

	fprintf(out, "<g class=\"line\"><path fill=\"none\" stroke=\"%s\" "
		"stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"M%d %d",
		colour, dashes[line->style][0] ? dashes[line->style] : "none",
		LEFT, BOTTOM);
	for (size_t i = 0; i < plot->nr_x; i++) {
		if (!isnan(line->y[i]))
			fprintf(out, " %c%.1f %.1f", open ? 'L' : 'M',
				place(x_axis, plot->x[i]),
				place(y_axis, line->y[i]));
		open = !isnan(line->y[i]);
	}
	fputs("\"/>\n", out);
	for (size_t i = 0; i < plot->nr_x; i++)
		if (!isnan(line->y[i]))
			write_mark(out, line->style, colour,
				   place(x_axis, plot->x[i]),
				   place(y_axis, line->y[i]));
	fputs("</g>\n", out);
}

static void write_legend(FILE *out, const struct plot *plot)
{
	double x = RIGHT + 16, y = TOP + 10;

	for (unsigned int i = 0; i < PLOT_COLOURS; i++) {
		if (!plot->colour_names[i])
			continue;
		fprintf(out, "<path d=\"M%.1f %.1f h22\" stroke=\"%s\" stroke-width=\"3\"/>\n",
			x, y, colours[i]);
		text(out, x + 30, y + 4, "start", " class=\"legend\"",
		     plot->colour_names[i]);
		y += 20;
	}
	y += 10;
	for (unsigned int i = 0; i < PLOT_STYLES; i++) {
		if (!plot->style_names[i])
			continue;
		fprintf(out, "<path d=\"M%.1f %.1f h22\" stroke=\"#555555\" stroke-width=\"2\" "
			"stroke-dasharray=\"%s\"/>\n", x, y,
			dashes[i][0] ? dashes[i] : "none");
		write_mark(out, i, "#555555", x + 11, y);
		text(out, x + 30, y + 4, "start", " class=\"legend\"",
		     plot->style_names[i]);
		y += 20;
	}
}

void plot_write(FILE *out, const struct plot *plot)
{
	struct axis x = x_axis(plot), y;
	struct ticks ticks;

	y = y_axis(plot, &ticks);
	write_head(out, plot);
	write_x_axis(out, plot, &x);
	write_y_axis(out, plot, &y, &ticks);
	for (unsigned int l = 0; l < plot->nr_lines; l++)
		write_line(out, plot, &plot->lines[l], &x, &y);
	write_legend(out, plot);
	fputs("</svg>\n", out);
}
