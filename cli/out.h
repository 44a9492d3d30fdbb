/* SPDX-License-Identifier: BSD-2-Clause */
/* out: how the command line speaks: people read standard output, programs read one JSON document there
 * (`--json`); what went wrong goes to standard error, and into the document too. */
#ifndef WEIR_CLI_OUT_H
#define WEIR_CLI_OUT_H

#include <jansson.h>
#include <stdint.h>

#include "cli/commands.h"
#include "policy/text.h"
#include "table/error.h"

/* True after --json: nothing but one document may go to standard output. */
extern bool out_as_json;

/* True: out_error and out_failure say nothing and are forgotten, for who only tries. */
extern bool out_silent;

/* "weir: " and the sentence, to standard error. With --json also {"error": {"message": …}} if nothing else
 * was printed. */
void out_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for an error value: `why` (or the error's sentence), then its cure. Returns the exit code. */
int out_failure(enum weir_error error, const char *why);
/* The same with a cure of its own; "": none. */
int out_failure_cure(enum weir_error error, const char *why, const char *cure);
/* Prints the document and drops the reference. */
void out_document(json_t *document);
/* Last step: the exit code, or STATUS_SYSTEM if standard output could not be written. */
int out_finish(int status);

/* Hostile bytes as visible ASCII: anything else, and the backslash, as \xNN. Cut with "..." where it does not
 * fit. Returns its length; `out` is always NUL-terminated. */
size_t out_escape(struct text text, char *out, size_t size);
/* A JSON string of hostile bytes, escaped as above. */
json_t *out_hostile(struct text text);
/* A JSON string of the operator's own words: UTF-8 is kept. */
json_t *out_own(struct text text);

/* "450 ms", "12 s", "3 min 20 s", "2 h 5 min", "4 days 3 h"; rounded up in its smallest unit. ALGO_NEVER:
 * "never". */
const char *out_duration(uint64_t ns, char *out, size_t size);
/* "1,234,567" */
const char *out_number(uint64_t number, char *out, size_t size);
/* Local time of day, with the date if it is not today's: seconds since 1970. */
const char *out_when(int64_t wall, int64_t now, char *out, size_t size);

#endif
