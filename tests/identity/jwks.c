/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of keys: what is taken, what is left out and why, what is no set. And with how many keys one token is tried. */
#include "identity/jwks.h"
#include "tests/identity/jwt_maker.h"
#include "tests/tap.h"

#define X	"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define Y	"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define ED	"\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\""
#define EC	"\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" Y "\""
#define OCT	"\"kty\":\"oct\",\"k\":\"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY\""
#define FOREIGN "its use, key_ops or alg is another"
#define UNKNOWN "of a kind that is not used here"

static const struct {
	const char *key, *left_out; /* NULL: taken */
} keys[] = {
	{"{" ED "}", NULL},
	{"{" EC "}", NULL},
	{"{" OCT "}", NULL},
	{"{" ED
	 ",\"use\":\"sig\",\"alg\":\"EdDSA\",\"key_ops\":[\"verify\"],\"kid\":\"\",\"x5c\":[\"AAAA\"]}",
	 NULL},
	{"{" ED ",\"alg\":\"Ed25519\"}", NULL},
	{"{" ED ",\"key_ops\":[\"sign\",\"verify\"]}", NULL},
	{"{" EC ",\"alg\":\"ES256\"}", NULL},
	{"{" OCT ",\"alg\":\"HS256\"}", NULL},
	{"{" ED ",\"use\":\"enc\"}", FOREIGN},
	{"{" ED ",\"use\":\"SIG\"}", FOREIGN},
	{"{" ED ",\"use\":1}", FOREIGN},
	{"{" ED ",\"alg\":\"ES256\"}", FOREIGN},
	{"{" ED ",\"alg\":null}", FOREIGN},
	{"{" OCT ",\"alg\":\"HS512\"}", FOREIGN},
	{"{" OCT ",\"alg\":\"A256KW\"}", FOREIGN},
	{"{" ED ",\"key_ops\":[]}", FOREIGN},
	{"{" ED ",\"key_ops\":[\"sign\"]}", FOREIGN},
	{"{" ED ",\"key_ops\":\"verify\"}", FOREIGN},
	{"{" ED ",\"key_ops\":[1,null]}", FOREIGN},
	{"{" ED ",\"kid\":1}", "its kid is not a string"},
	{"{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"" X "\"}", UNKNOWN},
	{"{\"kty\":\"OKP\",\"crv\":\"Ed448\",\"x\":\"" X "\"}", UNKNOWN},
	{"{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"" X "\",\"y\":\"" Y "\"}", UNKNOWN},
	{"{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"" X "\",\"y\":\"" Y "\"}", UNKNOWN},
	{"{\"kty\":\"ec\",\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" Y "\"}", UNKNOWN},
	{"{\"kty\":\"DSA\"}", UNKNOWN},
	{"{}", UNKNOWN},
	{"{\"kty\":1}", UNKNOWN},
	{"7", "not an object"},
	{"null", "not an object"},
	{"[]", "not an object"},
	{"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" X "\",\"y\":\"" X "\"}", "not a point of P-256"},
	{"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" X "\"}", "its x or y is not 32 bytes in base64url"},
	{"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" X "A\",\"y\":\"" Y "\"}",
	 "its x or y is not 32 bytes in base64url"},
	{"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}", "its x is not 32 bytes in base64url"},
	{"{\"kty\":\"oct\",\"k\":\"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZQ\"}",
	 "a secret of less than 32 bytes"},
	{"{\"kty\":\"oct\",\"k\":\"\"}", "a secret of less than 32 bytes"},
	{"{\"kty\":\"oct\"}", "a secret of less than 32 bytes"},
	{"{\"kty\":\"oct\",\"k\":\"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\"}",
	 "its k is not base64url"},
	{"{\"kty\":\"RSA\"}", "RSA of less than 2048 or more than 8192 bits"},
	{"{\"kty\":\"RSA\",\"n\":\"AQ\",\"e\":\"AQAB\"}", "RSA of less than 2048 or more than 8192 bits"},
	{"{\"kty\":\"RSA\",\"n\":\"+\",\"e\":\"AQAB\"}", "its n or e is not base64url, or too long"},
};

static const struct {
	const char *text, *why;
} sets[] = {
	{"", "line 1 is not JSON: '[' or '{' expected near end of file"},
	{"[]", "it is not a set of keys: {\"keys\": [ ... ]}"},
	{"{}", "it is not a set of keys: {\"keys\": [ ... ]}"},
	{"{" ED "}", "it is not a set of keys: {\"keys\": [ ... ]}"},
	{"{\"keys\":{}}", "it is not a set of keys: {\"keys\": [ ... ]}"},
	{"{\"keys\":[]}", "no key in it can be used"},
	{"{\"keys\":[{\"kty\":\"DSA\"}]}", "no key in it can be used: of a kind that is not used here"},
	{"{\"keys\":[{" ED "}],\"keys\":[]}", "line 1 is not JSON: duplicate object key near '\"keys\"'"},
	{"{\"keys\":[{" ED ",\"kty\":\"RSA\"}]}", "line 1 is not JSON: duplicate object key near '\"kty\"'"},
	{"{\"keys\":[{" ED "}]} x", "line 1 is not JSON: end of file expected near 'x'"},
	{"-----BEGIN PUBLIC KEY-----\n", "line 1 is not JSON: '[' or '{' expected near '-'"},
};

