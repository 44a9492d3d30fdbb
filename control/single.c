/* SPDX-License-Identifier: BSD-2-Clause */
/* single: an open-file-description lock on a file beside the table: asking about it takes nothing. */
#include "control/single.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/place.h"

static bool name(const char *table_path, char *out, size_t size)
{
	return snprintf(out, size, "%s.control", table_path) < (int)size;
}

static int read_pid(int descriptor)
{
	char text[16] = "";
	ssize_t n = pread(descriptor, text, sizeof text - 1, 0);
	return n > 0 ? atoi(text) : 0;
}

int single_take(const char *table_path, char *why, size_t size)
{
	char path[PLACE_MAX], pid[16];
	struct stat mine, there;
	if (!name(table_path, path, sizeof path)) {
		snprintf(why, size, "the path of the table is too long");
		return -1;
	}
	for (;;) {
		int descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (descriptor < 0) {
			snprintf(why, size, "cannot open %s: %s", path, strerror(errno));
			return -1;
		}
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		if (fcntl(descriptor, F_OFD_SETLK, &lock) != 0) {
			snprintf(why, size, "weir control already runs for this table (process %d)",
				 read_pid(descriptor));
			close(descriptor);
			return -1;
		}
		/* one that was leaving may have removed the file between our open and our lock */
		if (fstat(descriptor, &mine) == 0 && lstat(path, &there) == 0 &&
		    mine.st_ino == there.st_ino) {
			int n = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
			/* for people only: a failure here changes nothing */
			if (ftruncate(descriptor, 0) == 0 && pwrite(descriptor, pid, (size_t)n, 0) < 0)
				errno = 0;
			return descriptor;
		}
		close(descriptor);
	}
}

void single_leave(const char *table_path, int descriptor)
{
	char path[PLACE_MAX];
	if (descriptor < 0)
		return;
	if (name(table_path, path, sizeof path))
		unlink(path);
	close(descriptor);
}

bool single_runs(const char *table_path, int *pid)
{
	char path[PLACE_MAX];
	*pid = 0;
	int descriptor = name(table_path, path, sizeof path) ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
							     : -1;
	if (descriptor < 0)
		return false;
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	bool runs = fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	if (runs)
		*pid = read_pid(descriptor);
	close(descriptor);
	return runs;
}
