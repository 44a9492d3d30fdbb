/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_large: a unit of a log was given back out of order, and from then on every charge read all the cells, for as long as
 * the window: 10 ms each at 60,000, which two limits and a race could bring about. A large log gives nothing back, and goes
 * on in order; one that is small enough to be read gives back as ever.
 */
#include "table/log_ring.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

static void give_back_second(uint32_t n, uint32_t left, enum log_order order, const char *what)
{
	struct rig rig = rig_new(UINT64_C(4) << 20, 4);
	struct table *table = rig_open(&rig);
	struct algo_numbers numbers;
	struct table_ticket tickets[3];
	struct table_look look;
	struct algo_time t;

	algo_sliding_log(n, 3600 * RIG_SECOND, &numbers);
	uint32_t row = rig_row(table, 1, &numbers, 1);
	struct table_key key = rig_key(table, 1, 1);
	table_time(table, &t);
	for (unsigned i = 0; i < 3; i++, t.now += 1000)
		table_take(table, &key, row, &t, 1, TABLE_CHARGE, &tickets[i], &look);
	ok(table_give_back(table, &tickets[1], &t), what);
	table_peek(table, &key, row, &t, 1, &look);
	is_u64(look.used, left, "... so many are used");
	struct log_view view = {.table = table, .key = &key, .now = t.now};
	is_u64(log_find(&view, row), LOG_FOUND, "... its ring is there");
	is_u64(view.order, order, "... and says in which order it is");
	ok(!table_give_back(table, &tickets[1], &t), "... once is once");
	table_close(&table);
	rig_free(&rig);
}

int main(void)
{
	give_back_second(LOG_HOLES_MAX, 2, LOG_LOOSE, "1,024: the second of three is given back");
	give_back_second(LOG_HOLES_MAX + 1, 3, LOG_ORDERED, "1,025: it stays charged");
	return done_testing();
}
