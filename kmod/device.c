// SPDX-License-Identifier: GPL-2.0
/*
 * The network device: lace0 as the host sees it, and the list of them in each
 * network namespace.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <net/addrconf.h>

#include "compat.h"
#include "lace.h"
#include "trace.h"

unsigned int lace_net_id __read_mostly;

/* A change that a dump under way has to know of. */
void lace_device_changed(struct lace_device *lace)
{
	ASSERT_RTNL();

	lace_net(dev_net(lace->dev))->generation++;
}

/* The device with the smallest index that is not below ifindex. */
struct lace_device *lace_device_next(struct net *net, int ifindex)
{
	struct lace_device *lace, *next = NULL;

	ASSERT_RTNL();

	list_for_each_entry(lace, &lace_net(net)->devices, list) {
		if (lace->dev->ifindex >= ifindex &&
		    (!next || lace->dev->ifindex < next->dev->ifindex))
			next = lace;
	}
	return next;
}

/* Segments are checked against the own node when they are loaded. */
int lace_device_set_self(struct lace_device *lace, u16 self,
			 struct netlink_ext_ack *extack)
{
	ASSERT_RTNL();

	if (lace->self == self)
		return 0;
	if (!xa_empty(&lace->segments)) {
		NL_SET_ERR_MSG(extack,
			       "device NODE: segments are loaded for the present node");
		return -EBUSY;
	}
	lace->self = self;
	return 0;
}

/* The smallest MTU of the ports; without ports any will do. */
static unsigned int ports_mtu(struct lace_device *lace)
{
	unsigned int mtu = IP_MAX_MTU;
	struct lace_port *port;
	int i;

	lace_for_each_port(lace, i, port)
		mtu = min(mtu, READ_ONCE(port->dev->mtu));
	return mtu;
}

/* What the user set, or else the default, as far as the ports allow. */
void lace_device_update_mtu(struct lace_device *lace)
{
	unsigned int limit = ports_mtu(lace);
	unsigned int mtu = lace->user_mtu;

	ASSERT_RTNL();

	if (!mtu)
		mtu = limit == IP_MAX_MTU ? ETH_DATA_LEN : limit;
	lace->dev->max_mtu = limit;
	lace->mtu_follows = true;
	if (dev_set_mtu(lace->dev, min(mtu, limit)))
		netdev_warn(lace->dev, "cannot follow the MTU of its ports\n");
	lace->mtu_follows = false;
}

void lace_device_update_headroom(struct lace_device *lace)
{
	unsigned short headroom = ETH_HLEN, tailroom = 0;
	struct lace_port *port;
	int i;

	ASSERT_RTNL();

	lace_for_each_port(lace, i, port) {
		headroom = max_t(unsigned short, headroom,
				 LL_RESERVED_SPACE(port->dev));
		tailroom = max(tailroom, port->dev->needed_tailroom);
	}
	WRITE_ONCE(lace->dev->needed_headroom, headroom);
	WRITE_ONCE(lace->dev->needed_tailroom, tailroom);
}

static int ndo_init(struct net_device *dev)
{
	struct lace_device *lace = netdev_priv(dev);
	int err;

	lace->dev = dev;
	if (dev->mtu != ETH_DATA_LEN)	/* set as the device is created */
		lace->user_mtu = dev->mtu;
	lace->self = LACE_NO_NODE;
	lace_gso_init(lace);
	xa_init(&lace->segments);
	lace_hooks_start(lace);

	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!dev->tstats)
		return -ENOMEM;
	lace->stats = alloc_percpu(struct lace_dev_stats);
	if (!lace->stats) {
		err = -ENOMEM;
		goto err_stats;
	}
	lace_dev_stats_init(lace->stats);
	err = lace_reorder_init(lace);
	if (err)
		goto err_reorder;
	err = lace_gate_init(lace);
	if (err)
		goto err_gate;
	err = lace_transition_init(lace);
	if (err)
		goto err_transition;
	err = lace_nodes_init(&lace->nodes);
	if (err)
		goto err_nodes;
	lace_lanes_start(lace);
	netdev_lockdep_set_classes(dev);
	list_add_tail(&lace->list, &lace_net(dev_net(dev))->devices);
	return 0;

err_nodes:
	lace_transition_destroy(lace);
err_transition:
	lace_gate_destroy(lace);
err_gate:
	lace_reorder_destroy(lace);
