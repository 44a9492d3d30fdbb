/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_json: 64-bit numbers as hexadecimal texts, since JSON's are not whole beyond 2^53 for most who read it. */
#include "cli/snapshot_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/algo.h"
#include "cli/out.h"
#include "table/layout.h"

#define FORMAT "weir table 1"

static const char *const kinds[ALGO_KIND_COUNT] = {
#define X(name, word, help) [ALGO_##name] = (word),
	ALGO_KINDS(X)
#undef X
};

static json_t *hex(uint64_t number)
{
	return json_sprintf("%" PRIx64, number);
}

static bool read_hex(const json_t *object, const char *name, uint64_t *out)
{
	const char *text = json_string_value(json_object_get(object, name));
	char *end;

	if (!text || !*text || strlen(text) > 16 || strspn(text, "0123456789abcdef") != strlen(text))
		return false;
	*out = strtoull(text, &end, 16);
	return *end == '\0';
}

static bool read_number(const json_t *object, const char *name, uint64_t most, uint64_t *out)
{
	const json_t *value = json_object_get(object, name);
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || (uint64_t)number > most)
		return false;
	*out = (uint64_t)number;
	return true;
}

static json_t *numbers_json(const struct algo_numbers *n)
{
	return json_pack("{s:s, s:i, s:i, s:i, s:I, s:o, s:o, s:o, s:o}", "kind",
			 n->kind < ALGO_KIND_COUNT && kinds[n->kind] ? kinds[n->kind] : "none", "align",
			 n->align, "shift", n->shift, "count_bits", n->count_bits, "quantity",
			 (json_int_t)n->quantity, "scale", hex(n->scale), "capacity", hex(n->capacity), "a",
			 hex(n->zone[0]), "b", hex(n->zone[1]));
}

static bool read_numbers(const json_t *object, struct algo_numbers *out)
{
	const char *kind = json_string_value(json_object_get(object, "kind"));
	uint64_t align, shift, bits, quantity;

	*out = (struct algo_numbers){0};
	for (unsigned i = 1; kind && i < ALGO_KIND_COUNT; i++)
		if (strcmp(kind, kinds[i]) == 0)
			out->kind = (uint8_t)i;
	if (!out->kind || !read_number(object, "align", UINT8_MAX, &align) ||
	    !read_number(object, "shift", UINT8_MAX, &shift) ||
	    !read_number(object, "count_bits", UINT8_MAX, &bits) ||
	    !read_number(object, "quantity", UINT32_MAX, &quantity) ||
	    !read_hex(object, "scale", &out->scale) || !read_hex(object, "capacity", &out->capacity) ||
	    !read_hex(object, "a", &out->zone[0]) || !read_hex(object, "b", &out->zone[1]))
		return false;
	out->align = (uint8_t)align;
	out->shift = (uint8_t)shift;
	out->count_bits = (uint8_t)bits;
	out->quantity = (uint32_t)quantity;
	return algo_valid(out);
}

static json_t *row_json(const struct snapshot_row *row)
{
	return json_pack("{s:I, s:o, s:I, s:o, s:I, s:o}", "row", (json_int_t)row->row, "limit",
			 out_own(text_of(row->limit)), "generation", (json_int_t)row->generation, "identity",
			 hex(row->identity), "flags", (json_int_t)row->flags, "numbers",
			 numbers_json(&row->numbers));
}

static bool read_row(const json_t *object, struct snapshot_row *out)
{
	const char *limit = json_string_value(json_object_get(object, "limit"));
	uint64_t row, generation, flags;

	*out = (struct snapshot_row){0};
	if (!limit || strlen(limit) >= sizeof out->limit ||
	    !read_number(object, "row", LEDGER_ROW_MAX, &row) || row == 0 ||
	    !read_number(object, "generation", UINT32_MAX, &generation) ||
	    !read_number(object, "flags", UINT16_MAX, &flags) ||
	    !read_hex(object, "identity", &out->identity) ||
	    !read_numbers(json_object_get(object, "numbers"), &out->numbers))
		return false;
	snprintf(out->limit, sizeof out->limit, "%s", limit);
	out->row = (uint32_t)row;
	out->generation = (uint32_t)generation;
	out->flags = (uint16_t)flags;
	return true;
}

static json_t *entry_json(const struct snapshot_entry *entry)
{
	return json_pack("{s:o, s:o, s:I, s:o}", "pair", hex(entry->pair), "tag",
			 hex(entry->w0 >> LAYOUT_ROW_BITS), "row", (json_int_t)(entry->w0 & LAYOUT_ROW_MASK),
			 "word", hex(entry->w1));
}

