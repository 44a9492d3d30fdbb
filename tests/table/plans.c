/* SPDX-License-Identifier: BSD-2-Clause */
/* plans: rows of one identity that hold for different clients at once, and the slots that they share (I5). */
#include "table/snapshot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define FREE LEDGER_PLAN(UINT32_C(0x12345678), 0)
#define PRO  LEDGER_PLAN(UINT32_C(0x9abcdef0), 0)

static uint32_t row_of(struct table *table, uint64_t identity, uint32_t plan,
		       const struct algo_numbers *numbers, uint32_t generation)
{
	uint32_t row = 0;
	enum weir_error error = ledger_lock(table, 10000);
	if (!error)
		error = ledger_row_for(table, identity, plan, numbers, 0, "plans", generation, &row);
	if (error)
		rig_die("ledger", weir_error_sentence(error));
	ledger_unlock(table);
	return row;
}

static void check_rows(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	struct algo_numbers ten = rig_token(10, RIG_SECOND, 10), more = rig_token(100, RIG_SECOND, 100);
	is_u64(LEDGER_PLAN(0xffffffffu, 31), 0xffffffffu, "a plan's number: its name's hash and a day");
	is_u64(LEDGER_PLAN(0xffffffe0u, 1) ^ LEDGER_PLAN(0xffffffffu, 0), 1,
	       "the low five bits are the day's");
	is_u64(LEDGER_PLAN(0, 0), 0, "0: neither");

	uint32_t none = row_of(table, 7, 0, &ten, 1), basic = row_of(table, 7, FREE, &ten, 1),
		 pro = row_of(table, 7, PRO, &more, 1);
	ok(none != basic && basic != pro && none != pro, "three rows of one identity side by side");
	is_u64(row_of(table, 7, 0, &ten, 2), none, "the newest of no plan");
	is_u64(row_of(table, 7, FREE, &ten, 2), basic, "the newest of one, with the same numbers");
	is_u64(row_of(table, 7, PRO, &more, 2), pro, "and of another");
	uint32_t edited = row_of(table, 7, FREE, &more, 3);
	ok(edited != basic && edited != pro, "an edit of one plan is a row of its own");
	is_u64(row_of(table, 7, PRO, &more, 3), pro, "and leaves the others");
	ledger_lock(table, 0);
	ok(ledger_knows(table, 7, FREE) && ledger_knows(table, 7, 0) &&
		   !ledger_knows(table, 7, LEDGER_PLAN(0, 5)) && !ledger_knows(table, 8, FREE),
	   "which are known");
	unsigned wrong = 0;
	uint32_t rows[31 * 60];
	for (uint32_t i = 0; i < 31 * 60; i++)
		wrong += ledger_row_for(table, 9, LEDGER_PLAN(i * 97 << 5, i % 31 + 1), &ten, 0, "days", 4,
					&rows[i]) != WEIR_OK;
	ledger_unlock(table);
	ledger_lock(table, 0); /* the index is built anew */
	for (uint32_t i = 0; i < 31 * 60; i++) {
		uint32_t row;
		wrong += ledger_row_for(table, 9, LEDGER_PLAN(i * 97 << 5, i % 31 + 1), &ten, 0, "days", 5,
					&row) != WEIR_OK ||
			 row != rows[i] ||
			 ledger_row(table, row)->plan != LEDGER_PLAN(i * 97 << 5, i % 31 + 1);
	}
	ledger_unlock(table);
	is_u64(wrong, 0, "sixty plans of 31 days are found again");
	table_close(&table);
	rig_free(&rig);
}

