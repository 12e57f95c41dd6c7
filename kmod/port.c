// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: network devices enslaved to a lace device.
 */
#include <linux/ethtool.h>
#include <linux/if_arp.h>

#include "compat.h"
#include "lace.h"

/* NULL if the device is no port. */
struct lace_port *lace_port_of(const struct net_device *port_dev)
{
	ASSERT_RTNL();

	if (rcu_access_pointer(port_dev->rx_handler) != lace_receive)
		return NULL;
	return rtnl_dereference(port_dev->rx_handler_data);
}

static void update_rate(struct lace_port *port)
{
	struct ethtool_link_ksettings settings;
	u32 mbps = 0;

	if (!__ethtool_get_link_ksettings(port->dev, &settings) &&
	    settings.base.speed != (u32)SPEED_UNKNOWN)
		mbps = settings.base.speed;
	WRITE_ONCE(port->mbps, mbps);
}

static int lowest_free(struct lace_device *lace)
{
	int i;

	for (i = 0; i < LACE_MAX_PORTS; i++) {
		if (!rtnl_dereference(lace->ports[i]))
			return i;
	}
	return -ENOSPC;
}

static int check(const struct net_device *dev, struct net_device *port_dev,
		 struct netlink_ext_ack *extack)
{
	if (port_dev->type != ARPHRD_ETHER || port_dev->addr_len != ETH_ALEN ||
	    port_dev->flags & IFF_LOOPBACK) {
		NL_SET_ERR_MSG(extack, "port: not an Ethernet device");
		return -EINVAL;
	}
	if (!net_eq(dev_net(dev), dev_net(port_dev))) {
		NL_SET_ERR_MSG(extack, "port: in another network namespace");
		return -EINVAL;
	}
	if (netdev_master_upper_dev_get(port_dev) ||
	    netdev_is_rx_handler_busy(port_dev)) {
		NL_SET_ERR_MSG(extack, "port: already belongs to another device");
		return -EBUSY;
	}
	return 0;
}

static void free_port(struct lace_port *port)
{
	lace_lane_free(port);
	free_percpu(port->stats[LACE_DIR_TX]);
	free_percpu(port->stats[LACE_DIR_RX]);
	kfree(port);
}

static struct lace_port *alloc_port(struct lace_device *lace,
				    struct net_device *port_dev, u8 number)
{
	struct lace_port *port;
	int dir;

	port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	if (!port)
		return NULL;
	port->dev = port_dev;
	port->lace = lace;
	port->number = number;
	for (dir = LACE_DIR_TX; dir <= LACE_DIR_RX; dir++) {
		port->stats[dir] = alloc_percpu_gfp(struct lace_lane_stats,
						    GFP_KERNEL_ACCOUNT);
		if (!port->stats[dir]) {
			free_port(port);
			return NULL;
		}
		lace_lane_stats_init(port->stats[dir]);
	}
	if (lace_lane_init(port)) {
		free_port(port);
		return NULL;
	}
	return port;
}

/* The device after a port of that number came or went. */
static void follow(struct lace_device *lace, u8 number)
{
	lace_device_update_mtu(lace);
	lace_device_update_headroom(lace);
	lace_gso_follow(lace);
	lace_device_changed(lace);
	lace_nl_announce_device(lace, NULL);
	lace_nl_announce_lanes(lace, number);
}

static int attach(struct lace_port *port, struct netlink_ext_ack *extack)
{
	struct net_device *dev = port->lace->dev;
	int err;

	err = netdev_master_upper_dev_link(port->dev, dev, NULL, NULL, extack);
	if (err)
		return err;
	err = netdev_rx_handler_register(port->dev, lace_receive, port);
	if (err) {
		NL_SET_ERR_MSG(extack, "port: its receive handler is taken");
		netdev_upper_dev_unlink(port->dev, dev);
		return err;
	}
	dev_disable_lro(port->dev);	/* a relay sends on what it received */
	update_rate(port);
	lace_gso_take(port);
	rcu_assign_pointer(port->lace->ports[port->number], port);
	lace_lanes_follow(port->lace);
	lace_transition_port_came(port);
	return 0;
}

static int reopen(struct net_device *dev, struct netlink_ext_ack *extack)
{
	dev_close(dev);
	return dev_open(dev, extack);
}

/* A port that is up already has IPv6 addresses, or is about to get some, and
 * would send to groups of hosts on its lane.  Going down ends that.
 */
