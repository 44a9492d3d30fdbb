/* SPDX-License-Identifier: BSD-2-Clause */
/* What is tried against verifiers of tokens, each with the exact answer. The right tokens beside them are believed, so that nothing is
 * refused for another reason than the one that is told. */
#include "tests/identity/jwt_maker.h"
#include "tests/tap.h"

#define NOW	1800000000
#define PAYLOAD "{\"sub\":\"ann\",\"exp\":1800000600}"
#define ALL	(IMAGE_JWT_RS256 | IMAGE_JWT_ES256 | IMAGE_JWT_EDDSA | IMAGE_JWT_HS256)

enum signer {
	NOBODY,
	RSA_SIGNS,
	EC_SIGNS,
	ED_SIGNS,
	SECRET_SIGNS,
	OTHER_RSA_SIGNS,
	OTHER_EC_SIGNS,
	OTHER_ED_SIGNS,
	OTHER_SECRET_SIGNS,
	MODULUS_SIGNS,
	SIGNERS
};
static struct maker_key keys[SIGNERS];

/* Tokens whose header or payload is the trick. */
static const struct {
	const char *what;
	enum jwt_result result;
	enum signer signer;
	const char *header, *payload;
} tokens[] = {
	{"RS256", JWT_VALID, RSA_SIGNS, "{\"alg\":\"RS256\"}", PAYLOAD},
	{"ES256", JWT_VALID, EC_SIGNS, "{\"alg\":\"ES256\"}", PAYLOAD},
	{"EdDSA", JWT_VALID, ED_SIGNS, "{\"alg\":\"EdDSA\"}", PAYLOAD},
	{"Ed25519, EdDSA's other name", JWT_VALID, ED_SIGNS, "{\"alg\":\"Ed25519\"}", PAYLOAD},
	{"HS256", JWT_VALID, SECRET_SIGNS, "{\"alg\":\"HS256\"}", PAYLOAD},
	{"typ and kid", JWT_VALID, RSA_SIGNS, "{\"typ\":\"at+jwt\",\"kid\":\"r\",\"alg\":\"RS256\"}",
	 PAYLOAD},
	{"white space in JSON", JWT_VALID, RSA_SIGNS, " { \"alg\" : \"RS256\" }\r\n", " " PAYLOAD "\n"},
	{"b64 true", JWT_VALID, RSA_SIGNS, "{\"alg\":\"RS256\",\"b64\":true}", PAYLOAD},

	{"none, unsigned", JWT_ALGORITHM, NOBODY, "{\"alg\":\"none\"}", PAYLOAD},
	{"None", JWT_ALGORITHM, NOBODY, "{\"alg\":\"None\"}", PAYLOAD},
	{"NONE", JWT_ALGORITHM, NOBODY, "{\"alg\":\"NONE\"}", PAYLOAD},
	{"none, with a right signature", JWT_ALGORITHM, RSA_SIGNS, "{\"alg\":\"none\"}", PAYLOAD},
	{"an algorithm that is empty", JWT_ALGORITHM, RSA_SIGNS, "{\"alg\":\"\"}", PAYLOAD},
	{"another case", JWT_ALGORITHM, RSA_SIGNS, "{\"alg\":\"rs256\"}", PAYLOAD},
	{"a space behind", JWT_ALGORITHM, RSA_SIGNS, "{\"alg\":\"RS256 \"}", PAYLOAD},
	{"RS512", JWT_ALGORITHM, RSA_SIGNS, "{\"alg\":\"RS512\"}", PAYLOAD},
	{"PS256", JWT_ALGORITHM, RSA_SIGNS, "{\"alg\":\"PS256\"}", PAYLOAD},
	{"HS384", JWT_ALGORITHM, SECRET_SIGNS, "{\"alg\":\"HS384\"}", PAYLOAD},
	{"ES256K", JWT_ALGORITHM, EC_SIGNS, "{\"alg\":\"ES256K\"}", PAYLOAD},
	{"RSA-OAEP", JWT_ALGORITHM, RSA_SIGNS, "{\"alg\":\"RSA-OAEP\",\"enc\":\"A256GCM\"}", PAYLOAD},

	{"a secret's token says RS256", JWT_SIGNATURE, SECRET_SIGNS, "{\"alg\":\"RS256\"}", PAYLOAD},
	{"an RSA key's token says HS256", JWT_SIGNATURE, RSA_SIGNS, "{\"alg\":\"HS256\"}", PAYLOAD},
	{"the RSA modulus as the secret", JWT_SIGNATURE, MODULUS_SIGNS, "{\"alg\":\"HS256\"}", PAYLOAD},
	{"the same, with the RSA key's kid", JWT_NO_KEY, MODULUS_SIGNS, "{\"alg\":\"HS256\",\"kid\":\"r\"}",
	 PAYLOAD},
	{"a P-256 key's token says RS256", JWT_SIGNATURE, EC_SIGNS, "{\"alg\":\"RS256\"}", PAYLOAD},
	{"an Ed25519 key's token says ES256", JWT_SIGNATURE, ED_SIGNS, "{\"alg\":\"ES256\"}", PAYLOAD},
	{"a P-256 key's token says EdDSA", JWT_SIGNATURE, EC_SIGNS, "{\"alg\":\"EdDSA\"}", PAYLOAD},
	{"another RSA key", JWT_SIGNATURE, OTHER_RSA_SIGNS, "{\"alg\":\"RS256\"}", PAYLOAD},
	{"another P-256 key", JWT_SIGNATURE, OTHER_EC_SIGNS, "{\"alg\":\"ES256\"}", PAYLOAD},
	{"another Ed25519 key", JWT_SIGNATURE, OTHER_ED_SIGNS, "{\"alg\":\"EdDSA\"}", PAYLOAD},
	{"another secret", JWT_SIGNATURE, OTHER_SECRET_SIGNS, "{\"alg\":\"HS256\"}", PAYLOAD},
	{"no signature", JWT_SIGNATURE, NOBODY, "{\"alg\":\"RS256\"}", PAYLOAD},
	{"no signature, ES256", JWT_SIGNATURE, NOBODY, "{\"alg\":\"ES256\"}", PAYLOAD},
	{"no signature, EdDSA", JWT_SIGNATURE, NOBODY, "{\"alg\":\"EdDSA\"}", PAYLOAD},
	{"no signature, HS256", JWT_SIGNATURE, NOBODY, "{\"alg\":\"HS256\"}", PAYLOAD},
	{"a key that the token brings along", JWT_SIGNATURE, OTHER_SECRET_SIGNS,
	 "{\"alg\":\"HS256\",\"jwk\":{\"kty\":\"oct\",\"k\":\"enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6eno\"}"
	 "}",
	 PAYLOAD},
	{"a place where keys are", JWT_SIGNATURE, OTHER_RSA_SIGNS,
	 "{\"alg\":\"RS256\",\"jku\":\"https://evil.example/jwks.json\"}", PAYLOAD},

	{"a kid that no key has", JWT_NO_KEY, RSA_SIGNS, "{\"alg\":\"RS256\",\"kid\":\"x\"}", PAYLOAD},
	{"the kid of a key of another kind", JWT_NO_KEY, RSA_SIGNS, "{\"alg\":\"RS256\",\"kid\":\"e\"}",
	 PAYLOAD},
	{"a kid that begins like one", JWT_NO_KEY, RSA_SIGNS, "{\"alg\":\"RS256\",\"kid\":\"\"}", PAYLOAD},
	{"a kid that goes on", JWT_NO_KEY, RSA_SIGNS, "{\"alg\":\"RS256\",\"kid\":\"r/../../dev/null\"}",
	 PAYLOAD},
	{"a kid that is SQL", JWT_NO_KEY, RSA_SIGNS, "{\"alg\":\"RS256\",\"kid\":\"' or 1=1 --\"}", PAYLOAD},

	{"crit", JWT_EXTENSION, RSA_SIGNS, "{\"alg\":\"RS256\",\"crit\":[\"exp\"],\"exp\":1}", PAYLOAD},
	{"crit that is empty", JWT_EXTENSION, RSA_SIGNS, "{\"alg\":\"RS256\",\"crit\":[]}", PAYLOAD},
	{"b64 false", JWT_EXTENSION, RSA_SIGNS, "{\"alg\":\"RS256\",\"crit\":[\"b64\"],\"b64\":false}",
	 PAYLOAD},
	{"b64 false without crit", JWT_EXTENSION, RSA_SIGNS, "{\"alg\":\"RS256\",\"b64\":false}", PAYLOAD},
	{"b64 of another type", JWT_EXTENSION, RSA_SIGNS, "{\"alg\":\"RS256\",\"b64\":\"true\"}", PAYLOAD},

	{"no alg", JWT_MALFORMED, RSA_SIGNS, "{\"typ\":\"JWT\"}", PAYLOAD},
	{"alg is a number", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":256}", PAYLOAD},
	{"alg is a list", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":[\"RS256\"]}", PAYLOAD},
	{"alg is null", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":null}", PAYLOAD},
	{"alg twice", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"none\",\"alg\":\"RS256\"}", PAYLOAD},
	{"alg twice, escaped", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"none\",\"\\u0061lg\":\"RS256\"}",
	 PAYLOAD},
	{"kid is a number", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\",\"kid\":1}", PAYLOAD},
	{"a zero in a string", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\\u0000\"}", PAYLOAD},
	{"the header is a list", JWT_MALFORMED, RSA_SIGNS, "[\"RS256\"]", PAYLOAD},
	{"the header is a string", JWT_MALFORMED, RSA_SIGNS, "\"RS256\"", PAYLOAD},
	{"the header is no JSON", JWT_MALFORMED, RSA_SIGNS, "alg=RS256", PAYLOAD},
	{"the header ends early", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\"", PAYLOAD},
	{"the header goes on", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\"}{}", PAYLOAD},
	{"the header is not UTF-8", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\",\"x\":\"\xff\"}", PAYLOAD},
	{"the header is deep", JWT_MALFORMED, RSA_SIGNS,
	 "{\"alg\":\"RS256\",\"x\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}", PAYLOAD},
	{"brackets in a string are not deep", JWT_VALID, RSA_SIGNS,
	 "{\"alg\":\"RS256\",\"x\":\"[[[[[[[[\\\"[[[[[[[[[[[[\"}", PAYLOAD},

	{"the payload is empty", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\"}", ""},
	{"the payload is a list", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\"}", "[]"},
	{"the payload is a string", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\"}", "\"ann\""},
	{"the payload is no JSON", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\"}", "sub=ann"},
	{"a claim twice", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\"}",
	 "{\"sub\":\"ann\",\"sub\":\"bob\"}"},
	{"the payload is deep", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\"}",
	 "{\"x\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}"},
	{"the payload is a token", JWT_MALFORMED, RSA_SIGNS, "{\"alg\":\"RS256\",\"cty\":\"JWT\"}",
	 "eyJhbGciOiJub25lIn0.e30."},
};

