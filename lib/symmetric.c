// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Duplex schedulers: circuits come in pairs, there and back between the same
 * two ports, as every published optical scheduler has them.  The same stages
 * as for lanes, over a model whose links take a port at either end and give
 * their rate both ways; so what separates the two is the pairing alone.
 */
#include "compile.h"

int lace_compile_symmetric(const struct lace_cluster *cluster,
			   const struct lace_demand *demand,
			   struct lace_plan *plan, struct lace_error *err)
{
	return lace_compile_split(cluster, demand, true, LACE_SPLIT_BEST, plan,
				  err);
}

int lace_compile_symmetric_oneshot(const struct lace_cluster *cluster,
				   const struct lace_demand *demand,
				   struct lace_plan *plan,
				   struct lace_error *err)
{
	return lace_compile_split(cluster, demand, true, LACE_SPLIT_ONESHOT,
				  plan, err);
}

int lace_compile_symmetric_perop(const struct lace_cluster *cluster,
				 const struct lace_demand *demand,
				 struct lace_plan *plan,
				 struct lace_error *err)
{
	return lace_compile_split(cluster, demand, true, LACE_SPLIT_PEROP,
				  plan, err);
}