static int attach_quiet(struct lace_port *port, struct netlink_ext_ack *extack)
{
	bool was_up = port->dev->flags & IFF_UP;
	int err = 0;

	lace_compat_no_addrconf(port->dev, true);
	if (was_up)
		err = reopen(port->dev, extack);
	if (!err)
		err = attach(port, extack);
	if (!err)
		return 0;
	lace_compat_no_addrconf(port->dev, false);
	if (was_up && reopen(port->dev, NULL))
		netdev_warn(port->dev, "cannot be brought up again\n");
	return err;
}

int lace_port_add(struct net_device *dev, struct net_device *port_dev,
		  struct netlink_ext_ack *extack)
{
	struct lace_device *lace = netdev_priv(dev);
	struct lace_port *port;
	int number;
	int err;

	ASSERT_RTNL();

	err = check(dev, port_dev, extack);
	if (err)
		return err;
	number = lowest_free(lace);
	if (number < 0) {
		NL_SET_ERR_MSG(extack, "port: the device has no free port number");
		return number;
	}
	port = alloc_port(lace, port_dev, number);
	if (!port)
		return -ENOMEM;
	err = attach_quiet(port, extack);
	if (err) {
		free_port(port);
		return err;
	}
	follow(lace, number);
	return 0;
}

/* Unregistering the handler waits for all readers, so that those who found
 * the port in lace_device.ports are gone, too.
 */
static void del(struct lace_port *port)
{
	struct lace_device *lace = port->lace;
	struct net_device *port_dev = port->dev;

	RCU_INIT_POINTER(lace->ports[port->number], NULL);
	netdev_rx_handler_unregister(port_dev);
	netdev_upper_dev_unlink(port_dev, lace->dev);
	lace_compat_no_addrconf(port_dev, false);
	lace_gso_give_back(port);
	free_port(port);
}

int lace_port_del(struct net_device *dev, struct net_device *port_dev)
{
	struct lace_device *lace = netdev_priv(dev);
	struct lace_port *port = lace_port_of(port_dev);
	u8 number;

	ASSERT_RTNL();

	if (!port || port->lace != lace)
		return -EINVAL;
	number = port->number;
	lace_outage_port_gone(port);
	del(port);
	lace_reorder_flush(lace);
	lace_transition_port_gone(lace, number);
	/* It may go at the same time as its port: a device without addresses
	 * that is told of a new MTU gets some, and never ends.
	 */
	if (lace->dev->reg_state == NETREG_REGISTERED)
		follow(lace, number);
	return 0;
}

/* For the end of the device: nobody needs to be told. */
void lace_port_del_all(struct lace_device *lace)
{
	struct lace_port *port;
	int i;

	lace_for_each_port(lace, i, port)
		del(port);
}

static u32 ports_of(const struct lace_segment *segment)
{
	return segment ? segment->ports[LACE_DIR_TX] |
			 segment->ports[LACE_DIR_RX] : 0;
}

/* A number that the active segment uses means a fibre: it must not come to
 * mean another.
 */
int lace_port_set_number(struct lace_port *port, u8 number,
			 struct netlink_ext_ack *extack)
{
	struct lace_device *lace = port->lace;
	u32 in_use;

	ASSERT_RTNL();

	if (number == port->number)
		return 0;
	if (rtnl_dereference(lace->ports[number])) {
		NL_SET_ERR_MSG(extack, "port NUMBER: another port has it");
		return -EEXIST;
	}
	in_use = ports_of(lace_active_segment(lace)) |
		 lace_transition_ports(lace);
	if (in_use & (BIT(number) | BIT(port->number))) {
		NL_SET_ERR_MSG(extack,
			       "port NUMBER: the active segment, or a transition, uses the old or the new one");
		return -EBUSY;
	}
	RCU_INIT_POINTER(lace->ports[port->number], NULL);
	WRITE_ONCE(port->number, number);
	rcu_assign_pointer(lace->ports[number], port);
	lace_lanes_follow(lace);
	return 0;
}

static int netdev_event(struct notifier_block *block, unsigned long event,
			void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct lace_port *port = lace_port_of(dev);

	if (!port)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:
		lace_port_del(port->lace->dev, dev);
		break;
	case NETDEV_CHANGEMTU:
		lace_device_update_mtu(port->lace);
		break;
	case NETDEV_UP:
	case NETDEV_CHANGE:
	case NETDEV_DOWN:
		update_rate(port);
		lace_gso_follow(port->lace);
		if (!lace_port_is_live(port))
			lace_lane_unplug(port);
		lace_transition_kick(port->lace);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		return NOTIFY_BAD;
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = netdev_event };

int __init lace_port_init(void)
{
	return register_netdevice_notifier(&notifier);
}

void lace_port_exit(void)
{
	unregister_netdevice_notifier(&notifier);
}
