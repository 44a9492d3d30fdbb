/* SPDX-License-Identifier: BSD-2-Clause */
/* form: every spelling of a field is the field; two that differ are none. And random forms against a slow reader. */
#include <stdlib.h>

#include "tests/identity/body_rig.h"

static const struct {
	const char *body, *value, *why;
} FORMS[] = {
	{"username=alice&password=x", "alice", "a form"},
	{"password=x&username=alice", "alice", "... in another order"},
	{"username=%41l%69ce", "alice", "escaped"},
	{"user%6eame=alice", "alice", "... its name"},
	{"username=ALICE", "alice", "capitals"},
	{"USERNAME=alice", "alice", "... of its name (ASP.NET)"},
	{"username=+alice+", "alice", "+ is a space"},
	{"username=%20alice%09", "alice", "... so is %20"},
	{"username=al+ice", "al ice", "a space inside"},
	{"username=al%20ice", "al ice", "... spelled otherwise"},
	{"username=al%2Bice", "al+ice", "a plus"},
	{"username=jos%C3%A9", "jos\xc3\xa9", "not ASCII"},
	{"username=jose%cc%81", "jos\xc3\xa9", "... decomposed"},
	{"username=jos%E9", "jos\xe9", "... Latin-1"},
	{"username=alice%00", "alice", "a NUL at its end"},
	{"username=50%", "50%", "no escape"},
	{"username=%u0061lice", "?", "an escape that ASP knows"},
	{"username=%U0061lice", "?", "... in capitals"},
	{"%u0075sername=alice", "?", "... in the name"},
	{"username=bob&x%u0079=1", "?", "... in a name that may be any"},
	{"username=bob&x=%u0061", "bob", "... in another value"},
	{"username=%u006", "%u006", "... and one that nobody knows"},
	{"username=%zz%4", "%zz%4", "... nor these"},
	{"username[]=alice", "alice", "an array of one"},
	{"username%5B%5D=alice", "alice", "... escaped"},
	{"username[0]=alice", "alice", "... with its index"},
	{"+username=alice", "alice", "white space before the name (PHP drops it)"},
	{"username%00x=alice", "alice", "a NUL in the name (PHP cuts there)"},
	{"username=", "-", "empty"},
	{"username", "-", "... without a ="},
	{"username=+%09", "-", "... white space"},
	{"username=&username=alice", "alice", "the first that is not empty"},
	{"username=alice&username=", "alice", "... before an empty one"},
	{"username=alice&username=Alice", "alice", "the same twice"},
	{"username=alice&username=bob", "?", "two that differ: nobody knows which one counts"},
	{"username=bob&username[]=alice", "?", "... one of them an array"},
	{"username=bob&Username=alice", "?", "... one of them with a capital"},
	{"username=bob;username=alice", "?", "... separated as of old"},
	{"x=1;username=alice", "?", "... of which one reader sees one, another none"},
	{"x=1;y=2&username=alice", "alice", "a semicolon elsewhere"},
	{"username=a%3Bb", "a;b", "... and an escaped one"},
	{"user=alice", "-", "another field"},
	{"usernames=alice", "-", "a longer name"},
	{"xusername=alice", "-", "... at its beginning"},
	{"a=username=alice", "-", "the name in a value"},
	{"username=a=b", "a=b", "a value with ="},
	{"&&username=alice&&", "alice", "empty fields"},
	{"", "-", "nothing"},
	{"=alice", "-", "no name"},
};

static const struct {
	const char *wanted, *body, *value;
} NAMES[] = {
	{"user.login", "user[login]=alice", "alice"},
	{"user.login", "user.login=alice", "alice"},
	{"user.login", "user%5Blogin%5D=alice", "alice"},
	{"user.login", "user_login=alice", "alice"},
	{"user.login", "user[login][]=alice", "alice"},
	{"user.login", "login=alice", "-"},
	{"user[login]", "user[login]=alice", "alice"},
	{"user_name", "user+name=alice", "alice"},
	{"user_name", "user.name=alice", "alice"},
	{"ids[]", "ids[]=7", "7"},
	{"ids[]", "ids=7", "7"},
};

/* ---- a slow reader ------------------------------------------------------------------------------------ */

static int digit(char c)
{
	static const char *const digits = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) % 16 : -1;
}

static void slow_decode(const char *from, size_t size, char *out)
{
	for (size_t i = 0; i < size; i++) {
		if (from[i] == '%' && i + 2 < size && digit(from[i + 1]) >= 0 && digit(from[i + 2]) >= 0) {
			*out++ = (char)(16 * digit(from[i + 1]) + digit(from[i + 2]));
			i += 2;
		} else {
			*out++ = from[i] == '+' ? ' ' : from[i];
		}
	}
	*out = 0;
}

/* Of lower-case names and values of printable ASCII, separated by `&`. */
static const char *slow(const char *body, bool whole, const char *wanted)
{
	static char found[256];
	char name[256], value[256];
	bool any = false, differ = false;

	for (const char *at = body; *at;) {
		size_t size = strcspn(at, "&");
		if (!at[size] && !whole)
			break;
		size_t equals = strcspn(at, "=&");
		slow_decode(at, equals < size ? equals : size, name);
		slow_decode(at + equals + 1, equals < size ? size - equals - 1 : 0, value);
		char *from = value, *end = value + strlen(value);
		while (*from == ' ')
			from++;
		while (end > from && end[-1] == ' ')
			*--end = 0;
		if (strcmp(name + strspn(name, " "), wanted) == 0 && *from) {
			if (any)
				differ |= strcmp(found, from) != 0;
			else
				strcpy(found, from);
			any = true;
		}
		at += size + (at[size] == '&');
	}
	return differ ? "?" : any ? found : whole ? "-" : "?";
}

static void random_forms(void)
{
	static const char *const parts[] = {"a",   "b",	 "ab", "=", "=", "&",	"&",
					    "%61", "%6", "%",  "+", "x", "ab=", "%62"};
	unsigned seed = 1, wrong = 0, found = 0;

	for (int i = 0; i < 200000; i++) {
		char body[128] = "";
		bool whole = rand_r(&seed) % 2;
		for (int n = rand_r(&seed) % 14; n >= 0; n--)
			strcat(body, parts[rand_r(&seed) % 14]);
		const char *expected = slow(body, whole, "ab");
		const char *got = said(FORM, text_of(body), whole, "ab");
		found += expected[0] != '-' && expected[0] != '?';
		if (strcmp(got, expected) != 0 && !wrong++)
			note("%s (%s): '%s', not '%s'", body, whole ? "whole" : "cut", got, expected);
	}
	is_u64(wrong, 0, "200,000 random forms: as a slow reader has it");
	note("%u with the field", found);
	ok(found > 5000, "... many of them with the field");
}

static void cut(void)
{
	static const char body[] = "a=1&username=alice&b=2";
	size_t early = 0;

	for (size_t size = 0; size <= sizeof body - 1; size++) {
		bool there = strcmp(said(FORM, (struct text){body, size}, false, "username"), "?") != 0;
		early += there != (size >= strlen("a=1&username=alice&"));
	}
	is_u64(early, 0, "of a body that goes on, a field is there when its end is");
}

int main(void)
{
	for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++)
		is_str(said(FORM, text_of(FORMS[i].body), true, "username"), FORMS[i].value, FORMS[i].why);
	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
		is_str(said(FORM, text_of(NAMES[i].body), true, NAMES[i].wanted), NAMES[i].value,
		       NAMES[i].body);
	cut();
	random_forms();
	return done_testing();
}
