/* SPDX-License-Identifier: BSD-2-Clause */
/* why_whose: names are kept of few and not for long, so all that are there are tried: does this one's key lie where the refusal's
 * counter does? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/keys.h"
#include "cli/out.h"
#include "cli/why.h"
#include "table/stats.h"
#include "table/top.h"

/* Is it the key of that name? A name is the parts of a key as they are shown, so it may be read in several ways. `spelled` gets the
 * parts so that they are clear, NUL-terminated; NULL: not wanted. */
static bool is_it(const struct live *live, const struct refusal *refusal, uint32_t limit, struct text name,
		  char *spelled, size_t size)
{
	char text[256];
	bool found = false;
	size_t choice = 0, choices = 1;
	if (!name.size || name.size >= sizeof text || memchr(name.data, '\0', name.size) ||
	    name.data[0] == '#')
		return false;
	memcpy(text, name.data, name.size);
	text[name.size] = '\0';
	for (; choice < choices && choice < 8 && !found; choice++) {
		struct options_list parts = {.items = {text}, .count = 1};
		struct keys keys;
		if (keys_find(&keys, live, limit, &parts, choice) == STATUS_FINE)
			for (size_t i = 0; i < keys.flow->hit_count; i++)
				found |= REFUSAL_SLOT(top_slot(&keys.flow->hits[i].key)) == refusal->slot;
		if (found && spelled)
			snprintf(spelled, size, "%s", keys.spelled);
		choices = keys.choices;
		keys_free(&keys);
	}
	return found;
}

bool why_key(const struct live *live, const struct refusal *refusal, uint32_t limit, struct text name,
	     char *out, size_t size)
{
	bool silent = out_silent, found;
	out_silent = true;
	found = limit != UINT32_MAX && is_it(live, refusal, limit, name, out, size);
	out_silent = silent;
	return found;
}

static bool take(struct text from, char *name, size_t size, size_t *length)
{
	*length = from.size < size ? from.size : size;
	memcpy(name, from.data, *length);
	return true;
}

static bool in_sketch(const struct live *live, const struct refusal *refusal, uint32_t limit, char *name,
		      size_t size, size_t *length)
{
	struct top_row *rows;
	struct top_sum sum;
	size_t count = top_read(live->table, live->now.now, &rows, &sum);
	bool found = false;
	for (size_t i = 0; i < count && !found; i++) {
		struct text its = {rows[i].name, rows[i].name_size};
		if (its.size && REFUSAL_SLOT(rows[i].slot) == refusal->slot)
			found = take(its, name, size, length);
	}
	for (size_t i = 0; i < count && !found && limit != UINT32_MAX; i++) {
		struct text its = {rows[i].name, rows[i].name_size};
		if (rows[i].limit == limit && rows[i].generation == (uint32_t)live->image->generation &&
		    rows[i].refused + rows[i].before_refused && is_it(live, refusal, limit, its, NULL, 0))
			found = take(its, name, size, length);
	}
	free(rows);
	return found;
}

static bool in_events(const struct live *live, const struct refusal *refusal, uint32_t limit, char *name,
		      size_t size, size_t *length)
{
	struct stats_event events[512];
	size_t count = limit == UINT32_MAX ? 0 : stats_events(live->table, events, 512);
	for (size_t i = 0; i < count; i++) {
		struct text its = {events[i].text, events[i].length < sizeof events[i].text
							   ? events[i].length
							   : sizeof events[i].text};
		if (events[i].kind == STATS_EVENT_REFUSED && events[i].stat == refusal->stat &&
		    is_it(live, refusal, limit, its, NULL, 0))
			return take(its, name, size, length);
	}
	return false;
}

bool why_whose(const struct live *live, const struct refusal *refusal, uint32_t limit, char *name,
	       size_t size, size_t *length)
{
	bool silent = out_silent, found;
	if (!refusal->slot)
		return false;
	out_silent = true; /* that a name cannot be this limit's is not worth a word */
	found = in_sketch(live, refusal, limit, name, size, length) ||
		in_events(live, refusal, limit, name, size, length);
	out_silent = silent;
	return found;
}
