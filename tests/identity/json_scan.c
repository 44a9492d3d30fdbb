/* SPDX-License-Identifier: BSD-2-Clause */
/* json_scan: what it finds in documents as data, in random ones against jansson, and in any pieces. */
#include <jansson.h>
#include <stdlib.h>

#include "identity/json_scan.h"
#include "tests/tap.h"

struct heard { /* what the sink was told, written down: "s:alice n:12 l:true z a:3 o" */
	size_t size;
	char text[8192];
};

static void add(struct heard *heard, const char *data, size_t size)
{
	if (size > sizeof heard->text - 1 - heard->size)
		size = sizeof heard->text - 1 - heard->size;
	memcpy(heard->text + heard->size, data, size);
	heard->size += size;
	heard->text[heard->size] = 0;
}

static struct { /* the scalar that is being told */
	size_t size;
	char data[8192];
} open_value;

static void piece(void *to, const char *data, size_t size)
{
	(void)to;
	memcpy(open_value.data + open_value.size, data, size);
	open_value.size += size;
}

static void end(void *to, unsigned at, enum json_kind kind, uint32_t elements)
{
	static const char *const letters[] = {"s:", "n:", "l:", "z:", "a:", "o:"};
	struct heard *heard = to;
	char number[16];

	(void)at;
	if (heard->size)
		add(heard, " ", 1);
	add(heard, letters[kind], 2);
	if (kind == JSON_SCAN_ARRAY)
		add(heard, number, (size_t)snprintf(number, sizeof number, "%u", elements));
	else if (kind != JSON_SCAN_NULL)
		add(heard, open_value.data, open_value.size);
	open_value.size = 0;
}

/* In pieces whose sizes `seed` draws; 0: in one. Each piece is a copy of its own size, for the sanitizer. */
static bool scan(struct text document, const char *path, unsigned seed, struct heard *heard)
{
	struct json_scan scan;
	const struct json_sink sink = {piece, end, heard};

	*heard = (struct heard){0};
	open_value.size = 0;
	json_scan_begin(&scan, text_of(path));
	for (size_t at = 0; at < document.size;) {
		size_t size = seed ? 1 + (size_t)rand_r(&seed) % 5 : document.size;
		if (size > document.size - at)
			size = document.size - at;
		char *copy = malloc(size);
		memcpy(copy, document.data + at, size);
		json_scan_feed(&scan, copy, size, &sink);
		free(copy);
		at += size;
	}
	return json_scan_end(&scan, &sink);
}

