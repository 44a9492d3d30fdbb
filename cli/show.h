/* SPDX-License-Identifier: BSD-2-Clause */
/* show: what is going on in a table, as a document and as text; doctor uses parts of it. */
#ifndef WEIR_CLI_SHOW_H
#define WEIR_CLI_SHOW_H

#include <jansson.h>

#include "cli/live.h"
#include "cli/options.h"

/* What is in force: {kind: "policy" | "zones", generation, source, compiled_at, file: "same" | "differs" | "broken" | "missing" |
 * "unset" | "unreadable" | "there" (nginx.conf, which only nginx can compare), findings, unset}. The file's state is found by reading it again now, with our own environment: "unset" if that lacks
 * variables which nginx's may have, and `unset` says which. */
json_t *show_policy(const struct live *live);
/* [{name, match, mode, key, sentence, allowed, refused, …}], of a zone also its `rate` as written; only == UINT32_MAX:
 * all. */
json_t *show_limits(const struct live *live, uint32_t only);
/* [{at, kind, limit, who, count}], newest first */
json_t *show_happenings(const struct live *live, size_t max);
/* Addresses that forward for others without being trusted: [{address, count, cure}] */
json_t *show_untrusted(const struct live *live);
/* One key's counters: [counter_json]; those of every way to understand a value that has several, with `as`:
 * "header.x-api-key=abc". */
int show_key(const struct live *live, uint32_t limit, const struct options_list *parts, json_t **out);

void show_print(const json_t *document, int64_t now);

#endif
