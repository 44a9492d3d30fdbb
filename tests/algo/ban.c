/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ban: lengths, levels and how they are forgotten, as a table; then against a slow reference: a list of all bans
 * there have been, under random numbers, pauses, and clocks that are late or jump.
 */
#include "algo/ban.h"
#include "tests/algo/common.h"

/* 15 minutes, doubled up to a day. At each moment somebody is to be banned: until when (from then), and of which level? */
static const struct {
	uint64_t at, lasts;
	uint32_t level;
	bool began;
	const char *what;
} story[] = {
	{0, 15 * MINUTE, 1, true, "the first: 15 minutes"},
	{5 * MINUTE, 10 * MINUTE, 1, false, "while it holds: it goes on"},
	{15 * MINUTE - 1, 1, 1, false, "until its end"},
	{15 * MINUTE, 30 * MINUTE, 2, true, "at its end: twice as long"},
	{60 * MINUTE, HOUR, 3, true, "a quarter of an hour after that: an hour"},
	{3 * HOUR - 1, 2 * HOUR, 4, true, "just within its own length: two hours"},
	{5 * HOUR, 4 * HOUR, 5, true, "at once: four"},
	{9 * HOUR, 8 * HOUR, 6, true, "eight"},
	{17 * HOUR, 16 * HOUR, 7, true, "sixteen"},
	{33 * HOUR, 24 * HOUR, 8, true, "a day, and no longer"},
	{57 * HOUR, 24 * HOUR, 9, true, "nor the next time"},
	{105 * HOUR + SECOND, 15 * MINUTE, 1, true, "a day after its end: as if it had never been"},
	{105 * HOUR + 31 * MINUTE, 15 * MINUTE, 1, true, "15 minutes after a short one, too"},
};

static void check_story(void)
{
	struct algo_numbers n;
	uint64_t word = 0, begin = 12345 * SECOND;
	ok(algo_ban_numbers(15 * MINUTE, DAY, &n), "15 minutes, up to a day");
	for (size_t i = 0; i < sizeof story / sizeof *story; i++) {
		struct ban_outcome out;
		uint64_t at = begin + story[i].at;
		algo_ban(&n, word, at, 0, &out);
		word = out.word;
		/* an end is rounded down to a tick of 32 ns */
		bool same = out.level == story[i].level && out.began == story[i].began &&
			    story[i].lasts - (out.until - at) < 32 * (out.began ? 1 : 2);
		ok(same, story[i].what);
		if (!same)
			note("level %u, %" PRIu64 " ns, began %d", out.level, out.until - at, out.began);
	}
}

static const struct {
	uint64_t ban, most;
	bool good;
	const char *what;
} numbers[] = {
	{MS, MS, true, "the shortest"},
	{MS - 1, MS, false, "shorter"},
	{BAN_MAX_NS, BAN_MAX_NS, true, "the longest"},
	{SECOND, BAN_MAX_NS + 1, false, "longer"},
	{SECOND, SECOND - 1, false, "most below the first"},
	{0, DAY, false, "none"},
};

static void check_numbers(void)
{
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct algo_numbers n = {.kind = 99};
		bool made = algo_ban_numbers(numbers[i].ban, numbers[i].most, &n);
		is_u64(made, numbers[i].good, numbers[i].what);
		is_u64(n.kind, made ? ALGO_BAN : 99, "built or left alone");
		if (made)
			ok(algo_valid(&n), "and passes the check");
	}
}

/* An operator's: exactly as long as he says, in place of what holds, and nothing remembered. */
static void check_chosen(void)
{
	struct algo_numbers n;
	struct ban_outcome out;
	struct algo_report report;
	const uint64_t t = UINT64_C(1) << 40; /* a multiple of a tick */
	algo_ban_numbers(HOUR, 366 * DAY, &n);
	algo_ban(&n, 0, t, DAY, &out);
	ok(out.began && out.until == t + DAY && out.level == 0, "a day");
	algo_ban(&n, out.word, t + HOUR, 2 * HOUR, &out);
	ok(out.began && out.until == t + 3 * HOUR, "shortened to two hours from now");
	algo_describe(&n, out.word, &(struct algo_time){t + HOUR, 0}, 1, false, &report);
	ok(report.wait_ns == 2 * HOUR && report.full_ns == 2 * HOUR && report.remaining == 0,
	   "described: the wait is until its end, and then nothing is left of it");
	algo_ban(&n, out.word, t + 3 * HOUR, 0, &out);
	ok(out.level == 1 && out.until == t + 4 * HOUR, "the next one by the numbers is a first");
	algo_ban(&n, 0, t, UINT64_MAX, &out);
	ok(out.until == t + 366 * DAY, "never longer than the longest");
}

