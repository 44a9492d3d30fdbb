/* SPDX-License-Identifier: BSD-2-Clause */
/* api_keys_csv: reading and writing tables. */
#include "cli/api_keys_csv.h"

#include <stdlib.h>
#include <string.h>

#include "cli/out.h"

#define COLUMNS_MAX 32u

struct csv {
	const char *path, *at, *end;
	size_t line;
	char *field; /* room for the longest that is possible */
};

enum after { COMMA, LINE, BROKEN };

/* The next field into csv->field, and what stands behind it. */
static enum after next(struct csv *csv)
{
	size_t n = 0;
	bool quoted = csv->at < csv->end && *csv->at == '"';
	csv->at += quoted;
	for (; csv->at < csv->end; csv->at++) {
		char c = *csv->at;
		if (quoted && c == '"' && (csv->at + 1 == csv->end || csv->at[1] != '"')) {
			quoted = false;
			csv->at++;
			if (csv->at < csv->end && !strchr(",\r\n", *csv->at))
				return BROKEN;
			break;
		}
		if (!quoted && strchr(",\r\n", c) && c)
			break;
		csv->at += quoted && c == '"';
		csv->line += c == '\n';
		csv->field[n++] = c;
	}
	csv->field[n] = '\0';
	if (quoted || strlen(csv->field) != n)
		return BROKEN;
	if (csv->at < csv->end && *csv->at == ',') {
		csv->at++;
		return COMMA;
	}
	if (csv->at < csv->end && *csv->at == '\r')
		csv->at++;
	if (csv->at < csv->end && *csv->at == '\n')
		csv->at++;
	return LINE;
}

static bool wrong(const struct csv *csv, size_t line, const char *what)
{
	out_error("%s:%zu: %s", csv->path, line, what);
	return false;
}

/* One line as an array of texts. NULL after saying what is wrong. */
static json_t *row_of(struct csv *csv)
{
	json_t *row = json_array();
	size_t line = csv->line;
	for (enum after after = COMMA; after == COMMA;) {
		after = next(csv);
		json_t *text = after == BROKEN ? NULL : json_string(csv->field);
		if (!text || json_array_size(row) == COLUMNS_MAX) {
			wrong(csv, line,
			      after == BROKEN ? "a quote that does not end, or stands amid a field"
			      : text	      ? "too many columns"
					      : "not UTF-8");
			json_decref(text);
			json_decref(row);
			return NULL;
		}
		json_array_append_new(row, text);
	}
	csv->line++;
	return row;
}

static bool each(struct csv *csv, json_t *names, bool (*tell)(void *context, json_t *row), void *context)
{
	while (csv->at < csv->end) {
		size_t line = csv->line, i;
		json_t *row = row_of(csv), *value;
		if (!row)
			return false;
		bool empty = json_array_size(row) == 1 && !*json_string_value(json_array_get(row, 0));
		bool good = empty || json_array_size(row) == json_array_size(names) ||
			    wrong(csv, line, "not as many fields as the first line");
		json_t *object = json_object();
		json_array_foreach(row, i, value) if (good && !empty && *json_string_value(value))
			json_object_set(object, json_string_value(json_array_get(names, i)), value);
		if (good && !empty && !tell(context, object)) {
			fprintf(stderr, "weir: at %s:%zu\n", csv->path, line);
			good = false;
		}
		json_decref(object);
		json_decref(row);
		if (!good)
			return false;
	}
	return true;
}

bool api_keys_csv(const char *path, const char *bytes, size_t size, bool (*tell)(void *context, json_t *row),
		  void *context)
{
	struct csv csv = {path, bytes, bytes + size, 1, malloc(size + 1)};
	if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		csv.at += 3;
	json_t *names = csv.field ? row_of(&csv) : NULL;
	bool good = names && each(&csv, names, tell, context);
	json_decref(names);
	if (csv.field)
		explicit_bzero(csv.field, size);
	free(csv.field);
	return good;
}

void api_keys_csv_write(FILE *out, const char *text, bool last)
{
	bool quote = strpbrk(text, ",\"\r\n") != NULL;
	if (quote)
		fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quote)
		fputc('"', out);
	fputc(last ? '\n' : ',', out);
}
