/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insert: which slot a new key gets, and what becomes of claims that others left (T4, T6).
 *
 * One pair is laid out by hand, one request is charged, and the pair is compared with what it must be.
 * What happens between two processes is the business of the race and kill tests.
 */
#include "table/slot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

/* What a way holds, before or after. K: the key that is charged; X: other keys. Time is NOW. */
enum way {
	EMPTY,
	K_CLAIM,   /* left by someone killed */
	K_CHARGED, /* one charge */
	K_OLDER,   /* one charge, under an older row of the limit, half as large */
	K_NEWER,   /* ..., under a newer row, twice as large: a policy this process does not have yet */
	K_DAMAGED, /* a row that is not in the ledger */
	K_OTHER,   /* the same tag, another limit: another key */
	K_TWICE,   /* two charges */
	K_HALF,	   /* one charge under the older row and one more: half used and one */
	K_NEWER_TWICE,
	X_CLAIM,
	X_DAMAGED,
	X_RECOVERED,
	X_SOON, /* less used than X_LATE, and recovers before it */
	X_LATE
};

#define NOW   (UINT64_C(100) * RIG_SECOND)
#define BURST 10u

struct scene {
	struct table *table;
	struct table_key key;
	struct slot_pair *pair;
	uint32_t row, older, newer, other;
	struct algo_numbers numbers, half, twice;
};

static uint64_t word_of(const struct algo_numbers *numbers, unsigned charges, uint64_t at)
{
	struct algo_outcome outcome = {0};
	struct algo_time t = {.now = at};
	algo_step(numbers, 0, &t, charges, &outcome);
	return outcome.state;
}

static struct slot slot_of(const struct scene *scene, enum way way, unsigned index)
{
	uint64_t tag = slot_tag(&scene->key), x = (uint64_t)(1000 + index) << LAYOUT_ROW_BITS;
	uint64_t claim = LAYOUT_CLAIM | UINT64_C(1) << LAYOUT_NONCE_BITS | (900 + index);
	struct algo_time t = {.now = NOW};
	uint64_t half = algo_convert(&scene->half, &scene->numbers, word_of(&scene->half, 1, NOW), &t);
	struct algo_outcome outcome;
	switch (way) {
	case K_CLAIM:
		return (struct slot){tag | scene->row, claim};
	case K_CHARGED:
		return (struct slot){tag | scene->row, word_of(&scene->numbers, 1, NOW)};
	case K_OLDER:
		return (struct slot){tag | scene->older, word_of(&scene->half, 1, NOW)};
	case K_NEWER:
		return (struct slot){tag | scene->newer, word_of(&scene->twice, 1, NOW)};
	case K_DAMAGED:
		return (struct slot){tag | 0xfff000, word_of(&scene->numbers, 1, NOW)};
	case K_OTHER:
		return (struct slot){tag | scene->other, word_of(&scene->numbers, 1, NOW)};
	case K_TWICE:
		return (struct slot){tag | scene->row, word_of(&scene->numbers, 2, NOW)};
	case K_HALF:
		algo_step(&scene->numbers, half, &t, 1, &outcome);
		return (struct slot){tag | scene->row, outcome.state};
	case K_NEWER_TWICE:
		return (struct slot){tag | scene->newer, word_of(&scene->twice, 2, NOW)};
	case X_CLAIM:
		return (struct slot){x | scene->row, claim};
	case X_DAMAGED:
		return (struct slot){x | 0xfff000, word_of(&scene->numbers, 1, NOW)};
	case X_RECOVERED:
		return (struct slot){x | scene->row, word_of(&scene->numbers, 1, NOW - 50 * RIG_SECOND)};
	case X_SOON:
		return (struct slot){x | scene->row, word_of(&scene->numbers, 2, NOW)};
	case X_LATE:
		return (struct slot){x | scene->row, word_of(&scene->numbers, 5, NOW)};
	default:
		return (struct slot){0, 0};
	}
}

#define FULL X_LATE, X_LATE, X_LATE, X_LATE, X_LATE, X_LATE

