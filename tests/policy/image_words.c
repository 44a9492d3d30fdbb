/* SPDX-License-Identifier: BSD-2-Clause */
/* image_words: costs, shares, bans and the like as they are compiled, and that an image in which one is damaged is refused. */
#include "algo/ban.h"
#include "tests/policy/loaded.h"

static const char text[] =
	"clients: {api_keys: {}, address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}}\n"
	"plans: {small: {tokens: 4000/min}}\n"
	"limits:\n"
	"  tokens: {key: api-key, missing: skip, rate: 90000/min, usage: yes, overdraw: yes,\n"
	"    cost: {reserve: body.max_tokens, settle: response.body.usage.total_tokens}, mode: enforce 25%}\n"
	"  guesses: {match: POST /login, rate: 10 distinct query.user/hour, instead: slow 50KB/s,\n"
	"    then: {ban: 15min, after: 20 refusals in 5min, double_up_to: 1day}}\n"
	"  batch: {match: POST /batch, rate: 1000/min, cost: body.count, instead: challenge /verify, "
	"candidate: 500/min}\n"
	"  monthly: {key: api-key, missing: skip, rate: 100/month, align: billing-day,\n"
	"    over: {allow: 25%, notify: [100%, 80%, 120%]}}\n"
	"  sessions: {match: /app, key: cookie.sid, missing: ip, rate: 100/min, new_keys: 3/min per "
	"ip/24/56}\n"
	"  paid: {match: /paid, rate: 100/min, cost: header.x-Cost}\n"
	"  rows: {match: /rows, rate: 100/min, cost: {reserve: body.rows.count, at_most: 50}}\n"
	"  slow: {match: /slow, rate: 100/min, cost: {reserve: 5, settle: response.header.X-Cost}, instead: "
	"close}\n";

enum { TOKENS, GUESSES, BATCH, CANDIDATE, MONTHLY, SESSIONS, PAID, ROWS, SLOW };

static uint64_t room[1 << 14];
static struct image *const copy = (struct image *)(void *)room;

static struct image_limit *limit_of(unsigned which)
{
	return (struct image_limit *)(uintptr_t)image_limit_at(copy, which);
}

static struct image_counter *counter_of(unsigned which, unsigned nth)
{
	return (struct image_counter *)(uintptr_t)image_at(copy, limit_of(which)->counters.offset) + nth;
}

static void check_costs(void)
{
	static const struct {
		unsigned limit;
		uint32_t ask, number, settle, at_most, overdraw;
		const char *ask_name, *settle_name;
		bool body;
	} costs[] = {
		{TOKENS, IMAGE_AMOUNT_BODY, 4000, IMAGE_AMOUNT_RESPONSE_BODY, 4000, 1, "max_tokens",
		 "usage.total_tokens", true},
		{GUESSES, IMAGE_AMOUNT_NUMBER, 1, IMAGE_AMOUNT_NUMBER, 10, 0, "", "", false},
		{BATCH, IMAGE_AMOUNT_BODY_COUNT, 1, IMAGE_AMOUNT_NUMBER, 1000, 0, "", "", true},
		{CANDIDATE, IMAGE_AMOUNT_BODY_COUNT, 1, IMAGE_AMOUNT_NUMBER, 500, 0, "", "", true},
		{PAID, IMAGE_AMOUNT_HEADER, 1, IMAGE_AMOUNT_NUMBER, 100, 0, "x-cost", "", false},
		{ROWS, IMAGE_AMOUNT_BODY_COUNT, 1, IMAGE_AMOUNT_NUMBER, 50, 0, "rows", "", true},
		{SLOW, IMAGE_AMOUNT_NUMBER, 5, IMAGE_AMOUNT_RESPONSE_HEADER, 100, 0, "", "x-cost", false},
	};

	for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
		const struct image_limit *limit = limit_of(costs[i].limit);
		const struct image_cost *cost = &limit->costs;

		ok(cost->ask.from == costs[i].ask && cost->ask.number == costs[i].number &&
			   cost->settle.from == costs[i].settle && cost->settle.number == 0 &&
			   cost->at_most == costs[i].at_most && cost->overdraw == costs[i].overdraw &&
			   limit->cost == costs[i].number && limit->needs_body == costs[i].body &&
			   text_equal(image_text(copy, cost->ask.name), text_of(costs[i].ask_name)) &&
			   text_equal(image_text(copy, cost->settle.name), text_of(costs[i].settle_name)),
		   "a cost");
	}
}

