/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostile: words and numbers out of a file that someone else wrote. Whatever passes algo_valid, and whatever
 * the word: every operation is defined (the sanitizer build looks), answers keep their ranges, and words keep
 * bit 63 clear.
 */
#include "tests/algo/random_counter.h"

static uint64_t any(void)
{
	static const uint64_t edges[] = {
		0, 1, 2, ALGO_TIME_MAX - 1, ALGO_TIME_MAX, ALGO_DEBT_MAX, (UINT64_C(1) << 63) - 1, 1u << 30};
	return random_below(3) ? random_u64() >> random_below(64) : edges[random_below(8)];
}

static struct algo_numbers forged(void)
{
	struct algo_numbers n = {
		.kind = (uint8_t)random_below(5),
		.align = (uint8_t)random_below(8),
		.shift = (uint8_t)random_below(random_below(2) ? 42 : 256),
		.count_bits = (uint8_t)random_below(random_below(2) ? 34 : 256),
		.quantity = (uint32_t)any(),
		.scale = any(),
		.capacity = any(),
		.at_once = any(),
		.inverse = any(),
	};
	if (random_below(2))
		n.shift = n.count_bits;
	return n;
}

int main(void)
{
	struct claim valid = {"forged numbers that pass the check", 0, 0};
	struct claim words = {"words keep bit 63 clear", 0, 0};
	struct claim ranges = {"reports keep their ranges", 0, 0};
	struct claim refusals = {"a refusal leaves the word alone; cost 0 does, too", 0, 0};
	struct claim built = {"built numbers pass the check", 0, 0};
	uint64_t each;
	for (int i = 0; i < 3000000; i++) {
		struct algo_numbers n = forged(), to = random_numbers((enum algo_kind)(1 + i % 3), &each);
		if (i % 4 == 0)
			n = random_numbers((enum algo_kind)(1 + i % 3), &each);
		if (i % 4 == 0)
			claim(&built, algo_valid(&n));
		if (!algo_valid(&n))
			continue;
		claim(&valid, true);
		uint64_t state = any() & ~(UINT64_C(1) << 63);
		struct algo_time t = {any() % ALGO_TIME_MAX, (int64_t)any()};
		uint64_t charged_at = any() % ALGO_TIME_MAX;
		uint32_t cost = random_below(4) ? (uint32_t)random_below(ALGO_BURST_MAX + 2)
						: (uint32_t)any();
		struct algo_outcome outcome;
		struct algo_report report;

		algo_step(&n, state, &t, cost, &outcome);
		claim(&words, outcome.state >> 63 == 0);
		claim(&refusals, (outcome.allowed && cost) || outcome.state == state);
		claim(&words, algo_punish(&n, state, &t, cost) >> 63 == 0);
		claim(&words, algo_give_back(&n, state, &t, charged_at, cost) >> 63 == 0);
		claim(&words, algo_convert(&n, &to, state, &t) >> 63 == 0 &&
				      algo_convert(&to, &n, state, &t) >> 63 == 0);
		algo_describe(&n, state, &t, cost, random_below(2), &report);
		claim(&ranges,
		      report.remaining <= report.limit && report.limit <= ALGO_COUNT_MAX * UINT64_C(2));
		claim(&ranges, (report.wait_ns == 0) == outcome.allowed);
		claim(&ranges, algo_recovered(&n, state, t.now) == (report.full_ns == 0));
		algo_rank(&n, state);
		claim(&ranges, !algo_recovered(&n, state, t.now) || algo_used(&n, state, t.now) == 0);
		algo_window_ns(&n);
	}
	claim_end(&valid, 750000);
	claim_end(&built, 750000);
	claim_end(&words, 3000000);
	claim_end(&ranges, 2000000);
	claim_end(&refusals, 750000);
	return done_testing();
}
