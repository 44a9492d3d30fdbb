/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_ops: what the two fuzzers of the table share: a small valid table to begin from, patches at any
 * place of its files, and a list of calls read from the input.
 *
 * Secrets and identifiers come from getrandom, which is replaced here: an input finds the same bytes at the
 * same place on every run.
 */
#ifndef WEIR_FUZZ_TABLE_OPS_H
#define WEIR_FUZZ_TABLE_OPS_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "algo/ban.h"
#include "algo/grant.h"
#include "table/census.h"
#include "table/geometry.h"
#include "table/given.h"
#include "table/hold.h"
#include "table/ledger.h"
#include "table/ledger_file.h"
#include "table/log_ring.h"
#include "table/stats.h"
#include "table/table.h"

#define OPS_SECOND UINT64_C(1000000000)
#define OPS_NOW	   (UINT64_C(1000) * OPS_SECOND)
#define OPS_KEYS   12u
#define OPS_ROWS                                                                                             \
	9u /* 0 to 3: counters; 4: a log; 5: the same later, none allowed; 6: concurrent; 7: bans; 8: grants */
#define OPS_HELD 8u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
	static uint64_t z = 1;
	(void)flags;
	for (size_t i = 0; i < size; i++) {
		z = z * UINT64_C(6364136223846793005) + 1442695040888963407;
		((unsigned char *)buffer)[i] = (unsigned char)(z >> 56);
	}
	return (ssize_t)size;
}

enum ops_file { OPS_TABLE, OPS_LEDGER, OPS_FILES };

static struct ops {
	char folder[64], path[OPS_FILES][96];
	unsigned char *pristine[OPS_FILES];
	size_t size[OPS_FILES];
	int fd[OPS_FILES]; /* of the files, for patching */
	uint32_t rows[OPS_ROWS];
	uint64_t hot[64]; /* places in the table file that hold something: where a patch tells most */
	unsigned hot_count;
	struct table *table;
	struct table_ticket tickets[OPS_HELD];
} ops;

struct feed { /* the input, byte by byte; zeros after its end */
	const uint8_t *data;
	size_t size;
};

static uint64_t feed_take(struct feed *feed, unsigned bytes)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < bytes && feed->size; i++, feed->data++, feed->size--)
		value |= (uint64_t)*feed->data << 8 * i;
	return value;
}

static void ops_clean(void)
{
	table_close(&ops.table);
	for (unsigned i = 0; i < OPS_FILES; i++)
		unlink(ops.path[i]);
	rmdir(ops.folder);
}

static void ops_need(bool good, const char *what)
{
	if (!good) {
		perror(what);
		exit(1);
	}
}

static enum weir_error ops_open(bool read_only)
{
	struct table_options options = {.path = ops.path[OPS_TABLE],
					.size = TABLE_SIZE_MIN,
					.create = !read_only,
					.read_only = read_only,
					.process_slots = 2};
	char why[200];
	return table_open(&options, &ops.table, why, sizeof why);
}

static struct table_key ops_key(uint64_t id)
{
	uint64_t word = id % OPS_KEYS;
	return table_key(ops.table, &word, sizeof word);
}

