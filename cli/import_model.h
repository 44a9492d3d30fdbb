/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_model: what is understood of an nginx configuration, on its way to a policy. Everything lives in the arena of one import.
 *
 *   import_run     one import from beginning to end, in this order:
 *   import_conf    the tree of directives; import_token its words, import_include the files that it names
 *   import_walk    http and its servers; import_level what a level says, import_line its limits, import_location the paths of a
 *                  location (import_regex, import_pattern); import_page error_page; import_clients realip
 *   import_zone    zones; import_rate their rates; import_key whom they count (import_map, import_geo, import_switch);
 *                  import_secrets maps of API keys: whom, by key and plan (import_secrets_view, import_secrets_plan)
 *   import_group   equal lines become one limit; import_hosts, import_paths where it holds; import_names what it is called
 *   import_emit    the policy; import_match its matches, import_emit_clients its networks, import_yaml its texts
 *
 * What cannot be said in a policy is noted where it is found (import_note); a line whose limit is lost is marked so. Each line that is
 * read is in the end carried or dropped. import_texts: lists and words. import (the command) and import_write are no part of this.
 */
#ifndef WEIR_CLI_IMPORT_MODEL_H
#define WEIR_CLI_IMPORT_MODEL_H

#include "cli/import.h"
#include "cli/import_conf.h"
#include "policy/address.h"
#include "policy/pattern.h"

enum import_kind { IMPORT_REQ, IMPORT_CONN, IMPORT_PACE };

struct import_texts {
	struct text *items;
	size_t count, capacity;
};

/* What a request must be, or (negated) must not be: any of the values, as a policy writes them. */
enum import_dimension { IMPORT_IP, IMPORT_HEADER, IMPORT_METHOD, IMPORT_HOST, IMPORT_PATH };
struct import_condition {
	enum import_dimension dimension;
	struct text header; /* its name, lower case */
	bool negated;
	struct import_texts values;
	struct text name; /* IP: what to call the network */
};

struct import_key {		      /* whom a zone counts */
	struct text variable;	      /* that it is, if it is a map or geo */
	const char *why;	      /* why it cannot be said; NULL: it can */
	struct import_texts parts;    /* as a policy writes them; none: the site */
	bool skip;		      /* who has no such key is not counted */
	bool address;		      /* the address takes the place of a missing part */
	bool known;		      /* import_secrets has said it */
	struct import_texts audience; /* whom it is for, as a policy writes it; none: everybody */
	struct import_condition *conditions;
	size_t condition_count;
};

struct import_zone {
	enum import_kind kind; /* REQ or CONN */
	struct conf_place place;
	const struct conf_directive *directive;
	struct text name, key_text;
	const char *text; /* as written */
	const char *rate; /* as a policy writes it; NULL with `why` */
	const char *why;
	bool twice; /* its name was taken */
	bool nginx; /* counted as nginx does; else a leaky-bucket */
	struct import_key key;
	struct import_zone *next;
};

struct import_line { /* a limit_req, limit_conn or limit_rate */
	enum import_kind kind;
	struct conf_place place;
	const char *text; /* as written, blanks made single */
	struct import_zone *zone;
	uint32_t burst, at_once; /* REQ */
	uint32_t number;	 /* CONN */
	uint64_t bytes;		 /* PACE, a second */
	unsigned status;	 /* of its own; 0: the level's */
	bool dropped, carried;
	struct import_line *next;
};

struct import_page { /* error_page */
	unsigned code;
	struct text uri;
	bool special; /* it changes the code, or leads elsewhere */
	struct conf_place place;
	struct import_page *next;
};

struct import_settings { /* what holds at a level, inherited or its own */
	struct import_line **req, **conn, *pace;
	size_t req_count, conn_count;
	uint64_t after; /* bytes */
	unsigned req_status, conn_status, weir_status;
	bool req_dry, conn_dry, alias;
	struct import_page *pages;
	struct text root;
};

