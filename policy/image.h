/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image: a checked policy, compiled flat.
 *
 * One read-only block without pointers: everything is an offset from its start, so that it can be
 * written to a file, renamed into place and read by every door into memory of its own (current.c).
 * image_check makes sure, once, that every offset and count stays inside; after that readers trust it.
 */
#ifndef WEIR_POLICY_IMAGE_H
#define WEIR_POLICY_IMAGE_H

#include <stdint.h>

#include "algo/algo.h"
#include "policy/address.h"
#include "policy/text.h"

#define IMAGE_MAGIC	  UINT64_C(0x31474d4952494557) /* "WEIRIMG1" */
#define IMAGE_LAYOUT	  4u
#define IMAGE_HITS_MAX	  1024u /* most counters one request may meet: checked when compiling */
#define IMAGE_PATH_MAX	  2048u /* longest normalised path that is matched, in bytes */
#define IMAGE_SEGMENT_MAX 255u	/* bytes of one segment that are kept: longer ones are all alike after that */

struct image_text {
	uint32_t offset, size;
};
struct image_span { /* `count` records of the kind the field says, from `offset` */
	uint32_t offset, count;
};
struct image_range { /* `count` records of an array of the image, from index `first` */
	uint32_t first, count;
};

/* Methods are bits; GET's bit is set wherever HEAD's is and the other way round (HEAD counts as GET).
 * IMAGE_METHOD_OTHER is any method not named here and is only in masks that name no method. */
#define IMAGE_METHODS(X)                                                                                     \
	X(GET)                                                                                               \
	X(HEAD)                                                                                              \
	X(POST)                                                                                              \
	X(PUT)                                                                                               \
	X(PATCH)                                                                                             \
	X(DELETE)                                                                                            \
	X(OPTIONS)                                                                                           \
	X(TRACE)                                                                                             \
	X(CONNECT)                                                                                           \
	X(PROPFIND)                                                                                          \
	X(PROPPATCH)                                                                                         \
	X(MKCOL)                                                                                             \
	X(COPY)                                                                                              \
	X(MOVE)                                                                                              \
	X(LOCK)                                                                                              \
	X(UNLOCK)                                                                                            \
	X(SEARCH)                                                                                            \
	X(REPORT)                                                                                            \
	X(PURGE)                                                                                             \
	X(QUERY)
enum image_method_index {
#define X(name) IMAGE_METHOD_INDEX_##name,
	IMAGE_METHODS(X)
#undef X
		IMAGE_METHOD_INDEX_COUNT
};
#define IMAGE_METHOD_BIT(name) (UINT32_C(1) << IMAGE_METHOD_INDEX_##name)
#define IMAGE_METHOD_OTHER     (UINT32_C(1) << 31)
#define IMAGE_METHOD_ANY       UINT32_MAX
/* The bit of a method as sent (case-sensitive: RFC 9110 9.1). */
uint32_t image_method(struct text method);

enum image_mode { IMAGE_ENFORCE, IMAGE_SHADOW, IMAGE_DISABLED };
enum image_count { IMAGE_COUNT_ALL, IMAGE_COUNT_FAILURES, IMAGE_COUNT_SUCCESSES };
struct image_statuses { /* from..to, both included, 100..599 */
	uint16_t from, to;
};
enum image_missing {
	IMAGE_MISSING_NONE,
	IMAGE_MISSING_IP,
	IMAGE_MISSING_SKIP,
	IMAGE_MISSING_DENY,
	IMAGE_MISSING_ANONYMOUS
};
enum image_source { /* where the client's address comes from */
		    IMAGE_FROM_PEER,
		    IMAGE_FROM_X_FORWARDED_FOR,
		    IMAGE_FROM_FORWARDED,
		    IMAGE_FROM_PROXY_PROTOCOL,
		    IMAGE_FROM_HEADER
};

/* value conditions on headers: exact bytes, a leading or trailing * as a glob, or present (non-empty) */
enum image_value { IMAGE_PRESENT, IMAGE_EXACT, IMAGE_PREFIX, IMAGE_SUFFIX };
struct image_header_test {
	struct image_text name; /* lower case */
	struct image_text value;
	uint32_t how; /* enum image_value */
};

/* A path pattern: segments of the normalised path. `*` or `{name}`: one segment; `rest` at the end:
 * everything below and the bare prefix. */
enum image_segment_kind { IMAGE_LITERAL, IMAGE_ONE };
struct image_segment {
	uint32_t kind;
	struct image_text text; /* literal: decoded, folded unless the limit is exact */
};
struct image_path {
	struct image_span segments; /* struct image_segment */
	uint32_t rest;		    /* 1: ends in * or ** */
	uint32_t exact;		    /* 1: compare with the exact path (case, trailing slash kept) */
	struct image_text text;	    /* as written */
};

