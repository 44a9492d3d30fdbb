/* SPDX-License-Identifier: BSD-2-Clause */
/* pace: how fast responses go, each by itself and all of a key together (mission B7). */
#include "tests/flow/visit.h"

#define A   "GET /files/a from 1.2.3.4"
#define B   "GET /files/b from 5.6.7.8"
#define KIB UINT64_C(1024)

static const struct {
	const char *what, *policy;
	uint64_t bytes_per_s, free_bytes, total;
} rows[] = {
	{"one limit", "  d: {match: /files/*, bandwidth: 1MiB/s after 500KiB}\n", 1024 * KIB, 500 * KIB, 0},
	{"without a free beginning", "  d: {bandwidth: 100KiB/s}\n", 100 * KIB, 0, 0},
	{"another path", "  d: {match: /x/*, bandwidth: 1MiB/s after 500KiB}\n", 0, 0, 0},
	{"several: the slowest, and the first to begin",
	 "  a: {bandwidth: 2MiB/s after 100KiB}\n  b: {bandwidth: 1MiB/s after 500KiB}\n", 1024 * KIB,
	 100 * KIB, 0},
	{"... in either order",
	 "  a: {bandwidth: 1MiB/s after 500KiB}\n  b: {bandwidth: 2MiB/s after 100KiB}\n", 1024 * KIB,
	 100 * KIB, 0},
	{"a total", "  d: {total: 100KiB/s}\n", 0, 0, 100 * KIB},
	{"two totals: the smaller is told", "  d: {total: 100KiB/s}\n  e: {key: site, total: 70KiB/s}\n", 0,
	 0, 70 * KIB},
	{"both", "  d: {bandwidth: 50KiB/s, total: 100KiB/s}\n", 50 * KIB, 0, 100 * KIB},
	{"a shadow does nothing", "  d: {bandwidth: 50KiB/s, total: 100KiB/s, mode: shadow}\n", 0, 0, 0},
	{"nor a disabled one", "  d: {bandwidth: 50KiB/s, mode: disabled}\n", 0, 0, 0},
	{"who is exempt goes as he likes",
	 "  d: {bandwidth: 50KiB/s, total: 9KiB/s, exempt: [{ip: 1.2.3.4}]}\n", 0, 0, 0},
	{"a refusal goes as it likes", "  d: {bandwidth: 50KiB/s, total: 100KiB/s, rate: 0/s}\n", 0, 0, 0},
	{"without its key, skipped", "  d: {key: header.x-key, missing: skip, bandwidth: 50KiB/s}\n", 0, 0,
	 0},
};

static void paces(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct world world;
		struct flow_pace pace;
		char policy[256];

		snprintf(policy, sizeof policy, "limits:\n%s", rows[i].policy);
		world_open(&world, policy);
		world_ask(&world, A);
		flow_pace(world.flow, &pace);
		is_u64(pace.bytes_per_s, rows[i].bytes_per_s, rows[i].what);
		is_u64(pace.free_bytes, rows[i].free_bytes, "... its free beginning");
		is_u64(pace.total, rows[i].total != 0, "... whether all of a key are paced together");
		is_u64(pace.total_bytes_per_s, rows[i].total, "... and how fast");
		world_close(&world);
	}
}

static void words(void)
{
	struct world world;

	world_open(&world, "limits:\n  d: {match: /files/*, bandwidth: 1MiB/s}\n"
			   "  e: {match: /keyed, key: header.x-key, missing: deny, bandwidth: 1MiB/s}\n");
	is_str(world_says(&world, A), "PASSED", "a pace is a limit that was met");
	is_u64(world.flow->verdict.limit_index, FLOW_NONE, "... of which no field tells");
	is_str(world_says(&world, "GET /x from 1.2.3.4"), "UNLIMITED", "... or not");
	is_str(world_says(&world, "GET /keyed from 1.2.3.4"), "MISSING",
	       "what it is keyed by can be missing");
	is_u64(world.flow->verdict.http_status, 403, "... and is denied");
	world_close(&world);
}

/* What a bucket waits: never longer than the numbers say, and shorter by less than a nanosecond's refill. The table's
 * time is the machine's, so the phase of its virtual clock differs from run to run. */
static void waits(uint64_t wait, uint64_t ns, const char *what)
{
	is_u64(wait + (wait + 1 == ns), ns, what);
}

