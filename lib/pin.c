// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Where pinned maps live, and how they go: ocs.c and the steering command share
 * it so that one place knows bpffs.
 */
#include "pin.h"

#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BPFFS LACE_PIN_MOUNT

static __thread char last_words[256];

static int remember(enum libbpf_print_level level, const char *format,
		    va_list args)
{
	if (level == LIBBPF_WARN)
		vsnprintf(last_words, sizeof(last_words), format, args);
	return 0;
}

void lace_pin_capture(void)
{
	last_words[0] = '\0';
	libbpf_set_print(remember);
}

const char *lace_pin_reason(int error)
{
	if (!last_words[0])
		return strerror(-error);
	last_words[strcspn(last_words, "\n")] = '\0';
	return last_words;
}

int lace_pin_path(const char *name, const char *object,
		  char path[LACE_PIN_PATH_SIZE], struct lace_error *err)
{
	int n;

	if (!name[0] || name[0] == '.' || strchr(name, '/'))
		return lace_fail(err, LACE_ERR_INPUT,
				 "\"%s\" is no name for a folder of bpffs",
				 name);
	n = snprintf(path, LACE_PIN_PATH_SIZE, LACE_PIN_ROOT "/%s%s%s", name,
		     object ? "/" : "", object ? object : "");
	if (n >= LACE_PIN_PATH_SIZE)
		return lace_fail(err, LACE_ERR_INPUT, "name too long: %.64s...",
				 name);
	return 0;
}

int lace_pin_mount(struct lace_error *err)
{
	struct statfs fs;

	if (!statfs(BPFFS, &fs) && fs.f_type == BPF_FS_MAGIC)
		return 0;
	if (mount("bpf", BPFFS, "bpf", 0, "mode=0700"))
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot mount bpffs on " BPFFS ": %s",
				 strerror(errno));
	return 0;
}

int lace_pin_make(const char *name, struct lace_error *err)
{
	char path[LACE_PIN_PATH_SIZE];
	int ret;

	ret = lace_pin_path(name, NULL, path, err);
	if (ret)
		return ret;
	ret = lace_pin_mount(err);
	if (ret)
		return ret;
	if ((mkdir(LACE_PIN_ROOT, 0700) && errno != EEXIST) ||
	    (mkdir(path, 0700) && errno != EEXIST))
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot make %s: %s",
				 path, strerror(errno));
	return 0;
}

/* Both stay as long as somebody else keeps something there. */
static void remove_folder(const char *path)
{
	if (!rmdir(path))
		rmdir(LACE_PIN_ROOT);
}

static int remove_objects(int dirfd, DIR *dir, const char *prefix)
{
	struct dirent *entry;
	int removed = 0;

	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		if (unlinkat(dirfd, entry->d_name, 0))
			return -1;
		removed++;
	}
	return removed;
}

int lace_pin_remove(const char *name, const char *prefix,
		    struct lace_error *err)
{
	char path[LACE_PIN_PATH_SIZE];
	int removed;
	DIR *dir;

	removed = lace_pin_path(name, NULL, path, err);
	if (removed)
		return removed;
	dir = opendir(path);
	if (!dir) {
		if (errno == ENOENT)
			return 0;
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot open %s: %s",
				 path, strerror(errno));
	}
	removed = remove_objects(dirfd(dir), dir, prefix);
	if (removed < 0)
		lace_fail(err, LACE_ERR_SYSTEM, "cannot empty %s: %s", path,
			  strerror(errno));
	closedir(dir);
	remove_folder(path);
	return removed;
}

int lace_pin_remove_one(const char *name, const char *object,
			struct lace_error *err)
{
	char path[LACE_PIN_PATH_SIZE];
	int ret;

	ret = lace_pin_path(name, object, path, err);
	if (ret)
		return ret;
	if (unlink(path) && errno != ENOENT)
		return lace_fail(err, LACE_ERR_SYSTEM, "cannot remove %s: %s",
				 path, strerror(errno));
	lace_pin_path(name, NULL, path, err);
	remove_folder(path);
	return 0;
}