/* A table in use: rows of every kind, an old and a new one of the same counter, keys under each. */
static void ops_prepare(void)
{
	struct algo_numbers numbers[OPS_ROWS];
	snprintf(ops.folder, sizeof ops.folder, "/dev/shm/weir-fuzz-XXXXXX");
	ops_need(mkdtemp(ops.folder) != NULL, "mkdtemp");
	atexit(ops_clean);
	snprintf(ops.path[OPS_TABLE], sizeof ops.path[0], "%s/table", ops.folder);
	snprintf(ops.path[OPS_LEDGER], sizeof ops.path[0], "%s/table.ledger", ops.folder);
	ops_need(algo_token_bucket(10, OPS_SECOND, 100, &numbers[0]) &&
			 algo_token_bucket(10, OPS_SECOND, 200, &numbers[1]) &&
			 algo_leaky_bucket(5, OPS_SECOND, 50, 10, 0, &numbers[2]) &&
			 algo_fixed_window(1000, 3600 * OPS_SECOND, ALGO_CALENDAR_DAY, &numbers[3]) &&
			 algo_sliding_log(5, 3600 * OPS_SECOND, &numbers[4]) &&
			 algo_sliding_log(0, 3600 * OPS_SECOND, &numbers[5]) &&
			 algo_concurrent(3, &numbers[6]) &&
			 algo_ban_numbers(OPS_SECOND, 3600 * OPS_SECOND, &numbers[7]) &&
			 grant_numbers(&numbers[8]),
		 "numbers");
	ops_need(ops_open(false) == WEIR_OK && ledger_lock(ops.table, 1000) == WEIR_OK, "table");
	for (unsigned i = 0; i < OPS_ROWS; i++)
		ops_need(ledger_row_for(ops.table,
					i < 2	 ? 1
					: i == 5 ? 4
						 : i,
					0, &numbers[i], 0, "fuzz", i + 1, &ops.rows[i]) == WEIR_OK,
			 "row");
	ledger_unlock(ops.table);
	struct algo_time t = {.now = OPS_NOW};
	for (unsigned i = 0; i < OPS_KEYS - 2; i++) {
		struct table_key key = ops_key(i);
		struct table_look look;
		table_charge(ops.table, &key, ops.rows[i % 4], &t, 1 + i, &look);
	}
	table_close(&ops.table);
	for (unsigned i = 0; i < OPS_FILES; i++) {
		ops.fd[i] = open(ops.path[i], O_RDWR | O_CLOEXEC);
		off_t size = lseek(ops.fd[i], 0, SEEK_END);
		ops_need(ops.fd[i] >= 0 && size > 0, ops.path[i]);
		ops.size[i] = (size_t)size;
		ops.pristine[i] = malloc(ops.size[i]);
		ops_need(ops.pristine[i] && pread(ops.fd[i], ops.pristine[i], ops.size[i], 0) == size,
			 ops.path[i]);
	}
	for (uint64_t at = ops.size[OPS_TABLE]; at > 4096 && ops.hot_count < 64; at -= 8) {
		uint64_t word;
		memcpy(&word, ops.pristine[OPS_TABLE] + at - 8, sizeof word);
		if (word)
			ops.hot[ops.hot_count++] = at - 8;
	}
	ops_need(ops.hot_count > 2 * (OPS_KEYS - 2) - 1, "the keys are not where they should be");
}

static void ops_restore(void)
{
	memset(ops.tickets, 0, sizeof ops.tickets);
	for (unsigned i = 0; i < OPS_FILES; i++)
		ops_need(ftruncate(ops.fd[i], (off_t)ops.size[i]) == 0 &&
				 pwrite(ops.fd[i], ops.pristine[i], ops.size[i], 0) == (ssize_t)ops.size[i],
			 "restore");
}

/* One patch: where (the header, a place in use, a row, anywhere) and what. */
static void ops_patch(struct feed *feed)
{
	unsigned how = (unsigned)feed_take(feed, 1), bytes = 1u << (how >> 4 & 3);
	uint64_t at = feed_take(feed, 2);
	enum ops_file file = how & 8 ? OPS_LEDGER : OPS_TABLE;
	switch (how & 3) {
	case 0:
		at %= 1280; /* header */
		break;
	case 1:
		at = file == OPS_TABLE ? ops.hot[at % ops.hot_count] : LAYOUT_PAGE + 4096 + at % 512;
		break;
	case 2:
		at *= 64;
		break;
	default:
		at = at << 8 | feed_take(feed, 1);
	}
	at %= ops.size[file] - 8;
	uint64_t value = feed_take(feed, bytes);
	ops_need(pwrite(ops.fd[file], &value, bytes, (off_t)at) == (ssize_t)bytes, "patch");
}

/* Checks that are right again after patches: damage that a check would find is found at once and goes no
 * further. */
static void ops_seal_rows(void)
{
	struct ledger_row rows[OPS_ROWS + 1];
	off_t at = (off_t)(LAYOUT_PAGE + offsetof(struct ledger_block, rows));
	if (pread(ops.fd[OPS_LEDGER], rows, sizeof rows, at) != sizeof rows)
		return;
	for (uint32_t i = 1; i <= OPS_ROWS; i++)
		rows[i].check = ledger_check(&rows[i], i);
	ops_need(pwrite(ops.fd[OPS_LEDGER], rows, sizeof rows, at) == sizeof rows, "seal");
}

