/* SPDX-License-Identifier: BSD-2-Clause */
/* image: what image_check refuses, field by field; and that what it lets pass can be walked, whatever bytes
 * were changed. */
#include "tests/policy/walk.h"
#include "tests/tap.h"

static struct image *copy; /* of the sample, to be spoilt */

#define FIRST(type, span) ((type *)(void *)((char *)copy + copy->span.offset))
#define LIMITS		  FIRST(struct image_limit, limits)
#define CLAUSES		  FIRST(struct image_clause, clauses)
#define COUNTERS	  FIRST(struct image_counter, counters)
#define NODES		  FIRST(struct image_node, folded)
#define HOSTS		  FIRST(struct image_host_entry, hosts)
#define PATHS		  FIRST(struct image_path, paths)
#define EDGES(i)	  ((struct image_edge *)(void *)((char *)copy + NODES[i].children.offset))
#define RESPONDS	  FIRST(struct image_respond, responds)
#define STATUSES	  AT(struct image_statuses, LIMITS[6].failures.offset)
/* the last limit has a counter of each kind */
enum { OWN, LOG, SLIDING, ZONE, CONCURRENT, BANDWIDTH, TOTAL, FLIGHT_COUNT };
#define FLIGHT(which)	 COUNTERS[copy->counters.count - FLIGHT_COUNT + (which)]
#define VARIANTS	 AT(struct image_variant, LIMITS[1].variants.offset)
#define WHERES(list)	 AT(struct image_where, copy->clients.list.offset)
#define AT(type, offset) ((type *)(void *)((char *)copy + (offset)))