static void check_convert(void)
{
	struct algo_numbers n, longer, bucket;
	struct ban_outcome out;
	const struct algo_time t = {UINT64_C(1) << 40, 0};
	algo_ban_numbers(HOUR, DAY, &n);
	algo_ban_numbers(2 * HOUR, 2 * DAY, &longer);
	algo_token_bucket(1, SECOND, 5, &bucket);
	algo_ban(&n, 0, t.now, 0, &out);
	uint64_t carried = algo_convert(&n, &longer, out.word, &t);
	is_u64(ban_until(carried), out.until, "under other numbers it ends when it would have");
	algo_ban(&longer, carried, out.until, 0, &out);
	ok(out.level == 2 && out.until == t.now + 5 * HOUR, "and the next is the second by theirs");
	is_u64(algo_convert(&n, &bucket, out.word, &t), 0, "no bucket has been used by it");
	is_u64(algo_convert(&bucket, &n, t.now, &t), 0, "and no bucket bans");
	is_u64(algo_convert(&n, &longer, carried, &(struct algo_time){t.now + 2 * HOUR, 0}), 0,
	       "forgotten, it is not carried");
}

/* ---- the reference: every ban there was ------------------------------------------------------------------ */

struct past {
	uint64_t begin, until, length; /* length 0: chosen by somebody */
	bool chosen;
};

static struct claim same = {"begun, level and end are the list's", 0, 0};
static struct claim asked = {"refused exactly while the newest holds", 0, 0};
static struct claim waits = {"after the wait it is over, a nanosecond before it is not", 0, 0};
static struct claim gone = {"recovered exactly when the list forgets", 0, 0};
static struct claim worth = {"used all, half, none", 0, 0};

static void look(const struct algo_numbers *n, uint64_t word, const struct past *newest, uint64_t now)
{
	struct algo_time t = {now, 0};
	struct algo_outcome outcome;
	struct algo_report report;
	bool holds = newest && now < newest->until;
	bool remembered = newest && now < newest->until + newest->length;
	algo_step(n, word, &t, 1, &outcome);
	claim(&asked, outcome.allowed == !holds && outcome.state == word);
	algo_describe(n, word, &t, 1, false, &report);
	claim(&gone, algo_recovered(n, word, now) == !remembered && (report.full_ns == 0) == !remembered);
	uint32_t used = algo_used(n, word, now);
	claim(&worth, holds ? used == UINT32_MAX : remembered ? used > UINT32_MAX / 3 : used == 0);
	if (!holds)
		return;
	t.now = now + report.wait_ns;
	algo_step(n, word, &t, 1, &outcome);
	bool over = outcome.allowed;
	t.now--;
	algo_step(n, word, &t, 1, &outcome);
	claim(&waits, over && !outcome.allowed);
}

static void run(void)
{
	struct algo_numbers n;
	uint64_t ban = BAN_MIN_NS + random_size(random_below(2) ? DAY : BAN_MAX_NS - BAN_MIN_NS);
	uint64_t most = random_below(4) ? ban + random_size(BAN_MAX_NS - ban + 1) - 1 : ban;
	if (!algo_ban_numbers(ban, most, &n)) {
		ok(false, "numbers in range are built");
		return;
	}
	struct past list[64];
	size_t count = 0;
	uint64_t word = 0, high = random_below(ALGO_TIME_MAX / 4);
	while (count < 64 && high < ALGO_TIME_MAX / 2) {
		const struct past *newest = count ? &list[count - 1] : NULL;
		switch (random_below(6)) {
		case 0: /* to an edge, or one off it */
			if (newest)
				high = newest->until + (random_below(2) ? newest->length : 0) -
				       random_below(2);
			break;
		case 1:
			high += random_below(3 * ban);
			break;
		case 2: /* a jump */
			high += random_below(2 * most);
			break;
		default:
			high += random_below(ban / 4 + 1);
		}
		uint64_t now = high;
		if (random_below(4) == 0) /* late */
			now -= random_below(now < ban ? now + 1 : ban);
		look(&n, word, newest, now);
		if (random_below(2))
			continue;
		uint64_t chosen = random_below(8) ? 0 : BAN_MIN_NS + random_size(most - BAN_MIN_NS + 1) - 1;
		/* how many of the last followed each other within their lengths: counted anew each time */
		uint64_t length = ban;
		uint32_t level = 1;
		for (size_t i = 0; !chosen && i < count; i++) {
			uint64_t next = i + 1 < count ? list[i + 1].begin : now;
			bool follows = !list[i].chosen && next < list[i].until + list[i].length &&
				       (i + 1 == count || !list[i + 1].chosen);
			length = follows ? (length > most / 2 ? most : 2 * length) : ban;
			level = follows ? level + (level < BAN_LEVEL_MAX) : 1;
		}
		struct ban_outcome out;
		algo_ban(&n, word, now, chosen, &out);
		if (!chosen && newest && now < newest->until) {
			claim(&same, !out.began && out.word == word && out.until == newest->until);
			continue;
		}
		uint64_t until = now + (chosen ? chosen : length);
		until = until / 32 * 32;
		claim(&same, out.began && out.until == until && out.level == (chosen ? 0 : level));
		word = out.word;
		list[count++] = (struct past){now, until, chosen ? 0 : length, chosen};
	}
}

int main(void)
{
	check_story();
	check_numbers();
	check_chosen();
	check_convert();
	for (int i = 0; i < 20000; i++)
		run();
	claim_end(&same, 200000);
	claim_end(&asked, 400000);
	claim_end(&waits, 100000);
	claim_end(&gone, 400000);
	claim_end(&worth, 400000);
	return done_testing();
}
