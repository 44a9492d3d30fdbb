/* SPDX-License-Identifier: BSD-2-Clause */
/* import_geo: geo: the narrowest network decides; with `ranges` the last one. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/import_switch.h"

#define OVERLAPPING_MAX 2000u

struct entry {
	struct network network;
	struct text result;
	unsigned bits;
	size_t order;
	bool deleted;
};

static bool read_network(struct text text, struct entry *entry)
{
	const char *slash = text.size ? memchr(text.data, '/', text.size) : NULL;
	struct text host = {text.data, slash ? (size_t)(slash - text.data) : text.size};
	struct address address;
	uint64_t bits = 128;
	char words[ADDRESS_TEXT_MAX + 8], why[64];

	if (!address_parse(host, &address))
		return false;
	bool v4 = address_is_v4(&address), six = memchr(host.data, ':', host.size) != NULL;
	if (slash &&
	    !import_number((struct text){slash + 1, text.size - host.size - 1}, six ? 128 : 32, &bits))
		return false;
	if (!slash)
		bits = six ? 128 : 32;
	if (v4 && six)
		return false;
	address_mask(&address, v4 ? (unsigned)bits : 32, v4 ? 128 : (unsigned)bits);
	size_t size = address_format(&address, words);
	snprintf(words + size, sizeof words - size, "/%u", (unsigned)bits);
	entry->bits = (unsigned)bits + (v4 ? 96 : 0);
	return network_parse(text_of(words), &entry->network, why, sizeof why);
}

static bool read_range(struct text text, struct entry *entry)
{
	const char *dash = text.size ? memchr(text.data, '-', text.size) : NULL;
	struct address first, last;
	if (!dash || !address_parse((struct text){text.data, (size_t)(dash - text.data)}, &first) ||
	    !address_parse((struct text){dash + 1, text.size - (size_t)(dash + 1 - text.data)}, &last) ||
	    memcmp(first.bytes, last.bytes, 16) > 0 || !address_is_v4(&first) || !address_is_v4(&last))
		return false;
	memcpy(entry->network.first, first.bytes, 16);
	memcpy(entry->network.last, last.bytes, 16);
	return true;
}

static void next(uint8_t *bytes)
{
	for (int i = 15; i >= 0 && ++bytes[i] == 0; i--)
		;
}

static void previous(uint8_t *bytes)
{
	for (int i = 15; i >= 0 && bytes[i]-- == 0; i--)
		;
}

static bool apart(const struct network *a, const struct network *b)
{
	return memcmp(a->last, b->first, 16) < 0 || memcmp(b->last, a->first, 16) < 0;
}

/* Lays one over what is there. */
static void paint(struct import_model *model, struct import_switch *out, const struct entry *entry)
{
	size_t count = out->count;
	for (size_t i = 0; i < count; i++) {
		struct import_case old = out->cases[i], tail = old;
		if (old.value.size == 0 || apart(&old.network, &entry->network))
			continue;
		out->cases[i].value = TEXT(""); /* gone, but for its ends */
		if (memcmp(old.network.first, entry->network.first, 16) < 0) {
			struct import_case head = old;
			memcpy(head.network.last, entry->network.first, 16);
			previous(head.network.last);
			import_case_add(model, out, head);
		}
		if (memcmp(old.network.last, entry->network.last, 16) > 0) {
			memcpy(tail.network.first, entry->network.last, 16);
			next(tail.network.first);
			import_case_add(model, out, tail);
		}
	}
	import_case_add(model, out,
			(struct import_case){
				.result = entry->result, .value = TEXT("there"), .network = entry->network});
	size_t kept = 0;
	for (size_t i = 0; i < out->count; i++)
		if (out->cases[i].value.size)
			out->cases[kept++] = out->cases[i];
	out->count = kept;
}

static int wider_first(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->bits != b->bits)
		return a->bits < b->bits ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static int by_address(const void *left, const void *right)
{
	const struct import_case *a = left, *b = right;
	return memcmp(a->network.first, b->network.first, 16);
}

