/* SPDX-License-Identifier: BSD-2-Clause */
/* exceptions: the lists `exempt` and `deny`. */
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

/* `exempt: [10.0.0.0/8, GET /healthz]`: a bare value is a match if it has a path, else an address. */
static void read_bare(struct load *load, const struct node *item, struct model_exception *out)
{
	struct text text;
	if (!value_text(load, item, "exempt", &text))
		return;
	if (text.data[0] == '/' || memmem(text.data, text.size, " /", 2))
		match_read(load, item, false, &out->clauses, &out->clause_count);
	else
		networks_read(load, item, "ip", &out->networks, &out->network_count);
}

static void add_key(struct load *load, const struct node *item, void *context)
{
	struct model_exception *out = context;
	struct text name;

	if (value_line(load, item, "key", &name) && value_name(load, name, item->mark, "an API key"))
		out->keys[out->key_count++] = name;
}

static void read_words(struct load *load, const struct node *item, bool deny, struct model_exception *out)
{
	const struct node *ip = yaml_get(item, "ip"), *match = yaml_get(item, "match");
	const struct node *until = yaml_get(item, "until"), *reason = yaml_get(item, "reason");
	const struct node *close = yaml_get(item, "close"), *key = yaml_get(item, "key");
	const char *where = deny ? "'deny'" : "'exempt'";

	if (!words_check(load, item, SECTION_EXCEPTION, where))
		return;
	if (ip)
		networks_read(load, ip, "ip", &out->networks, &out->network_count);
	if (match)
		match_read(load, match, false, &out->clauses, &out->clause_count);
	if (key) {
		out->keys = arena_alloc(&load->arena,
					((key->kind == NODE_LIST ? key->count : 0) + 1) * sizeof *out->keys);
		value_each(load, key, "key", add_key, out);
		if (!load->says.api_keys)
			diag_error(load, key->mark, "'key' needs API keys: add clients: {api_keys: {}}");
	}
	if (!ip && !match && !key)
		diag_error(load, item->mark,
			   "an entry of %s says whom it means: ip, match, key, or several of them", where);
	if (until && value_date(load, until, "until", &out->until) && out->until <= load->wall)
		diag_warning(load, until->mark, "this entry of %s has ended; it does nothing any more",
			     where);
	if (reason)
		value_line(load, reason, "reason", &out->reason);
	if (close && !deny)
		diag_error(load, close->mark, "'close' is for 'deny'");
	else if (close)
		value_flag(load, close, "close", &out->close);
}

void exceptions_read(struct load *load, const struct node *node, bool deny, struct model_exception **out,
		     size_t *count)
{
	if (node->kind == NODE_EMPTY || node->kind == NODE_BROKEN)
		return;
	/* a single entry needs no list */
	const struct node *items = node->kind == NODE_LIST ? node->items : node;
	size_t item_count = node->kind == NODE_LIST ? node->count : 1;
	struct model_exception *exceptions = arena_alloc(&load->arena, (item_count + 1) * sizeof *exceptions);

	for (size_t i = 0; i < item_count; i++) {
		exceptions[i].mark = items[i].mark;
		if (items[i].kind == NODE_SCALAR)
			read_bare(load, &items[i], &exceptions[i]);
		else
			read_words(load, &items[i], deny, &exceptions[i]);
	}
	*out = exceptions;
	*count = item_count;
}