static void try(struct jwt *jwt, const char *token, enum jwt_result result, const char *what)
{
	enum jwt_result got = maker_verify(jwt, token, NOW);

	is_str(jwt_result_sentence(got), jwt_result_sentence(result), what);
}

/* A right token, changed. `%` stands for it. */
static const struct {
	const char *what, *pattern;
	enum jwt_result result;
} shapes[] = {
	{"as it is", "%", JWT_VALID},
	{"a space before", " %", JWT_MALFORMED},
	{"a space behind", "% ", JWT_MALFORMED},
	{"a newline behind", "%\n", JWT_MALFORMED},
	{"padding", "%=", JWT_MALFORMED},
	{"the scheme", "Bearer %", JWT_MALFORMED},
	{"a dot before", ".%", JWT_MALFORMED},
	{"a dot behind", "%.", JWT_MALFORMED},
	{"five parts, as JWE has", "%.AAAA.AAAA", JWT_MALFORMED},
	{"in JSON", "{\"token\":\"%\"}", JWT_MALFORMED},
	{"twice", "%,%", JWT_MALFORMED},
	{"more signature", "%AAAA", JWT_SIGNATURE},
	{"four dots", "....", JWT_MALFORMED},
	{"two dots", "..", JWT_MALFORMED},
	{"one dot", "a.b", JWT_MALFORMED},
	{"no dot", "token", JWT_MALFORMED},
	{"a dot", ".", JWT_MALFORMED},
	{"nothing", "", JWT_MALFORMED},
};

