/* SPDX-License-Identifier: BSD-2-Clause */
/* pattern: a path pattern of a match, cut into the segments that a normalised path is compared with. */
#ifndef WEIR_POLICY_PATTERN_H
#define WEIR_POLICY_PATTERN_H

#include "policy/arena.h"
#include "policy/image.h"

struct pattern_segment {
	uint32_t kind;	  /* enum image_segment_kind */
	struct text text; /* literal: decoded once; lower case unless exact */
};
struct pattern {
	struct pattern_segment *segments;
	size_t count;
	bool rest;  /* ends in * or **: everything below, and the bare prefix */
	bool exact; /* a trailing slash is a last, empty literal */
};

/* Reads `/a/{id}/b`, `/files/`, `/api/` followed by `*`. False with a sentence in `why` for what could never
 * match a normalised path or is not what it seems: query, fragment, ;params, dot segments, a star that is
 * only part of a segment, `**` in the middle, more than a path is compared with. Memory from the arena. */
bool pattern_read(struct arena *arena, struct text text, bool exact, struct pattern *out, char *why,
		  size_t size);

#endif
