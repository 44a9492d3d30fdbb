/* SPDX-License-Identifier: BSD-2-Clause */
/* why: what a refusal's id says, looked up in the table as it is now; and in words. */
#ifndef WEIR_CLI_WHY_H
#define WEIR_CLI_WHY_H

#include <jansson.h>

#include "cli/live.h"
#include "flow/refusal.h"

/* {id, at, kind, reason: of an unknown key or token, or null, limit, counter, said_wait_s, generation: {is, in_force}, who: {name, known} or null, slot, now: counter_json or
 * {remaining, limit, full_ns} or null, help: […]} */
json_t *why_json(const struct live *live, const char *id, const struct refusal *refusal);
void why_print(const json_t *document, const struct live *live);

/* Whose counter it was: the name that the sketch or a recent event has for it, `limit` known. False: they have forgotten. The name is as
 * the client sent it. */
bool why_whose(const struct live *live, const struct refusal *refusal, uint32_t limit, char *name,
	       size_t size, size_t *length);
/* That name as `--key` takes it, its parts as KIND=VALUE where they have alternatives. False: it does not name that counter (it is a digest,
 * or was cut). */
bool why_key(const struct live *live, const struct refusal *refusal, uint32_t limit, struct text name,
	     char *out, size_t size);

#endif
