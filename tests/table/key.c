/* SPDX-License-Identifier: BSD-2-Clause */
/* key: the hash against published vectors, and what the table makes of its bits (T3). */
#include "table/siphash.h"
#include "table/slot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

struct vector {
	size_t size; /* of the message 00 01 02 ...; the key is 00 01 .. 0f */
	const char *hex;
};

/* SipHash-2-4, 128 bits: vectors.h of the authors' reference implementation. */
static const struct vector sip_2_4[] = {
	{0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
	{2, "8177228da4a45dc7fca38bdef60affe4"},  {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
	{8, "3b62a9ba6258f5610f83e264f31497b4"},  {15, "5493e99933b0a8117e08ec0f97cfc3d9"},
	{16, "6ee2a4ca67b054bbfd3315bf85230577"}, {31, "2939b0183223fafc1723de4f52c43d35"},
	{32, "7c3956ca5eeafc3e363e9d556546eb68"}, {63, "5150d1772f50834a503e069a973fbd7c"},
};

/* SipHash-1-3, 128 bits: computed with OpenSSL (SIPHASH, size 16, c-rounds 1, d-rounds 3). */
static const struct vector sip_1_3[] = {
	{0, "e77ebcb22788a5befd62db6add303001"},  {1, "fc6f370460d3eda85e0573cc2b2ff063"},
	{8, "aa12fee1d5e3dab4724f16ab35f9c799"},  {15, "c17e5505b2bd526c2921cdec1e7e0109"},
	{16, "d0a8d95715518eebb513b0f83d9e1793"}, {63, "4c5800e34efe426f079f6b0aa75260ad"},
};

typedef struct siphash_128 hash_function(const struct siphash_key *key, const void *bytes, size_t size);

static void check_vectors(const struct vector *vectors, size_t count, hash_function *hash, const char *name)
{
	unsigned char message[64], bytes[16];
	const struct siphash_key key = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
	for (size_t i = 0; i < sizeof message; i++)
		message[i] = (unsigned char)i;
	for (size_t i = 0; i < count; i++) {
		char hex[33], what[64];
		struct siphash_128 out = hash(&key, message, vectors[i].size);
		memcpy(bytes, &out.lo, 8);
		memcpy(bytes + 8, &out.hi, 8);
		for (size_t j = 0; j < 16; j++)
			snprintf(hex + 2 * j, 3, "%02x", bytes[j]);
		snprintf(what, sizeof what, "%s of %zu bytes", name, vectors[i].size);
		is_str(hex, vectors[i].hex, what);
	}
}

static void check_tags(void)
{
	static const struct {
		uint64_t tag_word, tag;
	} cases[] = {
		{0, 1},
		{1, 1},
		{UINT64_C(1) << 40, 1},
		{UINT64_C(0xabcdef0123456789), UINT64_C(0x0123456789)},
		{UINT64_MAX, UINT64_C(0xffffffffff)},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct table_key key = {.tag_word = cases[i].tag_word};
		is_u64(slot_tag(&key), cases[i].tag << 24, "the tag is the low 40 bits, and never 0");
	}
}

/* A table of twice as many pairs appends one bit to the index, whatever the size. */
static void check_prefix(void)
{
	uint64_t seed = 1;
	unsigned outside = 0, moved = 0;
	for (unsigned i = 0; i < 100000; i++) {
		struct table small = {.pair_count = 1 + rig_random(&seed) % 100000};
		struct table twice = {.pair_count = 2 * small.pair_count};
		struct table_key key = {.line_word = i ? rig_random(&seed) : UINT64_MAX};
		outside += slot_pair_index(&small, &key) >= small.pair_count;
		moved += slot_pair_index(&twice, &key) >> 1 != slot_pair_index(&small, &key);
	}
	is_u64(outside, 0, "an index is inside the table whatever the hash");
	is_u64(moved, 0, "a table of twice the size appends one bit to the index");
}

static void check_secrets(void)
{
	struct rig rigs[2] = {rig_new(TABLE_SIZE_MIN, 2), rig_new(TABLE_SIZE_MIN, 2)};
	struct table *a = rig_open(&rigs[0]), *b = rig_open(&rigs[1]), *again = rig_open(&rigs[0]);
	struct table_key in_a = rig_key(a, 1, 2), in_b = rig_key(b, 1, 2), same = rig_key(again, 1, 2);
	uint64_t words[2] = {1, 2}, digest = table_key_digest(a, words, sizeof words);

	ok(in_a.tag_word == same.tag_word && in_a.line_word == same.line_word, "one table, one key");
	ok(in_a.tag_word != in_b.tag_word && in_a.line_word != in_b.line_word,
	   "another table, another secret");
	ok(digest == table_key_digest(again, words, sizeof words), "the digest is the same for every handle");
	ok(digest != in_a.tag_word && digest != in_a.line_word, "and says nothing about the key's place");
	table_close(&a);
	table_close(&b);
	table_close(&again);
	rig_free(&rigs[0]);
	rig_free(&rigs[1]);
}

int main(void)
{
	char path[128], small[8];
	check_vectors(sip_2_4, sizeof sip_2_4 / sizeof *sip_2_4, siphash_2_4, "SipHash-2-4-128");
	check_vectors(sip_1_3, sizeof sip_1_3 / sizeof *sip_1_3, siphash_1_3, "SipHash-1-3-128");
	check_tags();
	check_prefix();
	check_secrets();
	table_default_path("policy", 33, path, sizeof path);
	is_str(path, "/dev/shm/weir-33/4791e15e85ef2402.v2", "the default path is a file format, too");
	table_default_path("policy", 33, small, sizeof small);
	is_str(small, "/dev/sh", "a short buffer is not overrun");
	return done_testing();
}
