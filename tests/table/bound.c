/* SPDX-License-Identifier: BSD-2-Clause */
/* bound: one counter, asked by several with bounds of their own: what passes whom, what a refusal writes, what a newer
 * row changes, and places of which each asker has a number of his own. */
#include "table/slot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define MS    UINT64_C(1000000)
#define BEGIN (UINT64_C(100) * RIG_SECOND)

enum act { CHARGE, PEEK, UNDO, PLAIN };
enum row {
	MS_2,
	MS_1,
	NS_2000,
	NS_ASKED,
	ROWS
}; /* 2r/s, 1r/s, 2000r/s, and one that the asker says: in this order */

static const struct step {
	const char *what;
	unsigned key;
	enum row row;
	uint64_t at_us;
	enum act act;
	struct algo_bound bound;
	bool passes;
	uint64_t excess; /* thousandths: of the request that passed, or would have */
} steps[] = {
	{"a key of 2r/s without burst: the first", 1, MS_2, 0, CHARGE, {0, 0, 0}, true, 0},
	{"the second is one too many", 1, MS_2, 0, CHARGE, {0, 0, 0}, false, 1000},
	{"for one with a burst of two it is not", 1, MS_2, 0, PEEK, {2, 0, 0}, true, 1000},
	{"looking has charged nothing", 1, MS_2, 0, CHARGE, {2, 2, 0}, true, 1000},
	{"nor has being refused", 1, MS_2, 0, CHARGE, {2, 0, 0}, true, 2000},
	{"a burst of two is over", 1, MS_2, 0, CHARGE, {2, 0, 0}, false, 3000},
	{"one of three is not", 1, MS_2, 0, CHARGE, {3, 0, 0}, true, 3000},
	{"and the others bear it: 0.5 s later", 1, MS_2, 500000, CHARGE, {2, 0, 0}, false, 3000},
	{"1 ms before a third fits", 1, MS_2, 999000, CHARGE, {2, 0, 0}, false, 2002},
	{"when it fits", 1, MS_2, 1000000, CHARGE, {2, 0, 0}, true, 2000},
	{"given back", 1, MS_2, 1000000, UNDO, {2, 0, 0}, false, 0},
	{"and it is there again, for whom it was", 1, MS_2, 1000000, CHARGE, {1, 0, 0}, false, 2000},
	{"and for nobody twice", 1, MS_2, 1000000, CHARGE, {2, 0, 0}, true, 2000},
	{"not one more", 1, MS_2, 1000000, PEEK, {2, 0, 0}, false, 3000},
	{"a burst beyond all bounds is the largest", 1, MS_2, 1000000, PEEK, {UINT32_MAX, 0, 0}, true, 3000},
	{"asked as the row itself says: burst 9", 1, MS_2, 1000000, PLAIN, {0, 0, 0}, true, 3000},
	{"and the bounds know of it", 1, MS_2, 1000000, CHARGE, {3, 0, 0}, false, 4000},

	{"a key of 2r/s, used", 2, MS_2, 0, CHARGE, {3, 0, 0}, true, 0},
	{"and again", 2, MS_2, 0, CHARGE, {3, 0, 0}, true, 1000},
	{"1r/s from now on: the excess is the same", 2, MS_1, 0, CHARGE, {3, 0, 0}, true, 2000},
	{"I5: who still has the older row is judged by the newer",
	 2,
	 MS_2,
	 500000,
	 PEEK,
	 {3, 0, 0},
	 true,
	 2500},
	{"with the bound he has", 2, MS_2, 500000, CHARGE, {2, 0, 0}, false, 2500},
	{"and charged by it", 2, MS_2, 500000, CHARGE, {3, 0, 0}, true, 2500},
	{"by which it drains", 2, MS_1, 1500000, CHARGE, {2, 0, 0}, false, 2500},
	{"for him too", 2, MS_2, 2000000, CHARGE, {2, 0, 0}, true, 2000},
	{"he gives back to the newer", 2, MS_2, 2000000, UNDO, {2, 0, 0}, false, 0},
	{"what he had of it", 2, MS_1, 2000000, CHARGE, {2, 0, 0}, true, 2000},

	{"2000r/s: 0.5 ms each", 3, NS_2000, 0, CHARGE, {0, 0, 0}, true, 0},
	{"499 us are not enough", 3, NS_2000, 499, CHARGE, {0, 0, 0}, false, 2},
	{"500 us are", 3, NS_2000, 500, CHARGE, {0, 0, 0}, true, 0},
	{"a bound may say another rate: 1r/s", 3, NS_2000, 500, PEEK, {0, 0, RIG_SECOND}, false, 1},

	{"who asks says the rate: 1 in 10 s", 4, NS_ASKED, 0, CHARGE, {0, 0, 10 * RIG_SECOND}, true, 0},
	{"for him it is used", 4, NS_ASKED, 9999999, CHARGE, {0, 0, 10 * RIG_SECOND}, false, 1},
	{"for one of 1 in 5 s it is two requests", 4, NS_ASKED, 0, PEEK, {1, 0, 5 * RIG_SECOND}, false, 2000},
	{"who may have two beyond the one", 4, NS_ASKED, 0, CHARGE, {2, 0, 5 * RIG_SECOND}, true, 2000},
	{"given back as it was charged", 4, NS_ASKED, 0, UNDO, {2, 0, 5 * RIG_SECOND}, false, 0},
	{"10 s are over", 4, NS_ASKED, 10000000, CHARGE, {0, 0, 10 * RIG_SECOND}, true, 0},
	{"nobody says: a second", 5, NS_ASKED, 0, CHARGE, {0, 0, 0}, true, 0},
	{"which is not over yet", 5, NS_ASKED, 999999, CHARGE, {0, 0, 0}, false, 1},
	{"and is now", 5, NS_ASKED, 1000000, CHARGE, {0, 0, 0}, true, 0},

	{"an absent key is given nothing back", 6, MS_2, 0, UNDO, {3, 0, 0}, false, 0},
	{"and has what it would have", 6, MS_2, 0, CHARGE, {0, 0, 0}, true, 0},
};

