/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lastgood: the source of the policy in force, kept where a broken edit cannot reach it: a folder (0700) that
 * holds each file of the policy under its absolute path, so that includes by relative paths still find each
 * other. FOLDER/etc/weir/policy.yaml can be given to every command that takes a policy.
 */
#ifndef WEIR_CONTROL_LASTGOOD_H
#define WEIR_CONTROL_LASTGOOD_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces the copy by these files (absolute paths, NULL-terminated; patterns are left out): written aside,
 * then swapped by rename, so that there is always a whole one. Root writes as the owner of the place
 * (control/owner.h). False with a sentence in `why`. */
bool lastgood_save(const char *folder, char *const *files, char *why, size_t size);

/* Where the copy of `policy` (absolute) stands. False if there is none. */
bool lastgood_find(const char *folder, const char *policy, char *out, size_t size);

/* Removes the folder and everything in it; also a half-written one. */
void lastgood_remove(const char *folder);

#endif
