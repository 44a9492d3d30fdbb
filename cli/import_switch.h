/* SPDX-License-Identifier: BSD-2-Clause */
/* import_switch: a variable that one thing of the request decides: by maps and a geo, in any chain. */
#ifndef WEIR_CLI_IMPORT_SWITCH_H
#define WEIR_CLI_IMPORT_SWITCH_H

#include "cli/import_model.h"

struct import_case {
	struct text result;
	struct text value; /* as a policy's match writes it; "" : empty, or absent */
	bool regex;
	struct network network; /* IP */
};

/* Cases of IP do not overlap (`otherwise` is the rest of the addresses); of others the first that fits decides. */
struct import_switch {
	enum import_dimension dimension;
	struct text header; /* its name */
	bool open, secret;  /* a header whose values are nobody's; others' are spelled out */
	bool get, head;	    /* are among the methods */
	bool hostnames;	    /* a host may begin with "*." or "." */
	struct text name;   /* of the variable that looks at the request */
	struct import_case *cases;
	size_t count, capacity;
	struct text otherwise;
};

#define IMPORT_CASES_MAX CONF_ENTRIES_MAX

const struct import_variable *import_variable_named(const struct import_model *model, struct text name);
struct text import_variable_alone(struct text text);
/* What decides variable `name`. False with a reason if that is not understood. */
bool import_switch(struct import_model *model, struct text name, unsigned depth, struct import_switch *out,
		   const char **why);
/* The key and the conditions that come of it: one result counts (*counted), the others are empty. False: not so; then
 * key->why (lost) or *why is set. */
bool import_switch_key(struct import_model *model, const struct import_switch *decided, struct text *counted,
		       struct import_key *key, const char **why);

bool import_map(struct import_model *model, const struct import_variable *map, unsigned depth,
		struct import_switch *out, const char **why);
bool import_geo(struct import_model *model, const struct import_variable *geo, struct import_switch *out,
		const char **why);
/* The result of a map for a value that is known; false: not understood. */
bool import_map_of(struct import_model *model, const struct import_variable *map, struct text value,
		   struct text *result);
/* Of a map with `hostnames`: cases in the order in which they are meant; ".name" as two of them (false: it is no such name). */
void import_hostnames_order(struct import_model *model, struct import_switch *decided);
bool import_hostnames_dot(struct import_model *model, struct import_switch *out, struct import_case entry);
/* Is `host` below the wildcard? */
bool import_host_below(struct text wide, struct text host);
void import_case_add(struct import_model *model, struct import_switch *decided, struct import_case entry);
/* Addresses first..last as the networks that a policy writes. */
void import_networks(struct import_model *model, const struct network *range, struct import_texts *out);

#endif
