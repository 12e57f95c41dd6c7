// SPDX-License-Identifier: GPL-2.0
/*
 * ethtool -S: the counters of a device and of the lanes of its ports, by name.
 */
#include <linux/ethtool.h>

#include "lace.h"
#include "stat_names.h"

/* Calls visit for each lane that there is, in order.  Under RTNL. */
static void for_each_lane(struct lace_device *lace,
			  void (*visit)(struct lace_port *port,
					enum lace_dir dir, void *arg),
			  void *arg)
{
	struct lace_port *port;
	int i, dir;

	lace_for_each_port(lace, i, port)
		for (dir = LACE_DIR_TX; dir <= LACE_DIR_RX; dir++)
			visit(port, dir, arg);
}

static void count_lane(struct lace_port *port, enum lace_dir dir, void *arg)
{
	int *n = arg;
	int i;

	for (i = 0; i <= LACE_A_LANESTAT_MAX; i++)
		*n += !!lace_lane_stat_names[i];
}

static int get_sset_count(struct net_device *dev, int set)
{
	int n = 0;
	int i;

	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	for (i = 0; i <= LACE_A_DEVSTAT_MAX; i++)
		n += !!lace_dev_stat_names[i];
	for_each_lane(netdev_priv(dev), count_lane, &n);
	return n;
}

static void name_lane(struct lace_port *port, enum lace_dir dir, void *arg)
{
	u8 **at = arg;
	int i;

	for (i = 0; i <= LACE_A_LANESTAT_MAX; i++) {
		if (!lace_lane_stat_names[i])
			continue;
		snprintf(*at, ETH_GSTRING_LEN, "p%u_%s_%s", port->number,
			 dir == LACE_DIR_TX ? "tx" : "rx", lace_lane_stat_names[i]);
		*at += ETH_GSTRING_LEN;
	}
}

static void get_strings(struct net_device *dev, u32 set, u8 *data)
{
	int i;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i <= LACE_A_DEVSTAT_MAX; i++) {
		if (!lace_dev_stat_names[i])
			continue;
		snprintf(data, ETH_GSTRING_LEN, "%s", lace_dev_stat_names[i]);
		data += ETH_GSTRING_LEN;
	}
	for_each_lane(netdev_priv(dev), name_lane, &data);
}

static void read_lane(struct lace_port *port, enum lace_dir dir, void *arg)
{
	u64 values[LACE_A_LANESTAT_MAX + 1];
	struct lace_lane_report report;
	u64 **at = arg;
	int i;

	lace_lane_stats_read(port, dir, values);
	lace_lane_report(port, dir, &report, values);
	for (i = 0; i <= LACE_A_LANESTAT_MAX; i++) {
		if (lace_lane_stat_names[i])
			*(*at)++ = values[i];
	}
}

static void get_stats(struct net_device *dev, struct ethtool_stats *stats,
		      u64 *data)
{
	u64 values[LACE_A_DEVSTAT_MAX + 1];
	int i;

	lace_dev_stats_read(netdev_priv(dev), values);
	for (i = 0; i <= LACE_A_DEVSTAT_MAX; i++) {
		if (lace_dev_stat_names[i])
			*data++ = values[i];
	}
	for_each_lane(netdev_priv(dev), read_lane, &data);
}

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "lace", sizeof(info->driver));
}

const struct ethtool_ops lace_ethtool_ops = {
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_stats,
};
