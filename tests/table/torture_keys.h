/* SPDX-License-Identifier: BSD-2-Clause */
/* torture_keys: keys that are new to the table: fresh ones with books of their own, and floods of them in tables that
 * are far too small. */
#ifndef WEIR_TESTS_TABLE_TORTURE_KEYS_H
#define WEIR_TESTS_TABLE_TORTURE_KEYS_H

#include "tests/table/torture_books.h"

static void fresh_work(struct torture_worker *w, unsigned id)
{
	struct torture *torture = w->torture;
	uint32_t epoch = atomic_load(&torture->epoch);
	struct torture_fresh *fresh = &torture->fresh[epoch][id];
	struct table_key key = torture_key(w, FRESH, (uint64_t)epoch * FRESH_KEYS + id);
	struct algo_time t = torture_time(w, FRESH);
	struct table_look look;
	torture_latest(&fresh->last, t.now);
	torture_pend(w, FRESH, 1);
	enum table_charge result = table_charge(w->table[ROOMY], &key, torture->row[FRESH], &t, 1, &look);
	torture_judge(torture, FRESH, result, look.allowed);
	if (result == TABLE_CHARGED) {
		atomic_fetch_add(&fresh->counted, 1);
		atomic_fetch_add(&torture->charges, 1);
	} else if (result == TABLE_REFUSED) {
		atomic_store(&fresh->refused, 1);
	}
	torture_settled(w);
}

/* Live counters are pushed out here, or there is no room for new ones. Where none is pushed out, a key of one a second
 * is admitted once a second. */
static void flood_work(struct torture_worker *w, uint64_t roll)
{
	static const unsigned floods[] = {FLOOD_TOKEN, FLOOD_LOG, FLOOD_DENYING, FLOOD_DENYING};
	struct torture *torture = w->torture;
	unsigned limit = floods[roll & 3], id = (unsigned)(roll >> 8 & UINT32_MAX) % FLOOD_KEYS;
	const struct torture_limit *l = &torture_limits[limit];
	struct torture_book *book = &torture->book[limit];
	struct table_key key = torture_key(w, limit, id);
	struct algo_time t = torture_time(w, limit);
	struct table_look look;
	uint32_t cost = 1 + (uint32_t)(roll >> 4 & 3) % l->cost;
	enum table_charge result = table_charge(w->table[l->rig], &key, torture->row[limit], &t, cost, &look);
	torture_judge(torture, limit, result, look.allowed);
	if (result != TABLE_CHARGED)
		return;
	atomic_fetch_add(&book->counted, cost);
	if (limit != FLOOD_DENYING)
		return;
	uint64_t before = atomic_exchange(&torture->flood_last[id], t.now);
	/* Who stood still between charge and exchange comes after its successor. */
	uint64_t between = before > t.now ? before - t.now : t.now - before;
	if (before && between < l->period - l->period / 1000000)
		atomic_fetch_add(&book->over, 1);
}

static void keys_check(struct torture *torture)
{
	const struct torture_limit *l = &torture_limits[FRESH];
	uint64_t over = 0, used = 0, full = 0, missing = 0;
	for (unsigned epoch = 0; epoch <= atomic_load(&torture->epoch); epoch++)
		for (unsigned i = 0; i < FRESH_KEYS; i++) {
			struct torture_fresh *fresh = &torture->fresh[epoch][i];
			uint32_t counted = atomic_load(&fresh->counted);
			uint64_t last = atomic_load(&fresh->last), begun = torture->opened[epoch];
			uint64_t time = last > begun ? last - begun : 0;
			uint64_t bound = l->n + (time + time / 1000000) * l->n / l->period;
			over += counted > bound;
			used += counted > 0;
			if (atomic_load(&fresh->refused)) {
				full++;
				missing += counted < l->n ? l->n - counted : 0;
			}
		}
	is_u64(over, 0, "fresh keys: none above its burst and its rate");
	ok(full > 0 && missing <= atomic_load(&torture->book[FRESH].lost),
	   "  and none refused before it was used up");
	note("fresh keys: %" PRIu64 " used, %" PRIu64 " used up; %" PRIu64 " units missing, %" PRIu64
	     " in flight at deaths",
	     used, full, missing, atomic_load(&torture->book[FRESH].lost));

	uint64_t pushed = rig_stats(&torture->rig[EVICTING]).evicted_live;
	uint64_t no_room = atomic_load(&torture->book[FLOOD_DENYING].no_room);
	uint64_t admitted = atomic_load(&torture->book[FLOOD_DENYING].counted);
	is_u64(rig_stats(&torture->rig[ROOMY]).evicted_live, 0,
	       "where there is room, no live counter was pushed out");
	/* What was reserved before is charged even there; most of the time its key is there already. */
	const struct torture_book *reserved = &torture->book[HELD_DENYING_TOKEN];
	uint64_t pushed_denying = rig_stats(&torture->rig[DENYING]).evicted_live;
	uint64_t settled = atomic_load(&reserved->settled) + atomic_load(&reserved->orphaned);
	ok(pushed_denying <= settled, "  nor, but by settlements, where new ones are denied");
	ok(no_room > 0 && admitted > 0, "  though it was full");
	ok(atomic_load(&torture->book[FLOOD_DENYING].over) <= pushed_denying,
	   "  and none of its keys was forgotten otherwise");
	ok(pushed > 0, "where they are not, live ones were pushed out");
	note("floods: %" PRIu64 " pushed out; %" PRIu64 " admitted and %" PRIu64
	     " denied for want of room; %" PRIu64 " pushed out there by %" PRIu64 " settlements",
	     pushed, admitted, no_room, pushed_denying, settled);
}

#endif
