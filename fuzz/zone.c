/* SPDX-License-Identifier: BSD-2-Clause */
/* zone: any bytes as a time zone file; what is taken gives valid clocks, whose boundaries lie ahead. The first 4 bytes
 * say when it is read. */
#include <stdlib.h>
#include <string.h>

#include "algo/align.h"
#include "algo/zone.h"
#include "policy/zone_clocks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t now_s;
	uint64_t zone[2] = {1, 2};
	if (size < sizeof now_s)
		return 0;
	memcpy(&now_s, data, sizeof now_s);
	if (zone_clocks(data + sizeof now_s, size - sizeof now_s, now_s, zone)) {
		must(zone[0] == 1 && zone[1] == 2);
		return 0;
	}
	must(zone_valid(zone));
	int64_t wall = (int64_t)now_s * 1000000000;
	for (int i = 0; i < 100; i++) {
		int64_t next = align_next((enum algo_align)(ALGO_CALENDAR_DAY + i % 5), 0, zone, wall);
		must(next > wall && next <= wall + INT64_C(370) * 86400 * 1000000000);
		wall = next;
	}
	return 0;
}
