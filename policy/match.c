/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * match: which limits a request meets.
 *
 * What the indexes give is a superset with the path already compared; the other conditions are tested clause
 * by clause. The result is kept sorted while it grows, since nearly every request meets a handful of limits.
 *
 * Of a header that comes more often than is looked at, it may be unknown whether some value fits. `doubt` is
 * then the answer, and always the strict one: yes for what limits and denies, no for what exempts, and the
 * other way round inside a `not`.
 */
#include "policy/match.h"

static bool value_holds(struct text value, uint32_t how, struct text wanted)
{
	switch (how) {
	case IMAGE_EXACT:
		return text_equal(value, wanted);
	case IMAGE_PREFIX:
		return value.size >= wanted.size &&
		       text_equal((struct text){value.data, wanted.size}, wanted);
	case IMAGE_SUFFIX:
		return value.size >= wanted.size &&
		       text_equal((struct text){value.data + value.size - wanted.size, wanted.size}, wanted);
	default: /* IMAGE_PRESENT */
		return value.size > 0;
	}
}

static bool header_holds(const struct image *image, const struct image_header_test *test,
			 const struct image_subject *subject, bool doubt)
{
	struct text name = image_text(image, test->name), wanted = image_text(image, test->value), value;

	if (!subject->header)
		return false;
	for (unsigned nth = 0; subject->header(subject->door, name, nth, &value); nth++) {
		if (nth == IMAGE_VALUES_MAX)
			return doubt;
		if (value_holds(value, test->how, wanted))
			return true;
	}
	return false;
}

static bool host_holds(const struct image *image, const struct image_clause *clause, struct text host)
{
	struct text wanted = image_text(image, clause->host);

	if (!clause->host_suffix)
		return text_equal(host, wanted);
	return host.size > wanted.size && value_holds(host, IMAGE_SUFFIX, wanted);
}

static bool path_holds(const struct image *image, const struct image_path *path,
		       const struct image_subject *subject)
{
	struct path_walk walk = path_begin(path->exact ? subject->path_exact : subject->path_folded);
	const struct image_segment *segments = image_at(image, path->segments.offset);

	for (uint32_t i = 0; i < path->segments.count; i++) {
		struct text segment;

		if (path_ended(&walk))
			return false;
		segment = path_next(&walk);
		if (segments[i].kind == IMAGE_ONE ? segment.size == 0
						  : !text_equal(segment, image_text(image, segments[i].text)))
			return false;
	}
	return path->rest || path_ended(&walk);
}

static uint64_t who_is(const struct image_subject *subject)
{
	return subject->who ? subject->who : IMAGE_WHO_ANONYMOUS;
}

/* All but the path and the nots. */
static bool conditions_hold(const struct image *image, const struct image_clause *clause,
			    const struct image_subject *subject, bool doubt)
{
	const struct image_header_test *tests = image_at(image, clause->headers.offset);

	if (!(clause->methods & subject->method))
		return false;
	if (clause->who && !(clause->who & who_is(subject)))
		return false;
	if (clause->has & IMAGE_HAS_HOST && !host_holds(image, clause, subject->host))
		return false;
	if (clause->has & IMAGE_HAS_IP &&
	    !(subject->has_client && networks_contain(image_at(image, clause->networks.offset),
						      clause->networks.count, &subject->client)))
		return false;
	for (uint32_t i = 0; i < clause->headers.count; i++)
		if (!header_holds(image, &tests[i], subject, doubt))
			return false;
	return true;
}

static bool path_of_clause_holds(const struct image *image, const struct image_clause *clause,
				 const struct image_subject *subject)
{
	const struct image_path *paths = image_at(image, image->paths.offset);

	return !(clause->has & IMAGE_HAS_PATH) || path_holds(image, &paths[clause->path], subject);
}

static bool holds(const struct image *image, const struct image_clause *clause,
		  const struct image_subject *subject, bool path_known, bool doubt)
{
	const struct image_clause *nots = image_at(image, clause->nots.offset);

	if (!conditions_hold(image, clause, subject, doubt) ||
	    !(path_known || path_of_clause_holds(image, clause, subject)))
		return false;
	for (uint32_t i = 0; i < clause->nots.count; i++)
		if (conditions_hold(image, &nots[i], subject, !doubt) &&
		    path_of_clause_holds(image, &nots[i], subject))
			return false;
	return true;
}

bool image_clause_holds(const struct image *image, const struct image_clause *clause,
			const struct image_subject *subject)
{
	return holds(image, clause, subject, false, true);
}