/* what is done to a sound image; what is said */
#define SPOILS(X)                                                                                            \
	X(copy->magic++, "it is not a policy image")                                                         \
	X(copy->layout++, "its layout is 8, this program reads 7")                                           \
	X(copy->limits.offset += 4, "its limits lie outside of it")                                          \
	X(copy->limits.offset = copy->size, "its limits lie outside of it")                                  \
	X(copy->limits.count = UINT32_MAX, "its limits lie outside of it")                                   \
	X(copy->counters.offset = UINT32_MAX & ~7u, "its counters lie outside of it")                        \
	X(copy->clauses.count = UINT32_MAX / 2, "its clauses lie outside of it")                             \
	X(copy->clauses.count = 1, "some clauses lie outside of theirs")                                     \
	X(copy->paths.count = 1, "a clause names a path that is not there")                                  \
	X(copy->candidates.count--, "its lists of candidates are damaged")                                   \
	X(copy->candidates.count = 0, "its hosts are damaged")                                               \
	X(copy->hosts.count--, "its lists of candidates are damaged")                                        \
	X(copy->exact.count = 0, "a candidate is in no list")                                                \
	X(copy->hits_max = IMAGE_HITS_MAX + 1, "its settings are out of range")                              \
	X(copy->address_from = 99, "its settings are out of range")                                          \
	X(copy->ipv6_prefix = 129, "its settings are out of range")                                          \
	X(copy->deny_status = 200, "its settings are out of range")                                          \
	X(copy->kind = IMAGE_OF_ZONES + 1, "its settings are out of range")                                  \
	X(copy->source.offset = copy->size, "a text lies outside of it")                                     \
	X(copy->source.size = UINT32_MAX, "a text lies outside of it")                                       \
	X(LIMITS[1].mode = 3, "a limit is damaged")                                                          \
	X(LIMITS[1].missing = 5, "a limit is damaged")                                                       \
	X(LIMITS[1].cost = ALGO_BURST_MAX + 1, "a limit is damaged")                                         \
	X(LIMITS[1].respond = 2, "a limit is damaged")                                                       \
	X(LIMITS[1].counters.count = 0, "a limit does not have its counters")                                \
	X(LIMITS[1].counters.count = 100, "a limit does not have its counters")                              \
	X(LIMITS[1].counters.offset += 8, "a limit does not have its counters")                              \
	X(LIMITS[1].counters = LIMITS[2].counters, "a limit does not have its counters")                     \
	X(LIMITS[1].clauses.offset -= (uint32_t)sizeof(struct image_path),                                   \
	  "some clauses lie outside of theirs")                                                              \
	X(LIMITS[1].clauses.count = 1000, "some clauses lie outside of theirs")                              \
	X(LIMITS[1].key.count = 100000, "its key parts lie outside of it")                                   \
	X(AT(struct image_key_part, LIMITS[1].key.offset)->kind = IMAGE_KEY_BODY + 1, "a key is damaged")    \
	X(AT(struct image_key_part, LIMITS[1].key.offset)->bits4 = 33, "a key is damaged")                   \
	X(AT(struct image_key_part, LIMITS[1].key.offset)->bits6 = 129, "a key is damaged")                  \
	X(*AT(char, LIMITS[1].name.offset) = '\n', "a text to be shown has control characters")              \
	X(*AT(char, LIMITS[1].key_text.offset) = 0x7f, "a text to be shown has control characters")          \
	X(COUNTERS[0].limit = 1, "a counter is damaged")                                                     \
	X(COUNTERS[0].limit = UINT32_MAX, "a counter is damaged")                                            \
	X(COUNTERS[0].numbers.kind = 0, "a counter is damaged")                                              \
	X(COUNTERS[0].numbers.shift = 64, "a counter is damaged")                                            \
	X(COUNTERS[0].what = IMAGE_USAGE + 1, "a counter is damaged")                                        \
	X(COUNTERS[0].what = IMAGE_CONCURRENT, "a counter is damaged")                                       \
	X(COUNTERS[0].what = IMAGE_BANDWIDTH, "a counter is damaged")                                        \
	X(COUNTERS[0].what = IMAGE_TOTAL, "a counter is damaged")                                            \
	X(COUNTERS[0].queue = 1, "a counter is damaged")                                                     \
	X(COUNTERS[0].wait_ns = 1000000, "a counter is damaged")                                             \
	X(COUNTERS[0].bytes_per_s = 1024, "a counter is damaged")                                            \
	X(COUNTERS[0].free_bytes = 1, "a counter is damaged")                                                \
	X(COUNTERS[0].zone.offset = copy->size + 1, "a counter is damaged")                                  \
	X(COUNTERS[0].written.offset = copy->size + 1, "a counter is damaged")                               \
	X(FLIGHT(ZONE).zone.size = UINT32_MAX, "a counter is damaged")                                       \
	X(*AT(char, FLIGHT(ZONE).zone.offset) = '\n', "a counter is damaged")                                \
	X(FLIGHT(CONCURRENT).what = IMAGE_RATE, "a counter is damaged")                                      \
	X(FLIGHT(CONCURRENT).numbers.capacity = ALGO_LOG_MAX + 1, "a counter is damaged")                    \
	X(FLIGHT(CONCURRENT).queue = ALGO_LOG_MAX + 1, "a counter is damaged")                               \
	X(FLIGHT(CONCURRENT).queue = 0, "a counter is damaged")                                              \
	X(FLIGHT(CONCURRENT).wait_ns = 0, "a counter is damaged")                                            \
	X(FLIGHT(CONCURRENT).wait_ns = 999999, "a counter is damaged")                                       \
	X(FLIGHT(CONCURRENT).wait_ns = IMAGE_WAIT_MAX + 1, "a counter is damaged")                           \
	X(FLIGHT(CONCURRENT).bytes_per_s = 1024, "a counter is damaged")                                     \
	X(FLIGHT(BANDWIDTH).what = IMAGE_RATE, "a counter is damaged")                                       \
	X(FLIGHT(BANDWIDTH).row = 1, "a counter is damaged")                                                 \
	X(FLIGHT(BANDWIDTH).numbers = FLIGHT(TOTAL).numbers, "a counter is damaged")                         \
	X(FLIGHT(BANDWIDTH).bytes_per_s = 1023, "a counter is damaged")                                      \
	X(FLIGHT(BANDWIDTH).bytes_per_s = IMAGE_BYTES_MAX + 1, "a counter is damaged")                       \
	X(FLIGHT(BANDWIDTH).free_bytes = IMAGE_BYTES_MAX + 1, "a counter is damaged")                        \
	X(FLIGHT(TOTAL).numbers = FLIGHT(LOG).numbers, "a counter is damaged")                               \
	X(FLIGHT(TOTAL).bytes_per_s = IMAGE_TOTAL_MAX + 1, "a counter is damaged")                           \
	X(FLIGHT(TOTAL).free_bytes = 1, "a counter is damaged")                                              \
	X(LIMITS[1].count = IMAGE_COUNT_SUCCESSES + 1, "a limit is damaged")                                 \
	X(LIMITS[1].on_full = TABLE_DENY + 1, "a limit is damaged")                                          \
	X(LIMITS[1].count = IMAGE_COUNT_FAILURES, "what a failure is is damaged")                            \
	X(LIMITS[6].count = IMAGE_COUNT_ALL, "what a failure is is damaged")                                 \
	X(LIMITS[6].failures.count = 0, "what a failure is is damaged")                                      \
	X(LIMITS[6].failures.count = UINT32_MAX, "its statuses lie outside of it")                           \
	X(LIMITS[6].failures.offset = copy->size, "its statuses lie outside of it")                          \
	X(LIMITS[6].failures.offset += 4, "its statuses lie outside of it")                                  \
	X(STATUSES[0].from = 99, "what a failure is is damaged")                                             \
	X(STATUSES[1].to = 600, "what a failure is is damaged")                                              \
	X(STATUSES[1].to = 402, "what a failure is is damaged")                                              \
	X(STATUSES[1].from = 401, "what a failure is is damaged")                                            \
	X(RESPONDS[0].headers = 64, "an answer is damaged")                                                  \
	X(RESPONDS[0].headers = IMAGE_HEADERS_X_RATELIMIT | IMAGE_HEADERS_DELTA, "an answer is damaged")     \
	X(RESPONDS[0].headers = IMAGE_HEADERS_GITHUB | IMAGE_HEADERS_DELTA, "an answer is damaged")          \
	X(RESPONDS[0].headers = IMAGE_HEADERS_RATELIMIT | IMAGE_HEADERS_DRAFT_7, "an answer is damaged")     \
	X(RESPONDS[0].headers = IMAGE_HEADERS_DRAFT_6 | IMAGE_HEADERS_DRAFT_7, "an answer is damaged")       \
	X(CLAUSES[0].has = 16, "a clause has an unknown condition")                                          \
	X(CLAUSES[0].path = UINT32_MAX, "a clause names a path that is not there")                           \
	X(CLAUSES[0].host_suffix = 2, "a clause has an unknown condition")                                   \
	X(CLAUSES[0].nots.offset++, "some clauses lie outside of theirs")                                    \
	X(CLAUSES[0].nots.offset = copy->clauses.offset, "a 'not' stands inside a 'not'")                    \
	X(CLAUSES[0].networks.count = UINT32_MAX, "its networks lie outside of it")                          \
	X(CLAUSES[0].headers.count = UINT32_MAX, "its header tests lie outside of it")                       \
	X(PATHS[0].segments.count = UINT32_MAX, "its segments lie outside of it")                            \
	X(PATHS[0].exact = 2, "a path is damaged")                                                           \
	X(AT(struct image_segment, PATHS[0].segments.offset)->kind = 2, "a path is damaged")                 \
	X(memset(AT(char, copy->trusted.offset), 0xff, 16), "networks are not in order")                     \
	X(FIRST(struct image_respond, responds)[1].status = 99, "an answer is damaged")                      \
	X(FIRST(struct image_respond, responds)[1].body = 4, "an answer is damaged")                         \
	X(*AT(char, FIRST(struct image_respond, responds)[1].file_type.offset) = '\r',                       \
	  "an answer is damaged")                                                                            \
	X(FIRST(struct image_candidate, always)->limit = UINT32_MAX, "a candidate names what is not there")  \
	X(FIRST(struct image_candidate, candidates)->clause = 1000000,                                       \
	  "a candidate names what is not there")                                                             \
	X(HOSTS[0].candidates.count++, "its hosts are damaged")                                              \
	X(HOSTS[1].host = HOSTS[0].host, "its hosts are damaged")                                            \
	X(NODES[0].one = 1, "its paths are not in order")                                                    \
	X(NODES[1].one = 1, "its paths are not in order")                                                    \
	X(NODES[0].children.count--, "its paths are not in order")                                           \
	X(NODES[0].children.count = UINT32_MAX, "its edges lie outside of it")                               \
	X(EDGES(0)[0].node = 0, "its paths are not in order")                                                \
	X(EDGES(0)[1].node = EDGES(0)[0].node, "its paths are not in order")                                 \
	X(EDGES(0)[1].text = EDGES(0)[0].text, "its paths are not in order")                                 \
	X(NODES[1].below.first++, "its lists of candidates are damaged")                                     \
	X(copy->folded.count--, "its paths are not in order")                                                \
	X(copy->plans.count = UINT32_MAX, "its plans lie outside of it")                                     \
	X(copy->plans.count = 1, "what a plan makes of a limit is damaged")                                  \
	X(*AT(char, FIRST(struct image_text, plans)->offset) = '\n',                                         \
	  "a text to be shown has control characters")                                                       \
	X(CLAUSES[0].who = IMAGE_WHO_PLAN(3), "a clause names a plan that is not there")                     \
	X(CLAUSES[0].who = UINT64_MAX, "a clause names a plan that is not there")                            \
	X(LIMITS[1].who = IMAGE_WHO_PLAN(3), "a limit is damaged")                                           \
	X(LIMITS[1].plan_in_key = 2, "a limit is damaged")                                                   \
	X(LIMITS[1].variants.count = UINT32_MAX, "its plans of a limit lie outside of it")                   \
	X(LIMITS[1].variants.offset += 4, "its plans of a limit lie outside of it")                          \
	X(LIMITS[2].variants = LIMITS[1].variants, "a plan does not have its counters")                      \
	X(VARIANTS[0].plan = 3, "what a plan makes of a limit is damaged")                                   \
	X(VARIANTS[0].how = 3, "what a plan makes of a limit is damaged")                                    \
	X(VARIANTS[0].how = IMAGE_VARIANT_NEVER, "what a plan makes of a limit is damaged")                  \
	X(VARIANTS[1].plan = 0, "what a plan makes of a limit is damaged")                                   \
	X(VARIANTS[1].how = IMAGE_VARIANT_NUMBERS, "what a plan makes of a limit is damaged")                \
	X(VARIANTS[1].counters = VARIANTS[0].counters, "what a plan makes of a limit is damaged")            \
	X(VARIANTS[0].counters.count = 0, "what a plan makes of a limit is damaged")                         \
	X(VARIANTS[0].counters.count = 100, "a plan does not have its counters")                             \
	X(VARIANTS[0].counters.offset -= (uint32_t)sizeof(struct image_counter),                             \
	  "a plan does not have its counters")                                                               \
	X(VARIANTS[0].counters.count = 1, "a limit does not have its counters")                              \
	X(VARIANTS[0].counters = LIMITS[1].counters, "a plan does not have its counters")                    \
	X(FIRST(struct image_exception, deny)->keys.count = UINT32_MAX,                                      \
	  "its names of keys lie outside of it")                                                             \
	X(AT(struct image_text, FIRST(struct image_exception, deny)->keys.offset)->size = UINT32_MAX,        \
	  "a text lies outside of it")                                                                       \
	X(*AT(char, copy->clients.keys_database.offset) = 'k', "a path of clients is not absolute")          \
	X(*AT(char, copy->clients.jwks_file.offset) = 0, "a text to be shown has control characters")        \
	X(copy->clients.jwt_issuer.offset = UINT32_MAX, "a text lies outside of it")                         \
	X(copy->clients.keys_from.count = UINT32_MAX, "its places of credentials lie outside of it")         \
	X(WHERES(keys_from)[0].said = IMAGE_SAID_KEY, "a place of credentials is damaged")                   \
	X(WHERES(keys_from)[0].said = 99, "a place of credentials is damaged")                               \
	X(WHERES(keys_from)[0].said = IMAGE_SAID_BEARER, "a place of credentials is damaged")                \
	X(WHERES(keys_from)[1].said = IMAGE_SAID_HEADER, "a place of credentials is damaged")                \
	X(WHERES(keys_from)[0].name.offset = UINT32_MAX, "a place of credentials is damaged")                \
	X(WHERES(session)[0].said = IMAGE_SAID_QUERY, "a place of credentials is damaged")                   \
	X(WHERES(plan_from)[1].said = IMAGE_SAID_COOKIE, "a place of credentials is damaged")                \
	X(copy->clients.session = copy->clients.jwt_from, "a place of credentials is damaged")               \
	X(WHERES(user_from)[0].said = IMAGE_SAID_COOKIE, "a place of credentials is damaged")                \
	X(copy->clients.user_from = copy->clients.jwt_from, "a place of credentials is damaged")             \
	X(copy->clients.jwt_audiences.count = 100000, "its audiences lie outside of it")                     \
	X(copy->clients.keys_unknown = 2, "what it says about clients is out of range")                      \
	X(copy->clients.jwt_invalid = 2, "what it says about clients is out of range")                       \
	X(copy->clients.jwt_algorithms = 16, "what it says about clients is out of range")                   \
	X(copy->clients.jwt_leeway_s = 3601, "what it says about clients is out of range")                   \
	X(copy->clients.plan_unknown = 3, "what it says about clients is out of range")                      \
	X(copy->clients.plan_none = 3, "what it says about clients is out of range")                         \
	X(copy->clients.privacy_hash = 2, "what it says about clients is out of range")                      \
	X(copy->gateway.listens.count = UINT32_MAX, "its addresses lie outside of it")                       \
	X(copy->gateway.routes.count = UINT32_MAX, "its routes lie outside of it")                           \
	X(copy->gateway.cache_bytes = 1, "its settings are out of range")                                    \
	X(copy->gateway.cache_bytes = IMAGE_BYTES_MAX + 1, "its settings are out of range")

