/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys: finding an API key among a million (or --keys N), as ratios to the HMAC of the same secret: ours with both pads done before,
 * OpenSSL's as anybody would call it, and ours with two reads of as much memory as the keys take, which is the least that a lookup
 * can cost when its key was not asked for lately. Secrets come in any order.
 */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "identity/ring.h"
#include "identity/ring_write.h"

#define SECRET 38u /* bytes of a secret, as `weir keys add` makes them */
#define ROUNDS 5

static const uint8_t PEPPER[RING_PEPPER] = "thirty-two bytes of black pepper";

enum job { HMAC_OURS, HMAC_OPENSSL, READS, KNOWN, HOT, UNKNOWN, USED, JOBS };
static const char *const NAMES[JOBS] = {
	[HMAC_OURS] = "HMAC, pads done before",
	[HMAC_OPENSSL] = "HMAC by OpenSSL's HMAC()",
	[READS] = "HMAC, then two reads of the memory",
	[KNOWN] = "a key, any of them",
	[HOT] = "a key, always the same",
	[UNKNOWN] = "an invented key",
	[USED] = "a key, any of them, and its stamp",
};

struct field {
	char folder[64], database[96];
	struct ring *ring;
	struct hmac_key pepper;
	char (*secrets)[SECRET], (*invented)[SECRET];
	uint64_t keys, asked;
	uint64_t *memory, words, at; /* as large as the ring */
};

static _Noreturn void fail(const char *why)
{
	fprintf(stderr, "bench: %s\n", why);
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* neighbours take the processor, not our time */
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void secret_of(uint64_t id, const char *what, char out[SECRET])
{
	char text[SECRET + 1];
	snprintf(text, sizeof text, "weir_%s%032llu", what,
		 (unsigned long long)(id * UINT64_C(0x9e3779b97f4a7c15)));
	memcpy(out, text, SECRET);
}

static void build(struct field *field)
{
	struct ring_writer *writer;
	struct ring_build *fresh;
	char why[256] = "", name[32], secret[SECRET];
	struct ring_state state = {.change = 1, .token = 1, .pepper = PEPPER, .keys = field->keys};
	if (ring_write_open(field->database, 0, &writer, why, sizeof why) ||
	    ring_build_begin(writer, &state, field->keys, 0, field->keys, &fresh, why, sizeof why))
		fail(why);
	for (uint64_t id = 1; id <= field->keys; id++) {
		struct ring_row row = {.id = id, .owner = TEXT("ACME, Inc"), .plan = TEXT("pro")};
		snprintf(name, sizeof name, "customer-%llu", (unsigned long long)id);
		row.name = text_of(name);
		secret_of(id, "k", secret);
		ring_hash(&field->pepper, (struct text){secret, SECRET}, row.hash);
		if (ring_build_add(fresh, &row, why, sizeof why))
			fail(why);
	}
	if (ring_build_end(&fresh, true, why, sizeof why))
		fail(why);
	ring_write_close(&writer);
	if (ring_open(field->database, &field->ring, why, sizeof why))
		fail(why);
}

static uint64_t once(struct field *field, enum job job, uint64_t i)
{
	struct text secret = {field->secrets[job == HOT ? 0 : i], SECRET};
	struct ring_key key;
	uint8_t hash[HMAC_SIZE];
	unsigned size = sizeof hash;
	switch (job) {
	case HMAC_OURS:
		hmac_of(&field->pepper, secret.data, secret.size, hash);
		return (hash[0] | 1) != 0; /* it must be worked out */
	case HMAC_OPENSSL:
		return HMAC(EVP_sha256(), PEPPER, RING_PEPPER, (const void *)secret.data, secret.size, hash,
			    &size) != NULL;
	case READS: /* the second waits for the first, as a record's place for the index's word */
		hmac_of(&field->pepper, secret.data, secret.size, hash);
		memcpy(&field->at, hash, sizeof field->at);
		field->at = field->memory[field->at % field->words];
		field->at = field->memory[field->at % field->words];
		return field->at != 1;
	case UNKNOWN:
		secret.data = field->invented[i];
		return ring_find(field->ring, secret, 1900000000, &key) == RING_UNKNOWN;
	case USED:
		if (ring_find(field->ring, secret, 1900000000, &key) != RING_KNOWN)
			return 0;
		ring_used(field->ring, &key, 1900000000);
		return 1;
	default:
		return ring_find(field->ring, secret, 1900000000, &key) == RING_KNOWN;
	}
}

static void run(struct field *field)
{
	double best[JOBS] = {0};
	for (int round = 0; round < ROUNDS; round++)
		for (enum job job = 0; job < JOBS; job++) {
			uint64_t right = 0;
			double began = now_ns();
			for (uint64_t i = 0; i < field->asked; i++)
				right += once(field, job, i);
			double ns = (now_ns() - began) / (double)field->asked;
			if (right != field->asked) /* a benchmark of wrong answers measures nothing */
				fail("not every key was found");
			if (round == 0 || ns < best[job])
				best[job] = ns;
		}
	printf("%-36s|%8s %10s\n", "", "ns", "x HMAC");
	for (enum job job = 0; job < JOBS; job++)
		printf("%-36s|%8.0f %10.2f\n", NAMES[job], best[job], best[job] / best[HMAC_OURS]);
}

int main(int argc, char **argv)
{
	static struct field field;
	struct stat st;
	char path[128];
	field.keys = argc > 2 && strcmp(argv[1], "--keys") == 0 ? strtoull(argv[2], NULL, 10)
								: UINT64_C(1000000);
	field.asked = 400000;
	strcpy(field.folder, "/dev/shm/weir-bench-XXXXXX");
	if (!field.keys || !mkdtemp(field.folder))
		fail("no folder");
	snprintf(field.database, sizeof field.database, "%s/keys.db", field.folder);
	hmac_key_init(&field.pepper, PEPPER, RING_PEPPER);
	field.secrets = malloc(field.asked * SECRET);
	field.invented = malloc(field.asked * SECRET);
	if (!field.secrets || !field.invented)
		fail("out of memory");
	uint64_t random = 88172645463325252u;
	for (uint64_t i = 0; i < field.asked; i++) {
		random ^= random << 13, random ^= random >> 7, random ^= random << 17;
		secret_of(random % field.keys + 1, "k", field.secrets[i]);
		secret_of(random, "x", field.invented[i]);
	}
	field.words = field.keys * 18 + 4096;
	field.memory = malloc(field.words * 8);
	for (uint64_t i = 0; field.memory && i < field.words; i++)
		field.memory[i] = (i * UINT64_C(0x9e3779b97f4a7c15)) | 2;
	if (!field.memory)
		fail("out of memory");
	double began = now_ns();
	build(&field);
	double built = (now_ns() - began) / 1e9;
	run(&field);
	snprintf(path, sizeof path, "%s.ring", field.database);
	if (stat(path, &st) == 0)
		printf("\n%llu keys: made in %.1f s, %.0f bytes a key with room for more\n",
		       (unsigned long long)field.keys, built,
		       (double)st.st_blocks * 512 / (double)field.keys);
	ring_close(&field.ring);
	unlink(path);
	snprintf(path, sizeof path, "%s.ring.lock", field.database);
	unlink(path);
	rmdir(field.folder);
	free(field.memory);
	free(field.secrets);
	free(field.invented);
	return 0;
}
