/* SPDX-License-Identifier: BSD-2-Clause */
/* top: what Space-Saving promises, against an exact count; epochs; several processes; names; owners that come and go. */
#include <math.h>

#include "table/handle.h"
#include "table/top.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define KEYS   4096u
#define TABLES 3u

struct exact { /* of this epoch, and of the one before */
	uint32_t asked[KEYS], refused[KEYS], before[KEYS];
	uint64_t requests;
};

static struct top_row *rows;
static size_t row_count;
static struct top_sum sum;

static void read_all(struct table *table, uint64_t now)
{
	free(rows);
	row_count = top_read(table, now, &rows, &sum);
}

static const struct top_row *row_of(uint64_t slot)
{
	for (size_t i = 0; i < row_count; i++)
		if (rows[i].slot == slot)
			return &rows[i];
	return NULL;
}

/* Keys as they come: a few ask most, the rest hardly ever (about Zipf); or a flood of which nobody comes twice. */
static uint32_t draw(uint64_t *seed, bool flood, uint32_t n)
{
	uint64_t r = rig_random(seed);
	if (flood && n % 4)
		return n % KEYS;
	uint32_t shift = (uint32_t)__builtin_ctzll(r | 1u << 11);
	return (uint32_t)(r >> 32) & ((1u << (shift + 1)) - 1);
}

