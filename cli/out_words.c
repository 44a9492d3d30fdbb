/* SPDX-License-Identifier: BSD-2-Clause */
/* out_words: numbers and times as people say them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "algo/algo.h"
#include "cli/out.h"

const char *out_duration(uint64_t ns, char *out, size_t size)
{
	static const struct {
		uint64_t seconds;
		const char *big, *small; /* "3 min", " 20 s" */
		uint64_t part;
	} UNITS[] = {{86400, "day", "h", 3600}, {3600, "h", "min", 60}, {60, "min", "s", 1}};
	if (ns == ALGO_NEVER) {
		snprintf(out, size, "never");
		return out;
	}
	if (ns < 1000 * UINT64_C(1000000)) {
		snprintf(out, size, "%" PRIu64 " ms", (ns + 999999) / 1000000);
		return out;
	}
	uint64_t s = ns / 1000000000 + (ns % 1000000000 != 0);
	for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
		/* two units are enough; the smaller one is rounded up, which may fill the larger one */
		uint64_t up = (s + UNITS[i].part - 1) / UNITS[i].part * UNITS[i].part;
		if (up < UNITS[i].seconds)
			continue;
		uint64_t big = up / UNITS[i].seconds, small = up % UNITS[i].seconds / UNITS[i].part;
		int n = snprintf(out, size, "%" PRIu64 " %s%s", big, UNITS[i].big,
				 i == 0 && big != 1 ? "s" : "");
		if (small && n > 0 && (size_t)n < size)
			snprintf(out + n, size - (size_t)n, " %" PRIu64 " %s", small, UNITS[i].small);
		return out;
	}
	snprintf(out, size, "%" PRIu64 " s", s);
	return out;
}

const char *out_number(uint64_t number, char *out, size_t size)
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, number);
	size_t used = 0;
	for (int i = 0; i < n && used + 2 < size; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	if (size > 0)
		out[used] = '\0';
	return out;
}

const char *out_when(int64_t wall, int64_t now, char *out, size_t size)
{
	struct tm then, today;
	time_t a = (time_t)wall, b = (time_t)now;
	if (!localtime_r(&a, &then) || !localtime_r(&b, &today)) {
		snprintf(out, size, "@%" PRId64, wall);
		return out;
	}
	bool same = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
	if (strftime(out, size, same ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then) == 0 && size > 0)
		out[0] = '\0';
	return out;
}
