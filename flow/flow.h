/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow: the life of one request, one file a station, in this order.
 *
 *   request    what the door hands in; the path is normalised (B14)
 *   identity   whose request it is: the client's address behind trusted proxies only (B10)
 *   who        and who that is: API key, token, plan (B11, B20)
 *   ban        who is banned (B26)
 *   match      which limits apply, exempt and deny lists
 *   key        each limit's key: its parts, length-prefixed and tagged, hashed (T3)
 *   cost       what it costs: by number, header or body (B22)
 *   decide     peek all, charge all or none (D1)
 *   verdict    one answer out of many: the binding limit, waits in whole seconds
 *   answer     headers and body in the client's language
 *   record     statistics and the recent happenings
 *
 * then, when the door knows more:
 *
 *   settle     what the answer was: failures and successes are charged, or not (T10)
 *   end        the request is over: what was in flight is not any more
 *
 * Resumable (D2): flow_run goes on until it is DONE or says what it needs. A door that can wait does so and
 * calls it again; no station blocks. Time is read once, by the door, and handed in; after a wait the door
 * reads it again and puts it into flow.time before it runs the flow on.
 */
#ifndef WEIR_FLOW_FLOW_H
#define WEIR_FLOW_FLOW_H

#include "identity/people.h"
#include "identity/usage_scan.h"
#include "policy/image.h"
#include "table/stats.h"
#include "table/table.h"

/* What the door hands in. Texts live as long as the flow. */
struct flow_request {
	struct text method;
	struct text target; /* as on the request line, undecoded; the absolute form is understood */
	struct text host;   /* Host or :authority */
	/* Who holds the connection, before any realip. Without one it is a unix socket: one shared client,
	 * trusted where 127.0.0.1 is. */
	struct address peer;
	bool has_peer;
	/* The source that the PROXY protocol named. */
	struct address proxied;
	bool has_proxied;
	/* Value of the nth header of that lower-case name. */
	bool (*header)(void *door, struct text name, unsigned nth, struct text *value);
	/* Value of a variable of the door (`var.NAME`); NULL: the door has none. */
	bool (*variable)(void *door, struct text name, struct text *value);
	/* The first lines of a header of the answer, once there is one; NULL: the door sees no answers. */
	bool (*response_header)(void *door, struct text name, struct text *value);
	/* The beginning of the body, at most BODY_MAX bytes, once the door has it (FLOW_BODY). */
	struct text body;
	bool can_read_body; /* the door can */
	bool has_body;	    /* it has: `body` says all there is of it (perhaps nothing) */
	bool body_whole;    /* ... and it ends there */
	void *door;
};

enum flow_step {
	FLOW_DONE, /* the verdict stands */
	FLOW_BODY, /* call again when request.has_body: a limit looks into the body, and none that does not refuses */
	FLOW_WAIT, /* call again after verdict.wait_ms: it is the request's turn then, or (a queue for a place in
		    * flight) worth another look */
};
/* Where a flow goes on when it is run: the stations that can need something from outside, and the end. */
enum flow_station {
	FLOW_AT_REQUEST,
	FLOW_AT_BODY, /* waits for the body */
	FLOW_AT_DECIDE,
	FLOW_AT_VERDICT,
	FLOW_AT_QUEUE, /* waits for a place in flight: looks again */
	FLOW_AT_TURN,  /* charged; it waits, or has waited */
	FLOW_AT_END,
};
/* TELL: not a request for the backend: the answer is what flow_own_limits writes. CACHED: refused, unless there is a stored
 * answer. CHALLENGE: a refusal with status 303 and verdict.location. */