static const struct {
	const char *name;
	enum way before[LAYOUT_WAYS], after[LAYOUT_WAYS];
	uint64_t inserted, evicted, evicted_live, converted;
} cases[] = {
	{"an empty pair: the first way", {EMPTY}, {K_CHARGED}, 1, 0, 0, 0},
	{"a known key is charged in place", {X_SOON, K_CHARGED}, {X_SOON, K_TWICE}, 0, 0, 0, 0},
	{"an empty way before a recovered one",
	 {X_RECOVERED, X_LATE, EMPTY},
	 {X_RECOVERED, X_LATE, K_CHARGED},
	 1,
	 0,
	 0,
	 0},
	{"a recovered key before a claim",
	 {FULL, X_CLAIM, X_RECOVERED},
	 {FULL, X_CLAIM, K_CHARGED},
	 1,
	 1,
	 0,
	 0},
	{"another's claim before a live key", {FULL, X_SOON, X_CLAIM}, {FULL, X_SOON, K_CHARGED}, 1, 0, 0, 0},
	{"a damaged slot before a live key",
	 {FULL, X_SOON, X_DAMAGED},
	 {FULL, X_SOON, K_CHARGED},
	 1,
	 1,
	 0,
	 0},
	{"of live keys the one in which least is forgotten",
	 {FULL, X_SOON, X_LATE},
	 {FULL, K_CHARGED, X_LATE},
	 1,
	 0,
	 1,
	 0},
	{"a claim of the key, left behind, is taken over",
	 {X_LATE, K_CLAIM},
	 {X_LATE, K_CHARGED},
	 1,
	 0,
	 0,
	 0},
	{"even when a way is empty", {EMPTY, K_CLAIM}, {EMPTY, K_CHARGED}, 1, 0, 0, 0},
	{"of several claims the lowest stays, the others go",
	 {X_LATE, K_CLAIM, X_LATE, K_CLAIM, EMPTY, EMPTY, EMPTY, K_CLAIM},
	 {X_LATE, K_CHARGED, X_LATE, EMPTY},
	 1,
	 0,
	 0,
	 0},
	{"a charged slot counts, a claim beside it does not",
	 {K_CLAIM, X_LATE, K_CHARGED},
	 {K_CLAIM, X_LATE, K_TWICE},
	 0,
	 0,
	 0,
	 0},
	{"an older row is converted: half used stays half used", {K_OLDER}, {K_HALF}, 0, 0, 0, 1},
	{"a newer row decides, and stays", {K_NEWER}, {K_NEWER_TWICE}, 0, 0, 0, 0},
	{"a damaged row is replaced in place", {EMPTY, K_DAMAGED}, {EMPTY, K_CHARGED}, 0, 0, 0, 1},
	{"the same tag of another limit is another key", {K_OTHER}, {K_OTHER, K_CHARGED}, 1, 0, 0, 0},
};

static void check_case(struct scene *scene, size_t i)
{
	struct algo_time t = {.now = NOW};
	struct table_look look;
	struct stats_process before, after;
	for (unsigned way = 0; way < LAYOUT_WAYS; way++)
		scene->pair->ways[way] = slot_of(scene, cases[i].before[way], way);
	stats_process_sum(scene->table, &before);
	enum table_charge result = table_charge(scene->table, &scene->key, scene->row, &t, 1, &look);
	stats_process_sum(scene->table, &after);

	bool same = result == TABLE_CHARGED;
	for (unsigned way = 0; way < LAYOUT_WAYS; way++) {
		struct slot slot = slot_of(scene, cases[i].after[way], way);
		bool fits = scene->pair->ways[way].w0 == slot.w0 && scene->pair->ways[way].w1 == slot.w1;
		if (!fits)
			note("way %u: %016" PRIx64 " %016" PRIx64 ", expected %016" PRIx64 " %016" PRIx64,
			     way, scene->pair->ways[way].w0, scene->pair->ways[way].w1, slot.w0, slot.w1);
		same = same && fits;
	}
	ok(same, cases[i].name);
	ok(after.inserted - before.inserted == cases[i].inserted &&
		   after.evicted - before.evicted == cases[i].evicted &&
		   after.evicted_live - before.evicted_live == cases[i].evicted_live &&
		   after.converted - before.converted == cases[i].converted,
	   "  and is counted as what it was");
}