static struct algo_numbers nginx(uint32_t rate, bool exact, uint32_t burst)
{
	struct algo_numbers numbers;
	if (!(exact ? algo_limit_req_exact : algo_limit_req)(rate, RIG_SECOND, burst, 0, &numbers))
		rig_die("algo_limit_req", "numbers refused");
	return numbers;
}

static struct algo_numbers flight(uint32_t places)
{
	struct algo_numbers numbers;
	if (!algo_concurrent(places, &numbers))
		rig_die("algo_concurrent", "numbers refused");
	return numbers;
}

/* Two handles by turns: what one did the other finds. */
static void check_steps(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table[2] = {rig_open(&rig), rig_open(&rig)};
	const struct algo_numbers numbers[ROWS] = {nginx(2, false, 9), nginx(1, false, 9),
						   nginx(2000, true, 9), nginx(0, true, 9)};
	uint32_t rows[ROWS];
	for (unsigned i = 0; i < ROWS; i++) /* MS_2 and MS_1 are of one counter */
		rows[i] = rig_row(table[0], i == MS_1 ? MS_2 : i, &numbers[i], i + 1);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		const struct step *step = &steps[i];
		struct table *mine = table[i % 2];
		struct table_key key = rig_key(mine, 1, step->key);
		struct algo_time t = {.now = BEGIN + step->at_us * 1000};
		struct slot_pair *pair = slot_pair(mine, &key), before = *pair;
		struct table_look look = {.state = 1};
		enum table_charge result = TABLE_REFUSED;
		if (step->act == UNDO) {
			table_uncharge_bound(mine, &key, rows[step->row], &t, t.now, &step->bound);
			continue;
		}
		if (step->act == CHARGE)
			result = table_charge_bound(mine, &key, rows[step->row], &t, &step->bound, &look);
		else if (step->act == PLAIN)
			result = table_charge(mine, &key, rows[step->row], &t, 1, &look);
		else
			table_peek_bound(mine, &key, rows[step->row], &t, &step->bound, &look);
		bool charged = result == TABLE_CHARGED, wrote = memcmp(pair, &before, sizeof before) != 0;
		uint64_t excess = algo_excess(&look.numbers, look.state, t.now, charged);
		if (!ok(look.allowed == step->passes && charged == (step->passes && step->act != PEEK) &&
				wrote == charged && excess == step->excess,
			step->what))
			note("allowed %d, result %d, wrote %d, excess %" PRIu64, look.allowed, (int)result,
			     wrote, excess);
	}
	is_u64(rig_broken(&rig), 0, "the table is sound");
	table_close(&table[1]);
	table_close(&table[0]);
	rig_free(&rig);
}