static void test_keys(void)
{
	char text[1024], why[128];
	struct jwks set;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		snprintf(text, sizeof text, "{\"keys\":[%s,{" ED "}],\"more\":1}", keys[i].key);
		ok(jwks_parse(text_of(text), &set, why, sizeof why), keys[i].key);
		is_u64(set.count, keys[i].left_out ? 1 : 2, keys[i].left_out ? "  left out" : "  taken");
		is_str(set.left_out_why, keys[i].left_out ? keys[i].left_out : "", "  why");
		jwks_clear(&set);
	}
}

static void test_sets(void)
{
	static char many[32768] = "{\"keys\":[{" ED "}";
	char why[128];
	struct jwks set;

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		ok(!jwks_parse(text_of(sets[i].text), &set, why, sizeof why) && !set.keys, sets[i].text);
		is_str(why, sets[i].why, "  why");
	}
	for (int i = 1; i < 256; i++)
		strcat(many, ",{" ED "}");
	strcat(many, "]}");
	ok(jwks_parse(text_of(many), &set, why, sizeof why) && set.count == 256, "256 keys");
	jwks_clear(&set);
	strcpy(many + strlen(many) - 2, ",{" ED "}]}");
	ok(!jwks_parse(text_of(many), &set, why, sizeof why), "one more");
	is_str(why, "it has more than 256 keys", "  why");
}

static void test_rsa(void)
{
	static const struct {
		unsigned bits;
		const char *e; /* NULL: its own */
		bool taken;
	} cases[] = {{2048, NULL, true},  {2048, "Aw", true},	       {2048, "AQAAAAAAAAAB", false},
		     {2048, "AQ", false}, {2048, "AQAA", false},       {2048, "", false},
		     {1024, NULL, false}, {2048, "gAAAAAAAAAE", true}, {2040, NULL, false}};
	char text[2048], why[128];
	struct jwks set;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct maker_key key = maker_rsa(cases[i].bits);
		char *n = maker_number(key.pkey, OSSL_PKEY_PARAM_RSA_N);

		snprintf(text, sizeof text, "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"}]}", n,
			 cases[i].e ? cases[i].e : "AQAB");
		snprintf(why, sizeof why, "RSA of %u bits, e is %s", cases[i].bits,
			 cases[i].e ? cases[i].e : "AQAB");
		ok(jwks_parse(text_of(text), &set, NULL, 0) == cases[i].taken, why);
		jwks_clear(&set);
		EVP_PKEY_free(key.pkey);
		free(n);
	}
}

/* Without a kid every key of the kind is tried, but not more than eight: of nine the last is not. */
static void test_tries(void)
{
	static char text[32768];
	char folder[] = "/tmp/weir-test-XXXXXX", path[64], *token, *named;
	struct jwt_rules rules = {.algorithms = IMAGE_JWT_EDDSA | IMAGE_JWT_ES256, .jwks_file = path};
	struct maker_key one[9];
	struct jwt *jwt;

	maker_must(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/jwks.json", folder);
	strcpy(text, "{\"keys\":[{" EC "}");
	for (int i = 0; i < 9; i++) {
		char kid[32], *object;

		one[i] = maker_ed25519();
		snprintf(kid, sizeof kid, ",\"kid\":\"%d\"", i);
		object = maker_jwk(&one[i], kid);
		strcat(strcat(text, ","), object);
		free(object);
	}
	maker_write(path, strcat(text, "]}"), 0644, false);
	jwt = jwt_new(&rules);
	for (unsigned i = 0; i < 9; i++) {
		char header[64];

		token = maker_token(&one[i], "{\"alg\":\"EdDSA\"}", "{}");
		snprintf(header, sizeof header, "{\"alg\":\"EdDSA\",\"kid\":\"%u\"}", i);
		named = maker_token(&one[i], header, "{}");
		is_u64(maker_verify(jwt, token, 0), i < 8 ? JWT_VALID : JWT_SIGNATURE, "one of nine keys");
		is_u64(jwt_checks(jwt), i < 8 ? (i + 1) * (i + 2) / 2 + i : 36 + 8 + 8,
		       "  tried with those before it");
		is_u64(maker_verify(jwt, named, 0), JWT_VALID, "  named");
		is_u64(jwt_checks(jwt), i < 8 ? (i + 1) * (i + 2) / 2 + i + 1 : 36 + 8 + 9,
		       "  tried with it alone");
		free(token), free(named);
	}
	jwt_free(&jwt);
	for (unsigned i = 0; i < 9; i++)
		EVP_PKEY_free(one[i].pkey);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	test_keys();
	test_sets();
	test_rsa();
	test_tries();
	return done_testing();
}
