/* SPDX-License-Identifier: BSD-2-Clause */
/* zone: names, good and hostile, and what is said of bad ones; rules as TZ strings; files that are damaged. */
#include "policy/zone.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "algo/zone.h"
#include "policy/zone_rule.h"
#include "tests/tap.h"

#define SUMMER INT64_C(1782907200) /* 2026-07-01 12:00:00 UTC */
#define WINTER INT64_C(1796125200) /* 2026-12-01 11:40:00 UTC */
#define NS     INT64_C(1000000000)

static const struct {
	const char *name;
	int32_t summer_s, winter_s; /* July, December */
} clocks[] = {
	{"UTC", 0, 0},
	{"utc", 0, 0},
	{"Etc/UTC", 0, 0},
	{"Europe/Berlin", 7200, 3600},
	{"Europe/Dublin", 3600, 0}, /* its rule has winter as the exception */
	{"America/New_York", -4 * 3600, -5 * 3600},
	{"America/Argentina/Buenos_Aires", -3 * 3600, -3 * 3600},
	{"Asia/Kathmandu", 5 * 3600 + 45 * 60, 5 * 3600 + 45 * 60},
	{"Australia/Lord_Howe", 10 * 3600 + 1800, 11 * 3600},
	{"Africa/Casablanca", 3600, 3600},
	{"Etc/GMT+12", -12 * 3600, -12 * 3600},
	{"Pacific/Kiritimati", 14 * 3600, 14 * 3600},
};

static const struct {
	const char *name, *why;
} refused[] = {
	{"Europe/Berln", "unknown time zone 'Europe/Berln'; did you mean 'Europe/Berlin'?"},
	{"europe/berlin", "unknown time zone 'europe/berlin'; did you mean 'Europe/Berlin'?"},
	{"Berlin", "unknown time zone 'Berlin'; did you mean 'Europe/Berlin'?"},
	{"New York", "unknown time zone 'New York'; did you mean 'America/New_York'?"},
	{"Europe/Viena", "unknown time zone 'Europe/Viena'; did you mean 'Europe/Vienna'?"},
	{"../../../etc/passwd",
	 "unknown time zone '../../../etc/passwd'; zones have names like Europe/Berlin, "
	 "America/New_York or UTC"},
	{"/etc/passwd",
	 "unknown time zone '/etc/passwd'; zones have names like Europe/Berlin, America/New_York or UTC"},
	{"Europe/../Europe/Berlin", "unknown time zone 'Europe/../Europe/Berlin'; zones have names like "
				    "Europe/Berlin, America/New_York or UTC"},
	{"Europe//Berlin", "unknown time zone 'Europe//Berlin'; did you mean 'Europe/Berlin'?"},
	{"Europe/Berlin/", "unknown time zone 'Europe/Berlin/'; did you mean 'Europe/Berlin'?"},
	{"Europe/Berlin\n", "unknown time zone 'Europe/Berlin?'; did you mean 'Europe/Berlin'?"},
	{"Europe", "unknown time zone 'Europe'; did you mean 'Europe/Amsterdam'?"},
	{"", "unknown time zone ''; zones have names like Europe/Berlin, America/New_York or UTC"},
	{"tzdata.zi",
	 "unknown time zone 'tzdata.zi'; zones have names like Europe/Berlin, America/New_York or UTC"},
	{"leapseconds", "the time zone file /usr/share/zoneinfo/leapseconds is no time zone file"},
};

