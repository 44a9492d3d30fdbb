/* SPDX-License-Identifier: BSD-2-Clause */
/* stats: counted by each, summed by anyone, kept across owners. */
#include "table/handle.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

static void check_counters(const struct rig *rig)
{
	struct table *a = rig_open(rig), *b = rig_open(rig), *eye = rig_open_as(rig, true);
	struct stats_limit sum;
	struct stats_process whole;

	stats_add(&stats_limit(a, 3)->allowed, 2);
	stats_add(&stats_limit(b, 3)->allowed, 5);
	stats_add(&stats_limit(b, 3)->cost, 7);
	stats_add(&stats_limit(b, 3 + TABLE_STAT_COUNT)->refused, 1);
	stats_add(&stats_process(a)->decisions, 9);
	stats_add(&stats_limit(eye, 3)->allowed, 1000);
	stats_add(&stats_process(eye)->decisions, 1000);
	stats_limit_sum(eye, 3, &sum);
	is_u64(sum.allowed, 7, "both handles' counts are summed, a reader's dummy is not");
	is_u64(sum.cost, 7, "each counter by itself");
	is_u64(sum.refused, 1, "an index is masked");
	stats_process_sum(b, &whole);
	is_u64(whole.decisions, 9, "per process");

	table_close(&a);
	table_close(&b);
	a = rig_open(rig);
	stats_add(&stats_limit(a, 3)->allowed, 1);
	stats_limit_sum(a, 3, &sum);
	is_u64(sum.allowed, 8, "a process slot's next owner goes on counting");
	table_close(&a);
	table_close(&eye);
}

static void check_events(const struct rig *rig)
{
	struct table *a = rig_open(rig), *b = rig_open(rig);
	struct stats_event got[64], event = {.kind = STATS_EVENT_REFUSED, .stat = 4, .count = 1, .length = 3};
	memcpy(event.text, "abc", 3);
	is_u64(stats_events(a, got, 64), 0, "no event yet");
	for (uint64_t at = 1; at <= 20; at++) {
		event.at = at * 10;
		stats_event(a, &event);
	}
	event.at = 155;
	event.kind = STATS_EVENT_DENIED;
	stats_event(b, &event);
	is_u64(stats_events(b, got, 64), STATS_EVENTS + 1, "the ring keeps the last 16 of each process");
	is_u64(got[0].at, 200, "newest first");
	ok(got[4].at == 160 && got[5].at == 155 && got[6].at == 150, "processes merged by time");
	ok(got[5].kind == STATS_EVENT_DENIED && got[5].stat == 4 && got[5].length == 3 &&
		   memcmp(got[5].text, "abc", 3) == 0,
	   "as they were told");
	is_u64(stats_events(b, got, 5), 5, "at most as many as asked for");
	ok(got[0].at == 200 && got[4].at == 160, "and the newest of them");
	is_u64(stats_events(b, got, 0), 0, "none, if none is wanted");

	/* A hostile or torn record. */
	struct stats_event *place = &a->area->events[0];
	place->length = 255;
	place->stat = 9999;
	stats_events(b, got, 64);
	bool bounded = true;
	for (unsigned i = 0; i < STATS_EVENTS + 1; i++)
		bounded = bounded && got[i].length <= sizeof got[i].text && got[i].stat < TABLE_STAT_COUNT;
	ok(bounded, "lengths and indices read from shared memory are bounded");
	place->kind = 77;
	is_u64(stats_events(b, got, 64), STATS_EVENTS, "a kind nobody knows is left out");
	place->at = 0;
	a->area->events[1].at = 0; /* as a writer killed halfway leaves it */
	is_u64(stats_events(b, got, 64), STATS_EVENTS - 1, "a half written event is left out");
	table_close(&a);
	table_close(&b);
}

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	check_counters(&rig);
	check_events(&rig);
	rig_free(&rig);
	return done_testing();
}
