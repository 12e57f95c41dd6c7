/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * What of a lane's rate reaches the application: the plan counts payload, a
 * lane carries frames.
 */
#ifndef LACE_WIRE_H
#define LACE_WIRE_H

#define LACE_WIRE_ETHERNET 14		/* header; FCS and preamble not counted */
#define LACE_WIRE_IPV4 20
#define LACE_WIRE_TCP 32		/* with timestamps, as Linux sends it */

/* Share of a lane's rate that is TCP payload, full frames over IPv4: 1448/1514
 * for an MTU of 1500.  0 if the MTU has no room for payload.
 */
double lace_payload_ratio(unsigned int mtu);

#endif /* LACE_WIRE_H */
