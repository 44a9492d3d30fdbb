/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * yaml: a source as a tree of nodes, each with its place.
 *
 * The subset a policy needs: one document of mappings with plain keys, lists and scalars. Aliases, anchors,
 * tags, several documents and a word that stands twice are refused with a message; ${ENV} is filled in. Every
 * scalar is text: what `yes`, `8080` or `2027-01-01` mean is for the word they belong to.
 */
#ifndef WEIR_POLICY_YAML_H
#define WEIR_POLICY_YAML_H

#include "policy/model.h"

#define YAML_DEPTH_MAX 16 /* nesting; a policy needs seven */

struct load;
struct source;
struct pair;

enum node_kind {
	NODE_EMPTY /* nothing, ~ or null */,
	NODE_SCALAR,
	NODE_LIST,
	NODE_MAP,
	NODE_BROKEN /* a scalar that already had its finding */
};
struct node {
	enum node_kind kind;
	bool quoted;		/* in quotes, or a block of text */
	bool verbatim;		/* the text stands letter for letter in one line */
	struct model_mark mark; /* of the text; of the bracket or the first word */
	struct text text;	/* NODE_SCALAR */
	size_t from,
		to; /* bytes of the source, quotes and brackets included; a block ends with its last value */
	bool flow;  /* NODE_LIST, NODE_MAP: in brackets */
	union {
		struct node *items; /* NODE_LIST */
		struct pair *pairs; /* NODE_MAP */
	};
	size_t count;
};
struct pair {
	struct node key; /* a scalar */
	struct node value;
};

/* Reads the source into *root (NODE_EMPTY if it holds nothing). False if it is not such a tree: there was a
 * finding. */
bool yaml_read(struct load *load, const struct source *source, struct node *root);
/* Frees what a read that was cut short by memory running out left behind. */
void yaml_abandon(struct load *load);

/* Reports and removes the later ones of equal keys. */
void yaml_refuse_twins(struct load *load, struct node *map);

/* Where a part of a scalar stands: a piece of node->text; the whole if that cannot be told. */
struct model_mark yaml_mark_part(const struct node *node, struct text part);

/* The value of a word, or NULL. A linear search: for sections of a policy, not for lists of limits. */
const struct node *yaml_get(const struct node *map, const char *word);

/* What stands between single quotes, as it is meant: '' is a quote, a line break is a blank, empty lines
 * stay. */
struct text yaml_single_quoted(struct arena *arena, struct text inside);

/* What libfyaml says about broken text, in words that name the cure; a finding. line and column from 1. */
void yaml_trap(struct load *load, const struct source *source, unsigned line, unsigned column,
	       const char *said);

#endif
