/* SPDX-License-Identifier: BSD-2-Clause */
/* run_state: a private folder for what nginx needs while it runs, one for each policy. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/run.h"
#include "control/lastgood.h"
#include "control/owner.h"
#include "control/single.h"
#include "control/tree.h"
#include "policy/kept.h"
#include "table/census.h"

/* What we or nginx make in it, besides the last good copy. */
static const char *const OURS[] = {"nginx.conf", "nginx.conf.next", "nginx.pid", "policy.yaml", "body",
				   "proxy",	 "fastcgi",	    "uwsgi",	 "scgi",	"cache"};

/* Folders that others may write to are theirs too, so they are refused; /tmp is only passed through. */
static int make_private(const char *folder, mode_t mode)
{
	char why[2 * PLACE_MAX];
	struct stat st;
	if (mkdir(folder, mode) != 0 && errno != EEXIST) {
		snprintf(why, sizeof why, "cannot make %s: %s", folder, strerror(errno));
		return out_failure(WEIR_SYSTEM, why);
	}
	if (lstat(folder, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022) {
		snprintf(why, sizeof why, "%s must be a folder of this user that no other can write to",
			 folder);
		return out_failure(WEIR_OWNER, why);
	}
	return STATUS_FINE;
}

/* Where state folders are kept: gone after a reboot, and not on a disk if the system offers that. */
static void base_folder(char *out, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat st;
	if (geteuid() == 0 && access("/run", W_OK) == 0)
		snprintf(out, size, "/run/weir");
	else if (geteuid() != 0 && runtime && runtime[0] == '/' && stat(runtime, &st) == 0 &&
		 st.st_uid == geteuid())
		snprintf(out, size, "%s/weir", runtime);
	else
		snprintf(out, size, "/tmp/weir-%u", (unsigned)geteuid());
}

static uint32_t short_hash(const char *text)
{
	uint32_t hash = 0x811c9dc5;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x01000193; /* FNV-1a */
	return hash;
}

/* Where state stands: --state, or a folder named after the policy's path (or, without a file, after the first
 * port). */
static int choose(struct run *run)
{
	char base[PLACE_MAX - 16], name[PLACE_MAX + 16];
	mode_t mode = geteuid() == 0 ? 0711 : 0700;
	if (run->state_wish) {
		if (!policy_absolute_path(run->state_wish, run->state, sizeof run->state - 64)) {
			out_error("--state '%s' is no path", run->state_wish);
			return STATUS_USAGE;
		}
		return make_private(run->state, mode);
	}
	base_folder(base, sizeof base);
	int status = make_private(base, mode);
	snprintf(name, sizeof name, "%s",
		 run->file		  ? run->source
		 : run->listen_wish.count ? run->listen_wish.items[0]
					  : "8080");
	snprintf(run->state, sizeof run->state, "%s/%08" PRIx32, base, short_hash(name));
	return status == STATUS_FINE ? make_private(run->state, mode) : status;
}

static bool inside(const struct run *run, const char *name, char *out, size_t size)
{
	return snprintf(out, size, "%s/%s", run->state, name) < (int)size;
}

int run_make_state(struct run *run)
{
	char why[2 * PLACE_MAX];
	int status = choose(run);
	if (status != STATUS_FINE)
		return status;
	if (!inside(run, "nginx.conf", run->conf, sizeof run->conf) ||
	    !inside(run, "lock", run->lock_path, sizeof run->lock_path) ||
	    !inside(run, "last-good", run->last_good, sizeof run->last_good))
		return out_failure(WEIR_SYSTEM, "the path of the state folder is too long");
	run->lock = single_take(run->lock_path, "weir run already serves this policy", why, sizeof why);
	if (run->lock < 0)
		return out_failure(WEIR_SYSTEM, why);
	if (!run->file && !inside(run, "policy.yaml", run->source, sizeof run->source))
		return out_failure(WEIR_SYSTEM, "the path of the state folder is too long");
	return STATUS_FINE;
}

/* nginx's workers would find out one after the other, and let everything pass undecided meanwhile. */
int run_check_room(const struct run *run)
{
	char folder[PLACE_MAX], why[2 * PLACE_MAX], left[32], all[32];
	struct statvfs fs;
	uint64_t need = table_room(&(struct table_options){.size = run->table_size,
							   .process_slots = table_slots_for(0)}) +
			2 * (uint64_t)run->loaded.image->size;
	if (access(run->table, F_OK) == 0)
		return STATUS_FINE; /* it has its room already */
	snprintf(folder, sizeof folder, "%s", run->table);
	for (char *slash; statvfs(folder, &fs) != 0 && (slash = strrchr(folder, '/')) && slash != folder;)
		*slash = '\0';
	uint64_t room = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	if (room >= need)
		return STATUS_FINE;
	snprintf(why, sizeof why,
		 "%s has %s bytes free; a table and its policy take %s (docker: --shm-size=64m)", folder,
		 out_number(room, left, sizeof left), out_number(need, all, sizeof all));
	return out_failure(WEIR_NO_SPACE, why);
}

int run_make_folder(const struct run *run)
{
	char why[2 * PLACE_MAX];
	enum weir_error error = table_folder(run->table, run->worker_uid, run->worker_gid, false, why,
					     sizeof why);
	/* if it only cannot be made: the workers will say so when they try */
	if (error != WEIR_OK && error != WEIR_SYSTEM)
		return out_failure(error, why);
	if (*why)
		fprintf(stderr, "weir run: %s\n", why);
	return STATUS_FINE;
}

/* Without a file there is nothing to come back to. */
int run_choose_snapshot(struct run *run)
{
	char why[2 * PLACE_MAX];
	const char *wish = run->snapshot_wish;
	run->snapshot[0] = '\0';
	if (wish ? strcmp(wish, "none") == 0 : !run->file)
		return STATUS_FINE;
	if (wish && !policy_absolute_path(wish, run->snapshot, sizeof run->snapshot)) {
		out_error("--snapshot '%s' is no path", wish);
		return STATUS_USAGE;
	}
	if (!wish && !policy_kept_path(run->table, run->worker_uid, run->snapshot, sizeof run->snapshot)) {
		fprintf(stderr, "weir run: no place for a snapshot: counters do not survive a restart; "
				"--snapshot PATH\n");
		return STATUS_FINE;
	}
	if (policy_kept_folder(run->snapshot, run->worker_uid, run->worker_gid, why, sizeof why) != WEIR_OK) {
		fprintf(stderr, "weir run: counters do not survive a restart: %s\n", why);
		run->snapshot[0] = '\0';
	}
	return STATUS_FINE;
}

/* Somebody else may be deciding in it: an application with the library, another nginx. */
static bool is_used(const char *path)
{
	char why[256];
	struct table *table;
	struct census census = {0};
	const struct table_options options = {.path = path, .read_only = true};
	if (table_open(&options, &table, why, sizeof why) != WEIR_OK)
		return false;
	census_take(table, &census);
	table_close(&table);
	if (census.processes)
		fprintf(stderr, "weir run: the table stays, other processes decide in it: %s\n", path);
	return census.processes > 0;
}

/* The table and everything beside it that bears its name; its folder, if that leaves it empty. */
static void remove_table(const char *path)
{
	char folder[PLACE_MAX], why[256];
	snprintf(folder, sizeof folder, "%s", path);
	char *slash = strrchr(folder, '/');
	if (!slash || is_used(path) || !owner_become(path, why, sizeof why))
		return;
	*slash = '\0';
	const char *name = path + (slash + 1 - folder);
	size_t size = strlen(name);
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strncmp(entry->d_name, name, size) == 0 &&
		    (entry->d_name[size] == '\0' || entry->d_name[size] == '.'))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(folder);
	owner_return();
}

void run_remove_state(struct run *run)
{
	char path[PLACE_MAX];
	if (run->lock < 0)
		return;
	if (run->table[0])
		remove_table(run->table);
	for (size_t i = 0; i < sizeof OURS / sizeof *OURS; i++)
		if (inside(run, OURS[i], path, sizeof path))
			tree_remove(path);
	if (!run->file || run->sound)
		lastgood_remove(run->last_good);
	single_leave(run->lock_path, run->lock);
	run->lock = -1;
	/* not if the last good copy is in it, nor if the folder was there before us with things in it */
	rmdir(run->state);
}
