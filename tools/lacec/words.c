// SPDX-License-Identifier: GPL-2.0
/*
 * Words of options that more than one command takes.
 */
#include "lacec.h"

#include <string.h>

int parse_wiring(const char *word, enum lace_wiring *wiring,
		 struct lace_error *err)
{
	if (!strcmp(word, "single"))
		*wiring = LACE_WIRING_SINGLE;
	else if (!strcmp(word, "planes"))
		*wiring = LACE_WIRING_PLANES;
	else
		return lace_fail(err, LACE_ERR_INPUT,
				 "--wiring is \"single\" or \"planes\", not \"%.64s\"",
				 word);
	return 0;
}

int parse_relay(const char *word, enum lace_relay *relay,
		struct lace_error *err)
{
	if (!lace_relay_find(word, relay))
		return 0;
	return lace_fail(err, LACE_ERR_INPUT,
			 "--relay is \"none\", \"control\" or \"data\", not \"%.64s\"",
			 word);
}
