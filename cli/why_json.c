/* SPDX-License-Identifier: BSD-2-Clause */
/* why_json: the id's numbers, and what has become of what they mean. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/counter.h"
#include "cli/out.h"
#include "cli/why.h"
#include "table/find_slot.h"
#include "table/stats.h"
#include "table/top.h"

struct found {
	uint32_t limit, counter; /* indices; UINT32_MAX: none */
	bool there;		 /* the counter's slot */
	struct found_slot slot;
};

/* The counter whose identity the slot's row has, else the limit with that statistics entry. */
static void find(const struct live *live, const struct refusal *refusal, struct found *out)
{
	const struct image *image = live->image;
	*out = (struct found){.limit = UINT32_MAX, .counter = UINT32_MAX};
	if (refusal->status == FLOW_UNKNOWN) /* no limit refused it */
		return;
	out->there = refusal->slot && find_slot(live->table, refusal->slot, &out->slot);
	for (uint32_t i = 0; i < image->counters.count; i++) {
		const struct image_counter *counter = image_counter_at(image, i);
		if (out->there
			    ? counter->identity == out->slot.row.identity
			    : refusal->stat && counter->stat == refusal->stat && out->limit == UINT32_MAX) {
			out->limit = counter->limit;
			if (out->there && out->counter == UINT32_MAX)
				out->counter = i;
		}
	}
}

static const char *kind_of(const struct refusal *refusal)
{
	switch ((enum flow_status)refusal->status) {
	case FLOW_MISSING:
		return "missing key";
	case FLOW_DENIED:
		return "deny list";
	case FLOW_BANNED:
		return "ban";
	case FLOW_UNKNOWN:
		return refusal->stat < REFUSAL_TOKEN ? "unknown key" : "token";
	case FLOW_NEVER:
		return "plan";
	default:
		return refusal->what == IMAGE_CONCURRENT ? "place"
		       : refusal->what == IMAGE_NEW_KEYS ? "new keys"
							 : "rate";
	}
}

/* Of a key or token that was not a valid one: why. */
static json_t *reason_json(const struct refusal *refusal)
{
	if (refusal->status != FLOW_UNKNOWN)
		return json_null();
	if (refusal->stat >= REFUSAL_TOKEN)
		return out_own(
			text_of(jwt_result_sentence((enum jwt_result)(refusal->stat - REFUSAL_TOKEN))));
	return json_string(refusal->stat == RING_EXPIRED   ? "it has expired"
			   : refusal->stat == RING_REVOKED ? "it was revoked"
							   : "no key here has that secret");
}

/* What the counter says now, by its word alone; a log's and places in flight are more than a word. */
static json_t *now_json(const struct live *live, const struct found *found)
{
	struct algo_report report;
	struct table_look look = {.numbers = found->slot.row.numbers, .state = found->slot.word};
	if (!found->there || look.numbers.kind == ALGO_SLIDING_LOG || look.numbers.kind == ALGO_CONCURRENT)
		return json_null();
	table_describe(&look, &live->now, 1, false, &report);
	return json_pack(
		"{s:I, s:I, s:b, s:o, s:o}", "limit", (json_int_t)report.limit, "remaining",
		(json_int_t)report.remaining, "fits", report.wait_ns == 0, "wait_ns",
		report.wait_ns == ALGO_NEVER ? json_null() : json_integer((json_int_t)report.wait_ns),
		"full_ns",
		report.full_ns == ALGO_NEVER ? json_null() : json_integer((json_int_t)report.full_ns));
}

