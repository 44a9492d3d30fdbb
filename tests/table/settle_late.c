/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settle_late: a reservation of a log is settled by a clock that is late. It does not see yet that an admission has
 * ended whose place another reservation has taken since; its own was dropped then, as if it did not fit, and the window
 * after held one more than the limit.
 */
#include "tests/table/rig.h"
#include "tests/tap.h"

#define PERIOD RIG_SECOND

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *early = rig_open(&rig), *late = rig_open(&rig);
	struct algo_numbers numbers;
	struct algo_time t;
	struct table_look look;
	struct table_ticket first, second;

	algo_sliding_log(2, PERIOD, &numbers);
	uint32_t row = rig_row(early, 1, &numbers, 1);
	struct table_key key = rig_key(early, 1, 1);
	table_time(early, &t);
	uint64_t begin = t.now;
	is_u64(table_charge(late, &key, row, &t, 1, &look), TABLE_CHARGED, "one is admitted");
	t.now = begin + 1000;
	is_u64(table_take(late, &key, row, &t, 1, TABLE_RESERVE, &first, &look), TABLE_CHARGED,
	       "a second is reserved");
	t.now = begin + PERIOD + 1000;
	is_u64(table_take(early, &key, row, &t, 1, TABLE_RESERVE, &second, &look), TABLE_CHARGED,
	       "the first has ended: a third is reserved");
	ok(table_settle(early, &second, &t, 1), "and settled");
	t.now = begin + PERIOD - 1000;
	ok(table_settle(late, &first, &t, 1), "a late clock settles the second");
	t.now = begin + PERIOD + 2000;
	table_peek(early, &key, row, &t, 1, &look);
	is_u64(look.used, 2, "both are charged");
	ok(!look.allowed, "there is no room for another");
	table_close(&early);
	table_close(&late);
	rig_free(&rig);
	return done_testing();
}
