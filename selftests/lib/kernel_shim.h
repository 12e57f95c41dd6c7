/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module's pure code takes from the kernel, for user space: names of
 * integers, and SipHash-2-4, as the kernel's siphash() computes it.
 */
#ifndef SELFTESTS_KERNEL_SHIM_H
#define SELFTESTS_KERNEL_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

typedef struct {
	u64 key[2];
} siphash_key_t;

static inline u64 shim_rotate(u64 x, int n)
{
	return x << n | x >> (64 - n);
}

static inline void shim_round(u64 v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = shim_rotate(v[1], 13) ^ v[0];
	v[3] = shim_rotate(v[3], 16) ^ v[2];
	v[0] = shim_rotate(v[0], 32) + v[3];
	v[2] += v[1];
	v[1] = shim_rotate(v[1], 17) ^ v[2];
	v[3] = shim_rotate(v[3], 21) ^ v[0];
	v[2] = shim_rotate(v[2], 32);
}

static inline u64 siphash(const void *data, size_t len,
			  const siphash_key_t *key)
{
	u64 v[4] = { key->key[0] ^ 0x736f6d6570736575,
		     key->key[1] ^ 0x646f72616e646f6d,
		     key->key[0] ^ 0x6c7967656e657261,
		     key->key[1] ^ 0x7465646279746573 };
	const u8 *byte = data;
	u64 word = 0;
	size_t i;

	for (i = 0; i <= (len | 7); i++) {
		word |= (u64)(i < len ? byte[i] : 0) << 8 * (i % 8);
		if (i == (len | 7))
			word |= (u64)(len & 0xff) << 56;
		if (i % 8 != 7)
			continue;
		v[3] ^= word;
		shim_round(v);
		shim_round(v);
		v[0] ^= word;
		word = 0;
	}
	v[2] ^= 0xff;
	for (i = 0; i < 4; i++)
		shim_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif /* SELFTESTS_KERNEL_SHIM_H */
