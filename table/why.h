/* SPDX-License-Identifier: BSD-2-Clause */
/* why: the sentence that goes with an error, naming the thing and the reason. */
#ifndef WEIR_TABLE_WHY_H
#define WEIR_TABLE_WHY_H

#include <stdarg.h>
#include <stdio.h>

#include "table/error.h"

struct why {
	char *text; /* NULL: nobody asks */
	size_t size;
};

/* Writes the sentence and returns `error`, so that a failure is one line. */
__attribute__((format(printf, 3, 4))) static inline enum weir_error
why_error(const struct why *why, enum weir_error error, const char *format, ...)
{
	if (why->text && why->size) {
		va_list arguments;
		va_start(arguments, format);
		vsnprintf(why->text, why->size, format, arguments);
		va_end(arguments);
	}
	return error;
}

#endif
