// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * The only place where the readers touch the file system: takes in a whole
 * file, so that what is parsed and what is hashed are the same bytes.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A parsed file takes up to forty times its size in memory. */
#define FILE_MAX_BYTES ((size_t)256 << 20)

static int fail_errno(struct lace_error *err, const char *path)
{
	lace_fail(err, LACE_ERR_INPUT, "%s", strerror(errno));
	lace_error_at(err, path, 0);
	return -1;
}

/* Room for a regular file and the byte that tells that it has ended. */
static size_t first_room(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uintmax_t)st.st_size >= FILE_MAX_BYTES)
		return 65536;
	return st.st_size + 1;
}

static int read_all(int fd, const char *path, char **text, size_t *len,
		    struct lace_error *err)
{
	size_t room = first_room(fd);
	ssize_t got;
	char *grown;

	*text = malloc(room);
	*len = 0;
	for (;;) {
		if (!*text)
			return lace_no_memory(err);
		got = read(fd, *text + *len, room - *len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno(err, path);
		if (!got)
			return 0;
		*len += got;
		if (*len > FILE_MAX_BYTES) {
			lace_fail(err, LACE_ERR_INPUT, "larger than %zu MiB",
				  FILE_MAX_BYTES >> 20);
			lace_error_at(err, path, 0);
			return -1;
		}
		if (*len < room)
			continue;
		room *= 2;
		grown = realloc(*text, room);
		if (!grown)
			return lace_no_memory(err);
		*text = grown;
	}
}

int lace_file_read(const char *path, char **text, size_t *len,
		   struct lace_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	*text = NULL;
	if (fd < 0)
		return fail_errno(err, path);
	ret = read_all(fd, path, text, len, err);
	close(fd);
	if (ret) {
		free(*text);
		*text = NULL;
	}
	return ret;
}

void lace_file_hash(const char *text, size_t len, char sha256[65])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, len, (const uint8_t *)text);
	sha256_digest(&ctx, sizeof(digest), digest);
	base16_encode_update(sha256, sizeof(digest), digest);
	sha256[64] = '\0';
}

int lace_file_check_hash(const char *what, const char *stated,
			 const char *actual, struct lace_error *err)
{
	if (!strcmp(stated, actual))
		return 0;
	return lace_fail(err, LACE_ERR_ANSWER,
			 "%s_sha256 is %.12s..., the %s file's is %.12s...",
			 what, stated, what, actual);
}
