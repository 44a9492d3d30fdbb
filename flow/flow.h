/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow: the life of one request, one file a station, in this order.
 *
 *   request    what the door hands in; the path is normalised (B14)
 *   identity   whose request it is: the client's address behind trusted proxies only (B10)
 *   match      which limits apply, exempt and deny lists
 *   key        each limit's key: its parts, length-prefixed and tagged, hashed (T3)
 *   decide     peek all, charge all or none (D1)
 *   verdict    one answer out of many: the binding limit, waits in whole seconds
 *   answer     headers and body in the client's language
 *   record     statistics and the recent happenings
 *
 * Resumable (D2): flow_run goes on until it is DONE or says what it needs. A door that can wait does so and calls it again;
 * no station blocks. Time is read once, by the door, and handed in.
 */
#ifndef WEIR_FLOW_FLOW_H
#define WEIR_FLOW_FLOW_H

#include "policy/image.h"
#include "table/table.h"

/* What the door hands in. Texts live as long as the flow. */
struct flow_request {
	struct text method;
	struct text target; /* as on the request line: path and query, undecoded; absolute form is understood */
	struct text host;   /* Host or :authority */
	struct address peer; /* who holds the connection (before any realip) */
	bool has_peer;      /* false: a unix socket: its own, shared client */
	struct address proxied; /* the source that the PROXY protocol named */
	bool has_proxied;
	/* value of the nth header of that lower-case name */
	bool (*header)(void *door, struct text name, unsigned nth, struct text *value);
	/* value of a variable of the door (`var.NAME`); NULL: the door has none */
	bool (*variable)(void *door, struct text name, struct text *value);
	void *door;
};

enum flow_step { FLOW_DONE, FLOW_WAIT, FLOW_STORE /* later: a remote store must answer */ };
enum flow_action { FLOW_PASS, FLOW_REFUSE, FLOW_CLOSE };
/* name, $weir_status, sentence for explain */
#define FLOW_STATUSES(X)                                                                         \
	X(UNLIMITED, "UNLIMITED", "no limit matched")                                            \
	X(PASSED, "PASSED", "every limit allowed it")                                            \
	X(DELAYED, "DELAYED", "allowed after waiting its turn")                                  \
	X(REJECTED, "REJECTED", "a limit refused it")                                            \
	X(REJECTED_SHADOW, "REJECTED_SHADOW", "passed; a shadow limit would have refused it")    \
	X(MISSING, "MISSING", "refused: the limit's key is missing and `missing: deny`")         \
	X(EXEMPT, "EXEMPT", "passed: on the exempt list")                                        \
	X(DENIED, "DENIED", "refused: on the deny list")                                         \
	X(FAILED, "FAILED", "passed undecided: no table or no policy")
enum flow_status {
#define X(name, word, help) FLOW_##name,
	FLOW_STATUSES(X)
#undef X
};
const char *flow_status_word(enum flow_status status);

struct flow_verdict {
	enum flow_action action;
	enum flow_status status;
	unsigned http_status;  /* when refused */
	uint64_t wait_ms;      /* FLOW_WAIT: how long, rounded up */
	uint32_t limit_index;  /* the binding limit in image.limits; UINT32_MAX: none */
	uint32_t counter_index; /* its counter in image.counters */
	uint32_t limit;        /* X-RateLimit-Limit */
	uint32_t remaining;
	uint64_t retry_after_s; /* refused: whole seconds, rounded up, at least 1; 0: none (can never fit) */
	uint64_t reset_s;      /* until fully recovered, rounded up */
	uint64_t effective_s;  /* RateLimit's t: refused: retry_after_s; allowed: seconds in which `remaining` is all */
	uint64_t wait_ns;      /* the unrounded wait */
	const struct image_exception *exception; /* exempt or deny entry that applied */
};

struct flow_hit { /* one counter that the request meets */
	uint32_t limit, counter, clause;
	uint32_t cost;
	struct table_key key;
	struct table_look look;  /* as peeked, then as charged */
	bool exempt, shadow, charged, allowed, skipped, anonymous;
};

struct flow_env { /* where to decide; the same for every request until the generation changes */
	struct table *table;
	const struct image *image;
};

struct flow { /* caller's storage: flow_size(image) bytes, zeroed by flow_begin */
	const struct flow_env *env;
	const struct flow_request *request;
	struct algo_time time;
	bool can_wait, dry; /* dry: explain: peeks only, nothing charged or recorded */
	enum flow_step step;

	struct image_subject subject;
	char path_folded[IMAGE_PATH_MAX + 1], path_exact[IMAGE_PATH_MAX + 1], host[256];
	struct text query;
	struct address client; /* unmasked */
	bool has_client, preflight, grpc;
	bool untrusted_forward; /* a forwarding header came from a peer that is not trusted */

	const struct image_exception *exempt; /* global */
	size_t hit_count;
	uint32_t refused_by; /* hit that refused, UINT32_MAX: none */
	struct flow_verdict verdict;
	char key_text[112]; /* the binding limit's key, as the client sent it (hostile), for logs */
	size_t key_text_size;
	uint64_t key_digest;
	struct flow_hit hits[]; /* image->hits_max */
};
size_t flow_size(const struct image *image);

/* Prepare; env, request and image must outlive the flow. can_wait false: a delay passes at once (the header filter). */
void flow_begin(struct flow *flow, const struct flow_env *env, const struct flow_request *request, const struct algo_time *time,
		bool can_wait, bool dry);
/* Runs as far as it can. After FLOW_WAIT (verdict.wait_ms) call it again: FLOW_DONE. */
enum flow_step flow_run(struct flow *flow);

/* ---- stations (each its own .c) ------------------------------------------------------------------------ */
void flow_request_read(struct flow *flow);
void flow_identity(struct flow *flow);
void flow_match(struct flow *flow);
void flow_key(struct flow *flow);
void flow_decide(struct flow *flow);
void flow_make_verdict(struct flow *flow);
void flow_record(struct flow *flow);

/* Normalise a request target (B14): drop scheme and authority, query and fragment; decode %XX once; `\` is `/`; cut ;params off
 * each segment; merge //; resolve . and ..; keep invalid escapes as they are. Always begins with '/'. `exact` keeps case and the
 * trailing slash, `folded` is lower-cased without it. Longer results are cut at IMAGE_PATH_MAX after resolving. */
void flow_path_normalise(struct text target, char *exact, size_t *exact_size, char *folded, size_t *folded_size, struct text *query);

/* ---- answer ---------------------------------------------------------------------------------------------- */
struct flow_header {
	struct text name;  /* canonical case: "X-RateLimit-Limit" */
	struct text value;
};
#define FLOW_HEADERS_MAX 12
struct flow_answer {
	struct flow_header headers[FLOW_HEADERS_MAX]; /* for allowed and refused answers alike */
	size_t header_count;
	struct text expose; /* names for Access-Control-Expose-Headers, "" if nothing to expose or not mirrored */
	struct text body, content_type; /* refused only: negotiated from Accept; body may point into the image */
	bool grpc; /* answer as gRPC trailers-only: HTTP 200, grpc-status 8 (RESOURCE_EXHAUSTED), grpc-message in `body` */
	char buffer[2048];
	size_t used;
};
/* The headers of the verdict; `accept` (may be empty) chooses the body. Nothing is allocated. wall: seconds since 1970. */
void flow_answer(const struct flow *flow, struct text accept, int64_t wall, struct flow_answer *out);

#endif
