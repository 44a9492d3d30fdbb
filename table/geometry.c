/* SPDX-License-Identifier: BSD-2-Clause */
/* geometry: the sections of the file. Once checked, the numbers are private and every index is inside them. */
#include "table/geometry.h"

#include <unistd.h>

#include "table/ledger_file.h"
#include "table/siphash.h"

#define IMAGES_ROOM (UINT64_C(1) << 20)

uint64_t geometry_checksum(const struct layout_fixed *fixed)
{
	const struct siphash_key key = {LAYOUT_MAGIC, LAYOUT_VERSION};
	return siphash_1_3(&key, fixed, offsetof(struct layout_fixed, check)).lo;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static uint64_t place(struct layout_fixed *fixed, enum layout_sections section, uint64_t offset,
		      uint64_t size, uint64_t unit)
{
	offset = round_up(offset, unit);
	fixed->sections[section] = (struct layout_section){offset, size};
	return offset + size;
}

/* A worker for each processor is usual, and a reload keeps the old ones until they are done. */
static uint32_t default_process_slots(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t slots = processors > 0 && processors < LAYOUT_PROCESSES_MAX / 4 ? (uint32_t)processors * 4
										 : 0;
	return slots > GEOMETRY_PROCESS_SLOTS ? slots : GEOMETRY_PROCESS_SLOTS;
}

uint32_t table_slots_for(uint32_t workers)
{
	long processors = workers ? (long)workers : sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t slots = processors < 1				 ? 0
			 : processors < LAYOUT_PROCESSES_MAX / 8 ? (uint32_t)processors * 8
								 : LAYOUT_PROCESSES_MAX;

	return slots > GEOMETRY_WORKER_SLOTS ? slots : GEOMETRY_WORKER_SLOTS;
}

enum weir_error geometry_plan(uint64_t size, uint32_t process_slots, struct layout_fixed *out,
			      const struct why *why)
{
	if (size < TABLE_SIZE_MIN || size > TABLE_SIZE_MAX)
		return why_error(why, WEIR_BAD_SIZE, "%llu bytes: a table has 64 KiB to 64 GiB",
				 (unsigned long long)size);
	if (process_slots == 0)
		process_slots = default_process_slots();
	if (process_slots > LAYOUT_PROCESSES_MAX)
		return why_error(why, WEIR_BAD_SIZE, "%u process slots: at most %u", process_slots,
				 LAYOUT_PROCESSES_MAX);
	*out = (struct layout_fixed){
		.magic = LAYOUT_MAGIC,
		.version = LAYOUT_VERSION,
		.process_slots = process_slots,
		.pairs = size / sizeof(struct slot_pair),
		.stat_count = TABLE_STAT_COUNT,
		.event_count = STATS_EVENTS,
	};
	uint64_t slots = out->pairs * sizeof(struct slot_pair), at = LAYOUT_PAGE;
	at = place(out, LAYOUT_PROCESSES, at, process_slots * sizeof(struct process_line), LAYOUT_PAGE);
	at = place(out, LAYOUT_NAMES, at, TABLE_STAT_COUNT * sizeof(struct stats_entry), LAYOUT_PAGE);
	at = place(out, LAYOUT_STATISTICS, at, process_slots * sizeof(struct stats_area), LAYOUT_PAGE);
	at = place(out, LAYOUT_SPARE, at, 0, LAYOUT_PAGE);
	at = place(out, LAYOUT_TOP, at, process_slots * sizeof(struct top_area), LAYOUT_PAGE);
	/* Whole huge pages where there are any: the slots are what is looked up at random. */
	at = place(out, LAYOUT_SLOTS, at, slots, slots >= 2 * LAYOUT_HUGE ? LAYOUT_HUGE : LAYOUT_PAGE);
	out->file_size = round_up(at, LAYOUT_PAGE);
	return WEIR_OK;
}

uint64_t table_room(const struct table_options *options)
{
	struct layout_fixed fixed = {0};
	uint64_t size = options->size ? options->size : TABLE_SIZE_DEFAULT;
	if (geometry_plan(size, options->process_slots, &fixed, &(struct why){0}) != WEIR_OK)
		return 0;
	return fixed.file_size + LAYOUT_PAGE + sizeof(struct ledger_block) + IMAGES_ROOM;
}

/* Inside the file, behind the header, aligned to a page, and at least as large as what we will index. */
static bool holds(const struct layout_fixed *fixed, enum layout_sections section, uint64_t need)
{
	struct layout_section s = fixed->sections[section];
	return s.offset >= LAYOUT_PAGE && s.offset % LAYOUT_PAGE == 0 && s.size >= need &&
	       s.offset <= fixed->file_size && s.size <= fixed->file_size - s.offset;
}

static bool adds_up(const struct layout_fixed *fixed)
{
	if (fixed->process_slots < 1 || fixed->process_slots > LAYOUT_PROCESSES_MAX ||
	    fixed->stat_count != TABLE_STAT_COUNT || fixed->event_count != STATS_EVENTS || fixed->pairs < 1 ||
	    fixed->pairs > TABLE_SIZE_MAX / sizeof(struct slot_pair))
		return false;
	if (!holds(fixed, LAYOUT_PROCESSES, fixed->process_slots * sizeof(struct process_line)) ||
	    !holds(fixed, LAYOUT_NAMES, TABLE_STAT_COUNT * sizeof(struct stats_entry)) ||
	    !holds(fixed, LAYOUT_STATISTICS, fixed->process_slots * sizeof(struct stats_area)) ||
	    !holds(fixed, LAYOUT_SLOTS, fixed->pairs * sizeof(struct slot_pair)))
		return false;
	if (fixed->sections[LAYOUT_TOP].size &&
	    !holds(fixed, LAYOUT_TOP, fixed->process_slots * sizeof(struct top_area)))
		return false;
	for (unsigned i = 0; i < LAYOUT_SECTIONS; i++)
		for (unsigned j = 0; j < i; j++) {
			struct layout_section a = fixed->sections[i], b = fixed->sections[j];
			if (a.size && b.size && a.offset < b.offset + b.size && b.offset < a.offset + a.size)
				return false;
		}
	return true;
}

enum weir_error geometry_check(const struct layout_fixed *fixed, uint64_t file_size, const struct why *why)
{
	if (fixed->magic != LAYOUT_MAGIC)
		return why_error(why, WEIR_FOREIGN, "not a weir table");
	if (fixed->version != LAYOUT_VERSION)
		return why_error(why, WEIR_VERSION, "layout version %u, this weir has %u", fixed->version,
				 LAYOUT_VERSION);
	if (fixed->check != geometry_checksum(fixed) || !adds_up(fixed))
		return why_error(why, WEIR_DAMAGED, "the header does not add up");
	if (fixed->file_size != file_size)
		return why_error(why, WEIR_DAMAGED, "%llu bytes, the header says %llu: truncated or grown",
				 (unsigned long long)file_size, (unsigned long long)fixed->file_size);
	return WEIR_OK;
}
