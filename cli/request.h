/* SPDX-License-Identifier: BSD-2-Clause */
/* request: a request that nobody sent, for explain and for naming a counter by its key. */
#ifndef WEIR_CLI_REQUEST_H
#define WEIR_CLI_REQUEST_H

#include "flow/flow.h"

#define REQUEST_NAMES_MAX 80

struct request_pair {
	struct text name, value; /* not owned */
};
struct request { /* must stay where it is: flow.door points to it */
	struct flow_request flow;
	struct request_pair headers[REQUEST_NAMES_MAX], variables[REQUEST_NAMES_MAX];
	size_t header_count, variable_count;
};

/* GET / of localhost from 127.0.0.1. */
void request_init(struct request *request);
/* False: there are REQUEST_NAMES_MAX already. */
bool request_add_header(struct request *request, struct text name, struct text value);
bool request_add_variable(struct request *request, struct text name, struct text value);

#endif
