/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: quotas that give a little more and tell of it once, and what known keys are charged, month by month. */
#include "flow/usage.h"
#include "tests/flow/world.h"
#include "tests/identity/ring_rig.h"

#define DAY (86400 * SECOND)

static struct world world;

/* Notices since the last call, as "80/100 90/100". */
static const char *told(void)
{
	static char out[256];

	out[0] = '\0';
	for (uint32_t i = 0; i < world.recorder.notice_count; i++) {
		const struct flow_notice *notice = &world.recorder.notices[i];
		size_t used = strlen(out);

		snprintf(out + used, sizeof out - used, "%s%.*s %.*s %u/%u", used ? "; " : "",
			 notice->limit_size, notice->limit, notice->key_size, notice->key, notice->percent,
			 notice->quota);
	}
	world.recorder.notice_count = 0;
	return out;
}

static void check_notices(void)
{
	static const struct {
		unsigned after, requests; /* days later, so many */
		const char *told;
		uint32_t limit, remaining; /* of the last one that passed or was refused */
		bool passes;
		const char *what;
	} steps[] = {
		{0, 79, "", 100, 21, true, "79 of 100"},
		{0, 1, "quota 1.2.3.4 80/100", 100, 20, true, "the 80th is told"},
		{0, 1, "", 100, 19, true, "once"},
		{3, 18, "", 100, 1, true, "also days later"},
		{0, 1, "quota 1.2.3.4 100/100", 100, 0, true, "all of it"},
		{0, 19, "", 100, 0, true, "beyond the quota nothing is left, and it passes"},
		{0, 1, "quota 1.2.3.4 120/100", 100, 0, true, "up to a fifth more"},
		{0, 1, "", 100, 0, false, "and no further"},
		{29, 79, "", 100, 21, true, "the next month begins anew"},
		{0, 1, "quota 1.2.3.4 80/100", 100, 20, true, "and so do the notices"},
	};
	struct stats_event events[8];
	size_t count;

	world_open(&world,
		   "limits:\n"
		   "  quota: {match: /api, key: ip, rate: 100/month, over: {allow: 20%, notify: [80%, 100%, "
		   "120%]}}\n");
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		const struct flow_verdict *verdict = NULL;

		world_pass(&world, steps[i].after * DAY);
		for (unsigned k = 0; k < steps[i].requests; k++)
			verdict = world_ask(&world, "GET /api from 1.2.3.4");
		is_str(told(), steps[i].told, steps[i].what);
		ok((verdict->action == FLOW_PASS) == steps[i].passes, "  passes or not");
		is_u64(verdict->limit, steps[i].limit, "  the quota that is told");
		is_u64(verdict->remaining, steps[i].remaining, "  and what is left of it");
	}
	count = stats_events(world.table, events, 8);
	ok(count >= 1 && events[0].kind == STATS_EVENT_NOTICE && events[0].count == 80 &&
		   stats_notice_quota(&events[0]) == 100 && events[0].length == 7 &&
		   memcmp(events[0].text, "1.2.3.4", 7) == 0,
	   "they are events, too");

	/* What is given back does not take back what was told. */
	struct flow_hit *hit = &world.flow->hits[0];
	table_uncharge(world.table, &hit->key, hit->row, &world.time, world.time.now, 40);
	for (unsigned k = 0; k < 45; k++)
		world_says(&world, "GET /api from 1.2.3.4");
	is_str(told(), "", "forty given back: 80 % is not told again");
	for (unsigned k = 0; k < 15; k++)
		world_says(&world, "GET /api from 1.2.3.4");
	is_str(told(), "quota 1.2.3.4 100/100", "but all of it, once");
	world_close(&world);
}

/* A cost that jumps over a threshold tells the higher one, and not the lower one later. */
static void check_jump(void)
{
	world_open(
		&world,
		"limits:\n"
		"  quota: {match: /api, key: ip, rate: 100/month, cost: 60, over: {allow: 50%, notify: [50%, "
		"100%]}}\n");
	world_says(&world, "GET /api from 1.2.3.4");
	is_str(told(), "quota 1.2.3.4 50/100", "60 of 100");
	world_says(&world, "GET /api from 1.2.3.4");
	is_str(told(), "quota 1.2.3.4 100/100", "120");
	world_close(&world);
	world_open(&world, "limits:\n"
			   "  quota: {match: /api, key: ip, rate: 100/month, cost: 110, over: {allow: 50%, "
			   "notify: [50%, "
			   "100%]}}\n");
	world_says(&world, "GET /api from 1.2.3.4");
	is_str(told(), "quota 1.2.3.4 100/100", "110 at once");
	struct flow_hit *hit = &world.flow->hits[0];
	table_uncharge(world.table, &hit->key, hit->row, &world.time, world.time.now, 110);
	world_close(&world);
}

