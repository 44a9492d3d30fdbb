/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log: the sliding log against a reference that keeps every admission: a million random steps over several keys,
 * with late clocks, costs, and units given back. Everything it says must be exact: how much is used, whether a
 * cost fits, when it will, when nothing counts any more.
 */
#include "table/log.h"
#include "table/log_ring.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define NOW   (UINT64_C(100) * RIG_SECOND)
#define MOST  4096u
#define TAKEN 64u

struct model { /* of one key */
	uint32_t n;
	uint64_t period;
	unsigned count; /* units remembered */
	uint64_t end[MOST];
	struct {
		struct log_taken taken;
		uint32_t cost;
	} taken[TAKEN]; /* some of them, to be given back */
	struct table_key key;
	uint32_t row;
	uint64_t latest; /* time seen */
};

static unsigned later_than(const struct model *model, uint64_t now)
{
	unsigned count = 0;
	for (unsigned i = 0; i < model->count; i++)
		count += model->end[i] > now;
	return count;
}

/* A clock that is late finds the places of those that had not ended then taken by newer ones: never more than N. */
static unsigned used_at(const struct model *model, uint64_t now)
{
	unsigned count = later_than(model, now);
	return count < model->n ? count : model->n;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* When the cost fits: 0: at once; ALGO_NEVER. */
static uint64_t fits_at(struct model *model, uint64_t now, uint32_t cost)
{
	unsigned used = used_at(model, now);
	if (cost > model->n)
		return ALGO_NEVER;
	if (used + cost <= model->n)
		return 0;
	static uint64_t live[MOST];
	unsigned count = 0;
	for (unsigned i = 0; i < model->count; i++)
		if (model->end[i] > now)
			live[count++] = model->end[i];
	qsort(live, count, sizeof *live, by_size);
	return live[later_than(model, now) + cost - model->n - 1];
}

static uint64_t newest(const struct model *model, uint64_t now)
{
	uint64_t most = 0;
	for (unsigned i = 0; i < model->count; i++)
		if (model->end[i] > now && model->end[i] > most)
			most = model->end[i];
	return most;
}

static void prune(struct model *model, uint64_t before)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < model->count; i++)
		if (model->end[i] > before)
			model->end[kept++] = model->end[i];
	model->count = kept;
}

/* A clock that is later still than when they were taken does not know of it. */
static void remove_units(struct model *model, uint64_t end, uint32_t cost)
{
	for (unsigned i = model->count; i-- > 0 && cost;)
		if (model->end[i] == end) {
			model->end[i] = (end - model->period) / 32 * 32;
			cost--;
		}
}

struct wrong {
	unsigned result, used, fits, empty, taken, room, again, shown;
};

static void tell(struct wrong *wrong, const char *what, const struct model *model, uint64_t now,
		 uint32_t cost, uint64_t got, uint64_t expected)
{
	if (wrong->shown++ < 5)
		note("%s: N %u, used %u, cost %u: got %" PRIu64 ", expected %" PRIu64 " (now %" PRIu64 ")",
		     what, model->n, used_at(model, now), cost, got, expected, now);
}

static void compare(struct wrong *wrong, struct model *model, const struct table_look *look, uint64_t now,
		    uint32_t cost, bool charged)
{
	uint64_t fits = charged || !look->allowed ? fits_at(model, now, cost) : 0, empty = newest(model, now);
	bool late = log_ring_order(look->state) == LOG_LEAST; /* then empty_at is rounded up */
	if (look->used != used_at(model, now)) {
		wrong->used++;
		tell(wrong, "used", model, now, cost, look->used, used_at(model, now));
	}
	if (cost && look->fits_at != fits) {
		wrong->fits++;
		tell(wrong, "fits_at", model, now, cost, look->fits_at, fits);
	}
	if (late ? look->empty_at < empty || look->empty_at > empty + 9000000 : look->empty_at != empty) {
		wrong->empty++;
		tell(wrong, "empty_at", model, now, cost, look->empty_at, empty);
	}
}