/* All conditions of a clause must hold; a match is an OR of clauses. */
#define IMAGE_HAS_PATH	 1u
#define IMAGE_HAS_HOST	 2u
#define IMAGE_HAS_IP	 4u
#define IMAGE_HAS_METHOD 8u
struct image_clause {
	uint32_t has;
	uint32_t methods;	/* mask, IMAGE_METHOD_ANY if not IMAGE_HAS_METHOD */
	uint32_t path;		/* index into image.paths */
	uint32_t host_suffix;	/* 1: the request's host is longer than `host` and ends in it */
	struct image_text host; /* lower case, no port, no trailing dot; ".example.com" for *.example.com */
	struct image_span networks; /* struct network, sorted */
	struct image_span headers;  /* struct image_header_test */
	struct image_span nots; /* struct image_clause: none of them may hold; they have none themselves */
	struct image_text text; /* as written; the route */
};

enum image_key_kind {
	IMAGE_KEY_SITE,
	IMAGE_KEY_IP,
	IMAGE_KEY_HEADER,
	IMAGE_KEY_COOKIE,
	IMAGE_KEY_QUERY,
	IMAGE_KEY_HOST,
	IMAGE_KEY_PATH,
	IMAGE_KEY_METHOD,
	IMAGE_KEY_ROUTE,
	IMAGE_KEY_VAR
};
struct image_key_part {
	uint32_t kind;		/* enum image_key_kind; the tag hashed with the value (T3) */
	uint16_t bits4, bits6;	/* ip: prefix lengths */
	uint32_t alternative;	/* of parts with the same ordinal the first present one counts */
	struct image_text name; /* header (lower case), cookie, query parameter, variable */
};

/* What a counter counts. RATE: requests or their cost. CONCURRENT: requests in flight (numbers: ALGO_CONCURRENT).
 * BANDWIDTH: nothing, it paces each response by itself (no row, numbers 0). TOTAL: KiB of all responses of a key, a
 * token bucket that paces them; it never refuses. */
#define IMAGE_WAIT_MAX	(UINT64_C(3600) * 1000000000) /* ns: nobody waits longer for a place in flight */
#define IMAGE_BYTES_MIN UINT64_C(1024)
#define IMAGE_BYTES_MAX (UINT64_C(1) << 40)
#define IMAGE_TOTAL_MAX (UINT64_C(1000000) * 1024) /* a bucket takes a million KiB a second */
enum image_what { IMAGE_RATE, IMAGE_CONCURRENT, IMAGE_BANDWIDTH, IMAGE_TOTAL };
#define IMAGE_ASKER_RATE  1u
#define IMAGE_ASKER_BURST 2u
struct image_counter { /* one rate of one limit, or its concurrency, or its bandwidth */
	uint64_t identity;
	uint32_t row; /* ledger row; patched at publication, TABLE_ROW_NONE before */
	uint32_t limit;
	struct algo_numbers numbers;
	struct image_text name; /* "login", or "hourly/s" where a limit has several rates */
	uint64_t window_ns;	/* what RateLimit-Policy's w says */
	uint32_t capacity;	/* most that passes at once: what the headers call the limit */
	uint32_t stat;		/* statistics index; patched at publication */
	uint32_t what;		/* enum image_what */
	uint32_t queue;		/* concurrent: how many may wait for a place */
	uint64_t wait_ns;	/* ... and how long, with a queue: 1 ms to IMAGE_WAIT_MAX */
	uint64_t bytes_per_s;	/* bandwidth and total: IMAGE_BYTES_MIN to IMAGE_BYTES_MAX */
	uint64_t
		free_bytes; /* bandwidth: the first so many of a response are not paced; to IMAGE_BYTES_MAX */
	struct image_text zone; /* whose clocks a calendar follows: "Europe/Berlin"; empty: UTC */
	uint32_t
		queue_row; /* ledger row of the places in the queue; patched at publication, none without a queue */
	uint32_t
		asker; /* zones: mask of what a variable says of each request; then the row's numbers do not */
	struct image_text
		written; /* zones: the rate as nginx.conf has it ("2r/s", "$plan_rate"); else empty */
};

/* an entry of exempt (global or a limit's) or deny: all given conditions hold */
struct image_exception {
	struct image_span clauses;  /* struct image_clause: any; none: only networks decide */
	struct image_span networks; /* empty: any address */
	int64_t until;		    /* wall clock seconds; 0: for ever */
	struct image_text reason;
	uint32_t close; /* deny only: 1: close without an answer */
	uint32_t pad;
};

