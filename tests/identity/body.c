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
	{JSON, "{\"username\":\"bob\",\"username\":\"alice\"}", "?"},
	{JSON, "{\"username\":\"bob\",\"Username\":\"alice\"}", "?"},
	{JSON, "{\"username\":[\"alice\"]}", "?"},
	{JSON, "{\"username\":\"bob\",\"username\":[\"alice\"]}", "?"},
	{JSON, "{\"username\":\"bob\",\"username\":{\"$ne\":1}}", "?"},
	{JSON, "{\"username\":\"alice\"", "?"},
	{JSON, "{\"username\":\"bob\"}{\"username\":\"alice\"}", "?"},
	{JSON, "{\"username\":\"bob\",/*\"*/\"username\":\"alice\"/*\"*/}", "?"},
	{JSON, "username=alice", "?"},
	/* whatever the type says, a body that looks like JSON is read as JSON: Go's and PHP's readers do not ask */
	{"", "{\"username\":\"alice\"}", "alice"},
	{"text/plain", " \r\n{\"username\":\"alice\"}", "alice"},
	/* ... and of a form: PHP reads the form, so both must say the same */
	{FORM, "{\"username\":\"alice\"}", "alice"},
	{FORM, "{\"x\":\"&username=alice&\",\"username\":\"ALICE\"}", "alice"},
	{FORM, "{\"x\":\"&username=bob&\",\"username\":\"alice\"}", "?"},
	{FORM, "\xef\xbb\xbf{\"x\":\"&username=bob&\",\"username\":\"alice\"}", "?"},
	{FORM, "{\"x\":\"&username=bob&\"}", "?"},
	{FORM, "{\"x\":\"&y=bob&\",\"username\":\"alice\"}", "?"},
	{FORM, "{\"x\":\"&y=bob&\"}", "-"},
	{FORM, "{x=1&username=alice", "?"},
	{FORM, " [1]&username=alice", "?"},
	{"multipart/form-data; boundary=B", "{\"username\":\"alice\"}", "?"},
	/* characters that are not UTF-8 to all */
	{"application/x-www-form-urlencoded; charset=utf-7", "username=al%2BAGk-ce", "?"},
	{"application/x-www-form-urlencoded; charset=UTF8", "username=alice", "alice"},
	{"application/x-www-form-urlencoded; charset=\"us-ascii\"", "username=alice", "alice"},
	{"application/x-www-form-urlencoded; charset=iso-8859-1", "username=alice", "?"},
	{"application/x-www-form-urlencoded; charset=utf-8; charset=utf-7", "username=alice", "?"},
	{"application/x-www-form-urlencoded; charset*=utf-8''utf-7", "username=alice", "?"},
	{"application/x-www-form-urlencoded; x; charset=utf-7", "username=alice", "?"},
	{"application/json; charset=utf-16", "{\"username\":\"alice\"}", "?"},
	{"application/json; x=y; Charset = \"UTF-8\"", "{\"username\":\"alice\"}", "alice"},
	{"text/plain", "username=alice", "?"},
	{"", "username=alice", "?"},
	{"application/x-www-form-urlencoded; charset=UTF-8", "username=alice", "alice"},
	{"APPLICATION/X-WWW-FORM-URLENCODED", "username=alice", "alice"},
	{"application/octet-stream", "\x1f\x8b\x08", "?"},
	{FORM, "", "-"},
	{JSON, "", "-"},
};