static void try_shapes(struct jwt *jwt)
{
	char *token = maker_token(&keys[RSA_SIGNS], "{\"alg\":\"RS256\"}", PAYLOAD), *out = malloc(4096),
	     *dot;

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		size_t used = 0;

		for (const char *c = shapes[i].pattern; *c; c++)
			used += (size_t)(*c == '%' ? sprintf(out + used, "%s", token)
						   : sprintf(out + used, "%c", *c));
		out[used] = 0;
		try(jwt, out, shapes[i].result, shapes[i].what);
	}
	/* 256 bytes of signature are 342 characters: four bits of the last one are none of them */
	strcpy(out, token);
	out[strlen(out) - 1]++;
	try(jwt, out, JWT_MALFORMED, "the last character's bits that say nothing");
	strcpy(out, token);
	*strrchr(out, '.') = 0;
	try(jwt, out, JWT_MALFORMED, "without the second dot");
	strcpy(out, token);
	dot = strchr(out, '.');
	memmove(dot + 1, dot, strlen(dot) + 1);
	*dot = '=';
	try(jwt, out, JWT_MALFORMED, "padding inside");
	free(out);
	free(token);
}

/* Signatures that are right, in another form. */
static void try_signatures(struct jwt *jwt)
{
	char *token = maker_token(&keys[EC_SIGNS], "{\"alg\":\"ES256\"}", PAYLOAD),
	     *dot = strrchr(token, '.') + 1;
	unsigned char raw[80] = {0};
	char *zero;

	zero = maker_encode(raw, 64);
	strcpy(dot, zero);
	try(jwt, token, JWT_SIGNATURE, "r and s are 0 (a token for everybody, once, in Java)");
	free(zero);
	*--dot = 0;
	maker_sign(&keys[EC_SIGNS], token, raw);
	zero = maker_encode(raw, 63);
	*dot = '.';
	strcpy(dot + 1, zero);
	free(zero);
	try(jwt, token, JWT_SIGNATURE, "63 bytes");
	zero = maker_encode(raw, 65);
	strcpy(dot + 1, zero);
	free(zero);
	try(jwt, token, JWT_SIGNATURE, "65 bytes");
	memmove(raw + 8, raw, 64);
	memcpy(raw, "\x30\x46\x02\x21\x00", 5);
	zero = maker_encode(raw, 72);
	strcpy(dot + 1, zero);
	free(zero);
	try(jwt, token, JWT_SIGNATURE, "as DER");
	free(token);
}

