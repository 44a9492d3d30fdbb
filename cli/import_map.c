/* SPDX-License-Identifier: BSD-2-Clause */
/* import_map: map. As in nginx a value that is spelled out comes first, whatever its case and place; then regular expressions in
 * their order. */
#include "cli/import_switch.h"
#include "policy/image.h"

static bool is_regex(struct text key)
{
	return key.size > 1 && key.data[0] == '~';
}

static bool is_word(const struct conf_directive *d)
{
	return d->count == 1 && (conf_is(d, "hostnames") || conf_is(d, "volatile"));
}

/* The map's own escape. */
static struct text literal(struct text key)
{
	return key.size > 1 && key.data[0] == '\\' ? (struct text){key.data + 1, key.size - 1} : key;
}

static bool regex_meets(struct import_model *model, struct text key, struct text value, bool *meets)
{
	struct import_regex regex;
	bool folded = key.size > 2 && key.data[1] == '*';
	struct text text = {key.data + 1 + folded, key.size - 1 - folded};
	*meets = false;
	if (!import_regex(model, text, &regex) || !regex.begins || regex.below)
		return false;
	for (size_t i = 0; i < regex.texts.count; i++) {
		struct text wanted = regex.texts.items[i], head = value;
		if (memchr(wanted.data, IMPORT_ANY, wanted.size))
			return false;
		if (!regex.ends && head.size > wanted.size)
			head.size = wanted.size;
		*meets |= folded ? text_equal_folded(head, wanted) : text_equal(head, wanted);
	}
	return true;
}

bool import_map_of(struct import_model *model, const struct import_variable *map, struct text value,
		   struct text *result)
{
	bool meets = false;
	*result = TEXT("");
	if (map->block->cut)
		return false;
	for (const struct conf_directive *d = map->block->children; d; d = d->next)
		if (d->count == 2 && !conf_is(d, "default") && !is_regex(d->words[0]) &&
		    text_equal_folded(literal(d->words[0]), value)) {
			*result = d->words[1];
			return true;
		}
	for (const struct conf_directive *d = map->block->children; d; d = d->next) {
		if (d->count != 2 || !is_regex(d->words[0]))
			continue;
		if (!regex_meets(model, d->words[0], value, &meets))
			return false;
		if (meets) {
			*result = d->words[1];
			return true;
		}
	}
	const struct conf_directive *otherwise = conf_last(map->block, "default");
	if (otherwise && otherwise->count == 2)
		*result = otherwise->words[1];
	return true;
}

static bool chain(struct import_model *model, const struct import_variable *map, unsigned depth,
		  struct text source, struct import_switch *out, const char **why)
{
	if (!import_switch(model, source, depth + 1, out, why))
		return false;
	for (size_t i = 0; i <= out->count; i++) {
		struct text *result = i < out->count ? &out->cases[i].result : &out->otherwise;
		if (memchr(result->data, '$', result->size) || !import_map_of(model, map, *result, result)) {
			*why = "what a map makes of it is not understood";
			return false;
		}
	}
	return true;
}

static bool printable(struct text text)
{
	for (size_t i = 0; i < text.size; i++)
		if (text.data[i] < ' ' || text.data[i] == 0x7f || text.data[i] == '*')
			return false;
	return true;
}

static bool is_method(struct text text)
{
	static const char *const NAMES[] = {
#define X(name) #name,
		IMAGE_METHODS(X)
#undef X
	};
	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
		if (text_equal(text, text_of(NAMES[i])))
			return true;
	return false;
}

static bool is_host(struct text value)
{
	for (size_t i = 0; i < value.size; i++)
		if (!((text_lower(value.data[i]) >= 'a' && text_lower(value.data[i]) <= 'z') ||
		      (value.data[i] >= '0' && value.data[i] <= '9') || strchr("-._", value.data[i]) ||
		      (value.data[i] == '*' && i == 0 && value.size > 2 && value.data[1] == '.')))
			return false;
	return value.size > 0;
}

/* One value in the words of a policy; false: it has none. */
static bool say(struct import_model *model, struct import_switch *out, struct text value, struct text result,
		bool regex)
{
	struct import_case entry = {.result = result, .value = value, .regex = regex};
	char why[128];

	switch (out->dimension) {
	case IMPORT_IP:
		if (!network_parse(value, &entry.network, why, sizeof why) ||
		    memchr(value.data, '/', value.size))
			return false;
		break;
	case IMPORT_METHOD:
		if (!is_method(value))
			return false;
		out->get |= text_equal(value, TEXT("GET"));
		out->head |= text_equal(value, TEXT("HEAD"));
		break;
	case IMPORT_PATH:
		if (!regex) {
			entry.value = import_pattern(model, value, "");
			if (!entry.value.size)
				return false;
		}
		break;
	case IMPORT_HOST:
		if (!is_host(value) || (!out->hostnames && strchr("*.", value.data[0])))
			return false;
		if (import_hostnames_dot(model, out, entry))
			return true;
		break;
	case IMPORT_HEADER:
		if (!regex && !printable(value))
			return false;
		out->secret |= value.size > 0 && !regex && !out->open;
		break;
	}
	import_case_add(model, out, entry);
	return true;
}

