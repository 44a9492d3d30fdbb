/* SPDX-License-Identifier: BSD-2-Clause */
/* new_keys: how many keys that nobody has seen yet one address may bring. */
#include "policy/numbers.h"
#include "policy/sections.h"
#include "policy/value.h"

/* Cuts " per ip" or " per ip/24/56" off; *ip is what was cut, "" nothing. False after a finding. */
static bool cut_address(struct load *load, const struct node *node, struct text *text, struct text *ip)
{
	struct text rest, head;
	size_t at = text->size;

	*ip = (struct text){"", 0};
	while (at > 5 && memcmp(text->data + at - 5, " per ", 5) != 0)
		at--;
	if (at <= 5)
		return true;
	rest = value_trim((struct text){text->data + at, text->size - at});
	head = value_trim((struct text){text->data, at - 5});
	if (rest.size >= 2 && memcmp(rest.data, "ip", 2) == 0) {
		*ip = rest;
		*text = head;
		return true;
	}
	if (!memchr(head.data, '/', head.size)) /* "30 per minute" */
		return true;
	diag_error(load, yaml_mark_part(node, rest),
		   "new keys are counted by who brings them: write %.*s, or %.*s per ip/24/56", SHOW(head),
		   SHOW(head));
	return false;
}

/* Can a client make this key up? Its address it cannot, nor a key or token that is known. */
static bool can_be_new(const struct model_limit *limit)
{
	static const bool made_up[] = {
		[IMAGE_KEY_HEADER] = true, [IMAGE_KEY_COOKIE] = true,  [IMAGE_KEY_QUERY] = true,
		[IMAGE_KEY_HOST] = true,   [IMAGE_KEY_PATH] = true,    [IMAGE_KEY_VAR] = true,
		[IMAGE_KEY_BODY] = true,   [IMAGE_KEY_SESSION] = true,
	};

	for (size_t i = 0; i < limit->key_count; i++)
		if (limit->key[i].kind < sizeof made_up && made_up[limit->key[i].kind])
			return true;
	return false;
}

static bool has_rate(const struct model_limit *limit)
{
	for (size_t i = 0; i < limit->rate_count; i++)
		if (limit->rates[i].what == IMAGE_RATE)
			return true;
	return false;
}

void new_keys_read(struct load *load, const struct node *node, struct model_limit *limit)
{
	struct numbers n = {.load = load, .limit = limit, .words_known = true, .alignment = -1};
	struct model_rate out = {.mark = node->mark, .unit = TEXT("new_keys"), .what = IMAGE_NEW_KEYS};
	struct image_key_part part = {0};
	struct text text, ip, name;
	struct rate rate;
	char why[320];

	if (!value_line(load, node, "new_keys", &text) || !cut_address(load, node, &text, &ip))
		return;
	if (!rate_parse(&load->arena, text, &rate, why, sizeof why)) {
		diag_error(load, node->mark, "%s", why);
		return;
	}
	if (ip.size > 2 && !key_word_read(load, ip, yaml_mark_part(node, ip), &part, &name))
		return;
	if (!numbers_build(&n, &rate, rate.period_ns < RATE_NS_DAY ? ALGO_TOKEN_BUCKET : ALGO_FIXED_WINDOW,
			   node->mark, &out))
		return;
	if (!has_rate(limit)) /* what is in flight, or sent, leaves no key behind that would be known again */
		diag_error(load, node->mark, "'new_keys' is for a rate, and this limit has none");
	else if (!can_be_new(limit))
		diag_error(load, node->mark,
			   "'new_keys' is for a key that clients can make up; '%.*s' is none",
			   SHOW(limit->key_text));
	else {
		out.count = rate.count;
		out.period_ns = rate.period_ns;
		out.new_bits4 = part.bits4;
		out.new_bits6 = part.bits6;
		limit->rates[limit->rate_count++] = out;
	}
}
