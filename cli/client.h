/* SPDX-License-Identifier: BSD-2-Clause */
/* client: one client as an operator names it, over all limits at once: for `weir get` and `weir why`. */
#ifndef WEIR_CLI_CLIENT_H
#define WEIR_CLI_CLIENT_H

#include "cli/keys.h"

#define CLIENT_PARTS_MAX 24

struct client {
	const struct live *live;
	struct client_part {
		char text[1200]; /* "ip=192.0.2.1" */
		size_t word;	 /* bytes before the '=' */
	} parts[CLIENT_PARTS_MAX];
	size_t count;
	bool said_key, known; /* an API key was named; the doors know it, and it is: */
	struct ring_key key;
};

/* Words: an address; KIND=VALUE as in a limit's key (key=NAME is api-key=NAME, as for weir ban); the name of an API key, whose owner, tenant and plan are the client's too. STATUS_FINE,
 * or said why not. */
int client_read(struct client *client, const struct live *live, const struct options_list *words);
/* The parts of the limit's key that this client has, KIND=VALUE or "site" alone, which point into it. False: `needs` says which it
 * has not. */
bool client_parts(const struct client *client, const struct image_limit *limit, struct options_list *out,
		  char *needs, size_t size);
/* The limit for this client: {limit, mode, as: ["ip=…"], counters: [counter_json, with used, reset_at, granted], banned_until, unlimited,
 * never, refuses}, or {limit, mode, needs: "header.x-org"}, what the client has not said. NULL: out of memory, said. */
json_t *client_limit_json(const struct client *client, uint32_t limit);
/* {parts: […], api_key: {name, known, …} or null, plan, banned_until: of the operator, or null} */
json_t *client_json(const struct client *client);
void client_print(const json_t *limits, const struct live *live);

#endif