static void test_spoils(const struct image *sample)
{
	char why[128];

#define X(change, sentence)                                                                                  \
	memcpy(copy, sample, sample->size);                                                                  \
	change;                                                                                              \
	why[0] = 0;                                                                                          \
	ok(!image_check(copy, sample->size, why, sizeof why), #change);                                      \
	is_str(why, sentence, "is said");
	SPOILS(X)
#undef X
	memcpy(copy, sample, sample->size);
	ok(!image_check(copy, sample->size - 8, why, sizeof why), "cut short");
	ok(!image_check(copy, 8, why, sizeof why), "shorter than a header");
	ok(!image_check((char *)copy + 4, sample->size - 4, why, sizeof why), "not aligned");
	ok(!image_check(copy, 0, NULL, 0), "nothing");
	ok(image_check(copy, sample->size, why, sizeof why), "the sound one passes");
}

/* Changed words that often are plausible: small numbers, other words of the image. */
static void test_random(const struct image *sample)
{
	uint64_t state = 4711, passed = 0, sum = 0;
	uint32_t words = sample->size / 4;

	for (unsigned round = 0; round < 100000; round++) {
		uint32_t *bytes = (uint32_t *)(void *)copy;

		memcpy(copy, sample, sample->size);
		for (unsigned changes = 1 + round % 3; changes > 0; changes--) {
			uint32_t at, value;

			state = state * 6364136223846793005u + 1442695040888963407u;
			at = (uint32_t)(state >> 33) % words;
			state = state * 6364136223846793005u + 1442695040888963407u;
			value = (uint32_t)(state >> 32);
			switch (value % 4) {
			case 0:
				bytes[at] ^= 1u << (value >> 8) % 32;
				break;
			case 1:
				bytes[at] = (value >> 8) % 64;
				break;
			case 2:
				bytes[at] = bytes[(value >> 8) % words];
				break;
			default:
				bytes[at] += (value >> 8) % 17 - 8;
			}
		}
		if (!image_check(copy, sample->size, NULL, 0))
			continue;
		passed++;
		sum += walk_image(copy);
	}
	ok(passed > 5000, "many changed images pass the check");
	ok(sum != 0, "and each of them can be walked");
	note("%" PRIu64 " passed", passed);
}

static const struct {
	const char *method;
	uint32_t bit;
} methods[] = {
	{"GET", IMAGE_METHOD_BIT(GET)},	  {"HEAD", IMAGE_METHOD_BIT(HEAD)},
	{"POST", IMAGE_METHOD_BIT(POST)}, {"QUERY", IMAGE_METHOD_BIT(QUERY)},
	{"get", IMAGE_METHOD_OTHER},	  {"GETX", IMAGE_METHOD_OTHER},
	{"GE", IMAGE_METHOD_OTHER},	  {"", IMAGE_METHOD_OTHER},
	{"BREW", IMAGE_METHOD_OTHER},
};

int main(void)
{
	struct image *sample = walk_sample();

	copy = sample ? malloc(sample->size) : NULL;
	if (!ok(copy != NULL, "a sample with something of everything"))
		return 1;
	test_spoils(sample);
	test_random(sample);
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		is_u64(image_method(text_of(methods[i].method)), methods[i].bit, methods[i].method);
	free(copy);
	free(sample);
	return done_testing();
}