/* 100 KiB/s for all responses of a client: at once what a second gives, then as it comes. */
static void total(void)
{
	struct world world;
	struct visit *one, *two, *other;
	uint64_t wait, got, sum = 0, early = 0, late = 0;

	world_open(&world, "limits:\n  d: {total: 100KiB/s}\n");
	one = visit_open(&world, A, true);
	two = visit_open(&world, A, true);
	other = visit_open(&world, B, true);
	is_u64(flow_pace_take(one->flow, &world.time, 1, 0, &wait), KIB, "whole KiB");
	is_u64(flow_pace_take(one->flow, &world.time, 99 * KIB - 1, 0, &wait), 99 * KIB,
	       "what is there is given");
	is_u64(wait, 0, "... at once");
	is_u64(flow_pace_take(two->flow, &world.time, 5000, 0, &wait), 0,
	       "then nothing, in another response neither");
	ok(wait > 0 && wait <= SECOND, "... for a while");
	is_u64(flow_pace_take(other->flow, &world.time, 1 << 20, 0, &got), 100 * KIB,
	       "another client has his own");
	for (int i = 0; i < 200; i++) { /* two take turns, as soon as they may */
		struct visit *who = i % 2 ? one : two;
		if (wait) {
			world_pass(&world, wait - 1);
			early += flow_pace_take(who->flow, &world.time, 20 * KIB, 0, &got) != 0;
			world_pass(&world, 1);
		}
		got = flow_pace_take(who->flow, &world.time, 20 * KIB, 0, &wait);
		late += wait == 0 && got == 0;
		sum += got;
	}
	is_u64(early, 0, "before it may there is nothing");
	is_u64(late, 0, "... and then there is");
	uint64_t fair = (world.time.now - one->flow->time.now) / 1000 * 100 * KIB / 1000000;
	ok(sum <= fair + 1, "together they are not faster");
	ok(sum + 13 * KIB > fair, "... nor slower, but for a piece");
	note("%llu of %llu bytes", (unsigned long long)sum, (unsigned long long)fair);
	visit_close(&world, one);
	visit_close(&world, two);
	visit_close(&world, other);
	world_close(&world);
}

static void all_or_none(void)
{
	struct world world;
	struct visit *one, *other;
	uint64_t wait;

	world_open(&world, "limits:\n  own: {total: 100KiB/s}\n  all: {key: site, total: 150KiB/s}\n");
	one = visit_open(&world, A, true);
	other = visit_open(&world, B, true);
	is_u64(flow_pace_take(one->flow, &world.time, 1 << 20, 0, &wait), 100 * KIB,
	       "of two totals the smaller decides");
	is_u64(flow_pace_take(other->flow, &world.time, 1 << 20, 0, &wait), 50 * KIB,
	       "... and what is left of the other");
	is_u64(flow_pace_take(other->flow, &world.time, 1 << 20, 0, &wait), 0, "... then nothing");
	is_u64(visit_left(&world, other, 0), 50, "... and none is taken from his own");
	visit_close(&world, one);
	visit_close(&world, other);
	world_close(&world);
}

static void returns(void)
{
	struct world world;
	struct visit *one;
	uint64_t wait;

	world_open(&world, "limits:\n  d: {total: 100KiB/s}\n");
	one = visit_open(&world, A, true);
	flow_pace_take(one->flow, &world.time, 100 * KIB, 0, &wait);
	flow_pace_return(one->flow, &world.time, 50000);
	is_u64(visit_left(&world, one, 0), 48, "what is not sent goes back, in whole KiB");
	flow_pace_return(one->flow, &world.time, 1 << 30);
	is_u64(visit_left(&world, one, 0), 100, "never more than was taken");
	flow_pace_take(one->flow, &world.time, 60 * KIB, 0, &wait);
	flow_pace_take(one->flow, &world.time, 40 * KIB, 0, &wait);
	flow_pace_return(one->flow, &world.time, 70 * KIB);
	is_u64(visit_left(&world, one, 0), 70, "of several pieces, the last first");
	flow_pace_return(one->flow, &world.time, 30 * KIB);
	is_u64(visit_left(&world, one, 0), 100, "... then all of it");
	flow_pace_take(one->flow, &world.time, 100 * KIB, 0, &wait);
	world_pass(&world, 2 * SECOND);
	flow_pace_return(one->flow, &world.time, 100 * KIB);
	is_u64(visit_left(&world, one, 0), 100, "what has been refilled since is not given twice");
	flow_pace_take(one->flow, &world.time, 100 * KIB, 0, &wait);
	is_u64(flow_pace_take(one->flow, &world.time, 100 * KIB, 0, &wait), 0,
	       "... so that no more than all of it can be had");
	is_u64(flow_pace_take(one->flow, &world.time, 0, 0, &wait), 0, "nothing wanted, nothing taken");
	is_u64(wait, 0, "... and nothing to wait for");
	visit_close(&world, one);
	world_close(&world);
}

