/* SPDX-License-Identifier: BSD-2-Clause */
/* aloud_words: what a limit costs, what it counts, and what a refusal means, in sentences. */
#include "policy/aloud.h"

#include <stdio.h>

#include "policy/model.h"
#include "policy/worst_case.h"

/* Of a cost that each request says itself the worst case is in units of it. */
static uint32_t spoken_cost(const struct image_limit *limit)
{
	bool fixed = limit->costs.ask.from == IMAGE_AMOUNT_NUMBER &&
		     limit->costs.settle.from == IMAGE_AMOUNT_NUMBER;

	return fixed ? limit->cost : 1;
}

void aloud_part(struct spoken *s, const struct image *image, const struct image_key_part *part)
{
	static const struct {
		const char *word;
		bool named;
	} words[] = {
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
		[IMAGE_KEY_API_KEY] = {"API key", false},
		[IMAGE_KEY_USER] = {"user", false},
		[IMAGE_KEY_JWT] = {"token claim ", true},
		[IMAGE_KEY_SESSION] = {"session", false},
		[IMAGE_KEY_BODY] = {"body field ", true},
	};
	struct text name = image_text(image, part->name);

	if (part->kind == IMAGE_KEY_IP && (part->bits4 != 32 || part->bits6 != image->ipv6_prefix))
		spoken_add(s, "client network (IPv4 /%u, IPv6 /%u)", part->bits4, part->bits6);
	else if (part->kind == IMAGE_KEY_API_KEY && name.size > 0)
		spoken_add(s, "%.*s of the API key", (int)name.size, name.data);
	else
		spoken_add(s, "%s%.*s", words[part->kind].word, words[part->kind].named ? (int)name.size : 0,
			   name.data);
}

static void say_new_keys(struct spoken *s, const struct image *image, const struct image_counter *counter)
{
	struct image_key_part part = {
		.kind = IMAGE_KEY_IP,
		.bits4 = counter->new_bits4 ? counter->new_bits4 : 32,
		.bits6 = (uint16_t)(counter->new_bits4 ? counter->new_bits6 : image->ipv6_prefix)};

	spoken_add(s, "new keys by ");
	aloud_part(s, image, &part);
	spoken_add(s, ": ");
	worst_case_say(s, image, counter, 1);
}

void aloud_counter(struct spoken *s, const struct image *image, const struct image_limit *limit,
		   const struct image_counter *counter)
{
	char quota[SPOKEN_MAX];

	if (counter->what == IMAGE_NEW_KEYS) {
		say_new_keys(s, image, counter);
		return;
	}
	if (counter->what == IMAGE_USAGE) {
		spoken_add(s, algo_align_day(counter->seen.align)
				      ? "charged to the bill of each billing month"
				      : "charged to the bill of each month");
		return;
	}
	if (counter->what == IMAGE_RATE && limit->distinct.count > 0) {
		spoken_add(s, "different values of ");
		aloud_part(s, image, image_at(image, limit->distinct.offset));
		spoken_add(s, ": ");
	}
	worst_case_say(s, image, counter, spoken_cost(limit));
	if (counter->soft > 0 && counter->capacity > counter->soft) {
		snprintf(quota, sizeof quota, "%u", counter->soft);
		spoken_add(s, "; the quota is %s, the rest is beyond it", quota);
	}
}

static void say_amount(struct spoken *s, const struct image *image, const struct image_amount *amount)
{
	struct text name = image_text(image, amount->name);
	int size = (int)name.size;

	switch (amount->from) {
	case IMAGE_AMOUNT_HEADER:
		spoken_add(s, "what its header %.*s says", size, name.data);
		break;
	case IMAGE_AMOUNT_BODY:
		spoken_add(s, "what %.*s in its body says", size, name.data);
		break;
	case IMAGE_AMOUNT_BODY_COUNT:
		spoken_add(s, "the number of elements in its body");
		if (size)
			spoken_add(s, "'s %.*s", size, name.data);
		break;
	case IMAGE_AMOUNT_RESPONSE_HEADER:
		spoken_add(s, "what the answer's header %.*s says", size, name.data);
		break;
	case IMAGE_AMOUNT_RESPONSE_BODY:
		spoken_add(s, "what %.*s in the answer says", size, name.data);
		break;
	default:
		spoken_add(s, "%u", amount->number);
	}
}

static void say_cost(struct spoken *s, const struct image *image, const struct image_limit *limit)
{
	const struct image_cost *costs = &limit->costs;
	bool said = costs->ask.from != IMAGE_AMOUNT_NUMBER;

	if (!said && costs->settle.from == IMAGE_AMOUNT_NUMBER) {
		if (limit->cost > 1)
			spoken_add(s, "; each request costs %u", limit->cost);
		return;
	}
	spoken_add(s, "; each request costs ");
	say_amount(s, image, costs->settle.from == IMAGE_AMOUNT_NUMBER ? &costs->ask : &costs->settle);
	if (costs->settle.from != IMAGE_AMOUNT_NUMBER) {
		spoken_add(s, costs->overdraw ? ", into debt if need be; reserved is "
					      : ", but no more than was reserved: ");
		say_amount(s, image, &costs->ask);
	}
	if (said)
		spoken_add(s, ", at most %u", costs->at_most);
}

/* "a minute", "15 minutes", "an hour" */
static void say_length(struct spoken *s, uint64_t ns)
{
	char words[SPOKEN_MAX];

	spoken_period(ns, words);
	if (words[0] >= '0' && words[0] <= '9')
		spoken_add(s, "%s", words);
	else
		spoken_add(s, "%s %s", words[0] == 'h' ? "an" : "a", words);
}

static void say_then(struct spoken *s, const struct image_then *then)
{
	if (then->ban_ns == 0)
		return;
	if (then->strikes > 1) {
		spoken_add(s, "; after %u refusals within ", then->strikes);
		say_length(s, then->strikes_ns);
		spoken_add(s, " banned for ");
	} else {
		spoken_add(s, "; who is refused is banned for ");
	}
	say_length(s, then->ban_ns);
	if (then->most_ns > then->ban_ns) {
		spoken_add(s, ", doubling up to ");
		say_length(s, then->most_ns);
	}
}

static void say_instead(struct spoken *s, const struct image *image, const struct image_limit *limit)
{
	struct text to = image_text(image, limit->instead_to);
	char speed[SPOKEN_MAX];

	switch (limit->instead) {
	case IMAGE_INSTEAD_CHALLENGE:
		spoken_add(s, "; who is over it is sent to %.*s", (int)to.size, to.data);
		break;
	case IMAGE_INSTEAD_CACHED:
		spoken_add(s, "; who is over it gets a stored answer where there is one");
		break;
	case IMAGE_INSTEAD_SLOW:
		spoken_bytes(limit->instead_bytes_per_s, speed);
		spoken_add(s, "; who is over it passes at %s/s", speed);
		break;
	case IMAGE_INSTEAD_CLOSE:
		spoken_add(s, "; who is over it gets no answer");
		break;
	default:
		break;
	}
}

void aloud_words(struct spoken *s, const struct image *image, const struct image_limit *limit)
{
	say_cost(s, image, limit);
	for (size_t i = 0; i < sizeof limit->notify && limit->notify[i]; i++)
		spoken_add(s, "%s%u%%", i ? ", " : "; told at ", limit->notify[i]);
	say_then(s, &limit->then);
	say_instead(s, image, limit);
	if (limit->mode == IMAGE_ENFORCE && limit->percent < 100)
		spoken_add(s, "; enforced for %u%% of its keys, a shadow for the others", limit->percent);
}