static void check_limits(void)
{
	const struct image_limit *guesses = limit_of(GUESSES), *monthly = limit_of(MONTHLY);
	const struct image_key_part *part = image_at(copy, guesses->distinct.offset);
	const struct image_counter *own = counter_of(MONTHLY, 0), *fresh = counter_of(SESSIONS, 1);

	ok(limit_of(TOKENS)->percent == 25 && limit_of(TOKENS)->mode == IMAGE_ENFORCE &&
		   guesses->percent == 100,
	   "a share of the keys");
	ok(guesses->distinct.count == 1 && part->kind == IMAGE_KEY_QUERY &&
		   text_equal(image_text(copy, part->name), TEXT("user")) &&
		   counter_of(GUESSES, 0)->seen.capacity == 1 &&
		   counter_of(GUESSES, 0)->seen.scale == UINT64_C(3600000000000),
	   "different values, each remembered for an hour");
	ok(guesses->then.ban_ns == UINT64_C(900000000000) && guesses->then.strikes == 20 &&
		   guesses->then.most_ns == UINT64_C(86400000000000) &&
		   guesses->then.strikes_ns == UINT64_C(300000000000) &&
		   guesses->then.strikes_numbers.capacity == 20 && limit_of(BATCH)->then.ban_ns == 0,
	   "a ban");
	ok(guesses->instead == IMAGE_INSTEAD_SLOW && guesses->instead_bytes_per_s == 50000 &&
		   limit_of(BATCH)->instead == IMAGE_INSTEAD_CHALLENGE &&
		   text_equal(image_text(copy, limit_of(BATCH)->instead_to), TEXT("/verify")) &&
		   limit_of(SLOW)->instead == IMAGE_INSTEAD_CLOSE,
	   "what stands in for a refusal");
	ok(limit_of(CANDIDATE)->candidate == 1 + BATCH && limit_of(CANDIDATE)->mode == IMAGE_SHADOW &&
		   limit_of(CANDIDATE)->counters.count == 1 &&
		   counter_of(CANDIDATE, 0)->identity != counter_of(BATCH, 0)->identity,
	   "a candidate, right behind its limit");
	ok(own->soft == 100 && own->capacity == 125 && own->numbers.capacity == 125 &&
		   own->numbers.quantity == 100 && monthly->notify[0] == 80 && monthly->notify[1] == 100 &&
		   monthly->notify[2] == 120 && monthly->notify[3] == 0,
	   "over a quota");
	ok(own->day_rows.count == 31 && algo_align_day(own->numbers.align) == 1 &&
		   counter_of(MONTHLY, 1)->what == IMAGE_USAGE &&
		   algo_align_day(counter_of(MONTHLY, 1)->seen.align) == 1 &&
		   counter_of(MONTHLY, 1)->day_rows.count == 0,
	   "a billing day, of the bill too");
	ok(counter_of(TOKENS, 1)->what == IMAGE_USAGE && counter_of(TOKENS, 1)->day_rows.count == 0 &&
		   counter_of(TOKENS, 1)->seen.align == ALGO_CALENDAR_MONTH &&
		   counter_of(TOKENS, 1)->numbers.align == ALGO_FIRST_REQUEST &&
		   counter_of(TOKENS, 1)->numbers.scale == 72 * UINT64_C(86400000000000) &&
		   counter_of(TOKENS, 1)->numbers.capacity == ALGO_COUNT_MAX,
	   "a bill of what has no month of its own");
	ok(fresh->what == IMAGE_NEW_KEYS && fresh->new_bits4 == 24 && fresh->new_bits6 == 56 &&
		   fresh->capacity == 3 &&
		   text_equal(image_text(copy, fresh->name), TEXT("sessions/new_keys")),
	   "new keys");
	ok(text_equal(image_text(copy, counter_of(SESSIONS, 0)->name), TEXT("sessions")),
	   "the limit's own counter keeps its name beside it");
}

