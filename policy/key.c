/* SPDX-License-Identifier: BSD-2-Clause */
/* key: who is counted together: `ip`, `[header.x-tenant, route]`, `header.x-api-key | ip`. */
#include <stdio.h>

#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define PARTS_MAX 16

struct key {
	struct image_key_part parts[PARTS_MAX];
	struct text names[PARTS_MAX];
	size_t count;
	uint32_t ordinal;     /* of the part being read */
	struct text text;     /* canonical, so far */
	struct text can_miss; /* a part that may be missing as a whole, "" none */
	struct model_mark can_miss_mark;
	bool failed;
};

enum { NAMED = 1, CAN_MISS = 2 };
static const uint8_t traits[] = {
	[IMAGE_KEY_HEADER] = NAMED | CAN_MISS, [IMAGE_KEY_COOKIE] = NAMED | CAN_MISS,
	[IMAGE_KEY_QUERY] = NAMED | CAN_MISS,  [IMAGE_KEY_VAR] = NAMED | CAN_MISS,
	[IMAGE_KEY_API_KEY] = CAN_MISS,	       [IMAGE_KEY_USER] = CAN_MISS,
	[IMAGE_KEY_JWT] = NAMED | CAN_MISS,    [IMAGE_KEY_SESSION] = CAN_MISS,
	[IMAGE_KEY_BODY] = NAMED | CAN_MISS,
};

static bool has(uint32_t kind, unsigned trait)
{
	return kind < sizeof traits && traits[kind] & trait;
}

/* "24" or "24/56" behind "ip/". */
static bool read_prefixes(struct text text, unsigned *bits4, unsigned *bits6)
{
	unsigned *out[2] = {bits4, bits6}, most[2] = {32, 128};
	size_t at = 0;
	for (int i = 0; i < 2 && at < text.size; i++) {
		size_t start = at;
		unsigned bits = 0;
		while (at < text.size && at - start < 3 && text.data[at] >= '0' && text.data[at] <= '9')
			bits = bits * 10 + (unsigned)(text.data[at++] - '0');
		if (at == start || text.data[start] == '0' || bits > most[i])
			return false;
		*out[i] = bits;
		if (at < text.size && (i == 1 || text.data[at++] != '/' || at == text.size))
			return false;
	}
	return true;
}