/* Where newer units were given back, a late clock may find their places: what had ended when they were taken, and had
 * not by this clock, is not remembered. Such a step must only be remembered, not judged. */
static void charge_late(struct wrong *wrong, struct table *table, struct model *model, uint64_t now,
			uint32_t cost)
{
	struct algo_time t = {.now = now};
	struct table_look look;
	struct log_taken taken = {0};
	enum table_charge result = log_charge(table, &model->key, model->row, &t, cost, &taken, &look);
	wrong->room += result == TABLE_NO_ROOM;
	wrong->result += result == TABLE_REFUSED && used_at(model, now) + cost <= model->n;
	wrong->taken += result == TABLE_CHARGED && cost && taken.stamp < now + model->period;
	for (uint32_t i = 0; result == TABLE_CHARGED && i < cost; i++)
		model->end[model->count++] = taken.stamp;
}

static void charge(struct wrong *wrong, struct table *table, struct model *model, uint64_t now, uint32_t cost,
		   unsigned keep)
{
	struct algo_time t = {.now = now};
	struct table_look look, before;
	struct log_taken taken = {0};
	uint64_t last = newest(model, now);
	bool fits = used_at(model, now) + cost <= model->n;

	log_peek(table, &model->key, model->row, &t, cost, &before);
	compare(wrong, model, &before, now, cost, false);
	wrong->result += before.allowed != fits;
	enum table_charge result = log_charge(table, &model->key, model->row, &t, cost, &taken, &look);
	wrong->room += result == TABLE_NO_ROOM;
	if ((result == TABLE_CHARGED) != fits || look.allowed != fits) {
		wrong->result++;
		tell(wrong, "result", model, now, cost, result, fits ? TABLE_CHARGED : TABLE_REFUSED);
	}
	if (result == TABLE_CHARGED && cost) {
		uint64_t end = now + model->period > last ? now + model->period : last;
		end = (end + 31) / 32 * 32;
		wrong->taken += taken.stamp != end;
		for (uint32_t i = 0; i < cost; i++)
			model->end[model->count++] = end;
		model->taken[keep].taken = taken;
		model->taken[keep].cost = cost;
	}
	compare(wrong, model, &look, now, cost, result == TABLE_CHARGED && cost);
	if (result == TABLE_REFUSED && look.fits_at != ALGO_NEVER && look.fits_at > now + 1) {
		/* What it says is true: not a nanosecond sooner, and then indeed. */
		struct algo_time just = {.now = look.fits_at - 1}, then = {.now = look.fits_at};
		table_peek(table, &model->key, model->row, &just, cost, &before);
		wrong->again += before.allowed;
		table_peek(table, &model->key, model->row, &then, cost, &before);
		wrong->again += !before.allowed;
	}
}

static void give_back(struct wrong *wrong, struct table *table, struct model *model, uint64_t now,
		      unsigned kept, uint64_t roll)
{
	struct algo_time t = {.now = now};
	struct table_look look;
	uint32_t cost = model->taken[kept].cost;
	if (cost == 0)
		return;
	uint32_t part = roll & 1 ? cost : 1 + (uint32_t)(roll >> 1) % cost;
	log_uncharge(table, &model->key, model->row, &t, &model->taken[kept].taken, part);
	if (model->taken[kept].taken.stamp > now)
		remove_units(model, model->taken[kept].taken.stamp, part);
	model->taken[kept].cost -= part;
	log_peek(table, &model->key, model->row, &t, 1, &look);
	compare(wrong, model, &look, now, 1, false);
}

static void verdict(const struct wrong *wrong, const char *what)
{
	char text[160];
	snprintf(text, sizeof text, "%s: as the reference: allowed or not", what);
	is_u64(wrong->result, 0, text);
	is_u64(wrong->used, 0, "  how much is used");
	is_u64(wrong->fits, 0, "  when it fits");
	is_u64(wrong->again, 0, "  and not a nanosecond sooner or later");
	is_u64(wrong->empty, 0, "  when nothing counts any more");
	is_u64(wrong->taken, 0, "  the stamp of what was taken");
	is_u64(wrong->room, 0, "  there was always room");
}

