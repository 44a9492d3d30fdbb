/* SPDX-License-Identifier: BSD-2-Clause */
/* bans: how many there are, for `weir bans` and `weir show`. */
#ifndef WEIR_CLI_BANS_H
#define WEIR_CLI_BANS_H

#include "cli/live.h"

/* In force by the policy as it is; what a limit bans that it has not any more bans nobody. Looks at every slot. */
uint64_t bans_count(const struct live *live);

#endif