static void ops_seal_header(void)
{
	struct layout_fixed fixed;
	if (pread(ops.fd[OPS_TABLE], &fixed, sizeof fixed, 0) != sizeof fixed)
		return;
	fixed.check = geometry_checksum(&fixed);
	ops_need(pwrite(ops.fd[OPS_TABLE], &fixed, sizeof fixed, 0) == sizeof fixed, "seal");
}

static void ops_note(void *context, const char *sentence)
{
	*(size_t *)context += strlen(sentence); /* reads it to its end */
}

static void ops_look_around(void)
{
	struct census census;
	struct stats_process process;
	struct stats_limit limit;
	struct stats_event events[8];
	size_t read = 0;
	census_take(ops.table, &census);
	census_check(ops.table, ops_note, &read);
	stats_process_sum(ops.table, &process);
	for (uint16_t i = 0; i < 4; i++) {
		stats_limit_sum(ops.table, i, &limit);
		read += strlen(stats_name(ops.table, i));
	}
	size_t count = stats_events(ops.table, events, 8);
	ops_need(count <= 8, "events");
}

static void ops_publish(struct feed *feed)
{
	struct algo_numbers numbers;
	uint32_t row;
	uint64_t roll = feed_take(feed, 2);
	if (ledger_lock(ops.table, 0) != WEIR_OK)
		return;
	if (algo_token_bucket(1 + (uint32_t)roll % 100, OPS_SECOND, 10, &numbers) &&
	    ledger_row_for(ops.table, roll % 5, roll >> 10 & 1 ? LEDGER_PLAN(roll, roll >> 11) : 0, &numbers,
			   0, "other", (uint32_t)roll % 16, &row) == WEIR_OK)
		ops.rows[roll % 4] = row;
	if (roll & 256)
		ledger_census(ops.table);
	if (roll & 512)
		table_set_generation(ops.table, roll % 16);
	ledger_unlock(ops.table);
}

/* A cell of a log, a hold or a counter where a key's would be, of any row, that says anything. */
static void ops_forge(struct feed *feed, const struct table_key *key)
{
	unsigned how = (unsigned)feed_take(feed, 1);
	struct table_key cell = how & 8 ? cell_key(key, how & 16, how >> 5) : *key;
	uint64_t row = feed_take(feed, 1), word = feed_take(feed, 1) << 48 | feed_take(feed, 1) << 28;
	word |= (how & 8 ? CELL_MARK : 0) | ((how & 24) == 24 ? CELL_HOLD : 0);
	const struct slot slot = {slot_tag(&cell) | row % (OPS_ROWS + 2), how & 64 ? word | OPS_NOW : word};
	off_t at = (off_t)((unsigned char *)&slot_pair(ops.table, &cell)->ways[how & 7] - ops.table->base);
	ops_need(pwrite(ops.fd[OPS_TABLE], &slot, sizeof slot, at) == sizeof slot, "forge");
}

static void ops_each(void *context, uint64_t identity, uint64_t until)
{
	*(uint64_t *)context += identity ^ until;
}

/* Bans and grants: under any row, of any length. */
static void ops_given(struct feed *feed, const struct table_key *key, uint32_t row, const struct algo_time *t)
{
	unsigned what = (unsigned)feed_take(feed, 1);
	uint64_t length = feed_take(feed, 1) << (what >> 3), sum = 0;
	struct table_look look;
	switch (what & 7) {
	case 0:
		table_ban(ops.table, key, ops.rows[7], t, 0, &look);
		break;
	case 1:
		table_ban(ops.table, key, row, t, length, &look);
		break;
	case 2:
		table_grant(ops.table, key, ops.rows[8], t, 1 + (what >> 3), t->now + length, &look);
		break;
	case 3:
		table_grant(ops.table, key, row, t, (uint32_t)length, t->now + (length << 20), &look);
		break;
	case 4:
		table_spend(ops.table, key, row, t, 1 + (what >> 3), &look);
		break;
	case 5:
		table_spend(ops.table, key, ops.rows[8], t, 1, &look);
		break;
	case 6:
		table_bans_each(ops.table, t->now, ops_each, &sum);
		break;
	default:
		table_bans_until(ops.table);
		table_grants_until(ops.table);
	}
}