enum import_place_kind {
	IMPORT_PREFIX,
	IMPORT_HARD_PREFIX,
	IMPORT_EXACT,
	IMPORT_REGEX,
	IMPORT_NAMED,
	IMPORT_ALL
};
struct import_place { /* a location, or (ALL) a server outside of its locations */
	enum import_place_kind kind;
	struct conf_place place;
	struct text uri;
	bool folded;  /* ~* */
	bool own;     /* limits stand in it */
	bool answers; /* by `return`: nginx does not limit it */
	bool internal;
	const char *why;	      /* why no pattern says it, half a sentence; NULL: patterns do */
	struct import_texts patterns; /* "": everything */
	bool textual;		      /* nginx's meets more: /x is /xyz too */
	bool wider;		      /* ours meets more */
	bool told;		      /* of these, once */
	struct import_settings settings;
	struct import_line **lines; /* that stand in it */
	size_t line_count;
	uint32_t *limits; /* numbers of those that hold here */
	size_t limit_count, limit_capacity;
};

struct import_node {
	struct import_place *place;
	struct text pattern;
	struct pattern cut;
};

enum import_way_kind { IMPORT_REWRITTEN, IMPORT_ANSWERED, IMPORT_TRIED, IMPORT_INDEXED, IMPORT_PAGED };
struct import_way {
	enum import_way_kind kind;
	const struct conf_directive *directive;
	struct text to; /* its last word, without a query */
	size_t from;	/* number of the place that it stands in */
};

struct import_server {
	struct conf_place place;
	struct import_texts names, listens, hosts;
	bool default_server, answers, own, catch_all;
	bool ignored;		     /* nothing of it can be told, or needs to be */
	bool silent;		     /* it answers by itself, and has no limits of its own */
	bool regex_names;	     /* names that a policy has no word for */
	struct import_place *places; /* [0]: itself */
	size_t place_count, place_capacity;
	struct import_node *nodes; /* the patterns of its places */
	size_t node_count;
	struct import_way *ways;
	size_t way_count, way_capacity;
	struct import_server *next;
};

struct import_clause {
	struct import_texts hosts, not_hosts, paths, not_paths;
};

struct import_limit {
	struct text name;
	const struct import_line *line; /* the first */
	struct import_line **lines;
	size_t line_count, line_capacity;
	const struct import_place *where;   /* the first that it holds in, */
	const struct import_server *server; /* and whose that is */
	bool dry;
	unsigned status;
	uint64_t after;
	const struct import_page *page;
	struct import_clause *clauses;
	size_t clause_count, clause_capacity;
	bool everything, emitted;
	const char *page_file; /* NULL: none */
};

struct import_variable { /* a map or geo */
	const struct conf_directive *block;
	struct text name;
	bool geo;
	struct import_variable *next;
};

struct import_model {
	struct arena *arena;
	struct conf *conf;
	struct import *out;
	size_t note_capacity;
	struct import_zone *zones;
	struct import_line *lines, **lines_tail;
	const struct conf_directive *http;
	struct import_server *servers, **servers_tail;
	size_t server_count;
	struct import_variable *variables;
	struct import_limit *limits;
	size_t limit_count, limit_capacity;
	struct import_secrets *secrets;	   /* NULL: no zone counts by API keys that are written here */
	struct import_condition *networks; /* those that were given a name */
	size_t network_count, network_capacity;
	/* realip */
	struct import_texts trusted;
	struct text real_header;
	struct conf_place real_place;
	bool recursive, real_set;
};

