/* SPDX-License-Identifier: BSD-2-Clause */
/* jwk_public: OpenSSL's keys. Its error queue is left as it was found: nginx reads it too. */
#include "identity/jwk_public.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "identity/base64url.h"

#define RSA_BYTES_MAX 1024u
#define P256_BYTES    32u
#define ED25519_BYTES 32u

static EVP_PKEY *from_params(const char *type, OSSL_PARAM *params)
{
	EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	EVP_PKEY *key = NULL;

	if (!context || !params || EVP_PKEY_fromdata_init(context) != 1 ||
	    EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
		key = NULL;
	EVP_PKEY_CTX_free(context);
	return key;
}

static EVP_PKEY *rsa_key(const BIGNUM *n, const BIGNUM *e)
{
	OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
	OSSL_PARAM *params = NULL;
	EVP_PKEY *key = NULL;

	if (builder && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) &&
	    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e))
		params = OSSL_PARAM_BLD_to_param(builder);
	if (params)
		key = from_params("RSA", params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(builder);
	return key;
}

EVP_PKEY *jwk_public_rsa(struct text n, struct text e, const char **reason)
{
	unsigned char n_bytes[RSA_BYTES_MAX + 1], e_bytes[RSA_BYTES_MAX + 1];
	size_t n_size, e_size;
	BIGNUM *modulus = NULL, *exponent = NULL;
	EVP_PKEY *key = NULL;

	*reason = "its n or e is not base64url, or too long";
	if (!base64url_decode(n, n_bytes, sizeof n_bytes, &n_size) ||
	    !base64url_decode(e, e_bytes, sizeof e_bytes, &e_size))
		return NULL;
	ERR_set_mark();
	modulus = BN_bin2bn(n_bytes, (int)n_size, NULL);
	exponent = BN_bin2bn(e_bytes, (int)e_size, NULL);
	if (!modulus || !exponent)
		*reason = "out of memory";
	else if (BN_num_bits(modulus) < 2048 || BN_num_bits(modulus) > (int)RSA_BYTES_MAX * 8)
		*reason = "RSA of less than 2048 or more than 8192 bits";
	else if (!BN_is_odd(modulus) || !BN_is_odd(exponent) || BN_num_bits(exponent) < 2 ||
		 BN_num_bits(exponent) > 64)
		*reason = "RSA with a modulus or an exponent that none has";
	else if (!(key = rsa_key(modulus, exponent)))
		*reason = "not an RSA key";
	BN_free(modulus);
	BN_free(exponent);
	ERR_pop_to_mark();
	return key;
}

EVP_PKEY *jwk_public_p256(struct text x, struct text y, const char **reason)
{
	unsigned char point[1 + 2 * P256_BYTES] = {4}; /* uncompressed */
	char group[] = "P-256";
	size_t x_size, y_size;
	OSSL_PARAM params[3] = {
		OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
		OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point),
		OSSL_PARAM_construct_end(),
	};
	EVP_PKEY *key;

	*reason = "its x or y is not 32 bytes in base64url";
	if (!base64url_decode(x, point + 1, P256_BYTES, &x_size) || x_size != P256_BYTES ||
	    !base64url_decode(y, point + 1 + P256_BYTES, P256_BYTES, &y_size) || y_size != P256_BYTES)
		return NULL;
	*reason = "not a point of P-256";
	ERR_set_mark();
	key = from_params("EC", params);
	ERR_pop_to_mark();
	return key;
}

EVP_PKEY *jwk_public_ed25519(struct text x, const char **reason)
{
	unsigned char bytes[ED25519_BYTES];
	EVP_PKEY *key;
	size_t size;

	*reason = "its x is not 32 bytes in base64url";
	if (!base64url_decode(x, bytes, sizeof bytes, &size) || size != sizeof bytes)
		return NULL;
	*reason = "not an Ed25519 key";
	ERR_set_mark();
	key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes, sizeof bytes);
	ERR_pop_to_mark();
	return key;
}