/* A refusal leaves every byte alone, whether the key is there or not. */
static void check_refusal(struct scene *scene)
{
	struct algo_time t = {.now = NOW};
	struct table_look look;
	struct slot_pair before;
	for (unsigned way = 0; way < LAYOUT_WAYS; way++)
		scene->pair->ways[way] = slot_of(scene, way == 3 ? K_CHARGED : EMPTY, way);
	before = *scene->pair;
	is_u64(table_charge(scene->table, &scene->key, scene->row, &t, BURST, &look), TABLE_REFUSED,
	       "a refusal");
	ok(memcmp(&before, scene->pair, sizeof before) == 0, "writes nothing");
	memset(scene->pair, 0, sizeof *scene->pair);
	before = *scene->pair;
	is_u64(table_charge(scene->table, &scene->key, scene->row, &t, BURST + 1, &look), TABLE_REFUSED,
	       "a refusal of an absent key");
	is_u64(table_charge(scene->table, &scene->key, scene->row, &t, 0, &look), TABLE_CHARGED,
	       "a cost of 0");
	table_peek(scene->table, &scene->key, scene->row, &t, 1, &look);
	ok(look.allowed && look.state == 0, "and a look at it");
	ok(memcmp(&before, scene->pair, sizeof before) == 0, "write nothing");
}

/* A row the ledger does not have: nobody can say what the limit is. */
static void check_no_row(struct scene *scene)
{
	struct algo_time t = {.now = NOW};
	struct table_look look;
	const uint32_t rows[] = {TABLE_ROW_NONE, 0xfff000, UINT32_MAX, scene->row | 1u << 24};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		is_u64(table_charge(scene->table, &scene->key, rows[i], &t, 1, &look), TABLE_NO_ROOM,
		       "without a row there is no room");
		ok(look.allowed && look.numbers.kind == ALGO_NONE, "and it is not refused either");
	}
}

/* T6: keys touched once, eight times as many as there are slots, do not wipe one throttled key. */
static void check_flood(struct scene *scene)
{
	struct algo_time t = {.now = NOW};
	struct table_look look;
	struct table_key victims[64];
	unsigned forgotten = 0;
	memset(scene->table->pairs, 0, scene->table->pair_count * sizeof *scene->table->pairs);
	for (unsigned i = 0; i < 64; i++) {
		victims[i] = rig_key(scene->table, 50, i);
		table_charge(scene->table, &victims[i], scene->row, &t, BURST, &look);
	}
	for (unsigned i = 0; i < 8 * 8 * scene->table->pair_count; i++) {
		struct table_key key = rig_key(scene->table, 51, i);
		t.now += 1000;
		table_charge(scene->table, &key, scene->row, &t, 1, &look);
	}
	for (unsigned i = 0; i < 64; i++) {
		table_peek(scene->table, &victims[i], scene->row, &t, 1, &look);
		forgotten += look.state == 0;
	}
	is_u64(forgotten, 0, "a flood of single touches wipes no throttled key");
}

/* I4: the counter of a process slot goes on with its next owner. */
static void check_nonces(const struct rig *rig)
{
	struct table *table = rig_open(rig);
	uint32_t index = table->process_index;
	struct algo_numbers numbers = rig_token(1, RIG_SECOND, BURST);
	uint32_t row = rig_row(table, 99, &numbers, 1);
	struct algo_time t = {.now = NOW};
	struct table_look look;
	uint64_t first = table->process->nonce;
	for (uint64_t i = 0; i < 5; i++) {
		struct table_key key = rig_key(table, 60, i);
		table_charge(table, &key, row, &t, 1, &look);
	}
	is_u64(table->process->nonce, first + 5, "a claim each");
	table_close(&table);
	table = rig_open(rig);
	ok(table->process_index == index && table->process->nonce == first + 5,
	   "the next owner goes on where the last stopped");
	table_close(&table);
}

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct scene scene = {.table = rig_open(&rig)};
	scene.half = rig_token(1, RIG_SECOND, BURST / 2);
	scene.numbers = rig_token(1, RIG_SECOND, BURST);
	scene.twice = rig_token(1, RIG_SECOND, BURST * 2);
	scene.older = rig_row(scene.table, 1, &scene.half, 1);
	scene.row = rig_row(scene.table, 1, &scene.numbers, 2);
	scene.newer = rig_row(scene.table, 1, &scene.twice, 3);
	scene.other = rig_row(scene.table, 2, &scene.numbers, 2);
	scene.key = rig_key(scene.table, 1, 1);
	scene.pair = slot_pair(scene.table, &scene.key);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_case(&scene, i);
	check_refusal(&scene);
	check_no_row(&scene);
	check_flood(&scene);
	check_nonces(&rig);
	table_close(&scene.table);
	rig_free(&rig);
	return done_testing();
}
