// SPDX-License-Identifier: GPL-2.0
/*
 * builtin: what the module would do itself, but counted.
 */
#include "steer_prog.h"

SEC("socket")
int steer_builtin(struct __sk_buff *skb)
{
	const struct lace_steer_context *context = steer_context();

	if (!context)
		return skb->cb[LACE_STEER_BUILTIN];
	return take(context, context->builtin);
}

char _license[] SEC("license") = "GPL";
