/* SPDX-License-Identifier: BSD-2-Clause */
/* schema_json: the table of words as a JSON Schema (draft 2020-12), for editors that complete and check YAML. */
#include <jansson.h>
#include <stdlib.h>

#include "policy/policy.h"
#include "policy/words.h"

static const char *const type_json[] = {
#define X(name, say, json) (json),
	WORD_TYPES(X)
#undef X
};

static const char *const section_names[] = {
#define X(name, where) #name,
	WORD_SECTIONS(X)
#undef X
};

static json_t *section_reference(enum word_section section)
{
	return json_pack("{s:o}", "$ref", json_sprintf("#/$defs/%s", section_names[section]));
}

/* A pattern that only these values fit; "header.NAME" is any word behind "header.". */
static json_t *values_of(const char *of)
{
	json_t *fixed = json_array(), *any = json_array();
	for (const struct word_value *value = word_values; value->of; value++) {
		const char *name = strstr(value->name, ".NAME");
		if (!value->built || strcmp(value->of, of) != 0)
			continue;
		if (name)
			json_array_append_new(
				any,
				json_pack("{s:s, s:o}", "type", "string", "pattern",
					  json_sprintf("^%.*s\\..", (int)(name - value->name), value->name)));
		else
			json_array_append_new(fixed, json_string(value->name));
	}
	if (strcmp(of, "align") == 0) {
		json_array_append_new(fixed, json_string("calendar UTC"));
		json_array_append_new(any, json_pack("{s:s, s:s}", "type", "string", "pattern",
						     "^(calendar|billing-day) +[A-Za-z]"));
	}
	if (strcmp(of, "instead") == 0)
		json_array_append_new(
			any, json_pack("{s:s, s:s}", "type", "string", "pattern", "^(challenge|slow) +[^ ]"));
	if (strcmp(of, "mode") == 0)
		json_array_append_new(
			any, json_pack("{s:s, s:s}", "type", "string", "pattern", "^enforce +[0-9]+ *%$"));
	json_array_append_new(any, json_pack("{s:o}", "enum", fixed));
	/* from the environment */
	json_array_append_new(any, json_pack("{s:s, s:s}", "type", "string", "pattern", "[$][{]"));
	return json_pack("{s:o}", "anyOf", any);
}

static json_t *one_or_list(json_t *one)
{
	return json_pack("{s:[o, {s:s, s:O}]}", "anyOf", json_incref(one), "type", "array", "items", one);
}

static json_t *string_or(json_t *other)
{
	return json_pack("{s:[{s:s}, o]}", "anyOf", "type", "string", other);
}

static json_t *type_of(const struct word *word)
{
	json_t *one, *all;

	switch (word->type) {
	case TYPE_SECTION:
		return section_reference(word->child);
	case TYPE_SECTIONS:
		return json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
				 section_reference(word->child));
	case TYPE_LIMITS:
		return json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
				 string_or(section_reference(word->child)));
	case TYPE_NETWORKS:
		one = string_or(json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string"));
		json_array_append_new(json_object_get(one, "anyOf"), section_reference(word->child));
		return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", one);
	case TYPE_LIST:
		one = word->child == SECTION_EXCEPTION ? string_or(section_reference(word->child))
						       : section_reference(word->child);
		all = one_or_list(one);
		json_decref(one);
		return all;
	case TYPE_PLANS: /* a plan's words are names of limits, and `like` */
		one = json_pack("{s:[{s:s}, {s:s, s:{s:s}}, o]}", "anyOf", "type", "string", "type", "array",
				"items", "type", "string", section_reference(word->child));
		all = json_pack("{s:[{s:[s, n]}, {s:s, s:{s:{s:s}}, s:o}]}", "anyOf", "enum", "unlimited",
				"type", "object", "properties", "like", "type", "string",
				"additionalProperties", one);
		return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", all);
	case TYPE_CHOICE:
	case TYPE_WHERE:
		return values_of(words_values_of(word));
	case TYPE_CHOICES:
	case TYPE_WHERES:
		one = values_of(words_values_of(word));
		all = one_or_list(one);
		json_decref(one);
		return all;
	case TYPE_BODY:
		return json_pack("{s:[o, o]}", "anyOf", values_of(word->name),
				 section_reference(word->child));
	case TYPE_BRIEF:
		return json_pack("{s:[{s:[s, s]}, o]}", "anyOf", "type", "integer", "string",
				 section_reference(word->child));
	case TYPE_CLAUSES:
		one = string_or(section_reference(SECTION_MATCH));
		all = one_or_list(one);
		json_decref(one);
		return all;
	default:
		return json_loads(type_json[word->type], 0, NULL);
	}
}

static void add_word(const struct word *word, void *context)
{
	json_t *section = context, *type;
	const char *name = strstr(word->name, ".NAME");

	if (!word->example)
		return;
	type = type_of(word);
	json_object_set_new(type, "description", json_string(word->help));
	if (name) {
		json_t *patterns = json_pack("{}");
		json_t *pattern = json_sprintf("^%.*s\\..", (int)(name - word->name), word->name);
		json_object_set_new(patterns, json_string_value(pattern), type);
		json_decref(pattern);
		json_object_set_new(section, "patternProperties", patterns);
	} else {
		json_object_set_new(json_object_get(section, "properties"), word->name, type);
	}
}

static json_t *section_schema(enum word_section section)
{
	json_t *schema = json_pack("{s:s, s:{}, s:b}", "type", "object", "properties", "additionalProperties",
				   0);
	words_each(section, add_word, schema);
	return schema;
}

char *policy_schema_json(void)
{
	json_t *root = section_schema(SECTION_FILE), *sections = json_object();

	for (enum word_section section = SECTION_FILE + 1; section < SECTION_COUNT; section++)
		json_object_set_new(sections, section_names[section], section_schema(section));
	json_object_set_new(root, "$defs", sections);
	json_object_set_new(root, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
	json_object_set_new(root, "title", json_string("weir policy"));
	char *text = json_dumps(root, JSON_INDENT(2) | JSON_SORT_KEYS);
	json_decref(root);
	return text;
}
