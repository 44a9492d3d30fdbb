/* SPDX-License-Identifier: BSD-2-Clause */
/* jwk: what a key says that it is for, and its bytes. The mathematics are OpenSSL's: identity/jwk_public.c. */
#include "identity/jwk.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "identity/base64url.h"
#include "identity/jwk_public.h"
#include "policy/image.h"

static const struct {
	const char *name;
	uint32_t algorithm;
} names[] = {
	{"RS256", IMAGE_JWT_RS256},   {"ES256", IMAGE_JWT_ES256}, {"EdDSA", IMAGE_JWT_EDDSA},
	{"Ed25519", IMAGE_JWT_EDDSA}, {"HS256", IMAGE_JWT_HS256},
};

uint32_t jwk_algorithm(struct text name)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (text_equal(name, text_of(names[i].name)))
			return names[i].algorithm;
	return 0;
}

static enum jwk_read left_out(const char *reason, char *why, size_t size)
{
	if (size)
		snprintf(why, size, "%s", reason);
	return JWK_LEFT_OUT;
}

static struct text string(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return (struct text){json_string_value(value), json_string_length(value)};
}

/* Not there is no restriction; there, and not as it should be, is one that nothing meets. */
static bool for_verifying(const json_t *object, uint32_t algorithm)
{
	const json_t *ops = json_object_get(object, "key_ops"), *op;
	bool verify = !ops;
	size_t i;

	if (json_object_get(object, "use") && !text_equal(string(object, "use"), TEXT("sig")))
		return false;
	if (json_object_get(object, "alg") && jwk_algorithm(string(object, "alg")) != algorithm)
		return false;
	json_array_foreach(ops, i, op)
		verify |= json_is_string(op) && strcmp(json_string_value(op), "verify") == 0;
	return verify;
}

bool jwk_secret(struct text bytes, struct jwk *out)
{
	*out = (struct jwk){.algorithm = IMAGE_JWT_HS256, .secret = malloc(bytes.size)};
	if (!out->secret)
		return false;
	memcpy(out->secret, bytes.data, bytes.size);
	out->secret_size = bytes.size;
	return true;
}

static enum jwk_read read_secret(const json_t *object, struct jwk *out, char *why, size_t size)
{
	struct text k = string(object, "k");
	struct text bytes = {malloc(BASE64URL_BYTES(k.size)), 0};
	enum jwk_read result;

	if (!bytes.data)
		return JWK_NO_MEMORY;
	if (!base64url_decode(k, (char *)bytes.data, BASE64URL_BYTES(k.size), &bytes.size))
		result = left_out("its k is not base64url", why, size);
	else if (bytes.size < JWK_SECRET_MIN)
		result = left_out("a secret of less than 32 bytes", why, size);
	else
		result = jwk_secret(bytes, out) ? JWK_TAKEN : JWK_NO_MEMORY;
	OPENSSL_cleanse((char *)bytes.data, BASE64URL_BYTES(k.size));
	free((char *)bytes.data);
	return result;
}

static enum jwk_read read_kind(const json_t *object, struct jwk *out, char *why, size_t size)
{
	struct text kty = string(object, "kty"), crv = string(object, "crv");
	const char *reason = "of a kind that is not used here";

	if (text_equal(kty, TEXT("oct")))
		out->algorithm = IMAGE_JWT_HS256;
	else if (text_equal(kty, TEXT("RSA")))
		out->algorithm = IMAGE_JWT_RS256;
	else if (text_equal(kty, TEXT("EC")) && text_equal(crv, TEXT("P-256")))
		out->algorithm = IMAGE_JWT_ES256;
	else if (text_equal(kty, TEXT("OKP")) && text_equal(crv, TEXT("Ed25519")))
		out->algorithm = IMAGE_JWT_EDDSA;
	if (!out->algorithm)
		return left_out(reason, why, size);
	if (!for_verifying(object, out->algorithm))
		return left_out("its use, key_ops or alg is another", why, size);
	switch (out->algorithm) {
	case IMAGE_JWT_HS256:
		return read_secret(object, out, why, size);
	case IMAGE_JWT_RS256:
		out->key = jwk_public_rsa(string(object, "n"), string(object, "e"), &reason);
		break;
	case IMAGE_JWT_ES256:
		out->key = jwk_public_p256(string(object, "x"), string(object, "y"), &reason);
		break;
	default:
		out->key = jwk_public_ed25519(string(object, "x"), &reason);
	}
	return out->key ? JWK_TAKEN : left_out(reason, why, size);
}

enum jwk_read jwk_read(const json_t *object, struct jwk *out, char *why, size_t size)
{
	const json_t *kid = json_object_get(object, "kid");
	enum jwk_read result;

	memset(out, 0, sizeof *out);
	if (!json_is_object(object))
		return left_out("not an object", why, size);
	if (kid && !json_is_string(kid))
		return left_out("its kid is not a string", why, size);
	result = read_kind(object, out, why, size);
	if (result == JWK_TAKEN && kid) {
		out->kid_size = json_string_length(kid);
		out->kid = malloc(out->kid_size + 1);
		if (out->kid)
			memcpy(out->kid, json_string_value(kid), out->kid_size + 1);
		else
			result = JWK_NO_MEMORY;
	}
	if (result != JWK_TAKEN)
		jwk_clear(out);
	return result;
}

bool jwk_is_secret(const json_t *object)
{
	return text_equal(string(object, "kty"), TEXT("oct")) || json_object_get(object, "d") ||
	       json_object_get(object, "k");
}

void jwk_clear(struct jwk *key)
{
	EVP_PKEY_free(key->key);
	if (key->secret)
		OPENSSL_cleanse(key->secret, key->secret_size);
	free(key->secret);
	free(key->kid);
	memset(key, 0, sizeof *key);
}
