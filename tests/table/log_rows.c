/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_rows: what happens to a log besides being charged: other numbers, another kind, forgetting, a lost ring word or
 * cell, a ring that lags. And what a refusal costs: nothing is written, and it looks at a few cells, not at all.
 */
#include <time.h>

#include "table/log.h"
#include "table/log_ring.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define NOW (UINT64_C(100) * RIG_SECOND)
#define SEC RIG_SECOND

static uint32_t log_row(struct table *table, uint64_t identity, uint32_t n, uint64_t period,
			uint32_t generation)
{
	struct algo_numbers numbers;
	if (!algo_sliding_log(n, period, &numbers))
		rig_die("log", "numbers");
	return rig_row(table, identity, &numbers, generation);
}

/* How many fit one by one, none of them kept. */
static unsigned fits(struct table *table, const struct table_key *key, uint32_t row, uint64_t now)
{
	struct algo_time t = {.now = now};
	struct table_look look;
	uint32_t low = 0, high = 70000;
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;
		table_peek(table, key, row, &t, middle, &look);
		*(look.allowed ? &low : &high) = middle;
	}
	return low;
}

static unsigned take(struct table *table, const struct table_key *key, uint32_t row, uint64_t now,
		     unsigned count)
{
	struct algo_time t = {.now = now};
	struct table_look look;
	unsigned took = 0;
	for (unsigned i = 0; i < count; i++)
		took += table_charge(table, key, row, &t, 1, &look) == TABLE_CHARGED;
	return took;
}

/* Four of `old`, a second apart, then the other numbers: what fits at which second. */
static const struct {
	const char *name;
	uint32_t n;
	uint64_t period_s;
	struct {
		unsigned at, fits;
	} then[6];
} conversions[] = {
	{"a larger N", 10, 10, {{4, 6}, {9, 6}, {10, 7}, {11, 8}, {13, 10}, {30, 10}}},
	{"a smaller N: the cells beyond it are forgotten, those below it are not",
	 2,
	 10,
	 {{4, 0}, {9, 0}, {10, 1}, {11, 2}, {13, 2}, {30, 2}}},
	{"a longer period", 5, 20, {{4, 1}, {13, 1}, {19, 1}, {20, 2}, {22, 4}, {23, 5}}},
	{"a shorter period", 5, 3, {{4, 3}, {5, 4}, {6, 5}, {7, 5}, {13, 5}, {30, 5}}},
	{"both", 3, 5, {{4, 0}, {5, 1}, {6, 2}, {7, 3}, {8, 3}, {30, 3}}},
	{"N of 0", 0, 10, {{4, 0}, {9, 0}, {10, 0}, {11, 0}, {13, 0}, {30, 0}}},
};

static void check_conversions(struct table *table)
{
	for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
		uint32_t old = log_row(table, 100 + i, 5, 10 * SEC, 1);
		uint32_t new = log_row(table, 100 + i, conversions[i].n, conversions[i].period_s * SEC, 2);
		struct table_key key = rig_key(table, 1, i), second = rig_key(table, 2, i);
		unsigned wrong = 0;
		for (unsigned k = 0; k < 4; k++) {
			take(table, &key, old, NOW + k * SEC, 1);
			take(table, &second, old, NOW + k * SEC, 1);
		}
		for (size_t k = 0; k < 6; k++) {
			unsigned got = fits(table, &key, new, NOW + conversions[i].then[k].at * SEC);
			wrong += got != conversions[i].then[k].fits;
			if (got != conversions[i].then[k].fits)
				note("at %u: %u, expected %u", conversions[i].then[k].at, got,
				     conversions[i].then[k].fits);
		}
		is_u64(wrong, 0, conversions[i].name);
		/* Charged at once, not only looked at: the same number, and by the old numbers nobody is judged. */
		uint64_t at = NOW + conversions[i].then[0].at * SEC;
		is_u64(take(table, &second, new, at, 20), conversions[i].then[0].fits, "  charged as well");
		/* One that admits nothing converts nothing. */
		is_u64(take(table, &second, old, at, 20), conversions[i].n ? 0 : 1,
		       "  and who has the old numbers is judged by the new");
	}
}

