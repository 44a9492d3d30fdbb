/* SPDX-License-Identifier: BSD-2-Clause */
/* weir keys: the command line, and which database is meant. */
#include "cli/api_keys.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/findings.h"
#include "cli/options.h"
#include "control/owner.h"
#include "policy/place.h"
#include "policy/suggest.h"

enum { /* which options a verb knows, as bits of their place in `rules` */
       PLACE = 3,
       FIELDS = 0x3f << 2,
};

static const struct {
	const char *name;
	int (*run)(struct api_keys *keys);
	int word;	 /* 1: needs one, -1: has none */
	unsigned option; /* bits */
} VERBS[] = {
	{"add", api_keys_add, 1, PLACE | FIELDS | 1u << 8 | 1u << 9 | 1u << 10},
	{"list", api_keys_list, -1, PLACE | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 13 | 1u << 14},
	{"show", api_keys_show, 1, PLACE},
	{"set", api_keys_set, 1, PLACE | FIELDS | 1u << 8},
	{"rotate", api_keys_rotate, 1, PLACE | 1u << 9 | 1u << 10 | 1u << 11},
	{"revoke", api_keys_revoke, 1, PLACE | 1u << 12},
	{"whose", api_keys_whose, -1, PLACE | 1u << 10},
	{"import", api_keys_import, 1, PLACE},
	{"export", api_keys_export, -1, PLACE | 1u << 15 | 1u << 16},
};
#define VERB_COUNT (sizeof VERBS / sizeof *VERBS)

int api_keys_failed(const struct api_keys *keys)
{
	const struct keys_trouble *trouble = &keys->trouble;
	int status = trouble->cure[0] ? out_failure_cure(trouble->error, trouble->why, trouble->cure)
				      : out_failure(trouble->error, trouble->why);
	return trouble->error == WEIR_EXISTS ? STATUS_FINDINGS : status;
}

/* The policy's word for it. */
static int of_policy(struct api_keys *keys, char *out, size_t size)
{
	const char *file = keys->policy;
	char path[PLACE_MAX];
	if (!policy_absolute_path(file ? file : "policy.yaml", path, sizeof path)) {
		out_error("the path of %s is too long", file);
		return STATUS_USAGE;
	}
	if (!file && access(path, F_OK) != 0) {
		out_error("which keys? there is no ./policy.yaml: say --database PATH or --policy FILE");
		return STATUS_USAGE;
	}
	policy_load(&(struct policy_options){.path = path}, &keys->plans);
	const struct image *image = keys->plans.image;
	if (!image) {
		findings_print(&keys->plans);
		return findings_status(&keys->plans, path);
	}
	struct text said = image_text(image, image->clients.keys_database);
	if (said.size) {
		snprintf(out, size, "%.*s", (int)said.size, said.data);
		return STATUS_FINE;
	}
	out_error("%s names no database of keys (clients: {api_keys: {database: PATH}}): say --database PATH",
		  path);
	return STATUS_USAGE;
}

/* Root's files in root's folder are read by nobody else. */
static void warn_of_root(const char *path)
{
	char folder[PATH_MAX];
	struct stat st;
	snprintf(folder, sizeof folder, "%s", path);
	*strrchr(folder, '/') = '\0';
	if (geteuid() == 0 && stat(*folder ? folder : "/", &st) == 0 && st.st_uid == 0)
		fprintf(stderr,
			"weir: %s is root's now: doors that run as another user cannot read it; if nginx's "
			"do, "
			"put it into a folder of theirs, with all that is in it (chown -R www-data FOLDER)\n",
			path);
}

int api_keys_open(struct api_keys *keys, enum keys_how how)
{
	char path[PATH_MAX], why[PATH_MAX + 256] = "";
	int status = STATUS_FINE;
	if (keys->database && !policy_absolute_path(keys->database, path, sizeof path)) {
		out_error("the path of %s is too long", keys->database);
		return STATUS_USAGE;
	}
	if (!keys->database)
		status = of_policy(keys, path, sizeof path);
	if (status != STATUS_FINE)
		return status;
	if (how != KEYS_READ)
		api_keys_policy(keys, path);
	bool fresh = access(path, F_OK) != 0;
	if (!owner_become(path, why, sizeof why))
		return out_failure(WEIR_OWNER, why);
	if (keys_db_open(path, how, KEYS_WAIT_MS, &keys->db, &keys->trouble) != WEIR_OK)
		return api_keys_failed(keys);
	if (fresh)
		warn_of_root(path);
	return STATUS_FINE;
}

int api_keys_begin(struct api_keys *keys, enum keys_how how)
{
	int status = api_keys_open(keys, how);
	if (status == STATUS_FINE && keys_change_begin(keys->db, &keys->trouble) != WEIR_OK)
		status = api_keys_failed(keys);
	return status;
}

int api_keys_end(struct api_keys *keys, int status)
{
	struct keys_trouble *trouble = &keys->trouble;
	if (status != STATUS_FINE) {
		keys_change_end(keys->db, false, trouble);
		return status;
	}
	return keys_change_end(keys->db, true, trouble) == WEIR_OK ? STATUS_FINE : api_keys_failed(keys);
}

int api_keys_find(struct api_keys *keys, struct keys_key *out)
{
	enum weir_error error = keys_named(keys->db, text_of(keys->word), out, &keys->trouble);
	if (error == WEIR_OK)
		return STATUS_FINE;
	int status = api_keys_failed(keys);
	return error == WEIR_NOT_FOUND ? STATUS_FINDINGS : status;
}