static bool say_regex(struct import_model *model, struct import_switch *out, const struct conf_directive *d)
{
	struct text key = d->words[0];
	bool folded = key.size > 2 && key.data[1] == '*', textual = false;
	struct import_regex regex;
	struct import_texts values = {0};

	if (!import_regex(model, (struct text){key.data + 1 + folded, key.size - 1 - folded}, &regex))
		return false;
	if (out->dimension == IMPORT_PATH) {
		if (!import_regex_paths(model, &regex, &values, &textual) || import_has(&values, TEXT("")))
			return false;
		if (textual || regex.wider)
			import_note(model, IMPORT_DIFFERS, d->place,
				    "`%.*s` becomes whole segments of paths: %s", (int)key.size, key.data,
				    values.items[0].data);
	}
	for (size_t i = 0; i < regex.texts.count && out->dimension != IMPORT_PATH; i++) {
		struct text text = regex.texts.items[i];
		bool header = out->dimension == IMPORT_HEADER;
		if (folded || regex.below || !text.size || !printable(text) ||
		    !(regex.begins || regex.ends) || (!header && !(regex.begins && regex.ends)))
			return false;
		import_push(model, &values,
			    arena_format(model->arena, "%s%.*s%s", regex.begins ? "" : "*", (int)text.size,
					 text.data, regex.ends ? "" : "*"));
	}
	for (size_t i = 0; i < values.count; i++)
		if (!say(model, out, values.items[i], d->words[1], true))
			return false;
	return true;
}

static bool look_at(struct text name, struct import_model *model, struct import_switch *out)
{
	static const struct {
		const char *name;
		enum import_dimension dimension;
	} KNOWN[] = {{"remote_addr", IMPORT_IP},  {"request_method", IMPORT_METHOD},
		     {"host", IMPORT_HOST},	  {"http_host", IMPORT_HOST},
		     {"uri", IMPORT_PATH},	  {"document_uri", IMPORT_PATH},
		     {"request_uri", IMPORT_PATH}};
	/* values of these are nobody's secret */
	static const char *const PUBLIC[] = {"user-agent",	"referer",	    "origin",
					     "accept",		"content-type",	    "upgrade",
					     "connection",	"x-requested-with", "x-forwarded-proto",
					     "accept-language", "cf-ipcountry"};
	struct text rest;

	for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
		if (text_equal(name, text_of(KNOWN[i].name))) {
			out->dimension = KNOWN[i].dimension;
			return true;
		}
	if (!import_begins(name, "http_", &rest) || !rest.size)
		return false;
	char *header = arena_alloc(model->arena, rest.size + 1);
	for (size_t i = 0; i < rest.size; i++)
		header[i] = rest.data[i] == '_' ? '-' : text_lower(rest.data[i]);
	out->dimension = IMPORT_HEADER;
	out->header = (struct text){header, rest.size};
	for (size_t i = 0; i < sizeof PUBLIC / sizeof *PUBLIC; i++)
		if (text_equal(out->header, text_of(PUBLIC[i])))
			out->open = true;
	return true;
}

static bool has_hostnames(const struct conf_directive *block)
{
	for (const struct conf_directive *d = block->children; d; d = d->next)
		if (d->count == 1 && conf_is(d, "hostnames"))
			return true;
	return false;
}

/* A value that may be an API key is not shown. */
static const char *unsaid(struct import_model *model, const struct import_switch *out,
			  const struct conf_directive *d)
{
	struct text key = d->words[0];
	if (out->dimension == IMPORT_HEADER && !out->open)
		return arena_format(model->arena, "a value of its map, at %s, has no word in a policy",
				    import_where(model, d->place))
			.data;
	return arena_format(model->arena, "the value '%.*s' of its map, at %s, has no word in a policy",
			    (int)(key.size < 80 ? key.size : 80), key.data, import_where(model, d->place))
		.data;
}

bool import_map(struct import_model *model, const struct import_variable *map, unsigned depth,
		struct import_switch *out, const char **why)
{
	struct text source = import_variable_alone(map->block->words[1]);
	size_t cases = 0;

	if (source.size && import_variable_named(model, source))
		return chain(model, map, depth, source, out, why);
	*why = "its map is too long";
	if (map->block->cut)
		return false;
	*why = "what it depends on has no word in a policy";
	if (!source.size || !look_at(source, model, out))
		return false;
	out->hostnames = out->dimension == IMPORT_HOST && has_hostnames(map->block);
	for (unsigned regexes = 0; regexes < 2; regexes++)
		for (const struct conf_directive *d = map->block->children; d; d = d->next) {
			struct text key = d->words[0];
			if (is_word(d) || d->count != 2 || conf_is(d, "default") || is_regex(key) != regexes)
				continue;
			bool variable = memchr(d->words[1].data, '$', d->words[1].size) != NULL;
			if (++cases > IMPORT_CASES_MAX ||
			    (variable && regexes && strpbrk(d->words[1].data, "123456789")) ||
			    !(regexes ? say_regex(model, out, d)
				      : say(model, out, literal(key), d->words[1], false))) {
				*why = unsaid(model, out, d);
				return false;
			}
		}
	if (out->hostnames)
		import_hostnames_order(model, out);
	const struct conf_directive *otherwise = conf_last(map->block, "default");
	if (otherwise && otherwise->count == 2)
		out->otherwise = otherwise->words[1];
	if (out->get != out->head)
		import_note(model, IMPORT_DIFFERS, map->block->place, "a policy counts HEAD as GET");
	out->name = map->name;
	*why = NULL;
	return true;
}
