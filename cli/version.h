/* SPDX-License-Identifier: BSD-2-Clause */
/* version: raised with each release; CHANGES.md says what is in it. */
#ifndef WEIR_CLI_VERSION_H
#define WEIR_CLI_VERSION_H

#define VERSION_TEXT "0.1.0"

#endif