enum flow_action { FLOW_PASS, FLOW_REFUSE, FLOW_CLOSE, FLOW_TELL, FLOW_CACHED };
/* name, $weir_status, sentence for explain */
#define FLOW_STATUSES(X)                                                                                     \
	X(UNLIMITED, "UNLIMITED", "no limit matched")                                                        \
	X(PASSED, "PASSED", "every limit allowed it")                                                        \
	X(DELAYED, "DELAYED", "allowed after waiting its turn")                                              \
	X(REJECTED, "REJECTED", "a limit refused it")                                                        \
	X(REJECTED_SHADOW, "REJECTED_SHADOW", "passed; a shadow limit would have refused it")                \
	X(MISSING, "MISSING", "refused: the limit's key is missing and `missing: deny`")                     \
	X(EXEMPT, "EXEMPT", "passed: on the exempt list")                                                    \
	X(DENIED, "DENIED", "refused: on the deny list")                                                     \
	X(BANNED, "BANNED", "refused: banned for a while")                                                   \
	X(UNKNOWN, "UNKNOWN", "refused: an unknown API key or an invalid token")                             \
	X(NEVER, "NEVER", "refused: the client's plan never may")                                            \
	X(OWN_LIMITS, "OWN_LIMITS", "answered with the client's own limits")                                 \
	X(SLOWED, "SLOWED", "over a limit: passes slowly")                                                   \
	X(FAILED, "FAILED", "passed undecided: no table or no policy")
enum flow_status {
#define X(name, word, help) FLOW_##name,
	FLOW_STATUSES(X)
#undef X
};
const char *flow_status_word(enum flow_status status);

#define FLOW_NONE UINT32_MAX /* no such index */

struct flow_verdict {
	enum flow_action action;
	enum flow_status status;
	unsigned http_status; /* when refused */
	uint64_t wait_ms;     /* FLOW_WAIT: how long, rounded up */

	/* The binding limit, and its counter, in image.limits and image.counters; FLOW_NONE: none. */
	uint32_t limit_index, counter_index;
	uint32_t limit, remaining; /* X-RateLimit-Limit, -Remaining */
	uint64_t wait_ns;	   /* until its cost fits again, exactly; ALGO_NEVER: never */
	uint64_t retry_after_s;	   /* refused: the same, rounded up, at least 1; 0: never */
	uint64_t reset_s;	   /* until it is fully recovered, rounded up */
	/* RateLimit's t. Refused: retry_after_s. Allowed: the seconds, at least 1, in which `remaining` is
	 * all. */
	uint64_t effective_s;

	const struct image_exception *exception; /* exempt or deny entry that applied */
	struct text location;			 /* challenge: where to; in the image */
	uint64_t slow_bytes_per_s;		 /* SLOWED: how fast the answer may go; 0: any */
	/* Of a refusal: what `weir why` reads (flow/refusal.h), NUL-terminated; "": it has none. */
	char refusal[32];
};

/* Who the client is, besides its address (who.c). */
enum flow_credential { FLOW_CREDENTIAL_NONE, FLOW_CREDENTIAL_GOOD, FLOW_CREDENTIAL_BAD };
struct flow_who {
	uint8_t key_said, token_said; /* enum flow_credential */
	uint8_t key_found;	      /* enum ring_found, of a key that was said */
	uint8_t token_result;	      /* enum jwt_result, of a token that was said */
	bool identified;	      /* a known key, a verified token, or a user that a trusted peer names */
	bool trusted_peer;	      /* headers that say who it is count */
	struct ring_key key;	      /* key_said GOOD; its name, plan, … */
	struct jwt_claims *claims;    /* token_said GOOD; dropped by flow_end */
	struct text user; /* owner of the key, else the subject, else what a trusted peer says; "" none */
	uint32_t plan;	  /* index into image.plans, or IMAGE_PLAN_NONE */
};
/* A text of the key's record by the name that a policy gives it ("" the name, owner, plan, tenant); false: nothing. */
bool flow_who_field(const struct flow_who *who, struct text name, struct text *value);
struct flow;
/* It came with a key or token that is not believed, where the policy refuses those. */
bool flow_who_refused(const struct flow *flow);

/* What a request that says nothing of who it is would have to send to have this limit's key. */
enum flow_wanted { FLOW_WANTED_NOTHING, FLOW_WANTED_KEY, FLOW_WANTED_TOKEN };
enum flow_wanted flow_who_wanted(const struct flow *flow, uint32_t limit);

/* What part a counter takes in this request. */
enum flow_role {
	FLOW_ROLE_ENFORCED, /* it can refuse */
	FLOW_ROLE_SHADOW,   /* judged and charged in its own state; changes nothing else */
	FLOW_ROLE_EXEMPT,   /* told in the statistics, charged to nothing, never refuses */
	FLOW_ROLE_SKIPPED,  /* none: a preflight, or without its key */
};

