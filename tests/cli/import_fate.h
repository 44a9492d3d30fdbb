/* SPDX-License-Identifier: BSD-2-Clause */
/* import_fate: is every line of a limit carried over or dropped, and each dropped one said to be lost? Told by the remarks alone. */
#ifndef WEIR_TESTS_CLI_IMPORT_FATE_H
#define WEIR_TESTS_CLI_IMPORT_FATE_H

#include <string.h>

#include "cli/import.h"

/* "`limit_req zone=a`: …", and not "`limit_req_zone …" */
static inline bool fate_names_a_line(const char *text)
{
	static const char *const NAMES[] = {"limit_req", "limit_conn", "limit_rate", "set $limit_rate"};
	for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
		size_t size = strlen(NAMES[i]);
		if (text[0] == '`' && strncmp(text + 1, NAMES[i], size) == 0 &&
		    (text[1 + size] == ' ' || text[1 + size] == '`'))
			return true;
	}
	return false;
}

static inline bool fate_is_told(const struct import *import)
{
	size_t lost = 0, lines = 0;
	for (size_t i = 0; i < import->remark_count; i++) {
		bool is_lost = import->remarks[i].weight == IMPORT_LOST;
		lost += is_lost;
		lines += is_lost && fate_names_a_line(import->remarks[i].text);
	}
	/* a list that is full says less than there is */
	bool full = import->remark_count >= 10000;
	return import->lines == import->carried + import->dropped &&
	       (full || (lost == import->lost && lines == import->dropped));
}

#endif
