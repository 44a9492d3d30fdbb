/* SPDX-License-Identifier: BSD-2-Clause */
/* number: rounded up by its digits; one spelling of a value. */
#include <stdlib.h>

#include "identity/number.h"
#include "tests/tap.h"

static const struct {
	const char *written;
	int64_t amount; /* -1: none */
	const char *spelled;
} NUMBERS[] = {
	{"0", 0, "0"},
	{"-0", 0, "0"},
	{"-0.0e5", 0, "0"},
	{"1", 1, "1"},
	{"1.0", 1, "1"},
	{"1e0", 1, "1"},
	{"10e-1", 1, "1"},
	{"0.1E1", 1, "1"},
	{"1.0000000000000000000000001", 2, "1"},
	{"0.9999999999999999999", 1, "1"},
	{"1.2", 2, "12e-1"},
	{"12.999999999999", 13, "12999999999999e-12"},
	{"1e2", 100, "100"},
	{"1.5e1", 15, "15"},
	{"1.55e1", 16, "155e-1"},
	{"1e-400", 1, "1e-400"},
	{"4294967295", 4294967295, "4294967295"},
	{"4294967295.5", 4294967295, "42949672955e-1"},
	{"4294967296", 4294967295, "4294967296"},
	{"1e999999999999999999999", 4294967295, "1e9999999"},
	{"0e999999999999999999999", 0, "0"},
	{"1e-999999999999999999999", 1, "1e-9999999"},
	{"123456789012345678901234567890", 4294967295, "123456789012345678901234567890"},
	{"1234567890123456789", 4294967295, "1234567890123456789"},
	{"-1", -1, "-1"},
	{"-0.5", -1, "-5e-1"},
	{" 7\n", 7, "7"},
	{"+5", 5, "5"},
	{"05", 5, "5"},
	{".5", 1, "5e-1"},
	{"5.", 5, "5"},
	{"", -1, ""},
	{"-", -1, ""},
	{".", -1, ""},
	{"e5", -1, ""},
	{"1e", -1, ""},
	{"1e+", -1, ""},
	{"0x10", -1, ""},
	{"1,5", -1, ""},
	{"1 2", -1, ""},
	{"NaN", -1, ""},
	{"Infinity", -1, ""},
	{"\xd9\xa1", -1, ""},
};

int main(void)
{
	for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
		uint32_t amount = 0;
		char spelled[NUMBER_TEXT_MAX + 1] = "";
		bool found = number_read(text_of(NUMBERS[i].written), &amount);
		is_u64(found ? (int64_t)amount : -1, NUMBERS[i].amount, NUMBERS[i].written);
		size_t size = number_spell(text_of(NUMBERS[i].written), spelled);
		spelled[size] = 0;
		is_str(spelled, NUMBERS[i].spelled, "... and spelled");
	}

	/* whatever its digits, it fits and means the same number */
	unsigned seed = 1, wrong = 0, loose = 0;
	for (int i = 0; i < 200000; i++) {
		char written[80], spelled[NUMBER_TEXT_MAX + 1];
		size_t size = 0;
		size_t whole = (unsigned)rand_r(&seed) % 20, fraction = (unsigned)rand_r(&seed) % 20;
		while (size < whole)
			written[size++] = (char)('0' + rand_r(&seed) % 10);
		if (size == 0)
			written[size++] = '0';
		written[size++] = '.';
		for (size_t n = 0; n <= fraction; n++)
			written[size++] = (char)('0' + rand_r(&seed) % 10);
		snprintf(written + size, sizeof written - size, "e%d", rand_r(&seed) % 60 - 30);
		size = number_spell(text_of(written), spelled);
		wrong += size == 0 || size > NUMBER_TEXT_MAX;
		spelled[size < NUMBER_TEXT_MAX ? size : NUMBER_TEXT_MAX] = 0;
		double a = strtod(written, NULL), b = strtod(spelled, NULL);
		loose += !(a == b || (a - b < 1e-14 * a && b - a < 1e-14 * a));
		char again[NUMBER_TEXT_MAX + 1];
		size_t more = number_spell((struct text){spelled, size}, again);
		wrong += more != size || memcmp(again, spelled, size) != 0;
	}
	is_u64(wrong, 0, "200,000 random ones: spelled once is spelled for good");
	is_u64(loose, 0, "... and is the same number to 14 digits");
	return done_testing();
}
