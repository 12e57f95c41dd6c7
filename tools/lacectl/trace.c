// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl trace": the trace programs on and off, and what they have found.
 */
#include "client.h"
#include "trace.h"
#include "trace_device.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICE_DEFAULT "lace0"

static const char usage[] =
	"lacectl [-j] trace [show [dev DEV]]\n"
	"lacectl trace on [dev DEV] [events N]\n"
	"lacectl trace off [dev DEV | all]\n"
	"lacectl trace export [-o FILE] [dev DEV]\n"
	"  on and off are for lace0 if no DEV is given, show and export for all\n"
	"  devices of the host that are traced; on again changes nothing\n"
	"  events: how many of those that happened last each processor keeps for\n"
	"  export, a power of two (8192)\n"
	"  export writes a timeline (trace-event JSON) for ui.perfetto.dev\n";

#define DROP_NAME(upper, lower) [LACE_DROP_##upper] = #lower,

const char *const trace_drop_names[LACE_DROP_MAX + 1] = {
	LACE_DROP_REASONS(DROP_NAME)
};

struct options {
	const char *dev;	/* NULL: not given */
	const char *file;
	uint64_t events;	/* 0: not given */
	bool all;
};

/* ---- words ---- */

static int parse_events(const char *word, struct options *options,
			struct lace_error *err)
{
	if (parse_number(word, "events", TRACE_EVENTS_MAX, &options->events,
			 err))
		return -1;
	if (options->events & (options->events - 1) || options->events < 16)
		return lace_fail(err, LACE_ERR_INPUT,
				 "events \"%s\" is not a power of two from 16 on",
				 word);
	return 0;
}

/* allowed: the words besides "dev" that the command knows. */
static int parse(struct args *args, const char *allowed,
		 struct options *options, struct lace_error *err)
{
	const char *word, *value;

	memset(options, 0, sizeof(*options));
	while ((word = args_next(args))) {
		if (!strcmp(word, allowed) && !strcmp(word, "all")) {
			options->all = true;
			continue;
		}
		if (strcmp(word, "dev") &&
		    (strcmp(word, allowed) || !strcmp(word, "all")))
			return lace_fail(err, LACE_ERR_INPUT,
					 "unexpected \"%s\"", word);
		if (args_word(args, word, &value, err))
			return -1;
		if (!strcmp(word, "dev"))
			options->dev = value;
		else if (!strcmp(word, "-o"))
			options->file = value;
		else if (parse_events(value, options, err))
			return -1;
	}
	if (options->all && options->dev)
		return lace_fail(err, LACE_ERR_INPUT, "\"dev\" and \"all\"");
	return 0;
}

/* ---- on ---- */

static int read_device(const char *ifname, struct lace_rt_device *device,
		       struct port_line *lines, struct lace_error *err)
{
	struct lace_client *client;
	int ret;

	ret = lace_client_open(NULL, &client, err);
	if (ret)
		return ret;
	ret = lace_client_device(client, ifname, device, err);
	lace_client_close(client);
	if (ret)
		return ret;
	return port_lines_read(device->ports, device->nr_ports, lines, err);
}

static int get_pins(const struct options *options, struct trace_pins *pins,
		    struct lace_error *err)
{
	uint64_t events = options->events;
	int ret = trace_open(pins, err);

	if (!ret)
		return trace_start(events ? events : TRACE_EVENTS_DEFAULT, pins,
				   err);
	if (ret > 0 && events && events != pins->layout.events_per_cpu) {
		trace_close(pins);
		return lace_fail(err, LACE_ERR_ANSWER,
				 "trace is on with events %u: \"trace off all\" first",
				 pins->layout.events_per_cpu);
	}
	return ret < 0 ? ret : 0;
}

static int trace_on(const struct lacectl *ctl, int argc, char **argv,
		    struct lace_error *err)
{
	struct port_line lines[LACE_MAX_PORTS];
	struct args args = { argc, argv };
	struct lace_error ignored = {};
	struct lace_rt_device device;
	struct options options;
	struct trace_pins pins;
	int lock, ret;

