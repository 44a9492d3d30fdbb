/* SPDX-License-Identifier: BSD-2-Clause */
/* report: what a publication means for counters: carried over, started, dropped. Silence would be a lie: a
 * changed key looks like a small edit and forgets everyone. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy/publish.h"
#include "policy/report_manner.h"
#include "policy/spoken.h"

struct place { /* of a counter in its image */
	uint64_t identity;
	const struct image_counter *counter;
};
struct side {
	const struct image *image;
	struct place *places; /* of the limits' own counters: sorted by identity */
	size_t place_count;
	const struct image_limit **names; /* sorted by name */
};

static int by_identity(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return a->identity < b->identity ? -1 : a->identity > b->identity;
}

static int by_name(const void *left, const void *right, void *image)
{
	const struct image_limit *const *a = left, *const *b = right;

	return image_order(image_text(image, (*a)->name), image_text(image, (*b)->name));
}

static bool side_init(struct side *side, const struct image *image)
{
	uint32_t counters = image ? image->counters.count : 0, limits = image ? image->limits.count : 0;

	side->image = image;
	side->places = calloc(counters + 1, sizeof *side->places);
	side->names = calloc(limits + 1, sizeof(const struct image_limit *));
	if (!side->places || !side->names)
		return false;
	for (uint32_t i = 0; i < limits; i++) {
		const struct image_limit *limit = side->names[i] = image_limit_at(image, i);
		const struct image_counter *own = image_at(image, limit->counters.offset);

		/* those of plans have the same identities */
		for (uint32_t k = 0; k < limit->counters.count; k++)
			side->places[side->place_count++] = (struct place){own[k].identity, &own[k]};
	}
	qsort(side->places, side->place_count, sizeof *side->places, by_identity);
	if (limits > 1)
		qsort_r(side->names, limits, sizeof(const struct image_limit *), by_name,
			(void *)(uintptr_t)image);
	return true;
}

static const struct image_counter *find_counter(const struct side *side, uint64_t identity)
{
	struct place key = {.identity = identity}, *found;

	if (!side->image)
		return NULL;
	found = bsearch(&key, side->places, side->place_count, sizeof key, by_identity);
	return found ? found->counter : NULL;
}

