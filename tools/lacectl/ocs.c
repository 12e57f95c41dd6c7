// SPDX-License-Identifier: GPL-2.0
/*
 * "lacectl ocs": the cross-connects of a lab's emulated OCS.
 */
#include "lab_state.h"
#include "lacectl.h"
#include "ocs.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"lacectl [-s] ocs show LAB\n"
	"lacectl ocs connect LAB [switch-time TIME] CROSS...\n"
	"lacectl ocs disconnect LAB { CROSS... | all }\n"
	"lacectl ocs set LAB [switch-time TIME] [CROSS...]\n"
	"  CROSS is [OCS:]INPUT-OUTPUT; without OCS, the only one of the lab\n"
	"  TIME is 20ms, 1.5s, 0.02; the lab's if not given\n"
	"  connect refuses inputs and outputs that are in use; set makes the\n"
	"  list the only connections and leaves alone those that are there\n";

struct ocs_words {
	const char *lab;
	double switch_s;
	struct lace_cross *crosses;
	size_t nr;
};

/* ---- words ---- */

static int find_unit(const struct lace_ocs_emu *emu, const char *name,
		     size_t len, unsigned int *ocs, struct lace_error *err)
{
	const char *unit;

	for (*ocs = 0; *ocs < lace_ocs_nr(emu); ++*ocs) {
		unit = lace_ocs_unit(emu, *ocs)->name;
		if (strlen(unit) == len && !strncmp(unit, name, len))
			return 0;
	}
	return lace_fail(err, LACE_ERR_INPUT, "there is no OCS \"%.*s\"",
			 (int)len, name);
}

static int parse_cross(const struct lace_ocs_emu *emu, const char *word,
		       struct lace_cross *cross, struct lace_error *err)
{
	const char *colon = strrchr(word, ':');
	const char *ports = colon ? colon + 1 : word;
	int end = 0;

	cross->ocs = 0;
	if (colon && find_unit(emu, word, colon - word, &cross->ocs, err))
		return -1;
	if (!colon && lace_ocs_nr(emu) != 1)
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\": which of the %u OCSes? (OCS:INPUT-OUTPUT)",
				 word, lace_ocs_nr(emu));
	if (strspn(ports, "0123456789-") != strlen(ports) || *ports == '-' ||
	    sscanf(ports, "%7u-%7u%n", &cross->input, &cross->output, &end) != 2 ||
	    ports[end])
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\" is not [OCS:]INPUT-OUTPUT", word);
	return 0;
}

static int default_switch_time(const char *lab, double *switch_s,
			       struct lace_error *err)
{
	json_t *state;

	if (lab_state_read(lab, &state, err))
		return -1;
	*switch_s = lab_number(state, "switch_s");
	json_decref(state);
	return 0;
}

static int parse_switch_time(struct args *args, struct ocs_words *words,
			     struct lace_error *err)
{
	const char *word = args_peek(args);

	if (!word || strcmp(word, "switch-time"))
		return default_switch_time(words->lab, &words->switch_s, err);
	args_next(args);
	if (args_word(args, "switch-time", &word, err))
		return -1;
	return parse_seconds(word, "switch-time", &words->switch_s, err);
}

static int parse_crosses(struct args *args, const struct lace_ocs_emu *emu,
			 struct ocs_words *words, struct lace_error *err)
{
	words->crosses = calloc(args->argc + 1, sizeof(*words->crosses));
	if (!words->crosses)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	while (args_peek(args))
		if (parse_cross(emu, args_next(args),
				&words->crosses[words->nr++], err))
			return -1;
	return 0;
}

/* ---- changes ---- */

typedef int (*change_fn)(struct lace_ocs_emu *emu,
			 const struct ocs_words *words, struct lace_error *err);

static int change_open(struct args *args, struct lace_ocs_emu *emu,
		       struct ocs_words *words, change_fn change,
		       struct lace_error *err)
{
	int ret;

	ret = parse_switch_time(args, words, err);
	if (!ret)
		ret = parse_crosses(args, emu, words, err);
	if (!ret)
		ret = change(emu, words, err);
	free(words->crosses);
	return ret;
}

static int change(int argc, char **argv, change_fn change,
		  struct lace_error *err)
{
	struct args args = { argc, argv };
	struct ocs_words words = {};
	struct lace_ocs_emu *emu;
	int ret;

	if (args_word(&args, "name of a lab", &words.lab, err) ||
	    lab_state_check(words.lab, err) ||
	    lace_ocs_open(words.lab, &emu, err))
		return -1;
	ret = change_open(&args, emu, &words, change, err);
	lace_ocs_close(emu);
	return ret;
}

static int need_crosses(const struct ocs_words *words, struct lace_error *err)
{
	if (words->nr)
		return 0;
	return lace_fail(err, LACE_ERR_INPUT, "[OCS:]INPUT-OUTPUT is missing");
}

static int add_crosses(struct lace_ocs_emu *emu, const struct ocs_words *words,
		       struct lace_error *err)
{
	if (need_crosses(words, err))
		return -1;
	return lace_ocs_change(emu, NULL, 0, words->crosses, words->nr,
			       words->switch_s, err);
}

static int del_crosses(struct lace_ocs_emu *emu, const struct ocs_words *words,
		       struct lace_error *err)
{
	if (need_crosses(words, err))
		return -1;
	return lace_ocs_change(emu, words->crosses, words->nr, NULL, 0, 0, err);
}

