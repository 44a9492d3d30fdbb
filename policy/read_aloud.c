/* SPDX-License-Identifier: BSD-2-Clause */
/* read_aloud: each limit in a sentence, with the most that can pass under it at the worst moment. */
#include <stdio.h>
#include <stdlib.h>

#include "policy/policy.h"
#include "policy/spoken.h"

static const struct {
	const char *word;
	bool named;
} key_words[] = {
	[IMAGE_KEY_SITE] = {"the whole site", false},
	[IMAGE_KEY_IP] = {"client address", false},
	[IMAGE_KEY_HEADER] = {"header ", true},
	[IMAGE_KEY_COOKIE] = {"cookie ", true},
	[IMAGE_KEY_QUERY] = {"query parameter ", true},
	[IMAGE_KEY_HOST] = {"host", false},
	[IMAGE_KEY_PATH] = {"path", false},
	[IMAGE_KEY_METHOD] = {"method", false},
	[IMAGE_KEY_ROUTE] = {"route", false},
	[IMAGE_KEY_VAR] = {"variable $", true},
};

static void say_part(struct spoken *s, const struct image *image, const struct image_key_part *part)
{
	struct text name = image_text(image, part->name);

	if (part->kind == IMAGE_KEY_IP && (part->bits4 != 32 || part->bits6 != image->ipv6_prefix))
		spoken_add(s, "client network (IPv4 /%u, IPv6 /%u)", part->bits4, part->bits6);
	else
		spoken_add(s, "%s%.*s", key_words[part->kind].word,
			   key_words[part->kind].named ? (int)name.size : 0, name.data);
}

/* "header x-api-key, else client address", "header x-tenant and path" */
static void say_key(struct spoken *s, const struct image *image, const struct image_limit *limit)
{
	const struct image_key_part *parts = image_at(image, limit->key.offset);
	uint32_t count = limit->key.count;
	bool combined = count > 0 && parts[0].alternative != parts[count - 1].alternative;

	if (count == 0 || (count == 1 && parts[0].kind == IMAGE_KEY_SITE)) {
		spoken_add(s, "for the whole site together");
		return;
	}
	spoken_add(s, "by ");
	for (uint32_t i = 0; i < count; i++) {
		bool first = i == 0 || parts[i - 1].alternative != parts[i].alternative;
		bool last = i + 1 == count || parts[i + 1].alternative != parts[i].alternative;

		if (i > 0)
			spoken_add(s, first ? " and " : ", else ");
		if (combined && first && !last)
			spoken_add(s, "(");
		say_part(s, image, &parts[i]);
		if (combined && last && !first)
			spoken_add(s, ")");
	}
}

/* The time in which `units` drain or refill. */
static uint64_t time_of(const struct algo_numbers *n, unsigned __int128 units)
{
	unsigned __int128 ns = (units << 64) / n->scale;

	return ns > ALGO_TIME_MAX ? ALGO_TIME_MAX : (uint64_t)ns;
}

/* "one every 12 s": the time between two requests of this cost. */
static void say_interval(struct spoken *s, const struct algo_numbers *n, uint32_t cost)
{
	char every[SPOKEN_MAX];
	unsigned __int128 ns = (unsigned __int128)spoken_period_ns(n) * cost / n->quantity;

	spoken_duration(ns > ALGO_TIME_MAX ? ALGO_TIME_MAX : (uint64_t)ns, every);
	spoken_add(s, "one every %s", every);
}

/* In any half-open stretch of the period: what was saved up, and what refills before its end. */
static void say_most(struct spoken *s, const struct algo_numbers *n, uint64_t saved, uint32_t cost)
{
	uint64_t most = (saved + n->quantity - 1) / cost;
	char period[SPOKEN_MAX];

	if (most <= 1)
		return;
	spoken_period(spoken_period_ns(n), period);
	spoken_add(s, "; at most %llu in any %s", (unsigned long long)most, period);
}

static void say_token_bucket(struct spoken *s, const struct algo_numbers *n, uint32_t cost)
{
	uint64_t tokens = n->capacity >> n->shift;

	if (tokens / cost > 1)
		spoken_add(s, "%llu at once, then ", (unsigned long long)(tokens / cost));
	say_interval(s, n, cost);
	say_most(s, n, tokens, cost);
}

static void say_leaky_bucket(struct spoken *s, const struct algo_numbers *n, uint32_t cost)
{
	uint64_t tokens = n->capacity >> n->shift, free_tokens = n->at_once >> n->shift;
	uint64_t taken = tokens / cost, at_once = free_tokens / cost + 1;
	char wait[SPOKEN_MAX];

	if (at_once > taken)
		at_once = taken;
	if (at_once > 1)
		spoken_add(s, "%llu at once, then ", (unsigned long long)at_once);
	say_interval(s, n, cost);
	if (taken > at_once) {
		spoken_duration(time_of(n, ((unsigned __int128)(taken - 1) * cost << n->shift) - n->at_once),
				wait);
		spoken_add(s, ", up to %llu waiting at most %s", (unsigned long long)(taken - at_once), wait);
	}
	say_most(s, n, free_tokens + cost, cost);
}

