// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and unloads the module: each part in turn, and back.
 */
#include <linux/module.h>

#include "lace.h"

static int __init lace_init(void)
{
	int err;

	err = lace_net_init();
	if (err)
		return err;
	err = lace_port_init();
	if (err)
		goto err_port;
	err = lace_netlink_init();
	if (err)
		goto err_netlink;
	err = lace_lanes_init();
	if (err)
		goto err_lanes;
	err = lace_hooks_init();
	if (err)
		goto err_hooks;
	err = lace_link_init();
	if (err)
		goto err_link;
	return 0;

err_link:
	lace_hooks_exit();
err_hooks:
	lace_lanes_exit();
err_lanes:
	lace_netlink_exit();
err_netlink:
	lace_port_exit();
err_port:
	lace_net_exit();
	return err;
}

/* Devices go first: what they announce while they go needs the family. */
static void __exit lace_exit(void)
{
	lace_link_exit();
	lace_hooks_exit();
	lace_lanes_exit();
	lace_netlink_exit();
	lace_port_exit();
	lace_net_exit();
	rcu_barrier();
}

module_init(lace_init);
module_exit(lace_exit);

MODULE_DESCRIPTION("Lane-level circuit scheduling");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RTNL_LINK("lace");
MODULE_ALIAS_GENL_FAMILY(LACE_GENL_NAME);
