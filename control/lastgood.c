/* SPDX-License-Identifier: BSD-2-Clause */
/* lastgood: copying a policy's files aside. */
#include "control/lastgood.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/owner.h"
#include "control/tree.h"
#include "policy/place.h"

static bool beside(const char *folder, const char *suffix, char *out, size_t size)
{
	return snprintf(out, size, "%s%s", folder, suffix) < (int)size;
}

void lastgood_remove(const char *folder)
{
	char aside[PLACE_MAX];
	tree_remove(folder);
	if (beside(folder, ".new", aside, sizeof aside))
		tree_remove(aside);
	if (beside(folder, ".old", aside, sizeof aside))
		tree_remove(aside);
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

struct piece { /* one file's bytes */
	char *bytes;
	size_t size;
};

static bool slurp(const char *path, struct piece *out)
{
	FILE *in = fopen(path, "re");
	FILE *memory = in ? open_memstream(&out->bytes, &out->size) : NULL;
	char buffer[16384];
	size_t n;
	bool good = memory != NULL;
	while (good && (n = fread(buffer, 1, sizeof buffer, in)) > 0)
		good = fwrite(buffer, 1, n, memory) == n;
	good = good && !ferror(in);
	if (memory && fclose(memory) != 0)
		good = false;
	if (in)
		fclose(in);
	return good;
}

static bool spill(const char *path, const struct piece *piece)
{
	int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (descriptor < 0)
		return errno == EEXIST; /* a file may be included twice */
	FILE *out = fdopen(descriptor, "w");
	bool good = out && fwrite(piece->bytes, 1, piece->size, out) == piece->size;
	return (out ? fclose(out) == 0 : close(descriptor) != 0) && good;
}

static bool write_all(const char *folder, char *const *files, const struct piece *pieces, char *why,
		      size_t size)
{
	char fresh[PLACE_MAX], old[PLACE_MAX], path[PLACE_MAX];
	if (!beside(folder, ".new", fresh, sizeof fresh) || !beside(folder, ".old", old, sizeof old)) {
		snprintf(why, size, "the path of %s is too long", folder);
		return false;
	}
	tree_remove(fresh);
	if (mkdir(fresh, 0700) != 0) {
		snprintf(why, size, "cannot make %s: %s", fresh, strerror(errno));
		return false;
	}
	for (size_t i = 0; files[i]; i++) {
		if (files[i][0] == '/' && beside(fresh, files[i], path, sizeof path) &&
		    make_folders(path, strlen(fresh) + 1) && spill(path, &pieces[i]))
			continue;
		snprintf(why, size, "cannot keep a copy of %s: %s", files[i], strerror(errno));
		tree_remove(fresh);
		return false;
	}
	tree_remove(old);
	if ((rename(folder, old) != 0 && errno != ENOENT) || rename(fresh, folder) != 0) {
		snprintf(why, size, "cannot replace %s: %s", folder, strerror(errno));
		return false;
	}
	tree_remove(old);
	return true;
}

bool lastgood_save(const char *folder, char *const *files, char *why, size_t size)
{
	size_t count = 0;
	while (files[count])
		count++;
	struct piece *pieces = calloc(count + 1, sizeof *pieces);
	bool good = pieces != NULL;
	/* read as who we are, written as who owns the place */
	for (size_t i = 0; good && i < count; i++)
		if (!(good = slurp(files[i], &pieces[i])))
			snprintf(why, size, "cannot keep a copy of %s: %s", files[i], strerror(errno));
	good = good && owner_become(folder, why, size) && write_all(folder, files, pieces, why, size);
	owner_return();
	for (size_t i = 0; pieces && i < count; i++)
		free(pieces[i].bytes);
	free(pieces);
	return good;
}

bool lastgood_find(const char *folder, const char *policy, char *out, size_t size)
{
	return beside(folder, policy, out, size) && access(out, R_OK) == 0;
}
