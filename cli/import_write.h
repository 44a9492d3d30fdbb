/* SPDX-License-Identifier: BSD-2-Clause */
/* import_write: a new file that is there whole, or not at all. */
#ifndef WEIR_CLI_IMPORT_WRITE_H
#define WEIR_CLI_IMPORT_WRITE_H

#include <stdbool.h>
#include <sys/types.h>

/* Writes `text` beside `path`, with that mode, and moves it into place; refuses to replace a file unless forced. Prints what went
 * wrong; returns the exit code. */
int import_write(const char *path, const char *text, mode_t mode, bool force);

#endif
