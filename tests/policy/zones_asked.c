/* SPDX-License-Identifier: BSD-2-Clause */
/* zones_asked: what a variable says of each request, the zone does not say: its words, the numbers of its row, and what
 * becomes of a counter when room is short or the machine goes down. */
#include "algo/limit_req.h"
#include "table/evict.h"
#include "table/snapshot_judge.h"
#include "tests/policy/zone_specs.h"

/* The word of who has sent so many requests at once. */
static uint64_t word_after(const struct algo_numbers *row, uint32_t requests, uint64_t token_ns, uint64_t now)
{
	const struct algo_bound bound = {.burst = requests, .at_once = requests, .token_ns = token_ns};
	struct algo_numbers numbers;
	struct algo_outcome outcome = {.state = 0};

	algo_bounded(row, &bound, &numbers);
	for (uint32_t i = 0; i < requests; i++)
		algo_step(&numbers, outcome.state, &(struct algo_time){.now = now}, 1, &outcome);
	return outcome.state;
}

static void test_asked(void)
{
	static const struct zone_spec zones[] = {
		VARIES("burst", "$x", "1r/m", 1, 60 * S, 0),
		VARIES("too", "$x", "1r/m", 1, 60 * S, 20),
		EXACT("rate", "$x", "$rate", 0, 0, 20),
		REQ("fixed", "$x", "1r/m", 1, 60 * S, 20),
		{.name = TEXT("both"), .key = TEXT("$x"), .rate = TEXT("${r}r/s"), .burst_varies = true},
	};
	static const struct {
		const char *sentence;
		uint32_t asker, room;
	} expected[] = {
		{"burst: 1r/m, burst by variable, by $x", IMAGE_ASKER_BURST, 1},
		{"too: 1r/m, burst by variable, by $x", IMAGE_ASKER_BURST, 1},
		{"rate: $rate, burst 20, by $x", IMAGE_ASKER_RATE, 1},
		{"fixed: 1r/m, burst 20, by $x", 0, 21},
		{"both: ${r}r/s, burst by variable, by $x", IMAGE_ASKER_RATE | IMAGE_ASKER_BURST, 1},
	};
	const uint64_t now = UINT64_C(1) << 50, tag = UINT64_C(1) << LAYOUT_ROW_BITS;
	struct image *image = image_of(zones, sizeof zones / sizeof *zones);
	char *aloud = policy_read_aloud(image), *line = aloud;
	const struct algo_numbers *rows[sizeof zones / sizeof *zones];

	for (uint32_t i = 0; i < sizeof zones / sizeof *zones; i++) {
		const struct image_counter *counter = image_counter_at(image, i);

		char *end = strchr(line, '\n');

		rows[i] = &counter->numbers;
		*end = '\0';
		is_str(line, expected[i].sentence, "read out");
		line = end + 1;
		is_u64(counter->asker, expected[i].asker, "what the asker says");
		is_u64(rows[i]->capacity / limit_req_token(rows[i]), expected[i].room, "what is all of it");
	}
	free(aloud);
	wide touch = evict_worth(rows[3], word_after(rows[3], 1, 0, now), now);
	ok(evict_worth(rows[0], word_after(rows[0], 4, 0, now), now) > touch,
	   "who has used up a burst of 3 is not forgotten before one who came once");
	ok(evict_worth(rows[0], word_after(rows[0], 9, 0, now), now) >
		   evict_worth(rows[0], word_after(rows[0], 4, 0, now), now),
	   "and he before one who recovers later");
	ok(evict_worth(rows[2], word_after(rows[2], 21, S / 10, now), now) > touch,
	   "nor who has used up a burst of 20 at 10 a second, if a variable said so");

	/* 10,000 requests that a variable allowed take three days and a half, and a reboot does not change that */
	static const struct zone_spec fast = VARIES("fast", "$x", "2r/m", 2, 60 * S, 0);
	struct image *other = image_of(&fast, 1);
	const struct algo_numbers *row = &image_counter_at(other, 0)->numbers;
	uint64_t owes = word_after(row, 10000, 0, now), kept = owes;
	is_u64(snapshot_recovery_ns(row), 400 * DAY, "how long it may remember, nobody knows");
	is_u64(snapshot_judge(row, tag, &kept, now, now), JUDGED_LIVE, "what is owed is believed");
	is_u64(kept, owes, "all of it");
	is_u64(snapshot_recovery_ns(rows[3]), algo_window_ns(rows[3]), "of another zone that is known");
	free(other);
	free(image);
}

int main(void)
{
	test_asked();
	return done_testing();
}
