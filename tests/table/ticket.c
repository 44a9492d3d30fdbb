/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ticket: random lives of tickets, over several handles, keys and kinds of counter, step by step against a slow
 * model: a list of what was taken, and one word a key. Whatever is taken, settled, given back, forgotten by a death
 * or charged because it grew too old: the table says what the model says.
 */
#include "table/handle.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define HANDLES 4u
#define KEYS	8u
#define TICKETS 64u
#define STEPS	1000000u
#define MOST	64u /* of a log */

enum model { WORD, LOG, CONCURRENT };

struct life {
	struct table_ticket ticket;
	unsigned handle, key;
	bool used; /* it stands for something in the model */
	bool postponed;
	bool was; /* it was live once: settling it again must change nothing */
	uint64_t order;
};

struct world {
	struct rig rig;
	struct table *table[HANDLES];
	struct algo_numbers numbers[KEYS];
	enum model model[KEYS];
	uint32_t row[KEYS];
	uint64_t word[KEYS];
	uint64_t ends[KEYS][MOST]; /* of a log's admissions */
	struct life life[TICKETS];
	struct algo_time t;
	uint64_t seed, order;
	uint64_t seen[8]; /* what happened, so that a test of nothing is noticed */
};

enum { TAKEN, REFUSED, SETTLED, AGAIN, KILLED, OVERDUE, POSTPONED, RETIRED };

static struct table_key key_of(struct world *world, unsigned key)
{
	return rig_key(world->table[0], 1, key);
}

static uint64_t pick(struct world *world, uint64_t below)
{
	return rig_random(&world->seed) % below;
}

/* ---- the model ---------------------------------------------------------------------------------------- */

static uint32_t held(const struct world *world, unsigned key)
{
	uint32_t sum = 0;
	for (unsigned i = 0; i < TICKETS; i++)
		if (world->life[i].used && world->life[i].key == key &&
		    world->life[i].ticket.how == TABLE_RESERVE)
			sum += world->life[i].ticket.cost;
	return sum;
}

static uint32_t log_used(const struct world *world, unsigned key)
{
	uint32_t used = 0;
	for (unsigned i = 0; i < MOST; i++)
		used += world->ends[key][i] > world->t.now;
	return used;
}

static bool fits(const struct world *world, unsigned key, uint32_t cost)
{
	struct algo_outcome outcome;
	switch (world->model[key]) {
	case CONCURRENT:
		return cost <= world->numbers[key].capacity;
	case LOG:
		return cost == 0 || log_used(world, key) + cost <= world->numbers[key].capacity;
	case WORD:
		break;
	}
	algo_step(&world->numbers[key], world->word[key], &world->t, cost, &outcome);
	return outcome.allowed;
}

/* Of a log as much as can be, now, or as of the next second's ends. */
static void charge(struct world *world, unsigned key, uint32_t cost)
{
	if (world->model[key] == WORD)
		world->word[key] = algo_settle(&world->numbers[key], world->word[key], &world->t, cost);
	while (world->model[key] == LOG && cost--) {
		uint64_t *first = world->ends[key];
		for (unsigned i = 1; i < world->numbers[key].capacity; i++)
			if (world->ends[key][i] < *first)
				first = &world->ends[key][i];
		if (*first > world->t.now + RIG_SECOND)
			return;
		*first = (*first > world->t.now ? *first : world->t.now) + world->numbers[key].scale;
	}
}

static void give_back(struct world *world, const struct life *life, uint32_t cost)
{
	unsigned key = life->key;
	if (world->model[key] == WORD)
		world->word[key] = algo_give_back(&world->numbers[key], world->word[key], &world->t,
						  life->ticket.at, cost);
	uint64_t end = life->ticket.at + world->numbers[key].scale;
	for (unsigned i = 0; world->model[key] == LOG && cost && i < MOST; i++)
		if (world->ends[key][i] == end && end > world->t.now) {
			world->ends[key][i] = 0;
			cost--;
		}
}

static void end(struct world *world, struct life *life, uint32_t cost)
{
	life->used = false;
	if (life->ticket.how == TABLE_RESERVE)
		charge(world, life->key, cost);
	else if (cost > life->ticket.cost)
		charge(world, life->key, cost - life->ticket.cost);
	else
		give_back(world, life, life->ticket.cost - cost);
}

/* ---- steps -------------------------------------------------------------------------------------------- */

static bool peek_agrees(struct world *world, unsigned handle, unsigned key, uint32_t cost)
{
	struct table_look look;
	struct table_key name = key_of(world, key);
	table_peek_held(world->table[handle], &name, world->row[key], &world->t, cost, &look);
	return look.allowed == fits(world, key, held(world, key) + cost) && look.held == held(world, key);
}