static const struct {
	const char *type, *body;
	int64_t number; /* -1: none; -2: doubtful */
} NUMBERS[] = {
	{JSON, "{\"n\":5}", 5},
	{JSON, "{\"n\":0}", 0},
	{JSON, "{\"n\":1.2}", 2},
	{JSON, "{\"n\":12e2}", 1200},
	{JSON, "{\"n\":99999999999}", 4294967295},
	{JSON, "{\"n\":-3}", -2}, /* "no bound" to some */
	{JSON, "{\"n\":-0}", 0},
	{JSON, "{\"n\":\"40\"}", 40},
	{JSON, "{\"n\":\"forty\"}", -2},
	{JSON, "{\"n\":\"900 tokens\"}", -2}, /* 900 to many */
	{JSON, "{\"n\":\"1,000\"}", -2},
	{JSON, "{\"n\":\"0x3E8\"}", -2},
	{JSON, "{\"n\":\"\"}", -1},
	{JSON, "{\"n\":\" \"}", -1},
	{JSON, "{}", -1},
	{JSON, "{\"n\":NaN}", -2},
	{JSON, "{\"n\":true}", -2},
	{JSON, "{\"n\":null}", -1},
	{JSON, "{\"n\":[5]}", -2},
	{JSON, "{\"n\":{\"$gt\":5}}", -2},
	{JSON, "{\"n\":1,\"n\":100,\"n\":7}", 100},
	{JSON, "{\"n\":\"x\",\"n\":7}", -2},
	{FORM, "n=5", 5},
	{FORM, "n=+5+", 5},
	{FORM, "n=1&n=90&n=2", 90},
	{FORM, "n=", -1},
	{FORM, "n=5&n=6+apples", -2},
	{FORM, "{\"n\":5}", 5},
	{FORM, "{\"n\":5,\"x\":\"&n=5&\"}", 5},
	{FORM, "{\"n\":5,\"x\":\"&n=50&\"}", 50},
	{FORM, "{\"n\":5,\"x\":\"&m=50&\"}", -2},
	{"text/plain", "n=5", -2},
	{"", "", -1},
	{"multipart/form-data; boundary=B",
	 "--B\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n12\r\n--B--", 12},
};

static const struct {
	const char *type, *path, *body;
	bool whole;
	int64_t count; /* -1: none; -2: doubtful */
} COUNTS[] = {
	{JSON, "a", "{\"a\":[1,2,3]}", true, 3},
	{JSON, "a", "{\"a\":[]}", true, 0},
	{JSON, "a.b", "{\"a\":{\"b\":[{},[],null]}}", true, 3},
	{JSON, "", "[{\"query\":\"x\"},{\"query\":\"y\"}]", true, 2},
	{JSON, "", "{\"query\":\"x\"}", true, -1},
	{JSON, "", "\"x\"", true, -1},
	{JSON, "a", "{\"b\":3}", true, -1},
	{JSON, "a", "{\"a\":null}", true, -1},
	{JSON, "a", "{\"a\":3}", true, -2},
	{JSON, "a", "{\"a\":\"[1,2]\"}", true, -2},
	{JSON, "a", "{\"a\":{\"0\":1,\"1\":2}}", true, -2}, /* an array to PHP */
	{JSON, "a", "{\"a\":[1],\"a\":[1,2,3],\"a\":[]}", true, 3},
	{JSON, "a", "{\"a\":[1,2", true, -2},
	{JSON, "a", "{\"a\":[1,2", false, -2},
	{JSON, "a", "{\"a\":[1,2],\"b", false, 2},
	{JSON, "a", "{\"a\":[1,2],\"a\":[1,2,3", false, -2},
	{JSON, "a", "{\"b\":[1,2", false, -2},
	{JSON, "a", "{\"a\":[1,,2", false, -2},
	{JSON, "", "[1,2", false, -2},
	{FORM, "a", "b=1", true, -1},
	{FORM, "a", "a[]=1&a[]=2", true, -2},
	{FORM, "a", "a[0][id]=1&a[1][id]=2", true, -2},
	{FORM, "", "query=x", true, -1},
	{FORM, "a", "{\"a\":[1,2,3],\"b\":\"x=y\"}", true, 3},
	{"", "a", "", true, -1},
	{"", "a", "", false, -2}, /* there is a body, and nobody could read it */
};

