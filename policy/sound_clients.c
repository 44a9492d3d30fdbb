/* SPDX-License-Identifier: BSD-2-Clause */
/* sound_clients: is what an image says about clients and plans sound? */
#include "policy/sound.h"
#include "table/table.h"

bool sound_texts(struct sound *r, struct image_span span, uint32_t max, const char *what)
{
	const struct image_text *texts;

	if (!sound_span(r, span, sizeof *texts, what))
		return false;
	if (span.count > max)
		return sound_refuse(r, "too many %s", what);
	texts = image_at(r->image, span.offset);
	for (uint32_t i = 0; i < span.count; i++)
		if (!sound_shown(r, texts[i]))
			return false;
	return true;
}

/* `allowed`: mask of enum image_said. */
static bool check_wheres(struct sound *r, struct image_span span, unsigned allowed)
{
	const struct image_where *wheres;

	if (!sound_span(r, span, sizeof *wheres, "places of credentials"))
		return false;
	wheres = image_at(r->image, span.offset);
	for (uint32_t i = 0; i < span.count; i++) {
		bool named = wheres[i].said != IMAGE_SAID_BEARER && wheres[i].said != IMAGE_SAID_KEY;

		if (wheres[i].said > IMAGE_SAID_CLAIM || !(allowed >> wheres[i].said & 1) ||
		    named != (wheres[i].name.size > 0) || !sound_shown(r, wheres[i].name))
			return sound_refuse(r, "a place of credentials is damaged");
	}
	return true;
}

static bool is_plan(const struct sound *r, uint32_t plan)
{
	return plan == IMAGE_PLAN_NONE || plan < r->image->plans.count;
}

/* NULL-terminated they will be: what a door opens. */
static bool check_path(struct sound *r, struct image_text path)
{
	struct text text;

	if (!sound_shown(r, path))
		return false;
	text = image_text(r->image, path);
	return text.size == 0 || text.data[0] == '/' || sound_refuse(r, "a path of clients is not absolute");
}

bool sound_who(const struct sound *r, uint64_t who)
{
	uint64_t known = (UINT64_C(4) << r->image->plans.count) - 1; /* there are at most 60 */

	return (who & ~known) == 0;
}

bool sound_plans(struct sound *r)
{
	return sound_texts(r, r->image->plans, IMAGE_PLANS_MAX, "plans");
}

bool sound_clients(struct sound *r)
{
	const struct image_clients *c = &r->image->clients;
	enum {
		HEADER = 1u << IMAGE_SAID_HEADER,
		BEARER = 1u << IMAGE_SAID_BEARER,
		COOKIE = 1u << IMAGE_SAID_COOKIE,
		QUERY = 1u << IMAGE_SAID_QUERY,
		KEY = 1u << IMAGE_SAID_KEY,
		CLAIM = 1u << IMAGE_SAID_CLAIM
	};

	if (!check_path(r, c->keys_database) || !check_path(r, c->jwks_file) ||
	    !check_path(r, c->jwt_secret_file) || !check_path(r, c->own_limits) ||
	    !sound_text(r, c->jwt_issuer) ||
	    !check_wheres(r, c->keys_from, HEADER | BEARER | COOKIE | QUERY) ||
	    !check_wheres(r, c->jwt_from, HEADER | BEARER | COOKIE | QUERY) ||
	    !check_wheres(r, c->session, HEADER | COOKIE) || !check_wheres(r, c->user_from, HEADER) ||
	    !check_wheres(r, c->plan_from, HEADER | KEY | CLAIM) ||
	    !sound_texts(r, c->jwt_audiences, IMAGE_AUDIENCES_MAX, "audiences"))
		return false;
	if (c->keys_unknown > IMAGE_UNKNOWN_DENY || c->jwt_invalid > IMAGE_UNKNOWN_DENY ||
	    c->jwt_algorithms > (IMAGE_JWT_RS256 | IMAGE_JWT_ES256 | IMAGE_JWT_EDDSA | IMAGE_JWT_HS256) ||
	    c->jwt_leeway_s > 3600 || c->session.count > 1 || c->user_from.count > 1 ||
	    !is_plan(r, c->plan_unknown) || !is_plan(r, c->plan_none) || c->privacy_hash > 1)
		return sound_refuse(r, "what it says about clients is out of range");
	return true;
}

bool sound_variants(struct sound *r, const struct image_limit *limit, uint32_t *next)
{
	const struct image *image = r->image;
	const struct image_variant *list;

	if (!sound_span(r, limit->variants, sizeof *list, "plans of a limit"))
		return false;
	list = image_at(image, limit->variants.offset);
	for (uint32_t i = 0; i < limit->variants.count; i++) {
		bool numbers = list[i].how == IMAGE_VARIANT_NUMBERS;

		if (list[i].plan >= image->plans.count || list[i].how > IMAGE_VARIANT_NEVER ||
		    (i > 0 && list[i - 1].plan >= list[i].plan) || numbers != (list[i].counters.count > 0))
			return sound_refuse(r, "what a plan makes of a limit is damaged");
		if (numbers && (list[i].counters.count > image->counters.count - *next ||
				list[i].counters.offset !=
					image->counters.offset + *next * sizeof(struct image_counter)))
			return sound_refuse(r, "a plan does not have its counters");
		*next += list[i].counters.count;
	}
	return true;
}
