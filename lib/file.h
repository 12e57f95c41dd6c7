/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* A whole file and its hash.  Not installed. */
#ifndef LACE_FILE_H
#define LACE_FILE_H

#include "lace.h"

/* Reads path into *text (free() it), of *len bytes. */
int lace_file_read(const char *path, char **text, size_t *len,
		   struct lace_error *err);

/* SHA-256 in lower-case hexadecimal. */
void lace_file_hash(const char *text, size_t len, char sha256[65]);

/* Fails, LACE_ERR_ANSWER, if what is stated of the cluster or the schedule
 * (what) is not the hash of the file.
 */
int lace_file_check_hash(const char *what, const char *stated,
			 const char *actual, struct lace_error *err);

#endif /* LACE_FILE_H */
