/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring of API keys: what is found, what is not, and that changes are seen by who has it open. */
#include <sys/stat.h>

#include "tests/identity/ring_rig.h"

#define NOW INT64_C(1900000000)

static struct rig rig;

static void published_vectors(void)
{
	/* RFC 4231, cases 1, 2 and 3, and a message of two blocks (case 7's data under a short key is ours to check by openssl) */
	static const struct {
		const char *key, *data, *hex;
		uint8_t key_byte, data_byte;
		size_t key_size, data_size;
	} CASES[] = {
		{NULL, "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", 0x0b,
		 0, 20, 8},
		{"Jefe", "what do ya want for nothing?",
		 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", 0, 0, 4, 28},
		{NULL, NULL, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe", 0xaa, 0xdd,
		 20, 50},
	};
	for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
		uint8_t key[64], data[64], out[HMAC_SIZE];
		char hex[2 * HMAC_SIZE + 1];
		struct hmac_key prepared;
		memset(key, CASES[i].key_byte, sizeof key);
		memset(data, CASES[i].data_byte, sizeof data);
		if (CASES[i].key)
			memcpy(key, CASES[i].key, CASES[i].key_size);
		if (CASES[i].data)
			memcpy(data, CASES[i].data, CASES[i].data_size);
		hmac_key_init(&prepared, key, CASES[i].key_size);
		hmac_of(&prepared, data, CASES[i].data_size, out);
		for (size_t j = 0; j < HMAC_SIZE; j++)
			snprintf(hex + 2 * j, 3, "%02x", out[j]);
		is_str(hex, CASES[i].hex, "HMAC-SHA-256: a published vector");
	}
}

static void states(struct ring_writer *writer)
{
	static const struct {
		const char *what;
		struct {
			int64_t expires, ends, plan_until;
			const char *after;
			bool revoked;
		} row;
		int64_t at;
		enum ring_found found;
		const char *plan;
	} CASES[] = {
		{"a key", {0}, NOW, RING_KNOWN, "pro"},
		{"it expires later", {.expires = NOW + 1}, NOW, RING_KNOWN, "pro"},
		{"it expires now", {.expires = NOW}, NOW, RING_EXPIRED, "pro"},
		{"its secret ends later", {.ends = NOW + 1}, NOW, RING_KNOWN, "pro"},
		{"its secret has ended", {.ends = NOW - 1}, NOW, RING_EXPIRED, "pro"},
		{"revoked", {.revoked = true}, NOW, RING_REVOKED, "pro"},
		{"revoked and expired", {.revoked = true, .expires = NOW}, NOW, RING_REVOKED, "pro"},
		{"another plan follows", {.plan_until = NOW + 1, .after = "free"}, NOW, RING_KNOWN, "pro"},
		{"it follows now", {.plan_until = NOW, .after = "free"}, NOW, RING_KNOWN, "free"},
		{"none follows", {.plan_until = NOW, .after = ""}, NOW, RING_KNOWN, ""},
	};
	uint64_t count = sizeof CASES / sizeof *CASES;
	struct ring_build *build;
	struct ring *ring;
	struct ring_key key;
	is_u64(ring_build_begin(writer, &rig.state, count, 0, count, &build, rig.why, sizeof rig.why), 0,
	       "a ring begins");
	for (uint64_t i = 0; i < count; i++) {
		struct ring_row row = rig_row(&rig, i + 1, "name", "pro");
		row.expires = CASES[i].row.expires;
		row.ends = CASES[i].row.ends;
		row.plan_until = CASES[i].row.plan_until;
		row.after = text_of(CASES[i].row.after);
		row.revoked = CASES[i].row.revoked;
		row.owner = TEXT("owner");
		row.tenant = TEXT("tenant");
		row.billing_day = 31;
		ring_build_add(build, &row, rig.why, sizeof rig.why);
	}
	is_u64(ring_build_end(&build, true, rig.why, sizeof rig.why), 0, "and is there");
	is_u64(ring_open(rig.database, &ring, rig.why, sizeof rig.why), 0, "a door opens it");
	for (uint64_t i = 0; i < count; i++) {
		is_u64(rig_find(ring, i + 1, CASES[i].at, &key), CASES[i].found, CASES[i].what);
		ok(key.id == i + 1 && rig_says(key.name, key.name_size, "name") &&
			   rig_says(key.owner, key.owner_size, "owner") &&
			   rig_says(key.tenant, key.tenant_size, "tenant") && key.billing_day == 31 &&
			   key.expires == CASES[i].row.expires,
		   "with all that is known of it");
		ok(rig_says(key.plan, key.plan_size, CASES[i].plan), "and its plan then");
	}
	is_u64(rig_find(ring, 99, NOW, &key), RING_UNKNOWN, "no such secret");
	is_u64(ring_find(ring, TEXT(""), NOW, &key), RING_UNKNOWN, "an empty one");
	char large[RING_SECRET_MAX + 1];
	memset(large, 'x', sizeof large);
	is_u64(ring_find(ring, (struct text){large, sizeof large}, NOW, &key), RING_UNKNOWN,
	       "one that is too long");
	ring_close(&ring);
}