/* What is told is what this asker has: its limit, what is left, its wait and delay. */
static void check_told(void)
{
	static const struct {
		struct algo_bound bound;
		bool passes;
		uint32_t limit, remaining;
		uint64_t wait_ms, delay_ms;
	} told[] = {
		{{0, 0, 0}, true, 1, 0, 500, 0},   {{0, 0, 0}, false, 1, 0, 500, 0},
		{{4, 0, 0}, true, 5, 3, 0, 500},   {{4, 1, 0}, true, 5, 2, 0, 500},
		{{4, 4, 0}, true, 5, 1, 0, 0},	   {{3, 0, 0}, false, 4, 0, 500, 0},
		{{1, 1, 0}, false, 2, 0, 1500, 0},
	};
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	struct algo_numbers numbers = nginx(2, false, 9);
	uint32_t row = rig_row(table, 1, &numbers, 1);
	struct table_key key = rig_key(table, 1, 1);
	struct algo_time t = {.now = BEGIN};
	for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
		struct table_look look;
		struct algo_report report;
		char text[80];
		bool passes = table_charge_bound(table, &key, row, &t, &told[i].bound, &look) ==
			      TABLE_CHARGED;
		table_describe(&look, &t, 1, passes, &report);
		snprintf(text, sizeof text, "burst %u, %u at once: told so", told[i].bound.burst,
			 told[i].bound.at_once);
		if (!ok(passes == told[i].passes && report.limit == told[i].limit &&
				report.remaining == told[i].remaining &&
				report.wait_ns == told[i].wait_ms * MS &&
				report.delay_ns == told[i].delay_ms * MS,
			text))
			note("passes %d, limit %u, remaining %u, wait %" PRIu64 ", delay %" PRIu64, passes,
			     report.limit, report.remaining, report.wait_ns, report.delay_ns);
	}
	table_close(&table);
	rig_free(&rig);
}

/* Rows of other kinds are asked as they are; what cannot be known, or done, is said as without a bound. */
static void check_others(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig), *eye;
	const struct algo_bound bound = {.burst = 50};
	struct algo_numbers log;
	if (!algo_sliding_log(3, RIG_SECOND, &log))
		rig_die("algo_sliding_log", "numbers refused");
	const struct algo_numbers numbers[] = {rig_token(1, RIG_YEAR, 3), rig_leaky(1, RIG_YEAR, 2),
					       rig_window(3, RIG_SECOND, ALGO_FIRST_REQUEST), log, flight(3)};
	static const unsigned passes[] = {3, 3, 3, 3, 0}; /* in flight is nothing that is charged */
	const struct algo_time t = {.now = BEGIN};
	struct table_key key;
	struct table_look look;
	for (unsigned i = 0; i < sizeof passes / sizeof *passes; i++) {
		uint32_t row = rig_row(table, 10 + i, &numbers[i], 1);
		unsigned count = 0;
		key = rig_key(table, 2, i);
		while (count < 10 && table_charge_bound(table, &key, row, &t, &bound, &look) == TABLE_CHARGED)
			count++;
		is_u64(count, passes[i], "a row of another kind is asked as it is");
		table_peek_bound(table, &key, row, &t, &bound, &look);
		ok(look.allowed == (passes[i] == 0), "  looked at, too");
	}
	struct algo_numbers none = nginx(0, false, 0);
	uint32_t shut = rig_row(table, 20, &none, 1);
	key = rig_key(table, 3, 1);
	is_u64(table_charge_bound(table, &key, shut, &t, &bound, &look), TABLE_REFUSED,
	       "a rate of 0 lets nothing pass, whatever the burst");

	key = rig_key(table, 4, 1);
	table_peek_bound(table, &key, 999, &t, &bound, &look);
	ok(look.allowed && look.numbers.kind == ALGO_NONE,
	   "a row that is in no ledger: as if it were absent");
	is_u64(table_charge_bound(table, &key, 999, &t, &bound, &look), TABLE_NO_ROOM,
	       "  and no room for it");
	table_uncharge_bound(table, &key, 999, &t, t.now, &bound);

	struct algo_numbers two = nginx(2, false, 9);
	uint32_t row = rig_row(table, 21, &two, 1);
	is_u64(table_charge_bound(table, &key, row, &t, &(struct algo_bound){0}, &look), TABLE_CHARGED,
	       "charged");
	eye = rig_open_as(&rig, true);
	table_peek_bound(eye, &key, row, &t, &(struct algo_bound){0}, &look);
	ok(!look.allowed, "who only reads sees it");
	table_peek_bound(eye, &key, row, &t, &(struct algo_bound){1, 0, 0}, &look);
	ok(look.allowed, "with his own bound");
	is_u64(table_charge_bound(eye, &key, row, &t, &bound, &look), TABLE_NO_ROOM, "but charges nothing");
	table_uncharge_bound(eye, &key, row, &t, t.now, &bound);
	table_peek_bound(eye, &key, row, &t, &(struct algo_bound){0}, &look);
	ok(!look.allowed, "and gives nothing back");
	table_close(&eye);
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "the table is sound");
	rig_free(&rig);
}