static bool step_take(struct world *world, struct life *life)
{
	unsigned handle = (unsigned)pick(world, HANDLES), key = (unsigned)pick(world, KEYS);
	enum table_how how = pick(world, 3) ? TABLE_RESERVE : TABLE_CHARGE;
	uint32_t cost = (uint32_t)pick(world, 4);
	struct table_key name = key_of(world, key);
	struct table_look look;
	uint32_t before = held(world, key);
	cost += pick(world, 50) ? 0 : 30;
	if (world->model[key] == CONCURRENT && how == TABLE_CHARGE)
		cost++; /* is never charged; and nothing is a peek */
	bool expect = how == TABLE_RESERVE ? fits(world, key, before + cost)
					   : world->model[key] != CONCURRENT && fits(world, key, cost);
	if (life->used)
		return true;
	enum table_charge result = table_take(world->table[handle], &name, world->row[key], &world->t, cost,
					      how, &life->ticket, &look);
	world->seen[expect ? TAKEN : REFUSED]++;
	if (result != (expect ? TABLE_CHARGED : TABLE_REFUSED) || life->ticket.live != expect)
		return false;
	if (how == TABLE_RESERVE && (look.allowed != expect || look.held != before + (expect ? cost : 0)))
		return false;
	life->handle = handle;
	life->key = key;
	life->used = life->was = expect;
	life->postponed = false;
	life->order = world->order++;
	if (expect && how == TABLE_CHARGE)
		charge(world, key, cost);
	return true;
}

static bool step_settle(struct world *world, struct life *life)
{
	uint32_t cost = pick(world, 2) ? 0
			: pick(world, 4)
				? (uint32_t)pick(world, life->ticket.cost + 1)
				: life->ticket.cost + (uint32_t)pick(world, 4); /* dearer than thought */
	bool was = life->used;
	if (!was && !life->was)
		return true;
	if (was)
		end(world, life, cost);
	struct table *table = world->table[life->handle];
	world->seen[was ? SETTLED : AGAIN]++;
	return (cost ? table_settle(table, &life->ticket, &world->t, cost)
		     : table_give_back(table, &life->ticket, &world->t)) == was &&
	       !life->ticket.live;
}

/* Closed without a word, as the kernel does it; and the next owner of the process slot begins with nothing. */
static bool step_kill(struct world *world)
{
	unsigned handle = (unsigned)pick(world, HANDLES);
	uint32_t index = world->table[handle]->process_index;
	for (unsigned i = 0; i < TICKETS; i++)
		if (world->life[i].handle == handle && world->life[i].ticket.how == TABLE_RESERVE)
			world->life[i].used = false;
	table_close(&world->table[handle]);
	world->table[handle] = rig_open(&world->rig);
	world->seen[KILLED]++;
	return world->table[handle]->process_index == index && table_held(world->table[handle]) == 0;
}

static bool step_overdue(struct world *world)
{
	unsigned handle = (unsigned)pick(world, HANDLES);
	for (unsigned i = 0; i < TICKETS; i++) {
		struct life *life = &world->life[i];
		if (life->used && life->handle == handle && life->ticket.how == TABLE_RESERVE &&
		    world->model[life->key] != CONCURRENT && !life->postponed &&
		    world->t.now - life->ticket.at > TABLE_RESERVE_MAX_NS) {
			end(world, life, life->ticket.cost);
			world->seen[OVERDUE]++;
		}
	}
	table_overdue(world->table[handle], &world->t);
	for (unsigned i = 0; i < TICKETS; i++)
		if (world->life[i].was && world->life[i].ticket.how == TABLE_RESERVE &&
		    world->life[i].used != world->life[i].ticket.live)
			return false;
	return true;
}

/* Of any ticket, and more often than once: only a live reservation is postponed, and begins. */
static bool step_postpone(struct world *world, struct life *life)
{
	struct table *table = world->table[life->handle];
	bool reserved = life->used && life->ticket.how == TABLE_RESERVE &&
			world->model[life->key] != CONCURRENT;
	uint32_t before = table_held(table);
	uint64_t at = life->ticket.at;
	if (!life->was)
		return true;
	if (pick(world, 2)) {
		table_postpone(table, &life->ticket);
		world->seen[POSTPONED] += reserved && !life->postponed;
		life->postponed = reserved;
	} else {
		table_begin(table, &life->ticket, &world->t);
		at = life->postponed && reserved ? world->t.now : at;
		life->postponed = false;
	}
	return life->ticket.at == at && table_held(table) == before;
}

/* There and back: with or without tickets nothing that is held or charged is lost. */
static bool step_retire(struct world *world)
{
	unsigned handle = (unsigned)pick(world, HANDLES);
	struct table *table = world->table[handle];
	struct table_key name = key_of(world, 0);
	struct table_ticket ticket;
	struct table_look look;
	table_retire(table);
	world->seen[RETIRED]++;
	bool kept = table->process != NULL;
	bool room = table_take(table, &name, world->row[0], &world->t, 0, TABLE_RESERVE, &ticket, &look) !=
		    TABLE_NO_ROOM;
	table_give_back(table, &ticket, &world->t);
	return kept == (table_held(table) > 0) && kept == (table->process != NULL) && kept == room &&
	       peek_agrees(world, handle, (unsigned)pick(world, KEYS), 1) && table_resume(table) == WEIR_OK;
}

