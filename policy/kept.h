/* SPDX-License-Identifier: BSD-2-Clause */
/* kept: where a table's snapshot stands when nobody names a place. One rule, so that who writes it (control) and who
 * loads it (whoever makes the table) meet there without being told. */
#ifndef WEIR_POLICY_KEPT_H
#define WEIR_POLICY_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "table/error.h"

/* The snapshot of the table at `table_path` (absolute) that doors of `uid` make: HASH.snapshot, of the path without the
 * layout's version, in
 *
 *   $STATE_DIRECTORY/UID   if that is set (systemd sets it for a unit with StateDirectory=)
 *   /var/lib/weir/UID      if it is there, or we are root
 *   HOME/.local/state/weir of the user's home, else
 *
 * False: there is no such place (a user without a home), or it does not fit; *out is then "". */
bool policy_kept_path(const char *table_path, unsigned uid, char *out, size_t size);

/* Makes the folder of a snapshot for its writer: the last part private (0700) and the user's, those above as the system
 * has them (0755). Root gives it to uid and gid. WEIR_SYSTEM with a sentence in `why`. */
enum weir_error policy_kept_folder(const char *path, unsigned uid, unsigned gid, char *why, size_t size);

#endif
