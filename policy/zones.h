/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zones: what nginx's limit_req_zone and limit_conn_zone say, as an image of its own (IMAGE_OF_ZONES): so that publication,
 * ledger, statistics, `weir show` and snapshots serve them as they serve a policy.
 */
#ifndef WEIR_POLICY_ZONES_H
#define WEIR_POLICY_ZONES_H

#include "policy/policy.h"

struct zone_spec {
	struct text name; /* as nginx's, 1..255 bytes, any; each name once: the limit's name */
	struct text key;  /* as written in the configuration: part of the counters' identity */
	bool connections; /* limit_conn_zone: of what follows only burst */
	bool nginx;	  /* exactly as limit_req counts (ALGO_CLOCK_MS), or in ns */
	uint32_t count;	  /* 0: a variable says */
	uint64_t period_ns;
	uint32_t
		burst; /* the largest of the lines that use it, below ALGO_BURST_MAX; connections: the largest N - 1 */
	bool burst_varies; /* a variable says that of a line: whatever the others say, nobody knows the largest */
	uint64_t bytes;	  /* its size as written, for its share of the table; 0 of all: no quotas */
	struct text rate; /* as written, for reading out: "2r/s", "$plan_rate" */
	const char *
		file; /* where it stands, for `why`; not part of the image: an edit above it changes nothing */
	unsigned line;
};

/* A rate as nginx's limit_req_zone has it (`2r/s`, `30r/m`, `30`), and as people ask for it: r/h, r/d, r/w and
 * `10r/5s`, `100r/15m`, `1r/2h` (a number before the unit, up to a million). *nginx: nginx takes it too, and it is at most
 * 1,000 per second, so that algo_limit_req counts it; otherwise it is for algo_limit_req_exact. Beyond a million a second
 * nginx's own forms are a million a second (nobody sends more, and nginx refuses none of them): then *cut (NULL: not
 * asked); the others are false. False too: none of these forms, 0, slower than one in 366 days, a period of 36 years. */
bool zones_rate(struct text text, uint32_t *count, uint64_t *period_ns, bool *nginx, bool *cut);

/* Is a zone's key, as written, $binary_remote_addr: an address in 4 or 16 bytes, which people write otherwise? */
static inline bool zones_key_is_address(struct text key)
{
	return text_equal(key, TEXT("$binary_remote_addr")) || text_equal(key, TEXT("${binary_remote_addr}"));
}

/* The image: limit i and counter i are zone i, every limit without a match, in no list of clauses, its key one `var` part
 * without a name: the bytes that count are keybytes_part(IMAGE_KEY_VAR, "", the value's size) and the value.
 * Names, keys and rates stand there as people can read them: control characters and the backslash as \xNN, so that two
 * that differ still do. malloc()ed; NULL with a sentence in `why` ("nginx.conf:12: …"), also for numbers out of range or a
 * name that comes twice, which are mistakes of the caller. `name_space` is part of every identity ("nginx"), `source` the
 * configuration file. The same zones in the same order give the same bytes but for `compiled_at`. */
struct image *zones_image(const struct zone_spec *zones, size_t count, const char *name_space,
			  const char *source, int64_t compiled_at, char *why, size_t size);

/* What becomes of the counters if `fresh` takes the place of `old` (NULL: nothing to compare), as publish_report.words
 * has it, without a table: for `nginx -t`. "": nothing changes. How many zones begin anew: as many of the first lines say
 * so, or all, if they are more than have room. */
size_t zones_difference(const struct image *old, const struct image *fresh, char *words, size_t size);

/* May zones be published where `old` is in force (NULL: nothing)? Not over a policy: policy_publish refuses both ways
 * (WEIR_OTHER_KIND); this is for saying so earlier. */
bool zones_may_replace(const struct image *old);

/* Where the table of `nginx_conf`'s zones stands when nobody names a place, for workers of `uid`: table_default_path of
 * "nginx:" + the absolute path, as policy_table_path. False: it does not fit; *out is then "". */
bool zones_table_path(const char *nginx_conf, unsigned uid, char *out, size_t size);

#endif
