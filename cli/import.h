/* SPDX-License-Identifier: BSD-2-Clause */
/* import: an nginx configuration as a policy, with everything that could not be carried over. */
#ifndef WEIR_CLI_IMPORT_H
#define WEIR_CLI_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/text.h"

enum import_weight {
	IMPORT_LOST /* a limit, or a part of one, is not in the policy */,
	IMPORT_DIFFERS /* it is, and answers differently somewhere */,
	IMPORT_REMARK /* good to know */
};

struct import_remark {
	enum import_weight weight;
	const char *file;
	unsigned order, line, column;
	const char *text;
};

struct import_options {
	const char *path; /* the configuration, as it is to be shown */
	struct text text; /* if data is set: the text itself, whose includes are not read */
};

struct import {
	char *policy; /* NULL: there is none */
	/* limit lines of nginx that were read; each is carried or dropped: the policy has it, or a remark says that it is lost */
	size_t lines, carried, dropped;
	size_t limits; /* of the policy */
	char *keys;    /* API keys, one a line, for `weir keys import`; they are secrets. NULL: none */
	size_t key_count;
	struct import_remark *remarks; /* in order of place */
	size_t remark_count, lost;     /* lost: remarks of that weight */
	/* why there is no policy: a mistake of the syntax, or a file that cannot be read (line 0) */
	const char *wrong_file, *wrong;
	unsigned wrong_line, wrong_column;
	bool unreadable;
	void *memory;
};

/* False: no policy. Free in either case. */
bool import_run(const struct import_options *options, struct import *out);
void import_free(struct import *import);

#endif
