/* SPDX-License-Identifier: BSD-2-Clause */
/* instead: what a client gets in place of a refusal. */
#include <stdio.h>

#include "policy/bytes.h"
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define URL_MAX 2048u

static bool begins(struct text text, const char *word)
{
	size_t size = strlen(word);

	return text.size > size && text_equal_folded((struct text){text.data, size}, text_of(word));
}

/* What can stand in a Location line, and means the same to every browser: `\` would be a slash to some. */
static bool url_byte(char c)
{
	return c > ' ' && c < 0x7f && !strchr("\\\"<>^`{|}", c);
}

static void read_challenge(struct load *load, const struct node *node, struct text url,
			   struct model_limit *limit)
{
	bool whole = begins(url, "https://") || begins(url, "http://");
	struct model_mark mark = url.size ? yaml_mark_part(node, url) : node->mark;

	if (!url.size) {
		diag_error(load, mark, "'challenge' goes to a page: write challenge /verify");
		return;
	}
	if (!whole && (url.data[0] != '/' || (url.size > 1 && url.data[1] == '/'))) {
		diag_error(
			load, mark,
			"'%.*s' is no place to go; write a path that begins with one /, or https://host/path",
			SHOW(url));
		return;
	}
	if (whole && strchr("/?#", ((const char *)memchr(url.data, ':', url.size))[3])) {
		diag_error(load, mark, "'%.*s' names no host", SHOW(url));
		return;
	}
	for (size_t i = 0; i < url.size; i++)
		if (!url_byte(url.data[i]) || url.size > URL_MAX) {
			diag_error(load, mark,
				   "'%.*s' is no URL as it is sent: at most %u bytes, others than letters, "
				   "digits "
				   "and marks in %%XX",
				   SHOW(url), URL_MAX);
			return;
		}
	limit->instead = IMAGE_INSTEAD_CHALLENGE;
	limit->instead_to = url;
}

static void read_slow(struct load *load, const struct node *node, struct text speed,
		      struct model_limit *limit)
{
	struct model_mark mark = speed.size ? yaml_mark_part(node, speed) : node->mark;
	uint64_t bytes_per_s;
	char why[256] = "";

	if (!speed.size)
		diag_error(load, mark, "'slow' has a speed: write slow 50KB/s");
	else if (!bytes_rate_parse(speed, &bytes_per_s, NULL, why, sizeof why))
		diag_error(load, mark, "%s", why);
	else if (bytes_per_s < IMAGE_BYTES_MIN)
		diag_error(load, mark, "'slow' is at least 1KiB/s");
	else {
		limit->instead = IMAGE_INSTEAD_SLOW;
		limit->instead_bytes_per_s = bytes_per_s;
	}
}

void instead_read(struct load *load, const struct node *node, struct model_limit *limit)
{
	struct text text, word, rest = {"", 0};
	const char *blank;
	int number;

	if (!value_line(load, node, "instead", &text))
		return;
	blank = memchr(text.data, ' ', text.size);
	word = (struct text){text.data, blank ? (size_t)(blank - text.data) : text.size};
	if (blank)
		rest = value_trim((struct text){blank, text.size - word.size});
	if (!words_value_text(load, word, node->mark, "instead", &number) ||
	    !consequence_fits(load, node, "instead", limit))
		return;
	if (number == IMAGE_INSTEAD_CHALLENGE)
		read_challenge(load, node, rest, limit);
	else if (number == IMAGE_INSTEAD_SLOW)
		read_slow(load, node, rest, limit);
	else if (rest.size)
		diag_error(load, yaml_mark_part(node, rest), "'%.*s' stands alone", SHOW(word));
	else
		limit->instead = (uint32_t)number;
}
