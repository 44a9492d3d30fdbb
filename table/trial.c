/* SPDX-License-Identifier: BSD-2-Clause */
/* trial: the three spare words of a statistics entry. */
#include "table/trial.h"

#include "table/handle.h"

enum { SINCE, SEEN, SHADOW };

static uint64_t seen(const struct stats_limit *sum)
{
	return sum->allowed + sum->refused + sum->shadow;
}

void trial_set(struct table *table, uint16_t stat, bool tried, int64_t wall_s)
{
	struct stats_entry *entry = &table->names[stat % TABLE_STAT_COUNT];
	struct stats_limit sum;

	if (stat % TABLE_STAT_COUNT == 0 || tried == (atomic_peek(&entry->spare[SINCE]) != 0))
		return;
	stats_limit_sum(table, stat, &sum);
	atomic_set(&entry->spare[SEEN], seen(&sum));
	atomic_set(&entry->spare[SHADOW], sum.shadow);
	atomic_set(&entry->spare[SINCE], tried && wall_s > 0 ? (uint64_t)wall_s : 0);
}

void trial_read(struct table *table, uint16_t stat, struct trial *out)
{
	const struct stats_entry *entry = &table->names[stat % TABLE_STAT_COUNT];
	uint64_t since = atomic_get(&entry->spare[SINCE]), before = atomic_get(&entry->spare[SEEN]),
		 shadow = atomic_get(&entry->spare[SHADOW]);
	struct stats_limit sum;

	*out = (struct trial){0};
	if (since == 0 || since > INT64_MAX)
		return;
	stats_limit_sum(table, stat, &sum);
	out->since = (int64_t)since;
	out->seen = seen(&sum) > before ? seen(&sum) - before : 0;
	out->shadow = sum.shadow > shadow ? sum.shadow - shadow : 0;
}
