/* SPDX-License-Identifier: BSD-2-Clause */
/* lastgood: copying a policy's files aside. */
#include "control/lastgood.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/place.h"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st, (void)type, (void)where;
	remove(path);
	return 0;
}

static void remove_tree(const char *folder)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool beside(const char *folder, const char *suffix, char *out, size_t size)
{
	return snprintf(out, size, "%s%s", folder, suffix) < (int)size;
}

void lastgood_remove(const char *folder)
{
	char aside[PLACE_MAX];
	remove_tree(folder);
	if (beside(folder, ".new", aside, sizeof aside))
		remove_tree(aside);
	if (beside(folder, ".old", aside, sizeof aside))
		remove_tree(aside);
}

/* Folders of `path` below its first `from` bytes. */
static bool make_folders(char *path, size_t from)
{
	for (char *slash = path + from; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
		*slash = '/';
		if (!made)
			return false;
	}
	return true;
}

static bool copy(const char *from, const char *to)
{
	char buffer[16384];
	ssize_t n = -1;
	int in = open(from, O_RDONLY | O_CLOEXEC),
	    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool good = in >= 0 && out >= 0;
	while (good && (n = read(in, buffer, sizeof buffer)) != 0)
		good = n > 0 ? write(out, buffer, (size_t)n) == n : errno == EINTR;
	int reason = errno;
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) != 0 && good)
		return false;
	errno = reason;
	return good;
}

bool lastgood_save(const char *folder, char *const *files, char *why, size_t size)
{
	char fresh[PLACE_MAX], old[PLACE_MAX], path[PLACE_MAX];
	if (!beside(folder, ".new", fresh, sizeof fresh) || !beside(folder, ".old", old, sizeof old)) {
		snprintf(why, size, "the path of %s is too long", folder);
		return false;
	}
	remove_tree(fresh);
	if (mkdir(fresh, 0700) != 0) {
		snprintf(why, size, "cannot make %s: %s", fresh, strerror(errno));
		return false;
	}
	for (size_t i = 0; files[i]; i++) {
		if (files[i][0] != '/')
			continue;
		if (!beside(fresh, files[i], path, sizeof path) || !make_folders(path, strlen(fresh) + 1) ||
		    (!copy(files[i], path) && errno != EEXIST)) { /* a file may be included twice */
			snprintf(why, size, "cannot keep a copy of %s: %s", files[i], strerror(errno));
			remove_tree(fresh);
			return false;
		}
	}
	remove_tree(old);
	if ((rename(folder, old) != 0 && errno != ENOENT) || rename(fresh, folder) != 0) {
		snprintf(why, size, "cannot replace %s: %s", folder, strerror(errno));
		return false;
	}
	remove_tree(old);
	return true;
}

bool lastgood_find(const char *folder, const char *policy, char *out, size_t size)
{
	return beside(folder, policy, out, size) && access(out, R_OK) == 0;
}