/* One counter that the request meets. What stands behind `delay_ns` is set only when a flag says so. */
struct flow_hit {
	uint32_t limit, counter, clause; /* indices; clause as in image_hit */
	uint32_t cost;			 /* 1 for places in flight */
	uint8_t role;			 /* enum flow_role */
	uint8_t what;			 /* enum image_what, as its counter */
	uint8_t count;			 /* enum image_count, as its limit */
	bool missing;			 /* a part of the key is missing; what `missing` says was done */
	bool denied;			 /* ... and that was deny */
	bool anonymous;			 /* ... or the one shared bucket */
	bool allowed;			 /* it fits (exempt: always true) */
	bool charged;			 /* its cost is counted, for good */
	bool held;			 /* `ticket` is live: a reservation, or a place in flight */
	bool queued;			 /* `place` is live: it waits for a place in flight */
	bool waited;			 /* ... or did; `dry`: it would */
	bool banned;			 /* its limit's ban holds: refused, whatever its counter says */
	bool never;			 /* the client's plan never may: refused */
	bool granted;			 /* refused by its numbers, passed by a grant, which was charged */
	bool settled;			 /* of a grant: the answer has said what becomes of it */
	bool slowed;			 /* refused by its numbers, and passes slowly */
	bool seen;			 /* `distinct`: this value has been counted; it costs nothing */
	bool marked;			 /* `distinct`: this request has marked it so */
	bool new_key;			 /* NEW_KEYS: the key that its limit counts by is not in the table */
	uint8_t settles;		 /* enum image_amount_from, of what it is settled by; 0: not */
	uint32_t row;			 /* ledger row of its counter, for this client */
	bool no_room;	/* the table could not hold it: passes uncounted, or (`on_full: deny`) not */
	uint64_t order; /* of charging: headroom above, index below */
	struct table_key key;
	struct table_key seen_key; /* `distinct`: of this value */
	struct table_look look;	   /* as peeked, then as charged; `dry`: as it would be charged */
	const struct image_exception *exception; /* the entry that exempts it */
	uint64_t delay_ns;			 /* leaky bucket: how long it is to wait */
	struct table_ticket ticket;		 /* what it took */
	struct table_ticket place;		 /* its place in the queue */
};

/* Somebody has used that much of a quota (`over: notify`). Texts as they are: hostile, not NUL-terminated. */
struct flow_notice {
	uint32_t percent, quota;
	uint8_t limit_size, key_size;
	char limit[96], key[STATS_NOTICE_TEXT];
};
#define FLOW_NOTICES 8u

/* What may be told now, and how many it stands for: at most one event a second for each limit and kind (T5).
 * Owned by the door, zeroed at its start, one for each thread. */
struct flow_recorder {
	uint64_t drawn; /* values of `distinct` that nobody could tell, so far */
	uint32_t
		notice_count; /* of `notices`, for the door to write down and set to 0; further ones are only events */
	struct flow_notice notices[FLOW_NOTICES];
	struct flow_recorder_slot {
		uint64_t at;	      /* table time of the last event, 0: none yet */
		uint64_t since;	      /* happenings not yet told */
	} slots[4][TABLE_STAT_COUNT]; /* by kind (enum stats_event_kind - 1) and statistics index */
};
/* Counts one happening. True if it is time to tell of it: *count is then how many it stands for, itself
 * included. */
bool flow_recorder_due(struct flow_recorder *recorder, enum stats_event_kind kind, uint16_t stat,
		       uint64_t now, uint32_t *count);

/* Where to decide: the same for every request until the generation changes. */
struct flow_env {
	struct table *table;		/* NULL: FLOW_FAILED */
	const struct image *image;	/* NULL: FLOW_FAILED */
	struct flow_recorder *recorder; /* NULL: statistics, but no events */
	struct people *people;		/* NULL: no key is known, no token believed */
};

/* How a path is read. RESOLVED: dot segments are resolved, never above the root. ESCAPED: an encoded slash
 * (or backslash) separates. BACKSLASH: `\` separates. PARAMS: `;` and NUL cut off the rest of a segment.
 * MERGED: empty segments go before dots are resolved, else after. */
