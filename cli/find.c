/* SPDX-License-Identifier: BSD-2-Clause */
/* find: from the options, the policy's name or what lies in /dev/shm to one table. */
#include "cli/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/out.h"
#include "control/owner.h"
#include "policy/zones.h"

#define SHARED	       "/dev/shm"
#define DEFAULT_POLICY "policy.yaml"

/* table_default_path's names end in .v<layout>; what stands beside a table (.ledger, .policy, …) has one more
 * suffix */
static bool is_table_name(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot && dot[1] == 'v' && dot[2] != '\0' && strspn(dot + 2, "0123456789") == strlen(dot + 2);
}

static size_t look_in(const char *folder, void (*found)(void *context, const char *path), void *context)
{
	size_t count = 0;
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		char path[PLACE_MAX];
		struct stat st;
		if (!is_table_name(entry->d_name) ||
		    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
			continue;
		if (lstat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			found(context, path);
			count++;
		}
	}
	if (dir)
		closedir(dir);
	return count;
}

/* weir-<uid>: whose folder it should be, and whose it is (a link is nobody's). */
static bool is_named_folder(const char *name, const char *folder, uid_t *user, uid_t *owner)
{
	struct stat st;
	char *end;
	if (strncmp(name, "weir-", 5) != 0 || name[5] < '0' || name[5] > '9')
		return false;
	*user = (uid_t)strtoul(name + 5, &end, 10);
	if (*end != '\0' || lstat(folder, &st) != 0)
		return false;
	*owner = S_ISDIR(st.st_mode) ? st.st_uid : (uid_t)-1;
	return true;
}

void find_foreign(void (*found)(void *context, const char *folder, uid_t user, uid_t owner), void *context)
{
	uid_t user, owner;
	DIR *dir = opendir(SHARED);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		char folder[sizeof SHARED + sizeof entry->d_name + 1];
		snprintf(folder, sizeof folder, "%s/%s", SHARED, entry->d_name);
		if (is_named_folder(entry->d_name, folder, &user, &owner) && user != owner)
			found(context, folder, user, owner);
	}
	if (dir)
		closedir(dir);
}

size_t find_every(void (*found)(void *context, const char *path), void *context)
{
	size_t count = 0;
	uid_t user, owner;
	DIR *dir = opendir(SHARED);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		char folder[sizeof SHARED + sizeof entry->d_name + 1];
		snprintf(folder, sizeof folder, "%s/%s", SHARED, entry->d_name);
		/* anyone can make a folder there */
		if (is_named_folder(entry->d_name, folder, &user, &owner) && user == owner)
			count += look_in(folder, found, context);
	}
	if (dir)
		closedir(dir);
	return count;
}

struct search {
	const char *base; /* NULL: any */
	char path[PLACE_MAX];
	size_t count;
};

static void matches(void *context, const char *path)
{
	struct search *search = context;
	if (search->base && strcmp(strrchr(path, '/') + 1, search->base) != 0)
		return;
	if (search->count++ == 0)
		snprintf(search->path, sizeof search->path, "%s", path);
}

/* With what it serves, if that can be seen. */
static void list_one(void *context, const char *path)
{
	struct live live;
	char source[256], why[256];
	(void)context;
	fprintf(stderr, "      --table %s", path);
	if (live_look(&live, path, why, sizeof why) == WEIR_OK) {
		out_escape(image_text(live.image, live.image->source), source, sizeof source);
		fprintf(stderr, "  (%s%s)", live.image->kind == IMAGE_OF_ZONES ? "zones of " : "", source);
	}
	live_close(&live);
	fprintf(stderr, "\n");
}

static int several(size_t count)
{
	out_error("%zu tables are here; say which:", count);
	find_every(list_one, NULL);
	return STATUS_USAGE;
}

static void ignore(void *context, const char *path)
{
	(void)context;
	(void)path;
}

static int nothing(const char *file, const char *expected, bool nginx_conf)
{
	char why[3 * PLACE_MAX];
	const char *others = geteuid() == 0 ? "" : "; tables of other users are seen by root only: try sudo";
	if (file)
		snprintf(why, sizeof why, "no table for %s (it would be %s)%s", file, expected, others);
	else
		snprintf(why, sizeof why, "no table under %s/weir-*/%s", SHARED, others);
	if (find_every(ignore, NULL) == 0)
		return out_failure(WEIR_NOT_FOUND, why);
	out_error("%s; those that are here:", why);
	find_every(list_one, NULL);
	fprintf(stderr, "      or name it as nginx does: %s PATH is --table PATH\n",
		nginx_conf ? "weir_limit_table" : "weir_table");
	return STATUS_SYSTEM;
}

static int of_file(const char *file, bool nginx_conf, bool may_miss, char *path, size_t size)
{
	struct search search = {0};
	if (!(nginx_conf ? zones_table_path : policy_table_path)(file, geteuid(), path, size)) {
		out_error("the path of %s is too long", file);
		return STATUS_USAGE;
	}
	if (access(path, F_OK) == 0)
		return STATUS_FINE;
	if (geteuid() == 0) {
		search.base = strrchr(path, '/') + 1;
		find_every(matches, &search);
	}
	if (search.count > 1)
		return several(search.count);
	if (search.count == 1)
		snprintf(path, size, "%s", search.path);
	else if (!may_miss)
		return nothing(file, path, nginx_conf);
	return STATUS_FINE;
}

int find_table(const struct find *find, bool may_miss, char *path, size_t size)
{
	struct search search = {0};
	if (find->table) {
		if (policy_absolute_path(find->table, path, size))
			return STATUS_FINE;
		out_error("--table '%s' is no path", find->table);
		return STATUS_USAGE;
	}
	if (find->nginx_conf)
		return of_file(find->nginx_conf, true, may_miss, path, size);
	if (find->policy)
		return of_file(find->policy, false, may_miss, path, size);
	if (access(DEFAULT_POLICY, F_OK) == 0)
		return of_file(DEFAULT_POLICY, false, may_miss, path, size);
	find_every(matches, &search);
	if (search.count > 1)
		return several(search.count);
	if (search.count == 0)
		return nothing(NULL, NULL, false);
	snprintf(path, size, "%s", search.path);
	return STATUS_FINE;
}

int find_open(const struct find *find, bool read_only, struct table **table)
{
	char path[PLACE_MAX], why[2 * PLACE_MAX] = "";
	int status = find_table(find, false, path, sizeof path);
	*table = NULL;
	if (status != STATUS_FINE)
		return status;
	if (!read_only && !owner_become(path, why, sizeof why))
		return out_failure(WEIR_SYSTEM, why);
	struct table_options options = {.path = path, .read_only = read_only};
	enum weir_error error = table_open(&options, table, why, sizeof why);
	if (error == WEIR_OK)
		return STATUS_FINE;
	owner_return();
	return out_failure(error, why);
}

void find_close(struct table **table)
{
	table_close(table);
	owner_return();
}
