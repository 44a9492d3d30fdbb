/* SPDX-License-Identifier: BSD-2-Clause */
/* jwt_keys: the keys of one file, as they are now: replaced whole, or not at all. */
#ifndef WEIR_IDENTITY_JWT_KEYS_H
#define WEIR_IDENTITY_JWT_KEYS_H

#include "identity/jwks.h"
#include "identity/key_file.h"

struct jwt_keys {
	struct key_file file; /* path NULL: there is none */
	bool is_secret;	      /* the file is HS256's secret, not a set */
	struct jwks set;
};

/* Reads the file. True: there are other keys now. In both cases `why` is a sentence for the log. */
bool jwt_keys_load(struct jwt_keys *keys, char *why, size_t size);

#endif