static uint64_t slot_of(uint32_t key)
{
	return (uint64_t)(key + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void story(struct table **tables, unsigned processes, bool flood, uint32_t requests, const char *name)
{
	static struct exact exact;
	struct table *eye = tables[0];
	uint64_t seed = requests + processes, now = (UINT64_C(1) << 45) / TOP_EPOCH_NS * TOP_EPOCH_NS;
	uint64_t start = now + (uint64_t)(requests + flood + 10 * processes) * 10 * TOP_EPOCH_NS;
	bool never_less = true, never_far = true, there = true, error_small = true, refused_less = true;
	char what[200];

	exact = (struct exact){0};
	for (uint32_t n = 0; n < requests; n++) {
		uint32_t key = draw(&seed, flood, n);
		struct top_seen seen = {.slot = slot_of(key), .refused = key % 3 == 0, .plan = TOP_PLAN_NONE};
		exact.asked[key]++;
		exact.refused[key] += seen.refused;
		top_count(tables[rig_random(&seed) % processes], start + n, &seen);
	}
	read_all(eye, start + requests);
	for (uint32_t key = 0; key < KEYS; key++) {
		const struct top_row *row = row_of(slot_of(key));
		if (!row) {
			there = there && (uint64_t)exact.asked[key] * TOP_KEYS <= requests;
			continue;
		}
		never_less = never_less && exact.asked[key] <= row->asked;
		never_far = never_far && row->asked - row->error <= exact.asked[key];
		error_small = error_small && row->error * TOP_KEYS <= requests;
		refused_less = refused_less && row->refused <= exact.refused[key];
	}
	snprintf(what, sizeof what, "%s: every request is counted", name);
	is_u64(sum.requests, requests, what);
	snprintf(what, sizeof what, "%s: a key has asked at most as often as is said", name);
	ok(never_less, what);
	snprintf(what, sizeof what, "%s: and at least as often, less the error", name);
	ok(never_far, what);
	snprintf(what, sizeof what, "%s: the error is at most n/%u", name, TOP_KEYS);
	ok(error_small, what);
	snprintf(what, sizeof what, "%s: a key with more than n/%u is there", name, TOP_KEYS);
	ok(there, what);
	snprintf(what, sizeof what, "%s: refusals that are told did happen", name);
	ok(refused_less, what);
}

/* Beyond TOP_EXACT: the shares of those who ask most, within five standard deviations. */
static void check_sampled(struct table *table)
{
	static uint32_t asked[KEYS];
	uint64_t seed = 5, now = (UINT64_C(1) << 44) / TOP_EPOCH_NS * TOP_EPOCH_NS;
	const uint32_t n = 1u << 20;
	bool near = true;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t key = draw(&seed, false, i);
		asked[key]++;
		top_count(table, now + i, &(struct top_seen){.slot = slot_of(key), .refused = key == 1});
	}
	read_all(table, now + n);
	ok(sum.requests > n - n / 256 && sum.requests < n + n / 256,
	   "sampled: how many there were, to half a per cent");
	for (uint32_t key = 0; key < 4; key++) {
		const struct top_row *row = row_of(slot_of(key));
		double deviation = 2 * sqrt((double)asked[key]);
		near = near && row &&
		       fabs((double)row->asked - (double)row->error - asked[key]) < 5 * deviation;
	}
	ok(near, "sampled: who asks most, and how much");
	ok(row_of(slot_of(1))->refused == row_of(slot_of(1))->asked - row_of(slot_of(1))->error,
	   "sampled: refusals as requests");
}

/* The epoch before: what is told of it did happen, and who was busy in both is not lost. */
static void check_epochs(struct table *table)
{
	static uint32_t first[KEYS], second[KEYS];
	uint64_t seed = 7, start = (UINT64_C(1) << 46) / TOP_EPOCH_NS * TOP_EPOCH_NS;
	bool sure = true, bounded = true;

	for (uint32_t n = 0; n < TOP_EXACT; n++) {
		uint32_t key = draw(&seed, n % 2, n);
		first[key]++;
		top_count(table, start + n, &(struct top_seen){.slot = slot_of(key)});
	}
	for (uint32_t n = 0; n < TOP_EXACT; n++) {
		uint32_t key = draw(&seed, n % 2, n);
		second[key]++;
		top_count(table, start + TOP_EPOCH_NS + n, &(struct top_seen){.slot = slot_of(key)});
	}
	read_all(table, start + TOP_EPOCH_NS + TOP_EXACT);
	is_u64(sum.before, TOP_EXACT, "the epoch before: how many");
	is_u64(sum.requests, TOP_EXACT, "this one: only its own");
	is_u64(sum.window_ns, TOP_EPOCH_NS + TOP_EXACT, "both together began with the first");
	for (uint32_t key = 0; key < KEYS; key++) {
		const struct top_row *row = row_of(slot_of(key));
		if (!row)
			continue;
		sure = sure && row->before <= first[key];
		bounded = bounded && second[key] <= row->asked && row->asked - row->error <= second[key];
	}
	ok(sure, "what is told of the epoch before did happen");
	ok(bounded, "this epoch's bounds hold by themselves");
	ok(row_of(slot_of(0)) && row_of(slot_of(0))->before > 1000, "who was busy in both is known in both");
	read_all(table, start + 2 * TOP_EPOCH_NS + 5);
	const struct top_row *row = row_of(slot_of(0));
	ok(row && row->asked == 0 && row->before > 1000 && row->before <= second[0],
	   "an epoch without requests: what was is told as before");
	read_all(table, start + 3 * TOP_EPOCH_NS + 5);
	is_u64(row_count, 0, "two epochs later nothing is told");
	top_count(table, start + 9 * TOP_EPOCH_NS, &(struct top_seen){.slot = 77});
	read_all(table, start + 9 * TOP_EPOCH_NS);
	ok(row_count == 1 && rows[0].slot == 77 && rows[0].asked == 1 && rows[0].before == 0,
	   "after a pause it begins anew");
	is_u64(sum.window_ns, RIG_SECOND, "a rate is over a second at least");
}

static void check_names(struct table *table)
{
	uint64_t now = UINT64_C(1) << 47;
	struct top_seen seen = {
		.slot = 5, .generation = 9, .limit = 0x123456, .plan = 3, .share = 700, .refused = true};
	char longest[100], hostile[] = "a\0\xff\n\x1b[31m";

	memset(longest, 'x', sizeof longest);
	ok(top_count(table, now, &seen) & TOP_WANTS_NAME, "a key in a free place wants a name at once");
	top_name(table, hostile, sizeof hostile - 1);
	ok(!(top_count(table, now, &seen) & TOP_WANTS_NAME), "which it has then");
	read_all(table, now);
	const struct top_row *row = row_of(5);
	ok(row && row->generation == 9 && row->limit == 0x123456 && row->plan == 3 && row->share == 700 &&
		   row->asked == 2 && row->refused == 2 && row->last == now,
	   "what was seen is told");
	ok(row && row->name_size == sizeof hostile - 1 && memcmp(row->name, hostile, sizeof hostile - 1) == 0,
	   "hostile bytes come out as they went in");
	seen.share = TOP_SHARE_KEEP;
	seen.limit = 2;
	top_count(table, now, &seen);
	read_all(table, now);
	ok(row_of(5)->share == 700 && row_of(5)->limit == 2 && row_of(5)->name_size == sizeof hostile - 1,
	   "a share that was not looked at stays; so does the name");
	top_share(table, 5000);
	read_all(table, now);
	is_u64(row_of(5)->share, TOP_FULL, "more than all is all");
	for (uint64_t slot = 6; slot < 6 + TOP_KEYS - 1; slot++)
		for (unsigned i = 0; i < 5; i++)
			top_count(table, now, &(struct top_seen){.slot = slot});
	unsigned wanted = 0;
	for (uint64_t slot = 1000; slot < 2000; slot++)
		wanted += top_count(table, now, &(struct top_seen){.slot = slot}) & TOP_WANTS_NAME;
	is_u64(wanted, 0, "of a flood of keys that come once none wants a name");
	ok(top_count(table, now, &(struct top_seen){.slot = 1999}) & TOP_WANTS_NAME,
	   "one that comes again does");
	top_name(table, longest, sizeof longest);
	read_all(table, now);
	is_u64(row_of(1999)->name_size, TOP_NAME_MAX, "a long name is cut");
	top_count(table, now, &(struct top_seen){.slot = 0});
	read_all(table, now);
	ok(row_of(1) != NULL, "slot 0, which means none, is told as 1");
	seen.slot = 1999;
	unsigned looks = 0;
	for (unsigned i = 0; i < 160; i++)
		looks += top_count(table, now, &seen) / TOP_WANTS_SHARE;
	is_u64(looks, 23, "a share is looked for fifteen times, then each sixteenth");
}

static void check_owners(const struct rig *rig)
{
	uint64_t now = UINT64_C(1) << 48;
	struct table *one = rig_open(rig), *eye = rig_open_as(rig, true);

	top_count(one, now, &(struct top_seen){.slot = 11});
	top_name(one, "eleven", 6);
	top_count(one, now, &(struct top_seen){.slot = 12});
	ok(!top_count(eye, now, &(struct top_seen){.slot = 11}), "who only reads counts nothing");
	table_close(&one);
	one = rig_open(rig);
	ok(!(top_count(one, now + 1, &(struct top_seen){.slot = 11}) & TOP_WANTS_NAME),
	   "the next owner of a process slot goes on, names included");
	read_all(eye, now + 1);
	ok(row_count == 2 && row_of(11)->asked == 2 && row_of(12)->asked == 1, "with both keys");
	table_retire(one);
	ok(!top_count(one, now + 2, &(struct top_seen){.slot = 11}), "who has retired counts nothing");
	table_resume(one);
	top_count(one, now + 3, &(struct top_seen){.slot = 11});
	read_all(eye, now + 3);
	ok(row_of(11) && row_of(11)->asked == 3, "and goes on when it comes back");

	/* what nobody wrote */
	struct top_area *area = &one->tops[one->process_index];
	memset(area->entries, 0xff, sizeof area->entries);
	read_all(eye, now + 3);
	bool bounded = row_count <= TOP_KEYS;
	for (size_t i = 0; i < row_count; i++)
		bounded = bounded && rows[i].name_size <= TOP_NAME_MAX && rows[i].share <= TOP_FULL &&
			  rows[i].error <= rows[i].asked && rows[i].refused <= rows[i].asked;
	ok(bounded, "a damaged sketch is read within bounds");
	table_close(&one);
	one = rig_open(rig);
	uint64_t seed = 3;
	for (unsigned i = 0; i < 5000; i++)
		top_count(one, now + 4, &(struct top_seen){.slot = rig_random(&seed) % 200});
	read_all(eye, now + 4);
	ok(row_count <= TOP_KEYS, "and taken over without harm");
	area->epoch = 0;
	read_all(eye, now + 4);
	is_u64(row_count, 0, "one whose owner died between two epochs is not read");
	table_close(&one);
	table_close(&eye);
}

/* A table that was made before there were sketches. */
static void check_without(const struct rig *rig)
{
	struct table *table = rig_open(rig);

	table->tops = NULL;
	table->top.area = NULL;
	ok(!top_there(table) && !top_count(table, 1, &(struct top_seen){.slot = 1}),
	   "without a section nothing is counted");
	top_name(table, "x", 1);
	top_share(table, 1);
	read_all(table, 1);
	ok(row_count == 0, "and nothing is told");
	table_close(&table);
}

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 8);
	struct table *tables[TABLES];

	for (unsigned i = 0; i < TABLES; i++)
		tables[i] = rig_open(&rig);
	ok(top_there(tables[0]), "a new table has sketches");
	story(tables, 1, false, TOP_EXACT, "one process");
	story(tables, 1, true, TOP_EXACT, "one process, a flood");
	story(tables, TABLES, false, 2 * TOP_EXACT, "three processes");
	story(tables, TABLES, true, 2 * TOP_EXACT, "three processes, a flood");
	story(tables, 1, false, 40, "few");
	check_sampled(tables[0]);
	check_epochs(tables[1]);
	check_names(tables[2]);
	for (unsigned i = 0; i < TABLES; i++)
		table_close(&tables[i]);
	check_owners(&rig);
	check_without(&rig);
	free(rows);
	is_u64(rig_broken(&rig), 0, "the table is as sound as before");
	rig_free(&rig);
	return done_testing();
}
