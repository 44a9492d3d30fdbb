/* SPDX-License-Identifier: BSD-2-Clause */
/* signals: SIGTERM, SIGINT, SIGHUP and SIGCHLD as something to poll. */
#ifndef WEIR_CLI_SIGNALS_H
#define WEIR_CLI_SIGNALS_H

#include <stdint.h>

/* Blocks them and ignores SIGPIPE; a descriptor to poll, or -1. Children must call signals_default before
 * exec. */
int signals_open(void);
/* The next one that arrived, 0: none. */
int signals_next(int descriptor);
/* The signal mask as a program expects to find it. */
void signals_default(void);
/* Milliseconds of a clock that only goes forward. */
uint64_t signals_now_ms(void);

#endif
