/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evict: who is limited does not free himself by inventing keys (T6).
 *
 * A client that had used up 5 logins a minute once was free again after some thousand keys, touched once
 * each, of another limit of the same policy: 10,000 a day, whose every touch recovers hours later. Here
 * victims use up their limit, then keys ten times as many as the table has slots are touched once, while time
 * passes: each victim's word must still be there, byte for byte.
 */
#include "table/slot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define NOW	(UINT64_C(100) * RIG_SECOND)
#define MINUTE	(60 * RIG_SECOND)
#define HOUR	(60 * MINUTE)
#define DAY	(24 * HOUR)
#define VICTIMS 64u

struct numbers {
	enum algo_kind kind;
	uint32_t count;
	uint64_t period;
};

static const struct {
	const char *name;
	struct numbers victim, flood; /* the same: keys of one limit */
	uint64_t lasts;		      /* ns that the flood takes: less than half of a victim's debt is paid */
} floods[] = {
	{"5 a minute beside 10,000 a day",
	 {ALGO_TOKEN_BUCKET, 5, MINUTE},
	 {ALGO_FIXED_WINDOW, 10000, DAY},
	 29 * RIG_SECOND},
	{"5 a minute beside an even 10,000 a day",
	 {ALGO_TOKEN_BUCKET, 5, MINUTE},
	 {ALGO_TOKEN_BUCKET, 10000, DAY},
	 29 * RIG_SECOND},
	{"5 a minute beside 1,000,000 a month",
	 {ALGO_TOKEN_BUCKET, 5, MINUTE},
	 {ALGO_FIXED_WINDOW, 1000000, 30 * DAY},
	 29 * RIG_SECOND},
	{"a queue of 10 at 1/s beside 1,000 an hour",
	 {ALGO_LEAKY_BUCKET, 1, RIG_SECOND},
	 {ALGO_FIXED_WINDOW, 1000, HOUR},
	 4 * RIG_SECOND},
	{"50/s beside 10,000 a day",
	 {ALGO_TOKEN_BUCKET, 50, RIG_SECOND},
	 {ALGO_FIXED_WINDOW, 10000, DAY},
	 RIG_SECOND / 5},
	{"5 a minute among its own kind",
	 {ALGO_TOKEN_BUCKET, 5, MINUTE},
	 {ALGO_TOKEN_BUCKET, 5, MINUTE},
	 40 * RIG_SECOND},
	{"a window of 10,000 a day among its own kind",
	 {ALGO_FIXED_WINDOW, 10000, DAY},
	 {ALGO_FIXED_WINDOW, 10000, DAY},
	 12 * HOUR},
	{"a window of 5 a minute among its own kind",
	 {ALGO_FIXED_WINDOW, 5, MINUTE},
	 {ALGO_FIXED_WINDOW, 5, MINUTE},
	 50 * RIG_SECOND},
};

static struct algo_numbers build(const struct numbers *of)
{
	switch (of->kind) {
	case ALGO_TOKEN_BUCKET:
		return rig_token(of->count, of->period, of->count);
	case ALGO_LEAKY_BUCKET:
		return rig_leaky(of->count, of->period, 10);
	default:
		return rig_window(of->count, of->period, ALGO_FIRST_REQUEST);
	}
}

static unsigned forgotten(struct table *table, uint32_t row, const struct table_key *keys,
			  const uint64_t *words, const struct algo_time *t)
{
	unsigned count = 0;
	for (unsigned i = 0; i < VICTIMS; i++) {
		struct table_look look;
		table_peek(table, &keys[i], row, t, 1, &look);
		count += look.state != words[i];
	}
	return count;
}

static void check_flood(size_t i)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	bool same = memcmp(&floods[i].victim, &floods[i].flood, sizeof floods[i].flood) == 0;
	struct algo_numbers victim = build(&floods[i].victim), flood = build(&floods[i].flood);
	uint32_t row = rig_row(table, 1, &victim, 1), other = same ? row : rig_row(table, 2, &flood, 1);
	uint64_t touches = 10 * LAYOUT_WAYS * table->pair_count, words[VICTIMS];
	struct algo_time t = {.now = NOW};
	struct table_key keys[VICTIMS];
	struct table_look look;
	unsigned lost = 0;

	for (unsigned k = 0; k < VICTIMS; k++) {
		keys[k] = rig_key(table, 50, k);
		while (table_charge(table, &keys[k], row, &t, 1, &look) == TABLE_CHARGED)
			words[k] = look.state;
	}
	for (uint64_t k = 0; k < touches; k++) {
		struct table_key key = rig_key(table, 51, k);
		t.now = NOW + floods[i].lasts * k / touches;
		if (table_charge(table, &key, other, &t, 1, &look) != TABLE_CHARGED)
			rig_die("charge", "a fresh key found no room");
		if (k % 4096 == 0)
			lost += forgotten(table, row, keys, words, &t);
	}
	lost += forgotten(table, row, keys, words, &t);
	is_u64(lost, 0, floods[i].name);

	struct stats_process sum;
	stats_process_sum(table, &sum);
	ok(sum.evicted_live > touches / 100, "  the table was full of live keys");
	table_close(&table);
	rig_free(&rig);
}

int main(void)
{
	for (size_t i = 0; i < sizeof floods / sizeof *floods; i++)
		check_flood(i);
	return done_testing();
}