/* Who asks by a row of another plan converts, whichever is newer; within a plan the newer judges. */
static void check_who_judges(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	struct algo_numbers few = rig_token(10, 3600 * RIG_SECOND, 10),
			    many = rig_token(1000, 3600 * RIG_SECOND, 1000),
			    edited = rig_token(20, 3600 * RIG_SECOND, 20);
	uint32_t old_free = row_of(table, 7, FREE, &few, 1), new_pro = row_of(table, 7, PRO, &many, 5),
		 new_free = row_of(table, 7, FREE, &edited, 6), plain = row_of(table, 7, 0, &many, 9);
	/* in this order, each with what is left after it; half of the ten are used before */
	static const struct {
		const char *what;
		char who; /* o: free as it was, n: as it is, p: pro, 0: no plan */
		uint32_t cost, limit, remaining;
	} steps[] = {
		{"five of ten", 'o', 5, 10, 5},
		{"pro, though newer than free: half of a thousand", 'p', 100, 1000, 400},
		{"free again, though older than pro: 600 of 1000 are six of ten", 'o', 1, 10, 3},
		{"a client of no plan, which is newest of all", '0', 0, 1000, 300},
		{"the edited free: seven of ten are 14 of 20", 'n', 1, 20, 5},
		{"who still has the older one is judged by the edited", 'o', 1, 20, 4},
		{"pro: 16 of 20 are 800", 'p', 50, 1000, 150},
		{"whoever has the older free converts to what he has", 'o', 0, 10, 1},
		{"and charges it", 'o', 1, 10, 0},
		{"the edited one of the same plan: 9.5 of ten are 19", 'n', 0, 20, 1},
	};
	struct algo_time t = {.now = 1000 * RIG_SECOND};
	struct table_key key = rig_key(table, 7, 1);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		uint32_t row = steps[i].who == 'o'   ? old_free
			       : steps[i].who == 'n' ? new_free
			       : steps[i].who == 'p' ? new_pro
						     : plain;
		struct table_look look, before;
		struct algo_report report;
		table_peek(table, &key, row, &t, steps[i].cost, &before);
		enum table_charge charged = table_charge(table, &key, row, &t, steps[i].cost, &look);
		table_describe(&look, &t, steps[i].cost, true, &report);
		ok(before.allowed && charged == TABLE_CHARGED, steps[i].what);
		is_u64(report.limit, steps[i].limit, "  by whose numbers");
		is_u64(report.remaining, steps[i].remaining, "  what is left");
		is_u64(memcmp(&before.numbers, &look.numbers, sizeof look.numbers), 0, "  a peek says so");
	}
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "nothing is broken");
	rig_free(&rig);
}

/* Two clients of different plans on one key, in turns: never more than the larger plan alone would admit, and
 * what a change of plan rounds up is less than a unit of the plan that is changed to. */
static void check_alternating(void)
{
	static const struct {
		const char *what;
		char kind; /* t: token bucket, f: fixed window, s: sliding window, l: log */
		uint32_t small, large;
	} pairs[] = {
		{"buckets of 100 and 1000", 't', 100, 1000},	     {"buckets of 7 and 900", 't', 7, 900},
		{"windows of 100 and 1000", 'f', 100, 1000},	     {"windows of 7 and 900", 'f', 7, 900},
		{"sliding windows of 100 and 1000", 's', 100, 1000}, {"logs of 50 and 400", 'l', 50, 400},
		{"one number under two names", 't', 300, 300},
	};
	struct rig rig = rig_new(TABLE_SIZE_DEFAULT, 4);
	struct table *table = rig_open(&rig);
	const uint64_t day = 24 * 3600 * RIG_SECOND;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct algo_numbers n[2];
		uint32_t rows[2], size[2] = {pairs[i].small, pairs[i].large}, passed[2] = {0, 0};
		for (unsigned who = 0; who < 2; who++) {
			if (!(pairs[i].kind == 't' ? algo_token_bucket(size[who], day, size[who], &n[who])
			      : pairs[i].kind == 'f'
				      ? algo_fixed_window(size[who], day, ALGO_FIRST_REQUEST, &n[who])
			      : pairs[i].kind == 's' ? algo_sliding_window(size[who], day, &n[who])
						     : algo_sliding_log(size[who], day, &n[who])))
				rig_die(pairs[i].what, "numbers");
			rows[who] = row_of(table, 20 + i, who ? PRO : FREE, &n[who], 3 - who);
		}
		struct algo_time t = {.now = 2 * day};
		struct table_key key = rig_key(table, 20 + i, 1);
		struct table_look look;
		for (unsigned turn = 0; turn < 1000; turn++, t.now++)
			passed[turn % 2] += table_charge(table, &key, rows[turn % 2], &t, 1, &look) ==
					    TABLE_CHARGED;
		/* then the larger plan alone, until it is used up */
		while (table_charge(table, &key, rows[1], &t, 1, &look) == TABLE_CHARGED)
			passed[1]++;
		ok(passed[0] + passed[1] <= size[1], pairs[i].what);
		note("%u by the smaller, %u by the larger", passed[0], passed[1]);
		/* Each of the small plan's uses as much of the large one's as its share, and each change to it rounds
		 * up by less than one of its units: so it passes at least half of what it would alone. */
		ok(passed[0] + (passed[0] & 1) >= size[0] / 2, "  the smaller gets at least half of its own");
		ok(pairs[i].kind == 'l' || passed[1] + 2ull * passed[0] * size[1] / size[0] + 1 >= size[1],
		   "  and the larger all that is left, but for a unit of the smaller for each change");
	}
	/* Half used stays half used, over a thousand looks and changes that are not charged. */
	struct algo_numbers a = rig_token(10, day, 10), b = rig_token(1000, day, 1000);
	uint32_t row_a = row_of(table, 50, FREE, &a, 1), row_b = row_of(table, 50, PRO, &b, 1);
	struct algo_time t = {.now = 2 * day};
	struct table_key key = rig_key(table, 50, 1);
	struct table_look look;
	struct algo_report report;
	table_charge(table, &key, row_a, &t, 5, &look);
	for (unsigned turn = 0; turn < 1000; turn++) { /* one unit there and back: written each time */
		uint32_t row = turn % 2 ? row_a : row_b;
		struct table_ticket ticket;
		table_take(table, &key, row, &t, 1, TABLE_CHARGE, &ticket, &look);
		table_give_back(table, &ticket, &t);
	}
	table_peek(table, &key, row_b, &t, 0, &look);
	table_describe(&look, &t, 0, false, &report);
	ok(report.remaining >= 499 && report.remaining <= 500,
	   "a thousand changes of plan drift by less than a request");
	is_u64(rig_stats(&rig).converted > 1000, 1, "each was a change");
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "nothing is broken");
	rig_free(&rig);
}

