/* SPDX-License-Identifier: BSD-2-Clause */
/* image_words: is what an image says of costs, shares, bans and what stands in for a refusal sound? */
#include "policy/sound.h"

#include <string.h>

static bool check_amount(struct sound *r, const struct image_amount *amount, bool settle)
{
	bool named = amount->from != IMAGE_AMOUNT_NUMBER && amount->from != IMAGE_AMOUNT_BODY_COUNT;
	bool after = amount->from == IMAGE_AMOUNT_RESPONSE_HEADER ||
		     amount->from == IMAGE_AMOUNT_RESPONSE_BODY;

	if (!sound_shown(r, amount->name))
		return false;
	return (amount->from <= IMAGE_AMOUNT_RESPONSE_BODY && amount->number <= ALGO_BURST_MAX &&
		(settle ? after || amount->from == IMAGE_AMOUNT_NUMBER : !after) &&
		(!named || amount->name.size > 0)) ||
	       sound_refuse(r, "a cost is damaged");
}

static bool check_cost(struct sound *r, const struct image_limit *limit)
{
	const struct image_cost *costs = &limit->costs;

	if (!check_amount(r, &costs->ask, false) || !check_amount(r, &costs->settle, true))
		return false;
	return (limit->cost == costs->ask.number && costs->at_most >= 1 && costs->at_most <= ALGO_BURST_MAX &&
		costs->overdraw <= 1) ||
	       sound_refuse(r, "a cost is damaged");
}

static bool check_instead(struct sound *r, const struct image_limit *limit)
{
	bool slow = limit->instead == IMAGE_INSTEAD_SLOW;

	if (!sound_shown(r, limit->instead_to))
		return false;
	return (limit->instead <= IMAGE_INSTEAD_CLOSE &&
		(limit->instead == IMAGE_INSTEAD_CHALLENGE) == (limit->instead_to.size > 0) &&
		limit->instead_bytes_per_s <= IMAGE_BYTES_MAX &&
		slow == (limit->instead_bytes_per_s >= IMAGE_BYTES_MIN)) ||
	       sound_refuse(r, "what a limit does instead of refusing is damaged");
}

static bool check_then(struct sound *r, const struct image_then *then)
{
	return then->ban_ns == 0 ||
	       (then->most_ns >= then->ban_ns && then->strikes >= 1 && then->ban_numbers.kind == ALGO_BAN &&
		algo_valid(&then->ban_numbers) && then->strikes_numbers.kind == ALGO_FIXED_WINDOW &&
		algo_valid(&then->strikes_numbers)) ||
	       sound_refuse(r, "a limit's bans are damaged");
}

static bool check_notify(struct sound *r, const struct image_limit *limit)
{
	for (size_t i = 1; i < sizeof limit->notify; i++)
		if (limit->notify[i] ? limit->notify[i] <= limit->notify[i - 1] || !limit->notify[i - 1]
				     : false)
			return sound_refuse(r, "when a quota tells is damaged");
	return true;
}

static bool check_distinct(struct sound *r, struct image_span span)
{
	const struct image_key_part *part = image_at(r->image, span.offset);

	if (span.count > 1 || !sound_span(r, span, sizeof *part, "values"))
		return sound_refuse(r, "what a limit counts is damaged");
	if (span.count == 0)
		return true;
	return (part->kind <= IMAGE_KEY_BODY && part->bits4 <= 32 && part->bits6 <= 128 &&
		sound_shown(r, part->name)) ||
	       sound_refuse(r, "what a limit counts is damaged");
}

bool sound_words(struct sound *r, const struct image_limit *limit, uint32_t number)
{
	/* right behind its limit, which is none itself */
	if (limit->candidate && (number == 0 || limit->candidate != number || limit[-1].candidate))
		return sound_refuse(r, "a candidate does not stand behind its limit");
	if (limit->percent < 1 || limit->percent > 100 || limit->needs_body > 1)
		return sound_refuse(r, "a limit is damaged");
	return check_cost(r, limit) && check_instead(r, limit) && check_then(r, &limit->then) &&
	       check_notify(r, limit) && check_distinct(r, limit->distinct);
}

bool sound_counter_words(struct sound *r, const struct image_counter *counter)
{
	bool days = counter->day_rows.count > 0;

	if (!sound_span(r, counter->day_rows, sizeof(uint32_t), "billing days"))
		return false;
	return (counter->new_bits4 <= 32 && counter->new_bits6 <= 128 &&
		(!days || counter->day_rows.count == ALGO_BILLING_DAYS) &&
		days == (counter->numbers.kind == ALGO_FIXED_WINDOW &&
			 algo_align_day(counter->numbers.align) != 0) &&
		(counter->seen.kind == ALGO_NONE ||
		 (counter->seen.kind == ALGO_FIXED_WINDOW && algo_valid(&counter->seen)))) ||
	       sound_refuse(r, "a counter is damaged");
}
