// SPDX-License-Identifier: GPL-2.0
/*
 * Results go to a temporary file beside the one that is asked for and take its
 * name at the end, so that nobody ever sees half of a plan.  What is not a
 * regular file (a device, a pipe) is written in place.
 */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_errno(struct lace_error *err, const char *path)
{
	lace_fail(err, LACE_ERR_SYSTEM, "cannot write: %s", strerror(errno));
	lace_error_at(err, path, 0);
	return -1;
}

/* The mode that open() would have given the file. */
static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static int open_temporary(struct output *output, mode_t mode,
			  struct lace_error *err)
{
	char *name;
	int fd;

	if (asprintf(&name, "%s.XXXXXX", output->target) < 0)
		return lace_no_memory(err);
	fd = mkstemp(name);
	if (fd < 0) {
		fail_errno(err, output->path);
		free(name);
		return -1;
	}
	output->temporary = name;
	output->file = fdopen(fd, "w");
	if (output->file && !fchmod(fd, mode))
		return 0;
	fail_errno(err, output->path);
	if (!output->file)
		close(fd);
	return -1;
}

static int open_file(struct output *output, struct lace_error *err)
{
	struct stat st;
	bool exists = !stat(output->path, &st);

	if (exists && !S_ISREG(st.st_mode)) {
		output->file = fopen(output->path, "we");
		return output->file ? 0 : fail_errno(err, output->path);
	}
	/* A link stays a link: the file it leads to is replaced. */
	output->target = exists ? realpath(output->path, NULL)
				: strdup(output->path);
	if (!output->target)
		return fail_errno(err, output->path);
	return open_temporary(output, exists ? st.st_mode & 07777
					     : default_mode(), err);
}

void output_discard(struct output *output)
{
	if (output->file && output->file != stdout)
		fclose(output->file);
	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	free(output->target);
	*output = (struct output){ 0 };
}

int output_open(struct output *output, const char *path, struct lace_error *err)
{
	int ret;

	*output = (struct output){ .path = path };
	if (!path) {
		output->file = stdout;
		return 0;
	}
	ret = open_file(output, err);
	if (ret)
		output_discard(output);
	return ret;
}

static int settle_file(struct output *output, struct lace_error *err)
{
	bool bad = fflush(output->file) || ferror(output->file);

	if (!bad && output->temporary)
		bad = fsync(fileno(output->file));
	return bad ? fail_errno(err, output->path) : 0;
}

static int close_file(struct output *output, struct lace_error *err)
{
	if (settle_file(output, err))
		return -1;
	if (output->temporary &&
	    rename(output->temporary, output->target))
		return fail_errno(err, output->path);
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

int output_settle(struct output *output, struct lace_error *err)
{
	int ret = output->path ? settle_file(output, err) :
				 output_flush_stdout(err);

	if (ret)
		output_discard(output);
	return ret;
}

int output_close(struct output *output, struct lace_error *err)
{
	int ret;

	if (!output->path)
		return output_flush_stdout(err);
	ret = close_file(output, err);
	output_discard(output);
	return ret;
}

int output_flush_stdout(struct lace_error *err)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	clearerr(stdout);
	return lace_fail(err, LACE_ERR_SYSTEM,
			 "cannot write to standard output: %s",
			 strerror(errno));
}

bool output_same(const char *a, const char *b)
{
	struct stat sa, sb;

	if (!a || !b)
		return false;
	if (stat(a, &sa) || stat(b, &sb))
		return !strcmp(a, b);
	return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}
