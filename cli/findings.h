/* SPDX-License-Identifier: BSD-2-Clause */
/* findings: a checked policy's findings, for people and for programs. */
#ifndef WEIR_CLI_FINDINGS_H
#define WEIR_CLI_FINDINGS_H

#include <jansson.h>

#include "policy/policy.h"

/* Every kept finding with its line and caret, to standard error; nothing if there is none. */
void findings_print(const struct policy *policy);
/* [{severity, file, line, column, width, message}] */
json_t *findings_json(const struct policy *policy);
/* "no errors, 2 warnings" */
void findings_counts(const struct policy *policy, char *out, size_t size);

/* The file cannot be judged from here: all that is wrong is that environment variables are not set, and nginx
 * may well have them. Writes "${A}, ${B} and ${C} are not set here" (cut where it does not fit). False: something
 * else is wrong, or may be. */
bool findings_only_unset(const struct policy *policy, char *out, size_t size);

/* The exit code that a checked file deserves: STATUS_FINE, STATUS_FINDINGS, or STATUS_SYSTEM if it cannot be
 * read. */
int findings_status(const struct policy *policy, const char *path);

#endif
