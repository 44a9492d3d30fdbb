/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_charge TABLE LIMIT KEY MONTHS-AGO UNITS: charges a limit's bill for a month that is over, as a door would have then. */
#include <stdio.h>
#include <stdlib.h>

#include "flow/usage.h"
#include "policy/policy.h"

int main(int argc, char **argv)
{
	struct table_options options = {.path = argc == 6 ? argv[1] : ""};
	struct table *table;
	struct policy_image *current;
	struct algo_time t;
	struct table_look look;
	char why[256];
	if (argc != 6 || table_open(&options, &table, why, sizeof why) != WEIR_OK ||
	    policy_current(table, &current, why, sizeof why) != WEIR_OK)
		return 1;
	table_time(table, &t);
	for (uint32_t i = 0; i < current->image->counters.count; i++) {
		const struct image_counter *counter = image_counter_at(current->image, i);
		struct text limit = image_text(current->image,
					       image_limit_at(current->image, counter->limit)->name);
		if (counter->what != IMAGE_USAGE || !text_equal(limit, text_of(argv[2])))
			continue;
		int64_t at = ((int64_t)t.now + t.wall) / 1000000000;
		for (int back = atoi(argv[4]); back > 0; back--)
			at = usage_period(&counter->seen, 0, at).start - 1;
		struct usage_period period = usage_period(&counter->seen, 0, at);
		struct table_key key = usage_key(table, counter->identity, text_of(argv[3]), period.end);
		if (table_charge(table, &key, counter->row, &t, (uint32_t)atoi(argv[5]), &look) !=
		    TABLE_CHARGED)
			return 1;
		printf("%lld %lld\n", (long long)period.start, (long long)period.end);
	}
	policy_drop(&current);
	table_close(&table);
	return 0;
}