static void secrets_of_every_size(struct ring_writer *writer)
{
	char secret[RING_SECRET_MAX];
	struct ring *ring;
	struct ring_build *build;
	struct ring_key key;
	uint64_t wrong = 0;
	memset(secret, 's', sizeof secret);
	ring_build_begin(writer, &rig.state, RING_SECRET_MAX, 0, RING_SECRET_MAX, &build, rig.why,
			 sizeof rig.why);
	for (size_t n = 1; n <= RING_SECRET_MAX; n++) {
		struct ring_row row = rig_row(&rig, n, "name", "");
		ring_hash(&rig.pepper, (struct text){secret, n}, row.hash);
		ring_build_add(build, &row, rig.why, sizeof rig.why);
	}
	is_u64(ring_build_end(&build, true, rig.why, sizeof rig.why), 0, "secrets of 1 to 512 bytes");
	ring_open(rig.database, &ring, NULL, 0);
	for (size_t n = 1; n <= RING_SECRET_MAX; n++)
		wrong += ring_find(ring, (struct text){secret, n}, NOW, &key) != RING_KNOWN || key.id != n;
	is_u64(wrong, 0, "each is found as its own");
	ring_close(&ring);
}

static void changes(struct ring_writer *writer)
{
	struct ring *ring;
	struct ring_key key;
	ok(rig_build(&rig, writer, 100, "free"), "a hundred keys");
	ok(ring_write_current(writer, &rig.state), "it is what the database says");
	struct ring_state other = rig.state;
	other.token++;
	ok(!ring_write_current(writer, &other), "not of another database at the same count");
	is_u64(ring_open(rig.database, &ring, rig.why, sizeof rig.why), 0, "a door opens it");
	is_u64(ring_count(ring), 100, "it knows how many there are");
	is_u64(rig_find(ring, 101, NOW, &key), RING_UNKNOWN, "key 101 is not there");
	struct ring_row row = rig_row(&rig, 101, "k101", "pro");
	is_u64(ring_write_add(writer, &row, rig.why, sizeof rig.why), 0, "it is added");
	row = rig_row(&rig, 5, "k5", "pro");
	ring_write_add(writer, &row, rig.why, sizeof rig.why);
	row = rig_row(&rig, 6, "k6", "free");
	row.revoked = true;
	ring_write_add(writer, &row, rig.why, sizeof rig.why);
	is_u64(rig_find(ring, 101, NOW, &key), RING_UNKNOWN, "and not seen yet");
	ok(rig_find(ring, 5, NOW, &key) == RING_KNOWN && rig_says(key.plan, key.plan_size, "free"),
	   "nor is a new plan");
	rig.state = (struct ring_state){.change = 2, .token = 22, .pepper = RIG_PEPPER, .keys = 100};
	is_u64(ring_write_link(writer, &rig.state, rig.why, sizeof rig.why), 0, "linked");
	is_u64(rig_find(ring, 101, NOW, &key), RING_KNOWN, "it is seen by who had the ring open");
	ok(rig_find(ring, 5, NOW, &key) == RING_KNOWN && rig_says(key.plan, key.plan_size, "pro"),
	   "so is the plan");
	is_u64(rig_find(ring, 6, NOW, &key), RING_REVOKED, "and who was revoked");
	ok(!ring_replaced(ring, 1), "in the same file");
	ok(ring_write_current(writer, &rig.state), "the ring knows which state that is");

	ring_used(ring, &(struct ring_key){.id = 5}, NOW);
	is_u64(ring_last_used(ring, 5), NOW, "when key 5 was last used");
	ring_used(ring, &(struct ring_key){.id = 5}, NOW + 19);
	is_u64(ring_last_used(ring, 5), NOW, "one stamp a minute");
	ring_used(ring, &(struct ring_key){.id = 5}, NOW + 20); /* NOW is 40 s into a minute */
	is_u64(ring_last_used(ring, 5), NOW + 20, "the next minute's");
	ring_used(ring, &(struct ring_key){.id = 0}, NOW);
	ring_used(ring, &(struct ring_key){.id = UINT64_MAX}, NOW);
	is_u64(ring_last_used(ring, 6), 0, "key 6 never");
	is_u64(ring_last_used(ring, UINT64_MAX) + ring_last_used(ring, 0), 0, "nor what is no key");

	ok(rig_build(&rig, writer, 101, "pro"), "made anew");
	ok(ring_replaced(ring, 2 * UINT64_C(1000000000)), "which is seen");
	is_u64(rig_find(ring, 7, NOW, &key), RING_KNOWN, "the old file still answers");
	ring_close(&ring);
	ring_open(rig.database, &ring, NULL, 0);
	ok(!ring_replaced(ring, 3 * UINT64_C(1000000000)), "the new one is nobody's predecessor");
	is_u64(ring_last_used(ring, 5), NOW + 20, "stamps go along");
	ring_close(&ring);
}

