/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_json: a table's counters as one JSON document, and back: `weir table export` and `import`. docs/operate.md
 * names its members. */
#ifndef WEIR_CLI_SNAPSHOT_JSON_H
#define WEIR_CLI_SNAPSHOT_JSON_H

#include <jansson.h>

#include "table/snapshot.h"

/* NULL: out of memory. It holds the table's secrets: whoever reads it can compute keys. */
json_t *snapshot_to_json(const struct snapshot *snapshot);
/* False with a sentence in `why`; then there is nothing to free. */
bool snapshot_from_json(const json_t *document, struct snapshot *out, char *why, size_t size);

#endif
