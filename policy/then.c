/* SPDX-License-Identifier: BSD-2-Clause */
/* then: who is refused too often is banned for a while. */
#include "policy/rate.h"

#include <stdio.h>

#include "algo/ban.h"
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

/* "20 refusals in 5min"; "20 in 5min" is understood. */
static void read_after(struct load *load, const struct node *node, struct model_limit *limit)
{
	static const char *const things[] = {"refusals", "refusal", "refused", "times"};
	struct text text, rest, unit;
	uint64_t thousandths, ns;
	char why[256] = "";

	if (!value_line(load, node, "after", &text))
		return;
	rest = text;
	if (!rate_decimal(&rest, &thousandths) || thousandths % 1000 || thousandths == 0 ||
	    thousandths / 1000 > ALGO_BURST_MAX) {
		diag_error(load, node->mark,
			   "'%.*s' is not like 20 refusals in 5min, of 1 to 1,000,000 refusals", SHOW(text));
		return;
	}
	rest = value_trim(rest);
	for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
		unit = text_of(things[i]);
		if (rest.size >= unit.size && text_equal_folded((struct text){rest.data, unit.size}, unit)) {
			rest = value_trim((struct text){rest.data + unit.size, rest.size - unit.size});
			break;
		}
	}
	limit->then.strikes = (uint32_t)(thousandths / 1000);
	if (rest.size == 0 && limit->then.strikes == 1)
		return;
	if (rest.size < 4 || memcmp(rest.data, "in ", 3) != 0) {
		diag_error(load, node->mark,
			   "'%.*s' does not say in which time; write it like %u refusals in 5min", SHOW(text),
			   limit->then.strikes);
		return;
	}
	rest = value_trim((struct text){rest.data + 3, rest.size - 3});
	if (!duration_parse(rest, &ns, why, sizeof why)) {
		diag_error(load, yaml_mark_part(node, rest), "%s", why);
		return;
	}
	struct algo_numbers ignored;
	if (!algo_fixed_window(limit->then.strikes, ns, ALGO_FIRST_REQUEST, &ignored))
		diag_error(load, node->mark, "so many refusals in such a time cannot be counted");
	limit->then.strikes_ns = ns;
}

/* What a limit does when it refuses goes with one that does. */
bool consequence_fits(struct load *load, const struct node *node, const char *word,
		      const struct model_limit *limit)
{
	for (size_t i = 0; i < limit->rate_count; i++)
		if (limit->rates[i].what == IMAGE_RATE || limit->rates[i].what == IMAGE_CONCURRENT)
			return true;
	diag_error(load, node->mark, "'%s' is for refusals, and this limit never refuses", word);
	return false;
}

void then_read(struct load *load, const struct node *node, struct model_limit *limit)
{
	const struct node *ban, *after, *most;
	struct algo_numbers ignored;

	if (!words_check(load, node, SECTION_THEN, "'then'"))
		return;
	ban = yaml_get(node, "ban");
	after = yaml_get(node, "after");
	most = yaml_get(node, "double_up_to");
	limit->then.strikes = 1;
	limit->then.strikes_ns = RATE_NS_S;
	if (after)
		read_after(load, after, limit);
	if (!ban) {
		diag_error(load, node->mark, "'then' does not say how long to ban; write {ban: 15min}");
		return;
	}
	if (!value_duration(load, ban, "ban", &limit->then.ban_ns))
		return;
	limit->then.most_ns = limit->then.ban_ns;
	if (most && value_duration(load, most, "double_up_to", &limit->then.most_ns) &&
	    limit->then.most_ns < limit->then.ban_ns) {
		diag_error(load, most->mark, "'double_up_to' is shorter than the first ban, %.*s",
			   SHOW(ban->text));
		return;
	}
	if (!consequence_fits(load, node, "then", limit))
		return;
	if (limit->shared)
		diag_error(load, node->mark,
			   "'then' would ban everybody: the whole site has one counter here");
	else if (limit->missing == IMAGE_MISSING_ANONYMOUS)
		diag_warning(load, node->mark,
			     "all who come without a key share one ban, as they share one counter; say "
			     "missing: ip");
	if (!algo_ban_numbers(limit->then.ban_ns, limit->then.most_ns, &ignored))
		diag_error(load, ban->mark, "such a ban is out of range");
}
