/* SPDX-License-Identifier: BSD-2-Clause */
/* import_match: a limit's match and exempt, from where it holds and what its key needs. */
#include "cli/import_yaml.h"

#include "cli/import_emit.h"

/* The paths of a clause that a condition on the path leaves; false: none. */
static bool narrow(struct import_model *model, struct import_clause *clause,
		   const struct import_condition *condition)
{
	struct import_texts both = {0};
	if (!clause->paths.count) {
		clause->paths = condition->values;
		return true;
	}
	for (size_t i = 0; i < clause->paths.count; i++)
		for (size_t k = 0; k < condition->values.count; k++) {
			struct pattern a = import_pattern_cut(model, clause->paths.items[i]),
				       b = import_pattern_cut(model, condition->values.items[k]);
			if (import_contains(&a, &b))
				import_push(model, &both, condition->values.items[k]);
			else if (import_contains(&b, &a))
				import_push(model, &both, clause->paths.items[i]);
		}
	clause->paths = both;
	return both.count > 0;
}

/* "word: value" inside of { }, with what comes before. */
static void word(FILE *out, bool *first, const char *name, struct text header,
		 const struct import_texts *values)
{
	if (!values->count)
		return;
	fprintf(out, "%s%s", *first ? "" : ", ", name);
	if (header.size)
		fwrite(header.data, 1, header.size, out);
	fputs(": ", out);
	import_yaml_texts(out, values);
	*first = false;
}

static const char *const WORDS[] = {[IMPORT_IP] = "ip",
				    [IMPORT_HEADER] = "header.",
				    [IMPORT_METHOD] = "method",
				    [IMPORT_HOST] = "host",
				    [IMPORT_PATH] = "path"};

static const struct import_condition *next_not(const struct import_key *key, size_t *i)
{
	while (*i < key->condition_count) {
		const struct import_condition *condition = &key->conditions[(*i)++];
		if (condition->negated && condition->dimension != IMPORT_IP)
			return condition;
	}
	return NULL;
}

static void write_nots(FILE *out, bool *first, const struct import_clause *clause,
		       const struct import_key *key)
{
	static const struct text none = {"", 0};
	const struct import_condition *condition = NULL;
	size_t count = (size_t)(clause->not_hosts.count > 0) + (size_t)(clause->not_paths.count > 0);
	size_t at = 0;
	bool begin = true;

	while (key && next_not(key, &at))
		count++;
	if (!count)
		return;
	fprintf(out, "%snot: %s", *first ? "" : ", ", count > 1 ? "[" : "");
	*first = false;
	for (unsigned i = 0; i < 2; i++) {
		const struct import_texts *values = i ? &clause->not_paths : &clause->not_hosts;
		bool alone = true;
		if (!values->count)
			continue;
		fputs(begin ? "{" : ", {", out);
		word(out, &alone, i ? "path" : "host", none, values);
		putc('}', out);
		begin = false;
	}
	for (at = 0; key && (condition = next_not(key, &at)); begin = false) {
		bool alone = true;
		fputs(begin ? "{" : ", {", out);
		word(out, &alone, WORDS[condition->dimension], condition->header, &condition->values);
		putc('}', out);
	}
	if (count > 1)
		putc(']', out);
}

/* "/login" says the same as {path: /login}; of a condition on the path nothing is left to say. */
static bool only_paths(const struct import_clause *clause, const struct import_key *key)
{
	bool only = clause->paths.count == 1 && !clause->hosts.count && !clause->not_hosts.count &&
		    !clause->not_paths.count;
	for (size_t i = 0; key && i < key->condition_count; i++) {
		const struct import_condition *condition = &key->conditions[i];
		only &= condition->negated ? condition->dimension == IMPORT_IP
					   : condition->dimension == IMPORT_PATH;
	}
	return only;
}

static bool write_clause(struct import_model *model, FILE *out, struct import_clause clause,
			 const struct import_key *key, bool *anything)
{
	static const struct text none = {"", 0};
	bool first = true;

	for (size_t i = 0; key && i < key->condition_count; i++) {
		const struct import_condition *condition = &key->conditions[i];
		if (condition->negated)
			continue;
		if (condition->dimension == IMPORT_PATH && !narrow(model, &clause, condition))
			return false;
		if (condition->dimension == IMPORT_HOST && clause.hosts.count)
			return false;
		if (condition->dimension == IMPORT_HOST)
			clause.hosts = condition->values;
	}
	if (only_paths(&clause, key)) {
		import_yaml_texts(out, &clause.paths);
		*anything = true;
		return true;
	}
	putc('{', out);
	word(out, &first, "host", none, &clause.hosts);
	word(out, &first, "path", none, &clause.paths);
	for (size_t i = 0; key && i < key->condition_count; i++) {
		const struct import_condition *condition = &key->conditions[i];
		const struct import_texts name = {.items = (struct text[]){condition->name}, .count = 1};
		if (condition->negated || condition->dimension == IMPORT_PATH ||
		    condition->dimension == IMPORT_HOST)
			continue;
		word(out, &first, WORDS[condition->dimension], condition->header,
		     condition->dimension == IMPORT_IP ? &name : &condition->values);
	}
	write_nots(out, &first, &clause, key);
	putc('}', out);
	*anything = !first;
	return true;
}

bool import_match(struct import_model *model, FILE *out, const struct import_limit *limit)
{
	const struct import_key *key = limit->line->zone ? &limit->line->zone->key : NULL;
	char **texts = arena_alloc(model->arena, (limit->clause_count + 1) * sizeof *texts);
	size_t count = 0;
	bool all = false;

	for (size_t i = 0; i < limit->clause_count; i++) {
		char *bytes = NULL;
		size_t size = 0;
		bool anything = false;
		FILE *memory = open_memstream(&bytes, &size);
		if (!memory)
			longjmp(model->arena->out_of_memory, 1);
		bool good = write_clause(model, memory, limit->clauses[i], key, &anything);
		if (fclose(memory) != 0)
			longjmp(model->arena->out_of_memory, 1);
		if (good)
			texts[count++] = (char *)(uintptr_t)arena_text(model->arena, bytes, size).data;
		all |= good && !anything;
		free(bytes);
	}
	if (all)
		return true;
	if (count == 1)
		fprintf(out, "    match: %s\n", texts[0]);
	else if (count)
		fputs("    match:\n", out);
	for (size_t i = 0; i < count && count > 1; i++)
		fprintf(out, "      - %s\n", texts[i]);
	return count > 0;
}

void import_exempt(FILE *out, const struct import_limit *limit)
{
	const struct import_key *key = limit->line->zone ? &limit->line->zone->key : NULL;
	for (size_t i = 0; key && i < key->condition_count; i++)
		if (key->conditions[i].negated && key->conditions[i].dimension == IMPORT_IP) {
			fputs("    exempt: [{ip: ", out);
			import_yaml_text(out, key->conditions[i].name);
			fputs("}]\n", out);
		}
}