static bool is_one_of(const struct image *image, struct image_span keys, struct text api_key)
{
	const struct image_text *names = image_at(image, keys.offset);

	for (uint32_t i = 0; api_key.size && i < keys.count; i++)
		if (text_equal(image_text(image, names[i]), api_key))
			return true;
	return false;
}

const struct image_exception *image_exception(const struct image *image, struct image_span list,
					      const struct image_subject *subject, int64_t wall)
{
	const struct image_exception *exceptions = image_at(image, list.offset);
	bool deny = image->deny.count > 0 && list.offset == image->deny.offset; /* an empty list is nowhere */

	for (uint32_t i = 0; i < list.count; i++) {
		const struct image_exception *e = &exceptions[i];
		const struct image_clause *clauses = image_at(image, e->clauses.offset);
		bool any = e->clauses.count == 0;

		if (e->until != 0 && e->until <= wall)
			continue;
		if (e->networks.count > 0 &&
		    !(subject->has_client && networks_contain(image_at(image, e->networks.offset),
							      e->networks.count, &subject->client)))
			continue;
		if (e->keys.count > 0 && !is_one_of(image, e->keys, subject->api_key))
			continue;
		for (uint32_t k = 0; k < e->clauses.count && !any; k++)
			any = holds(image, &clauses[k], subject, false, deny);
		if (any)
			return e;
	}
	return NULL;
}

/* Enter the limit if the clause holds and no earlier clause of it has. */
static void consider(struct matches *m, struct image_candidate candidate)
{
	size_t at = m->count;

	/* lists give limits in ascending order, so the end is nearly always the place */
	while (at > 0 && m->hits[at - 1].limit >= candidate.limit)
		at--;
	if (at < m->count && m->hits[at].limit == candidate.limit) {
		if (m->hits[at].clause > candidate.clause &&
		    holds(m->image, image_clause_at(m->image, candidate.clause), m->subject, true, true))
			m->hits[at].clause = candidate.clause;
		return;
	}
	if (m->count == m->max)
		return;
	if (candidate.clause != UINT32_MAX &&
	    !holds(m->image, image_clause_at(m->image, candidate.clause), m->subject, true, true))
		return;
	memmove(&m->hits[at + 1], &m->hits[at], (m->count - at) * sizeof *m->hits);
	m->hits[at] = (struct image_hit){candidate.limit, candidate.clause};
	m->count++;
}

/* The exact host of a candidate's clause, "" if it names none. */
static struct text candidate_host(const struct image *image, struct image_candidate candidate)
{
	const struct image_clause *clause = image_clause_at(image, candidate.clause);

	if (candidate.clause == UINT32_MAX || !(clause->has & IMAGE_HAS_HOST) || clause->host_suffix)
		return (struct text){"", 0};
	return image_text(image, clause->host);
}

void match_range(struct matches *m, struct image_range range)
{
	const struct image_candidate *list = image_at(m->image, m->image->candidates.offset);
	uint32_t at = range.first, end = range.first + range.count, high = end;

	while (at < end && candidate_host(m->image, list[at]).size == 0)
		consider(m, list[at++]);
	while (at < high) { /* the first whose host is not before the request's */
		uint32_t middle = at + (high - at) / 2;

		if (image_order(candidate_host(m->image, list[middle]), m->subject->host) < 0)
			at = middle + 1;
		else
			high = middle;
	}
	while (at < end && text_equal(candidate_host(m->image, list[at]), m->subject->host))
		consider(m, list[at++]);
}

static void match_host(struct matches *m)
{
	const struct image *image = m->image;
	const struct image_host_entry *hosts = image_at(image, image->hosts.offset);
	uint32_t low = 0, high = image->hosts.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = image_order(image_text(image, hosts[middle].host), m->subject->host);

		if (order == 0) {
			match_range(m, hosts[middle].candidates);
			return;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
}

size_t image_match(const struct image *image, const struct image_subject *subject, struct image_hit *out,
		   size_t max)
{
	struct matches m = {.image = image, .subject = subject, .hits = out, .max = max};
	const struct image_candidate *always = image_at(image, image->always.offset);

	for (uint32_t i = 0; i < image->always.count; i++)
		consider(&m, always[i]);
	match_host(&m);
	match_trie(&m, image->folded, subject->path_folded);
	match_trie(&m, image->exact, subject->path_exact);
	return m.count;
}