	(void)ctl;
	if (parse(&args, "events", &options, err) ||
	    read_device(options.dev ? options.dev : DEVICE_DEFAULT, &device,
			lines, err) ||
	    trace_lock(&lock, err))
		return -1;
	ret = get_pins(&options, &pins, err);
	if (!ret) {
		ret = trace_add_device(&pins, &device, lines, err);
		if (ret)
			trace_stop_if_idle(&pins, &ignored);
		trace_close(&pins);
	}
	trace_unlock(lock);
	return ret;
}

/* ---- off ---- */

static int off(const struct options *options, struct lace_error *err)
{
	struct trace_device_key key = {};
	struct trace_pins pins;
	int ret;

	if (!options->all &&
	    trace_key_of(options->dev ? options->dev : DEVICE_DEFAULT, &key,
			 err))
		return -1;
	ret = trace_open(&pins, err);
	if (ret <= 0)
		return ret;
	ret = options->all ? trace_stop(err) : trace_remove_device(&pins, &key, err);
	trace_close(&pins);
	return ret;
}

static int trace_off(const struct lacectl *ctl, int argc, char **argv,
		     struct lace_error *err)
{
	struct args args = { argc, argv };
	struct options options;
	int lock, ret;

	(void)ctl;
	if (parse(&args, "all", &options, err) || trace_lock(&lock, err))
		return -1;
	ret = off(&options, err);
	trace_unlock(lock);
	return ret;
}

/* ---- what there is ---- */

/* Opens the maps of what is traced.  A device that was asked for has to be. */
static int choose(const struct options *options, struct trace_pins *pins,
		  struct trace_choice *choice, struct lace_error *err)
{
	struct trace_device value;
	int ret;

	choice->all = !options->dev;
	if (options->dev && trace_key_of(options->dev, &choice->key, err))
		return -1;
	ret = trace_open(pins, err);
	if (ret < 0)
		return ret;
	if (ret && (choice->all ||
		    !bpf_map_lookup_elem(pins->fd[TRACE_MAP_DEVICES],
					 &choice->key, &value)))
		return 0;
	if (ret)
		trace_close(pins);
	return lace_fail(err, LACE_ERR_ANSWER, "%s%strace is off",
			 options->dev ? options->dev : "",
			 options->dev ? ": " : "");
}

static int cmd_show(const struct lacectl *ctl, int argc, char **argv,
		    struct lace_error *err)
{
	struct args args = { argc, argv };
	struct trace_choice choice;
	struct options options;
	struct trace_pins pins;
	int ret;

	if (parse(&args, "dev", &options, err) ||
	    choose(&options, &pins, &choice, err))
		return -1;
	ret = trace_show(ctl, &pins, &choice, err);
	trace_close(&pins);
	return ret;
}

/* A file that could not be written whole does not stay. */
static int export_to(const char *path, const struct trace_pins *pins,
		     const struct trace_choice *choice, struct lace_error *err)
{
	FILE *out = fopen(path, "we");
	struct stat kind;
	bool plain;
	int ret;

	if (!out)
		return lace_fail(err, LACE_ERR_INPUT, "%s: %s", path,
				 strerror(errno));
	plain = !fstat(fileno(out), &kind) && S_ISREG(kind.st_mode);
	ret = trace_export(pins, choice, out, err);
	if (fclose(out) && !ret)
		ret = lace_fail(err, LACE_ERR_SYSTEM, "%s: %s", path,
				strerror(errno));
	if (ret && plain)
		unlink(path);
	return ret;
}

static int cmd_export(const struct lacectl *ctl, int argc, char **argv,
		      struct lace_error *err)
{
	struct args args = { argc, argv };
	struct trace_choice choice;
	struct options options;
	struct trace_pins pins;
	int ret;

	(void)ctl;
	if (parse(&args, "-o", &options, err) ||
	    choose(&options, &pins, &choice, err))
		return -1;
	if (options.file) {
		ret = export_to(options.file, &pins, &choice, err);
	} else {
		ret = trace_export(&pins, &choice, stdout, err);
		if (!ret)
			ret = print_end(err);
	}
	trace_close(&pins);
	return ret;
}

static const struct command commands[] = {
	{ "show", cmd_show },
	{ "on", trace_on },
	{ "off", trace_off },
	{ "export", cmd_export },
	{ NULL, NULL },
};

const struct object trace_object = { "trace", usage, commands, NULL };
