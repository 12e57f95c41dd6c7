/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* What route.c, route_exact.c and route_complete.c share. */
#ifndef LACE_ROUTE_H
#define LACE_ROUTE_H

#include "planner.h"

/* Networks up to here have their routes searched whole. */
#define LACE_ROUTE_EXACT_NODES 8

/* Enters a pair that has got its first circuit. */
void lace_router_link(struct lace_router *router, unsigned int pair);
bool lace_router_fits(const struct lace_router *router, unsigned int pair,
		      double bits, double limit);
/* Finds a shortest path within limit; lace_router_add() takes it. */
bool lace_router_find(struct lace_router *router, unsigned int pair,
		      double bits, double limit);
bool lace_router_add(struct lace_router *router, unsigned int pair,
		     double bits);
/* Room for one more route and so many more hops. */
bool lace_router_reserve(struct lace_router *router, unsigned int hops);
void lace_router_load(struct lace_router *router,
		      const struct lace_routed *routed, double sign);
/* Loads what has circuits; the time that takes, or INFINITY. */
double lace_router_direct(struct lace_router *router, unsigned int kind);
/* Improves on the routes that take time, if the network is small; returns the
 * new time.
 */
double lace_router_route_exact(struct lace_router *router, double floor,
			       double time);

#endif /* LACE_ROUTE_H */
