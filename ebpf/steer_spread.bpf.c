// SPDX-License-Identifier: GPL-2.0
/*
 * spread: each packet takes the lane that is free first, so that one TCP
 * connection has the rate of all lanes together; the module at the other end
 * puts its segments back in order. A GSO packet is one packet, and stays whole.
 *
 * What does not survive overtaking (all but TCP) stays on one lane, by its flow
 * hash; that is what the module would do.
 */
#include "steer_prog.h"

SEC("socket")
int steer_spread(struct __sk_buff *skb)
{
	const struct lace_steer_context *context = steer_context();

	(void)skb;
	if (!context)
		return STEER_NO_CHOICE;
	if (!(context->flags & LACE_STEER_TCP))
		return take(context, context->builtin);
	return take(context, first_free(context));
}

char _license[] SEC("license") = "GPL";
