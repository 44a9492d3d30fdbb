/* SPDX-License-Identifier: BSD-2-Clause */
/* siphash: the two instances by name, for callers that are not in a hurry. */
#include "table/siphash.h"

struct siphash_128 siphash_1_3(const struct siphash_key *key, const void *bytes, size_t size)
{
	return siphash_generic(key, bytes, size, 1, 3);
}

struct siphash_128 siphash_2_4(const struct siphash_key *key, const void *bytes, size_t size)
{
	return siphash_generic(key, bytes, size, 2, 4);
}
