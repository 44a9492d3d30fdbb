/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * folder: the folder of a table, made and looked at before any door opens the table.
 *
 * /dev/shm is everyone's: whoever is first has the name. A worker that finds a stranger's folder there can only
 * refuse it and decide nothing, so the name must not be left to chance: root makes the folder for the workers
 * before they start, and puts a stranger's out of the way. Everything goes through descriptors: a name is looked
 * at once, and never followed if it is a link.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "table/table.h"
#include "table/why.h"

#define TRIES 1000u /* of one who takes the name as fast as he can, a few are enough */

struct place {
	char parent[PATH_MAX], folder[PATH_MAX];
	const char *name; /* last component, in `folder` */
	int fd;		  /* of the parent */
	unsigned uid, gid;
	bool ours; /* the default place of that user: nobody else has any business there */
};

/* NULL: as it should be; else what is wrong with it, after its name. */
static const char *distrust(const struct place *place, const struct stat *st, char *text, size_t size)
{
	if (S_ISLNK(st->st_mode))
		return "is a symbolic link";
	if (!S_ISDIR(st->st_mode))
		return "is not a folder";
	if (st->st_uid != 0 && st->st_uid != place->uid) {
		snprintf(text, size, "belongs to uid %u, not to root or uid %u", (unsigned)st->st_uid,
			 place->uid);
		return text;
	}
	if (st->st_mode & (S_IWGRP | S_IWOTH)) {
		snprintf(text, size, "has mode %04o: others can write to it", st->st_mode & 07777u);
		return text;
	}
	return NULL;
}

