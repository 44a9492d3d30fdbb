/* SPDX-License-Identifier: BSD-2-Clause */
/* weir table: what is in the table, whether it is sound; another size, out of it and into it (table_change.c). */
#include <stdio.h>
#include <string.h>

#include "cli/find.h"
#include "cli/out.h"
#include "cli/table_change.h"
#include "policy/policy.h"
#include "table/census.h"
#include "table/snapshot.h"

/* {kind, source}: what is in force; nothing that can be read: null. */
static json_t *source_json(struct table *table)
{
	struct policy_image *current = NULL;
	json_t *out = json_null();
	if (policy_current(table, &current, NULL, 0) == WEIR_OK && current)
		out = json_pack("{s:s, s:o}", "kind",
				current->image->kind == IMAGE_OF_ZONES ? "zones" : "policy", "source",
				out_own(image_text(current->image, current->image->source)));
	policy_drop(&current);
	return out;
}

static json_t *info_json(struct table *table, const struct census *census)
{
	json_t *out = json_pack(
		"{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "table",
		out_own(text_of(table_path(table))), "bytes", (json_int_t)census->bytes, "slots",
		(json_int_t)census->slots, "live", (json_int_t)census->live, "cells",
		(json_int_t)census->cells, "held", (json_int_t)census->held, "recovered",
		(json_int_t)census->recovered, "claimed", (json_int_t)census->claimed, "empty",
		(json_int_t)census->empty, "process_slots", (json_int_t)census->process_slots, "processes",
		(json_int_t)census->processes, "ledger_rows", (json_int_t)census->ledger_rows, "ledger_bytes",
		(json_int_t)census->ledger_bytes, "generation", (json_int_t)census->generation,
		"newest_generation_lag", (json_int_t)census->newest_generation_lag);
	json_object_set_new(out, "policy", source_json(table));
	return out;
}

static void print_info(struct table *table, const struct census *census)
{
	char a[32], b[32];
	printf("table        %s, %s bytes\n", table_path(table), out_number(census->bytes, a, sizeof a));
	printf("counters     %s being counted, of %s places\n",
	       out_number(census->live - census->cells, a, sizeof a), out_number(census->slots, b, sizeof b));
	if (census->cells)
		printf("             %s parts of them: admissions in logs, what is in flight or reserved\n",
		       out_number(census->cells, a, sizeof a));
	printf("             %s recovered (free to be replaced)\n",
	       out_number(census->recovered, a, sizeof a));
	printf("             %s empty\n", out_number(census->empty, a, sizeof a));
	if (census->claimed)
		printf("             %s claimed and not charged yet\n",
		       out_number(census->claimed, a, sizeof a));
	printf("processes    %llu of %llu\n", (unsigned long long)census->processes,
	       (unsigned long long)census->process_slots);
	json_t *source = source_json(table);
	const char *kind = json_string_value(json_object_get(source, "kind")),
		   *file = json_string_value(json_object_get(source, "source"));
	printf("%s", kind && strcmp(kind, "zones") == 0 ? "zones        of " : "policy       ");
	printf("%s%sgeneration %llu", file ? file : "", file ? ", " : "",
	       (unsigned long long)census->generation);
	json_decref(source);
	if (census->newest_generation_lag)
		printf("; the slowest process is %llu behind",
		       (unsigned long long)census->newest_generation_lag);
	printf("\nledger       %s rows, %s bytes\n", out_number(census->ledger_rows, a, sizeof a),
	       out_number(census->ledger_bytes, b, sizeof b));
}

static void note(void *context, const char *sentence)
{
	json_t *findings = context;
	if (json_array_size(findings) < 100)
		json_array_append_new(findings, out_own(text_of(sentence)));
}

static int check(struct table *table)
{
	json_t *findings = json_array(), *finding;
	size_t i;
	uint64_t count = census_check(table, note, findings);
	if (out_as_json) {
		out_document(json_pack("{s:o, s:b, s:I, s:o}", "table", out_own(text_of(table_path(table))),
				       "ok", count == 0, "count", (json_int_t)count, "findings", findings));
		return count ? STATUS_FINDINGS : STATUS_FINE;
	}
	for (i = 0; (finding = json_array_get(findings, i)); i++)
		printf("%s\n", json_string_value(finding));
	if (count == 0)
		printf("%s is sound\n", table_path(table));
	else
		printf("%llu findings; stop the doors, remove the file, start again\n",
		       (unsigned long long)count);
	json_decref(findings);
	return count ? STATUS_FINDINGS : STATUS_FINE;
}

/* What it began with. */
static void print_restored(struct table *table)
{
	struct table_restored restored;
	char age[64], number[32];
	if (!table_restored(table, &restored))
		return;
	if (restored.why[0])
		printf("snapshot     not loaded: %s\n", restored.why);
	else
		printf("snapshot     it began with %s counters, written down %s before%s\n",
		       out_number(restored.entries, number, sizeof number),
		       out_duration(restored.age_ns, age, sizeof age),
		       restored.believed ? "" : "; the wall clock is not believed in full yet");
}

static int look(const struct find *find, bool info)
{
	struct table *table = NULL;
	int status = find_open(find, true, &table);
	if (status == STATUS_FINE && info) {
		struct census census;
		census_take(table, &census);
		if (out_as_json) {
			out_document(info_json(table, &census));
		} else {
			print_info(table, &census);
			print_restored(table);
		}
	} else if (status == STATUS_FINE) {
		status = check(table);
	}
	find_close(&table);
	return status;
}

int table_command(int argc, char **argv)
{
	struct find find = {0};
	bool replace = false;
	const struct options_rule rules[] = {
		FIND_OPTIONS(&find),
		{"--replace", OPTIONS_FLAG, &replace, NULL, "import: in place of the table that is there"},
	};
	struct options options = {
		.synopsis = "weir table (info | check | resize SIZE | export [FILE] | import FILE) [--policy "
			    "FILE | --table PATH]",
		.about = "info: how much of the table is in use, by how many processes. check: walks it, "
			 "while others go on\n"
			 "deciding, and names every rule of its format that is broken; exit 1 if one is. "
			 "resize: "
			 "makes it larger\n"
			 "or smaller (64m), while others go on deciding; counters stay. export: all counters "
			 "as "
			 "JSON, with the\n"
			 "table's secrets, so FILE is private. import: a table from that.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 2,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	const char *word = options.words.count ? options.words.items[0] : "";
	const char *more = options.words.count > 1 ? options.words.items[1] : NULL;
	if (strcmp(word, "resize") == 0)
		return table_change_size(&find, more);
	if (strcmp(word, "export") == 0)
		return table_export(&find, more);
	if (strcmp(word, "import") == 0 && more)
		return table_import(&find, more, replace);
	bool info = strcmp(word, "info") == 0;
	if (more || (!info && strcmp(word, "check") != 0)) {
		out_error("say weir table info, check, resize SIZE, export [FILE] or import FILE");
		return STATUS_USAGE;
	}
	return look(&find, info);
}