static bool read_entry(const json_t *object, struct snapshot_entry *out)
{
	uint64_t tag, row;

	if (!read_hex(object, "pair", &out->pair) || !read_hex(object, "tag", &tag) ||
	    tag > LAYOUT_TAG_MASK || !read_number(object, "row", LAYOUT_ROW_MASK, &row) ||
	    !read_hex(object, "word", &out->w1))
		return false;
	out->w0 = tag << LAYOUT_ROW_BITS | row;
	return true;
}

json_t *snapshot_to_json(const struct snapshot *s)
{
	json_t *rows = json_array(), *entries = json_array();

	for (size_t i = 0; i < s->row_count; i++)
		json_array_append_new(rows, row_json(&s->rows[i]));
	for (size_t i = 0; i < s->entry_count; i++)
		json_array_append_new(entries, entry_json(&s->entries[i]));
	return json_pack("{s:s, s:o, s:o, s:[o,o], s:[o,o], s:[o,o], s:o, s:o, s:o, s:o, s:o, s:o}", "format",
			 FORMAT, "table_id", hex(s->table_id), "pairs", hex(s->pairs), "secret",
			 hex(s->secret[0]), hex(s->secret[1]), "digest_secret", hex(s->digest_secret[0]),
			 hex(s->digest_secret[1]), "boot", hex(s->boot[0]), hex(s->boot[1]), "offset",
			 hex((uint64_t)s->offset), "time", hex(s->time), "wall", hex(s->wall), "generation",
			 hex(s->generation), "rows", rows, "counters", entries);
}

static bool read_two(const json_t *document, const char *name, uint64_t out[2])
{
	const json_t *list = json_object_get(document, name);

	for (size_t i = 0; i < 2; i++) {
		json_t *one = json_pack("{s:O}", "x",
					json_array_get(list, i) ? json_array_get(list, i) : json_null());
		bool good = one && read_hex(one, "x", &out[i]);
		json_decref(one);
		if (!good)
			return false;
	}
	return true;
}

static bool read_head(const json_t *document, struct snapshot *out)
{
	uint64_t offset;

	if (!read_hex(document, "table_id", &out->table_id) || !read_hex(document, "pairs", &out->pairs) ||
	    !read_two(document, "secret", out->secret) ||
	    !read_two(document, "digest_secret", out->digest_secret) ||
	    !read_two(document, "boot", out->boot) || !read_hex(document, "offset", &offset) ||
	    !read_hex(document, "time", &out->time) || !read_hex(document, "wall", &out->wall) ||
	    !read_hex(document, "generation", &out->generation))
		return false;
	out->offset = (int64_t)offset;
	return true;
}

bool snapshot_from_json(const json_t *document, struct snapshot *out, char *why, size_t size)
{
	const char *format = json_string_value(json_object_get(document, "format"));
	const json_t *rows = json_object_get(document, "rows"),
		     *entries = json_object_get(document, "counters");

	*out = (struct snapshot){0};
	if (!format || strcmp(format, FORMAT) != 0) {
		snprintf(why, size,
			 "it is no export of `weir table export` (\"format\" is not \"" FORMAT "\")");
		return false;
	}
	if (!read_head(document, out) || !json_is_array(rows) || !json_is_array(entries)) {
		snprintf(why, size, "a member is missing, or is not what an export has there");
		return false;
	}
	out->rows = calloc(json_array_size(rows) + 1, sizeof *out->rows);
	out->entries = calloc(json_array_size(entries) + 1, sizeof *out->entries);
	if (!out->rows || !out->entries) {
		snapshot_free(out);
		snprintf(why, size, "out of memory");
		return false;
	}
	for (; out->row_count < json_array_size(rows); out->row_count++)
		if (!read_row(json_array_get(rows, out->row_count), &out->rows[out->row_count])) {
			snprintf(why, size, "rows[%zu] is not what an export has there", out->row_count);
			snapshot_free(out);
			return false;
		}
	for (; out->entry_count < json_array_size(entries); out->entry_count++)
		if (!read_entry(json_array_get(entries, out->entry_count), &out->entries[out->entry_count])) {
			snprintf(why, size, "counters[%zu] is not what an export has there",
				 out->entry_count);
			snapshot_free(out);
			return false;
		}
	return true;
}
