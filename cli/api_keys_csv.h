/* SPDX-License-Identifier: BSD-2-Clause */
/* api_keys_csv: tables of keys (RFC 4180): the first line names the columns. */
#ifndef WEIR_CLI_API_KEYS_CSV_H
#define WEIR_CLI_API_KEYS_CSV_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Each row as an object of texts, empty fields left out; `tell` false ends it. False after saying where and why. */
bool api_keys_csv(const char *path, const char *bytes, size_t size, bool (*tell)(void *context, json_t *row),
		  void *context);
/* One field; quoted if it must be. */
void api_keys_csv_write(FILE *out, const char *text, bool last);

#endif
