/* SPDX-License-Identifier: BSD-2-Clause */
/* writer: text into a buffer of fixed size. What does not fit sets `full` and is left out whole. */
#ifndef WEIR_FLOW_WRITER_H
#define WEIR_FLOW_WRITER_H

#include <stdint.h>

#include "policy/text.h"

struct writer {
	char *data;
	size_t used, size;
	bool full;
};

void writer_text(struct writer *writer, struct text text);
void writer_number(struct writer *writer, uint64_t number);
/* Between quotes: `"` and `\` escaped, other bytes outside printable ASCII as '?' (structured fields, RFC
 * 9651 3.3.3). */
void writer_field_string(struct writer *writer, struct text text);
/* Between quotes, as JSON. Bytes that are not UTF-8 come out as '?'. */
void writer_json(struct writer *writer, struct text text);
/* As grpc-message wants it: printable ASCII but for '%', the rest as %XX. */
void writer_percent(struct writer *writer, struct text text);

/* What was written since `mark`. */
static inline struct text writer_since(const struct writer *writer, size_t mark)
{
	return (struct text){writer->data + mark, writer->used - mark};
}

#endif
