/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model: a policy after checking and before compiling. The checker fills it, the compiler reads it; it lives
 * and dies inside policy_load. All memory comes from the arena; every value is in range, every name known.
 */
#ifndef WEIR_POLICY_MODEL_H
#define WEIR_POLICY_MODEL_H

#include "algo/limit_req.h"
#include "policy/arena.h"
#include "policy/image.h"

struct model_mark { /* where it stands, for findings that the compiler still makes */
	const char *file;
	unsigned line, column, width;
};

struct model_header_test {
	struct text name, value; /* name: lower case */
	uint32_t how;		 /* enum image_value */
};

struct model_clause {
	struct model_mark mark;
	struct text text;	  /* as written: the route */
	uint32_t methods;	  /* IMAGE_METHOD_ANY: none named */
	struct text path;	  /* as written, "" none; starts with '/' */
	struct text host;	  /* lower case, "" none; "*.example.com" keeps its star */
	struct network *networks; /* sorted, merged */
	size_t network_count;
	struct model_header_test *headers;
	size_t header_count;
	struct model_clause *nots;
	size_t not_count;
	uint64_t who; /* as in image_clause */
};

struct model_exception {
	struct model_mark mark;
	struct model_clause *clauses;
	size_t clause_count;
	struct network *networks;
	size_t network_count;
	int64_t until; /* wall clock seconds; 0: for ever */
	struct text reason;
	bool close;
	struct text *keys; /* names of API keys */
	size_t key_count;
};

struct model_respond {
	uint32_t status, headers, body; /* as in image_respond */
	bool cors_mirror;
	struct text file_type, file_text;
};

struct model_rate {
	struct model_mark mark;
	uint32_t count;		     /* requests (or units of cost) */
	uint64_t period_ns;	     /* 0.5/s is 1 per 2 s */
	struct text unit;	     /* "s", "15min": for the counter's name where there are several */
	struct algo_numbers numbers; /* built */
	uint32_t what;		     /* enum image_what, and as in image_counter: */
	uint32_t queue;
	uint64_t wait_ns, bytes_per_s, free_bytes;
	struct text zone;	  /* a calendar's, "" UTC */
	struct text written;	  /* as in image_counter */
	uint32_t asker;		  /* as there */
	uint32_t most;		  /* its capacity, if that is not the numbers'; else 0 */
	struct algo_numbers seen; /* as in image_counter, as the next */
	uint32_t soft;
	bool by_day;		       /* align: billing-day */
	uint16_t new_bits4, new_bits6; /* as in image_counter */
};

struct model_amount { /* as image_amount */
	uint32_t from, number;
	struct text name;
};
struct model_cost {
	struct model_mark mark;
	struct model_amount ask, settle; /* ask: its number is model_limit.cost, where it is one */
	uint32_t at_most, overdraw;	 /* at_most 0: the least that a rate of the limit holds */
};
struct model_where { /* as image_where */
	uint32_t said;
	struct text name;
};
struct model_variant {
	struct model_mark mark;
	uint32_t plan, how; /* as in image_variant */
	struct model_rate *rates;
	size_t rate_count;
};
struct model_clients { /* as image_clients; arrays in the order of the file */
	struct text keys_database, jwks_file, jwt_secret_file, jwt_issuer, own_limits;
	struct model_where *keys_from, *jwt_from, *plan_from, *session,
		*user_from; /* the last two: one, or none */
	size_t keys_from_count, jwt_from_count, plan_from_count, session_count, user_from_count;
	struct text *audiences;
	size_t audience_count;
	uint32_t keys_unknown, jwt_algorithms, jwt_leeway_s, jwt_invalid, plan_unknown, plan_none;
	bool privacy_hash;
};

struct model_limit {
	struct model_mark mark;
	struct text name, was; /* was: "" or the name before a rename */
	struct model_clause *clauses;
	size_t clause_count; /* 0: every request */
	struct text match_text;
	struct image_key_part *key; /* names as offsets are not used: see key_names */
	struct text *key_names;	    /* one per part, "" where the kind has none */
	size_t key_count;
	struct text key_text; /* canonical: "[ip, header.x-a | site]" */
	uint32_t missing, mode, cost;
	struct model_rate *rates;
	size_t rate_count;		 /* concurrency and bandwidth included */
	uint32_t count;			 /* enum image_count */
	uint32_t on_full;		 /* enum table_full */
	uint32_t quota;			 /* as in image_limit */
	struct image_statuses *failures; /* ascending, no two touch; none if count is all */
	size_t failure_count;
	bool count_denied, paths_exact, preflight_exempt, shared;
	struct model_exception *exempt;
	size_t exempt_count;
	struct model_respond respond; /* own, or the file's */
	/* as in image_limit */
	struct model_variant *variants; /* by plan, ascending */
	size_t variant_count;
	uint64_t who;
	bool plan_in_key, needs_body;
	uint32_t percent, candidate, instead;
	struct text instead_to;
	uint64_t instead_bytes_per_s;
	struct model_cost costs;
	struct {
		uint64_t ban_ns, most_ns, strikes_ns;
		uint32_t strikes;
	} then;
	struct image_key_part distinct; /* kind IMAGE_KEY_SITE: none */
	struct text distinct_name;
	uint8_t notify[4];
	uint32_t over_allow; /* `over`: per cent that the numbers of windows have on top */
	bool over;	     /* it is said */
};

struct model_route {
	struct model_mark mark;
	struct text match, to;
};

struct model {
	uint32_t kind;	    /* enum image_kind */
	struct text source; /* path of the policy file */
	uint64_t source_hash;
	struct text *listens;
	size_t listen_count;
	struct model_route *routes; /* one with an empty match for `to` */
	size_t route_count;
	uint64_t cache_bytes; /* as in image_gateway */
	uint32_t address_from;
	struct text address_header;
	struct network *trusted;
	size_t trusted_count;
	uint32_t ipv6_prefix;
	struct model_exception *exempt, *deny;
	size_t exempt_count, deny_count;
	uint32_t deny_status;
	struct model_limit *limits; /* in file order */
	size_t limit_count;
	struct model_clients clients;
	struct text *plans; /* names; an index is a plan's number */
	size_t plan_count;  /* at most IMAGE_PLANS_MAX */
};

/* The most that passes at once: N, or a bucket's tokens. 0: nothing (a bandwidth has no numbers). */
static inline uint32_t model_capacity(const struct algo_numbers *numbers)
{
	bool bucket = numbers->kind == ALGO_TOKEN_BUCKET || numbers->kind == ALGO_LEAKY_BUCKET;
	uint64_t most = bucket				  ? numbers->capacity >> numbers->shift
			: numbers->kind == ALGO_LIMIT_REQ ? numbers->capacity / limit_req_token(numbers)
							  : numbers->capacity;
	return most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

/* Build the image (malloc()ed). NULL with a sentence in `why` and the place in *mark if something cannot be
 * compiled (more than IMAGE_HITS_MAX limits could meet one request). name_space is part of every identity. */
struct image *model_compile(const struct model *model, const char *name_space, int64_t compiled_at,
			    struct model_mark *mark, char *why, size_t size);

#endif
