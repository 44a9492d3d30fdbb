/* SPDX-License-Identifier: BSD-2-Clause */
/* live: opening a table and mapping its policy. */
#include "cli/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "control/tree.h"
#include "policy/suggest.h"

static enum weir_error map(struct live *live, char *why, size_t size)
{
	enum weir_error error = policy_current(live->table, &live->current, why, size);
	if (error != WEIR_OK)
		return error;
	live->image = live->current->image;
	table_time(live->table, &live->now);
	return WEIR_OK;
}

enum weir_error live_look(struct live *live, const char *path, char *why, size_t size)
{
	const struct table_options options = {.path = path, .read_only = true};
	*live = (struct live){0};
	enum weir_error error = table_open(&options, &live->table, why, size);
	return error == WEIR_OK ? map(live, why, size) : error;
}

int live_open(struct live *live, const struct find *find, bool read_only)
{
	char why[2 * PLACE_MAX] = "";
	*live = (struct live){0};
	int status = find_open(find, read_only, &live->table);
	if (status != STATUS_FINE)
		return status;
	enum weir_error error = map(live, why, sizeof why);
	return error == WEIR_OK ? STATUS_FINE : out_failure(error, why);
}

int live_private(struct live *live, const struct image *image)
{
	static const char *const PLACES[] = {"/dev/shm", "/tmp"};
	char path[sizeof live->folder + 8], why[2 * PLACE_MAX] = "";
	struct publish_report report;
	*live = (struct live){0};
	for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
		snprintf(live->folder, sizeof live->folder, "%s/weir-try-XXXXXX", PLACES[i]);
		if (mkdtemp(live->folder))
			break;
		live->folder[0] = '\0';
	}
	if (!live->folder[0]) {
		snprintf(why, sizeof why, "no room for a table to try in: %s", strerror(errno));
		return out_failure(WEIR_SYSTEM, why);
	}
	snprintf(path, sizeof path, "%s/table", live->folder);
	struct table_options options = {
		.path = path, .size = TABLE_SIZE_MIN, .create = true, .process_slots = 1};
	enum weir_error error = table_open(&options, &live->table, why, sizeof why);
	if (error == WEIR_OK)
		error = policy_publish(live->table, image, &report, why, sizeof why);
	if (error == WEIR_OK)
		error = map(live, why, sizeof why);
	return error == WEIR_OK ? STATUS_FINE : out_failure(error, why);
}

void live_close(struct live *live)
{
	policy_drop(&live->current);
	find_close(&live->table);
	if (live->folder[0])
		tree_remove(live->folder);
	live->folder[0] = '\0';
}

int64_t live_wall_at(const struct live *live, uint64_t table_time)
{
	return ((int64_t)table_time + live->now.wall) / 1000000000;
}

int64_t live_wall(const struct live *live)
{
	return live_wall_at(live, live->now.now);
}

uint32_t live_limit(const struct live *live, const char *name)
{
	struct suggest suggest = suggest_begin(text_of(name));
	bool zones = live->image->kind == IMAGE_OF_ZONES;
	const char *noun = zones ? "zone" : "limit",
		   *where = zones ? "nginx.conf as it is in force" : "the policy in force";
	for (uint32_t i = 0; i < live->image->limits.count; i++) {
		struct text candidate = image_text(live->image, image_limit_at(live->image, i)->name);
		if (text_equal(candidate, text_of(name)))
			return i;
		suggest_offer(&suggest, candidate);
	}
	if (suggest.best.size)
		out_error("no %s '%s' in %s; did you mean '%.*s'?", noun, name, where, (int)suggest.best.size,
			  suggest.best.data);
	else
		out_error("no %s '%s' in %s", noun, name, where);
	return UINT32_MAX;
}
