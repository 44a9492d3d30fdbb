/* SPDX-License-Identifier: BSD-2-Clause */
/* nginx: finding the server and our module, and whether they fit each other: nginx loads a module only if it
 * was built for exactly its version, and its own message names neither the cure nor where the module came
 * from. */
#ifndef WEIR_CLI_NGINX_H
#define WEIR_CLI_NGINX_H

#include <stdbool.h>

#include "cli/modulefile.h"
#include "policy/place.h"

struct nginx {
	char binary[PLACE_MAX], module[PLACE_MAX]; /* "" if not found */
	unsigned binary_version, module_version;   /* 1022001 is 1.22.1; 0: unknown */
	char binary_signature[MODULEFILE_SIGNATURE], module_signature[MODULEFILE_SIGNATURE]; /* "": unknown */
	char trouble[3 * PLACE_MAX],
		cure[3 * PLACE_MAX]; /* what keeps them from working together; "" if nothing does */
};

/* Fills *out. `binary` and `module` may name the files; NULL: looked for (nginx in PATH and the usual sbin
 * folders; the module beside our own executable, in nginx's module folder, in ours). False if there is
 * trouble. */
bool nginx_find(const char *binary, const char *module, struct nginx *out);

/* A file of weir's own: beside this executable (a build folder), or in PREFIX/lib/weir if it is PREFIX/bin/weir.
 * False: it is in neither; *out is then "". */
bool nginx_beside(const char *name, char *out, size_t size);

/* "1.22.1" */
const char *nginx_version_text(unsigned version, char *out, size_t size);

/* What `nginx -V` says on a line that begins with "configure arguments:", as it is written there; heap, the
 * caller's. NULL: nothing of the kind. */
char *nginx_arguments(const char *binary);

#endif
