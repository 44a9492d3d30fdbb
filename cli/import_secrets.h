/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_secrets: maps from API keys to clients or tiers, map $http_x_api_key $tier { "SECRET" pro; }, as named keys and plans.
 *
 * What a zone counts is worked out for each key that is written down (import_secrets_view), then keys are put into plans so that each
 * zone is for whole plans (import_secrets_plan). The secrets go into a file of their own, never into the policy nor to a terminal.
 */
#ifndef WEIR_CLI_IMPORT_SECRETS_H
#define WEIR_CLI_IMPORT_SECRETS_H

#include "cli/import_switch.h"

#define IMPORT_SECRETS_MAX 1000u

/* What is counted of a request: nothing, its key by itself, its address, a text that several may share. */
enum import_counted { COUNTED_NONE, COUNTED_OWN, COUNTED_ADDRESS, COUNTED_TEXT };

struct import_view { /* what one zone counts */
	struct import_zone *zone;
	struct text *outs; /* what its key is with each secret; then with another one, then without */
	enum import_counted *kinds; /* of these */
	bool owner, site;	    /* keys of one owner, or all of them, are counted together */
	struct import_view *next;
};

struct import_secrets {
	struct text source;		     /* the variable that has the secret: "http_x_api_key" */
	struct text from;		     /* as a policy writes it: "header.x-api-key", "bearer" */
	struct import_texts values;	     /* the secrets, as the maps have them */
	struct text *tokens;		     /* as clients send them: without the scheme */
	struct text *names, *owners, *plans; /* of the keys; owners and plans: size 0: none */
	struct import_texts plan_names;
	struct import_view *views;
	uint64_t work; /* comparisons that were made */
};

/* What variable `name` is with the secret `which` (values.count: another one; one more: none). False: it is not understood. */
bool import_secrets_out(struct import_model *model, struct import_secrets *secrets, struct text name,
			size_t which, unsigned depth, struct text *out);
/* A zone's view; NULL: a policy cannot say it. */
struct import_view *import_secrets_view(struct import_model *model, struct import_secrets *secrets,
					struct import_zone *zone);
/* Names, owners and plans of the keys. False: no plans fit. */
bool import_secrets_plan(struct import_model *model, struct import_secrets *secrets);
/* The lines for `weir keys import`; malloc()ed. */
char *import_secrets_lines(struct import_model *model, const struct import_secrets *secrets);

#endif
