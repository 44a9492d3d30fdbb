/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * census_settle: a census freed the row of a counter that was settled while it looked. It had looked at the key's slot,
 * which was empty; then the settlement put the row there, and another key took the slot of the hold; then it looked at
 * that.
 *
 * So that this happens at that very moment, the page with the hold is taken from the census's own mapping: its look
 * faults, and the settlement is done in the handler, by another handle with another mapping.
 */
#include <signal.h>
#include <sys/mman.h>

#include "table/hold.h"
#include "table/ledger.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define NOW (UINT64_C(100) * RIG_SECOND)

static struct scene {
	struct rig rig;
	struct table *publisher, *door;
	uint32_t row, other; /* the one that nobody names any more, and one of the policy in force */
	struct table_key key, hold;
	struct algo_time t;
	struct table_ticket ticket;
	unsigned char *page; /* of the publisher's mapping */
	unsigned faults;
} scene;

static unsigned char *page_of(const struct table *table, const struct table_key *key)
{
	unsigned char *at = (unsigned char *)slot_pair(table, key);
	return at - (uintptr_t)at % LAYOUT_PAGE;
}

/* Where the row of the key is: in one of its slots? */
static bool carries(const struct table_key *key)
{
	const struct slot_pair *pair = slot_pair(scene.door, key);
	bool found = false;
	for (unsigned way = 0; way < LAYOUT_WAYS; way++)
		found |= pair->ways[way].w0 == (slot_tag(key) | scene.row);
	return found;
}

static void settle_meanwhile(int signal, siginfo_t *info, void *context)
{
	(void)context;
	unsigned char *at = info->si_addr;
	if (at < scene.page || at >= scene.page + LAYOUT_PAGE || scene.faults++)
		_exit(128 + signal);
	mprotect(scene.page, LAYOUT_PAGE, PROT_READ | PROT_WRITE);
	table_settle(scene.door, &scene.ticket, &scene.t, 1);
	struct table_look look;
	for (uint64_t id = 0; carries(&scene.hold) && id < 1000000; id++) {
		struct table_key key = rig_key(scene.door, 9, id);
		if (slot_pair(scene.door, &key) == slot_pair(scene.door, &scene.hold))
			table_charge(scene.door, &key, scene.other, &scene.t, 1, &look);
	}
}

/* `before`: is the key's slot looked at before that of the hold? */
static void check(const struct algo_numbers *numbers, const char *kind, bool before)
{
	char text[160];
	struct algo_numbers other = rig_token(1, RIG_YEAR, 10);
	scene = (struct scene){.rig = rig_new(TABLE_SIZE_MIN, 2), .t.now = NOW};
	scene.publisher = rig_open(&scene.rig);
	scene.door = rig_open(&scene.rig);
	struct table *publisher = scene.publisher, *door = scene.door;
	struct table_look look;
	scene.row = rig_row(publisher, 1, numbers, 1);
	table_set_generation(publisher, 1);
	for (uint64_t id = 0;; id++) {
		scene.key = rig_key(door, 1, id);
		scene.hold = cell_key(&scene.key, true, door->process_index);
		unsigned char *of_key = page_of(door, &scene.key), *of_hold = page_of(door, &scene.hold);
		if (before ? of_key < of_hold : of_key > of_hold)
			break;
	}
	table_take(door, &scene.key, scene.row, &scene.t, 1, TABLE_RESERVE, &scene.ticket, &look);
	scene.other = rig_row(publisher, 2, &other, 2); /* a policy without the first limit */
	table_set_generation(publisher, 2);
	table_hold_generation(publisher, 2);
	table_hold_generation(door, 2);

	scene.page = page_of(publisher, &scene.hold);
	ledger_lock(publisher, 0);
	mprotect(scene.page, LAYOUT_PAGE, PROT_NONE);
	uint32_t freed = ledger_census(publisher);
	snprintf(text, sizeof text, "%s, its slot looked at %s: settled in the middle of a census", kind,
		 before ? "before the hold's" : "after it");
	ok(scene.faults == 1 && !scene.ticket.live && !carries(&scene.hold), text);
	ok(carries(&scene.key), "  the key's slot carries the row");
	is_u64(freed, 0, "  so it is not freed");
	is_u64(ledger_census(publisher), 0, "  nor by the next");
	is_u64(table_charge(door, &scene.key, scene.row, &scene.t, 5, &look), TABLE_REFUSED,
	       "  and what was settled counts");
	table_forget(door, &scene.key);
	is_u64(ledger_census(publisher), 1, "  until it is forgotten");
	ledger_unlock(publisher);
	table_close(&scene.door);
	table_close(&scene.publisher);
	is_u64(rig_broken(&scene.rig), 0, "  the table is sound");
	rig_free(&scene.rig);
}

/* A settlement by an old row writes a newer one where it finds it, in a log to cells that were empty: so that stays too. */
static void check_counter(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *publisher = rig_open(&rig), *door = rig_open(&rig);
	struct algo_numbers numbers[2] = {rig_token(1, RIG_YEAR, 5), rig_token(1, RIG_YEAR, 6)};
	struct algo_time t = {.now = NOW};
	struct table_ticket ticket;
	struct table_look look;
	struct table_key key = rig_key(door, 1, 1);
	uint32_t first = rig_row(publisher, 1, &numbers[0], 1);
	table_set_generation(publisher, 1);
	table_take(door, &key, first, &t, 1, TABLE_RESERVE, &ticket, &look);
	rig_row(publisher, 1, &numbers[1], 2);
	rig_row(publisher, 2, &numbers[1], 2);
	table_set_generation(publisher, 3);
	table_hold_generation(publisher, 3);
	table_hold_generation(door, 3);
	ledger_lock(publisher, 0);
	is_u64(ledger_census(publisher), 1, "a row is held: all of its counter stay, that of another goes");
	ok(table_give_back(door, &ticket, &t), "it is held no more");
	is_u64(ledger_census(publisher), 1, "the newer row goes, the older is in the slot of the hold");
	ok(ledger_row(door, first) != NULL, "  which carries it");
	ledger_unlock(publisher);
	table_close(&door);
	table_close(&publisher);
	is_u64(rig_broken(&rig), 0, "the table is sound");
	rig_free(&rig);
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = settle_meanwhile, .sa_flags = SA_SIGINFO};
	struct algo_numbers token = rig_token(1, RIG_YEAR, 5), log;
	if (sigaction(SIGSEGV, &action, NULL) != 0 || !algo_sliding_log(5, RIG_YEAR, &log))
		rig_die("sigaction", "refused");
	for (unsigned before = 0; before < 2; before++) {
		check(&token, "a bucket", before);
		check(&log, "a log", before);
	}
	check_counter();
	return done_testing();
}
