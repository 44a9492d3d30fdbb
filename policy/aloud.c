/* SPDX-License-Identifier: BSD-2-Clause */
/* aloud: clients and plans in sentences. */
#include "policy/aloud.h"

#include <stdlib.h>

static struct text plan_name(const struct image *image, uint32_t plan)
{
	const struct image_plan *plans = image_at(image, image->plans.offset);

	return image_text(image, plans[plan].name);
}

void aloud_who(struct spoken *s, const struct image *image, uint64_t who)
{
	const char *before = "for ";

	if (who & IMAGE_WHO_ANONYMOUS) {
		spoken_add(s, "%sanonymous clients", before);
		before = " or ";
	}
	if (who & IMAGE_WHO_IDENTIFIED) {
		spoken_add(s, "%sidentified clients", before);
		before = " or ";
	}
	for (uint32_t i = 0; i < image->plans.count; i++) {
		struct text name = plan_name(image, i);

		if (!(who & IMAGE_WHO_PLAN(i)))
			continue;
		spoken_add(s, "%splan %.*s", before, (int)name.size, name.data);
		before = " or ";
	}
	if (who)
		spoken_add(s, ", ");
}

static void say_variant(struct spoken *s, const struct image *image, const struct image_limit *limit,
			const struct image_variant *variant)
{
	const struct image_counter *counters = image_at(image, variant->counters.offset);

	if (variant->how == IMAGE_VARIANT_UNLIMITED)
		spoken_add(s, limit->candidate ? "not judged" : "unlimited");
	else if (variant->how == IMAGE_VARIANT_NEVER)
		spoken_add(s, "every request is refused");
	for (uint32_t i = 0; i < variant->counters.count; i++) {
		spoken_add(s, "%s", i ? "; and " : "");
		aloud_counter(s, image, limit, &counters[i]);
	}
}

void aloud_variants(struct spoken *s, const struct image *image, const struct image_limit *limit)
{
	const struct image_variant *variants = image_at(image, limit->variants.offset);
	struct spoken said[IMAGE_PLANS_MAX] = {0};
	uint32_t count = limit->variants.count < IMAGE_PLANS_MAX ? limit->variants.count : IMAGE_PLANS_MAX;

	for (uint32_t i = 0; i < count; i++)
		say_variant(&said[i], image, limit, &variants[i]);
	/* plans of the same numbers are named together, where the first of them stands */
	for (uint32_t i = 0; i < count; i++) {
		struct text name = plan_name(image, variants[i].plan);
		bool several = false;

		if (!said[i].text)
			continue;
		for (uint32_t k = i + 1; k < count; k++)
			several |= said[k].text && strcmp(said[i].text, said[k].text) == 0;
		spoken_add(s, "  for plan%s %.*s", several ? "s" : "", (int)name.size, name.data);
		for (uint32_t k = i + 1; k < count; k++) {
			if (!said[k].text || strcmp(said[i].text, said[k].text) != 0)
				continue;
			name = plan_name(image, variants[k].plan);
			spoken_add(s, ", %.*s", (int)name.size, name.data);
			free(said[k].text);
			said[k].text = NULL;
		}
		spoken_add(s, ": %s\n", said[i].text);
	}
	for (uint32_t i = 0; i < count; i++)
		free(said[i].text);
}

static void say_wheres(struct spoken *s, const struct image *image, struct image_span span)
{
	static const char *const words[] = {
		[IMAGE_SAID_HEADER] = "header ",	   [IMAGE_SAID_BEARER] = "Authorization: Bearer",
		[IMAGE_SAID_COOKIE] = "cookie ",	   [IMAGE_SAID_QUERY] = "query parameter ",
		[IMAGE_SAID_KEY] = "the API key's record", [IMAGE_SAID_CLAIM] = "token claim ",
	};
	const struct image_where *wheres = image_at(image, span.offset);

	for (uint32_t i = 0; i < span.count; i++) {
		struct text name = image_text(image, wheres[i].name);

		spoken_add(s, "%s%s%.*s", i ? ", else " : "", words[wheres[i].said], (int)name.size,
			   name.data);
	}
}

static void say_plan_of(struct spoken *s, const struct image *image, const char *whose, uint32_t plan)
{
	struct text name = plan == IMAGE_PLAN_NONE ? (struct text){"", 0} : plan_name(image, plan);

	if (plan != IMAGE_PLAN_NONE)
		spoken_add(s, "; %s %.*s", whose, (int)name.size, name.data);
}

void aloud_clients(struct spoken *s, const struct image *image)
{
	static const char *const algorithms[] = {"RS256", "ES256", "EdDSA", "HS256"};
	const struct image_clients *clients = &image->clients;
	const char *before = "";

	if (clients->keys_from.count > 0) {
		spoken_add(s, "API keys: from ");
		say_wheres(s, image, clients->keys_from);
		spoken_add(s, clients->keys_unknown == IMAGE_UNKNOWN_DENY
				      ? "; an unknown one is refused with 401\n"
				      : "; an unknown one is its client's address\n");
	}
	if (clients->jwt_algorithms) {
		spoken_add(s, "tokens: ");
		for (unsigned i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
			if (clients->jwt_algorithms >> i & 1) {
				spoken_add(s, "%s%s", before, algorithms[i]);
				before = ", ";
			}
		spoken_add(s, ", from ");
		say_wheres(s, image, clients->jwt_from);
		spoken_add(s, clients->jwt_invalid == IMAGE_UNKNOWN_DENY
				      ? "; one that is not believed is refused with 401\n"
				      : "; one that is not believed is its client's address\n");
	}
	if (clients->user_from.count > 0) {
		spoken_add(s, "users: ");
		say_wheres(s, image, clients->user_from);
		spoken_add(s, ", from trusted proxies\n");
	}
	if (image->plans.count == 0)
		return;
	spoken_add(s, "plans: ");
	if (clients->plan_from.count > 0) {
		spoken_add(s, "from ");
		say_wheres(s, image, clients->plan_from);
	} else {
		spoken_add(s, "said by nobody");
	}
	say_plan_of(s, image, "who is known without one has", clients->plan_unknown);
	say_plan_of(s, image, "who is not known has", clients->plan_none);
	spoken_add(s, "\n");
}

void aloud_gateway(struct spoken *s, const struct image *image)
{
	char size[SPOKEN_MAX];

	if (!image->gateway.cache_bytes)
		return;
	spoken_bytes(image->gateway.cache_bytes, size);
	spoken_add(s, "the gateway stores answers that may be stored and are nobody's own, at most %s\n",
		   size);
}
