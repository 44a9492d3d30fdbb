/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image: is an image sound that was read from a file?
 *
 * The file is written by us and read by us, but it lies where another process can write. What passes here
 * can be walked without reading outside of it and without walking for ever. Spans and texts are in sound.c.
 */
#include "algo/algo.h"
#include "policy/sound.h"
#include "table/table.h"

/* The lists are a partition of the candidates, in the order in which they are checked: no clause is tried
 * twice. */
static bool check_range(struct sound *r, struct image_range range)
{
	if (range.first != r->next_candidate || range.count > r->image->candidates.count - range.first)
		return sound_refuse(r, "its lists of candidates are damaged");
	r->next_candidate += range.count;
	return true;
}

static bool check_clause(struct sound *r, const struct image_clause *clause)
{
	const struct image *image = r->image;
	const struct image_header_test *tests;
	const struct image_clause *nots;

	if (clause->has & ~(IMAGE_HAS_PATH | IMAGE_HAS_HOST | IMAGE_HAS_IP | IMAGE_HAS_METHOD) ||
	    clause->host_suffix > 1)
		return sound_refuse(r, "a clause has an unknown condition");
	if (!sound_who(r, clause->who))
		return sound_refuse(r, "a clause names a plan that is not there");
	if (clause->has & IMAGE_HAS_PATH && clause->path >= image->paths.count)
		return sound_refuse(r, "a clause names a path that is not there");
	if (!sound_text(r, clause->host) || !sound_networks(r, clause->networks) ||
	    !sound_shown(r, clause->text) || !sound_span(r, clause->headers, sizeof *tests, "header tests") ||
	    !sound_within(r, clause->nots, image->clauses, sizeof *nots, "clauses"))
		return false;
	tests = image_at(image, clause->headers.offset);
	for (uint32_t i = 0; i < clause->headers.count; i++)
		if (!sound_shown(r, tests[i].name) || !sound_text(r, tests[i].value) ||
		    tests[i].how > IMAGE_SUFFIX)
			return sound_refuse(r, "a header test is damaged");
	nots = image_at(image, clause->nots.offset);
	for (uint32_t i = 0; i < clause->nots.count; i++)
		if (nots[i].nots.count > 0)
			return sound_refuse(r, "a 'not' stands inside a 'not'");
	return true;
}

/* What trying the clause once costs. */
static bool spend_clause(struct sound *r, const struct image_clause *clause)
{
	return sound_spend(r, sizeof *clause + clause->nots.count * sizeof *clause +
				      clause->headers.count * sizeof(struct image_header_test));
}

static bool check_clauses(struct sound *r)
{
	const struct image *image = r->image;
	const struct image_path *paths;

	if (!sound_span(r, image->paths, sizeof *paths, "paths") ||
	    !sound_span(r, image->clauses, sizeof(struct image_clause), "clauses"))
		return false;
	paths = image_at(image, image->paths.offset);
	for (uint32_t i = 0; i < image->paths.count; i++) {
		const struct image_segment *segments = image_at(image, paths[i].segments.offset);

		if (!sound_span(r, paths[i].segments, sizeof *segments, "segments") ||
		    !sound_shown(r, paths[i].text))
			return false;
		if (paths[i].rest > 1 || paths[i].exact > 1)
			return sound_refuse(r, "a path is damaged");
		for (uint32_t k = 0; k < paths[i].segments.count; k++)
			if (segments[k].kind > IMAGE_ONE || !sound_text(r, segments[k].text))
				return sound_refuse(r, "a path is damaged");
	}
	for (uint32_t i = 0; i < image->clauses.count; i++)
		if (!check_clause(r, image_clause_at(image, i)))
			return false;
	return true;
}

static bool check_exceptions(struct sound *r, struct image_span span)
{
	const struct image_exception *list;

	if (!sound_span(r, span, sizeof *list, "exceptions"))
		return false;
	list = image_at(r->image, span.offset);
	for (uint32_t i = 0; i < span.count; i++) {
		const struct image_clause *clauses = image_at(r->image, list[i].clauses.offset);

		if (!sound_within(r, list[i].clauses, r->image->clauses, sizeof *clauses, "clauses") ||
		    !sound_networks(r, list[i].networks) || !sound_shown(r, list[i].reason) ||
		    !sound_texts(r, list[i].keys, UINT32_MAX, "names of keys"))
			return false;
		for (uint32_t k = 0; k < list[i].clauses.count; k++)
			if (!spend_clause(r, &clauses[k]))
				return false;
	}
	return true;
}

