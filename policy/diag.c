/* SPDX-License-Identifier: BSD-2-Clause */
/* diag: keeping the findings that will be shown. */
#include "policy/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy/load.h"
#include "policy/utf8.h"

#define MESSAGE_MAX	600
#define SOURCE_LINE_MAX 240 /* a longer line is not shown: the caret would be lost in it */

static unsigned order_of(const struct load *load, const char *file)
{
	for (size_t i = 0; i < load->source_count; i++)
		if (load->sources[i]->name == file)
			return (unsigned)i;
	return UINT32_MAX;
}

static int compare(const struct diag_finding *a, const struct diag_finding *b)
{
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	if (a->mark.line != b->mark.line)
		return a->mark.line < b->mark.line ? -1 : 1;
	if (a->mark.column != b->mark.column)
		return a->mark.column < b->mark.column ? -1 : 1;
	return 0;
}

/* Which kept finding gives way to `fresh` when all places are taken; the count if none does. */
static size_t victim(const struct diag *diag, const struct diag_finding *fresh)
{
	size_t last = diag->count;
	if (fresh->severity == POLICY_ERROR) {
		while (last > 0)
			if (diag->kept[--last].severity != POLICY_ERROR)
				return last;
		last = diag->count;
	}
	while (last > 0) {
		const struct diag_finding *kept = &diag->kept[--last];
		if (kept->severity >= fresh->severity)
			return compare(fresh, kept) < 0 ? last : diag->count;
	}
	return diag->count;
}

static void report(struct load *load, enum policy_severity severity, struct model_mark mark, char *message)
{
	struct diag *diag = &load->diag;
	struct diag_finding fresh = {severity, order_of(load, mark.file), mark, NULL};

	if (severity == POLICY_ERROR)
		diag->errors++;
	else
		diag->warnings++;
	if (diag->count == POLICY_FINDINGS_MAX) {
		size_t out = victim(diag, &fresh);
		if (out == diag->count)
			return;
		memmove(&diag->kept[out], &diag->kept[out + 1],
			(diag->count - out - 1) * sizeof diag->kept[0]);
		diag->count--;
	}
	utf8_show(message);
	fresh.message = arena_text(&load->arena, message, strlen(message)).data;

	size_t at = diag->count;
	while (at > 0 && compare(&fresh, &diag->kept[at - 1]) < 0)
		at--;
	memmove(&diag->kept[at + 1], &diag->kept[at], (diag->count - at) * sizeof diag->kept[0]);
	diag->kept[at] = fresh;
	diag->count++;
}

void diag_error(struct load *load, struct model_mark mark, const char *format, ...)
{
	char message[MESSAGE_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	report(load, POLICY_ERROR, mark, message);
}

void diag_warning(struct load *load, struct model_mark mark, const char *format, ...)
{
	char message[MESSAGE_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	report(load, POLICY_WARNING, mark, message);
}

/* The line a mark is in, malloc()ed; NULL if there is none to show. */
static char *line_of(const struct load *load, const struct model_mark *mark)
{
	unsigned order = order_of(load, mark->file);
	if (order == UINT32_MAX)
		return NULL;
	struct text line = source_line(load->sources[order], mark->line);
	if (line.size == 0 || line.size > SOURCE_LINE_MAX)
		return NULL;
	char *copy = strndup(line.data, line.size);
	if (copy)
		utf8_show(copy);
	return copy;
}

void diag_hand_over(const struct load *load, struct policy *out)
{
	const struct diag *diag = &load->diag;

	out->errors = diag->errors;
	out->warnings = diag->warnings;
	for (size_t i = 0; i < diag->count; i++) {
		const struct diag_finding *from = &diag->kept[i];
		struct policy_finding *to = &out->findings[out->finding_count];
		char *message = strdup(from->message);
		char *file = strdup(from->mark.file ? from->mark.file : "policy");
		if (!message || !file) {
			free(message);
			free(file);
			return;
		}
		*to = (struct policy_finding){from->severity,
					      file,
					      from->mark.line ? from->mark.line : 1,
					      from->mark.column ? from->mark.column : 1,
					      from->mark.width ? from->mark.width : 1,
					      message,
					      line_of(load, &from->mark)};
		out->finding_count++;
	}
}
