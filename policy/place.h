/* SPDX-License-Identifier: BSD-2-Clause */
/* place: where a policy's table stands when nobody names one. One rule, so that the gate, control and the
 * command line meet in the same table without being told. */
#ifndef WEIR_POLICY_PLACE_H
#define WEIR_POLICY_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#define PLACE_MAX 4096 /* longest path, with its NUL */

/* `path` made absolute against the working directory and cleaned by its letters alone (`.`, `..`, `//`):
 * symbolic links are not followed, because swapping one is how a ConfigMap is edited. False: it does not fit,
 * or there is no working directory; *out is then "". */
bool policy_absolute_path(const char *path, char *out, size_t size);

/* The table of the policy file `policy_path`, for doors that run as `uid` (for nginx: its workers):
 * table_default_path of "policy:" + the absolute path. False as above. */
bool policy_table_path(const char *policy_path, unsigned uid, char *out, size_t size);

#endif
