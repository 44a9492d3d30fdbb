/* SPDX-License-Identifier: BSD-2-Clause */
/* credential: any Authorization and Cookie lines. What is read is inside of what was sent, and of the alphabet; another spelling of
 * it is the same client. The first line is Authorization, the others are Cookie. */
#include <stdlib.h>

#include "flow/named.h"
#include "identity/credential.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static struct text line_of(struct text all, unsigned nth, bool *there)
{
	for (;;) {
		const char *end = all.size ? memchr(all.data, '\n', all.size) : NULL;
		size_t size = end ? (size_t)(end - all.data) : all.size;

		if (nth-- == 0) {
			*there = true;
			return (struct text){all.data, size};
		}
		if (!end)
			break;
		all.data += size + 1;
		all.size -= size + 1;
	}
	*there = false;
	return (struct text){NULL, 0};
}

static bool header(void *door, struct text name, unsigned nth, struct text *value)
{
	const struct text *all = door;
	bool there;

	must(text_equal(name, TEXT("cookie")));
	*value = line_of(*all, nth + 1, &there);
	return there;
}

static bool inside(struct text part, struct text whole)
{
	return part.size <= whole.size && part.data >= whole.data &&
	       part.data + part.size <= whole.data + whole.size;
}

static void try_bearer(struct text line)
{
	char *other = malloc(line.size + 32);
	struct text token, again;
	size_t size;

	if (!other)
		return;
	if (!credential_bearer(line, &token)) {
		must(token.size == 0);
		free(other);
		return;
	}
	must(token.size > 0 && inside(token, line));
	for (size_t i = 0; i < token.size; i++)
		must(token.data[i] > ' ' && token.data[i] < 127 && token.data[i] != ',' &&
		     token.data[i] != '"');
	must(token.data[0] != '=');
	memcpy(other, "\t bEARER \t ", size = 11);
	memcpy(other + size, token.data, token.size);
	size += token.size;
	other[size++] = ' ';
	must(credential_bearer((struct text){other, size}, &again) && text_equal(token, again));
	other[size - 1] = '%';
	must(!credential_bearer((struct text){other, size}, &again));
	free(other);
}

static void try_cookie(struct text all, struct text name)
{
	struct flow_request request = {.door = &all, .header = header};
	char decoded[64];
	struct named value;
	size_t at = 0, total = 0, got;

	if (named_cookie(&request, name, &value) != NAMED_FOUND)
		return;
	must(value.raw.size > 0 && inside(value.raw, all) && value.coding == NAMED_PERCENT);
	must(memchr(value.raw.data, ';', value.raw.size) == NULL);
	while ((got = named_read(&value, &at, decoded, sizeof decoded)))
		total += got;
	must(at == value.raw.size && total == named_size(&value) && total <= value.raw.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a copy of exactly this size, so that reading beyond it shows */
	char *bytes = malloc(size ? size : 1);
	struct text all = {bytes, size};
	bool there;

	if (!bytes)
		return 0;
	if (size)
		memcpy(bytes, data, size);
	try_bearer(line_of(all, 0, &there));
	try_cookie(all, TEXT("session"));
	try_cookie(all, TEXT("a"));
	free(bytes);
	return 0;
}
