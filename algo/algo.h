/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * algo: how much may still pass, as pure arithmetic.
 *
 * A counter is one 64-bit word. `algo_step` takes the word, the limit's numbers,
 * the time and a cost, and answers with the next word and whether the request is
 * allowed. Nothing here reads a clock, allocates, locks or fails, and nothing
 * here knows where the word is kept.
 *
 * Words. Bits 63 and 62 are always 0: the table marks claims and cells with them. The word 0 means
 * "fully recovered" for every kind.
 *
 *   bucket (token, leaky)  TAT: the virtual time at which the bucket is whole again,
 *                          in units of 2^-shift tokens; virtual time at `now` is
 *                          floor(now * scale / 2^64). The debt is TAT - virtual(now),
 *                          never clamped on reading: after a settlement it may exceed
 *                          the capacity. (GCRA: ITU-T I.371, "virtual scheduling".)
 *   window (fixed)         end << count_bits | count; the end is table time in units
 *                          of 2^shift ns, rounded up (late by less than 2N ns), so it
 *                          never wraps in 36 years. An ended window is as good as none.
 *   sliding window         index << 2 count_bits | previous << count_bits | current; windows are
 *                          the multiples of the period in table time, index = now / period.
 *   log                    until << 16 | next: the ring's word. The admissions themselves are cells,
 *                          which the table keeps (table/log.h); until is when the newest of them ends,
 *                          in units of 2^shift ns, rounded up. algo can say when such a word has recovered,
 *                          rank and share it; whether a cost fits only the table can.
 *   concurrent             never stored; only cells (table/hold.h).
 *   nginx                  TAT, as a bucket's, in nginx's own steps (algo/limit_req.h).
 *   ban                    until << 6 | level: no rate; nobody passes before `until` (algo/ban.h). A step asks, and charges nothing.
 */
#ifndef WEIR_ALGO_ALGO_H
#define WEIR_ALGO_ALGO_H

#include <stdbool.h>
#include <stdint.h>

#define ALGO_NEVER     UINT64_MAX	   /* a wait that no time ends, or only 584 years */
#define ALGO_TIME_MAX  (UINT64_C(1) << 60) /* table time in ns stays below this: 36 years of a table's life */
#define ALGO_COUNT_MAX UINT32_C(1000000000) /* largest N of a window (a month of tokens) */
#define ALGO_BURST_MAX UINT32_C(1000000)    /* largest burst, queue and cost of a bucket */
#define ALGO_DEBT_MAX  (UINT64_C(1) << 60)  /* debts saturate here, in units */
#define ALGO_LOG_MAX   UINT32_C(65535)	    /* largest N of a log, and of requests in flight */

/* name, word in the policy file, sentence for the reference */
#define ALGO_KINDS(X)                                                                                        \
	X(TOKEN_BUCKET, "token-bucket", "N at once, then an even refill")                                    \
	X(LEAKY_BUCKET, "leaky-bucket", "excess waits its turn in a queue drained at the rate")              \
	X(FIXED_WINDOW, "fixed-window", "N in each window")                                                  \
	X(SLIDING_WINDOW, "sliding-window", "N in a window that slides: the one before counts in part")      \
	X(SLIDING_LOG, "sliding-log", "N in every window, wherever it starts")                               \
	X(CONCURRENT, "concurrent", "N at the same time")                                                    \
	X(LIMIT_REQ, "nginx", "the leaky bucket of nginx's limit_req, to the bit")                           \
	X(BAN, "ban", "nobody passes for a while")

enum algo_kind {
	ALGO_NONE = 0,
#define X(name, word, help) ALGO_##name,
	ALGO_KINDS(X)
#undef X
		ALGO_KIND_COUNT
};

/* Is what is used kept in cells of the table, not in a word? */
#define ALGO_IN_CELLS(kind) ((unsigned)(kind) - (unsigned)ALGO_SLIDING_LOG < 2u)

/* Where a window begins and ends. CLOCK: multiples of the period on the wall clock, UTC,
 * counted from Monday 1970-01-05 for whole weeks, else from 1970-01-01. CALENDAR: the next
 * day, Monday (ISO 8601), first of the month, first of January, or hour, where the clocks of a time
 * zone say so (numbers.zone; UTC if that is 0). BILLING: day 1..31 of each month, 31 being the last day of a shorter one,
 * on the same clocks (align_billing_next). */
