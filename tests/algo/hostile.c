/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostile: words and numbers out of a file that someone else wrote. Whatever passes algo_valid, and whatever
 * the word: every operation is defined (the sanitizer build looks), answers keep their ranges, and words keep
 * bits 62 and 63 clear, with which the table marks cells and claims.
 */
#include "algo/ban.h"
#include "tests/algo/random_counter.h"

#define MARKS (UINT64_C(3) << 62)

static uint64_t any(void)
{
	static const uint64_t edges[] = {0,
					 1,
					 2,
					 ALGO_TIME_MAX - 1,
					 ALGO_TIME_MAX,
					 ALGO_DEBT_MAX,
					 (UINT64_C(1) << 62) - 1,
					 UINT64_C(1) << 61,
					 UINT64_MAX,
					 1u << 30};
	return random_below(3) ? random_u64() >> random_below(64) : edges[random_below(10)];
}

static bool chance(void)
{
	return random_below(2);
}

/* A kind that nobody built, or built numbers with some fields overwritten: most are caught, some are not. */
static struct algo_numbers forged(int i)
{
	uint64_t each;
	uint32_t count = (uint32_t)random_size(ALGO_LOG_MAX);
	struct algo_numbers n = random_numbers(random_kind((int)random_below(KINDS)), &each);
	if (i % 8 == 4)
		algo_sliding_log(count, MS + count * UINT64_C(1000) + random_size(300 * DAY), &n);
	if (i % 8 == 5)
		algo_concurrent(count, &n);
	if (i % 8 == 6) {
		uint64_t length = BAN_MIN_NS + random_size(BAN_MAX_NS - BAN_MIN_NS);
		algo_ban_numbers(length, length + random_below(BAN_MAX_NS - length + 1), &n);
	}
	if (i % 8 < 2) {
		n = (struct algo_numbers){.kind = (uint8_t)random_below(9),
					  .align = (uint8_t)random_below(9),
					  .shift = (uint8_t)random_below(chance() ? 42 : 256),
					  .count_bits = (uint8_t)random_below(chance() ? 34 : 256),
					  .scale = any(),
					  .capacity = any(),
					  .at_once = any(),
					  .inverse = any()};
		if (chance())
			n.shift = n.count_bits;
	}
	if (random_below(3) == 0)
		n.quantity = (uint32_t)any();
	if (random_below(3) == 0)
		n.capacity = chance() ? any() : n.capacity + 1;
	if (random_below(6) == 0)
		n.scale = any();
	if (random_below(6) == 0)
		n.at_once = any();
	if (random_below(6) == 0)
		n.inverse = chance() ? any() : n.inverse + 1;
	if (random_below(12) == 0)
		n.count_bits = (uint8_t)random_below(34);
	return n;
}

int main(void)
{
	struct claim valid = {"forged numbers that pass the check", 0, 0};
	struct claim kinds[ALGO_KIND_COUNT] = {0};
	struct claim words = {"words keep bits 62 and 63 clear", 0, 0};
	struct claim ranges = {"reports keep their ranges", 0, 0};
	struct claim refusals = {"a refusal leaves the word alone; cost 0 does, too", 0, 0};
	struct claim debts = {"settling never frees", 0, 0};
	struct claim cells = {"what only the table can say is not said", 0, 0};
	struct claim bans = {"a ban that was begun holds", 0, 0};
	struct claim built = {"built numbers pass the check", 0, 0};
	uint64_t each;
	for (int i = 0; i < 2000000; i++) {
		struct algo_numbers made = random_numbers(random_kind(i), &each), n = forged(i),
				    to = forged(i / 8);
		claim(&built, algo_valid(&made));
		if (!algo_valid(&to))
			to = made;
		if (!algo_valid(&n))
			continue;
		claim(&valid, true);
		claim(&kinds[n.kind], true);
		uint64_t state = any() & ~MARKS;
		struct algo_time t = {any() % ALGO_TIME_MAX, (int64_t)any()};
		if (n.kind == ALGO_SLIDING_WINDOW && chance()) /* of a window that is near */
			state = ((t.now / n.scale + random_below(4) + 1) << 2 * n.count_bits |
				 (state & ((UINT64_C(1) << 2 * n.count_bits) - 1))) &
				~MARKS;
		uint64_t charged_at = chance() ? any() % ALGO_TIME_MAX : t.now;
		uint32_t cost = random_below(4) ? (uint32_t)random_below(ALGO_BURST_MAX + 2)
						: (uint32_t)any();
		struct algo_outcome outcome;
		struct algo_report report;

		algo_step(&n, state, &t, cost, &outcome);
		claim(&words, (outcome.state & MARKS) == 0);
		claim(&refusals, (outcome.allowed && cost) || outcome.state == state);
		claim(&words, (algo_punish(&n, state, &t, cost) & MARKS) == 0);
		claim(&words, (algo_give_back(&n, state, &t, charged_at, cost) & MARKS) == 0);
		claim(&words,
		      ((algo_convert(&n, &to, state, &t) | algo_convert(&to, &n, state, &t)) & MARKS) == 0);
		uint64_t settled = algo_settle(&n, state, &t, cost);
		claim(&words, (settled & MARKS) == 0);
		claim(&debts, cost || settled == state);
		claim(&debts, algo_used(&n, settled, t.now) >= algo_used(&n, state, t.now));
		algo_describe(&n, state, &t, cost, chance(), &report);
		claim(&ranges,
		      report.remaining <= report.limit && report.limit <= ALGO_COUNT_MAX * UINT64_C(2));
		claim(&ranges, algo_recovered(&n, state, t.now) == (report.full_ns == 0));
		algo_rank(&n, state);
		claim(&ranges, !algo_recovered(&n, state, t.now) || algo_used(&n, state, t.now) == 0);
		algo_window_ns(&n);
		struct ban_outcome ban;
		if (n.kind == ALGO_BAN) {
			uint64_t length = chance() ? 0 : any();
			algo_ban(&n, state, t.now, length, &ban);
			claim(&words, (ban.word & MARKS) == 0);
			claim(&bans, ban.until > t.now && ban_until(ban.word) == ban.until &&
					     (ban.began || (!length && ban.word == state)));
		}
		if (n.kind == ALGO_SLIDING_LOG || n.kind == ALGO_CONCURRENT)
			claim(&cells, outcome.allowed == (cost == 0) && settled == state &&
					      algo_punish(&n, state, &t, cost) == state &&
					      algo_give_back(&n, state, &t, charged_at, cost) == state);
		else
			claim(&ranges, (report.wait_ns == 0) == outcome.allowed);
	}
	claim_end(&valid, 800000);
	for (int kind = ALGO_TOKEN_BUCKET; kind < ALGO_KIND_COUNT; kind++) {
		kinds[kind].what = "forged ones of each kind";
		claim_end(&kinds[kind], 50000);
	}
	claim_end(&built, 2000000);
	claim_end(&words, 4000000);
	claim_end(&ranges, 2500000);
	claim_end(&refusals, 800000);
	claim_end(&debts, 1600000);
	claim_end(&cells, 100000);
	claim_end(&bans, 50000);
	return done_testing();
}
