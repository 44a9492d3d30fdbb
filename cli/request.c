/* SPDX-License-Identifier: BSD-2-Clause */
/* request: what the flow asks a door, answered from lists. */
#include "cli/request.h"

static bool nth_of(const struct request_pair *pairs, size_t count, struct text name, unsigned nth,
		   struct text *value)
{
	for (size_t i = 0; i < count; i++) {
		if (!text_equal_folded(pairs[i].name, name) || nth-- != 0)
			continue;
		*value = pairs[i].value;
		return true;
	}
	return false;
}

static bool header(void *door, struct text name, unsigned nth, struct text *value)
{
	const struct request *request = door;
	return nth_of(request->headers, request->header_count, name, nth, value);
}

static bool variable(void *door, struct text name, struct text *value)
{
	const struct request *request = door;
	return nth_of(request->variables, request->variable_count, name, 0, value);
}

void request_init(struct request *request)
{
	*request = (struct request){
		.flow = {.method = TEXT("GET"),
			 .target = TEXT("/"),
			 .host = TEXT("localhost"),
			 .header = header,
			 .variable = variable,
			 .door = request,
			 .has_peer = true},
	};
	address_parse(TEXT("127.0.0.1"), &request->flow.peer);
}

static bool add(struct request_pair *pairs, size_t *count, struct text name, struct text value)
{
	if (*count == REQUEST_NAMES_MAX)
		return false;
	pairs[(*count)++] = (struct request_pair){name, value};
	return true;
}

bool request_add_header(struct request *request, struct text name, struct text value)
{
	return add(request->headers, &request->header_count, name, value);
}

bool request_add_variable(struct request *request, struct text name, struct text value)
{
	return add(request->variables, &request->variable_count, name, value);
}
