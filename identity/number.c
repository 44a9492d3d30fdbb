/* SPDX-License-Identifier: BSD-2-Clause */
/* number: digits and where their point is. */
#include <stdio.h>

#include "identity/number.h"

#define EXPONENT_MAX 1000000 /* beyond it every number is the same to us */
#define DIGITS	     15	     /* of a fraction that are told apart */
#define DIGITS_WHOLE 100     /* of a whole number */

struct decimal {
	bool negative;
	struct text whole, fraction; /* digits only; one of them may be empty */
	long point;		     /* how many digits stand before it: whole.size + exponent */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct text digits(struct text *rest)
{
	struct text run = {rest->data, 0};

	while (rest->size && is_digit(*rest->data)) {
		rest->data++;
		rest->size--;
		run.size++;
	}
	return run;
}

static bool take(struct text *rest, const char *any)
{
	if (!rest->size || !*rest->data || !strchr(any, *rest->data))
		return false;
	rest->data++;
	rest->size--;
	return true;
}

static bool split(struct text rest, struct decimal *out)
{
	static const char SPACE[] = " \t\r\n";
	long exponent = 0;

	while (take(&rest, SPACE))
		;
	out->negative = rest.size && *rest.data == '-';
	take(&rest, "+-");
	out->whole = digits(&rest);
	out->fraction = (struct text){rest.data, 0};
	if (take(&rest, "."))
		out->fraction = digits(&rest);
	if (!out->whole.size && !out->fraction.size)
		return false;
	if (take(&rest, "eE")) {
		bool down = rest.size && *rest.data == '-';
		take(&rest, "+-");
		struct text power = digits(&rest);
		if (!power.size)
			return false;
		for (size_t i = 0; i < power.size && exponent < EXPONENT_MAX; i++)
			exponent = exponent * 10 + (power.data[i] - '0');
		if (down)
			exponent = -exponent;
	}
	while (take(&rest, SPACE))
		;
	out->point = (long)out->whole.size + exponent;
	return rest.size == 0;
}

static size_t count(const struct decimal *decimal)
{
	return decimal->whole.size + decimal->fraction.size;
}

static char digit(const struct decimal *decimal, size_t i)
{
	return i < decimal->whole.size ? decimal->whole.data[i]
				       : decimal->fraction.data[i - decimal->whole.size];
}

bool number_read(struct text written, uint32_t *out)
{
	struct decimal decimal;
	uint64_t value = 0;
	bool more = false, any = false;

	if (!split(written, &decimal))
		return false;
	for (size_t i = 0; i < count(&decimal); i++) {
		char d = digit(&decimal, i);
		any |= d != '0';
		if ((long)i >= decimal.point)
			more |= d != '0';
		else if (value <= UINT32_MAX)
			value = value * 10 + (uint64_t)(d - '0');
	}
	if (decimal.negative && any)
		return false;
	for (long i = (long)count(&decimal); i < decimal.point && value && value <= UINT32_MAX; i++)
		value *= 10;
	value += more;
	*out = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
	return true;
}

size_t number_spell(struct text written, char out[static NUMBER_TEXT_MAX])
{
	struct decimal decimal;
	char kept[DIGITS_WHOLE + 1];
	size_t first = 0, size = 0, most, end;

	if (!split(written, &decimal))
		return 0;
	end = count(&decimal);
	while (first < end && digit(&decimal, first) == '0')
		first++;
	while (end > first && digit(&decimal, end - 1) == '0')
		end--;
	if (first == end)
		return (size_t)snprintf(out, NUMBER_TEXT_MAX, "0");
	bool whole = (long)end <= decimal.point && end - first <= DIGITS_WHOLE;
	long power = decimal.point - (long)first; /* of the first digit, if it stood behind the point */
	most = whole ? DIGITS_WHOLE : DIGITS;
	while (first + size < end && size < most) {
		kept[size] = digit(&decimal, first + size);
		size++;
	}
	if (first + size < end && digit(&decimal, first + size) >= '5') {
		while (size && kept[size - 1] == '9')
			size--;
		if (size) {
			kept[size - 1]++;
		} else {
			kept[size++] = '1';
			power++;
		}
	}
	while (size > 1 && kept[size - 1] == '0')
		size--;
	kept[size] = 0;
	const char *sign = decimal.negative ? "-" : "";
	long zeros = power - (long)size;
	if (zeros < 0 || power > DIGITS_WHOLE)
		return (size_t)snprintf(out, NUMBER_TEXT_MAX, "%s%se%ld", sign, kept, zeros);
	return (size_t)snprintf(out, NUMBER_TEXT_MAX, "%s%s%.*s", sign, kept, (int)zeros,
				"00000000000000000000000000000000000000000000000000"
				"00000000000000000000000000000000000000000000000000");
}
