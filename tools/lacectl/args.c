// SPDX-License-Identifier: GPL-2.0
/*
 * Words of the command line: abbreviations, numbers, addresses.
 */
#include "lacectl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *args_peek(const struct args *args)
{
	return args->argc ? args->argv[0] : NULL;
}

const char *args_next(struct args *args)
{
	if (!args->argc)
		return NULL;
	args->argc--;
	return *args->argv++;
}

int args_word(struct args *args, const char *what, const char **word,
	      struct lace_error *err)
{
	*word = args_next(args);
	if (*word)
		return 0;
	return lace_fail(err, LACE_ERR_INPUT, "%s is missing", what);
}

int parse_number(const char *word, const char *what, uint64_t max,
		 uint64_t *number, struct lace_error *err)
{
	char *end;

	errno = 0;
	*number = strtoull(word, &end, 0);
	if (!isdigit((unsigned char)word[0]) || *end || errno || *number > max)
		return lace_fail(err, LACE_ERR_INPUT,
				 "%s \"%s\" is not a number from 0 to %llu",
				 what, word, (unsigned long long)max);
	return 0;
}

int args_number(struct args *args, const char *what, uint64_t max,
		uint64_t *number, struct lace_error *err)
{
	const char *word;

	if (args_word(args, what, &word, err))
		return -1;
	return parse_number(word, what, max, number, err);
}

int args_end(const struct args *args, struct lace_error *err)
{
	if (!args->argc)
		return 0;
	return lace_fail(err, LACE_ERR_INPUT, "\"%s\" is one word too many",
			 args->argv[0]);
}

static int fail_to_match(const char *word, const char *const *names,
			 const char *why, struct lace_error *err)
{
	char list[256] = "";
	size_t len = 0;
	int i;

	for (i = 0; names[i] && len < sizeof(list); i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s",
				i ? ", " : "", names[i]);
	return lace_fail(err, LACE_ERR_INPUT, "\"%s\" %s: %s", word, why, list);
}

int args_match(const char *word, const char *const *names, int *index,
	       struct lace_error *err)
{
	int i, found = -1;

	for (i = 0; names[i]; i++) {
		if (!strcmp(word, names[i])) {
			*index = i;
			return 0;
		}
		if (!word[0] || strncmp(word, names[i], strlen(word)))
			continue;
		if (found >= 0)
			return fail_to_match(word, names,
					     "could be more than one of", err);
		found = i;
	}
	if (found < 0)
		return fail_to_match(word, names, "is none of", err);
	*index = found;
	return 0;
}

int args_keyword(struct args *args, const char *const *names, int *index,
		 struct lace_error *err)
{
	const char *word = args_next(args);

	*index = -1;
	return word ? args_match(word, names, index, err) : 0;
}

static int select_id(struct args *args, const char *what, uint64_t max,
		     struct selection *selection, struct lace_error *err)
{
	uint64_t number;

	if (args_number(args, what, max, &number, err))
		return -1;
	selection->id = number;
	return 0;
}

int args_selection(struct args *args, const char *object, uint64_t max,
		   struct selection *selection, struct lace_error *err)
{
	const char *const names[] = { "dev", max ? "id" : NULL, NULL };
	int keyword, ret = 0;

	selection->dev = NULL;
	selection->id = -1;
	do {
		if (args_keyword(args, names, &keyword, err))
			return -1;
		if (keyword == 0)
			ret = args_word(args, "device after \"dev\"",
					&selection->dev, err);
		else if (keyword == 1)
			ret = select_id(args, object, max, selection, err);
	} while (keyword >= 0 && !ret);
	return ret;
}

int args_need(const struct selection *selection, bool id,
	      struct lace_error *err)
{
	if (!selection->dev)
		return lace_fail(err, LACE_ERR_INPUT, "\"dev DEVICE\" is missing");
	if (id && selection->id < 0)
		return lace_fail(err, LACE_ERR_INPUT, "\"id NUMBER\" is missing");
	return 0;
}
