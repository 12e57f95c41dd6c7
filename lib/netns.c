// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Going into a network namespace and back: a socket belongs to the namespace
 * that the thread was in when it was made, so one process can drive all nodes
 * of a lab.
 */
#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/run/netns/"

static int open_netns(const char *netns, struct lace_error *err)
{
	bool is_path = strchr(netns, '/');
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s%s", is_path ? "" : FOLDER, netns);
	fd = netns[0] && netns[0] != '.' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0)
		return fd;
	if (!netns[0] || errno == ENOENT || netns[0] == '.')
		return lace_fail(err, LACE_ERR_ANSWER,
				 "there is no network namespace \"%s\"", netns);
	return lace_fail(err, LACE_ERR_ANSWER,
			 "cannot open network namespace \"%s\": %s", netns,
			 strerror(errno));
}

static int enter(int fd, const char *netns, struct lace_error *err)
{
	if (!setns(fd, CLONE_NEWNET))
		return 0;
	return lace_fail(err, LACE_ERR_ANSWER,
			 "cannot enter network namespace \"%s\": %s", netns,
			 strerror(errno));
}

/**
 * lace_netns_enter() - make the calling thread a member of a namespace
 * @netns: name of "ip netns", or a path
 * @back: filled with what lace_netns_leave() needs; NULL for one way only
 * @err: filled on failure
 *
 * Return: 0, or -1: the thread is where it was.
 */
int lace_netns_enter(const char *netns, int *back, struct lace_error *err)
{
	int fd, own = -1, ret;

	if (back) {
		own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
		if (own < 0)
			return lace_fail(err, LACE_ERR_SYSTEM,
					 "cannot open the own network namespace: %s",
					 strerror(errno));
	}
	fd = open_netns(netns, err);
	ret = fd < 0 ? -1 : enter(fd, netns, err);
	if (fd >= 0)
		close(fd);
	if (ret && own >= 0)
		close(own);
	else if (back)
		*back = own;
	return ret;
}

/**
 * lace_netns_leave() - undo lace_netns_enter()
 * @back: from there; closed
 * @err: filled on failure
 *
 * Return: 0, or -1: the thread is in the wrong namespace.
 */
int lace_netns_leave(int back, struct lace_error *err)
{
	int ret = 0;

	if (setns(back, CLONE_NEWNET))
		ret = lace_fail(err, LACE_ERR_SYSTEM,
				"cannot return to the own network namespace: %s",
				strerror(errno));
	close(back);
	return ret;
}
