/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jwt: hostile tokens, hostile sets of keys. The first byte says which: 's' a set; 'p' a payload, signed right, so that what comes
 * behind the signature is reached; 'h' a header, and behind its first line a payload, signed right; else a token as it is. Whatever is
 * believed has a right signature, and is believed, or not, a second time as well.
 */
#include <openssl/hmac.h>
#include <stdlib.h>
#include <unistd.h>

#include "identity/jwks.h"
#include "identity/jws.h"
#include "policy/image.h"

#define SECRET "0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static struct jwt *verifier(void)
{
	char path[] = "/tmp/weir-fuzz-XXXXXX";
	struct jwt_rules rules = {.algorithms = IMAGE_JWT_HS256 | IMAGE_JWT_RS256 | IMAGE_JWT_EDDSA,
				  .secret_file = path,
				  .leeway_s = 5};
	int fd = mkstemp(path);
	struct jwt *jwt;

	must(fd >= 0 && write(fd, SECRET, 32) == 32 && close(fd) == 0);
	jwt = jwt_new(&rules);
	must(jwt != NULL);
	unlink(path);
	return jwt;
}

static size_t encode(const void *bytes, size_t size, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const unsigned char *from = bytes;
	unsigned held = 0, count = 0;
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		held = (held << 8 | from[i]) & 0xffff;
		for (count += 8; count >= 6; count -= 6)
			out[used++] = digits[held >> (count - 6) & 63];
	}
	if (count)
		out[used++] = digits[held << (6 - count) & 63];
	return used;
}

static void try_claims(const struct jwt_claims *claims, struct text name)
{
	struct text value;

	must(jwt_claim(claims, name, &value) == (value.size != 0));
	jwt_claim(claims, TEXT("sub"), &value);
	jwt_claim(claims, TEXT("a.b"), &value);
}

static enum jwt_result try_token(struct jwt *jwt, struct text token)
{
	static const int64_t times[] = {0, 1800000000, INT64_MAX};
	enum jwt_result last = JWT_VALID;

	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		struct jwt_claims *claims, *again;
		enum jwt_result first = jwt_verify(jwt, token, times[i], &claims);
		uint64_t checks = jwt_checks(jwt);

		must((first == JWT_VALID) == (claims != NULL) && jwt_result_sentence(first)[0]);
		must(jwt_verify(jwt, token, times[i], &again) == first && again == claims);
		must(jwt_checks(jwt) == checks);
		if (claims)
			try_claims(claims, token);
		jwt_drop(&again);
		jwt_drop(&claims);
		last = first;
	}
	return last;
}

/* What is believed is signed: by an HMAC of our own over all but the last part. */
static void must_be_signed(struct text token)
{
	const char *dot = memrchr(token.data, '.', token.size);
	size_t size = (size_t)(dot - token.data);
	unsigned char mac[32];
	char text[44];

	must(dot && HMAC(EVP_sha256(), SECRET, 32, (const unsigned char *)token.data, size, mac, NULL));
	must(encode(mac, 32, text) == 43 && token.size - size - 1 == 43 && memcmp(dot + 1, text, 43) == 0);
}

static void try_signed(struct jwt *jwt, struct text header, struct text payload)
{
	char *out = malloc(2 * (header.size + payload.size) + 128), *exact;
	unsigned char mac[32];
	size_t used = encode(header.data, header.size, out);

	out[used++] = '.';
	used += encode(payload.data, payload.size, out + used);
	must(HMAC(EVP_sha256(), SECRET, 32, (unsigned char *)out, used, mac, NULL) != NULL);
	out[used++] = '.';
	used += encode(mac, 32, out + used);
	exact = malloc(used);
	memcpy(exact, out, used);
	must(try_token(jwt, (struct text){exact, used}) != JWT_SIGNATURE);
	free(exact);
	free(out);
}

static void try_set(struct text text)
{
	char why[64] = "";
	struct jwks set;

	if (jwks_parse(text, &set, why, sizeof why))
		must(set.count && set.count + set.left_out <= JWKS_KEYS_MAX && !why[0]);
	else
		must(!set.keys && !set.count && why[0]);
	for (size_t i = 0; i < set.count; i++)
		must(set.keys[i].algorithm && (set.keys[i].key != NULL) != (set.keys[i].secret != NULL));
	jwks_clear(&set);
	jwks_clear(&set);
}

static void try_one(struct jwt *jwt, char kind, struct text text)
{
	const char *line = text.size ? memchr(text.data, '\n', text.size) : NULL;
	struct jwt_claims *claims;
	struct text first = text;

	if (kind == 's') {
		try_set(text);
	} else if (kind == 'p') {
		try_signed(jwt, TEXT("{\"alg\":\"HS256\"}"), text);
	} else if (kind == 'h' && line) {
		first.size = (size_t)(line - text.data);
		try_signed(jwt, first, (struct text){line + 1, text.size - first.size - 1});
	} else {
		try_token(jwt, text);
		if (jwt_verify(jwt, text, 0, &claims) == JWT_VALID)
			must_be_signed(text);
		jwt_drop(&claims);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct jwt *jwt;
	char *bytes;

	if (!jwt)
		jwt = verifier();
	if (!size)
		return 0;
	/* a copy of exactly this size, so that reading beyond it shows */
	bytes = malloc(size - 1 ? size - 1 : 1);
	memcpy(bytes, data + 1, size - 1);
	try_one(jwt, (char)data[0], (struct text){bytes, size - 1});
	free(bytes);
	return 0;
}
