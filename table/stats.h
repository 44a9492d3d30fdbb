/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats: what was decided, counted per process on lines of its own and summed on reading (T5).
 *
 * Counters only grow, also across the death and reuse of a process slot.
 */
#ifndef WEIR_TABLE_STATS_H
#define WEIR_TABLE_STATS_H

#include <string.h>

#include "table/atomic.h"
#include "table/table.h"

#define STATS_LIMIT(X)                                                                                       \
	X(allowed, "requests allowed")                                                                       \
	X(refused, "requests refused")                                                                       \
	X(shadow, "requests a shadow limit would have refused")                                              \
	X(delayed, "requests that waited their turn")                                                        \
	X(cost, "units charged")                                                                             \
	X(exempt, "requests counted but not limited: exempt")                                                \
	X(missing, "requests without the key, handled as `missing` says")                                    \
	X(no_room, "requests that found no room in the table")

#define STATS_PROCESS(X)                                                                                     \
	X(decisions, "requests decided")                                                                     \
	X(unmatched, "requests that matched no limit")                                                       \
	X(denied, "requests refused by the deny list")                                                       \
	X(inserted, "keys inserted")                                                                         \
	X(evicted, "recovered keys replaced")                                                                \
	X(evicted_live, "keys evicted before they had recovered")                                            \
	X(converted, "counters carried over to new numbers")                                                 \
	X(no_room, "charges that found no room")                                                             \
	X(retries, "compare-and-swap retries")                                                               \
	X(untrusted, "requests with a forwarding header from an untrusted peer")                             \
	X(policy_errors, "times a published policy could not be mapped")                                     \
	X(unknown, "requests with an unknown API key or an invalid token")                                   \
	X(unsettled, "answers without the number that a limit is settled by")

struct stats_limit { /* one cache line */
#define X(name, help) uint64_t name;
	STATS_LIMIT(X)
#undef X
};
struct stats_process { /* two cache lines */
#define X(name, help) uint64_t name;
	STATS_PROCESS(X)
#undef X
	uint64_t spare[3];
};

/* A recent happening, one ring per process: who was refused, which address was not trusted, who has used much of a quota. */
enum stats_event_kind {
	STATS_EVENT_NONE,
	STATS_EVENT_REFUSED,
	STATS_EVENT_SHADOW,
	STATS_EVENT_UNTRUSTED,
	STATS_EVENT_DENIED,
	STATS_EVENT_NOTICE /* `count`: per cent of a quota that are used; stats_notice_quota says of how much */
};
struct stats_event {	/* 128 bytes */
	uint64_t at;	/* table time, ns; 0: empty */
	uint8_t kind;	/* enum stats_event_kind */
	uint8_t length; /* bytes of text */
	uint16_t stat;	/* limit's statistics index */
	uint32_t count; /* requests this one stands for since the last such event */
	char text[112]; /* the key or address, as the client sent it: hostile, not NUL-terminated */
};
#define STATS_EVENTS	  16
#define STATS_NOTICE_TEXT 108u /* most bytes of a notice's text; the quota stands behind them */
static inline uint32_t stats_notice_quota(const struct stats_event *event)
{
	uint32_t quota;
	memcpy(&quota, event->text + STATS_NOTICE_TEXT, sizeof quota);
	return quota;
}

/* This handle's own counters: add with stats_add (single writer, read by others). A read-only handle
 * has a private dummy, so callers need not care. `stat` is masked. */
struct stats_limit *stats_limit(struct table *table, uint16_t stat);
struct stats_process *stats_process(struct table *table);
static inline void stats_add(uint64_t *counter, uint64_t n)
{
	atomic_add_own(counter, n);
}
void stats_event(struct table *table, const struct stats_event *event);

/* Sums over all process slots. */
void stats_limit_sum(struct table *table, uint16_t stat, struct stats_limit *out);
void stats_process_sum(struct table *table, struct stats_process *out);
/* Name of a statistics entry, "" if unused. Valid until the next call on this handle. */
const char *stats_name(struct table *table, uint16_t stat);
/* Events of all processes, newest first; returns how many were written to out (at most max). */
size_t stats_events(struct table *table, struct stats_event *out, size_t max);

#endif
