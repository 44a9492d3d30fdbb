/* SPDX-License-Identifier: BSD-2-Clause */
/* find: which table a subcommand means, and as whom it may write there. */
#ifndef WEIR_CLI_FIND_H
#define WEIR_CLI_FIND_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/options.h"
#include "policy/place.h"
#include "table/table.h"

struct find {
	const char *table;	/* --table */
	const char *policy;	/* --policy; NULL: ./policy.yaml if there is one */
	const char *nginx_conf; /* --nginx-conf: whose own zones it serves */
};

#define FIND_OPTIONS(find)                                                                                   \
	{"--table", OPTIONS_TEXT, &(find)->table, "PATH", "the table's file, as in weir_table"},             \
		{"--policy", OPTIONS_TEXT, &(find)->policy, "FILE",                                          \
		 "the policy whose table it is (./policy.yaml)"},                                            \
	{                                                                                                    \
		"--nginx-conf", OPTIONS_TEXT, &(find)->nginx_conf, "FILE",                                   \
			"the nginx.conf whose limit_req and limit_conn zones it holds"                       \
	}

/* Where the table stands: --table; else the one of nginx.conf's zones or of the policy file (root looks under every
 * user); else the only one on this machine. STATUS_FINE, or an exit code after saying why. The file may be missing only with
 * `may_miss`. */
int find_table(const struct find *find, bool may_miss, char *path, size_t size);

/* find_table and table_open. To write there, root is the table's owner (control/owner.h) until find_close,
 * which is not needed after a failure. */
int find_open(const struct find *find, bool read_only, struct table **table);
/* Closes the table and is again who we were. NULL-safe. */
void find_close(struct table **table);

/* Tables of all users that can be seen: calls `found` with each path. Returns how many. */
size_t find_every(void (*found)(void *context, const char *path), void *context);

/* Folders that bear the name of a user's and are not that user's, so that no door of his can make its table:
 * calls `found` with each, whose it should be and whose it is. */
void find_foreign(void (*found)(void *context, const char *folder, uid_t user, uid_t owner), void *context);

#endif
