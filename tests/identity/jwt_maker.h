/* SPDX-License-Identifier: BSD-2-Clause */
/* jwt_maker: keys and tokens for tests, made with OpenSSL and an encoder of our own. What cannot be made ends the program. */
#ifndef WEIR_TESTS_JWT_MAKER_H
#define WEIR_TESTS_JWT_MAKER_H

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "identity/jwt.h"
#include "policy/image.h"

#define MAKER_SECRET "0123456789abcdef0123456789abcdef" /* 32 bytes */

static inline void maker_must(bool good)
{
	if (!good) {
		printf("Bail out! no key, token or file can be made\n");
		exit(1);
	}
}

/* The caller's; also of bytes that are text. */
static inline char *maker_encode(const void *bytes, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const unsigned char *from = bytes;
	char *out = malloc(size * 2 + 4);
	size_t used = 0;
	uint32_t held = 0;
	unsigned count = 0;

	maker_must(out != NULL);
	for (size_t i = 0; i < size; i++) {
		held = held << 8 | from[i];
		for (count += 8; count >= 6; count -= 6)
			out[used++] = digits[held >> (count - 6) & 63];
	}
	if (count)
		out[used++] = digits[held << (6 - count) & 63];
	out[used] = 0;
	return out;
}

/* What a raw signature is made with. */
struct maker_key {
	EVP_PKEY *pkey;	    /* NULL: HS256 */
	const char *secret; /* of HS256 */
	size_t secret_size;
};

static inline struct maker_key maker_rsa(unsigned bits)
{
	return (struct maker_key){.pkey = EVP_RSA_gen(bits)};
}
static inline struct maker_key maker_p256(void)
{
	return (struct maker_key){.pkey = EVP_EC_gen("P-256")};
}
static inline struct maker_key maker_ed25519(void)
{
	return (struct maker_key){.pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")};
}
static inline struct maker_key maker_secret(const char *secret)
{
	return (struct maker_key){.secret = secret, .secret_size = strlen(secret)};
}

static inline size_t maker_raw_of(const unsigned char *der, size_t size, unsigned char out[64])
{
	ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long)size);

	maker_must(signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature), out, 32) == 32 &&
		   BN_bn2binpad(ECDSA_SIG_get0_s(signature), out + 32, 32) == 32);
	ECDSA_SIG_free(signature);
	return 64;
}

/* The bytes of a signature as RFC 7518 wants them; `out`: 1,024 bytes. */
static inline size_t maker_sign(const struct maker_key *key, const char *text, unsigned char *out)
{
	size_t size = 1024;
	unsigned hmac_size;
	EVP_MD_CTX *context;
	unsigned char der[128];
	bool ed, ec;

	if (!key->pkey) {
		maker_must(HMAC(EVP_sha256(), key->secret, (int)key->secret_size, (const unsigned char *)text,
				strlen(text), out, &hmac_size));
		return hmac_size;
	}
	ed = EVP_PKEY_is_a(key->pkey, "ED25519");
	ec = EVP_PKEY_is_a(key->pkey, "EC");
	context = EVP_MD_CTX_new();
	maker_must(context && EVP_DigestSignInit(context, NULL, ed ? NULL : EVP_sha256(), NULL, key->pkey));
	if (ec)
		size = sizeof der;
	maker_must(EVP_DigestSign(context, ec ? der : out, &size, (const unsigned char *)text,
				  strlen(text)) == 1);
	EVP_MD_CTX_free(context);
	return ec ? maker_raw_of(der, size, out) : size;
}

/* header.payload.signature; the caller's. `key` NULL: no signature, the dot stays. */
static inline char *maker_token(const struct maker_key *key, const char *header, const char *payload)
{
	char *first = maker_encode(header, strlen(header)), *second = maker_encode(payload, strlen(payload));
	char *out = malloc(strlen(first) + strlen(second) + 1500), *third;
	unsigned char signature[1024];
	size_t size = 0;

	maker_must(out != NULL);
	sprintf(out, "%s.%s", first, second);
	if (key)
		size = maker_sign(key, out, signature);
	third = maker_encode(signature, size);
	strcat(strcat(out, "."), third);
	free(first);
	free(second);
	free(third);
	return out;
}

static inline char *maker_number(EVP_PKEY *key, const char *name)
{
	unsigned char bytes[1024];
	BIGNUM *number = NULL;
	char *text;

	maker_must(EVP_PKEY_get_bn_param(key, name, &number) == 1);
	if (name[0] == 'q') /* a coordinate: always 32 bytes */
		maker_must(BN_bn2binpad(number, bytes, 32) == 32);
	else
		maker_must(BN_bn2bin(number, bytes) > 0);
	text = maker_encode(bytes, name[0] == 'q' ? 32 : (size_t)BN_num_bytes(number));
	BN_free(number);
	return text;
}

/* A key as an object of a set; `more`: other members, with a comma before them. The caller's. */
static inline char *maker_jwk(const struct maker_key *key, const char *more)
{
	char *out = malloc(4096), *a, *b = NULL;
	unsigned char bytes[32];
	size_t size = sizeof bytes;

	maker_must(out != NULL);
	if (!key->pkey) {
		a = maker_encode(key->secret, key->secret_size);
		sprintf(out, "{\"kty\":\"oct\",\"k\":\"%s\"%s}", a, more);
	} else if (EVP_PKEY_is_a(key->pkey, "RSA")) {
		a = maker_number(key->pkey, OSSL_PKEY_PARAM_RSA_N);
		b = maker_number(key->pkey, OSSL_PKEY_PARAM_RSA_E);
		sprintf(out, "{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"%s}", a, b, more);
	} else if (EVP_PKEY_is_a(key->pkey, "EC")) {
		a = maker_number(key->pkey, OSSL_PKEY_PARAM_EC_PUB_X);
		b = maker_number(key->pkey, OSSL_PKEY_PARAM_EC_PUB_Y);
		sprintf(out, "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"%s}", a, b, more);
	} else {
		maker_must(EVP_PKEY_get_raw_public_key(key->pkey, bytes, &size) == 1);
		a = maker_encode(bytes, size);
		sprintf(out, "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"%s\"%s}", a, more);
	}
	free(a);
	free(b);
	return out;
}

/* Writes a file with that mode, in place or (`anew`) as another one under the same name. */
static inline void maker_write(const char *path, const char *text, mode_t mode, bool anew)
{
	char temporary[600];
	FILE *file;

	snprintf(temporary, sizeof temporary, anew ? "%s.new" : "%s", path);
	file = fopen(temporary, "w");
	maker_must(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(temporary, mode) == 0);
	if (anew)
		maker_must(rename(temporary, path) == 0);
}

/* A set of up to four objects, which are freed. */
static inline char *maker_set(char *a, char *b, char *c, char *d)
{
	char *objects[] = {a, b, c, d}, *out = malloc(16384);

	maker_must(out != NULL);
	strcpy(out, "{\"keys\":[");
	for (int i = 0; i < 4; i++) {
		if (objects[i])
			strcat(strcat(out, i ? "," : ""), objects[i]);
		free(objects[i]);
	}
	return strcat(out, "]}\n");
}

static inline enum jwt_result maker_verify(struct jwt *jwt, const char *token, int64_t wall_s)
{
	struct jwt_claims *claims;
	enum jwt_result result = jwt_verify(jwt, text_of(token), wall_s, &claims);

	maker_must((result == JWT_VALID) == (claims != NULL));
	jwt_drop(&claims);
	return result;
}

#endif
