/* SPDX-License-Identifier: BSD-2-Clause */
/* form: a body of application/x-www-form-urlencoded (WHATWG URL 5.1): fields separated by `&`, `+` is a space, %XX. */
#ifndef WEIR_IDENTITY_FORM_H
#define WEIR_IDENTITY_FORM_H

#include "identity/said.h"

/* At most BODY_MAX bytes. `whole`: the body ends here; otherwise its last field may not have ended. */
void form_read(struct text body, bool whole, struct reading *reading);
/* Whoever takes it for a form sees a value in it. */
bool form_looks(struct text body);

#endif
