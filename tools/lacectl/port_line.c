// SPDX-License-Identifier: GPL-2.0
/*
 * Line rates and backlogs of ports.  A token bucket at the root, as a lab has
 * it, is the line: its rate counts, and it does not count what a real line takes
 * for each frame.
 */
#include "port_line.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <netlink/route/qdisc.h>
#include <netlink/route/qdisc/tbf.h>
#include <netlink/route/tc.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define WIRE_OVERHEAD 24	/* preamble, FCS and gap */
#define MAX_MODES 127		/* words that a mask of link modes may have */

/* The kernel says how long its masks are, and answers if that is given. */
static uint64_t speed_of(int fd, const char *ifname)
{
	union {
		struct ethtool_link_settings fixed;
		char room[sizeof(struct ethtool_link_settings) +
			  3 * MAX_MODES * sizeof(uint32_t)];
	} link;
	struct ifreq request = { .ifr_data = (void *)&link };

	memset(&link, 0, sizeof(link));
	memcpy(request.ifr_name, ifname, IFNAMSIZ);
	link.fixed.cmd = ETHTOOL_GLINKSETTINGS;
	if (ioctl(fd, SIOCETHTOOL, &request) ||
	    link.fixed.link_mode_masks_nwords >= 0)
		return 0;
	link.fixed.link_mode_masks_nwords = -link.fixed.link_mode_masks_nwords;
	link.fixed.cmd = ETHTOOL_GLINKSETTINGS;
	if (ioctl(fd, SIOCETHTOOL, &request) ||
	    link.fixed.speed == (uint32_t)SPEED_UNKNOWN)
		return 0;
	return link.fixed.speed * 1000000ULL;
}

static int read_speeds(const struct lace_rt_port *ports, unsigned int nr,
		       struct port_line *lines, struct lace_error *err)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned int i;

	if (fd < 0)
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot ask for link settings");
	for (i = 0; i < nr; i++) {
		lines[i].rate_bps = speed_of(fd, ports[i].ifname);
		lines[i].overhead = WIRE_OVERHEAD;
	}
	close(fd);
	return 0;
}

static void read_qdisc(struct rtnl_qdisc *qdisc, struct port_line *line)
{
	struct rtnl_tc *tc = TC_CAST(qdisc);
	const char *kind = rtnl_tc_get_kind(tc);

	if (rtnl_tc_get_parent(tc) != TC_H_ROOT)
		return;
	line->backlog = rtnl_tc_get_stat(tc, RTNL_TC_BACKLOG);
	if (kind && !strcmp(kind, "tbf")) {
		line->rate_bps = 8ULL * rtnl_qdisc_tbf_get_rate(qdisc);
		line->overhead = 0;
	}
}

static void read_qdiscs(struct nl_cache *cache, const struct lace_rt_port *ports,
			unsigned int nr, struct port_line *lines)
{
	struct nl_object *object;
	unsigned int i;
	int ifindex;

	for (object = nl_cache_get_first(cache); object;
	     object = nl_cache_get_next(object)) {
		ifindex = rtnl_tc_get_ifindex(TC_CAST(object));
		for (i = 0; i < nr; i++)
			if ((uint32_t)ifindex == ports[i].ifindex)
				read_qdisc((struct rtnl_qdisc *)object,
					   &lines[i]);
	}
}

int port_lines_read(const struct lace_rt_port *ports, unsigned int nr,
		    struct port_line *lines, struct lace_error *err)
{
	struct nl_sock *sock = nl_socket_alloc();
	struct nl_cache *cache;
	int ret;

	memset(lines, 0, nr * sizeof(*lines));
	if (!sock)
		return lace_fail(err, LACE_ERR_SYSTEM, "out of memory");
	ret = nl_connect(sock, NETLINK_ROUTE);
	if (!ret)
		ret = rtnl_qdisc_alloc_cache(sock, &cache);
	if (ret) {
		nl_socket_free(sock);
		return lace_fail(err, LACE_ERR_SYSTEM,
				 "cannot read queueing disciplines: %s",
				 nl_geterror(ret));
	}
	ret = read_speeds(ports, nr, lines, err);
	if (!ret)
		read_qdiscs(cache, ports, nr, lines);
	nl_cache_free(cache);
	nl_socket_free(sock);
	return ret;
}
