/* SPDX-License-Identifier: BSD-2-Clause */
/* jws_signature: RFC 7518 3, RFC 8037 3.1, with OpenSSL. Its error queue is left as it was found: nginx reads it too. */
#include "identity/jws.h"

#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "policy/image.h"

#define P256_BYTES    32
#define P256_DER_MAX  80 /* 2 + 2 * (2 + 33) */
#define ED25519_BYTES 64
#define SECRET_BYTES  32

/* r and s, 32 bytes each, as the DER that OpenSSL reads. 0: no memory. */
static size_t der_of(const unsigned char *raw, unsigned char out[P256_DER_MAX])
{
	ECDSA_SIG *signature = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(raw, P256_BYTES, NULL), *s = BN_bin2bn(raw + P256_BYTES, P256_BYTES, NULL);
	int size = 0;

	if (signature && r && s && ECDSA_SIG_set0(signature, r, s)) {
		r = s = NULL; /* the signature's now */
		size = i2d_ECDSA_SIG(signature, &out);
	}
	BN_free(r);
	BN_free(s);
	ECDSA_SIG_free(signature);
	return size > 0 ? (size_t)size : 0;
}

static bool verify(EVP_PKEY *key, const EVP_MD *digest, struct text signature, struct text text)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool good = context && EVP_DigestVerifyInit(context, NULL, digest, NULL, key) == 1 &&
		    EVP_DigestVerify(context, (const unsigned char *)signature.data, signature.size,
				     (const unsigned char *)text.data, text.size) == 1;

	EVP_MD_CTX_free(context);
	return good;
}

static bool verify_p256(const struct jws *jws, const struct jwk *key)
{
	unsigned char der[P256_DER_MAX];
	size_t size;

	if (jws->signature.size != 2 * P256_BYTES)
		return false;
	size = der_of((const unsigned char *)jws->signature.data, der);
	return size && verify(key->key, EVP_sha256(), (struct text){(char *)der, size}, jws->signed_part);
}

static bool verify_secret(const struct jws *jws, const struct jwk *key)
{
	unsigned char expected[SECRET_BYTES];

	return jws->signature.size == sizeof expected && key->secret_size <= INT32_MAX &&
	       HMAC(EVP_sha256(), key->secret, (int)key->secret_size,
		    (const unsigned char *)jws->signed_part.data, jws->signed_part.size, expected, NULL) &&
	       CRYPTO_memcmp(expected, jws->signature.data, sizeof expected) == 0;
}

bool jws_signed_by(const struct jws *jws, const struct jwk *key)
{
	bool good = false;

	ERR_set_mark();
	switch (key->algorithm) {
	case IMAGE_JWT_RS256:
		good = verify(key->key, EVP_sha256(), jws->signature, jws->signed_part);
		break;
	case IMAGE_JWT_ES256:
		good = verify_p256(jws, key);
		break;
	case IMAGE_JWT_EDDSA:
		good = jws->signature.size == ED25519_BYTES &&
		       verify(key->key, NULL, jws->signature, jws->signed_part);
		break;
	case IMAGE_JWT_HS256:
		good = verify_secret(jws, key);
	}
	ERR_pop_to_mark();
	return good;
}