static const struct {
	const char *text;
	int32_t summer_s, winter_s; /* 1 and 1: refused */
} rules[] = {
	{"CET-1CEST,M3.5.0,M10.5.0/3", 7200, 3600},
	{"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 37800, 39600},
	{"IST-1GMT0,M10.5.0,M3.5.0/1", 3600, 0},
	{"EET-2EEST,M3.4.4/50,M10.4.4/50", 10800, 7200},
	{"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -3600, -7200},
	{"AAA3BBB,J60/0,J300/0", -7200, -10800}, /* 1 March, 27 October */
	{"AAA3BBB,59/0,299/0", -7200, -10800},
	{"XXX3EDT4,0/0,J365/23", -14400, -14400}, /* summer all year */
	{"AAA-0:20:30", 1230, 1230},
	{"AAA+24", -86400, -86400},
	{"AAA-24:59:59", 89999, 89999},
	{"", 1, 1},
	{"A5", 1, 1},
	{"AAA", 1, 1},
	{"AAA25", 1, 1},
	{"AAA5:60", 1, 1},
	{"AAA5:", 1, 1},
	{"AAA5BBB", 1, 1}, /* when? */
	{"AAA5BBB,M3.2.0", 1, 1},
	{"AAA5BBB,M3.2.0,M11.1.0,", 1, 1},
	{"AAA5BBB,M0.2.0,M11.1.0", 1, 1},
	{"AAA5BBB,M13.2.0,M11.1.0", 1, 1},
	{"AAA5BBB,M3.0.0,M11.1.0", 1, 1},
	{"AAA5BBB,M3.6.0,M11.1.0", 1, 1},
	{"AAA5BBB,M3.2.7,M11.1.0", 1, 1},
	{"AAA5BBB,J0,M11.1.0", 1, 1},
	{"AAA5BBB,J366,M11.1.0", 1, 1},
	{"AAA5BBB,366,M11.1.0", 1, 1},
	{"AAA5BBB,M3.2.0/168,M11.1.0", 1, 1},
	{"AAA5BBB,M3.2.0/-168,M11.1.0", 1, 1},
	{"AAA5BBB,M3.2.0/,M11.1.0", 1, 1},
	{"<AAA5", 1, 1},
	{"AAA99999999999999999999", 1, 1},
};

static void names(void)
{
	char why[256];
	for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
		uint64_t zone[2] = {1, 1};
		bool good = zone_read(text_of(clocks[i].name), SUMMER, zone, why, sizeof why);
		ok(good && zone_valid(zone), clocks[i].name);
		is_u64(zone_offset_at(zone, SUMMER * NS), clocks[i].summer_s, "in July");
		is_u64(zone_offset_at(zone, WINTER * NS), clocks[i].winter_s, "in December");
	}
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		uint64_t zone[2] = {1, 2};
		bool good = zone_read(text_of(refused[i].name), SUMMER, zone, why, sizeof why);
		ok(!good && zone[0] == 1 && zone[1] == 2, "refused, and nothing written");
		is_str(why, refused[i].why, "why");
	}
	char tiny[8] = "";
	uint64_t zone[2];
	ok(!zone_read(TEXT("Europe/Berln"), SUMMER, zone, tiny, sizeof tiny), "little room for the sentence");
	is_str(tiny, "unknown", "is what it gets");
	char longest[300];
	memset(longest, 'A', sizeof longest);
	ok(!zone_read((struct text){longest, sizeof longest}, SUMMER, zone, why, sizeof why),
	   "a name without an end");
	ok(strlen(why) < 200, "is not shown to its end");
}

static void strings(void)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		uint64_t zone[2] = {1, 2};
		bool wanted = rules[i].summer_s != 1, good = zone_rule_read(text_of(rules[i].text), zone);
		ok(good == wanted && (good ? zone_valid(zone) : zone[0] == 1 && zone[1] == 2), rules[i].text);
		if (!good || !wanted)
			continue;
		is_u64(zone_offset_at(zone, SUMMER * NS), rules[i].summer_s, "in July");
		is_u64(zone_offset_at(zone, WINTER * NS), rules[i].winter_s, "in December");
	}
}

/* A version 2 file of changes to the offsets, in quarters of an hour. */
struct file {
	unsigned char bytes[1024];
	size_t size;
};

static void put(struct file *file, int64_t value, size_t width)
{
	while (width--)
		file->bytes[file->size++] = (unsigned char)(value >> 8 * width);
}

static void put_block(struct file *file, size_t width, const int64_t *changes, const int *quarters,
		      size_t count)
{
	memcpy(file->bytes + file->size, "TZif2", 5);
	memset(file->bytes + file->size + 5, 0, 15);
	file->size += 20;
	const int64_t counts[6] = {0, 0, 0, (int64_t)count, (int64_t)count + 1, 4};
	for (size_t i = 0; i < 6; i++)
		put(file, counts[i], 4);
	for (size_t i = 0; i < count; i++)
		put(file, changes[i], width);
	for (size_t i = 0; i < count; i++)
		put(file, (int64_t)i + 1, 1);
	for (size_t i = 0; i <= count; i++) {
		put(file, quarters[i] * 900, 4);
		put(file, 0, 2);
	}
	put(file, 0x41414100, 4);
}

static struct file make(const int64_t *changes, const int *quarters, size_t count, const char *footer)
{
	struct file file = {.size = 0};
	put_block(&file, 4, changes, quarters, count);
	put_block(&file, 8, changes, quarters, count);
	file.size += (size_t)snprintf((char *)file.bytes + file.size, 64, "\n%s\n", footer);
	return file;
}

static bool install(const char *folder, const struct file *file, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "%s/Test", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool good = fd >= 0 && write(fd, file->bytes, size) == (ssize_t)size;
	close(fd);
	return good;
}