enum image_body { IMAGE_BODY_JSON, IMAGE_BODY_PROBLEM, IMAGE_BODY_TEXT, IMAGE_BODY_FILE };
/* What answers carry. X_RATELIMIT, DELTA and GITHUB write the same fields, RATELIMIT, DRAFT_6 and DRAFT_7 too:
 * at most one of each three is set. */
#define IMAGE_HEADERS_X_RATELIMIT 1u
#define IMAGE_HEADERS_RATELIMIT	  2u  /* draft 11: RateLimit and RateLimit-Policy, structured fields */
#define IMAGE_HEADERS_DELTA	  4u  /* X-RateLimit-*, -Reset being seconds from now, not the epoch's */
#define IMAGE_HEADERS_GITHUB	  8u  /* X-RateLimit-* with -Used and -Resource */
#define IMAGE_HEADERS_DRAFT_6	  16u /* RateLimit-Limit, -Remaining, -Reset and RateLimit-Policy */
#define IMAGE_HEADERS_DRAFT_7	  32u /* RateLimit: limit=, remaining=, reset= */
#define IMAGE_HEADERS_X		  (IMAGE_HEADERS_X_RATELIMIT | IMAGE_HEADERS_DELTA | IMAGE_HEADERS_GITHUB)
#define IMAGE_HEADERS_DRAFTS	  (IMAGE_HEADERS_RATELIMIT | IMAGE_HEADERS_DRAFT_6 | IMAGE_HEADERS_DRAFT_7)
struct image_respond {
	uint32_t status;  /* 400..599 */
	uint32_t headers; /* mask */
	uint32_t body;	  /* enum image_body */
	uint32_t cors_mirror;
	struct image_text file_type; /* content type of the file's text */
	struct image_text file_text; /* the page itself, read when compiling */
};

struct image_limit {
	struct image_text name;
	struct image_span counters; /* struct image_counter */
	struct image_span clauses;  /* struct image_clause; count 0: every request */
	struct image_span key;	    /* struct image_key_part */
	struct image_span exempt;   /* struct image_exception */
	uint32_t respond;	    /* index */
	uint32_t mode, missing;
	uint32_t cost;
	uint8_t count_denied;
	uint8_t shared;		  /* key is site: it speaks for everyone; binding only if it refuses */
	uint8_t preflight_exempt; /* a method in its match, or a key other than ip and site */
	uint8_t quota; /* zones: ways of a pair that it keeps from others (table/quota.h), 1..8; 0: none */
	struct image_text key_text, match_text; /* as written, for reading out */
	uint16_t count;				/* enum image_count */
	uint16_t on_full;			/* enum table_full */
	struct image_span failures;		/* struct image_statuses: what a failure is, ascending */
	uint64_t key_identity;			/* hash of the key spec: a new key starts new counters */
};

/* ---- how a request finds its clauses ------------------------------------------------------------------
 *
 * Every clause of an enabled limit stands in exactly one list: in a trie if it has a path, else under its
 * exact host if it has one, else in `always`. A list is sorted: first clauses without an exact host, then by
 * host (size first, then bytes), within that by limit and clause. Two tries: folded and exact. Their nodes
 * are numbered as a breadth-first walk meets them (children in order, then `one`), so that no node can be
 * reached twice; node 0 is the root. Edges are sorted like hosts. The lists follow each other in
 * `candidates`: of the hosts, of folded, of exact; at each node `below` before `here`. */
struct image_node {
	struct image_span children; /* struct image_edge: literal segments */
	uint32_t one;		    /* node for `*`, 0: none */
	struct image_range here;    /* of image.candidates: patterns that end here */
	struct image_range below;   /* those that end here in rest */
};
struct image_edge {
	struct image_text text;
	uint32_t node;
};
struct image_candidate {	/* a clause found through an index */
	uint32_t limit, clause; /* indices; clause is absolute, UINT32_MAX: the limit has none */
};
struct image_host_entry {
	struct image_text host;
	struct image_range candidates;
};

struct image_gateway {		   /* only for `weir run` */
	struct image_span listens; /* struct image_text */
	struct image_span routes;  /* struct image_route, in file order: the first that matches wins */
};
struct image_route {
	struct image_text match; /* path pattern as written, empty: everything */
	struct image_text to;	 /* http://host:port */
};

/* What was compiled. POLICY: a policy file, whose limits meet requests through the lists above. ZONES: the zones of an
 * nginx.conf (policy/zones.h): nginx's locations say which of them a request meets, so no list names them (hits_max is
 * 0, image_match finds nothing), and nobody can check or publish the source but nginx. */
enum image_kind { IMAGE_OF_POLICY, IMAGE_OF_ZONES };