/* Each kind of counter has the numbers it is counted by, and nothing that belongs to another kind. */
static bool check_what(const struct image_counter *counter)
{
	static const struct algo_numbers none;
	bool calm = counter->queue == 0 && counter->wait_ns == 0;
	bool free = counter->bytes_per_s == 0 && counter->free_bytes == 0;

	switch (counter->what) {
	case IMAGE_RATE:
		return calm && free && counter->numbers.kind != ALGO_CONCURRENT &&
		       counter->numbers.kind != ALGO_BAN && algo_valid(&counter->numbers);
	case IMAGE_CONCURRENT:
		return free && counter->numbers.kind == ALGO_CONCURRENT && algo_valid(&counter->numbers) &&
		       counter->queue <= ALGO_LOG_MAX && counter->wait_ns <= IMAGE_WAIT_MAX &&
		       (counter->queue == 0 ? counter->wait_ns == 0 : counter->wait_ns >= 1000000);
	case IMAGE_BANDWIDTH: /* nothing is counted: the table has no row of it */
		return calm && counter->row == TABLE_ROW_NONE &&
		       memcmp(&counter->numbers, &none, sizeof none) == 0 &&
		       counter->bytes_per_s >= IMAGE_BYTES_MIN && counter->bytes_per_s <= IMAGE_BYTES_MAX &&
		       counter->free_bytes <= IMAGE_BYTES_MAX;
	case IMAGE_TOTAL:
		return calm && counter->free_bytes == 0 && counter->numbers.kind == ALGO_TOKEN_BUCKET &&
		       algo_valid(&counter->numbers) && counter->bytes_per_s >= IMAGE_BYTES_MIN &&
		       counter->bytes_per_s <= IMAGE_TOTAL_MAX;
	case IMAGE_USAGE:
		if (counter->seen.kind != ALGO_FIXED_WINDOW || counter->seen.align < ALGO_CALENDAR_DAY ||
		    !algo_valid(&counter->seen))
			return false;
		/* fall through */
	case IMAGE_NEW_KEYS:
		return calm && free &&
		       (counter->numbers.kind == ALGO_TOKEN_BUCKET ||
			counter->numbers.kind == ALGO_FIXED_WINDOW) &&
		       algo_valid(&counter->numbers);
	default:
		return false;
	}
}

/* The counters of the limits are a partition of all counters, in order: each is checked here once. */
static bool check_counters(struct sound *r, uint32_t number)
{
	const struct image_limit *limit = image_limit_at(r->image, number);
	const struct image_counter *counters = image_counter_at(r->image, r->next_counter);
	uint32_t count;

	if (limit->counters.count == 0 ||
	    limit->counters.count > r->image->counters.count - r->next_counter ||
	    image_at(r->image, limit->counters.offset) != counters)
		return sound_refuse(r, "a limit does not have its counters");
	count = r->next_counter;
	r->next_counter += limit->counters.count;
	if (!sound_variants(r, limit, &r->next_counter))
		return false;
	count = r->next_counter - count;
	for (uint32_t i = 0; i < count; i++)
		if (counters[i].limit != number || !check_what(&counters[i]) ||
		    !sound_shown(r, counters[i].name) || !sound_shown(r, counters[i].zone) ||
		    !sound_shown(r, counters[i].written) || !sound_counter_words(r, &counters[i]) ||
		    counters[i].asker > (IMAGE_ASKER_RATE | IMAGE_ASKER_BURST))
			return sound_refuse(r, "a counter is damaged");
	return true;
}

/* What a failure is: statuses in order, so there are few, and exactly where they are asked for. */
static bool check_failures(struct sound *r, const struct image_limit *limit)
{
	const struct image_statuses *list;
	uint32_t last = 99;

	if (!sound_span(r, limit->failures, sizeof *list, "statuses"))
		return false;
	list = image_at(r->image, limit->failures.offset);
	for (uint32_t i = 0; i < limit->failures.count; i++) {
		if (list[i].from <= last || list[i].to < list[i].from || list[i].to > 599)
			return sound_refuse(r, "what a failure is is damaged");
		last = list[i].to;
	}
	if ((limit->count == IMAGE_COUNT_ALL) != (limit->failures.count == 0))
		return sound_refuse(r, "what a failure is is damaged");
	return true;
}