static void erase(struct entry *entries, size_t count, const struct entry *gone)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(&entries[i].network, &gone->network, sizeof gone->network) == 0)
			entries[i].deleted = true;
}

bool import_geo(struct import_model *model, const struct import_variable *geo, struct import_switch *out,
		const char **why)
{
	struct entry *entries = NULL;
	size_t count = 0, capacity = 0;
	bool ranges = false;
	struct text source = geo->block->count == 3 ? import_variable_alone(geo->block->words[1])
						    : TEXT("remote_addr");

	out->dimension = IMPORT_IP;
	out->name = geo->name;
	*why = "its geo is too long";
	if (geo->block->cut)
		return false;
	*why = "its geo looks at another address than the client's";
	if (!text_equal(source, TEXT("remote_addr")) || conf_last(geo->block, "proxy"))
		return false;
	for (const struct conf_directive *d = geo->block->children; d; d = d->next) {
		bool gone = conf_is(d, "delete") && d->count == 2;
		struct entry entry = {.order = count};
		*why = "its geo is not understood";
		if (d->count == 1 || conf_is(d, "proxy_recursive")) {
			ranges |= conf_is(d, "ranges");
			continue;
		}
		if (d->count != 2)
			return false;
		if (conf_is(d, "default")) {
			out->otherwise = d->words[1];
			continue;
		}
		entry.result = d->words[1];
		struct text text = gone ? d->words[1] : d->words[0];
		if (ranges ? !read_range(text, &entry) : !read_network(text, &entry))
			return false;
		*why = "its geo is too long";
		if (count == IMPORT_CASES_MAX || (ranges && count == OVERLAPPING_MAX))
			return false;
		if (!ranges || gone)
			erase(entries, count, &entry); /* nginx keeps the last of the same network */
		if (gone)
			continue;
		entries = arena_grow(model->arena, entries, count, &capacity, sizeof *entries);
		entries[count++] = entry;
	}
	if (!ranges && count)
		qsort(entries, count, sizeof *entries, wider_first);
	*why = "its geo is too long";
	for (size_t i = 0; i < count; i++) {
		if (entries[i].deleted)
			continue;
		if (out->count > OVERLAPPING_MAX)
			return false;
		paint(model, out, &entries[i]);
	}
	if (out->count)
		qsort(out->cases, out->count, sizeof *out->cases, by_address);
	*why = NULL;
	return true;
}

static bool ends_at(const uint8_t *first, unsigned bits, const uint8_t *last, bool *whole)
{
	/* the network of so many free bits that begins here: is it one, and does it end by `last`? */
	uint8_t end[16];
	memcpy(end, first, 16);
	for (unsigned i = 0; i < bits; i++) {
		uint8_t mask = (uint8_t)(1u << (i % 8));
		if (first[15 - i / 8] & mask)
			return false;
		end[15 - i / 8] |= mask;
	}
	int order = memcmp(end, last, 16);
	*whole = order == 0;
	return order <= 0;
}

void import_networks(struct import_model *model, const struct network *range, struct import_texts *out)
{
	uint8_t first[16];
	memcpy(first, range->first, 16);
	for (unsigned guard = 0; guard < 256; guard++) {
		unsigned bits = 128;
		bool whole = false;
		struct address address;
		char words[ADDRESS_TEXT_MAX];

		memcpy(address.bytes, first, 16);
		bool v4 = address_is_v4(&address);
		while (bits > 0 && (!ends_at(first, bits, range->last, &whole) || (v4 && bits > 32)))
			bits--;
		if (bits == 0)
			whole = memcmp(first, range->last, 16) == 0;
		address_format(&address, words);
		import_push(model, out,
			    bits == 0 ? arena_text(model->arena, words, strlen(words))
				      : arena_format(model->arena, "%s/%u", words, (v4 ? 32 : 128) - bits));
		if (whole)
			return;
		for (unsigned i = 0; i < bits; i++)
			first[15 - i / 8] |= (uint8_t)(1u << (i % 8));
		next(first);
	}
}