/* In flight and reserved: each plan by its own number, beside everybody's. */
static void check_held(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *one = rig_open(&rig), *two = rig_open(&rig);
	struct algo_numbers three, eight, ten = rig_token(10, 3600 * RIG_SECOND, 10),
					  many = rig_token(100, 3600 * RIG_SECOND, 100);
	struct algo_time t = {.now = 1000 * RIG_SECOND};
	struct table_ticket tickets[20];
	struct table_look look;
	if (!algo_concurrent(3, &three) || !algo_concurrent(8, &eight))
		rig_die("algo_concurrent", "refused");
	uint32_t small = row_of(one, 7, FREE, &three, 2), large = row_of(one, 7, PRO, &eight, 1);
	struct table_key key = rig_key(one, 7, 1);
	unsigned n = 0, passed = 0;
	for (unsigned i = 0; i < 3; i++)
		passed += table_take(i % 2 ? one : two, &key, i % 2 ? small : large, &t, 1, TABLE_RESERVE,
				     &tickets[n++], &look) == TABLE_CHARGED;
	is_u64(passed, 3, "three in flight, of both plans");
	is_u64(table_take(one, &key, small, &t, 1, TABLE_RESERVE, &tickets[19], &look), TABLE_REFUSED,
	       "the plan of three has no room beside them");
	is_u64(look.held, 3, "which it counts whosever they are");
	for (passed = 0; passed < 9; passed++)
		if (table_take(passed % 2 ? one : two, &key, large, &t, 1, TABLE_RESERVE, &tickets[n],
			       &look) != TABLE_CHARGED)
			break;
		else
			n++;
	is_u64(passed, 5, "the plan of eight has five more");
	while (n > 0) {
		n--;
		table_give_back(tickets[n].row == small || n % 2 ? one : two, &tickets[n], &t);
	}
	is_u64(table_held(one) + table_held(two), 0, "all are given back");

	small = row_of(one, 8, FREE, &ten, 2);
	large = row_of(one, 8, PRO, &many, 1);
	key = rig_key(one, 8, 1);
	is_u64(table_take(one, &key, small, &t, 4, TABLE_RESERVE, &tickets[0], &look), TABLE_CHARGED,
	       "four of ten are reserved");
	is_u64(table_take(one, &key, large, &t, 96, TABLE_RESERVE, &tickets[1], &look), TABLE_CHARGED,
	       "96 of a hundred beside them");
	is_u64(table_take(two, &key, large, &t, 1, TABLE_RESERVE, &tickets[2], &look), TABLE_REFUSED,
	       "and no more");
	ok(table_settle(one, &tickets[0], &t, 4) && table_settle(one, &tickets[1], &t, 96),
	   "both are settled");
	table_peek(one, &key, large, &t, 1, &look);
	ok(!look.allowed, "the hundred are used");
	table_peek(one, &key, small, &t, 1, &look);
	ok(!look.allowed, "and so are the ten");
	table_close(&one);
	table_close(&two);
	is_u64(rig_broken(&rig), 0, "nothing is broken");
	rig_free(&rig);
}

