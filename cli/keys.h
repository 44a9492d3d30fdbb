/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys: one client's counter, named by the parts of its key as `weir show` prints them.
 *
 * Each --key is one part of the limit's key, in order: KIND=VALUE with the policy's word for the kind (ip=1.2.3.4,
 * header.x-api-key=abc), or the value alone. Where a part has alternatives (header.x-api-key | ip, or missing: ip),
 * a value alone may name several counters: those are the choices. One --key with commas stands for several parts.
 * key=NAME is api-key=NAME, as for `weir ban`. Who a client is is named as it is shown: api-key=NAME (of the key, never its secret), user=NAME, jwt.CLAIM=VALUE, body.FIELD=VALUE;
 * of session=VALUE it is the cookie itself. The word "anonymous" is the shared bucket of `missing: anonymous`. A zone of nginx has one value, taken as it is; for
 * $binary_remote_addr it is the address as people write it (::ffff:1.2.3.4 where nginx listens for both families).
 */
#ifndef WEIR_CLI_KEYS_H
#define WEIR_CLI_KEYS_H

#include <jansson.h>

#include "cli/live.h"
#include "cli/request.h"

struct keys {
	struct request request;
	struct flow *
		flow; /* with one hit for each counter that the limit has for such a client, their keys set */
	struct flow_who who;
	json_t *claims;
	struct flow_env env;
	size_t choices; /* how many ways there are to understand the parts; at least 1 */
	char chosen
		[1024]; /* "header.x-api-key=abc": how those were understood that are not clear; "": all are */
	char spelled
		[1024]; /* all parts, each that has alternatives as KIND=VALUE, so that they are clear: "ip=192.0.2.7, /login" */
	char text[4096], cookies[4096], query[4096], path[4096], target[8192],
		body[8192]; /* room for what the request says */
};

/* The parts, understood in way `choice`, less than keys->choices; 0 is always one. STATUS_FINE, or STATUS_USAGE after saying what is wrong with the parts; keys_free is needed either way. */
int keys_find(struct keys *keys, const struct live *live, uint32_t limit, const struct options_list *parts,
	      size_t choice);
void keys_free(struct keys *keys);
/* Room for one more cookie of the made-up request: for keys_who.c. */
bool keys_cookie(struct keys *keys, struct text name, struct text value);
/* The policy's word for a kind of part: "header.x-api-key". */
void keys_part_word(const struct image *image, const struct image_key_part *part, char *out, size_t size);

#endif
