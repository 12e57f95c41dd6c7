/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/* Network namespaces by name, as "ip netns" keeps them. */
#ifndef LACE_NETNS_H
#define LACE_NETNS_H

#include "lace.h"

/* Makes the calling thread a member of namespace netns: a name, or a path.
 * *back (back may be NULL) is for lace_netns_leave().
 */
int lace_netns_enter(const char *netns, int *back, struct lace_error *err);
/* Returns to where the thread came from, and closes back. */
int lace_netns_leave(int back, struct lace_error *err);

#endif /* LACE_NETNS_H */
