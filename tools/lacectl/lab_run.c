// SPDX-License-Identifier: GPL-2.0
/*
 * Commands and namespaces for lab.c: the only file of the lab that starts
 * programs or enters namespaces.
 */
#include "lab_run.h"
#include "netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NETNS_FOLDER "/run/netns"
#define BPFFS "/sys/fs/bpf"
#define END_WAIT_MS 2000
#define END_POLL_MS 20

extern char **environ;

/* ---- commands ---- */

static int memory_file(const char *text, struct lace_error *err)
{
	size_t len = strlen(text);
	int fd;

	fd = memfd_create("lacectl-lab", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, text, len) == (ssize_t)len &&
	    !lseek(fd, 0, SEEK_SET))
		return fd;
	lace_fail(err, LACE_ERR_SYSTEM, "cannot write to a memory file: %s",
		  strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Signals that the caller holds back are not held back from the command. */
static int spawn(const char *const argv[], int in, int out_err, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int ret;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out_err, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out_err, STDERR_FILENO);
	ret = posix_spawnp(pid, argv[0], &actions, &attr, (char *const *)argv,
			   environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return ret;
}

/* Line number "Command failed -:N" says, 0 if it does not. */
static unsigned int failed_line(const char *output)
{
	const char *at = strstr(output, "Command failed -:");

	return at ? strtoul(strrchr(at, ':') + 1, NULL, 10) : 0;
}

static const char *nth_line(const char *text, unsigned int n)
{
	while (n > 1 && *text) {
		text += strcspn(text, "\n");
		text += *text == '\n';
		n--;
	}
	return text;
}

static int batch_failed(const char *tool, const char *netns, const char *script,
			int out_err, struct lace_error *err)
{
	const char *line;
	char output[1024];
	ssize_t len;

	len = pread(out_err, output, sizeof(output) - 1, 0);
	output[len > 0 ? len : 0] = '\0';
	line = nth_line(script, failed_line(output));
	return lace_fail(err, LACE_ERR_SYSTEM, "%s%s%s %.*s: %.*s", tool,
			 netns ? " -n " : "", netns ? netns : "",
			 (int)strcspn(line, "\n"), line,
			 (int)strcspn(output, "\n"), output);
}

int lab_run_batch(const char *tool, const char *netns, const char *script,
		  struct lace_error *err)
{
	const char *in_netns[] = { tool, "-n", netns, "-batch", "-", NULL };
	const char *here[] = { tool, "-batch", "-", NULL };
	int in, out_err, status, ret = 0;
	pid_t pid;

	in = memory_file(script, err);
	if (in < 0)
		return -1;
	out_err = memory_file("", err);
	if (out_err < 0) {
		close(in);
		return -1;
	}
	errno = spawn(netns ? in_netns : here, in, out_err, &pid);
	if (errno)
		ret = lace_fail(err, LACE_ERR_SYSTEM, "cannot run %s: %s", tool,
				strerror(errno));
	else if (waitpid(pid, &status, 0) < 0 || status)
		ret = batch_failed(tool, netns, script, out_err, err);
	close(in);
	close(out_err);
	return ret;
}

static int set_sysctl(const char *key, const char *value, struct lace_error *err)
{
	char path[PATH_MAX], *dot;
	int fd, ret = 0;

	snprintf(path, sizeof(path), "/proc/sys/%s", key);
	for (dot = path; (dot = strchr(dot, '.')); )
		*dot = '/';
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && !strncmp(key, "net.ipv6.", 9))
		return 0;
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		ret = lace_fail(err, LACE_ERR_SYSTEM, "sysctl %s=%s: %s", key,
				value, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

static int set_sysctls(const char *lines, struct lace_error *err)
{
	char *copy, *line, *value, *rest;
	int ret = 0;

	copy = strdup(lines);
	if (!copy)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	for (line = strtok_r(copy, "\n", &rest); line && !ret;
	     line = strtok_r(NULL, "\n", &rest)) {
		value = strchr(line, '=');
		*value++ = '\0';
		ret = set_sysctl(line, value, err);
	}
	free(copy);
	return ret;
}

int lab_run_sysctls(const char *netns, const char *lines,
		    struct lace_error *err)
{
	int back = -1, ret;

	ret = lace_netns_enter(netns, &back, err);
	if (ret)
		return ret;
	ret = set_sysctls(lines, err);
	return lace_netns_leave(back, err) ? -1 : ret;
}

/* ---- namespaces ---- */

static void netns_path(const char *netns, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, NETNS_FOLDER "/%s", netns);
}

bool lab_netns_exists(const char *netns)
{
	char path[PATH_MAX];

	netns_path(netns, path);
	return !access(path, F_OK);
}

/* ---- processes ---- */

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool process_is_in(const char *pid, const struct stat *spaces, size_t nr)
{
	struct stat own;
	char path[64];
	size_t i;

	snprintf(path, sizeof(path), "/proc/%.16s/ns/net", pid);
	if (stat(path, &own))
		return false;
	for (i = 0; i < nr; i++)
		if (same_file(&own, &spaces[i]))
			return true;
	return false;
}

static int signal_processes(const struct stat *spaces, size_t nr, int signal)
{
	struct dirent *entry;
	int count = 0;
	DIR *proc;
	pid_t pid;

	proc = opendir("/proc");
	if (!proc)
		return 0;
	while ((entry = readdir(proc))) {
		pid = strtol(entry->d_name, NULL, 10);
		if (pid <= 0 || pid == getpid() ||
		    !process_is_in(entry->d_name, spaces, nr))
			continue;
		kill(pid, signal);
		count++;
	}
	closedir(proc);
	return count;
}

static void end_processes(const struct stat *spaces, size_t nr)
{
	const struct timespec poll = { 0, END_POLL_MS * 1000000 };
	int waited;

	for (waited = 0; waited < END_WAIT_MS; waited += END_POLL_MS) {
		if (!signal_processes(spaces, nr, 0))
			return;
		nanosleep(&poll, NULL);
	}
	signal_processes(spaces, nr, SIGKILL);
}

int lab_netns_end_processes(char *const *netns, size_t nr,
			    struct lace_error *err)
{
	struct stat *spaces, host = {};
	char path[PATH_MAX];
	size_t i, found = 0;
	int count;

	spaces = calloc(nr + 1, sizeof(*spaces));
	if (!spaces)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	/* A name that was bound to the machine's own namespace by hand must
	 * not end the machine.
	 */
	stat("/proc/1/ns/net", &host);
	for (i = 0; i < nr; i++) {
		netns_path(netns[i], path);
		if (!stat(path, &spaces[found]) &&
		    !same_file(&spaces[found], &host))
			found++;
	}
	count = signal_processes(spaces, found, SIGTERM);
	if (count)
		end_processes(spaces, found);
	free(spaces);
	return count;
}

/* ---- exec ---- */

static int show_sys_of_netns(void)
{
	int bpf;

	if (unshare(CLONE_NEWNS) ||
	    mount("", "/", "none", MS_SLAVE | MS_REC, NULL))
		return -1;
	/* Fails where nobody has mounted anything there: nothing to keep. */
	bpf = open_tree(AT_FDCWD, BPFFS, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (umount2("/sys", MNT_DETACH) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL))
		return -1;
	return bpf < 0 ? 0 : move_mount(bpf, "", AT_FDCWD, BPFFS,
					MOVE_MOUNT_F_EMPTY_PATH);
}

int lab_netns_exec(const char *netns, char *const argv[],
		   struct lace_error *err)
{
	int ret;

	ret = lace_netns_enter(netns, NULL, err);
	if (ret)
		return ret;
	if (show_sys_of_netns())
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot give %s a /sys of its own: %s", netns,
				 strerror(errno));
	execvp(argv[0], argv);
	return lace_fail(err, LACE_ERR_SYSTEM, "cannot run %s: %s", argv[0],
			 strerror(errno));
}
