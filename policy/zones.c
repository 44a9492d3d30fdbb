/* SPDX-License-Identifier: BSD-2-Clause */
/* zones: nginx's zones as a model of limits, one counter each, which the compiler takes as it takes a policy's. */
#include "policy/zones.h"

#include <stdio.h>
#include <stdlib.h>

#include "algo/limit_req.h"
#include "algo/wide.h"
#include "policy/compile.h"
#include "policy/place.h"
#include "policy/publish.h"
#include "table/why.h"

/* A zone's text as it is shown and hashed. Without control characters, which no image shows; injective, so that what
 * differs in nginx.conf has counters of its own. */
static struct text shown(struct arena *arena, struct text text)
{
	static const char digits[] = "0123456789abcdef";
	char *out = arena_alloc(arena, 4 * text.size + 1);
	size_t used = 0;

	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];

		if (c >= 0x20 && c != 0x7f && c != '\\') {
			out[used++] = (char)c;
			continue;
		}
		out[used++] = '\\';
		out[used++] = 'x';
		out[used++] = digits[c >> 4];
		out[used++] = digits[c & 15];
	}
	return (struct text){out, used};
}

static uint32_t asker(const struct zone_spec *zone)
{
	if (zone->connections)
		return 0;
	return (zone->count == 0 ? IMAGE_ASKER_RATE : 0) | (zone->burst_varies ? IMAGE_ASKER_BURST : 0);
}

/* Who asks says the burst, always: the row's own is for eviction, which weighs what is used by it. Where a variable says
 * how much that may be, or how long a request takes, the row has room for one (table/DESIGN.md). */
static bool rate_numbers(const struct zone_spec *zone, struct algo_numbers *out)
{
	uint32_t burst = asker(zone) ? 0 : zone->burst;

	if (zone->connections)
		return zone->burst < ALGO_LOG_MAX && algo_concurrent(zone->burst + 1, out);
	if (zone->burst >= ALGO_BURST_MAX || !(zone->nginx ? algo_limit_req : algo_limit_req_exact)(
						     zone->count, zone->period_ns, burst, burst, out))
		return false;
	if (zone->burst_varies)
		limit_req_let_ask(out);
	return true;
}

static void fill(struct arena *arena, const struct zone_spec *zone, struct model_limit *limit)
{
	struct model_rate *rate = arena_alloc(arena, sizeof *rate);

	limit->mark = (struct model_mark){.file = zone->file, .line = zone->line};
	limit->name = shown(arena, zone->name);
	limit->key_text = shown(arena, zone->key);
	limit->key_count = 1;
	limit->key = arena_alloc(arena, sizeof *limit->key);
	limit->key->kind = IMAGE_KEY_VAR;
	limit->key_names = arena_alloc(arena, sizeof *limit->key_names);
	limit->key_names[0] = TEXT("");	     /* who it is of, the identity says: the key's text is in it */
	limit->missing = IMAGE_MISSING_SKIP; /* nginx: a key that is empty is not counted */
	limit->cost = 1;
	limit->respond = (struct model_respond){.status = 503, .body = IMAGE_BODY_TEXT};
	limit->rates = rate;
	limit->rate_count = 1;
	rate->mark = limit->mark;
	rate->count = zone->connections ? zone->burst + 1 : zone->count;
	rate->period_ns = zone->connections ? 0 : zone->period_ns;
	rate->what = zone->connections ? IMAGE_CONCURRENT : IMAGE_RATE;
	rate->unit = zone->connections ? TEXT("concurrent") : TEXT("");
	rate->asker = asker(zone);
	if (zone->connections)
		return;
	rate->written = shown(arena, zone->rate);
	rate->most = zone->burst_varies ? 1 : zone->burst + 1;
}

/* Of the zones before `count`, one has that name. Few, so a walk does. */
static bool seen(const struct model_limit *limits, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(limits[i].name, limits[count].name))
			return true;
	return false;
}