err_reorder:
	free_percpu(lace->stats);
err_stats:
	free_percpu(dev->tstats);
	return err;
}

static void ndo_uninit(struct net_device *dev)
{
	const struct lace_steer_program none = {};
	struct lace_device *lace = netdev_priv(dev);

	list_del(&lace->list);
	lace_hooks_destroy(lace);
	lace_lanes_stop(lace);
	lace_device_changed(lace);
	lace_transition_stop(lace);
	lace_port_del_all(lace);
	lace_active_replace(lace, NULL);
	lace_steer_set(lace, &none);
	lace_reorder_destroy(lace);
	trace_lace_device_gone(dev);
}

static void destroy(struct net_device *dev)
{
	struct lace_device *lace = netdev_priv(dev);

	lace_segments_destroy(lace);
	lace_transition_destroy(lace);
	lace_gate_destroy(lace);
	lace_nodes_destroy(&lace->nodes);
	free_percpu(lace->stats);
	free_percpu(dev->tstats);
}

/* Nobody answers neighbour or router solicitations behind a lace device. */
static int ndo_open(struct net_device *dev)
{
	struct in_device *in_dev = __in_dev_get_rtnl(dev);
	struct inet6_dev *in6_dev = __in6_dev_get(dev);

	if (in_dev)
		IN_DEV_CONF_SET(in_dev, SEND_REDIRECTS, false);
	if (in6_dev)
		in6_dev->cnf.addr_gen_mode = IN6_ADDR_GEN_MODE_NONE;
	return 0;
}

/* Nothing waits for a device that is down. */
static int ndo_stop(struct net_device *dev)
{
	synchronize_net();	/* the last that saw it up have received */
	lace_reorder_flush(netdev_priv(dev));
	lace_gate_purge(netdev_priv(dev));
	return 0;
}

static int ndo_change_mtu(struct net_device *dev, int mtu)
{
	struct lace_device *lace = netdev_priv(dev);

	if (!lace->mtu_follows)
		lace->user_mtu = mtu;
	WRITE_ONCE(dev->mtu, mtu);
	return 0;
}

static const struct net_device_ops netdev_ops = {
	.ndo_init = ndo_init,
	.ndo_uninit = ndo_uninit,
	.ndo_open = ndo_open,
	.ndo_stop = ndo_stop,
	.ndo_start_xmit = lace_transmit_own,
	.ndo_change_mtu = ndo_change_mtu,
	.ndo_get_stats64 = dev_get_tstats64,
	.ndo_add_slave = lace_port_add,
	.ndo_del_slave = lace_port_del,
};

static const struct device_type device_type = { .name = "lace" };

static void setup(struct net_device *dev)
{
	const netdev_features_t features = NETIF_F_SG | NETIF_F_FRAGLIST |
					   NETIF_F_HW_CSUM |
					   NETIF_F_GSO_SOFTWARE |
					   NETIF_F_HIGHDMA;

	dev->netdev_ops = &netdev_ops;
	dev->ethtool_ops = &lace_ethtool_ops;
	dev->type = ARPHRD_NONE;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->hard_header_len = 0;
	dev->addr_len = 0;
	dev->needed_headroom = ETH_HLEN;
	dev->features |= features;
	dev->hw_features |= features;
	dev->hw_enc_features |= features;
	dev->mtu = ETH_DATA_LEN;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = IP_MAX_MTU;
	dev->needs_free_netdev = true;
	dev->priv_destructor = destroy;
	lace_compat_lltx(dev);
	/* Its ports would have to move with it. */
	lace_compat_netns_immutable(dev);
	SET_NETDEV_DEVTYPE(dev, &device_type);
}

static struct rtnl_link_ops link_ops __read_mostly = {
	.kind = "lace",
	.priv_size = sizeof(struct lace_device),
	.setup = setup,
};

static int __net_init net_init(struct net *net)
{
	INIT_LIST_HEAD(&lace_net(net)->devices);
	lace_net(net)->generation = 1;
	return 0;
}

static struct pernet_operations net_ops = {
	.init = net_init,
	.id = &lace_net_id,
	.size = sizeof(struct lace_net),
};

int __init lace_net_init(void)
{
	return register_pernet_subsys(&net_ops);
}

void lace_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}

int __init lace_link_init(void)
{
	return rtnl_link_register(&link_ops);
}

void lace_link_exit(void)
{
	rtnl_link_unregister(&link_ops);
}
