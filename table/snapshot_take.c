/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot_take: copy what is charged out of a table that others decide in.
 *
 * Every slot is read as it was at one moment (both words, then both again), the table is not: a charge made during
 * the walk is in it or not, as if the walk had been quicker. The time is told afterwards, so that no charge in it is
 * later. Nothing is written; a line that is read is fetched by its next writer once more.
 */
#include <stdlib.h>

#include "table/cell.h"
#include "table/clock.h"
#include "table/snapshot_file.h"
#include "table/snapshot_judge.h"

#define READS	   100u
#define WALKS	   8u
#define DURABLE_NS (UINT64_C(60) * CLOCK_SECOND)
#define WALK_NS	   (UINT64_C(3600) * CLOCK_SECOND)
#define AHEAD	   8u /* pairs fetched ahead */

enum known { UNKNOWN, LEFT_OUT, WANTED, CARRIED };

struct walk {
	struct table *table;
	struct snapshot *out;
	bool durable_only;
	uint64_t now;
	unsigned char *known; /* enum known of each row, as far as rows were met */
	size_t known_room;
	size_t entry_room, row_room;
};

/* False: it never stood still. */
static bool read_slot(const struct slot *slot, uint64_t *w0, uint64_t *w1)
{
	for (unsigned read = 0; read < READS; read++) {
		*w0 = atomic_get(&slot->w0);
		*w1 = atomic_get(&slot->w1);
		if (slot_still(slot, *w0, *w1))
			return true;
	}
	return false;
}

static bool more(void **array, size_t *room, size_t count, size_t size)
{
	if (count < *room)
		return true;
	size_t wanted = *room ? *room * 2 : 1024;
	void *grown = realloc(*array, wanted * size);
	if (!grown)
		return false;
	*array = grown;
	*room = wanted;
	return true;
}

/* The name may change while it is read: then it is nobody's, and costs a statistics entry. */
static void copy_name(const struct table *table, uint16_t stat, char name[LEDGER_NAME_MAX])
{
	if (stat == 0 || stat >= TABLE_STAT_COUNT)
		return;
	const uint64_t *from = (const uint64_t *)(const void *)table->names[stat].name;
	for (size_t i = 0; i < LEDGER_NAME_MAX / sizeof *from; i++) {
		uint64_t word = atomic_get(&from[i]);
		memcpy(name + i * sizeof word, &word, sizeof word);
	}
	name[LEDGER_NAME_MAX - 1] = '\0';
}

static bool add_row(struct walk *walk, uint32_t number, const struct ledger_row *row)
{
	struct snapshot *out = walk->out;
	void *rows = out->rows;
	if (!more(&rows, &walk->row_room, out->row_count, sizeof *out->rows))
		return false;
	out->rows = rows;
	struct snapshot_row *fresh = &out->rows[out->row_count++];
	memset(fresh, 0, sizeof *fresh);
	fresh->row = number;
	fresh->generation = row->generation;
	fresh->identity = row->identity;
	fresh->flags = row->flags;
	fresh->plan = row->plan;
	fresh->numbers = row->numbers;
	copy_name(walk->table, row->stat, fresh->limit);
	walk->known[number] = CARRIED;
	return true;
}

static enum known ask(const struct walk *walk, const struct ledger_row *row)
{
	if (!row || (walk->durable_only && snapshot_recovery_ns(&row->numbers) <= DURABLE_NS))
		return LEFT_OUT;
	return WANTED;
}

/* NULL: no memory. */
static unsigned char *known_of(struct walk *walk, uint32_t number)
{
	if (number >= walk->known_room) {
		size_t room = 1024;
		while (room <= number)
			room *= 2;
		unsigned char *grown = realloc(walk->known, room);
		if (!grown)
			return NULL;
		memset(grown + walk->known_room, UNKNOWN, room - walk->known_room);
		walk->known = grown;
		walk->known_room = room;
	}
	return &walk->known[number];
}

