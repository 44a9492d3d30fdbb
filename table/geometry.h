/* SPDX-License-Identifier: BSD-2-Clause */
/* geometry: where each section is; made when a table is created, checked before one is believed. */
#ifndef WEIR_TABLE_GEOMETRY_H
#define WEIR_TABLE_GEOMETRY_H

#include "table/layout.h"
#include "table/why.h"

#define GEOMETRY_PROCESS_SLOTS 64u  /* least by default */
#define GEOMETRY_WORKER_SLOTS  256u /* least for a door whose workers are replaced */

/* A new table: `size` bytes of slots (TABLE_SIZE_MIN..MAX), everything else on top. Fills all of *out but
 * secrets, table_id and check. */
enum weir_error geometry_plan(uint64_t size, uint32_t process_slots, struct layout_fixed *out,
			      const struct why *why);
/* The header of a file of `file_size` bytes: ours, of our version, whole, and adding up? */
enum weir_error geometry_check(const struct layout_fixed *fixed, uint64_t file_size, const struct why *why);
uint64_t geometry_checksum(const struct layout_fixed *fixed);

#endif