static const struct {
	const char *path, *document, *heard; /* NULL: no JSON */
} DOCUMENTS[] = {
	{"a", "{\"a\":\"x\"}", "s:x"},
	{"a", " {\r\n\t\"a\" : \"x\" } \n", "s:x"},
	{"a", "\xef\xbb\xbf{\"a\":1}", "n:1"},
	{"a", "{\"a\":-1.5e+3}", "n:-1.5e+3"},
	{"a", "{\"a\":true,\"b\":2}", "l:true"},
	{"a", "{\"a\":false}", "l:false"},
	{"a", "{\"a\":null}", "z:"},
	{"a", "{\"a\":\"\"}", "s:"},
	{"a", "{\"a\":{}}", "o:"},
	{"a", "{\"a\":[]}", "a:0"},
	{"a", "{\"a\":[1,[2,3],{\"a\":4},\"\"]}", "a:4"},
	{"a", "{\"a\":1,\"a\":2}", "n:1 n:2"},
	{"a", "{}", ""},
	{"a", "{\"b\":1}", ""},
	{"a", "[{\"a\":1}]", ""},
	{"a", "\"a\"", ""},
	{"a", "1", ""},
	{"a", "{\"b\":{\"a\":1},\"a\":2,\"c\":[{\"a\":3}]}", "n:2"},
	{"a", "{\"A\":1,\"a\":2}", "n:1 n:2"},
	{"user", "{\"u\\u017fer\":1}", "n:1"},
	{"key",
	 "{\"\xe2\x84\xaa"
	 "EY\":1}",
	 "n:1"},
	{"a", "{\"\\u0061\":1}", "n:1"},
	{"a", "{\"ab\":1,\"\":2,\"a\\u0000\":3}", ""},
	{"\xc3\xa9", "{\"\\u00e9\":1}", "n:1"},
	{"a.b", "{\"a\":{\"b\":1}}", "n:1"},
	{"a.b", "{\"a.b\":1}", ""},
	{"a.b", "{\"a\":1,\"b\":2}", ""},
	{"a.b", "{\"a\":{\"a\":{\"b\":1}},\"b\":2,\"a\":{\"b\":3}}", "n:3"},
	{"a.b", "{\"a\":[{\"b\":1}]}", ""},
	{"a.b.c", "{\"a\":{\"x\":{\"c\":0},\"b\":{\"x\":1,\"c\":\"y\"},\"c\":2}}", "s:y"},
	{"", "[1,2,3]", "a:3"},
	{"", "[]", "a:0"},
	{"", "{\"a\":[1]}", "o:"},
	{"", "12", "n:12"},
	{"", "\"x\"", "s:x"},
	{"", "[[1,2],[3]]", "a:2"},
	{"a", "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "s:\"\\/\b\f\n\r\t"},
	{"a", "{\"a\":\"\\u00e9\\u20ac\\ud83d\\ude00\\uD83D\\uDE00\"}",
	 "s:\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf0\x9f\x98\x80"},
	{"a", "{\"a\":\"\\ud83dx\"}", "s:\xef\xbf\xbdx"},
	{"a", "{\"a\":\"\\ud83d\"}", "s:\xef\xbf\xbd"},
	{"a", "{\"a\":\"\\ud83d\\n\"}", "s:\xef\xbf\xbd\n"},
	{"a", "{\"a\":\"\\ud83d\\u0041\"}",
	 "s:\xef\xbf\xbd"
	 "A"},
	{"a", "{\"a\":\"\\ud83d\\ud83d\\ude00\"}", "s:\xef\xbf\xbd\xf0\x9f\x98\x80"},
	{"a", "{\"a\":\"\\ude00\"}", "s:\xef\xbf\xbd"},
	{"a", "{\"a\":\"\xff\"}", "s:\xff"},
	{"a", "{\"a\":0}", "n:0"},
	{"a", "{\"a\":0.10}", "n:0.10"},
	{"a", "{\"a\":1E5 }", "n:1E5"},
	{"a", "", NULL},
	{"a", " ", NULL},
	{"a", "{", NULL},
	{"a", "}", NULL},
	{"a", "{\"a\":1", NULL},
	{"a", "{\"a\":1]", NULL},
	{"a", "{\"a\":1,}", NULL},
	{"a", "[1,]", NULL},
	{"a", "[,1]", NULL},
	{"a", "{,}", NULL},
	{"a", "{\"a\" 1}", NULL},
	{"a", "{\"a\":1 \"b\":2}", NULL},
	{"a", "{a:1}", NULL},
	{"a", "{'a':1}", NULL},
	{"a", "{\"a\":1}{\"a\":2}", NULL},
	{"a", "{\"a\":1} x", NULL},
	{"a", "/**/{\"a\":1}", NULL},
	{"a", "{\"a\":1}//", NULL},
	{"a", "{\"a\":01}", NULL},
	{"a", "{\"a\":-}", NULL},
	{"a", "{\"a\":-01}", NULL},
	{"a", "{\"a\":1.}", NULL},
	{"a", "{\"a\":.5}", NULL},
	{"a", "{\"a\":+1}", NULL},
	{"a", "{\"a\":1e}", NULL},
	{"a", "{\"a\":1e+}", NULL},
	{"a", "{\"a\":NaN}", NULL},
	{"a", "{\"a\":tru}", NULL},
	{"a", "{\"a\":trues}", NULL},
	{"a", "{\"a\":True}", NULL},
	{"a", "{\"a\":\"\n\"}", NULL},
	{"a", "{\"a\":\"\\x41\"}", NULL},
	{"a", "{\"a\":\"\\u00g0\"}", NULL},
	{"a", "{\"a\":\"\\u+041\"}", NULL},
	{"a", "{\"a\":\"x}", NULL},
	{"a", "\xef\xbb{\"a\":1}", NULL},
	{"a", " \xef\xbb\xbf{\"a\":1}", NULL},
};