/* A change of plan brings the ring of a log into other terms: what is given back then is not overlooked. */
static void check_log_given_back(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	struct algo_numbers five, nine;
	struct algo_time t = {.now = 1000 * RIG_SECOND};
	struct table_ticket tickets[5];
	struct table_look look;
	if (!algo_sliding_log(5, 3600 * RIG_SECOND, &five) || !algo_sliding_log(9, 3600 * RIG_SECOND, &nine))
		rig_die("algo_sliding_log", "refused");
	uint32_t small = row_of(table, 7, FREE, &five, 1), large = row_of(table, 7, PRO, &nine, 2);
	struct table_key key = rig_key(table, 7, 1);
	for (unsigned i = 0; i < 4; i++, t.now += RIG_SECOND)
		table_take(table, &key, small, &t, 1, TABLE_CHARGE, &tickets[i], &look);
	is_u64(table_charge(table, &key, large, &t, 1, &look), TABLE_CHARGED, "pro adds one to four of free");
	is_u64(look.used, 5, "five of nine");
	ok(table_give_back(table, &tickets[1], &t), "the second of free's is given back");
	table_peek(table, &key, large, &t, 5, &look);
	ok(look.used == 4 && look.allowed, "pro sees that");
	table_peek(table, &key, small, &t, 1, &look);
	ok(look.used == 3 || look.used == 4, "free counts those of its own five cells");
	ok(look.allowed, "and has one left");
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "nothing is broken");
	rig_free(&rig);
}

/* On disk and back, and into a table of another size: the rows of both plans, and who shares which slot. */
static void check_snapshot(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig), *loaded = NULL;
	const uint64_t day = 24 * 3600 * RIG_SECOND;
	struct algo_numbers ten = rig_token(10, day, 10), hundred = rig_token(100, day, 100);
	uint32_t basic = row_of(table, 7, FREE, &ten, 1), pro = row_of(table, 7, PRO, &hundred, 1);
	struct table_key a = rig_key(table, 7, 1), b = rig_key(table, 7, 2);
	struct algo_time t;
	struct table_look look;
	struct algo_report report;
	struct snapshot snapshot;
	char path[160], other[160], why[256] = "";
	table_time(table, &t);
	table_charge(table, &a, basic, &t, 5, &look);
	table_charge(table, &b, pro, &t, 30, &look);
	snprintf(path, sizeof path, "%s/snap", rig.folder);
	snprintf(other, sizeof other, "%s/other", rig.folder);
	is_u64(snapshot_take(table, true, &snapshot), WEIR_OK, "a snapshot");
	is_u64(snapshot.row_count, 2, "has both rows");
	is_u64(snapshot_write(&snapshot, path, why, sizeof why), WEIR_OK, "on disk");
	snapshot_free(&snapshot);
	struct table_options options = {.path = other,
					.size = 4 * TABLE_SIZE_MIN,
					.create = true,
					.process_slots = 4,
					.snapshot = path};
	is_u64(table_open(&options, &loaded, why, sizeof why), WEIR_OK, "a larger table of it");
	is_str(why, "", "  without trouble");
	is_u64(row_of(loaded, 7, FREE, &ten, 2), basic, "the row of the first plan is the same");
	is_u64(row_of(loaded, 7, PRO, &hundred, 2), pro, "that of the second");
	is_u64(ledger_row(loaded, pro)->plan, PRO, "and says which");
	table_time(loaded, &t);
	table_peek(loaded, &a, pro, &t, 1, &look);
	table_describe(&look, &t, 1, false, &report);
	ok(report.limit == 100 && report.remaining >= 50 && report.remaining <= 51,
	   "half of free is half of pro");
	table_peek(loaded, &b, basic, &t, 1, &look);
	table_describe(&look, &t, 1, false, &report);
	ok(report.limit == 10 && report.remaining == 7, "and thirty of a hundred three of ten");
	table_close(&loaded);
	table_close(&table);
	rig_free(&rig);
}

int main(void)
{
	check_rows();
	check_who_judges();
	check_alternating();
	check_held();
	check_log_given_back();
	check_snapshot();
	return done_testing();
}