static int set_crosses(struct lace_ocs_emu *emu, const struct ocs_words *words,
		       struct lace_error *err)
{
	return lace_ocs_connect(emu, words->crosses, words->nr, words->switch_s,
				err);
}

static int ocs_connect(const struct lacectl *ctl, int argc, char **argv,
		       struct lace_error *err)
{
	(void)ctl;
	return change(argc, argv, add_crosses, err);
}

static int ocs_disconnect(const struct lacectl *ctl, int argc, char **argv,
			  struct lace_error *err)
{
	(void)ctl;
	if (argc == 2 && !strcmp(argv[1], "all"))
		return change(1, argv, set_crosses, err);
	return change(argc, argv, del_crosses, err);
}

static int ocs_set(const struct lacectl *ctl, int argc, char **argv,
		   struct lace_error *err)
{
	(void)ctl;
	return change(argc, argv, set_crosses, err);
}

/* ---- show ---- */

struct view {
	const struct lace_ocs_emu *emu;
	struct lace_cross_state *states;
	size_t nr_states;
	struct lace_ocs_count *counts;
	size_t nr_counts;
};

static json_t *json_states(const struct view *view, unsigned int ocs)
{
	json_t *list = json_array();
	const struct lace_cross_state *state;

	for (state = view->states; state < view->states + view->nr_states;
	     state++)
		if (state->cross.ocs == ocs)
			json_array_append_new(list, json_pack(
				"{s:i, s:i, s:b, s:f}",
				"input", state->cross.input,
				"output", state->cross.output,
				"lit", !state->dark_s,
				"dark_s", state->dark_s));
	return list;
}

static json_t *json_counts(const struct view *view, unsigned int ocs)
{
	json_t *list = json_array();
	const struct lace_ocs_count *count;

	for (count = view->counts; count < view->counts + view->nr_counts;
	     count++)
		if (count->ocs == ocs)
			json_array_append_new(list, json_pack(
				"{s:i, s:I, s:I, s:I, s:I}",
				"input", count->input,
				"packets", (json_int_t)count->packets,
				"bytes", (json_int_t)count->bytes,
				"dark_packets", (json_int_t)count->dark_packets,
				"dark_bytes", (json_int_t)count->dark_bytes));
	return list;
}

static json_t *json_view(const struct view *view)
{
	json_t *list = json_array(), *item;
	const struct lace_ocs *unit;
	unsigned int i;

	for (i = 0; i < lace_ocs_nr(view->emu); i++) {
		unit = lace_ocs_unit(view->emu, i);
		item = json_pack("{s:s, s:i, s:i, s:o}", "ocs", unit->name,
				 "inputs", unit->inputs, "outputs",
				 unit->outputs, "connections",
				 json_states(view, i));
		if (view->counts)
			json_object_set_new(item, "counters",
					    json_counts(view, i));
		json_array_append_new(list, item);
	}
	return list;
}

static void print_states(const struct view *view, unsigned int ocs)
{
	const struct lace_cross_state *state;

	for (state = view->states; state < view->states + view->nr_states;
	     state++) {
		if (state->cross.ocs != ocs)
			continue;
		printf("  input %u -> output %u", state->cross.input,
		       state->cross.output);
		if (state->dark_s > 0)
			printf("  dark for %.3f s", state->dark_s);
		putchar('\n');
	}
}

static void print_counts(const struct view *view, unsigned int ocs)
{
	const struct lace_ocs_count *count;

	for (count = view->counts; count < view->counts + view->nr_counts;
	     count++)
		if (count->ocs == ocs)
			printf("  input %u: %ju packets %ju bytes, dark %ju packets %ju bytes\n",
			       count->input, (uintmax_t)count->packets,
			       (uintmax_t)count->bytes,
			       (uintmax_t)count->dark_packets,
			       (uintmax_t)count->dark_bytes);
}

static void print_view(const struct view *view)
{
	const struct lace_ocs *unit;
	unsigned int i;

	for (i = 0; i < lace_ocs_nr(view->emu); i++) {
		unit = lace_ocs_unit(view->emu, i);
		printf("%s: %u inputs, %u outputs\n", unit->name, unit->inputs,
		       unit->outputs);
		print_states(view, i);
		print_counts(view, i);
	}
}

static int show(const struct lacectl *ctl, struct lace_ocs_emu *emu,
		struct lace_error *err)
{
	struct view view = { .emu = emu };
	int ret;

	ret = lace_ocs_read(emu, &view.states, &view.nr_states, err);
	if (!ret && ctl->stats)
		ret = lace_ocs_count(emu, &view.counts, &view.nr_counts, err);
	if (!ret && ctl->json)
		ret = print_json(ctl, json_view(&view), err);
	else if (!ret)
		print_view(&view);
	free(view.states);
	free(view.counts);
	return ret ? ret : print_end(err);
}

static int ocs_show(const struct lacectl *ctl, int argc, char **argv,
		    struct lace_error *err)
{
	struct args args = { argc, argv };
	struct lace_ocs_emu *emu;
	const char *lab;
	int ret;

	if (args_word(&args, "name of a lab", &lab, err) ||
	    args_end(&args, err) || lab_state_check(lab, err) ||
	    lace_ocs_open(lab, &emu, err))
		return -1;
	ret = show(ctl, emu, err);
	lace_ocs_close(emu);
	return ret;
}

static const struct command commands[] = {
	{ "show", ocs_show },
	{ "connect", ocs_connect },
	{ "disconnect", ocs_disconnect },
	{ "set", ocs_set },
	{ NULL, NULL },
};

const struct object ocs_object = { "ocs", usage, commands, NULL };