struct image {
	uint64_t magic;
	uint32_t layout, size;	  /* size: bytes of the whole */
	uint64_t checksum;	  /* image_checksum, set at publication; 0 before */
	uint64_t generation;	  /* 0 until published */
	uint64_t source_hash;	  /* of the source files' bytes: the same policy compiles to the same hash */
	int64_t compiled_at;	  /* wall clock, s */
	struct image_text source; /* path of the policy file; zones: of nginx.conf */
	struct image_span limits, counters, clauses, paths, responds, exempt, deny;
	struct image_span always;     /* struct image_candidate: clauses that no index can narrow */
	struct image_span candidates; /* struct image_candidate, what tries and hosts refer to */
	struct image_span
		hosts; /* struct image_host_entry sorted by host: exact hosts of clauses without a path */
	struct image_span folded, exact;  /* struct image_node; empty: no such pattern */
	struct image_span trusted;	  /* struct network */
	uint32_t address_from;		  /* enum image_source */
	struct image_text address_header; /* lower case */
	uint32_t ipv6_prefix;		  /* 32..128 */
	uint32_t hits_max;		  /* most counters that one request can meet */
	uint32_t deny_status;		  /* 403 */
	uint32_t kind;			  /* enum image_kind */
	uint64_t table_bytes; /* zones: bytes of slots that their configuration asks for; the door's to set */
	struct image_gateway gateway;
};

/* Sound in itself? Every span inside and aligned, every index in range, tries trees, texts printable where
 * shown, names of kinds and modes known; in time linear in `size`, whatever the bytes. `bytes` must be
 * aligned to 8. Run once on each copy: after it every reader below may trust the image, but not that it says
 * anything sensible. */
bool image_check(const void *bytes, size_t size, char *why, size_t why_size);
/* Of everything behind the field `checksum`, whose own value does not matter. The size must be right. */
uint64_t image_checksum(const struct image *image);

static inline const void *image_at(const struct image *image, uint32_t offset)
{
	return (const char *)image + offset;
}
static inline struct text image_text(const struct image *image, struct image_text text)
{
	return (struct text){(const char *)image + text.offset, text.size};
}
static inline const struct image_limit *image_limit_at(const struct image *image, uint32_t index)
{
	return (const struct image_limit *)image_at(image, image->limits.offset) + index;
}
static inline const struct image_counter *image_counter_at(const struct image *image, uint32_t index)
{
	return (const struct image_counter *)image_at(image, image->counters.offset) + index;
}
static inline const struct image_clause *image_clause_at(const struct image *image, uint32_t index)
{
	return (const struct image_clause *)image_at(image, image->clauses.offset) + index;
}
/* Order of hosts and edges: by size, then by bytes; cheap to search, as most sizes differ. */
static inline int image_order(struct text a, struct text b)
{
	if (a.size != b.size)
		return a.size < b.size ? -1 : 1;
	return a.size == 0 ? 0 : memcmp(a.data, b.data, a.size);
}

/* ---- matching (policy/match.c): what the flow asks ---------------------------------------------------- */

struct image_subject {		 /* the parts of a request that a match can see; prepared once by the flow */
	uint32_t method;	 /* bit */
	struct text host;	 /* lower case, no port, no trailing dot */
	struct text path_folded; /* normalised, lower case, no trailing slash (except "/") */
	struct text path_exact;	 /* normalised, case and trailing slash kept */
	struct address client;
	bool has_client;
	/* value of the nth header of that (lower case) name; false when there is none */
	bool (*header)(void *door, struct text name, unsigned nth, struct text *value);
	void *door;
};
struct image_hit {
	uint32_t limit;	 /* index */
	uint32_t clause; /* absolute index of the one that held (the route); UINT32_MAX: none was needed */
};
/* Limits (disabled ones left out) that the request matches, ascending by limit, each once: the first clause
 * in file order that holds. Returns how many; at most `max` are found and written (hits_max suffices; with
 * less, which are left out is not said). Allocates nothing. */
size_t image_match(const struct image *image, const struct image_subject *subject, struct image_hit *out,
		   size_t max);
/* All conditions of the clause. At most IMAGE_VALUES_MAX values of one header are looked at; if more come, one
 * of them may be what a condition asks for: here and in image_match it holds then, unless it stands in a
 * `not`. */
#define IMAGE_VALUES_MAX 100u
bool image_clause_holds(const struct image *image, const struct image_clause *clause,
			const struct image_subject *subject);
/* The first exception of the list that applies now, or NULL: its networks contain the client, if it names
 * any; one of its clauses holds, if it has any; `until` is 0 or after `wall` (seconds). A header with more
 * than IMAGE_VALUES_MAX values denies where it might (the list is image->deny), and exempts only where it
 * surely does. */
const struct image_exception *image_exception(const struct image *image, struct image_span list,
					      const struct image_subject *subject, int64_t wall);

#endif
