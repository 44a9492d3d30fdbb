/* SPDX-License-Identifier: BSD-2-Clause */
/* What a token says: whether it is believed now, here and from there; and its claims, as texts. */
#include "tests/identity/jwt_maker.h"
#include "tests/tap.h"

static const struct text audiences[] = {{"api", 3}, {"https://b.example", 17}};
enum { ANY, STRICT, LENIENT, VERIFIERS };
static const struct jwt_rules rules_of[VERIFIERS] = {
	[ANY] = {.algorithms = IMAGE_JWT_HS256},
	[STRICT] = {.algorithms = IMAGE_JWT_HS256,
		    .issuer = {"https://a.example/", 18},
		    .audiences = audiences,
		    .audience_count = 2},
	[LENIENT] = {.algorithms = IMAGE_JWT_HS256, .leeway_s = 60},
};

#define FROM "\"iss\":\"https://a.example/\","

static const struct {
	const char *payload;
	int64_t wall_s;
	enum jwt_result result;
	unsigned verifier;
} cases[] = {
	{"{}", 0, JWT_VALID, ANY},
	{"{\"exp\":1000}", 999, JWT_VALID, ANY},
	{"{\"exp\":1000}", 1000, JWT_EXPIRED, ANY},
	{"{\"exp\":1000}", INT64_MAX, JWT_EXPIRED, ANY},
	{"{\"exp\":1000}", INT64_MIN, JWT_VALID, ANY},
	{"{\"exp\":1000.5}", 1000, JWT_VALID, ANY},
	{"{\"exp\":1000.5}", 1001, JWT_EXPIRED, ANY},
	{"{\"exp\":1e3}", 999, JWT_VALID, ANY},
	{"{\"exp\":1e3}", 1000, JWT_EXPIRED, ANY},
	{"{\"exp\":1e300}", 4000000000, JWT_VALID, ANY},
	{"{\"exp\":-1e300}", 0, JWT_EXPIRED, ANY},
	{"{\"exp\":0}", 1, JWT_EXPIRED, ANY},
	{"{\"exp\":-1}", 1, JWT_EXPIRED, ANY},
	{"{\"exp\":9223372036854775807}", 4000000000, JWT_VALID, ANY},
	{"{\"exp\":9223372036854775808}", 0, JWT_MALFORMED, ANY},
	{"{\"exp\":1e999}", 0, JWT_MALFORMED, ANY},
	{"{\"exp\":\"1000\"}", 0, JWT_MALFORMED, ANY},
	{"{\"exp\":null}", 0, JWT_MALFORMED, ANY},
	{"{\"exp\":true}", 0, JWT_MALFORMED, ANY},
	{"{\"exp\":[1000]}", 0, JWT_MALFORMED, ANY},
	{"{\"exp\":1000,\"exp\":2000}", 0, JWT_MALFORMED, ANY},
	{"{\"nbf\":1000}", 1000, JWT_VALID, ANY},
	{"{\"nbf\":1000}", 999, JWT_NOT_YET, ANY},
	{"{\"nbf\":999.5}", 999, JWT_NOT_YET, ANY},
	{"{\"nbf\":999.5}", 1000, JWT_VALID, ANY},
	{"{\"nbf\":\"1000\"}", 2000, JWT_MALFORMED, ANY},
	{"{\"nbf\":1000,\"exp\":900}", 950, JWT_EXPIRED, ANY},
	{"{\"iat\":9999}", 0, JWT_VALID, ANY},
	{"{\"exp\":1000}", 1059, JWT_VALID, LENIENT},
	{"{\"exp\":1000}", 1060, JWT_EXPIRED, LENIENT},
	{"{\"nbf\":1000}", 940, JWT_VALID, LENIENT},
	{"{\"nbf\":1000}", 939, JWT_NOT_YET, LENIENT},
	{"{\"exp\":-9223372036854775808}", INT64_MIN, JWT_EXPIRED, LENIENT},
	{"{\"nbf\":9223372036854775807}", INT64_MAX, JWT_VALID, LENIENT},
	{"{" FROM "\"aud\":\"api\"}", 0, JWT_VALID, STRICT},
	{"{" FROM "\"aud\":\"https://b.example\"}", 0, JWT_VALID, STRICT},
	{"{" FROM "\"aud\":[\"x\",\"api\"]}", 0, JWT_VALID, STRICT},
	{"{" FROM "\"aud\":[]}", 0, JWT_AUDIENCE, STRICT},
	{"{" FROM "\"aud\":[\"x\",\"y\"]}", 0, JWT_AUDIENCE, STRICT},
	{"{" FROM "\"aud\":\"API\"}", 0, JWT_AUDIENCE, STRICT},
	{"{" FROM "\"aud\":\"api \"}", 0, JWT_AUDIENCE, STRICT},
	{"{" FROM "\"aud\":\"\"}", 0, JWT_AUDIENCE, STRICT},
	{"{" FROM "\"aud\":\"x api\"}", 0, JWT_AUDIENCE, STRICT},
	{"{" FROM "\"sub\":\"api\"}", 0, JWT_AUDIENCE, STRICT},
	{"{" FROM "\"aud\":{\"api\":1}}", 0, JWT_MALFORMED, STRICT},
	{"{" FROM "\"aud\":[\"api\",1]}", 0, JWT_MALFORMED, STRICT},
	{"{" FROM "\"aud\":null}", 0, JWT_MALFORMED, STRICT},
	{"{\"iss\":\"https://a.example\",\"aud\":\"api\"}", 0, JWT_ISSUER, STRICT},
	{"{\"iss\":\"https://A.example/\",\"aud\":\"api\"}", 0, JWT_ISSUER, STRICT},
	{"{\"iss\":\"\",\"aud\":\"api\"}", 0, JWT_ISSUER, STRICT},
	{"{\"aud\":\"api\"}", 0, JWT_ISSUER, STRICT},
	{"{\"iss\":[\"https://a.example/\"],\"aud\":\"api\"}", 0, JWT_MALFORMED, STRICT},
	{"{\"iss\":\"x\",\"aud\":\"y\",\"exp\":1}", 5, JWT_ISSUER, STRICT},
	{"{\"iss\":\"anybody\",\"aud\":\"anyone\"}", 0, JWT_VALID, ANY},
	{"{\"iss\":1}", 0, JWT_MALFORMED, ANY},
	{"{\"aud\":1}", 0, JWT_MALFORMED, ANY},
};

