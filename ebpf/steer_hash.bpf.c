// SPDX-License-Identifier: GPL-2.0
/*
 * hash: the flow hash decides. A flow stays on one lane, so nothing overtakes
 * and one flow has the rate of one lane; two flows may fall on the same lane
 * while others are idle.
 */
#include "steer_prog.h"

SEC("socket")
int steer_hash(struct __sk_buff *skb)
{
	const struct lace_steer_context *context = steer_context();

	(void)skb;
	if (!context)
		return STEER_NO_CHOICE;
	return take(context, ((__u64)context->hash * context->lanes) >> 32);
}

char _license[] SEC("license") = "GPL";
