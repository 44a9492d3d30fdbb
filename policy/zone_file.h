/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_file: the parts of a TZif file (RFC 8536, version 2 and later), found and checked once. */
#ifndef WEIR_POLICY_ZONE_FILE_H
#define WEIR_POLICY_ZONE_FILE_H

#include <stdint.h>

#include "policy/text.h"

#define ZONE_FILE_MAX 65536 /* bytes; the largest of the tz database has 4 KB */

struct zone_file {
	size_t count;		    /* of changes */
	const unsigned char *times; /* when each is, strictly increasing: 8 bytes */
	const unsigned char *kinds; /* which of the types follows: 1 byte */
	const unsigned char *types; /* 6 bytes, of which the first 4 are the offset */
	struct text footer; /* the POSIX TZ string for all that comes after the last change; may be empty */
};

/* Points into `bytes`, which must live as long. NULL, or what is wrong as the rest of a sentence whose subject is the
 * file; *out is then undefined. Everything is in range afterwards: types exist, offsets are within
 * ZONE_OFFSET_MAX. Files that count leap seconds ("right") are refused: weir's time does not. */
const char *zone_file_parse(const unsigned char *bytes, size_t size, struct zone_file *out);

/* When change `i` < count is (seconds since 1970, any), and the offset from it on, in seconds east of UTC. */
int64_t zone_file_time(const struct zone_file *file, size_t i);
int32_t zone_file_offset(const struct zone_file *file, size_t i);

/* The offset before the first change. */
int32_t zone_file_first_offset(const struct zone_file *file);

#endif
