/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * multipart: a body of multipart/form-data (RFC 7578). Files are no values.
 *
 * What some read in another way than others (lines that end in LF alone, parameters twice, encoded or folded headers, a name of a file
 * as well, another charset) makes what is found doubtful: it is how one hides a field from a gate and shows it to the backend.
 */
#ifndef WEIR_IDENTITY_MULTIPART_H
#define WEIR_IDENTITY_MULTIPART_H

#include "identity/said.h"

/* At most BODY_MAX bytes; the boundary is said by content_type. */
void multipart_read(struct text content_type, struct text body, bool whole, struct reading *reading);

#endif
