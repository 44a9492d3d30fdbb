/* SPDX-License-Identifier: BSD-2-Clause */
/* publish_words: what a publication says about each kind of counter, and which rows of the ledger it takes. */
#include <stdlib.h>
#include <unistd.h>

#include "policy/policy.h"
#include "table/ledger.h"
#include "tests/tap.h"

/* What stands under `limits`, and what is told when it is published after the one before. */
static const struct {
	const char *limits, *words;
	uint32_t converted, started, dropped;
} word_edits[] = {
	{"a: {rate: 100/min}", "the first policy of this table: 1 limit", 0, 1, 0},
	{"a: {rate: 100/min, algorithm: sliding-window}",
	 "limit 'a': 100 per minute -> 100 per minute in a sliding window, counters carried over", 1, 0, 0},
	{"a: {rate: 100/min, algorithm: sliding-log}",
	 "limit 'a': 100 per minute in a sliding window -> 100 per minute exactly: its counters begin anew",
	 1, 0, 0},
	/* a lone rate stays who it is, whatever comes beside it */
	{"a: {rate: 100/min, algorithm: sliding-log, concurrent: 2}",
	 "limit 'a': its list of rates changed: new counters start for those that were not there", 0, 1, 0},
	{"a: {rate: 100/min, algorithm: sliding-log, concurrent: 2, queue: 5}",
	 "limit 'a/concurrent': 2 at the same time -> 2 at the same time, queue 5 for 10 s", 0, 0, 0},
	{"a: {rate: 100/min, algorithm: sliding-log, concurrent: 3, queue: 5, count: failures, on_full: "
	 "deny}",
	 "limit 'a/concurrent': 2 at the same time, queue 5 for 10 s -> 3 at the same time, queue 5 for 10 "
	 "s, "
	 "counters carried over",
	 1, 0, 0},
	{"a: {concurrent: 3, queue: 5, bandwidth: 1MiB/s}", "limit 'a': 1 MiB/s per response from now on", 0,
	 0, 1},
	{"a: {concurrent: 3, queue: 5, bandwidth: 2MiB/s after 1MB}",
	 "limit 'a/bandwidth': 1 MiB/s per response -> 2 MiB/s per response after the first 1 MB", 0, 0, 0},
	{"a: {bandwidth: 2MiB/s after 1MB}", "no counter is affected", 0, 0, 1},
	{"b: {was: a, bandwidth: 2MiB/s after 1MB}", "limit 'b' was 'a': its counters go on", 0, 0, 0},
	{"c: {bandwidth: 2MiB/s}, d: {match: /d, total: 1MiB/s, bandwidth: 1MiB/s}",
	 "limit 'c' is new\nlimit 'd' is new\nlimit 'b' is gone", 0, 1, 0},
	{"d: {match: /d, total: 2MiB/s, bandwidth: 1MiB/s}",
	 "limit 'd/total': 1 MiB/s for all responses -> 2 MiB/s for all responses, counters carried over\n"
	 "limit 'c' is gone",
	 1, 0, 0},
	{"e: {match: POST /e, rate: 10/day}", "limit 'e' is new\nlimit 'd' is gone; its counters fade", 0, 1,
	 1},
	{"e: {match: POST /e, rate: 10/day, align: calendar Europe/Berlin}",
	 "limit 'e': 10 per day in windows -> 10 per day in windows (Europe/Berlin), counters carried over",
	 1, 0, 0},
	{"e: {match: POST /e, rate: 10/day, align: calendar Europe/Berlin, on_full: allow}",
	 "no counter is affected", 0, 0, 0},
	/* what is done with who is over it */
	{"e: {match: POST /e, rate: 10/day, align: calendar Europe/Berlin, mode: shadow}",
	 "limit 'e': in force -> in a shadow", 0, 0, 0},
	{"e: {match: POST /e, rate: 10/day, align: calendar Europe/Berlin, mode: enforce 10%}",
	 "limit 'e': in a shadow -> in force; enforced for 10% of its keys, a shadow for the others", 0, 0,
	 0},
	{"e: {match: POST /e, rate: 10/day, align: calendar Europe/Berlin, instead: close}",
	 "limit 'e': in force; enforced for 10% of its keys, a shadow for the others -> in force; who is "
	 "over "
	 "it gets no answer",
	 0, 0, 0},
	{"e: {match: POST /e, rate: 10/day, align: calendar Europe/Berlin, then: {ban: 15min, after: 20 "
	 "refusals in 5min}}",
	 "limit 'e': in force; who is over it gets no answer -> in force; after 20 refusals within 5 minutes "
	 "banned for 15 minutes",
	 0, 0, 0},
	{"e: {match: POST /e, rate: 10/day, align: calendar Europe/Berlin, candidate: 5/day}",
	 "limit 'e/candidate' is new\nlimit 'e': in force; after 20 refusals within 5 minutes banned for 15 "
	 "minutes -> in force",
	 0, 1, 0},
	{"e: {match: POST /e, rate: 10/day, align: calendar Europe/Berlin, candidate: {rate: 5/day, mode: "
	 "enforce 10%}}",
	 "limit 'e/candidate': in a shadow -> in force; enforced for 10% of its keys, a shadow for the "
	 "others",
	 0, 0, 0},
};