static bool step(struct world *world)
{
	struct life *life = &world->life[pick(world, TICKETS)];
	uint64_t what = pick(world, 1000);
	if (what < 450)
		return step_take(world, life);
	if (what < 800)
		return step_settle(world, life);
	if (what < 900)
		return peek_agrees(world, (unsigned)pick(world, HANDLES), (unsigned)pick(world, KEYS),
				   (uint32_t)pick(world, 5));
	if (what < 902)
		return step_kill(world);
	if (what < 915)
		return step_overdue(world);
	if (what < 920)
		return step_retire(world);
	if (what < 935)
		return step_postpone(world, life);
	/* In steps of 32 ns, as the ends of a log's admissions are: else those given back count for some more. */
	world->t.now += 32 * pick(world, (what < 937 ? 70 * RIG_SECOND : RIG_SECOND) / 32);
	return true;
}

static void world_begin(struct world *world)
{
	const struct algo_numbers numbers[KEYS] = {
		rig_token(1, RIG_SECOND, 10),
		rig_leaky(1, RIG_SECOND, 6),
		rig_window(20, 10 * RIG_SECOND, ALGO_FIRST_REQUEST),
		rig_window(12, 7 * RIG_SECOND, ALGO_CLOCK),
		rig_token(5, 60 * RIG_SECOND, 5),
	};
	*world = (struct world){.rig = rig_new(TABLE_SIZE_MIN, HANDLES), .seed = 1};
	memcpy(world->numbers, numbers, sizeof numbers);
	if (!algo_concurrent(7, &world->numbers[5]) ||
	    !algo_sliding_window(20, 10 * RIG_SECOND, &world->numbers[6]) ||
	    !algo_sliding_log(15, 9 * RIG_SECOND, &world->numbers[7]))
		rig_die("numbers", "refused");
	world->model[5] = CONCURRENT;
	world->model[7] = LOG;
	world->t.now = 1000 * RIG_SECOND;
	for (unsigned i = 0; i < HANDLES; i++)
		world->table[i] = rig_open(&world->rig);
	for (unsigned i = 0; i < KEYS; i++)
		world->row[i] = rig_row(world->table[0], 10 + i, &world->numbers[i], 1);
}

static void check_lives(void)
{
	static struct world world;
	unsigned at = 0;
	world_begin(&world);
	for (bool good = true; at < STEPS && (good = step(&world)); at++)
		;
	if (!is_u64(at, STEPS, "a million steps as the model has them"))
		note("step %u", at);
	for (unsigned i = 0; i < TICKETS; i++)
		if (world.life[i].used)
			table_give_back(world.table[world.life[i].handle], &world.life[i].ticket, &world.t);
	uint32_t left = 0;
	world.t.now += 1000 * RIG_SECOND;
	for (unsigned key = 0; key < KEYS; key++) {
		struct table_key name = key_of(&world, key);
		struct table_look look;
		uint32_t all = (uint32_t)(key < 2 || key == 4
						  ? world.numbers[key].capacity >> world.numbers[key].shift
						  : world.numbers[key].capacity);
		table_peek_held(world.table[0], &name, world.row[key], &world.t, all, &look);
		left += !look.allowed || look.held;
	}
	is_u64(left, 0, "in the end every unit can be had again");
	for (unsigned i = 0; i < HANDLES; i++)
		left += table_held(world.table[i]);
	is_u64(left, 0, "and no ticket is left");
	ok(world.seen[TAKEN] > 50000 && world.seen[REFUSED] > 20000 && world.seen[SETTLED] > 50000 &&
		   world.seen[AGAIN] > 10000 && world.seen[KILLED] > 500 && world.seen[OVERDUE] > 500 &&
		   world.seen[RETIRED] > 500 && world.seen[POSTPONED] > 500,
	   "and all of it happened");
	note("taken %" PRIu64 ", refused %" PRIu64 ", settled %" PRIu64 ", again %" PRIu64 ", killed %" PRIu64
	     ", overdue %" PRIu64,
	     world.seen[TAKEN], world.seen[REFUSED], world.seen[SETTLED], world.seen[AGAIN],
	     world.seen[KILLED], world.seen[OVERDUE]);
	for (unsigned i = 0; i < HANDLES; i++)
		table_close(&world.table[i]);
	is_u64(rig_broken(&world.rig), 0, "the table is sound");
	rig_free(&world.rig);
}

int main(void)
{
	check_lives();
	return done_testing();
}
