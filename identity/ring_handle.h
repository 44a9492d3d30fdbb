/* SPDX-License-Identifier: BSD-2-Clause */
/* ring_handle: what a ring is in a process. */
#ifndef WEIR_IDENTITY_RING_HANDLE_H
#define WEIR_IDENTITY_RING_HANDLE_H

#include <limits.h>
#include <sys/types.h>

#include "identity/ring_file.h"

struct ring {
	struct hmac_key pepper;
	const uint64_t *index;
	const uint8_t *units;
	uint32_t *stamps; /* NULL: not ours to write */
	const uint32_t *stamps_read;
	const struct ring_header *header;
	struct ring_shape shape;
	const uint8_t *map; /* the whole file, for reading */
	size_t map_size;    /* 0: the caller's memory */
	dev_t device;
	ino_t inode;
	uint64_t look_at; /* when the path is looked at again */
	char database[PATH_MAX];
};

#endif
