/* SPDX-License-Identifier: BSD-2-Clause */
/* describe: what a look says in units and waits, of every kind, with what others hold. */
#include "table/log.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define NOW (UINT64_C(100) * RIG_SECOND)
#define MS  UINT64_C(1000000)

enum kind { BUCKET, WINDOW, LOG, FLIGHT };

static struct algo_numbers numbers_of(enum kind kind)
{
	struct algo_numbers log, flight;
	if (!algo_sliding_log(10, RIG_SECOND, &log) || !algo_concurrent(10, &flight))
		rig_die("numbers", "refused");
	switch (kind) {
	case BUCKET:
		return rig_token(10, RIG_SECOND, 10);
	case WINDOW:
		return rig_window(10, RIG_SECOND, ALGO_FIRST_REQUEST);
	case LOG:
		return log;
	default:
		return flight;
	}
}

static const struct {
	const char *name;
	enum kind kind;
	uint32_t used, held, cost;
	bool allowed, charged;
	uint64_t fits_at, empty_at; /* log: after NOW */
	uint32_t remaining;
	uint64_t wait, full;
} cases[] = {
	{"a bucket alone", BUCKET, 4, 0, 1, true, false, 0, 0, 6, 0, 400 * MS},
	{"a bucket, all of it used", BUCKET, 10, 0, 2, false, false, 0, 0, 0, 200 * MS, 1000 * MS},
	{"a bucket, some of it held", BUCKET, 4, 3, 1, true, false, 0, 0, 3, 0, 400 * MS},
	{"a bucket, the rest of it held", BUCKET, 4, 6, 1, false, false, 0, 0, 0, 100 * MS, 400 * MS},
	{"a bucket, all of it held", BUCKET, 0, 10, 1, false, false, 0, 0, 0, 1000 * MS, 0},
	{"a bucket, more than fits ever", BUCKET, 4, 3, 11, false, false, 0, 0, 3, ALGO_NEVER, 400 * MS},
	{"a window, some of it held", WINDOW, 7, 2, 2, false, false, 0, 0, 1, 1000 * MS, 1000 * MS},
	{"a log alone", LOG, 4, 0, 6, true, false, 0, 700 * MS, 6, 0, 700 * MS},
	{"a log, full", LOG, 10, 0, 1, false, false, 300 * MS, 900 * MS, 0, 300 * MS, 900 * MS},
	{"a log just charged, room for the same again", LOG, 5, 0, 5, true, true, 0, 900 * MS, 5, 0,
	 900 * MS},
	{"a log just charged, no room", LOG, 6, 0, 5, true, true, 300 * MS, 900 * MS, 4, 300 * MS, 900 * MS},
	{"a log, more than fits ever", LOG, 4, 0, 11, false, false, 0, 700 * MS, 6, ALGO_NEVER, 700 * MS},
	{"a log, the rest held", LOG, 4, 6, 1, false, false, 300 * MS, 700 * MS, 0, 1000 * MS, 700 * MS},
	{"in flight", FLIGHT, 0, 3, 1, true, false, 0, 0, 7, 0, 0},
	{"in flight, full", FLIGHT, 0, 10, 1, false, false, 0, 0, 0, 1000 * MS, 0},
	{"in flight, the last", FLIGHT, 0, 10, 1, true, true, 0, 0, 0, 1000 * MS, 0},
	{"in flight, one's own and room", FLIGHT, 0, 4, 1, true, true, 0, 0, 6, 0, 0},
	{"in flight, more than fits ever", FLIGHT, 0, 0, 11, false, false, 0, 0, 10, ALGO_NEVER, 0},
};

int main(void)
{
	struct algo_time t = {.now = NOW};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct algo_outcome outcome = {0};
		struct algo_report report;
		struct table_look look = {.numbers = numbers_of(cases[i].kind),
					  .allowed = cases[i].allowed,
					  .held = cases[i].held};
		if (cases[i].kind == LOG) {
			look.used = cases[i].used;
			look.fits_at = cases[i].fits_at ? NOW + cases[i].fits_at : 0;
			look.empty_at = cases[i].empty_at ? NOW + cases[i].empty_at : 0;
		} else if (cases[i].kind != FLIGHT) {
			algo_step(&look.numbers, 0, &t, cases[i].used, &outcome);
			look.state = outcome.state;
		}
		table_describe(&look, &t, cases[i].cost, cases[i].charged, &report);
		is_u64(report.limit, 10, cases[i].name);
		is_u64(report.remaining, cases[i].remaining, "  remaining");
		uint64_t late = cases[i].kind == WINDOW ? 32 : 0; /* a window's end is rounded up */
		ok(report.wait_ns - cases[i].wait <= late, "  wait");
		ok(report.full_ns - cases[i].full <= late, "  until nothing is remembered");
		if (report.wait_ns - cases[i].wait > late)
			note("waits %" PRIu64 ", expected %" PRIu64, report.wait_ns, cases[i].wait);
	}
	return done_testing();
}