/* Of everything that a zone says, one after the other. */
static uint64_t hash_one(struct arena *arena, uint64_t before, const struct zone_spec *zone,
			 const struct model_limit *limit)
{
	const struct model_rate *rate = limit->rates;

	return compile_key_identity(arena_format(
		arena, "%016llx %zu %.*s %zu %.*s %.*s %u %llu %u %d %d %u", (unsigned long long)before,
		limit->name.size, (int)limit->name.size, limit->name.data, limit->key_text.size,
		(int)limit->key_text.size, limit->key_text.data, (int)rate->written.size,
		rate->written.size ? rate->written.data : "", rate->count,
		(unsigned long long)rate->period_ns, zone->burst_varies ? 0 : zone->burst, zone->nginx,
		zone->connections, rate->asker));
}

/* Of the eight ways of a pair what zone i keeps for itself: its share of all bytes, rounded up, but one way at the least, and of
 * those of the others one each. One zone alone has all. */
static uint32_t quota(const struct zone_spec *zones, size_t count, size_t i)
{
	uint64_t most = count < 8 ? 9 - count : 1, share;
	wide all = 0;

	for (size_t k = 0; k < count; k++)
		all += zones[k].bytes;
	if (all == 0)
		return 0;
	share = (uint64_t)((8 * (wide)zones[i].bytes + all - 1) / all);
	return (uint32_t)(share == 0 ? 1 : share < most ? share : most);
}

static struct image *build(struct arena *arena, const struct zone_spec *zones, size_t count,
			   const char *name_space, const char *source, int64_t compiled_at,
			   const struct why *why)
{
	struct model model = {.kind = IMAGE_OF_ZONES,
			      .source = shown(arena, text_of(source)),
			      .limits = arena_alloc(arena, (count + 1) * sizeof *model.limits),
			      .limit_count = count,
			      .ipv6_prefix = 128,
			      .deny_status = 403};
	char sentence[512] = "";
	struct model_mark mark;
	struct image *image;

	for (size_t i = 0; i < count; i++) {
		struct model_limit *limit = &model.limits[i];
		const char *wrong = NULL;

		fill(arena, &zones[i], limit);
		limit->quota = quota(zones, count, i);
		if (zones[i].name.size == 0 || seen(model.limits, i))
			wrong = zones[i].name.size ? "is there twice" : "has no name";
		else if (!rate_numbers(&zones[i], &limit->rates->numbers))
			wrong = "has numbers that are out of range together";
		if (wrong) {
			why_error(why, WEIR_BAD_POLICY, "%s:%u: zone '%.*s' %s",
				  zones[i].file ? zones[i].file : source, zones[i].line,
				  (int)(limit->name.size < 256 ? limit->name.size : 256), limit->name.data,
				  wrong);
			return NULL;
		}
		model.source_hash = hash_one(arena, model.source_hash + limit->quota, &zones[i], limit);
	}
	image = model_compile(&model, name_space, compiled_at, &mark, sentence, sizeof sentence);
	if (!image)
		why_error(why, WEIR_BAD_POLICY, "%s:%u: %s", mark.file ? mark.file : source, mark.line,
			  sentence);
	return image;
}

struct image *zones_image(const struct zone_spec *zones, size_t count, const char *name_space,
			  const char *source, int64_t compiled_at, char *why, size_t size)
{
	const struct why reason = {why, size};
	struct arena arena = {0};
	struct image *image;

	if (setjmp(arena.out_of_memory) != 0) {
		why_error(&reason, WEIR_NO_MEMORY, "out of memory");
		arena_free(&arena);
		return NULL;
	}
	image = build(&arena, zones, count, name_space, source, compiled_at, &reason);
	arena_free(&arena);
	return image;
}

size_t zones_difference(const struct image *old, const struct image *fresh, char *words, size_t size)
{
	struct publish_report report = {.generation = 0};
	bool *known = old ? calloc(fresh->counters.count + 1, sizeof *known) : NULL;

	if (known)
		publish_tell(known, old, fresh, &report);
	free(known);
	if (size > 0)
		snprintf(words, size, "%s", report.words);
	return report.anew;
}

bool zones_may_replace(const struct image *old)
{
	return !old || old->kind == IMAGE_OF_ZONES;
}

bool zones_table_path(const char *nginx_conf, unsigned uid, char *out, size_t size)
{
	char name_space[PLACE_MAX + 8] = "nginx:";

	if (size == 0)
		return false;
	out[0] = '\0';
	if (!policy_absolute_path(nginx_conf, name_space + 6, sizeof name_space - 6))
		return false;
	table_default_path(name_space, uid, out, size);
	return true;
}
