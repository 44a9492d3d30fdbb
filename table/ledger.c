/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger: find or add the row for some numbers. Under the lock.
 *
 * A publisher may be killed anywhere: a row is whole before `count` tells of it, and a freed place gets
 * a new epoch before new contents, so that nobody takes a remembered row for the new one (I8).
 */
#include "table/ledger.h"

#include "table/atomic.h"
#include "table/file.h"
#include "table/ledger_file.h"

static struct ledger_row *row_at(const struct ledger_writer *writer, uint32_t row)
{
	return &ledger_block(writer->map, row)->rows[row % LEDGER_BLOCK_ROWS];
}

static void name_in(const struct ledger_writer *writer, uint32_t row, uint32_t generation)
{
	uint32_t *named = &ledger_block(writer->map, row)->named[row % LEDGER_BLOCK_ROWS];
	if (*named < generation)
		*named = generation;
}

/* A place below count that was freed; 0: none. */
static uint32_t freed_place(struct ledger_writer *writer)
{
	for (; writer->free_from < writer->count; writer->free_from++)
		if (row_at(writer, writer->free_from)->generation == 0)
			return writer->free_from;
	return 0;
}

static enum weir_error grow(struct ledger_writer *writer)
{
	uint64_t blocks = writer->capacity / LEDGER_BLOCK_ROWS,
		 most = (LEDGER_ROW_MAX + 1u) / LEDGER_BLOCK_ROWS;
	if (blocks >= most)
		return WEIR_LEDGER_FULL;
	enum weir_error error = file_reserve(
		writer->fd, LAYOUT_PAGE + 2 * blocks * sizeof(struct ledger_block), &(struct why){0});
	if (error == WEIR_OK && !ledger_map(writer))
		error = WEIR_NO_MEMORY;
	return error;
}

static enum weir_error place_for_one(struct table *table, struct ledger_writer *writer, uint32_t *place)
{
	*place = freed_place(writer);
	if (*place == 0 && writer->count == writer->capacity) {
		ledger_census(table);
		*place = freed_place(writer);
	}
	if (*place == 0 && writer->count == writer->capacity) {
		enum weir_error error = grow(writer);
		if (error != WEIR_OK)
			return error;
	}
	if (*place == 0) {
		*place = writer->count;
	} else if (!writer->epoch_raised) {
		/* I8: before the new contents. Once after each census is enough. */
		uint64_t *epoch = &table->header->published.ledger_epoch;
		atomic_set(epoch, atomic_get(epoch) + 1);
		writer->epoch_raised = true;
	}
	return WEIR_OK;
}

enum weir_error ledger_row_for(struct table *table, uint64_t identity, uint32_t plan,
			       const struct algo_numbers *numbers, uint16_t flags, const char *limit_name,
			       uint32_t generation, uint32_t *row)
{
	struct ledger_writer *writer = table->ledger.writer;
	if (!writer)
		return table->read_only ? WEIR_READ_ONLY : WEIR_BUSY;
	if (!algo_valid(numbers) || !ledger_flags_valid(flags) || generation == 0)
		return WEIR_BAD_POLICY;

	uint32_t known = ledger_index_find(writer, identity, plan);
	if (known && row_at(writer, known)->flags == flags &&
	    memcmp(&row_at(writer, known)->numbers, numbers, sizeof *numbers) == 0) {
		name_in(writer, known, generation);
		*row = known;
		return WEIR_OK;
	}
	uint32_t place;
	enum weir_error error = place_for_one(table, writer, &place);
	if (error != WEIR_OK)
		return error;
	struct ledger_row fresh = {
		.identity = identity,
		.generation = generation,
		.stat = ledger_name_entry(table, limit_name),
		.flags = flags,
		.numbers = *numbers,
		.plan = plan,
	};
	fresh.check = ledger_check(&fresh, place);
	*row_at(writer, place) = fresh;
	ledger_block(writer->map, place)->named[place % LEDGER_BLOCK_ROWS] = generation;
	if (place == writer->count)
		atomic_set32(&ledger_header(writer)->count, ++writer->count);
	if (!ledger_index_put(writer, place))
		return WEIR_NO_MEMORY;
	*row = place;
	return WEIR_OK;
}

bool ledger_knows(const struct table *table, uint64_t identity, uint32_t plan)
{
	return table->ledger.writer && ledger_index_find(table->ledger.writer, identity, plan) != 0;
}