static enum weir_error find(const char *path, unsigned uid, unsigned gid, struct place *place,
			    const struct why *why)
{
	char theirs[64];
	const char *slash = strrchr(path, '/');
	*place = (struct place){.fd = -1, .uid = uid, .gid = gid};
	if (!slash || slash == path || strlen(path) >= sizeof place->folder)
		return WEIR_NOT_FOUND; /* the working folder, or the root: nobody makes those */
	snprintf(place->folder, sizeof place->folder, "%.*s", (int)(slash - path), path);
	slash = strrchr(place->folder, '/');
	if (!slash)
		strcpy(place->parent, ".");
	else
		snprintf(place->parent, sizeof place->parent, "%.*s", (int)(slash - place->folder),
			 place->folder);
	if (slash == place->folder)
		strcpy(place->parent, "/");
	place->name = slash ? slash + 1 : place->folder;
	snprintf(theirs, sizeof theirs, "/dev/shm/weir-%u", uid);
	place->ours = strcmp(place->folder, theirs) == 0;
	place->fd = open(place->parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return place->fd >= 0 ? WEIR_OK
			      : why_error(why, WEIR_SYSTEM, "%s: %s", place->parent, strerror(errno));
}

/* A new folder under `name`, for the user. What cannot be given to him is not left in his way. */
static enum weir_error make(const struct place *place, const char *name, const struct why *why)
{
	struct stat st;
	if (mkdirat(place->fd, name, 0700) != 0)
		return why_error(why, errno == EEXIST ? WEIR_BUSY : WEIR_SYSTEM, "cannot make %s: %s",
				 place->folder, strerror(errno));
	if (geteuid() != 0)
		return WEIR_OK;
	enum weir_error error = WEIR_OK;
	int fd = openat(place->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* owned by us: in a parent of somebody else's it may have been replaced already */
	if (fd < 0 || fstat(fd, &st) != 0 || st.st_uid != 0 || fchown(fd, place->uid, place->gid) != 0) {
		error = why_error(why, WEIR_SYSTEM, "cannot give %s to uid %u: %s", place->folder, place->uid,
				  strerror(errno));
		unlinkat(place->fd, name, AT_REMOVEDIR);
	}
	if (fd >= 0)
		close(fd);
	return error;
}

/* Ours takes the name in one step, so that nobody can take it in between; what had it then has ours, and gets one
 * that says what it is. */
static enum weir_error exchange(const struct place *place, const struct why *why)
{
	struct stat st;
	char text[128], spare[64], away[NAME_MAX + 1];
	uint64_t random;
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		return why_error(why, WEIR_SYSTEM, "getrandom: %s", strerror(errno));
	snprintf(spare, sizeof spare, ".weir-%016llx", (unsigned long long)random);
	enum weir_error error = make(place, spare, why);
	if (error != WEIR_OK)
		return error;
	if (renameat2(place->fd, spare, place->fd, place->name, RENAME_EXCHANGE) != 0) {
		error = errno == ENOENT ? WEIR_BUSY
					: WEIR_OWNER; /* gone meanwhile; or he mounted something */
		why_error(why, error, "cannot move %s aside: %s", place->folder, strerror(errno));
		unlinkat(place->fd, spare, AT_REMOVEDIR);
		return error;
	}
	if (fstatat(place->fd, spare, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !distrust(place, &st, text, sizeof text)) {
		/* meanwhile it was made by one who may */
		renameat2(place->fd, spare, place->fd, place->name, RENAME_EXCHANGE);
		unlinkat(place->fd, spare, AT_REMOVEDIR);
		return WEIR_BUSY;
	}
	snprintf(away, sizeof away, "%s.foreign-%d-%lld", place->name, (int)getpid(), (long long)time(NULL));
	bool named = renameat2(place->fd, spare, place->fd, away, RENAME_NOREPLACE) == 0;
	return why_error(why, WEIR_OK,
			 "%s was not the table's folder and is now %s/%s: look whose it was, remove it",
			 place->folder, place->parent, named ? away : spare);
}

static enum weir_error give(const struct place *place, const struct why *why)
{
	int fd = openat(place->fd, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	enum weir_error error = WEIR_OK;
	if (fd < 0 || fstat(fd, &st) != 0 || (st.st_uid == 0 && fchown(fd, place->uid, place->gid) != 0))
		error = why_error(why, WEIR_SYSTEM, "cannot give %s to uid %u: %s", place->folder, place->uid,
				  strerror(errno));
	if (fd >= 0)
		close(fd);
	return error;
}

/* One look, and what follows from it. WEIR_BUSY: it has changed meanwhile, look again. */
static enum weir_error settle(const struct place *place, bool look_only, const struct why *why)
{
	struct stat st;
	char text[128];
	bool root = geteuid() == 0;
	if (fstatat(place->fd, place->name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		if (errno != ENOENT) /* root may look at everything but what a stranger has mounted */
			return why_error(why, root ? WEIR_OWNER : WEIR_SYSTEM, "%s: %s", place->folder,
					 strerror(errno));
		return look_only ? WEIR_OK : make(place, place->name, why);
	}
	const char *wrong = distrust(place, &st, text, sizeof text);
	bool roots = st.st_uid == 0 && place->uid != 0; /* the user cannot make files in it */
	if (!wrong && roots && root && place->ours)
		return look_only ? WEIR_OK : give(place, why);
	if (!wrong && roots)
		return why_error(why, WEIR_OWNER, "%s belongs to root: uid %u cannot make files in it",
				 place->folder, place->uid);
	if (!wrong)
		return WEIR_OK;
	bool stranger = st.st_uid != 0 && st.st_uid != place->uid;
	if (!root || !place->ours || !stranger)
		return why_error(why, WEIR_OWNER, "%s %s", place->folder, wrong);
	return look_only ? why_error(why, WEIR_OK, "%s %s: it will be moved aside", place->folder, wrong)
			 : exchange(place, why);
}

enum weir_error table_folder(const char *path, unsigned uid, unsigned gid, bool look_only, char *text,
			     size_t size)
{
	const struct why why = {text, size};
	struct place place;
	if (size)
		*text = '\0';
	enum weir_error error = find(path, uid, gid, &place, &why);
	if (error != WEIR_OK)
		return error == WEIR_NOT_FOUND ? WEIR_OK : error;
	unsigned tries = 0;
	do {
		if (size)
			*text = '\0';
		error = settle(&place, look_only, &why);
	} while (error == WEIR_BUSY && ++tries < TRIES);
	close(place.fd);
	return error;
}