/* ---- the bill ---- */

static uint32_t usage_units(const struct image_counter *counter, const char *name, int64_t end)
{
	struct table_key key = usage_key(world.table, counter->identity, text_of(name), end);
	struct table_look look;
	struct algo_report report;

	table_peek(world.table, &key, counter->row, &world.time, 0, &look);
	table_describe(&look, &world.time, 0, false, &report);
	return look.found ? report.limit - report.remaining : 0;
}

/* Months of requests of a few keys, of any cost, some refused, some settled by failures: what is billed is what was charged. */
static void check_bill(void)
{
	enum { KEYS = 5, MONTHS = 7 };
	static uint64_t expected[KEYS + 1][MONTHS];
	char policy[1024];
	struct rig rig;
	struct ring_writer *writer;
	struct people people;
	const struct image_counter *counter = NULL;
	unsigned wrong = 0, passed = 0, refused = 0;

	rig_begin(&rig);
	if (ring_write_open(rig.database, 1000, &writer, rig.why, sizeof rig.why) != WEIR_OK ||
	    !rig_build(&rig, writer, KEYS, "")) {
		printf("Bail out! %s\n", rig.why);
		exit(1);
	}
	snprintf(policy, sizeof policy,
		 "clients:\n  api_keys: {database: %s, from: header.x-api-key}\n"
		 /* a header that says the cost is believed of trusted peers only */
		 "  address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}\n"
		 "limits:\n"
		 "  monthly: {match: /api, key: api-key | ip, rate: 1000/month, cost: header.x-units, over: "
		 "{allow: 10%%}}\n"
		 "  daily: {match: /api, key: ip, rate: 400/day}\n",
		 rig.database);
	world_open_sized(&world, policy, UINT64_C(1) << 20);
	if (!people_open(&people, world.env.image)) {
		printf("Bail out! no people\n");
		exit(1);
	}
	world.env.people = &people;
	for (uint32_t i = 0; i < world.env.image->counters.count; i++)
		if (image_counter_at(world.env.image, i)->what == IMAGE_USAGE)
			counter = image_counter_at(world.env.image, i);
	ok(counter != NULL, "a monthly quota of API keys is billed");
	ok(people.ring != NULL, "the keys are known");

	/* of January to July 2030 */
	static const int64_t ends[MONTHS] = {1896134400, 1898553600, 1901232000, 1903824000,
					     1906502400, 1909094400, 1911772800};
	for (unsigned i = 0; i < 12000; i++) {
		char line[200];
		unsigned who = pick(KEYS + 1), units = 1 + pick(4);
		unsigned month = 0;

		world_pass(&world, pick(2) * (uint64_t)pick(2900) * SECOND);
		while (month < MONTHS &&
		       ((int64_t)world.time.now + world.time.wall) / (int64_t)SECOND >= ends[month])
			month++;
		if (month == MONTHS)
			break;
		if (who)
			snprintf(line, sizeof line,
				 "GET /api from 10.0.0.1 | X-Forwarded-For: 1.2.3.%u | X-API-Key: secret-%u "
				 "| X-Units: %u",
				 pick(40), who, units);
		else
			snprintf(line, sizeof line,
				 "GET /api from 10.0.0.1 | X-Forwarded-For: 1.2.3.%u | X-Units: %u", pick(40),
				 units);
		if (world_ask(&world, line)->action == FLOW_PASS) {
			expected[who][month] += units;
			passed++;
		} else {
			refused++;
		}
		/* now and then all that can still be read is compared */
		if (i % 500 == 0)
			for (unsigned key = 1; key <= KEYS; key++)
				for (unsigned m = month > 1 ? month - 1 : 0; m <= month; m++) {
					char name[8];
					snprintf(name, sizeof name, "k%u", key);
					wrong += usage_units(counter, name, ends[m]) != expected[key][m];
				}
	}
	note("%u passed, %u refused", passed, refused);
	ok(passed > 3000 && refused > 100, "months of requests, some of them refused");
	is_u64(wrong, 0, "what is billed is what was charged, to each key, in each month");
	uint64_t sum = 0;
	for (unsigned m = 0; m < MONTHS; m++)
		sum += expected[1][m] > 0;
	ok(sum >= 3, "over several months");
	world_close(&world);
	people_close(&people);
	ring_write_close(&writer);
	rig_end(&rig);
}

int main(void)
{
	check_notices();
	check_jump();
	check_bill();
	return done_testing();
}
