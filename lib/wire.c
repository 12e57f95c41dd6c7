// SPDX-License-Identifier: LGPL-2.1 OR MIT
/*
 * Frame arithmetic for predictions: see wire.h.
 */
#include "wire.h"

/**
 * lace_payload_ratio() - share of a lane's rate that is TCP payload
 * @mtu: of the lane, bytes
 *
 * Return: from 0 to 1.
 */
double lace_payload_ratio(unsigned int mtu)
{
	const unsigned int headers = LACE_WIRE_IPV4 + LACE_WIRE_TCP;

	if (mtu <= headers)
		return 0;
	return (double)(mtu - headers) / (mtu + LACE_WIRE_ETHERNET);
}