enum flow_path_how {
	FLOW_PATH_MERGED = 1,
	FLOW_PATH_PARAMS = 2,
	FLOW_PATH_BACKSLASH = 4,
	FLOW_PATH_ESCAPED = 8,
	FLOW_PATH_RESOLVED = 16,
	FLOW_PATH_WIDEST = 31,
	FLOW_PATH_NGINX = FLOW_PATH_RESOLVED | FLOW_PATH_ESCAPED | FLOW_PATH_MERGED,
	FLOW_PATH_LITERAL = FLOW_PATH_MERGED,
};
#define FLOW_PATH_OTHERS 16u

/* `exact` keeps case and the trailing slash, `folded` is ASCII lower-cased without it. Both begin with '/'
 * and end in NUL. */
struct flow_path {
	size_t exact_size, folded_size;
	char exact[IMAGE_PATH_MAX + 1], folded[IMAGE_PATH_MAX + 1];
};

#define FLOW_SCANS_MAX 4u /* different fields of an answer's body that one request is settled by */

struct inside;

/* Caller's storage, flow_size(image) bytes; flow_begin zeroes what stands before the buffers. */
struct flow {
	const struct flow_env *env;
	const struct flow_request *request;
	struct algo_time time;
	bool can_wait;
	bool dry; /* explain: peeks only, nothing charged or recorded */
	enum flow_station
		next; /* no station is passed twice, but for looks from the queue: a request is charged once */

	struct image_subject subject;
	struct text query;
	struct address client; /* unmasked */
	bool has_client, preflight, grpc;
	bool tells;		/* it asks for its own limits */
	bool early;		/* a limit refused it before its body was read: its word is final (early.c) */
	bool grants;		/* a hit is covered by a grant that the answer may give back */
	bool path_ambiguous;	/* the path can be read in several ways: limits apply that match any */
	bool untrusted_forward; /* a forwarding header came from a peer that is not trusted */

	const struct image_exception *exempt, *deny; /* entries of the policy's own lists */
	size_t hit_count;
	uint32_t refused_by; /* hit that refused and is binding, FLOW_NONE: none */
	uint32_t tickets;    /* live ones of its hits: held and queued */
	uint64_t queued_at,
		queue_until; /* table time: waits for places in flight since then, gives up then */
	struct {	     /* of the totals, in KiB: what flow_pace_take took */
		uint64_t first_at, last_at; /* table time of the first and the last time */
		uint64_t before;	    /* all but the last */
		uint64_t alone_until; /* table time: the table could not hold it, and is not asked before */
		uint32_t last;
		bool stays; /* table_stay, until flow_end */
	} paced;
	struct flow_who who;
	struct {		  /* `then` and the operator's: what bans this request (ban.c) */
		bool by_operator; /* ... the client, whatever it asks for: no limit is asked */
		uint64_t until;	  /* table time; 0: nothing does */
	} ban;
	size_t scans;			       /* in use, of `scan` */
	struct text scan_name[FLOW_SCANS_MAX]; /* the field that each of them looks for */
	struct inside *inside; /* behind the hits, if the image looks into bodies (inside.h) */
	size_t insides;	       /* in use, of its answers */
	struct flow_verdict verdict;
	uint64_t key_digest; /* of the binding limit's key; 0 without one */

	struct flow_path path; /* the widest reading */
	struct usage_scan
		scan[FLOW_SCANS_MAX]; /* of the answer's body: what limits are settled by (cost.c) */
	char host[256];
	struct flow_hit hits[]; /* flow_hits_max(image) */
};
/* Most counters one request can meet, however its path is read. image may be NULL. */
size_t flow_hits_max(const struct image *image);
size_t flow_size(const struct image *image);

/* Prepare; env, request and image must outlive the flow. can_wait false: a delay passes at once (the header
 * filter). */
void flow_begin(struct flow *flow, const struct flow_env *env, const struct flow_request *request,
		const struct algo_time *time, bool can_wait, bool dry);
/* Runs on from where it stands as far as it can. Run again after FLOW_DONE it changes nothing. */
enum flow_step flow_run(struct flow *flow);

