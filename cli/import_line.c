/* SPDX-License-Identifier: BSD-2-Clause */
/* import_line: limit_req, limit_conn, limit_rate. */
#include "cli/import_model.h"
#include "policy/suggest.h"

#define BURST_MAX ((uint64_t)INT64_MAX) /* more is no number of nginx's */
#define QUEUE_MAX 999999u		/* of a policy */

static const char *no_zone(struct import_model *model, enum import_kind kind, struct text name)
{
	struct suggest suggest = suggest_begin(name);
	for (const struct import_zone *zone = model->zones; zone; zone = zone->next)
		if (zone->kind == kind)
			suggest_offer(&suggest, zone->name);
	if (suggest.best.size)
		return arena_format(model->arena, "there is no such zone; did you mean '%.*s'?",
				    (int)suggest.best.size, suggest.best.data)
			.data;
	return "there is no such zone in http{}";
}

static const char *read_req(struct import_model *model, const struct conf_directive *directive,
			    struct import_line *line)
{
	uint64_t number, delay = 0;
	bool nodelay = false, burst_cut = false;
	struct text name = {"", 0}, value;

	for (size_t i = 1; i < directive->count; i++) {
		struct text word = directive->words[i];
		if (import_begins(word, "zone=", &value)) {
			name = value;
		} else if (import_begins(word, "burst=", &value)) {
			if (value.size && value.data[0] == '$')
				return "its burst is a variable: a policy has no plans yet";
			if (!import_number(value, BURST_MAX, &number) || number == 0)
				return "nginx refuses its burst, which is no number from 1 on";
			burst_cut = number > QUEUE_MAX;
			line->burst = burst_cut ? QUEUE_MAX : (uint32_t)number;
		} else if (import_begins(word, "delay=", &value)) {
			if (!import_number(value, BURST_MAX, &delay) || delay == 0)
				return "nginx refuses its delay, which is no number from 1 on";
			nodelay = false;
		} else if (text_equal(word, TEXT("nodelay"))) {
			nodelay = true;
		} else if (import_begins(word, "status=", &value) && import_number(value, 599, &number) &&
			   number >= 400) {
			line->status = (unsigned)number;
		} else {
			return "a word of it is not understood";
		}
	}
	line->at_once = nodelay || delay > line->burst ? line->burst : (uint32_t)delay;
	line->zone = import_zone_named(model, IMPORT_REQ, name);
	if (burst_cut)
		import_note(model, IMPORT_DIFFERS, line->place, "a burst is at most 999,999 in a policy");
	return line->zone ? NULL : no_zone(model, IMPORT_REQ, name);
}

static const char *read_conn(struct import_model *model, const struct conf_directive *directive,
			     struct import_line *line)
{
	uint64_t number;
	struct text value;
	if (directive->count < 3)
		return "a word is missing";
	line->zone = import_zone_named(model, IMPORT_CONN, directive->words[1]);
	if (!line->zone)
		return no_zone(model, IMPORT_CONN, directive->words[1]);
	if (!import_number(directive->words[2], 65535, &number) || number == 0)
		return "nginx refuses its number of connections, which is none from 1 to 65535";
	line->number = (uint32_t)number;
	for (size_t i = 3; i < directive->count; i++) {
		if (!import_begins(directive->words[i], "status=", &value) ||
		    !import_number(value, 599, &number) || number < 400)
			return "a word of it is not understood";
		line->status = (unsigned)number;
	}
	return NULL;
}

static const char *read_pace(const struct conf_directive *directive, struct import_line *line)
{
	if (directive->count != 2)
		return "a word is missing";
	if (memchr(directive->words[1].data, '$', directive->words[1].size))
		return "its speed is a variable; nginx goes on pacing by it while the line stands";
	if (!import_size(directive->words[1], &line->bytes))
		return "its speed is no number";
	if (line->bytes > 0 && line->bytes < 1024)
		return "a bandwidth is at least 1KiB/s";
	if (line->bytes > (UINT64_C(1000000) << 10))
		return "a bandwidth is at most 1,000,000KiB/s";
	return NULL;
}

struct import_line *import_line(struct import_model *model, const struct conf_directive *directive)
{
	struct import_line *line = arena_alloc(model->arena, sizeof *line);
	const char *why;

	line->kind = conf_is(directive, "limit_req")	? IMPORT_REQ
		     : conf_is(directive, "limit_conn") ? IMPORT_CONN
							: IMPORT_PACE;
	line->place = directive->place;
	line->text = import_written(model, directive);
	why = directive->block		  ? "it has a block, which nginx refuses"
	      : line->kind == IMPORT_REQ  ? read_req(model, directive, line)
	      : line->kind == IMPORT_CONN ? read_conn(model, directive, line)
					  : read_pace(directive, line);
	/* limit_rate 0 is none: it takes an inherited one away */
	if (line->kind == IMPORT_PACE && !why && line->bytes == 0)
		return line;
	*model->lines_tail = line;
	model->lines_tail = &line->next;
	model->out->lines++;
	if (!why && line->zone && line->zone->why)
		why = line->zone->why;
	if (!why && line->zone && line->zone->key.why)
		why = line->zone->key.why;
	if (why)
		import_drop(model, line, why);
	return line;
}
