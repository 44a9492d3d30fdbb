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
#include "cli/live.h"
#include "identity/people.h"
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
		snprintf(cure, sizeof cure, "chown :%u %s && chmod g+r %s", (unsigned)reader->st_gid, path,
			 path);
		doctor_say(doctor, DOCTOR_WRONG, "tokens", cure,
			   "%s, %s, cannot be read by user %u, who decides: no token is believed without it",
			   path, what, (unsigned)reader->st_uid);
	}
}

static void keys(struct doctor *doctor, const struct image *image, const struct stat *reader)
{
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
	ring_close(&ring);
}

void doctor_clients(struct doctor *doctor, const struct live *live)
{
	const struct image *image = live->image;
	struct stat reader;
	if (stat(table_path(live->table), &reader) != 0)
		return;
	keys(doctor, image, &reader);
	if (image->clients.jwt_algorithms) {
		file(doctor, image_text(image, image->clients.jwks_file), &reader, "the keys of tokens");
		file(doctor, image_text(image, image->clients.jwt_secret_file), &reader,
		     "the secret of tokens");
	}
}
