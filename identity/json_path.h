/* SPDX-License-Identifier: BSD-2-Clause */
/* json_path: how far into a document a scan has followed a path. Of json_scan, which keeps it. */
#ifndef WEIR_IDENTITY_JSON_PATH_H
#define WEIR_IDENTITY_JSON_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/text.h"

struct json_path {
	struct text path;   /* names joined by dots; "": the document itself */
	struct text wanted; /* the name that is next on it */
	uint32_t elements;  /* of the array at the path, so far */
	uint16_t follow;    /* so many of the open containers lead along it */
	uint16_t counts;    /* depth of the array at the path; 0: not in it */
	bool last;	    /* no name follows the wanted one */
};

/* Before the document: `path` stays. */
void json_path_begin(struct json_path *path);
/* So many open containers lead along it from now on. */
void json_path_follow(struct json_path *path, unsigned depth);

#endif
