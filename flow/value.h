/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value: what a request says under a name, where it can be said in several ways.
 *
 * One rule for repeats: the first value that is not empty. Go, Java, Flask, Express' cookies and most others
 * read the first; joining all of them, or taking the last, would let a client put an invented value beside
 * the real one and open a fresh bucket with each.
 */
#ifndef WEIR_FLOW_VALUE_H
#define WEIR_FLOW_VALUE_H

#include "flow/flow.h"

enum value_coding {
	VALUE_PLAIN,
	VALUE_PERCENT, /* %XX once */
	VALUE_FORM,    /* %XX once, + is a space */
};
struct value {
	struct text raw; /* points into the request */
	enum value_coding coding;
};

/* The first header line of that lower-case name that is not empty. */
bool value_header(const struct flow_request *request, struct text name, struct value *out);
/* RFC 6265, over every Cookie line (HTTP/2 splits them). Quotes around the value are dropped and %XX is
 * decoded, because many applications do so: otherwise each spelling of a session were a bucket. */
bool value_cookie(const struct flow_request *request, struct text name, struct value *out);
/* A parameter of the query string; names are compared decoded. */
bool value_query(struct text query, struct text name, struct value *out);

/* Decodes up to `max` bytes from *at on (an offset into raw, moved along); 0 when all is read. */
size_t value_read(const struct value *value, size_t *at, char *out, size_t max);
/* Bytes of the decoded value. */
size_t value_size(const struct value *value);

#endif
