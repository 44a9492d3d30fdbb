/* SPDX-License-Identifier: BSD-2-Clause */
/* match: what match.c and trie.c share. Inside the layer only; the contract is in image.h. */
#ifndef WEIR_POLICY_MATCH_H
#define WEIR_POLICY_MATCH_H

#include "policy/image.h"

struct matches { /* a result that grows, ascending by limit */
	const struct image *image;
	const struct image_subject *subject;
	struct image_hit *hits;
	size_t count, max;
};

/* Enters the candidates of a list that hold; their paths do already. */
void match_range(struct matches *matches, struct image_range range);
/* Enters all lists on the way of `path` through a trie. */
void match_trie(struct matches *matches, struct image_span nodes, struct text path);

/* A normalised path, segment by segment: "/" has none; "/a/" has "a" and "". */
struct path_walk {
	struct text path;
	size_t at; /* of the slash before the next segment; path.size: ended */
};
static inline struct path_walk path_begin(struct text path)
{
	return (struct path_walk){path, path.size == 1 ? 1 : 0};
}
static inline bool path_ended(const struct path_walk *walk)
{
	return walk->at >= walk->path.size;
}
static inline struct text path_next(struct path_walk *walk)
{
	const char *start = walk->path.data + walk->at + 1;
	size_t left = walk->path.size - walk->at - 1;
	const char *slash = left ? memchr(start, '/', left) : NULL;
	struct text segment = {start, slash ? (size_t)(slash - start) : left};

	walk->at += 1 + segment.size;
	return segment;
}

#endif
