/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor_clients: can those who decide read what the policy knows clients by: the ring of API keys, the keys of tokens? They are whoever
 * owns the table; we may be root. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/keys_who.h"
#include "cli/live.h"
#include "cli/out.h"
#include "cli/people_look.h"
#include "identity/people.h"
#include "policy/suggest.h"
#include "table/ledger.h"

/* May that user, of that group alone, read the file? ACLs and further groups are not asked. */
static bool readable(const char *path, const struct stat *reader, struct stat *file)
{
	if (stat(path, file) != 0)
		return false;
	if (reader->st_uid == 0)
		return true;
	if (file->st_uid == reader->st_uid)
		return file->st_mode & S_IRUSR;
	if (file->st_gid == reader->st_gid)
		return file->st_mode & S_IRGRP;
	return file->st_mode & S_IROTH;
}

static void file(struct doctor *doctor, struct text name, const struct stat *reader, const char *what)
{
	char path[PLACE_MAX], cure[2 * PLACE_MAX + 64];
	struct stat st;
	if (!name.size)
		return;
	snprintf(path, sizeof path, "%.*s", (int)name.size, name.data);
	if (readable(path, reader, &st))
		return;
	if (stat(path, &st) != 0)
		doctor_say(doctor, DOCTOR_WRONG, "tokens", "put it there; it is read within a second",
			   "%s, %s: %s; no token is believed without it", path, what, strerror(errno));
	else {
		snprintf(cure, sizeof cure, "chown %u %s && chmod 600 %s", (unsigned)reader->st_uid, path,
			 path);
		doctor_say(doctor, DOCTOR_WRONG, "tokens", cure,
			   "%s, %s, cannot be read by user %u, who decides: no token is believed without it",
			   path, what, (unsigned)reader->st_uid);
	}
}

/* Plans that keys have, of which the policy has none: those clients have what nobody meant. */
struct strangers {
	const struct image *image;
	json_t *counts; /* of each such plan: its secrets */
};

static bool stranger(void *context, const struct ring_key *key)
{
	struct strangers *strangers = context;
	struct text plan = {key->plan, key->plan_size};
	char name[RING_PLAN_MAX + 1];
	if (!plan.size || keys_who_plan(strangers->image, plan) != IMAGE_PLAN_NONE)
		return true;
	snprintf(name, sizeof name, "%.*s", (int)plan.size, plan.data);
	json_object_set_new(strangers->counts, name,
			    json_integer(json_integer_value(json_object_get(strangers->counts, name)) + 1));
	return json_object_size(strangers->counts) < 20;
}

static void plans(struct doctor *doctor, const struct live *live, struct ring *ring)
{
	struct strangers strangers = {live->image, json_object()};
	const char *name;
	json_t *count;
	if (live->image->plans.count > 0 && keys_who_plan_by_key(live->image))
		ring_each(ring, live_wall(live), stranger, &strangers);
	json_object_foreach(strangers.counts, name, count)
	{
		const struct image_plan *all = image_at(live->image, live->image->plans.offset);
		struct suggest suggest = suggest_begin(text_of(name));
		char shown[RING_PLAN_MAX * 4 + 4], meant[128] = "";
		for (uint32_t i = 0; i < live->image->plans.count; i++)
			suggest_offer(&suggest, image_text(live->image, all[i].name));
		if (suggest.best.size)
			snprintf(meant, sizeof meant, "; did you mean %.*s?", (int)suggest.best.size,
				 suggest.best.data);
		out_escape(text_of(name), shown, sizeof shown);
		doctor_say(doctor, DOCTOR_WRONG, "keys",
			   "weir keys list --plan NAME says whose; weir keys set KEY --plan PLAN, or add the "
			   "plan",
			   "%lld API key%s of plan '%s', which the policy does not have%s",
			   (long long)json_integer_value(count),
			   json_integer_value(count) == 1 ? " is" : "s are", shown, meant);
	}
	json_decref(strangers.counts);
}

static void keys(struct doctor *doctor, const struct live *live, const struct stat *reader)
{
	const struct image *image = live->image;
	struct text name = image_text(image, image->clients.keys_database);
	char database[PLACE_MAX], ring_path[PLACE_MAX + 8], cure[PLACE_MAX + 64], why[512] = "";
	struct ring *ring = NULL;
	struct stat st;
	if (!name.size)
		return;
	snprintf(database, sizeof database, "%.*s", (int)name.size, name.data);
	snprintf(ring_path, sizeof ring_path, "%s.ring", database);
	snprintf(cure, sizeof cure, "weir keys list --database %s", database);
	bool there = stat(database, &st) == 0;
	enum weir_error error = ring_open(database, &ring, why, sizeof why);
	if (error == WEIR_NOT_FOUND && !there)
		doctor_say(doctor, DOCTOR_WRONG, "keys", "weir keys add NAME makes it",
			   "there is no database of API keys at %s: every key is unknown", database);
	else if (error != WEIR_OK)
		doctor_say(doctor, DOCTOR_WRONG, "keys", cure,
			   "%s: every API key is unknown until it is made anew",
			   *why ? why : weir_error_sentence(error));
	else if (!readable(ring_path, reader, &st)) {
		snprintf(cure, sizeof cure,
			 "keep the database in a folder of user %u's, or: chown %u %.4000s",
			 (unsigned)reader->st_uid, (unsigned)reader->st_uid, ring_path);
		doctor_say(doctor, DOCTOR_WRONG, "keys", cure,
			   "%s cannot be read by user %u, who decides: every API key is unknown", ring_path,
			   (unsigned)reader->st_uid);
	} else if (!there)
		doctor_say(doctor, DOCTOR_WRONG, "keys", "put the database back from where it is saved",
			   "%s is gone; the doors go on with its copy, and no key can be changed", database);
	else
		doctor_say(doctor, DOCTOR_GOOD, "keys", NULL, "%llu API keys are known",
			   (unsigned long long)ring_count(ring));
	if (ring)
		plans(doctor, live, ring);
	ring_close(&ring);
}

static void broken(void *context, const char *sentence, const char *cure)
{
	doctor_say(context, DOCTOR_WRONG, "tokens", cure, "%s", sentence);
}

void doctor_clients(struct doctor *doctor, const struct live *live)
{
	const struct image *image = live->image;
	struct stat reader;
	if (stat(table_path(live->table), &reader) != 0)
		return;
	keys(doctor, live, &reader);
	if (image->clients.jwt_algorithms) {
		file(doctor, image_text(image, image->clients.jwks_file), &reader, "the keys of tokens");
		file(doctor, image_text(image, image->clients.jwt_secret_file), &reader,
		     "the secret of tokens");
		people_look_tokens(image, false, broken, doctor);
	}
}
