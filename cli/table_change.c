/* SPDX-License-Identifier: BSD-2-Clause */
/* table_change: `weir table resize`, `export` and `import`. */
#include "cli/table_change.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/snapshot_json.h"
#include "control/owner.h"
#include "table/census.h"

#define PATIENCE_MS  10000
#define EXPORT_AGAIN "give it a file that is whole: weir table export FILE makes one"

bool table_read_size(const char *text, uint64_t *out)
{
	char *end;
	unsigned shift = 0;

	if (!text || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (*end == 'k' || *end == 'K')
		shift = 10;
	else if (*end == 'm' || *end == 'M')
		shift = 20;
	else if (*end == 'g' || *end == 'G')
		shift = 30;
	if (errno || end[shift != 0] != '\0' || number > TABLE_SIZE_MAX >> shift)
		return false;
	*out = (uint64_t)number << shift;
	return *out >= TABLE_SIZE_MIN;
}

int table_change_size(const struct find *find, const char *size)
{
	char why[2 * PLACE_MAX] = "", path[PLACE_MAX], a[32], b[32];
	struct table_options options = {0};
	struct table *table = NULL;
	struct census before, after;

	if (!table_read_size(size, &options.size)) {
		out_error("which size? weir table resize 64m (64k to 64g)");
		return STATUS_USAGE;
	}
	int status = find_open(find, false, &table);
	if (status != STATUS_FINE)
		return status;
	census_take(table, &before);
	snprintf(path, sizeof path, "%s", table_path(table));
	options.path = path;
	options.process_slots = (uint32_t)before.process_slots;
	enum weir_error error = table_resize(table, &options, PATIENCE_MS, why, sizeof why);
	table_close(&table);
	if (error == WEIR_OK) {
		options.read_only = true;
		error = table_open(&options, &table, why, sizeof why);
	}
	if (error == WEIR_OK)
		census_take(table, &after);
	find_close(&table);
	if (error != WEIR_OK)
		return out_failure(error, why);
	if (out_as_json)
		out_document(json_pack("{s:o, s:{s:I, s:I}, s:{s:I, s:I}}", "table", out_own(text_of(path)),
				       "before", "slots", (json_int_t)before.slots, "live",
				       (json_int_t)before.live, "after", "slots", (json_int_t)after.slots,
				       "live", (json_int_t)after.live));
	else
		printf("%s has %s places now, it had %s; doors change over within a second\n"
		       "%s"
		       "(nginx makes one of the size in weir_table, or weir_limit_table, when there is none: "
		       "say "
		       "the new size there, too)\n",
		       path, out_number(after.slots, a, sizeof a), out_number(before.slots, b, sizeof b),
		       after.slots > before.slots ? "it is as full as before at first, for each counter "
						    "stands in every place that "
						    "may be its own: the copies\n"
						    "are free as soon as they have recovered\n"
						  : "");
	return STATUS_FINE;
}

int table_export(const struct find *find, const char *path)
{
	char why[2 * PLACE_MAX] = "";
	struct table *table = NULL;
	struct snapshot snapshot;
	bool standard = !path || strcmp(path, "-") == 0;
	int status = find_open(find, true, &table);

	if (status != STATUS_FINE)
		return status;
	enum weir_error error = snapshot_take(table, false, &snapshot);
	find_close(&table);
	json_t *document = error == WEIR_OK ? snapshot_to_json(&snapshot) : NULL;
	snapshot_free(&snapshot);
	if (!document)
		return out_failure(error == WEIR_OK ? WEIR_NO_MEMORY : error, NULL);
	if (standard) {
		out_document(document);
		return STATUS_FINE;
	}
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool good = file >= 0 && json_dumpfd(document, file, JSON_INDENT(1)) == 0 && fsync(file) == 0;
	if (!good)
		snprintf(why, sizeof why, "cannot write %s: %s", path, strerror(errno));
	if (file >= 0)
		good = close(file) == 0 && good;
	json_decref(document);
	return good ? STATUS_FINE : out_failure(WEIR_SYSTEM, why);
}

int table_import(const struct find *find, const char *path, bool replace)
{
	char why[2 * PLACE_MAX] = "", table[PLACE_MAX], a[32];
	struct snapshot snapshot;
	json_error_t at;
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");

	if (!file) {
		snprintf(why, sizeof why, "%s: %s", path, strerror(errno));
		return out_failure(WEIR_SYSTEM, why);
	}
	json_t *document = json_loadf(file, 0, &at);
	if (file != stdin)
		fclose(file);
	if (!document) {
		snprintf(why, sizeof why, "%s:%d:%d: %s", path, at.line, at.column, at.text);
		return out_failure_cure(WEIR_FOREIGN, why, EXPORT_AGAIN);
	}
	bool read = snapshot_from_json(document, &snapshot, table, sizeof table);
	json_decref(document);
	if (!read) {
		snprintf(why, sizeof why, "%s: %s", path, table);
		return out_failure_cure(WEIR_FOREIGN, why, EXPORT_AGAIN);
	}
	int status = find_table(find, true, table, sizeof table);
	if (status == STATUS_FINE) {
		struct table_options options = {.path = table, .size = snapshot.pairs * 128};
		enum weir_error error = WEIR_SYSTEM;
		if (owner_become(table, why, sizeof why))
			error = snapshot_make_table(&snapshot, &options, replace, why, sizeof why);
		owner_return();
		if (error != WEIR_OK)
			status = out_failure(error, why);
		else if (out_as_json)
			out_document(json_pack("{s:o, s:I}", "table", out_own(text_of(table)), "counters",
					       (json_int_t)snapshot.entry_count));
		else
			printf("%s: %s counters\n", table, out_number(snapshot.entry_count, a, sizeof a));
	}
	snapshot_free(&snapshot);
	return status;
}
