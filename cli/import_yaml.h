/* SPDX-License-Identifier: BSD-2-Clause */
/* import_yaml: writing YAML that reads back as what was meant, whatever the bytes. */
#ifndef WEIR_CLI_IMPORT_YAML_H
#define WEIR_CLI_IMPORT_YAML_H

#include <stdio.h>

#include "cli/import_model.h"

/* Printable ASCII only, so that a comment stays one. */
void import_yaml_comment(FILE *out, struct text text);
/* Quoted where a bare word would be read as something else. */
void import_yaml_text(FILE *out, struct text text);
/* One alone, or [a, b]. */
void import_yaml_texts(FILE *out, const struct import_texts *texts);

#endif
