/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load: what the files of the front end share while one policy is read.
 *
 * The way of a policy: source (bytes) -> yaml (tree of nodes with places) -> include (one tree) ->
 * sections (gateway, clients, respond, limit: each reads its words into the model) -> warnings ->
 * model_compile. Everything allocated on the way lives in the arena; only what `struct policy` gives away
 * is malloc()ed, at the very end. A reader that finds a mistake reports it and goes on with a harmless
 * value, so that one run shows all mistakes.
 */
#ifndef WEIR_POLICY_LOAD_H
#define WEIR_POLICY_LOAD_H

#include <glob.h>
#include <stdint.h>

#include "policy/diag.h"
#include "policy/model.h"
#include "policy/policy.h"
#include "policy/source.h"
#include "policy/yaml.h"

struct named_networks { /* an entry of clients.networks */
	struct text name;
	struct network *networks;
	size_t count;
};

struct named_plan { /* an entry of plans */
	struct text name;
	struct model_mark mark;
	const struct pair **says; /* limits and what it says of them, sorted by name */
	size_t count;
	size_t like;	/* index; SIZE_MAX: none */
	bool unlimited; /* as a whole */
};

struct page { /* a file of `body: {file:}`, read once however many limits name it */
	struct text path, type, text;
	bool good;
};

struct load {
	struct arena arena;
	const struct policy_options *options;
	int64_t wall; /* seconds since 1970, for `until` */
	struct diag diag;

	struct source **sources; /* every YAML text, in the order it was met */
	size_t source_count, source_capacity;
	size_t bytes;		       /* of all sources */
	uint64_t hash;		       /* of all bytes that decide what the policy means */
	const char **files, **folders; /* what policy.files and policy.folders will say */
	size_t file_count, file_capacity, folder_count, folder_capacity;
	int fd;		     /* the file being read, -1: none; closed if memory runs out in between */
	struct yaml *parser; /* likewise */
	bool globbing;	     /* likewise */
	glob_t glob;

	struct named_networks *networks;
	size_t network_count;
	struct named_plan *plans; /* numbered as model.plans */
	size_t plan_count;
	struct {
		bool api_keys, jwt, session, user;
	} says; /* which of these sections there are, be they wrong */
	struct page *pages;
	size_t page_count, page_capacity;
	struct model_respond respond; /* the file's own: what limits begin with */
	struct model model;
};

/* Mixes bytes into load->hash (FNV-1a with the length in front: not against adversaries). */
void load_hash(struct load *load, struct text bytes);
/* Remembers a file or folder for the watcher. */
void load_watch_file(struct load *load, const char *path);
void load_watch_folder(struct load *load, const char *path);

#endif