/* One payload, many questions. */
static const char said[] = "{\"sub\":\"ann\",\"plan\":\"gold\",\"n\":42,\"negative\":-7,\"half\":1.5,\"yes\":"
			   "true,\"no\":false,\"empty\":\"\",\"null\":null,"
			   "\"list\":[\"a\"],\"org\":{\"id\":7,\"plan\":{\"name\":\"team\"},\"none\":{}},\"a."
			   "b\":\"dotted\",\"a\":{\"b\":\"nested\",\"c\":\"c\"},"
			   "\"https://x.example/app\":{\"tier\":\"t1\"},\"https://x.example/"
			   "plan\":\"url\",\"h\\u00e9\":\"\\u00e9t\\u00e9\","
			   "\"e\":{\"f.g\":{\"h\":\"deep\"}},\"cut\":\"\",\"cut2\":{\"\":\"unnamed\"},\"dot."
			   "\":\"d\",\"o\":{\"p\":\"inner\"},\"o.p\":{\"q\":\"r\"}}";

static const struct {
	const char *name, *value; /* NULL: none */
} claims_of[] = {
	{"sub", "ann"},
	{"plan", "gold"},
	{"n", "42"},
	{"negative", "-7"},
	{"half", "1.5"},
	{"yes", "true"},
	{"no", "false"},
	{"org.id", "7"},
	{"org.plan.name", "team"},
	{"a.b", "dotted"},
	{"a.c", "c"},
	{"https://x.example/app.tier", "t1"},
	{"https://x.example/plan", "url"},
	{"h\xc3\xa9", "\xc3\xa9t\xc3\xa9"},
	{"e.f.g.h", "deep"},
	{"cut2.", "unnamed"},
	{"dot.", "d"},
	{"o.p.q", "r"},
	{"empty", NULL},
	{"null", NULL},
	{"list", NULL},
	{"list.0", NULL},
	{"org", NULL},
	{"org.plan", NULL},
	{"org.none", NULL},
	{"o.p", NULL}, /* the claim of that name is an object */
	{"org.", NULL},
	{".org", NULL},
	{"org..id", NULL},
	{"id", NULL},
	{"rg.id", NULL},
	{"org.idx", NULL},
	{"xorg.id", NULL},
	{"Sub", NULL},
	{"su", NULL},
	{"", NULL},
	{".", NULL},
	{"absent", NULL},
};

static void try_claims(struct jwt *jwt, const struct maker_key *key)
{
	char *token = maker_token(key, "{\"alg\":\"HS256\"}", said);
	struct jwt_claims *claims, *again;
	struct text value;

	is_u64(jwt_verify(jwt, text_of(token), 0, &claims), JWT_VALID, "claims");
	for (size_t i = 0; claims && i < sizeof claims_of / sizeof *claims_of; i++)
		ok(jwt_claim(claims, text_of(claims_of[i].name), &value) == (claims_of[i].value != NULL) &&
			   text_equal(value, text_of(claims_of[i].value)),
		   claims_of[i].name);
	is_u64(jwt_verify(jwt, text_of(token), 0, &again), JWT_VALID, "the same token again");
	ok(again == claims, "its claims are in memory once");
	jwt_drop(&again);
	jwt_free(&jwt);
	ok(jwt_claim(claims, TEXT("sub"), &value) && text_equal(value, TEXT("ann")),
	   "they outlive the verifier");
	jwt_drop(&claims);
	ok(!claims, "and are gone when nobody asks");
	jwt_drop(&claims);
	free(token);
}

int main(void)
{
	char folder[] = "/tmp/weir-test-XXXXXX", path[64];
	struct maker_key key = maker_secret(MAKER_SECRET);
	struct jwt *jwt[VERIFIERS];

	maker_must(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/secret", folder);
	maker_write(path, MAKER_SECRET "\n", 0600, false);
	for (unsigned i = 0; i < VERIFIERS; i++) {
		struct jwt_rules rules = rules_of[i];

		rules.secret_file = path;
		jwt[i] = jwt_new(&rules);
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *token = maker_token(&key, "{\"alg\":\"HS256\"}", cases[i].payload);
		enum jwt_result first = maker_verify(jwt[cases[i].verifier], token, cases[i].wall_s);
		enum jwt_result second = maker_verify(jwt[cases[i].verifier], token, cases[i].wall_s);

		is_str(jwt_result_sentence(first), jwt_result_sentence(cases[i].result), cases[i].payload);
		is_u64(second, first, "remembered the same");
		free(token);
	}
	try_claims(jwt[ANY], &key);
	jwt_free(&jwt[STRICT]);
	jwt_free(&jwt[LENIENT]);
	unlink(path);
	rmdir(folder);
	return done_testing();
}