#define SPOILS(X)                                                                                            \
	X(limit_of(TOKENS)->cost++, "a cost is damaged")                                                     \
	X(limit_of(TOKENS)->costs.ask.from = IMAGE_AMOUNT_RESPONSE_BODY, "a cost is damaged")                \
	X(limit_of(TOKENS)->costs.settle.from = IMAGE_AMOUNT_BODY, "a cost is damaged")                      \
	X(limit_of(TOKENS)->costs.settle.from = IMAGE_AMOUNT_RESPONSE_BODY + 1, "a cost is damaged")         \
	X(limit_of(TOKENS)->costs.ask.name.size = 0, "a cost is damaged")                                    \
	X(limit_of(TOKENS)->costs.settle.name.offset = copy->size, "a text lies outside of it")              \
	X(limit_of(TOKENS)->costs.at_most = 0, "a cost is damaged")                                          \
	X(limit_of(TOKENS)->costs.at_most = ALGO_BURST_MAX + 1, "a cost is damaged")                         \
	X(limit_of(TOKENS)->costs.overdraw = 2, "a cost is damaged")                                         \
	X(limit_of(TOKENS)->percent = 0, "a limit is damaged")                                               \
	X(limit_of(TOKENS)->percent = 101, "a limit is damaged")                                             \
	X(limit_of(TOKENS)->needs_body = 2, "a limit is damaged")                                            \
	X(limit_of(TOKENS)->candidate = 1, "a candidate does not stand behind its limit")                    \
	X(limit_of(CANDIDATE)->candidate = 1 + MONTHLY, "a candidate does not stand behind its limit")       \
	X(limit_of(MONTHLY)->candidate = 1 + CANDIDATE, "a candidate does not stand behind its limit")       \
	X(limit_of(BATCH)->instead = IMAGE_INSTEAD_CLOSE + 1,                                                \
	  "what a limit does instead of refusing is damaged")                                                \
	X(limit_of(BATCH)->instead = IMAGE_INSTEAD_REFUSE,                                                   \
	  "what a limit does instead of refusing is damaged")                                                \
	X(limit_of(BATCH)->instead_to.size = 0, "what a limit does instead of refusing is damaged")          \
	X(*(char *)(uintptr_t)image_text(copy, limit_of(BATCH)->instead_to).data = '\n',                     \
	  "a text to be shown has control characters")                                                       \
	X(limit_of(GUESSES)->instead_bytes_per_s = 0, "what a limit does instead of refusing is damaged")    \
	X(limit_of(GUESSES)->instead_bytes_per_s = UINT64_MAX,                                               \
	  "what a limit does instead of refusing is damaged")                                                \
	X(limit_of(GUESSES)->then.most_ns = 1, "a limit's bans are damaged")                                 \
	X(limit_of(GUESSES)->then.strikes = 0, "a limit's bans are damaged")                                 \
	X(limit_of(GUESSES)->then.ban_numbers.kind = ALGO_FIXED_WINDOW, "a limit's bans are damaged")        \
	X(limit_of(GUESSES)->then.strikes_numbers.kind = ALGO_BAN, "a limit's bans are damaged")             \
	X(limit_of(GUESSES)->distinct.count = 2, "what a limit counts is damaged")                           \
	X(limit_of(GUESSES)->distinct.offset = copy->size, "what a limit counts is damaged")                 \
	X(((struct image_key_part *)(uintptr_t)image_at(copy, limit_of(GUESSES)->distinct.offset))->kind =   \
		  99,                                                                                        \
	  "what a limit counts is damaged")                                                                  \
	X(limit_of(MONTHLY)->notify[1] = 80, "when a quota tells is damaged")                                \
	X(limit_of(MONTHLY)->notify[1] = 0, "when a quota tells is damaged")                                 \
	X(counter_of(GUESSES, 0)->seen.kind = ALGO_TOKEN_BUCKET, "a counter is damaged")                     \
	X(counter_of(GUESSES, 0)->numbers = limit_of(GUESSES)->then.ban_numbers, "a counter is damaged")     \
	X(counter_of(MONTHLY, 0)->day_rows.count = 30, "a counter is damaged")                               \
	X(counter_of(MONTHLY, 0)->day_rows.count = 0, "a counter is damaged")                                \
	X(counter_of(MONTHLY, 0)->day_rows.offset = copy->size, "a counter is damaged")                      \
	X(counter_of(SESSIONS, 1)->new_bits4 = 33, "a counter is damaged")                                   \
	X(counter_of(SESSIONS, 1)->new_bits6 = 129, "a counter is damaged")                                  \
	X(counter_of(SESSIONS, 1)->numbers.kind = ALGO_SLIDING_WINDOW, "a counter is damaged")

int main(void)
{
	const struct image *sample = load(text);
	char why[128] = "";

	if (!ok(sample->size <= sizeof room, "there is room for the sample"))
		return done_testing();
	ok(image_check(sample, sample->size, why, sizeof why), "the sample is sound");
	memcpy(copy, sample, sample->size);
	check_costs();
	check_limits();
#define X(change, sentence)                                                                                  \
	memcpy(copy, sample, sample->size);                                                                  \
	change;                                                                                              \
	why[0] = 0;                                                                                          \
	ok(!image_check(copy, sample->size, why, sizeof why), #change);                                      \
	is_str(why, sentence, "is said");
	SPOILS(X)
#undef X
	policy_free(&policy);
	return done_testing();
}