enum algo_align {
	ALGO_FIRST_REQUEST = 0,
	ALGO_CLOCK,
	ALGO_CALENDAR_DAY,
	ALGO_CALENDAR_WEEK,
	ALGO_CALENDAR_MONTH,
	ALGO_CALENDAR_YEAR,
	ALGO_CALENDAR_HOUR,
	ALGO_BILLING = 32, /* + the day: ALGO_BILLING_DAY(1) .. ALGO_BILLING_DAY(31) */
};
#define ALGO_BILLING_DAY(day) ((enum algo_align)(ALGO_BILLING + (day)))
#define ALGO_BILLING_DAYS     31u
/* The day of a billing alignment, 0 of any other. */
static inline unsigned algo_align_day(unsigned align)
{
	return align > ALGO_BILLING && align <= ALGO_BILLING + ALGO_BILLING_DAYS ? align - ALGO_BILLING : 0;
}

/* The numbers of one counter, immutable once built. 40 bytes: they are part of the
 * ledger's row on shared memory, so the layout is a file format. */
struct algo_numbers {
	uint8_t kind;	    /* enum algo_kind */
	uint8_t align;	    /* enum algo_align, windows; enum algo_clock, nginx */
	uint8_t shift;	    /* bucket: a token is 2^shift units; window: an end tick is 2^shift ns */
	uint8_t count_bits; /* window: width of the count */
	uint32_t quantity;  /* N of "N per period", for reading out; the arithmetic does not use it */
	uint64_t scale; /* bucket: units per ns, Q64 (0: never refills); nginx: see enum algo_clock; others:
			       period in ns */
	uint64_t
		capacity; /* bucket: most debt a request may leave, in units; ban: the longest, in ns; others: N */
	union {
		struct {
			uint64_t at_once; /* leaky bucket: debt that need not wait, in units */
			uint64_t
				inverse; /* bucket: ns per unit, Q32, for ranking only; sliding window: windows per
					     ns, Q64, rounded down */
		};
		uint64_t zone[2]; /* calendar windows: the clocks they follow (algo/zone.h); 0: UTC */
	};
};

/* The two clocks of the kind `nginx`. MS is limit_req itself: time in whole ms, `scale` is what nginx calls rate,
 * thousandths of a request per second, and a unit is a millionth of a request. NS is the same bucket without the
 * rounding, for rates that nginx has no word for or does not deliver: a unit is 1 ns, and `scale` the ns that one
 * request takes; 0: who asks says how long (struct algo_bound). */
enum algo_clock { ALGO_CLOCK_MS = 0, ALGO_CLOCK_NS };

/* One counter, asked by several with bounds of their own: a zone of nginx has one rate and one excess for each key, and
 * each limit_req line its burst; limit_conn lines likewise. */
struct algo_bound {
	uint32_t
		burst; /* requests beyond the one that pass (nginx: excess may be so many), below ALGO_BURST_MAX;
			      concurrent: N - 1 */
	uint32_t at_once; /* of them so many need not wait; at most burst */
	uint64_t
		token_ns; /* what a request takes of a counter on ALGO_CLOCK_NS, 1 us to 366 days; 0: as the counter
			      says */
};
/* The numbers as this asker sees them: from here on step, describe and the others know nothing of bounds. Kinds
 * nginx and concurrent; others are unchanged. A counter that leaves it to the asker, who does not say either, takes a
 * second for each. */
void algo_bounded(const struct algo_numbers *n, const struct algo_bound *bound, struct algo_numbers *out);

/* What time it is. Both are read once per request by the door. */
struct algo_time {
	uint64_t now; /* table time in ns, below ALGO_TIME_MAX; may be late, never trusted to be monotonic */
	int64_t wall; /* wall clock (ns since 1970, UTC) minus `now`; aligned windows only */
};

struct algo_outcome {
	uint64_t state; /* the word to store if the request is charged (allowed, or a counted refusal) */
	bool allowed;
};

struct algo_report {
	uint32_t limit;	    /* most that can pass at once: burst, queue + 1, or N */
	uint32_t remaining; /* whole units left */
	uint64_t wait_ns;   /* until `cost` fits if nothing else is charged: 0 now, ALGO_NEVER if it cannot */
	uint64_t delay_ns;  /* leaky bucket: how long the request just charged waits for its turn */
	uint64_t full_ns;   /* until nothing is remembered any more */
};

