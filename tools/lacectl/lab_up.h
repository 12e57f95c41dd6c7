/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Building a lab and taking it down.
 */
#ifndef LACECTL_LAB_UP_H
#define LACECTL_LAB_UP_H

#include "lab_plan.h"

/* Builds what lab_plan() laid out, from the cluster file at cluster_path; what
 * fails takes everything down again.  dry: prints the commands to report
 * instead.
 */
int lab_up(const struct lab *lab, const char *cluster_path, bool dry,
	   FILE *report, struct lace_error *err);

/* Takes down whatever is there of a lab, whole or not.  LACE_ERR_ANSWER if
 * there is nothing of that name.
 */
int lab_down(const char *name, FILE *report, struct lace_error *err);

#endif /* LACECTL_LAB_UP_H */
