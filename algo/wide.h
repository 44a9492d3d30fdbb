/* SPDX-License-Identifier: BSD-2-Clause */
/* wide: 64-bit numbers multiplied and divided through 128 bits, so that nothing in algo overflows. */
#ifndef WEIR_ALGO_WIDE_H
#define WEIR_ALGO_WIDE_H

#include <stdint.h>

typedef unsigned __int128 wide;

/* floor(a * b / 2^64): one multiplication on every 64-bit machine. */
static inline uint64_t wide_high(uint64_t a, uint64_t b)
{
	return (uint64_t)((wide)a * b >> 64);
}

/* ceil(a / b), UINT64_MAX if that is more than 64 bits hold. b > 0, a < 2^127. Divides: not for the hot path. */
static inline uint64_t wide_ceil(wide a, uint64_t b)
{
	wide quotient = (a + b - 1) / b;
	return quotient > UINT64_MAX ? UINT64_MAX : (uint64_t)quotient;
}

#endif
