// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Intervals of ops by what they contain: alike ones are proven once.  An
 * interval grows op by op; its hash is a sum, so that it grows with it, and
 * what has an equal hash is compared before it is believed to be equal.
 */
#include "certificate.h"

#include <stdlib.h>
#include <string.h>

int lace_interval_create(struct lace_planner *planner,
			 struct lace_interval *interval)
{
	*interval = (struct lace_interval){ .planner = planner };
	interval->repeat = lace_planner_alloc(planner, planner->nr_kinds,
					      sizeof(*interval->repeat));
	interval->kinds = lace_planner_alloc(planner, planner->nr_kinds,
					     sizeof(*interval->kinds));
	return interval->repeat && interval->kinds ? 0 : -1;
}

void lace_interval_free(struct lace_interval *interval)
{
	free(interval->repeat);
	free(interval->kinds);
	*interval = (struct lace_interval){ 0 };
}

void lace_interval_clear(struct lace_interval *interval)
{
	while (interval->nr)
		interval->repeat[interval->kinds[--interval->nr]] = 0;
	interval->hash = 0;
}

void lace_interval_add(struct lace_interval *interval, unsigned int op)
{
	const struct lace_planner *p = interval->planner;
	unsigned int kind = p->op_kind[op];
	uint64_t repeat = p->demand->ops[op].repeat;
	uint64_t key = (kind + 1) * 0x9e3779b97f4a7c15ull;

	if (!p->kinds[kind].nr)
		return;
	if (!(interval->repeat[kind] > 0))
		interval->kinds[interval->nr++] = kind;
	interval->repeat[kind] += (double)repeat;
	interval->hash += repeat * ((key ^ key >> 29) | 1);
}

static int order_kinds(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a;
	unsigned int y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

int lace_interval_period(struct lace_interval *interval,
			 struct lace_period *period)
{
	*period = (struct lace_period){ .nr = interval->nr };
	period->terms = lace_planner_alloc(interval->planner, interval->nr,
					   sizeof(*period->terms));
	if (!period->terms)
		return -1;
	qsort(interval->kinds, interval->nr, sizeof(*interval->kinds),
	      order_kinds);
	for (unsigned int i = 0; i < interval->nr; i++)
		period->terms[i] = (struct lace_term){
			.kind = interval->kinds[i],
			.repeat = interval->repeat[interval->kinds[i]] };
	return 0;
}

static bool interval_is(const struct lace_interval *interval,
			const struct lace_period *period)
{
	if (interval->nr != period->nr)
		return false;
	for (unsigned int i = 0; i < period->nr; i++)
		if (interval->repeat[period->terms[i].kind] !=
		    period->terms[i].repeat)
			return false;
	return true;
}

/* ---- contents ---- */

unsigned int lace_contents_find(const struct lace_contents *contents,
				const struct lace_interval *interval)
{
	unsigned int i;

	if (!contents->nr)
		return LACE_NONE;
	for (i = contents->slots[interval->hash % contents->max];
	     i != LACE_NONE; i = contents->items[i].next)
		if (contents->items[i].hash == interval->hash &&
		    interval_is(interval, &contents->items[i].period))
			break;
	return i;
}

static void enter(struct lace_contents *contents, unsigned int i)
{
	unsigned int *slot = &contents->slots[contents->items[i].hash %
					      contents->max];

	contents->items[i].next = *slot;
	*slot = i;
}

static int grow(struct lace_contents *contents)
{
	unsigned int max = 2 * contents->max + 64;
	unsigned int *slots = malloc(max * sizeof(*slots));
	void *items = realloc(contents->items,
			      max * sizeof(*contents->items));

	if (items)
		contents->items = items;
	if (!slots || !items) {
		free(slots);
		return -1;
	}
	free(contents->slots);
	contents->slots = slots;
	contents->max = max;
	memset(slots, 0xff, max * sizeof(*slots));
	for (unsigned int i = 0; i < contents->nr; i++)
		enter(contents, i);
	return 0;
}

unsigned int lace_contents_add(struct lace_contents *contents,
			       struct lace_interval *interval)
{
	struct lace_content content = { .hash = interval->hash };
	unsigned int i = lace_contents_find(contents, interval);

	if (i != LACE_NONE)
		return i;
	if (contents->nr == contents->max && grow(contents))
		return LACE_NONE;
	if (lace_interval_period(interval, &content.period))
		return LACE_NONE;
	contents->items[contents->nr] = content;
	enter(contents, contents->nr);
	return contents->nr++;
}

void lace_contents_free(struct lace_contents *contents)
{
	for (unsigned int i = 0; i < contents->nr; i++)
		free(contents->items[i].period.terms);
	free(contents->items);
	free(contents->slots);
	*contents = (struct lace_contents){ 0 };
}
