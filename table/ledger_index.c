/* SPDX-License-Identifier: BSD-2-Clause */
/* ledger_index: the newest row of each identity and plan, found at once: a policy of 10,000 limits asks 10,000 times.
 * Private memory, built when the lock is taken. */
#include <stdlib.h>

#include "table/ledger_file.h"

static const struct ledger_row *row_at(const struct ledger_writer *writer, uint32_t row)
{
	return &ledger_block(writer->map, row)->rows[row % LEDGER_BLOCK_ROWS];
}

/* The place of identity and plan, or the empty one where they belong. Identities are hashes already; plans differ by one where
 * only the billing day does, and are spread, so that their rows do not all begin to look at one place. */
static uint32_t *find(const struct ledger_writer *writer, uint64_t identity, uint32_t plan)
{
	uint32_t mask = writer->places - 1,
		 i = ((uint32_t)(identity ^ identity >> 32) + plan * UINT32_C(0x9e3779b1)) & mask;
	for (;; i = (i + 1) & mask) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what grow() frees is replaced in the same breath */
		uint32_t row = writer->newest[i];
		if (!row || (row_at(writer, row)->identity == identity && row_at(writer, row)->plan == plan))
			return &writer->newest[i];
	}
}

static bool grow(struct ledger_writer *writer)
{
	struct ledger_writer larger = *writer;
	larger.places = writer->places ? writer->places * 2 : 1024;
	larger.newest = calloc(larger.places, sizeof *larger.newest);
	if (!larger.newest)
		return false;
	for (uint32_t i = 0; i < writer->places; i++)
		if (writer->newest[i]) {
			const struct ledger_row *at = row_at(writer, writer->newest[i]);
			*find(&larger, at->identity, at->plan) = writer->newest[i];
		}
	free(writer->newest);
	*writer = larger;
	return true;
}

uint32_t ledger_index_find(const struct ledger_writer *writer, uint64_t identity, uint32_t plan)
{
	return writer->places ? *find(writer, identity, plan) : 0;
}

bool ledger_index_put(struct ledger_writer *writer, uint32_t row)
{
	if (writer->used * 2 >= writer->places && !grow(writer))
		return false;
	uint32_t *place = find(writer, row_at(writer, row)->identity, row_at(writer, row)->plan);
	if (!*place)
		writer->used++;
	*place = row;
	return true;
}

bool ledger_index_build(struct ledger_writer *writer)
{
	free(writer->newest);
	writer->newest = NULL;
	writer->places = writer->used = 0;
	writer->free_from = 1;
	for (uint32_t row = 1; row < writer->count; row++) {
		const struct ledger_row *at = row_at(writer, row);
		if (at->generation == 0 || at->check != ledger_check(at, row))
			continue;
		uint32_t known = ledger_index_find(writer, at->identity, at->plan);
		/* Within one generation the higher row is the later one, unless it took a freed place: then
		 * either will do. */
		if ((!known || row_at(writer, known)->generation <= at->generation) &&
		    !ledger_index_put(writer, row))
			return false;
	}
	return true;
}