static bool check_limit(struct sound *r, uint32_t number)
{
	const struct image *image = r->image;
	const struct image_limit *limit = image_limit_at(image, number);
	const struct image_key_part *key = image_at(image, limit->key.offset);

	if (!sound_shown(r, limit->name) || !sound_shown(r, limit->key_text) ||
	    !sound_shown(r, limit->match_text) || !check_counters(r, number) ||
	    !check_exceptions(r, limit->exempt) ||
	    !sound_within(r, limit->clauses, image->clauses, sizeof(struct image_clause), "clauses") ||
	    !sound_span(r, limit->key, sizeof *key, "key parts"))
		return false;
	if (limit->mode > IMAGE_DISABLED || limit->missing > IMAGE_MISSING_ANONYMOUS ||
	    limit->cost > ALGO_BURST_MAX || limit->respond >= image->responds.count ||
	    !sound_who(r, limit->who) || limit->plan_in_key > 1 || limit->count > IMAGE_COUNT_SUCCESSES ||
	    limit->on_full > TABLE_DENY || limit->quota > 8)
		return sound_refuse(r, "a limit is damaged");
	if (!check_failures(r, limit) || !sound_words(r, limit, number))
		return false;
	for (uint32_t i = 0; i < limit->key.count; i++)
		if (key[i].kind > IMAGE_KEY_BODY || key[i].bits4 > 32 || key[i].bits6 > 128 ||
		    !sound_shown(r, key[i].name))
			return sound_refuse(r, "a key is damaged");
	return true;
}

/* Known forms, and no two that write the same fields. */
static bool check_headers(uint32_t mask)
{
	uint32_t x = mask & IMAGE_HEADERS_X, drafts = mask & IMAGE_HEADERS_DRAFTS;

	return (mask & ~(IMAGE_HEADERS_X | IMAGE_HEADERS_DRAFTS)) == 0 && (x & (x - 1)) == 0 &&
	       (drafts & (drafts - 1)) == 0;
}

static bool check_limits(struct sound *r)
{
	const struct image *image = r->image;
	const struct image_respond *responds = image_at(image, image->responds.offset);

	if (!sound_span(r, image->limits, sizeof(struct image_limit), "limits") ||
	    !sound_span(r, image->counters, sizeof(struct image_counter), "counters") ||
	    !sound_span(r, image->responds, sizeof *responds, "answers"))
		return false;
	for (uint32_t i = 0; i < image->responds.count; i++)
		if (responds[i].status < 400 || responds[i].status > 599 ||
		    responds[i].body > IMAGE_BODY_FILE || !check_headers(responds[i].headers) ||
		    !sound_shown(r, responds[i].file_type) || !sound_text(r, responds[i].file_text))
			return sound_refuse(r, "an answer is damaged");
	for (uint32_t i = 0; i < image->limits.count; i++)
		if (!check_limit(r, i))
			return false;
	if (r->next_counter != image->counters.count)
		return sound_refuse(r, "a counter belongs to no limit");
	return true;
}

static bool check_candidates(struct sound *r, struct image_span span)
{
	const struct image *image = r->image;
	const struct image_candidate *list = image_at(image, span.offset);

	if (!sound_span(r, span, sizeof *list, "candidates"))
		return false;
	for (uint32_t i = 0; i < span.count; i++) {
		if (list[i].limit >= image->limits.count ||
		    (list[i].clause >= image->clauses.count && list[i].clause != UINT32_MAX))
			return sound_refuse(r, "a candidate names what is not there");
		if (list[i].clause != UINT32_MAX && !spend_clause(r, image_clause_at(image, list[i].clause)))
			return false;
	}
	return true;
}

static bool check_hosts(struct sound *r)
{
	const struct image *image = r->image;
	const struct image_host_entry *hosts = image_at(image, image->hosts.offset);

	if (!sound_span(r, image->hosts, sizeof *hosts, "hosts"))
		return false;
	for (uint32_t i = 0; i < image->hosts.count; i++)
		if (!sound_text(r, hosts[i].host) || !check_range(r, hosts[i].candidates) ||
		    (i > 0 && image_order(image_text(image, hosts[i - 1].host),
					  image_text(image, hosts[i].host)) >= 0))
			return sound_refuse(r, "its hosts are damaged");
	return true;
}

