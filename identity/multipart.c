/* SPDX-License-Identifier: BSD-2-Clause */
/* multipart: a line at a time, delimiters first. */
#include "identity/field_name.h"
#include "identity/media_type.h"
#include "identity/multipart.h"

struct part {
	uint32_t named; /* as wanted: a bit for each */
	bool described; /* by a Content-Disposition */
	bool has_name;
	bool odd; /* not what every reader takes for the same */
};

static bool parameter_is(struct text name, struct text wanted)
{
	return text_equal_folded(name, wanted);
}

static bool boundary_of(struct text content_type, struct text *out)
{
	struct media_parameter p;
	bool odd = false, found = false;

	while (media_parameter(&content_type, &p, &odd)) {
		if (!parameter_is((struct text){p.name.data, p.name.size < 8 ? p.name.size : 8},
				  TEXT("boundary")))
			continue;
		odd |= p.name.size >
		       8; /* boundary*, boundary*0: to those who know RFC 2231 it is the boundary */
		/* a quote in single ones is a part of it, or not */
		odd |= found || !p.value.size ||
		       (p.quoted && (p.value.data[-1] == '\'' || memchr(p.value.data, '\\', p.value.size)));
		*out = p.value;
		found = true;
	}
	return found && !odd;
}

/* With its line feed. */
static struct text line_at(struct text body, size_t at)
{
	const char *end = memchr(body.data + at, '\n', body.size - at);

	return (struct text){body.data + at, end ? (size_t)(end + 1 - (body.data + at)) : body.size - at};
}

static struct text without_end(struct text line)
{
	if (line.size && line.data[line.size - 1] == '\n')
		line.size--;
	if (line.size && line.data[line.size - 1] == '\r')
		line.size--;
	return line;
}

enum delimiter { NONE, BEGINS, ENDS, ODD };

static enum delimiter delimiter(struct text line, struct text boundary)
{
	if (line.size < boundary.size + 2 || memcmp(line.data, "--", 2) != 0 ||
	    memcmp(line.data + 2, boundary.data, boundary.size) != 0)
		return NONE;
	bool ended = line.data[line.size - 1] == '\n';
	line = without_end(line);
	line.data += boundary.size + 2;
	line.size -= boundary.size + 2;
	enum delimiter kind = BEGINS;
	if (line.size >= 2 && memcmp(line.data, "--", 2) == 0) {
		kind = ENDS;
		line.data += 2;
		line.size -= 2;
	} else if (!ended) {
		return ODD;
	}
	for (size_t i = 0; i < line.size; i++)
		if (line.data[i] != ' ' && line.data[i] != '\t')
			return ODD;
	return kind;
}

/* `\"` and `\\` as most write them, then %22, %0D, %0A as browsers do (WHATWG HTML 4.10.21.8). */
static struct text unquoted(const struct media_parameter *p, bool percent, char *out)
{
	size_t size = 0;

	for (size_t i = 0; i < p->value.size; i++) {
		char c = p->value.data[i];
		if (p->quoted && c == '\\' && i + 1 < p->value.size &&
		    (p->value.data[i + 1] == '"' || p->value.data[i + 1] == '\\')) {
			c = p->value.data[++i];
		} else if (percent && c == '%' && p->value.size - i > 2) {
			struct text code = {p->value.data + i + 1, 2};
			char plain = text_equal(code, TEXT("22"))	   ? '"'
				     : text_equal_folded(code, TEXT("0d")) ? '\r'
				     : text_equal_folded(code, TEXT("0a")) ? '\n'
									   : 0;
			if (plain) {
				c = plain;
				i += 2;
			}
		}
		out[size++] = c;
	}
	return (struct text){out, size};
}

