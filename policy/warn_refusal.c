/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warn_refusal: what is done instead of refusing, or after it, and turns against the site.
 *
 *   then    a ban under a key that whoever asks can say for somebody else: he is banned, and not the one who did it
 *   slow    an answer that goes out slowly holds its connection; without a bound for how many, all of them
 *   cached  a gateway that stores nothing has no stored answer for who is over a limit
 */
#include "policy/warn.h"

static bool of_the_client(uint32_t kind)
{
	return kind == IMAGE_KEY_IP || kind == IMAGE_KEY_API_KEY || kind == IMAGE_KEY_USER ||
	       kind == IMAGE_KEY_JWT;
}

static bool said_by_anybody(const struct model_limit *limit, uint32_t kind)
{
	bool others = kind == IMAGE_KEY_HEADER || kind == IMAGE_KEY_COOKIE || kind == IMAGE_KEY_QUERY;

	return kind == IMAGE_KEY_BODY || (others && !warn_counts(limit, 1u << IMAGE_NEW_KEYS));
}

/* Can a client name somebody else's key? Not if a part of it, under each of its alternatives, is what he is. */
static bool can_name_others(const struct model_limit *limit)
{
	bool said = false, his = true;

	for (size_t i = 0; i < limit->key_count; i++) {
		bool last = i + 1 == limit->key_count ||
			    limit->key[i + 1].alternative != limit->key[i].alternative;

		said |= said_by_anybody(limit, limit->key[i].kind);
		his = his && of_the_client(limit->key[i].kind);
		if (last && his)
			return false;
		his |= last;
	}
	return said;
}

static void judge_then(struct load *load, const struct model_limit *limit)
{
	if (limit->then.ban_ns && can_name_others(limit))
		diag_warning(
			load, limit->mark,
			"anybody can have somebody else banned by saying his '%.*s' often enough; in place "
			"of 'then' say instead: challenge /PATH, or let ip be a part of the key, too",
			SHOW(limit->key_text));
}

/* Another limit of the same requests and key says how many at the same time. */
static bool beside(const struct load *load, const struct model_limit *limit)
{
	const struct model *model = &load->model;

	for (size_t i = 0; i < model->limit_count; i++) {
		const struct model_limit *other = &model->limits[i];

		if (other->mode == IMAGE_ENFORCE && !other->candidate && other->percent == 100 &&
		    text_equal(other->match_text, limit->match_text) &&
		    text_equal(other->key_text, limit->key_text) &&
		    warn_counts(other, 1u << IMAGE_CONCURRENT))
			return true;
	}
	return false;
}

static void judge_slow(struct load *load)
{
	struct model *model = &load->model;
	size_t count = 0;
	const struct model_limit **bounds = warn_bounds(load, 1u << IMAGE_CONCURRENT, IMAGE_COUNT_ALL,
							&count);

	for (size_t i = 0; bounds && i < model->limit_count; i++) {
		const struct model_limit *limit = &model->limits[i];

		if (limit->instead == IMAGE_INSTEAD_SLOW && limit->mode == IMAGE_ENFORCE &&
		    !limit->candidate && !beside(load, limit) && !warn_bounded(limit, bounds, count))
			diag_warning(
				load, limit->mark,
				"'instead: slow' holds every connection of who is over the limit for as long "
				"as the answer takes; say how many: concurrent: 4 beside it");
	}
}

static void judge_cached(struct load *load, const struct model_limit *limit)
{
	if (load->model.listen_count && !load->model.cache_bytes && limit->instead == IMAGE_INSTEAD_CACHED)
		diag_warning(load, limit->mark,
			     "'instead: cached' has nothing to answer with: the gateway stores no answers; "
			     "add gateway: {cache: 100MiB}");
}

void warn_refusal(struct load *load)
{
	for (size_t i = 0; i < load->model.limit_count; i++) {
		const struct model_limit *limit = &load->model.limits[i];

		if (limit->mode != IMAGE_DISABLED && !limit->candidate)
			judge_then(load, limit);
		judge_cached(load, limit);
	}
	judge_slow(load);
}