static void try_sizes(struct jwt *jwt)
{
	char *text = malloc(3 * JWT_TOKEN_MAX), *token;
	size_t room = JWT_TOKEN_MAX - 20 - 1 - 1 - 43; /* of the payload: all but header, dots, signature */

	maker_must(text != NULL);
	sprintf(text, "{\"x\":\"%*s\"}", (int)(room / 4 * 3 - 8), "");
	token = maker_token(&keys[SECRET_SIGNS], "{\"alg\":\"HS256\"}", text);
	note("%zu bytes", strlen(token));
	ok(strlen(token) > JWT_TOKEN_MAX - 8 && strlen(token) <= JWT_TOKEN_MAX,
	   "about the largest that fits");
	try(jwt, token, JWT_VALID, "is believed");
	free(token);
	sprintf(text, "{\"x\":\"%*s\"}", (int)(room / 4 * 3), "");
	token = maker_token(&keys[SECRET_SIGNS], "{\"alg\":\"HS256\"}", text);
	ok(strlen(token) > JWT_TOKEN_MAX && strlen(token) < JWT_TOKEN_MAX + 16, "a little more");
	try(jwt, token, JWT_TOO_LARGE, "is not");
	free(token);
	sprintf(text, "{\"alg\":\"HS256\",\"x\":\"%*s\"}", 2048 - 22, "");
	is_u64(strlen(text), 2048, "the largest header");
	token = maker_token(&keys[SECRET_SIGNS], text, PAYLOAD);
	try(jwt, token, JWT_VALID, "is believed");
	free(token);
	sprintf(text, "{\"alg\":\"HS256\",\"x\":\"%*s\"}", 2049 - 22, "");
	token = maker_token(&keys[SECRET_SIGNS], text, PAYLOAD);
	try(jwt, token, JWT_TOO_LARGE, "one byte more is not");
	free(token);
	free(text);
}

