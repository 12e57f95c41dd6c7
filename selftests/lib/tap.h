/* SPDX-License-Identifier: GPL-2.0 */
/* Results of unit tests as TAP: a plan first, and an end that keeps to it. */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

#include <stdbool.h>

void tap_plan(unsigned int nr);
/* Returns passed. */
bool tap_check(bool passed, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A line for people, after a result that needs one. */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Exit status: 0 if all that was planned passed. */
int tap_end(void);

/* Both numbers to nine digits. */
bool tap_near(double is, double should);

#endif /* SELFTESTS_TAP_H */
