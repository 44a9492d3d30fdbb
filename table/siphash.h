/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * siphash: a keyed hash that an attacker who does not know the key cannot steer (T3).
 *
 * J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF" (2012), and the 128-bit output of
 * the authors' reference. The table uses 1-3, as Rust and Linux's hash tables do; 2-4 is there because
 * the published test vectors are for it, and both run through the same code.
 */
#ifndef WEIR_TABLE_SIPHASH_H
#define WEIR_TABLE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct siphash_key {
	uint64_t k0, k1;
};
struct siphash_128 {
	uint64_t lo, hi; /* the reference's first and last eight bytes, read as little-endian */
};

struct siphash_state {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t siphash_rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void siphash_round(struct siphash_state *s)
{
	s->v0 += s->v1;
	s->v1 = siphash_rotate(s->v1, 13) ^ s->v0;
	s->v0 = siphash_rotate(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = siphash_rotate(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = siphash_rotate(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = siphash_rotate(s->v1, 17) ^ s->v2;
	s->v2 = siphash_rotate(s->v2, 32);
}

/* Inline and with constant rounds, so that the hot path has neither call nor loop over rounds. */
static inline __attribute__((always_inline)) struct siphash_128
siphash_generic(const struct siphash_key *key, const void *bytes, size_t size, int rounds, int final_rounds)
{
	struct siphash_state s = {
		key->k0 ^ UINT64_C(0x736f6d6570736575),
		key->k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee, /* 0xee, 0xdd: the 128-bit variant */
		key->k0 ^ UINT64_C(0x6c7967656e657261),
		key->k1 ^ UINT64_C(0x7465646279746573),
	};
	const unsigned char *p = bytes;
	size_t left = size;
	uint64_t m;

	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&m, p, 8); /* little-endian machines only: static_assert in layout.h */
		s.v3 ^= m;
		for (int i = 0; i < rounds; i++)
			siphash_round(&s);
		s.v0 ^= m;
	}
	m = (uint64_t)size << 56;
	for (size_t i = 0; i < left; i++)
		m |= (uint64_t)p[i] << (8 * i);
	s.v3 ^= m;
	for (int i = 0; i < rounds; i++)
		siphash_round(&s);
	s.v0 ^= m;

	struct siphash_128 out;
	s.v2 ^= 0xee;
	for (int i = 0; i < final_rounds; i++)
		siphash_round(&s);
	out.lo = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
	s.v1 ^= 0xdd;
	for (int i = 0; i < final_rounds; i++)
		siphash_round(&s);
	out.hi = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
	return out;
}

struct siphash_128 siphash_1_3(const struct siphash_key *key, const void *bytes, size_t size);
struct siphash_128 siphash_2_4(const struct siphash_key *key, const void *bytes, size_t size);

#endif