/* What the answer was (settle.c): every status the request has been given so far: first the one that is sent,
 * then those of the backends behind it that a page of the operator's hides. A limit that counts failures is charged if
 * one of them is a failure, one that counts successes if none is and what is sent is no 5xx; otherwise it is as if it had not been asked. Once;
 * a door calls it as soon as it knows, so that a slow reader cannot hold the reservation. */
void flow_responded(struct flow *flow, const struct algo_time *t, const unsigned *statuses, size_t count);
/* The request is over, in whatever way (settle.c): frees its places in flight. What is still reserved never got an
 * answer (a client that went away, 499): it is charged, or guessing would be free for those who hang up. Must be called
 * for every flow that was run; once. */
void flow_end(struct flow *flow, const struct algo_time *t);

/* Does a limit want numbers of the answer's body? Asked when its headers are there, after flow_responded; then each piece goes by
 * flow_body, the last one with `last`: what was found is settled then. The pieces are not changed. */
bool flow_wants_body(struct flow *flow, struct text content_type, struct text encoding);
void flow_body(struct flow *flow, const struct algo_time *t, const void *data, size_t size, bool last);

/* How fast the response may go (bandwidth.c). */
struct flow_pace {
	uint64_t bytes_per_s;	    /* of this response; 0: any. The smallest of its limits */
	uint64_t free_bytes;	    /* before that */
	bool total;		    /* ask flow_pace_take too; and then */
	uint64_t total_bytes_per_s; /* the smallest of the totals */
};
/* With a total the handle keeps its slot until flow_end (table_stay): whoever retires meanwhile still charges. */
void flow_pace(struct flow *flow, struct flow_pace *out);
/* Takes up to `want` bytes of the key's total, in whole KiB. Returns how many may be sent now (more than `want` by
 * less than a KiB); 0: none before *wait_ns. What would fit only in early_ns may be taken now all the same, a piece
 * at a time: it is owed, and everybody waits so much longer. What is not sent goes back by flow_pace_return, in whole
 * KiB. */
uint64_t flow_pace_take(struct flow *flow, const struct algo_time *t, uint64_t want, uint64_t early_ns,
			uint64_t *wait_ns);
void flow_pace_return(struct flow *flow, const struct algo_time *t, uint64_t bytes);

/* ---- stations, each in a file of its own ---------------------------------------------------------- */

void flow_request_read(struct flow *flow);
void flow_identity(struct flow *flow);
/* Is the client's address banned, by the operator? Sets flow.ban. Before flow_who: who is banned must not have signatures checked. */
void flow_ban_address(struct flow *flow);
void flow_who(struct flow *flow);
/* Is its API key, or user? Adds to flow.ban. */
void flow_ban(struct flow *flow);
void flow_match(struct flow *flow);
/* Adds the hits of one limit as if the request had met it by that clause, exempt from nothing: for who asks by name. */
void flow_meet(struct flow *flow, uint32_t limit, uint32_t clause);
/* Must the body be read before anything can be decided? Not if the door cannot, or has; nor if a limit that needs none
 * refuses: then those that do are left out. */
bool flow_needs_body(struct flow *flow);
/* Keys of the hits; without_body: only of those whose limit needs none. */
void flow_key(struct flow *flow, bool without_body);
void flow_cost(struct flow *flow);
/* FLOW_WAIT: every place in flight is taken, and it has one in the queue; decide again after verdict.wait_ms. */
enum flow_step flow_decide(struct flow *flow);
void flow_make_verdict(struct flow *flow);
/* It waits its turn, or its turn has come: what it has reserved is not overdue before it could be asked at all. */
void flow_wait_turn(struct flow *flow, bool waits);
void flow_record(struct flow *flow);
/* Refused although its limits let it pass (a wrong key): what is reserved is settled by that. */
void flow_turned_away(struct flow *flow);
/* A reservation of the hit has been charged, later than the request was recorded. */
void flow_record_settled(const struct flow *flow, const struct flow_hit *hit);
/* Of a request that passed: looks at the hits anew for what the answer tells, after some have been settled. */
void flow_bind_again(struct flow *flow);