/* Nodes are numbered in the order in which this loop meets their parents: each has exactly one, before it. */
static bool check_trie(struct sound *r, struct image_span span)
{
	const struct image *image = r->image;
	const struct image_node *nodes = image_at(image, span.offset);
	uint64_t next = 1;

	if (!sound_span(r, span, sizeof *nodes, "nodes"))
		return false;
	for (uint32_t i = 0; i < span.count; i++) {
		const struct image_edge *edges = image_at(image, nodes[i].children.offset);

		if (!sound_span(r, nodes[i].children, sizeof *edges, "edges") ||
		    !check_range(r, nodes[i].below) || !check_range(r, nodes[i].here))
			return false;
		for (uint32_t k = 0; k < nodes[i].children.count; k++) {
			if (!sound_text(r, edges[k].text))
				return false;
			if (edges[k].node != next++ ||
			    (k > 0 && image_order(image_text(image, edges[k - 1].text),
						  image_text(image, edges[k].text)) >= 0))
				return sound_refuse(r, "its paths are not in order");
		}
		if (nodes[i].one != 0 && nodes[i].one != next++)
			return sound_refuse(r, "its paths are not in order");
	}
	if (span.count > 0 && next != span.count)
		return sound_refuse(r, "its paths are not in order");
	return true;
}

static bool check_rest(struct sound *r)
{
	const struct image *image = r->image;
	const struct image_text *listens = image_at(image, image->gateway.listens.offset);
	const struct image_route *routes = image_at(image, image->gateway.routes.offset);

	if (image->address_from > IMAGE_FROM_HEADER || image->ipv6_prefix > 128 ||
	    image->kind > IMAGE_OF_ZONES || image->hits_max > IMAGE_HITS_MAX || image->deny_status < 400 ||
	    image->deny_status > 599 ||
	    (image->gateway.cache_bytes &&
	     (image->gateway.cache_bytes < IMAGE_CACHE_MIN || image->gateway.cache_bytes > IMAGE_BYTES_MAX)))
		return sound_refuse(r, "its settings are out of range");
	if (!sound_shown(r, image->source) || !sound_shown(r, image->address_header) ||
	    !sound_networks(r, image->trusted) ||
	    !sound_span(r, image->gateway.listens, sizeof *listens, "addresses") ||
	    !sound_span(r, image->gateway.routes, sizeof *routes, "routes"))
		return false;
	for (uint32_t i = 0; i < image->gateway.listens.count; i++)
		if (!sound_shown(r, listens[i]))
			return false;
	for (uint32_t i = 0; i < image->gateway.routes.count; i++)
		if (!sound_shown(r, routes[i].match) || !sound_shown(r, routes[i].to))
			return false;
	return true;
}

bool image_check(const void *bytes, size_t size, char *why, size_t why_size)
{
	const struct image *image = bytes;
	struct sound r = {.image = image, .budget = 8 * (uint64_t)size, .why = why, .why_size = why_size};

	if ((uintptr_t)bytes % 8 != 0 || size < sizeof *image || image->magic != IMAGE_MAGIC)
		return sound_refuse(&r, "it is not a policy image");
	if (image->layout != IMAGE_LAYOUT)
		return sound_refuse(&r, "its layout is %u, this program reads %u", image->layout,
				    IMAGE_LAYOUT);
	if (image->size != size || size % 8 != 0)
		return sound_refuse(&r, "it is %zu bytes long and says %u", size, image->size);
	return sound_plans(&r) && check_clauses(&r) && check_limits(&r) &&
	       check_exceptions(&r, image->exempt) && check_exceptions(&r, image->deny) &&
	       check_candidates(&r, image->always) && check_candidates(&r, image->candidates) &&
	       check_hosts(&r) && check_trie(&r, image->folded) && check_trie(&r, image->exact) &&
	       sound_clients(&r) && check_rest(&r) &&
	       (r.next_candidate == image->candidates.count || sound_refuse(&r, "a candidate is in no list"));
}

uint64_t image_checksum(const struct image *image)
{
	const char *bytes = (const char *)image;
	uint64_t sum = UINT64_C(0x9e3779b97f4a7c15) ^ image->size;

	/* against damage, not against intent: word by word, every step invertible, so one changed word always
	 * shows */
	for (size_t at = offsetof(struct image, checksum) + 8; at + 8 <= image->size; at += 8) {
		uint64_t word;

		memcpy(&word, bytes + at, 8);
		sum = (sum ^ word) * UINT64_C(0xff51afd7ed558ccd);
		sum ^= sum >> 32;
	}
	return sum;
}

uint32_t image_method(struct text method)
{
	static const struct text names[] = {
#define X(name) {#name, sizeof #name - 1},
		IMAGE_METHODS(X)
#undef X
	};

	for (uint32_t i = 0; i < IMAGE_METHOD_INDEX_COUNT; i++)
		if (text_equal(method, names[i]))
			return UINT32_C(1) << i;
	return IMAGE_METHOD_OTHER;
}