/* A beginning, or who has waited for long, need not wait for its turn: what comes next is lent, and owed. */
static void early(void)
{
	struct world world;
	struct visit *one, *two;
	uint64_t wait, lent = 0, got;

	world_open(&world, "limits:\n  d: {total: 100KiB/s}\n");
	one = visit_open(&world, A, true);
	two = visit_open(&world, A, true);
	is_u64(flow_pace_take(one->flow, &world.time, 100 * KIB, SECOND, &wait), 100 * KIB, "what is there");
	is_u64(flow_pace_take(two->flow, &world.time, 1, SECOND / 100, &wait), KIB, "a little is lent");
	is_u64(flow_pace_take(two->flow, &world.time, 8 * KIB, SECOND / 100, &wait), 0,
	       "... no more than comes so soon");
	waits(wait, (9 - 1) * SECOND / 100, "... and the rest of the time is told");
	while ((got = flow_pace_take(two->flow, &world.time, 1 << 20, SECOND, &wait)) != 0) {
		is_u64(got, 12 * KIB, "a piece at a time is lent");
		lent += got;
	}
	is_u64(lent, 96 * KIB, "... and a second's worth at most");
	is_u64(flow_pace_take(one->flow, &world.time, 12 * KIB, 0, &wait), 0, "it is owed by all");
	waits(wait, (1 + 96 + 12) * SECOND / 100, "... for as long as it takes");
	world_pass(&world, wait);
	is_u64(flow_pace_take(one->flow, &world.time, 12 * KIB, 0, &wait), 12 * KIB, "... and no longer");
	visit_close(&world, one);
	visit_close(&world, two);

	/* of a second bucket nothing is taken that the first does not lend */
	world_close(&world);
	world_open(&world, "limits:\n  own: {total: 80KiB/s}\n  all: {key: site, total: 160KiB/s}\n");
	one = visit_open(&world, A, true);
	flow_pace_take(one->flow, &world.time, 80 * KIB, 0, &wait);
	is_u64(flow_pace_take(one->flow, &world.time, 40 * KIB, SECOND, &wait), 10 * KIB,
	       "of two totals one lends");
	is_u64(visit_left(&world, one, 1), 70, "... and the other gives as much");
	visit_close(&world, one);
	world_close(&world);
}

/* A process that is to end has responses to send, for hours: it pays for them all the same. */
static void leaving(void)
{
	struct world world;
	struct visit *one, *two;
	struct flow_pace pace;
	struct table_look look;
	uint64_t wait;

	world_open(&world, "limits:\n  d: {total: 100KiB/s}\n");
	one = visit_open(&world, A, true);
	two = visit_open(&world, A, true);
	flow_pace(one->flow, &pace);
	flow_pace(two->flow, &pace);
	flow_pace(two->flow, &pace);
	table_retire(world.table);
	is_u64(flow_pace_take(one->flow, &world.time, 60 * KIB, 0, &wait), 60 * KIB,
	       "in a process that leaves");
	is_u64(flow_pace_take(two->flow, &world.time, 60 * KIB, 0, &wait), 40 * KIB, "... they still share");
	visit_close(&world, one);
	is_u64(flow_pace_take(two->flow, &world.time, 60 * KIB, 0, &wait), 0, "... until the last has ended");
	is_u64(table_charge(world.table, &two->flow->hits[0].key, image_counter_at(world.env.image, 0)->row,
			    &world.time, 1, &look),
	       TABLE_REFUSED, "... while it is there, the slot is");
	flow_end(two->flow, &world.time);
	is_u64(table_charge(world.table, &two->flow->hits[0].key, image_counter_at(world.env.image, 0)->row,
			    &world.time, 1, &look),
	       TABLE_NO_ROOM, "... then it is not");

	/* what the table does not hold, here because it is too late */
	world_pass(&world, 10 * SECOND);
	is_u64(flow_pace_take(two->flow, &world.time, 50 * KIB, 0, &wait), 50 * KIB,
	       "what the table does not hold passes");
	is_u64(flow_pace_take(two->flow, &world.time, 50 * KIB, SECOND, &wait), 0,
	       "... not faster than a total");
	waits(wait, SECOND / 2, "... but as fast");
	world_pass(&world, wait);
	is_u64(flow_pace_take(two->flow, &world.time, 50 * KIB, 0, &wait), 50 * KIB, "... and goes on");
	free(two->flow);
	free(two);
	world_close(&world);
}

int main(void)
{
	paces();
	words();
	total();
	all_or_none();
	returns();
	early();
	leaving();
	return done_testing();
}
