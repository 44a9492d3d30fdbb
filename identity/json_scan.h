/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json_scan: the values at some paths of a JSON document, as it goes by once.
 *
 * Strict (RFC 8259), so that nobody's more lenient reading finds another value behind our back: comments, single quotes, or a second
 * document are an error. Fed in pieces of any size; what it finds does not depend on them. Iterative, of fixed size, nothing allocated:
 * one bit for each level, names on the path are kept and compared when they end.
 */
#ifndef WEIR_IDENTITY_JSON_SCAN_H
#define WEIR_IDENTITY_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "identity/json_path.h"

#define JSON_DEPTH_MAX 512u /* deeper is an error; PHP's default, too */
#define JSON_NAME_MAX  128u /* bytes of a name on the path; a longer one is not on it */
#define JSON_PATHS_MAX 8u

enum json_kind {
	JSON_SCAN_STRING,
	JSON_SCAN_NUMBER,
	JSON_SCAN_LITERAL,
	JSON_SCAN_NULL,
	JSON_SCAN_ARRAY,
	JSON_SCAN_OBJECT
};

/* What stands at the paths, in the document's order. */
struct json_sink {
	/* A part of the scalar: a string decoded (a surrogate on its own is U+FFFD), a number or literal as it is written. */
	void (*piece)(void *to, const char *data, size_t size);
	/* The value is complete (an object: begins). `elements`: of an array. `at`: one bit for each path that it stands at. */
	void (*end)(void *to, unsigned at, enum json_kind kind, uint32_t elements);
	void *to;
};

struct json_scan {
	struct json_path one;	 /* the only path; or */
	struct json_path *paths; /* several, the caller's; NULL: `one` */
	unsigned count;
	uint64_t arrays[JSON_DEPTH_MAX /
			64]; /* one bit for each open container, the outermost the lowest: it is an array */
	uint32_t code, high; /* of an escape: what has been read, and a first surrogate (0: none) */
	uint16_t depth;	     /* open containers */
	uint16_t top;	     /* deeper than this nothing is on a path or counted */
	uint8_t state, step; /* step: in a literal or an escape */
	uint8_t literal;
	uint8_t on, last;  /* bits of the value to come: on the way to a path's end, or there */
	uint8_t reports;   /* ... of the scalar that goes to the sink */
	bool is_name;	   /* the string is a name */
	bool compares;	   /* ... that could be a path's */
	uint8_t name_size; /* JSON_NAME_MAX + 1: too long */
	char name[JSON_NAME_MAX];
};

/* `path` must outlive the scan. */
void json_scan_begin(struct json_scan *scan, struct text path);
/* The same for 1 to JSON_PATHS_MAX paths: `path` of each is set, the rest is the scan's, which it must outlive. */
void json_scan_begin_all(struct json_scan *scan, struct json_path *paths, unsigned count);
void json_scan_feed(struct json_scan *scan, const void *data, size_t size, const struct json_sink *sink);
/* The document ends here. True: it is one, and all of it. */
bool json_scan_end(struct json_scan *scan, const struct json_sink *sink);
/* It is no JSON: nothing is found any more. */
bool json_scan_failed(const struct json_scan *scan);
/* In the middle of the array at that path: how many elements have begun. */
bool json_scan_counting(const struct json_scan *scan, unsigned path, uint32_t *elements);

#endif
