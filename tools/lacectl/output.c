// SPDX-License-Identifier: GPL-2.0
/*
 * What lacectl prints, and that it could be printed.
 */
#include "lacectl.h"

#include <errno.h>
#include <string.h>

int print_end(struct lace_error *err)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	return lace_fail(err, LACE_ERR_SYSTEM, "cannot write the output: %s",
			 strerror(errno));
}

int print_json(const struct lacectl *ctl, json_t *value, struct lace_error *err)
{
	size_t flags = ctl->pretty ? JSON_INDENT(4) : JSON_COMPACT;
	int ret;

	if (!value)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	ret = json_dumpf(value, stdout, flags);
	json_decref(value);
	if (!ret)
		putchar('\n');
	return print_end(err);
}

const char *format_mac(const uint8_t *mac, char *text)
{
	snprintf(text, 18, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
	return text;
}
