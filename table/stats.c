/* SPDX-License-Identifier: BSD-2-Clause */
/* stats: one writer for each area, so counting needs no lock and no shared line; readers add up (T5). */
#include "table/stats.h"

#include "table/atomic.h"
#include "table/handle.h"

#define EVENT_WORDS (sizeof(struct stats_event) / sizeof(uint64_t))

struct stats_limit *stats_limit(struct table *table, uint16_t stat)
{
	return &table->area->limits[stat % TABLE_STAT_COUNT];
}

struct stats_process *stats_process(struct table *table)
{
	return &table->area->process;
}

static void add_words(uint64_t *out, const void *counters, size_t size)
{
	const uint64_t *words = counters;
	for (size_t i = 0; i < size / sizeof *words; i++)
		out[i] += atomic_peek(&words[i]);
}

void stats_limit_sum(struct table *table, uint16_t stat, struct stats_limit *out)
{
	stat %= TABLE_STAT_COUNT;
	*out = (struct stats_limit){0};
	for (uint32_t i = 0; i < table->process_slots; i++)
		add_words((uint64_t *)out, &table->areas[i].limits[stat], sizeof *out);
	/* The entry had another name before: its counts are not this limit's. */
	const uint64_t *base = (const uint64_t *)&table->names[stat].base;
	uint64_t *sum = (uint64_t *)out;
	for (size_t i = 0; i < sizeof *out / sizeof *sum; i++) {
		uint64_t before = atomic_peek(&base[i]);
		sum[i] = sum[i] > before ? sum[i] - before : 0;
	}
}

void stats_process_sum(struct table *table, struct stats_process *out)
{
	*out = (struct stats_process){0};
	for (uint32_t i = 0; i < table->process_slots; i++)
		add_words((uint64_t *)out, &table->areas[i].process, sizeof *out);
}

const char *stats_name(struct table *table, uint16_t stat)
{
	const struct stats_entry *entry = &table->names[stat % TABLE_STAT_COUNT];
	uint64_t hash = atomic_get(&entry->hash);
	table->stat_name[0] = '\0';
	if (hash == 0)
		return table->stat_name;
	for (size_t i = 0; i < sizeof table->stat_name / sizeof(uint64_t); i++) {
		uint64_t word = atomic_get((const uint64_t *)(const void *)entry->name + i);
		memcpy(table->stat_name + 8 * i, &word, sizeof word);
	}
	if (atomic_get(&entry->hash) != hash) /* renamed while we read */
		table->stat_name[0] = '\0';
	table->stat_name[sizeof table->stat_name - 1] = '\0';
	return table->stat_name;
}

/* Written with `at` 0, so that a reader who catches it halfway, or after a death halfway, sees an empty
 * place. */
void stats_event(struct table *table, const struct stats_event *event)
{
	struct stats_area *area = table->area;
	uint64_t words[EVENT_WORDS];
	memcpy(words, event, sizeof words);
	uint64_t happened = atomic_peek(&area->happened);
	uint64_t *place = (uint64_t *)&area->events[happened % STATS_EVENTS];

	atomic_poke(&place[0], 0);
	for (size_t i = 1; i < EVENT_WORDS; i++)
		atomic_set(&place[i], words[i]); /* not seen before the 0 */
	atomic_set(&place[0], words[0]);
	atomic_poke(&area->happened, happened + 1);
}

static bool read_event(const struct stats_event *from, struct stats_event *out)
{
	const uint64_t *place = (const uint64_t *)from;
	uint64_t words[EVENT_WORDS];
	words[0] = atomic_get(&place[0]);
	for (size_t i = 1; i < EVENT_WORDS; i++)
		words[i] = atomic_get(&place[i]);
	if (words[0] == 0 || atomic_get(&place[0]) != words[0])
		return false;
	memcpy(out, words, sizeof words);
	if (out->length > sizeof out->text)
		out->length = sizeof out->text;
	out->stat %= TABLE_STAT_COUNT;
	return out->kind >= STATS_EVENT_REFUSED && out->kind <= STATS_EVENT_NOTICE;
}

size_t stats_events(struct table *table, struct stats_event *out, size_t max)
{
	size_t count = 0;
	for (uint32_t i = 0; max && i < table->process_slots; i++)
		for (size_t j = 0; j < STATS_EVENTS; j++) {
			struct stats_event event;
			if (!read_event(&table->areas[i].events[j], &event))
				continue;
			if (count == max && event.at <= out[count - 1].at)
				continue;
			size_t at = count < max ? count++ : max - 1;
			for (; at > 0 && out[at - 1].at < event.at; at--)
				out[at] = out[at - 1];
			out[at] = event;
		}
	return count;
}