static const struct {
	const char *name;
	unsigned steps;
	unsigned late, given; /* of 256 steps: with a late clock, giving something back */
	uint32_t cost;	      /* at most */
} runs[] = {
	{"in order, one by one", 400000, 0, 0, 1}, {"costs", 200000, 0, 0, 40},
	{"late clocks", 200000, 40, 0, 3},	   {"given back", 100000, 0, 40, 3},
	{"everything", 100000, 30, 30, 12},
};

static void check_run(size_t r)
{
	static const struct {
		uint32_t n;
		uint64_t period;
	} kinds[] = {{1, 1000000},	{2, RIG_SECOND},   {3, 50000000},
		     {7, RIG_SECOND},	{10, 1000000000},  {33, 40000000},
		     {100, RIG_SECOND}, {256, RIG_SECOND}, {1000, 2 * RIG_SECOND}};
	enum { KINDS = sizeof kinds / sizeof *kinds };
	struct rig rig = rig_new(4 << 20, 2);
	struct table *table = rig_open(&rig);
	struct model *models = calloc(KINDS, sizeof *models);
	struct wrong wrong = {0};
	uint64_t seed = 4711 + r, now = NOW, refused = 0;
	for (unsigned i = 0; i < KINDS; i++) {
		struct algo_numbers numbers;
		if (!algo_sliding_log(kinds[i].n, kinds[i].period, &numbers))
			rig_die("log", "numbers");
		models[i].n = kinds[i].n;
		models[i].period = kinds[i].period;
		models[i].row = rig_row(table, 10 + i, &numbers, 1);
		models[i].key = rig_key(table, 1, i);
	}
	for (unsigned step = 0; step < runs[r].steps; step++) {
		uint64_t roll = rig_random(&seed), pick = rig_random(&seed);
		/* Large logs are asked less often than they are dear to the reference. */
		unsigned which = pick & 15 ? (unsigned)(pick >> 8) % (KINDS - 2)
					   : (unsigned)(pick >> 8) % KINDS;
		struct model *model = &models[which];
		uint64_t mean = model->period / model->n / (roll & 1 ? 1 : 3);
		now += (roll >> 10) % (mean / KINDS / 2 + 1);
		if ((roll >> 1 & 1023) == 0)
			now += model->period; /* a pause: most of it is free again */
		uint64_t at = now;
		unsigned kept = (unsigned)(pick >> 32) % TAKEN;
		bool giving = (roll >> 24 & 255) < runs[r].given;
		if (!giving && (roll >> 11 & 255) < runs[r].late)
			at -= (roll >> 40) % (model->period / 4);
		prune(model, model->latest > model->period ? model->latest - model->period : 0);
		model->latest = now;
		if (giving) {
			give_back(&wrong, table, model, at, kept, pick >> 40);
			continue;
		}
		uint32_t cost = (uint32_t)(pick >> 40) % (runs[r].cost + 1);
		if (runs[r].cost == 1)
			cost = 1;
		refused += used_at(model, at) + cost > model->n;
		if (at < now && runs[r].given)
			charge_late(&wrong, table, model, at, cost);
		else
			charge(&wrong, table, model, at, cost, kept);
	}
	verdict(&wrong, runs[r].name);
	ok(refused > runs[r].steps / 20, "  many were refused");
	note("%" PRIu64 " of %u refused", refused, runs[r].steps);
	struct stats_process sum;
	stats_process_sum(table, &sum);
	is_u64(sum.evicted_live, 0, "  nothing was pushed out");
	free(models);
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "  the table is sound");
	rig_free(&rig);
}

int main(void)
{
	for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
		check_run(r);
	return done_testing();
}