/* import_note.c */
void import_note(struct import_model *model, enum import_weight weight, struct conf_place place,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "nginx.conf:12" */
const char *import_where(struct import_model *model, struct conf_place place);
/* Marks the line, counts it among import.dropped and says so; a second time does nothing. */
void import_drop(struct import_model *model, struct import_line *line, const char *why);
/* The same of a limit that is never read into a line: it is counted as one. */
void import_drop_alone(struct import_model *model, const struct conf_directive *directive, const char *why);
/* All lines that stand in a place. */
void import_drop_own(struct import_model *model, const struct import_place *place, const char *why);
/* "limit_req zone=a burst=5" */
const char *import_written(struct import_model *model, const struct conf_directive *directive);

/* import_texts.c */
void import_push(struct import_model *model, struct import_texts *texts, struct text text);
bool import_has(const struct import_texts *texts, struct text text);
/* The same texts in the same order. */
bool import_same(const struct import_texts *a, const struct import_texts *b);
/* Digits only, 0 to `most`. */
bool import_number(struct text text, uint64_t most, uint64_t *out);
bool import_size(struct text text, uint64_t *out); /* 10k, 1m, 1g */
bool import_begins(struct text text, const char *with, struct text *rest);

/* import_stray.c: every limit in `block`, and itself, is lost; `why` NULL: because it stands in that block. */
void import_stray(struct import_model *model, const struct conf_directive *block, const char *why);

/* import_walk.c, import_level.c, import_location.c */
void import_walk(struct import_model *model, const struct conf_directive *top);
void import_level(struct import_model *model, const struct conf_directive *block,
		  struct import_settings *settings, bool *own);
/* place->lines, of what its level said. */
void import_own(struct import_model *model, struct import_place *place,
		const struct import_settings *inherited);
void import_locations(struct import_model *model, const struct conf_directive *block,
		      struct import_server *server, const struct import_settings *inherited);

/* import_line.c: never NULL; `dropped` if it cannot be carried over, which is then noted. It is one of model->lines, but for
 * `limit_rate 0`, which is no limit. */
struct import_line *import_line(struct import_model *model, const struct conf_directive *directive);

/* import_zone.c */
void import_zone(struct import_model *model, const struct conf_directive *directive);
struct import_zone *import_zone_named(struct import_model *model, enum import_kind kind, struct text name);

/* import_rate.c: a zone's rate as a policy writes it; NULL with zone->why. */
const char *import_rate(struct import_model *model, struct import_zone *zone, struct text text);

/* import_key.c */
void import_key(struct import_model *model, struct import_zone *zone);

/* import_secrets.c: the keys of zones that maps of API keys decide, as far as a policy can say them; before import_key. */
void import_secrets(struct import_model *model);

/* import_regex.c */
struct import_regex {
	struct import_texts texts; /* what it can be; IMPORT_ANY stands for a segment */
	bool begins, ends;	   /* it says how the value begins, and ends */
	bool below;		   /* a '/' or the end follows */
	bool wider;		   /* a segment is more than it says */
};
#define IMPORT_ANY '\1'
/* False: it cannot be said. */
bool import_regex(struct import_model *model, struct text regex, struct import_regex *out);
/* Patterns of paths from it; false: no pattern says it. *textual, *wider as in import_place. */
bool import_regex_paths(struct import_model *model, const struct import_regex *regex,
			struct import_texts *out, bool *textual);

/* import_pattern.c: a path as nginx compares it, as a pattern; size 0: it cannot be one. tail: what comes behind it. */
struct text import_pattern(struct import_model *model, struct text path, const char *tail);
struct pattern import_pattern_cut(struct import_model *model, struct text pattern);
bool import_contains(const struct pattern *wide, const struct pattern *narrow);
bool import_overlaps(const struct pattern *a, const struct pattern *b);

/* import_ways.c, import_lost.c */
void import_ways(struct import_model *model, const struct conf_directive *block, struct import_server *server,
		 size_t from);
/* Are all requests for it answered by `return` or a redirect? */
bool import_answers(const struct conf_directive *block);
bool import_leads(const struct import_way *way, const struct import_place *place);
void import_tell_ways(struct import_model *model);
void import_lose_untold(struct import_model *model); /* before import_group */

/* import_group.c, import_names.c */
void import_group(struct import_model *model);
void import_names(struct import_model *model); /* once it is known where limits hold */

/* import_hosts.c, import_paths.c */
void import_hosts(struct import_model *model);
void import_where_it_holds(struct import_model *model, uint32_t limit);
bool import_holds(const struct import_place *place, uint32_t limit);
/* Clauses of paths only, of one server. */
void import_paths(struct import_model *model, struct import_server *server, uint32_t limit,
		  struct import_clause **out, size_t *count);

/* import_clients.c, import_page.c, import_emit.c, import_yaml.c */
void import_realip(struct import_model *model, const struct conf_directive *http);
void import_page(struct import_model *model, const struct conf_directive *directive,
		 struct import_settings *settings, bool *replaced);
void import_pages(struct import_model *model);
char *import_emit(struct import_model *model); /* malloc()ed */

#endif
