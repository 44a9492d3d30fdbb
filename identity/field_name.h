/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * field_name: is this the field that the policy names?
 *
 * Backends read names in their own ways, and whoever would not be counted picks the spelling that only his backend understands.
 * So every spelling that some well-known one takes for the name counts as the name: two that say different things are then a
 * contradiction (said.h), not a way around.
 */
#ifndef WEIR_IDENTITY_FIELD_NAME_H
#define WEIR_IDENTITY_FIELD_NAME_H

#include <stdbool.h>

#include "policy/text.h"

/* Of a form, decoded. Case does not matter (ASP.NET); white space before it, and what follows a NUL, is dropped, and ' ', '.' and
 * '_' are the same (PHP); `name[]` and `name[0]` are `name`, `a[b]` is `a.b`. */
bool field_name_is(struct text said, struct text wanted);
/* The same, for what is inside of it: `name[a]`, `name[0][b]`. */
bool field_name_is_inside(struct text said, struct text wanted);
/* Of an object in JSON, unescaped: case does not matter (Go, ASP.NET), in Go not for U+017F and U+212A either. */
bool field_name_is_member(struct text said, struct text wanted);

#endif
