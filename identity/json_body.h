/* SPDX-License-Identifier: BSD-2-Clause */
/* json_body: a body that is one JSON document. */
#ifndef WEIR_IDENTITY_JSON_BODY_H
#define WEIR_IDENTITY_JSON_BODY_H

#include "identity/said.h"

/* Is it one by its first character, whatever its type says? Go, PHP and others read it so. */
bool json_body_looks(struct text body);
/* Strings, numbers and literals at the path. `whole`: it must be a complete document. */
void json_body_read(struct text body, bool whole, struct text path, struct said *said);
/* Elements of the array at the path, of the longest if there are several; *more: it goes on. */
bool json_body_count(struct text body, bool whole, struct text path, uint32_t *out, bool *more);

#endif