/* Our own database: its only zone is Test. */
static void files(void)
{
	char folder[] = "/tmp/weir-zone-XXXXXX", path[64], why[256], expect[256];
	uint64_t zone[2] = {1, 2};
	if (!ok(mkdtemp(folder) != NULL, "a folder"))
		return;
	snprintf(path, sizeof path, "%s/Test", folder);
	setenv("TZDIR", folder, 1);

	ok(!zone_read(TEXT("Europe/Berlin"), SUMMER, zone, why, sizeof why), "an empty database");
	snprintf(expect, sizeof expect, "no time zones are installed in %s; install the package tzdata",
		 folder);
	is_str(why, expect, "says which package has one");
	ok(zone_read(TEXT("UTC"), SUMMER, zone, why, sizeof why), "UTC needs none");

	/* every minute-exact change that a list can hold, then more than it can */
	static const int64_t changes[] = {SUMMER + 60, SUMMER + 86400, SUMMER + 90 * 86400,
					  SUMMER + 200 * 86400, SUMMER + 201 * 86400};
	static const int quarters[] = {1, 4, 1, 23, -46, 7};
	struct file file = make(changes, quarters, 5, "AAA-1:45");
	ok(install(folder, &file, file.size) && zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why),
	   "five changes");
	is_u64(zone[0] >> 62, 2, "are a list");
	for (size_t i = 0; i < 4; i++) {
		is_u64(zone_offset_at(zone, changes[i] * NS - 1), quarters[i] * 900, "the offset before");
		is_u64(zone_offset_at(zone, changes[i] * NS), quarters[i + 1] * 900, "and after");
	}
	ok(zone_read(TEXT("Test"), changes[2], zone, why, sizeof why), "read again later");
	is_u64(zone_offset_at(zone, changes[4] * NS), 7 * 900, "the fifth is in it");
	ok(zone_read(TEXT("Test"), changes[4], zone, why, sizeof why), "and after all changes");
	is_u64(zone[0] >> 62, 0, "one offset is left");
	is_u64(zone_offset_at(zone, SUMMER * NS), 7 * 900, "the footer's");

	/* changes of nothing but a name take no room in the list */
	static const int repeated[] = {1, 4, 4, 4, 8, 12};
	file = make(changes, repeated, 5, "AAA-3");
	ok(install(folder, &file, file.size) && zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why),
	   "changes of a name");
	is_u64(zone_offset_at(zone, changes[4] * NS), 12 * 900, "are skipped: the fifth is in the list");
	is_u64(zone_offset_at(zone, changes[2] * NS), 4 * 900, "the offset stays");

	/* a change, and then a rule: the rule's changes follow in the list */
	file = make(changes, quarters, 1, "AAA-1BBB-2,M3.5.0,M10.5.0/3");
	ok(install(folder, &file, file.size) && zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why),
	   "a change, then a rule");
	is_u64(zone_offset_at(zone, SUMMER * NS), 900, "before the change");
	is_u64(zone_offset_at(zone, changes[0] * NS), 7200, "after it: summer by the rule");
	is_u64(zone_offset_at(zone, WINTER * NS), 3600, "in winter");

	static const int64_t odd[] = {SUMMER + 61};
	file = make(odd, quarters, 1, "AAA-1");
	ok(install(folder, &file, file.size) && !zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why),
	   "a second past");
	snprintf(expect, sizeof expect,
		 "the time zone file %s changes its clocks by or at other than whole quarters of an hour and "
		 "minutes",
		 path);
	is_str(why, expect, "is more than the words hold");
	file = make(changes, quarters, 2, "AAA");
	ok(install(folder, &file, file.size) && !zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why),
	   "no rule");
	snprintf(expect, sizeof expect, "the time zone file %s ends with a rule that cannot be read", path);
	is_str(why, expect, "is said");
	file = make(changes, quarters, 2, "");
	ok(install(folder, &file, file.size) && zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why),
	   "an empty footer");
	is_u64(zone_offset_at(zone, (changes[1] + 86400 * INT64_C(9999)) * NS), 900,
	       "the last offset holds on");

	file = make(changes, quarters, 3, "AAA-1:45");
	bool refuses = true;
	for (size_t size = 0; size < file.size; size++)
		refuses &= install(folder, &file, size) &&
			   !zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why);
	ok(refuses, "cut anywhere, it is refused");
	static const struct {
		size_t at;
		unsigned char byte;
		const char *why;
	} damage[] = {
		{0, 'x', "is no time zone file"},
		{4, 0, "is a time zone file of the first version, without a rule for the future"},
		{32, 0xff, "is cut short"}, /* count of changes, first block */
	};
	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		struct file damaged = file;
		damaged.bytes[damage[i].at] = damage[i].byte;
		ok(install(folder, &damaged, file.size) &&
			   !zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why),
		   "damaged");
		snprintf(expect, sizeof expect, "the time zone file %s %s", path, damage[i].why);
		is_str(why, expect, "is said");
	}
	ok(truncate(path, 1 << 20) == 0 && !zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why),
	   "a megabyte");
	snprintf(expect, sizeof expect, "the time zone file %s is too large for a time zone", path);
	is_str(why, expect, "is no zone");
	unlink(path);
	ok(mkfifo(path, 0600) == 0 && !zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why),
	   "a pipe does not block");
	unlink(path);
	rmdir(folder);
	ok(!zone_read(TEXT("Test"), SUMMER, zone, why, sizeof why), "no folder at all");
	snprintf(expect, sizeof expect, "no time zones are installed in %s; install the package tzdata",
		 folder);
	is_str(why, expect, "says which package has one");
}

int main(void)
{
	unsetenv("TZDIR");
	names();
	strings();
	files();
	return done_testing();
}
