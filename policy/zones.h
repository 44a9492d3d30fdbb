/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zones: what nginx's limit_req_zone and limit_conn_zone say, as an image of its own: so that publication, ledger, statistics,
 * `weir show` and snapshots serve them as they serve a policy.
 */
#ifndef WEIR_POLICY_ZONES_H
#define WEIR_POLICY_ZONES_H

#include "policy/policy.h"

struct zone_spec {
	struct text name; /* as nginx's, 1..255 bytes: the limit's name */
	struct text key;  /* as written in the configuration: part of the counters' identity */
	bool connections; /* limit_conn_zone */
	/* of requests; exactly as limit_req counts (`nginx`), or in ns */
	bool nginx;
	uint32_t count; /* 0: a variable says */
	uint64_t period_ns;
	uint32_t burst;	     /* the largest of the lines that use it; connections: the largest N - 1 */
	struct text rate;    /* as written, for reading out: "2r/s", "$plan_rate"; connections: "" */
	const char *file;    /* where it stands */
	unsigned line;
};

/* A rate as nginx's limit_req_zone has it (`2r/s`, `30r/m`, `30`), and as people ask for it: r/h, r/d, r/w and
 * `10r/5s`, `100r/15m`, `1r/2h` (a number before the unit). *nginx: nginx takes it too, and it is at most 1,000
 * per second, so that algo_limit_req counts it. False: none of these, 0, or beyond a million a second or slower than
 * one a year. */
bool zones_rate(struct text text, uint32_t *count, uint64_t *period_ns, bool *nginx);

/* The image: limit i and counter i are zone i, every limit without a match, its key a `var` part that shows what was
 * written. malloc()ed; NULL with a sentence in `why`. `name_space` is part of every identity ("nginx"), `source` the
 * configuration file. Numbers that are out of range are a mistake of the caller. */
struct image *zones_image(const struct zone_spec *zones, size_t count, const char *name_space, const char *source,
			  int64_t compiled_at, char *why, size_t size);

/* What becomes of the counters if `fresh` takes the place of `old`, as publish_report.words has it, without a table: for
 * `nginx -t`. "": nothing changes. */
void zones_difference(const struct image *old, const struct image *fresh, char *words, size_t size);

#endif
