/* SPDX-License-Identifier: BSD-2-Clause */
/* writer: see the header. */
#include "flow/writer.h"

void writer_text(struct writer *writer, struct text text)
{
	if (writer->full || text.size > writer->size - writer->used) {
		writer->full = true;
		return;
	}
	if (text.size)
		memcpy(writer->data + writer->used, text.data, text.size);
	writer->used += text.size;
}

static void byte(struct writer *writer, char c)
{
	writer_text(writer, (struct text){&c, 1});
}

void writer_number(struct writer *writer, uint64_t number)
{
	char digits[20];
	size_t at = sizeof digits;

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	writer_text(writer, (struct text){digits + at, sizeof digits - at});
}

void writer_field_string(struct writer *writer, struct text text)
{
	byte(writer, '"');
	for (size_t i = 0; i < text.size; i++) {
		char c = text.data[i];
		if (c == '"' || c == '\\')
			byte(writer, '\\');
		byte(writer, c >= ' ' && c <= '~' ? c : '?');
	}
	byte(writer, '"');
}

/* Length of a well-formed UTF-8 sequence at the start of text, 0 if there is none (RFC 3629). */
static size_t utf8_length(const unsigned char *s, size_t size)
{
	size_t length = s[0] < 0x80   ? 1
			: s[0] < 0xc2 ? 0
			: s[0] < 0xe0 ? 2
			: s[0] < 0xf0 ? 3
			: s[0] < 0xf5 ? 4
				      : 0;

	if (length > size)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

void writer_json(struct writer *writer, struct text text)
{
	static const char hex[] = "0123456789abcdef";

	byte(writer, '"');
	for (size_t i = 0; i < text.size;) {
		unsigned char c = (unsigned char)text.data[i];
		size_t length = utf8_length((const unsigned char *)text.data + i, text.size - i);

		if (c == '"' || c == '\\') {
			byte(writer, '\\');
			byte(writer, (char)c);
		} else if (c < ' ') {
			char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
			writer_text(writer, (struct text){escape, sizeof escape});
		} else if (length) {
			writer_text(writer, (struct text){text.data + i, length});
		} else {
			byte(writer, '?');
		}
		i += length ? length : 1;
	}
	byte(writer, '"');
}

void writer_percent(struct writer *writer, struct text text)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];
		if (c >= ' ' && c <= '~' && c != '%') {
			byte(writer, (char)c);
		} else {
			char escape[3] = {'%', hex[c >> 4], hex[c & 15]};
			writer_text(writer, (struct text){escape, sizeof escape});
		}
	}
}
