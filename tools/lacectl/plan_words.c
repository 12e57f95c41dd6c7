// SPDX-License-Identifier: GPL-2.0
/*
 * The words of "lacectl plan".  Options may stand anywhere, with or without
 * dashes: -c, --cluster and cluster are the same.
 */
#include "plan_words.h"

#include <linux/lace.h>

#include <string.h>

enum keyword {
	CLUSTER, DEV, NODE, LAB, SEGMENT, MACS, RETRIES, ON_FAILURE, TRANSITION,
	NO_DRAIN,
};

static const char *const keywords[] = {
	[CLUSTER] = "cluster", [DEV] = "dev", [NODE] = "node", [LAB] = "lab",
	[SEGMENT] = "segment", [MACS] = "macs", [RETRIES] = "retries",
	[ON_FAILURE] = "on-failure", [TRANSITION] = "transition",
	[NO_DRAIN] = "no-drain", NULL,
};

static int parse_segment(const char *word, struct plan_words *words,
			 struct lace_error *err)
{
	uint64_t number;

	words->segment_given = true;
	words->segment = -1;
	if (!strcmp(word, "none"))
		return 0;
	if (parse_number(word, "segment", UINT32_MAX, &number, err))
		return -1;
	words->segment = number;
	return 0;
}

static int parse_retries(const char *word, struct plan_words *words,
			 struct lace_error *err)
{
	uint64_t number;

	if (parse_number(word, "retries", LACE_MAX_RETRIES, &number, err))
		return -1;
	words->retries = number;
	return 0;
}

static int parse_on_failure(const char *word, struct plan_words *words,
			    struct lace_error *err)
{
	static const char *const names[] = { "rollback", "degrade", NULL };
	int what;

	if (args_match(word, names, &what, err))
		return -1;
	words->degrade = what;
	return 0;
}

static int parse_option(int keyword, const char *value,
			struct plan_words *words, struct lace_error *err)
{
	switch (keyword) {
	case CLUSTER:
		words->cluster = value;
		return 0;
	case DEV:
		words->dev = value;
		return 0;
	case NODE:
		words->node = value;
		return 0;
	case LAB:
		words->lab = value;
		return 0;
	case SEGMENT:
		return parse_segment(value, words, err);
	case RETRIES:
		return parse_retries(value, words, err);
	case ON_FAILURE:
		return parse_on_failure(value, words, err);
	}
	if (words->nr_macs == PLAN_MACS_MAX)
		return lace_fail(err, LACE_ERR_INPUT, "more than %d --macs",
				 PLAN_MACS_MAX);
	words->macs[words->nr_macs++] = value;
	return 0;
}

static int parse_word(struct args *args, const char *word,
		      struct plan_words *words, struct lace_error *err)
{
	const char *bare = word + strspn(word, "-"), *value;
	struct lace_error why;
	char what[64];
	int keyword;

	/* The first word that is no option is the file. */
	if (args_match(bare, keywords, &keyword, &why)) {
		if (word != bare || words->plan)
			return lace_fail(err, LACE_ERR_INPUT, "%s", why.text);
		words->plan = word;
		return 0;
	}
	if (keyword == TRANSITION || keyword == NO_DRAIN) {
		words->transition |= keyword == TRANSITION;
		words->no_drain |= keyword == NO_DRAIN;
		return 0;
	}
	snprintf(what, sizeof(what), "value after \"%s\"", word);
	if (args_word(args, what, &value, err))
		return -1;
	return parse_option(keyword, value, words, err);
}

int plan_words_parse(int argc, char **argv, struct plan_words *words,
		     struct lace_error *err)
{
	struct args args = { argc, argv };
	const char *word;

	memset(words, 0, sizeof(*words));
	while ((word = args_next(&args)))
		if (parse_word(&args, word, words, err))
			return -1;
	return 0;
}

static int need(const char *word, const char *what, struct lace_error *err)
{
	if (word)
		return 0;
	return lace_fail(err, LACE_ERR_INPUT, "%s is missing", what);
}

int plan_words_need_node(const struct plan_words *words, struct lace_error *err)
{
	if (need(words->cluster, "\"-c CLUSTER\"", err))
		return -1;
	return need(words->node, "\"--node NODE\"", err);
}

int plan_words_need_target(const struct plan_words *words, bool lab,
			   struct lace_error *err)
{
	if (need(words->plan, "the plan's file", err))
		return -1;
	if (words->lab && !lab)
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"--lab\" does not go with this command");
	if (words->lab && (words->dev || words->node || words->nr_macs))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"--lab\" is about all nodes: without \"dev\", \"--node\" and \"--macs\"");
	if (words->transition && !words->lab)
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"--transition\" is about all nodes of a lab: \"--lab\" is missing");
	if (words->transition && (!words->segment_given || words->segment < 0))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"--transition\" goes to a segment: \"--segment K\" is missing");
	if (!words->transition &&
	    (words->no_drain || words->degrade || words->retries))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"--no-drain\", \"--retries\" and \"--on-failure\" take \"--transition\"");
	if (words->lab)
		return 0;
	if (plan_words_need_node(words, err))
		return -1;
	return need(words->dev, "\"dev DEVICE\"", err);
}
