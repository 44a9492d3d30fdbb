/* SPDX-License-Identifier: BSD-2-Clause */
/* hmac: OpenSSL's compression function (it finds the processor's SHA instructions), the padding done here: EVP allocates
 * and looks up by name for each message, which costs several times the hash. */
#define OPENSSL_API_COMPAT 0x10101000L /* SHA256_Transform has no successor that takes a state */
#include "identity/hmac.h"

#include <openssl/sha.h>
#include <string.h>

#define BLOCK 64u

static void begin(SHA256_CTX *sha, const uint32_t state[8])
{
	SHA256_Init(sha);
	memcpy(sha->h, state, sizeof sha->h);
}

static void key_block(uint32_t state[8], const void *bytes, size_t size, uint8_t pad)
{
	uint8_t block[BLOCK] = {0};
	SHA256_CTX sha;
	memcpy(block, bytes, size < BLOCK ? size : BLOCK);
	for (size_t i = 0; i < BLOCK; i++)
		block[i] ^= pad;
	SHA256_Init(&sha);
	SHA256_Transform(&sha, block);
	memcpy(state, sha.h, sizeof sha.h);
}

void hmac_key_init(struct hmac_key *key, const void *bytes, size_t size)
{
	key_block(key->inner, bytes, size, 0x36);
	key_block(key->outer, bytes, size, 0x5c);
}

/* The last part of a message, with its end and length: one block or two. `before`: bytes that went before, the key's
 * block included. */
static void finish(SHA256_CTX *sha, const uint8_t *rest, size_t size, uint64_t before, uint8_t out[HMAC_SIZE])
{
	uint8_t block[2 * BLOCK] = {0};
	size_t end = size + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
	uint64_t bits = __builtin_bswap64((before + size) * 8);
	memcpy(block, rest, size);
	block[size] = 0x80;
	memcpy(block + end - 8, &bits, 8);
	for (size_t at = 0; at < end; at += BLOCK)
		SHA256_Transform(sha, block + at);
	for (size_t i = 0; i < 8; i++) {
		uint32_t word = __builtin_bswap32(sha->h[i]);
		memcpy(out + 4 * i, &word, 4);
	}
}

void hmac_of(const struct hmac_key *key, const void *bytes, size_t size, uint8_t out[HMAC_SIZE])
{
	const uint8_t *at = bytes;
	uint64_t before = BLOCK;
	SHA256_CTX sha;
	begin(&sha, key->inner);
	for (; size >= BLOCK; size -= BLOCK, at += BLOCK, before += BLOCK)
		SHA256_Transform(&sha, at);
	finish(&sha, size ? at : (const uint8_t *)"", size, before, out);
	begin(&sha, key->outer);
	finish(&sha, out, HMAC_SIZE, BLOCK, out);
}
