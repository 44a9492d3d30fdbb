/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_clocks: rule or list. */
#include "policy/zone_clocks.h"

#include "algo/zone.h"
#include "policy/zone_file.h"
#include "policy/zone_rule.h"

#define TEN_YEARS_S (INT64_C(10) * 366 * 86400)
#define LATEST_S    INT64_C(3000000000)

struct clocks {
	struct zone_file file;
	bool ruled; /* the footer says what comes after the last change */
	uint64_t rule[2];
};

static int64_t bounded(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* As zone_span_at, by the file: its changes, and after the last of them its footer. */
static struct zone_span file_span(const struct clocks *clocks, int64_t at_s)
{
	const struct zone_file *file = &clocks->file;
	size_t low = 0, high = file->count; /* changes before `low` have been, `high` and later have not */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (zone_file_time(file, middle) <= at_s)
			low = middle + 1;
		else
			high = middle;
	}
	struct zone_span span = {-ZONE_FAR, ZONE_FAR, 0};
	if (low == file->count && clocks->ruled)
		span = zone_span_at(clocks->rule, at_s);
	else
		span.offset_s = low ? zone_file_offset(file, low - 1) : zone_file_first_offset(file);
	if (low && zone_file_time(file, low - 1) > span.from_s)
		span.from_s = zone_file_time(file, low - 1);
	if (low < file->count && zone_file_time(file, low) < span.until_s)
		span.until_s = zone_file_time(file, low);
	return span;
}

static bool follows_rule(const struct clocks *clocks, int64_t now_s)
{
	for (int64_t at = now_s; at < now_s + TEN_YEARS_S;) {
		struct zone_span listed = file_span(clocks, at), ruled = zone_span_at(clocks->rule, at);
		if (listed.offset_s != ruled.offset_s)
			return false;
		at = listed.until_s < ruled.until_s ? listed.until_s : ruled.until_s;
	}
	return true;
}

static bool pack_list(const struct clocks *clocks, int64_t now_s, uint64_t zone[2])
{
	struct zone_change changes[ZONE_CHANGES];
	size_t count = 0;
	struct zone_span span = file_span(clocks, now_s);
	int32_t now_offset = span.offset_s, offset = now_offset;
	while (count < ZONE_CHANGES && span.until_s < now_s + TEN_YEARS_S) {
		int64_t at = span.until_s;
		span = file_span(clocks, at);
		if (span.offset_s == offset) /* only a name or a flag has changed */
			continue;
		offset = span.offset_s;
		changes[count++] = (struct zone_change){at, offset};
	}
	return count ? zone_list(now_offset, changes, count, zone) : zone_fixed(now_offset, zone);
}

const char *zone_clocks(const unsigned char *bytes, size_t size, int64_t now_s, uint64_t zone[2])
{
	struct clocks clocks = {0};
	const char *wrong = zone_file_parse(bytes, size, &clocks.file);
	if (wrong)
		return wrong;
	now_s = bounded(now_s, 0, LATEST_S);
	if (clocks.file.footer.size) {
		clocks.ruled = zone_rule_read(clocks.file.footer, clocks.rule);
		if (!clocks.ruled)
			return "ends with a rule that cannot be read";
		if (follows_rule(&clocks, now_s)) {
			zone[0] = clocks.rule[0];
			zone[1] = clocks.rule[1];
			return NULL;
		}
	}
	return pack_list(&clocks, now_s, zone)
		       ? NULL
		       : "changes its clocks by or at other than whole quarters of an hour and minutes";
}
