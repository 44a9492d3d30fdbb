/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jwt: what it costs to believe a token, remembered and not, against OpenSSL's bare verification of the same signature in the same
 * run. One process; best of interleaved short runs. Tokens are 2,048 different ones of some 300 bytes, asked for in turn, so that none
 * of them is remembered (1,024 are); `remembered` is over 256 others.
 */
#include "bench/crew.h"
#include "tests/identity/jwt_maker.h"

#define ROUNDS	   7
#define RUN_NS	   20e6
#define TOKENS	   2048u
#define REMEMBERED 256u

enum job { STOP, BARE, FRESH, CACHED, JOBS };
enum kind { RS256, ES256, EDDSA, HS256, KINDS };
static const struct {
	const char *name, *header;
	uint32_t algorithm;
} kinds[KINDS] = {
	[RS256] = {"RS256 (2048 bits)", "{\"alg\":\"RS256\",\"kid\":\"k\"}", IMAGE_JWT_RS256},
	[ES256] = {"ES256", "{\"alg\":\"ES256\",\"kid\":\"k\"}", IMAGE_JWT_ES256},
	[EDDSA] = {"EdDSA", "{\"alg\":\"EdDSA\",\"kid\":\"k\"}", IMAGE_JWT_EDDSA},
	[HS256] = {"HS256", "{\"alg\":\"HS256\",\"kid\":\"k\"}", IMAGE_JWT_HS256},
};

/* A token, and its signature as OpenSSL wants it. */
struct sample {
	char *token;
	size_t size, signed_size;
	unsigned char signature[256];
	size_t signature_size;
};
struct field {
	struct maker_key key[KINDS];
	struct jwt *jwt[KINDS];
	struct sample *samples[KINDS];
	uint64_t at[JOBS][KINDS], wrong;
};

static void make_sample(const struct maker_key *key, enum kind kind, unsigned number, struct sample *out)
{
	char payload[256];
	EVP_MD_CTX *context;

	snprintf(payload, sizeof payload,
		 "{\"iss\":\"https://login.example.com/"
		 "\",\"aud\":\"api\",\"sub\":\"user-%08u\",\"plan\":\"pro\","
		 "\"iat\":1800000000,\"exp\":1800003600,\"scope\":\"read write\"}",
		 number);
	out->token = maker_token(key, kinds[kind].header, payload);
	out->size = strlen(out->token);
	out->signed_size = (size_t)(strrchr(out->token, '.') - out->token);
	out->signature_size = sizeof out->signature;
	if (!key->pkey)
		return;
	context = EVP_MD_CTX_new();
	maker_must(EVP_DigestSignInit(context, NULL, kind == EDDSA ? NULL : EVP_sha256(), NULL, key->pkey) ==
			   1 &&
		   EVP_DigestSign(context, out->signature, &out->signature_size, (unsigned char *)out->token,
				  out->signed_size) == 1);
	EVP_MD_CTX_free(context);
}

static void bare(struct field *field, enum kind kind, const struct sample *sample)
{
	const struct maker_key *key = &field->key[kind];
	unsigned char mac[32];
	EVP_MD_CTX *context;

	if (!key->pkey) {
		field->wrong += !HMAC(EVP_sha256(), key->secret, (int)key->secret_size,
				      (unsigned char *)sample->token, sample->signed_size, mac, NULL);
		return;
	}
	context = EVP_MD_CTX_new();
	field->wrong += EVP_DigestVerifyInit(context, NULL, kind == EDDSA ? NULL : EVP_sha256(), NULL,
					     key->pkey) != 1 ||
			EVP_DigestVerify(context, sample->signature, sample->signature_size,
					 (unsigned char *)sample->token, sample->signed_size) != 1;
	EVP_MD_CTX_free(context);
}

/* Jobs are numbered kind by kind, from 1. */
static void work(void *own, unsigned job, unsigned worker, uint64_t count)
{
	struct field *field = own;
	enum kind kind = (enum kind)((job - 1) / (JOBS - 1));
	enum job what = (enum job)(1 + (job - 1) % (JOBS - 1));
	struct jwt_claims *claims;

	(void)worker;
	for (; count; count--) {
		/* each job has tokens of its own turn, or one would remember for another */
		uint64_t at = field->at[what][kind]++;
		const struct sample *sample =
			&field->samples[kind][what == CACHED ? TOKENS + at % REMEMBERED : at % TOKENS];

		if (what == BARE) {
			bare(field, kind, sample);
			continue;
		}
		field->wrong += jwt_verify(field->jwt[kind], (struct text){sample->token, sample->size},
					   1800000001, &claims) != JWT_VALID;
		jwt_drop(&claims);
	}
}

static void make(struct field *field)
{
	static const struct text audience = {"api", 3};
	char path[] = "/tmp/weir-bench-XXXXXX";
	int fd = mkstemp(path);

	maker_must(fd >= 0 && close(fd) == 0);
	field->key[RS256] = maker_rsa(2048);
	field->key[ES256] = maker_p256();
	field->key[EDDSA] = maker_ed25519();
	field->key[HS256] = maker_secret(MAKER_SECRET);
	for (enum kind kind = 0; kind < KINDS; kind++) {
		struct jwt_rules rules = {.algorithms = kinds[kind].algorithm,
					  .jwks_file = path,
					  .issuer = {"https://login.example.com/", 26},
					  .audiences = &audience,
					  .audience_count = 1};
		char *set = maker_set(maker_jwk(&field->key[kind], ",\"kid\":\"k\""), NULL, NULL, NULL);

		maker_write(path, set, 0600, false);
		field->jwt[kind] = jwt_new(&rules);
		field->samples[kind] = calloc(TOKENS + REMEMBERED, sizeof *field->samples[kind]);
		maker_must(field->jwt[kind] && field->samples[kind]);
		for (unsigned i = 0; i < TOKENS + REMEMBERED; i++)
			make_sample(&field->key[kind], kind, i, &field->samples[kind][i]);
		free(set);
	}
	unlink(path);
}

/* Best of runs that had their processor to the end; of all, if there is none. */
static double best(struct field *field, unsigned job, double before)
{
	struct crew crew = {.workers = 1, .job = job};
	double ns;

	if ((job - 1) % (JOBS - 1) + 1 == CACHED)
		work(field, job, 0, REMEMBERED); /* they are remembered then */
	for (int i = 0; i < 5 && !crew.clean[0]; i++) {
		atomic_store(&crew.ready, 0);
		ns = crew_measure(&crew, work, field, 0, RUN_NS);
		before = before == 0 || ns < before ? ns : before;
	}
	return before;
}

int main(void)
{
	static struct field field;
	double ns[1 + KINDS * (JOBS - 1)] = {0};

	make(&field);
	for (int round = 0; round < ROUNDS; round++)
		for (unsigned job = 1; job < sizeof ns / sizeof *ns; job++)
			ns[job] = best(&field, job, ns[job]);
	printf("%-20s %12s %22s %22s\n", "a token", "bare, us", "looked at: us, x bare",
	       "remembered: us, x bare");
	for (enum kind kind = 0; kind < KINDS; kind++) {
		const double *of = &ns[(unsigned)kind * (JOBS - 1)];

		printf("%-20s %12.2f %12.2f %9.2f %12.3f %9.4f\n", kinds[kind].name, of[BARE] / 1e3,
		       of[FRESH] / 1e3, of[FRESH] / of[BARE], of[CACHED] / 1e3, of[CACHED] / of[BARE]);
	}
	if (field.wrong)
		printf("bench: %llu answers were wrong\n", (unsigned long long)field.wrong);
	return field.wrong != 0;
}