/* Build the numbers. Each returns false, and leaves *out alone, if a value is out of range.
 * A count of 0 builds a limit that refuses everything (but cost 0).
 *   buckets: count 0..ALGO_BURST_MAX per period_ns, at most 1,000,000 per second, at least one per
 *           year (366 days). The rate is never slower than count/period, and faster by less than a
 *           unit in 584 years: a bucket never waits longer than count and period say.
 *   token:  burst 1..ALGO_BURST_MAX tokens.
 *   leaky:  queue 0..ALGO_BURST_MAX-1 wait, the first at_once <= queue of them do not. Capacity is
 *           queue + 1, so the arithmetic is nginx's limit_req (burst=queue, delay=at_once).
 *           max_wait_ns (0: none) shortens the queue to what drains in that time behind at_once:
 *           nobody waits longer. A cost of c is c requests in a row: all of them fit, or none is
 *           charged, and its delay is that of the first.
 *   window: count 0..ALGO_COUNT_MAX, at most 1,000,000 per second, period 1 ms .. 400 days;
 *           calendar and billing alignments ignore the period except for reading out. */
bool algo_token_bucket(uint32_t count, uint64_t period_ns, uint32_t burst, struct algo_numbers *out);
bool algo_leaky_bucket(uint32_t count, uint64_t period_ns, uint32_t queue, uint32_t at_once,
		       uint64_t max_wait_ns, struct algo_numbers *out);
bool algo_fixed_window(uint32_t count, uint64_t period_ns, enum algo_align align, struct algo_numbers *out);
/*   calendar windows of a zone: the same, align one of ALGO_CALENDAR_* or ALGO_BILLING_DAY; zone as algo/zone.h packs it. */
bool algo_calendar_window(uint32_t count, uint64_t period_ns, enum algo_align align, const uint64_t zone[2],
			  struct algo_numbers *out);
/*   the same window for clients of another billing day, 1..31. False for any other day, and numbers that follow none. */
bool algo_billing_day(const struct algo_numbers *n, unsigned day, struct algo_numbers *out);
/*   sliding window: count and period as a window's, as far as two counts and an index fit one word: up to 32,767
 *           in a second, 262,143 in a minute, 2,097,151 in an hour. What it estimates: previous * (1 - part of this
 *           window that has passed) + current (exactly, no rounding); allowed while that and the cost do not exceed
 *           N. How far from the truth that can be: algo/sliding.h.
 *   log:    count 0..ALGO_LOG_MAX, period as a window's. Exact; each unit is a cell of the table.
 *   concurrent: count 0..ALGO_LOG_MAX in flight. */
bool algo_sliding_window(uint32_t count, uint64_t period_ns, struct algo_numbers *out);
bool algo_sliding_log(uint32_t count, uint64_t period_ns, struct algo_numbers *out);
bool algo_concurrent(uint32_t count, struct algo_numbers *out);

/*   nginx:  limit_req with rate=count r/s (period 1 s, count 0..1000) or r/m (60 s, 0..60000), burst and
 *           delay=at_once as nginx has them (nodelay: at_once = burst). To the bit: the rate is cut to thousandths of a
 *           request per second (1r/m is 0.016/s, one in 62.5 s), time to ms, and the first request of a key is free.
 *           What else could be meant by count per period is limit_req_exact: the same bucket in ns, count
 *           0 (who asks says the rate) or at least one per year and at most 1,000,000 per s; what a request takes
 *           is cut to whole ns, so never slower than count/period. burst below ALGO_BURST_MAX; one that takes
 *           longer than 18 years to drain counts as that. (ngx_http_limit_req_module, nginx 1.22.1 to 1.31; the same since 2021.) */
bool algo_limit_req(uint32_t count, uint64_t period_ns, uint32_t burst, uint32_t at_once,
		    struct algo_numbers *out);
bool algo_limit_req_exact(uint32_t count, uint64_t period_ns, uint32_t burst, uint32_t at_once,
			  struct algo_numbers *out);
/* What nginx calls excess, in thousandths of a request, rounded as nginx does: of the request that has just been charged
 * (`charged`), or that would be. Kind nginx. */
uint64_t algo_excess(const struct algo_numbers *n, uint64_t state, uint64_t now, bool charged);

