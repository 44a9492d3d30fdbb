/* SPDX-License-Identifier: BSD-2-Clause */
/* import_rate: rate= of a zone, as the module reads it (policy/zones.h), in a policy's words. */
#include "cli/import_model.h"
#include "policy/zones.h"

static const struct {
	uint64_t seconds;
	const char *word;
} UNITS[] = {{604800, "week"}, {86400, "day"}, {3600, "hour"}, {60, "min"}, {1, "s"}};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static const char *written(struct import_model *model, uint64_t count, uint64_t seconds)
{
	size_t i = 0;
	while (seconds % UNITS[i].seconds)
		i++;
	uint64_t times = seconds / UNITS[i].seconds;
	return times == 1
		       ? arena_format(model->arena, "%llu/%s", (unsigned long long)count, UNITS[i].word).data
		       : arena_format(model->arena, "%llu/%llu%s", (unsigned long long)count,
				      (unsigned long long)times, UNITS[i].word)
				 .data;
}

/* A bucket of a policy takes so many at once: the same rate in a shorter time, of which a second is left, since no rate is more
 * than a million a second. False: it is a little less. */
static bool shorten(uint64_t *count, uint64_t *seconds)
{
	uint64_t divisor = *count > ALGO_BURST_MAX ? common_divisor(*count, *seconds) : 1;
	uint64_t whole = *count / divisor, time = *seconds / divisor;
	uint64_t times = (whole + ALGO_BURST_MAX - 1) / ALGO_BURST_MAX;

	if (times > 1 && time > 0) {
		*seconds = time / times;
		*count = whole * *seconds / time;
		return false;
	}
	*seconds = time;
	*count = whole;
	return true;
}

const char *import_rate(struct import_model *model, struct import_zone *zone, struct text text)
{
	uint32_t number;
	uint64_t period_ns;
	bool cut;

	if (memchr(text.data, '$', text.size)) {
		zone->why = "its rate is a variable: a policy has no plans yet";
		return NULL;
	}
	if (!zones_rate(text, &number, &period_ns, &zone->nginx, &cut)) {
		zone->why = "its rate is no number that a policy can say";
		return NULL;
	}
	uint64_t count = number, seconds = period_ns / UINT64_C(1000000000);
	bool same = shorten(&count, &seconds);
	const char *rate = written(model, count, seconds);
	if (cut)
		import_note(model, IMPORT_DIFFERS, zone->place, "a rate is at most 1,000,000 a second");
	if (!same)
		import_note(model, IMPORT_DIFFERS, zone->place,
			    "'%.*s' is %s in the policy, which is a little less", (int)text.size, text.data,
			    rate);
	zone->why = NULL;
	return rate;
}