/* Logs, and what is held. */
static void ops_cells(struct feed *feed, bool patches)
{
	unsigned what = (unsigned)feed_take(feed, 1), of = (unsigned)feed_take(feed, 1);
	struct table_key key = ops_key(of >> 4);
	struct table_ticket *ticket = &ops.tickets[of % OPS_HELD];
	uint32_t row = ops.rows[(what >> 4) % OPS_ROWS], cost = 1 + (of & 3);
	struct algo_time t = {.now = OPS_NOW + (feed_take(feed, 1) << 28)};
	struct table_look look;
	struct algo_report report;
	switch (what & 15) {
	case 0:
	case 1:
	case 2:
		table_give_back(ops.table, ticket, &t);
		table_take(ops.table, &key, row, &t, cost, what & 1 ? TABLE_RESERVE : TABLE_CHARGE, ticket,
			   &look);
		break;
	case 3:
		table_settle(ops.table, ticket, &t, of >> 6);
		break;
	case 4:
		table_give_back(ops.table, ticket, &t);
		break;
	case 5:
		t.now += 2 * TABLE_RESERVE_MAX_NS;
		table_overdue(ops.table, &t);
		break;
	case 6:
		table_retire(ops.table);
		break;
	case 7:
		table_resume(ops.table);
		break;
	case 8:
		table_peek_held(ops.table, &key, row, &t, cost, &look);
		table_describe(&look, &t, cost, false, &report);
		break;
	case 9:
		table_peek(ops.table, &key, row, &t, cost, &look);
		table_describe(&look, &t, cost, false, &report);
		break;
	case 10:
		table_uncharge(ops.table, &key, row, &t, OPS_NOW, cost);
		break;
	case 11:
		table_forget(ops.table, &key);
		break;
	case 12:
		table_charge(ops.table, &key, row, &t, cost, &look);
		break;
	case 13:
		ops_given(feed, &key, row, &t);
		break;
	default:
		if (patches)
			ops_forge(feed, &key);
	}
}

/* One call. False if the table is closed for good. `patches`: the files may change under the open handle. */
static bool ops_call(struct feed *feed, bool patches)
{
	unsigned op = (unsigned)feed_take(feed, 1);
	struct table_key key = ops_key(op >> 4);
	uint32_t row = ops.rows[op >> 2 & 3], cost = 1 + (op >> 6);
	struct algo_time t = {.now = OPS_NOW + (feed_take(feed, 1) << 28)};
	struct table_look look;
	struct stats_event event = {.at = t.now, .kind = STATS_EVENT_REFUSED, .length = 200, .stat = 65535};
	switch (op & 15) {
	case 0:
		if (patches)
			ops_patch(feed);
		break;
	case 1:
	case 2:
		ops_cells(feed, patches);
		break;
	case 3:
	case 4:
		table_charge(ops.table, &key, row, &t, cost, &look);
		break;
	case 5:
		table_peek(ops.table, &key, (uint32_t)feed_take(feed, 4), &t, cost, &look);
		break;
	case 6:
		table_punish(ops.table, &key, row, &t, cost, &look);
		break;
	case 7:
		table_uncharge(ops.table, &key, row, &t, OPS_NOW, cost);
		break;
	case 8:
		table_forget(ops.table, &key);
		break;
	case 9:
		table_forget_limit(ops.table, op >> 4);
		break;
	case 10:
		ops_look_around();
		break;
	case 11:
		ops_publish(feed);
		break;
	case 12:
		table_hold_generation(ops.table, table_generation(ops.table));
		ledger_row(ops.table, (uint32_t)feed_take(feed, 4));
		ledger_rows(ops.table);
		break;
	case 13:
		table_time(ops.table, &t);
		table_replaced(ops.table, t.now);
		break;
	case 14:
		stats_add(&stats_limit(ops.table, (uint16_t)(op << 8))->allowed, 1);
		stats_event(ops.table, &event);
		break;
	default:
		if (patches) {
			ops_seal_header();
			ops_seal_rows();
		}
		table_close(&ops.table);
		return ops_open(op & 16) == WEIR_OK;
	}
	return true;
}

#endif