static void check_kinds(struct table *table)
{
	struct algo_numbers bucket = rig_token(1, 100 * SEC, 7), both;
	struct algo_time t = {.now = NOW};
	struct table_look look;
	uint32_t old = log_row(table, 200, 5, 10 * SEC, 1), new = rig_row(table, 200, &bucket, 2);
	struct table_key key = rig_key(table, 3, 1), other = rig_key(table, 3, 2);
	take(table, &key, old, NOW, 3);
	is_u64(take(table, &key, new, NOW, 20), 7, "from a log to a bucket: it begins anew");
	is_u64(table_charge(table, &key, old, &t, 1, &look), TABLE_REFUSED,
	       "  also for those who have the log still");
	is_u64(look.numbers.kind, ALGO_TOKEN_BUCKET, "  who see the bucket");
	table_peek(table, &key, old, &t, 1, &look);
	ok(!look.allowed && look.numbers.kind == ALGO_TOKEN_BUCKET, "  and when they look");

	old = rig_row(table, 201, &bucket, 1);
	algo_sliding_log(4, 10 * SEC, &both);
	new = rig_row(table, 201, &both, 2);
	take(table, &other, old, NOW, 7);
	is_u64(take(table, &other, new, NOW, 20), 4, "from a bucket to a log: it begins anew");
	is_u64(table_charge(table, &other, old, &t, 1, &look), TABLE_REFUSED,
	       "  also for those who have the bucket");
	ok(look.numbers.kind == ALGO_SLIDING_LOG && look.used == 4 && look.fits_at == NOW + 10 * SEC,
	   "  who see the log");
	table_peek(table, &other, old, &t, 1, &look);
	ok(!look.allowed && look.used == 4, "  and when they look");
	table_punish(table, &other, new, &t, 1, &look);
	ok(!look.allowed && look.used == 4, "a refusal that counts: a log has nothing to punish");
}

static void check_forget(struct table *table)
{
	uint32_t row = log_row(table, 300, 50, 10 * SEC, 1), other = log_row(table, 301, 50, 10 * SEC, 1);
	struct table_key key = rig_key(table, 4, 1), second = rig_key(table, 4, 2);
	struct census before, after;
	take(table, &key, row, NOW, 30);
	take(table, &second, other, NOW, 20);
	census_take(table, &before);
	ok(table_forget(table, &key), "a log is forgotten");
	census_take(table, &after);
	is_u64(after.empty - before.empty, 31, "  with all its cells");
	ok(!table_forget(table, &key), "  it is not there twice");
	is_u64(fits(table, &key, row, NOW), 50, "  and full again");
	is_u64(fits(table, &second, other, NOW), 30, "  another is not");
	take(table, &key, row, NOW, 30);
	is_u64(table_forget_limit(table, 300), 1, "all logs of a limit: one key");
	is_u64(fits(table, &key, row, NOW), 50, "  is full again");
	is_u64(fits(table, &second, other, NOW), 30, "  another is not");
}

static struct slot *slot_of(struct table *table, const struct table_key *key)
{
	struct slot_pair *pair = slot_pair(table, key);
	for (unsigned way = 0; way < LAYOUT_WAYS; way++)
		if (slot_has_tag(pair->ways[way].w0, slot_tag(key)))
			return &pair->ways[way];
	rig_die("slot", "it is not there");
}

/* What eviction takes. Never more than what is gone can be had again. */
static void check_lost(struct table *table)
{
	uint32_t row = log_row(table, 400, 10, 10 * SEC, 1);
	struct table_key key = rig_key(table, 5, 1), cell;
	struct algo_time t = {.now = NOW + 10 * SEC + 32};
	struct table_look look;
	for (unsigned i = 0; i < 10; i++)
		take(table, &key, row, NOW + i, 1);
	*slot_of(table, &key) = (struct slot){0, 0};
	is_u64(fits(table, &key, row, NOW + 20), 0, "without its ring word a log is as full as it was");
	is_u64(take(table, &key, row, NOW + 20, 3), 0, "  and admits nothing");
	is_u64(fits(table, &key, row, NOW + 10 * SEC + 5), 1, "  until they end, rounded up to 32 ns");
	is_u64(fits(table, &key, row, t.now), 10, "  then all");
	for (unsigned i = 0; i < 10; i++)
		take(table, &key, row, t.now + 100 * i, 1);
	for (uint32_t i = 0; i < 3; i++) { /* the oldest */
		cell = cell_key(&key, false, i);
		*slot_of(table, &cell) = (struct slot){0, 0};
	}
	is_u64(take(table, &key, row, t.now + 1000, 20), 3, "three cells gone: three more");
	is_u64(take(table, &key, row, t.now + 10 * SEC - 64, 20), 0, "  and no other before it ends");

	/* A ring that lags, by one who was killed: each place it may have been left at. */
	unsigned wrong = 0;
	for (uint32_t lag = 1; lag < 10; lag++)
		for (uint32_t used = lag; used <= 10; used++) {
			struct table_key its = rig_key(table, 6, lag * 100 + used);
			for (unsigned i = 0; i < used - lag; i++)
				take(table, &its, row, NOW + i * 100, 1);
			struct slot ring = {0, 0};
			if (used > lag)
				ring = *slot_of(table, &its);
			for (unsigned i = used - lag; i < used; i++)
				take(table, &its, row, NOW + i * 100, 1);
			*slot_of(table, &its) = ring;
			t.now = NOW + 2000;
			log_peek(table, &its, row, &t, 1, &look);
			wrong += look.used != used || look.allowed != (used < 10);
			wrong += used == 10 && look.fits_at != (NOW + 10 * SEC + 31) / 32 * 32;
			wrong += take(table, &its, row, t.now, 20) != 10 - used;
		}
	is_u64(wrong, 0, "a ring that lags, at any place: what is used is known");
}

