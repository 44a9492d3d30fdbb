/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_mutated: time zone files and rules with bits turned, bytes set, cut and repeated: refused, or clocks that are
 * valid. Each lies at the end of its own allocation, so that the sanitizer build sees a read beyond it. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "algo/align.h"
#include "algo/zone.h"
#include "policy/zone_clocks.h"
#include "policy/zone_rule.h"
#include "tests/algo/common.h"

#define NOW_S INT64_C(1782907200)

static const char *const seeds[] = {"Europe/Berlin", "Europe/Dublin",  "Africa/Casablanca",
				    "Asia/Gaza",     "Asia/Kathmandu", "America/Santiago",
				    "Etc/UTC",	     "America/Nuuk"};
static const char *const rules[] = {"CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
				    "AAA3BBB,J60/0,J300/0", "XXX3EDT4,0/0,J365/23"};

static struct claim sound = {"refused and left alone, or valid", 0, 0}, taken = {"taken all the same", 0, 0},
		    refused = {"refused", 0, 0}, later = {"boundaries lie ahead", 0, 0};

static size_t load(const char *name, unsigned char *bytes, size_t size)
{
	char path[256];
	snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name);
	int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, bytes, size);
	close(fd);
	return got < 0 ? 0 : (size_t)got;
}

static size_t mutate(unsigned char *bytes, size_t size)
{
	for (uint64_t i = 1 + random_below(4); i; i--) {
		size_t at = random_below(3)   ? random_below(size)
			    : random_below(2) ? size - 1 - random_below(size < 48 ? size : 48)
					      : random_below(size < 200 ? size : 200);
		switch (random_below(6)) {
		case 0:
			bytes[at] ^= (unsigned char)(1 << random_below(8));
			break;
		case 1:
			bytes[at] = random_below(2) ? 0xff : 0;
			break;
		case 2:
			bytes[at] = (unsigned char)random_u64();
			break;
		case 3:
			bytes[at] = (unsigned char)"0123456789MJ,./<>+-:\nA"[random_below(22)];
			break;
		case 4:; /* another part of it here */
			size_t from = random_below(size), longest = size - (at > from ? at : from);
			memmove(bytes + at, bytes + from, 1 + random_below(longest) / 8);
			break;
		default:
			if (random_below(8) == 0 && size > 1)
				size = 1 + random_below(size - 1);
		}
	}
	return size;
}

static void judge(bool good, const uint64_t zone[2])
{
	claim(good ? &taken : &refused, true);
	if (!good) {
		claim(&sound, zone[0] == 1 && zone[1] == 2);
		return;
	}
	claim(&sound, zone_valid(zone));
	int64_t wall = (int64_t)random_below(UINT64_C(1) << 62);
	int64_t next = align_next(ALGO_CALENDAR_DAY, 0, zone, wall);
	claim(&later, next > wall && next <= wall + 5 * (int64_t)DAY);
}

int main(void)
{
	static unsigned char whole[8][65536];
	size_t sizes[8];
	for (size_t i = 0; i < 8; i++) {
		sizes[i] = load(seeds[i], whole[i], sizeof whole[i]);
		uint64_t zone[2];
		ok(sizes[i] && !zone_clocks(whole[i], sizes[i], NOW_S, zone), seeds[i]);
	}
	for (int i = 0; i < 100000; i++) {
		size_t seed = random_below(8), size = sizes[seed];
		uint64_t zone[2] = {1, 2};
		unsigned char *bytes = malloc(size);
		memcpy(bytes, whole[seed], size);
		size = mutate(bytes, size);
		bytes = realloc(bytes, size);
		int64_t now = random_below(8) ? NOW_S : (int64_t)random_u64();
		judge(!zone_clocks(bytes, size, now, zone), zone);
		free(bytes);
	}
	claim_end(&refused, 20000);
	claim_end(&taken, 20000);
	refused = taken = (struct claim){"rules", 0, 0};
	for (int i = 0; i < 100000; i++) {
		const char *rule = rules[random_below(4)];
		size_t size = strlen(rule);
		uint64_t zone[2] = {1, 2};
		unsigned char *bytes = malloc(size);
		memcpy(bytes, rule, size);
		size = mutate(bytes, size);
		bytes = realloc(bytes, size);
		judge(zone_rule_read((struct text){(const char *)bytes, size}, zone), zone);
		free(bytes);
	}
	claim_end(&refused, 20000);
	claim_end(&taken, 2000);
	claim_end(&sound, 200000);
	claim_end(&later, 20000);
	return done_testing();
}
