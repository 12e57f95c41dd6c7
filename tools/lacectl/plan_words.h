/* SPDX-License-Identifier: GPL-2.0 */
/* The words of "lacectl plan", and the command that needs no device. */
#ifndef LACECTL_PLAN_WORDS_H
#define LACECTL_PLAN_WORDS_H

#include "lacectl.h"

#define PLAN_MACS_MAX 256

struct plan_words {
	const char *plan;	/* file; NULL: not given, and so for the rest */
	const char *cluster;	/* file */
	const char *dev;
	const char *node;
	const char *lab;
	bool segment_given;
	int64_t segment;
	bool transition;	/* and how: */
	bool no_drain;
	bool degrade;
	uint8_t retries;
	unsigned int nr_macs;
	const char *macs[PLAN_MACS_MAX];	/* files */
};

int plan_words_parse(int argc, char **argv, struct plan_words *words,
		     struct lace_error *err);
/* Fails if it is not said what to act on: a node's device, or a lab. */
int plan_words_need_target(const struct plan_words *words, bool lab,
			   struct lace_error *err);
/* Fails if it is not said which node of which cluster. */
int plan_words_need_node(const struct plan_words *words,
			 struct lace_error *err);

/* plan_transition.c */
int plan_transition(const struct lacectl *ctl, const struct plan_words *words,
		    struct lace_error *err);

/* plan_show.c */
int plan_show(const struct lacectl *ctl, int argc, char **argv,
	      struct lace_error *err);

#endif /* LACECTL_PLAN_WORDS_H */