static bool add_slot(struct walk *walk, uint64_t pair, uint64_t w0, uint64_t w1)
{
	struct snapshot *out = walk->out;
	uint32_t number = slot_row(w0);
	unsigned char *known = known_of(walk, number);
	if (!known || *known == LEFT_OUT)
		return known != NULL;
	const struct ledger_row *row = recall_row(walk->table, number);
	if (*known == UNKNOWN)
		*known = (unsigned char)ask(walk, row);
	if (*known == LEFT_OUT || !row)
		return true;
	/* What is charged during the walk is charged later than it began. */
	if (snapshot_judge(&row->numbers, w0, &w1, walk->now + WALK_NS, walk->now) != JUDGED_LIVE)
		return true;
	void *entries = out->entries;
	if (!more(&entries, &walk->entry_room, out->entry_count, sizeof *out->entries))
		return false;
	out->entries = entries;
	out->entries[out->entry_count++] = (struct snapshot_entry){pair, w0, w1};
	return *known == CARRIED || add_row(walk, number, row);
}

static bool walk_pairs(struct walk *walk)
{
	struct table *table = walk->table;
	for (uint64_t i = 0; i < table->pair_count; i++) {
		const struct slot_pair *pair = &table->pairs[i];
		if (i + AHEAD < table->pair_count) {
			atomic_prefetch_read(&pair[AHEAD].ways[0]);
			atomic_prefetch_read(&pair[AHEAD].ways[4]);
		}
		for (unsigned way = 0; way < LAYOUT_WAYS; way++) {
			uint64_t w0, w1;
			if (atomic_peek(&pair->ways[way].w0) == 0 || !read_slot(&pair->ways[way], &w0, &w1))
				continue;
			if (w0 && !(w1 & LAYOUT_CLAIM) && !add_slot(walk, i, w0, w1))
				return false;
		}
	}
	return true;
}

static uint64_t look_at_clock(struct table *table, uint64_t *wall)
{
	struct algo_time t;
	table->clock.next = 0; /* others may have jumped forward already */
	table_time(table, &t);
	__int128 now = (__int128)t.now + t.wall;
	*wall = now < 0 ? 0 : (uint64_t)now;
	return t.now;
}

static void describe(struct table *table, struct snapshot *out)
{
	struct clock_reading reading;
	clock_read(&reading);
	out->table_id = table->table_id;
	out->pairs = table->pair_count;
	out->secret[0] = table->secret.k0;
	out->secret[1] = table->secret.k1;
	out->digest_secret[0] = table->digest_secret.k0;
	out->digest_secret[1] = table->digest_secret.k1;
	memcpy(out->boot, reading.boot, sizeof out->boot);
	out->time = look_at_clock(table, &out->wall);
	out->offset = table->clock.offset + table->clock.shift;
	out->generation = table_last_generation(table);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = ((const struct snapshot_row *)a)->row, y = ((const struct snapshot_row *)b)->row;
	return x < y ? -1 : x > y;
}

enum weir_error snapshot_take(struct table *table, bool durable_only, struct snapshot *out)
{
	struct walk walk = {.table = table, .out = out, .durable_only = durable_only};
	uint64_t wall;
	enum weir_error error = WEIR_BUSY;
	memset(out, 0, sizeof *out);
	/* A row that is given to others during the walk would be taken for what it was: begin again. Publishing is
	 * rare. */
	for (unsigned i = 0; i < WALKS && error == WEIR_BUSY; i++) {
		if (walk.known)
			memset(walk.known, UNKNOWN, walk.known_room);
		out->row_count = out->entry_count = 0;
		recall_fresh(table);
		walk.now = look_at_clock(table, &wall);
		if (!walk_pairs(&walk))
			error = WEIR_NO_MEMORY;
		else if (!recall_stale(table))
			error = WEIR_OK;
	}
	free(walk.known);
	size_t kept = error == WEIR_OK ? snapshot_sort(out->entries, out->entry_count) : SIZE_MAX;
	if (kept == SIZE_MAX) {
		snapshot_free(out);
		return error == WEIR_OK ? WEIR_NO_MEMORY : error;
	}
	out->entry_count = kept;
	if (out->row_count)
		qsort(out->rows, out->row_count, sizeof *out->rows, by_number);
	describe(table, out);
	return WEIR_OK;
}
