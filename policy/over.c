/* SPDX-License-Identifier: BSD-2-Clause */
/* over: what a quota gives beyond its number, and when it tells how much is used. */
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define ALLOW_MAX  1000u
#define NOTIFY_MAX 200u

struct notices {
	uint8_t list[4];
	size_t count;
};

static void read_notice(struct load *load, const struct node *item, void *context)
{
	struct notices *notices = context;
	uint32_t percent;
	size_t at;

	if (!percent_read(load, item, "notify", 1, NOTIFY_MAX, &percent))
		return;
	if (notices->count == sizeof notices->list) {
		diag_error(load, item->mark, "'notify' has at most %zu shares", sizeof notices->list);
		return;
	}
	for (at = notices->count; at > 0 && notices->list[at - 1] > percent; at--)
		notices->list[at] = notices->list[at - 1];
	notices->list[at] = (uint8_t)percent;
	notices->count++;
	if (at > 0 && notices->list[at - 1] == percent)
		diag_error(load, item->mark, "%u%% stands twice", percent);
}

void over_read(struct load *load, const struct node *node, struct model_limit *limit)
{
	struct notices notices = {{0}, 0};
	const struct node *allow, *notify;

	if (!words_check(load, node, SECTION_OVER, "'over'"))
		return;
	allow = yaml_get(node, "allow");
	notify = yaml_get(node, "notify");
	limit->over = true;
	if (!allow && !notify)
		diag_error(load, node->mark,
			   "'over' says how much more, or when to tell, like {allow: 20%%, notify: "
			   "[80%%, 100%%]}");
	if (allow)
		percent_read(load, allow, "allow", 1, ALLOW_MAX, &limit->over_allow);
	if (notify)
		value_each(load, notify, "notify", read_notice, &notices);
	if (notices.count && notices.list[notices.count - 1] > 100 + limit->over_allow)
		diag_error(load, notify->mark, "%u%% is never reached: at most %u%% pass",
			   notices.list[notices.count - 1], 100 + limit->over_allow);
	memcpy(limit->notify, notices.list, sizeof limit->notify);
}

void over_check(struct load *load, const struct node *node, const struct model_limit *limit)
{
	bool windows = false;

	for (size_t i = 0; i < limit->rate_count; i++) {
		if (limit->rates[i].what != IMAGE_RATE)
			continue;
		windows = limit->rates[i].numbers.kind == ALGO_FIXED_WINDOW;
		if (!windows)
			break;
	}
	if (!windows)
		diag_error(
			load, node->mark,
			"'over' is for quotas, which count in windows: algorithm: fixed-window, and no other "
			"rate beside it");
	else if (limit->distinct.kind != IMAGE_KEY_SITE)
		diag_error(load, node->mark, "'over' does not go with different values");
}