static void documents(void)
{
	for (size_t i = 0; i < sizeof DOCUMENTS / sizeof *DOCUMENTS; i++) {
		struct heard heard;
		struct text document = text_of(DOCUMENTS[i].document);
		bool good = scan(document, DOCUMENTS[i].path, 0, &heard);
		is_str(good ? heard.text : "no JSON", DOCUMENTS[i].heard ? DOCUMENTS[i].heard : "no JSON",
		       DOCUMENTS[i].document);
		unsigned other = 0;
		for (unsigned seed = 1; seed < 20; seed++) {
			struct heard pieces;
			other += scan(document, DOCUMENTS[i].path, seed, &pieces) != good ||
				 strcmp(pieces.text, heard.text) != 0;
		}
		is_u64(other, 0, "... in pieces, too");
	}
}

static void depth(void)
{
	static char document[4096];
	struct heard heard;

	for (size_t deep = JSON_DEPTH_MAX - 1; deep <= JSON_DEPTH_MAX + 1; deep++) {
		memset(document, '[', deep);
		memset(document + deep, ']', deep);
		ok(scan((struct text){document, 2 * deep}, "", 7, &heard) == (deep <= JSON_DEPTH_MAX),
		   "as deep as it goes, and no deeper");
	}
	/* arrays and objects by turns: each is closed by its own bracket */
	size_t size = 0;
	for (size_t i = 0; i < JSON_DEPTH_MAX / 2; i++)
		size += (size_t)snprintf(document + size, sizeof document - size, "[{\"a\":");
	document[size++] = '0';
	for (size_t i = 0; i < JSON_DEPTH_MAX / 2; i++)
		size += (size_t)snprintf(document + size, sizeof document - size, "}]");
	ok(scan((struct text){document, size}, "", 3, &heard), "brackets of both kinds");
	document[size - JSON_DEPTH_MAX / 2] ^= '}' ^ ']';
	ok(!scan((struct text){document, size}, "", 3, &heard), "... one of them wrong");

	char name[2 * JSON_NAME_MAX];
	for (size_t length = JSON_NAME_MAX - 1; length <= JSON_NAME_MAX + 1; length++) {
		memset(name, 'n', length);
		name[length] = 0;
		size = (size_t)snprintf(document, sizeof document, "{\"%s\":1}", name);
		ok(scan((struct text){document, size}, name, 9, &heard), "a long name");
		is_str(heard.text, length <= JSON_NAME_MAX ? "n:1" : "", "... is found if it is kept");
	}
}

/* ---- random documents ------------------------------------------------------------------------------- */

static unsigned seed = 1;
static char made[65536];
static size_t made_size;

static unsigned draw(unsigned n)
{
	return (unsigned)rand_r(&seed) % n;
}

static void put(const char *text)
{
	made_size += (size_t)snprintf(made + made_size, sizeof made - made_size, "%s", text);
}

static void space(void)
{
	static const char *const spaces[] = {"", "", "", " ", "\n", "\t \r"};
	put(spaces[draw(6)]);
}

static void make_string(void)
{
	static const char *const parts[] = {
		"x",	    "yz",      " ",   "\\n", "\\\"", "\\u00e9", "\\ud83d\\ude00",
		"\xc3\xa9", "\\u0041", "\\/", "{",   "]",    ",",	"\\\\"};
	put("\"");
	for (unsigned n = draw(5); n > 0; n--)
		put(parts[draw(14)]);
	put("\"");
}

static void make_value(unsigned deep)
{
	static const char *const plain[] = {"0",    "-1",    "17",   "2.5",	"1e3",
					    "true", "false", "null", "-0.25E-2"};
	static const char *const names[] = {"\"a\"", "\"b\"", "\"c\"", "\"\\u0061b\"", "\"\""};
	unsigned kind = deep ? draw(6) : draw(3);

	space();
	if (kind < 2) {
		put(plain[draw(9)]);
	} else if (kind == 2) {
		make_string();
	} else if (kind == 3) {
		put("[");
		for (unsigned n = draw(4), i = 0; i < n; i++) {
			put(i ? "," : "");
			make_value(deep - 1);
		}
		space();
		put("]");
	} else {
		put("{");
		bool first = true;
		for (unsigned i = 0; i < 5; i++) {
			if (draw(3) == 0)
				continue;
			put(first ? "" : ",");
			first = false;
			space();
			put(names[i]);
			space();
			put(":");
			make_value(deep - 1);
		}
		space();
		put("}");
	}
	space();
}

