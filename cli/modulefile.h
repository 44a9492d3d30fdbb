/* SPDX-License-Identifier: BSD-2-Clause */
/* modulefile: what nginx compares before it takes a module, read from the files without loading either. */
#ifndef WEIR_CLI_MODULEFILE_H
#define WEIR_CLI_MODULEFILE_H

#include <stdbool.h>
#include <stddef.h>

#define MODULEFILE_SIGNATURE 64 /* longest, with its NUL; nginx 1.22.1 has 40 characters */

struct modulefile {
	unsigned version; /* of the nginx that it was built for: 1022001 is 1.22.1 */
	char signature
		[MODULEFILE_SIGNATURE]; /* NGX_MODULE_SIGNATURE: word sizes, then a digit for each feature that
						 changes nginx's structures; "": not found */
};

/* The first module of the shared object at `path`. False with a sentence in `why` if it is no nginx module. */
bool modulefile_read(const char *path, struct modulefile *out, char *why, size_t size);

/* The signature that the nginx at `path` compares with, found by its looks: an executable has no table of its
 * own modules. "" if there is none (a script that starts nginx). `out` has MODULEFILE_SIGNATURE bytes. */
void modulefile_signature_of_binary(const char *path, char *out);

#endif
