/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evict_log: logs under a flood of invented keys, and limits that want no live key forgotten (T6, `on_full`).
 *
 * A log forgets by cells, those of the least share first: what it lost by then it may admit once more, never more.
 */
#include "table/log.h"
#include "table/slot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define NOW	(UINT64_C(100) * RIG_SECOND)
#define MINUTE	(60 * RIG_SECOND)
#define VICTIMS 64u

static uint32_t log_row(struct table *table, uint64_t identity, uint32_t n, uint64_t period)
{
	struct algo_numbers numbers;
	if (!algo_sliding_log(n, period, &numbers))
		rig_die("log", "numbers");
	return rig_row(table, identity, &numbers, 1);
}

enum kind { BUCKET, LOG };

static uint32_t row_of(struct table *table, enum kind kind, uint64_t identity, uint32_t n)
{
	struct algo_numbers numbers = rig_token(n, MINUTE, n);
	return kind == LOG ? log_row(table, identity, n, MINUTE) : rig_row(table, identity, &numbers, 1);
}

/* Victims have used up their limit, one unit after the other; then come keys, ten times as many as there are slots,
 * each touched as often as `touches` says. What can be had again is what was forgotten, and what has recovered. */
static const struct {
	const char *name;
	enum kind victim;
	uint32_t n;
	enum kind flood;
	uint32_t flood_n, touches;
	uint32_t lost; /* of each victim's units, in thousandths of all */
} floods[] = {
	{"a bucket of 20, keys of a bucket touched once", BUCKET, 20, BUCKET, 100, 1, 0},
	{"a bucket of 20, keys of a log touched once", BUCKET, 20, LOG, 100, 1, 0},
	{"a bucket of 20, keys of a bucket touched ten times", BUCKET, 20, BUCKET, 100, 10, 100},
	{"a bucket of 20, keys of a log touched ten times", BUCKET, 20, LOG, 100, 10, 100},
	{"a log of 20, keys of a bucket touched once", LOG, 20, BUCKET, 100, 1, 0},
	{"a log of 20, keys of a bucket touched ten times", LOG, 20, BUCKET, 100, 10, 100},
	{"a log of 20, keys of a log touched once", LOG, 20, LOG, 100, 1, 0},
	{"a log of 20, keys of a log touched ten times", LOG, 20, LOG, 100, 10, 100},
};

static uint64_t takes(struct table *table, const struct table_key *key, uint32_t row, uint64_t now)
{
	struct algo_time t = {.now = now};
	struct table_look look;
	uint64_t count = 0;
	while (table_charge(table, key, row, &t, 1, &look) == TABLE_CHARGED)
		count++;
	return count;
}

static void check_flood(size_t f)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN * 4, 2);
	struct table *table = rig_open(&rig);
	uint32_t n = floods[f].n;
	uint32_t row = row_of(table, floods[f].victim, 1, n);
	uint32_t other = row_of(table, floods[f].flood, 2, floods[f].flood_n);
	uint64_t slots = LAYOUT_WAYS * table->pair_count, keys = 10 * slots, taken = 0, lost = 0, wrong = 0;
	struct algo_time t = {.now = NOW};
	struct stats_process before, after;
	struct table_look look;
	char text[200];
	if (floods[f].touches > 1)
		keys /= 4;
	for (unsigned i = 0; i < VICTIMS; i++) {
		struct table_key key = rig_key(table, 50, i);
		taken += takes(table, &key, row, NOW);
	}
	is_u64(taken, (uint64_t)VICTIMS * n, floods[f].name);
	stats_process_sum(table, &before);
	for (uint64_t k = 0; k < keys; k++) {
		struct table_key key = rig_key(table, 51, k);
		t.now = NOW + 2 * RIG_SECOND * k / keys;
		for (uint32_t touch = 0; touch < floods[f].touches; touch++)
			wrong += table_charge(table, &key, other, &t, 1, &look) != TABLE_CHARGED;
	}
	is_u64(wrong, 0, "  every invented key had its place");
	stats_process_sum(table, &after);
	for (unsigned i = 0; i < VICTIMS; i++) {
		struct table_key key = rig_key(table, 50, i);
		lost += takes(table, &key, row, NOW);
	}
	snprintf(text, sizeof text, "  the victims get back at most %u thousandths", floods[f].lost);
	if (!ok(lost * 1000 <= taken * floods[f].lost, text))
		note("lost %" PRIu64 " of %" PRIu64, lost, taken);
	else
		note("lost %" PRIu64 " of %" PRIu64 ", evicted live %" PRIu64, lost, taken,
		     after.evicted_live - before.evicted_live);
	ok(after.evicted_live - before.evicted_live > keys / 2, "  and the evictions were counted");
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "  the table is sound");
	rig_free(&rig);
}

int main(void)
{
	for (size_t f = 0; f < sizeof floods / sizeof *floods; f++)
		check_flood(f);
	return done_testing();
}
