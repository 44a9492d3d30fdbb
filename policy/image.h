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
#include "policy/image_clients.h"
#include "policy/span.h"
#include "policy/text.h"

#define IMAGE_MAGIC	  UINT64_C(0x31474d4952494557) /* "WEIRIMG1" */
#define IMAGE_LAYOUT	  7u
#define IMAGE_HITS_MAX	  1024u /* most counters one request may meet: checked when compiling */
#define IMAGE_PATH_MAX	  2048u /* longest normalised path that is matched, in bytes */
#define IMAGE_SEGMENT_MAX 255u	/* bytes of one segment that are kept: longer ones are all alike after that */

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
	uint64_t who;		/* IMAGE_WHO_*: any of them; 0: everybody */
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
	IMAGE_KEY_VAR,
	IMAGE_KEY_API_KEY, /* name "": the known key itself; "owner", "plan", "tenant": a field of its record */
	IMAGE_KEY_USER, /* owner of the known key, else the verified token's subject, else what a trusted peer says */
	IMAGE_KEY_JWT,	   /* name: a claim of the verified token */
	IMAGE_KEY_SESSION, /* value of the policy's session cookie; shown only as a digest */
	IMAGE_KEY_BODY	   /* name: a field of the request's body, normalised (identity/body.h) */
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
#define IMAGE_CACHE_MIN (UINT64_C(1) << 20)
#define IMAGE_TOTAL_MAX (UINT64_C(1000000) * 1024) /* a bucket takes a million KiB a second */
/* NEW_KEYS: how many keys that are not in the table an address may bring (its own key is the client's address; it is met
 * only by a request whose limit's key is new). USAGE: what was charged to the limit in each month, for the bill, by API key: never
 * refuses, and stands behind the counters that it repeats (flow/usage.h). */
enum image_what { IMAGE_RATE, IMAGE_CONCURRENT, IMAGE_BANDWIDTH, IMAGE_TOTAL, IMAGE_NEW_KEYS, IMAGE_USAGE };
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
		written;   /* zones: the rate as nginx.conf has it ("2r/s", "$plan_rate"); else empty */
	uint32_t seen_row; /* `distinct`: ledger row of the values seen (seen); patched at publication */
	uint32_t pad;
	struct algo_numbers
		seen; /* `distinct`: one of each value in the rate's period; kind 0: no such word. USAGE: the
			 months that are billed, those of clients without a billing day */
	/* billing-day: a ledger row for each day 1..31 (uint32_t[31], day 1 first), patched at publication; `row` is that of
	 * day 1, which holds for who has no day. Count 0: every client has the same windows. */
	struct image_span day_rows;
	uint32_t soft; /* `over`: what the quota says; the numbers allow more. 0: no such word */
	uint16_t new_bits4, new_bits6; /* NEW_KEYS: `per ip/24/56`: prefix lengths; 0: the usual */
};

/* What a plan makes of a limit. NUMBERS: counters of its own, with the limit's identities (a change of plan converts
 * them) or, where the limit's key can be shared by clients of several plans (plan_in_key), beside them. */
enum image_variant_how { IMAGE_VARIANT_NUMBERS, IMAGE_VARIANT_UNLIMITED, IMAGE_VARIANT_NEVER };
struct image_variant {
	uint32_t plan;		    /* index into image.plans; ascending within a limit */
	uint32_t how;		    /* enum image_variant_how */
	struct image_span counters; /* struct image_counter, within image.counters; NUMBERS only */
};
struct image_plan {
	struct image_text name;
};

/* Who a limit or a clause is for: bits. 0: everybody. */
#define IMAGE_WHO_ANONYMOUS  UINT64_C(1)
#define IMAGE_WHO_IDENTIFIED UINT64_C(2)
#define IMAGE_WHO_PLAN(n)    (UINT64_C(4) << (n)) /* index into image.plans */
#define IMAGE_PLANS_MAX	     60u

