/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a lab touches the machine: commands, namespaces and what lives in them.
 */
#ifndef LACECTL_LAB_RUN_H
#define LACECTL_LAB_RUN_H

#include "lace.h"

/* Runs "TOOL [-n NETNS] -batch -" with script as its input; TOOL is ip or tc,
 * netns may be NULL.  The error names the line that failed.
 */
int lab_run_batch(const char *tool, const char *netns, const char *script,
		  struct lace_error *err);
/* Sets lines of KEY=VALUE in a namespace; keys of a protocol that the kernel
 * does not have are passed over.
 */
int lab_run_sysctls(const char *netns, const char *lines,
		    struct lace_error *err);

bool lab_netns_exists(const char *netns);
/* Ends every process but the caller that is in one of the namespaces: first
 * asks, then kills.  Returns how many there were.
 */
int lab_netns_end_processes(char *const *netns, size_t nr,
			    struct lace_error *err);
/* As "ip netns exec": the namespace and a /sys that shows it, but with bpffs
 * as it was.  Returns only on failure.
 */
int lab_netns_exec(const char *netns, char *const argv[],
		   struct lace_error *err);

#endif /* LACECTL_LAB_RUN_H */
