/* SPDX-License-Identifier: BSD-2-Clause */
/* base64url: RFC 4648's vectors without their padding, and every other spelling refused. */
#include "identity/base64url.h"
#include "tests/tap.h"

static const struct {
	const char *text, *bytes;
} good[] = {
	{"", ""},
	{"Zg", "f"},
	{"Zm8", "fo"},
	{"Zm9v", "foo"},
	{"Zm9vYg", "foob"},
	{"Zm9vYmE", "fooba"},
	{"Zm9vYmFy", "foobar"},
	{"-_-_", "\xfb\xff\xbf"},
	{"AzAZ", "\x03\x30\x19"},
};

static const struct {
	const char *text, *why;
} bad[] = {
	{"Z", "one character"},
	{"Zm9vY", "five"},
	{"Zg==", "padding"},
	{"Zm8=", "padding of one"},
	{"=", "only padding"},
	{"Zh", "a bit behind the first byte"},
	{"Zm9", "a bit behind the second byte"},
	{"Z_", "all bits behind the first byte"},
	{"+/+/", "the other alphabet"},
	{"Zm 9v", "a space"},
	{"Zm9v\n", "a newline"},
	{" Zm9v", "a space before"},
	{"Zm9v.", "a dot"},
	{"Zm\xc3\xa9", "not ASCII"},
};

int main(void)
{
	unsigned char out[8];
	size_t size;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		ok(base64url_decode(text_of(good[i].text), out, sizeof out, &size) &&
			   text_equal((struct text){(char *)out, size}, text_of(good[i].bytes)),
		   good[i].text);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!base64url_decode(text_of(bad[i].text), out, sizeof out, &size), bad[i].why);
	ok(!base64url_decode((struct text){"Zm\0v", 4}, out, sizeof out, &size), "a byte that is zero");
	ok(base64url_decode(text_of("Zm9vYmFy"), out, 6, &size) && size == 6, "exactly the room");
	out[5] = 'x';
	ok(!base64url_decode(text_of("Zm9vYmFy"), out, 5, &size) && out[5] == 'x', "a byte too many");
	for (size_t count = 0; count < 200; count++)
		if (count * 3 / 4 > BASE64URL_BYTES(count))
			ok(false, "the room that BASE64URL_BYTES says is enough");
	return done_testing();
}