/* The same keys, fewer algorithms. */
static void try_fewer(const char *set)
{
	static const enum signer signers[] = {RSA_SIGNS, EC_SIGNS, ED_SIGNS, SECRET_SIGNS};
	static const char *const names[] = {"RS256", "ES256", "EdDSA", "HS256"};

	for (unsigned allowed = 0; allowed < 4; allowed++) {
		struct jwt_rules rules = {.algorithms = 1u << allowed, .jwks_file = set};
		struct jwt *jwt = jwt_new(&rules);

		for (unsigned i = 0; i < 4; i++) {
			char header[32], what[64];
			char *token;

			snprintf(header, sizeof header, "{\"alg\":\"%s\"}", names[i]);
			snprintf(what, sizeof what, "%s where only %s is named", names[i], names[allowed]);
			token = maker_token(&keys[signers[i]], header, PAYLOAD);
			try(jwt, token, i == allowed ? JWT_VALID : JWT_ALGORITHM, what);
			free(token);
		}
		jwt_free(&jwt);
	}
}

int main(void)
{
	char folder[] = "/tmp/weir-test-XXXXXX", path[64], *set;
	struct jwt_rules rules = {.algorithms = ALL, .jwks_file = path};
	struct jwt *jwt;

	keys[RSA_SIGNS] = maker_rsa(2048), keys[OTHER_RSA_SIGNS] = maker_rsa(2048);
	keys[EC_SIGNS] = maker_p256(), keys[OTHER_EC_SIGNS] = maker_p256();
	keys[ED_SIGNS] = maker_ed25519(), keys[OTHER_ED_SIGNS] = maker_ed25519();
	keys[SECRET_SIGNS] = maker_secret(MAKER_SECRET);
	keys[OTHER_SECRET_SIGNS] = maker_secret("zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz");
	keys[MODULUS_SIGNS] = maker_secret(maker_number(keys[RSA_SIGNS].pkey, OSSL_PKEY_PARAM_RSA_N));
	maker_must(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/jwks.json", folder);
	set = maker_set(maker_jwk(&keys[RSA_SIGNS], ",\"kid\":\"r\""),
			maker_jwk(&keys[EC_SIGNS], ",\"kid\":\"e\""),
			maker_jwk(&keys[ED_SIGNS], ",\"kid\":\"d\""),
			maker_jwk(&keys[SECRET_SIGNS], ",\"kid\":\"s\""));
	maker_write(path, set, 0600, false);
	free(set);
	jwt = jwt_new(&rules);
	for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
		char *token = maker_token(tokens[i].signer ? &keys[tokens[i].signer] : NULL, tokens[i].header,
					  tokens[i].payload);

		try(jwt, token, tokens[i].result, tokens[i].what);
		try(jwt, token, tokens[i].result, "the second time too");
		free(token);
	}
	try_shapes(jwt);
	try_signatures(jwt);
	try_sizes(jwt);
	try_fewer(path);
	jwt_free(&jwt);
	unlink(path);
	rmdir(folder);
	return done_testing();
}
