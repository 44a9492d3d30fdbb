/* SPDX-License-Identifier: BSD-2-Clause */
/* import_yaml: writing YAML. */
#include "cli/import_yaml.h"

#include <stdlib.h>
#include <string.h>

#include "policy/utf8.h"

void import_yaml_comment(FILE *out, struct text text)
{
	char *shown = strndup(text.data, text.size);
	if (shown)
		utf8_show(shown);
	fputs(shown ? shown : "?", out);
	free(shown);
}

static bool letter(char c)
{
	return text_lower(c) >= 'a' && text_lower(c) <= 'z';
}

/* Of these bytes no number, date, truth value or sign of YAML is made. */
static bool bare(struct text text)
{
	static const char *const WORDS[] = {"yes", "no", "on", "off", "true", "false", "null", "y", "n"};
	if (text.size == 0 || !(letter(text.data[0]) || text.data[0] == '/'))
		return false;
	for (size_t i = 0; i < text.size; i++) {
		char c = text.data[i];
		if (!letter(c) && !(c >= '0' && c <= '9') && !strchr("/-_.", c) && !(c == '*' && i > 0))
			return false;
	}
	for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
		if (text_equal_folded(text, text_of(WORDS[i])))
			return false;
	return true;
}

static bool is_network(struct text text)
{
	size_t digits = 0;
	for (size_t i = 0; i < text.size; i++) {
		digits += text.data[i] >= '0' && text.data[i] <= '9';
		if (!(text.data[i] >= '0' && text.data[i] <= '9') && text.data[i] != '.' &&
		    text.data[i] != '/')
			return false;
	}
	return digits > 3 && memchr(text.data, '.', text.size) != memrchr(text.data, '.', text.size);
}

void import_yaml_text(FILE *out, struct text text)
{
	if (bare(text) || is_network(text)) {
		fwrite(text.data, 1, text.size, out);
		return;
	}
	putc('\'', out);
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] == '\'')
			putc('\'', out);
		if (text.data[i] == '$' && i + 1 < text.size && text.data[i + 1] == '{')
			putc('$', out); /* not the environment */
		putc(text.data[i], out);
	}
	putc('\'', out);
}

void import_yaml_texts(FILE *out, const struct import_texts *texts)
{
	if (texts->count != 1)
		putc('[', out);
	for (size_t i = 0; i < texts->count; i++) {
		fputs(i ? ", " : "", out);
		import_yaml_text(out, texts->items[i]);
	}
	if (texts->count != 1)
		putc(']', out);
}
