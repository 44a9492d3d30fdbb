/* SPDX-License-Identifier: BSD-2-Clause */
/* trie: follow a path through the patterns. At each node at most one literal and the `*` lead on; a stack
 * keeps the other way, so no node is visited twice and nothing recurses. */
#include "policy/match.h"

/* Every step down takes one entry away and puts back two at most, and a path has no more segments than this. */
#define WAYS_MAX (IMAGE_PATH_MAX / 2 + 2)

struct way {
	uint32_t node, at;
};

/* The child for a literal segment, 0 if there is none. */
static uint32_t child(const struct image *image, struct image_span children, struct text segment)
{
	const struct image_edge *edges = image_at(image, children.offset);
	uint32_t low = 0, high = children.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = image_order(image_text(image, edges[middle].text), segment);

		if (order == 0)
			return edges[middle].node;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

void match_trie(struct matches *m, struct image_span span, struct text path)
{
	const struct image_node *nodes = image_at(m->image, span.offset);
	struct way ways[WAYS_MAX];
	size_t left = 0;

	if (span.count == 0)
		return;
	if (path.size > IMAGE_PATH_MAX)
		path.size = IMAGE_PATH_MAX;
	ways[left++] = (struct way){0, (uint32_t)path_begin(path).at};
	while (left > 0) {
		struct way way = ways[--left];
		struct path_walk walk = {path, way.at};
		const struct image_node *node = &nodes[way.node];
		struct text segment;
		uint32_t literal;

		match_range(m, node->below);
		if (path_ended(&walk)) {
			match_range(m, node->here);
			continue;
		}
		segment = path_next(&walk);
		literal = child(m->image, node->children, segment);
		if (literal)
			ways[left++] = (struct way){literal, (uint32_t)walk.at};
		if (node->one && segment.size > 0)
			ways[left++] = (struct way){node->one, (uint32_t)walk.at};
	}
}
