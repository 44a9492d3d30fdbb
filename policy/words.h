/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * words: the one table of what a policy may say. The checker, its messages, the JSON Schema (`weir schema`)
 * and docs/policy.md come from it, so none of them can know a word that another does not.
 */
#ifndef WEIR_POLICY_WORDS_H
#define WEIR_POLICY_WORDS_H

#include "policy/yaml.h"

/* name, where it stands (for messages and headings) */
#define WORD_SECTIONS(X)                                                                                     \
	X(FILE, "the file")                                                                                  \
	X(GATEWAY, "gateway")                                                                                \
	X(ROUTE, "gateway.routes")                                                                           \
	X(CLIENTS, "clients")                                                                                \
	X(ADDRESS, "clients.address")                                                                        \
	X(NETWORK, "clients.networks")                                                                       \
	X(API_KEYS, "clients.api_keys")                                                                      \
	X(JWT, "clients.jwt")                                                                                \
	X(PLAN, "clients.plan")                                                                              \
	X(NUMBERS, "plans")                                                                                  \
	X(EXCEPTION, "exempt and deny")                                                                      \
	X(LIMIT, "limits")                                                                                   \
	X(MATCH, "match")                                                                                    \
	X(COST, "limits.cost")                                                                               \
	X(THEN, "limits.then")                                                                               \
	X(OVER, "limits.over")                                                                               \
	X(CANDIDATE, "limits.candidate")                                                                     \
	X(RESPOND, "respond")                                                                                \
	X(BODY, "respond.body")
enum word_section {
#define X(name, where) SECTION_##name,
	WORD_SECTIONS(X)
#undef X
		SECTION_COUNT
};

/* name, how a reader calls it, its JSON Schema ("": made from the values, or a section's reference) */
#define WORD_TYPES(X)                                                                                        \
	X(SECTION, "section", "")                                                                            \
	X(SECTIONS, "named sections", "")                                                                    \
	X(LIST, "list of sections", "")                                                                      \
	X(CHOICE, "one of its values", "")                                                                   \
	X(CHOICES, "one or a list of its values", "")                                                        \
	X(BODY, "one of its values, or a file", "")                                                          \
	X(LIMITS, "limits by name", "")                                                                      \
	X(PLANS, "plans by name", "")                                                                        \
	X(WHERE, "where it is said", "")                                                                     \
	X(WHERES, "where it is said, or a list", "")                                                         \
	X(NETWORKS, "lists by name", "")                                                                     \
	X(CLAUSES, "pattern, conditions, or a list of them", "")                                             \
	X(RATE, "rate, or a list of rates",                                                                  \
	  "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", "                                      \
	  "\"items\": {\"type\": \"string\"}, \"minItems\": 1}]}")                                           \
	X(NUMBER, "number", "{\"type\": [\"integer\", \"string\"]}")                                         \
	X(FLAG, "yes or no", "{\"type\": [\"boolean\", \"string\"]}")                                        \
	X(DURATION, "duration", "{\"type\": \"string\", \"pattern\": \"^[0-9$]\"}")                          \
	X(STATUSES, "status, range of them, or a list",                                                      \
	  "{\"anyOf\": [{\"type\": [\"integer\", \"string\"]}, {\"type\": \"array\", \"items\": "            \
	  "{\"type\": [\"integer\", \"string\"]}, \"minItems\": 1}]}")                                       \
	X(BYTES, "bytes per second", "{\"type\": \"string\", \"pattern\": \"^[0-9$]\"}")                     \
	X(SIZE, "size", "{\"type\": \"string\", \"pattern\": \"^[0-9$]\"}")                                  \
	X(BRIEF, "one value, or a section", "")                                                              \
	X(PERCENT, "per cent", "{\"type\": \"string\", \"pattern\": \"[%$]\"}")                              \
	X(PERCENTS, "per cent, or a list of them",                                                           \
	  "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": "                           \
	  "{\"type\": \"string\"}, \"minItems\": 1}]}")                                                      \
	X(AMOUNT, "number, or where it is said", "{\"type\": [\"integer\", \"string\"]}")                    \
	X(PLACE, "path, or no", "{\"type\": [\"string\", \"boolean\"]}")                                     \
	X(TEXT, "text", "{\"type\": \"string\"}")                                                            \
	X(DATE, "date", "{\"type\": \"string\", \"pattern\": \"^[0-9$]\"}")                                  \
	X(TEXTS, "text, or a list",                                                                          \
	  "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": "                           \
	  "{\"type\": \"string\"}}]}")                                                                       \
	X(ADDRESSES, "addresses, networks, names of networks",                                               \
	  "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": \"string\"}}]}") \
	X(KEY, "key",                                                                                        \
	  "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": "                           \
	  "{\"type\": \"string\"}, \"minItems\": 1}]}")                                                      \
	X(LISTEN, "port, or address:port, or a list",                                                        \
	  "{\"anyOf\": [{\"type\": [\"string\", \"integer\"]}, {\"type\": \"array\", \"items\": "            \
	  "{\"type\": [\"string\", \"integer\"]}, \"minItems\": 1}]}")                                       \
	X(BACKEND, "http://host:port", "{\"type\": [\"string\", \"integer\"]}")
enum word_type {
#define X(name, say, json) TYPE_##name,
	WORD_TYPES(X)
#undef X
		TYPE_COUNT
};

struct word {
	enum word_section section;
	const char *name; /* "header.NAME": any word that begins with "header." */
	enum word_type type;
	enum word_section child; /* of a section, sections or a list */
	const char *fallback;	 /* what holds when it is not said, in words; "" nothing */
	const char *help;	 /* sentences */
	const char *example;	 /* a whole policy; NULL: not built yet */
};

struct word_value {
	const char *of; /* the word it is a value of */
	const char *name;
	int number; /* what the model calls it */
	bool built;
	const char *help;
};

/* The tables, each ended by an entry without a name. */
extern const struct word words_file[], words_clients[], words_people[], words_limit[], words_answer[];
extern const struct word words_cost[], words_candidate[], words_then[];
extern const struct word_value word_values[];

/* Calls `visit` for every word of a section, in the order of the reference. */
void words_each(enum word_section section, void (*visit)(const struct word *word, void *context),
		void *context);
const struct word *words_find(enum word_section section, struct text name);
const char *words_where(enum word_section section);
/* What word_values calls the word whose values they are: its name, or "plan.from" where several sections have it. */
const char *words_values_of(const struct word *word);

/* Is `map` a mapping made of words of this section that are built? What is not is reported; `where` says in
 * whose section ("limit 'login'"). False only if it is no mapping: nothing can be read from it then. */
bool words_check(struct load *load, const struct node *map, enum word_section section, const char *where);

/* The number of the value `node` of the word `of`. False: it is none, with a finding (unless there was one). */
bool words_value(struct load *load, const struct node *node, const char *of, int *number);
/* The same for a text that stands at `mark`. */
bool words_value_text(struct load *load, struct text text, struct model_mark mark, const char *of,
		      int *number);

#endif