static void disposition(struct text value, const struct reading *reading, char *raw, struct part *part)
{
	struct media_parameter p;

	part->odd |= part->described || !text_equal_folded(media_type(value), TEXT("form-data"));
	part->described = true;
	while (media_parameter(&value, &p, &part->odd)) {
		if (parameter_is(p.name, TEXT("name"))) {
			part->odd |= part->has_name;
			part->has_name = true;
			for (size_t i = 0; i < reading->count; i++)
				if (said_is_named(&reading->said[i], unquoted(&p, false, raw)) ||
				    said_is_named(&reading->said[i], unquoted(&p, true, raw)))
					part->named |= UINT32_C(1) << i;
		} else if (p.name.size > 5 && parameter_is((struct text){p.name.data, 5}, TEXT("name*"))) {
			part->odd = true; /* RFC 7578 forbids it, Go reads it */
		} else if (parameter_is(p.name, TEXT("name*"))) {
			part->odd = true;
		}
	}
}

static bool is_file(struct text value)
{
	static const struct text filename = {"filename", 8};
	struct media_parameter p;
	bool odd = false, file = false;

	while (media_parameter(&value, &p, &odd))
		file |= p.name.size >= filename.size &&
			parameter_is((struct text){p.name.data, filename.size}, filename);
	return file;
}

static void header(struct text line, const struct reading *reading, char *raw, struct part *part, bool *file)
{
	const char *colon = memchr(line.data, ':', line.size);

	if (line.data[0] == ' ' || line.data[0] == '\t' || !colon) {
		part->odd = true;
		return;
	}
	size_t size = (size_t)(colon - line.data);
	struct text title = media_type((struct text){line.data, size});
	struct text value = {colon + 1, line.size - size - 1};
	part->odd |= title.size != size;
	if (text_equal_folded(title, TEXT("content-disposition"))) {
		disposition(value, reading, raw, part);
		*file |= is_file(value);
	} else if (text_equal_folded(title, TEXT("content-type"))) {
		part->odd |= !media_is_utf8(value);
	} else if (text_equal_folded(title, TEXT("content-transfer-encoding"))) {
		struct text how = media_type(value);
		part->odd |= !text_equal_folded(how, TEXT("7bit")) && !text_equal_folded(how, TEXT("8bit")) &&
			     !text_equal_folded(how, TEXT("binary"));
	}
}

/* From behind the delimiter to the next one, where it returns; body.size: it has none. */
static size_t read_part(struct text body, size_t at, bool whole, struct text boundary,
			struct reading *reading)
{
	char raw[BODY_MAX];
	struct part part = {0};
	bool file = false, ended = false;

	for (; !ended; at += line_at(body, at).size) {
		if (at == body.size)
			return at;
		struct text line = line_at(body, at);
		if (delimiter(line, boundary) != NONE) {
			reading->doubtful = true;
			return at;
		}
		if (line.data[line.size - 1] != '\n')
			return body.size;
		line = without_end(line);
		ended = line.size == 0;
		if (!ended)
			header(line, reading, raw, &part, &file);
	}
	size_t from = at;
	while (at < body.size && delimiter(line_at(body, at), boundary) == NONE)
		at += line_at(body, at).size;
	reading->doubtful |= part.odd || !part.has_name;
	for (size_t i = 0; i < reading->count; i++) {
		struct said *said = &reading->said[i];
		if (!(part.named >> i & 1))
			continue;
		if (file)
			said->doubtful = true;
		else if (at == body.size)
			said->doubtful |= whole; /* nobody has ended it: PHP takes it all the same */
		else
			said_value(reading, said, without_end((struct text){body.data + from, at - from}));
	}
	return at;
}

void multipart_read(struct text content_type, struct text body, bool whole, struct reading *reading)
{
	struct text boundary;

	if (!boundary_of(content_type, &boundary)) {
		reading->doubtful = true;
		return;
	}
	/* also behind the last delimiter, where PHP goes on reading */
	for (size_t at = 0; at < body.size;) {
		struct text line = line_at(body, at);
		enum delimiter kind = delimiter(line, boundary);
		at += line.size;
		if (kind == ODD)
			reading->doubtful |= whole || at < body.size;
		else if (kind == BEGINS)
			at = read_part(body, at, whole, boundary, reading);
	}
}