static bool name_byte(uint32_t kind, char c)
{
	bool word = (text_lower(c) >= 'a' && text_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
	if (kind == IMAGE_KEY_VAR)
		return word;
	if (kind == IMAGE_KEY_COOKIE)
		return word || (c && strchr("!#$%&'*+-.^`|~", c));
	return (unsigned char)c > ' ' && c != 0x7f && !strchr("&=#|", c);
}

bool key_name_read(struct load *load, uint32_t kind, struct text word, struct model_mark mark,
		   struct text *out)
{
	const char *dot = memchr(word.data, '.', word.size);
	struct text name = {dot + 1, word.size - (size_t)(dot + 1 - word.data)};

	if (name.size > 128) {
		diag_error(load, mark, "the name in '%.*s' is longer than 128 bytes", SHOW(word));
		return false;
	}
	if (kind == IMAGE_KEY_HEADER)
		return header_name_read(load, name, mark, out);
	for (size_t i = 0; i < name.size; i++)
		if (!name_byte(kind, name.data[i])) {
			diag_error(load, mark, "'%.*s' cannot be a name in '%.*s'", SHOW(name), SHOW(word));
			return false;
		}
	*out = name;
	return true;
}

/* Is it one of the things that people write in place of a kind? Then says what was probably meant. */
static bool complain(struct load *load, struct text word, struct model_mark mark)
{
	if (memchr(word.data, '.', word.size))
		return false;
	if (word.data[0] == '$')
		diag_error(load, mark, "unknown key '%.*s'; a variable is written var.%.*s", SHOW(word),
			   SHOW(((struct text){word.data + 1, word.size - 1})));
	else if (memchr(word.data, ',', word.size) || memchr(word.data, '+', word.size))
		diag_error(load, mark, "unknown key '%.*s'; parts are combined in a list: [ip, route]",
			   SHOW(word));
	else if (word.size > 2 && text_lower(word.data[0]) == 'x' && word.data[1] == '-')
		diag_error(load, mark, "unknown key '%.*s'; a header is written header.%.*s", SHOW(word),
			   SHOW(word));
	else
		return false;
	return true;
}

/* Does the policy say what this part needs to be known by? Without it nobody would ever have one. */
static bool known_by(struct load *load, uint32_t kind, struct text word, struct model_mark mark)
{
	if ((kind == IMAGE_KEY_API_KEY || (kind == IMAGE_KEY_USER && !load->says.jwt && !load->says.user)) &&
	    !load->says.api_keys)
		diag_error(load, mark, "'%.*s' needs %s: add clients: {api_keys: {}}", SHOW(word),
			   kind == IMAGE_KEY_USER ? "API keys, or tokens" : "API keys");
	else if (kind == IMAGE_KEY_JWT && !load->says.jwt)
		diag_error(load, mark,
			   "'%.*s' needs tokens: add clients: {jwt: {jwks_file: keys.json, algorithms: "
			   "[RS256]}}",
			   SHOW(word));
	else if (kind == IMAGE_KEY_SESSION && !load->says.session)
		diag_error(load, mark, "'%.*s' needs a session: add clients: {session: cookie.NAME}",
			   SHOW(word));
	else
		return true;
	return false;
}

static bool read_word(struct load *load, struct text word, struct model_mark mark, struct key *key)
{
	struct image_key_part part = {.alternative = key->ordinal};
	struct text name = {"", 0};
	int kind = IMAGE_KEY_IP;

	if (word.size >= 2 && memcmp(word.data, "ip", 2) == 0 && (word.size == 2 || word.data[2] == '/')) {
		unsigned bits4 = 32, bits6 = load->model.ipv6_prefix;
		if (word.size > 2 &&
		    !read_prefixes((struct text){word.data + 3, word.size - 3}, &bits4, &bits6)) {
			diag_error(
				load, mark,
				"'%.*s': prefixes are ip/V4/V6, like ip/24/56, of 1 to 32 and 1 to 128 bits",
				SHOW(word));
			return false;
		}
		part.bits4 = (uint16_t)bits4;
		part.bits6 = (uint16_t)bits6;
	} else if (complain(load, word, mark) || !words_value_text(load, word, mark, "key", &kind)) {
		return false;
	}
	part.kind = (uint32_t)kind;
	if (has(part.kind, NAMED) && !key_name_read(load, part.kind, word, mark, &name))
		return false;
	if (part.kind == IMAGE_KEY_API_KEY && word.size > strlen("api-key."))
		name = (struct text){word.data + strlen("api-key."), word.size - strlen("api-key.")};
	if (!known_by(load, part.kind, word, mark))
		return false;
	for (size_t i = 0; i < key->count; i++)
		if (key->parts[i].kind == part.kind && text_equal(key->names[i], name) &&
		    key->parts[i].bits4 == part.bits4 && key->parts[i].bits6 == part.bits6) {
			diag_error(load, mark, "'%.*s' stands twice in this key", SHOW(word));
			return false;
		}
	if (key->count == PARTS_MAX) {
		diag_error(load, mark, "a key has at most %d parts", PARTS_MAX);
		return false;
	}
	key->parts[key->count] = part;
	key->names[key->count++] = name;

	/* the text as it is hashed into the counter's identity: spelling variants of one key must not differ */
	if (has(part.kind, NAMED)) {
		const char *dot = memchr(word.data, '.', word.size);
		word = arena_format(&load->arena, "%.*s%.*s", (int)(dot + 1 - word.data), word.data,
				    (int)name.size, name.data);
	}
	bool first = key->count == 1,
	     alternative = !first && key->parts[key->count - 2].alternative == key->ordinal;
	key->text = arena_format(&load->arena, "%.*s%s%.*s", (int)key->text.size,
				 key->text.data ? key->text.data : "",
				 first	       ? ""
				 : alternative ? " | "
					       : ", ",
				 (int)word.size, word.data);
	return true;
}

bool key_word_read(struct load *load, struct text word, struct model_mark mark, struct image_key_part *part,
		   struct text *name)
{
	struct key *key = arena_alloc(&load->arena, sizeof *key);

	if (!read_word(load, word, mark, key))
		return false;
	*part = key->parts[0];
	*name = key->names[0];
	return true;
}

/* One item: "a | b | c". */
static void read_item(struct load *load, const struct node *item, void *context)
{
	struct key *key = context;
	struct text rest, last = {0};
	bool missing = true;

	if (!value_line(load, item, "key", &rest)) {
		key->failed = true;
		return;
	}
	struct text whole = rest;
	while (rest.size) {
		const char *bar = memchr(rest.data, '|', rest.size);
		struct text word = value_trim(
			(struct text){rest.data, bar ? (size_t)(bar - rest.data) : rest.size});
		rest = bar ? (struct text){bar + 1, rest.size - (size_t)(bar + 1 - rest.data)}
			   : (struct text){0};
		if (!word.size) {
			diag_error(load, item->mark, "nothing stands on one side of a '|'");
			key->failed = true;
			return;
		}
		if (!missing) {
			diag_error(load, yaml_mark_part(item, word),
				   "'%.*s' is never missing, so '%.*s' would never be used", SHOW(last),
				   SHOW(word));
			key->failed = true;
			return;
		}
		if (!read_word(load, word, yaml_mark_part(item, word), key)) {
			key->failed = true;
			return;
		}
		missing = has(key->parts[key->count - 1].kind, CAN_MISS);
		last = word;
		if (bar && !value_trim(rest).size) {
			diag_error(load, item->mark, "nothing stands on one side of a '|'");
			key->failed = true;
			return;
		}
	}
	if (missing && !key->can_miss.size) {
		key->can_miss = whole;
		key->can_miss_mark = item->mark;
	}
	key->ordinal++;
}

static void check_site(struct load *load, const struct node *node, struct key *key)
{
	for (size_t i = 0; key->ordinal > 1 && i < key->count; i++) {
		bool alone = (i == 0 || key->parts[i - 1].alternative != key->parts[i].alternative) &&
			     (i + 1 == key->count ||
			      key->parts[i + 1].alternative != key->parts[i].alternative);
		if (key->parts[i].kind == IMAGE_KEY_SITE && alone)
			diag_error(load, node->mark,
				   "'site' adds nothing to the other parts of this key; it stands alone");
	}
}

static void read_missing(struct load *load, const struct node *missing, const struct key *key,
			 struct model_limit *limit)
{
	int number = IMAGE_MISSING_NONE;

	if (missing && !words_value(load, missing, "missing", &number))
		return;
	if (!missing && key->can_miss.size)
		diag_error(load, key->can_miss_mark,
			   "'%.*s' can be missing: say missing: ip, skip, deny or anonymous, or write '%.*s "
			   "| ip'",
			   SHOW(key->can_miss), SHOW(key->can_miss));
	if (missing && !key->can_miss.size && !key->failed) {
		diag_warning(load, missing->mark, "'missing' has no effect: this key is never missing");
		number = IMAGE_MISSING_NONE;
	}
	limit->missing = (uint32_t)number;
}

void key_read(struct load *load, const struct node *node, const struct node *missing,
	      struct model_limit *limit)
{
	struct key *key = arena_alloc(&load->arena, sizeof *key);
	struct node by_default = {.kind = NODE_SCALAR, .mark = limit->mark, .text = TEXT("ip")};

	if (!node)
		node = &by_default;
	value_each(load, node, "key", read_item, key);
	if (key->count == 0)
		key->failed = true;
	check_site(load, node, key);
	read_missing(load, missing, key, limit);
	limit->key = key->parts;
	limit->key_names = key->names;
	limit->key_count = key->count;
	limit->key_text = key->ordinal > 1
				  ? arena_format(&load->arena, "[%.*s]", (int)key->text.size, key->text.data)
				  : key->text;
	limit->shared = key->count == 1 && key->parts[0].kind == IMAGE_KEY_SITE;
	for (size_t i = 0; i < key->count; i++)
		limit->needs_body |= key->parts[i].kind == IMAGE_KEY_BODY;
}
