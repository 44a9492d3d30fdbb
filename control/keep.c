/* SPDX-License-Identifier: BSD-2-Clause */
/* keep: the keeper, opened when it can be, and tried again while it cannot. */
#include "control/keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/owner.h"
#include "policy/place.h"

#define RETRY_MS 10000

struct keep {
	char path[PLACE_MAX];
	struct keeper *keeper;
	struct table_watch watch;
	uint64_t due_ms;   /* of the next try to open it */
	char trouble[512]; /* as told */
};

struct keep *keep_new(const char *path)
{
	struct keep *keep = calloc(1, sizeof *keep);
	if (keep)
		snprintf(keep->path, sizeof keep->path, "%s", path);
	return keep;
}

static void tell(struct keep *keep, enum weir_error error, const char *why, void (*say)(void *, const char *),
		 void *context)
{
	char line[sizeof keep->trouble];
	if (error == WEIR_OK) {
		if (keep->trouble[0])
			say(context, "the table is written down again");
		keep->trouble[0] = '\0';
		return;
	}
	if (!*why && keep->trouble[0]) /* the same trouble, told before */
		return;
	snprintf(line, sizeof line, "the table is not written down: %s",
		 *why ? why : weir_error_sentence(error));
	if (strcmp(line, keep->trouble) != 0)
		say(context, line);
	memcpy(keep->trouble, line, sizeof line);
}

void keep_work(struct keep *keep, struct table *table, uint64_t now_ms, void (*say)(void *, const char *),
	       void *context)
{
	char why[400] = "", line[160];
	enum weir_error error = WEIR_OK;
	uint64_t jumped;

	if (!keep->keeper) {
		if (now_ms < keep->due_ms)
			return;
		keep->due_ms = now_ms + RETRY_MS;
		error = WEIR_SYSTEM;
		if (owner_become(keep->path, why, sizeof why))
			error = keeper_open(keep->path, &keep->keeper, why, sizeof why);
		owner_return();
	}
	if (keep->keeper) {
		if (owner_become(keep->path, why, sizeof why))
			error = keeper_work(keep->keeper, table, now_ms, why, sizeof why);
		else
			error = WEIR_SYSTEM;
		owner_return();
	}
	tell(keep, error, why, say, context);
	jumped = table_catch_up(table, &keep->watch);
	if (jumped) {
		snprintf(line, sizeof line,
			 "the wall clock is believed now: the table's time went on by %llu s",
			 (unsigned long long)(jumped / 1000000000));
		say(context, line);
	}
}

void keep_end(struct keep **keep, struct table *table, void (*say)(void *, const char *), void *context)
{
	char why[400] = "";
	enum weir_error error = WEIR_OK;

	if (!*keep)
		return;
	if ((*keep)->keeper) {
		if (!owner_become((*keep)->path, why, sizeof why))
			table = NULL;
		error = keeper_close(&(*keep)->keeper, table, why, sizeof why);
		owner_return();
		tell(*keep, error, why, say, context);
	}
	free(*keep);
	*keep = NULL;
}