/* An amount that a request, or the answer to it, says. */
enum image_amount_from {
	IMAGE_AMOUNT_NUMBER,	 /* `number` */
	IMAGE_AMOUNT_HEADER,	 /* a request header, from trusted peers only */
	IMAGE_AMOUNT_BODY,	 /* a number in a field of the body */
	IMAGE_AMOUNT_BODY_COUNT, /* elements of an array in the body; name "": the body itself is the array */
	IMAGE_AMOUNT_RESPONSE_HEADER, /* settle only, as the next */
	IMAGE_AMOUNT_RESPONSE_BODY    /* a number in a JSON answer or, the last one, in an event stream */
};
struct image_amount {
	uint32_t from; /* enum image_amount_from */
	uint32_t
		number; /* also what holds if the request does not say: at least 1; settle: 0, none: the reserve stands */
	struct image_text name; /* of header (lower case) or field ("usage.total_tokens") */
};
/* What a request costs: `ask` before, `settle` (from NUMBER: not at all) when the answer is known. */
struct image_cost {
	struct image_amount ask, settle;
	uint32_t at_most;  /* ask is cut to this; 1..ALGO_BURST_MAX */
	uint32_t overdraw; /* 1: all that was settled is charged, into debt; 0: no more than was asked for */
};

enum image_instead { /* of refusing */
		     IMAGE_INSTEAD_REFUSE,
		     IMAGE_INSTEAD_CHALLENGE, /* 303 to instead_to */
		     IMAGE_INSTEAD_CACHED,    /* a stored answer, be it stale; without one it is refused */
		     IMAGE_INSTEAD_SLOW,      /* passes, at instead_bytes_per_s */
		     IMAGE_INSTEAD_CLOSE      /* the connection is closed without an answer */
};
/* `then`: who is refused `strikes` times in strikes_ns is banned from the limit's requests for ban_ns; each ban that
 * follows within the length of the one before is twice as long, up to most_ns. */
struct image_then {
	uint64_t ban_ns, most_ns, strikes_ns; /* ban_ns 0: no such word */
	uint32_t strikes;		      /* at least 1 */
	uint32_t ban_row, strikes_row;	      /* ledger rows; patched at publication */
	uint32_t pad;
	struct algo_numbers ban_numbers, strikes_numbers;
};

/* an entry of exempt (global or a limit's) or deny: all given conditions hold */
struct image_exception {
	struct image_span clauses;  /* struct image_clause: any; none: only networks decide */
	struct image_span networks; /* empty: any address */
	int64_t until;		    /* wall clock seconds; 0: for ever */
	struct image_text reason;
	uint32_t close; /* deny only: 1: close without an answer */
	uint32_t pad;
	struct image_span keys; /* struct image_text: names of API keys; empty: whoever it is */
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
	struct image_span variants;		/* struct image_variant: by plan, ascending */
	uint64_t who;				/* IMAGE_WHO_*: any of them; 0: everybody */
	uint32_t
		plan_in_key; /* 1: the client's plan is part of the key (it has variants, and a key that several plans can share) */
	uint32_t percent; /* enforce: share of keys, 1..100; the others are shadow */
	uint32_t
		candidate; /* 0, or 1 + index of the limit that this is a candidate for; it stands right behind it */
	uint32_t instead; /* enum image_instead */
	struct image_text instead_to;
	uint64_t instead_bytes_per_s;
	struct image_cost costs; /* `cost` is costs.ask.number */
	struct image_then then;
	struct image_span
		distinct; /* struct image_key_part: one: whose different values the rates count; else empty */
	uint8_t notify[4];  /* `over`: per cent of `soft` at which an event tells, ascending, 0: no more */
	uint8_t needs_body; /* key, distinct or cost look into the request's body */
	uint8_t pad[3];
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
	uint64_t
		cache_bytes; /* most that stored answers take; 0: none is stored; else IMAGE_CACHE_MIN to IMAGE_BYTES_MAX */
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
	struct image_clients clients;
	struct image_span plans; /* struct image_plan; at most IMAGE_PLANS_MAX */
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
	uint64_t who;	     /* IMAGE_WHO_*: what is true of the client; 0 is anonymous */
	struct text api_key; /* name of its known API key, "" none */
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
