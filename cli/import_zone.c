/* SPDX-License-Identifier: BSD-2-Clause */
/* import_zone: limit_req_zone and limit_conn_zone. */
#include "cli/import_model.h"

struct import_zone *import_zone_named(struct import_model *model, enum import_kind kind, struct text name)
{
	for (struct import_zone *zone = model->zones; zone; zone = zone->next)
		if (zone->kind == kind && !zone->twice && text_equal(zone->name, name))
			return zone;
	return NULL;
}

static const struct import_zone *any_named(struct import_model *model, struct text name)
{
	const struct import_zone *req = import_zone_named(model, IMPORT_REQ, name);
	return req ? req : import_zone_named(model, IMPORT_CONN, name);
}

void import_zone(struct import_model *model, const struct conf_directive *directive)
{
	struct import_zone *zone = arena_alloc(model->arena, sizeof *zone);
	bool req = conf_is(directive, "limit_req_zone");
	struct text value;
	unsigned names = 0;
	bool rated = false;

	zone->kind = req ? IMPORT_REQ : IMPORT_CONN;
	zone->place = directive->place;
	zone->directive = directive;
	zone->text = import_written(model, directive);
	if (directive->count < 2)
		return;
	zone->key_text = directive->words[1];
	if (req)
		zone->why = "its zone has no rate";
	for (size_t i = 2; i < directive->count; i++) {
		struct text word = directive->words[i];
		if (import_begins(word, "zone=", &value)) {
			names++;
			const char *colon = memchr(value.data, ':', value.size);
			zone->name = (struct text){value.data,
						   colon ? (size_t)(colon - value.data) : value.size};
		} else if (req && import_begins(word, "rate=", &value)) {
			rated = true;
			zone->rate = import_rate(model, zone, value);
		} else if (text_equal(word, TEXT("sync"))) {
			import_note(model, IMPORT_DIFFERS, zone->place,
				    "zone '%.*s': `sync`: a policy counts on one machine",
				    (int)zone->name.size, zone->name.data);
		} else {
			import_note(model, IMPORT_DIFFERS, zone->place, "'%.*s' is not understood",
				    (int)(word.size < 80 ? word.size : 80), word.data);
		}
	}
	/* nginx wants three words, and takes zone= twice for them: then this is the rate */
	if (req && !rated && names > 1)
		zone->rate = import_rate(model, zone, TEXT("1r/s"));
	/* nginx refuses a second one, also of the other kind */
	const struct import_zone *first = zone->name.size ? any_named(model, zone->name) : NULL;
	if (first) {
		import_note(model, IMPORT_LOST, zone->place,
			    "`%s`: there is a zone of that name at %s, so that nginx refuses this one",
			    zone->text, import_where(model, first->place));
		zone->name = TEXT("");
		zone->twice = true;
	}
	zone->next = model->zones;
	model->zones = zone;
}
