/* SPDX-License-Identifier: BSD-2-Clause */
/* read_aloud: each limit in a sentence, with the most that can pass under it at the worst moment. */
#include <stdio.h>
#include <stdlib.h>

#include "policy/aloud.h"
#include "policy/policy.h"
#include "policy/spoken.h"

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
		aloud_part(s, image, &parts[i]);
		if (combined && last && !first)
			spoken_add(s, ")");
	}
}

static void say_statuses(struct spoken *s, unsigned from, unsigned to, bool hundreds)
{
	if (hundreds && from % 100 == 0 && to == from + 99)
		spoken_add(s, "%uxx", from / 100);
	else if (to == from)
		spoken_add(s, "%u", from);
	else
		spoken_add(s, "%u to %u", from, to);
}

/* "counts only failures (400 to 499)", "counts only successes (no 4xx, no 5xx)": an outage is never a success. */
static void say_count(struct spoken *s, const struct image *image, const struct image_limit *limit)
{
	const struct image_statuses *list = image_at(image, limit->failures.offset);
	bool failures = limit->count == IMAGE_COUNT_FAILURES;

	spoken_add(s, failures ? "; counts only failures (" : "; counts only successes (");
	for (uint32_t i = 0; i < limit->failures.count; i++) {
		if (failures) {
			spoken_add(s, "%s", i ? ", " : "");
			say_statuses(s, list[i].from, list[i].to, false);
		} else if (list[i].from < 500) {
			spoken_add(s, "no ");
			say_statuses(s, list[i].from, list[i].to < 500 ? list[i].to : 499, true);
			spoken_add(s, ", ");
		}
	}
	spoken_add(s, failures ? ")" : "no 5xx)");
}

static void say_rest(struct spoken *s, const struct image *image, const struct image_limit *limit)
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

	static const char *const fulls[] = {
		[TABLE_EVICT] = "",
		[TABLE_ALLOW] = "; new keys pass uncounted while the table is full",
		[TABLE_DENY] = "; new keys are refused while the table is full",
	};

	if (limit->count != IMAGE_COUNT_ALL)
		say_count(s, image, limit);
	if (limit->count_denied)
		spoken_add(s, "; refused requests count too");
	spoken_add(s, "%s", missing[limit->missing]);
	if (limit->exempt.count > 0)
		spoken_add(s, "; %u exception%s", limit->exempt.count, limit->exempt.count == 1 ? "" : "s");
	spoken_add(s, "%s", fulls[limit->on_full]);
	aloud_words(s, image, limit);
	spoken_add(s, "%s", modes[limit->mode]);
}

/* "one: 2r/s, burst 5, by $binary_remote_addr" */
static void say_zone(struct spoken *s, const struct image *image, const struct image_limit *limit)
{
	struct text name = image_text(image, limit->name), key = image_text(image, limit->key_text);
	char words[SPOKEN_MAX];

	spoken_counter(image, image_at(image, limit->counters.offset), words);
	spoken_add(s, "%.*s: %s, by %.*s\n", (int)name.size, name.data, words, (int)key.size, key.data);
}

char *policy_read_aloud(const struct image *image)
{
	struct spoken s = {0};

	if (image->limits.count == 0)
		spoken_add(&s, "no limits: every request passes\n");
	for (uint32_t i = 0; image->kind == IMAGE_OF_ZONES && i < image->limits.count; i++)
		say_zone(&s, image, image_limit_at(image, i));
	if (image->kind == IMAGE_OF_ZONES)
		return s.text;
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
		aloud_who(&s, image, limit->who);
		say_key(&s, image, limit);
		for (uint32_t k = 0; k < limit->counters.count; k++) {
			spoken_add(&s, k ? "; and " : ": ");
			aloud_counter(&s, image, limit, &counters[k]);
		}
		say_rest(&s, image, limit);
		spoken_add(&s, "\n");
		aloud_variants(&s, image, limit);
	}
	aloud_clients(&s, image);
	aloud_gateway(&s, image);
	return s.text;
}
