/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_table: a helper of zones.t: makes a table as an nginx with zones of its own leaves it, with something counted.
 *   zone_table TABLE CONF [RATE]    RATE: another one for the zone `one` (2r/m) */
#include <arpa/inet.h>
#include <stdlib.h>

#include "flow/keybytes.h"
#include "policy/zones.h"
#include "table/stats.h"
#include "tests/tap.h"

static _Noreturn void fail(const char *why)
{
	fprintf(stderr, "zone_table: %s\n", why);
	exit(1);
}

static void charge(struct table *table, const struct image *image, uint32_t zone, const void *value,
		   size_t size, unsigned times)
{
	const struct image_counter *counter = image_counter_at(image, zone);
	struct stats_limit *stats = stats_limit(table, (uint16_t)counter->stat);
	struct keybytes bytes;
	struct table_look look;
	struct algo_time now;

	keybytes_begin(&bytes, table);
	keybytes_part(&bytes, IMAGE_KEY_VAR, TEXT(""), size);
	keybytes_add(&bytes, value, size);
	struct table_key key = keybytes_key(&bytes, counter->identity);
	table_time(table, &now);
	for (; times > 0; times--) {
		stats_add(&stats_process(table)->decisions, 1);
		if (table_charge(table, &key, counter->row, &now, 1, &look) == TABLE_CHARGED) {
			stats_add(&stats->allowed, 1);
			continue;
		}
		struct stats_event event = {.at = now.now,
					    .kind = STATS_EVENT_REFUSED,
					    .length = 9,
					    .stat = (uint16_t)counter->stat,
					    .count = 1,
					    .text = "127.0.0.1"};
		stats_add(&stats->refused, 1);
		stats_event(table, &event);
	}
}

int main(int argc, char **argv)
{
	struct zone_spec zones[] = {
		{.name = TEXT("one"), .key = TEXT("$binary_remote_addr"), .rate = TEXT("2r/m"), .burst = 2},
		{.name = TEXT("daily"), .key = TEXT("$http_x_api_key"), .rate = TEXT("100r/d"), .burst = 9},
		{.name = TEXT("per ip"), .key = TEXT("$binary_remote_addr"), .connections = true, .burst = 9},
		{.name = TEXT("\xe2\x82\xac\x01\xff"), .key = TEXT("$a\\$b"), .rate = TEXT("5r/s")},
	};
	struct table_options options = {.size = 1 << 20, .create = true};
	struct publish_report report;
	struct policy_image *current = NULL;
	struct table *table;
	struct in_addr address;
	char why[512] = "";

	if (argc < 3)
		fail("usage: zone_table TABLE CONF [RATE]");
	if (argc > 3)
		zones[0].rate = text_of(argv[3]);
	for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
		if (!zones[i].connections &&
		    !zones_rate(zones[i].rate, &zones[i].count, &zones[i].period_ns, &zones[i].nginx, NULL))
			fail("no such rate");
	struct image *image = zones_image(zones, sizeof zones / sizeof *zones, "nginx", argv[2], 1780272000,
					  why, sizeof why);
	options.path = argv[1];
	if (!image || table_open(&options, &table, why, sizeof why) != WEIR_OK ||
	    policy_publish(table, image, &report, why, sizeof why) != WEIR_OK ||
	    policy_current(table, &current, why, sizeof why) != WEIR_OK)
		fail(why);
	puts(report.words);
	inet_pton(AF_INET, "127.0.0.1", &address);
	if (argc == 3) {
		charge(table, current->image, 0, &address, sizeof address, 4);
		charge(table, current->image, 1, "a b", 3, 3);
	}
	policy_drop(&current);
	table_close(&table);
	free(image);
	return 0;
}
