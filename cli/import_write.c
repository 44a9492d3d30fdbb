/* SPDX-License-Identifier: BSD-2-Clause */
/* import_write: written, synced, then linked or renamed, so that no crash leaves half of it and nobody's file is replaced by chance. */
#include "cli/import_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/out.h"

static int give_up(const char *path, const char *temporary)
{
	int error = errno;
	if (temporary)
		unlink(temporary);
	if (error == EEXIST)
		out_error("%s exists; --force replaces it", path);
	else
		out_error("cannot write %s: %s", path, strerror(error));
	return error == EEXIST ? STATUS_USAGE : STATUS_SYSTEM;
}

static bool put(int descriptor, const char *text)
{
	for (size_t size = strlen(text); size > 0;) {
		ssize_t n = write(descriptor, text, size);
		if (n < 0)
			return false;
		text += n;
		size -= (size_t)n;
	}
	return fsync(descriptor) == 0;
}

int import_write(const char *path, const char *text, mode_t mode, bool force)
{
	char temporary[4096];
	struct stat st;
	if (!force && lstat(path, &st) == 0) {
		errno = EEXIST;
		return give_up(path, NULL);
	}
	if (snprintf(temporary, sizeof temporary, "%s.%ld.new", path, (long)getpid()) >=
	    (int)sizeof temporary) {
		errno = ENAMETOOLONG;
		return give_up(path, NULL);
	}
	int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (descriptor < 0) {
		out_error("cannot write %s: %s", path, strerror(errno));
		return STATUS_SYSTEM;
	}
	bool good = put(descriptor, text);
	good = close(descriptor) == 0 && good;
	/* a link fails where a file has come to be meanwhile */
	good = good && (force ? rename(temporary, path) : link(temporary, path)) == 0;
	if (!good)
		return give_up(path, temporary);
	if (!force)
		unlink(temporary);
	return STATUS_FINE;
}
