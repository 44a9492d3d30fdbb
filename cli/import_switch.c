/* SPDX-License-Identifier: BSD-2-Clause */
/* import_switch: from what decides a key to a key and conditions. A key that is empty for some requests does not count those: such
 * a list of exceptions can be said. One that differs from client to client is a list of plans, and cannot. */
#include "cli/import_switch.h"

#define SWITCHES_MAX 10u /* in a chain */

const struct import_variable *import_variable_named(const struct import_model *model, struct text name)
{
	for (const struct import_variable *variable = model->variables; variable; variable = variable->next)
		if (text_equal_folded(variable->name, name))
			return variable;
	return NULL;
}

void import_case_add(struct import_model *model, struct import_switch *decided, struct import_case entry)
{
	decided->cases = arena_grow(model->arena, decided->cases, decided->count, &decided->capacity,
				    sizeof *decided->cases);
	decided->cases[decided->count++] = entry;
}

bool import_switch(struct import_model *model, struct text name, unsigned depth, struct import_switch *out,
		   const char **why)
{
	const struct import_variable *variable = import_variable_named(model, name);
	*out = (struct import_switch){.otherwise = {"", 0}};
	*why = "it is too long a chain of maps";
	if (depth > SWITCHES_MAX || !variable)
		return false;
	*why = NULL;
	return variable->geo ? import_geo(model, variable, out, why)
			     : import_map(model, variable, depth, out, why);
}

/* The one result that is not empty; false: there are several. */
static bool one_result(const struct import_switch *decided, struct text *result)
{
	*result = decided->otherwise;
	for (size_t i = 0; i < decided->count; i++) {
		if (!decided->cases[i].result.size)
			continue;
		if (result->size && !text_equal(*result, decided->cases[i].result))
			return false;
		*result = decided->cases[i].result;
	}
	return true;
}

static void values_of(struct import_model *model, const struct import_switch *decided, bool counted,
		      struct import_condition *into, bool *empty)
{
	for (size_t i = 0; i < decided->count; i++) {
		const struct import_case *entry = &decided->cases[i];
		if ((entry->result.size > 0) != counted)
			continue;
		if (decided->dimension == IMPORT_IP)
			import_networks(model, &entry->network, &into->values);
		else if (entry->value.size == 0)
			*empty = true;
		else if (!import_has(&into->values, entry->value))
			import_push(model, &into->values, entry->value);
	}
}

static bool entangled_hosts(const struct import_switch *decided, bool counted)
{
	for (size_t i = 0; i < decided->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct import_case *wide = &decided->cases[i], *before = &decided->cases[k];
			if ((wide->result.size > 0) == counted && (before->result.size > 0) != counted &&
			    (wide->regex || import_host_below(wide->value, before->value)))
				return true;
		}
	return false;
}

/* Does a case of this kind take something from a later one of the other kind? Then no list says it. */
static bool entangled(const struct import_switch *decided, bool counted)
{
	bool other = false;
	if (decided->hostnames)
		return entangled_hosts(decided, counted);
	for (size_t i = 0; i < decided->count && decided->dimension != IMPORT_IP; i++) {
		const struct import_case *entry = &decided->cases[i];
		if ((entry->result.size > 0) != counted)
			other = true;
		else if (other && entry->regex)
			return true;
	}
	return false;
}

static void add_condition(struct import_model *model, struct import_key *key,
			  struct import_condition condition)
{
	size_t capacity = key->condition_count;
	key->conditions = arena_grow(model->arena, key->conditions, key->condition_count, &capacity,
				     sizeof *key->conditions);
	key->conditions[key->condition_count++] = condition;
}

bool import_switch_key(struct import_model *model, const struct import_switch *decided, struct text *counted,
		       struct import_key *key, const char **why)
{
	bool by_default = decided->otherwise.size > 0, empty = false;
	struct import_condition some = {
		.dimension = decided->dimension, .header = decided->header, .name = decided->name};
	struct import_condition present = some;

	if (!one_result(decided, counted)) {
		*why = "its map gives several keys, and not by API keys alone";
		return false;
	}
	if (counted->size == 0) {
		key->why = "its key is always empty, so it limits nobody";
		return false;
	}
	if (decided->secret) {
		*why = arena_format(
			       model->arena,
			       "its map has values of the header %.*s, which may be API keys, and no plan "
			       "says what it makes of them",
			       (int)decided->header.size, decided->header.data)
			       .data;
		return false;
	}
	if (entangled(decided, !by_default)) {
		*why = "its values overlap";
		return false;
	}
	some.negated = by_default;
	values_of(model, decided, !by_default, &some, &empty);
	if (empty && decided->dimension == IMPORT_HEADER) {
		/* no such header: exempt it, or count nothing else */
		if (!by_default && some.values.count) {
			*why = "it counts both an absent and a certain value";
			return false;
		}
		present.negated = !by_default;
		import_push(model, &present.values, TEXT("*"));
		add_condition(model, key, present);
	}
	if (some.values.count > 1000 && decided->dimension != IMPORT_IP) {
		*why = "it has more than 1,000 values";
		return false;
	}
	if (some.values.count)
		add_condition(model, key, some);
	else if (!by_default && !empty) {
		key->why = "its key is always empty, so it limits nobody";
		return false;
	}
	return true;
}
