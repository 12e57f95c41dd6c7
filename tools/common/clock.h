/* SPDX-License-Identifier: GPL-2.0 */
/* How long something took. */
#ifndef LACE_CLOCK_H
#define LACE_CLOCK_H

/* Seconds since some moment; never backwards. */
double now_s(void);

#endif /* LACE_CLOCK_H */