/* What stands there, as jansson has it, written down as above. */
static void reference(json_t *at, const char *path, struct heard *out)
{
	char name[16];
	size_t size = 0;

	*out = (struct heard){0};
	open_value.size = 0;
	while (*path) {
		size = strcspn(path, ".");
		snprintf(name, sizeof name, "%.*s", (int)size, path);
		path += size + (path[size] == '.');
		at = json_object_get(at, name);
		if (!at)
			return;
	}
	if (json_is_string(at)) {
		piece(out, json_string_value(at), json_string_length(at));
		end(out, 1, JSON_SCAN_STRING, 0);
	} else if (json_is_boolean(at)) {
		piece(out, json_is_true(at) ? "true" : "false", json_is_true(at) ? 4 : 5);
		end(out, 1, JSON_SCAN_LITERAL, 0);
	} else if (json_is_null(at)) {
		end(out, 1, JSON_SCAN_NULL, 0);
	} else if (json_is_array(at)) {
		end(out, 1, JSON_SCAN_ARRAY, (uint32_t)json_array_size(at));
	} else if (json_is_object(at)) {
		end(out, 1, JSON_SCAN_OBJECT, 0);
	} else {
		char number[32];
		piece(out, number, (size_t)snprintf(number, sizeof number, "%.15g", json_number_value(at)));
		end(out, 1, JSON_SCAN_NUMBER, 0);
	}
}

static void numbers_alike(struct heard *heard)
{
	if (strncmp(heard->text, "n:", 2) == 0)
		snprintf(heard->text + 2, sizeof heard->text - 2, "%.15g",
			 strtod(heard->text + 2, NULL) + 0.0);
}

static void random_documents(void)
{
	static const char *const paths[] = {"a",    "b",     "c",    "a.a",   "a.b",
					    "ab.a", "a.b.c", "c.ab", "a.a.a", ""};
	unsigned wrong = 0, found = 0, refused = 0, divided = 0;

	for (int i = 0; i < 60000; i++) {
		struct heard ours, theirs, pieces;
		json_error_t error;
		const char *path = paths[draw(10)];

		made_size = 0;
		make_value(4);
		if (draw(2)) /* one character wrong, or cut */
			made[draw((unsigned)made_size)] = "{}[],:\"0 -.eEx"[draw(14)];
		if (draw(8) == 0)
			made_size = draw((unsigned)made_size + 1);
		json_t *root = json_loadb(made, made_size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
		if (!root && (json_error_code(&error) == json_error_numeric_overflow ||
			      json_error_code(&error) == json_error_duplicate_key ||
			      json_error_code(&error) == json_error_invalid_utf8 ||
			      strstr(error.text, "invalid Unicode")))
			continue;
		struct text document = {made, made_size};
		bool good = scan(document, path, 0, &ours);
		divided += scan(document, path, 1 + draw(1000), &pieces) != good ||
			   strcmp(pieces.text, ours.text) != 0;
		if (good != (root != NULL)) {
			if (!wrong++)
				note("%.*s", (int)made_size, made);
		} else if (root) {
			reference(root, path, &theirs);
			numbers_alike(&ours);
			found += ours.size != 0;
			if (strcmp(ours.text, theirs.text) != 0 && !wrong++)
				note("%.*s at %s: '%s', not '%s'", (int)made_size, made, path, ours.text,
				     theirs.text);
		} else {
			refused++;
		}
		json_decref(root);
	}
	is_u64(wrong, 0, "60,000 random documents, half of them damaged: as jansson has it");
	is_u64(divided, 0, "... and in any pieces");
	note("%u values found, %u documents refused", found, refused);
	ok(found > 5000 && refused > 5000, "... and many of both kinds");
}

static void in_the_middle(void)
{
	static const struct {
		const char *document;
		int elements; /* -1: not in it */
	} cuts[] = {
		{"{\"a\":", -1},       {"{\"a\":[", 0},	      {"{\"a\":[1", 1},	   {"{\"a\":[1,", 1},
		{"{\"a\":[1,[2,3", 2}, {"{\"a\":[1,2],", -1}, {"{\"a\":[1,x", -1},
	};
	for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
		struct heard heard = {0};
		const struct json_sink sink = {piece, end, &heard};
		struct json_scan cut;
		uint32_t elements;
		json_scan_begin(&cut, TEXT("a"));
		json_scan_feed(&cut, cuts[i].document, strlen(cuts[i].document), &sink);
		bool in = json_scan_counting(&cut, 0, &elements);
		is_u64(in ? (int)elements : -1, cuts[i].elements, cuts[i].document);
	}
}

int main(void)
{
	documents();
	depth();
	in_the_middle();
	random_documents();
	return done_testing();
}
