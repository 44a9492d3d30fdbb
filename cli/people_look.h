/* SPDX-License-Identifier: BSD-2-Clause */
/* people_look: the files that a policy knows clients by, read as a door would, before a door does: for `weir check`, `run` and `doctor`. */
#ifndef WEIR_CLI_PEOPLE_LOOK_H
#define WEIR_CLI_PEOPLE_LOOK_H

#include "policy/image.h"

/* `cure` is never NULL. */
typedef void people_look_say(void *context, const char *sentence, const char *cure);

/* A database of keys that is not there. */
void people_look_keys(const struct image *image, people_look_say *say, void *context);
/* A file of tokens' keys, or their secret, that is broken, or has no key for an algorithm that is believed. One that is missing, and one
 * that this user may not read, is not told of; nor, with `told_if_open`, one that everybody may read, of which the policy's reading warns. */
void people_look_tokens(const struct image *image, bool told_if_open, people_look_say *say, void *context);

#endif
