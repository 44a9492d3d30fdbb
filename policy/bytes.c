/* SPDX-License-Identifier: BSD-2-Clause */
/* bytes: reading "1MiB/s after 500KiB". */
#include "policy/bytes.h"

#include <stdio.h>

#include "policy/image.h"
#include "policy/rate.h"
#include "policy/value.h"

#define SHOWN(text) (int)((text).size < 40 ? (text).size : 40), ((text).data ? (text).data : "")

/* `nginx`: its own way to write a size, which is then a bandwidth without a word more. */
static const struct {
	const char *word;
	uint64_t bytes;
	bool folded, nginx;
} units[] = {
	{"B", 1, false, false},
	{"KB", 1000, false, false},
	{"kB", 1000, false, false},
	{"MB", 1000000, false, false},
	{"GB", 1000000000, false, false},
	{"KiB", UINT64_C(1) << 10, true, false},
	{"MiB", UINT64_C(1) << 20, true, false},
	{"GiB", UINT64_C(1) << 30, true, false},
	{"k", UINT64_C(1) << 10, true, true},
	{"m", UINT64_C(1) << 20, true, true},
	{"g", UINT64_C(1) << 30, true, true},
};

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "1mbit/s", "1mbps": the same in bytes. False: it is none of these, or not whole bytes. */
static bool tell_bits(struct text text, struct text word, uint64_t thousandths, char *why, size_t size)
{
	static const struct {
		const char *word, *per;
		uint64_t bits;
	} bits[] = {{"bit", "", 1},	      {"kbit", "", 1000},	 {"mbit", "", 1000000},
		    {"gbit", "", 1000000000}, {"bps", "/s", 1},		 {"kbps", "/s", 1000},
		    {"mbps", "/s", 1000000},  {"gbps", "/s", 1000000000}};
	const char *behind = word.data + word.size;

	if (memchr(word.data, 'B', word.size)) /* MBps */
		return false;

	for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
		unsigned __int128 eighths = (unsigned __int128)bits[i].bits * thousandths;
		uint64_t bytes = eighths <= IMAGE_BYTES_MAX * (unsigned __int128)8000
					 ? (uint64_t)(eighths / 8000)
					 : 0;
		bool slash = behind < text.data + text.size && *behind == '/';

		if (!text_equal_folded(word, text_of(bits[i].word)) || bytes == 0 || eighths % 8000 != 0)
			continue;
		snprintf(why, size, "'%.*s' is bits; write bytes: %llu%s%s",
			 SHOWN(((struct text){text.data, (size_t)(behind - text.data)})),
			 (unsigned long long)(bytes % 1000000 == 0 ? bytes / 1000000
					      : bytes % 1000 == 0  ? bytes / 1000
								   : bytes),
			 bytes % 1000000 == 0 ? "MB"
			 : bytes % 1000 == 0  ? "KB"
					      : "B",
			 slash ? "/s" : bits[i].per);
		return true;
	}
	return false;
}

/* What the letters behind a number are, if they are no unit. */
static bool complain(struct text text, struct text word, uint64_t thousandths, char *why, size_t size)
{
	if (tell_bits(text, word, thousandths, why, size))
		return false;
	bool bits = word.size > 1 && (word.data[word.size - 1] == 'b' || word.data[1] == 'b');

	if (word.size == 0)
		snprintf(why, size, "'%.*s' has no unit; units are B, KB, KiB, MB, MiB, GB, GiB",
			 SHOWN(text));
	else if (bits)
		snprintf(why, size,
			 "'%.*s' could be bits; write bytes, with a capital B: KB, KiB, MB, MiB, GB, GiB",
			 SHOWN(word));
	else
		snprintf(why, size, "unknown unit '%.*s'; units are B, KB, KiB, MB, MiB, GB, GiB",
			 SHOWN(word));
	return false;
}

/* A number and its unit, from the beginning of *rest. */
static bool read_size(struct text *rest, uint64_t *bytes, bool *nginx, char *why, size_t size)
{
	struct text all = *rest, word;
	uint64_t thousandths;

	if (!rate_decimal(rest, &thousandths)) {
		snprintf(why, size,
			 "'%.*s' is not a size like 500KiB, 1MiB or 1.5MB (at most three decimals)",
			 SHOWN(all));
		return false;
	}
	*rest = value_trim(*rest);
	word = (struct text){rest->data, 0};
	while (word.size < rest->size && letter(rest->data[word.size]))
		word.size++;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		struct text unit = text_of(units[i].word);
		unsigned __int128 exact = (unsigned __int128)units[i].bytes * thousandths / 1000;

		if (units[i].folded ? !text_equal_folded(word, unit) : !text_equal(word, unit))
			continue;
		if (exact > IMAGE_BYTES_MAX) {
			snprintf(why, size, "'%.*s' is out of range: at most 1024GiB", SHOWN(all));
			return false;
		}
		*bytes = (uint64_t)exact;
		*nginx = units[i].nginx;
		rest->data += word.size;
		rest->size -= word.size;
		return true;
	}
	return complain(all, word, thousandths, why, size);
}

static bool skip(struct text *rest, const char *word)
{
	struct text wanted = text_of(word);

	if (rest->size < wanted.size || !text_equal_folded((struct text){rest->data, wanted.size}, wanted))
		return false;
	rest->data += wanted.size;
	rest->size -= wanted.size;
	return true;
}

/* "/s", "per second"; whatever else a word there is. False: none, or not per second. */
static bool skip_second(struct text *rest)
{
	static const char *const seconds[] = {"seconds", "second", "sec", "s"};
	struct text after;

	*rest = value_trim(*rest);
	if (!skip(rest, "/") && !skip(rest, "per "))
		return false;
	*rest = value_trim(*rest);
	for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
		after = *rest;
		if (skip(&after, seconds[i]) && (after.size == 0 || !letter(after.data[0]))) {
			*rest = after;
			return true;
		}
	}
	return false;
}

bool bytes_rate_parse(struct text text, uint64_t *bytes_per_s, uint64_t *free_bytes, char *why, size_t size)
{
	struct text rest = text, behind;
	uint64_t bytes, after = 0;
	bool nginx, ignored;

	if (!read_size(&rest, &bytes, &nginx, why, size))
		return false;
	behind = value_trim(rest);
	if (!skip_second(&rest)) {
		struct text said = {text.data, behind.size ? (size_t)(behind.data - text.data) : text.size};

		if (!nginx || (behind.size > 0 && !letter(behind.data[0]))) {
			snprintf(why, size, "a bandwidth is per second: write %.*s/s",
				 SHOWN(value_trim(said)));
			return false;
		}
		rest = behind;
	}
	rest = value_trim(rest);
	if (free_bytes && skip(&rest, "after ")) {
		rest = value_trim(rest);
		if (!read_size(&rest, &after, &ignored, why, size))
			return false;
	}
	if (value_trim(rest).size > 0) {
		snprintf(why, size, "'%.*s' is not a bandwidth like 1MiB/s%s", SHOWN(text),
			 free_bytes ? " or 1MiB/s after 500KiB" : "");
		return false;
	}
	*bytes_per_s = bytes;
	if (free_bytes)
		*free_bytes = after;
	return true;
}

bool bytes_size_parse(struct text text, uint64_t *bytes, char *why, size_t size)
{
	struct text rest = text;
	uint64_t said;
	bool ignored;

	if (!read_size(&rest, &said, &ignored, why, size))
		return false;
	if (value_trim(rest).size > 0) {
		snprintf(why, size, "'%.*s' is not a size like 100MiB", SHOWN(text));
		return false;
	}
	*bytes = said;
	return true;
}
