/* SPDX-License-Identifier: BSD-2-Clause */
/* zones_quota: of eight ways what each zone keeps for itself, by the sizes of all; and that the rows of the table say so. */
#include <stdlib.h>
#include <unistd.h>

#include "policy/zones.h"
#include "table/quota.h"
#include "table/table.h"
#include "tests/tap.h"

#define MINUTE UINT64_C(60000000000)
#define KB     UINT64_C(1024)
#define MOST   12u

static const struct {
	const char *name;
	unsigned count;
	uint64_t bytes[MOST];
	unsigned quotas[MOST];
} sizes[] = {
	{"one alone has all", 1, {32 * KB}, {8}},
	{"two alike", 2, {32 * KB, 32 * KB}, {4, 4}},
	{"1:10", 2, {KB, 10 * KB}, {1, 7}},
	{"10:1", 2, {10 * KB, KB}, {7, 1}},
	{"3:5", 2, {3 * KB, 5 * KB}, {3, 5}},
	{"a byte more", 2, {3 * KB + 1, 5 * KB - 1}, {4, 5}},
	{"three alike are more than eight", 3, {KB, KB, KB}, {3, 3, 3}},
	{"a large one leaves one to each", 3, {1000 * KB, KB, KB}, {6, 1, 1}},
	{"two large ones", 3, {50 * KB, 50 * KB, 1 * KB}, {4, 4, 1}},
	{"eight", 8, {99, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}},
	{"twelve", 12, {99, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	{"as large as numbers go", 2, {UINT64_MAX, UINT64_MAX}, {4, 4}},
	{"one does not say its size", 2, {0, 5 * KB}, {1, 7}},
	{"nobody says it", 3, {0, 0, 0}, {0, 0, 0}},
};

static struct image *image_of(unsigned count, const uint64_t *bytes)
{
	static const char names[MOST][3] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
	struct zone_spec zones[MOST] = {{.nginx = false}};
	char why[512] = "";
	struct image *image;

	for (unsigned i = 0; i < count; i++)
		zones[i] = (struct zone_spec){.name = text_of(names[i]),
					      .key = TEXT("$arg_k"),
					      .rate = TEXT("1r/m"),
					      .connections = i % 2 == 1,
					      .nginx = true,
					      .count = 1,
					      .period_ns = MINUTE,
					      .bytes = bytes[i]};
	image = zones_image(zones, count, "nginx", "/etc/nginx/nginx.conf", 1780272000, why, sizeof why);
	if (!image) {
		printf("Bail out! %s\n", why);
		exit(1);
	}
	return image;
}

static void test_sizes(void)
{
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		struct image *image = image_of(sizes[s].count, sizes[s].bytes);
		unsigned wrong = 0;

		for (unsigned i = 0; i < sizes[s].count; i++)
			wrong += image_limit_at(image, i)->quota != sizes[s].quotas[i];
		is_u64(wrong, 0, sizes[s].name);
		ok(image_check(image, image->size, NULL, 0), "  a sound image");
		free(image);
	}
}

/* A size that changes a share is a publication; counters go on. */
static void test_rows(void)
{
	const uint64_t bytes[2][2] = {{KB, KB}, {KB, 10 * KB}};
	char folder[] = "/dev/shm/weir-test-XXXXXX", path[64], why[512] = "", command[64];
	struct table_options options = {.path = path, .size = TABLE_SIZE_MIN, .create = true};
	struct publish_report report;
	struct table *table;
	uint64_t hash[2];

	if (!mkdtemp(folder))
		exit(99);
	snprintf(path, sizeof path, "%s/table", folder);
	if (table_open(&options, &table, why, sizeof why) != WEIR_OK) {
		printf("Bail out! %s\n", why);
		exit(1);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct image *image = image_of(2, bytes[i]);
		struct policy_image *current = NULL;

		hash[i] = image->source_hash;
		is_u64(policy_publish(table, image, &report, why, sizeof why), WEIR_OK, "published");
		is_str(why, "", "  without a word of trouble");
		is_u64(report.generation, i + 1, "  under a new generation");
		is_u64(policy_current(table, &current, why, sizeof why), WEIR_OK, "  it is in force");
		for (uint32_t k = 0; current && k < 2; k++) {
			const struct ledger_row *row = ledger_row(table,
								  image_counter_at(current->image, k)->row);

			is_u64(row ? quota_of(row) : 99, image_limit_at(image, k)->quota,
			       "  its row has its quota");
		}
		is_u64(policy_publish(table, image, &report, why, sizeof why), WEIR_OK, "published again");
		ok(report.unchanged, "  changes nothing");
		policy_drop(&current);
		free(image);
	}
	ok(hash[0] != hash[1], "other shares are another source");
	table_close(&table);
	snprintf(command, sizeof command, "rm -r %s", folder);
	is_u64((uint64_t)system(command), 0, "nothing is left");
}

int main(void)
{
	test_sizes();
	test_rows();
	return done_testing();
}
