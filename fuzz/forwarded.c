/* SPDX-License-Identifier: BSD-2-Clause */
/* forwarded: any lines of X-Forwarded-For or Forwarded. Behind an honest proxy they change nothing. */
#include <stdlib.h>

#include "flow/forwarded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct { /* 10.0.0.0/8 is trusted */
	struct image image;
	struct network network;
} ours = {
	.image.trusted = {offsetof(__typeof__(ours), network), 1},
	.network = {{[10] = 0xff, 0xff, 10}, {[10] = 0xff, 0xff, 10, 0xff, 0xff, 0xff}},
};

struct lines {
	struct text all;  /* separated by line feeds */
	struct text tail; /* a line more, what the proxy sent, or empty */
};

static bool header(void *door, struct text name, unsigned nth, struct text *value)
{
	const struct lines *lines = door;
	struct text rest = lines->all;

	(void)name;
	for (;;) {
		const char *end = rest.size ? memchr(rest.data, '\n', rest.size) : NULL;
		size_t size = end ? (size_t)(end - rest.data) : rest.size;
		if (nth-- == 0) {
			*value = (struct text){rest.data, size};
			return true;
		}
		if (!end)
			break;
		rest.data += size + 1;
		rest.size -= size + 1;
	}
	*value = lines->tail;
	return nth == 0 && lines->tail.size;
}

static bool is_honest(const struct address *address)
{
	static const struct address honest = {{[10] = 0xff, 0xff, 1, 2, 3, 4}};

	return memcmp(address, &honest, sizeof honest) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct text tails[] = {
		{", 1.2.3.4, 10.0.0.2", 19},
		{", for=1.2.3.4;proto=https, for=\"10.0.0.2:80\"", 44},
	};
	const struct address peer = {{[10] = 0xff, 0xff, 10, 0, 0, 1}};
	struct text input = {(const char *)data, size}, list, element;
	struct lines lines = {.all = input};
	struct flow_request request = {.header = header, .door = &lines};
	struct address client;
	char *joined;

	for (size_t elements = 0; elements < 2; elements++) {
		struct text name = elements ? TEXT("forwarded") : TEXT("x-forwarded-for");

		/* through a proxy that passes on whatever it got */
		client = peer;
		lines = (struct lines){.all = input};
		bool moved = forwarded_walk(&request, name, &ours.image, &client);
		if (!moved && memcmp(&client, &peer, sizeof peer) != 0)
			abort();

		/* through one that appends what it saw, in the same line or in its own */
		joined = malloc(size + tails[elements].size + 1);
		if (size)
			memcpy(joined, data, size);
		memcpy(joined + size, tails[elements].data, tails[elements].size);
		client = peer;
		lines = (struct lines){.all = {joined, size + tails[elements].size}};
		if (!forwarded_walk(&request, name, &ours.image, &client) || !is_honest(&client))
			abort();
		client = peer;
		lines = (struct lines){.all = input,
				       .tail = {tails[elements].data + 2, tails[elements].size - 2}};
		if (!forwarded_walk(&request, name, &ours.image, &client) || !is_honest(&client))
			abort();
		free(joined);
	}
	for (list = input; forwarded_last(&list, &element);) {
		if (element.size &&
		    (element.data < input.data || element.data + element.size > input.data + size))
			abort();
		forwarded_element(element, &client);
	}
	return 0;
}