static const struct image_limit *find_limit(const struct side *side, struct text name)
{
	uint32_t low = 0, high = side->image ? side->image->limits.count : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = image_order(image_text(side->image, side->names[middle]->name), name);

		if (order == 0)
			return side->names[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct teller {
	const char *noun; /* "limit", or nginx's word */
	const bool *known;
	struct publish_report *report;
	bool anew; /* the lines told in this round: first those about counters that begin anew, then the others */
	size_t used;
	unsigned left_out, anew_left_out;
};

static void __attribute__((format(printf, 3, 4))) tell(struct teller *t, bool anew, const char *format, ...)
{
	char line[400];
	size_t size;
	va_list arguments;

	if (anew != t->anew)
		return;
	t->report->anew += anew;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	size = strlen(line);
	/* the last bytes are for "and N more" */
	if (t->left_out > 0 || t->used + 1 + size > sizeof t->report->words - 64) {
		t->left_out++;
		t->anew_left_out += anew;
		return;
	}
	t->used += (size_t)snprintf(t->report->words + t->used, sizeof t->report->words - t->used, "%s%s",
				    t->used ? "\n" : "", line);
}

#define SHOW(text) (int)((text).size < 96 ? (text).size : 96), (text).data

static void tell_pace(struct teller *t, const struct image *image, struct text limit,
		      const struct image_counter *pace)
{
	char words[SPOKEN_MAX];

	spoken_counter(image, pace, words);
	tell(t, false, "%s '%.*s': %s from now on", t->noun, SHOW(limit), words);
}

/* A log remembers admissions, the others a share: neither can be made out of the other (algo_convert). */
static bool begins_anew(const struct algo_numbers *from, const struct algo_numbers *to)
{
	return (from->kind == ALGO_SLIDING_LOG) != (to->kind == ALGO_SLIDING_LOG);
}

/* A zone whose counters are not those it had: its key is another one, or what it counts. */
static void tell_zone(struct teller *t, const struct image *old, const struct image_limit *before,
		      const struct image *image, const struct image_limit *limit, bool again)
{
	const struct image_counter *counter = image_at(image, limit->counters.offset);
	struct text name = image_text(image, limit->name), from = image_text(old, before->key_text),
		    to = image_text(image, limit->key_text);
	const char *end = again ? "its counters of that time go on where they have not faded"
				: "its counters begin anew";

	if (before->key_identity != limit->key_identity)
		tell(t, !again, "zone '%.*s': its key was %.*s and is %.*s: %s", SHOW(name), SHOW(from),
		     SHOW(to), end);
	else
		tell(t, !again, "zone '%.*s' counts %s now: %s", SHOW(name),
		     counter->what == IMAGE_CONCURRENT ? "connections" : "requests", end);
}

/* The same of a limit, of which a rate may have been added to others. */
static void tell_limit(struct teller *t, const struct image_limit *before, const struct image_limit *limit,
		       struct text name, bool again, bool all)
{
	bool key = before->key_identity != limit->key_identity, anew = !again && (key || all);

	tell(t, anew, "limit '%.*s': its %s changed: %s", SHOW(name), key ? "key" : "list of rates",
	     again  ? "its counters of that time go on where they have not faded"
	     : anew ? "new counters start"
		    : "new counters start for those that were not there");
}

static void tell_fresh(struct teller *t, const struct side *old, const struct image *image,
		       const struct image_limit *limit)
{
	const struct image_counter *counters = image_at(image, limit->counters.offset);
	struct text name = image_text(image, limit->name);
	const struct image_limit *before = find_limit(old, name);
	const struct image_counter *pace = NULL;
	uint32_t started = 0, again = 0;

	for (uint32_t i = 0; i < limit->counters.count; i++) {
		const struct image_counter *was = find_counter(old, counters[i].identity);
		struct text counter = image_text(image, counters[i].name), former;
		char from[SPOKEN_MAX], to[SPOKEN_MAX];
		bool other, anew;

		if (!was) { /* a bandwidth counts nothing that could start */
			if (counters[i].what == IMAGE_BANDWIDTH) {
				pace = &counters[i];
				continue;
			}
			started++;
			again += t->known[&counters[i] - image_counter_at(image, 0)];
			continue;
		}
		former = image_text(old->image, image_limit_at(old->image, was->limit)->name);
		if (!text_equal(former, name))
			tell(t, false, "%s '%.*s' was '%.*s': its counters go on", t->noun, SHOW(name),
			     SHOW(former));
		other = memcmp(&was->numbers, &counters[i].numbers, sizeof was->numbers) != 0;
		anew = other && begins_anew(&was->numbers, &counters[i].numbers);
		t->report->converted += other;
		spoken_counter(old->image, was, from);
		spoken_counter(image, &counters[i], to);
		if (other || strcmp(from, to) != 0)
			tell(t, anew, "%s '%.*s': %s -> %s%s", t->noun, SHOW(counter), from, to,
			     !other ? ""
			     : anew ? ": its counters begin anew"
				    : ", counters carried over");
	}
	t->report->started += started;
	if ((started == 0 && !pace) || !old->image)
		return;
	if (!before)
		tell(t, false, "%s '%.*s' is %s", t->noun, SHOW(name),
		     again ? "back: those of its counters that have not faded go on" : "new");
	else if (started == 0)
		tell_pace(t, image, name, pace);
	else if (image->kind == IMAGE_OF_ZONES)
		tell_zone(t, old->image, before, image, limit, again > 0);
	else
		tell_limit(t, before, limit, name, again > 0,
			   started + (pace != NULL) == limit->counters.count);
}

/* ---- what plans make of a limit ---------------------------------------------------------------------- */

static struct text plan_name(const struct image *image, const struct image_variant *variant)
{
	const struct image_plan *plans = image_at(image, image->plans.offset);

	return image_text(image, plans[variant->plan].name);
}

/* NULL: that plan has the limit's own numbers. */
static const struct image_variant *find_variant(const struct image *image, const struct image_limit *limit,
						struct text plan)
{
	const struct image_variant *variants = image_at(image, limit->variants.offset);

	for (uint32_t i = 0; i < limit->variants.count; i++)
		if (text_equal(plan_name(image, &variants[i]), plan))
			return &variants[i];
	return NULL;
}

/* The counters that hold for a plan. */
static struct image_span span_of(const struct image_limit *limit, const struct image_variant *variant)
{
	return variant ? variant->counters : limit->counters;
}

static const struct image_counter *counter_of(const struct image *image, struct image_span span,
					      uint64_t identity)
{
	const struct image_counter *counters = image_at(image, span.offset);

	for (uint32_t i = 0; i < span.count; i++)
		if (counters[i].identity == identity)
			return &counters[i];
	return NULL;
}

/* "1000 per hour and 20 per second", "unlimited", "never". */
static void speak_plan(const struct image *image, const struct image_limit *limit,
		       const struct image_variant *variant, char out[2 * SPOKEN_MAX])
{
	const struct image_counter *counters = image_at(image, span_of(limit, variant).offset);
	char words[SPOKEN_MAX];
	size_t used = 0;

	out[0] = 0;
	if (variant && variant->how != IMAGE_VARIANT_NUMBERS) {
		snprintf(out, 2 * SPOKEN_MAX, "%s",
			 variant->how == IMAGE_VARIANT_NEVER ? "never" : "unlimited");
		return;
	}
	for (uint32_t i = 0; i < span_of(limit, variant).count && used < 2 * SPOKEN_MAX; i++) {
		if (counters[i].what == IMAGE_NEW_KEYS || counters[i].what == IMAGE_USAGE)
			continue;
		spoken_counter(image, &counters[i], words);
		used += (size_t)snprintf(out + used, 2 * SPOKEN_MAX - used, "%s%s", used ? " and " : "",
					 words);
	}
}

/* A plan's numbers that changed. */
static void tell_plan(struct teller *t, const struct image *old, const struct image_limit *before,
		      const struct image *image, const struct image_limit *limit, struct text plan)
{
	const struct image_variant *was = find_variant(old, before, plan),
				   *is = find_variant(image, limit, plan);
	const struct image_counter *counters = image_at(image, span_of(limit, is).offset);
	struct text name = image_text(image, limit->name);
	char from[2 * SPOKEN_MAX], to[2 * SPOKEN_MAX];
	bool apart = before->plan_in_key != limit->plan_in_key, anew = false, carried = false;

	for (uint32_t i = 0; i < span_of(limit, is).count; i++) {
		const struct image_counter *former = counter_of(old, span_of(before, was),
								counters[i].identity);

		if (counters[i].what == IMAGE_BANDWIDTH)
			continue;
		if (former && memcmp(&former->numbers, &counters[i].numbers, sizeof former->numbers) != 0) {
			anew |= begins_anew(&former->numbers, &counters[i].numbers);
			t->report->converted += is && !apart;
			carried = !apart;
		}
		t->report->started += is && (!former || apart);
	}
	speak_plan(old, before, was, from);
	speak_plan(image, limit, is, to);
	if (strcmp(from, to) == 0)
		return;
	tell(t, anew, "%s '%.*s', plan '%.*s': %s -> %s%s", t->noun, SHOW(name), SHOW(plan), from, to,
	     anew      ? ": its counters begin anew"
	     : carried ? ", counters carried over"
		       : "");
}

static void tell_plans(struct teller *t, const struct side *old, const struct image *image,
		       const struct image_limit *limit)
{
	const struct image_limit *before = find_limit(old, image_text(image, limit->name));
	const struct image_variant *fresh = image_at(image, limit->variants.offset), *former;

	if (!before || before->key_identity != limit->key_identity) /* told of the whole limit */
		return;
	if (before->plan_in_key != limit->plan_in_key)
		tell(t, true, "%s '%.*s': clients of each plan are %s: counters of who has a plan begin anew",
		     t->noun, SHOW(image_text(image, limit->name)),
		     limit->plan_in_key ? "counted apart from now on" : "no longer counted apart");
	former = image_at(old->image, before->variants.offset);
	for (uint32_t i = 0; i < limit->variants.count; i++)
		tell_plan(t, old->image, before, image, limit, plan_name(image, &fresh[i]));
	for (uint32_t i = 0; i < before->variants.count; i++) {
		struct text plan = plan_name(old->image, &former[i]);

		if (!find_variant(image, limit, plan))
			tell_plan(t, old->image, before, image, limit, plan);
	}
}

/* What is done with who is over it: no counter changes. */
static void tell_manner(struct teller *t, const struct side *old, const struct image *image,
			const struct image_limit *limit)
{
	struct text name = image_text(image, limit->name);
	const struct image_limit *before = find_limit(old, name);
	char *from = before ? report_manner(old->image, before) : NULL, *to = report_manner(image, limit);

	if (from && to && strcmp(from, to) != 0)
		tell(t, false, "%s '%.*s': %s -> %s", t->noun, SHOW(name), from, to);
	free(from);
	free(to);
}

static void tell_dropped(struct teller *t, const struct side *old, const struct side *fresh)
{
	for (uint32_t i = 0; i < old->image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(old->image, i);
		const struct image_counter *counters = image_at(old->image, limit->counters.offset);
		struct text name = image_text(old->image, limit->name);
		uint32_t gone = 0, paced = 0;

		for (uint32_t k = 0; k < limit->counters.count; k++) {
			if (find_counter(fresh, counters[k].identity))
				continue;
			gone++;
			paced += counters[k].what == IMAGE_BANDWIDTH;
			t->report->dropped += counters[k].what != IMAGE_BANDWIDTH;
		}
		if (gone == limit->counters.count && !find_limit(fresh, name))
			tell(t, false, "%s '%.*s' is gone%s", t->noun, SHOW(name),
			     paced == gone ? "" : "; its counters fade");
	}
}

static void tell_all(struct teller *t, const struct side *before, const struct side *after)
{
	t->report->converted = t->report->started = t->report->dropped = 0;
	for (uint32_t i = 0; i < after->image->limits.count; i++)
		tell_fresh(t, before, after->image, image_limit_at(after->image, i));
	for (uint32_t i = 0; before->image && i < after->image->limits.count; i++)
		tell_plans(t, before, after->image, image_limit_at(after->image, i));
	for (uint32_t i = 0; before->image && !t->anew && i < after->image->limits.count; i++)
		tell_manner(t, before, after->image, image_limit_at(after->image, i));
	if (before->image)
		tell_dropped(t, before, after);
}

void publish_tell(const bool *known, const struct image *old, const struct image *fresh,
		  struct publish_report *report)
{
	bool zones = fresh->kind == IMAGE_OF_ZONES;
	struct teller t = {.noun = zones ? "zone" : "limit", .known = known, .report = report};
	struct side before = {0}, after = {0};

	report->anew = 0;
	report->words[0] = 0;
	if (side_init(&before, old) && side_init(&after, fresh)) {
		if (!old)
			tell(&t, false, "the first %s of this table: %u %s%s",
			     zones ? "publication" : "policy", fresh->limits.count, t.noun,
			     fresh->limits.count == 1 ? "" : "s");
		t.anew = true;
		tell_all(&t, &before, &after);
		t.anew = false;
		tell_all(&t, &before, &after);
		if (t.anew_left_out > 0)
			snprintf(report->words + t.used, sizeof report->words - t.used,
				 "\nand %u more, %u of which begin anew", t.left_out, t.anew_left_out);
		else if (t.left_out > 0)
			snprintf(report->words + t.used, sizeof report->words - t.used, "\nand %u more",
				 t.left_out);
	}
	free(before.places);
	free(before.names);
	free(after.places);
	free(after.names);
}
