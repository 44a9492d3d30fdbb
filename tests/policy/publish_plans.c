/* SPDX-License-Identifier: BSD-2-Clause */
/* publish_plans: what a publication says about the numbers of plans, and that every plan has rows of its own. */
#include <stdlib.h>
#include <unistd.h>

#include "policy/policy.h"
#include "table/ledger.h"
#include "tests/tap.h"

/* One after the other: plans, the limit `a`, what is told. */
static const struct {
	const char *plans, *limit, *words;
	uint32_t converted, started, dropped, anew;
} edits[] = {
	{"{pro: {}}", "key: api-key | ip, rate: 20/min", "the first policy of this table: 1 limit", 0, 1, 0,
	 0},
	{"{pro: {a: 100/min}}", "key: api-key | ip, rate: 20/min",
	 "limit 'a', plan 'pro': 20 per minute -> 100 per minute, counters carried over", 1, 0, 0, 0},
	{"{pro: {a: 100/min}, free: {a: 20/min}}", "key: api-key | ip, rate: 20/min",
	 "no counter is affected", 0, 0, 0, 0},
	{"{free: {a: 20/min}, pro: {a: 200/min}}", "key: api-key | ip, rate: 30/min",
	 "limit 'a': 20 per minute -> 30 per minute, counters carried over\n"
	 "limit 'a', plan 'pro': 100 per minute -> 200 per minute, counters carried over",
	 2, 0, 0, 0},
	{"{free: {a: never}, pro: {a: unlimited}}", "key: api-key | ip, rate: 30/min",
	 "limit 'a', plan 'free': 20 per minute -> never\n"
	 "limit 'a', plan 'pro': 200 per minute -> unlimited",
	 0, 0, 0, 0},
	{"{pro: {a: {concurrent: 5}}}", "key: api-key | ip, rate: 30/min, concurrent: 2",
	 "limit 'a': its list of rates changed: new counters start for those that were not there\n"
	 "limit 'a', plan 'pro': unlimited -> 30 per minute and 5 at the same time\n"
	 "limit 'a', plan 'free': never -> 30 per minute and 2 at the same time",
	 0, 3, 0, 0},
	{"{pro: {}}", "key: api-key | ip, rate: 30/min, concurrent: 2",
	 "limit 'a', plan 'pro': 30 per minute and 5 at the same time -> 30 per minute and 2 at the same "
	 "time, "
	 "counters carried over",
	 0, 0, 0, 0},
	/* clients of several plans can have the same address: they are counted apart */
	{"{pro: {}}", "rate: 30/min", "limit 'a': its key changed: new counters start", 0, 1, 2, 1},
	{"{pro: {a: 100/min}}", "rate: 30/min",
	 "limit 'a': clients of each plan are counted apart from now on: counters of who has a plan begin "
	 "anew\n"
	 "limit 'a', plan 'pro': 30 per minute -> 100 per minute",
	 0, 1, 0, 1},
	{"{pro: {a: 90/min}}", "rate: 30/min",
	 "limit 'a', plan 'pro': 100 per minute -> 90 per minute, counters carried over", 1, 0, 0, 0},
	{"{pro: {}}", "rate: 30/min",
	 "limit 'a': clients of each plan are no longer counted apart: counters of who has a plan begin "
	 "anew\n"
	 "limit 'a', plan 'pro': 90 per minute -> 30 per minute",
	 0, 0, 0, 1},
};

/* The rows of a limit's own counters and of its plans' differ, and carry what the image says. */
static void check_rows(struct table *table, const struct image *image)
{
	const struct image_limit *limit = image_limit_at(image, 0);
	const struct image_variant *variants = image_at(image, limit->variants.offset);
	const struct image_counter *own = image_at(image, limit->counters.offset);

	for (uint32_t i = 0; i < limit->variants.count; i++) {
		const struct image_counter *counters = image_at(image, variants[i].counters.offset);

		for (uint32_t k = 0; k < variants[i].counters.count; k++) {
			const struct ledger_row *row = ledger_row(table, counters[k].row);

			ok(row && row->identity == counters[k].identity && row->plan != 0 &&
				   memcmp(&row->numbers, &counters[k].numbers, sizeof row->numbers) == 0 &&
				   counters[k].row != own[0].row && counters[k].stat == own[0].stat,
			   "a plan has a row of its own, and the limit's statistics");
		}
	}
}

static void run(struct table *table)
{
	for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
		struct publish_report report;
		struct policy_image *current = NULL;
		struct policy policy;
		char text[512], why[256] = "";

		snprintf(text, sizeof text,
			 "{clients: {api_keys: {}}, plans: %s, limits: {a: {match: POST /a, %s}}}",
			 edits[i].plans, edits[i].limit);
		policy_load(&(struct policy_options){.path = "p.yaml", .text = text, .wall = 1780272000},
			    &policy);
		if (!ok(policy.image != NULL, edits[i].plans))
			continue;
		if (!is_u64(policy_publish(table, policy.image, &report, why, sizeof why), WEIR_OK,
			    "is published"))
			note("%s", why);
		policy_free(&policy);
		is_str(report.words, edits[i].words, "and told");
		is_u64(report.converted, edits[i].converted, "carried over");
		is_u64(report.started, edits[i].started, "started");
		is_u64(report.dropped, edits[i].dropped, "dropped");
		is_u64(report.anew, edits[i].anew, "of which begin anew");
		if (ok(policy_current(table, &current, NULL, 0) == WEIR_OK && current, "readers get it"))
			check_rows(table, current->image);
		policy_drop(&current);
	}
}

int main(void)
{
	static const char *const endings[] = {"", ".ledger", ".policy"};
	char folder[] = "/tmp/weir-plans-XXXXXX", path[64], name[96], why[256] = "";
	struct table_options options = {.path = path, .size = 1 << 20, .create = true};
	struct table *table = NULL;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/table", folder);
	if (!ok(table_open(&options, &table, why, sizeof why) == WEIR_OK, "a table")) {
		note("%s", why);
		return done_testing();
	}
	run(table);
	table_close(&table);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		snprintf(name, sizeof name, "%s%s", path, endings[i]);
		unlink(name);
	}
	ok(rmdir(folder) == 0, "the folder is empty after that");
	return done_testing();
}
