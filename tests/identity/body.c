/* SPDX-License-Identifier: BSD-2-Clause */
/* body: what its type says, or its first character; JSON values as texts, numbers, and lengths of arrays. */
#include <stdlib.h>

#include "tests/identity/body_rig.h"

static const struct {
	const char *type, *body, *value;
} BODIES[] = {
	{JSON, "{\"username\":\"Alice \"}", "alice"},
	{"application/json; charset=utf-8", "{\"username\":\"alice\"}", "alice"},
	{"Application/JSON;x", "{\"username\":\"alice\"}", "alice"},
	{"application/vnd.api+json", "{\"username\":\"alice\"}", "alice"},
	{JSON, "{\"\\u0075sername\":\"\\u0041lice\"}", "alice"},
	{JSON, "{\"Username\":\"alice\"}", "alice"},
	{JSON, "\xef\xbb\xbf {\"username\":\"alice\"}", "alice"},
	{JSON, "{\"username\":\"jose\\u0301\"}", "jos\xc3\xa9"},
	{JSON, "{\"username\":7}", "7"},
	{JSON, "{\"username\":7.0}", "7"},
	{JSON, "{\"username\":0.7e1}", "7"},
	{JSON, "{\"username\":\"7\"}", "7"},
	{JSON, "{\"username\":7,\"username\":\"7\"}", "7"},
	{JSON, "{\"username\":true}", "true"},
	{JSON, "{\"username\":null}", "-"},
	{JSON, "{\"username\":\"\",\"username\":\"alice\"}", "alice"},
	{JSON, "{\"username\":\"bob\",\"username\":\"alice\"}", "-"},
	{JSON, "{\"username\":\"bob\",\"Username\":\"alice\"}", "-"},
	{JSON, "{\"username\":[\"alice\"]}", "-"},
	{JSON, "{\"username\":\"bob\",\"username\":[\"alice\"]}", "-"},
	{JSON, "{\"username\":\"bob\",\"username\":{\"$ne\":1}}", "-"},
	{JSON, "{\"username\":\"alice\"", "-"},
	{JSON, "{\"username\":\"bob\"}{\"username\":\"alice\"}", "-"},
	{JSON, "{\"username\":\"bob\",/*\"*/\"username\":\"alice\"/*\"*/}", "-"},
	{JSON, "username=alice", "-"},
	/* whatever the type says, a body that looks like JSON is read as JSON: Go's and PHP's readers do not ask */
	{"", "{\"username\":\"alice\"}", "alice"},
	{"text/plain", " \r\n{\"username\":\"alice\"}", "alice"},
	{FORM, "{\"x\":\"&username=bob&\",\"username\":\"alice\"}", "alice"},
	{FORM, "\xef\xbb\xbf{\"x\":\"&username=bob&\",\"username\":\"alice\"}", "alice"},
	{"text/plain", "username=alice", "-"},
	{"", "username=alice", "-"},
	{"application/x-www-form-urlencoded; charset=UTF-8", "username=alice", "alice"},
	{"APPLICATION/X-WWW-FORM-URLENCODED", "username=alice", "alice"},
	{"application/octet-stream", "\x1f\x8b\x08", "-"},
	{FORM, "", "-"},
	{JSON, "", "-"},
};

static const struct {
	const char *type, *body;
	int64_t number; /* -1: none */
} NUMBERS[] = {
	{JSON, "{\"n\":5}", 5},
	{JSON, "{\"n\":0}", 0},
	{JSON, "{\"n\":1.2}", 2},
	{JSON, "{\"n\":12e2}", 1200},
	{JSON, "{\"n\":99999999999}", 4294967295},
	{JSON, "{\"n\":-3}", -1},
	{JSON, "{\"n\":\"40\"}", 40},
	{JSON, "{\"n\":\"forty\"}", -1},
	{JSON, "{\"n\":true}", -1},
	{JSON, "{\"n\":null}", -1},
	{JSON, "{\"n\":[5]}", -1},
	{JSON, "{\"n\":1,\"n\":100,\"n\":7}", 100},
	{JSON, "{\"n\":\"x\",\"n\":7}", 7},
	{FORM, "n=5", 5},
	{FORM, "n=+5+", 5},
	{FORM, "n=1&n=90&n=2", 90},
	{FORM, "n=", -1},
	{"multipart/form-data; boundary=B",
	 "--B\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n12\r\n--B--", 12},
};

