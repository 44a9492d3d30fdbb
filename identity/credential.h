/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * credential: what an Authorization header says, read before it is used.
 *
 * A client is who its token says, however the header is spelled: `Bearer  x`, `bearer x` and `BEARER\tx ` are one.
 */
#ifndef WEIR_IDENTITY_CREDENTIAL_H
#define WEIR_IDENTITY_CREDENTIAL_H

#include "policy/text.h"

/* The token of `Bearer TOKEN` (RFC 6750 2.1; scheme in any case, RFC 7235 2.1): one or more spaces or tabs between, white space at
 * the ends trimmed, the token a token68 (letters, digits, "-._~+/", then any number of "="). Points into `authorization`. False:
 * another scheme, or anything else; *token is empty then. */
bool credential_bearer(struct text authorization, struct text *token);

#endif
