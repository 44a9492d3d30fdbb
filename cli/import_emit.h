/* SPDX-License-Identifier: BSD-2-Clause */
/* import_emit: the parts that the policy is written from. */
#ifndef WEIR_CLI_IMPORT_EMIT_H
#define WEIR_CLI_IMPORT_EMIT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/import_model.h"

/* Writes the limit's match, if it needs one. False: no request could meet it. */
bool import_match(struct import_model *model, FILE *out, const struct import_limit *limit);
void import_exempt(FILE *out, const struct import_limit *limit);
/* clients: from realip and the networks that keys need. */
void import_emit_clients(struct import_model *model, FILE *out);

#endif