/* How many wait for a place of the hit's counter (concurrent with a queue; else 0). A look: takes nothing. */
uint32_t flow_hit_waiting(const struct flow *flow, const struct flow_hit *hit);
/* Describe a hit's counter after the verdict: what is left, waits (limits and units of the numbers that were
 * applied). */
void flow_hit_report(const struct flow *flow, const struct flow_hit *hit, struct algo_report *out);
/* Seconds until nothing is remembered, for reading, rounded up; 0: nothing is, or no time tells. (Retry-After is not for reading: it is
 * exact.) */
uint64_t flow_reset_s(const struct algo_numbers *numbers, const struct algo_report *report);
/* The key of one counter, whether or not its limit matched: sets hit->key and what became of a missing part.
 * Needs limit, counter and clause of the hit, and the stations before. */
void flow_key_hit(struct flow *flow, struct flow_hit *hit);
/* The same without the client's plan, where that is part of the key. */
void flow_key_planless(const struct flow *flow, struct flow_hit *hit);
/* The key as a reader knows it: the values in order, joined by ", "; an address with its prefix length if it
 * is masked. Hostile bytes as sent, cut at `size`, no NUL. Returns the length. */
size_t flow_key_text(const struct flow *flow, const struct flow_hit *hit, char *out, size_t size);
/* The client's address as it may be written down: "unix:" without one, a digest under `privacy: hash`. At least
 * FLOW_CLIENT_TEXT bytes; returns the length, no NUL. */
#define FLOW_CLIENT_TEXT (ADDRESS_TEXT_MAX + 1)
size_t flow_client_text(const struct flow *flow, char *out);
/* What $weir_key_hash shows for a hit. */
uint64_t flow_key_digest(const struct flow *flow, const struct flow_hit *hit);

/* Normalise a request target (B14): drop scheme and authority, query and fragment; decode %XX once; then as
 * `how` says; // is merged in any case; invalid escapes stay as they are; "*" is "/". Of a segment
 * IMAGE_SEGMENT_MAX bytes are kept, of the whole, after resolving, IMAGE_PATH_MAX. *query is what stands
 * between `?` and `#`, undecoded. True if another way of reading may lead elsewhere. */
bool flow_path_read(struct text target, unsigned how, struct flow_path *out, struct text *query);
/* Every other reading that differs from `widest` (how: FLOW_PATH_WIDEST) and from each other: at most
 * FLOW_PATH_OTHERS, into an array of FLOW_PATH_OTHERS + 1. Returns how many. */
size_t flow_path_others(struct text target, const struct flow_path *widest, struct flow_path *out);
/* The authority of an absolute-form target (without user information), or false. *rest: what follows it. */
bool flow_path_authority(struct text target, struct text *authority, struct text *rest);

/* ---- answer -------------------------------------------------------------------------------------- */

struct flow_header {
	struct text name; /* canonical case: "X-RateLimit-Limit" */
	struct text value;
};
#define FLOW_HEADERS_MAX 12
struct flow_answer {
	struct flow_header headers[FLOW_HEADERS_MAX]; /* for allowed and refused answers alike */
	size_t header_count;
	struct text expose; /* for Access-Control-Expose-Headers; "": nothing to expose, or not mirrored */
	struct text body, content_type; /* refused only: negotiated from Accept; may point into the image */
	/* Answer as gRPC trailers-only: HTTP 200, grpc_status, and `body` (percent-encoded) as grpc-message.
	 */
	bool grpc;
	unsigned grpc_status; /* 8 RESOURCE_EXHAUSTED; 7 PERMISSION_DENIED: deny lists and missing keys */
	char buffer[2048];
	size_t used;
};
/* The headers of the verdict; `accept` (may be empty) chooses the body. Nothing is allocated; texts point
 * into *out, the image or static memory. wall: seconds since 1970. FLOW_CLOSE has neither. */
void flow_answer(const struct flow *flow, struct text accept, int64_t wall, struct flow_answer *out);
/* Only the fields of a verdict, those of `headers` (IMAGE_HEADERS_*) instead of the policy's; Retry-After if it is
 * asked for and time ends the refusal. */
void flow_fields(const struct flow *flow, uint32_t headers, bool retry_after, int64_t wall,
		 struct flow_answer *out);

#endif
