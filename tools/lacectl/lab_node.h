/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the lace devices of a lab are told: who they are, and who the nodes are.
 */
#ifndef LACECTL_LAB_NODE_H
#define LACECTL_LAB_NODE_H

#include "lab_plan.h"

/* Node number and node table of node n's device. */
int lab_node_configure(const struct lab *lab, unsigned int n,
		       struct lace_error *err);
/* The commands that would do the same. */
void lab_node_print(FILE *out, const struct lab *lab, unsigned int n);

#endif /* LACECTL_LAB_NODE_H */
