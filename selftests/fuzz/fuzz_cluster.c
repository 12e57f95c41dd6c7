// SPDX-License-Identifier: GPL-2.0
/*
 * Clusters of any bytes: the reader ends, what it fails with is one line with a
 * number, and what it accepts it can write and read again.
 */
#include "lace.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct lace_cluster cluster, again;
	size_t first_len, second_len;
	struct lace_error err;
	char *first, *second;

	if (lace_cluster_parse((const char *)data, len, "f", &cluster, &err)) {
		if (err.kind != LACE_ERR_INPUT || !err.line || !*err.text ||
		    strchr(err.text, '\n'))
			abort();
		return 0;
	}
	first = cluster_text(&cluster, &first_len);
	if (lace_cluster_parse(first, first_len, "w", &again, &err))
		abort();
	second = cluster_text(&again, &second_len);
	if (first_len != second_len || memcmp(first, second, first_len))
		abort();
	free(first);
	free(second);
	lace_cluster_free(&cluster);
	lace_cluster_free(&again);
	return 0;
}
