/* SPDX-License-Identifier: BSD-2-Clause */
/* out: errors, documents, and the escaping of whatever a client sent. */
#include "cli/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool out_as_json, out_silent;
static json_t *pending; /* an error, until a document says more */

static void remember(const char *name, const char *message, const char *cure)
{
	if (!out_as_json || pending || out_silent)
		return;
	json_t *error = json_object();
	if (name)
		json_object_set_new(error, "name", json_string(name));
	json_object_set_new(error, "message", out_own(text_of(message)));
	if (cure && *cure)
		json_object_set_new(error, "cure", json_string(cure));
	pending = json_pack("{s:o}", "error", error);
}

void out_error(const char *format, ...)
{
	char message[2048];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	fflush(stdout);
	if (!out_silent)
		fprintf(stderr, "weir: %s\n", message);
	remember(NULL, message, NULL);
}

int out_failure_cure(enum weir_error error, const char *why, const char *cure)
{
	const char *sentence = why && *why ? why : weir_error_sentence(error);
	fflush(stdout);
	if (!out_silent)
		fprintf(stderr, "weir: %s\n", sentence);
	if (*cure && !out_silent)
		fprintf(stderr, "      cure: %s\n", cure);
	remember(weir_error_name(error), sentence, cure);
	return error == WEIR_BAD_POLICY ? STATUS_FINDINGS : STATUS_SYSTEM;
}

int out_failure(enum weir_error error, const char *why)
{
	/* SYSTEM's cure only says that the message says it */
	return out_failure_cure(error, why, error == WEIR_SYSTEM ? "" : weir_error_cure(error));
}

void out_document(json_t *document)
{
	json_decref(pending);
	pending = NULL;
	json_dumpf(document, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(document);
}

int out_finish(int status)
{
	if (pending)
		out_document(json_incref(pending));
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "weir: standard output: %s\n", strerror(errno));
	return STATUS_SYSTEM;
}

size_t out_escape(struct text text, char *out, size_t size)
{
	static const char HEX[] = "0123456789abcdef";
	size_t used = 0;
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];
		bool plain = c >= ' ' && c < 0x7f && c != '\\';
		/* the last four bytes are for "..." and NUL, unless this is the end */
		size_t needs = plain ? 1 : 4, rest = i + 1 == text.size ? 1 : 4;
		if (used + needs + rest > size) {
			for (int dot = 0; dot < 3 && used + 1 < size; dot++)
				out[used++] = '.';
			break;
		}
		if (plain) {
			out[used++] = (char)c;
			continue;
		}
		out[used++] = '\\';
		out[used++] = 'x';
		out[used++] = HEX[c >> 4];
		out[used++] = HEX[c & 15];
	}
	if (size > 0)
		out[used] = '\0';
	return used;
}

json_t *out_hostile(struct text text)
{
	char *out = malloc(text.size * 4 + 4);
	if (!out)
		return json_null();
	json_t *string = json_stringn(out, out_escape(text, out, text.size * 4 + 4));
	free(out);
	return string;
}

json_t *out_own(struct text text)
{
	json_t *string = json_stringn(text.data ? text.data : "", text.size);
	return string ? string : out_hostile(text);
}
