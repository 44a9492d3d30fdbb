/* SPDX-License-Identifier: BSD-2-Clause */
/* door: a door made of arrays, for the tests of the flow: headers in order, variables, a peer. */
#ifndef WEIR_TESTS_FLOW_DOOR_H
#define WEIR_TESTS_FLOW_DOOR_H

#include <stdlib.h>

#include "flow/flow.h"
#include "tests/tap.h"

#define DOOR_HEADERS 128

/* 0..n-1, the same numbers at every run. */
static inline unsigned pick(unsigned n)
{
	static uint64_t seed = 42;

	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((seed >> 33) % n);
}

struct door {
	struct flow_request request;
	struct text names[DOOR_HEADERS], values[DOOR_HEADERS];
	size_t count;
	struct text variable_name, variable_value;
};

static inline bool door_header(void *door_, struct text name, unsigned nth, struct text *value)
{
	struct door *door = door_;

	for (size_t i = 0; i < door->count; i++)
		if (text_equal_folded(door->names[i], name) && nth-- == 0) {
			*value = door->values[i];
			return true;
		}
	return false;
}

static inline bool door_variable(void *door_, struct text name, struct text *value)
{
	struct door *door = door_;

	*value = door->variable_value;
	return text_equal(name, door->variable_name);
}

static inline struct address door_address(const char *text)
{
	struct address address = {{0}};

	if (!address_parse(text_of(text), &address)) {
		fprintf(stderr, "not an address: %s\n", text);
		abort();
	}
	return address;
}

static inline void door_add(struct door *door, const char *name, const char *value)
{
	if (door->count == DOOR_HEADERS)
		abort();
	door->names[door->count] = text_of(name);
	door->values[door->count++] = text_of(value);
}

/* headers: "Name: value" lines separated by \n; the string must outlive the door. */
static inline void door_add_lines(struct door *door, const char *lines)
{
	while (lines && *lines) {
		size_t size = strcspn(lines, "\n"), colon = strcspn(lines, ":");
		if (door->count == DOOR_HEADERS || colon >= size)
			abort();
		door->names[door->count] = (struct text){lines, colon};
		door->values[door->count++] = (struct text){lines + colon + 1, size - colon - 1};
		lines += size + (lines[size] == '\n');
	}
}

/* peer NULL: a unix socket */
static inline void door_open(struct door *door, const char *method, const char *target, const char *peer)
{
	memset(door, 0, sizeof *door);
	door->request.method = text_of(method);
	door->request.target = text_of(target);
	door->request.host = TEXT("example.com");
	if (peer) {
		door->request.peer = door_address(peer);
		door->request.has_peer = true;
	}
	door->request.header = door_header;
	door->request.variable = door_variable;
	door->request.door = door;
}

#endif