struct ring *api_keys_ring(struct api_keys *keys)
{
	struct keys_trouble trouble; /* best effort: who may only read sees what there is */
	struct ring *ring = NULL;
	bool made;
	keys_ring_mend(keys->db, 100, &made, &trouble);
	ring_open(keys_db_path(keys->db), &ring, NULL, 0);
	return ring;
}

static bool said(const struct options_rule *rule)
{
	return rule->kind == OPTIONS_FLAG ? *(bool *)rule->value : *(const char **)rule->value != NULL;
}

/* The verb, if the command line fits it; VERB_COUNT after saying what is wrong. */
static size_t verb_of(const struct options *options, struct api_keys *keys)
{
	const char *name = options->words.count ? options->words.items[0] : "";
	struct suggest suggest = suggest_begin(text_of(name));
	size_t verb = 0;
	while (verb < VERB_COUNT && strcmp(VERBS[verb].name, name) != 0)
		suggest_offer(&suggest, text_of(VERBS[verb++].name));
	keys->word = options->words.count > 1 ? options->words.items[1] : NULL;
	if (verb == VERB_COUNT) {
		out_error(
			"say weir keys add, list, show, set, rotate, revoke, whose, import or export%s%.*s%s",
			suggest.best.size ? "; did you mean '" : "", (int)suggest.best.size,
			suggest.best.size ? suggest.best.data : "", suggest.best.size ? "'?" : "");
		return VERB_COUNT;
	}
	if (VERBS[verb].word > 0 && !keys->word)
		out_error("weir keys %s: which %s?", name, strcmp(name, "import") == 0 ? "file" : "key");
	else if (VERBS[verb].word < 0 && keys->word)
		out_error("one word too many: '%s'", keys->word);
	else if (keys->database && keys->policy)
		out_error("say --database or --policy, not both");
	else {
		for (size_t i = 0; i < options->rule_count; i++)
			if (said(&options->rules[i]) && !(VERBS[verb].option >> i & 1)) {
				out_error("weir keys %s has no %s", name, options->rules[i].name);
				return VERB_COUNT;
			}
		return verb;
	}
	return VERB_COUNT;
}

int keys_command(int argc, char **argv)
{
	struct api_keys keys = {.now = time(NULL)};
	const struct options_rule rules[] = {
		{"--database", OPTIONS_TEXT, &keys.database, "PATH", "the database of keys"},
		{"--policy", OPTIONS_TEXT, &keys.policy, "FILE",
		 "the policy that names it (default: ./policy.yaml)"},
		{"--owner", OPTIONS_TEXT, &keys.owner, "TEXT", "whose key it is, for people"},
		{"--plan", OPTIONS_TEXT, &keys.plan, "NAME", "its plan; '': none"},
		{"--tenant", OPTIONS_TEXT, &keys.tenant, "NAME", "its tenant"},
		{"--billing-day", OPTIONS_TEXT, &keys.billing_day, "DAY",
		 "day of the month its quotas begin at, 1 to 31"},
		{"--expires", OPTIONS_TEXT, &keys.expires, "WHEN", "30d, 2026-12-31 (UTC), or never"},
		{"--notes", OPTIONS_TEXT, &keys.notes, "TEXT", "anything"},
		{"--until", OPTIONS_TEXT, &keys.until, "WHEN",
		 "the plan holds until then, after it the former one"},
		{"--prefix", OPTIONS_TEXT, &keys.prefix, "TEXT", "what the new secret begins with (weir_)"},
		{"--secret-file", OPTIONS_TEXT, &keys.secret_file, "FILE",
		 "a given secret instead of a new one; -: standard input"},
		{"--overlap", OPTIONS_TEXT, &keys.overlap, "TIME",
		 "how long the old secret still works (7d)"},
		{"--reason", OPTIONS_TEXT, &keys.reason, "TEXT", "why it was revoked"},
		{"--expired", OPTIONS_FLAG, &keys.expired, NULL, "list: those that have expired"},
		{"--revoked", OPTIONS_FLAG, &keys.revoked, NULL, "list: those that were revoked"},
		{"--csv", OPTIONS_FLAG, &keys.csv, NULL, "export: a table"},
		{"--hashes", OPTIONS_FLAG, &keys.hashes, NULL,
		 "export: with the secrets' hashes, for another machine"},
	};
	struct options options = {
		.synopsis =
			"weir keys (add|set|show|rotate|revoke NAME | list | whose | import FILE | export) "
			"[OPTIONS]",
		.about = "API keys. A new secret is printed once, alone on standard output; only a keyed "
			 "hash of it "
			 "is kept. What\n"
			 "changes here is seen by every door's next request. add and rotate: a secret; set: "
			 "another "
			 "plan, owner,\n"
			 "expiry, …; rotate: a second secret, and the first one ends; revoke: for good, the "
			 "name is "
			 "not given again.\n"
			 "whose: reads a secret from standard input and says which key's it is. import: JSON "
			 "or CSV "
			 "(-: standard\n"
			 "input); export never has secrets.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 2,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	size_t verb = verb_of(&options, &keys);
	if (verb == VERB_COUNT)
		return STATUS_USAGE;
	status = VERBS[verb].run(&keys);
	keys_db_close(&keys.db);
	policy_free(&keys.plans);
	json_decref(keys.odd);
	owner_return();
	return status;
}