static void help(json_t *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void help(json_t *out, const char *format, ...)
{
	char text[1200];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	json_array_append_new(out, json_string(text));
}

/* A word for the shell. */
static const char *quoted(const char *word, char *out, size_t size)
{
	bool plain = word[0] != '\0' && word[0] != '-';
	for (const char *c = word; *c; c++)
		plain = plain && (strchr("._-:/@%+=,", *c) || (*c >= '0' && *c <= '9') ||
				  (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'));
	snprintf(out, size, plain ? "%s" : "'%s'", word);
	return out;
}

static json_t *help_json(const struct refusal *refusal, const char *limit, const char *who)
{
	json_t *out = json_array();
	char key[700] = "KEY", name[300] = "LIMIT";
	if (who && !strchr(who, '\'') && !strchr(who, '\\'))
		quoted(who, key, sizeof key);
	if (limit)
		quoted(limit, name, sizeof name);
	switch ((enum flow_status)refusal->status) {
	case FLOW_MISSING:
		help(out, "the request must carry what limit %s counts by", name);
		break;
	case FLOW_DENIED:
		help(out, "`clients.deny` in the policy names it");
		break;
	case FLOW_BANNED:
		help(out, "weir bans");
		if (limit)
			help(out, "weir unban %s --limit %s", key, name);
		else
			help(out, "weir unban WHOM");
		break;
	case FLOW_UNKNOWN:
		if (refusal->stat >= REFUSAL_TOKEN)
			help(out, "another token; weir explain --header 'authorization: Bearer TOKEN' tells "
				  "of one");
		else
			help(out, "weir keys list: is the key there, and not expired or revoked?");
		break;
	case FLOW_NEVER:
		help(out, "another plan: weir plans; weir keys set NAME --plan PLAN");
		break;
	default:
		if (refusal->wait_s == REFUSAL_NEVER) {
			help(out, "its cost is more than the limit ever allows: a larger burst, or a smaller "
				  "cost");
			break;
		}
		help(out, "weir reset --limit %s --key %s", name, key);
		if (refusal->what == IMAGE_RATE)
			help(out, "weir grant %s %s N", key, name);
	}
	return out;
}

json_t *why_json(const struct live *live, const char *id, const struct refusal *refusal)
{
	char raw[128], who[sizeof raw * 4 + 4] = "", spelled[1024] = "", key[1024] = "", slot[20],
					    *limit = NULL, buffer[300];
	size_t length = 0;
	struct found found;
	find(live, refusal, &found);
	bool in_force = (uint8_t)live->image->generation == refusal->generation;
	bool known = why_whose(live, refusal, found.limit, raw, sizeof raw, &length);
	json_t *name = json_null();
	if (known)
		out_escape((struct text){raw, length}, who, sizeof who);
	if (known && why_key(live, refusal, found.limit, (struct text){raw, length}, spelled, sizeof spelled))
		out_escape(text_of(spelled), key, sizeof key);
	if (found.limit != UINT32_MAX) {
		struct text text = image_text(live->image, image_limit_at(live->image, found.limit)->name);
		snprintf(limit = buffer, sizeof buffer, "%.*s", (int)text.size, text.data);
	} else if (refusal->status != FLOW_UNKNOWN && refusal->stat &&
		   *stats_name(live->table, refusal->stat)) {
		snprintf(limit = buffer, sizeof buffer, "%s", stats_name(live->table, refusal->stat));
	}
	if (limit)
		name = out_own(text_of(limit));
	snprintf(slot, sizeof slot, "%014llx", (unsigned long long)refusal->slot);
	return json_pack(
		"{s:s, s:I, s:s, s:o, s:o, s:o, s:o, s:{s:i, s:b, s:I}, s:o, s:o, s:o, s:o}", "id", id, "at",
		(json_int_t)refusal->at, "kind", kind_of(refusal), "reason", reason_json(refusal), "limit",
		name, "counter",
		found.counter != UINT32_MAX
			? out_own(image_text(live->image, image_counter_at(live->image, found.counter)->name))
			: json_null(),
		"said_wait_s",
		refusal->wait_s && refusal->wait_s != REFUSAL_NEVER
			? json_integer((json_int_t)refusal->wait_s)
			: json_null(),
		"generation", "low_byte", refusal->generation, "in_force", in_force, "current",
		(json_int_t)live->image->generation, "who", known ? json_string(who) : json_null(), "slot",
		refusal->slot ? json_string(slot) : json_null(), "now", now_json(live, &found), "help",
		help_json(refusal, limit, key[0] ? key : NULL));
}