/* ---- places ------------------------------------------------------------------------------------------- */

static const struct place {
	const char *what;
	unsigned handle;
	uint32_t n; /* how many this asker lets be in flight; 0: the ticket `gives` ends */
	unsigned gives;
	bool gets;
	uint32_t held; /* afterwards, by everybody */
} places[] = {
	{"three may be: the first", 0, 3, 0, true, 1},
	{"one may be: there is one", 1, 1, 0, false, 1},
	{"two may be: the second", 1, 2, 0, true, 2},
	{"two may be: there are two, whoever has them", 0, 2, 0, false, 2},
	{"three may be: the third", 1, 3, 0, true, 3},
	{"the row's own five", 0, 5, 0, true, 4},
	{"three may be: four are in flight already", 1, 3, 0, false, 4},
	{"one ends, by its own handle", 0, 0, 0, true, 3},
	{"three may be: there are three", 0, 3, 0, false, 3},
	{"another ends", 1, 0, 2, true, 2},
	{"two may be: there are two", 1, 2, 0, false, 2},
	{"three may be: the third again", 0, 3, 0, true, 3},
	{"more than the row knows of", 0, 70, 0, true, 4},
};

static void check_places(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table[2] = {rig_open(&rig), rig_open(&rig)};
	struct algo_numbers numbers = flight(5), fewer = flight(1);
	uint32_t row = rig_row(table[0], 1, &numbers, 1), newer;
	struct table_key key = rig_key(table[0], 1, 1);
	struct table_ticket tickets[16] = {0}, fifth, late;
	struct table_look look;
	struct algo_report report;
	const struct algo_time t = {.now = BEGIN};
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		const struct place *place = &places[i];
		struct table *mine = table[place->handle];
		bool right;
		if (place->n == 0) {
			right = table_give_back(mine, &tickets[place->gives], &t);
		} else {
			const struct algo_bound bound = {.burst = place->n - 1};
			enum table_charge result = table_take_bound(mine, &key, row, &t, &bound, &tickets[i],
								    &look);
			table_describe(&look, &t, 1, place->gets, &report);
			right = result == (place->gets ? TABLE_CHARGED : TABLE_REFUSED) &&
				tickets[i].live == place->gets && look.numbers.capacity == place->n &&
				look.held == place->held && report.limit == place->n &&
				report.remaining == (place->n > place->held ? place->n - place->held : 0);
		}
		table_peek_held(table[!place->handle], &key, row, &t, 1, &look);
		if (!ok(right && look.held == place->held, place->what))
			note("right %d, held %u", right, look.held);
	}
	table_peek_bound(table[1], &key, row, &t, &(struct algo_bound){3, 0, 0}, &look);
	ok(!look.allowed && look.held == 4 && look.numbers.capacity == 4,
	   "a look with a bound: four of four");
	table_peek_bound(table[1], &key, row, &t, &(struct algo_bound){4, 0, 0}, &look);
	ok(look.allowed && look.numbers.capacity == 5, "  and four of five");

	newer = rig_row(table[0], 1, &fewer, 2);
	is_u64(table_take_bound(table[0], &key, newer, &t, &(struct algo_bound){4, 0, 0}, &fifth, &look),
	       TABLE_CHARGED, "a newer row of one: who asks says five");
	is_u64(table_take_bound(table[0], &key, row, &t, &(struct algo_bound){4, 0, 0}, &late, &look),
	       TABLE_REFUSED, "I5: with the older row, too, and five there are");
	is_u64(table_take_bound(table[1], &key, 999, &t, &(struct algo_bound){4, 0, 0}, &late, &look),
	       TABLE_NO_ROOM, "a row that is in no ledger");
	ok(!late.live && !table_give_back(table[1], &late, &t), "  gives no ticket");
	table_close(&table[1]);
	table_close(&table[0]);
	is_u64(rig_broken(&rig), 0, "the table is sound");
	rig_free(&rig);
}

int main(void)
{
	check_steps();
	check_told();
	check_others();
	check_places();
	return done_testing();
}
