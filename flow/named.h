/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named: what a request says under a name, where it can be said in several ways.
 *
 * One rule for repeats: empty ones are passed over, equal ones are one, and several that differ are doubtful. PHP takes the last, Go
 * and Java the first, ASP.NET joins them: whichever of them the gate took, whoever guesses would put an invented value there, open a
 * fresh bucket with each, and the real one where his application looks.
 */
#ifndef WEIR_FLOW_NAMED_H
#define WEIR_FLOW_NAMED_H

#include "flow/flow.h"

enum named_coding {
	NAMED_PLAIN,
	NAMED_PERCENT, /* %XX once */
	NAMED_FORM,    /* %XX once, + is a space */
};
enum named_said {
	NAMED_NONE,
	NAMED_FOUND,
	NAMED_DOUBTFUL, /* several things, or nobody can tell what */
};
struct named {
	struct text raw; /* points into the request */
	enum named_coding coding;
};

/* What the request says: *out is the first value that is not empty, also if it is doubtful: who does not count by it may go by it. */

/* Lines of that lower-case name, each a value; after NAMED_VALUES_MAX of them it is doubtful. */
#define NAMED_VALUES_MAX 100u
enum named_said named_header(const struct flow_request *request, struct text name, struct named *out);
/* RFC 6265, over every Cookie line (HTTP/2 splits them). Quotes around the value are dropped and %XX is
 * decoded, because many applications do so: otherwise each spelling of a session were a bucket. */
enum named_said named_cookie(const struct flow_request *request, struct text name, struct named *out);
/* A parameter of the query string; names as in a form's body (identity/field_name.h): `user[]` is `user`. */
enum named_said named_query(struct text query, struct text name, struct named *out);

/* Decodes up to `max` bytes from *at on (an offset into raw, moved along); 0 when all is read. */
size_t named_read(const struct named *value, size_t *at, char *out, size_t max);
/* Bytes of the decoded value. */
size_t named_size(const struct named *value);

#endif