static void check_refusals(void)
{
	struct rig rig = rig_new(4 << 20, 2);
	struct table *table = rig_open(&rig);
	uint32_t row = log_row(table, 500, 20000, 100 * SEC, 1);
	struct table_key key = rig_key(table, 7, 1);
	struct timespec begin, end;
	struct algo_time t = {.now = NOW};
	struct table_look look;
	unsigned wrong = 0;
	for (unsigned i = 0; i < 20000; i++) {
		t.now = NOW + 100 * (i / 3); /* alike, some of them */
		wrong += table_charge(table, &key, row, &t, 1, &look) != TABLE_CHARGED || look.used != i + 1;
	}
	is_u64(wrong, 0, "20,000 in a log, each counted");
	void *copy = malloc(table->pair_count * sizeof *table->pairs);
	memcpy(copy, table->pairs, table->pair_count * sizeof *table->pairs);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned i = 0; i < 100000; i++)
		wrong += table_charge(table, &key, row, &t, 1, &look) != TABLE_REFUSED ||
			 look.used != 20000 || look.fits_at != NOW + 100 * SEC ||
			 look.empty_at != (t.now + 100 * SEC + 31) / 32 * 32;
	clock_gettime(CLOCK_MONOTONIC, &end);
	double each = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
		      1e5;
	is_u64(wrong, 0, "refused, and told when");
	ok(memcmp(copy, table->pairs, table->pair_count * sizeof *table->pairs) == 0,
	   "  nothing was written");
	/* All cells would be a hundred times as much. */
	ok(each < 20000, "  and few cells were looked at");
	note("%.0f ns a refusal", each);
	free(copy);
	table_close(&table);
	rig_free(&rig);
}

/* A newer row that allows none, met in the middle: in a cell behind one that has been taken. Dividing by its N killed
 * whoever decided, again after each start, until the cell was gone. */
static void check_none(struct table *table)
{
	uint32_t row = log_row(table, 80, 3, 10 * SEC, 1), none = log_row(table, 80, 0, 10 * SEC, 2);
	const struct algo_time t = {.now = NOW};
	for (uint32_t at = 1; at < 3; at++) {
		struct table_key key = rig_key(table, 80, at), second = cell_key(&key, false, at);
		struct table_look look;
		struct log_taken taken = {0};
		struct slot *slot = &slot_pair(table, &second)->ways[7];
		*slot = (struct slot){slot_tag(&second) | none,
				      CELL_MARK | log_cell_data(NOW - SEC, false, 0)};
		is_u64(log_charge(table, &key, row, &t, 3, &taken, &look), TABLE_REFUSED,
		       "N of 0, met on the way: refused");
		is_u64(look.numbers.capacity, 0, "  by its numbers");
		is_u64(log_charge(table, &key, row, &t, 1, &taken, &look), TABLE_REFUSED,
		       "  and so it goes on");
		log_uncharge(table, &key, row, &t, &(struct log_taken){0, NOW + 10 * SEC}, 3);
		table_forget(table, &key);
		*slot = (struct slot){0, 0};
	}
}

int main(void)
{
	struct rig rig = rig_new(1 << 20, 2);
	struct table *table = rig_open(&rig);
	check_conversions(table);
	check_kinds(table);
	check_forget(table);
	check_lost(table);
	check_none(table);
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "the table is sound");
	rig_free(&rig);
	check_refusals();
	return done_testing();
}
