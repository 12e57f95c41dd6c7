/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels that the module builds for.  The rest of
 * the source is written for the newest of them.
 */
#ifndef LACE_COMPAT_H
#define LACE_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#ifdef LACE_HAVE_gso_h
#include <net/gso.h>
#endif
#ifdef LACE_HAVE_netdev_lock_h
#include <net/netdev_lock.h>
#endif

/* A policy of an older kernel refers to a range as if it could be written. */
#ifdef LACE_HAVE_const_range
#define lace_compat_range	const struct netlink_range_validation
#else
#define lace_compat_range	struct netlink_range_validation
#endif

/* What is large, on the fast path, and written before it is read: kernels that
 * clear every variable would take longer over it than over the packet.
 */
#if __has_attribute(__uninitialized__)
#define lace_compat_uninitialized	__attribute__((__uninitialized__))
#else
#define lace_compat_uninitialized
#endif

/* Of CLOCK_MONOTONIC, with absolute times, in softirq context. */
static inline void
lace_compat_hrtimer(struct hrtimer *timer,
		    enum hrtimer_restart (*function)(struct hrtimer *))
{
#ifdef LACE_HAVE_hrtimer_setup
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	timer->function = function;
#endif
}

static inline void lace_compat_lltx(struct net_device *dev)
{
#ifdef LACE_HAVE_lltx
	dev->lltx = true;
#else
	dev->features |= NETIF_F_LLTX;
#endif
}

static inline void lace_compat_netns_immutable(struct net_device *dev)
{
#if defined(LACE_HAVE_netns_immutable)
	dev->netns_immutable = true;
#elif defined(LACE_HAVE_netns_local)
	dev->netns_local = true;
#else
	dev->features |= NETIF_F_NETNS_LOCAL;
#endif
}

/* How much TCP hands a device in one piece, over IPv6 and over IPv4.  Kernels
 * without a limit for IPv4 never exceed 64 KiB there.
 */
struct lace_gso {
	unsigned int size, ip4_size;
};

static inline void lace_compat_get_gso(const struct net_device *dev,
				       struct lace_gso *gso)
{
	gso->size = READ_ONCE(dev->gso_max_size);
#ifdef LACE_HAVE_gso_ipv4_max_size
	gso->ip4_size = READ_ONCE(dev->gso_ipv4_max_size);
#else
	gso->ip4_size = min(gso->size, GSO_LEGACY_MAX_SIZE);
#endif
}

static inline void lace_compat_set_gso(struct net_device *dev,
				       const struct lace_gso *gso)
{
	WRITE_ONCE(dev->gso_max_size, gso->size);
#ifdef LACE_HAVE_gso_ipv4_max_size
	WRITE_ONCE(dev->gso_ipv4_max_size, gso->ip4_size);
#endif
}

/* Length of the header that IPv6 puts in front of a TCP header if more than
 * 64 KiB follow it in one piece.  No fibre ever sees it; newer kernels have none.
 */
static inline unsigned int lace_compat_jumbo(const struct sk_buff *skb)
{
#ifdef LACE_HAVE_ipv6_has_hopopt_jumbo
	if (unlikely(ipv6_has_hopopt_jumbo(skb)))
		return sizeof(struct hop_jumbo_hdr);
#endif
	return 0;
}

/* Keep IPv6 from giving addresses to a port, and so from sending on it. */
static inline void lace_compat_no_addrconf(struct net_device *dev, bool on)
{
#ifdef LACE_HAVE_IFF_NO_ADDRCONF
	if (on)
		dev->priv_flags |= IFF_NO_ADDRCONF;
	else
		dev->priv_flags &= ~IFF_NO_ADDRCONF;
#else
	if (on)
		dev->flags |= IFF_SLAVE;
	else
		dev->flags &= ~IFF_SLAVE;
#endif
}

#endif /* LACE_COMPAT_H */
