/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forwarded: whom a chain of proxies speaks for.
 *
 * Each proxy appends the address it saw. So the entry furthest right was written by our peer, the one before
 * it by the proxy that entry names, and so on: an entry may be believed if, and only if, everyone on its
 * right is trusted. What a client sends stands further left than anything the first trusted proxy wrote, and
 * is never reached.
 */
#include "flow/forwarded.h"
#include "flow/read.h"

bool forwarded_last(struct text *list, struct text *element)
{
	size_t at = list->size;
	bool quoted = false;

	if (list->size == 0)
		return false;
	while (at) {
		char c = list->data[at - 1];
		if (c == '"') {
			size_t slashes = 0;
			while (slashes + 1 < at && list->data[at - 2 - slashes] == '\\')
				slashes++;
			/* the first quote from the right closes a string; an escaped one belongs to it */
			if (!quoted || slashes % 2 == 0)
				quoted = !quoted;
		} else if (c == ',' && !quoted) {
			break;
		}
		at--;
	}
	*element = read_trim((struct text){list->data + at, list->size - at});
	list->size = at ? at - 1 : 0;
	return true;
}

/* A token, or a quoted string without its quotes and escapes. False if it is neither or longer than an
 * address. */
static bool value(struct text *rest, char *out, size_t *size)
{
	bool quoted = rest->size && rest->data[0] == '"';
	size_t at = quoted ? 1 : 0;

	*size = 0;
	for (; at < rest->size; at++) {
		char c = rest->data[at];
		if (quoted ? c == '"' : c == ';')
			break;
		if (quoted && c == '\\' && ++at < rest->size)
			c = rest->data[at];
		if (*size < ADDRESS_TEXT_MAX + 8)
			out[*size] = c;
		(*size)++;
	}
	if (quoted && at++ >= rest->size)
		return false;
	*rest = (struct text){rest->data + at, rest->size - (at < rest->size ? at : rest->size)};
	*rest = read_trim(*rest);
	if (rest->size && rest->data[0] != ';')
		return false;
	return true;
}

bool forwarded_element(struct text element, struct address *out)
{
	char buffer[ADDRESS_TEXT_MAX + 8];
	bool found = false;

	while (element.size) {
		const char *equals = memchr(element.data, '=', element.size);
		struct text name;
		size_t size;

		if (element.data[0] == ';') {
			element = read_trim((struct text){element.data + 1, element.size - 1});
			continue;
		}
		if (!equals)
			return false;
		name = read_trim((struct text){element.data, (size_t)(equals - element.data)});
		element = read_trim(
			(struct text){equals + 1, element.size - (size_t)(equals + 1 - element.data)});
		if (!value(&element, buffer, &size))
			return false;
		if (!text_equal_folded(name, TEXT("for")))
			continue;
		/* twice in one element is malformed (RFC 7239 4): which of them would be the truth? */
		if (found || size > sizeof buffer ||
		    !address_parse(read_trim((struct text){buffer, size}), out))
			return false;
		found = true;
	}
	return found;
}

/* How many lines a header has. Galloping: a client may send thousands, and a door may look each of them up
 * from the start. */
static unsigned line_count(const struct flow_request *request, struct text name)
{
	unsigned low = 0, high = 1; /* low lines are there; high are not, once the first loop ends */
	struct text line;

	while (read_header(request, name, high - 1, &line)) {
		low = high;
		high *= 2;
		if (high > 1u << 20)
			return low;
	}
	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;
		if (read_header(request, name, middle - 1, &line))
			low = middle;
		else
			high = middle;
	}
	return low;
}

bool forwarded_walk(const struct flow_request *request, struct text name, const struct image *image,
		    struct address *client)
{
	const struct network *trusted = image_at(image, image->trusted.offset);
	bool elements = text_equal(name, TEXT("forwarded")), moved = false;
	unsigned lines = line_count(request, name), entries = 0;
	struct text line, entry;

	while (lines && read_header(request, name, --lines, &line)) {
		while (forwarded_last(&line, &entry)) {
			struct address address;

			if (entries++ == FORWARDED_ENTRIES_MAX)
				return moved;
			if (entry.size == 0) /* RFC 9110 5.6.1.2: empty elements say nothing */
				continue;
			if (!(elements ? forwarded_element(entry, &address) : address_parse(entry, &address)))
				return moved;
			*client = address;
			moved = true;
			if (!networks_contain(trusted, image->trusted.count, &address))
				return true;
		}
		if (entries == FORWARDED_ENTRIES_MAX)
			return moved;
	}
	return moved;
}
