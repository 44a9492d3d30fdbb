/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_rig: a table with counters of every kind in it, and the question whether another one answers alike. */
#ifndef WEIR_TESTS_TABLE_SNAPSHOT_RIG_H
#define WEIR_TESTS_TABLE_SNAPSHOT_RIG_H

#include "table/handle.h"
#include "table/snapshot.h"
#include "tests/table/rig.h"

#define FARM_HOUR (3600 * RIG_SECOND)
#define FARM_DAY  (24 * FARM_HOUR)
#define FARM_KEYS 60u /* of each kind */
#define FARM_COST 12u /* most that is asked about */

enum farm_kind { TOKEN, LEAKY, NGINX, FIRST, CLOCKED, DAILY, SLIDING, LOG, SHORT, FARM_KINDS };

struct farm {
	struct rig rig;
	char snapshot[128];
	struct table *table;
	struct algo_numbers numbers[FARM_KINDS];
	uint32_t row[FARM_KINDS];
	struct algo_time t;
	unsigned live; /* keys that something was charged to */
};

static inline void farm_numbers(struct algo_numbers n[FARM_KINDS])
{
	n[TOKEN] = rig_token(10, FARM_HOUR, 10);
	n[LEAKY] = rig_leaky(100, FARM_HOUR, 9);
	n[FIRST] = rig_window(10, FARM_HOUR, ALGO_FIRST_REQUEST);
	n[CLOCKED] = rig_window(9, 6 * FARM_HOUR, ALGO_CLOCK);
	n[DAILY] = rig_window(11, FARM_DAY, ALGO_CALENDAR_DAY);
	n[SHORT] = rig_token(1, RIG_SECOND, 10); /* full again after 10 s */
	if (!algo_limit_req(1, 60 * RIG_SECOND, 9, 0, &n[NGINX]))
		rig_die("farm", "numbers refused");
	if (!algo_sliding_window(10, FARM_HOUR, &n[SLIDING]) || !algo_sliding_log(7, FARM_HOUR, &n[LOG]))
		rig_die("farm", "numbers refused");
}

static inline void farm_rows(struct farm *farm)
{
	char name[32];
	if (ledger_lock(farm->table, 10000) != WEIR_OK)
		rig_die("farm", "ledger");
	for (unsigned kind = 0; kind < FARM_KINDS; kind++) {
		snprintf(name, sizeof name, "limit-%u", kind);
		if (ledger_row_for(farm->table, 100 + kind, 0, &farm->numbers[kind], 0, name, 3,
				   &farm->row[kind]))
			rig_die("farm", "row");
	}
	table_set_generation(farm->table, 3);
	table_hold_generation(farm->table, 3);
	ledger_unlock(farm->table);
}

static inline struct table_key farm_key(const struct table *table, unsigned kind, unsigned id)
{
	return rig_key(table, 1000 + kind, id);
}

/* Charges key `id` of each kind `id` times, 0 to 9; logs and others in steps of a microsecond. */
static inline void farm_sow(struct farm *farm)
{
	struct table_look look;
	for (unsigned kind = 0; kind < FARM_KINDS; kind++)
		for (unsigned id = 0; id < FARM_KEYS; id++) {
			struct table_key key = farm_key(farm->table, kind, id);
			bool any = false;
			for (unsigned i = 0; i < id % 10; i++) {
				farm->t.now += 1000;
				any |= table_charge(farm->table, &key, farm->row[kind], &farm->t, 1, &look) ==
				       TABLE_CHARGED;
			}
			farm->live += any;
		}
}

static inline struct farm farm_new(uint64_t size)
{
	struct farm farm = {.rig = rig_new(size, 4)};
	snprintf(farm.snapshot, sizeof farm.snapshot, "%s/snap", farm.rig.folder);
	farm_numbers(farm.numbers);
	farm.table = rig_open(&farm.rig);
	farm_rows(&farm);
	table_time(farm.table, &farm.t);
	farm_sow(&farm);
	return farm;
}

static inline void farm_free(struct farm *farm)
{
	table_close(&farm->table);
	rig_free(&farm->rig);
}

struct farm_answer {
	bool allowed[FARM_COST + 1];
	uint32_t used, remaining;
	uint64_t wait_ns, full_ns, fits_at;
};

static inline struct farm_answer farm_ask(struct farm *farm, struct table *table, unsigned kind, unsigned id,
					  const struct algo_time *t)
{
	struct farm_answer answer;
	struct table_look look;
	struct algo_report report;
	struct table_key key = farm_key(table, kind, id);
	memset(&answer, 0, sizeof answer);
	for (uint32_t cost = 1; cost <= FARM_COST; cost++) {
		table_peek(table, &key, farm->row[kind], t, cost, &look);
		answer.allowed[cost] = look.allowed;
	}
	table_peek(table, &key, farm->row[kind], t, 1, &look);
	table_describe(&look, t, 1, false, &report);
	answer.used = look.used;
	answer.fits_at = look.fits_at;
	answer.remaining = report.remaining;
	answer.wait_ns = report.wait_ns;
	answer.full_ns = report.full_ns;
	return answer;
}

/* Keys that `a` and `b` answer differently about at `t`. Kinds from `until` on are not asked about. */
static inline unsigned farm_differ(struct farm *farm, struct table *a, struct table *b,
				   const struct algo_time *t, unsigned until)
{
	unsigned differ = 0;
	for (unsigned kind = 0; kind < until; kind++)
		for (unsigned id = 0; id < FARM_KEYS; id++) {
			struct farm_answer x = farm_ask(farm, a, kind, id, t),
					   y = farm_ask(farm, b, kind, id, t);
			if (memcmp(&x, &y, sizeof x) != 0 && differ++ < 3)
				fprintf(stderr, "# kind %u key %u: remaining %u, %u; wait %llu, %llu\n", kind,
					id, x.remaining, y.remaining, (unsigned long long)x.wait_ns,
					(unsigned long long)y.wait_ns);
		}
	return differ;
}

/* A table at another path of the farm's folder, from the farm's snapshot file. */
static inline struct table *farm_load(struct farm *farm, const char *name, uint64_t size)
{
	static char path[160];
	struct table *table;
	char why[256];
	snprintf(path, sizeof path, "%s/%s", farm->rig.folder, name);
	struct table_options options = {
		.path = path, .size = size, .create = true, .process_slots = 4, .snapshot = farm->snapshot};
	if (table_open(&options, &table, why, sizeof why) != WEIR_OK || why[0])
		rig_die(path, why);
	return table;
}

static inline uint64_t farm_broken(struct table *table)
{
	return census_check(table, rig_say, NULL);
}

#endif
