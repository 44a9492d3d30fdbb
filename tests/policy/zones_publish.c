/* SPDX-License-Identifier: BSD-2-Clause */
/* zones_publish: zones in a table: what an edit carries over, and that neither they nor a policy take the other's table. */
#include <stdlib.h>
#include <unistd.h>

#include "policy/place.h"
#include "policy/zones.h"
#include "table/ledger.h"
#include "tests/tap.h"

static char folder[] = "/tmp/weir-zones-XXXXXX", path[64];

static struct table *open_table(void)
{
	struct table_options options = {.path = path, .size = 1 << 20, .create = true};
	struct table *table = NULL;
	char why[256] = "";

	if (table_open(&options, &table, why, sizeof why) != WEIR_OK) {
		printf("Bail out! %s\n", why);
		exit(1);
	}
	return table;
}

static struct image *zones_of(const char *name, const char *key, const char *rate)
{
	struct zone_spec zone = {
		.name = text_of(name), .key = text_of(key), .rate = text_of(rate), .burst = 4};

	if (!zones_rate(zone.rate, &zone.count, &zone.period_ns, &zone.nginx, NULL))
		return NULL;
	return zones_image(&zone, 1, "nginx", "/etc/nginx/nginx.conf", 0, NULL, 0);
}

static struct image *policy_of(const char *text)
{
	struct policy policy;
	struct image *image;

	policy_load(&(struct policy_options){.path = "/etc/weir/p.yaml", .text = text}, &policy);
	image = policy.image;
	policy.image = NULL;
	policy_free(&policy);
	return image;
}

/* Publishes and frees. */
static enum weir_error publish(struct table *table, struct image *image, struct publish_report *report,
			       char *why, size_t size)
{
	enum weir_error error = image ? policy_publish(table, image, report, why, size) : WEIR_BAD_POLICY;

	free(image);
	return error;
}

static const struct {
	const char *name, *key, *rate, *words;
	bool unchanged;
	uint32_t converted, started, dropped;
} edits[] = {
	{"one", "$remote_addr", "2r/s", "the first publication of this table: 1 zone", false, 0, 1, 0},
	{"one", "$remote_addr", "2r/s", "", true, 0, 0, 0},
	{"one", "$remote_addr", "3r/h", "zone 'one': 2r/s, burst 4 -> 3r/h, burst 4, counters carried over",
	 false, 1, 0, 0},
	{"one", "$binary_remote_addr", "3r/h",
	 "zone 'one': its key was $remote_addr and is $binary_remote_addr: its counters begin anew", false, 0,
	 1, 1},
	{"one", "$remote_addr", "3r/h",
	 "zone 'one': its key was $binary_remote_addr and is $remote_addr: its counters of that time go on "
	 "where they "
	 "have not faded",
	 false, 0, 1, 1},
};

static void test_edits(struct table *table)
{
	for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
		struct publish_report report;
		struct policy_image *current = NULL;
		const struct ledger_row *row;
		char why[256] = "";

		ok(publish(table, zones_of(edits[i].name, edits[i].key, edits[i].rate), &report, why,
			   sizeof why) == WEIR_OK,
		   edits[i].rate);
		is_str(report.words, edits[i].words, "what is told");
		ok(report.unchanged == edits[i].unchanged, "whether it was in force already");
		ok(report.converted == edits[i].converted && report.started == edits[i].started &&
			   report.dropped == edits[i].dropped,
		   "counters carried over, started, dropped");
		if (!ok(policy_current(table, &current, why, sizeof why) == WEIR_OK, "readers get it"))
			continue;
		row = ledger_row(table, image_counter_at(current->image, 0)->row);
		ok(row && memcmp(&row->numbers, &image_counter_at(current->image, 0)->numbers,
				 sizeof row->numbers) == 0,
		   "with a row of its numbers");
		ok(zones_may_replace(current->image), "zones may take the place of zones");
		policy_drop(&current);
	}
}

static void test_other_kind(struct table *table)
{
	struct publish_report report;
	char why[256] = "", expected[256];
	uint64_t before = table_generation(table);

	is_u64(publish(table, policy_of("limits: {a: {rate: 1/s}}"), &report, why, sizeof why),
	       WEIR_OTHER_KIND, "a policy does not take the zones' table");
	snprintf(expected, sizeof expected,
		 "%s serves the limit_req and limit_conn zones of /etc/nginx/nginx.conf: a policy needs "
		 "another table",
		 path);
	is_str(why, expected, "which says whose it is");
	is_u64(table_generation(table), before, "and changes nothing");
}

static void test_policy_first(void)
{
	struct table *table = open_table();
	struct publish_report report;
	struct policy_image *current = NULL;
	char why[256] = "", expected[256];

	/* what lies beside it is of the table before: no reason to refuse anything */
	is_u64(publish(table, policy_of("limits: {a: {rate: 1/s}}"), &report, why, sizeof why), WEIR_OK,
	       "a new table takes a policy, though zones lie beside it still");
	is_u64(publish(table, zones_of("one", "$x", "1r/s"), &report, why, sizeof why), WEIR_OTHER_KIND,
	       "zones do not take a policy's table");
	snprintf(expected, sizeof expected,
		 "%s serves the policy /etc/weir/p.yaml: nginx's own zones need another table", path);
	is_str(why, expected, "which says whose it is");
	ok(policy_current(table, &current, why, sizeof why) == WEIR_OK && !zones_may_replace(current->image),
	   "as could be known before");
	ok(zones_may_replace(NULL), "where nothing is, zones may be");
	policy_drop(&current);
	table_close(&table);
}

static void test_place(void)
{
	char mine[PLACE_MAX], policy[PLACE_MAX], direct[PLACE_MAX], small[8];

	table_default_path("nginx:/etc/nginx/nginx.conf", 33, direct, sizeof direct);
	ok(zones_table_path("/etc/nginx/../nginx/nginx.conf", 33, mine, sizeof mine),
	   "a place for the zones' table");
	is_str(mine, direct, "named by the configuration's path");
	ok(policy_table_path("/etc/nginx/nginx.conf", 33, policy, sizeof policy) && strcmp(mine, policy) != 0,
	   "not where a policy of that path would have its own");
	ok(!zones_table_path("", 33, mine, sizeof mine) && mine[0] == '\0', "no configuration: no place");
	ok(!zones_table_path("/x", 33, small, 0), "no room: no place");
}

int main(void)
{
	static const char *const endings[] = {"", ".ledger", ".policy"};
	struct table *table;
	char name[96];

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/table", folder);
	table = open_table();
	test_edits(table);
	test_other_kind(table);
	table_close(&table);
	unlink(path);
	test_policy_first();
	test_place();
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		snprintf(name, sizeof name, "%s%s", path, endings[i]);
		unlink(name);
	}
	ok(rmdir(folder) == 0, "the folder is empty after that");
	return done_testing();
}
