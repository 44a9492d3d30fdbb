/* SPDX-License-Identifier: BSD-2-Clause */
/* normalise: the spellings of a name that are one, and those that are not. */
#include <stdlib.h>
#include <utf8proc.h>

#include "identity/normalise.h"
#include "tests/tap.h"

static const struct {
	const char *from, *to, *why;
} NAMES[] = {
	{"alice", "alice", "as it is"},
	{"ALICE@Example.COM", "alice@example.com", "case"},
	{"  alice\t\r\n", "alice", "white space at its ends"},
	{"al ice", "al ice", "... not inside"},
	{"\x01\x1f"
	 "alice\x7f",
	 "alice", "control characters at its ends (Java trims them)"},
	{"\xc2\xa0"
	 "alice\xe2\x80\x83\xe3\x80\x80",
	 "alice", "no-break, em and ideographic space"},
	{"\xef\xbb\xbf"
	 "alice\xe2\x80\x8b",
	 "alice", "byte order mark, zero width space"},
	{" \t ", "", "nothing but white space"},
	{"", "", "nothing"},
	{"Jos\xc3\x89", "jos\xc3\xa9", "a composed letter"},
	{"JOSE\xcc\x81", "jos\xc3\xa9", "... and the same decomposed"},
	{"Stra\xc3\x9f"
	 "e",
	 "strasse", "sharp s is folded to two"},
	{"STRASSE", "strasse", "... as its capitals are"},
	{"\xe2\x84\xaa"
	 "elvin",
	 "kelvin", "the kelvin sign is a k"},
	{"\xc3\x85", "\xc3\xa5", "a with ring"},
	{"\xe2\x84\xab", "\xc3\xa5", "... is the angstrom sign"},
	{"\xce\xa3\xce\xaf\xcf\x83\xcf\x85\xcf\x86\xce\xbf\xcf\x82",
	 "\xcf\x83\xce\xaf\xcf\x83\xcf\x85\xcf\x86\xce\xbf\xcf\x83", "a final sigma is a sigma"},
	{"q\xcc\x87\xcc\xa3", "q\xcc\xa3\xcc\x87", "marks in one order"},
	{"\xef\xbd\x81lice", "\xef\xbd\x81lice", "full width is another letter (NFC, not NFKC)"},
	{"\xef\xac\x81n", "fin", "a ligature is what its case folding says"},
	{"ALICE\xff", "alice\xff", "not UTF-8: ASCII is folded, bytes are kept"},
	{"\xc3", "\xc3", "... a piece of a letter"},
	{"\xe9T\xc9", "\xe9t\xc9", "... Latin-1"},
	{"\xed\xa0\x80"
	 "A",
	 "\xed\xa0\x80"
	 "a",
	 "... a surrogate"},
	{"\xc0\xaf"
	 "A",
	 "\xc0\xaf"
	 "a",
	 "... overlong"},
};

static size_t put(uint32_t code, char *out)
{
	return (size_t)utf8proc_encode_char((utf8proc_int32_t)code, (utf8proc_uint8_t *)out);
}

/* Is it one for good? */
static bool settled(const char *text, size_t size)
{
	char once[256], twice[256];
	size_t a = normalise((struct text){text, size}, once, sizeof once);
	size_t b = normalise((struct text){once, a}, twice, sizeof twice);

	return a == b && memcmp(once, twice, a) == 0;
}

int main(void)
{
	static char long_name[9000], out[9000];
	char text[64];

	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
		size_t size = normalise(text_of(NAMES[i].from), out, sizeof out - 1);
		out[size] = 0;
		is_str(out, NAMES[i].to, NAMES[i].why);
	}

	uint32_t changes = 0, grows = 0;
	for (uint32_t code = 1; code < 0x110000; code++) {
		if (code >= 0xd800 && code < 0xe000)
			continue;
		size_t size = put(code, text);
		changes += !settled(text, size);
		size = normalise((struct text){text, size}, out, sizeof out);
		grows += size > 3 * put(code, text);
	}
	is_u64(changes, 0, "every character, normalised twice, is the same as once");
	is_u64(grows, 0, "... and is at most three times as long");

	unsigned seed = 1;
	changes = 0;
	for (int i = 0; i < 300000; i++) {
		static const uint32_t from[] = {0x41,	0x300,	0x345, 0x370,  0x1f00,
						0x1100, 0xac00, 0x590, 0x1e00, 0xfb00};
		size_t size = 0;
		for (int n = rand_r(&seed) % 6; n >= 0; n--)
			size += put(from[rand_r(&seed) % 10] + (unsigned)rand_r(&seed) % 64, text + size);
		changes += !settled(text, size);
	}
	is_u64(changes, 0, "300,000 random texts of letters and marks, too");

	memset(long_name, 'A', sizeof long_name);
	is_u64(normalise((struct text){long_name, sizeof long_name}, out, 1024), 1024, "a long one is cut");
	ok(out[0] == 'a' && out[1023] == 'a', "... and folded");
	for (size_t i = 0; i + 1 < sizeof long_name; i += 2)
		memcpy(long_name + i, "\xc3\x89", 2);
	is_u64(normalise((struct text){long_name, 9000}, out, 1023), 1022, "... between its characters");
	memset(long_name, ' ', 5000);
	memcpy(long_name + 5000, "Bob", 3);
	memset(long_name + 5003, '\t', 3000);
	is_u64(normalise((struct text){long_name, 8003}, out, 1024), 3,
	       "no white space is too long to be cut off");
	ok(memcmp(out, "bob", 3) == 0, "... what is inside is found");
	memset(long_name, 0x80, sizeof long_name);
	is_u64(normalise((struct text){long_name, sizeof long_name}, out, 1024), 1024,
	       "bytes that are no text are cut, too");
	return done_testing();
}
