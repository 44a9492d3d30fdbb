/* SPDX-License-Identifier: BSD-2-Clause */
/* json_body: a body that is one JSON document. */
#ifndef WEIR_IDENTITY_JSON_BODY_H
#define WEIR_IDENTITY_JSON_BODY_H

#include "identity/said.h"

/* Is it one by its first character, whatever its type says? Go, PHP and others read it so. */
bool json_body_looks(struct text body);
/* At most BODY_MAX bytes. `whole`: it must be a complete document. */
void json_body_read(struct text body, bool whole, struct reading *reading);

#endif
