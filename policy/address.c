/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * address: reading, masking and writing one IP address.
 *
 * Read here and not by inet_pton because the text comes from headers that clients write: what is taken
 * as an address must be exactly what is listed at the declaration, ports and brackets included, without
 * copying the text to put a NUL behind it.
 */
#include "policy/address.h"

#include <stdio.h>

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c = text_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four decimal numbers of 0..255 without leading zeros (some read those as octal), and nothing else. */
static bool read_v4(struct text text, uint8_t out[4])
{
	size_t at = 0;

	for (int part = 0; part < 4; part++) {
		unsigned value = 0;
		size_t start;

		if (part > 0 && (at == text.size || text.data[at++] != '.'))
			return false;
		for (start = at; at < text.size && at - start < 3 && is_digit(text.data[at]); at++)
			value = value * 10 + (unsigned)(text.data[at] - '0');
		if (at == start || value > 255 || (text.data[start] == '0' && at - start > 1))
			return false;
		out[part] = (uint8_t)value;
	}
	return at == text.size;
}

/* Groups of one to four hex digits, one `::` for at least one group, an IPv4 tail: RFC 4291 2.2. */
static bool read_v6(struct text text, uint8_t out[16])
{
	uint8_t bytes[16] = {0};
	size_t at = 0, used = 0, gap = SIZE_MAX;

	if (text.size >= 2 && text.data[0] == ':' && text.data[1] == ':') {
		gap = 0;
		at = 2;
	}
	while (at < text.size) {
		size_t start = at;
		unsigned value = 0;

		if (used == sizeof bytes)
			return false;
		for (; at < text.size && at - start < 4 && hex_value(text.data[at]) >= 0; at++)
			value = value << 4 | (unsigned)hex_value(text.data[at]);
		if (at < text.size && text.data[at] == '.') {
			struct text tail = {text.data + start, text.size - start};

			if (used + 4 > sizeof bytes || !read_v4(tail, bytes + used))
				return false;
			used += 4;
			break;
		}
		if (at == start)
			return false;
		bytes[used++] = (uint8_t)(value >> 8);
		bytes[used++] = (uint8_t)value;
		if (at == text.size)
			break;
		if (text.data[at++] != ':' || at == text.size)
			return false;
		if (text.data[at] == ':') {
			if (gap != SIZE_MAX)
				return false;
			gap = used;
			at++;
		}
	}
	if (gap == SIZE_MAX ? used != sizeof bytes : used > sizeof bytes - 2)
		return false;
	memset(out, 0, sizeof bytes);
	if (gap == SIZE_MAX)
		gap = used;
	memcpy(out, bytes, gap);
	memcpy(out + sizeof bytes - (used - gap), bytes + gap, used - gap);
	return true;
}

/* Cuts a zone id, which says on which of our links the address is, not who it is. */
static bool drop_zone(struct text *text)
{
	const char *percent = memchr(text->data, '%', text->size);
	size_t size;

	if (!percent)
		return true;
	size = (size_t)(percent - text->data);
	if (size + 1 == text->size)
		return false;
	for (size_t i = size + 1; i < text->size; i++) {
		char c = text_lower(text->data[i]);

		if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != '-' && c != '.' && c != '_' && c != '~' &&
		    c != '%')
			return false;
	}
	text->size = size;
	return true;
}

static bool is_port(struct text text)
{
	unsigned value = 0;

	if (text.size == 0 || text.size > 5)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		if (!is_digit(text.data[i]))
			return false;
		value = value * 10 + (unsigned)(text.data[i] - '0');
	}
	return value <= 65535;
}

bool address_parse(struct text text, struct address *out)
{
	struct address address;
	const char *colon;

	if (text.size >= 2 && text.data[0] == '"' && text.data[text.size - 1] == '"')
		text = (struct text){text.data + 1, text.size - 2};
	if (text.size == 0)
		return false;

	if (text.data[0] == '[') {
		const char *end = memchr(text.data, ']', text.size);
		struct text inner, after;

		if (!end)
			return false;
		inner = (struct text){text.data + 1, (size_t)(end - text.data) - 1};
		after = (struct text){end + 1, text.size - inner.size - 2};
		if (after.size > 0 &&
		    (after.data[0] != ':' || !is_port((struct text){after.data + 1, after.size - 1})))
			return false;
		if (inner.size == 0 || !drop_zone(&inner) || !read_v6(inner, address.bytes))
			return false;
		*out = address;
		return true;
	}

	colon = memchr(text.data, ':', text.size);
	if (colon && memchr(text.data, '.', (size_t)(colon - text.data))) {
		size_t size = (size_t)(colon - text.data);

		if (!is_port((struct text){colon + 1, text.size - size - 1}))
			return false;
		text.size = size;
		colon = NULL;
	}
	if (colon) {
		if (!drop_zone(&text) || !read_v6(text, address.bytes))
			return false;
	} else {
		memcpy(address.bytes, mapped, sizeof mapped);
		if (!read_v4(text, address.bytes + 12))
			return false;
	}
	*out = address;
	return true;
}

bool address_is_v4(const struct address *address)
{
	return memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

void address_mask(struct address *address, unsigned bits4, unsigned bits6)
{
	unsigned keep = address_is_v4(address) ? 96 + (bits4 < 32 ? bits4 : 32) : bits6;

	for (unsigned i = 0; i < 16; i++) {
		if (keep >= 8 * (i + 1))
			continue;
		if (keep <= 8 * i)
			address->bytes[i] = 0;
		else
			address->bytes[i] &= (uint8_t)(0xff << (8 - (keep - 8 * i)));
	}
}

/* RFC 5952: lower case, no leading zeros, `::` for the first longest run of at least two zero groups. */
static size_t write_v6(const uint8_t bytes[16], char *out)
{
	unsigned groups[8], best = 8, best_size = 1;
	size_t used = 0;

	for (size_t i = 0; i < 8; i++)
		groups[i] = (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
	for (unsigned i = 0, size; i < 8; i += size ? size : 1) {
		for (size = 0; i + size < 8 && groups[i + size] == 0; size++)
			;
		if (size > best_size) {
			best = i;
			best_size = size;
		}
	}
	for (unsigned i = 0; i < 8; i++) {
		if (i == best) {
			used += (size_t)snprintf(out + used, ADDRESS_TEXT_MAX - used, "::");
			i += best_size - 1;
			continue;
		}
		used += (size_t)snprintf(out + used, ADDRESS_TEXT_MAX - used, "%s%x",
					 i > 0 && i != best + best_size ? ":" : "", groups[i]);
	}
	return used;
}

size_t address_format(const struct address *address, char *out)
{
	const uint8_t *b = address->bytes;

	if (!address_is_v4(address))
		return write_v6(b, out);
	return (size_t)snprintf(out, ADDRESS_TEXT_MAX, "%u.%u.%u.%u", b[12], b[13], b[14], b[15]);
}