static void growth(struct ring_writer *writer)
{
	struct ring *ring;
	struct ring_key key;
	uint64_t id = 0, wrong = 0;
	char name[32];
	rig_build(&rig, writer, 0, "");
	ring_open(rig.database, &ring, NULL, 0);
	ok(ring_write_fits(writer, 1000, 1000), "an empty ring has room for a thousand");
	ok(!ring_write_fits(writer, 100000, 1) && !ring_write_fits(writer, 1, 1 << 20), "not for anything");
	while (ring_write_fits(writer, 1, id + 1)) {
		snprintf(name, sizeof name, "k%llu", (unsigned long long)++id);
		struct ring_row row = rig_row(&rig, id, name, "");
		ring_write_add(writer, &row, rig.why, sizeof rig.why);
		if (id % 100 == 0)
			ring_write_link(writer, &rig.state, rig.why, sizeof rig.why);
	}
	ring_write_link(writer, &rig.state, rig.why, sizeof rig.why);
	for (uint64_t i = 1; i <= id; i++)
		wrong += rig_find(ring, i, NOW, &key) != RING_KNOWN || key.id != i;
	ok(id >= 1000, "as many as it has room for");
	is_u64(wrong, 0, "all of them are found");
	ring_close(&ring);
}

int main(void)
{
	struct ring_writer *writer, *second;
	struct ring *ring;
	struct stat st;
	char path[160];
	rig_begin(&rig);
	published_vectors();
	is_u64(ring_open(rig.database, &ring, rig.why, sizeof rig.why), WEIR_NOT_FOUND, "no ring yet");
	is_u64(ring_write_open(rig.database, 0, &writer, rig.why, sizeof rig.why), 0, "a writer");
	is_u64(ring_write_open(rig.database, 20, &second, rig.why, sizeof rig.why), WEIR_BUSY,
	       "and no second one");
	ok(strstr(rig.why, "another process is changing API keys"), "says why");
	ok(!ring_write_current(writer, &rig.state) && !ring_write_fits(writer, 1, 1), "without a ring yet");
	states(writer);
	rig_path(&rig, ".ring", path);
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "the file is private");
	secrets_of_every_size(writer);
	changes(writer);
	growth(writer);
	ring_write_close(&writer);
	is_u64(ring_write_open(rig.database, 0, &writer, rig.why, sizeof rig.why), 0, "the next writer");
	ok(ring_write_current(writer, &rig.state), "finds the ring as it was left");
	ring_write_close(&writer);
	rig_end(&rig);
	return done_testing();
}