/* What is asked together is answered as if it had been asked alone. */
static void together(void)
{
	static const char *const bodies[] = {
		JSON,
		"{\"user\":{\"name\":\"Ann\",\"n\":\"3\",\"tags\":[1,[2],{\"tags\":[]}]},\"User\":{\"name\":"
		"\"ann\"},\"n\":7}",
		JSON,
		"[{\"user\":1},{\"user\":[1,2]}]",
		JSON,
		"{\"user\":[1,{\"name\":\"x\"}],\"n\":[1,2,3],\"name\":\"b\",\"tags\":\"t\"}",
		FORM,
		"user[name]=ann&n=4&n=9&tags[]=1&user.name=bob",
		FORM,
		"user=ann&name=ann&user[tags][]=1",
		"multipart/form-data; boundary=B",
		"--B\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nann\r\n--B\r\n"
		"Content-Disposition: form-data; name=\"n\"\r\n\r\n5\r\n--B--\r\n",
	};
	static const char *const names[BODY_WISHES_MAX] = {"user", "user.name", "user.n", "user.tags",
							   "n",	   "n",		"",	  "name"};
	static const enum body_what whats[BODY_WISHES_MAX] = {BODY_FIELD, BODY_FIELD, BODY_NUMBER,
							      BODY_COUNT, BODY_COUNT, BODY_NUMBER,
							      BODY_COUNT, BODY_FIELD};
	static struct body_value values[BODY_WISHES_MAX], value;
	size_t wrong = 0, found = 0;

	for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b += 2) {
		for (size_t size = 0; size <= strlen(bodies[b + 1]); size++) {
			struct text body = {bodies[b + 1], size};
			bool whole = !bodies[b + 1][size];
			struct body_wish wishes[BODY_WISHES_MAX];

			for (size_t i = 0; i < BODY_WISHES_MAX; i++)
				wishes[i] = (struct body_wish){
					.name = text_of(names[i]), .what = whats[i], .text = &values[i]};
			body_read(text_of(bodies[b]), body, whole, wishes, BODY_WISHES_MAX);
			for (size_t i = 0; i < BODY_WISHES_MAX; i++) {
				uint32_t number;
				enum body_said one = body_ask(bodies[b], body, whole, names[i], whats[i],
							      &number, &value);
				wrong += one != wishes[i].said;
				if (one != BODY_FOUND)
					continue;
				found++;
				wrong += whats[i] == BODY_FIELD
						 ? value.size != values[i].size ||
							   memcmp(value.data, values[i].data, value.size) != 0
						 : number != wishes[i].number;
			}
		}
	}
	is_u64(wrong, 0, "eight at once: each as if it had been asked alone, wherever the body is cut");
	ok(found > 200, "... and many were found");
}

static void size(void)
{
	static char body[3 * BODY_MAX];
	char want[16];

	/* only the first BODY_MAX bytes count, whatever the caller has */
	for (size_t at = BODY_MAX - 20; at < BODY_MAX + 3; at++) {
		memset(body, 'x', sizeof body);
		memcpy(body, "x=", 2);
		memcpy(body + at, "&username=alice&", 16);
		bool there = strcmp(said(FORM, (struct text){body, sizeof body}, true, "username"),
				    "alice") == 0;
		is_u64(there, at + 16 <= BODY_MAX, "a field near the end of what is looked at");
	}
	memset(body, ' ', sizeof body);
	memcpy(body, "{\"username\":\"alice\"}", 20);
	is_str(said(JSON, (struct text){body, sizeof body}, true, "username"), "alice", "JSON that goes on");
	memcpy(body + 20, "x", 1);
	is_str(said(JSON, (struct text){body, sizeof body}, true, "username"), "?", "... as something else");

	/* a value as long as it can be */
	memset(body, 'A', sizeof body);
	memcpy(body, "username=", 9);
	struct body_value value;
	uint32_t number;
	is_u64(body_ask(FORM, (struct text){body, BODY_MAX}, true, "username", BODY_FIELD, &number, &value),
	       BODY_FOUND, "a long value");
	is_u64(value.size, BODY_VALUE_MAX, "... is cut");
	memset(body, ' ', sizeof body);
	memcpy(body, "{\"username\":\"", 13);
	memcpy(body + BODY_MAX - 8, "Alice\"}", 7);
	is_str(said(JSON, (struct text){body, BODY_MAX}, true, "username"), "alice",
	       "16 KB of spaces before it");

	/* many of them */
	size_t used = 0;
	while (used + 8 < BODY_MAX)
		used += (size_t)snprintf(body + used, 16, "n=%zu&", used % 10);
	is_u64(body_ask(FORM, (struct text){body, used}, true, "n", BODY_NUMBER, &number, NULL), BODY_FOUND,
	       "thousands of them");
	snprintf(want, sizeof want, "%u", number);
	is_str(want, "8", "... the largest counts");
}

int main(void)
{
	for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++)
		is_str(said(BODIES[i].type, text_of(BODIES[i].body), true, "username"), BODIES[i].value,
		       BODIES[i].body);
	for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
		is_u64(number_said(NUMBERS[i].type, NUMBERS[i].body, true, "n", BODY_NUMBER),
		       NUMBERS[i].number, NUMBERS[i].body);
	for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++)
		is_u64(number_said(COUNTS[i].type, COUNTS[i].body, COUNTS[i].whole, COUNTS[i].path,
				   BODY_COUNT),
		       COUNTS[i].count, COUNTS[i].body);
	together();
	size();
	return done_testing();
}