static void test_words(struct table *table)
{

	for (size_t i = 0; i < sizeof word_edits / sizeof *word_edits; i++) {
		struct publish_report report;
		struct policy_image *current = NULL;
		struct policy policy;
		char text[256];

		snprintf(text, sizeof text, "limits: {%s}", word_edits[i].limits);
		policy_load(&(struct policy_options){.path = "p.yaml", .text = text, .wall = 1780272000},
			    &policy);
		if (!ok(policy.image != NULL, word_edits[i].limits))
			continue;
		is_u64(policy_publish(table, policy.image, &report, NULL, 0), WEIR_OK, "is published");
		policy_free(&policy);
		is_str(report.words, word_edits[i].words, "and told");
		ok(report.converted == word_edits[i].converted && report.started == word_edits[i].started &&
			   report.dropped == word_edits[i].dropped,
		   "counters carried over, started, dropped");
		if (!ok(policy_current(table, &current, NULL, 0) == WEIR_OK && current, "readers get it"))
			continue;
		for (uint32_t k = 0; k < current->image->counters.count; k++) {
			const struct image_counter *counter = image_counter_at(current->image, k);
			const struct image_limit *limit = image_limit_at(current->image, counter->limit);
			const struct ledger_row *row = ledger_row(table, counter->row);

			if (counter->what == IMAGE_BANDWIDTH)
				ok(counter->row == TABLE_ROW_NONE &&
					   counter->stat ==
						   (limit->counters.count > 1
							    ? image_counter_at(current->image, k - 1)->stat
							    : 0),
				   "a bandwidth has no row, and its limit's statistics");
			else
				ok(row && row->flags == limit->on_full && row->stat != 0 &&
					   (counter->queue > 0) ==
						   (ledger_row(table, counter->queue_row) != NULL),
				   "a row that says what happens when the table is full, and one for a "
				   "queue");
		}
		policy_drop(&current);
	}
}

int main(void)
{
	static const char *const endings[] = {"", ".ledger", ".policy"};
	char folder[] = "/tmp/weir-words-XXXXXX", path[64], name[96], why[256] = "";
	struct table_options options = {.path = path, .size = 1 << 20, .create = true};
	struct table *table = NULL;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/table", folder);
	if (!ok(table_open(&options, &table, why, sizeof why) == WEIR_OK, "a table")) {
		note("%s", why);
		return done_testing();
	}
	test_words(table);
	table_close(&table);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		snprintf(name, sizeof name, "%s%s", path, endings[i]);
		unlink(name);
	}
	ok(rmdir(folder) == 0, "the folder is empty after that");
	return done_testing();
}