static void say_window(struct spoken *s, const struct algo_numbers *n, uint32_t cost)
{
	static const struct {
		const char *window, *edge, *stretch;
	} calendar[] = {
		[ALGO_CALENDAR_DAY] = {"a day (UTC)", "midnight", "24 hours"},
		[ALGO_CALENDAR_WEEK] = {"a week (from Monday, UTC)", "Monday", "7 days"},
		/* 28 days are the longest that cannot reach into three months */
		[ALGO_CALENDAR_MONTH] = {"a month (UTC)", "its end", "28 days"},
		[ALGO_CALENDAR_YEAR] = {"a year (UTC)", "New Year", "365 days"},
	};
	unsigned long long count = n->capacity / cost;
	char period[SPOKEN_MAX];

	spoken_period(n->scale, period);
	switch (n->align) {
	case ALGO_FIRST_REQUEST: /* the first request is what opened the window: it lies a whole period back
				  */
		spoken_add(s, "at most %llu in the %s from the first request", count, period);
		if (count > 1)
			spoken_add(s, "; around its end at most %llu in any %s", 2 * count - 1, period);
		break;
	case ALGO_CLOCK:
		spoken_add(
			s,
			"at most %llu in each %s of the clock (UTC); around its edges at most %llu in any %s",
			count, period, 2 * count, period);
		break;
	default:
		if (n->align >= sizeof calendar / sizeof *calendar)
			break;
		spoken_add(s, "at most %llu in %s; around %s at most %llu in any %s", count,
			   calendar[n->align].window, calendar[n->align].edge, 2 * count,
			   calendar[n->align].stretch);
	}
}

static void say_numbers(struct spoken *s, const struct algo_numbers *n, uint32_t cost)
{
	uint64_t most = n->kind == ALGO_FIXED_WINDOW ? n->capacity : n->capacity >> n->shift;

	if (cost == 0)
		spoken_add(s, "never refused: a request costs nothing");
	else if (most == 0 || n->quantity == 0)
		spoken_add(s, "every request is refused");
	else if (cost > most)
		spoken_add(s, "every request is refused: it costs %u and at most %llu fit", cost,
			   (unsigned long long)most);
	else if (n->kind == ALGO_FIXED_WINDOW)
		say_window(s, n, cost);
	else if (n->scale == 0)
		spoken_add(s, "%llu and never again", (unsigned long long)(most / cost));
	else if (n->kind == ALGO_LEAKY_BUCKET)
		say_leaky_bucket(s, n, cost);
	else
		say_token_bucket(s, n, cost);
}

static void say_rest(struct spoken *s, const struct image_limit *limit)
{
	static const char *const missing[] = {
		[IMAGE_MISSING_NONE] = "",
		[IMAGE_MISSING_IP] = "; without a key by client address",
		[IMAGE_MISSING_SKIP] = "; not for requests without a key",
		[IMAGE_MISSING_DENY] = "; requests without a key are refused",
		[IMAGE_MISSING_ANONYMOUS] = "; requests without a key share one counter",
	};
	static const char *const modes[] = {
		[IMAGE_ENFORCE] = "",
		[IMAGE_SHADOW] = "; in shadow mode: counted, never refused",
		[IMAGE_DISABLED] = "; disabled",
	};

	if (limit->cost > 1)
		spoken_add(s, "; each request costs %u", limit->cost);
	if (limit->count_denied)
		spoken_add(s, "; refused requests count too");
	spoken_add(s, "%s", missing[limit->missing]);
	if (limit->exempt.count > 0)
		spoken_add(s, "; %u exception%s", limit->exempt.count, limit->exempt.count == 1 ? "" : "s");
	spoken_add(s, "%s", modes[limit->mode]);
}

char *policy_read_aloud(const struct image *image)
{
	struct spoken s = {0};

	if (image->limits.count == 0)
		spoken_add(&s, "no limits: every request passes\n");
	for (uint32_t i = 0; i < image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(image, i);
		const struct image_counter *counters = image_at(image, limit->counters.offset);
		struct text name = image_text(image, limit->name),
			    match = image_text(image, limit->match_text);

		spoken_add(&s, "%.*s: ", (int)name.size, name.data);
		if (limit->clauses.count == 0 || match.size == 0)
			spoken_add(&s, "every request, ");
		else
			spoken_add(&s, "%.*s, ", (int)match.size, match.data);
		say_key(&s, image, limit);
		for (uint32_t k = 0; k < limit->counters.count; k++) {
			spoken_add(&s, k ? "; and " : ": ");
			say_numbers(&s, &counters[k].numbers, limit->cost);
		}
		say_rest(&s, limit);
		spoken_add(&s, "\n");
	}
	return s.text;
}
