// SPDX-License-Identifier: GPL-2.0
/*
 * How much TCP may hand down in one piece (GSO).
 *
 * On fast lanes most of what a packet costs, it costs once a piece.  A kernel
 * keeps a piece to 64 KiB until it is told otherwise, though a driver may say
 * that it takes more (tso_max_size, "BIG TCP").  A port carries nothing but
 * what a lace device sends, so the device raises the port's limit while it has
 * it, unless somebody has set one; and takes for itself the smallest of its
 * ports', so that no lane has to cut up what TCP made.
 */
#include "compat.h"
#include "lace.h"

/* At 100 Gb/s 16 us of a lane; six fragments of a socket's memory. */
#define RAISED_SIZE (192U << 10)

/* What a device takes in one piece: as it is set, and as its driver allows. */
struct limits {
	struct lace_gso gso;
	unsigned int tso_size, tso_segs;
};

static const struct limits usual = {
	{ GSO_LEGACY_MAX_SIZE, GSO_LEGACY_MAX_SIZE },
	GSO_LEGACY_MAX_SIZE,
	GSO_MAX_SEGS,
};

static unsigned int raise(unsigned int size, unsigned int limit)
{
	if (size != GSO_LEGACY_MAX_SIZE)
		return size;
	return clamp(limit, GSO_LEGACY_MAX_SIZE, RAISED_SIZE);
}

static bool is_same(const struct lace_gso *a, const struct lace_gso *b)
{
	return a->size == b->size && a->ip4_size == b->ip4_size;
}

/* As a device begins: whoever creates it may have set limits. */
void lace_gso_init(struct lace_device *lace)
{
	lace->gso = usual.gso;
}

/* Raise the limits of a device that becomes a port. */
void lace_gso_take(struct lace_port *port)
{
	struct net_device *dev = port->dev;
	struct lace_gso raised;

	lace_compat_get_gso(dev, &port->gso_before);
	raised.size = raise(port->gso_before.size, dev->tso_max_size);
	raised.ip4_size = raise(port->gso_before.ip4_size, dev->tso_max_size);
	lace_compat_set_gso(dev, &raised);
	lace_compat_get_gso(dev, &port->gso);
}

/* A device that is a port no longer has the limits that it had, unless somebody
 * has set others in the meantime.
 */
void lace_gso_give_back(struct lace_port *port)
{
	struct lace_gso now;

	lace_compat_get_gso(port->dev, &now);
	if (is_same(&now, &port->gso))
		lace_compat_set_gso(port->dev, &port->gso_before);
}

static void lower(struct limits *limits, const struct net_device *dev)
{
	struct lace_gso gso;

	lace_compat_get_gso(dev, &gso);
	limits->gso.size = min(limits->gso.size, gso.size);
	limits->gso.ip4_size = min(limits->gso.ip4_size, gso.ip4_size);
	limits->tso_size = min(limits->tso_size, dev->tso_max_size);
	limits->tso_segs = min_t(unsigned int, limits->tso_segs,
				 dev->tso_max_segs);
}

static struct limits ports_limits(struct lace_device *lace)
{
	struct limits limits = {
		{ GSO_MAX_SIZE, GSO_MAX_SIZE },
		GSO_MAX_SIZE,
		GSO_MAX_SEGS,
	};
	struct lace_port *port;
	bool any = false;
	int i;

	lace_for_each_port(lace, i, port) {
		lower(&limits, port->dev);
		any = true;
	}
	return any ? limits : usual;
}

/* After a port came, went, or changed its link: nobody tells of a limit that was
 * set.  What somebody has set for the device stays, as far as drivers allow.
 */
void lace_gso_follow(struct lace_device *lace)
{
	struct limits limits = ports_limits(lace);
	struct lace_gso now;

	ASSERT_RTNL();

	lace_compat_get_gso(lace->dev, &now);
	if (is_same(&now, &lace->gso)) {
		lace_compat_set_gso(lace->dev, &limits.gso);
		lace->gso = limits.gso;
	}
	netif_set_tso_max_size(lace->dev, limits.tso_size);
	netif_set_tso_max_segs(lace->dev, limits.tso_segs);
}