/* Would `cost` (0..ALGO_BURST_MAX; 0 always fits a recovered counter) be allowed in `state` at `t`?
 * out->state is the word after charging it. If it is refused, or cost is 0, out->state == state. A
 * clock that went back never gives anything; nor does a wall clock set back by less than half an
 * aligned window. */
void algo_step(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
	       struct algo_outcome *out);

/* The word after `cost` has been charged whether it fits or not (a cost that is known only afterwards): a bucket's
 * debt may exceed its capacity (up to ALGO_DEBT_MAX), a window's count saturates at what its bits hold. Buckets and
 * windows; any other word is returned as it is, and so is that of a limit of 0: it has nothing to remember. */
uint64_t algo_settle(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost);

/* The word after a refusal that is counted (`count_denied`): the counter is filled, never beyond its
 * capacity. A client that hammers a bucket waits one full cost from its last try; a window stays
 * full, and ends when it would have; of a sliding one less than a whole unit stays free. Logs: unchanged. */
uint64_t algo_punish(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost);

/* Take back `cost` charged at `charged_at` (table time). At once it is all of it (nginx: but for what the charge has
 * rounded up, less than a thousandth of a request). Later, a bucket owes
 * what cannot have drained since: it may have been whole in between, and then more would be given
 * than was taken. A window that has ended owes nothing; the one before a sliding window, what it still weighs. Never
 * below fully recovered. Logs: unchanged. */
uint64_t algo_give_back(const struct algo_numbers *n, uint64_t state, const struct algo_time *t,
			uint64_t charged_at, uint32_t cost);

/* Describe `state`. `charged`: the cost has just been charged and is in the word; delay_ns is then
 * its own wait (else 0), and wait_ns that of the next request of the same cost. Exact: after wait_ns the
 * step allows `cost`, one nanosecond earlier it does not. Of a log and a concurrent limit only what the word
 * says (table_describe knows the rest): until a log has recovered nothing left, and the longest that the wait can be;
 * a concurrent limit as if nothing were in flight. */
void algo_describe(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
		   bool charged, struct algo_report *out);

/* Nothing is remembered any more: the word can be forgotten without anyone noticing. */
bool algo_recovered(const struct algo_numbers *n, uint64_t state, uint64_t now);

/* Table time at which the word recovers, in ns, at most 2^-30 too early or late. */
uint64_t algo_rank(const struct algo_numbers *n, uint64_t state);

/* The share of its capacity that is used at `now`, in Q32, at most 2^-30 off: 0 for a recovered word,
 * UINT32_MAX from all of it on (a debt beyond the capacity too). Never less for more use of the same
 * numbers. With algo_rank it says whom to evict (table/evict.c). Of a log's word that has not recovered: one of N. It
 * only says where to look; its cells are evicted by their own worth. */
uint32_t algo_used(const struct algo_numbers *n, uint64_t state, uint64_t now);

/* The same share of use under other numbers: half used stays half used, rounded towards more used; between two of
 * nginx, the same number of requests, as nginx keeps its excess.
 * A window keeps its end if period and alignment are unchanged, else begins a new one now. It keeps it under
 * the clocks of another zone too: the next window follows those. Where only the billing day is another (a calendar month is that
 * of day 1), it goes on to the boundary of the new day that is nearest to its end, or to its end if that boundary has passed: so the
 * quota that was begun is neither lost nor had twice, and the window in which a day is changed lasts half to one and a half
 * months. A sliding window of the same period keeps both its
 * counts; what comes from elsewhere counts in the window that holds now. A log of another N keeps its ring; between
 * a log (or a concurrent limit) and another kind nothing is carried, since what they count is not in a word. A ban holds
 * until when it would have, whatever others last from now on; it becomes no other kind, nor another kind a ban. */
uint64_t algo_convert(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
		      const struct algo_time *t);

/* The period in ns that RateLimit-Policy's `w` speaks of: in it, `limit` can pass. Bucket:
 * capacity / rate (0 if nothing ever passes); window and log: the period; concurrent: 0. Ban: the longest that one is
 * remembered from its beginning on. */
uint64_t algo_window_ns(const struct algo_numbers *n);

/* Numbers read from a file that others can write: true if every operation above is defined on them. They need
 * not be numbers that the builders would make. */
bool algo_valid(const struct algo_numbers *n);

#endif
