/* SPDX-License-Identifier: BSD-2-Clause */
/* compile: what the files that turn a model into an image share. Inside the layer only. */
#ifndef WEIR_POLICY_COMPILE_H
#define WEIR_POLICY_COMPILE_H

#include "policy/builder.h"
#include "policy/index.h"
#include "policy/model.h"

struct compiler {
	const struct model *model;
	const char *name_space;
	struct arena arena;
	struct builder builder;
	uint32_t next_clause; /* of image.clauses: first those of limits and exceptions, then the nots */
	uint32_t next_counter, next_path;
	struct index_entry *entries;
	size_t entry_count, entry_capacity;
	struct model_mark *mark;
	char *why;
	size_t why_size;
};

/* Ends the compilation with a sentence and its place (jumps with 3). */
_Noreturn void compile_refuse(struct compiler *compiler, struct model_mark mark, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* How many clauses and paths a list needs, nots included. */
void compile_count_clauses(const struct model_clause *clauses, size_t count, size_t *clause_count,
			   size_t *path_count);
/* Write a list of clauses; the records lie one behind the other. For a limit that is in force (`limit` not
 * NULL) each is also entered into the index under number `number`. */
struct image_span compile_clauses(struct compiler *compiler, const struct model_clause *clauses, size_t count,
				  bool exact, const struct model_limit *limit, uint32_t number);
struct image_span compile_texts(struct compiler *compiler, const struct text *texts, size_t count);
struct image_span compile_networks(struct compiler *compiler, const struct network *networks, size_t count);
struct image_span compile_exceptions(struct compiler *compiler, const struct model_exception *exceptions,
				     size_t count, bool exact);
/* The counters of one limit, with identities, one behind the other; behind them those of its plans (*variants, struct
 * image_variant). */
struct image_span compile_counters(struct compiler *compiler, const struct model_limit *limit,
				   uint32_t number, struct image_span *variants);
/* How many counters the limit and its plans have, and how many of them one request can meet. */
size_t compile_counter_count(const struct model_limit *limit);
uint32_t compile_hits(const struct model_limit *limit);
/* 64 bits of what makes a thing what it is: each part counts with its length. */
uint64_t compile_identity(struct arena *arena, const struct text *parts, size_t count);
/* image.clients and image.plans. */
void compile_clients(struct compiler *compiler);
/* What stands in limit `number` of the image beside its match, key and numbers: cost, distinct, share of traffic, candidate,
 * and what happens instead of a refusal and after it. */
void compile_words(struct compiler *compiler, const struct model_limit *limit, uint32_t number);
/* Every identity only once? Refuses the second. */
void compile_check_identities(struct compiler *compiler);
uint64_t compile_key_identity(struct text key_text);

#endif
