/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hmac: HMAC-SHA-256 (RFC 2104, FIPS 180-4) of short messages under one key that is used often: the two blocks that depend
 * on the key alone are done once, so that a secret of up to 55 bytes costs two compressions and no allocation.
 */
#ifndef WEIR_IDENTITY_HMAC_H
#define WEIR_IDENTITY_HMAC_H

#include <stddef.h>
#include <stdint.h>

#define HMAC_SIZE 32u

struct hmac_key {
	uint32_t inner[8], outer[8]; /* SHA-256's state behind the first block */
};

/* A key of 0 to 64 bytes. */
void hmac_key_init(struct hmac_key *key, const void *bytes, size_t size);
/* `out`: HMAC_SIZE bytes. Any thread. */
void hmac_of(const struct hmac_key *key, const void *bytes, size_t size, uint8_t out[HMAC_SIZE]);

#endif