static const struct {
	const char *path, *body;
	bool whole;
	int64_t count; /* -1: none */
	bool more;
} COUNTS[] = {
	{"a", "{\"a\":[1,2,3]}", true, 3, false},
	{"a", "{\"a\":[]}", true, 0, false},
	{"a.b", "{\"a\":{\"b\":[{},[],null]}}", true, 3, false},
	{"", "[{\"query\":\"x\"},{\"query\":\"y\"}]", true, 2, false},
	{"", "{\"query\":\"x\"}", true, -1, false},
	{"a", "{\"a\":3}", true, -1, false},
	{"a", "{\"a\":[1],\"a\":[1,2,3],\"a\":[]}", true, 3, false},
	{"a", "{\"a\":[1,2", true, -1, false},
	{"a", "{\"a\":[1,2", false, 2, true},
	{"a", "{\"a\":[1,2],\"b", false, 2, false},
	{"a", "{\"a\":[1,2],\"a\":[1,2,3", false, 3, true},
	{"a", "{\"b\":[1,2", false, -1, false},
	{"a", "{\"a\":[1,,2", false, -1, false},
};

static void size(void)
{
	static char body[3 * BODY_MAX];
	char want[16];

	/* only the first BODY_MAX bytes count, whatever the caller has */
	for (size_t at = BODY_MAX - 20; at < BODY_MAX + 3; at++) {
		memset(body, 'x', sizeof body);
		memcpy(body, "x=", 2);
		memcpy(body + at, "&username=alice&", 16);
		bool there = strcmp(said(FORM, (struct text){body, sizeof body}, true, "username"), "-") != 0;
		is_u64(there, at + 16 <= BODY_MAX, "a field near the end of what is looked at");
	}
	memset(body, ' ', sizeof body);
	memcpy(body, "{\"username\":\"alice\"}", 20);
	is_str(said(JSON, (struct text){body, sizeof body}, true, "username"), "alice", "JSON that goes on");
	memcpy(body + 20, "x", 1);
	is_str(said(JSON, (struct text){body, sizeof body}, true, "username"), "-", "... as something else");

	/* a value as long as it can be */
	memset(body, 'A', sizeof body);
	memcpy(body, "username=", 9);
	struct body_value value;
	ok(body_field(TEXT(FORM), (struct text){body, BODY_MAX}, true, TEXT("username"), &value),
	   "a long value");
	is_u64(value.size, BODY_VALUE_MAX, "... is cut");
	memset(body, ' ', sizeof body);
	memcpy(body, "{\"username\":\"", 13);
	memcpy(body + BODY_MAX - 8, "Alice\"}", 7);
	is_str(said(JSON, (struct text){body, BODY_MAX}, true, "username"), "alice",
	       "16 KB of spaces before it");

	/* many of them */
	uint32_t number = 0;
	size_t used = 0;
	while (used + 8 < BODY_MAX)
		used += (size_t)snprintf(body + used, 16, "n=%zu&", used % 10);
	ok(body_number(TEXT(FORM), (struct text){body, used}, true, TEXT("n"), &number), "thousands of them");
	snprintf(want, sizeof want, "%u", number);
	is_str(want, "8", "... the largest counts");
}

int main(void)
{
	for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++)
		is_str(said(BODIES[i].type, text_of(BODIES[i].body), true, "username"), BODIES[i].value,
		       BODIES[i].body);
	for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
		uint32_t number = 0;
		bool found = body_number(text_of(NUMBERS[i].type), text_of(NUMBERS[i].body), true, TEXT("n"),
					 &number);
		is_u64(found ? (int64_t)number : -1, NUMBERS[i].number, NUMBERS[i].body);
	}
	for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
		uint32_t count = 0;
		bool more = false;
		bool found = body_count(TEXT(JSON), text_of(COUNTS[i].body), COUNTS[i].whole,
					text_of(COUNTS[i].path), &count, &more);
		is_u64(found ? (int64_t)count : -1, COUNTS[i].count, COUNTS[i].body);
		ok(!found || more == COUNTS[i].more, "... and whether it goes on");
	}
	size();
	return done_testing();
}
