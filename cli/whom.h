/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whom: whom a command means that bans, lifts or grants.
 *
 * An operator's ban is of an address, an API key or a user: 192.0.2.7, key=acme, user=ann; an address alone is known by its
 * looks, any other word alone must be the name of an API key. A limit's own ban, and a grant, is of one key of the
 * limit, named by its parts as for `weir reset`.
 */
#ifndef WEIR_CLI_WHOM_H
#define WEIR_CLI_WHOM_H

#include "cli/keys.h"
#include "flow/ban.h"
#include "table/roster.h"

struct whom {
	enum ban_whom kind;
	const char *name; /* as given, without its kind */
	struct address address;
	char part[320];	 /* as a part of a limit's key: "ip=192.0.2.7" */
	char shown[320]; /* for people: an address as it is masked, "API key acme" */
};

/* Reads it. STATUS_FINE, or STATUS_USAGE after saying why. The image says which API keys there are, and how addresses are masked. */
int whom_read(const struct live *live, const char *word, struct whom *out);
/* The key of the operator's ban of that client. */
struct table_key whom_key(const struct live *live, const struct whom *whom);
/* enum roster_whom of it. */
enum roster_whom whom_kind(const struct whom *whom);
/* Is there a key of this limit that has nothing but this client in it? So that `part` is all of its parts. */
bool whom_is_all(const struct live *live, const struct image_limit *limit, const struct whom *whom);

/* The counters of one key of the limit. It is named as for `weir ban` and `weir get` (an address, the name of an API key, key=NAME,
 * user=NAME), or by the key's parts as for keys_find; where those can be understood in several ways it says so and is STATUS_USAGE.
 * keys_free is needed either way. */
int whom_parts(struct keys *keys, const struct live *live, uint32_t limit, const struct options_list *words);

#endif
